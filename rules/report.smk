# Snakemake's own report, report.html: every table and figure on a page with its caption and notes, by paper. A rule
# cannot make it, since it tells of a run that has finished: `snakemake --report`, or --report-after-run, embeds what
# the rule here makes.
report: "report.rst"


def shown_page(collection, entry):
    """The page of an output, as the report shows it."""
    page, category = page_of(collection, entry), category_of(entry)
    labels = {"output": entry["id"], "protocol": entry["protocol"]}
    return report(
        f"{page}.html",
        caption=os.path.abspath(f"{page}.rst"),
        category=category,
        labels=labels | ({"paper": entry["paper"]} if category == SCORECARD else {}),
    )


for collection in (PRESET, "measured"):
    shown = DRAWINGS.wanted(collection)
    if not shown:
        continue

    rule:
        name:
            f"report_{collection}"
        input:
            drawn=DRAWINGS.files(collection),
            code=code_of("rfstudy.report.pages"),
        output:
            pages=[shown_page(collection, entry) for entry in shown],
            captions=[f"{page_of(collection, entry)}.rst" for entry in shown],
        log:
            f"logs/{collection}/report.log",
        conda:
            "../envs/study.yaml"
        threads: 1
        resources:
            mem_mb=1000,
            runtime=20,
        params:
            drawn=lambda wildcards, input: str(Path(input.drawn[0]).parents[1]),
            out=lambda wildcards, output: str(Path(output.pages[0]).parents[1]),
            names=[f"{entry['paper']}/{entry['name']}" for entry in shown],
        message:
            f"report {collection}: {counted(len(shown), 'page')}"
        shell:
            "PYTHONPATH=src python -m rfstudy report --drawn {params.drawn:q} --out {params.out:q} {params.names:q}"
            " > {log} 2>&1"
