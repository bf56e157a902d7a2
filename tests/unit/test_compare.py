"""The recommendation for a file of one's own: honest on noise, right where kernels win, resumable, repeatable."""

import pickle
import re
import runpy
import sys
import time
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from compare_tables import ROWS, result, saved, table
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from random_features.compare import contest as contests
from random_features.compare import decide as decisions
from random_features.compare import recipe, report, run
from random_features.compare.contest import Clock, Contest, Unit
from random_features.compare.question import understand
from random_features.errors import UserError


@pytest.fixture(scope="module", autouse=True)
def small_grids():
    """Grids and rounds small enough for tests."""
    patch = pytest.MonkeyPatch()
    patch.setattr(contests, "FACTORS", 2.0 ** np.arange(-3.0, 1.0))
    patch.setattr(contests, "RATES", (0.1,))
    patch.setattr(contests, "LINEAR_PENALTIES", np.array([0.01, 1.0, 100.0]))
    patch.setattr(contests, "TUNED_ON", 600)
    patch.setattr(contests, "MAPS", ("nystroem", "rff"))
    patch.setattr(contests, "fastest_structured", lambda d: "sorf")
    yield
    patch.undo()


@pytest.fixture(scope="module")
def kernel_run(tmp_path_factory):
    """The answer for data on which kernels win, and its folder."""
    folder = tmp_path_factory.mktemp("kernel")
    file = saved(folder, table("kernel"))
    decision = run.compare(file, "y", out=folder / "out", budget="1h", columns=128)
    return SimpleNamespace(file=file, out=folder / "out", decision=decision)


# --- whole comparisons ------------------------------------------------------------------------------------------------


def test_on_data_with_waves_a_kernel_method_wins_and_linear_does_not(kernel_run):
    verdicts = {}
    for each in kernel_run.decision.comparisons:
        verdicts.setdefault(each["result"].unit.name, []).append(each["verdict"])
    assert set(verdicts["linear"]) == set(verdicts["guess"]) == {"worse"}
    assert kernel_run.decision.chosen.unit.name in ("exact-kernel", "nystroem", "rff", "sorf")


def test_noise_yields_nothing_beats_the_mean(tmp_path, capsys):
    decision = run.compare(saved(tmp_path, table("noise")), "y", out=tmp_path / "out", budget="1h", columns=64)
    assert decision.kind == "nothing"
    assert "Nothing beats the mean" in capsys.readouterr().out


def test_few_rows_are_cross_validated_as_a_whole(tmp_path, capsys):
    frame = table("linear", 200)
    frame["y"] = np.where(frame["y"] > 0, "yes", "no")
    decision = run.compare(saved(tmp_path, frame), "y", out=tmp_path / "out", budget="1h", columns=64)
    shown = capsys.readouterr().out
    assert "cross-validated with all choices" in shown
    assert decision.kind != "nothing"
    assert "The outer folds recommended" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


def test_fifty_rows_are_answered_within_any_budget(tmp_path):
    file = saved(tmp_path, table("linear", 50))
    assert run.compare(file, "y", out=tmp_path / "out", budget="1s").kind != "nothing"


def test_sparse_tables_are_compared_without_what_needs_dense_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "FREE_SECONDS", 600.0)
    X = sparse.random(400, 3000, 0.005, random_state=0, format="csr", data_rvs=np.ones)
    y = (X @ np.random.default_rng(0).standard_normal(3000) > 0).astype(int)
    dump_svmlight_file(X, y, str(tmp_path / "table.svm"), zero_based=False)
    run.compare(tmp_path / "table.svm", out=tmp_path / "out", budget="1s")
    names = set(pd.read_csv(tmp_path / "out" / "results.csv")["contestant"])
    assert {"linear", "rff", "nystroem", "exact-kernel"} <= names
    assert "boosting" not in names
    assert "boosting" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


