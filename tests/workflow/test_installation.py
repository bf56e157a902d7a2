"""The library alone: installed with what it declares and nothing else, as ``pip install .`` leaves it."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, distribution

import pytest
import yaml
from checkouts import ROOT
from packaging.requirements import Requirement

from random_features import __version__


def closure(requirements) -> dict[str, Distribution]:
    """The installed distributions that these requirements ask for, with all that those ask for."""
    found, open_ones = {}, list(requirements)
    while open_ones:
        requirement = Requirement(open_ones.pop())
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if name not in found:
            found[name] = distribution(name)
            open_ones += found[name].requires or []
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder that holds the installed package and the distributions that it declares."""
    folder, source = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("source") / "project"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--target", str(folder), str(source)], check=True, cwd=source)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    for found in closure(declared).values():
        for top in {path.parts[0] for path in found.files if path.parts[0] not in ("..", "__pycache__")}:
            if not (folder / top).exists():
                (folder / top).symlink_to(found.locate_file(top))
    return folder


def run(site, *arguments):
    """Python on the folder alone, outside of the repository; site-packages of this environment are not seen."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    environment |= {"PYTHONPATH": str(site)}
    return subprocess.run(
        [sys.executable, "-S", *arguments], capture_output=True, text=True, cwd=site.parent, env=environment
    )


def test_what_is_not_declared_is_not_there(site):
    assert "No module named 'pandas'" in run(site, "-c", "import pandas").stderr


def test_the_command_line_answers(site):
    done = run(site, "-m", "rfstudy", "--help")
    assert done.returncode == 0, done.stderr
    assert "maps" in done.stdout
    listed = run(site, "-m", "rfstudy", "maps")
    assert listed.stdout.splitlines()[1].startswith("rff"), listed.stderr
    one = run(site, "-m", "rfstudy", "maps", "eerf")
    assert one.stdout.splitlines()[0].split() == ["name", "kprff"], one.stderr
    wrong = run(site, "-m", "rfstudy", "maps", "fastfod")
    assert wrong.returncode == 1
    assert wrong.stderr.startswith("error: no feature map is called 'fastfod'; did you mean fastfood?")


def test_the_library_lists_its_maps_in_a_third_of_a_second(site):
    program = "import resource, runpy, sys; sys.argv = ['random-features', 'maps']\ntry:\n    runpy.run_module("
    program += "'random_features', run_name='__main__')\nfinally:\n    used = resource.getrusage(resource.RUSAGE_SELF)"
    done = run(site, "-c", program + "\n    print(used.ru_utime + used.ru_stime)")
    *listed, seconds = done.stdout.splitlines()
    assert listed[1].startswith("rff"), done.stderr
    assert float(seconds) < 0.3


def test_the_archives_of_a_release_are_the_same_bytes_each_time(tmp_path):
    for folder, umask, zone in (("one", 0o022, "UTC"), ("other", 0o077, "Asia/Tokyo")):
        command, environment = ["make", "archive", "REF=HEAD", f"OUT={tmp_path / folder}"], os.environ | {"TZ": zone}
        subprocess.run(command, check=True, cwd=ROOT, umask=umask, env=environment, stdout=subprocess.DEVNULL)
    one, other = ((tmp_path / folder / "SHA256SUMS").read_text() for folder in ("one", "other"))
    assert one == other
    assert len(one.splitlines()) == 2


def test_package_citation_and_changelog_have_the_same_version():
    citation, changelog = yaml.safe_load((ROOT / "CITATION.cff").read_text()), (ROOT / "CHANGELOG.md").read_text()
    assert citation["version"] == __version__
    assert f"## {__version__} ({citation['date-released']})\n" in changelog


def test_the_distribution_has_the_name_types_and_extras_of_the_library(site):
    (metadata,) = site.glob("random_features-*.dist-info/METADATA")
    text = metadata.read_text()
    assert {"study", "compare", "arena", "dev", "docs"} <= set(re.findall(r"Provides-Extra: (\S+)", text))
    assert "Classifier: Typing :: Typed" in text
    assert (site / "random_features" / "py.typed").exists()


MAPS = """
import warnings
import numpy as np
from random_features.maps import list_maps, make_map
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X, y = rng.normal(size=(40, 3)), np.tile([-1, 1], 20)
X /= np.linalg.norm(X, axis=1, keepdims=True)
for entry in list_maps():
    Z = make_map(entry["name"], n_components=6, random_state=0).fit(X, y).transform(X)
    assert np.isfinite(Z).all(), entry["name"]
print(len(list_maps()))
"""

LEARNERS = """
import importlib, pkgutil
import numpy as np
import random_features.learners
for module in pkgutil.iter_modules(random_features.learners.__path__):
    importlib.import_module(f"random_features.learners.{module.name}")
from random_features.learners.ridge import fit_ridge
from random_features.learners.svm import fit_svm
from random_features.maps import make_map

X = np.random.default_rng(0).normal(size=(200, 3))
Y = np.where(X[:, :1] > 0, 1.0, -1.0)
phi = make_map("rff", n_components=50, random_state=0).fit(X)
blocks, size = lambda: phi.transform_blocks(X), {"n_columns": phi.n_columns_}
ridge = fit_ridge(blocks, Y, 1e-3, scaling="mean", center="targets", **size)
for model in (ridge, fit_svm(blocks, Y, 1.0, **size)):
    print(bool(np.mean(np.sign(model.decision(phi.transform(X))) == Y) > 0.9))
"""

#: What the library and one map import beyond PyTorch and scikit-learn's base of estimators.
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


def printed(site, program) -> list[str]:
    """The lines that a program prints."""
    done = run(site, "-c", program)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_every_map_and_learner_can_be_made_and_used(site):
    assert int(*printed(site, MAPS)) >= 25
    assert printed(site, LEARNERS) == ["True", "True"]


def test_the_library_imports_little_beyond_torch_and_the_base_of_estimators(site):
    """These two take nine tenths of the time; learners, optimisers and the study are imported where they are used."""
    packages, of_sklearn = (set(line.split()) for line in printed(site, BEYOND))
    assert packages <= {"random_features", "sklearn"}
    assert not of_sklearn & {f"sklearn.{name}" for name in ("linear_model", "svm", "model_selection", "pipeline")}
