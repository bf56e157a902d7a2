"""An ablation: what each method reaches at each of a list of steps, and what a step adds.

One experiment holds all steps, as variants of the methods. A step that does not concern a method has no rows of it: the
method stays where it was. Tests pair the repeats, since all variants of a repeat see the same split.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import by_repeat, select
from rfstudy.report.compare import Estimate, family, paired


class Reached(NamedTuple):
    """What a method reaches at a step: its values by repeat, and whether they are those of an earlier step."""

    values: pd.Series
    carried: bool = False


def course(rows: pd.DataFrame, steps, methods: list[str], alone: bool = False) -> list[dict[str, Reached]]:
    """Return what the methods reach on one data set: for each step, method -> ``Reached``.

    ``rows`` are those of one data set and quantity; ``steps`` are names of variants, in order; ``alone`` says that each
    changes the first one and not the one before. A method without rows at a step carries over what it reached there. A
    step without rows of any method was not run, and nothing carries over.
    """
    rows = select(rows, variant=steps, method=methods)
    cells = {place: by_repeat(cell) for place, cell in rows.groupby(["variant", "method"], sort=False)}
    reached, last = [], {}
    for step in steps:
        own = {method: Reached(cells[step, method]) for method in methods if (step, method) in cells}
        carried = {method: each._replace(carried=True) for method, each in last.items()} if own else {}
        reached.append(dict.fromkeys(methods, Reached(pd.Series(dtype=float))) | carried | own)
        if not alone or len(reached) == 1:
            last |= own
    return reached


def gain_of(method: str, reached: dict[str, Reached], baselines: list[str], sign: float = 1.0) -> pd.Series:
    """Return the gain of a method at one step over the better baseline by repeat; empty without values of both.

    ``sign`` is -1 if lower is better, so that a gain is positive.
    """
    others = [reached[name].values for name in baselines if len(reached[name].values)]
    best = max(others, key=lambda values: sign * values.mean(), default=pd.Series(dtype=float))
    return sign * (reached[method].values - best).dropna()


def changes(courses: dict[str, list[pd.Series]], overlap: float = 0.0, alone: bool = False) -> dict:
    """Return the changes of values by repeat from step to step: tests by position of the step and method.

    A step is compared with the one before (``alone``: with the first one).
    """
    return {
        (position, method): paired(own[position], own[0 if alone else position - 1], overlap)
        for method, own in courses.items()
        for position in range(1, len(own))
    }


def gain_changes(gains: dict[str, list[pd.Series]], overlap: float = 0.0, alone: bool = False) -> dict:
    """Return the ``changes`` of the gains of methods on one data set, as one family.

    Changes without a p-value (too few repeats, a step that was not run) are left out.
    """
    tests = family(changes(gains, overlap, alone))
    return {place: test for place, test in tests.items() if not np.isnan(test.p)}


def controls_of(
    rows: pd.DataFrame, reached: list, spec: dict, overlap: float = 0.0
) -> list[tuple[dict, str, Estimate]]:
    """Return each comparison with a control on one data set, without Holm's correction.

    That is the control's entry of ``spec``, the method that it is compared with, and control minus method at the step
    that the entry names. ``reached`` is the ``course``.
    """
    steps = list(spec["steps"])
    found = []
    for control in spec.get("controls", []):
        own = by_repeat(select(rows, method=control["method"], variant=control["variant"]))
        of_step = reached[steps.index(control["step"])]
        found += [(control, method, paired(own, of_step[method].values, overlap)) for method in control["against"]]
    return found
