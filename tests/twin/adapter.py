"""The front door of the chain for the tests of its twin: an experiment goes in, the rows that the stages write come
out.

This is the one place that knows how an experiment is written down as configuration, how the rules call the stages, and
what a row looks like in a file. The experiments (``Grid``, ``Measurement``, ``OnData``) and the rows that are compared
have a form of their own, so that a change of the chain's form is a change here and nowhere else in these tests.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import study_toys as toys
import yaml

from rfstudy import tidy
from rfstudy.files import read_choices
from rfstudy.planning import config, plan
from rfstudy.study import collect, measure, train, tune
from rfstudy.study.kinds.registry import KINDS

from .chain import Grid
from .on_data import OnData
from .search import PLAIN

#: How the work is cut into jobs, with the repeats of one: as few jobs as there can be, or one per method and repeat.
CUTS = {"few": (["experiment"], None), "many": (["experiment", "dataset", "method"], 1)}


def rows_of_the_chain(study, folder: Path, journal: Path, cut: str = "few") -> list[dict]:
    """Run an experiment through all of its stages in ``folder`` and return the rows of its table.
    ``journal`` is the folder of finished cells; experiments may share it, as they do in the workflow."""
    shard_by, repeats_per_shard = CUTS[cut]
    write_yaml(folder / "config/presets" / f"{study.preset}.yaml", preset(study) | {"shard_by": shard_by})
    write_yaml(folder / "config/experiments/twin.yaml", {study.name: written(study)})
    asked = ("device", "mirror", "allow_missing", "only_experiments", "only_datasets", "only_methods", "only_sizes")
    given = {"preset": study.preset, "seed": study.seed} | {key: toys.SETTINGS[key] for key in asked}
    settings = config.load_settings(given, folder / "config")
    data = getattr(study, "data", {})
    experiments = config.select(config.load_experiments(folder / "config"), settings, set(data))
    (experiment,) = experiments.values()
    stored = {dataset: write_data(of, folder / "prepared" / dataset) for dataset, of in data.items()}
    shards = plan.shards_of(KINDS[experiment["kind"]].stage, experiment, settings)
    # repeats are separated where they are separate cells
    if repeats_per_shard and data:
        shards = [each for shard in shards for each in shard.cut(repeats_per_shard)]
    return normalised(tidy.read(run(stored, experiment, shards, settings, folder, journal)))


def preset(study) -> dict:
    """The settings of a preset."""
    shared = ("data", "largest_multiple_of_d", "most_values", "time", "threads", "learners")
    found = {key: toys.SETTINGS[key] for key in shared} | {"preset": study.preset, "repeats": study.repeats}
    found |= {"max_rows": getattr(study, "cap", None), "search": {}}
    if isinstance(study, Grid):
        found["search"] = {"penalty": study.search["penalty"], "max_rows": study.tuning_cap}
        limit = {"max_entries": study.svm_limit} if study.svm_limit else {}
        found["learners"] = {"svm": {"repeats": study.svm_repeats, "solver": study.svm_solver} | limit}
    return found


def written(study) -> dict:
    """An experiment as configuration."""
    if isinstance(study, Grid):
        return common(study, "grid") | grid(study)
    experiment = common(study, study.kind) | {"grid": study.axes}
    if isinstance(study, OnData):
        scaling = {name: {"preprocess": steps} for name, steps in study.scaling.items()}
        own = {"kernel": study.kernel_of_maps or {"name": "gaussian"}, "datasets": scaling}
        return experiment | own | ({"bandwidth": study.rule} if study.rule else {})
    if study.kernel == "gaussian":
        experiment["kernel"]["length_scale"] = 1
    return experiment


def common(study, kind: str) -> dict:
    """The keys that all experiments have."""
    found = {"title": study.name, "kind": kind, "kernel": {"name": study.kernel}}
    found |= {"paper": study.paper, "protocol": study.protocol}
    return found | {"methods": [entry(method) for method in study.methods]}


def grid(study) -> dict:
    """The further settings of an accuracy grid."""
    datasets = {name: {"preprocess": steps} for name, steps in study.scaling.items()}
    for name, most in study.largest_multiple_of_d.items():
        datasets[name]["largest_multiple_of_d"] = most
    stated = {"rule": "fixed", "length_scale": study.length_scale} if study.length_scale else study.rule
    experiment = {"datasets": datasets, "sizes": study.sizes, "search": searched(study), "learners": study.learners}
    experiment |= {"approximation": {"norm": study.norm, "rows": study.error_rows}}
    optional = {"draws": study.draws, "bandwidth": stated, "steps": [entry(step) for step in study.steps]}
    return experiment | {key: value for key, value in optional.items() if value}


def searched(study) -> dict:
    """The choices by validation, except the penalty, whose sharers the preset names."""
    said = {"learner": study.judge, "size": study.search_size, "held_out": study.held_out}
    said |= {"learners": {study.judge or next(iter(study.learners)): study.of_judge}} if study.of_judge else {}
    said |= {quantity: how for quantity, how in study.search.items() if quantity != "penalty"}
    kernels = [json.loads(of) for of in dict.fromkeys(json.dumps(each.get("kernel")) for each in study.methods)]
    plain = [{"method": PLAIN[of["name"]], "kernel": of} if of else {"method": "rff"} for of in kernels]
    said |= {"method": plain if len(plain) > 1 else plain[0]}
    return {key: value for key, value in said.items() if value is not None}


def entry(method: dict) -> dict:
    """An entry of the methods, or a step; a scaling by data set is what is different there."""
    own = {key: value for key, value in method.items() if key != "scaling"}
    if isinstance(scaling := method.get("scaling"), dict):
        return own | {"datasets": {dataset: {"preprocess": steps} for dataset, steps in scaling.items()}}
    return own | ({"preprocess": scaling} if scaling else {})


def write_yaml(path: Path, document: dict) -> None:
    """Write a document where the configuration is read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def run(stored: dict[str, Path], experiment: dict, shards, settings: dict, folder: Path, journal: Path) -> Path:
    """Choices, the maps and learners of an accuracy grid or the one stage of another kind, and the table of all shards,
    with what is known of the data.
    """
    chosen, files, arrays = {}, [], []
    for shard in plan.shards_of("tune", experiment, settings):
        out = folder / f"tune/{shard.name}.json"
        tune.run(toys.as_read(shard.parts), [stored[dataset] for dataset in shard.datasets], journal / "tune", out, 1)
        chosen |= read_choices(out)
    for shard in shards:
        files.append(folder / f"rows/{shard.name}.csv")
        parts, folders = toys.as_read(shard.parts), [stored[dataset] for dataset in filter(None, shard.datasets)]
        if experiment["kind"] == "grid":
            train.run(parts, folders, chosen, journal / "train", files[-1], 1)
        else:
            arrays.append(files[-1].with_suffix(".npz"))
            measure.run(parts, folders, journal / "measure", files[-1], arrays[-1], 1)
    facts = toys.as_read(plan.facts_parts(experiment, settings))
    table, folders = folder / "table.csv", [stored[part.dataset] for part in facts]
    collect.run(facts, files, folders, arrays, table, folder / "table.npz")
    return table


def write_data(data, folder: Path) -> Path:
    """A data set as ``preprocess`` leaves it."""
    X, y = (data.X[:0], data.y[:0]) if data.missing else (data.X, data.y)
    facts = {"status": "skipped" if data.missing else "ok", "reason": data.missing, "stand_in": data.stand_in}
    facts |= {"n_train_published": data.n_train, "facts": data.facts}
    facts |= {"target": "classes" if len(np.unique(data.y)) > 2 else "binary"}
    return toys.write_data(folder, X, y, **facts)


def normalised(table) -> list[dict]:
    """The rows of a table without their runs and without what is missing in them."""
    found = []
    for record in table.drop(columns="run").to_dict("records"):
        row = {key: value for key, value in record.items() if not (pd.isna(value) or value == "")}
        row["settings"] = json.loads(row.get("settings", "{}"))
        found.append(row)
    return found
