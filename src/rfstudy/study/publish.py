"""Move finished real-data results into ``data/measured``: what the repository ships and redraws its figures from."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from rfstudy import tidy
from rfstudy.errors import UserError
from rfstudy.study.provenance import read_records, record_file, write_records


def run(results_file, out) -> None:
    """The stage: merge an experiment's rows into its published table, newer rows replacing older ones by key.

    Raises ``UserError`` for rows of stand-ins, for rows that uncommitted code computed and for times that were taken
    beside other work: none of them is a measurement that somebody else could repeat.
    """
    new = tidy.read(results_file)
    records = read_records(results_file)
    stand_ins = sorted(set(new.loc[new["stand_in"].ne(""), "dataset"]))
    if stand_ins:
        raise UserError(f"stand-ins are not published: {results_file} holds them for {', '.join(stand_ins)}")
    dirty = sorted(run for run, record in records.items() if record["uncommitted"])
    if dirty:
        raise UserError(
            f"uncommitted code computed rows of {results_file} (runs {', '.join(dirty[:5])}); commit, rerun"
        )
    contended = new[[bool(json.loads(settings or "{}").get("contended")) for settings in new["settings"]]]
    if len(contended):
        raise UserError(
            f"times of {results_file} were taken beside other work ({', '.join(sorted(set(contended['dataset'])))}, "
            f"{contended['at'].nunique()} rounds); run the rule time again on an idle machine (--forcerun time)"
        )
    # data that could not be had leave rows that no run computed: nothing was measured
    new = new[new["status"].ne("skipped") | new["run"].ne("")]
    out = Path(out)
    if out.exists():
        old = tidy.read(out)
        records = read_records(out) | records
        new = pd.concat([old, new], ignore_index=True).drop_duplicates(subset=list(tidy.KEY), keep="last")
    table = new.sort_values(list(tidy.KEY), kind="stable")
    used = set(table["run"])
    write_records({run: record for run, record in records.items() if run in used}, out)
    tidy.write(table, out)
    size = out.stat().st_size + record_file(out).stat().st_size
    print(f"{out}: {len(table)} rows, {size / 1e6:.2f} MB")
