"""The outputs of the study: the entries of ``config/figures``, those that a run can draw, and their files.

An entry gives one specification, and one set of files, for every protocol for which it names an experiment.
Experiments, data sets, sizes, learners and metrics in an entry are checked here, so a typo is an error before anything
is computed.

A *collection* holds the outputs that can be drawn from one set of rows: the rows of a preset, or "measured", the rows
that ship with the repository.
"""

import csv
import os
import re
import sys
import textwrap
from collections import Counter
from pathlib import Path

from random_features.errors import nearest
from rfstudy.data import registry as data_registry
from rfstudy.data.entries import over
from rfstudy.data.tasks import without
from rfstudy.fields import FORM_OF_NAME, NAME
from rfstudy.files import ConfigurationError, extended, read_yaml, shown, yaml_files
from rfstudy.metrics import FACTS
from rfstudy.models import problems_of, suggestion
from rfstudy.output_models import Scorecard, arguments_of, problems_of_output
from rfstudy.planning.config import MEASURED, YOURS, load_experiments, load_methods, size_labels, stop_at
from rfstudy.planning.jobs import Jobs
from rfstudy.planning.plan import kernels_of
from rfstudy.report import catalogue
from rfstudy.study.job import kernel_id
from rfstudy.study.kinds.registry import KINDS

#: The parts of the report, sorted by name: the arena, the comparison of published numbers with ours, then the papers.
ARENA, SCORECARD = "1 Arena", "2 Scorecard"
CATEGORIES = {
    "survey": "3 Survey (Liu et al. 2021)",
    "eerf": "4 EERF (Shahrampour et al. 2018)",
    "nsrf": "5 NSRF (Bullins et al. 2018)",
    "slsrff": "6 SLS-RFF (Liu et al. 2020)",
    "study": "7 The library",
}


#: What follows the name of an output whose protocol a run changes, or of which it shows a part, and the characters of
#: the words after it.
CHANGED, PART, LONGEST = "-with-", "-only-", 40


def configured(config_dir: Path) -> tuple[dict, dict, dict, list[dict]]:
    """Return all that a folder configures: its tasks, the styles of its methods, its experiments and its outputs."""
    tasks, styles = data_registry.load(config_dir).tasks, load_methods(config_dir)
    experiments = load_experiments(config_dir, set(tasks))
    return tasks, styles, experiments, load_reports(config_dir, experiments, styles, tasks)


def load_reports(config_dir: Path, experiments: dict[str, dict], styles: dict, tasks: dict) -> list[dict]:
    """Return the specifications of all tables and figures (``catalogue.specifications``).

    ``experiments`` are all that are configured, by name; ``styles`` and ``tasks`` the parsed registries. Raise
    ``ConfigurationError``, with file, entry and key of every problem.
    """
    problems, by_paper, ids = [], {}, {"experiments": experiments, "styles": styles, "tasks": tasks}
    for path in yaml_files(Path(config_dir) / "figures"):
        where = f"{path.parent.parent.name}/figures/{path.name}"
        entries = extended(read_yaml(path), "output", over, lambda name, at=where: f"{at}: ")
        has_claims = any("claims" in entry for entry in entries.values())
        claims = ids_of_claims(config_dir, path.stem) if has_claims else None
        found = {
            name: ([] if re.fullmatch(NAME, name) else [f": its name has {FORM_OF_NAME}"])
            or problems_of_output(entry, **ids, claims=claims)
            or problems_with(entry, experiments)
            for name, entry in entries.items()
        }  # fmt: skip
        problems += [f"{where}: {name}{problem}" for name, of_entry in found.items() for problem in of_entry]
        by_paper[path.stem] = entries
    scorecard, where = read_yaml(Path(config_dir) / "scorecard.yaml"), f"{Path(config_dir).name}/scorecard.yaml"
    for paper, entry in scorecard.items():
        problems += [f"{where}: {paper}{problem}" for problem in problems_of(Scorecard, entry, **ids)]
    stop_at(problems)
    numbers = {paper: {"scorecard": scorecard.get(paper, {"numbers": []})} for paper in by_paper}
    return [
        spec | (numbers[spec["paper"]] if "scorecard" in arguments_of(spec["kind"]) else {})
        for spec in catalogue.specifications(by_paper)
    ]


