import itertools

import numpy as np
import pytest
import scipy.stats
import statsmodels.sandbox.stats.multicomp as multicomp
import xarray as xr
from conftest import dataset

import xsumstat
from xsumstat.analyses import input_bins
from xsumstat.dataset import wording
from xsumstat.dataset.drawn import PROBABILITY

# --- the effect of the input ---


def ranked(x):
    there = ~np.isnan(x)
    ranks = np.full(x.shape, np.nan)
    ranks[there] = scipy.stats.rankdata(x[there])
    return ranks


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("points", [None, 2])
def test_kruskal_wallis_equals_scipy_and_intervals_statsmodels(missing, points):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(9, 12)) + 1.5 * rng.normal(size=12)
    x = np.round(x * points) if points else x
    x[rng.random(x.shape) < missing] = np.nan
    ds = xr.Dataset({"score": (("metric", "system", "input"), x[None])}, {"metric": ["m"]})
    got = ds.meta.input_effect(confidence_level=0.9).squeeze("metric")
    columns = [column[~np.isnan(column)] for column in x.T]
    want = scipy.stats.kruskal(*columns)
    assert float(got.statistic) == pytest.approx(want.statistic) and float(got.pvalue) == pytest.approx(want.pvalue)
    ranks = ranked(x)
    means, sizes = np.nanmean(ranks, axis=0), (~np.isnan(x)).sum(axis=0)
    np.testing.assert_allclose(got.mean_rank, means)
    assert got.n_scores.values.tolist() == sizes.tolist()
    variance = np.nanvar(ranks, ddof=1)  # of a rank, ties included
    q = scipy.stats.studentized_range.ppf(0.9, 12, 1e7)
    half = multicomp.simultaneous_ci(q, variance, sizes)
    np.testing.assert_allclose(got.ci_high - got.mean_rank, half, rtol=1e-4)
    np.testing.assert_allclose(got.mean_rank - got.ci_low, half, rtol=1e-4)
    assert float(got.critical) == pytest.approx(q * np.sqrt(variance / 2), rel=1e-4)
    distinct = np.zeros(12, dtype=int)
    for i, j in itertools.permutations(range(12), 2):
        limit = q * np.sqrt(variance / 2 * (1 / sizes[i] + 1 / sizes[j]))
        distinct[i] += abs(means[i] - means[j]) > limit
    assert got.n_distinct.values.tolist() == distinct.tolist() and distinct.any()
    if not missing:
        gap = np.abs(means[:, None] - means)
        overlap = (got.ci_high.values[:, None] >= got.ci_low.values) & (
            got.ci_high.values >= got.ci_low.values[:, None]
        )
        assert ((gap > 2 * half) == ~overlap).all()


def test_two_inputs_overlap_as_the_test_says():
    x = np.array([[1.0, 5], [2, 6], [3, 7], [4, 8]])
    got = xr.Dataset({"score": (("metric", "system", "input"), x[None])}).meta.input_effect().squeeze()
    q = scipy.stats.studentized_range.ppf(0.95, 2, np.inf)
    assert float(got.ci_high[0] - got.mean_rank[0]) == pytest.approx(q * np.sqrt(6 / 4) / 2)
    assert got.n_distinct.values.tolist() == [1, 1]


@pytest.mark.slow
def test_false_findings_are_as_many_as_asked_for():
    """Without an effect of the input both the test, and any difference of two inputs, are found in 5 % of data sets."""
    x = np.array([np.random.default_rng(seed).normal(size=(20, 8)) for seed in range(400)])
    got = xr.Dataset({"score": (("metric", "system", "input"), x)}).meta.input_effect()
    found = int((got.pvalue <= 0.05).sum()), int((got.n_distinct > 0).any("input").sum())
    band = 3.5 * np.sqrt(400 * 0.05 * 0.95)
    assert abs(found[0] - 20) < band and found[1] < 20 + band


def test_realsumm_inputs_differ_by_every_metric(realsumm):
    got = realsumm.meta.input_effect()
    assert (got.pvalue < 1e-12).all() and got.sizes["metric"] == 15  # as Rankel et al. (2011), §1, of TAC
    assert got.attrs["analysis"] == "input_effect"


