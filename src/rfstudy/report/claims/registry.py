"""The claims of the papers by their ids, and the verdicts on them.

A claim is a function in the file of its paper. It takes the measured rows of its experiments and returns one part of
its test, or a list of parts.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module

from random_features.errors import UserError, check_choice, suggestion
from rfstudy.report.aggregate import select
from rfstudy.report.catalogue import as_list
from rfstudy.report.claims.points import Part, conclude
from rfstudy.report.claims.rows import Rows

#: The arguments of ``claim`` that select rows.
SELECTION = ("datasets", "sizes", "where", "set_aside", "kernel", "learner", "split", "axis")

#: The file of the claims of a paper.
FILE = "src/rfstudy/report/claims/{}.py"

#: How the tests of several claims are stricter than the tests of the reference data.
AS_EFFECT = "a difference counts as an effect only, significant and over half a point"
INTERVAL_WITHIN = "a claim of no difference holds only where the 95 % interval is within the margin"


@dataclass(frozen=True)
class Claim:
    """A registered claim; the attributes are the arguments of ``claim``."""

    test: Callable[..., Part | list[Part]]
    experiments: dict[str, str | list[str]]
    stricter: str = ""
    not_testable: str | dict[str, str] = ""
    at: str = "every"
    needs: str = "every"
    selection: dict = field(default_factory=dict)
    arguments: dict = field(default_factory=dict)


CLAIMS: dict[str, Claim] = {}


def claim(identifier: str, experiments: dict, *, stricter="", not_testable="", at="every", needs="every", **arguments):
    """Register a function as the test of a claim.

    Parameters
    ----------
    identifier : of ``data/reference/claims.csv``
    experiments : protocol -> the experiments that the claim is tested on
    stricter : how the test differs from the test in the reference data; it is reported with the test. Without it, the
        text after "Stricter:" in the docstring of the function
    not_testable : why the claim is not testable; or protocol -> reason. Without it, what the docstring says after "Not
        testable:"
    at : at how many of its points a part has to hold: "every", "most" or "some"
    needs : whether "every" part must have points, or "any" one
    arguments : the arguments in ``SELECTION`` select the rows that the function gets, as in ``Rows.of``; all others are
        passed to it: one function may test several claims
    """

    def register(test):
        if identifier in CLAIMS:
            file = FILE.format(test.__module__.rpartition(".")[2])
            raise UserError(f"{file}: two functions test the claim {identifier}: give one another id")
        check_choice(f"at of the claim {identifier}", at, ("every", "most", "some"))
        check_choice(f"needs of the claim {identifier}", needs, ("every", "any"))
        reasons = stricter or said(test, "Stricter"), not_testable or said(test, "Not testable")
        selection = {key: value for key, value in arguments.items() if key in SELECTION}
        others = {key: value for key, value in arguments.items() if key not in SELECTION}
        CLAIMS[identifier] = Claim(test, experiments, *reasons, at, needs, selection, others)
        return test

    return register


def said(test: Callable, name: str) -> str:
    """Return the sentence of a docstring that starts with a name, without the full stop; "" if none does."""
    found = re.search(rf"^{name}: (.+?)\.(\n\n|\Z)", inspect.getdoc(test) or "", re.DOTALL | re.MULTILINE)
    return " ".join(found[1].split()) if found else ""


def claims_of(paper: str) -> dict[str, Claim]:
    """Return the claims of a paper by their ids."""
    import_module(f"rfstudy.report.claims.{paper}")
    return {identifier: each for identifier, each in CLAIMS.items() if identifier.rpartition("-")[0] == paper}


def problems(paper: str, ids: set[str], experiments) -> list[str]:
    """Return a line for each claim (``ids``) without a function, function without a claim, and unknown experiment."""
    file, own = FILE.format(paper), claims_of(paper)
    named = [(each, name) for each in own for of in own[each].experiments.values() for name in as_list(of)]
    return [
        *(f"{file}: the claim {each} has no function: add it" for each in sorted(ids - set(own))),
        *(f"{file}: data/reference/claims.csv has no {each!r}: add its row" for each in sorted(set(own) - ids)),
        *(f"{file}: {each}: there is no {name!r}; {suggestion(name, experiments)}"
          for each, name in named if name not in experiments),
    ]  # fmt: skip


def judged(identifier: str, rows: Rows, protocol: str, brief: bool = False) -> tuple[str, str, set]:
    """Return the verdict and the evidence (``brief``: the reason) on a claim under a protocol, and its data sets.

    Return "not run" if it has no experiments there. Raise ``UserError`` if no function tests the claim.
    """
    own = claims_of(rows.paper).get(identifier)
    if own is None:
        raise UserError(f"the claim {identifier} has no test: add its function to {FILE.format(rows.paper)}")
    experiments = own.experiments.get(protocol)
    if not experiments:
        return "not run", "", set()
    frame = select(rows.all, experiment=experiments)
    parts = own.test(replace(rows, all=frame, frame=frame).of(**own.selection), **own.arguments)
    reason = own.not_testable if isinstance(own.not_testable, str) else own.not_testable.get(protocol, "")
    parts = parts if isinstance(parts, list) else [parts]
    if not all(isinstance(part, Part) for part in parts):
        raise UserError(f"{FILE.format(rows.paper)}: the function of {identifier} must return a part or a list of them")
    datasets = {point.where.get("dataset", "") for part in parts for point in part.points}
    return *conclude(parts, own.at, own.needs, reason, brief), datasets
