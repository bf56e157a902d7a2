"""The contest: contestants are tuned and validated on the same rows, within a budget of seconds.

A *unit* is a contestant, a map with D columns, on n training rows: on all of them, but for an exact kernel whose matrix
would not be held. Finished units are files, so a killed run resumes.
"""

import json
import sys
import time
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.isotonic import isotonic_regression

import random_features
from random_features.alarm import alarm
from random_features.compare import recipe
from random_features.compare.contestants import BASELINES, LABELLED, MAPS, has_kernel, is_map
from random_features.compare.files import write
from random_features.compare.question import Question
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

#: Factors of the length scale around that of the exact kernel, and finer ones around the best of them.
FACTORS, FINER = (0.5, 1.0, 2.0), (0.5**0.5, 2**0.5)

#: Ridge penalties, those around the best with all rows, penalties of linear models, and learning rates of boosting.
PENALTIES, WINDOW = 10.0 ** np.arange(-9.0, 1.0), 10.0 ** np.arange(-1.5, 1.0, 0.5)
LINEAR_PENALTIES = 10.0 ** np.arange(-2.0, 5.0)
RATES = (0.05, 0.1, 0.2)

#: Training rows below which boosting may also run without early stopping, which holds back rows.
FEW_ROWS = 10_000
FEW = ({"max_iter": 100, "early_stopping": False}, {"max_iter": 300, "learning_rate": 0.05, "early_stopping": False})

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
    """One validation part: encoded training rows with their targets, held-out ones, and two scalings of the columns."""

    X: object
    y: np.ndarray
    X_held: object
    y_held: np.ndarray
    scaled: list[recipe.Scaled]


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


class Clock:
    """A budget of seconds."""

    def __init__(self, budget: float, started: float | None = None):
        self.end = (time.monotonic() if started is None else started) + budget

    def left(self) -> float:
        """Return the seconds that are left."""
        return self.end - time.monotonic()


