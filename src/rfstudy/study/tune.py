"""Choose scaling, bandwidth, options of the map and penalty by validation: one JSON document per job, a mapping by data
set.

The mapping ``search`` of an experiment names the quantities, the values to try and the scope that shares the choice
(``tune_per``). Scopes are searched from the widest to the narrowest, each under the choices of the wider ones. The
quantities of one scope are searched together over their whole grid. A candidate's score is the best score of one
learner over its grid of penalties. It is cross-validated on the training rows of a repeat and averaged over the repeats
of the choice. There are three such repeats (splits, draws of the map, folds) if several repeats share the choice;
otherwise there is one, the choice's own. If a map is drawn several times in a repeat, three of these draws are
averaged. A tie goes to the values that are named first, and to the larger bandwidth or penalty. A penalty that several
maps share is chosen among those at which all of them have a solution.
"""

import itertools
import sys
from dataclasses import dataclass, replace

import numpy as np
from tqdm import tqdm

from random_features.arrays import seed_sequence, set_threads
from random_features.errors import NotDefinedError, UserError
from random_features.learners.entry import always_solvable, load
from random_features.learners.penalties import best_penalty, edge_of
from random_features.learners.scoring import gain
from rfstudy.study.engine import Cell, Job, in_memory, jobs
from rfstudy.study.job import TUNE_SCOPES, Part, merge, options_tried, own_kernel, searched, sizes, tune_scope
from rfstudy.study.kinds import grid
from rfstudy.study.provenance import write_choices
from rfstudy.study.sample import Sample

#: Quantities of a choice that are marked if they are at an end of their grid, with the penalty.
WIDTHS = ("length_scale", "bandwidth")

#: Number of repeats used for a choice that several repeats share.
SHARED_ON = 3


#: Parts of held-out rows that are scored apart, so that the score has a standard error.
PARTS = 5

#: Scopes whose choices are made for one entry at one size.
OF_ONE_SIZE = ("method_and_size", "split", "cell")


@dataclass(frozen=True)
class Member:
    """An entry at a size (its label) with which a choice is made, and the repeats used for it."""

    entry: dict
    label: str
    repeats: list[int]


def run(parts: list[Part], prepared_dirs, journal, out, threads: int) -> None:
    """Write the choices for every data set, by scope (``Search.choices``)."""
    set_threads(threads)
    chosen = {}
    for job in jobs("tune", parts, prepared_dirs, journal, threads):
        if job.data.skipped:
            chosen[job.spec.dataset] = {"status": "skipped", "reason": job.data.skipped}
        else:
            chosen[job.spec.dataset] = {"status": "ok", **in_memory(lambda each: Search(each).choices(), job)}
    write_choices(chosen, job.run.finished(), out)


