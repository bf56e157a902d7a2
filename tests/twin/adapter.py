"""The front door of the chain for the tests of its twin: an experiment goes in, the rows that the stages write come
out.

This is the one place that knows how an experiment is written down as configuration, how the rules call the stages, and
what a row looks like in a file. The experiments (``chain.Grid``, ``chain.Measurement``) and the rows that are compared
have a form of their own, so that a change of the chain's form is a change here and nowhere else in these tests.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from rfstudy import tidy
from rfstudy.maps.registry import REGISTRY
from rfstudy.study import collect, generate, measure, spec, train, tune
from rfstudy.study.kinds.requirement import Circle

#: How the work is cut into jobs: as few as there can be, or one a method and repeat.
CUTS = {
    "few": {"shard_by": ["experiment", "dataset"], "repeats_per_shard": None},
    "many": {"shard_by": ["experiment", "dataset", "method"], "repeats_per_shard": 1},
}

#: Columns, and settings, that say in which run and how long something was measured, and nothing about what was found.
NOT_COMPARED = ("run", "threads", "timing_runs")


def rows_of_the_chain(study, folder: Path, journal: Path, cut: str = "few") -> list[dict]:
    """Run an experiment through all of its stages in ``folder`` and return the rows of its table, without times.

    ``journal`` is the folder of finished cells; experiments may share it, as they do in the workflow.
    """
    is_grid = hasattr(study, "data")
    write_yaml(folder / "config/presets" / f"{study.preset}.yaml", preset(study, is_grid) | CUTS[cut])
    write_yaml(folder / "config/experiments/twin.yaml", {study.name: grid(study) if is_grid else measurement(study)})
    config = {"preset": study.preset, "seed": study.seed, "device": "cpu", "mirror": "", "allow_missing": False}
    config |= {"only_experiments": [], "only_datasets": [], "only_methods": [], "only_sizes": []}
    settings = spec.load_settings(config, folder / "config")
    maps = {name: f"{entry.module}.{entry.class_name}" for name, entry in REGISTRY.items()}
    datasets = set(study.data) if is_grid else set()
    experiments = spec.select(spec.load_experiments(folder / "config"), settings, maps, datasets)
    (experiment,) = experiments.values()
    run = run_grid if is_grid else run_measurement
    return normalised(tidy.read(run(study, experiment, settings, folder, journal)), study)


def circle(decay: str, terms: int):
    """The library's kernel on the circle with harmonics 1 to ``terms``."""
    return Circle(decay, terms)


# --- an experiment as configuration -----------------------------------------------------------------------------------


def preset(study, is_grid: bool) -> dict:
    """What a preset decides."""
    return {
        "preset": study.preset,
        "data": "embedded",
        "repeats": study.repeats,
        "svm_repeats": study.svm_repeats if is_grid else study.repeats,
        "largest_multiple_of_d": None,
        "max_rows": study.cap if is_grid else None,
        "tuning": "shared",
        "tuning_max_rows": study.tuning_cap if is_grid else None,
        "svm_solver": study.svm_solver if is_grid else "auto",
        "max_svm_entries": study.svm_limit if is_grid else None,
        "timing_runs": 1,
        "timing_threads": 1,
        "train_threads": 1,
        "extent": "small",
    }


def common(study, kind: str) -> dict:
    """The keys that all experiments have."""
    return {
        "title": study.name,
        "paper": study.paper,
        "kind": kind,
        "protocol": study.protocol,
        "kernel": study.kernel,
        "methods": [entry(method) for method in study.methods],
    }


def grid(study) -> dict:
    """An accuracy grid as an experiment of the configuration."""
    learners = {name: dict(options) for name, options in study.learners.items()}
    if "svm" in learners:
        learners["svm"] |= {"loss": "squared_hinge", "intercept": "none"}
    datasets = {
        name: {"preprocess": steps}
        | ({"largest_multiple_of_d": most} if (most := study.largest_multiple_of_d.get(name)) else {})
        for name, steps in study.scaling.items()
    }
    experiment = common(study, "grid") | {
        "datasets": datasets,
        "sizes": study.sizes,
        "bandwidth": bandwidth(study.bandwidth),
        "tuning": "per_cell" if study.tuning == "per_cell" else "shared",
        "tuning_method": "rff",
        "approximation": {"norm": study.norm, "rows": study.error_rows},
        "learners": learners,
    }
    return experiment | ({"steps": [entry(step) for step in study.steps]} if study.steps else {})


def entry(method: dict) -> dict:
    """An entry of the methods, or a step."""
    return {"preprocess" if key == "scaling" else key: value for key, value in method.items()}


