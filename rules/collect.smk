# Put all rows of an experiment into one table. With `shard_by: [paper]` one job does it for all experiments of a paper.
def shard_results(name):
    """Return the files of rows of all jobs of an experiment, of all its stages."""
    return [
        f"{RESULTS}/{name}/{stage}/{shard}.csv"
        for stage in ("train", "measure", "time")
        for shard in shards_of(stage, name)
    ]


def shard_arrays(name):
    """Return the arrays that an experiment's kind measures; those that maps learn stay with their shards."""
    return [path.removesuffix(".csv") + ".npz" for path in shard_results(name) if "/measure/" in path]


def collected_facts(name):
    """Return the files with the facts that ``preprocess`` found about the data sets of an experiment."""
    return [facts_file(dataset) for dataset in experiment_of(name)["datasets"]]


def collect_work(name):
    """Return the arguments of the ``run`` of ``collect`` for an experiment."""
    return {
        "stage": "collect",
        "specs": [part.stated() for part in plan.facts_parts(experiment_of(name), SETTINGS)],
        "shard_files": shard_results(name),
        "prepared_dirs": [str(Path(path).parent) for path in collected_facts(name)],
        "array_files": shard_arrays(name),
        "out": f"{RESULTS}/{name}.csv",
        "out_arrays": f"{RESULTS}/{name}.npz",
    }


def of_experiments(function, paper=None):
    """Return an input function: ``function`` of every experiment of a job."""

    def with_names(wildcards):
        names = PAPERS.get(paper) or [wildcards.experiment]
        return list(dict.fromkeys(path for name in names for path in function(name)))

    return with_names


for paper in (None, *PAPERS):
    names = PAPERS.get(paper, ["{experiment}"])
    stem = f"collect-{paper}" if paper else "{experiment}/collect"
    if paper:
        workflow.ruleorder(f"collect_{paper}", "collect")

    rule:
        name:
            f"collect_{paper}" if paper else "collect"
        input:
            rows=of_experiments(shard_results, paper),
            arrays=of_experiments(shard_arrays, paper),
            facts=of_experiments(collected_facts, paper),
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
            code=code_of("rfstudy.study.collect"),
            work=lambda wildcards, paper=paper: work_hash(
                [collect_work(name) for name in PAPERS.get(paper) or [wildcards.experiment]]
            ),
            file=f"{RESULTS}/{stem}.work.json",
            files=lambda wildcards, input: counted(len(input.rows), "file"),
        message:
            f"collect {paper or '{wildcards.experiment}'}: rows of {{params.files}}"
        shell:
            "PYTHONPATH=src python -m rfstudy collect {params.file:q} --code {params.code:q} > {log} 2>&1"
