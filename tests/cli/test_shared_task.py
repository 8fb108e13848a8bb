"""A folder in WMT24's shape, from disk to ranking, table, page and TSV, in Python and by the command line."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import reference
import task_folders
import xarray as xr
from conftest import warns

import xsumstat
from xsumstat.cli import main as cli
from xsumstat.report import task_report

DRAWS = 199


@pytest.fixture(autouse=True)
def _small():
    """Five systems, of which is warned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@pytest.fixture
def wmt24(tmp_path):
    root, told = task_folders.make(tmp_path)
    return root, told, task_folders.own(tmp_path / "mine", told), tmp_path / "mine"


def run(capsys, *arguments):
    status = cli.main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


def ranked_systems(told, pair):
    """Which systems the toolkit ranks: without MSLC and the standard reference; the other reference of en-de is one."""
    return [each for each in told[pair]["mqm"] if each not in ("MSLC", task_folders.STANDARD[pair])]


def by_hand(told, own, pair, base, coefficient, level):
    """A task's value in plain Python, from the numbers that the files were written of."""
    label = {"NEW": None, "CometKiwi": "CometKiwi-src"}.get(base, f"{base}-{task_folders.STANDARD[pair]}")
    scores, gold = own[pair] if label is None else told[pair][label], told[pair]["mqm"]
    systems = ranked_systems(told, pair)
    x, z = ([[np.nan if v is None else v for v in of[each]] for each in systems] for of in (scores, gold))
    keep = [at for at in range(task_folders.SEGMENTS) if z[0][at] == z[0][at]]
    x, z = ([[row[at] for at in keep] for row in rows] for rows in (x, z))
    return reference.correlation(coefficient, x, z, level)


def test_each_task_of_each_metric_is_what_plain_python_gives(wmt24):
    root, told, own, files = wmt24
    answers = xsumstat.shared_task(root, files, n_resamples=DRAWS)
    table = answers.table.correlation
    assert sorted(table.metric.values) == ["BLEU", "COMET-22", "CometKiwi", "NEW", "XCOMET"]
    assert answers.new == ("NEW",) and list(answers.scores) == ["en-de", "en-es", "ja-zh"]
    for pair in task_folders.PAIRS:
        for task, coefficient, level in (("sys spa", "spa", "system"), ("seg acc_eq", "acc_eq", "input")):
            slow = coefficient == "spa"
            for base in {"en-de": ["NEW"], "en-es": ["BLEU"]}.get(pair, []) if slow else table.metric.values:
                want = by_hand(told, own, pair, base, coefficient, level)
                got = table.sel(task=f"{pair} {task}", metric=base).item()
                # soft pairwise accuracy draws swaps in the twin, and sums them here
                assert got == pytest.approx(want, abs=0.02 if slow else 1e-12), (pair, task, base)
    scaled = [table.sel(metric="NEW", task=task).item() for task in table.task.values]
    assert answers.table.average_score.sel(metric="NEW").item() == pytest.approx(np.mean(scaled), abs=1e-12)


def test_a_reference_that_the_folder_lacks_is_refused(wmt24):
    root, _, _, files = wmt24
    mine = next((files / "en-de").glob("NEW-*.seg.score"))
    typo = mine.rename(mine.with_name("NEW-refX.seg.score"))
    with pytest.raises(ValueError, match=r"NEW-refX.seg.score names the reference 'refX', and the scores have"):
        xsumstat.shared_task(root, typo, n_resamples=9)
    without = typo.rename(typo.with_name("NEW-20.seg.score"))  # a version
    assert xsumstat.shared_task(root, without, language_pair="en-de", n_resamples=9).new == ("NEW-20",)


@pytest.mark.slow
def test_the_steps_one_by_one_give_the_same(wmt24):
    root, _, _, files = wmt24
    answers = xsumstat.shared_task(root, files, n_resamples=DRAWS, rng=3)
    data = xsumstat.read_mtme(root.parent, "wmt24", list(task_folders.PAIRS))
    for pair, standard in task_folders.STANDARD.items():
        data[pair] = xsumstat.add_metric(data[pair], files / pair / f"NEW-{standard}.seg.score")
    table = xsumstat.rank_tasks(xsumstat.wmt_tasks(data), n_resamples=DRAWS, rng=3)
    xr.testing.assert_equal(answers.table, table)
    space = {}
    exec(answers.code, space)
    xr.testing.assert_identical(space["answers"].table, answers.table)
    assert "rng=3" in answers.code and f"n_resamples={DRAWS}" in answers.code