def bandwidth(rule: dict) -> dict:
    """The rule that a bandwidth is chosen by."""
    if "value" in rule:
        return {"rule": "fixed", "value": rule["value"]}
    if "scalings" in rule:
        return {"rule": "each_method", "grid": rule["grid"], "preprocess": rule["scalings"]}
    return {"rule": "cross_validated"} | rule


def measurement(study) -> dict:
    """An experiment of another kind."""
    return common(study, study.kind) | {"grid": study.axes}


def write_yaml(path: Path, document: dict) -> None:
    """Write a document where the configuration is read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


# --- the stages, as the rules call them -------------------------------------------------------------------------------


def run_grid(study, experiment: dict, settings: dict, folder: Path, journal: Path) -> Path:
    """Choices, maps, learners, and the table of all shards."""
    prepared = {dataset: write_data(data, folder / "prepared" / dataset) for dataset, data in study.data.items()}
    tuned = {dataset: {} for dataset in study.data}
    if spec.is_tuned(experiment, settings):
        for dataset in study.data:
            out = folder / f"tune/{dataset}.json"
            tune.run(
                as_json(spec.tune_spec(experiment, dataset, settings)), prepared[dataset], journal / "tune", out, 1
            )
            tuned[dataset] = json.loads(out.read_text(encoding="utf-8"))
    files = []
    for shard in spec.shards(experiment, settings):
        at, chosen = prepared[shard.dataset], tuned[shard.dataset]
        errors, arrays = folder / f"generate/{shard.name}.csv", folder / f"generate/{shard.name}.npz"
        made = as_json(spec.generate_spec(experiment, shard, settings))
        generate.run(made, at, chosen, journal / "generate", errors, arrays, 1)
        scores = folder / f"train/{shard.name}.csv"
        train.run(
            as_json(spec.train_spec(experiment, shard, settings)), at, chosen, arrays, journal / "train", scores, 1
        )
        files += [errors, scores]
    specs = [as_json(spec.sample_spec(experiment, dataset, settings)) for dataset in study.data]
    collect.run(specs, files, [prepared[dataset] for dataset in study.data], folder / "table.csv")
    return folder / "table.csv"


def run_measurement(study, experiment: dict, settings: dict, folder: Path, journal: Path) -> Path:
    """The one stage of the other kinds, and the table of all shards."""
    files = []
    for shard in spec.shards(experiment, settings):
        files.append(folder / f"measure/{shard.name}.csv")
        measure.run(as_json(spec.measure_spec(experiment, shard, settings)), journal / "measure", files[-1], 1)
    collect.run([], files, [], folder / "table.csv")
    return folder / "table.csv"


def as_json(document: dict) -> dict:
    """What a stage receives on its command line."""
    return json.loads(json.dumps(document))


def write_data(data, folder: Path) -> Path:
    """A data set as ``preprocess`` leaves it."""
    folder.mkdir(parents=True)
    X, y = (data.X[:0], data.y[:0]) if data.missing else (data.X, data.y)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    n = len(data.y)
    n_train = (n + 1) // 2 if data.n_train is None else data.n_train
    facts = {
        "status": "skipped" if data.missing else "ok",
        "reason": data.missing,
        "stand_in": data.stand_in,
        "split": data.rule,
        "n": n,
        "d": data.X.shape[1],
        "n_train": n_train,
        "n_test": n - n_train,
        "n_train_published": data.n_train,
        "sha256": hashlib.sha256(X.tobytes() + y.tobytes()).hexdigest(),
        "facts": data.facts,
    }
    (folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
    return folder


# --- rows -------------------------------------------------------------------------------------------------------------


def normalised(table, study) -> list[dict]:
    """The rows of a table without times and without what is missing in them; what an experiment walks stands in
    ``axis`` and ``at``.
    """
    found = []
    for record in table[~table["metric"].str.startswith("time_")].to_dict("records"):
        row = {key: value for key, value in record.items() if key not in NOT_COMPARED and not missing(value)}
        settings = json.loads(row.get("settings", "{}"))
        row["settings"] = {key: value for key, value in settings.items() if key not in NOT_COMPARED}
        kind = getattr(study, "kind", "grid")
        walked = {"variance": "distance", "surrogate": "penalty"}.get(kind)
        if walked:
            del row["step"]
            row |= {"axis": walked, "at": row["settings"].pop(walked)}
        if kind == "requirement":
            row["kernel"] += f"-{row['settings']['decay']}"
        found.append(row)
    return found


def missing(value) -> bool:
    """Whether a cell of the table is empty."""
    return pd.isna(value) or value == ""