class Search:
    """The search on the data set of a job."""

    def __init__(self, job: Job):
        self.job, self.spec, self.how = job, job.spec, job.spec.search
        # the sizes of the experiment, and the one at which it chooses what all sizes share, by label
        stated, d = {rule: [value] for rule, value in self.how.get("size", {}).items()}, job.data.facts["d"]
        self.sizes, self.size = ({label: s for s, label in sizes(each, d)} for each in (self.spec.sizes or {}, stated))
        self.found: dict = {}  # of the wider scopes

    def choices(self) -> dict:
        """Return the choices by scope, for ``kinds.grid.choice_for``.

        A choice is a mapping ``{"chosen": {quantity: value}, "chosen_on": repeats, "score": ..., "at_edge": {...}}``.
        ``at_edge`` has the quantities whose value is the first or the last of its grid, and whether the last step still
        gains (``penalties.edge_of``); for a penalty it has the learners. ``kinds.grid.place_of`` returns the place
        of a choice in its scope.
        """
        for scope in TUNE_SCOPES:
            if not (quantities := [q for q in searched(self.how) if tune_scope(self.how, q) == scope]):
                continue
            choices: dict = {}
            title = f"{self.spec.experiment} {self.spec.dataset} {' and '.join(quantities)}"
            for place, member in tqdm(self.members(scope), desc=title, file=sys.stderr, mininterval=5):
                if own := [quantity for quantity in quantities if self.takes_part(member.entry, quantity)]:
                    choice = self.best_choice(own, member, self.sharers(scope, member))
                    for word in reversed(place):
                        choice = {word: choice}
                    choices = merge(choices, choice)
            self.found[scope] = choices
        return self.found

    def members(self, scope: str) -> list[tuple[tuple, Member]]:
        """Return the place of every choice of a scope, and the members with which it is made.

        A choice that all methods share is made with the method that the search names, one for each kernel. A choice
        that all sizes share is made at the size that the search names.
        """
        entries = self.spec.shared_methods if scope in ("experiment", "size") else self.spec.methods
        labels = self.size if scope in ("experiment", "method") else self.sizes
        own, of_all = {r: [r] for r in self.spec.repeats}, {None: self.spec.repeats[:SHARED_ON]}
        repeats = own if scope in ("split", "cell") else of_all
        return [
            (grid.place_of(scope, entry, label, repeat), Member(entry, label, chosen_on))
            for entry, label, (repeat, chosen_on) in itertools.product(entries, labels, repeats.items())
            if scope not in OF_ONE_SIZE or grid.is_run(entry, label)
        ]

    def sharers(self, scope: str, member: Member) -> list[Member]:
        """Return all members that share a choice, including those it is not made with."""
        of_kernel = [each for each in self.spec.methods if own_kernel(each) == own_kernel(member.entry)]
        entries = of_kernel if scope in ("experiment", "size") else [member.entry]
        labels = self.sizes if scope in ("experiment", "method") else [member.label]
        pairs = [pair for pair in itertools.product(entries, labels) if grid.is_run(*pair)]
        return [replace(member, entry=entry, label=label) for entry, label in pairs]

    def takes_part(self, entry: dict, quantity: str) -> bool:
        """Return whether an entry has anything to choose for a quantity."""
        tried = quantity != "options" or options_tried(self.how, entry["method"])
        return grid.is_searched(entry, quantity) and bool(tried)

    def best_choice(self, quantities: list[str], member: Member, sharers: list[Member]) -> dict:
        """Return the best values of quantities that are searched together. A penalty is chosen among those at which all
        members that share it have a solution.
        """
        named = [self.how.get("learner"), *self.spec.learners]
        selecting = [name for name in named if name and grid.is_learned(member.entry, name)]
        if not selecting:
            method = member.entry["method"]
            raise UserError(f"learners: there is none by which {method} could choose {', '.join(quantities)}")
        own_options = self.how.get("learners", {}).get(selecting[0], {}) if quantities != ["penalty"] else {}
        tried, score = [], self.job.data.target.score
        for values in self.candidates(quantities, member.entry["method"]):
            if (scores := self.scores_by_fold(member, values, selecting[0], own_options)) is None:
                reason = "there is no map, or no learner, at this size"
                return {"chosen": {}, "chosen_on": member.repeats, "reason": reason}
            tried.append((values, scores, gain(scores.mean(axis=1), score)))
        finest = np.array([np.max(mean, where=~np.isnan(mean), initial=-np.inf) for *_, mean in tried])
        # means that differ by rounding are equal, as they are to ``best_penalty``
        best = int(np.argmax(finest >= finest.max() - 1e-12 * abs(finest.max())))
        values = tried[best][0]
        chosen = dict(values)
        best_scores = [(of, scores[np.nanargmax(mean)]) for of, scores, mean in tried if not np.isnan(mean).all()]
        widths = [name for name in WIDTHS if name in values and best_scores]
        at_edge = {name: edge_of_width(name, values, best_scores, score) for name in widths}
        if "penalty" in quantities:
            chosen["penalty"], edges = self.best_penalties(member, values, sharers)
            at_edge |= edges
        at_edge = {name: edge for name, edge in at_edge.items() if edge is not None}
        reached = float(gain(finest[best], score)) if np.isfinite(finest[best]) else None
        draws = {"draws": min(SHARED_ON, self.spec.draws)} if self.spec.draws else {}
        return {"chosen": chosen, "chosen_on": list(member.repeats), "score": reached, "at_edge": at_edge} | draws

    def candidates(self, quantities: list[str], method: str) -> list[dict]:
        """Return all combinations of the values of quantities, preferred ones first: a tie goes to the first."""
        grids = {}
        for quantity in (each for each in quantities if each != "penalty"):
            tried = options_tried(self.how, method) if quantity == "options" else self.how[quantity]["grid"]
            grids[quantity] = sorted(tried, reverse=True) if quantity == "length_scale" else tried
        return [dict(zip(grids, values, strict=True)) for values in itertools.product(*grids.values())]

    def best_penalties(self, member: Member, values: dict, sharers: list[Member]) -> tuple[dict, dict]:
        """Return the value with the best score by learner, and its edge (``penalties.edge_of``) by learner. A learner
        that is left out, or singular at every value, has no value.
        """
        best, edges, score = {}, {}, self.job.data.target.score
        for learner in (name for name in self.spec.learners if grid.is_learned(member.entry, name)):
            scores = self.scores_by_fold(member, values, learner)
            if scores is None or np.isnan(scores).any(axis=1).all():
                continue
            options = grid.learner_settings(self.spec, member.entry, learner)
            penalties = options[load(learner).grid]
            solvable = self.solvable_for_all(sharers, values, learner, penalties)
            if (solvable & ~np.isnan(scores).any(axis=1)).any():  # else none suits both the others and this map
                scores[~solvable] = np.nan
            best[learner] = best_penalty(scores, penalties, score, options.get("choice", "best"))
            edges[learner] = edge_of(best[learner], penalties, scores, score)
        return best, edges

    def solvable_for_all(self, sharers: list[Member], values: dict, learner: str, penalties: list) -> np.ndarray:
        """Return the mask, bool (g,), of the penalties at which all entries that share the choice have a solution.
        They need one on the tuning rows of all repeats of the choice.

        A map that does not exist, or that has no solution at any value, is ignored.
        """
        solvable = np.ones(len(penalties), dtype=bool)
        if load(learner).has_solution is always_solvable:
            return solvable  # without the maps of all members that share it
        for member in sharers:
            if not (grid.is_learned(member.entry, learner) and grid.is_searched(member.entry, "penalty")):
                continue
            for cell in self.cells(member, values, learner, {load(learner).grid: penalties}):
                cell = replace(cell, conditions=cell.conditions | {"asked": "has_solution"})
                if (of_entry := self.journalled(cell, solvable_at).astype(bool)).any():
                    solvable &= of_entry
        return solvable

    def scores_by_fold(self, member: Member, values: dict, learner: str, own: dict | None = None) -> np.ndarray | None:
        """Return the scores of a learner's grid (g, folds of all repeats). Larger is better except for "mse".

        Return None if there is no map or the learner is left out.
        """
        per_repeat = []
        for cell in self.cells(member, values, learner, own or {}):
            scores = self.journalled(cell, scores_of)
            if not len(scores):
                return None
            per_repeat.append(scores)
        return np.concatenate(per_repeat, axis=1)

    def journalled(self, cell: Cell, compute) -> np.ndarray:
        """Return the journalled result of ``compute(job, cell)`` by value of a learner's grid; empty if there is
        none.
        """

        def rows(cell, _checkpoints):
            try:
                return [{"value": found} for found in compute(self.job, cell)], {}
            except NotDefinedError:
                return [], {}

        content, _arrays = self.job.finished(cell, rows)
        return np.array([row["value"] for row in content["rows"]], dtype=np.float64)

    def cells(self, member: Member, values: dict, learner: str, own: dict) -> list[Cell]:
        """Return the cells in which a candidate is scored, one for each repeat and draw.

        ``values`` override the choices of wider scopes, and ``own`` overrides the learner's options.
        """
        d, found = self.job.data.facts["d"], []
        size = (self.size | self.sizes)[member.label], member.label
        conditions = {
            "learner": learner,
            "settings": merge(grid.learner_settings(self.spec, member.entry, learner), own),
            "rows": self.how.get("max_rows"),
            "held_out": self.how.get("held_out", 0.0),
        }
        drawn = grid.draws(min(SHARED_ON, self.spec.draws)) if self.spec.draws else [{}]
        for repeat, draw in itertools.product(member.repeats, drawn):
            wider, how = grid.choice_for(self.found, member.entry, member.label, repeat)
            cell = grid.grid_cell(self.spec, [(wider | values, how)], member.entry, [size], d, repeat, "", draw)
            found.append(replace(cell, conditions=cell.conditions | conditions))
        return found


