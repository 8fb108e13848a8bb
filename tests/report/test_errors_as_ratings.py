"""Ratings that are better when lower, as counts of errors: the report is that of the ratings turned round."""

import re

import numpy as np
import pandas as pd
import pytest
from judged_outputs import PEOPLE, table

import xsumstat  # noqa: F401
from xsumstat.cli import gate

pytestmark = pytest.mark.filterwarnings("ignore")


def both():
    """The same scores with grades 1 to 5, and with 6 less the grade as errors."""
    frame = table().drop(columns="wild")
    frame["near"] = frame["near"] * 7 + 3  # on a scale of its own
    errors = frame.assign(**{name: 6 - frame[name] for name in PEOPLE})
    how = {"wide": True, "ratings": PEOPLE, "kind": {"covariate": ["length"]}}
    return (
        frame.reset_index().meta.to_scores(**how),
        errors.reset_index().meta.to_scores(**how, lower_is_better=PEOPLE),
    )


@pytest.mark.slow
def test_a_report_on_errors_has_the_numbers_of_that_on_grades():
    grades, errors = (ds.meta.report(kind="judge") for ds in both())
    for name, variable in (("human_ceiling", "correlation"), ("human_ceiling", "ci_low"), ("alt_test", "winning_rate"),
                           ("bias", "slope"), ("agreement", "alpha")):  # fmt: skip
        np.testing.assert_allclose(errors.results[name][variable], grades.results[name][variable], atol=1e-9)
    assert "negatively" not in errors.text()
    best = [page.results["system_means"]["mean"].to_series() for page in (grades, errors)]
    np.testing.assert_allclose(6 - best[1], best[0], atol=1e-9)
    assert f"{best[0].idxmax()} has the lowest mean human score" in " ".join(errors.text().split())


def test_grades_are_counted_as_they_were_given():
    """By pandas: a judge that counts errors as people do."""
    frame = table().drop(columns=["wild", "length"]).dropna()
    errors = (6 - frame).reset_index()
    ds = errors.meta.to_scores(wide=True, ratings=PEOPLE, lower_is_better=[*PEOPLE, "near"])
    page = ds.meta.report(kind="judge")
    long = errors.melt(["system", "input", "near"], PEOPLE)
    counts = pd.crosstab(long["value"], long["near"])
    found = page.results["confusion"].n_outputs.sel(metric="near").transpose("human_label", "judge_label")
    assert found.human_label.values.tolist() == counts.index.tolist()
    np.testing.assert_array_equal(found.values, counts.reindex(columns=found.judge_label.values, fill_value=0))
    higher, lower = (100 * (sign * (long["near"] - long["value"]) > 0).mean() for sign in (1, -1))
    assert f"higher than a rater's for {higher:.0f} % of the ratings, and lower for {lower:.0f} %" in page.conclusion()


@pytest.mark.slow
def test_a_judge_of_errors_favours_a_system():
    """Fewer errors than people count are no score that is too high."""
    frame = table(prompts=100).drop(columns=["wild", "length"]).dropna()
    rng = np.random.default_rng(0)
    frame["near"] = frame[PEOPLE].mean(axis=1) + rng.normal(size=len(frame)) / 2
    frame["near"] += 1.2 * (frame.index.get_level_values("system") == "c")
    for sign, words in ((1, ("high", "low", "higher")), (-1, ("favourably", "harshly", "better"))):
        how = {} if sign > 0 else {"lower_is_better": [*PEOPLE, "near"]}
        ds = (sign * frame).reset_index().meta.to_scores(wide=True, ratings=PEOPLE, **how)
        page = ds.meta.report(kind="judge")
        told = f"scores c too {words[0]}, compared with the other systems at equal human scores (a and b too {words[1]}"
        assert told in page.conclusion() and f"near {told}" in " ".join(page.text().split())
        assert f"How much {words[2]} the judge scores a system than the others" in page.text()


@pytest.mark.slow
def test_a_severe_rater_of_errors_counts_more():
    frame = table(prompts=100).drop(columns=["wild", "length"]).dropna()
    frame["bob"] = frame["bob"] + 1.5
    for errors in (False, True):
        how = {"lower_is_better": PEOPLE} if errors else {}
        ds = (6 - frame if errors else frame).reset_index().meta.to_scores(wide=True, ratings=PEOPLE, **how)
        text = " ".join(ds.meta.report(kind="judge").text().split())
        assert re.search(rf"The rater bob grades [\d.]+ {'lower' if errors else 'higher'} than the others", text)


def test_gates_on_errors_decide_as_on_grades():
    for rule in ("kendall >= .3", "alt_test", "bias"):
        one, other = (gate.check(ds, gate.requirement(rule)) for ds in both())
        assert one.status == other.status, rule


def test_all_raters_are_declared_or_none():
    frame = table().reset_index()
    with pytest.raises(ValueError, match=r"lower_is_better names 'ann' but not 'bob', 'eve': name all raters, or none"):
        frame.meta.to_scores(wide=True, ratings=PEOPLE, lower_is_better=["ann"])
    declared = frame.meta.to_scores(wide=True, ratings=PEOPLE, lower_is_better=[*PEOPLE, "near"])
    assert declared.metric.values[~declared.higher_is_better.values].tolist() == ["near", "human"] or set(
        declared.metric.values[~declared.higher_is_better.values]
    ) == {"near", "human"}


def test_other_ratings_and_other_names_of_the_raters_dim():
    """The direction is that of the ratings whose mean was declared, whatever the dim is called."""
    grades, errors = both()
    other = errors.assign(fluency=grades.rating)
    np.testing.assert_allclose(other.meta.corr("human").correlation, grades.meta.corr("human").correlation, atol=1e-9)
    r = [ds.meta.human_ceiling(name, level="input", n_resamples=9).correlation.values
         for ds, name in ((other, "fluency"), (grades, "rating"))]  # fmt: skip
    np.testing.assert_allclose(*r, atol=1e-9)
    renamed = errors.rename(rater="annotator")
    r = [ds.meta.human_ceiling(along=along, level="input", n_resamples=9).correlation.values
         for ds, along in ((renamed, "annotator"), (grades, "rater"))]  # fmt: skip
    np.testing.assert_allclose(*r, atol=1e-9)
