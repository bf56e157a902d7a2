"""Choose by validation what an experiment leaves to a search: one JSON document a job, a mapping by data set."""

from __future__ import annotations

from random_features.arrays import set_threads
from rfstudy.files import write_sealed
from rfstudy.study.engine import jobs
from rfstudy.study.search import search


def run(parts: list[dict], prepared_dirs, journal, out, threads: int) -> None:
    """The stage: write the choices for every data set, by circle (``study.search``)."""
    set_threads(threads)
    chosen = {}
    for job in jobs("tune", parts, prepared_dirs, journal, threads):
        if job.data.skipped:
            chosen[job.spec["dataset"]] = {"status": "skipped", "reason": job.data.skipped}
        else:
            chosen[job.spec["dataset"]] = {"status": "ok", **search(job), "provenance": job.run.finished()}
    write_sealed(chosen, out)
