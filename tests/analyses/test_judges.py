"""The alternative annotator test, and the raters beside the metrics."""

import math
import statistics
import tracemalloc
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
import statsmodels.stats.multitest
import xarray as xr
from conftest import warns
from helpers import pairwise

from xsumstat.resampling import jobs


def rated(seed=0, systems=6, inputs=10, raters=4, gaps=0.0):
    """Raters on a scale of five, and two judges on the same, one of them careless."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, (systems, inputs))

    def likert(noise, *shape):
        return np.clip(np.round(truth + noise * rng.normal(size=(*shape, systems, inputs))), 1, 5)

    rating = likert(0.7, raters)
    rating[rng.random(rating.shape) < gaps] = np.nan
    judges = np.array([likert(0.1), likert(2.0)])
    ds = xr.Dataset(
        {
            "score": (("metric", "system", "input"), judges),
            "rating": (("rater", "system", "input"), rating),
        },
        {"metric": ["good", "bad"], "rater": [f"r{at}" for at in range(raters)]},
    )
    return ds


def plain(judge, ratings, margin, alignment, test):
    """The authors' algorithm (Calderon et al. 2025, §3), item by item."""
    found = []
    for rater in range(len(ratings)):
        apart, wins = [], []
        for cell in np.ndindex(judge.shape):
            others = [ratings[r][cell] for r in range(len(ratings)) if r != rater and not math.isnan(ratings[r][cell])]
            own = ratings[rater][cell]
            if not others or math.isnan(own) or math.isnan(judge[cell]):
                continue
            if alignment == "accuracy":
                s_judge, s_own = (sum(v == o for o in others) / len(others) for v in (judge[cell], own))
            else:
                s_judge, s_own = (
                    -math.sqrt(sum((v - o) ** 2 for o in others) / len(others)) for v in (judge[cell], own)
                )
            wins.append((s_judge >= s_own - 1e-12, s_own >= s_judge - 1e-12))
            apart.append(int(wins[-1][1]) - int(wins[-1][0]))
        if test == "t":
            p = scipy.stats.ttest_1samp(apart, margin, alternative="less").pvalue
        else:
            p = scipy.stats.wilcoxon(np.array(apart) - margin, alternative="less").pvalue
        found.append((np.mean([a for a, _ in wins]), np.mean([b for _, b in wins]), p, len(wins)))
    return np.array(found).T


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("alignment", ["rmse", "accuracy"])
@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_it_is_the_authors_algorithm(gaps, alignment, test):
    ds = rated(1, gaps=gaps)
    got = ds.meta.alt_test("rating", margin=0.15, alignment=alignment, test=test)
    for metric in ("good", "bad"):
        here = got.sel(metric=metric)
        advantage, own, p, n = plain(ds.score.sel(metric=metric).values, ds.rating.values, 0.15, alignment, test)
        np.testing.assert_allclose(here.advantage, advantage, atol=1e-12)
        np.testing.assert_allclose(here.human_advantage, own, atol=1e-12)
        np.testing.assert_allclose(here.pvalue, p, atol=1e-12)
        np.testing.assert_array_equal(here.n_items, n)
        rejected, adjusted, *_ = statsmodels.stats.multitest.multipletests(p, 0.05, method="fdr_by")
        np.testing.assert_allclose(here.pvalue_adjusted, adjusted, atol=1e-12)
        assert float(here.winning_rate) == pytest.approx(rejected.mean())
        assert float(here.advantage_probability) == pytest.approx(advantage.mean())
    assert got.winning_rate.sel(metric="good") == 1 and got.winning_rate.sel(metric="bad") == 0


def test_the_order_of_its_raters_and_cells_does_not_matter():
    ds = rated(2, gaps=0.1)
    want = ds.meta.alt_test("rating")
    turned = ds.isel(system=slice(None, None, -1), rater=[2, 0, 3, 1]).transpose("input", ...)
    got = turned.meta.alt_test("rating").sel(rater=ds.rater)
    xr.testing.assert_allclose(got.drop_attrs(), want.drop_attrs())


