"""The registries of data: consistent, complete, and with the sizes that the papers print."""

import pytest
import yaml
from checkouts import CONFIG
from data_toys import HOG, VGG
from refusals import message, messages

from rfstudy.data import modules, registry
from rfstudy.data.entries import in_use, over
from rfstudy.data.tasks import n_chunks, without

SOURCE = """
files-of-toy:
  title: Toy
  citation: Toy
  licence: none
  page: https://example.org
  files:
    toy.csv: {sha256: "%s", bytes: 3, addresses: [{url: "https://example.org/toy.csv"}]}
""" % ("0" * 64)

TASK = {
    "label": "Toy", "published_as": {"survey": "toy"}, "source": "files-of-toy", "files": {"all": "toy.csv"},
    "parser": "table", "n": 5, "d": 2, "n_train": 3, "n_test": 2, "split": "half", "labels": {"a": 1, "rest": -1},
    "stand_in": {
        "label": "generated (stand-in for Toy)",
        "generator": {"name": "numeric", "blades": 3, "positives": 0.5, "n_train": 3, "n_test": 2},
    },
}  # fmt: skip

GENERATED = {
    "label": "Mill", "published_as": {}, "d": 2, "split": "half", "target": "binary",
    "generator": {"name": "windmill", "blades": 3, "n_train": 4, "n_test": 3},
}  # fmt: skip

FEATURES = {"label": "Features", "published_as": {}, "features_of": {"task": "toy"} | HOG, "d": 32}


def generated_by(**changes):
    """A change of a task that alters its generator; None takes a key away."""
    return {"generator": over(GENERATED["generator"], changes)}


def stand_in(**changes):
    """A change of a task that alters its stand-in."""
    return {"stand_in": TASK["stand_in"] | changes}


def load_with(tmp_path, tasks, source=SOURCE):
    (tmp_path / "sources.yaml").write_text(source, encoding="utf-8")
    (tmp_path / "datasets.yaml").write_text(yaml.safe_dump(tasks, sort_keys=False), encoding="utf-8")
    return registry.load(tmp_path)


TOY = yaml.safe_load(SOURCE)["files-of-toy"]
NESTED = [{"url": "https://example.org/toy.zip", "member": ["inner.zip", "toy.csv"]}]


def source_with(change):
    """The sources of a file that is changed; None takes a key away."""
    return {"files-of-toy": TOY | {"files": {"toy.csv": over(TOY["files"]["toy.csv"], change)}}}


def test_a_file_of_this_machine_needs_no_address_no_checksum_and_no_stand_in(tmp_path):
    own = {"files-of-toy": {"title": "Toy", "files": {"toy.csv": {"path": "~/toy.csv"}}}}
    loaded = load_with(tmp_path, {"toy": without(TASK, "stand_in")}, yaml.safe_dump(own))
    entry = loaded.sources["files-of-toy"]["files"]["toy.csv"]
    assert (entry["path"], entry["sha256"], entry["addresses"]) == ("~/toy.csv", "unknown", [])
    assert in_use(loaded.tasks["toy"], embedded=True) == loaded.tasks["toy"]
    with_one = load_with(tmp_path, {"toy": TASK}, yaml.safe_dump(own)).tasks["toy"]
    assert in_use(with_one, embedded=True)["label"] == "generated (stand-in for Toy)"
    assert in_use(with_one, embedded=False)["label"] == "Toy"


def test_a_stand_in_is_an_entry_of_its_own(tmp_path):
    task = load_with(tmp_path, {"toy": TASK | {"d": 3} | stand_in(d=2)}).tasks["toy"]
    own, other = (in_use(task, embedded=embedded) for embedded in (False, True))
    assert other == {
        "label": "generated (stand-in for Toy)", "is_stand_in": True, "generator": TASK["stand_in"]["generator"],
        "d": 2, "n": 5, "n_train": 3, "n_test": 2, "split": "half", "target": "binary",
    }  # fmt: skip
    assert (own["d"], own["source"], registry.code_of(own)) == (3, "files-of-toy", [])
    assert registry.code_of(other) == ["rfstudy.data.generators.numeric"]


@pytest.mark.parametrize("change", [{"addresses": NESTED}, {"sha256": "unknown", "bytes": None, "most_bytes": 3}])
def test_a_file_may_be_inside_archives_and_its_checksum_may_be_unknown(change, tmp_path):
    assert load_with(tmp_path, {"toy": TASK}, yaml.safe_dump(source_with(change))).tasks


