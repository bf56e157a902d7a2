"""Typed models of ``config/figures`` and ``config/scorecard.yaml``: the keys of tables and figures.

The keyword arguments of the function of a kind are the keys that its entries need and may have. All kinds share the
types and the meanings that are here.
"""

from typing import Annotated, Literal

from annotated_types import Ge, Len, MinLen
from pydantic import StringConstraints

from random_features.learners.registry import LEARNERS
from random_features.modules import definitions
from rfstudy.data.forms import TaskId
from rfstudy.fields import Count, Some
from rfstudy.metrics import FACTS
from rfstudy.models import Model, Text, either, id_in, one_or_more, problems_of, suggestion
from rfstudy.report import catalogue

ExperimentId = id_in("experiments", "there is no experiment")
MethodId = id_in("styles", "methods.yaml has no method")
MethodIds = Annotated[list[MethodId], *Some]
Names = Annotated[list[Text], *Some]
Labels = Annotated[dict[str, Text], MinLen(1)]
Colours = Annotated[dict[str, Annotated[str, StringConstraints(pattern="^#[0-9A-Fa-f]{6}$")]], MinLen(1)]
Scale = Literal["linear", "log"]
Part = Literal["train", "test", "validation", "all"]
Protocol = Annotated[str, StringConstraints(pattern="^[a-z]+$")]


class Quantity(Model):
    """The quantity that is measured."""

    metric: Text
    learner: Text = None
    split: Part = None


class Criterion(Quantity):
    """A quantity that methods are compared by, with its heading."""

    label: Text


class Axis(Model):
    """The axis of an experiment that is drawn along x."""

    axis: Text
    label: Text
    scale: Scale


class Panel(Quantity):
    """One panel of a figure."""

    label: Text
    metric: Text = None
    scale: Scale = None
    against: MethodId = None
    kernel: Text = None
    reference: Text = None
    methods: MethodIds = None
    x: Axis = None


class Control(Model):
    """A further variant of an ablation."""

    method: Text
    variant: Text
    label: Text
    step: Text
    against: Names
    line: bool = None


class Line(Model):
    """A row or a column of named cells: its label, and values of columns of the tidy table."""

    label: Text
    experiment: Text = None
    dataset: Text = None
    method: str = None
    variant: str = None
    learner: str = None
    split: Part = None
    n_features_label: str = None
    axis: str = None
    at: float = None


Lines = Annotated[list[Line], MinLen(1)]


Experiments = Annotated[dict[Protocol, either(None, lambda value: value is None, one_or_more(ExperimentId))], MinLen(1)]


