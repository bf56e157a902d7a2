"""docs/findings.md is held by the tables that it names: each is made of the shipped rows, and read.

A finding is an item of the page: a lead in bold, its sentences, and in brackets at its end the tables that carry its
numbers. Whoever adds one adds what it rests on here, under its paper and lead, as a function of ``table(name)``, which
gives a table of the paper as machines read it.
"""

import importlib
import importlib.util
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from rfstudy.report.catalogue import specification
from rfstudy.report.context import Context

ROOT = Path(__file__).resolve().parents[2]
loaded = importlib.util.spec_from_file_location("report_rows", Path(__file__).parent / "report_rows.py")
report_rows = importlib.util.module_from_spec(loaded)
loaded.loader.exec_module(report_rows)


class Finding(NamedTuple):
    """One item of the page: its paper, the lead in bold, all its words, and the tables that it names."""

    paper: str
    lead: str
    text: str
    tables: list[str]


def findings(page: str) -> list[Finding]:
    """The items of a page, by the papers of its sections."""
    found = []
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        (paper,) = re.findall(r"\(`(\w+)`\)$", heading)
        for item in re.split(r"^\* ", body, flags=re.MULTILINE)[1:]:
            text = " ".join(item.split())
            lead = re.match(r"\*\*(.+?)[.:]\*\*", text)[1]
            (tables,) = re.findall(r"\(((?:`[a-z0-9-]+`(?:, )?)+)\)$", text)
            found.append(Finding(paper, lead, text, re.findall(r"`([a-z0-9-]+)`", tables)))
    return found


PAGE = findings((ROOT / "docs" / "findings.md").read_text(encoding="utf-8"))


def shipped(experiments) -> list[Path]:
    """The files of those experiments that come with the repository; what is not there reads "not run" in a table."""
    files = [ROOT / "data" / "measured" / f"{name}.csv.xz" for name in experiments]
    return [path for path in files if path.exists()]


@cache
def context(*experiments) -> Context:
    files = shipped(experiments)
    looks, tasks = report_rows.METHODS, report_rows.REGISTERED
    return Context.read(files, list(experiments), looks, tasks, report_rows.REFERENCE)


@cache
def table_of(paper: str, name: str):
    """A table of the shipped rows, as machines read it."""
    spec = specification(report_rows.REPORTS, paper, name)
    kind = importlib.import_module(f"rfstudy.report.tables.{spec['kind']}")
    return report_rows.as_computed(kind.make(context(*spec["experiments"]), spec))


def printed_accuracies(table, text):
    """Verdicts on the printed accuracies under the code's protocol, and that the text's learns nothing on EEG."""
    code = table("table-03-cells-code")["verdict"].value_counts()
    compared = code.drop(["not comparable", "not run"], errors="ignore")
    told = [int(number) for number in re.findall(r"(\d+) of the (\d+) printed cells", text)[0]]
    assert told == [code["reproduced"], compared.sum()]
    noisy, differ = (int(re.search(pattern, text)[1]) for pattern in (r"(\d+) are too noisy", r"and (\d+) differ"))
    assert (noisy, differ) == (code["too noisy"], code.get("better", 0) + code.get("worse", 0))
    cells = table("table-03-cells-code")
    assert (cells.loc[cells["verdict"] == "too noisy", "in_standard_errors"].abs() < 3).all()
    text_cells = table("table-03-cells-text")
    eeg = text_cells[(text_cells["data_set"] == "EEG") & (text_cells["method"] == "RFF")]
    assert eeg["ours"].max() - eeg["ours"].min() < 1.0  # whatever the number of features


def told(text: str, pattern: str) -> list[float]:
    """The numbers that a pattern with groups finds in a text, in which a comma parts thousands."""
    found = re.search(pattern, text)
    assert found, f"the finding does not say {pattern!r}"
    return [float(number.replace(",", "")) for number in found.groups()]


def one(table, column="value", **where) -> float:
    """The value of a column in the one row of a table that has the values of others; "" stands for an empty cell."""
    rows = table
    for name, wanted in where.items():
        rows = rows[rows[name].astype(object).fillna("").astype(str) == str(wanted)]
    assert len(rows) == 1, f"{len(rows)} rows with {where}"
    return float(rows[column].iloc[0])


