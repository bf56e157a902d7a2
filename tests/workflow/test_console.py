"""The messages about jobs that fail: the reason of each in one line and where its log is, at once and at the end."""

import itertools
import re

SETTINGS = (
    "--config", "preset=laptop", "mirror=mirror", "only_experiments=survey-gaussian-text,theory-decay",
    "only_methods=rff", "repeats=1",
)  # fmt: skip
TARGETS = ("data/prepared/original/eeg/facts.json", "results/laptop/theory-decay.csv")


def test_every_job_that_fails_is_named_with_its_reason(workspace):
    # a file with another checksum
    workspace.go_offline()
    damaged = workspace.folder / "mirror/eeg/EEG Eye State.arff"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("@relation damaged\n")
    # a command that is killed
    killed = "import os, signal\n    os.kill(os.getpid(), signal.SIGKILL)"
    workspace.insert("src/rfstudy/study/kinds/decay.py", f"def measure(*arguments, **options):\n    {killed}\n")
    lines = workspace.with_console("--cores", "1", "--keep-going", *TARGETS, *SETTINGS, check=False)

    reported = [pair for pair in itertools.pairwise(lines) if pair[0].startswith("FAILED ")]
    # said again at the end, when other jobs may have scrolled it away
    assert len(reported) == 4
    assert reported[:2] == reported[2:]
    (reason, log), (of_killed, _) = sorted(reported[:2])
    assert reason.startswith("FAILED download eeg: error: the data set 'eeg' needs the file 'EEG Eye State.arff'")
    assert f"mirror/eeg/{damaged.name}: " in reason
    assert re.search("sha-?256", reason, re.IGNORECASE)
    assert len(reason) < 450
    assert log == "       log: logs/download/eeg.log"
    assert (workspace.folder / log.split()[-1]).exists()
    assert of_killed.startswith("FAILED measure theory-decay/rff: killed by SIGKILL")
    assert "0 of 4 jobs done, 2 failed:" in lines
    assert len(lines) <= 16
