"""What a user sees of a job that fails: its reason in one line and where its log is, at once and at the end."""

import itertools
import re

import yaml

STUDY = ("results/quick/theory-decay.csv", "--config", "only_experiments=theory-decay", "only_methods=rff", "repeats=1")


def failures(lines) -> list[tuple[str, str]]:
    """The pairs of lines that tell of failed jobs."""
    return [(line, after) for line, after in itertools.pairwise(lines) if line.startswith("FAILED ")]


def test_a_file_with_another_checksum(workspace):
    path = workspace.folder / "config/sources.yaml"
    sources = yaml.safe_load(path.read_text())
    # a port of this machine that nothing listens on: no test asks the real addresses
    (file,) = sources["eeg"]["files"].values()
    file["addresses"] = [{"url": "http://127.0.0.1:9/eeg.arff"}]
    path.write_text(yaml.safe_dump(sources))
    damaged = workspace.folder / "mirror/eeg/EEG Eye State.arff"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("@relation damaged\n")
    lines = workspace.with_console(
        "--cores", "1", "data/prepared/original/eeg/facts.json", "--config", "preset=laptop", "mirror=mirror",
        "allow_missing=false", check=False,
    )  # fmt: skip
    (reason, log), *again = failures(lines)
    assert reason.startswith("FAILED download eeg: error: the data set 'eeg' needs the file 'EEG Eye State.arff'")
    assert f"mirror/eeg/{damaged.name}: " in reason
    assert re.search("sha-?256", reason, re.IGNORECASE)
    assert len(reason) < 450
    assert log == "       log: logs/download/eeg.log"
    assert (workspace.folder / log.split()[-1]).exists()
    # said again at the end, when other jobs may have scrolled it away
    assert again == [(reason, log)]
    assert "0 of 2 jobs done, 1 failed:" in lines
    assert len(lines) <= 12


def test_a_command_that_is_killed(workspace):
    path = workspace.folder / "src/rfstudy/study/kinds/decay.py"
    killed = "import os, signal\n    os.kill(os.getpid(), signal.SIGKILL)"
    path.write_text(path.read_text() + f"\n\ndef measure(*arguments, **options):\n    {killed}\n")
    lines = workspace.with_console("--cores", "1", *STUDY, check=False)
    assert failures(lines)[0][0].startswith("FAILED measure survey: killed by SIGKILL")
