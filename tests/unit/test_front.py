"""The front page says what the shipped rows say, and its pictures are drawn from them."""

import io
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from random_features.errors import UserError
from random_features.maps.registry import REGISTRY
from rfstudy import front
from rfstudy.report.compare import CELL_VERDICTS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

#: Bytes of a picture that a reader should not wait for.
MOST_BYTES = 200_000


@pytest.fixture(scope="module")
def shipped():
    return front.Shipped(ROOT)


@pytest.fixture
def copy(tmp_path):
    """A repository with the configuration and the printed numbers, and without measured rows."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copytree(ROOT / "data" / "reference", tmp_path / "data" / "reference")
    (tmp_path / "data" / "measured").mkdir()
    return tmp_path


def test_the_page_is_what_the_shipped_rows_say(shipped):
    assert front.written(README, front.sections(shipped)) == README, "run `snakemake --cores 1 front_page` and commit"


def test_the_picture_and_the_findings_come_before_any_instruction():
    first = min(README.index(sign) for sign in ("```", "`make ", "`snakemake --cores 2", "pip install"))
    assert README.index("](docs/pictures/printed-against-ours.png)") < README.index("## Three findings") < first
    part = README[README.index("## Three findings") : README.index("## What is measured")]
    assert len(re.findall(r"^\* \*\*", part, re.MULTILINE)) == 3


@pytest.mark.parametrize("name", front.PICTURES)
def test_a_picture_is_drawn_from_the_shipped_rows(shipped, name):
    path = ROOT / "docs" / "pictures" / name
    assert path.exists() == front.drawable(shipped, name) == (f"](docs/pictures/{name})" in README)
    if not path.exists():
        return
    assert path.stat().st_size < MOST_BYTES
    there, again = (Image.open(io.BytesIO(each)) for each in (path.read_bytes(), front.picture(shipped, name)))
    assert there.text["Source"] == front.digest(shipped, name)
    assert there.text["Description"] == again.text["Description"]
    pixels = [np.asarray(each.convert("RGB"), dtype=float) for each in (there, again)]
    np.testing.assert_allclose(*pixels, atol=8)


def test_the_colours_of_the_verdicts_stay_apart(shipped):
    """Reproduced and better, which fewer colours would run together."""
    colours = {tuple(colour) for colour in np.asarray(Image.open(ROOT / "docs/pictures/printed-against-ours.png")
               .convert("RGB")).reshape(-1, 3)}  # fmt: skip
    for expected in ("#0072B2", "#009E73", "#D55E00"):
        wanted = np.array([int(expected[i : i + 2], 16) for i in (1, 3, 5)])
        assert min(np.abs(np.array(colour) - wanted).max() for colour in colours) < 12


def test_nothing_is_called_measured_that_has_no_rows(copy):
    none = front.Shipped(copy)
    text = front.measured(none)
    assert f"Maps with measured rows (0 of {len(REGISTRY)})" in text
    assert all(line.split("|")[2:4] == [" - ", " 0.0 "] for line in text.splitlines()[2:] if line.startswith("|"))
    for name in ("theory-decay.csv.xz", "theory-decay.provenance.json"):
        shutil.copy(ROOT / "data" / "measured" / name, copy / "data" / "measured")
    one = front.Shipped(copy)
    (line,) = [line for line in front.measured(one).splitlines() if line.startswith("| `survey`")]
    assert line.split("|")[2].split() == ["`theory-decay`"]
    assert "`theory-decay`" not in line.split("|")[4]
    assert "rff" in one.methods
    assert one.methods < set(REGISTRY)


def test_a_picture_without_rows_is_none_and_says_what_it_needs(copy):
    none = front.Shipped(copy)
    for name in front.PICTURES:
        assert not front.drawable(none, name)
        assert front.shown(none, name).startswith("Not shipped yet: ")


def test_the_verdicts_are_those_of_the_scorecards(shipped):
    lines = [line.strip("| ").split(" | ") for line in front.verdicts(shipped).splitlines()]
    heads, rows = lines[0], lines[2:]
    for row in rows:
        told = dict(zip(heads, row, strict=True))
        cells = shipped.table(told["paper"].strip("`"), "scorecard-all")
        own = cells[cells["protocol"].eq(told["protocol"]) & ~cells["quantity"].str.contains("rows|columns")]
        assert int(told["printed"]) == len(own) == sum(int(told[word]) for word in CELL_VERDICTS)
        assert int(told["reproduced"]) == own["verdict"].eq("reproduced").sum()


def scaled(table, column, value, **where):
    """A table in which some numbers are others."""
    table = table.copy()
    chosen = np.logical_and.reduce([table[key].eq(what) for key, what in where.items()])
    assert chosen.any()
    table.loc[chosen, column] = value
    return table


@pytest.mark.parametrize(
    ("finding", "name", "column", "value", "where"),
    [
        (front.printed_accuracies, "table-03-cells-text", "verdict", "reproduced", {"verdict": "worse"}),
        (front.penalty, "ablation-code", "value", 70.0, {"step_id": "smaller-penalty", "quantity": "accuracy"}),
        (front.maps_alike, "values-approximation-error-text", "value", 9.0, {"size": "8d", "method_id": "orf"}),
    ],
)
def test_a_finding_that_no_longer_holds_is_an_error_and_no_sentence(shipped, finding, name, column, value, where):
    class Other:
        def table(self, paper, asked):
            table = shipped.table(paper, asked)
            return scaled(table, column, value, **where) if asked == name else table

    assert finding(shipped).startswith("**")
    with pytest.raises(UserError, match="the shipped rows no longer say that"):
        finding(Other())


@pytest.mark.parametrize("page", ["", f"{front.mark('a')}\n", f"{front.mark('a')}\n<!-- end of a -->\n" * 2])
def test_a_page_without_the_place_of_a_section_is_told(page):
    with pytest.raises(UserError, match=r"README\.md needs the lines .* once"):
        front.written(page, {"a": "text"})
    assert front.written(f"x\n{front.mark('a')}\nold\n<!-- end of a -->\ny", {"a": "new"}).splitlines()[3] == "new"


def test_the_page_names_as_many_maps_as_there_are_and_files_that_exist():
    assert f"a library of {len(REGISTRY)} feature maps" in README
    links = re.findall(r"\]\(((?!https?:)[^)#]+)", README)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []
