"""Typed models of an experiment: every key, its type and its meaning; ``config/README.md`` is generated from them.

The keys of the ``grid`` of a kind of experiment are declared in ``study.kinds.registry``.
"""

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import AfterValidator, StringConstraints, ValidationInfo, model_validator

from rfstudy.data.tasks import without
from rfstudy.fields import Count, Positives, Share, Some, Words
from rfstudy.models import Model, either, model_of, one_or_more, partial, problems_of, refuse, suggestion
from rfstudy.planning import entries
from rfstudy.study.job import TUNE_SCOPES, merge, own_kernel
from rfstudy.study.kinds.registry import KINDS

Limit = Annotated[int, Ge(10)]
Repeats = Annotated[int, Ge(1), Le(1_000_000)]
Scope = Literal[TUNE_SCOPES]

#: The axes that separate jobs, from the outermost.
AXES = ("experiment", "dataset", "method")
Axis = Literal[AXES]


def beginning(axes: list[str], *, also: str = "") -> list[str]:
    """Check that axes are a beginning of ``AXES``, or the paper alone."""
    if axes != ["paper"] and (not axes or axes != list(AXES[: len(axes)])):
        raise ValueError(f"must be {also}a beginning of {', '.join(AXES)}")
    return axes


# --- The search -------------------------------------------------------------------------------------------------------


class Shared(Model):
    """A quantity whose grid is the learner's.

    Attributes
    ----------
    tune_per : scope that shares the choice
    """

    tune_per: Scope = None


class StepSearch(Shared):
    """Lists of preprocessing steps to choose from.

    Attributes
    ----------
    grid : the lists
    """

    grid: Annotated[list[entries.Steps], *Some]


class LengthScaleSearch(Shared):
    """Length scales to choose from.

    Attributes
    ----------
    grid : the length scales; if two are equally good, the larger is chosen
    """

    grid: Positives


class BandwidthSearch(Shared):
    """Parameters of the bandwidth rule to choose from.

    Attributes
    ----------
    grid : mappings that override parameters of the rule: `{factor: 0.5}`
    """

    grid: Annotated[list[entries.Options], *Some]


class OptionSearch(Shared):
    """Options of the map to choose from.

    Attributes
    ----------
    grid : mappings that override the options of an entry: a list, or a list by map
    """

    grid: either(entries.OptionLists, lambda value: isinstance(value, dict), Annotated[list[entries.Options], *Some])


class Search(Model):
    """The quantities chosen by cross-validation on the training rows, and the scope that shares a choice.

    Attributes
    ----------
    tune_per : scope of the quantities that do not state their own; a penalty then has the scope of the preset
    method : the entry that represents all methods if they share a choice; a list has one for each kernel
    size : the size that represents all sizes if they share a choice
    learner : the learner whose score decides; by default the first
    learners : options that override the options of the learner while its score decides on anything but its penalty
    max_rows : largest number of training rows of the search
    held_out : in place of folds: the share of the training rows that neither map nor learner sees and that everything
        is scored on; for maps that learn from all labels
    preprocess : the preprocessing
    length_scale : the length scale
    bandwidth : parameters of the bandwidth rule
    options : options of the map
    penalty : the penalty of every learner, whose grid is the learner's
    """

    tune_per: Scope = None
    method: one_or_more(entries.Entry) = None
    size: entries.Size = None
    learner: str = None
    learners: entries.Learners = None
    max_rows: Limit | None = None
    held_out: Share = None
    preprocess: StepSearch = None
    length_scale: LengthScaleSearch = None
    bandwidth: BandwidthSearch = None
    options: OptionSearch = None
    penalty: Shared = None


# --- Times ------------------------------------------------------------------------------------------------------------


class Timing(Model):
    """The measurement of times.

    Attributes
    ----------
    rounds : rounds in which everything that is compared takes turns
    again : how often a round is repeated if the machine was busy
    shortest : seconds for which short work is repeated within a round
    datasets : `all` data sets of an experiment, or those that it names as `examples`
    sizes : number of sizes, from the smallest to the largest; null for all
    threads : threads of timed work
    """

    rounds: Count
    again: Annotated[int, Ge(0)]
    shortest: Annotated[float, Gt(0)]
    datasets: Literal["all", "examples"]
    sizes: Count | None
    threads: Count


class TimedExperiment(partial(Timing)):
    """The timed parts of an experiment: keys of the preset's `time`, and these. `{}` leaves all to the preset.

    Attributes
    ----------
    sizes : number of sizes, null for all; in an accuracy grid also a list of sizes: `[1000, 2000]`
    learner : the learner whose fit and predictions are timed, next to the phases of the maps
    examples : the data sets that represent all in a preset that asks for examples
    """

    sizes: either(Annotated[list[str | int], *Some], lambda value: isinstance(value, list), Count | None) = None
    learner: str = None
    examples: list[str] = None


