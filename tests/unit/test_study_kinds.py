"""The experiments that are no accuracy grid, against closed forms: moments of estimates, costs, errors in s."""

import importlib
import itertools
from pathlib import Path

import numpy as np
import pytest
import study_toys as toys

from random_features.maps.registry import REGISTRY, make_map
from rfstudy import tidy
from rfstudy.scores import approximation_error
from rfstudy.study import config, measure, plan
from rfstudy.study.code import modules_in
from rfstudy.study.engine import Job
from rfstudy.study.kinds import decay, scaling, variance
from rfstudy.study.provenance import read_records

CONFIG = Path(__file__).resolve().parents[2] / "config"
EXPERIMENTS = config.load_experiments(CONFIG)

GRIDS = {
    "variance": {"distances": [0.5, 1.5], "dimensions": [4], "multiples_of_d": [2], "draws": 400},
    "scaling": {"rows": 20, "fixed_dimension": 4, "n_features": [8, 16], "fixed_n_features": 16, "dimensions": [4, 8]},
    "decay": {"rows": 30, "dimensions": [3], "n_features": [16, 64], "norms": ["sup", "delta_spectral"], "ridge": 0.1},
}


def entry(method, variant="", **options):
    return {"method": method, "variant": variant, "options": options}


def spec_of(kind, *entries, repeats=(0,)):
    return toys.part(
        kind=kind, kernel={"name": "gaussian", "length_scale": 1}, methods=list(entries) or [entry("rff")],
        repeats=list(repeats), grid=GRIDS[kind],
    )  # fmt: skip


def job_of(kind, *entries, repeats=(0,)):
    return Job("measure", spec_of(kind, *entries, repeats=repeats), None, None)


def values(rows, metric):
    """Value and standard error by direction and distance."""
    return {
        (row["settings"]["direction"], row["at"]): (row["value"], row["spread"])
        for row in rows
        if row["metric"] == metric
    }


def test_rff_has_the_variance_of_the_formula_and_no_bias():
    job = job_of("variance")
    (cell,) = variance.cells(job)
    rows, _ = variance.measure(job, cell, None)
    for (_, z), (value, error) in values(rows, "kernel_variance").items():
        # 4 standard errors, 4 points
        assert abs(value - (1 - np.exp(-(z**2))) ** 2 / (2 * 8)) < 4 * error
        # 400 draws of a variable with kurtosis below 6 know their variance to sqrt(5 / 400)
        assert error < 0.12 * value
    for value, error in values(rows, "kernel_bias").values():
        assert abs(value) < 4 * error
    for value, error in values(rows, "variance_ratio").values():
        assert abs(value - 1) < 4 * error


def test_one_factor_of_signs_along_an_axis_is_a_constant():
    # W e_1 of one factor is sqrt(p) H D e_1 = +-1 in every row, so that the estimate is cos(z) in every draw
    job = job_of("variance", entry("rom", "one", n_factors=1))
    (cell,) = variance.cells(job)
    rows, _ = variance.measure(job, cell, None)
    for (direction, z), (value, _) in values(rows, "kernel_bias").items():
        if direction == "axis":
            assert value == pytest.approx(np.cos(z) - np.exp(-(z**2) / 2), abs=1e-12)
            assert values(rows, "kernel_variance")[direction, z][0] == pytest.approx(0, abs=1e-24)
            # the squared error of a constant is its squared bias
            assert values(rows, "kernel_mse")[direction, z][0] == pytest.approx(value**2)


def test_the_moments_are_those_of_numpy():
    rng = np.random.default_rng(0)
    estimates = np.exp(-0.5) + rng.standard_normal(500) + 0.3
    found = variance.moments(estimates, 1.0, 10, 20)
    assert found["kernel_bias"] == pytest.approx((estimates.mean() - np.exp(-0.5), estimates.std(ddof=1) / 500**0.5))
    assert found["kernel_variance"][0] == pytest.approx(np.var(estimates, ddof=1))
    # of a normal variable the standard error of the variance is v sqrt(2 / (n - 1)), up to that of the kurtosis,
    # whose standard deviation is sqrt(24 / n): half of its share in the error is 4 * 0.22 / (2 * 2)
    assert found["kernel_variance"][1] == pytest.approx(np.var(estimates) * np.sqrt(2 / 499), rel=0.22)
    assert found["kernel_mse"][0] == pytest.approx(np.mean((estimates - np.exp(-0.5)) ** 2))


