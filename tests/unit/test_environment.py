"""The descriptions of the environment and the package's own version agree, and the cluster profile with the rules."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_conda_and_pip_pin_the_same_versions():
    lock = [
        line for line in (ROOT / "envs/requirements.lock").read_text().splitlines() if line and not line.startswith("#")
    ]
    environment = yaml.safe_load((ROOT / "envs/study.yaml").read_text())
    pins = next(entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    assert sorted(pins) == sorted(lock)
    assert all("==" in pin for pin in lock)
    assert "torch==2.13.0" in lock


def test_the_slurm_profile_gives_a_node_to_every_rule_that_has_the_machine_to_itself():
    rules = "\n".join(path.read_text() for path in (ROOT / "rules").glob("*.smk"))
    alone = {
        re.match(r"\w+", text).group() for text in re.split(r"^rule ", rules, flags=re.M)[1:] if "exclusive=1" in text
    }
    profile = yaml.safe_load((ROOT / "profiles/slurm/profile.v9+.yaml").read_text())
    asked = {rule for rule, has in profile["set-resources"].items() if "--exclusive" in has["slurm_extra"]}
    assert asked == alone == set(profile["set-resources"]) != set()
