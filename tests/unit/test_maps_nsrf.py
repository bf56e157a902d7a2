"""Not-so-random features: potential and gradient, the search for peaks, the game against the dual, checkpoints."""

from unittest import mock

import numpy as np
import pytest
import torch
from closed_forms import projected_dual
from in_memory import Checkpoints, Killed, torch_threads
from scipy.optimize import brentq
from threadpoolctl import threadpool_limits

from random_features import arrays
from random_features.kernels import Gaussian
from random_features.maps import game, make_map
from random_features.maps.game import class_signs, project_to_dual
from random_features.maps.peaks import Climb, PeakSearch, largest_variance


def problem(n=60, d=3, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype)
    return X, np.where(np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=n) > 0, 1, -1)


X, Y = problem()


def learn(s=9, **options):
    options = {"n_copies": 8, "n_steps": 6, "n_peaks": 3, "random_state": 0, "device": "cpu"} | options
    return make_map("nsrf", n_components=s, **options)


def some_weights(n, seed=5):
    return np.random.default_rng(seed).normal(size=n) / n


def naive_potential(X, weights, w):
    return abs(weights @ np.exp(1j * X @ w)) ** 2


def naive_gradient(X, weights, w):
    waves = weights * np.exp(1j * X @ w)
    return 2 * (waves.sum().conjugate() * 1j * waves).real @ X


def test_potential_is_the_squared_fourier_transform_of_the_weighted_rows():
    """That of a map is in units of n^2."""
    alpha, W = np.random.default_rng(2).uniform(size=60), np.random.default_rng(1).normal(size=(7, 3))
    expected = [naive_potential(X, Y * alpha, w) for w in W]
    np.testing.assert_allclose(PeakSearch(X, "cpu").evaluate(Y * alpha, W), expected, rtol=1e-10)
    np.testing.assert_allclose(60**2 * learn().fit(X, Y).potential(torch.tensor(X), Y, alpha, W), expected, rtol=1e-10)


def test_largest_variance():
    X, _ = problem(200, 4)
    assert largest_variance(X) == pytest.approx(np.linalg.svd(X - X.mean(axis=0))[1][0] ** 2 / 200)
    assert largest_variance(X[:, :1]) == pytest.approx(X[:, 0].var())


def naive_climb(X, weights, w, how):
    """One copy without noise."""
    best, highest = w, -1.0
    for step in range(how.n_steps + how.last):
        v = naive_potential(X, weights, w)
        if v > highest:
            best, highest = w, v
        if step == how.n_steps:
            break
        zeta = how.step_factor * (how.step_size or 0.7 / (largest_variance(X) * highest))
        w = w + zeta * (naive_gradient(X, weights, w) - how.decay * 2 * w / len(w))
    return best, highest


@pytest.mark.parametrize(
    "how",
    [
        Climb(5, noise=0), Climb(5, step_size=3.0, noise=0), Climb(5, step_size=3.0, noise=0, decay=0.05, last=False),
        Climb(1, step_size=400.0, noise=0, last=False), Climb(5, noise=0, step_factor=0.5),
        Climb(5, step_size=3.0, noise=0, decay=0.05, step_factor=2.0),
    ],
)  # fmt: skip
def test_naive_twin_of_a_climb(how):
    X, _ = problem(40)
    weights, starts = some_weights(40), np.random.default_rng(2).normal(size=(5, 3))
    points, potentials = PeakSearch(X, "cpu").climb(weights, starts, how, [1])
    for start, point, potential in zip(starts, points, potentials, strict=True):
        expected, highest = naive_climb(X, weights, start, how)
        np.testing.assert_allclose(point, expected, rtol=1e-8)
        assert potential == pytest.approx(highest, rel=1e-8)


class _Flat:
    """A potential without slope that remembers where it was asked."""

    def __init__(self, slope):
        self.seen, self.slope = [], slope

    def at(self, W):
        self.seen.append(W.numpy().copy())
        return torch.ones(len(W))

    def with_gradient(self, W):
        return self.at(W), torch.full_like(W, self.slope)


