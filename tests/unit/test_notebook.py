"""The functions for notebooks: rows behind outputs, figures with methods of a user's choice, the origin of a number."""

import json
import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from checkouts import ROOT
from click.testing import CliRunner
from matplotlib.figure import Figure

import rfstudy
from random_features.errors import UserError
from rfstudy.cli import commands
from rfstudy.notebook import shipped
from rfstudy.trace import trace

CELL = {"experiment": "pool-size", "dataset": "eeg", "n_features_label": "8d", "metric": "accuracy_pct"}


def test_a_figure_has_the_methods_and_colours_that_are_asked_for():
    methods = ["rff", "orf", "qmc"]
    figure = rfstudy.draw("survey/figure-10-text", methods=methods, colours={"orf": ("crimson", 1.0)}, panels=[0, 2])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[:3] == ["RFF", "ORF", "QMC"]
    assert len(figure.axes) == 8
    lines = [[line for line in ax.get_lines() if line.get_linestyle() not in ("none", "None")] for ax in figure.axes]
    assert all("#dc143cff" in {line.get_color() for line in of_panel} for of_panel in lines)  # crimson
    assert not any(len(ax.containers) for ax in figure.axes)
    assert {"NSRF", "SORF"}.isdisjoint(labels)


def test_axes_of_a_user_take_one_panel():
    figure = Figure()
    ax, other = figure.subplots(1, 2)
    rfstudy.draw("survey/figure-09-text", methods=["rff", "orf"], datasets="letter-am-nz", panels=0, ax=ax, title="Own")
    assert [ax.get_title(loc=side) for side in ("left", "center", "right")] == ["Own", "", ""]
    assert len(ax.get_lines()) == 2
    assert not other.get_lines()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["RFF", "ORF"]
    for name, message in {"survey/figure-09-text": "and these are 16", "nsrf/figure-01a-text": "other parts"}.items():
        with pytest.raises(UserError, match=f"axes take one panel.*{message}"):
            rfstudy.draw(name, ax=other)


def test_colours_letters_and_notes_are_those_of_what_is_left():
    texts = rfstudy.draw("study/arena-cost-tuned", methods=["orf", "rff"]).axes[0].texts
    assert {text.get_text(): text.get_color() for text in texts}["RFF"] == "black"
    assert rfstudy.draw("eerf/figure-02-text", datasets=["adult"]).axes[0].get_title(loc="left") == "Adult"
    differences = rfstudy.draw("eerf/figure-03-differences-text", methods=["rff", "kprff"], colours={"rff": "red"})
    assert "#ff0000ff" in {line.get_color() for line in differences.axes[0].lines}  # the line of no difference
    forest = rfstudy.draw("study/arena-forest-tuned", methods=["orf"])
    assert "Holm's correction over these maps" in forest.get_supxlabel()


def test_a_title_is_above_the_legend_or_above_the_panels():
    with_legend = rfstudy.draw("survey/figure-10-text", methods=["rff"], datasets=["eeg"], title="Mine")
    assert with_legend.legends[0].get_title().get_text() == "Mine"
    for name, methods in {"study/arena-forest-tuned": ["orf"], "survey/figure-01-facts": None}.items():
        without = rfstudy.draw(name, methods=methods, title="Mine")
        assert (without.get_suptitle(), bool(without.axes)) == ("Mine", True)


def test_controls_and_panels_of_other_methods_are_left_out():
    figure = rfstudy.draw("slsrff/ablation-chart-code", methods=["rff", "qmc"])
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert rows[-2:] == ["+ three folds, not five", "RFF with a smaller penalty"]
    assert not any("SLS-RFF" in row for row in rows)
    # numbers over those of a method that is not drawn
    assert len(rfstudy.draw("study/crossover-times", methods=["sorf"]).axes) == 2
    assert len(rfstudy.draw("slsrff/printed-against-ours-all", methods=["lsrff"]).axes) == 5


