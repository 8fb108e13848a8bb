import numpy as np
import pytest
import reference
import scipy.stats
import xarray as xr
from helpers import LEVELS, NAMES, rows
from nlpstats.correlations import bootstrap as nlp_bootstrap
from nlpstats.correlations import fisher as nlp_fisher
from nlpstats.correlations.correlations import correlate as nlp_correlate

from xsumstat import _draws


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_corr_of_every_metric(small, level, name):
    got = small.meta.corr("m0", level=level, coefficient=name)
    z = rows(small.score.sel(metric="m0").values)
    want = [reference.correlation(name, rows(small.score.sel(metric=m).values), z, level) for m in ("m1", "m2", "m3")]
    np.testing.assert_allclose(got.correlation, want, atol=1e-12)
    assert got.correlation.dims == ("metric",)


def test_further_dims_of_score_and_of_gold_broadcast_by_name(small):
    by_language = xr.concat(
        [small, small.isel(input=slice(None, None, -1)).assign_coords(input=small.input)], "language"
    )
    by_language = by_language.assign_coords(language=["en", "de"]).transpose("input", "language", "system", "metric")
    gold = small.score.sel(metric=["m0", "m1"]).rename(metric="quality").transpose("system", "quality", "input")
    got = by_language.meta.corr(gold, metric=["m2", "m3"], level="input", coefficient="kendall")
    assert set(got.correlation.dims) == {"metric", "language", "quality"}
    for language in (0, 1):
        for quality in ("m0", "m1"):
            one = by_language.isel(language=language).assign(gold=gold.sel(quality=quality))
            want = one.meta.corr("gold", metric=["m2", "m3"], level="input", coefficient="kendall").correlation
            here = got.correlation.isel(language=language).sel(quality=quality)
            np.testing.assert_array_equal(here.transpose("metric"), want)


def test_a_gold_in_every_language_is_matched_with_its_own(small):
    by_language = xr.concat([small, small + 0.3 * small**2], "language").assign_coords(language=["en", "de"])
    got = by_language.meta.corr("m0", level="system").correlation
    for language in ("en", "de"):
        want = by_language.sel(language=language).meta.corr("m0").correlation
        np.testing.assert_allclose(got.sel(language=language), want, atol=1e-15)


def test_ratings_with_raters_give_one_result_a_rater(small):
    rating = xr.concat([small.score.sel(metric="m0", drop=True) + at for at in (0, 1, 2)], "rater")
    got = small.assign(rating=rating).meta.corr("rating", level="global")
    assert got.correlation.sizes == {"metric": 4, "rater": 3}


@pytest.mark.parametrize("level, dim", [("input", "input"), ("within_system", "system")])
def test_groups_and_their_p_values(small, level, dim):
    got = small.meta.corr("m0", level=level, coefficient="kendall", average=False)
    assert got.correlation.dims == got.pvalue.dims == ("metric", dim)
    other = "system" if dim == "input" else "input"
    for label in small[dim].values:
        x, z = (small.score.sel({dim: label, "metric": m}).transpose(other).values for m in ("m2", "m0"))
        want = scipy.stats.kendalltau(x, z)
        assert float(got.correlation.sel(metric="m2", **{dim: label})) == pytest.approx(want.statistic, nan_ok=True)
        assert float(got.pvalue.sel(metric="m2", **{dim: label})) == pytest.approx(want.pvalue, nan_ok=True)
    averaged = small.meta.corr("m0", level=level, coefficient="kendall")
    np.testing.assert_allclose(got.correlation.mean(dim), averaged.correlation, atol=1e-14)
    np.testing.assert_array_equal(np.isnan(got.correlation).sum(dim), averaged.n_undefined)


@pytest.mark.parametrize("level", ["system", "global"])
def test_one_group_has_a_p_value_too(small, level):
    got = small.meta.corr("m0", level=level, coefficient="spearman", average=False)
    if level == "system":
        x, z = small.score.sel(metric=["m2", "m0"]).mean("input").values
    else:
        x, z = small.score.sel(metric=["m2", "m0"]).values.reshape(2, -1)
    want = scipy.stats.spearmanr(x, z)
    assert float(got.correlation.sel(metric="m2")) == pytest.approx(want.statistic)
    assert float(got.pvalue.sel(metric="m2")) == pytest.approx(want.pvalue)


