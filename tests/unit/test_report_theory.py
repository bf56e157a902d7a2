"""Claims about the maps themselves on made rows: fitted powers, every verdict, and the tables."""

import pytest
import report_rows
import verdict_rows
from theory_rows import cost_rows, decay_rows, pair_rows

from rfstudy import tidy
from rfstudy.report.estimates import SignCounts, growth, tally


def test_growth_takes_the_rows_in_which_only_one_thing_varies():
    frame = tidy.frame(cost_rows("orf", 1.0, 0.5))
    assert growth(frame, "stored_bytes", "n_features").value == pytest.approx(1.0)
    assert growth(frame, "stored_bytes", "d").value == pytest.approx(0.5)
    assert growth(frame, "kernel_bias", "d") is None


def test_a_difference_counts_from_four_standard_errors():
    assert tally([-0.5, -0.3, 0.0, 0.3, 0.5], [0.1] * 5) == SignCounts(1, 3, 1)
    # a deterministic map has no error: any difference is one
    assert tally([-1e-9, 0.0], [0.0, 0.0]) == SignCounts(1, 1, 0)


CASES = [
    ("survey-50", "holds", pair_rows("rff", ratio=1.01)),
    ("survey-50", "partly", pair_rows("rff", ratio=1.2)),
    ("survey-50", "contradicted", pair_rows("rff", ratio=1.2, bias=0.1)),
    ("survey-51", "holds", pair_rows("orf", ratio=lambda d, z: 0.5 if d == 32 and z <= 1 else 1.5)),
    ("survey-51", "partly", pair_rows("orf", ratio=lambda d, z: 0.5 if z < 1 else 1.0)),
    ("survey-51", "contradicted", pair_rows("orf", ratio=1.5, bias=0.1)),
    ("survey-55", "holds", decay_rows("qmc", lambda d: -0.9 if d <= 4 else -0.55)),
    ("survey-55", "partly", decay_rows("qmc", -0.9)),
    ("survey-55", "fails", decay_rows("qmc", lambda d: -0.5 if d <= 4 else -0.9)),
]


@pytest.mark.parametrize(("claim", "expected", "rows"), CASES, ids=[f"{c}-{v}" for c, v, _ in CASES])
def test_a_claim_has_every_verdict_that_rows_can_give_it(claim, expected, rows):
    found, evidence = verdict_rows.found_as(claim, tidy.frame(rows), styles=report_rows.METHODS)
    assert found == expected
    assert evidence


@pytest.fixture(scope="module")
def of_another_method():
    return report_rows.context_of(pair_rows("lprff") + decay_rows("lprff", -0.5))


@pytest.mark.slow
@pytest.mark.parametrize("claim", verdict_rows.claims())
def test_a_claim_on_methods_without_rows_is_not_run(of_another_method, claim):
    """Without any rows at all: ``test_the_names_in_claims_exist``."""
    assert verdict_rows.found_in(of_another_method, claim) == ("not run", "")
