"""The maps that score candidates by the targets, against brute force: KA-RFF, KP-RFF and SLS-RFF."""

import numpy as np
import pytest
from closed_forms import assert_mean, candidates, pool_columns
from scipy.optimize import minimize

from random_features.kernels import ArcCosine, Cauchy, Gaussian, Laplacian, Linear
from random_features.maps import make_map
from random_features.maps.alignment import aligned_distribution
from random_features.maps.candidates import target_columns

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.sin(2 * X[:, 0])


def labels(kind, n=60):
    rng = np.random.default_rng(3)
    if kind == "binary":
        return rng.choice(["no", "yes"], size=n, p=[0.3, 0.7])
    if kind == "classes":
        return rng.integers(4, size=n)
    return rng.normal(size=n) + 5.0


def alignments(values, y):
    return ((target_columns(y).T @ values) ** 2).sum(axis=0)


def test_target_columns():
    np.testing.assert_allclose(target_columns(["b", "a", "b", "b"]).ravel(), [0.5, -1.5, 0.5, 0.5])
    np.testing.assert_allclose(target_columns([0, 1, 2, 2]).sum(axis=0), 0.0, atol=1e-15)
    np.testing.assert_allclose(target_columns([0, 1, 2, 2], centred=False), target_columns([0, 1, 2, 2]))
    np.testing.assert_allclose(target_columns([3.0, 7.0], "regression").ravel(), [-2.0, 2.0])
    np.testing.assert_allclose(target_columns([[3.0], [7.0]]).T, [[-1.0, 1.0]])
    np.testing.assert_allclose(target_columns([3.5, 7.0], centred=False).ravel(), [3.5, 7.0])
    np.testing.assert_array_equal(target_columns(np.full(300, 0.1)), 0.0)  # their mean is rounded


