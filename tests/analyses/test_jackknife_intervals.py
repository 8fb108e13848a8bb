"""`ci` by the two-way jackknife, its default: as a user asks it."""

import math
import warnings

import jackknife_twin as twin
import numpy as np
import pytest
import scipy.stats
import xarray as xr
from conftest import dataset, of_code
from helpers import LEVELS, as_lazy, for_each, pairwise

from xsumstat.analyses.jackknifed import interval_method
from xsumstat.analyses.measure import checked_measure, checked_resample
from xsumstat.coefficients import table

NAMES = ("pearson", "spearman", "kendall", "kendall_a", "kendall_c", "pairwise_accuracy")
NUMBERS = ("ci_low", "ci_high", "standard_error", "bias", "df", "fell_back")


def made(seed=0, shape=(3, 7, 6), gaps=0.0, points=None):
    """Metrics m0 (gold), m1, m2, ... that agree with it less and less."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(shape[1], 1)) + rng.normal(size=shape[1:])
    score = np.array([z + at * rng.normal(size=z.shape) for at in range(shape[0])])
    score = np.round(points * score) if points else score
    return dataset(np.where(rng.random(score.shape) < gaps, np.nan, score))


def agree(got, want, name="correlation", atol=1e-10):
    for key, value in {"estimate": name, **{each: each for each in NUMBERS}}.items():
        np.testing.assert_allclose(float(got[value]), float(want[key]), atol=atol, rtol=0, err_msg=value)


# --- Degrees of freedom ---


@pytest.mark.ignore_codes("ties_left_out")
def test_an_average_has_the_degrees_of_freedom_of_what_is_averaged():
    """Student's t interval about the mean of Fisher's scale, from the inputs on which scores vary."""
    x = np.array([[1, 2, 2, 3, 1, 2, 1, 4], [2, 2, 2, 1, 1, 3, 1, 1], [3, 1, 2, 2, 1, 1, 1, 2]], dtype=float)
    z = np.array([[1, 3, 1, 3, 2, 2, 3, 2], [3, 1, 2, 2, 1, 3, 2, 1], [2, 1, 3, 1, 3, 2, 1, 1]], dtype=float)
    ds = dataset(np.array([z, x]))
    found = ds.meta.ci(ds.metric[0].item(), metric=ds.metric[1].item(), level="input", coefficient="kendall")
    tau = np.array([scipy.stats.kendalltau(*each).statistic for each in zip(x.T, z.T, strict=True)])
    tau = tau[~np.isnan(tau)]
    assert len(tau) == 5 and found.df.item() == 4
    error = tau.std(ddof=1) / math.sqrt(5)
    reach = scipy.stats.t.ppf(0.975, 4) * error / (1 - tau.mean() ** 2)
    limits = np.tanh(np.arctanh(tau.mean()) + np.array([-reach, reach]))
    np.testing.assert_allclose([found.ci_low.item(), found.ci_high.item()], limits, rtol=1e-10)


# --- Against the twin ---


@pytest.mark.ignore_codes("fell_back", "too_short")
@pairwise(
    {
        "name": NAMES,
        "level": LEVELS,
        "resample": ["both", "system", "input"],
        "gaps, points, undefined": [(0, None, "drop"), (0.2, None, "zero"), (0.2, 1, "zero")],
    }
)
def test_intervals_and_differences_are_the_twins(name, level, resample, gaps, points, undefined):
    ds = made(1, (3, 6, 5), gaps, points)
    settings = {"level": level, "coefficient": name, "undefined": undefined, "resample": resample}
    settings |= {"method": "jackknife", "confidence_level": 0.8}
    single = ds.meta.ci("m0", **settings)
    gaps_between = ds.meta.ci("m0", metric="m1", other="m2", **settings)
    dims = ("system", "input") if resample == "both" else (resample,)
    z, x, y = ds.score.values
    with np.errstate(all="ignore"):
        for metric, values in (("m1", x), ("m2", y)):
            want = twin.interval(values, z, name, level, dims, 0.8, undefined)
            agree(single.sel(metric=metric), want)
        want = twin.difference(x, y, z, name, level, dims, 0.8, undefined)
    agree(gaps_between.squeeze(), want, "difference")


# --- What it is of ---


def turns():
    """Each coefficient at two of its levels, once with each rule for missing scores."""
    for at, (name, record) in enumerate(table.COEFFICIENTS.items()):
        first, second = (record.levels[(at + step) % len(record.levels)] for step in (0, 2))
        yield from ((name, first, "pairwise"), (name, second, "available"))
        if "system" in set(record.levels) - {first, second}:
            yield name, "system", "available"


@pytest.mark.parametrize("name, level, missing", list(turns()))
def test_the_estimate_has_the_bits_of_corr(name, level, missing):
    ds = made(2, (3, 7, 6), 0.1)
    if table.COEFFICIENTS[name].scale in ("classes", "two"):
        ds = ds.assign(score=(ds.score > 0).astype(float).where(ds.score.notnull()))
    settings = {"level": level, "coefficient": name, "missing": missing}
    settings |= {"threshold": 0.5} if name == "kendall_like" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        got, want = ds.meta.ci("m0", method="jackknife", **settings), ds.meta.corr("m0", **settings)
    np.testing.assert_array_equal(got.correlation, want.correlation)


@pytest.mark.ignore_codes("fewer_labels")
@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_every_score_on_its_own_cells_by_hand(name):
    """``missing="available"`` at system level: means over all that a score has; an interval, and that of a difference.

    One metric lacks a system, the other an input.
    """
    ds = made(3, (3, 9, 8), 0.15)
    ds.score[1, 4], ds.score[2, :, 2] = np.nan, np.nan
    z, x, y = ds.score.values

    def standard(values):
        return (values - values.mean()) / values.std()

    def parts(x):
        kept = np.flatnonzero(~np.isnan(x).all(axis=1))
        mean_x, mean_z = np.nanmean(x[kept], axis=1), np.nanmean(z[kept], axis=1)
        n, m = len(kept), x.shape[1]
        a, b = standard(mean_x), standard(mean_z)
        r, psi = np.mean(a * b), np.zeros((9, m))
        for own, slope in ((x[kept], (b - r * a) / mean_x.std()), (z[kept], (a - r * b) / mean_z.std())):
            left = own - np.nanmean(own, axis=1, keepdims=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # an input that the metric lacks
                left = left - np.nanmean(left, axis=0, keepdims=True)
            psi[kept] += np.nan_to_num((slope / n / (~np.isnan(own)).sum(axis=1))[:, None] * left)
        left_out = np.full((2, 9), np.nan)
        for row, how in enumerate((name, "pearson")):
            for i, at in enumerate(kept):
                left_out[row, at] = twin.correlate(how, np.delete(mean_x, i), np.delete(mean_z, i))
        centred = np.nan_to_num(left_out - np.nanmean(left_out, axis=1, keepdims=True))
        return twin.correlate(name, mean_x, mean_z), centred, psi, n

    def variance(centred, psi, n, m=8):
        v_s, v_p = (n - 1) / n * (centred**2).sum(axis=1)
        v_s *= 1 if name == "pearson" else ((n - 2) / (n - 1)) ** 2
        added = m / (m - 1) * (sum(psi.sum(axis=0) ** 2) - n / (n - 1) * (psi**2).sum())
        return v_s + max(0, added) * (1 if name == "pearson" else v_s / v_p)

    found = []
    for values in (x, y):
        r, centred, psi, n = parts(values)
        v = variance(centred, psi, n)
        found.append((r, v, n, centred, psi))
    got = ds.meta.ci("m0", coefficient=name, missing="available")
    for metric, (r, v, n, *_) in zip(("m1", "m2"), found, strict=True):
        reach = scipy.stats.t.ppf(0.975, n - 1) * math.sqrt(v) / (1 - r * r)
        want = r, math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach), math.sqrt(v), n - 1
        cell = [
            float(got[key].sel(metric=metric)) for key in ("correlation", "ci_low", "ci_high", "standard_error", "df")
        ]
        np.testing.assert_allclose(cell, want, atol=1e-10)
    gap = ds.meta.ci("m0", metric="m1", other="m2", coefficient=name, missing="available").squeeze()
    (r_1, v_1, n_1, c_1, psi_1), (r_2, v_2, n_2, c_2, psi_2) = found
    v = variance(c_1 - c_2, psi_1 - psi_2, 9)
    assert (n_1, n_2, float(gap.df)) == (8, 9, 7)
    assert float(gap.standard_error) == pytest.approx(math.sqrt(v), abs=1e-10)
    rho = (v_1 + v_2 - v) / (2 * math.sqrt(v_1 * v_2))
    (l_1, u_1), (l_2, u_2) = (
        [math.tanh(math.atanh(r) + s * scipy.stats.t.ppf(0.975, 7) * math.sqrt(v) / (1 - r * r)) for s in (-1, 1)]
        for r, v in ((r_1, v_1), (r_2, v_2))
    )
    low, high = (math.sqrt(p**2 + q**2 - 2 * rho * p * q) for p, q in ((r_1 - l_1, u_2 - r_2), (u_1 - r_1, r_2 - l_2)))
    want = r_1 - r_2, r_1 - r_2 - low, r_1 - r_2 + high
    np.testing.assert_allclose([gap.difference, gap.ci_low, gap.ci_high], want, atol=1e-10)
    turned = ds.meta.ci("m0", metric="m2", other="m1", coefficient=name, missing="available").squeeze()
    np.testing.assert_allclose([-turned.ci_high, -turned.ci_low], [gap.ci_low, gap.ci_high], atol=1e-12)


# --- What leaves it as it is ---


def changed(ds):
    """The same question in other words: orders, dtypes, labels, units and directions, several at a time."""
    rng = np.random.default_rng(4)
    permuted = ds.isel({dim: rng.permutation(ds.sizes[dim]) for dim in ("metric", "system", "input")})
    backwards = ds.copy(deep=True)
    backwards.score[1] *= -1
    backwards = backwards.assign_coords(higher_is_better=("metric", [True, False, True, True]))
    moved = 2.5 * ds.score + xr.DataArray([7.0, -3.0, 0.1, 100.0], dims="metric")
    return (
        permuted.transpose("input", "metric", "system").astype(np.float32),
        ds.astype(np.int64).assign_coords(system=range(7)),
        backwards.assign(score=backwards.score * 1e200).assign_coords(system=ds.system.values.astype(object)),
        ds.assign(score=moved * 1e-3),
        permuted.assign(score=permuted.score * 1e-200),
    )


@pytest.mark.parametrize("keywords", [{}, {"metric": "m1", "other": ["m2", "m3"]}])
@pytest.mark.parametrize("at, level", list(enumerate(LEVELS)))
def test_neither_order_nor_dtype_nor_scale_matters(at, level, keywords):
    """Three of five changes at each level; of a difference the two others, and one of those."""
    ds = made(4, (4, 7, 6), points=3)
    settings = {"level": level, "coefficient": "spearman", **keywords}
    want = ds.meta.ci("m0", **settings)
    others = changed(ds)
    for step in (2, 3, 4) if keywords else (0, 1, 2):
        other = others[(at + step) % len(others)]
        got = other.meta.ci("m0", **settings)
        got = got.sel({dim: want[dim] for dim in want.dims}).drop_vars("higher_is_better", errors="ignore")
        assert set(got.data_vars) == set(want.data_vars)
        for name in want.data_vars:
            np.testing.assert_allclose(got[name], want[name], atol=1e-9, rtol=0, err_msg=name)


def test_swapped_metrics_have_the_mirrored_interval():
    ds = made(5, (4, 7, 6), 0.1)
    for level, name in (("system", "kendall"), ("input", "spearman"), ("global", "pearson")):
        table = ds.meta.ci("m0", other=["m1", "m2", "m3"], level=level, coefficient=name)
        for a, b in (("m1", "m2"), ("m3", "m1")):
            one = ds.meta.ci("m0", metric=a, other=b, level=level, coefficient=name).squeeze()
            two = table.sel(metric=b, other_metric=a)
            np.testing.assert_allclose(
                [one.ci_low, one.ci_high, one.bias], [-two.ci_high, -two.ci_low, -two.bias], atol=1e-12
            )
            for each in ("standard_error", "df", "fell_back", "n_undefined"):
                assert float(one[each]) == pytest.approx(float(two[each]), abs=1e-12)
        own = table.sel(metric="m1", other_metric="m1")
        assert np.isnan([own[each] for each in ("difference", "ci_low", "standard_error", "bias", "df")]).all()


@pytest.mark.parametrize(
    "level, keywords, chunks",
    [
        ("system", {}, {"metric": 1}),
        ("system", {"metric": "m1", "other": ["m2", "m3"]}, {"metric": -1, "system": 3, "input": 2}),
        ("input", {"coefficient": "kendall"}, {"metric": -1, "system": 3, "input": 2}),
        ("input", {"metric": "m1", "other": ["m2", "m3"]}, {"metric": 1}),
        ("global", {"coefficient": "kendall"}, {"metric": 1}),
        ("within_system", {}, {"metric": -1, "system": 3, "input": 2}),
    ],
)
def test_lazy_scores_give_the_same_bits(level, keywords, chunks):
    pytest.importorskip("dask")
    ds = made(6, (4, 7, 6), 0.1)
    got = ds.chunk(chunks).meta.ci("m0", level=level, **keywords)
    assert got.ci_low.chunks is not None
    xr.testing.assert_identical(got.compute(), as_lazy(ds.meta.ci("m0", level=level, **keywords)))


def test_each_further_label_is_asked_by_itself():
    parts = [made(seed, (3, 7, 6), 0.1) for seed in (7, 8)]
    ds = xr.concat(parts, xr.DataArray(["en", "de"], dims="language", name="language"))
    for keywords in ({}, {"metric": "m1", "other": "m2"}, {"level": "global", "coefficient": "kendall"}):
        both = ds.meta.ci("m0", **keywords)
        for language, part in zip(("en", "de"), parts, strict=True):
            alone = part.meta.ci("m0", **keywords)
            for name in alone.data_vars:
                got = both[name].sel(language=language).transpose(*alone[name].dims)
                np.testing.assert_array_equal(got, alone[name])


@pytest.mark.ignore_codes("fewer_labels", "no_score")
@pytest.mark.parametrize(
    "level, name, missing",
    [
        ("system", "pearson", "available"),
        ("system", "kendall", "pairwise"),
        ("system", "acc_eq", "available"),
        ("input", "pearson", "available"),
        ("input", "acc_eq", "pairwise"),
        ("global", "kendall", "pairwise"),
        ("within_system", "acc_eq", "available"),
        ("within_system", "kendall", "pairwise"),
    ],
)
def test_nothing_in_common_has_no_interval(level, name, missing):
    """A metric without scores in one language, and two metrics without a common cell."""
    ds = xr.concat([made(9, (3, 7, 9)), made(10, (3, 7, 9))], "language")
    ds.score[0, 1] = np.nan
    ds.score[1, 1, :, :4], ds.score[1, 2, :, 4:] = np.nan, np.nan
    settings = {"level": level, "coefficient": name, "method": "jackknife", "missing": missing}
    single = ds.meta.ci("m0", **settings)
    pair = ds.meta.ci("m0", metric="m1", other="m2", **settings).squeeze()
    for each in ("ci_low", "ci_high", "standard_error", "bias", "df"):
        assert np.isnan(single[each].isel(language=0).sel(metric="m1")) and np.isnan(pair[each].isel(language=0))
    assert np.isfinite(single.ci_low.isel(language=1)).all()
    assert np.isfinite(pair.ci_low.isel(language=1)) == (missing == "available" and level == "system")


# --- by=, pool= ---


def test_groups_are_asked_by_themselves(demo):
    settings = {"level": "input", "coefficient": "kendall"}
    got = demo.meta.ci("human", by="system_type", **settings)
    assert got.attrs["method"] == "jackknife" and "seed" not in got.attrs
    for kind in ("abstractive", "extractive"):
        want = demo.sel(system=demo.system_type == kind).meta.ci("human", **settings)
        for name in want.data_vars:
            np.testing.assert_array_equal(got[name].sel(system_type=kind), want[name])
    want = demo.meta.ci("human", **settings)
    np.testing.assert_array_equal(got.ci_low.sel(system_type="all"), want.ci_low)


def languages(sizes=((7, 20), (6, 30), (12, 5))):
    return {f"l{at}": made(at, (4, *size)) for at, size in enumerate(sizes)}


@pytest.mark.parametrize("keywords", [{}, {"metric": "m1", "other": ["m2", "m3"]}, {"resample": "system"}])
def test_pooled_pairs_have_one_interval_of_independent_ones(keywords):
    """MOVER of averages by hand: weights are the numbers of pairs, degrees of freedom Satterthwaite's."""
    parts = languages()
    ds = xr.concat(parts.values(), xr.DataArray(list(parts), dims="language", name="language"), join="outer")
    settings = {"coefficient": "pairwise_accuracy", "confidence_level": 0.9, **keywords}
    got = ds.meta.ci("m0", pool="language", **settings)
    alone = [part.meta.ci("m0", **settings) for part in parts.values()]
    name = "difference" if "other" in keywords else "correlation"
    w = np.array([21, 15, 66]) / 102

    def each(key):
        return np.array([one[key].transpose(*got[key].dims).values for one in alone]).astype(float)

    def mean(values):
        return np.tensordot(w, values, 1)

    def root(values):
        return np.sqrt(np.tensordot(w**2, values**2, 1))

    estimate, bias, se = mean(each(name)), mean(each("bias")), root(each("standard_error"))
    df = se**4 / np.tensordot(w**4, each("standard_error") ** 4 / each("df"), 1)
    q = scipy.stats.t.ppf(0.95, df) / scipy.stats.t.ppf(0.95, each("df"))  # each interval as if it had these
    centre = each(name) - each("bias")
    low = estimate - bias - root(q * (centre - each("ci_low")))
    high = estimate - bias + root(q * (each("ci_high") - centre))
    want = {name: estimate, "ci_low": np.minimum(low, estimate), "ci_high": np.maximum(high, estimate)}
    for key, value in {**want, "standard_error": se, "bias": bias, "df": df}.items():
        np.testing.assert_allclose(got[key], value, atol=1e-12, err_msg=key)
    assert got.attrs["pool"] == "language" and got.attrs["method"] == "jackknife" and "seed" not in got.attrs
    np.testing.assert_array_equal(got.n_undefined, each("n_undefined").sum(axis=0))
    np.testing.assert_array_equal(got.fell_back, each("fell_back").any(axis=0))
    if not keywords:
        pytest.importorskip("dask")
        lazy = ds.chunk().meta.ci("m0", pool="language", **settings)
        xr.testing.assert_allclose(lazy.compute().drop_attrs(), got.drop_attrs(), atol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_language_without_a_pair_adds_nothing_to_a_pooled_interval():
    parts = languages()
    ds = xr.concat(parts.values(), xr.DataArray(list(parts), dims="language", name="language"), join="outer")
    ds.score.loc[{"language": "l1", "metric": "m1"}] = np.nan
    ds.score.loc[{"language": "l1", "metric": "m1", "system": "s0"}] = 1.0
    settings = {"coefficient": "pairwise_accuracy", "pool": "language", "metric": ["m1", "m2"]}
    got = ds.meta.ci("m0", **settings)
    want = ds.sel(language=["l0", "l2"]).meta.ci("m0", **settings)
    whole = xr.concat(parts.values(), ds.language, join="outer").meta.ci("m0", **settings)
    for name in ("correlation", *NUMBERS):
        np.testing.assert_allclose(got[name].sel(metric="m1"), want[name].sel(metric="m1"), atol=1e-12)
        np.testing.assert_allclose(got[name].sel(metric="m2"), whole[name].sel(metric="m2"), atol=1e-12)


def test_a_language_of_four_systems_in_perfect_order_leaves_a_pooled_interval():
    """Its own reaches from 0 to 1, and its standard error has no end: so the pooled one has no degrees of freedom."""
    parts = {"small": made(20, (2, 4, 9)), "large": made(21, (2, 9, 9))}
    parts["small"].score[1] = 2 * parts["small"].score[0]
    ds = xr.concat(parts.values(), xr.DataArray(list(parts), dims="language", name="language"), join="outer")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        how = {"coefficient": "pairwise_accuracy", "resample": "both"}
        small, large = (part.meta.ci("m0", **how).squeeze() for part in parts.values())
        got = ds.meta.ci("m0", coefficient="pairwise_accuracy", pool="language").squeeze()
    assert (float(small.ci_low), float(small.ci_high), float(small.standard_error)) == (0, 1, math.inf)
    low, high = (
        math.hypot(6 * (one - small.correlation), 36 * (two - large.correlation)) / 42
        for one, two in ((small.ci_low, large.ci_low), (small.ci_high, large.ci_high))
    )
    value = (6 * small.correlation + 36 * large.correlation) / 42
    np.testing.assert_allclose([got.ci_low, got.ci_high], [value - low, value + high], atol=1e-12)
    assert np.isnan(got.df) and bool(got.fell_back)


# --- Which method it is ---


@for_each("name", [*NAMES, "acc_eq", "tau_eq", "kendall_like", "spa", lambda x, z: 0.5])
@for_each(
    "keywords, drawn",
    [
        ({}, False),
        ({"resample": "system"}, False),
        ({"resample": ("input", "system")}, False),
        *(({"interval": each}, True) for each in ("percentile", "basic", "normal", "bca", "corrected")),
        ({"keep_samples": True}, True),
        ({"resample": "cell", "level": "global"}, True),
        ({"resample": ("system", "rater")}, True),
        ({"resample": ("reference", "input")}, True),
    ],
)
def test_what_auto_stands_for(name, keywords, drawn):
    level = keywords.get("level", "system")
    if level not in table.get(name).levels:
        return
    measure = checked_measure(level, name, "pairwise", "drop")
    dims = checked_resample(keywords.get("resample", "both"), measure)
    got = interval_method(measure, dims, keywords.get("interval"), keywords.get("keep_samples", False))
    assert got == ("bootstrap" if drawn or name not in (*NAMES, "acc_eq", "tau_eq") else "jackknife")


@pytest.mark.parametrize("name", ["acc_eq", "tau_eq"])
def test_accuracies_of_all_cells_are_drawn(name):
    """Brute force would be too slow there; elsewhere copies of a label agree with it, and lift the value of draws."""
    for level, method in zip(LEVELS, ("jackknife", "jackknife", "bootstrap", "jackknife"), strict=True):
        measure = checked_measure(level, name, "pairwise", "drop")
        assert interval_method(measure, ("system", "input"), None, False) == method


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_ranks_of_means_are_drawn_where_inputs_alone_are_random(name, level):
    measure = checked_measure(level, name, "pairwise", "drop")
    jump = level == "system" and name != "pearson"
    assert interval_method(measure, ("input",), None, False) == ("bootstrap" if jump else "jackknife")
    assert interval_method(measure, ("system",), None, False) == "jackknife"


@pairwise(
    {
        "level": ["system", "input"],
        "resample": ["input", "both", "system"],
        "name": ["pearson", "kendall"],
    }
)
def test_the_jackknife_of_ranked_means_over_inputs_is_warned_of(name, resample, level):
    asked = {"coefficient": name, "resample": resample, "level": level}
    said = texts(lambda: made(18).meta.ci("m0", method="jackknife", **asked))[1]
    text = "over inputs alone the jackknife of ranked system means covered the true value in about 80 % of"
    assert sum(text in each for each in said) == ((name, resample, level) == ("kendall", "input", "system"))


def test_auto_says_which_it_was():
    ds = made(11, (3, 6, 5))
    few = {"n_resamples": 20, "rng": 0}
    for keywords, method in (
        ({}, "jackknife"),
        ({"resample": "input", "other": "m1", "metric": "m2"}, "jackknife"),
        ({"coefficient": "acc_eq", "level": "input"}, "jackknife"),
        ({"coefficient": "acc_eq", "level": "global"}, "bootstrap"),
        ({"coefficient": lambda x, z: float(np.corrcoef(x, z)[0, 1])}, "bootstrap"),
        ({"interval": "basic"}, "bootstrap"),
        ({"keep_samples": True}, "bootstrap"),
        ({"level": "global", "resample": "cell"}, "bootstrap"),
    ):
        got = ds.meta.ci("m0", **few, **keywords)
        xr.testing.assert_identical(ds.meta.ci("m0", method=method, **few, **keywords), got)
        assert got.attrs["method"] == method
        drawn = {"seed", "n_resamples", "interval"}
        assert drawn <= set(got.attrs) if method == "bootstrap" else not drawn & set(got.attrs)
        assert ("df" in got) == (method == "jackknife") and "bias" in got


def test_what_the_result_says(tmp_path):
    ds = made(12)
    got = ds.meta.ci("m0", level="input", coefficient="kendall", confidence_level=0.9, resample="both")
    want = {"analysis": "ci", "method": "jackknife", "confidence_level": 0.9, "resample": "both", "level": "input"}
    want |= {"coefficient": "kendall", "missing": "pairwise", "undefined": "drop", "gold": "m0"}
    assert {name: got.attrs[name] for name in want} == want
    assert set(got.data_vars) == {"correlation", "n_undefined", *NUMBERS}
    assert all(got[name].dims == ("metric",) for name in got.data_vars)
    assert got.fell_back.dtype == bool and got.n_undefined.dtype.kind == "i"
    assert {name: got[name].attrs["long_name"] for name in ("bias", "df")} == {
        "bias": "estimated bias",
        "df": "degrees of freedom",
    }
    pytest.importorskip("netCDF4")
    pairs = ds.meta.ci("m0", other=["m1", "m2"])
    for at, each in enumerate((got, pairs)):
        each.to_netcdf(tmp_path / f"{at}.nc")
        xr.testing.assert_identical(xr.load_dataset(tmp_path / f"{at}.nc"), each)


def test_seeds_and_numbers_of_resamples_do_nothing():
    ds = made(13)
    want = ds.meta.ci("m0")
    xr.testing.assert_identical(ds.meta.ci("m0", rng=5, n_resamples=7, progress=False), want)


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"interval": "bca"}, "interval='bca' needs method='bootstrap', got method='jackknife'"),
        ({"keep_samples": True}, "keep_samples=True needs method='bootstrap': 'jackknife' draws no samples"),
        ({"level": "global", "resample": "cell"}, "draws of 'cell' need method='bootstrap'"),
        ({"resample": ("system", "rater")}, "draws of 'rater' need method='bootstrap'"),
        ({"resample": ("reference", "input")}, "draws of 'reference' need method='bootstrap'"),
        ({"confidence_level": 95}, "confidence_level must lie strictly between 0 and 1"),
        ({"n_resamples": 1}, "n_resamples must be at least 2"),
        ({"pool": "language"}, "pool must be an additional dim of score"),
    ],
)
def test_bad_keywords(keywords, message):
    with pytest.raises(ValueError, match=message):
        made(14).meta.ci("m0", method="jackknife", **keywords)


