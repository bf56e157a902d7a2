"""Selections and means, on rows whose answer is known."""

import io

import numpy as np
import pandas as pd
import pytest

from rfstudy import tidy
from rfstudy.report.aggregate import measured, method_order, reasons, select, settings_of, summarise

#: Four repeats of two methods at one size; one repeat failed and one was skipped.
ROWS = """\
origin,preset,paper,experiment,protocol,dataset,kernel,method,n_features,n_features_label,repeat,split,metric,value,status,settings
measured,laptop,survey,e,text,eeg,gaussian,rff,28,2d,0,test,accuracy_pct,80,ok,
measured,laptop,survey,e,text,eeg,gaussian,rff,28,2d,1,test,accuracy_pct,82,ok,
measured,laptop,survey,e,text,eeg,gaussian,rff,28,2d,2,test,accuracy_pct,87,ok,
measured,laptop,survey,e,text,eeg,gaussian,rff,28,2d,3,test,accuracy_pct,,failed,"{""reason"": ""singular""}"
measured,laptop,survey,e,text,eeg,gaussian,orf,28,2d,0,test,accuracy_pct,90,ok,
measured,laptop,survey,e,text,eeg,gaussian,orf,28,2d,1,test,accuracy_pct,0,skipped,"{""reason"": ""too large""}"
"""


@pytest.fixture
def rows():
    return tidy.frame(pd.read_csv(io.StringIO(ROWS), dtype=str, keep_default_na=False, na_values=[""]))


def test_means_are_over_ok_rows_and_the_others_are_counted(rows):
    cells = summarise(rows).set_index("method")
    assert cells.loc["rff", ["n", "n_failed", "n_skipped"]].tolist() == [3, 1, 0]
    assert cells.loc["rff", "mean"] == 83.0
    # deviations -3, -1, 4: (9 + 1 + 16) / (3 - 1)
    assert cells.loc["rff", "std"] == pytest.approx(np.sqrt(13.0), rel=1e-15)
    # the skipped row of orf carries a 0, which must not enter
    assert cells.loc["orf", ["mean", "n", "n_skipped"]].tolist() == [90.0, 1, 1]
    assert np.isnan(cells.loc["orf", "std"])
    assert reasons(rows) == ["singular", "too large"]
    assert settings_of(rows)[2:4] == [{}, {"reason": "singular"}]


def test_select_takes_one_value_or_several_and_methods_come_in_the_order_listed_then_by_name(rows):
    assert len(select(rows, method="rff", learner=None)) == 4
    assert len(select(rows, method=["rff", "orf"], status="ok")) == 4
    assert len(select(rows, method="rm")) == 0
    assert method_order(rows, ["rff"]) == [("rff", ""), ("orf", "")]
    assert method_order(rows, []) == [("orf", ""), ("rff", "")]


def test_the_preset_with_the_most_values_speaks_for_a_data_set(rows, tmp_path):
    more = pd.concat([rows, select(rows, method="rff", repeat=None).iloc[:1].assign(preset="paper")])
    elsewhere = rows.assign(dataset="skin", preset="paper")
    published = rows.assign(origin="published")
    path = tmp_path / "all.csv"
    tidy.write(pd.concat([more, elsewhere, published, rows.assign(experiment="other")]), path)
    frame = measured([tidy.read(path)], ["e"])
    assert frame.groupby("dataset")["preset"].unique().map(list).to_dict() == {"eeg": ["laptop"], "skin": ["paper"]}
    assert len(frame) == 2 * len(rows)
    assert measured([], ["e"]).empty
    # each experiment by itself: of the other one, whose rows are all of one preset, nothing is left out
    both = measured([tidy.read(path)], ["e", "other"])
    assert both.groupby("experiment").size().to_dict() == {"e": len(frame), "other": len(rows)}
