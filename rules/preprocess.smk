# Make the rows of a task, and count the facts about them.
rule preprocess:
    input:
        raw=JOBS.raw_record,
        base=JOBS.base_files,
        listed=JOBS.listed_rows,
    output:
        expand("{folder}/{{dataset}}/{file}", folder=PREPARED, file=FILES_OF_TASK),
    log:
        f"logs/preprocess/{SETTINGS['data']}/{{dataset}}.log",
    benchmark:
        f"benchmarks/preprocess/{SETTINGS['data']}/{{dataset}}.tsv"
    conda:
        "../envs/study.yaml"
    resources:
        **{key: partial(JOBS.needs_of_rows, key) for key in ("mem_mb", "runtime")},
        gpu=lambda wildcards: GPUS if data_registry.wants_gpu(JOBS.tasks[wildcards.dataset]) else 0,
    params:
        code=lambda wildcards: JOBS.code_of_tasks(wildcards.dataset),
        work=lambda wildcards, input: JOBS.work_hash([JOBS.preprocess_work(wildcards.dataset, input)]),
        file=f"{PREPARED}/{{dataset}}/work.json",
    message:
        f"preprocess {{wildcards.dataset}}: {SETTINGS['data']} data"
    shell:
        "PYTHONPATH=src python -m rfstudy preprocess {params.file:q} --code {params.code:q} > {log} 2>&1"


# generating rows takes less time than starting a job, so one job makes all tasks that the preset lists
if TOGETHER:

    ruleorder: preprocess_together > preprocess

    use rule preprocess as preprocess_together with:
        input:
            [],
        output:
            expand("{folder}/{dataset}/{file}", folder=PREPARED, dataset=TOGETHER, file=FILES_OF_TASK),
        log:
            f"logs/preprocess/{SETTINGS['data']}/together.log",
        benchmark:
            f"benchmarks/preprocess/{SETTINGS['data']}/together.tsv"
        resources:
            mem_mb=max(map(JOBS.memory_of_rows, TOGETHER)),
            runtime=30,
            gpu=0,
        params:
            code=JOBS.code_of_tasks(*TOGETHER),
            work=lambda wildcards, input: JOBS.work_hash([JOBS.preprocess_work(dataset, input) for dataset in TOGETHER]),
            file=f"{PREPARED}/work.json",
        message:
            f"preprocess {counted(len(TOGETHER), 'task')}: {SETTINGS['data']} data"
