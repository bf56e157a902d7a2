"""The tables of the arena on made rows with known ratios of errors."""

import arena_rows as made
import numpy as np
import pandas as pd
import pytest
from report_rows import EXPERIMENTS, context_of, spec_of
from scipy import stats

from rfstudy.report import arena, tables, typeset
from rfstudy.report.compare import Estimate

CONTROLS = {("rff", f"control-{i}"): 1.0 for i in range(1, 6)}
RATIOS = {("orf", ""): 0.9, ("sorf", ""): 1.1, ("qmc", ""): 1.0, **CONTROLS}
EXACT = {"exact_kernel": 0.1, "majority": 1.0, "nearest_neighbour": 0.5, "linear": 0.6, "boosting": 0.3}


def table_of(name, rows, **changes):
    """A table of the study as CSV, as a person reads it, and its notes."""
    spec = spec_of(f"{name}-tuned", "study") | changes
    found = tables.make(context_of(rows), spec)
    for form in (typeset.markdown, typeset.latex, typeset.html):
        form(found)
    return typeset.one_number_per_cell(found), found


def verdicts_of(rows, name="arena", **changes):
    cells, _ = table_of(name, rows, **changes)
    return {(int(row["d"]), row["map_id"]): row["verdict"] for _, row in cells.iterrows()}


def test_verdicts_follow_from_the_ratios_where_everything_is_informative():
    rows = made.framed(made.map_rows(RATIOS), made.yardstick_rows(EXACT))
    cells, table = table_of("arena", rows)
    found = verdicts_of(rows)
    assert found == {
        (at, who): verdict
        for at in (64, 128)
        for who, verdict in (("orf", "better"), ("sorf", "worse"), ("qmc", "equal"))
    }
    orf = cells[(cells["d"] == 64) & (cells["map_id"] == "orf")].iloc[0]
    own = rows[(rows["n_columns"] == 64) & rows["metric"].isin(["mse", "accuracy_pct"])].copy()
    own["wrong"] = own["value"].where(own["metric"] == "mse", 1 - own["value"] / 100) * made.TEST_ROWS
    sums = own.groupby(["dataset", "method"])["wrong"].sum().unstack()
    half = pd.Series({name: 0.5 * (name in made.LABELS) for name in sums.index})
    naive = np.log(
        (sums["orf"] + half)
        / (own[own["variant"] == ""].groupby(["dataset", "method"])["wrong"].sum().unstack()["rff"] + half)
    )
    assert orf["error"] == pytest.approx(100 * np.expm1(naive.mean()), abs=0.06)
    low, high = stats.ttest_1samp(naive, 0).confidence_interval()
    assert (orf["interval_low"], orf["interval_high"]) == pytest.approx(tuple(100 * np.expm1([low, high])), abs=0.06)
    assert (orf["sets"], orf["won"], orf["lost"]) == (12, 12, 0)
    assert any("D = 64: 12 data sets" in note for note in table.notes)


def test_a_verdict_is_that_of_most_draws_of_the_baseline_and_says_of_how_many():
    lucky = {who: 0.8 if who[1] in ("control-1", "control-2") else 1.0 for who in CONTROLS}
    rows = made.framed(made.map_rows({("orf", ""): 0.9, ("sorf", ""): 1.1, **lucky}), made.yardstick_rows(EXACT))
    cells, table = table_of("arena", rows)
    found = cells.set_index(["d", "map_id"])
    assert found.loc[64, "orf"][["verdict", "draws", "draws_of"]].tolist() == ["better", 4, 6]
    assert found.loc[64, "sorf"][["verdict", "draws", "draws_of"]].tolist() == ["worse", 6, 6]
    assert found.loc[64, "orf"]["median"] == pytest.approx(-10, abs=0.5)  # 12.5 relative to the lucky draws
    assert any(note.startswith("Verdict: the one relative to most draws of RFF") for note in table.notes)
    first = made.map_rows({("orf", ""): 1.125, **dict.fromkeys(CONTROLS, 1.25)})  # the first draw alone is lucky
    (row,) = table_of("arena", made.framed(first), methods=["orf"])[0].query("d == 64").to_dict("records")
    assert (row["verdict"], row["draws"]) == ("better", 5)
    assert row["error"] == pytest.approx(12.5, abs=0.5)
    half = dict.fromkeys(list(CONTROLS)[:3], 1.25)
    found = verdicts_of(made.framed(made.map_rows({("orf", ""): 1.125, **CONTROLS, **half})))
    assert found[64, "orf"] == "undecided"
    alone, _ = table_of("arena", made.framed(made.map_rows({("orf", ""): 0.9})))
    assert alone[["draws", "draws_of"]].eq(1).all(axis=None)


