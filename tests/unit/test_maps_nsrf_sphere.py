"""Not-so-random features on the sphere: harmonics, the greatest potential, repeats, and what is not on the sphere."""

import numpy as np
import pytest
import torch
from closed_forms import projected_dual
from scipy.special import eval_legendre

from random_features.errors import NotDefinedError
from random_features.kernels import ArcCosine, Gaussian, Linear
from random_features.maps import make_map, nsrf_sphere
from random_features.maps.nsrf_sphere import HarmonicsOfRows, harmonics_at, pairs_up_to


def on_the_sphere(n=60, seed=0, dtype=np.float64):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)


def problem(n=60, dtype=np.float64):
    X = on_the_sphere(n, dtype=dtype)
    return X, np.where(X[:, 0] * X[:, 1] * X[:, 2] > 0, 1, -1)


X, Y = problem()


def learn(s=12, **options):
    return make_map("nsrf_sphere", n_components=s, **{"degree": 6, **options})


def test_addition_theorem():
    """sum_m Y(x) conj Y(y) = (2 l + 1) / (4 pi) P_l(x.y), where a pair of orders counts twice its real part."""
    X, Y = on_the_sphere(20), on_the_sphere(15, seed=1)
    degrees, orders = pairs_up_to(62)
    twice = np.where(orders == 0, 1.0, 2.0)
    products = (harmonics_at(X, degrees, orders)[:, None] * harmonics_at(Y, degrees, orders).conj()[None]).real * twice
    for degree in (0, 1, 7, 30, 62):
        expected = (2 * degree + 1) / (4 * np.pi) * eval_legendre(degree, X @ Y.T)
        np.testing.assert_allclose(products[:, :, degrees == degree].sum(axis=2), expected, atol=1e-11 * (degree + 1))


def test_harmonics_of_low_degree_are_the_known_polynomials():
    x, y, z = (X := on_the_sphere(30)).T
    known = {
        (0, 0): np.full(30, 0.5 / np.sqrt(np.pi)),
        (1, 0): np.sqrt(3 / (4 * np.pi)) * z,
        (1, 1): -np.sqrt(3 / (8 * np.pi)) * (x + 1j * y),
        (2, 2): np.sqrt(15 / (32 * np.pi)) * (x + 1j * y) ** 2,
    }
    for (degree, order), expected in known.items():
        np.testing.assert_allclose(harmonics_at(X, np.array([degree]), np.array([order]))[:, 0], expected, atol=1e-14)


def test_there_is_one_pair_for_each_order_and_its_negative():
    degrees, orders = pairs_up_to(30)
    assert len(degrees) == 496
    assert np.where(orders == 0, 1, 2).sum() == 31**2 == 961
    assert (degrees[0], orders[0], degrees[-1], orders[-1]) == (0, 0, 30, 30)


def test_a_tensor_gives_the_features_of_the_array_as_a_tensor():
    phi = learn().fit(torch.from_numpy(X), Y)
    np.testing.assert_array_equal(phi.transform(torch.from_numpy(X)).numpy(), learn().fit(X, Y).transform(X))
    with pytest.raises(ValueError, match="zeros has no direction"):
        phi.transform(torch.zeros(2, 3))


def test_potentials_do_not_depend_on_what_is_kept(monkeypatch):
    X, weights = on_the_sphere(50), np.random.default_rng(3).normal(size=50)
    kept = HarmonicsOfRows(X, *pairs_up_to(5))
    monkeypatch.setattr(nsrf_sphere, "KEPT_BYTES", 0)
    monkeypatch.setattr(nsrf_sphere, "block_rows", lambda _bytes: 7)
    again = HarmonicsOfRows(X, *pairs_up_to(5))
    assert (kept.kept is None, again.kept) == (False, None)
    np.testing.assert_allclose(again.potentials(weights), kept.potentials(weights), rtol=1e-10, atol=1e-12)


def naive_game(X, y, rounds, degree, C, eta):
    """The paper's algorithm: every pair at every round; the picks, and the weights before each round."""
    alphas, picks = [projected_dual(np.full(len(X), C / 2), y, C)], []
    for _ in range(rounds):
        best = (-1.0, 0, 0)
        for l in range(degree + 1):  # noqa: E741
            for m in range(l + 1):
                Y = harmonics_at(X, np.array([l]), np.array([m]))[:, 0]
                F = (y * alphas[-1]) @ Y
                if abs(F) ** 2 > best[0] * (1 + 1e-12):
                    best, gradient = (abs(F) ** 2, l, m), 1 - 2 * y * (F.conjugate() * Y).real
        picks.append(best)
        alphas.append(projected_dual(alphas[-1] + eta * gradient, y, C))
    return picks, alphas


@pytest.mark.parametrize(("C", "eta"), [(1.0, None), (0.5, 0.2)])
def test_naive_twin_of_a_game(C, eta):
    X, y = problem(50)
    phi = learn(8, degree=4, C=C, dual_step=eta).fit(X, y)
    picks, (*_, before, after) = naive_game(X, y, 8, 4, C, eta or 1 / 50)
    assert list(zip(phi.learned_["degrees"], phi.learned_["orders"], strict=True)) == [pick[1:] for pick in picks]
    np.testing.assert_allclose(50**2 * phi.learned_["potentials"], [pick[0] for pick in picks], rtol=1e-9)
    last = list(phi.replay(X, y))[-1]
    np.testing.assert_allclose(last.alpha, before, atol=1e-12)
    assert last.payoff == pytest.approx(before.sum() - 0.5 * picks[-1][0], rel=1e-9)
    assert not np.allclose(after, before)


