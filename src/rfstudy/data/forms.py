"""Typed models of ``config/datasets.yaml``: the keys of a task, by its origin.

The parameters of a generator, an extractor or a stream are the keyword arguments of its function, in its own file.
"""

import re
from inspect import isfunction
from typing import Annotated, Any, Literal

from annotated_types import Ge, MinLen
from pydantic import AfterValidator, StringConstraints, ValidationInfo, create_model, model_validator

from rfstudy.data import modules, parse, target_scaling
from rfstudy.data.entries import class_values, target_of
from rfstudy.data.sources import Names, Text
from rfstudy.data.tasks import DROP, IN_ORDER, halves
from rfstudy.fields import Count, Counts, Some, Words
from rfstudy.models import Model, by_name, either, id_in, parameters, refuse, with_keys

#: The formats: functions ``parse_<name>``.
PARSERS = tuple(name.removeprefix("parse_") for name in vars(parse) if name.startswith("parse_"))

#: Files that a parser reads as one part, None for any number; a parser that is not listed reads one.
FILES_OF_PARSER = {"idx": 2, "pair": 2, "cifar": None}


def named(kind: str, key: str, given: type[Model]):
    """Return the type of a mapping that names a file under ``key``, with the keys of ``given`` and the file's own."""
    owns = {name: parameters(modules.function(kind, name)) for name in modules.names(kind)}
    return by_name(key, {name: create_model(name, __base__=(given, own)) for name, own in owns.items()})


TaskId, SourceId = id_in("tasks", "datasets.yaml has no task"), id_in("sources", "sources.yaml has no source")


class Rows(Model):
    """The rows that a generator makes.

    Attributes
    ----------
    name : a file in `src/rfstudy/data/generators`, which has the other parameters
    n_train : training rows
    n_test : test rows
    """

    n_train: Count
    n_test: Count


class FeaturesOf(Model):
    """The features of another task.

    Attributes
    ----------
    task : id of the other task
    extractor : a file in `src/rfstudy/data/extractors`, which has the other parameters
    source : id in `sources.yaml` of files that the extractor reads
    """

    task: TaskId
    source: SourceId = None


class Stream(Model):
    """Rows that are made in chunks.

    Attributes
    ----------
    base : id of the task whose test part is the test part
    n_train : training rows
    rows_per_chunk : largest number of training rows that are made at once; by default all
    """

    base: str
    n_train: Count
    rows_per_chunk: Count = None


class FileStream(Stream):
    """Rows of a file in LIBSVM's format.

    Attributes
    ----------
    source : id in `sources.yaml`
    file : name of the file
    columns : columns of the file
    """

    source: SourceId
    file: str
    columns: Count


Generator = named("generators", "name", Rows)
Features = named("extractors", "extractor", FeaturesOf)

#: Rows of a ``generator``, made from the training images of the base; its file has the other parameters.
OwnStream = named("streams", "generator", Stream)
Streamed = either(OwnStream, lambda value: isinstance(value, dict) and "generator" in value, FileStream)


def label_value(value) -> int | str:
    """Check the value of a label in the label map."""
    if value != DROP and (type(value) is not int or abs(value) > 2**53):
        raise ValueError(f"{value!r} is neither an integer nor {DROP!r}")
    return value


Labels = Annotated[dict[str, Annotated[Any, AfterValidator(label_value)]], MinLen(1)]


def one_key(scaling: Model) -> Model:
    """Check that a mapping names one scaling."""
    if len(scaling.model_fields_set) != 1:
        raise ValueError("must name one scaling")
    return scaling


#: A scaling of targets: one of the functions with its parameters.
Scaling = {name: parameters(of) for name, of in vars(target_scaling).items() if isfunction(of) and name != "fitted"}
TargetScaling = Annotated[with_keys("Scaling", Scaling), AfterValidator(one_key)]


class StandIn(Model):
    """The replacement of a task's own rows if nothing may be downloaded.

    Attributes
    ----------
    label : a text with "stand-in for"; by default "generated (stand-in for ...)"
    generator : function that makes its rows, by default 300 of each part
    streamed : or how it is streamed
    d : columns, where they are not the task's
    labels : of a set that ships with scikit-learn; generated rows come with their classes
    """

    label: Annotated[Text, StringConstraints(pattern="stand-in for")]
    generator: Generator = None
    streamed: Streamed = None
    d: Count = None
    labels: Labels = None


class PublishedAs(Model):
    """By paper, the name of a data set or of a method in its published numbers, or a list of names."""

    survey: Names = None
    eerf: Names = None
    nsrf: Names = None
    slsrff: Names = None


def expression(separator: str) -> str:
    """Check that a separator of several letters is a regular expression."""
    try:
        re.compile(separator if len(separator) > 1 else "")
    except re.error:
        raise ValueError(f"{separator!r} is no regular expression") from None
    return separator


class Parts(Model):
    """The files of a task: `all`, or `train` and `test`."""

    all: Names = None
    train: Names = None
    test: Names = None


