"""The study in a notebook: rows behind a figure or of anything measured, and figures with methods of your choice."""

from functools import cache
from pathlib import Path

import pandas as pd

from random_features.errors import UserError, nearest, suggestion
from rfstudy import tidy
from rfstudy.render import Shipped
from rfstudy.report import plots, tables
from rfstudy.report.aggregate import select
from rfstudy.report.catalogue import as_list
from rfstudy.report.context import Context
from rfstudy.report.published import named_by


def measured(**wanted) -> pd.DataFrame:
    """Return measured rows as a data frame; the page "Columns of the rows" says what its columns are.

    Parameters
    ----------
    wanted : by column, a value or several values, such as ``experiment="arena"``, ``dataset=["eeg", "skin"]``

    Raises
    ------
    UserError
        For a column that does not exist, and for a value that no row has together with the others.

    Examples
    --------
    >>> from rfstudy import measured
    >>> rows = measured(experiment="eerf-tuned", dataset="adult", method="rff", metric="error_pct", split="test")
    >>> int(rows["n_features"].max())
    100
    """
    study = shipped()
    experiments = [each for each in study.experiments if study.has([each])]
    named = as_list(wanted.get("experiment")) or experiments
    for what, given, known in (("column", wanted, tidy.COLUMNS), ("experiment", named, experiments)):
        for each in given:
            if each not in known:
                raise UserError(f"the shipped rows have no {what} {each!r}; {suggestion(each, known)}")
    try:
        numbers = {name: list(map(float, as_list(wanted[name]))) for name in wanted if name not in tidy.TEXTS}
    except ValueError as error:
        raise UserError(f"a column of numbers: {error}") from None
    values = {name: as_list(value) for name, value in wanted.items()} | numbers
    rows = pd.concat([select(study.rows(study.file(each)), **values) for each in named], ignore_index=True)
    if rows.empty:
        raise UserError(f"no shipped row has {', '.join(f'{key}={value!r}' for key, value in wanted.items())}")
    for column in wanted:
        if lacking := [each for each in values[column] if not rows[column].isin([each]).any()]:
            others = "".join(f" and {key}={value!r}" for key, value in wanted.items() if key != column)
            raise UserError(
                f"no shipped row has {column}={lacking[0]!r}{others}: leave it out; measured({column}={lacking[0]!r}) "
                "has all its rows, if there are any"
            )
    return rows


def load(output: str, *, methods=None, datasets=None) -> pd.DataFrame:
    """Return the measured rows behind a table or figure, such as "survey/figure-09-text", as a data frame.

    It has the rows of all repeats, with the columns of ``measured``. Failed and skipped cells are rows too.

    Parameters
    ----------
    output : its paper and name, as in ``figures/measured``
    methods, datasets : those to keep, by default all

    Raises
    ------
    UserError
        For a name that does not exist, and if nothing that it shows was measured.
    """
    spec, context = _reduced(output, methods, datasets)
    shown = (tables.make if spec["form"] == "tables" else plots.picture)(context, spec).shown
    rows = context.of_output(spec).rows if shown is None else shown
    if rows.empty:
        raise UserError(f"{output} has no rows: what it shows was not measured")
    return rows[list(tidy.COLUMNS)].drop_duplicates().sort_index().reset_index(drop=True)


def draw(output: str, *, methods=None, datasets=None, panels=None, colours=None, ax=None):
    """Return a figure of the study with methods, data sets and colours of your choice, as a figure of matplotlib.

    Parameters
    ----------
    output : its paper and name, as in ``figures/measured``
    methods, datasets : those to draw, in this order, by default all
    panels : positions of the quantities to draw, from 0, by default all
    colours : by method, a colour of matplotlib
    ax : axes of your own for a figure that is reduced to one panel

    Raises
    ------
    UserError
        For a name that does not exist, and if ``ax`` is to take more than one panel.

    Examples
    --------
    >>> import rfstudy
    >>> figure = rfstudy.draw("survey/figure-09-text", methods=["rff", "orf", "qmc"], colours={"orf": "crimson"})
    >>> len(figure.axes)
    16
    """
    spec, context = _reduced(output, methods, datasets, colours or {})
    if spec["form"] != "figures":
        raise UserError(f"{output} is a table: load({output!r}) has its rows")
    if panels is not None:
        positions, of_spec = as_list(panels), spec.get("panels", [])
        if wrong := [each for each in positions if each not in range(len(of_spec))]:
            raise UserError(f"{output} has no panel {wrong[0]!r}: its panels are 0 to {len(of_spec) - 1}")
        spec = spec | {"panels": [of_spec[each] for each in positions]}
    drawn = plots.picture(context, spec if ax is None else spec | {"width": ax})
    if not drawn.figure.axes:
        raise UserError(f"{output}: no measurement is there. {' '.join(drawn.notes)}")
    return drawn.figure


@cache
def shipped() -> Shipped:
    """Return the shipped measurements of the clone that this package is in."""
    return Shipped(Path(__file__).resolve().parents[2])


def _reduced(output: str, methods, datasets, colours=None) -> tuple[dict, Context]:
    """Return the specification of an output and its context with some of the methods and data sets."""
    study, (paper, _, name) = shipped(), output.rpartition("/")
    try:
        spec = study.spec(paper, name)
    except ValueError as error:
        papers = list(dict.fromkeys(each["paper"] for each in study.reports))
        near = nearest(output, [f"{each['paper']}/{each['name']}" for each in study.reports])
        form = f"{output!r} is not an output: name it as paper/name, with one of the papers {', '.join(papers)}"
        raise UserError("; did you mean ".join([str(error) if paper in papers else form, *near])) from error
    styles, methods, datasets = named_by(paper, study.styles), as_list(methods), as_list(datasets)
    known = [("method", each, styles) for each in [*methods, *(colours or {})]]
    for what, each, names in known + [("data set", each, spec.get("datasets", study.tasks)) for each in datasets]:
        if each not in names:
            raise UserError(f"{output} has no {what} {each!r}; {suggestion(each, names)}")
    changed = {"methods": methods, "datasets": datasets, "colours": colours}
    spec = spec | {key: value for key, value in changed.items() if value}
    rows = {file: study.rows(file) for file in map(study.file, spec["experiments"]) if file.exists()}
    if not rows:
        raise UserError(f"{output}: no rows of {', '.join(spec['experiments']) or 'an experiment'} are shipped")
    reference = study.root / "data" / "reference"
    context = Context.of(rows, spec["experiments"], styles, study.tasks, reference, spec.get("kernel", ""))
    for column, names in (("method", methods), ("dataset", datasets)):
        if lacking := [each for each in names if each not in set(context.rows[column])]:
            raise UserError(f"{output} has no rows of {lacking[0]!r}: leave it out")
    return spec, context
