"""report.html: every output of a run with its caption, by paper, from one file that loads nothing from elsewhere.

What is in the file is read from it; that a browser shows it is seen in one, where the machine has one.
"""

import base64
import html.parser
import io
import json
import re
import shutil
import subprocess

import pytest
from PIL import Image

#: Names under which a browser that runs without a display may be installed.
BROWSERS = (
    "chromium",
    "chromium-headless-shell",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)

#: Looks at everything in the report as its buttons do, and puts what it found in place of the page.
LOOK = """
<script>
(async () => {
  const until = async (holds) => {
    for (let i = 0; i < 200 && !holds(); i++) await new Promise((done) => setTimeout(done, 25));
  };
  const items = () => [...document.querySelectorAll("#app li")];
  await until(() => items().length);
  const loaded = (frame) => new Promise((done) => { frame.onload = () => done(frame.contentDocument); });
  const found = {menu: items().map((item) => item.textContent), outputs: {}};
  for (const [path, result] of Object.entries(results)) {
    const frame = document.createElement("iframe");
    frame.srcdoc = atob(result.data_uri.split(",")[1]);
    const ready = loaded(frame);
    document.body.append(frame);
    const page = await ready;
    found.outputs[path] = {
      images: [...page.images].map((image) => image.complete && image.naturalWidth),
      rows: page.querySelectorAll("tbody tr").length,
    };
    frame.remove();
    app.setView({content: "html", contentPath: result.data_uri, resultPath: path});
    const shown = () => [...document.querySelectorAll("#app iframe")].some((each) => each.src === result.data_uri);
    await until(shown);
    found.outputs[path].shown = shown();
  }
  found.requests = performance.getEntriesByType("resource").map((entry) => entry.name)
    .filter((name) => !name.startsWith("data:"));
  document.body.textContent = "FOUND" + JSON.stringify(found) + "END";
})();
</script>
"""


class Page(html.parser.HTMLParser):
    """What a page of HTML has: its images, everything that it would load, and the texts of its elements."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.images, self.texts, self.open = [], [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.loads += [attributes[name] for name in ("src", "href", "data", "srcset") if name in attributes]
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


def drawn_at(figures, page: str):
    """Where the picture of a page would be, were it one of a figure."""
    return figures / f"{page.removeprefix('figures/quick/pages/').removesuffix('.html')}.png"


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
            assert document(uri) == drawn_at(path.parent, name).read_bytes()
            with Image.open(io.BytesIO(document(uri))) as picture:
                picture.load()
        assert page.images or any(name == "th" or name.startswith("col_heading") for name in page.texts)
    assert pictures == len(list((finished.folder / "figures/quick").glob("*/*.png"))) > 0
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)\s*=\s*["']?(?:https?:)?//""", text)


def test_papers_follow_the_scorecard(report):
    categories = list(report[2])
    assert categories
    # Snakemake sorts them by name
    known = ["1 Scorecard", "2 Survey", "3 EERF", "4 NSRF", "5 SLS-RFF", "6 The library"]
    assert all(any(name.startswith(each) for each in known) for name in categories)
    assert "2 Survey (Liu et al. 2021)" in categories


def test_a_browser_shows_every_output_and_loads_every_picture_from_the_file(report, tmp_path):
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"no browser that runs without a display: none of {', '.join(BROWSERS)}")
    path, results, categories = report
    copy = tmp_path / "report.html"
    content, end, rest = path.read_text(encoding="utf-8").rpartition("</body>")
    copy.write_text(f"{content}{LOOK}{end}{rest}", encoding="utf-8")
    done = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
            "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=60000", "--dump-dom", copy.as_uri(),
        ],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    found = re.search(r"FOUND(\{.*\})END", html.unescape(done.stdout), re.DOTALL)
    assert found, done.stderr[-2000:]
    assert "Uncaught" not in done.stderr
    seen = json.loads(found[1])
    assert seen["requests"] == []
    assert set(seen["outputs"]) == set(results)
    for name, output in seen["outputs"].items():
        of_figure = drawn_at(path.parent, name).exists()
        assert len(output["images"]) == of_figure
        assert all(width > 500 for width in output["images"])
        assert of_figure or output["rows"] > 0
        assert output["shown"]
    if len(categories) > 1:
        assert [item for item in seen["menu"] if item in categories] == sorted(categories)
