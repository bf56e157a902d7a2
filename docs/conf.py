"""The site, made by Sphinx: it reads the library's NumPy docstrings, and its search needs no server.

``make docs`` builds it into docs/_build. Pages are MyST Markdown that can be read in the repository, too. Here they get
what only the site has: a page per class and function, the output of the examples, and the measured tables and figures.
"""

import contextlib
import html
import io
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import jinja2
from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

import reference  # noqa: E402

import random_features  # noqa: E402

project, release = "Random Features, Reproduced", random_features.__version__
html_title = project
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_static_path = ["arena.html", "site.css"]  # not next to arena.md, whose page has the same name
html_css_files = ["site.css"]
html_copy_source = html_show_copyright = False
html_math_renderer = "mathml"  # browsers show MathML without a script
myst_heading_anchors = 4
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
suppress_warnings = ["misc.highlighting_failure"]  # CSV has no lexer

#: Pages with Jinja; the others may show templates.
TEMPLATES = ("changelog", "configuration", "contributing", "reference-data")
#: Where files outside of this folder are on the site, by the beginnings of links.
ELSEWHERE = {
    "](../config/README.md": "](configuration.md",
    "](../data/reference/README.md": "](reference-data.md",
    "](../../docs/": "](",
    "](../docs/": "](",
    "](docs/": "](",
    "](CHANGELOG.md": "](changelog.md",
    '<a href="arena.html">': '<a href="_static/arena.html">',
}
#: Members that the page of a class lists.
MEMBERS = {
    "RandomFeatureMap": "fit, transform, transform_blocks, draw, learn, restore, prefix, set_params",
    "LinearModel": "",
}
#: The measured tables and figures, and sentences of pages that name some of them.
MEASURED, COPIED = HERE.parent / "figures" / "measured", set()
NAMED = (
    r"Drawn in `figures/measured/(?P<paper>\w+)`: (?P<names>.*)\.$",
    r"Tables?: `figures/measured/(?P<paper>study)/(?P<names>[\w-]+)\.md`\.$",
    r"Tables?: (?P<names>`.*`) \(\[(?P<paper>\w+)\]\(papers/\w+\.md\)\)\.$",
    r"(?:Full tables|Tables): (?P<names>`.*`) in `figures/measured/(?P<paper>study)`\.$",
)


