# Compare maps on a file of the user's own: snakemake --cores N compare --config own=FILE target=COLUMN. A pilot makes
# the plan; then there is one job per contestant, without a limit of time, and one that answers.
from rfstudy.compare.contestants import CONTESTANTS

if OWN["own"]:
    COMPARED = f"compare-{Path(str(OWN['own'])).name.split('.')[0]}"
    TARGET = f"--target {json.dumps(str(OWN['target']))}" if OWN["target"] else ""

    rule compare_plan:
        input:
            OWN["own"],
        output:
            f"{COMPARED}/plan.json",
        log:
            f"logs/{COMPARED}/plan.log",
        conda:
            "../envs/study.yaml"
        resources:
            mem_mb=8000,
            runtime=60,
        params:
            code=code_of("rfstudy.compare.run"),
            stage="plan",
        message:
            "compare_plan: a pilot on {input}"
        shell:
            "PYTHONPATH=src python -m rfstudy compare {input[0]:q} {TARGET} --out {COMPARED:q} --stage {params.stage}"
            " > {log} 2>&1"

    use rule compare_plan as compare_run with:
        input:
            OWN["own"],
            f"{COMPARED}/plan.json",
        output:
            touch(f"{COMPARED}/finished/{{contestant}}"),
        log:
            f"logs/{COMPARED}/{{contestant}}.log",
        resources:
            mem_mb=8000,
            runtime=24 * 60,
        params:
            code=code_of("rfstudy.compare.run"),
            stage=lambda wildcards: f"run --contestant {wildcards.contestant}",
        message:
            "compare_run: {wildcards.contestant}"

    use rule compare_plan as compare with:
        input:
            OWN["own"],
            f"{COMPARED}/plan.json",
            expand("{folder}/finished/{contestant}", folder=COMPARED, contestant=CONTESTANTS),
        output:
            f"{COMPARED}/report.html",
            f"{COMPARED}/best.py",
        log:
            f"logs/{COMPARED}/answer.log",
        params:
            code=code_of("rfstudy.compare.run"),
            stage="answer",
        message:
            f"compare: the answer is in {COMPARED}/report.html"
