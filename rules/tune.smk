rule tune:
    input:
        prepared=stage_prepared("tune"),
        code=stage_code("tune"),
        lock=LOCK,
    output:
        chosen=f"{RESULTS}/{{experiment}}/tune/{{shard}}.json",
        records=f"{RESULTS}/{{experiment}}/tune/{{shard}}.provenance.json",
    log:
        f"logs/{PRESET}/{{experiment}}/tune/{{shard}}.log",
    benchmark:
        f"benchmarks/{PRESET}/{{experiment}}/tune/{{shard}}.tsv"
    priority: 1  # others wait for what it chooses
    conda:
        "../envs/study.yaml"
    threads: SETTINGS["threads"]
    resources:
        mem_mb=stage_memory("tune"),
        runtime=stage_minutes("tune"),
        gpu=GPUS,
    params:
        work=stage_work("tune"),
        file=f"{RESULTS}/{{experiment}}/tune/{{shard}}.work.json",
        chosen=stage_choices,
        where=stage_data("tune"),
    message:
        "tune {wildcards.experiment}/{wildcards.shard}: {params.chosen} {params.where}"
    shell:
        "PYTHONPATH=src python -m rfstudy tune {params.file:q} --threads {threads} > {log} 2>&1"
