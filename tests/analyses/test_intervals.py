import numpy as np
import pytest
import reference
import scipy.stats
import xarray as xr
from conftest import warns
from helpers import LEVELS, rows

from xsumstat.inference.intervals import bca_interval, bootstrap_interval, corrected_interval
from xsumstat.resampling import draws

# --- intervals ---


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("resample", ["both", "system", "input", ("input", "system")])
def test_ci_summarises_the_samples_of_the_twin(small, level, resample):
    with np.errstate(all="ignore"):
        got = small.meta.ci(
            "m0",
            metric="m2",
            level=level,
            coefficient="kendall",
            resample=resample,
            n_resamples=60,
            rng=3,
            keep_samples=True,
        )
    dims = ("system", "input") if resample in ("both", ("input", "system")) else (resample,)
    x, z = (rows(small.score.sel(metric=m).values) for m in ("m2", "m0"))
    w, v = draws.counts(3, "system", 6, 0), draws.counts(3, "input", 5, 0)
    want = []
    for s in range(60):
        i = w[s] if "system" in dims else [1] * 6
        j = v[s] if "input" in dims else [1] * 5
        want.append(reference.correlation("kendall", reference.drawn(x, i, j), reference.drawn(z, i, j), level))
    want = np.array(want)
    np.testing.assert_allclose(got.samples.sel(metric="m2"), want, atol=1e-12)
    assert int(got.n_undefined[0]) == np.isnan(want).sum()
    want = want[~np.isnan(want)]
    low, high = np.percentile(want, [2.5, 97.5])
    summary = [float(got[name][0]) for name in ("ci_low", "ci_high", "standard_error")]
    assert summary == pytest.approx([low, high, want.std(ddof=1)], abs=1e-12)
    assert float(got.correlation[0]) == pytest.approx(reference.correlation("kendall", x, z, level), abs=1e-12)


def test_all_metrics_and_labels_see_the_same_draws(small):
    whole = small.meta.ci("m0", n_resamples=50, rng=4, keep_samples=True)
    alone = small.meta.ci("m0", metric=["m3"], n_resamples=50, rng=4, keep_samples=True)
    turned = small.meta.ci("m0", metric=["m3", "m2", "m1"], n_resamples=50, rng=4, keep_samples=True)
    np.testing.assert_array_equal(whole.samples.sel(metric="m3"), alone.samples.sel(metric="m3"))
    np.testing.assert_array_equal(whole.samples, turned.samples.sel(metric=whole.metric))
    doubled = xr.concat([small, small], "language").meta.ci("m0", n_resamples=50, rng=4, keep_samples=True)
    np.testing.assert_array_equal(doubled.samples.isel(language=1), doubled.samples.isel(language=0))


@pytest.mark.ignore_codes("resamples_undefined")  # some seeds, none is given
def test_the_seed_in_the_result_gives_the_result_again(small):
    first = small.meta.ci("m0", method="bootstrap", n_resamples=50)
    again = small.meta.ci("m0", method="bootstrap", n_resamples=50, rng=int(first.attrs["seed"]))
    xr.testing.assert_identical(first, again)


def test_a_generator_moves_on(small):
    rng = np.random.default_rng(1)
    first, second = (small.meta.ci("m0", method="bootstrap", n_resamples=50, rng=rng) for _ in range(2))
    assert not first.ci_low.equals(second.ci_low)


def test_undefined_resamples_are_counted_and_warned_of(small):
    rare = small.isel(system=slice(5), input=slice(2))
    rare.score[0] = [[1, 1], [1, 1], [1, 1], [1, 1], [2, 2]]  # constant whenever s4 is not drawn
    with warns("resamples_undefined", " 500 .* for 'm1'"):
        got = rare.meta.ci("m0", metric="m1", method="bootstrap", resample="system", n_resamples=500, rng=0)
    assert int(got.n_undefined[0]) == pytest.approx(500 * 0.8**5, abs=50)
    assert np.isfinite(got.ci_low).all()


@pytest.mark.ignore_codes("resamples_undefined")  # some seeds, none is given
def test_kept_samples_are_there_only_when_asked_for(small):
    assert "samples" not in small.meta.ci("m0", method="bootstrap", n_resamples=20)
    assert small.meta.ci("m0", n_resamples=20, keep_samples=True).samples.dims == ("metric", "resample")


