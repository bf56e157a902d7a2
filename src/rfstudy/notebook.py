"""The study in a notebook: rows behind a figure or of anything measured, and figures with methods of your choice."""

from functools import cache
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import is_color_like, to_hex, to_rgb

from random_features.errors import UserError, check_known, nearest, suggestion
from rfstudy import tidy
from rfstudy.render import Shipped
from rfstudy.report import plots, style, tables
from rfstudy.report.aggregate import select
from rfstudy.report.catalogue import as_list, selected
from rfstudy.report.context import Context


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
            check_known(f"the shipped rows have no {what}", each, known)
    values = {name: as_list(value) for name, value in wanted.items()}
    for name in wanted:
        try:
            values[name] = list(map(str if name in tidy.TEXTS else float, values[name]))
        except (TypeError, ValueError) as error:
            raise UserError(f"{name} is a column of numbers: {error}") from None
    rows = pd.concat([select(study.rows(study.file(each)), **values) for each in named], ignore_index=True)
    if rows.empty:
        is_elsewhere = "experiment" in wanted and set(values.get("dataset", ())) & set(study.tasks)
        hint = ": other experiments may, leave experiment=... out" if is_elsewhere else ""
        stated = ", ".join(f"{column}={value!r}" for column, value in wanted.items())
        raise UserError(f"no shipped row has {stated}{hint}{_first_unknown(values, named)}")
    for column in wanted:
        if lacking := [each for each in values[column] if not rows[column].isin([each]).any()]:
            others = "".join(f" and {key}={value!r}" for key, value in wanted.items() if key != column)
            raise UserError(
                f"no shipped row has {column}={lacking[0]!r}{others}: leave it out; measured({column}={lacking[0]!r}) "
                "has all its rows, if there are any"
            )
    return rows


def _first_unknown(values: dict[str, list], experiments: list[str]) -> str:
    """Return a hint on the first text that no row of some experiments has in its column; empty if there is none."""
    tables = [shipped().rows(shipped().file(each)) for each in experiments]
    for column in (column for column in values if column in tidy.TEXTS and column not in ("run", "settings")):
        known = set().union(*(table[column].unique() for table in tables))
        if unknown := [each for each in values[column] if each not in known]:
            return f"; {column}: {suggestion(unknown[0], known - {''})}"
    return ""


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
    rows = _checked(output, context.of_output(spec).rows if shown is None else shown, methods, datasets)
    rows = select(rows, method=[*as_list(methods), ""] if methods else None)
    return rows[list(tidy.COLUMNS)].drop_duplicates().sort_index().reset_index(drop=True)


def draw(output: str, *, methods=None, datasets=None, panels=None, colours=None, title="", ax=None):
    """Return a figure of the study with methods, data sets and colours of your choice, as a figure of matplotlib.

    Parameters
    ----------
    output : its paper and name, as in ``figures/measured``
    methods, datasets : those to draw, in this order, by default all; Holm's correction is over the methods drawn
    panels : positions of the quantities to draw, from 0, by default all
    colours : by method, a colour of matplotlib; its variants share it, unless they have a colour of their own
    title : a title of the whole figure, above its legend
    ax : axes of your own for a figure that is reduced to one panel

    Raises
    ------
    UserError
        For a name that does not exist, for a colour that the figure does not show, and if ``ax`` is to take more than
        one panel.

    Examples
    --------
    >>> import rfstudy
    >>> figure = rfstudy.draw("survey/figure-09-text", methods=["rff", "orf", "qmc"], colours={"orf": "crimson"})
    >>> len(figure.axes)
    16
    """
    colours = _checked_colours({} if colours is None else colours)
    spec, context = _reduced(output, methods, datasets, colours)
    if spec["form"] != "figures":
        raise UserError(f"{output} is a table: load({output!r}) has its rows")
    if ax is not None and not isinstance(ax, Axes):
        raise UserError(f"ax={ax!r} is no Axes of matplotlib")
    if panels is not None:
        positions, of_spec = as_list(panels), spec.get("panels", [])
        wrong = [each for each in positions if each not in range(len(of_spec))]
        if not of_spec:
            raise UserError(f"{output} has no panels to choose from: leave panels=... out")
        if wrong or not positions:
            raise UserError(f"{output} has no panel {[*wrong, panels][0]!r}: its panels are 0 to {len(of_spec) - 1}")
        spec = spec | {"panels": [of_spec[each] for each in positions]}
    drawn = plots.picture(context, spec if ax is None else spec | {"width": ax})
    if drawn.shown is not None:
        _checked(output, drawn.shown, methods, datasets)
    if not drawn.figure.axes:
        raise UserError(f"{output}: no measurement is there. {' '.join(drawn.notes)}")
    if unseen := [method for method, colour in colours.items() if to_rgb(colour) not in _colours_in(drawn.figure)]:
        raise UserError(f"{output} shows no colour of {unseen[0]}: leave it out of colours")
    if title and ax is None:
        across, height = drawn.figure.get_size_inches()
        drawn.figure.set_size_inches(across, height + plots.TITLE_LINE)
        with style.style():
            named = drawn.figure.legends[0].set_title if drawn.figure.legends else drawn.figure.suptitle
            named(title)
    elif title:
        ax.set_title("")
        ax.set_title(title, loc="left")  # where the panel has its own
    return drawn.figure