def test_a_judge_on_another_scale():
    ds = rated(3)
    other = ds.assign(score=ds.score * 20 - 7)
    for scale in ("standardised", "ranks"):
        want = ds.meta.alt_test("rating", scale=scale)
        xr.testing.assert_allclose(other.meta.alt_test("rating", scale=scale), want)
    with pytest.warns(UserWarning, match=r"^no verdict on .*'good', .*; scale='calibrated' gives them"):
        found = other.meta.alt_test("rating", scale="raw")
    assert found.winning_rate.isnull().all() and found.pvalue.isnull().all() and found.pvalue_adjusted.isnull().all()
    assert found.attrs["other_scale"] == ", ".join(other.metric.values)
    said = found.meta.conclusion()
    assert "may" not in said and "No verdict on good" in said and 'scale="calibrated"' in said
    found = other.meta.alt_test("rating")
    xr.testing.assert_identical(found, other.meta.alt_test("rating", scale="calibrated").assign_attrs(scale="auto"))
    assert found.winning_rate.notnull().all() and found.attrs["calibrated"] == ", ".join(other.metric.values)
    said = found.meta.conclusion()
    assert "were calibrated to the distribution of the ratings, cross-fitted in 5 folds of inputs" in said
    assert "cross-fitted in 5 folds of inputs" in found.meta.methods() and "Kolen" in found.meta.methods()


@pytest.mark.parametrize("scale", ["standardised", "ranks"])
def test_scores_brought_to_a_scale_are_the_same_algorithm(scale):
    ds = rated(15, gaps=0.15)

    def brought(values):
        out = values.copy()
        there = out[~np.isnan(out)].tolist()
        if scale == "ranks":
            for at in zip(*np.nonzero(~np.isnan(out)), strict=True):
                below, alike = sum(v < values[at] for v in there), sum(v == values[at] for v in there)
                out[at] = (below + alike / 2) / len(there)
            return out
        return (out - statistics.fmean(there)) / statistics.pstdev(there)

    got = ds.meta.alt_test("rating", scale=scale)
    for metric in ("good", "bad"):
        ratings = np.array([brought(each) for each in ds.rating.values])
        advantage, own, p, _ = plain(brought(ds.score.sel(metric=metric).values), ratings, 0.2, "rmse", "t")
        np.testing.assert_allclose(got.advantage.sel(metric=metric), advantage, atol=1e-12)
        np.testing.assert_allclose(got.human_advantage.sel(metric=metric), own, atol=1e-12)
        np.testing.assert_allclose(got.pvalue.sel(metric=metric), p, atol=1e-12)


def test_items_that_are_all_at_the_margin_prove_nothing():
    rating, dims = np.array([[[0.0, 1.0, 2.0]]] * 2 + [[[0.0, 1.0, 2.5]]]), ("metric", "system", "input")
    ds = xr.Dataset(
        {"score": (dims, [[[2.5, 0.0, 0.0]]]), "rating": (("rater", "system", "input"), rating)},
        {"metric": ["far"]},
    )
    for test in ("t", "wilcoxon"):  # the judge wins no item, the rater all
        got = ds.meta.alt_test("rating", margin=1.0, test=test, min_items=2)
        assert (got.pvalue == 1).all() and (got.advantage == 0).all() and (got.human_advantage == 1).all()


def test_equal_raters_and_judges_are_told_without_a_test():
    ds = rated(4)
    same = ds.assign(rating=ds.rating * 0 + ds.score.sel(metric="good", drop=True))
    with pytest.warns(UserWarning, match="'good' equals the mean of the raters of 'rating'"):
        got = same.meta.alt_test("rating", metric="good")
    assert (got.advantage == 1).all() and (got.pvalue == 0).all() and got.winning_rate.item() == 1
    known = same.assign_coords(kind=("metric", ["human", "human"]))
    assert (known.meta.alt_test("rating", metric="good", margin=0.0).pvalue == 1).all()


