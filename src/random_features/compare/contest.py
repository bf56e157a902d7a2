"""The contest: contestants are tuned and validated in rounds of growing size, within a budget of seconds.

A *unit* is a contestant on n training rows, a map with D columns. Finished units are files, so a killed run resumes.
"""

import json
import time
import timeit
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from random_features.alarm import alarm
from random_features.compare import recipe
from random_features.compare.contestants import BASELINES, LABELLED, MAPS, STRUCTURED, is_map
from random_features.compare.files import write_whole
from random_features.compare.question import Question
from random_features.kernels import Gaussian
from random_features.length_scales import median_distance
from random_features.machines import MOST_HELD
from random_features.maps.registry import resolve, resolved_options

#: The largest number of columns of a map that depends on labels, and of data whose map is orthogonal.
MOST_LABELLED, MOST_ORTHOGONAL = 256, 4096

#: Training rows of the rounds before the one with all of them, and the columns of maps there.
ROUNDS = {1000: (64,), 5000: (256,), 30_000: (256, 1024)}
COLUMNS = (64, 128, 256, 512, 1024, 2048, 4096)

#: Rows on which settings are chosen, and the columns of the maps that choose them.
TUNED_ON, TUNED_WITH = 4000, 512

#: Factors of the median distance, ridge penalties, penalties of linear models, and learning rates of boosting.
FACTORS = 2.0 ** np.arange(-3.0, 3.5)
PENALTIES = 10.0 ** np.arange(-9.0, 1.0)
LINEAR_PENALTIES = 10.0 ** np.arange(-2.0, 5.0)
RATES = (0.05, 0.1, 0.2)

#: Classes and columns up to which the learning rate of boosting is tuned. With more it has fewer trees and bins: each
#: class has trees of its own.
MOST_CLASSES, MOST_COLUMNS = 5, 500
LIGHT = {"learning_rate": 0.2, "max_iter": 100, "max_bins": 63}

#: Training rows from which one validation part replaces folds; and its share.
ONE_PART, PART_SHARE = 20_000, 0.25

#: Numbers of the encoded table that are held: 1 GB in float32. Above that rows are drawn.
MOST_NUMBERS = 250_000_000

#: Powers of the rows with which the seconds of a fit grow (else 1), and of the columns of a map; the fits of tuning.
GROWTH, COLUMN_GROWTH, TUNING_FITS = {"guess": 0.0, "boosting": 0.5, "exact-kernel": 2.0}, 1.5, 4

#: A fit of a map of fewer seconds is mostly overhead: it counts as one with so many more rows and columns.
SHORT_SECONDS, OVERHEAD = 1.0, (2000, 256)

#: A unit is stopped after this share of the budget, or after so many times its expected seconds if these are more.
UNIT_SHARE, UNIT_TIMES = 0.2, 2

#: Seconds after which the loading of a finished unit is stopped.
LOADING_SECONDS = 60.0

#: The reason of what did not run after Ctrl-C.
INTERRUPTED = "interrupted"


class OutOfTime(Exception):
    """A fit was stopped because its time is over."""


class Part(NamedTuple):
    """One validation part: encoded training rows with their targets, and held-out ones."""

    X: object
    y: np.ndarray
    X_held: object
    y_held: np.ndarray


class Unit(NamedTuple):
    """A contestant on n training rows; a map with a number of columns (else None)."""

    name: str
    n: int
    columns: int | None


class Result(NamedTuple):
    """The result of a unit: its settings, the loss of every held-out row, and seconds of a fit with prediction."""

    unit: Unit
    settings: dict
    losses: np.ndarray
    seconds: float
    edges: list[str]


class Clock:
    """A budget of seconds."""

    def __init__(self, budget: float, started: float | None = None):
        self.budget, self.end = budget, (time.monotonic() if started is None else started) + budget

    def left(self) -> float:
        """Return the seconds that are left."""
        return self.end - time.monotonic()


