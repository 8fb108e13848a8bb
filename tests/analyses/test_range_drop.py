import numpy as np
import pytest
import scipy.stats
import xarray as xr
from helpers import padded

from xsumstat.analyses import measure, range_drop, scoring_range
from xsumstat.resampling import draws


def normal(outputs, inputs, rho, seed, metrics=2):
    """Scores of two or more metrics, equally correlated, normal on each input."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(1, outputs, inputs))
    x = np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.normal(size=(metrics, outputs, inputs))
    return xr.Dataset({"score": (("metric", "system", "input"), x)}, {"metric": list("abcdef")[:metrics]})


PAIR = {"metric": "a", "other_metric": "b"}


@pytest.mark.parametrize("coefficient", ["kendall", "pearson"])
def test_whole_part_and_drop_equal_metric_corr_and_a_plain_bootstrap(demo, coefficient):
    chosen = ["judge", "rouge", "bleu"]
    keywords = {"above": 0.4, "unit": "quantile", "metrics": ["judge", "bleu"]}
    got = demo.meta.range_drop(
        metric=chosen, coefficient=coefficient, n_resamples=500, n_simulations=19, rng=6, **keywords
    )
    part = demo.meta.scoring_range(**keywords)
    how = {"metric": chosen, "level": "input", "coefficient": coefficient, "average": False}
    whole, inside = (ds.meta.metric_corr(**how).correlation for ds in (demo, part))
    off = xr.DataArray(~np.eye(3, dtype=bool), dims=("metric", "other_metric"))
    np.testing.assert_allclose(got.whole, whole.mean("input").where(off))
    np.testing.assert_allclose(got.part, inside.mean("input").where(off))
    np.testing.assert_allclose(got.difference, got.whole - got.part)
    counts = draws.counts(6, "input", 30, 0, 500)
    for a, b in (("judge", "rouge"), ("bleu", "judge")):
        one, two = (each.sel(metric=a, other_metric=b).values for each in (whole, inside))
        samples = np.array([np.nanmean(np.repeat(one, row)) - np.nanmean(np.repeat(two, row)) for row in counts])
        here = got.sel(metric=a, other_metric=b)
        drop = float(here.difference)
        assert [float(here.ci_low), float(here.ci_high)] == pytest.approx(np.quantile(samples, [0.025, 0.975]))
        beyond = (np.abs(samples - drop) >= abs(drop) - 1e-12).sum()
        assert float(here.pvalue) == pytest.approx((1 + beyond) / 501)
        assert int(here.n_inputs) == (~np.isnan(two)).sum()


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_the_expected_drop_is_that_of_a_truncated_normal(share):
    """Pearson (1903): cut at a quantile of one score, r becomes r·√v/√(1 − r² + r²·v), v the variance that is left."""
    rho = 0.7
    ds = normal(4000, 6, rho, 1)
    keywords = {"metrics": "a", "unit": "quantile", "coefficient": "pearson", "n_resamples": 9, "n_simulations": 19}
    got = ds.meta.range_drop(above=share, rng=2, **keywords).sel(PAIR)
    r = float(got.whole)
    v = scipy.stats.truncnorm.var(scipy.stats.norm.ppf(share), np.inf)
    inside = r * np.sqrt(v) / np.sqrt(1 - r**2 + r**2 * v)
    assert float(got.expected) == pytest.approx(r - inside, abs=0.01)
    assert float(got.difference) == pytest.approx(r - inside, abs=0.03)
    low, high = (scipy.stats.norm.ppf(each) for each in (0.3, 0.6))
    got = ds.meta.range_drop(between=(0.3, 0.6), rng=2, **keywords).sel(PAIR)
    v = scipy.stats.truncnorm.var(low, high)
    assert float(got.expected) == pytest.approx(r - r * np.sqrt(v) / np.sqrt(1 - r**2 + r**2 * v), abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("coefficient", ["kendall", "spearman"])
def test_the_expected_drop_of_ranks_follows_a_simulation_of_its_own(coefficient):
    ds = normal(300, 40, 0.6, 3)
    how = {"coefficient": coefficient, "n_resamples": 9, "n_simulations": 60, "rng": 4}
    got = ds.meta.range_drop(baseline=250, **how).sel(PAIR)
    function = scipy.stats.kendalltau if coefficient == "kendall" else scipy.stats.spearmanr
    thresholds = ds.score.values[:, 250]
    shares = (ds.score.values <= thresholds[:, None]).mean(axis=1)
    rng = np.random.default_rng(0)
    drops = []
    for at in np.repeat(np.arange(40), 8):
        x = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 300).T
        kept = (x > np.quantile(x, shares[:, at], axis=1).diagonal()[:, None]).any(axis=0)
        part = function(*x[:, kept]).statistic if kept.sum() > 1 else np.nan
        drops.append([function(*x).statistic, part])
    whole, part = np.nanmean(drops, axis=0)
    assert float(got.expected) == pytest.approx(whole - part, abs=0.05)


def with_gaps(ds, seed):
    there = np.random.default_rng(seed).random(ds.score.shape[1:]) < 0.5
    return ds.assign(score=ds.score.where(xr.DataArray(there, dims=("system", "input")) | (ds.metric != "c")))


@pytest.mark.slow
@pytest.mark.ignore_codes("input_not_in_range")
@pytest.mark.parametrize(
    "keywords",
    [
        {"above": 0.6, "unit": "quantile", "metrics": "a"},
        {"baseline": 0},
        {"above": 0.5, "unit": "quantile", "metrics": "c", "metric": ["a", "b"]},
        {"between": (-0.5, 0.5), "metrics": "a"},
        {"above": 0.3, "metrics": "a"},
    ],
    ids=["quantile", "baseline", "gaps in the metric that decides", "between, in scores", "above, in scores"],
)
def test_what_the_range_explains_is_found_at_the_nominal_rate(keywords):
    found, raw, excess = 0, 0, []
    for seed in range(100):
        ds = normal(20, 25, 0.6, 100 + seed, metrics=3 if "metric" in keywords else 2)
        ds = with_gaps(ds, seed) if "metric" in keywords else ds
        got = ds.meta.range_drop(n_resamples=39, n_simulations=19, rng=seed, **keywords).sel(PAIR)
        found += float(got.excess_pvalue) <= 0.05
        raw += float(got.pvalue) <= 0.05
        excess.append(float(got.excess))
    assert abs(found - 5) < 3.5 * np.sqrt(100 * 0.05 * 0.95)
    assert abs(np.mean(excess)) < 4 * np.std(excess) / np.sqrt(100)
    if "metric" not in keywords:
        assert raw > 67  # the drop is there nearly always, and must not be mistaken for more


def test_a_dependence_that_ends_is_more_than_the_range():
    """Two metrics that agree on poor outputs and not on good ones."""
    ds = normal(60, 30, 0.95, 7)
    noise = np.random.default_rng(8).normal(size=(60, 30))
    a, b = ds.score.values
    ds.score[1] = np.where(a > 0, np.abs(noise), b)
    got = ds.meta.range_drop(above=0.5, unit="quantile", metrics="a", n_resamples=499, n_simulations=99, rng=1).sel(
        PAIR
    )
    assert float(got.excess) > 0.1 and float(got.excess_pvalue) == 0.01
    assert float(got.difference) > float(got.expected_high)


@pytest.mark.ignore_codes("input_not_in_range")
def test_padded_outputs_missing_pairs_and_zero(demo):
    ds = padded((9, 4, 7, 9, 3))
    keywords = {"above": 0.5, "unit": "quantile", "n_resamples": 50, "n_simulations": 19, "rng": 1}
    got = ds.meta.range_drop(**keywords)
    np.testing.assert_array_equal(got.difference, got.difference.values.T)
    assert np.isnan(np.diag(got.part)).all() and (got.n_inputs <= 5).all()
    narrow = {"above": 0.89, "unit": "quantile", "metrics": "m0", "n_resamples": 50, "n_simulations": 19, "rng": 1}
    with pytest.warns(UserWarning, match="no correlation within the range, on any input: 'm0 and m1'"):
        dropped = ds.meta.range_drop(**narrow)
    assert int(dropped.n_inputs.max()) == 0 and dropped.part.isnull().all() and dropped.excess_pvalue.isnull().all()
    tied = demo.assign(score=(demo.score / demo.score.std(["system", "input"])).round())
    for undefined in ("drop", "zero"):
        found = tied.meta.range_drop(metric=["judge", "bleu"], undefined=undefined, **keywords)
        want = tied.meta.scoring_range(above=0.5, unit="quantile").meta.metric_corr(
            metric=["judge", "bleu"], level="input", coefficient="kendall", undefined=undefined
        )
        other = {"metric": "judge", "other_metric": "bleu"}
        assert float(found.part.sel(other)) == pytest.approx(float(want.correlation.sel(other)))


def test_the_excess_is_placed_among_the_simulated_drops():
    """Quantiles and a two-sided p-value about their mean, by a plain loop; draws without a drop are left out."""
    rng = np.random.default_rng(0)
    drop, drops = np.array([0.3, 0.05, np.nan]), rng.normal(0.1, 0.1, size=(3, 79))
    drops[1, :9] = np.nan
    got = range_drop._excess(drop, drops, 0.9)
    for at in (0, 1):
        here = [value for value in drops[at] if not np.isnan(value)]
        mean = sum(here) / len(here)
        beyond = sum(abs(value - mean) >= abs(drop[at] - mean) for value in here)
        assert got["expected"][at] == pytest.approx(mean) and got["excess"][at] == pytest.approx(drop[at] - mean)
        assert got["excess_pvalue"][at] == pytest.approx((1 + beyond) / (1 + len(here)))
        limits = [got["expected_low"][at], got["expected_high"][at]]
        assert limits == pytest.approx(np.quantile(here, [0.05, 0.95]))
    assert all(np.isnan(values[2]) for values in got.values())


def test_a_constant_metric_has_no_drop_and_expects_none(demo):
    ds = demo.copy(deep=True)
    ds.score.loc[{"metric": "bleu"}] = 3.0
    how = {"above": 0.5, "unit": "quantile", "metrics": "judge", "n_resamples": 50, "n_simulations": 19, "rng": 1}
    with pytest.warns(UserWarning) as caught:
        got = ds.meta.range_drop(metric=["judge", "rouge", "bleu"], **how)
    assert all(issubclass(each.category, UserWarning) for each in caught)
    for name in ("part", "expected", "expected_low", "excess_pvalue"):
        assert np.isnan(got[name].sel(metric="judge", other_metric="bleu")) and np.isfinite(
            got[name].sel(metric="judge", other_metric="rouge")
        )


def test_threads_seeds_and_attrs(demo, monkeypatch, tmp_path):
    keywords = {"metric": ["judge", "bleu"], "baseline": "extractor-1", "n_resamples": 99, "n_simulations": 19}
    got = demo.meta.range_drop(rng=5, **keywords)
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", "1")
    xr.testing.assert_identical(got, demo.meta.range_drop(rng=5, **keywords))
    assert got.attrs["range"] == "better than extractor-1, by any of 6 metrics"
    assert got.attrs["analysis"] == "range_drop"
    got.to_netcdf(tmp_path / "drop.nc")
    xr.testing.assert_identical(xr.load_dataset(tmp_path / "drop.nc"), got)
    assert len(got.meta.to_frame()) == 2


def test_limits_in_scores_of_several_metrics_explain_nothing():
    """The drop is told, and what would be made of simulations is NaN, with a warning of what to do."""
    ds = normal(12, 20, 0.6, 3)
    how = {"between": (-1.0, 1.0), "n_resamples": 50, "n_simulations": 19, "rng": 1}
    with pytest.warns(UserWarning, match=r"limits in scores of 2 metrics .*use unit='quantile', baseline= or top="):
        got = ds.meta.range_drop(**how).sel(PAIR)
    for name in ("expected", "expected_low", "expected_high", "excess", "excess_pvalue"):
        assert np.isnan(got[name])
    inside = ds.meta.scoring_range(between=(-1.0, 1.0)).meta.metric_corr(level="input", coefficient="kendall")
    assert float(got.part) == pytest.approx(float(inside.correlation.sel(PAIR)))
    assert 0 < float(got.pvalue) <= 1 and float(got.ci_low) < float(got.difference) < float(got.ci_high)
    assert np.isfinite(ds.meta.range_drop(metrics="b", **how).sel(PAIR).excess_pvalue)


@pytest.mark.ignore_codes("undefined")
@pytest.mark.parametrize("unit", ["normalised", "quantile"])
def test_rounding_decides_nothing_at_a_limit(unit):
    places = np.random.default_rng(2).integers(0, 5, (2, 9, 6))
    for limits in (
        {"above": 0.5},
        {"between": (0.25, 0.75)} if unit == "quantile" else {"between": (1 - 0.75, 1 - 0.25)},
    ):
        drops = []
        for grid in ([1, 2, 3, 4, 5], [0.1, 0.2, 0.3, 0.4, 0.5], [0.3, 0.4, 0.5, 0.6, 0.7]):
            scores = np.array(grid)[places]
            ds = xr.Dataset({"score": (("metric", "system", "input"), scores)}, {"metric": ["a", "b"]})
            drops.append(ds.meta.range_drop(unit=unit, n_resamples=20, n_simulations=19, rng=1, **limits))
        xr.testing.assert_equal(drops[0], drops[1])
        xr.testing.assert_equal(drops[0], drops[2])


@pytest.mark.slow
def test_the_best_of_each_input_and_the_drop_that_they_expect():
    ds = normal(60, 40, 0.7, 9)
    rng, drops = np.random.default_rng(0), {"any": [], "all": []}
    for _ in range(600):
        x = rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], 60).T
        whole = scipy.stats.kendalltau(*x).statistic
        places = np.argsort(np.argsort(x, axis=1), axis=1) >= 48
        for keep, kept in (("any", places.any(axis=0)), ("all", places.all(axis=0))):
            drops[keep].append(whole - scipy.stats.kendalltau(*x[:, kept]).statistic)
    for keep in drops:
        how = {"top": 12, "keep": keep}
        got = ds.meta.range_drop(n_resamples=9, n_simulations=60, rng=4, **how).sel(PAIR)
        inside = ds.meta.scoring_range(**how).meta.metric_corr(level="input", coefficient="kendall").sel(PAIR)
        assert float(got.part) == pytest.approx(float(inside.correlation)), keep
        error = np.nanstd(drops[keep]) * np.sqrt(1 / 600 + 1 / (60 * 40))
        assert float(got.expected) == pytest.approx(np.nanmean(drops[keep]), abs=4 * error + 0.02), keep


def test_the_best_are_as_many_on_inputs_of_any_size():
    """Simulated scores are cut as the scores are: the K best where there are so many, else all."""
    ds = padded((9, 4, 7, 2, 0))
    score = ds.score.transpose("metric", "system", "input")
    asked = scoring_range.requested(score, None, None, None, 3, "all", "score")
    how = measure.checked_measure("input", "kendall", "pairwise", "drop")
    null = range_drop._Null.of(score, score.isel(metric=[1]), asked, how)
    for seed in range(20):
        x, kept = null.draw(np.random.default_rng(seed))
        assert kept.sum(axis=0).tolist() == [3, 3, 3, 2, 0]
        for j in range(5):
            best = sorted((v for v in x[1, :, j] if v == v), reverse=True)[:3]
            assert sorted(x[1, kept[:, j], j], reverse=True) == best


@pytest.mark.parametrize("coefficient", ["kendall_a", "kendall"])
@pytest.mark.parametrize("tied", ["a", "ab"])
def test_simulated_scores_have_the_ties_of_those_at_hand(coefficient, tied):
    """Rounded normal scores drop by what rounded normal scores drop by, for the metric that decides and the other."""
    ds = normal(16, 400, 0.6, 5)
    for metric in tied:
        ds.score.loc[{"metric": metric}] = ds.score.sel(metric=metric).round()
    how = {"above": 0.5, "unit": "quantile", "metrics": "a", "n_resamples": 9, "n_simulations": 39, "rng": 1}
    got = ds.meta.range_drop(coefficient=coefficient, **how).sel(PAIR)
    spread = float(got.expected_high - got.expected_low) / 4
    assert abs(float(got.excess)) < 3.5 * spread and abs(float(got.whole)) > 20 * spread


def test_ties_are_dealt_out_by_the_order_of_the_normal_scores():
    ds = normal(8, 5, 0.6, 2).round()
    ds.score[0, :3, 1] = ds.score[1, :, 4] = np.nan
    score = ds.score.transpose("metric", "system", "input")
    asked = scoring_range.requested(score, 0.5, None, None, None, "any", "quantile")
    how = measure.checked_measure("input", "kendall", "pairwise", "drop")
    null = range_drop._Null.of(score, score, asked, how)
    latent = null.latent(np.random.default_rng(0))
    shown = null.shown(latent)
    for metric in range(2):
        for j in range(5):
            one, two, own = (each[metric, :, j] for each in (latent, shown, score.values))
            there = ~np.isnan(own)
            assert (np.isnan(two) == ~there).all() and sorted(two[there]) == sorted(own[there])
            assert two[there][np.argsort(one[there])].tolist() == sorted(own[there])


def test_the_concentration_of_shares():
    """Of shares from a Dirichlet distribution it is the sum of its parameters; of equal shares there is no limit."""
    rng = np.random.default_rng(1)
    for parameters in ([2.0, 3.0, 5.0], [1.0, 0.5, 0.5], [4.0, 6.0, 0.0]):
        shares = rng.dirichlet(parameters, 4000)
        counts = np.array([rng.multinomial(n, row) for n, row in zip(rng.integers(5, 30, 4000), shares, strict=True)])
        assert range_drop._concentration(counts.astype(float)) == pytest.approx(sum(parameters), rel=0.1)
    alike = rng.multinomial(20, [0.2, 0.5, 0.3], 4000).astype(float)
    assert range_drop._concentration(alike) > 300
    assert range_drop._concentration(np.array([[5.0, 5.0, 0.0]] * 20)) > 0.99 * range_drop._NO_SPREAD
    # By hand: two inputs of 4 scores, shares 1 and 0 below: MS between 4·(.25 + .25)·2 = 4, within 0, so that ρ is 1.
    assert range_drop._concentration(np.array([[4.0, 0.0, 0.0], [0.0, 4.0, 0.0]])) == pytest.approx(1e-3)


def test_limits_in_scores_keep_as_many_normal_scores_as_there_are():
    """Shares of an input are drawn about its own and all inputs'; what lies at a limit, or has none, as in the mask."""
    ds = normal(40, 300, 0.6, 8, metrics=1)
    shift = np.random.default_rng(9).normal(size=300)
    score = (ds.score + xr.DataArray(shift, dims="input")).transpose("metric", "system", "input")
    limit = xr.DataArray(np.where(np.arange(300) < 3, np.nan, 0.7), dims="input")
    for between in ((-0.5, 0.7), (-0.5, limit)):
        asked = scoring_range.requested(score, None, between, None, None, "all", "score")
        kept = asked.mask(score).transpose("system", "input").values
        limits = range_drop._Limits.of(score, asked)
        drawn = np.random.default_rng(0).normal(size=(60, 1, 40, 300))
        share = np.mean([limits.hold(x, np.random.default_rng(at))[0] for at, x in enumerate(drawn)], axis=(0, 1))
        assert share.mean() == pytest.approx(kept.mean(), abs=0.01)
        assert np.corrcoef(share, kept.mean(axis=0))[0, 1] > 0.97
        assert (share[:3] == 0).all() == (between[1] is limit)


