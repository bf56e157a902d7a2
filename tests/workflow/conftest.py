"""A copy of the repository to run the real workflow in, on a small part of the embedded study."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from checkouts import ROOT, copy_of_repository

from rfstudy.data.scale import fit_steps
from rfstudy.data.split import split

#: The study's seed, see config/config.yaml.
SEED = 2021

#: A small part of the quick preset that still has a map that depends on the data.
SMALL = (
    "only_experiments=survey-gaussian-text", "only_methods=rff,lsrff", "repeats=2", "learners={svm: {repeats: 1}}",
)  # fmt: skip


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

    def __init__(self, folder: Path):
        self.folder = copy_of_repository(folder)
        others = {key: value for key, value in os.environ.items() if key not in ("RFSTUDY_MIRROR", "SNAKEMAKE_PROFILE")}
        self.environment = others | {"PYTHONPATH": str(folder / "src")}

    def add(self, block: str) -> str:
        """Write a new file of a page where its first line says, and return this name."""
        name = block.splitlines()[0].removeprefix("# ")
        assert not (self.folder / name).exists()
        (self.folder / name).write_text(block, encoding="utf-8")
        return name

    def insert(self, name: str, text: str, *, before: str = "") -> str:
        """Put text into a file in front of the first ``before``, by default at its end."""
        path = self.folder / name
        content = path.read_text(encoding="utf-8")
        assert before in content
        position = content.index(before) if before else len(content)
        path.write_text(content[:position] + ("" if before else "\n\n") + text + content[position:], encoding="utf-8")
        return name

    def replace(self, name: str, old: str, new: str) -> str:
        """Replace the only occurrence of a text in a file."""
        path = self.folder / name
        content = path.read_text(encoding="utf-8")
        assert content.count(old) == 1
        path.write_text(content.replace(old, new), encoding="utf-8")
        return name

    def go_offline(self):
        """Have the addresses of all sources be a port of this machine that nothing listens on."""
        sources = self.folder / "config/sources.yaml"
        sources.write_text(re.sub(r"https?://[^\s/]+", "http://127.0.0.1:9", sources.read_text()))

    def add_toy(self, mirror: Path, content: bytes):
        """Add a source "toy" of one file, which a mirror has; its address is one that nothing listens on."""
        (mirror / "toy").mkdir(parents=True)
        (mirror / "toy/toy.csv").write_bytes(content)
        file = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        toy = {"title": "Toy", "citation": "Toy", "licence": "none", "page": "https://example.org"}
        toy |= {"files": {"toy.csv": file | {"addresses": [{"url": "http://127.0.0.1:9/toy"}]}}}
        self.insert("config/sources.yaml", yaml.safe_dump({"toy": toy}))

    def sources(self) -> dict[Path, str]:
        """Return every file of the package, the rules and the configuration with its content."""
        files = [path for part in ("src", "config", "rules") for path in (self.folder / part).rglob("*")]
        return {path: path.read_text("utf-8") for path in files if path.suffix in (".py", ".yaml", ".smk")}

    def touched(self, before: dict[Path, str]) -> list[str]:
        """Return the files of the package, the rules and the configuration that are new or other than ``before``."""
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

    def snakemake(self, *arguments, check=True, **environment):
        """Run Snakemake here; with ``check`` a failure shows its output."""
        return self.run("-m", "snakemake", *arguments, check=check, **environment)

    def with_console(self, *arguments, check=True):
        """Run Snakemake with the study's console and return the lines that it prints."""
        done = self.snakemake(*arguments, "--logger", "rfstudy", check=check)
        return (done.stdout + done.stderr).splitlines()

    def run(self, *arguments, check=True, **environment):
        """Run Python here; with ``check`` a failure shows its output and the logs of jobs."""
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.folder, env=self.environment | environment, capture_output=True,
            text=True, timeout=600,
        )  # fmt: skip
        if check and done.returncode != 0:
            logs = "\n".join(p.read_text() for p in sorted(self.folder.glob("logs/**/*.log")) if p.stat().st_size)
            raise AssertionError(f"{' '.join(arguments)}\n{done.stdout}\n{done.stderr}\n{logs[-4000:]}")
        return done


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
def repository(new_workspace):
    """A workspace with the shipped measurements and pages; tests plan there and leave its files as they are."""
    space = new_workspace("repository")
    (space.folder / "data/measured").symlink_to(ROOT / "data/measured")
    (space.folder / "docs").mkdir()
    for file in (*(ROOT / "docs").glob("*.md.j2"), ROOT / "docs/benchmark_gpu.py"):
        shutil.copy(file, space.folder / "docs")
    return space


@pytest.fixture(scope="session")
def finished(new_workspace):
    """A workspace in which the small study has been run, one job per data set; tests leave it as it is."""
    space = new_workspace("finished")
    space.small = SMALL
    space.arguments = ("--config", *SMALL, "only_datasets=magic04,eeg", "shard_by=[experiment, dataset]")
    space.console = space.with_console("--cores", "2", *space.arguments)
    space.log = max((space.folder / ".snakemake/log").glob("*.log")).read_text(encoding="utf-8")
    return space
