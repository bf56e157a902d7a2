"""Freeze the leaderboard of the arena, and draw its page.

Usage: ``python docs/leaderboard.py``. It writes data/leaderboard.csv, the errors of all maps on all data sets of the
arena with today's date. From that file alone it draws docs/arena.html, a page that needs no network and no other file,
and the table at the top of docs/arena.md. ``python docs/leaderboard.py page`` draws both from the frozen file.
"""

import json
import sys
from datetime import date
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd

from rfstudy.render import Shipped
from rfstudy.report import arena
from rfstudy.report.tables.arena import reach_of

ROOT = Path(__file__).resolve().parents[1]
FROZEN, PAGE = ROOT / "data" / "leaderboard.csv", ROOT / "docs" / "arena.html"
PROTOCOL = ROOT / "docs" / "arena.md"
START, END = "<!-- the table of docs/leaderboard.py -->\n", "<!-- its end -->\n"
#: Numbers of columns in the table.
SHOWN = (64, 256, 1024)
OUTPUTS = ("arena-tuned", "arena-confirmation-tuned")


def leaderboard(shipped: Shipped) -> pd.DataFrame:
    """Return a row per data set, number of columns (0 of predictors without a map) and entry: its error in percent, and
    the change relative to RFF with as many columns in percent, with the 95 % interval of the data set.
    """
    found = []
    specs = {spec["name"]: spec for spec in shipped.reports if spec["paper"] == "study"}
    for spec in (specs[name] for name in OUTPUTS if name in specs):
        context = shipped.context(*spec["experiments"])
        results = arena.results_of(context, spec["datasets"], spec["baseline"], spec["quantity"])
        errors = pd.Series(arena.errors_in_percent(results), name="error_pct", dtype=float).dropna()
        if errors.empty:
            continue
        cells = errors.rename_axis(["dataset", "columns", "method", "variant"]).reset_index()
        sizes = results.rows.groupby("dataset")[["d", "n_train"]].first().astype(int).reset_index()
        cells = cells.merge(sizes).merge(results.flaws[["dataset", "flags"]])
        cells["task"] = cells["dataset"].map(results.kinds)
        draws = results.errors.groupby([*arena.EFFECT, "columns"])["draw"].nunique().rename("draws").reset_index()
        effects = [results.effects([at], "all").assign(columns=at) for at in results.errors["columns"].unique()]
        known = pd.concat(effects)
        half = reach_of(known["variance"].astype(float), known["folds"].astype(float))
        for name, ends in {"change_pct": 0, "low_pct": -half, "high_pct": half}.items():
            known[name] = 100 * np.expm1((known["effect"].astype(float) + ends).clip(upper=7))
        known = known[[*arena.EFFECT, "columns", "change_pct", "low_pct", "high_pct"]]
        found.append(cells.merge(known, how="left").merge(draws, how="left"))
    table = pd.concat(found)
    labels = [
        shipped.context().label(*who) if at else who[0].replace("_", " ")
        for at, *who in table[["columns", "method", "variant"]].itertuples(index=False)
    ]
    numbers = {name: table[name].map("{:.4g}".format, na_action="ignore") for name in table if name.endswith("_pct")}
    return table.assign(date=date.today().isoformat(), map=labels, draws=table["draws"].astype("Int64"), **numbers)


def page(frozen: pd.DataFrame) -> str:
    """Return the page of a frozen leaderboard."""
    sets = {}
    for name, own in frozen.groupby("dataset", sort=False):
        first = own.iloc[0]
        maps, yardsticks = own[own["columns"] > 0], own[own["columns"] == 0]
        curves = {
            label: {int(row.columns): [row.error_pct, row.low_pct, row.high_pct] for row in rows.itertuples()}
            for label, rows in maps.groupby("map", sort=False)
        }
        sets[name] = {"task": first["task"], "n": int(first["n_train"]), "d": int(first["d"]), "maps": curves} | {
            "flags": "" if pd.isna(first["flags"]) else first["flags"],
            "without": dict(zip(yardsticks["map"], yardsticks["error_pct"], strict=True)),
        }
    data = json.dumps(sets, separators=(",", ":")).replace("NaN", "null")
    template = jinja2.Template((ROOT / "docs" / "arena.html.j2").read_text(encoding="utf-8"), trim_blocks=True)
    return template.render(data=data, date=frozen["date"].iloc[0], sets=len(sets))


def table(frozen: pd.DataFrame) -> str:
    """Return the typical change of each map on the first 29 sets, without the flagged, as Markdown."""
    exploratory = ~frozen["dataset"].str.startswith("tab-")
    own = frozen[exploratory & frozen["flags"].isna() & frozen["columns"].isin(SHOWN) & frozen["change_pct"].notna()]
    sets = own.groupby("columns")["dataset"].nunique()
    rows = {}
    for (label, at), cells in own.groupby(["map", "columns"], sort=False):
        if len(cells) >= arena.LEAST_SETS:
            typical = arena.typical(np.log1p(cells["change_pct"] / 100))
            rows.setdefault(label, {})[at] = [100 * np.expm1(each) for each in typical[:3]]
    rows = sorted(rows.items(), key=lambda row: row[1].get(SHOWN[1], [np.inf])[0])
    lines = [["map", *(f"D = {at:,} ({sets[at]} sets)" for at in SHOWN)], ["---"] * (len(SHOWN) + 1)]
    for label, found in rows:
        cells = [found.get(at) for at in SHOWN]
        lines.append([label, *("{:+.0f} ({:+.0f} to {:+.0f})".format(*each) if each else "" for each in cells)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def written(protocol: str, frozen: pd.DataFrame) -> str:
    """Return the text of the protocol with the table of a frozen leaderboard."""
    before, rest = protocol.split(START)
    return f"{before}{START}{table(frozen)}{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    if sys.argv[1:] != ["page"]:
        columns = [
            "date", "dataset", "task", "n_train", "d", "flags", "columns", "method", "variant", "map", "draws",
            "error_pct", "change_pct", "low_pct", "high_pct",
        ]  # fmt: skip
        leaderboard(Shipped(ROOT))[columns].to_csv(FROZEN, index=False, lineterminator="\n")
    frozen = pd.read_csv(FROZEN)
    PAGE.write_text(page(frozen), encoding="utf-8")
    PROTOCOL.write_text(written(PROTOCOL.read_text("utf-8"), frozen), encoding="utf-8")
