"""What is chosen by validation: scaling, bandwidth, options of the map, penalty, and who shares the choice.

The mapping ``search`` of an experiment names the quantities, the values that are tried and the circle that shares the
choice. Circles are gone through from the widest to the narrowest, each under what the wider ones chose; the quantities
of one circle are searched together over their whole grid. A candidate's score is the best that one learner has over
the grid of its penalties, cross-validated on the training rows of a repeat and averaged over the repeats that the
choice is made on: three of them (splits, draws of the map, folds) where several share it, its own where none does. A
tie goes to the values that are named first, and to the larger bandwidth or penalty.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace

import numpy as np
from tqdm import tqdm

from rfstudy.arrays import seed_sequence
from rfstudy.errors import NotDefinedError
from rfstudy.learners.entry import load
from rfstudy.learners.penalties import best_penalty
from rfstudy.learners.scoring import score_sum
from rfstudy.study.config import CIRCLES, SEARCHED, merge, options_tried, size_of, sizes
from rfstudy.study.engine import Cell, Job, finished
from rfstudy.study.kinds.grid import (
    choice_for,
    folds_of,
    grid_cell,
    is_learned,
    is_searched,
    learner_settings,
    map_of,
    place_of,
)
from rfstudy.study.plan import circle_of, searched
from rfstudy.study.sample import Sample

#: Repeats that a choice is made on where several share it.
SHARED_ON = 3


def search(job: Job) -> dict:
    """The choices of one data set by circle, for ``kinds.grid.choice_for``.

    A choice is a mapping ``{"chosen": {quantity: value}, "chosen_on": repeats, "score": ...}``; where it stands in its
    circle ``kinds.grid.place_of`` says.
    """
    spec = job.spec
    found: dict = {}
    for circle in CIRCLES:
        quantities = [q for q in searched(spec["search"]) if circle_of(spec["search"], q) == circle]
        if not quantities:
            continue
        choices: dict = {}
        title = f"{spec['experiment']} {spec['dataset']} {' and '.join(quantities)}"
        for entry, label, repeat in tqdm(list(members(spec, circle)), desc=title, file=sys.stderr, mininterval=5):
            own = [quantity for quantity in quantities if takes_part(spec["search"], entry, quantity)]
            if not own:
                continue
            chosen_on = [repeat] if circle == "cell" else spec["repeats"][:SHARED_ON]
            choice = best_choice(job, found, own, entry, label, chosen_on)
            choices = merge(choices, nested(place_of(circle, entry, label, repeat), choice))
        found[circle] = choices
    return found


def members(spec: dict, circle: str):
    """The (entry, label of the size, repeat) of every choice of a circle; what a choice is shared by stands for all.

    What all methods share is chosen with the method, and what all sizes share at the size, that the search names.
    """
    one_size, one_method = list(spec["search"].get("size", {}).items()), [spec["shared_method"]]
    all_labels = [label for _, label in sizes(spec.get("sizes", {}), 1)]
    one_label = [label for _, label in sizes({rule: [value] for rule, value in one_size}, 1)]
    entries = one_method if circle in ("experiment", "size") else spec["methods"]
    labels = one_label if circle in ("experiment", "method") else all_labels
    repeats = spec["repeats"] if circle == "cell" else [None]
    return itertools.product(entries, labels, repeats)


def takes_part(search: dict, entry: dict, quantity: str) -> bool:
    """Whether there is anything to choose of a quantity for an entry."""
    return is_searched(entry, quantity) and (quantity != "options" or bool(options_tried(search, entry["method"])))


def nested(words: tuple[str, ...], value: dict) -> dict:
    """A mapping of mappings with one value at its end."""
    for word in reversed(words):
        value = {word: value}
    return value


def best_choice(job: Job, found: dict, quantities: list[str], entry: dict, label: str, chosen_on: list[int]) -> dict:
    """The best values of quantities that are searched together, for an entry at a size, on some repeats."""
    spec = job.spec
    judges = [name for name in (spec["search"].get("learner"), *spec["learners"]) if name and is_learned(entry, name)]
    tried = []
    for values in candidates(spec["search"], quantities, entry["method"]):
        scores = mean_scores(job, found, entry, label, chosen_on, values, judges[0])
        if scores is None:
            return {"chosen": {}, "chosen_on": chosen_on, "reason": "there is no map, or no learner, at this size"}
        tried.append((values, scores))
    sign = 1.0 if job.data.target.score == "accuracy" else -1.0
    finest = np.array([np.max(sign * scores, where=~np.isnan(scores), initial=-np.inf) for _, scores in tried])
    # means that differ by rounding are equal, as they are to ``best_penalty``
    best = int(np.argmax(finest >= finest.max() - 1e-12 * abs(finest.max())))
    values, _ = tried[best]
    chosen = dict(values)
    if "penalty" in quantities:
        chosen["penalty"] = best_penalties(job, found, entry, label, chosen_on, values)
    score = float(sign * finest[best]) if np.isfinite(finest[best]) else None
    return {"chosen": chosen, "chosen_on": list(chosen_on), "score": score}


def candidates(search: dict, quantities: list[str], method: str) -> list[dict]:
    """All combinations of the values of quantities, the preferred ones first: a tie goes to what comes first."""
    grids = {}
    for quantity in (each for each in SEARCHED if each in quantities and each != "penalty"):
        grid = options_tried(search, method) if quantity == "options" else search[quantity]["grid"]
        grids[quantity] = sorted(grid, reverse=True) if quantity == "length_scale" else grid
    return [dict(zip(grids, values, strict=True)) for values in itertools.product(*grids.values())]


def best_penalties(job: Job, found: dict, entry: dict, label: str, chosen_on: list[int], values: dict) -> dict:
    """By learner the value of its grid with the best score; a learner that is left out, or singular at every value,
    has none.
    """
    best = {}
    for learner in (name for name in job.spec["learners"] if is_learned(entry, name)):
        scores = mean_scores(job, found, entry, label, chosen_on, values, learner)
        if scores is not None and not np.isnan(scores).all():
            grid = learner_settings(job.spec, entry, learner)[load(learner).grid]
            best[learner] = best_penalty(scores[:, None], grid, job.data.target.score)
    return best


def mean_scores(
    job: Job, found: dict, entry: dict, label: str, chosen_on: list[int], values: dict, learner: str
) -> np.ndarray | None:
    """Scores of a learner's grid (g,), averaged over the folds of the repeats; larger is better but for "mse".

    None where there is no map or the learner is left out. ``values`` are laid over what wider circles chose.
    """
    per_repeat = []
    for repeat in chosen_on:
        scores = evaluated(job, candidate_cell(job, found, entry, label, repeat, values, learner))
        if not len(scores):
            return None
        per_repeat.append(scores)
    return np.mean(per_repeat, axis=0)


def candidate_cell(job: Job, found: dict, entry: dict, label: str, repeat: int, values: dict, learner: str) -> Cell:
    """The cell in which a candidate is scored: an entry at a size in a repeat, under the values that are tried."""
    d = job.data.facts["d"]
    wider, how = choice_for(found, entry, label, repeat)
    cell = grid_cell(job.spec, [(wider | values, how)], entry, sizes(size_with(job.spec, label), d), d, repeat)
    settings = learner_settings(job.spec, entry, learner)
    own = {"learner": learner, "settings": settings, "rows": job.spec["search"].get("max_rows")}
    if "held_out" in job.spec["search"]:
        own["held_out"] = job.spec["search"]["held_out"]
    return replace(cell, given=cell.given | own, columns={})


def size_with(spec: dict, label: str) -> dict:
    """The sizes of a specification cut down to the one with this label."""
    own = {rule: [value] for rule, value in spec["search"].get("size", {}).items()}
    for rule, values in (*own.items(), *spec.get("sizes", {}).items()):
        for value in values:
            if size_of(rule, value, 1)[1] == label:
                return {rule: [value]}
    raise KeyError(label)


def evaluated(job: Job, cell: Cell) -> np.ndarray:
    """The scores of a candidate (g,), journalled; empty where it has none."""
    content, _arrays = finished(job, cell, lambda cell, _: ([{"value": score} for score in scores_of(job, cell)], {}))
    return np.array([row["value"] for row in content["rows"]])


def scores_of(job: Job, cell: Cell) -> list[float]:
    """Scores of a learner's grid (g,) on the features of a cell's map, cross-validated, the mean over the folds, or
    on rows that neither map nor learner saw; empty where the learner is left out or the map does not exist.
    """
    learner, options = load(cell.given["learner"]), cell.given["settings"]
    sample = job.samples.of(cell.at["repeat"], cell.given["preprocess"])
    X, y = tuning_rows(job.spec["seed"], sample, cell.given["rows"])
    phi, _kernel, _length_scale = map_of(job.spec, cell, job.samples)
    held_out = held_out_rows(job.spec["seed"], len(y), cell.at["repeat"], cell.given.get("held_out", 0.0))
    try:
        phi.fit(X[~held_out], y[~held_out])
    except (NotDefinedError, np.linalg.LinAlgError):
        return []
    if learner.left_out(job.data.target.kind, options, len(sample.y_train), phi.n_columns_):
        return []
    if held_out.any():
        return validated(learner, options, phi, X, job.data.target.encode(y)[0], held_out, job.data.target.score)
    folds = folds_of(job.spec, len(y), options["n_folds"], cell.at["repeat"])
    Y, _classes = job.data.target.encode(y)
    how = {"n_columns": phi.n_columns_, "score": job.data.target.score, "options": options}
    return learner.cross_validate(lambda: phi.transform_blocks(X), Y, folds, **how).mean(axis=1).tolist()


def held_out_rows(seed: int, n: int, repeat: int, share: float) -> np.ndarray:
    """Which of n training rows of a repeat are kept from map and learner to validate them on, (n,): such a share."""
    generator = np.random.default_rng(seed_sequence(seed, "held out", repeat))
    return np.isin(np.arange(n), generator.choice(n, round(share * n), replace=False))


def validated(learner, options: dict, phi, X, Y, held_out: np.ndarray, score: str) -> list[float]:
    """The scores of a learner's grid (g,) on held-out rows, fitted on the features of the others; missing where there
    is no solution. What a map has learned from the targets of a row says nothing of how it does on another.
    """
    scores = []
    for value in options[learner.grid]:
        try:
            seen = X[~held_out]
            how = {"n_columns": phi.n_columns_, "options": options}
            model = learner.fit(lambda seen=seen: phi.transform_blocks(seen), Y[~held_out], value, **how)
        except np.linalg.LinAlgError:
            scores.append(float("nan"))
            continue
        decision = np.concatenate([model.decision(Z) for _rows, Z in phi.transform_blocks(X[held_out])])
        scores.append(float(score_sum(Y[held_out], decision[:, None, :], score)[0] / len(decision)))
    return scores


def tuning_rows(seed: int, sample: Sample, most: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The training rows of a sample that a search works with: at most so many, a random choice."""
    n_train = len(sample.y_train)
    if not most or n_train <= most:
        return sample.X_train, sample.y_train
    generator = np.random.default_rng(seed_sequence(seed, "tuning rows"))
    rows = np.sort(generator.choice(n_train, most, replace=False))
    return sample.X_train[rows], sample.y_train[rows]
