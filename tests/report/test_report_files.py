"""Where a report is written: never over the scores, whole or not at all, through links and into devices."""

import errno
import re
from pathlib import Path

import pytest

from xsumstat.cli import main as cli
from xsumstat.io import whole_files


def run(capsys, *arguments):
    status = cli.main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


@pytest.fixture
def scores(tmp_path, demo):
    path = tmp_path / "scores.csv"
    demo.score.sel(metric=["human", "judge", "rouge"]).to_series().unstack("metric").reset_index().to_csv(
        path, index=False
    )
    return path


@pytest.mark.parametrize("kind", ["same", "relative", "symlink", "link to a link", "hard link", "other way"])
def test_the_page_does_not_replace_the_scores(capsys, tmp_path, monkeypatch, scores, kind):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    before, given, output = scores.read_bytes(), scores, tmp_path / "report.html"
    if kind == "same":
        output = scores
    elif kind == "relative":
        output = "sub/../scores.csv"
    elif kind == "symlink":
        output.symlink_to("scores.csv")
    elif kind == "link to a link":
        (tmp_path / "sub/link").symlink_to("../scores.csv")
        output.symlink_to("sub/link")
    elif kind == "hard link":
        output.hardlink_to(scores)
    else:
        given, output = tmp_path / "sub/given.csv", scores
        given.symlink_to(scores)
    status, out, err = run(capsys, given, "--gold", "human", "--n-resamples", 20, "--output", output)
    assert status == 2 and out == "" and "is the file" in err and "from which scores are read; name another" in err
    assert scores.read_bytes() == before


def test_the_page_does_not_replace_a_file_of_a_folder_or_of_a_data_set(capsys, tmp_path, monkeypatch):
    line = '{"instance_id": "d", "summarizer_id": "s", "metrics": {"human": 1}}'
    path = tmp_path / "realsumm/abs.pkl"
    path.parent.mkdir()
    for file in (tmp_path / "a.jsonl", path):
        file.write_text(line)
    monkeypatch.setenv("XSUMSTAT_DATA_DIR", str(tmp_path))
    for given, output in ((tmp_path, tmp_path / "a.jsonl"), ("realsumm", path)):
        status, _, err = run(capsys, given, "--gold", "human", "--output", output)
        assert status == 2 and "from which scores are read" in err and output.read_text() == line


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_a_link_and_its_target_is_written(capsys, tmp_path, scores, exists):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    target, link = folder / "page.html", tmp_path / "report.html"
    link.symlink_to("elsewhere/page.html")
    if exists:
        target.write_text("old")
        target.chmod(0o640)
    status, _, err = run(capsys, scores, "--gold", "human", "--n-resamples", 20, "--output", link)
    assert status == 0 and f"wrote {link}" in err
    assert link.is_symlink() and target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert [file.name for file in folder.iterdir()] == ["page.html"]
    if exists:
        assert target.stat().st_mode & 0o777 == 0o640


def test_the_target_of_a_link_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    target, link = tmp_path / "sub/page.html", tmp_path / "report.html"
    target.write_text("old")
    link.symlink_to(target)

    def fails(*_):
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(whole_files.os, "replace", fails)
        with pytest.raises(OSError, match="the disk is full"):
            whole_files.write_whole(link, "new")
    assert target.read_text() == "old" and link.is_symlink()
    assert [file.name for file in (tmp_path / "sub").iterdir()] == ["page.html"]


def test_a_device_is_written_to_and_not_replaced():
    whole_files.write_whole(Path("/dev/null"), "text")
    assert not Path("/dev/null").is_file()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_with_the_files_name(capsys, scores):
    status, _, err = run(capsys, scores, "--gold", "human", "--output", "/dev/full", "--n-resamples", 19)
    assert status == 2 and re.search(r"error: .*No space left on device: '/dev/full'$", err.strip())


def test_a_folder_that_cannot_be_written_into_is_told_by_the_files_name(tmp_path, monkeypatch):
    def refuses(**_):
        raise PermissionError(errno.EACCES, "Permission denied", str(tmp_path / ".xsumstat-123"))

    monkeypatch.setattr(whole_files.tempfile, "mkstemp", refuses)
    with pytest.raises(PermissionError, match="page.html") as error:
        whole_files.write_whole(tmp_path / "page.html", "new")
    assert ".xsumstat-" not in str(error.value)


def test_links_that_lead_in_a_circle_or_nowhere(capsys, tmp_path, scores):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "c").symlink_to("none/page.html")
    for name, text in (("a", f"--output {tmp_path / 'a'}: its links form a loop"), ("c", "there is no folder")):
        status, out, err = run(capsys, scores, "--gold", "human", "--output", tmp_path / name)
        assert status == 2 and out == "" and text in err and "Traceback" not in err
