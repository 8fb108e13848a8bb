"""The short answer on top of the page about judges, each statement computed anew from the table."""

import itertools
import re
import sys
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pytest
import scipy.stats
import xarray as xr
from helpers import by_turns
from judged_outputs import PEOPLE, scores, shown, table, tau

import xsumstat
from xsumstat.cli import gate
from xsumstat.report import judge_remarks, judge_subject, judge_summary

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def frame():
    return table()


@pytest.fixture(scope="module")
def page(frame):
    return scores(frame).meta.report(kind="judge", name="outputs")


def beside_raters(frame, judge):
    """A judge's agreement with the mean of all other raters, on each rater's outputs, averaged over raters."""
    found = []
    for rater in PEOPLE:
        others = frame[[name for name in PEOPLE if name != rater]].mean(axis=1)
        scored = frame[rater if judge is None else judge].where(frame[rater].notna())
        found.append(tau(frame, scored, others))
    return np.mean(found)


def wins(frame, judge, margin):
    """Raters against whom a judge wins in the alternative annotator test."""
    p = []
    for rater in PEOPLE:
        others = frame[[name for name in PEOPLE if name != rater]]
        items = frame[[judge, rater]].notna().all(axis=1) & others.notna().any(axis=1)
        apart = [
            -np.sqrt(((others[items].sub(frame.loc[items, name], axis=0)) ** 2).mean(axis=1)) for name in (judge, rater)
        ]
        judge_ahead, rater_ahead = apart[0] >= apart[1] - 1e-12, apart[1] >= apart[0] - 1e-12
        gain = rater_ahead.astype(float) - judge_ahead
        p.append(scipy.stats.ttest_1samp(gain, margin, alternative="less").pvalue)
    return int((scipy.stats.false_discovery_control(p, method="by") <= 0.05).sum())


def line(page, start):
    (found,) = (text for text in page.summary if text.startswith(f"{start}: "))
    return found


@pytest.mark.parametrize("judge", ["near", "wild"])
def test_agreement_beside_a_rater_and_how_much_less_it_may_be(frame, page, judge):
    text = line(page, judge)
    scored = frame[frame[judge].notna()]
    own, rater = (shown(beside_raters(scored, each)) for each in (judge, None))
    rater += " on the outputs that the judge scored" * (len(scored) < len(frame))
    ceiling = page.results["human_ceiling"].sel(metric=judge)
    limits = ", ".join(shown(float(ceiling[end])) for end in ("ci_low", "ci_high"))
    assert f"Its agreement with the raters is {own} [{limits}], a single rater's is {rater}" in text
    low, high = float(ceiling["difference_low"]), float(ceiling["difference_high"])
    if low > 0:
        assert f": the judge agrees more, by {shown(low)} to {shown(high)} (95 % interval)." in text
    elif high < 0:
        assert f": the judge agrees less, by {shown(-high)} to {shown(-low)} (95 % interval)." in text
    else:
        reach = f"the judge may agree up to {shown(-low)} less, or {shown(high)} more (95 % interval)."
        assert f". The difference is not significant: {reach}" in text


@pytest.mark.parametrize("judge", ["near", "wild"])
def test_verdicts_with_both_margins(frame, page, judge):
    text = line(page, judge)
    usual = {"may": [], "as may a judge": [], "may not": []}
    constant = frame.assign(constant=frame[PEOPLE].stack().mode()[0])
    for margin, whose in ((0.2, "experts"), (0.1, "crowd workers")):
        verdict = "may" if wins(frame, judge, margin) >= 1.5 else "may not"
        verdict = "as may a judge" if verdict == "may" and wins(constant, "constant", margin) >= 1.5 else verdict
        usual[verdict].append(f"{shown(margin)} (usual for {whose})")
    for verdict, margins in usual.items():
        told = f"{'may not' if verdict == 'may not' else 'may'} replace a rater with the margin {' and '.join(margins)}"
        empty = ", as may a judge that gives every output the most frequent grade"
        assert not margins or (f"{told}{empty}" in text) == (verdict == "as may a judge")
        assert not margins or told in text
    section = next(each for each in page.sections if each.question == "May the judge replace a rater?")
    said = " ".join(section.said)
    n = wins(frame, judge, 0.1)
    assert f"{judge} {'may' if n >= 2 else 'may not'} (wins against {n} of 3)" in said


