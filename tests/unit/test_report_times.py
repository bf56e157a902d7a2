"""Times by rounds, with known answers: sums of phases, medians and quartiles, ratios, and where they are shown."""

import itertools

import pytest
import verdict_rows
from verdict_rows import printed, row

from rfstudy import tidy
from rfstudy.report import times
from rfstudy.report.aggregate import select

D = {"eeg": 14, "cod-rna": 8, "covtype": 50, "magic04": 10}
PHASES = {"draw": 1.0, "learn": 2.0, "transform": 4.0, "fit": 8.0, "predict_transform": 16.0, "predict": 32.0}


def phase_row(phase, seconds, at=0, clock="time", method="rff", multiple=2, dataset="eeg", settings=None, **columns):
    """One phase of one round; the phases of a learner carry its name."""
    shared = {
        "method": method, "dataset": dataset, "d": D.get(dataset),
        "n_features": multiple * D.get(dataset, 1), "n_train": 1000, "axis": "round", "at": float(at),
        "n_features_label": "d" if multiple == 1 else f"{multiple}d",
        "learner": "ridge" if phase in ("fit", "predict") else "", "settings": {"threads": 1} | (settings or {}),
    }  # fmt: skip
    return row(f"{clock}_{phase}_s", seconds, **shared | columns)


def rounds_of(phases=PHASES, rounds=(1.0,), **columns):
    """The phases of several rounds, each as long as ``rounds`` says."""
    return [
        phase_row(phase, seconds * factor, at=i, **columns)
        for (i, factor), (phase, seconds) in itertools.product(enumerate(rounds), phases.items())
    ]


def generation(method, rounds, **columns):
    """Rounds whose generation time is ``rounds``: a quarter of it each to draw and to learn, half to map."""
    return rounds_of({"draw": 0.25, "learn": 0.25, "transform": 0.5}, rounds, method=method, **columns)


def ratios_of(method, over, by_multiple, dataset="eeg", **columns):
    """Rounds of two methods whose ratios are those of ``by_multiple``: multiple of d -> ratios by round.
    The rounds differ in the state of the machine, which a ratio does not see."""
    rows, state = [], (1.0, 5.0, 0.2)
    for multiple, ratios in by_multiple.items():
        rows += generation(over, state, multiple=multiple, dataset=dataset)
        own = [a * b for a, b in zip(ratios, state, strict=True)]
        rows += generation(method, own, multiple=multiple, dataset=dataset, **columns)
    return rows


def values(frame, metric):
    return select(frame, metric=metric)["value"].tolist()


def test_what_the_papers_print_is_the_sum_of_its_phases():
    frame = times.with_printed(tidy.frame(rounds_of(rounds=(1.0, 10.0))))
    reported = select(frame, metric=list(times.PRINTED))
    found = reported.groupby(["metric", "learner", "split"])["value"].agg(list)
    assert found.to_dict() == {
        ("time_feature_s", "", "train"): [7.0, 70.0], ("time_preprocess_s", "", "train"): [3.0, 30.0],
        ("time_train_s", "ridge", "train"): [12.0, 120.0], ("time_test_s", "ridge", "test"): [48.0, 480.0],
        ("time_preprocess_train_s", "ridge", "train"): [15.0, 150.0],
    }  # fmt: skip
    assert set(reported["unit"]) == {"s"}
    assert select(reported, metric="time_test_s")["at"].tolist() == [0.0, 1.0]
    # the phases are still there
    assert values(frame, "time_draw_s") == [1.0, 10.0]
    assert not frame.duplicated(list(tidy.KEY)).any()


def test_every_learner_has_the_map_it_is_trained_on():
    rows = [*rounds_of(), phase_row("fit", 100.0, learner="svm"), phase_row("predict", 200.0, learner="svm")]
    frame = times.with_printed(tidy.frame(rows))
    train = select(frame, metric="time_train_s").set_index("learner")["value"]
    assert train.to_dict() == {"ridge": 12.0, "svm": 104.0}
    assert select(frame, metric="time_test_s").set_index("learner")["value"].to_dict() == {"ridge": 48.0, "svm": 216.0}
    assert values(frame, "time_feature_s") == [7.0]


