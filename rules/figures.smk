# One rule for all figures that one job makes: rows are read once, and so are the libraries that draw them.
for job, (collection, reports) in DRAWINGS.jobs("figures").items():

    rule:
        name:
            job
        input:
            rows=DRAWINGS.rows(collection, reports),
            published=expand("data/reference/{name}.csv", name=glob_wildcards("data/reference/{name}.csv").name),
            methods="config/methods.yaml",
            tasks="config/datasets.yaml",
            code=code_behind("figures", reports),
        output:
            [path for report in reports for path in files_of(collection, report)],
        log:
            f"logs/{collection}/figures/{job}.log",
        conda:
            "../envs/study.yaml"
        threads: 1
        resources:
            mem_mb=1000,
            runtime=20,
        params:
            spec=lambda wildcards, spec=compact(reports): spec,
            out=lambda wildcards, output: str(Path(output[0]).parents[1]),
        message:
            f"figures {collection}/{'+'.join(papers_of(reports))} {behind(reports)}: {counted(len(reports), 'figure')}"
        shell:
            "PYTHONPATH=src python -m rfstudy figures --spec {params.spec:q} --reference data/reference"
            " --methods {input.methods:q} --tasks {input.tasks:q} --out {params.out:q} {input.rows:q} > {log} 2>&1"
