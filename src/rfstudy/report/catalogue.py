"""The outputs to draw: from the entries of ``config/figures`` to one specification per output.

An entry names the experiment of each protocol it can be drawn for. Every protocol gives a specification of its own,
and its files are named after the entry and the protocol (``figure-09-text.pdf``). The workflow asks for
those names while it is parsed, so this module needs only the standard library.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from random_features.errors import UserError

#: A function at module level, up to the form that it returns: a hundred times as quick as a parsed file.
KIND = r"^def ([a-z]\w*)\((?:(?!^(?:def|class) )[\s\S])*?\) -> {}:"

#: Endings of the files of one output: the output itself, its caption and its notes.
ENDINGS = {"figures": ("pdf", "png", "csv", "txt"), "tables": ("csv", "md", "tex", "txt")}

#: The package of the kinds of a form, and the type that their functions return.
FORMS = {"tables": ("tables", "Table"), "figures": ("plots", "Picture")}

#: The kinds that compare every published number with ours; the report shows them first.
SCORECARD = ("scorecard", "printed")


@cache
def kinds() -> dict[str, tuple[str, str]]:
    """Return the form ("tables" or "figures") and the module of every kind, by its name.

    A kind is a function that returns the form, as its annotation states.
    """
    found = [
        (kind, (form, f"rfstudy.report.{folder}.{path.stem}"))
        for form, (folder, returned) in FORMS.items()
        for path in sorted((Path(__file__).parent / folder).glob("[a-z]*.py"))
        for kind in re.findall(KIND.format(returned), path.read_text("utf-8"), re.MULTILINE)
    ]
    if twice := [kind for kind, times in Counter(kind for kind, _ in found).items() if times > 1]:
        raise UserError(f"two files of report/tables and report/plots have a kind {twice[0]}: give one another name")
    return dict(found)


def file_of(kind: str) -> Path:
    """Return the file with the function of a kind."""
    _, folder, name = kinds()[kind][1].rsplit(".", 2)
    return Path(__file__).parent / folder / f"{name}.py"


def modules_of(spec: dict) -> list[str]:
    """Return the modules that make an output: the module of its kind and, for a table of claims, the paper's claims."""
    own = Path(__file__).parent / "claims" / f"{spec['paper']}.py"
    claims = [f"rfstudy.report.claims.{spec['paper']}"] if "claims" in spec and own.exists() else []
    return [kinds()[spec["kind"]][1], *claims]


def specifications(by_paper: dict[str, dict[str, dict]]) -> list[dict]:
    """Return one dict per output and protocol, in the order of the papers' entries.

    ``by_paper`` holds the entries of a paper by their ids. A specification is its entry, with ``paper``, ``id`` and
    ``form`` ("figures" or "tables"), and in place of ``experiments`` the ``protocol``, the ``experiments`` of that
    protocol (a list) and ``name``, the stem of its files.
    """
    return [
        entry
        | {"paper": paper, "id": identifier, "form": kinds()[entry["kind"]][0], "protocol": protocol}
        | {"experiments": as_list(experiments), "name": f"{identifier}-{protocol}"}
        for paper, entries in by_paper.items()
        for identifier, entry in entries.items()
        for protocol, experiments in entry["experiments"].items()
    ]


def as_list(value) -> list:
    """Return a value, or the values of any container but a dict, as a list without repeats; None has no value."""
    if value is None or isinstance(value, str | dict) or not isinstance(value, Iterable):
        return [] if value is None else [value]
    return list({repr(each): each for each in value}.values())


def specification(reports: list[dict], paper: str, name: str) -> dict:
    """Return the specification of one output, e.g. ``("survey", "figure-09-text")``; ``ValueError`` lists the names."""
    of_paper = {spec["name"]: spec for spec in reports if spec["paper"] == paper}
    if name not in of_paper:
        raise ValueError(f"paper {paper!r} has no {name!r}; it has: {', '.join(of_paper) or 'nothing'}")
    return of_paper[name]


def selected(spec: dict, key: str, kept: list[str]) -> dict:
    """Return a specification with some of its methods or data sets; controls and panels of other methods go."""
    spec = spec | {key: kept}
    if key == "methods" and spec.get("controls"):
        spec["controls"] = [each for each in spec["controls"] if each["method"] in kept]
    if key == "methods" and any("methods" in panel for panel in spec.get("panels") or []):
        own = [panel | {key: [each for each in kept if each in panel[key]]} for panel in spec["panels"]]
        spec["panels"] = [panel for panel in own if panel[key]]
    return spec


def outputs(spec: dict) -> list[str]:
    """Return the names of the files that a specification is written to."""
    return [f"{spec['name']}.{ending}" for ending in ENDINGS[spec["form"]]]
