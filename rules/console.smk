# What the console (snakemake --logger rfstudy) is told before the first job: all jobs of the run, which share of the
# cores each takes, and how long it took the last time, so that it can say about how long the run will still take.
from snakemake.logging import logger


def seconds_before(job):
    """The seconds that a job took the last time, from its benchmark; None where there is none."""
    try:
        header, values = Path(job.benchmark).read_text().splitlines()[:2]
        return float(dict(zip(header.split("\t"), values.split("\t")))["s"])
    except (TypeError, OSError, ValueError, KeyError):
        return None


def stage_of(job):
    """What a job does: the first word of its message."""
    return job.message.split()[0].rstrip(":")


onstart:
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