def test_equal_needs_an_equal_control_and_informative_data_sets():
    maps = made.map_rows(RATIOS)
    assert verdicts_of(made.framed(maps))[64, "qmc"] == "undecided"  # no exact kernel
    far = made.yardstick_rows(EXACT | {"exact_kernel": 0.4})  # behind RFF
    assert verdicts_of(made.framed(maps, far))[64, "qmc"] == "undecided"
    wild = {who: lambda name: 0.8 if made.SETS.index(name) % 2 else 1.25 for who in CONTROLS}
    rows = made.framed(made.map_rows(RATIOS | wild | {("orf", ""): 0.5}), made.yardstick_rows(EXACT))
    assert verdicts_of(rows)[64, "qmc"] == "undecided"
    assert verdicts_of(rows)[64, "orf"] == "better"
    control, _ = table_of("arena-control", rows)
    assert set(control["control"]) == {"undecided"}


def test_scopes_are_the_informative_and_the_unflagged_data_sets():
    ahead = made.SETS[:5]
    exact = made.yardstick_rows(EXACT | {"exact_kernel": lambda name: 0.1 if name in ahead else 0.4})
    flagged = made.fact_rows("sonar", duplicate_rows=900.0)
    plain = [row for name in made.SETS[:-1] for row in made.fact_rows(name, duplicate_rows=0.0)]
    split = {("orf", ""): lambda name: 0.8 if name in ahead else 1.0, **CONTROLS}
    rows = made.framed(made.map_rows(split), exact, flagged, plain)
    cells, _ = table_of("arena-informative", rows)
    assert set(cells["sets"]) == {5}
    assert cells["error"].to_numpy() == pytest.approx(-20, abs=0.2)
    assert all(set(names.split()) == set(ahead) for names in cells["data_sets"])
    cells, _ = table_of("arena-not-flagged", rows)
    assert set(cells["sets"]) == {11}
    assert not any("sonar" in names.split() for names in cells["data_sets"])


@pytest.mark.parametrize(("ratio", "is_informative"), [(0.99, False), (0.975, True)])
def test_a_data_set_is_informative_if_the_exact_kernel_is_ahead_by_the_margin(ratio, is_informative):
    sets = made.NUMBERS[:4]
    exact = {"exact_kernel": lambda name: ratio * made.errors_by_fold(name, 64).mean()}
    rows = made.framed(made.map_rows(RATIOS, sets=sets, columns=(64,)), made.yardstick_rows(exact, sets=sets))
    cells, _ = table_of("arena-informative", rows)
    assert ("sets" in cells) == is_informative


@pytest.mark.parametrize(
    "name",
    ["arena", "arena-control", "arena-confirmation", "arena-choice", "arena-leaderboard", "arena-edges", "arena-flags",
     "arena-yardsticks"],
)  # fmt: skip
@pytest.mark.parametrize("n_sets", [0, 2])
def test_too_few_data_sets_give_no_verdict(name, n_sets):
    rows = made.framed(made.map_rows(RATIOS, sets=made.SETS[:n_sets]))
    cells, _ = table_of(name, rows)
    words = " ".join(map(str, cells.to_numpy().ravel()))
    assert not {"better", "worse", "equal"} & set(words.split())
    assert "rank" not in cells


