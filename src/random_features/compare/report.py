"""Write the answer: a few lines on the console, a page, Markdown, CSV, two figures, and ``best.py``."""

import base64
import html
import io
import pprint
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from random_features import __version__
from random_features.compare import recipe
from random_features.compare.contestants import is_map
from random_features.compare.decide import label
from random_features.compare.files import write_text, write_whole

#: The files of an answer.
FILES = ("report.html", "report.md", "results.csv", "error-against-columns.png", "error-against-seconds.png", "best.py")

#: The text of ``best.py``.
PROGRAM = '''"""Fit the recommended pipeline again: ``python best.py`` prints its test score.

``python best.py --all-rows`` fits all rows and writes best.joblib, which joblib loads where random_features is
installed; its ``predict`` returns labels.
"""

from random_features.compare.recipe import repeat

RECOMMENDED = {recommended}

if __name__ == "__main__":
    repeat(**RECOMMENDED)
'''

#: The style of the page: numbers are aligned at the right.
STYLE = (
    "body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto } td, th { padding: .2em .7em }"
    " td + td { text-align: right; font-variant-numeric: tabular-nums } td:last-child { text-align: left }"
    " img { max-width: 100% } .answer { font-size: 1.2em; background: #eef4fb; padding: 1em }"
)

#: The names of metrics in words.
WORDS = {"error": "error in %", "balanced-error": "balanced error in %", "rmse": "root mean squared error",
         "mae": "mean absolute error", "auc": "AUC"}  # fmt: skip


def write(out, file, question, contest, decision, tested, warnings, reasons, margin) -> None:
    """Write all files of the answer into a folder and print its lines; the parameters are those of ``compare``."""
    out = Path(out)
    error = f"test {WORDS.get(contest.metric, contest.metric)}"
    answer = answer_lines(decision, tested, warnings, error, margin, out)
    table = results_table(contest, decision)
    pictures = {f"error against {against}": picture_of(table, error, against) for against in ("columns", "seconds")}
    for name, picture in pictures.items():
        write_whole(out / f"{name.replace(' ', '-')}.png", lambda path, picture=picture: path.write_bytes(picture))
    write_text(table.to_csv(index=False), out / "results.csv")
    name = Path(file).name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    title = f"{name}: {question.settings['target']}"
    sections = sections_of(question, tested, warnings, reasons, table, pictures, margin)
    write_text(page(title, answer, sections), out / "report.html")
    write_text(markdown(title, answer, sections), out / "report.md")
    if decision.kind == "unfinished":
        (out / "best.py").unlink(missing_ok=True)
    else:
        write_text(program(file, question, tested[0]), out / "best.py")
    print(*answer, sep="\n")


def answer_lines(decision, tested, warnings, error, margin, out) -> list[str]:
    """Return the lines of the answer: the recommendation, its score, the others, warnings, and the files."""

    def shown(each):
        rows = f", fitted to {each['rows']:,} rows" if each["rows"] else ""
        return f"{each['score']:.4g} [{each['low']:.4g}, {each['high']:.4g}]{rows}"

    first = tested[0]
    others = "; ".join(f"{label(each['result'])}: {shown(each)}" for each in tested[1:])
    more = "".join(f"; {name} {value:.3f}" for name, value in first["more"].items())
    noted = "; ".join(f"{each['warning']} ({each['evidence']})" for each in warnings)
    program = "" if decision.kind == "unfinished" else f"; the recommended pipeline: {out / 'best.py'}"
    return [
        f"Answer: {decision.answer}",
        f"{error.capitalize()}: {label(first['result'])}: {shown(first)}{more}.",
        f"Others on the same test rows: {others or 'none'}. The margin is {100 * margin:g} % of the loss of the best.",
        f"Warnings: {noted or 'none'}.",
        f"Report: {out / 'report.html'}{program}",
    ]


def results_table(contest, decision) -> pd.DataFrame:
    """Return a table of all results: what was compared, and the differences of the final ones to the best."""
    compared = {id(each["result"]): each for each in decision.comparisons}
    rows = [
        {
            "contestant": result.unit.name, "training rows": result.unit.n, "columns": result.unit.columns,
            "validation score": recipe.score(result.losses, contest.metric), "seconds": result.seconds,
            **{key: compared.get(id(result), {}).get(key) for key in ("difference", "low", "high", "verdict")},
            "settings": str(result.settings),
        }
        for result in contest.results
    ]  # fmt: skip
    return pd.DataFrame(rows).astype({"columns": "Int64"})


