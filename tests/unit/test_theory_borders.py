"""Verdicts of the tables on theory, on small made rows just inside and just outside of every border: variances, rates,
and how many features are needed.
"""

import itertools

import numpy as np
import pytest
from theory_rows import pair_row, risk_rows
from verdict_rows import printed, row

pytestmark = pytest.mark.slow


#: Points of the variance as lists of repeats (value, error).
LOWER, EVEN, HIGHER = [(0.59, 0.1)], [(0.61, 0.1)], [(1.41, 0.1)]


@pytest.mark.parametrize(
    ("claim", "points", "verdict"),
    [
        ("Yes", [LOWER, LOWER], ("2 / 0 / 0", "holds")),
        ("Yes", [LOWER, EVEN], ("1 / 1 / 0", "partly")),
        ("Yes", [EVEN, HIGHER], ("0 / 1 / 1", "fails")),
        ("No", [EVEN, HIGHER], ("0 / 1 / 1", "holds")),
        ("No", [LOWER, HIGHER], ("1 / 0 / 1", "partly")),
        ("No", [LOWER, LOWER], ("2 / 0 / 0", "fails")),
        ("The same", [EVEN, [(1.39, 0.1)]], ("0 / 2 / 0", "holds")),
        ("The same", [EVEN, HIGHER], ("0 / 1 / 1", "partly")),
        ("The same", [LOWER, HIGHER], ("1 / 0 / 1", "fails")),
        ("perhaps", [LOWER], ("1 / 0 / 0", "no claim")),
        # four repeats halve the error: 0.81 is 3.8 standard errors below 1, 0.79 is 4.2
        ("Yes", [[(0.81, 0.1)] * 4], ("0 / 1 / 0", "fails")),
        ("Yes", [[(0.79, 0.1)] * 4], ("1 / 0 / 0", "holds")),
        # and they are averaged
        ("Yes", [[(0.59, 0.1), (0.99, 0.1), (0.79, 0.1), (0.79, 0.1)]], ("1 / 0 / 0", "holds")),
    ],
)
def test_a_variance_differs_from_four_standard_errors_on(tabulated, claim, points, verdict):
    rows = [
        pair_row("orf", metric, value, error, z=0.5 * (i + 1), repeat=repeat)
        for i, repeats in enumerate(points)
        for repeat, (value, error) in enumerate(repeats)
        for metric in ("variance_ratio", "kernel_bias")
    ]
    published = [printed("lower_variance_than_rff", claim, paper="survey", method="orf", dataset="")]
    table, _ = tabulated({"kind": "complexities", "paper": "survey", "methods": ["orf"]}, rows, published)
    assert tuple(table.loc[0, ["variance points", "verdict"]]) == verdict


def test_the_ratios_of_a_distance_are_means_with_their_error(tabulated):
    rows = [
        pair_row("orf", "variance_ratio", value, 0.1, z=z, repeat=i)
        for z in (0.5, 2.0)
        for i, value in enumerate((z, z + 0.2))
    ]
    spec = {"kind": "pairs", "paper": "survey", "methods": ["orf"], "quantity": {"metric": "variance_ratio"}}
    table, _ = tabulated(spec, rows)
    assert table.to_dict("records") == [
        {"map": "orf", "direction": "random", "d": "4", "s": "8", "z = 0.5": "0.600 ± 0.071", "z = 2": "2.100 ± 0.071"}
    ]