def test_what_has_no_scores_is_nan():
    x = np.random.default_rng(0).normal(size=(2, 4, 5))
    x[0, :, 2] = np.nan
    x[1] = 3
    got = xr.Dataset({"score": (("metric", "system", "input"), x)}).meta.input_effect()
    assert np.isnan(got.mean_rank[0, 2]) and not np.isnan(got.mean_rank[0, [0, 1, 3, 4]]).any()
    assert got.n_scores[0].values.tolist() == [4, 4, 0, 4, 4]
    assert np.isnan(got.pvalue[1]) and np.isnan(got.mean_rank[1]).all() and (got.n_distinct[1] == 0).all()
    with pytest.raises(ValueError, match="at least 2 inputs, got 1"):
        xr.Dataset({"score": (("metric", "system", "input"), x[:, :, :1])}).meta.input_effect()


def test_it_does_not_depend_on_the_scale_of_scores():
    places = np.random.default_rng(1).integers(0, 5, (1, 6, 5))
    effects = [
        xr.Dataset({"score": (("metric", "system", "input"), grid[places])}).meta.input_effect()
        for grid in (np.arange(5.0), np.array([0.3, 0.4, 0.5, 0.6, 0.7]), 1.7e308 * np.array([-1, -0.9, 0, 0.5, 1]))
    ]
    xr.testing.assert_identical(effects[0], effects[1].assign_attrs(effects[0].attrs))
    assert np.isfinite(effects[2].statistic).all()


def test_lazy_scores(demo, tmp_path):
    pytest.importorskip("dask")
    xr.testing.assert_equal(demo.chunk().meta.input_effect().compute(), demo.meta.input_effect())
    demo.meta.input_effect().to_netcdf(tmp_path / "effect.nc")
    assert len(xsumstat.load_dataset("demo").meta.input_effect().meta.to_frame()) == 7 * 30


# --- inputs to rate ---


@pytest.fixture
def many():
    return xsumstat.simulate(6, 130, agreement={"a": 0.8, "b": 0.5}, truth=False, rng=1)


def plain_bins(x, n_means, n_spreads):
    """Inputs by bin of mean and of spread: Algorithm 1 with plain lists."""

    def cut(items, n):
        size, left = divmod(len(items), n)
        parts, start = [], 0
        for at in range(n):
            stop = start + size + (at < left)
            parts.append(items[start:stop])
            start = stop
        return parts

    by_mean = sorted(range(x.shape[1]), key=lambda i: sum(x[:, i]))
    return {
        (k, s): set(part)
        for k, one in enumerate(cut(by_mean, n_means))
        for s, part in enumerate(cut(sorted(one, key=lambda i: np.std(x[:, i])), n_spreads))
    }


def test_every_bin_of_every_metric_gives_one_input(many):
    chosen = many.meta.sample_inputs(n_means=5, n_spreads=4, rng=3)
    assert chosen.sizes["input"] == 40 == len(set(chosen.input.values))
    assert sorted(set(chosen.chosen_for.values)) == ["a", "b"]  # the gold "human" is not asked
    xr.testing.assert_identical(
        chosen.drop_vars(["chosen_for", "mean_bin", "spread_bin"]), many.sel(input=chosen.input.values)
    )
    labels = many.input.values.tolist()
    for metric in ("a", "b"):
        bins = plain_bins(many.score.sel(metric=metric).values, 5, 4)
        here = chosen.isel(input=chosen.chosen_for.values == metric)
        seen = set()
        for name, k, s in zip(here.input.values, here.mean_bin.values, here.spread_bin.values, strict=True):
            assert labels.index(name) in bins[int(k), int(s)]
            seen.add((int(k), int(s)))
        assert len(seen) == 20


def test_seeds_and_numbers(many):
    one, two, three = (many.meta.sample_inputs(rng=seed).input.values.tolist() for seed in (1, 1, 2))
    assert one == two != three
    assert many.meta.sample_inputs(metric="a", n_means=2, n_spreads=1, n_each=7, rng=1).sizes["input"] == 14


@pytest.mark.slow
def test_each_input_of_a_bin_is_as_likely(many):
    bins = plain_bins(many.score.sel(metric="a").values, 5, 4)
    labels = many.input.values.tolist()
    counts = dict.fromkeys(sorted(bins[0, 0]), 0)
    for seed in range(200):
        chosen = many.meta.sample_inputs(metric="a", rng=seed)
        for name, k, s in zip(chosen.input.values, chosen.mean_bin.values, chosen.spread_bin.values, strict=True):
            if (k, s) == (0, 0):
                counts[labels.index(name)] += 1
    share = 200 / len(counts)
    assert sum(counts.values()) == 200 and all(abs(n - share) < 4 * np.sqrt(share) for n in counts.values())


