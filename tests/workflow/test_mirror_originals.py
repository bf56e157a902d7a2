"""The original files, where a mirror has them: content, sizes, and the facts that are known about the sets.

Set RFSTUDY_MIRROR to the folder. Every expected number was counted on the text of the files.
"""

import os

import numpy as np
import pytest
from checkouts import ROOT

from rfstudy.data import registry
from rfstudy.data.download import run as download
from rfstudy.data.preprocess import run as preprocess

MIRROR = os.environ.get("RFSTUDY_MIRROR")
KNOWN = registry.load(ROOT / "config")

#: The sources of tasks whose files the project has held; the content of the others is unknown. Those with named columns
#: are compared with their catalogue (``test_data_named``).
HELD = {
    source_id: source
    for source_id, source in KNOWN.sources.items()
    if source_id in {task.get("source") for task in KNOWN.tasks.values()}
    and not source_id.startswith("tab-")
    and all(entry["sha256"] != "unknown" for entry in source["files"].values())
}

pytestmark = pytest.mark.skipif(not MIRROR, reason="no mirror")

DIGITS_TRAIN = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)
DIGITS_TEST = (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009)
LETTERS_TRAIN = (
    *(594, 567, 554, 598, 565, 565, 547, 538, 567, 575, 572, 560, 607),
    *(605, 574, 597, 594, 568, 563, 599, 606, 581, 576, 583, 602, 543),
)
LETTERS_TEST = (
    *(195, 199, 182, 207, 203, 210, 226, 196, 188, 172, 167, 201, 185),
    *(178, 179, 206, 189, 190, 185, 197, 207, 183, 176, 204, 184, 191),
)


def by_class(counts):
    """Counts by the class's number, as facts.json has them."""
    return {str(number): count for number, count in enumerate(counts)}


def two(negative, positive):
    """Counts of two classes."""
    return {"-1": negative, "1": positive}


#: Class counts by part, and facts, of each task.
EXPECTED = {
    "ijcnn1": ({"train": two(45137, 4853), "test": two(82989, 8712)}, {"duplicate_rows_train": 0}),
    "eeg": (
        {"all": two(8257, 6723)},
        {"spike_rows": 4, "spike_row_numbers": [898, 10386, 11509, 13179], "class_order_all": "long runs"},
    ),
    "cod-rna": (
        {"train": two(39690, 19845), "test": two(181078, 90539)},
        {"duplicate_rows_train": 59535 - 49466, "duplicate_rows_test": 271617 - 210804}
        | {"test_rows_in_training": 4691, "spike_rows": 0},
    ),
    "covtype": ({"all": two(297711, 283301)}, {"duplicate_rows_all": 0, "spike_rows": 0}),
    "magic04": ({"all": two(6688, 12332)}, {"duplicate_rows_all": 115, "class_order_all": "sorted"}),
    "letter-am-nz": (
        {"train": two(6063, 5937), "test": two(3005, 2995)},
        {"minimum_train": 0, "maximum_train": 15, "class_order_train": "mixed"},
    ),
    "skin": ({"all": two(194198, 50859)}, {"duplicate_rows_all": 245057 - 51444, "maximum_all": 255}),
    "a8a": (
        {"train": two(17190, 5506), "test": two(7530, 2335)},
        {"n_constant_columns_train": 0, "constant_columns_test": [123]},
    ),
    "mnist": (
        {"train": by_class(DIGITS_TRAIN), "test": by_class(DIGITS_TEST)},
        {"duplicate_rows_train": 0, "test_rows_in_training": 0, "maximum_train": 255},
    ),
    "mnist-1-7": ({"train": two(6742, 6265), "test": two(1135, 1028)}, {}),
    "mnist-4-9": ({"train": two(5842, 5949), "test": two(982, 1009)}, {}),
    "mnist-5-6": ({"train": two(5421, 5918), "test": two(892, 958)}, {}),
    "mnist-1-2": ({"train": two(6742, 5958), "test": two(1135, 1032)}, {}),
    "letter": (
        {"train": by_class(LETTERS_TRAIN), "test": by_class(LETTERS_TEST)},
        {"minimum_train": -1, "maximum_train": 1},
    ),
    "adult": (
        {"train": two(24720, 7841), "test": two(12435, 3846)},
        {"n_constant_columns_train": 0, "n_constant_columns_test": 0},
    ),
    **{
        f"letter-{name}": (
            {
                part: two(sum(counts) - sum(counts[of]), sum(counts[of]))
                for part, counts in (("train", LETTERS_TRAIN), ("test", LETTERS_TEST))
            },
            {},
        )
        for name, of in (("halves", slice(13)), ("odd", slice(None, None, 2)), ("a-d", slice(4)))
    },
    "letter-vowels": ({"train": two(15000 - 2906, 2906), "test": two(5000 - 972, 972)}, {}),
    "sonar": ({"all": two(97, 111)}, {"duplicate_rows_all": 0}),
    # of the twenty test images that the mirror has not exactly, nineteen are ships and one is a horse
    **{
        f"cifar10-{pair}-images": ({"train": two(5000, 5000), "test": two(1000, 1000)}, {})
        for pair in ("plane-bird", "auto-truck", "dog-frog", "auto-deer")
    },
    "cifar10": ({"train": by_class([5000] * 10), "test": by_class([1000] * 7 + [999, 981, 1000])}, {}),
    "cod-rna-training": ({"all": two(39690, 19845)}, {"duplicate_rows_all": 59535 - 49466}),
    "cifar10-auto-ship-images": ({"train": two(5000, 5000), "test": two(1000, 981)}, {}),
}