def ids_of_claims(config_dir: Path, paper: str) -> set[str]:
    """Return the ids of a paper's claims in the reference data next to the configuration."""
    reference = Path(config_dir).parent / "data" / "reference" / "claims.csv"
    try:
        with reference.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except OSError as error:
        raise ConfigurationError(
            f"{shown(reference)}: cannot be read: {error.strerror}; it says what is claimed"
        ) from error
    times = Counter(row["claim_id"] for row in rows)
    for row in rows:
        where = f"{shown(reference)}: {row['claim_id']}"
        if None in row or None in row.values():
            raise ConfigurationError(f"{where}: another number of columns than in line 1: quote a text with a comma")
        if times[row["claim_id"]] > 1:
            raise ConfigurationError(f"{where} is there twice: give each claim an id of its own")
    return {row["claim_id"] for row in rows if row["paper"] == paper}


def problems_with(entry: dict, experiments: dict[str, dict]) -> list[str]:
    """Return the names in an entry that its experiments do not have, and the columns that its tests do not find."""
    labels = {column["label"] for column in entry.get("columns", [])}
    found = unknown({"tests": entry.get("tests", [])}, {"tests": labels}, " in columns")
    for protocol, named in entry["experiments"].items():
        if names := catalogue.as_list(named):
            of = known_of([experiments[name] for name in names])
            # ``about`` holds headings of a published table
            found += unknown(without(entry, "about"), of, f" in the experiment for {protocol}")
    return list(dict.fromkeys(found))


def unknown(part, known: dict, of: str, where: str = "", key: str = "") -> list[str]:
    """Return a line for each text of an entry, at any depth, that is not among those known for its key."""
    if isinstance(part, dict):
        # a learner without a metric belongs to a kind of experiment
        own = {name: each for name, each in part.items() if name != "learner" or "metric" in part}
        inner = [(f"{where}.{name}", name, each) for name, each in own.items()]
    elif isinstance(part, list):
        inner = [(f"{where}[{i}]", key, each) for i, each in enumerate(part)]
    else:
        is_known = not part or key not in known or part in known[key]
        return [] if is_known else [f"{where}: there is no {part!r}{of}; {suggestion(part, known[key])}"]
    return [problem for place, name, each in inner for problem in unknown(each, known, of, place, name)]


def known_of(experiments: list[dict]) -> dict[str, set[str]]:
    """Return the names that entries on experiments may use, by key. A key for which the experiments have no names
    allows any.
    """
    datasets = {dataset for each in experiments for dataset in each.get("datasets", {})}
    sizes = size_labels(experiments)
    known = {"datasets": datasets, "dataset": datasets, "sizes": sizes, "n_features_label": sizes}
    methods = {entry["method"] for each in experiments for entry in each["methods"]}
    return {key: of for key, of in known.items() if of} | {
        **dict.fromkeys(("method", "baseline", "baselines", "against"), methods),
        "kernel": {kernel_id(kernel) for each in experiments for kernel in kernels_of(each)},
        "metric": set(FACTS).union(*(KINDS[each["kind"]].metrics or () for each in experiments)),
        "learner": {name for each in experiments for name in each.get("learners") or {}},
    }


def drawable(specs: list[dict], experiments, left_out=()) -> list[dict]:
    """Return the outputs whose rows all come from these experiments, without those of experiments that are left out."""
    kept = [[name for name in spec["experiments"] if name not in left_out] for spec in specs]
    pairs = [(spec, own) for spec, own in zip(specs, kept, strict=True) if own or not spec["experiments"]]
    return [spec | {"experiments": own} for spec, own in pairs if set(own) <= set(experiments)]


def drawable_in_part(specs: list[dict], experiments) -> list[dict]:
    """Return the outputs that need no rows, or rows of some of these experiments. Missing measurements read "not run"
    there.
    """
    return [spec for spec in specs if not spec["experiments"] or set(spec["experiments"]) & set(experiments)]


def with_methods(spec: dict, own: list[str]) -> dict:
    """Return an output that shows methods of a run next to the shipped rows, after the methods that it lists."""
    listed = {"methods": list(dict.fromkeys([*spec["methods"], *own]))} if "methods" in spec else {}
    return spec | listed | {"yours": own}


def with_selection(spec: dict, settings: dict) -> dict | None:
    """Return an output of the shipped rows with the methods and data sets that a run selects, which its caption and its
    name state; None if it shows none of them. An output that lists neither stays as it is.
    """
    parts = []
    for key in ("methods", "datasets"):
        wanted = settings[f"only_{key}"]
        if wanted and key in spec and not set(spec[key]) <= set(wanted):
            if not (kept := [each for each in spec[key] if each in wanted]):
                return None
            spec = catalogue.selected(spec, key, kept) | {"caption": f"{spec['caption']} Only {', '.join(kept)}."}
            parts += kept
    return spec | {"name": f"{spec['name']}{PART}{'-'.join(parts)[:LONGEST].strip('-')}"} if parts else spec


