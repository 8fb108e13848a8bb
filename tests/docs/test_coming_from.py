"""*Coming from* says "the same": such rows whose peer is installed, run side by side; and where it is not the same."""

from pathlib import Path

import krippendorff
import numpy as np
import pytest
import scipy.stats
import xarray as xr
from nlpstats.correlations import fisher
from nlpstats.correlations.correlations import correlate
from nlpstats.correlations.williams import williams_test
from statsmodels.stats.multitest import multipletests

import xsumstat  # noqa: F401

PAGE = Path(__file__).parents[2] / "docs" / "coming_from.md"


def scores(seed=1, systems=8, inputs=12, sign=1):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, 1)) + rng.normal(size=(systems, inputs))
    x, y = (human + rng.normal(size=human.shape) for _ in range(2))
    values = np.stack([sign * x, y + rng.normal(size=y.shape), human])
    return xr.Dataset({"score": (("metric", "system", "input"), values)}, {"metric": ["x", "y", "human"]})


def arrays(ds):
    return (ds.score.sel(metric=name).values for name in ("x", "y", "human"))


@pytest.fixture
def ds():
    return scores()


def test_correlations(ds):
    x, _, z = arrays(ds)
    asked = {"metric": "x", "gold": "human"}
    r = scipy.stats.pearsonr(x.mean(1), z.mean(1)).statistic
    assert float(ds.meta.corr(**asked).correlation[0]) == pytest.approx(r)
    assert correlate(x, z, "system", "pearson") == pytest.approx(r)
    tau = scipy.stats.kendalltau(x.mean(1), z.mean(1)).statistic
    assert float(ds.meta.corr(coefficient="kendall", **asked).correlation[0]) == pytest.approx(tau)
    each = [scipy.stats.kendalltau(x[:, j], z[:, j]) for j in range(x.shape[1])]
    asked |= {"level": "input", "coefficient": "kendall"}
    got = ds.meta.corr(**asked).correlation[0]
    assert float(got) == pytest.approx(np.mean([one.statistic for one in each]))
    alone = ds.meta.corr(average=False, **asked).sel(metric="x")
    np.testing.assert_allclose(alone.correlation, [one.statistic for one in each])
    np.testing.assert_allclose(alone.pvalue, [one.pvalue for one in each])


def test_systems(ds):
    _, _, z = arrays(ds)
    for method, peer in (("paired_t", scipy.stats.ttest_rel), ("wilcoxon", scipy.stats.wilcoxon)):
        got = ds.meta.compare_systems(metric="human", method=method, n_resamples=99).pvalue.squeeze("metric")
        assert float(got[0, 1]) == pytest.approx(peer(z[0], z[1]).pvalue)


def test_fisher(ds):
    x, _, z = arrays(ds)
    got = ds.meta.ci("human", metric="x", method="fisher")
    want = fisher(x, z, "system", "pearson")
    assert [float(got.ci_low[0]), float(got.ci_high[0])] == pytest.approx([want.lower, want.upper])


def williams(ds):
    x, y, z = arrays(ds)
    ours = ds.meta.corr_test("human", metric="x", other="y", method="williams", alternative="greater").pvalue
    return float(ours.squeeze()), williams_test(x, y, z, "system", "pearson", alternative="greater").pvalue


def test_williams_of_positive_correlations(ds):
    ours, theirs = williams(ds)
    assert ours == pytest.approx(theirs)


def by_hand(r12, r13, r23, n):
    """Williams' t (Williams 1959; Graham & Baldwin 2014) that r12 exceeds r13, and the share of t above it."""
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    low = 2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    return scipy.stats.t.sf((r12 - r13) * np.sqrt((n - 1) * (1 + r23) / low), n - 3)


@pytest.mark.ignore_codes("direction")
def test_williams_of_opposite_signs():
    """nlpstats takes absolute values, and finds x the stronger; here the sign counts."""
    ds = scores(sign=-1)
    x, y, z = (each.mean(1) for each in arrays(ds))
    r = [scipy.stats.pearsonr(one, other).statistic for one, other in ((z, x), (z, y), (x, y))]
    assert r[0] < 0 < r[1]
    ours, theirs = williams(ds)
    assert ours == pytest.approx(by_hand(*r, len(z)))
    assert theirs == pytest.approx(by_hand(*np.abs(r), len(z)))
    assert (round(r[0], 2), round(r[1], 2), round(theirs, 2), round(ours, 4)) == (-0.94, 0.93, 0.37, 0.9996)
    row = next(line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `williams_test"))
    assert "−.94 and .93" in row and "p is .37 there and .9996 here" in row and not row.endswith("| the same |")


def test_krippendorff_and_p_adjust(ds):
    grades = np.random.default_rng(2).integers(1, 6, size=(3, 8, 6)).astype(float)
    rating = xr.DataArray(grades, dims=("rater", "system", "input"), name="rating")
    got = xr.Dataset({"rating": rating}).meta.agreement("rating", measurement="ordinal")
    want = krippendorff.alpha(grades.reshape(3, -1), level_of_measurement="ordinal")
    assert float(got.alpha if "alpha" in got else got.agreement) == pytest.approx(want)
    p = ds.meta.perm_test("human", n_resamples=99, rng=1)
    assert float(p.meta.adjust("holm").pvalue_adjusted[0, 1]) == pytest.approx(
        multipletests([float(p.pvalue[0, 1])], method="holm")[1][0]
    )
