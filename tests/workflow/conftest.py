"""A copy of the repository to run the real workflow in, on a small part of the embedded study."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rfstudy.data.scale import fit_steps
from rfstudy.data.split import split

ROOT = Path(__file__).resolve().parents[2]

#: The study's seed, see config/config.yaml.
SEED = 2021

#: A small part of the quick preset that still has a data-dependent and a structured map.
SMALL = (
    "only_experiments=survey-gaussian-text",
    "only_datasets=skin,eeg",
    "only_methods=rff,qmc,sorf,lsrff",
    "repeats=2",
    "learners={svm: {repeats: 1}}",
)


def pytest_collection_modifyitems(items):
    """Mark all tests of this folder as slow: each starts Snakemake."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.slow)


class Page:
    """A page of ``docs`` whose code blocks a test applies word by word."""

    def __init__(self, name: str):
        self.text = (ROOT / "docs" / name).read_text(encoding="utf-8")

    def blocks(self, language: str, section: str = "") -> list[str]:
        """The code blocks of a language in the order of the page, or of the section under one heading."""
        text = self.text
        if section:
            # headings below that of the page: a line of code may start with a single #
            parts = dict(part.split("\n", 1) for part in re.split(r"^##+ ", text, flags=re.MULTILINE)[1:])
            text = parts[section]
        return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class Workspace:
    """A checkout in a folder of its own and the commands that a user types there."""

    small = SMALL

    def __init__(self, folder: Path):
        self.folder = folder
        for name in ("Snakefile", "rules", "config", "src", "envs"):
            source = ROOT / name
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, folder / name)
        (folder / "data").mkdir()
        shutil.copytree(ROOT / "data" / "reference", folder / "data" / "reference")
        self.environment = {
            key: value
            for key, value in os.environ.items()
            if key not in ("PYTHONPATH", "RFSTUDY_MIRROR", "SNAKEMAKE_PROFILE")
        }

    def add(self, block: str) -> Path:
        """Write a new file of a page where its first line says."""
        path = self.folder / block.splitlines()[0].removeprefix("# ")
        assert not path.exists()
        path.write_text(block, encoding="utf-8")
        return path

    def insert(self, name: str, text: str, *, before: str) -> Path:
        """Put text into a file in front of the one place where ``before`` stands; "" is the end of the file."""
        path = self.folder / name
        content = path.read_text(encoding="utf-8")
        if before:
            assert content.count(before) == 1
            content = content.replace(before, text + before)
        else:
            content += "\n\n" + text
        path.write_text(content, encoding="utf-8")
        return path

    def sources(self) -> dict[Path, str]:
        """The package and the configuration: every file with its content."""
        files = [path for part in ("src", "config", "rules") for path in (self.folder / part).rglob("*")]
        return {path: path.read_text("utf-8") for path in files if path.suffix in (".py", ".yaml", ".smk")}

    def touched(self, before: dict[Path, str]) -> list[str]:
        """The files of the package, the rules and the configuration that are new or other than ``before``."""
        changed = [path for path, content in self.sources().items() if before.get(path) != content]
        return sorted(str(path.relative_to(self.folder)) for path in changed)

    def split_rows(self, task: str, repeat: int, steps=("minmax",)):
        """Rows and labels of the training and of the test part of an embedded task, preprocessed."""
        folder = self.folder / "data/prepared/embedded" / task
        X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
        facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
        counts = (facts["n_train"], facts["n_test"]) if facts["split"] == "random" else None
        train, test = split(len(y), facts["n_train_published"], repeat, SEED, facts["split"], counts)
        scale = fit_steps(steps, X[train])
        return scale(X[train]), y[train], scale(X[test]), y[test]

    def snakemake(self, *arguments, check=True):
        """Run Snakemake here; with ``check`` a failure shows its output."""
        return self.run(sys.executable, "-m", "snakemake", *arguments, check=check)

    def with_console(self, *arguments, check=True):
        """Run Snakemake with the study's console, of this copy of the package; the lines that it prints."""
        self.environment["PYTHONPATH"] = str(self.folder / "src")
        done = self.snakemake(*arguments, "--logger", "rfstudy", check=check)
        return (done.stdout + done.stderr).splitlines()

    def last_log(self) -> str:
        """What Snakemake wrote into its own log in its last run."""
        return max((self.folder / ".snakemake/log").glob("*.log")).read_text(encoding="utf-8")

    def rfstudy(self, *arguments, check=True):
        """Run a stage by hand."""
        self.environment["PYTHONPATH"] = str(self.folder / "src")
        return self.run(sys.executable, "-m", "rfstudy", *arguments, check=check)

    def run(self, *command, check):
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=600
        )
        if check and done.returncode != 0:
            logs = "\n".join(p.read_text() for p in sorted(self.folder.glob("logs/**/*.log")) if p.stat().st_size)
            raise AssertionError(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}\n{logs[-4000:]}")
        return done


def plain(rows):
    """Rows of a table as tuples of plain numbers."""
    return rows.astype(object).map(lambda value: value.item() if isinstance(value, np.generic) else value).itertuples()


@pytest.fixture(name="plain")
def plain_rows():
    """``plain(table)`` goes through the rows of a table as tuples of plain numbers."""
    return plain


@pytest.fixture(scope="session")
def page():
    """``page(name)`` is a page of ``docs``."""
    return Page


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


@pytest.fixture(scope="session")
def new_workspace(tmp_path_factory):
    """``new_workspace(name)`` is a workspace that the tests of a module share."""
    return lambda name: Workspace(tmp_path_factory.mktemp(name))


@pytest.fixture(scope="session")
def finished(new_workspace):
    """A workspace in which the small study has been run, one job per method; tests leave it as it is."""
    space = new_workspace("finished")
    (space.folder / "by-method.yaml").write_text("shard_by: [experiment, dataset, method]\n")
    space.arguments = ("--configfile", "by-method.yaml", "--config", *SMALL)
    space.console = space.with_console("--cores", "2", *space.arguments)
    space.log = space.last_log()
    return space
