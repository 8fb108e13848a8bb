"""What each column of a table holds: the one table of names that df.meta and the command line read by."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xsumstat
from xsumstat.cli import main as cli
from xsumstat.io import roles

SYSTEMS, PROMPTS = ("a", "b", "c"), 4
N = len(SYSTEMS) * PROMPTS


def outputs(**more):
    frame = pd.DataFrame({"model": np.repeat(SYSTEMS, PROMPTS), "prompt_id": [f"p{at}" for at in range(PROMPTS)] * 3})
    return frame.assign(**more)


def grades(seed=0):
    return np.random.default_rng(seed).integers(1, 6, N).astype(float)


@pytest.mark.parametrize(
    "names",
    [
        ["ann_alice", "ann_bob"],
        ["rater_2", "rater_3", "rater_10"],
        ["annotator.bob", "annotator.eve"],
        ["annotator 3", "annotator 4"],
        ["human_1", "human_2"],
        ["Annotator1", "AnnotatorB"],
        ["annAlice", "annBob"],
        ["expert_a", "expert_b"],
    ],
)
def test_columns_of_single_raters(names):
    found = roles.of(outputs(rouge=grades(), **{name: grades(at) for at, name in enumerate(names)}))
    assert found.raters == names and found.metrics == ["rouge"] and found.gold is None
    assert found.words()[0] == f"{len(names)} raters: {', '.join(names)}"
    assert roles.of(pd.DataFrame(columns=["model", "doc", *names])).raters == names  # of a header alone


@pytest.mark.parametrize(
    "names",
    [
        ["human_fluency", "human_coherence"],
        ["expert_relevance", "expert_fluency"],
        ["ann_mean", "ann_count"],
        ["annotation", "annual"],
        ["rouge_1", "rouge_2"],
        ["ann_1_fluency", "ann_1_coherence", "ann_2_fluency", "ann_2_coherence"],  # the qualities of each rater
        ["judge_1", "judge_2"],
    ],
)
def test_columns_that_are_no_single_raters(names):
    found = roles.of(outputs(**{name: grades(at) for at, name in enumerate(names)}))
    assert found.raters == [] and found.metrics == names


@pytest.mark.parametrize("end, extreme", [("max", np.fmax), ("min", np.fmin)])
def test_a_rater_called_as_a_statistic_has_ratings_of_its_own(end, extreme):
    """Max is a rater, unless the column is the greatest of the others' ratings."""
    ben, eva, own = grades(1), grades(2), grades(3)
    ben[0] = own[1] = np.nan
    columns = {"judge": grades(4), f"ann_{end}": own, "ann_ben": ben, "ann_eva": eva}
    assert roles.of(outputs(**columns)).raters == [f"ann_{end}", "ann_ben", "ann_eva"]
    of_others = roles.of(outputs(**{**columns, f"ann_{end}": extreme(ben, eva)}))
    assert of_others.raters == ["ann_ben", "ann_eva"] and of_others.metrics == ["judge", f"ann_{end}"]
    assert f"ann_{end}" not in roles.of(outputs(**{f"ann_{end}": own, "judge": eva})).raters
    assert roles.of(pd.DataFrame(columns=["model", "doc", *columns])).raters == ["ann_ben", "ann_eva"]


def test_one_rater_is_the_gold_and_comments_of_raters_are_none():
    found = roles.of(outputs(rouge=grades(), ann_1=grades(1)))
    assert (found.raters, found.gold) == ([], "ann_1")
    comments = [f"Of output {at} I think that it is long." for at in range(N)]
    assert roles.of(outputs(ann_1=grades(), ann_2=grades(1), ann_3=comments)).raters == ["ann_1", "ann_2"]


def test_a_rating_beside_judges_is_the_gold_where_there_is_no_other():
    assert roles.of(outputs(rating=grades(), gpt_judge=grades(1))).gold == "rating"
    assert roles.of(outputs(rating=grades(), rouge=grades(1))).gold is None  # it may be a metric's
    assert roles.of(outputs(rating=grades(), human=grades(2), gpt_judge=grades(1))).gold == "human"
    assert roles.of(outputs(ann_x=grades(), ann_y=grades(2), rating=grades(), gpt_judge=grades(1))).gold is None


