"""README.md is what its template makes of the shipped measurements."""

from pathlib import Path

import pytest

from random_features.errors import UserError
from rfstudy import templates

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def shipped():
    return templates.Shipped(ROOT)


@pytest.mark.slow
def test_the_page_is_what_its_template_makes_of_the_shipped_rows(shipped):
    assert templates.rendered(shipped, "README.md.j2") == (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_pictures_show_the_shipped_rows(shipped):
    for name in templates.PICTURES:
        with templates.Image.open(ROOT / "docs" / "pictures" / name) as picture:
            assert picture.text["Source"] == templates.digest(shipped, name)


def test_a_sentence_that_no_longer_holds_stops_the_build():
    assert templates.holds(True, "it is so") == ""
    with pytest.raises(UserError, match="no longer say that it is so"):
        templates.holds(False, "it is so")


def test_counts_of_verdicts_are_those_of_the_cells(shipped):
    cells = shipped.table("slsrff", "table-03-cells-code")
    found = templates.accuracies(shipped, "code")
    assert found["reproduced"] == (cells["verdict"] == "reproduced").sum()
    assert found["compared"] == (~cells["verdict"].isin(["not comparable", "not run"])).sum()