class Columns(Model):
    """The columns of a table that have names.

    Attributes
    ----------
    target : the name of the label's column; rows without a label are left out
    categorical : names of columns of texts
    missing : texts that mark a missing cell; nothing else does
    dropped : names of columns that are left out
    dropped_rows : numbers, from 0, of rows that are left out
    decimal : separator of decimals, by default a point
    """

    target: Text
    categorical: Words = None
    missing: Words = None
    dropped: Words = None
    dropped_rows: Annotated[list[Annotated[int, Ge(0)]], *Some] = None
    decimal: Text = None


# --- Tasks ------------------------------------------------------------------------------------------------------------


class Task(Model):
    """The keys of every task.

    Attributes
    ----------
    label : the name in tables and figures
    published_as : by paper, the name of the data set there; by default none
    d : columns
    note : a remark for readers
    not_comparable : why results are not compared with published numbers: a text, or `{labels: why}` or `{test: why}`
        if only what uses the labels, or the test rows, is not
    in_place_of : the task whose published numbers are shown next to results of this one
    """

    label: Text
    published_as: PublishedAs
    d: Count
    note: Text = None
    not_comparable: Text | dict[Literal["labels", "test"], Text] = None
    in_place_of: TaskId = None

    @model_validator(mode="after")
    def check_task(self, info: ValidationInfo):
        """Check the keys against each other, and against the other tasks and the sources."""
        refuse([((), problem) for problem in self.problems(**info.context)])
        return self


class Labelled(Task):
    """A task whose rows come with a target.

    Attributes
    ----------
    split : `published`: the published parts, the default where there are some; `half`: a random half in each repeat,
        the default otherwise; `random`: `n_train` random rows and `n_test` others in each repeat
    target : by default `binary` where the labels have two values, else `classes`; a regression has no labels
    target_scaling : for a regression: a function of `src/rfstudy/data/target_scaling.py` with its parameters, fitted on
        the training targets of a repeat: `{interval: {low: -1, high: 1}}`. By default targets stay as they are
    labels : each published label to an integer, `rest` for all others; `drop` leaves rows out
    """

    split: Literal["published", "half", "random"]
    target: Literal["binary", "classes", "regression"] = None
    target_scaling: TargetScaling = None
    labels: Labels = None

    def problems_of_target(self):
        """Yield the problems of target, scaling and labels."""
        if self.target_scaling and self.target != "regression":
            yield "only the target 'regression' has a target_scaling"
        if self.labels and self.target == "regression":
            yield "the target 'regression' has no labels"
        elif self.labels:
            yield from self.problems_of_labels(self.labels)
        elif not self.target:
            yield "it needs labels, or a target"

    def problems_of_labels(self, labels: dict):
        """Yield a problem if labels do not have as many values as the target of the task needs."""
        target, values = target_of({"target": self.target, "labels": self.labels}), class_values(labels)
        if len(values) < 2 or (target == "binary" and len(values) != 2):
            wanted = "two" if target == "binary" else "at least two"
            yield f"labels: the target {target!r} needs labels of {wanted} values, not {sorted(values)}"

    def problems_of_half(self, n: int, n_train: int):
        """Yield the problem of the number of training rows of n rows, if half of them train."""
        if self.split == "half" and n_train != halves(n)[0]:
            yield f"a half split of {n} rows has {halves(n)[0]} training rows, not {n_train}"