@pytest.mark.parametrize("name", ["id", "prompt_id", "example_id", "sample_id", "question_id", "Item ID", "doc", "uid"])
def test_ids(name):
    assert roles.of(outputs(judge=grades()).rename(columns={"prompt_id": name})).input == name


def test_of_several_ids_the_one_that_systems_share():
    found = roles.of(outputs(id=range(N), prompt=[f"Tell me of {at}" for at in range(PROMPTS)] * 3, judge=grades()))
    assert found.input == "prompt_id" and found.numbers == ["id"] and not found.ambiguous
    assert found.described == {"prompt": "input"} and found.chosen == ["judge"]
    documents = outputs(doc=[1, 1, 2, 2] * 3, judge=grades())  # which do not tell a system's outputs apart
    assert roles.of(documents).input == "prompt_id"
    either = roles.of(outputs(item=["x", "z", "y", "w"] * 3).drop(columns="prompt_id").assign(doc=[2, 1, 3, 4] * 3))
    assert either.input == "item" and not either.ambiguous  # they tell the same outputs apart
    neither = roles.of(outputs(doc=[1, 1, 2, 2] * 3, seg=[1, 2, 1, 2] * 3).drop(columns="prompt_id"))
    assert set(neither.ambiguous["input"]) == {"doc", "seg"}
    with pytest.raises(ValueError, match="2 columns could name the input: .*; say which one: input=..."):
        roles.refuse_ambiguous(neither, "input")


def test_categories_lengths_judges_texts_and_directions():
    found = roles.of(
        outputs(
            category=["news", "chat"] * 6, difficulty=[1, 2, 1, 3] * 3, provider=np.repeat(["x", "y", "x"], PROMPTS),
            response=[f"answer {at}" for at in range(N)], length=grades(), judge_gpt=grades(1), claude_errors=grades(2),
            rouge=grades(3), human=grades(4),
        )
    )  # fmt: skip
    assert found.described == {"category": "input", "difficulty": "input", "provider": "system"}
    assert found.texts == ["response"] and found.covariates == ["length"] and found.gold == "human"
    assert found.judges == ["judge_gpt", "claude_errors"] and found.lower == ["claude_errors"]
    assert found.words() == [
        "human scores: human",
        "judges: judge_gpt, claude_errors",
        "covariate: length",
        "other metric: rouge",
        "category, difficulty: coordinates of inputs",
        "provider: a coordinate of systems",
        "text left out: response",
    ]


def test_human_scores_beside_raters_are_not_judged():
    frame = outputs(rouge=grades(3), ann_1=grades(), ann_2=grades(1)).assign(human=lambda df: df.ann_1)
    found = roles.of(frame)
    assert found.raters == ["ann_1", "ann_2"] and found.arguments == {
        "metric": ["rouge"],
        "ratings": ["ann_1", "ann_2"],
    }
    found = roles.of(frame.rename(columns={"human": "human_mean"}))
    assert found.arguments == {"ratings": ["ann_1", "ann_2"], "kind": {"human": ["human_mean"]}}
    named = found.told("human_mean", None, False)
    assert named.raters == [] and named.kinds == {"human": ["ann_1", "ann_2"]}
    elsewhere = found.told(None, None, True)
    assert elsewhere.kinds == {"human": ["ann_1", "ann_2", "human_mean"]} and elsewhere.gold is None


FRAMES = {
    "raters": outputs(ann_x=grades(), ann_y=grades(1), judge=grades(2), length=grades(3), tag=["u", "v"] * 6),
    "one system": outputs(ann_x=grades(), ann_y=grades(1), judge=grades(2)).iloc[:PROMPTS].drop(columns="model"),
    "a row a rating": pd.concat(
        outputs(judge=grades(2), annotator=who, grade=grades(at)) for at, who in enumerate("xyz")
    ).reset_index(drop=True),
    "a row a score": outputs(ann_x=grades(), ann_y=grades(1), judge=grades(2)).melt(
        ["model", "prompt_id"], var_name="metric", value_name="score"
    ),
    "human": outputs(human=grades(), judge=grades(1), id=range(N)),
    "ratings alone": outputs(ann_x=grades(), ann_y=grades(1), category=["u", "v"] * 6),
}


