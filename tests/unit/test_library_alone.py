"""The library alone: maps, kernels and learners work where nothing of the study's dependencies is installed."""

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

#: Refuses the imports named in its arguments, then runs the program that follows.
BLOCKED = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"{{name}} is not installed here", name=name)

sys.meta_path.insert(0, Missing())
"""

EVERY_MAP = """
import warnings
import numpy as np
from random_features.kernels import Polynomial
from random_features.maps import list_maps, make_map

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X, y = rng.normal(size=(30, 3)), np.where(rng.random(30) < 0.5, -1, 1)
for entry in list_maps():
    kernel = None if "gaussian" in entry["kernels"] else Polynomial(2)
    options = {"n_pairs": 100} if entry["name"] == "clrff" else {}
    phi = make_map(entry["name"], kernel, n_components=8, random_state=0, **options)
    print(entry["name"], phi.fit(X, y).transform(X).shape[0])
"""

EVERY_LEARNER = """
import importlib, pkgutil
import random_features.learners
for module in pkgutil.iter_modules(random_features.learners.__path__):
    importlib.import_module(f"random_features.learners.{module.name}")

import numpy as np
from random_features.learners.ridge import fit_ridge
from random_features.learners.svm import fit_svm
from random_features.maps import make_map

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
Y = np.where(X[:, :1] > 0, 1.0, -1.0)
phi = make_map("rff", n_components=50, random_state=0).fit(X)
blocks = lambda: phi.transform_blocks(X)
size = {"n_columns": phi.n_columns_}
for model in (
    fit_ridge(blocks, Y, 1e-3, scaling="mean", center="targets", **size),
    fit_svm(blocks, Y, 1.0, **size),
):
    print(bool(np.mean(np.sign(model.decision(phi.transform(X))) == Y) > 0.9))
"""


def modules_of(requirements) -> set[str]:
    """Names that the distributions of requirements are imported by."""
    wanted = {requirement.partition("[")[0].partition(">")[0].lower() for requirement in requirements}
    return {
        module
        for module, distributions in metadata.packages_distributions().items()
        if wanted & {name.lower() for name in distributions}
    }


STUDY_ONLY = modules_of(PROJECT["optional-dependencies"]["study"]) - modules_of(PROJECT["dependencies"]) | {"rfstudy"}


def run_without_the_study(program: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED.format(names=sorted(STUDY_ONLY)) + program],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_what_is_blocked_is_what_the_study_adds():
    assert {"pandas", "matplotlib", "yaml", "snakemake", "requests", "tqdm", "pydantic"} <= STUDY_ONLY
    with pytest.raises(AssertionError, match="rfstudy is not installed here"):
        run_without_the_study("import rfstudy.tidy")


def test_every_map_works_without_the_study():
    words = run_without_the_study(EVERY_MAP)
    assert len(words) >= 2 * 25
    assert set(words[1::2]) == {"30"}


def test_the_learners_work_without_the_study():
    assert run_without_the_study(EVERY_LEARNER) == ["True", "True"]


#: Prints what the library and one map import beyond PyTorch and scikit-learn's base of estimators, by package.
BEYOND = """
import sys
import torch, sklearn.base, sklearn.utils.validation
before = set(sys.modules)
import random_features.kernels
from random_features.maps import make_map
make_map("rff", n_components=4)
print(*{name.partition(".")[0] for name in set(sys.modules) - before})
print(*{".".join(name.split(".")[:2]) for name in set(sys.modules) - before if name.startswith("sklearn.")})
"""


def test_the_library_imports_little_beyond_torch_and_the_base_of_estimators():
    """These two take nine tenths of the time; learners, optimisers and the study are imported where they are used."""
    done = subprocess.run(
        [sys.executable, "-c", BEYOND],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT / "src")},
    )
    packages, of_sklearn = (set(line.split()) for line in done.stdout.splitlines())
    assert packages <= {"random_features", "sklearn"}
    assert not of_sklearn & {f"sklearn.{name}" for name in ("linear_model", "svm", "model_selection", "pipeline")}
