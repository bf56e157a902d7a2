"""Which modules a result depends on, which edits change their hash, and which finished cells an edit discards."""

import os
import re
import shutil

import pytest
import study_toys as toys
from click.testing import CliRunner

from random_features.errors import UserError
from rfstudy import cli
from rfstudy.study import code, engine
from rfstudy.study.engine import Cell, Job
from rfstudy.study.journal import Journal
from rfstudy.study.kinds.grid import grid_cells
from rfstudy.study.kinds.registry import KINDS
from rfstudy.study.provenance import Run

PLANNING = {f"rfstudy.planning.{path.stem}" for path in (code.SOURCE / "rfstudy/planning").glob("[a-z]*.py")} | {
    "rfstudy.models", "rfstudy.data.registry", "rfstudy.data.forms", "rfstudy.outputs", "rfstudy.cli",
}  # fmt: skip
STAGES = ("tune", "train", "measure", "time", "collect", "publish")


def forget():
    """Empty the caches, which hold for one state of the packages."""
    for function in vars(code).values():
        getattr(function, "cache_clear", lambda: None)()


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A copy of both packages that may be edited, seen by the functions under test as the packages."""
    copy = tmp_path / "src"
    shutil.copytree(code.SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(code, "SOURCE", copy)
    forget()
    yield copy
    monkeypatch.undo()
    forget()


def edit(source, file, old, new):
    """Replace a text that a file has once, add to its end where ``old`` is empty, or write it where ``old`` is None."""
    path = source / file
    text = "" if old is None else path.read_text(encoding="utf-8")
    if old:
        assert text.count(old) == 1, (file, old)
    path.write_text(text.replace(old, new) if old else text + new, encoding="utf-8")
    forget()


@pytest.mark.parametrize(
    "module",
    [
        *(f"rfstudy.study.{stage}" for stage in STAGES),
        *(f"rfstudy.study.kinds.{kind}" for kind in KINDS),
        *("rfstudy.data.preprocess", "rfstudy.data.stream", "rfstudy.data.download"),
    ],
)
def test_what_runs_imports_nothing_that_plans(module):
    assert not PLANNING & set(code.import_closure(module))


def test_the_closure_follows_imports_and_holds_nothing_that_is_loaded_by_name():
    train = set(code.import_closure("rfstudy.study.train"))
    assert {"rfstudy.study.kinds.grid", "rfstudy.study.engine", "random_features.learners.entry"} <= train
    assert {"rfstudy", "rfstudy.study", "random_features"} <= train  # packages run, too
    loaded = {"random_features.learners.ridge", "random_features.maps.quasi", "rfstudy.study.kinds.decay"}
    assert not (loaded | {"random_features.maps.registry", "rfstudy.metrics"}) & train
    with_ridge = set(code.import_closure("rfstudy.study.train", "random_features.learners.ridge"))
    assert with_ridge > train | {"random_features.learners.ridge", "random_features.learners.streams"}
    assert "random_features.learners.svm" not in with_ridge
    with pytest.raises(FileNotFoundError, match=r"rfstudy\.study\.nothing"):
        code.import_closure("rfstudy.study.nothing")


SMALL = {
    "top": "import math\nfrom rfstudy.parts import half\n\ndef total(x):\n    'A text.'\n    return half(x)\n",
    "parts": "from . import low\n\nclass Base:\n    '''A text.'''\n    limit = 5\n\ndef half(x):\n    return x / 2\n",
    "low": "def late():\n    from rfstudy.deep import value as v\n    return v\n",
    "deep": "value = 1\n",
    "apart": "value = 1\n",
}


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A small package in place of ours: what hashes its module ``top`` after edits."""
    (tmp_path / "rfstudy").mkdir()
    monkeypatch.setattr(code, "SOURCE", tmp_path)

    def hash_after(**edits):
        for name, text in ({"__init__": ""} | SMALL | edits).items():
            (tmp_path / "rfstudy" / f"{name}.py").write_text(text)
        forget()
        return code.code_hash("rfstudy.top")

    yield hash_after
    forget()


