"""The two descriptions of the environment and the package's own version agree."""

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
