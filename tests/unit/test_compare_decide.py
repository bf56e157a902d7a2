"""The decision of ``compare`` between results of contestants."""

import numpy as np
from compare_tables import result
from scipy.stats import ttest_rel

from random_features.compare import contest
from random_features.compare import decide as decisions
from random_features.compare.contestants import MAPS

COMMON = np.random.default_rng(9).random(4000)


def losses(mean, seed):
    """Wrong and right rows, with the error ``mean``, that mostly agree between contestants."""
    return (COMMON + 0.01 * np.random.default_rng(seed).random(4000) < mean).astype(float)


GUESS = result("guess", losses(0.5, 0), 0.0)


def test_the_interval_of_a_difference_is_that_of_the_paired_t_test_with_a_group_as_one_observation():
    a, b = np.random.default_rng(0).random((2, 50))
    expected = ttest_rel(a, b).confidence_interval(0.95)
    for times in (1, 8):
        mean, half = decisions.paired_interval(*(np.repeat(each, times) for each in (a, b, np.arange(50))))
        np.testing.assert_allclose([mean - half, mean + half], [expected.low, expected.high])
    assert decisions.decide([GUESS, result("linear", losses(0.1, 1))], np.zeros(4000), 0.02).kind == "nothing"


def test_the_cheapest_within_the_margin_is_recommended_and_no_map_that_is_worse_or_dearer():
    found = [GUESS, result("boosting", losses(0.200, 1), 9.0), result("rff", losses(0.201, 2), 1.0, 64)]
    decision = decisions.decide([*found, result("linear", losses(0.4, 3), 0.1)], np.arange(4000), 0.05)
    assert (decision.kind, decision.chosen.unit.name, decision.best.unit.name) == ("map", "rff", "boosting")
    assert "rff with 64 columns" in decision.answer
    found = [GUESS, result("boosting", losses(0.1, 1), 9.0), result("rff", losses(0.2, 2), 1.0, 64)]
    decision = decisions.decide(found, np.arange(4000), 0.02)
    assert (decision.kind, decision.chosen.unit.name) == ("no map", "boosting")
    assert "Use boosting: every map is worse, with up to 64 columns. The best map is rff with" in decision.answer
    found = [GUESS, result("linear", losses(0.1, 1), 0.1), result("rff", losses(0.1, 2), 1.0, 64)]
    assert decisions.decide(found, np.arange(4000), 0.1).chosen.unit.name == "linear"  # a tenth of the best's errors


def test_what_few_rows_cannot_separate_is_undecided_and_the_cheaper_is_named():
    rng = np.random.default_rng(0)
    guess = result("guess", rng.random(60) < 0.9, 0.0)
    cheap = result("linear", rng.random(60) < 0.22, 0.1)
    dear = result("rff", rng.random(60) < 0.2, 9.0, 64)
    decision = decisions.decide([guess, cheap, dear], np.arange(60), 0.5)
    assert decision.kind == "undecided"
    assert decision.chosen is decision.best
    assert "linear, cheaper, is as good" in decision.answer
    for why in ("not on 9 rows: stopped after 9 s by the budget", "not on 9 rows: nan"):
        answer = decisions.decide([guess], np.arange(60), 0.5, {"linear": why}).answer
        assert ("a longer --budget may help" in answer) == ("budget" in why)


def test_noise_is_rarely_taken_for_a_signal():
    rng = np.random.default_rng(0)
    kinds = []
    for _ in range(100):
        guess = result("guess", rng.random(500) < 0.5, 0.0)
        others = [result(f"m{k}", rng.random(500) < 0.5, 1.0) for k in range(3)]
        kinds.append(decisions.decide([guess, *others], np.arange(500), 0.02).kind)
    assert kinds.count("nothing") >= 90


def test_a_lead_of_few_columns_is_luck_that_is_averaged_and_of_equal_maps_the_widest_is_best():
    losses = (np.arange(2000) < 80).astype(float)
    luckier = ((np.arange(2000) >= 15) & (np.arange(2000) < 89)).astype(float)  # 15 rows better, 9 worse
    found = [result("guess", losses, 0.0), result("rff", luckier, 1.0, 64), result("rff", losses, 1.0, 128)]
    assert decisions.decide(contest.steady(found), np.arange(2000), 0.02).kind == "nothing"
    found = [result("rff", [mean] * 4, columns=D) for D, mean in ((64, 3.0), (128, 1.0), (256, 2.0))]
    pooled = sorted(contest.steady([*found, GUESS]), key=contest.rank)
    assert [(each.unit.columns, each.losses.mean()) for each in pooled[1:]] == [(256, 1.5), (128, 1.5), (64, 3.0)]
    tied = [result(name, losses, columns=64) for name in MAPS]
    assert [each.unit.name for each in contest.steady(tied)] == [*MAPS]  # in no order that differs from run to run
