"""The page of the arena: it is made from the frozen leaderboard, needs no other file, and works in a browser."""

import re
import runpy
import shutil
import subprocess
from functools import cache

import numpy as np
import pandas as pd
import pytest
from checkouts import ROOT

from rfstudy.report import arena

PAGE = ROOT / "docs" / "arena.html"
MAKER = runpy.run_path(str(ROOT / "docs" / "leaderboard.py"), run_name="leaderboard")
needs_browser = pytest.mark.skipif(not shutil.which("chromium"), reason="no browser: Debian's package is chromium")


@pytest.fixture(scope="module")
def frozen():
    return pd.read_csv(ROOT / "data" / "leaderboard.csv", keep_default_na=False, na_values={"change_pct": [""]})


def test_the_page_is_that_of_the_frozen_leaderboard():
    assert PAGE.read_text(encoding="utf-8") == MAKER["page"](pd.read_csv(ROOT / "data" / "leaderboard.csv"))


def test_the_protocol_opens_with_the_table_of_the_frozen_leaderboard(frozen):
    protocol = (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")
    assert protocol == MAKER["written"](protocol, pd.read_csv(ROOT / "data" / "leaderboard.csv"))
    first = frozen[(frozen["flags"] == "") & ~frozen["dataset"].str.startswith("tab-")]
    own = first[(first["columns"] == 256) & (first["map"] == "ORF")]["change_pct"]
    typical = arena.typical(np.log1p(own.dropna().astype(float) / 100)).value
    (row,) = re.findall(r"^\| ORF \| .* \|$", protocol, re.MULTILINE)
    assert row.split(" | ")[2].startswith(f"{100 * np.expm1(typical):+.0f} (")
    assert protocol.index("| ORF |") < protocol.index("## The protocol")


def test_the_page_needs_no_other_file_and_is_small():
    text = PAGE.read_text(encoding="utf-8")
    assert len(text.encode()) < 200_000
    assert not re.search(r"https?:|\ssrc=|<link|@import|url\(|import\(|fetch\(", text)


def test_the_leaderboard_is_frozen_by_its_date(frozen):
    (date,) = frozen["date"].unique()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", date)
    assert not frozen.duplicated(["dataset", "columns", "method", "variant"]).any()
    assert f"Frozen on {date}" in PAGE.read_text(encoding="utf-8")


@cache
def opened(fragment="", script=""):
    """The page after its scripts ran, as text."""
    page = PAGE
    if script:
        page = PAGE.with_name("arena-in-a-test.html")
        page.write_text(PAGE.read_text(encoding="utf-8").replace("</html>", f"<script>{script}</script></html>"))
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", f"{page.as_uri()}{fragment}"]
    try:
        text = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        return text.partition("<script>")[0]
    finally:
        if script:
            page.unlink()


def rows_of(text):
    """The rows of the table: by map, the texts of its cells."""
    rows = re.findall(r'<tr data-map="([^"]+)"[^>]*>(.*?)</tr>', text)
    cells = {name: re.findall(r"<td>(.*?)</td>", row)[1:] for name, row in rows}
    return {name: [re.sub(r"<.*?>", "", cell).replace("−", "-") for cell in row] for name, row in cells.items()}


@needs_browser
def test_the_page_shows_typical_effects_of_unflagged_data_sets(frozen):
    shown = rows_of(opened())
    maps = frozen[(frozen["columns"] == 256) & (frozen["flags"] == "")]
    errors = maps.assign(error=maps["error_pct"].astype(float)).pivot(index="dataset", columns="map", values="error")
    for name in ("Nyström", "ORF", "LS-RFF"):
        found = arena.typical(np.log(errors[name] / errors["RFF"]).dropna())
        value, low, high = (100 * np.expm1(each) for each in found[:3])
        numbers = [float(number) for number in re.findall(r"[+-][\d.]+", shown[name][2])]
        assert numbers == pytest.approx([round(value, 1), round(low), round(high)], abs=1.01)
        assert numbers[0] == pytest.approx(value, abs=0.11)


@needs_browser
def test_a_data_set_has_its_curves_and_predictors_without_a_map(frozen):
    text = opened("#uci-yacht")
    own = frozen[(frozen["dataset"] == "uci-yacht") & (frozen["method"] == "orf") & (frozen["columns"] == 128)]
    change = own["change_pct"].astype(float).item()
    assert float(re.match(r"[+-][\d.]+", rows_of(text)["ORF"][1])[0]) == pytest.approx(change, abs=0.1)
    assert "uci-yacht: regression" in text
    assert text.count("<polyline") == frozen.query("dataset == 'uci-yacht' and columns > 0")["map"].nunique()


@needs_browser
def test_maps_are_sorted_and_highlighted():
    plain = rows_of(opened())
    there = [name for name, cells in plain.items() if cells[2]]
    assert list(plain)[: len(there)] == there  # maps without a value are last, in both directions
    turned = opened(script="document.querySelector(\"[data-key='256']\").click()")
    assert list(rows_of(turned))[: len(there)] == there[::-1]
    chosen = opened(script="document.querySelector(\"[data-map='ORF']\").click()")
    assert re.search(r'<tr data-map="ORF"[^>]*class="chosen"', chosen)
    assert re.search(r'stroke="#0072b2"[^>]*><title>ORF', chosen)
    few = opened(script='document.getElementById("task").value = "labels"; document.getElementById("task").onchange()')
    assert re.search(r"A typical one of \d+ data sets", few)
