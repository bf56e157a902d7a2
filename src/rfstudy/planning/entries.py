"""Typed models of the entries of an experiment, and of what it states next to them: kernels, learners, preprocessing,
splits and sizes.

The options of a learner are in its registry; the parameters of a bandwidth rule or a step are the keyword arguments of
its function. A new one needs no edit here.
"""

from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, MinLen, Predicate
from pydantic import AfterValidator, BeforeValidator, StringConstraints, ValidationInfo, model_validator

from random_features.kernels import KERNELS
from random_features.learners.registry import LEARNERS
from random_features.maps.registry import REGISTRY, resolved_options
from rfstudy.data import modules
from rfstudy.data.tasks import SPLITS
from rfstudy.fields import Count, Counts, Positive, Positives, Some, Words, distinct
from rfstudy.models import Model, by_name, id_in, model_of, parameters, refuse, suggestion, with_keys
from rfstudy.study.job import SEARCHED

Name = Annotated[str, StringConstraints(pattern="^[a-z0-9-]+$")]


MapId, Dataset = id_in(REGISTRY, "there is no method"), id_in("datasets", "there is no data set")


# --- What is declared in files of its own -----------------------------------------------------------------------------


def kernel_parameter(value) -> float | str:
    """Check that a parameter of a kernel is a number or a word."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"must be a number or a word, not {value!r}")
    return value


def learner_type(name: str) -> type[Model]:
    """Return the model of the options of a learner: its own, its grid, and those that every learner has."""
    own = model_of(LEARNERS[name].options)
    grid = Annotated[list[Annotated[float, Gt(0)]], *Some]
    keys = {LEARNERS[name].grid: grid, "n_folds": Annotated[int, Ge(2)], "repeats": Annotated[int, Ge(0)]}
    return with_keys(name, {key: of for key, of in keys.items() if key not in own.model_fields}, own)


#: The name of a kernel and its parameters, whose values the kernel itself checks.
Parameter = Annotated[Any, AfterValidator(kernel_parameter)]
Kernel = by_name(
    "name", {name: with_keys(name, dict.fromkeys(of.parameters, Parameter)) for name, of in KERNELS.items()}
)

#: Options by learner; null leaves a learner out.
Learners = with_keys("Learners", {name: learner_type(name) | None for name in LEARNERS})

#: The name of a bandwidth rule and its parameters.
Bandwidth = by_name(
    "rule", {name: parameters(modules.function("bandwidths", name)) for name in modules.names("bandwidths")}
)

#: Preprocessing steps: names, or mappings from a name to its parameters.
Step = with_keys("Step", {name: parameters(modules.function("steps", name)) for name in modules.names("steps")})
named_step = BeforeValidator(
    lambda value: {value: {}} if isinstance(value, str) else value,
    json_schema_input_type=Literal[tuple(modules.names("steps"))] | Step,
)
Steps = Annotated[list[Annotated[Step, named_step]], MinLen(1)]


# --- Parts of an experiment -------------------------------------------------------------------------------------------


class Split(Model):
    """The split that replaces the task's own. That of an entry or a step overrides the experiment's.

    Attributes
    ----------
    rule : by default the task's. `published`, `half` and `random` divide random rows, or as the files do. `folds`:
        repeat r tests on fold r, a published one or one of `n_folds` with equal shares of the classes and equal rows in
        one fold. The others divide contiguous blocks of rows: half of them train, random ones in each repeat
        (`blocks`), the first (`first_blocks`) or the last (`last_blocks`), or all but one train (`block_folds`)
    n_train : training rows of the rule `random`
    n_test : test rows of the rule `random`
    n_blocks : number of blocks
    n_folds : number of folds that are not published, by default ten
    n_rows : rows of the rules `folds` and `block_folds`, a random choice; by default all
    without : rows of the task, from 0, that neither train nor test
    folds : what cross-validation holds out: random `rows` (the default) or whole `blocks` of the split
    """

    rule: Literal[SPLITS] = None
    n_train: Count = None
    n_test: Count = None
    n_blocks: Annotated[int, Ge(2)] = None
    n_folds: Annotated[int, Ge(2)] = None
    n_rows: Count = None
    without: Annotated[list[Annotated[int, Ge(0)]], *Some] = None
    folds: Literal["rows", "blocks"] = None


class Sizes(Model):
    """The numbers of frequencies s.

    Attributes
    ----------
    multiples_of_d : multiples of the number of columns that the map sees
    values : numbers as they are
    """

    multiples_of_d: Counts = None
    values: Counts = None


class Size(Model):
    """One number of frequencies s.

    Attributes
    ----------
    multiples_of_d : a multiple of the number of columns that the map sees
    values : a number
    """

    multiples_of_d: Count = None
    values: Count = None


class Approximation(Model):
    """The error of the kernel matrix.

    Attributes
    ----------
    norm : norm of the relative error: `frobenius`, `spectral`, `sup` or `l2`
    rows : number of training rows on which it is measured
    """

    norm: Literal["frobenius", "spectral", "sup", "l2"]
    rows: Annotated[int, Ge(2)]


class SweepValues(Model):
    """The values of a sweep on one data set.

    Attributes
    ----------
    values : values of the option
    """

    values: Positives


class Sweep(SweepValues):
    """One option that takes one value after another.

    Attributes
    ----------
    axis : name of the axis in the rows
    option : the option
    """

    axis: Annotated[str, StringConstraints(pattern="^[a-z_]+$")]
    option: str


def problems_of_options(method: str, options: dict, own: dict):
    """Yield the key and the message of every option that a map cannot take; ``own`` are those of the kind."""
    defaults = resolved_options(method, {})
    for key, value in options.items():
        if key in own:
            if value not in own[key]:
                yield key, f"must be one of {', '.join(own[key])}, got {value!r}"
        elif key not in defaults:
            yield key, f"unknown option {key!r}; {suggestion(key, defaults)}"
        elif None not in (value, defaults[key]) and isinstance(value, bool) != isinstance(defaults[key], bool):
            yield key, f"{value!r} is not of the type of the default, {defaults[key]!r}"


def check_options(given: list[tuple[tuple, str, dict | None]], info: ValidationInfo) -> None:
    """Raise an error for options that maps cannot take; ``given`` has their place, the map and the options."""
    own = (info.context or {}).get("options", {})
    problems: dict[tuple, str] = {}
    for place, method, options in given:
        for key, message in problems_of_options(method, options or {}, own):
            problems.setdefault((*place, key), message)
    refuse(list(problems.items()))


def options_by_map(options: dict, info: ValidationInfo) -> dict:
    """Check options by map."""
    check_options([((method,), method, own) for method, own in options.items()], info)
    return options


def lists_by_map(tried: dict, info: ValidationInfo) -> dict:
    """Check lists of options by map."""
    check_options([((method, i), method, own) for method, of in tried.items() for i, own in enumerate(of)], info)
    return tried


Options = dict[str, Any]
OptionsByMap = Annotated[dict[MapId, Options], AfterValidator(options_by_map)]
SizesByMap = dict[MapId, Annotated[list[str | int], *Some]]
OptionLists = Annotated[dict[MapId, Annotated[list[Options], *Some]], AfterValidator(lists_by_map)]


class EntryOptions(Model):
    """The keys that override the experiment for an entry.

    Attributes
    ----------
    options : override the options of the entry
    preprocess : in place of the preprocessing of the data set
    length_scale : in place of the one that the bandwidth rule finds
    learners : override the learners of the experiment; null leaves a learner out
    """

    options: Options = None
    preprocess: Steps = None
    length_scale: Positive = None
    learners: Learners = None


class Change(EntryOptions):
    """The keys that override an entry on one data set.

    Attributes
    ----------
    only_sizes : labels of the sizes at which it runs; by default all
    sweep : the values of the sweep
    """

    only_sizes: Words = None
    sweep: SweepValues = None


class EntryOrStep(EntryOptions):
    """The keys of an entry or a step.

    Attributes
    ----------
    split : overrides the experiment's
    searched : the quantities of the search in which the entry takes part; by default all
    datasets : by data set, the keys that differ there; null leaves the entry out
    """

    split: Split = None
    searched: Annotated[list[Literal[SEARCHED]], Predicate(distinct)] = None
    datasets: dict[Dataset, Change | None] = None


class Entry(EntryOrStep, Change):
    """One map with its options.

    Attributes
    ----------
    method : id of the map (`python -m rfstudy maps` lists them)
    variant : a name that distinguishes two entries of one map
    options : parameters of the map
    kernel : in place of the experiment's, in an accuracy grid; what all methods share in `search` is then shared by
        those of one kernel
    draw : the number of another draw of the same map, for comparisons of a map with itself
    draws : numbers of draws, each an entry of its own: 0 is the plain one, others have the variant `draw-<number>`
    sweep : an option that takes one value after another; such an entry is not timed
    """

    method: MapId
    variant: Annotated[str, StringConstraints(pattern="^[a-z0-9-]*$")] = None
    kernel: Kernel = None
    draw: Count = None
    draws: Annotated[list[Annotated[int, Ge(0)]], *Some] = None
    sweep: Sweep = None

    @model_validator(mode="after")
    def check_own_options(self, info: ValidationInfo):
        """Check the options of the map, wherever the entry states some, and its sweep and draws."""
        if self.draw and self.draws:
            refuse([(("draw",), "an entry has one draw, or a list of draws: keep one of them")])
        swept = [] if self.sweep else [name for name, own in (self.datasets or {}).items() if own and own.sweep]
        refuse([(("datasets", name, "sweep"), "the entry has no sweep whose values it could change") for name in swept])
        given = [(("options",), self.method, self.options)]
        by_dataset = {name: own.options for name, own in (self.datasets or {}).items() if own}
        given += [(("datasets", name, "options"), self.method, options) for name, options in by_dataset.items()]
        if self.sweep:
            given.append((("sweep",), self.method, {self.sweep.option: self.sweep.values}))
        check_options(given, info)
        return self


class Decision(EntryOrStep):
    """One step of a sequence of decisions: every method without a variant gets one entry per step, named after it,
    which keeps what the steps before changed. Its other keys are as in an entry.

    Attributes
    ----------
    name : variant of its rows
    methods : the methods that it concerns; by default all
    """

    name: Name
    methods: Annotated[list[MapId], *Some] = None
