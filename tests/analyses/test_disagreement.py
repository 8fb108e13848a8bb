import itertools
import tracemalloc
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
import xarray as xr
from conftest import dataset, of_code, warns
from helpers import padded, pairwise

import xsumstat  # noqa: F401
from xsumstat.analyses import normalised_scores, output_pairs
from xsumstat.analyses import scoring_range as ranges
from xsumstat.resampling import draws


@np.errstate(all="ignore")
def scaled(x, within):
    x = np.where(np.isnan(x).all(axis=1, keepdims=True), 0, x) if within == "input" else x
    if within == "input":
        low, high = np.nanmin(x, axis=1, keepdims=True), np.nanmax(x, axis=1, keepdims=True)
    else:
        low, high = np.nanmin(x, axis=(1, 2), keepdims=True), np.nanmax(x, axis=(1, 2), keepdims=True)
    return np.where((high == low) & ~np.isnan(x), 0.5, (x - low) / (high - low))


def plain_disagreement(x, one, two, n_bins, within):
    """Opposite and all pairs (inputs, bins) in a double loop over the outputs."""
    height = scaled(x, within)
    opposite, total = np.zeros((2, x.shape[2], n_bins))
    for j in range(x.shape[2]):
        for a, b in itertools.combinations(range(x.shape[1]), 2):
            values = x[[one, two]][:, [a, b], j]
            if np.isnan(values).any():
                continue
            mean = (height[one, a, j] + height[two, a, j] + height[one, b, j] + height[two, b, j]) / 4
            place = min(int(mean * n_bins + 1e-9), n_bins - 1)
            total[j, place] += 1
            opposite[j, place] += (values[0, 0] - values[0, 1]) * (values[1, 0] - values[1, 1]) < 0
    return opposite, total


def plain_limits(part, whole, confidence_level):
    """The jackknife's limits of a ratio of sums over inputs, from the ratios without each input."""
    inputs = [j for j in range(len(whole)) if whole[j]]
    if len(inputs) < 2:
        return [np.nan, np.nan]
    ratio = sum(part[j] for j in inputs) / sum(whole[j] for j in inputs)
    others = [[k for k in inputs if k != j] for j in inputs]
    without = [sum(part[k] for k in each) / sum(whole[k] for k in each) for each in others]
    m, tail = len(inputs), (1 - confidence_level) / 2
    error = np.sqrt((m - 1) / m * sum((each - np.mean(without)) ** 2 for each in without))
    if error < 1e-12 or ratio in (0, 1):
        reach = 1 - tail ** (1 / m)
        return [max(0, ratio - reach), min(1, ratio + reach)]
    reach = scipy.stats.t.ppf(1 - tail, m - 1) * error / (ratio * (1 - ratio))
    return [1 / (1 + (1 - ratio) / ratio * np.exp(side * reach)) for side in (1, -1)]


def test_a_share_of_none_reaches_as_far_as_chance_would_have_it():
    """Twelve inputs of which none has a pair in opposite order: 2.5 % of such twelve come from a share of .265."""
    x = np.arange(5.0)[:, None] + np.arange(12) / 100
    ds = xr.Dataset({"score": (("metric", "system", "input"), np.array([x, x**2]))}, {"metric": ["a", "b"]})
    got = ds.meta.disagreement(n_bins=1).sel(metric="a", other_metric="b").squeeze()
    assert float(got.share) == 0 and float(got.ci_low) == 0
    assert scipy.stats.binom.cdf(0, 12, float(got.ci_high)) == pytest.approx(0.025)
    assert float(ds.meta.improvement_consistency(n_bins=1).ci_low.squeeze()) == pytest.approx(0.025 ** (1 / 12))


