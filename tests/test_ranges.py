import numpy as np
import pytest
import xarray as xr

import xsumstat  # noqa: F401
from xsumstat import ranges


def kept(ds):
    return ds.score.notnull().any("metric").transpose("system", "input").values


def padded(sizes=(9, 4, 7, 9), metrics=3, seed=0, points=None):
    """Outputs of inputs that have different numbers of them."""
    rng = np.random.default_rng(seed)
    x = np.full((metrics, max(sizes), len(sizes)), np.nan)
    for at, n in enumerate(sizes):
        x[:, :n, at] = rng.normal(size=(1, n)) + rng.normal(size=(metrics, n))
    x = np.round(x * points) if points else x
    return xr.Dataset({"score": (("metric", "system", "input"), x)}, {"metric": [f"m{at}" for at in range(metrics)]})


@pytest.mark.filterwarnings("ignore:on .+ input")
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


@pytest.mark.filterwarnings("ignore:on .+ input")
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
    assert top.attrs == {**demo.attrs, "scoring_range": "better than extractor-1, any metric"}
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
    got = ranges.normalised(ds.score).values
    assert np.nanmin(got, axis=(1, 2)).tolist() == [0] * 3 and np.nanmax(got, axis=(1, 2)).tolist() == [1] * 3
    each = ranges.normalised(ds.score, "input").values
    assert (np.nanmin(each, axis=1) == 0).all() and (np.nanmax(each, axis=1) == 1).all()
    flat = ranges.normalised(xr.zeros_like(ds.score).where(ds.score.notnull()))
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
        ({}, ValueError, "give one of above, between and baseline, got none"),
        ({"above": 1, "baseline": "extractor-1"}, ValueError, "got 'above', 'baseline'"),
        ({"baseline": "lexrank"}, ValueError, "unknown baseline 'lexrank'"),
        ({"above": {"judge": 1}}, ValueError, "above has no limit for the metric.s. 'bertscore', 'rouge'"),
        ({"above": {"judge": 1, "jugde": 1}, "metrics": "judge"}, ValueError, "unknown metric in above 'jugde'"),
        ({"above": {"judge": None}, "metrics": "judge"}, TypeError, r"above\['judge'\] must be a number"),
        ({"above": np.nan}, ValueError, "above must be a number, got nan"),
        ({"between": (0.8, 0.2), "metrics": "judge"}, ValueError, "low <= high"),
        ({"above": xr.DataArray(np.zeros(12), dims="system")}, ValueError, "allowed are 'metric', 'input'"),
        ({"above": xr.DataArray(np.zeros(3), dims="input")}, ValueError, "3 limits along 'input', where 30 are needed"),
        ({"above": xr.DataArray([1.0], {"metric": ["judge"]})}, ValueError, "no limit for the metric"),
        ({"above": xr.DataArray([1.0], {"input": ["doc-01"]})}, ValueError, "no limit for the input"),
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
    assert any("has no score on 1 input(s), of which nothing is kept" in text for text in texts)
    assert any("on 2 of 30 input(s) no output is in the scoring range" in text for text in texts)