WRONG_FILES = [
    ({"sha256": "unknown"}, ": a file with an unknown checksum has 'most_bytes' and no 'bytes'"),
    ({"sha256": "unknown", "bytes": None}, ": a file with an unknown checksum has 'most_bytes' and no 'bytes'"),
    ({"most_bytes": 3}, ": a file with a checksum has 'bytes' and no 'most_bytes'"),
    ({"sha256": "guessed"}, ".sha256: 'guessed': string should match pattern"),
    ({"sha256": None}, ": the key 'sha256' is missing; known are addresses, bytes"),
    ({"addresses": None}, ": the key 'addresses' is missing; known are"),
    ({"sha265": "0"}, ".sha265: unknown key; did you mean sha256? known are"),
    ({"addresses": [{"url": "ftp://x"}]}, ".addresses[0].url: 'ftp://x': string should match pattern"),
]


@pytest.mark.parametrize(("change", "line"), WRONG_FILES)
def test_a_wrong_file_is_named(change, line, tmp_path):
    found = message(load_with, tmp_path, {"toy": TASK}, yaml.safe_dump(source_with(change)))
    assert found.partition("sources.yaml: files-of-toy.files.toy.csv")[2].startswith(line)


@pytest.mark.parametrize(("name", "line"), [
    ("..", "no file may be called '..'"), ("record.json", "no file may be called 'record.json'"),
    ("a.gz", "'a.gz' has the ending of a"), ("a\0.csv", r"'a\x00.csv' is not one line of text"),
    ("a\n.csv", r"'a\n.csv' is not one line of text"),
])  # fmt: skip
def test_names_that_a_source_keeps_for_itself_are_refused(name, line, tmp_path):
    sources = source_with({})
    sources["files-of-toy"]["files"][name] = TOY["files"]["toy.csv"]
    assert line in message(load_with, tmp_path, {"toy": TASK}, yaml.safe_dump(sources))


@pytest.mark.parametrize("name", ["../evil", "Évil x", "a\nb", "", "toy_2", "a" * 101])
@pytest.mark.parametrize("file", ["sources", "datasets"])
def test_the_name_of_a_source_or_a_task_is_a_part_of_a_path(file, name, tmp_path):
    tasks, sources = {"toy": TASK}, yaml.safe_load(SOURCE)
    (tasks if file == "datasets" else sources)[name] = TASK if file == "datasets" else sources["files-of-toy"]
    line = f"{file}.yaml: {name!r}: a name has lower-case letters, digits and hyphens only, 100 at most"
    assert line in message(load_with, tmp_path, tasks, yaml.safe_dump(sources))


def test_a_source_says_whose_its_files_are(tmp_path):
    found = message(load_with, tmp_path, {"toy": TASK}, "files-of-toy: 1.5")
    assert "sources.yaml: files-of-toy: must be a mapping" in found
    for key in ("citation", "licence", "page"):
        source = {"files-of-toy": without(yaml.safe_load(SOURCE)["files-of-toy"], key)}
        found = message(load_with, tmp_path, {"toy": TASK}, yaml.safe_dump(source))
        assert found.endswith(f"files-of-toy: a source with files to download needs the key '{key}'")


def test_a_task_of_any_origin_has_its_sizes_its_split_and_its_target(tmp_path):
    again = FEATURES | {"features_of": {"task": "features"} | HOG}
    tasks = load_with(tmp_path, {"again": again, "features": FEATURES, "mill": GENERATED, "toy": TASK}).tasks
    stated = {"n": 5, "n_train": 3, "n_test": 2, "split": "half", "target": "binary"}
    for task_id in ("toy", "features", "again"):
        assert {key: tasks[task_id][key] for key in stated} == stated
    assert {key: tasks["mill"][key] for key in stated} == stated | {"n": 7, "n_train": 4, "n_test": 3}
    assert [tasks[task_id]["d"] for task_id in ("toy", "mill", "features")] == [2, 2, 32]
    in_order = {"split": "published", "rows": "in_order"}
    assert load_with(tmp_path, {"toy": TASK | in_order}).tasks["toy"]["n_train"] == 3


PUBLISHED = TASK | {"files": {"train": "toy.csv", "test": "toy2.csv"}, "split": "published"}
TWO_FILES = SOURCE + SOURCE.splitlines()[-1].replace("toy.csv:", "toy2.csv:")
MADE = {"base": "toy", "generator": "deformed_digits", "n_train": 70, "rows_per_chunk": 30}
READ = {"base": "toy", "source": "files-of-toy", "file": "toy.csv", "columns": 9, "n_train": 70}
STREAMED = {"label": "Many", "published_as": {}, "streamed": MADE, "d": 3}
EXTRACTORS, STREAMS = (", ".join(modules.names(kind)) for kind in ("extractors", "streams"))
STREAM_STAND_IN = {"label": "few (stand-in for Many)", "streamed": MADE | {"n_train": 7}}