@pytest.mark.parametrize("within", ["all", "input"])
@pytest.mark.parametrize("points", [None, 2])
@pytest.mark.parametrize("many", [1, 150])  # counted by bits or one by one
def test_disagreement_and_its_bands_equal_a_double_loop(within, points, many, monkeypatch):
    monkeypatch.setattr(output_pairs, "_MANY", many)
    ds = padded((9, 4, 7, 9, 2, 0), points=points)
    ds.score[1, 2, 0] = np.nan
    got = ds.meta.disagreement(n_bins=5, normalise=within, method="bootstrap", n_resamples=200, rng=3)
    left_out = ds.meta.disagreement(n_bins=5, normalise=within)
    assert left_out.attrs["method"] == "jackknife" and "seed" not in left_out.attrs
    with np.errstate(all="ignore"):
        counts = np.concatenate([draws.counts(3, "input", 6, 0, 200)])
        for one, two in itertools.permutations(range(3), 2):
            opposite, total = plain_disagreement(ds.score.values, one, two, 5, within)
            here = got.isel(metric=one, other_metric=two)
            np.testing.assert_array_equal(here.n_pairs, total.sum(axis=0))
            np.testing.assert_allclose(here.share, opposite.sum(axis=0) / total.sum(axis=0))
            lone = left_out.isel(metric=one, other_metric=two)
            want = np.array([plain_limits(*each, 0.95) for each in zip(opposite.T, total.T, strict=True)])
            np.testing.assert_allclose([lone.ci_low, lone.ci_high], want.T, atol=1e-12)
            alone = (total > 0).sum(axis=0) < 2
            assert np.isnan(here.ci_low.values[alone]).all()
            for place in np.flatnonzero(~alone):
                samples = np.array([(row @ opposite[:, place]) / (row @ total[:, place]) for row in counts])
                samples = samples[~np.isnan(samples)]
                if len(samples) and total[:, place].any():
                    want = np.quantile(samples, [0.025, 0.975])
                    assert [float(here.ci_low[place]), float(here.ci_high[place])] == pytest.approx(want)
    assert np.isnan(got.share.values[[0, 1, 2], [0, 1, 2]]).all()
    np.testing.assert_allclose(got.score_bin, [0.1, 0.3, 0.5, 0.7, 0.9])


