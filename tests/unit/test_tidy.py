"""The tidy table: its columns, its checks and its atomic write."""

import pytest

from random_features.errors import UserError
from rfstudy import tidy
from rfstudy.files import digest_of, write_record
from rfstudy.study.provenance import write_results


def written_by_hand(table, path):
    """A file of a table as it is, with a record that fits: wrong rows come with their digest."""
    table.to_csv(path, index=False)
    write_record({path.name: digest_of(path)}, {}, path)


def test_a_table_survives_the_file(tmp_path):
    rows = [
        {"origin": "measured", "method": "rff", "repeat": 0, "value": 0.1, "status": "ok", "settings": {"C": 1}},
        {"origin": "published", "method": "", "value": None, "status": "skipped"},
    ]
    written = tidy.write(rows, tmp_path / "rows.csv.xz")
    assert tidy.read(tmp_path / "rows.csv.xz").equals(written)
    assert list(written.columns) == list(tidy.COLUMNS)
    assert written["settings"].tolist() == ['{"C": 1}', ""]


def test_the_same_rows_make_the_same_bytes(tmp_path):
    for name in ("a.csv.xz", "b.csv.xz"):
        tidy.write([{"status": "ok", "value": 1 / 3}], tmp_path / name)
    assert (tmp_path / "a.csv.xz").read_bytes() == (tmp_path / "b.csv.xz").read_bytes()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"acuracy": 1.0, "status": "ok"}, "outside the tidy schema: acuracy"),
        ({"value": 1.0}, "status must be one of ok, failed, skipped"),
        ({"metric": "time_feature_s", "unit": "ms", "status": "ok"}, "the unit of time_feature_s is s, not ms"),
        ({"metric": "risk", "unit": "%", "status": "ok"}, "the unit of risk is none, not %"),
        *(({"status": "ok"} | one, "axis and at go together") for one in ({"axis": "round"}, {"at": 1.0})),
    ],
)
def test_a_row_that_the_schema_does_not_allow_is_named(row, message):
    with pytest.raises(ValueError, match=message):
        tidy.frame([{"metric": "accuracy_pct", "status": "ok"}, row])


def test_a_row_has_the_unit_of_its_metric():
    rows = [
        {"metric": "accuracy_pct", "status": "ok"},
        {"metric": "time_feature_s", "status": "ok", "unit": "s"},
        {"metric": "risk", "status": "ok"},
        {"metric": "ram_gb", "status": "ok", "unit": "GB"},
        {"metric": "fact_rows", "status": "ok"},
    ]
    assert tidy.frame(rows)["unit"].tolist() == ["%", "s", "", "GB", ""]


def test_an_axis_and_where_on_it_are_part_of_what_a_row_measures():
    here, there = ({"status": "ok", "axis": "distance", "at": at, "value": 1.0} for at in (0.5, 0.7))
    table = tidy.frame([here, there, {"status": "ok", "value": 1.0}])
    assert not table.duplicated(list(tidy.KEY)).any()
    assert tidy.frame([here, here]).duplicated(list(tidy.KEY)).tolist() == [False, True]
    assert table["at"].tolist()[:2] == [0.5, 0.7]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": 1, "b": 2}, r"t\.csv is not a tidy table: columns outside the tidy schema: a, b"),
        ({"value": ""}, "1 rows have the status ok and no finite value, first eeg, rff, accuracy_pct"),
        *(({"value": text}, "no finite value") for text in ("inf", "1e400")),
        ({"repeat": "1.5"}, "cannot safely cast"),
        ({"seed": "1" * 30}, "too large"),
        *(
            ({"settings": text}, r"t\.csv is not a tidy table: settings are a JSON object, found")
            for text in ('{"C": 1', "[1]", "3", "C=1")
        ),
    ],
)
def test_a_column_and_a_number_and_settings_that_are_none_are_named(tmp_path, columns, message):
    row = {"dataset": "eeg", "method": "rff", "metric": "accuracy_pct", "value": 1.0, "status": "ok"}
    written_by_hand(tidy.write([row], tmp_path / "t.csv").astype(object).assign(**columns), tmp_path / "t.csv")
    with pytest.raises(UserError, match=message):
        tidy.read(tmp_path / "t.csv")


def test_a_table_that_lacks_a_column_is_named(tmp_path):
    table = tidy.write([{"metric": "accuracy_pct", "value": 1.0, "status": "ok"}], tmp_path / "t.csv")
    written_by_hand(table.drop(columns=["value", "repeat"]), tmp_path / "t.csv")
    with pytest.raises(UserError, match="it lacks the columns repeat, value"):
        tidy.read(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("metric", "value", "message"),
    [
        ("accuracy_pct", 250.0, "accuracy_pct lies between 0 and 100, and in 1 rows elsewhere, first eeg, rff, accura"),
        *((metric, value, "between 0 and 100") for metric, value in [("accuracy_pct", -72.0), ("error_pct", 100.5)]),
        ("rmse", -1e-9, "rmse lies between 0 and inf"),
        *((metric, -0.1, "between 0 and inf") for metric in ("approximation_error_frobenius", "time_transform_s")),
        ("score_spectrum_correlation", 1.5, "between -1 and 1"),
        ("leverage_ratio_below", 1.5, "between 0 and 1"),
    ],
)
def test_a_value_that_its_metric_cannot_have_is_named(tmp_path, metric, value, message):
    good = {"metric": "accuracy_pct", "value": 50.0, "status": "ok", "run": "a"}
    wrong = good | {"dataset": "eeg", "method": "rff", "metric": metric, "value": value}
    write_results([good, wrong], {"a": {"run": "a"}}, tmp_path / "t.csv")
    with pytest.raises(UserError, match=rf"t\.csv is not a tidy table: .*{message}"):
        tidy.read(tmp_path / "t.csv")


def test_values_at_both_ends_those_of_unknown_metrics_and_missing_ones_of_failures_and_words_are_read(tmp_path):
    rows = [("accuracy_pct", 0.0), ("error_pct", 100.0), ("kernel_bias", -3.0), ("own", -1e9), ("fact_rows", -1.0)]
    rows += [("relative_squared_error_pct", 250.0)]
    without = [{"metric": "accuracy_pct", "status": "failed"}, {"metric": "fact_spike_rule", "status": "ok"}]
    table = [{"metric": metric, "value": value, "status": "ok"} for metric, value in rows]
    tidy.write(table + without, tmp_path / "t.csv")
    found = tidy.read(tmp_path / "t.csv")["value"]
    assert found[: len(rows)].tolist() == [value for _, value in rows]
    assert found[len(rows) :].isna().all()
