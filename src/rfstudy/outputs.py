"""The outputs of the study: entries of ``config/figures``, and which of them a run can draw into which files.

An entry gives one specification, and one set of files, for every protocol that it names an experiment of. Experiments,
data sets, sizes, learners and metrics in an entry are checked here, so a typo is an error before anything is computed.

A *collection* is what can be drawn from one set of rows: those of a preset, or "measured", the rows that ship with the
repository.
"""

import csv
import re
from pathlib import Path

from random_features.learners import entry as learners
from rfstudy.files import read_yaml, shown, yaml_files
from rfstudy.metrics import FACTS
from rfstudy.models import literal, problems_of, suggestion
from rfstudy.output_models import Scorecard, arguments_of, problems_of_output
from rfstudy.report import catalogue
from rfstudy.study.config import MEASURED, NAME, ConfigurationError, extended
from rfstudy.study.experiment import kernels_of, module_of
from rfstudy.study.job import kernel_id, sizes

#: The parts of the report, sorted by name: the comparison of published numbers with ours, then the papers.
SCORECARD = "1 Scorecard"
CATEGORIES = {
    "survey": "2 Survey (Liu et al. 2021)",
    "eerf": "3 EERF (Shahrampour et al. 2018)",
    "nsrf": "4 NSRF (Bullins et al. 2018)",
    "slsrff": "5 SLS-RFF (Liu et al. 2020)",
    "study": "6 The library",
}

#: Keys of an entry that hold ids of methods.
OF_METHODS = ("methods", "baselines")


def load_reports(config_dir: Path, experiments: dict[str, dict], styles: dict, tasks: dict) -> list[dict]:
    """The specifications of all tables and figures (``catalogue.specifications``).

    ``experiments`` are all that are configured, by name; ``styles`` and ``tasks`` the parsed registries.
    ``ConfigurationError`` names file, entry and key of everything that is wrong.
    """
    problems, by_paper = [], {}
    for path in yaml_files(Path(config_dir) / "figures"):
        where = f"{path.parent.parent.name}/figures/{path.name}"
        raw = read_yaml(path)
        entries = extended(raw, "output", lambda base, own: without_nulls(base | own), lambda name, at=where: f"{at}: ")
        found = {
            name: ([] if re.fullmatch(NAME, name) else [": its name has lower-case letters, digits and hyphens only"])
            or problems_of_output(entry)
            or problems_with(entry, experiments, styles, tasks)
            or (unknown(entry, "claims", claims_of(config_dir, path.stem), "") if "claims" in entry else [])
            for name, entry in entries.items()
        }  # fmt: skip
        problems += [f"{where}: {name}{problem}" for name, of_entry in found.items() for problem in of_entry]
        by_paper[path.stem] = entries
    scorecard, of_scorecard = load_scorecard(config_dir, experiments, styles)
    problems += of_scorecard
    if problems:
        raise ConfigurationError("\n".join(problems))
    numbers = {paper: {"scorecard": scorecard.get(paper, {"numbers": []})} for paper in by_paper}
    return [
        spec | (numbers[spec["paper"]] if "scorecard" in arguments_of(spec["kind"]) else {})
        for spec in catalogue.specifications(by_paper)
    ]


def load_scorecard(config_dir: Path, experiments: dict[str, dict], styles: dict) -> tuple[dict, list[str]]:
    """Where the printed numbers are measured (``scorecard.yaml``), and what is wrong with it."""
    scorecard = read_yaml(Path(config_dir) / "scorecard.yaml")
    where = f"{Path(config_dir).name}/scorecard.yaml"
    problems = [f"{where}: {paper}{p}" for paper, entry in scorecard.items() for p in problems_of(Scorecard, entry)]
    numbers = [] if problems else [(paper, each) for paper, of in scorecard.items() for each in of["numbers"]]
    for paper, entry in numbers:
        named = [("", "experiment", name, experiments) for name in entry.get("experiments", {}).values()]
        for metric, how in entry["metrics"].items() if named else ():
            known = {"learner": learners.known(), "over": styles}
            named += [(f", {metric}", key, how[key], of) for key, of in known.items() if key in how]
        problems += [
            f"{where}: {paper}, {entry['table']}{place}: there is no {what} {name!r}; {suggestion(name, known)}"
            for place, what, name, known in named
            if name not in known
        ]
    return scorecard, problems


def claims_of(config_dir: Path, paper: str) -> set[str]:
    """The ids of a paper's claims in the reference data that stand beside the configuration."""
    reference = Path(config_dir).parent / "data" / "reference" / "claims.csv"
    try:
        with reference.open(encoding="utf-8", newline="") as stream:
            return {row["claim_id"] for row in csv.DictReader(stream) if row["paper"] == paper}
    except OSError as error:
        raise ConfigurationError(
            f"{shown(reference)}: cannot be read: {error.strerror}; it says what is claimed"
        ) from error


def without_nulls(entry: dict) -> dict:
    """An entry without the keys that an extension takes away."""
    return {key: value for key, value in entry.items() if value is not None}


