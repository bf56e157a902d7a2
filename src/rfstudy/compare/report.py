"""Write the answer: five lines on the console, a page, Markdown, CSV, two figures, and ``best.py``."""

import base64
import html
import io
import pprint
from pathlib import Path

import numpy as np
import pandas as pd

from random_features.errors import UserError
from rfstudy.compare import recipe
from rfstudy.compare.contest import is_map
from rfstudy.compare.decide import label
from rfstudy.files import write_atomically, write_text

#: The program that repeats the recommended pipeline, after the recipe.
PROGRAM = """

FILE = {file!r}
SETTINGS = {settings}
NAME = {name!r}
CHOSEN = {chosen}
MOST_ROWS = {rows!r}
CLASSES = SETTINGS["classes"]  # a prediction is the number of its class in this list


def main():
    table, y, groups = question(FILE, SETTINGS)
    if "--all-rows" in sys.argv:
        rows = sample(np.arange(len(y)), MOST_ROWS)
        pipeline = make_pipeline(encoder(SETTINGS["columns"]), model(NAME, CHOSEN, SETTINGS["task"]))
        joblib.dump(pipeline.fit(rows_of(table, rows), y[rows]), "best.joblib")
        print("fitted to", len(rows), "rows: best.joblib; load it with joblib where best.py can be imported")
    else:
        found = test_losses(table, y, groups, SETTINGS, NAME, CHOSEN, MOST_ROWS)
        print("{measure}: %.4g on %d rows" % (score(found, SETTINGS["task"]), len(found)))


if __name__ == "__main__":
    from best import main  # so that functions in best.joblib belong to this file

    main()
"""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title><style>
body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .2em .7em; border-bottom: 1px solid #ccc; text-align: left }
img { max-width: 100% } .answer { font-size: 1.2em; background: #eef4fb; padding: 1em }
</style></head><body><h1>{{ title }}</h1><p class="answer">{% for line in answer %}{{ line }}<br>{% endfor %}</p>
{% for section in sections %}<h2>{{ section.title }}</h2>
{% if section.text %}<p>{{ section.text }}</p>{% endif %}
{% if section.picture %}<img alt="{{ section.title }}" src="data:image/png;base64,{{ section.picture }}">{% endif %}
{% if section.rows %}<table><tr>{% for key in section.rows[0] %}<th>{{ key }}</th>{% endfor %}</tr>
{% for row in section.rows %}<tr>{% for cell in row.values() %}<td>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</table>{% endif %}
{% endfor %}</body></html>
"""


def write(out, file, question, contest, decision, tested, outer, warnings, reasons, margin) -> None:
    """Write all files of the answer into a folder and print its five lines; the parameters are those of ``compare``."""
    out, task = Path(out), contest.task
    measure = "test error in %" if task == "classes" else "root mean squared test error"
    answer = answer_lines(decision, tested, outer, warnings, measure, margin, out, task)
    table = results_table(contest, decision)
    figures = {"error against columns": columns_figure(contest), "error against seconds": seconds_figure(contest)}
    for name, figure in figures.items():
        for ending in ("png", "pdf"):
            path = out / f"{name.replace(' ', '-')}.{ending}"
            write_atomically(path, lambda target, figure=figure: figure.savefig(target, dpi=110), sync=False)
    write_atomically(out / "results.csv", lambda target: table.to_csv(target, index=False), sync=False)
    sections = sections_of(question, decision, tested, outer, warnings, reasons, table, figures, margin, task)
    title = f"{Path(file).name}: {question.settings['target']}"
    write_text(page(title, answer, sections), out / "report.html", sync=False)
    write_text(markdown(title, answer, sections), out / "report.md", sync=False)
    write_text(program(file, question, tested[0], measure), out / "best.py", sync=False)
    print(*answer, sep="\n")


def answer_lines(decision, tested, outer, warnings, measure, margin, out, task) -> list[str]:
    """Return the five lines of the answer."""
    first, guess = tested[0], tested[-1]
    unit = " %" if task == "classes" else ""
    scores = (
        f"{measure}: {first['score']:.4g} [{first['low']:.4g}, {first['high']:.4g}], of a guess {guess['score']:.4g}"
    )
    if outer:
        scores = f"cross-validated with all its choices: {outer['score']:.4g}{unit}; {measure} with fixed settings: {first['score']:.4g}"
    best = next(each for each in tested if each["result"] is decision.best)
    if best is first:
        against = "It is the best of the validation rows."
    else:
        against = (
            f"The best of the validation rows was {label(decision.best)}: {best['score']:.4g}{unit} on the test rows."
        )
    noted = "; ".join(f"{each['warning']} ({each['evidence']})" for each in warnings)
    return [
        f"Answer: {decision.answer}",
        scores,
        f"{against} Margin: {100 * margin:g} % of the loss of a guess.",
        f"Warnings: {noted or 'none'}",
        f"Report: {out / 'report.html'}; the recommended pipeline: {out / 'best.py'}",
    ]


def results_table(contest, decision) -> pd.DataFrame:
    """Return a table of all results: what was compared, and the differences of the final ones to the best."""
    compared = {id(each["result"]): each for each in decision.comparisons}
    rows = []
    for result in contest.results:
        each = compared.get(id(result), {})
        rows.append({
            "contestant": result.unit.name, "training rows": result.unit.n, "columns": result.unit.columns,
            "validation score": recipe.score(result.losses, contest.task), "seconds": result.seconds,
            **{key: each.get(key) for key in ("difference", "low", "high", "verdict")},
            "settings": str({k: v for k, v in result.settings.items() if k != "options"}),
        })  # fmt: skip
    frame = pd.DataFrame(rows)
    frame["columns"] = frame["columns"].astype("Int64")
    return frame


def sections_of(question, decision, tested, outer, warnings, reasons, table, figures, margin, task) -> list[dict]:
    """Return the sections of the report: dicts with a title, and text, rows of a table or a picture."""
    final = table[table["verdict"].notna()].drop(columns="settings").sort_values("validation score")
    shown = [{key: brief(value) for key, value in row.items()} for row in final.to_dict("records")]
    scores = [
        {
            "contestant": label(each["result"]), "score": f"{each['score']:.4g}",
            "95 % interval": f"[{each['low']:.4g}, {each['high']:.4g}]", "rows of the fit": each["rows"] or "all",
            "loss minus that of the recommended": f"{each['difference']:.3g} ± {each['half']:.2g}",
        }
        for each in tested
    ]  # fmt: skip
    text = (
        f"Differences are losses minus those of the best on the same rows, as a share of the loss of a guess, with 95 % "
        f"intervals. Within the margin: the whole interval is below {margin:g}. Worse: the whole interval is above it."
    )
    nested = f"In the outer folds were recommended: {', '.join(outer['recommended'])}." if outer else ""
    return [
        {"title": "Test part, opened once", "text": nested, "rows": scores},
        {"title": "Warnings", "text": "" if warnings else "none", "rows": warnings},
        {"title": "Contestants on the validation rows", "text": text, "rows": shown},
        *({"title": name.capitalize(), "picture": encoded(figure)} for name, figure in figures.items()),
        {"title": "Not run", "text": "" if reasons else "everything ran", "rows": [{"contestant": k, "reason": v} for k, v in reasons.items()]},
        {"title": "How the file was read", "text": "; ".join(question.notes), "rows": question.columns[:500]},
        {"title": "Settings of the recommended", "text": str(decision.chosen.settings)},
    ]  # fmt: skip


def brief(value):
    """Return a cell of a table for readers."""
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else value


def page(title, answer, sections) -> str:
    """Return the offline page; everything from the file is escaped."""
    from jinja2 import Environment

    return Environment(autoescape=True).from_string(PAGE).render(title=title, answer=answer, sections=sections)


def markdown(title, answer, sections) -> str:
    """Return the report as Markdown; everything from the file is escaped."""
    lines = [f"# {escaped(title)}", *(f"* {escaped(line)}" for line in answer)]
    for section in sections:
        lines += ["", f"## {escaped(section['title'])}", ""]
        if section.get("text"):
            lines += [escaped(section["text"]), ""]
        if section.get("picture"):
            lines.append(f"![{section['title']}]({section['title'].lower().replace(' ', '-')}.png)")
        if section.get("rows"):
            keys = list(section["rows"][0])
            lines += [f"| {' | '.join(map(escaped, keys))} |", "|" + "---|" * len(keys)]
            lines += [f"| {' | '.join(escaped(row[key]) for key in keys)} |" for row in section["rows"]]
    return "\n".join(lines) + "\n"


def escaped(text) -> str:
    """Return a text for Markdown: without markup, in one line.

    >>> escaped("<b>a|b")
    '&lt;b&gt;a\\\\|b'
    """
    text = html.escape(" ".join(str(text).split()), quote=False)
    return "".join(f"\\{sign}" if sign in r"\`*_|[]!#" else sign for sign in text)


def program(file, question, first, measure) -> str:
    """Return the text of ``best.py``: the recipe, and the settings of the recommended contestant."""
    source = Path(recipe.__file__).read_text(encoding="utf-8")
    source = (
        source.partition('"""\n')[2].partition('"""\n')[2]
        if source.startswith('"""\n')
        else source.split('"""\n', 1)[1]
    )
    head = (
        '"""Refit the pipeline that rfstudy recommended and print its test score; with --all-rows fit it for use.\n\n'
        'It was written by ``rfstudy compare`` and needs scikit-learn and random_features.\n"""\n\nimport sys\n\nimport joblib\n'
    )
    result = first["result"]
    end = PROGRAM.format(
        file=str(Path(file).resolve()), name=result.unit.name, rows=first["rows"], measure=measure.replace("%", "%%"),
        settings=pprint.pformat(question.settings, width=110), chosen=pprint.pformat(result.settings, width=110),
    )  # fmt: skip
    return head + source.lstrip("\n") + end


