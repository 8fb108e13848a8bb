"""Correlations over pairs of systems that a metric scores close, against plain loops."""

import itertools

import numpy as np
import pytest
import scipy.stats
import xarray as xr

from xsumstat.resampling import draws


def plain(x, z, low, high, coefficient, names=None):
    """The coefficient of the pairs of means within limits, and how many there are; copies are no pair."""
    concordant = discordant = untied_x = untied_z = pairs = 0
    for a, b in itertools.combinations(range(len(x)), 2):
        if names is not None and names[a] == names[b]:
            continue
        gap, other = x[a] - x[b], z[a] - z[b]
        if not low - 1e-12 <= abs(gap) <= high + 1e-12:
            continue
        gap, other = (0.0 if abs(each) < 1e-12 else each for each in (gap, other))
        pairs += 1
        untied_x += gap != 0
        untied_z += other != 0
        concordant += gap * other > 0
        discordant += gap * other < 0
    if coefficient == "pairwise_accuracy":
        return concordant / pairs if pairs else np.nan, pairs
    if not (untied_x and untied_z):
        return np.nan, pairs
    divisor = pairs if coefficient == "kendall_a" else np.sqrt(untied_x * untied_z)
    return (concordant - discordant) / divisor, pairs


@pytest.fixture
def ds():
    rng = np.random.default_rng(3)
    z = rng.integers(0, 4, (9, 6)).astype(float)
    x = np.round(z + 2 * rng.normal(size=(2, 9, 6)), 1)
    score = np.concatenate([x, z[None]])
    return xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": ["a", "b", "human"]})


pytestmark = pytest.mark.ignore_codes("resamples_undefined")

LIMITS = [(0.0, 0.5), (0.2, 0.9), (0.0, 9.0)]


@pytest.mark.parametrize("coefficient", ["kendall", "kendall_a", "pairwise_accuracy"])
def test_estimates_and_samples_equal_plain_loops(ds, coefficient):
    gaps = [0.5, (0.2, 0.9), 9.0]
    kw = {"method": "bootstrap", "n_resamples": 50, "rng": 4}
    got = ds.meta.close_corr("human", gap=gaps, unit="score", coefficient=coefficient, **kw)
    assert got.gap.values.tolist() == ["to 0.5", "0.2 to 0.9", "to 9"]
    z = ds.score.sel(metric="human").values
    for name in ("a", "b"):
        x = ds.score.sel(metric=name).values
        systems, inputs = draws.counts(4, "system", 9, 0, 50), draws.counts(4, "input", 6, 0, 50)
        for (low, high), one in zip(LIMITS, got.sel(metric=name).transpose("gap", ...).gap, strict=True):
            here = got.sel(metric=name, gap=one)
            r, pairs = plain(x.mean(axis=1), z.mean(axis=1), low, high, coefficient)
            assert float(here.correlation) == pytest.approx(r, nan_ok=True) and int(here.n_pairs) == pairs
            samples = []
            for w, v in zip(systems, inputs, strict=True):
                rows, columns = np.repeat(np.arange(9), w), np.repeat(np.arange(6), v)
                means = (m[np.ix_(rows, columns)].mean(axis=1) for m in (x, z))
                samples.append(plain(*means, low, high, coefficient, rows)[0])
            assert int(here.n_undefined) == np.isnan(samples).sum()
            assert float(here.standard_error) == pytest.approx(np.nanstd(samples, ddof=1), nan_ok=True)


def plain_jackknife(x, z, low, high, coefficient):
    """The standard error over systems, and the 90 % limits, of one gap that is not perfect, by their formulas."""
    n = len(x)
    p, pairs = plain(x, z, low, high, coefficient)
    left_out = [plain(np.delete(x, at), np.delete(z, at), low, high, coefficient)[0] for at in range(n)]
    scale = 2 if coefficient == "pairwise_accuracy" else 1
    r, left_out = scale * p - (scale - 1), scale * np.array(left_out) - (scale - 1)
    known = left_out[~np.isnan(left_out)]
    own = ((n - 2) / (n - 1)) ** 2 * (n - 1) / n * np.sum((known - known.mean()) ** 2)
    single = (1 - r**2) / pairs * (1 - pairs / (n * (n - 1) / 2))
    error = np.sqrt(max(own - single, single))
    reach = scipy.stats.t.ppf(0.95, n - 1) * error / (1 - r**2)
    middle = np.arctanh(min(1 - 1 / pairs, max(1 / pairs - 1, r)))
    limits = [min(r, np.tanh(middle - reach)), max(r, np.tanh(middle + reach))]
    return error / scale, [(each + scale - 1) / scale for each in limits], len(left_out) - len(known)


