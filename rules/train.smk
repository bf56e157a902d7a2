rule train:
    input:
        prepared=stage_prepared("train"),
        tuned=stage_tuned("train"),
        arrays=f"{RESULTS}/{{experiment}}/generate/{{shard}}.npz",
        code=stage_code("train"),
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
    threads: SETTINGS["threads"]
    resources:
        mem_mb=stage_memory("train"),
        runtime=stage_minutes("train"),
        gpu=GPUS,
    params:
        work=stage_work("train"),
        file=f"{RESULTS}/{{experiment}}/train/{{shard}}.work.json",
        cells=stage_cells("train"),
        where=stage_data("train"),
    message:
        "train {wildcards.experiment}/{wildcards.shard}: {params.cells} {params.where}"
    shell:
        "PYTHONPATH=src python -m rfstudy train {params.file:q} --threads {threads} > {log} 2>&1"
