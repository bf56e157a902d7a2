"""Run the kinds of experiments other than ``grid``: the stage around the modules in ``kinds``.

A kind defines the cells of a part and measures one cell (``measure``: rows and, if a figure needs them,
arrays). ``measure`` takes the job, the entry of the cell, and by name its coordinates and conditions. The engine
resumes finished work, records provenance and collects the rows. A missing data set leaves one row for each metric of
the kind (``registry.KINDS``).
"""

import itertools
from dataclasses import replace

from rfstudy.study.engine import Job, Work, kind_cells, kind_module, run_parts
from rfstudy.study.job import Part
from rfstudy.study.kinds.registry import KINDS


def run(parts: list[Part], prepared_dirs, journal, out, out_arrays, threads: int) -> None:
    """Write the rows of a shard, its arrays and their provenance."""
    run_parts("measure", parts, prepared_dirs, journal, threads, work_of, out, out_arrays)


def work_of(job: Job) -> Work:
    """Return the results of the cells of a job's kind. If the data set is missing, the first repeat has rows that say
    so.
    """
    kind = kind_module(job.spec.kind)
    if job.data and job.data.skipped:
        measured = [{"repeat": 0, "metric": metric} for metric in KINDS[job.spec.kind].metrics]
        return job.skipped_rows(itertools.product(job.spec.methods, measured))

    def compute(cell, checkpoints):
        return kind.measure(replace(job, checkpoints=checkpoints), cell.entry, **cell.coordinates, **cell.conditions)

    return job.work_through(kind_cells(job), compute)