def test_rounding_decides_nothing_at_the_edge_of_a_bin():
    """Scores on a grid and a tenth of them, moved or not, fall into the bins that exact fractions name."""
    rng = np.random.default_rng(5)
    places = rng.integers(0, 6, (2, 12, 3))
    places[:, 0], places[:, 1] = 0, 5
    pairs, outputs = np.zeros((2, 10), dtype=int)
    for j in range(3):
        height = [Fraction(int(a) + int(b), 10) for a, b in places[:, :, j].T]
        for one, two in itertools.combinations(height, 2):
            pairs[min(int((one + two) / 2 * 10), 9)] += 1
        for one in height:
            outputs[min(int(one * 10), 9)] += 1
    for grid in (
        [0, 1, 2, 3, 4, 5],
        [0.0, 0.1, 0.2, 0.3, 0.4, 0.5],
        [0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
        100 + np.arange(6) / 10,
    ):
        ds = xr.Dataset({"score": (("metric", "system", "input"), np.array(grid)[places])}, {"metric": ["a", "b"]})
        got = ds.meta.disagreement(n_resamples=9, rng=1).n_pairs.sel(metric="a", other_metric="b")
        assert got.values.tolist() == pairs.tolist()
        found = ds.meta.improvement_consistency(n_resamples=9, rng=1)
        assert (found.n_outputs + found.n_best).values.tolist() == outputs.tolist()


def test_without_ties_it_is_kendalls_tau_again(demo):
    """Over all heights the share is (1 − τ-a)/2, averaged over inputs of as many outputs."""
    ds = demo.isel(metric=[1, 2, 6])
    ds = ds.assign(score=ds.score + xr.DataArray(1e-6 * np.arange(12), dims="system"))
    got = ds.meta.disagreement(n_bins=1, rng=1).share.squeeze("score_bin").values
    tau = ds.meta.metric_corr(level="input", coefficient="kendall_a").correlation.values
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(got[off], ((1 - tau) / 2)[off])


def test_pairs_are_drawn_where_there_are_too_many():
    ds = padded((120, 8), metrics=2)
    with warns("drawn", "5,000 .* 1 of 2 "):
        got = ds.meta.disagreement(n_bins=3, max_pairs=5000, rng=1)
    exact = ds.meta.disagreement(n_bins=3, rng=1)
    assert got.attrs["n_sampled_inputs"] == 1 and exact.attrs["n_sampled_inputs"] == 0
    one = {"metric": "m0", "other_metric": "m1"}
    assert int(got.n_pairs.sel(one).sum()) == 5000 + 28
    share, want, n = (each.sel(one).values for each in (got.share, exact.share, got.n_pairs))
    assert (np.abs(share - want) < 4 * np.sqrt(0.25 / n) + 0.02).all()
    drawn = np.concatenate(list(output_pairs.drawn_pairs(5, 20_000, np.random.default_rng(0))))
    counts = np.bincount(5 * drawn[:, 0] + drawn[:, 1], minlength=25).reshape(5, 5)
    assert (np.diag(counts) == 0).all() and scipy.stats.chisquare(counts[~np.eye(5, dtype=bool)]).pvalue > 1e-4


def test_drawn_pairs_with_ties_are_counted_as_a_plain_loop_counts_them():
    """Of the very pairs that are drawn: opposite only where both metrics tell the two apart, and differently."""
    rng = np.random.default_rng(4)
    x = np.round(rng.normal(size=(2, 40, 3)))
    ds = xr.Dataset({"score": (("metric", "system", "input"), x)}, {"metric": ["a", "b"]})
    ds.score[0, 35:, 1] = np.nan
    with warns("drawn", "200 .* 3 of 3 "):
        got = ds.meta.disagreement(n_bins=4, max_pairs=200, n_resamples=9, rng=7).sel(metric="a", other_metric="b")
    height = scaled(x, "all").mean(axis=0)
    opposite, total = np.zeros((2, 4), dtype=int)
    for j in range(3):
        here = [i for i in range(40) if not np.isnan(ds.score.values[:, i, j]).any()]
        there = np.array(here)
        for one, two in np.concatenate(list(output_pairs.drawn_pairs(len(here), 200, draws.generator(7, j)))):
            s, t = there[one], there[two]
            place = min(int((height[s, j] + height[t, j]) / 2 * 4 + 1e-9), 3)
            total[place] += 1
            opposite[place] += (x[0, s, j] - x[0, t, j]) * (x[1, s, j] - x[1, t, j]) < 0
    assert got.n_pairs.values.tolist() == total.tolist()
    np.testing.assert_allclose(got.share[total > 0], opposite[total > 0] / total[total > 0])
    assert 0 < opposite.sum() < total.sum() / 2


def test_drawn_shares_of_tied_scores_are_those_of_all_pairs():
    ds = padded((150,), metrics=2, points=1)
    exact = ds.meta.disagreement(n_bins=1, rng=1)
    with warns("drawn"):
        got = ds.meta.disagreement(n_bins=1, max_pairs=10_000, rng=1)
    one = {"metric": "m0", "other_metric": "m1"}
    share = float(exact.share.sel(one).squeeze())
    error = np.sqrt(share * (1 - share) / 10_000)
    assert float(got.share.sel(one).squeeze()) == pytest.approx(share, abs=4 * error)


def plain_consistency(x, n_bins, within):
    """Sums of F/N, outputs with one, and best outputs, (inputs, bins)."""
    height = scaled(x, within).mean(axis=0)  # only outputs with every score are looked at
    ratios, outputs, best = np.zeros((3, x.shape[2], n_bins))
    for j in range(x.shape[2]):
        there = [a for a in range(x.shape[1]) if not np.isnan(x[:, a, j]).any()]
        for s in there:
            n = sum(any(x[m, a, j] > x[m, s, j] for m in range(len(x))) for a in there)
            f = sum(all(x[m, a, j] > x[m, s, j] for m in range(len(x))) for a in there)
            place = min(int(height[s, j] * n_bins + 1e-9), n_bins - 1)
            if n:
                ratios[j, place] += f / n
                outputs[j, place] += 1
            else:
                best[j, place] += 1
    return ratios, outputs, best


@pytest.mark.parametrize("within", ["all", "input"])
@pytest.mark.parametrize("points", [None, 2])
def test_improvement_consistency_equals_a_double_loop(within, points):
    ds = padded((9, 4, 7, 9, 1), points=points)
    ds.score[1, 2, 0] = np.nan
    how = {"n_bins": 4, "normalise": within}
    got = ds.meta.improvement_consistency(method="bootstrap", n_resamples=300, rng=2, **how)
    left_out = ds.meta.improvement_consistency(confidence_level=0.8, **how)
    ratios, outputs, best = plain_consistency(ds.score.values, 4, within)
    np.testing.assert_array_equal(got.n_outputs, outputs.sum(axis=0))
    np.testing.assert_array_equal(got.n_best, best.sum(axis=0))
    want = np.array([plain_limits(*each, 0.8) for each in zip(ratios.T, outputs.T, strict=True)])
    np.testing.assert_allclose([left_out.ci_low, left_out.ci_high], want.T, atol=1e-12)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(got.ratio, ratios.sum(axis=0) / outputs.sum(axis=0))
        counts = draws.counts(2, "input", 5, 0, 300)
        alone = (outputs > 0).sum(axis=0) < 2
        assert np.isnan(got.ci_low.values[alone]).all()
        for place in np.flatnonzero(~alone):
            samples = np.array([(row @ ratios[:, place]) / (row @ outputs[:, place]) for row in counts])
            if outputs[:, place].any():
                want = np.quantile(samples[~np.isnan(samples)], [0.025, 0.975])
                assert [float(got.ci_low[place]), float(got.ci_high[place])] == pytest.approx(want)


def test_outputs_are_drawn_where_there_are_too_many():
    ds = padded((120, 8), metrics=2)
    with warns("drawn", " 1 of 2 "):
        got = ds.meta.improvement_consistency(max_pairs=119 * 50, n_bins=2, rng=1)
    assert int((got.n_outputs + got.n_best).sum()) == 50 + 8
    exact = ds.meta.improvement_consistency(n_bins=2, rng=1)
    np.testing.assert_allclose(got.ratio, exact.ratio, atol=0.2)


def test_they_see_lower_is_better_and_say_how_they_were_made(demo, tmp_path):
    metrics = ["judge", "perplexity"]
    got = demo.meta.disagreement(metric=metrics, n_bins=2, rng=1)
    turned = demo.drop_vars("higher_is_better")
    turned = turned.assign(score=turned.score.where(turned.metric != "perplexity", -turned.score))
    np.testing.assert_array_equal(got.share, turned.meta.disagreement(metric=metrics, n_bins=2, rng=1).share)
    ratio = demo.meta.improvement_consistency(metric=metrics, n_bins=2, rng=1)
    np.testing.assert_array_equal(
        ratio.ratio, turned.meta.improvement_consistency(metric=metrics, n_bins=2, rng=1).ratio
    )
    assert got.attrs["analysis"] == "disagreement" and ratio.attrs["metrics"] == "judge, perplexity"
    for each in (got, ratio):
        each.to_netcdf(tmp_path / "found.nc")
        xr.testing.assert_identical(xr.load_dataset(tmp_path / "found.nc"), each)
    assert "human" not in demo.meta.disagreement(n_resamples=9).metric.values
    pytest.importorskip("dask")
    xr.testing.assert_identical(demo.chunk().meta.disagreement(metric=metrics, n_bins=2, rng=1), got)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["disagreement", "improvement_consistency", "range_drop"])
