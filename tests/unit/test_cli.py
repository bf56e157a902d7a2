"""The command line called by hand: what is wrong with an argument is told with its name, before anything is done."""

import errno
import json

import pytest
from click.testing import CliRunner

from rfstudy import cli

PART = json.dumps([dict.fromkeys(cli.OF_EVERY_PART, "")])


def told(tmp_path, *arguments, **changes) -> str:
    """What a stage called with wrong arguments says."""
    options = {"spec": PART, "journal": str(tmp_path / "journal"), "out": str(tmp_path / "out.csv")}
    options |= {"out-arrays": str(tmp_path / "out.npz")} | changes
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    done = CliRunner().invoke(cli.commands, ["measure", *words, *arguments])
    assert done.exit_code == 2
    return " ".join(done.output.split())


@pytest.mark.parametrize("spec", ["[]", "{}", '["a"]', "[[]]"])
def test_a_specification_is_a_list_of_parts(tmp_path, spec):
    assert "'--spec': not a list of parts, one a data set" in told(tmp_path, spec=spec)


@pytest.mark.parametrize("spec", ["null", "5", '"x"'])
def test_a_specification_is_no_number_and_no_word(tmp_path, spec):
    assert f"'--spec': no mapping and no list: {spec}" in told(tmp_path, spec=spec)


@pytest.mark.parametrize("key", cli.OF_EVERY_PART)
def test_a_part_has_what_every_stage_must_know(tmp_path, key):
    parts = [dict.fromkeys(cli.OF_EVERY_PART, ""), dict.fromkeys(set(cli.OF_EVERY_PART) - {key}, "")]
    assert f"'--spec': part 1 lacks {key}" in told(tmp_path, spec=json.dumps(parts))


@pytest.mark.parametrize("threads", ["0", "-1"])
def test_threads_are_at_least_one(tmp_path, threads):
    assert "'--threads'" in told(tmp_path, threads=threads)


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    assert "is a directory" in told(tmp_path, out=str(tmp_path))
    assert "is a file" in told(tmp_path, journal=str(tmp_path / "file"))
    assert "is a file" in told(tmp_path, prepared=str(tmp_path / "file"))


@pytest.mark.parametrize("number", [errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.EPERM])
def test_a_path_that_no_file_can_have_is_one_line(monkeypatch, capsys, number):
    def refuse(**_):
        raise OSError(number, "No", "some/file")

    monkeypatch.setattr(cli.commands, "main", refuse)
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().err == f"error: [Errno {number}] No: 'some/file'\n"
