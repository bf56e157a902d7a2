"""Write the answer: five lines on the console, a page, Markdown, CSV, two figures, and ``best.py``."""

import base64
import html
import pprint
import re
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from random_features.compare import recipe
from random_features.compare.contestants import is_map
from random_features.compare.decide import label
from random_features.compare.files import write_text, write_whole

#: What follows the recipe in ``best.py``. Functions in best.joblib belong to the imported module, not to the script.
PROGRAM = """

# --- the recommended pipeline ---------------------------------------------------------------------------------------

RECOMMENDED = {recommended}

if __name__ == "__main__":
    import best

    best.repeat(**RECOMMENDED)
"""

#: The style of the page.
STYLE = (
    "body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto } td, th { padding: .2em .7em }"
    " img { max-width: 100% } .answer { font-size: 1.2em; background: #eef4fb; padding: 1em }"
)


def write(out, file, question, contest, decision, tested, outer, warnings, reasons, margin) -> None:
    """Write all files of the answer into a folder and print its five lines; the parameters are those of ``compare``."""
    out, error = Path(out), "test error in %" if contest.task == "classes" else "root mean squared test error"
    answer = answer_lines(decision, tested, outer, warnings, error, margin, out)
    table = results_table(contest, decision)
    figures = {f"error against {against}": figure_of(table, error, against) for against in ("columns", "seconds")}
    for name, figure in figures.items():
        write_whole(out / f"{name.replace(' ', '-')}.png", partial(figure.savefig, dpi=100))
    write_whole(out / "results.csv", partial(table.to_csv, index=False))
    name = Path(file).name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    title = f"{name}: {question.settings['target']}"
    sections = sections_of(question, tested, outer, warnings, reasons, table, figures, margin)
    write_text(page(title, answer, sections, out), out / "report.html")
    write_text(markdown(title, answer, sections), out / "report.md")
    write_text(program(file, question, tested[0]), out / "best.py")
    print(*answer, sep="\n")


def answer_lines(decision, tested, outer, warnings, error, margin, out) -> list[str]:
    """Return the five lines of the answer."""
    first, guess = tested[0], next(each for each in tested if each["result"].unit.name == "guess")
    nested = f", cross-validated with all choices: {outer['score']:.4g}; with fixed settings" if outer else ""
    scores = f"{first['score']:.4g} [{first['low']:.4g}, {first['high']:.4g}], of a guess {guess['score']:.4g}"
    rows = f"; fitted to {first['rows']:,} rows" if first["rows"] else ""
    best = [f", with {each['score']:.4g} on the test rows" for each in tested if each["result"] is decision.best]
    against = f"The best on validation rows was {label(decision.best)}{''.join(best)}"
    noted = "; ".join(f"{each['warning']} ({each['evidence']})" for each in warnings)
    return [
        f"Answer: {decision.answer}",
        f"{error.capitalize()}{nested}: {scores}{rows}.",
        f"{against}. The margin is {100 * margin:g} % of the loss of a guess.",
        f"Warnings: {noted or 'none'}.",
        f"Report: {out / 'report.html'}; the recommended pipeline: {out / 'best.py'}",
    ]


def results_table(contest, decision) -> pd.DataFrame:
    """Return a table of all results: what was compared, and the differences of the final ones to the best."""
    compared = {id(each["result"]): each for each in decision.comparisons}
    rows = [
        {
            "contestant": result.unit.name, "training rows": result.unit.n, "columns": result.unit.columns,
            "validation score": recipe.score(result.losses, contest.task), "seconds": result.seconds,
            **{key: compared.get(id(result), {}).get(key) for key in ("difference", "low", "high", "verdict")},
            "settings": str(result.settings),
        }
        for result in contest.results
    ]  # fmt: skip
    return pd.DataFrame(rows).astype({"columns": "Int64"})


