import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
import xarray as xr
from conftest import warns
from helpers import padded

import xsumstat  # noqa: F401
from xsumstat.analyses import scoring_range


def kept(ds):
    return ds.score.notnull().any("metric").transpose("system", "input").values


@pytest.mark.ignore_codes("input_not_in_range")
@pytest.mark.parametrize("keep", ["any", "all"])
def test_the_three_ranges_equal_plain_loops(demo, keep):
    names = ["judge", "rouge", "perplexity"]  # of which the last is better when lower
    x = {name: demo.score.sel(metric=name).values * (-1 if name == "perplexity" else 1) for name in names}
    some = any if keep == "any" else all
    base = demo.system.values.tolist().index("abstractor-3")
    lows, highs = {"judge": 40, "rouge": 0.2, "perplexity": 10}, {"judge": 60, "rouge": 0.3, "perplexity": 20}
    between = lows, highs
    limits = {"judge": 60, "rouge": 0.3, "perplexity": 15}
    got = {
        "baseline": demo.meta.scoring_range(baseline="abstractor-3", metrics=names, keep=keep),
        "above": demo.meta.scoring_range(above=limits, metrics=names, keep=keep),
        "between": demo.meta.scoring_range(between=between, metrics=names, keep=keep),
    }
    for i in range(12):
        for j in range(30):
            better = {n: x[n][i, j] > x[n][base, j] for n in names}
            assert kept(got["baseline"])[i, j] == some(better.values())
            raw = {n: float(demo.score.sel(metric=n)[i, j]) for n in names}
            above = [raw["judge"] > 60, raw["rouge"] > 0.3, raw["perplexity"] < 15]
            assert kept(got["above"])[i, j] == some(above)
            within = [40 <= raw["judge"] <= 60, 0.2 <= raw["rouge"] <= 0.3, 10 <= raw["perplexity"] <= 20]
            assert kept(got["between"])[i, j] == some(within)
    for part in got.values():
        np.testing.assert_array_equal(part.score.where(part.score.notnull(), 0), demo.score.where(kept(part)[None], 0))


def decimal(x, name="a", **coords):
    """Scores (system, input) of one metric."""
    return xr.Dataset(
        {"score": (("metric", "system", "input"), np.asarray(x, float)[None])}, {"metric": [name], **coords}
    )


@pytest.mark.slow
def test_rounding_decides_nothing_at_a_limit():
    """1 to 5, .1 to .5 and .3 to .7 are the same shares of the way, whatever 64-bit numbers make of them."""
    grids = [[1, 2, 3, 4, 5], [0.1, 0.2, 0.3, 0.4, 0.5], [0.3, 0.4, 0.5, 0.6, 0.7], [100.1, 100.2, 100.3, 100.4, 100.5]]
    for grid in grids:
        for sign in (1, -1):
            ds = decimal(sign * np.array([grid, grid]).T, higher_is_better=("metric", [sign > 0]))
            for unit, half in (("normalised", 0.5), ("quantile", 0.5), ("normalised", 0.1 + 0.3 + 0.1)):
                within = kept(ds.meta.scoring_range(between=(half, 1), unit=unit))
                above = kept(ds.meta.scoring_range(above=half, unit=unit))
                below = kept(ds.meta.scoring_range(between=(0, half), unit=unit))
                assert within.tolist() == [[at >= 2] * 2 for at in range(5)]
                assert above.tolist() == [[at > 2] * 2 for at in range(5)]
                assert below.tolist() == [[at <= 2] * 2 for at in range(5)]
    ds = decimal(np.array([grids[0]]).T)
    assert kept(ds.meta.scoring_range(above=1 - 0.7, unit="quantile"))[:, 0].tolist() == [
        False,
        False,
        True,
        True,
        True,
    ]
    assert kept(ds.meta.scoring_range(between=(1 - 0.7, 0.1 * 3), unit="quantile"))[:, 0].sum() == 1
    ds = ds.assign(score=ds.score / 10)  # scores as they are keep their every bit
    assert kept(ds.meta.scoring_range(above=0.1 + 0.2))[:, 0].tolist() == [False, False, False, True, True]
    assert kept(ds.meta.scoring_range(above=0.3))[:, 0].tolist() == [False, False, False, True, True]
    assert kept(ds.meta.scoring_range(between=(0.1 + 0.2, 1)))[:, 0].tolist() == [False, False, False, True, True]