@pytest.mark.parametrize(
    ("how", "deviation"),
    [
        (Climb(1, 1.0, 0.1), 0.1),
        (Climb(1, 1.0, 2.0, noise_factor=0.5), 1.0),
        # without a length of its own it is as long as the step, of 2 x 0.5 in every entry
        (Climb(1, 2.0), 1.0),
        (Climb(1, 2.0, step_factor=3.0, noise_factor=0.5), 1.5),
    ],
)
def test_noise_is_as_long_as_was_asked_for_or_as_the_step(how, deviation):
    flat = _Flat(slope=0.5)
    PeakSearch(problem(30, 50)[0], "cpu")._climbed(flat, torch.zeros(40, 50), how, torch.Generator())
    noise = flat.seen[-1] - how.step_factor * how.step_size * 0.5
    assert noise.std() == pytest.approx(deviation, rel=5 / np.sqrt(2 * 2000))
    assert abs(noise.mean()) < 5 * deviation / np.sqrt(2000)


def test_blocks_and_threads_do_not_matter(monkeypatch):
    weights, starts = some_weights(60), np.random.default_rng(2).normal(size=(23, 3))
    monkeypatch.setattr("random_features.maps.peaks.BLOCK", {"cpu": (5, 2**20)})
    found = []
    for threads in (1, 3):
        with torch_threads(threads):
            found.append(PeakSearch(X, "cpu").climb(weights, starts, Climb(6), [4]))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    monkeypatch.setattr("random_features.maps.peaks.BLOCK", {"cpu": (128, 2**20)})
    whole = PeakSearch(X, "cpu").climb(weights, starts, Climb(6, noise=0), [4])
    monkeypatch.setattr("random_features.maps.peaks.BLOCK", {"cpu": (128, 60 * 4)})
    parts = PeakSearch(X, "cpu").climb(weights, starts, Climb(6, noise=0), [4])
    np.testing.assert_allclose(parts[0], whole[0], rtol=1e-8)


def test_threads_of_the_blas_do_not_matter(monkeypatch):
    """They share sums over more than 10,000 rows, and a search amplifies the order."""
    monkeypatch.setattr(arrays, "_blas_threads", None)  # that another test chose one
    (X, y), (wide, _), found = problem(20_000, 2), problem(3000, 200, np.float32), []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            phi = learn(3, n_copies=3, n_steps=2).fit(X, y)
            potentials = PeakSearch(wide, "cpu").evaluate(some_weights(3000), wide[:4])
            found.append([phi.frequencies_, next(phi.replay(X, y)).alpha, potentials])
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda X: X[::-1].copy()[::-1]], ids=["columns", "reversed"])
def test_the_order_of_the_entries_in_memory_does_not_matter(layout):
    found = [make_map("nsrf", n_components=2, random_state=0).fit(each, Y).frequencies_ for each in (X, layout(X))]
    np.testing.assert_array_equal(*found)


def test_noise_is_another_in_each_block_and_round(monkeypatch):
    """Copies that start at one point go apart, in one block and in two."""
    monkeypatch.setattr("random_features.maps.peaks.BLOCK", {"cpu": (4, 2**20)})
    search, weights = PeakSearch(X, "cpu"), some_weights(60)
    points = np.random.default_rng(2).normal(size=(200, 3))
    starts = np.tile(points[search.evaluate(weights, points).argmin()], (12, 1))
    found = [search.climb(weights, starts, Climb(6, 1.0, 10.0), [4, number])[1] for number in (0, 1)]
    assert len(np.unique(np.concatenate(found))) == 24


def exact_projection(alpha, signs, C):
    """The nearest point by the multiplier of the hyperplane: alpha_i - mu y_i, clipped, with y.alpha = 0."""

    def excess(mu):
        return signs @ np.clip(alpha - mu * signs, 0, C)

    reach = np.abs(alpha).max() + C
    return np.clip(alpha - brentq(excess, -reach, reach, xtol=1e-14) * signs, 0, C)


