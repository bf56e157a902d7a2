"""The pages of the report: a table from its Markdown, a picture within its page, captions that are read as text."""

import re
from pathlib import Path

import pandas as pd
import pytest
from docutils.core import publish_parts
from jinja2 import Environment
from PIL import Image

from random_features.errors import UserError
from rfstudy.report import pages, typeset

NOTES = [
    "s* and n_ in `code` |K - K~| <= 2, see [1]_ and http://a.b:8, {{ braces }} and {% tags %}",
    "3. no list; * no list; .. no comment",
    "<b>no tag</b> & no entity",
]


def written(folder, name, table):
    typeset.write(table, folder / "survey", [f"{name}.csv", f"{name}.md", f"{name}.tex", f"{name}.txt"])


def test_a_table_is_set_with_its_cells_as_they_are_printed(tmp_path):
    frame = pd.DataFrame(
        {"map": ["RFF", "RFF", "a|b <c>"], "rows": [1000, 20, 3], "accuracy": ["71.2 ± 0.3", "", "70.0 ± 1.2"]}
    )
    written(tmp_path, "table-01-text", typeset.Table("table-01-text", frame, "A caption.", NOTES))
    pages.run(["survey/table-01-text"], tmp_path, tmp_path / "pages")
    text = (tmp_path / "pages/survey/table-01-text.html").read_text(encoding="utf-8")
    assert '<p class="caption">A caption.</p>' in text
    assert "&lt;b&gt;no tag&lt;/b&gt; &amp; no entity" in text
    rows = re.findall(r"<tr.*?</tr>", text)
    assert rows == [
        '<tr><th>map</th><th class="number">rows</th><th class="number">accuracy</th></tr>',
        '<tr class="group"><td>RFF</td><td class="number">1,000</td><td class="number">71.2 ± 0.3</td></tr>',
        '<tr><td></td><td class="number">20</td><td class="number"></td></tr>',
        '<tr class="group"><td>a|b &lt;c&gt;</td><td class="number">3</td><td class="number">70.0 ± 1.2</td></tr>',
    ]
    for ending in ("csv", "md", "tex", "txt"):
        assert f"survey/table-01-text.{ending}" in text


def test_a_picture_is_within_its_page(tmp_path):
    (tmp_path / "survey").mkdir()
    Image.new("RGB", (4, 3)).save(tmp_path / "survey/figure-01-text.png")
    (tmp_path / "survey/figure-01-text.txt").write_text("Two\nlines.\n\nA note.\n")
    pages.run(["survey/figure-01-text"], tmp_path, tmp_path / "pages")
    text = (tmp_path / "pages/survey/figure-01-text.html").read_text(encoding="utf-8")
    assert re.findall(r'<img src="([^,"]+),', text) == ["data:image/png;base64"]
    assert '<p class="caption">Two lines.</p>' in text
    assert "<li>A note.</li>" in text


@pytest.mark.parametrize("damage", [lambda content: b"", lambda content: content[:-1], lambda content: content[1:]])
def test_a_picture_that_was_cut_is_on_no_page(tmp_path, damage):
    (tmp_path / "survey").mkdir()
    picture = tmp_path / "survey/figure-01-text.png"
    Image.new("RGB", (4, 3)).save(picture)
    picture.write_bytes(damage(picture.read_bytes()))
    (tmp_path / "survey/figure-01-text.txt").write_text("A caption.\n")
    with pytest.raises(ValueError, match=r"figure-01-text\.png is no whole picture"):
        pages.run(["survey/figure-01-text"], tmp_path, tmp_path / "pages")


@pytest.mark.parametrize("ending", ["txt", "md"])
@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_text("\n")], ids=["gone", "empty"])
def test_an_output_without_its_texts_is_on_no_page(tmp_path, ending, damage):
    written(tmp_path, "table-01-text", typeset.Table("table-01-text", pd.DataFrame({"a": [1]}), "A caption.", NOTES))
    damage(tmp_path / f"survey/table-01-text.{ending}")
    with pytest.raises(UserError, match=rf"table-01-text\.{ending} is missing or empty: remove what is left"):
        pages.run(["survey/table-01-text"], tmp_path, tmp_path / "pages")


def test_a_page_without_its_table_is_not_made(tmp_path):
    written(tmp_path, "table-01-text", typeset.Table("table-01-text", pd.DataFrame({"a": [1]}), "A caption.", []))
    (tmp_path / "survey/table-01-text.md").write_text("A caption.\n")
    with pytest.raises(ValueError, match=r"table-01-text\.md holds no table"):
        pages.run(["survey/table-01-text"], tmp_path, tmp_path / "pages")


@pytest.mark.parametrize(
    "lines", ["| a | b |\n", "| a | b |\n| --- | ---: |\n| 3 |\n", "| a |\n| --- | --- |\n", "|\n|\n"]
)
def test_a_table_that_lacks_a_cell_or_a_line_is_on_no_page(tmp_path, lines):
    written(tmp_path, "table-01-text", typeset.Table("table-01-text", pd.DataFrame({"a": [1]}), "A caption.", []))
    (tmp_path / "survey/table-01-text.md").write_text(f"A caption.\n\n{lines}")
    with pytest.raises(UserError, match=r"table-01-text\.md holds no table, or none that is whole"):
        pages.run(["survey/table-01-text"], tmp_path, tmp_path / "pages")


@pytest.mark.parametrize("text", NOTES)
def test_a_caption_is_read_as_the_text_that_it_is(text, capsys):
    filled_in = Environment().from_string(pages.rst(text, [text])).render()
    body = publish_parts(filled_in, writer="html")["body"]
    assert capsys.readouterr().err == ""
    plain = re.sub(r"<[^>]+>", "", body).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert plain.split() == (text + " " + text).split()


def test_a_divided_table_is_several_with_their_titles(tmp_path):
    frame = pd.DataFrame({"data set": ["EEG", "skin"], "n": [1, 2], "d": [14, 3]})
    parts = {"Rows": ["n"], "Columns <d>": ["d"]}
    written(tmp_path, "t", typeset.Table("t", frame, "A caption.", [], parts=parts, divided=True))
    pages.run(["survey/t"], tmp_path, tmp_path / "pages")
    text = (tmp_path / "pages/survey/t.html").read_text(encoding="utf-8")
    assert re.findall(r"<h2>(.*?)</h2>", text) == ["Rows", "Columns &lt;d&gt;"]
    assert re.findall(r"<td>(\w+)</td>|<td class=\"number\">(\d+)</td>", text) == [
        ("EEG", ""), ("", "1"), ("skin", ""), ("", "2"), ("EEG", ""), ("", "14"), ("skin", ""), ("", "3"),
    ]  # fmt: skip