def test_the_program_repeats_the_test_score_to_the_printed_digits(kernel_run, monkeypatch, capsys, tmp_path):
    shown = (kernel_run.out / "report.md").read_text(encoding="utf-8")
    score = re.search(r"test error: ([\d.e-]+)", shown)[1]
    monkeypatch.syspath_prepend(kernel_run.out)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["best.py"])
    runpy.run_path(str(kernel_run.out / "best.py"), run_name="__main__")
    assert f"test score: {score} on 240 rows" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["best.py", "--all-rows"])
    runpy.run_path(str(kernel_run.out / "best.py"), run_name="__main__")
    import joblib

    fitted = joblib.load(tmp_path / "best.joblib")
    text = kernel_run.file.read_text()
    kernel_run.file.write_text(text + "1,2,3,4\n")
    sys.modules.pop("best", None)
    with pytest.raises(SystemExit, match="was changed since the comparison"):
        runpy.run_path(str(kernel_run.out / "best.py"), run_name="__main__")
    kernel_run.file.write_text(text)
    new = table("kernel", 300, seed=5)
    assert np.mean((fitted.predict(new) - new["y"]) ** 2) < 0.3 * new["y"].var()
    sys.modules.pop("best", None)


def test_the_answer_is_five_lines_and_the_page_is_small_and_offline(kernel_run, capsys):
    page = (kernel_run.out / "report.html").read_text(encoding="utf-8")
    assert len(page) < 1_000_000
    assert not re.search(r"(src|href)=.?http", page)
    assert {path.name for path in kernel_run.out.iterdir()} >= {
        "report.html", "report.md", "results.csv", "best.py", "error-against-columns.png", "error-against-seconds.png",
    }  # fmt: skip
    rows = pd.read_csv(kernel_run.out / "results.csv")
    assert set(rows["contestant"]) == {"guess", "linear", "boosting", "exact-kernel", "nystroem", "rff", "sorf"}


def test_a_damaged_unit_is_computed_again(kernel_run):
    contest = Contest(understand(kernel_run.file, "y"), np.arange(ROWS), kernel_run.out / "damaged")
    contest.run(unit := Unit("guess", contest.n_train, None))
    file, (first,) = contest.file_of(unit), contest.results
    for content in (file.read_bytes()[:-40], b"", pickle.dumps(first)):
        file.write_bytes(content)
        contest.run(unit)
        assert file.read_bytes() != content
        np.testing.assert_array_equal(contest.stored(unit).losses, first.losses)


def test_files_whose_names_differ_have_folders_of_their_own(tmp_path, monkeypatch):
    contest = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr(run, "Contest", contest)
    for name in ("a.2023.csv", "a.2024.CSV.gz", ".csv"):
        with pytest.raises(KeyboardInterrupt):
            run.compare(saved(tmp_path, table("linear"), name), "y")
    assert [str(call.args[2].parent) for call in contest.mock_calls] == [
        "compare-a.2023",
        "compare-a.2024",
        "compare-file",
    ]


def test_a_finished_run_is_read_again_and_not_computed(kernel_run, monkeypatch):
    monkeypatch.setattr(Contest, "computed", lambda self, unit: pytest.fail(f"{unit} was computed again"))
    again = run.compare(kernel_run.file, "y", out=kernel_run.out, budget="1h", columns=128)
    assert again.answer == kernel_run.decision.answer


def test_an_interrupted_run_answers_and_the_next_one_goes_on(tmp_path, monkeypatch, kernel_run, capsys):
    computed, compute = [], Contest.computed

    def stop_at_the_tenth(self, unit):
        if len(computed) == 10:
            raise KeyboardInterrupt
        computed.append(unit)
        return compute(self, unit)

    monkeypatch.setattr(Contest, "computed", stop_at_the_tenth)
    first = run.compare(kernel_run.file, "y", out=tmp_path / "out", budget="1h", columns=128)
    assert first.answer
    assert "interrupted" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    monkeypatch.setattr(Contest, "computed", lambda self, unit: computed.append(unit) or compute(self, unit))
    again = run.compare(kernel_run.file, "y", out=tmp_path / "out", budget="1h", columns=128)
    assert len(computed) == len(set(computed))
    assert {each["result"].unit for each in again.comparisons} == {
        each["result"].unit for each in kernel_run.decision.comparisons
    }


