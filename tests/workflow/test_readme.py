"""The commands of README.md are commands: each is planned in a copy of the repository."""

import re
import shlex

import pytest
from checkouts import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"`(snakemake [^`]+)`", README)))

#: What a command is planned without: reports, which tell of a run that has finished, a cluster, and its console.
LEFT_OUT = re.compile(r" --(?:report\S*(?: figures/\S+)?|workflow-profile \S+|logger rfstudy|dry-run)")


def plans() -> dict[tuple[str, ...], list[str]]:
    """The targets of all commands by their settings: what is planned under the same settings is planned at once."""
    found = {}
    for command in COMMANDS:
        words = shlex.split(LEFT_OUT.sub("", command))[1:]
        if "--cores" in words:
            del words[words.index("--cores") : words.index("--cores") + 2]
        settings = next((i for i, word in enumerate(words) if word.startswith("--config")), len(words))
        if "--unlock" not in words:
            found.setdefault(tuple(words[settings:]), []).extend(words[:settings] or ["all"])
    return found


#: Presets as a whole, which test_workflow plans.
PRESETS = [("--configfile", f"config/presets/{preset}.yaml") for preset in ("laptop", "paper")]


def test_the_page_has_its_commands():
    assert 5 < len(COMMANDS) <= 10  # as many as a reader takes in
    assert {"snakemake --cores 2 survey_table_07", "snakemake --cores 1 render"} <= set(COMMANDS)
    assert all(plans()[preset] == ["all"] * len(plans()[preset]) for preset in PRESETS)


@pytest.mark.parametrize("settings", [each for each in plans() if each not in PRESETS])
def test_commands_can_be_planned(repository, settings):
    # targets come before options that take several words
    done = repository.snakemake("--cores", "2", *plans()[settings], *settings, "--dry-run")
    assert "This was a dry-run" in done.stdout + done.stderr
    if not settings:  # without a preset the survey is that of the stand-ins
        assert "results/quick/survey-gaussian-text.csv" in done.stdout
        assert not re.search(r"^download ", done.stdout, re.MULTILINE)
