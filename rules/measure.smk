# Experiments that are no accuracy grid; those that take times run alone.
rule measure:
    input:
        code=measure_code,
        lock=LOCK,
    output:
        rows=f"{RESULTS}/{{experiment}}/measure/{{shard}}.csv",
        records=f"{RESULTS}/{{experiment}}/measure/{{shard}}.provenance.json",
    log:
        f"logs/{PRESET}/{{experiment}}/measure/{{shard}}.log",
    benchmark:
        f"benchmarks/{PRESET}/{{experiment}}/measure/{{shard}}.tsv"
    conda:
        "../envs/study.yaml"
    threads: lambda wildcards: ALL_CORES if timed(wildcards) else SETTINGS["train_threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=minutes,
        gpu=gpus,
        exclusive=lambda wildcards: int(timed(wildcards)),
    params:
        spec=lambda wildcards: compact(
            specs.measure_spec(
                EXPERIMENTS[wildcards.experiment], SHARDS[wildcards.experiment, wildcards.shard], SETTINGS
            )
        ),
        journal=f"{RESULTS}/.journal/measure",
        # processor time counts threads that wait, too
        threads=lambda wildcards: 1 if timed(wildcards) else SETTINGS["train_threads"],
    shell:
        "PYTHONPATH=src python -m rfstudy measure --spec {params.spec:q} --journal {params.journal:q}"
        " --threads {params.threads} --out {output.rows:q} > {log} 2>&1"