def _checked(output: str, shown: pd.DataFrame, methods, datasets) -> pd.DataFrame:
    """Return the rows that an output shows, if they have all methods and data sets that were asked for."""
    for column, names in (("method", as_list(methods)), ("dataset", as_list(datasets))):
        if lacking := [each for each in names if each not in set(shown[column])]:
            raise UserError(f"{output} has no rows of {lacking[0]!r}: leave it out")
    if shown.empty:
        raise UserError(f"{output} has no rows: what it shows was not measured")
    return shown


def _checked_colours(colours) -> dict:
    if not isinstance(colours, dict):
        raise UserError(f"colours={colours!r}: give a colour by method, such as {{'orf': 'crimson'}}")
    for method, colour in colours.items():
        if not is_color_like(colour):
            raise UserError(f"colours: {colour!r} of {method} is no colour of matplotlib")
    return {method: to_hex(colour, keep_alpha=True) for method, colour in colours.items()}


def _colours_in(figure) -> set[tuple]:
    """Return the colours of lines, markers and areas of a figure, without their transparency."""
    found = []
    for artist in figure.findobj():
        for name in ("get_color", "get_facecolor", "get_edgecolor", "get_markerfacecolor"):
            colour = getattr(artist, name, lambda: "none")()
            found += [colour] if is_color_like(colour) else list(colour)
    return {to_rgb(each) for each in found}


@cache
def shipped() -> Shipped:
    """Return the shipped measurements of the clone that this package is in."""
    return Shipped(Path(__file__).resolve().parents[2])


def _reduced(output: str, methods, datasets, colours=None) -> tuple[dict, Context]:
    """Return the specification of an output and its context with some of the methods and data sets."""
    study, (paper, _, name) = shipped(), str(output).rpartition("/")
    try:
        spec = study.spec(paper, name)
    except ValueError as error:
        papers = list(dict.fromkeys(each["paper"] for each in study.reports))
        near = nearest(str(output), [f"{each['paper']}/{each['name']}" for each in study.reports])
        form = f"{output!r} is not an output: name it as paper/name, with one of the papers {', '.join(papers)}"
        known, *names = str(error).partition("; it has: ") if paper in papers else (form,)
        raise UserError("; did you mean ".join([known, *near]) + "".join(names)) from error
    study, methods, datasets = study.with_names_of(paper), as_list(methods), as_list(datasets)
    listed = spec.get("datasets")
    for key, kept in (("methods", methods), ("datasets", datasets)):
        spec = selected(spec, key, kept) if kept else spec
    spec = spec | ({"colours": colours} if colours else {})
    if spec["experiments"] and not any(study.has([each]) for each in spec["experiments"]):
        raise UserError(f"{output}: no rows of {', '.join(spec['experiments'])} are shipped")
    context = study.context(*spec["experiments"], kernel=spec.get("kernel", ""))
    there = set(context.rows["dataset"]) - {""}
    for each in datasets:
        check_known(f"{output} has no data set", each, listed or there)
    labels = {each: context.label(each) for each in sorted(set(context.rows["method"]) - {""})}
    for each in (each for each in [*methods, *(colours or {})] if each not in labels):
        by_word = {label: method for method, label in labels.items()} | {method: method for method in labels}
        words = ["", *(by_word[word] for word in nearest(each, by_word))]
        names = ", ".join(f"{method} ({label})" for method, label in labels.items())
        raise UserError(f"{output} has no method {each!r}{'; did you mean '.join(words)}; it has {names or 'none'}")
    return spec, context.with_rows(select(context.rows, dataset=datasets)) if datasets else context