def _call(frame):
    text = next(line for line in repr(frame.meta).splitlines() if "df.meta.to_scores(" in line)
    return eval(text.partition(" = ")[2], {"df": frame})


@pytest.mark.parametrize("name", FRAMES)
def test_the_call_reads_what_the_command_line_reads(tmp_path, monkeypatch, name):
    """Both have the same scores, gold and kinds."""
    frame = FRAMES[name]
    before = frame.copy()
    called = _call(frame)
    pd.testing.assert_frame_equal(frame, before)
    frame.to_csv(tmp_path / "outputs.csv", index=False)
    seen = []
    monkeypatch.setattr(cli.metric_report, "make_report", lambda ds, *_, **__: seen.append(ds) or _Answers())
    assert cli.main([str(tmp_path / "outputs.csv")]) == 0
    (read,) = seen
    assert read.score.sizes == called.score.sizes and read.attrs["gold"] == called.attrs["gold"]
    np.testing.assert_array_equal(read.score.values, called.score.values)
    assert ("rating" in read) == ("rating" in called) and called.attrs["gold"] == "human"
    for coord in ("kind", "category", "tag"):
        assert (coord in read.coords) == (coord in called.coords) or coord == "kind"
        if coord in read.coords:
            assert read[coord].values.tolist() == called[coord].values.tolist()
    if name != "human":
        mean = FRAMES["raters"][["ann_x", "ann_y"]].mean(axis=1).iloc[: read.score[0].size].values
        if name != "a row a rating":
            np.testing.assert_allclose(read.score.sel(metric="human").values.ravel(), mean)


def _words(values):
    return np.where(np.asarray(values) > np.median(values), "Pass", "Fail")


OTHERS = {
    "judges among the raters": pd.concat(
        outputs(annotator=who, grade=grades(at)) for at, who in enumerate(["x", "y", "gpt_judge"])
    ).reset_index(drop=True),
    "words": outputs(ann_x=_words(grades()), ann_y=_words(grades(1)), gpt_judge=_words(grades(2)), tag=["u", "v"] * 6),
}


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".json"])
@pytest.mark.parametrize("name", OTHERS)
def test_judges_among_raters_words_and_records_are_read(tmp_path, monkeypatch, capsys, name, ending):
    """The call and the command line find people, judges and the order of texts, in a table or in JSON."""
    frame, path = OTHERS[name], tmp_path / f"outputs{ending}"
    if ending == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=ending == ".jsonl")
    seen = []
    monkeypatch.setattr(cli.metric_report, "make_report", lambda ds, *_, **__: seen.append(ds) or _Answers())
    assert cli.main([str(path)]) == 0, capsys.readouterr().err
    people, judge = [grades(), grades(1)], grades(2)
    if name == "words":
        people, judge = [(_words(each) == "Pass") * 1.0 for each in people], (_words(judge) == "Pass") * 1.0
        assert "Fail is below Pass (--labels Pass Fail if not)" in capsys.readouterr().err
    for ds in (_call(frame), seen[0]):
        assert set(ds.metric.values) == {"gpt_judge", "human"} and ds.attrs["gold"] == "human"
        np.testing.assert_allclose(ds.score.sel(metric="human").values.ravel(), np.mean(people, axis=0))
        np.testing.assert_allclose(ds.score.sel(metric="gpt_judge").values.ravel(), judge)
        assert ds.kind.sel(metric="gpt_judge") == "judge" and ds.rating.sizes["rater"] == 2


@pytest.mark.parametrize("ending", [".jsonl", ".json"])
def test_the_command_line_reads_records_once(tmp_path, monkeypatch, ending):
    path, read, real = tmp_path / f"outputs{ending}", [], Path.read_bytes
    OTHERS["words"].to_json(path, orient="records", lines=ending == ".jsonl")
    monkeypatch.setattr(Path, "read_bytes", lambda file: read.append(file) or real(file))
    monkeypatch.setattr(cli.metric_report, "make_report", lambda *_, **__: _Answers())
    assert cli.main([str(path)]) == 0
    assert read == [path]


