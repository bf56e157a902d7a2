"""What is stated about leverage sampling on made rows: powers of the cost, requirements, every verdict, the figure."""

import itertools

import numpy as np
import pytest
import report_rows
import verdict_rows

from rfstudy import tidy
from rfstudy.report import catalogue
from rfstudy.report.estimates import largest_half, varying
from rfstudy.report.tables.requirements import features_needed, growth_of_need, size_text

SIZES = (32, 64, 128, 256, 512)
SAMPLES = (64, 128, 256, 512)


def base(experiment, **columns):
    return {
        "origin": "measured", "run": "r1", "preset": "laptop", "paper": "slsrff", "protocol": "text",
        "experiment": experiment, "kernel": "gaussian", "status": "ok", "seed": 1, "settings": {},
    } | columns  # fmt: skip


def cost_rows(method, fit, scores=None):
    """Times of one map as functions of n and s, along s at n = 2048 and along n at s = 128."""
    pairs = dict.fromkeys([*((2048, s) for s in SIZES), *((n, 128) for n in (512, 1024, 2048))])
    functions = {"time_fit_s": fit, "time_scores_s": scores, "time_transform_s": lambda n, s: 1e-8 * n * s}
    return [
        base(
            "slsrff-cost", dataset=f"made-n{n}", method=method, n_features=s, n_features_label=str(s), n_train=n, d=16,
            metric=metric, value=function(n, s), settings={"threads": 1, "timing_runs": 3},
        )
        for (n, s), (metric, function) in itertools.product(pairs, functions.items())
        if function is not None
    ]  # fmt: skip


def both_costs(power):
    surrogate = cost_rows("slsrff", lambda n, s: 1e-8 * n * s, lambda n, s: 1e-9 * n * s)
    return surrogate + cost_rows("lsrff", lambda n, s: 1e-8 * n * (s + s**power), lambda n, s: 1e-8 * n * s**power)


def surrogate_rows(least=1.1, share=0.6, power=0.5, below=0.8):
    """Ratios and totals of the surrogate; ``share`` is the total over its bound, ``power`` that of n in the total."""
    rows = []
    for n, repeat, (variant, smallest) in itertools.product(
        SAMPLES, range(2), (("identity", least), ("", least / 1000))
    ):
        bound = 2.0 * n**power
        values = {
            "leverage_ratio_least": smallest,
            "leverage_ratio_below": 0.0 if variant else below,
            "total_surrogate_bound": bound,
            "total_surrogate_leverage": share * bound,
            "total_leverage": 0.1 * bound,
        }
        rows += [
            base(
                "slsrff-surrogate", dataset=f"labelled-d2-n{n}", method="slsrff", variant=variant, n_train=n, d=2,
                repeat=repeat, axis="penalty", at=n**-0.5, metric=metric, value=value, settings={"rule": "n^(-1/2)"},
            )
            for metric, value in values.items()
        ]  # fmt: skip
    return rows


def need_rows(method, needed, variant="", decays=("exponential", "polynomial", "slowest"), sizes=SIZES):
    """Risks of a method that needs ``needed`` features, a number or a function of n: 10 % too high below."""
    rows = []
    for decay, n, repeat in itertools.product(decays, SAMPLES, range(2)):
        enough = needed(n) if callable(needed) else needed
        shared = base(
            "slsrff-required-features", dataset=f"circle-{decay}-n{n}", kernel=f"circle-{decay}", method=method,
            variant=variant, repeat=repeat, split="test", learner="ridge", n_train=n, n_test=300, d=1,
            settings={"tolerance": 0.01, "draws": 3, "terms": 512},
        )  # fmt: skip
        exact = 0.8 + 0.1 * repeat
        rows.append(shared | {"metric": "risk_exact", "n_features_label": "exact", "value": exact})
        rows += [
            shared
            | {
                "metric": "risk",
                "n_features": s,
                "n_features_label": str(s),
                "value": exact * (1.005 if s >= enough else 1.1),
            }
            for s in sizes
        ]
    return rows