@pytest.mark.parametrize(
    ("edits", "is_changed"),
    [
        ({"top": SMALL["top"].replace("half(x)\n", "2 * half(x)\n")}, True),
        ({"parts": SMALL["parts"].replace("5", "6")}, True),
        ({"deep": "value = 2\n"}, True),  # imported inside a function
        ({"__init__": "import sys\n"}, True),
        ({"top": '"""A module."""\n# a comment\n' + SMALL["top"].replace("A text", "Another")}, False),
        ({"top": SMALL["top"].replace("return half(x)", "return (\n        half(x)  # halved\n    )")}, False),
        ({"parts": SMALL["parts"].replace("A text", "Another")}, False),
        ({"apart": "value = 2\n"}, False),
    ],
)
def test_an_edit_of_what_is_imported_changes_the_hash_and_one_of_a_text_or_another_module_not(small, edits, is_changed):
    assert (small() != small(**edits)) == is_changed


def test_a_job_runs_the_code_that_it_was_planned_with(source, tmp_path, monkeypatch):
    """An edit that is taken back before the next plan leaves nothing that the edited code made."""
    path = code.stamp(tmp_path / "code", "rfstudy.study.collect")
    edit(source, "rfstudy/study/collect.py", "", "# a comment\n")
    code.load_as_planned(path)
    edit(source, "rfstudy/tidy.py", "", "EDITED = True\n")
    with pytest.raises(UserError, match=r"rfstudy\.tidy was edited after the plan was made: run the same command ag"):
        code.load_as_planned(path)
    done = CliRunner().invoke(cli.commands, ["collect", str(path), "--code", str(path)])
    assert isinstance(done.exception, UserError)
    path.write_text(path.read_text().replace(code.PYTHON, "python  2.7"))
    code.load_as_planned(path)


def test_an_edit_while_modules_are_imported_is_noticed(source, tmp_path, monkeypatch):
    path = code.stamp(tmp_path / "code", "rfstudy.study.collect")
    module = source / "rfstudy/tidy.py"
    monkeypatch.setattr(code.importlib, "import_module", lambda name: os.utime(module, (1, 1)))
    with pytest.raises(UserError, match=r"rfstudy\.tidy was edited"):
        code.load_as_planned(path)


def test_every_rule_that_has_code_as_a_parameter_checks_it():
    rules = {path.name: path.read_text() for path in (code.SOURCE.parent / "rules").glob("*.smk")}
    has_code, checks = r"\bcode_of\w*\(|JOBS\.params\b|code_behind\(", r"--code \{params.*code\]?:q}"
    with_code = {name for name, text in rules.items() if re.search(has_code, text)}
    assert with_code == {name for name, text in rules.items() if re.search(checks, text)}
    assert len(with_code) == 9


TOY = {
    "methods": [
        {"method": "rff"},
        {"method": "qmc", "preprocess": ["standard"]},
        {"method": "rff", "variant": "fixed", "length_scale": 2.0},
    ],
    "preprocess": ["minmax"],
    "bandwidth": {"rule": "median", "length_scale": None},
    "learners": {"ridge": toys.RIDGE, "svm": toys.SVM},
}
NAMES = ("rff", "qmc", "rff-fixed")


@pytest.fixture
def keys(source, tmp_path):
    """The keys of a small study's cells by stage, entry and learner, and of a kind without data, as the code is now."""
    toy, folder = toys.selected(repeats=1, **TOY), toys.write_data(tmp_path / "made", *toys.labelled())
    found = {}
    (part,) = toys.parts("train", toy)
    work = toys.job("train", part, folder, tmp_path / "journal")
    for learner in ("", "ridge", "svm"):
        for name, cell in zip(NAMES, grid_cells(part, {}, 5, learner), strict=True):
            found["train", name, learner] = (work, cell)
    decay = toys.part(kind="decay")
    entry = {"method": "rff", "options": {}}
    without_data = Job("measure", decay, Journal(tmp_path), Run("measure", {}, 1))
    found["measure", "rff", ""] = (without_data, Cell(entry, {"d": 2}))
    return lambda: {name: pair[0].key(pair[1]) for name, pair in found.items()}