def test_add_metric_reads_a_score_file(wmt24):
    root, told, own, files = wmt24
    ds = xsumstat.read_mtme(root.parent, "wmt24", "en-de")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that NEW does not score its own reference is not told
        more = xsumstat.add_metric(ds, files / "en-de" / "NEW-refB.seg.score")
    assert more.attrs["added"] == f"NEW-refB: {6 * 12} of {6 * 12} rows matched"
    for system, values in own["en-de"].items():
        assert more.score.sel(metric="NEW-refB", system=system).values.tolist() == values
    assert np.isnan(more.score.sel(metric="NEW-refB", system="refB")).all()
    new = more.sel(metric="NEW-refB")
    assert (new.base.item(), new.reference.item(), new.kind.item()) == ("NEW", "refB", "automatic")
    named = xsumstat.add_metric(ds, files / "en-de" / "NEW-refB.seg.score", name="NEW-v2", lower_is_better="NEW-v2")
    one = named.sel(metric="NEW-v2")  # "v2" is no reference
    assert (one.base.item(), one.reference.item(), one.higher_is_better.item()) == ("NEW-v2", "", False)
    assert ds.sizes["metric"] + 1 == more.sizes["metric"] and "higher_is_better" not in ds.coords


@pytest.mark.parametrize(
    "text, keywords, message",
    [
        ("A 1\n", {}, r"NEW.seg.score has 1 scores of system 'A', expected 12"),
        ("Claude x\n", {}, r"NEW.seg.score, line 1: a score must be a number or None, got 'x'"),
        ("", {}, "NEW.seg.score holds no scores"),
        ("Z 1\n" * 12, {}, "no row matches an output"),
        ("Claude 1\n" * 12, {"on": "system"}, "on='system' names columns, but NEW.seg.score has no columns"),
        ("Claude 1\n" * 12, {"metric": "x"}, "metric='x' names columns, but NEW.seg.score has no columns"),
    ],
)
def test_score_files_that_add_metric_refuses(wmt24, text, keywords, message):
    root, *_ = wmt24
    path = root.parent / "NEW.seg.score"
    path.write_text(text)
    ds = xsumstat.read_mtme(root.parent, "wmt24", "en-es")
    with pytest.raises(ValueError, match=message):
        xsumstat.add_metric(ds, path, **keywords)
    path.rename(path.with_name("NEW.sys.score"))
    with pytest.raises(ValueError, match=r"NEW.sys.score has scores of granularity 'sys', and ds of 'seg'"):
        xsumstat.add_metric(ds, path.with_name("NEW.sys.score"))


@pytest.mark.slow
def test_how_a_file_says_its_language_pair(wmt24):
    root, told, own, files = wmt24
    above = root.parent
    lines = task_folders.lines(told["en-de"]["CometKiwi-src"])
    (above / "en-de.NEW-src.seg.score").write_text(lines)
    (above / "NEW-src.seg.score").write_text(lines)  # only en-de has a refB
    for name in ("en-de.NEW-src.seg.score", "NEW-src.seg.score"):
        answers = xsumstat.shared_task(root, above / name, n_resamples=9)
        assert answers.scores["en-de"].metric.values[-1] == "NEW-src" and answers.new == ("NEW",)
        assert answers.verdict()[0] == "NEW is not in all tasks, and has no average."
    alone = xsumstat.shared_task(root, above / "NEW-src.seg.score", language_pair="en-de", n_resamples=9)
    assert alone.table.sizes["task"] == 2 and alone.verdict()[0].startswith("NEW has rank ")
    machines = "".join(f"{system} {at}\n" for system in task_folders.MACHINES for at in range(12))
    (above / "X.seg.score").write_text(machines)
    with pytest.raises(ValueError, match=r"X.seg.score does not say .*its lines fit 'en-de', 'en-es', 'ja-zh': put it"):
        xsumstat.shared_task(root, above / "X.seg.score")
    (above / "X.seg.score").write_text("A 1\n")
    with pytest.raises(ValueError, match="its lines fit none of them: put it into a folder .* en-de.X.seg.score"):
        xsumstat.shared_task(root, above / "X.seg.score")