def without_left_out(spec: dict, settings: dict) -> dict:
    """Return an output of a run whose caption states the methods, data sets and sizes that the run leaves out."""
    pairs = [(settings[f"only_{key}"], spec.get(key, [])) for key in ("methods", "datasets", "sizes")]
    left = [each for wanted, shown in pairs if wanted for each in shown if each not in wanted]
    return spec | {"caption": f"{spec['caption']} Left out of this run: {', '.join(left)}."} if left else spec


def with_changes(spec: dict, changes: dict[str, dict]) -> dict:
    """Return an output of a run whose caption and name state the changes of its experiments (``config.changes_in``)."""
    own = {key: value for name in spec["experiments"] for key, value in changes.get(name, {}).items()}
    if not own:
        return spec
    words = ", ".join(f"{'.'.join(key)} = {value}" for key, value in own.items())
    short = re.sub(r"[^a-z0-9.]+", "-", " ".join(f"{key[-1]} {value}" for key, value in own.items()).lower())
    name = f"{spec['name']}{CHANGED}{short[:LONGEST].strip('-.')}"
    on_picture = textwrap.shorten(", ".join(f"{key[-1]} = {value}" for key, value in own.items()), 100)
    return spec | {"name": name, "caption": f"{spec['caption']} Changed: {words}.", "changed": on_picture}


def results_of(collection: str, experiment: str) -> str:
    """Return the file with the rows of an experiment in a collection."""
    return f"data/measured/{experiment}.csv.xz" if collection == MEASURED else f"results/{collection}/{experiment}.csv"


def files_of(collection: str, spec: dict) -> list[str]:
    """Return the files of one table or figure."""
    return [f"figures/{collection}/{spec['paper']}/{name}" for name in catalogue.outputs(spec)]


def pages_of(collection: str, paper: str) -> str:
    """Return the folder of a paper's pages in Snakemake's report."""
    return f"figures/{collection}/pages/{paper}"


def category_of(spec: dict) -> str:
    """Return the part of the report that shows a table or figure."""
    if spec["paper"] == "study" and spec["id"].startswith("arena"):
        return ARENA
    return SCORECARD if spec["kind"] in catalogue.SCORECARD else CATEGORIES[spec["paper"]]


