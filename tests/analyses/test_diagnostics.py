import numpy as np
import pytest
import scipy.stats
import xarray as xr

# Deutsch et al. (2021), Table 2, Fabbri et al.: p-value at system level, and percent of inputs that reject at .05.
TABLE_2 = {
    "expert_relevance": (0.52, 32), "AutoSummENG": (0.01, 33), "bertscore_recall": (0.15, 26), "BEwTE_f1": (0.00, 37),
    "METEOR": (0.00, 27), "MoverScore": (0.00, 35), "qa-eval_f1": (0.01, 40), "rouge-1_f1": (0.00, 32),
    "rouge-2_f1": (0.00, 34), "rouge-l_f1": (0.13, 26), "rouge-su4_f1": (0.00, 32), "s3_resp": (0.00, 26),
}  # fmt: skip


def test_table_2_of_deutsch_2021(summeval):
    system = summeval.meta.normality(metric=list(TABLE_2))
    by_input = summeval.meta.normality(metric=list(TABLE_2), level="input")
    np.testing.assert_allclose(system.pvalue, [p for p, _ in TABLE_2.values()], atol=0.0051)
    np.testing.assert_allclose(100 * by_input.share_rejected, [share for _, share in TABLE_2.values()], atol=1e-9)


@pytest.mark.parametrize("level, dim", [("input", "input"), ("within_system", "system")])
def test_each_group_is_scipys_test(demo, level, dim):
    demo.score[2, 3, 4] = np.nan
    got = demo.meta.normality(level=level, alpha=0.1)
    for metric in demo.metric.values:
        for label in demo[dim].values:
            values = demo.score.sel({"metric": metric, dim: label}).dropna("system" if dim == "input" else "input")
            want = scipy.stats.shapiro(values)
            cell = got.sel({"metric": metric, dim: label})
            assert float(cell.statistic) == pytest.approx(want.statistic)
            assert float(cell.pvalue) == pytest.approx(want.pvalue)
    np.testing.assert_allclose(got.share_rejected, (got.pvalue <= 0.1).mean(dim))


def test_means_and_all_cells(demo):
    for level, values in (("system", demo.score.mean("input")), ("global", demo.score.stack(cell=["system", "input"]))):
        got = demo.meta.normality(level=level)
        want = [scipy.stats.shapiro(values.sel(metric=metric)).pvalue for metric in demo.metric.values]
        np.testing.assert_allclose(got.pvalue, want, rtol=1e-6)
        assert "share_rejected" not in got


def test_what_cannot_be_tested_is_nan(demo):
    demo.score[1, :, 0] = 3.0
    demo.score[2, :-2, 1] = np.nan
    got = demo.meta.normality(level="input")
    assert np.isnan(got.pvalue[1, 0]) and np.isnan(got.pvalue[2, 1])
    there = got.pvalue.notnull().sum("input").values
    np.testing.assert_allclose(got.share_rejected, (got.pvalue <= 0.05).sum("input") / there)


def test_lazy_and_further_dims(demo):
    both = xr.concat([demo[["score"]], demo[["score"]] ** 3], "language").assign_coords(language=["en", "de"])
    eager = both.meta.normality(level="input")
    assert set(eager.pvalue.dims) == {"language", "metric", "input"}
    lazily = both.chunk(metric=1).meta.normality(level="input")
    assert lazily.pvalue.chunks is not None
    xr.testing.assert_allclose(lazily.compute(), eager)


def test_bad_keywords(demo):
    with pytest.raises(ValueError, match="level must be one of .* got 'systems'; did you mean 'system'"):
        demo.meta.normality(level="systems")
    with pytest.raises(ValueError, match="unknown metric 'judges'; did you mean 'judge'"):
        demo.meta.normality(metric="judges")


def test_components_are_those_of_the_covariance_of_ranks(demo):
    """Eigenvectors of the points' Gram matrix; midranks by SciPy; signs by the farthest point."""
    score = demo.score.copy(deep=True)
    score[2] = score[2].round(2)
    score[1, 3, 4] = np.nan
    found = demo.assign(score=score).meta.pca(n_components=3)
    values = score.values.reshape(7, -1)
    kept = ~np.isnan(values).any(axis=0)
    ranks = np.array([scipy.stats.rankdata(row[kept]) for row in score.where(True).values.reshape(7, -1)])
    higher = demo.higher_is_better.values
    ranks = np.array([row if up else kept.sum() + 1 - row for row, up in zip(ranks, higher, strict=True)])
    centred = ranks - ranks.mean(axis=0)
    size, vectors = np.linalg.eigh(centred @ centred.T)
    assert int(found.n_cells) == kept.sum() == 359
    np.testing.assert_allclose(found.explained, size[::-1][:3] / size.sum(), rtol=1e-9)
    want = (vectors * np.sqrt(np.maximum(size, 0)))[:, ::-1][:, :3]
    want *= np.where(want[np.abs(want).argmax(axis=0), range(3)] < 0, -1, 1)
    np.testing.assert_allclose(found.coordinate, want, atol=1e-6 * np.abs(want).max())
    lazy = demo.assign(score=score).chunk(metric=2).meta.pca(n_components=3)
    assert lazy.coordinate.chunks is not None
    xr.testing.assert_allclose(lazy.compute(), found)


