# What README.md says of the shipped measurements, and its pictures. The page is edited in place and is therefore no
# output: what stands in it is.
rule front_page:
    input:
        rows=expand("data/measured/{name}.csv.xz", name=glob_wildcards("data/measured/{name}.csv.xz").name),
        published=expand("data/reference/{name}.csv", name=glob_wildcards("data/reference/{name}.csv").name),
        reports=expand("config/figures/{name}.yaml", name=glob_wildcards("config/figures/{name}.yaml").name),
        registries=expand("config/{name}.yaml", name=["methods", "datasets", "scorecard"]),
        page="README.md",
        code=code_of(
            "rfstudy.front",
            *{f"rfstudy.report.{catalogue.FOLDERS[form]}.{kind}" for kind, form in catalogue.kinds().items()},
        ),
    output:
        "results/measured/front-page.md",
    log:
        "logs/measured/front-page.log",
    conda:
        "../envs/study.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=20,
    message:
        "front_page: what README.md says of the shipped measurements"
    shell:
        "PYTHONPATH=src python -m rfstudy front --out {output:q} > {log} 2>&1"
