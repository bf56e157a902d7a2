"""Draw the training and test rows of a repeat: prepared data, split, caps and scaling, the same for every method."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from random_features.arrays import seed_sequence
from random_features.errors import UserError
from rfstudy.data import modules, prepared
from rfstudy.data.scale import fit_steps
from rfstudy.data.split import FIXED, block_of_row, split, stratified_folds
from rfstudy.data.target import Target
from rfstudy.data.target_scaling import fitted
from rfstudy.data.tasks import N_FOLDS, OF_BLOCKS, without
from rfstudy.study.job import Part

#: Bytes up to which the samples of a data set are cached.
KEPT_BYTES = 2**26


@dataclass(frozen=True)
class Prepared:
    """A task's arrays (memory-mapped) and the facts that preprocessing found about them."""

    X: np.ndarray  # (n, d)
    y: np.ndarray  # (n,)
    facts: dict

    @property
    def skipped(self) -> str:
        """Return the reason why the data are missing, or an empty text."""
        return self.facts["reason"] if self.facts["status"] == "skipped" else ""

    @property
    def target(self) -> Target:
        """Return the target of the task."""
        return Target(self.facts["target"])


@dataclass(frozen=True)
class Sample:
    """Scaled training and test rows of one repeat."""

    X_train: np.ndarray  # (n_train, d) float32, d as the steps leave it
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    capped: bool  # whether there are fewer rows than in the published data
    train_blocks: np.ndarray | None = None  # (n_train,) int, blocks that folds hold out whole; None: folds of rows

    @property
    def nbytes(self) -> int:
        """Return the number of bytes of the four arrays."""
        return sum(part.nbytes for part in (self.X_train, self.y_train, self.X_test, self.y_test))

    @property
    def size_columns(self) -> dict[str, int]:
        """Return the numbers of training rows, test rows and data columns, as columns of the tidy table."""
        return {"n_train": len(self.y_train), "n_test": len(self.y_test), "d": self.X_train.shape[1]}


def load_prepared(directory, dataset: str = "") -> Prepared:
    """Open and verify the files that ``preprocess`` wrote for a data set. Large arrays stay on disk until rows are
    taken.
    """
    return Prepared(*prepared.read(directory, dataset))


def loaded(specs: list[Part], folders) -> Iterator[tuple[Part, Prepared]]:
    """Yield each specification of a data set with its prepared data. Raise ``UserError`` if a folder holds another data
    set.
    """
    if len(specs) != len(folders):
        raise UserError(f"prepared_dirs: {len(folders)} folders are given for {len(specs)} data sets")
    for spec, folder in zip(specs, folders, strict=True):
        yield spec, load_prepared(folder, spec.dataset)


def draw_sample(data: Prepared, spec: Part, repeat: int, preprocess: list, own_split: dict | None = None) -> Sample:
    """Split, cap and preprocess the rows of one repeat.

    The split depends on the study's seed and the repeat only; ``own_split`` replaces the specification's split.
    ``max_rows`` caps both parts by a random choice of rows. The steps are fitted on the training rows, and so is the
    scaling of the targets if the task has one.
    """
    facts, n = data.facts, len(data.y)
    how = split_of(facts, own_split or spec.split)
    counts = tuple(how.get(part, facts[part]) for part in ("n_train", "n_test")) if how["rule"] == "random" else None
    folds = folds_of(data, spec.seed, how) if how["rule"] == "folds" else None
    chosen = np.sort(rows_in_use(n, spec.seed, how)) if how["rule"] in OF_BLOCKS else np.arange(n)
    published = facts["n_train_published"]
    rows = split(len(chosen), published, repeat, spec.seed, how["rule"], counts, how.get("n_blocks"), folds)
    train, test = (part[~np.isin(part, how.get("without", []))] for part in (chosen[own] for own in rows))
    n_all = len(train) + len(test)
    if spec.max_rows:
        generator = np.random.default_rng(seed_sequence(spec.seed, "cap", repeat))
        train, test = (
            np.sort(generator.choice(part, spec.max_rows, replace=False)) if len(part) > spec.max_rows else part
            for part in (train, test)
        )
    X_train, X_test = np.asarray(data.X[train]), np.asarray(data.X[test])
    scale = fit_steps(preprocess, X_train)
    y_train, y_test = data.y[train], data.y[test]
    if "target_scaling" in facts:
        scale_target = fitted(facts["target_scaling"], y_train)
        y_train, y_test = scale_target(y_train), scale_target(y_test)
    X_train, X_test = (scale(X).astype(np.float32, copy=False) for X in (X_train, X_test))
    capped = len(train) + len(test) < n_all + sum(facts.get("left_out", {}).values())
    by_block = how["rule"] in OF_BLOCKS and how.get("folds") == "blocks"
    blocks = block_of_row(len(chosen), how["n_blocks"])[np.searchsorted(chosen, train)] if by_block else None
    return Sample(X_train, y_train, X_test, y_test, capped, blocks)


