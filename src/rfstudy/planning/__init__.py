"""From YAML to jobs: the configuration, its checks, the shards of experiments, and what their jobs cost.

A job never imports this package, so an edit of it discards no result. Each module imports only those above it:

| module | contents |
|---|---|
| ``entries``, ``models``, ``settings`` | the models of the configuration |
| ``plan`` | experiments on data sets, cut into shards with their parts |
| ``problems`` | what an experiment cannot do on its data sets |
| ``config`` | the configuration of a run: read, merged, selected and checked |
| ``cost`` | what a job requests and is expected to take |
| ``jobs`` | the jobs of a run, as the rules ask for them |
| ``check``, ``design``, ``cost_plan``, ``cost_fit`` | the commands ``check``, ``design``, ``plan`` and ``plan --fit`` |
"""