def test_flags_are_set_beyond_their_thresholds_only():
    regression = {"target_mean": 0.0, "duplicate_rows": 0.0}
    yardsticks = EXACT | {name: lambda of: 0.94 if of == "uci-gas" else 0.96 for name in ("linear", "boosting")}
    yardsticks["nearest_neighbour"] = 1.5
    rows = made.framed(
        made.fact_rows("uci-yacht", **regression | {"duplicate_rows": 400.0}, neighbours_correlation=0.5),
        made.fact_rows("uci-gas", **regression | {"duplicate_rows": 401.0}, neighbours_correlation=0.51),
        made.fact_rows("letter", duplicate_rows=300.0, test_rows_in_training=101.0, class_order="mixed"),
        made.fact_rows("magic04", duplicate_rows=0.0, class_order="sorted"),
        made.fact_rows("sonar", duplicate_rows=0.0, class_order="long runs", spike_rows=1.0),
        made.fact_rows("eeg", duplicate_rows=0.0, class_order="long runs", spike_rows=0.0),
        made.yardstick_rows(yardsticks),
    )
    cells, _ = table_of("arena-flags", rows)
    found = cells.set_index("data_set_id")["flags"]
    found = found[found != "not run"].to_dict()
    assert found == {
        "uci-yacht": "no signal", "uci-gas": "duplicates, ordered", "letter": "duplicates", "magic04": "none",
        "sonar": "ordered, spikes", "eeg": "none",
    }  # fmt: skip
    assert cells.set_index("data_set_id").loc["uci-gas", "explained"] == pytest.approx(6.0)


@pytest.mark.parametrize(("left_out", "expected"), [(0, "spikes"), (1, "spikes"), (2, "none")])
def test_spikes_that_are_left_out_are_no_flaw(left_out, expected):
    facts = made.fact_rows("eeg", duplicate_rows=0.0, class_order="mixed", spike_rows=2.0)
    rows = made.framed([row | {"n_train": row["n_train"] + left_out} for row in facts], made.yardstick_rows(EXACT))
    cells, _ = table_of("arena-flags", rows)
    assert cells.set_index("data_set_id").loc["eeg", "flags"] == expected


def test_a_map_takes_no_part_in_flags():
    facts = made.fact_rows("uci-yacht", duplicate_rows=0.0, neighbours_correlation=0.0)
    rows = [made.framed(facts, made.yardstick_rows(EXACT), made.map_rows(ratios)) for ratios in ({}, RATIOS)]
    flags = [table_of("arena-flags", each)[0]["flags"].tolist() for each in rows]
    assert flags[0] == flags[1]


def test_the_control_has_the_median_of_its_draws_and_the_rate_of_false_verdicts():
    rows = made.framed(made.map_rows(RATIOS, noise=0.025), made.yardstick_rows(EXACT))
    cells, _ = table_of("arena-control", rows)
    assert cells["draws"].tolist() == [5, 5]
    assert set(cells["control"]) == {"equal"}
    results = arena.results_of(
        context_of(rows), list(made.SETS), "rff", {"metric": "accuracy_pct", "learner": "ridge", "split": "test"}
    )
    draws = results.effects[(results.effects["method"] == "rff") & (results.effects["columns"] == 64)]
    ps = [
        max(
            stats.ttest_1samp(own["effect"], np.log(1.02), alternative="less").pvalue,
            stats.ttest_1samp(own["effect"], -np.log(1.02), alternative="greater").pvalue,
        )
        for _, own in draws.groupby("variant")
    ]
    assert cells["not_equal"].iloc[0] == pytest.approx(np.median(ps), abs=6e-5)
    assert (cells["false_verdicts"].between(2, 6)).all()


