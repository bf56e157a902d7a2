"""The entries of the learners: each against a naive twin, on every kind of target that it serves."""

import itertools
import warnings

import numpy as np
import pytest
from linear_problems import l1_svm, overwritten, ridge, stream
from linear_problems import svm as linear_svm
from scipy.optimize import minimize
from scipy.special import expit, logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning

from random_features.learners import design, entry, newton, streams, svm
from random_features.learners.registry import LEARNERS
from rfstudy.data.target import Target
from rfstudy.models import problems_of
from rfstudy.planning.entries import learner_type

N_ROWS, N_COLUMNS = 121, 5
KINDS = ("binary", "classes", "regression")


def problem(kind, n_rows=N_ROWS, n_columns=N_COLUMNS):
    """Features with a mean, and a target that depends on them."""
    rng = np.random.default_rng(KINDS.index(kind))
    Z = (rng.standard_normal((n_rows, n_columns)) + 0.5) / np.sqrt(n_columns)
    evidence = Z @ rng.standard_normal((n_columns, 3)) + 0.3 * rng.standard_normal((n_rows, 3))
    evidence -= evidence.mean(axis=0)
    y = {
        "binary": np.where(evidence[:, 0] > 0, 7, 4),
        "classes": evidence.argmax(axis=1) + 3,
        "regression": 10 + evidence[:, 0],
    }
    return Z, y[kind]


def logistic(options, Z, Y, value):
    """A general optimiser on the objective as it is written by its gradient, until that is below 1e-9."""
    n, D = Z.shape
    penalty = value * {"mean": 1.0, "sum": 1 / n, "per_column": 1 / (n * D)}[options["scaling"]]
    if options["classes"] == "one_vs_rest" and Y.shape[1] > 1:
        fits = [logistic(options, Z, Y[:, [k]], value) for k in range(Y.shape[1])]
        return lambda Z: np.hstack([decide(Z) for decide in fits])
    free = options["intercept"] == "unpenalised"

    def losses(F):
        if F.shape[1] == 1:
            return np.logaddexp(0, -Y * F)[:, 0], -Y * expit(-Y * F)
        return logsumexp(F, axis=1) - F[Y > 0], softmax(F, axis=1) - (Y > 0)

    def value_and_gradient(v):
        W = v.reshape(D + free, -1)
        each, slopes = losses(Z @ W[:D] + W[D:].sum(axis=0))
        by_coef = Z.T @ slopes / n + penalty * W[:D]
        by_intercept = slopes.mean(axis=0, keepdims=True)[:free]
        return each.mean() + penalty / 2 * (W[:D] ** 2).sum(), np.vstack([by_coef, by_intercept]).ravel()

    start = np.zeros((D + free) * Y.shape[1])
    W = minimize(value_and_gradient, start, jac=True, method="BFGS", options={"gtol": 1e-9}).x.reshape(D + free, -1)
    return lambda Z: Z @ W[:D] + W[D:].sum(axis=0)


def variants(**choices):
    return [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]


SCALINGS = ["mean", "sum", "per_column"]

#: By learner: the naive solution, how far from it a decision value (they are of order 1 to 10) may be, and the options
#: that it is compared under. Ridge: rounding, at a condition below 1e5. SVM: its solvers stop within a relative 1e-6 to
#: 1e-5 of the minimum of a 1-strongly convex objective. Logistic: its last Newton step starts within a relative 1e-7 of
#: the minimum of an objective of order 1, which is strongly convex with 1e-4 or more, and leaves the square of that.
TWINS = {
    "logistic": (
        logistic,
        1e-4,
        [
            *variants(scaling=SCALINGS, intercept=["none", "unpenalised"], classes=["multinomial"]),
            *variants(scaling=["mean"], intercept=["none", "unpenalised"], classes=["one_vs_rest"]),
        ],
    ),
    "ridge": (ridge, 1e-10, variants(scaling=SCALINGS, center=["targets", "both", "none"])),
    "svm": (linear_svm, 1e-3, [{}, {"scaling": "per_column"}, *variants(solver=["auto", "liblinear", "newton"])]),
    "l1_svm": (l1_svm, 1e-3, [{}]),
}

#: The values that are compared: neither all weight on the penalty nor none.
VALUES = [10.0, 0.01, 0.5]