def discarded(keys, source, edits):
    """The cells whose keys edits of the code change."""
    before = keys()
    for each in edits:
        edit(source, *each)
    return {name for name, key in keys().items() if key != before[name]}


NEW_MAP = """
    "plain": Entry("plain", "Plain", "Monte Carlo", ("gaussian",), "here", "O(s d)", True),
    "rff": """

HARMLESS = {
    "comments and docstrings": [
        ("random_features/maps/montecarlo.py", "", "# a comment\n"),
        ("rfstudy/study/train.py", '"""Return the error rows', '"""Another text. Return the error rows'),
        ("rfstudy/study/engine.py", "    def key(", "    # a comment\n    def key("),
    ],
    "units and labels": [
        ("rfstudy/metrics.py", '"mse": _cost("",', '"mse": _cost("m^2",'),
        ("rfstudy/metrics.py", "FACTS = {", 'FACTS = {\n    "regret": Fact("", "regret", "low"),'),
        ("random_features/maps/registry.py", '"Rahimi and Recht, NIPS 2007"', '"Rahimi and Recht"'),
    ],
    "a new map": [
        ("random_features/maps/registry.py", '\n    "rff": ', NEW_MAP),
        ("random_features/maps/plain.py", None, "class Plain:\n    pass\n"),
    ],
    "a new kernel": [
        ("random_features/kernels/registry.py", "KERNELS = {", 'KERNELS = {"sinc": Facts("Sinc", ()),'),
        ("random_features/kernels/sinc.py", None, "class Sinc:\n    pass\n"),
    ],
    "a new learner, kind, rule and step": [
        ("random_features/learners/registry.py", "LEARNERS = {", 'LEARNERS = {\n    "mean": Facts(Svm, "C", "C", ()),'),
        ("random_features/learners/mean.py", None, "LEARNER = None\n"),
        ("rfstudy/study/kinds/registry.py", "KINDS = {", 'KINDS = {\n    "other": Kind(Decay, None, 100),'),
        ("rfstudy/study/kinds/other.py", None, "CELLS = None\n"),
        ("rfstudy/data/bandwidths/unit.py", None, "LENGTH = 1\n"),
        ("rfstudy/data/steps/twice.py", None, "def fit(X_train):\n    return lambda X: 2 * X\n"),
    ],
    "planning": [
        (f"{module.replace('.', '/')}.py", "", "import antigravity\n")
        for module in sorted(PLANNING)
        if (code.SOURCE / f"{module.replace('.', '/')}.py").is_file()
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", HARMLESS)
def test_an_edit_that_changes_no_number_discards_no_cell(keys, source, what):
    assert discarded(keys, source, HARMLESS[what]) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "is_discarded"),
    [
        ("random_features/maps/quasi.py", lambda stage, name, learner: name == "qmc"),
        ("rfstudy/data/steps/standard.py", lambda stage, name, learner: name == "qmc"),
        ("rfstudy/data/steps/minmax.py", lambda stage, name, learner: stage != "measure" and name != "qmc"),
        ("rfstudy/data/bandwidths/median.py", lambda stage, name, learner: name != "rff-fixed" and stage != "measure"),
        ("random_features/kernels/gaussian.py", lambda stage, name, learner: True),
        ("random_features/kernels/cauchy.py", lambda stage, name, learner: False),
        ("random_features/learners/svm.py", lambda stage, name, learner: learner == "svm"),
        ("rfstudy/study/train.py", lambda stage, name, learner: stage == "train"),
        ("rfstudy/study/kinds/decay.py", lambda stage, name, learner: stage == "measure"),
        ("rfstudy/study/kinds/grid.py", lambda stage, name, learner: stage != "measure"),
        ("random_features/arrays.py", lambda stage, name, learner: True),
        ("rfstudy/study/sample.py", lambda stage, name, learner: True),
    ],
)  # fmt: skip
def test_an_edit_discards_the_cells_that_run_it(keys, source, file, is_discarded):
    expected = {cell for cell in keys() if is_discarded(*cell)}
    text = (source / file).read_text(encoding="utf-8")
    assert discarded(keys, source, [(file, None, f"{text}\nONE = 1\n")]) == expected
    assert engine.code_hash is code.code_hash  # the journal and the rules use one hash
