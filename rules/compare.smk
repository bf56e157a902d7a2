# Compare maps on a file of the user's own: snakemake --cores N compare --config own=FILE target=COLUMN
from random_features.compare.contestants import MAPS, folder_of
from random_features.maps.registry import REGISTRY as ALL_MAPS

COMPARED = f"results/{folder_of(OWN['own'])}"

if OWN["own"]:

    rule compare:
        input:
            OWN["own"],
        output:
            f"{COMPARED}/report.html",
        log:
            f"logs/{COMPARED}.log",
        conda:
            "../envs/study.yaml"
        resources:
            mem_mb=8000,
            runtime=25 * 60,
        params:
            code=JOBS.code_of(
                "random_features.compare.run",
                *sorted({f"random_features.maps.{ALL_MAPS[name].module}" for name in MAPS}),
            ),
            target=["--target", OWN["target"]] if OWN["target"] else [],
            folder=COMPARED,
        message:
            f"compare: {COMPARED}"
        shell:
            "PYTHONPATH=src python -m rfstudy compare {input:q} {params.target:q} --out {params.folder:q} --budget 24h"
            " --code {params.code:q} > {log:q} 2>&1"