@pytest.mark.ignore_codes("no_score")
def test_versions_are_points_and_those_without_scores_are_nan(demo):
    both = xr.concat([demo[["score"]], demo[["score"]] + 1], "language").assign_coords(language=["en", "de"])
    score = both.score.transpose("metric", "language", "system", "input").copy(deep=True)
    score.loc[{"metric": "human", "language": "de"}] = np.nan
    found = both.assign(score=score).meta.pca()
    assert found.coordinate.dims == ("metric", "language", "component")
    assert np.isnan(found.coordinate.sel(metric="human", language="de")).all()
    np.testing.assert_allclose(  # ranks do not see what is added
        found.coordinate.sel(metric="judge", language="de"), found.coordinate.sel(metric="judge", language="en")
    )


def test_pca_of_too_little(demo):
    assert 7 in demo.meta.pca(n_components=7).sizes.values()  # as many as there are metrics
    with pytest.raises(ValueError, match="n_components must be at most the number of points, .*: 7"):
        demo.meta.pca(n_components=8)
    with pytest.raises(ValueError, match="n_components must be at least 1, got 0"):
        demo.meta.pca(n_components=0)
    score = demo.score.copy(deep=True)
    score[0, :6] = score[1, 6:] = np.nan
    with pytest.raises(ValueError, match="pca needs outputs that all metrics scored"):
        demo.assign(score=score).meta.pca()


@pytest.mark.parametrize("level", ["system", "input", "global", "within_system"])
@pytest.mark.parametrize("factor", [1e-300, 1e-20, 1e20, 1e300])
def test_the_size_of_scores_does_not_matter(demo, level, factor):
    """SciPy's W takes a range below 1e-19 for none, and overflows for large scores."""
    want = demo.meta.normality(level=level)
    got = demo.assign(score=demo.score * factor).meta.normality(level=level)
    for name in want.data_vars:
        np.testing.assert_allclose(got[name], want[name], rtol=1e-6)


def test_small_differences_of_large_scores_are_tested():
    """The spread counts, not the size: scores 1 + 2^-45 k, which are exact, have the W of k."""
    k = np.array([0.0, 1.0, 3.0, 4.0, 9.0, 11.0, 30.0, 31.0])
    want = scipy.stats.shapiro(k)
    for factor, about in ((2.0**-45, 1.0), (2.0**-80, 2.0**-35), (2.0**900, 2.0**945)):
        ds = xr.Dataset({"score": (("metric", "system", "input"), (about + factor * k)[None, :, None])})
        got = ds.meta.normality(level="input")
        assert float(got.statistic.squeeze()) == pytest.approx(want.statistic, rel=1e-9)
        assert float(got.pvalue.squeeze()) == pytest.approx(want.pvalue, rel=1e-7)


@pytest.mark.ignore_codes("few_systems")
def test_three_scores_are_enough(demo):
    few = demo.isel(system=[0, 4, 7])
    got = few.meta.normality(metric=["human", "judge"])
    for at, metric in enumerate(("human", "judge")):
        want = scipy.stats.shapiro(few.score.sel(metric=metric).mean("input"))
        assert float(got.statistic[at]) == pytest.approx(want.statistic)
        assert float(got.pvalue[at]) == pytest.approx(want.pvalue)


def test_a_p_value_of_alpha_itself_rejects_normality(demo):
    at_all = demo.meta.normality(metric="judge", level="input").pvalue.squeeze("metric").values
    for p in np.sort(at_all)[[3, 7]]:
        for alpha in (p, np.nextafter(p, 0.0)):
            got = demo.meta.normality(metric="judge", level="input", alpha=float(alpha))
            assert got.share_rejected.item() == sum(each <= alpha for each in at_all) / len(at_all)


def test_two_points_have_two_components(demo):
    found = demo.meta.pca(metric=["judge", "bleu"], n_components=2)
    ranks = scipy.stats.rankdata(demo.score.sel(metric=["judge", "bleu"]).values.reshape(2, -1), axis=1)
    half = np.linalg.norm(ranks[0] - ranks[1]) / 2
    np.testing.assert_allclose(np.abs(found.coordinate[:, 0]), half)
    np.testing.assert_allclose(found.explained, [1.0, 0.0], atol=1e-12)
    with pytest.raises(ValueError, match="must be 2 or more: 1"):
        demo.meta.pca(metric="judge", n_components=1)


def test_two_points_with_scores_are_enough(demo):
    languages = demo[["score"]].sel(metric=["judge", "bleu"]).expand_dims(language=["en", "de"]).copy(deep=True)
    languages["score"] = languages.score.where(languages.language == "en")
    with pytest.warns(UserWarning):
        found = languages.meta.pca()
    alone = demo.meta.pca(metric=["judge", "bleu"])
    np.testing.assert_allclose(found.coordinate.sel(language="en"), alone.coordinate)
    assert found.coordinate.sel(language="de").isnull().all()
