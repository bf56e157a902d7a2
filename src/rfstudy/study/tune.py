"""Choose the bandwidth of a data set once for all methods and, where a preset shares them, the penalties.

The rule is the survey's (section 6.1) as far as it goes: cross-validation over a grid. What its text leaves open
is ours and stands in the experiment: plain random Fourier features of one size, ridge classification jointly over
its penalties, the training rows of repeat 0. Under the rule "each_method" every method has, at every size, the scaling
of the data, the bandwidth and the penalty that are best for itself.
"""

from __future__ import annotations

import sys

import numpy as np
from tqdm import tqdm

from rfstudy.arrays import seed_sequence, set_threads
from rfstudy.data.split import fold_of_row
from rfstudy.learners.penalties import best_penalty
from rfstudy.learners.ridge import cross_validate_ridge
from rfstudy.learners.svm import cross_validate_svm
from rfstudy.learners.targets import encode_labels
from rfstudy.study.cells import IRRELEVANT, Cell, cell_map, code_of, name_of
from rfstudy.study.journal import Journal, key_of
from rfstudy.study.provenance import Run
from rfstudy.study.sample import Prepared, draw_sample, load_prepared
from rfstudy.study.spec import sizes
from rfstudy.tidy import write_json

#: The grid of each learner and the name under which a row's settings report the chosen value.
GRID_OF = {"ridge": ("penalties", "penalty"), "svm": ("C", "C")}

#: What does not decide a score, besides what decides no cell.
NOT_A_SCORE = ("length_scale", "learners", "bandwidth", "share_penalties", "max_svm_entries")


def run(spec: dict, prepared_dir, journal_dir, out, threads: int) -> None:
    """The stage: write the choices for one experiment and data set as JSON."""
    prepared = load_prepared(prepared_dir)
    if prepared.skipped:
        write_json({"status": "skipped", "reason": prepared.skipped}, out)
        return
    set_threads(threads)
    this_run = Run("tune", spec, threads)
    choices = tune(spec, prepared, Journal(journal_dir))
    write_json({"status": "ok", **choices, "provenance": this_run.finished()}, out)


def tune(spec: dict, prepared: Prepared, journal: Journal) -> dict:
    """The choices for all methods ("length_scale", with the scores of a bandwidth grid and, if shared, the "penalties"
    of every learner and size), or those of every method and size ("methods").
    """
    rule = spec["bandwidth"]
    if rule["rule"] == "each_method":
        return each_methods_choices(spec, prepared, journal)
    evaluate = Evaluation(spec, spec["methods"][0], prepared, journal)
    choices: dict = {"n_rows": len(evaluate.y)}
    if rule["rule"] == "fixed":
        choices["length_scale"] = spec["length_scale"]
    else:
        n_features = rule["multiple_of_d"] * evaluate.X.shape[1]
        scores = [
            evaluate("ridge", n_features, length_scale)
            for length_scale in tqdm(rule["grid"], desc=f"{spec['dataset']}: bandwidth", file=sys.stderr)
        ]
        choices["bandwidth_scores"] = dict(zip(map(str, rule["grid"]), scores, strict=True))
        # a tie goes to the larger value, as it does for the penalties
        choices["length_scale"] = float(best_penalty(np.fmax.reduce(scores, axis=1)[:, None], rule["grid"]))
    if spec["share_penalties"]:
        choices["penalties"] = shared_penalties(spec, evaluate, choices["length_scale"])
    return choices


def each_methods_choices(spec: dict, prepared: Prepared, journal: Journal) -> dict:
    """By method and size: scaling, bandwidth and penalties with the best score of ridge classification.

    A tie goes to the scaling that is named first, then to the larger bandwidth. The grid is searched at every size,
    because more frequencies can resolve a narrower kernel.
    """
    rule = spec["bandwidth"]
    choices: dict = {"methods": {}}
    for entry in spec["methods"]:
        evaluations = [
            (preprocess, Evaluation(spec | {"preprocess": preprocess}, entry, prepared, journal))
            for preprocess in rule["preprocess"]
        ]
        choices["n_rows"] = len(evaluations[0][1].y)
        of_method = choices["methods"][name_of(entry)] = {}
        progress = tqdm(sizes(spec["sizes"], prepared.facts["d"]), desc=f"{spec['dataset']}: {name_of(entry)}")
        for n_features, label in progress:
            tried = [
                (float(np.nanmax(evaluate("ridge", n_features, length_scale))), length_scale, preprocess, evaluate)
                for preprocess, evaluate in evaluations
                for length_scale in sorted(rule["grid"], reverse=True)
            ]
            score, length_scale, preprocess, evaluate = max(tried, key=lambda each: each[0])
            of_method[label] = {
                "preprocess": preprocess,
                "length_scale": float(length_scale),
                "score": score,
                "penalties": {
                    learner: evaluate.best(learner, n_features, length_scale)
                    for learner in spec["learners"]
                    if not evaluate.leaves_out(learner, n_features)
                },
            }
    return choices


