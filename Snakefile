# Random Features, Reproduced: configuration, includes and named targets; the rules are in rules/, one file a stage.
from snakemake.utils import min_version

min_version("9.20")


configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/download.smk"
include: "rules/preprocess.smk"
include: "rules/tune.smk"
include: "rules/generate.smk"
include: "rules/train.smk"
include: "rules/measure.smk"
include: "rules/time.smk"
include: "rules/collect.smk"
include: "rules/tables.smk"
include: "rules/figures.smk"
include: "rules/publish.smk"


rule all:
    default_target: True
    input:
        asked(PRESET),


rule all_tables:
    input:
        asked(PRESET, form="tables"),


rule all_figures:
    input:
        asked(PRESET, form="figures"),


rule measured_figures:
    input:
        asked("measured"),


rule publish_all:
    input:
        expand("{results}/{experiment}.published", results=RESULTS, experiment=ASKED_FOR),


rule benchmarks:
    input:
        asked(PRESET, on_demand=True, paper="study"),


# one target a paper (survey), one a table or figure of all its protocols (survey_table_07)
for paper in sorted({report["paper"] for report in REPORTS} - {"study"}):

    rule:
        name:
            paper
        input:
            asked(PRESET, paper=paper),


for paper, identifier in sorted({(r["paper"], r["id"]) for r in REPORTS if r["paper"] != "study"}):

    rule:
        name:
            f"{paper}_{identifier.replace('-', '_')}"
        input:
            asked(PRESET, paper=paper, id=identifier),
