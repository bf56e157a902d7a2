# Before the first job, the work of each job is written to its work file. The console (snakemake --logger rfstudy) gets
# the jobs of the run, their shares of the cores and their last durations, from which it estimates the remaining time.
from snakemake.logging import logger


def write_work(job):
    """Write the work file of a job, which can be too large for a command line."""
    work = job.params.get("job", job.params).get("work")
    if work:
        write_text(JOBS.work[work], job.params.file, only_if_changed=True, sync=False)


def seconds_before(job):
    """Return the seconds that a job took the last time, from its benchmark; None if there is none."""
    try:
        header, values = Path(job.benchmark).read_text().splitlines()[:2]
        return float(dict(zip(header.split("\t"), values.split("\t")))["s"])
    except (TypeError, OSError, ValueError, KeyError):
        return None


def stage_of(job):
    """Return the kind of a job: the first word of its message."""
    return job.message.split()[0].rstrip(":")


onstart:
    gc.freeze()
    gc.enable()
    for job in workflow.dag.needrun_jobs():
        write_work(job)
    order = {rule: position for position, rule in enumerate(workflow.rules)}
    logger.info(
        "",
        extra={
            "rfstudy_plan": [
                (workflow.dag.jobid(job), stage_of(job), job.threads / ALL_CORES, seconds_before(job))
                for job in sorted(workflow.dag.needrun_jobs(), key=lambda job: order[job.rule])
            ]
        },
    )
