"""The command line called by hand: what is wrong with an argument is reported by name, before anything is done."""

import errno
import io
import json
import os

import pytest
from checkouts import ROOT
from click.testing import CliRunner

from random_features.compare.command import PATIENCE
from random_features.errors import UserError
from rfstudy import cli
from rfstudy.study.provenance import write_choices

WRONG_WORK = [
    None, "{", "caf\xe9", "3", "[3]", "[{}]", '{"stage": "measure"}', '[{"stage": "measure"}]', '[{"stage": "../x"}]',
    '[{"stage": "collect", "out": "a.csv"}]', '[{"stage": "measure", "out": 3}]', '[{"stage": [], "out": "a"}]',
]  # fmt: skip


@pytest.mark.parametrize("content", WRONG_WORK)
def test_a_work_file_that_cannot_be_read_is_named(tmp_path, content):
    path = tmp_path / "work.json"
    if content is not None:
        path.write_bytes(content.encode("latin-1"))
    done = CliRunner().invoke(cli.commands, ["measure", str(path)])
    assert done.exit_code == 2
    assert "work.json is no work file" in "".join(line.strip() for line in done.output.splitlines())


@pytest.mark.parametrize("setting", ["foo", "repeats={", "repeats=2021-13-45", ""])
def test_a_setting_that_is_no_key_and_value_is_named(setting):
    done = CliRunner().invoke(cli.commands, ["plan", "--config", "repeats=3", "--config", setting])
    assert (done.exit_code, f"--config: repeats=3, {setting}: write KEY=VALUE" in done.output) == (2, True)


def test_settings_are_laid_over_a_file_as_snakemake_does(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    (tmp_path / "own.yaml").write_text("preset: quick\nlearners: {ridge: {n_folds: 3}}\n")
    found = cli.study_of(tmp_path / "own.yaml", ("learners={svm: {n_folds: 4}}", "only_datasets=")).settings
    assert [found["learners"][name]["n_folds"] for name in ("ridge", "svm")] == [3, 4]
    assert found["only_datasets"] == []


def run(folder, stage, work, *options):
    """Run a stage on a work file with these items, each with ``out`` a file of its own."""
    path = folder / "work.json"
    path.write_text(json.dumps([{"stage": stage, "out": f"{number}.csv"} | each for number, each in enumerate(work)]))
    return CliRunner().invoke(cli.commands, [stage, str(path), *options])


@pytest.mark.parametrize(("stage", "options", "taken"), [
    ("collect", [], {}), ("measure", ["--threads", "2"], {"threads": 2}), ("time", ["--threads", "2"], {}),
    ("collect", ["--threads", "2"], None),
])  # fmt: skip
def test_a_stage_does_what_its_work_file_lists_on_threads_to_compute(tmp_path, monkeypatch, stage, options, taken):
    done = []
    monkeypatch.setattr(f"rfstudy.study.{stage}.run", lambda **arguments: done.append(arguments))
    assert run(tmp_path, stage, [{}, {}], *options).exit_code == (2 if taken is None else 0)
    assert done == ([] if taken is None else [{"out": each} | taken for each in ("0.csv", "1.csv")])


def test_the_choices_of_all_files_reach_a_stage(tmp_path, monkeypatch):
    done, files = [], [str(tmp_path / f"{dataset}.json") for dataset in ("eeg", "skin")]
    for number, (dataset, path) in enumerate(zip(("eeg", "skin"), files, strict=True)):
        write_choices({dataset: {"penalty": number}}, {"run": dataset}, path)
    monkeypatch.setattr("rfstudy.study.train.run", lambda **arguments: done.append(arguments["chosen"]))
    assert run(tmp_path, "train", [{"tuned": files}]).exit_code == 0
    assert done == [{"eeg": {"penalty": 0}, "skin": {"penalty": 1}}]


def test_a_console_without_a_character_shows_its_code(monkeypatch):
    console = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(cli.sys, "stdout", console)
    monkeypatch.setattr(cli.commands, "main", lambda **options: print("Nystr\xf6m"))
    cli.main()
    console.flush()
    assert console.buffer.getvalue() == b"Nystr\\xf6m\n"


def test_no_index_is_written_where_no_output_is(tmp_path):
    done = CliRunner().invoke(cli.commands, ["index", str(tmp_path)])
    assert isinstance(done.exception, UserError)
    assert str(done.exception).startswith(f"{tmp_path} has no page of a table or a figure, pages/<paper>/<name>.html")
    assert "draw its pages first, by measured_figures or draw_measured_survey" in str(done.exception)
    assert not list(tmp_path.iterdir())


OF_DISKS = [errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.EPERM, errno.ENOSPC, errno.EACCES]


@pytest.mark.parametrize(("number", "error"), [*((each, SystemExit) for each in OF_DISKS), (errno.ENOENT, OSError)])
def test_a_path_that_no_file_can_have_and_a_disk_that_refuses_are_one_line(monkeypatch, capsys, number, error):
    def refuse(**_):
        raise OSError(number, "No", "some/file")

    monkeypatch.setattr(cli.commands, "main", refuse)
    with pytest.raises(error):
        cli.main()
    assert error is OSError or capsys.readouterr().err == f"error: [Errno {number}] No: 'some/file'\n"


def test_compare_lets_waiting_threads_leave_their_core_unless_the_user_has_said_how(monkeypatch, tmp_path):
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT")
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    CliRunner().invoke(cli.commands, ["compare", str(tmp_path / "none.csv"), "--target", "y"])
    assert os.environ["OPENBLAS_THREAD_TIMEOUT"] == PATIENCE["OPENBLAS_THREAD_TIMEOUT"]
    assert os.environ["OMP_WAIT_POLICY"] == "active"