def test_samples_are_held_a_few_numbers_at_a_time(name, monkeypatch):
    """Memory does not grow with the metrics, and the bands are the same to the last bit."""
    ds = padded((9, 4, 7, 9, 5, 8), metrics=6)
    how = {"above": 0.3, "unit": "quantile", "n_simulations": 19}
    how = how if name == "range_drop" else {"n_bins": 20, "method": "bootstrap"}
    n = 40_000 if name == "range_drop" else 20_000  # beside which what is held anyway is little
    how |= {"n_resamples": n, "rng": 1}
    want = getattr(ds.meta, name)(**how)
    monkeypatch.setattr("xsumstat.resampling.jobs.BYTES_AT_ONCE", 3 * 8 * n)
    tracemalloc.start()
    got = getattr(ds.meta, name)(**how)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    xr.testing.assert_identical(got, want)
    assert peak < 8 * n * 10  # 3 rows of samples, and what one of them needs; of 300, 20 and 15 in all


def test_metrics_that_never_meet_are_said():
    ds = padded()
    ds.score[0, :5] = np.nan
    ds.score[1, 5:] = np.nan
    with pytest.warns(UserWarning, match="no input has two outputs with scores by both metrics: 'm0 and m1'"):
        assert ds.meta.disagreement(rng=1).share.sel(metric="m0", other_metric="m1").isnull().all()
    with pytest.warns(UserWarning, match="no output with scores by every metric"):
        assert ds.meta.improvement_consistency(rng=1).ratio.isnull().all()


