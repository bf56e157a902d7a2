rule preprocess:
    input:
        raw=raw_record,
        base=base_files,
        chunks=chunk_files,
        listed=listed_rows,
    output:
        expand("{folder}/{{dataset}}/{file}", folder=PREPARED, file=FILES_OF_TASK),
    log:
        f"logs/preprocess/{SETTINGS['data']}/{{dataset}}.log",
    benchmark:
        f"benchmarks/preprocess/{SETTINGS['data']}/{{dataset}}.tsv"
    conda:
        "../envs/study.yaml"
    threads: 1
    resources:
        mem_mb=preprocess_memory,
        runtime=lambda wildcards: data_registry.minutes_of(TASKS[wildcards.dataset]),
        gpu=lambda wildcards: GPUS if data_registry.wants_gpu(TASKS[wildcards.dataset]) else 0,
    params:
        code=lambda wildcards: code_of_tasks(wildcards.dataset),
        work=lambda wildcards: work_hash({wildcards.dataset: TASKS[wildcards.dataset]}),
        file=f"{PREPARED}/{{dataset}}/work.json",
        raw=lambda wildcards, input: f"--raw {Path(input.raw).parent}" if input.raw else "",
        base=lambda wildcards, input: f"--base {Path(input.base).parent}" if input.base else "",
        chunks=lambda wildcards, input: [f"--chunk {path}" for path in input.get("chunks", [])],
        device=lambda wildcards: (
            f"--device {SETTINGS['device']}" if data_registry.wants_gpu(TASKS[wildcards.dataset]) else ""
        ),
        out=lambda wildcards, output: str(Path(output[0]).parents[1]),
    message:
        f"preprocess {{wildcards.dataset}}: {SETTINGS['data']} data"
    shell:
        "PYTHONPATH=src python -m rfstudy preprocess --spec {params.file:q} {params.raw} {params.base} {params.chunks}"
        " {params.device} --code {params.code:q} --reference data/reference --out {params.out:q} > {log} 2>&1"


# what generators make takes less time than the start of a job: one makes all that the preset lists
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
            mem_mb=max(map(memory_of_rows, TOGETHER)),
            runtime=60,
            gpu=0,
        params:
            code=code_of_tasks(*TOGETHER),
            work=lambda wildcards: work_hash({dataset: TASKS[dataset] for dataset in TOGETHER}),
            file=f"{PREPARED}/work.json",
            raw="",
            base="",
            chunks="",
            device="",
            out=lambda wildcards, output: str(Path(output[0]).parents[1]),
        message:
            f"preprocess {counted(len(TOGETHER), 'task')}: {SETTINGS['data']} data"
