"""The contest: contestants are tuned and validated in rounds of growing size, within a budget of seconds.

A *unit* is a contestant on n training rows, a map with D columns. Finished units are files, so a killed run resumes.
"""

import json
import signal
import time
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from random_features.kernels import Gaussian
from random_features.length_scales import median_distance
from random_features.maps.registry import resolve, resolved_options
from rfstudy.compare import recipe
from rfstudy.compare.contestants import BASELINES, LABELLED, MAPS, STRUCTURED
from rfstudy.compare.question import Question
from rfstudy.files import write_arrays

#: The largest number of columns of a map that depends on labels, and of data whose map is orthogonal.
MOST_LABELLED, MOST_ORTHOGONAL = 256, 4096

#: Training rows of the rounds before the one with all of them, and the columns of maps there.
ROUNDS = {1000: (64,), 5000: (256,), 30_000: (256, 1024)}
COLUMNS = (64, 128, 256, 512, 1024, 2048, 4096)

#: Rows of an exact kernel whose matrix is held (2.4 GB with its copies); with more rows it is computed in every step.
MOST_HELD = 10_000

#: Rows on which settings are chosen, and the columns of the maps that choose them.
TUNED_ON, TUNED_WITH = 4000, 512

#: Factors of the median distance, ridge penalties, penalties of linear models, and learning rates of boosting.
FACTORS = 2.0 ** np.arange(-3.0, 3.5)
PENALTIES = 10.0 ** np.arange(-9.0, 1.0)
LINEAR_PENALTIES = 10.0 ** np.arange(-2.0, 5.0)
RATES = (0.05, 0.1, 0.2)

#: Classes up to which the learning rate of boosting is tuned: each has trees of its own. With more columns than this
#: it has fewer trees and bins.
MOST_TUNED_CLASSES, MANY_COLUMNS = 5, 500
LIGHT = {"learning_rate": 0.2, "max_iter": 100, "max_bins": 63}

#: Training rows from which one validation part replaces folds; and its share.
ONE_PART, PART_SHARE = 20_000, 0.25

#: Numbers of the encoded table that are held: 1 GB in float32. Above that rows are drawn.
MOST_NUMBERS = 250_000_000

#: Operations per second that are assumed before anything was measured; seconds of the overhead of a fit, and of the
#: report; products with the matrix of an exact kernel that is not held.
SPEED, OVERHEAD, REPORT_SECONDS, STEPS = 2e10, 0.05, 6.0, 60

#: The share of the budget after which the first fits of a contestant are stopped.
FIRST_SHARE = 0.2

#: The reason of what did not run after Ctrl-C.
INTERRUPTED = "interrupted"


class OutOfTime(Exception):
    """A fit was stopped because its time is over."""


@contextmanager
def stopped_after(seconds: float):
    """Raise ``OutOfTime`` inside the block after so many seconds."""

    def stop(number, frame):
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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
    """A budget of seconds, with what fits took so far in multiples of what was expected."""

    def __init__(self, budget: float, started: float | None = None):
        self.budget, self.end = budget, (time.monotonic() if started is None else started) + budget
        self.factors: dict[str, float] = {}

    def left(self) -> float:
        """Return the seconds that are left."""
        return self.end - time.monotonic()

    def learn(self, result: Result, parts: list[Part]) -> None:
        """Correct the expectation of a contestant by the seconds of the fits of a result."""
        factor = result.seconds / np.mean([model_seconds(result.unit, part) for part in parts])
        most = 2.0 if result.seconds < 0.3 else None  # short fits measure little
        self.factors[result.unit.name] = float(np.clip(factor, 0.2, most))