@pytest.mark.ignore_codes("input_not_in_range")
@pytest.mark.parametrize("step", ["1", "0.1", "0.01", "0.05"])
def test_normalised_limits_equal_exact_fractions(step):
    rng = np.random.default_rng(int(1000 * float(step)))
    starts = ("0", "0.3", "-0.7", "12.1", "1000.2")
    places = rng.integers(0, 9, (len(starts), 7, 4))
    exact = [
        [[Fraction(start) + int(at) * Fraction(step) for at in row] for row in each]
        for start, each in zip(starts, places, strict=True)
    ]
    ds = xr.Dataset({"score": (("language", "system", "input"), np.array(exact, float))}).expand_dims(metric=["a"])
    for limit in (Fraction(1, 2), Fraction(1, 4), Fraction(3, 8), Fraction(1, 3)):
        got = ds.meta.scoring_range(above=float(limit), unit="normalised").score.notnull()
        both = ds.meta.scoring_range(between=(float(limit), 1), unit="normalised").score.notnull()
        for at, each in enumerate(exact):  # each language from its own lowest to its own highest
            flat = [value for row in each for value in row]
            low, high = min(flat), max(flat)
            shares = [[(value - low) / (high - low) for value in row] for row in each]
            here = got.isel(metric=0, language=at).transpose("system", "input").values.tolist()
            assert here == [[share > limit for share in row] for row in shares], (starts[at], limit)
            here = both.isel(metric=0, language=at).transpose("system", "input").values.tolist()
            assert here == [[share >= limit for share in row] for row in shares], (starts[at], limit)


def test_scores_whose_range_is_no_number_are_normalised_all_the_same(demo):
    grid = np.linspace(-1, 1, 9).reshape(3, 3)
    huge, small = decimal(1.7e308 * grid), decimal(grid)
    for within in ("all", "input"):
        np.testing.assert_allclose(
            scoring_range.normalised(huge.score, within), scoring_range.normalised(small.score, within)
        )
    got = huge.meta.scoring_range(between=(0.25, 0.75), unit="normalised")
    np.testing.assert_array_equal(kept(got), kept(small.meta.scoring_range(between=(0.25, 0.75), unit="normalised")))
    assert kept(got).sum() == 5


def plain_best(x, top, keep):
    """Places (system, input) of the `top` best of each input by some or all metrics (metrics, system, input)."""
    found = np.zeros(x.shape[1:], dtype=bool)
    for j in range(x.shape[2]):
        chosen = []
        for values in x[:, :, j].tolist():
            there = [i for i, value in enumerate(values) if value == value]
            chosen.append(set(sorted(there, key=lambda i: values[i], reverse=True)[:top]))  # stable: the first of ties
        together = set.union(*chosen) if keep == "any" else set.intersection(*chosen)
        found[list(together), j] = True
    return found


def ties_at(values, top):
    """Whether the value at this place equals the next."""
    falling = sorted((each for each in values if each == each), reverse=True)
    return len(falling) > top and falling[top - 1] == falling[top]


