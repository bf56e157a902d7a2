"""A small task of files as its download leaves them."""

import json

from rfstudy.files import digest_of

#: A complete task of two published parts.
TOY = {
    "label": "Toy", "source": "toy", "files": {"train": ["toy"], "test": ["toy.t"]}, "parser": "libsvm", "n": 5, "d": 2,
    "n_train": 3, "n_test": 2, "split": "published", "target": "binary", "labels": {"-1": -1, "1": 1},
}  # fmt: skip

#: Parameters of the extractors.
HOG = {"extractor": "hog", "orientations": 8, "pixels_per_cell": 4, "cells_per_block": 1, "block_norm": "L1"}
VGG = {
    "extractor": "vgg", "side": 32, "epochs": 1, "batch": 64, "learning_rate": 0.01, "milestones": [], "momentum": 0.9,
    "weight_decay": 0.0,
}  # fmt: skip


def write_toy(folder):
    """Write the files of the task and the record of their download."""
    folder.mkdir()
    (folder / "toy").write_text("-1 1:1\n1 2:1\n-1 1:1\n", encoding="utf-8")
    (folder / "toy.t").write_text("1 2:1\n-1 1:2\n", encoding="utf-8")
    return downloaded(folder)


def downloaded(folder):
    """Write the record of the files in a folder, as the download leaves it."""
    files = {path.name: {"sha256": digest_of(path)} for path in folder.iterdir() if path.name != "record.json"}
    (folder / "record.json").write_text(json.dumps({"status": "ok", "files": files}), encoding="utf-8")
    return folder
