"""The columns of the tidy table that an experiment, its data and its entries decide; no number is computed here."""

from random_features.errors import NotDefinedError
from rfstudy.study.job import NAMES, Part, kernel_id, own_kernel
from rfstudy.study.sample import Prepared


def base_row(spec: Part, data: Prepared | None) -> dict:
    """The columns that every row of a part shares."""
    return {
        "origin": "measured",
        **{name: getattr(spec, name) for name in NAMES},
        "dataset": spec.dataset,
        "stand_in": data.facts["stand_in"] if data else "",
        "kernel": kernel_id(spec.kernel),
        "seed": spec.seed,
        "status": "ok",
    }


def entry_columns(entry: dict) -> dict:
    """The columns that name an entry; the kernel only where it has one of its own."""
    of_kernel = {"kernel": own_kernel(entry)} if "kernel" in entry else {}
    return {"method": entry.get("method", ""), "variant": entry.get("variant", "")} | of_kernel


def status_of(error: Exception) -> str:
    """The status of a row without a value: "skipped" where a map or a learner is not defined, "failed" where a system
    of equations has no solution.
    """
    return "skipped" if isinstance(error, NotDefinedError) else "failed"


def skipped_row(spec: Part, data: Prepared, entry: dict, columns: dict) -> dict:
    """A row of an entry, with these columns, that says why there is no number: there are no data."""
    why = {"status": "skipped", "settings": {"reason": data.skipped}}
    return base_row(spec, data) | entry_columns(entry) | why | columns


def rows_of(shared: dict, values: dict[str, float]) -> list[dict]:
    """Return a row for each value, by its metric, with these columns."""
    return [shared | {"metric": metric, "value": float(value)} for metric, value in values.items()]
