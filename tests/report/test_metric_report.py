import html
import re
import subprocess
import sys
import time
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import of_code, warns

import xsumstat
from xsumstat.cli import main as cli
from xsumstat.io import whole_files
from xsumstat.report import metric_report, report_data, report_pictures

mpl.use("Agg")


@pytest.fixture(scope="module")
def made():
    return metric_report.report(xsumstat.load_dataset("demo"), "human", name="demo")


@pytest.fixture(scope="module")
def written(made):
    return made.html()


def run(capsys, *arguments):
    status = cli.main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


def table_rows(text):
    """The lines below the rule of the first table."""
    lines = text.splitlines()
    return lines[next(at for at, line in enumerate(lines) if line.startswith("---")) + 1 :]


def test_the_demo_prints_a_table(capsys, demo):
    status, out, err = run(capsys, "demo", "--level", "input")
    assert status == 0
    interval = demo.meta.ci("human", level="input")
    beats = [
        tests.significant & (tests.difference > 0)
        for tests in (demo.meta.compare_metrics("human", level="input", resample=each) for each in ("both", "input"))
    ]
    lines = table_rows(out)
    order = interval.sortby("correlation", ascending=False).metric.values
    assert [line.split()[0] for line in lines] == list(order)
    for line in lines:
        metric = line.split()[0]
        here = interval.sel(metric=metric)
        numbers = [float(number) for number in re.findall(r"-?\d*\.\d{2,}", line)]
        np.testing.assert_allclose(numbers, [here.correlation, here.ci_low, here.ci_high], atol=5e-3)
        for told, each in zip(re.split(r"\s{2,}", line.split("]")[1].strip()), beats, strict=True):
            won = [label for label in order if each.sel(metric=metric, other_metric=label)]
            assert told == ("all others" if len(won) == 5 else ", ".join(won) or "–")
    words = " ".join(out.split())
    assert "human at input level" in words and "Holm over all tests, intervals not corrected; alpha .05" in words
    assert "beats (these" in words
    assert "For systems and inputs like these, judge" in words and "For these 12 systems on inputs like these," in words
    assert "95 % jackknife intervals (each system and each input left out in turn)" in words
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
    assert re.search(rf"^judge +{float(r[0]):.2f} ".replace("0.", "."), out, re.MULTILINE)


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
    """What a page refers to outside of itself, its tags, the alternatives of its pictures, and its text."""

    def __init__(self, text):
        super().__init__()
        self.links, self.pictures, self.text, self.tags, self.ids, self.used = [], [], "", [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        given = dict(attrs)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "srcset", "action", "poster"):
                (self.used if value.startswith("#") else self.links).append(value.removeprefix("#"))
            self.used += re.findall(r"url\(#(.*?)\)", value or "")
        if given.get("role") == "img":
            self.pictures.append(given["aria-label"])
        if "id" in given:
            self.ids.append(given["id"])

    def handle_data(self, data):
        self.text += data


def test_the_page_needs_no_other_file(capsys, tmp_path):
    path = tmp_path / "report.html"
    status, out, err = run(capsys, "demo", "--output", path, "--n-resamples", 99)
    assert status == 0 and f"wrote {path}" in err
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    assert page.links == [] and "script" not in page.tags and "img" not in page.tags
    assert "@import" not in text and "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert len(page.pictures) == 3 and page.tags.count("svg") == 6
    for line in table_rows(out):
        assert line.split()[0] in page.text
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_ids_of_a_page_are_its_own(written):
    """What two drawings in one page call alike would be drawn from the first."""
    page = Page(written)
    assert len(page.ids) == len(set(page.ids)) and page.used and set(page.used) <= set(page.ids)


@pytest.mark.slow
def test_a_page_is_the_same_each_time(made, written):
    assert made.html() == written


def test_pictures_tell_their_numbers_in_words(made, written):
    forest, matrix, of_these = Page(written).pictures
    for metric in made.intervals.metric.values:
        here = made.intervals.sel(metric=metric)
        r, low, high = (
            f"{float(here[name]):.2f}".replace("0.", ".", 1) for name in ("correlation", "ci_low", "ci_high")
        )
        assert f"{metric} {r} [{low}, {high}]" in forest
    for tests, words in ((made.tests, matrix), (made.tests_of_these, of_these)):
        p = tests.pvalue_adjusted.sel(metric="judge", other_metric="bertscore").item()
        assert f"judge and bertscore p = {p:.3f}, ".replace("0.", ".") in words
        assert len(re.findall(r" p [=<] ", words)) == 15


