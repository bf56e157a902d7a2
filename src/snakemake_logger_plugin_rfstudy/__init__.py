"""The console of a run, ``snakemake --logger rfstudy``: one line per job, the progress, and the reason of a failure.

A line has the number of finished jobs, the elapsed time, the estimated remaining time, and the started job (the
``message`` of its rule). A job that took long also has a line when it is done. A job that fails is named with the
reason that its log gives and with that log. Everything else that Snakemake says (files, resources, commands, reasons to
run) is in its own log under ``.snakemake/log``. Warnings and errors that are not about a
job are printed as they are, and so is everything in a dry-run.
"""

import logging
import sys
import time
from collections import Counter

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter, timestamp
from snakemake.logging import logger as snakemake_logger
from snakemake_interface_logger_plugins.base import LogHandlerBase

from snakemake_logger_plugin_rfstudy.reason import reason_of, status_in
from snakemake_logger_plugin_rfstudy.remaining import Remaining, about, clock

#: Smallest duration in seconds of a job whose end is worth a line.
LONG = 10

#: The first words of Snakemake's general messages, which appear in every run and go to the log.
CHATTER = (
    "Assuming unrestricted shared filesystem",
    "Building DAG of jobs",
    "Using shell:",
    "Group jobs: inactive",
    "Conda environments: ignored",
    "Singularity containers: ignored",
    "Select jobs to execute",
    "Elapsed time:",
    "Exiting because a job execution failed",
    "WorkflowError:\nAt least one job did not complete successfully",
    "Creating report",
    "Adding ",
    "Complete log(s):",
)

#: Events that are left to the log; the jobs of a group that failed follow one by one.
LOGGED_ONLY = ("resources_info", "run_info", "job_started", "rulegraph", "group_info", "group_error")

#: The key in ``extra`` of a record about the jobs that are to run: see rules/console.smk.
PLAN = "rfstudy_plan"


class Detailed(DefaultFormatter):
    """The content of Snakemake's log file: files, resources and the command of a job, even if it has a message."""

    def format_job_info(self, msg):
        """Return the message of a job, and everything that Snakemake writes about a job without one."""
        lines = [timestamp(), f"Job {msg['jobid']}: {msg['rule_msg']}", *self._format_job_info(msg)]
        return "\n".join([*lines, f"    command: {msg['shellcmd']}"] if msg["shellcmd"] else lines)


