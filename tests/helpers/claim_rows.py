"""Small made rows for the helpers of claims, and the verdict that a helper comes to on them."""

import math

import numpy as np
import verdict_rows
from scipy import stats

from rfstudy import tidy
from rfstudy.report.claims.points import conclude
from rfstudy.report.claims.rows import Rows
from rfstudy.report.context import Context

ERROR, ACCURACY, TIME, BIAS = "approximation_error_frobenius", "accuracy_pct", "time_feature_s", "kernel_bias"
TASKS = {"eeg": {"label": "EEG", "split": "half"}, "letter": {"label": "letter", "split": "published"}}
STYLES = {
    method: {"label": method.upper(), "colour": "#000000", "marker": "o"} for method in ("rff", "orf", "qmc", "ssf")
}

#: Five repeats of mean 0 and standard deviation 1, and five that are not correlated with them.
BASE = np.array([-2.0, -1.0, 0.0, 1.0, 2.0]) / np.sqrt(2.5)
OTHER = np.array([1.0, -2.0, 0.0, 2.0, -1.0]) / np.sqrt(2.5)

#: The half width of a 95 % interval of five paired differences of deviation 1, plain and on random halves.
PLAIN = stats.t(4).ppf(0.975) / math.sqrt(5)
CORRECTED = stats.t(4).ppf(0.975) * math.sqrt(1 / 5 + 1)


def made(metric, dataset="eeg", **by_method):
    """Rows by repeat: method -> size in multiples of d -> value or values."""
    split = {"n_train": 100, "n_test": 100, "split": "test" if metric == ACCURACY else ""}
    return [
        verdict_rows.row(metric, value, dataset=dataset, repeat=repeat, method=method.partition("__")[0],
            variant=method.partition("__")[2], n_features=10 * multiple, n_features_label=f"{multiple}d", d=10, **split)
        for method, by_size in by_method.items()
        for multiple, values in (by_size if isinstance(by_size, dict) else {2: by_size}).items()
        for repeat, value in enumerate(np.atleast_1d(values))
    ]  # fmt: skip


def measured(rows, tasks=TASKS, paper="survey"):
    """Rows as a claim of a paper gets them."""
    context = Context(tidy.frame(list(rows)), STYLES, tasks)
    return Rows(context.rows, context.rows, context, paper)


def found(helper, *arguments, rows, datasets=("eeg",), tasks=TASKS, at="every", set_aside=None, **options):
    """Verdict and evidence on the part that a helper makes of rows."""
    own = measured(rows, tasks).of(datasets, set_aside=set_aside)
    return conclude([helper(own, *arguments, **options)], at)


def verdict(*arguments, **options):
    return found(*arguments, **options)[0]


def fixed(value, n=5):
    """Repeats without any spread."""
    return [float(value)] * n