@pytest.mark.parametrize("name", ["disagreement", "improvement_consistency"])
def test_bad_arguments(demo, name):
    function = getattr(demo.meta, name)
    for keywords, message in (
        ({"metric": "judge"}, "metric must name at least 2 metrics, got 'judge'"),
        ({"n_bins": 0}, "n_bins must be at least 1"),
        ({"normalise": "no"}, "normalise must be one of 'all', 'input'"),
        ({"max_pairs": 0}, "max_pairs must be at least 1"),
        ({"n_resamples": 1}, "n_resamples must be at least 2"),
        ({"method": "normal"}, "method must be one of 'jackknife', 'bootstrap'"),
    ):
        with pytest.raises(ValueError, match=message):
            function(**keywords)
    both = xr.concat([demo[["score"]]] * 2, "language")
    with pytest.raises(ValueError, match="select one label of each additional one"):
        getattr(both.meta, name)()


@pytest.mark.ignore_codes("drawn")
@pytest.mark.parametrize("name, count", [("disagreement", "n_pairs"), ("improvement_consistency", "n_outputs")])
def test_each_input_has_draws_of_its_own(name, count):
    """Of two inputs with the same scores: were the same outputs drawn of both, the counts of one would be doubled."""
    one = padded((120,), metrics=2)
    two = xr.concat([one, one], "input")
    alone, both = (getattr(each.meta, name)(n_bins=10, max_pairs=2000, rng=1)[count] for each in (one, two))
    assert (both != 2 * alone).sum() > 3


# --- Lazy scores ---


