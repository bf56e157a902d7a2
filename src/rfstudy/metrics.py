"""Facts about every metric: its unit, its name in words, its better direction, and the range of its values.

``FACTS`` is the one table of the metrics; ``rfstudy.scores`` computes them. Standard library only.
"""

import math
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
        """
        share = SHARE * abs(value)
        if not self.is_percentage:
            return (self.tolerance or 0.0) * abs(value)
        return min(self.tolerance, share) if self.better == "low" else self.tolerance


def _seconds(kind: str, what: str) -> Fact:
    return Fact("s", f"{kind} of {what}", "low", SHARE, NON_NEGATIVE)


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
    "error_pct": Fact("%", "error", "low", POINTS, PERCENT),
    "train_error_pct": Fact("%", "training error", "low", POINTS, PERCENT),
    "mse": Fact("", "mean squared error", "low", SHARE, NON_NEGATIVE),
    "rmse": Fact("", "root mean squared error", "low", SHARE, NON_NEGATIVE),
    "relative_error": Fact("", "relative error", "low", SHARE, NON_NEGATIVE),
    "relative_squared_error_pct": Fact("%", "relative squared error", "low", POINTS, NON_NEGATIVE),
    "approximation_error_frobenius": Fact("", "approximation error", "low", SHARE, NON_NEGATIVE),
    "approximation_error_spectral": Fact("", "spectral error", "low", SHARE, NON_NEGATIVE),
    "approximation_error_sup": Fact("", "largest error", "low", SHARE, NON_NEGATIVE),
    "approximation_error_l2": Fact("", "root mean square error of the kernel", "low", SHARE, NON_NEGATIVE),
    "approximation_error_delta_spectral": Fact("", "spectral approximation factor", "low", SHARE, NON_NEGATIVE),
    "time_feature_s": Fact("s", "generation time", "low", SHARE, NON_NEGATIVE),
    "time_preprocess_s": Fact("s", "preprocessing time", "low", SHARE, NON_NEGATIVE),
    "time_train_s": Fact("s", "training time", "low", SHARE, NON_NEGATIVE),
    "time_preprocess_train_s": Fact("s", "preprocessing and training time", "low", SHARE, NON_NEGATIVE),
    "time_test_s": Fact("s", "test time", "low", SHARE, NON_NEGATIVE),
    **{f"time_{phase}_s": _seconds("time", what) for phase, what in PHASES.items()},
    **{f"cpu_{phase}_s": _seconds("processor time", what) for phase, what in PHASES.items()},
    "time_total_s": Fact("s", "total time", "low", SHARE, NON_NEGATIVE),
    "passes": Fact("", "passes over the training rows", "low", SHARE, NON_NEGATIVE),
    "n_train": Fact("", "training rows", bounds=NON_NEGATIVE),
    "n_test": Fact("", "test rows", bounds=NON_NEGATIVE),
    "n_dims": Fact("", "columns of the data", bounds=NON_NEGATIVE),
    "stored_bytes": Fact("B", "stored bytes", "low", SHARE, NON_NEGATIVE),
    "risk": Fact("", "risk", "low", SHARE, NON_NEGATIVE),
    "risk_exact": Fact("", "risk of the exact kernel", "low", SHARE, NON_NEGATIVE),
    "kernel_bias": Fact("", "bias of a kernel value"),
    "kernel_mse": Fact("", "mean squared error of a kernel value", "low", SHARE, NON_NEGATIVE),
    "kernel_variance": Fact("", "variance of a kernel value", "low", SHARE, NON_NEGATIVE),
    "variance_ratio": Fact("", "variance of a kernel value over that of RFF", "low", SHARE, NON_NEGATIVE),
    "variance_ratio_columns": Fact(
        "", "variance of a kernel value over that of RFF with as many columns", "low", SHARE, NON_NEGATIVE
    ),
    "margin_objective": Fact("", "margin objective", "low", SHARE, NON_NEGATIVE),
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
    "score_deviation": Fact("", "largest deviation of a score", "low", SHARE, NON_NEGATIVE),
    "total_surrogate_bound": Fact("", "bound on the total surrogate leverage", bounds=NON_NEGATIVE),
}


def fact_of(metric: str) -> Fact:
    """Return the facts about a metric: its entry in ``FACTS``, or those of a plain number with its own name."""
    return FACTS.get(metric) or Fact("", metric.replace("_", " "))


def lower_is_better(metric: str) -> bool:
    """Return whether lower is better: errors and times are better low, accuracies high. Raise ``ValueError`` if a
    metric has no direction.
    """
    better = fact_of(metric).better
    if not better:
        raise ValueError(f"whether a low {metric} is good is not known")
    return better == "low"
