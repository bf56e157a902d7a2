rule tables:
    input:
        rows=report_inputs,
        published=expand("data/reference/{name}.csv", name=glob_wildcards("data/reference/{name}.csv").name),
        looks="config/methods.yaml",
        datasets="config/datasets.yaml",
        code=code_of("report.tables"),
    output:
        expand("figures/{{collection}}/{{paper}}/{{report}}.{ending}", ending=catalogue.ENDINGS["tables"]),
    log:
        "logs/{collection}/tables/{paper}/{report}.log",
    conda:
        "../envs/study.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        spec=lambda wildcards: compact(report_of(wildcards)),
        out=lambda wildcards, output: str(Path(output[0]).parent),
    shell:
        "PYTHONPATH=src python -m rfstudy tables --spec {params.spec:q} --reference data/reference"
        " --methods {input.looks:q} --datasets {input.datasets:q} --out {params.out:q} {input.rows:q} > {log} 2>&1"
