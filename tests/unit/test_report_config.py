"""The plot styles of the methods and the catalogue of outputs: complete, valid, and distinct for every reader."""

import itertools

import matplotlib.markers
import numpy as np
import pytest
import report_rows
import yaml
from checkouts import CONFIG
from matplotlib.colors import to_rgb
from report_rows import METHODS, REPORTS
from skimage.color import rgb2lab

from random_features.modules import statements
from rfstudy import tidy
from rfstudy.outputs import load_reports, problems_with
from rfstudy.planning.config import ConfigurationError, extended
from rfstudy.report import catalogue
from rfstudy.report.context import contexts
from rfstudy.report.plot_styles import plot_style
from rfstudy.study.provenance import write_results

IDS = {
    "rff", "nrff", "orf", "sorf", "rom", "fastfood", "pmodel", "scrf", "lprff", "mm", "qmc", "ssf", "gq", "sgq", "ssr",
    "lsrff", "slsrff", "karff", "kprff", "clrff", "ses", "rm", "ts", "trp", "nystroem", "nsrf", "nsrf_sphere",
}  # fmt: skip

#: Methods that a paper draws into one panel.
TOGETHER = (
    "rff orf sorf rom fastfood qmc ssf gq lsrff", "rff orf ses karff kprff", "rff karff nsrf nsrf_sphere",
    "rff qmc lsrff slsrff", "rm ts trp",
)  # fmt: skip

#: Colours as they are seen: matrices on linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


@pytest.mark.parametrize("vision", VISION)
def test_methods_of_one_panel_look_different_to_everybody(vision):
    def seen(method):
        linear = np.power(to_rgb(METHODS[method]["colour"]), 2.2)
        return rgb2lab(np.clip(np.asarray(VISION[vision]) @ linear, 0, 1) ** (1 / 2.2))

    for group in TOGETHER:
        for one, other in itertools.combinations(group.split(), 2):
            # 2.3 is a just noticeable difference of CIELAB; thin lines need several
            assert np.linalg.norm(seen(one) - seen(other)) > 10, (one, other)
            assert METHODS[one]["marker"] != METHODS[other]["marker"]


def test_every_method_has_a_look_of_its_own():
    assert set(METHODS) >= IDS
    styles = [plot_style(method, METHODS) for method in METHODS]
    assert len({(each.colour, each.marker) for each in styles}) == len(styles)
    assert len({each.label for each in styles}) == len(styles)
    assert {each.marker for each in styles} <= set(matplotlib.markers.MarkerStyle.markers)


def test_a_method_without_an_entry_gets_a_look_that_is_its_own():
    found = [plot_style(method, METHODS) for method in ("newmap", "other")]
    assert found[0].label == "newmap"
    known = {(each["colour"], each["marker"]) for each in METHODS.values()}
    assert {(each.colour, each.marker) for each in found}.isdisjoint(known)
    assert found[0][1:4] != found[1][1:4]


def test_every_entry_and_protocol_is_one_specification():
    entries = [
        (path.stem, identifier, protocol)
        for path in (CONFIG / "figures").glob("*.yaml")
        for identifier, entry in extended(yaml.safe_load(path.read_text("utf-8")), "output", lambda a, b: a | b).items()
        for protocol in entry["experiments"]
    ]
    assert sorted((spec["paper"], spec["id"], spec["protocol"]) for spec in REPORTS) == sorted(entries)
    spec = catalogue.specification(REPORTS, "survey", "figure-09-code")
    assert (spec["experiments"], spec["protocol"], spec["form"]) == (["survey-gaussian-code"], "code", "figures")
    assert catalogue.outputs(spec) == [f"figure-09-code.{ending}" for ending in ("pdf", "png", "csv", "txt")]
    table = catalogue.specification(REPORTS, "survey", "table-07-text")
    assert catalogue.outputs(table) == [f"table-07-text.{ending}" for ending in ("csv", "md", "tex", "txt")]
    with pytest.raises(ValueError, match="'figure-99'; it has: figure-06-text"):
        catalogue.specification(REPORTS, "survey", "figure-99")


