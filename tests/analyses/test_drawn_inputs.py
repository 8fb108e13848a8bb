"""Correlations, their intervals and comparisons where inputs were drawn with unequal probabilities."""

import warnings
from dataclasses import replace

import drawn_inputs_twin as twin
import numpy as np
import pytest
import xarray as xr

import xsumstat
from xsumstat.coefficients import leave_one_out, table
from xsumstat.coefficients.record import Measure
from xsumstat.coefficients.weights import InputWeights
from xsumstat.dataset import drawn as draws
from xsumstat.resampling.jackknife import estimated

DRAWN = {"strata": "unsure", "unsure": "doubt", "n_strata": 3}


def scored(rng, n_systems=6, n_inputs=60):
    """Two judges whose errors grow with their doubt, and human scores."""
    shape = (n_systems, n_inputs)
    z = rng.normal(size=shape) + np.linspace(0, 1, n_systems)[:, None] + rng.normal(size=n_inputs)
    doubt = rng.random(n_inputs)
    judge = z + 4 * doubt**2 * rng.normal(size=shape)
    score = np.stack([judge, z + 2 * rng.normal(size=shape), np.round(3 + z, 2)])
    coords = {"metric": ["judge", "other", "human"], "system": [f"s{at:02}" for at in range(n_systems)]}
    coords |= {"input": [f"{at:03}" for at in range(n_inputs)], "doubt": ("input", doubt)}
    return xr.Dataset({"score": (("metric", "system", "input"), score)}, coords)


def rated(full, n, rng=6, **how):
    ds = full.sel(metric=["judge", "other"]).meta.sample_inputs(n, rng=rng, **(how or DRAWN))
    gold = full.score.sel(metric="human", drop=True).where(ds.drawn).reset_coords(drop=True)
    return xsumstat.add_gold(ds, gold)


@pytest.fixture(scope="module")
def ds():
    """24 of 60 inputs are rated."""
    return rated(scored(np.random.default_rng(3)), 24)


@pytest.fixture(scope="module")
def gaps(ds):
    """One output of the drawn inputs has no human score."""
    made = ds.copy(deep=True)
    at = np.flatnonzero(made.drawn.values)[4]
    made.score[made.metric.values.tolist().index("human"), 2, at] = np.nan
    return made