def test_rows_behind_a_figure_have_its_sizes_data_sets_and_all_of_its_metrics():
    for size in ("2d", "8d"):
        assert set(rfstudy.load(f"study/penalty-chart-{size}-code")["n_features_label"]) == {size}
    rows = rfstudy.load("study/arena-forest-tuned")
    assert set(rows["dataset"]) == set(shipped().spec("study", "arena-forest-tuned")["datasets"])
    assert {"mse", "accuracy_pct"} <= set(rows["metric"])
    for name in ("slsrff/ablation-code", "slsrff/table-03-cells-text"):  # the others are baselines, or compared with it
        assert set(rfstudy.load(name, methods="rff")["method"]) == {"rff"}
    for name, dataset in {"study/arena-flags-tuned": "uci-wine", "survey/table-02-text": "made-d64"}.items():
        assert set(rfstudy.load(name, datasets=dataset)["dataset"]) == {dataset}


def test_a_drawn_point_is_the_mean_of_the_rows_at_its_true_place():
    rows = rfstudy.load("survey/figure-10-text", methods=["orf"], datasets=["eeg"])
    means = rows[rows["metric"] == "approximation_error_frobenius"].groupby("n_features")["value"].mean()
    ax = Figure().subplots()
    rfstudy.draw("survey/figure-10-text", methods=["rff", "orf"], datasets=["eeg"], panels=0, ax=ax)
    x, y = ax.get_lines()[1].get_data()
    np.testing.assert_allclose(y, means)
    np.testing.assert_allclose(x, means.index)


def test_numbers_select_rows_as_numbers_and_as_text():
    assert len(rfstudy.measured(experiment="eerf-tuned", n_features_label=[90, "100"])["n_features"].unique()) == 2
    rows = rfstudy.measured(**CELL, at=1, repeat=[0, "1"])
    assert set(rows["repeat"]) == {0, 1}
    assert set(rows["at"]) == {1.0}


