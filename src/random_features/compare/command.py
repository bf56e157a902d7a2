"""The command ``compare`` of both command lines. It imports what computes when it runs, so that ``--help`` is quick."""

import os
import time
from pathlib import Path

import click

#: Settings, made before the libraries are loaded, with which waiting threads leave their core to other processes. With
#: the default of OpenBLAS, 26, two processes on two cores took 6.4 s each, and 2.4 s so, for what one does in 1.9 s
#: (two fits of 1,200 rows and features, November 2026).
PATIENCE = {"OMP_WAIT_POLICY": "passive", "OPENBLAS_THREAD_TIMEOUT": "4"}


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--target", help="Column to predict; LIBSVM files name it themselves.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder of the answer: compare-<file>.")
@click.option("--budget", default="10m", show_default=True, help="Time for everything: 90s, 10m, 1h.")
@click.option("--margin", default=0.02, show_default=True, help="Share of the loss of the best that does not matter.")
@click.option("--task", type=click.Choice(["auto", "classes", "regression"]), default="auto", show_default=True)
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; may be repeated.")
@click.option("--group", metavar="COLUMN", help="Rows of one group stay in one fold.")
@click.option("--time", metavar="COLUMN", help="Test on later rows than those that train.")
@click.option("--maps", default="", metavar="NAME,...", help="More maps; random_features.list_maps() has them.")
@click.option("--columns", type=click.IntRange(min=16), default=4096, show_default=True, help="Most columns of a map.")
@click.option("--metric", help="error, balanced-error, log-loss, auc, average-precision; rmse, mae.")
@click.option("--header", type=click.Choice(["yes", "no"]), help="Whether the first line has names.")
@click.option("--separator", help="Between the cells of a line: one character, or tabs, blanks.")
@click.option("--quote", type=click.Choice(["double", "single", "none"]), help="Quotes around cells.")
@click.option("--encoding", help="Of the text, such as cp1250.")
@click.option("--decimal", type=click.Choice([".", ","]), help="Decimal sign where a number has two meanings.")
@click.option("--missing", multiple=True, metavar="TEXT,...", help="Missing values; -99,9 is one if it is a cell.")
@click.option("--format", "formats", multiple=True, metavar="COLUMN=FORMAT", help="number, text, hours, %d.%m.%Y.")
def compare(file, target, maps, **options):
    """Recommend a feature map for the table in FILE, or none, from a comparison with its baselines."""
    started = time.monotonic()
    os.environ.update(PATIENCE | os.environ)
    from random_features.compare.run import compare as run

    run(file, target, maps=[name for name in maps.split(",") if name], started=started, **options)
