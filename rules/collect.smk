# Put all rows of an experiment into one table. With `shard_by: [paper]` one job does it for all experiments of a paper.
for paper in (None, *JOBS.papers):
    names = JOBS.papers.get(paper, ["{experiment}"])
    stem = f"collect-{paper}" if paper else "{experiment}/collect"
    if paper:
        workflow.ruleorder(f"collect_{paper}", "collect")

    rule:
        name:
            f"collect_{paper}" if paper else "collect"
        input:
            unpack(partial(JOBS.collected, paper)),
        output:
            [f"{RESULTS}/{name}.{ending}" for name in names for ending in ("csv", "provenance.json", "npz")],
        log:
            f"logs/{PRESET}/{stem}.log",
        localrule: True
        conda:
            "../envs/study.yaml"
        resources:
            mem_mb=1000,
            runtime=20,
        params:
            code=JOBS.code_of("rfstudy.study.collect"),
            work=partial(JOBS.collect_work, paper),
            file=f"{RESULTS}/{stem}.work.json",
            files=lambda wildcards, input: counted(len(input.rows), "file"),
        message:
            f"collect {paper or '{wildcards.experiment}'}: rows of {{params.files}}"
        shell:
            "PYTHONPATH=src python -m rfstudy collect {params.file:q} --code {params.code:q} > {log} 2>&1"
