# The only rule that takes times. It has the machine to itself, and waits until nothing else is left to run.
rule time:
    input:
        prepared=stage_prepared("time"),
        tuned=stage_tuned("time"),
        code=stage_code("time"),
        lock=LOCK,
    output:
        rows=f"{RESULTS}/{{experiment}}/time/{{shard}}.csv",
        records=f"{RESULTS}/{{experiment}}/time/{{shard}}.provenance.json",
    log:
        f"logs/{PRESET}/{{experiment}}/time/{{shard}}.log",
    benchmark:
        f"benchmarks/{PRESET}/{{experiment}}/time/{{shard}}.tsv"
    priority: -1
    conda:
        "../envs/study.yaml"
    threads: ALL_CORES
    resources:
        mem_mb=stage_memory("time"),
        runtime=stage_minutes("time"),
        gpu=GPUS,
        exclusive=1,
    params:
        work=stage_work("time"),
        file=f"{RESULTS}/{{experiment}}/time/{{shard}}.work.json",
        cells=stage_cells("time"),
        maps=stage_maps("time"),
        where=stage_data("time"),
    message:
        "time {wildcards.experiment}/{wildcards.shard}: {params.cells} of {params.maps} {params.where}"
    shell:
        "PYTHONPATH=src python -m rfstudy time {params.file:q} > {log} 2>&1"
