"""Choose by validation what an experiment leaves to a search: one JSON document per job, a mapping by data set."""

from random_features.arrays import set_threads
from rfstudy.study.engine import in_memory, jobs
from rfstudy.study.job import Part
from rfstudy.study.provenance import write_choices
from rfstudy.study.search import Search


def run(parts: list[Part], prepared_dirs, journal, out, threads: int) -> None:
    """Write the choices for every data set, by scope (``study.search``)."""
    set_threads(threads)
    chosen = {}
    for job in jobs("tune", parts, prepared_dirs, journal, threads):
        if job.data.skipped:
            chosen[job.spec.dataset] = {"status": "skipped", "reason": job.data.skipped}
        else:
            chosen[job.spec.dataset] = {"status": "ok", **in_memory(lambda each: Search(each).choices(), job)}
    write_choices(chosen, job.run.finished(), out)
