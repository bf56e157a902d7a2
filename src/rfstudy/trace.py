"""Return the origin of a number: the measured rows behind it, the record of their run, and the command."""

import itertools
import re
import subprocess
from contextlib import suppress

import pandas as pd

from random_features.errors import UserError
from rfstudy.notebook import measured, shipped
from rfstudy.report.aggregate import CELL, summarise

#: Cells that are shown.
MOST = 10

#: Columns that tell cells apart for a reader.
NAMED = ("dataset", "kernel", "method", "variant", "n_features_label", "axis", "at", "learner", "split", "metric")


def trace(number: str, wanted: dict[str, str]) -> str:
    """Return the shipped cells with a mean, and the origin of each, as text.

    Parameters
    ----------
    number : the number as it is published, "84.9"; means that round to it are found. Empty for any.
    wanted : values of columns by name, which narrow the search

    Raises
    ------
    UserError
        If there is none, or if a column or an experiment does not exist.
    """
    rows = measured(**wanted)
    text = ""
    if number:
        text = number.replace("\N{MINUS SIGN}", "-").strip("% ")
        if not re.fullmatch(r"-?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?", text):
            raise UserError(f"{number!r} is no number such as 84.93 or 1,234: write it first, and then column=value")
        text = text.replace(",", "")
    cells = with_mean(rows, text)
    if cells.empty:
        these = " with " + " ".join(f"{key}={value}" for key, value in wanted.items()) if wanted else ""
        others = elsewhere(text, wanted)
        unfound = "published ones, differences, ranks, and errors of rows with accuracies are not found: name the cells"
        advice = f"it is one of {', '.join(others)}" if others else unfound
        raise UserError(f"no mean of shipped rows{these} is {number}: {advice}")
    blocks = [described(cell, rows) for cell in cells.head(MOST).to_dict("records")]
    if len(cells) > MOST:
        blocks.append(f"{len(cells) - MOST} more: add column=value, such as experiment=... or metric=...")
    return "\n\n".join(blocks)


def with_mean(rows, number: str):
    """Return the cells of rows whose mean rounds to a number, all for an empty one."""
    cells = summarise(rows[~rows["metric"].str.startswith("fact_")])
    return cells[cells["mean"].round(len(number.partition(".")[2])) == float(number)] if number else cells


def elsewhere(number: str, wanted: dict[str, str]) -> list[str]:
    """Return the other experiments of the same tables and figures that have a mean."""
    shared = [spec["experiments"] for spec in shipped().reports if wanted.get("experiment") in spec["experiments"]]
    found = []
    for other in dict.fromkeys(itertools.chain(*shared)):
        with suppress(UserError):
            found += [other] if len(with_mean(measured(**wanted | {"experiment": other}), number)) else []
    return found


def described(cell: dict, rows) -> str:
    """Return a cell and its origin as lines of text."""
    own = rows
    for column in CELL:
        own = own[own[column].eq(cell[column]) if has(cell[column]) else ~own[column].map(has)]
    experiment, preset = cell["experiment"], cell["preset"]
    spread = f"standard deviation {cell['std']:.3g}, {cell['n']} repeats" if cell["n"] > 1 else "1 repeat"
    lines = [
        f"{cell['mean']:.10g} ({spread})",
        f"  cell: experiment={experiment} " + " ".join(f"{name}={cell[name]}" for name in NAMED if has(cell[name])),
        f"  rows: data/measured/{experiment}.csv.xz",
    ]
    known = {run["run"]: run for run in shipped().runs(experiment)}
    runs = [known[each] for each in own["run"].unique()]
    for run in runs:
        machine = ", ".join(filter(None, (run["cpu"], f"{run['cores']} cores", run["gpu"])))
        started, commit = run["started"][:10], run["commit"][:10]
        lines.append(f"  run: {run['run']}, stage {run['stage']}, {started}, commit {commit}, {machine}")
    whole = f"results/{preset}/{experiment}"
    part = f".{cell['dataset']}" if len(shipped().experiments[experiment]["datasets"]) > 1 else ""
    again = f"snakemake --cores 1 --configfile config/presets/{preset}.yaml -- {whole}{part}.csv"
    older = f"; a commit without this target has {whole}.csv, of all data sets" if part else ""
    commits = dict.fromkeys(run["commit"] for run in runs)
    there = [commit[:10] for commit in commits if is_here(commit)]
    gone = [commit[:10] for commit in commits if commit[:10] not in there]
    lines.append(f"  again: {again}")
    if there:
        lines.append(f"  with the same code: first git checkout {' or '.join(there)}{older}")
    if gone:
        lines.append(f"  commit {' and '.join(gone)}: not in this clone, its branch was rewritten before it was merged")
    return "\n".join(lines)


def is_here(commit: str) -> bool:
    """Return whether the clone has a commit; a copy without a history is taken to have it."""
    asked = ["git", "-C", str(shipped().root), "cat-file", "-t", commit]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=60)
    except OSError:
        return True
    return answer.returncode == 0 or "not a git repository" in answer.stderr


def has(value) -> bool:
    """Return whether a column of a row has a value."""
    return not pd.isna(value) and value != ""
