"""The contest: contestants are tuned and validated in rounds of growing size, within a budget of seconds.

A *unit* is a contestant on n training rows, a map with D columns. Finished units are files, so a killed run resumes.
"""

import json
import time
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from random_features.kernels import Gaussian
from random_features.length_scales import median_distance
from random_features.maps.registry import resolve, resolved_options
from rfstudy.compare import recipe
from rfstudy.compare.contestants import BASELINES, MAPS, STRUCTURED
from rfstudy.compare.question import Question
from rfstudy.files import write_arrays

#: The largest number of columns of a map that depends on labels, and of data whose map is orthogonal.
MOST_LABELLED, MOST_ORTHOGONAL = 256, 4096

#: Training rows of the rounds before the one with all of them, and the columns of maps there.
ROUNDS = {1000: (64,), 5000: (256,), 30_000: (256, 1024)}
COLUMNS = (64, 128, 256, 512, 1024, 2048, 4096)

#: Rows of an exact kernel: its matrix and its copies take 2.4 GB.
MOST_EXACT = 10_000

#: Rows on which settings are chosen, and the columns of the maps that choose them.
TUNED_ON, TUNED_WITH = 4000, 512

#: Factors of the median distance, ridge penalties, and penalties of linear models.
FACTORS = 2.0 ** np.arange(-3.0, 3.5)
PENALTIES = 10.0 ** np.arange(-9.0, 1.0)
LINEAR_PENALTIES = 10.0 ** np.arange(-2.0, 5.0)
RATES = (0.05, 0.1, 0.2)

#: Classes up to which the learning rate of boosting is tuned: each has trees of its own.
MOST_TUNED_CLASSES = 5

#: Training rows from which one validation part replaces folds; and its share.
ONE_PART, PART_SHARE = 20_000, 0.25

#: The units that are tuned take so many times as long as their fits.
TUNING = 4.0

#: Numbers of the encoded table that are held: 1 GB in float32. Above that rows are drawn.
MOST_NUMBERS = 250_000_000

#: Operations per second that are assumed before anything was measured; seconds of the overhead of a fit, and of the
#: final score with the report.
SPEED, OVERHEAD, REPORT_SECONDS = 2e10, 0.05, 8.0


#: The reason of what did not run after Ctrl-C.
INTERRUPTED = "interrupted"


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
        self.end = (time.monotonic() if started is None else started) + budget
        self.factors: dict[str, float] = {}

    def left(self) -> float:
        """Return the seconds that are left."""
        return self.end - time.monotonic()

    def expected(self, unit: Unit, parts: list[Part]) -> float:
        """Return the expected seconds of a unit."""
        tuning = TUNING if unit.n <= 5000 else 1.0
        return tuning * self.factors.get(unit.name, 1.0) * sum(model_seconds(unit, part) for part in parts)

    def learn(self, unit: Unit, parts: list[Part], seconds: float) -> None:
        """Correct the expectation of a contestant by the seconds that the fits of a unit took, without tuning."""
        factor = seconds / sum(model_seconds(unit, part) for part in parts)
        self.factors[unit.name] = float(np.clip(factor, 0.2, 2.0 if seconds < 1 else None))  # short fits measure little