def test_what_is_refused(wmt24):
    root, told, _, files = wmt24
    above = root.parent
    with pytest.raises(FileNotFoundError, match="no such file or folder: .*none"):
        xsumstat.shared_task(above / "none")
    with pytest.raises(ValueError, match="has no folders human-scores and metric-scores; it has the test sets 'wmt24'"):
        xsumstat.shared_task(above)
    with pytest.raises(ValueError, match="unknown language_pair 'en-dee'; did you mean 'en-de'"):
        xsumstat.shared_task(root, language_pair="en-dee")
    with pytest.raises(ValueError, match="unknown metric in lower_is_better 'ter'"):
        xsumstat.shared_task(root, lower_is_better="ter")
    (above / "en-de.NEW-refA.seg.score").write_text(task_folders.lines({"Claude": [1.0] * 12}))
    text = "NEW-refA compares with 'refA', and en-de ranks metrics of 'refB' or .* reference={'en-de': 'refA'} ranks"
    with pytest.raises(ValueError, match=text):
        xsumstat.shared_task(root, above / "en-de.NEW-refA.seg.score", n_resamples=9)
    with pytest.raises(ValueError, match=r"metric_files must be .score files or folders of such, got a.csv"):
        (above / "a.csv").write_text("x")
        xsumstat.shared_task(root, above / "a.csv")
    with pytest.raises(ValueError, match="the folder .* has no .score file"):
        xsumstat.shared_task(root, root / "documents")
    (above / "en-de.BLEU.seg.score").write_text(task_folders.lines({"Claude": [1.0] * 12}))
    with pytest.raises(ValueError, match="base names of the metrics of en-de repeats 'BLEU'"):
        xsumstat.shared_task(root, above / "en-de.BLEU.seg.score", n_resamples=9)
    mine, _ = task_folders.make(above, "mytask", {"en-de": ("refA",)}, files=False)
    with pytest.raises(ValueError, match="the folder 'mytask' is not named after one of .*rules='wmt24'"):
        xsumstat.shared_task(mine)
    assert xsumstat.shared_task(mine, rules="wmt24", n_resamples=9).table.sizes["task"] == 2


@pytest.mark.slow
def test_2023_takes_scores_of_systems_and_means_of_the_segments_where_there_are_none(tmp_path):
    pairs = {"en-de": ("refA",), "zh-en": ("refA",)}
    root, told = task_folders.make(tmp_path, "wmt23", pairs)
    path = root / "metric-scores/en-de/BLEU-refA.sys.score"
    corpus = {system: [float(at)] for at, system in enumerate(told["en-de"]["BLEU-refA"])}
    path.write_text(task_folders.lines(corpus))
    own = task_folders.own(tmp_path / "mine", told, "NEW.seg.score", pairs=tuple(pairs))
    answers = xsumstat.shared_task(root, tmp_path / "mine", n_resamples=9)
    assert answers.tasks["en-de sys pearson"]["ds"].sizes["input"] == 1
    systems = [each for each in told["en-de"]["mqm"] if each != "refA"]
    z = [task_folders.mean(told["en-de"]["mqm"][each]) for each in systems]
    table = answers.table.correlation.sel(task="en-de sys pearson")
    for base, x in {"BLEU": corpus, "NEW": own["en-de"]}.items():
        want = np.corrcoef([task_folders.mean(x[each]) for each in systems], z)[0, 1]
        assert table.sel(metric=base).item() == pytest.approx(want, abs=1e-12)
    sys_scores = task_folders.lines({system: [0.0 + at] for at, system in enumerate(systems)})
    (tmp_path / "mine" / "en-de" / "NEW.sys.score").write_text(sys_scores)
    with_own = xsumstat.shared_task(root, tmp_path / "mine", n_resamples=9)
    want = np.corrcoef(range(len(systems)), z)[0, 1]
    got = with_own.table.correlation.sel(task="en-de sys pearson", metric="NEW").item()
    assert got == pytest.approx(want, abs=1e-12)
    assert with_own.table.correlation.sel(task="zh-en sys pearson", metric="NEW").item() == pytest.approx(
        answers.table.correlation.sel(task="zh-en sys pearson", metric="NEW").item(), abs=1e-12
    )


