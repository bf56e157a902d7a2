"""Who may import whom: a floor imports only floors below it, and light modules stay light."""

import subprocess
import sys

import pytest

from rfstudy.study.code import PACKAGE, imported_files

#: Floor of each part of the package; a file may import its own part and lower floors.
FLOORS = {
    "__init__": 0, "errors": 0, "files": 1, "metrics": 1, "arrays": 1, "tidy": 2,
    "length_scales": 2, "kernels": 3, "hadamard": 3,
    "maps": 4, "learners": 4, "data": 4,
    "study": 5,
    "outputs": 6, "drawings": 6, "front": 7, "cli": 8, "__main__": 9,
}  # fmt: skip

#: Parts of one floor that are apart on purpose: a map knows no data set, a learner knows no map.
REPORT_MAY_IMPORT = {"__init__", "errors", "tidy", "files", "metrics", "report"}


def part_of(path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_imports_only_its_own_part_and_lower_floors(path):
    part = part_of(path)
    for imported in imported_files(path):
        target = part_of(imported)
        if part == "report":
            assert target in REPORT_MAY_IMPORT, f"{path} imports {imported}"
        elif target == "report":
            assert part in ("cli", "front", "outputs", "drawings"), f"{path} imports {imported}"
        elif target != part:
            assert FLOORS[target] < FLOORS[part], f"{path} imports {imported}"


@pytest.mark.parametrize(
    "module",
    [
        "study.config",
        "study.plan",
        "study.code",
        "data.registry",
        "maps.registry",
        "learners.entry",
        "data.modules",
        "report.catalogue",
        "drawings",
        "files",
        "cli",
    ],
)
def test_what_the_workflow_imports_when_it_parses_is_light(module):
    heavy = "{'numpy', 'pandas', 'torch', 'sklearn', 'scipy', 'matplotlib'}"
    program = f"import sys, rfstudy.{module}; print(*({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(PACKAGE.parent)},
    )
    assert done.stdout.strip() == ""
