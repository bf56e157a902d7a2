"""What docs/adding-a-method.md shows works: its blocks are taken out of the page and the study is run with them."""

import re
import sys

from rfstudy import tidy

TABLES = [f"figures/quick/survey/values-{name}-text.md" for name in ("approximation-error", "accuracy-ridge")]


def run_study(workspace, methods: str) -> None:
    workspace.snakemake(
        "--cores", "2", *TABLES, "--configfile", "by-method.yaml", "--config", "only_experiments=survey-gaussian-text",
        "only_datasets=skin", "repeats=2", "learners={svm: {repeats: 1}}", f"only_methods={methods}",
    )  # fmt: skip


def test_the_example_joins_the_tables_and_moves_nobody_elses_numbers(workspace, page):
    (workspace.folder / "by-method.yaml").write_text("shard_by: [experiment, dataset, method]\n")
    run_study(workspace, "rff")
    results = workspace.folder / "results/quick/survey-gaussian-text"
    shards = sorted(results.glob("*/skin.rff.*"))
    assert len(shards) == 5  # rows and records of two stages, and the arrays
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in shards}

    module, entry = page("adding-a-method.md").blocks("python")
    (line,) = page("adding-a-method.md").blocks("yaml")
    file = workspace.add(module)
    workspace.insert("src/rfstudy/maps/registry.py", entry, before="}\n\n#: Other names in use")
    path = workspace.folder / "config/experiments/survey.yaml"
    path.write_text(path.read_text().replace("    - {method: orf}\n", line + "    - {method: orf}\n", 1))
    run_study(workspace, "rff,stratified")

    rows = tidy.read(workspace.folder / "results/quick/survey-gaussian-text.csv")
    own = rows[rows["method"] == "stratified"]
    assert len(own) == len(rows[rows["method"] == "rff"]) > 0
    assert own["status"].eq("ok").all()
    for table in TABLES:
        text = (workspace.folder / table).read_text(encoding="utf-8")
        assert re.search(r"\| stratified \| \d", text)
        assert re.search(r"\| RFF \| \d", text)
    assert before == {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in shards}

    workspace.environment["PYTHONPATH"] = str(workspace.folder / "src")
    workspace.run(sys.executable, "-m", "doctest", str(file), check=True)
