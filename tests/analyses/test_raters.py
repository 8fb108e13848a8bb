import sys
import threading
import tracemalloc
import warnings
from collections import Counter

import krippendorff
import numpy as np
import pytest
import scipy.stats
import xarray as xr
from conftest import warns
from helpers import pairwise

import xsumstat  # noqa: F401
from xsumstat.analyses import raters
from xsumstat.inference import alpha
from xsumstat.resampling import draws


def plain_alpha(units, measurement):
    """Krippendorff's alpha from lists of ratings, by its definition (Krippendorff 2011)."""
    units = [unit for unit in units if len(unit) > 1]
    margin = Counter(value for unit in units for value in unit)
    values = sorted(margin)
    n = sum(margin.values())

    def distance(c, k):
        if measurement == "nominal":
            return float(c != k)
        if measurement == "interval":
            return (c - k) ** 2
        low, high = min(c, k), max(c, k)
        between = sum(margin[g] for g in values if low <= g <= high)
        return (between - (margin[c] + margin[k]) / 2) ** 2

    observed = sum(
        sum(distance(c, k) for i, c in enumerate(unit) for j, k in enumerate(unit) if i != j) / (len(unit) - 1)
        for unit in units
    )
    expected = sum(margin[c] * (margin[k] - (c == k)) * distance(c, k) for c in values for k in values) / (n - 1)
    return 1 - observed / expected if expected else np.nan


def rated(shape=(6, 7, 4), missing=0.2, seed=0):
    rng = np.random.default_rng(seed)
    true = rng.integers(1, 6, size=shape[:2])[..., None]
    x = np.clip(true + rng.integers(-1, 2, size=shape), 1, 5).astype(float)
    x[rng.random(shape) < missing] = np.nan
    return xr.Dataset(
        {"rating": (("system", "input", "rater"), x)},
        {"system": [f"s{at}" for at in range(shape[0])], "input": [f"i{at}" for at in range(shape[1])]},
    )


def cells(x, systems, inputs):
    return [[v for v in x[a, b] if not np.isnan(v)] for a in systems for b in inputs]