# --- What is said ---


def heard(ask):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return ask(), caught


def texts(ask):
    found, caught = heard(ask)
    return found, [str(each.message) for each in caught]


def test_fewer_than_four_systems_have_no_interval_and_that_is_said():
    ds = made(15, (3, 3, 9))
    for level in ("system", "input", "global"):
        got, said = texts(lambda level=level: ds.meta.ci("m0", level=level, resample="both"))
        ways = "level='input' with resample='input'" if level == "system" else "resample='input'"
        assert f"no jackknife interval, which needs 4 systems or more (3 here); try {ways}, for 'm1', 'm2'" in said
        assert np.isnan(got.ci_low).all() and np.isnan(got.standard_error).all() and got.correlation.notnull().all()
        assert not got.fell_back.any()
    got, said = texts(lambda: ds.meta.ci("m0", level="within_system"))
    assert not any("jackknife" in text for text in said) and np.isfinite(got.ci_low).all()
    got, said = texts(lambda: made(15, (3, 9, 3)).meta.ci("m0", level="within_system", resample="both"))
    assert "no jackknife interval, which needs 4 inputs or more (3 here), for 'm1', 'm2'" in said
    assert np.isnan(got.ci_low).all()


def test_a_perfect_correlation_is_said_to_fall_back():
    ds = made(16)
    ds.score[1] = 2 * ds.score[0] + 3
    for level, low in (("system", -1), ("input", 1)):
        got, said = texts(lambda level=level: ds.meta.ci("m0", level=level, coefficient="kendall"))
        assert said == [
            "a correlation is 1 or -1, or no system or input changes it when left out, so it has no standard error: "
            "its limits are exact for an average over random inputs or systems, Fisher's for rank coefficients at "
            "system level, and otherwise the estimate itself, for 'm1'"
        ]
        assert got.fell_back.values.tolist() == [True, False]
        assert float(got.ci_high[0]) == 1 and low <= float(got.ci_low[0]) <= 1
    assert float(got.ci_low[0]) == 1