def test_when_bins_run_out_others_stand_in():
    ds = xsumstat.simulate(5, 40, agreement={"a": 1.0, "b": 1.0}, truth=False, rng=1)
    chosen = ds.meta.sample_inputs(rng=1)
    assert chosen.sizes["input"] == 40
    few = ds.copy(deep=True)
    few.score[1, :, :3] = np.nan
    with pytest.raises(ValueError, match="are 40 inputs, and only 37 have scores of every metric"):
        few.meta.sample_inputs()
    assert not set(few.meta.sample_inputs(n_spreads=3, rng=1).input.values) & set(few.input.values[:3])


def test_bad_arguments(many):
    for keywords, message in (
        ({"n_means": 0}, "n_means must be at least 1"),
        ({"metric": "c"}, "unknown metric 'c'"),
        ({"n_each": 9}, "and only 130 have"),
    ):
        with pytest.raises(ValueError, match=message):
            many.meta.sample_inputs(**keywords)
    both = xr.concat([many[["score"]], many[["score"]]], "language")
    with pytest.raises(ValueError, match="select one label of each additional one"):
        both.meta.sample_inputs()


def test_the_input_whose_mean_is_nearest_to_the_bins_stands_in():
    """The bin's means are 11 and 21, so its centre is 16; of the free inputs 8 is nearest to it, then 5."""
    values = np.array([[0.0, 10, 0, 7, 20, 100], [2, 12, 10, 9, 22, np.nan]])
    rated = np.array([True, True, True, True, True, False])
    assert input_bins._nearest(values, rated, [1, 4], {1, 4}, 2) == [3, 2]
    assert input_bins._nearest(values, rated, [], {0}, 1) == [3]  # a bin without inputs is in the middle, 9.2


def test_intervals_that_hold_for_all_pairs_are_not_called_uncorrected(demo):
    corrected = demo.meta.input_effect().meta.adjust("holm")
    assert "ci_low" in corrected
    assert wording.correction_words(corrected) == "Holm over all tests"


@pytest.mark.parametrize(("strata", "n_strata", "least"), [(None, None, 2), ("score", 4, 8), ("score", 15, 30)])
def test_a_draw_takes_two_inputs_of_each_stratum_at_least_and_all_at_most(demo, strata, n_strata, least):
    how = {"metric": "judge", "strata": strata, "n_strata": n_strata, "rng": 1}
    for n in {least, 30}:
        found = demo.meta.sample_inputs(n, **how)
        assert int(found["drawn"].sum()) == n and (found["drawn"].groupby("draw_stratum").sum() >= 2).all()
    for n, limit in ((least - 1, f"least {least}"), (31, "most 30")):
        with pytest.raises(ValueError, match=f"n must be at {limit}"):
            demo.meta.sample_inputs(n, **how)
    with pytest.raises(ValueError, match="n_strata=16 is too many for 30 inputs"):
        demo.meta.sample_inputs(30, metric="judge", strata="score", n_strata=16)


def test_more_inputs_are_drawn_where_a_judge_sets_systems_less_apart():
    """Four inputs in ten have systems a tenth as far apart."""
    rng = np.random.default_rng(0)
    near = np.arange(40) % 10 < 4
    score = rng.normal(size=(1, 12, 40)) * np.where(near, 0.1, 1.0)
    ds = dataset(score).assign_coords(kind=("input", np.where(near, "near", "far")))
    found = ds.meta.sample_inputs(20, metric="m0", strata="kind", allocation="unsure", unsure="systems", rng=0)
    of_near, of_far = (float(found[PROBABILITY][found.kind == kind][0]) for kind in ("near", "far"))
    assert of_near > 0.6 and of_far < 0.45
    assert of_near * 16 + of_far * 24 == pytest.approx(20)


def test_more_inputs_are_drawn_where_metrics_differ_more():
    """Four inputs in ten have two metrics that nearly agree."""
    rng = np.random.default_rng(0)
    near = np.arange(40) % 10 < 4
    one = rng.normal(size=(12, 40))
    ds = dataset(np.array([one, one + rng.normal(size=one.shape) * np.where(near, 0.1, 1.0)]))
    ds = ds.assign_coords(kind=("input", np.where(near, "near", "far")), input=np.arange(40))
    how = {"metric": ["m0", "m1"], "strata": "kind", "allocation": "unsure", "rng": 0}
    found = ds.meta.sample_inputs(20, unsure="metrics", **how)
    of_near, of_far = (float(found[PROBABILITY][found.kind == kind][0]) for kind in ("near", "far"))
    assert of_near < 0.3 and of_far > 0.6
    with pytest.raises(ValueError, match="unsure must be"):  # their labels are no uncertainty
        ds.meta.sample_inputs(20, unsure="input", **how)
