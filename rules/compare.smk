# Compare maps on a file of the user's own: snakemake --cores N compare --config own=FILE target=COLUMN. A pilot makes
# the plan; then there is one job per contestant, without a limit of time, and one that answers.
from random_features.compare.contestants import CONTESTANTS, folder_of

COMPARED = f"results/{folder_of(OWN['own'])}"
PLAN, FINISHED = f"{COMPARED}/plan.json", f"{COMPARED}/finished/{{contestant}}"
STEPS = {
    "compare_plan": ("plan", [], PLAN),
    "compare_run": ("run", [PLAN], touch(FINISHED)),
    "compare": ("answer", [PLAN, *expand(FINISHED, contestant=CONTESTANTS)], f"{COMPARED}/report.html"),
}

for step, (stage, inputs, made) in STEPS.items() if OWN["own"] else ():

    rule:
        name:
            step
        input:
            OWN["own"],
            inputs,
        output:
            made,
        log:
            f"logs/{COMPARED}/{step}{'-{contestant}' * (step == 'compare_run')}.log",
        conda:
            "../envs/study.yaml"
        resources:
            mem_mb=8000,
            runtime=24 * 60,
        params:
            code=JOBS.code_of("random_features.compare.run"),
            target=["--target", OWN["target"]] if OWN["target"] else [],
            folder=COMPARED,
            stage=stage,
            contestant=lambda wildcards: wildcards.get("contestant", "all"),
        message:
            f"{step.replace('_', ' ')}: {COMPARED}{' {wildcards.contestant}' * (step == 'compare_run')}"
        shell:
            "PYTHONPATH=src python -m rfstudy compare {input[0]:q} {params.target:q} --out {params.folder:q}"
            " --stage {params.stage} --contestant {params.contestant} --code {params.code:q} > {log:q} 2>&1"