@pytest.mark.parametrize("C", [1.0, 0.3])
def test_projection_is_feasible_and_near_the_exact_one(C):
    rng = np.random.default_rng(0)
    signs = np.where(rng.random(400) < 0.4, 1.0, -1.0)
    start = project_to_dual(np.full(400, C / 2), signs, C)
    # as far as one step of the ascent goes
    alpha = start + rng.normal(size=400) * C / 4
    projected = project_to_dual(alpha, signs, C)
    assert abs(signs @ projected) < 1e-10
    assert projected.min() > -1e-6
    assert projected.max() < C + 1e-6
    exact = exact_projection(alpha, signs, C)
    assert abs(signs @ exact) < 1e-9
    moved = np.linalg.norm(exact - alpha)
    assert moved <= np.linalg.norm(projected - alpha) + 1e-9
    # alternating projections end at a feasible point that need not be the nearest
    assert np.linalg.norm(projected - exact) < 0.1 * moved


def naive_rounds(phi, X, y, rounds):
    """The paper's Algorithm 2 with gradients written out; the search, which is tested above, is the map's own."""
    n, code = len(X), phi.mode == "code"
    alpha = np.full(n, phi.C / 2) if code else projected_dual(np.full(n, phi.C / 2), y, phi.C)
    eta = phi.dual_step or (2000 / n**2 if code else 1 / n)
    climb = phi._climb()
    std = phi.initial_std or (0.3 if code else np.sqrt(1.5) / phi.kernel_.length_scale)
    result = []
    for number in range(rounds):
        starts = std * np.random.default_rng([phi._search_seed, number]).standard_normal((phi.n_copies, X.shape[1]))
        climbs = [naive_climb(X, y * alpha / n, start, climb) for start in starts]
        best = sorted(climbs, key=lambda climb: -climb[1])[: phi.components_per_round_]
        gradient = np.zeros(n)
        for w, _ in best:
            e = np.exp(1j * (X @ w))
            inner = (y * alpha) @ e
            gradient += (1 - (1 if code else 2) * y * (inner.conjugate() * e).real) / len(best)
        result.append((alpha, best))
        alpha = projected_dual(alpha + eta * gradient, y, phi.C)
    return result


@pytest.mark.parametrize("options", [
    {}, {"C": 0.4, "dual_step": 0.03, "initial_std": 2.0, "step_size": 2.0},
    {"mode": "code", "n_peaks": None, "step_size": 2.0}, {"mode": "code"},
])  # fmt: skip
def test_naive_twin_of_several_rounds(options):
    X, y = problem(40)
    phi = learn(9, **{"noise": 0, "n_steps": 4, "kernel": Gaussian(0.8), **options}).fit(X, y)
    rounds = list(phi.replay(X, y))
    expected = naive_rounds(phi, X, y, len(rounds))
    found = 0
    for step, (alpha, best) in zip(rounds, expected, strict=True):
        np.testing.assert_allclose(step.alpha, alpha, atol=1e-9)
        np.testing.assert_allclose(step.potentials, [v for _, v in best], rtol=1e-7)
        np.testing.assert_allclose(phi.frequencies_[found : step.n_components], [w for w, _ in best], rtol=1e-6)
        found = step.n_components
        payoff = alpha.sum() - 0.5 * np.mean([naive_potential(X, y * alpha, w) for w, _ in best])
        assert step.payoff == pytest.approx(payoff, rel=1e-7)
    assert found == 9
    assert phi.n_columns_ == (9 if phi.mode == "code" else 18)