def quietly(call):
    """What a call gives, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    return found, sorted(str(each.message) for each in caught)


BOTH = ["disagreement", "improvement_consistency"]


@pairwise(
    {
        "name": BOTH,
        "method": ["jackknife", "bootstrap"],
        "within": ["all", "input"],
        "max_pairs": [5_000_000, 40],
    }
)
def test_lazy_scores_give_the_same_bits_and_warnings(name, method, within, max_pairs):
    pytest.importorskip("dask")
    ds = padded((12, 4, 7, 9, 1, 0), metrics=10)
    ds.score[1, 2, 0] = np.nan
    ds.score[2] = 0.5
    how = {"n_bins": 4, "normalise": within, "method": method, "max_pairs": max_pairs, "n_resamples": 1500, "rng": 3}
    want, said = quietly(lambda: getattr(ds.meta, name)(**how))
    lazy = getattr(ds.chunk(metric=3, input=4).meta, name)(**how)
    assert all(each.chunks is not None for each in lazy.data_vars.values())
    got, heard = quietly(lazy.compute)
    assert heard == said and sum("outputs left out" in each for each in said) == 1
    assert len(said) == (2 if max_pairs == 40 else 1)
    if max_pairs == 40:  # only the values tell whether there is something to draw
        assert "n_sampled_inputs" not in got.attrs and want.attrs["n_sampled_inputs"] > 0
        want.attrs.pop("n_sampled_inputs")
    xr.testing.assert_identical(got, want)


@pytest.mark.parametrize("name", BOTH)
def test_lazy_scores_warn_when_nothing_can_be_compared(name):
    pytest.importorskip("dask")
    ds = padded()
    ds.score[0, :5] = np.nan
    ds.score[1, 5:] = np.nan
    want, said = quietly(lambda: getattr(ds.meta, name)(n_bins=3))
    got, heard = quietly(getattr(ds.chunk().meta, name)(n_bins=3).compute)
    xr.testing.assert_identical(got, want)
    assert heard == said and len(said) == 2


def test_a_task_sees_the_scores_of_its_own_two_metrics(monkeypatch):
    pytest.importorskip("dask")
    ds = padded((9, 4, 7), metrics=5)
    want, seen = ds.meta.disagreement(n_bins=3), []
    columns = output_pairs._columns
    monkeypatch.setattr(output_pairs, "_columns", lambda x, within: seen.append(np.shape(x)) or columns(x, within))
    monkeypatch.setattr("xsumstat.resampling.jobs.BYTES_AT_ONCE", 1)
    lazy = ds.chunk(metric=1).meta.disagreement(n_bins=3)
    assert not seen
    xr.testing.assert_identical(lazy.compute(), want)
    assert seen == [(2, 9, 3)] * 10


@pytest.mark.parametrize("shared", [2**28, 0])
def test_all_metrics_are_looked_at_in_blocks_of_inputs(monkeypatch, shared):
    """Whether tasks share the scores, or make them for themselves; few of them are in memory together."""
    pytest.importorskip("dask")
    ds = padded((9, 4, 7, 9, 5, 8, 2), metrics=5)
    how = {"n_bins": 3, "method": "bootstrap", "n_resamples": 50, "rng": 1, "max_pairs": 30}
    want, seen = quietly(lambda: ds.meta.improvement_consistency(**how))[0], []
    mean_normalised = output_pairs.mean_normalised
    monkeypatch.setattr(
        output_pairs,
        "mean_normalised",
        lambda x, ends, within: seen.append(x.shape) or mean_normalised(x, ends, within),
    )
    monkeypatch.setattr(output_pairs, "_BLOCK", 3 * 8 * 5 * 9)
    monkeypatch.setattr("xsumstat.resampling.tasks.SHARED", shared)
    got = quietly(ds.chunk(metric=1).meta.improvement_consistency(**how).compute)[0]
    xr.testing.assert_equal(got, want)
    assert sorted(seen) == [(5, 9, 1), (5, 9, 3), (5, 9, 3)]


@pytest.mark.parametrize("name", BOTH)
def test_lazy_infinite_scores_are_refused_when_computed(name):
    pytest.importorskip("dask")
    ds = padded()
    ds.score[0, 0, 0] = np.inf
    with pytest.raises(ValueError, match="infinite"):
        getattr(ds.chunk().meta, name)().compute()


@pytest.mark.parametrize("within", ["all", "input"])
def test_heights_are_normalised_scores(within):
    """Also of huge scores, of which the difference of two is none, and of equal ones; a block of inputs by itself."""
    ds = padded((9, 4, 7, 9, 1, 0), metrics=4)
    x = ds.score.values
    x[0] = np.tanh(x[0]) * 1.7e308
    x[1] = np.where(np.isnan(x[1]), np.nan, 3)
    x[3] = np.nan
    got = normalised_scores.normalised(x, normalised_scores.extremes(x), within)
    np.testing.assert_array_equal(got, ranges.normalised(ds.score, within))
    np.testing.assert_array_equal(
        normalised_scores.normalised(x[..., 2:5], normalised_scores.extremes(x), within), got[..., 2:5]
    )
    want = np.where(np.isnan(x[1:3]), np.nan, scaled(x[1:3], within))
    np.testing.assert_allclose(got[1:3], want, atol=1e-15)
    assert np.isnan(normalised_scores.mean_normalised(x, normalised_scores.extremes(x), within)).all()
    np.testing.assert_array_equal(
        normalised_scores.mean_normalised(x[:3], normalised_scores.extremes(x[:3]), within), sum(got[:3]) / 3
    )


def test_pairs_drawn_some_at_a_time_are_those_drawn_at_once(monkeypatch):
    monkeypatch.setattr(output_pairs, "_DRAWN", 7)
    parts = list(output_pairs.drawn_pairs(30, 1000, draws.generator(1, 2)))
    assert max(map(len, parts)) == 7
    generator = draws.generator(1, 2)
    first, step = generator.integers(0, 30, 1000), generator.integers(1, 30, 1000)
    np.testing.assert_array_equal(np.concatenate(parts), np.array([first, (first + step) % 30]).T)


@pytest.mark.parametrize(("name", "pairs"), [("disagreement", 15), ("improvement_consistency", 30)])
def test_as_many_pairs_as_there_are_are_not_drawn(name, pairs):
    """Six outputs make 15 pairs, and 30 of an output and one that may be better."""
    ds = dataset(np.random.default_rng(0).normal(size=(2, 6, 4)))
    for most, drawn in ((pairs, False), (pairs - 1, True)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            getattr(ds.meta, name)(n_bins=1, max_pairs=most, rng=1)
        assert bool(of_code(said, "drawn")) == drawn
