# The stages that compute: tune, generate, train, measure and time. A job works on one shard of an experiment. With
# `shard_by: [paper]` one job works on all shards of a paper, whose cells take less time than imports; a part of an
# experiment (the rows of one figure) still has jobs of its own.

# others wait for what is chosen; what is timed waits until nothing else is left to run
PRIORITIES = {"tune": 1, "time": -1}

# the experiments that one job works on, by paper
PAPERS = {}
if SETTINGS["shard_by"] == ["paper"]:
    for name in ASKED_FOR:
        PAPERS.setdefault(EXPERIMENTS[name]["paper"], []).append(name)


def shards_together(stage, paper):
    """Pairs of an experiment and a shard: the work of the job of a stage for all experiments of a paper."""
    return [(name, shard) for name in PAPERS[paper] for shard in shards_of(stage, name).values()]


def shards_in(stage, paper, wildcards):
    """Pairs of an experiment and a shard: the work of a job, for all experiments of a paper or of one shard."""
    if paper:
        return shards_together(stage, paper)
    return [(wildcards.experiment, shards_of(stage, wildcards.experiment)[wildcards.shard])]


def stage_inputs(stage, paper):
    """An input function: prepared data, what ``tune`` chose, what ``generate`` drew, and the code of a job."""

    def files(wildcards):
        work = shards_in(stage, paper, wildcards)
        datasets = dict.fromkeys(dataset for _, shard in work for dataset in shard.datasets if dataset)
        return {
            "prepared": prepared(*datasets),
            "tuned": sorted({path for name, shard in work for path in tuned_files(stage, name, shard)}),
            "arrays": [f"{RESULTS}/{name}/generate/{shard.name}.npz" for name, shard in work if stage == "train"],
            "lock": LOCK,
        }

    return files


def stage_code(stage, paper):
    """A parameter function: the code that a job runs, with its kinds, maps, learners and steps."""

    def code(wildcards):
        loaded = {root for _, shard in shards_in(stage, paper, wildcards) for root in modules_run(stage, shard)}
        return code_of(f"rfstudy.study.{stage}", *sorted(loaded))

    return code


def stage_work(stage, paper):
    """A parameter function: the hash of what a job does (see rules/console.smk)."""
    return lambda wildcards: work_hash(
        [arguments(stage, name, shard) for name, shard in shards_in(stage, paper, wildcards)]
    )


def arguments(stage, experiment, shard):
    """The arguments of a stage's ``run`` for a shard."""
    stem = f"{RESULTS}/{experiment}/{stage}/{shard.name}"
    found = {
        "parts": [part.stated() for part in parts_of(stage, shard)],
        "prepared_dirs": [f"{PREPARED}/{dataset}" for dataset in shard.datasets if dataset],
        "journal": f"{RESULTS}/.journal/{stage}/{experiment}.{shard.name}.cells",
        "out": f"{stem}.{ENDINGS[stage][0]}",
    }
    if stage in TUNED:
        found["tuned"] = tuned_files(stage, experiment, shard)
    if "npz" in ENDINGS[stage]:
        found["out_arrays"] = f"{stem}.npz"
    if stage == "train":
        found["arrays_file"] = f"{RESULTS}/{experiment}/generate/{shard.name}.npz"
    return found


def stage_words(stage, paper):
    """A parameter function, for the message of a job: how much it does, and on which data."""

    def words(wildcards):
        parts = [part for _, shard in shards_in(stage, paper, wildcards) for part in parts_of(stage, shard)]
        datasets = list(dict.fromkeys(part.dataset for part in parts if part.dataset))
        where = f"on {', '.join(datasets)}" if datasets else "without data"
        if stage == "tune":
            what = ", ".join(dict.fromkeys(quantity for part in parts for quantity in searched(part.search)))
        elif stage in ("generate", "train"):
            what = counted(sum(map(plan.number_of_cells, parts)), "cell")
        else:
            what = counted(max(len(part.methods) for part in parts), "map")
        return f"{what} {where if len(datasets) < 10 else f'on {len(datasets)} data sets'}"

    return words


def stage_needs(key, stage, paper):
    """A resource function: what a job asks for, more with every attempt; one that is killed resumes from its journal."""
    return lambda wildcards, attempt: attempt * max(
        needs_of(stage, shard)[key] for _, shard in shards_in(stage, paper, wildcards)
    )


for stage, paper in [(stage, paper) for stage in ENDINGS for paper in (None, *PAPERS)]:
    stem, stems = f"{{experiment}}/{stage}/{{shard}}", [f"{{experiment}}/{stage}/{{shard}}"]
    if paper:
        stem = f"{stage}-{paper}"
        stems = [f"{name}/{stage}/{shard.name}" for name, shard in shards_together(stage, paper)]

    if stems:
        if paper:
            workflow.ruleorder(f"{stage}_{paper}", stage)

        rule:
            name:
                f"{stage}_{paper}" if paper else stage
            input:
                unpack(stage_inputs(stage, paper)),
            output:
                [f"{RESULTS}/{each}.{ending}" for each in stems for ending in ENDINGS[stage]],
            log:
                f"logs/{PRESET}/{stem}.log",
            benchmark:
                f"benchmarks/{PRESET}/{stem}.tsv"
            priority: PRIORITIES.get(stage, 0)
            conda:
                "../envs/study.yaml"
            threads: ALL_CORES if stage == "time" else SETTINGS["threads"]
            resources:
                mem_mb=stage_needs("mem_mb", stage, paper),
                runtime=stage_needs("runtime", stage, paper),
                gpu=GPUS,
            params:
                stage=stage,
                code=stage_code(stage, paper),
                work=stage_work(stage, paper),
                file=f"{RESULTS}/{stem}.work.json",
                words=stage_words(stage, paper),
            message:
                f"{stage} {paper or '{wildcards.experiment}/{wildcards.shard}'}: {{params.words}}"
            shell:
                "PYTHONPATH=src python -m rfstudy {params.stage} {params.file:q} --threads {threads} --code {params.code:q}"
                " > {log} 2>&1"
