"""Facts that a reader needs before trusting an accuracy on a data set, counted the same way for every task.

Rows are numbered from 0 in the order of the prepared file (published training rows first), columns from 1.
"""

import numpy as np
import pandas as pd

#: A gross spike: a cell further from its column's median than this many robust standard deviations.
SPIKE_DEVIATIONS = 100

#: The median absolute deviation times this is the standard deviation of a normal variable.
MAD_TO_DEVIATION = 1.4826

#: Largest number of rows or columns that a fact lists.
MAX_LISTED = 20

#: Labels come in long runs if neighbours agree this much more often than by chance, and by this many standard errors.
RUN_EXCESS, RUN_STANDARD_ERRORS = 0.05, 6.0


def describe(X: np.ndarray, y: np.ndarray, n_train: int | None, train_share: float = 0.5) -> dict:
    """Return the facts about a task's rows, as a flat dictionary of numbers, short lists and texts.

    X (n, d) and y (n,) have the ``n_train`` published training rows first; None means that the rows have no parts. The
    facts are then about a random split that trains on ``train_share`` of the rows. Integers in y are classes,
    floating-point numbers are the target of a regression.
    """
    parts = {"all": slice(None)} if n_train is None else {"train": slice(0, n_train), "test": slice(n_train, None)}
    facts = duplicates(X, y, parts, train_share)
    for part, rows in parts.items():
        facts |= {f"{name}_{part}": value for name, value in part_facts(X[rows], y[rows]).items()}
    return facts | spikes(X)


def duplicates(X: np.ndarray, y: np.ndarray, parts: dict[str, slice], train_share: float) -> dict:
    """Return exact repetitions of rows (all columns and the target), and rows whose columns repeat with another target.

    For published parts, these are the test rows that occur in the training part. Without parts, they are the rows that
    have a twin, and the share of test rows whose twin a random split is expected to put into the training part.
    """
    columns = row_codes(X)
    rows = pd.Series(row_codes(np.column_stack([columns, row_codes(y[:, None])])))
    facts = {f"duplicate_rows_{part}": int(rows[of].duplicated().sum()) for part, of in parts.items()}
    facts["conflicting_rows"] = int(pd.Series(y).groupby(columns).transform("nunique").gt(1).sum())
    if "train" in parts:
        seen = rows[parts["test"]].isin(rows[parts["train"]])
        facts["test_rows_in_training"] = int(seen.sum())
        return facts | {"test_rows_in_training_pct": percent(seen.sum(), len(seen))}
    copies = rows.groupby(rows).transform("size")
    # each of the other copies of a test row is in the training part with a probability of its share
    expected = np.sum(1 - (1 - train_share) ** (copies - 1))
    return facts | {
        "rows_with_twin": int(np.sum(copies > 1)),
        "rows_with_twin_pct": percent(np.sum(copies > 1), len(rows)),
        "expected_test_rows_in_training_pct": percent(expected, len(rows)),
    }


def row_codes(X: np.ndarray) -> np.ndarray:
    """Return a 64-bit code for each row (n,): equal rows have equal codes, and different rows have different codes
    except by chance (about n^2 / 2^65).
    """
    # -0.0 and 0.0 are the same number with different bits
    X = X + 0.0 if X.dtype.kind == "f" else X
    return pd.util.hash_pandas_object(pd.DataFrame(X), index=False).to_numpy()


def part_facts(X: np.ndarray, y: np.ndarray) -> dict:
    """Return the range, the constant columns, and the order of the classes or the distribution of the target of one
    part.
    """
    low, high = X.min(0), X.max(0)
    constant = np.flatnonzero(low == high) + 1
    return {
        "minimum": float(low.min()),
        "maximum": float(high.max()),
        "n_constant_columns": len(constant),
        "constant_columns": constant[:MAX_LISTED].tolist(),
    } | (target_distribution(y) if y.dtype.kind == "f" else class_order(y))


def target_distribution(y: np.ndarray) -> dict:
    """Return the mean, standard deviation (ddof = 0) and range of a regression target, and whether neighbours are
    alike.

    ``neighbours_correlation`` is the correlation of the target with the target of the next row: near 0 unless the order
    of the rows reveals it (time, sorting); 0 if the target is constant.
    """
    correlation = pd.Series(y).autocorr() if len(y) > 2 else np.nan
    return {
        "target_mean": float(y.mean()),
        "target_deviation": float(y.std()),
        "target_minimum": float(y.min()),
        "target_maximum": float(y.max()),
        "neighbours_correlation": 0.0 if np.isnan(correlation) else round(float(correlation), 6),
    }


def class_order(y: np.ndarray) -> dict:
    """Return whether the classes of neighbouring rows reveal an order (time, sorting).

    ``class_order`` is "sorted" if every class is one run, "long runs" if neighbours agree more often than by chance
    (by ``RUN_EXCESS`` and by ``RUN_STANDARD_ERRORS``), else "mixed".

    >>> shuffled = np.random.default_rng(0).permutation(np.repeat([0, 1], [300, 700]))
    >>> [class_order(y)["class_order"] for y in (shuffled, np.sort(shuffled))]
    ['mixed', 'sorted']
    >>> facts = class_order(np.repeat(np.arange(20) % 2, 50))
    >>> facts["class_order"], facts["n_class_runs"], facts["longest_class_run"]
    ('long runs', 20, 50)
    >>> facts["neighbours_agree"] == round(980 / 999, 6), facts["neighbours_agree_by_chance"]
    (True, 0.5)
    >>> class_order(np.repeat([1, 1, 0, 1], [2, 1, 5, 1]))["longest_class_run"]
    5
    """
    same = y[1:] == y[:-1]
    runs = np.diff(np.flatnonzero(np.concatenate([[True], ~same, [True]])))
    shares = np.unique(y, return_counts=True)[1] / len(y)
    agreement, chance = float(same.mean()) if len(same) else 0.0, float(np.sum(shares**2))
    needed = max(RUN_EXCESS, RUN_STANDARD_ERRORS * np.sqrt(chance * (1 - chance) / max(1, len(same))))
    order = "sorted" if len(runs) == len(shares) else "long runs" if agreement > chance + needed else "mixed"
    return {
        "class_order": order,
        "n_class_runs": len(runs),
        "longest_class_run": int(runs.max()),
        "neighbours_agree": round(agreement, 6),
        "neighbours_agree_by_chance": round(chance, 6),
    }


def spikes(X: np.ndarray) -> dict:
    """Return the rows with an implausible cell: more than ``SPIKE_DEVIATIONS`` robust deviations from the median.

    The robust deviation of a column over all rows is 1.4826 times its median absolute deviation. Columns in which that
    is 0 (more than half of the cells equal) and images (bytes cannot spike) are not checked.
    """
    rule = f"a cell more than {SPIKE_DEVIATIONS} x 1.4826 MAD from its column's median"
    if X.dtype == np.uint8:
        return {"spike_rows": 0, "spike_row_numbers": [], "spike_rule": "images are not judged"}
    spiked = np.zeros(len(X), dtype=bool)
    for column in X.T:
        column = column.astype(np.float64)
        distance = np.abs(column - np.median(column))
        if (deviation := MAD_TO_DEVIATION * np.median(distance)) > 0:
            spiked |= distance > SPIKE_DEVIATIONS * deviation
    found = np.flatnonzero(spiked)
    return {"spike_rows": len(found), "spike_row_numbers": found[:MAX_LISTED].tolist(), "spike_rule": rule}


def percent(part: float, whole: int) -> float:
    """Return a share in percent, with four digits."""
    return round(100.0 * float(part) / whole, 4) if whole else 0.0
