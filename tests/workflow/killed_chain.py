"""The chain of commands of a workflow, killed at every moment around a write and then run to its end.

``python killed_chain.py FOLDER EVERY FOLLOWED`` runs in FOLDER, a workspace, the commands in ``commands.json``, each in
a process of its own, first undisturbed. Then, for every EVERY-th moment of every command, it starts from the files that
were there before this command, kills the command at the moment with SIGKILL, runs it once more, and compares every file
of ``KEPT`` with what the undisturbed command left. After every FOLLOWED-th kill (with 1 after each) all commands that
follow are run as well, and what the whole chain leaves is compared. The libraries are loaded once: a process is a fork.

A moment is before and after each call that makes, moves or removes a file, the middle of what is written to a temporary
file, and before, in the middle of and after a checkpoint.
"""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import sys
import traceback
from pathlib import Path

import numpy as np

from rfstudy import cli, files, tidy
from rfstudy.study import journal, provenance

#: What the commands write next to logs and the journal.
KEPT = ("data/raw", "data/prepared", "data/measured", "results", "figures")


class Moments:
    """A count of moments; at the one that was asked for the process is killed."""

    def __init__(self, fatal: int):
        self.passed, self.fatal = 0, fatal

    def pass_one(self, damage=None):
        """One more moment, with what its kill leaves behind."""
        self.passed += 1
        if self.passed == self.fatal:
            if damage:
                damage()
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, owner, name: str):
        """Have two moments around every call of a function."""
        function = getattr(owner, name)

        def watched(*arguments, **options):
            self.pass_one()
            result = function(*arguments, **options)
            self.pass_one()
            return result

        setattr(owner, name, watched)

    def watch_everything(self):
        """All calls that change what is on the disk."""
        replace, append = os.replace, journal.Log.append

        def written(temporary, target):
            size = os.path.getsize(temporary)
            self.pass_one(lambda: os.truncate(temporary, size // 2))
            self.pass_one()
            replace(temporary, target)
            self.pass_one()

        def appended(log, *arguments):
            self.pass_one()
            before = os.path.getsize(log.path) if log.path.exists() else 0
            place = append(log, *arguments)
            after = os.path.getsize(log.path)
            self.pass_one(lambda: os.truncate(log.path, (before + after) // 2))
            self.pass_one()
            return place

        os.replace, journal.Log.append = written, appended
        for owner, name in ((os, "unlink"), (os, "truncate"), (files, "locked_file")):
            self.watch(owner, name)


def run(command: list[str], space: Path, fatal: int = 0) -> int:
    """Run a command in a process of its own; the number of its moments, 0 if it was killed."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.chdir(space)
        log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        moments = Moments(fatal)
        moments.watch_everything()
        try:
            cli.commands.main(command, standalone_mode=False)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(3)
        os.write(writing, str(moments.passed).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        reported = stream.read()
    ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if ended not in (0, -signal.SIGKILL):
        sys.exit(f"{command[0]} ended with {ended}, killed at {fatal} in {space}:\n{(space / 'log').read_text()}")
    return int(reported or 0)


def state(space: Path) -> dict[str, str]:
    """The files of a workspace and the digest of what they hold, without when and by which run it was made."""
    found = {}
    for part in KEPT:
        for path in sorted((space / part).rglob("*")):
            name = str(path.relative_to(space))
            if path.is_file() and "/.journal/" not in name and not name.endswith(".provenance.json"):
                found[name] = hashlib.sha256(content_of(path, name)).hexdigest()
    return found


def content_of(path: Path, name: str) -> bytes:
    """Return the content of a file: rows without their run, facts and choices without their record."""
    if name.startswith(("results", "data/measured")) and ".csv" in name:
        return tidy.read(path).drop(columns="run").to_csv(index=False).encode()
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return b"".join(name.encode() + arrays[name].tobytes() for name in sorted(arrays))
    if path.name == "facts.json":
        return json.dumps(files.read_json(path) | {"provenance": None, "sha256_of_facts": None}).encode()
    if path.name == "record.json":
        record = files.read_json(path)
        for entry in record["files"].values():
            entry["from"] = ""  # a file that a killed download has placed is in place: from where is said no more
        return json.dumps(record).encode()
    return path.read_bytes()


def main(workspace: Path, every: int, followed: int):
    """Print how many moments each command has, at how many of them it was killed, and after how many of these all that
    follows was run and compared.
    """
    # a run of committed code: other rows are not published
    provenance.code_state = lambda: {"commit": "0" * 40, "uncommitted": False}
    # what a killed process wrote is there, on the disk or not: to wait for it would take most of the time
    os.fsync = lambda handle: None
    commands = json.loads((workspace / "commands.json").read_text())
    before, counts = [workspace / "before-0"], []
    before[0].mkdir()
    for name in ("data", "config", "results", ".snakemake/rfstudy-code"):  # of results only what says what jobs do
        shutil.copytree(workspace / name, before[0] / name)
    warm_up(commands, workspace)
    for number, command in enumerate(commands):
        before.append(workspace / f"before-{number + 1}")
        shutil.copytree(before[-2], before[-1])
        counts.append(run(command, before[-1]))
    left = [state(space) for space in before]
    kills = 0
    for number, command in enumerate(commands):
        # another first moment for every command, so that all sorts of moments have their turn
        killed = to_the_end = 0
        for at in range(1 + number % every, counts[number] + 1, every):
            space = workspace / "killed"
            shutil.rmtree(space, ignore_errors=True)
            shutil.copytree(before[number], space)
            if run(command, space, at):
                continue  # the process did not come to this moment
            killed, kills = killed + 1, kills + 1
            run(command, space)
            compare(space, left[number + 1], f"{command[0]} at moment {at}")
            if kills % followed == 0:
                to_the_end += 1
                for following in commands[number + 1 :]:
                    run(following, space)
                compare(space, left[-1], f"{command[0]} at moment {at}, after all that follows,")
        print(command[0], counts[number], killed, to_the_end, flush=True)


def warm_up(commands: list[list[str]], workspace: Path):
    """Run all commands once in this process, for what they import and read to be there in each that it forks."""
    home = Path.cwd()
    shutil.copytree(workspace / "before-0", workspace / "warm")
    os.chdir(workspace / "warm")
    for command in commands:
        with contextlib.redirect_stdout(sys.stderr):
            cli.commands.main(command, standalone_mode=False)
    files.sweep.cache_clear()
    os.chdir(home)


def compare(space: Path, expected: dict[str, str], killed: str):
    """End with the files that are not what an undisturbed run leaves, and with those that were left half-written."""
    found = state(space)
    others = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
    others += [str(path) for path in space.rglob(".partial-*") if ".journal" in path.parts]
    if others:
        sys.exit(f"killed in {killed} these files are others: {others}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
