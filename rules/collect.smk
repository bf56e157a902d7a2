rule collect:
    input:
        rows=shard_results,
        arrays=shard_arrays,
        facts=lambda wildcards: [
            f"{PREPARED}/{dataset}/facts.json" for dataset in EXPERIMENTS[wildcards.experiment]["datasets"]
        ],
        code=code_of("rfstudy.study.collect"),
    output:
        rows=f"{RESULTS}/{{experiment}}.csv",
        records=f"{RESULTS}/{{experiment}}.provenance.json",
        arrays=f"{RESULTS}/{{experiment}}.npz",
    log:
        f"logs/{PRESET}/{{experiment}}/collect.log",
    conda:
        "../envs/study.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        spec=lambda wildcards: compact(plan.facts_parts(EXPERIMENTS[wildcards.experiment], SETTINGS)),
        prepared=lambda wildcards, input: [f"--prepared {Path(path).parent}" for path in input.facts],
        files=lambda wildcards, input: counted(len(input.rows), "file"),
        arrays=lambda wildcards, input: [f"--arrays {path}" for path in input.get("arrays", [])],
    message:
        "collect {wildcards.experiment}: rows of {params.files}"
    shell:
        "PYTHONPATH=src python -m rfstudy collect --spec {params.spec:q} {params.prepared} {params.arrays}"
        " --out-arrays {output.arrays:q} --out {output.rows:q} {input.rows:q} > {log} 2>&1"
