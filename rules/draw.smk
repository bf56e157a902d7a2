# Tables and figures. One job draws all outputs of a paper, so libraries are imported and rows are read once. An output
# that is requested by its file name is drawn alone.
report: "report.rst"


# the outputs that can be drawn from each set of rows, and those that are drawn if none is named
SHIPPED = glob_wildcards(str(ROOT / outputs.results_of("measured", "{name}"))).name
DRAWABLE = {
    PRESET: outputs.drawable(REPORTS, EXPERIMENTS),
    "measured": outputs.drawable_in_part(REPORTS, SHIPPED),
}
WANTED = DRAWABLE | {PRESET: outputs.drawable(REPORTS, JOBS.asked_for)}

# the inputs of every table and figure, without rows
PUBLISHED = expand("data/reference/{name}.csv", name=glob_wildcards("data/reference/{name}.csv").name)


def asked(collection, specs, **like):
    """Return the files of the outputs whose entries match; if none match, return a function that raises the error."""
    found = [spec for spec in specs if all(spec[key] == value for key, value in like.items())]
    return [path for spec in found for path in outputs.files_of(collection, spec)] or nothing_drawn(collection, like)


def pages(collection, **like):
    """Return the pages of the report, one folder per paper: all its tables and figures are drawn with them."""
    papers = [spec["paper"] for spec in WANTED[collection] if spec["paper"] == like.get("paper", spec["paper"])]
    found = [outputs.pages_of(collection, paper) for paper in dict.fromkeys(papers)]
    return found or nothing_drawn(collection, like)


def nothing_drawn(collection, like):
    """Return an input function that ends the workflow with a message."""
    what = "".join(f"{key}={value} " for key, value in like.items())
    message = (
        f"nothing to do: no table or figure {what}is drawn from {collection} rows of {', '.join(EXPERIMENTS)} alone;"
        f" ask for rows, e.g. {outputs.results_of(PRESET, next(iter(EXPERIMENTS)))}"
    )
    return lambda wildcards: stop_at([message])


def rows_behind(collection, specs):
    """Return the files of the rows from which some outputs are drawn."""
    names = outputs.experiments_of(specs)
    return [outputs.results_of(collection, name) for name in names if collection != "measured" or name in SHIPPED]


def records_of(rows):
    """Return the records of files of rows; without its record a file is not read."""
    return [str(record_file(path)) for path in rows]


def rows_of_one(collection, spec):
    """Return the rows of one output: those of whole experiments if they exist, else those of its own data sets."""
    if collection == "measured":
        return rows_behind(collection, [spec])
    whole = {name: outputs.results_of(collection, name) for name in spec["experiments"]}
    parts = {name: outputs.results_of(collection, part_of(name, spec)) for name in whole}
    return [whole[name] if os.path.exists(whole[name]) else parts[name] for name in whole]


def part_of(name, spec):
    """Return the part of an experiment that an output shows: its name, with its data sets if these are not all."""
    there = EXPERIMENTS[name]["datasets"]
    wanted = [dataset for dataset in there if dataset in spec.get("datasets", there)]
    return ".".join([name, *wanted]) if 0 < len(wanted) < len(there) else name


def code_behind(specs):
    """Return the code that draws some outputs."""
    kinds = {module for spec in specs for module in catalogue.modules_of(spec)}
    return JOBS.code_of("rfstudy.report.draw", "rfstudy.report.tables", "rfstudy.report.plots", *sorted(kinds))


def draw_work(collection, specs, input, pages=None):
    """Return the hash of the arguments of the ``run`` of ``draw`` for some outputs."""
    read = {"results": list(input.rows), "methods": input.methods, "tasks": input.tasks, "reference": "data/reference"}
    written = {"out": f"figures/{collection}", "pages_dir": pages}
    return JOBS.work_hash([{"stage": "draw", "entries": specs} | read | written])


def shown(page):
    """Return the output that a page of the report shows, by the wildcards of its path."""
    return next(spec for specs in WANTED.values() for spec in specs if (spec["paper"], spec["name"]) == page)


for collection, specs in WANTED.items():
    for paper in dict.fromkeys(spec["paper"] for spec in specs):
        of_paper = [spec for spec in specs if spec["paper"] == paper]

        rule:
            name:
                f"draw_{collection}_{paper}"
            input:
                rows=rows_behind(collection, of_paper),
                records=records_of(rows_behind(collection, of_paper)),
                published=PUBLISHED,
                methods="config/methods.yaml",
                tasks="config/datasets.yaml",
            output:
                report(
                    directory(outputs.pages_of(collection, paper)),
                    patterns=["{output}.html"],
                    category=lambda wildcards, paper=paper: outputs.category_of(shown((paper, wildcards.output))),
                    labels=lambda wildcards, paper=paper: {"paper": paper, "output": wildcards.output},
                ),
            log:
                f"logs/{collection}/draw/{paper}.log",
            priority: len(of_paper)  # the longest job first, so that two cores end together
            localrule: True
            conda:
                "../envs/study.yaml"
            resources:
                mem_mb=1000,
                runtime=60,
            params:
                code=lambda wildcards, specs=of_paper: code_behind(specs),
                work=lambda wildcards, input, output, specs=of_paper, collection=collection: (
                    draw_work(collection, specs, input, output[0])
                ),
                file=f"results/{collection}/outputs/{paper}.work.json",
            message:
                f"draw {collection}/{paper}: {counted(len(of_paper), 'output')}"
            shell:
                "PYTHONPATH=src python -m rfstudy draw {params.file:q} --code {params.code:q} > {log} 2>&1"


ONE = {(collection, spec["paper"], spec["name"]): spec for collection, specs in DRAWABLE.items() for spec in specs}


def one_output(function):
    """Return an input function or parameter: ``function`` of the collection and the output that a job draws alone."""
    return lambda wildcards: function(wildcards.collection, ONE[tuple(wildcards)])


for form, endings in catalogue.ENDINGS.items():
    names = sorted({spec["name"] for spec in ONE.values() if spec["form"] == form}) or ["none"]

    rule:
        name:
            form.removesuffix("s")
        input:
            rows=one_output(rows_of_one),
            records=one_output(lambda collection, spec: records_of(rows_of_one(collection, spec))),
            published=PUBLISHED,
            methods="config/methods.yaml",
            tasks="config/datasets.yaml",
        output:
            [f"figures/{{collection}}/{{paper}}/{{name}}.{ending}" for ending in endings],
        log:
            "logs/{collection}/draw/{paper}/{name}.log",
        wildcard_constraints:
            collection="|".join(DRAWABLE),
            name="|".join(map(re.escape, names)),
        localrule: True
        conda:
            "../envs/study.yaml"
        resources:
            mem_mb=1000,
            runtime=20,
        params:
            code=one_output(lambda collection, spec: code_behind([spec])),
            work=lambda wildcards, input: draw_work(wildcards.collection, [ONE[tuple(wildcards)]], input),
            file="results/{collection}/outputs/{paper}/{name}.work.json",
        message:
            f"{form.removesuffix('s')} {{wildcards.collection}}/{{wildcards.paper}}/{{wildcards.name}}"
        shell:
            "PYTHONPATH=src python -m rfstudy draw {params.file:q} --code {params.code:q} > {log} 2>&1"
