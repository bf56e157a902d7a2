"""The search for a nearer kernel that predicts worse, against the same in floating point."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import study_toys as toys
from checkouts import ROOT

from rfstudy.planning import config
from rfstudy.study.engine import Job
from rfstudy.study.kinds import counterexample

SEARCH = config.load_experiments(ROOT / "config")["survey-counter-example"]["grid"]


def searched(**changes):
    job = Job("measure", toys.part(kind="counterexample", grid=SEARCH | changes, repeats=[0]), None, None)
    (cell,) = counterexample.cells(job)
    return toys.measured(counterexample, job, cell)


def risk_of(v, grid=SEARCH):
    """By NumPy: what is compared of one feature more, and its largest eigenvalue."""
    gram = np.array(grid["gram"], dtype=float)
    K, k, n = gram[:-1, :-1], gram[-1, :-1], len(gram) - 1
    y, shift = np.array(grid["labels"], dtype=float), n * grid["penalty"]
    more = gram + np.outer(v, v)
    E, epsilon = np.outer(v[:-1], v[:-1]), v[-1] * v[:-1]
    exact = k @ np.linalg.solve(K + shift * np.eye(n), y)
    predicted = more[-1, :-1] @ np.linalg.solve(more[:-1, :-1] + shift * np.eye(n), y)
    T = y @ (E @ np.linalg.solve(K + shift * np.eye(n), k) - epsilon)
    return {
        "kernel_distance": np.linalg.norm(E), "cross_kernel_distance_squared": epsilon @ epsilon,
        "alignment_with_labels": T, "prediction_deviation": abs(predicted - exact),
        "excess_risk": (predicted - grid["target"]) ** 2,
    }, np.linalg.eigvalsh(K + E)[-1]  # fmt: skip


def test_the_counter_example_is_one_in_floating_point_too():
    rows, arrays = searched()
    own = {variant: [row for row in rows if row.get("variant") == variant] for variant in ("nearer", "farther")}
    values = {variant: {row["metric"]: row["value"] for row in of} for variant, of in own.items()}
    for variant, of in own.items():
        v = np.array([float(Fraction(entry)) for entry in of[0]["settings"]["feature"]])
        expected, _ = risk_of(v)
        assert values[variant] == pytest.approx(expected, abs=1e-12)
        assert all(float(Fraction(row["settings"]["exact"])) == row["value"] for row in of)
        gram = np.array([[float(Fraction(entry)) for entry in row] for row in of[0]["settings"]["approximate_gram"]])
        np.testing.assert_allclose(gram, np.array(SEARCH["gram"])[:-1, :-1] + np.outer(v[:-1], v[:-1]))
        # T is the product of the labels with what the picture draws
        residual = arrays[f"displaced-{variant}"] - arrays[f"epsilon-{variant}"]
        assert arrays["labels"] @ residual == pytest.approx(values[variant]["alignment_with_labels"])
    nearer, farther = values["nearer"], values["farther"]
    for metric, sign in {"kernel_distance": -1, "prediction_deviation": 1, "excess_risk": 1}.items():
        assert sign * (nearer[metric] - farther[metric]) > 0
    assert nearer["cross_kernel_distance_squared"] <= farther["cross_kernel_distance_squared"]
    assert min(nearer["alignment_with_labels"], farther["alignment_with_labels"]) >= 0


# with the target 0 the exact kernel's prediction is no guide: a deviation from it may lower the risk
@pytest.mark.parametrize("target", [2, 0])
@pytest.mark.parametrize("entries", [[-1, 0, 1], [-1, -0.5, 0, 0.5, 1]])
def test_the_search_counts_what_a_naive_one_counts(entries, target):
    rows, _ = searched(entries=entries, target=target)
    pairs = found = 0
    best = -np.inf
    # of v and -v, which are one kernel, the one whose first entry that is not zero is positive
    features = [np.array(v) for v in itertools.product(entries, repeat=3) if any(v[:2])]
    features = [v for v in features if v[np.flatnonzero(v)[0]] > 0]
    tried = [risk_of(v, SEARCH | {"target": target}) for v in features]
    for (one, top), (other, other_top) in itertools.permutations(tried, 2):
        is_nearer = one["kernel_distance"] <= other["kernel_distance"] - 1e-12
        is_nearer &= one["cross_kernel_distance_squared"] <= other["cross_kernel_distance_squared"] + 1e-12
        is_nearer &= min(one["alignment_with_labels"], other["alignment_with_labels"]) >= -1e-12
        if not is_nearer or not 0.5 <= top <= other_top + 1e-12:
            continue
        pairs += 1
        worse = all(one[m] > other[m] + 1e-12 for m in ("prediction_deviation", "excess_risk"))
        found += worse
        best = max(best, one["excess_risk"] - other["excess_risk"]) if worse else best
    (share,) = (row for row in rows if row["metric"] == "counter_example_pct")
    assert share["settings"] == {"pairs": pairs, "counter_examples": found}
    assert share["value"] == pytest.approx(100 * found / pairs)
    risks = [row["value"] for row in rows if row["metric"] == "excess_risk"]
    assert risks == [] if not found else risks[0] - risks[1] == pytest.approx(best)


def test_a_search_that_finds_nothing_says_so():
    # a feature of one entry has no other to be compared with
    rows, arrays = searched(entries=[1])
    assert (rows, arrays) == (
        [{"method": "", "variant": "", "repeat": 0, "dataset": "points-2", "n_train": 2, "n_test": 1,
          "metric": "counter_example_pct", "settings": {"reason": "no pair to compare"}, "status": "failed"}],
        {},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"gram": [[1, 2], [0, 1]], "labels": [1]},
            "symmetric matrix with a row for each of the 1 labels and one more",
        ),
        ({"labels": [1]}, "each of the 1 labels"),
        ({"gram": [[1, 2], [2, 1]], "labels": [1]}, "positive definite"),
    ],
)
def test_a_matrix_that_is_none_of_a_kernel_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        counterexample.check(toys.part(grid=SEARCH | change))
