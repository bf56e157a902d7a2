# The published table is merged into, not made anew, so it is no declared output.
rule publish:
    input:
        rows=f"{RESULTS}/{{experiment}}.csv",
        records=f"{RESULTS}/{{experiment}}.provenance.json",
    output:
        touch(f"{RESULTS}/{{experiment}}.published"),
    log:
        f"logs/{PRESET}/{{experiment}}/publish.log",
    conda:
        "../envs/study.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code_of("rfstudy.study.publish"),
        out="data/measured/{experiment}.csv.xz",
    message:
        "publish {wildcards.experiment}: rows into data/measured"
    shell:
        "PYTHONPATH=src python -m rfstudy publish --out {params.out:q} {input.rows:q} --code {params.code:q} > {log} 2>&1"
