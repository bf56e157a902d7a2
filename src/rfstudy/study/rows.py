"""The columns of the tidy table that an experiment, its data and its entries decide; no number is computed here."""

from __future__ import annotations

from rfstudy.study.code import constant
from rfstudy.study.plan import NAMES
from rfstudy.study.sample import Prepared


def base_row(spec: dict, data: Prepared | None) -> dict:
    """The columns that every row of a part shares."""
    return {
        "origin": "measured",
        **{key: spec[key] for key in NAMES},
        "dataset": spec["dataset"],
        "stand_in": data.facts["stand_in"] if data else "",
        "kernel": kernel_id(spec["kernel"]),
        "seed": spec["seed"],
        "status": "ok",
    }


def kernel_id(kernel: dict) -> str:
    """The id of a kernel as rows have it; of one that an experiment leaves open (a family), the name of the family.

    It is the ``name`` of the kernel object, read from ``KERNELS`` without an import of it.
    """
    try:
        return constant("kernels", "KERNELS")[kernel["name"]].get("id", kernel["name"]).format(**kernel)
    except KeyError:
        return kernel["name"]


def entry_columns(entry: dict) -> dict:
    """The columns that name an entry."""
    return {"method": entry.get("method", ""), "variant": entry.get("variant", "")}
