"""Random edits of a configuration end in a plan or in lines that name file, experiment and key."""

import copy
import random
import re

import pytest
import yaml
from study_toys import GRID

from random_features.errors import UserError
from rfstudy.planning import config

EXPERIMENTS = f"""{GRID}
child:
  extends: base
  title: The same, with other machines
  datasets: {{eeg: null, skin: {{largest_multiple_of_d: 4, learners: {{ridge: null}}}}}}
  methods: [{{method: rff}}, {{method: orf, variant: phase, options: {{layout: phase}}}}]
  bandwidth: {{rule: median, rows: 100}}
  repeats: 2
  learners: {{svm: {{C: [0.1, 1]}}}}
"""

VALUES = [None, -3, 0, 1.5, 10**30, True, "", "abc", "a\nb", "ключ", [], {}, [[1]], {"a": 1}]


def places(node, path=()):
    """Yield the paths of all keys and positions below a node."""
    for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield (*path, key)
        yield from places(node[key], (*path, key))


def edited(document, rng):
    """Return a copy of a document with one to three random edits."""
    document = copy.deepcopy(document)
    for _ in range(rng.randint(1, 3)):
        *path, key = rng.choice(list(places(document)))
        node = document
        for step in path:
            node = node[step]
        edit = rng.choice(["set", "set", "delete", "misspell", "repeat"])
        if edit == "delete":
            del node[key]
        elif edit == "misspell" and isinstance(node, dict):
            node[f"{key}x"] = node.pop(key)
        elif edit == "repeat" and isinstance(node, list):
            node.append(copy.deepcopy(node[key]))
        else:
            node[key] = copy.deepcopy(rng.choice(VALUES))
        if not list(places(document)):
            break
    return document


@pytest.mark.parametrize("seed", range(10))
def test_an_edited_experiment_is_read_or_refused_in_lines(tmp_path, seed):
    rng, original = random.Random(seed), yaml.safe_load(EXPERIMENTS)
    (tmp_path / "experiments").mkdir()
    for _ in range(25):
        document = edited(original, rng)
        (tmp_path / "experiments" / "a.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
        try:
            config.load_experiments(tmp_path, {"eeg", "skin"})
        except UserError as error:
            lines = str(error).splitlines()
            assert all(re.match(r"\S*a\.yaml: ", line) for line in lines), (document, lines)
