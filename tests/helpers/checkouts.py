"""Copies of this repository in which tests run the workflow."""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "config"

#: All that the workflow reads. Results, environments and measured rows are not copied.
PARTS = ("Snakefile", "rules", "config", "src", "envs", "data/reference")


def copy_of_repository(folder: Path, *others: str) -> Path:
    """Copy the parts of the repository that the workflow reads, and others, to ``folder``, and return it.
    Snakemake uses ``profiles/default`` wherever it is."""
    for part in (*PARTS, *others):
        source, target = ROOT / part, folder / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    return folder
