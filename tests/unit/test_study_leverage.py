"""Surrogate and required features of leverage sampling, against closed forms and naive twins."""

import numpy as np
import pytest
import study_toys as toys
from sklearn.kernel_ridge import KernelRidge

from random_features.kernels import Circle, Gaussian
from random_features.kernels.circle import spectrum
from rfstudy.study.engine import Job
from rfstudy.study.kinds import requirement, surrogate

KERNELS = {"surrogate": {"name": "gaussian", "length_scale": 1}, "requirement": {"name": "circle"}}

GRIDS = {
    "surrogate": {"dimensions": [2], "sample_sizes": [20], "penalties": [0.1], "draws": 30},
    "requirement": {
        "decays": ["polynomial"], "sample_sizes": [24], "n_features": [2, 8, 32, 128, 512], "terms": 10, "draws": 2,
        "test_rows": 40, "tolerance": 0.05,
    },
}  # fmt: skip


def entry(method, variant="", **options):
    return {"method": method, "variant": variant, "options": options}


def job_of(kind, *entries, repeats=(0,), **grid):
    """The job of an experiment of a kind; the rest of its specification decides names only."""
    methods = list(entries) or [entry("slsrff")]
    spec = toys.part(kind=kind, kernel=KERNELS[kind], repeats=list(repeats), methods=methods)
    return Job("measure", spec | {"grid": GRIDS[kind] | grid}, None, None)


def by_metric(rows, penalty=None):
    return {row["metric"]: row["value"] for row in rows if penalty is None or row["at"] == penalty}


def twins(job, cell, penalty):
    """Leverage and surrogate at the frequencies of a cell, by a dense inverse, without and with the identity term."""
    X, y, W = surrogate.labelled_points(job.spec.seed, Gaussian(1.0), cell)
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
    job = job_of("surrogate", entry("slsrff", identity=identity))
    (cell,) = surrogate.cells(job)
    rows, _ = surrogate.measure(job, cell, None)
    assert [row["settings"]["rule"] for row in rows[::5]] == ["fixed", "n^(-1/2)"]
    assert {row["axis"] for row in rows} == {"penalty"}
    for penalty in (0.1, 20**-0.5):
        leverages, plain, whole = twins(job, cell, penalty)
        ratios = (whole if identity else plain) / leverages
        found = by_metric(rows, penalty)
        assert found["leverage_ratio_least"] == pytest.approx(ratios.min())
        assert found["leverage_ratio_below"] == np.mean(ratios < 1)
    # footnote 1 of the paper: an upper bound with the identity term
    assert not identity or min(r["value"] for r in rows if r["metric"] == "leverage_ratio_least") >= 1


def test_the_totals_are_the_means_over_the_frequencies():
    job = job_of("surrogate", entry("slsrff"), entry("slsrff", "identity", identity=True), draws=4000)
    cells = surrogate.cells(job)
    leverages, plain, whole = twins(job, cells[0], 0.1)
    rows = {bool(cell.entry["variant"]): surrogate.measure(job, cell, None)[0] for cell in cells}
    for values, identity, name in (
        (leverages, True, "total_leverage"),
        (plain, False, "total_surrogate_leverage"),
        (whole, True, "total_surrogate_leverage"),
    ):
        total = by_metric(rows[identity], 0.1)[name]
        assert abs(values.mean() - total) < 4 * values.std(ddof=1) / np.sqrt(len(values))
    # 2 Tr(K) / (n lambda) with K_ii = 1
    assert by_metric(rows[True], 0.1)["total_surrogate_bound"] == pytest.approx(20.0)


@pytest.fixture
def sample():
    return requirement.Sample.drawn(3, 24, 40, 0)


def test_the_exact_risk_is_that_of_kernel_ridge_regression(sample):
    kernel = Circle("slowest", 10)
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
    kernel, n = Circle("polynomial", 10), 24
    found = requirement.law_of(kernel, sample, entry(method, pool="whole", identity=True))
    A = np.linalg.inv(kernel(sample.X) + n**0.5 * np.eye(n))
    if method == "slsrff":
        A = np.outer(sample.y, sample.y) + n * np.eye(n)
    z = np.exp(-1j * sample.X * kernel.frequencies())
    scores = np.einsum("ij,ik,kj->j", z.conj(), A, z).real * spectrum("polynomial", 10)
    assert found == pytest.approx(scores / scores.sum())


def test_weighted_harmonics_have_the_kernel_as_their_mean(sample):
    kernel, rng = Circle("slowest", 10), np.random.default_rng(0)
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
    job = job_of("requirement", of, repeats=(0, 1))
    (cell,) = requirement.cells(job)
    rows, _ = requirement.measure(job, cell, None)
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
    assert ends == [len(within) - 1] or (not ends and list(risks) == cell.conditions["n_features"])
    assert requirement.measure(job, cell, None) == (rows, {})
