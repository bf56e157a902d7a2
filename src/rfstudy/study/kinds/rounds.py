r"""The game in which features are learned, by rounds (Bullins, Zhang and Zhang, ICLR 2018, Figure 1 and Theorem 4.1).

In round t the min-player answers the dual weights alpha_t with a peak of their Fourier potential, and the max-player
takes a step up the gradient of :math:`F(\alpha, \lambda) = 1^T \alpha - \frac12 \int \lambda(\omega) v_\alpha(\omega)
d\omega`. With :math:`\bar\lambda_t` the even mixture of the features so far and :math:`\bar\alpha_t` the mean of the
weights, the value of the game lies between :math:`\min_\lambda F(\bar\alpha_t, \lambda)` (``margin_lower``, as good as
the search for the peak) and :math:`\max_\alpha F(\alpha, \bar\lambda_t)`, the optimum of the l1-SVM on the features
(``margin_objective``); their distance is the ``duality_gap``. ``gap_bound`` is the published bound of the theorem for a
search without errors, :math:`3 (C + 2 C^2) n / (4 \sqrt t)`. With errors, half their mean is added. This mean is not
measured, and the lower peaks of a round make it large. Its proof takes the gradient to be at most (1 + 2
C) sqrt(n) long, but its products with the labelled weights are as large as C n: with (1 + 2 C n) sqrt(n) the same proof
gives ``gap_bound_mended``, :math:`3 (C + 2 C^2 n) n / (4 \sqrt t)`.

The axis ``iteration`` counts rounds; ``n_features`` the features found up to then. In the plane the kind stores the
content of Figure 1 as arrays; on the sphere it stores the harmonics that were chosen most often.
"""

import math
from collections import Counter

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import sph_harm_y

from random_features.maps.game import Round
from random_features.maps.registry import make_map
from rfstudy.data.target import Target
from rfstudy.study.engine import Job, Measured, rows_of
from rfstudy.study.job import Part
from rfstudy.study.sample import Sample
from rfstudy.study.svm_rows import accuracy_rows, decided, fit_on

#: Half side of the window of the potential, as a multiple of the largest frequency in the last picture.
WINDOW = 1.2

#: Points of the sphere at which a harmonic is drawn: latitudes and longitudes.
LATITUDES, LONGITUDES = 181, 360

#: Number of harmonics that are drawn.
STRONGEST = 3


def check(spec: Part) -> None:
    """Raise ``ValueError`` for a reading or a picture between two rounds of an entry, and for a picture after the last
    round.
    """
    grid, last = spec.grid, max(spec.grid["n_features"])
    if late := [m for m in grid["pictures"] if m >= last]:
        raise ValueError(f"pictures: the game is over with {last} features, so that {late[0]} cannot be looked at")
    for entry in spec.methods:
        k = make_map(entry["method"], n_components=last, **entry["options"]).components_per_round_
        if between := [m for m in (*grid["n_features"], *grid["pictures"]) if m % k and m != last]:
            raise ValueError(f"{entry['method']} finds {k} features a round, so that no round ends with {between[0]}")


def measure(
    job: Job, entry: dict, *, repeat: int, n_features: list[int], pictures: list[int], resolution: int
) -> Measured:
    """Return the rows of one game at all of its readings. The first repeat of a method without a variant also returns
    the arrays that are drawn.
    """
    spec, most = job.spec, max(n_features)
    sample, kernel, length_scale = job.sample_and_kernel(repeat)
    X, y = sample.X_train, sample.y_train
    phi = job.entry_map(entry, kernel, most, "rounds", spec.dataset, entry["method"], most, repeat)
    phi.draw(X.shape[1], dtype=X.dtype).learn(X, y, job.checkpoints)
    game = list(phi.replay(X, y))
    looks = looked_at(game, pictures)
    is_plane = X.shape[1] == 2
    if is_plane:
        # the same window of frequencies for all pictures
        window = WINDOW * float(np.abs(phi.learned_["frequencies"][: max(pictures, default=0) or None]).max())
        points, side = square(window, resolution), (resolution, resolution)
        potentials = {m: phi.potential(X, y, played.alpha, points).reshape(side) for m, played in looks}
    rows = readings(job.data.target, sample, phi, game, n_features)
    distances = distance_to_other_class(X, y, sample.X_test, sample.y_test)
    for m, played in looks:
        values = {"boundary_weight_ratio": boundary_weight_ratio(played.alpha, distances)}
        if is_plane:
            values["peak_area"] = area_above_half(potentials[m], window)
        rows += rows_of({"at": played.number, "n_features": m, "split": "train"}, values)
    settings = {"length_scale": length_scale, "options": entry["options"], "capped": sample.capped}
    shared = sample.size_columns | {"axis": "iteration"}
    rows = [shared | row | {"settings": settings | row.get("settings", {})} for row in rows]
    if repeat or entry["variant"]:
        return rows, {}
    drawn = {"X": X, "y": y.astype(np.int8)}
    if is_plane:
        shown = {"kept": np.array(game[0].n_components), "window": np.array(window)}
        return rows, drawn | shown | plane(job.data.target, sample, phi, looks, potentials, resolution)
    return rows, drawn | harmonics(names_of(phi, most))


def looked_at(game: list[Round], pictures: list[int]) -> list[tuple[int, Round]]:
    """Return the numbers of features at which the weights of a game are drawn, each with the round that follows."""
    before = [0, *(played.n_components for played in game)]
    return [(m, played) for m, played in zip(before, game, strict=False) if m in pictures]


