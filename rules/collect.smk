# Put all rows of an experiment into one table.
rule collect:
    input:
        unpack(lambda wildcards: JOBS.collected(wildcards.experiment)),
    output:
        multiext(f"{RESULTS}/{{experiment}}", ".csv", ".provenance.json", ".npz"),
    log:
        f"logs/{PRESET}/{{experiment}}/collect.log",
    localrule: True
    conda:
        "../envs/study.yaml"
    resources:
        **OF_SHORT_JOBS,
    params:
        code=JOBS.code_of("rfstudy.study.collect"),
        work=lambda wildcards: JOBS.collect_work(wildcards.experiment),
        file=f"{RESULTS}/{{experiment}}/collect.work.json",
        files=lambda wildcards, input: counted(len(input.rows), "file"),
    message:
        "collect {wildcards.experiment}: rows of {params.files}"
    shell:
        "PYTHONPATH=src python -m rfstudy collect {params.file:q} --code {params.code:q} > {log} 2>&1"
