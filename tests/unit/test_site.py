"""The examples run. The site that ``make docs`` built has no broken link, and a browser finds its pictures."""

import re
import runpy
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from checkouts import ROOT

from rfstudy import render

SITE = ROOT / "docs" / "_build"
needs_site = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="no site: make docs builds it")
needs_browser = pytest.mark.skipif(not shutil.which("chromium"), reason="no browser: Debian's package is chromium")


@pytest.mark.parametrize("example", sorted((ROOT / "docs" / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs(example, capsys):
    runpy.run_path(str(example))
    assert re.search(r"\d", capsys.readouterr().out)


def test_the_tables_of_the_reference_are_those_of_the_library():
    made = runpy.run_path(str(ROOT / "docs" / "reference.py"), run_name="reference")
    for page in made["PAGES"]:
        text = page.read_text(encoding="utf-8")
        assert made["written"](text) == text, f"run: python docs/reference.py ({page.name})"
        for link in re.findall(r"\]\((\.\./\.\./src/.*?)\)", text):
            assert (page.parent / link).exists()
    for item in (item for items in made["documented"]().values() for item in items if isinstance(item, type)):
        assert ">>> " in item.__doc__ or item.__name__ in ("RandomFeatureMap", "LinearModel", "CertifiedModel"), item


def test_pages_that_the_guide_leads_to_can_be_read_in_the_repository():
    text = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    for link in {path.partition("#")[0] for path in re.findall(r"\]\(([\w/.-]+\.md[^)]*)\)", text)}:
        assert not re.search(r"\{[{%]|eval-rst", (ROOT / "docs" / link).read_text(encoding="utf-8")), link


def test_the_folder_of_figures_lists_the_pictures():
    text = (ROOT / "figures" / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"docs/pictures/([\w-]+\.png)\) \| `measured/(\w+)/([\w-]+)`", text)
    assert listed == [(name, paper, figure) for name, (paper, figure, _) in render.PICTURES.items()]


class Page(HTMLParser):
    """The ids, links and pictures of a page."""

    def __init__(self, path: Path):
        super().__init__()
        self.ids, self.targets, self.pictures = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.add(found.get("id"))
        self.targets += [found[key] for key in ("href", "src") if key in found]
        self.pictures += [found] if tag == "img" else []


@pytest.fixture(scope="module")
def pages() -> dict[Path, Page]:
    return {path: Page(path) for path in SITE.rglob("*.html") if "_static" not in path.parts}


@needs_site
def test_links_lead_to_a_page_and_a_place_on_it_and_pictures_have_a_text(pages):
    for path, page in pages.items():
        for link in map(urlsplit, page.targets):
            assert not (link.netloc and link.path.endswith((".js", ".css"))), f"{path.name} loads {link.geturl()}"
            if not (link.scheme or link.netloc):
                target = (path.parent / unquote(link.path)).resolve() if link.path else path
                assert target.exists(), f"{path.name} links to {link.geturl()}"
                named = target in pages and link.fragment not in ("", "top")
                assert not named or unquote(link.fragment) in pages[target].ids, f"{path.name} links to {link.geturl()}"
        assert all(len(picture["alt"]) > 10 for picture in page.pictures), f"{path.name} has a picture without a text"


@needs_site
def test_measured_tables_and_figures_are_on_the_pages_that_name_them():
    for page in [*SITE.glob("papers/*.html"), SITE / "evidence.html", SITE / "arena.html"]:
        text = page.read_text(encoding="utf-8")
        assert "Drawn in <code" not in text, page.name
        assert re.search(r"<details id=|<figure id=", text), page.name


def dumped(address: str, *options: str) -> str:
    """The page of an address as the browser has it after its scripts ran."""
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"]
    return subprocess.run([*command, *options, address], capture_output=True, text=True, timeout=200, check=True).stdout


@needs_site
@needs_browser
def test_no_page_is_wider_than_a_phone(tmp_path):
    names = ["index", "findings", "evidence", "which-map", "arena", "guide", "papers/survey", "reference/maps"]
    addresses = [(SITE / f"{name}.html").as_uri() for name in [*names, "_static/arena"]]
    (tmp_path / "phone.html").write_text(
        f"""<body><script>
        const widths = [], measure = async () => {{
          for (const address of {addresses}) {{
            const frame = document.createElement("iframe");
            frame.width = 390;
            frame.src = address;
            document.body.append(frame);
            await new Promise(done => frame.onload = done);
            widths.push("width " + frame.contentDocument.documentElement.scrollWidth);
            frame.remove();
          }}
          document.body.innerText = widths.join();
        }};
        measure();
        </script>"""
    )
    found = re.findall(r"width (\d+)", dumped((tmp_path / "phone.html").as_uri(), "--allow-file-access-from-files"))
    assert len(found) == len(addresses)
    assert max(map(int, found)) <= 390


@needs_site
@needs_browser
def test_a_browser_opens_the_first_page_searches_and_finds_every_picture(pages, tmp_path):
    assert "Random Features, Reproduced</title>" in dumped(f"file://{SITE}/index.html")
    found = dumped(f"file://{SITE}/search.html?q=TensorSketch")
    assert 'href="reference/classes/TensorSketch.html#random_features.maps.TensorSketch"' in found
    addresses = {(path.parent / picture["src"]).as_uri() for path, page in pages.items() for picture in page.pictures}
    album = "".join(f'<img src="{address}" onload="this.alt=this.naturalWidth">' for address in addresses)
    (tmp_path / "album.html").write_text(album)
    assert len(re.findall(r'alt="[1-9]\d*"', dumped(f"file://{tmp_path}/album.html"))) == len(addresses) > 0