@pytest.mark.parametrize("interval", ["percentile", "basic", "normal"])
def test_intervals_of_a_long_run_bracket_the_estimate(demo, interval):
    got = demo.meta.ci("human", level="input", interval=interval, n_resamples=999, rng=0)
    assert ((got.ci_low < got.correlation) & (got.correlation < got.ci_high)).all()
    wider = demo.meta.ci("human", level="input", interval=interval, n_resamples=999, rng=0, confidence_level=0.99)
    assert ((wider.ci_low < got.ci_low) & (got.ci_high < wider.ci_high)).all()


@pytest.mark.ignore_codes("outputs_alike")
@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_fisher_uses_the_systems_or_the_cells(small, name):
    sizes = {"system": 6, "input": 6, "global": 30, "within_system": 5}
    for level, n in sizes.items():
        got = small.meta.ci("m0", metric="m2", method="fisher", level=level, coefficient=name)
        r = float(got.correlation[0])
        lost, factor = {"pearson": (3, 1), "spearman": (3, np.sqrt(1 + r * r / 2)), "kendall": (4, np.sqrt(0.437))}[
            name
        ]
        reach = scipy.stats.norm.ppf(0.975) * factor / np.sqrt(n - lost)
        want = np.tanh(np.arctanh(r) + np.array([-reach, reach]))
        np.testing.assert_allclose([got.ci_low[0], got.ci_high[0]], want, atol=1e-12)


def test_fisher_where_n_is_too_small(small):
    few = small.isel(system=slice(5), input=slice(4))
    with pytest.warns(UserWarning, match="no Fisher interval, which needs 5 inputs, for"):
        got = few.meta.ci("m0", method="fisher", level="within_system", coefficient="kendall")
    assert np.isnan(got.ci_low).all() and np.isfinite(got.correlation).all()
    enough = small.isel(system=slice(5), input=slice(5))
    assert np.isfinite(enough.meta.ci("m0", method="fisher", level="within_system", coefficient="kendall").ci_low).all()


# --- bad keywords ---


@pytest.mark.parametrize(
    "keywords, error, message",
    [
        (
            {"level": "summary"},
            ValueError,
            "level must be one of 'system', 'input', 'global', 'within_system', got 'summary'",
        ),
        (
            {"coefficient": "pearsons"},
            ValueError,
            r"coefficient must be one of .* got 'pearsons'; did you mean 'pearson'\?",
        ),
        ({"confidence_level": 1.5}, ValueError, "confidence_level must lie strictly between 0 and 1, got 1.5"),
        ({"confidence_level": 95}, ValueError, "confidence_level must lie strictly between 0 and 1, got 95"),
        ({"confidence_level": "high"}, TypeError, "confidence_level must be a number between 0 and 1, got 'high'"),
        ({"n_resamples": 0}, ValueError, "n_resamples must be at least 2, got 0"),
        ({"n_resamples": 1e4}, TypeError, "n_resamples must be a whole number, got 10000.0"),
        ({"n_resamples": True}, TypeError, "n_resamples must be a whole number, got True"),
        (
            {"resample": "systems"},
            ValueError,
            r"resample must be 'auto', 'both' or names among .* got 'systems'; did you mean 'system'\?",
        ),
        ({"resample": ()}, ValueError, "resample must be 'auto', 'both' or names among"),
        ({"resample": 3}, TypeError, "resample must be 'auto', 'both' or names among"),
        ({"resample": ("system", "system")}, ValueError, "resample must be"),
        ({"method": "bayes"}, ValueError, "method must be one of 'auto', 'jackknife', 'bootstrap', 'fisher', got"),
        ({"interval": "bc"}, ValueError, "interval must be one of .* got 'bc'; did you mean 'bca'"),
        ({"missing": "listwise"}, ValueError, "missing must be one of 'pairwise', 'available'"),
        ({"undefined": "nan"}, ValueError, "undefined must be one of 'drop', 'zero'"),
        ({"method": "fisher", "n_resamples": "x"}, TypeError, "n_resamples must be a whole number, got 'x'"),
        ({"method": "fisher", "interval": "x"}, ValueError, "interval must be one of"),
        ({"keep_samples": 1}, TypeError, "keep_samples must be True or False, got 1"),
        ({"progress": "yes"}, TypeError, "progress must be True or False"),
        ({"rng": "seed"}, TypeError, "rng must be None, an int"),
        (
            {"method": "fisher", "coefficient": "kendall_a"},
            ValueError,
            "method='fisher' needs a coefficient among 'pearson'",
        ),
        ({"method": "fisher", "keep_samples": True}, ValueError, "keep_samples=True needs method='bootstrap'"),
    ],
)
def test_bad_keywords_of_ci(small, keywords, error, message):
    with pytest.raises(error, match=message):
        small.meta.ci("m0", **keywords)


