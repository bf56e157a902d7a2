"""The facts about metrics: one table with all that the study measures and compares."""

import math

import pandas as pd
import pytest
from report_rows import ROOT

from rfstudy.metrics import FACTS, fact_of, lower_is_better


@pytest.mark.parametrize("metric", FACTS)
def test_a_fact_agrees_with_the_name_of_its_metric(metric):
    fact = FACTS[metric]
    suffixes = {"_pct": "%", "_s": "s", "_bytes": "B"}
    assert fact.unit == next((unit for suffix, unit in suffixes.items() if metric.endswith(suffix)), "")
    assert fact.label
    assert "_" not in fact.label
    assert fact.better in ("low", "high", "")
    assert not fact.better or lower_is_better(metric) == (fact.better == "low")
    # a comparison needs both, and one without the other is a slip
    assert bool(fact.better) == (fact.tolerance is not None) == (fact.margin(50.0) > 0.0)
    # what is better low is an amount, which ends at zero, but for a gap between two estimates; a share has both ends
    assert fact.bounds[0] == 0.0 or not fact.better or metric == "duality_gap"
    assert fact.bounds[1] == (100.0 if metric.endswith("_pct") and "squared" not in metric else fact.bounds[1])


@pytest.mark.parametrize("metric", ["kernel_bias", "total_leverage", "fact_rows", "acuracy_pct"])
def test_a_metric_without_a_direction_cannot_be_compared(metric):
    with pytest.raises(ValueError, match=f"whether a low {metric} is good is not known"):
        lower_is_better(metric)


def test_a_metric_that_is_not_listed_is_a_plain_number():
    assert fact_of("ram_gb") == ("", "ram gb", "", None, (-math.inf, math.inf))


def test_every_metric_of_the_shipped_measurements_is_known():
    for path in sorted((ROOT / "data" / "measured").glob("*.csv.xz")):
        metrics = set(pd.read_csv(path, usecols=["metric"])["metric"])
        assert {metric for metric in metrics if not metric.startswith("fact_")} <= set(FACTS), path
