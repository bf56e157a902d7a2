"""Which rows a claim counts, the rule from its points to a verdict, and the registry of claims."""

from dataclasses import replace

import numpy as np
import pytest
from claim_rows import ACCURACY, ERROR, TASKS, TIME, found, made, measured, verdict

from random_features.errors import UserError
from rfstudy.report.claims import registry
from rfstudy.report.claims.helpers import better_than
from rfstudy.report.claims.points import Part, Point, conclude, joined, only_evidence, reason

GAINS = made(ACCURACY, orf=71.0, rff=70.0) + made(ACCURACY, "letter", orf=69.0, rff=70.0)
BOTH = {"datasets": ("eeg", "letter"), "rows": GAINS}
COMPARED = better_than, ACCURACY, "orf", "rff"


@pytest.mark.parametrize("columns", [{"stand_in": "made"}, {"status": "failed", "value": None}, {"variant": "v"}])
def test_stand_ins_and_what_is_not_ok_do_not_count(columns):
    assert verdict(*COMPARED, rows=[row | columns for row in GAINS]) == "not run"


def test_why_a_claim_was_not_run():
    assert found(*COMPARED, rows=[row | {"stand_in": "made"} for row in GAINS])[1] == "EEG: a stand-in"
    skipped = [row | {"status": "skipped", "value": None, "settings": {"reason": "no file"}} for row in GAINS]
    assert found(*COMPARED, rows=skipped)[1] == "EEG: skipped: no file"
    assert found(*COMPARED, rows=[], datasets=("eeg", "letter")) == ("not run", "")


def test_two_rows_of_one_measurement_are_refused():
    with pytest.raises(ValueError, match=r"1 rows repeat a measurement of accuracy_pct, of orf"):
        verdict(*COMPARED, rows=[*GAINS, GAINS[0] | {"value": 1.0}])


def test_data_sets_may_be_set_aside():
    assert verdict(*COMPARED, **BOTH) == "partly"
    text = "ORF minus RFF: EEG 2d +1.00; letter 2d -1.00 (another test set)"
    assert found(*COMPARED, **BOTH, set_aside={"letter": "another test set"}) == ("holds", text)
    assert verdict(*COMPARED, **BOTH, set_aside={"letter": "a", "eeg": "b"}) == "not testable"
    assert found(*COMPARED, rows=GAINS[:2], datasets=("eeg", "letter"))[1].endswith("not run: letter")


# a cap does not touch errors, which are of 1,000 training rows
@pytest.mark.parametrize(
    ("task", "settings", "of_errors"),
    [({"not_comparable": "other rows"}, {}, "holds"), ({}, {"capped": True}, "partly")],
)
def test_other_rows_than_the_papers_are_set_aside(task, settings, of_errors):
    tasks = TASKS | {"letter": TASKS["letter"] | task}
    rows = [row | {"settings": settings if row["dataset"] == "letter" else {}} for row in GAINS]
    text = "ORF minus RFF: EEG 2d +1.00; letter 2d -1.00 (not comparable)"
    assert found(*COMPARED, rows=rows, datasets=("eeg", "letter"), tasks=tasks) == ("holds", text)
    errors = [row | {"metric": ERROR, "split": ""} for row in rows]
    arguments = better_than, ERROR, "rff", "orf"
    assert verdict(*arguments, rows=errors, datasets=("eeg", "letter"), tasks=tasks) == of_errors


def test_accuracies_are_compared_where_only_times_are_capped():
    times = [row | {"settings": {"capped": True}} for row in made(TIME, orf=2.0, rff=1.0)]
    assert verdict(*COMPARED, rows=[*GAINS, *times]) == "holds"
    assert verdict(better_than, TIME, "orf", "rff", rows=[*GAINS, *times]) == "not testable"


@pytest.mark.parametrize(("best", "expected"), [(70.5, "not testable"), (70.51, "holds")])
def test_a_data_set_on_which_nothing_was_learned_is_set_aside(best, expected):
    # two classes, of 70 and 30 %
    fact = GAINS[0] | {"metric": "fact_neighbours_agree_by_chance", "value": 0.7**2 + 0.3**2, "method": ""}
    tasks = {"eeg": TASKS["eeg"] | {"target": "binary"}}
    assert verdict(*COMPARED, rows=[fact, *made(ACCURACY, orf=best, rff=70.0)], tasks=tasks) == expected


def test_rows_may_be_selected_by_a_condition():
    own = measured(made(ACCURACY, orf={2: 1.0, 8: 71.0, 16: 2.0}, rff={2: 2.0, 8: 70.0, 16: 1.0}))

    def sizes(where):
        return [place["n_features_label"] for place, _ in own.of("eeg", where=where).places(ACCURACY, "orf")]

    assert sizes("n_features >= 8 * d") == ["8d", "16d"]
    assert sizes("share == 0.5") == ["8d"]


def points(*holds, **columns):
    return [Point(1.0, each, place=str(i), **columns) for i, each in enumerate(holds)]


@pytest.mark.parametrize(
    ("holds", "at", "expected"),
    [
        ((True, True), "every", "holds"), ((True, False), "every", "partly"), ((False, False), "every", "fails"),
        ((None, True), "every", "undecided"), ((None, False), "every", "fails"),
        ((None, True, False), "every", "partly"), ((), "every", "not run"),
        ((True, True, False), "most", "holds"), ((True, False), "most", "fails"),
        ((True, None), "most", "undecided"),
        ((True, None, False, False), "most", "fails"), ((False, True, False), "some", "holds"),
        ((False, False), "some", "fails"), ((False, None), "some", "undecided"),
    ],
)  # fmt: skip
def test_the_verdict_of_points(holds, at, expected):
    assert conclude([Part(points(*holds))], at)[0] == expected