def test_undefined_groups_are_dropped_or_zero_and_counted(small):
    small.score[0, :, 1] = 2.0
    drop = small.meta.corr("m0", level="input", coefficient="kendall")
    zero = small.meta.corr("m0", level="input", coefficient="kendall", undefined="zero")
    assert (drop.n_undefined >= 1).all()
    defined = 5 - drop.n_undefined
    np.testing.assert_allclose(zero.correlation, drop.correlation * defined / 5, atol=1e-15)


def test_a_correlation_without_a_defined_group_is_nan_and_said(small):
    small.score[0] = np.arange(5.0)  # constant within each input
    with pytest.warns(UserWarning, match="undefined, as no group has two scores that both vary: 'm1', 'm2', 'm3'"):
        got = small.meta.corr("m0", level="input")
    assert np.isnan(got.correlation).all()
    assert (got.n_undefined == 5).all()


@pytest.mark.parametrize("function, hint", [(scipy.stats.kendalltau, "'kendall'"), (scipy.stats.pearsonr, "'pearson'")])
def test_a_function_that_returns_no_number(small, function, hint):
    message = f"coefficient '{function.__name__}' must return a number, it returned .*; did you mean coefficient={hint}"
    with pytest.raises(TypeError, match=message):
        small.meta.corr("m0", coefficient=function)
    with pytest.raises(TypeError, match="must return a number, it returned NoneType$"):
        small.meta.corr("m0", coefficient=lambda x, z: None)


def test_one_label_cannot_be_resampled(small):
    with pytest.raises(ValueError, match="resample='input' has only one label to draw, so that nothing can vary"):
        small.isel(input=[0]).meta.ci("m0", resample="input")
    with pytest.raises(ValueError, match="resample='input' has only one label"):
        small.isel(input=[0]).meta.perm_test("m0", resample="input")
    assert np.isfinite(small.isel(input=[0]).meta.ci("m0", n_resamples=20, rng=0).ci_low).all()


def test_a_function_of_the_user(small):
    got = small.meta.corr("m0", level="input", coefficient=lambda x, z: float(np.abs(x - z).mean()))
    want = abs(small.score[1:] - small.score[0].drop_vars("metric")).mean(["system", "input"])
    np.testing.assert_allclose(got.correlation, want, atol=1e-12)
    assert got.attrs["coefficient"] == "<lambda>"


@pytest.mark.parametrize("level", LEVELS)
def test_metric_corr_is_corr_with_each_metric_as_gold(small, level):
    got = small.meta.metric_corr(level=level, coefficient="spearman")
    assert got.correlation.dims == ("metric", "other_metric")
    for gold in small.metric.values:
        want = small.meta.corr(gold, metric=list(small.metric.values), level=level, coefficient="spearman")
        np.testing.assert_allclose(got.correlation.sel(other_metric=gold), want.correlation, atol=1e-14)
    np.testing.assert_array_equal(got.correlation, got.correlation.transpose("other_metric", "metric"))
    assert list(got.kind.values) == list("habc")


def test_metric_corr_keeps_groups(small):
    got = small.meta.metric_corr(metric=["m1", "m3"], level="input", coefficient="kendall", average=False)
    assert got.correlation.dims == got.pvalue.dims == ("metric", "other_metric", "input")
    want = small.meta.corr("m1", metric="m3", level="input", coefficient="kendall", average=False)
    np.testing.assert_array_equal(got.pvalue.sel(metric="m3", other_metric="m1"), want.pvalue.sel(metric="m3"))


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
    w, v = _draws.counts(3, "system", 6, 0), _draws.counts(3, "input", 5, 0)
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


def test_the_seed_in_the_result_gives_the_result_again(small):
    first = small.meta.ci("m0", n_resamples=50)
    again = small.meta.ci("m0", n_resamples=50, rng=int(first.attrs["seed"]))
    xr.testing.assert_identical(first, again)


def test_a_generator_moves_on(small):
    rng = np.random.default_rng(1)
    first, second = (small.meta.ci("m0", n_resamples=50, rng=rng) for _ in range(2))
    assert not first.ci_low.equals(second.ci_low)


def test_undefined_resamples_are_counted_and_warned_of(small):
    rare = small.isel(system=slice(5), input=slice(2))
    rare.score[0] = [[1, 1], [1, 1], [1, 1], [1, 1], [2, 2]]  # constant whenever s4 is not drawn
    with pytest.warns(UserWarning, match="more than 5 % of the 500 resamples are undefined, and left out, for 'm1'"):
        got = rare.meta.ci("m0", metric="m1", resample="system", n_resamples=500, rng=0)
    assert int(got.n_undefined[0]) == pytest.approx(500 * 0.8**5, abs=50)
    assert np.isfinite(got.ci_low).all()