def verdict(claim, rows):
    return verdict_rows.found_as(claim, tidy.frame(rows), styles=report_rows.METHODS)


def test_the_larger_half_has_at_least_three_values():
    assert largest_half([1, 2, 4, 8]).tolist() == [2, 4, 8]
    assert largest_half(SIZES).tolist() == [128, 256, 512]
    assert largest_half(range(7)).tolist() == [3, 4, 5, 6]


def test_rows_vary_in_one_column_only():
    rows = varying(tidy.frame(both_costs(2.0)), "time_fit_s", "n_features", "n_train")
    assert set(rows["n_train"]) == {2048}
    assert set(rows["n_features"]) == set(SIZES)
    assert not len(varying(tidy.frame([]), "time_fit_s", "n_features", "n_train"))


def test_what_is_needed_is_the_size_from_which_on_the_mean_is_within_the_tolerance():
    rows = need_rows("rff", 128, decays=("slowest",))
    # a size that is within the tolerance by luck, before one that is not
    rows = [r | {"value": 0.8} if r.get("n_features") == 32 and r["n_train"] == 64 else r for r in rows]
    needed = features_needed(tidy.frame(rows))
    assert needed["s"].tolist() == [128.0] * 4
    assert needed["exact"].tolist() == pytest.approx([0.85] * 4)
    missed = features_needed(tidy.frame(need_rows("rff", 10**6)))
    assert missed["s"].isna().all()
    assert size_text(missed["s"].iloc[0], missed["largest"].iloc[0]) == "> 512"
    assert not len(features_needed(tidy.frame([])))


def test_a_need_grows_with_the_error_of_its_steps():
    needed = features_needed(tidy.frame(need_rows("rff", lambda n: n / 2, decays=("slowest",))))
    power = growth_of_need(needed)
    assert power.value == pytest.approx(1.0)
    # an even error of a factor of two has the deviation log(2) / sqrt(12); log n has the deviations 1.5, 0.5 doublings
    assert power.error == pytest.approx(1 / np.sqrt(12 * 2 * (1.5**2 + 0.5**2)), abs=1e-6)
    assert growth_of_need(needed.iloc[:2]) is None


CASES = [
    ("slsrff-20", "holds", both_costs(2.5)),
    ("slsrff-20", "fails", both_costs(1.5)),
    ("slsrff-21", "not testable", surrogate_rows()),
    ("slsrff-21", "not testable", surrogate_rows(least=0.9)),
    (
        "slsrff-21",
        "not testable",
        surrogate_rows() + [r | {"repeat": r["repeat"] + 2} for r in surrogate_rows(least=0.9)],
    ),
    ("slsrff-22", "not testable", surrogate_rows()),
    ("slsrff-22", "not testable", surrogate_rows(power=0.7)),
    ("slsrff-22", "not testable", surrogate_rows(power=0.7, share=1.1)),
    ("slsrff-23", "not testable", need_rows("slsrff", 128) + need_rows("lsrff", 64)),
    ("slsrff-23", "not testable", need_rows("slsrff", 64) + need_rows("lsrff", 10**6)),
]


@pytest.mark.parametrize(
    ("claim", "expected", "rows"), CASES, ids=[f"{c}-{v}-{i}" for i, (c, v, _) in enumerate(CASES)]
)
def test_a_claim_has_every_verdict_that_rows_can_give_it(claim, expected, rows):
    found, evidence = verdict(claim, rows)
    assert found == expected
    assert evidence


def made(name, rows, tmp_path):
    """The table of a name, as people read it, and its Markdown."""
    spec = catalogue.specification(report_rows.REPORTS, "slsrff", name)
    return report_rows.as_read(report_rows.made(spec, [report_rows.written(tmp_path, rows)], tasks={}))