@pytest.mark.parametrize("coefficient", ["kendall", "kendall_a", "pairwise_accuracy"])
def test_the_jackknife_takes_single_pairs_once(ds, coefficient):
    gaps = [0.9, (0.2, 0.9), 9.0]
    kw = {"gap": gaps, "unit": "score", "coefficient": coefficient, "confidence_level": 0.9}
    got = ds.meta.close_corr("human", resample="system", **kw)
    assert got.attrs["method"] == "jackknife" and "seed" not in got.attrs
    z = ds.score.sel(metric="human").mean("input").values
    for name in ("a", "b"):
        x = ds.score.sel(metric=name).mean("input").values
        for at, (low, high) in enumerate([(0.0, 0.9), *LIMITS[1:]]):
            here = got.sel(metric=name).isel(gap=at)
            error, limits, undefined = plain_jackknife(x, z, low, high, coefficient)
            assert float(here.standard_error) == pytest.approx(error, abs=1e-12)
            assert [float(here.ci_low), float(here.ci_high)] == pytest.approx(limits, abs=1e-12)
            assert int(here.n_undefined) == undefined
    # Inputs add to each gap's variance what they add to that of Pearson's r.
    errors = [ds.meta.ci("human", resample=each).standard_error for each in ("both", "system")]
    both = ds.meta.close_corr("human", **kw)
    np.testing.assert_allclose(both.standard_error, got.standard_error * (errors[0] / errors[1]), rtol=1e-9)


def test_pairs_that_are_all_ordered_alike_have_fishers_interval():
    """Of ten systems in one order the closest 9 pairs, as many as 4.77 systems have; of two pairs nothing is known."""
    means = np.arange(10.0) ** 1.5
    score = np.array([means, 2 * means])[:, :, None] + np.zeros((2, 10, 4))
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": ["a", "human"]})
    got = ds.meta.close_corr("human", gap=[0.2, 0.04], resample="system").squeeze("metric")
    n = (1 + np.sqrt(1 + 8 * 9)) / 2
    low = np.arctanh(1 - 1 / 9) - scipy.stats.t.ppf(0.975, n - 1) * np.sqrt(0.437 / (n - 4))
    assert got.n_pairs.values.tolist() == [9, 2] and got.correlation.values.tolist() == [1.0, 1.0]
    assert float(got.ci_low[0]) == pytest.approx(np.tanh(low), abs=1e-12)
    assert got.ci_low.values[1] == -1.0 and got.ci_high.values.tolist() == [1.0, 1.0]


def test_three_systems_have_no_interval(ds):
    with pytest.warns(UserWarning) as said:
        got = ds.isel(system=slice(3)).meta.close_corr("human", gap=1.0, resample="both")
    assert any("no jackknife interval, which needs 4 systems" in str(each.message) for each in said)
    assert got.ci_low.isnull().all() and got.correlation.notnull().all()


def test_new_inputs_alone_are_drawn(ds):
    kw = {"resample": "input", "n_resamples": 19, "rng": 0}
    got = ds.meta.close_corr("human", **kw)
    assert got.attrs["method"] == "bootstrap" and got.attrs["interval"] == "percentile"
    xr.testing.assert_identical(got, ds.meta.close_corr("human", method="bootstrap", **kw))
    named = ds.meta.close_corr("human", interval="basic", n_resamples=19, rng=0)
    assert named.attrs["method"] == "bootstrap" and named.attrs["interval"] == "basic"


@pytest.mark.parametrize("kw", [{}, {"method": "bootstrap", "n_resamples": 99, "rng": 1}])
def test_all_pairs_are_the_usual_correlation(ds, kw):
    got = ds.meta.close_corr("human", gap=1.0, **kw).squeeze("gap", drop=True)
    want = ds.meta.ci("human", coefficient="kendall", **kw)
    for name in ("correlation", "ci_low", "ci_high", "standard_error"):
        np.testing.assert_allclose(got[name], want[name], atol=1e-12)
    assert (got.n_pairs == 36).all()