@pytest.mark.ignore_codes("input_not_in_range", "tied_at_k")
@pytest.mark.parametrize("points", [None, 2], ids=["fine", "tied"])
@pytest.mark.parametrize("keep", ["any", "all"])
def test_the_best_of_each_input_equal_a_plain_sort(keep, points):
    ds = padded((9, 4, 7, 9, 1, 0), points=points)
    ds.score[1, 2, 0] = np.nan
    for top in (1, 3, 5, 9, 20):
        got = ds.meta.scoring_range(top=top, keep=keep)
        np.testing.assert_array_equal(kept(got), plain_best(ds.score.values, top, keep))
        one = ds.meta.scoring_range(top=top, metrics="m1")
        np.testing.assert_array_equal(kept(one), plain_best(ds.score.values[[1]], top, keep))
        np.testing.assert_array_equal(kept(one).sum(axis=0), np.minimum(top, ds.score[1].notnull().sum("system")))
        for each, by, metrics in ((got, f"{keep} of 3 metrics", [0, 1, 2]), (one, "m1", [1])):
            tied = any(ties_at(ds.score.values[at, :, j], top) for at in metrics for j in range(ds.sizes["input"]))
            told = " (of equal ones the first)" if tied else ""
            assert each.attrs["scoring_range"] == f"the {top} best of each input, by {by}{told}"
    lower = ds.assign_coords(higher_is_better=("metric", [True, False, True]))
    turned = ds.score.values * np.array([1, -1, 1])[:, None, None]
    np.testing.assert_array_equal(kept(lower.meta.scoring_range(top=2, keep=keep)), plain_best(turned, 2, keep))


