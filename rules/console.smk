# Before the first job, jobs of a killed run are reported, and the work of each job is written to its work file. The
# console (snakemake --logger rfstudy) gets the jobs of the run, their shares of the cores and their last durations, from
# which it estimates the remaining time.
from snakemake.logging import logger


def for_console(job):
    """Return the number of a job, its stage, its share of the cores, and its last duration."""
    stage = job.message.split()[0].rstrip(":")
    return workflow.dag.jobid(job), stage, job.threads / ALL_CORES, seconds_in(job.benchmark)


onstart:
    if ON_CLUSTER:
        stop_at(jobs_in_queue(ROOT))
    gc.freeze()
    gc.enable()
    order = {rule: position for position, rule in enumerate(workflow.rules)}
    planned = sorted(workflow.dag.needrun_jobs(), key=lambda job: order[job.rule])
    for job in planned:
        JOBS.write_work(job.params)
    logger.info("", extra={"rfstudy_plan": [for_console(job) for job in planned]})