@pytest.mark.parametrize("options", [{}, {"mode": "code"}, {"search": "random"}, {"n_peaks": 1}])
def test_a_prefix_is_the_map_of_fewer_components(options):
    """Also where the smaller size ends within a round, and of a map that was restored."""
    phi = learn(11, **options).fit(X, Y)
    restored = learn(11, **options).restore(3, phi.learned_, dtype=X.dtype)
    for s in (1, 4, 6, 11):
        smaller = learn(s, **options).fit(X, Y)
        for larger in (phi, restored):
            first = larger.prefix(s)
            np.testing.assert_array_equal(first.frequencies_, smaller.frequencies_)
            np.testing.assert_array_equal(first.transform(X), smaller.transform(X))
            assert (first.n_rounds_, first.evaluations_) == (smaller.n_rounds_, smaller.evaluations_)
            first.frequencies_[:] = 0.0  # the larger map has its own
        assert phi.n_components == 11
    with pytest.raises(ValueError, match="n_components"):
        phi.prefix(12)


@pytest.mark.parametrize("kernel", [Gaussian("median"), Gaussian([0.5, 1.0, 4.0])], ids=["median", "per column"])
def test_a_length_scale_may_be_learned_or_be_one_per_column(kernel):
    phi = learn(6, kernel=kernel).fit(X, Y)
    rows = X if phi.length_scales_ is None else X / phi.length_scales_
    expected, alpha = learn(6, kernel=phi.kernel_).fit(rows, Y), np.ones(len(Y))
    for each in (phi, learn(6, kernel=kernel).restore(3, phi.learned_, dtype=X.dtype)):
        np.testing.assert_array_equal(each.prefix(4).transform(X), expected.prefix(4).transform(rows))
        np.testing.assert_array_equal(list(each.replay(X, Y))[-1].alpha, list(expected.replay(rows, Y))[-1].alpha)
        for name, points in [("best_response", []), ("potential", [phi.frequencies_])]:
            found, other = getattr(each, name)(X, Y, alpha, *points), getattr(expected, name)(rows, Y, alpha, *points)
            np.testing.assert_equal(found, other)


def test_evaluations_are_counted():
    counts = {
        "text": learn(9, n_copies=8, n_steps=6).evaluations_,
        "one more": learn(10, n_copies=8, n_steps=6).evaluations_,
        "code": learn(9, mode="code", n_peaks=None, n_copies=8, n_steps=6).evaluations_,
        "random": learn(9, search="random", n_copies=8, n_steps=6).evaluations_,
    }
    assert counts == {"text": 3 * 8 * 7, "one more": 4 * 8 * 7, "code": 9 * 8 * 6, "random": 3 * 8 * 7}


def test_random_search_keeps_the_best_of_as_many_draws():
    phi = learn(3, search="random").fit(X, Y)
    rng = np.random.default_rng([phi._search_seed, 0])
    draws = np.concatenate([np.sqrt(1.5) * rng.standard_normal((8, 3)) for _ in range(7)])
    potentials = phi.potential(X, Y, next(phi.replay(X, Y)).alpha, draws)
    best = np.argsort(-potentials)[:3]
    np.testing.assert_allclose(phi.frequencies_, draws[best])
    np.testing.assert_allclose(phi.learned_["potentials"], potentials[best])


def test_the_best_response_searches_once_more():
    phi = learn(9).fit(X, Y)
    last = list(phi.replay(torch.tensor(X), torch.tensor(Y)))[-1]
    found = phi.prefix(6).best_response(torch.tensor(X), Y, last.alpha)
    np.testing.assert_array_equal(found["frequencies"], phi.frequencies_[6:])


def test_classes_are_sides():
    for labels in (["b", "a", "b"], [["b"], ["a"], ["b"]]):
        np.testing.assert_array_equal(class_signs(labels, "nsrf"), [1.0, -1.0, 1.0])
    with pytest.raises(ValueError, match="nsrf learns from two classes, got 3"):
        learn().fit(X, np.arange(60) % 3)