def test_a_share_of_the_pairs_is_that_of_the_closest(ds):
    got = ds.meta.close_corr("human", gap=[0.25, (0.25, 1.0)], n_resamples=9, rng=0)
    means = ds.score.sel(metric="a").mean("input").values
    gaps = np.sort([abs(p - q) for p, q in itertools.combinations(means, 2)])
    assert float(got.gap_high.sel(metric="a", gap="to 0.25")) == pytest.approx(gaps[8])
    assert int(got.n_pairs.sel(metric="a", gap="to 0.25")) == sum(gaps <= gaps[8] + 1e-12)


def test_people_may_have_scored_a_part(ds):
    human = ds.score.sel(metric="human").where(xr.DataArray(np.arange(6) < 3, dims="input"))
    part = ds.drop_sel(metric="human").assign(human=human.drop_vars("metric"))
    got = part.meta.close_corr("human", gap=9.0, unit="score", missing="available", n_resamples=9, rng=0)
    x = ds.score.sel(metric="a").mean("input").values
    want = plain(x, human.mean("input").values, 0.0, 9.0, "kendall")[0]
    assert float(got.correlation.sel(metric="a").squeeze()) == pytest.approx(want)


@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_all_numbers_say_what_they_are_and_gaps_that_they_are_the_metrics(ds, method):
    found = ds.meta.close_corr("human", method=method, n_resamples=9, rng=0)
    told = {name: found[name].attrs["long_name"] for name in (*found.data_vars, "gap")}
    assert all(told.values()) and all(found[name].attrs["units"] for name in told)
    assert all("by the metric" in told[name] for name in ("gap_low", "gap_high"))
    assert "gold" not in told["gap"] and "the metric" in told["gap"]


def test_a_tuple_is_one_pair_of_limits(ds):
    kw = {"n_resamples": 9, "rng": 0}
    xr.testing.assert_identical(
        ds.meta.close_corr("human", gap=(0.2, 0.9), **kw), ds.meta.close_corr("human", gap=[(0.2, 0.9)], **kw)
    )


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_size_of_the_scores_does_not_matter(ds, scale):
    limits = {"unit": "score", "n_resamples": 20, "rng": 0}
    want = ds.meta.close_corr("human", gap=[0.5, (0.2, 0.9)], **limits)
    got = (ds * scale).meta.close_corr("human", gap=[0.5 * scale, (0.2 * scale, 0.9 * scale)], **limits)
    np.testing.assert_allclose(got.correlation, want.correlation, atol=1e-12)
    np.testing.assert_allclose(got.gap_high, want.gap_high * scale)


@pytest.mark.parametrize(
    "keywords, text",
    [
        ({"gap": []}, "gap is an empty list"),
        ({"gap": [(0.5, 0.2)]}, "gap must go from a smaller to a larger number"),
        ({"gap": 2.0}, "gap must be at least 0 and at most 1"),
        ({"gap": [0.5, 0.5]}, "gap repeats "),
        ({"coefficient": "pearson"}, "coefficient must be one of"),
        ({"unit": "scores"}, "unit must be one of"),
        ({"interval": "bca"}, "interval must be one of"),
        ({"method": "fisher"}, "method must be one of"),
        ({"method": "jackknife", "interval": "basic"}, "needs method='bootstrap'"),
        ({"method": "jackknife", "resample": "input"}, "needs method='bootstrap'"),
    ],
)
def test_bad_input(ds, keywords, text):
    with pytest.raises(ValueError, match=text):
        ds.meta.close_corr("human", **keywords)


