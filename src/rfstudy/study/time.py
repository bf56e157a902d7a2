"""Measure times; no other stage does.

A job has all methods of an experiment on one data set, so that methods that are compared are measured together. After a
warm-up of the full size, all methods and sizes take turns in rounds. The order changes from round to round, so that no
method always follows the same work. Short work is repeated within a round until it lasts ``shortest`` seconds. A row is
one phase of one method in one round, in wall time and in processor time of this job. The report summarises the rounds
and compares two methods round by round. The workflow gives the job the machine to itself. The load of other processes
is read before and during each round, and a round that overlaps other work is repeated. Within a round, units on fewer
threads come first.
"""

import itertools
import os
import sys
import time
from dataclasses import replace

import numpy as np
import psutil

from random_features.arrays import set_threads
from random_features.errors import NotDefinedError
from rfstudy.study.engine import Cell, Job, Timed, Work, entry_columns, entry_key, kind_module, rows_of, run_parts
from rfstudy.study.job import Part
from rfstudy.study.provenance import processor_name

#: Cores that others may keep busy on average while a round runs; above it the machine counts as busy. An idle machine
#: is at a few hundredths, one busy process at 1.
OTHERS = 0.25

#: Seconds before a round, or before its units with another number of threads, in which this process waits.
BEFORE = 0.2


def run(parts: list[Part], prepared_dirs, chosen: dict, journal, out) -> None:
    """Write the times of every round and their provenance; ``chosen`` is as in ``train``."""
    run_parts("time", parts, prepared_dirs, journal, parts[0].time["threads"], lambda job: take_times(job, chosen), out)


def take_times(job: Job, chosen: dict) -> Work:
    """Return all rounds of one part. A finished round is journalled and, unless it was machine_busy, not repeated.
    There are none if the data set is missing.
    """
    if job.data and job.data.skipped:
        return Work()
    chosen = chosen.get(job.spec.dataset, {})
    how = job.spec.time
    units = kind_module(job.spec.kind).timed(job, chosen)
    given = {
        # with the entry's own settings other than its map: preprocessing, bandwidth
        "methods": [entry | entry_key(entry) for entry in job.spec.methods],
        "learners": (job.spec.learners or {}),
        "chosen": chosen,
        "grid": job.spec.grid or job.spec.sizes,
        "threads": sorted({unit.threads or how["threads"] for unit in units}),
        "shortest": how["shortest"],
        "processor": processor_name(),
    }
    rounds = Rounds(units, how["threads"], how["shortest"])

    def compute(cell: Cell, _checkpoints):
        return rounds.best_of(1 + how["again"], cell.coordinates["round"]), {}

    cells = [Cell({}, {"round": number}, given) for number in range(how["rounds"])]
    for key in (job.key(cell) for cell in cells):
        content, _arrays = job.journal.get(key) or ({"rows": []}, {})
        # a round on a busy machine is kept only if there is no better one, and no longer than the job
        if any(row["settings"].get("machine_busy") for row in content["rows"]):
            job.journal.drop(key)
    return job.work_through(cells, compute)


