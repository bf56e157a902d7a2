"""Kernel machines: the exact kernel with and without its matrix."""

from contextlib import suppress

import numpy as np
import pytest
from map_variants import KERNELS as EVERY_KERNEL
from map_variants import MAPS, build
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from random_features import machines, make_map
from random_features.kernels import Gaussian
from random_features.machines import KernelMachineClassifier, KernelMachineRegressor

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (400, 3))
NEW = RNG.uniform(-2, 2, (50, 3))
TARGETS = {KernelMachineRegressor: np.sin(2 * X[:, 0]) + X[:, 1], KernelMachineClassifier: (X[:, :2] > 0) @ [1, 2]}


@pytest.mark.parametrize("machine", TARGETS)
def test_the_exact_kernel_of_many_rows_is_the_same_machine_without_its_matrix(machine, monkeypatch):
    held = machine(Gaussian(1.0), penalties=1e-4).fit(X, TARGETS[machine])
    monkeypatch.setattr(machines.base, "MOST_HELD", 100)
    monkeypatch.setattr(machines.base, "fit_kernel_ridge", lambda *args: pytest.fail("the matrix was held"))
    streamed = machine(Gaussian(1.0), penalties=1e-4).fit(X, TARGETS[machine])
    np.testing.assert_allclose(streamed._decide(NEW), held._decide(NEW), atol=2e-3)
    np.testing.assert_allclose(streamed.predict(NEW), held.predict(NEW), atol=2e-3)
    assert streamed.penalty_ == 1e-4
    if machine is KernelMachineRegressor:  # bounds of errors have the unit of the targets, too
        twice = clone(streamed).fit(X, 2.0 * TARGETS[machine]).model_
        np.testing.assert_allclose(twice.prediction_error, 2.0 * streamed.model_.prediction_error)
    with pytest.raises(ValueError, match="needs one penalty"):
        machine(Gaussian(1.0), penalties=[1e-4, 1e-3]).fit(X, TARGETS[machine])


@pytest.mark.parametrize("machine", TARGETS)
@pytest.mark.parametrize("penalties", [[], [[1e-4]], [1e-4, -1.0], np.nan])
@pytest.mark.parametrize("features", [Gaussian(1.0), make_map("rff", n_components=8)])
def test_penalties_are_a_number_or_a_grid_of_some(machine, penalties, features):
    with pytest.raises(ValueError, match="penalties must be finite and non-negative, and at least one, got"):
        machine(features, penalties=penalties).fit(X, TARGETS[machine])


@pytest.mark.parametrize("unit", [2.0**-600, 2.0**-180, 2.0**180, 2.0**600])
@pytest.mark.parametrize("features", [Gaussian(1.0), make_map("orf", Gaussian(2.0), random_state=0)])
def test_the_unit_of_the_targets_cancels(features, unit):
    rows, y = X.astype(np.float32), TARGETS[KernelMachineRegressor]
    machine = KernelMachineRegressor(features, penalties=[1e-4, 1e-2, 1.0])
    expected, found = clone(machine).fit(rows, y), clone(machine).fit(rows, unit * y)
    assert found.penalty_ == expected.penalty_ == 1e-4
    np.testing.assert_allclose(found.predict(NEW) / unit, expected.predict(NEW), rtol=1e-12)
    if not 1e-150 < unit < 1e150:
        with pytest.raises(ValueError, match="uncertainty=True squares the targets"):
            machine.set_params(uncertainty=True).fit(rows, unit * y)


#: The exact machines of every kernel, and a machine for every map with its default kernel.
SIGNS = np.sign(TARGETS[KernelMachineRegressor])
BY_FEATURES = {f"exact-{name}": kernel for name, kernel in EVERY_KERNEL.items()}
BY_FEATURES |= {name: build(name, n_components=4) for name in MAPS} | {"ssf": build("ssf-grid", n_components=4)}
#: Parameters that may change without another prediction: where it is computed, and seeds of what is not drawn.
UNSEEN = ("device", "random_state")
every_machine = pytest.mark.parametrize("features", BY_FEATURES.values(), ids=BY_FEATURES)

pytestmark = pytest.mark.filterwarnings("ignore:mm matches the mean only")


