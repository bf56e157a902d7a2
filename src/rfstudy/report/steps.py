"""An ablation as a course: what every method reaches at each of a list of steps, and what a step adds.

One experiment holds all steps, as variants of the methods. A step that does not concern a method has no rows of it:
the method stays where it was. Tests are paired across repeats, for all variants of a repeat see the same split.
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from rfstudy.report.aggregate import LEVEL, Paired, by_repeat, holm, paired, select


class Reached(NamedTuple):
    """What a method reaches at a step: its values by repeat, the rows that they come from, and whether these rows are
    those of an earlier step."""

    values: pd.Series
    rows: pd.DataFrame
    carried: bool


class Gain(NamedTuple):
    """Advantage of a method over the better baseline, and its test; ``values`` by repeat, for tests between steps."""

    baseline: str
    values: pd.Series
    test: Paired


def course(rows: pd.DataFrame, steps, methods: list[str]) -> list[dict[str, Reached]]:
    """What the methods reach on one data set: for every step, method -> ``Reached``.

    ``rows`` are those of one data set and quantity; ``steps`` are names of variants, in order. A method without rows at
    a step carries over what it reached before. A step without rows of any method was not run, and nobody carries over.
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
        last |= {method: each for method, each in now.items() if len(each.rows)}
        reached.append(now)
    return reached


def gain_of(method: str, reached: dict[str, Reached], baselines: list[str]) -> Gain | None:
    """The gain of a method at one step over the baseline with the higher mean; None where one has no values."""
    present = {name: reached[name].values for name in baselines if len(reached[name].values)}
    if not present or not len(reached[method].values):
        return None
    best = max(present, key=lambda name: present[name].mean())
    values = (reached[method].values - present[best]).dropna()
    return Gain(best, values, paired(reached[method].values, present[best]))


class Turn(NamedTuple):
    """A change of the gain of a method from one step to the next, with Holm's adjusted p-value."""

    step: str
    method: str
    difference: float
    adjusted: float

    @property
    def significant(self) -> bool:
        """Whether the step changes the gain, at ``LEVEL``."""
        return self.adjusted < LEVEL


def turns(reached: list[dict[str, Reached]], steps, others: list[str], baselines: list[str]) -> list[Turn]:
    """How the gains of the ``others`` change from step to step on one data set.

    The gain of a repeat at one step is compared with that at the step before; Holm's correction is over all steps and
    methods of the data set. Changes without a p-value (too few repeats, a step that was not run) are left out.
    """
    found = []
    for method in others:
        gains = [gain_of(method, each, baselines) for each in reached]
        for step, before, after in zip(list(steps)[1:], gains, gains[1:], strict=False):
            test = paired(after.values, before.values) if before and after else None
            if test and test.p_value == test.p_value:
                found.append((step, method, test))
    adjusted = holm([test.p_value for *_, test in found])
    return [
        Turn(step, method, test.difference, float(p)) for (step, method, test), p in zip(found, adjusted, strict=True)
    ]


def controls_of(rows: pd.DataFrame, spec: dict) -> list[tuple[dict, str, pd.DataFrame, Paired]]:
    """Every comparison with a control on one data set: the control's entry of ``spec``, the method that it is held
    against, the control's rows, and control minus method at the step that the entry names."""
    steps = list(spec["steps"])
    reached = course(rows, steps, spec["methods"])
    found = []
    for control in spec["controls"]:
        own = select(rows, method=control["method"], variant=control["variant"])
        at = reached[steps.index(control["step"])]
        found += [(control, method, own, paired(by_repeat(own), at[method].values)) for method in control["against"]]
    return found