# --- Experiments ------------------------------------------------------------------------------------------------------


class DataOptions(Model):
    """The keys of an experiment about data, for all data sets or for one.

    Attributes
    ----------
    preprocess : steps, fitted on the training rows in this order: names, or names with parameters (`{pca:
        {n_components: 50}}`)
    split : replaces the split of the tasks
    bandwidth : the rule that finds the length scale on the training rows
    options : by method, defaults for the options of its entries: `lsrff: {penalty: 0.01}`
    """

    preprocess: entries.Steps = None
    split: entries.Split = None
    bandwidth: entries.Bandwidth = None
    options: entries.OptionsByMap = None


class GridOptions(Model):
    """The keys of an accuracy grid, for all data sets or for one.

    Attributes
    ----------
    sizes : the numbers of frequencies s
    largest_multiple_of_d : larger multiples of d are left out
    search : what validation chooses
    learners : by learner, its options; null removes one on a data set
    scores : metrics of the predictions; by default the scores of the target
    """

    sizes: entries.Sizes = None
    largest_multiple_of_d: Count = None
    search: Search = None
    learners: entries.Learners = None
    scores: Words = None


class Overlay(DataOptions, GridOptions):
    """The keys that override the experiment on one data set. Null removes a key.

    Attributes
    ----------
    kernel : the kernel
    only_sizes : by method, the sizes that its entries run at, unless they name some themselves: `lsrff: [1000]`
    """

    kernel: entries.Kernel = None
    only_sizes: entries.SizesByMap = None


class Experiment(Model):
    """An experiment of a paper. `extends` names another experiment to start from: mappings merge, null removes a key,
    lists replace.

    Attributes
    ----------
    title : what it is, in words
    paper : the paper that it belongs to
    protocol : `text` as the paper says, `code` as its code ran, `tuned`: every method tuned alike
    kind : what is measured: one of the kinds below
    kernel : name and parameters of the kernel that the maps approximate; a length scale that is left out comes from
        `bandwidth` or `search`
    methods : the maps
    datasets : tasks of `datasets.yaml`, each with the keys that differ there; null removes an inherited one
    steps : a sequence of decisions
    repeats : the largest number of repeats in any preset
    shard_by : the axes that separate its jobs, in place of the preset's
    on_demand : `true`: runs only if it, or an output of it, is requested by name
    time : times are measured; `{}` leaves everything to the preset
    """

    title: str
    paper: Literal["survey", "eerf", "nsrf", "slsrff", "study"]
    protocol: Annotated[str, StringConstraints(pattern="^[a-z]+$")]
    kind: str
    kernel: entries.Kernel
    methods: Annotated[list[entries.Entry], MinLen(1)]
    datasets: dict[entries.Dataset, Overlay | None] = None
    steps: list[entries.Decision] = None
    repeats: Repeats = None
    shard_by: Annotated[list[Axis], AfterValidator(beginning)] = None
    on_demand: bool = None
    time: TimedExperiment = None

    @model_validator(mode="after")
    def check_entries(self, info: ValidationInfo):
        """Check that entries, steps and times are consistent."""
        refuse([*self.problems_of_names(info.context or {})])
        everywhere = list(dict.fromkeys(entry.method for entry in self.methods))
        given = []
        for i, step in enumerate(self.steps or []):
            given += [(("steps", i, "options"), method, step.options) for method in step.methods or everywhere]
        search = getattr(self, "search", None)
        tried = search.options.grid if search and search.options else []
        for i, options in enumerate(tried if isinstance(tried, list) else []):
            given += [(("search", "options", "grid", i), method, options) for method in everywhere]
        entries.check_options(given, info)
        return self

    def problems_of_names(self, context: dict):
        """Yield the place and the message of names that appear twice or do not exist, and of keys of other kinds."""
        steps, datasets = [step.name for step in self.steps or []], self.datasets or {}
        for i, name in enumerate(steps):
            if name in steps[:i]:
                yield ("steps", i, "name"), f"{name!r} is there twice"
        for i, entry in enumerate(self.methods):
            if steps and entry.draws and not entry.variant:
                yield ("methods", i, "draws"), "an entry with draws takes no steps: leave out draws, or name a variant"
            if entry.kernel and context.get("one_kernel"):
                yield ("methods", i, "kernel"), f"the kind {self.kind} has one kernel for all methods"
        if self.time is not None and not context.get("timed", True):
            yield ("time",), f"nothing is timed in the kind {self.kind}"
        for i, name in enumerate((self.time and self.time.examples) or []):
            if name not in datasets:
                known = suggestion(name, datasets)
                yield ("time", "examples", i), f"{name!r} is none of the data sets of the experiment; {known}"


