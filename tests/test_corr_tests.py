import numpy as np
import pytest
import reference
import xarray as xr
from helpers import rows

from xsumstat import dependent


@pytest.mark.parametrize("method", dependent.METHODS)
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
            value = dependent.statistic(method, *three, n)
            assert float(cell.difference) == pytest.approx(three[0] - three[1])
            assert float(cell.statistic) == pytest.approx(float(value), rel=1e-6)
            assert float(cell.pvalue) == pytest.approx(float(dependent.pvalue(method, value, n, "greater")), rel=1e-6)
    if method == "zou":
        np.testing.assert_allclose(test.ci_low, -test.ci_high.transpose("other_metric", "metric"), atol=1e-12)
        assert ((test.ci_low < test.difference) | test.difference.isnull()).all()


@pytest.mark.filterwarnings("ignore:metrics compared on fewer")
@pytest.mark.parametrize("missing", ["pairwise", "available"])
@pytest.mark.parametrize("level", ["system", "input", "global"])
def test_corr_test_uses_the_cells_that_a_pair_shares(small, level, missing):
    """All three correlations of a pair, and n, by the plain-Python twin on the masked scores."""
    small.score[0, 1, 2] = small.score[1, 2, 1] = small.score[2, :, 3] = small.score[3, 4] = np.nan
    test = small.meta.corr_test("m0", level=level, missing=missing, alternative="greater")
    gold = small.score.sel(metric="m0").values
    for one, two in (("m1", "m2"), ("m3", "m1"), ("m2", "m3")):
        x, y = (small.score.sel(metric=metric).values for metric in (one, two))
        both = ~np.isnan(x + y) & (~np.isnan(gold) | (missing == "available"))
        x, y = (rows(np.where(both, values, np.nan)) for values in (x, y))
        three = [
            reference.correlation("pearson", a, b, level, missing)
            for a, b in ((x, rows(gold)), (y, rows(gold)), (x, y))
        ]
        n = max(len(a) for a, _, _ in reference.groups(x, rows(gold), level, missing))
        cell = test.sel(metric=one, other_metric=two)
        assert float(cell.difference) == pytest.approx(three[0] - three[1], abs=1e-12)
        assert float(cell.statistic) == pytest.approx(float(dependent.statistic("williams", *three, n)), abs=1e-9)


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
        ({"metric": ["m1"]}, "a test needs two metrics"),
    ],
)
def test_bad_keywords_of_corr_test(small, keywords, message):
    with pytest.raises(ValueError, match=message):
        small.meta.corr_test("m0", **keywords)