@pytest.mark.parametrize(
    ("between", "counts"),
    [(None, [2, 2, 0]), ((1.0, 2.0), [1, 2, 1])],  # above 1 is more than 1; from 1 to 2 holds both
)
def test_a_score_at_a_limit_is_where_the_mask_has_it(between, counts):
    """The parameters are the counts, plus shares of all inputs that sum to their concentration."""
    score = normal(4, 2, 0.6, 8, metrics=1).score
    score = score.copy(data=np.tile([[0.0], [1.0], [2.0], [3.0]], (1, 1, 2)))
    above = 1.0 if between is None else None
    asked = scoring_range.requested(score, above, between, None, None, "all", "score")
    assert asked.mask(score).sum("system").values.tolist() == [counts[1]] * 2
    weights = range_drop._Limits.of(score, asked).weights
    assert weights.shape == (1, 2, 3)
    np.testing.assert_allclose(weights[0, 0] / weights[0, 0].sum(), np.array(counts) / 4)


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"metric": "judge", "above": 1}, "metric must name at least 2 metrics"),
        (
            {"above": 1, "coefficient": "kendall_c"},
            "coefficient must be one of 'pearson', 'spearman', 'kendall', 'kendall_a', got",
        ),
        ({"above": 1, "n_simulations": 5}, "n_simulations must be at least 19"),
        ({}, "give one of above, between, baseline and top"),
        ({"above": 1e9, "metrics": "judge"}, "leaves no output at all"),
    ],
)
def test_bad_arguments(demo, keywords, message):
    with pytest.raises(ValueError, match="only one input"):
        demo.isel(input=[0]).meta.range_drop(baseline="extractor-3")
    with pytest.raises(ValueError, match=message):
        demo.meta.range_drop(**keywords)


def test_normal_scores_are_those_of_midranks_among_an_inputs_outputs():
    x = np.array([[[1.0, 2.0, np.nan], [1.0, 0.0, 5.0], [3.0, 2.0, 7.0], [0.0, 2.0, 5.0]]])
    for system in range(4):
        expected = []
        for column in range(3):
            own, every = x[0, system, column], x[0, :, column][~np.isnan(x[0, :, column])]
            rank = scipy.stats.rankdata([*every, own])[-1] - 1 if not np.isnan(own) else None
            expected.append(0.0 if rank is None else scipy.stats.norm.ppf(rank / len(every)))
        np.testing.assert_allclose(range_drop._normal_scores(x, system)[0], expected, atol=1e-12)
