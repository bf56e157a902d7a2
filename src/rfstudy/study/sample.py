"""The rows that a repeat trains and tests on: prepared data, split, caps and scaling, the same for every method."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rfstudy.arrays import seed_sequence
from rfstudy.data.scale import fit_steps
from rfstudy.data.split import split


@dataclass(frozen=True)
class Prepared:
    """A task's arrays (memory-mapped) and the facts that preprocessing found about them."""

    X: np.ndarray  # (n, d)
    y: np.ndarray  # (n,)
    facts: dict

    @property
    def skipped(self) -> str:
        """Why there are no data, or an empty text."""
        return self.facts["reason"] if self.facts["status"] == "skipped" else ""


@dataclass(frozen=True)
class Sample:
    """Scaled training and test rows of one repeat."""

    X_train: np.ndarray  # (n_train, d) float32, d as the steps leave it
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    capped: bool

    @property
    def size_columns(self) -> dict[str, int]:
        """Training and test rows and the columns of the data, as columns of the tidy table."""
        return {"n_train": len(self.y_train), "n_test": len(self.y_test), "d": self.X_train.shape[1]}


def load_prepared(directory) -> Prepared:
    """Open what ``preprocess`` wrote; large arrays stay on disk until rows are taken."""
    directory = Path(directory)
    facts = json.loads((directory / "facts.json").read_text(encoding="utf-8"))
    return Prepared(np.load(directory / "X.npy", mmap_mode="r"), np.load(directory / "y.npy"), facts)


def draw_sample(prepared: Prepared, spec: dict, repeat: int) -> Sample:
    """Split, cap and preprocess the rows of one repeat.

    The split depends on the study's seed and the repeat only. ``max_rows`` caps both parts, by a random choice
    of rows; the steps are fitted on the training rows.
    """
    facts = prepared.facts
    counts = (facts["n_train"], facts["n_test"]) if facts["split"] == "random" else None
    train, test = split(len(prepared.y), facts["n_train_published"], repeat, spec["seed"], facts["split"], counts)
    n_all = len(train) + len(test)
    if spec["max_rows"]:
        generator = np.random.default_rng(seed_sequence(spec["seed"], "cap", repeat))
        train, test = (
            np.sort(generator.choice(part, spec["max_rows"], replace=False)) if len(part) > spec["max_rows"] else part
            for part in (train, test)
        )
    X_train, X_test = np.asarray(prepared.X[train]), np.asarray(prepared.X[test])
    scale = fit_steps(spec["preprocess"], X_train)
    return Sample(
        scale(X_train).astype(np.float32, copy=False),
        prepared.y[train],
        scale(X_test).astype(np.float32, copy=False),
        prepared.y[test],
        capped=len(train) + len(test) < n_all,
    )


def base_row(spec: dict, prepared: Prepared) -> dict:
    """The columns that every row of a stage shares."""
    return {
        "origin": "measured",
        "preset": spec["preset"],
        "paper": spec["paper"],
        "experiment": spec["experiment"],
        "protocol": spec["protocol"],
        "dataset": spec["dataset"],
        "stand_in": prepared.facts["stand_in"],
        "kernel": spec["kernel"],
        "seed": spec["seed"],
        "status": "ok",
    }
