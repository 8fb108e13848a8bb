import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import of_code, warns


def test_top_k_are_the_systems_with_the_highest_means(demo):
    means = {label: float(demo.score.sel(metric="human", system=label).mean()) for label in demo.system.values}
    want = sorted(means, key=lambda label: -means[label])
    for k in (1, 5, 12):
        best = demo.meta.top_k(k)
        assert best.system.values.tolist() == want[:k]
        xr.testing.assert_identical(best, demo.sel(system=want[:k]))
    worst = demo.meta.top_k(3, by="perplexity").system.values.tolist()  # lower is better there
    assert worst == demo.score.sel(metric="perplexity").mean("input").to_series().nsmallest(3).index.tolist()
    array = demo.score.sel(metric="human", drop=True).isel(system=slice(None, None, -1))
    assert demo.meta.top_k(4, by=array).system.values.tolist() == want[:4]
    assert demo.meta.top_k(4, by=array.mean("input")).system.values.tolist() == want[:4]
    raters = xr.concat([array, array + 1], "rater")
    assert demo.assign(rating=raters).meta.top_k(4, by="rating").system.values.tolist() == want[:4]


def test_ties_and_missing_scores_in_top_k(small):
    ds = small.copy(deep=True)
    ds.score[0] = np.array([0.3, 0.1 + 0.2, 0.9, 0.0, np.nan, -1])[:, None]
    with warns("tied_at_k", "'s0', 's1' "):
        assert ds.meta.top_k(2, by="m0").system.values.tolist() == ["s2", "s0"]
    assert ds.meta.top_k(3, by="m0").system.values.tolist() == ["s2", "s0", "s1"]
    three = ds.copy(deep=True)
    three.score[0, 3] = 0.3
    with warns("tied_at_k", "'s0', 's1', 's3' .* 2 .* 3$"):
        assert three.meta.top_k(3, by="m0").system.values.tolist() == ["s2", "s0", "s1"]
    with pytest.raises(ValueError, match="k must be at most 5"):
        ds.meta.top_k(6, by="m0")
    with pytest.raises(ValueError, match="unknown by 'm9'"):
        ds.meta.top_k(2, by="m9")
    with pytest.raises(ValueError, match="k must be at least 1"):
        ds.meta.top_k(0, by="m0")
    both = xr.concat([ds[["score"]], ds[["score"]]], "language")
    with pytest.raises(ValueError, match="additional dim.*'language'; select one label"):
        both.meta.top_k(2, by="m0")
    assert ds.drop_vars("system").meta.top_k(1, by="m0").score.values[0, 0, 0] == 0.9


@pytest.mark.parametrize("labels", [list("abcdef"), [7, 3, 5, 1, 2, 4], [1, "b", 2.5, None, "c", "d"]])
def test_ties_at_the_cut_whatever_the_labels_are(small, labels):
    ds = small.assign_coords(system=np.array(labels, dtype=object))
    ds.score[0] = np.array([0.3, 0.1 + 0.2, 0.9, 0.0, 0.3, -1])[:, None]
    names = ", ".join(repr(labels[at]) for at in (0, 1, 4))
    with pytest.warns(UserWarning) as caught:
        assert ds.meta.top_k(2, by="m0").system.values.tolist() == [labels[2], labels[0]]
        ds.meta.top_k_corr("m0", k=[6, 2], n_resamples=9, rng=0)
        ds.drop_vars("system").meta.top_k(2, by="m0")
    texts = of_code(caught, "tied_at_k")
    told = "have the same mean score: only the first is among the best 2"
    assert texts == [f"{names} {told}", f"at k = 2: {names} {told}", f"0, 1, 4 {told}"]


def test_ties_at_the_cut_in_published_scores(realsumm):
    with warns("tied_at_k"):
        best = realsumm.meta.top_k(3, by="litepyramid_recall")
    means = realsumm.score.sel(metric="litepyramid_recall").mean("input").to_series().round(12)
    assert means[best.system.values].tolist() == means.nlargest(3).tolist()


@pytest.mark.parametrize(
    "gold, how",
    [
        ("human", {"method": "jackknife"}),
        ("array", {"method": "bootstrap", "n_resamples": 99, "rng": 2}),
        ("human", {"interval": "basic", "rng": 3}),
    ],
)
def test_top_k_corr_is_ci_of_each_slice(demo, gold, how):
    gold = demo.score.sel(metric="human", drop=True) if gold == "array" else gold
    how = {"metric": ["judge", "bleu"], "level": "input", **how}
    curve = demo.meta.top_k_corr(gold, k=[5, 12, 6], **how)
    assert curve.attrs["method"] == how.get("method", "bootstrap")
    assert curve.k.values.tolist() == [12, 6, 5] and curve.correlation.dims == ("metric", "k")
    assert not curve.ci_low.isnull().any()
    for k in (12, 6, 5):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = demo.meta.top_k(k).meta.ci("human", **how)
        for name in want.data_vars:
            np.testing.assert_array_equal(curve[name].sel(k=k), want[name])


