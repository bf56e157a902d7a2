"""Cost, surrogate and required features of leverage sampling, against closed forms and naive twins."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from rfstudy.kernels import Gaussian
from rfstudy.maps.registry import REGISTRY, make_map
from rfstudy.metrics import FACTS
from rfstudy.study import spec as specs
from rfstudy.study.kinds import fitting, requirement, surrogate

GRIDS = {
    "fitting": {
        "fixed_dimension": 3, "rows": 80, "n_features": [4, 8], "fixed_n_features": 8, "sample_sizes": [40, 80],
    },
    "surrogate": {"dimensions": [2], "sample_sizes": [20], "penalties": [0.1], "draws": 30},
    "requirement": {
        "decays": ["polynomial"], "sample_sizes": [24], "n_features": [2, 8, 32, 128, 512], "terms": 10, "draws": 2,
        "test_rows": 40, "tolerance": 0.05,
    },
}  # fmt: skip


def entry(method, variant="", **options):
    at = REGISTRY[method]
    return {"method": method, "variant": variant, "options": options, "map": f"{at.module}.{at.class_name}"}


def spec_of(kind, repeats=(0,)):
    return {
        "kind": kind, "kernel": "gaussian", "seed": 3, "device": "cpu", "repeats": list(repeats), "timing_runs": 1,
        "grid": GRIDS[kind],
    }  # fmt: skip


def by_metric(rows, penalty=None):
    return {row["metric"]: row["value"] for row in rows if penalty is None or row["at"] == penalty}


def test_kinds_that_take_times_run_alone():
    assert specs.is_timed({"kind": "fitting"})
    assert not specs.is_timed({"kind": "surrogate"})


def test_the_grid_of_fits_varies_s_and_n_one_at_a_time():
    cells = fitting.cells(spec_of("fitting"))
    assert [(c["rows"], c["n_features"]) for c in cells] == [(80, 4), (80, 8), (40, 8)]


def test_only_maps_with_scores_have_a_time_of_them():
    spec = spec_of("fitting")
    cell = fitting.cells(spec)[0]
    plain, scored = (fitting.measure(spec, entry(method), cell) for method in ("rff", "slsrff"))
    assert set(by_metric(plain)) == {"time_fit_s", "time_transform_s"}
    assert set(by_metric(scored)) == {"time_fit_s", "time_transform_s", "time_scores_s"}
    assert all(FACTS[row["metric"]].unit == "s" for row in scored)


def test_the_scores_that_are_timed_are_those_of_the_pool():
    X, y = fitting.labelled_points(0, 50, 3)
    X = X.astype(np.float64)
    s, n, penalty = 6, 50, 0.05
    leverage = make_map("lsrff", n_components=s, penalty=penalty, device="cpu", random_state=1)
    found = fitting.scores_alone(leverage, X, y)()
    angles = X @ leverage.pool_.frequencies.T
    Z = np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(s)
    inverse = np.linalg.inv(Z.T @ Z + n * penalty * np.eye(2 * s))
    assert found == pytest.approx(np.diag(Z.T @ Z @ inverse))
    aligned = make_map("slsrff", n_components=s, center_targets=False, device="cpu", random_state=1)
    assert fitting.scores_alone(aligned, X, y)() == pytest.approx((y @ Z) ** 2)


def twins(spec, cell, penalty):
    """Leverage and surrogate at the frequencies of a cell, by a dense inverse, without and with the identity term."""
    X, y, W = surrogate.labelled_points(spec, cell)
    n, K = len(X), Gaussian(1.0)(X)
    inverse = np.linalg.inv(K + n * penalty * np.eye(n))
    leverages, plain, whole = [], [], []
    for w in W:
        z = np.exp(-1j * X @ w)
        leverages.append((z.conj() @ inverse @ z).real)
        for scores, A in ((plain, np.outer(y, y)), (whole, np.outer(y, y) + n * np.eye(n))):
            scores.append((z.conj() @ A @ z).real / (n**2 * penalty))
    return np.array(leverages), np.array(plain), np.array(whole)


@pytest.mark.parametrize("identity", [False, True])
def test_the_ratios_are_those_of_a_dense_inverse(identity):
    spec = spec_of("surrogate")
    (cell,) = surrogate.cells(spec)
    rows = surrogate.measure(spec, entry("slsrff", identity=identity), cell)
    assert [row["settings"]["rule"] for row in rows[::5]] == ["fixed", "n^(-1/2)"]
    assert {row["axis"] for row in rows} == {"penalty"}
    for penalty in (0.1, 20**-0.5):
        leverages, plain, whole = twins(spec, cell, penalty)
        ratios = (whole if identity else plain) / leverages
        found = by_metric(rows, penalty)
        assert found["leverage_ratio_least"] == pytest.approx(ratios.min())
        assert found["leverage_ratio_below"] == np.mean(ratios < 1)
    # footnote 1 of the paper: an upper bound with the identity term
    assert not identity or min(r["value"] for r in rows if r["metric"] == "leverage_ratio_least") >= 1


def test_the_totals_are_the_means_over_the_frequencies():
    spec = spec_of("surrogate") | {"grid": GRIDS["surrogate"] | {"draws": 4000}}
    (cell,) = surrogate.cells(spec)
    leverages, plain, whole = twins(spec, cell, 0.1)
    rows = {identity: surrogate.measure(spec, entry("slsrff", identity=identity), cell) for identity in (False, True)}
    for values, identity, name in (
        (leverages, True, "total_leverage"),
        (plain, False, "total_surrogate_leverage"),
        (whole, True, "total_surrogate_leverage"),
    ):
        total = by_metric(rows[identity], 0.1)[name]
        assert abs(values.mean() - total) < 4 * values.std(ddof=1) / np.sqrt(len(values))
    # 2 Tr(K) / (n lambda) with K_ii = 1
    assert by_metric(rows[True], 0.1)["total_surrogate_bound"] == pytest.approx(20.0)


@pytest.mark.parametrize("decay", requirement.DECAYS)
def test_the_kernel_on_the_circle_has_the_stated_eigenvalues(decay):
    kernel = requirement.Circle(decay, 10)
    points = np.arange(32)[:, None] / 32
    mu = requirement.spectrum(decay, 10)
    # on equidistant points the harmonics stay orthogonal: m mu_j / 2 twice each, and 0
    expected = np.sort(np.concatenate([np.repeat(32 * mu / 2, 2), np.zeros(12)]))
    assert np.linalg.eigvalsh(kernel(points)) == pytest.approx(expected, abs=1e-12)
    assert np.diag(kernel(points)) == pytest.approx(np.ones(32))
    assert kernel(points[:1], points[:3])[0, 2] == pytest.approx(sum(mu * np.cos(4 * np.pi * np.arange(1, 11) / 32)))


def test_the_frequencies_follow_the_law():
    kernel = requirement.Circle("slowest", 5)
    mu = requirement.spectrum("slowest", 5)
    drawn = kernel.draw_frequencies(np.random.default_rng(0), (5000, 1)) / (2 * np.pi)
    shares = np.array([np.mean(np.isclose(drawn, j)) for j in range(1, 6)])
    assert np.all(np.abs(shares - mu) < 4 * np.sqrt(mu * (1 - mu) / 5000))
    middles = np.cumsum(mu) - mu / 2
    assert kernel.frequency_quantile(middles) / (2 * np.pi) == pytest.approx([1, 2, 3, 4, 5])


@pytest.fixture
def sample():
    spec = spec_of("requirement")
    return requirement.Sample.drawn(spec["seed"], requirement.cells(spec)[0], 0)


def test_the_exact_risk_is_that_of_kernel_ridge_regression(sample):
    kernel = requirement.Circle("slowest", 10)
    model = KernelRidge(alpha=24 * 24**-0.5, kernel="precomputed").fit(kernel(sample.X), sample.y)
    predicted = model.predict(kernel(sample.X_test, sample.X))
    assert requirement.exact_risk(kernel, sample) == pytest.approx(sample.risk(predicted))


def test_the_risk_is_the_mean_squared_error_over_labels(sample):
    predicted = np.linspace(-1, 1, 40)
    rng = np.random.default_rng(0)
    labels = np.where(rng.uniform(size=(2000, 40)) < 0.5 * (1 + sample.f_test), 1.0, -1.0)
    errors = ((labels - predicted) ** 2).mean(axis=1)
    assert abs(errors.mean() - sample.risk(predicted)) < 4 * errors.std(ddof=1) / np.sqrt(2000)
    # the labels leave room: no prediction is better than f
    assert sample.risk(sample.f_test) == pytest.approx(np.mean(1 - sample.f_test**2))
    assert sample.risk(sample.f_test) > 0.1


@pytest.mark.parametrize("method", ["lsrff", "slsrff"])
def test_the_whole_law_is_that_of_the_dense_scores(method, sample):
    kernel, n = requirement.Circle("polynomial", 10), 24
    found = requirement.law_of(kernel, sample, entry(method, pool="whole", identity=True))
    A = np.linalg.inv(kernel(sample.X) + n**0.5 * np.eye(n))
    if method == "slsrff":
        A = np.outer(sample.y, sample.y) + n * np.eye(n)
    z = np.exp(-1j * sample.X * kernel.frequencies())
    scores = np.einsum("ij,ik,kj->j", z.conj(), A, z).real * requirement.spectrum("polynomial", 10)
    assert found == pytest.approx(scores / scores.sum())


def test_weighted_harmonics_have_the_kernel_as_their_mean(sample):
    kernel, rng = requirement.Circle("slowest", 10), np.random.default_rng(0)
    law = requirement.law_of(kernel, sample, entry("lsrff", pool="whole"))
    X = sample.X[:3]
    products = []
    for _ in range(2000):
        Z = requirement.weighted_features(kernel, law, 4, rng)(X)
        products.append(Z @ Z.T)
    error = np.std(products, axis=0, ddof=1) / np.sqrt(2000)
    assert np.all(np.abs(np.mean(products, axis=0) - kernel(X)) < 4 * error)


@pytest.mark.parametrize(
    "of", [entry("rff"), entry("lsrff"), entry("slsrff"), entry("lsrff", "whole", pool="whole")], ids=str
)
def test_the_walk_ends_at_two_sizes_within_the_tolerance(of):
    spec = spec_of("requirement", repeats=(0, 1))
    (cell,) = requirement.cells(spec)
    rows = requirement.measure(spec, of, cell)
    # which law it is, is the kernel of a row and no setting of it
    assert {row["kernel"] for row in rows} == {"circle-polynomial"}
    assert not any("decay" in row["settings"] for row in rows)
    exact = np.mean([row["value"] for row in rows if row["metric"] == "risk_exact"])
    risks = {}
    for row in rows:
        if row["metric"] == "risk":
            risks.setdefault(row["n_features"], []).append(row["value"])
    within = [np.mean(values) <= 1.05 * exact for values in risks.values()]
    assert all(len(values) == 2 for values in risks.values())
    ends = [i for i in range(1, len(within)) if within[i] and within[i - 1]]
    assert ends == [len(within) - 1] or (not ends and list(risks) == cell["n_features"])
    assert requirement.measure(spec, of, cell) == rows