def test_a_percentile_interval_beside_the_estimate_is_told_and_no_other():
    """Copies of systems: the resamples of averaged correlations of few systems lie below the estimate."""
    ds = made(17, (4, 8, 60))
    ds.score[3] = np.random.default_rng(0).normal(size=(8, 60))  # without a correlation there is no bias
    text = "the resamples are biased by more than a quarter of the standard error: percentile intervals may miss"
    text += " the true value too often (method='jackknife' corrects for it), for"
    settings = {"level": "input", "coefficient": "spearman", "method": "bootstrap", "n_resamples": 400, "rng": 1}
    got, said = texts(lambda: ds.meta.ci("m0", keep_samples=True, **settings))
    bias = got.samples.mean("resample") - got.correlation
    np.testing.assert_allclose(got.bias, bias, atol=1e-12)
    beyond = abs(bias) > got.samples.std("resample", ddof=1) / 4
    assert beyond.values.tolist() == [True, True, False]
    assert said == [f"{text} 'm1', 'm2'"]
    for keywords in ({"interval": "bca"}, {"interval": "normal"}, {"n_resamples": 98}, {"method": "jackknife"}):
        assert not of_code(heard(lambda kw=keywords: ds.meta.ci("m0", **{**settings, **kw}))[1], "biased")
    assert texts(lambda: ds.meta.ci("m0", metric="m3", **settings))[1] == []
    gap, said = texts(lambda: ds.meta.ci("m0", metric="m1", other="m3", **settings))
    assert said == [f"{text} 'm1/m3'"] and float(gap.bias.squeeze()) == pytest.approx(float(bias[0] - bias[2]))


