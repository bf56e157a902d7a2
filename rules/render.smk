# Write README.md, its pictures and the pages of docs that have templates. All are in the repository and therefore not
# outputs: the output lists the sources of the pictures.
rule render:
    input:
        rows=[outputs.results_of("measured", name) for name in SHIPPED],
        records=[f"data/measured/{name}.provenance.json" for name in SHIPPED],
        published=PUBLISHED,
        reports=expand("config/figures/{name}.yaml", name=glob_wildcards("config/figures/{name}.yaml").name),
        experiments=expand("config/experiments/{name}.yaml", name=glob_wildcards("config/experiments/{name}.yaml").name),
        registries=expand("config/{name}.yaml", name=["methods", "datasets", "scorecard"]),
        # facts, which the hash of the code leaves out
        facts=[os.path.relpath(package_code.file_of(name), ROOT) for name in package_code.REGISTRIES],
        templates=expand("docs/{name}.md.j2", name=glob_wildcards("docs/{name}.md.j2").name),
    output:
        "results/measured/render.txt",
    log:
        "logs/measured/render.log",
    localrule: True
    conda:
        "../envs/study.yaml"
    resources:
        **OF_SHORT_JOBS,
    params:
        code=lambda wildcards: JOBS.code_of(
            "rfstudy.render",
            *sorted({module for spec in REPORTS for module in catalogue.modules_of(spec)}),
        ),
    message:
        "render: README.md, its pictures and pages of docs from the shipped measurements"
    shell:
        "PYTHONPATH=src python -m rfstudy render --out {output:q} --code {params.code:q} > {log} 2>&1"
