rule generate:
    input:
        prepared=prepared_files,
        tuned=tuned_file,
        code=lambda wildcards: code_of("study.generate", methods_of(wildcards), steps_of(wildcards)),
        lock=LOCK,
    output:
        rows=f"{RESULTS}/{{experiment}}/generate/{{shard}}.csv",
        records=f"{RESULTS}/{{experiment}}/generate/{{shard}}.provenance.json",
        arrays=f"{RESULTS}/{{experiment}}/generate/{{shard}}.npz",
    log:
        f"logs/{PRESET}/{{experiment}}/generate/{{shard}}.log",
    benchmark:
        f"benchmarks/{PRESET}/{{experiment}}/generate/{{shard}}.tsv"
    conda:
        "../envs/study.yaml"
    threads: ALL_CORES
    resources:
        mem_mb=memory_mb,
        runtime=minutes,
        gpu=gpus,
        exclusive=1,
    params:
        spec=lambda wildcards: compact(
            specs.generate_spec(
                EXPERIMENTS[wildcards.experiment], SHARDS[wildcards.experiment, wildcards.shard], SETTINGS
            )
        ),
        prepared=lambda wildcards, input: str(Path(input.prepared[0]).parent),
        tuned=tuned_option,
        journal=f"{RESULTS}/.journal/generate",
        threads=SETTINGS["timing_threads"],
    shell:
        "PYTHONPATH=src python -m rfstudy generate --spec {params.spec:q} --prepared {params.prepared:q}"
        " {params.tuned} --journal {params.journal:q} --threads {params.threads}"
        " --out-arrays {output.arrays:q} --out {output.rows:q} > {log} 2>&1"
