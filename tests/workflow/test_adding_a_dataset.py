"""What docs/adding-a-dataset.md shows works: its blocks are taken out of the page and the workflow is run with them."""

import hashlib
import json
import re
import sys

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine

from random_features.arrays import seed_of
from random_features.kernels import Gaussian
from random_features.maps import make_map
from rfstudy import tidy
from rfstudy.data.entries import read_tasks
from rfstudy.files import read_yaml
from rfstudy.outputs import load_reports
from rfstudy.report import plots
from rfstudy.report.catalogue import specification
from rfstudy.report.context import Context
from rfstudy.study.config import load_experiments

STUDY = ("only_experiments=survey-gaussian-text", "only_datasets=skin", "only_methods=rff", "repeats=1",
         "learners={svm: {repeats: 1}}")  # fmt: skip
RESULTS = "results/quick/survey-gaussian-text.csv"


def prepared(workspace, task: str):
    folder = workspace.folder / "data/prepared/embedded" / task
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    return np.load(folder / "X.npy"), np.load(folder / "y.npy"), facts


def drawn(workspace, paper: str, name: str) -> list[np.ndarray]:
    """The lines of a figure, drawn of the rows of the workspace: the y of each."""
    tasks = read_tasks(workspace.folder / "config/datasets.yaml")
    styles = read_yaml(workspace.folder / "config/methods.yaml")
    experiments = load_experiments(workspace.folder / "config")
    spec = specification(load_reports(workspace.folder / "config", experiments, styles, tasks), paper, name)
    files = [workspace.folder / f"results/quick/{each}.csv" for each in spec["experiments"]]
    context = Context.read(files, spec["experiments"], styles, tasks, workspace.folder / "data/reference")
    return [line.get_ydata() for ax in plots.picture(context, spec).figure.axes for line in ax.get_lines()]


def test_a_file_of_ones_own_from_the_disk_to_a_figure(workspace, page):
    """No address, no checksum by hand, no stand-in, no new code."""
    files = workspace.sources()
    (script,) = page("adding-a-dataset.md").blocks("python", "A file of your own")
    source, task, line, figure = page("adding-a-dataset.md").blocks("yaml", "A file of your own")
    (command,) = page("adding-a-dataset.md").blocks("bash", "A file of your own")
    workspace.run(sys.executable, "-c", script, check=True)
    for name, block in (("sources", source), ("datasets", task), ("figures/survey", figure)):
        path = workspace.folder / f"config/{name}.yaml"
        path.write_text(path.read_text(encoding="utf-8") + "\n" + block, encoding="utf-8")
    experiments = workspace.folder / "config/experiments/survey.yaml"
    content = experiments.read_text(encoding="utf-8")
    experiments.write_text(content.replace("    skin: {pre", line + "    skin: {pre", 1), encoding="utf-8")
    workspace.snakemake(*command.split()[1:], "only_methods=rff,orf", "repeats=2", "learners={svm: {repeats: 1}}")
    assert workspace.touched(files) == [
        "config/datasets.yaml",
        "config/experiments/survey.yaml",
        "config/figures/survey.yaml",
        "config/sources.lock.yaml",
        "config/sources.yaml",
    ]
    wine = load_wine()
    X, y, facts = prepared(workspace, "wine")
    np.testing.assert_allclose(X, wine.data, rtol=1e-6)
    np.testing.assert_array_equal(y, wine.target)
    assert facts["stand_in"] == ""
    lock = read_yaml(workspace.folder / "config/sources.lock.yaml")["wine"]["wine.csv"]
    assert lock["sha256"] == hashlib.sha256((workspace.folder / "wine.csv").read_bytes()).hexdigest()

    rows = tidy.read(workspace.folder / RESULTS)
    assert (set(rows["dataset"]), set(rows["stand_in"]), set(rows["status"])) == ({"wine"}, {""}, {"ok"})
    accuracies = rows[rows["metric"].eq("accuracy_pct") & rows["learner"].eq("ridge") & rows["split"].eq("test")]
    assert accuracies["value"].min() > 100 / 3  # of three growers
    assert (workspace.folder / "figures/quick/survey/wine-text.pdf").stat().st_size > 0
    lines = drawn(workspace, "survey", "wine-text")
    for method in ("rff", "orf"):
        means = accuracies[accuracies["method"].eq(method)].groupby("n_features")["value"].mean()
        assert any(len(y) == len(means) and np.allclose(y, means) for y in lines)

    # a change of the file is told, and what to do
    with (workspace.folder / "wine.csv").open("a") as stream:
        stream.write("one more\n")
    refused = workspace.snakemake(*command.split()[1:], check=False)
    assert refused.returncode != 0
    log = (workspace.folder / "logs/download/wine.log").read_text(encoding="utf-8")
    assert (
        "config/sources.lock.yaml recorded when it was first used; if the file was changed and you accept that" in log
    )


