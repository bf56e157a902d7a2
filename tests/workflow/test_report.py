"""report.html: every output of a run with its caption, by paper, from one file that loads nothing from elsewhere.

What is in the file is read from it, without a browser.
"""

import base64
import html.parser
import io
import json
import re

import pytest
from PIL import Image


class Page(html.parser.HTMLParser):
    """Collect from a page of HTML its images, everything that it would load, and the texts of its elements."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.images, self.texts, self.open = [], [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        loading = ("src", "href", "data", "srcset") if tag != "a" else ()  # a link loads nothing
        self.loads += [attributes[name] for name in loading if name in attributes]
        self.images += [attributes["src"]] if tag == "img" else []
        self.open.append(attributes.get("class", tag))

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


def document(uri: str) -> bytes:
    """The content of a data URI."""
    head, content = uri.split(",", 1)
    assert head.endswith(";base64")
    return base64.b64decode(content)


@pytest.fixture(scope="module")
def report(finished):
    """The report of the small study: its path, and what it shows by path and by category."""
    finished.snakemake("--cores", "2", *finished.arguments, "--report", "figures/quick/report.html")
    path = finished.folder / "figures/quick/report.html"
    text = path.read_text(encoding="utf-8")
    results, categories = (
        json.loads(re.search(rf'<script id="{name}">\s*var {name} = (.*?);\s*</script>', text, re.DOTALL)[1])
        for name in ("results", "categories")
    )
    return path, results, categories


def test_every_output_is_there_once_with_its_caption_and_its_notes(finished, report):
    _, results, categories = report
    folder = finished.folder / "figures/quick"
    drawn = {str(path.relative_to(folder).with_suffix("")): path for path in folder.glob("*/*.txt")}
    assert len(drawn) >= 9
    assert {path.removeprefix("figures/quick/pages/").removesuffix(".html") for path in results} == set(drawn)
    listed = [path for parts in categories.values() for paths in parts.values() for path in paths]
    assert sorted(listed) == sorted(results)
    for name, path in drawn.items():
        shown = results[f"figures/quick/pages/{name}.html"]
        caption, *notes = path.read_text(encoding="utf-8").strip().split("\n\n")
        page = Page(document(shown["data_uri"]).decode("utf-8"))
        assert page.texts["caption"][0] == caption  # parts of a table have captions of their own
        assert page.texts.get("li", []) == notes


def test_every_picture_is_in_the_file_and_nothing_is_loaded(finished, report):
    path, results, _ = report
    pictures = 0
    for name, shown in results.items():
        page = Page(document(shown["data_uri"]).decode("utf-8"))
        assert page.loads == page.images
        for uri in page.images:
            pictures += 1
            drawn = name.replace("/pages/", "/").removesuffix("html") + "png"
            assert document(uri) == (finished.folder / drawn).read_bytes()
            with Image.open(io.BytesIO(document(uri))) as picture:
                picture.load()
        assert page.images or any(name == "th" or name.startswith("col_heading") for name in page.texts)
    assert pictures == len(list((finished.folder / "figures/quick").glob("*/*.png"))) > 0
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)\s*=\s*["']?(?:https?:)?//""", text)