def test_the_second_half_confirms_what_holds_there_too():
    names = list(made.SETS)
    half = arena.half_of(
        arena.strata_of(context_of([]).tasks, spec_of("arena-confirmation-tuned", "study")["datasets"])
    )
    first = [name for name in names if half[name] == 0]
    assert 3 <= len(first) <= len(names) - 3
    ratios = {("orf", ""): 0.9, ("sorf", ""): lambda name: 1.1 if name in first else 0.9, **CONTROLS}
    rows = made.framed(made.map_rows(ratios), made.yardstick_rows(EXACT))
    cells, table = table_of("arena-confirmation", rows)
    assert dict(zip(cells["map_id"], cells["confirmed"], strict=True)) == {"orf": "yes", "sorf": "no"}
    assert dict(zip(cells["map_id"], cells["statement"], strict=True)) == {"orf": "better", "sorf": "worse"}
    assert (cells["chance"] > 0.99).all()
    assert table.notes[0].startswith("4 statements from the first half, 4 of them with a second half: 2 confirmed, 4.0")
    alone, _ = table_of("arena-confirmation", made.framed(made.map_rows(ratios, sets=first)))
    assert set(alone["confirmed"]) == {"not run"}


@pytest.mark.parametrize(
    ("low", "high", "verdict", "words"),
    [
        (-0.2, -0.1, "undecided", "lower"),
        (0.1, 0.2, "undecided", "higher"),
        (-0.1, 0.1, "undecided", ""),
        (-0.2, 0.0, "undecided", ""),
        (-0.2, -0.1, "better", "better"),
        (-0.001, 0.001, "equal", "equal"),
        (-0.2, -0.1, "", ""),  # another draw of the baseline
    ],
)
def test_an_undecided_error_is_lower_or_higher_by_its_interval(low, high, verdict, words):
    found = arena.Combined(Estimate((low + high) / 2, low, high), 0.0, (low, high), 1.0)
    assert arena.statement_in_words(arena.Statement(64, ("orf", ""), None, found, verdict)) == words


@pytest.mark.parametrize(("verdict", "mean"), [("better", -0.03), ("worse", 0.05), ("equal", 0.004), ("equal", 0.0)])
def test_the_chance_of_a_confirmation_is_that_of_students_t(verdict, mean):
    error, df = (0.006 if verdict == "equal" else 0.012), 9.0
    reach = stats.t.ppf(0.975, df) * error
    first = Estimate(mean, df=df)
    drawn = mean + error * stats.t.rvs(df, size=40000, random_state=1)
    held = [arena.is_confirmed(verdict, first, Estimate(x, x - reach, x + reach)) for x in drawn]
    second = Estimate(0.0, -reach, reach, error, df=df)
    assert arena.chance_of_confirmation(verdict, first, second) == pytest.approx(np.mean(held), abs=0.01)


def test_halves_share_the_strata_of_the_arena():
    datasets = spec_of("arena-confirmation-tuned", "study")["datasets"]
    strata = arena.strata_of(context_of([]).tasks, datasets)
    half = arena.half_of(strata)
    assert len(half) == 29
    for _, own in strata.groupby("stratum"):
        assert abs(2 * half[own["dataset"]].sum() - len(own)) <= 1

    large = set(strata.loc[strata["stratum"].str.startswith("large"), "dataset"])
    assert large == set(EXPERIMENTS["arena-large"]["datasets"])


def test_edges_are_counted_raw_and_by_the_rule():
    settings = {"tune_per": "cell", "at_edge": {"bandwidth": False, "penalty": True}}
    inside = made.map_rows({}, sets=made.SETS[:1], columns=(64,))
    at_edge = made.map_rows({}, sets=made.SETS[1:2], columns=(64,), settings=settings)
    cells, _ = table_of("arena-edges", made.framed(inside, at_edge))
    (row,) = cells.to_dict("records")
    assert row["choices"] == 2 * made.FOLDS
    assert [row[key] for key in list(row)[-4:]] == [50, 0, 50, 50]


