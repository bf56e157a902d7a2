"""The plan of ten times the data sets, or ten times the maps, of the paper preset: under 3 minutes and 2 GB.
``make test-cluster`` runs these tests.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import yaml
from checkouts import copy_of_repository

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(os.environ.get("RFSTUDY_CLUSTER") != "1", reason="make test-cluster runs it"),
]


def change_experiments(root: Path, edit):
    """Edit every experiment of the configuration."""
    for path in (root / "config" / "experiments").glob("*.yaml"):
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
        for entry in entries.values():
            edit(entry)
        path.write_text(yaml.safe_dump(entries, sort_keys=False), encoding="utf-8")


def ten_times_the_data(root: Path):
    """Give every data set nine copies, and run each experiment on them too."""
    path = root / "config" / "datasets.yaml"
    tasks = yaml.safe_load(path.read_text(encoding="utf-8"))
    copies = {f"{name}-copy{i}": {"extends": name, "published_as": None} for name in tasks for i in range(1, 10)}
    path.write_text(yaml.safe_dump(tasks | copies, sort_keys=False), encoding="utf-8")

    def edit(experiment):
        for place in (experiment, *filter(None, experiment.get("methods") or [])):  # an entry may exclude data sets
            own = place.get("datasets") or {}
            if not any("-copy" in name for name in own):  # mappings are shared by experiments
                own |= {f"{name}-copy{i}": value for name, value in own.items() for i in range(1, 10)}

    change_experiments(root, edit)


def ten_times_the_maps(root: Path):
    """Give every map nine copies, and run each accuracy grid with them too."""
    with open(root / "src/random_features/maps/registry.py", "a", encoding="utf-8") as file:
        file.write('\nREGISTRY |= {f"{name}_copy{i}": each for name, each in REGISTRY.items() for i in range(1, 10)}\n')

    def edit(experiment):
        own = experiment.get("methods", []) if experiment.get("kind") == "grid" else []
        if not any("_copy" in each["method"] for each in own):  # lists are shared by experiments
            own += [each | {"method": f"{each['method']}_copy{i}"} for each in own for i in range(1, 10)]

    change_experiments(root, edit)


@pytest.mark.parametrize("make", [ten_times_the_data, ten_times_the_maps])
def test_a_plan_of_ten_times_the_study(tmp_path, capsys, make):
    root = copy_of_repository(tmp_path / "study", "profiles")
    make(root)
    start = time.monotonic()
    command = [sys.executable, "-m", "rfstudy", "plan", "--configfile", "config/presets/paper.yaml"]
    with open(tmp_path / "said.txt", "w", encoding="utf-8") as said:
        environment = os.environ | {"PYTHONPATH": str(root / "src")}
        process = subprocess.Popen(command, cwd=root, env=environment, stdout=said, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = status
    assert status == 0, (tmp_path / "said.txt").read_text(encoding="utf-8")[-3000:]
    seconds, gb = time.monotonic() - start, used.ru_maxrss / 2**20
    jobs = len(pd.read_csv(root / "results" / "paper" / "plan.csv"))
    with capsys.disabled():
        print(
            f"\n{make.__name__}: {jobs} jobs, planned in {seconds:.0f} s (processor {used.ru_utime:.0f} s), {gb:.1f} GB"
        )
    assert used.ru_utime + used.ru_stime < 180
    assert gb < 2
