"""The pages of the report: a table from its Markdown, a picture within its page, captions that are read as text."""

import re

import pandas as pd
from PIL import Image

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
    pages.write(tmp_path / "survey/table-01-text", tmp_path / "pages")
    text = (tmp_path / "pages/table-01-text.html").read_text(encoding="utf-8")
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
    pages.write(tmp_path / "survey/figure-01-text", tmp_path / "pages")
    text = (tmp_path / "pages/figure-01-text.html").read_text(encoding="utf-8")
    assert re.findall(r'<img src="([^,"]+),', text) == ["data:image/png;base64"]
    assert '<p class="caption">Two lines.</p>' in text
    assert "<li>A note.</li>" in text


def test_a_divided_table_is_several_with_their_titles(tmp_path):
    frame = pd.DataFrame({"data set": ["EEG", "skin"], "n": [1, 2], "d": [14, 3]})
    parts = {"Rows": ["n"], "Columns <d>": ["d"]}
    written(tmp_path, "t", typeset.Table("t", frame, "A caption.", [], parts=parts, divided=True))
    pages.write(tmp_path / "survey/t", tmp_path / "pages")
    text = (tmp_path / "pages/t.html").read_text(encoding="utf-8")
    assert re.findall(r"<h2>(.*?)</h2>", text) == ["Rows", "Columns &lt;d&gt;"]
    assert re.findall(r"<td>(\w+)</td>|<td class=\"number\">(\d+)</td>", text) == [
        ("EEG", ""), ("", "1"), ("skin", ""), ("", "2"), ("EEG", ""), ("", "14"), ("skin", ""), ("", "3"),
    ]  # fmt: skip