def test_a_metric_that_is_better_when_lower_counts_so_in_every_task(tmp_path):
    pairs = {"en-de": ("refA",), "zh-en": ("refA",)}
    root, told = task_folders.make(tmp_path, "wmt23", pairs, files=False)
    task_folders.own(tmp_path / "mine", told, "NEW.seg.score", pairs=tuple(pairs))
    plain = xsumstat.shared_task(root, tmp_path / "mine", n_resamples=9)
    for file in (tmp_path / "mine").rglob("*.score"):
        turned = [(line.split()[0], -float(line.split()[1])) for line in file.read_text().splitlines()]
        file.write_text("".join(f"{system}\t{value}\n" for system, value in turned))
    lower = xsumstat.shared_task(root, tmp_path / "mine", lower_is_better="NEW", n_resamples=9)
    np.testing.assert_allclose(lower.table.correlation.sel(metric="NEW"), plain.table.correlation.sel(metric="NEW"))


def test_standing_is_what_the_tests_say(wmt24):
    root, _, _, files = wmt24
    answers = xsumstat.shared_task(root, files, n_resamples=DRAWS)
    p = answers.table.pvalue
    for label in p.other_metric.values:
        said = task_report._standing(answers.table, label)
        better, worse = (
            re.search(f"Significantly {what}: (.*?)\\.(?: Sig|$)", said)[1] for what in ("better", "worse")
        )
        for text, values in ((better, p.sel(other_metric=label)), (worse, p.sel(metric=label))):
            other = values.dims[0]
            found = [each for each in p.other_metric.values if each != label and values.sel({other: each}) <= 0.05]
            assert sorted(re.split(", | and ", text)) == (sorted(found) or ["none"])


# --- the command line ---


def test_one_command_from_the_folder_to_table_page_and_tsv(capsys, monkeypatch, wmt24):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(task_report, "_MOST_DRAWN", 0)
    root, told, own, files = wmt24
    page, dump = root.parent / "ranking.html", root.parent / "out"
    how = ("--n-resamples", DRAWS, "--output", page, "--dump", dump)
    status, out, said = run(capsys, root, "--metric-file", files, *how)
    assert status == 0 and "wrote" in said
    answers = xsumstat.shared_task(root, files, n_resamples=DRAWS)
    assert answers.text() in out and "NEW has rank" in out
    html = page.read_text()
    assert all(f">{name}<" in html.replace("<wbr>", "") for name in answers.table.metric.values)
    assert "Which metric is best?" in html and "xsumstat.shared_task(" in html
    scores = pd.read_csv(dump / "scores.en-de.tsv", sep="\t").set_index(["system", "input"])
    for system, values in own["en-de"].items():
        assert scores.loc[system, "NEW-refB"].tolist() == values
    tasks = pd.read_csv(dump / "tasks.tsv", sep="\t").set_index(["metric", "task"])
    want = answers.table.correlation.to_series()
    np.testing.assert_allclose(tasks.correlation.reindex(want.index), want, rtol=1e-15)
    np.testing.assert_allclose(tasks.weight, 1 / 6, rtol=1e-15)
    metrics = pd.read_csv(dump / "metrics.tsv", sep="\t").set_index("metric")
    assert metrics.cluster.to_dict() == answers.table.cluster.to_series().to_dict()
    tests = pd.read_csv(dump / "tests.tsv", sep="\t").set_index(["metric", "other_metric"])
    assert tests.pvalue["NEW", "BLEU"] == answers.table.pvalue.sel(metric="NEW", other_metric="BLEU").item()
    assert len(tests) == 5 * 4
    back = xsumstat.io.frames.read_scores(dump / "scores.en-de.tsv")
    assert back.score.sel(metric="NEW-refB", system="GPT").values.tolist() == own["en-de"]["GPT"]


@pytest.mark.slow
def test_the_page_has_the_table_as_wmt_prints_it(wmt24):
    root, _, _, files = wmt24
    answers = xsumstat.shared_task(root, files, n_resamples=9)
    answers.save(root.parent / "ranking.html")
    for page in ((root.parent / "ranking.html").read_text(), answers._repr_html_()):
        assert page.count("<svg") == 2 and "en-de sys spa" in page  # on light ground, and on dark


