rule tune:
    input:
        prepared=prepared_files,
        code=lambda wildcards: code_of("study.tune", tuned_methods(wildcards), steps_of(wildcards)),
        lock=LOCK,
    output:
        f"{RESULTS}/{{experiment}}/tune/{{dataset}}.json",
    log:
        f"logs/{PRESET}/{{experiment}}/tune/{{dataset}}.log",
    benchmark:
        f"benchmarks/{PRESET}/{{experiment}}/tune/{{dataset}}.tsv"
    conda:
        "../envs/study.yaml"
    threads: SETTINGS["train_threads"]
    resources:
        mem_mb=memory_mb,
        runtime=minutes,
    params:
        spec=lambda wildcards: compact(specs.tune_spec(EXPERIMENTS[wildcards.experiment], wildcards.dataset, SETTINGS)),
        prepared=lambda wildcards, input: str(Path(input.prepared[0]).parent),
        journal=f"{RESULTS}/.journal/tune",
    shell:
        "PYTHONPATH=src python -m rfstudy tune --spec {params.spec:q} --prepared {params.prepared:q}"
        " --journal {params.journal:q} --threads {threads} --out {output:q} > {log} 2>&1"
