rule preprocess:
    input:
        raw=raw_record,
        base=base_files,
        chunks=chunk_files,
        listed=listed_rows,
        code=preprocess_code,
    output:
        expand("{folder}/{{dataset}}/{file}", folder=PREPARED, file=["X.npy", "y.npy", "facts.json"]),
    log:
        f"logs/preprocess/{SETTINGS['data']}/{{dataset}}.log",
    benchmark:
        f"benchmarks/preprocess/{SETTINGS['data']}/{{dataset}}.tsv"
    conda:
        "../envs/study.yaml"
    threads: 1
    resources:
        mem_mb=preprocess_memory,
        runtime=lambda wildcards: data_registry.minutes_of(REGISTRY.tasks[wildcards.dataset]),
        gpu=lambda wildcards: GPUS if data_registry.wants_gpu(REGISTRY.tasks[wildcards.dataset]) else 0,
    params:
        spec=lambda wildcards: compact(REGISTRY.tasks[wildcards.dataset]),
        raw=lambda wildcards, input: f"--raw {Path(input.raw).parent}" if input.raw else "",
        base=lambda wildcards, input: f"--base {Path(input.base[0]).parent}" if input.base else "",
        chunks=lambda wildcards, input: [f"--chunk {path}" for path in input.get("chunks", [])],
        device=lambda wildcards: (
            f"--device {SETTINGS['device']}" if data_registry.wants_gpu(REGISTRY.tasks[wildcards.dataset]) else ""
        ),
        out=lambda wildcards, output: str(Path(output[0]).parent),
    message:
        f"preprocess {{wildcards.dataset}}: {SETTINGS['data']} data"
    shell:
        "PYTHONPATH=src python -m rfstudy preprocess --dataset {wildcards.dataset} --spec {params.spec:q} {params.raw}"
        " {params.base} {params.chunks} {params.device} --reference data/reference --out {params.out:q} > {log} 2>&1"