def test_words_of_pictures_are_text(written):
    """They can be selected, searched for and read in the reader's own fonts."""
    assert len(re.findall(r"<text[^>]*>judge</text>", written)) == 2 * 5  # light and dark: one row of each, two columns


def test_the_page_tells_of_the_scores(demo):
    gaps = demo.copy(deep=True)
    gaps.score[2, :3, 4] = gaps.score[0, 0, 0] = float("nan")
    gaps["rating"] = xr.concat([gaps.score[0] * 1.1, gaps.score[0] * 0.9], "rater").drop_vars("metric")
    with pytest.warns(UserWarning):
        told = dict(
            metric_report.report(gaps, "human", metric=["judge", "bertscore", "perplexity"], n_resamples=999).data
        )
    assert told["systems"] == "12" and told["inputs"] == "30" and told["metrics"].startswith("3; not judged: rouge,")
    assert told["direction"].startswith("lower is better for perplexity")
    assert told["missing"] == "bertscore 3 of 360 scores each; human (human) 1 of 360"
    assert told["raters"] == "2 in rating (718 ratings)"
    of_several = report_data._raters("rating", gaps.rating.expand_dims(quality=2))
    assert of_several == "2 in rating, for 2 labels of quality together (1,436 ratings)"


def test_other_human_scores_are_not_judged_unless_named(demo):
    two = demo.assign_coords(kind=("metric", ["human", "human", *["automatic"] * 5]))
    made = metric_report.report(two, n_resamples=999)
    assert "judge" not in made.intervals.metric and made.intervals.sizes["metric"] == 5
    assert dict(made.data)["metrics"] == "5; not judged: judge"
    assert "judge" in metric_report.report(two, metric=["judge", "rouge"], n_resamples=999).intervals.metric


ASKED = [
    {},
    {"level": "input", "coefficient": "kendall", "resample": "input", "confidence_level": 0.9},
    {"metric": ["judge", "rouge", "length"], "adjust": "bh", "alpha": 0.1},
    {"coefficient": "spa", "n_resamples": 99, "rng": np.random.SeedSequence(3), "metric": ["judge", "bleu"]},
    {"metric": ["judge"]},
]


@pytest.mark.parametrize("asked", ASKED)
def test_the_code_gives_the_numbers(demo, asked):
    made = metric_report.report(demo, "human", **asked)
    names = {"ds": demo}
    exec(made.code, names)
    xr.testing.assert_identical(names["intervals"], made.intervals.drop_vars("samples", errors="ignore"))
    for name in ("tests", "tests_of_these"):
        of_report = getattr(made, name)
        assert (name in names) == (of_report is not None)
        if of_report is not None:
            xr.testing.assert_identical(names[name], of_report)
    assert (made.tests_of_these is None) == (asked.get("resample") == "input" or asked.get("metric") == ["judge"])


def test_code_of_names_that_need_quotes(demo):
    odd = demo.assign_coords(metric=["hu'man", 'a"b', "c\nd", "e\\f", *demo.metric.values[4:]])
    made = metric_report.report(odd, "hu'man", metric=['a"b', "c\nd", "e\\f"], n_resamples=999)
    names = {"ds": odd}
    exec(made.code, names)
    xr.testing.assert_identical(names["tests"], made.tests)


def a_coefficient(x, z):
    return float(np.sign(x[0] - x[1]) == np.sign(z[0] - z[1]))


def test_a_function_of_the_reader_is_named_in_the_code(demo):
    made = metric_report.report(demo, "human", metric=["judge"], coefficient=a_coefficient, n_resamples=19)
    names = {"ds": demo, "a_coefficient": a_coefficient}
    exec(made.code, names)
    xr.testing.assert_identical(names["intervals"], made.intervals.drop_vars("samples"))
    assert "a_coefficient with human" in Page(made.html()).text


def test_gold_may_be_an_array(demo):
    gold = demo.score.sel(metric="human", drop=True).rename("people")
    made = metric_report.report(demo, gold, metric=["judge", "rouge"], n_resamples=999)
    names = {"ds": demo, "gold": gold}
    exec(made.code, names)
    xr.testing.assert_identical(names["tests"], made.tests)
    assert dict(made.data)["human scores"] == "people, 12 systems × 30 inputs"


def test_what_a_paper_says_stands_in_the_page(made, written):
    text = " ".join(Page(written).text.split())
    for result in (made.intervals, made.tests):
        assert result.meta.methods() in text