def readings(target: Target, sample: Sample, phi, game: list[Round], n_features: list[int]) -> list[dict]:
    """Return the rows of a game that was played with the map, at all numbers of features at which it is read."""
    (X, y), C, n = (sample.X_train, sample.y_train), phi.C, len(sample.y_train)
    signs = target.encode(y)[0][:, 0]
    total, violation, rows = np.zeros(n), 0.0, []
    for number, played in enumerate(game, start=1):
        total += played.alpha
        violation = max(violation, dual_violation(played.alpha, signs, C))
        if (m := played.n_components) not in n_features:
            continue
        prefix, mean = phi.prefix(m), total / number
        model = fit_on(prefix, sample, target, C)
        upper = svm_objective(model, decided(model, prefix.transform, X)[:, 0], signs, C)
        # min over lambda of F: the answer to the mean weights
        lower = mean.sum() - 0.5 * n**2 * float(phi.best_response(X, y, mean)["potentials"][0])
        values = {
            "margin_objective": upper,
            "margin_lower": lower,
            "duality_gap": upper - lower,
            "gap_bound": gap_bound(number, n, C),
            "gap_bound_mended": gap_bound(number, n, C, gradient=n),
            "dual_violation": violation,
            "distinct_features": len(np.unique(names_of(phi, m), axis=0)),
        }
        place = {"at": number, "n_features": m, "n_columns": prefix.n_columns_}
        rows += accuracy_rows(target, sample, model, prefix.transform, place | {"learner": "l1_svm"}, {})
        rows += rows_of(place | {"split": "train"}, values)
    return rows


def names_of(phi, m: int) -> np.ndarray:
    """Return the identifiers of the first m features, (m, ...)."""
    learned = phi.learned_
    if "frequencies" in learned:
        return learned["frequencies"][:m]
    return np.column_stack([learned["degrees"], learned["orders"]])[:m]


def plane(target: Target, sample: Sample, phi, looks: list, potentials: dict, side: int) -> dict:
    """Return the content of Figure 1 for a game in the plane, as arrays by name: frequencies, and by picture the
    weights, potential and decisions.
    """
    X, extent = sample.X_train, float(np.abs(sample.X_train).max())
    shown = {"frequencies": phi.learned_["frequencies"], "extent": np.array(extent)}
    for m, played in looks:
        shown[f"weights-{m}"] = played.alpha.astype(np.float32)
        shown[f"potential-{m}"] = potentials[m].astype(np.float32)
        if m:
            prefix = phi.prefix(m)
            points = square(extent, side).astype(X.dtype)
            decision = decided(fit_on(prefix, sample, target, phi.C), prefix.transform, points)
            shown[f"decision-{m}"] = decision.reshape(side, side).astype(np.float32)
    return shown


def harmonics(names: np.ndarray) -> dict:
    """Return the harmonics that were chosen most often, on a grid of latitudes from the north and longitudes from 0."""
    counts = Counter(map(tuple, names.tolist())).most_common()
    polar, azimuth = np.linspace(0, np.pi, LATITUDES)[:, None], np.arange(LONGITUDES) * 2 * np.pi / LONGITUDES
    waves = [sph_harm_y(degree, order, polar, azimuth).real for (degree, order), _ in counts[:STRONGEST]]
    pairs, numbers = map(np.array, zip(*counts, strict=True))
    return {"pairs": pairs, "counts": numbers, "waves": np.array(waves, dtype=np.float32)}


def svm_objective(model, decision: np.ndarray, y: np.ndarray, C: float) -> float:
    """Return |w|^2 / 2 + C sum max(0, 1 - y f) of a linear model, for decisions f and y = +-1, both (n,).

    By strong duality this is the optimum of the dual, which is the value of the game for the kernel of the features.
    """
    return float(0.5 * (model.coef**2).sum() + C * np.maximum(0.0, 1.0 - y * decision).sum())


def gap_bound(rounds: int, n: int, C: float, gradient: float = 1.0) -> float:
    """Return the bound of Theorem 4.1 after so many rounds on n rows, without half the mean error of the search: 3 (C +
    2 C^2 g) n / (4 sqrt(rounds)), published with g = 1; ``gradient`` is another g.
    """
    return 3.0 * (C + 2.0 * C**2 * gradient) * n / (4.0 * math.sqrt(rounds))


def dual_violation(alpha: np.ndarray, y: np.ndarray, C: float) -> float:
    """Return the distance of dual weights (n,) from 0 <= alpha <= C and y'alpha = 0.

    It is the larger of the two distances; that from the plane is |y'alpha| / sqrt(n).
    """
    box = max(-alpha.min(), alpha.max() - C, 0.0)
    return float(max(box, abs(y @ alpha) / math.sqrt(len(y))))


def distance_to_other_class(X, y, X_more, y_more) -> np.ndarray:
    """Return the distance (n,) of every row of X (n, d) to the nearest row of another class, among X and ``X_more``."""
    everything, labels = np.concatenate([X, X_more]), np.concatenate([y, y_more])
    distances = np.empty(len(X))
    for label in np.unique(y):
        own = y == label
        distances[own] = cKDTree(everything[labels != label]).query(X[own])[0]
    return distances


def boundary_weight_ratio(alpha: np.ndarray, distances: np.ndarray) -> float:
    """Return the mean dual weight of the tenth of the rows that is nearest to the other class over the mean of the
    rest.
    """
    order = np.argsort(distances, kind="stable")
    near, far = np.split(alpha[order], [max(1, len(alpha) // 10)])
    return float(near.mean() / far.mean())


def square(half: float, side: int) -> np.ndarray:
    """Return the points (side^2, 2) of a square around the origin, row by row upwards."""
    ticks = np.linspace(-half, half, side)
    return np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)


def area_above_half(values: np.ndarray, half: float) -> float:
    """Return the area in which values on a grid are above half of their maximum; the grid is a square window with half
    side ``half``.
    """
    return float((values > 0.5 * values.max()).mean() * (2.0 * half) ** 2)