def test_the_choice_has_at_most_ten_rows_and_names_the_best_map():
    ratios = {("orf", ""): 0.9, ("mm", ""): 0.95, ("sorf", ""): 1.1, **CONTROLS}
    rows = made.framed(made.map_rows(ratios, columns=(64, 128, 256, 512, 1024, 2048)), made.yardstick_rows(EXACT))
    cells, _ = table_of("arena-choice", rows)
    assert len(cells) <= 10
    assert set(cells["map_id"]) == {"orf"}
    assert set(cells["draws"]) == {6}
    assert set(cells["also_better"]) == {"MM (6)"}
    assert set(cells["worse"]) == {"SORF (6)"}
    assert (cells["exact_kernel"] < -50).all()
    assert cells["change"].to_numpy() == pytest.approx(-10, abs=0.5)
    lucky = {who: 0.8 if who[1] in ("control-1", "control-2", "control-3") else 1.0 for who in CONTROLS}
    half, _ = table_of("arena-choice", made.framed(made.map_rows({("orf", ""): 0.9, **lucky})))
    assert set(half["map_remark"]) == {"none is better"}  # it is, relative to three of six draws
    none, _ = table_of("arena-choice", made.framed(made.map_rows({("qmc", ""): 1.0, **CONTROLS})))
    assert none["map_id"].isna().all()
    assert set(none["map_remark"]) == {"none is better"}


def test_yardsticks_are_relative_to_the_baseline_on_its_folds():
    rows = made.framed(made.map_rows({}), made.yardstick_rows(EXACT))
    cells, _ = table_of("arena-yardsticks", rows)
    row = cells.set_index("data_set_id").loc["uci-gas"]
    plain = made.errors_by_fold("uci-gas", 128)
    # squared errors: made rows have a little noise
    assert row["exact_kernel"] == pytest.approx(100 * (0.1 / plain.mean() - 1), abs=0.2)
    assert row["error"] == pytest.approx(100 * plain.mean() / 1.0, abs=0.1)
    labels = cells.set_index("data_set_id").loc["letter"]
    plain = made.errors_by_fold("letter", 128) * made.TEST_ROWS
    ratio = (0.3 * 400 * 5 + 0.5) / (plain.sum() + 0.5)
    assert labels["gradient_boosting"] == pytest.approx(100 * (ratio - 1), abs=0.2)


def test_ranks_are_means_over_data_sets_of_common_cells():
    ratios = {("orf", ""): 0.9, ("sorf", ""): 1.1}
    rows = made.map_rows(ratios, sets=made.SETS[:4])
    rows = [r for r in rows if not (r["dataset"] == made.SETS[0] and r["method"] == "sorf" and r["n_columns"] == 128)]
    errors = arena.errors_of(made.framed(rows))
    found = arena.rank_intervals(errors, ["orf", "sorf"], "rff").set_index("method")
    assert found["rank"].to_dict() == {"orf": 1.0, "rff": 2.0, "sorf": 3.0}
    assert (found["low"] == found["rank"]).all()
    assert set(found["cells"]) == {7}
    assert set(found["sets"]) == {4}
    turned = {("orf", ""): lambda name: 0.9 if name != made.SETS[0] else 1.2}
    own = arena.rank_intervals(arena.errors_of(made.framed(made.map_rows(turned, sets=made.SETS[:4]))), ["orf"], "rff")
    by_set = np.array([2.0, 1.0, 1.0, 1.0])
    rng = np.random.default_rng(9)
    means = [by_set[rng.integers(4, size=4)].mean() for _ in range(4000)]
    assert own.set_index("method").loc["orf", "rank"] == by_set.mean()
    assert own.set_index("method").loc["orf", ["low", "high"]].tolist() == np.quantile(means, [0.025, 0.975]).tolist()
    board, table = table_of("arena-leaderboard", made.framed(rows))
    assert board["map_id"].tolist() == ["orf", "rff", "sorf"]
    assert any(note.startswith("Cells that all have: 7, of 4 data sets") for note in table.notes)