def rounded(value: float, digits: int = 2) -> float:
    return round(value, digits)


def printed_adult(table, text):
    """Errors of Adult with both learners beside those printed."""
    errors = {}
    for name, method in (("table-03-text", "kprff"), ("table-05-text", "karff"), ("table-03-text", "rff")):
        rows = table(name)
        rows = rows[rows["quantity"] == "error_pct"]
        sources = ("ours, ridge", "ours, logistic regression", "published")
        where = {"data_set_id": "adult", "method_id": method}
        errors[method] = [rounded(one(rows, source=source, **where)) for source in sources]
    number = r"([\d.]+)"
    pattern = rf"EERF has {number} %.*and {number} with logistic.*\(printed {number}\), LKRF {number} and {number} "
    pattern += rf"\({number}\), and RKS {number} and {number}, half a point above its {number}\."
    assert told(text, pattern) == errors["kprff"] + errors["karff"] + errors["rff"]
    for method in ("kprff", "karff"):
        assert max(abs(ours - errors[method][2]) for ours in errors[method][:2]) < 0.5  # the margin of the scorecard
    assert min(ours - errors["rff"][2] for ours in errors["rff"][:2]) > 0.5


def digits_without_a_lead(table, text):
    """Errors of MNIST beside those printed, where the lead ends, and that nothing else was run."""
    rows, curves = table("table-03-text"), table("values-error-ridge-text")
    rows = rows[rows["quantity"] == "error_pct"]
    sources = ("ours, ridge", "published")
    where = {"data_set_id": "mnist"}
    four = [rounded(one(rows, source=s, method_id=m, **where)) for s in sources for m in ("kprff", "rff")]
    number = r"([\d.]+)"
    assert told(text, rf"EERF has {number} % and RKS {number} \(printed {number} and {number}\)") == four
    of_digits = curves[curves["data_set_id"] == "mnist"]
    errors = of_digits.pivot_table(index="s", columns="method_id", values="value")
    few = [rounded(errors.loc[45, method]) for method in ("kprff", "rff")]
    assert told(text, rf"{number} against {number} % at 45") == few
    lead = errors["rff"] - errors["kprff"]
    (first,) = told(text, rf"from {number} on it is not")
    assert (lead > 0).to_dict() == {s: s < first for s in lead.index}
    measured = rows[rows["source"].str.startswith("ours") & rows["value"].notna()]
    assert set(measured["data_set_id"]) == {"adult", "mnist"}
    assert set(of_digits.loc[of_digits["value"].notna(), "method_id"]) == {"rff", "orf", "kprff"}


def ahead_on_adult(table, text):
    """Errors at the fewest and most features, text and tuned; the lead is over three standard errors everywhere."""

    def error(protocol, method, s, learner="ridge", column="value"):
        rows = table(f"values-error-{learner}-{protocol}")
        rows = rows[(rows["data_set_id"] == "adult") & (rows["s"] == s)]
        return one(rows, column, method_id=method, method_variant="")

    def lead(protocol, s):
        of_both = [error(protocol, method, s, column="std") ** 2 / 10 for method in ("kprff", "rff")]
        gain = error(protocol, "rff", s) - error(protocol, "kprff", s)
        assert gain > 3 * sum(of_both) ** 0.5
        return gain

    places = [("text", 10), ("text", 100), ("tuned", 10), ("tuned", 100)]
    four = [rounded(error(protocol, method, s)) for protocol, s in places for method in ("kprff", "rff")]
    number = r"([\d.]+)"
    pattern = (
        rf"it has {number} % and RKS {number}, with 100 {number} and {number}; tuned alike {number} and {number}, "
    )
    assert told(text, pattern + rf"and {number} and {number}:") == four
    for protocol in ("text", "tuned"):
        gains = [lead(protocol, s) for s in range(10, 101, 10)]
        assert min(gains[:3]) > max(gains[-3:])
    assert 0.4 < lead("tuned", 100) / lead("text", 100) < 0.6
    assert lead("tuned", 10) > lead("text", 10)
    both = [rounded(error("tuned", "rff", 100, "logistic")), rounded(error("text", "kprff", 100, "logistic"))]
    assert told(text, rf"features \({number}\) than EERF as the text has it \({number}\)") == both
    assert both[0] < both[1]


