"""The printed numbers: counted and looked up against the files they come from."""

import csv
import json
import shutil

import pytest
from report_rows import METHODS, REFERENCE

from random_features.errors import UserError
from rfstudy.report.published import FILES, load, printed_name

DATASETS = {
    "eeg": {"label": "EEG", "published_as": {"survey": "EEG", "slsrff": "EEG"}},
    "letter-am-nz": {"label": "letter (A-M/N-Z)", "published_as": {"survey": "letter"}},
    "mnist": {"label": "MNIST", "published_as": {"survey": ["MNIST"], "eerf": "MNIST"}},
    "cifar10": {"label": "CIFAR-10", "published_as": {"survey": "CIFAR-10"}},
}


@pytest.fixture(scope="module")
def rows():
    return load(REFERENCE, METHODS, DATASETS)


def cell(rows, **wanted):
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 1
    return rows.iloc[0]


def printed_rows():
    return [row for name in FILES for row in csv.DictReader((REFERENCE / name).open(encoding="utf-8"))]


def test_every_printed_value_is_one_row(rows):
    printed = printed_rows()
    assert len(rows) == len(printed)
    assert set(rows["origin"]) == {"published"}
    for column in ("paper", "kernel", "spread_kind", "confidence"):
        assert rows[column].tolist() == [row[column] for row in printed]
    # digits survive: what is a number is the number printed, what is none is text, what was lost says so
    for (_, row), source in zip(rows.iterrows(), printed, strict=True):
        settings = json.loads(row["settings"])
        if source["value"] == "":
            assert (row["status"], settings["reason"]) == ("skipped", "not legible in the source")
        elif "printed" in settings:
            assert settings["printed"] == source["value"]
            assert row["value"] == float(source["value"])
        else:
            assert settings["text"] == source["value"]
        assert settings.get("note", "") == source["note"]


def test_a_number_with_its_spread(rows):
    row = cell(rows, paper="slsrff", dataset="eeg", method="lsrff", n_features_label="2d", metric="accuracy_pct")
    source = next(
        r for r in printed_rows()
        if (r["paper"], r["dataset"], r["method"], r["n_features"], r["metric"])
        == ("slsrff", "EEG", "leverage-RFF", "2d", "accuracy_pct")
    )  # fmt: skip
    assert (row["value"], row["spread"]) == (float(source["value"]), float(source["spread"]))
    assert (row["spread_kind"], row["unit"], row["split"]) == ("std over 10 runs", "%", "test")
    assert row["n_features"] == 28


def test_the_names_of_metrics_and_learners_are_the_studys(rows):
    winners = cell(
        rows, experiment="Table VII", dataset="letter-am-nz", learner="svm", n_features_label="2d;4d",
        metric="best_methods_accuracy_pct",
    )  # fmt: skip
    assert json.loads(winners["settings"])["text"] == "none"
    error = cell(rows, experiment="Table IX", kernel="gaussian", method="lsrff", metric="approximation_error_frobenius")
    assert error["value"] == 0.0147
    grid = cell(rows, paper="survey", metric="grid_liblinear_C")
    assert (grid["learner"], grid["method"]) == ("svm", "")
    table_7 = rows[rows["experiment"] == "Table VII"]
    assert table_7.groupby(["metric", "learner"]).size().to_dict() == {
        ("best_methods_approximation_error_frobenius", ""): 16,
        ("best_methods_accuracy_pct", "ridge"): 16,
        ("best_methods_accuracy_pct", "svm"): 16,
    }


def test_names_without_an_id_stay_and_lists_are_translated_by_part(rows):
    assert "Buzz prediction on Twitter" in set(rows["dataset"])
    assert "mnist;cifar10" in set(rows["dataset"])
    assert "kprff;rff" in set(rows["method"])
    assert "all compared" in set(rows["method"])


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path, METHODS, DATASETS)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b",68.45,", b",abc,", "value 'abc' of accuracy_pct is no number: correct it"),
        (b",68.45,", b",nan,", "value 'nan' of accuracy_pct is no number: correct it"),
        (b",0.89,", b",0.8g,", "spread '0.8g' of accuracy_pct is no number: correct it"),
        (b",d,14,", b",d,l4,", "n_features_value 'l4' of accuracy_pct is no number: correct it"),
        (b"paper,", b"papers,", "has no column paper: restore it; the columns are paper, table, dataset"),
        (b"paper,", b"", "has no column paper: restore it"),
        (b",67.83,", b",67,83,", "is no table of published numbers .*in line 4, saw 14.: restore it"),
        (None, b"", "is no table of published numbers .No columns to parse from file.: restore it"),
        (None, b"\x00\xff\xfe", "is no table of published numbers .*utf-8.*: restore it"),
    ],
)
def test_a_file_with_words_among_its_numbers_or_of_another_form_is_named(tmp_path, old, new, message):
    for name in FILES:
        shutil.copy(REFERENCE / name, tmp_path)
    path = tmp_path / "slsrff_table3.csv"
    path.write_bytes(path.read_bytes().replace(old, new, 1) if old else new)
    with pytest.raises(UserError, match=rf"slsrff_table3\.csv:? {message}") as refused:
        load(tmp_path, METHODS, DATASETS)
    assert "\n" not in str(refused.value)


def test_names_for_print():
    assert printed_name(DATASETS, "letter-am-nz", "survey") == "letter"
    assert printed_name(DATASETS, "letter-am-nz", "slsrff") == "letter (A-M/N-Z)"
    assert printed_name(DATASETS, "mnist", "survey") == "MNIST"
    assert printed_name(DATASETS, "new-set", "survey") == "new-set"
