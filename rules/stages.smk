# The jobs that compute. A job works on one shard of an experiment. With `shard_by: [paper]` one job works on all shards
# of a paper, whose cells take less time than imports. A part of an experiment (the rows of one figure) still has its
# own jobs.

# other jobs wait for choices; timed jobs wait until nothing else is left to run
PRIORITIES = {"tune": 1, "time": -1}

REQUESTED = ("mem_mb", "runtime", "gpu", "expected", "extrapolated")

# a job that cannot fit is reported before any is submitted
if workflow.is_main_process:
    stop_at(JOBS.too_large(ENDINGS))


for stage, paper in JOBS.stages_and_papers():
    stem = f"{stage}-{paper}" if paper else f"{{experiment}}/{stage}/{{shard}}"
    if paper:
        workflow.ruleorder(f"{stage}_{paper}", stage)

    rule:
        name:
            f"{stage}_{paper}" if paper else stage
        input:
            partial(JOBS.inputs, stage, paper),
        output:
            JOBS.outputs(stage, paper),
        log:
            f"logs/{PRESET}/{stem}.log",
        benchmark:
            f"benchmarks/{PRESET}/{stem}.tsv"
        priority: PRIORITIES.get(stage, 0)
        conda:
            "../envs/study.yaml"
        threads: ALL_CORES if stage == "time" else SETTINGS["threads"]
        resources:
            **{key: partial(JOBS.needs, key, stage, paper) for key in REQUESTED},
        params:
            stage=stage,
            job=partial(JOBS.params, stage, paper),
            file=f"{RESULTS}/{stem}.work.json",
        message:
            f"{stage} {paper or '{wildcards.experiment}/{wildcards.shard}'}: {{params.job[words]}}"
        shell:
            "PYTHONPATH=src python -m rfstudy {params.stage} {params.file:q} --threads {threads}"
            " --code {params.job[code]:q} > {log} 2>&1"
