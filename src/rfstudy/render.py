"""Write README.md with its pictures, and the pages of docs that have templates, from the rows in ``data/measured``.

A template (``docs/*.md.j2``) holds the sentences. Its numbers are values of the functions below. Each finding has a
condition (``holds``) under which it is true, next to it or to its evidence. Rows that no longer meet it stop the build.
"""

import hashlib
import io
from functools import cache, partial
from pathlib import Path

import jinja2
import pandas as pd
from PIL import Image

from random_features.errors import UserError
from random_features.maps.registry import REGISTRY
from rfstudy import tidy
from rfstudy.files import read_json, read_record_file, record_file, write_atomically, write_text
from rfstudy.outputs import configured
from rfstudy.paper_pages import STATES, Page, markdown, numbers_of, parts_of_papers
from rfstudy.report import plots, style, tables
from rfstudy.report.aggregate import select
from rfstudy.report.arena import OUTCOMES, sets_needed
from rfstudy.report.catalogue import specification
from rfstudy.report.claims.points import CASES, MEANING
from rfstudy.report.compare import CELL_VERDICTS, Estimate, is_effect
from rfstudy.report.context import Context
from rfstudy.report.published import named_by
from rfstudy.report.typeset import description, one_number_per_cell

#: The pictures of the page: the file, the paper and name of the figure, and its alternative text.
PICTURES = {
    "what-matters.png": ("study", "what-matters-all", "points of accuracy gained by a penalty, a map and a model"),
    "arena-forest.png": ("study", "arena-forest-new-tuned", "error of each map relative to RFF on a new data set"),
    "benchmark.png": ("survey", "figure-10-text", "error, time and accuracy of nine maps by number of features"),
    "double-descent.png": ("survey", "figure-07-text", "training and test error against the number of features"),
    "penalty.png": ("slsrff", "ablation-chart-code", "accuracy after each step from the paper's text to its code"),
    "few-features.png": ("eerf", "figure-01-text", "test error of EERF and its baselines by number of features"),
    "windmill.png": ("nsrf", "figure-01a-text", "weights, potential and decision of NSRF on the windmill"),
    "crossover.png": ("study", "crossover-times", "time to map a row against the number of columns"),
}

#: The papers, in the order of the pages.
PAPERS = ("survey", "slsrff", "eerf", "nsrf")

#: The names of the pages in ``docs``.
NAMES = ("findings", "evidence", "measurements", "checklist", "which-map", *(f"papers/{paper}" for paper in PAPERS))

#: The pages, each with its template in ``docs``.
PAGES = {"README.md": "README.md.j2"} | {f"docs/{name}.md": f"{name}.md.j2" for name in NAMES}

#: Pixels across.
WIDTH = 1060

#: Smallest number of repeats for which a finding gives the mean of a cell.
ENOUGH = 5


class Shipped:
    """The measurements that ship with a repository, with its configuration and the published numbers.

    Parameters
    ----------
    root : path of the repository
    paper : a paper that names the methods; by default they have the study's names
    """

    #: The rows of a file, read once in a process.
    rows = staticmethod(cache(tidy.read))

    def __init__(self, root, paper: str = ""):
        self.root, self.paper = Path(root), paper
        self.tasks, styles, self.experiments, self.reports = configured(self.root / "config")
        self.styles = named_by(paper, styles) if paper else styles
        self.context, self.made = cache(self._context), cache(self._made)
        self.with_names_of = cache(partial(Shipped, root))
        self.table = cache(lambda paper, name: one_number_per_cell(self.made(paper, name)))

    def file(self, experiment: str) -> Path:
        """Return the file of the rows of an experiment, if they are shipped."""
        return self.root / "data" / "measured" / f"{experiment}.csv.xz"

    def has(self, experiments) -> bool:
        """Return whether the rows of all these experiments are shipped."""
        return all(self.file(name).exists() for name in experiments)

    def spec(self, paper: str, name: str) -> dict:
        """Return the specification of a table or figure."""
        return specification(self.reports, paper, name)

    def _context(self, *experiments: str, kernel: str = "") -> Context:
        rows = {path: self.rows(path) for path in map(self.file, experiments) if path.exists()}
        return Context.of(rows, list(experiments), self.styles, self.tasks, self.root / "data" / "reference", kernel)

    def _made(self, paper: str, name: str):
        spec = self.spec(paper, name)
        context = self.context(*spec["experiments"], kernel=spec.get("kernel", ""))
        return tables.make(context, spec) if spec["form"] == "tables" else plots.picture(context, spec)

    def runs(self, experiment: str) -> list[dict]:
        """Return the records of the runs of an experiment's shipped rows."""
        return read_record_file(record_file(self.file(experiment)))["runs"]

    def hours(self, experiment: str) -> float:
        """Return the hours of wall time that these runs took."""
        return sum(run["wall_time_s"] for run in self.runs(experiment)) / 3600