@pytest.mark.ignore_codes("tied_at_k")
def test_peyrards_high_ranges_on_summeval(summeval):
    """What beats LEAD-3 by some metric, and the five best by either of two metrics, by plain loops."""
    names = ["rouge-2_f1", "rouge-l_f1", "bertscore_f1"]
    x = summeval.score.sel(metric=names).transpose("metric", "system", "input").values
    lead = summeval.system.values.tolist().index("M0")
    high = summeval.meta.scoring_range(baseline="M0", metrics=names)
    beats = [[any(x[m, i, j] > x[m, lead, j] for m in range(3)) for j in range(100)] for i in range(16)]
    np.testing.assert_array_equal(kept(high), beats)
    how = {"level": "input", "coefficient": "kendall", "metric": names}
    pairs = summeval.meta.metric_corr(top=5, **how).correlation
    for a, b in ((0, 1), (0, 2), (1, 2)):
        inside = plain_best(x[[a, b]], 5, "any")
        each = [scipy.stats.kendalltau(x[a, inside[:, j], j], x[b, inside[:, j], j]).statistic for j in range(100)]
        assert float(pairs[a, b]) == pytest.approx(np.nanmean(each))
        both = np.array(beats)
        each = [
            scipy.stats.kendalltau(x[a, both[:, j], j], x[b, both[:, j], j]).statistic
            for j in range(100)
            if both[:, j].sum() > 1
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert float(high.meta.metric_corr(**how).correlation[a, b]) == pytest.approx(np.nanmean(each))


@pytest.mark.ignore_codes("tied_at_k", "few_systems")
def test_ties_among_the_best_are_broken_by_order_in_every_layout():
    ds = decimal([[3, 1], [3, 1], [5, 1], [3, 1]])
    with warns("tied_at_k", "^on 2 of 2 inputs outputs tie for place 2, the last that is kept"):
        one = ds.meta.scoring_range(top=2)
    assert one.attrs["scoring_range"].endswith("(of equal ones the first)")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds.isel(input=[0]).meta.scoring_range(top=1)
        ds.meta.scoring_range(top=4)
    with warns("tied_at_k", "^on 1 of 2 inputs outputs tie for place 1"):
        ds.meta.metric_corr(level="input", top=1)
    assert kept(ds.meta.scoring_range(top=2)).T.tolist() == [[True, False, True, False], [True, True, False, False]]
    both = xr.concat([ds, ds.isel(system=[2, 0, 1, 3])], "language").transpose("input", "language", "system", "metric")
    got = both.meta.scoring_range(top=2).score.notnull().isel(metric=0)
    for at, each in enumerate((ds, ds.isel(system=[2, 0, 1, 3]))):
        want = plain_best(each.score.values, 2, "any")
        np.testing.assert_array_equal(got.isel(language=at).transpose("system", "input"), want)
    pytest.importorskip("dask")
    lazy = both.chunk(system=2).meta.scoring_range(top=2)
    assert lazy.score.chunks is not None
    xr.testing.assert_equal(lazy.compute(), both.meta.scoring_range(top=2))


@pytest.mark.ignore_codes("input_not_in_range")
def test_units_equal_plain_loops():
    ds = padded(points=2)
    x = ds.score.values
    for unit in ("quantile", "normalised"):
        got = kept(ds.meta.scoring_range(above=0.6, unit=unit, metrics="m1"))
        both = kept(ds.meta.scoring_range(between=(0.25, 0.75), unit=unit, keep="all"))
        for j in range(4):
            for i in range(9):
                if np.isnan(x[1, i, j]):
                    assert not got[i, j]
                    continue
                places = []
                for m in range(3):
                    column = [v for v in x[m, :, j] if not np.isnan(v)]
                    if unit == "quantile":
                        lower, same = sum(v < x[m, i, j] for v in column), sum(v == x[m, i, j] for v in column)
                        places.append((lower + same / 2) / len(column))
                    else:
                        low, high = np.nanmin(x[m]), np.nanmax(x[m])
                        places.append((x[m, i, j] - low) / (high - low))
                assert got[i, j] == (places[1] > 0.6)
                assert both[i, j] == all(0.25 <= place <= 0.75 for place in places)


def test_it_chains_and_changes_nothing(demo):
    before = demo.copy(deep=True)
    rating = demo.score.sel(metric="human", drop=True).astype(int).expand_dims(rater=2)
    top = demo.assign(rating=rating).meta.scoring_range(baseline="extractor-1", metrics=["judge", "rouge"])
    xr.testing.assert_identical(demo, before)
    assert (top.rating.isnull().any("rater").transpose("system", "input").values == ~kept(top)).all()
    assert top.truth.equals(demo.truth)
    assert top.attrs == {**demo.attrs, "scoring_range": "better than extractor-1, by any of 2 metrics"}
    with pytest.warns(UserWarning):  # the baseline itself is not better than itself
        r = top.meta.corr("human", level="input", coefficient="kendall").correlation
    want = demo.assign(score=demo.score.where(xr.DataArray(kept(top), dims=("system", "input"))))
    with pytest.warns(UserWarning):
        xr.testing.assert_equal(r, want.meta.corr("human", level="input", coefficient="kendall").correlation)
    by_input = demo.score.sel(metric="judge", drop=True).mean("system")
    got = demo.meta.scoring_range(above=by_input, metrics="judge")
    assert (kept(got) == (demo.score.sel(metric="judge") > by_input).transpose("system", "input").values).all()


def test_scores_of_truth_values():
    rng = np.random.default_rng(0)
    ds = xr.Dataset({"score": (("metric", "system", "input"), rng.random((2, 6, 5)) > 0.5)}, {"metric": ["a", "b"]})
    got = ds.meta.scoring_range(above=0.5, metrics="a")
    assert (kept(got) == ds.score.sel(metric="a").values).all()


def test_normalised_scores():
    ds = padded()
    got = scoring_range.normalised(ds.score).values
    assert np.nanmin(got, axis=(1, 2)).tolist() == [0] * 3 and np.nanmax(got, axis=(1, 2)).tolist() == [1] * 3
    each = scoring_range.normalised(ds.score, "input").values
    assert (np.nanmin(each, axis=1) == 0).all() and (np.nanmax(each, axis=1) == 1).all()
    flat = scoring_range.normalised(xr.zeros_like(ds.score).where(ds.score.notnull()))
    assert (flat == 0.5).where(ds.score.notnull(), True).all() and flat.isnull().sum() == ds.score.isnull().sum()


def test_lazy_scores_stay_lazy(demo):
    pytest.importorskip("dask")
    lazy = demo.chunk().meta.scoring_range(above=0.5, unit="quantile", metrics=["judge", "bleu"])
    assert lazy.score.chunks is not None
    xr.testing.assert_equal(
        lazy.compute(), demo.meta.scoring_range(above=0.5, unit="quantile", metrics=["judge", "bleu"])
    )


@pytest.mark.parametrize(
    "keywords, error, message",
    [
        ({}, ValueError, "give one of above, between, baseline and top, got none"),
        ({"above": 1, "baseline": "extractor-1"}, ValueError, "got 'above', 'baseline'"),
        ({"above": 1, "top": 3}, ValueError, "got 'above', 'top'"),
        ({"top": 0}, ValueError, "top must be at least 1, got 0"),
        ({"top": 2.5}, TypeError, "top must be a whole number, got 2.5"),
        ({"top": True}, TypeError, "top must be a whole number, got True"),
        ({"top": 3, "unit": "quantile"}, ValueError, "top counts outputs, .+ got unit='quantile'"),
        ({"baseline": "lexrank"}, ValueError, "unknown baseline 'lexrank'"),
        ({"above": {"judge": 1}}, ValueError, "above has no limit for metrics? 'bertscore', 'rouge'"),
        ({"above": {"judge": 1, "jugde": 1}, "metrics": "judge"}, ValueError, "unknown metric in above 'jugde'"),
        ({"above": {"judge": None}, "metrics": "judge"}, TypeError, r"above\['judge'\] must be a number"),
        ({"above": np.nan}, ValueError, "above must be a number, got nan"),
        ({"between": (0.8, 0.2), "metrics": "judge"}, ValueError, "low <= high"),
        ({"above": xr.DataArray(np.zeros(12), dims="system")}, ValueError, "may have the dims 'metric', 'input'"),
        ({"above": xr.DataArray(np.zeros(3), dims="input")}, ValueError, "3 limits along 'input', where 30 are needed"),
        ({"above": xr.DataArray([1.0], {"metric": ["judge"]})}, ValueError, "no limit for metric"),
        ({"above": xr.DataArray([1.0], {"input": ["doc-01"]})}, ValueError, "no limit for input"),
        ({"above": "high"}, TypeError, "above must be a number"),
        ({"between": 3}, TypeError, r"between must be \(low, high\)"),
        ({"between": (0.9, 0.1), "unit": "quantile"}, ValueError, "low <= high"),
        ({"above": 3, "unit": "quantile"}, ValueError, r"above must lie in \[0, 1\] with unit='quantile'"),
        ({"above": 1, "keep": "some"}, ValueError, "keep must be one of 'any', 'all'"),
        ({"above": 1, "metrics": "jury"}, ValueError, "unknown metric 'jury'"),
        ({"above": 1e9, "metrics": "judge"}, ValueError, "leaves no output at all"),
    ],
)
def test_bad_arguments(demo, keywords, error, message):
    with pytest.raises(error, match=message):
        demo.meta.scoring_range(**keywords)


def test_inputs_that_lose_all_are_said(demo):
    ds = demo.copy(deep=True)
    ds.score[:, :, 3] = ds.score[:, :, 3].min("system")
    ds.score[:, 0, 5] = np.nan
    with pytest.warns(UserWarning) as caught:
        ds.meta.scoring_range(baseline=ds.system.values[0])
    texts = [str(each.message) for each in caught]
    assert any("left out 1 input without a score of the baseline" in text for text in texts)
    assert any("2 of 30 inputs without an output in the scoring range" in text for text in texts)


@pytest.mark.parametrize("lower", [False, True])
def test_the_ends_of_between_are_within_and_above_is_not(lower):
    """Also where lower is better, and where both ends are one number."""
    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 2.5]])
    ds = decimal(x).assign_coords(higher_is_better=("metric", [not lower]))
    how = {"unit": "score"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for low, high in ((2.0, 4.0), (3.0, 3.0)):
            np.testing.assert_array_equal(
                kept(ds.meta.scoring_range(between=(low, high), **how)), (low <= x) & (x <= high)
            )
        beyond = x < 3.0 if lower else x > 3.0
        np.testing.assert_array_equal(kept(ds.meta.scoring_range(above=3.0, **how)), beyond)
    with pytest.raises(ValueError, match="low <= high"):
        ds.meta.scoring_range(between=(4.0, 2.0), **how)


def test_0_and_1_are_limits_of_normalised_scores():
    ds = decimal([[1.0, 2.0], [3.0, 4.0], [5.0, 2.5]])
    assert kept(ds.meta.scoring_range(between=(0, 1), unit="normalised")).all()
    for wrong in (-0.01, 1.01):
        with pytest.raises(ValueError, match="must lie in"):
            ds.meta.scoring_range(above=wrong, unit="normalised")
