"""Typed models of the settings of a run and of the plot styles of the methods."""

from functools import partial
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Lt, MinLen
from pydantic import AfterValidator, Field, StringConstraints

from rfstudy.data.forms import PublishedAs
from rfstudy.fields import Count, Words
from rfstudy.models import Model, Text, either
from rfstudy.planning.entries import Learners, Name, Options
from rfstudy.planning.models import Axis, Limit, Repeats, Shared, Timing, beginning


class SearchDefaults(Model):
    """The keys of a preset for the search of every experiment with learners.

    Attributes
    ----------
    penalty : scope that shares a penalty if an experiment does not state one
    max_rows : largest number of training rows of a search
    """

    penalty: Shared = None
    max_rows: Limit | None = None


class Settings(Model):
    """Settings of a run: a preset, overridden by `config.yaml`.

    Attributes
    ----------
    preset : name of a file in `presets/`; results go to `results/<preset>`
    seed : the seed of the study; all other seeds derive from it
    device : where maps and learners compute; `auto` is CUDA, if it is available, for jobs that request a GPU
    mirror : a folder `<mirror>/<source>/<original file>[.xz|.gz]` that is tried before any address; setting it reruns
        nothing
    allow_missing : unavailable data become `skipped` rows instead of an error
    only_experiments : ids to keep, as a list or as `a,b`; empty keeps all
    only_datasets : the same for data sets
    only_methods : the same for methods
    only_sizes : the same for labels of sizes: `d,8d`
    data : `embedded`, the stand-ins that ship with the code, or `original`, the papers' data
    repeats : repeats of an experiment that does not state fewer
    largest_multiple_of_d : larger multiples of d are left out; sizes that are not multiples of d are kept
    most_values : largest number of sizes that are not multiples of d, of values of a sweep, and of mappings that a
        search tries, evenly spaced from the first to the last; null for all
    max_rows : largest number of training and of test rows; capped rows say so
    search : defaults for the search of every experiment with learners
    experiments : by experiment, keys that override its own in this preset; null removes. Experiments that extend it
        keep all of theirs
    learners : by learner, options that override the options of every experiment
    time : how times are measured; defaults for the `time` of an experiment
    prepared_together : tasks whose rows one job makes, if a generator makes them
    shard_by : the axes that separate jobs: `paper`, or a beginning of `experiment, dataset, method`
    minutes_per_shard : expected minutes of a job, except of `time`: methods are put together up to it, and the
        repeats of a method that takes over four times as long are separated; null leaves jobs as `shard_by` cuts them
    max_mem_mb : memory of a node in MB: no job requests more, and a job that needs more is an error; null for no limit
    max_runtime : the same for the minutes of a job
    device_from : rows x squared columns of the features, over all cells of a map, from which its job requests a GPU at
        `device: auto`; so do networks, and maps that learn frequencies for ten minutes; other jobs use the CPU; null
        requests none
    threads : threads of a job that measures no times
    """

    preset: Name
    seed: Annotated[int, Ge(0), Lt(2**63)]  # a column of integers in every table
    device: Literal["auto", "cpu", "cuda"]
    mirror: str | None
    allow_missing: bool
    only_experiments: list[str]
    only_datasets: list[str]
    only_methods: list[str]
    only_sizes: list[str]
    data: Literal["embedded", "original"]
    repeats: Repeats
    largest_multiple_of_d: Count | None
    most_values: Count | None
    max_rows: Limit | None
    search: SearchDefaults
    experiments: dict[str, Options] = Field(default_factory=dict)
    learners: Learners
    time: Timing
    prepared_together: Words = None
    shard_by: Annotated[list[Axis | Literal["paper"]], AfterValidator(partial(beginning, also="paper, or "))]
    minutes_per_shard: Count | None
    max_mem_mb: Count | None
    max_runtime: Count | None
    device_from: Annotated[float, Gt(0)] | None
    threads: Count


Colour = Annotated[str, StringConstraints(pattern="^#[0-9A-Fa-f]{6}$")]
Marker = Literal["o", "s", "D", "d", "^", "v", "<", ">", "p", "P", "X", "h", "H", "8", "*"]
Dashes = Annotated[list[Annotated[float, Gt(0)]], MinLen(2)]
LineStyle = either(Dashes, lambda value: isinstance(value, list), Literal["solid", "dashed", "dotted", "dashdot"])


class PlotStyle(Model):
    """The plot style of a method.

    Attributes
    ----------
    label : the name in legends and tables
    colour : hex
    marker : matplotlib's letter
    linestyle : `solid`, `dashed`, `dotted`, `dashdot` or a dash pattern in points
    """

    label: Text
    colour: Colour = None
    marker: Marker = None
    linestyle: LineStyle = None


class Method(PlotStyle):
    """Names and plot style of a method. A method without an entry gets its own style.

    Attributes
    ----------
    year : of the publication
    family : as in the registry of maps
    reference : the publication
    published_as : by paper, the name that is used there, or a list of names; by default none
    variants : by variant, the label and the style; without one it is drawn as the method, hollow and dotted
    """

    year: Annotated[int, Ge(1900)]
    family: Text
    reference: Text
    published_as: PublishedAs = None
    colour: Colour
    marker: Marker
    variants: dict[Name, PlotStyle] = None
