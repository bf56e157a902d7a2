"""The recipes of docs work: their blocks are applied to a copy of the repository, and one run makes the rows.

Every recipe changes the files that its page states and no others. The rows, lines and verdicts that come out are
compared with numbers that are computed here in another way.
"""

import hashlib
import json
import shlex

import numpy as np
import pandas as pd
import pytest
from checkouts import ROOT
from scipy.stats import chi
from sklearn.datasets import load_diabetes, load_wine

from random_features.arrays import seed_of, seed_sequence
from random_features.kernels import Gaussian
from random_features.maps import make_map
from rfstudy import tidy
from rfstudy.files import read_yaml

SEED = 2021
SETTINGS = (
    "only_experiments=sinc-decay,slsrff-diagonal,slsrff-text,spectrum-check,survey-gaussian-text",
    "only_methods=rff,stratified", "repeats=2", "learners={svm: {repeats: 1}}",
)  # fmt: skip

#: Data sets that no recipe is about, and times.
LEFT_OUT = """
experiments:
  survey-gaussian-text:
    datasets: {ijcnn1: null, eeg: null, cod-rna: null, covtype: null, letter-am-nz: null, a8a: null}
    time: null
  slsrff-text:
    datasets: {eeg: null, cod-rna: null, covtype: null, magic04: null}
    time: null
  slsrff-diagonal:
    datasets: {eeg: null, cod-rna: null, covtype: null, rings: null, mnist-1-7-hog: null}
"""
TARGETS = (
    *(f"results/quick/{name}.csv" for name in ("sinc-decay", "slsrff-diagonal", "slsrff-text", "spectrum-check")),
    *(f"data/prepared/embedded/{name}/facts.json" for name in ("diabetes", "news")),
    *("figures/measured/survey/wins-text.md", "figures/measured/survey/spreads-text.pdf"),
    "results/quick/survey-gaussian-text.csv",
)

#: The outputs that compare maps on the shipped rows of the survey, and the principal components of the features.
SETS, MAPS = ["eeg", "magic04", "letter-am-nz"], ["rff", "orf", "qmc", "ssf"]
COMPONENTS = ["standard", {"pca": {"n_components": 10}}]


def own_file(space, page):
    page = page("adding-a-dataset.md")
    (script,) = page.blocks("python", "A file of your own")
    space.run("-c", script)
    source, task, line, figure = page.blocks("yaml", "A file of your own")
    return [
        space.insert("config/sources.yaml", source),
        space.insert("config/datasets.yaml", task),
        space.insert("config/experiments/survey.yaml", line, before="    skin: {pre"),
        space.insert("config/figures/survey.yaml", figure),
    ]


def generator(space, page):
    page = page("adding-a-dataset.md")
    (module,), (task, line) = page.blocks("python", "By a generator"), page.blocks("yaml", "By a generator")
    return [
        space.add(module),
        # the page explains why a half split is refused
        space.insert("config/datasets.yaml", task.replace("split: half", "split: random")),
        space.insert("config/experiments/slsrff.yaml", line, before="    magic04: {pre"),
    ]


def features_of_another_task(space, page):
    (task,) = page("adding-a-dataset.md").blocks("yaml", "As features of another task")
    line = f"    mnist-1-7-hog: {{preprocess: {json.dumps(COMPONENTS)}}}\n"
    return [
        space.insert("config/datasets.yaml", task),
        space.insert("config/experiments/slsrff.yaml", line, before="    magic04: {pre"),
    ]


def another_format(space, page):
    page = page("adding-a-dataset.md")
    load_diabetes(as_frame=True, scaled=False).frame.to_parquet(space.folder / "diabetes.parquet")
    (parser,) = page.blocks("python", "A file of another format")
    source, task = page.blocks("yaml", "A file of another format")
    return [
        space.insert("src/rfstudy/data/parse.py", f"{parser}\n\n", before="def parse_table("),
        space.insert("config/sources.yaml", source),
        space.insert("config/datasets.yaml", task),
    ]


