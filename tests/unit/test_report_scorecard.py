"""The join of published and measured numbers: which rows meet, the verdict on each, and that nothing is left out."""

import copy
import shutil
from collections import Counter

import numpy as np
import pytest
import report_rows
import yaml
from checkouts import CONFIG

from rfstudy.outputs import load_reports
from rfstudy.planning.config import ConfigurationError
from rfstudy.report.aggregate import select
from rfstudy.report.published import load, numbers
from rfstudy.report.scorecard import scorecard

SCORECARD = yaml.safe_load((CONFIG / "scorecard.yaml").read_text(encoding="utf-8"))
PRINTED = load(report_rows.REFERENCE, report_rows.METHODS, report_rows.REGISTERED)
SPEC = report_rows.spec_of("scorecard-all", "slsrff")


def surrogate(protocol, **columns):
    """Rows of one protocol of the surrogate leverage paper."""
    return report_rows.surrogate_rows(experiment=f"slsrff-{protocol}", protocol=protocol, **columns)


def facts(protocol="text"):
    rows = report_rows.fact_rows(duplicate_rows=3)
    return report_rows.changed(rows, lambda row: True, experiment=f"slsrff-{protocol}", paper="slsrff")


def cells_of(rows, spec=SPEC):
    """The scorecard of a specification."""
    return scorecard(report_rows.context_of(rows), *(spec[key] for key in ("paper", "experiments", "scorecard")))


def found(rows, spec=SPEC, **only):
    """The rows of the scorecard by protocol, data set, size, method and metric."""
    cells = select(cells_of(rows, spec), **only)
    places = list(cells[["protocol", "dataset", "size", "method", "metric"]].itertuples(index=False, name=None))
    assert len(set(places)) == len(places)
    return dict(zip(places, cells.itertuples(), strict=True))


@pytest.mark.parametrize("paper", ["survey", "eerf", "nsrf", "slsrff"])
def test_every_printed_number_is_in_one_entry(paper):
    mapping = SCORECARD[paper]
    scored = {(entry["table"], metric) for entry in mapping["numbers"] for metric in entry["metrics"]}
    for number in numbers(PRINTED, paper)[["table", "metric"]].drop_duplicates().itertuples():
        left_out = [
            entry
            for entry in mapping["not_scored"]
            if entry["table"] == number.table and number.metric in entry.get("metrics", [number.metric])
        ]
        assert len(left_out) + ((number.table, number.metric) in scored) == 1, number