@pytest.mark.parametrize(("stopped", "folds"), [("never", 5), ("rff", 0), ("fold 0", 0), ("fold 2", 2)])
def test_ctrl_c_with_few_rows_scores_finished_outer_folds_alone(tmp_path, monkeypatch, capsys, stopped, folds):
    compute = Contest.computed

    def stop_late_in_a_fold(self, unit):
        in_fold = self.identity[-6:] == stopped and unit.name == "nystroem"
        if in_fold or (unit.name == stopped and unit.columns == 64):
            raise KeyboardInterrupt
        return compute(self, unit)

    monkeypatch.setattr(Contest, "computed", stop_late_in_a_fold)
    few = contests.units(["guess", "linear", "nystroem", "rff"], 100, 64)
    monkeypatch.setattr(run, "planned", lambda *_: {"contestants": [], "left_out": {}, "units": few})
    run.compare(saved(tmp_path, table("linear", 150)), "y", out=tmp_path / "out", budget="1h")
    assert (f"{folds} of 5 before Ctrl-C" in (shown := capsys.readouterr().out)) == (stopped != "never")
    assert ("cross-validated with all choices" in shown) == (folds > 0 or stopped == "never")
    recommended = re.search(r"folds recommended (.*)\.\n", (tmp_path / "out" / "report.md").read_text(encoding="utf-8"))
    assert len(recommended[1].split(", ") if recommended else []) == (5 if stopped == "never" else folds)


def test_outer_folds_that_the_budget_does_not_leave_are_skipped_and_named():
    assert run.nested(None, None, [(None, None)] * 5, [], Clock(run.FEWEST_IN_FOLD - 1), 0.02) is None
    assert "0 of 5" in run.unfinished(None, 5)[0]["evidence"]
    assert run.unfinished({"recommended": ["rff"] * 5}, 5) == []


def test_the_stages_of_a_workflow_give_the_answer_of_one_command(tmp_path, kernel_run):
    common = {"out": tmp_path / "out", "columns": 128}
    assert run.compare(kernel_run.file, "y", stage="plan", **common) is None
    for name in ("guess", "linear", "boosting", "exact-kernel", "nystroem", "rff", "structured", "kprff"):
        run.compare(kernel_run.file, "y", stage="run", contestant=name, **common)
    answer = run.compare(kernel_run.file, "y", stage="answer", **common)
    verdicts = [
        {each["result"].unit: round(each["difference"], 9) for each in decision.comparisons}
        for decision in (answer, kernel_run.decision)
    ]
    assert verdicts[0] == verdicts[1]


def test_units_that_a_budget_does_not_leave_are_skipped_with_the_reason(kernel_run, monkeypatch):
    asked = understand(kernel_run.file, "y")
    contest = Contest(asked, np.arange(ROWS))
    todo = contests.units(["guess", "rff"], contest.n_train, 64)
    contests.hold(contest, todo, Clock(0.0))
    assert set(contest.reasons) == {"guess", "rff"}
    assert all("budget" in reason for reason in contest.reasons.values())
    assert not contest.results
    contest = Contest(asked, np.arange(ROWS))
    wide = {"rff": 1e9}
    monkeypatch.setattr(contest, "expected", lambda unit: wide.get(unit.name, 0.0))
    contests.hold(contest, todo, Clock(1e6))
    assert set(contest.reasons) == {"rff"}


