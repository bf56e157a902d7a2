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


def gains(**by_method):
    """Accuracies of RFF, 70 in every repeat, and of methods that gain so much at d and at 2d, one above and below."""
    rows = [row for size in ("d", "2d") for row in accuracies("rff", size, [70.0] * 8)]
    for method, of_sizes in by_method.items():
        for size, gain in zip(("d", "2d"), of_sizes, strict=True):
            rows += accuracies(method, size, around(70.0 + gain))
    return rows


def effects(text):
    (line,) = [line for line in text.splitlines() if line.startswith("- Effects")]
    return line.removeprefix("- Effects: eeg: ").rstrip(".")


@pytest.mark.parametrize(("p_value", "said"), [(0.0124, "1 of 4 above, 1 below"), (0.0126, "0 of 4 above, 1 below")])
def test_all_methods_and_sizes_are_one_family(tabulated, p_value, said):
    # t = gain sqrt(7) at 7 degrees of freedom; the smallest p-value, of the loss, counts four times, the next one three
    just = float(stats.t.isf(p_value / 2 * 4 / 3, 7)) / math.sqrt(7)
    _, text = tabulated(gains(orf=(just, 0.0), qmc=(-9.0, 0.0)))
    assert effects(text) == said


def test_half_a_point_is_no_effect(tabulated):
    for gain, reported in ((0.49, "0 of 4 above, 0 below"), (0.51, "2 of 4 above, 0 below")):
        rows = gains(qmc=(0.0, 0.0))
        rows += [row for size in ("d", "2d") for row in accuracies("orf", size, [70.0 + gain] * 8)]
        assert effects(tabulated(rows)[1]) == reported


def test_a_baseline_alone_has_no_differences(tabulated):
    _, text = tabulated(gains())
    assert "Effects" not in text or "0 of 0 above" in text
