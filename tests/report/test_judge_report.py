"""The page about judges: which questions it asks, what it answers, and the gate of the command line."""

import base64
import copy
import math
import pickle
import re
import types

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.stats
import sklearn.metrics
import xarray as xr
from conftest import of_code, warns
from helpers import by_turns

import xsumstat
from xsumstat.cli import gate, options
from xsumstat.cli import main as cli
from xsumstat.core import arguments
from xsumstat.report import judge_questions, judge_remarks, judge_report, report_pictures

QUESTIONS = (
    "Do the raters agree?",
    "Does the judge agree with the raters as well as a single rater does?",
    "Which judge agrees better with the human scores?",
    "Does the judge give the same grades as the raters?",
    "In which direction is the judge biased?",
    "May the judge replace a rater?",
    "Which system is best?",
    "How many ratings does the next study need?",
)


def outputs(systems=3, prompts=45, seed=0):
    """A row an output: three annotators with gaps, a good judge, and one that errs more and is better when lower."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(systems, 1)) / 2 + rng.normal(size=(systems, prompts))
    rows = pd.MultiIndex.from_product(
        [[f"model {at}" for at in range(systems)], range(prompts)], names=["system", "input"]
    )
    q = quality.ravel()

    def graded(sd, slope, middle, top):
        return np.clip(np.round(middle + slope * q + sd * rng.normal(size=q.size)), 1, top)

    people = {name: np.where(rng.random(q.size) < 0.2, np.nan, graded(0.5, 1, 3, 5)) for name in ("ann", "bob", "eve")}
    judges = {"good": graded(0.8, 2, 5, 10), "bad": graded(2.5, -1, 5, 10)}
    beside = {
        "length": np.round(np.exp(4 + 0.5 * rng.normal(size=q.size))),
        "topic": np.resize(["code", "chat", "math"], q.size),
    }
    frame = pd.DataFrame({**people, **judges, **beside}, index=rows).reset_index()
    return frame.assign(topic=[("code", "chat", "math")[at % 3] for at in frame["input"]])


def scores(frame):
    how = {"ratings": ["ann", "bob", "eve"], "lower_is_better": ["bad"], "kind": {"covariate": ["length"]}}
    return frame.meta.to_scores(wide=True, **how)


@pytest.fixture(scope="module")
def ds():
    return scores(outputs())


@pytest.fixture(scope="module")
def page(ds):
    return ds.meta.report(kind="judge", name="outputs")


@pytest.mark.parametrize("again", [copy.deepcopy, lambda page: pickle.loads(pickle.dumps(page))])
def test_a_copy_of_a_page_says_the_same(page, again):
    twin = again(page)
    assert twin.text() == page.text() and twin.conclusion() == page.conclusion()


def test_every_question_is_asked_and_answered(page):
    assert tuple(section.question for section in page.sections) == QUESTIONS
    assert all(section.said for section in page.sections)
    assert not any("can't be told" in text for section in page.sections for text in section.said)


def test_the_judges_are_those_that_are_no_people_and_describe_nothing(page):
    assert page.results["compare_metrics"]["metric"].values.tolist() == ["good", "bad"]
    assert dict(page.data)["judges"] == "good and bad" and dict(page.data)["covariates tested for bias"] == "length"


@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
def test_numbers_are_those_of_plain_python(ds, page):
    frame = outputs()
    frame["human"] = frame[["ann", "bob", "eve"]].mean(axis=1)
    r = {
        name: np.nanmean(
            [
                scipy.stats.pearsonr(*part[[name, "human"]].dropna().T.values).statistic
                for _, part in frame.groupby("input")
            ]
        )
        for name in ("good", "bad")
    }
    difference = page.results["compare_metrics"]["difference"].sel(metric="good", other_metric="bad")
    assert float(difference) == pytest.approx(r["good"] + r["bad"], abs=1e-12)
    means = page.results["system_means"]["human_mean"].to_series()
    assert means.to_dict() == pytest.approx(frame.groupby("system")["human"].mean().to_dict(), abs=1e-12)
    best = means.idxmax()
    assert f'"{best}" has the highest mean' in " ".join(page.sections[6].said) or f'"{best}" is best' in " ".join(
        page.sections[6].said
    )


@pytest.mark.filterwarnings("ignore")
def test_its_code_gives_its_numbers(ds, page):
    names = {"ds": ds}
    exec(page.code, names)
    for name, result in page.results.items():
        xr.testing.assert_identical(names[name.replace(" ", "_")], result)


def test_lazy_scores_are_computed(ds, page):
    pytest.importorskip("dask")
    again = ds.chunk(metric=1).meta.report(kind="judge", name="outputs")
    assert again.text() == page.text()


@pytest.mark.parametrize(
    "change, absent",
    by_turns(
        [
            (lambda ds: ds.drop_vars("rating"), [QUESTIONS[3], QUESTIONS[5]]),
            (lambda ds: ds.isel(system=[0]), []),
            (lambda ds: ds.drop_sel(metric="bad"), [QUESTIONS[2]]),
            (lambda ds: ds.drop_sel(metric="length").drop_vars("topic"), []),
        ]
    ),
)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_what_is_not_there_is_not_asked_or_told(ds, change, absent):
    page = change(ds).meta.report(kind="judge")
    assert [section.question for section in page.sections] == [each for each in QUESTIONS if each not in absent]
    assert all(section.said for section in page.sections)
    assert page.text() and page.html()


@pytest.mark.filterwarnings("ignore")
def test_what_is_refused_is_told_in_its_place(ds):
    page = ds.isel(input=slice(4)).meta.report(kind="judge")
    told = {section.question: " ".join(section.said) for section in page.sections}
    assert told["May the judge replace a rater?"].startswith("Not answered: ")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_names_cannot_break_the_page(ds):
    worse = ds.assign_coords(system=["<b>", "a\x00b", "\u202eabc"], metric=["length", "<i>good", "bad", "human"])
    html = worse.meta.report(kind="judge", name="<script>").html()
    assert not any(word in html for word in ("<script>", "<b>", "<i>good", "\x00", "\u202e"))


@pytest.mark.slow
def test_it_is_shown_in_a_notebook_and_saved(page, tmp_path):
    page.save(tmp_path / "judge.html")
    html = (tmp_path / "judge.html").read_text(encoding="utf-8")
    assert (
        html == page.html()
        and html.startswith("<!DOCTYPE html>")
        and "http" not in html.replace("http://www.w3.org", "")
        and "<image" not in html  # which the page's own rules refuse
    )
    assert page._repr_html_().startswith("<article")
    assert str(page) == page.text()


# --- The gate ---


@pytest.mark.parametrize(
    "text, found",
    [("kendall >= .6", ("kendall", 0.6)), ("kendall>=0.5", ("kendall", 0.5)), ("alt_test", ("alt_test", None)),
     ("bias", ("bias", None)), (" bias <= .1 ", ("bias", 0.1)), ("pearson ≥ -1", ("pearson", -1.0))],
)  # fmt: skip
def test_a_requirement(text, found):
    required = gate.requirement(text)
    assert (required.of, required.bound) == found and required.text == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kendall",
        "kendall > .6",
        "kendall <= .6",
        "kendall >= high",
        "kendall >= nan",
        "alt_test >= .5",
        "bias >= .1",
        "tau-x >= .1",
    ],
)
def test_what_is_no_requirement(text):
    with pytest.raises(ValueError, match="require must"):
        gate.requirement(text)


@pytest.mark.parametrize("text", ["kendall >= 40", "accuracy >= -.1", "kappa >= 1.01"])
def test_a_limit_lies_in_the_range_of_its_coefficient(text):
    with pytest.raises(ValueError, match=r"require: \w+ lies between (-1|0) and 1, got"):
        gate.requirement(text)


@pytest.mark.filterwarnings("ignore")
def test_the_lower_limit_decides_and_meets_its_own_value(ds):
    low = float(ds.meta.ci(metric="good", level="input", coefficient="kendall")["ci_low"].squeeze())
    asked = {
        bound: gate.check(ds, gate.Requirement("r", "kendall", bound), metric="good")
        for bound in (low, math.nextafter(low, 1))
    }
    assert [verdict.status for verdict in asked.values()] == [gate.MET, gate.NOT_MET]
    assert "good" in asked[low].line and "these systems" in asked[low].line


@pytest.mark.filterwarnings("ignore")
def test_every_judge_must_meet_it(ds):
    required = gate.requirement("kendall >= .5")
    assert gate.check(ds, required, metric="good").status == gate.MET
    assert gate.check(ds, required).status == gate.NOT_MET


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_grades_agree_with_the_mean_of_people_on_their_scale(ds, page):
    found = page.results["ci weighted_kappa"]
    names = {"ds": ds}
    exec(page.code, names)
    frame = outputs().set_index(["system", "input"])[["ann", "bob", "eve"]]
    counted = names["calibrated"].score.sel(metric=["good (calibrated)", "bad (calibrated)"])
    assert set(np.unique(counted)) <= {1, 2, 3, 4, 5}
    start = page.code.index("calibrated = ")
    exec(page.code[start : page.code.index("ci_weighted_kappa")], names)
    for label in ("good (calibrated)", "bad (calibrated)"):
        judge = names["calibrated"].score.sel(metric=label).to_series()
        a, b = pd.DataFrame({"a": judge, "b": frame.mean(axis=1)}).dropna().T.values
        kappa = 2 * np.cov(a, b, ddof=0)[0, 1] / (a.var() + b.var() + (a.mean() - b.mean()) ** 2)
        assert float(found["correlation"].sel(metric=label)) == pytest.approx(kappa, abs=1e-12)
    low = found["ci_low"].sel(metric="good (calibrated)").item()
    for bound, status in ((low, gate.MET), (math.nextafter(low, 1), gate.NOT_MET)):
        assert gate.check(ds, gate.Requirement("w", "weighted_kappa", bound), metric="good").status == status


@pytest.mark.filterwarnings("ignore")
@pytest.mark.filterwarnings("ignore")
def test_grades_are_counted_with_those_of_each_rater(ds, page):
    names = {"ds": ds}
    exec(page.code, names)
    judge = names["calibrated"].score.sel(metric="good (calibrated)").to_series().rename("judge")
    frame = outputs().set_index(["system", "input"])[["ann", "bob", "eve"]]
    both = frame.melt(ignore_index=False, value_name="rating").join(judge).dropna()
    want = pd.crosstab(both["rating"], both["judge"])
    got = page.results["confusion"].n_outputs.sel(metric="good (calibrated)").to_pandas()
    np.testing.assert_array_equal(got.loc[:, got.any()], want)
    said = " ".join(page.sections[3].said)
    assert f"for {np.trace(got.values):,} of {len(both):,} ratings" in said
    rated = frame.notna().sum(axis=1)
    pairs = int((rated * (rated - 1) / 2).sum())
    alike = sum(int((frame[a] == frame[b]).sum()) for a, b in (("ann", "bob"), ("ann", "eve"), ("bob", "eve")))
    assert f"Two raters give the same grade in {alike:,} of {pairs:,} pairs of ratings of an output" in said


def one_more_rater(outputs, raters, rng):
    """Grades of raters of one kind, of whom the last is the judge; most are high, so the scale is skewed."""
    quality = rng.normal(size=outputs)
    graded = np.searchsorted([-2.2, -1.6, -1.0, -0.3], quality + 0.8 * rng.normal(size=(raters + 1, outputs))) + 1.0
    graded[:-1][rng.random((raters, outputs)) < 0.2] = np.nan
    return graded[:-1].T, graded[-1]


@pytest.mark.ignore_codes("labels_without_cells")
@pytest.mark.parametrize("raters", [2, 3, 5])
def test_a_judge_who_is_one_more_rater_is_as_often_higher_as_lower(raters):
    rating, judge = one_more_rater(20_000, raters, np.random.default_rng(raters))
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), judge[None, None]),
         "rating": (("system", "input", "rater"), rating[None])},
        {"metric": ["judge"]},
    )  # fmt: skip
    table = ds.meta.confusion("rating", along="rater").n_outputs.squeeze().values
    higher, lower, total = np.triu(table, 1).sum(), np.tril(table, -1).sum(), table.sum()
    # Ratings of one output share the judge's grade: the spread is at most that of so many outputs.
    assert abs(higher - lower) / total < 4 * math.sqrt((higher + lower) / total / len(judge))
    vote = ds.meta.majority_vote("rating", ties="lowest")["rating"]
    apart = (judge - vote).values
    if raters < 5:
        assert (apart > 0).sum() > 1.2 * (apart < 0).sum()  # the lowest of tied grades makes it look lenient


@pytest.mark.filterwarnings("ignore")
def test_a_judge_that_passes_or_fails_is_held_to_the_vote():
    frame = outputs()
    ratings = frame[["ann", "bob", "eve"]]
    frame[["ann", "bob", "eve"]] = (ratings > 3).astype(float).where(ratings.notna())
    frame["good"] = (frame["good"] > 6).astype(float)
    ds = scores(frame).drop_sel(metric="bad")
    modes = frame[["ann", "bob", "eve"]].mode(axis=1)
    vote = modes[0].where(modes[1].isna())
    both = pd.DataFrame({"a": frame["good"], "b": vote}).dropna()
    kappa = sklearn.metrics.cohen_kappa_score(both["a"], both["b"])
    found = ds.meta.report(kind="judge").results["ci kappa"]
    assert found["correlation"].item() == pytest.approx(kappa, abs=1e-12)
    low = found["ci_low"].item()
    assert gate.check(ds, gate.Requirement("k", "kappa", low)).status == gate.MET
    assert gate.check(ds, gate.Requirement("k", "kappa", low + 0.01)).status == gate.NOT_MET


@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_said(ds):
    one = ds.drop_vars("rating")
    assert gate.check(one, gate.requirement("alt_test")).status == gate.UNKNOWN
    alone = one.drop_sel(metric="length")
    assert gate.check(alone, gate.requirement("bias <= .1")).status == gate.UNKNOWN
    assert gate.check(alone.isel(system=[0]), gate.requirement("bias")).status == gate.UNKNOWN
    constant = ds.copy(deep=True)
    constant.score.loc[{"metric": "good"}] = 3.0
    assert gate.check(constant, gate.requirement("pearson >= .1"), metric="good", level="global").status == gate.UNKNOWN


@pytest.mark.filterwarnings("ignore")
def test_bias_by_its_limits_or_by_its_tests(ds):
    found = ds.meta.bias("rating", metric=["good"], given=["length"])
    assert found.attrs["method"] == "corrected"
    reach = float(np.abs([found["ci_low"], found["ci_high"]]).max())
    within = [
        gate.check(ds, gate.Requirement("b", "bias", bound), metric="good").status for bound in (reach, 0.99 * reach)
    ]
    assert within == [gate.MET, gate.NOT_MET]
    longer = ds.copy(deep=True)
    length = longer.score.sel(metric="length")
    longer.score.loc[{"metric": "good"}] += 4 * (length - length.mean()) / length.std()
    required = gate.requirement("bias")
    p = float(found["pvalue"].squeeze())
    assert gate.check(ds, required, metric="good", alpha=0.99 * p).status == gate.MET
    assert gate.check(ds, required, metric="good", alpha=1.01 * p).status == gate.NOT_MET
    assert gate.check(longer, required, metric="good", alpha=1e-6).status == gate.NOT_MET


@pytest.mark.filterwarnings("always")
def test_cells_that_are_left_out_are_told_once():
    frame = outputs()
    frame.loc[[3, 50], "good"] = np.nan
    with warns("cells_left_out") as caught:
        page = scores(frame).meta.report(kind="judge")
    told = of_code(caught, "cells_left_out")
    assert len(told) == 1 and "good (2 of 135)" in told[0] and told[0] in page.notes


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_a_judge_that_falls_where_people_rise_is_named():
    ds = outputs().meta.to_scores(wide=True, ratings=["ann", "bob", "eve"], kind={"covariate": ["length"]})
    said = ds.meta.report(kind="judge").sections[1].said
    assert "bad correlates negatively with the human scores" in said[-1] and "lower_is_better=['bad']" in said[-1]
    assert not any("lower scores" in each for each in scores(outputs()).meta.report(kind="judge").sections[1].said)


@pytest.mark.filterwarnings("ignore")
def test_a_bias_that_noise_may_explain_is_no_verdict(ds):
    single = ds.drop_vars("rating")
    better = single.copy(deep=True)
    better.score.loc[{"metric": "length"}] += 60 * single.score.sel(metric="human", drop=True)
    required = gate.requirement("bias")
    found = better.meta.bias(metric="good", given="length")
    p, corrected = float(found["pvalue"].squeeze()), found["corrected_pvalue"].max().item()
    alpha = (p + corrected) / 2
    assert p < alpha < corrected
    assert gate.check(better, required, metric="good", alpha=alpha).status == gate.UNKNOWN


@pytest.mark.slow
def test_the_command_line(tmp_path, capsys):
    outputs().to_csv(tmp_path / "outputs.csv", index=False)
    asked = [str(tmp_path / "outputs.csv"), "--raters", "ann", "bob", "eve", "--judge", "--metric", "good"]
    assert cli.main([*asked, "--require", "kendall >= .4", "--output", str(tmp_path / "page.html")]) == 0
    out, err = capsys.readouterr()
    assert "Can the judge be trusted? outputs.csv" in out and out.splitlines()[-1].startswith(
        "kendall >= .4: met. good "
    )
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert cli.main([*asked, "--require", "kendall >= .99"]) == 1
    assert cli.main([*asked, "--require", "kendall >= .4", "--require", "spa >= .1"]) == 2
    capsys.readouterr()
    assert cli.main([*asked, "--require", "kendal >= .4"]) == 2
    assert "--require must be one of" in capsys.readouterr().err


def test_a_kind_that_there_is_not(ds):
    with pytest.raises(ValueError, match="kind must be one of 'metrics', 'judge'"):
        ds.meta.report(kind="judges!")


def test_the_best_judge_helps_with_the_systems(page):
    assert page.results["system_means"].attrs.get("helped_by", "good") == "good"
    told = " ".join(page.text().split())
    assert "Of the judges good is used, because its scores correlate most strongly with the human scores among" in told
    assert isinstance(page, judge_report.JudgeReport) and xsumstat is not None


def test_without_a_judge_the_page_says_what_to_do():
    frame = outputs(prompts=8).drop(columns=["good", "bad"])
    ds = frame.meta.to_scores(wide=True, ratings=["ann", "bob", "eve"], kind={"covariate": ["length"]})
    with pytest.raises(ValueError, match="there is no judge beside .* if judges are among the raters"):
        ds.meta.report(kind="judge")
    with arguments.written_for(options.FACE), pytest.raises(ValueError, match=r"Name one by --metric NAME \.\.\.$"):
        ds.meta.report(kind="judge")


@pytest.mark.slow
@pytest.mark.ignore_codes("labels_without_cells")  # that have one rating, and so no two people to compare
def test_one_system_gets_a_plan_of_its_mean_and_no_name_that_nobody_gave():
    frame = outputs(systems=1, prompts=90).drop(columns="system")
    frame["ann"] = frame["ann"].fillna(3)
    people = frame[["ann", "bob", "eve"]]
    how = {"ratings": list(people), "lower_is_better": ["bad"], "kind": {"covariate": ["length"]}}
    page = frame.meta.to_scores(wide=True, **how).meta.report(kind="judge")
    text = page.text(10_000)
    assert f"The mean human score is {people.mean(axis=1).mean():.2f} [" in text
    plan = page.results["plan"]
    width = 2 * float(f"{0.2 * people.mean(axis=1).std():.2g}")
    assert "The 95 % interval of a system's mean is" in text and plan.attrs["estimand"] == "mean"
    # the variance of one rating: that of the mean of all raters without their noise, and the noise of one
    least = int(plan.rated_inputs.sel(n_raters=1))
    noise = people.sub(people.mean()).var(axis=1, ddof=1).mean()
    each = people.mean(axis=1).var() - noise * (1 / people.notna().sum(axis=1)).mean() + noise
    n = 4 * scipy.stats.t.ppf(0.975, least - 1) ** 2 * each / width**2
    assert abs(n / least - 1) < 0.1


def test_a_judge_below_the_raters_that_may_replace_one_is_explained():
    high = xr.DataArray([-0.1, 0.2, -0.1], {"metric": ["low", "even", "worst"]}, ("metric",))
    ceiling = xr.Dataset({"difference_high": high})
    test = xr.Dataset({"winning_rate": high.copy(data=[1.0, 1.0, 0.0])}, attrs={"margin": 0.2})
    (said,) = judge_remarks._within_margin(test, {"human_ceiling": ceiling})
    assert said.startswith("low may do so although it agrees less with the raters than a rater does") and ".20" in said
    assert judge_remarks._within_margin(test.isel(metric=[1, 2]), {"human_ceiling": ceiling}) == []
    assert judge_remarks._within_margin(test, {}) == []


@pytest.mark.slow
@pytest.mark.ignore_codes("near_one")
def test_where_people_rated_all_a_judge_adds_nothing():
    frame = outputs()
    page = scores(frame.assign(ann=frame["ann"].fillna(3))).meta.report(kind="judge")
    assert "Every output has a human score, so good adds nothing." in page.text(10_000)


def test_an_image_within_a_picture_stands_in_the_page():
    """It is PNG in the page itself; the link to it led nowhere."""
    drawing = report_pictures._drawing(lambda: plt.subplots()[1].imshow(np.eye(2)).axes, "light")
    (image,) = re.findall(r'<image [^>]*href="([^"]*)"', drawing)
    kind, _, content = image.partition(",")
    assert kind == "data:image/png;base64" and base64.b64decode(content).startswith(b"\x89PNG")


def test_a_judge_is_called_reversed_only_where_the_whole_interval_is_below_0():
    found = xr.Dataset(
        {"correlation": ("metric", [-0.1, -0.5, 0.3]), "ci_high": ("metric", [0.2, -0.2, 0.5])},
        {"metric": ["unsure", "reversed", "good"]},
    )
    ds = types.SimpleNamespace(sizes={"input": 9})
    about = types.SimpleNamespace(ds=ds, judges=["good", "reversed", "unsure"], within_systems=found)
    for coefficient, of_levels in (("kendall", found), ("acc_eq", found.assign(ci_high=found.ci_high + 1))):
        shown = {"human_ceiling": of_levels.assign_attrs(coefficient=coefficient)}  # accuracies are above 0
        assert judge_remarks.falling(about, shown) == ["reversed"]
    told = judge_remarks._reversed(["reversed"])
    assert len(told) == 1 and told[0].startswith("reversed correlates negatively") and "'unsure'" not in told[0]
    assert judge_remarks._reversed([]) == []


@pytest.mark.parametrize("fewest", [9, 10])
def test_groups_of_ten_inputs_are_large_enough(fewest):
    ds = xsumstat.load_dataset("demo").assign_coords(topic=("input", ["a"] * fewest + ["b"] * (30 - fewest)))
    assert judge_questions.groups(ds) == (["topic"] if fewest == 10 else [])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("grades", [10, 11])
def test_ten_grades_are_compared_as_grades_and_eleven_are_not(grades):
    rng = np.random.default_rng(3)
    human = np.concatenate([np.arange(grades), rng.integers(0, grades, 3 * 30 - grades)]).reshape(3, 30)
    judge = np.clip(human + rng.integers(-1, 2, human.shape), 0, grades - 1)
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), np.array([human, judge], float))},
        {"metric": ["human", "judge"], "system": list("abc"), "input": range(30)},
    )
    results = ds.meta.report("human", kind="judge").results
    assert ("confusion" in results) == ("ci weighted_kappa" in results) == (grades == 10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_page_counts_outputs_without_a_rating_and_has_intervals_of_its_level():
    frame = outputs(prompts=12)
    rows = np.arange(len(frame))
    frame.loc[rows % 3 == 0, "ann"] = np.nan  # one rating less
    frame.loc[rows % 9 == 0, ["bob", "eve"]] = np.nan  # none at all
    ds = frame.meta.to_scores(wide=True, ratings=["ann", "bob", "eve"], kind={"covariate": ["length"]})
    page = ds.meta.report(kind="judge", alpha=0.2)
    each = frame[["ann", "bob", "eve"]].notna().sum(axis=1)
    assert (each == 1).any() or (each == 2).any()
    assert dict(page.data)["ratings"] == f"{each.sum()}; of {len(frame)} outputs {(each == 0).sum()} have none"
    assert page.results["compare_metrics"].attrs["confidence_level"] == 0.8
