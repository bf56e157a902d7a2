"""What docs/architecture.md shows of tables and figures works: its blocks are applied to a copy of the repository, and
what comes out is held against numbers that are computed here from the shipped measurements.
"""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml
from PIL import Image

from rfstudy import tidy
from rfstudy.report.context import Context

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "data/measured/survey-gaussian-text.csv.xz"
SETS, MAPS = ["eeg", "magic04", "letter-am-nz"], ["rff", "orf", "qmc", "ssf"]


@pytest.fixture(scope="module")
def errors():
    """Errors of the kernel matrix, over the repeats of data sets and sizes by maps."""
    rows = tidy.read(RESULTS)
    rows = rows[
        (rows["metric"] == "approximation_error_frobenius") & (rows["status"] == "ok") & (rows["variant"] == "")
    ]
    rows = rows[rows["dataset"].isin(SETS) & rows["method"].isin(MAPS)]
    return rows.pivot(index=["dataset", "n_features_label", "repeat"], columns="method", values="value")[MAPS]


def over_repeats(errors, how: str) -> pd.DataFrame:
    """A statistic of the repeats: data sets and sizes by maps."""
    return errors.groupby(level=["dataset", "n_features_label"]).agg(how).dropna()


def added(workspace, page, section: str, target: str) -> list[Path]:
    """The files of an output of the shipped measurements whose recipe was followed."""
    shutil.copytree(ROOT / "data" / "measured", workspace.folder / "data" / "measured")
    before = workspace.sources()
    (module,) = page("architecture.md").blocks("python", section)
    (entry,) = page("architecture.md").blocks("yaml", section)
    path = workspace.add(module)
    workspace.insert("config/figures/survey.yaml", entry, before="")
    name = path.relative_to(workspace.folder).as_posix()
    assert workspace.touched(before) == ["config/figures/survey.yaml", name]
    workspace.snakemake("--cores", "2", target)
    return sorted((workspace.folder / target).parent.glob(Path(target).stem + ".*"))


def test_a_kind_of_table(workspace, page, errors):
    means = over_repeats(errors, "mean")
    files = added(workspace, page, "A kind of table", "figures/measured/survey/wins-text.md")
    assert [path.suffix for path in files] == [".csv", ".md", ".tex", ".txt"]
    table = pd.read_csv(files[0])
    best = means.idxmin(axis=1).value_counts()
    assert table.set_index("method_id")["best"].to_dict() == {method: int(best.get(method, 0)) for method in MAPS}
    assert set(table["of_cells"]) == {len(means)}
    assert len(means) == 3 * 5
    assert files[3].read_text().startswith("How often each map has the lowest mean approximation error.")


def test_a_kind_of_figure(workspace, page, errors):
    files = added(workspace, page, "A kind of figure", "figures/measured/survey/spreads-text.pdf")
    assert [path.suffix for path in files] == [".pdf", ".png", ".txt"]
    with Image.open(files[1]) as image:
        assert image.width == 3.5 * 200
    # what its lines show, by the code of the page
    (module,) = page("architecture.md").blocks("python", "A kind of figure")
    (entry,) = page("architecture.md").blocks("yaml", "A kind of figure")
    kind = {}
    exec(module, kind)
    spec = yaml.safe_load(entry)["spreads"]
    keywords = {key: spec[key] for key in ("width", "datasets", "methods", "sizes", "quantity")}
    styles, tasks = (yaml.safe_load((ROOT / f"config/{name}.yaml").read_text()) for name in ("methods", "datasets"))
    context = Context.read([RESULTS], ["survey-gaussian-text"], styles, tasks)
    (ax,) = kind["draw"](context, **keywords).figure.axes
    shares = over_repeats(errors, "std") / over_repeats(errors, "mean")
    shares = shares.groupby(level="n_features_label").mean().loc[["2d", "8d", "32d"]]
    for line, method in zip(ax.lines, MAPS, strict=True):
        assert line.get_ydata().tolist() == pytest.approx(shares[method].tolist())
