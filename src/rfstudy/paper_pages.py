"""The pages of the papers (``docs/papers``): claims with their verdicts, and published numbers next to ours."""

import math
from functools import cached_property

import pandas as pd

from rfstudy.metrics import FACTS, fact_of
from rfstudy.report import tables
from rfstudy.report.aggregate import select
from rfstudy.report.claims.points import MEANING
from rfstudy.report.compare import CELL_VERDICTS
from rfstudy.report.notes import LEARNER_NAMES, comparability
from rfstudy.report.scorecard import scorecard
from rfstudy.report.typeset import in_words

#: The verdicts on claims.
CLAIM_VERDICTS = (*MEANING, "not run")

#: The states of the parts of a paper.
STATES = ("full", "deviation", "other data", "missing", "cannot be tested")


def markdown(rows: list[dict]) -> str:
    """Return a table of texts and numbers."""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(map(str, row.values())) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def numbers_of(words, verdicts: pd.Series) -> dict[str, int]:
    """Return how often each of some verdicts was given."""
    return {word: int((verdicts == word).sum()) for word in words}


def counted(cells: pd.DataFrame, columns: list[str], words, total: str) -> str:
    """Return how often each of some verdicts was given, by the values of columns, and the number of all verdicts."""
    rows = [
        dict(zip(columns, values, strict=True)) | numbers_of(words, own) | {total: len(own)}
        for values, own in cells.groupby(columns, sort=False)["verdict"]
    ]
    return markdown(rows)


def parts_of_papers(shipped) -> pd.DataFrame:
    """Return the parts of the papers (``data/reference/checklist.csv``), with the ``state`` of each in the shipped rows
    and ``why`` it is no other. Raise ``UserError`` if an output of a part is not configured.
    """
    parts = pd.read_csv(shipped.root / "data" / "reference" / "checklist.csv", dtype=str, keep_default_na=False)
    claims = pd.concat([Page(shipped.with_names_of(paper)).claims for paper in parts["paper"].unique()])
    readings = dict(iter(claims.groupby("claim")))
    found = [
        state_of_claim(part, readings[part.id]) if part.category == "claim" else state_of_rows(part, shipped)
        for part in parts.itertuples()
    ]
    return parts.assign(**dict(zip(("state", "why"), zip(*found, strict=True), strict=True)))


def state_of_claim(part, readings: pd.DataFrame) -> tuple[str, str]:
    """Return the state of a claim and why, from the verdicts on its readings."""
    if len(decided := readings[~readings["verdict"].isin(["not testable", "not run"])]):
        return "full", ", ".join(decided["verdict"].unique())
    aside = readings[readings["verdict"] == "not testable"]
    return ("cannot be tested", aside["reason"].iloc[0]) if len(aside) else ("missing", part.cause)


def state_of_rows(part, shipped) -> tuple[str, str]:
    """Return the state of a part and why, from the rows that it needs: ``column=value|value; ...; repeats=10``.

    There have to be rows for every combination of the values, with so many repeats. Rows that are not there
    give a part its cause.
    """
    if part.output:
        shipped.spec(part.paper, part.output)
    if not part.rows:
        return ("full", "") if part.output else ("missing", part.cause)
    wanted = {key: values.split("|") for key, _, values in (each.partition("=") for each in part.rows.split("; "))}
    experiments, repeats = wanted.pop("experiment"), int(wanted.pop("repeats", ["0"])[0])
    rows = select(shipped.context(*experiments).rows, **{"status": "ok", "stand_in": "", "variant": ""} | wanted)
    if not len(rows):
        return "missing", part.cause
    absent = [each for key, values in wanted.items() for each in values if each not in set(rows[key].astype(str))]
    counts = rows.groupby(list(wanted))["repeat"].nunique()
    cells, fewest = math.prod(map(len, wanted.values())), counts.min()
    lacking = [f"none of {', '.join(absent)}" if absent else f"{len(counts)} of {cells} cells" * (len(counts) < cells)]
    lacking.append(f"{fewest} of {repeats} repeats in places" * bool(fewest < repeats))
    why = [part.deviation, comparability(rows, shipped.tasks), *lacking, part.cause * any(lacking)]
    tasks = [shipped.tasks.get(dataset, {}) for dataset in rows["dataset"].unique()]
    is_other = part.deviation.startswith("other data") or all(isinstance(t.get("not_comparable"), str) for t in tasks)
    text = "; ".join(filter(None, why))
    return "other data" if is_other else "deviation" if text else "full", text.removeprefix("other data: ")