def test_few_items_that_are_all_alike_prove_nothing_by_ranks():
    rating = np.tile(np.arange(3.0), (3, 1))[:, None, :]
    rating[0] += 1
    ds = xr.Dataset({"score": (("metric", "system", "input"), rating[1][None])}, {"metric": ["judge"]})
    ratings = xr.DataArray(rating, dims=("rater", "system", "input"))
    with pytest.warns(UserWarning, match="'judge' equals rater 1 of 'rating'"):
        got = ds.meta.alt_test(ratings, test="wilcoxon", min_items=2)
    np.testing.assert_allclose(got.pvalue, 1 / 8)
    assert got.winning_rate.item() == 0


def test_raters_of_few_items_are_left_out():
    ds = rated(5, raters=3)
    ds.rating[0, 1:] = np.nan
    with pytest.warns(
        UserWarning, match=r"2 of 6 pairs .* fewer than 30 outputs .* out: \w+/\w+ \(10\), \w+/\w+ \(10\)"
    ):
        got = ds.meta.alt_test("rating")
    assert got.pvalue.isel(rater=0).isnull().all() and got.pvalue.isel(rater=1).notnull().all()
    assert (got.n_items.isel(rater=0) == 10).all()
    wins = got.pvalue_adjusted.isel(rater=[1, 2]) <= 0.05
    np.testing.assert_array_equal(got.winning_rate, wins.mean("rater"))
    assert got.winning_rate.max() == 1
    with pytest.raises(ValueError, match="no rater has 100 outputs .* the most is 60; rate more, or pass min_items=60"):
        ds.meta.alt_test("rating", min_items=100)


def test_further_dims_of_the_ratings_are_each_tested():
    ds = rated(6)
    both = xr.concat([ds.rating, 6 - ds.rating], "judgment").assign_coords(judgment=["kind", "unkind"])
    got = ds.meta.alt_test(both.rename("rating"))
    assert got.winning_rate.sizes == {"metric": 2, "judgment": 2}
    want = ds.meta.alt_test("rating")
    xr.testing.assert_allclose(got.sel(judgment="kind", drop=True).transpose(*want.dims), want.transpose(*want.dims))


@pytest.mark.parametrize(
    "keywords, text",
    [
        ({"margin": 2}, "margin must be at least 0 and at most 1"),
        ({"alignment": "f1"}, "alignment must be one of"),
        ({"alignment": "accuracy", "scale": "ranks"}, "scale must be 'auto', 'raw' or 'calibrated'"),
        ({"rating": "score"}, "rating must be a DataArray, or a variable with the dim 'rater'"),
        ({"min_items": 1}, "min_items must be at least 2"),
        ({"metric": "nobody"}, "unknown metric 'nobody'"),
    ],
)
def test_bad_input(keywords, text):
    with pytest.raises(ValueError, match=text):
        rated().meta.alt_test(**{"rating": "rating", **keywords})


@pytest.mark.parametrize("alignment", ["rmse", "accuracy"])
@pytest.mark.parametrize("factor", [1e-13, 0.1, 1e200])
def test_the_unit_of_raw_scores_decides_nothing(factor, alignment):
    """Ratings on a grid of .1, where many an alignment is tied."""
    ds = rated(10, gaps=0.1)
    want = ds.meta.alt_test("rating", alignment=alignment)
    got = (ds * factor).meta.alt_test("rating", alignment=alignment)
    xr.testing.assert_identical(got.drop_attrs(), want.drop_attrs())
    assert 0 < float(want.human_advantage.min()) and float(want.advantage.max()) < 1


def test_one_huge_rating_does_not_make_all_others_alike():
    """Rounding is relative to the item: 1e13 on one item says nothing of the others."""
    ds = rated(11)
    ds.rating[:, 0, 0] = 1e13
    one, rating = ds.score.sel(metric="bad").values, ds.rating.values
    got = ds.meta.alt_test("rating", metric="bad").squeeze("metric")
    want = plain(one, rating, 0.2, "rmse", "t")
    np.testing.assert_allclose(got.advantage, want[0], atol=1e-12)
    np.testing.assert_allclose(got.human_advantage, want[1], atol=1e-12)


