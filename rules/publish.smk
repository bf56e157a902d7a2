# New rows are merged into the published table, so the table is not a declared output.
rule publish:
    input:
        lambda wildcards: JOBS.to_publish(wildcards.experiment),
    output:
        touch(f"{RESULTS}/{{experiment}}.published"),
    log:
        f"logs/{PRESET}/{{experiment}}/publish.log",
    localrule: True
    conda:
        "../envs/study.yaml"
    resources:
        **OF_SHORT_JOBS,
    params:
        code=JOBS.code_of("rfstudy.study.publish"),
        work=lambda wildcards: JOBS.publish_work(wildcards.experiment),
        file=f"{RESULTS}/{{experiment}}/publish.work.json",
    message:
        "publish {wildcards.experiment}: rows into data/measured"
    shell:
        "PYTHONPATH=src python -m rfstudy publish {params.file:q} --code {params.code:q} > {log} 2>&1"