def test_texts_of_unknown_order_are_to_be_named():
    frame = outputs(ann_x=["poor", "fine"] * 6, ann_y=["fine", "poor"] * 6, judge=grades())
    with pytest.raises(TypeError, match=r"name them from the lowest to the highest, as labels=\['poor', 'fine'\]"):
        frame.meta.to_scores(system="model", input="prompt_id", wide=True, ratings=["ann_x", "ann_y"])
    assert roles.labels_of(frame) == [] and roles.labels_of(outputs(judge=["yes", "no"] * 6)) == ["no", "yes"]
    assert roles.labels_of(outputs(judge=["yes", "no"] * 6, ann_x=["good", "bad"] * 6)) == []  # two pairs of texts


class _Answers:
    def text(self, width):
        return ""


def test_what_was_taken_for_what_is_said_once(tmp_path, capsys, monkeypatch):
    FRAMES["raters"].assign(loss=grades(5)).to_csv(tmp_path / "outputs.csv", index=False)
    monkeypatch.setattr(cli.metric_report, "make_report", lambda *_, **__: _Answers())
    assert cli.main([str(tmp_path / "outputs.csv")]) == 0
    said = [line.removeprefix("xsumstat: ") for line in capsys.readouterr().err.splitlines()]
    assert said[:8] == [
        "outputs.csv: 3 systems, 4 inputs",
        "  system from column 'model', input from column 'prompt_id' (--system-column, --input-column to change)",
        "  2 raters: ann_x, ann_y",
        "  judge: judge",
        "  covariate: length",
        "  other metric: loss",
        "  tag: a coordinate of inputs",
        "  is a low score of loss good? Then add --lower-is-better loss",
    ]


def rated_rows(raters=("ann", "ben")):
    """One row per score: ratings with the name of who rated, and a judge's scores without."""
    cells = [(system, item) for system in "abc" for item in range(4)]
    rows = [{"model": s, "item": i, "metric": "quality", "annotator": who, "score": (hash_of(s, i) + at) % 5}
            for s, i in cells for at, who in enumerate(raters)]  # fmt: skip
    judged = [{"model": s, "item": i, "metric": "gpt_judge", "annotator": None, "score": hash_of(s, i) % 5}
              for s, i in cells]  # fmt: skip
    return pd.DataFrame([*rows, *judged])


def hash_of(system, item):
    return 3 * ord(system) + 2 * item


def test_the_only_metric_with_names_of_raters_is_their_ratings(tmp_path, capsys, monkeypatch):
    frame = rated_rows()
    call = re.search(r"ds = (df.meta.to_scores.*)", repr(frame.meta))[1]
    assert "ratings='quality', rater='annotator'" in call and "dims=" not in call
    ds = eval(call, {"df": frame})
    assert ds.rating.sizes["rater"] == 2 and set(ds.metric.values) == {"gpt_judge", "human"}
    mean = frame[frame.metric == "quality"].groupby(["model", "item"]).score.mean().to_numpy().reshape(3, 4)
    np.testing.assert_array_equal(ds.score.sel(metric="human"), mean)
    monkeypatch.setattr(cli.metric_report, "make_report", lambda *_, **__: _Answers())
    frame.to_csv(tmp_path / "long.csv", index=False)
    for more in ([], ["--gold", "quality"]):
        assert cli.main([str(tmp_path / "long.csv"), *more]) == 0
        assert "xsumstat:   ratings: quality, by annotator" in capsys.readouterr().err
    both = frame.assign(annotator=frame.annotator.fillna("gpt"))  # a judge among the raters, of another metric
    assert "rater='annotator'" not in repr(both.meta) and "dims='annotator'" in repr(both.meta)


def test_texts_among_a_judges_numbers_are_named_with_the_way_to_make_them_missing(tmp_path, capsys):
    frame = FRAMES["raters"].assign(judge=["I cannot grade this", *grades(5)[1:]])
    said = repr(frame.meta)
    first = re.search(r"first +(df\[.*)", said)[1]
    assert "text such as 'I cannot grade this' becomes missing" in first and "judge: judge" in said
    with pytest.raises(TypeError, match="'judge' .* 'I cannot grade this' in row 0; to treat text as missing") as error:
        eval(re.search(r"ds = (df.meta.to_scores.*)", said)[1], {"df": frame})
    names = {"df": frame, "frame": frame.copy(), "pandas": pd}
    exec(str(error.value).rpartition(": ")[2], names)
    exec(first, names)
    pd.testing.assert_frame_equal(names["df"], names["frame"])
    ds = eval(re.search(r"ds = (df.meta.to_scores.*)", said)[1], names)
    assert int(ds.score.sel(metric="judge").isnull().sum()) == 1
    FRAMES["raters"].assign(judge=["I cannot grade this", *grades(5)[1:]]).to_csv(tmp_path / "a.csv", index=False)
    assert cli.main([str(tmp_path / "a.csv")]) == 2
    assert "to treat text as missing scores: empty these fields of the file" in capsys.readouterr().err