def holm(p):
    """Holm's p-values of a flat list."""
    order, found, least = np.argsort(p), np.empty(len(p)), 0.0
    for rank, at in enumerate(order):
        least = max(least, min(1.0, (len(p) - rank) * p[at]))
        found[at] = least
    return found


@pytest.mark.parametrize("judge", ["near", "wild"])
def test_bias_is_found_or_not_or_left_to_noise(page, judge):
    """By p-values that are corrected over judges and covariates."""
    tests = page.results["bias"]
    p = holm(tests["pvalue"].values.ravel())[tests["metric"].values.tolist().index(judge)]
    text = line(page, judge)
    if p > 0.05:
        of_systems = holm(page.results["bias_by_system"]["pvalue"].values.ravel()).reshape(2, 3)
        fair = (of_systems[tests["metric"].values.tolist().index(judge)] > 0.05).all()
        beside = " or system" if fair else ""
        assert f"No bias by length{beside} was found. This does not show that there is none." in text
    else:
        slope = shown(float(tests["slope"].sel(metric=judge, covariate="length")))
        assert f"It shows a bias: its errors depend on length (slope {slope})." in text
    assert "agreement differs between" not in text


@pytest.mark.parametrize("seed", by_turns(range(6)))
def test_the_summary_and_the_gate_find_the_same_biases(seed):
    """Four covariates of noise: what is significant by chance alone is told by neither."""
    rng = np.random.default_rng(seed)
    frame = table(judges=("near",), seed=seed).drop(columns="length")
    covariates = ["length", "position", "n_tokens", "n_words"]
    frame = frame.assign(**{name: np.round(50 + 10 * rng.normal(size=len(frame))) for name in covariates})
    ds = frame.reset_index().meta.to_scores(wide=True, ratings=PEOPLE, kind={"covariate": covariates})
    page = ds.meta.report(kind="judge")
    assert page.results["bias"].sizes["covariate"] == 4
    doubts = ("It shows a bias", "noise in the human scores may explain", "cannot be estimated")
    found = any(each in page.conclusion() for each in doubts)
    verdict = gate.check(ds, gate.requirement("bias"))
    assert (verdict.status != gate.MET) == found


def test_the_favourite_of_a_judge_is_named(frame):
    """Means of errors within prompts show whom it favours; the table has the slopes of each system's indicator."""
    odd = frame.drop(columns="wild").assign(wild=frame["near"] + (frame.index.get_level_values("system") == "b"))
    ds = scores(odd)
    page = ds.meta.report(kind="judge")
    text = line(page, "wild")
    assert "It scores b too high, compared with the other systems at equal human scores (" in text
    assert "too low, which may be the same by comparison)." in text
    near = line(page, "near")
    assert "No bias by length or system was found." in near and "too high" not in near
    tests = page.results["bias_by_system"]
    assert tests.sizes["covariate"] == 3 and tests.attrs["resample"] == "input"
    named = ds.assign_coords(who=("system", ["a", "b", "c"]))
    again = named.meta.bias("rating", given="who", metric=["near", "wild"])
    np.testing.assert_allclose(tests["slope"], again["slope"])
    np.testing.assert_allclose(
        np.sort(tests["pvalue_adjusted"].values.ravel()), np.sort(holm(again["pvalue"].values.ravel())), atol=1e-12
    )
    assert "bias_by_system = ds.meta.bias(" in page.code and "given='system'" in page.code


@pytest.mark.slow
def test_of_two_systems_the_second_is_compared_with_the_first(frame):
    two = frame[frame.index.get_level_values("system") != "c"].drop(columns="wild")
    two = two.assign(wild=two["near"] + 2 * (two.index.get_level_values("system") == "a"))
    page = scores(two).meta.report(kind="judge")
    assert "It scores a too high, compared with the other system at equal human scores." in line(page, "wild")
    alone = scores(two.loc[["a"]]).meta.report(kind="judge")
    assert "bias_by_system" not in alone.results