# --- figures ----------------------------------------------------------------------------------------------------------


def columns_figure(contest):
    """Return the figure of the validation score against the columns, with the contestants without a map as lines."""
    figure, ax = empty_figure()
    for k, (name, results) in enumerate(by_name(contest).items()):
        points = [each for each in results if each.unit.n == max(each.unit.n for each in results)]
        scores = [recipe.score(each.losses, contest.task) for each in points]
        if is_map(name):
            ax.plot([each.unit.columns for each in points], scores, "o-", ms=4, color=f"C{k % 10}", label=name)
        else:
            style = {
                "color": f"C{k % 10}",
                "ls": ":" if name == "guess" else "--",
                "lw": 2 if name == "exact kernel" else 1,
            }
            ax.axhline(scores[-1], **style, label=f"{name} ({points[-1].unit.n:,} rows)")
    ax.set(xscale="log", xlabel="columns", ylabel=axis_label(contest))
    return finished(figure, ax)


def seconds_figure(contest):
    """Return the figure of the validation score against the seconds of a fit, with the frontier."""
    figure, ax = empty_figure()
    for k, (name, results) in enumerate(by_name(contest).items()):
        scores = [recipe.score(each.losses, contest.task) for each in results]
        ax.plot([max(each.seconds, 1e-3) for each in results], scores, "o", ms=4, color=f"C{k % 10}", label=name)
    points = sorted((max(each.seconds, 1e-3), recipe.score(each.losses, contest.task)) for each in contest.results)
    best = np.minimum.accumulate([score for _, score in points])
    ax.step([seconds for seconds, _ in points], best, where="post", color="0.5", lw=1, label="frontier")
    ax.set(xscale="log", xlabel="seconds to fit and to predict", ylabel=axis_label(contest))
    return finished(figure, ax)


def by_name(contest) -> dict:
    """Return the results of each contestant."""
    names = dict.fromkeys(each.unit.name for each in contest.results)
    return {name: [each for each in contest.results if each.unit.name == name] for name in names}


def axis_label(contest) -> str:
    """Return the label of the axis of scores."""
    return "validation error in %" if contest.task == "classes" else "root mean squared validation error"


def empty_figure():
    """Return a figure that belongs to no window, and its axes. Raise ``UserError`` where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UserError("the figures need matplotlib: pip install 'rfstudy[compare]'") from error
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    return figure, figure.subplots()


def finished(figure, ax):
    """Return the figure with its legend at the side."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    ax.grid(alpha=0.3)
    return figure


def encoded(figure) -> str:
    """Return a figure as the text of a PNG."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=90)
    return base64.b64encode(stream.getvalue()).decode()