def folds_of(data: Prepared, seed: int, how: dict) -> np.ndarray:
    """Return the fold of each row, (n,) int: the published one where the task has some; -1 for rows that are not among
    the ``n_rows`` of the split.
    """
    rows, folds = rows_in_use(len(data.y), seed, how), np.full(len(data.y), -1)
    if "fold_of_row" in data.facts:
        folds[rows] = np.frombuffer(data.facts["fold_of_row"].encode(), dtype=np.int8)[rows] - ord("0")
    else:
        folds[rows] = stratified_folds(np.asarray(data.X[rows]), data.y[rows], how.get("n_folds", N_FOLDS), seed)
    return folds


def rows_in_use(n: int, seed: int, how: dict) -> np.ndarray:
    """Return the rows that a split uses, ``n_rows`` of n in random order."""
    return np.random.default_rng(seed_sequence(seed, "rows of folds")).permutation(n)[: how.get("n_rows", n)]


def split_of(facts: dict, own: dict | None) -> dict:
    """Return the split of a data set: that of an entry, of the experiment, or of the task."""
    return {"rule": facts["split"]} | (own or {})


class Samples:
    """The samples of a data set and what is found on them once. Small samples are cached; a large one is dropped before
    the next.
    """

    def __init__(self, prepared: Prepared, spec: Part):
        self.prepared, self.spec = prepared, spec
        self._drawn: dict[str, Sample] = {}
        self._found: dict = {}

    def of(self, repeat: int, preprocess: list, own_split: dict | None = None) -> Sample:
        """Return the sample of a repeat under these preprocessing steps, with the split of the specification or of an
        entry.
        """
        what = str((repeat if self._repeats_differ(own_split) else 0, preprocess, own_split))
        if what not in self._drawn:
            sample = draw_sample(self.prepared, self.spec, repeat, preprocess, own_split)
            while self._drawn and sum(each.nbytes for each in (sample, *self._drawn.values())) > KEPT_BYTES:
                del self._drawn[next(iter(self._drawn))]
            self._drawn[what] = sample
        return self._drawn[what]

    def _repeats_differ(self, own_split: dict | None) -> bool:
        """Return whether repeats may have different rows. A fixed split that no cap reaches is the same in all."""
        rule, most = split_of(self.prepared.facts, own_split or self.spec.split)["rule"], self.spec.max_rows
        return rule not in FIXED or (most is not None and len(self.prepared.y) > most)

    def once(self, what, find):
        """Return what ``find()`` returned when this hashable ``what`` was first asked for."""
        if what not in self._found:
            self._found[what] = find()
        return self._found[what]

    def length_scale(self, repeat: int, preprocess: list, rule: dict, own_split: dict | None = None) -> float:
        """Return the length scale that a rule of ``bandwidths`` finds on the training rows of a repeat."""
        parameters = without(rule, "rule", "factor")
        what = str((repeat, preprocess, own_split)), str((rule["rule"], sorted(parameters.items())))

        def find():
            found = modules.function("bandwidths", rule["rule"])
            rng = np.random.default_rng(seed_sequence(self.spec.seed, "bandwidth", rule["rule"], repeat))
            return found(self.of(repeat, preprocess, own_split).X_train, rng, **parameters)

        # a factor multiplies the result of a rule, so the rule runs once for all factors
        found = rule.get("factor", 1.0) * self.once(what, find)
        if not 0 < found < np.inf:
            raise UserError(f"bandwidth: the rule {rule['rule']} gives the length scale {found}; is its factor meant?")
        return found

    def approximation_rows(self, repeat: int, n_train: int, most: int) -> np.ndarray:
        """Return a random choice of training rows, up to a limit, on which the error of the kernel matrix is measured.
        They are the same for all methods and sizes of a repeat.
        """
        generator = np.random.default_rng(seed_sequence(self.spec.seed, "approximation", self.spec.dataset, repeat))
        return generator.choice(n_train, min(n_train, most), replace=False)
