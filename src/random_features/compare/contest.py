"""The contest: contestants are tuned and validated on the same rows, within a budget of seconds.

A *unit* is a contestant, a map with D columns, on n training rows: on all of them, but for an exact kernel whose matrix
would not be held. Finished units are files, so a killed run resumes.
"""

import json
import sys
import time
from collections import namedtuple
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.sparse import issparse
from sklearn.isotonic import isotonic_regression

import random_features
from random_features.alarm import alarm
from random_features.compare import recipe
from random_features.compare.contestants import BASELINES, LABELLED, MAPS, has_kernel, is_map
from random_features.compare.question import Question
from random_features.errors import UserError
from random_features.machines import MOST_HELD
from random_features.maps.registry import resolve, resolved_options

#: The largest number of columns of a map that depends on labels, and of data whose map is orthogonal.
MOST_LABELLED, MOST_ORTHOGONAL = 256, 4096

#: Columns of maps. The exact kernel runs before those from ``EXACT_FIRST`` on.
COLUMNS, EXACT_FIRST = (64, 128, 256, 512, 1024, 2048, 4096), 512

#: The most training and held-out rows on which settings are chosen, rows that find the settings from which this starts,
#: and the most columns of the maps that choose them.
TUNED_ON, TUNED_HELD, START_ON, TUNED_WITH = 2700, 1300, 1000, 1024

#: Training rows up to which all validation parts choose settings: one of them would choose at random.
FEW_TO_TUNE = 2000

#: The most settings that a search tries.
MOST_TRIED = 12

#: Ridge penalties, and those around the best with all rows.
PENALTIES, WINDOW = 10.0 ** np.arange(-9.0, 1.0), 10.0 ** np.arange(-1.5, 1.0, 0.5)

#: Settings of boosting. Early stopping holds back rows: on fewer than ``FEW_ROWS`` some trees without it compete, too.
FEW_ROWS = 10_000
TREES = ({"learning_rate": 0.1}, {"max_iter": 100, "early_stopping": False},
         {"max_iter": 300, "learning_rate": 0.05, "early_stopping": False})  # fmt: skip

#: Classes and columns from which boosting has one learning rate and fewer bins: each class has trees of its own.
MOST_CLASSES, MOST_COLUMNS, LIGHT = 5, 500, ({"learning_rate": 0.2, "max_bins": 63},)

#: Training rows from which one validation part replaces folds, its share, and the folds of fewer than 1,000 rows.
ONE_PART, PART_SHARE, FOLDS, MANY_FOLDS = 20_000, 0.25, 3, 5

#: Numbers of the encoded table that are held: 1 GB in float32. Above that rows are drawn, for all contestants, at least
#: as many as tell its width.
MOST_NUMBERS, WIDTH_ROWS = 250_000_000, 1000

#: Numbers of a sparse table that are dense for boosting, which takes 10 to 20 seconds for as many.
MOST_DENSE = 25_000_000

#: The power of the columns with which the seconds of a map grow, and the largest share of what is left for one unit.
COLUMN_GROWTH, MOST_SHARE = 1.3, 0.6


class OutOfTime(Exception):
    """A fit was stopped because its time is over."""


#: One validation part: encoded training rows with their targets, held-out ones, and two scalings of the columns.
Part = namedtuple("Part", "X y X_held y_held scaled")

#: A contestant on n training rows; a map with a number of columns (else None).
Unit = namedtuple("Unit", "name n columns")

#: The result of a unit: its settings, the loss of every held-out row, and seconds of a fit with prediction.
Result = namedtuple("Result", "unit settings losses seconds")