def test_cells_that_are_left_out_are_said_once_of_all_k(demo):
    demo.score[1, 3, 4] = np.nan
    with pytest.warns(UserWarning) as caught:
        demo.meta.top_k_corr("human", metric=["judge", "bleu"], k=[12, 9, 6], n_resamples=20, rng=1)
    name = demo.metric.values[1]
    (text,) = of_code(caught, "cells_left_out")
    assert text.startswith("at k = 12: ") and text.endswith(f": {name} (1 of 360)")


def test_gold_without_labels_goes_with_the_systems_by_their_places(demo):
    keywords = {"k": [12, 6], "metric": "judge", "n_resamples": 20, "rng": 2}
    human = demo.score.sel(metric="human", drop=True)
    want = demo.meta.top_k_corr(human, **keywords)
    got = demo.meta.top_k_corr(human.drop_vars(["system", "input"]), **keywords)
    xr.testing.assert_allclose(got.drop_attrs(), want.drop_attrs())
    bare = demo.drop_vars(["system", "input"]).meta.top_k_corr(human, **keywords)
    xr.testing.assert_allclose(bare.drop_attrs(), want.drop_attrs())


def test_top_k_corr_says_once_what_holds_for_several_k(demo):
    assert demo.meta.top_k_corr("human", n_resamples=20).k.values.tolist() == list(range(12, 4, -1))
    with pytest.warns(UserWarning) as caught:
        demo.meta.top_k_corr(
            "human", metric="judge", k=range(3, 8), n_resamples=50, rng=1, coefficient="kendall", resample="both"
        )
    texts = of_code(caught, "few_systems")
    assert texts == ["at k = 4, 3: few systems: results are very uncertain"]
    for k, message in ((1, "at least 2"), ([13], "at most 12"), ([], "empty"), ([4, 4], "repeats")):
        with pytest.raises(ValueError, match=message):
            demo.meta.top_k_corr("human", k=k)


def test_bhandari_2020_exp_ii_as_k_shrinks(realsumm):
    """ROUGE-2 recall stays, MoverScore falls (Fig. 3)."""
    ds = realsumm.sel(system=realsumm.duplicate_of == "")
    curve = ds.meta.top_k_corr(metric=["rouge_2_recall", "mover_score"], k=[24, 10], n_resamples=99, rng=0)
    best = ds.score.sel(metric="litepyramid_recall").mean("input").to_series().nlargest(10).index
    part = ds.score.sel(system=list(best)).mean("input")
    want = np.corrcoef(part.sel(metric="rouge_2_recall"), part.sel(metric="litepyramid_recall"))[0, 1]
    assert float(curve.correlation.sel(metric="rouge_2_recall", k=10)) == pytest.approx(want, abs=1e-12)
    assert (curve.ci_low < curve.correlation).all() and (curve.correlation < curve.ci_high).all()


def test_top_k_corr_may_order_systems_by_another_score_than_gold(demo):
    keywords = {"metric": ["judge", "bleu"], "n_resamples": 19, "rng": 2, "level": "input"}
    means = np.nanmean(demo.score.sel(metric="length").values, axis=1)
    curve = demo.meta.top_k_corr("human", by="length", k=[9, 5], **keywords)
    for k in (9, 5):
        best = demo.isel(system=np.argsort(-means)[:k])
        want = best.meta.ci("human", **keywords)
        for name in ("correlation", "ci_low", "ci_high"):
            np.testing.assert_allclose(curve[name].sel(k=k), want[name], rtol=1e-12)


def test_a_metric_without_any_score_orders_nothing(demo):
    empty = demo.assign(score=demo.score.where(demo.metric != "rouge"))
    with pytest.raises(ValueError, match="by='rouge' has no score at all"):
        empty.meta.top_k(2, by="rouge")


def test_the_best_of_many_are_not_called_all(demo):
    found = demo.meta.top_k_corr("human", k=[8, 6], metric=["judge", "bleu"])
    assert found.attrs["n_systems"] == 12
    assert found.meta.conclusion().startswith("Among the 8 best systems, judge has the highest correlation")
    assert demo.meta.top_k_corr("human", k=[12, 6], metric="judge").meta.conclusion().startswith("Among all 12 systems")


@pytest.mark.ignore_codes("labels_without_cells", "few_systems")
def test_systems_without_scores_among_the_best_are_told(demo):
    second = demo.meta.top_k(2, by="human").system.values[1]
    ds = demo.assign(score=demo.score.where((demo.metric == "human") | (demo.system != second)))
    found = ds.meta.top_k_corr("human", k=[12, 8, 5])
    assert found.n_systems.values.tolist() == [11, 7, 4] and found.attrs["n_systems"] == 11
    said = found.meta.conclusion()
    assert "Among the 12 best systems (11 of them with scores)" in said and "the 5 best (4 of them with scores)" in said
    fewer = ds.meta.top_k_corr("human", k=[11, 5], metric="judge").meta.conclusion()
    assert fewer.startswith("Among the 11 best systems (10 of them with scores), judge")
    assert "n_systems" not in demo.meta.top_k_corr("human", k=[12, 8]).coords
    assert ds.meta.metric_ci(metric=["judge", "bleu"]).attrs["n_systems"] == 11
