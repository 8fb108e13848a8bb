"""Pairs of systems of several languages pooled."""

import itertools

import numpy as np
import pytest
import xarray as xr


def language(seed, systems, inputs):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(systems, inputs)) + rng.normal(size=(systems, 1))
    x = z + rng.normal(size=(3, systems, inputs)) * np.array([1.0, 2.0, 4.0])[:, None, None]
    score = np.concatenate([x, z[None]])
    coords = {"metric": ["a", "b", "c", "human"], "system": [f"s{at}" for at in range(systems)], "input": range(inputs)}
    return xr.Dataset({"score": (("metric", "system", "input"), score)}, coords)


PARTS = {"en-de": language(1, 7, 20), "zh-en": language(2, 6, 30)}
KW = {"coefficient": "pairwise_accuracy", "pool": "language"}


@pytest.fixture
def ds():
    return xr.concat(PARTS.values(), xr.DataArray(list(PARTS), dims="language", name="language"), join="outer")


def test_concordant_pairs_of_all_languages_over_all_pairs(ds):
    """Kocmi et al. (2021), Eq. 1."""
    got = ds.meta.corr("human", **KW)
    for metric in ("a", "b", "c"):
        right = pairs = 0
        for part in PARTS.values():
            x, z = (part.score.sel(metric=name).mean("input").values for name in (metric, "human"))
            for i, k in itertools.combinations(range(len(x)), 2):
                right += (x[i] - x[k]) * (z[i] - z[k]) > 0
                pairs += 1
        assert pairs == 21 + 15
        assert float(got.correlation.sel(metric=metric)) == pytest.approx(right / pairs, abs=1e-12)
    assert got.attrs["pool"] == "language" and got.correlation.dims == ("metric",)


@pytest.mark.filterwarnings("ignore:.*the resamples are biased")
def test_languages_are_drawn_independently(ds):
    got = ds.meta.ci("human", n_resamples=4000, rng=0, keep_samples=True, **KW)
    alone = [part.meta.ci("human", n_resamples=4000, rng=5, coefficient="pairwise_accuracy") for part in PARTS.values()]
    want = np.sqrt((21 * alone[0].standard_error) ** 2 + (15 * alone[1].standard_error) ** 2) / 36
    np.testing.assert_allclose(got.standard_error, want, rtol=0.06)
    np.testing.assert_allclose(got.ci_low, np.quantile(got.samples.transpose("metric", ...), 0.025, axis=1), atol=1e-12)
    again = ds.meta.ci("human", n_resamples=4000, rng=0, keep_samples=True, **KW)
    xr.testing.assert_identical(got, again)
    gap = ds.meta.ci("human", metric="a", other="c", n_resamples=4000, rng=0, keep_samples=True, **KW)
    want = (got.samples.sel(metric="a") - got.samples.sel(metric="c")).transpose("resample")
    np.testing.assert_allclose(gap.samples.squeeze(), want, atol=1e-12)


@pytest.mark.parametrize("question", ["perm_test", "boot_test"])
def test_tests_are_of_the_pooled_difference(ds, question):
    kw = {"n_resamples": 999, "rng": 3, "keep_samples": True, **KW}
    for alternative in ("greater", "less", "two-sided"):
        got = getattr(ds.meta, question)("human", alternative=alternative, **kw)
        accuracy = ds.meta.corr("human", **KW).correlation
        gap = accuracy - accuracy.rename(metric="other_metric")
        away = got.metric != got.other_metric
        np.testing.assert_allclose(got.difference, gap.where(away), atol=1e-12)
        null = got.samples - (got.difference if question == "boot_test" else 0)
        beyond = {
            "greater": null >= got.difference - 1e-12,
            "less": null <= got.difference + 1e-12,
            "two-sided": abs(null) >= abs(got.difference) - 1e-12,
        }[alternative]
        want = ((1 + beyond.sum("resample")) / 1000).where(away)
        np.testing.assert_allclose(got.pvalue, want.transpose(*got.pvalue.dims), atol=1e-12)


def test_few_swaps_that_are_listed_are_drawn_from_the_list(ds):
    got = ds.meta.perm_test("human", resample="system", n_resamples=999, rng=1, keep_samples=True, **KW)
    assert got.sizes["resample"] == 999 and got.attrs["exact"] == 0


def test_rank_and_corrections(ds):
    table = ds.meta.rank("human", n_resamples=499, rng=1, adjust="maxt", **KW)
    assert table.metric.values.tolist()[-1] == "c" and table.cluster.values[0] == 1
    test = ds.meta.perm_test("human", n_resamples=499, rng=1, adjust="holm", **KW)
    assert bool((test.pvalue_adjusted >= test.pvalue).where(test.pvalue.notnull(), True).all())


def test_gold_beside_the_metrics_and_gaps_in_it(ds):
    human = ds.score.sel(metric="human", drop=True)
    apart = ds.drop_sel(metric="human").assign(mqm=human)
    want = ds.meta.corr("human", **KW).correlation
    for gold in ("mqm", human, human.isel(system=slice(None, None, -1))):
        np.testing.assert_allclose(apart.meta.corr(gold, **KW).correlation, want, atol=1e-12)
    gone = human.where((human.language != "zh-en") | (human.system != "s1"))
    with pytest.warns(UserWarning, match="language='zh-en': 1 system"):
        got = apart.meta.corr(gone, **KW).correlation
    parts = [PARTS["en-de"], PARTS["zh-en"].drop_sel(system="s1")]
    alone = [part.meta.corr("human", coefficient="pairwise_accuracy").correlation.values for part in parts]
    np.testing.assert_allclose(got, (21 * alone[0] + 10 * alone[1]) / 31, atol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_language_without_a_pair_of_systems_adds_none(ds):
    part = ds.copy(deep=True)
    part.score.loc[{"language": "zh-en", "metric": "a", "system": ["s1", "s2", "s3", "s4", "s5"]}] = np.nan
    want = PARTS["en-de"].meta.corr("human", coefficient="pairwise_accuracy").correlation.sel(metric="a")
    assert float(part.meta.corr("human", **KW).correlation.sel(metric="a")) == pytest.approx(float(want))
    whole = ds.meta.corr("human", **KW).correlation.sel(metric="b")
    assert float(part.meta.corr("human", **KW).correlation.sel(metric="b")) == pytest.approx(float(whole))


@pytest.mark.parametrize(
    "keywords, text",
    [
        ({"pool": "domain"}, "pool must be a further dim of score, got 'domain'; there are: 'language'"),
        ({"coefficient": "kendall"}, "pool is for coefficient='pairwise_accuracy' at level='system'"),
        ({"level": "input"}, "pool is for coefficient='pairwise_accuracy' at level='system'"),
        ({"interval": "bca"}, "interval='bca' is not for pooled pairs"),
        ({"method": "fisher"}, "method='fisher' is not for pooled pairs"),
    ],
)
def test_bad_input(ds, keywords, text):
    with pytest.raises(ValueError, match=text):
        ds.meta.ci("human", **{**KW, **keywords})


def test_an_error_names_the_language(ds):
    ds = ds.copy(deep=True)
    ds.score.loc[{"language": "zh-en", "metric": "human"}] = np.nan
    with pytest.raises(ValueError, match="language='zh-en': gold"):
        ds.meta.corr("human", **KW)