def edge_of_width(name: str, chosen: dict, tried: list[tuple[dict, np.ndarray]], score: str) -> bool | None:
    """Return the edge (``penalties.edge_of``) of a chosen length scale, or of the first number of a bandwidth rule.

    ``tried`` has every combination of values with its scores by fold. Those that differ in this width only are a grid.

    >>> tried = [({"bandwidth": {"factor": factor}}, [score, score]) for factor, score in ((4, 90), (2, 85), (1, 80))]
    >>> [edge_of_width("bandwidth", values, tried, "accuracy") for values, _ in tried]
    [True, None, False]
    """
    others = [(of, scores) for of, scores in tried if of | {name: 0} == chosen | {name: 0}]
    numbers = [number_in(of[name]) for of, _ in others]
    return edge_of(number_in(chosen[name]), numbers, np.array([scores for _, scores in others]), score)


def number_in(width) -> float:
    """Return a length scale, or the first number of a bandwidth rule."""
    return width if not isinstance(width, dict) else next(v for v in width.values() if isinstance(v, (int, float)))


def scores_of(job: Job, cell: Cell) -> list[list[float]]:
    """Return the scores of a learner's grid on the features of a cell's map. They are cross-validated (g, folds), or
    from parts of the rows that neither map nor learner saw (g, parts): a map that learned from the targets of a row
    must be scored on other rows. Raise ``NotDefinedError`` as ``tuned_map``, and if a fold has one class.
    """
    learner, options, score = load(cell.conditions["learner"]), cell.conditions["settings"], job.data.target.score
    phi, X, Y, held_out, blocks = tuned_map(job, cell)
    folds = grid.folds_of(job.spec, len(Y), options["n_folds"], cell.coordinates["repeat"], blocks)
    if held_out.any():
        folds = np.full(len(Y), -1)
        folds[held_out] = np.arange(held_out.sum()) % PARTS
    how = {"n_columns": phi.n_columns_, "score": score, "options": options}
    return learner.cross_validate(grid.features_of(phi, X), grid.placed(phi, Y), folds, **how).tolist()


