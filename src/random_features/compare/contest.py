"""The contest: contestants are tuned and validated on the same rows, within a budget of seconds.

A *unit* is a contestant, a map with D columns, on n training rows: on all of them, but for an exact kernel whose matrix
would not be held. Finished units are files, so a killed run resumes.
"""

import json
import time
import timeit
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

import random_features
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

#: Columns of maps. The exact kernel runs before those from ``EXACT_FIRST`` on.
COLUMNS, EXACT_FIRST = (64, 128, 256, 512, 1024, 2048, 4096), 512

#: Rows on which settings are chosen, the columns of the maps that choose them, and the steps beyond an end of a grid.
TUNED_ON, TUNED_WITH, MOST_STEPS = 4000, 1024, 6

#: Training rows up to which all validation parts choose settings: a third of them would choose at random.
FEW_TO_TUNE = 2000

#: Factors of the median distance, ridge penalties, penalties of linear models, and learning rates of boosting.
FACTORS = 2.0 ** np.arange(-2.0, 2.5)
NEIGHBOURS = 2.0 ** np.arange(-1.0, 0.75, 0.5)
PENALTIES = 10.0 ** np.arange(-9.0, 1.0)
LINEAR_PENALTIES = 10.0 ** np.arange(-2.0, 5.0)
RATES = (0.05, 0.1, 0.2)

#: Training rows below which boosting may also run 100 trees without early stopping, which holds back rows.
FEW_ROWS = 10_000

#: Classes and columns from which boosting has one learning rate and fewer bins: each class has trees of its own.
MOST_CLASSES, MOST_COLUMNS, LIGHT = 5, 500, {"learning_rate": 0.2, "max_bins": 63}

#: Training rows from which one validation part replaces folds, its share, and the folds of fewer than 1,000 rows.
ONE_PART, PART_SHARE, FOLDS, MANY_FOLDS = 20_000, 0.25, 3, 5

#: Numbers of the encoded table that are held: 1 GB in float32. Above that rows are drawn, for all contestants.
MOST_NUMBERS = 250_000_000

#: The power of the columns with which the seconds of a map grow, and the largest share of what is left for one unit.
COLUMN_GROWTH, MOST_SHARE = 1.3, 0.6

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
    how = {"share": PART_SHARE} if len(rows) >= ONE_PART else {"folds": FOLDS if len(rows) >= 1000 else MANY_FOLDS}
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


def units(names, n_train: int, most_columns: int) -> list[Unit]:
    """Return all units in their order: baselines, then maps with more and more columns; the exact kernel on rows whose
    matrix is held before the wide maps, and last on all rows.
    """
    widths = [D for D in COLUMNS if min(most_columns, n_train) >= D] or [min(most_columns, n_train)]
    todo = [Unit(name, n_train, None) for name in names if name in BASELINES[:-1]]
    exact = [Unit("exact-kernel", min(n_train, MOST_HELD), None)] * ("exact-kernel" in names)
    for D in widths:
        todo += exact * (D >= EXACT_FIRST)
        exact = exact * (D < EXACT_FIRST)
        maps = [name for name in names if is_map(name) and (name not in LABELLED or D <= MOST_LABELLED)]
        todo += [Unit(name, n_train, D) for name in maps]
    return [*todo, *exact, *([Unit("exact-kernel", n_train, None)] if n_train > MOST_HELD else [])]


