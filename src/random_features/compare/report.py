"""Write the answer: a few lines on the console, a page with figures, CSV, and ``best.py``."""

import base64
import html
import io
import pprint
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from random_features import __version__
from random_features.compare import recipe
from random_features.compare.decide import label

#: The text of ``best.py``.
PROGRAM = '''"""Fit the recommended pipeline again: ``python best.py`` prints its test score.

``python best.py --all-rows`` fits all rows and writes best.joblib, which joblib loads where random_features is
installed; its ``predict`` returns labels or numbers.
"""

from random_features.compare.recipe import repeat

if __name__ == "__main__":
    repeat(**{recommended})
'''

#: The style of the page: numbers are aligned at the right.
STYLE = (
    "body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto } td, th { padding: .2em .7em }"
    " td { text-align: right; font-variant-numeric: tabular-nums } img { max-width: 100% }"
)

#: The warnings of one kind that the console shows (the page has all), and the columns that the page shows.
SHOWN, SHOWN_COLUMNS = 6, 500

#: The names of metrics in words.
WORDS = {"error": "error in %", "balanced-error": "balanced error in %", "rmse": "root mean squared error",
         "mae": "mean absolute error", "auc": "AUC", "average-precision": "average precision"}  # fmt: skip


def write_answer(out, file, question, contest, decision, tested, warnings, margin) -> None:
    """Write all files of the answer into a folder and print its lines; the parameters are those of ``compare``."""
    table, target = results_table(contest, decision), question.settings["target"]
    program = "" if decision.kind == "unfinished" else f"; the recommended pipeline: {out / 'best.py'}"
    kinds = sorted(dict.fromkeys(each["warning"] for each in warnings), key="how it was read".__eq__)  # this one last
    evidence = {kind: [each["evidence"] for each in warnings if each["warning"] == kind] for kind in kinds}
    noted = "; ".join(f"{kind} ({'; '.join([*each[:SHOWN], *[f'{len(each) - SHOWN} more'] * (len(each) > SHOWN)])})"
                      for kind, each in evidence.items())  # fmt: skip
    others = "; ".join(map(shown, tested[1:]))
    loss = "mean squared error" if contest.metric == "rmse" else "loss"
    loss += " of the best" if decision.best.losses.mean() else " of the guess, as the best has none"
    answer = [
        f"Answer: {decision.answer}",
        f"Test {WORDS.get(contest.metric, contest.metric)}: {shown(tested[0])}.",
        f"Others on these rows: {others or 'none'}. The margin is {100 * margin:g} % of the {loss}.",
        f"Warnings: {noted or 'none'}.",
        f"Report: {out / 'report.html'}{program}",
    ]
    text = f"Differences to the best on the same rows, in shares of the {loss}; 95 % intervals; margin {margin:g}."
    notes = [*question.notes, *[f"the first {SHOWN_COLUMNS} columns:"] * (len(question.columns) > SHOWN_COLUMNS)]
    sections = [
        ("Warnings", "", pd.DataFrame(warnings)),
        ("Contestants on the validation rows", text, table.drop(columns="settings").sort_values("validation score")),
        ("Error against columns", "", picture_of(table, contest.metric, "columns")),
        ("Error against seconds", "", picture_of(table, contest.metric, "seconds")),
        ("Not run", "", pd.DataFrame(contest.reasons.items(), columns=["contestant", "reason"])),
        ("How the file was read", "; ".join(notes), pd.DataFrame(question.columns[:SHOWN_COLUMNS])),
    ]  # fmt: skip
    write(out / "report.html", page(f"{Path(file).name}: {target}", answer, sections))
    write(out / "results.csv", table.to_csv(index=False))
    if program:
        result = tested[0]["result"]
        chosen = {"file": str(Path(file).resolve()), "most_rows": tested[0]["rows"], "name": result.unit.name,
                  "chosen": result.settings, "settings": question.settings, "version": __version__}  # fmt: skip
        write(out / "best.py", PROGRAM.replace("{recommended}", pprint.pformat(chosen, width=110)))
    else:
        (out / "best.py").unlink(missing_ok=True)
    print(*answer, sep="\n")


def write(path: Path, text: str) -> None:
    """Write a text in UTF-8; bytes of a file name that are no text are escaped."""
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def shown(each) -> str:
    """Return the test score of a contestant with its interval, and with other scores."""
    rows = f", fitted to {each['rows']:,} rows" if each["rows"] else ""
    more = "".join(f"; {WORDS.get(name, name)} {value:.3g}" for name, value in each["more"].items())
    more += f"; it never predicts {', '.join(map(repr, each['never'][:5]))}" if each["never"] else ""
    return f"{label(each['result'])}: {each['score']:.4g} [{each['low']:.4g}, {each['high']:.4g}]{rows}{more}"


def results_table(contest, decision) -> pd.DataFrame:
    """Return a table of all results: what was compared, and the differences of the final ones to the best."""
    compared = {each["result"].unit: each for each in decision.comparisons}
    rows = [
        {
            "contestant": result.unit.name, "training rows": result.unit.n, "columns": result.unit.columns,
            "validation score": recipe.score(result.losses, contest.metric), "seconds": result.seconds,
            **{key: compared.get(result.unit, {}).get(key) for key in ("difference", "low", "high", "verdict")},
            "settings": str(result.settings),
        }
        for result in contest.results
    ]  # fmt: skip
    return pd.DataFrame(rows).astype({"columns": "Int64"})


def page(title, answer, sections) -> str:
    """Return the offline page of sections: a title, text, and a frame or the bytes of a picture. Texts are escaped."""
    parts = [f"<h1>{html.escape(title)}</h1><p class='answer'>{'<br>'.join(map(html.escape, answer))}</p>"]
    for heading, text, content in sections:
        parts.append(f"<h2>{heading}</h2><p>{html.escape(text)}</p>")
        if isinstance(content, bytes):
            parts.append(f"<img alt='{heading}' src='data:image/png;base64,{base64.b64encode(content).decode()}'>")
        else:
            how = {"index": False, "border": 0, "na_rep": "", "float_format": "{:.4g}".format}
            parts.append(content.to_html(**how) if len(content) else "none")
    head = f"<meta charset='utf-8'><title>{html.escape(title)}</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(parts)}</body></html>"


def picture_of(table, metric: str, against: str) -> bytes:
    """Return a picture (PNG) of the validation scores of all contestants against the "columns" of maps, with the others
    as lines, or against the "seconds" of all fits.
    """
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    ax, score, columns = figure.subplots(), "validation score", table["columns"].astype(float)
    for k, (name, rows) in enumerate(table.groupby("contestant", sort=False)):
        x, y, line = rows[against].astype(float), rows[score], "o" if against == "seconds" else "o-"
        if x.isna().all():  # has no columns
            x, y, line = [columns.min(), columns.max()], [y.iloc[-1]] * 2, "--"
        ax.plot(x, y, line, ms=4, color=f"C{k % 10}", label=f"{name} ({rows['training rows'].iloc[-1]:,} rows)")
    ax.set(xscale="log", xlabel=f"{against} ({'of the map' if against == 'columns' else 'to fit and predict'})")
    ax.set(ylabel=f"validation {WORDS.get(metric, metric)}")
    ax.grid(alpha=0.3)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    stream = io.BytesIO()
    figure.savefig(stream, dpi=100, format="png")
    return stream.getvalue()
