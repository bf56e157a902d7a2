# The jobs that compute. A job works on one shard of an experiment. With `shard_by: [paper]` one job works on all shards
# of a paper, whose cells take less time than imports. A part of an experiment (the rows of one figure) still has its
# own jobs.

STAGES = ("tune", "train", "measure", "time")

# other jobs wait for choices; timed jobs wait until nothing else is left to run
PRIORITIES = {"tune": 1, "time": -1}

# the experiments of one job, by paper
PAPERS = {}
if SETTINGS["shard_by"] == ["paper"]:
    for name in ASKED_FOR:
        PAPERS.setdefault(EXPERIMENTS[name]["paper"], []).append(name)


def work_of_job(stage, paper, wildcards):
    """Return pairs of an experiment and a shard: the work of a job, for all experiments of a paper or for one shard."""
    return shards_together(stage, paper) or [
        (wildcards.experiment, shards_of(stage, wildcards.experiment)[wildcards.shard])
    ]


def shards_together(stage, paper):
    """Return pairs of an experiment and a shard: the work of the job of a stage for all experiments of a paper."""
    return [(name, shard) for name in PAPERS.get(paper, []) for shard in shards_of(stage, name).values()]


def job_inputs(stage, paper):
    """Return an input function: the facts about prepared data, with the checksum of the rows, and the choices."""

    def files(wildcards):
        work = work_of_job(stage, paper, wildcards)
        datasets = dict.fromkeys(dataset for _, shard in work for dataset in shard.datasets if dataset)
        tuned = {path for name, shard in work for path in tuned_files(stage, name, shard)}
        return [*map(facts_file, datasets), *sorted(tuned)]

    return files


def job_params(stage, paper):
    """Return a parameter function: the code that a job runs, the hash of its work (see rules/console.smk), the versions
    of libraries and, for its message, the amount of its work and its data.
    """

    def params(wildcards):
        work = work_of_job(stage, paper, wildcards)
        parts = [part for _, shard in work for part in parts_of(stage, shard)]
        loaded = {root for part in parts for root in code_roots(stage, part.stated())}
        return {
            "code": code_of(f"rfstudy.study.{stage}", *sorted(loaded)),
            "work": work_hash([arguments(stage, *each) for each in work]),
            "libraries": LIBRARIES,
            "words": words_of(stage, parts),
        }

    return params


def arguments(stage, experiment, shard):
    """Return a stage and the arguments of its ``run`` for a shard."""
    stem = f"{RESULTS}/{experiment}/{stage}/{shard.name}"
    found = {
        "stage": stage,
        "parts": [part.stated() for part in parts_of(stage, shard)],
        "prepared_dirs": [f"{PREPARED}/{dataset}" for dataset in shard.datasets if dataset],
        "journal": f"{RESULTS}/.journal/{stage}/{experiment}.{shard.name}.cells",
        "out": f"{stem}.{ENDINGS[stage][0]}",
    }
    if stage in TUNED:
        found["tuned"] = tuned_files(stage, experiment, shard)
    if "npz" in ENDINGS[stage]:
        found["out_arrays"] = f"{stem}.npz"
    return found


def words_of(stage, parts):
    """Return the amount of a job's work and its data, in words."""
    datasets = list(dict.fromkeys(part.dataset for part in parts if part.dataset))
    if stage == "tune":
        what = ", ".join(dict.fromkeys(quantity for part in parts for quantity in searched(part.search)))
    elif stage == "train":
        what = counted(sum(map(plan.number_of_cells, parts)), "cell")
    else:
        what = counted(max(len(part.methods) for part in parts), "map")
    where = ", ".join(datasets) if len(datasets) < 10 else f"{len(datasets)} data sets"
    return f"{what} on {where}" if datasets else f"{what} without data"


def job_needs(key, stage, paper):
    """Return a resource function: a job requests more with every attempt, up to the limits of the configuration; a
    killed job resumes from its journal.
    """

    def needed(wildcards, attempt):
        of_shards = [needs_of(stage, shard) for _, shard in work_of_job(stage, paper, wildcards)]
        return cost.grown(cost.of_all(of_shards), attempt, SETTINGS)[key]

    return needed


# a job that cannot fit is reported before any is submitted; the jobs of a paper are short
stop_at(
    [
        problem
        for name in ([] if PAPERS or not workflow.is_main_process else ASKED_FOR)
        for stage in STAGES
        for shard in shards_of(stage, name).values()
        for problem in cost.too_large(f"{stage} {name}/{shard.name}", needs_of(stage, shard), SETTINGS)
    ]
)


for stage, paper in [(stage, paper) for stage in STAGES for paper in (None, *PAPERS)]:
    stem, stems = f"{{experiment}}/{stage}/{{shard}}", [("{experiment}", "{shard}")]
    if paper:
        stem = f"{stage}-{paper}"
        stems = [(name, shard.name) for name, shard in shards_together(stage, paper)]

    if stems:
        if paper:
            workflow.ruleorder(f"{stage}_{paper}", stage)

        rule:
            name:
                f"{stage}_{paper}" if paper else stage
            input:
                job_inputs(stage, paper),
            output:
                [f"{RESULTS}/{name}/{stage}/{shard}.{ending}" for name, shard in stems for ending in ENDINGS[stage]],
            log:
                f"logs/{PRESET}/{stem}.log",
            benchmark:
                f"benchmarks/{PRESET}/{stem}.tsv"
            priority: PRIORITIES.get(stage, 0)
            conda:
                "../envs/study.yaml"
            threads: ALL_CORES if stage == "time" else SETTINGS["threads"]
            resources:
                mem_mb=job_needs("mem_mb", stage, paper),
                runtime=job_needs("runtime", stage, paper),
                gpu=job_needs("gpu", stage, paper),
                expected=job_needs("expected", stage, paper),
                extrapolated=job_needs("extrapolated", stage, paper),
            params:
                stage=stage,
                job=job_params(stage, paper),
                file=f"{RESULTS}/{stem}.work.json",
            message:
                f"{stage} {paper or '{wildcards.experiment}/{wildcards.shard}'}: {{params.job[words]}}"
            shell:
                "PYTHONPATH=src python -m rfstudy {params.stage} {params.file:q} --threads {threads}"
                " --code {params.job[code]:q} > {log} 2>&1"
