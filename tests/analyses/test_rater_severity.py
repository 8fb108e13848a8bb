"""Severe raters who rated the systems unevenly: what moves the means is told, or that it cannot be known."""

import contextlib

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from xsumstat.analyses import rater_severity
from xsumstat.core.caveats import CautionWarning, LeftOutWarning

RATERS = ["ann", "bob", "carl"]


def rated(by, *, severe=0.8, overlap=0.3, seed=0, inputs=100):
    """Ratings of equal systems a, b and c; `by` has each system's probabilities of the raters of an output."""
    rng = np.random.default_rng(seed)
    rows = pd.MultiIndex.from_product([list("abc"), range(inputs)], names=["system", "input"]).to_frame(index=False)
    quality = rng.normal(size=len(rows))
    ratings = quality[:, None] - severe * np.array([0, 0, 1]) + 0.3 * rng.normal(size=(len(rows), 3))
    one = np.array([rng.choice(3, p=by[system]) for system in rows["system"]])
    there = (np.arange(3) == one[:, None]) | (rng.random(len(rows)) < overlap)[:, None]
    rows[RATERS] = np.where(there, ratings, np.nan)
    rows["judge"] = quality + rng.normal(size=len(rows))
    return rows


EVEN = dict.fromkeys("abc", [1 / 3] * 3)
UNEVEN = {"a": [0.5, 0.5, 0], "b": [0.5, 0.5, 0], "c": [0.1, 0.1, 0.8]}


def moved(rows):
    """The largest difference that the raters' offsets make between systems' means, by ordinary least squares."""
    tall = rows.melt(["system", "input"], RATERS, "rater", "rating").dropna()
    cell = pd.factorize(tall["system"] + tall["input"].astype(str))[0]
    design = np.zeros((len(tall), cell.max() + 3))
    design[np.arange(len(tall)), cell] = 1
    for at, rater in enumerate(RATERS[1:]):
        design[tall["rater"] == rater, cell.max() + 1 + at] = 1
    offset = dict(zip(RATERS, [0, *np.linalg.lstsq(design, tall["rating"], rcond=None)[0][-2:]], strict=True))
    means = (
        tall.assign(off=tall["rater"].map(offset)).groupby(["system", "input"])["off"].mean().groupby("system").mean()
    )
    return means.max() - means.min()


@pytest.mark.parametrize(("by", "severe", "told"), [(UNEVEN, 0.8, True), (UNEVEN, 0.0, False), (EVEN, 0.8, False)])
def test_means_and_tests_warn_of_severe_raters(by, severe, told):
    rows = rated(by, severe=severe)
    ds = rows.meta.to_scores(wide=True, ratings=RATERS)
    asks = [
        lambda: ds.meta.system_means("human", metric="judge"),
        lambda: ds.meta.compare_systems(metric="human"),
        lambda: ds.meta.compare_systems(gold="human", metric="judge", method="ppi"),
    ]
    shift = f"by up to {moved(rows):.2f} against each other".replace("0.", ".")
    for ask in asks:
        with pytest.warns(CautionWarning, match=shift) if told else contextlib.nullcontext() as caught:
            result = ask()
        said = "means and tests do not correct this."
        assert (said in result.meta.conclusion()) == (said in result.meta.methods()) == told
        if told:
            (one,) = [each for each in caught if each.message.code == "uneven_raters"]
            assert "carl grades" in str(one.message) and "lower than the others" in str(one.message)


@pytest.mark.parametrize(("by", "told"), [(UNEVEN, True), (EVEN, False)])
def test_without_common_outputs_severity_is_unknown(by, told):
    ds = rated(by, overlap=0).meta.to_scores(wide=True, ratings=RATERS)
    with pytest.warns(CautionWarning, match="severity is unknown") if told else contextlib.nullcontext():
        ds.meta.compare_systems(metric="human")
    with pytest.warns(CautionWarning, match="severity is unknown") if told else contextlib.nullcontext():
        page = ds.meta.report(kind="judge")
    assert ("their severity is unknown" in " ".join(str(page.conclusion()).split())) == told


