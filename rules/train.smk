rule train:
    input:
        prepared=prepared_files,
        tuned=tuned_file,
        arrays=f"{RESULTS}/{{experiment}}/generate/{{shard}}.npz",
        code=lambda wildcards: code_of("study.train", methods_of(wildcards), steps_of(wildcards)),
        lock=LOCK,
    output:
        rows=f"{RESULTS}/{{experiment}}/train/{{shard}}.csv",
        records=f"{RESULTS}/{{experiment}}/train/{{shard}}.provenance.json",
    log:
        f"logs/{PRESET}/{{experiment}}/train/{{shard}}.log",
    benchmark:
        f"benchmarks/{PRESET}/{{experiment}}/train/{{shard}}.tsv"
    conda:
        "../envs/study.yaml"
    threads: SETTINGS["train_threads"]
    resources:
        mem_mb=memory_mb,
        runtime=minutes,
    params:
        spec=lambda wildcards: compact(
            specs.train_spec(
                EXPERIMENTS[wildcards.experiment], SHARDS[wildcards.experiment, wildcards.shard], SETTINGS
            )
        ),
        prepared=lambda wildcards, input: str(Path(input.prepared[0]).parent),
        tuned=tuned_option,
        journal=f"{RESULTS}/.journal/train",
    shell:
        "PYTHONPATH=src python -m rfstudy train --spec {params.spec:q} --prepared {params.prepared:q}"
        " {params.tuned} --arrays {input.arrays:q} --journal {params.journal:q} --threads {threads}"
        " --out {output.rows:q} > {log} 2>&1"