def test_a_streamed_task_has_the_test_rows_of_its_base_and_knows_its_chunks(tmp_path):
    tasks = {"toy": PUBLISHED, "many": STREAMED, "read": STREAMED | {"streamed": READ, "stand_in": STREAM_STAND_IN}}
    known = load_with(tmp_path, tasks, TWO_FILES).tasks
    stated = {"n": 72, "n_train": 70, "n_test": 2, "split": "published", "target": "binary", "d": 3}
    for name in ("many", "read"):
        assert {key: known[name][key] for key in stated} == stated
    many, read = (in_use(known[name], embedded=False) for name in ("many", "read"))
    few = in_use(known["read"], embedded=True)
    assert [n_chunks(task["streamed"]) for task in (many, read, few)] == [3, 1, 1]
    assert {registry.base_of(task) for task in (many, read, few)} == {"toy"}
    assert few["streamed"] == STREAM_STAND_IN["streamed"]
    assert (few["n_train"], few["n_test"], few["d"], few["target"]) == (7, 2, 3, "binary")
    assert [registry.source_of(task) for task in (many, read, few)] == ["", "files-of-toy", ""]
    assert registry.code_of(read) == []
    assert registry.code_of(many) == ["rfstudy.data.streams.deformed_digits"]


@pytest.mark.parametrize(("change", "target"), [
    ({}, "binary"), ({"labels": {"a": 1, "b": -1, "rest": "drop"}}, "binary"),
    ({"labels": {"a": 1, "b": 1, "c": 0}}, "binary"), ({"labels": {"a": 1, "b": 2, "c": 3}}, "classes"),
    ({"target": "classes"}, "classes"), ({"labels": None, "target": "regression"}, "regression"),
])  # fmt: skip
def test_the_target_is_what_the_labels_have_values_for_unless_it_is_stated(tmp_path, change, target):
    assert load_with(tmp_path, {"toy": over(TASK, change)}).tasks["toy"]["target"] == target


def test_synthetic_data_have_the_size_of_the_set_that_they_are_made_for():
    tasks = registry.load(CONFIG).tasks
    for name in ("buzz", "year"):
        for key in ("d", "n_train", "n_test"):
            assert tasks[name][key] == tasks[f"{name}-size"][key], (name, key)


def test_a_task_says_which_code_and_source_it_needs_and_what_its_job_asks_for():
    of_weights = {"features_of": {"task": "toy", "extractor": "vgg", "source": "weights", "side": 32}}
    tasks = (TASK, GENERATED, FEATURES, of_weights)
    makers = [[], ["generators.windmill"], ["extractors.hog"], ["extractors.vgg"]]
    assert [registry.code_of(task) for task in tasks] == [
        [f"rfstudy.data.{name}" for name in names] for names in makers
    ]
    assert [registry.source_of(task) for task in tasks] == [TASK["source"], "", "", "weights"]
    assert [registry.minutes_of(task) for task in tasks[:3]] == [60, 60, 60]
    assert [registry.minutes_of(task) for task in (of_weights, STREAMED)] == [240, 240]


#: Tasks that are in order, by what they are made from; those that others need stand first.
RIGHT = {
    "files": {"toy": TASK},
    "generator": {"mill": GENERATED | generated_by(n_test=4)},
    "features": {"toy": TASK, "features": FEATURES},
    "stream": {"toy": PUBLISHED, "many": STREAMED},
}


def features(**changes):
    return {"features_of": FEATURES["features_of"] | changes}


def vgg(**changes):
    return {"features_of": {"task": "toy", "source": "files-of-toy"} | VGG | changes}