def run(root, out) -> None:
    """Write the pages and the pictures in docs/pictures, and into ``out`` the hashes of their sources."""
    shipped = Shipped(root)
    for name in PICTURES:
        path, content = shipped.root / "docs" / "pictures" / name, picture(shipped, name)
        write_atomically(path, lambda temporary, content=content: Path(temporary).write_bytes(content))
    for page, template in PAGES.items():
        write_text(rendered(shipped, template), shipped.root / page, only_if_changed=True)
    write_text("".join(f"{digest(shipped, name)}  {name}\n" for name in PICTURES), out)


def rendered(shipped: Shipped, template: str) -> str:
    """Return the text of a page, from its template in ``docs``. Raise ``UserError`` if a sentence no longer holds."""
    options = {"undefined": jinja2.StrictUndefined, "trim_blocks": True, "keep_trailing_newline": True}
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(shipped.root / "docs"), **options)
    values = (verdicts, measured, recomputed, accuracies, at_equal_columns, on_new_sets, parts_of_papers)
    environment.globals |= {each.__name__: partial(each, shipped) for each in values}
    environment.globals |= {each.__name__: each for each in (shown, rows, one, effects)}
    environment.globals |= {"table": shipped.table, "page": lambda paper: Page(shipped.with_names_of(paper))}
    environment.globals |= {"holds": partial(holds, template), "number_of_maps": len(REGISTRY), "meaning": MEANING}
    environment.globals |= {"cases": CASES, "states": STATES}
    return environment.get_template(template).render()


def shown(name: str, folder: str = "docs/pictures") -> str:
    """Return a picture, with the path to its folder from the page."""
    return f"![{PICTURES[name][2]}]({folder}/{name})"


def picture(shipped: Shipped, name: str) -> bytes:
    """Return a picture as PNG, the same bytes for the same rows. Its text ``Source`` is the ``digest`` of its rows."""
    paper, figure, _ = PICTURES[name]
    drawn, large, spec = shipped.with_names_of(paper).made(paper, figure), io.BytesIO(), shipped.spec(paper, figure)
    with style.style():
        drawn.figure.savefig(large, format="png")
    image = Image.open(large).convert("RGB")
    image = image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)
    return style.png(image, Source=digest(shipped, name), Description=description(spec["caption"], drawn.notes))


def digest(shipped: Shipped, name: str) -> str:
    """Return the SHA-256 of the shipped rows that a picture shows."""
    files = map(shipped.file, shipped.spec(*PICTURES[name][:2])["experiments"])
    return hashlib.sha256(b"".join(file.read_bytes() for file in files if file.exists())).hexdigest()


def code_spans(ids) -> str:
    """Return ids in code style, with commas; a dash for none."""
    return ", ".join(f"`{each}`" for each in ids) or "-"


def verdicts(shipped: Shipped) -> str:
    """Return how many published results of each paper were reproduced under each protocol. Counts of rows are not
    results.
    """
    rows = [
        {"paper": f"`{paper}`", "protocol": protocol, "published": len(found)} | numbers_of(CELL_VERDICTS, found)
        for paper in PAPERS
        for protocol, found in Page(shipped.with_names_of(paper)).results.groupby("protocol", sort=False)["verdict"]
    ]
    return markdown(rows)


def measured(shipped: Shipped) -> str:
    """Return the experiments and maps that have rows in ``data/measured``, and those that have none yet."""
    rows = []
    for paper in dict.fromkeys(each["paper"] for each in shipped.experiments.values()):
        own = [name for name, each in shipped.experiments.items() if each["paper"] == paper]
        there, missing = ([name for name in own if shipped.has([name]) == has] for has in (True, False))
        hours = sum(map(shipped.hours, there))
        found = {"measured": code_spans(there), "hours": f"{hours:.1f}", "not measured yet": code_spans(missing)}
        rows.append({"paper": f"`{paper}`"} | found)
    there = [name for name in shipped.experiments if shipped.has([name])]
    found = set().union(*(select(shipped.context(name).rows, status="ok")["method"] for name in there))
    with_rows, without = ([name for name in REGISTRY if (name in found) == has] for has in (True, False))
    of_maps = f"Maps with measured rows ({len(with_rows)} of {len(REGISTRY)}): {code_spans(with_rows)}."
    rest = f" Without any yet: {code_spans(without)}." if without else ""
    runs = (run for name in there for run in shipped.runs(name))
    parts = ((f"{run['cores']} cores of an {run['cpu']}", run.get("gpu")) for run in runs)
    machines = sorted({" with an ".join(filter(None, each)) for each in parts})
    hours = f"Hours are wall time of the runs with shipped rows, several at a time. Machines: {'; '.join(machines)}."
    return f"{markdown(rows)}\n\n{of_maps}{rest} {hours}"