def problems_with(entry: dict, experiments: dict[str, dict], styles: dict, tasks: dict) -> list[str]:
    """What an entry names that its experiments, or the registries, do not have."""
    found = []
    for protocol, named in entry["experiments"].items():
        names, where = catalogue.listed(named), f".experiments.{protocol}"
        absent = [name for name in names if name not in experiments]
        found += [f"{where}: there is no experiment {name!r}; {suggestion(name, experiments)}" for name in absent]
        if names and not absent:
            own = [experiments[name] for name in names]
            known = {"datasets": datasets_of(own), "sizes": labels_of(own)}
            found += [problem for key, of in known.items() if of for problem in unknown(entry, key, of, protocol)]
            known["kernels"] = {kernel_id(kernel) for each in own for kernel in kernels_of(each)}
            parts = {"": entry} | {f".panels[{i}]": panel for i, panel in enumerate(entry.get("panels", []))}
            found += [
                f"{part}.kernel: {of['kernel']!r} is no kernel of {where}; {suggestion(of['kernel'], known['kernels'])}"
                for part, of in parts.items()
                if of.get("kernel", "") not in {"", *known["kernels"]}
            ]
            found += problems_of_quantities(entry, own, "")
    for key in ("registered",) if entry.get("experiments") else ("registered", "datasets"):
        found += unknown(entry, key, set(tasks), "")
    for key in OF_METHODS:
        found += unknown(entry, key, set(styles), "")
    for position, panel in enumerate(entry.get("panels", [])):
        baseline = panel.get("against", "rff")
        if baseline not in styles:
            where = f".panels[{position}].against"
            found.append(f"{where}: {baseline!r} is none of the methods; {suggestion(baseline, styles)}")
    return list(dict.fromkeys(found))


def unknown(entry: dict, key: str, known: set[str], protocol: str) -> list[str]:
    """The values of a list of an entry that are not known, a line each."""
    of = f" of the experiment for {protocol}" if protocol else ""
    return [
        f".{key}[{position}]: {value!r} is none of the {key}{of}; {suggestion(value, known)}"
        for position, value in enumerate(entry.get(key, []))
        if value not in known
    ]


def datasets_of(experiments: list[dict]) -> set[str]:
    """The data sets of experiments; empty where they have none."""
    return {dataset for each in experiments for dataset in each.get("datasets", {})}


def labels_of(experiments: list[dict]) -> set[str]:
    """The labels of the sizes of experiments, of those too that one data set alone has; empty where they have none."""
    found = [each for experiment in experiments for each in (experiment, *(experiment.get("datasets") or {}).values())]
    return {label for each in found for _, label in sizes((each or {}).get("sizes") or {}, 1)}


def problems_of_quantities(part, experiments: list[dict], where: str) -> list[str]:
    """What is wrong with the quantities (mappings with a ``metric``) of an entry, wherever they stand in it."""
    if isinstance(part, list):
        inner = [(f"{where}[{i}]", each) for i, each in enumerate(part)]
    elif isinstance(part, dict):
        inner = [(f"{where}.{key}", each) for key, each in part.items()]
    else:
        return []
    found = []
    if isinstance(part, dict) and isinstance(part.get("metric"), str):
        metrics = set(FACTS).union(*(literal(module_of(e["kind"]), "METRICS", ()) for e in experiments))
        learners = {name for experiment in experiments for name in experiment.get("learners") or {}}
        for key, known in (("metric", metrics), ("learner", learners)):
            if key in part and part[key] not in known:
                found.append(f"{where}.{key}: there is no {key} {part[key]!r}; {suggestion(part[key], known)}")
    return found + [problem for place, each in inner for problem in problems_of_quantities(each, experiments, place)]


def drawable(specs: list[dict], experiments) -> list[dict]:
    """The outputs whose rows all come from these experiments."""
    return [spec for spec in specs if set(spec["experiments"]) <= set(experiments)]


def drawable_in_part(specs: list[dict], experiments) -> list[dict]:
    """The outputs that need no rows, or some of these experiments: what was not measured reads "not run" there."""
    return [spec for spec in specs if not spec["experiments"] or set(spec["experiments"]) & set(experiments)]


def results_of(collection: str, experiment: str) -> str:
    """The file of the rows that a collection has of an experiment."""
    if collection == MEASURED:
        return f"data/measured/{experiment}.csv.xz"
    return f"results/{collection}/{experiment}.csv"


def files_of(collection: str, spec: dict) -> list[str]:
    """The files of one table or figure."""
    return [f"figures/{collection}/{spec['paper']}/{name}" for name in catalogue.outputs(spec)]


def pages_of(collection: str, paper: str) -> str:
    """The folder of the pages that Snakemake's report shows of a paper."""
    return f"figures/{collection}/pages/{paper}"


def experiments_of(specs: list[dict]) -> list[str]:
    """The experiments whose rows some outputs are drawn from."""
    return list(dict.fromkeys(name for spec in specs for name in spec["experiments"]))


def category_of(spec: dict) -> str:
    """The part of the report that shows a table or figure."""
    return SCORECARD if spec["kind"] in catalogue.SCORECARD else CATEGORIES[spec["paper"]]
