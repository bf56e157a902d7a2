"""Write the table "How good is the advice?" of docs/your-own-data.md.

``python docs/advice.py --help`` shows the options. Each set has the rows of the study's task, from
``data/prepared/original``: ``snakemake --cores 2 --config data=original -- data/prepared/original/magic04/X.npy``.

A fifth of the rows, at least 2,000 and at most 10,000, is held back. ``compare`` gets a CSV file of the others. Each
contestant is then fitted to these with its best validated settings, and scored on the rows held back. Results are kept
in ``results/advice``, a file per set; the page shows all of them.
"""

import json
import os
import time
from pathlib import Path

from random_features.compare.command import PATIENCE

os.environ.update(PATIENCE | os.environ)

import click
import numpy as np
import pandas as pd

from random_features.compare import reading, recipe
from random_features.compare.contestants import is_map
from random_features.compare.decide import label, paired_interval
from random_features.compare.question import understand
from random_features.compare.run import compare
from random_features.machines import MOST_HELD

#: The sets, named before the first run.
SETS = (
    "magic04", "letter", "adult", "eeg", "cod-rna-training", "skin", "uci-kin40k", "uci-pol", "uci-bike", "uci-protein",
)  # fmt: skip
#: The margin, and the confidence of an interval of two standard errors.
MARGIN, TWO_ERRORS = 0.02, 0.9545
FOLDER, PAGE = Path("results/advice"), Path("docs/your-own-data.md")
HEAD = ("set", "minutes", "recommended", "score", "best map", "score", "best of all", "score", "worse")
START, END = "<!-- the table of docs/advice.py -->\n", "<!-- its end -->\n"


def measured(name: str, budget: str) -> dict:
    """Return the row of a set: the recommended contestant, the best map and the best contestant on rows held back."""
    X, y = (np.load(f"data/prepared/original/{name}/{part}.npy", allow_pickle=False) for part in ("X", "y"))
    order = np.random.default_rng(0).permutation(len(y))
    held, others = np.split(order, [min(max(2000, len(y) // 5), 10_000)])
    frame = pd.DataFrame(X).rename(columns="x{}".format).assign(target=y)
    file, whole = FOLDER / f"{name}.csv", FOLDER / f"{name}.all.csv"
    frame.iloc[others].to_csv(file, index=False)
    frame.iloc[np.concatenate([others, held])].to_csv(whole, index=False)
    started = time.monotonic()
    task = "regression" if y.dtype.kind == "f" else "classes"
    decision = compare(file, "target", out=FOLDER / name, budget=budget, margin=MARGIN, task=task)
    minutes = (time.monotonic() - started) / 60
    settings = understand(file, "target", task=task).settings
    table, y, *_ = recipe.question(reading.read(whole, settings["asked"]), settings)
    train, test = np.split(np.arange(len(y)), [len(others)])
    results = [each["result"] for each in decision.comparisons]
    most = max(result.unit.n for result in results)
    losses = []
    for unit, chosen, *_ in results:
        held = unit.name == "exact-kernel" and unit.n <= MOST_HELD
        rows = unit.n if unit.n < most else MOST_HELD if held else None
        some = recipe.sample(train, rows)
        fitted = recipe.fitted(table.iloc[some], y[some], settings, unit.name, chosen)
        P = recipe.predicted(fitted, table.iloc[test], settings["classes"])
        losses.append(recipe.losses(P, y[test], settings["metric"]))
    means = [each.mean() for each in losses]
    maps = [i for i, result in enumerate(results) if is_map(result.unit.name)]
    recommended = next(i for i, result in enumerate(results) if result is decision.chosen)
    best, best_map = int(np.argmin(means)), min(maps, key=means.__getitem__)
    difference, half = paired_interval(losses[recommended], losses[best], np.arange(len(test)), TWO_ERRORS)
    shown = [
        [label(results[i]), float(recipe.score(losses[i], settings["metric"]))] for i in (recommended, best_map, best)
    ]
    worse = [difference / means[best], half / means[best]] if difference else [0.0, 0.0]
    return {"set": name, "minutes": round(minutes, 1), "columns": shown, "worse": worse, "kind": decision.kind}


def written() -> None:
    """Write the rows of all finished sets into the page."""
    files = [FOLDER / f"{name}.json" for name in SETS]
    rows = [json.loads(path.read_text("utf-8")) for path in files if path.exists()]
    lines = [HEAD, ["---"] * len(HEAD)]
    for row in rows:
        pairs = [cell for who, score in row["columns"] for cell in (who, f"{score:.3g}")]
        difference, half = row["worse"]
        worse = f"{100 * difference:.0f} % ± {100 * half:.0f} %" if difference else "0 (it is the best)"
        pairs[0] += " (undecided)" * (row["kind"] == "undecided")
        lines.append([row["set"].removeprefix("uci-"), row["minutes"], *pairs, worse])
    within = sum(row["worse"][0] <= MARGIN for row in rows)
    table = "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)
    words = f"sets the loss of the recommended contestant is at most {100 * MARGIN:g} % above the loss of the best."
    table += f"\nOn {within} of {len(rows)} {words}\n"
    before, rest = PAGE.read_text("utf-8").split(START)
    PAGE.write_text(f"{before}{START}{table}{END}{rest.split(END)[1]}", "utf-8")


@click.command()
@click.argument("sets", nargs=-1, metavar="[SET]...", type=click.Choice(SETS))
@click.option("--budget", default="2m", show_default=True, help="Time for each set.")
def main(sets, budget):
    """Compare each SET, all by default, and write the table of all finished ones into docs/your-own-data.md."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sets or SETS:
        row = measured(name, budget)
        (FOLDER / f"{name}.json").write_text(json.dumps(row), "utf-8")
    written()


if __name__ == "__main__":
    main()
