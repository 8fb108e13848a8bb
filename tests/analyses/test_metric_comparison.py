"""Which metric is better, and of whom: `compare_metrics`."""

import functools
import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import dataset
from helpers import pairwise
from scipy import stats
from statsmodels.stats.multitest import multipletests

import xsumstat

COEFFICIENTS = ["pearson", "spearman", "kendall", "pairwise_accuracy"]


def scores(seed, shape=(4, 9, 14), gaps=0.0):
    """Gold, and metrics that resemble it more or less."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(1, shape[1], 1)) + rng.normal(size=(1, *shape[1:]))
    made = quality + np.arange(shape[0])[:, None, None] * rng.normal(size=shape)
    made[1:] += 0.5 * rng.normal(size=(shape[0] - 1, shape[1], 1))
    return dataset(np.where(rng.random(shape) < gaps, np.nan, made))


def quiet(ask, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ask(*args, **kwargs)


@pairwise(
    {
        "level": ["system", "input", "global", "within_system"],
        "coefficient": COEFFICIENTS,
        "resample": ["both", "input", "system"],
        "gaps": [0.0, 0.15],
        "seed": [1, 2],
    }
)
def test_its_limits_are_those_of_ci(level, coefficient, resample, gaps, seed):
    """They may reach farther, where limits turn back as confidence grows, and never less far."""
    ds = scores(seed, gaps=gaps)
    asked = {"level": level, "coefficient": coefficient, "resample": resample}
    if coefficient == "pairwise_accuracy":
        level = asked["level"] = "system"
    got = quiet(ds.meta.compare_metrics, "m0", **asked)
    want = quiet(ds.meta.ci, "m0", other=ds.metric.values[1:].tolist(), method="jackknife", **asked)
    want = want.sel(metric=got.metric, other_metric=got.other_metric)
    for name in ("difference", "standard_error", "df", "bias", "fell_back", "n_undefined"):
        np.testing.assert_array_equal(got[name], want[name])
    assert (np.isnan(got.ci_low) == np.isnan(want.ci_low)).all()
    assert not (got.ci_low > want.ci_low + 1e-14).any() and not (got.ci_high < want.ci_high - 1e-14).any()
    assert float((np.abs(got.ci_low - want.ci_low) > 1e-12).sum()) <= 2


@pairwise({"level": ["system", "input"], "resample": ["both", "input"], "seed": [1, 2, 3, 4]})
def test_p_is_the_level_at_which_the_interval_reaches_0(level, resample, seed):
    ds = scores(seed)
    ask = functools.partial(ds.meta.compare_metrics, "m0", metric="m1", other="m3", level=level, resample=resample)
    p = float(quiet(ask).pvalue.item())
    assert 1e-9 < p <= 1
    for alpha, excluded in ((p * 1.0001, True), (p / 1.0001, False)):
        if alpha < 1:
            got = quiet(ask, confidence_level=1 - alpha)
            assert bool((got.ci_low > 0) | (got.ci_high < 0)) == excluded
    # Any interval of `ci` of a lower level than that excludes 0, too.
    for confidence in np.linspace(0.01, 1 - p, 7)[:-1]:
        one = quiet(ds.meta.ci, "m0", metric="m1", other="m3", level=level, resample=resample,
                    confidence_level=confidence)  # fmt: skip
        assert bool((one.ci_low > 0) | (one.ci_high < 0))


def test_tails_and_places():
    ds = scores(5)
    two, greater, less = (
        ds.meta.compare_metrics("m0", level="input", alternative=each) for each in ("two-sided", "greater", "less")
    )
    p = two.pvalue.values
    np.testing.assert_array_equal(p, p.T)
    ahead = (two.difference > 0).values
    here = ~np.isnan(p)
    np.testing.assert_allclose(greater.pvalue.values[here], np.where(ahead, p / 2, 1 - p / 2)[here], rtol=1e-12)
    np.testing.assert_array_equal(less.pvalue.values, greater.pvalue.values.T)
    for one, other in (("ci_low", "ci_high"), ("ci_high", "ci_low")):
        np.testing.assert_array_equal(two[one].values, -two[other].values.T)
    assert np.isnan(np.diag(two.difference)).all() and not np.diag(two.significant).any()
    np.testing.assert_array_equal(two.difference.values, -two.difference.values.T)


@pytest.mark.parametrize("adjust", ["holm", "bonferroni", "bh", "by"])
def test_the_correction_is_over_each_pair_once(adjust):
    ds = scores(6, (6, 9, 14))
    got = ds.meta.compare_metrics("m0", level="input", adjust=adjust)
    upper = np.triu_indices(5, 1)
    name = {"bh": "fdr_bh", "by": "fdr_by"}.get(adjust, adjust)
    want = multipletests(got.pvalue.values[upper], method=name)[1]
    np.testing.assert_allclose(got.pvalue_adjusted.values[upper], want, rtol=1e-12)
    np.testing.assert_array_equal(got.significant.values[upper], want <= 0.05)
    plain = ds.meta.compare_metrics("m0", level="input", adjust=None, confidence_level=0.9)
    assert "pvalue_adjusted" not in plain
    np.testing.assert_array_equal(plain.significant, plain.pvalue <= 0.1)
    assert ((plain.pvalue <= 0.1) == ((plain.ci_low > 0) | (plain.ci_high < 0))).all()


def test_further_dims_and_groups_are_each_a_family(demo):
    two = xr.concat(
        [demo[["score"]], demo[["score"]].isel(input=slice(None, 20))], "language", join="outer"
    ).assign_attrs(demo.attrs)
    got = quiet(two.meta.compare_metrics, "human", level="input")
    for at in range(2):
        alone = quiet(two.isel(language=at).meta.compare_metrics, "human", level="input")
        xr.testing.assert_allclose(got.isel(language=at).drop_attrs(), alone.drop_attrs())
    whole = quiet(two.meta.compare_metrics, "human", level="input", within=["metric", "other_metric", "language"])
    assert (whole.pvalue_adjusted >= got.pvalue_adjusted - 1e-12).where(got.pvalue.notnull(), True).all()

    by = quiet(demo.meta.compare_metrics, "human", level="input", by="system_type")
    for group in demo.system_type.to_series().unique():
        part = demo.isel(system=(demo.system_type == group).values)
        alone = quiet(part.meta.compare_metrics, "human", level="input")
        there = by.sel(system_type=group).drop_vars("system_type")
        xr.testing.assert_allclose(there[list(alone.data_vars)].drop_attrs(), alone.drop_attrs())
    whole = demo.meta.compare_metrics("human", level="input")
    np.testing.assert_array_equal(by.sel(system_type="all").pvalue, whole.pvalue)


def test_a_group_of_few_systems_speaks_of_these_and_says_so(demo):
    ds = demo.assign_coords(kind_of=("system", ["new"] * 3 + ["old"] * 9))
    with pytest.warns(UserWarning, match="kind_of='new' has few systems; its result is for these systems only"):
        got = ds.meta.compare_metrics("human", level="input", by="kind_of")
    assert np.isfinite(got.ci_low.sel(kind_of="new", metric="judge", other_metric="bleu"))
    assert "12 systems" not in got.meta.conclusion()


def of_languages():
    """Pairs of systems of three languages, whose systems and inputs are their own."""
    parts = []
    for at, shape in enumerate(((4, 9, 20), (4, 12, 30), (4, 7, 25))):
        part = scores(10 + at, shape)
        names = {dim: [f"{dim}{at}{label}" for label in range(part.sizes[dim])] for dim in ("system", "input")}
        parts.append(part.assign_coords(names))
    languages = xr.DataArray(["de", "cs", "ru"], dims="language", name="language")
    return xr.concat(parts, languages, join="outer")


@pytest.mark.parametrize("asked", [{}, {"missing": "available"}, {"cluster": "family"}])
def test_pooled_pairs_with_gaps_and_families_are_those_of_ci(asked):
    """One metric scored a few systems on inputs of its own, so that only means of all its scores are there."""
    ds = of_languages()
    family = ("system", [f"f{at // 2}" for at in range(ds.sizes["system"])])
    late = xr.DataArray(np.arange(ds.sizes["input"]) % 2 == 0, dims="input")
    few = xr.DataArray(np.arange(ds.sizes["system"]) % 3 == 0, dims="system")
    ds = ds.assign(score=ds.score.where(~((ds.metric == "m2") & few & late) & ~((ds.metric == "m1") & few & ~late)))
    ds = ds.assign_coords(family=family)
    acc = {"coefficient": "pairwise_accuracy", "pool": "language", "metric": "m1", "other": "m2", **asked}
    got, want = quiet(ds.meta.compare_metrics, "m0", **acc), quiet(ds.meta.ci, "m0", **acc)
    for name in ("difference", "ci_low", "ci_high", "standard_error", "df"):
        np.testing.assert_allclose(got[name], want[name], atol=1e-12)
    assert got.attrs.get("cluster") == asked.get("cluster")


def test_pooled_pairs_are_those_of_ci():
    ds, acc = of_languages(), {"coefficient": "pairwise_accuracy", "pool": "language"}
    got = ds.meta.compare_metrics("m0", **acc)
    want = ds.meta.ci("m0", other=["m1", "m2", "m3"], **acc).sel(metric=got.metric, other_metric=got.other_metric)
    for name in ("difference", "ci_low", "ci_high", "standard_error", "df", "bias", "fell_back"):
        np.testing.assert_allclose(got[name], want[name], atol=1e-12)
    assert got.attrs["pool"] == "language" and got.attrs["scope"] == "systems like these"
    p = float(got.pvalue.sel(metric="m1", other_metric="m3"))
    for alpha, excluded in ((p * 1.0001, True), (p / 1.0001, False)):
        one = ds.meta.compare_metrics("m0", metric="m1", other="m3", confidence_level=1 - alpha, **acc)
        assert bool((one.ci_low > 0) | (one.ci_high < 0)) == excluded
    ranks = ds.meta.rank("m0", **acc)
    assert ranks.attrs["method"] == "jackknife" and ranks.cluster.values.min() == 1
    drawn = ds.meta.compare_metrics("m0", method="permutation", n_resamples=99, rng=1, **acc)
    np.testing.assert_allclose(drawn.difference, got.difference)
    for asked, message in (
        ({**acc, "coefficient": "pearson"}, "pool is for coefficient="),
        ({**acc, "method": "zou"}, "pool does not go with method='zou'"),
        ({**acc, "pool": "lang"}, "pool must be an additional dim of score"),
    ):
        with pytest.raises(ValueError, match=message):
            ds.meta.compare_metrics("m0", **asked)


@pytest.mark.parametrize("asked", [{}, {"level": "input", "resample": "input", "adjust": "bh"}, {"method": "zou"}])
def test_lazy_scores_give_the_same(demo, asked):
    pytest.importorskip("dask")
    got = demo.chunk(metric=1).meta.compare_metrics("human", **asked)
    assert got.pvalue.chunks is not None and got.significant.chunks is not None
    xr.testing.assert_identical(got.compute(), demo.meta.compare_metrics("human", **asked))


def test_given_and_thresholds_are_those_of_ci(demo):
    for asked in ({"given": "length"}, {"coefficient": "acc_eq", "level": "input", "threshold": 0.1}):
        few = {"metric": "judge", "other": "rouge", **asked}
        got = demo.meta.compare_metrics("human", **few)
        want = demo.meta.ci("human", method="jackknife", **few)
        np.testing.assert_array_equal(got.difference, want.difference)
        np.testing.assert_array_equal(got.standard_error, want.standard_error)


def test_older_tests_through_the_same_door(demo):
    few = {"metric": ["judge", "rouge", "bleu"], "level": "system"}
    drawn = {"n_resamples": 199, "rng": 3}
    for method, want in (
        ("permutation", demo.meta.perm_test("human", **few, **drawn)),
        ("bootstrap", demo.meta.boot_test("human", **few, **drawn)),
        *((name, demo.meta.corr_test("human", method=name, **few)) for name in ("williams", "steiger", "meng", "zou")),
    ):
        how = drawn if method in ("permutation", "bootstrap") else {}
        got = demo.meta.compare_metrics("human", method=method, **few, **how)
        for name in want.data_vars:
            np.testing.assert_array_equal(got[name], want[name])
        corrected = want.meta.adjust("holm")
        np.testing.assert_array_equal(got.pvalue_adjusted, corrected.pvalue_adjusted)
        np.testing.assert_array_equal(got.significant, corrected.meta.significant())
        assert got.attrs["analysis"] == "compare_metrics" and got.attrs["method"] == method
    whole = demo.meta.compare_metrics("human", method="permutation", adjust="maxt", resample="input", **few, **drawn)
    assert whole.attrs["resample"] == "input" and "samples" not in whole


@pytest.mark.parametrize(
    "asked, whom, words",
    [
        ({}, "systems like these", "For systems and inputs like these, "),
        ({"resample": "input"}, "these systems", "For these 12 systems on inputs like these, "),
        ({"resample": "system"}, "systems like these", "For systems like these on these 30 inputs, "),
        ({"method": "permutation", "n_resamples": 999}, "these systems", "For these 12 systems, "),
        ({"method": "permutation", "resample": "system"}, "systems like these", "For systems like these on these 30"),
        ({"method": "williams"}, "systems like these", "For systems like these on these 30 inputs, "),
    ],
)
def test_it_says_of_whom_it_speaks(demo, asked, whom, words):
    got = demo.meta.compare_metrics("human", rng=0, **asked)
    assert got.attrs["scope"] == whom and words in got.meta.conclusion()
    of_whom = words.removeprefix("For ").rstrip(", ")
    assert f"they apply to {of_whom}" in got.meta.methods() and of_whom in repr(got.meta)


def test_the_demo_does_not_contradict_itself(demo):
    """What differs for systems like these are the pairs whose interval of a difference excludes 0, corrected."""
    for resample in ("both", "input"):
        got = demo.meta.compare_metrics("human", resample=resample, adjust=None)
        excluded = (got.ci_low > 0) | (got.ci_high < 0)
        np.testing.assert_array_equal(got.significant, excluded)


@pytest.mark.parametrize(
    "asked, message",
    [
        ({"method": "jacknife"}, "method must be one of .*did you mean 'jackknife'"),
        ({"adjust": "maxt"}, "adjust='maxt' needs draws, and method='jackknife' does not draw"),
        ({"resample": "inputs"}, "resample must be 'auto', 'both' or names"),
        ({"resample": "cell", "level": "global"}, "resample='cell' needs method='bootstrap'"),
        (
            {"method": "zou", "resample": "input"},
            "resample='input' needs a method that resamples, and method='zou' is a formula",
        ),
        ({"method": "meng", "given": "length"}, "given does not go with method='meng'"),
        ({"alternative": "larger"}, "did you mean 'greater'"),
        ({"confidence_level": 95}, "confidence_level must lie strictly between 0 and 1"),
        ({"within": "language"}, "dim in within"),
        ({"metric": "judge", "other": "judge"}, "a comparison needs two metrics"),
    ],
)
def test_what_is_refused(demo, asked, message):
    with pytest.raises(ValueError, match=message):
        demo.meta.compare_metrics("human", **asked)


def test_ranked_means_over_inputs_alone_are_told(demo):
    told = "jackknife of ranked system means over inputs alone is liberal: in simulations up to 22 %"
    for coefficient in ("spearman", "kendall"):
        with pytest.warns(UserWarning, match=told):
            demo.meta.compare_metrics("human", coefficient=coefficient, resample="input")
        demo.meta.compare_metrics("human", coefficient=coefficient)
        demo.meta.compare_metrics("human", coefficient=coefficient, resample="input", level="input")


def test_three_models_and_a_judge_get_an_answer_without_a_warning():
    """120 prompts: the answer is of these three."""
    rng = np.random.default_rng(0)
    quality = rng.normal(size=(3, 120)) + np.array([0.0, 0.4, 0.8])[:, None]
    ds = dataset(np.stack([quality, quality + rng.normal(size=(3, 120)), rng.normal(size=(3, 120))]))
    for level in ("input", "global", "within_system"):
        got = ds.meta.compare_metrics("m0", metric="m1", other="m2", level=level)
        assert got.attrs["scope"] == "these systems" and got.significant.item()


@pytest.mark.slow
@pytest.mark.parametrize("level, coefficient", [("system", "pearson"), ("input", "kendall")])
def test_it_holds_its_level_where_each_metric_favours_systems_of_its_own(level, coefficient):
    """Swaps of cells find a difference of such metrics in most sets, which on these systems there is."""
    rng = np.random.default_rng(1)
    trials, found = 300, {"both": 0, "swaps": 0}
    for trial in range(trials):
        ds = xsumstat.simulate(12, 60, agreement={"a": 0.6, "b": 0.6}, rng=rng)
        few = {"metric": "a", "other": "b", "level": level, "coefficient": coefficient}
        found["both"] += int(ds.meta.compare_metrics("human", **few).significant.item())
        swapped = {"method": "permutation", "n_resamples": 99, "rng": 0}
        if trial < 60:
            found["swaps"] += int(ds.meta.compare_metrics("human", **few, **swapped).significant.item())
    low, high = stats.binom.interval(0.999, trials, 0.05)
    assert low <= found["both"] <= high or found["both"] < low and level == "input", found
    assert found["swaps"] > 15
