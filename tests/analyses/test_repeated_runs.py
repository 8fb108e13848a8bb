"""Several runs of a judge: flips, components, reliability, and agreement of their mean."""

import statistics
import warnings

import numpy as np
import pytest
import xarray as xr
from runs_twin import components, jackknifed, shares
from scipy import stats

CELLS = ("system", "input", "run")


def runs(seed=0, shape=(4, 30, 3), noise=1.0, grades=False):
    """A judge of several runs, one whose runs are alike, and human scores."""
    rng = np.random.default_rng(seed)
    n, m, r = shape
    quality = rng.normal(size=(n, 1)) + rng.normal(size=(1, m)) + rng.normal(size=(n, m))
    judge = quality[..., None] + 0.3 * rng.normal(size=r) + noise * rng.normal(size=shape)
    judge = np.clip(np.round(3 + judge), 1, 5) if grades else judge
    human = quality + 0.7 * rng.normal(size=(n, m))
    every = [judge, *(np.repeat(each[..., None], r, axis=2) for each in (quality + rng.normal(size=(n, m)), human))]
    labels = {
        "metric": ["judge", "still", "human"],
        "system": list("abcdefghij"[:n]),
        "run": [f"r{at}" for at in range(r)],
    }
    return xr.Dataset({"score": (("metric", *CELLS), np.array(every))}, labels)


