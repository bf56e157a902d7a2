# The jobs that compute. A job works on one shard of an experiment. With `shard_by: [paper]` one job works on all shards
# of a paper, whose cells take less time than imports. A part of an experiment (the rows of one figure) still has its
# own jobs.

STAGES = ("tune", "train", "measure", "time")

# other jobs wait for choices; timed jobs wait until nothing else is left to run
PRIORITIES = {"tune": 1, "time": -1}

# a job that cannot fit is reported before any is submitted
if workflow.is_main_process:
    stop_at(JOBS.too_large(STAGES))


def requested(key, work):
    """Return a resource function of the jobs with this work."""
    return lambda wildcards, attempt: JOBS.needs(key, work(wildcards), attempt)


for stage, paper in [(stage, paper) for stage in STAGES for paper in (None, *JOBS.papers)]:
    work = partial(JOBS.work_of_job, stage, paper)
    stem, stems = f"{{experiment}}/{stage}/{{shard}}", [("{experiment}", "{shard}")]
    if paper:
        stem = f"{stage}-{paper}"
        stems = [(name, shard.name) for _, name, shard in JOBS.shards_together(stage, paper)]

    if stems:
        if paper:
            workflow.ruleorder(f"{stage}_{paper}", stage)

        rule:
            name:
                f"{stage}_{paper}" if paper else stage
            input:
                lambda wildcards, work=work: JOBS.inputs(work(wildcards)),
            output:
                [f"{RESULTS}/{name}/{stage}/{shard}.{ending}" for name, shard in stems for ending in ENDINGS[stage]],
            log:
                f"logs/{PRESET}/{stem}.log",
            benchmark:
                f"benchmarks/{PRESET}/{stem}.tsv"
            priority: PRIORITIES.get(stage, 0)
            conda:
                "../envs/study.yaml"
            threads: ALL_CORES if stage == "time" else SETTINGS["threads"]
            resources:
                **{key: requested(key, work) for key in ("mem_mb", "runtime", "gpu", "expected", "extrapolated")},
            params:
                stage=stage,
                job=lambda wildcards, work=work: JOBS.params(work(wildcards)),
                file=f"{RESULTS}/{stem}.work.json",
            message:
                f"{stage} {paper or '{wildcards.experiment}/{wildcards.shard}'}: {{params.job[words]}}"
            shell:
                "PYTHONPATH=src python -m rfstudy {params.stage} {params.file:q} --threads {threads}"
                " --code {params.job[code]:q} > {log} 2>&1"
