"""Equivalence by the jackknife: the intervals of `ci` and p-values that go with them; and what is warned of."""

import jackknife_twin as twin
import numpy as np
import pytest
import xarray as xr
from conftest import warns

import xsumstat

DIMS = {"both": ("system", "input"), "system": ("system",), "input": ("input",)}


@pytest.fixture
def versions():
    """Two metrics in three languages, and a gold, with two cells missing."""
    ds = xsumstat.simulate(8, 10, agreement={"a": 0.8, "b": 0.5}, rng=0, truth=False)
    rng = np.random.default_rng(1)
    noise = xr.DataArray([0.0, 0.3, 1.5], {"language": ["en", "de", "hi"]})
    score = ds.score.sel(metric=["a", "b"])
    score = score + noise * xr.DataArray(rng.normal(size=(3, *score.shape)), dims=("language", *score.dims))
    score = score.transpose("metric", "language", "system", "input")
    score[1, 2, 2, 3] = np.nan
    human = ds.score.sel(metric="human", drop=True).copy()
    human[4, 5] = np.nan
    return xr.Dataset({"score": score, "human": human})


@pytest.mark.parametrize(
    "level, coefficient, resample",
    [
        ("input", "kendall", "both"),
        ("system", "pearson", "both"),  # inputs alone: tests/inference/test_equivalence.py
        ("global", "spearman", "system"),
        ("within_system", "pearson", "both"),
    ],
)
@pytest.mark.parametrize("base", ["en", "hi"])
def test_interval_and_p_are_those_of_a_plain_jackknife(versions, level, coefficient, resample, base):
    """At α = p the (1 − 2α) interval has the margin for a limit."""
    how = {"level": level, "coefficient": coefficient, "resample": resample}
    got = versions.meta.equivalence(
        "human", along="language", base=base, margin=0.4, alpha=0.1, method="jackknife", **how
    )
    assert got.attrs["resample"] == resample and "seed" not in got.attrs and "n_resamples" not in got.attrs
    z = versions.human.values
    for m, language in (("a", "de"), ("b", "en" if base == "hi" else "hi")):
        three = [versions.score.sel(metric=m, language=each).values for each in (language, base)]
        asked = (*three, z, coefficient, level, DIMS[resample])
        here, want = got.sel(metric=m, language=language), twin.difference(*asked, confidence_level=0.8)
        for name, twins in (("difference", "estimate"), ("ci_low", "ci_low"), ("ci_high", "ci_high")):
            assert float(here[name]) == pytest.approx(want[twins], abs=1e-10)
        assert bool(here.equivalent) == (-0.4 < want["ci_low"] and want["ci_high"] < 0.4)
        p = float(here.pvalue)
        if p < 0.5:
            fits = twin.difference(*asked, confidence_level=1 - 2 * p)
            assert max(fits["ci_high"], -fits["ci_low"]) == pytest.approx(0.4, abs=1e-8)
        else:
            assert abs(want["estimate"]) >= 0.4


def test_pairs_of_metrics_have_the_interval_of_ci(versions):
    ds = versions.sel(language="de", drop=True)
    how = {"other": ["a", "b"], "level": "system", "missing": "available", "method": "jackknife"}
    got = ds.meta.equivalence("human", margin=0.5, adjust="holm", **how)
    want = ds.meta.ci("human", confidence_level=0.9, **how)
    for name in ("difference", "ci_low", "ci_high", "n_undefined", "fell_back"):
        np.testing.assert_allclose(got[name], want[name], atol=1e-14)
    np.testing.assert_array_equal(got.pvalue, got.pvalue.values.T)
    np.testing.assert_array_equal(got.pvalue_adjusted, got.pvalue)  # one test, not two
    assert np.isnan(got.pvalue.sel(metric="a", other_metric="a"))
    again = ds.meta.equivalence("human", margin=0.5, adjust="holm", **how, rng=5, n_resamples=20)
    xr.testing.assert_identical(got, again)