def test_what_the_command_line_refuses_of_a_folder(capsys, wmt24, tmp_path):
    root, *_ = wmt24
    for options, message in (
        (("--level", "input"), "--level does not apply to a shared task's folder"),
        (("--judge",), "--judge does not apply to a shared task's folder"),
        (("--dump", root / "sources"), "is inside .*, the folder of the scores"),
        (("--dump", root / "documents" / "en-de.docs"), "is a file; name a folder"),
        (("--dump", tmp_path / "a" / "b"), "there is no folder"),
        (("--reference", "refA", "refB"), "--reference must be one name, or PAIR=NAME"),
        (("--rules", "wmt20"), "--rules must be one of"),
        (("--language-pair", "de-en"), "unknown language_pair 'de-en'"),
    ):
        status, out, said = run(capsys, root, *options)
        assert (status, out) == (2, "") and re.search(message, said.splitlines()[-1]), said
    status, _, said = run(capsys, "demo", "--rules", "wmt24")
    assert status == 2 and "--rules applies only to a shared task's folder" in said
    status, _, said = run(capsys, tmp_path)
    assert status == 2 and "it has the test sets 'wmt24': name one of them" in said
    mine, _ = task_folders.make(tmp_path, "mytask", {"en-de": ("refA", "refB")}, files=False)
    status, _, said = run(capsys, mine, "--rules", "wmt25")
    assert status == 2 and "say it, as in --reference en-de=refA" in said
    for reference_ in ("refA", "en-de=refA"):
        status, out, _ = run(capsys, mine, "--rules", "wmt25", "--reference", reference_, "--n-resamples", 9)
        assert status == 0 and "BLEU" in out


def test_score_files_and_folders_of_them_are_read_by_the_command_line(capsys, wmt24):
    root, told, own, files = wmt24
    gold = root / "human-scores/en-es.mqm.seg.score"
    metrics = root / "metric-scores/en-es"
    status, out, said = run(capsys, metrics, "--gold-file", gold, "--metric-file", files / "en-es/NEW-refA.seg.score")
    assert status == 0 and "NEW-refA" in out and "COMET-22-refA" in out and "BLEU-refA.sys.score" in said
    one = xsumstat.io.frames.read_scores(metrics / "XCOMET-refA.seg.score")
    for system, values in told["en-es"]["XCOMET-refA"].items():
        assert one.score.sel(metric="XCOMET-refA", system=system).values.tolist() == values
    status, out, _ = run(capsys, metrics / "XCOMET-refA.seg.score", "--gold-file", gold, "--level", "global")
    systems = list(told["en-es"]["XCOMET-refA"])
    x, z = ([v for each in systems for v in told["en-es"][name][each]] for name in ("XCOMET-refA", "mqm"))
    kept = [(a, b) for a, b in zip(x, z, strict=True) if b is not None]
    r = np.corrcoef(*zip(*kept, strict=True))[0, 1]
    assert status == 0 and f"{r:.2f}".removeprefix("0") in out


def test_a_table_with_a_further_metric_and_its_results_as_tsv(capsys, demo, tmp_path):
    frame = demo.score.to_series().unstack("metric").reset_index()
    frame.drop(columns="judge").to_csv(tmp_path / "scores.csv", index=False)
    frame[["system", "input", "judge"]].to_csv(tmp_path / "judge.csv", index=False)
    how = ("--gold", "human", "--metric-file", tmp_path / "judge.csv", "--dump", tmp_path / "out")
    status, out, said = run(capsys, tmp_path / "scores.csv", *how)
    assert status == 0 and "judge: 360 of 360 rows matched" in said
    read = {
        name: pd.read_csv(tmp_path / "out" / f"{name}.tsv", sep="\t") for name in ("scores", "correlations", "tests")
    }
    r = demo.score.sel(metric="judge").mean("input"), demo.score.sel(metric="human").mean("input")
    row = read["correlations"].set_index("metric").loc["judge"]
    assert row.correlation == pytest.approx(np.corrcoef(*r)[0, 1], abs=1e-12)
    assert len(read["scores"]) == 360 and {"metric", "other_metric", "pvalue"} <= set(read["tests"])


# --- primary submissions ---