def test_the_best_response_is_the_next_pick():
    phi = learn(9).fit(X, Y)
    ninth = list(phi.replay(X, Y))[-1]
    found = phi.prefix(3).best_response(X, Y, ninth.alpha)
    assert (found["degrees"][0], found["orders"][0]) == (phi.learned_["degrees"][-1], phi.learned_["orders"][-1])
    np.testing.assert_allclose(found["potentials"], ninth.potentials)


def test_features_are_real_and_imaginary_parts_and_repeats_scale_them():
    phi = learn(12).fit(X, np.random.default_rng(6).random(60) < 0.5)
    assert phi.counts_.sum() == 12 > len(phi.counts_) > 1
    picks = list(zip(phi.learned_["degrees"], phi.learned_["orders"], strict=True))
    assert list(zip(phi.degrees_, phi.orders_, strict=True)) == list(dict.fromkeys(picks))
    columns = []
    for degree, order, count in zip(phi.degrees_, phi.orders_, phi.counts_, strict=True):
        Y = harmonics_at(X, np.array([degree]), np.array([order]))[:, 0] * np.sqrt(count / 12)
        columns += [Y.real] if order == 0 else [Y.real, Y.imag]
    np.testing.assert_allclose(phi.transform(X), np.column_stack(columns), atol=1e-14)


def test_a_prefix_is_the_map_of_fewer_rounds():
    phi = learn(12).fit(X, Y)
    for s in (1, 5, 12):
        np.testing.assert_array_equal(phi.prefix(s).transform(X), learn(s).fit(X, Y).transform(X))
    with pytest.raises(ValueError, match="n_components"):
        phi.prefix(13)


@pytest.mark.filterwarnings("error")  # rows in float32 are on the sphere, too
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_types_restoring_and_blocks(dtype):
    X, y = problem(dtype=dtype)
    phi = learn(12, random_state=0).fit(X, y)
    Z = phi.transform(X)
    assert Z.dtype == dtype
    np.testing.assert_array_equal(learn(12, random_state=0).restore(3, phi.learned_, dtype=dtype).transform(X), Z)
    np.testing.assert_array_equal(learn(12).draw(3, dtype=dtype).learn(X, y).transform(X), Z)
    blocks = [block for _, block in phi.transform_blocks(X, rows=7)]
    np.testing.assert_allclose(np.concatenate(blocks), Z, atol=4 * np.finfo(dtype).eps)


def test_the_kernel_is_learned_and_may_be_any_that_a_map_on_the_sphere_takes():
    expected = learn().fit(X, Y).transform(X)
    for kernel in (ArcCosine(0), Gaussian([1.0, 2.0, 3.0])):
        np.testing.assert_array_equal(learn(kernel=kernel).fit(X, Y).transform(X), expected)
    with pytest.raises(ValueError, match="does not apply"):
        learn(kernel=Linear())


def test_the_checkerboard_is_learned():
    """97.5 % is what is asked of the study on 50,000 rows; 93 % are 18 standard errors of 4,000 rows below that."""
    from sklearn.svm import LinearSVC

    from rfstudy.data.generators.checkerboard import generate

    X, y = generate(2000, 3, np.random.default_rng(0), waves=4, bands=2)
    X_test, y_test = generate(4000, 3, np.random.default_rng(1), waves=4, bands=2)
    phi = make_map("nsrf_sphere", n_components=100).fit(X, y)
    model = LinearSVC(C=100.0, loss="squared_hinge", dual=False).fit(phi.transform(X), y)
    assert model.score(phi.transform(X_test), y_test) > 0.93
    assert len(phi.degrees_) < 40


def test_rows_off_the_sphere_are_projected_with_a_warning():
    lengths = np.random.default_rng(4).uniform(0.5, 2.0, size=(60, 1))
    with pytest.warns(UserWarning, match="60 of 60 rows are not of length 1 and are projected"):
        phi = learn().fit(lengths * X, Y)
    np.testing.assert_allclose(phi.transform(X), learn().fit(X, Y).transform(X), atol=1e-12)
    with pytest.warns(UserWarning, match="1 of 2 rows"):
        phi.transform(np.array([[0.0, 0.0, 1.0], [0.0, 2.0, 0.0]]))


def test_a_row_of_zeros_has_no_direction():
    X, y = problem()
    X[7] = 0
    with pytest.raises(ValueError, match="row of zeros has no direction"):
        learn().fit(X, y)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_other_dimensions_are_refused(d):
    with pytest.raises(NotDefinedError, match=f"sphere in 3 dimensions, not in {d}"):
        learn().fit(np.ones((5, d)), np.array([0, 1, 0, 1, 1]))
    with pytest.raises(NotDefinedError, match="sphere in 3 dimensions"):
        learn(random_state=0).restore(d, {})


def test_what_is_set_after_a_fit_is_for_the_next_one():
    phi = learn(8).fit(X, Y)

    def read():
        found = phi.potential(torch.tensor(X), Y, np.ones(len(Y)))["potentials"]
        answer = phi.best_response(X, Y, np.ones(len(Y)))["potentials"]
        payoffs = [played.payoff for played in phi.replay(X, Y)]
        return [phi.transform(X), phi.prefix(3).transform(X), found, answer, payoffs, phi.evaluations_, phi.n_rounds_]

    before = read()
    phi.set_params(n_components=3, degree=2, C=0.1, dual_step=5.0, kernel=Linear(), random_state=4)
    for found, expected in zip(read(), before, strict=True):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="C, degree, dual_step, kernel, n_components, random_state changed since draw"):
        phi.learn(X, Y)