def test_the_budget_keeps_the_time_of_the_final_fits(kernel_run):
    contest = Contest(understand(kernel_run.file, "y"), np.arange(ROWS))
    contest.results = [
        result("guess", np.ones(ROWS), 0.0),
        result("boosting", np.zeros(ROWS), 50.0)._replace(unit=Unit("boosting", contest.n_train, None)),
        result("rff", np.full(ROWS, 0.5), 20.0, 64)._replace(unit=Unit("rff", contest.n_train, 64)),
    ]
    grown = ROWS / contest.n_train
    assert contest.reserve(Unit("linear", contest.n_train, None)) >= 50 * grown**0.5 + 20 * grown
    assert contest.reserve(Unit("rff", contest.n_train, 128)) >= 50 * grown**0.5 + 60 * grown
    # a fit of a moment is mostly overhead, and says little about a large one
    (short,) = [result("rff", np.zeros(ROWS), 0.1, 64)._replace(unit=Unit("rff", 1000, 64))]
    assert 0.1 < contests.grown(short, 5000, 256) < 1.0 < contests.grown(short._replace(seconds=1.0), 5000, 256)
    contest.results[2:] = []
    contests.hold(contest, contests.units(["rff"], contest.n_train, 64), Clock(200.0))
    assert contest.reasons == {}
    contests.hold(contest, contests.units(["linear"], contest.n_train, 64), Clock(60.0))
    assert "budget" in contest.reasons["linear"]


def test_a_fit_that_takes_too_long_is_stopped_and_the_others_go_on(monkeypatch, kernel_run):
    compute = Contest.computed
    monkeypatch.setattr(Contest, "computed", lambda self, unit: sleep_on_rff(unit) or compute(self, unit))

    def sleep_on_rff(unit):
        if unit.name == "rff":
            time.sleep(60)

    contest = Contest(understand(kernel_run.file, "y"), np.arange(ROWS))
    started = time.monotonic()
    contests.hold(contest, contests.units(["guess", "rff", "linear"], contest.n_train, 64), Clock(20.0))
    assert time.monotonic() - started < 30
    assert "stopped after 4 s by the budget" in contest.reasons["rff"]
    assert {each.unit.name for each in contest.results} == {"guess", "linear"}


def test_a_final_fit_that_the_budget_does_not_leave_is_shrunk_or_left_out(kernel_run, monkeypatch):
    asked = understand(kernel_run.file, "y")
    contest = Contest(asked, recipe.final_parts(asked.y, None, "regression", False)[0][0])
    names = ["guess", "rff", "linear"]
    contests.hold(contest, contests.units(names, contest.n_train, 64), Clock(1e6))
    decision = decisions.decide(contest.final(), contest.groups, 0.02)
    monkeypatch.setattr(run, "FEWEST_FITTED", 100)
    found, reasons = run.tested(asked, contest, decision, Clock(0.0))
    assert [each["rows"] for each in found] == [100, 100]
    assert [each["result"].unit.name for each in found] == [decision.chosen.unit.name, "guess"]
    assert any("fitted" in reason for reason in reasons.values())
    found, reasons = run.tested(asked, contest, decision, Clock(1e6))
    assert reasons == {}
    assert {each["rows"] for each in found} == {None}


def test_a_contestant_that_fails_is_noted_and_the_others_go_on(monkeypatch, kernel_run):
    make = recipe.model

    def fail_on_rff(name, settings, task):
        if name == "rff":
            raise ValueError("no luck")
        return make(name, settings, task)

    monkeypatch.setattr(recipe, "model", fail_on_rff)
    contest = Contest(understand(kernel_run.file, "y"), np.arange(ROWS))
    contests.hold(contest, contests.units(["guess", "rff", "linear"], contest.n_train, 64), Clock(1e6))
    assert set(contest.reasons) == {"rff"}
    assert contest.reasons["rff"].endswith("no luck")
    assert {each.unit.name for each in contest.results} == {"guess", "linear"}


def test_training_rows_of_one_class_are_named_as_the_reason(tmp_path):
    frame = table("noise")
    asked = understand(saved(tmp_path, frame.assign(y=frame["y"] > 0)), "y")
    contest = Contest(asked, np.arange(len(frame)))
    contest.parts = [contest.parts[0]._replace(y=0 * contest.parts[0].y)]
    contests.hold(contest, [Unit(name, 400, None) for name in ("guess", "linear", "boosting")], Clock(3600))
    assert contest.reasons == {"linear": "not on 400 rows: the training rows of a validation part have one class only"}