def test_the_share_of_equivalent_pairs_by_the_intervals(versions):
    """By the limits that `ci` gives for each version against its base."""
    grid = np.arange(1, 120) / 100
    how = {"level": "input", "coefficient": "spearman", "method": "jackknife"}
    got = versions.meta.margin_sensitivity("human", along="language", base="en", margins=grid, alpha=0.05, **how)
    limits = []
    for language in ("de", "hi"):
        both = versions.score.sel(language=[language, "en"])
        both = both.stack(version=["metric", "language"], create_index=False).rename(version="metric_version")
        names = [f"{m}-{each}" for m in "ab" for each in (language, "en")]
        flat = both.drop_vars(["metric", "language"]).rename(metric_version="metric").assign_coords(metric=names)
        ds = xr.Dataset({"score": flat, "human": versions.human})
        for m in "ab":
            one = ds.meta.ci("human", metric=f"{m}-{language}", other=f"{m}-en", confidence_level=0.9, **how).squeeze()
            limits.append([float(one.ci_low), float(one.ci_high)])
    low, high = np.array(limits).T
    want = [((low > -margin) & (high < margin)).mean() for margin in grid]
    np.testing.assert_allclose(got.share, want)
    assert got.share[0] == 0 and got.share[-1] > 0 and (got.n_tests == 4).all()


@pytest.mark.ignore_codes("few_systems")
def test_too_few_systems_have_no_p(versions):
    few = versions.isel(system=[0, 1, 2])
    how = {"along": "language", "base": "en", "level": "input", "method": "jackknife", "resample": "both"}
    with pytest.warns(UserWarning, match="no jackknife interval, which needs 4 systems .*for all 4 estimates"):
        got = few.meta.equivalence("human", margin=0.3, **how)
    assert got.difference.notnull().any() and np.isnan(got.pvalue).all() and not got.equivalent.any()
    with warns("no_interval"):
        curve = few.meta.margin_sensitivity("human", margins=[0.1, 0.2], **how)
    assert (curve.n_tests == 0).all() and np.isnan(curve.share).all()


def test_perfect_order_falls_back_and_says_so():
    """A metric that orders the systems as gold does has another interval; so has the difference from it."""
    rng = np.random.default_rng(2)
    human = np.arange(8.0)[:, None] + 0.01 * rng.normal(size=(8, 5))
    score = np.array([np.exp(human), human + 4 * rng.normal(size=(8, 1))])
    labels = {"metric": ["perfect", "other"]}
    ds = xr.Dataset({"score": (("metric", "system", "input"), score), "human": (("system", "input"), human)}, labels)
    how = {"metric": "perfect", "other": "other", "coefficient": "kendall", "method": "jackknife"}
    with pytest.warns(UserWarning, match=r"so it has no standard error.* for 'perfect/other'"):
        got = ds.meta.equivalence("human", margin=0.9, **how).squeeze()
    want = twin.difference(*score, human, "kendall", "system", confidence_level=0.9)
    assert bool(got.fell_back) and want["fell_back"]
    assert [float(got.ci_low), float(got.ci_high)] == pytest.approx([want["ci_low"], want["ci_high"]], abs=1e-12)


@pytest.mark.parametrize("method", ["tost_analytic", "anderson_hauck"])
@pytest.mark.parametrize("level", ["input", "within_system"])
def test_formulas_for_averages_are_warned_of(versions, level, method):
    """Not at other levels, or there would be an error."""
    how = {"along": "language", "base": "en", "margin": 0.1, "method": method}
    with pytest.warns(UserWarning, match=f"'{method}' treats the average .*level='{level}' .*Use method='jackknife'"):
        versions.meta.equivalence("human", level=level, **how)
    versions.meta.equivalence("human", level="system", **how)


@pytest.mark.slow
def test_the_jackknife_holds_its_level_on_the_edge_of_the_margin():
    """Two metrics whose true difference is the margin are found equivalent in about 5 %; equal ones much more often."""
    found = []
    for second, shift in ((0.5, 0), (0.7, 10_000)):
        agreement = {"a": 0.7, "b": second}
        parts = [xsumstat.simulate(12, 40, agreement=agreement, rng=shift + at, truth=False) for at in range(400)]
        ds = xr.concat(parts, "trial")
        truth = xsumstat.simulate(12, 40, agreement={"a": 0.7, "b": 0.5}, rng=0).truth
        truth = truth.sel(level="input", coefficient="pearson")
        margin = float(truth.sel(metric="a") - truth.sel(metric="b"))
        test = ds.meta.equivalence(metric="a", other="b", margin=margin, method="jackknife", level="input")
        found.append(float(test.equivalent.mean()))
    assert found[0] <= 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / 400)
    assert found[1] >= 4 * found[0]
