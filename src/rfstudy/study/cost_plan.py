"""Write the cost plan of a run: what its jobs request and are expected to use, per rule, before anything is computed.

The jobs are those of a dry-run of Snakemake with the same options, so the plan has what would be submitted.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from random_features.errors import UserError

#: Rules whose jobs are submitted to a cluster; all others run where Snakemake runs.
SUBMITTED = ("preprocess", "stream", "tune", "train", "measure", "time")

#: Jobs of a plan that are printed one by one.
LARGEST = 10


def jobs_of(options: list[str]) -> pd.DataFrame:
    """Return the jobs that ``snakemake`` would run with these options, one per row: rule, job, requests, expectation.

    Raise ``UserError`` with Snakemake's message if it makes no plan.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "jobs.jsonl")
        command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", "--logger", "rfstudy", *options]
        output = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"RFSTUDY_PLAN": str(path)})
        if output.returncode:
            raise UserError(f"Snakemake makes no plan: {output.stderr.strip() or output.stdout.strip()}")
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    jobs = pd.DataFrame(
        map(json.loads, lines),
        columns=["rule", "job", "threads", "mem_mb", "runtime", "gpu", "expected", "extrapolated"],
    )
    jobs = jobs[jobs.rule.str.split("_").str[0].isin(SUBMITTED)].fillna(0)
    return jobs.sort_values(["runtime", "job"], ascending=[False, True], ignore_index=True)


def totals(jobs: pd.DataFrame, max_mem_mb: float | None = None, max_runtime: float | None = None) -> pd.DataFrame:
    """Return the cost per rule, and of all rules together in the last row."""
    rows = [cost_of(rule, of_rule, max_mem_mb, max_runtime) for rule, of_rule in jobs.groupby("rule")]
    return pd.DataFrame([*rows, cost_of("all", jobs, max_mem_mb, max_runtime)])


def cost_of(rule: str, jobs: pd.DataFrame, max_mem_mb: float | None, max_runtime: float | None) -> dict:
    """Return the number of jobs, their CPU hours and GiB hours, and how many are short, large or request a GPU."""
    hours, modelled = jobs.runtime / 60, jobs.expected > 0
    over = (jobs.mem_mb > (max_mem_mb or float("inf"))) | (jobs.runtime > (max_runtime or float("inf")))
    return {
        "rule": rule,
        "jobs": len(jobs),
        "CPU hours requested": (hours * jobs.threads).sum().round(1),
        "CPU hours expected": (jobs.expected * jobs.threads).sum().round() // 360 / 10,
        "GiB hours requested": (hours * jobs.mem_mb / 1024).sum().round(1),
        "longest request (min)": jobs.runtime.max(),
        "largest memory (MB)": jobs.mem_mb.max(),
        "GPU jobs": int((jobs.gpu > 0).sum()),
        "CPU hours expected of GPU jobs": (jobs.expected * jobs.threads)[jobs.gpu > 0].sum().round() // 360 / 10,
        "under a minute": int((modelled & (jobs.expected < 60)).sum()),
        "over your limits": int(over.sum()),
        "extrapolated": int((jobs.extrapolated > 0).sum()),
        "without a model": int((~modelled).sum()),
    }


def write(options: list[str], out: Path, limits: dict) -> str:
    """Write ``jobs.csv``, ``rules.csv``, ``rules.md`` and ``plan.png`` into a folder, and return the text to print."""
    jobs = jobs_of(options)
    if jobs.empty:
        return "nothing to submit: all files are there, or `only_experiments` leaves out a part of each table"
    found = totals(jobs, **limits)
    out.mkdir(parents=True, exist_ok=True)
    jobs.to_csv(out / "jobs.csv", index=False)
    found.to_csv(out / "rules.csv", index=False)
    by_rule = found.set_index("rule").T.rename_axis("").astype(object)
    (out / "rules.md").write_text(by_rule.to_markdown() + "\n", encoding="utf-8")
    draw(jobs, out / "plan.png")
    largest = jobs.head(LARGEST)[["job", "runtime", "mem_mb", "expected"]].to_string(index=False)
    return f"{found.set_index('rule').T.to_string()}\n\nThe largest jobs (minutes, MB, expected seconds):\n{largest}"


def put_into(page: Path, table: Path) -> None:
    """Replace the table between the two comments of a page that start with ``plan:`` and ``end of plan``."""
    before, _, rest = page.read_text(encoding="utf-8").partition("<!-- plan: ")
    command, _, rest = rest.partition(" -->\n")
    after = rest.partition("<!-- end of plan -->")[2]
    text = table.read_text(encoding="utf-8")
    page.write_text(f"{before}<!-- plan: {command} -->\n\n{text}\n<!-- end of plan -->{after}", encoding="utf-8")


def draw(jobs: pd.DataFrame, path: Path) -> None:
    """Write a picture of the requests: minutes and memory of every job, by rule."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for (rule, of_rule), marker in zip(jobs.groupby("rule"), "osD^vP*X", strict=False):
        axes.loglog(of_rule.runtime, of_rule.mem_mb / 1024, marker, label=f"{rule} ({len(of_rule)})", alpha=0.6)
    axes.set(xlabel="run time requested (minutes)", ylabel="memory requested (GiB)")
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=120, metadata={"Software": None})