def test_column_names_and_labels_are_escaped(tmp_path):
    name, label = "<script>alert(1)</script>|`x`", "<img src=x>|*y*"
    frame = table("linear", 300).rename(columns={"a": name})
    frame["y"] = np.where(frame["y"] > 0, label, 'it\'s "quoted" \\ {braces}')
    run.compare(saved(tmp_path, frame), "y", out=tmp_path / "out", budget="1h", columns=32)
    for page in ("report.html", "report.md"):
        text = (tmp_path / "out" / page).read_text(encoding="utf-8")
        assert "<script>" not in text
        assert "<img src=x" not in text
    assert r"\|\`x\`" in text
    compile((tmp_path / "out" / "best.py").read_text(encoding="utf-8"), "best.py", "exec")


# --- folds and columns ------------------------------------------------------------------------------------------------


def test_groups_stay_together_and_times_are_tested_on_later_rows(tmp_path):
    frame = table("linear", 1500).assign(shop=np.arange(1500) % 30, day=np.random.default_rng(1).permutation(1500))
    path = saved(tmp_path, frame)
    asked = understand(path, "y", group="shop")
    for train, test in [
        *recipe.final_parts(asked.y, asked.groups, "regression", False),
        *recipe.split(asked.y, asked.groups, "regression", False, folds=3),
    ]:
        assert not set(asked.groups[train]) & set(asked.groups[test])
    assert "shop" not in asked.settings["columns"]["numbers"]
    asked = understand(path, "y", time="day")
    np.testing.assert_array_equal(asked.table["day"], np.arange(1500))
    for train, test in [
        *recipe.final_parts(asked.y, None, "regression", True),
        *recipe.split(asked.y, None, "regression", True, folds=3),
    ]:
        assert train.max() < test.min()


def test_the_test_rows_are_seen_by_no_validation_part(tmp_path, monkeypatch):
    asked = understand(saved(tmp_path, table("linear")), "y")
    ((train, test),) = recipe.final_parts(asked.y, None, "regression", False)
    assert sorted([*train, *test]) == list(range(ROWS))
    taken, rows_of = [], recipe.rows_of
    monkeypatch.setattr(recipe, "rows_of", lambda table, rows: taken.append(rows) or rows_of(table, rows))
    parts, groups = contests.validation_parts(asked, train)
    assert not set(np.concatenate(taken)) & set(test)
    assert len(groups) == sum(len(part.y_held) for part in parts) == len(train)


def test_the_encoder_fills_scales_and_ignores_unknown_categories():
    frame = pd.DataFrame(
        {
            "n": [1.0, None, 3.0, np.inf],
            "c": ["a", "b", None, "a"],
            "d": ["2024-01-01", "2024-01-02", None, "2024-02-01"],
        }
    )
    columns = {"numbers": ["n"], "dates": ["d"], "categories": ["c"]}
    fitted = recipe.encoder(columns).fit(frame)
    X = fitted.transform(frame)
    assert X.dtype == np.float32
    assert np.isfinite(X).all()
    new = fitted.transform(pd.DataFrame({"n": [2.0], "c": ["new"], "d": ["2030-01-01"]}))
    assert new.shape == (1, X.shape[1])
    assert new[0, -3:].sum() == 0


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([1e300, 2e300] * 50, "classes"),
        ([0, 1] * 50, "classes"), (np.arange(200) % 20, "classes"), (np.arange(200) % 25, "regression"),
        (np.linspace(0, 1, 100), "regression"), (["a", "b"] * 50, "classes"), ([True, False] * 50, "classes"),
    ],
)  # fmt: skip
def test_the_task_is_inferred(tmp_path, values, task):
    path = saved(tmp_path, pd.DataFrame({"x": np.arange(len(values)) * 0.5, "y": values}))
    assert understand(path, "y").settings["task"] == task


# --- warnings of the run ----------------------------------------------------------------------------------------------


def test_a_choice_at_the_edge_of_its_grid_is_noted():
    chosen = result("rff", [0.0])._replace(edges=["length scale 8"])
    assert run.edges(SimpleNamespace(chosen=chosen, best=chosen)) == [
        {"warning": "a choice at the edge of its grid", "evidence": "rff: length scale 8"}
    ]


