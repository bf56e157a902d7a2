# Random Features, Reproduced: includes and named targets. The rules are in rules/, one file per stage. The
# configuration is read in rules/common.smk.
from snakemake.utils import min_version

min_version("9.20")


include: "rules/common.smk"
include: "rules/console.smk"
include: "rules/download.smk"
include: "rules/preprocess.smk"
include: "rules/stages.smk"
include: "rules/collect.smk"
include: "rules/together.smk"
include: "rules/draw.smk"
include: "rules/publish.smk"
include: "rules/render.smk"
include: "rules/compare.smk"


rule all:
    default_target: True
    input:
        DRAWN.pages(PRESET),
    message:
        f"all: the tables and figures of {PRESET} are there"


rule measured_figures:
    input:
        DRAWN.pages("measured"),
    message:
        "measured_figures: the tables and figures of the shipped measurements are there"


rule publish_all:
    input:
        expand("{results}/{experiment}.published", results=RESULTS, experiment=JOBS.asked_for),
    message:
        "publish_all: every finished experiment is in data/measured"


rule benchmarks:
    input:
        DRAWN.pages(PRESET, paper="study"),
        DRAWN.asked(
            PRESET, [spec for spec in DRAWN.drawable[PRESET] if spec not in DRAWN.wanted[PRESET]], paper="study"
        ),
        f"{RESULTS}/benchmark_gpu.txt",
    message:
        "benchmarks: the tables and figures about the library are there"


rule benchmark_gpu:
    input:
        "docs/benchmark_gpu.py",
    output:
        f"{RESULTS}/benchmark_gpu.txt",
    log:
        f"logs/{PRESET}/benchmark_gpu.log",
    conda:
        "envs/study.yaml"
    threads: ALL_CORES
    params:
        gpus=VISIBLE_GPUS,
    message:
        "benchmark_gpu: {output} compares the library with bare PyTorch, or says why not"
    shell:
        "{{ PYTHONPATH=src python {input} > {output} 2>&1 || grep skipped {output}; }} > {log} 2>&1"


# one target per paper (survey), and one per table or figure, with the protocols of the run (survey_table_07)
for paper in sorted({report["paper"] for report in REPORTS} - {"study"}):

    rule:
        name:
            paper
        input:
            DRAWN.pages(PRESET, paper=paper),
        message:
            f"{paper}: its tables and figures are there"


for paper, identifier in sorted({(r["paper"], r["id"]) for r in REPORTS if r["paper"] != "study"}):

    rule:
        name:
            f"{paper}_{identifier.replace('-', '_')}"
        input:
            DRAWN.asked(PRESET, DRAWN.wanted[PRESET], paper=paper, id=identifier),
        message:
            f"{paper}: {identifier} is there, for the protocols of this run"