class FileTask(Labelled):
    """A task that is made from the files of a source.

    Attributes
    ----------
    source : id in `sources.yaml`
    files : the source's files: one name, a list of names, or names by published part (`train` and `test`)
    parser : the format of the files: a function `parse_...` of `src/rfstudy/data/parse.py`
    separator : of a table: separator of its cells, by default a comma; several letters are a regular expression
    header_lines : of a table: lines above its rows, by default none
    drop_columns : numbers, from 1, of columns that are left out
    label_column : of a table, by default the last
    columns : of the parser `named`: its target, its columns of texts, and the mark of a missing cell
    rows : a file of `data/reference` (part, row) that lists the rows, or `in_order`: the first `n_train` rows of the
        file are its training part
    folds : the source's file of published folds: a line per row, a column per fold, 1 where the row is a test row
    n : number of rows; by default the sum of the parts
    n_train : training rows; in a `half` split by default half of the rows, of an odd number one more
    n_test : test rows; likewise
    stand_in : task in its place where nothing may be downloaded
    """

    source: SourceId
    files: Parts
    parser: Literal[PARSERS]
    separator: Annotated[str, MinLen(1), AfterValidator(expression)] = None
    header_lines: Count = None
    drop_columns: Counts = None
    label_column: Literal["first", "last"] = None
    columns: Columns = None
    rows: Text = None
    folds: Text = None
    n: Count
    n_train: Count
    n_test: Count
    stand_in: StandIn = None

    def problems(self, sources: dict, reference, **_):
        """Yield the problems of the files, the numbers of rows, and the stand-in."""
        yield from self.problems_of_target()
        yield from self.problems_of_files(sources)
        yield from self.problems_of_counts()
        if (self.parser == "named") != bool(self.columns):
            yield "the parser named needs columns, and no other parser takes them"
        if self.folds and (self.rows or self.files.train):
            yield "folds: rows with published folds come from one part, in its order"
        if self.rows not in (None, IN_ORDER) and not (reference / self.rows).is_file():
            yield f"rows: there is no file {self.rows!r} in data/reference"
        if self.stand_in and (made := self.stand_in.generator):
            of_stand_in = list(self.problems_of_half(made.n_train + made.n_test, made.n_train))
            if self.stand_in.labels and self.labels:
                of_stand_in += self.problems_of_labels(self.stand_in.labels)
            yield from (f"stand_in: {problem}" for problem in of_stand_in)

    def problems_of_files(self, sources: dict):
        """Yield the problems of the files."""
        parts = self.files.model_dump(exclude_none=True)
        names = [name for part in parts.values() for name in part]
        if set(parts) not in ({"all"}, {"train", "test"}):
            yield f"files must name 'all', or 'train' and 'test', not {', '.join(parts)}"
        known = sources[self.source].get("files", {})
        for name in dict.fromkeys([*names, self.folds] if self.folds else names):
            if name not in known:
                yield f"the source {self.source!r} has no file {name!r}; it has {', '.join(known)}"
            if names.count(name) > 1:
                yield f"files: {name!r} is there twice"
        needed = FILES_OF_PARSER.get(self.parser, 1)
        for part, of_part in parts.items():
            if needed and len(of_part) != needed:
                yield f"files.{part}: the parser {self.parser} reads {needed} of them as one part, not {len(of_part)}"
        if not self.stand_in and not all("path" in file for file in known.values()):
            yield "the key 'stand_in' is missing: files have to be downloaded"

    def problems_of_counts(self):
        """Yield the problems of the split and the numbers of rows."""
        in_use, has_parts = self.n_train + self.n_test, bool(self.files.train or self.rows)
        if self.split == "random" and in_use > self.n:
            yield f"n_train + n_test = {in_use} is more than n = {self.n}"
        if self.split != "random" and in_use != self.n:
            yield f"n_train + n_test = {in_use} is not n = {self.n}"
        yield from self.problems_of_half(self.n, self.n_train)
        if self.split != "published" and has_parts:
            yield f"a task with published parts has the split 'published', not {self.split!r}"
        if self.split == "published" and not has_parts:
            yield "the split 'published' needs the files of both parts, or a list of rows (or rows: in_order)"


class GeneratedTask(Labelled):
    """A task whose rows a generator makes, in every preset.

    Attributes
    ----------
    generator : `name` of a file in `src/rfstudy/data/generators`, its parameters, `n_train` and `n_test`
    """

    generator: Generator

    def problems(self, **_):
        """Yield the problems of the target and the numbers of rows."""
        yield from self.problems_of_target()
        yield from self.problems_of_half(self.generator.n_train + self.generator.n_test, self.generator.n_train)


class FeaturesTask(Task):
    """A task made from another one's rows by an extractor; rows, split and target are the other's.

    Attributes
    ----------
    features_of : the other `task`, the `extractor` (a file in `src/rfstudy/data/extractors`), its parameters, and the
        `source` of files that it reads, if any
    """

    features_of: Features

    def problems(self, tasks: dict, **_):
        """Yield the problems of the other task, or of the extractor's files."""
        own, trail = self.features_of, []
        if own.source and not modules.load("extractors", own.extractor).FILES:
            yield f"the extractor {own.extractor!r} reads no files of a source"
        other = own.task
        while other in tasks and other not in trail and "features_of" in tasks[other]:
            trail.append(other)
            other = tasks[other]["features_of"].get("task")
        if other in trail:
            yield f"tasks are features of each other in a circle: {' -> '.join((*trail, other))}"


class StreamedTask(Task):
    """A task whose rows are made in chunks and reduced to `d` components; its test part is the test part of the base.

    Attributes
    ----------
    streamed : the `base`, `n_train`, `rows_per_chunk`, and a `file` of a `source` with its `columns`, or a `generator`
        (a file in `src/rfstudy/data/streams`) with its parameters
    stand_in : task in its place where nothing may be downloaded
    """

    streamed: Streamed
    stand_in: StandIn = None

    def problems(self, tasks: dict, sources: dict, **_):
        """Yield the problems of the streams of a task and of its stand-in."""
        from_file = isinstance(self.streamed, FileStream)
        if from_file and not self.stand_in:
            yield "the key 'stand_in' is missing: files have to be downloaded"
        if self.stand_in and not self.stand_in.streamed:
            yield "stand_in: the key 'streamed' is missing"
        if self.stand_in and self.stand_in.generator:
            yield "stand_in: the key 'generator' is not of a task that is streamed; it belongs under 'streamed'"
        if from_file and self.streamed.file not in sources[self.streamed.source]["files"]:
            yield f"streamed: sources.yaml has no file {self.streamed.file!r} of a source {self.streamed.source!r}"
        base = self.streamed.base
        if "source" not in tasks.get(base, {}) or tasks[base].get("split") != "published":
            yield f"streamed.base: {base!r} is no task of files with a published split"


#: The key that says what a task is made from, and the model of such a task.
FORMS = {"source": FileTask, "generator": GeneratedTask, "features_of": FeaturesTask, "streamed": StreamedTask}
