"""The columns of the tidy table that an entry and its values decide."""

from random_features.errors import NotDefinedError
from rfstudy.study.job import own_kernel


def entry_columns(entry: dict) -> dict:
    """Return the columns that name an entry; the kernel is included only if the entry has its own."""
    of_kernel = {"kernel": own_kernel(entry)} if "kernel" in entry else {}
    return {"method": entry.get("method", ""), "variant": entry.get("variant", "")} | of_kernel


def status_of(error: Exception) -> str:
    """Return the status of a row without a value. It is "skipped" if a map or a learner is not defined, and "failed" if
    a system of equations has no solution.
    """
    return "skipped" if isinstance(error, NotDefinedError) else "failed"


def rows_of(shared: dict, values: dict[str, float]) -> list[dict]:
    """Return a row for each value, by its metric, with these columns."""
    return [shared | {"metric": metric, "value": float(value)} for metric, value in values.items()]
