"""The stages of the study: each module is one subcommand of ``python -m rfstudy`` and one rule of the workflow."""
