# Before the first job, jobs of a killed run are reported, and the work of each job is written to its work file. The
# console (snakemake --logger rfstudy) gets the jobs of the run, their shares of the cores and their last durations, from
# which it estimates the remaining time.
from snakemake.logging import logger


onstart:
    if ON_CLUSTER:
        stop_at(jobs_in_queue(ROOT))
    gc.freeze()
    gc.enable()
    order = {rule: position for position, rule in enumerate(workflow.rules)}
    planned = sorted(workflow.dag.needrun_jobs(), key=lambda job: order[job.rule])
    for job in planned:
        JOBS.write_work(job.params)
    plan = [
        (
            workflow.dag.jobid(job),
            job.message.split()[0].rstrip(":"),
            job.threads / ALL_CORES,
            seconds_in(job.benchmark),
        )
        for job in planned
    ]
    logger.info("", extra={"rfstudy_plan": plan})
