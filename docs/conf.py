"""The site, made by Sphinx: it reads the library's NumPy docstrings, and its search needs no server.

``make docs`` builds it into docs/_build. Pages are MyST Markdown and may use Jinja. The lists of maps, kernels and
learners come from the library, and the examples run while the site is built.
"""

import contextlib
import io
import re
import runpy
import sys
from pathlib import Path

import jinja2
from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "src"))

import random_features  # noqa: E402
from random_features.kernels import KERNELS  # noqa: E402
from random_features.maps.registry import ALIASES, list_maps, map_class  # noqa: E402
from rfstudy.tidy import MEANINGS  # noqa: E402

project, release = "Random Features, Reproduced", random_features.__version__
html_title = project
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_static_path = ["arena.html"]  # not next to arena.md, whose page has the same name
html_copy_source = html_show_copyright = False
html_math_renderer = "mathml"  # browsers show MathML without a script
myst_heading_anchors = 4
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
suppress_warnings = ["misc.highlighting_failure"]  # CSV has no lexer

#: Pages with Jinja; the others may show templates.
TEMPLATES = ("changelog", "configuration", "contributing", "examples", "index", "reference", "results")
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


def output(example: str) -> str:
    """Return what an example prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(HERE / "examples" / f"{example}.py"))
    return printed.getvalue()


def text_of(file: str) -> str:
    """Return the text of a file of the repository."""
    return (HERE.parent / file).read_text(encoding="utf-8")


def functions_of_learners() -> dict[str, list[str]]:
    """Return the public functions of each module of learners; boehning is a part of logistic."""
    modules = sorted(Path(random_features.__file__).parent.glob("learners/*.py"))
    found = {
        path.stem: re.findall(r"^def ((?:fit|cross_validate|predict)_\w+)", path.read_text("utf-8"), re.MULTILINE)
        for path in modules
    }
    return {name: names for name, names in found.items() if names and name != "boehning"}


def read(app, page: str, source: list[str]) -> None:
    """Fill in the Jinja of a page, and let its links to other files lead to pages."""
    if page.startswith(TEMPLATES):
        facts = {"maps": list_maps(), "map_class": map_class, "aliases": ALIASES, "kernels": KERNELS.values()}
        facts["learners"] = functions_of_learners()
        facts["columns"] = MEANINGS
        facts["papers"] = any(HERE.glob("papers/*.md"))
        source[0] = jinja2.Template(source[0], trim_blocks=True).render(facts, output=output, text_of=text_of)
    for target, there in ELSEWHERE.items():
        source[0] = source[0].replace(target, there)


def write_formula(writer, node) -> None:
    """Write a formula as MathML, without the sizes of brackets, which MathML chooses itself."""
    formula = re.sub(r"\\[Bb]ig\b", "", node.astext()).replace(r"\dots", r"\ldots")
    writer.body.append(tex2mathml(formula, as_block=node.tagname == "math_block"))
    raise SkipNode


def setup(app) -> None:
    """Connect the functions of this file to Sphinx."""
    app.connect("source-read", read)
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
