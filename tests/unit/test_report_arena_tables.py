"""The tables and the figure of the arena on made rows with known ratios of errors."""

import arena_rows as made
import numpy as np
import pandas as pd
import pytest
from report_rows import DATASETS, METHODS, ROOT, context_of, spec_of
from scipy import stats

from rfstudy.report import arena, plots, tables, typeset
from rfstudy.report.context import Context

CONTROLS = {("rff", f"control-{i}"): 1.0 for i in range(1, 6)}
RATIOS = {("orf", ""): 0.9, ("sorf", ""): 1.1, ("qmc", ""): 1.0, **CONTROLS}
EXACT = {"exact_kernel": 0.1, "majority": 1.0, "nearest_neighbour": 0.5, "linear": 0.6, "boosting": 0.3}
PLAIN = [row for name in made.SETS for row in made.fact_rows(name, duplicate_rows=0.0)]
BAND = "64 to 256"
FOREST = spec_of("arena-forest-tuned", "study")


def shrinking(rows):
    """Rows of maps in which each halving of D doubles the error, so that all data sets are informative."""
    scaled = [row["value"] * 64 / row["n_columns"] for row in rows]
    of_labels = [100 - (100 - row["value"]) * 64 / row["n_columns"] for row in rows]
    values = zip(rows, scaled, of_labels, strict=True)
    return [row | {"value": labels if row["metric"] == "accuracy_pct" else mse} for row, mse, labels in values]


def table_of(name, rows):
    """A table of the study as CSV, and as a person reads it."""
    found = tables.make(context_of(rows), spec_of(f"{name}-tuned", "study"))
    for form in (typeset.markdown, typeset.latex, typeset.html):
        form(found)
    return typeset.one_number_per_cell(found), found


def test_verdicts_follow_from_the_ratios_and_the_draws_of_the_baseline():
    lucky = {("rff", "control-1"): 0.8, ("rff", "control-2"): 1.25}
    frame = made.framed(shrinking(made.map_rows(RATIOS | lucky)), PLAIN)
    cells, table = table_of("arena", frame)
    verdicts = cells.set_index(["d", "map_id"])["verdict"].to_dict()
    assert verdicts == {(BAND, "orf"): "better", (BAND, "sorf"): "worse", (BAND, "qmc"): "equal"}
    orf = cells[cells["map_id"] == "orf"].iloc[0]
    assert all(orf[name] != round(orf[name], 1) for name in ("typical", "mean_low", "new_set_high", "detectable"))
    own = frame[frame["metric"].isin(["mse", "accuracy_pct"])].copy()
    own["wrong"] = own["value"].where(own["metric"] == "mse", 1 - own["value"] / 100) * made.TEST_ROWS
    own.loc[own["metric"] != "mse", "wrong"] = own["wrong"].round()
    sums = own.groupby(["dataset", "n_columns", "method", "variant"])["wrong"].sum()
    half = 0.5 * sums.index.get_level_values("dataset").isin(made.LABELS)
    logs = np.log(sums + half).groupby(["dataset", "n_columns", "method"]).mean().unstack()
    naive = (logs["orf"] - logs["rff"]).groupby("dataset").mean()
    means = [(a + b) / 2 for i, a in enumerate(naive) for b in naive.iloc[i:]]
    assert orf["typical"] == pytest.approx(100 * np.expm1(np.median(means)), abs=0.06)
    assert orf["mean"] == pytest.approx(100 * np.expm1(naive.mean()), abs=0.06)
    low, high = stats.ttest_1samp(naive, 0).confidence_interval()
    assert (orf["mean_low"], orf["mean_high"]) == pytest.approx(tuple(100 * np.expm1([low, high])), abs=0.06)
    assert (orf["sets"], orf["won"], orf["tied"], orf["lost"]) == (12, 12, 0, 0)
    assert orf["distinct_columns"] == 100
    assert any("D = 64 to 256: 12 data sets" in note for note in table.notes)
    cells, _ = table_of("arena", made.framed(made.map_rows(RATIOS), PLAIN))  # more columns gain nothing
    assert cells.set_index("map_id")["verdict"].to_dict() == {"orf": "better", "sorf": "worse", "qmc": "undecided"}


