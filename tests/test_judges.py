"""The alternative annotator test, and the raters beside the metrics."""

import math

import numpy as np
import pytest
import scipy.stats
import statsmodels.stats.multitest
import xarray as xr


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
    assert other.meta.alt_test("rating").winning_rate.max() == 0


def test_equal_raters_and_judges_are_told_without_a_test():
    ds = rated(4)
    same = ds.assign(rating=ds.rating * 0 + ds.score.sel(metric="good", drop=True))
    got = same.meta.alt_test("rating", metric="good")
    assert (got.advantage == 1).all() and (got.pvalue == 0).all() and got.winning_rate.item() == 1
    assert (same.meta.alt_test("rating", metric="good", margin=0.0).pvalue == 1).all()


def test_few_items_that_are_all_alike_prove_nothing_by_ranks():
    rating = np.tile(np.arange(3.0), (3, 1))[:, None, :]
    rating[0] += 1
    ds = xr.Dataset({"score": (("metric", "system", "input"), rating[1][None])}, {"metric": ["judge"]})
    got = ds.meta.alt_test(xr.DataArray(rating, dims=("rater", "system", "input")), test="wilcoxon", min_items=2)
    np.testing.assert_allclose(got.pvalue, 1 / 8)
    assert got.winning_rate.item() == 0


def test_raters_of_few_items_are_left_out():
    ds = rated(5, raters=3)
    ds.rating[0, 1:] = np.nan
    with pytest.warns(UserWarning, match="2 of 6 pairs of judge and rater have fewer than 30 items"):
        got = ds.meta.alt_test("rating")
    assert got.pvalue.isel(rater=0).isnull().all() and got.pvalue.isel(rater=1).notnull().all()
    assert (got.n_items.isel(rater=0) == 10).all()
    with pytest.raises(ValueError, match="no rater has 100 items"):
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
        ({"alignment": "accuracy", "scale": "ranks"}, "needs scale='raw'"),
        ({"rating": "score"}, "rating must be a DataArray, or a variable with the dim 'rater'"),
        ({"min_items": 1}, "min_items must be at least 2"),
        ({"metric": "nobody"}, "unknown metric 'nobody'"),
    ],
)
def test_bad_input(keywords, text):
    with pytest.raises(ValueError, match=text):
        rated().meta.alt_test(**{"rating": "rating", **keywords})


# --- The human ceiling ---


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
            [ds.score, own.expand_dims(metric=["rater"])], "metric", join="outer", coords="minimal", compat="override"
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


def test_a_perfect_judge_stands_above_raters_and_a_careless_one_below():
    got = rated(8, systems=10, inputs=20).meta.human_ceiling("rating", level="input", n_resamples=199, rng=1)
    assert got.difference_low.sel(metric="good") > 0 > got.difference_high.sel(metric="bad")


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
    assert [each.get_text() for each in axis.get_yticklabels()] == ["good", "bad", "rater"]
    middle = axis.get_xlabel()
    assert "difference" not in middle  # the correlations, and their intervals
    plt.close("all")