def quiet(ds, *args, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ds.meta.repeatability(*args, **how)


def judged(ds):
    return ds.score.sel(metric="judge").transpose(*CELLS).values


def test_shares_are_counted_one_by_one():
    ds = runs(grades=True)
    gaps = np.random.default_rng(1).random(ds.score.shape) < 0.15
    ds["score"] = ds.score.where(~gaps)
    found = quiet(ds, metric="judge").isel(metric=0)
    want = shares([[[None if np.isnan(v) else v for v in row] for row in each] for each in judged(ds).tolist()])
    got = [found[name].item() for name in ("flip_share", "reversal_share", "equal_share", "n_pairs", "n_outputs")]
    np.testing.assert_allclose(got, want, rtol=1e-12)
    assert found.flip_low < found.flip_share < found.flip_high and found.reversal_share < found.flip_share


def test_components_are_those_of_the_analysis_of_variance():
    ds = runs(1)
    found = quiet(ds, metric="judge").isel(metric=0)
    want = components(judged(ds))
    np.testing.assert_allclose(found.variance, list(want.values()), rtol=1e-9)
    for name in want:
        _, error = jackknifed(lambda y, name=name: components(y)[name], judged(ds))
        np.testing.assert_allclose(found.standard_error.sel(effect=name), error, rtol=1e-8)
    clipped = np.maximum(list(want.values()), 0)
    np.testing.assert_allclose(found.share, clipped / clipped.sum(), rtol=1e-9)


def test_a_variance_below_0_has_no_share():
    ds = runs(1, noise=0.3)
    ds["score"] = ds.score - ds.score.mean(["system", "run"])  # inputs have equal means, and so a variance below 0
    found = quiet(ds, metric="judge").isel(metric=0)
    variance = found.variance.values
    assert found.variance.sel(effect="input") < 0
    np.testing.assert_allclose(found.share, np.maximum(variance, 0) / np.maximum(variance, 0).sum(), rtol=1e-9)


def test_system_means_of_unequal_numbers_of_inputs():
    """At system level the cells and the noise count by the harmonic mean of the systems' inputs."""
    ds = runs(6, shape=(4, 40, 3))
    gone = (ds.metric == "judge") & (ds.system == "a") & xr.DataArray(np.arange(40) >= 8, dims="input")
    found = quiet(ds.assign(score=ds.score.where(~gone)), metric="judge", level="system", n_runs=[1, 5]).isel(metric=0)
    v = found.variance.to_series()
    m = statistics.harmonic_mean([8, 40, 40, 40])
    signal, noise = v["system"] + v["cell"] / m, v["residual"] / m
    np.testing.assert_allclose(found.reliability, [signal / (signal + noise / n) for n in (1, 5)], rtol=1e-9)


def true(level, v, m):
    return {
        "system": v["system"] + v["cell"] / m,
        "input": v["system"] + v["cell"],
        "global": v["system"] + v["input"] + v["cell"],
        "within_system": v["input"] + v["cell"],
    }[level]


@pytest.mark.parametrize("level", ["system", "input", "global", "within_system"])
def test_reliability_and_its_limits(level):
    ds = runs(2)
    n_runs, m = [1, 3, 7], ds.sizes["input"]
    found = quiet(ds, metric="judge", level=level, n_runs=n_runs, confidence_level=0.9).isel(metric=0)
    y = judged(ds)

    def log_ratio(y):
        v = components(y)
        return np.log(true(level, v, m) / (v["residual"] / (m if level == "system" else 1)))

    value, error = jackknifed(log_ratio, y)
    t = stats.t.ppf(0.95, m - 1)
    for name, at in (("reliability", value), ("ci_low", value - t * error), ("ci_high", value + t * error)):
        np.testing.assert_allclose(found[name], 1 / (1 + np.exp(-at) / np.array(n_runs)), rtol=1e-8)


def test_the_agreement_of_all_runs_is_that_of_their_mean():
    """Of as many runs as there are, all scores there, the closed form is the correlation of the averaged scores."""
    ds = runs(3, shape=(5, 20, 4))
    mean = ds.score.sel(metric="judge").mean("run").values
    human = ds.score.sel(metric="human").isel(run=0).values
    of_systems = quiet(ds, "human", metric="judge", level="system", n_runs=4).correlation.item()
    np.testing.assert_allclose(of_systems, np.corrcoef(mean.mean(1), human.mean(1))[0, 1], rtol=1e-10)
    within = [(each - each.mean(0)).ravel() for each in (mean, human)]
    on_inputs = quiet(ds, "human", metric="judge", level="input", n_runs=4).correlation.item()
    np.testing.assert_allclose(on_inputs, np.corrcoef(*within)[0, 1], rtol=1e-10)


def test_limits_of_the_agreement():
    ds = runs(4)
    y, human = judged(ds), ds.score.sel(metric="human").isel(run=0).values
    found = quiet(ds, "human", metric="judge", n_runs=[3]).isel(metric=0, n_runs=0)

    def pooled(y, z):
        return np.arctanh(np.corrcoef(*((each - each.mean(0)).ravel() for each in (y.mean(2), z)))[0, 1])

    value, error = jackknifed(pooled, y, human)
    t = stats.t.ppf(0.975, ds.sizes["input"] - 1)
    np.testing.assert_allclose(found.correlation_low, np.tanh(value - t * error), rtol=1e-8)
    np.testing.assert_allclose(found.correlation_high, np.tanh(value + t * error), rtol=1e-8)


def test_attenuation():
    """The closed form is Spearman's: agreement grows with the root of the reliability."""
    found = quiet(runs(5), "human", metric="judge", level="global").isel(metric=0)
    ratio = (found.correlation / found.correlation.isel(n_runs=0)) ** 2
    np.testing.assert_allclose(ratio, found.reliability / found.reliability.isel(n_runs=0), rtol=1e-10)


def test_gaps_are_left_out_input_by_input():
    """With gaps the standard errors are those of leaving inputs out of the Dataset."""
    ds = runs(6, shape=(3, 8, 3))
    gaps = np.random.default_rng(2).random(ds.score.shape) < 0.2
    ds["score"] = ds.score.where(~gaps)
    found = quiet(ds, metric="judge").variance.isel(metric=0)
    less = [quiet(ds.drop_isel(input=at), metric="judge").variance.isel(metric=0).values for at in range(8)]
    error = np.sqrt(7 / 8 * ((less - np.mean(less, axis=0)) ** 2).sum(0))
    np.testing.assert_allclose(quiet(ds, metric="judge").standard_error.isel(metric=0), error, rtol=1e-8)
    assert found.notnull().all()


def test_runs_that_are_alike():
    found = runs(7).meta.repeatability("human", metric="still").isel(metric=0)
    assert found.equal_share == 1 and found.flip_share == 0 and (found.reliability == 1).all()
    assert 0.5 < found.equal_low < 1  # each input counts as one
    assert found.ci_low.isnull().all() and (found.correlation == found.correlation[0]).all()
    assert "identical" in runs(7).meta.repeatability("human", metric="still").meta.conclusion()


def test_one_system_and_one_number_of_runs():
    ds = runs(8).isel(system=[1])
    found = quiet(ds, "human", metric="judge", n_runs=2)
    assert found.attrs["level"] == "global" and "n_runs" not in found.dims and found.flip_share.isnull()
    y = judged(ds)[0]
    ms_c, within = 3 * y.mean(1).var(ddof=1), y - y.mean(1, keepdims=True) - y.mean(0) + y.mean()
    ms_e = (within**2).sum() / (29 * 2)
    np.testing.assert_allclose(found.reliability, (ms_c - ms_e) / 3 / ((ms_c - ms_e) / 3 + ms_e / 2), rtol=1e-9)
    assert "same score" in found.meta.conclusion()


def test_further_dims_other_names_and_lazy_scores():
    both = xr.concat([runs(9), runs(10)], xr.DataArray(["en", "de"], dims="language", name="language"))
    found = quiet(both, "human")
    xr.testing.assert_allclose(found.sel(language="de", drop=True), quiet(runs(10), "human"))
    renamed = quiet(runs(9).rename(run="trial"), "human", along="trial")
    xr.testing.assert_allclose(renamed, quiet(runs(9), "human"))
    lazy = quiet(both.chunk(metric=1, input=7), "human")
    assert lazy.reliability.chunks is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        xr.testing.assert_allclose(lazy.compute(), found)


def test_units_and_order_do_not_matter():
    ds = runs(11, grades=True)
    want = quiet(ds, "human")
    shuffled = ds.isel(run=[2, 0, 1], input=np.random.default_rng(0).permutation(30))
    xr.testing.assert_allclose(quiet(shuffled, "human"), want)
    scaled = quiet(ds.assign(score=-1e60 * ds.score + 0.0), "human")
    xr.testing.assert_allclose(scaled.reliability, want.reliability)
    np.testing.assert_allclose(scaled.variance, want.variance * 1e120, rtol=1e-9)
    lower = ds.assign_coords(higher_is_better=("metric", [False, True, True]))
    np.testing.assert_allclose(quiet(lower, "human").correlation[0], -want.correlation[0], rtol=1e-9)


def test_gold_is_optional():
    found = quiet(runs().drop_sel(metric="human"))
    assert "correlation" not in found and "gold" not in found.attrs and found.attrs["runs"] == 3
    assert "expected" not in found.meta.conclusion() and "reliability" in found.meta.conclusion()


def test_refusals_and_warnings():
    ds = runs()
    with pytest.raises(ValueError, match=r"along='run' must be the dim .* score has no additional dim; .*run='column'"):
        ds.isel(run=0).meta.repeatability("human")
    with pytest.raises(ValueError, match=r"score must have 2 or more runs along 'run', got 1"):
        ds.isel(run=[0]).meta.repeatability("human")
    with pytest.raises(ValueError, match="n_runs"):
        ds.meta.repeatability("human", n_runs=0)
    with pytest.raises(ValueError, match="n_runs is an empty list"):
        ds.meta.repeatability("human", n_runs=[])
    with pytest.raises(ValueError, match="level='input' correlates over systems"):
        ds.isel(system=[0]).meta.repeatability("human", level="input")
    with pytest.raises(ValueError, match="metric names only the human scores"):
        ds.meta.repeatability("human", metric="human")
    with pytest.raises(ValueError, match="squares are too large"):
        (ds * 1e200).meta.repeatability("human")
    alone = ds.score.where(xr.DataArray(np.arange(30) % 3, dims="input") == xr.DataArray(np.arange(3), dims="run"))
    with pytest.warns(UserWarning, match="no reliability, because runs and outputs .* 'judge'"):
        ds.assign(score=alone).meta.repeatability(metric="judge")
    noise = runs(shape=(4, 4, 2))
    noise["score"] = noise.score.copy(data=np.random.default_rng(5).normal(size=noise.score.shape))
    with pytest.warns(UserWarning, match=r"the estimate of a variance is negative, for|no interval of the reliability"):
        noise.meta.repeatability(metric="judge")


def test_in_words():
    found = runs(12, grades=True).meta.repeatability("human", metric=["judge"])
    said = found.meta.conclusion()
    one, ten = found.isel(metric=0, n_runs=0), found.isel(metric=0, n_runs=-1)
    assert f"in {100 * float(one.flip_share):.0f} %" in said and "these 4 systems on inputs like these" in said
    assert f"single run is {float(one.reliability):.2f}".replace("0.", ".") in said
    assert f"from {float(one.correlation):.2f} to {float(ten.correlation):.2f}".replace("0.", ".") in said
    assert "runs err independently" in said
    assert "3 times" in found.meta.methods() and "jackknife" in found.meta.methods()
    frame = found.meta.to_frame(brief=True)
    assert list(frame.columns)[:5] == ["metric", "n_runs", "reliability", "ci_low", "ci_high"] and len(frame) == 5
    assert "reliability" in found.meta.to_markdown()


@pytest.mark.slow
def test_coverage():
    """Limits of flips, reliability and agreement; of these systems, inputs being random."""
    held, trials = np.zeros(3), 150
    rng = np.random.default_rng(0)
    offsets = rng.normal(size=4)
    quality = offsets[:, None] + rng.normal(size=(4, 100_000))
    twice = quality + rng.normal(size=(2, 4, 100_000))
    order = np.array([[x[a] > x[b] for a in range(4) for b in range(a)] for x in twice])
    flips = np.mean(order[0] != order[1])
    between = offsets.var(ddof=1) + 1
    want, r = between / (between + 1), between / np.sqrt((between + 0.5) * (between + 1))
    for _ in range(trials):
        quality = offsets[:, None] + rng.normal(size=(1, 60)) + rng.normal(size=(4, 60))
        judge = quality[..., None] + rng.normal(size=(4, 60, 3))
        human = (quality + np.sqrt(0.5) * rng.normal(size=(4, 60)))[..., None].repeat(3, 2)
        ds = xr.Dataset({"score": (("metric", *CELLS), np.array([judge, human]))}, {"metric": ["judge", "human"]})
        found = quiet(ds, "human", n_runs=1).isel(metric=0)
        held += [
            float(found.ci_low) <= want <= float(found.ci_high),
            float(found.correlation_low) <= r <= float(found.correlation_high),
            float(found.flip_low) <= flips <= float(found.flip_high),
        ]
    assert (held / trials > 0.9).all()


@pytest.mark.parametrize(("systems", "level"), [(1, "global"), (2, "input")])
def test_two_systems_are_compared_within_inputs(systems, level):
    ds = runs(2, shape=(systems, 30, 3))
    found, asked = quiet(ds, "human"), quiet(ds, "human", level=level)
    assert found.attrs["level"] == level
    np.testing.assert_array_equal(found.reliability, asked.reliability)
