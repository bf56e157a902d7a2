# Make the rows of a streamed task in chunks, each by its own job; `preprocess` gathers them.
rule stream:
    input:
        raw=JOBS.raw_record,
        base=JOBS.base_files,
    output:
        temp(f"{PREPARED}/{{dataset}}/chunk-{{number}}.npz"),
    log:
        f"logs/stream/{SETTINGS['data']}/{{dataset}}-{{number}}.log",
    benchmark:
        f"benchmarks/stream/{SETTINGS['data']}/{{dataset}}-{{number}}.tsv"
    conda:
        "../envs/study.yaml"
    resources:
        **{key: partial(JOBS.needs_of_rows, key) for key in ("mem_mb", "runtime")},
    params:
        code=lambda wildcards: JOBS.code_of_tasks(wildcards.dataset),
        work=lambda wildcards, input, output: JOBS.work_hash(
            [JOBS.rows_work("stream", wildcards.dataset, input) | {"number": int(wildcards.number), "out": output[0]}]
        ),
        file=f"{PREPARED}/{{dataset}}-{{number}}.work.json",
        of=lambda wildcards: data_registry.n_chunks(JOBS.tasks[wildcards.dataset]),
    message:
        "stream {wildcards.dataset}: chunk {wildcards.number} of {params.of}"
    shell:
        "PYTHONPATH=src python -m rfstudy stream {params.file:q} --code {params.code:q} > {log} 2>&1"