def scaling_of_targets(space, page):
    page = page("adding-a-dataset.md")
    (scaling,), (line,) = (page.blocks(language, "Another scaling of targets") for language in ("python", "yaml"))
    news = (space.folder / "config/datasets.yaml").read_text("utf-8").partition("\nnews:\n")[2].partition("\n\n")[0]
    scaled = news.replace("  target_scaling: {interval: {low: -1, high: 1}}\n", line)
    return [
        space.insert("src/rfstudy/data/target_scaling.py", f"{scaling}\n\n", before="def fitted("),
        space.replace("config/datasets.yaml", news, scaled),
    ]


def preprocessing_step(space, page):
    page = page("adding-a-dataset.md")
    (step,), (line,) = (page.blocks(language, "A preprocessing step") for language in ("python", "yaml"))
    return [
        space.add(step),
        space.replace("config/experiments/survey.yaml", "    skin: {preprocess: [minmax]}\n", line),
    ]


def method(space, page):
    page = page("adding-a-method.md")
    (module, entry), (line,) = page.blocks("python"), page.blocks("yaml")
    return [
        space.add(module),
        space.insert("src/random_features/maps/registry.py", entry, before="}\n\n#: The module of every class"),
        space.insert("config/experiments/survey.yaml", line, before="    - {method: orf}\n"),
    ]


def registered(name, registry, *section, end="}\n"):
    """A recipe of a new module, its entry in a registry, with a class of types before it, and a new experiment."""

    def recipe(space, page):
        (module, *types, entry), (experiment,) = (page(name).blocks(each, *section) for each in ("python", "yaml"))
        for block in types:
            where = block.partition(" of ")[0].removeprefix("# before ")
            space.insert(registry, block.partition("\n")[2] + "\n\n", before=f"{where} = ")
        space.insert(registry, entry.partition("\n")[2], before=end)
        return [space.add(module), space.add(experiment), registry]

    return recipe


def kind_of_output(section):
    """A recipe of a new kind of table or figure."""

    def recipe(space, page):
        (module,), (entry,) = (page("adding-a-kind.md").blocks(language, section) for language in ("python", "yaml"))
        return [space.add(module), space.insert("config/figures/survey.yaml", entry)]

    return recipe


def claim(space, page):
    page = page("adding-a-claim.md")
    (row,), (entry,) = (page.blocks(language, "An example") for language in ("csv", "yaml"))
    function, more_import = page.blocks("python", "An example")
    reference = space.folder / "data/reference/claims.csv"
    reference.write_text(reference.read_text(encoding="utf-8").rstrip("\n") + "\n" + row, encoding="utf-8")
    module = "src/rfstudy/report/claims/eerf.py"
    space.insert(module, more_import, before="from rfstudy.report.compare import")
    return [space.insert(module, function), space.insert("config/figures/eerf.yaml", entry)]


RECIPES = [
    own_file, generator, features_of_another_task, another_format, scaling_of_targets, preprocessing_step, method,
    claim,
    registered("adding-a-kernel.md", "src/random_features/kernels/registry.py"),
    registered("adding-a-learner.md", "src/random_features/learners/registry.py"),
    registered("adding-a-kind.md", "src/rfstudy/study/kinds/registry.py", "A kind of experiment", end="}  # fmt"),
    *map(kind_of_output, ["A kind of table", "A kind of figure"]),
]  # fmt: skip