def output(example: str) -> str:
    """Return what an example prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(HERE / "examples" / f"{example}.py"))
    return printed.getvalue()


def with_output(link: re.Match) -> str:
    """Return the code of an example and what it prints, in place of a link to it."""
    name = link["name"]
    code = f"```{{literalinclude}} examples/{name}.py\n:language: python\n```"
    return f"{code}\n\nIt prints:\n\n```text\n{output(name)}\n```"


def text_of(file: str) -> str:
    """Return the text of a file of the repository."""
    return (HERE.parent / file).read_text(encoding="utf-8")


def repository() -> str:
    """Return the address of the repository that the clone comes from, or an empty text."""
    asked = ["git", "-C", str(HERE), "config", "--get", "remote.origin.url"]
    found = subprocess.run(asked, capture_output=True, text=True).stdout.strip().removesuffix(".git")
    found = re.sub(r"^git@([^:]+):", r"https://\1/", found)
    return found if found.startswith("https://") else ""


def drawn(paper: str, name: str, up: str) -> str:
    """Return a measured table or figure as HTML with links to its files, or nothing if it is not there."""
    files = {path.suffix[1:]: path for path in MEASURED.glob(f"{paper}/{name}.*")}
    if not files:
        return ""
    COPIED.update(files[ending] for ending in ("png", "pdf", "csv") if ending in files)
    caption = " ".join(html.escape(files["txt"].read_text("utf-8").split("\n\n")[0]).split())
    links = [
        f'<a href="{up}measured/{paper}/{name}.{each}">{each.upper()}</a>' for each in ("pdf", "csv") if each in files
    ]
    linked = f"{caption} {', '.join(links)}."
    if "png" in files:
        at = f"{up}measured/{paper}/{name}"
        shown = f'<a href="{at}.pdf"><img src="{at}.png" alt="{caption}" loading="lazy"></a>'
        return f'<figure id="{name}">{shown}<figcaption>{linked}</figcaption></figure>'
    page = (MEASURED / "pages" / paper / f"{name}.html").read_text("utf-8")
    content = re.search(r'<div class="wide">(.*)<p class="files">', page, re.DOTALL)[1]
    content = re.sub(r"<caption>.*?</caption>", "", content)
    start = f'<details id="{name}"><summary><b>{name}</b>: {linked}</summary>'
    return f'{start}<div class="wide">{content}</details>'


def with_outputs(sentence: re.Match, up: str) -> str:
    """Return the tables and figures that a sentence names; the sentence itself if they are not drawn."""
    names = re.findall(r"([a-z0-9-]+)(?:\{([\w,]+)\})?(?:\.(?:md|pdf))?", sentence["names"].replace("` and `", "`, `"))
    found = [
        drawn(sentence["paper"], f"{stem}{protocol}", up)
        for stem, protocols in names
        for protocol in protocols.split(",")
    ]
    return "\n\n````{raw} html\n" + "\n".join(found) + "\n````\n" if any(found) else sentence[0]


def read(app, page: str, source: list[str]) -> None:
    """Fill in what only the site has, and let links to other files lead to pages."""
    if page in TEMPLATES:
        source[0] = jinja2.Template(source[0], trim_blocks=True).render(text_of=text_of)
    if page == "index" and (address := repository()):
        source[0] = source[0].replace("a clone of the repository", f"a clone of [the repository]({address})")
    if page == "examples":
        source[0] = re.sub(r"^\[(?P<name>\w+)\.py\]\(.*\)$", with_output, source[0], flags=re.MULTILINE)
    if page.startswith("reference/"):
        source[0] = re.sub(r"\[(\w+)\]\(\.\./\.\./src/.*?\)", r"[\1](classes/\1.md)", source[0])
        listed = [f"classes/{each.__name__}" for each in reference.documented().get(page.partition("/")[2], [])]
        if listed:
            source[0] += "\n".join(["\n```{toctree}", ":hidden:", "", *listed, "```\n"])
    up = "../" * page.count("/")
    for pattern in NAMED:
        source[0] = re.sub(pattern, lambda each: with_outputs(each, up), source[0], flags=re.MULTILINE)
    for target, there in ELSEWHERE.items():
        source[0] = source[0].replace(target, there)


def write_classes(app, config) -> None:
    """Write a page for each public class and function of the library, with its source and its example."""
    folder = HERE / "reference" / "classes"
    folder.mkdir(exist_ok=True)
    for listed_on, items in reference.documented().items():
        for item in items:
            name, is_class = item.__name__, isinstance(item, type)
            module = item.__module__ if listed_on == "learners" or name in MEMBERS else f"random_features.{listed_on}"
            lines = [f".. auto{'class' if is_class else 'function'}:: {module}.{name}"]
            lines += [f"   :members: {MEMBERS[name]}"] if name in MEMBERS else []
            shared = "Its methods are those of [RandomFeatureMap](RandomFeatureMap.md).\n\n" * (
                listed_on == "maps" and name not in MEMBERS
            )
            text = "\n".join([f"# {name}\n", "```{eval-rst}", *lines, "```\n", shared])
            (folder / f"{name}.md").write_text(text, "utf-8")


def copy_outputs(app, error) -> None:
    """Copy the files of the tables and figures that pages show."""
    for path in COPIED:
        target = Path(app.outdir) / "measured" / path.parent.name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def write_formula(writer, node) -> None:
    """Write a formula as MathML, without the sizes of brackets, which MathML chooses itself."""
    formula = re.sub(r"\\[Bb]ig\b", "", node.astext()).replace(r"\dots", r"\ldots")
    writer.body.append(tex2mathml(formula, as_block=node.tagname == "math_block"))
    raise SkipNode


def setup(app) -> None:
    """Connect the functions of this file to Sphinx."""
    app.connect("config-inited", write_classes)
    app.connect("source-read", read)
    app.connect("build-finished", copy_outputs)
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