def test_a_kind_is_found_by_what_it_returns(tmp_path, monkeypatch):
    (tmp_path / "plots").mkdir()
    code = "def ranges(context, sizes=()) -> Picture: ...\ndef helper() -> dict: ...\ndef other(): ...\n"
    (tmp_path / "plots/made.py").write_text(code)
    monkeypatch.setattr(catalogue, "__file__", str(tmp_path / "catalogue.py"))
    assert catalogue.kinds.__wrapped__() == {"ranges": ("figures", "rfstudy.report.plots.made")}
    (tmp_path / "plots/other.py").write_text(f"{code}def (")
    with pytest.raises(ValueError, match="two files of report/tables and report/plots have a kind ranges: "):
        catalogue.kinds.__wrapped__()
    with pytest.raises(ValueError, match=r"other\.py, line 4: invalid syntax"):
        statements(tmp_path / "plots/other.py")


def test_an_entry_has_what_it_extends_unless_it_states_it():
    base, own = (report_rows.spec_of(f"values-accuracy-{name}", "slsrff") for name in ("code", "large-code"))
    assert own["datasets"] == ["covtype"]
    assert own["experiments"] == ["slsrff-code-large"]
    assert (own["methods"], own["kind"]) == (base["methods"], "grid")
    # a mapping is replaced and not merged: no other protocol comes along
    assert {spec["protocol"] for spec in REPORTS if spec["id"] == "values-accuracy-large"} == {"code"}


def test_a_job_reads_every_file_once_and_each_output_has_the_rows_of_its_experiments(tmp_path, monkeypatch):
    row = {"origin": "measured", "metric": "accuracy_pct", "value": 1.0, "status": "ok", "preset": "quick"}
    for name in "abc":
        arrays = [{"curve": np.array([ord(name)])}, tmp_path / f"{name}.npz"] if name != "c" else []
        write_results([row | {"experiment": name}], {}, tmp_path / f"{name}.csv", *arrays)
    files, read, times = [tmp_path / f"{name}.csv" for name in "abc"], tidy.read, []
    monkeypatch.setattr(tidy, "read", lambda path: times.append(path) or read(path))
    specs = [{"paper": "eerf", "experiments": names} for names in (["a"], ["a", "b"], ["c"], ["a"], [])]
    found = [context for _, context in contexts(specs, files, None, {}, {})]
    assert [sorted(context.rows["experiment"]) for context in found] == [["a"], ["a", "b"], ["c"], ["a"], []]
    # arrays of one name are those of the output's own experiments
    assert [{name: list(of) for name, of in context.arrays.items()} for context in found[:3]] == [
        {"curve": [ord("a")]}, {"curve": [ord("b")]}, {}
    ]  # fmt: skip
    assert found[0] is found[3]
    assert times == files


def test_an_output_of_one_kernel_has_its_rows_and_the_facts_about_the_data(tmp_path):
    row = {"origin": "measured", "status": "ok", "preset": "quick", "experiment": "a"}
    rows = [row | {"kernel": kernel, "metric": "accuracy_pct", "value": 1.0} for kernel in ("arccos0", "arccos1")]
    rows.append(row | {"kernel": "arccos0", "metric": "fact_rows", "value": 2.0})
    tidy.write(rows, tmp_path / "a.csv")
    specs = [{"paper": "eerf", "experiments": ["a"]} | kernel for kernel in ({"kernel": "arccos1"}, {})]
    one, both = (context.rows for _, context in contexts(specs, [tmp_path / "a.csv"], None, {}, {}))
    assert one[["kernel", "metric"]].to_numpy().tolist() == [["arccos1", "accuracy_pct"], ["arccos0", "fact_rows"]]
    assert len(both) == 3


