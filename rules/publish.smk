# The published table is merged into, not made anew, so it is no declared output.
rule publish:
    input:
        rows=RESULTS + "/{experiment}.csv",
        records=RESULTS + "/{experiment}.provenance.json",
        code=code_of("study.publish"),
    output:
        touch(RESULTS + "/{experiment}.published"),
    log:
        f"logs/{PRESET}/{{experiment}}/publish.log",
    params:
        out="data/measured/{experiment}.csv.xz",
    threads: 1
    resources:
        mem_mb=1000,
        runtime=20,
    conda:
        "../envs/study.yaml"
    shell:
        "PYTHONPATH=src python -m rfstudy publish --out {params.out:q} {input.rows:q} > {log} 2>&1"
