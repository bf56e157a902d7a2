"""What would stop a job an hour after its start, found when the plan is made.

What the schemas cannot see is looked at here, on every data set of the experiments of a run: whether searches and
learners are complete once all overlays are laid, whether splits and folds are possible with the rows there are. What
only a map, a kernel, a learner or a step itself can tell, the range of an option, is asked of it: each is built once,
in a process of its own (``study.trial``), because their imports take as long as all of the planning. What was found to
be in order is remembered under the hash of all that was built and of the package, so that whoever plans again, and the
jobs of a cluster, pay nothing.

Imported by the workflow when it parses: standard library and PyYAML only.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

from random_features.learners import entry as learners
from rfstudy.data.modules import step_of
from rfstudy.data.registry import sizes_of_stand_in
from rfstudy.data.tasks import OF_BLOCKS
from rfstudy.files import shown
from rfstudy.study.code import PACKAGES, SOURCE, defines
from rfstudy.study.config import ConfigurationError, resolved_experiments
from rfstudy.study.experiment import kind_constant, standing_for_all, walked, wanted_sizes
from rfstudy.study.job import merge, options_tried, searched
from rfstudy.study.plan import check_choices, on_dataset, repeats_of
from rfstudy.study.schema import OF_DATA, constant_or, suggestion

#: Where it is remembered what was found to be in order, in the folder of the workflow.
REMEMBERED = Path(".snakemake") / "rfstudy-checked"


class Trial:
    """The building of everything that experiments name, in a process that runs while the workflow plans on.

    Parameters
    ----------
    experiments : by name, as ``selection.select`` gives them
    settings, tasks : of the run
    config_dir : folder of the configuration
    """

    def __init__(self, experiments: dict[str, dict], settings: dict, tasks: dict, config_dir):
        self._config_dir = Path(config_dir)
        self._problems = [
            (name, problem)
            for name, experiment in experiments.items()
            for problem in problems_on_datasets(experiment, settings, tasks)
        ]
        # what cannot be laid together cannot be built either
        self._places: dict[str, list] = {}
        if not self._problems:
            for name, experiment in experiments.items():
                for where, part in parts(experiment, settings, tasks):
                    self._places.setdefault(json.dumps(part, sort_keys=True), []).append((name, where))
        self._told = json.dumps([json.loads(part) for part in self._places])
        self._remembered = REMEMBERED / key_of_trial(self._told)
        self._process = None
        if self._places and not self._remembered.exists():
            self._process = subprocess.Popen(
                [sys.executable, "-m", "rfstudy.study.trial"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ | {"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
            )
            # it reads this before it imports anything
            self._process.stdin.write(self._told)
            self._process.stdin.close()

    def finish(self) -> None:
        """Raise ``ConfigurationError`` with a line for everything that is wrong, once all is built."""
        found = list(self._problems)
        if self._process:
            answer = self._process.stdout.read()
            if self._process.wait():
                raise ConfigurationError("what the experiments name could not be built: see the error above")
            places = list(self._places.values())
            found += [
                (name, f"{where}{inner}: {message}")
                for position, inner, message in json.loads(answer)
                for name, where in places[position]
            ]
        if found:
            raise ConfigurationError("\n".join(located(found, self._config_dir)))
        if self._process:
            self._remembered.parent.mkdir(parents=True, exist_ok=True)
            self._remembered.touch()


def key_of_trial(told: str) -> str:
    """The hash of what is to be built and of the packages that build it."""
    state = hashlib.sha256(f"{sys.version}\n{told}".encode())
    for path in sorted(path for package in PACKAGES for path in (SOURCE / package).rglob("*.py")):
        state.update(path.read_bytes())
    return state.hexdigest()[:32]


def located(found: list[tuple[str, str]], config_dir: Path) -> list[str]:
    """A line for every problem, with its file, and each at the experiment that the others have it from."""
    files, raw, resolved = resolved_experiments(config_dir)
    of_one: dict[str, list[str]] = {}
    seen = set()
    for name, problem in found:
        # the same mistake is met on every data set, with other numbers
        mistake = name, re.sub(r"\d+ (columns|training rows)|there are \d+", "", problem)
        if mistake in seen:
            continue
        seen.add(mistake)
        # an entry is told by its position in the file, where the steps are not written out
        positions = [i for i, _ in walked(resolved[name])]
        head, _, rest = problem.partition("]")
        if head.startswith(".methods["):
            problem = f".methods[{positions[int(head.removeprefix('.methods['))]}]{rest}"
        of_one.setdefault(name, []).append(problem)
    return [
        f"{shown(files[name])}: {name}{problem}"
        for name, problems in of_one.items()
        for problem in dict.fromkeys(problems)
        if not (raw[name].get("extends") in of_one and problem in of_one[raw[name]["extends"]])
    ]


def problems_on_datasets(experiment: dict, settings: dict, tasks: dict) -> list[str]:
    """What is wrong with a selected experiment on its data sets, each as ``.key: message``; what is wrong with all of
    them in the same way is told of the first.
    """
    found = {problem: problem for problem in problems_of_time(experiment)}
    for dataset in experiment["datasets"]:
        own = on_dataset(experiment, dataset)
        here = f".datasets.{dataset}"
        of_one = []
        if "preprocess" not in own:
            of_one.append(f"{here}: neither it nor the experiment has the key 'preprocess'")
        if "learners" in own:
            of_one += problems_of_choices(own, dataset, here)
            of_one += [] if found else [f"{here}{problem}" for problem in problems_of_time(own)]
        if "sizes" in own and any(experiment["sizes"].values()) and not any(own["sizes"].values()):
            of_one.append(
                f"{here}: largest_multiple_of_d = {own.get('largest_multiple_of_d')} leaves none of its sizes"
            )
        of_one += problems_of_rows(own, tasks[dataset], settings, here)
        for problem in of_one:
            found.setdefault(problem.replace(dataset, "*"), problem)
    return list(found.values())


def problems_of_time(experiment: dict) -> list[str]:
    """What the key ``time`` names that the experiment, or its kind, does not have."""
    how, known = experiment.get("time", {}), experiment.get("learners", {})
    learner = how.get("learner")
    if isinstance(how.get("sizes"), list) and "sizes" not in experiment:
        return [f".time.sizes: a list is of an accuracy grid; of the kind {experiment['kind']} it is a number"]
    if learner and learner not in known:
        return [f".time.learner: there is no learner {learner!r} here; {suggestion(learner, known)}"]
    return []


def problems_of_choices(own: dict, dataset: str, here: str) -> list[str]:
    """What a search lacks on a data set."""
    try:
        check_choices(own, dataset)
    except ConfigurationError as error:
        # the place says already of what
        what = f"experiment {own['name']!r} on {dataset}"
        return [f"{here}: {str(error).removeprefix(what).lstrip(' ,:')}"]
    return []


def problems_of_rows(own: dict, task: dict, settings: dict, here: str) -> list[str]:
    """Whether a data set has the rows that its split and the folds of its learners need."""
    counts = rows_of_split(own, task, settings)
    if isinstance(counts, str):
        return [f"{here}.split: {counts}"]
    of_entries = [
        (i, rows_of_split(own | {"split": merge(own.get("split") or {}, entry["split"])}, task, settings))
        for i, entry in entries_in(own)
        if "split" in entry
    ]
    wrong = [f".methods[{i}].split: {problem}" for i, problem in of_entries if isinstance(problem, str)]
    if wrong:
        return wrong
    n_train = min(counts[0], settings["max_rows"] or counts[0])
    most = n_train
    if own.get("search", {}).get("max_rows") and searched(own["search"]):
        most = min(most, own["search"]["max_rows"])
    found = []
    for where, name, options in learners_of_entries(own):
        n_folds = options.get("n_folds", 2)
        if n_folds > most:
            found.append(f"{where}.{name}.n_folds: {n_folds} folds of {most} training rows")
        missing = [key for key in (learners.facts(name)["grid"], "n_folds") if key not in options]
        found += [f"{where}.{name}: {key!r} is a required property" for key in missing]
    named = [(f".methods[{i}]", entry) for i, entry in entries_in(own)] + [(".search", own.get("search", {}))]
    for where, of in named:
        unknown = sorted(set(of.get("learners", {})) - set(own.get("learners", {})))
        found += [
            f"{where}.learners.{name}: the experiment has no such learner; {suggestion(name, own['learners'])}"
            for name in unknown
            if "learners" in own
        ]
    return found


def rows_of_split(own: dict, task: dict, settings: dict) -> tuple[int, int] | str:
    """Training and test rows of a repeat before any cap, or what is wrong with the split."""
    sizes_of = task
    if settings["data"] == "embedded" and "stand_in" in task:
        sizes_of = sizes_of_stand_in(task)
    n_train, n_test = sizes_of["n_train"], sizes_of["n_test"]
    total = sizes_of.get("n", n_train + n_test)
    how = {"rule": task["split"]} | (own.get("split") or {})
    beyond = [row for row in how.get("without", []) if row >= total]
    if beyond and settings["data"] != "embedded":  # a stand-in has fewer rows than its data
        return f"without: there is no row {beyond[0]}, the task has {total}"
    if how["rule"] == "published" and task["split"] != "published":
        return "the task has no published parts; its split is " + task["split"]
    without_effect = [key for key in ("n_train", "n_test") if key in how]
    if how["rule"] != "random" and without_effect:
        return f"{' and '.join(without_effect)} are of the rule random; the rule {how['rule']} does not look at them"
    if ("n_blocks" in how) != (how["rule"] in OF_BLOCKS):
        return f"n_blocks is of the rules {', '.join(OF_BLOCKS)}, and they need it"
    if how["rule"] in OF_BLOCKS:
        if how["n_blocks"] > total:
            return f"{how['n_blocks']} blocks of {total} rows"
        # as many blocks train as test, or one more
        n_train = total * ((how["n_blocks"] + 1) // 2) // how["n_blocks"]
        return n_train, total - n_train
    if how["rule"] == "half":
        return (total + 1) // 2, total // 2
    if how["rule"] == "random":
        n_train, n_test = how.get("n_train", n_train), how.get("n_test", n_test)
        if n_train + n_test > total:
            return f"{n_train} training and {n_test} test rows are more than the {total} there are"
    return n_train, n_test


def learners_of_entries(own: dict):
    """Triples of a place, a learner and its options: of an experiment on a data set, of the judge of its search, and of
    the entries that have some of their own.
    """
    for name, options in own.get("learners", {}).items():
        yield ".learners", name, options
    for name, options in own.get("search", {}).get("learners", {}).items():
        if name in own.get("learners", {}) and options is not None:
            yield ".search.learners", name, merge(own["learners"][name], options)
    for i, entry in entries_in(own):
        for name, options in entry.get("learners", {}).items():
            if name in own.get("learners", {}) and options is not None:
                yield f".methods[{i}].learners", name, merge(own["learners"][name], options)


def entries_in(own: dict):
    """Pairs of a position and the entry there, of those that an experiment runs on a data set."""
    return ((i, entry) for i, entry in enumerate(own["methods"]) if entry)


def parts(experiment: dict, settings: dict, tasks: dict):
    """Pairs of a place and what is built there, a mapping that ``study.trial`` understands."""
    # a kind that completes its kernels itself makes them itself
    own_kernels = defines(f"rfstudy.study.kinds.{experiment['kind']}", "kernels")
    if not own_kernels:
        yield ".kernel", {"what": "kernel", "kernel": experiment["kernel"]}
    for dataset in experiment["datasets"]:
        own, made = on_dataset(experiment, dataset), tasks[dataset].get("features_of")
        if made:
            sizes = {"d": tasks[made["task"]]["d"], "expected": tasks[dataset]["d"]}
            yield f".datasets.{dataset}", {"what": "extractor", "features_of": made} | sizes
        if "kernel" in experiment["datasets"][dataset]:
            yield f".datasets.{dataset}.kernel", {"what": "kernel", "kernel": own["kernel"]}
        stated_here = "preprocess" in experiment["datasets"][dataset]
        yield from parts_on(own, tasks[dataset], settings, f".datasets.{dataset}" if stated_here else "")
        if "grid" in own:
            yield ".grid", kind_part(own, repeats_of(experiment, settings), settings)
    if not kind_constant(experiment, "NEEDS_DATA"):
        entries = [without_own_options(entry, experiment["kind"]) for entry in experiment["methods"]]
        for i, entry in enumerate([] if own_kernels else entries):
            yield f".methods[{i}]", map_part(entry, experiment["kernel"], widest(experiment["grid"]))
        yield ".grid", kind_part(experiment, repeats_of(experiment, settings), settings)


def parts_on(own: dict, task: dict, settings: dict, of_steps: str):
    """``parts`` of an experiment on one data set; ``of_steps`` is where its preprocessing stands."""
    d, target, search = columns_of(task, settings), task["target"], own.get("search", {})
    step_lists = [(".search.preprocess", steps) for steps in search.get("preprocess", {}).get("grid", [])]
    step_lists += [(f"{of_steps}.preprocess", own["preprocess"])] if "preprocess" in own else []
    entries = [(f".methods[{i}]", entry) for i, entry in entries_in(own)]
    entries += standing_for_all(search)
    of_entries = [(f"{where}.preprocess", entry["preprocess"]) for where, entry in entries if "preprocess" in entry]
    n_train = min(rows_of_split(own, task, settings)[0], settings["max_rows"] or math.inf)
    for where, steps in step_lists + of_entries:
        yield where, {"what": "steps", "steps": steps, "d": d, "n_train": min(n_train, d)}
    if own.get("bandwidth"):
        yield ".bandwidth", {"what": "rule", "bandwidth": own["bandwidth"], "n_train": n_train}
    for where, name, options in learners_of_entries(own):
        yield f"{where}.{name}", {"what": "learner", "learner": name, "options": options, "target": target}
    for metric in own.get("scores") or []:
        yield ".scores", {"what": "scores", "metric": metric, "target": target}
    for where, entry in entries:
        if "kernel" in entry:
            yield f"{where}.kernel", {"what": "kernel", "kernel": entry["kernel"]}
        wanted = wanted_sizes(own.get("sizes", {}), None, entry.get("only_sizes", ()))
        grid = {"sizes": wanted, "d": d} if "sizes" in own else widest(own.get("grid", {}))
        for options in options_in(entry, search):
            laid = without_own_options(entry | {"options": merge(entry["options"], options)}, own["kind"])
            for _, steps in [("", entry["preprocess"])] if "preprocess" in entry else step_lists:
                yield where, map_part(laid, entry.get("kernel", own["kernel"]), grid, steps)


def options_in(entry: dict, search: dict) -> list[dict]:
    """What is laid over the options of an entry: what a search tries, and the values that the entry walks."""
    walk = entry.get("walk", {"values": []})
    tried = options_tried(search, entry["method"]) + [{walk["option"]: value} for value in walk["values"]]
    return tried or [{}]


def map_part(entry: dict, kernel: dict, sizes, steps=()) -> dict:
    """The map of an entry at its sizes: a number, or those of an accuracy grid on d columns behind some steps."""
    widths = {"steps": steps} if isinstance(sizes, dict) and any(changes_columns(step) for step in steps) else {}
    what = {"what": "map", "method": entry["method"], "options": entry["options"], "kernel": kernel}
    return what | {"sizes": sizes} | widths


def kind_part(experiment: dict, repeats: list[int], settings: dict) -> dict:
    """The cells of an experiment that is no accuracy grid, as a whole or as it is on a data set."""
    entries = [without_own_options(entry, experiment["kind"]) for entry in filter(None, experiment["methods"])]
    told = {"kernel": experiment["kernel"], "methods": entries, "grid": experiment["grid"], "repeats": repeats}
    told |= {key: experiment.get(key) for key in OF_DATA} | {"seed": settings["seed"], "device": "cpu"}
    return {"what": "kind", "kind": experiment["kind"], "spec": told}


def without_own_options(entry: dict, kind: str) -> dict:
    """An entry without the options that its kind takes for itself."""
    of_kind = constant_or(f"rfstudy.study.kinds.{kind}", "OPTIONS", {})
    return entry | {"options": {key: value for key, value in entry["options"].items() if key not in of_kind}}


def changes_columns(step) -> bool:
    """Whether a preprocessing step leaves another number of columns: its file says so."""
    return defines(f"rfstudy.data.steps.{step_of(step)[0]}", "columns")


def columns_of(task: dict, settings: dict) -> int:
    """The columns of a task's data, or of what stands in for it."""
    return task.get("stand_in", {}).get("d", task["d"]) if settings["data"] == "embedded" else task["d"]


def widest(grid: dict) -> int:
    """The largest number of features in a grid, 1 where it names none."""
    named = grid.get("n_features", 1)
    return max(named) if isinstance(named, list) else named