# --- bca ---


@pytest.mark.parametrize(
    "level, name, resample",
    [
        ("system", "pearson", "both"),
        ("system", "pearson", "system"),
        ("input", "kendall", "both"),
        ("input", "kendall", "system"),
        ("global", "spearman", "both"),
        ("global", "spearman", "input"),
    ],
)
def test_bca_by_the_book(small, level, name, resample):
    """Efron's formula with SciPy's normal distribution, and labels that are really left out."""
    small = small.assign(score=small.score + 0.01 * np.arange(30.0).reshape(6, 5) ** 1.5)
    settings = {"level": level, "coefficient": name}
    got = small.meta.ci("m0", interval="bca", resample=resample, n_resamples=2000, rng=1, keep_samples=True, **settings)
    assert got.fell_back.dtype == bool and not got.fell_back.any()
    without = [
        [small.drop_sel({dim: label}).meta.corr("m0", **settings).correlation for label in small[dim].values]
        for dim in (("system", "input") if resample == "both" else (resample,))
    ]
    for metric in ("m1", "m2", "m3"):
        cell = got.sel(metric=metric)
        estimate = float(cell.correlation)
        influence = []
        for of_dim in without:
            left = [float(each.sel(metric=metric)) for each in of_dim]
            influence += [(len(left) - 1) / len(left) * (np.mean(left) - each) for each in left]
        a = np.sum(np.power(influence, 3)) / (6 * np.sum(np.power(influence, 2)) ** 1.5)
        samples = cell.samples.values[~np.isnan(cell.samples.values)]
        tied = abs(samples - estimate) <= 1e-12
        z_0 = scipy.stats.norm.ppf(np.mean((samples < estimate) & ~tied) + np.mean(tied) / 2)
        for tail, limit in ((0.025, cell.ci_low), (0.975, cell.ci_high)):
            z = z_0 + scipy.stats.norm.ppf(tail)
            want = np.quantile(samples, scipy.stats.norm.cdf(z_0 + z / (1 - a * z)))
            assert float(limit) == pytest.approx(want, abs=1e-9)