def sections_of(question, tested, outer, warnings, reasons, table, figures, margin) -> list[tuple]:
    """Return the sections of the report: title, text, and a frame, the name of a figure or None."""
    final = table[table["verdict"].notna()].drop(columns="settings").sort_values("validation score")
    guess = next(each["losses"].mean() for each in tested if each["result"].unit.name == "guess") or 1.0
    scores = pd.DataFrame(
        {
            "contestant": label(each["result"]), "score": f"{each['score']:.4g}",
            "95 % interval": f"[{each['low']:.4g}, {each['high']:.4g}]", "rows of the fit": each["rows"] or "all",
            "minus the recommended (guess: 1)": f"{each['difference'] / guess:.3g} ± {each['half'] / guess:.2g}",
        }
        for each in tested
    )  # fmt: skip
    text = f"Differences to the best on the same rows, in losses of a guess, with 95 % intervals; margin {margin:g}."
    nested = f"The outer folds recommended {', '.join(outer['recommended'])}." if outer else ""
    left_out = pd.DataFrame(reasons.items(), columns=["contestant", "reason"])
    return [
        ("Test part, opened once", nested, scores),
        ("Warnings", "" if warnings else "none", pd.DataFrame(warnings)),
        ("Contestants on the validation rows", text, final.map(brief)),
        *((name.capitalize(), "", name) for name in figures),
        ("Not run", "" if reasons else "everything ran", left_out),
        ("How the file was read", "; ".join(question.notes), pd.DataFrame(question.columns[:500])),
    ]


def brief(value) -> str:
    """Return a cell of a table for readers."""
    return "" if pd.isna(value) else f"{value:.4g}" if isinstance(value, float) else str(value)


def page(title, answer, sections, out) -> str:
    """Return the offline page; everything from the file is escaped."""
    lines = "<br>".join(map(html.escape, answer))
    parts = [f"<h1>{html.escape(title)}</h1><p class='answer'>{lines}</p>"]
    for heading, text, shown in sections:
        parts.append(f"<h2>{heading}</h2><p>{html.escape(text)}</p>")
        if isinstance(shown, str):
            picture = base64.b64encode((out / f"{shown.replace(' ', '-')}.png").read_bytes()).decode()
            parts.append(f"<img alt='{shown}' src='data:image/png;base64,{picture}'>")
        elif len(shown):
            parts.append(shown.to_html(index=False, border=0))
    head = f"<meta charset='utf-8'><title>{html.escape(title)}</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(parts)}</body></html>"


def markdown(title, answer, sections) -> str:
    """Return the report as Markdown; everything from the file is escaped."""
    parts = [f"# {escaped(title)}", "\n".join(f"* {escaped(line)}" for line in answer)]
    for heading, text, shown in sections:
        parts += [f"## {heading}", *([escaped(text)] if text else [])]
        if isinstance(shown, str):
            parts.append(f"![{shown}]({shown.replace(' ', '-')}.png)")
        elif len(shown):
            parts.append(shown.map(escaped).to_markdown(index=False, disable_numparse=True))
    return "\n\n".join(parts) + "\n"


def escaped(text) -> str:
    """Return a text for Markdown: without markup, in one line.

    >>> print(escaped("<b>a|b"))
    &lt;b&gt;a\\|b
    """
    return re.sub(r"([\\`*_|\[\]!#])", r"\\\1", html.escape(" ".join(str(text).split()), quote=False))


def program(file, question, first) -> str:
    """Return the text of ``best.py``: the recipe, and the settings of the recommended contestant."""
    result, named = first["result"], {"file": str(Path(file).resolve()), "most_rows": first["rows"]}
    named |= {"name": result.unit.name, "chosen": result.settings, "settings": question.settings}
    text = Path(recipe.__file__).read_text(encoding="utf-8")
    return text + PROGRAM.format(recommended=pprint.pformat(named, width=110))


def figure_of(table, error: str, against: str):
    """Return the figure of the validation scores against the "columns" of the maps on the most rows, with the others as
    lines, or against the "seconds" of all fits with their frontier.
    """
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    ax, score = figure.subplots(), "validation score"
    for k, (name, rows) in enumerate(table.groupby("contestant", sort=False)):
        last = rows[rows["training rows"] == rows["training rows"].iloc[-1]]
        if against == "seconds":
            ax.plot(rows["seconds"], rows[score], "o", ms=4, color=f"C{k % 10}", label=name)
        elif is_map(name):
            ax.plot(last["columns"].astype(int), last[score], "o-", ms=4, color=f"C{k % 10}", label=name)
        else:
            how = {"color": f"C{k % 10}", "ls": "--", "lw": 2 if name == "exact-kernel" else 1}
            ax.axhline(last[score].iloc[-1], label=f"{name} ({last['training rows'].iloc[-1]:,} rows)", **how)
    if against == "seconds":
        faster = table.sort_values("seconds")
        ax.step(faster["seconds"], faster[score].cummin(), where="post", color="0.5", lw=1, label="frontier")
    ax.set(xscale="log", xlabel=f"{against} ({'of the map' if against == 'columns' else 'to fit and predict'})")
    ax.set(ylabel=error.replace("test", "validation"))
    ax.grid(alpha=0.3)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    return figure
