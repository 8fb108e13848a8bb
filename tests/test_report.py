import base64
import re
import subprocess
import sys
import xml.etree.ElementTree
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from xsumstat import __main__ as cli
from xsumstat import report

mpl.use("Agg")


def run(capsys, *arguments):
    status = cli.main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


def test_the_demo_prints_a_table(capsys, demo):
    status, out, err = run(capsys, "demo", "--level", "input", "--n-resamples", "199")
    assert status == 0
    interval = demo.meta.ci("human", level="input", n_resamples=199, rng=0)
    tests = demo.meta.perm_test("human", level="input", alternative="greater", n_resamples=199, rng=0).meta.adjust(
        "holm"
    )
    beats = tests.meta.significant()
    lines = out.splitlines()
    order = interval.sortby("correlation", ascending=False).metric.values
    assert [line.split()[0] for line in lines[4:]] == list(order)
    for line in lines[4:]:
        metric = line.split()[0]
        here = interval.sel(metric=metric)
        numbers = [float(number) for number in re.findall(r"-?\d\.\d{3}", line)]
        np.testing.assert_allclose(numbers, [here.correlation, here.ci_low, here.ci_high], atol=5e-4)
        won = [label for label in beats.other_metric.values if beats.sel(metric=metric, other_metric=label)]
        assert line.split("]")[1].strip() == ("all others" if len(won) == 5 else ", ".join(won) or "–")
    assert "seed 0" in out and "human at input level" in out
    assert "done in" in err


@pytest.mark.parametrize("kind", ["wide.csv", "tidy.csv", "scores.parquet", "scores.nc", "folder"])
def test_files_of_every_kind(capsys, tmp_path, demo, kind):
    wide = demo.score.to_series().unstack("metric").reset_index()
    path = tmp_path / kind
    if kind == "wide.csv":
        wide.to_csv(path, index=False)
    elif kind == "tidy.csv":
        demo.meta.to_frame()[["metric", "system", "input", "score"]].to_csv(path, index=False)
    elif kind == "scores.parquet":
        wide.to_parquet(path)
    elif kind == "scores.nc":
        demo.to_netcdf(path)
    else:
        path.mkdir()
        rows = wide.to_dict("records")
        entries = [
            {"instance_id": row.pop("input"), "summarizer_id": row.pop("system"), "metrics": row} for row in rows
        ]
        pd.DataFrame(entries).to_json(path / "a.jsonl", orient="records", lines=True)
    status, out, _ = run(capsys, path, "--gold", "human", "--n-resamples", 49, "--metric", "judge", "rouge")
    assert status == 0
    r = demo.meta.corr("human", metric="judge").correlation
    assert re.search(rf"^judge +{float(r[0]):.3f} ", out, re.MULTILINE)


def test_columns_can_be_named(capsys, tmp_path, demo):
    wide = demo.score.to_series().unstack("metric").reset_index().rename(columns={"system": "model", "input": "doc"})
    both = pd.concat([wide.assign(language="en"), wide.assign(language="de")])
    both.to_csv(tmp_path / "scores.csv", index=False)
    status, out, _ = run(
        capsys, tmp_path / "scores.csv", "--gold", "human", "--system-column", "model", "--input-column", "doc",
        "--dim", "language", "--n-resamples", 49,
    )  # fmt: skip
    assert status == 0 and "language en" in out and "language de" in out


class Page(HTMLParser):
    """What a page refers to, its images, and its text."""

    def __init__(self, text):
        super().__init__()
        self.links, self.images, self.text, self.tags = [], [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href"):
                (self.images if tag == "img" else self.links).append(value)

    def handle_data(self, data):
        self.text += data


def test_the_page_needs_no_other_file(capsys, tmp_path):
    path = tmp_path / "report.html"
    status, out, err = run(capsys, "demo", "--output", path, "--n-resamples", 99)
    assert status == 0 and f"wrote {path}" in err
    page = Page(path.read_text(encoding="utf-8"))
    assert page.links == [] and "script" not in page.tags
    assert len(page.images) == 2
    for image in page.images:
        kind, data = image.split(",", 1)
        assert kind == "data:image/svg+xml;base64"
        assert xml.etree.ElementTree.fromstring(base64.b64decode(data)).tag.endswith("svg")
    for line in out.splitlines()[4:]:
        assert line.split()[0] in page.text
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_names_cannot_break_the_page(demo):
    evil = demo.assign_coords(metric=["human", "<script>alert(1)</script>", *demo.metric.values[2:]])
    page = report.make_report(evil, "<b>name</b>", n_resamples=49).html()
    assert "<script>" not in page and "<b>name" not in page and "&lt;script&gt;" in page


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        report.write_whole(path, "new")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["none.csv"], "error: no such file or folder: none.csv"),
        (["dmeo"], "no such file or folder: dmeo; did you mean 'demo'?"),
        (["demo", "--gold", "humn"], "error: unknown gold 'humn'; did you mean 'human'?"),
        (["demo", "--metric", "rouge2", "judge"], "error: unknown metric 'rouge2'; did you mean 'rouge'?"),
        (["demo", "--n-resamples", "0"], "error: n_resamples must be at least 1, got 0"),
        (["demo", "--confidence-level", "95"], "error: confidence_level must lie strictly between 0 and 1, got 95"),
        (["demo", "--alpha", "2"], "error: alpha must lie strictly between 0 and 1, got 2"),
        (["demo", "--seed", "-1"], "error: rng must be None, an int >= 0"),
        (["demo", "--output", "no/such/folder/report.html"], "there is no folder"),
        (["demo", "--output", "."], "is a folder; name a file"),
    ],
)
def test_bad_input_gets_a_message_and_status_2(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *arguments)
    assert status == 2 and out == "" and message in err and "Traceback" not in err


def test_a_file_without_the_gold_lists_what_there_is(capsys, tmp_path, demo):
    demo.score.to_series().unstack("metric").reset_index().to_csv(tmp_path / "a.csv", index=False)
    status, _, err = run(capsys, tmp_path / "a.csv")
    assert status == 2 and "gold is not given" in err and "'judge'" in err


def test_bad_arguments_exit_with_2(capsys):
    for arguments in ([], ["demo", "--level", "summary"], ["demo", "--coefficient", "r2"]):
        with pytest.raises(SystemExit) as error:
            cli.main(arguments)
        assert error.value.code == 2
    capsys.readouterr()


def test_warnings_are_one_plain_line(capsys, tmp_path, demo):
    few = demo.isel(system=slice(4)).score.to_series().unstack("metric").reset_index()
    few.to_csv(tmp_path / "few.csv", index=False)
    status, _, err = run(capsys, tmp_path / "few.csv", "--gold", "human", "--n-resamples", 20)
    assert status == 0 and "xsumstat: warning: only 4 systems" in err and "UserWarning" not in err


def test_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "xsumstat", "demo", "--n-resamples", "99"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "judge" in done.stdout
    failed = subprocess.run([sys.executable, "-m", "xsumstat", "nothing"], capture_output=True, text=True, check=False)
    assert failed.returncode == 2 and failed.stderr.startswith("xsumstat: error:") and not failed.stdout


def test_report_of_further_dims_has_a_table_for_each(demo):
    doubled = xr.concat([demo[["score"]], demo[["score"]]], "language").assign_coords(language=["en", "de"])
    made = report.make_report(doubled, "two", gold="human", n_resamples=49)
    assert [title for title, _ in made.tables()] == ["language en", "language de"]
    assert made.html().count("<table>") == 2