@pytest.mark.slow
def test_bca_has_scipys_distribution():
    """One sample of pairs is a table of one input: SciPy's interval from as many draws of its own."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=40)
    z = x + np.exp(rng.normal(size=40))
    theirs = scipy.stats.bootstrap(
        (x, z),
        lambda a, b: scipy.stats.pearsonr(a, b).statistic,
        paired=True,
        vectorized=False,
        n_resamples=9999,
        rng=1,
    ).confidence_interval
    ds = xr.Dataset({"score": (("metric", "system", "input"), np.array([z, x])[:, :, None])}, {"metric": ["z", "x"]})
    ours = ds.meta.ci("z", resample="system", interval="bca", rng=1)
    assert float(ours.ci_low[0]) == pytest.approx(theirs.low, abs=0.02)
    assert float(ours.ci_high[0]) == pytest.approx(theirs.high, abs=0.01)


@pytest.mark.ignore_codes("resamples_undefined")
def test_bca_falls_back_where_it_is_not_defined(small):
    """A perfect correlation: no sample lies below it, and leaving a label out changes nothing."""
    score = small.score.copy(deep=True)
    score[1] = 2 * score[0] + 1
    both = {"method": "bootstrap", "n_resamples": 200, "rng": 1}
    ds = small.assign(score=score)
    with pytest.warns(UserWarning, match="percentile interval instead of BCa, for 'm1'"):
        got = ds.meta.ci("m0", metric=["m1", "m2"], interval="bca", **both)
    assert got.fell_back.values.tolist() == [True, False]
    want = ds.meta.ci("m0", metric=["m1", "m2"], **both)
    assert float(got.ci_low[0]) == float(want.ci_low[0]) and float(got.ci_low[1]) != float(want.ci_low[1])


def test_lazy_bca_equals_eager_bca(small):
    settings = {"interval": "bca", "n_resamples": 1500, "rng": 1, "level": "input"}
    got = small.chunk(metric=1).meta.ci("m0", **settings)
    xr.testing.assert_identical(got.compute(), small.meta.ci("m0", **settings))


# --- corrected ---


@pytest.mark.ignore_codes("fell_back")
@pytest.mark.parametrize("level, name", [("system", "pearson"), ("input", "kendall"), ("global", "spearman")])
@pytest.mark.parametrize("other", [None, "m3"])
def test_corrected_scales_the_percentile_interval(small, level, name, other):
    """Three bootstraps of the same seed: V = 2(V_system + V_input) - V_both, no less than either."""
    settings = {
        "level": level,
        "coefficient": name,
        "metric": ["m1", "m2"],
        "other": other,
        "n_resamples": 300,
        "rng": 4,
    }
    got = small.meta.ci("m0", interval="corrected", keep_samples=True, **settings)
    both, system, inputs = (
        small.meta.ci("m0", resample=dims, keep_samples=True, **settings) for dims in ("both", "system", "input")
    )
    np.testing.assert_array_equal(got.samples, both.samples)
    estimate = got["correlation" if other is None else "difference"]
    v_both, v_system, v_input = (each.samples.std("resample", ddof=1) ** 2 for each in (both, system, inputs))
    variance = 2 * (v_system + v_input) - v_both
    least = np.maximum(v_system, v_input)
    np.testing.assert_array_equal(got.fell_back, variance < least)
    want = np.sqrt(np.maximum(variance, least))
    np.testing.assert_allclose(got.standard_error, want, rtol=1e-9)
    for limit in ("ci_low", "ci_high"):
        scaled = estimate + (both[limit] - estimate) * want / np.sqrt(v_both)
        np.testing.assert_allclose(got[limit], scaled, atol=1e-12)


@pytest.mark.slow
def test_corrected_counts_cell_noise_once():
    """For a mean of cells the variance is known: the bootstrap of both dims counts its cell noise three times."""
    rng = np.random.default_rng(0)
    n, m, sds = 20, 30, (0.3, 0.2, 1.5)
    systems = rng.multinomial(n, np.full(n, 1 / n), 1000) / n
    inputs = rng.multinomial(m, np.full(m, 1 / m), 1000) / m
    plain, corrected = [], []
    for _ in range(400):
        cells = sum(sd * rng.normal(size=shape) for sd, shape in zip(sds, ((n, 1), (1, m), (n, m)), strict=True))
        both = ((systems @ cells) * inputs).sum(1)
        samples = both, (systems @ cells).mean(1), (cells @ inputs.T).mean(0)
        plain.append(both.var())
        corrected.append(corrected_interval(cells.mean(), *samples, confidence_level=0.95)[2] ** 2)
    noise = sds[2] ** 2 / (n * m)
    effects = sds[0] ** 2 * (1 - 1 / n) / n + sds[1] ** 2 * (1 - 1 / m) / m
    assert np.mean(plain) == pytest.approx(effects + ((2 - 1 / n) * (2 - 1 / m) - 1) * noise, rel=0.04)
    assert np.mean(corrected) == pytest.approx(effects + noise, rel=0.04)


def test_corrected_falls_back(small):
    wide, narrow, none = np.array([-2.0, 2.0, 0.0]), np.array([-1.0, 1.0, 0.0]), np.zeros(3)
    nan = np.full(3, np.nan)
    percentile = bootstrap_interval(0.0, wide, "percentile", 0.9)
    assert corrected_interval(0.0, wide, none, none, confidence_level=0.9) == (*percentile, True)
    assert corrected_interval(0.0, wide, nan, narrow, confidence_level=0.9) == (*percentile, True)
    half = corrected_interval(0.0, wide, narrow, none, confidence_level=0.9)
    assert half == (percentile[0] / 2, percentile[1] / 2, percentile[2] / 2, True)
    assert np.isnan(corrected_interval(np.nan, wide, wide, wide, confidence_level=0.9)[:3]).all()
    with pytest.raises(ValueError, match="interval='corrected' sets draws of both dims against .* resample='system'"):
        small.meta.ci("m0", interval="corrected", resample="system")


# --- differences ---


@pytest.mark.parametrize("missing", ["pairwise", "available"])
@pytest.mark.parametrize("level", LEVELS)
def test_a_difference_is_that_of_the_paired_bootstrap(small, level, missing):
    """On the cells that both metrics have, with the same draws; its interval is that of those samples."""
    settings = {"level": level, "missing": missing, "n_resamples": 200, "rng": 5, "keep_samples": True}
    got = small.meta.ci("m0", other=["m1", "m2", "m3"], **settings)
    test = small.meta.boot_test("m0", **settings)
    assert got.difference.dims == ("metric", "other_metric")
    np.testing.assert_array_equal(got.difference, test.difference)
    np.testing.assert_array_equal(got.samples, test.samples)
    np.testing.assert_array_equal(got.n_undefined, test.n_undefined)
    for a, b in (("m1", "m3"), ("m3", "m1"), ("m2", "m1")):
        cell = got.sel(metric=a, other_metric=b)
        defined = cell.samples.values[~np.isnan(cell.samples.values)]
        np.testing.assert_allclose([cell.ci_low, cell.ci_high], np.quantile(defined, [0.025, 0.975]), atol=1e-12)
        assert float(cell.standard_error) == pytest.approx(np.std(defined, ddof=1), rel=1e-9)
    assert np.isnan(got.ci_low.sel(metric="m1", other_metric="m1"))


def test_bca_of_a_difference(demo):
    """The jackknife of a difference is the difference of the jackknives."""
    demo = demo.isel(input=slice(9))
    settings = {"level": "input", "coefficient": "kendall"}
    got = demo.meta.ci(
        "human", metric="judge", other="rouge", interval="bca", n_resamples=500, rng=1, keep_samples=True, **settings
    )

    def difference(ds):
        r = ds.meta.corr("human", metric=["judge", "rouge"], **settings).correlation.values
        return r[0] - r[1]

    left_out = [
        np.array([difference(demo.drop_sel({dim: label})) for label in demo[dim].values]) for dim in ("system", "input")
    ]
    samples = got.samples.values.ravel()
    want = bca_interval(difference(demo), samples, left_out, 0.95)
    np.testing.assert_allclose([got.ci_low.item(), got.ci_high.item()], want[:2], atol=1e-9)
    assert not got.fell_back.any()


@pytest.mark.ignore_codes("fell_back")
@pytest.mark.parametrize("keywords", [{"interval": "corrected"}, {"other": ["m1", "m3"], "interval": "bca"}])
def test_lazy_intervals_equal_eager_ones(small, keywords):
    settings = {"n_resamples": 1500, "rng": 1, "level": "input", "keep_samples": True, **keywords}
    got = small.chunk(metric=1).meta.ci("m0", **settings)
    xr.testing.assert_identical(got.compute(), small.meta.ci("m0", **settings))


@pytest.mark.ignore_codes("fewer_labels")
def test_a_pair_without_a_common_cell_has_no_interval_and_that_is_said(small):
    small.score[1, :, :3] = small.score[2, :, 3:] = np.nan
    with pytest.warns(UserWarning, match="undefined difference for 'm1 and m2'"):
        got = small.meta.ci("m0", metric="m1", other=["m2", "m3"], method="bootstrap", n_resamples=20, rng=0)
    assert np.isnan(got.ci_low.sel(other_metric="m2")) and np.isfinite(got.ci_low.sel(other_metric="m3"))


def test_bad_keywords_of_differences(small):
    with pytest.raises(ValueError, match=r"unknown other 'm9'; did you mean"):
        small.meta.ci("m0", other="m9")
    with pytest.raises(ValueError, match="name only one"):
        small.meta.ci("m0", metric="m1", other="m1")
    with pytest.raises(ValueError, match=r"no interval for a difference \(other=\); corr_test"):
        small.meta.ci("m0", other="m1", method="fisher")


def test_an_interval_that_does_not_hold_the_estimate_is_warned_of():
    """Copies of a system are pairs that no metric orders, so that resamples of a perfect accuracy are all below it."""
    score = np.arange(12.0)[:, None] * np.array([1.0, 2.0])[:, None, None] + np.zeros(5)
    perfect = xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": ["m", "gold"]})
    with pytest.warns(UserWarning, match="the resamples are biased: intervals do not contain the estimate.*'m'"):
        perfect.meta.ci("gold", coefficient="pairwise_accuracy", method="bootstrap", n_resamples=99, rng=0)