def test_kept_samples_are_there_only_when_asked_for(small):
    assert "samples" not in small.meta.ci("m0", n_resamples=20)
    assert small.meta.ci("m0", n_resamples=20, keep_samples=True).samples.dims == ("metric", "resample")


@pytest.mark.parametrize("interval", ["percentile", "basic", "normal"])
def test_intervals_of_a_long_run_bracket_the_estimate(demo, interval):
    got = demo.meta.ci("human", level="input", interval=interval, n_resamples=999, rng=0)
    assert ((got.ci_low < got.correlation) & (got.correlation < got.ci_high)).all()
    wider = demo.meta.ci("human", level="input", interval=interval, n_resamples=999, rng=0, confidence_level=0.99)
    assert ((wider.ci_low < got.ci_low) & (got.ci_high < wider.ci_high)).all()


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
    got = few.meta.ci("m0", method="fisher", level="within_system", coefficient="kendall")
    assert np.isnan(got.ci_low).all() and np.isfinite(got.correlation).all()


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
            r"resample must be 'both' or names among .* got 'systems'; did you mean 'system'\?",
        ),
        ({"resample": ()}, ValueError, "resample must be 'both' or names among"),
        ({"resample": 3}, TypeError, "resample must be 'both' or names among"),
        ({"resample": ("system", "system")}, ValueError, "resample must be"),
        ({"method": "bayes"}, ValueError, "method must be one of 'bootstrap', 'fisher', got 'bayes'"),
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


def test_bad_keyword_of_corr(small):
    with pytest.raises(TypeError, match="average must be True or False, got 0"):
        small.meta.corr("m0", average=0)


# --- beside nlpstats ---

# Values that nlpstats's own tests state for these matrices.
A = np.array([[1, 9, 2], [4, 5, 2], [6, 7, 1]])
B = np.array([[11, 12, 13], [14, 15, 16], [17, 18, 19]])
STATED = {
    ("system", "pearson"): 0.6546536707,
    ("input", "pearson"): -0.124208712,
    ("global", "pearson"): 0.0,
    ("system", "spearman"): 0.5,
    ("input", "spearman"): -0.1220084679,
    ("global", "spearman"): 0.04201829034,
    ("system", "kendall"): 0.33333333333,
    ("input", "kendall"): -0.0499433047,
    ("global", "kendall"): 0.11433239009,
}


def as_dataset(*matrices):
    labels = [f"m{at}" for at in range(len(matrices))]
    return xr.Dataset({"score": (("metric", "system", "input"), np.array(matrices, float))}, coords={"metric": labels})


@pytest.mark.filterwarnings("ignore:only 3 systems")
@pytest.mark.parametrize("level, name", STATED)
def test_values_that_nlpstats_states(level, name):
    got = as_dataset(B, A).meta.corr("m0", level=level, coefficient=name).correlation
    assert float(got[0]) == pytest.approx(STATED[level, name], abs=1e-9)


@pytest.mark.parametrize("level", ["system", "input", "global"])
@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_nlpstats_on_random_complete_data(level, name):
    x, z = np.random.default_rng(41).normal(size=(2, 9, 14))
    ds = as_dataset(z, x)
    assert float(ds.meta.corr("m0", level=level, coefficient=name).correlation[0]) == pytest.approx(
        nlp_correlate(x, z, level, name), abs=1e-12
    )
    ours, theirs = ds.meta.ci("m0", method="fisher", level=level, coefficient=name), nlp_fisher(x, z, level, name)
    np.testing.assert_allclose([ours.ci_low[0], ours.ci_high[0]], [theirs.lower, theirs.upper], atol=1e-12)


@pytest.mark.parametrize("method, resample", [("systems", "system"), ("inputs", "input"), ("both", "both")])
def test_nlpstats_bootstrap_has_the_same_distribution(method, resample):
    x, z = np.random.default_rng(42).normal(size=(2, 8, 10))
    x += z
    np.random.seed(0)  # noqa: NPY002 - nlpstats draws from the global state
    theirs = nlp_bootstrap(x, z, "input", "pearson", method, n_resamples=1500).samples
    ours = as_dataset(z, x).meta.ci("m0", level="input", resample=resample, n_resamples=5000, rng=0, keep_samples=True)
    assert scipy.stats.ks_2samp(theirs, ours.samples.values[0]).pvalue > 1e-3