class Output(Model):
    """A table or a figure.

    Attributes
    ----------
    kind : what makes it, a function in `report/tables` or `report/plots`
    caption : what is printed under it
    experiments : protocol: name of the experiment, a list of names, or `null` for an output without rows
    colours : by method its colour, in place of its own in `methods.yaml`
    kernel : of experiments with several kernels, the id of the one whose rows are drawn
    width : of a figure: the size that it is printed at and readable at, `column` (3.5 in) or `page` (7.16 in)
    published : place of the published values that a table shows next to ours; of `curves` one place or several, whose
        percentages are hollow markers; of `timeline` and `diagram` the figure that they show
    facts : of `timeline` and `diagram`: the file of `data/reference` that has their content, with the maps of
        `methods.yaml`
    dataset : of `plane` and `sphere`: the one whose game is drawn
    datasets : tasks, in the order of the paper; of `curves` a row of panels each
    registered : (`dataset_statistics`) further tasks of the published table, which the experiments need not have: the
        facts of those that were not measured come from `datasets.yaml`
    method : of `plane` and `sphere`: the one whose game is drawn
    methods : those that are shown, in the order of the legend or the rows; a method that `methods.yaml` lacks follows
        after them
    baseline : the method that the others are compared with
    baselines : of `accuracy_and_time`, `ablation` and `differences`: the methods that the others are compared with
    variants : (`errors_and_times`) by method the published variant
    sizes : numbers of features as the paper counts them, in order (of `gains` the first and the last are shown); of a
        `grid` without them every data set has rows of its own sizes, of `ablation` and `steps` they are needed where an
        experiment has more than one
    repeats : what the paper averages over; fewer are noted under the output
    scope : (`arena`) the data sets that the verdicts are about
    draws : (`calibration`) the draws of a map on each split that are compared with as many others
    comparisons : (`calibration`) how many such comparisons are made
    quantity : metric, learner and split that a table is about
    time : (`accuracy_and_time`) the quantity in brackets; without it there are none
    times : (`errors_and_times`) metrics with the headings of their columns; of `error_by_time` and `equal_time`: by
        method the metric that is its time
    norms : (`rates`) the norms of the error of the kernel matrix
    kernels : of `kernels` and `next_to_published`: id of a kernel: its name
    labels : (`accuracy_gains`) by part, its heading
    learner : (`claims`) the learner whose rows test the claims, with the rows of the maps alone
    learners : (`errors_and_times`) the learners that have a row each; of `descent`: by learner its name in the legend
    claims : (`claims`) ids in `data/reference/claims.csv`, each tested by a function
        ([how](../docs/adding-a-claim.md))
    about : (`facts`) the columns of the published rows that say what a row is about, with headings
    says : (`facts`, `dataset_statistics`) the published metrics that are columns, with headings (metrics of one heading
        share a column); of `rounds` and `choices` the measured ones
    settings : (`errors_and_times`) settings that are columns, with headings
    axis : (`choices`) the axis of the tidy table that the experiment sweeps
    label : (`choices`) the heading of its column
    heading : (`crossed`) the heading above its rows
    bars : (`curves`) error bars of one standard `deviation` over the repeats (without it) or one standard `error` of
        the mean
    datasets_per_row : (`curves`, `gains`) number of data sets whose panels are side by side in one row; one without it
    one_at_a_time : (`ablation`) every step changes the first one and not the one before
    pictures : (`plane`) numbers of features, a column each
    layers : (`plane`) what is drawn at each number, a row each: `weights`, `potential`, `decision`
    x : (`curves`) an axis that the experiment sweeps (`axis`, the tidy table's), its `label` and `scale`, with methods
        that do not sweep it as level lines; without it the number of features
    panels : (`curves`) one quantity each, its axis label and scale, and the method that it is compared `against`, if
        any (differences in points, ratios of anything else, paired by repeat), and its own `x`, if any; of `gains`: the
        same, all `against` a method; of `crossover`: one kernel each, its
        methods and the one that they are compared with; of `descent`: one quantity each, its label and scale
    groups : (`best_methods`) the sizes that are compared together, by heading
    criteria : (`best_methods`) one quantity each, with its heading
    tests : (`crossed`) pairs of columns: the first is compared with the second, in every row
    steps : of `ablation` and `steps`: variant: the step in words, in order
    controls : of `ablation` and `steps`: further variants, each with its label, and at which step which methods it is
        compared with; the chart draws the one with `line: true` through the whole panel
    lines : (`crossed`) rows and columns, each a label with values of columns of the tidy table; a cell is
        of what its row and its column say, of the plain variant and of no axis unless they say one; a text of a column
        may hold what the row says, `{variant}-longer`
    columns : (`crossed`) as `lines`
    """

    kind: str = None
    caption: Text = None
    experiments: Experiments = None
    colours: Colours = None
    kernel: Text = None
    width: Literal["column", "page"] = None
    published: Text | Names = None
    facts: Text = None
    dataset: Text = None
    datasets: Names = None
    registered: Annotated[list[TaskId], *Some] = None
    method: Text = None
    methods: MethodIds = None
    baseline: Text = None
    baselines: MethodIds = None
    variants: Labels = None
    sizes: Names = None
    repeats: Count = None
    scope: Literal["all", "informative", "labels", "not flagged", "regression"] = None
    draws: Count = None
    comparisons: Count = None
    quantity: Quantity = None
    time: Quantity = None
    times: Labels = None
    norms: Names = None
    kernels: Labels = None
    labels: Labels = None
    learner: Text = None
    learners: Labels | Names = None
    claims: Annotated[list[id_in("claims", "data/reference/claims.csv has no claim")], *Some] = None
    about: Labels = None
    says: Labels = None
    settings: Labels = None
    axis: Text = None
    label: Text = None
    heading: Text = None
    bars: Literal["deviation", "error"] = None
    datasets_per_row: Annotated[int, Ge(2)] = None
    one_at_a_time: bool = None
    pictures: Annotated[list[Annotated[int, Ge(0)]], MinLen(1)] = None
    layers: Annotated[list[Literal["weights", "potential", "decision"]], *Some] = None
    x: Axis = None
    panels: Annotated[list[Panel], MinLen(1)] = None
    groups: Annotated[dict[str, Names], MinLen(1)] = None
    criteria: Annotated[list[Criterion], MinLen(1)] = None
    tests: list[Annotated[list[Text], Len(2, 2)]] = None
    steps: Annotated[dict[str, Text], MinLen(2)] = None
    controls: list[Control] = None
    lines: Lines = None
    columns: Lines = None