def test_a_source_stands_in_the_code(demo):
    made = metric_report.make_report(demo, "demo", metric=["judge"], source='ds = xsumstat.load_dataset("demo")')
    names = {}
    exec(made.code, names)
    xr.testing.assert_identical(names["intervals"], made.intervals)


def test_as_text_and_saved(tmp_path, made, written):
    assert repr(made) == str(made) == made.text()
    text = " ".join(str(made).split())
    assert "judge beats bleu and length" in text
    assert "Its correlation is higher than that of every other metric in these data." in text
    made.save(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == written


def test_another_level_of_the_tests_is_that_of_the_verdict(demo):
    strict = metric_report.report(demo, "human", alpha=0.01)
    assert "alpha .01;" in " ".join(strict.verdict())


def test_an_inline_report_leaves_the_notebook_alone(made):
    """Every rule of its style is about itself."""
    inline = made._repr_html_()
    style = re.search(r"<style>(.*?)</style>", inline, re.DOTALL)[1]
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", style.replace("@container (max-width: 38rem) {", ""))
    assert len(rules) > 20 and all(".xsumstat-report" in rule for rule in rules)
    assert inline.count("<style") == 1 and "<body" not in inline and "<h1" not in inline


@pytest.mark.parametrize(
    "won, told",
    [
        ([False, True, True, True, True, True, True, True], "all others"),
        ([False, False, True, True, True, True, True, True], "all 6 from c down"),
        ([False, False, True, True, True, False, True, True], "c, d, e, g, h"),
        ([False] * 6 + [True, True], "g, h"),
        ([False] * 8, "–"),
    ],
)
def test_long_lists_of_the_beaten_are_told_by_where_they_begin(won, told):
    assert metric_report._beaten(list("abcdefgh"), won, 0) == told


def test_a_few_that_are_spared_are_named():
    won = [False, True] + [True] * 10
    won[5] = False
    assert metric_report._beaten(list("abcdefghijkl"), won, 0) == "all 10 from b down but f"


def test_metrics_without_a_correlation_come_last(demo):
    flat = demo.assign(score=demo.score.where(demo.metric != "rouge", 1.0))
    with pytest.warns(UserWarning):
        made = metric_report.report(flat, "human", metric=["judge", "rouge", "bleu"], n_resamples=999)
    assert made.tables()[0][1]["metric"].tolist() == ["judge", "bleu", "rouge"]


@pytest.mark.slow
def test_names_of_ten_thousand_characters_are_quick(demo):
    def seconds(names):
        made = metric_report.report(demo.assign_coords(metric=names), names[0], n_resamples=999)
        start = time.process_time()
        page = made.html()
        made.text()
        return time.process_time() - start, page

    usual = min(seconds(demo.metric.values.tolist())[0] for _ in range(2))
    took, page = seconds([f"{name}{'x' * 10_000}" for name in demo.metric.values])
    assert took < usual + 1
    assert "judge" + "x" * 10_000 in page  # whole in the table
    assert (
        max(len(text) for text in re.findall(r"<text[^>]*>(.*?)</text>", page)) <= 130
    )  # a line of a note; names are shortened


@pytest.mark.slow
def test_the_page_has_the_intervals_of_the_terminal(capsys, tmp_path):
    """Draws that are kept for a picture would make another interval of the jackknife's."""
    arguments = ("demo", "--level", "input", "--n-resamples", 999)
    _, plain, _ = run(capsys, *arguments)
    _, beside_a_page, _ = run(capsys, *arguments, "--output", tmp_path / "a.html")
    assert plain == beside_a_page


@pytest.mark.parametrize(
    "resample, told, holds",
    [
        ("both", "each system and each input left out in turn", "for systems and inputs like these."),
        ("system", "each system left out in turn", "for systems like these on these 30 inputs."),
        ("input", "each input left out in turn", "for these 12 systems on inputs like these."),
    ],
)
def test_what_is_random_is_told(demo, resample, told, holds):
    made = metric_report.make_report(demo, "demo", metric=["judge"], resample=resample)
    assert f"95 % jackknife intervals ({told}); xsumstat" in made.about()
    assert f"plausible values {holds}" in " ".join(made.html().split())


def test_a_coefficient_without_a_jackknife_has_a_bootstrap_whose_samples_are_drawn(demo):
    made = metric_report.make_report(
        demo, "demo", metric=["judge"], coefficient="spa", n_resamples=99, keep_samples=True
    )
    assert "95 % percentile bootstrap intervals (systems and inputs resampled, 99 times); seed 0;" in made.about()
    assert made.intervals.samples.sizes["resample"] == 99


def test_too_few_systems_have_no_interval(demo):
    few = demo.isel(system=slice(3))
    with warns("no_interval"), warns("few_systems"):
        made = metric_report.make_report(few, "few", metric=["judge", "rouge"], level="input", resample="both")
    assert made.text().count(" none ") == 2 and "nan" not in made.text()
    assert "no jackknife interval, which needs 4 systems" in made.html()


def test_pictures_of_a_page_leave_a_notebook_s_own_pictures_on(monkeypatch):
    """A notebook's backend comes with the first figure and switches interactive mode on, here as well."""
    from matplotlib import pyplot as plt

    def draw():
        plt.interactive(True)
        return plt.subplots()[1]

    monkeypatch.setitem(plt.rcParams, "interactive", False)
    report_pictures.figure(draw, "label", "words")
    assert plt.isinteractive()


def test_names_cannot_break_the_page(demo):
    evil = ["<script>alert(1)</script>", "a\"b'c&d", "\u202etxt.exe", "a\x00\x1bb", "אבג", "two\nlines", "$x_1"]
    odd = demo.assign_coords(metric=["human", *evil[:6]])
    made = metric_report.make_report(odd, "<b>name</b>", n_resamples=999)
    for page in (made.html(), made._repr_html_()):
        assert "<script>" not in page and "<b>name" not in page and "&lt;script&gt;" in page
        assert "\u202e" not in page and "\x00" not in page and "אבג" in page
        Page(page).text.encode()
    assert len(table_rows(made.text())) == 6


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        whole_files.write_whole(path, "new")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["none.csv"], "error: no such file or folder: none.csv"),
        (["dmeo"], "no such file or folder: dmeo; did you mean 'demo'?"),
        (["demo", "--gold", "humn"], "error: unknown gold 'humn'; did you mean 'human'?"),
        (["demo", "--metric", "rouge2", "judge"], "error: unknown metric 'rouge2'; did you mean 'rouge'?"),
        (["demo", "--n-resamples", "0"], "error: --n-resamples must be at least 2, got 0"),
        (
            ["demo", "--lower-is-better", "rouge2"],
            "unknown metric in --lower-is-better 'rouge2'; did you mean 'rouge'?",
        ),
        (["demo", "--confidence-level", "95"], "error: --confidence-level must lie strictly between 0 and 1, got 95"),
        (["demo", "--alpha", "2"], "error: --alpha must lie strictly between 0 and 1, got 2"),
        (["demo", "--output", "no/such/folder/report.html"], "there is no folder"),
        (["demo", "--output", "."], "is a folder; name a file"),
    ],
)
def test_bad_input_gets_a_message_and_status_2(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *arguments)
    assert status == 2 and out == "" and message in err and "Traceback" not in err