WRONG = [
    ("files", {"source": "lost"}, ".source: sources.yaml has no source 'lost'; known are files-of-toy"),
    ("files", {"files": {"all": "lost.csv"}}, ": the source 'files-of-toy' has no file 'lost.csv'; it has toy.csv"),
    ("files", {"files": {"train": "toy.csv", "tset": "toy.csv"}}, ".files.tset: unknown key; did you mean test?"),
    ("files", {"parser": "idx"}, ": files.all: the parser idx reads 2 of them as one part, not 1"),
    ("files", {"parser": "xml"}, ".parser: 'xml': input should be 'libsvm', 'table'"),
    ("files", {"n": 6}, ": n_train + n_test = 5 is not n = 6"),
    ("files", {"n_train": 2, "n_test": 3}, ": a half split of 5 rows has 3 training rows, not 2"),
    ("files", {"rows": "in_order"}, ": a task with published parts has the split 'published', not 'half'"),
    ("files", {"split": "published"}, ": the split 'published' needs the files of both parts, or a list of rows"),
    ("files", {"split": "third"}, ".split: 'third': input should be 'published', 'half' or 'random'"),
    ("files", {"split": "published", "rows": "a.csv"}, ": rows: there is no file 'a.csv' in data/reference"),
    ("files", {"split": "random", "n_test": 3}, ": n_train + n_test = 6 is more than n = 5"),
    ("files", {"separator": "(("}, ".separator: '((' is no regular expression"),
    ("files", {"generator": GENERATED["generator"]}, ": a task is made from one of source, generator, features_of, "),
    ("files", {"waves": 3}, ".waves: unknown key; "),
    ("files", {"target": "ranking"}, ".target: 'ranking': input should be 'binary', 'classes' or 'regression'"),
    ("files", {"target": "regression"}, ": the target 'regression' has no labels"),
    ("files", {"labels": None}, ": it needs labels, or a target"),
    ("files", {"labels": {"a": 1, "b": 2**60}}, ".labels.b: 1152921504606846976 is neither an integer nor 'drop'"),
    ("files", {"labels": {"a": 1, "b": 2, "c": 3}, "target": "binary"}, ": labels: the target 'binary' needs labels o"),
    ("files", {"labels": {"a": 1, "rest": "drop"}}, ": labels: the target 'classes' needs labels of at least two"),
    ("files", {"target_scaling": {"interval": {"low": 0, "high": 1}}}, ": only the target 'regression' has a target_s"),
    ("files", {"target_scaling": {"rank": {}}}, ".target_scaling.rank: unknown key; known are interval"),
    ("files", {"target_scaling": {"interval": {"low": 0}}}, ".target_scaling.interval: the key 'high' is missing; kno"),
    ("files", {"stand_in": None}, ": the key 'stand_in' is missing: files have to be downloaded"),
    ("files", stand_in(generator=TASK["stand_in"]["generator"] | {"n_test": 5}), ": stand_in: a half split of 8"),
    ("files", stand_in(labels={"a": 1, "b": 2, "c": 3}), ": stand_in: labels: the target 'binary' needs labels of"),
    ("files", stand_in(blades=3), ".stand_in.blades: unknown key; "),
    ("files", stand_in(label="generated"), ".stand_in.label: 'generated': string should match pattern"),
    ("files", stand_in(generator={"name": "nurmeric"}), ".stand_in.generator: there is no 'nurmeric'; did you mean"),
    ("files", {"published_as": {"survy": "x"}}, ".published_as.survy: unknown key; did you mean survey? known are"),
    *[("files", {key: None}, f": the key {key!r} is missing; known") for key in ("parser", "n_train", "d", "label")],
    ("generator", {"n": 7}, ".n: unknown key; known are"),
    ("generator", generated_by(n_test=5), ": a half split of 9 rows has 5 training rows, not 4"),
    ("generator", generated_by(name="watermill"), ".generator: there is no 'watermill'; "),
    ("generator", generated_by(blades=None), ".generator: the key 'blades' is missing; known are blades, n_test, n_tr"),
    ("generator", generated_by(waves=3), ".generator.waves: unknown key; "),
    ("generator", generated_by(blades="three"), ".generator.blades: 'three': input should be a valid integer"),
    ("generator", generated_by(blades=True), ".generator.blades: True: input should be a valid integer"),
    ("generator", generated_by(blades=0), ".generator.blades: 0: input should be greater than or equal to 1"),
    ("generator", generated_by(n_train=None), ".generator: the key 'n_train' is missing"),
    ("features", features(task="lost"), ".features_of.task: datasets.yaml has no task 'lost'; known are features, toy"),
    ("features", features(task="features"), ": tasks are features of each other in a circle: features -> features"),
    ("features", features(extractor="sift"), f".features_of: there is no 'sift'; known are {EXTRACTORS}"),
    ("features", features(source="files-of-toy"), ": the extractor 'hog' reads no files of a source"),
    ("features", features(labels=1), ".features_of.labels: unknown key; "),
    ("features", features(pixels_per_cell=0), ".features_of.pixels_per_cell: 0: input should be greater than or equa"),
    ("features", vgg(side=16), ".features_of.side: 16: input should be greater than or equal to 32"),
    ("features", vgg(width=2), ".features_of.width: 2: input should be less than or equal to 1"),
    ("features", vgg(epochs=0), ".features_of.epochs: 0: input should be greater than or equal to 1"),
    ("features", vgg(learning_rate=0.0), ".features_of.learning_rate: 0.0: input should be greater than"),
    ("features", vgg(momentum=1.0), ".features_of.momentum: 1.0: input should be less than 1"),
    ("features", vgg(milestones=[1.5]), ".features_of.milestones[0]: 1.5: input should be a valid integer"),
    ("features", features(device="cuda"), ".features_of.device: unknown key; "),
    ("features", features(block_norm=1), ".features_of.block_norm: 1: input should be 'L1', 'L1-sqrt', 'L2' or 'L2-Hy"),
    ("stream", {"streamed": MADE | {"file": "toy.csv"}}, ".streamed.file: unknown key"),
    ("stream", {"streamed": without(MADE, "n_train")}, ".streamed: the key 'n_train' is missing"),
    ("stream", {"streamed": MADE | {"base": "lost"}}, ": streamed.base: 'lost' is no task of files with a published s"),
    ("stream", {"streamed": MADE | {"generator": "lost"}}, f".streamed: there is no 'lost'; known are {STREAMS}"),
    ("stream", {"streamed": MADE | {"strength": 2}}, ".streamed.strength: unknown key; known are base"),
    ("stream", {"streamed": READ}, ": the key 'stand_in' is missing"),
    ("stream", {"streamed": READ | {"file": "lost"}, "stand_in": STREAM_STAND_IN}, ": streamed: sources.yaml has no f"),
    ("stream", {"stand_in": {"label": "few (stand-in for Many)"}}, ": stand_in: the key 'streamed' is missing"),
    ("stream", {"stand_in": STREAM_STAND_IN | generated_by()}, ": stand_in: the key 'generator' is not of a"),
    *[(of, {"in_place_of": "lost"}, ".in_place_of: datasets.yaml has no task 'lost'") for of in ("stream", "files")],
]


