"""What there is to draw: from the entries of ``config/figures`` to one specification per output.

An entry names the experiment of each protocol it can be drawn for; every protocol gives a specification of its own,
and the files it makes are named after the entry and the protocol (``figure-09-text.pdf``). The workflow asks for
those names while it is parsed, so this module needs nothing but the standard library.
"""

from functools import cache
from pathlib import Path

#: Endings of the files that one output consists of: the output itself, and what is said of it.
ENDINGS = {"figures": ("pdf", "png", "txt"), "tables": ("csv", "md", "tex", "txt")}

#: Where the kinds of a form stand: a file a kind.
FOLDERS = {"tables": "tables", "figures": "plots"}

#: The kinds that compare every printed number with ours: what the report shows first.
SCORECARD = ("scorecard", "printed")


@cache
def kinds() -> dict[str, str]:
    """Return the form ("tables" or "figures") of every kind, found by the names of their files."""
    here = Path(__file__).parent
    return {
        path.stem: form
        for form, folder in FOLDERS.items()
        for path in sorted((here / folder).glob("*.py"))
        if path.stem != "__init__"
    }


def module_of(kind: str) -> str:
    """Return where the code of a kind stands, as a full name."""
    return f"rfstudy.report.{FOLDERS[kinds()[kind]]}.{kind}"


def modules_of(spec: dict) -> list[str]:
    """Return the modules that make an output: that of its kind, and the paper's claims if it is a table of claims."""
    own = Path(__file__).parent / "claims" / f"{spec['paper']}.py"
    return [
        module_of(spec["kind"]),
        *([f"rfstudy.report.claims.{spec['paper']}"] if "claims" in spec and own.exists() else []),
    ]


def specifications(by_paper: dict[str, dict[str, dict]]) -> list[dict]:
    """Return one dict per output and protocol, in the order of the papers' entries.

    ``by_paper`` holds the entries of a paper by their ids. A specification is its entry, with ``paper``, ``id`` and
    ``form`` ("figures" or "tables"), and in place of ``experiments`` the ``protocol``, the ``experiments`` of that
    protocol (a list) and ``name``, the stem of its files.
    """
    form_of = kinds()
    return [
        entry
        | {"paper": paper, "id": identifier, "form": form_of[entry["kind"]], "protocol": protocol}
        | {"experiments": listed(experiments), "name": f"{identifier}-{protocol}"}
        for paper, entries in by_paper.items()
        for identifier, entry in entries.items()
        for protocol, experiments in entry["experiments"].items()
    ]


def listed(experiments: str | list[str] | None) -> list[str]:
    """Return the experiments whose rows an output is made from: one, several or, of an output without rows, none."""
    return [experiments] if isinstance(experiments, str) else list(experiments or [])


def specification(reports: list[dict], paper: str, name: str) -> dict:
    """Return the specification of one output, e.g. ``("survey", "figure-09-text")``; ``ValueError`` lists the names."""
    of_paper = {spec["name"]: spec for spec in reports if spec["paper"] == paper}
    if name not in of_paper:
        raise ValueError(f"paper {paper!r} has no {name!r}; it has: {', '.join(of_paper) or 'nothing'}")
    return of_paper[name]


def outputs(spec: dict) -> list[str]:
    """Return names of the files that a specification is written to."""
    return [f"{spec['name']}.{ending}" for ending in ENDINGS[spec["form"]]]
