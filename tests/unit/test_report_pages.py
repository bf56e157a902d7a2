"""The pages of the report: a table or a picture within its page, and captions that are read as text."""

import re

import pandas as pd
from PIL import Image

from rfstudy.report import pages, typeset


def test_a_page_shows_the_parts_of_a_table_and_its_notes_as_text(tmp_path):
    frame = pd.DataFrame({"data set": ["EEG", "skin"], "n": [1, 2000], "d": [14, "<b>"]})
    parts = {"Rows": ["n"], "Columns <d>": ["d"]}
    table = typeset.Table(frame, ["<b>no tag</b> & no entity"], parts=parts, name="t", caption="A caption.")
    typeset.write(table, tmp_path / "survey", ["t.csv", "t.md", "t.tex", "t.txt"])
    pages.write(tmp_path / "survey/t", typeset.html(table), tmp_path / "pages")
    text = (tmp_path / "pages/t.html").read_text(encoding="utf-8")
    assert '<p class="caption">A caption.</p>' in text
    assert "<li>&lt;b&gt;no tag&lt;/b&gt; &amp; no entity</li>" in text
    assert re.findall(r"<caption>(.*?)</caption>", text) == ["Rows", "Columns &lt;d&gt;"]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", text)
    assert cells == ["EEG", "1", "skin", "2,000", "EEG", "14", "skin", "&lt;b&gt;"]
    for ending in ("csv", "md", "tex", "txt"):
        assert f"survey/t.{ending}" in text


def test_a_picture_is_within_its_page(tmp_path):
    (tmp_path / "survey").mkdir()
    Image.new("RGB", (4, 3)).save(tmp_path / "survey/figure-01-text.png")
    (tmp_path / "survey/figure-01-text.txt").write_text("Two\nlines.\n\nA note.\n")
    source = tmp_path / "survey/figure-01-text"
    pages.write(source, pages.picture(source), tmp_path / "pages")
    text = (tmp_path / "pages/figure-01-text.html").read_text(encoding="utf-8")
    assert re.findall(r'<img src="([^,"]+),', text) == ["data:image/png;base64"]
    assert '<p class="caption">Two lines.</p>' in text
    assert "<li>A note.</li>" in text
