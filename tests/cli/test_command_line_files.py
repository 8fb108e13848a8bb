"""The command line and files that are broken: an error of one or two lines, at once, and no traceback."""

import re

import pytest

from xsumstat.cli import main as cli

GOOD = "system,input,human,rouge\n" + "".join(
    f"s{system},i{item},{(system + item) % 5},{(system * item) % 7}\n" for system in range(6) for item in range(5)
)


def links_in_a_circle(folder):
    (folder / "b.csv").symlink_to(folder / "a.csv")
    (folder / "a.csv").symlink_to(folder / "b.csv")


def folder_of_links(folder):
    (folder / "a.csv").mkdir()
    (folder / "a.csv" / "x.jsonl").symlink_to(folder / "a.csv" / "y.jsonl")
    (folder / "a.csv" / "y.jsonl").symlink_to(folder / "a.csv" / "x.jsonl")


def as_bytes(content):
    return lambda folder: (folder / "a.csv").write_bytes(content)


FILES = {
    "empty": (as_bytes(b""), "cannot read a.csv as .csv: it is empty: its first line must name the columns"),
    "blank lines": (as_bytes(b"\n\n"), "it is empty"),
    "semicolons": (as_bytes(GOOD.replace(",", ";").encode()), "its columns are separated with semicolons"),
    "a header": (as_bytes(GOOD.split("\n")[0].encode() + b"\n"), "it has a header and no rows"),
    "UTF-16": (as_bytes(GOOD.encode("utf-16")), "not UTF-8 text .byte 0.; save it as UTF-8.*encoding='utf-16'"),
    "UTF-16 without a mark": (as_bytes(GOOD.encode("utf-16-le")), "line 1: it holds a NUL character.*save .* as UTF-8"),
    "Latin-1": (as_bytes(GOOD.replace("s1", "s\xe9").encode("latin-1")), "not UTF-8.*encoding='latin-1'"),
    "NUL in a label": (as_bytes(GOOD.replace("s1", "s\0").encode()), "line 7: it holds a NUL character"),
    "no results": (lambda folder: (folder / "a.csv").mkdir(), "no results in the folder .*a.csv: looked for .*jsonl"),
    "a circle of links": (links_in_a_circle, "no such file or folder: .*; it is a link, which leads in a circle"),
    "a folder of such": (folder_of_links, "no such file|circle|too many levels"),
    "nothing": (lambda folder: None, "no such file or folder"),
}


@pytest.mark.parametrize("where", ["scores", "human"])
@pytest.mark.parametrize("kind", FILES)
def test_a_broken_file_is_an_error_of_a_line(capsys, tmp_path, kind, where):
    write, message = FILES[kind]
    write(tmp_path)
    (tmp_path / "good.csv").write_text(GOOD.replace("human", "x"))
    asked = ["a.csv", "--gold", "human"] if where == "scores" else ["good.csv", "--gold-file", "a.csv"]
    asked = [str(tmp_path / each) if each.endswith("csv") else each for each in asked]
    assert cli.main(asked) == 2
    out, err = capsys.readouterr()
    errors = [line for line in err.splitlines() if line.startswith("xsumstat: error: ")]
    said = [line for line in err.splitlines() if not line.startswith("xsumstat:   ")]  # how columns were read
    assert out == "" and len(errors) == 1 and len(said) <= 2 and "Traceback" not in err
    if where == "scores" or "folder" not in kind and kind != "no results":
        assert re.search(message, errors[0]), errors[0]


@pytest.mark.parametrize(
    "option, value, message",
    [
        ("--n-resamples", "0", "--n-resamples must be at least 2, got 0"),
        ("--n-resamples", "1" + "0" * 30, "--n-resamples must be at most 100,000,000"),
        (
            "--confidence-level",
            "95",
            "--confidence-level must lie strictly between 0 and 1, got 95.0; write 0.95 for 95 %",
        ),
        ("--alpha", "0", "--alpha must lie strictly between 0 and 1, got 0"),
    ],
)
def test_numbers_are_refused_before_anything_is_read(capsys, tmp_path, option, value, message):
    assert cli.main([str(tmp_path / "there-is-none.csv"), "--gold", "human", option, value]) == 2
    assert message in capsys.readouterr().err