@pytest.mark.slow
def test_groups_whose_agreement_differs_show_no_bias(frame):
    """The judge grades one category at random."""
    rng = np.random.default_rng(1)
    numbers = frame.index.get_level_values("input")
    category = np.where(numbers < 30, "math", "chat")
    odd = frame.drop(columns="wild").assign(category=category)
    odd["near"] = np.where(category == "math", rng.integers(1, 6, size=len(odd)), odd["near"])
    page = odd.reset_index().meta.to_scores(wide=True, ratings=PEOPLE, kind={"covariate": ["length"]})
    text = line(page.meta.report(kind="judge"), "near")
    assert "Its agreement differs between the groups of category (lowest for math, " in text
    assert "shows a bias" not in text


def test_weak_points(frame, page):
    text = line(page, "Weak points")
    ratings = frame[PEOPLE].T.values
    alpha = krippendorff.alpha(
        reliability_data=ratings, level_of_measurement=page.results["agreement"].attrs["measurement"]
    )
    assert ("the raters' agreement is low" in text) == (alpha < 0.667)
    if alpha < 0.667:
        assert f"(Krippendorff's alpha {shown(alpha)}, below .667)" in text
    pairs = [frame[[a, b]].dropna() for a, b in (("ann", "bob"), ("ann", "eve"), ("bob", "eve"))]
    alike = sum((part.iloc[:, 0] == part.iloc[:, 1]).sum() for part in pairs) / sum(map(len, pairs))
    assert f"less often than two raters equal each other ({100 * alike:.0f} %)" in text
    for judge in ("near", "wild"):
        each = frame.melt(id_vars=judge, value_vars=PEOPLE).dropna()
        share = (each[judge] == each["value"]).mean()
        assert (f"{judge} ({100 * share:.0f} %)" in text) == (round(100 * share) < round(100 * alike))
    assert f"wild has no score for {frame['wild'].isna().sum()} of {len(frame)} outputs" in text
    assert "prompts" not in text


@pytest.mark.parametrize("judge", ["near", "wild"])
def test_higher_and_lower_grades(frame, page, judge):
    each = frame.melt(id_vars=judge, value_vars=PEOPLE).dropna()
    higher, lower = (100 * (sign * (each[judge] - each["value"]) > 0).mean() for sign in (1, -1))
    told = f"Its grade is higher than a rater's for {higher:.0f} % of the ratings, and lower for {lower:.0f} %."
    assert told in line(page, judge)


@pytest.mark.slow
def test_few_prompts_and_raters_are_weak_points():
    frame = table(prompts=20).drop(columns="eve")
    how = {"ratings": ["ann", "bob"], "kind": {"covariate": ["length"]}}
    text = line(frame.reset_index().meta.to_scores(wide=True, **how).meta.report(kind="judge"), "Weak points")
    assert "there are only 20 prompts" in text and "there are only 2 raters" in text


@pytest.mark.parametrize(("rated", "told"), by_turns([(29, "only 29 of 60 prompts have ratings"), (30, None)]))
def test_prompts_that_nobody_rated_do_not_count(frame, rated, told):
    few = frame.copy()
    few.loc[few.index.get_level_values("input") >= rated, PEOPLE] = np.nan
    text = line(scores(few).meta.report(kind="judge"), "Weak points")
    assert told in text if told else "prompts have ratings" not in text


def test_without_any_rating_there_is_no_report(frame):
    with pytest.raises(ValueError, match="nobody rated an output: the raters 'ann', 'bob', 'eve' have no ratings"):
        scores(frame.assign(**dict.fromkeys(PEOPLE, np.nan))).meta.report(kind="judge")
    alone = frame.drop(columns=PEOPLE).assign(human=np.nan).reset_index().meta.to_scores(wide=True)
    with pytest.raises(ValueError, match="no output has a human score"):
        alone.meta.report("human", kind="judge")


@pytest.mark.slow
def test_whom_it_covers_and_where_it_stands(page):
    assert page.summary[-1] == (
        "Scope: these 3 systems on inputs like these, as graded by these 3 raters; other raters may give other "
        "answers. Agreement is measured by Kendall's τ-b, input level."
    )
    assert [text.partition(":")[0] for text in page.summary] == ["near", "wild", "Weak points", "Scope"]
    assert page.conclusion() == "\n".join(page.summary)
    plain = " ".join(page.text().split())
    assert plain.startswith(f"Can the judge be trusted? outputs {' '.join(page.summary)}")
    html = page.html()
    assert html.index("Weak points: ") < html.index("Do the raters agree?")


