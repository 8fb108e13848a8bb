import numpy as np
import pytest
import reference
import scipy.stats
import xarray as xr
from conftest import dataset
from helpers import rows

from xsumstat.inference import two_correlations

OF_AVERAGES = pytest.mark.ignore_codes("average_for_single", "outputs_alike")


@OF_AVERAGES
@pytest.mark.parametrize("method", two_correlations.METHODS)
@pytest.mark.parametrize("level, n", [("system", 6), ("input", 6), ("global", 30), ("within_system", 5)])
def test_corr_test_of_every_pair(small, method, level, n):
    test = small.meta.corr_test("m0", level=level, method=method, alternative="greater")
    r = small.meta.metric_corr(level=level).correlation
    for one in ("m1", "m2", "m3"):
        for two in ("m1", "m2", "m3"):
            cell = test.sel(metric=one, other_metric=two)
            if one == two:
                assert np.isnan(cell.statistic) and np.isnan(cell.pvalue)
                continue
            three = [float(r.sel(metric=a, other_metric=b)) for a, b in ((one, "m0"), (two, "m0"), (one, two))]
            value = two_correlations.statistic(method, *three, n)
            assert float(cell.difference) == pytest.approx(three[0] - three[1])
            assert float(cell.statistic) == pytest.approx(float(value), rel=1e-6)
            assert float(cell.pvalue) == pytest.approx(
                float(two_correlations.pvalue(method, value, n, "greater")), rel=1e-6
            )
    if method == "zou":
        np.testing.assert_allclose(test.ci_low, -test.ci_high.transpose("other_metric", "metric"), atol=1e-12)
        assert ((test.ci_low < test.difference) | test.difference.isnull()).all()


@OF_AVERAGES
@pytest.mark.ignore_codes("fewer_labels")
@pytest.mark.parametrize("missing", ["pairwise", "available"])
@pytest.mark.parametrize("level", ["system", "input", "global"])
def test_corr_test_uses_the_cells_that_a_pair_shares(small, level, missing):
    """All three correlations of a pair, and n, by the plain-Python twin on the masked scores."""
    small.score[0, 1, 2] = small.score[1, 2, 1] = small.score[2, :, 3] = small.score[3, 4] = np.nan
    test = small.meta.corr_test("m0", level=level, missing=missing, alternative="greater")
    gold = small.score.sel(metric="m0").values
    for one, two in (("m1", "m2"), ("m3", "m1"), ("m2", "m3")):
        x, y = (small.score.sel(metric=metric).values for metric in (one, two))
        both = ~np.isnan(x + y) & (~np.isnan(gold) | (missing == "available" and level == "system"))
        x, y = (rows(np.where(both, values, np.nan)) for values in (x, y))
        three = [
            reference.correlation("pearson", a, b, level, missing)
            for a, b in ((x, rows(gold)), (y, rows(gold)), (x, y))
        ]
        n = max(len(a) for a, _, _ in reference.groups(x, rows(gold), level, missing))
        cell = test.sel(metric=one, other_metric=two)
        assert float(cell.difference) == pytest.approx(three[0] - three[1], abs=1e-12)
        assert float(cell.statistic) == pytest.approx(
            float(two_correlations.statistic("williams", *three, n)), abs=1e-9
        )


@OF_AVERAGES
@pytest.mark.ignore_codes("fewer_labels", "labels_without_cells")
@pytest.mark.parametrize("level", ["input", "global", "within_system"])
def test_all_scores_that_are_there_serve_system_means_only(level):
    """At other levels "available" is "pairwise": for every question, and with an input that nobody rated."""
    rng = np.random.default_rng(7)
    small = dataset(rng.normal(size=(4, 9, 12)) + rng.normal(size=(1, 9, 12)))
    small.score[0, 1, 2] = small.score[1, 2, 1] = small.score[2, :, 3] = small.score[3, 4, :3] = np.nan
    small.score[0, :, 4] = np.nan
    draws = {"n_resamples": 50, "rng": 1}
    equal = {"other": ["m1", "m2", "m3"], "margin": 0.3}
    questions = {
        "corr": {},
        "corr_test": {},
        "perm_test": draws,
        "boot_test": draws,
        "ci": {"other": ["m1", "m2", "m3"], **draws},
        "dominance": draws,
        "equivalence": {**equal, **draws},
        "margin_sensitivity": {"other": ["m1", "m2", "m3"], **draws},
    }
    calls = [*questions.items(), ("equivalence", {**equal, "method": "tost_analytic"})]
    for name, keywords in calls[("input", "global", "within_system").index(level) :: 3]:  # each at one level
        got, want = (
            getattr(small.meta, name)("m0", level=level, missing=missing, **keywords)
            for missing in ("available", "pairwise")
        )
        xr.testing.assert_identical(got, want)
    rated = small.score.where(small.score.sel(metric="m0").notnull() & small.score.sel(metric="m2").notnull())
    there = rated.sel(metric=["m1", "m2"]).notnull().all("metric")
    x, y, z = (rows(rated.where(there).sel(metric=metric).values) for metric in ("m1", "m2", "m0"))
    three = [reference.correlation("pearson", a, b, level) for a, b in ((x, z), (y, z), (x, y))]
    n = max(len(a) for a, _, _ in reference.groups(x, y, level))
    cell = small.meta.corr_test("m0", level=level, missing="available").sel(metric="m1", other_metric="m2")
    assert float(cell.statistic) == pytest.approx(float(two_correlations.statistic("williams", *three, n)), abs=1e-9)


