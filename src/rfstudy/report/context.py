"""The material for tables and figures: rows and arrays, published numbers, claims, plot styles, tasks."""

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import cache, cached_property
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

from random_features.errors import UserError
from rfstudy import tidy
from rfstudy.files import arrays_file, read_arrays
from rfstudy.report import published
from rfstudy.report.aggregate import measured, select
from rfstudy.report.catalogue import as_list
from rfstudy.report.derived import with_derived
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.times import ROUND, with_printed

#: Keys of an output that name methods: those that it shows, and those that these are compared with.
SHOWN = ("methods", "baseline", "baselines", "against", "over", "method", "reference")


class Context:
    """All material that a kind of table or figure may use. Parts that few kinds use are read on request.

    Parameters
    ----------
    rows : tidy rows that were measured; times by rounds are summed as in the papers, and quantities that papers report
        under another name are derived (``derived``)
    styles, tasks : the parsed registries (``methods.yaml``, ``datasets.yaml``: id -> entry)
    reference_dir : folder of the published numbers
    array_files : ``.npz`` files that go with the rows
    """

    def __init__(self, rows: pd.DataFrame, styles: dict, tasks: dict, reference_dir=None, array_files: Iterable = ()):
        self.rows, self.styles, self.tasks = with_derived(with_printed(rows)), styles, tasks
        self._reference_dir, self._array_files = reference_dir, tuple(array_files)
        self._made: dict = {}

    @classmethod
    def of(cls, tables: dict, experiments: list[str], styles: dict, tasks: dict, reference_dir=None, kernel="") -> Self:
        """Return the context of experiments from tables in memory (``read_tables``) and the arrays next to their files.

        It has no rows of other experiments and, if ``kernel`` is given, of other kernels.
        """
        own = {path: table for path, table in tables.items() if table["experiment"].isin(experiments).any()}
        arrays = [file for path in own if (file := arrays_file(path)).exists()]
        rows = [of_kernel(table, kernel) if kernel else table for table in own.values()]
        return cls(measured(rows, experiments), styles, tasks, reference_dir, arrays)

    def of_output(self, spec: dict) -> Self:
        """Return the context with the methods that an output names, those that ``methods.yaml`` lacks, and its colours.
        An output without ``methods`` keeps all.
        """
        methods = self.rows["method"]
        is_shown = methods.isin(texts_under(spec, SHOWN)) | ~methods.isin(self.styles)
        colours = {method: {"colour": colour} for method, colour in spec.get("colours", {}).items()}
        if not colours and ("methods" not in spec or is_shown.all()):
            return self
        found = self.with_rows(self.rows[is_shown] if "methods" in spec else self.rows)
        found.styles = self.styles | {method: self.styles.get(method, {}) | own for method, own in colours.items()}
        return found

    def with_rows(self, rows: pd.DataFrame) -> Self:
        """Return the context with other rows."""
        found = copy(self)
        found.rows, found._made = rows, {}
        return found

    def once(self, make: Callable, *arguments):
        """Return the result of a function of the context and of arguments. All outputs of the context share it."""
        what = make, repr(arguments)
        if what not in self._made:
            self._made[what] = make(self, *arguments)
        return self._made[what]

    def label(self, method: str, variant: str = "") -> str:
        """Return the name of a method in tables and figures."""
        return plot_style(method, self.styles, variant).label

    def name(self, dataset: str, paper: str) -> str:
        """Return the name of a data set in a paper."""
        return published.printed_name(self.tasks, dataset, paper)

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """Return the named arrays that the experiments measured next to their rows."""
        return {name: array for file in self._array_files for name, array in read_arrays(file).items()}

    @cached_property
    def published(self) -> pd.DataFrame:
        """Return the published numbers as tidy rows."""
        return published.load(self._reference_dir, self.styles, self.tasks)

    def texts(self, name: str, **wanted) -> pd.DataFrame:
        """Return facts in words, or the claims, from the published files: rows whose columns have the wanted values."""
        file = Path(self._reference_dir) / f"{name}.csv"
        return select(pd.read_csv(file, dtype=str, keep_default_na=False), **wanted)


def texts_under(part, keys: Iterable[str]) -> list[str]:
    """Return the texts under some keys of a specification, at any depth."""
    if isinstance(part, list):
        return [text for each in part for text in texts_under(each, keys)]
    if not isinstance(part, dict):
        return []
    own = [text for key in keys for text in as_list(part.get(key)) if isinstance(text, str)]
    return own + [text for each in part.values() for text in texts_under(each, keys)]


def contexts(specs: list[dict], results, reference_dir, styles, tasks) -> Iterator[tuple[dict, Context]]:
    """Yield specifications with their contexts.

    Specifications of the same rows share one context, and every file is read once. ``styles`` and ``tasks`` are the
    parsed registries. Methods have the names that the paper gives them.
    """
    tables, own = read_tables(results), specs[0].get("yours", [])
    if own:
        tables, styles = next_to_shipped(tables, own), highlighted(styles, own)

    @cache
    def of(paper: str, experiments: tuple[str, ...], kernel: str) -> Context:
        return Context.of(tables, list(experiments), published.named_by(paper, styles), tasks, reference_dir, kernel)

    for spec in specs:
        yield spec, of(spec["paper"], tuple(spec["experiments"]), spec.get("kernel", ""))


def next_to_shipped(tables: dict[Path, pd.DataFrame], own: list[str]) -> dict[Path, pd.DataFrame]:
    """Return shipped tables and the tables of a run, which has its own methods. Its times were not taken together with
    the shipped ones, and are left out. ``UserError`` for rows of another preset than the shipped ones of an experiment.
    """
    found, presets = {}, {}
    for path, table in tables.items():
        is_shipped = path.name.endswith(".csv.xz")
        kept = table[~table["method"].isin(own) if is_shipped else table["axis"] != ROUND]
        found[path] = kept
        for experiment, preset in zip(kept["experiment"], kept["preset"], strict=True):
            if presets.setdefault(experiment, preset) != preset:
                raise UserError(
                    f"{experiment}: the shipped rows are those of the preset {presets[experiment]}, not {preset}: "
                    f"use --configfile config/presets/{presets[experiment]}.yaml"
                )
    return found


def highlighted(styles: dict, own: list[str]) -> dict:
    """Return the registry of methods in which some are "(yours)" and drawn with thick lines."""
    for method in own:
        label, colour, marker, *_ = plot_style(method, styles)
        drawn = {"label": f"{label} (yours)", "colour": colour, "marker": marker, "is_highlighted": True}
        styles = styles | {method: styles.get(method, {}) | drawn}
    return styles


def of_kernel(table: pd.DataFrame, kernel: str) -> pd.DataFrame:
    """Return the rows of one kernel, and the facts about the data, which have no kernel."""
    return table[table["kernel"].eq(kernel) | table["metric"].str.startswith("fact_")]


def read_tables(results) -> dict[Path, pd.DataFrame]:
    """Return the tidy tables in files, by path."""
    return {Path(path): tidy.read(path) for path in results}
