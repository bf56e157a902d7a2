"""Facts about every metric: its unit, its name in words, its better direction, and the range of its values.

``FACTS`` is the one table of the metrics; ``rfstudy.scores`` computes them. Standard library only.
"""

import math
import re
from functools import partial
from typing import NamedTuple

#: Practical margins: percentages that are fewer points apart are the same for any practical purpose, and other values
#: a smaller share apart. An effect between methods exceeds these points.
POINTS, SHARE = 0.5, 0.10

#: Ranges of the values of metrics: any number, non-negative numbers, shares (also in percent), correlations.
ANY, NON_NEGATIVE = (-math.inf, math.inf), (0.0, math.inf)
SHARES, PERCENT, CORRELATION = (0.0, 1.0), (0.0, 100.0), (-1.0, 1.0)


class Fact(NamedTuple):
    """The facts about a metric."""

    unit: str  # "" for a plain number
    label: str  # in words
    better: str = ""  # "low", "high", or "" if neither is better
    tolerance: float | None = None  # points of a percentage, a share of any other value; None: only equal is the same
    bounds: tuple[float, float] = ANY  # what a value can be, both ends included

    @property
    def is_percentage(self) -> bool:
        """Return whether differences are reported in points."""
        return self.unit == "%"

    @property
    def smallest_effect(self) -> float:
        """Return the value that a difference between methods has to exceed to be an effect: points of a percentage."""
        return POINTS if self.is_percentage else 0.0

    def margin(self, value: float) -> float:
        """Return the largest distance from a value at which another value is the same in practice.

        An error in percent has the smaller of its points and its share: half a point matters for an error of 0.2 %.

        >>> [fact_of("accuracy_pct").margin(value) for value in (80.0, 0.1)]
        [0.5, 0.5]
        >>> [round(fact_of("error_pct").margin(value), 9) for value in (20.0, 5.0, 4.0)]
        [0.5, 0.5, 0.4]
        >>> others = {"train_error_pct": 0.2, "time_feature_s": 2.0, "mse": 0.5, "n_train": 100}
        >>> [round(fact_of(metric).margin(value), 9) for metric, value in others.items()]
        [0.02, 0.2, 0.05, 0.0]
        """
        margin = (self.tolerance or 0.0) * (1.0 if self.is_percentage else abs(value))
        return min(margin, SHARE * abs(value)) if self.is_percentage and self.better == "low" else margin


#: The facts about a quantity that is not negative, the lower the better, by its unit and label.
_cost = partial(Fact, better="low", tolerance=SHARE, bounds=NON_NEGATIVE)

#: Timed phases, in words: ``time_<phase>_s`` by the clock and ``cpu_<phase>_s`` of the processor.
PHASES = {
    "draw": "drawing the map",
    "learn": "learning the map",
    "transform": "mapping the training rows",
    "fit_transform": "learning the map and mapping the training rows",
    "fit": "the fit",
    "predict_transform": "mapping the test rows",
    "predict": "predicting",
    "scores": "the scores",
    "plan": "planning a run",
    "total": "learning, mapping, fitting and predicting",
    "all_cores": "learning, mapping, fitting and predicting on all cores",
}