#: Prints what the new code of the copy makes: in a process of its own, because this one has the repository's.
LOOK = """
import doctest, json, sys
from types import SimpleNamespace

from random_features.maps import stratified
from rfstudy import tidy
from rfstudy.report import plots, tables
from rfstudy.report.context import Context, read_tables
from rfstudy.report.typeset import one_number_per_cell
from rfstudy.study.sample import draw_sample, load_prepared
from rfstudy.render import Shipped

study = Shipped(".")

def read(spec, file):
    return Context.of(read_tables([file]), spec["experiments"], study.styles, study.tasks, "data/reference")

def lines(name, file):
    spec = study.spec("survey", name)
    figure = plots.picture(read(spec, file), spec).figure
    return [line.get_ydata().tolist() for ax in figure.axes for line in ax.get_lines()]

def cells(spec, context):
    return one_number_per_cell(tables.make(context, spec)).astype(str).to_dict("records")

def verdict(rows):
    return cells(claims, Context(tidy.frame(rows), study.styles, study.tasks, "data/reference"))[0]

claims, errors = study.spec("eerf", "claims-stable-text"), study.spec("survey", "values-approximation-error-text")
news = draw_sample(
    load_prepared("data/prepared/embedded/news"), SimpleNamespace(seed=1, split=None, max_rows=None), 0, ["none"]
).y_train
quick, measured = "results/quick/survey-gaussian-text.csv", "data/measured/survey-gaussian-text.csv.xz"
print(json.dumps({
    "wine": lines("wine-text", quick),
    "spreads": lines("spreads-text", measured),
    "errors": cells(errors, read(errors, quick)),
    "claims": [verdict(rows) for rows in json.loads(sys.argv[1])],
    "news": [float(news.mean()), float(news.std())],
    "doctest": doctest.testmod(stratified),
}))
"""


def accuracies(method, *values):
    shared = {
        "origin": "measured", "run": "r1", "preset": "laptop", "paper": "survey", "protocol": "text", "dataset": "a8a",
        "experiment": "survey-gaussian-text", "kernel": "gaussian", "method": method, "n_features": 246,
        "n_features_label": "2d", "d": 123, "n_train": 100, "n_test": 100, "metric": "accuracy_pct", "status": "ok",
        "settings": {}, "learner": "ridge", "split": "test",
    }  # fmt: skip
    return [shared | {"repeat": repeat, "value": value} for repeat, value in enumerate(values)]


#: Accuracies of SORF, and the verdict on its claim: as accurate as ORF, more accurate, and not stable.
SORF = {(80.0,) * 5: "holds", (81.0,) * 5: "partly", (80.5, 79.4, 80.8, 79.3, 80.0): "partly"}


@pytest.fixture(scope="module")
def made(new_workspace, page):
    """The copy in which all pages have been followed, after its run; ``made.seen`` is what its own code shows."""
    space = new_workspace("recipes")
    (space.folder / "data/measured").symlink_to(ROOT / "data/measured")
    for recipe in RECIPES:
        before = space.sources()
        stated = recipe(space, page)
        assert space.touched(before) == sorted(stated)
    space.run("-m", "rfstudy", "readme")
    (space.folder / "small.yaml").write_text(LEFT_OUT)
    space.snakemake("--cores", "2", *TARGETS, "--configfile", "small.yaml", "--config", *SETTINGS)
    # the command of the page, once the rows are there
    (command,) = page("adding-a-dataset.md").blocks("bash", "A file of your own")
    space.figure = shlex.split(command)[3]
    space.snakemake("--cores", "2", space.figure, "--configfile", "small.yaml", "--config", *SETTINGS)
    orf = accuracies("orf", 80.1, 79.9, 80.2, 79.8, 80.0)
    cases = [orf + accuracies("sorf", *values) for values in SORF]
    space.seen = json.loads(space.run("-c", LOOK, json.dumps(cases)).stdout.splitlines()[-1])
    return space


def rows(space, experiment, **columns) -> pd.DataFrame:
    """The rows of an experiment that went well and have these values."""
    table = tidy.read(space.folder / f"results/quick/{experiment}.csv")
    for name, value in columns.items():
        table = table[table[name].eq(value)]
    assert len(table) > 0
    assert table["status"].eq("ok").all()
    return table


def plain(rows):
    """Rows of a table as tuples of plain numbers."""
    return rows.astype(object).map(lambda value: value.item() if isinstance(value, np.generic) else value).itertuples()


def prepared(space, task: str):
    folder = space.folder / "data/prepared/embedded" / task
    return np.load(folder / "X.npy"), np.load(folder / "y.npy"), json.loads((folder / "facts.json").read_text("utf-8"))


