"""The kinds of experiments that are no accuracy grid: what their experiments name, what they refuse, and what the naive
twin of their rows (tests/twin) does not reach.
"""

import inspect
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import study_toys as toys
from checkouts import ROOT
from sklearn.linear_model import lars_path
from sklearn.preprocessing import StandardScaler

from random_features.errors import UserError
from random_features.maps.registry import REGISTRY, make_map
from rfstudy.data.target import Target
from rfstudy.planning import config, plan
from rfstudy.scores import approximation_error
from rfstudy.study.engine import Job, KindModule, kind_cells, kind_module
from rfstudy.study.kinds import energy, path, ranking, registry, scaling, stream

EXPERIMENTS = config.load_experiments(ROOT / "config")
KINDS = {name: kind_module(name) for name in registry.KINDS}


@pytest.mark.parametrize("name", [name for name, e in EXPERIMENTS.items() if hasattr(KINDS[e["kind"]], "measure")])
def test_every_experiment_has_cells_that_its_kind_measures(name):
    experiment = EXPERIMENTS[name]
    kind = KINDS[experiment["kind"]]
    entries = [{"variant": "", "options": {}} | each for each in experiment["methods"]]
    settings = {"preset": "laptop", "seed": 1, "device": "cpu", "max_rows": None, "repeats": 1}
    dataset = next(iter(experiment.get("datasets", {})), "")
    own = plan.on_dataset({"datasets": {}} | experiment | {"methods": entries}, dataset)
    job = Job("measure", plan.part_of("measure", own, dataset, settings), None, None)
    cells = kind_cells(job)
    assert cells
    for cell in cells:
        inspect.signature(kind.measure).bind(job, cell.entry, **cell.coordinates, **cell.conditions)
    # of one computation there may be several, which differ in the columns of their rows
    assert len({repr(cell) for cell in cells}) == len(cells)
    names = {repr((cell.entry, cell.coordinates, cell.conditions)): cell.name for cell in cells}
    assert len(set(names.values())) == len(names)


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_is_what_its_entry_says(name):
    kind, facts = KINDS[name], registry.KINDS[name]
    assert hasattr(kind, "measure") == (hasattr(kind, "cells") or facts.axes is not None) == (facts.stage == "measure")
    assert hasattr(kind, "timed") == facts.timed
    assert facts.timed or facts.stage
    assert "kernels" not in vars(kind) or facts.grid  # nothing but a grid completes kernels
    for function, stated in vars(KindModule).items():
        if inspect.isfunction(stated) and not function.startswith("_") and function in vars(kind):
            own = [each for each in inspect.signature(vars(kind)[function]).parameters.values() if each.kind.value <= 1]
            first = [each for each in inspect.signature(stated).parameters.values() if each.kind.value <= 1][1:]
            assert [each.name for each in own] == [each.name for each in first], function


def test_every_file_of_a_kind_has_an_entry():
    files = Path(registry.__file__).parent.glob("[a-z]*.py")
    assert {path.stem for path in files} - {"registry"} == set(registry.KINDS)


def test_the_experiments_have_every_gaussian_map_that_needs_no_data():
    wanted = {name for name, e in REGISTRY.items() if "gaussian" in e.kernels and not e.data_dependent}
    for name in ("theory-variance", "theory-scaling"):
        assert {m["method"] for m in EXPERIMENTS[name]["methods"]} == wanted


def test_bytes_are_those_of_the_arrays_that_a_map_holds():
    # W alone, in float32; the structured map keeps three signs per frequency, in any type
    assert scaling.stored_bytes(make_map("rff", n_components=10, random_state=0).restore(8)) == 10 * 8 * 4
    sizes = [scaling.stored_bytes(make_map("sorf", n_components=s, random_state=0).restore(8)) for s in (64, 128)]
    assert sizes[1] == 2 * sizes[0] < 2 * 64 * 8 * 4
    # an array that is held twice counts once
    held, other = np.zeros(10), np.zeros(3)
    assert scaling.stored_bytes(SimpleNamespace(a=held, b={"again": [held]}, c=(other, 5), d="text")) == 13 * 8


@pytest.mark.parametrize(("norm", "options"), [("delta_spectral", {}), ("sup", {"ridge": 1.0})])
def test_a_ridge_belongs_to_the_spectral_factor(norm, options):
    with pytest.raises(ValueError, match="needs a ridge, and no other norm"):
        approximation_error(np.eye(2), np.eye(2), norm, **options)


@pytest.mark.parametrize(("kind", "refused", "taken", "message"), [
    (energy, {"grid": {"candidates": 30, "terms": 31}}, {"grid": {"candidates": 30, "terms": 30}},
     "terms must be at most candidates"),
    (ranking, {"grid": {"candidates": [200, 50], "n_features": 51}},
     {"grid": {"candidates": [200, 51], "n_features": 51}}, "candidates must be at least n_features"),
    (path, {"methods": [{"method": "orf"}, {"method": "rff"}, {"method": "gq"}]}, {"methods": [{"method": "rff"}]},
     "not of gq, orf"),
    (stream, {"preprocess": ["standard"]}, {"preprocess": ["none"]}, "as they are prepared, not after"),
])  # fmt: skip
def test_a_part_that_a_kind_cannot_measure_is_refused(kind, refused, taken, message):
    with pytest.raises(ValueError, match=message):
        kind.check(toys.part(**refused))
    kind.check(toys.part(**taken))


def test_a_path_of_the_lasso_goes_on_until_as_many_features_have_entered_as_are_wanted():
    """A candidate that another represents leaves the path again: it takes more steps than features."""
    rng = np.random.default_rng(8)
    for _ in range(100):
        Z = StandardScaler().fit_transform(rng.normal(size=(60, 12)) @ (np.eye(12) + 0.9 * rng.normal(size=(12, 12))))
        y = Z @ rng.normal(size=12)
        if (np.count_nonzero(lars_path(Z, y, method="lasso")[2][:, :11], axis=0) < 10).all():
            break
    else:
        raise AssertionError("no problem in which ten steps find fewer than ten features")
    moments = SimpleNamespace(n_rows=60, with_targets=y @ Z / 60, standardised=lambda: (Z.T @ Z, y @ Z))
    assert len(ranking.choose("lasso", moments, 10, rng)) == 10


def test_a_path_of_more_or_fewer_than_two_classes_is_refused():
    job = SimpleNamespace(spec=toys.part(dataset="made"), data=SimpleNamespace(target=Target("classes")))
    with pytest.raises(UserError, match="made has not two classes"):
        path.signs(job, SimpleNamespace(y_train=[0, 1, 2], y_test=[0, 1, 1]))