def test_raters_of_just_enough_items_are_tested():
    ds = rated(12, systems=3, inputs=10)
    got = ds.meta.alt_test("rating", min_items=30)
    assert (got.n_items == 30).all() and got.pvalue.notnull().all()
    ds.rating[0, 0, 0] = np.nan
    with pytest.warns(UserWarning, match="2 of 8 pairs of judge and rater share fewer than 30 outputs"):
        got = ds.meta.alt_test("rating", min_items=30)
    assert got.n_items.isel(metric=0).values.tolist() == [29, 30, 30, 30]
    np.testing.assert_array_equal(got.pvalue.isnull(), got.n_items < 30)
    two = ds.isel(system=[1], input=[0, 1]).meta.alt_test("rating", min_items=2)
    assert (two.n_items == 2).all() and two.pvalue.notnull().all()


def test_a_judge_that_is_a_rater_is_named():
    ds = rated(13, gaps=0.2)
    one, mean = ds.rating.isel(rater=2, drop=True), ds.rating.mean("rater")
    judges = xr.concat([ds.score.sel(metric="bad", drop=True), one, mean], "metric")
    judges = judges.assign_coords(metric=["bad", "one", "mean"])
    people = ds.drop_vars("score").drop_vars("metric").assign(score=judges)
    with pytest.warns(UserWarning) as told:
        got = people.meta.alt_test("rating")
    (text,) = (str(each.message) for each in told)
    assert (
        "equal human scores: 'mean' equals the mean of the raters of 'rating'; 'one' equals rater 'r2' of 'rating'. "
        in text
    )
    assert got.winning_rate.sel(metric="mean") == 1
    with pytest.warns(UserWarning, match="'one' equals rater 'r2' of 'rating'"):
        people.meta.human_ceiling("rating", metric=["bad", "one"], n_resamples=9, rng=0)


# --- The human ceiling ---


LEVELS = ("system", "input", "global", "within_system")
RANKS = ("spearman", "kendall", "kendall_a", "kendall_c", "pairwise_accuracy")


def grid(seed, raters, gaps=0.0):
    """Ratings of .1, .2 or .3, a metric on a grid of its own, 6 systems by 5 inputs."""
    rng = np.random.default_rng(seed)
    rating = rng.integers(1, 4, (raters, 6, 5)) / 10
    rating[rng.random(rating.shape) < gaps] = np.nan
    score = rng.integers(0, 9, (1, 6, 5)).astype(float)
    return xr.Dataset(
        {"score": (("metric", "system", "input"), score), "rating": (("rater", "system", "input"), rating)},
        {"metric": ["m"], "rater": list(range(raters))},
    )


def exact_means(rating, without):
    """The mean of the other raters in whole tenths, by fractions; NaN where nobody else rated."""
    out = np.full(rating.shape[1:], np.nan)
    for at in np.ndindex(out.shape):
        whole = [round(10 * v) for r, v in enumerate(rating[(slice(None), *at)]) if r != without and not np.isnan(v)]
        if whole:
            out[at] = float(Fraction(sum(whole), len(whole)))
    return out


def test_the_other_of_two_raters_is_the_gold():
    """On a grid of .1 the total less one's own rating is not the other's."""
    one = [[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.2, 0.3, 0.1], [0.3, 0.3, 0.3]]
    two = [[0.3, 0.1, 0.3], [0.1, 0.2, 0.3], [0.3, 0.2, 0.2], [0.2, 0.1, 0.3]]
    rating = xr.DataArray([one, two], dims=("rater", "system", "input"))
    ds = xr.Dataset({"score": (("metric", "system", "input"), np.arange(12.0).reshape(1, 4, 3))}, {"metric": ["m"]})
    with warns("few_systems"):
        got = ds.meta.human_ceiling(rating, level="input", coefficient="kendall", resample="both")
    by_column = [
        [scipy.stats.kendalltau(x, z).statistic for x, z in zip(ds.score.values[0].T, np.array(z).T, strict=True)]
        for z in (two, one)
    ]
    np.testing.assert_allclose(got.by_rater.sel(metric="m"), np.nanmean(by_column, axis=1), atol=1e-12)
    np.testing.assert_allclose(got.by_rater.sel(metric="m"), [-0.1394, 0.3043], atol=5e-5)