def test_a_generated_task_and_the_features_of_another(workspace, page, plain):
    files = workspace.sources()
    (generator,) = page("adding-a-dataset.md").blocks("python", "By a generator")
    rings, line = page("adding-a-dataset.md").blocks("yaml", "By a generator")
    (features,) = page("adding-a-dataset.md").blocks("yaml", "As features of another task")
    tasks = workspace.folder / "config/datasets.yaml"
    tasks.write_text(tasks.read_text(encoding="utf-8") + f"\n{rings}\n{features}", encoding="utf-8")
    wanted = [f"data/prepared/embedded/{task}/facts.json" for task in ("rings", "mnist-1-7-hog")]

    refused = workspace.snakemake("--cores", "1", *wanted, check=False)
    assert refused.returncode != 0
    assert "rings.generator: name: there is no generator 'rings'; there are binary" in refused.stdout + refused.stderr
    path = workspace.add(generator)
    refused = workspace.snakemake("--cores", "1", *wanted, check=False)
    assert "a half split of 1000 rows has 500 training rows, not 400" in refused.stdout + refused.stderr
    tasks.write_text(tasks.read_text(encoding="utf-8").replace(rings, rings.replace("half", "random")), "utf-8")
    workspace.snakemake("--cores", "2", *wanted)

    X, y, facts = prepared(workspace, "rings")
    np.testing.assert_array_equal(y == 1, np.linalg.norm(X.astype(np.float64), axis=1) % 1 < 0.5)
    assert (len(y), facts["n_train"], facts["n_test"], facts["split"], facts["stand_in"]) == (
        1000,
        400,
        600,
        "random",
        "",
    )
    workspace.insert("config/experiments/slsrff.yaml", line, before="    magic04: {preprocess: [minmax]}\n")
    assert workspace.touched(files) == [
        "config/datasets.yaml",
        "config/experiments/slsrff.yaml",
        "src/rfstudy/data/generators/rings.py",
    ]
    results = "results/quick/slsrff-text.csv"
    study = ("only_experiments=slsrff-text", "only_datasets=rings", "only_methods=rff", "only_sizes=8d", "repeats=1")
    workspace.snakemake("--cores", "2", results, "--config", *study)
    rows = tidy.read(workspace.folder / results)
    (row,) = plain(rows[rows["metric"].eq("accuracy_pct")])
    assert (row.dataset, row.n_train, row.n_test, row.d, row.stand_in) == ("rings", 400, 600, 3, "")
    # ridge regression written out, on these rows
    X, y, X_test, y_test = workspace.split_rows("rings", 0)
    seed = seed_of(row.seed, "features", "rings", "rff", row.n_features, 0)
    phi = make_map("rff", Gaussian(np.sqrt(0.5)), n_components=row.n_features, device="cpu", random_state=seed)
    Z, Z_test = phi.fit_transform(X).astype(float), phi.transform(X_test).astype(float)
    shift = 400 * json.loads(row.settings)["penalty"] * np.eye(Z.shape[1])
    decision = Z_test @ np.linalg.solve(Z.T @ Z + shift, Z.T @ y)
    assert row.value == pytest.approx(100 * np.mean(np.where(decision > 0, 1, -1) == y_test), abs=0.2)

    # the task that the features are of was prepared on the way
    images, labels, base = prepared(workspace, "mnist-1-7")
    X, y, facts = prepared(workspace, "mnist-1-7-hog")
    assert (images.shape, X.shape) == ((361, 64), (361, 32))
    np.testing.assert_array_equal(y, labels)
    assert facts["stand_in"] == f"hog of {base['stand_in']}"

    # an edit of a generator makes the tasks of that generator again, and no others
    path.write_text(path.read_text(encoding="utf-8") + "\nEDITED = True\n", encoding="utf-8")
    done = workspace.snakemake("--dry-run", "--cores", "1", *wanted)
    assert re.findall(r": preprocess ([\w-]+):", done.stdout) == ["rings"]
    extractor = workspace.folder / "src/rfstudy/data/extractors/hog.py"
    extractor.write_text(extractor.read_text(encoding="utf-8") + "\nEDITED = True\n", encoding="utf-8")
    done = workspace.snakemake("--dry-run", "--cores", "1", *wanted)
    assert sorted(re.findall(r": preprocess ([\w-]+):", done.stdout)) == ["mnist-1-7-hog", "rings"]


