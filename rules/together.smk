# With `shard_by: [paper]` one job of a stage works on all shards of a paper, and one job puts the tables of a paper
# together: their cells take less time than imports. A part of an experiment (the rows of one figure) has its own jobs.
for stage, paper in JOBS.stages_of_papers():
    workflow.ruleorder(f"{stage}_{paper}", stage)
    job = SimpleNamespace(stage=stage, paper=paper)

    rule:
        name:
            f"{stage}_{paper}"
        input:
            lambda wildcards, job=job: JOBS.inputs(job),
        output:
            JOBS.outputs_of_paper(job),
        log:
            f"logs/{PRESET}/{stage}-{paper}.log",
        benchmark:
            f"benchmarks/{PRESET}/{stage}-{paper}.tsv"
        priority: {"tune": 1, "time": -1}.get(stage, 0)
        conda:
            "../envs/study.yaml"
        threads: ALL_CORES if stage == "time" else SETTINGS["threads"]
        resources:
            **{key: lambda _, attempt, key=key, job=job: JOBS.needs(key, job, attempt) for key in REQUESTED},
        params:
            job=lambda wildcards, job=job: JOBS.params(job),
            stage=stage,
            file=f"{RESULTS}/{stage}-{paper}.work.json",
        message:
            f"{stage} {paper}: {{params.job[words]}}"
        shell:
            "PYTHONPATH=src python -m rfstudy {params.stage} {params.file:q} --threads {threads}"
            " --code {params.job[code]:q} > {log} 2>&1"


for paper, names in JOBS.papers.items():
    workflow.ruleorder(f"collect_{paper}", "collect")

    rule:
        name:
            f"collect_{paper}"
        input:
            unpack(lambda wildcards, names=names: JOBS.collected(*names)),
        output:
            [f"{RESULTS}/{name}.{ending}" for name in names for ending in ("csv", "provenance.json", "npz")],
        log:
            f"logs/{PRESET}/collect-{paper}.log",
        localrule: True
        conda:
            "../envs/study.yaml"
        resources:
            **OF_SHORT_JOBS,
        params:
            code=JOBS.code_of("rfstudy.study.collect"),
            work=lambda wildcards, names=names: JOBS.collect_work(*names),
            file=f"{RESULTS}/collect-{paper}.work.json",
            files=lambda wildcards, input: counted(len(input.rows), "file"),
        message:
            f"collect {paper}: rows of {{params.files}}"
        shell:
            "PYTHONPATH=src python -m rfstudy collect {params.file:q} --code {params.code:q} > {log} 2>&1"
