"""The stage ``draw``: makes tables and figures from the rows of experiments and from the published numbers.

A job draws a list of outputs (``catalogue.specifications``), so that libraries are imported and rows are read once.
"""

import os
from pathlib import Path

from random_features.errors import UserError
from rfstudy.report import pages, tables, typeset
from rfstudy.report.catalogue import outputs
from rfstudy.report.context import contexts


def run(entries: list[dict], results, reference, methods, tasks, out, pages_dir=None) -> None:
    """Write the files of outputs to ``<out>/<paper>``, and a page of HTML for each to ``pages_dir`` if it is given.

    Parameters
    ----------
    entries : specifications of the outputs
    results : tidy files of all experiments that they use
    reference : folder of the published numbers
    methods, tasks : the parsed registries
    """
    for spec, context in contexts(entries, results, reference, methods, tasks):
        folder = Path(out) / spec["paper"]
        if spec["form"] == "tables":
            table = tables.make(context, spec)
            typeset.write(table, folder, outputs(spec))
            content = typeset.html(table)
        else:  # a job without figures does not import matplotlib
            from rfstudy.report import plots

            try:
                plots.draw(context, spec, folder)
            except UserError as error:
                if not pages_dir:  # the output was requested by its name
                    raise
                print(error)
                continue
            content = pages.picture(folder / spec["name"])
        if pages_dir:
            pages.write(folder / spec["name"], content, pages_dir)
    os.sync()  # once for all files: to wait for each of them takes a tenth of the time
