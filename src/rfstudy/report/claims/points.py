"""Points of a claim, and the rule that turns them into a verdict and its evidence.

A *point* is one comparison at one set of coordinates (a data set and a size, a dimension, a map). The verdict on all
points is

* ``holds``: each point shows the statement of the claim,
* ``partly``: some points show it and others do not,
* ``fails``: none does, or fewer than show the opposite,
* ``contradicted``: none does, and each shows the opposite. For a stated difference, the 95 % interval lies entirely on
  the other side of no difference: a gain that is too small fails, a significant loss contradicts. For a stated
  agreement or bound, it lies entirely beyond the margin. All points have to be significant at once, so no correction
  for their number is needed,
* ``undecided``: the claim is one of no difference, each known estimate is within the margin, and the 95 % interval of
  at least one is not: the test lacks power,
* ``not testable``: no point can decide (other rows than the paper's, nothing was learned on the data set, the grid ends
  too early, times are too noisy, an identity, or the reason that the claim itself gives),
* ``not run``: a part of the test has no point.

Where the sentence is about most or some cases, the points of a part are its cases. Together they count as one point,
which the claim shows if more than half of them do, or one does.

A point with a reason must not decide. It stays in the evidence with that reason. If one of several parts has only such
points, the claim can fail by the others, but cannot hold.
"""

import math
from dataclasses import dataclass, field, replace

NO_POWER = "no power"

#: The evidence lists at most so many points of a data set one by one.
MOST_OF_GROUP = 8

#: The evidence lists at most so many points of a part one by one.
MOST_IN_ALL = 20

#: A reason lists at most so many points.
FEW = 2

#: The points of a reason take at most so many words.
MOST_WORDS = 20

#: What a range of values is about if each of them names the best method.
LEADS = {"lowest": "lead", "highest": "lead"}

#: How many cases suffice, and what a verdict then is about.
SUFFICE = {"every": "", "most": "more than half suffice", "some": "one suffices"}
CASES = "Claims about most or some cases count as one point; the evidence says how many cases suffice."

#: Short meanings of the verdicts on claims that were run.
MEANING = {
    "holds": "at every point that may decide",
    "partly": "at some of them",
    "fails": "at none, or at fewer than show the opposite",
    "contradicted": "at none, and the 95 % interval of every point lies on the other side",
    "undecided": "the 95 % interval of a claim of no difference exceeds its margin: the test lacks power",
    "not testable": "no point can decide",
}


@dataclass(frozen=True)
class Point:
    """One comparison at one set of coordinates.

    ``holds`` is None if a difference is within the margin of a claim of no difference and its interval is not.
    ``opposite`` says that the interval shows the opposite, and ``reason`` why the point must not decide. ``where`` maps
    columns to the coordinates, ``what`` names the quantity, and ``text`` is the value in the evidence.
    ``margin`` is the bound of the value if it differs from point to point. ``group`` (the data set) and
    ``place`` are the coordinates in words.
    """

    value: float
    holds: bool | None
    where: dict = field(default_factory=dict)
    what: str = ""
    text: str = ""
    margin: float = 0.0
    error: float = math.nan
    opposite: bool = False
    reason: str = ""
    group: str = ""
    place: str = ""


@dataclass(frozen=True)
class Part:
    """The points of one part of a claim's test.

    ``datasets`` are the names of the data sets with points, ``missing`` maps those without to the reason ("" if they
    were not run). A part that is ``only_evidence`` does not decide; ``in_errors`` shows its largest value in standard
    errors. The points of a part that is ``joined`` are in the evidence of the parts that it joins.
    """

    points: list[Point] = field(default_factory=list)
    datasets: tuple[str, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)
    only_evidence: bool = False
    in_errors: bool = False
    joined: bool = False


def only_evidence(part: Part) -> Part:
    """Return the part as evidence that does not decide."""
    return replace(part, only_evidence=True)