@pytest.mark.slow
def test_refusals_have_a_section_of_their_own(frame, page):
    questions = [section.question for section in page.sections]
    assert "Which outputs does the judge not score?" in questions
    assert page.results["missingness"]["metric"].values.tolist() == ["wild"]
    whole = scores(frame.fillna({"wild": 3})).meta.report(kind="judge")
    assert "Which outputs does the judge not score?" not in [section.question for section in whole.sections]
    assert "has no score" not in whole.conclusion()


def test_one_human_score_of_each_output_allows_no_comparison_with_a_rater(frame):
    one = frame.assign(human=frame[PEOPLE].mean(axis=1)).drop(columns=[*PEOPLE, "wild", "length"])
    page = one.reset_index().meta.to_scores(wide=True).meta.report("human", kind="judge")
    r = tau(one, one["near"], one["human"])
    assert re.search(
        rf"near: Its agreement with the human scores is {shown(r)} \[.*\]; one rating per output allows no comparison "
        "with a rater. No bias by system was found. This does not show that there is none.$",
        page.summary[0],
    )
    assert page.summary[1] == "Weak points: with one human score per output, the raters' agreement is unknown."


@pytest.mark.slow
def test_of_many_judges_the_best_have_lines():
    names = ("near", "wild", "one", "two", "three")
    page = scores(table(judges=names)).meta.report(kind="judge")
    r = page.results["human_ceiling"]["correlation"].to_series().drop("rater").sort_values(ascending=False)
    assert [text.partition(":")[0] for text in page.summary[:3]] == r.index[:3].tolist()
    last, worst = r.index[3:]
    assert page.summary[3] == f"Judges that agree less: {last} {shown(r[last])} and {worst} {shown(r[worst])}."


def test_the_limit_of_a_difference_that_is_not_significant_is_told(page):
    ceiling = page.results["human_ceiling"]
    said = next(section.said for section in page.sections if "single rater" in section.question)
    open_ = ceiling.sel(metric=[each for each in ("near", "wild")])
    for judge in ("near", "wild"):
        low, high = (float(open_[end].sel(metric=judge)) for end in ("difference_low", "difference_high"))
        assert (f"{judge} may agree up to {shown(-low)} less" in " ".join(said)) == (low < 0 <= high)


@pytest.mark.slow
def test_without_the_extra_for_agreement_all_else_is_answered(frame, page, monkeypatch):
    """As after the first command of README, which does not install it."""
    monkeypatch.setitem(sys.modules, "krippendorff", None)
    bare = scores(frame).meta.report(kind="judge")
    said = {section.question: section.said for section in bare.sections}
    (told,) = said.pop("Do the raters agree?")
    assert told.startswith("Not answered: this needs krippendorff, which is not installed; ")
    assert said == {each.question: each.said for each in page.sections if each.question in said}
    assert "Krippendorff" not in bare.conclusion() and bare.summary[:2] == page.summary[:2]


def test_what_a_judge_saves():
    ds = xr.Dataset(
        {name: ("system", np.array(values)) for name, values in
         {"n_rated": [100, 100, 100], "n_inputs": [200, 200, 200], "n_effective": [125.0, 150.0, 110.0]}.items()},
        attrs={"target": "like", "helped_by": "near"},
    )  # fmt: skip
    assert judge_remarks._saved(ds) == [
        "So near saves 20 % of the ratings for a system's mean; for differences between systems it may save less."
    ]
    little = ds.assign(n_effective=ds.n_rated * 1.01)
    assert judge_remarks._saved(little) == ["So near adds little to these means: it saves 1 % of the ratings."]
    assert judge_remarks._saved(ds.assign(n_inputs=ds.n_rated)) == []


@pytest.mark.slow
def test_a_judge_on_another_scale_gets_no_share_of_equal_grades(frame):
    far = frame.assign(near=frame["near"] * 20).drop(columns="wild")
    page = scores(far).meta.report(kind="judge")
    assert "(calibrated)" in str(page.results["confusion"]["metric"].values)
    assert "Its grade is higher" not in page.conclusion() and "a rater's grade" not in page.summary[1].split("(")[0]
    said = " ".join(next(section.said for section in page.sections if "same grades" in section.question))
    assert "they cannot show whether it grades higher or lower than raters" in said