# --- options ----------------------------------------------------------------------------------------------------------


def test_unknown_maps_and_budgets_are_refused(tmp_path, capsys):
    path = saved(tmp_path, table("linear"))
    refused = [({"margin": margin}, "--margin") for margin in (np.nan, -1.0, np.inf)]
    refused += [({"budget": "99999999999999h"}, "at most a year")]
    for how, words in (
        ({"maps": ["ofr"]}, "orf"),
        ({"maps": ["ts"]}, "Gaussian"),
        ({"budget": "soon"}, "90s"),
        *refused,
    ):
        with pytest.raises(UserError, match=words):
            run.compare(path, "y", out=tmp_path / "out", **how)
    with pytest.raises(UserError, match="there is no plan"):
        run.compare(path, "y", out=tmp_path / "out", stage="answer")
    assert not (tmp_path / "out").exists()
    with pytest.raises(UserError, match="could replace"):
        run.compare(path, "y", out=tmp_path)
    run.check_map("lsrff")
    assert "takes long" in capsys.readouterr().out


def test_a_map_of_a_number_of_columns_has_that_many(kernel_run):
    asked = understand(kernel_run.file, "y")
    X = recipe.encoder(asked.settings["columns"]).fit_transform(asked.table)
    for name in ("rff", "orf", "sorf", "rom", "fastfood", "qmc", "nystroem", "kprff"):
        settings = {"length_scale": 1.0, "penalties": [1e-6], **contests.map_settings(name, 64, "regression")}
        machine = recipe.model(name, settings, "regression").fit(X[:500], asked.y[:500])
        assert machine.map_.n_columns_ == 64, name


def test_markdown_is_in_one_line():
    assert report.escaped("a\nb # c") == r"a b \# c"


def test_the_exact_kernel_on_more_rows_than_its_matrix_holds_comes_last():
    found = contests.units(["guess", "linear", "boosting", "exact-kernel", "rff"], 50_000, 512)
    assert found[-2:] == [Unit("exact-kernel", 30_000, None), Unit("exact-kernel", 50_000, None)]
    assert Unit("exact-kernel", contests.MOST_HELD, None) in found
    assert found.index(Unit("boosting", 50_000, None)) < found.index(Unit("rff", 30_000, 256))


def test_what_a_larger_budget_has_more_of_is_noted(kernel_run):
    contest = Contest(understand(kernel_run.file, "y"), np.arange(ROWS))
    n, plan = (
        contest.n_train,
        {"contestants": ["guess", "boosting", "exact-kernel", "rff"], "units": [["rff", 9, 4096]]},
    )
    finished = [("guess", n, None), ("boosting", 500, None), ("rff", n, 128)]
    contest.results = [result(name, [0.0])._replace(unit=Unit(name, rows, D)) for name, rows, D in finished]
    (found,) = run.cut_short(contest, plan)
    assert found["evidence"] == f"boosting on 500 of {n} rows; exact-kernel on 0 of {n} rows"
    contest.reasons["rff"] = "not with 256 columns"
    (found,) = run.cut_short(contest, plan)
    assert found["evidence"].endswith("; rff with 128 columns of up to 4,096")
    contest.reasons.clear()
    assert run.cut_short(contest, plan | {"contestants": ["guess"]}) == []


def test_a_penalty_that_leaves_other_rows_without_a_solution_grows():
    a = np.random.default_rng(0).normal(size=300)
    table, settings = pd.DataFrame({"a": a}), {"task": "regression", "columns": {"numbers": ["a"]}}
    settings["columns"] |= {"dates": [], "categories": []}
    chosen = {"length_scale": 1.5, "penalties": [1e-18]}
    with pytest.raises(np.linalg.LinAlgError):
        recipe.model("exact-kernel", chosen, "regression").fit(a[:200, None], np.sin(a[:200]))
    rows = np.arange(200), np.arange(200, 300)
    assert recipe.part_losses(table, np.sin(a), *rows, settings, "exact-kernel", chosen).mean() < 1e-3
