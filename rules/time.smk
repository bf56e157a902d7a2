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
        spec=stage_spec("time"),
        cells=stage_cells("time"),
        maps=stage_maps("time"),
        where=stage_data("time"),
        prepared=prepared_options,
        tuned=tuned_options,
        threads=lambda wildcards: EXPERIMENTS[wildcards.experiment]["time"]["threads"],
        journal=f"{RESULTS}/.journal/time/{{experiment}}.{{shard}}.cells",
    message:
        "time {wildcards.experiment}/{wildcards.shard}: {params.cells} of {params.maps} {params.where}"
    shell:
        "PYTHONPATH=src python -m rfstudy time --spec {params.spec:q} {params.prepared} {params.tuned}"
        " --journal {params.journal:q} --threads {params.threads} --out {output.rows:q} > {log} 2>&1"
