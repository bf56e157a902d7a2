#!/bin/sh
# status.sh JOB: print success, running or failed, as Snakemake asks. SLURM keeps finished jobs for MinJobAge seconds.
state=$(squeue --noheader --states all --jobs "$1" --format %T 2>&1)
case "$state" in
  COMPLETED) echo success ;;
  # no longer known: a job that is done is run again from its journal, which takes seconds
  "" | *"Invalid job id"*) echo failed ;;
  PENDING | RUNNING | CONFIGURING | COMPLETING | SUSPENDED | REQUEUED | REQUEUE_HOLD | STAGE_OUT) echo running ;;
  # squeue does not answer: ask again later
  *rror*) echo running ;;
  *) echo failed ;;
esac