@pytest.mark.parametrize(("made_from", "change", "line"), WRONG)
def test_a_wrong_task_is_named_with_what_is_wrong(tmp_path, made_from, change, line):
    *_, (name, right) = RIGHT[made_from].items()
    source = TWO_FILES if made_from == "stream" else SOURCE
    found = message(load_with, tmp_path, RIGHT[made_from] | {name: over(right, change)}, source)
    assert found.partition(f"datasets.yaml: {name}")[2].startswith(line)


def test_defaults_follow_from_what_a_task_says(tmp_path):
    half = without(TASK, "published_as", "split", "n_train", "n_test", "stand_in") | {"files": "toy.csv"}
    generator = without(TASK["stand_in"]["generator"], "n_train", "n_test")
    base = half | {"stand_in": {"generator": generator}, "n": 7}
    tasks = load_with(tmp_path, {"toy": base, "other": {"extends": "toy", "label": "Other", "d": 3}}).tasks
    assert {key: tasks["toy"][key] for key in ("split", "n", "n_train", "n_test", "files", "published_as")} == {
        "split": "half", "n": 7, "n_train": 4, "n_test": 3, "files": {"all": ["toy.csv"]}, "published_as": {},
    }  # fmt: skip
    assert tasks["toy"]["stand_in"]["label"] == "generated (stand-in for Toy)"
    assert tasks["toy"]["stand_in"]["generator"] == generator | {"n_train": 300, "n_test": 300}
    assert (tasks["other"]["d"], tasks["other"]["source"]) == (3, "files-of-toy")
    assert tasks["other"]["stand_in"]["label"] == "generated (stand-in for Other)"
    for wrong, line in (
        ("toys", "task 'other' extends 'toys', which does not"),
        ("other", "tasks extend each other in a"),
    ):
        found = message(load_with, tmp_path, {"toy": base, "other": {"extends": wrong, "label": "Other"}})
        assert f"datasets.yaml: other.extends: {line}" in found


def test_a_longer_circle_is_found_also_from_outside(tmp_path):
    tasks = {name: FEATURES | {"features_of": {"task": other} | HOG} for name, other in ("ab", "bc", "cb")}
    found = "\n".join(messages(load_with, tmp_path, tasks))
    for scope in ("a: tasks are features of each other in a circle: b -> c -> b", "b: tasks", "c: tasks"):
        assert f"datasets.yaml: {scope}" in found


def test_a_published_name_belongs_to_one_task(tmp_path):
    found = message(load_with, tmp_path, {"one": TASK, "two": TASK})
    assert "one and two are both published as 'toy' in survey" in found