@pytest.mark.parametrize(("call", "message"), [
    (lambda: rfstudy.draw("survey/xxxxxxxx"), "has no 'xxxxxxxx'; it has: "),
    (lambda: rfstudy.load("figure-09-text"), "name it as paper/name, with one of the papers eerf, "),
    (lambda: rfstudy.load("measured/survey/figure-09-text"), "; did you mean survey/figure-09-text"),
    (lambda: rfstudy.draw("survey/figure-09-text", methods=["orff"]), "has no method 'orff'; did you mean rff"),
    (lambda: rfstudy.load("survey/figure-09-text", datasets="egg"), "has no data set 'egg'; known are cod-rna"),
    (lambda: rfstudy.draw(9), "9 is not an output: name it as paper/name"),
    (lambda: rfstudy.load("survey/table-01-text"), "has no rows: what it shows was not measured"),
    (lambda: rfstudy.draw("survey/table-07-text"), "is a table: load"),
    (lambda: rfstudy.draw("survey/figure-10-text", colours="red"), "colours='red': give a colour by method"),
    (lambda: rfstudy.draw("survey/figure-10-text", colours={"rff": "crimsonn"}), "'crimsonn' of rff is no colour"),
    (lambda: rfstudy.draw("study/what-matters-all", colours={"orf": "red"}), "shows no colour of orf"),
    (lambda: rfstudy.draw("survey/figure-10-text", panels=0, ax="left"), "ax='left' is no Axes"),
    (lambda: rfstudy.draw("eerf/printed-against-ours-all", methods=["ses"]), "no measurement is there"),
    (lambda: rfstudy.measured(experiment="arna"), "no experiment 'arna'; did you mean arena"),
    (lambda: rfstudy.measured(data_set="eeg"), "no column 'data_set'; did you mean dataset"),
    (lambda: rfstudy.draw("eerf/figure-03-tuned", methods=["rff", "orf"]), "no rows of 'orf': leave it out"),
    (lambda: rfstudy.measured(experiment="arena", dataset=["uci-bike", "uci-wine"]),
     "no shipped row has dataset='uci-bike' and experiment='arena': leave it out"),
    (lambda: rfstudy.load("survey/figure-07-text", methods=["rff", "ts"]), "no method 'ts'; it has rff (RFF)"),
    (lambda: rfstudy.draw("eerf/figure-01-text", methods=["EERF"]), "'EERF'; did you mean kprff; it has "),
    (lambda: rfstudy.draw("eerf/nothing"), "; did you mean eerf/ranking-text; it has: table-01-"),
    (lambda: rfstudy.draw("survey/figure-09-text", panels=99), "no panel 99: its panels are 0 to 3"),
    (lambda: rfstudy.draw("survey/figure-09-text", panels=[]), "no panel []: its panels are 0 to 3"),
    (lambda: rfstudy.draw("study/arena-forest-tuned", panels=0), "has no panels to choose from"),
    (lambda: rfstudy.measured(experiment="arena", dataset="eeg"), "other experiments may"),
    (lambda: rfstudy.measured(experiment="arena", dataset="Sonar"),
     "no shipped row has experiment='arena', dataset='Sonar'; dataset: did you mean sonar?"),
    (lambda: rfstudy.load("slsrff/ablation-code", methods="slsrff"), "over rff and qmc: name one of them, too"),
    (lambda: rfstudy.load("slsrff/table-03-times-text", methods="rff"), "Table 3 has no number to compare with"),
    (lambda: rfstudy.measured(n_features="8d"), "n_features is a column of numbers: "),
    (lambda: rfstudy.measured(repeat=[None]), "repeat is a column of numbers: "),
    (lambda: rfstudy.draw("survey/figure-08-text", methods=["rff"]), "no method 'rff'; it has none"),
    (lambda: trace("12.3456", CELL), "metric=accuracy_pct is 12.3456: published ones, differences, ranks, and"),
    (lambda: trace("60.8", {"experiment": "eeg-spikes-code"}), "is 60.8: it is one of eeg-spikes-text"),
    (lambda: trace("84,93", CELL), "'84,93' is no number such as 84.93"),
])  # fmt: skip
def test_a_mistake_is_one_line(call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call()


WITH_ROWS = [spec for spec in shipped().reports if spec["experiments"]]


@pytest.mark.parametrize("spec", WITH_ROWS[::12], ids=lambda spec: spec["name"])
def test_every_output_has_rows(spec):
    if shipped().has(spec["experiments"]):
        assert len(rfstudy.load(f"{spec['paper']}/{spec['name']}"))


def test_a_number_is_traced_to_rows_run_commit_and_command(monkeypatch):
    rows = rfstudy.measured(**CELL)
    mean = rows.groupby(["method", "variant", "at", "learner", "split"])["value"].mean().iloc[0]
    result = CliRunner().invoke(commands, ["trace", f"{mean:.2f}", *(f"{key}={value}" for key, value in CELL.items())])
    assert result.exit_code == 0, result.output
    run = next(run for run in shipped().runs("pool-size") if run["run"] in set(rows["run"]))
    assert f"{mean:.10g}" in result.output
    assert f"commit {run['commit'][:10]}" in result.output
    assert re.search(r"again: snakemake .*\.yaml -- results/\w+/pool-size\.csv", result.output)
    assert f"git checkout {run['commit'][:10]}" in result.output
    assert "learner=nearest_neighbour" in trace("96", {"experiment": "eeg-splits-controls"})
    # a commit that the clone lacks is named
    monkeypatch.setattr("rfstudy.trace.is_here", lambda commit: False)
    found = trace(f"{mean:.2f}", CELL)
    assert re.search(r"commit [0-9a-f]{10}.*: not in this clone", found)
    assert "git checkout" not in found


def test_the_notebook_runs(monkeypatch):
    cells = json.loads((ROOT / "docs" / "examples" / "redraw_a_figure.ipynb").read_text(encoding="utf-8"))["cells"]
    monkeypatch.setattr(mpl, "get_backend", lambda: "agg")
    mpl.use("agg")
    scope = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), scope)
    assert len(scope["rows"])


@pytest.mark.parametrize("container", [list, tuple, set, np.array, pd.Series, lambda names: [*names, *names]])
def test_values_come_in_any_container_and_count_once(container):
    names = ["rff", "kprff"]
    rows = rfstudy.measured(experiment="eerf-tuned", method=container(names))
    assert len(rows) == sum(len(rfstudy.measured(experiment=["eerf-tuned"] * 2, method=each)) for each in names)
