# Experiments that are no accuracy grid.
rule measure:
    input:
        prepared=stage_prepared("measure"),
        code=stage_code("measure"),
        lock=LOCK,
    output:
        rows=f"{RESULTS}/{{experiment}}/measure/{{shard}}.csv",
        records=f"{RESULTS}/{{experiment}}/measure/{{shard}}.provenance.json",
        arrays=f"{RESULTS}/{{experiment}}/measure/{{shard}}.npz",
    log:
        f"logs/{PRESET}/{{experiment}}/measure/{{shard}}.log",
    benchmark:
        f"benchmarks/{PRESET}/{{experiment}}/measure/{{shard}}.tsv"
    conda:
        "../envs/study.yaml"
    threads: SETTINGS["threads"]
    resources:
        mem_mb=stage_memory("measure"),
        runtime=stage_minutes("measure"),
        gpu=GPUS,
    params:
        work=stage_work("measure"),
        file=f"{RESULTS}/{{experiment}}/measure/{{shard}}.work.json",
        maps=stage_maps("measure"),
        where=stage_data("measure"),
    message:
        "measure {wildcards.experiment}/{wildcards.shard}: {params.maps} {params.where}"
    shell:
        "PYTHONPATH=src python -m rfstudy measure {params.file:q} --threads {threads} > {log} 2>&1"
