"""The commands of README.md are commands: each is planned in a copy of the repository."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"`(snakemake [^`]+)`", README)))

#: What a command is planned with: without reports, which tell of a run that has finished, a cluster, and its console.
LEFT_OUT = re.compile(r" --(?:report\S*(?: figures/\S+)?|workflow-profile \S+|logger rfstudy|dry-run)")


@pytest.fixture(scope="module")
def repository(new_workspace):
    space = new_workspace("readme")
    (space.folder / "data/measured").symlink_to(ROOT / "data/measured")
    (space.folder / "README.md").write_text(README, encoding="utf-8")
    (space.folder / "docs").mkdir(exist_ok=True)
    (space.folder / "docs/README.md.j2").write_bytes((ROOT / "docs/README.md.j2").read_bytes())
    return space


def test_the_page_has_its_commands():
    assert len(COMMANDS) > 8
    assert {"snakemake --cores 2 survey", "snakemake --unlock", "snakemake --cores 1 render"} <= set(COMMANDS)


@pytest.mark.parametrize("command", sorted({LEFT_OUT.sub("", each) for each in COMMANDS} - {"snakemake --unlock"}))
def test_a_command_can_be_planned(repository, command):
    _, *arguments = shlex.split(command)
    cores = [] if "--cores" in arguments else ["--cores", "2"]
    # targets come before options that take several words
    done = repository.snakemake(*cores, *arguments, "--dry-run")
    assert "This was a dry-run" in done.stdout + done.stderr
    assert "Nothing to be done" not in done.stdout + done.stderr


def test_without_a_preset_the_survey_is_that_of_the_stand_ins(repository):
    done = repository.snakemake("--cores", "2", "survey", "--dry-run")
    assert "results/quick/survey-gaussian-text.csv" in done.stdout
    assert not re.search(r"^download ", done.stdout, re.MULTILINE)