def the_ranking(table, text):
    """Errors of the ways of choosing from the largest pool, their tests, and the effective ranks."""
    ways = table("values-ranking-text")
    ways = ways[ways["data_set_id"] == "adult"]

    def of(column, pool, method, variant=""):
        return one(ways, column, m0=f"{pool}", choice_id=method, choice_variant=variant)

    named = {"score": ("kprff", ""), "random": ("rff", ""), "lasso": ("kprff", "lasso"), "omp": ("kprff", "omp")}
    number = r"([\d.]+)"
    pattern = (
        rf"first 100 have {number} % of error, a random 100 {number}, the Lasso's {number} and .* pursuit {number};"
    )
    assert told(text, pattern) == [rounded(of("error", 2000, *way)) for way in named.values()]
    for pool in (200, 500, 1000, 2000):
        for way, sign in (("random", 1), ("lasso", -1), ("omp", -1)):
            assert sign * of("change", pool, *named[way]) > 0.1
            assert of("change_p_value", pool, *named[way]) < 0.05
    ranks = [of("effective_rank", *place) for place in ((200, "kprff"), (2000, "kprff"), (2000, "rff"))]
    pattern = rf"rank falls from {number} of a pool of 200 to {number} of one of 2,000, where a .* keeps {number}\."
    assert told(text, pattern) == [rounded(rank, 0) for rank in ranks]


def made_tasks(table, text):
    """Accuracies on both made tasks, no more than half a point below those printed, and the distinct harmonics."""
    games = table("values-game-text")
    mill = {"data_set_id": "windmill", "method_variant": "", "m": 1000}
    board = {"data_set_id": "checkerboard", "method_variant": "", "m": 100}
    accuracies = [rounded(one(games, column, **where)) for where in (mill, board) for column in ("test", "training")]
    pattern = r"has ([\d.]+) % on test and ([\d.]+) %.*checkerboard ([\d.]+) and ([\d.]+) % after"
    assert told(text, pattern) == accuracies
    printed = [99.3, 99.7, 99.1, 99.7]
    assert min(ours - of for ours, of in zip(accuracies, printed, strict=True)) > -0.5
    assert told(text, r"with (\d+) distinct") == [one(games, "distinct", **board)]
    assert one(games, "distinct", **board) < 29
    kernels = table("values-exact-text")
    on_mill = {"data_set_id": "windmill"}
    rivals = [
        rounded(one(kernels, "test", machine_id="arccos0", **on_mill)),
        rounded(one(kernels, "test", machine_id="combination", **on_mill)),
        rounded(one(kernels, "test", machine_id="gaussian", machine_variant="0.125", **on_mill)),
    ]
    pattern = r"order 0 has ([\d.]+) %, a learned combination of nine kernels ([\d.]+), .* distance ([\d.]+) \("
    assert told(text, pattern) == rivals
    assert rivals[0] > accuracies[0]
    exact = ["gaussian", "arccos0", "arccos1", "linear", "combination"]
    on_board = kernels[(kernels["data_set_id"] == "checkerboard") & kernels["machine_id"].isin(exact)]
    assert told(text, r"the best of them has ([\d.]+)\.") == [rounded(on_board["test"].max())]


def the_game_not_the_search(table, text):
    """The dual weights matter and pass the test; random draws are as good with many frequencies, not with few."""
    many, few = table("values-windmill-text"), table("values-windmill-few-text")
    change = {"quantity": "change"}
    assert told(text, r"weights cost ([\d.]+) points") == [-rounded(one(many, step_id="uniform", **change))]
    for steps in (many, few):
        assert one(steps, "p_value", step_id="uniform", **change) < 0.05
    both = [rounded(one(many, step_id=step, quantity="accuracy")) for step in ("random", "")]
    assert told(text, r"lose nothing \(([\d.]+) against ([\d.]+) %\)") == both
    assert one(many, "p_value", step_id="random", **change) > 0.05
    assert told(text, r"no noise ([\d.]+)\.") == [-rounded(one(many, step_id="still", **change))]
    random = [
        rounded(-one(few, step_id="random", **change)),
        rounded(one(few, "p_value", step_id="random", **change), 3),
    ]
    assert told(text, r"are ([\d.]+) points behind.*\(p = ([\d.]+)\)") == random