@pytest.mark.parametrize("other", [{"method": "qmc"}, {"multiple": 4}, {"at": 1}, {"run": "r2"}, {"variant": "v"}])
def test_phases_of_another_cell_round_or_record_are_not_summed(other):
    rows = [phase_row("draw", 1.0), phase_row("learn", 2.0), phase_row("transform", 4.0, **other)]
    frame = times.with_printed(tidy.frame(rows))
    assert (values(frame, "time_feature_s"), values(frame, "time_preprocess_s")) == ([], [3.0])


def test_a_round_with_a_phase_that_is_not_ok_has_no_value_and_its_reason():
    rows = rounds_of()
    rows[1] |= {"value": None, "status": "failed", "settings": {"reason": "singular"}}
    reported = select(times.with_printed(tidy.frame(rows)), metric="time_feature_s")
    assert reported["value"].isna().all()
    assert reported[["status", "settings"]].to_numpy().tolist() == [["failed", '{"reason": "singular"}']]


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_sum_with_a_machine_busy_phase_is_machine_busy(position):
    rows = rounds_of()
    rows[position]["settings"] = {"machine_busy": True}
    reported = select(times.with_printed(tidy.frame(rows)), metric=["time_feature_s", "time_test_s"])
    assert times.machine_busy(reported).tolist() == [True, False]


def test_a_figure_is_the_median_over_the_rounds_with_the_quartiles():
    rows = generation("rff", (4.0, 1.0, 10.0, 2.0, 3.0)) + [
        row("time_feature_s", value, dataset="magic04", repeat=i) for i, value in enumerate((1.0, 3.0))
    ]
    cells = times.summarise(select(times.with_printed(tidy.frame(rows)), metric="time_feature_s")).set_index("dataset")
    assert cells.loc["eeg", ["mean", "lower", "upper", "n", "rounds"]].tolist() == [3.0, 2.0, 4.0, 5, 5]
    by_repeat = cells.loc["magic04"]
    assert by_repeat[["mean", "n", "rounds"]].tolist() == [2.0, 2, 0]
    assert by_repeat[["lower", "upper"]].tolist() == pytest.approx([2 - 2**0.5, 2 + 2**0.5])
    assert not cells["machine_busy"].any()


def test_rounds_that_are_not_ok_enter_no_median():
    rows = generation("rff", (1.0, 2.0, 50.0))
    rows = [each | ({"status": "failed", "value": None} if each["at"] == 2 else {}) for each in rows]
    (cell,) = times.summarise(select(times.with_printed(tidy.frame(rows)), metric="time_feature_s")).to_dict("records")
    assert (cell["mean"], cell["n"], cell["n_failed"], cell["n_skipped"]) == (1.5, 2, 1, 0)


def pair(one, other, **columns):
    frame = times.with_printed(tidy.frame(generation("one", one) + generation("other", other, **columns)))
    of = select(frame, metric="time_feature_s")
    return times.ratio(select(of, method="one"), select(of, method="other"))


def test_a_ratio_is_the_median_of_the_ratios_by_round():
    # ratios 2, 1 and 3; that of the medians is 4 / 3
    assert pair((2.0, 4.0, 9.0), (1.0, 4.0, 3.0))[:3] == (2.0, 1.5, 2.5)
    # rounds that the other has not are left out
    assert pair((2.0, 4.0, 9.0, 99.0), (1.0, 4.0, 3.0)).value == 2.0
    assert pair((2.0,), (1.0,), run="r2") is None


@pytest.mark.parametrize(
    ("rounds", "settings", "reason"),
    [
        # quartiles 1.75 and (2 + last) / 2: half a unit apart, a quarter of 2
        ((2.0, 1.5, 2.5), {}, ""),
        ((2.0, 1.5, 2.51), {}, "too noisy"),
        ((2.0, 2.0, 2.0), {"machine_busy": True}, "machine busy"),
    ],
)
def test_a_ratio_decides_nothing_if_it_scatters_or_the_machine_was_busy(rounds, settings, reason):
    found = pair(rounds, (1.0, 1.0, 1.0), settings=settings)
    assert (found.value, found.reason) == (2.0, reason)


@pytest.mark.parametrize(("one", "other"), [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)])
def test_a_ratio_with_times_of_zero_is_too_noisy(one, other):
    assert pair((one,) * 3, (other,) * 3).reason == "too noisy"