def test_maps_with_too_few_data_sets_count_in_the_correction():
    few = [made.map_rows({("lsrff", f"pool-{i}"): 0.5}, sets=made.SETS[:2]) for i in range(12)]
    for others, word in (([], "better"), (few, "undecided")):
        cells, _ = table_of("arena", made.framed(made.map_rows({("orf", ""): 0.9}, sets=made.SETS[:9]), *others, PLAIN))
        assert cells["verdict"].tolist() == [word]


def test_scopes_leave_out_flagged_data_sets_and_other_tasks():
    flagged = made.fact_rows("sonar", duplicate_rows=900.0) + PLAIN[:-1]
    ratio = {("orf", ""): lambda name: 0.5 if name == "sonar" else 0.9}
    rows = made.framed(made.map_rows(ratio), flagged)
    for name, sizes in {"arena": [11], "arena-all": [12], "arena-regression": [8]}.items():
        cells, _ = table_of(name, rows)
        assert cells["sets"].tolist() == sizes
        assert ("verdict" in cells) == (name != "arena-regression")
    assert "sets" not in table_of("arena-labels", rows)[0]  # four


def test_columns_that_repeat_are_compared_at_equal_distinct_columns():
    # as good as RFF with half of the columns
    rows = shrinking(made.map_rows({("lsrff", ""): 2.0, ("qmc", ""): 1.0}, sets=made.NUMBERS))
    counts = [
        row | {"metric": "distinct_features", "learner": "", "split": "train", "value": row["n_features"] / 2}
        for row in rows
        if row["method"] == "lsrff"
    ]
    cells, _ = table_of("arena-distinct", made.framed(rows, counts, PLAIN))
    assert set(cells["map_id"]) == {"lsrff"}
    assert cells["d"].tolist() == [128, 256]  # 32 columns of RFF are not known
    assert cells["distinct"].tolist() == [50, 50]
    assert cells["at_d"].to_numpy() == pytest.approx(100, abs=1.5)
    # the errors of RFF shrink to about one half
    sums = {at: np.array([made.errors_by_fold(name, at).sum() for name in made.NUMBERS]) for at in (64, 128, 256)}
    expected = [arena.typical(np.log(sums[at] / sums[at // 2])).value for at in (128, 256)]
    assert cells["at_distinct"].tolist() == pytest.approx(100 * np.expm1(expected), abs=0.3)


def test_components_separate_draws_from_data_sets():
    rng = np.random.default_rng(5)
    draws = {("rff", f"control-{i}"): np.exp(rng.normal(0, 0.05)) for i in range(1, 30)}
    split = {("orf", ""): lambda name: 0.8 if made.SETS.index(name) % 2 else 1.25, ("qmc", ""): 1.0}
    cells, _ = table_of("arena-components", made.framed(made.map_rows(split | draws), PLAIN))
    found = cells.set_index("map_id")
    logs = np.log([1.0, *draws.values()])
    assert found["draw_of_rff"].to_numpy() == pytest.approx(100 * logs.std(ddof=1), abs=0.5)
    assert found.loc["orf", "between_sets"] == pytest.approx(100 * np.log(1.25) * np.sqrt(12 / 11), abs=1)
    assert found.loc["qmc", "between_sets"] < 1
    assert found["draws"].tolist() == [1, 1]


def test_moderators_are_rank_correlations_over_data_sets():
    ratios = {("orf", ""): lambda name: 0.8 + 0.02 * made.SETS.index(name)}
    exact = made.yardstick_rows(EXACT | {"exact_kernel": lambda name: 0.1 - 0.005 * made.SETS.index(name)})
    cells, _ = table_of("arena-moderators", made.framed(made.map_rows(ratios), exact, PLAIN))
    (row,) = cells.to_dict("records")
    assert row["noise_floor"] < -0.99
    assert row["noise_floor_p_value"] < 0.001


@pytest.mark.parametrize(
    "name",
    ["arena", "arena-all", "arena-regression", "arena-labels", "arena-distinct", "arena-components", "arena-moderators",
     "arena-leaderboard", "arena-edges", "arena-flags", "arena-yardsticks"],
)  # fmt: skip
@pytest.mark.parametrize("n_sets", [0, 2])
def test_too_few_data_sets_give_no_verdict(name, n_sets):
    rows = made.framed(made.map_rows(RATIOS, sets=made.SETS[:n_sets]))
    cells, _ = table_of(name, rows)
    words = " ".join(map(str, cells.to_numpy().ravel()))
    assert not {"better", "worse", "equal"} & set(words.split())
    assert "rank" not in cells
    assert not plots.picture(context_of(rows), FOREST).figure.axes


def test_flags_are_set_beyond_their_thresholds_only():
    regression = {"target_mean": 0.0, "duplicate_rows": 0.0}
    yardsticks = EXACT | {name: lambda of: 0.94 if of == "uci-gas" else 0.96 for name in ("linear", "boosting")}
    yardsticks["nearest_neighbour"] = 1.5
    rows = made.framed(
        made.fact_rows("uci-yacht", **regression | {"duplicate_rows": 400.0}, neighbours_correlation=0.5),
        made.fact_rows("uci-gas", **regression | {"duplicate_rows": 401.0}, neighbours_correlation=0.51),
        made.fact_rows("letter", duplicate_rows=300.0, test_rows_in_training=101.0, class_order="mixed"),
        made.fact_rows("ijcnn1", duplicate_rows=0.0, class_order="sorted"),
        made.fact_rows("sonar", duplicate_rows=0.0, class_order="long runs", spike_rows=1.0),
        made.fact_rows("eeg", duplicate_rows=0.0, class_order="long runs", spike_rows=0.0),
        made.yardstick_rows(yardsticks),
    )
    cells, _ = table_of("arena-flags", rows)
    found = cells[cells["flags"] != "not run"].set_index("data_set_id")
    assert found["flags"].to_dict() == {
        "uci-yacht": "no signal", "uci-gas": "duplicates, ordered", "letter": "duplicates", "ijcnn1": "none",
        "sonar": "ordered, spikes", "eeg": "none",
    }  # fmt: skip
    assert found.loc["uci-gas", "explained"] == pytest.approx(6.0)


@pytest.mark.parametrize(("left_out", "expected"), [(0, "spikes"), (1, "spikes"), (2, "none"), (900, "spikes")])
def test_spikes_are_a_flaw_unless_all_are_left_out_by_number(left_out, expected):
    facts = made.fact_rows("eeg", duplicate_rows=0.0, class_order="mixed", spike_rows=2.0)
    rows = made.framed([row | {"n_train": row["n_train"] + left_out} for row in facts], made.yardstick_rows(EXACT))
    cells, _ = table_of("arena-flags", rows)
    assert cells.set_index("data_set_id").loc["eeg", "flags"] == expected


def test_a_map_takes_no_part_in_flags():
    facts = made.fact_rows("uci-yacht", duplicate_rows=0.0, neighbours_correlation=0.0)
    rows = [made.framed(facts, made.yardstick_rows(EXACT), made.map_rows(ratios)) for ratios in ({}, RATIOS)]
    flags = [table_of("arena-flags", each)[0]["flags"].tolist() for each in rows]
    assert flags[0] == flags[1]


@pytest.mark.parametrize("name", [*arena.SYNTHETIC, "magic04", "uci-kin40k", "uci-pendulum", "uci-bike"])
def test_synthetic_data_sets_are_flagged(name):
    facts = made.framed(made.fact_rows(name, duplicate_rows=0.0, class_order="mixed"))
    (row,) = arena.flaws(facts, arena.yardsticks_of(facts)).to_dict("records")
    assert row["flags"] == "synthetic"


def confirmation_of(frame, tmp_path, *statements):
    """The table on new data sets, with these committed statements, as CSV and its notes."""
    header = "method,variant,columns,says,predicted_12,predicted_25"
    (tmp_path / "arena_statements.csv").write_text("\n".join([header, *statements, ""]), encoding="utf-8")
    context = Context(frame, METHODS, DATASETS, tmp_path)
    table = tables.make(context, spec_of("arena-tuned", "study") | {"kind": "arena_confirmation"})
    return typeset.one_number_per_cell(table), table.notes


@pytest.mark.parametrize("says", ["better", "worse", "equal"])
def test_the_confirmation_reads_the_committed_statements(says, tmp_path):
    ratio = {"better": 0.9, "worse": 1.1, "equal": 1.0}[says]
    frame = made.framed(shrinking(made.map_rows({("orf", ""): ratio, **CONTROLS})), PLAIN)
    statements = f'orf,,"{BAND}",{says},0.40,0.90', 'lsrff,pool-4,"512 to 1,024",worse,0.7,0.8'
    cells, notes = confirmation_of(frame, tmp_path, *statements)
    assert cells["outcome"].tolist() == ["confirmed", arena.TOO_FEW]
    assert cells["sets"].tolist() == [12, 0]
    assert cells[["predicted", "median"]].iloc[0].tolist() == [0.4, pytest.approx(100 * (ratio - 1), abs=0.1)]
    assert notes[0] == "2 statements, 1 of them tested: 1 confirmed, 0.4 expected."


def test_a_prediction_is_zero_where_too_few_sets_can_confirm_it(tmp_path):
    statement = f'orf,,"{BAND}",better,0.40,0.90'
    for sets, predicted, words in ((5, [], "fewer than 6 sets"), (6, [0.0], "undecided"), (9, [0.2], "confirmed")):
        frame = made.framed(made.map_rows({("orf", ""): 0.9}, sets=made.SETS[:sets]), PLAIN)
        cells, _ = confirmation_of(frame, tmp_path, statement, statement)
        assert cells["outcome"].tolist() == [words] * 2
        assert cells["sets"].tolist() == [sets] * 2
        assert cells.get("predicted", pd.Series()).unique().tolist() == predicted
        assert cells.get("detectable", pd.Series()).notna().all() == (sets != 6)


def test_the_committed_statements_name_maps_and_bands_of_the_arena():
    statements = pd.read_csv(ROOT / "data" / "reference" / "arena_statements.csv", keep_default_na=False)
    assert set(statements["columns"]) == set(arena.BANDS)
    assert set(statements["method"]) <= set(spec_of("arena-tuned", "study")["methods"])
    assert set(statements["says"]) == {"better", "worse", "equal"}
    predicted = statements.filter(like="predicted_")
    assert (predicted.ge(0) & predicted.le(1)).all(axis=None)
    page = (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")
    listed = page.partition("| D | map | statement |")[2].partition("\n\n")[0].splitlines()[2:]
    assert [line.split("|")[1].strip() for line in listed] == statements["columns"].tolist()
    stated = [[float(cell) for cell in line.split("|")[4:-1]] for line in listed]
    assert stated == predicted.to_numpy().tolist()


def test_edges_are_counted_raw_and_by_the_rule():
    settings = {"tune_per": "cell", "at_edge": {"bandwidth": False, "penalty": True}}
    inside = made.map_rows({}, sets=made.SETS[:1], columns=(64,))
    at_edge = made.map_rows({}, sets=made.SETS[1:2], columns=(64,), settings=settings)
    cells, _ = table_of("arena-edges", made.framed(inside, at_edge))
    (row,) = cells.to_dict("records")
    assert row["choices"] == 2 * made.FOLDS
    assert [row[key] for key in list(row)[-4:]] == [50, 0, 50, 50]
    linear = made.yardstick_rows({"linear": lambda name: 0.2 if name == made.SETS[1] else 0.9}, sets=made.SETS[:2])
    (row,) = table_of("arena-edges", made.framed(inside, at_edge, linear))[0].to_dict("records")
    assert row["choices"] == made.FOLDS  # where a linear model is as good, the longest length scale is like it
    assert [row[key] for key in list(row)[-4:]] == [0, 0, 0, 0]


@pytest.mark.parametrize("on_the_grid", [{}, {"exact_kernel": 0.05}])
def test_yardsticks_are_relative_to_the_baseline_on_its_folds(on_the_grid):
    # an exact kernel on the grid of the maps replaces the other
    wide = [row | {"experiment": "arena-kernel"} for row in made.yardstick_rows(on_the_grid)]
    cells, _ = table_of("arena-yardsticks", made.framed(made.map_rows({}), made.yardstick_rows(EXACT), wide))
    row = cells.set_index("data_set_id").loc["uci-gas"]
    plain, exact = made.errors_by_fold("uci-gas", 256).mean(), (EXACT | on_the_grid)["exact_kernel"]
    # squared errors: made rows have a little noise
    assert row["exact_kernel"] == pytest.approx(100 * (exact / plain - 1), abs=0.2)
    assert row["gradient_boosting"] == pytest.approx(100 * (0.3 / plain - 1), abs=0.5)
    assert row["error"] == pytest.approx(100 * plain, abs=0.1)
    labels = cells.set_index("data_set_id").loc["letter"]
    plain = made.errors_by_fold("letter", 256) * made.TEST_ROWS
    ratio = (0.3 * 400 * 5 + 0.5) / (plain.sum() + 0.5)
    assert labels["gradient_boosting"] == pytest.approx(100 * (ratio - 1), abs=0.2)
    assert labels["error"] == pytest.approx(100 * plain.sum() / 2000, abs=0.1)


def test_ranks_are_means_over_data_sets_of_common_cells():
    ratios = {("orf", ""): 0.9, ("sorf", ""): 1.1}
    rows = made.map_rows(ratios, sets=made.SETS[:6], columns=(64, 128))
    rows = [r for r in rows if not (r["dataset"] == made.SETS[0] and r["method"] == "sorf" and r["n_columns"] == 128)]
    few = made.map_rows({("lsrff", "pool-4"): 0.5}, sets=made.SETS[:2], columns=(64,))  # measured on few sets
    errors = arena.errors_of(made.framed(rows, [row for row in few if row["method"] == "lsrff"]))
    found = arena.rank_intervals(errors, ["orf", "sorf", "lsrff"], "rff").set_index("method")
    assert found["rank"].to_dict() == {"orf": 1.0, "rff": 2.0, "sorf": 3.0}
    assert (found["low"] == found["rank"]).all()
    assert set(found["cells"]) == {11}
    assert set(found["sets"]) == {6}
    turned = {("orf", ""): lambda name: 0.9 if name != made.SETS[0] else 1.2}
    own = arena.rank_intervals(arena.errors_of(made.framed(made.map_rows(turned, sets=made.SETS[:6]))), ["orf"], "rff")
    by_set = np.array([2.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    means = by_set[np.random.default_rng(9).integers(6, size=(4000, 6))].mean(axis=1)
    expected = [by_set.mean(), *np.quantile(means, [0.025, 0.975])]
    assert own.set_index("method").loc["orf", ["rank", "low", "high"]].tolist() == pytest.approx(expected)
    board, table = table_of("arena-leaderboard", made.framed(rows, PLAIN))
    assert board["map_id"].tolist() == ["orf", "rff", "sorf"]
    assert any(note.startswith("Cells that all have: 11, of 6 data sets") for note in table.notes)
    assert board.set_index("map_id").loc["orf", "d_64"] == pytest.approx(-10, abs=0.5)


def test_the_forest_shows_typical_effects_and_pale_maps_without_a_verdict():
    ratios = {("orf", ""): 0.9, ("qmc", ""): lambda name: 1.3 if made.SETS.index(name) % 2 else 0.75}
    rows = made.framed(made.map_rows(ratios, columns=(64, 128, 256, 512, 1024)), PLAIN)
    figure = plots.picture(context_of(rows), FOREST).figure
    results = arena.results_of(context_of(rows), list(made.SETS), "rff", FOREST["quantity"])
    titles = ["D = 64 to 256 (12 sets)", "D = 512 to 1,024 (12 sets)"]
    assert [ax.get_title(loc="left") for ax in figure.axes] == titles
    for columns, ax in zip(arena.BANDS.values(), figure.axes, strict=True):
        middle = results.effects(columns).groupby("method")["effect"].agg(lambda effect: arena.typical(effect).value)
        markers = {line.get_ydata()[0]: line for line in ax.lines if len(line.get_xdata()) == 1}  # by row
        assert {row: line.get_xdata()[0] for row, line in markers.items()} == pytest.approx(
            {0: np.exp(middle["orf"]), 1: np.exp(middle["qmc"])}
        )
        assert markers[0].get_alpha() == 1.0 > markers[1].get_alpha()