def features(X, X_test, row):
    """Random Fourier features of rows, with the chance that the study gives the map."""
    seed = seed_of(row.seed, "features", row.dataset, "rff", row.n_features, row.repeat)
    phi = make_map("rff", Gaussian(np.sqrt(0.5)), n_components=row.n_features, device="cpu", random_state=seed).fit(X)
    return phi.transform(X).astype(float), phi.transform(X_test).astype(float)


def assert_ridge_regression(space, row, plain_steps=("minmax",)):
    """A row of slsrff-text is what ridge regression, written out, gives on these rows; or the error of the kernel."""
    X, y, X_test, y_test = space.split_rows(row.dataset, row.repeat, plain_steps)
    Z, Z_test = features(X, X_test, row)
    if row.metric == "accuracy_pct":
        shift = len(Z) * json.loads(row.settings)["penalty"] * np.eye(Z.shape[1])
        decision = Z_test @ np.linalg.solve(Z.T @ Z + shift, Z.T @ y)
        expected = 100 * np.mean(np.where(decision > 0, 1, -1) == y_test)
        assert row.value == pytest.approx(expected, abs=200 / row.n_test)
    else:
        exact = Gaussian(np.sqrt(0.5))(X.astype(float))  # fewer rows than the error is measured on at most
        error = np.linalg.norm(exact - Z @ Z.T, 2) / np.linalg.norm(exact, 2)
        assert row.value == pytest.approx(error, rel=1e-4)


def test_a_file_of_ones_own_from_the_disk_to_a_figure(made):
    """No address, no checksum by hand, no stand-in, no new code."""
    wine = load_wine()
    X, y, facts = prepared(made, "wine")
    np.testing.assert_allclose(X, wine.data, rtol=1e-6)
    np.testing.assert_array_equal(y, wine.target)
    assert facts["stand_in"] == ""
    lock = read_yaml(made.folder / "config/sources.lock.yaml")["wine"]["wine.csv"]
    assert lock["sha256"] == hashlib.sha256((made.folder / "wine.csv").read_bytes()).hexdigest()
    found = rows(made, "survey-gaussian-text", dataset="wine", metric="accuracy_pct", learner="ridge", split="test")
    assert found["value"].min() > 100 / 3  # of three growers
    for method in ("rff", "stratified"):
        means = found[found["method"].eq(method)].groupby("n_features")["value"].mean()
        assert any(len(line) == len(means) and np.allclose(line, means) for line in made.seen["wine"])
    assert (made.folder / made.figure).stat().st_size > 0


def test_a_generated_task(made):
    X, y, facts = prepared(made, "rings")
    np.testing.assert_array_equal(y == 1, np.linalg.norm(X.astype(np.float64), axis=1) % 1 < 0.5)
    assert (facts["n_train"], facts["n_test"], facts["split"], facts["stand_in"]) == (400, 600, "random", "")
    found = rows(made, "slsrff-text", dataset="rings", method="rff", metric="accuracy_pct")
    for row in plain(found):
        assert (row.n_train, row.n_test, row.d, row.stand_in) == (400, 600, 3, "")
        assert_ridge_regression(made, row)


def test_features_of_another_task_go_through_the_chain(made):
    """Images, their histograms of gradients, ten principal components of these, features: fitted by repeat."""
    images, labels, base = prepared(made, "mnist-1-7")
    X, y, facts = prepared(made, "mnist-1-7-hog")
    assert (images.shape, X.shape) == ((361, 64), (361, 32))
    np.testing.assert_array_equal(y, labels)
    assert facts["stand_in"] == f"hog of {base['stand_in']}"
    found = rows(made, "slsrff-text", dataset="mnist-1-7-hog", method="rff")
    assert set(found["d"]) == {10}
    assert set(found["metric"]) == {"accuracy_pct", "approximation_error_spectral"}
    for row in plain(found):
        assert_ridge_regression(made, row, COMPONENTS)


