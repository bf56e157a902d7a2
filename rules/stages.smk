# The jobs that compute, one rule per stage; a job works on one shard of an experiment. Their inputs, requests and work
# files come from src/rfstudy/planning/jobs.py.
SHARD = "{experiment}/{stage}/{shard}"
REQUESTED = ("mem_mb", "runtime", "gpu")

# a job that cannot fit is reported before any is submitted
if workflow.is_main_process:
    stop_at(JOBS.too_large())


rule train:
    input:
        JOBS.inputs,
    output:
        multiext(f"{RESULTS}/{SHARD}", ".csv", ".provenance.json"),
    log:
        f"logs/{PRESET}/{SHARD}.log",
    benchmark:
        f"benchmarks/{PRESET}/{SHARD}.tsv"
    wildcard_constraints:
        stage="train",
    conda:
        "../envs/study.yaml"
    threads: SETTINGS["threads"]
    resources:
        **{key: partial(JOBS.needs, key) for key in REQUESTED},
    params:
        job=JOBS.params,
        file=f"{RESULTS}/{SHARD}.work.json",
    message:
        "{wildcards.stage} {wildcards.experiment}/{wildcards.shard}: {params.job[words]}"
    shell:
        "PYTHONPATH=src python -m rfstudy {wildcards.stage} {params.file:q} --threads {threads}"
        " --code {params.job[code]:q} > {log} 2>&1"


use rule train as measure with:
    output:
        multiext(f"{RESULTS}/{SHARD}", ".csv", ".provenance.json", ".npz"),
    wildcard_constraints:
        stage="measure",


# other jobs wait for choices
use rule train as tune with:
    output:
        multiext(f"{RESULTS}/{SHARD}", ".json", ".provenance.json"),
    wildcard_constraints:
        stage="tune",
    priority: 1


# timed jobs wait until nothing else is left to run, and have the machine to themselves
use rule train as time with:
    wildcard_constraints:
        stage="time",
    priority: -1
    threads: ALL_CORES