#: Rows that are there more than once, in each set with published folds.
TWINS = dict.fromkeys((f"uci-{name}" for name in (
    "airfoil", "autompg", "bike", "gas", "housing", "kin40k", "parkinsons", "pendulum", "skillcraft", "sml", "stock",
    "tamielectric", "yacht",
)), 0) | {
    "uci-forest": 8, "uci-keggundirected": 49918, "uci-pol": 84, "uci-protein": 3164, "uci-solar": 851, "uci-wine": 460,
}  # fmt: skip


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    """All sources, from the mirror."""
    folder = tmp_path_factory.mktemp("raw")
    for source_id, source in HELD.items():
        # without addresses no request can be made
        offline = source | {"files": {name: entry | {"addresses": []} for name, entry in source["files"].items()}}
        record = download(source_id, offline, folder / source_id, lock_path=folder / "lock.yaml", mirror=MIRROR)
        assert {entry["from"].split(":")[0] for entry in record["files"].values()} == {"mirror"}
    return folder


def prepared(task_id, raw, folder):
    """The facts about a task that was prepared in a folder."""
    task = KNOWN.tasks[task_id]
    return preprocess(task_id, task, raw / task["source"], folder, reference_dir=ROOT / "data" / "reference")


def test_every_task_is_expected():
    assert {*EXPECTED, *TWINS} == {task_id for task_id, task in KNOWN.tasks.items() if task.get("source") in HELD}


@pytest.mark.parametrize("task_id", EXPECTED)
def test_a_task_has_its_classes_and_facts(task_id, raw, tmp_path):
    counts, facts = EXPECTED[task_id]
    found = prepared(task_id, raw, tmp_path)
    assert found["class_counts"] == counts
    assert {key: found["facts"][key] for key in facts} == facts
    assert (tmp_path / "facts.json").stat().st_size < 4000


@pytest.mark.parametrize("task_id", TWINS)
def test_published_folds_have_equal_sizes(task_id, raw, tmp_path):
    found, n = prepared(task_id, raw, tmp_path), KNOWN.tasks[task_id]["n"]
    folds = np.bincount(np.array(list(found["fold_of_row"]), dtype=int), minlength=10)
    assert len(folds) == 10
    assert np.isin(folds, (n // 10, n // 10 + 1)).all()
    assert found["facts"]["rows_with_twin"] == TWINS[task_id]


def test_single_cells_of_the_originals(raw, tmp_path):
    def rows(task_id, row):
        prepared(task_id, raw, tmp_path)
        return np.load(tmp_path / "X.npy")[row], np.load(tmp_path / "y.npy")[row]

    X, y = rows("eeg", 0)
    assert X.tolist() == np.float32([4329.23, 4009.23, 4289.23, 4148.21, 4350.26, 4586.15, 4096.92]).tolist() + (
        np.float32([4641.03, 4222.05, 4238.46, 4211.28, 4280.51, 4635.9, 4393.85]).tolist()
    )
    assert y == -1
    X, y = rows("cod-rna", 59535)  # the first row of cod-rna.t
    assert X.tolist() == np.float32([-500, 128, 0.140625, 0.304688, 0.234375, 0.129771, 0.328244, 0.229008]).tolist()
    X, y = rows("letter-am-nz", 0)  # row 5290 of the file: a P
    assert X.tolist() == [2, 4, 3, 2, 2, 5, 10, 4, 4, 9, 8, 5, 3, 10, 3, 7]
    assert y == -1
    X, y = rows("a8a", 0)
    assert (np.flatnonzero(X) + 1).tolist() == [3, 11, 14, 19, 39, 42, 55, 64, 67, 73, 75, 76, 80, 83]
