"""Which module may import which: the library imports nothing of the study, a layer only lower ones, and what the
workflow reads while it parses stays light."""

import pickle
import subprocess
import sys

import pytest

import random_features.maps.montecarlo
from random_features.kernels import Gaussian
from random_features.maps import make_map
from rfstudy.study.code import PACKAGES, SOURCE, imported_modules

#: Layer of each part of a package. A file may import its own part and lower layers; the study may import the library.
LAYERS = {
    "random_features": {
        "errors": 0, "arrays": 1, "modules": 1, "length_scales": 2.5, "tensors": 2, "hadamard": 3, "kernels": 3,
        "pivoted_cholesky": 3, "maps": 4, "learners": 4, "machines": 5, "alarm": 0, "__init__": 6,
        "compare": 7, "__main__": 8,
    },
    "rfstudy": {
        "__init__": 0, "fields": 0, "files": 1, "metrics": 1, "models": 1, "scores": 1, "tidy": 2,
        "data": 4, "study": 5, "planning": 5.5, "add": 6, "output_models": 6, "outputs": 7, "index": 8, "render": 9,
        "paper_pages": 8, "readme": 8, "schemas": 8, "notebook": 10, "trace": 11, "cli": 12, "__main__": 13,
    },
}  # fmt: skip


def part_of(module) -> tuple[str, str]:
    """The package of a module and its part there."""
    package, part, *_ = [*module.split("."), "__init__"]
    return package, part


FILES = sorted(path.relative_to(SOURCE) for package in PACKAGES for path in (SOURCE / package).rglob("*.py"))
MODULES = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in FILES]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_its_own_part_and_lower_layers(module):
    package, part = part_of(module)
    for imported in imported_modules(module) - {package}:
        imported_package, target = part_of(imported)
        if imported_package != package:
            assert package == "rfstudy", f"{module} imports {imported}"
            assert part != "report" or target in ("__init__", "errors", "maps"), f"{module} imports {imported}"
        elif part == "report":
            assert target in ("__init__", "tidy", "files", "metrics", "report"), f"{module} imports {imported}"
        elif target == "report":
            users = ("cli", "paper_pages", "render", "outputs", "output_models", "notebook", "trace")
            assert part in users, f"{module} imports {imported}"
        elif target != part:
            assert LAYERS[package][target] < LAYERS[package][part], f"{module} imports {imported}"


#: What the command line imports before it knows its stage, then what the workflow imports when it parses. Snakemake
#: itself loads NumPy and pandas.
LIGHT = """
import importlib, sys

HEAVY = {"torch", "sklearn", "scipy", "matplotlib", "statsmodels"}
for modules, heavy in (
    ((
        "random_features", "random_features.__main__", "random_features.maps.registry",
        "random_features.learners.entry", "random_features.kernels",
        "rfstudy.study.code", "rfstudy.study.kinds.registry", "rfstudy.data.modules", "rfstudy.report.catalogue",
        "rfstudy.files", "rfstudy.metrics", "rfstudy.cli",
    ), HEAVY | {"numpy", "pandas"}),
    (("rfstudy.planning.config", "rfstudy.planning.plan", "rfstudy.data.registry", "rfstudy.outputs"), HEAVY),
):
    for module in modules:
        importlib.import_module(module)
        if heavy & set(sys.modules):
            print(module, "imports", *(heavy & set(sys.modules)))
            sys.exit()
"""


def test_what_the_workflow_imports_when_it_parses_is_light():
    assert run(LIGHT) == ""


def run(program: str) -> str:
    """Return the output of a program in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(SOURCE)}
    )
    return done.stdout.strip()


OLD_NAMES = """
import warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import rfstudy.maps.montecarlo
assert "import random_features.maps.montecarlo: the name rfstudy.maps.montecarlo goes" in str(caught[-1].message)
assert {each.category for each in caught} == {FutureWarning}
from rfstudy import arrays, hadamard, kernels, learners, length_scales, maps
from rfstudy.errors import UserError
from rfstudy.learners.ridge import LEARNER
import random_features as new, random_features.arrays, random_features.errors, random_features.hadamard
import random_features.kernels, random_features.learners.ridge, random_features.length_scales

assert rfstudy.maps.montecarlo.RandomFourier is new.maps.RandomFourier
for name in ("arrays", "hadamard", "kernels", "learners", "length_scales", "maps"):
    assert globals()[name] is getattr(new, name), name
    assert getattr(new, name).__spec__.name == f"random_features.{name}"
assert UserError is new.errors.UserError
assert LEARNER is new.learners.ridge.LEARNER
try:
    import rfstudy.kernel
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.mark.slow  # in a process of its own, which loads PyTorch
def test_the_old_names_of_the_library_are_the_same_modules():
    assert run(OLD_NAMES) == "No module named 'rfstudy.kernel'"


def test_a_pickle_made_under_the_old_names_loads():
    now = pickle.dumps(make_map("rff", Gaussian(2.0), n_components=4), protocol=0)
    old = now.replace(b"random_features.", b"rfstudy.")
    assert old.count(b"rfstudy.") >= 2
    loaded = pickle.loads(old)
    assert type(loaded) is random_features.maps.montecarlo.RandomFourier
    assert loaded.kernel == Gaussian(2.0)
    assert pickle.loads(old.replace(b"kernels.gaussian", b"kernels")).kernel == Gaussian(2.0)  # once one file
