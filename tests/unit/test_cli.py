"""The command line called by hand: what is wrong with an argument is reported by name, before anything is done."""

import errno
import io
import json
import os

import pytest
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


def test_a_stage_does_all_that_its_work_file_lists(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr("rfstudy.study.collect.run", lambda **arguments: done.append(arguments))
    (tmp_path / "work.json").write_text(json.dumps([{"stage": "collect", "out": each} for each in ("a.csv", "b.csv")]))
    assert CliRunner().invoke(cli.commands, ["collect", str(tmp_path / "work.json")]).exit_code == 0
    assert done == [{"out": "a.csv"}, {"out": "b.csv"}]


@pytest.mark.parametrize(("stage", "taken"), [("measure", {"threads": 2}), ("time", {}), ("collect", None)])
def test_threads_are_an_option_of_the_stages_that_compute(tmp_path, monkeypatch, stage, taken):
    done = []
    monkeypatch.setattr(f"rfstudy.study.{stage}.run", lambda **arguments: done.append(arguments))
    (tmp_path / "work.json").write_text(json.dumps([{"stage": stage, "out": "a.csv"}]))
    result = CliRunner().invoke(cli.commands, [stage, str(tmp_path / "work.json"), "--threads", "2"])
    assert result.exit_code == (2 if taken is None else 0)
    assert done == ([] if taken is None else [{"out": "a.csv"} | taken])


def test_the_choices_of_all_files_reach_a_stage(tmp_path, monkeypatch):
    done, files = [], [str(tmp_path / f"{dataset}.json") for dataset in ("eeg", "skin")]
    for number, (dataset, path) in enumerate(zip(("eeg", "skin"), files, strict=True)):
        write_choices({dataset: {"penalty": number}}, {"run": dataset}, path)
    monkeypatch.setattr("rfstudy.study.train.run", lambda **arguments: done.append(arguments["chosen"]))
    (tmp_path / "work.json").write_text(json.dumps([{"stage": "train", "out": "a.csv", "tuned": files}]))
    assert CliRunner().invoke(cli.commands, ["train", str(tmp_path / "work.json")]).exit_code == 0
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


@pytest.mark.parametrize("number", [errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.EPERM])
def test_a_path_that_no_file_can_have_is_one_line(monkeypatch, capsys, number):
    def refuse(**_):
        raise OSError(number, "No", "some/file")

    monkeypatch.setattr(cli.commands, "main", refuse)
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().err == f"error: [Errno {number}] No: 'some/file'\n"


def test_compare_lets_waiting_threads_leave_their_core_unless_the_user_has_said_how(monkeypatch, tmp_path):
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT")
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    CliRunner().invoke(cli.commands, ["compare", str(tmp_path / "none.csv"), "--target", "y"])
    assert os.environ["OPENBLAS_THREAD_TIMEOUT"] == PATIENCE["OPENBLAS_THREAD_TIMEOUT"]
    assert os.environ["OMP_WAIT_POLICY"] == "active"