def tuning_rows(spec: dict, prepared: Prepared):
    """Training rows of repeat 0, at most ``max_tuning_rows``, and how many the repeat has."""
    sample = draw_sample(prepared, spec, repeat=0)
    n_train = len(sample.y_train)
    rows = np.arange(n_train)
    if n_train > spec["max_tuning_rows"]:
        generator = np.random.default_rng(seed_sequence(spec["seed"], "tuning rows"))
        rows = np.sort(generator.choice(n_train, spec["max_tuning_rows"], replace=False))
    return sample.X_train[rows], sample.y_train[rows], n_train


def shared_penalties(spec: dict, evaluate: Evaluation, length_scale: float) -> dict:
    """By learner and size: the grid value that is best for plain random Fourier features."""
    penalties: dict = {learner: {} for learner in spec["learners"]}
    progress = tqdm(sizes(spec["sizes"], evaluate.X.shape[1]), desc=f"{spec['dataset']}: penalties", file=sys.stderr)
    for n_features, label in progress:
        for learner in spec["learners"]:
            if not evaluate.leaves_out(learner, n_features):
                penalties[learner][label] = evaluate.best(learner, n_features, length_scale)
    return penalties


def too_large_for_svm(spec: dict, n_train: int, n_columns: int) -> bool:
    """Whether a preset leaves this support vector machine out (``max_svm_entries``)."""
    return spec["max_svm_entries"] is not None and n_train * n_columns > spec["max_svm_entries"]


class Evaluation:
    """Cross-validated scores of a learner's whole grid on the features of one method, journalled."""

    def __init__(self, spec: dict, entry: dict, prepared: Prepared, journal: Journal):
        self.spec, self.entry, self.journal = spec, entry, journal
        self.X, self.y, self.n_train = tuning_rows(spec, prepared)
        self.data_hash = prepared.facts["sha256"]

    def __call__(self, learner: str, n_features: int, length_scale: float) -> list[float]:
        """Mean accuracy in percent over the folds, for every value of the learner's grid."""
        cell = Cell(self.entry, n_features, "tune", 0)
        options = self.spec["learners"][learner]
        common = {key: value for key, value in self.spec.items() if key not in IRRELEVANT + NOT_A_SCORE}
        map_of = {name: self.entry[name] for name in ("method", "options", "map")}
        code = code_of("tune", cell, self.spec["preprocess"])
        key = key_of("tune", common, map_of, learner, options, n_features, length_scale, self.data_hash, code)
        stored = self.journal.get(key)
        if stored is None:
            phi = cell_map(self.spec, cell, length_scale).fit(self.X, self.y)
            folds = fold_of_row(len(self.y), options["n_folds"], self.spec["seed"], "tune")
            stored = cross_validate(learner, options, phi, self.X, self.y, folds).mean(axis=1).tolist(), {}
            self.journal.put(key, *stored)
        return stored[0]

    def best(self, learner: str, n_features: int, length_scale: float) -> float:
        """The value of the learner's grid with the best score."""
        scores = np.array(self(learner, n_features, length_scale))
        return float(best_penalty(scores[:, None], self.spec["learners"][learner][GRID_OF[learner][0]]))

    def leaves_out(self, learner: str, n_features: int) -> bool:
        """Whether the preset leaves this learner out at this size."""
        return learner == "svm" and too_large_for_svm(self.spec, self.n_train, 2 * n_features)


def cross_validate(learner: str, options: dict, phi, X, y, folds) -> np.ndarray:
    """Accuracies in percent, shape (grid values, folds), of a learner's grid on the features of a fitted map."""

    def blocks():
        return phi.transform_blocks(X)

    Y, _classes = encode_labels(y)
    if learner == "ridge":
        return cross_validate_ridge(
            blocks,
            Y,
            options["penalties"],
            folds,
            n_columns=phi.n_columns_,
            scaling=options["scaling"],
            center=options["center"],
        )
    return cross_validate_svm(
        blocks,
        Y,
        options["C"],
        folds,
        n_rows=len(y),
        n_columns=phi.n_columns_,
        loss=options["loss"],
        intercept=options["intercept"],
        solver=options["solver"],
    )
