"""Comparisons of samples with closed forms, and formulas that several maps share."""

import numpy as np

from random_features.maps import make_map


def direction(seed, d=8):
    """A random unit vector."""
    vector = np.random.default_rng(seed).normal(size=d)
    return vector / np.linalg.norm(vector)


def rff_variance(z):
    """s times the variance of RFF in the layout "cos_sin" at |x - y| = z length scales."""
    return (1 - np.exp(-(z**2))) ** 2 / 2


def activation(projections, order):
    """The activation of the arc-cosine kernel of an order, written out."""
    return np.heaviside(projections, 0.5) if order == 0 else np.maximum(projections, 0.0) ** order


def assert_mean(sample, expected):
    """The mean over the first axis, of independent entries, is within four standard errors of its expectation."""
    sample = np.asarray(sample)
    error = sample.std(axis=0, ddof=1) / np.sqrt(len(sample))
    # Where nothing varies, rounding is left.
    assert np.all(np.abs(sample.mean(axis=0) - expected) < 4 * error + 1e-12 * (1 + np.abs(expected)))


def assert_variance(sample, expected, remainder=0.0):
    """The variance of independent draws is within four standard errors, sigma^2 sqrt((kurtosis - 1) / N).
    ``remainder`` is a relative error that the formula may have in addition."""
    centred = np.asarray(sample) - np.mean(sample)
    variance = (centred**2).mean()
    kurtosis = (centred**4).mean() / variance**2
    error = variance * np.sqrt((kurtosis - 1) / len(centred))
    assert abs(variance - expected) < 4 * error + remainder * expected


def drawn(name, d, s, kernel=None, seed=0, **options):
    """A map with s components for d columns of float64, which learns nothing from data."""
    return make_map(name, kernel, n_components=s, random_state=seed, **options).restore(d, dtype=np.float64)


def by_seed(phi, d, n_seeds):
    """A map as each of so many seeds draws it, one after the other."""
    return (phi.set_params(random_state=seed).restore(d, dtype=np.float64) for seed in range(n_seeds))


def products_by_seed(phi, X, n_seeds):
    """The inner products of the features of two rows by the maps of as many seeds."""
    return np.array([np.prod(each.transform(X), axis=0).sum() for each in by_seed(phi, X.shape[1], n_seeds)])


def cosines_by_seed(phi, tau, n_seeds):
    """The estimates of a shift-invariant kernel at tau by the frequencies of as many seeds."""
    return np.array([np.cos(each.dense_frequencies() @ tau).mean() for each in by_seed(phi, len(tau), n_seeds)])


def candidates(phi, X):
    """The candidates' values sqrt(2) cos(w.x + b) or sqrt(2) a(w.x), written out."""
    projections = X @ phi.pool_.frequencies.T
    if phi.kernel_.name == "linear":
        return projections
    if phi.kernel_.name.startswith("arccos"):
        return np.sqrt(2) * activation(projections, phi.kernel_.order)
    return np.sqrt(2) * np.cos(projections + phi.pool_.phases)


def pool_columns(phi, X, phases=0.0):
    """The cosines and sines of all frequencies of a pool, in the scale of the map."""
    angles = X @ phi.pool_.frequencies.T + phases
    return np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(phi.n_components)


def projected_dual(alpha, signs, C):
    """Ten projections of dual variables onto the box and the hyperplane, written out (Bullins et al., Algorithm 3)."""
    for _ in range(10):
        alpha = np.minimum(np.maximum(alpha, 0), C)
        alpha = alpha - signs * (signs @ alpha) / len(signs)
    return alpha