def joined(*parts: Part) -> list[Part]:
    """Return the parts as evidence, and one part that decides: all have to hold wherever all of them have a point."""
    by_place = [{(point.where.get("dataset"), point.place): point for point in part.points} for part in parts]
    places = [place for place in by_place[0] if all(place in others for others in by_place)]
    merged = []
    for points in ([of_part[place] for of_part in by_place] for place in places):
        found = [point.holds for point in points]
        holds = False if False in found else None if None in found else True
        opposite = any(point.opposite for point in points)
        reason = next((point.reason for point in points if point.reason), "")
        merged.append(replace(points[0], what="", holds=holds, opposite=opposite, reason=reason))
    missing = {name: why for part in parts for name, why in part.missing.items()}
    return [*map(only_evidence, parts), Part(merged, missing=missing, joined=True)]


def conclude(
    parts: list[Part], at: str = "every", needs: str = "every", not_testable: str = "", brief: bool = False
) -> tuple[str, str]:
    """Return the verdict and the evidence of the parts of one claim.

    Parameters
    ----------
    at : at how many of its points a part has to hold: "every", "most" or "some"
    needs : whether "every" part must have points, or "any" one
    not_testable : why the claim is not testable ("" if it is)
    brief : return the reason of the verdict in place of the evidence
    """
    deciding = [part for part in parts if not part.only_evidence]
    run = [part for part in deciding if part.points]
    if not run or (needs == "every" and len(run) < len(deciding)):
        return "not run", _why_not_run(deciding)
    text = "; ".join(filter(None, (evidence(part, at) for part in parts)))
    present = {name for part in run for name in part.datasets}
    # where any part suffices, only a data set that none of them has is missing
    named = [n for part in deciding for n in part.missing if needs == "every" or n not in present]
    text += f"; not run: {', '.join(dict.fromkeys(named))}" if named else ""
    if not_testable:
        return "not testable", not_testable.split("; ")[0] if brief else f"{not_testable}; {text}"
    return _verdict([_deciding(part, at) for part in run]), reason(run, at) if brief else text


def reason(parts: list[Part], at: str = "every") -> str:
    """Return at how many of the points that may decide a claim is shown, and why the others must not decide."""
    points = [point for part in parts for point in part.points]
    deciding = [point for point in points if not point.reason]
    counted = _words(f"shown at {sum(map(_shown, deciding))} of {len(deciding)}", _suffice(at, parts))
    texts = [counted] if deciding else []
    if opposite := sum(point.opposite for point in deciding):
        texts[0] += f", the opposite at {opposite}"
    if undecided := sum(point.holds is None for point in deciding):
        texts[0] += f", undecided at {undecided}"
    quantities = {point.what for point in deciding}
    if len(quantities) == 1 and (what := quantities.pop()):
        values = [point.value for point in deciding]
        texts.append(f"{LEADS.get(what, what)}: {number(min(values))} to {number(max(values))}")
        if len(deciding) <= FEW:
            listed = ", ".join(_words(each.group, each.place, each.text or number(each.value)) for each in deciding)
            texts[-1] = f"{what}: {listed}" if len(listed.split()) <= MOST_WORDS else ""
    missed = [each for each in deciding if not (each.holds is None or each.holds or each.opposite)]
    if len(deciding) > FEW >= len(missed) > 0:
        texts.append(f"not shown: {', '.join(_words(each.group, each.place) for each in missed)}")
    asides = [point for point in points if point.reason]
    for why in dict.fromkeys(point.reason for point in asides):
        names = [point.group for point in asides if point.reason == why]
        listed = ", ".join(filter(None, dict.fromkeys(names)))
        of_sets = f": {listed}" if 0 < len(listed.split()) <= MOST_WORDS else ""
        texts.append(f"set aside {len(names)} ({why}{of_sets})")
    return "; ".join(filter(None, texts))


def _why_not_run(parts: list[Part]) -> str:
    by_reason: dict[str, dict[str, None]] = {}
    for name, why in ((name, why) for part in parts for name, why in part.missing.items() if why):
        by_reason.setdefault(why, {})[name] = None
    return "; ".join(f"{', '.join(names)}: {why}" for why, names in by_reason.items())