@pytest.mark.parametrize("level", ["system", "global", "input"])
@pytest.mark.parametrize("coefficient", ["pearson", "kendall"])
def test_a_metric_and_a_copy_of_it_do_not_differ(demo, level, coefficient):
    """MOVER's limits alone would be about [-.1, .1], as those of one correlation are asymmetric."""
    copy = (2 * demo.score.sel(metric=["rouge"]) + 1).assign_coords(metric=["copy"])
    ds = xr.concat([demo.score, copy], "metric", coords="minimal", compat="override").to_dataset(name="score")
    asked = {"metric": "rouge", "level": level, "coefficient": coefficient}
    found = ds.meta.compare_metrics("human", other="copy", **asked)
    assert abs(found.ci_low.item()) < 1e-12 > abs(found.ci_high.item()) and found.pvalue.item() == 1
    assert bool(ds.meta.equivalence("human", other="copy", margin=0.01, method="jackknife", **asked).equivalent)
    assert ds.meta.compare_metrics("human", other="bleu", **asked).ci_high.item() > 0.01


@pytest.mark.parametrize("coefficient", ["kendall", "spearman"])
def test_metrics_that_rank_these_systems_alike_may_differ(coefficient):
    """Only copies have no difference: leaving out no system tells two metrics with one order apart, but inputs do."""
    rng = np.random.default_rng(0)
    means = np.arange(8.0)[:, None]
    human = means + rng.normal(size=(8, 30))
    order = means[[1, 0, 2, 4, 3, 5, 7, 6]]
    one, other = 3 * order + rng.normal(size=(8, 30)), 2 * order + rng.normal(size=(8, 30))
    score = xr.DataArray([human, one, other], dims=("metric", "system", "input"))
    ds = score.assign_coords(metric=["human", "a", "b"]).to_dataset(name="score")
    found = ds.meta.compare_metrics("human", coefficient=coefficient, level="system", resample="both")
    assert float(abs(found.difference[0, 1])) < 1e-12 and float(found.ci_high[0, 1]) > 0.05