class LogHandler(LogHandlerBase):
    """Prints a run in short lines; records come in the order of time, from one thread."""

    def __post_init__(self):
        settings = self.common_settings
        self.stream = sys.stdout if settings.stdout else sys.stderr
        shown = DefaultFilter(
            settings.quiet, settings.debug_dag, settings.verbose, settings.dryrun, settings.printshellcmds
        )
        #: prints all other records in Snakemake's own words
        self.usual = ColorizingTextHandler(
            settings.nocolor, self.stream, DefaultFormatter(settings.quiet, settings.show_failed_logs), shown
        )
        self.began = time.time()
        self.done, self.total = 0, 0
        self.remaining = Remaining({})
        self.started: dict[int, tuple[str, float]] = {}  # by job, its message and its start
        self.failures: list[str] = []  # the two lines of each failed job
        self.errors: list[logging.LogRecord] = []  # of commands that failed, until their jobs are known

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = True
    needs_rulegraph = False

    def emit(self, record):
        """Print a record, if it is worth a line."""
        try:
            self.tell(record)
        except BrokenPipeError:
            raise
        except Exception:
            self.handleError(record)

    def tell(self, record):
        """Print a record: by the method of its event if there is one, else in Snakemake's words, or not at all."""
        event = getattr(record, "event", None)
        if self.common_settings.dryrun:
            self.usual.handle(record)
        elif hasattr(record, PLAN):
            self.plan(record)
        elif event and hasattr(self, event.value):
            getattr(self, event.value)(record)
        elif event not in LOGGED_ONLY and not str(record.msg).startswith(CHATTER):
            self.usual.handle(record)

    def plan(self, record):
        """Note the jobs that are to run, and print their number."""
        plan = getattr(record, PLAN)
        self.remaining = Remaining({number: (share, seconds) for number, _, share, seconds in plan})
        self.began, self.total = record.created, len(plan)
        stages = ", ".join(f"{number} {stage}" for stage, number in Counter(stage for _, stage, *_ in plan).items())
        self.say(f"{self.total} job{'s' * (self.total != 1)}: {stages}")

    def job_info(self, record):
        """Print a line for a job that is started."""
        message = record.rule_msg or f"{record.rule_name} {' '.join(map(str, record.wildcards.values()))}".strip()
        self.started[record.jobid] = message, record.created
        self.line(message, record.created)

    def job_finished(self, record):
        """Print a line for a job that took long, when it is done."""
        self.remaining.finish(record.job_id)
        message, began = self.started.get(record.job_id, ("", record.created))
        if record.created - began >= LONG:
            what = f"done in {clock(record.created - began)}: {message.partition(':')[0]}"
            self.line(what, record.created, done=self.done + 1)

    def job_error(self, record):
        """Print two lines for a job that failed: the reason, and its log."""
        mine = [each for each in self.errors if record.shellcmd and record.shellcmd in str(each.msg)][:1]
        self.errors = [each for each in self.errors if each not in mine]
        reason, log = reason_of(record.log, status_in(str(mine[0].msg)) if mine else "")
        message, _ = self.started.get(record.jobid, (record.rule_name, 0))
        self.failures.append(f"FAILED {message.partition(':')[0]}: {reason}\n       log: {log or 'none was written'}")
        self.say(self.failures[-1], ColorizingTextHandler.RED)

    def error(self, record):
        """Print an error of Snakemake. The failure of a command is reported with its job."""
        if status_in(str(record.msg)):
            self.errors.append(record)
        elif not (self.failures and str(record.msg).startswith(CHATTER)):
            self.usual.handle(record)

    def progress(self, record):
        """Update the progress of the run, and print a line at its end."""
        self.done, self.total = record.done, record.total
        if self.done == self.total:
            self.say(f"[{self.done} of {self.total}, {clock(record.created - self.began)}] done")

    def workflow_started(self, record):
        """Make Snakemake's log file keep the details behind the messages of the rules."""
        for handler in snakemake_logger.handlers:
            if isinstance(handler, logging.FileHandler) and isinstance(handler.formatter, DefaultFormatter):
                handler.setFormatter(Detailed(handler.formatter.quiet, handler.formatter.show_failed_logs))

    def line(self, text, now, done=None):
        """Print a line with the progress of the run, the elapsed time and the estimated remaining time."""
        elapsed = now - self.began
        left = self.remaining.seconds(elapsed)
        width = len(str(self.total))
        far = f"{self.done if done is None else done:{width}} of {self.total}"
        self.say(f"[{far}, {clock(elapsed)}{f', {about(left)} left' if left is not None else ''}] {text}")

    def say(self, text, color=None):
        """Print a line."""
        if color is not None and not self.usual.nocolor:
            text = f"{self.usual.COLOR_SEQ % (30 + color)}{text}{self.usual.RESET_SEQ}"
        print(text, file=self.stream, flush=True)

    def close(self):
        """Print the failed jobs once more at the end of a run that failed."""
        for record in self.errors:
            self.usual.handle(record)
        if self.failures:
            self.say(f"{self.done} of {self.total} jobs done, {len(self.failures)} failed:")
            for failure in self.failures:
                self.say(failure, ColorizingTextHandler.RED)
        self.errors, self.failures = [], []
        super().close()


def name_the_file(record) -> bool:
    """Put into a record the file of ``--configfile`` that cannot be read, and the place of the mistake. Snakemake
    reports neither.

    A filter of Snakemake's log that keeps all records.
    """
    if record.levelno >= logging.ERROR and sys.exc_info()[1]:
        from rfstudy.files import read_yaml  # as late as possible: the workflow imports it too

        for path in (word for word in sys.argv if word.endswith((".yaml", ".yml"))):
            try:
                read_yaml(path)
            except ValueError as error:
                record.msg, record.args = str(error), ()
                break
    return True


def print_without_profile(*words, **options):
    """Print as ``print`` does, except that the profile of this workflow is used."""
    if not str(words[0]).startswith("Using workflow specific profile"):
        print(*words, **options)


# Snakemake imports this package to know its options, even if another console is used, and prints its profile after that
snakemake_logger.addFilter(name_the_file)
if "snakemake.cli" in sys.modules:
    sys.modules["snakemake.cli"].print = print_without_profile