def other_value(value):
    """Return another value of the same kind, or None for what has none here."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value + 1 if isinstance(value, int) else 1.7 * value


@every_machine
def test_each_parameter_that_a_machine_lists_changes_predictions_or_is_refused(features):
    rows, y = X[:60], SIGNS[:60]
    machine = KernelMachineRegressor(clone(features, safe=False), penalties=1e-3)
    before = clone(machine).fit(rows, y).predict(NEW)
    for name, value in machine.get_params(deep=True).items():
        other = other_value(value)
        if other is None or name.rpartition("__")[2] in UNSEEN:
            continue
        after = None
        with suppress(ValueError, TypeError):  # refused
            changed = clone(machine).set_params(**{name: other})
            assert changed.get_params()[name] == other
            after = changed.fit(rows, y).predict(NEW)
        assert not np.array_equal(after, before), name


@pytest.mark.parametrize("features", [Gaussian(1.0), make_map("rff", Gaussian(1.0), random_state=0)])
def test_one_name_searches_the_length_scale_of_a_map_and_of_an_exact_kernel(features):
    y = TARGETS[KernelMachineRegressor]
    grid = {"kernel__length_scale": [1e-3, 1.0, 100.0]}
    search = GridSearchCV(KernelMachineRegressor(features, penalties=1e-5), grid, cv=3).fit(X, y)
    assert search.best_params_ == {"kernel__length_scale": 1.0}
    inside = {f"kernelmachineregressor__{name}": values for name, values in grid.items()}
    pipeline = make_pipeline(StandardScaler(), KernelMachineRegressor(features, penalties=1e-5))
    assert set(GridSearchCV(pipeline, inside, cv=3).fit(X, y).best_params_.values()) == {1.0}
    former = "features__kernel__length_scale" if hasattr(features, "kernel") else "features__length_scale"
    with pytest.warns(FutureWarning, match=f"{former} is now called kernel__length_scale"):
        machine = KernelMachineRegressor(clone(features, safe=False)).set_params(**{former: 3.0})
    assert machine.get_params()["kernel__length_scale"] == 3.0
    with pytest.raises(ValueError, match="has no parameter 'lengthscale'; did you mean length_scale"):
        machine.set_params(kernel__lengthscale=1.0)


@every_machine
def test_what_a_machine_learned_does_not_change_behind_the_users_back(features):
    rows, y = X[:60].copy(), SIGNS[:60].copy()
    machine = KernelMachineRegressor(clone(features, safe=False), penalties=1e-3).fit(rows, y)
    before = machine.predict(NEW)
    rows += 5.0
    y *= 2.0
    np.testing.assert_array_equal(machine.predict(NEW), before)
    machine.set_params(penalties=10.0, features=Gaussian(10.0))
    np.testing.assert_array_equal(machine.predict(NEW), before)


@every_machine
@pytest.mark.parametrize("broken", ["data", "penalties", "map", "posterior"])
def test_a_refit_that_fails_leaves_no_mixture_of_two_fits(features, broken, monkeypatch):
    rows, y = X[:60], SIGNS[:60]
    machine = KernelMachineRegressor(clone(features, safe=False), penalties=1e-3).fit(rows, y)
    if broken == "penalties":
        machine.set_params(penalties=-1.0)
    elif broken == "map":
        machine.set_params(features="no kernel")
    elif broken == "posterior":
        machine.set_params(uncertainty=True)
        for name in ("of_features", "of_kernel"):
            monkeypatch.setattr(f"random_features.machines.regressor.{name}", None)
    with pytest.raises((ValueError, TypeError)):
        machine.fit(rows + np.nan if broken == "data" else 2 * rows, y)
    with pytest.raises(NotFittedError):
        machine.predict(NEW)


@pytest.mark.parametrize(
    ("machine", "y", "message"),
    [
        (KernelMachineClassifier(Gaussian()), [1, "a"] * 5, "y mixes text and other labels: make all of them text"),
        (KernelMachineClassifier(Gaussian()), np.array([1, "a"] * 5, dtype=object), "y mixes text"),
        (KernelMachineClassifier(Gaussian()), [1] * 10, r"y holds one class, 1: a classifier needs two"),
        (KernelMachineClassifier(Gaussian()), np.arange(10) / 3, "Unknown label type"),
        (KernelMachineRegressor(RBFSampler()), np.arange(10.0), "features must be a map of make_map or a kernel"),
        (KernelMachineRegressor(RBFSampler), np.arange(10.0), "features must be a map of make_map or a kernel"),
        (KernelMachineRegressor(Gaussian), np.arange(10.0), r"features must be .*: write Gaussian\(\)"),
        (KernelMachineRegressor("precomputed"), np.arange(10.0), r"'precomputed' is for make_map\('nystroem', kernel="),
        (KernelMachineRegressor(Gaussian(), "auto"), np.arange(10.0), "penalties must be numbers, got 'auto'"),
        (KernelMachineRegressor("orf"), np.arange(10.0), r"features must be .* got 'orf': make_map\('orf'\) is a map"),
        (KernelMachineRegressor("gausian"), np.arange(10.0), r"got 'gausian': did you mean gaussian\? known are"),
        (KernelMachineClassifier(Gaussian(), [1e-3, 1e-2]), [0] * 9 + [1], "1 row of the class 1 cannot choose among"),
        (KernelMachineClassifier(make_map("rff"), [1e-3, 1e-2]), list("aaaaabaaaa"), "1 row of the class 'b' cannot"),
        (KernelMachineRegressor(Gaussian(), [1e-4, 1e-3]), [1.0], "1 sample cannot choose among penalties: state one"),
        (KernelMachineRegressor(make_map("rff"), [1e-4, 1e-3]), [1.0], "1 sample cannot choose among penalties: state"),
    ],
)
def test_one_line_names_what_is_wrong(machine, y, message):
    with pytest.raises((ValueError, TypeError), match=message) as error:
        machine.fit(X[: len(y)], y)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("features", [Gaussian(1.0), make_map("rff", n_components=8, random_state=0)])
def test_a_class_of_two_rows_is_in_the_training_rows_of_every_fold(features):
    y = np.zeros(40, dtype=int)
    y[:4:3] = 1  # both rows in the first fold
    assert KernelMachineClassifier(features, penalties=[1e-4, 1e-2]).fit(X[:40], y).penalty_ in (1e-4, 1e-2)
