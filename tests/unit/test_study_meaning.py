"""Which finished cells an edit discards: a small study is run in a copy of the package, edited, and run again with the
same journals; rows of the second run are those that were computed anew.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import study_toys

from rfstudy.study import code

#: Runs the study as often as a line arrives, each time in a process of its own that imports the package anew; what is
#: imported here is not imported again.
SERVER = """
import json, os, sys, warnings
import click, jsonschema, numpy, pandas, psutil, scipy.linalg, scipy.special, scipy.stats, tqdm, yaml
import sklearn.cluster, sklearn.linear_model, sklearn.metrics, sklearn.svm, sklearn.utils.validation, torch

source, helpers, folder = sys.argv[1:]
for line in sys.stdin:
    if os.fork() == 0:
        sys.path[:0] = [source, helpers]
        import study_toys
        from meaning_study import study
        sys.stdout.write(json.dumps(study(folder)) + "\\n")
        sys.stdout.flush()
        os._exit(0)
    if os.wait()[1]:
        sys.stdout.write("null\\n")
        sys.stdout.flush()
"""

#: Two repeats of five entries with two learners, a penalty that is shared, and a kind without data. What is computed
#: anew is told by the runs of the rows, and of the candidates of a search by the files of the journal.
STUDY = """
from pathlib import Path

import study_toys as toys
from rfstudy import tidy
from rfstudy.study import measure

METHODS = [
    {"method": "rff"},
    {"method": "qmc", "preprocess": ["standard"]},
    {"method": "slsrff", "variant": "stated", "options": {"center_targets": True}},
    {"method": "slsrff"},
    {"method": "rff", "variant": "fixed", "length_scale": 2.0},
]


def study(folder):
    folder = Path(folder)
    prepared = toys.write_data(folder / "prepared", *toys.labelled(40, 3))
    toy = toys.selected(
        {"repeats": 2}, methods=METHODS, preprocess=["minmax"], bandwidth={"rule": "median", "length_scale": None},
        learners={"ridge": toys.RIDGE | {"n_folds": 2}, "svm": toys.SVM | {"n_folds": 2}},
        search={"method": {"method": "rff"}, "penalty": {"shared_by": "size"}},
    )
    before = set((folder / "journal/tune").glob("*.json"))
    rows = list(toys.run_grid(toy, {"made": prepared}, folder, {"repeats": 2}, folder / "journal")[:2])
    spec = {
        "preset": "toy", "paper": "survey", "experiment": "decay", "protocol": "text", "kind": "decay", "dataset": "",
        "kernel": {"name": "gaussian", "length_scale": 1}, "seed": 1, "device": "cpu", "repeats": [0],
        "methods": [{"method": "rff", "variant": "", "options": {}}],
        "grid": {"dimensions": [2], "rows": 10, "n_features": [4], "norms": ["sup"], "ridge": 0.1},
    }
    measure.run([spec], [], folder / "journal/measure", folder / "decay.csv", folder / "decay.npz", 1)
    rows.append(tidy.read(folder / "decay.csv"))
    found = [
        [stage, name, learner, run]
        for stage, table in zip(("generate", "train", "measure"), rows)
        for name, learner, run in zip(table["method"] + "-" + table["variant"], table["learner"], table["run"])
    ]
    tuned = len(set((folder / "journal/tune").glob("*.json")) - before)
    return {"rows": found, "tuned": tuned}