#: Rows and columns that are compared: ridge regression has a system of its own where there are fewer rows.
SHAPES = {"ridge": [(N_ROWS, N_COLUMNS), (30, 45)]}

CASES = [
    pytest.param(name, kind, shape, options, id="-".join(map(str, [name, kind, *shape, *options.values()])))
    for name in TWINS
    for kind in entry.load(name).targets
    for shape in SHAPES.get(name, [(N_ROWS, N_COLUMNS)])
    for options in TWINS[name][2]
]


def test_every_learner_has_a_twin():
    assert list(LEARNERS) == sorted(TWINS)


@pytest.mark.parametrize(("name", "kind", "shape", "options"), CASES)
def test_a_fit_is_that_of_its_twin(name, kind, shape, options):
    learner, target, (twin, allowed, _) = entry.load(name), Target(kind), TWINS[name]
    Z, y = problem(kind, *shape)
    Y, classes = target.encode(y)
    least_squares = [0.0] if name == "ridge" and shape[0] > shape[1] else []
    for value in VALUES + least_squares:
        model = learner.fit(lambda: overwritten(Z, 17), Y, value, n_columns=shape[1], options=options)
        assert model.converged
        np.testing.assert_allclose(model.decision(Z), twin(options, Z, Y, value)(Z), rtol=0, atol=allowed)
        assert target.decode(model.decision(Z), classes).shape == (shape[0],)


@pytest.mark.parametrize(("name", "kind", "shape", "options"), CASES)
def test_cross_validation_scores_the_twins_of_every_fold(name, kind, shape, options):
    learner, target, (twin, allowed, _) = entry.load(name), Target(kind), TWINS[name]
    Z, y = problem(kind, *shape)
    Y, classes = target.encode(y)
    folds = np.random.default_rng(3).integers(0, 3, shape[0])
    options = options | {learner.grid: VALUES, "n_folds": 3, "repeats": 2}
    how = {"n_columns": shape[1], "score": target.score, "options": options}
    scores = learner.cross_validate(lambda: overwritten(Z, 17), Y, folds, **how)
    assert scores.shape == (len(VALUES), 3)
    for i, value in enumerate(VALUES):
        for fold in range(3):
            out = folds == fold
            decision = twin(options, Z[~out], Y[~out], value)(Z[out])
            if target.score == "mse":
                expected = np.mean((decision[:, 0] - y[out]) ** 2)
                slack = 4 * allowed
            else:
                expected = 100 * np.mean(target.decode(decision, classes) == y[out])
                # rows that the two may decide otherwise: those nearer to the boundary than the error of a decision
                ordered = np.sort(decision, axis=1)
                margin = np.abs(decision[:, 0]) if decision.shape[1] == 1 else ordered[:, -1] - ordered[:, -2]
                slack = 100 * np.mean(margin <= 2 * allowed)
                assert slack <= 200 / out.sum()  # at most two rows, or the comparison would say little
            assert abs(scores[i, fold] - expected) <= slack + 1e-12 * expected


@pytest.mark.parametrize("name", TWINS)
def test_targets_that_a_learner_does_not_serve_are_refused(name):
    learner = entry.load(name)
    options = TWINS[name][2][0] | {learner.grid: VALUES}
    # a learner of regressions takes any number, so also the codes of classes
    for kind in set(KINDS) - set(learner.targets) if "regression" not in learner.targets else ():
        Z, y = problem(kind)
        Y, _ = Target(kind).encode(y)
        score = {"score": Target(kind).score}
        with pytest.raises(ValueError, match="other than -1 and"):
            learner.fit(stream(Z), Y, 1.0, n_columns=N_COLUMNS, options=options)
        with pytest.raises(ValueError, match="not by 'mse'"):
            learner.cross_validate(stream(Z), Y, np.arange(N_ROWS) % 2, n_columns=N_COLUMNS, options=options, **score)


#: Every learner with its options.
EVERY = [(name, options) for name in TWINS for options in TWINS[name][2]]


def calls(name, options, Z, grid=1.0):
    """Fit, and cross-validate on two folds and on rows that do not train, the fourth among them."""
    learner, Y, rows = entry.load(name), Target("binary").encode(problem("binary")[1])[0], np.arange(N_ROWS)
    how = {"n_columns": Z.shape[1], "options": options | {learner.grid: [grid]}}
    yield lambda: learner.fit(stream(Z, 9), Y, grid, **how)
    for folds in (rows % 2, np.where(rows % 3, -1, 0)):
        yield lambda folds=folds: learner.cross_validate(stream(Z, 9), Y, folds, score="accuracy", **how)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(("name", "options"), EVERY)
