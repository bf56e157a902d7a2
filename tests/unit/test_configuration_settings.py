"""Settings and presets: what overrides what, and mistakes in them, which are one line that names file and remedy."""

import re
import shutil

import pytest
from checkouts import CONFIG
from refusals import message, messages
from snakemake.cli import parse_config

from rfstudy import outputs
from rfstudy.cli import commands
from rfstudy.files import read_yaml
from rfstudy.planning import check, config, plan
from rfstudy.report import catalogue
from rfstudy.study.kinds.registry import KINDS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the configuration, in the folder where the workflow would run."""
    shutil.copytree(CONFIG, tmp_path / "config")
    shutil.copytree(CONFIG.parent / "data" / "reference", tmp_path / "data" / "reference")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "config"


def edited(folder, name, old, new):
    path = folder / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def settings_of(folder, **given):
    files = [folder / "config.yaml"]
    return config.checked_settings(read_yaml(files[0]) | given, folder, files)


PRESET, GENERAL, SVM = "presets/laptop.yaml", "config.yaml", "{svm: {solver: newton"


@pytest.mark.parametrize(
    ("name", "old", "new", "line"),
    [
        (PRESET, "repeats: 10", "repeat: 10", "repeat: unknown key; did you mean repeats? known are"),
        (PRESET, "repeats: 10", "repeats: 9999999", "repeats: 9999999: input should be less than or equal"),
        (PRESET, "repeats: 10", "repeats: 3.0", "repeats: 3.0: input should be a valid integer"),
        (PRESET, "repeats: 10", "repeats: 10\nrepeats: 4", "line 7: the key 'repeats' is given twice, first in line 6"),
        (PRESET, SVM, "{svm: {repeats: -1", "learners.svm.repeats: -1: input should be greater"),
        (PRESET, SVM, "{svm: {solvr: newton", "learners.svm.solvr: unknown key; did you mean solver?"),
        (PRESET, SVM, "{svn: {solver: newton", "learners.svn: unknown key; did you mean svm? known"),
        (PRESET, "by: [experiment", "by: [dataset", "shard_by: must be paper, or a beginning of experiment"),
        (PRESET, "shortest: 0.02", "shortest: .inf", "line"),
        (GENERAL, "seed: 2021", "seed: 9223372036854775808", "seed: 9223372036854775808: input should be less than"),
        (GENERAL, "seed: 2021", "sed: 2021", "sed: unknown key; did you mean seed? known are allow_missing"),
        (GENERAL, "preset: laptop", "preset: laptpo", "preset: there is no 'laptpo'; did you mean laptop?"),
    ],
)
def test_a_mistake_in_the_settings_names_the_file_that_has_it(folder, name, old, new, line):
    edited(folder, GENERAL, "preset: quick", "preset: laptop")
    edited(folder, name, old, new)
    (found,) = messages(settings_of, folder)
    assert found.startswith(f"config/{name}: {line}")
    # the command chooses the preset itself
    assert new == "preset: laptpo" or messages(check.problems_of_preset, folder, "laptop") == [found]


@pytest.mark.parametrize("listed", [",", "eeg,", "eeg,,skin"])
def test_a_list_with_an_empty_name_does_not_keep_everything(folder, listed):
    (line,) = messages(settings_of, folder, only_datasets=listed)
    assert line.endswith(f"only_datasets: {listed!r} has a comma that no name follows or precedes")
    assert settings_of(folder, only_datasets="")["only_datasets"] == []


def test_presets_are_not_laid_over_each_other(folder):
    def found(chosen, *files):
        given = {key: value for path in files for key, value in read_yaml(path).items()} | {"preset": chosen}
        (line,) = messages(config.checked_settings, read_yaml(folder / "config.yaml") | given, folder, files)
        return line

    presets = folder / "presets"
    assert found("quick", presets / "laptop.yaml") == (
        "config/presets/laptop.yaml: is laid over the preset quick: one preset is chosen at a time"
    )
    shutil.copy(presets / "laptop.yaml", presets / "mine.yaml")
    assert found("mine") == "--config: presets/mine.yaml names the preset 'laptop', not 'mine'"
    edited(folder, "presets/mine.yaml", "preset: laptop", "preset: measured")
    (presets / "mine.yaml").rename(presets / "measured.yaml")
    assert "measured is the name of the shipped measurements" in found("measured")


def test_a_preset_overrides_the_defaults_however_it_is_chosen_and_is_overridden(folder):
    path = folder / "presets" / "mine.yaml"
    own = "preset: mine\nseed: 7\nonly_datasets: [eeg]\nmax_mem_mb: 900"
    path.write_text((folder / PRESET).read_text("utf-8").replace("preset: laptop", own), "utf-8")
    by_name, by_file = settings_of(folder, preset="mine"), read_yaml(folder / "config.yaml") | read_yaml(path)
    assert (by_name["seed"], by_name["only_datasets"], by_name["max_mem_mb"]) == (7, ["eeg"], 900)
    assert config.checked_settings(by_file, folder, [folder / "config.yaml", path]) == by_name
    reset = config.checked_settings(by_file | {"seed": 2021}, folder, [folder / "config.yaml", path])
    assert reset == by_name | {"seed": 2021}
    assert settings_of(folder, preset="mine", seed=8)["seed"] == 8


def test_settings_are_the_preset_under_what_the_user_gives(tmp_path):
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets" / "tiny.yaml").write_text(
        "preset: tiny\nrepeats: 3\nmax_rows: 10\nlearners: {svm: {repeats: 2, solver: newton}}\n"
    )
    general = {"only_experiments": [], "only_datasets": "eeg, skin", "only_methods": [], "only_sizes": 1000}
    # as they come from a command line: a number alone is one, what is inside a mapping a text
    given = {
        "preset": "tiny", "repeats": 5, "allow_missing": "true", "max_rows": "null",
        "learners": {"svm": {"repeats": "1", "max_entries": "1e6", "scale": "1.0e+6"}}, **general,
    }  # fmt: skip
    settings = config.load_settings(given, tmp_path)
    assert (settings["repeats"], settings["allow_missing"], settings["max_rows"]) == (5, True, None)
    assert (settings["only_datasets"], settings["only_sizes"]) == (["eeg", "skin"], ["1000"])
    assert settings["learners"] == {"svm": {"repeats": 1, "solver": "newton", "max_entries": 1e6, "scale": 1e6}}


def loaded(folder, **given):
    files = [folder / "config.yaml"]
    study = config.load_study(read_yaml(files[0]) | given, folder, files)
    outputs.load_reports(folder, study.experiments, study.methods, study.registry.tasks)
    return study


@pytest.mark.parametrize("preset", ["quick", "laptop", "paper"])
def test_the_configuration_of_the_repository_is_in_order_and_is_planned(preset):
    study = loaded(CONFIG, preset=preset)
    # all sizes of this one are above the largest of the quick preset
    assert set(study.experiments) - set(study.chosen) == ({"slsrff-code-large"} if preset == "quick" else set())
    for experiment in study.chosen.values():
        for stage in ("tune", "train", "measure", "time"):
            assert all(shard.parts for shard in plan.shards_of(stage, experiment, study.settings))


def test_the_command_check_reads_the_entries_of_figures(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(catalogue, "modules_of", lambda spec: ["rfstudy.report.plots.graphs"])
        patch.setitem(KINDS, "graphs", None)
        found = messages(commands.main, ["check"], standalone_mode=False)
        assert [line.split()[-1] for line in found] == ["'rfstudy.report.plots.graphs'", "'rfstudy.study.kinds.graphs'"]
    monkeypatch.setattr(check, "problems_of_preset", lambda folder, preset: ["the same"])
    assert messages(commands.main, ["check"], standalone_mode=False) == ["laptop, paper, quick: the same"]
    edited(folder, "figures/survey.yaml", "extends: figure-09", "extends: figure-99")
    found = message(commands.main, ["check"], standalone_mode=False)
    assert "'figure-99', which does not exist; did you mean figure-09" in found
    edited(folder, "datasets.yaml", '  labels: {"-1": -1, "1": 1}\n', "")
    assert "ijcnn1: it needs labels" in message(commands.main, ["check"], standalone_mode=False)


def test_mistakes_in_several_files_are_reported_together(folder):
    edited(folder, "datasets.yaml", "parser: libsvm", "parser: libsmv")
    edited(folder, "methods.yaml", "colour: ", "color: ")
    assert messages(settings_of, folder, seed=".nan")[0].startswith("--config: seed: ")
    found = messages(loaded, folder, sed=3)
    assert [line.split(":")[0] for line in found] == ["--config", "config/datasets.yaml", "config/methods.yaml"]
    assert found[0].startswith("--config: sed: unknown key; did you mean seed?")
    assert found[2].startswith("config/methods.yaml: rff.color: unknown key; did you mean colour? known are colour")


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ({"only_datasets": "cifar10-dog-frog-images"}, ["only_datasets: 'cifar10-dog-frog-images'"]),
        ({"only_experiments": ["theory-decay"], "only_datasets": ["eeg"]}, ["only_experiments: ", "only_datasets: "]),
        ({"only_experiments": ["theory-decay"], "only_methods": ["rff", "lsrff"]}, ["only_methods: 'lsrff'"]),
        ({"only_sizes": ["64d"]}, ["only_sizes"]),
    ],
)
def test_a_restriction_that_leaves_nothing_is_an_error(given, lines):
    found = messages(loaded, CONFIG, **given)
    assert len(found) == len(lines)
    assert all(line.startswith(start) for line, start in zip(found, lines, strict=True))


def test_names_that_two_methods_and_ids_that_two_claims_have_are_errors(folder):
    edited(folder, "../data/reference/claims.csv", "eerf-02,", "eerf-01,")
    assert messages(loaded, folder)[0].startswith("data/reference/claims.csv: eerf-01 is there twice: give each claim")
    edited(folder, "../data/reference/claims.csv", "eerf-01,qualitative,", "eerf-01,")
    assert "eerf-01: another number of columns than in line 1" in messages(loaded, folder)[0]
    edited(folder, "methods.yaml", "published_as: {survey: NRFF}", "published_as: {survey: RFF}")
    (found,) = messages(config.load_methods, folder)
    assert found == "config/methods.yaml: rff and nrff are both published as 'RFF' in survey"


@pytest.mark.parametrize("path", sorted(CONFIG.rglob("*.yaml")), ids=lambda path: path.stem)
def test_every_anchor_is_used(path):
    text = path.read_text(encoding="utf-8")
    anchors = set(re.findall(r"(?<=[\s\[{:-])&(\w+)", text))
    assert anchors == {name for name in anchors if re.search(rf"\*{name}\b", text)}


@pytest.mark.parametrize("key", config.NAMES)
def test_a_name_is_the_text_of_the_command_line_or_refused(key):
    for name in ("2024_01", "007", "0", "1e3", "true", "nan", "a #1", "x: y", "plain", ""):
        given = parse_config([f"{key}={name}"])
        config.restore_names(given, ["compare", "--config", f"{key}={name}"])
        assert given == {key: name}
    for value in (7, 0, 1e3, True, {"x": "y"}) if key != "only_sizes" else ():  # sizes are numbers
        (line,) = messages(config.restore_names, {key: value}, ["compare"])
        assert line.startswith(f"{key}: {value!r} is not a text: write")


def test_a_quoted_name_in_a_file_stays_a_text():
    settings = config.load_settings({"preset": "quick", "only_datasets": ["007"], "mirror": "2024_01"}, CONFIG)
    assert (settings["only_datasets"], settings["mirror"]) == (["007"], "2024_01")
