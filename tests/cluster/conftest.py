"""A real SLURM of two nodes on this machine, in a temporary folder and on ports of its own. See docs/cluster.md.

It needs root and Debian's packages munge, slurmctld, slurmd and slurm-client (``INSTALL=1`` installs them). It does not
start where another SLURM is set up, and signals only the processes that it started.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

PACKAGES = ("munge", "slurmctld", "slurmd", "slurm-client")

#: Two nodes with two CPUs, 4 GB and a make-believe GPU each. A job over its memory is killed. A job of a lost node
#: starts again after `cred_expire` seconds (two minutes by default).
CONF = """
ClusterName=rfstudy
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=10
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
PriorityType=priority/basic
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
MinJobAge=3600
SlurmdTimeout=60
KillWait=2
Waittime=0
GresTypes=gpu
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={one} CPUs=2 RealMemory=4096 Gres=gpu:1 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={two} CPUs=2 RealMemory=4096 Gres=gpu:1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10 DefMemPerCPU=256 State=UP
"""


def why_not() -> str:
    """Return why the test cluster cannot start here; empty if it can."""
    if os.environ.get("RFSTUDY_CLUSTER") != "1":
        return "make test-cluster runs it"
    if os.environ.get("SLURM_CONF") or Path("/etc/slurm/slurm.conf").exists():
        return "SLURM is set up here (SLURM_CONF or /etc/slurm): the test starts one of its own and must not touch it"
    if shutil.which("sinfo") and subprocess.run(["sinfo"], capture_output=True).returncode == 0:
        return "a SLURM answers here: the test starts one of its own and must not touch it"
    if os.getuid() != 0:
        return "the test cluster needs root"
    if not shutil.which("slurmctld") and os.environ.get("INSTALL") != "1":
        return f"install {' '.join(PACKAGES)}, or set INSTALL=1"
    return ""


class Cluster:
    """The running test cluster: its environment, its queue, and its nodes."""

    def __init__(self, folder: Path):
        self.folder = folder
        ports = []
        for _ in range(3):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                ports.append(free.getsockname()[1])
        host = socket.gethostname().split(".")[0]
        text = CONF.format(folder=folder, host=host, port=ports[0], one=ports[1], two=ports[2])
        (folder / "slurm.conf").write_text(text)
        (folder / "gpu").touch()
        (folder / "gres.conf").write_text(f"NodeName=n[1-2] Name=gpu File={folder}/gpu\n")
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o400)
        (folder / "bin").mkdir()
        # the plugin's job step drops SLURM_CONF before it calls srun
        srun = folder / "bin" / "srun"
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun")} "$@"\n')
        srun.chmod(0o755)
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        self.environment = os.environ | {"SLURM_CONF": f"{folder}/slurm.conf", "PATH": path}

    def start(self):
        """Start all daemons, and wait until both nodes are idle."""
        own = [f"--{key}={self.folder}/munge.{key.split('-')[0]}" for key in ("key-file", "pid-file", "log-file")]
        self.call("munged", "--force", f"--socket={self.folder}/munge.socket", f"--seed-file={self.folder}/seed", *own)
        self.call("slurmctld", "-i")
        for node in ("n1", "n2"):
            self.call("slurmd", "-N", node)
        self.wait(lambda: self.call("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").split() == ["n1", "n2"], 30)

    def call(self, *command) -> str:
        """Return what a command of SLURM prints."""
        return subprocess.run(
            command, env=self.environment, check=True, capture_output=True, text=True, timeout=60
        ).stdout

    def jobs(self, state: str = "all") -> list[dict]:
        """Return the jobs in a state: id, name, whether the node is shared, its name, memory, node, and the rule."""
        lines = self.call("squeue", "-h", "-t", state, "-o", "%A|%T|%h|%j|%m|%N|%k").splitlines()
        keys = ("id", "state", "shared", "name", "memory", "node", "comment")
        return [dict(zip(keys, line.split("|"), strict=True)) for line in lines]

    def wait(self, condition, seconds: float = 120):
        """Return the first true value of a condition. Fail after a long time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := condition():
                return found
            time.sleep(0.3)
        pytest.fail(f"nothing happened in {seconds} s: {self.jobs()}")

    def stop(self):
        """End what ``start`` started, by the process ids in its own folder."""
        if left := [job["id"] for job in self.jobs("PD,R,CF,CG")]:
            self.call("scancel", *left)
        for name in ("slurmd.n1", "slurmd.n2", "slurmctld", "munge"):
            self.end(name)
        self.end_orphans()

    def end_orphans(self):
        """Kill the processes of jobs that outlived their node: those with the configuration of this cluster."""
        own = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if int(process.name) != os.getpid() and own in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)

    def end(self, name: str):
        """End one daemon; a ``slurmd`` that waits for its jobs is killed."""
        path = self.folder / f"{name}.pid"
        if not path.exists():
            return
        pid = int(path.read_text())
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
            for _ in range(50):
                os.kill(pid, 0)
                time.sleep(0.1)
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """The test cluster, for all tests; skipped with the reason where it cannot start."""
    if reason := why_not():
        pytest.skip(reason)
    if not shutil.which("slurmctld"):
        subprocess.run(["apt-get", "install", "-y", "-q", "--no-install-recommends", *PACKAGES], check=True)
    folder = tmp_path_factory.mktemp("slurm")
    for each in (folder, *list(folder.parents)[:2]):
        each.chmod(0o755)
    running = Cluster(folder)
    try:
        running.start()
        yield running
    finally:
        running.stop()