@pytest.mark.parametrize("measurement", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("resample", ["both", "system", "input"])
def test_alpha_and_its_interval_equal_a_plain_loop(measurement, resample):
    ds = rated()
    x = ds.rating.values
    how = {"method": "bootstrap", "n_resamples": 60, "rng": 3}
    got = ds.meta.agreement("rating", measurement=measurement, resample=resample, **how)
    assert float(got.alpha) == pytest.approx(plain_alpha(cells(x, range(6), range(7)), measurement), abs=1e-12)
    samples = []
    for s in range(60):
        drawn = [
            np.repeat(np.arange(size), draws.counts(3, dim, size, 0, 60)[s])
            if dim in (resample, "system", "input") and resample in (dim, "both")
            else range(size)
            for dim, size in (("system", 6), ("input", 7))
        ]
        samples.append(plain_alpha(cells(x, *drawn), measurement))
    want = np.quantile(samples, [0.025, 0.975])
    assert [float(got.ci_low), float(got.ci_high)] == pytest.approx(want, abs=1e-12)
    assert float(got.standard_error) == pytest.approx(np.std(samples, ddof=1), abs=1e-12)
    assert got.attrs["measurement"] == measurement and got.attrs["seed"] == "3"


def plain_weight(c, k, margin, measurement):
    """What a disagreement of two values weighs, with the ratings of all cells beside."""
    if measurement == "nominal":
        return float(c != k)
    if measurement == "interval":
        return (c - k) ** 2
    between = sum(n for value, n in margin.items() if min(c, k) <= value <= max(c, k))
    return (between - (margin[c] + margin[k]) / 2) ** 2


def plain_alpha_of(units, weight):
    """Alpha with weights that stay as they are."""
    ratings = [value for unit in units for value in unit]
    observed = sum(sum(weight(c, k) for c in unit for k in unit) / (len(unit) - 1) for unit in units)
    return 1 - observed * (len(ratings) - 1) / sum(weight(c, k) for c in ratings for k in ratings)


def squares(values):
    n, mean = len(values), sum(values) / len(values)
    return (n - 1) / n * sum((each - mean) ** 2 for each in values)


@pairwise(
    {
        "measurement": ["nominal", "ordinal", "interval"],
        "resample": ["both", "system", "input"],
        "seed": [0, 3],
    }
)
def test_the_jackknife_leaves_out_systems_inputs_and_cells(measurement, resample, seed):
    """By plain loops over lists of ratings; where the cells' part is the larger it takes away no more than it may."""
    x = rated((5, 8, 3), seed=seed).rating.values
    x[:, 7, 1:] = np.nan  # an input that says nothing
    units = {at: [v for v in x[at] if not np.isnan(v)] for at in np.ndindex(5, 8)}
    units = {at: unit for at, unit in units.items() if len(unit) > 1}
    value = plain_alpha(list(units.values()), measurement)
    of_system = [plain_alpha([u for at, u in units.items() if at[0] != i], measurement) for i in range(5)]
    of_input = [plain_alpha([u for at, u in units.items() if at[1] != j], measurement) for j in range(7)]
    margin = Counter(v for unit in units.values() for v in unit)
    weight = lambda c, k: plain_weight(c, k, margin, measurement)  # noqa: E731
    of_cell = [plain_alpha_of([u for at, u in units.items() if at != cell], weight) for cell in units]
    both = squares(of_system) + squares(of_input) - squares(of_cell)
    cells = alpha.RatedCells.of(x)
    got = alpha.without_each(cells, np.arange(len(units)), len(units), measurement)
    np.testing.assert_allclose(got, of_cell, atol=1e-12)
    spread, without = {
        "both": (max(both, squares(of_system), squares(of_input)), [of_system, of_input]),
        "system": (squares(of_system), [of_system]),
        "input": (squares(of_input), [of_input]),
    }[resample]
    centre = value - sum((len(each) - 1) * (np.mean(each) - value) for each in without)
    reach = scipy.stats.t.ppf(0.95, min(map(len, without)) - 1) * np.sqrt(spread) / (1 - value**2)
    want = np.tanh([np.arctanh(centre) - reach, np.arctanh(centre) + reach])
    ratings = xr.DataArray(x, dims=("system", "input", "rater"))
    got = xr.Dataset().meta.agreement(ratings, measurement=measurement, resample=resample, confidence_level=0.9)
    assert float(got.alpha) == pytest.approx(value, abs=1e-12)
    assert float(got.standard_error) == pytest.approx(np.sqrt(spread), abs=1e-12)
    assert [float(got.ci_low), float(got.ci_high)] == pytest.approx(want, abs=1e-12)
    assert got.attrs["method"] == "jackknife" and "seed" not in got.attrs and int(got.n_undefined) == 0


@pytest.mark.parametrize("measurement", ["nominal", "ordinal", "interval"])
def test_no_cell_is_counted_again_for_each_label(measurement, monkeypatch):
    """The package sees all cells once; of each label left out only its own cells are looked at."""
    package, apart = krippendorff.alpha, alpha.RatedCells.apart
    calls, seen = [], []

    def counted(self, place, cells=slice(None)):
        found = apart(self, place, cells)
        seen.append(len(found))
        return found

    monkeypatch.setattr(krippendorff, "alpha", lambda **how: calls.append(1) or package(**how))
    monkeypatch.setattr(alpha.RatedCells, "apart", counted)
    for n in (30, 120):
        calls.clear(), seen.clear()
        rated((6, n, 3)).meta.agreement("rating", measurement=measurement)
        assert len(calls) == 1 and sum(seen) <= 3 * 6 * n


def test_ratings_of_many_values_take_little_memory():
    """Counted by value they would fill 35 MB, and each two values 104 MB."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 60, 1)) + rng.normal(size=(20, 60, 3))
    ds = xr.Dataset({"rating": (("system", "input", "rater"), x)})
    ds.isel(input=slice(3)).meta.agreement("rating")  # imports
    tracemalloc.start()
    try:
        got = [ds.meta.agreement("rating", measurement=each) for each in ("nominal", "interval")]
        kept, vote = ds.meta.drop_noisiest_rater("rating"), ds.meta.majority_vote("rating", ties="lowest")
        assert tracemalloc.get_traced_memory()[1] < 100 * x.nbytes
    finally:
        tracemalloc.stop()
    assert float(got[0].alpha) == 0.0  # no two are equal
    f = 3 * x.mean(axis=2).var(ddof=1) / x.var(axis=2, ddof=1).mean()
    want = (f - 1) / (f + 2)
    assert float(got[1].alpha) == pytest.approx(want, abs=1e-3)  # the intraclass correlation, but for 1/n
    np.testing.assert_array_equal(vote.rating, x.min(axis=2))
    assert not kept.rating.isnull().any()  # there is no majority


@pytest.mark.parametrize("measurement", ["nominal", "ordinal", "interval"])
def test_alpha_of_many_cells_and_values_is_the_packages(measurement, monkeypatch):
    ds = rated()
    want = ds.meta.agreement("rating", measurement=measurement)
    monkeypatch.setattr(raters, "_LARGEST", 0)
    monkeypatch.setattr(krippendorff, "alpha", None)
    xr.testing.assert_allclose(ds.meta.agreement("rating", measurement=measurement), want, rtol=1e-12)


def test_ctrl_c_is_answered_between_labels(monkeypatch):
    asked = []

    def interrupted(self, at):
        asked.append(at)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return 0.5

    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", "1")
    monkeypatch.setattr(alpha.Without, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rated((6, 400, 3)).meta.agreement("rating")
    assert len(asked) == 3
    how = krippendorff.alpha, "ordinal", 0.95
    job = raters._Jackknifed(*how, {"system": np.arange(6), "input": np.arange(400)}, False)
    stop = threading.Event()
    stop.set()
    out = np.empty((1, 22))
    assert job.n_blocks == 7 and job.columns(6) == slice(384, 406)
    job.block(job.ready(slice(1), rated((6, 400, 3)).rating.values), 6, out, stop)
    assert len(asked) == 3 and np.isnan(out).all()


def test_one_system_has_no_interval_over_systems():
    ratings = rated((1, 7, 4)).rating
    with pytest.warns(UserWarning, match="no interval, which needs two systems .or clusters. if systems are random"):
        got = xr.Dataset().meta.agreement(ratings, resample="both")
    assert np.isfinite(got.alpha) and np.isnan(got.ci_low)
    assert np.isfinite(xr.Dataset().meta.agreement(ratings, resample="input").ci_low)


def test_raters_who_agree_throughout_have_the_point():
    ratings = xr.concat([rated((5, 6, 1), missing=0.0).rating.isel(rater=0)] * 3, "rater")
    got = xr.Dataset().meta.agreement(ratings)
    assert [float(got[name]) for name in ("alpha", "ci_low", "ci_high", "standard_error")] == [1.0, 1.0, 1.0, 0.0]


def test_krippendorffs_own_example():
    """Krippendorff (2011), section C: nominal .743, ordinal .815, interval .849."""
    nan = np.nan
    data = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    ratings = xr.DataArray(np.array(data)[:, None, :], dims=("rater", "system", "input"))
    for measurement, want in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)):
        got = xr.Dataset().meta.agreement(ratings, measurement=measurement, n_resamples=9, resample="input", rng=1)
        assert float(got.alpha) == pytest.approx(want, abs=6e-4)


def test_experts_of_summeval_agree_by_judgment_and_type(summeval):
    expert = summeval.rating.sel(judgment="expert_coherence", rater=[1, 2, 3])
    got = summeval.meta.agreement(expert, n_resamples=50, rng=1)
    assert float(got.ci_low) < float(got.alpha) < 1
    x = expert.transpose("system", "input", "rater").values
    assert float(got.alpha) == pytest.approx(plain_alpha(cells(x, range(16), range(100)), "ordinal"), abs=1e-12)
    every = summeval.meta.agreement("rating", n_resamples=9, rng=1)
    assert every.alpha.dims == ("judgment",)
    part = summeval.sel(system=summeval.system_type == "extractive")
    assert np.isfinite(part.meta.agreement("rating", n_resamples=9, rng=1).alpha).all()


def test_what_has_no_alpha():
    ds = rated()
    one = ds.rating.where(ds.rating > 9, 3.0)
    with warns("undefined"):
        got = ds.meta.agreement(one, method="bootstrap", n_resamples=9, rng=1)
    assert np.isnan(got.alpha) and int(got.n_undefined) == 9
    with warns("undefined"):
        assert np.isnan(ds.meta.agreement(one).ci_low)
    with warns("undefined"):
        assert np.isnan(ds.meta.agreement(ds.rating.isel(rater=[0]), n_resamples=9).alpha)


def plain_votes(x, which):
    """For each cell: the majority value, None without one; ties give the lowest where `which` says so."""
    votes = {}
    for a in range(x.shape[0]):
        for b in range(x.shape[1]):
            counts = Counter(v for v in x[a, b] if not np.isnan(v))
            most = sorted(v for v in counts if counts[v] == max(counts.values()))
            votes[a, b] = None if not most or (which == "alone" and len(most) > 1) else most[0]
    return votes


def test_the_noisiest_rater_of_each_input_is_left_out():
    ds = rated(seed=4)
    x = ds.rating.values
    got = ds.meta.drop_noisiest_rater("rating")
    votes = plain_votes(x, "alone")
    for b in range(7):
        departs, distance = [0] * 4, [0.0] * 4
        for a in range(6):
            for r in range(4):
                if votes[a, b] is not None and not np.isnan(x[a, b, r]):
                    departs[r] += x[a, b, r] != votes[a, b]
                    distance[r] += abs(x[a, b, r] - votes[a, b])
        noisy = max(range(4), key=lambda r: (departs[r], distance[r], -r))
        kept = got.rating.isel(input=b).values
        assert np.isnan(kept[:, noisy]).all()
        others = [r for r in range(4) if r != noisy]
        np.testing.assert_array_equal(kept[:, others], x[:, b][:, others])
    np.testing.assert_array_equal(ds.rating.values, x)  # the user's own stay
    one_mind = ds.assign(rating=xr.full_like(ds.rating, 2.0))
    assert not one_mind.meta.drop_noisiest_rater("rating").rating.isnull().any()
    assert (
        got.meta.agreement("rating", n_resamples=9, rng=1).alpha
        > ds.meta.agreement("rating", n_resamples=9, rng=1).alpha
    )


def dropped(rows):
    """The rater that is left out of one input, from ratings (systems, raters)."""
    rating = xr.DataArray(np.array(rows, dtype=float)[:, None, :], dims=("system", "input", "rater"))
    kept = xr.Dataset().meta.drop_noisiest_rater(rating).rating.isel(input=0)
    assert (kept.isnull().all("system") == kept.isnull().any("system")).all()
    return np.flatnonzero(kept.isnull().all("system")).tolist()


@pytest.mark.parametrize(
    "rows, want",
    [
        ([[1, 1, 1, 2, 5]], [4]),  # two depart once each: the further one
        ([[1, 1, 1, 5, 2]], [3]),
        ([[5, 5, 5, 1, 4]], [3]),  # further below counts as above
        ([[1, 1, 1, 5, -3]], [3]),  # as often and as far: the first
        ([[1, 1, 1, 2, 5], [1, 1, 1, 2, 1]], [3]),  # more often goes before further
        ([[1, 1, 1, 2, 4], [1, 1, 1, 5, 2]], [3]),  # sums: 1 + 4 against 3 + 1, not the largest of each
        ([[1, 1, 1, 2, 6], [1, 1, 1, 5, 2]], [4]),
        ([[1, 1, 1, 3, 4], [2, 2, 2, 4, 2], [1, 1, 1, 1, 2]], [3]),  # 2 + 2 against 3 + 1: the first
        ([[1, 1, 2, 2, 5]], []),  # no majority, nobody departs
        ([[1, 1, 2, 2, 5], [1, 1, 1, 2, 1]], [3]),  # the first cell counts for nobody
        ([[2, 2, 2, 2, 2]], []),
    ],
)
def test_who_is_noisiest_where_several_depart_as_often(rows, want):
    assert dropped(rows) == want
    for factor in (0.1, 0.3, 1e-200, 1e200):
        assert dropped(np.array(rows) * factor) == want


def test_distances_that_differ_by_rounding_are_tied():
    """Two raters are as far in tenths, in whatever order the systems come: the first is left out."""
    tenths = np.array([[1, 1, 1, 2, 4], [1, 1, 1, 4, 2], [3, 3, 3, 1, 1]])
    for order in ([0, 1, 2], [1, 2, 0], [2, 1, 0], [1, 0, 2]):
        assert dropped(tenths[order] / 10) == dropped(tenths[order]) == [3]


def test_alpha_does_not_depend_on_the_unit():
    ds = rated(seed=6)
    for measurement in ("nominal", "ordinal", "interval"):
        want = plain_alpha(cells(ds.rating.values, range(6), range(7)), measurement)
        for factor in (0.1, 1e-200, 1e200):
            got = ds.meta.agreement(ds.rating * factor, measurement=measurement, n_resamples=9, rng=1)
            assert float(got.alpha) == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("ties, which", [("missing", "alone"), ("lowest", "lowest")])
@pytest.mark.ignore_codes("scores_left_out")
def test_the_majority_votes_and_ties_are_missing_or_the_lowest(ties, which):
    ds = rated(seed=5, missing=0.5)
    x = ds.rating.values
    got = ds.meta.majority_vote("rating", ties=ties)
    assert got.rating.dims == ("system", "input")
    for (a, b), want in plain_votes(x, which).items():
        value = float(got.rating[a, b])
        assert np.isnan(value) if want is None else value == want
    both = xr.concat([ds, ds], "quality").meta.majority_vote("rating", ties=ties)
    assert set(both.rating.dims) == {"quality", "system", "input"}


def test_a_vote_without_a_majority_is_named():
    rating = xr.DataArray([[[1.0, 1, 2], [1, 2, np.nan], [np.nan] * 3]], dims=("system", "input", "rater"))
    with pytest.warns(xsumstat.LeftOutWarning, match="left out 1 of 2 outputs whose most frequent ratings are tied"):
        got = xr.Dataset().meta.majority_vote(rating)
    np.testing.assert_array_equal(got.rating, [[1, np.nan, np.nan]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(xr.Dataset().meta.majority_vote(rating, ties="lowest").rating, [[1, 1, np.nan]])
    with pytest.raises(ValueError, match="ties must be one of 'missing', 'lowest', got 'highest'"):
        xr.Dataset().meta.majority_vote(rating, ties="highest")


def test_they_chain_with_scores(demo):
    noise = xr.DataArray(np.random.default_rng(0).normal(size=(4, 12, 30)), dims=("rater", "system", "input"))
    human = (demo.score.sel(metric="human", drop=True) / 15 + noise).round()
    ds = demo.drop_sel(metric="human").assign(rating=human)
    ds.attrs["gold"] = "rating"
    r = ds.meta.drop_noisiest_rater().meta.majority_vote(ties="lowest").meta.corr(level="input").correlation
    assert float(r.sel(metric="judge")) > float(r.sel(metric="length"))


def test_nothing_of_the_users_is_overwritten(demo):
    human = xr.concat([demo.score.sel(metric="human", drop=True)] * 3, "rater")
    assert human.name == "score"
    for name in ("score", "truth", "input"):
        got = demo.meta.majority_vote(human.rename(name))
        xr.testing.assert_identical(got.drop_vars("rating"), demo)
        xr.testing.assert_equal(got.rating, demo.score.sel(metric="human", drop=True))
    rated_twice = demo.assign(rating=human + 1)
    got = rated_twice.meta.drop_noisiest_rater(rated_twice.rating.isel(rater=[0, 1]))
    assert got.rating.sizes["rater"] == 2
    labelled = rated_twice.assign_coords(rater=["a", "b", "c"])
    assert labelled.meta.drop_noisiest_rater("rating").rater.values.tolist() == ["a", "b", "c"]
    assert "rater" not in labelled.meta.majority_vote("rating").coords


def test_ratings_of_other_systems_are_reported(demo):
    human = xr.concat([demo.score.sel(metric="human", drop=True)] * 3, "rater")
    names = ["x", *demo.system.values[1:]]
    with pytest.warns(UserWarning, match="ratings and ds differ along 'system': only one has 'extractor-1', 'x'"):
        got = demo.meta.majority_vote(human.assign_coords(system=names))
    assert got.sizes["system"] == 12 and got.rating.sel(system="extractor-1").isnull().all()


def test_coordinates_named_like_results_do_no_harm():
    ds = rated().assign_coords(alpha=("system", range(6)))
    both = xr.concat([ds.rating, ds.rating], "judgment").assign_coords(n_undefined=("judgment", [1, 2]))
    assert ds.meta.agreement(both.rename("r"), n_resamples=9).alpha.sizes == {"judgment": 2}


def test_bad_arguments(demo):
    ds = rated()
    cases = [
        ({"rating": "ratings"}, "did you mean 'rating'"),
        (
            {"rating": "rating", "along": "annotator"},
            "no variable with the dim 'annotator', and this .* along must name",
        ),
        ({"rating": "rating", "measurement": "ratio"}, "measurement must be one of"),
        ({"rating": "rating", "n_resamples": 1}, "n_resamples must be at least 2"),
        ({"rating": ds.rating.isel(rater=0)}, "must have the dim"),
        ({"rating": "rating", "along": "system"}, "along must be the dim of the raters"),
        ({"rating": ds.rating.expand_dims(alpha=2)}, "rating has the dim 'alpha', a name that results need"),
    ]
    for keywords, message in cases:
        with pytest.raises(ValueError, match=message):
            ds.meta.agreement(**keywords)
    with pytest.raises(TypeError, match="must hold numbers"):
        ds.meta.agreement(ds.rating.astype(str))
    with pytest.raises(ValueError, match="several variables have the dim 'rater': .* e.g. rating='rating'"):
        ds.assign(again=ds.rating).meta.agreement()


def test_the_only_ratings_need_no_name():
    """Also where the gold is their mean; of two one must be named."""
    ds = rated()
    named = ds.meta.agreement("rating")
    for each in (ds, ds.assign(human=ds.rating.mean("rater")).assign_attrs(gold="human")):
        xr.testing.assert_identical(each.meta.agreement(), named)
    again = ds.assign(again=ds.rating).assign_attrs(gold="again")
    assert again.meta.agreement().attrs["rating"] == "again"


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "krippendorff", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[agreement\]"'):
        rated().meta.agreement("rating")


@pytest.mark.parametrize("measurement", ["nominal", "ordinal", "interval"])
def test_ratings_of_two_values_have_an_alpha_and_of_one_none(measurement):
    ds = rated()
    two = ds.assign(rating=xr.where(ds.rating.notnull(), (ds.rating > 3).astype(float), np.nan))
    found = two.meta.agreement("rating", measurement=measurement)
    expected = plain_alpha(cells(two.rating.values, range(6), range(7)), measurement)
    assert float(found.alpha) == pytest.approx(expected, abs=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert np.isnan(two.assign(rating=two.rating * 0).meta.agreement("rating", measurement=measurement).alpha)
