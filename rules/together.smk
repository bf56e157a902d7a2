# With `shard_by: [paper]` one job runs a stage for all experiments of a paper, whose cells take less time than imports.
# A part of an experiment (the rows of one figure) still has jobs of its own.
ENDINGS = {stage: ["csv", "provenance.json", "npz"] for stage in ("generate", "measure")}
ENDINGS |= {
    "tune": ["json", "provenance.json"],
    "train": ["csv", "provenance.json"],
    "time": ["csv", "provenance.json"],
}


def work_together(stage, members):
    """A parameter function: the hash of what one job of a stage does for several shards and their experiments."""
    return lambda wildcards: work_hash([work_of(stage, name, shard.name) for name, shard in members])


BY_PAPER = {}
for name in ASKED_FOR:
    BY_PAPER.setdefault(EXPERIMENTS[name]["paper"], []).append(name)


for paper, names in BY_PAPER.items() if SETTINGS["shard_by"] == ["paper"] else []:
    for stage in STAGES:
        members = [(name, shard) for name in names for shard in shards_of(stage, name).values()]
        if not members:
            continue
        stems = [f"{RESULTS}/{name}/{stage}/{shard.name}" for name, shard in members]
        tuned = {path for name, shard in members for path in tuned_files(name, shard)}
        workflow.ruleorder(f"{stage}_{paper}", stage)

        rule:
            name:
                f"{stage}_{paper}"
            input:
                prepared=sorted(
                    {file for _, shard in members for each in filter(None, shard.datasets) for file in prepared(each)}
                ),
                tuned=sorted(tuned) if stage in TUNED else [],
                arrays=[f"{RESULTS}/{name}/generate/{shard.name}.npz" for name, shard in members if stage == "train"],
                code=sorted({code_of_shards(stage, shard) for _, shard in members}),
                lock=LOCK,
            output:
                [f"{stem}.{ending}" for stem in stems for ending in ENDINGS[stage]],
            log:
                f"logs/{PRESET}/{stage}-{paper}.log",
            benchmark:
                f"benchmarks/{PRESET}/{stage}-{paper}.tsv"
            priority: {"tune": 1, "time": -1}.get(stage, 0)
            conda:
                "../envs/study.yaml"
            threads: ALL_CORES if stage == "time" else SETTINGS["threads"]
            resources:
                mem_mb=max(needs_of(stage, shard)["mem_mb"] for _, shard in members),
                runtime=max(needs_of(stage, shard)["runtime"] for _, shard in members),
                gpu=GPUS,
                exclusive=int(stage == "time"),
            params:
                stage=stage,
                work=work_together(stage, members),
                file=f"{RESULTS}/{stage}-{paper}.work.json",
                threads=lambda wildcards, threads, stage=stage: f"--threads {threads}" if stage != "time" else "",
            message:
                f"{stage} {paper}: {counted(len({name for name, _ in members}), 'experiment')}"
            shell:
                "PYTHONPATH=src python -m rfstudy {params.stage} {params.file:q} {params.threads} > {log} 2>&1"

    workflow.ruleorder(f"collect_{paper}", "collect")

    rule:
        name:
            f"collect_{paper}"
        input:
            rows=[path for name in names for path in shard_results(name) + shard_arrays(name)],
            facts=sorted({path for name in names for path in collected_facts(name)}),
            code=code_of("rfstudy.study.collect"),
        output:
            [f"{RESULTS}/{name}.{ending}" for name in names for ending in ("csv", "provenance.json", "npz")],
        log:
            f"logs/{PRESET}/collect-{paper}.log",
        conda:
            "../envs/study.yaml"
        threads: 1
        resources:
            mem_mb=1000,
            runtime=20,
        params:
            work=lambda wildcards, names=names: work_hash([collect_work(name) for name in names]),
            file=f"{RESULTS}/collect-{paper}.work.json",
        message:
            f"collect {paper}: {counted(len(names), 'experiment')}"
        shell:
            "PYTHONPATH=src python -m rfstudy collect {params.file:q} > {log} 2>&1"
