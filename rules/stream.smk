# The rows of a streamed task in chunks, each made by a job of its own; `preprocess` gathers them.
rule stream:
    input:
        raw=raw_record,
        base=base_files,
    output:
        temp(f"{PREPARED}/{{dataset}}/chunk-{{number}}.npz"),
    log:
        f"logs/stream/{SETTINGS['data']}/{{dataset}}-{{number}}.log",
    benchmark:
        f"benchmarks/stream/{SETTINGS['data']}/{{dataset}}-{{number}}.tsv"
    conda:
        "../envs/study.yaml"
    threads: 1
    resources:
        mem_mb=preprocess_memory,
        runtime=60,
    params:
        code=lambda wildcards: code_of_tasks(wildcards.dataset),
        work=lambda wildcards: work_hash(TASKS[wildcards.dataset]),
        file=f"{PREPARED}/{{dataset}}.work.json",
        raw=lambda wildcards, input: f"--raw {Path(input.raw).parent}" if input.raw else "",
        base=lambda wildcards, input: Path(input.base).parent,
        of=lambda wildcards: data_registry.n_chunks(TASKS[wildcards.dataset]),
    message:
        "stream {wildcards.dataset}: chunk {wildcards.number} of {params.of}"
    shell:
        "PYTHONPATH=src python -m rfstudy stream --dataset {wildcards.dataset} --spec {params.file:q} {params.raw}"
        " --base {params.base:q} --number {wildcards.number} --code {params.code:q} --out {output:q} > {log} 2>&1"
