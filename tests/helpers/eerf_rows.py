"""Made-up rows of the experiments of EERF for the tests of its tables and claims."""

import verdict_rows

#: Data set: kernel, largest number of features, rows, columns, whether it is a regression.
SETS = {
    "buzz": ("gaussian", 1000, (93800, 46200), 77, True), "news": ("gaussian", 200, (26561, 13083), 58, True),
    "adult": ("gaussian", 100, (32561, 16281), 122, False), "mnist": ("gaussian", 450, (60000, 10000), 784, False),
    "year": ("arccos1", 1000, (463715, 51630), 90, True), "letter": ("arccos2", 100, (15000, 5000), 16, False),
    "har": ("linear", 80, (7352, 2947), 561, False), "letter-halves": ("arccos2", 100, (15000, 5000), 16, False),
}  # fmt: skip


def row(dataset, method, metric, value, m, **columns):
    """One row of a data set of the paper, of the experiment eerf-text where nothing else is said."""
    kernel, _, (n_train, n_test), d, _ = SETS[dataset]
    shared = {"experiment": "eerf-text", "dataset": dataset, "kernel": kernel, "method": method, "n_features": m}
    shared |= {"n_features_label": str(m), "n_columns": m, "n_train": n_train, "n_test": n_test, "d": d}
    return verdict_rows.row(metric, value, **shared | columns)


def made(metric, value, repeat, **columns):
    """One row of data that an experiment makes itself."""
    shared = {"experiment": "eerf-energy", "dataset": "made-cosines", "method": "kprff", "n_features": 100, "d": 10}
    shared |= {"n_features_label": "100", "repeat": repeat, "n_train": 1000}
    return verdict_rows.row(metric, value, **shared | columns)
