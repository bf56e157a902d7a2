rule collect:
    input:
        rows=lambda wildcards: shard_results(wildcards.experiment),
        arrays=lambda wildcards: shard_arrays(wildcards.experiment),
        facts=lambda wildcards: collected_facts(wildcards.experiment),
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
        work=lambda wildcards: work_hash([collect_work(wildcards.experiment)]),
        file=f"{RESULTS}/{{experiment}}/collect.work.json",
        files=lambda wildcards, input: counted(len(input.rows), "file"),
    message:
        "collect {wildcards.experiment}: rows of {params.files}"
    shell:
        "PYTHONPATH=src python -m rfstudy collect {params.file:q} > {log} 2>&1"
