"""Find the reason of a job's failure, in one line, in the log of its command."""

import re
import signal
from contextlib import suppress
from functools import partial
from pathlib import Path
from textwrap import shorten

#: Bytes at the end of a log that are read: an error is at its end.
TAIL = 1 << 16

#: Largest number of characters of a reason that are printed; the log has the rest.
LONGEST = 400

shortened = partial(shorten, width=LONGEST, placeholder=" ...")

#: A line of a progress bar.
_BAR = re.compile(r"\d+%\|")

#: Snakemake's message for a shell command that failed.
_STATUS = re.compile(r"non-zero exit status (\d+)|died with <Signals\.(\w+)")


def reason_of(logs, status: str = "") -> tuple[str, str]:
    """Return the reason of a failure and the log that has it, from the first log with a reason. Otherwise return
    ``status`` and the last line of the last log. The path is "" if there is no log.
    """
    last = ""
    for path in logs:
        text = tail(path)
        if found := reason_in(text):
            return shortened(found), str(path)
        last = next(reversed(spoken(text)), "") or last
    there = next((str(path) for path in reversed(list(logs)) if Path(path).exists()), "")
    said = f"; the log ends with: {shortened(last)}" if last else ""
    return (status or "no error in its log") + said, there


def reason_in(text: str) -> str:
    """Return the error at the end of a log: the text after ``error:`` (for users) or the last line of a traceback.

    >>> reason_in("1 of 3\\nerror: no such file: a.csv\\n")
    'error: no such file: a.csv'
    >>> reason_in('Traceback (most recent call last):\\n  File "a.py", line 1\\nValueError: 2 is not\\n3\\n')
    'ValueError: 2 is not 3'
    >>> reason_in("Usage: python -m rfstudy\\n\\nError: No such option: --spce\\n")
    'Error: No such option: --spce'
    >>> reason_in("error: a.csv: checksum differs:\\n  expected 1\\n  found 2\\n")
    'error: a.csv: checksum differs: expected 1 found 2'
    >>> first = "Traceback (most recent call last):\\n  File 'a'\\nKeyError: 'a'\\n\\n"
    >>> second = "Traceback (most recent call last):\\n  File 'b'\\nTypeError: b\\n"
    >>> reason_in(first + "During handling of the above exception, another exception occurred:\\n\\n" + second)
    'TypeError: b'
    >>> reason_in("Traceback (most recent call last):\\n  File 'a'\\n"), reason_in("Traceback (most recent call last):")
    ("File 'a'", 'a traceback without an end')
    >>> reason_in("nothing of the kind"), reason_in("12 rows\\n 100%|##########| 3/3\\n")
    ('', '')
    """
    lines = spoken(text)
    for position in range(len(lines) - 1, -1, -1):
        if lines[position].lower().startswith("error: "):
            return " ".join(" ".join(lines[position:]).split())
        if lines[position].startswith("Traceback (most recent call last)"):
            after = lines[position + 1 :]
            starts = [i for i, line in enumerate(after) if not line[0].isspace()]
            # if it was cut off, the place is better than nothing
            return " ".join(" ".join(after[starts[0] if starts else -1 :]).split()) or "a traceback without an end"
    return ""


def status_in(message: str) -> str:
    """Return how a shell command ended, from Snakemake's message; "" if the message does not say it.

    >>> status_in("Command 'python' returned non-zero exit status 2.")
    'exit status 2'
    >>> status_in("Command 'python' returned non-zero exit status 137.")
    'killed by SIGKILL'
    """
    if not (found := _STATUS.search(message)):
        return ""
    number, name = found.groups()
    with suppress(TypeError, ValueError):  # there is no number, or it is that of no signal
        name = signal.Signals(int(number) - 128).name
    return f"killed by {name}" if name else f"exit status {number}"


def tail(path) -> str:
    """Return the end of a text file; "" if there is none."""
    with suppress(OSError), open(path, "rb") as stream:
        stream.seek(0, 2)
        stream.seek(max(0, stream.tell() - TAIL))
        return stream.read().decode("utf-8", errors="replace")
    return ""


def spoken(text: str) -> list[str]:
    """Return the lines of a log with content: no empty lines and no progress bars."""
    return [line.rstrip() for line in text.splitlines() if line.strip() and not _BAR.search(line)]
