"""Kernel machines as complete estimators: scikit-learn's checks, weights of rows and classes, parts of the rows."""

import pickle
from copy import deepcopy
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn
import torch
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from random_features import machines, make_map
from random_features.kernels import Gaussian
from random_features.learners import logistic, ridge, svm
from random_features.learners.gram import fit_kernel_ridge, fit_kernel_svm
from random_features.learners.penalties import best_penalty
from random_features.learners.streams import Kept
from random_features.machines import KernelMachineClassifier, KernelMachineRegressor
from random_features.machines.base import LOSSES
from random_features.maps.registry import REGISTRY

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (300, 3))
NEW = RNG.uniform(-2, 2, (50, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * RNG.normal(size=300)
CLASSES = (X[:, :2] > 0) @ [1, 2]
WEIGHTS = RNG.integers(0, 4, 300).astype(float)
PHI = make_map("orf", Gaussian(3.0), n_components=50, random_state=0)
#: The common variants of a machine: every loss on a map, a map of data, a structured one, and the exact kernel.
VARIANTS = {
    "exact": KernelMachineRegressor(Gaussian(1.0), penalties=1e-4),
    "map": KernelMachineRegressor(PHI, penalties=1e-4),
    "map-grid": KernelMachineRegressor(PHI, penalties=[1e-6, 1e-4, 1e-3]),
    "classes-exact": KernelMachineClassifier(Gaussian(1.0), penalties=1e-4),
    "classes-nystroem": KernelMachineClassifier(make_map("nystroem", random_state=0), penalties=1e-4),
    **{f"classes-{loss}": KernelMachineClassifier(PHI, penalties=1e-2, loss=loss) for loss in LOSSES},
}
every_variant = pytest.mark.parametrize("machine", VARIANTS.values(), ids=VARIANTS)

#: Machines on which scikit-learn's checks take different paths; the other variants take a minute more.
CHECKED = [VARIANTS[name] for name in ("exact", "map-grid", "classes-logistic")]
OTHERS = [machine for machine in VARIANTS.values() if machine not in CHECKED]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_checks_of_some(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHERS)
def test_scikit_learn_checks_of_the_others(estimator, check):
    check(estimator)


@every_variant
def test_a_row_of_weight_2_is_the_row_twice_and_of_weight_0_none(machine):
    machine, y = clone(machine).set_params(penalties=1e-4), CLASSES if is_classifier(machine) else Y
    n = WEIGHTS.astype(int)
    if "nystroem" in repr(machine).lower():  # its landmarks are rows, and rows that are drawn twice count once
        machine.set_params(features__landmarks=X[:100])
    weighted = clone(machine).fit(X, y, sample_weight=WEIGHTS)
    repeated = np.repeat(X, n, axis=0), np.repeat(y, n)
    twice = clone(machine).fit(*repeated)
    # Newton's method stops at a relative decrease of 1e-7, that is 3e-4 in the decision values
    close = 1e-3 if "loss=" in repr(machine) else 1e-6
    np.testing.assert_allclose(weighted._decide(NEW), twice._decide(NEW), atol=close)
    for factor in (1e-90, 1e90):  # whose roots are outside of float32
        scaled = clone(machine).fit(X.astype(np.float32), y, sample_weight=factor * WEIGHTS)
        np.testing.assert_allclose(scaled._decide(NEW), twice._decide(NEW), atol=2e-3)
    np.testing.assert_allclose(weighted.score(X, y, sample_weight=WEIGHTS), twice.score(*repeated), rtol=1e-6)


def test_weights_of_the_exact_kernel_without_its_matrix(monkeypatch):
    held = KernelMachineRegressor(Gaussian(1.0), penalties=1e-3).fit(X, Y, WEIGHTS)
    monkeypatch.setattr(machines.base, "MOST_HELD", 100)
    monkeypatch.setattr(machines.base, "TOLERANCE", 1e-10)
    streamed = KernelMachineRegressor(Gaussian(1.0), penalties=1e-3).fit(X, Y, WEIGHTS)
    np.testing.assert_allclose(streamed._decide(NEW), held._decide(NEW), atol=1e-6)


SIGNS = np.where(CLASSES[:, None] == np.arange(4), 1.0, -1.0)
FOLDS = RNG.integers(0, 3, 300)


@pytest.mark.parametrize("n_columns", [24, 600])
@pytest.mark.parametrize(
    ("fit", "cross_validate", "grid", "scores", "options"),
    [
        (ridge.fit_ridge, ridge.cross_validate_ridge, [1e-6, 1e-2], ("accuracy", "mse"), {"center": "both"}),
        (ridge.fit_ridge, ridge.cross_validate_ridge, [1e-6, 1e-2], ("mse",), {"center": "targets", "scaling": "sum"}),
        (logistic.fit_logistic, logistic.cross_validate_logistic, [1e-3, 1.0], ("accuracy", "log_loss"),
         {"intercept": "unpenalised"}),
        (svm.fit_svm, svm.cross_validate_svm, [0.1, 1.0], ("accuracy", "mse"), {"solver": "newton"}),
        (svm.fit_svm, svm.cross_validate_svm, [0.1, 1.0], ("accuracy", "mse"), {"solver": "liblinear"}),
    ],
)  # fmt: skip
def test_learners_with_weights_or_in_other_units_agree(fit, cross_validate, grid, scores, options, n_columns):
    Z = make_map("rff", Gaussian(1.0), n_components=n_columns // 2, random_state=0).fit_transform(X)
    n, how = WEIGHTS.astype(int), {"n_columns": n_columns, **options}
    again = Kept(np.repeat(Z, n, axis=0)), np.repeat(SIGNS, n, axis=0)
    weighted = fit(Kept(Z), SIGNS, grid[0], weights=WEIGHTS, **how)
    np.testing.assert_allclose(weighted.decision(Z), fit(*again, grid[0], **how).decision(Z), atol=5e-4)
    for dtype, unit in ((np.float32, 2.0**-70), (np.float64, 2.0**-150), (np.float64, 2.0**150)):  # of the features
        value = grid[1] / unit**2 if fit is svm.fit_svm else grid[1] * unit**2
        found = fit(Kept((unit * Z).astype(dtype)), SIGNS, value, **how).decision(unit * Z)
        np.testing.assert_allclose(found, fit(Kept(Z), SIGNS, grid[1], **how).decision(Z), atol=3e-3)
    for score in scores:
        found = cross_validate(Kept(Z), SIGNS, grid, FOLDS, score=score, weights=WEIGHTS, **how)
        expected = cross_validate(*again, grid, np.repeat(FOLDS, n), score=score, **how)
        np.testing.assert_allclose(found, expected, rtol=5e-3)


def test_exact_learners_with_weights_are_those_of_repeated_rows():
    n = WEIGHTS.astype(int)
    repeated = np.repeat(X, n, axis=0)
    K, again, new = Gaussian(1.0)(X), Gaussian(1.0)(repeated), Gaussian(1.0)(NEW, X)
    one, other = SIGNS[:, :1], np.repeat(SIGNS[:, :1], n, axis=0)
    for fit, how in [(partial(fit_kernel_ridge, center="both"), 1e-3), (fit_kernel_svm, 1.0)]:
        expected = fit(again, other, how).decision(Gaussian(1.0)(NEW, repeated))
        np.testing.assert_allclose(fit(K, one, how, weights=WEIGHTS).decision(new), expected, atol=2e-3)


@pytest.mark.parametrize("weights", [np.ones(5), -np.ones(300), np.zeros(300), np.full(300, np.nan), np.ones((300, 2))])
def test_wrong_weights_are_refused(weights):
    with pytest.raises(ValueError, match=r"weights must (be finite, none negative|have the shape .300,.)"):
        KernelMachineRegressor(PHI).fit(X, Y, weights)


def rare(n=1000):
    """Rows with 37 positives in a thousand that overlap with the others."""
    rng = np.random.default_rng(1)
    y = np.arange(n) < 0.037 * n
    return rng.normal(size=(n, 2)) + 1.2 * y[:, None], y


@pytest.mark.parametrize("loss", LOSSES)
def test_balanced_classes_find_rare_positives(loss):
    rows, y = rare()
    machine = KernelMachineClassifier(PHI, penalties=np.logspace(-4, 0, 3), loss=loss, class_weight="balanced")
    found = machine.fit(rows, y).predict(rows)
    assert found[~y].mean() < 0.35 < 0.6 < found[y].mean()
    texts = y.astype(int).astype(str)
    stated = clone(machine).set_params(class_weight={"0": 500 / (~y).sum(), "1": 500 / y.sum()}).fit(rows, texts)
    np.testing.assert_allclose(stated._decide(rows), machine._decide(rows), atol=1e-3)
    for wrong, message in (
        ({1: 2.0}, r"class_weight has 1, and the .* \['0', '1'\]"),
        *((each, "or a dict by class") for each in ("Balanced", pd.Series({"0": 1.0}))),
    ):
        with pytest.raises(ValueError, match=message):
            stated.set_params(class_weight=wrong).fit(rows, texts)
    assert cross_val_score(machine, rows, y, scoring="roc_auc", cv=3).mean() > 0.75


@pytest.mark.parametrize("features", [Gaussian(1.0), PHI])
@pytest.mark.parametrize("scoring", [None, "squared_error"])
def test_a_tie_of_accuracies_is_never_decided_at_the_corner_of_the_grid(features, scoring):
    """With 31 positives in 1,000 rows all large penalties predict the majority; the largest one was chosen."""
    rows, y = np.random.default_rng(3).normal(size=(1000, 2)), np.arange(1000) < 31
    rows[y] += 0.7
    grid = np.logspace(-4, 6, 11)
    assert KernelMachineClassifier(features, grid, scoring=scoring).fit(rows, y).penalty_ not in grid[[0, -1]]


def test_the_scoring_of_penalties_is_one_of_the_loss():
    for loss, wrong in [("squared", "log_loss"), ("logistic", "squared_error"), ("squared_hinge", "f1")]:
        with pytest.raises(ValueError, match="scoring must be one of accuracy, "):
            KernelMachineClassifier(PHI, [1e-3, 1e-2], loss=loss, scoring=wrong).fit(X, CLASSES)
    machine = KernelMachineClassifier(PHI, np.logspace(-6, 0, 4), loss="logistic")
    scorings = None, "log_loss", "accuracy"
    default, log_loss, accuracy = (machine.set_params(scoring=each).fit(X, CLASSES).penalty_ for each in scorings)
    assert default == log_loss != accuracy
    assert best_penalty([[1.0], [2.0]], [0.1, 1.0], "log_loss") == 0.1


def test_logistic_machines_have_probabilities_and_others_say_what_to_do():
    machine = KernelMachineClassifier(PHI, penalties=1e-3, loss="logistic")
    for y in (CLASSES, CLASSES > 1):
        P = machine.fit(X, y).predict_proba(NEW)
        assert P.shape == (50, len(np.unique(y)))
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        np.testing.assert_array_equal(machine.classes_[P.argmax(axis=1)], machine.predict(NEW))
    assert not hasattr(KernelMachineClassifier(PHI), "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba needs loss='logistic', or CalibratedClassifierCV"):
        KernelMachineClassifier(PHI).fit(X, CLASSES).predict_proba(NEW)
    with pytest.raises(ValueError, match=r"loss='logistic' needs a map, such as make_map\('nystroem', kernel\)"):
        KernelMachineClassifier(Gaussian(1.0), loss="logistic").fit(X, CLASSES)


@every_variant
def test_decision_values_rank_and_calibrate(machine):
    if is_classifier(machine):
        assert machine.fit(X, CLASSES).decision_function(NEW).shape == (50, 4)
        assert roc_auc_score(CLASSES > 1, clone(machine).fit(X, CLASSES > 1).decision_function(X)) > 0.9
        calibrated = CalibratedClassifierCV(machine, cv=2).fit(X, CLASSES)
        np.testing.assert_allclose(calibrated.predict_proba(NEW).sum(axis=1), 1.0)


@pytest.mark.parametrize("features", [Gaussian(1.0), PHI])
def test_several_targets_are_as_many_machines(features):
    targets = np.column_stack([Y, X[:, 2] ** 2])
    both = KernelMachineRegressor(features, penalties=1e-4).fit(X, targets, WEIGHTS).predict(NEW)
    for column, found in zip(targets.T, both.T, strict=True):
        single = KernelMachineRegressor(features, penalties=1e-4).fit(X, column, WEIGHTS)
        np.testing.assert_allclose(found, single.predict(NEW), atol=1e-8)


@pytest.mark.parametrize("method", ["orf", "sorf", "qmc"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_parts_of_the_rows_add_up_to_all_of_them(method, dtype, weights):
    phi = make_map(method, Gaussian(1.0), n_components=20, random_state=0)
    for machine, y in [
        (KernelMachineRegressor(phi, 1e-3), Y),
        (KernelMachineClassifier(phi, 1e-3, class_weight={0: 2.0}), CLASSES),
    ]:
        whole, parts = clone(machine).fit(X.astype(dtype), y, weights), clone(machine)
        classes = {"classes": range(4)} if y is CLASSES else {}
        for rows in np.array_split(np.arange(300), [20, 21, 150]):
            parts.partial_fit(X[rows].astype(dtype), y[rows], sample_weight=None if weights is None else weights[rows],
                              **classes)  # fmt: skip
        np.testing.assert_allclose(parts._decide(NEW), whole._decide(NEW), atol=1e-8 if dtype == np.float64 else 2e-3)
        np.testing.assert_array_equal(parts.predict(NEW.astype(dtype)).shape, (50,))


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        *((KernelMachineRegressor(of), "needs a map that learns nothing") for of in (Gaussian(), make_map("nystroem"))),
        (KernelMachineRegressor(PHI, [1e-3, 1e-2]), "partial_fit needs one penalty: choose it by fit"),
        (KernelMachineClassifier(PHI, loss="logistic"), "partial_fit needs loss='squared', whose sums add up"),
        (KernelMachineClassifier(PHI, class_weight="balanced"), "a class_weight that is not 'balanced'"),
    ],
)
def test_what_cannot_learn_in_parts_says_why(machine, message):
    assert not hasattr(machine, "partial_fit")
    with pytest.raises(AttributeError, match=message):
        machine.partial_fit(X, CLASSES)


def test_a_wrong_part_is_refused_and_leaves_the_machine_as_it_was():
    machine = KernelMachineRegressor(PHI, 1e-3).partial_fit(X, Y)
    before = machine.predict(NEW)
    for wrong in [(X[:, :2], Y, None), (X, np.column_stack([Y, Y]), None), (X, Y, -np.ones(300))]:
        with pytest.raises(ValueError, match=r"features|go on from|weights must be"):
            machine.partial_fit(*wrong)
        np.testing.assert_array_equal(machine.predict(NEW), before)
    with pytest.warns(UserWarning, match="partial_fit begins anew, without the rows of fit"):
        anew = KernelMachineRegressor(PHI, 1e-3).fit(NEW, NEW[:, 0]).partial_fit(X, Y)
    np.testing.assert_array_equal(anew.predict(NEW), before)
    with pytest.raises(ValueError, match="needs a kernel that waits for no data: state its length scale"):
        KernelMachineRegressor(make_map("rff", "rbf"), 1e-3).partial_fit(X, Y)
    classifier = KernelMachineClassifier(PHI, 1e-3)
    with pytest.raises(ValueError, match="the first partial_fit needs all classes"):
        classifier.partial_fit(X, CLASSES)
    with pytest.raises(ValueError, match="y holds 3, which is not among the classes of the first call"):
        classifier.partial_fit(X, CLASSES, classes=[0, 1, 2])
    before = classifier.partial_fit(X, CLASSES, classes=range(4)).predict(NEW)
    for later in ([0, 1, 2], range(5)):
        with pytest.raises(ValueError, match=r"=\[0, 1, 2.* are not the classes of the first call, \[0, 1, 2, 3\]"):
            classifier.partial_fit(X, CLASSES, classes=later)
    np.testing.assert_array_equal(classifier.partial_fit(X, CLASSES, classes=[3, 2, 1, 0]).predict(NEW), before)


def test_names_of_columns_and_routed_weights_pass_through_pipelines_and_searches():
    frame = pd.DataFrame(X, columns=list("abc"))
    for form in (pd.DataFrame, pa.RecordBatch.from_pandas):
        machine = KernelMachineRegressor(PHI, 1e-3).fit(form(frame), Y)
        assert list(machine.feature_names_in_) == list("abc")
        with pytest.raises(ValueError, match="feature names"):
            machine.predict(form(frame[list("cba")]))
    framed = make_pipeline(StandardScaler(), clone(PHI)).set_output(transform="pandas").fit_transform(frame)
    assert list(framed.columns[:2]) == ["orthogonalrandom0", "orthogonalrandom1"]
    with sklearn.config_context(enable_metadata_routing=True):
        routed = KernelMachineRegressor(PHI).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(make_pipeline(StandardScaler().set_fit_request(sample_weight=False), routed),
                              {"kernelmachineregressor__kernel__length_scale": [0.01, 1.0]}, cv=3,
                              scoring=get_scorer("r2").set_score_request(sample_weight=True))  # fmt: skip
        assert set(search.fit(X, Y, sample_weight=WEIGHTS).best_params_.values()) == {1.0}


#: Maps that learn from targets, which may be labels or values.
SUPERVISED = [name for name, entry in REGISTRY.items() if "task" in make_map(name).get_params()]


@pytest.mark.parametrize("name", [None, *SUPERVISED])
def test_a_classifier_reads_nothing_into_the_names_of_its_classes(name):
    kernel_or_map = make_map(name, n_components=8, random_state=0) if name else Gaussian("ard")
    codes = RNG.permutation(np.repeat(np.arange(25), 12))
    of_names = [KernelMachineClassifier(clone(kernel_or_map)).fit(X, names[codes]) for names in
                (np.arange(25.0), np.array([f"class {code:02d}" for code in range(25)]))]  # fmt: skip
    np.testing.assert_array_equal(*(machine.decision_function(NEW) for machine in of_names))
    if not name:
        assert of_names[0].kernel_ == kernel_or_map.completed_by(X, np.array(list("abcdefghijklmnopqrstuvwxy"))[codes])


@pytest.mark.parametrize("name", [None, "orf", "squared_hinge", *SUPERVISED])
def test_penalties_are_compared_on_rows_whose_targets_no_feature_has_seen(name):
    rows, y, kernel = X[:60], Y[75:135], None if name in SUPERVISED else Gaussian("ard")
    features = make_map(name, kernel, n_components=8, random_state=0) if name in REGISTRY else kernel
    machine = KernelMachineRegressor(features, penalties=np.logspace(-4, 1, 6))
    if name == "squared_hinge":  # a loss whose C depends on the number of rows that train
        y, grid = np.sign(y), np.logspace(-4, 1, 26)
        machine = KernelMachineClassifier(PHI, grid, loss=name, scoring="squared_error")
    machine.fit(rows, y)
    parts = machine._groups(y, False) == np.arange(3 if name else 1)[:, None]  # of an exact kernel one

    def error(penalty):
        one = clone(machine).set_params(penalties=penalty)
        misses = (one.fit(rows[~out], y[~out])._decide(rows[out])[:, 0] - y[out] for out in parts)
        return np.mean([np.mean(miss**2) for miss in misses])

    assert machine.penalty_ == min(machine.penalties, key=error)


@pytest.mark.parametrize("name", SUPERVISED)
def test_whole_numbers_are_values_to_a_regressor(name):
    phi, whole = make_map(name, Gaussian(1.0), n_components=8, random_state=0), np.round(5 * Y)
    near = [KernelMachineRegressor(phi).fit(X, y).predict(NEW) for y in (whole, whole + 1e-9)]
    np.testing.assert_allclose(*near, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "changed", [{"penalties": 1e-2}, {"class_weight": {0: 9.0}}, {"kernel__length_scale": 2.0}, {"scoring": "accuracy"}]
)
def test_partial_fit_does_not_go_on_with_other_parameters(changed):
    machine = KernelMachineClassifier(PHI, 1e-3).partial_fit(X, CLASSES, classes=range(4))
    with pytest.raises(ValueError, match=f"{next(iter(changed))}.* changed since the first partial_fit"):
        clone(machine).partial_fit(X, CLASSES, classes=range(4)).set_params(**changed).partial_fit(X, CLASSES)


def test_a_part_that_fails_is_forgotten(monkeypatch):
    machine, both = (KernelMachineRegressor(PHI, 1e-3, uncertainty=True) for _ in range(2))
    for part in (slice(100), slice(100, None)):
        with monkeypatch.context() as broken:
            broken.setattr("random_features.machines.regressor.of_features", None)
            with pytest.raises(TypeError):
                machine.partial_fit(X[part], Y[part])
        machine.partial_fit(X[part], Y[part])
        np.testing.assert_array_equal(machine.predict(NEW), both.partial_fit(X[part], Y[part]).predict(NEW))


@pytest.mark.filterwarnings("ignore:partial_fit begins anew")
@pytest.mark.parametrize("first", [PHI, Gaussian(1.0)])
def test_a_first_part_leaves_nothing_of_an_earlier_fit(first):
    machine = KernelMachineRegressor(first, 1e-3, uncertainty=True).fit(X, Y)
    machine.set_params(features=PHI, uncertainty=False).partial_fit(X[:100], Y[:100])
    with pytest.raises(ValueError, match="uncertainty=True"):
        machine.predict(NEW, return_std=True)
    # a part that fails leaves no machine
    singular = make_map("orf", Gaussian(0.5), n_components=10, random_state=0)
    for machine, y, more in (
        (KernelMachineRegressor(first, 1e-3), Y, {}),
        (KernelMachineClassifier(first, 1e-3), CLASSES, {"classes": range(4)}),
    ):
        machine.fit(X, y).set_params(features=singular, penalties=0.0)
        with pytest.raises(np.linalg.LinAlgError):
            machine.partial_fit(X[:3], y[:3], **more)
        with pytest.raises(NotFittedError):
            machine.predict(NEW)
        expected = clone(machine).partial_fit(X, y, **more).predict(NEW)
        np.testing.assert_array_equal(machine.partial_fit(X, y, **more).predict(NEW), expected)


@pytest.mark.parametrize(
    "changed",
    [{"penalties": [1e-3]}, {"class_weight": {1: 2.0, 0: 3.0}}, {"features__random_state": 1}, {"random_state": 1}],
)
def test_partial_fit_goes_on_with_equal_parameters_and_other_seeds(changed):
    phi = make_map("orf", Gaussian(1.0), n_components=8, random_state=np.random.RandomState(0))
    machine = KernelMachineClassifier(phi, 1e-3, class_weight={0: 3.0, 1: 2.0})
    machine = pickle.loads(pickle.dumps(machine.partial_fit(X[:150], CLASSES[:150], classes=range(4))))
    expected = deepcopy(machine).partial_fit(X[150:], CLASSES[150:]).decision_function(NEW)
    machine.set_params(**changed).partial_fit(X[150:], CLASSES[150:])
    np.testing.assert_array_equal(machine.decision_function(NEW), expected)


@pytest.mark.parametrize("rows", [X, torch.from_numpy(X)], ids=["array", "tensor"])
def test_a_later_part_without_weight_adds_nothing(rows):
    for machine, y in (
        (KernelMachineRegressor(PHI, 1e-3, uncertainty=True), Y),
        *((KernelMachineClassifier(PHI, 1e-3, class_weight=by), CLASSES) for by in (None, {0: 0.0, 1: 2.0})),
    ):
        machine.partial_fit(rows, y, **({} if y is Y else {"classes": range(4)}))
        before = machine.predict(NEW)
        machine.partial_fit(rows, y, sample_weight=np.zeros(300))
        if getattr(machine, "class_weight", None):
            machine.partial_fit(rows[CLASSES == 0], y[CLASSES == 0])
        np.testing.assert_array_equal(machine.predict(NEW), before)
        with pytest.raises(ValueError, match="not all zero"):
            clone(machine).partial_fit(rows, y, sample_weight=np.zeros(300))


def test_probabilities_are_of_the_loss_that_was_fitted():
    machine = KernelMachineClassifier(PHI, 1e-3).fit(X, CLASSES).set_params(loss="logistic")
    with pytest.raises(AttributeError, match="needs loss='logistic'"):
        machine.predict_proba(NEW)
    machine.fit(X, CLASSES).set_params(loss="squared")
    np.testing.assert_allclose(machine.predict_proba(NEW).sum(axis=1), 1.0)
    with pytest.warns(UserWarning, match="begins anew"):
        machine.partial_fit(X, CLASSES)
    assert not hasattr(machine, "predict_proba")


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("label", ["a", 1])
def test_missing_labels_are_named(label, missing):
    with pytest.raises(ValueError, match="y has missing labels"):
        KernelMachineClassifier(PHI).fit(X, pd.Series([missing, *[label] * 299], dtype="object"))


def test_a_matrix_of_kernel_values_is_cut_into_folds_by_rows_and_columns():
    maps = (make_map("nystroem", kernel, n_components=20, random_state=0) for kernel in ("precomputed", Gaussian(1.0)))
    of_matrix, of_rows = (KernelMachineRegressor(phi, 1e-3) for phi in maps)
    K = Gaussian(1.0)(X)
    np.testing.assert_allclose(*(cross_val_score(*each, Y, cv=3) for each in ((of_matrix, K), (of_rows, X))), rtol=1e-6)
    with pytest.raises(ValueError, match="takes no rows of weight 0"):
        of_matrix.fit(K, Y, WEIGHTS)