def map_settings(name: str, columns: int, task: str) -> dict:
    """Return the number of frequencies and the options with which a map has a number of columns."""
    canonical, options = resolve(name)
    known, own = resolved_options(name, {}), dict(options)
    if "task" in known:
        own["task"] = "classification" if task == "classes" else task
    if canonical == "nystroem":
        own["landmarks"] = "rpcholesky"
    return {"n_components": max(1, columns // (2 if known.get("layout") == "cos_sin" else 1)), "options": own}


def candidates(unit: Unit, part: Part, task: str, previous: dict | None) -> tuple[list[dict], float]:
    """Return the settings among which a contestant is tuned, and the factor of the length scale by which the grid goes
    on beyond its ends (1 if it does not): around the choice with fewer columns, or the median distance.
    """
    if unit.name == "guess":
        return [{}], 1.0
    if unit.name == "linear":
        return [{"penalty": float(penalty)} for penalty in LINEAR_PENALTIES], 1.0
    if unit.name == "boosting":
        classes = len(np.unique(part.y)) if task == "classes" else 1
        if classes > MOST_CLASSES or part.X.shape[1] > MOST_COLUMNS:
            return [LIGHT], 1.0
        found = [{"learning_rate": rate} for rate in RATES]
        plain = {"learning_rate": 0.1, "max_iter": 100, "early_stopping": False}
        few = [found[len(found) // 2], plain, plain | {"max_iter": 300, "learning_rate": 0.05}]
        return few if unit.n < FEW_ROWS else found, 1.0
    try:
        centre = previous["length_scale"] if previous else median_distance(part.X, np.random.default_rng(0), 1000)
    except ValueError:  # most rows are equal
        centre = 1.0
    own = {"penalties": PENALTIES.tolist()}
    own |= map_settings(unit.name, min(unit.columns, TUNED_WITH), task) if unit.columns else {}
    factors = NEIGHBOURS if previous else FACTORS
    return [{"length_scale": float(factor * centre), **own} for factor in factors], factors[1] / factors[0]


def tuned(unit: Unit, parts: list[Part], task: str, previous: dict | None, more: dict) -> tuple[dict, list[str]]:
    """Return the settings of a contestant with the least squared error on the training rows, or on some of many, and
    what is still at the end of its grid: a grid goes on as long as its last step gains. ``more`` are settings of all.
    """
    if len(parts[0].y) > FEW_TO_TUNE:
        rows = recipe.sample(np.arange(len(parts[0].y)), TUNED_ON)
        ((fitted, held),) = recipe.split(parts[0].y[rows], None, task, False, share=1 / 3)
        X, y = parts[0].X[rows], parts[0].y[rows]
        parts = [Part(X[fitted], y[fitted], X[held], y[held])]
    parts = parts[:1] if unit.name == "boosting" else parts  # its fits take longest, and differ least
    tried, step = candidates(unit, parts[0], task, previous)
    tried = [each | more for each in tried]
    if len(tried) == 1 or len(np.unique(parts[0].y)) < 2:
        return tried[len(tried) // 2], []

    def error(settings):
        found = [fit_and_score(unit.name, settings, part, len(part.y), task, "search") for part in parts]
        penalties = {"penalties": [float(np.median([each[2] for each in found]))]} if "penalties" in settings else {}
        return np.concatenate([each[0] for each in found]).mean(), settings | penalties

    found, best = [error(each) for each in tried], 0
    for _ in range(MOST_STEPS):
        best = min(range(len(found)), key=lambda j: found[j][0])
        if step == 1 or best not in (0, len(found) - 1):
            break
        scale = found[best][1]["length_scale"] * (step if best else 1 / step)
        found.insert(len(found) if best else 0, error(tried[0] | {"length_scale": scale}))
    best = min(range(len(found)), key=lambda j: found[j][0])
    at_end = step != 1 and best in (0, len(found) - 1)
    settings = found[best][1]
    if step == 2 and not at_end:
        finer = [error(tried[0] | {"length_scale": settings["length_scale"] * each}) for each in (0.5**0.5, 2**0.5)]
        settings = min([found[best], *finer], key=lambda each: each[0])[1]
    return settings, [f"length scale {settings['length_scale']:.3g}"] if at_end else []


def fit_and_score(name: str, settings: dict, part: Part, n: int, task: str, metric: str):
    """Return the losses of the held-out rows, the seconds of fit and prediction, and the penalty that was chosen."""
    rows = recipe.sample(np.arange(len(part.y)), n)
    X, y = (part.X, part.y) if len(rows) == len(part.y) else (part.X[rows], part.y[rows])
    if task == "classes" and len(np.unique(y)) < len(np.unique(np.append(part.y, part.y_held))):
        raise ValueError("the training rows of a validation part lack a class")
    started = time.perf_counter()
    model = recipe.model(name, settings, task).fit(X, y)
    predicted = recipe.predicted(model, part.X_held, task)
    seconds = time.perf_counter() - started
    return recipe.losses(predicted, part.y_held, metric), seconds, getattr(model, "penalty_", None)


def code_identity() -> str:
    """Return a hash of the code of the library and of the versions of what computes."""
    folder = Path(random_features.__file__).parent
    code = b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))
    names = ("numpy", "scipy", "scikit-learn", "torch", "pandas")
    return sha256(code + " ".join(map(version, names)).encode()).hexdigest()


class Contest:
    """The state of a contest: its data, the results so far, the folder of finished units, and the contestants that are
    out, with the reasons.
    """

    def __init__(self, question: Question, rows, folder=None):
        self.task, self.metric = question.settings["task"], question.settings["metric"]
        self.more = {"class_weight": "balanced"} if self.metric == "balanced-error" else {}
        self.folder = folder and Path(folder)
        self.identity = code_identity() + json.dumps(question.settings, default=str) if folder else ""
        self.parts, self.groups = validation_parts(question, rows)
        self.n_train = min(len(part.y) for part in self.parts)
        self.n_final = len(rows)
        self.results: list[Result] = []
        self.reasons: dict[str, str] = {}

    def last(self, name: str) -> Result | None:
        """Return the last result of a contestant."""
        return next((each for each in reversed(self.results) if each.unit.name == name), None)

    def fair(self) -> list[Result]:
        """Return the results on all training rows, and others that are better than all of them; the best first."""
        whole = [each for each in self.results if each.unit.n == self.n_train]
        least = min((each.losses.mean() for each in whole), default=np.inf)
        found = whole + [each for each in self.results if each not in whole and each.losses.mean() < least]
        return sorted(found, key=lambda result: result.losses.mean())

    def file_of(self, unit: Unit) -> Path:
        """Return the file of a finished unit; its name is the hash of all that decides the result."""
        text = json.dumps([self.identity, self.n_train, *unit])
        return Path(self.folder or ".") / f"{sha256(text.encode()).hexdigest()[:24]}.npz"

    def seal(self, unit: Unit, losses, text) -> str:
        """Return the hash of the content of a finished unit: one that was edited is computed again."""
        return sha256(str(self.file_of(unit)).encode() + losses.tobytes() + text.encode()).hexdigest()

    def run(self, unit: Unit) -> None:
        """Tune and validate a unit, or take its result from the folder."""
        stored = self.stored(unit)
        self.results.append(result := stored or self.computed(unit))
        if self.folder and not stored:
            text = json.dumps([result.settings, result.seconds, result.edges])
            arrays = {"losses": result.losses, "text": text, "seal": self.seal(unit, result.losses, text)}
            write_whole(self.file_of(unit), lambda path: np.savez(path, **arrays))

    def stored(self, unit: Unit) -> Result | None:
        """Return the result of a unit from the folder; None if it is not there, damaged or edited."""
        try:
            with np.load(self.file_of(unit)) as arrays:  # without pickles, so that a foreign folder runs no code
                losses, text = arrays["losses"], str(arrays["text"])
                settings, seconds, edges = json.loads(text)
                sealed = str(arrays["seal"]) == self.seal(unit, losses, text)
                return Result(unit, settings, losses, seconds, edges) if sealed else None
        except Exception:  # NumPy and zipfile raise errors of many types for files that are cut or damaged
            return None

    def computed(self, unit: Unit) -> Result:
        """Return the result of a unit: maps are tuned with each number of columns; penalties are chosen anew."""
        last = self.last(unit.name)
        settings, edges = (last.settings, last.edges) if last else (None, [])
        if last is None or (unit.columns and unit.columns <= TUNED_WITH):
            settings, edges = tuned(unit, self.parts, self.task, settings, self.more)
        if unit.columns:
            settings = settings | map_settings(unit.name, unit.columns, self.task)
        if "penalties" in settings and (unit.columns or unit.n <= MOST_HELD):
            window = 10.0 ** np.arange(-2, 1.5, 0.5 if unit.columns else 1.0)
            penalties = np.clip(settings["penalties"][0] * window, PENALTIES[0], PENALTIES[-1])
            settings = settings | {"penalties": np.unique(penalties).tolist()}
        found = [fit_and_score(unit.name, settings, part, unit.n, self.task, self.metric) for part in self.parts]
        if "penalties" in settings:
            settings = settings | {"penalties": [float(np.median([penalty for _, _, penalty in found]))]}
        losses = np.concatenate([each for each, _, _ in found])
        return Result(unit, settings, losses, float(np.mean([seconds for _, seconds, _ in found])), edges)

    def expected(self, unit: Unit) -> float:
        """Return the expected seconds of a unit from the last of its contestant; 0 for the first."""
        last = self.last(unit.name)
        if last is None:
            return 0.0
        rows = (unit.n / last.unit.n) ** 2 if unit.name == "exact-kernel" else 1.0
        tuning = 2.0 if unit.columns and unit.columns <= TUNED_WITH else 1.0
        return (
            tuning
            * len(self.parts)
            * last.seconds
            * rows
            * ((unit.columns or 1) / (last.unit.columns or 1)) ** COLUMN_GROWTH
        )

    def reserve(self) -> float:
        """Return the seconds that the final fits take: of the best, of the best map and of boosting."""
        opened = self.fair()[:1] + [each for each in self.fair() if is_map(each.unit.name)][:1]
        opened += [each for each in self.results if each.unit.name == "boosting"]
        return 1.5 * self.n_final / self.n_train * sum({each.unit: each.seconds for each in opened}.values())


def hold(contest: Contest, todo: list[Unit], clock: Clock, progress=lambda words: None) -> None:
    """Run the units that the clock affords. A contestant is out where a unit and the final fits are not expected to end
    in time, where a unit fails, or takes most of what is left. After Ctrl-C the answer comes from what is finished.
    """
    for unit in todo:
        if unit.name in contest.reasons:
            continue
        size = f"on {unit.n:,} rows" + (f" with {unit.columns:,} columns" if unit.columns else "")
        expected, left = contest.expected(unit), clock.left() - contest.reserve()
        stored = contest.file_of(unit).is_file()
        try:
            if (expected > MOST_SHARE * left or left <= 0) and not stored:
                raise OutOfTime("the budget does not leave the time")
            progress(f"{unit.name} {size}")
            with alarm(max(left * MOST_SHARE, 60.0 if stored else 0.0), OutOfTime()):
                contest.run(unit)
        except (OutOfTime, ValueError, np.linalg.LinAlgError, MemoryError) as error:
            reason = " ".join(str(error).split())[:200]
            contest.reasons[unit.name] = (
                f"not {size}: {reason or f'stopped after {MOST_SHARE * left:.0f} s by the budget'}"
            )
        except KeyboardInterrupt:
            contest.reasons |= {each.name: INTERRUPTED for each in todo if each.name not in contest.reasons}