def sections_of(question, tested, warnings, reasons, table, pictures, margin) -> list[tuple]:
    """Return the sections of the report: title, text, and a frame, the bytes of a picture or None."""
    final = table.drop(columns="settings").sort_values("validation score")
    scores = pd.DataFrame(
        {
            "contestant": label(each["result"]), "score": f"{each['score']:.4g}",
            "95 % interval": f"[{each['low']:.4g}, {each['high']:.4g}]", "training rows": each["rows"] or "all",
            **{name: f"{value:.3f}" for name, value in each["more"].items()},
        }
        for each in tested
    )  # fmt: skip
    text = f"Differences to the best on the same rows, in losses of the best, with 95 % intervals; margin {margin:g}."
    return [
        ("Warnings", "" if warnings else "none", pd.DataFrame(warnings)),
        ("Test part, opened once", "", scores),
        ("Contestants on the validation rows", text, final.map(brief)),
        *((name.capitalize(), "", picture) for name, picture in pictures.items()),
        (
            "Not run",
            "" if reasons else "everything ran",
            pd.DataFrame(reasons.items(), columns=["contestant", "reason"]),
        ),
        ("How the file was read", "; ".join(question.notes), pd.DataFrame(question.columns[:500])),
    ]


def brief(value) -> str:
    """Return a cell of a table for readers."""
    return "" if pd.isna(value) else f"{value:.4g}" if isinstance(value, float) else str(value)


def page(title, answer, sections) -> str:
    """Return the offline page; everything from the file is escaped."""
    lines = "<br>".join(map(html.escape, answer))
    parts = [f"<h1>{html.escape(title)}</h1><p class='answer'>{lines}</p>"]
    for heading, text, shown in sections:
        parts.append(f"<h2>{heading}</h2><p>{html.escape(text)}</p>")
        if isinstance(shown, bytes):
            parts.append(f"<img alt='{heading}' src='data:image/png;base64,{base64.b64encode(shown).decode()}'>")
        elif len(shown):
            parts.append(shown.to_html(index=False, border=0))
    head = f"<meta charset='utf-8'><title>{html.escape(title)}</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(parts)}</body></html>"


def markdown(title, answer, sections) -> str:
    """Return the report as Markdown; everything from the file is escaped."""
    parts = [f"# {escaped(title)}", "\n".join(f"* {escaped(line)}" for line in answer)]
    for heading, text, shown in sections:
        parts += [f"## {heading}", *([escaped(text)] if text else [])]
        if isinstance(shown, bytes):
            parts.append(f"![{heading}]({heading.lower().replace(' ', '-')}.png)")
        elif len(shown):
            parts.append(shown.map(escaped).to_markdown(index=False, disable_numparse=True))
    return "\n\n".join(parts) + "\n"


def escaped(text) -> str:
    """Return a text for Markdown: without markup, in one line.

    >>> print(escaped("<b>a|b"))
    &lt;b&gt;a\\|b
    """
    text = html.escape(" ".join(str(text).split()), quote=False)
    return "".join(f"\\{each}" if each in "\\`*_|[]!#" else each for each in text)


def program(file, question, first) -> str:
    """Return the text of ``best.py``: the settings of the recommended contestant."""
    result, named = first["result"], {"file": str(Path(file).resolve()), "most_rows": first["rows"]}
    named |= {
        "name": result.unit.name,
        "chosen": result.settings,
        "settings": question.settings,
        "version": __version__,
    }
    return PROGRAM.format(recommended=pprint.pformat(named, width=110))


def picture_of(table, error: str, against: str) -> bytes:
    """Return a picture (PNG) of the validation scores of all contestants against the "columns" of maps, with the others
    as lines, or against the "seconds" of all fits with their frontier.
    """
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    ax, score = figure.subplots(), "validation score"
    for k, (name, rows) in enumerate(table.groupby("contestant", sort=False)):
        if against == "seconds":
            ax.plot(rows["seconds"], rows[score], "o", ms=4, color=f"C{k % 10}", label=name)
        elif is_map(name):
            ax.plot(rows["columns"].astype(int), rows[score], "o-", ms=4, color=f"C{k % 10}", label=name)
        else:
            how = {"color": f"C{k % 10}", "ls": "--", "lw": 2 if name == "exact-kernel" else 1}
            ax.axhline(rows[score].iloc[-1], label=f"{name} ({rows['training rows'].iloc[-1]:,} rows)", **how)
    if against == "seconds":
        faster = table.sort_values("seconds")
        better = faster[score].cummax() if "precision" in error or "AUC" in error else faster[score].cummin()
        ax.step(faster["seconds"], better, where="post", color="0.5", lw=1, label="frontier")
    ax.set(xscale="log", xlabel=f"{against} ({'of the map' if against == 'columns' else 'to fit and predict'})")
    ax.set(ylabel=error.replace("test", "validation"))
    ax.grid(alpha=0.3)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    stream = io.BytesIO()
    figure.savefig(stream, dpi=100, format="png")
    return stream.getvalue()