def validation_parts(question: Question, rows) -> tuple[list[Part], np.ndarray]:
    """Return the validation parts of some rows, encoded by their own training rows, and the groups of held-out rows."""
    y, groups = question.y[rows], None if question.groups is None else question.groups[rows]
    how = {"share": PART_SHARE} if len(rows) >= ONE_PART else {"folds": FOLDS if len(rows) >= 1000 else MANY_FOLDS}
    encoder, parts, held_groups = recipe.encoder(question.settings["columns"]), [], []

    def encoded(by, some):
        return by(recipe.rows_of(question.table, rows[some]))

    for train, held in recipe.split(y, groups, question.settings["task"], bool(question.settings["time"]), **how):
        held = recipe.sample(held, recipe.MOST_TEST_ROWS)
        if not issparse(question.table):
            width = encoded(encoder.fit_transform, recipe.sample(train, 1000)).shape[1]
            train = recipe.sample(train, max(1000, MOST_NUMBERS // width - len(held)))
        X, X_held = encoded(encoder.fit_transform, train), encoded(encoder.transform, held)
        scaled = [recipe.Scaled(each).fit(X, y[train]) for each in (False, True)[: 1 if issparse(X) else 2]]
        parts.append(Part(X, y[train], X_held, y[held], scaled))
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
    names = dict.fromkeys([*BASELINES, *MAPS, *asked])
    return [name for name in names if name not in left_out], left_out


def units(names, n_train: int, most_columns: int) -> list[Unit]:
    """Return all units in their order: baselines, then maps with more and more columns; the exact kernel on rows whose
    matrix is held before the wide maps, and last on all rows.
    """
    most = min(most_columns, n_train)
    todo = [Unit(name, n_train, D) for D in [D for D in COLUMNS if most >= D] or [most] for name in names
            if is_map(name) and (name not in LABELLED or D <= MOST_LABELLED)]  # fmt: skip
    if "exact-kernel" in names:
        place = next((j for j, unit in enumerate(todo) if unit.columns >= EXACT_FIRST), len(todo))
        todo.insert(place, Unit("exact-kernel", min(n_train, MOST_HELD), None))
        todo += [Unit("exact-kernel", n_train, None)] * (n_train > MOST_HELD)
    return [*(Unit(name, n_train, None) for name in names if not has_kernel(name)), *todo]


def map_settings(name: str, columns: int, task: str) -> dict:
    """Return the number of frequencies and the options with which a map has a number of columns."""
    canonical, options = resolve(name)
    known, own = resolved_options(name, {}), dict(options)
    own |= {"task": "classification" if task == "classes" else task} if "task" in known else {}
    own |= {"landmarks": "rpcholesky"} if canonical == "nystroem" else {}
    return {"n_components": max(1, columns // (2 if known.get("layout") == "cos_sin" else 1)), "options": own}


def candidates(unit: Unit, part: Part, task: str, start: dict | None) -> list[dict]:
    """Return the settings among which a contestant is tuned, around a ``start`` if it has a kernel."""
    if has_kernel(unit.name):
        own = map_settings(unit.name, min(unit.columns, TUNED_WITH), task) if unit.columns else {}
        own |= {"relevance": start["relevance"], "penalties": PENALTIES.tolist()}
        return [{"length_scale": factor * start["length_scale"], **own} for factor in FACTORS]
    if unit.name == "linear":
        return [{"penalty": float(penalty)} for penalty in LINEAR_PENALTIES]
    if unit.name == "boosting":
        classes = len(np.unique(part.y)) if task == "classes" else 1
        if classes > MOST_CLASSES or part.X.shape[1] > MOST_COLUMNS:
            return [LIGHT]
        return [{"learning_rate": 0.1}, *FEW] if unit.n < FEW_ROWS else [{"learning_rate": rate} for rate in RATES]
    return [{}]


def tuned(unit: Unit, parts: list[Part], task: str, start: dict | None, more: dict) -> tuple[float, dict]:
    """Return the least squared error of a contestant on the training rows, or on some of many, and its settings. A grid
    goes on as long as its last step gains. ``more`` are settings of all.
    """
    if len(parts[0].y) > FEW_TO_TUNE:
        X, y = parts[0].X, parts[0].y
        rows = recipe.sample(np.arange(len(y)), TUNED_ON)
        ((a, b),) = recipe.split(y[rows], None, task, False, share=1 / 3)
        a, b = rows[a], rows[b]
        parts = [Part(X[a], y[a], X[b], y[b], parts[0].scaled)]
    parts = parts[:1] if unit.name == "boosting" else parts  # its fits take longest, and differ least
    tried, errors = [each | more for each in candidates(unit, parts[0], task, start)], []
    if len(tried) == 1 or len(np.unique(parts[0].y)) < 2:
        return 0.0, tried[len(tried) // 2]

    def error(settings):
        found = [fit_and_score(unit.name, settings, part, len(part.y), task, "search") for part in parts]
        penalties = {"penalties": [float(np.median([each[2] for each in found]))]} if "penalties" in settings else {}
        return np.concatenate([each[0] for each in found]).mean(), settings | penalties

    def scaled(factor):
        return error(tried[0] | {"length_scale": factor * errors[best][1]["length_scale"]})

    errors = [error(each) for each in tried]
    for _ in range(MOST_STEPS):
        best = min(range(len(errors)), key=lambda j: errors[j][0])
        if not has_kernel(unit.name) or 0 < best < len(errors) - 1:
            break
        errors.insert(len(errors) if best else 0, scaled(2.0 if best else 0.5))
    finer = [scaled(factor) for factor in FINER] if has_kernel(unit.name) else []
    return min([errors[best], *finer], key=lambda each: each[0])


def fit_and_score(name: str, settings: dict, part: Part, n: int, task: str, metric: str):
    """Return the losses of the held-out rows, the seconds of fit and prediction, and the penalty that was chosen."""
    rows = recipe.sample(np.arange(len(part.y)), n) if n < len(part.y) else slice(None)
    X, y, X_held = part.X[rows], part.y[rows], part.X_held
    if has_kernel(name):
        X, X_held = map(part.scaled[settings["relevance"]].transform, (X, X_held))
    if task == "classes" and len(np.unique(y)) < len(np.unique(np.append(part.y, part.y_held))):
        raise ValueError("the training rows of a validation part lack a class")
    started = time.perf_counter()
    model = recipe.model(name, settings, task).fit(X, y)
    predicted = recipe.predicted(model, X_held, task)
    seconds = time.perf_counter() - started
    return recipe.losses(predicted, part.y_held, metric), seconds, getattr(model, "penalty_", None)


def code_identity() -> str:
    """Return a hash of the code of the library and of the versions of what computes."""
    folder = Path(random_features.__file__).parent
    code = b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))
    names = ("numpy", "scipy", "scikit-learn", "torch", "pandas")
    return sha256(code + " ".join(map(version, names)).encode()).hexdigest()


def rank(result: Result) -> tuple:
    """Return the key that orders results: the least mean loss first, of equal ones the most columns."""
    return float(f"{result.losses.mean():.9g}"), -(result.unit.columns or 0)


def steady(results: list[Result]) -> list[Result]:
    """Return results in which no map is better with fewer columns than with more, which is luck: their means are pooled
    by isotonic regression.
    """
    found = [each for each in results if not is_map(each.unit.name)]
    for name in {each.unit.name for each in results} - {each.unit.name for each in found}:
        own = sorted((each for each in results if each.unit.name == name), key=lambda each: each.unit.columns)
        means = np.array([each.losses.mean() for each in own])
        factors = isotonic_regression(means, increasing=False) / np.maximum(means, 1e-300)
        found += [each._replace(losses=each.losses * factor) for each, factor in zip(own, factors, strict=True)]
    return found


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
        found = whole + [each for each in self.results if each.unit.n < self.n_train and each.losses.mean() < least]
        return sorted(steady(found), key=rank)

    def file_of(self, unit: Unit) -> Path:
        """Return the file of a finished unit; its name is the hash of all that decides the result."""
        text = json.dumps([self.identity, self.n_train, *unit])
        return Path(self.folder or ".") / f"{sha256(text.encode()).hexdigest()[:24]}.json"

    def seal(self, unit: Unit, text: str) -> str:
        """Return the hash of the content of a finished unit: one that was edited is computed again."""
        return sha256((self.file_of(unit).name + text).encode()).hexdigest()

    def run(self, unit: Unit) -> None:
        """Tune and validate a unit, or take its result from the folder, unless its file was damaged or edited."""
        file = self.file_of(unit)
        seal, _, text = file.read_text("utf-8", errors="replace").partition("\n") if file.is_file() else ("", "", "")
        if seal != self.seal(unit, text):
            _, settings, losses, seconds = self.computed(unit)
            text = json.dumps([settings, losses.tolist(), seconds])
            if self.folder:
                write(file, f"{self.seal(unit, text)}\n{text}")
        settings, losses, seconds = json.loads(text)
        self.results.append(Result(unit, settings, np.array(losses, np.float64), seconds))

    def computed(self, unit: Unit) -> Result:
        """Return the result of a unit: maps are tuned with each number of columns; penalties are chosen anew."""
        last = self.last(unit.name)
        settings = last.settings if last else self.start if has_kernel(unit.name) else None
        if (unit.columns or 0) <= TUNED_WITH and unit.name != "exact-kernel":
            _, settings = tuned(unit, self.parts, self.task, settings, self.more)
        settings = settings | (map_settings(unit.name, unit.columns, self.task) if unit.columns else {})
        if "penalties" in settings and (unit.columns or unit.n <= MOST_HELD):
            penalties = np.clip(settings["penalties"][0] * WINDOW, PENALTIES[0], PENALTIES[-1])
            settings = settings | {"penalties": np.unique(penalties).tolist()}
        found = [fit_and_score(unit.name, settings, part, unit.n, self.task, self.metric) for part in self.parts]
        losses, seconds, penalties = zip(*found, strict=True)
        if "penalties" in settings:
            settings = settings | {"penalties": [float(np.median(penalties))]}
        return Result(unit, settings, np.concatenate(losses).astype(np.float64), float(np.mean(seconds)))

    @cached_property
    def start(self) -> dict:
        """The settings of the exact kernel with the better of two scalings of the columns, from which maps start."""
        unit = Unit("exact-kernel", self.n_train, None)
        starts = [{"relevance": each, "length_scale": 1.0} for each in range(len(self.parts[0].scaled))]
        found = [tuned(unit, self.parts, self.task, each, self.more) for each in starts]
        return min(found, key=lambda each: each[0])[1]

    def expected(self, unit: Unit) -> float:
        """Return the expected seconds of a unit from the last of its contestant; 0 for the first."""
        last = self.last(unit.name)
        if last is None:
            return 0.0
        growth = ((unit.columns or 1) / (last.unit.columns or 1)) ** COLUMN_GROWTH * (unit.n / last.unit.n) ** 2
        tuning = 2.0 if unit.columns and unit.columns <= TUNED_WITH else 1.0
        return tuning * len(self.parts) * last.seconds * growth

    def reserve(self) -> float:
        """Return the seconds that the final fits take: of the best, of the best map and of boosting."""
        opened = self.fair()[:1] + [each for each in self.fair() if is_map(each.unit.name)][:1]
        opened += [each for each in self.results if each.unit.name == "boosting"]
        return 1.5 * self.n_final / self.n_train * sum({each.unit: each.seconds for each in opened}.values())


def hold(contest: Contest, todo: list[Unit], clock: Clock) -> None:
    """Run the units that the clock affords. A contestant is out where a unit and the final fits are not expected to end
    in time, where a unit fails, or takes most of what is left. After Ctrl-C the answer comes from what is finished.
    """
    for unit in todo:
        if unit.name in contest.reasons:
            continue
        size = f"on {unit.n:,} rows" + (f" with {unit.columns:,} columns" if unit.columns else "")
        left, is_stored = clock.left() - contest.reserve(), contest.file_of(unit).is_file()
        try:
            if (contest.expected(unit) > MOST_SHARE * left or left <= 0) and not is_stored:
                raise OutOfTime("the budget does not leave the time")
            print(f"{clock.left():,.0f} s left: {unit.name} {size}", file=sys.stderr)
            stopped = OutOfTime(f"stopped after {MOST_SHARE * left:.0f} s by the budget")
            with alarm(max(left * MOST_SHARE, 60.0 if is_stored else 0.0), stopped):
                contest.run(unit)
        except (OutOfTime, ValueError, np.linalg.LinAlgError, MemoryError) as error:
            contest.reasons[unit.name] = f"not {size}: {' '.join(str(error).split())[:200]}"
        except KeyboardInterrupt:
            contest.reasons |= {each.name: INTERRUPTED for each in todo if each.name not in contest.reasons}