def ten_a_round(table, text):
    """One frequency a round is better with few and worse with many; both pass the test."""
    one_a_round = {"quantity": "change", "step_id": "one"}
    few, many = table("values-windmill-few-text"), table("values-windmill-text")
    changes = [rounded(one(few, **one_a_round)), -rounded(one(many, **one_a_round))]
    assert told(text, r"is ([\d.]+) points better.*and ([\d.]+) worse") == changes
    assert min(changes) > 0
    assert max(one(steps, "p_value", **one_a_round) for steps in (few, many)) < 0.05


def the_printed_bound(table, text):
    """Where the gap is above the bound as printed, and how far below the mended one."""
    games = table("values-game-text")
    mill = games[games["data_set_id"] == "windmill"]
    itself = mill[mill["method_variant"].fillna("") == ""]
    assert (itself["gap"] > itself["bound_as_printed"]).all()
    where = {"method_variant": "", "m": 1000}
    ten = [rounded(one(mill, column, **where), 0) for column in ("gap", "bound_as_printed")]
    assert told(text, r"in the mean ([\d,]+) against ([\d,]+) with 1,000") == ten
    by_m = mill[mill["method_variant"] == "one"].set_index("m")
    assert told(text, r"with 50 \(([\d,]+) against ([\d,]+)\)") == [
        rounded(by_m.loc[50, column], 0) for column in ("gap", "bound_as_printed")
    ]
    assert (by_m["gap"] > by_m["bound_as_printed"]).to_dict() == {50: True, 100: False, 1000: False}
    both = mill[mill["method_variant"].fillna("").isin(["", "one"])]
    assert (both["bound_mended"] > 50 * both["gap"]).all()


def few_frequencies(table, text):
    """Accuracies on two pairs at the two ends of the sizes that were run, and those printed."""
    pairs = table("table-01-text")

    def accuracy(method, s, source="measured", pair="cifar10-auto-truck", column="accuracy_pct"):
        return rounded(one(pairs, column, data_set_id=pair, s=s, source=source, method_id=method))

    three = ("nsrf", "rff", "karff")
    pattern = r"has ([\d.]+) % with 100.*RBF-RF ([\d.]+) and LKRF ([\d.]+) \(printed ([\d.]+), ([\d.]+) and ([\d.]+)\);"
    assert told(text, pattern) == [accuracy(m, 100) for m in three] + [accuracy(m, 100, "published") for m in three]
    both = ("nsrf", "rff")
    pattern = r"with 1,000 it has ([\d.]+) and RBF-RF ([\d.]+) \(printed ([\d.]+) and ([\d.]+)\)"
    assert told(text, pattern) == [accuracy(m, 1000) for m in both] + [accuracy(m, 1000, "published") for m in both]
    for s in (100, 500, 1000):
        assert accuracy("rff", s) > accuracy("rff", s, "published")
        assert accuracy("nsrf", s) < accuracy("nsrf", s, "published")
    lead = [accuracy("nsrf", 1000, source) - accuracy("rff", 1000, source) for source in ("measured", "published")]
    assert 0 < lead[0] < lead[1] / 10
    digits = [accuracy("nsrf", 100, pair="mnist-4-9"), accuracy("rff", 1000, pair="mnist-4-9")]
    assert told(text, r"its ([\d.]+) % with 100.*the ([\d.]+) of RBF-RF") == digits
    assert digits[0] > digits[1]
    trials = [accuracy("nsrf", 100, pair=pair, column="accuracy_pct_n") for pair in ("cifar10-auto-truck", "mnist-4-9")]
    assert trials == [3, 1]