@pytest.mark.parametrize("name", ["karff", "kprff", "clrff"])
@pytest.mark.parametrize("kernel", [Gaussian(0.7), Laplacian(2.0), Cauchy(2.0), ArcCosine(0), ArcCosine(2)], ids=repr)
def test_features_are_weighted_candidates(name, kernel):
    options = {"n_pairs": 300} if name == "clrff" else {}
    phi = make_map(name, kernel, n_components=12, n_candidates=40, random_state=1, **options).fit(X, Y)
    indices, weights = phi.learned_["indices"], phi.learned_["weights"]
    assert len(indices) == len(weights) == phi.n_columns_ <= 12
    np.testing.assert_allclose(phi.transform(X), weights * candidates(phi, X)[:, indices], atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("n_candidates", [2, 3, 6])
@pytest.mark.parametrize("rho", [0.01, 0.3, 1.5])
@pytest.mark.parametrize("seed", range(3))
def test_aligned_distribution_solves_the_quadratic_program(n_candidates, rho, seed):
    scores = np.random.default_rng(seed).exponential(size=n_candidates)
    a = aligned_distribution(scores, rho)
    uniform = np.full(n_candidates, 1 / n_candidates)

    def divergence(a):
        return n_candidates * ((a - uniform) ** 2).sum()

    assert np.all(a >= 0)
    np.testing.assert_allclose(a.sum(), 1.0, rtol=1e-12)
    # rho is reached unless all the mass fits on the best candidate.
    np.testing.assert_allclose(divergence(a), min(rho, n_candidates - 1), rtol=1e-9)
    is_one = {"type": "eq", "fun": lambda a: a.sum() - 1}
    is_near = {"type": "ineq", "fun": lambda a: rho - divergence(a)}
    how = {"method": "SLSQP", "bounds": [(0, 1)] * n_candidates, "options": {"ftol": 1e-14, "maxiter": 500}}
    found = minimize(lambda a: -a @ scores, uniform, jac=lambda a: -scores, constraints=[is_one, is_near], **how)
    # The solver's own accuracy: ftol on the objective and its feasibility tolerance.
    assert a @ scores >= -found.fun - 1e-6
    np.testing.assert_allclose(a @ scores, -found.fun, rtol=1e-5)


def test_aligned_distribution_limits():
    scores = np.array([1.0, 4.0, 2.0, 4.0])
    np.testing.assert_allclose(aligned_distribution(scores, 1e-12), 0.25, atol=1e-6)
    np.testing.assert_array_equal(aligned_distribution(scores, 10.0), [0, 0.5, 0, 0.5])
    np.testing.assert_array_equal(aligned_distribution(scores[:3], 10.0), [0, 1, 0])
    np.testing.assert_array_equal(aligned_distribution(np.ones(4), 0.1), 0.25)
    found, expected = (aligned_distribution(each, 0.4) for each in (100 * scores + 7, scores))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", ["binary", "classes", "regression"])
def test_karff_uses_the_whole_support_where_it_fits(kind):
    y = labels(kind)
    options = {"n_components": 30, "n_candidates": 80, "rho": 40.0, "random_state": 0}
    phi = make_map("karff", weights="sqrt", **options).fit(X, y)
    a = aligned_distribution(alignments(candidates(phi, X), y), 40.0)
    support = np.flatnonzero(a)
    assert 1 < len(support) <= 30
    np.testing.assert_array_equal(phi.learned_["indices"], support)
    Z, C = phi.transform(X), candidates(phi, X)
    np.testing.assert_allclose(Z @ Z.T, (C * a) @ C.T, atol=1e-10)
    uniform = make_map("karff", **options).fit(X, y)
    np.testing.assert_allclose(uniform.transform(X), C[:, support] / np.sqrt(len(support)), atol=1e-12)


def test_karff_samples_where_the_support_does_not_fit():
    """The draws are independent and follow a, so that a gives the expected kernel."""
    sample = []
    for seed in range(250):
        phi = make_map("karff", n_components=10, n_candidates=50, rho=1.0, random_state=seed).fit(X, Y)
        C = candidates(phi, X[:2])
        a = aligned_distribution(alignments(candidates(phi, X), Y), 1.0)
        assert np.count_nonzero(a) > 10
        Z = phi.transform(X[:2])
        assert Z.shape[1] == 10
        sample.append(Z[0] @ Z[1] - (C * a)[0] @ C[1])
    assert_mean(sample, 0.0)


@pytest.mark.parametrize("kind", ["binary", "classes", "regression"])
def test_karff_with_distinct_features_takes_more_candidates_until_they_fill_the_map(kind):
    y = labels(kind)
    few = make_map("karff", n_components=40, random_state=0).fit(X, y)
    phi = make_map("karff", n_components=40, distinct=True, random_state=0).fit(X, y)
    assert few.n_distinct_ < 40 == phi.n_distinct_ == phi.n_columns_ == len(np.unique(phi.learned_["indices"]))
    scores = alignments(candidates(phi, X), y)
    tried = (aligned_distribution(scores[: 40 * J], 0.005 * 40 * J) for J in (10, 20, 40, 80, 100))
    support = next(np.flatnonzero(a) for a in tried if np.count_nonzero(a) >= 40)
    assert set(phi.learned_["indices"]) <= set(support)
    # where even the largest number of candidates leaves too few, the map keeps what there is
    narrow = make_map("karff", n_components=40, distinct=True, rho=3999.0, random_state=0).fit(X, y)
    assert narrow.n_columns_ == narrow.n_distinct_ < 40
    with pytest.raises(ValueError, match="distinct=True chooses the number of candidates"):
        make_map("karff", n_components=40, distinct=True, n_candidates=400).fit(X, y)


@pytest.mark.parametrize("kind", ["binary", "classes", "regression"])
@pytest.mark.parametrize("kernel", [Gaussian(0.5), Cauchy(1.0), ArcCosine(1), ArcCosine(2)], ids=repr)
def test_kprff_takes_the_best_scores(kind, kernel):
    y = labels(kind)
    phi = make_map("kprff", kernel, n_components=7, n_candidates=40, random_state=0).fit(X, y)
    scores = alignments(candidates(phi, X), y)
    best = sorted(range(40), key=lambda j: -scores[j])[:7]
    np.testing.assert_array_equal(phi.learned_["indices"], best)
    np.testing.assert_allclose(phi.transform(X), candidates(phi, X)[:, best] / np.sqrt(7), atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("name", ["kprff", "karff"])
def test_linear_kernel_selects_columns(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = X[:, 5] - X[:, 2] + 0.01 * rng.normal(size=300)
    options = {"rho": 3.0} if name == "karff" else {}
    phi = make_map(name, Linear(), n_components=2, random_state=0, **options).fit(X, y)
    assert set(phi.learned_["indices"]) == {2, 5}
    Z = phi.transform(X)
    np.testing.assert_allclose(np.abs(Z).sum(axis=1), np.abs(X[:, [2, 5]]).sum(axis=1) * np.sqrt(8 / 2), rtol=1e-12)


@pytest.mark.parametrize("name", ["kprff", "karff"])
def test_scores_use_a_share_of_the_rows(name):
    """Rows without a say cannot be distinguished from rows that are not there: count those that change the scores."""
    phi = make_map(name, n_components=7, scoring_fraction=0.25, random_state=0).fit(X, Y)

    def scores(X):
        return phi._alignments(X, Y, np.random.default_rng(5))

    used = []
    for row in range(60):
        changed = X.copy()
        changed[row] += 1.0
        if np.any(scores(changed) != scores(X)):
            used.append(row)
    assert len(used) == 15
    assert used != list(range(15))
    by_hand = ((Y - Y.mean())[used] @ candidates(phi, X[used])) ** 2
    np.testing.assert_allclose(scores(X), by_hand, rtol=1e-10)


def test_whole_numbers_are_labels_unless_the_task_is_regression():
    years = (2000 + 10 * X[:, 0]).round()
    regression = make_map("kprff", n_components=5, task="regression", random_state=0).fit(X, years)
    classes = make_map("kprff", n_components=5, random_state=0).fit(X, years)
    by_hand = make_map("kprff", n_components=5, random_state=0).fit(X, years + 0.25)
    np.testing.assert_array_equal(regression.learned_["indices"], by_hand.learned_["indices"])
    assert set(regression.learned_["indices"]) != set(classes.learned_["indices"])


@pytest.mark.parametrize("kind", ["binary", "classes", "regression"])
@pytest.mark.parametrize("identity", [False, True])
@pytest.mark.parametrize("centred", [False, True])
def test_slsrff_weights(kind, identity, centred):
    y = labels(kind)
    phi = make_map("slsrff", n_components=9, identity=identity, center_targets=centred, random_state=0).fit(X, y)
    pool = pool_columns(phi, X)
    scores = ((target_columns(y, centred=centred).T @ pool) ** 2).sum(axis=0)
    scores += len(y) * (pool**2).sum(axis=0) if identity else 0.0
    scores = scores.reshape(2, 9).sum(axis=0)
    indices = phi.learned_["indices"]
    np.testing.assert_allclose(phi.learned_["weights"], np.sqrt(scores.sum() / (9 * scores[indices])), rtol=1e-9)


@pytest.mark.parametrize("name", ["karff", "kprff"])
@pytest.mark.parametrize("kernel", [Gaussian(0.7), ArcCosine(1), ArcCosine(2)], ids=repr)
@pytest.mark.parametrize("kind", ["binary", "classes", "numbers"])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_a_prefix_is_the_map_of_the_smaller_size(name, kernel, kind, share):
    y = labels(kind)
    options = {"n_candidates": 40, "scoring_fraction": share, "random_state": 1}
    whole = make_map(name, kernel, n_components=30, **options).fit(X, y)
    for size in (30, 12, 5, 1):
        smaller, fitted = whole.prefix(size), make_map(name, kernel, n_components=size, **options).fit(X, y)
        np.testing.assert_array_equal(smaller.transform(X), fitted.transform(X))
        assert (smaller.n_components, smaller.n_columns_) == (size, fitted.n_columns_)
        # as another process has it
        restored = make_map(name, kernel, n_components=30, **options).restore(3, whole.learned_, dtype=X.dtype)
        np.testing.assert_array_equal(restored.prefix(size).transform(X), fitted.transform(X))


@pytest.mark.parametrize("rho", [0.5, 8.0, 30.0])
def test_a_prefix_of_lkrf_draws_or_takes_the_support_as_the_smaller_map_does(rho):
    options = {"n_candidates": 40, "rho": rho, "random_state": 1}
    whole = make_map("karff", Gaussian(0.7), n_components=30, **options).fit(X, Y)
    for size in (30, 12, 5):
        found, fitted = whole.prefix(size), make_map("karff", Gaussian(0.7), n_components=size, **options).fit(X, Y)
        for name in ("indices", "weights"):
            np.testing.assert_array_equal(found.learned_[name], fitted.learned_[name])


@pytest.mark.parametrize("name", ["karff", "kprff"])
def test_without_a_stated_pool_there_is_no_prefix(name):
    with pytest.raises(NotImplementedError, match=f"{name}: without n_candidates"):
        make_map(name, n_components=12, random_state=1).fit(X, Y).prefix(5)


BINARY = labels("binary")
#: Options of KP-RFF with targets, and the columns by which the first rows are scored.
STATED = {
    # the mean is over all rows
    "first rows": ({"scoring_fraction": 0.3, "scoring_rows": "first"}, Y, target_columns(Y)[:18]),
    "as they are": ({"center_targets": False}, BINARY, np.where(BINARY[:, None] == "yes", 1.0, -1.0)),
}


@pytest.mark.parametrize(("options", "y", "columns"), STATED.values(), ids=STATED)
def test_kprff_scores_rows_and_targets_as_it_is_asked_to(options, y, columns):
    phi = make_map("kprff", Gaussian(0.7), n_components=12, n_candidates=40, random_state=1, **options).fit(X, y)
    scores = ((columns.T @ candidates(phi, X)[: len(columns)]) ** 2).sum(axis=0)
    np.testing.assert_array_equal(phi.learned_["indices"], np.argsort(-scores, kind="stable")[:12])


@pytest.mark.parametrize("exponent", [-300, -200, -160, 160, 200, 300])
@pytest.mark.parametrize("name", ["kprff", "karff", "slsrff"])
def test_the_unit_of_the_targets_changes_nothing(name, exponent):
    """Squares of such targets leave the range of float64: the first candidates were chosen, or an error was raised."""

    def learned(y):
        return make_map(name, n_components=7, random_state=0).fit(X, y).learned_

    expected, found = learned(Y), learned(Y * 10.0**exponent)
    np.testing.assert_array_equal(found["indices"], expected["indices"])
    np.testing.assert_allclose(found["weights"], expected["weights"], rtol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["kprff", "karff", "slsrff"])
def test_targets_whose_products_overflow_are_refused(name):
    with pytest.raises(ValueError, match="products of targets and features overflow"):
        make_map(name, n_components=7, random_state=0).fit(X, 1e308 * Y / np.abs(Y).max())