def test_a_metric_beside_ratings_is_no_mean_of_them():
    ds = rated(UNEVEN).meta.to_scores(wide=True, ratings=RATERS)
    ds.meta.compare_systems(metric="judge")


def test_systems_without_common_inputs_are_not_compared():
    """Of c only other inputs are rated: results are for the two systems that are compared, and c is named."""
    rows = rated(EVEN)
    rows.loc[(rows["system"] == "c") == (rows["input"] < 50), RATERS] = np.nan
    ds = rows.meta.to_scores(wide=True, ratings=RATERS)
    with pytest.warns(LeftOutWarning, match="no input in common"):
        told = ds.meta.compare_systems(metric="human").meta.conclusion()
    assert told.startswith("For these 2 systems") and "c is not compared" in told
    rows.loc[rows["system"] == "c", RATERS] = np.nan
    ds = rows.meta.to_scores(wide=True, ratings=RATERS)
    with pytest.warns(LeftOutWarning, match="no rating"):
        told = ds.meta.system_means("human", metric="judge").meta.conclusion()
    assert "for these 2 systems" in told and "No mean is defined for c." in told


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("common", "several"), [(30, True), (27, False)])
def test_thirty_outputs_of_several_raters_tell_how_raters_agree(common, several):
    rows = rated(EVEN, overlap=1, inputs=150)
    keep = np.random.default_rng(1).permutation(np.arange(450) % 3)
    alone = (rows["input"] >= common // 3).to_numpy()
    rows[RATERS] = rows[RATERS].where(~alone[:, None] | (np.arange(3) == keep[:, None]))
    page = rows.meta.to_scores(wide=True, ratings=RATERS).meta.report(kind="judge")
    assert ("agreement" in page.results) == ("human_ceiling" in page.results) == several


@pytest.mark.parametrize("by", [UNEVEN, EVEN])
def test_offsets_that_few_outputs_tell_by_chance_are_no_severity(by):
    """Equal raters, of whom 3 % of the outputs tell; warnings are errors here."""
    for seed in range(5):
        rated(by, severe=0.0, overlap=0.03, seed=seed).meta.to_scores(wide=True, ratings=RATERS).meta.compare_systems(
            metric="human"
        )


def test_raters_of_systems_that_are_not_compared_do_not_count():
    ds = rated(UNEVEN).meta.to_scores(wide=True, ratings=RATERS)
    ds.meta.compare_systems(metric="human", system="a", other="b")


@pytest.mark.parametrize("severe", [0.0, 0.1, 0.2, 0.4])
def test_raters_differ_as_by_an_f_test_of_two_regressions(severe):
    """Residuals of outputs alone and of outputs and raters, by dummy variables and least squares."""
    decisions = set()
    for seed in range(6):
        rows = rated(UNEVEN, severe=severe, overlap=0.4, inputs=30, seed=seed)
        ratings = rows.meta.to_scores(wide=True, ratings=RATERS)["rating"]
        found = rater_severity.Severity.of(ratings, ratings.mean("rater"))
        tall = rows.melt(["system", "input"], RATERS, "rater", "rating").dropna()
        cells = pd.get_dummies(tall["system"] + tall["input"].astype(str), dtype=float).to_numpy()
        both = np.hstack([cells, pd.get_dummies(tall["rater"], dtype=float).to_numpy()[:, 1:]])
        y = tall["rating"].to_numpy()
        rest = [((y - each @ np.linalg.lstsq(each, y, rcond=None)[0]) ** 2).sum() for each in (cells, both)]
        df = len(y) - np.linalg.matrix_rank(both)
        p = scipy.stats.f.sf((rest[0] - rest[1]) / 2 / (rest[1] / df), 2, df)
        assert found.differs == (p <= 0.001)
        decisions.add(found.differs)
    assert severe not in (0.0, 0.4) or decisions == {severe > 0}