def test_the_windmill_is_learned():
    """98.5 % is what is asked of the study with 1,000 frequencies; chance is 50 %, the exact Gaussian kernel 93 %."""
    from sklearn.svm import LinearSVC

    from rfstudy.data.generators.windmill import generate

    X, y = generate(2000, 2, np.random.default_rng(0), blades=3)
    X_test, y_test = generate(4000, 2, np.random.default_rng(1), blades=3)
    phi = make_map("nsrf", Gaussian(1.03), n_components=100, n_copies=60, n_steps=40, random_state=0).fit(X, y)
    model = LinearSVC(C=10.0, loss="squared_hinge", dual=False).fit(phi.transform(X), y)
    assert model.score(phi.transform(X_test), y_test) > 0.96
    assert np.abs(phi.learned_["potentials"]).argmax() == 0


@pytest.mark.parametrize("options", [{}, {"mode": "code", "n_peaks": None}])
def test_a_killed_search_goes_on_to_the_same_numbers(options, monkeypatch):
    monkeypatch.setattr(game, "CHECKPOINT_SECONDS", 0.0)
    whole = learn(11, **options).fit(X, Y)
    kept = Checkpoints()
    for kept.kill_after in (2, 3):
        with pytest.raises(Killed):
            learn(11, **options).fit(X, Y, kept)
    with mock.patch.object(PeakSearch, "climb", autospec=True, side_effect=PeakSearch.climb) as climb:
        again = learn(11, **options).fit(X, Y, Checkpoints(kept))
    assert (climb.call_count, "alpha" in kept[-1]) == (whole.n_rounds_ - 3, True)  # the store keeps what it has
    for name, learned in whole.learned_.items():
        np.testing.assert_array_equal(again.learned_[name], learned)
    np.testing.assert_array_equal(again.transform(X), whole.transform(X))


def test_every_round_has_starts_and_noise_of_its_own():
    with mock.patch.object(PeakSearch, "climb", autospec=True, side_effect=PeakSearch.climb) as climb:
        learn(9).fit(*problem())
    assert len({tuple(call.args[-1]) for call in climb.call_args_list}) == 3
    assert len({call.args[2].tobytes() for call in climb.call_args_list}) == 3


def test_checkpoints_are_not_written_faster_than_they_are_worth(monkeypatch):
    kept = Checkpoints()
    learn(9).fit(X, Y, kept)
    assert kept == []
    times = iter(np.arange(0.0, 100.0, 4.0))
    monkeypatch.setattr(game.time, "monotonic", lambda: next(times))
    learn(30).fit(X, Y, kept)
    assert [len(each["potentials"]) for each in kept] == [9, 9, 9]
    assert all(each["alpha"].shape == (60,) for each in kept)


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cuda_agrees_with_the_cpu_on_potential_and_gradient(dtype):
    X, _ = problem(300, 5, dtype)
    weights, W = some_weights(300), np.random.default_rng(1).normal(size=(40, 5)).astype(dtype)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    cpu, cuda = (PeakSearch(X, device) for device in ("cpu", "cuda"))
    expected = cpu.evaluate(weights, W)
    np.testing.assert_allclose(cuda.evaluate(weights, W), expected, atol=tolerance * expected.max())
    how = Climb(1, step_size=1.0, noise=0)
    found, expected = (search.climb(weights, W, how, [0])[0] for search in (cuda, cpu))
    np.testing.assert_allclose(found, expected, atol=10 * tolerance)


@pytest.mark.cuda
def test_cuda_plays_the_game_of_the_cpu_without_noise():
    """In float64, where some rounds of few steps leave rounding far below the tolerance."""
    X, y = problem(300, 5)
    fitted = {device: learn(9, noise=0, device=device).fit(X, y) for device in ("cpu", "cuda")}
    np.testing.assert_allclose(fitted["cuda"].frequencies_, fitted["cpu"].frequencies_, atol=1e-6)
    noisy = [learn(9, device="cuda").fit(X, y).frequencies_ for _ in range(2)]
    np.testing.assert_array_equal(noisy[0], noisy[1])