@pytest.mark.parametrize("missing", ["pairwise", "available"])
@pytest.mark.ignore_codes("fewer_labels")
def test_a_metric_that_lacks_a_system_has_the_pairs_of_the_others(ds, missing):
    """Shares are of the pairs that it scores, whatever is left of the places of the others."""
    score = ds.score.copy()
    score[0, 2] = score[0, 5, 1:] = np.nan
    kw = {"gap": [0.3, (0.3, 1.0)], "missing": missing}
    got = score.to_dataset().meta.close_corr("human", method="bootstrap", n_resamples=40, rng=5, **kw)
    left_out = score.to_dataset().meta.close_corr("human", resample="system", confidence_level=0.9, **kw)
    x, z = score.sel(metric="a").values, score.sel(metric="human").values
    here = [0, 1, 3, 4, 5, 6, 7, 8]

    def means(values, rows, columns, both):
        values = np.where(both, values, np.nan)[np.ix_(rows, columns)]
        return np.array([np.nan if np.isnan(row).all() else np.nanmean(row) for row in values])

    both = np.ones(x.shape, bool) if missing == "available" else ~np.isnan(x)
    whole = np.arange(6)
    p, q = means(x, here, whole, both), means(z, here, whole, both)
    gaps = np.sort([abs(one - two) for one, two in itertools.combinations(p, 2)])
    edge = gaps[int(np.ceil(0.3 * 28)) - 1]
    for name, (low, high) in (("to 0.3", (0.0, edge)), ("0.3 to 1", (edge, np.inf))):
        cell = got.sel(metric="a", gap=name)
        r, pairs = plain(p, q, low, high, "kendall")
        assert float(cell.correlation) == pytest.approx(r) and int(cell.n_pairs) == pairs
        assert float(cell.gap_low) == pytest.approx(low) and float(cell.gap_high) == pytest.approx(high)
        error, limits, _ = plain_jackknife(p, q, low, high, "kendall")
        lone = left_out.sel(metric="a", gap=name)
        assert [float(lone[each]) for each in ("standard_error", "ci_low", "ci_high")] == pytest.approx(
            [error, *limits]
        )
        samples = []
        for w, v in zip(draws.counts(5, "system", 9, 0, 40), draws.counts(5, "input", 6, 0, 40), strict=True):
            rows, columns = np.repeat(np.arange(9), w), np.repeat(whole, v)
            one, two = means(x, rows, columns, both), means(z, rows, columns, both)
            known = ~np.isnan(one) & ~np.isnan(two)
            samples.append(plain(one[known], two[known], low, high, "kendall", rows[known])[0])
        assert float(cell.standard_error) == pytest.approx(np.nanstd(samples, ddof=1))
        assert int(cell.n_undefined) == np.isnan(samples).sum()


@pytest.mark.ignore_codes("few_systems")
def test_four_systems_have_an_interval(ds):
    four = ds.isel(system=slice(4))
    got = four.meta.close_corr("human", gap=9.0, unit="score", resample="system", confidence_level=0.9)
    z = four.score.sel(metric="human").mean("input").values
    for name in ("a", "b"):
        x, here = four.score.sel(metric=name).mean("input").values, got.sel(metric=name).squeeze()
        error, limits, _ = plain_jackknife(x, z, 0.0, 9.0, "kendall")
        assert float(here.standard_error) == pytest.approx(error, abs=1e-12)
        assert [float(here.ci_low), float(here.ci_high)] == pytest.approx(limits, abs=1e-12)


def test_two_inputs_add_what_they_add_to_pearsons_r(ds):
    two = ds.isel(input=[4, 5])
    of = {each: two.meta.close_corr("human", gap=9.0, unit="score", resample=each) for each in ("both", "system")}
    errors = [two.meta.ci("human", resample=each).standard_error for each in ("both", "system")]
    added = of["system"].standard_error * np.maximum(errors[0] / errors[1], 0)
    np.testing.assert_allclose(of["both"].standard_error, added, rtol=1e-9)
    assert (of["both"].standard_error > of["system"].standard_error).any()


def test_limits_may_be_one_number(ds):
    """Pairs exactly so far apart; a gap from a larger to a smaller number is none."""
    means = np.array([0.0, 1.0, 2.0, 4.0, 5.0])
    z = np.array([1.0, 0.0, 3.0, 2.0, 4.0])
    score = np.array([means, z])[:, :, None] + np.zeros((2, 5, 3))
    apart = xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": ["a", "human"]})
    kw = {"unit": "score", "coefficient": "pairwise_accuracy", "method": "bootstrap", "n_resamples": 9, "rng": 1}
    got = apart.meta.close_corr("human", gap=(1.0, 1.0), **kw).squeeze()
    assert (float(got.correlation), int(got.n_pairs)) == plain(means, z, 1.0, 1.0, "pairwise_accuracy")
    with pytest.raises(ValueError, match="gap must go from a smaller to a larger number"):
        apart.meta.close_corr("human", gap=(1.0, 0.5), **kw)