def validation_parts(question: Question, rows) -> tuple[list[Part], np.ndarray]:
    """Return the validation parts of some rows, encoded by their own training rows, and the groups of held-out rows.

    A part whose training rows have one class of two rows or more, or whose held-out rows have one where a metric ranks,
    is left out.
    """
    y, groups = question.y[rows], None if question.groups is None else question.groups[rows]
    how = {"share": PART_SHARE} if len(rows) >= ONE_PART else {"folds": FOLDS if len(rows) >= 1000 else MANY_FOLDS}
    encoder, parts, held_groups = recipe.encoder(question.settings), [], []

    def encoded(by, some):
        return by(recipe.rows_of(question.table, rows[some]), y[some])

    for train, held in recipe.split(y, groups, recipe.times_of(question.table, question.settings, rows), **how):
        held = recipe.sample(held, recipe.MOST_TEST_ROWS)
        ranked = question.settings["metric"] in recipe.RANKED and len(set(y[held])) < 2
        if question.settings["classes"] and (ranked or np.sort(np.bincount(y[train], minlength=2))[-2] < 2):
            continue
        if len(train) > WIDTH_ROWS and not issparse(question.table):
            width = encoded(encoder.fit_transform, recipe.sample(train, WIDTH_ROWS)).shape[1]
            train = recipe.sample(train, max(WIDTH_ROWS, MOST_NUMBERS // width - len(held)))
        X, X_held = encoded(encoder.fit_transform, train), encoded(lambda table, _: encoder.transform(table), held)
        scaled = [recipe.Scaled(each).fit(X, y[train]) for each in (False, True)[: 1 if issparse(X) else 2]]
        parts.append(Part(X, y[train], X_held, y[held], scaled))
        held_groups.append(held if groups is None else groups[held])
    if not parts:
        raise UserError("--time or --group leaves no rows or one class in every part of validation: name another")
    return parts, np.concatenate(held_groups)


def contestants(part: Part, asked=()) -> tuple[list[str], dict[str, str]]:
    """Return the contestants for some data, and the reasons for which others do not run."""
    d, left_out = part.X.shape[1], {}
    if issparse(part.X) and part.X.shape[0] * d > MOST_DENSE:
        left_out["boosting"] = f"it needs a dense table, and this one has {d:,} columns of {part.X.shape[0]:,} rows"
    if d > MOST_ORTHOGONAL:
        left_out |= dict.fromkeys(("orf", "qmc"), f"it does not gain with {d:,} columns, or takes O(s d^2)")
    names = dict.fromkeys([*BASELINES, *MAPS, *asked])
    return [name for name in names if name not in left_out], left_out


def units(names, n_train: int, most_columns: int) -> list[Unit]:
    """Return all units in their order: baselines, then maps with more and more columns; the exact kernel on rows whose
    matrix is held before the wide maps, and last on all rows.
    """
    most = min(most_columns, n_train)
    tried = [D for D in COLUMNS if most >= D] or [most]
    planned = [Unit(name, n_train, D) for D in tried for name in names
               if is_map(name) and (name not in LABELLED or D <= MOST_LABELLED)]  # fmt: skip
    if "exact-kernel" in names:
        place = next((j for j, unit in enumerate(planned) if unit.columns >= EXACT_FIRST), len(planned))
        planned.insert(place, Unit("exact-kernel", min(n_train, MOST_HELD), None))
        planned += [Unit("exact-kernel", n_train, None)] * (n_train > MOST_HELD)
    return [*(Unit(name, n_train, None) for name in names if not has_kernel(name)), *planned]


def map_settings(name: str, columns: int) -> dict:
    """Return the number of frequencies and the options with which a map has a number of columns."""
    canonical, options = resolve(name)
    own = options | ({"landmarks": "rpcholesky"} if canonical == "nystroem" else {})
    per_frequency = 2 if resolved_options(name, {}).get("layout") == "cos_sin" else 1
    return {"n_components": max(1, columns // per_frequency), "options": own}


def code_identity() -> str:
    """Return a hash of the code of the library and of the versions of what computes."""
    code = b"".join(path.read_bytes() for path in sorted(Path(random_features.__file__).parent.rglob("*.py")))
    names = ("numpy", "scipy", "scikit-learn", "torch", "pandas")
    return sha256(code + " ".join(map(version, names)).encode()).hexdigest()


def rank(result: Result) -> tuple:
    """Return the key that orders results: the least mean loss first, of equal ones the most columns."""
    return float(f"{result.losses.mean():.9g}"), -(result.unit.columns or 0)


def steady(results: list[Result]) -> list[Result]:
    """Return results in which no map is better with fewer columns than with more, which is luck: the losses of such
    results are averaged, row by row, where isotonic regression pools their means.
    """
    found = [each for each in results if not is_map(each.unit.name)]
    for name in dict.fromkeys(each.unit.name for each in results if is_map(each.unit.name)):
        own = sorted((each for each in results if each.unit.name == name), key=lambda each: each.unit.columns)
        losses = np.array([each.losses for each in own])
        pooled = isotonic_regression(losses.mean(axis=1), increasing=False)
        found += [one._replace(losses=losses[pooled == each].mean(0)) for one, each in zip(own, pooled, strict=True)]
    return found


def descended(error, start: dict, key: str, factor: float = 10.0) -> dict:
    """Return the settings with the least ``error`` when one of them is multiplied by powers of a factor: in steps as
    long as they gain, then in half of them.
    """
    tried, best, step = {}, 0.0, 1.0
    while step >= 0.5 and len(tried) < MOST_TRIED:
        for each in (best, best - step, best + step):
            tried[each] = tried.get(each) or error(start | {key: start[key] * factor**each})
        before, best = best, min(tried, key=lambda each: tried[each][0])
        step = step / 2 if best == before else step
    return tried[best][1]


class Contest:
    """The state of a contest: its data, the results so far, the folder of finished units, and the contestants that are
    out, with the reasons.
    """

    def __init__(self, question: Question, rows, folder: Path):
        self.task, self.metric, self.classes = (question.settings[key] for key in ("task", "metric", "classes"))
        self.has_order = question.groups is not None or bool(question.settings["time"])
        self.more = {"class_weight": "balanced"} if self.metric == "balanced-error" else {}
        self.folder, self.identity = folder, code_identity() + json.dumps(question.settings, default=str)
        started = time.perf_counter()
        self.parts, self.groups = validation_parts(question, rows)
        self.seconds = (time.perf_counter() - started) / len(self.parts)  # to encode the columns
        self.folder.mkdir(parents=True, exist_ok=True)
        self.n_train = min(len(part.y) for part in self.parts)
        most = MOST_NUMBERS // self.parts[0].X.shape[1] - recipe.MOST_TEST_ROWS
        self.n_final = len(rows) if issparse(question.table) else min(len(rows), max(WIDTH_ROWS, most))
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
        return self.folder / f"{sha256(text.encode()).hexdigest()[:24]}.json"

    def run(self, unit: Unit) -> None:
        """Tune and validate a unit, or take its result from the folder, unless its file was damaged or edited."""
        file = self.file_of(unit)
        seal, _, text = file.read_text("utf-8", errors="replace").partition("\n") if file.is_file() else ("", "", "")
        if seal != sha256((file.name + text).encode()).hexdigest():
            text = json.dumps(self.computed(unit))
            file.write_text(f"{sha256((file.name + text).encode()).hexdigest()}\n{text}", "utf-8")
        settings, losses, seconds = json.loads(text)
        self.results.append(Result(unit, settings, np.array(losses, np.float64), seconds))

    def computed(self, unit: Unit) -> tuple[dict, list[float], float]:
        """Return the settings, the losses and the seconds of a unit: maps are tuned with each number of columns;
        penalties are chosen anew.
        """
        last = self.last(unit.name)
        settings = last.settings if last else self.start if has_kernel(unit.name) else self.more
        settings = settings | (map_settings(unit.name, unit.columns) if unit.columns else {})
        if unit.name == "guess":
            settings = {"words": "the mean" if self.task == "regression" else "the majority class"}
        elif not last or (unit.columns or np.inf) <= TUNED_WITH:
            settings = self.tuned(unit.name, settings)
        if "penalties" in settings and (self.n_train <= FEW_TO_TUNE or self.has_order):
            settings = descended(lambda by: self.error(unit.name, by, self.parts, unit.n), settings, "penalties")
        elif "penalties" in settings and (unit.columns or unit.n <= MOST_HELD):
            penalties = np.clip(settings["penalties"] * WINDOW, PENALTIES[0], PENALTIES[-1])
            settings = settings | {"penalties": np.unique(penalties).tolist()}
        _, settings, losses, seconds = self.error(unit.name, settings, self.parts, unit.n, metric=self.metric)
        return settings, losses.astype(np.float64).tolist(), seconds

    def error(self, name: str, settings: dict, parts, most: int, n_held: int | None = None, metric: str = "search"):
        """Return the mean loss of held-out rows after fits to at most so many; the settings, in which a kernel machine
        has chosen among its penalties; the loss of each row; and the mean seconds of a fit.
        """
        found = [self.scored(name, settings, part, most, n_held, metric) for part in parts]
        of_parts, seconds, penalties = zip(*found, strict=True)
        losses = np.concatenate(of_parts)
        chosen = {"penalties": float(np.median(penalties))} if has_kernel(name) else {}
        return losses.mean(), settings | chosen, losses, float(np.mean(seconds))

    def scored(self, name: str, settings: dict, part: Part, n: int, n_held: int | None, metric: str):
        """Return the losses of held-out rows, the seconds of fit and prediction, and the penalty that was chosen."""
        rows = recipe.drawn(part.y, n)
        rows = rows if part.y.dtype.kind == "f" else rows[np.bincount(part.y)[part.y[rows]] > 1]
        X, y = (each if len(rows) == len(part.y) else each[rows] for each in part[:2])
        X_held, y_held = recipe.sample(part.X_held, n_held), recipe.sample(part.y_held, n_held)
        if has_kernel(name):
            X, X_held = map(part.scaled[settings["relevance"]].transform, (X, X_held))
        started = time.perf_counter()
        model = recipe.solved(lambda by: recipe.model(name, by, self.task), settings, X, y)
        predicted = recipe.predicted(model, X_held, self.classes)
        seconds = time.perf_counter() - started
        return recipe.losses(predicted, y_held, metric), seconds, getattr(model, "penalty_", None)

    def tuned(self, name: str, start: dict, most: int = TUNED_ON) -> dict:
        """Return the settings of a contestant with the least squared error after fits to at most so many rows.

        Length scales of kernels, by factors of two, and penalties of linear models, by factors of ten, are searched
        from the values of the ``start``: in steps as long as they gain, then in half of them.
        """
        # boosting takes longest, and its settings differ least
        one = name == "boosting" or self.n_train > FEW_TO_TUNE or most == START_ON
        parts, n_held = self.parts[: 1 if one else None], TUNED_HELD if one else None

        def error(settings):
            return self.error(name, settings, parts, most, n_held)

        if name == "boosting":
            is_light = len(self.classes or "1") > MOST_CLASSES or parts[0].X.shape[1] > MOST_COLUMNS
            grid = LIGHT if is_light else TREES[: 1 if self.n_train >= FEW_ROWS else None]
            return min((error(start | each) for each in grid), key=lambda each: each[0])[1]
        if has_kernel(name):
            return descended(error, start | {"penalties": PENALTIES.tolist()}, "length_scale", 2.0)
        return descended(error, start | {"penalty": 1.0}, "penalty")

    @cached_property
    def start(self) -> dict:
        """The settings of an exact kernel of few rows, from which the contestants with kernels start: one part finds
        them for each of two scalings of the columns, and all parts choose.
        """
        starts = [self.more | {"relevance": each, "length_scale": 1.0} for each in range(len(self.parts[0].scaled))]
        found = [self.tuned("exact-kernel", each, START_ON) for each in starts]
        errors = (self.error("exact-kernel", each, self.parts, START_ON, TUNED_HELD) for each in found)
        return min(errors, key=lambda each: each[0])[1]

    def expected(self, unit: Unit) -> float:
        """Return the expected seconds of a unit from the last of its contestant; 0 for the first."""
        if (last := self.last(unit.name)) is None:
            return 0.0
        growth = ((unit.columns or 1) / (last.unit.columns or 1)) ** COLUMN_GROWTH * (unit.n / last.unit.n) ** 2
        tuning = 2.0 if unit.columns and unit.columns <= TUNED_WITH else 1.0
        return tuning * len(self.parts) * last.seconds * growth

    def reserve(self) -> float:
        """Return the seconds that the final fits take, with their columns: of the best, the best map and boosting."""
        fair = self.fair()
        opened = fair[:1] + [each for each in fair if is_map(each.unit.name)][:1]
        opened += [each for each in fair if each.unit.name == "boosting"]
        fits = {each.unit: each.seconds for each in opened}
        return 1.5 * self.n_final / self.n_train * sum(fits.values()) + self.seconds


def hold(contest: Contest, planned: list[Unit], end: float) -> None:
    """Run the units that finish before ``time.monotonic()`` is ``end``. A contestant is out where a unit and the final
    fits are not expected to, where a unit fails, or takes most of what is left. After Ctrl-C the answer comes from what
    is finished.
    """
    for unit in planned:
        if unit.name in contest.reasons:
            continue
        size = f"on {unit.n:,} rows" + (f" with {unit.columns:,} columns" if unit.columns else "")
        left, is_stored = end - time.monotonic() - contest.reserve(), contest.file_of(unit).is_file()
        most = max(left * MOST_SHARE, 60.0 * is_stored)
        try:
            if (contest.expected(unit) > most or left <= 0) and not is_stored:
                raise OutOfTime("the budget does not leave the time")
            print(f"{end - time.monotonic():,.0f} s left: {unit.name} {size}", file=sys.stderr)
            with alarm(most, OutOfTime(f"stopped after {most:.0f} s by the budget")):
                contest.run(unit)
        except (OutOfTime, ValueError, np.linalg.LinAlgError, MemoryError) as error:
            contest.reasons[unit.name] = f"not {size}: {' '.join(str(error).split())[:200]}"
        except KeyboardInterrupt:
            contest.reasons = {each.name: "interrupted" for each in planned[planned.index(unit) :]} | contest.reasons