@pytest.mark.parametrize("at, method", list(enumerate(two_correlations.METHODS)))
def test_averages_of_groups_are_warned_of(small, at, method):
    """Not single correlations: elsewhere nothing is said, or it would be an error here."""
    level = ("input", "within_system")[at % 2]
    told = f"level={level!r} as one correlation.* very conservative .* Use compare_metrics.level={level!r}"
    with pytest.warns(UserWarning, match=told):
        small.meta.corr_test("m0", level=level, method=method)
    small.meta.corr_test("m0", level="system", method=method)
    told = "all outputs as independent.* intervals are too narrow.* Use compare_metrics.level='global'"
    with pytest.warns(UserWarning, match=told):
        small.meta.corr_test("m0", level="global", method=method)


@pytest.mark.slow
@OF_AVERAGES
def test_of_averages_it_finds_nothing_where_its_level_is_one_in_twenty():
    """Two metrics that differ by noise alone: of a hundred sets of scores none is small, on single inputs some are."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=(1, 10, 30, 100))
    score = np.concatenate([z, z + rng.normal(size=(2, *z.shape[1:]))])
    ds = xr.Dataset({"score": (("metric", "system", "input", "set"), score)}, {"metric": ["m0", "m1", "m2"]})
    both = {"metric": "m1", "other": "m2", "level": "input"}
    found = [each.meta.corr_test("m0", **both).pvalue <= 0.05 for each in (ds, ds.isel(input=[0]))]
    assert int(found[0].sum()) == 0 and 1 <= int(found[1].sum()) <= 12


@pytest.mark.parametrize("confidence_level", [0.5, 0.95, 0.99])
def test_zous_interval_has_the_level_that_is_asked_for(small, confidence_level):
    """Both limits by the formula, from SciPy's normal quantile; the null difference is inside where p is above."""
    got = small.meta.corr_test("m0", method="zou", confidence_level=confidence_level)
    r = small.meta.metric_corr().correlation
    one, two = "m1", "m3"
    r_1, r_2, r_3 = (float(r.sel(metric=a, other_metric=b)) for a, b in ((one, "m0"), (two, "m0"), (one, two)))
    error = scipy.stats.norm.ppf((1 + confidence_level) / 2) / np.sqrt(6 - 3)
    l_1, u_1, l_2, u_2 = (np.tanh(np.arctanh(each) + sign * error) for each in (r_1, r_2) for sign in (-1, 1))
    c = ((r_3 - r_1 * r_2 / 2) * (1 - r_1**2 - r_2**2 - r_3**2) + r_3**3) / ((1 - r_1**2) * (1 - r_2**2))
    low = r_1 - r_2 - np.sqrt((r_1 - l_1) ** 2 + (u_2 - r_2) ** 2 - 2 * c * (r_1 - l_1) * (u_2 - r_2))
    high = r_1 - r_2 + np.sqrt((u_1 - r_1) ** 2 + (r_2 - l_2) ** 2 - 2 * c * (u_1 - r_1) * (r_2 - l_2))
    cell = got.sel(metric=one, other_metric=two)
    assert [float(cell.ci_low), float(cell.ci_high)] == pytest.approx([low, high], abs=1e-9)
    assert got.attrs["confidence_level"] == confidence_level


def test_corr_test_does_not_depend_on_the_order_of_metrics(small):
    want = small.meta.corr_test("m0", method="zou")
    turned = small.sel(metric=["m3", "m0", "m2", "m1"]).meta.corr_test("m0", method="zou")
    xr.testing.assert_identical(turned.sel(metric=want.metric, other_metric=want.other_metric), want)


def test_corr_test_of_a_metric_that_is_better_when_lower(small):
    turned = small.assign(score=small.score * xr.DataArray([1, -1, 1, 1], dims="metric"))
    turned = turned.assign_coords(higher_is_better=("metric", [True, False, True, True]))
    got, want = (each.meta.corr_test("m0", alternative="greater") for each in (turned, small))
    np.testing.assert_allclose(got.pvalue, want.pvalue, atol=1e-12)


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"method": "wiliams"}, "method must be one of .*got 'wiliams'; did you mean 'williams'"),
        ({"alternative": "more"}, "alternative must be one of"),
        ({"confidence_level": 95}, "confidence_level must lie strictly between 0 and 1"),
        ({"metric": ["m1"]}, "a comparison needs two metrics"),
        ({"method": "wilcoxon"}, "method='wilcoxon' .*needs level='input' or 'within_system', got level='system'"),
        ({"method": "wilcoxon", "level": "global"}, "method='wilcoxon' .*needs .*, got level='global'"),
        ({"method": "signed_rank", "level": "input"}, "method must be one of .*; did you mean 'wilcoxon'"),
        ({"method": "wilcoxon", "level": "input", "coefficient": "acc_eq"}, "between metrics use a correlation"),
    ],
)
def test_bad_keywords_of_corr_test(small, keywords, message):
    with pytest.raises(ValueError, match=message):
        small.meta.corr_test("m0", **keywords)


def test_a_value_is_compared_with_by_signed_ranks_alone(demo):
    found = demo.meta.corr_test("human", metric="judge", method="wilcoxon", level="input", against=0.1)
    assert np.isfinite(found.pvalue).all()
    for method in ("williams", "zou"):
        with pytest.raises(ValueError, match=f"needs method='wilcoxon', got method='{method}'"):
            demo.meta.corr_test("human", metric="judge", method=method, level="input", against=0.1)


@pytest.mark.filterwarnings("ignore")
def test_tests_over_the_inputs_of_each_system_are_of_these_systems(demo):
    within = demo.meta.corr_test("human", level="within_system")
    assert within.attrs["scope"] == "these systems"
    assert "inputs like these" in within.meta.conclusion() and "systems like these" not in within.meta.conclusion()
