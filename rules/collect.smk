def shard_results(wildcards):
    """The rows of all shards of an experiment, both stages."""
    names = [name for experiment, name in SHARDS if experiment == wildcards.experiment]
    return expand(
        "{results}/{experiment}/{stage}/{shard}.csv",
        results=RESULTS,
        experiment=wildcards.experiment,
        stage=["generate", "train"],
        shard=names,
    )


rule collect:
    input:
        rows=shard_results,
        facts=lambda wildcards: [
            f"{PREPARED}/{dataset}/facts.json" for dataset in EXPERIMENTS[wildcards.experiment]["datasets"]
        ],
        code=code_of("study.collect"),
    output:
        rows=RESULTS + "/{experiment}.csv",
        records=RESULTS + "/{experiment}.provenance.json",
    log:
        f"logs/{PRESET}/{{experiment}}/collect.log",
    params:
        spec=lambda wildcards: compact(
            [
                specs.sample_spec(EXPERIMENTS[wildcards.experiment], dataset, SETTINGS)
                for dataset in EXPERIMENTS[wildcards.experiment]["datasets"]
            ]
        ),
        prepared=lambda wildcards, input: [f"--prepared {Path(path).parent}" for path in input.facts],
    threads: 1
    resources:
        mem_mb=1000,
        runtime=20,
    conda:
        "../envs/study.yaml"
    shell:
        "PYTHONPATH=src python -m rfstudy collect --spec {params.spec:q} {params.prepared} --out {output.rows:q}"
        " {input.rows:q} > {log} 2>&1"