def test_no_column_of_a_judge_goes_without_a_word():
    texts = [f"verdict {at}" for at in range(len(FRAMES["raters"]))]
    said = repr(FRAMES["raters"].assign(judge=texts, tone=texts).meta)
    assert "left out: judge, which holds no numbers, e.g. 'verdict 0'" in said and "left out: tone, which" in said
    constant = FRAMES["raters"].assign(judge=FRAMES["raters"].model.map(str.upper))
    assert "no scores: judge, which holds text (A, B, C)" in repr(constant.meta)


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (
            pd.DataFrame({"model_a": ["x"], "model_b": ["y"], "winner": ["x"], "prompt": [1], "length_a": [3]}),
            [],
            "a.csv has choices between two systems, .* in Python: ds = pandas.read_csv\\('a.csv'\\).meta.to_preferences"
            "\\(left='model_a', right='model_b', choice='winner'\\)",
        ),
        (
            outputs(human=["poor", "fine"] * 6, judge=grades()),
            ["--gold", "human"],
            "column 'human' has text \\('poor', 'fine'\\), not scores; if these are grades, add --labels poor fine",
        ),
        (
            outputs(quality=grades(), judge=["poor", "fine"] * 6),
            ["--gold", "quality"],
            "there is no metric to evaluate besides the human scores; metrics: 'quality'.* if --labels ... lists",
        ),
        (outputs(judge=grades()), [], "no human scores found; .* columns: 'model', 'prompt_id', 'judge'"),
    ],
)
def test_the_command_line_says_what_it_cannot_read_as_scores(tmp_path, capsys, monkeypatch, frame, options, message):
    monkeypatch.chdir(tmp_path)
    frame.to_csv("a.csv", index=False)
    assert cli.main(["a.csv", *options]) == 2
    assert re.search(f"error: {message}", capsys.readouterr().err)


def test_a_second_rule_needs_a_second_option(capsys):
    with pytest.raises(SystemExit):
        cli.main(["demo", "--require", "kendall >= .4", "alt_test"])
    assert "error: alt_test belongs to no option; repeat --require for each rule" in capsys.readouterr().err


def test_of_a_prompt_and_its_topic_the_prompt_is_the_input_though_rows_are_repeated():
    frame = pd.DataFrame({"prompt_id": [1, 2, 3, 4] * 2, "topic": [*"xxyy"] * 2, "human": 1.0, "judge": 2.0})
    assert roles.of(frame, {}).input == "prompt_id"
    gaps = frame.assign(prompt_id=frame["prompt_id"].where(frame["prompt_id"] < 4))
    assert roles.of(gaps, {}).input == "prompt_id"


def test_repeated_outputs_of_a_frame_without_a_system_name_it():
    frame = pd.DataFrame({"input": [1, 1], "rouge": [0.1, 0.2]})
    with pytest.raises(ValueError, match="no column has a usual name for the system: system=.*; or pass aggregate"):
        frame.meta.to_scores(wide=True)