class OnData(DataOptions, Experiment):
    """Further keys of the kinds that need data."""

    datasets: dict[entries.Dataset, Overlay | None]


class AccuracyGrid(GridOptions, OnData):
    """Further keys of the kind `grid`: maps x sizes x repeats x learners.

    Attributes
    ----------
    draws : times that each map is drawn in each repeat, on the same rows; rows have the axis `draw`
    approximation : the error of the kernel matrix
    """

    sizes: entries.Sizes
    draws: Count = None
    approximation: entries.Approximation
    learners: entries.Learners


def grid_of_kind(grid: dict, info: ValidationInfo) -> dict:
    """Check a `grid` by what its kind declares."""
    model_of(KINDS[info.data["kind"]].grid).model_validate(grid)
    return grid


class WithGrid(Experiment):
    """Further keys of all kinds but `grid`.

    Attributes
    ----------
    grid : the values of its axes, see the kinds below
    """

    grid: Annotated[entries.Options, AfterValidator(grid_of_kind)]


class OnDataWithGrid(OnData, WithGrid):
    """The keys of the kinds that need data, but for `grid`."""


def problems_of_experiment(experiment: dict, datasets=None) -> list[str]:
    """Return the problems of an experiment whose steps are not written out yet, as ``problems_of`` does.

    ``datasets`` are the ids of all tasks; without them the names of data sets are not looked up.
    """
    if (kind := experiment.get("kind")) not in KINDS:
        extends = "; an experiment without a kind extends another one: extends: NAME" if kind is None else ""
        return [f".kind: there is no {kind!r}; {suggestion(kind, KINDS)}{extends}"]
    own = KINDS[kind]
    # only an accuracy grid hands the kernel of an entry to its cells
    context = {"options": own.options, "one_kernel": bool(own.grid), "timed": own.timed, "datasets": datasets}
    model = (OnDataWithGrid if own.needs_data else WithGrid) if own.grid else AccuracyGrid
    # a null removes a key when the data set's own keys override the experiment
    stated, removed = experiment.get("datasets"), []
    if isinstance(stated, dict):
        experiment = experiment | {"datasets": {key: without_nulls(each) for key, each in stated.items()}}
        needed = [key for key, field in model.model_fields.items() if field.is_required()]
        of_datasets = [(name, key) for name, each in stated.items() if isinstance(each, dict) for key in needed]
        removed = [pair for pair in of_datasets if stated[pair[0]].get(pair[1], "") is None]
    return (
        [f".datasets.{name}.{key}: null cannot remove what every {kind} has" for name, key in removed]
        or problems_of(model, experiment, **context)
        or [
            f".methods: {method} is listed twice with the same variant {variant!r}; name variants (variant: <name>)"
            for method, variant, _ in listed_twice([entry for _, entry in entries_with_steps(experiment)])
            if variant not in [step["name"] for step in experiment.get("steps", [])]
        ]
    )


def with_steps(experiment: dict) -> dict:
    """Return the experiment with its ``steps`` written out as entries, one per method and step.

    Every method without a variant goes through the steps. An entry has the step's name as its variant, and the changes
    of this step and of those before it. A step that names ``methods`` applies to these methods only; the others have no
    entry for it.
    """
    return without(experiment, "steps") | {"methods": [entry for _, entry in entries_with_steps(experiment)]}


def entries_with_steps(experiment: dict):
    """Yield pairs of a position in ``methods`` and an entry, one per draw, or per method and step."""
    steps = experiment.get("steps", [])
    for i, entry in enumerate(experiment["methods"]):
        if "draws" in entry:
            for draw in entry["draws"]:
                variant = "-".join(filter(None, [entry.get("variant"), f"draw-{draw}"]))
                yield i, without(entry, "draws") | ({"variant": variant, "draw": draw} if draw else {})
            continue
        if not steps or entry.get("variant"):
            yield i, entry
            continue
        for step in steps:
            if entry["method"] in step.get("methods", [entry["method"]]):
                entry = merge(entry, without(step, "name", "methods") | {"variant": step["name"]})
                yield i, entry


def listed_twice(methods: list[dict]) -> list[tuple[str, str, str]]:
    """Return the method, variant and own kernel of entries whose rows could not be distinguished, each once."""
    named = [(entry["method"], entry.get("variant", ""), own_kernel(entry)) for entry in methods]
    return [each for each in dict.fromkeys(named) if named.count(each) > 1]


def without_nulls(document):
    """Return a document without the keys of its mappings that have no value."""
    if not isinstance(document, dict):
        return document
    return {key: without_nulls(value) for key, value in document.items() if value is not None}