def test_where_nlpstats_refuses_and_we_follow_the_definition():
    """It demands the same missing cells in both; we compare the cells where both are."""
    x, z = np.random.default_rng(43).normal(size=(2, 7, 5))
    x[0, 0] = np.nan
    with pytest.raises(ValueError, match="identical NaN"):
        nlp_correlate(x, z, "input", "kendall")
    got = as_dataset(z, x).meta.corr("m0", level="input", coefficient="kendall").correlation
    assert float(got[0]) == pytest.approx(reference.correlation("kendall", rows(x), rows(z), "input"), abs=1e-12)


def test_where_nlpstats_breaks_ties_by_rounding():
    """Means that are equal but for rounding count as different there."""
    x = np.array([[0.1, 0.2], [0.3, 0.0], [0.9, 0.1], [0.5, 0.5], [0.2, 0.9]])
    z = np.arange(10.0).reshape(5, 2)
    ours = float(as_dataset(z, x).meta.corr("m0", coefficient="kendall").correlation[0])
    exact = np.array([3, 3, 10, 10, 11])  # the means in units of .05
    assert ours == pytest.approx(scipy.stats.kendalltau(exact, z.mean(axis=1)).statistic, abs=1e-12)
    assert abs(nlp_correlate(x, z, "system", "kendall") - ours) > 0.01


# --- bca ---


@pytest.mark.parametrize("level, name", [("system", "pearson"), ("input", "kendall"), ("global", "spearman")])
@pytest.mark.parametrize("resample", ["system", "input", "both"])
def test_bca_by_the_book(small, level, name, resample):
    """Efron's formula with SciPy's normal distribution, and labels that are really left out."""
    small = small.assign(score=small.score + 0.01 * np.arange(30.0).reshape(6, 5) ** 1.5)
    settings = {"level": level, "coefficient": name}
    got = small.meta.ci("m0", interval="bca", resample=resample, n_resamples=2000, rng=1, keep_samples=True, **settings)
    assert got.fell_back.dtype == bool and not got.fell_back.any()
    dims = ("system", "input") if resample == "both" else (resample,)
    for metric in ("m1", "m2", "m3"):
        cell = got.sel(metric=metric)
        estimate = float(cell.correlation)
        influence = []
        for dim in dims:
            left = [
                float(small.drop_sel({dim: label}).meta.corr("m0", metric=[metric], **settings).correlation[0])
                for label in small[dim].values
            ]
            influence += [(len(left) - 1) / len(left) * (np.mean(left) - each) for each in left]
        a = np.sum(np.power(influence, 3)) / (6 * np.sum(np.power(influence, 2)) ** 1.5)
        samples = cell.samples.values[~np.isnan(cell.samples.values)]
        tied = abs(samples - estimate) <= 1e-12
        z_0 = scipy.stats.norm.ppf(np.mean((samples < estimate) & ~tied) + np.mean(tied) / 2)
        for tail, limit in ((0.025, cell.ci_low), (0.975, cell.ci_high)):
            z = z_0 + scipy.stats.norm.ppf(tail)
            want = np.quantile(samples, scipy.stats.norm.cdf(z_0 + z / (1 - a * z)))
            assert float(limit) == pytest.approx(want, abs=1e-9)


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


@pytest.mark.filterwarnings("ignore:only 4 systems", "ignore:more than 5 %")
def test_bca_falls_back_where_it_is_not_defined(small):
    """A perfect correlation: no sample lies below it, and leaving a label out changes nothing."""
    score = small.score.copy(deep=True)
    score[1] = 2 * score[0] + 1
    both = {"n_resamples": 200, "rng": 1}
    ds = small.assign(score=score)
    with pytest.warns(UserWarning, match="no BCa interval, but a percentile one, for 'm1'"):
        got = ds.meta.ci("m0", metric=["m1", "m2"], interval="bca", **both)
    assert got.fell_back.values.tolist() == [True, False]
    want = ds.meta.ci("m0", metric=["m1", "m2"], **both)
    assert float(got.ci_low[0]) == float(want.ci_low[0]) and float(got.ci_low[1]) != float(want.ci_low[1])


def test_lazy_bca_equals_eager_bca(small):
    settings = {"interval": "bca", "n_resamples": 1500, "rng": 1, "level": "input"}
    got = small.chunk(metric=1).meta.ci("m0", **settings)
    xr.testing.assert_identical(got.compute(), small.meta.ci("m0", **settings))