def test_the_yardstick_is_rff_in_the_layout_of_the_map_and_rff_with_as_many_columns():
    job = job_of("variance", entry("rff", "phase", layout="phase"))
    (cell,) = variance.cells(job)
    rows, _ = variance.measure(job, cell, None)
    assert {row["n_columns"] for row in rows} == {8}
    for value, error in values(rows, "variance_ratio").values():
        assert abs(value - 1) < 4 * error
    for (_, z), (value, error) in values(rows, "variance_ratio_columns").items():
        # eight columns of four frequencies: the variance of pairs, v^2 / (2 * 4), under that with phases, 1 + v^2 of 16
        v = 1 - np.exp(-(z**2))
        assert abs(value - (1 + v**2) / (2 * v**2)) < 4 * error


@pytest.mark.parametrize(("n_columns", "factor"), [(20, 1.0), (10, 0.5), (21, 21 / 20)])
def test_both_ratios_are_those_of_the_closed_forms(n_columns, factor):
    estimates = np.random.default_rng(0).standard_normal(50)
    found = variance.moments(estimates, 0.5, 10, n_columns)
    v = 1 - np.exp(-0.25)
    of_layout = (v**2 + (n_columns == 10)) / 20
    assert found["variance_ratio"][0] == pytest.approx(estimates.var(ddof=1) / of_layout)
    assert found["variance_ratio_columns"][0] == pytest.approx(factor * estimates.var(ddof=1) / (v**2 / 20))


def test_a_map_with_an_estimate_of_its_own_is_asked_for_it():
    phi = make_map("ssr", n_components=10, weights="signed", random_state=0).restore(4, dtype=np.float64)
    points = np.random.default_rng(0).standard_normal((3, 4))
    signed = phi.approximate_kernel(points)[0, 1:]
    assert np.allclose(variance.products(phi, points[:1], points[1:]), signed)
    Z = phi.transform(points)
    assert not np.allclose((Z @ Z.T)[0, 1:], signed)
    plain = make_map("rff", n_components=10, random_state=0).restore(4, dtype=np.float64)
    Z = plain.transform(points)
    assert np.allclose(variance.products(plain, points[:1], points[1:]), (Z @ Z.T)[0, 1:])


def test_the_grid_of_costs_varies_s_and_d_one_at_a_time():
    cells = scaling.cells(job_of("scaling"))
    assert [(c.coordinates["d"], c.coordinates["n_features"]) for c in cells] == [(4, 8), (4, 16), (8, 16)]


def test_bytes_are_those_of_the_arrays_that_a_map_holds():
    # W alone, in float32; the structured map keeps three signs a frequency, in whatever type
    assert scaling.stored_bytes(make_map("rff", n_components=10, random_state=0).restore(8)) == 10 * 8 * 4
    sizes = [scaling.stored_bytes(make_map("sorf", n_components=s, random_state=0).restore(8)) for s in (64, 128)]
    assert sizes[1] == 2 * sizes[0] < 2 * 64 * 8 * 4


def test_what_costs_without_times_are_is_the_bytes():
    job = job_of("scaling", entry("orf"))
    ((row,), arrays) = scaling.measure(job, scaling.cells(job)[0], None)
    assert (row["metric"], row["value"], row["n_columns"], arrays) == ("stored_bytes", 8 * 4 * 4, 16, {})


def test_errors_are_those_of_the_map_on_the_points():
    job = job_of("decay")
    (cell,) = decay.cells(job)
    rows, _ = decay.measure(job, cell, None)
    assert [(r["n_features"], r["metric"]) for r in rows] == list(
        itertools.product([16, 64], ["approximation_error_sup", "approximation_error_delta_spectral"])
    )
    assert [r["settings"] for r in rows[:2]] == [{}, {"ridge": pytest.approx(3.0)}]
    # the largest of 30^2 deviations, each at most 5 standard deviations sqrt(1 / (2 s)) with probability 1 - 6e-7
    assert 0 < rows[0]["value"] < 5 * np.sqrt(1 / 32)


