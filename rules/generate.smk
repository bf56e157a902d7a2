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
        work=stage_work("generate"),
        file=f"{RESULTS}/{{experiment}}/generate/{{shard}}.work.json",
        cells=stage_cells("generate"),
        where=stage_data("generate"),
    message:
        "generate {wildcards.experiment}/{wildcards.shard}: {params.cells} {params.where}"
    shell:
        "PYTHONPATH=src python -m rfstudy generate {params.file:q} --threads {threads} > {log} 2>&1"
