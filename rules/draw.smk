# Tables and figures. One job draws all outputs of a paper, so libraries are imported and rows are read once. An output
# that is requested by its file name is drawn alone.
report: "report.rst"


SHIPPED = glob_wildcards(str(ROOT / outputs.results_of("measured", "{name}"))).name
DRAWN = outputs.Collections(REPORTS, JOBS, SHIPPED)

# the inputs of every table and figure, without rows
PUBLISHED = expand("data/reference/{name}.csv", name=glob_wildcards("data/reference/{name}.csv").name)


def files_behind(rows):
    """Return the inputs of a job that draws from files of rows; without its record a file is not read."""
    fixed = {"published": PUBLISHED, "methods": "config/methods.yaml", "tasks": "config/datasets.yaml"}
    # facts, which the hash of the code leaves out
    fixed |= {"metrics": "src/rfstudy/metrics.py"}
    return {"rows": rows, "records": [str(record_file(path)) for path in rows]} | fixed


for collection, specs in DRAWN.wanted.items():
    for paper in dict.fromkeys(spec["paper"] for spec in specs):
        of_paper = [spec for spec in specs if spec["paper"] == paper]

        rule:
            name:
                f"draw_{collection}_{paper}"
            input:
                **files_behind(DRAWN.rows_behind(collection, of_paper)),
            output:
                report(
                    directory(outputs.pages_of(collection, paper)),
                    patterns=["{output}.html"],
                    category=lambda page, at=(collection, paper): outputs.category_of(DRAWN.one[*at, page.output]),
                    labels=lambda wildcards, paper=paper: {"paper": paper, "output": wildcards.output},
                ),
            log:
                f"logs/{collection}/draw/{paper}.log",
            priority: len(of_paper)  # the longest job first, so that two cores end together
            localrule: True
            conda:
                "../envs/study.yaml"
            resources:
                **OF_SHORT_JOBS,
            params:
                code=lambda wildcards, specs=of_paper: DRAWN.code_behind(specs),
                work=lambda wildcards, input, output, specs=of_paper, collection=collection: (
                    DRAWN.draw_work(collection, specs, input, output[0])
                ),
                file=f"results/{collection}/outputs/{paper}.work.json",
            message:
                f"draw {collection}/{paper}: {counted(len(of_paper), 'output')}"
            shell:
                "PYTHONPATH=src python -m rfstudy draw {params.file:q} --code {params.code:q} > {log} 2>&1"


for form, endings in catalogue.ENDINGS.items():
    names = sorted({spec["name"] for spec in DRAWN.one.values() if spec["form"] == form}) or ["none"]

    rule:
        name:
            form.removesuffix("s")
        input:
            unpack(lambda wildcards: files_behind(DRAWN.rows_of_one(wildcards))),
        output:
            [f"figures/{{collection}}/{{paper}}/{{name}}.{ending}" for ending in endings],
        log:
            "logs/{collection}/draw/{paper}/{name}.log",
        wildcard_constraints:
            collection="|".join(DRAWN.drawable),
            name="|".join(map(re.escape, names)),
        localrule: True
        conda:
            "../envs/study.yaml"
        resources:
            **OF_SHORT_JOBS,
        params:
            code=lambda wildcards: DRAWN.code_behind([DRAWN.one[tuple(wildcards)]]),
            work=lambda wildcards, input: DRAWN.draw_work(wildcards.collection, [DRAWN.one[tuple(wildcards)]], input),
            file="results/{collection}/outputs/{paper}/{name}.work.json",
        message:
            f"{form.removesuffix('s')} {{wildcards.collection}}/{{wildcards.paper}}/{{wildcards.name}}"
        shell:
            "PYTHONPATH=src python -m rfstudy draw {params.file:q} --code {params.code:q} > {log} 2>&1"