def test_the_spectral_factor_is_the_smallest_that_brackets_the_matrix():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((6, 20))
    exact = A @ A.T / 20
    B = A + 0.3 * rng.standard_normal((6, 20))
    approximate, ridge = B @ B.T / 20, 0.2
    factor = approximation_error(exact, approximate, "delta_spectral", ridge=ridge)
    eye = ridge * np.eye(6)

    def least(matrix):
        return np.linalg.eigvalsh(matrix).min()

    # both sides of the definition hold at the factor, and one of them is tight
    sides = [
        least(approximate + eye - (1 - factor) * (exact + eye)),
        least((1 + factor) * (exact + eye) - approximate - eye),
    ]
    assert min(sides) == pytest.approx(0, abs=1e-12)
    assert approximation_error(exact, exact, "delta_spectral", ridge=ridge) == 0
    assert approximation_error(exact, 1.5 * exact + 0.5 * eye, "delta_spectral", ridge=ridge) == pytest.approx(0.5)


@pytest.mark.parametrize(("norm", "options"), [("delta_spectral", {}), ("sup", {"ridge": 1.0})])
def test_a_ridge_belongs_to_the_spectral_factor(norm, options):
    with pytest.raises(ValueError, match="needs a ridge, and no other norm"):
        approximation_error(np.eye(2), np.eye(2), norm, **options)


def test_the_stage_writes_tidy_rows_and_resumes(tmp_path, monkeypatch):
    spec = spec_of("variance", entry("rff"), entry("gq"), repeats=(0, 1))

    def stage(name):
        measure.run([spec], [], tmp_path / "journal", tmp_path / f"{name}.csv", tmp_path / f"{name}.npz", 1)

    stage("one")
    one = tidy.read(tmp_path / "one.csv")
    # 2 maps x 2 repeats x 2 directions x 2 distances x 5 metrics, nothing measured twice
    assert len(one) == 2 * 2 * 2 * 2 * 5
    assert not one.duplicated(list(tidy.KEY)).any()
    assert set(zip(one["axis"], one["at"], strict=True)) == {("distance", 0.5), ("distance", 1.5)}
    assert set(one["run"]) == set(read_records(tmp_path / "one.csv"))
    assert one["status"].eq("ok").all()
    # finished cells come from the journal: with the measurement gone the second run still has them
    monkeypatch.setattr(variance, "measure", None)
    stage("two")
    assert (tmp_path / "two.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()


def test_repeats_are_draws_of_their_own():
    job = job_of("variance", repeats=(0, 1))
    first, second, again = (variance.measure(job, variance.cells(job)[position], None)[0] for position in (0, 1, 0))
    assert values(first, "kernel_bias") != values(second, "kernel_bias")
    assert values(first, "kernel_bias") == values(again, "kernel_bias")


def test_the_experiments_have_every_gaussian_map_that_needs_no_data():
    wanted = {name for name, e in REGISTRY.items() if "gaussian" in e.kernels and not e.data_dependent}
    for name in ("theory-variance", "theory-scaling"):
        assert {m["method"] for m in EXPERIMENTS[name]["methods"]} == wanted


def test_every_experiment_has_cells_in_both_extents():
    for experiment in EXPERIMENTS.values():
        module = importlib.import_module(f"rfstudy.study.kinds.{experiment['kind']}")
        if "measure" not in module.STAGES:
            continue
        for extent in ("small", "large"):
            grid = experiment["grid"] | (experiment.get("large", {}) if extent == "large" else {})
            shard = plan.Shard(experiment["name"], "all", ("",), tuple(range(len(experiment["methods"]))), (0,))
            entries = [{"variant": "", "options": {}} | each for each in experiment["methods"]]
            settings = {"preset": "laptop", "seed": 1, "device": "cpu", "max_rows": None}
            dataset = next(iter(experiment.get("datasets", {})), "")
            own = plan.on_dataset({"datasets": {}} | experiment | {"grid": grid, "methods": entries}, dataset)
            part = plan.measure_part(own, dataset, shard, settings)
            cells = module.cells(Job("measure", part, None, None))
            assert cells
            # of one computation there may be several, which differ in the columns of their rows
            assert len({repr(cell) for cell in cells}) == len(cells)
            names = {repr((cell.entry, cell.coordinates, cell.conditions)): cell.name for cell in cells}
            assert len(set(names.values())) == len(names)


def test_a_kind_says_what_the_plan_asks_of_it():
    for name in modules_in("rfstudy.study.kinds"):
        module = importlib.import_module(f"rfstudy.study.kinds.{name}")
        assert set(module.RESOURCES) >= {"mb", "minutes"}
        assert isinstance(module.NEEDS_DATA, bool)
        assert hasattr(module, "measure") == ("measure" in module.STAGES)
        assert hasattr(module, "timed") or module.STAGES