def test_the_names_of_the_mapping_exist():
    for paper, of_paper in SCORECARD.items():
        of_printed = PRINTED[PRINTED["paper"] == paper]
        for entry in (*of_paper["numbers"], *of_paper["not_scored"]):
            places = of_printed[of_printed["experiment"] == entry["table"]]
            assert len(places), entry["table"]
            assert set(entry.get("metrics", [])) <= set(places["metric"])
            if isinstance(entry.get("metrics"), dict):
                for quantity in entry["metrics"].values():
                    assert quantity.get("over", "rff") in set(places["method"]) | {"rff"}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("experiments", {"text": "slsrff-txt"}, "experiments.text: there is no experiment 'slsrff-txt'; .*slsrff-text"),
        ("experiments", {"txt": "slsrff-text"}, "txt"),
        ("repeat", 10, "repeat: unknown key; .*repeats"),
        ("metrics", {"n_dims": {"colum": "d"}}, "colum: unknown key"),
        ("metrics", {"n_dim": {}}, "n_dim: there is no metric 'n_dim'; did you mean n_dims"),
    ],
)
def test_what_is_wrong_with_the_mapping_is_named(tmp_path, key, value, message):
    config = shutil.copytree(CONFIG, tmp_path / "config")
    shutil.copytree(report_rows.REFERENCE, tmp_path / "data" / "reference")  # claims are looked up there
    document = copy.deepcopy(SCORECARD)
    document["slsrff"]["numbers"][0][key] = value
    (config / "scorecard.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=message):
        load_reports(config, report_rows.EXPERIMENTS, report_rows.METHODS, report_rows.REGISTERED)


def test_kinds_that_compare_published_numbers_get_those_of_the_paper():
    assert report_rows.spec_of("table-03-cells-code", "slsrff")["scorecard"] == SCORECARD["slsrff"]
    assert SPEC["scorecard"] == SCORECARD["slsrff"]
    assert "scorecard" not in report_rows.spec_of("ablation-code", "slsrff")


def test_printed_and_measured_numbers_meet_in_their_cell():
    rows = surrogate("text", tasks=["eeg"], sizes=(1, 2)) + surrogate("code", tasks=["eeg"], sizes=(2,), gain=5.0)
    cells = found(rows)
    # 116 accuracies, 87 ratios of times and 12 counts under each of three protocols
    assert Counter(protocol for protocol, *_ in cells) == dict.fromkeys(("text", "code", "tuned"), 215)
    for protocol, size, gain, published, spread in (
        ("text", "d", 0.0, 68.78, 0.97), ("text", "2d", 0.0, 72.59, 1.51), ("code", "2d", 5.0, 72.59, 1.51),
    ):  # fmt: skip
        each = cells[protocol, "eeg", size, "lsrff", "accuracy_pct"]
        values = [
            row["value"]
            for row in rows
            if (row["protocol"], row["n_features_label"], row["method"], row["metric"])
            == (protocol, size, "lsrff", "accuracy_pct")
        ]
        assert (each.value, each.std, each.n) == pytest.approx((np.mean(values), np.std(values, ddof=1), 10))
        assert each.difference == pytest.approx(np.mean(values) - published)
        variance = (spread**2 + np.var(values, ddof=1)) / 10 + 0.005**2
        assert each.standard_error == pytest.approx(np.sqrt(variance))
        assert abs(each.value - (82 - 14 / np.sqrt(int(size[:-1] or 1)) + gain)) < 0.6
    assert cells["code", "eeg", "d", "lsrff", "accuracy_pct"].verdict == "not run"
    assert cells["tuned", "eeg", "d", "lsrff", "accuracy_pct"].reason == "not run"


def test_variants_other_learners_and_splits_are_other_numbers():
    rows = surrogate("text", tasks=["eeg"], sizes=(2,), methods=["rff"])
    others = [
        {"variant": "identity"}, {"learner": "svm"}, {"split": "train"}, {"experiment": "slsrff-ablation"},
        {"dataset": "magic04"}, {"n_features_label": "4d"}, {"method": "qmc"},
    ]  # fmt: skip
    place = ("text", "eeg", "2d", "rff", "accuracy_pct")
    alone = found(rows)[place].value
    added = [row | {"value": 0.0} | other for other in others for row in rows if row["metric"] == "accuracy_pct"]
    assert found(rows + added)[place].value == alone
    assert found(added)[place].reason == "not run"


def test_a_ratio_by_rounds_has_the_error_of_its_median():
    rounds = {"rff": [1.0] * 5, "lsrff": [4.4, 4.6, 4.7, 4.8, 5.0]}
    rows = []
    for row in surrogate("text", tasks=["eeg"], sizes=(128,), methods=list(rounds), repeats=1):
        if row["metric"] == "time_feature_s":
            phases = (("time_draw_s", 0.0), ("time_transform_s", 1.0))
            rows += [
                row | {"metric": phase, "value": share * value, "axis": "round", "at": at}
                for phase, share in phases
                for at, value in enumerate(rounds[row["method"]])
            ]
    each = found(rows)["text", "eeg", "128d", "lsrff", "time_feature_s"]
    assert (each.value, each.low, each.high, each.n) == (4.7, 4.6, 4.8, 5)
    error = 0.2 / 1.349 * np.sqrt(np.pi / 10)
    assert each.error == pytest.approx(error)
    # of the paper, which has ten repeats, the spread is ours
    assert each.standard_error == pytest.approx(np.sqrt(1.5 * error**2 + each.rounding**2))
    reported = report_rows.changed(rows, lambda row: row["at"] == 2, settings={"machine_busy": True})
    assert found(reported)["text", "eeg", "128d", "lsrff", "time_feature_s"].verdict == "not comparable"


def test_counts_are_those_of_the_facts_and_only_equal_ones_are_reproduced():
    capped = surrogate("text", tasks=["eeg"], sizes=(1,), settings={"capped": True})
    cells = found(facts() + report_rows.changed(capped, lambda row: True, n_train=5, n_test=5))
    assert cells["text", "eeg", "", "", "n_train"].value == 7490
    assert cells["text", "eeg", "", "", "n_train"].verdict == "reproduced"
    other = cells["text", "cod-rna", "", "", "n_test"]
    assert (other.difference, other.verdict) == (271617 - 157413, "not comparable")
    # the columns of the same data are the paper's
    assert cells["text", "cod-rna", "", "", "n_dims"].verdict == "reproduced"
    assert cells["code", "eeg", "", "", "n_train"].verdict == "not run"
    stand_in = report_rows.changed(facts(), lambda row: True, stand_in="made (stand-in for it)")
    assert np.isnan(found(stand_in)["text", "eeg", "", "", "n_train"].difference)
    assert found(stand_in)["text", "eeg", "", "", "n_train"].verdict == "not comparable"


def test_scores_on_other_data_are_not_comparable():
    score = found(surrogate("text", tasks=["cod-rna"], sizes=(2,)))["text", "cod-rna", "2d", "rff", "accuracy_pct"]
    assert (score.verdict, np.isnan(score.difference)) == ("not comparable", False)


def of_images_with(metrics, **of):
    """A scorecard of metrics of the survey's table of images."""
    entry = {"table": "Table IX", "experiments": {"text": "e"}, "metrics": metrics} | of
    return {"paper": "survey", "experiments": ["e"], "scorecard": {"numbers": [entry]}}


def test_what_was_not_measured_is_there_and_not_run():
    of_images = cells_of([], of_images_with({"approximation_error_frobenius": {}, "time_total_s": {"over": "rff"}}))
    assert of_images["metric"].value_counts().to_dict() == {"approximation_error_frobenius": 27, "time_total_s": 24}
    assert set(of_images["protocol"]) == {"text"}
    assert set(of_images["reason"]) == set(of_images["verdict"]) == {"not run"}


def test_an_entry_may_be_about_one_of_several_kernels():
    cells = found([], of_images_with({"error_pct": {}}, kernel="arccos0"))
    assert {each.kernel for each in cells.values()} == {"arccos0"}
    assert len(cells) == 9
