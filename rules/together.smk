# With `shard_by: [paper]` one job runs a stage for all experiments of a paper, whose cells take less time than imports.
# A part of an experiment (rows of one figure) still has jobs of its own.
OUTPUTS = {
    "tune": [".json", ".provenance.json"],
    "generate": [".csv", ".provenance.json", ".npz"],
    "train": [".csv", ".provenance.json"],
    "measure": [".csv", ".provenance.json", ".npz"],
    "time": [".csv", ".provenance.json"],
}


def together(stage, paper):
    """The shards of a stage in all experiments of a paper."""
    names = [name for name, experiment in EXPERIMENTS.items() if experiment["paper"] == paper]
    return [(name, shard) for name in names for shard in shards_of(stage, name).values()]


if SETTINGS["shard_by"] == ["paper"]:
    for paper in sorted({experiment["paper"] for experiment in EXPERIMENTS.values()}):
        for stage in STAGES:
            members = together(stage, paper)
            if not members:
                continue
            workflow.ruleorder(f"{stage}_{paper}", stage)

            rule:
                name:
                    f"{stage}_{paper}"
                input:
                    prepared=sorted(
                        {file for _, shard in members for each in shard.datasets for file in prepared(each)}
                    ),
                    tuned=sorted(
                        {file for name, shard in members for file in tuned_files(name, shard)}
                        if stage != "tune"
                        else []
                    ),
                    arrays=[
                        f"{RESULTS}/{name}/generate/{shard.name}.npz" for name, shard in members if stage == "train"
                    ],
                    code=sorted({code_of_shards(stage, shard) for _, shard in members}),
                    lock=LOCK,
                output:
                    [
                        f"{RESULTS}/{name}/{stage}/{shard.name}{ending}"
                        for name, shard in members
                        for ending in OUTPUTS[stage]
                    ],
                log:
                    f"logs/{PRESET}/{paper}/{stage}.log",
                benchmark:
                    f"benchmarks/{PRESET}/{paper}/{stage}.tsv"
                priority: {"tune": 1, "time": -1}.get(stage, 0)
                conda:
                    "../envs/study.yaml"
                threads: ALL_CORES if stage == "time" else SETTINGS["threads"]
                resources:
                    mem_mb=max(needs_of(stage, shard)["mem_mb"] for _, shard in members),
                    runtime=240,
                    gpu=GPUS,
                    exclusive=int(stage == "time"),
                params:
                    work=lambda wildcards, threads, stage=stage, members=members: compact(
                        [work_of(stage, name, shard.name, threads) for name, shard in members]
                    ),
                    file=f"{RESULTS}/{paper}.{stage}.work.json",
                message:
                    f"{stage} {paper}: {counted(len(members), 'experiment')}"
                shell:
                    f"PYTHONPATH=src python -m rfstudy {stage} {{params.file:q}} > {{log}} 2>&1"
