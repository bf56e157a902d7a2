"""Tests of claims of Liu et al. (AAAI 2020) that fit no form."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import select
from rfstudy.report.claims.compared import Names, chosen
from rfstudy.report.claims.points import Point
from rfstudy.report.requirements import features_needed, told_size

#: slsrff-19: bytes of a double, and of the paper's memory (16 GiB).
DOUBLE, MEMORY = 8, 16 * 2**30

#: slsrff-23: the readings of both methods that are held against each other, as the theorems have it first.
READINGS = {"whole": "drawn from the whole law", "": "drawn from a pool of s"}


def memory(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The training matrix in double precision, n x 2s, fits into memory at 16d and not at 32d.

    Where it fits at 32d as well, nothing is shown: what else the code holds, and so its peak, is not known.
    """
    found = select(chosen(rows, test["select"]), method="rff", metric="accuracy_pct")
    if not len(found):
        return []
    first = found.iloc[0]
    columns = first["d"] * first["n_columns"] / first["n_features"]
    half, full = (float(first["n_train"] * multiple * columns * DOUBLE) for multiple in (16, 32))
    told = (
        f"{first['n_train']} x {32 * columns:.0f} doubles at 32d: {full:.3g} bytes of {MEMORY:.4g}, {half:.3g} at 16d"
    )
    aside = "it fits, and what else the code holds is not known" if full <= MEMORY else ""
    where = {"dataset": first["dataset"]}
    return [Point(full - MEMORY, 0.0, bool(half <= MEMORY < full), where=where, told=told, aside=aside)]


REQUIRED_FEATURES = {"properties": {"variant": {"enum": ["", "whole"]}}}


def required_features(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The surrogate needs at least as many features as exact leverage sampling, at every decay and n.

    The claim compares bounds; this is what they bound, with frequencies drawn from the whole law, as in the theorems,
    where they were measured, or as the ``variant`` of the test has it. A need beyond the largest size is
    at least any other; where both are, the grid cuts them off.
    """
    needed = features_needed(rows)
    variant = test.get("variant", "whole" if "whole" in set(needed["variant"]) else "")
    pair = [select(needed, method=method, variant=variant) for method in ("slsrff", "lsrff")]
    both = pair[0].merge(pair[1], on=["decay", "n"], suffixes=("", "_exact"))
    label = "/".join(names.method((method, "")) for method in ("slsrff", "lsrff"))
    found = []
    for row in both.sort_values("n", kind="stable").to_dict("records"):
        own, exact = (np.inf if np.isnan(row[name]) else row[name] for name in ("s", "s_exact"))
        told = f"{told_size(row['s'], row['largest'])}/{told_size(row['s_exact'], row['largest_exact'])}"
        found.append(
            Point(
                difference=0.0 if own == exact else own - exact,
                margin=0.0,
                holds=bool(own >= exact),
                where={"n_train": row["n"]},
                what=f"{label} {READINGS[variant]}, {row['decay']}",
                told=told,
                aside="cut off by the grid" if np.isinf(own) and np.isinf(exact) else "",
            )
        )
    return found