def asked(ds, name, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(ds.meta, name)("human", metric=["judge", "other"], **how)


@pytest.mark.parametrize("level", ["system", "input"])
@pytest.mark.parametrize("coefficient", twin.COEFFICIENTS)
def test_correlations_are_weighted_by_1_over_the_probability(gaps, level, coefficient):
    ds = gaps
    found = asked(ds, "corr", level=level, coefficient=coefficient)
    for metric in ("judge", "other"):
        x, z, weights, _ = twin.arrays(ds, metric)
        wanted = twin.estimate(x, z, weights, coefficient, level)
        assert found.correlation.sel(metric=metric).item() == pytest.approx(wanted, rel=1e-12)
        assert abs(wanted - twin.estimate(x, z, weights * 0 + 1, coefficient, level)) > 0.005 or level == "system"
    assert found.attrs["weights"] == "inclusion_probability" and found.attrs["drawn_by"] == ds.attrs["drawn_by"]
    if level == "system":
        each = asked(ds, "corr", level=level, coefficient=coefficient, average=False)
        np.testing.assert_array_equal(each.correlation, found.correlation)


@pytest.mark.parametrize(("level", "coefficient"), [("system", "pearson"), ("input", "pearson"), ("input", "kendall")])
def test_intervals_over_inputs_are_a_jackknife_by_strata(ds, level, coefficient):
    x, z, weights, strata = twin.arrays(ds)
    found = asked(ds, "ci", level=level, coefficient=coefficient, resample="input", method="jackknife")
    found = found.sel(metric="judge")
    variance, df = twin.variance_over_inputs(x, z, weights, strata, coefficient, level)
    assert found.df.item() == pytest.approx(df, rel=1e-5)
    if level == "input":  # at system level the second-order part is removed
        assert found.standard_error.item() ** 2 == pytest.approx(variance, rel=1e-6)
        limits = twin.limits(found.correlation.item(), np.sqrt(variance), df)
        np.testing.assert_allclose((found.ci_low, found.ci_high), limits, rtol=1e-5)
    else:
        assert 0.5 * variance * (1 - 1e-6) <= found.standard_error.item() ** 2 < variance
    by_leaving_out, _ = twin.variance_over_inputs(x, z, weights, strata, coefficient, level, exact=True)
    assert by_leaving_out == pytest.approx(variance, rel=0.2)


@pytest.mark.parametrize("coefficient", twin.COEFFICIENTS)
def test_over_systems_weighted_correlations_are_left_out(ds, coefficient):
    x, z, weights, _ = twin.arrays(ds)
    for level in ("system", "input"):
        found = asked(ds, "ci", level=level, coefficient=coefficient, resample="system", method="jackknife")
        wanted = twin.variance_over_systems(x, z, weights, coefficient, level)
        assert found.standard_error.sel(metric="judge").item() ** 2 == pytest.approx(wanted, rel=1e-9), level


@pytest.mark.slow
def test_a_comparison_has_the_difference_and_the_error_of_the_differences(ds):
    found = asked(ds, "compare_metrics", level="input", resample="input").sel(metric="judge", other_metric="other")
    (x, z, weights, strata), (y, *_) = twin.arrays(ds), twin.arrays(ds, "other")
    one, two = (twin.estimate(each, z, weights, "pearson", "input") for each in (x, y))
    assert found.difference.item() == pytest.approx(one - two, rel=1e-12)
    assert found.attrs["weights"] == "inclusion_probability"

    u = [twin.moved(each, z, weights, "pearson", "input") for each in (x, y)]
    variance = sum(
        len(here) / (len(here) - 1) * sum((d[here] - d[here].mean()) ** 2) + sum(d[here]) ** 2 / sum(weights[here])
        for d in [u[0] - u[1]]
        for here in (np.flatnonzero(np.array(strata) == each) for each in sorted(set(strata)))
    )
    assert found.standard_error.item() ** 2 == pytest.approx(variance, rel=1e-6)


@pytest.mark.parametrize("level", ["system", "input"])
def test_the_interval_of_a_difference_is_that_of_the_comparison(ds, level):
    found = asked(ds, "ci", level=level, other="other", method="jackknife").sel(metric="judge", other_metric="other")
    compared = asked(ds, "compare_metrics", level=level).sel(metric="judge", other_metric="other")
    for name in ("difference", "ci_low", "ci_high", "standard_error"):
        assert found[name].item() == compared[name].item()


@pytest.mark.parametrize("level", ["global", "within_system"])
def test_a_comparison_of_pearson_at_the_other_levels(ds, level):
    found = asked(ds, "compare_metrics", level=level, resample="input").sel(metric="judge", other_metric="other")
    (x, z, weights, strata), (y, *_) = twin.arrays(ds), twin.arrays(ds, "other")
    one, two = (twin.left_out(each, z, weights, "pearson", level) for each in (x, y))
    variance, _ = twin.variance_over_inputs(x, z, weights, strata, "pearson", level, u=one - two)
    assert found.standard_error.item() ** 2 == pytest.approx(variance, rel=1e-9)


@pytest.mark.parametrize("dims", [("input",), ("system",), ("system", "input")])
@pytest.mark.parametrize("level", ["system", "input", "global", "within_system"])
def test_equal_weights_give_the_interval_without_weights(ds, level, dims):
    x, z, *_ = twin.arrays(ds)
    plain = Measure(table.COEFFICIENTS["pearson"], level)
    weights = InputWeights(np.full(x.shape[1], 2.5), np.zeros(x.shape[1], dtype=np.int64))
    one, two = (estimated(x[None], z, [(0,)], each, dims)[0][0] for each in (plain, replace(plain, weights=weights)))
    for name in ("estimate", "bias", "standard_error", "df"):
        assert getattr(two, name) == pytest.approx(getattr(one, name), rel=1e-9, abs=1e-12), name
    np.testing.assert_allclose(two.interval(0.95), one.interval(0.95), rtol=1e-9)


def test_equal_probabilities_change_nothing():
    full = scored(np.random.default_rng(4))
    ds = rated(full, 24, strata=None)
    plain = ds.drop_vars(draws.COORDS)
    for level in ("system", "input", "global", "within_system"):
        for name in ("corr", "ci", "compare_metrics"):
            one, two = asked(ds, name, level=level), asked(plain, name, level=level)
            assert "weights" not in one.attrs
            for each in two.data_vars:
                np.testing.assert_array_equal(one[each], two[each], err_msg=f"{level} {name} {each}")


def test_what_bootstraps_or_permutes_says_that_it_does_not_weight(ds):
    ds = ds.assign(doubtful=ds.score.sel(metric="judge", drop=True) * ds.doubt)
    ds = ds.assign_coords(document=("input", np.arange(ds.sizes["input"]) // 2))
    plain = ds.drop_vars(draws.COORDS)
    few = {"n_resamples": 99, "rng": 1}
    for name, how in (
        ("ci", {"method": "bootstrap", "level": "input", **few}),
        ("compare_metrics", {"method": "permutation", "level": "input", **few}),
        ("compare_metrics", {"method": "bootstrap", "level": "input", **few}),
        ("ci", {"level": "system", "missing": "available"}),
        ("ci", {"level": "input", "given": "doubtful"}),
        ("ci", {"level": "input", "cluster": "document"}),
        ("compare_metrics", {"level": "input", "cluster": "document"}),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            one = getattr(ds.meta, name)("human", metric=["judge", "other"], **how)
        said = [each.message for each in caught if getattr(each.message, "code", "") == "unequal_probabilities"]
        assert len(said) == 1 and "which this analysis ignores" in str(said[0]), (name, how)
        assert 'without cluster=, given= and missing="available"' in str(said[0])
        two = asked(plain, name, **how)
        assert "weights" not in one.attrs
        for each in two.data_vars:
            np.testing.assert_array_equal(one[each], two[each])


def test_words_say_how_inputs_are_weighted(ds):
    for name in ("corr", "ci", "compare_metrics"):
        found = asked(ds, name, level="input")
        for text in (found.meta.methods(), found.meta.conclusion()):
            assert "Each input is weighted by 1 over its probability." in text, name


@pytest.mark.slow
def test_weights_undo_a_draw_of_mostly_hard_inputs():
    """60 of 500 inputs, up to 12 times as likely where the judge errs more; what is true is known from all inputs."""
    rng = np.random.default_rng(8)
    errors = np.array([0.2, 0.5, 1.0, 2.5])

    def made(m):
        kind = rng.integers(4, size=m)
        z = np.linspace(-1, 1, 6)[:, None] + rng.normal(size=(6, m)) + rng.normal(size=m)
        return z + errors[kind] * rng.normal(size=z.shape), z, kind

    truth = np.mean(
        [twin.COEFFICIENTS["pearson"](*each) for each in zip(*(a.T for a in made(20_000)[:2]), strict=True)]
    )
    held, off, off_unweighted = [], [], []
    for _ in range(200):
        x, z, kind = made(500)
        n_each = np.array([4, 7, 13, 36])
        drawn = np.zeros(500, dtype=bool)
        for stratum, n in enumerate(n_each):
            drawn[rng.choice(np.flatnonzero(kind == stratum), n, replace=False)] = True
        probability = (n_each / np.bincount(kind))[kind]
        coords = {"metric": ["judge"], "inclusion_probability": ("input", probability), "drawn": ("input", drawn)}
        coords["draw_stratum"] = ("input", kind.astype(str))
        ds = xr.Dataset(
            {
                "score": (("metric", "system", "input"), x[None]),
                "human": (("system", "input"), np.where(drawn, z, np.nan)),
            },
            coords,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ds.meta.ci("human", level="input", resample="input").isel(metric=0)
            plain = ds.drop_vars(draws.COORDS).meta.corr("human", level="input").isel(metric=0)
        held.append(bool(found.ci_low <= truth <= found.ci_high))
        off.append(found.correlation.item() - truth)
        off_unweighted.append(plain.correlation.item() - truth)
    assert abs(np.mean(off)) < 3 * np.std(off) / np.sqrt(200)
    assert np.mean(off_unweighted) < -0.1
    assert 0.91 <= np.mean(held) <= 0.985  # within 3 standard errors of .93 to .97


@pytest.mark.parametrize("level", ["global", "within_system"])
def test_pearson_weighs_at_the_other_levels(ds, gaps, level):
    for each in (ds, gaps):
        x, z, weights, strata = twin.arrays(each)
        wanted = twin.estimate(x, z, weights, "pearson", level)
        found = asked(each, "ci", level=level, resample="input").sel(metric="judge")
        assert found.correlation.item() == pytest.approx(wanted, rel=1e-12)
        assert asked(each, "corr", level=level).correlation.sel(metric="judge").item() == pytest.approx(
            wanted, rel=1e-12
        )
        u = twin.left_out(x, z, weights, "pearson", level)
        variance, df = twin.variance_over_inputs(x, z, weights, strata, "pearson", level, u=u)
        assert found.standard_error.item() ** 2 == pytest.approx(variance, rel=1e-9)
        assert found.df.item() == pytest.approx(df, rel=1e-9)
        of_strata, _ = twin.variance_over_inputs(x, z, weights, strata, "pearson", level, exact=True)
        assert of_strata == pytest.approx(variance, rel=0.35)
        assert found.attrs["weights"] == "inclusion_probability"


@pytest.mark.parametrize("size", [1e3, 1e6, 1e8])
@pytest.mark.parametrize("level", ["global", "within_system"])
def test_an_outlier_costs_no_digits_of_what_is_left_without_it(ds, level, size):
    x, z, weights, strata = (np.array(each) for each in twin.arrays(ds))
    x[2, 5], z[2, 5] = size, size
    of_draw = InputWeights(weights, np.unique(strata, return_inverse=True)[1])
    how = Measure(table.get("pearson"), level, weights=of_draw)
    found = leave_one_out.of(x, z, how)
    for j in range(x.shape[1]):
        kept = [np.delete(each, j, 1) for each in (x, z)]
        if level == "global":
            wanted = twin.estimate(*kept, np.delete(weights, j), "pearson", level)
            assert found.inputs[j] == pytest.approx(wanted, rel=1e-9)
        else:
            rows = [twin.weighted_pearson(kept[0][i], kept[1][i], np.delete(weights, j)) for i in range(len(x))]
            np.testing.assert_allclose(found.without[j], rows, rtol=1e-9)
    if level == "global":
        for i in range(len(x)):
            kept = [np.delete(each, i, 0) for each in (x, z)]
            assert found.systems[i] == pytest.approx(twin.estimate(*kept, weights, "pearson", level), rel=1e-9)


def test_an_undefined_leave_out_counts_as_in_the_plain_jackknife():
    """With equal weights: (n - 1)(mean - value) of those that are defined, and their squares about their mean."""
    rng = np.random.default_rng(2)
    without = rng.normal(size=9)
    without[4] = np.nan
    equal = InputWeights(np.full(9, 2.5), np.zeros(9, int))
    assert equal.bias(0.3, without) == pytest.approx(8 * (np.nanmean(without) - 0.3))
    wanted = 8 / 9 * np.nansum((without - np.nanmean(without)) ** 2)
    assert equal.variance(equal.moved(0.3, without))[0] == pytest.approx(wanted)
    assert np.isnan(equal.bias(0.3, np.full(9, np.nan)))


def accuracy_of_weighted_means(x, z, weights, _):
    """Share of pairs of systems that weighted means order alike."""
    a, b = ([sum(weights * row) / sum(weights) for row in each] for each in (x, z))
    pairs = [(i, j) for i in range(len(a)) for j in range(i)]
    return np.mean([(a[i] - a[j]) * (b[i] - b[j]) > 0 for i, j in pairs])


def test_a_pooled_comparison_weighs_the_inputs_of_each_label():
    """Two languages with the same draw: the difference is the mean of both, as both have six systems."""
    draw = rated(scored(np.random.default_rng(3)), 24)
    other = draw.copy(deep=True)
    full = scored(np.random.default_rng(4))
    other["score"] = full.score.sel(metric=draw.metric).where(draw.drawn | (draw.metric != "human"))
    ds = xr.concat([draw.score, other.score], "language").assign_coords(language=["en", "de"])
    ds = ds.to_dataset(name="score").assign_attrs(draw.attrs)
    how = {"metric": "judge", "other": "other", "coefficient": "pairwise_accuracy"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pooled = ds.meta.compare_metrics("human", pool="language", **how)
        plain = [one.meta.compare_metrics("human", **how) for one in (draw, other)]
    assert pooled.attrs["weights"] == "inclusion_probability" and "weighted by 1 over" in pooled.meta.methods()
    wanted = [
        accuracy_of_weighted_means(*twin.arrays(one, "judge")) - accuracy_of_weighted_means(*twin.arrays(one, "other"))
        for one in (draw, other)
    ]
    alone = [  # what weights change
        accuracy_of_weighted_means(*twin.arrays(one, name)[:2], np.ones(24), None)
        for one in (draw, other)
        for name in ("judge", "other")
    ]
    assert pooled.difference.item() == pytest.approx(np.mean(wanted), rel=1e-9)
    assert pooled.difference.item() != pytest.approx(np.mean(np.diff(alone)[::2]) * -1)
    error = np.sqrt(sum(each.standard_error.item() ** 2 for each in plain)) / 2
    assert pooled.standard_error.item() == pytest.approx(error, rel=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_attrs_say_that_means_are_by_the_strata_of_the_draw():
    full = scored(np.random.default_rng(3))
    by_strata, simple = (rated(full, 24, **how) for how in ({}, {"strata": None}))
    assert by_strata.meta.system_means("human", metric="judge").attrs["strata"] == draws.STRATUM
    assert "strata" not in simple.meta.system_means("human", metric="judge").attrs
