# Fetch the files of a source and check their content.
rule download:
    input:
        local=JOBS.local_files,
    output:
        "data/raw/{source}/record.json",
    log:
        "logs/download/{source}.log",
    localrule: True
    conda:
        "../envs/study.yaml"
    resources:
        mem_mb=500,
        runtime=120,
        download=1,
    params:
        code=JOBS.code_of("rfstudy.data.download"),
        work=lambda wildcards: JOBS.work_hash([JOBS.download_work(wildcards.source)]),
        file="data/raw/{source}.work.json",
        files=lambda wildcards: counted(len(REGISTRY.sources[wildcards.source]["files"]), "file"),
    message:
        "download {wildcards.source}: {params.files}"
    shell:
        "PYTHONPATH=src python -m rfstudy download {params.file:q} --code {params.code:q} > {log} 2>&1"