def test_the_methods_are_paragraphs_on_data_estimates_and_tests(frame, page):
    data, estimates, tests = page.paper()
    rated = int(frame[PEOPLE].notna().sum().sum())
    assert data == (
        f"We analysed 180 outputs of 3 systems on 60 inputs, with {rated} ratings by 3 raters ({540 - rated} of 540 "
        "possible ratings are missing), and the scores of near and wild. We used xsumstat "
        f"{xsumstat.__version__} (seed 0)."
    )
    assert "Krippendorff's alpha" in estimates and "significance level of .05; they apply to these 3 systems" in tests
    assert "xsumstat" not in estimates + tests and tests.count("alternative annotator test") == 1
    assert "by the label of each single rater" in estimates


def test_tables_have_titles(page):
    titles = {title for section in page.sections for title, _ in section.tables}
    assert (
        "" not in titles
        and {
            "Means of the human scores",
            "p-values of the differences between systems; Holm over all tests, intervals not corrected",
            "Alternative annotator test, margin .20",
        }
        <= titles
    )
    means = next(table for section in page.sections for title, table in section.tables if title.startswith("Means"))
    grades = next(section for section in page.sections if "same grades" in section.question)
    assert list(grades.tables[0][1]) == ["metric", "agreement", "95 % interval"]
    effective = page.results["system_means"]["n_effective"].values
    assert means["effective ratings"].tolist() == [f"{each:.0f}" for each in effective]


