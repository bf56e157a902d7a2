"""Which tables and figures a run draws, from which rows, and into which files.

A *collection* is what is drawn of one set of rows: that of a preset, or "measured", the rows that ship with the
repository. Imported by the workflow when it parses: standard library only, beside what ``report.catalogue`` reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from rfstudy.report import catalogue
from rfstudy.study.config import MEASURED

#: The parts of the report, which shows them sorted by name: what holds printed numbers against ours, then the papers.
SCORECARD = "1 Scorecard"
CATEGORIES = {
    "survey": "2 Survey (Liu et al. 2021)",
    "eerf": "3 EERF (Shahrampour et al. 2018)",
    "nsrf": "4 NSRF (Bullins et al. 2018)",
    "slsrff": "5 SLS-RFF (Liu et al. 2020)",
    "study": "6 The library",
}


@dataclass(frozen=True)
class Drawings:
    """What can be drawn of a run and of the shipped measurements.

    Attributes
    ----------
    reports : the specifications of all tables and figures (``outputs.load_reports``)
    preset : the collection of the run
    experiments : what the run builds
    asked_for : those of them that a run makes which names none of their outputs
    shipped : the experiments whose rows come with the repository
    """

    reports: list[dict]
    preset: str
    experiments: frozenset[str]
    asked_for: frozenset[str]
    shipped: frozenset[str]

    def available(self, collection: str, report: dict) -> bool:
        """Whether this run has the experiments of a table or figure, or the repository one of them: what was not
        measured reads "not run" there.
        """
        names = set(report["experiments"])
        if collection == MEASURED:
            return not names or bool(names & self.shipped)
        return names <= self.experiments

    def wanted(self, collection: str, on_demand: bool = False, **like) -> list[dict]:
        """The tables and figures of a collection whose entries match ``like``; of experiments that run on demand only
        where that is said.
        """
        return [
            report
            for report in self.reports
            if self.available(collection, report)
            and all(report[key] == value for key, value in like.items())
            and (on_demand or collection == MEASURED or set(report["experiments"]) <= self.asked_for)
        ]

    def files(self, collection: str, on_demand: bool = False, **like) -> list[str]:
        """The files of the outputs that are ``wanted``."""
        return [path for report in self.wanted(collection, on_demand, **like) for path in files_of(collection, report)]

    def pages(self, collection: str) -> list[str]:
        """The pages that the report of a collection is made of."""
        return [f"{page_of(collection, report)}.html" for report in self.wanted(collection)]

    def rows(self, collection: str, reports: list[dict]) -> list[str]:
        """The rows that the outputs of one job are drawn from."""
        names = experiments_of(reports)
        return [results_of(collection, name) for name in names if collection != MEASURED or name in self.shipped]

    def jobs(self, form: str) -> dict[str, tuple[str, list[dict]]]:
        """What one job draws, by its name, and from the rows of which collection: libraries are imported and rows read
        once. Rows that ship with the repository are all there, while those of a run are drawn as soon as they are.
        """
        by_collection = {
            self.preset: catalogue.together(self.reports),
            MEASURED: catalogue.of_forms(self.wanted(MEASURED)),
        }
        return {
            name: (collection, reports)
            for collection, jobs in by_collection.items()
            for name, reports in jobs.items()
            if reports[0]["form"] == form
        }


def results_of(collection: str, experiment: str) -> str:
    """The file of the rows that a collection has of an experiment."""
    if collection == MEASURED:
        return f"data/measured/{experiment}.csv.xz"
    return f"results/{collection}/{experiment}.csv"


def files_of(collection: str, report: dict) -> list[str]:
    """The files of one table or figure."""
    return [f"figures/{collection}/{report['paper']}/{name}" for name in catalogue.outputs(report)]


def page_of(collection: str, report: dict) -> str:
    """The page of the report that shows an output, without its ending."""
    return f"results/{collection}/report/{report['paper']}/{report['name']}"


def experiments_of(reports: list[dict]) -> list[str]:
    """The experiments whose rows the outputs of one job are drawn from."""
    return list(dict.fromkeys(name for report in reports for name in report["experiments"]))


def category_of(report: dict) -> str:
    """The part of the report that a table or figure stands in."""
    return SCORECARD if report["kind"] in catalogue.SCORECARD else CATEGORIES[report["paper"]]