class Page:
    """The values of the page of a paper; ``shipped`` are the measurements with its names (``render.Shipped``)."""

    def __init__(self, shipped):
        self.paper, self.shipped = shipped.paper, shipped
        self.specs = [spec for spec in shipped.reports if spec["paper"] == self.paper]

    # --- claims -------------------------------------------------------------------------------------------------------

    @cached_property
    def claims(self) -> pd.DataFrame:
        """Return a row per claim and reading (protocol and learner) with its text, verdict and reason."""
        found = []
        for spec in (spec for spec in self.specs if spec["kind"] == "claims"):
            context = self.shipped.context(*spec["experiments"])
            frame = tables.make(context, spec | {"brief": True}).frame.rename(columns={"evidence": "reason"})
            reading = filter(None, (f"`{spec['protocol']}`", LEARNER_NAMES.get(spec.get("learner", ""), "")))
            found.append(frame.assign(reading=" ".join(reading)))
        return pd.concat(found, ignore_index=True).sort_values("claim", kind="stable")

    def claim_counts(self) -> str:
        """Return how many claims have each verdict, by reading."""
        return counted(self.claims, ["reading"], CLAIM_VERDICTS, "claims")

    def claim_table(self) -> str:
        """Return each claim with its verdicts and their reasons; readings with the same verdict share a row."""
        sections = self.shipped.context().texts("claims").set_index("claim_id")["section"]
        rows = []
        for claim, own in self.claims.groupby("claim", sort=False):
            anchor = f'<a id="{claim}"></a>{claim} ({sections[claim]})'
            first = {"claim": anchor, "the paper states": own["says"].iloc[0]}
            for verdict, group in own.groupby("verdict", sort=False):
                why = (group["reason"].iloc[0] or "not measured").replace("|", r"\|").split("; ")
                why = " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in why)
                rows.append(first | {"verdict": f"**{verdict}** ({', '.join(group['reading'])})", "reason": why})
                first = dict.fromkeys(first, "")
        return markdown(rows)

    # --- numbers ------------------------------------------------------------------------------------------------------

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """Return the published numbers next to ours (``scorecard``)."""
        spec = next(spec for spec in self.specs if spec["name"] == "scorecard-all")
        context = self.shipped.context(*spec["experiments"])
        cells = scorecard(context, self.paper, spec["experiments"], spec["scorecard"])
        return cells[cells["protocol"].ne("")]

    @property
    def results(self) -> pd.DataFrame:
        """Return the published numbers without counts of rows, which are not results."""
        counted = [metric for metric, fact in FACTS.items() if fact.tolerance is None]
        return self.numbers[~self.numbers["metric"].isin(counted)]

    def number_counts(self) -> str:
        """Return how many published results have each verdict, by table and protocol. Counts of rows are no results."""
        cells = self.results.assign(protocol=[f"`{protocol}`" for protocol in self.results["protocol"]])
        return counted(cells, ["table", "protocol"], CELL_VERDICTS, "results")

    def compared(self, table: str, metric: str, **wanted) -> str:
        """Return the published numbers of a metric next to ours and the verdict, by data set, size and method.

        Cells that no protocol measured are left out, and their data sets are named below.
        """
        cells = select(self.numbers, table=table, metric=metric, **wanted)
        cells = cells.assign(ran=cells["value"].notna())
        fact, context, rows = fact_of(metric), self.shipped.context(), []
        digits = 2 if fact.is_percentage or cells["over"].any() else 0 if fact.tolerance is None else 4
        for (dataset, size, method), own in cells.groupby(["dataset", "size", "method"], sort=False):
            if not own["ran"].any():
                continue
            row = {"data set": context.name(dataset, self.paper), "s": size, "method": context.label(method)}
            row |= {"published": f"{own['published'].iloc[0]:.{digits}f}"}
            for cell in own.itertuples():
                learner = LEARNER_NAMES.get(cell.learner, "") if own["learner"].nunique() > 1 else ""
                value = f"{cell.value:.{digits}f}, {cell.verdict}" if cell.ran else cell.verdict
                row[" ".join(filter(None, (f"`{cell.protocol}`", learner)))] = value
            rows.append(row)
        frame = pd.DataFrame(rows).fillna("")
        frame = frame.drop(columns=[each for each in ("s", "method") if frame[each].nunique() == 1])
        measured = cells.groupby("dataset", sort=False)["ran"].any()
        missing = [context.name(dataset, self.paper) for dataset in measured.index[~measured]]
        return markdown(frame.to_dict("records")) + (f"\n\nNot measured: {', '.join(missing)}." if missing else "")

    def values(self, name: str, *, rows: str = "data_set", digits: int = 3, **wanted) -> str:
        """Return our values of a table, with a column for each method and a row for each value of another column."""
        found = select(self.shipped.table(self.paper, name).fillna("").astype(str), **wanted)
        found = found[found["value"] != ""]
        found = found.assign(value=[f"{float(number):.{digits}f}" for number in found["value"]])
        table = found.pivot(index=rows, columns="method", values="value").fillna("")
        table = table.reindex(index=found[rows].unique(), columns=found["method"].unique())
        return markdown(table.reset_index(names=rows.replace("_", " ")).to_dict("records"))

    def cells(self, name: str, columns: list[str], **wanted) -> str:
        """Return columns of a table as it is drawn."""
        frame = self.shipped.made(self.paper, name).frame
        frame = in_words(select(frame.assign(**{key: frame[key].astype(str) for key in wanted}), **wanted)[columns])
        return markdown(frame.to_dict("records"))

    def note(self, name: str, start: str) -> str:
        """Return the note under a table that has this start."""
        return next(note for note in self.shipped.made(self.paper, name).notes if note.startswith(start))

    def drawn(self, *ids: str) -> str:
        """Return the files of the tables and figures with these ids, drawn from measured rows."""
        files = []
        for identifier in ids:
            specs = [spec for spec in self.specs if spec["id"] == identifier]
            shipped = {name for each in specs for name in each["experiments"] if self.shipped.has([name])}
            there = [each["protocol"] for each in specs if not each["experiments"] or shipped & {*each["experiments"]}]
            ending = "md" if specs[0]["form"] == "tables" else "pdf"
            protocols = there[0] if len(there) == 1 else f"{{{','.join(there)}}}"
            files += [f"`{identifier}-{protocols}.{ending}`"] if there else []
        return f"Drawn in `figures/measured/{self.paper}`: {', '.join(files)}." if files else "Not measured yet."