def test_a_preprocessing_step_joins_an_experiment_and_its_edit_reruns_its_users(workspace, page):
    files = workspace.sources()
    (step,) = page("adding-a-dataset.md").blocks("python", "A preprocessing step")
    (line,) = page("adding-a-dataset.md").blocks("yaml", "A preprocessing step")
    # no column of the stand-in reaches three deviations
    narrow = line.replace("deviations: 3", "deviations: 1")
    experiments = workspace.folder / "config/experiments/survey.yaml"
    content = experiments.read_text(encoding="utf-8")
    assert content.count("    skin: {preprocess: [minmax]}\n") == 1
    experiments.write_text(content.replace("    skin: {preprocess: [minmax]}\n", narrow), encoding="utf-8")
    refused = workspace.snakemake("--dry-run", "--cores", "2", RESULTS, "--config", *STUDY, check=False)
    assert "preprocess[0].clip: unknown key; " in refused.stdout + refused.stderr

    path = workspace.add(step)
    assert workspace.touched(files) == ["config/experiments/survey.yaml", "src/rfstudy/data/steps/clip.py"]
    workspace.snakemake("--cores", "2", RESULTS, "--config", *STUDY)
    after = tidy.read(workspace.folder / RESULTS)
    assert after["status"].eq("ok").all()
    facts = after.loc[after["metric"].eq("fact_spike_rows"), "settings"].map(json.loads)
    assert [of["preprocess"] for of in facts] == ["clip(deviations=1)+minmax"]

    path.write_text(path.read_text(encoding="utf-8").replace("deviations *", "1.2 * deviations *"), encoding="utf-8")
    done = workspace.snakemake("--dry-run", "--cores", "2", RESULTS, "--config", *STUDY)
    assert {"tune", "train"} <= set(re.findall(r"^Job \d+: (\w+)", done.stdout, re.MULTILINE))
    workspace.snakemake("--cores", "2", RESULTS, "--config", *STUDY)
    wider = tidy.read(workspace.folder / RESULTS)
    # no cell of the narrower clipping came out of a journal
    errors = [rows.loc[rows["metric"].eq("approximation_error_frobenius"), "value"] for rows in (after, wider)]
    assert len(errors[0]) == len(errors[1]) > 0
    assert (errors[0].to_numpy() != errors[1].to_numpy()).all()
    other = workspace.folder / "src/rfstudy/data/steps/pca.py"
    other.write_text(other.read_text(encoding="utf-8") + "\nEDITED = True\n", encoding="utf-8")
    done = workspace.snakemake("--dry-run", "--cores", "2", RESULTS, "--config", *STUDY)
    assert "Nothing to be done" in done.stdout + done.stderr


def test_a_parquet_file_with_a_regression_target_takes_three_files(workspace, page):
    data = load_diabetes(as_frame=True, scaled=False)
    data.frame.to_parquet(workspace.folder / "diabetes.parquet")
    files = workspace.sources()
    (parser,) = page("adding-a-dataset.md").blocks("python", "A file of another format")
    source, task = page("adding-a-dataset.md").blocks("yaml", "A file of another format")
    workspace.insert("src/rfstudy/data/parse.py", f"{parser}\n\n", before="def parse_table(")
    workspace.insert("config/sources.yaml", source, before="")
    workspace.insert("config/datasets.yaml", task, before="")
    workspace.snakemake("--cores", "1", "data/prepared/embedded/diabetes/facts.json")
    assert set(workspace.touched(files)) - {"config/sources.lock.yaml"} == {
        "config/datasets.yaml", "config/sources.yaml", "src/rfstudy/data/parse.py",
    }  # fmt: skip
    X, y, facts = prepared(workspace, "diabetes")
    np.testing.assert_allclose(X, data.data, rtol=1e-6)
    np.testing.assert_array_equal(y, data.target)
    assert (facts["target"], facts["split"], facts["n_train"], facts["n_test"]) == ("regression", "half", 221, 221)


SCALED = """
import sys
sys.path.insert(0, "src")
from rfstudy.study.sample import draw_sample, load_prepared
from types import SimpleNamespace
spec = SimpleNamespace(seed=1, split=None, max_rows=None)
sample = draw_sample(load_prepared("data/prepared/embedded/news"), spec, 0, ["none"])
print(sample.y_train.mean().round(9), sample.y_train.std().round(9))
"""


def test_a_second_scaling_of_targets_takes_two_files(workspace, page):
    files = workspace.sources()
    (scaling,) = page("adding-a-dataset.md").blocks("python", "Another scaling of targets")
    (line,) = page("adding-a-dataset.md").blocks("yaml", "Another scaling of targets")
    workspace.insert("src/rfstudy/data/target_scaling.py", f"{scaling}\n\n", before="def fitted(")
    tasks = workspace.folder / "config/datasets.yaml"
    head, news, tail = tasks.read_text(encoding="utf-8").partition("\nnews:\n")
    old = "  target_scaling: {interval: {low: -1, high: 1}}\n"
    tasks.write_text(head + news + tail.replace(old, line, 1), encoding="utf-8")
    workspace.snakemake("--cores", "1", "data/prepared/embedded/news/facts.json")
    assert workspace.touched(files) == ["config/datasets.yaml", "src/rfstudy/data/target_scaling.py"]
    assert prepared(workspace, "news")[2]["target_scaling"] == {"standard": {}}
    mean, deviation = map(float, workspace.run(sys.executable, "-c", SCALED, check=True).stdout.split())
    assert (abs(mean), deviation) == (0, 1)