PANEL = {"metric": "accuracy_pct", "learner": "ridge", "split": "test", "label": "a", "scale": "linear"}
MADE = {"kind": "curves", "caption": "c", "experiments": {"text": "survey-gaussian-text"}, "datasets": ["eeg"]}
MADE |= {"width": "page", "methods": ["rff"], "sizes": ["2d"], "repeats": 10, "panels": [PANEL]}


@pytest.fixture
def loaded(tmp_path):
    """The specifications of entries of the survey, without a scorecard."""
    (tmp_path / "figures").mkdir()
    (tmp_path / "scorecard.yaml").write_text("{}")

    def load(**entries):
        (tmp_path / "figures" / "survey.yaml").write_text(yaml.safe_dump(entries))
        return load_reports(tmp_path, report_rows.EXPERIMENTS, METHODS, report_rows.REGISTERED)

    return load


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "curvs"}, r"made\.kind: there is no 'curvs'; did you mean curves\?"),
        ({"size": ["2d"]}, r"made\.size: unknown key; did you mean sizes\? known are [a-z_, ]+$"),
        ({"kind": "claims", "brief": True}, r"made\.brief: unknown key; known are "),
        ({"datasets": ["egg"]}, r"made\.datasets\[0\]: there is no 'egg' in the experiment for text; did you mean eeg"),
        ({"sizes": ["2d", "3d"]}, r"made\.sizes\[1\]: there is no '3d' in the experiment for text"),
        ({"methods": ["rff", "orff"]}, r"made\.methods\[1\]: methods.yaml has no method 'orff'; did you"),
        ({"experiments": {"text": "survey-gauss-text"}}, r"made\.experiments\.text: there is no experiment 'survey-ga"),
        ({"panels": [PANEL | {"metric": "acuracy_pct"}]}, r"made\.panels\[0\]\.metric: there is no 'acuracy_pct'"),
        ({"panels": [PANEL | {"learner": "logistic"}]}, r"made\.panels\[0\]\.learner: there is no 'logistic'"),
        ({"panels": [PANEL | {"color": "red"}]}, r"made\.panels\[0\]\.color: unknown key"),
        ({"panels": [PANEL | {"against": "rfff"}]}, r"made\.panels\[0\]\.against: methods.yaml has no method 'rfff'"),
        (
            {"panels": [PANEL | {"against": "rm"}]},
            r"made\.panels\[0\]\.against: there is no 'rm' in the experiment for ",
        ),
        ({"kernel": "arccos0"}, r"made\.kernel: there is no 'arccos0' in the experiment for text; "),
        ({"panels": [PANEL | {"kernel": "arccos1"}]}, r"made\.panels\[0\]\.kernel: there is no 'arccos1' in "),
        ({"panels": [PANEL | {"label": "a\nb"}]}, r"made\.panels\[0\]\.label: 'a\\nb' is not one line of text"),
        ({"caption": "c\u2028"}, r"made\.caption: 'c\\u2028' is not one line of text"),
        ({"width": "wide"}, r"made\.width: 'wide': input should be 'column' or 'page'"),
        ({"extends": "other"}, "output 'made' extends 'other', which does not exist"),
    ],
)
def test_a_slip_in_an_entry_is_an_error_that_names_it(loaded, changes, message):
    assert [spec["name"] for spec in loaded(made=MADE)] == ["made-text"]
    with pytest.raises(ConfigurationError, match=message):
        loaded(made=MADE | changes)


def test_all_slips_are_reported_at_once(loaded):
    tested = {"experiments": {}, "columns": [{"label": "a"}], "tests": [["a", "b"]]}
    assert problems_with(tested, {}) == [".tests[0][1]: there is no 'b' in columns; known are a"]
    with pytest.raises(ConfigurationError, match=r"survey\.yaml: one\.datasets(.|\n)*survey\.yaml: two\.datasets"):
        loaded(**dict.fromkeys(("one", "two"), MADE | {"datasets": ["egg"]}))