def test_a_file_without_the_gold_lists_what_there_is(capsys, tmp_path, demo):
    frame = demo.score.to_series().unstack("metric").reset_index().rename(columns={"human": "people"})
    frame.to_csv(tmp_path / "a.csv", index=False)
    status, _, err = run(capsys, tmp_path / "a.csv")
    assert status == 2 and "no human scores found; name them: --gold COLUMN" in err and "'judge'" in err


def test_the_gold_is_looked_for_before_rows_are_read(capsys, tmp_path):
    (tmp_path / "a.csv").write_text("system,input, people ,judge\na,1,2,3,4,5\n")  # a row of which an error would be
    for more, message in (
        (
            [],
            "FILE; columns: 'system', 'input', 'people', 'judge'. For human scores in 'people' and judges",
        ),
        (["--gold", "peple"], "unknown gold 'peple'; did you mean 'people'? columns: 'people', 'judge'"),
        (["--gold", "input"], "unknown gold 'input'"),
        (["--gold", "people"], "line 2: 6 fields, but the header has 4"),
    ):
        status, _, err = run(capsys, tmp_path / "a.csv", *more)
        assert status == 2 and message in err, err


def test_bad_arguments_exit_with_2(capsys):
    for arguments in ([], ["demo", "--level", "summary"], ["demo", "--coefficient", "r2"], ["demo", "--seed", "x"]):
        with pytest.raises(SystemExit) as error:
            cli.main(arguments)
        assert error.value.code == 2
    capsys.readouterr()


def test_warnings_are_one_plain_line(capsys, tmp_path, demo):
    few = demo.isel(system=slice(4)).score.to_series().unstack("metric").reset_index()
    few.to_csv(tmp_path / "few.csv", index=False)
    status, _, err = run(capsys, tmp_path / "few.csv", "--gold", "human", "--level", "system")
    assert status == 0 and err.count("xsumstat: warning: only 4 systems") == 1 and "UserWarning" not in err