@pytest.mark.parametrize(
    ("slope", "stated", "verdict"),
    [
        (-0.30, ["-0.5"], "holds"),
        (-0.28, ["-0.5"], "fails"),
        (-0.70, ["-0.5"], "holds"),
        (-0.72, ["-0.5"], "holds, faster"),
        # of several the slowest is the bound, and the fastest what has to be beaten
        (-0.30, ["-1", "-0.5"], "holds"),
        (-0.28, ["-1", "-0.5"], "fails"),
        (-1.20, ["-1", "-0.5"], "holds"),
        (-1.22, ["-1", "-0.5"], "holds, faster"),
        (-0.10, [], "no claim"),
    ],
)
def test_a_rate_is_an_upper_bound_up_to_four_standard_errors(tabulated, slope, stated, verdict):
    """Two repeats at four sizes, above and below the line by a noise of 0.1, the size of the residuals: the standard
    error of the slope is sqrt(8 0.1^2 / 6 / (2 * 5 ln(2)^2)), which is 0.05268, and four of them are 0.2107.
    """
    rows = [
        row("approximation_error_sup", s**slope * np.exp(noise), method="rff", n_features=s, d=4, repeat=repeat,
            n_features_label=str(s))
        for s, (repeat, noise) in itertools.product((64, 128, 256, 512), enumerate((-0.1, 0.1)))
    ]  # fmt: skip
    of = {"paper": "survey", "method": "rff;orf", "dataset": ""}
    published = [printed("rate_exponent_in_s_sup", power, **of) for power in stated]
    table, _ = tabulated({"kind": "rates", "paper": "survey", "methods": ["rff"], "norms": ["sup"]}, rows, published)
    assert table.loc[0, ["fitted power of s", "verdict"]].tolist() == [f"{slope:.2f} ± 0.05", verdict]


SAMPLES = (256, 1024, 4096, 16384)
LESS = 1.1


def need_rows(method, needed, samples=SAMPLES):
    """Risks that are within the tolerance from ``needed(n)`` on, and not at the size before, smaller by ``LESS``."""
    rows = []
    for n in samples:
        s = round(needed(n))
        rows += risk_rows(method, {round(s / LESS): 1.3, s: 1.2}, n, "polynomial")
    return rows


def required(tabulated, rows, bound="sqrt(n) log n", decay="polynomial"):
    published = [
        printed("required_features_bound", f"s >= {bound}", method="lsrff",
                dataset=f"eigenvalue decay {decay}: lambda_i ~ n i^(-2)")
    ]  # fmt: skip
    table, _ = tabulated({"kind": "requirements", "methods": ["lsrff"]}, rows, published)
    assert table["eigenvalues"].tolist() == ["lambda_i ~ n i^(-2)"] * len(table)
    return table


@pytest.mark.parametrize(
    ("bound", "power"),
    [("log^2 n", 0.2685), ("sqrt(n) loglog n", 0.5677), ("n^(1/(4t)) log n", 0.3843), ("sqrt(n) log n", 0.6343)],
)
def test_a_bound_holds_unless_the_need_grows_faster(tabulated, bound, power):
    # four standard errors, of steps of a tenth alone: 4 ln(1.1) / sqrt(12 * 5 ln(4)^2) = 0.0355
    for grows, verdict in ((power + 0.034, "holds"), (power + 0.037, "fails"), (power - 0.3, "holds")):
        table = required(tabulated, need_rows("lsrff", lambda n, grows=grows: 100_000 * n**grows), bound)
        assert table.loc[0, ["power of n", "power of the bound", "verdict"]].tolist() == [
            f"{grows:.2f} ± 0.01", f"{power:.2f}", verdict,
        ]  # fmt: skip


def test_without_a_bound_or_three_needs_there_is_no_verdict(tabulated):
    table = required(tabulated, need_rows("lsrff", lambda n: 1000, samples=SAMPLES[:2]))
    assert table["verdict"].tolist() == ["not run"]
    table = required(tabulated, need_rows("slsrff", lambda n: 1000))
    assert table["verdict"].tolist() == ["no claim"]


@pytest.mark.parametrize(
    ("risks", "needed"),
    [
        ({8: 2.0, 16: 1.25, 32: 1.0}, "16"),  # at the tolerance is within it
        ({8: 2.0, 16: 1.2501, 32: 1.0}, "32"),
        ({8: 1.0, 16: 1.3, 32: 1.2}, "32"),  # from which on
        ({8: 1.2, 16: 1.2, 32: 1.2}, "8"),
        ({8: 1.2, 16: 1.2, 32: 1.3}, "> 32"),
    ],
)
def test_a_need_is_the_size_from_which_on_the_risk_is_within_the_tolerance(tabulated, risks, needed):
    # the mean over the repeats counts, of the exact kernel too
    rows = [
        each | {"value": each["value"] + off * (2 if each["metric"] == "risk_exact" else 1)}
        for repeat, off in enumerate((-0.25, 0.25))
        for each in risk_rows("lsrff", risks, 256, "slowest", repeat=repeat)
    ]
    assert required(tabulated, rows, decay="slowest").loc[0, "needed, n = 256"] == needed