#: Facts by metric. A metric that is not listed is a plain number without further facts.
FACTS = {
    "accuracy_pct": Fact("%", "accuracy", "high", POINTS, PERCENT),
    "train_accuracy_pct": Fact("%", "training accuracy", "high", POINTS, PERCENT),
    "auc_pct": Fact("%", "area under the ROC curve", "high", POINTS, PERCENT),
    "error_pct": Fact("%", "error", "low", POINTS, PERCENT),
    "train_error_pct": Fact("%", "training error", "low", POINTS, PERCENT),
    "mse": _cost("", "mean squared error"),
    "rmse": _cost("", "root mean squared error"),
    "relative_error": _cost("", "relative error"),
    "relative_squared_error_pct": Fact("%", "relative squared error", "low", POINTS, NON_NEGATIVE),
    "approximation_error_frobenius": _cost("", "approximation error"),
    "approximation_error_spectral": _cost("", "spectral error"),
    "approximation_error_sup": _cost("", "largest error"),
    "approximation_error_l2": _cost("", "root mean square error of the kernel"),
    "approximation_error_delta_spectral": _cost("", "spectral approximation factor"),
    "time_feature_s": _cost("s", "generation time"),
    "time_preprocess_s": _cost("s", "preprocessing time"),
    "time_train_s": _cost("s", "training time"),
    "time_preprocess_train_s": _cost("s", "preprocessing and training time"),
    "time_test_s": _cost("s", "test time"),
    **{f"time_{phase}_s": _cost("s", f"time of {what}") for phase, what in PHASES.items()},
    **{f"cpu_{phase}_s": _cost("s", f"processor time of {what}") for phase, what in PHASES.items()},
    "time_total_s": _cost("s", "total time"),
    "passes": _cost("", "passes over the training rows"),
    "n_train": Fact("", "training rows", bounds=NON_NEGATIVE),
    "n_test": Fact("", "test rows", bounds=NON_NEGATIVE),
    "n_dims": Fact("", "columns of the data", bounds=NON_NEGATIVE),
    "stored_bytes": _cost("B", "stored bytes"),
    "risk": _cost("", "risk"),
    "risk_exact": _cost("", "risk of the exact kernel"),
    "kernel_bias": Fact("", "bias of a kernel value"),
    "kernel_mse": _cost("", "mean squared error of a kernel value"),
    "kernel_variance": _cost("", "variance of a kernel value"),
    "variance_ratio": _cost("", "variance of a kernel value over that of RFF"),
    "variance_ratio_columns": _cost("", "variance of a kernel value over that of RFF with as many columns"),
    "margin_objective": _cost("", "margin objective"),
    "margin_lower": Fact("", "lower end of the margin objective"),
    "duality_gap": Fact("", "duality gap", "low", SHARE),
    "gap_bound": Fact("", "bound on the duality gap, exact search", bounds=NON_NEGATIVE),
    "gap_bound_mended": Fact("", "bound on the duality gap, exact search, mended", bounds=NON_NEGATIVE),
    "dual_violation": Fact("", "violation of the dual constraints", bounds=NON_NEGATIVE),
    "distinct_features": Fact("", "distinct features", bounds=NON_NEGATIVE),
    "boundary_weight_ratio": Fact("", "dual weight near the boundary over that elsewhere"),
    "peak_area": Fact("", "area above half of the potential's maximum", bounds=NON_NEGATIVE),
    "best_potential": Fact("", "best potential", bounds=NON_NEGATIVE),
    "selected_norm": Fact("", "length of the selected frequency", bounds=NON_NEGATIVE),
    "leverage_ratio_least": Fact("", "least ratio of surrogate and leverage", bounds=NON_NEGATIVE),
    "leverage_ratio_below": Fact("", "share of frequencies whose surrogate is below the leverage", bounds=SHARES),
    "total_leverage": Fact("", "total leverage", bounds=NON_NEGATIVE),
    "total_surrogate_leverage": Fact("", "total surrogate leverage", bounds=NON_NEGATIVE),
    "effective_rank": Fact("", "effective rank", bounds=NON_NEGATIVE),
    "class_share_pct": Fact("%", "share of the class", bounds=PERCENT),
    "mean_squared_length": Fact("", "mean squared length of the features", bounds=NON_NEGATIVE),
    "smallest_singular_value": Fact("", "smallest singular value of the features", bounds=NON_NEGATIVE),
    "counter_example_pct": Fact("%", "share of counter-examples", bounds=PERCENT),
    "kernel_distance": Fact("", "distance to the kernel matrix", bounds=NON_NEGATIVE),
    "cross_kernel_distance_squared": Fact("", "squared distance to the kernel at a new point", bounds=NON_NEGATIVE),
    "alignment_with_labels": Fact("", "product of labels and residual"),
    "prediction_deviation": Fact("", "deviation from the exact kernel's prediction", bounds=NON_NEGATIVE),
    "excess_risk": Fact("", "excess risk at a new point", bounds=NON_NEGATIVE),
    "overlap_pct": Fact("%", "share of features that both chose", bounds=PERCENT),
    "score_spectrum_correlation": Fact("", "correlation of score and spectrum", bounds=CORRELATION),
    "score_deviation": _cost("", "largest deviation of a score"),
    "total_surrogate_bound": Fact("", "bound on the total surrogate leverage", bounds=NON_NEGATIVE),
}

#: Metrics of the predictions, by the kind of the target: functions of ``scores``.
OF_TARGET = {
    "binary": ("accuracy_pct", "error_pct", "auc_pct"),
    "classes": ("accuracy_pct", "error_pct"),
    "regression": ("mse", "rmse", "relative_error", "relative_squared_error_pct"),
}


def problem_of_metric(target: str, metric: str) -> str:
    """Return why a metric does not apply to a kind of target; empty if it does."""
    known = OF_TARGET[target]
    return "" if metric in known else f"{metric!r} is no metric of a {target} target; known are {', '.join(known)}"


def fact_of(metric: str) -> Fact:
    """Return the facts about a metric: its entry in ``FACTS``, or those of a plain number with its own name."""
    return FACTS.get(metric) or Fact("", metric.replace("_", " "))


def parts_behind(metric: str) -> tuple[str, ...]:
    """Return the parts of the data on which a metric depends: all of "train", "labels" and "test", the training rows
    for times of mapping and training them, and none for errors of kernel matrices, which are of 1,000 training rows.
    """
    if metric.startswith("approximation_error_"):
        return ()
    is_of_training = re.match("(time|cpu)_(?!.*(test|predict|total|all_cores))", metric)
    return ("train",) if is_of_training else ("train", "labels", "test")


def lower_is_better(metric: str) -> bool:
    """Return whether lower is better: errors and times are better low, accuracies high. Raise ``ValueError`` if a
    metric has no direction.
    """
    if not (better := fact_of(metric).better):
        raise ValueError(f"whether a low {metric} is good is not known")
    return better == "low"
