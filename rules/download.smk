rule download:
    input:
        local=local_files,
    output:
        "data/raw/{source}/record.json",
    log:
        "logs/download/{source}.log",
    conda:
        "../envs/study.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=120,
        download=1,
    params:
        code=code_of("rfstudy.data.download"),
        work=lambda wildcards: work_hash(REGISTRY.sources[wildcards.source]),
        file="data/raw/{source}.work.json",
        files=lambda wildcards: counted(len(REGISTRY.sources[wildcards.source]["files"]), "file"),
        flags="--allow-missing" if SETTINGS["allow_missing"] else "",
    message:
        "download {wildcards.source}: {params.files}"
    shell:
        "PYTHONPATH=src python -m rfstudy download --source {wildcards.source} --spec {params.file:q}"
        " --lock config/sources.lock.yaml {params.flags} --out data/raw/{wildcards.source} --code {params.code:q} > {log} 2>&1"