"""

SHARED = {"rff-", "qmc-", "slsrff-stated", "slsrff-", "rff-fixed"}
#: All rows by stage, entry and learner.
EVERYTHING = (
    {("generate", name, "") for name in SHARED}
    | {("train", name, learner) for name in SHARED for learner in ("ridge", "svm")}
    | {("measure", "rff-", "")}
)
#: The cells of the search in two repeats: of the map that it is made with the scores of both learners, and of every map
#: (two entries have the same) where it has a solution, which is asked of ridge regression alone.
SCORES, SOLUTIONS = 4, 2
TUNED = SCORES + 4 * SOLUTIONS


def of(*entries, measured=False, learners=("ridge", "svm"), stages=("generate", "train")):
    """The rows of some entries."""
    found = {row for row in EVERYTHING if row[0] in stages and row[1] in entries}
    found = {row for row in found if row[0] != "train" or row[2] in learners}
    return found | ({("measure", "rff-", "")} if measured else set())


class Laboratory:
    """A copy of the package with the journals of a finished study."""

    def __init__(self, folder: Path):
        self.folder, self.source = folder, folder / "src"
        shutil.copytree(code.SOURCE, self.source, ignore=shutil.ignore_patterns("__pycache__"))
        helpers = folder / "helpers"
        helpers.mkdir()
        shutil.copy(study_toys.__file__, helpers)
        (helpers / "meaning_study.py").write_text(STUDY, encoding="utf-8")
        command = [sys.executable, "-B", "-c", SERVER, str(self.source), str(helpers), str(folder)]
        self.server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=(folder / "log").open("w"), text=True
        )
        self.known: set[str] = set()
        self.pristine = {path: path.read_text(encoding="utf-8") for path in self.source.rglob("*.py")}

    def recomputed(self) -> tuple[set, int]:
        """Run the study: the rows that were computed now, by stage, entry and learner, and the searched candidates."""
        self.server.stdin.write("\n")
        self.server.stdin.flush()
        found = json.loads(self.server.stdout.readline())
        assert found is not None, (self.folder / "log").read_text(encoding="utf-8")[-3000:]
        new = {tuple(row[:3]) for row in found["rows"] if row[3] not in self.known}
        self.known |= {row[3] for row in found["rows"]}
        return new, found["tuned"]

    def edit(self, module: str, old: str | None, new: str) -> None:
        """Replace a text of a module, or write a new one."""
        path = self.source / module
        if old is None:
            path.write_text(new, encoding="utf-8")
            return
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, (module, text.count(old))
        path.write_text(text.replace(old, new), encoding="utf-8")

    def restore(self) -> None:
        """Take all edits back."""
        for path in self.source.rglob("*.py"):
            if path not in self.pristine:
                path.unlink()
        for path, text in self.pristine.items():
            if path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    place = Laboratory(tmp_path_factory.mktemp("meaning"))
    assert place.recomputed() == (EVERYTHING, TUNED)
    assert place.recomputed() == (set(), 0)
    yield place
    place.server.stdin.close()
    place.server.wait()


@pytest.fixture
def laboratory(started):
    yield started
    started.restore()


NEW_MAP = """
    "plain": Entry("plain", "Plain", "Monte Carlo", ("gaussian",), "here", "O(s d)", True, defaults={}),
    "rff": Entry("""

NEW_KERNEL = """KERNEL = {"class": "Sinc", "parameters": ()}


class Sinc(Kernel):
    def __call__(self, X, Y=None):
        return np.sinc(X)
"""


#: Edits by what they are: (module, old text, new text), a new file without an old text.
HARMLESS = {
    "comments and docstrings": [
        ("random_features/maps/montecarlo.py", "from __future__", "# a comment\nfrom __future__"),
        (
            "rfstudy/study/generate.py",
            '    """The error rows and learned',
            '    """Another text. The error rows and learned',
        ),
        ("random_features/learners/ridge.py", "def _cross_validate(", "#: A comment.\ndef _cross_validate("),
    ],
    "units, labels and references": [
        ("rfstudy/metrics.py", '"mse": Fact("",', '"mse": Fact("m^2",'),
        ("rfstudy/metrics.py", "FACTS = {", 'FACTS = {\n    "regret": Fact("", "regret", "low"),'),
        ("random_features/maps/registry.py", 'reference="Liu et al., AAAI 2020"', 'reference="Liu et al."'),
    ],
    "a new map": [
        ("random_features/maps/registry.py", '\n    "rff": Entry(', NEW_MAP),
        ("random_features/maps/plain.py", None, "class Plain:\n    pass\n"),
    ],
    "a new learner, kind, rule and step": [
        ("random_features/learners/mean.py", None, "SCHEMA = {}\nLEARNER = None\n"),
        ("rfstudy/study/kinds/other.py", None, "STAGES = ()\n"),
        ("rfstudy/study/bandwidths/unit.py", None, "SCHEMA = {}\n"),
        ("rfstudy/data/steps/twice.py", None, "def fit(X_train):\n    return lambda X: 2 * X\n"),
    ],
    "a new kernel": [
        ("random_features/kernels/sinc.py", None, NEW_KERNEL),
    ],
    "the loop, journals, records and configuration": [
        ("rfstudy/study/engine.py", "mininterval=5", "mininterval=6"),
        ("rfstudy/study/search.py", "mininterval=5", "mininterval=6"),
        ("rfstudy/study/journal.py", "SYNC_SECONDS = 30.0", "SYNC_SECONDS = 20.0"),
        ("rfstudy/study/provenance.py", '"stage": stage,', '"stage": stage, "sort": "run",'),
        ("rfstudy/study/config.py", "class ConfigurationError", "ANOTHER = 3\n\n\nclass ConfigurationError"),
        ("rfstudy/study/experiment.py", "def merge(", "ANOTHER = 3\n\n\ndef merge("),
        ("rfstudy/tidy.py", "STATUSES = (", "MORE = ()\nSTATUSES = ("),
    ],
    "another kind, and what of a module is not used": [
        ("rfstudy/study/kinds/variance.py", "def moments(", "def other():\n    pass\n\n\ndef moments("),
        (
            "random_features/maps/montecarlo.py",
            "class OrthogonalRandom(SpectralMap)",
            "class OrthogonalRandom(SpectralMap, object)",
        ),
    ],
}


