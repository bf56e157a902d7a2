"""The descriptions of the environment and the package's own version agree, and the cluster profile with the rules."""

import yaml
from checkouts import ROOT


def test_conda_and_pip_pin_the_same_versions():
    lock = [
        line for line in (ROOT / "envs/requirements.lock").read_text().splitlines() if line and not line.startswith("#")
    ]
    environment = yaml.safe_load((ROOT / "envs/study.yaml").read_text())
    pins = next(entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    assert sorted(pins) == sorted(lock)
    assert all("==" in pin for pin in lock)
    assert "torch==2.13.0" in lock


def test_the_slurm_profile_gives_what_is_timed_a_node_of_its_own():
    profile = yaml.safe_load((ROOT / "profiles/slurm/profile.v9+.yaml").read_text())
    assert profile["set-resources"] == {"time": {"slurm_extra": "'--exclusive'"}}