SCORES = {
    "kind": "scores", "datasets": ["eeg"], "methods": ["rff", "lsrff"], "sizes": ["2d"], "repeats": 2,
    "quantity": {"metric": "time_feature_s"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("rounds", "settings", "expected"),
    [
        # printed 4.00 / 2.00; a tenth is the same
        ((2.19, 2.19, 2.19), {}, ("2.19 [2.19, 2.19]", "0.19", "0.2", "reproduced")),
        ((2.21, 2.21, 2.21), {}, ("2.21 [2.21, 2.21]", "0.21", "0.2", "worse")),
        ((1.79, 1.79, 1.79), {}, ("1.79 [1.79, 1.79]", "-0.21", "0.2", "better")),
        # the median of three rounds whose quartiles are q apart has an error of q / 1.349 sqrt(pi / 6), the printed
        # ratio as much again; with the rounding there are 4.1 degrees of freedom, and t times both is 0.39 and 0.403
        ((1.921, 2.0, 2.079), {}, ("2.00 [1.96, 2.04]", "0.0", "0.2", "reproduced")),
        ((1.918, 2.0, 2.082), {}, ("2.00 [1.96, 2.04]", "0.0", "0.2", "too noisy")),
        ((1.5, 2.0, 2.52), {}, ("2.00 [1.75, 2.26]", "0.0", "0.2", "too noisy")),
        ((2.0, 2.0, 2.0), {"machine_busy": True}, ("2.00 [2.00, 2.00] machine busy", "0.0", "", "not comparable")),
    ],
)
def test_a_printed_ratio_next_to_ours_by_rounds(tabulated, rounds, settings, expected):
    seconds = {"lsrff": "4.00", "rff": "2.00"}
    published = [printed("time_feature_s", value, method=method, n_features="2d") for method, value in seconds.items()]
    table, text = tabulated(SCORES, ratios_of("lsrff", "rff", {2: rounds}, settings=settings), published)
    assert tuple(table.loc[0, ["ours", "difference", "margin", "verdict"]]) == expected
    assert f"Verdicts, 1 published result: {expected[-1]} 1." in text
    assert "medians over rounds of the ratio in a round" in text
    assert "Times are medians of 3 rounds in which the methods take turns, with the quartiles." in text
    assert ("The machine was busy with other work: eeg: lsrff at 2d." in text) == bool(settings)
    assert "Fewer repeats" not in text


def test_the_growth_of_a_cost_is_that_of_the_shortest_rounds(tabulated):
    rows = []
    for s, slowed in itertools.product((256, 512, 1024), (1.0, s_dependent := 7.0)):
        for phase, power in (("draw", 1.0), ("transform", 2.0)):
            shared = {"at": slowed, "method": "orf", "n_features": s, "n_features_label": str(s), "d": 16}
            # what disturbs a round disturbs large sizes most; the clock tells nothing here
            rows.append(phase_row(phase, s**power * (s if slowed == s_dependent else 1), clock="cpu", **shared))
            rows.append(phase_row(phase, 1.0, **shared))
    table, _ = tabulated({"kind": "complexities", "paper": "survey", "methods": ["orf"]}, rows)
    assert table.loc[0, ["set-up, power of s", "time, power of s"]].tolist() == ["1.00 ± 0.00", "2.00 ± 0.00"]


def fit_rounds(method, draw, learn=None, scores=None, sizes=(8, 16, 32, 64, 128)):
    """Processor times of fits by rounds, along s at n = 1000 and along n at s = 8; a second round is slower."""
    rows = []
    for n, s in [*((1000, s) for s in sizes), (500, 8), (250, 8)]:
        for phase, function in (("draw", draw), ("learn", learn), ("scores", scores)):
            shared = {"method": method, "n_train": n, "n_features": s, "n_features_label": str(s), "d": 16}
            rows += [
                phase_row(phase, function(n, s) * (1 + at * s), at=at, clock="cpu", dataset=f"made-n{n}", **shared)
                for at in (0, 1)
                if function
            ]
    return rows


def test_the_cost_of_a_fit_is_that_of_drawing_and_learning():
    rows = fit_rounds("lsrff", lambda n, s: n * s**2 / 2, lambda n, s: n * s**2 / 2, lambda n, s: n * s)
    rows += fit_rounds("rff", lambda n, s: n * s)  # takes nothing from data: its fit is what was drawn
    found = select(times.shortest(tidy.frame(rows)), metric=["time_fit_s", "time_scores_s"])
    seconds = found.set_index(["method", "metric", "n_train", "n_features"])["value"]
    for n, s in ((1000, 8), (1000, 128), (250, 8)):
        assert seconds["lsrff", "time_fit_s", n, s] == n * s**2
        assert seconds["lsrff", "time_scores_s", n, s] == seconds["rff", "time_fit_s", n, s] == n * s


@pytest.mark.parametrize(("power", "verdict"), [(2.01, "holds"), (1.99, "fails")])
def test_the_excess_of_the_cost_by_rounds(power, verdict):
    rows = fit_rounds("lsrff", lambda n, s: n * (s + s**power)) + fit_rounds("slsrff", lambda n, s: n * s)
    assert verdict_rows.judged("slsrff-20", rows) == verdict


CLEAR, NOISY = (2.1, 2.1, 2.1), (0.1, 2.1, 9.9)


@pytest.mark.parametrize(("claim", "rows", "verdict"), [
    ("slsrff-04", ratios_of("lsrff", "rff", {8: (2.0,) * 3, 16: CLEAR}), "holds"),
    ("slsrff-04", ratios_of("lsrff", "rff", {8: (2.2,) * 3, 16: CLEAR}), "partly"),
    ("slsrff-04", ratios_of("lsrff", "rff", {8: (2.0,) * 3, 16: (2.0,) * 3}), "fails"),
    ("slsrff-04", ratios_of("lsrff", "rff", {8: (1.0,) * 3, 16: NOISY}), "not testable"),
    ("slsrff-04", ratios_of("lsrff", "rff", {8: NOISY, 16: CLEAR}), "not testable"),
    ("slsrff-04", ratios_of("lsrff", "rff", {4: NOISY, 8: (1.0,) * 3, 16: CLEAR}), "holds"),
    ("slsrff-04", ratios_of("lsrff", "rff", {8: (1.0,) * 3, 16: (2.0,) * 3}), "partly"),
    *(("slsrff-04", ratios_of("lsrff", "rff", x), "not run") for x in ({8: CLEAR}, {4: (1.0,) * 3, 16: CLEAR})),
    # the median counts, not the mean
    ("slsrff-05", ratios_of("slsrff", "rff", {8: (1.9, 1.95, 2.2)}), "holds"),
    ("slsrff-05", ratios_of("slsrff", "rff", {4: CLEAR, 8: (1.0,) * 3}), "holds"),
    *(("slsrff-05", ratios_of("slsrff", "rff", {8: each}), "fails") for each in (CLEAR, (0.5,) * 3)),
    ("slsrff-05", ratios_of("slsrff", "rff", {8: NOISY, 16: (1.0,) * 3}), "holds"),
    ("slsrff-05", ratios_of("slsrff", "rff", {8: NOISY}), "not testable"),
    ("slsrff-05", ratios_of("slsrff", "rff", {8: (1.0,) * 3}, settings={"machine_busy": True}), "not testable"),
    ("slsrff-06", ratios_of("lsrff", "slsrff", {1: CLEAR, 2: (1.01,) * 3}), "holds"),
    ("slsrff-06", ratios_of("lsrff", "slsrff", {1: CLEAR, 2: (0.99,) * 3}), "partly"),
    ("slsrff-06", ratios_of("lsrff", "slsrff", {1: NOISY}), "not testable"),
    ("slsrff-07", ratios_of("lsrff", "slsrff", {1: CLEAR}, "cod-rna"), "holds"),
    ("slsrff-08", ratios_of("lsrff", "slsrff", {1: CLEAR}, "covtype"), "holds"),
    ("slsrff-09", ratios_of("lsrff", "slsrff", {1: CLEAR}), "not run"),
    ("slsrff-10", ratios_of("lsrff", "slsrff", {2: NOISY, 4: (2.0,) * 3, 8: NOISY, 16: CLEAR}), "holds"),
    ("slsrff-10", ratios_of("lsrff", "slsrff", {4: CLEAR, 8: (2.0,) * 3}), "fails"),
    ("slsrff-10", ratios_of("lsrff", "slsrff", {4: NOISY, 8: (3.0,) * 3}), "not testable"),
    ("slsrff-10", ratios_of("lsrff", "slsrff", {4: CLEAR}), "not run"),
])  # fmt: skip
def test_claims_on_times_by_rounds(claim, rows, verdict):
    # by the tests of the claim alone: of slsrff-05 our rows could say one thing only
    assert verdict_rows.judged(claim, rows, not_testable="") == verdict