class Rounds:
    """The rounds of everything that is timed together; a warm-up precedes the first."""

    def __init__(self, units: list[Timed], threads: int, shortest: float):
        self.units = [replace(unit, threads=unit.threads or threads) for unit in units]
        self.threads, self.shortest = threads, shortest
        self.calls: list[dict] | None = None

    def best_of(self, attempts: int, number: int) -> list[dict]:
        """Return the rows of a round, which is repeated while the machine is busy. Among repetitions, the one with the
        least load of others counts.
        """
        if self.calls is None:
            self.calls = [warm_up(unit) for unit in self.units]
        tried = []
        while len(tried) < attempts and not (tried and tried[-1][1] <= OTHERS):
            tried.append(self.turns(number))
        rows, others = min(tried, key=lambda of: of[1])
        if others > OTHERS:
            print(f"round {number} next to other work: {others:.2f} cores taken by others", file=sys.stderr)
            rows = [row | {"settings": row["settings"] | {"machine_busy": True}} for row in rows]
        return rows

    def turns(self, number: int) -> tuple[list[dict], float]:
        """Return the rows of all phases of all units, in the order of a round, and the cores that other processes kept
        busy. The first round stores the number of calls of each phase.
        """
        rows: list[list[dict]] = [[] for _ in self.units]
        start, threads = load_of_machine(), None
        # earlier work affects later work: caches, clocks, memory that was or was not returned to the system
        order = np.random.default_rng(number).permutation(len(self.units))
        for position in sorted(order, key=lambda position: self.units[position].threads):
            unit, calls_of = self.units[position], self.calls[position]
            if unit.rounds is not None and number >= unit.rounds:
                continue
            if threads != unit.threads:  # idle threads of a pool spin for a while, which counts as work
                threads = unit.threads
                set_threads(threads)
                time.sleep(BEFORE)
            for name, repeated in calls_of.items():
                phase = unit.phases[name]
                if repeated in (None, 1) and unit.rounds is None:
                    phase()  # a phase that is called once then follows itself, and finds the memory that it needs
                if repeated is None:
                    wall, cpu, repeated = long_enough(phase, self.shortest)
                    calls_of[name] = repeated
                else:
                    wall, cpu = seconds(phase, repeated)
                row = unit.columns | entry_columns(unit.entry) | {"axis": "round", "at": number, "repeat": 0}
                row |= {"learner": unit.learner} if name in ("fit", "predict") else {}  # others are a map's
                row["settings"] = unit.settings | {"threads": threads, "calls": repeated}
                rows[position] += rows_of(row, {f"time_{name}_s": wall, f"cpu_{name}_s": cpu})
        set_threads(self.threads)
        others = cores_of_others(start)
        # a reader finds the rows in the order of the units, not in the order of the turns
        in_order = itertools.chain(*rows)
        return [row | {"settings": row["settings"] | {"others": round(others, 2)}} for row in in_order], others


def warm_up(unit: Timed) -> dict:
    """Call each phase once on the threads of the unit, which loads libraries, starts threads and fills caches; the
    result is empty if the map does not exist.

    Return the number of calls of each phase in a round, or None if the first round has to find it. A unit that takes
    part in few rounds is long. It is called once per round and needs no warm-up.
    """
    set_threads(unit.threads)
    if unit.rounds is not None:
        return dict.fromkeys(unit.phases, 1)
    try:
        for phase in unit.phases.values():
            phase()
    except (NotDefinedError, np.linalg.LinAlgError):
        return {}
    return dict.fromkeys(unit.phases)


def long_enough(phase, shortest: float) -> tuple[float, float, int]:
    """Return the wall and processor seconds of one call of a phase, and the number of calls that last ``shortest``
    seconds.
    """
    number = 1
    while True:
        wall, cpu = seconds(phase, number)
        if wall * number >= shortest:
            return wall, cpu, number
        # at most ten times as many: one call may be quick by chance
        number = min(10 * number, 1 + int(1.2 * shortest / max(wall, 1e-9)))


def seconds(function, number: int) -> tuple[float, float]:
    """Return the wall and processor seconds of one of ``number`` calls."""
    wall, cpu = time.perf_counter(), processor_seconds()
    for _ in range(number):
        function()
    return (time.perf_counter() - wall) / number, (processor_seconds() - cpu) / number


def processor_seconds() -> float:
    """Return the processor seconds of this process, and of the finished processes that it started."""
    of_children = os.times()
    return time.process_time() + of_children.children_user + of_children.children_system


def load_of_machine() -> tuple[float, float, float]:
    """Return the wall clock, and the processor seconds of the whole machine and of this job."""
    times = psutil.cpu_times()
    kinds = ("user", "system", "nice", "irq", "softirq", "steal")  # not all of them on every system
    busy = sum(getattr(times, name, 0.0) for name in kinds)
    return time.perf_counter(), busy, processor_seconds()


def cores_of_others(start: tuple[float, float, float]) -> float:
    """Return the mean number of cores that other processes, or the host of a virtual machine, have kept busy since
    ``load_of_machine`` returned ``start``.
    """
    wall, busy, own = np.subtract(load_of_machine(), start)
    return float(max(0.0, busy - own) / wall)