def test_where_a_report_is_saved(page, tmp_path):
    with pytest.raises(ValueError, match=r"path '.*report.pdf': save writes HTML, so the name must end in .html or"):
        page.save(tmp_path / "report.pdf")
    with pytest.raises(FileNotFoundError, match=r"path '.*nowhere.*': there is no folder .*nowhere$"):
        page.save(tmp_path / "nowhere" / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_the_guide_lists_the_questions_of_the_report(page):
    guide = Path(__file__).parents[2] / "docs/guides/raters_and_judges.md"
    plain = re.sub(r"\{term\}`([^`<]+)`", r"\1", guide.read_text(encoding="utf-8"))
    assert [each.question for each in page.sections if f"| {each.question} |" not in plain] == []


def verdicts(seed=3, passing=1.5):
    """Verdicts of two raters and a judge, and a judge from 0 to 100 without some scores; most outputs pass."""
    rng = np.random.default_rng(seed)
    rows = pd.MultiIndex.from_product([["a", "b", "c"], range(60)], names=["system", "input"])
    quality = rng.normal(size=len(rows))
    frame = pd.DataFrame(index=rows)
    for name in ("ann", "bob", "verdict"):
        frame[name] = (quality + passing + 0.7 * rng.normal(size=quality.size) > 0) * 1.0
    frame["points"] = np.clip(np.round(50 + 20 * quality + 5 * rng.normal(size=quality.size)), 0, 100)
    frame.iloc[::11, 3] = np.nan
    ds = frame.reset_index().meta.to_scores(wide=True, ratings=["ann", "bob"])
    return frame, ds.assign_attrs(labels="fail\npass")


@pytest.mark.parametrize("passing", by_turns([1.5, 0.0], 1))
def test_a_judge_that_reads_nothing_may_pass_the_alt_test(passing):
    frame, ds = verdicts(passing=passing)
    told = str(ds.meta.report(kind="judge").conclusion())
    most = frame[["ann", "bob"]].stack().mode()[0]
    constant = ds.rating.to_dataset().assign(score=xr.full_like(ds.score.sel(metric=["verdict"]), most))
    tests = [constant.meta.alt_test("rating", metric="verdict", margin=margin) for margin in (0.2, 0.1)]
    passes = [test.winning_rate.item() >= 0.5 for test in tests]
    assert any(passes) == (passing > 0)
    assert ("most frequent grade passes the alternative annotator test" in told) == any(passes)


@pytest.mark.slow
def test_outputs_without_a_majority_are_said_to_be_left_out():
    frame, ds = verdicts()
    tied = int((frame["ann"] != frame["bob"]).sum())
    assert f"This leaves out {tied} of 180 outputs, on which the raters disagree" in ds.meta.report(kind="judge").text()


@pytest.mark.slow
def test_a_judge_from_0_to_100_beside_verdicts_has_its_own_range():
    frame, ds = verdicts()
    found = ds.meta.missingness("human", metric=["verdict", "points"], rng=1)
    assert int(found["n_missing"].sel(metric="points").sum()) == frame["points"].isna().sum()
    filled = frame["points"].groupby("system")
    np.testing.assert_allclose(
        found["mean_low"].sel(metric="points"), filled.apply(lambda each: each.fillna(each.min()).mean()), atol=1
    )
    assert f"points has no score for {frame['points'].isna().sum()} of 180 outputs" in str(
        ds.meta.report(kind="judge").conclusion()
    ).replace("\n", " ")


def test_one_verdict_of_each_output_needs_no_alt_test():
    frame, _ = verdicts()
    ds = frame.drop(columns="bob").reset_index().meta.to_scores(wide=True, gold="ann").assign_attrs(labels="fail\npass")
    told = str(ds.meta.report(kind="judge").conclusion())
    assert "with one human score per output, the raters' agreement is unknown" in told.replace("\n", " ")
    assert "most frequent grade" not in told


@pytest.mark.parametrize("texts", [True, False])
def test_shares_of_passes_have_limits_from_0_to_1(texts):
    _, ds = verdicts(seed=1, passing=2.2)
    ds = ds.assign(rating=ds.rating.where(ds.rating.input < 6))
    ds.attrs = {**ds.attrs, "labels": "fail\npass"} if texts else {k: v for k, v in ds.attrs.items() if k != "labels"}
    free = ds.meta.system_means(ds.rating.mean("rater"), metric="verdict")
    assert free.ci_high.max() > 1
    means = ds.meta.report(kind="judge").results["system_means"]
    assert means.ci_high.max() <= 1 and means.ci_low.min() >= 0


@pytest.mark.slow
def test_equal_grades_are_few_only_where_a_rater_gives_them_more_often():
    """A judge that is one more rater is hardly ever told; one with other grades on half of the outputs is."""
    rng, columns = np.random.default_rng(5), ["r1", "r2", "r3", "alike"]
    told = {"alike": 0, "odd": 0}
    for _ in range(60):
        quality = rng.normal(size=(40, 3, 1))
        grades = np.clip(np.rint(3 + quality + 0.4 * rng.normal(size=(40, 3, 4))), 1, 5)
        frame = pd.DataFrame(grades.reshape(-1, 4), columns=columns)
        frame["odd"] = np.where(rng.random(120) < 1 / 2, frame["alike"] % 5 + 1, frame["alike"])
        frame["input"], frame["system"] = np.repeat(np.arange(40), 3), np.tile(list("abc"), 40)
        about = judge_subject.subject(frame.meta.to_scores(wide=True, ratings=columns[:3]))
        shown = {"confusion": about.ds.meta.confusion(about.people.rating, along="rater")}
        said = " ".join(judge_summary._few_equal(about, shown))
        told = {name: count + (name in said) for name, count in told.items()}
    assert told["alike"] <= 4 and told["odd"] >= 58, told


def test_equal_grades_are_counted_for_each_prompt(frame):
    """In plain pandas: pairs of raters, and ratings beside the judge, that are equal; limits rest on these counts."""
    about = judge_subject.subject(scores(frame))
    alike, pairs = judge_remarks.equal_pairs(about.people)
    equal, ratings = judge_remarks.equal_to_raters(about, ["near"])["near"]
    for at, prompt in enumerate(about.ds["input"].values.tolist()):
        one = frame.xs(prompt, level="input")
        both = [
            (a, b)
            for row in one[PEOPLE].values.tolist()
            for a, b in itertools.combinations(row, 2)
            if a == a and b == b
        ]
        beside = [
            (a, near) for row, near in zip(one[PEOPLE].values.tolist(), one["near"], strict=True) for a in row if a == a
        ]
        assert (alike[at], pairs[at]) == (sum(a == b for a, b in both), len(both))
        assert (equal[at], ratings[at]) == (sum(a == near for a, near in beside), len(beside))
