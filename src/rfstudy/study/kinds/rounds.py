r"""The game in which features are learned, by rounds (Bullins, Zhang and Zhang, ICLR 2018, Figure 1 and Theorem 4.1).

In round t the min-player answers the dual weights alpha_t with a peak of their Fourier potential, and the max-player
takes a step up the gradient of :math:`F(\alpha, \lambda) = 1^T \alpha - \frac12 \int \lambda(\omega) v_\alpha(\omega)
d\omega`. With :math:`\bar\lambda_t` the even mixture of the features so far and :math:`\bar\alpha_t` the mean of the
weights, the value of the game lies between :math:`\min_\lambda F(\bar\alpha_t, \lambda)` (``margin_lower``, as good as
the search for the peak) and :math:`\max_\alpha F(\alpha, \bar\lambda_t)`, the optimum of the l1-SVM on the features
(``margin_objective``); their distance is the ``duality_gap``. ``gap_bound`` is the bound on it that the theorem
prints for a search without errors, :math:`3 (C + 2 C^2) n / (4 \sqrt t)`; half their mean is added to it, which is not
measured and which the peaks of a round beside the best one make large. Its proof takes the gradient to be at most
(1 + 2 C) sqrt(n) long, but its products with the labelled weights are as large as C n: with (1 + 2 C n) sqrt(n) the
same proof gives ``gap_bound_mended``, :math:`3 (C + 2 C^2 n) n / (4 \sqrt t)`.

The axis ``iteration`` counts rounds; ``n_features`` the features found up to then. In the plane the kind leaves what
Figure 1 shows as arrays, on the sphere the harmonics that were chosen most often.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Annotated, TypedDict

import numpy as np
from annotated_types import Ge, Predicate
from scipy.spatial import cKDTree
from scipy.special import sph_harm_y

from random_features.arrays import seed_of
from random_features.maps.registry import make_map
from rfstudy.fields import Count, Counts, distinct
from rfstudy.study.engine import Cell, Job, entry_map, sample_and_kernel
from rfstudy.study.job import Part
from rfstudy.study.sample import Sample
from rfstudy.study.svm_rows import accuracy_rows, decided, fit_on

STAGES = ("measure",)
NEEDS_DATA = True
METRICS = (
    "accuracy_pct", "train_accuracy_pct", "margin_objective", "margin_lower", "duality_gap", "gap_bound",
    "gap_bound_mended", "dual_violation", "distinct_features", "boundary_weight_ratio", "peak_area",
)  # fmt: skip
RESOURCES = {"mb": 3000, "bytes_per_value": 32, "minutes": 240}

#: How many times the largest frequency at the last look the window of the potential reaches.
WINDOW = 1.2

#: Points of the sphere that a harmonic is drawn at: latitudes and longitudes.
LATITUDES, LONGITUDES = 181, 360

#: Harmonics that are drawn.
STRONGEST = 3


class Grid(TypedDict):
    """`n_features` (m) at which the game is read, `pictures`: m at which its weights are drawn (0 is the start; the
    others are less than the largest of `n_features`), and `resolution`: points along a side of a picture.
    """

    n_features: Counts
    pictures: Annotated[list[Annotated[int, Ge(0)]], Predicate(distinct)]
    resolution: Count


def check(spec: Part) -> None:
    """Raise ``ValueError`` for a reading or a look between two rounds of an entry, and a look after the last round."""
    grid, last = spec.grid, max(spec.grid["n_features"])
    late = [m for m in grid["pictures"] if m >= last]
    if late:
        raise ValueError(f"pictures: the game is over with {last} features, so that {late[0]} cannot be looked at")
    for entry in spec.methods:
        k = make_map(entry["method"], n_components=last, **entry["options"]).components_per_round_
        between = [m for m in (*grid["n_features"], *grid["pictures"]) if m % k and m != last]
        if between:
            raise ValueError(f"{entry['method']} finds {k} features a round, so that no round ends with {between[0]}")


def cells(job: Job) -> list[Cell]:
    """One cell an entry and repeat: a game."""
    conditions = {key: job.spec.grid[key] for key in Grid.__annotations__}
    return [
        Cell(entry, {"repeat": repeat}, conditions, {"repeat": repeat})
        for entry in job.spec.methods
        for repeat in job.spec.repeats
    ]


def measure(job: Job, cell: Cell, checkpoints) -> tuple[list[dict], dict]:
    """The rows of one game at all of its readings, and of the first repeat of a method itself what is drawn of it."""
    game = Game.played(job, cell, checkpoints)
    rows = [row for reading in game.readings() for row in reading]
    rows += [row for look in game.looks() for row in look]
    settings = {"length_scale": game.length_scale, "options": cell.entry["options"], "capped": game.sample.capped}
    rows = [row | game.sample.size_columns | {"settings": settings | row.get("settings", {})} for row in rows]
    is_drawn = cell.coordinates["repeat"] == 0 and not cell.entry["variant"]
    return rows, game.pictures() if is_drawn else {}


@dataclass(frozen=True)
class Game:
    """A game that was played, on the rows of a repeat."""

    job: Job
    cell: Cell
    sample: Sample
    length_scale: float
    phi: object  # the fitted map

    @classmethod
    def played(cls, job: Job, cell: Cell, checkpoints) -> Game:
        """The game of a cell at its largest number of features."""
        spec, repeat, m = job.spec, cell.coordinates["repeat"], max(cell.conditions["n_features"])
        sample, kernel, length_scale = sample_and_kernel(job, repeat)
        seed = seed_of(spec.seed, "rounds", spec.dataset, cell.entry["method"], m, repeat)
        phi = entry_map(spec, cell.entry, kernel, m, seed).draw(sample.X_train.shape[1], dtype=sample.X_train.dtype)
        return cls(job, cell, sample, length_scale, phi.learn(sample.X_train, sample.y_train, checkpoints))

    @property
    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        return self.sample.X_train, self.sample.y_train

    def readings(self):
        """By reading its rows."""
        (X, y), C, n = self._rows, self.phi.C, len(self.sample.y_train)
        Y, _ = self.job.data.target.encode(y)
        total, violation = np.zeros(n), 0.0
        for number, played in enumerate(self.phi.replay(X, y), start=1):
            total += played.alpha
            violation = max(violation, dual_violation(played.alpha, Y[:, 0], C))
            m = played.n_components
            if m not in self.cell.conditions["n_features"]:
                continue
            prefix = self.phi.prefix(m)
            model = fit_on(prefix, X, Y, C)
            upper = svm_objective(model, decided(model, prefix.transform, X)[:, 0], Y[:, 0], C)
            lower = self._lower(total / number)
            values = {
                "margin_objective": upper,
                "margin_lower": lower,
                "duality_gap": upper - lower,
                "gap_bound": gap_bound(number, n, C),
                "gap_bound_mended": gap_bound(number, n, C, gradient=n),
                "dual_violation": violation,
                "distinct_features": len(np.unique(self._names(m), axis=0)),
            }
            place = {"axis": "iteration", "at": number, "n_features": m, "n_features_label": str(m)}
            place["n_columns"] = prefix.n_columns_
            scores = accuracy_rows(self.job, self.sample, model, prefix.transform)
            yield [place | {"learner": "l1_svm"} | row for row in scores] + [
                place | {"split": "train", "metric": metric, "value": float(value)} for metric, value in values.items()
            ]

    def _lower(self, mean: np.ndarray) -> float:
        """min over lambda of F(mean, lambda): the answer to mean dual weights (n,)."""
        X, y = self._rows
        peak = self.phi.best_response(X, y, mean)["potentials"][0]
        return float(mean.sum() - 0.5 * len(y) ** 2 * float(peak))

    def _names(self, m: int) -> np.ndarray:
        """What tells the first m features apart, (m, ...)."""
        learned = self.phi.learned_
        if "frequencies" in learned:
            return learned["frequencies"][:m]
        return np.column_stack([learned["degrees"], learned["orders"]])[:m]

    def looks(self):
        """By look at the weights its rows: how they lie beside the border of the classes, and how wide peaks are."""
        X, y = self._rows
        distances = distance_to_other_class(X, y, self.sample.X_test, self.sample.y_test)
        for m, number, alpha in self._seen():
            values = {"boundary_weight_ratio": boundary_weight_ratio(alpha, distances)}
            if self._is_plane:
                window = self._window
                values["peak_area"] = area_above_half(self._potential(alpha), window)
            place = {"axis": "iteration", "at": number, "n_features": m, "n_features_label": str(m), "split": "train"}
            yield [place | {"metric": metric, "value": float(value)} for metric, value in values.items()]

    def _seen(self):
        """Triples of m, the rounds played and the weights (n,) with m features, at every look."""
        before = 0
        for number, played in enumerate(self.phi.replay(*self._rows)):
            if before in self.cell.conditions["pictures"]:
                yield before, number, played.alpha
            before = played.n_components

    @property
    def _is_plane(self) -> bool:
        return self.sample.X_train.shape[1] == 2

    @property
    def _window(self) -> float:
        """Half the side of the window of frequencies that the potential is looked at in, the same for all looks."""
        looked_at = max(self.cell.conditions["pictures"], default=0) or None
        return WINDOW * float(np.abs(self.phi.learned_["frequencies"][:looked_at]).max())

    def _potential(self, alpha: np.ndarray) -> np.ndarray:
        """The potential v / n^2 of dual weights on a grid of frequencies, (resolution, resolution), rows upwards."""
        points = square(self._window, self.cell.conditions["resolution"])
        side = self.cell.conditions["resolution"]
        return self.phi.potential(*self._rows, alpha, points).reshape(side, side)

    def pictures(self) -> dict:
        """What Figure 1 shows, as arrays by name."""
        X, y = self._rows
        shown = {"X": X, "y": y.astype(np.int8)}
        if not self._is_plane:
            return shown | self._harmonics()
        side = self.cell.conditions["resolution"]
        extent, (Y, _) = float(np.abs(X).max()), self.job.data.target.encode(y)
        shown |= {"frequencies": self.phi.learned_["frequencies"], "window": np.array(self._window)}
        shown["extent"] = np.array(extent)
        shown["kept"] = np.array(next(self.phi.replay(X, y)).n_components)
        for m, _, alpha in self._seen():
            shown[f"weights-{m}"] = alpha.astype(np.float32)
            shown[f"potential-{m}"] = self._potential(alpha).astype(np.float32)
            if m:
                prefix = self.phi.prefix(m)
                model = fit_on(prefix, X, Y, self.phi.C)
                decision = decided(model, prefix.transform, square(extent, side).astype(X.dtype))
                shown[f"decision-{m}"] = decision.reshape(side, side).astype(np.float32)
        return shown

    def _harmonics(self) -> dict:
        """The harmonics that were chosen most often, on a grid of latitudes from the north and longitudes from 0."""
        counts = Counter(map(tuple, self._names(max(self.cell.conditions["n_features"])).tolist())).most_common()
        polar, azimuth = np.linspace(0, np.pi, LATITUDES)[:, None], np.arange(LONGITUDES) * 2 * np.pi / LONGITUDES
        pairs = [pair for pair, _ in counts]
        waves = [sph_harm_y(degree, order, polar, azimuth).real for degree, order in pairs[:STRONGEST]]
        return {
            "pairs": np.array(pairs),
            "counts": np.array([count for _, count in counts]),
            "waves": np.array(waves, dtype=np.float32),
        }


def svm_objective(model, decision: np.ndarray, y: np.ndarray, C: float) -> float:
    """|w|^2 / 2 + C sum max(0, 1 - y f) of a linear model, for decisions f and y = +-1, both (n,): by strong duality
    the optimum of the dual, which is the value of the game for the kernel of the features.
    """
    return float(0.5 * (model.coef**2).sum() + C * np.maximum(0.0, 1.0 - y * decision).sum())


def gap_bound(rounds: int, n: int, C: float, gradient: float = 1.0) -> float:
    """The bound of Theorem 4.1 after so many rounds on n rows, without half the mean error of the search:
    3 (C + 2 C^2 g) n / (4 sqrt(rounds)), printed with g = 1; ``gradient`` is another g.
    """
    return 3.0 * (C + 2.0 * C**2 * gradient) * n / (4.0 * math.sqrt(rounds))


def dual_violation(alpha: np.ndarray, y: np.ndarray, C: float) -> float:
    """How far dual weights (n,) are from 0 <= alpha <= C and y'alpha = 0: the larger distance, with the plane's as
    |y'alpha| / sqrt(n).
    """
    box = max(-alpha.min(), alpha.max() - C, 0.0)
    return float(max(box, abs(y @ alpha) / math.sqrt(len(y))))


def distance_to_other_class(X, y, X_more, y_more) -> np.ndarray:
    """The distance (n,) of every row of X (n, d) to the nearest row of another class, among X and ``X_more``."""
    everything, labels = np.concatenate([X, X_more]), np.concatenate([y, y_more])
    distances = np.empty(len(X))
    for label in np.unique(y):
        own = y == label
        distances[own] = cKDTree(everything[labels != label]).query(X[own])[0]
    return distances


def boundary_weight_ratio(alpha: np.ndarray, distances: np.ndarray) -> float:
    """The mean dual weight of the tenth of the rows that is nearest to the other class over the mean of the rest."""
    order = np.argsort(distances, kind="stable")
    near, far = np.split(alpha[order], [max(1, len(alpha) // 10)])
    return float(near.mean() / far.mean())


def square(half: float, side: int) -> np.ndarray:
    """Points (side^2, 2) of a square around the origin, row by row upwards."""
    ticks = np.linspace(-half, half, side)
    return np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)


def area_above_half(values: np.ndarray, half: float) -> float:
    """The area of a square window of this half side in which values on a grid are above half of their maximum."""
    return float((values > 0.5 * values.max()).mean() * (2.0 * half) ** 2)
