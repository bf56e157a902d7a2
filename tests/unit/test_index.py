"""The index page of a collection: the outputs that it lists, their order, and what a card says of one."""

import base64
import io
import re

import pytest
from checkouts import ROOT
from PIL import Image

from rfstudy import index

FIGURES = ("survey/figure-09", "survey/figure-10", "survey/figure-02", "survey/overview", "survey/figure-11")
TABLES = ("survey/table-07", "eerf/table-01", "survey/scorecard-all", "study/arena-ranks", "study/pool-size")
UNRUN = {"lines": ["a,not run", "b,published"]}
HALF_RUN = {"lines": ["a,not run", "b,1", "b,2"]}
STAND_IN = {"notes": ["Not the paper's data: EEG (digits stand-in)."]}


def spec(output):
    paper, name = output.split("/")
    kind = "scorecard" if name.startswith("scorecard") else "lines"
    own = {"paper": paper, "id": name, "name": f"{name}-text", "kind": kind, "protocol": "text"}
    return own | {"form": "figures" if output in FIGURES else "tables"}


@pytest.fixture
def collection(tmp_path, monkeypatch):
    """``collection({output: how})`` has the index page of a collection with the files of outputs."""
    monkeypatch.setattr(index, "configured", lambda config: (None, None, None, list(map(spec, FIGURES + TABLES))))

    def written(outputs):
        for output, how in outputs.items():
            source, page = tmp_path / output, tmp_path / "pages" / f"{output}.html"
            for each in (source, page):
                each.parent.mkdir(parents=True, exist_ok=True)
            texts = [f"Caption of\n{source.name}.", *how.get("notes", [])]
            source.with_name(f"{source.name}.txt").write_text("\n\n".join(texts) + "\n")
            source.with_name(f"{source.name}.csv").write_text("\n".join(["heading", *how.get("lines", ["1"])]) + "\n")
            Image.new("RGB", (960, 240), "white").save(source.with_name(f"{source.name}.png"))
            page.write_text("".join(f"<tr>\n<td>{row}</td></tr>" for row in how.get("rows", [])))
        return index.run(tmp_path, ROOT).read_text(encoding="utf-8")

    return written


def test_what_was_measured_comes_first_and_then_the_numbers_of_the_paper(collection):
    """An output whose protocol is another, or that shows a part, is listed; one with a longer name is not."""
    how = {"figure-02": UNRUN, "figure-09": STAND_IN, "figure-10": HALF_RUN, "table-01": UNRUN}
    outputs = {f"{each}-text": how.get(each.partition("/")[2], {}) for each in FIGURES + TABLES}
    text = collection(outputs | {"survey/figure-11-text-only-eeg": {}, "survey/figure-11-textual": {}})
    cards = re.findall(r'class="title" href="pages/(\S+)-text(\S*)\.html">([^<]*)', text)
    assert [(output, shown) for output, _, shown in cards] == [
        ("study/arena-ranks", "Arena ranks"), ("survey/scorecard-all", "Survey: Scorecard all"),
        ("survey/figure-10", "Survey: Figure 10"), *[("survey/figure-11", "Survey: Figure 11")] * 2,
        ("survey/table-07", "Survey: Table VII"), ("survey/overview", "Survey: Overview"),
        ("survey/figure-09", "Survey: Figure 9"), ("survey/figure-02", "Survey: Figure 2"),
        ("eerf/table-01", "EERF: Table 1"), ("study/pool-size", "The library: Pool size"),
    ]  # fmt: skip
    assert [part for _, part, _ in cards if part] == ["-only-eeg"]
    assert "11 tables and figures" in text
    assert re.findall(r'class="tag remark">([^<]*)', text) == ["stand-in data", "not run", "not run"]
    assert re.findall(r'class="card wide" data-text="[^"]*(scorecard-all-text)', text) == ["scorecard-all-text"]


def test_a_card_has_the_caption_the_files_and_a_small_picture_or_the_first_rows(collection):
    scored = "7 of 9 published results are reproduced."
    notes, rows = ["A note.", scored], ["a" * 70, *range(9)]
    text = collection({"survey/figure-09-text": {"notes": notes}, "survey/table-07-text": {"rows": rows}})
    captions = re.findall(r'<p class="caption">([^<]*)', text)
    assert captions == [f"Caption of figure-09-text. {scored}", "Caption of table-07-text."]
    files = [("figure-09", "pdf"), ("figure-09", "csv"), ("table-07", "csv"), ("table-07", "tex")]
    assert re.findall(r'<a href="survey/(\S+)-text\.(\w+)">', text) == files
    (picture,) = re.findall(r'src="data:image/png;base64,([^"]*)" alt="figure-09-text"', text)
    assert Image.open(io.BytesIO(base64.b64decode(picture))).size == (480, 120)
    first = "".join(f"<tr> <td>{row}</td></tr>" for row in ["a" * 60 + "…", *range(6)])
    assert f"<table>{first}</table>" in text
    assert 'data-text="survey (liu et al. 2021) survey table-07-text table vii table 7 caption of' in text
