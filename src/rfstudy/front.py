"""The front page: what README.md says of the shipped measurements, and its pictures, made of ``data/measured``.

What stands in README.md between two marks is what ``sections`` gives, so that no number there is typed by hand and
nothing is called measured that has no rows. A finding whose condition the rows no longer meet is an error and no
sentence: whoever measures anew has to look at it.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import re
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from random_features.errors import UserError
from random_features.maps.registry import REGISTRY
from rfstudy.data.entries import read_tasks
from rfstudy.files import read_yaml, write_atomically
from rfstudy.metrics import FACTS
from rfstudy.outputs import load_reports
from rfstudy.report import style, tables
from rfstudy.report.catalogue import modules_of, specification
from rfstudy.report.claims.samples import rank_correlation
from rfstudy.report.compare import CELL_VERDICTS
from rfstudy.report.context import Context
from rfstudy.report.scorecard import scorecard
from rfstudy.report.typeset import description, one_number_per_cell
from rfstudy.study.config import load_experiments

#: The pictures of the page: the file, the paper and name of the figure, and what is seen where there is no picture.
PICTURES = {
    "printed-against-ours.png": ("slsrff", "printed-against-ours-all", "every printed result of SLS-RFF against ours"),
    "crossover.png": ("study", "crossover-times", "time to map a row against the number of columns"),
}

#: Pixels across, and colours: enough for lines and letters, and small files.
WIDTH, COLOURS = 1060, 256

#: Repeats from which on a finding gives the mean of a cell.
ENOUGH = 5


class Shipped:
    """The measurements that ship with a repository, with its configuration and the printed numbers.

    Parameters
    ----------
    root : path of the repository
    """

    def __init__(self, root):
        self.root = Path(root)
        config = self.root / "config"
        self.tasks, self.styles = read_tasks(config / "datasets.yaml"), read_yaml(config / "methods.yaml")
        self.experiments = load_experiments(config, set(self.tasks))
        self.reports = load_reports(config, self.experiments, self.styles, self.tasks)
        self.table, self.context = cache(self._table), cache(self._context)

    def file(self, experiment: str) -> Path:
        """Where the rows of an experiment are, if they are shipped."""
        return self.root / "data" / "measured" / f"{experiment}.csv.xz"

    def has(self, experiments) -> bool:
        """Whether the rows of all these experiments are shipped."""
        return all(self.file(name).exists() for name in experiments)

    def spec(self, paper: str, name: str) -> dict:
        """The specification of a table or figure."""
        return specification(self.reports, paper, name)

    def _context(self, *experiments: str) -> Context:
        files = [self.file(name) for name in experiments if self.file(name).exists()]
        return Context.read(files, list(experiments), self.styles, self.tasks, self.root / "data" / "reference")

    def _table(self, paper: str, name: str) -> pd.DataFrame:
        spec = self.spec(paper, name)
        return one_number_per_cell(tables.make(self.context(*spec["experiments"]), spec))

    def runs(self, experiment: str) -> list[dict]:
        """The records of the runs that the shipped rows of an experiment point to."""
        path = self.file(experiment)
        return json.loads(path.with_name(f"{experiment}.provenance.json").read_text(encoding="utf-8"))["runs"]

    def hours(self, experiment: str) -> float:
        """What these runs took, in hours of wall time."""
        return sum(run["wall_time_s"] for run in self.runs(experiment)) / 3600

    @cached_property
    def processors(self) -> set[str]:
        """Where the shipped rows were measured: processor and cores."""
        shipped = [name for name in self.experiments if self.file(name).exists()]
        return {f"{run['cores']} cores of an {run['cpu']}" for name in shipped for run in self.runs(name)}

    @cached_property
    def methods(self) -> set[str]:
        """The maps that have rows with a value."""
        found = set()
        for name in self.experiments:
            if self.file(name).exists():
                rows = self.context(name).rows
                found |= set(rows.loc[rows["status"].eq("ok"), "method"])
        return found & set(REGISTRY)


def run(root, out) -> None:
    """The stage: write the sections into README.md and into the file ``out``, and the pictures into docs/pictures."""
    shipped = Shipped(root)
    for name in PICTURES:
        if drawable(shipped, name):
            path = shipped.root / "docs" / "pictures" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            content = picture(shipped, name)
            write_atomically(path, lambda temporary, content=content: Path(temporary).write_bytes(content))
    made = sections(shipped)
    page = shipped.root / "README.md"
    before = page.read_text(encoding="utf-8")
    text = written(before, made)
    if text != before:
        write_atomically(page, lambda temporary: Path(temporary).write_text(text, encoding="utf-8"))
    whole = "\n\n".join(f"{mark(name)}\n{part}" for name, part in made.items()) + "\n"
    write_atomically(out, lambda temporary: Path(temporary).write_text(whole, encoding="utf-8"))


def mark(name: str) -> str:
    """The line above a section of this name."""
    return f"<!-- {name}: made of data/measured by `snakemake --cores 1 front_page` -->"


def written(page: str, made: dict[str, str]) -> str:
    """A page with sections in their places; ``UserError`` where one has no place."""
    for name, part in made.items():
        begin, end = re.escape(mark(name)), re.escape(f"<!-- end of {name} -->")
        places = re.findall(rf"^{begin}$.*?^{end}$", page, re.MULTILINE | re.DOTALL)
        if len(places) != 1:
            raise UserError(
                f"README.md needs the lines {mark(name)!r} and '<!-- end of {name} -->' once, in this order"
            )
        page = page.replace(places[0], f"{mark(name)}\n\n{part}\n\n<!-- end of {name} -->")
    return page


def sections(shipped: Shipped) -> dict[str, str]:
    """The sections of the page by name, in Markdown."""
    return {
        "printed": shown(shipped, "printed-against-ours.png"),
        "findings": "\n".join(f"* {finding(shipped)}" for finding in (printed_accuracies, penalty, maps_alike)),
        "verdicts": verdicts(shipped),
        "measured": measured(shipped),
        "crossover": shown(shipped, "crossover.png"),
    }


def drawable(shipped: Shipped, name: str) -> bool:
    """Whether the rows of a picture are shipped."""
    paper, figure, _ = PICTURES[name]
    return shipped.has(shipped.spec(paper, figure)["experiments"])


def shown(shipped: Shipped, name: str) -> str:
    """A picture with its caption; where its rows are not shipped, how to measure them."""
    paper, figure, seen = PICTURES[name]
    spec = shipped.spec(paper, figure)
    if not drawable(shipped, name):
        return f"Not shipped yet: `{paper}/{figure}`, {seen}, of {listed(spec['experiments'])}."
    return f"![{seen}](docs/pictures/{name})\n\n`{paper}`: {spec['caption']} (`figures/measured/{paper}/{figure}.pdf`)"


def picture(shipped: Shipped, name: str) -> bytes:
    """A picture as PNG, the same bytes for the same rows; its text ``Source`` is the ``digest`` of what it shows."""
    spec = of_results(shipped.spec(*PICTURES[name][:2]))
    kind = importlib.import_module(modules_of(spec)[0])
    drawn, large, small = kind.draw(shipped.context(*spec["experiments"]), spec), io.BytesIO(), io.BytesIO()
    with style.style():
        drawn.figure.savefig(large, format="png", metadata={"Software": None})
    image = Image.open(large).convert("RGB")
    size = (WIDTH, round(image.height * WIDTH / image.width))
    words = PngInfo()
    words.add_text("Source", digest(shipped, name))
    words.add_text("Description", description(spec["caption"], drawn.notes))
    image = image.resize(size, Image.Resampling.LANCZOS).quantize(COLOURS, Image.Quantize.FASTOCTREE)
    image.save(small, "PNG", optimize=True, pnginfo=words)
    return small.getvalue()


def of_results(spec: dict) -> dict:
    """A specification without the counts of rows and columns that a paper prints of its data."""
    numbers = [
        entry | {"metrics": {metric: how for metric, how in entry["metrics"].items() if "column" not in how}}
        for entry in spec.get("scorecard", {}).get("numbers", [])
    ]
    return spec | ({"scorecard": spec["scorecard"] | {"numbers": numbers}} if numbers else {})


def digest(shipped: Shipped, name: str) -> str:
    """The SHA-256 of the shipped rows that a picture shows."""
    state = hashlib.sha256()
    for experiment in shipped.spec(*PICTURES[name][:2])["experiments"]:
        state.update(shipped.file(experiment).read_bytes())
    return state.hexdigest()


def listed(ids) -> str:
    """Ids in code style, with commas; a dash for none."""
    return ", ".join(f"`{each}`" for each in ids) or "-"


def markdown(rows: list[dict]) -> str:
    """A table of texts and numbers."""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(map(str, row.values())) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def verdicts(shipped: Shipped) -> str:
    """How many of the printed results of each paper came out under each protocol; counts of rows are no results."""
    rows = []
    for paper in ("survey", "slsrff", "eerf", "nsrf"):
        spec = shipped.spec(paper, "scorecard-all")
        cells = scorecard(shipped.context(*spec["experiments"]), spec)
        is_count = [FACTS[metric].tolerance is None for metric in cells["metric"]]
        cells = cells[cells["protocol"].ne("") & ~np.array(is_count)]
        for protocol, found in cells.groupby("protocol", sort=False)["verdict"]:
            number = {word: int((found == word).sum()) for word in CELL_VERDICTS}
            rows.append({"paper": f"`{paper}`", "protocol": protocol, "printed": len(found)} | number)
    return markdown(rows)


def measured(shipped: Shipped) -> str:
    """Which experiments and maps have rows in ``data/measured``, and which have none yet."""
    rows = []
    for paper in dict.fromkeys(each["paper"] for each in shipped.experiments.values()):
        own = [name for name, each in shipped.experiments.items() if each["paper"] == paper]
        there, missing = ([name for name in own if shipped.has([name]) == has] for has in (True, False))
        hours = sum(map(shipped.hours, there))
        told_of = {"measured": listed(there), "hours": f"{hours:.1f}", "not measured yet": listed(missing)}
        rows.append({"paper": f"`{paper}`"} | told_of)
    with_rows, without = ([name for name in REGISTRY if (name in shipped.methods) == has] for has in (True, False))
    told_of_maps = f"Maps with measured rows ({len(with_rows)} of {len(REGISTRY)}): {listed(with_rows)}."
    rest = f" Without any yet: {listed(without)}." if without else ""
    hours = (
        "Hours: of one thread, what the runs took whose rows are shipped, on "
        f"{' and '.join(sorted(shipped.processors))}, beside each other."
    )
    return f"{markdown(rows)}\n\n{told_of_maps}{rest} {hours}"


def holds(condition: bool, finding: str) -> None:
    """Raise ``UserError`` unless the shipped rows still say what a finding says."""
    if not condition:
        raise UserError(f"the shipped rows no longer say that {finding}: look at them, and at its words in front.py")


def counted(cells: pd.DataFrame) -> tuple[dict[str, int], int]:
    """The verdicts on printed cells by their number, and how many of the cells can be compared."""
    found = cells["verdict"].value_counts()
    counts = {word: int(found.get(word, 0)) for word in CELL_VERDICTS}
    return counts, sum(counts[word] for word in CELL_VERDICTS[:4])


def printed_accuracies(shipped: Shipped) -> str:
    """The printed accuracies of SLS-RFF under the protocol of its code and under that of its text."""
    of_code, of_text = (shipped.table("slsrff", f"table-03-cells-{protocol}") for protocol in ("code", "text"))
    (code, can), (text, could) = counted(of_code), counted(of_text)
    own, of_own = counted(of_code[of_code["method_id"].eq("slsrff")])
    holds(code["reproduced"] / can > 0.5 > text["reproduced"] / could, "SLS-RFF's accuracies are those of its code")
    return (
        "**The accuracies that SLS-RFF's paper prints come out with the settings of its code, not with those of its "
        "text.** With the former, which are pieced together from second-hand copies because they give these numbers, "
        f"{code['reproduced']} of the {can} printed cells that can be compared are reproduced ({code['too noisy']} are "
        f"too noisy for a verdict, {code['better'] + code['worse']} differ), of SLS-RFF's own {of_own} cells "
        f"{own['reproduced']}; with the latter {text['reproduced']} of {could}. (`table-03-cells-code`, "
        "`table-03-cells-text`)"
    )


def penalty(shipped: Shipped) -> str:
    """What leaving the weights of features unnormalised does, and plain RFF with the penalty that this amounts to."""
    rows = shipped.table("slsrff", "ablation-code")
    rows = rows[rows["data_set_id"].eq("eeg") & rows["quantity"].eq("accuracy")].dropna(subset=["value"])
    at = {(row.step_id, row.method_id): row.value for row in rows.itertuples()}
    cells = shipped.table("slsrff", "table-03-cells-code")
    (printed,) = cells.loc[
        cells["data_set"].eq("EEG") & cells["s"].eq("32d") & cells["method_id"].eq("slsrff"), "published"
    ]
    larger, smaller = at["folds", "rff"], at["smaller-penalty", "rff"]
    steps = {
        name: (at["sorted", method], at["code", method])
        for name, method in (("SLS-RFF", "slsrff"), ("LS-RFF", "lsrff"))
    }
    holds(
        all(after - before > 1 and abs(smaller - after) < 1 for before, after in steps.values()),
        "the gain of leverage scores is a smaller penalty",
    )
    told_of = [f"{name} goes from {before:.1f} to {after:.1f} %" for name, (before, after) in steps.items()]
    return (
        "**The gain of SLS-RFF and LS-RFF is a smaller penalty.** On EEG at s = 32d, all else as in the code, "
        f"{' and '.join(told_of)} once their weights are not normalised, which makes features longer and the penalty "
        f"in effect smaller; plain RFF goes from {larger:.1f} to {smaller:.1f} % with that smaller penalty. Of SLS-RFF "
        f"{printed:.1f} % are printed. (`ablation-code`, `table-03-cells-code`)"
    )


def maps_alike(shipped: Shipped) -> str:
    """Orthogonal features against plain ones, and all nine maps among each other: errors, and the accuracy of ridge
    regression on them."""
    few, more = (against_plain(shipped, size) for size in ("2d", "8d"))
    ratios = [ratio for ratio, _ in more]
    gains, of_few = ([gain for _, gain in each] for each in (more, few))
    nearer = [ratio for ratio in ratios if ratio < 0.8]
    rank = rank_correlations(shipped)
    holds(
        2 * len(nearer) > len(ratios) and max(map(abs, gains)) < 0.5,
        "a better approximation is hardly a better prediction",
    )
    return (
        "**As the survey says, a better approximation is hardly a better prediction.** At s = 8d the error of "
        f"orthogonal features (ORF) is {min(ratios):.2f} to {max(ratios):.2f} times that of RFF on the {len(ratios)} "
        "data sets of the survey that are measured with five repeats or more, and under 0.8 times on "
        f"{len(nearer)} of them; ridge regression on ORF is {min(gains):+.1f} to {max(gains):+.1f} points more "
        f"accurate, and {min(of_few):+.1f} to {max(of_few):+.1f} points at s = 2d. Among all nine maps both errors are "
        f"correlated in rank by {min(rank):+.2f} to {max(rank):+.2f}, at {sum(each > 0 for each in rank)} of "
        f"{len(rank)} data sets and sizes above zero. (`values-approximation-error-text`, `values-accuracy-ridge-text`)"
    )


def errors_and_accuracies(shipped: Shipped) -> list[pd.DataFrame]:
    """Of the survey's benchmark as its text says, by data set and size: the errors of the kernel matrix of all maps and
    the accuracies of ridge regression on them, those with ``ENOUGH`` repeats.
    """
    found = []
    for name in ("approximation-error", "accuracy-ridge"):
        rows = shipped.table("survey", f"values-{name}-text")
        rows = rows[rows["n"].ge(ENOUGH)]
        found.append(rows.pivot(index=["data_set_id", "size"], columns="method_id", values="value").astype(float))
    return found


def rank_correlations(shipped: Shipped) -> list[float]:
    """The rank correlation over the maps of the error of the kernel matrix with the share of wrong predictions, at
    every data set and size that has all maps.
    """
    errors, accuracies = (of.dropna() for of in errors_and_accuracies(shipped))
    places = errors.index.intersection(accuracies.index)
    return [rank_correlation(errors.loc[at], -accuracies.loc[at]).value for at in places]


def against_plain(shipped: Shipped, size: str) -> list[tuple[float, float]]:
    """Of each data set of the survey: the error of ORF over that of RFF at a size, and how many points more accurate it
    is.
    """
    of_size = [of.xs(size, level="size")[["rff", "orf"]].dropna() for of in errors_and_accuracies(shipped)]
    errors, accuracies = of_size
    both = errors.index.intersection(accuracies.index)
    ratios = errors.loc[both, "orf"] / errors.loc[both, "rff"]
    gains = accuracies.loc[both, "orf"] - accuracies.loc[both, "rff"]
    return list(zip(ratios, gains, strict=True))