def solvable_at(job: Job, cell: Cell) -> list[bool]:
    """Return the mask (g,) of the grid values at which a learner has a solution on the features of a cell's map. Raise
    ``NotDefinedError`` as ``tuned_map``.
    """
    learner, options = load(cell.conditions["learner"]), cell.conditions["settings"]
    phi, X, Y, held_out, _blocks = tuned_map(job, cell)
    seen, Y, values = grid.placed(phi, X[~held_out]), grid.placed(phi, Y[~held_out]), options[learner.grid]
    how = {"n_columns": phi.n_columns_, "options": options}
    return list(map(bool, learner.has_solution(lambda: phi.transform_blocks(seen), Y, values, **how)))


def tuned_map(job: Job, cell: Cell) -> tuple:
    """Return the map of a candidate, fitted on the tuning rows that are not held out, and these tuning rows. The rows
    come as X (n, d), their encoded targets Y (n, c), the mask of held-out rows (n,), and their blocks (n,) if folds
    follow them. Raise ``NotDefinedError`` if the learner is left out or the map does not exist.
    """
    learner, options = load(cell.conditions["learner"]), cell.conditions["settings"]
    phi, sample, *_ = grid.map_of(job, cell)
    X, y, blocks = tuning_rows(job.spec.seed, sample, cell.conditions["rows"])
    held_out = held_out_rows(job.spec.seed, len(y), cell.coordinates["repeat"], cell.conditions["held_out"])
    try:
        phi.fit(grid.placed(phi, X[~held_out]), y[~held_out])
    except np.linalg.LinAlgError as error:
        raise NotDefinedError(str(error)) from error
    if reason := learner.left_out(job.data.target.kind, options, len(sample.y_train), phi.n_columns_):
        raise NotDefinedError(reason)
    return phi, X, job.data.target.encode(y)[0], held_out, blocks


def held_out_rows(seed: int, n: int, repeat: int, share: float) -> np.ndarray:
    """Return the mask (n,) of the training rows of a repeat that validation holds out from map and learner: ``share``
    of n rows.
    """
    generator = np.random.default_rng(seed_sequence(seed, "held out", repeat))
    return np.isin(np.arange(n), generator.choice(n, round(share * n), replace=False))


def tuning_rows(seed: int, sample: Sample, most: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return a random choice of the training rows for a search, up to a limit, with their labels and blocks. Blocks of
    None mean folds of rows.
    """
    n_train, blocks = len(sample.y_train), sample.train_blocks
    if not most or n_train <= most:
        return sample.X_train, sample.y_train, blocks
    generator = np.random.default_rng(seed_sequence(seed, "tuning rows"))
    rows = np.sort(generator.choice(n_train, most, replace=False))
    return sample.X_train[rows], sample.y_train[rows], None if blocks is None else blocks[rows]