def test_a_preprocessing_step(made):
    (facts,) = rows(made, "survey-gaussian-text", dataset="skin", metric="fact_spike_rows")["settings"].map(json.loads)
    assert facts["preprocess"] == "clip(deviations=3)+minmax"


def test_a_file_of_another_format_with_a_regression_target(made):
    data = load_diabetes(as_frame=True, scaled=False)
    X, y, facts = prepared(made, "diabetes")
    np.testing.assert_allclose(X, data.data, rtol=1e-6)
    np.testing.assert_array_equal(y, data.target)
    assert (facts["target"], facts["split"], facts["n_train"], facts["n_test"]) == ("regression", "half", 221, 221)


def test_another_scaling_of_targets(made):
    assert prepared(made, "news")[2]["target_scaling"] == {"standard": {}}
    assert made.seen["news"] == pytest.approx([0, 1], abs=1e-9)


def error_of_the_example(X, row) -> float:
    """The error that the formula of the page gives on training rows, with the chance that the study gives the map."""
    s, d, length_scale = row.n_features, X.shape[1], json.loads(row.settings)["length_scale"]
    seed = seed_of(row.seed, "features", row.dataset, "stratified", s, row.repeat)
    rng = np.random.default_rng(np.random.RandomState(seed).randint(2**32, size=4, dtype=np.uint32))
    u = rng.standard_normal((s, d))
    r = chi(d).ppf((np.arange(s) + rng.uniform(size=s)) / s)
    projections = X @ (r[:, None] * u / np.linalg.norm(u, axis=1, keepdims=True) / length_scale).T
    approximate = (np.cos(projections[:, None] - projections)).mean(axis=2)
    exact = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (2 * length_scale**2))
    return float(np.linalg.norm(approximate - exact) / np.linalg.norm(exact))


@pytest.mark.parametrize("name", ["clip", "diagonal", "sinc", "spectrum"])
def test_the_tables_of_the_configuration_explain_what_is_new(made, name):
    assert f"\n| `{name}` |" in (made.folder / "config/README.md").read_text("utf-8")


def test_a_method_joins_the_tables_and_moves_nobody_elses_numbers(made, finished):
    of_method = {"metric": "approximation_error_frobenius", "method": "stratified"}
    errors = rows(made, "survey-gaussian-text", dataset="wine", **of_method)
    assert len(errors) == 3 * 2
    for row in plain(errors):
        X = made.split_rows("wine", row.repeat, ["standard"])[0].astype(float)
        assert row.value == pytest.approx(error_of_the_example(X, row), rel=1e-4)
    shown = {row["method_id"] for row in made.seen["errors"] if row["remark"] == ""}
    assert shown == {"rff", "stratified"}
    before, after = (
        rows(space, "survey-gaussian-text", dataset="magic04", method="rff", metric="approximation_error_frobenius")
        for space in (finished, made)
    )
    assert before["value"].tolist() == after["value"].tolist()
    assert made.seen["doctest"][0] == 0 < made.seen["doctest"][1]


def test_a_kernel(made):
    found = rows(made, "sinc-decay", method="rff")
    assert list(found["repeat"]) == [0, 1]
    assert found["kernel"].eq("sinc").all()
    for row in plain(found):
        X = np.random.default_rng(seed_sequence(SEED, "decay", 16, row.repeat)).standard_normal((200, 16)) / np.sqrt(32)
        u = (X[:, None] - X) / 0.25
        exact, twice = (np.prod(np.sinc(factor * u / np.pi), axis=2) for factor in (1, 2))
        # of the mean of 256 cosines; of the Gaussian kernel 3.7 times
        variance = (1 + twice - 2 * exact**2) / (2 * 256)
        assert row.value**2 == pytest.approx(variance.mean() / (exact**2).mean(), rel=0.2)