def test_features_that_are_not_finite_are_refused(name, options, bad, monkeypatch):
    """In memory and as a stream, with Z'Z and without, with fewer columns than rows and with more."""
    for budget, preconditioned, n_columns in ((2**30, 4096, 5), (0, 4096, 5), (2**30, 0, 5), (2**30, 4096, 150)):
        monkeypatch.setattr(streams, "MEMORY_BUDGET", budget)
        monkeypatch.setattr(design, "PRECONDITIONED_COLUMNS", preconditioned)
        Z = problem("binary", n_columns=n_columns)[0]
        Z[3, 2] = bad
        for call in calls(name, options, Z):
            with pytest.raises(ValueError, match="features hold NaN, infinity"):
                call()


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize("name", TWINS)
def test_values_of_the_grid_are_finite_and_positive_or_0_of_ridge_regression(name, value):
    for call in calls(name, TWINS[name][2][0], problem("binary")[0], value) if (name, value) != ("ridge", 0.0) else ():
        with pytest.raises(ValueError, match=r"must be finite and (positive|non-negative)"):
            call()


@pytest.mark.parametrize(("name", "options"), [each for each in EVERY if each[0] in ("svm", "logistic")])
def test_fits_that_stop_early_are_reported(name, options, monkeypatch):
    fit, validate, _ = calls(name, options, problem("binary")[0], 100.0 if name == "svm" else 1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        validate()
        monkeypatch.setattr(svm, "LIBLINEAR_MAX_ITERATIONS", 1)
        monkeypatch.setattr(newton, "MAX_ITERATIONS", 1)
        model = fit()
    assert (model.converged, model.n_iter, np.isfinite(model.coef).all()) == (False, 1, True)
    with pytest.warns(ConvergenceWarning, match=f"2 of 2 {name.replace('svm', 'SVM')} fits"):
        validate()


@pytest.mark.parametrize(
    ("name", "option", "value", "message"),
    [
        ("ridge", "scaling", "max", "scaling must be one of"),
        ("ridge", "center", "median", "center must be"),
        ("svm", "scaling", "mean", "scaling must be one of sum, per_column"),
        ("svm", "solver", "saga", "solver must be one of"),
        ("logistic", "scaling", "max", "scaling must be one of"),
        ("logistic", "intercept", "penalised", "intercept must be one of"),
        ("logistic", "classes", "one_vs_one", "classes must be one of"),
        # what is minimised has to be said
        *[("ridge", option, None, f"do not say {option}") for option in ("scaling", "center")],
        *[("logistic", option, None, f"do not say {option}") for option in ("scaling", "intercept", "classes")],
        *[(name, entry.load(name).grid, None, "do not say") for name in ("ridge", "logistic")],
    ],
)
def test_options_that_do_not_exist_or_are_not_stated_are_refused(name, option, value, message):
    learner = entry.load(name)
    Z, y = problem("binary")
    Y, _ = Target("binary").encode(y)
    options = TWINS[name][2][0] | {learner.grid: [1.0], option: value}
    how = {"n_columns": N_COLUMNS, "options": {key: each for key, each in options.items() if each is not None}}
    if option != learner.grid:
        with pytest.raises(ValueError, match=message):
            learner.fit(stream(Z), Y, 1.0, **how)
    with pytest.raises(ValueError, match=message):
        learner.cross_validate(stream(Z), Y, np.arange(N_ROWS) % 2, score="accuracy", **how)


@pytest.mark.parametrize(("name", "scaling"), [("ridge", "mean"), ("logistic", "mean"), ("svm", "per_column")])
def test_values_that_a_scaling_makes_infinite_are_refused(name, scaling):
    learner, Z = entry.load(name), problem("binary")[0]
    Y, _ = Target("binary").encode(problem("binary")[1])
    how = {"n_columns": N_COLUMNS, "options": TWINS[name][2][0] | {learner.grid: [1.0, 1e308], "scaling": scaling}}
    with pytest.raises(ValueError, match="by its scaling="):
        learner.fit(stream(Z), Y, 1e308, **how)
    with pytest.raises(ValueError, match="by its scaling="):
        learner.cross_validate(stream(Z), Y, np.arange(N_ROWS) % 2, score="accuracy", **how)


def test_a_support_vector_machine_has_a_limit_where_one_is_set_and_that_of_libsvm():
    limit, over = entry.load("svm").limit, "100 rows x 10 columns are over the max_entries that the preset allows"
    assert (limit({"max_entries": 1000}, 100, 10), limit({"max_entries": 999}, 100, 10)) == ("", over)
    assert limit({"max_entries": None}, 10**9, 10**9) == limit({}, 10**9, 10**9) == ""
    limit = entry.load("l1_svm").limit
    assert limit({}, 20_000, 5) == ""
    assert limit({}, 20_001, 5) == "20001 rows are over the 20000 that libsvm is given"


SINGULAR = {"scaling": "sum", "center": "targets", "penalties": [1.0, 1e-300, 1e-3, 1e-200]}


def has_fit(learner, Z, Y, value, options):
    try:
        learner.fit(stream(Z), Y, value, n_columns=Z.shape[1], options=options)
    except np.linalg.LinAlgError:
        return False
    return True


@pytest.mark.parametrize("center", ["targets", "both", "none"])
@pytest.mark.parametrize("scaling", ["mean", "sum", "per_column"])
@pytest.mark.parametrize("shape", [(60, 4), (9, 12), (5, 4)])
def test_ridge_has_a_solution_where_its_fit_has(center, scaling, shape):
    rng = np.random.default_rng(0)
    Z, Y = np.repeat(rng.standard_normal((shape[0], 2)), shape[1] // 2, axis=1), np.ones((shape[0], 1))
    Y[::2] = -1.0
    options = {"scaling": scaling, "center": center}
    values = [1.0, *np.geomspace(1e-20, 1e-10, 21).tolist(), 1e-300]
    found = entry.load("ridge").has_solution(stream(Z), Y, values, n_columns=shape[1], options=options)
    assert list(map(bool, found)) == [has_fit(entry.load("ridge"), Z, Y, value, options) for value in values]
    assert set(map(bool, found)) == {True, False}


def test_the_smallest_value_with_a_solution():
    rng = np.random.default_rng(0)
    Z, Y = rng.standard_normal((60, 1)).repeat(4, axis=1), np.where(rng.standard_normal((60, 1)) > 0, 1.0, -1.0)
    find = entry.load("ridge").smallest_with_solution
    assert find(stream(Z), Y, n_columns=4, options=SINGULAR) == 1e-3
    assert find(stream(Z), Y, n_columns=4, options=SINGULAR | {"penalties": [3.0, 0.5]}) == 0.5
    with pytest.raises(np.linalg.LinAlgError, match="singular at every value"):
        find(stream(Z), Y, n_columns=4, options=SINGULAR | {"penalties": [1e-300, 1e-200]})


@pytest.mark.parametrize("name", ["gram", "nothing", "entry", "__init__"])
def test_an_unknown_learner_is_refused_with_the_known_ones(name):
    with pytest.raises(ValueError, match=f"there is no learner '{name}'; known are {', '.join(sorted(TWINS))}"):
        entry.load(name)
    with pytest.raises(ValueError, match="there is no learner"):
        entry.load([name])


@pytest.mark.parametrize("name", TWINS)
def test_the_facts_of_a_learner_are_those_of_its_entry(name):
    facts, learner = vars(LEARNERS[name]), entry.load(name)
    assert facts == {key: getattr(learner, key) for key in facts}
    assert set(learner.targets) <= set(KINDS)


@pytest.mark.parametrize("name", TWINS)
def test_the_configuration_refuses_what_the_learner_refuses(name):
    model = learner_type(name)
    good = TWINS[name][2][0] | {entry.load(name).grid: [0.1, 1], "n_folds": 5}
    assert problems_of(model, good) == []
    for options in TWINS[name][2]:
        assert problems_of(model, options) == []
    for wrong in [{option: "wrong"} for option in model.model_fields] + [{"other": 1}]:
        assert len(problems_of(model, good | wrong)) == 1
    for grid in ([], [0.0], [-1.0], 1.0):
        assert len(problems_of(model, good | {entry.load(name).grid: grid})) == 1