def test_a_reason_counts_the_points_that_decide_and_those_that_do_not():
    part = Part([*points(True, False, what="gain"), *points(None, True, what="gain", reason="too noisy")])
    assert conclude([part], brief=True) == (
        "partly", "shown at 1 of 2; gain: 0 1.00, 1 1.00; set aside 2 (too noisy)"
    )  # fmt: skip
    assert reason([part], "some").startswith("shown at 1 of 2 (one suffices); gain")
    assert reason([part, part], "most").startswith("shown at 2 of 4 (more than half suffice in each part)")
    assert conclude([part], "most")[1].endswith("; so at 1 of 2 (more than half suffice)")
    assert conclude([part], not_testable="an identity; 2 points", brief=True) == ("not testable", "an identity")


def test_a_contradiction_is_one_at_every_point():
    against = points(False, opposite=True)
    for others, expected in (
        (against, "contradicted"), (points(False), "fails"), (points(True), "partly"), (points(None), "fails"),
    ):  # fmt: skip
        assert conclude([Part(against + others)])[0] == expected
    # the opposite at more points than it holds at
    assert conclude([Part(against * 2 + points(True))])[0] == "fails"
    assert conclude([Part(against * 2 + points(True, True, False))])[0] == "partly"


def test_parts_without_points_that_may_decide():
    good, bad = Part(points(True)), Part(points(False, opposite=True))
    silent = Part(points(True, reason="too noisy"))
    assert conclude([good, Part()])[0] == "not run"
    assert conclude([good, Part()], needs="any")[0] == "holds"
    a, b = Part(points(True), ("a",), {"b": "", "c": ""}), Part(points(True), ("b",), {"a": ""})
    for needs, missing in {"any": "c", "every": "b, c, a"}.items():  # another part may have the data set
        assert conclude([a, b], needs=needs)[1].endswith(f"; not run: {missing}")
    assert conclude([good, silent])[0] == "not testable"
    assert conclude([Part(points(True, None)), silent])[0] == "undecided"
    assert conclude([bad, silent])[0] == "fails"
    assert conclude([good, only_evidence(bad)])[0] == "holds"
    assert conclude([Part(good.points + points(False, reason="too noisy"))])[0] == "holds"
    assert conclude([good], not_testable="an identity")[0] == "not testable"


def test_joined_parts_have_to_hold_at_the_same_places():
    first, second = Part(points(True, True, False)), Part(points(True, False, True))
    assert conclude(joined(first, second))[0] == "partly"
    assert conclude(joined(Part(points(True, False)), Part(points(False, True))))[0] == "fails"


def test_a_claim_is_judged_on_the_experiments_of_its_protocol_by_its_function(monkeypatch):
    registry.claims_of("survey")
    rows = measured(GAINS)
    claim = registry.Claim(
        lambda rows, dataset: better_than(rows.of(dataset), *COMPARED[1:]), {"text": "e", "code": "f"}
    )
    for dataset, not_testable, protocol, expected in (
        ("eeg", "", "text", "holds"), ("letter", "", "text", "fails"), ("eeg", "", "code", "not run"),
        ("eeg", "", "tuned", "not run"), ("eeg", "an identity", "text", "not testable"),
        ("eeg", {"code": "an identity"}, "text", "holds"), ("eeg", {"text": "an identity"}, "text", "not testable"),
    ):  # fmt: skip
        changed = {"arguments": {"dataset": dataset}, "not_testable": not_testable}
        monkeypatch.setitem(registry.CLAIMS, "survey-01", registry.replace(claim, **changed))
        assert registry.judged("survey-01", rows, protocol)[0] == expected
    with pytest.raises(ValueError, match="two functions test the claim survey-01: give one another"):
        registry.claim("survey-01", {})(lambda rows: [])
    monkeypatch.setitem(registry.CLAIMS, "survey-01", registry.Claim(lambda rows: None, {"text": "e"}))
    for name, words in {
        "survey-01": r"survey\.py: the function of survey-01 must return a part or a list of them",
        "survey-99": r"survey-99 has no test: add its .* src/rfstudy/report/claims/survey\.py",
    }.items():
        with pytest.raises(UserError, match=words):
            registry.judged(name, rows, "text")


@pytest.mark.parametrize("wrong", [{"at": "moost"}, {"needs": "al"}])
def test_a_claim_that_is_registered_with_an_unknown_rule_is_refused(wrong):
    with pytest.raises(ValueError, match="of the claim made-01 must be one of every, "):
        registry.claim("made-01", {}, **wrong)(lambda rows: [])
    assert "made-01" not in registry.CLAIMS


@pytest.mark.parametrize("no", [False, np.False_])
def test_a_reason_names_the_few_points_that_miss_and_the_data_sets_that_are_set_aside(no):
    points = [Point(1.0, holds, group=group, place="2d") for holds, group in ((True, "a"), (True, "b"), (no, "c"))]
    points += [replace(points[0], reason="too noisy", group=group) for group in ("d", "d", "e")]
    found = reason([Part(points)])
    assert "not shown: c 2d" in found
    assert "set aside 3 (too noisy: d, e)" in found
