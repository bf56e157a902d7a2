"""The console of a run: its lines from records as Snakemake makes them, and the reasons of failures."""

import io
import logging
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_rfstudy import PLAN, LogHandler
from snakemake_logger_plugin_rfstudy.reason import reason_of

SETTINGS = {
    "printshellcmds": False, "nocolor": True, "quiet": set(), "debug_dag": False, "verbose": False,
    "show_failed_logs": False, "stdout": True, "dryrun": False,
}  # fmt: skip


class Console:
    """The study's console, and what it prints of records at stated times."""

    def __init__(self, monkeypatch, **settings):
        self.stream = io.StringIO()
        monkeypatch.setattr("sys.stdout", self.stream)
        self.handler = LogHandler(SimpleNamespace(**SETTINGS | settings), None)

    def __call__(self, at, msg=None, event=None, level=logging.INFO, **extra):
        record = logging.LogRecord("snakemake", level, "", 0, msg, None, None)
        record.__dict__ |= {"created": 1e9 + at} | extra | ({"event": event} if event else {})
        before = len(self.stream.getvalue())
        self.handler.emit(record)
        return self.stream.getvalue()[before:].splitlines()

    def start(self, at, number, message):
        return self(at, "Rule", LogEvent.JOB_INFO, jobid=number, rule_msg=message, rule_name="train", wildcards={})

    def end(self, at, number, done, total):
        lines = self(at, "Finished", LogEvent.JOB_FINISHED, job_id=number)
        return lines + self(at, None, LogEvent.PROGRESS, done=done, total=total)

    def command_fails(self, at, command, status):
        text = f"RuleException:\nCommand 'set -e;  {command}' returned non-zero exit status {status}."
        return self(at, text, LogEvent.ERROR, logging.ERROR, exception="RuleException")

    def job_fails(self, at, number, logs, command):
        fields = {"jobid": number, "log": logs, "shellcmd": command, "rule_name": "train"}
        return self(at, "Error", LogEvent.JOB_ERROR, logging.ERROR, **fields)

    def fail(self, at, number, logs, command="python -m rfstudy train"):
        return self.command_fails(at, command, 137) + self.job_fails(at, number, logs, command)


@pytest.fixture
def console(monkeypatch):
    return Console(monkeypatch)


def test_a_run_says_what_is_done_how_far_it_is_and_how_long_it_takes(console):
    plan = [(number, "train" if number < 7 else "tables", 0.5, None) for number in range(8)]
    assert console(0, "", **{PLAN: plan}) == ["8 jobs: 7 train, 1 tables"]
    # a job every 10 s on each of two cores: nothing is said of the rest before enough of it is known
    for number in range(6):
        lines = console.start(10 * (number // 2), number, f"train x/{number}: 3 cells")
        left = ", under a minute left" if number == 5 else ""
        assert lines == [f"[{number} of 8, 0:{10 * (number // 2):02}{left}] train x/{number}: 3 cells"]
        ended = console.end(10 * (number // 2) + 10, number, number + 1, 8)
    assert ended == ["[6 of 8, 0:30, under a minute left] done in 0:10: train x/5"]
    console.start(30, 6, "train x/6: 3 cells")
    console.end(35, 6, 7, 8)  # short: no line
    console.start(35, 7, "tables x: table-01")
    assert console.end(40, 7, 8, 8) == ["[8 of 8, 0:40] done"]


def test_general_messages_are_left_to_the_log_and_warnings_are_not(console):
    assert console(0, "Building DAG of jobs...") == []
    assert console(0, "Provided cores: 2", LogEvent.RESOURCES_INFO) == []
    assert console(0, "Select jobs to execute...") == []
    assert console(0, "Nothing to be done (all requested files are present and up to date).") != []
    assert console(0, "Trying to restart job 3.") == ["Trying to restart job 3."]
    assert console(0, "disk is full", level=logging.WARNING) == ["disk is full"]
    text = "MissingOutputException in rule a:\nJob 1 completed successfully, but ..."
    assert console(0, text, LogEvent.ERROR, logging.ERROR) == text.splitlines()


def test_a_job_that_fails_says_why_and_where_its_log_is_at_once_and_at_the_end(console, tmp_path):
    log = tmp_path / "train.log"
    log.write_text("  50%|#####     | 1/2\nTraceback (most recent call last):\n  File 'a'\nValueError: no rows\n")
    console(0, "", **{PLAN: [(1, "train", 1.0, None), (2, "train", 1.0, None)]})
    console.start(0, 1, "train x/eeg: 3 cells on eeg")
    failed = ["FAILED train x/eeg: ValueError: no rows", f"       log: {log}"]
    assert console.fail(1, 1, [str(log)]) == failed
    console.start(1, 2, "train x/skin: 3 cells on skin")
    # killed: its log tells nothing of that, and another has none
    log.write_text("loading\n")
    killed = ["FAILED train x/skin: killed by SIGKILL; the log ends with: loading", f"       log: {log}"]
    assert console.fail(2, 2, [str(log)]) == killed
    before = len(console.stream.getvalue())
    console.handler.close()
    assert console.stream.getvalue()[before:].splitlines() == ["0 of 2 jobs done, 2 failed:", *failed, *killed]


def test_each_job_that_fails_is_named_with_its_own_status(console):
    for number, name in enumerate("ab"):
        console.start(0, number, f"train x/{name}: 3 cells")
    console.command_fails(1, "run a", 2)
    console.command_fails(1, "run b", 137)
    assert console.job_fails(2, 1, [], "run b")[0] == "FAILED train x/b: killed by SIGKILL"
    assert console.job_fails(2, 0, [], "run a")[0] == "FAILED train x/a: exit status 2"


def test_a_failure_of_a_command_that_no_job_claims_is_not_swallowed(console):
    console(0, "Command 'x' returned non-zero exit status 1.", LogEvent.ERROR, logging.ERROR)
    assert console.stream.getvalue() == ""
    console.handler.close()
    assert console.stream.getvalue() == "Command 'x' returned non-zero exit status 1.\n"


def test_a_failure_without_a_log_says_so(tmp_path):
    assert reason_of([tmp_path / "none.log"], "exit status 1") == ("exit status 1", "")
    assert reason_of([], "") == ("no error in its log", "")