def test_a_learner(made):
    found = rows(made, "slsrff-diagonal", dataset="magic04", learner="diagonal", method="rff")
    assert set(found["repeat"]) == {0, 1}
    for row in plain(found):
        X, y, X_test, y_test = made.split_rows("magic04", row.repeat)
        Z, Z_test = features(X, X_test, row)
        settings = json.loads(row.settings)
        assert settings["solver"] == "diagonal"
        assert settings["shrinkage"] in (1e-4, 0.01)
        means = [Z[y == label].mean(axis=0) for label in (-1, 1)]
        within = np.concatenate([Z[y == label] - mean for label, mean in zip((-1, 1), means, strict=True)])
        weights = 1 / ((within**2).mean(axis=0) + settings["shrinkage"])
        distances = np.stack([((Z_test - mean) ** 2 * weights).sum(axis=1) for mean in means])
        accuracy = 100 * np.mean(np.where(distances[1] < distances[0], 1, -1) == y_test)
        assert row.value == pytest.approx(accuracy, abs=1e-9)


def test_a_kind_of_experiment(made):
    found = rows(made, "spectrum-check", metric="effective_dimension")
    assert found.groupby("method").size().to_dict() == {"": 2 * 2, "rff": 2 * 2}
    with np.load(made.folder / "results/quick/spectrum-check.npz") as stored:
        arrays = dict(stored)
    assert set(arrays) == {f"magic04/{cell}/eigenvalues" for cell in ("0", "1", "rff/4096/0", "rff/4096/1")}
    for row in plain(found):
        X = made.split_rows("magic04", row.repeat)[0][:150].astype(float)
        length_scale = json.loads(row.settings)["length_scale"]
        K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (2 * length_scale**2))
        expected = np.trace(np.linalg.solve(K + 150 * row.at * np.eye(150), K))
        assert row.value == pytest.approx(expected, rel=0.1 if row.method else 1e-6)
        # the diagonal of the kernel, and of these features, is 1
        name = f"rff/4096/{row.repeat}" if row.method else str(row.repeat)
        assert arrays[f"magic04/{name}/eigenvalues"].sum() == pytest.approx(150, rel=1e-4)


@pytest.fixture(scope="module")
def errors():
    """Errors of the kernel matrix in the shipped rows, over the repeats of data sets and sizes by maps."""
    table = tidy.read(ROOT / "data/measured/survey-gaussian-text.csv.xz")
    table = table[table["metric"].eq("approximation_error_frobenius") & table["status"].eq("ok")]
    table = table[table["variant"].eq("") & table["dataset"].isin(SETS) & table["method"].isin(MAPS)]
    by_cell = table.pivot(index=["dataset", "n_features_label", "repeat"], columns="method", values="value")[MAPS]
    return by_cell.groupby(level=["dataset", "n_features_label"])


def test_a_kind_of_table(made, errors):
    means = errors.mean().dropna()
    files = sorted((made.folder / "figures/measured/survey").glob("wins-text.*"))
    assert [path.suffix for path in files] == [".csv", ".md", ".tex", ".txt"]
    table = pd.read_csv(files[0])
    best = means.idxmin(axis=1).value_counts()
    assert table.set_index("method_id")["best"].to_dict() == {method: int(best.get(method, 0)) for method in MAPS}
    assert set(table["of_cells"]) == {len(means)} == {3 * 5}
    assert files[3].read_text().startswith("How often each map has the lowest mean approximation error.")


def test_a_kind_of_figure(made, errors):
    files = sorted((made.folder / "figures/measured/survey").glob("spreads-text.*"))
    assert [path.suffix for path in files] == [".csv", ".pdf", ".png", ".txt"]
    shares = (errors.std() / errors.mean()).dropna().groupby(level="n_features_label").mean()
    for line, method in zip(made.seen["spreads"], MAPS, strict=True):
        assert line == pytest.approx(shares.loc[["2d", "8d", "32d"], method].tolist())


def test_a_claim(made):
    assert [found["verdict"] for found in made.seen["claims"]] == list(SORF.values())
    last = made.seen["claims"][-1]
    assert last["says"] == "SORF is stable and as accurate as ORF."
    assert "ORF minus SORF: a8a 2d +0.00" in last["evidence"]
    assert "standard deviation of SORF: a8a 2d 0.660" in last["evidence"]