def model_seconds(unit: Unit, part: Part) -> float:
    """Return the seconds of a fit and its predictions by counting operations."""
    d, held = part.X.shape[1], len(part.y_held)
    n, D = min(unit.n, len(part.y)), unit.columns or 0
    if issparse(part.X):
        d = max(1, part.X.nnz // part.X.shape[0])
    outputs = 1 if part.y.dtype.kind == "f" else max(1, len(np.unique(part.y[:5000])))
    if unit.name == "guess":
        work = n
    elif unit.name == "linear":
        work = 200.0 * n * d * outputs
    elif unit.name == "boosting":
        work = 1200.0 * n * d * outputs + 0.001 * 300 * outputs * SPEED  # one millisecond per tree
    elif unit.name == "exact-kernel":
        work = n**2 * (2 * d + 40) + n**3 + held * n * (2 * d + 40)
    else:
        few = min(n, D)
        work = (3 * n + held) * D * (2 * d + 60) + 2.0 * n * D * few + 8.0 * few**3
        work *= 2 if unit.name == "nystroem" else 1
    return OVERHEAD + work / SPEED


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
    """Return the units of a contest in the order of its rounds: few rows first, then all rows with more columns."""
    rounds = [(n, columns) for n, columns in ROUNDS.items() if 1.5 * n < n_train] + [(n_train, COLUMNS)]
    found = {}
    for n, columns in rounds:
        for D in [D for D in columns if min(most_columns, n) >= D] or [min(most_columns, n)]:
            for name in names:
                if name == "exact-kernel":
                    found[Unit(name, min(n, MOST_EXACT), None)] = None
                elif name in BASELINES:
                    found[Unit(name, n, None)] = None
                elif name not in ("kprff", "karff", "lkrf", "eerf") or D <= MOST_LABELLED:
                    found[Unit(name, n, D)] = None
    return list(found)


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


def candidates(name: str, part: Part, previous: dict | None, columns: int | None, task: str) -> list[dict]:
    """Return the settings among which a contestant is tuned: a grid, later the neighbours of what was chosen."""
    if name == "guess":
        return [{}]
    if name == "linear":
        return [{"penalty": float(penalty)} for penalty in LINEAR_PENALTIES]
    if name == "boosting":
        many = part.y.dtype.kind == "i" and len(np.unique(part.y)) > MOST_TUNED_CLASSES
        return [{"learning_rate": rate} for rate in (RATES[1:2] if many else RATES)]
    if previous:
        length_scales = previous["length_scale"] * 2.0 ** np.array([-1, -0.5, 0, 0.5, 1])
    else:
        length_scales = FACTORS * scale_of(part.X)
    own = {} if name == "exact-kernel" else map_settings(name, columns, task)
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
    D = unit.columns and min(unit.columns, TUNED_WITH)
    tried = candidates(unit.name, few, previous, D, task)
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
        self.parts, self.groups = validation_parts(question, rows)
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
        """Tune and validate a unit, or take its result from the folder; a contestant that fails is noted."""
        result = self.stored(unit)
        if result is None:
            try:
                result = self.computed(unit)
            except (ValueError, np.linalg.LinAlgError, MemoryError) as error:
                self.failures[unit.name] = " ".join(str(error).split())[:200]
                return
            clock.learn(unit, self.parts, result.seconds * len(self.parts))
            if self.folder:
                record = json.dumps([result.settings, result.seconds, result.edges])
                write_arrays({"losses": result.losses, "record": np.array(record)}, self.file_of(unit), sync=False)
        else:
            clock.learn(unit, self.parts, result.seconds * len(self.parts))
        self.results.append(result)

    def stored(self, unit: Unit) -> Result | None:
        """Return the result of a unit that an earlier run finished."""
        if not self.folder or not self.file_of(unit).is_file():
            return None
        with np.load(self.file_of(unit), allow_pickle=False) as arrays:
            settings, seconds, edges = json.loads(str(arrays["record"]))
            return Result(unit, settings, arrays["losses"], seconds, edges)

    def computed(self, unit: Unit) -> Result:
        """Return the result of a unit: settings are tuned at first and again with more rows, penalties always."""
        earlier = [each for each in self.results if each.unit.name == unit.name]
        last = earlier[-1] if earlier else None
        edges = last.edges if last else []
        if last is None or (last.unit.n < unit.n and last.unit.n < TUNED_ON):
            kernel = unit.name not in ("guess", "linear", "boosting")
            settings, new = tuned(unit, self.parts[0], self.task, last.settings if last and kernel else None)
            edges = new if last is None or not kernel else edges
        else:
            settings = last.settings
        if unit.columns:
            settings = settings | map_settings(unit.name, unit.columns, self.task)
        if "penalties" in settings:
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

    def affordable(self, unit: Unit, clock: Clock) -> bool:
        """Return whether a unit can be finished, and the final score computed, in the time that is left."""
        expected = clock.expected(unit, self.parts)
        best = min(self.results, key=lambda result: result.losses.mean()).seconds if self.results else 0.0
        return 1.2 * expected + 1.5 * max(expected / len(self.parts), best) + REPORT_SECONDS < clock.left()


def hold(contest: Contest, todo: list[Unit], clock: Clock, progress=lambda unit: None, free=0.0) -> dict[Unit, str]:
    """Run the units that the clock affords; return the reasons for which others did not run.

    Those that are expected to take less than ``free`` seconds always run.

    Ctrl-C ends the contest, and what is finished is answered from.
    """
    skipped = {}

    def expected(unit):
        return clock.expected(unit, contest.parts)

    try:
        for unit in todo:
            if unit.name in contest.failures:
                skipped[unit] = contest.failures[unit.name]
            elif contest.stored(unit) or expected(unit) < free or contest.affordable(unit, clock):
                progress(unit)
                contest.run(unit, clock)
            else:
                skipped[unit] = f"it takes about {expected(unit):.0f} s, which the budget does not leave"
    except KeyboardInterrupt:
        done = {result.unit for result in contest.results}
        skipped |= {unit: INTERRUPTED for unit in todo if unit not in done and unit not in skipped}
    return skipped


def is_map(name: str) -> bool:
    """Return whether a contestant is a feature map."""
    return name not in BASELINES