@pairwise({"level": LEVELS, "coefficient": RANKS, "raters, gaps, factor": [(2, 0.15, 0.1), (4, 0.2, 1e-200)]})
def test_ties_in_the_mean_of_others_are_those_of_fractions(level, coefficient, raters, gaps, factor):
    kw = {"level": level, "coefficient": coefficient}
    draws = {"n_resamples": 9, "rng": 0, **kw}
    ds = grid(raters // 4, raters, gaps)
    got = ds.meta.human_ceiling("rating", **draws)
    ratings = ds.rating.values
    everyone = np.concatenate([ds.score.values, ratings])
    rated = np.where(np.isnan(ratings)[:, None], np.nan, everyone)  # all on the outputs that one rater rated
    people = xr.Dataset({"score": (("other", "metric", "system", "input"), rated)}, {"metric": range(raters + 1)})
    gold = np.array([exact_means(ratings, r) for r in range(raters)])
    want = people.meta.corr(xr.DataArray(gold, dims=("other", "system", "input")), **kw).correlation
    for r in range(raters):
        np.testing.assert_allclose(
            got.by_rater.sel(rater=r), want.sel(metric=[0, r + 1], other=r).transpose("metric"), atol=1e-12
        )
    turned = ds.isel(rater=slice(None, None, -1))
    turned = turned.assign(rating=turned.rating * factor).meta.human_ceiling("rating", **draws)
    np.testing.assert_allclose(turned.by_rater.sel(rater=ds.rater), got.by_rater, atol=1e-12)


def leave_one_out(ds, r):
    others = ds.rating.drop_isel(rater=r).mean("rater")
    return ds.rating.isel(rater=r, drop=True), others


@pytest.mark.parametrize("level, coefficient", [("system", "pearson"), ("input", "kendall"), ("system", "spa")])
def test_each_rater_against_the_others_beside_the_metrics(level, coefficient):
    ds = rated(7, systems=8, gaps=0.1)
    kw = {"level": level, "coefficient": coefficient}
    got = ds.meta.human_ceiling("rating", n_resamples=30, rng=1, **kw)
    assert got.metric.values.tolist() == ["good", "bad", "rater"]
    for r in range(4):
        own, others = leave_one_out(ds, r)
        alone = xr.concat(
            [ds.score.where(own.notnull()), own.expand_dims(metric=["rater"])],
            "metric",
            join="outer",
            coords="minimal",
            compat="override",
        )
        want = alone.to_dataset(name="score").meta.corr(others, **kw).correlation
        np.testing.assert_allclose(got.by_rater.isel(rater=r).transpose("metric"), want, atol=1e-12)
    np.testing.assert_allclose(got.correlation, got.by_rater.mean("rater"), atol=1e-12)
    gap = got.correlation - got.correlation.sel(metric="rater")
    np.testing.assert_allclose(got.difference, gap.where(got.metric != "rater"), atol=1e-12)
    judged = got.sel(metric=["good", "bad"])
    assert ((judged.difference_low <= judged.difference) & (judged.difference <= judged.difference_high)).all()
    assert np.isnan(got.difference_low.sel(metric="rater"))
    assert (got.ci_low <= got.ci_high).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_judge_as_good_as_a_rater_is_level_with_raters_who_have_gaps():
    """Of grades, compared on all outputs, and the rater beside it on its own, such a judge came out .05 lower."""

    def graded(values):
        return np.clip(np.round(3 + values), 1, 5)

    apart = []
    for seed in range(150):
        rng = np.random.default_rng([3, seed])
        quality = 0.5 * rng.normal(size=(3, 1)) + rng.normal(size=(3, 100))
        people = graded(quality[..., None] + 0.8 * rng.normal(size=(3, 100, 3)))
        people[rng.random(people.shape) < 0.4] = np.nan
        judge = graded(quality + 0.8 * rng.normal(size=quality.shape))
        data = {"score": (("metric", "system", "input"), judge[None]), "rating": (("system", "input", "rater"), people)}
        ds = xr.Dataset(data, {"metric": ["judge"], "system": list("abc"), "input": range(100), "rater": list("xyz")})
        found = ds.meta.human_ceiling("rating", level="input", coefficient="kendall", n_resamples=9, rng=0)
        apart.append(float(found.difference.sel(metric="judge")))
    assert abs(np.mean(apart)) < 3 * np.std(apart) / math.sqrt(len(apart)) < 0.025


def test_a_perfect_judge_stands_above_raters_and_a_careless_one_below():
    got = rated(8, systems=10, inputs=20).meta.human_ceiling("rating", level="input", n_resamples=199, rng=1)
    assert got.difference_low.sel(metric="good") > 0 > got.difference_high.sel(metric="bad")


@pytest.mark.parametrize("interval", ["percentile", "basic", "normal"])
@pytest.mark.parametrize("undefined", ["drop", "zero"])
def test_intervals_are_of_means_over_raters_on_the_same_draws(interval, undefined):
    """From the samples of `ci` for each rater; one rater knows one grade only, and has no correlation of her own."""
    ds = rated(16, systems=5, inputs=4, raters=3)
    ds.rating[2] = ds.rating[2].where(False, 3.0)
    kw = {"level": "input", "coefficient": "kendall", "n_resamples": 1100, "rng": 4, "undefined": undefined}
    draws = {"interval": interval, "confidence_level": 0.8}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = ds.meta.human_ceiling("rating", **kw, **draws)
        values, samples = [], []
        for r in range(3):
            own, others = leave_one_out(ds, r)
            people = np.concatenate([ds.score.values, own.values[None]])
            alone = xr.Dataset({"score": (("metric", "system", "input"), people)}, {"metric": ["good", "bad", "rater"]})
            found = alone.meta.ci(others, method="bootstrap", keep_samples=True, **kw)
            values.append(found.correlation.values)
            samples.append(found.samples.transpose("metric", "resample").values)
        value, sample = np.nanmean(values, axis=0), np.nanmean(samples, axis=0)
    np.testing.assert_allclose(got.correlation, value, atol=1e-12)
    np.testing.assert_array_equal(got.n_undefined, np.isnan(sample).sum(axis=1))
    for estimate, of, (low, high) in (
        (value, sample, ("ci_low", "ci_high")),
        (value - value[2], sample - sample[2], ("difference_low", "difference_high")),
    ):
        for at in range(2):
            defined = of[at][~np.isnan(of[at])]
            ends = np.quantile(defined, [0.1, 0.9])
            if interval == "basic":
                ends = 2 * estimate[at] - ends[::-1]
            elif interval == "normal":
                ends = estimate[at] + scipy.stats.norm.ppf([0.1, 0.9]) * statistics.stdev(defined)
            np.testing.assert_allclose([got[low][at], got[high][at]], ends, atol=1e-12)
    np.testing.assert_allclose(got.standard_error, np.nanstd(sample, axis=1, ddof=1), atol=1e-12)


def squares(values):
    n = len(values)
    return (n - 1) / n * np.sum((np.array(values) - np.mean(values)) ** 2)


def limits(value, centre, error, df):
    reach = scipy.stats.t.ppf(0.975, df) * error / (1 - value**2)
    return min(value, np.tanh(np.arctanh(centre) - reach)), max(value, np.tanh(np.arctanh(centre) + reach))


def mover(one, two, variance):
    """Zou's limits of a difference, from estimates with centre, limits and error each, and its own variance."""
    (c_1, (l_1, u_1), s_1), (c_2, (l_2, u_2), s_2) = one, two
    rho = np.clip((s_1**2 + s_2**2 - variance) / (2 * s_1 * s_2), -1, 1)
    low = np.sqrt((c_1 - l_1) ** 2 + (u_2 - c_2) ** 2 - 2 * rho * (c_1 - l_1) * (u_2 - c_2))
    high = np.sqrt((u_1 - c_1) ** 2 + (c_2 - l_2) ** 2 - 2 * rho * (u_1 - c_1) * (c_2 - l_2))
    return c_1 - c_2 - low, c_1 - c_2 + high


def without_each(ds, dim):
    return [ds.drop_isel({dim: at}) for at in range(ds.sizes[dim])]


@pytest.mark.parametrize("coefficient", ["pearson", "kendall"])
def test_the_jackknife_is_of_means_over_raters(coefficient):
    """Over systems: the mean over raters without each system, at system level; a difference by Zou's formula."""
    ds = rated(3, systems=8, inputs=9)
    kw = {"coefficient": coefficient, "n_resamples": 2, "rng": 0}
    got = ds.meta.human_ceiling("rating", coefficient=coefficient, resample="system")
    assert got.attrs["method"] == "jackknife" and "seed" not in got.attrs and "interval" not in got.attrs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = ds.meta.human_ceiling("rating", method="bootstrap", **kw).correlation.values
        left_out = np.array(
            [
                each.meta.human_ceiling("rating", method="bootstrap", **kw).correlation
                for each in without_each(ds, "system")
            ]
        )
    factor = 1 if coefficient == "pearson" else (6 / 7) ** 2
    found = []
    for at, value in enumerate(whole):
        error = np.sqrt(factor * squares(left_out[:, at]))
        found.append((value, limits(value, value, error, 7), error))
        assert float(got.standard_error[at]) == pytest.approx(error, abs=1e-12)
        assert [float(got.ci_low[at]), float(got.ci_high[at])] == pytest.approx(found[-1][1], abs=1e-12)
    for at in range(2):
        variance = factor * squares(left_out[:, at] - left_out[:, 2])
        want = mover(found[at], found[2], variance)
        assert [float(got.difference_low[at]), float(got.difference_high[at])] == pytest.approx(want, abs=1e-12)
    assert np.isnan(got.difference_low[2])


@pytest.mark.parametrize("level, resample", [*zip(LEVELS, ("both", "system", "input", "both"), strict=True),
                                             ("global", "both"), ("within_system", "input")])  # fmt: skip
def test_of_raters_who_rate_alike_it_is_the_jackknife_of_one(level, resample):
    """Each one's others then are one and the same gold, and a mean over raters is what `ci` says of it."""
    ds = rated(4, systems=7, inputs=8, raters=2)
    ds["rating"] = ds.rating.copy(data=np.stack([ds.rating.values[0]] * 2))
    kw = {"level": level, "coefficient": "spearman", "resample": resample}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = ds.meta.human_ceiling("rating", method="jackknife", **kw).sel(metric=["good", "bad"])
        want = ds.meta.ci(ds.rating.isel(rater=0, drop=True), method="jackknife", **kw)
    for name in ("correlation", "ci_low", "ci_high", "standard_error"):
        np.testing.assert_allclose(got[name], want[name], atol=1e-12)


def test_inputs_that_a_rater_cannot_order_say_nothing_of_the_spread():
    """Over inputs: the spread of the inputs' means over raters, one without a correlation standing at its average."""
    ds = rated(5, systems=6, inputs=7, raters=3)
    ds.rating[0, :, 2] = 3.0  # her own correlation there is undefined, and the others' gold is not
    got = ds.meta.human_ceiling("rating", level="input", resample="input").sel(metric="rater")
    r = np.array([[np.nan] * 7] * 3)
    for at in range(3):
        own, others = leave_one_out(ds, at)
        for j in range(7):
            if not (at == 0 and j == 2):
                r[at, j] = np.corrcoef(own.values[:, j], others.values[:, j])[0, 1]
    means = np.nanmean(r, axis=1)
    filled = np.where(np.isnan(r), means[:, None], r).mean(axis=0)
    error = np.std(filled, ddof=1) / np.sqrt(7)
    assert float(got.correlation) == pytest.approx(means.mean(), abs=1e-12)
    assert float(got.standard_error) == pytest.approx(error, abs=1e-12)
    want = limits(means.mean(), means.mean(), error, 6)
    assert [float(got.ci_low), float(got.ci_high)] == pytest.approx(want, abs=1e-12)


@pytest.mark.ignore_codes("few_systems", "resamples_undefined", "fewer_labels")
def test_where_the_jackknife_is_not_defined_scores_are_drawn():
    ds = rated(6, systems=7, inputs=6)
    kw = {"n_resamples": 19, "rng": 1}
    lacks_one = ds.assign(score=ds.score.where((ds.metric != "bad") | (xr.DataArray(range(7), dims="system") > 0)))
    few = ds.isel(system=slice(3))
    assert few.meta.human_ceiling("rating").attrs["resample"] == "input"  # of these three it is
    for each in (lacks_one, few):
        kw["resample"] = "both"
        got = each.meta.human_ceiling("rating", **kw)
        assert got.attrs["method"] == "bootstrap" and got.attrs["interval"] == "percentile"
        xr.testing.assert_identical(got, each.meta.human_ceiling("rating", method="bootstrap", **kw))
    assert ds.meta.human_ceiling("rating", coefficient="spa", **kw).attrs["method"] == "bootstrap"
    with pytest.raises(ValueError, match="needs scores of the same systems and inputs"):
        lacks_one.meta.human_ceiling("rating", method="jackknife")
    with pytest.raises(ValueError, match="needs method='bootstrap'"):
        ds.meta.human_ceiling("rating", method="jackknife", interval="basic")


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_raters_and_metrics(monkeypatch):
    """A resample of one metric takes 8 bytes; of all raters and metrics together only so many are held."""
    ds = rated(14, raters=6)
    noise = xr.DataArray(np.random.default_rng(0).normal(size=(12, 6, 10)), dims=("metric", "system", "input"))
    ds = ds.drop_vars(["score", "metric"]).assign(score=noise).assign_coords(metric=range(12))
    how = {"method": "bootstrap", "n_resamples": 50_000, "rng": 1}
    want = ds.meta.human_ceiling("rating", **how)
    monkeypatch.setattr(jobs, "BYTES_AT_ONCE", 2**20)  # two metrics at a time
    tracemalloc.start()
    try:
        got = ds.meta.human_ceiling("rating", **how)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    xr.testing.assert_identical(got, want)
    assert peak < 16 * 8 * 50_000  # 13 x 6 of them would be kept otherwise


def test_metrics_that_are_human_are_no_metrics_here(summeval):
    ds = summeval.sel(metric=["rouge-1_f1", "expert_relevance"])
    rating = ds.rating.sel(judgment="expert_relevance", drop=True).isel(rater=slice(0, 3))
    got = ds.meta.human_ceiling(rating, n_resamples=9, rng=0)
    assert got.metric.values.tolist() == ["rouge-1_f1", "rater"]


def test_bad_raters():
    ds = rated()
    with pytest.raises(ValueError, match="only 1 rater"):
        ds.isel(rater=[0]).meta.human_ceiling("rating")
    with pytest.raises(ValueError, match="has the name that the raters themselves get"):
        ds.assign_coords(metric=["rater", "bad"]).meta.human_ceiling("rating")
    with pytest.raises(ValueError, match="interval must be one of"):
        ds.meta.human_ceiling("rating", interval="bca")


def test_pictures():
    plt = pytest.importorskip("matplotlib.pyplot")
    axis = rated(9).meta.human_ceiling("rating", n_resamples=19, rng=0).meta.plot.forest()
    assert [each.get_text() for each in axis.get_yticklabels()] == ["rater", "good", "bad"]
    middle = axis.get_xlabel()
    assert "difference" not in middle  # the correlations, and their intervals
    plt.close("all")