def _deciding(part: Part, at: str) -> list[Point]:
    """Return the points of a part that may decide; a single one for all if most or some of them suffice."""
    points = [point for point in part.points if not point.reason]
    if not points or at == "every":
        return points
    holding, failing = sum(map(_shown, points)), sum(map(_failed, points))
    needed = len(points) // 2 + 1 if at == "most" else 1
    holds = True if holding >= needed else False if len(points) - failing < needed else None
    opposite = sum(point.opposite for point in points) > (len(points) - 1 if at == "some" else len(points) // 2)
    return [replace(points[0], holds=holds, opposite=opposite)]


def _verdict(parts: list[list[Point]]) -> str:
    points = [point for part in parts for point in part]
    found = [point.holds for point in points]
    if False not in found:
        return "undecided" if None in found else "holds" if all(parts) else "not testable"
    opposite = [point.opposite for point in points]
    if True in found:
        return "partly" if found.count(True) >= sum(opposite) else "fails"
    return "contradicted" if all(opposite) and all(parts) else "fails"


def evidence(part: Part, at: str = "every") -> str:
    """Return the points in words, by quantity and data set: one by one, or a summary if there are many."""
    by_quantity: dict[str, dict[str, list[Point]]] = {}
    for point in [] if part.joined else part.points:
        by_quantity.setdefault(point.what, {}).setdefault(point.group, []).append(point)
    texts = []
    for what, groups in by_quantity.items():
        if len(part.points) > MOST_IN_ALL:
            lines = [_summary([point for points in groups.values() for point in points], part)]
        else:
            lines = [_of_group(group, points, part) for group, points in groups.items()]
        texts.append((f"{what}: " if what else "") + "; ".join(lines))
    if part.joined or (at != "every" and not part.only_evidence):
        deciding = [point for point in part.points if not point.reason]
        holding = sum(map(_shown, deciding))
        counted = _words("together" if part.joined else "", f"so at {holding} of {len(deciding)}", _suffice(at, [part]))
        texts += [counted] if deciding else []
    return "; ".join(texts)


def _of_group(group: str, points: list[Point], part: Part) -> str:
    """Return the points of one data set in words; a remark on all of them is written once."""
    remarks = [_remark(point) for point in points]
    shared = remarks[0] if len(set(remarks)) == 1 < len(points) else ""
    if len(points) > MOST_OF_GROUP:
        return _words(group, shared and f"({shared})", _summary(points, part))
    own = [f"({remark})" if remark != shared else "" for remark in remarks]
    texts = [_words(each.place, each.text or number(each.value), why) for each, why in zip(points, own, strict=True)]
    return _words(group, shared and f"({shared})", ", ".join(texts))


def _summary(points: list[Point], part: Part) -> str:
    values = [point.value for point in points]
    span = f"{number(min(values))} to {number(max(values))}"
    if part.only_evidence:
        return f"{span} at {len(points)} points, {number(math.fsum(values) / len(values))} in the mean"
    text = f"so at {sum(map(_shown, points))} of {len(points)} points, {span}"
    if part.in_errors and all(point.error > 0 for point in points):
        text += f", at most {max(abs(point.value) / point.error for point in points):.1f} standard errors"
    elif len({point.margin for point in points}) > 1 and all(point.margin for point in points):
        text += f", at most {number(max(abs(point.value / point.margin) for point in points))} of the bound"
    opposite = sum(point.opposite for point in points)
    text += f", the opposite at {opposite}" if opposite else ""
    remarks = [_remark(point) for point in points]
    text += "".join(f", {remark} at {remarks.count(remark)}" for remark in dict.fromkeys(filter(None, remarks)))
    failing = [point for point in points if _failed(point) and not point.reason]
    if 0 < len(failing) <= MOST_OF_GROUP // 2:
        text += f", not so at {' / '.join(_words(each.group, each.place) for each in failing)}"
    return text


def _words(*words: str) -> str:
    return " ".join(filter(None, words))


def _suffice(at: str, parts: list[Part]) -> str:
    return SUFFICE[at] and f"({SUFFICE[at]}{' in each part' if len(parts) > 1 else ''})"


def _shown(point: Point) -> bool:
    return bool(point.holds)


def _failed(point: Point) -> bool:
    return point.holds is not None and not point.holds


def _remark(point: Point) -> str:
    return point.reason or (NO_POWER if point.holds is None else "")


def number(value: float) -> str:
    """Return a number to three significant digits.

    >>> number(43.71), number(-0.00312), number(1000.0)
    ('43.7', '-0.00312', '1000')
    """
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    decimals = 2 - math.floor(math.log10(abs(value)))
    return f"{value:.3g}" if decimals > 6 else f"{value:.{max(decimals, 0)}f}"