def validation_parts(question: Question, rows) -> tuple[list[Part], np.ndarray]:
    """Return the validation parts of some rows, encoded by their own training rows, and the groups of held-out rows."""
    y, groups = question.y[rows], None if question.groups is None else question.groups[rows]
    how = {"share": PART_SHARE} if len(rows) >= ONE_PART else {"folds": 3 if len(rows) >= recipe.FEW_ROWS else 5}
    cuts = recipe.split(y, groups, question.settings["task"], bool(question.settings["time"]), **how)
    encoder, parts, held_groups = recipe.encoder(question.settings["columns"]), [], []

    def encoded(by, some):
        return by(recipe.rows_of(question.table, rows[some]))

    for train, held in cuts:
        if not issparse(question.table):
            width = encoded(encoder.fit_transform, recipe.sample(train, 1000)).shape[1]
            train = recipe.sample(train, max(1000, MOST_NUMBERS // width - len(held)))
        held = recipe.sample(held, recipe.MOST_TEST_ROWS)
        parts.append(Part(encoded(encoder.fit_transform, train), y[train], encoded(encoder.transform, held), y[held]))
        held_groups.append(held if groups is None else groups[held])
    return parts, np.concatenate(held_groups)


def contestants(part: Part, asked=()) -> tuple[list[str], dict[str, str]]:
    """Return the contestants for some data, and the reasons for which others do not run."""
    d, left_out = part.X.shape[1], {}
    if issparse(part.X):
        left_out["boosting"] = f"it needs a dense table, and this one has {d:,} columns"
    if d > MOST_ORTHOGONAL:
        left_out["orf"] = f"its fit takes O(s d^2), and d is {d:,}"
        left_out["qmc"] = f"sequences in {d:,} dimensions are not better than random ones"
    names = dict.fromkeys([*BASELINES, *MAPS, fastest_structured(d), *asked])
    return [name for name in names if name not in left_out], left_out


def fastest_structured(d: int) -> str:
    """Return the structured map that transforms rows of d columns in the least time."""
    X = np.random.default_rng(0).standard_normal((256, min(d, 4096)), dtype=np.float32)

    def seconds(name):
        fitted = recipe.make_map(name, Gaussian(1.0), n_components=512, random_state=0).fit(X)
        return min(timeit.repeat(lambda: fitted.transform(X), number=1, repeat=3))

    return min(STRUCTURED, key=seconds)


def units(names: list[str], n_train: int, most_columns: int) -> list[Unit]:
    """Return the units of a contest in the order of its rounds: few rows first, then all rows with more columns, and at
    last the exact kernel on more rows than its matrix can have.

    From the third round on, baselines come first on all numbers of rows: maps with many columns leave them no time.
    """
    rounds = [(n, columns) for n, columns in ROUNDS.items() if 1.5 * n < n_train] + [(n_train, COLUMNS)]
    found, early = {}, BASELINES[:-1]
    for k, (n, columns) in enumerate(rounds):
        for D in [D for D in columns if min(most_columns, n) >= D] or [min(most_columns, n)]:
            for name in names:
                if name in BASELINES:
                    found.setdefault(Unit(name, n if name in early else min(n, MOST_HELD), None), k)
                elif name not in LABELLED or D <= MOST_LABELLED:
                    found[Unit(name, n, D)] = k
    ordered = sorted(found, key=lambda unit: min(found[unit], 1.5) if unit.name in early else found[unit])
    return [*ordered, *(Unit("exact-kernel", n, None) for n, _ in rounds if n > MOST_HELD)]


def planned(contest, maps, columns: int) -> dict:
    """Return the plan: the names of the contestants, the reasons for which others are left out, and the units."""
    names, left_out = contestants(contest.parts[0], maps)
    return {"contestants": names, "left_out": left_out, "units": units(names, contest.n_train, columns)}


def plan_lines(contest, names, todo, seconds) -> list[str]:
    """Return what will be done, and what it is expected to take according to the pilot."""
    d, most = contest.parts[0].X.shape[1], max((unit.columns or 0 for unit in todo), default=0)
    table = 8 * d * min(contest.n_train, MOST_NUMBERS / d)
    memory = 0.5 + (table + 64 * most**2 + 24 * min(contest.n_train, MOST_HELD) ** 2) / 1e9
    sizes = ", ".join(f"{n:,}" for n in sorted({unit.n for unit in todo}))
    return [
        f"contestants: {', '.join(names)}",
        f"rounds: {sizes} training rows; {d:,} columns after encoding; maps with up to {most:,} columns",
        f"expected: {seconds / 60:.1f} minutes for everything, of which the budget takes a part; up to {memory:.1f} GB",
    ]


def map_settings(name: str, columns: int, task: str) -> dict:
    """Return the number of frequencies and the options with which a map has a number of columns."""
    canonical, options = resolve(name)
    known, own = resolved_options(name, {}), dict(options)
    if "task" in known:
        own["task"] = "classification" if task == "classes" else task
    if canonical == "nystroem":
        own["landmarks"] = "rpcholesky"
    return {"n_components": max(1, columns // (2 if known.get("layout") == "cos_sin" else 1)), "options": own}


def candidates(unit: Unit, part: Part, previous: dict | None, task: str) -> list[dict]:
    """Return the settings among which a contestant is tuned: a grid, later the neighbours of what was chosen."""
    if unit.name == "guess":
        return [{}]
    if unit.name == "linear":
        return [{"penalty": float(penalty)} for penalty in LINEAR_PENALTIES]
    if unit.name == "boosting":
        classes = len(np.unique(part.y)) if task == "classes" else 1
        many = classes > MOST_CLASSES or part.X.shape[1] > MOST_COLUMNS
        return [LIGHT] if many else [{"learning_rate": rate} for rate in RATES]
    try:
        centre = previous["length_scale"] if previous else median_distance(part.X, np.random.default_rng(0), 1000)
    except ValueError:  # most rows are equal
        centre = 1.0
    own = map_settings(unit.name, min(unit.columns, TUNED_WITH), task) if unit.columns else {}
    factors = 2.0 ** np.array([-1, -0.5, 0, 0.5, 1]) if previous else FACTORS
    return [{"length_scale": float(each), "penalties": PENALTIES.tolist(), **own} for each in factors * centre]


def tuned(unit: Unit, part: Part, task: str, previous: dict | None) -> tuple[dict, list[str]]:
    """Return the best settings of a contestant on some of the training rows, and which are at the edge of a grid."""
    rows = np.random.default_rng(1).permutation(len(part.y))[: min(unit.n, TUNED_ON)]
    fitted, held = np.split(rows, [2 * len(rows) // 3])
    few = Part(part.X[fitted], part.y[fitted], part.X[held], part.y[held])
    tried = candidates(unit, few, previous, task)
    if len(tried) == 1 or len(np.unique(few.y)) < 2:
        return tried[len(tried) // 2], []
    found = [fit_and_score(unit.name, each, few, len(fitted), task) for each in tried]
    values = np.array([losses for losses, _, _ in found])
    best, edges = int(values.mean(axis=1).argmin()), []
    if previous is None and best in (0, len(tried) - 1):
        gain = values[1 if best == 0 else -2] - values[best]
        if gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)):
            key = next(iter(tried[0]))
            edges.append(f"{key.replace('_', ' ')} {tried[best][key]:.3g}")
    return tried[best] | ({"penalties": [found[best][2]]} if "penalties" in tried[best] else {}), edges


def fit_and_score(name: str, settings: dict, part: Part, n: int, task: str):
    """Return the losses of the held-out rows, the seconds of fit and prediction, and the penalty that was chosen."""
    rows = recipe.sample(np.arange(len(part.y)), n)
    X, y = (part.X, part.y) if len(rows) == len(part.y) else (part.X[rows], part.y[rows])
    if task == "classes" and name not in ("guess", "boosting") and len(np.unique(y)) < 2:
        raise ValueError("the training rows of a validation part have one class only")
    started = time.perf_counter()
    model = recipe.model(name, settings, task).fit(X, y)
    predicted = model.predict(part.X_held)
    seconds = time.perf_counter() - started
    return recipe.losses(predicted, part.y_held, task), seconds, getattr(model, "penalty_", None)


class Contest:
    """The state of a contest: its data, the results so far, the folder of finished units, and the contestants that are
    out, with the reasons.
    """

    def __init__(self, question: Question, rows, folder=None, identity: str = ""):
        started = time.perf_counter()
        self.task, self.folder, self.identity = question.settings["task"], folder and Path(folder), identity
        self.parts, self.groups = validation_parts(question, rows)
        self.encoding = (time.perf_counter() - started) / len(self.parts)
        self.n_train = min(len(part.y) for part in self.parts)
        self.n_final, self.final_fits = len(rows), recipe.FEW_FOLDS if len(rows) < recipe.FEW_ROWS else 1
        self.results: list[Result] = []
        self.reasons: dict[str, str] = {}

    def last(self, name: str) -> Result | None:
        """Return the last result of a contestant."""
        return next((each for each in reversed(self.results) if each.unit.name == name), None)

    def final(self) -> list[Result]:
        """Return for each contestant and number of columns the result with the most rows, the best first."""
        ordered = sorted(self.results, key=lambda result: result.unit.n)
        latest = {(result.unit.name, result.unit.columns): result for result in ordered}
        return sorted(latest.values(), key=lambda result: result.losses.mean())

    def file_of(self, unit: Unit) -> Path:
        """Return the file of a finished unit; its name is the hash of all that decides the result."""
        text = json.dumps([self.identity, self.n_train, *unit])
        return Path(self.folder or ".") / f"{sha256(text.encode()).hexdigest()[:24]}.npz"

    def run(self, unit: Unit) -> None:
        """Tune and validate a unit, or take its result from the folder."""
        stored = self.stored(unit)
        self.results.append(result := stored or self.computed(unit))
        if self.folder and not stored:
            text = json.dumps([result.settings, result.seconds, result.edges])
            write_whole(self.file_of(unit), lambda path: np.savez(path, losses=result.losses, text=text))

    def stored(self, unit: Unit) -> Result | None:
        """Return the result of a unit from the folder; None if it is not there, or damaged."""
        try:
            with np.load(self.file_of(unit)) as arrays:  # without pickles, so that a foreign folder runs no code
                settings, seconds, edges = json.loads(str(arrays["text"]))
                return Result(unit, settings, arrays["losses"], seconds, edges)
        except Exception:  # NumPy and zipfile raise errors of many types for files that are cut or damaged
            return None

    def is_tuned(self, unit: Unit) -> bool:
        """Return whether a unit tunes its settings: the first one, and again with more rows."""
        last = self.last(unit.name)
        return last is None or last.unit.n < min(unit.n, TUNED_ON)

    def computed(self, unit: Unit) -> Result:
        """Return the result of a unit; penalties are tuned again where one factorisation does for all of them."""
        last = self.last(unit.name)
        settings, edges = (last.settings, last.edges) if last else (None, [])
        if self.is_tuned(unit):
            kernel = unit.name not in ("guess", "linear", "boosting")
            settings, new = tuned(unit, self.parts[0], self.task, settings if kernel else None)
            edges = new if last is None or not kernel else edges
        if unit.columns:
            settings = settings | map_settings(unit.name, unit.columns, self.task)
        if "penalties" in settings and (unit.columns or unit.n <= MOST_HELD):
            window = 10.0 ** np.arange(-1, 0.5, 0.5 if unit.columns else 1.0)
            penalties = np.clip(settings["penalties"][0] * np.append(0.01, window), PENALTIES[0], PENALTIES[-1])
            settings = settings | {"penalties": np.unique(penalties).tolist()}
        found = [fit_and_score(unit.name, settings, part, unit.n, self.task) for part in self.parts]
        if "penalties" in settings:
            settings = settings | {"penalties": [float(np.median([penalty for _, _, penalty in found]))]}
        losses = np.concatenate([each for each, _, _ in found])
        return Result(unit, settings, losses, float(np.mean([seconds for _, seconds, _ in found])), edges)

    def rows_of_fit(self, unit: Unit) -> int:
        """Return the training rows of the final fit: all, or those of a unit that had not all of them."""
        held = unit.name == "exact-kernel" and unit.n <= MOST_HELD
        return unit.n if unit.n < self.n_train else min(self.n_final, MOST_HELD) if held else self.n_final

    def expected(self, unit: Unit) -> float:
        """Return the expected seconds of a unit with its tuning, from the last of its contestant; 0 for the first."""
        last, tuning = self.last(unit.name), TUNING_FITS * self.is_tuned(unit)
        few = tuning * grown(last, 2 * min(unit.n, TUNED_ON) // 3, unit.columns)
        return few + len(self.parts) * grown(last, unit.n, unit.columns)

    def final_seconds(self, unit: Unit, last: Result | None) -> float:
        """Return the expected seconds of the final fit of a unit, with the encoding of its rows."""
        n = self.rows_of_fit(unit)
        return self.final_fits * (self.encoding * n / self.n_train + grown(last, n, unit.columns))

    def reserve(self, unit: Unit) -> float:
        """Return the seconds that the final fits take: of the best, of the best map, and of a unit."""
        opened = [(each.unit, each) for each in self.final() if each.unit._replace(n=unit.n) != unit]
        opened = [*opened[:1], *[pair for pair in opened if is_map(pair[0].name)][:1], (unit, self.last(unit.name))]
        return 1.2 * sum(self.final_seconds(*pair) for pair in opened)


def grown(last: Result | None, n: int, columns: int | None) -> float:
    """Return the expected seconds of a fit with so many rows and columns, from the last one of its contestant."""
    if last is None:
        return 0.0
    before = np.array([last.unit.n, last.unit.columns or 1])
    least = np.multiply(OVERHEAD, bool(columns) and last.seconds < SHORT_SECONDS)
    rows, wider = (np.array([n, columns or 1]) + least) / (before + least)
    if last.unit.name == "exact-kernel" and n > MOST_HELD >= last.unit.n:
        rows /= np.sqrt(2)  # a matrix that is not held serves one penalty in place of four
    return last.seconds * rows ** GROWTH.get(last.unit.name, 1.0) * wider ** (COLUMN_GROWTH if wider > 1 else 1.0)


def hold(contest: Contest, todo: list[Unit], clock: Clock, progress=lambda words: None, free=0.0) -> None:
    """Run the units that the clock affords, or that take less than ``free`` seconds.

    A contestant is out where a unit, the final fits and the report are not expected to end in time, where a unit fails
    or takes too long, so that none uses up the time of the others. Ctrl-C ends the contest, and what is
    finished is answered from.
    """
    for unit in todo:
        if unit.name in contest.reasons:
            continue
        size = f"on {unit.n:,} rows" + (f" with {unit.columns:,} columns" if unit.columns else "")
        expected, reserve, stored = contest.expected(unit), contest.reserve(unit), contest.file_of(unit).is_file()
        most = max(free, min(clock.left() - reserve, max(UNIT_SHARE * clock.budget, UNIT_TIMES * expected)))
        try:
            if expected >= 0.8 * most and not stored:
                seconds = f"{expected:.1f} s and {reserve:.1f} s of final fits"
                raise OutOfTime(f"it needs about {seconds}, which the budget does not leave")
            progress(f"{unit.name} {size}")
            with alarm(LOADING_SECONDS if stored else most, OutOfTime()):
                contest.run(unit)
        except (OutOfTime, ValueError, np.linalg.LinAlgError, MemoryError) as error:
            reason = " ".join(str(error).split())[:200]
            contest.reasons[unit.name] = f"not {size}: {reason or f'stopped after {most:.0f} s by the budget'}"
        except KeyboardInterrupt:
            contest.reasons |= {each.name: INTERRUPTED for each in todo if each.name not in contest.reasons}