#: Keys that the study adds to an entry; "brief" is of the pages of the papers.
ADDED = ("paper", "protocol", "scorecard", "brief")


def arguments_of(kind: str) -> dict[str, bool]:
    """Return the keyword arguments of the function of a kind, and whether it needs them."""
    keywords = definitions(catalogue.file_of(kind))[kind].args
    return {each.arg: not default for each, default in zip(keywords.kwonlyargs, keywords.kw_defaults, strict=True)}


def problems_of_output(entry: dict, **ids) -> list[str]:
    """Return the problems of the keys and values of an entry, as ``problems_of`` does.

    ``ids`` are the ``experiments``, the ``styles`` of methods, the ``tasks`` and the paper's ``claims`` that there are.
    """
    kind, kinds = entry.get("kind"), list(catalogue.kinds())
    if kind not in kinds:
        return [f".kind: there is no {kind!r}; {suggestion(kind, kinds)}"]
    arguments = arguments_of(kind)
    keys = {key: needed for key, needed in arguments.items() if key in Output.model_fields}
    always = dict.fromkeys(("kind", "caption", "experiments"), True)
    keys = always | dict.fromkeys(("kernel", "repeats", "colours"), False) | keys
    required, known = [key for key, needed in keys.items() if needed], list(keys)
    new = [key for key in arguments if key not in (*Output.model_fields, *ADDED)]
    found = [f".kind: {kind} takes {key!r}: give it a type in Output of src/rfstudy/output_models.py" for key in new]
    found += [f".{key}: unknown key; {suggestion(key, known)}" for key in entry if key not in (*known, *new)]
    found += [f": the key {key!r} is missing; known are {', '.join(known)}" for key in required if key not in entry]
    return found or problems_of(Output, entry, **ids)


# --- The scorecard ----------------------------------------------------------------------------------------------------


class Measured(Model):
    """The measurement of a published metric.

    Attributes
    ----------
    learner : learner of the measured rows
    split : part of the data of the measured rows
    over : the method whose value in the same cell divides every number, because times are never compared as seconds;
        the numbers of that method itself are no cells
    variants : by method, the variant of ours that the published number is of, where it is not the plain one
    column : the column of the facts about the data that has the number
    """

    learner: id_in(LEARNERS, "there is no learner") = None
    split: Part = None
    over: MethodId = None
    variants: Labels = None
    column: Literal["n_train", "n_test", "d"] = None


class Numbers(Model):
    """Published numbers that are results.

    Attributes
    ----------
    table : their place, as `data/reference` calls it
    experiments : by protocol, the experiment that has them
    kernel : the published kernel, where an experiment has the numbers of one of several
    repeats : number of repeats that the paper averages over, where its spreads do not say it
    metrics : by metric, how it is measured
    """

    table: Text
    experiments: Annotated[dict[Literal["text", "code", "tuned"], ExperimentId], MinLen(1)]
    kernel: Text = None
    repeats: Count = None
    metrics: Annotated[dict[id_in(FACTS, "there is no metric"), Measured], MinLen(1)]


class NotScored(Model):
    """Published numbers without a verdict.

    Attributes
    ----------
    table : their place
    metrics : their metrics; by default all that `numbers` does not name
    why : why: settings, bounds, or words
    """

    table: Text
    metrics: one_or_more(Text, *Some) = None
    why: Text


class Scorecard(Model):
    """The published numbers of a paper.

    Attributes
    ----------
    numbers : those that are results
    not_scored : those that get no verdict
    """

    numbers: list[Numbers]
    not_scored: list[NotScored] = None
