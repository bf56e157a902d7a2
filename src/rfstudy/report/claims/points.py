"""What a test of a claim finds at each place, and the one rule that makes a verdict and its evidence of it.

A *point* is one comparison at one place (a data set and a size, a dimension, a map). The verdict on all points is

* ``holds``: what the claim states is so at every point,
* ``partly``: at some and not at others,
* ``fails``: at none, or at fewer than those at which the opposite is shown,
* ``contradicted``: at none, and at every single one the measurement shows the opposite, not only the absence of what is
  claimed: for a stated difference the 95 % interval lies wholly on the other side of no difference (a gain that is too
  small fails, a significant loss contradicts), for a stated agreement or bound it lies wholly beyond the margin. As all
  points have to be significant at once, no correction for their number is needed,
* ``not testable``: no point can speak for the claim (nothing was learned on the data set, the curve is cut off by the
  grid, an identity, or what the entry gives as the reason); or the claim is one of no difference, the estimate is
  within its margin at every point where it is known, and at one at least the 95 % interval is not: no power,
* ``too noisy``: no point can speak because times vary too much or other work ran beside them,
* ``not run``: a part of the test has no point at all.

A point that cannot speak for the claim is set aside: it decides nothing and stays in the evidence with its reason. A
claim of several parts of which one has no other points can still fail by the others, and not hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

#: Reasons to set a point aside that are about the measurement of time.
OF_TIMES = ("too noisy", "contended")

NO_POWER = "no power"

#: Up to how many points of a data set, and of a test, are told one by one.
MOST_TOLD, MOST_IN_ALL = 8, 20

#: What the verdicts of claims that were run mean, in short.
MEANING = {
    "holds": "at every point that was measured",
    "partly": "at some of them",
    "fails": "at none, or at fewer than show the opposite",
    "contradicted": "at none, and the 95 % interval of every point lies on the other side",
    "not testable": "no point can speak, or the 95 % interval of a claim of no difference goes beyond its margin",
    "too noisy": "the interquartile range of every ratio of times is over a quarter of it",
}


@dataclass(frozen=True)
class Point:
    """One comparison at one place.

    ``difference`` is what is compared and ``margin`` what it is held against, in the unit and direction of the test.
    ``where`` are the columns of the place and their values, ``place`` the same in words; ``what`` says of what the
    difference is, ``group`` (the data set) heads points that are told together, and ``told`` is how the evidence prints
    one, by default the difference. ``holds`` is None where a difference is within the margin of a claim of no
    difference and its interval is not. ``opposite`` says that the interval shows the opposite of what is claimed,
    ``aside`` why the point cannot speak for the claim.
    """

    difference: float
    margin: float
    holds: bool | None
    where: dict = field(default_factory=dict)
    place: str = ""
    what: str = ""
    group: str = ""
    told: str = ""
    low: float = math.nan
    high: float = math.nan
    error: float = math.nan
    opposite: bool = False
    aside: str = ""


@dataclass(frozen=True)
class Part:
    """The points of one test of a claim, at how many of them it has to hold (``every``, ``most`` or ``some``), and
    data sets that it is about, those that it has points of and those that are missing. A test that is ``beside`` the
    others is evidence only;
    ``in_errors`` says that its differences are to be told in standard errors too, ``together`` that its points are
    those of other tests, which tell them."""

    points: list[Point] = field(default_factory=list)
    at: str = "every"
    beside: bool = False
    datasets: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    in_errors: bool = False
    together: bool = False


def conclude(tests: list[Part], needs: str = "every", reason: str = "") -> tuple[str, str]:
    """Verdict and evidence of the tests of one claim.

    ``needs`` says whether every test must have points, or any one; ``reason`` why the claim is not testable ("" if it
    is).
    """
    deciding = [test for test in tests if not test.beside]
    run = [test for test in deciding if test.points]
    if not run or (needs == "every" and len(run) < len(deciding)):
        return "not run", ""
    told = "; ".join(filter(None, (evidence(test) for test in tests)))
    speaking = {name for test in run for name in test.datasets}
    missing = [name for test in deciding for name in test.missing if test.points or name not in speaking]
    missing = list(dict.fromkeys(missing))
    told += f"; not run: {', '.join(missing)}" if missing else ""
    if reason:
        return "not testable", f"{reason}; {told}"
    return _verdict([_clear(test) for test in run], run), told


def _clear(test: Part) -> list[Point]:
    """The points that speak; one for all of them where most or some decide."""
    clear = [point for point in test.points if not point.aside]
    if not clear or test.at == "every":
        return clear
    holding, known = (sum(point.holds is wanted for point in clear) for wanted in (True, False))
    needed = len(clear) // 2 + 1 if test.at == "most" else 1
    holds = True if holding >= needed else False if len(clear) - known < needed else None
    opposite = sum(point.opposite for point in clear) > (len(clear) - 1 if test.at == "some" else len(clear) // 2)
    return [replace(clear[0], holds=holds, opposite=opposite)]


def _verdict(clear: list[list[Point]], run: list[Part]) -> str:
    found = [point.holds for points in clear for point in points]
    silent = [test for test, points in zip(run, clear, strict=True) if not points]
    if silent and False not in found:
        reasons = {point.aside for test in silent for point in test.points}
        return "too noisy" if reasons <= set(OF_TIMES) else "not testable"
    if False not in found:
        return "not testable" if None in found else "holds"
    against = sum(point.opposite for points in clear for point in points)
    if True in found:
        return "partly" if found.count(True) >= against else "fails"
    opposite = all(point.opposite for points in clear for point in points) and not silent
    return "contradicted" if opposite else "fails"


def verdict_on(checks) -> str:
    """The verdict on points of which it is known whether they hold, and nothing else."""
    points = [Point(math.nan, math.nan, bool(check)) for check in checks]
    return _verdict([points], [Part(points)]) if points else "not run"


def joined(tests: list[Part]) -> list[Part]:
    """One test of several: at every place that all of them have, all have to hold there."""
    by_place = [{(point.where.get("dataset"), point.place): point for point in test.points} for test in tests]
    places = [place for place in by_place[0] if all(place in others for others in by_place)]
    merged = []
    for place in places:
        points = [of_test[place] for of_test in by_place]
        found = [point.holds for point in points]
        merged.append(
            replace(
                points[0],
                holds=False if False in found else None if None in found else True,
                opposite=any(point.opposite for point in points),
                aside=next((point.aside for point in points if point.aside), ""),
            )
        )
    missing = tuple(dict.fromkeys(name for test in tests for name in test.missing))
    together = Part(merged, tests[0].at, missing=missing, together=True)
    return [*(replace(test, beside=True) for test in tests), together]


def evidence(test: Part) -> str:
    """The points in words, by what they are of and by data set: one by one, or their number and range where there are
    many, with those that are not so."""
    of_what: dict[str, dict[str, list[Point]]] = {}
    for point in [] if test.together else test.points:
        of_what.setdefault(point.what, {}).setdefault(point.group, []).append(point)
    texts = []
    for what, groups in of_what.items():
        if len(test.points) > MOST_IN_ALL:
            told = [_summary([point for points in groups.values() for point in points], test)]
        else:
            told = [_of_group(group, points, test) for group, points in groups.items()]
        texts.append((f"{what}: " if what else "") + "; ".join(told))
    if test.together or (test.at != "every" and not test.beside):
        clear = [point for point in test.points if not point.aside]
        holding = sum(point.holds is True for point in clear)
        texts += [f"{'together ' if test.together else ''}so at {holding} of {len(clear)}"] if clear else []
    return "; ".join(texts)


def _of_group(group: str, points: list[Point], test: Part) -> str:
    """The points of one data set; a remark on all of them is made once."""
    remarks = {_remark(point) for point in points}
    shared = remarks.pop() if len(remarks) == 1 and len(points) > 1 else ""
    head = " ".join(filter(None, (group, f"({shared})" if shared else "")))
    told = (
        ", ".join(_one(point, "" if shared else _remark(point)) for point in points)
        if len(points) <= MOST_TOLD
        else _summary(points, test)
    )
    return " ".join(filter(None, (head, told)))


def _summary(points: list[Point], test: Part) -> str:
    values = [point.difference for point in points]
    span = f"{number(min(values))} to {number(max(values))}"
    if test.beside:
        return f"{span} at {len(points)} points, {number(math.fsum(values) / len(values))} in the mean"
    text = f"so at {sum(point.holds is True for point in points)} of {len(points)} points, {span}"
    if test.in_errors and all(point.error > 0 for point in points):
        text += f", at most {max(abs(point.difference) / point.error for point in points):.1f} standard errors"
    elif len({point.margin for point in points}) > 1 and all(point.margin for point in points):
        text += f", at most {number(max(abs(point.difference / point.margin) for point in points))} of the bound"
    opposite = sum(point.opposite for point in points)
    text += f", the opposite at {opposite}" if opposite else ""
    remarks = [_remark(point) for point in points]
    text += "".join(f", {remark} at {remarks.count(remark)}" for remark in dict.fromkeys(filter(None, remarks)))
    failing = [point for point in points if point.holds is False and not point.aside]
    if 0 < len(failing) <= MOST_TOLD // 2:
        text += f", not so at {' / '.join(' '.join(filter(None, (p.group, p.place))) for p in failing)}"
    return text


def _remark(point: Point) -> str:
    return point.aside or (NO_POWER if point.holds is None else "")


def _one(point: Point, remark: str) -> str:
    text = " ".join(filter(None, (point.place, point.told or number(point.difference))))
    return f"{text} ({remark})" if remark else text


def number(value: float) -> str:
    """A number to three significant digits.

    >>> number(43.71), number(-0.00312), number(1000.0)
    ('43.7', '-0.00312', '1000')
    """
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    decimals = 2 - math.floor(math.log10(abs(value)))
    return f"{value:.3g}" if decimals > 6 else f"{value:.{max(decimals, 0)}f}"