def test_ratings_that_count_errors_are_suggested_as_lower_is_better(tmp_path):
    """The mean of the raters then has the direction, whether the column, the raters or the mean is named."""
    rng = np.random.default_rng(0)
    rows = [
        (system, segment, rater, rng.poisson(rate))
        for system, rate in (("a", 2), ("b", 2), ("c", 9), ("d", 3))
        for segment in range(20)
        for rater in ("kim", "lee")
    ]
    frame = pd.DataFrame(rows, columns=["system", "segment", "annotator", "penalty"])
    found = roles.of(frame)
    assert found.rated == "penalty" and found.lower == ["penalty"]
    wide = frame.pivot(index=["system", "segment"], columns="annotator", values="penalty")
    wide = wide.set_axis(["ann1_penalty", "ann2_penalty"], axis=1).reset_index().assign(length=rng.normal(size=80))
    of_raters = roles.of(wide)
    assert of_raters.raters == of_raters.lower == ["ann1_penalty", "ann2_penalty"]
    how = {"input": "segment", "wide": True, "ratings": "penalty", "rater": "annotator"}
    for name in ("penalty", "human"):
        ds = frame.meta.to_scores(**how, lower_is_better=[name])
        assert not ds.higher_is_better.sel(metric="human")
        difference = ds.meta.compare_systems(metric="human").difference.sel(system="c").squeeze("metric")
        assert (difference.drop_sel(other_system="c") < -3).all()  # more errors are worse
    ds = wide.meta.to_scores(input="segment", wide=True, ratings=of_raters.raters, lower_is_better=of_raters.lower)
    assert not ds.higher_is_better.sel(metric="human")


@pytest.mark.ignore_codes("negative_variance")
def test_a_judge_beside_errors_is_no_longer_remarked_on_once_they_are_declared():
    """Of the ratings, too: in plans and variance components."""
    rng = np.random.default_rng(1)
    errors = rng.poisson(np.array([1, 2, 4, 6, 9])[:, None, None], size=(5, 40, 2)).astype(float)
    judge = 90 - 5 * errors.mean(axis=2) + rng.normal(size=(5, 40))
    score = xr.DataArray([judge, errors.mean(axis=2)], dims=("metric", "system", "input"))
    ds = xr.Dataset({"score": score, "rating": (("system", "input", "rater"), errors)}, attrs={"gold": "human"})
    ds = ds.assign_coords(metric=["judge", "human"], system=list("abcde"))
    with pytest.warns(UserWarning, match=r"isin\(\['judge'\]\)\); if low human scores .* isin\(\['human'\]\) instead"):
        ds.meta.corr("human")
    declared = ds.assign_coords(higher_is_better=ds.metric != "human")
    assert float(declared.meta.corr("human").correlation[0]) > 0.9
    xsumstat.plan(declared, rating="rating", metric="judge", n_judged=1000, difference=1.0)
    by_rating = declared.meta.variance_components(rating="rating").covariance
    by_mean = declared.meta.variance_components("human").covariance
    pair = {"metric": "judge", "effect": "system"}
    assert float(by_rating.sel(other_metric="rating", **pair)) == pytest.approx(
        float(by_mean.sel(other_metric="human", **pair))
    )
    assert float(by_mean.sel(other_metric="human", **pair)) > 0


def test_a_declared_direction_of_ratings_holds_for_chunked_scores():
    errors = np.random.default_rng(1).poisson(np.array([1, 2, 4, 6, 9])[:, None, None], size=(5, 40, 2)).astype(float)
    judge = 90 - 5 * errors.mean(axis=2)
    score = xr.DataArray([judge, errors.mean(axis=2)], dims=("metric", "system", "input"))
    ds = xr.Dataset({"score": score, "rating": (("system", "input", "rater"), errors)}, attrs={"gold": "human"})
    ds = ds.assign_coords(metric=["judge", "human"], system=list("abcde"))
    ds = ds.assign_coords(higher_is_better=ds.metric != "human")
    want = ds.meta.human_ceiling(rating="rating", rng=1, n_resamples=50)
    chunked = ds.chunk(input=10)
    xr.testing.assert_allclose(chunked.meta.human_ceiling(rating="rating", rng=1, n_resamples=50).compute(), want)
    assert float(want.correlation.sel(metric="judge")) > 0.5


@pytest.mark.parametrize("name", ["BERTScore", "chrF++", "BLEURT-20", "MetricX-24", "YiSi-1", "bert_score", "COMET-22"])
def test_published_spellings_of_metrics_are_known(name):
    assert roles.is_automatic(name)


def test_other_names_are_neither_metrics_nor_errors():
    assert not any(map(roles.is_automatic, ["Kim", "fluency", "terms", "Charlie", "Bleuler"]))
    assert roles.is_lower("n_errors") and not roles.is_lower("error_free")