def model_seconds(unit: Unit, part: Part) -> float:
    """Return the seconds of a fit and its predictions by counting operations."""
    d, held = part.X.shape[1], len(part.y_held)
    n, D = unit.n, unit.columns or 0
    stored = max(1, part.X.nnz // part.X.shape[0]) if issparse(part.X) else d
    outputs = outputs_of(part.y)
    if unit.name == "guess":
        work = n
    elif unit.name == "linear":
        work = 200.0 * n * stored * outputs
    elif unit.name == "boosting":  # a tree takes 0.3 ms, and time for rows and for 31 leaves
        trees = boosting_settings(d, outputs)[-1]
        leaves = 31.0 * 50 * d * trees.get("max_bins", 255)
        work = trees.get("max_iter", 300) * outputs * (0.0003 * SPEED + 4.0 * n * d + leaves)
    elif unit.name == "exact-kernel":
        work = (n + held) * n * (2 * stored + 40) + float(n) ** 3
        if unit.n > MOST_HELD:
            work = (STEPS * n + held) * n * (2.0 * d + 40)
    else:
        few = min(n, D)
        read = d if unit.name in ("nystroem", *STRUCTURED) else stored  # they need dense rows
        work = (3 * n + held) * (D * (2 * stored + 60) + 100 * read) + 2.0 * n * D * few + 8.0 * few**3
        work *= 2 if unit.name == "nystroem" else 1
    return OVERHEAD + work / SPEED


def boosting_settings(d: int, outputs: int) -> list[dict]:
    """Return the settings among which boosting is tuned, for d columns and a number of classes."""
    if d > MANY_COLUMNS:
        return [LIGHT]
    return [{"learning_rate": rate} for rate in (RATES if outputs <= MOST_TUNED_CLASSES else RATES[1:2])]


def outputs_of(y) -> int:
    """Return the number of functions that are learned: one per class, or one for two classes and for a regression."""
    classes = 1 if y.dtype.kind == "f" else len(np.unique(y[:5000]))
    return classes if classes > 2 else 1


def validation_parts(question: Question, rows) -> tuple[list[Part], np.ndarray]:
    """Return the validation parts of some rows, encoded by their own training rows, and the groups of held-out rows."""
    task, in_time = question.settings["task"], bool(question.settings["time"])
    groups = None if question.groups is None else question.groups[rows]
    y = question.y[rows]
    if len(rows) >= ONE_PART:
        cuts = recipe.split(y, groups, task, in_time, share=PART_SHARE)
        cuts = [(train, recipe.sample(test, recipe.MOST_TEST_ROWS)) for train, test in cuts]
    else:
        cuts = recipe.split(y, groups, task, in_time, folds=3 if len(rows) >= recipe.FEW_ROWS else 5)
    parts = []
    for train, held in cuts:
        few = recipe.sample(train, 1000)
        encoder = recipe.encoder(question.settings["columns"])
        width = encoder.fit_transform(recipe.rows_of(question.table, rows[few])).shape[1]
        if not issparse(question.table):
            train = recipe.sample(train, max(1000, MOST_NUMBERS // width - len(held)))
        X = encoder.fit_transform(recipe.rows_of(question.table, rows[train]))
        X_held = encoder.transform(recipe.rows_of(question.table, rows[held]))
        parts.append(Part(X, y[train], X_held, y[held]))
    held = np.concatenate([held for _, held in cuts])
    return parts, np.arange(len(held)) if groups is None else groups[held]


def contestants(part: Part, asked=()) -> tuple[list[str], dict[str, str]]:
    """Return the contestants for some data, and the reasons for which others do not run."""
    d, left_out = part.X.shape[1], {}
    names = [*BASELINES, *MAPS]
    names.append(fastest_structured(d))
    names += [name for name in asked if name not in names]
    if issparse(part.X):
        left_out["boosting"] = f"it needs a dense table, and this one has {d:,} columns"
    if d > MOST_ORTHOGONAL:
        left_out["orf"] = f"its fit takes O(s d^2), and d is {d:,}"
        left_out["qmc"] = f"sequences in {d:,} dimensions are not better than random ones"
    return [name for name in names if name not in left_out], left_out


def fastest_structured(d: int) -> str:
    """Return the structured map that transforms rows of d columns in the least time."""
    X = np.random.default_rng(0).standard_normal((256, min(d, 4096)), dtype=np.float32)
    seconds = {}
    for name in STRUCTURED:
        fitted = recipe.make_map(name, Gaussian(1.0), n_components=512, random_state=0).fit(X)
        fitted.transform(X)
        started = time.perf_counter()
        for _ in range(3):
            fitted.transform(X)
        seconds[name] = time.perf_counter() - started
    return min(seconds, key=seconds.get)


def units(names: list[str], n_train: int, most_columns: int) -> list[Unit]:
    """Return the units of a contest in the order of its rounds: few rows first, then all rows with more columns, and at
    last the exact kernel on more rows than its matrix can have.
    """
    rounds = [(n, columns) for n, columns in ROUNDS.items() if 1.5 * n < n_train] + [(n_train, COLUMNS)]
    found = {}
    for n, columns in rounds:
        for D in [D for D in columns if min(most_columns, n) >= D] or [min(most_columns, n)]:
            for name in names:
                if name in BASELINES:
                    found[Unit(name, min(n, MOST_HELD) if name == "exact-kernel" else n, None)] = None
                elif name not in LABELLED or D <= MOST_LABELLED:
                    found[Unit(name, n, D)] = None
    return [*found, *(Unit("exact-kernel", n, None) for n, _ in rounds if n > MOST_HELD)]


def map_settings(name: str, columns: int, task: str) -> dict:
    """Return the number of frequencies and the options with which a map has a number of columns."""
    canonical, options = resolve(name)
    options = dict(options)
    known = resolved_options(name, {})
    per_frequency = 2 if known.get("layout") == "cos_sin" else 1
    if "task" in known:
        options["task"] = recipe.TASK_NAMES[task]
    if canonical == "nystroem" and "landmarks" in known:
        options["landmarks"] = "rpcholesky"
    return {"n_components": max(1, columns // per_frequency), "options": options}


def candidates(unit: Unit, part: Part, previous: dict | None, task: str) -> list[dict]:
    """Return the settings among which a contestant is tuned: a grid, later the neighbours of what was chosen."""
    if unit.name == "guess":
        return [{}]
    if unit.name == "linear":
        return [{"penalty": float(penalty)} for penalty in LINEAR_PENALTIES]
    if unit.name == "boosting":
        return boosting_settings(part.X.shape[1], outputs_of(part.y))
    if previous:
        length_scales = previous["length_scale"] * 2.0 ** np.array([-1, -0.5, 0, 0.5, 1])
    else:
        length_scales = FACTORS * scale_of(part.X)
    own = map_settings(unit.name, min(unit.columns, TUNED_WITH), task) if unit.columns else {}
    return [{"length_scale": float(each), "penalties": PENALTIES.tolist(), **own} for each in length_scales]


def scale_of(X) -> float:
    """Return the median distance between rows, or 1 where most rows are equal."""
    try:
        return median_distance(X, np.random.default_rng(0), 1000)
    except ValueError:
        return 1.0


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
    best = int(values.mean(axis=1).argmin())
    edges = []
    if previous is None and best in (0, len(tried) - 1):
        gain = values[1 if best == 0 else -2] - values[best]
        if gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)):
            key = next(key for key in tried[0] if tried[0][key] != tried[-1][key])
            edges.append(f"{key.replace('_', ' ')} {tried[best][key]:.3g}")
    settings = tried[best]
    if "penalties" in settings:
        settings = settings | {"penalties": [found[best][2]]}
    return settings, edges


def fit_and_score(name: str, settings: dict, part: Part, n: int, task: str):
    """Return the losses of the held-out rows, the seconds of fit and prediction, and the penalty that was chosen."""
    rows = recipe.sample(np.arange(len(part.y)), n)
    X, y = (part.X, part.y) if len(rows) == len(part.y) else (part.X[rows], part.y[rows])
    started = time.perf_counter()
    model = recipe.model(name, settings, task).fit(X, y)
    predicted = model.predict(part.X_held)
    seconds = time.perf_counter() - started
    return recipe.losses(predicted, part.y_held, task), seconds, getattr(model, "penalty_", None)


class Contest:
    """The state of a contest: its data, the results so far and the folder of finished units."""

    def __init__(self, question: Question, rows, folder=None, identity: str = ""):
        self.task = question.settings["task"]
        started = time.perf_counter()
        self.parts, self.groups = validation_parts(question, rows)
        self.encoding = (time.perf_counter() - started) / len(self.parts)
        self.n_final, self.final_fits = len(rows), recipe.FEW_FOLDS if len(rows) < recipe.FEW_ROWS else 1
        self.folder, self.identity = folder and Path(folder), identity
        self.results: list[Result] = []
        self.failures: dict[str, str] = {}

    @property
    def n_train(self) -> int:
        """Return the training rows of a validation part."""
        return min(len(part.y) for part in self.parts)

    def file_of(self, unit: Unit) -> Path:
        """Return the file of a finished unit; its name is the hash of all that decides the result."""
        text = json.dumps([self.identity, self.n_train, *unit])
        return self.folder / f"{sha256(text.encode()).hexdigest()[:24]}.npz"

    def run(self, unit: Unit, clock: Clock) -> None:
        """Tune and validate a unit, or take its result from the folder."""
        result = self.stored(unit)
        if result is None:
            result = self.computed(unit)
            if self.folder:
                record = json.dumps([result.settings, result.seconds, result.edges])
                write_arrays({"losses": result.losses, "record": np.array(record)}, self.file_of(unit), sync=False)
        clock.learn(result, self.parts)
        self.results.append(result)

    def stored(self, unit: Unit) -> Result | None:
        """Return the result of a unit that an earlier run finished."""
        if not self.folder or not self.file_of(unit).is_file():
            return None
        with np.load(self.file_of(unit), allow_pickle=False) as arrays:
            settings, seconds, edges = json.loads(str(arrays["record"]))
            return Result(unit, settings, arrays["losses"], seconds, edges)

    def last(self, name: str) -> Result | None:
        """Return the last result of a contestant."""
        return next((each for each in reversed(self.results) if each.unit.name == name), None)

    def is_tuned(self, unit: Unit) -> bool:
        """Return whether a unit tunes its settings: the first one, and again with more rows."""
        last = self.last(unit.name)
        return last is None or (last.unit.n < unit.n and last.unit.n < TUNED_ON)

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
            window = 10.0 ** np.arange(-1, 0.5, 0.5 if unit.name != "exact-kernel" else 1.0)
            penalties = np.clip(settings["penalties"][0] * np.append(0.01, window), PENALTIES[0], PENALTIES[-1])
            settings = settings | {"penalties": np.unique(penalties).tolist()}
        found = [fit_and_score(unit.name, settings, part, unit.n, self.task) for part in self.parts]
        if "penalties" in settings:
            settings = settings | {"penalties": [float(np.median([penalty for _, _, penalty in found]))]}
        losses = np.concatenate([each for each, _, _ in found])
        return Result(unit, settings, losses, float(np.mean([seconds for _, seconds, _ in found])), edges)

    def final(self) -> list[Result]:
        """Return for each contestant and number of columns the result with the most rows."""
        latest = {}
        for result in sorted(self.results, key=lambda result: result.unit.n):
            latest[result.unit.name, result.unit.columns] = result
        return list(latest.values())

    def expected(self, unit: Unit, clock: Clock) -> float:
        """Return the expected seconds of a unit with its tuning."""
        seconds = sum(model_seconds(unit, part) for part in self.parts)
        if self.is_tuned(unit):
            few = Unit(unit.name, 2 * min(unit.n, TUNED_ON) // 3, unit.columns and min(unit.columns, TUNED_WITH))
            outputs = outputs_of(self.parts[0].y)
            fits = {"guess": 0, "boosting": len(boosting_settings(self.parts[0].X.shape[1], outputs)) % len(RATES)}
            seconds += fits.get(unit.name, len(FACTORS)) * model_seconds(few, self.parts[0])
        return clock.factors.get(unit.name, 1.0) * seconds

    def rows_of_fit(self, unit: Unit) -> int | None:
        """Return the training rows of the final fit: None for all, or those of a unit that had not all of them."""
        if unit.n < self.n_train:
            return unit.n
        return MOST_HELD if unit.name == "exact-kernel" and unit.n <= MOST_HELD else None

    def final_seconds(self, unit: Unit, clock: Clock) -> float:
        """Return the expected seconds of the final fit of a unit, with the encoding of its rows."""
        part = self.parts[0]
        n = min(self.rows_of_fit(unit) or self.n_final, self.n_final)
        encoding = self.encoding * (n + len(part.y_held)) / (len(part.y) + len(part.y_held))
        fit = clock.factors.get(unit.name, 1.0) * model_seconds(unit._replace(n=n), part)
        return self.final_fits * (encoding + fit)

    def reserve(self, clock: Clock, unit: Unit | None = None) -> float:
        """Return the seconds that the report and the final fits take: of the best, of the best map, and of a unit."""
        ranked = [each.unit for each in sorted(self.final(), key=lambda result: result.losses.mean())]
        opened = {unit, *ranked[:1], *[each for each in ranked if is_map(each.name)][:1]}
        return REPORT_SECONDS + 1.2 * sum(self.final_seconds(each, clock) for each in opened if each)


def hold(contest: Contest, todo: list[Unit], clock: Clock, progress=lambda unit: None, free=0.0) -> dict[Unit, str]:
    """Run the units that the clock affords; return the reasons for which others did not run.

    A unit runs if it, the final fits and the report are expected to end in time, or if it takes less than ``free``
    seconds. One that takes longer is stopped: the first fits of a contestant after a share of the budget. A contestant
    that fails is left out. Ctrl-C ends the contest, and what is finished is answered from.
    """
    skipped = {}
    try:
        for unit in todo:
            if unit.name in contest.failures:
                skipped[unit] = contest.failures[unit.name]
                continue
            first = contest.last(unit.name) is None
            expected, most = contest.expected(unit, clock), clock.left() - contest.reserve(clock, unit)
            most = max(free, min(most, FIRST_SHARE * clock.budget) if first else most)
            if not contest.stored(unit) and expected > most * (3 if first else 0.8):
                skipped[unit] = f"it takes about {expected:.0f} s, which the budget does not leave"
                continue
            progress(unit)
            try:
                with stopped_after(most):
                    contest.run(unit, clock)
            except OutOfTime:
                contest.failures[unit.name] = f"stopped after {most:.0f} s: the budget does not leave more"
            except (ValueError, np.linalg.LinAlgError, MemoryError) as error:
                contest.failures[unit.name] = " ".join(str(error).split())[:200]
    except KeyboardInterrupt:
        done = {result.unit for result in contest.results}
        skipped |= {unit: INTERRUPTED for unit in todo if unit not in done and unit not in skipped}
    return skipped


def is_map(name: str) -> bool:
    """Return whether a contestant is a feature map."""
    return name not in BASELINES
