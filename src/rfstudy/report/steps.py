"""An ablation as a course: what every method reaches at each of a list of steps, and what a step adds.

One experiment holds all steps, as variants of the methods. A step that does not concern a method has no rows of it:
the method stays where it was. Tests are paired across repeats, for all variants of a repeat see the same split.
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from rfstudy.report.aggregate import by_repeat, select
from rfstudy.report.compare import Estimate, paired


class Reached(NamedTuple):
    """What a method reaches at a step: its values by repeat, the rows that they come from, and whether these rows are
    those of an earlier step."""

    values: pd.Series
    rows: pd.DataFrame
    carried: bool


def course(rows: pd.DataFrame, steps, methods: list[str], alone: bool = False) -> list[dict[str, Reached]]:
    """What the methods reach on one data set: for every step, method -> ``Reached``.

    ``rows`` are those of one data set and quantity; ``steps`` are names of variants, in order; ``alone`` says that each
    changes the first one and not the one before. A method without rows at a step carries over what it reached there. A
    step without rows of any method was not run, and nobody carries over.
    """
    reached: list[dict[str, Reached]] = []
    last: dict[str, Reached] = {}
    for step in steps:
        of_step = select(rows, variant=step, method=methods)
        now = {}
        for method in methods:
            own = select(of_step, method=method)
            if len(own) or not len(of_step) or method not in last:
                now[method] = Reached(by_repeat(own), own, False)
            else:
                now[method] = last[method]._replace(carried=True)
        if not (alone and reached):
            last |= {method: each for method, each in now.items() if len(each.rows)}
        reached.append(now)
    return reached


def controls_of(rows: pd.DataFrame, spec: dict, overlap: float = 0.0) -> list[tuple[dict, str, pd.DataFrame, Estimate]]:
    """Every comparison with a control on one data set: the control's entry of ``spec``, the method that it is held
    against, the control's rows, and control minus method at the step that the entry names (``overlap`` as in
    ``compare.paired``; its p-value is the test's own)."""
    steps = list(spec["steps"])
    reached = course(rows, steps, spec["methods"], spec.get("one_at_a_time", False))
    found = []
    for control in spec.get("controls", []):
        own = select(rows, method=control["method"], variant=control["variant"])
        at = reached[steps.index(control["step"])]
        found += [
            (control, method, own, paired(by_repeat(own), at[method].values, overlap)) for method in control["against"]
        ]
    return found