@pytest.mark.parametrize("what", HARMLESS)
def test_an_edit_that_changes_no_number_discards_no_cell(laboratory, what):
    for module, old, new in HARMLESS[what]:
        laboratory.edit(module, old, new)
    assert laboratory.recomputed() == (set(), 0)


@pytest.mark.parametrize(
    ("module", "old", "new", "expected", "tuned"),
    [
        # a default: the cells that do not state the option
        (
            "random_features/maps/registry.py",
            '            "center_targets": True,\n',
            '            "center_targets": False,\n',
            of("slsrff-"),
            SOLUTIONS,
        ),
        # a map: its cells
        ("random_features/maps/quasi.py", "class QuasiMonteCarlo(SpectralMap):",
         "class QuasiMonteCarlo(SpectralMap, object):",
         of("qmc-"), SOLUTIONS),
        # a step: the cells that it prepares
        ("rfstudy/data/steps/standard.py", "def fit(", "ONE = 1\n\n\ndef fit(", of("qmc-"), SOLUTIONS),
        ("rfstudy/data/steps/minmax.py", "def fit(", "ONE = 1\n\n\ndef fit(", of(*SHARED - {"qmc-"}),
         SCORES + 3 * SOLUTIONS),
        # a bandwidth rule: the cells whose length scale it finds
        ("rfstudy/study/bandwidths/median.py", " = MEDIAN_ROWS", " = 3000", of(*SHARED - {"rff-fixed"}),
         SCORES + 3 * SOLUTIONS),
        # a learner: what it trains, and what was chosen with it
        ("random_features/learners/svm.py", "LIBLINEAR_TOLERANCE = 1e-4", "LIBLINEAR_TOLERANCE = 1e-5",
         of(*SHARED, stages=("train",), learners=("svm",)), SCORES // 2),
        # a stage and a kind: their own
        ("rfstudy/study/generate.py", "return Z @ Z.T, {}", "return Z @ Z.T + 0, {}",
         of(*SHARED, stages=("generate",)), 0),
        ("rfstudy/study/sample.py", "min(n_train, most)", "min(n_train, int(most))",
         of(*SHARED, stages=("generate",)), 0),
        ("rfstudy/study/kinds/decay.py", "np.sqrt(2 * d)", "np.sqrt(2.0 * d)", of(measured=True), 0),
        # the kernel: everything
        ("random_features/kernels/gaussian.py", "class Gaussian(Scaled, GaussianSpectrum):",
         "class Gaussian(Scaled, GaussianSpectrum, object):",
         EVERYTHING, TUNED),
    ],
    ids=lambda value: value if isinstance(value, str) and value.endswith(".py") else "",
)  # fmt: skip
def test_an_edit_discards_exactly_the_cells_that_use_it(laboratory, module, old, new, expected, tuned):
    laboratory.edit(module, old, new)
    assert laboratory.recomputed() == (expected, tuned)
    # what was there before comes back
    laboratory.restore()
    assert laboratory.recomputed() == (set(), 0)