class Collections:
    """The tables and figures that a run can draw, and their jobs.

    Attributes
    ----------
    drawable : by collection, what can be drawn from its rows
    wanted : by collection, what is drawn if nothing is named
    one : the outputs that a job draws alone, by collection, paper and name
    """

    def __init__(self, reports: list[dict], jobs: Jobs, shipped: list[str]):
        self.jobs, self.shipped, self.preset = jobs, shipped, jobs.settings["preset"]
        whole = drawable_in_part(reports, shipped)
        found = [(spec, with_selection(spec, jobs.settings)) for spec in whole]
        measured = [part for _, part in found if part]
        self.parts = {(spec["paper"], spec["name"]): part for spec, part in found if part != spec}
        on_demand = {name for name in jobs.experiments if name not in jobs.asked_for}
        of_run = [with_changes(without_left_out(spec, jobs.settings), jobs.changes) for spec in reports]
        asked, every = drawable(of_run, jobs.asked_for, on_demand), drawable(of_run, jobs.experiments)
        named = {(spec["paper"], spec["name"]): spec for spec in every + asked}
        self.own = jobs.settings["only_methods"]
        yours = [with_methods(spec, self.own) for spec in whole if set(spec["experiments"]) & set(jobs.experiments)]
        every = [*measured, *(spec for spec, part in found if part != spec)]
        self.drawable = {self.preset: list(named.values()), MEASURED: every, YOURS: yours}
        self.wanted = {self.preset: asked, MEASURED: measured}
        self.one = {(name, each["paper"], each["name"]): each for name, of in self.drawable.items() for each in of}

    def asked(self, collection: str, specs: list[dict], **like):
        """Return the files of the outputs whose entries match; if none match, return a function that ends the run."""
        found = [spec for spec in specs if all(spec[key] == value for key, value in like.items())]
        return [path for spec in found for path in files_of(collection, spec)] or self.nothing_drawn(collection, like)

    def pages(self, collection: str, **like):
        """Return the pages of the report, one folder per paper: all its tables and figures are drawn with them."""
        papers = dict.fromkeys(spec["paper"] for spec in self.wanted[collection])
        found = [pages_of(collection, paper) for paper in papers if paper == like.get("paper", paper)]
        return found or self.nothing_drawn(collection, like)

    def nothing_drawn(self, collection: str, like: dict):
        """Return an input function that ends the workflow with a message."""
        what = "".join(f"{key}={value} " for key, value in like.items())
        message = (
            f"nothing to do: no table or figure {what}is drawn from {collection} rows of "
            f"{', '.join(self.jobs.experiments)} alone; ask for rows, e.g. "
            f"{results_of(self.preset, next(iter(self.jobs.experiments)))}"
        )
        return lambda wildcards: sys.exit(message)

    def not_drawn(self, collection: str, paper: str, name: str):
        """End the workflow with a message that names the output that this run draws instead of one that it does not."""
        folder = f"figures/{collection}/{paper}"
        here = [own for at, of, own in self.one if (at, of) == (collection, paper)]
        if changed := [own for own in here if own.startswith(name + CHANGED)]:
            sys.exit(f"{folder}/{name}: this run changes its protocol, which its name states: {folder}/{changed[0]}")
        near = "".join(f"; did you mean {folder}/{each}" for each in nearest(name, here))
        sys.exit(f"{folder}/{name}: this run has not all its experiments, and does not draw it{near}")

    def rows_behind(self, collection: str, specs: list[dict]) -> list[str]:
        """Return the files of the rows from which some outputs are drawn."""
        names = dict.fromkeys(name for spec in specs for name in spec["experiments"])
        return [results_of(collection, each) for each in names if collection != MEASURED or each in self.shipped]

    def rows_of_one(self, wildcards) -> list[str]:
        """Return the rows of one output: the rows of whole experiments if they exist, else of its own data sets."""
        collection, spec = wildcards.collection, self.one.get(tuple(wildcards)) or self.not_drawn(*wildcards)
        if collection == YOURS and not self.own:
            sys.exit(f"figures/{YOURS} needs the maps to measure: --config only_methods=<method>")
        shipped = self.rows_behind(MEASURED, [spec]) if collection in (MEASURED, YOURS) else []
        if collection == MEASURED:
            if part := self.parts.pop((spec["paper"], spec["name"]), None):  # say it once
                other = files_of(MEASURED, part)[0]
                print(f"{spec['name']} shows all methods and data sets; {other} shows those selected", file=sys.stderr)
            return shipped
        whole = {name: results_of(self.preset, name) for name in spec["experiments"] if name in self.jobs.experiments}
        own = [self.jobs.experiments[name] for name in whole]
        datasets = {dataset for each in own for dataset in each["datasets"]}
        for what, key, there in (("data sets", "datasets", datasets), ("sizes", "sizes", size_labels(own))):
            if there and there.isdisjoint(shown := spec.get(key, there)):
                place = f"figures/{collection}/{spec['paper']}/{spec['name']}"
                sys.exit(f"{place} shows the {what} {', '.join(shown)}: this run has none of them")
        parts = {name: results_of(self.preset, self.part_of(name, spec)) for name in whole}
        return shipped + [path if os.path.exists(path) else parts[name] for name, path in whole.items()]

    def part_of(self, name: str, spec: dict) -> str:
        """Return the part of an experiment that an output shows: its name, with its data sets if these are not all."""
        there = self.jobs.experiments[name]["datasets"]
        wanted = [dataset for dataset in there if dataset in spec.get("datasets", there)]
        return ".".join([name, *wanted]) if 0 < len(wanted) < len(there) else name

    def code_behind(self, specs: list[dict]) -> str:
        """Return the code that draws some outputs."""
        kinds = {module for spec in specs for module in catalogue.modules_of(spec)}
        return self.jobs.code_of("rfstudy.report.draw", "rfstudy.report.tables", "rfstudy.report.plots", *sorted(kinds))

    def draw_work(self, collection: str, specs: list[dict], input, pages: str | None = None) -> str:
        """Return the hash of the arguments of the ``run`` of ``draw`` for some outputs."""
        registries = {"methods": input.methods, "tasks": input.tasks, "reference": "data/reference"}
        written = {"out": f"figures/{collection}", "pages_dir": pages}
        work = {"stage": "draw", "entries": specs, "results": list(input.rows)}
        return self.jobs.work_hash([work | registries | written])