def test_one_metric_gets_its_interval(capsys, tmp_path):
    status, out, _ = run(capsys, "demo", "--metric", "judge", "--output", tmp_path / "a.html")
    assert status == 0 and "judge" in out and "beats" not in out
    assert len(Page((tmp_path / "a.html").read_text(encoding="utf-8")).pictures) == 1


def test_lower_is_better_can_be_said(capsys):
    _, usual, _ = run(capsys, "demo", "--metric", "length", "--n-resamples", 20)
    _, turned, _ = run(capsys, "demo", "--metric", "length", "--n-resamples", 20, "--lower-is-better", "length")
    assert re.search(r"length +\.32", usual) and re.search(r"length +-\.32", turned)


def test_human_scores_are_not_judged_unless_named(capsys, tmp_path, demo):
    two = demo.assign_coords(kind=("metric", ["human", "human", *["automatic"] * 5]))
    two.to_netcdf(tmp_path / "a.nc")
    status, out, err = run(capsys, tmp_path / "a.nc", "--n-resamples", 999)
    assert status == 0 and "judge" not in out and "evaluating the 5 automatic metrics" in err
    _, out, _ = run(capsys, tmp_path / "a.nc", "--n-resamples", 999, "--metric", "judge", "rouge")
    assert "judge" in out


@pytest.mark.parametrize(
    "systems, level, coefficient", [(8, "system", "pearson"), (7, "input", "kendall"), (2, "global", "pearson")]
)
def test_the_level_goes_by_the_number_of_systems(demo, systems, level, coefficient):
    made = metric_report.report(demo.isel(system=slice(systems)), "human", metric=["judge", "rouge"])
    attrs = made.tests.attrs
    assert (attrs["level"], attrs["coefficient"]) == (level, coefficient)
    assert attrs["resample"] == ("both" if systems >= 5 else "input") and made.notes == ()
    assert np.isfinite(made.intervals.ci_low).all() and (made.tests_of_these is None) == (systems < 5)
    asked = metric_report.report(demo.isel(system=slice(systems)), "human", metric=["judge"], coefficient="spearman")
    assert asked.intervals.attrs["coefficient"] == "spearman"


def test_warnings_stand_in_the_page(demo):
    with warns("few_systems", r"\b4\b") as caught:
        made = metric_report.make_report(demo.isel(system=slice(4)), "few", level="system")
    (few,) = of_code(caught, "few_systems")
    assert made.notes[0] == few and html.escape(few) in made.html()


def test_long_lists_are_wrapped(demo):
    longer = demo.assign_coords(metric=[f"{name}_mean_f1" for name in demo.metric.values])
    made = metric_report.make_report(longer, "demo", gold="human_mean_f1", level="input", n_resamples=999)
    narrow, wide = made.text(70), made.text(300)
    assert max(map(len, narrow.splitlines())) <= 75
    assert len(table_rows(narrow)) > len(table_rows(wide)) == made.intervals.sizes["metric"]
    assert narrow.split() != wide.split() and sorted("".join(narrow.split()).replace("-", "")) == sorted(
        "".join(wide.split()).replace("-", "")
    )


@pytest.mark.slow
def test_as_a_program():
    done = subprocess.run([sys.executable, "-m", "xsumstat", "nothing"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("xsumstat: error:") and not done.stdout


@pytest.mark.slow
def test_as_a_program_that_answers():
    done = subprocess.run(
        [sys.executable, "-m", "xsumstat", "demo", "--n-resamples", "99"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "judge" in done.stdout


@pytest.mark.slow
def test_report_of_further_dims_has_a_table_for_each(demo):
    few = demo[["score"]].sel(metric=["human", "judge", "rouge"])
    doubled = xr.concat([few, few], "language").assign_coords(language=["en", "de"])
    made = metric_report.make_report(doubled, "two", gold="human", n_resamples=99)
    assert [title for title, _ in made.tables()] == ["language en", "language de"]
    assert made.html().count("<table ") == 2


@pytest.mark.skipif(pd.__version__ < "3", reason="pandas 2 reads whole numbers beyond 64 bits as text")
def test_a_cell_that_no_float_holds_is_named_at_the_command_line(capsys, tmp_path):
    (tmp_path / "a.csv").write_text(f"system,input,human,r1\na,1,5,{'9' * 400}\n")
    status, _, err = run(capsys, tmp_path / "a.csv", "--gold", "human")
    assert status == 2 and "column 'r1' must hold finite numbers" in err and "a.csv, line 2" in err
