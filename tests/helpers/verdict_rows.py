"""Small made rows for the tests of verdicts: tidy rows and a specification in, the table as it is printed out.

Nothing here knows how a table is made. The registries are empty, so that methods and data sets go by their ids.
"""

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest import mock

import pandas as pd
import report_rows
from report_rows import REFERENCE

from rfstudy import tidy
from rfstudy.report import tables
from rfstudy.report.catalogue import as_list
from rfstudy.report.claims import registry
from rfstudy.report.claims.rows import Rows
from rfstudy.report.context import Context
from rfstudy.report.published import COLUMNS

PAPERS = ("survey", "eerf", "nsrf", "slsrff")


def row(metric, value, **columns):
    """One measured row; ``columns`` are those that matter to a test."""
    status = "ok" if value is not None else "failed"
    shared = {
        "origin": "measured", "run": "r1", "preset": "laptop", "experiment": "e", "dataset": "eeg",
        "kernel": "gaussian", "repeat": 0, "status": status, "settings": {},
    }  # fmt: skip
    return shared | {"metric": metric, "value": value} | columns


def on_axis(axis, at, **settings):
    """Return the columns of a row on an axis, with its settings."""
    return {"axis": axis, "at": at, "settings": settings}


def on_circle(decay, **settings):
    """The columns of a row whose kernel is one of the circle's, with its settings."""
    return {"kernel": f"circle-{decay}", "settings": settings}


def accuracies(method, size, values, **columns):
    """Test accuracies of ridge regression, one per repeat."""
    shared = {"method": method, "n_features_label": size, "learner": "ridge", "split": "test"} | columns
    return [row("accuracy_pct", value, repeat=repeat, **shared) for repeat, value in enumerate(values)]


def around(mean, n=8, by=1.0):
    """``n`` values ``by`` above and below a mean in turn: of eight with ``by`` = 1, t of the mean is mean sqrt(7)."""
    return [mean + (by if i % 2 else -by) for i in range(n)]


def printed(metric, value, **columns):
    """One printed row of the reference data, as its CSV files have it."""
    shared = dict.fromkeys(COLUMNS, "") | {"paper": "slsrff", "table": "T", "dataset": "eeg"}
    return shared | {"confidence": "verbatim", "metric": metric, "value": value} | columns


def reference(folder, rows) -> Path:
    """A folder of reference data that holds these printed rows and the claims as they are."""
    folder.mkdir(parents=True)
    for path in REFERENCE.glob("*.csv"):
        own = rows if path.name == "text_values.csv" else []
        pd.DataFrame(own, columns=COLUMNS).to_csv(folder / path.name, index=False)
    shutil.copy(REFERENCE / "claims.csv", folder)
    return folder


def tabulated(tmp_path, spec, rows, printed_rows=()):
    """The cells of a table, all text, and its Markdown file, in which its notes stand."""
    spec = {"form": "tables", "name": "t", "id": "t", "paper": "slsrff", "caption": "c", "protocol": "text"} | spec
    spec = {"experiments": ["e"], "published": "T"} | spec
    if "quantity" in spec:
        # as config/scorecard.yaml has it: times are divided by those of rff
        quantity = {key: value for key, value in spec["quantity"].items() if key != "metric"}
        over = {"over": "rff"} if spec["quantity"]["metric"] == "time_feature_s" else {}
        metrics = {spec["quantity"]["metric"]: quantity | over}
        numbers = [{"table": spec["published"], "experiments": {"text": "e"}, "metrics": metrics}]
        spec = {"scorecard": {"numbers": numbers}} | spec
    printed = reference(Path(tmp_path) / str(sum(1 for _ in Path(tmp_path).iterdir())), printed_rows)
    context = Context.of({Path("rows.csv"): tidy.frame(rows)}, spec["experiments"], {}, {}, printed)
    return report_rows.as_read(tables.make(context, spec))


def repeated(rows, n=5):
    """Return the same rows for every repeat, without spread, so that intervals have no width."""
    return [each | {"repeat": repeat} for each in rows for repeat in range(n)]


def judged(claim, rows, **changed) -> str:
    """The verdict on one claim; the rows count as those of the experiment that it is tested on under "text".
    ``changed`` are attributes of the claim with other values."""
    return found(claim, rows, **changed)[0]


def found(claim, rows, **changed) -> tuple[str, str]:
    """Verdict and evidence on one claim, as ``judged``."""
    experiment = as_list(claims()[claim].experiments["text"])[0]
    return found_as(claim, tidy.frame([each | {"experiment": experiment} for each in rows]), **changed)


def found_as(claim, frame, protocol="text", styles=None, tasks=None, **changed) -> tuple[str, str]:
    """Verdict and evidence on one claim, tested on a frame as it is."""
    return found_in(Context(frame, styles or {}, tasks or {}, REFERENCE), claim, protocol, **changed)


def found_in(context, claim, protocol="text", **changed) -> tuple[str, str]:
    """Verdict and evidence on one claim, tested on all rows of a context."""
    with mock.patch.dict(registry.CLAIMS, {claim: replace(claims()[claim], **changed)}):
        return registry.judged(claim, Rows(context.rows, context.rows, context, claim.split("-")[0]), protocol)[:2]


@cache
def claims() -> dict[str, registry.Claim]:
    """All claims by their ids."""
    return {name: each for paper in PAPERS for name, each in registry.claims_of(paper).items()}
