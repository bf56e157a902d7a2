rule generate:
    input:
        prepared=stage_prepared("generate"),
        tuned=stage_tuned("generate"),
        code=stage_code("generate"),
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
    threads: SETTINGS["threads"]
    resources:
        mem_mb=stage_memory("generate"),
        runtime=stage_minutes("generate"),
        gpu=GPUS,
    params:
        spec=stage_spec("generate"),
        cells=stage_cells("generate"),
        where=stage_data("generate"),
        prepared=prepared_options,
        tuned=tuned_options,
        journal=f"{RESULTS}/.journal/generate/{{experiment}}.{{shard}}.cells",
    message:
        "generate {wildcards.experiment}/{wildcards.shard}: {params.cells} {params.where}"
    shell:
        "PYTHONPATH=src python -m rfstudy generate --spec {params.spec:q} {params.prepared} {params.tuned}"
        " --journal {params.journal:q} --threads {threads} --out-arrays {output.arrays:q} --out {output.rows:q}"
        " > {log} 2>&1"