def test_primary_submissions_are_marked_and_chosen(capsys, wmt24):
    root, told, own, files = wmt24
    for pair, standard in task_folders.STANDARD.items():
        scores = told[pair][f"BLEU-{standard}"]
        for name in (f"XCOMET-QE_v2-{standard}", f"MEE4-{standard}"):
            task_folders.write(root / f"metric-scores/{pair}/{name}.seg.score", task_folders.lines(scores))
    ds = xsumstat.read_mtme(root.parent, "wmt24", "en-es")
    want = {"mqm": "", "BLEU-refA": "baseline", "XCOMET-refA": "primary", "MEE4-refA": "primary"}
    marked = ds.submission.to_series().to_dict()
    assert want.items() <= marked.items() and marked["XCOMET-QE_v2-refA"] == "contrastive"
    every = xsumstat.shared_task(root, files, n_resamples=9)
    chosen = xsumstat.shared_task(root, files, primary=True, n_resamples=9)
    assert set(every.table.metric.values) - set(chosen.table.metric.values) == {"XCOMET-QE_v2"}
    assert chosen.submissions()["NEW"] == "new" and "primary=True" in chosen.code
    shown = dict(zip(every.ranking()["metric"], every.ranking()["submission"], strict=True))
    assert (shown["NEW"], shown["BLEU"], shown["XCOMET-QE_v2"]) == ("new", "baseline", "contrastive")
    status, out, _ = run(capsys, root, "--primary", "--n-resamples", 9)
    assert status == 0 and "XCOMET-QE_v2" not in out and "MEE4" in out


def test_primary_needs_to_know_them(capsys, wmt24):
    root, *_ = wmt24
    ds = xsumstat.read_mtme(root.parent, "wmt24", "en-es").drop_vars("submission")
    with pytest.raises(ValueError, match=r"primary=True needs the coordinate submission\(metric\), which en-es lacks"):
        xsumstat.wmt_tasks({"en-es": ds}, primary=True)
    labels = ["" if each == "mqm" else "contrastive" if "BLEU" in each else "primary" for each in ds.metric.values]
    tasks = xsumstat.wmt_tasks({"en-es": ds.assign_coords(submission=("metric", labels))}, primary=True)
    assert tasks["en-es sys spa"]["ds"].metric.values.tolist() == ["mqm", "COMET-22", "CometKiwi", "XCOMET"]
    root.rename(root.with_name("copy"))
    status, _, said = run(capsys, root.with_name("copy"), "--rules", "wmt24", "--primary", "--reference", "refA")
    assert status == 2 and "--primary needs the coordinate" in said


@pytest.mark.slow
def test_files_of_pairs_that_are_not_ranked_are_left_out(wmt24):
    root, _, _, files = wmt24
    with pytest.warns(UserWarning, match="left out NEW-refA.seg.score: its language pair, ja-zh, is not ranked here"):
        some = xsumstat.shared_task(root, files, language_pair=["en-de", "en-es"], n_resamples=9)
    assert some.table.sizes["task"] == 4 and some.table["rank"].sel(metric="NEW") > 0
    with pytest.warns(UserWarning, match="its language pair, en-es, is not ranked here"):
        one = xsumstat.shared_task(root, files, language_pair="en-de", n_resamples=9)
    whole = xsumstat.shared_task(root, files, n_resamples=9)
    assert list(one.scores) == ["en-de"] and one.new == ("NEW",)
    for task in one.table.task.values:
        assert one.table.correlation.sel(metric="NEW", task=task) == whole.table.correlation.sel(
            metric="NEW", task=task
        )


def test_systems_that_are_left_out_are_named(wmt24):
    said = dict(xsumstat.shared_task(wmt24[0], n_resamples=9).data)
    assert said["en-de"].startswith("5 systems, 12 segments") and said["en-de"].endswith("; left out: MSLC and refB")
    assert said["ja-zh"].endswith("; left out: MSLC and refA")


def test_a_metric_without_an_average_has_no_place_in_the_table(wmt24):
    root, *_ = wmt24
    for file in (root / "metric-scores" / "ja-zh").glob("XCOMET*"):
        file.unlink()
    with warns("not_in_all_tasks", ": 'XCOMET'"):
        shown = xsumstat.shared_task(root, n_resamples=9).ranking().set_index("metric")
    assert shown.loc["XCOMET", ["average score over tasks", "rank", "cluster"]].tolist() == ["–"] * 3
    assert shown.loc["XCOMET", "ja-zh seg acc_eq"] == "–" and shown.loc["XCOMET", "en-de seg acc_eq"] != "–"