def recomputed(shipped: Shipped) -> pd.DataFrame:
    """Return how many values of an experiment were computed again and how many agree, with other facts of its record
    (``docs/recheck.py``), one row per experiment with shipped rows. Numbers are missing where none were.
    """
    columns = ["values", "agree", "largest_relative_difference", "units_left_out", "units_with_shipped_choices"]
    records = {name: read_json(record_file(shipped.file(name))) for name in shipped.experiments if shipped.has([name])}
    rows = [{"experiment": name} | each.get("recomputed", {}) for name, each in records.items()]
    return pd.DataFrame(rows, columns=["experiment", *columns])


def holds(template: str, condition: bool, finding: str) -> str:
    """Return an empty text. Raise ``UserError`` if the shipped rows no longer support a finding."""
    if not condition:
        raise UserError(f"the shipped rows no longer say that {finding}: rewrite the sentence in docs/{template}")
    return ""


def rows(table: pd.DataFrame, **wanted) -> pd.DataFrame:
    """Return the rows of a table whose columns have a wanted text, or one of a list; "" is an empty cell."""
    texts = table[list(wanted)].astype(object).fillna("").astype(str)
    return table.loc[select(texts, **wanted).index]


def one(table: pd.DataFrame, column: str = "value", **wanted) -> float:
    """Return the value of a column in the only row with the wanted values. Raise ``ValueError`` for none or several."""
    return float(rows(table, **wanted)[column].item())


def effects(table: pd.DataFrame, sign: int = 0) -> pd.DataFrame:
    """Return the significant differences of accuracy in a table of differences, of one sign if it is 1 or -1."""
    pairs = zip(table["value"], table["p_value"], strict=True)
    found = table[[is_effect(Estimate(value, p=p), "accuracy_pct") for value, p in pairs]]
    return found[found["value"].mul(sign).gt(0)] if sign else found


def accuracies(shipped: Shipped, protocol: str) -> dict[str, int]:
    """Return how many published accuracies of SLS-RFF's Table 3 have each verdict, and how many can be compared."""
    cells = shipped.table("slsrff", f"table-03-cells-{protocol}")
    found = numbers_of([word.replace(" ", "_") for word in CELL_VERDICTS], cells["verdict"].str.replace(" ", "_"))
    return found | {"compared": sum(list(found.values())[:4])}


def on_new_sets(shipped: Shipped) -> str:
    """Return a sentence: what new data sets say about the statements on them, or how many count so far and how many a
    confirmation of a direction needs.
    """
    found = shipped.table("study", "arena-confirmation-tuned")
    counts = [int(found["outcome"].eq(word).sum()) for word in OUTCOMES]
    sets, needed = found["sets"].max(), sets_needed(int(found["statement"].ne("equal").sum()))
    if sets < needed and not any(counts[:3]):
        return f"No statement is confirmed yet: {sets} of at least {needed} new data sets count so far."
    held = found[found["outcome"].isin(OUTCOMES[:2])]
    alike = held.groupby(["largest_d", "statement"], sort=False)["map"].agg(" and ".join)
    named = [f"{maps} {says} with up to {int(most):,} columns" for (most, says), maps in alike.items()]
    confirmed = f"{len(held)} {'is' if len(held) == 1 else 'are'} confirmed" + f" ({', '.join(named)})" * bool(named)
    others = f"{counts[2]} contradicted and {counts[3]} undecided"
    expected = found["predicted"].sum()
    verdict = ", too many" * bool(expected > 2 * len(held))
    return f"Of {len(found)} statements about them, {confirmed}, {others}. We had predicted {expected:.1f}{verdict}."


def at_equal_columns(shipped: Shipped, method: str) -> pd.Series:
    """Return the error of a method's kernel matrix over the error of RFF with as many columns, by data set and columns.

    The rows come from the survey's Gaussian benchmark, where both have ``ENOUGH`` repeats.
    """
    found = shipped.context("survey-gaussian-text", "survey-gaussian-others").rows
    found = select(found, method=["rff", method], variant="", metric="approximation_error_frobenius", status="ok")
    means = found.groupby(["dataset", "n_columns", "method"])["value"].agg(["mean", "count"])
    means = means["mean"].where(means["count"].ge(ENOUGH)).unstack("method").dropna()
    return means[method] / means["rff"]
