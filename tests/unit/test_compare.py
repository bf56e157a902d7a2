"""The recommendation for a file of one's own: honest on noise, right where kernels win, resumable, repeatable."""

import itertools
import os
import pickle
import re
import runpy
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from compare_tables import ROWS, result, saved, table
from refusals import message
from scipy import sparse
from sklearn import metrics
from sklearn.datasets import dump_svmlight_file

from random_features.compare import contest as contests
from random_features.compare import recipe, report, run, warnings
from random_features.compare.contest import Contest, Unit
from random_features.compare.decide import decide
from random_features.compare.question import understand


@pytest.fixture(scope="module", autouse=True)
def small_grids():
    """Grids and rounds small enough for tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipe, "RELEVANCE_ROWS", 200)
        patch.setattr(contests, "TREES", ({"learning_rate": 0.1},))
        patch.setattr(contests, "TUNED_ON", 400)
        patch.setattr(contests, "MAPS", ("nystroem", "rff", "sorf"))
        yield


@pytest.fixture(scope="module")
def kernel_run(tmp_path_factory):
    """The answer for data on which kernels win, and its folder."""
    folder = tmp_path_factory.mktemp("kernel")
    file = saved(folder, table("kernel"))
    decision = run.compare(file, "y", out=folder / "out", budget="1h", columns=128)
    return SimpleNamespace(file=file, out=folder / "out", decision=decision)


@pytest.fixture
def contest(kernel_run, tmp_path):
    """A contest on the same data that has not begun."""
    return Contest(understand(kernel_run.file, "y"), np.arange(ROWS), tmp_path)


def test_on_data_with_waves_a_kernel_method_wins_and_linear_does_not(kernel_run):
    verdicts = {}
    for each in kernel_run.decision.comparisons:
        verdicts.setdefault(each["result"].unit.name, []).append(each["verdict"])
    assert set(verdicts["linear"]) == set(verdicts["guess"]) == {"worse"}
    assert kernel_run.decision.chosen.unit.name in ("exact-kernel", "nystroem", "rff", "sorf")


def test_noise_yields_nothing_beats_the_mean(tmp_path, capsys):
    decision = run.compare(saved(tmp_path, table("noise", 600)), "y", out=tmp_path / "out", budget="1h", columns=64)
    assert decision.kind == "nothing"
    assert "Nothing beats the mean as far" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("is_late", "lacking", "skipped"),
    [
        (lambda unit: unit.name == "boosting", "boosting", "boosting not on 192 rows"),
        (lambda unit: bool(unit.columns), "all maps", "nystroem, rff, sorf not on 192 rows with 32 columns"),
    ],
)
def test_a_budget_that_ends_too_early_gives_no_answer(tmp_path, monkeypatch, capsys, is_late, lacking, skipped):
    monkeypatch.setattr(Contest, "expected", lambda self, unit: 1e9 * is_late(unit))
    path = saved(tmp_path, table("linear", 300))
    decision = run.compare(path, "y", out=tmp_path / "out", budget="1h", columns=32)
    assert decision.kind == "unfinished"
    printed = capsys.readouterr().out
    assert f"No answer yet: {lacking} did not run; the warnings say why" in printed
    assert f"not run ({skipped}: the budget does not leave the time)" in printed
    assert "a longer --budget may help" in printed
    assert (tmp_path / "out" / "report.html").exists()
    assert not (tmp_path / "out" / "best.py").exists()


@pytest.mark.parametrize("most", [contests.MOST_DENSE, 10**5])
def test_sparse_tables_are_compared_with_boosting_where_they_are_small_enough_to_be_dense(tmp_path, monkeypatch, most):
    monkeypatch.setattr(contests, "MOST_DENSE", most)
    X = sparse.random(400, 3000, 0.005, random_state=0, format="csr", data_rvs=np.ones)
    y = (X @ np.random.default_rng(0).standard_normal(3000) > 0).astype(int)
    dump_svmlight_file(X, y, str(tmp_path / "table.svm"), zero_based=False)
    run.compare(tmp_path / "table.svm", out=tmp_path / "out", budget="1h", columns=64)
    names = set(pd.read_csv(tmp_path / "out" / "results.csv")["contestant"])
    assert {"linear", "rff", "nystroem", "exact-kernel"} <= names
    assert ("boosting" in names) == (most > 10**6)
    left_out = "it needs a dense table, and this one has 3,000 columns"
    assert (left_out in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")) == (most < 10**6)


def test_the_program_repeats_the_test_score_to_the_printed_digits(kernel_run, monkeypatch, capsys, tmp_path):
    shown = (kernel_run.out / "report.html").read_text(encoding="utf-8")
    score = re.search(r"Test root mean squared error: .+?: ([\d.e-]+)", shown)[1]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["best.py"])
    runpy.run_path(str(kernel_run.out / "best.py"), run_name="__main__")
    assert f"test score: {score} on 240 rows" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["best.py", "--all-rows"])
    runpy.run_path(str(kernel_run.out / "best.py"), run_name="__main__")
    program = "import sys, joblib, pandas; print(*joblib.load(sys.argv[1]).predict(pandas.read_csv(sys.argv[2])))"
    new = table("kernel", 300, seed=5)
    new.drop(columns="y").to_csv(tmp_path / "new.csv", index=False)
    command = [sys.executable, "-c", program, kernel_run.out / "best.joblib", tmp_path / "new.csv"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd="/").stdout
    assert np.mean((np.array(printed.split(), float) - new["y"]) ** 2) < 0.3 * new["y"].var()
    text = kernel_run.file.read_text()
    kernel_run.file.write_text(text + "1,2,3,4\n")
    with pytest.raises(SystemExit, match="was changed since the comparison"):
        runpy.run_path(str(kernel_run.out / "best.py"), run_name="__main__")
    kernel_run.file.write_text(text)


def test_the_answer_is_five_lines_and_the_page_is_small_and_offline(kernel_run, capsys):
    page = (kernel_run.out / "report.html").read_text(encoding="utf-8")
    assert len(page) < 1_000_000
    assert page.count("<img alt='Error against") == 2
    assert not re.search(r"(src|href)=.?http", page)
    names = {path.name for path in kernel_run.out.iterdir()} - {"best.joblib"}
    assert names == {"report.html", "results.csv", "best.py", "question.json", "cells"}
    rows = pd.read_csv(kernel_run.out / "results.csv")
    assert set(rows["contestant"]) == {"guess", "linear", "boosting", "exact-kernel", "nystroem", "rff", "sorf"}


def test_a_damaged_or_edited_unit_is_computed_again(kernel_run, tmp_path):
    contest = Contest(understand(kernel_run.file, "y"), np.arange(ROWS), tmp_path)
    contest.run(unit := Unit("guess", contest.n_train, None))
    file, (first,) = contest.file_of(unit), contest.results
    whole = file.read_bytes()
    seal, _, text = whole.partition(b"\n")
    edited = seal + b"\n" + text.replace(b", ", b", 1", 1)
    for content in (whole[:-40], b"", pickle.dumps(first), edited, b"\xff", text):
        file.write_bytes(content)
        contest.run(unit)
        assert file.read_bytes() != content
        np.testing.assert_array_equal(contest.results[-1].losses, first.losses)


def test_an_interrupted_run_answers_the_next_one_goes_on_and_a_finished_one_is_read(tmp_path, monkeypatch, kernel_run):
    computed, compute = [], Contest.computed

    def stop_at_the_eighth(self, unit):
        if len(computed) == 7:
            raise KeyboardInterrupt
        computed.append(unit)
        return compute(self, unit)

    monkeypatch.setattr(Contest, "computed", stop_at_the_eighth)
    first = run.compare(kernel_run.file, "y", out=tmp_path / "out", budget="1h", columns=128)
    assert first.answer
    assert "(rff, sorf, exact-kernel interrupted)" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    monkeypatch.setattr(Contest, "computed", lambda self, unit: computed.append(unit) or compute(self, unit))
    again = run.compare(kernel_run.file, "y", out=tmp_path / "out", budget="1h", columns=128)
    assert len(computed) == len(set(computed))
    units, whole = ({each["result"].unit for each in found.comparisons} for found in (again, kernel_run.decision))
    assert units == whole
    monkeypatch.setattr(Contest, "computed", lambda self, unit: pytest.fail(f"{unit} was computed again"))
    again = run.compare(kernel_run.file, "y", out=kernel_run.out, budget="1h", columns=128)
    assert again.answer == kernel_run.decision.answer


def no_luck(seconds):
    raise ValueError("no luck")


@pytest.mark.parametrize(("fit", "seconds", "reason"), [(time.sleep, 20.0, "by the budget"), (no_luck, 1e6, "no luck")])
def test_a_contestant_that_is_slow_or_fails_is_noted_and_the_others_go_on(monkeypatch, contest, fit, seconds, reason):
    make = recipe.model
    monkeypatch.setattr(recipe, "model", lambda name, *how: fit(60) if name == "rff" else make(name, *how))
    started = time.monotonic()
    contests.hold(contest, contests.units(["guess", "rff", "linear"], contest.n_train, 64), started + seconds)
    assert time.monotonic() - started < seconds + 10
    assert set(contest.reasons) == {"rff"}
    assert contest.reasons["rff"].endswith(reason)
    assert {each.unit.name for each in contest.results} == {"guess", "linear"}


def test_training_rows_may_lack_a_class_and_rows_of_one_class_are_named_as_the_reason(tmp_path):
    frame = table("linear")
    y = np.digitize(frame["y"], frame["y"].quantile([0.02, 0.5])).astype(str)
    contest = Contest(understand(saved(tmp_path, frame.assign(y=y)), "y"), np.arange(len(frame)), tmp_path)
    every = contest.parts
    for kept, ones, n in (((1, 2), 0, 400), ((1, 2), 1, 785), ((1, 2), 0, 10), ((1,), 2, 10), ((1,), 0, 400)):
        rows = [np.isin(part.y, kept) | ((part.y == 0) & ((part.y == 0).cumsum() <= ones)) for part in every]
        contest.parts = [part._replace(X=part.X[some], y=part.y[some]) for part, some in zip(every, rows, strict=True)]
        contest.identity = str((kept, ones))  # no unit is taken from the folder
        names = ("guess", "boosting", "linear", "exact-kernel", "rff")
        planned = [Unit(name, n, 32 if name == "rff" else None) for name in names]
        contests.hold(contest, planned, time.monotonic() + 3600)
        assert all(name in contest.reasons or contest.last(name).losses.max() <= 1 for name in names)
        assert set(contest.reasons) == (set() if len(kept) + ones > 1 else {*names} - {"guess"})
    assert "class" in contest.reasons["linear"]


def test_column_names_and_labels_are_escaped(tmp_path, monkeypatch):
    monkeypatch.setattr(contests, "MAPS", ("rff",))
    name, label = "<script>alert(1)</script>|`x`", "<img src=x>|*y*"
    frame = table("linear", 300).assign(**{name: lambda frame: frame["y"] > 0})
    frame["y"] = np.where(frame["y"] > 0, label, 'it\'s "quoted" \\ {braces}')
    monkeypatch.setattr(report, "SHOWN_COLUMNS", 2)
    run.compare(saved(tmp_path, frame), "y", out=tmp_path / "out", budget="1h", columns=32)
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert re.search("2 % of the loss of the guess, as the best has none.*the first 2 columns:", text, re.S)
    assert "<script>" not in text
    assert "<img src=x" not in text
    compile((tmp_path / "out" / "best.py").read_text(encoding="utf-8"), "best.py", "exec")


def test_a_budget_ends_while_columns_are_scaled(tmp_path, monkeypatch):
    monkeypatch.setattr(recipe, "relevance", lambda X, y: [time.sleep(25), pytest.fail("not stopped")])
    path = saved(tmp_path, table("linear", 300))
    assert "--budget 4s: not even a guess" in message(run.compare, path, "y", out=tmp_path / "out", budget="4s")


def test_unknown_maps_and_budgets_are_refused(tmp_path, capsys, monkeypatch):
    path = saved(tmp_path, table("linear"))
    for how, words in (
        *(({"margin": margin}, "--margin") for margin in (np.nan, -1.0, np.inf)),
        ({"budget": "99999999999999h"}, "at most a year"),
        ({"maps": ["ofr"]}, "orf"),
        ({"maps": ["ts"]}, "--maps ts: ts does not apply to the kernel gaussian"),
        ({"budget": "soon"}, "90s"),
    ):
        assert words in message(run.compare, path, "y", out=tmp_path / "out", **how)
    assert not (tmp_path / "out").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "results.csv").write_text("mine")
    for out in (tmp_path, tmp_path / "mine"):
        assert "has files that are no answer to this question" in message(run.compare, path, "y", out=out)
    monkeypatch.delattr("signal.setitimer")  # as on Windows
    assert "run it in WSL" in message(run.compare, path, "y")


def test_a_map_of_a_number_of_columns_has_that_many(kernel_run):
    asked = understand(kernel_run.file, "y")
    X = recipe.encoder(asked.settings).fit_transform(asked.table)
    for name in ("rff", "orf", "sorf", "rom", "fastfood", "qmc", "nystroem", "kprff"):
        settings = {"length_scale": 1.0, "penalties": [1e-6], **contests.map_settings(name, 64)}
        machine = recipe.model(name, settings, "regression").fit(X[:500], asked.y[:500])
        assert machine.map_.n_columns_ == 64, name


def test_a_penalty_that_leaves_other_rows_without_a_solution_grows():
    a = np.random.default_rng(0).normal(size=300)
    columns = {"numbers": ["a"], "dates": [], "categories": []}
    table, settings = pd.DataFrame({"a": a}), {"task": "regression", "formats": {}, "columns": columns}
    chosen = {"length_scale": 1.5, "penalties": [1e-18], "relevance": False}
    with pytest.raises(np.linalg.LinAlgError):
        recipe.model("exact-kernel", chosen, "regression").fit(a[:200, None], np.sin(a[:200]))
    contest = SimpleNamespace(task="regression", classes=None)
    scaled = [recipe.Scaled().fit(a[:, None], a)]
    part = contests.Part(a[:200, None], np.sin(a[:200]), a[200:, None], np.sin(a[200:]), scaled)
    losses, _, penalty = Contest.scored(contest, "exact-kernel", chosen, part, 200, None, "rmse")
    assert losses.mean() < 1e-3
    assert penalty > 1e-18
    fitted = recipe.fitted(table[:200], np.sin(a[:200]), settings, "exact-kernel", chosen)
    assert np.mean((fitted.predict(table[200:]) - np.sin(a[200:])) ** 2) < 1e-3


def test_only_what_saw_all_rows_is_compared_unless_it_is_better_with_fewer():
    contest = Contest.__new__(Contest)
    contest.n_train = 100
    few = result("exact-kernel", [3.0])._replace(unit=Unit("exact-kernel", 10, None))
    contest.results = [result("guess", [5.0]), result("rff", [2.0], columns=64), few]
    assert [each.unit.name for each in contest.fair()] == ["rff", "guess"]
    contest.results[2] = few._replace(losses=np.array([1.0]))
    assert [each.unit.name for each in contest.fair()] == ["exact-kernel", "rff", "guess"]


def test_boosting_is_first_and_every_map_has_its_turn_before_a_wider_one():
    found = contests.units(["guess", "boosting", "linear", "exact-kernel", "rff", "kprff"], 50_000, 1024)
    assert [unit.name for unit in found[:3]] == ["guess", "boosting", "linear"]
    widths = [unit.columns for unit in found if unit.columns]
    assert widths == sorted(widths)
    assert {unit.n for unit in found if unit.name != "exact-kernel"} == {50_000}
    assert [unit.n for unit in found if unit.name == "exact-kernel"] == [contests.MOST_HELD, 50_000]


@pytest.mark.parametrize("metric", recipe.METRICS["classes"])
def test_the_mean_of_the_losses_is_the_metric_of_scikit_learn_and_they_vary_as_it_does(metric):
    rng = np.random.default_rng(0)
    y = (rng.random(500) < 0.2).astype(int)
    p = np.clip(rng.normal(0.3 + 0.2 * y, 0.2), 0.01, 0.99)
    P = np.column_stack([1 - p, p])
    expected = {
        "error": 100 * np.mean((p > 0.5) != y),
        "balanced-error": 100 * (1 - metrics.balanced_accuracy_score(y, p > 0.5)),
        "log-loss": metrics.log_loss(y, p),
        "auc": metrics.roc_auc_score(y, p),
        "average-precision": metrics.average_precision_score(y, p),
    }
    losses = recipe.losses(P, y, metric)
    np.testing.assert_allclose(recipe.score(losses, metric), expected[metric], rtol=1e-9)
    alone = [recipe.losses(P[rows], y[rows], metric).mean() for rows in ~np.eye(500, dtype=bool)]  # the jackknife
    np.testing.assert_allclose(np.std(losses), 499 * np.std(alone), rtol=0.05)


def test_rare_classes_are_found_or_the_answer_says_that_they_are_never_predicted(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=np.where(np.hypot(*X.T) > 2.6, "fraud", "ok"))
    decision = run.compare(saved(tmp_path, frame), "y", out=tmp_path / "out", budget="1h", columns=128)
    guess = next(each for each in decision.comparisons if each["result"].unit.name == "guess")["result"]
    assert decision.chosen.losses.mean() < 0.5 * guess.losses.mean()
    maps = [each["result"] for each in decision.comparisons if each["result"].unit.columns == 128]
    assert min(each.losses.mean() for each in maps) < 0.6 * guess.losses.mean()
    assert "average precision" in capsys.readouterr().out
    contest = Contest(asked := understand(tmp_path / "table.csv", "y"), np.arange(2000), tmp_path)
    contest.run(Unit("guess", contest.n_train, None))
    decision = decide(contest.results, contest.groups, 0.02)
    (score,) = run.tested(asked, contest, decision, time.monotonic() + 60, np.arange(2000), np.arange(2000, 3000))
    assert score["never"] == ["fraud"]
    assert score["more"]["average-precision"] < 0.05  # of the rarer class, which is the first by name
    assert "it never predicts 'fraud'" in report.shown(score)
    contest.n_final = 50  # as many as fit into memory
    four = [np.flatnonzero(asked.y)[0], *np.flatnonzero(asked.y == 0)[:3]]
    (score,) = run.tested(asked, contest, decision, time.monotonic() + 60, np.arange(2000), np.array(four))
    assert (score["rows"], score["low"], score["high"]) == (50, 0, 100)  # an error of 25 % ± 80 %
    ways = ": the error hardly counts them; --metric balanced-error or log-loss or auc or average-precision does"
    assert re.fullmatch("'fraud' has 3.* % of the rows" + ways, warnings.unequal(asked))
    asked = understand(tmp_path / "table.csv", "y", metric="auc")
    assert re.fullmatch("'fraud' has 3.* % of the rows", warnings.unequal(asked))
    (score,) = run.tested(asked, contest, decision, time.monotonic() + 60, np.arange(2000), np.arange(2000, 3000))
    assert list(score["more"]) == ["balanced-error", "log-loss", "average-precision"]


def test_predictions_are_labels_and_texts_of_tomorrow_are_read_as_today(tmp_path):
    frame = table("linear", 300)
    prices = [f"{v:.3f}".replace(".", ",") + " €" for v in frame["a"]]
    path = saved(tmp_path, text := frame.assign(a=prices, y=np.where(frame["y"] > 0, "01", "1")), sep=";")
    asked = understand(path, "y")
    labels = recipe.labels_of(asked.y, asked.settings)
    fitted = recipe.fitted(asked.table, labels, asked.settings, "linear", {"penalty": 1.0})
    assert set(fitted.predict(pd.read_csv(path, sep=";", dtype=str))) == {"01", "1"}
    np.testing.assert_array_equal(fitted.predict(text), fitted.predict(asked.table))


OPTIONS = {
    "task": {"task": "regression"}, "drop": {"drop": ["a", "shop", "when"]}, "group": {"group": "shop"},
    "time": {"time": "when"}, "metric": {"metric": "mae"}, "header": {"header": "yes"}, "separator": {"separator": ";"},
    "quote": {"quote": "double"}, "encoding": {"encoding": "utf-8"}, "decimal": {"decimal": ","},
    "missing": {"missing": "k.A."}, "format": {"formats": ["day=%d/%m/%Y"]},
}  # fmt: skip


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(OPTIONS, 2)))
def test_each_pair_of_options_is_planned_with_and_without_missing_cells(tmp_path, monkeypatch, one, other, gaps):
    monkeypatch.setattr(recipe, "RELEVANCE_ROWS", 20)  # it says nothing about columns, and takes no time
    rng = np.random.default_rng(0)
    frame = table("linear", 240).map(lambda value: f"{value:.4f}".replace(".", ","))
    when = pd.date_range("2024-01-01", periods=240).strftime("%d.%m.%Y")
    shops, days = rng.integers(0, 12, 240), pd.date_range("2024-01-01", periods=240).strftime("%d/%m/%Y")
    frame = frame.assign(shop=[f"s{shop}" for shop in shops], when=when, day=days)
    if gaps:
        for j, column in enumerate(("a", "b", "shop", "when", "day", "y")):
            frame.loc[frame.index[j::40], column] = ["", "k.A."][j % 2] if column in "aby" else ""
    path, how = saved(tmp_path, frame, sep=";"), OPTIONS[one] | OPTIONS[other]
    asked = understand(path, "y", **how)
    known = pd.to_numeric(frame["y"].str.replace(",", "."), errors="coerce")
    kept = known.notna()
    for option, column in (("group", "shop"), ("time", "when")):
        lost = kept & (frame[column] == "") & (option in how)
        assert (f"rows left out: {lost.sum()} (no {option})" in asked.changed) == lost.any()
        kept &= ~lost
    y = known[kept].to_numpy()  # the rows are in time already
    np.testing.assert_allclose(asked.y, y)
    columns = asked.settings["columns"]
    assert {"a", "b"} - set(columns["numbers"]) == {"a"} & set(how.get("drop", ()))
    assert "day" in columns["dates"]
    assert columns.get("seasons", []) == ["when"] * ("time" in how and "when" not in how.get("drop", ()))
    numbers = pd.to_numeric(frame["b"].str.replace(",", "."), errors="coerce")[kept].to_numpy()
    np.testing.assert_allclose(asked.table["b"].to_numpy(float), numbers)
    contest = Contest(asked, recipe.final_parts(asked.table, asked.y, asked.groups, asked.settings)[0], tmp_path)
    names, _ = contests.contestants(contest.parts[0])
    assert contests.units(names, contest.n_train, 64)
    assert all(np.isfinite(part.X).all() and np.isfinite(part.X_held).all() for part in contest.parts)


PAIRS = (
    ("group", "time"), ("metric", "drop"), ("decimal", "missing"), ("task", "format"), ("header", "separator"),
    ("quote", "encoding"), ("group", "missing"), ("time", "metric"), ("drop", "format"), ("task", "group"),
)  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS)
def test_some_pairs_are_run_to_the_end(tmp_path, monkeypatch, pair, capsys):
    monkeypatch.setattr(contests, "MAPS", ("rff",))  # an option says nothing about maps
    rng = np.random.default_rng(0)
    frame = table("linear", 240).round(4)
    frame = frame.assign(shop=rng.integers(0, 12, 240), when=np.arange(240) * 1.5, day="15/03/2021")
    frame.loc[::30, "b"] = np.nan
    path, how = saved(tmp_path, frame, sep=";", decimal=","), OPTIONS[pair[0]] | OPTIONS[pair[1]]
    decision = run.compare(path, "y", out=tmp_path / "out", budget="1h", columns=32, **how)
    assert decision.kind in ("map", "no map", "undecided")
    assert (tmp_path / "out" / "best.py").exists()
