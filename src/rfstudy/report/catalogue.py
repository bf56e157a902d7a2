"""What there is to draw: from the entries of ``config/figures.yaml`` to one specification per output.

An entry names the experiment of each protocol it can be drawn for; every protocol gives a specification of its own,
and the files it makes are named after the entry and the protocol (``figure-09-text.pdf``). The workflow asks for
those names while it is parsed, so this module needs nothing but the standard library.
"""

from __future__ import annotations

#: Endings of the files that one output consists of.
ENDINGS = {"figures": ("pdf", "png"), "tables": ("csv", "md", "tex")}


def specifications(catalogue: dict) -> list[dict]:
    """One dict per figure or table and protocol, in the order of the catalogue.

    ``catalogue`` is the parsed ``figures.yaml``: lists of entries under ``figures`` and ``tables``. A
    specification is its entry, in which ``experiments`` is replaced by ``protocol`` and ``experiment`` (a name, or a
    list of names where the output needs several), with ``form`` ("figures" or "tables") and ``name`` (the stem of its
    files) added. ``ValueError`` names a specification that exists twice.
    """
    found, seen = [], set()
    for form in ENDINGS:
        for entry in catalogue.get(form, []):
            shared = {key: value for key, value in entry.items() if key != "experiments"}
            for protocol, experiment in entry["experiments"].items():
                name = f"{entry['id']}-{protocol}"
                if (entry["paper"], name) in seen:
                    raise ValueError(f"{name} of paper {entry['paper']} is in the catalogue twice")
                seen.add((entry["paper"], name))
                found.append({**shared, "form": form, "protocol": protocol, "experiment": experiment, "name": name})
    return found


def experiments_of(spec: dict) -> list[str]:
    """The experiments whose rows an output is made from: the one of its protocol, or several."""
    return [spec["experiment"]] if isinstance(spec["experiment"], str) else list(spec["experiment"])


def specification(catalogue: dict, paper: str, name: str) -> dict:
    """The specification of one output, e.g. ``("survey", "figure-09-text")``; ``ValueError`` lists the names."""
    of_paper = {spec["name"]: spec for spec in specifications(catalogue) if spec["paper"] == paper}
    if name not in of_paper:
        raise ValueError(f"paper {paper!r} has no {name!r}; it has: {', '.join(of_paper) or 'nothing'}")
    return of_paper[name]


def outputs(spec: dict) -> list[str]:
    """Names of the files that a specification is written to."""
    return [f"{spec['name']}.{ending}" for ending in ENDINGS[spec["form"]]]
