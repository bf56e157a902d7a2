"""The design table: its rows are what jobs compute, and the shipped rows join on its columns."""

import pandas as pd
import pytest
from checkouts import ROOT

from rfstudy import tidy
from rfstudy.files import read_yaml
from rfstudy.planning import config, design, plan
from rfstudy.planning.jobs import Jobs

CONFIG = ROOT / "config"

#: Columns that name a measurement in both tables.
NAMES = ["experiment", "protocol", "dataset", "kernel", "method", "variant", "n_features_label", "learner"]


def study_of(preset: str, **settings):
    given = read_yaml(CONFIG / "config.yaml") | read_yaml(CONFIG / "presets" / f"{preset}.yaml")
    return config.load_study(given | settings, CONFIG)


@pytest.fixture(scope="module")
def quick():
    study = study_of("quick")
    return Jobs(study, ROOT), design.table(study, ROOT, CONFIG)


def test_a_job_of_the_run_is_a_group_of_the_table(quick):
    jobs, table = quick
    every = {
        (name, stage, shard)
        for name in jobs.asked_for
        for stage in ("train", "measure", "time")
        for shard in jobs.shards_of(stage, name)
    }
    assert set(table.groupby(["experiment", "stage", "job"]).groups) == every
    requests = table.groupby(["experiment", "stage", "job"])[["mem_mb", "runtime", "expected_s"]]
    assert requests.nunique().eq(1).all(axis=None)
    assert (table.cells >= 1).all()


def test_the_cells_of_an_accuracy_grid_are_those_that_its_jobs_announce(quick):
    jobs, table = quick
    shards = {(name, job): each for name in jobs.asked_for for job, each in jobs.shards_of("train", name).items()}
    announced = {key: sum(map(plan.number_of_cells, shard.parts)) for key, shard in shards.items()}
    assert table[table.stage.eq("train")].groupby(["experiment", "job"]).cells.sum().to_dict() == announced


def test_columns_with_a_name_of_the_tidy_table_hold_the_same(quick):
    _, table = quick
    own = {"stage", "job", "file", "expected_s", "mem_mb", "runtime", "gpu", "searched", "cells", "options"}
    assert set(table.columns) - own - set(design.CONDITIONS) <= set(tidy.COLUMNS)
    assert table.file.map(lambda path: (ROOT / path).exists()).all()


def test_shipped_rows_join_the_table():
    table = design.table(study_of("laptop", only_experiments=["slsrff-text"]), ROOT, CONFIG)
    rows = pd.read_csv(ROOT / "data/measured/slsrff-text.csv.xz", keep_default_na=False)
    rows = rows[~rows.metric.str.startswith("time_") & rows.method.ne("")]
    planned = table[table.stage.eq("train")].fillna({"learner": ""})
    both = rows[NAMES].drop_duplicates().merge(planned[NAMES], how="left", indicator=True)
    assert both._merge.eq("both").all()
