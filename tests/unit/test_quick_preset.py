"""The preset quick runs every kind, map and learner, and draws every output that embedded data allow."""

import pytest
from checkouts import ROOT

from random_features.learners.registry import LEARNERS
from random_features.maps.registry import REGISTRY
from rfstudy import outputs
from rfstudy.files import read_yaml
from rfstudy.planning import config
from rfstudy.study.kinds.registry import KINDS

CONFIG = ROOT / "config"

#: Experiments on original data alone, and the outputs that show them.
ORIGINAL = {"slsrff-code-large"}


@pytest.fixture(scope="module")
def quick():
    return config.load_study(read_yaml(CONFIG / "config.yaml") | {"preset": "quick"}, CONFIG, ["config/config.yaml"])


def test_every_map_kind_and_learner_runs(quick):
    chosen = quick.chosen.values()
    assert {entry["method"] for each in chosen for entry in each["methods"]} == set(REGISTRY)
    assert {each["kind"] for each in chosen} == set(KINDS)
    assert {name for each in chosen for name in each.get("learners") or {}} >= set(LEARNERS)


def test_every_output_is_drawn(quick):
    specs = outputs.load_reports(CONFIG, quick.experiments, quick.methods, quick.registry.tasks)
    drawn = outputs.drawable(specs, quick.chosen)
    assert all(set(spec["experiments"]) & ORIGINAL for spec in specs if spec not in drawn)