def no_single_part(table, text):
    """The accuracies without each part beside that of the method, with 100 frequencies and with 20."""
    steps = table("values-ablation-text")
    steps = steps[steps["data_set_id"] == "cifar10-auto-truck"]

    def accuracy(size, variant="", method="nsrf", column="value"):
        return rounded(one(steps, column, size=size, method_id=method, method_variant=variant))

    own, plain = accuracy(100), accuracy(100, method="rff")
    (within, *both) = told(text, r"within ([\d.]+) points of ([\d.]+) %, where plain features have ([\d.]+)")
    assert both == [own, plain]
    parts = [accuracy(100, variant) for variant in ("still", "uniform", "random", "one")]
    assert max(abs(each - own) for each in parts) < within < own - plain
    few = [rounded(accuracy(20) - accuracy(20, "random")), rounded(accuracy(20, "uniform") - accuracy(20))]
    assert told(text, r"With 20, random draws fall ([\d.]+) points behind, and the game costs ([\d.]+)\.") == few
    budgets = table("values-evaluations-text")
    at = {"data_set_id": "cifar10-auto-truck", "evaluations": 6100, "choice_id": "nsrf"}
    two = [rounded(one(budgets, "test_accuracy", choice_variant=variant, **at)) for variant in ("random", "")]
    assert told(text, r"6,100, random draws have ([\d.]+) % and the Langevin search ([\d.]+);") == two
    pool = one(budgets, "test_accuracy", **at | {"evaluations": 122000, "choice_id": "kprff"})
    assert told(text, r"the pool of EERF has ([\d.]+) with") == [rounded(pool)]
    assert accuracy(100, column="n") == 3


#: What a finding rests on, by paper and lead.
HELD = {
    ("slsrff", "The printed accuracies come out under `code`, not under `text`"): printed_accuracies,
    (
        "eerf",
        "The printed errors of Adult come out, under a reading that was chosen after a look at them",
    ): printed_adult,
    (
        "eerf",
        "On MNIST neither the printed errors nor the lead come out with ridge classification",
    ): digits_without_a_lead,
    ("eerf", "On Adult EERF is ahead at every number of features, most where they are few"): ahead_on_adult,
    ("eerf", "Its ranking is better than chance and worse than a choice that knows of redundancy"): the_ranking,
    ("nsrf", "The made tasks come out as printed, and one of them without learning"): made_tasks,
    ("nsrf", "The game does the work, not the search"): the_game_not_the_search,
    ("nsrf", "Ten frequencies a round cost accuracy where frequencies are few"): ten_a_round,
    ("nsrf", "The duality gap lies above the bound that Theorem 4.1 prints"): the_printed_bound,
    ("nsrf", "Learned frequencies are worth much where few are allowed"): few_frequencies,
    ("nsrf", "On automobile against truck no single part of the method is missed"): no_single_part,
}

#: Findings that no test reads yet: the list may only get shorter.
NOT_HELD = {
    ("slsrff", "The gain is a smaller penalty"),
    ("slsrff", "Resampling as the text describes it gains nothing"),
    ("slsrff", "The surrogate is not an upper bound, as used"),
    ("slsrff", "The theory's sample sizes are not what is needed"),
    ("survey", "Approximation"),
    ("survey", "Prediction"),
    ("survey", "Theory"),
}


@pytest.mark.parametrize("finding", PAGE, ids=lambda finding: f"{finding.paper}: {finding.lead}")
def test_a_finding_rests_on_tables_of_shipped_rows(finding):
    for name in finding.tables:
        spec = specification(report_rows.REPORTS, finding.paper, name)
        assert spec["form"] == "tables"
        assert shipped(spec["experiments"])


@pytest.mark.parametrize("finding", [each for each in PAGE if each[:2] in HELD], ids=lambda each: each.lead)
def test_a_finding_is_what_its_tables_say(finding):
    HELD[finding[:2]](lambda name: table_of(finding.paper, name), finding.text)


def test_every_finding_is_held_or_listed_as_not():
    leads = [finding[:2] for finding in PAGE]
    assert len(set(leads)) == len(leads)
    assert set(leads) == set(HELD) | NOT_HELD
    assert not set(HELD) & NOT_HELD


def test_a_paper_has_few_findings():
    of_paper = [sum(finding.paper == paper for finding in PAGE) for paper in {finding.paper for finding in PAGE}]
    assert max(of_paper) <= 6


def test_a_page_is_read_item_by_item():
    page = "# T\n\n## Features (`eerf`)\n\n* **One.** It is\n  so. (`a-text`)\n* **Two:** not. (`a-text`, `b-tuned`)\n"
    assert findings(page) == [
        Finding("eerf", "One", "**One.** It is so. (`a-text`)", ["a-text"]),
        Finding("eerf", "Two", "**Two:** not. (`a-text`, `b-tuned`)", ["a-text", "b-tuned"]),
    ]
    with pytest.raises(ValueError, match="not enough values"):
        findings("## Features (`eerf`)\n\n* **One.** Without a table.\n")
