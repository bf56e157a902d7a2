"""The table of differences on made rows: the family of a data set, what is an effect, what cannot be tested."""

import math

import pytest
import verdict_rows
from scipy import stats
from verdict_rows import accuracies, around

SPEC = {
    "kind": "differences", "datasets": ["eeg"], "methods": ["rff", "orf", "qmc"], "baselines": ["rff"],
    "sizes": ["d", "2d"], "repeats": 8, "quantity": {"metric": "accuracy_pct", "learner": "ridge", "split": "test"},
}  # fmt: skip


@pytest.fixture
def tabulated(tmp_path):
    return lambda rows, **changed: verdict_rows.tabulated(tmp_path, SPEC | changed, rows)


def gains(n=8, **by_method):
    """Accuracies of RFF, 70 in every repeat, and of methods that gain so much at d and at 2d, one above and below."""
    rows = [row for size in ("d", "2d") for row in accuracies("rff", size, [70.0] * n)]
    for method, of_sizes in by_method.items():
        for size, gain in zip(("d", "2d"), of_sizes, strict=True):
            rows += accuracies(method, size, around(70.0 + gain, n))
    return rows


def effects(text):
    (line,) = [line for line in text.splitlines() if line.startswith("- Effects")]
    return line.removeprefix("- Effects: eeg: ").rstrip(".")


@pytest.mark.parametrize(("p_value", "told"), [(0.0124, "1 of 4 above, 1 below"), (0.0126, "0 of 4 above, 1 below")])
def test_all_methods_and_sizes_are_one_family(tabulated, p_value, told):
    # t = gain sqrt(7) at 7 degrees of freedom; the smallest p-value, of the loss, counts four times, the next one three
    just = float(stats.t.isf(p_value / 2 * 4 / 3, 7)) / math.sqrt(7)
    _, text = tabulated(gains(orf=(just, 0.0), qmc=(-9.0, 0.0)))
    assert effects(text) == told


def test_a_difference_is_told_with_its_p_value(tabulated):
    table, text = tabulated(gains(orf=(5.0, 0.0), qmc=(-5.0, 0.05)))
    assert table[["method", "minus"]].to_numpy().tolist() == [["orf", "rff"], ["qmc", "rff"]]
    assert table["d"].tolist() == ["+5.00 (<0.001)", "-5.00 (<0.001)"]
    assert table["2d"].tolist() == ["+0.00 (1.000)", "+0.05 (1.000)"]
    assert effects(text) == "1 of 4 above, 1 below"
    assert "Holm's correction is over all differences of a data set" in text


def test_a_tenth_of_a_point_is_no_effect(tabulated):
    for gain, told in ((0.09, "0 of 4 above, 0 below"), (0.11, "2 of 4 above, 0 below")):
        rows = [row for size in ("d", "2d") for row in accuracies("rff", size, [70.0] * 8)]
        rows += [row for size in ("d", "2d") for row in accuracies("orf", size, [70.0 + gain] * 8)]
        rows += [row for size in ("d", "2d") for row in accuracies("qmc", size, around(70.0))]
        assert effects(tabulated(rows)[1]) == told


def test_without_five_repeats_there_is_a_difference_and_no_test(tabulated):
    table, text = tabulated(gains(n=4, orf=(5.0, 0.0)))
    assert table["d"].tolist() == ["+5.00"]
    assert effects(text) == "0 of 2 above, 0 below"


def test_what_was_not_run_is_told(tabulated):
    table, _ = tabulated(gains(orf=(5.0, 0.0)), datasets=["eeg", "magic04"])
    assert table["data set"].tolist() == ["eeg", "magic04"]
    assert table.loc[1, ["d", "2d"]].tolist() == ["not run", "not run"]
    # a variant of the baseline is held against it as well, the baseline alone against nothing
    variant = [row | {"method": "rff", "variant": "other"} for row in accuracies("rff", "d", around(71.0))]
    table, _ = tabulated(gains() + variant)
    assert table["method"].tolist() == ["rff (other)"]
    assert table.loc[0, ["d", "2d"]].tolist() == ["+1.00 (0.033)", ""]
    assert tabulated(gains())[0].empty
