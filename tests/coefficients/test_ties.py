"""Coefficients of pairs of outputs: accuracy with ties, WMT's tau and soft pairwise accuracy, against plain loops."""

import itertools
import re
import warnings

import numpy as np
import pytest
import reference
import scipy.stats
import xarray as xr
from helpers import DECISIVE, LEVELS, examples, matrices, rows, same
from hypothesis import given
from hypothesis import strategies as st

from xsumstat.coefficients import arrays, table
from xsumstat.coefficients.arrays import packed
from xsumstat.coefficients.record import Measure
from xsumstat.resampling import draws

THRESHOLDS = {"acc_eq": None, "tau_eq": None, "kendall_like": 0.3, "spa": None}
CASES = [(name, level) for name in DECISIVE for level in (LEVELS if name != "spa" else ("system",))]
# Each coefficient once, and each level: what no level of one coefficient does by a way of its own.
SOME = [("acc_eq", "input"), ("tau_eq", "global"), ("kendall_like", "within_system"), ("spa", "system")]
HOW = (st.sampled_from(CASES), st.sampled_from(["pairwise", "available"]), st.sampled_from(["drop", "zero"]))


def record_of(name, threshold=None):
    threshold = THRESHOLDS[name] if threshold is None else threshold
    record = table.get(name)
    return record if threshold is None else record.at(threshold)


def prepared(x, z, level, record, missing="pairwise", undefined="drop"):
    return Measure(record, level, missing, undefined).estimator(x, z)


@examples(150)
@given(matrices(2), *HOW)
def test_estimate_equals_the_plain_definition(pair, case, missing, undefined):
    (name, level), (x, z) = case, pair
    want = reference.correlation(name, rows(x), rows(z), level, missing, undefined, threshold=THRESHOLDS[name])
    made = prepared(x, z, level, record_of(name), missing, undefined)
    assert same(made.value(), want)
    assert same(made.bootstrap(np.ones((1, len(x)), int), np.ones((1, x.shape[1]), int))[0], want)


@examples(80)
@given(matrices(2), st.sampled_from(LEVELS), st.sampled_from([0.0, 0.1, 0.3, 1.0, 5.0]))
def test_a_given_threshold(pair, level, threshold):
    x, z = pair
    want = reference.correlation("acc_eq", rows(x), rows(z), level, threshold=threshold)
    assert same(prepared(x, z, level, record_of("acc_eq", threshold)).value(), want)


@examples(150)
@given(matrices(2), *HOW, st.integers(0, 2**32))
def test_bootstrap_equals_gathering_the_drawn_labels(pair, case, missing, undefined, seed):
    (name, level), (x, z) = case, pair
    systems = draws.counts(seed, "system", x.shape[0], 0)[:3]
    inputs = draws.counts(seed, "input", x.shape[1], 0)[:3]
    whole = np.ones((1, x.shape[0]), int), np.ones((1, x.shape[1]), int)
    made = prepared(x, z, level, record_of(name), missing, undefined)
    for w, v in ((systems, inputs), (systems, whole[1]), (whole[0], inputs)):
        for got, s in zip(made.bootstrap(w, v), range(3), strict=True):
            i, j = w[min(s, len(w) - 1)], v[min(s, len(v) - 1)]
            drawn = reference.drawn(rows(x), i, j), reference.drawn(rows(z), i, j)
            want = reference.correlation(name, *drawn, level, missing, undefined, threshold=THRESHOLDS[name])
            assert same(got, want)


@examples(150)
@given(matrices(3), *HOW, st.integers(0, 2**32))
def test_swaps_of_scores_equal_the_plain_algorithm(arrays, case, missing, undefined, seed):
    (name, level), (x, y, z) = case, arrays
    if np.isnan(x + y + z).all():
        return  # nothing to compare
    swap = np.random.default_rng(seed).integers(0, 2, (3, *z.shape), dtype=np.uint8)
    how = {"level": level, "missing": missing, "undefined": undefined}
    (test,) = Measure(record_of(name), **how).swapped(np.array([x, y]), z, ((0, 1),))
    for got, each in zip(test.differences(packed(swap))[0], swap, strict=True):
        want = reference.difference(name, rows(x), rows(y), rows(z), each.tolist(), **how, threshold=THRESHOLDS[name])
        assert same(got, want, 1e-10)


def cube(*matrices_, labels=None, **coords):
    """A Dataset of some score matrices, the last being the gold, "human"."""
    labels = labels or [*(f"m{at}" for at in range(len(matrices_) - 1)), "human"]
    return xr.Dataset({"score": (("metric", "system", "input"), np.array(matrices_))}, {"metric": labels, **coords})


def tied(seed, systems=6, inputs=5, metrics=2):
    """Metrics with ties, and a gold with more."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 4, (systems, inputs)).astype(float)
    return *(np.round(z / 2 + rng.normal(size=z.shape), 1) for _ in range(metrics)), z


# --- What the papers say of them ---


def test_a_metric_that_ties_everything_is_right_where_people_tie():
    _, z = tied(1, metrics=1)
    pairs = [(z[i, j], z[k, j]) for j in range(5) for i, k in itertools.combinations(range(6), 2)]
    share = sum(a == b for a, b in pairs) / len(pairs)
    flat = np.full(z.shape, 0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a constant metric has an accuracy
        got = cube(flat, z).meta.corr("human", level="input", coefficient="acc_eq")
    assert float(got.correlation.squeeze()) == pytest.approx(share, abs=1e-15)
    assert float(got.threshold.squeeze()) == 0.0


def test_a_metric_that_never_ties_is_given_the_ties_that_serve_it():
    """Deutsch et al. (2023), §5: calibration can but help, and ties all pairs where gold does."""
    rng = np.random.default_rng(2)
    z = np.zeros((6, 5))
    z[0] = 1.0
    x = rng.normal(size=z.shape)
    assert len(np.unique(x)) == x.size
    ds = cube(x, z)
    plain = ds.meta.corr("human", level="input", coefficient="acc_eq", threshold=0).correlation.item()
    free = ds.meta.corr("human", level="input", coefficient="acc_eq")
    assert plain <= 1 / 3  # no tie of the gold's 10 of 15 is seen
    assert free.correlation.item() >= 10 / 15  # at the least what tying everything gives
    assert free.threshold.item() > 0


def test_the_worked_counts_of_accuracy_with_ties():
    """(C + T_xz) / (C + D + T_x + T_z + T_xz), one pair of each kind and one more concordant."""
    x = np.array([[1.0], [2.0], [2.0], [4.0]])
    z = np.array([[1.0], [1.0], [2.0], [0.0]])
    # pairs: (0,1) T_z, (0,2) C, (0,3) D, (1,2) T_x, (1,3) D, (2,3) D
    got = cube(x, z).meta.corr("human", level="input", coefficient="acc_eq", threshold=0, undefined="drop")
    assert got.correlation.item() == pytest.approx(1 / 6)


def test_wmts_tau_counts_a_tie_in_the_metric_as_wrong():
    """Ma et al. (2019), §4.2: of direct assessments that are at least 25 points apart."""
    z = np.array([[90.0], [60.0], [50.0], [65.0]])
    x = np.array([[0.9], [0.5], [0.6], [0.9]])
    # apart by 25: (90, 60) right, (90, 50) right, (90, 65) tied in the metric
    got = cube(x, z).meta.corr("human", level="input", coefficient="kendall_like")
    assert got.correlation.item() == pytest.approx((2 - 1) / 3)
    assert got.attrs["threshold"] == 25.0


def test_differences_that_only_rounding_parts_are_tied_together():
    x = np.array([[0.1], [0.2], [0.3], [0.7]])
    assert 0.2 - 0.1 != 0.3 - 0.2
    z = np.array([[1.0], [1.0], [1.0], [2.0]])
    got = cube(x, z).meta.corr("human", level="input", coefficient="acc_eq")
    assert got.correlation.item() == 1.0
    assert cube(x, z).meta.corr("human", level="input", coefficient="acc_eq", threshold=0.2).correlation.item() == 1.0


def test_wmts_tau_counts_differences_that_only_rounding_brings_below_the_threshold():
    z = np.array([[0.1], [0.3], [0.5], [0.6]])
    assert 0.3 - 0.1 < 0.2
    x = np.array([[1.0], [0.5], [2.0], [3.0]])
    # at least .2 apart: (.1, .3) wrong, (.1, .5), (.1, .6), (.3, .5), (.3, .6) right
    got = cube(x, z).meta.corr("human", level="input", coefficient="kendall_like", threshold=0.2)
    assert got.correlation.item() == pytest.approx((4 - 1) / 5)


def test_differences_are_equal_by_what_rounding_can_do_to_both():
    gaps, near = np.array([1 + 1.5e-12, 1.0, 2.0, 1 - 2.5e-12]), np.full(4, 1e-12)
    order, ends = arrays.sorted_gaps(gaps, near)
    assert order.tolist() == [3, 1, 0, 2] and ends.tolist() == [True, False, True, True]


def test_a_pair_weighs_as_much_as_its_group_has_few():
    """A tie of .5 wins the one pair of the first input and loses two of the six of the second."""
    x = np.array([[0.0, 0.0], [0.5, 0.1], [np.nan, 10.0], [np.nan, 10.1]])
    z = np.array([[1.0, 1.0], [1.0, 2.0], [np.nan, 3.0], [np.nan, 4.0]])
    for turned, level in ((False, "input"), (True, "within_system")):
        u, v = (x.T, z.T) if turned else (x, z)
        made = prepared(u, v, level, record_of("acc_eq"))
        assert made.threshold == 0.5 and made.value() == pytest.approx((1 + 4 / 6) / 2)
        draw = np.ones((1, u.shape[0]), int), np.ones((1, u.shape[1]), int)
        assert made.bootstrap(*draw)[0] == pytest.approx((1 + 4 / 6) / 2)


def authors_pvalues(scores, signs):
    """Thompson et al. (2024): of each pair of systems once, from permutations that all pairs share."""
    null, seen = signs @ scores.T, scores.sum(axis=1)
    pairs = itertools.combinations(range(len(scores)), 2)
    return np.array([np.mean(null[:, a] - null[:, b] >= seen[a] - seen[b] - 1e-9) for a, b in pairs])


@pytest.mark.parametrize("inputs, heavy", [(14, False), (25, False), (100, False), (60, True)])
def test_soft_accuracy_is_what_its_authors_sample(inputs, heavy):
    rng = np.random.default_rng(inputs)
    z = 0.3 * rng.normal(size=(6, 1)) + rng.normal(size=(6, inputs))
    noise = rng.standard_t(2, size=z.shape) if heavy else rng.normal(size=z.shape)
    got = cube(z + noise, z).meta.corr("human", coefficient="spa").correlation.item()
    signs = np.random.default_rng(0).integers(0, 2, (100_000, inputs)) * 2 - 1
    want = 1 - np.abs(authors_pvalues(z + noise, signs) - authors_pvalues(z, signs)).mean()
    assert got == pytest.approx(want, abs=0.004)


def test_soft_accuracy_of_few_inputs_is_its_authors_with_all_permutations():
    """Without ties among the resampled differences the order of a pair does not matter."""
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, 5, 8))
    signs = np.array(list(itertools.product((1, -1), repeat=8)))
    want = 1 - np.abs(authors_pvalues(x, signs) - authors_pvalues(z, signs)).mean()
    # P(S >= s) + P(S <= s) is 1 and the chance of s itself, 1/256 for both scores: it cancels.
    assert cube(x, z).meta.corr("human", coefficient="spa").correlation.item() == pytest.approx(want, abs=1e-12)


def exact_share(differences):
    """P(sum of signed differences >= their sum), the distribution of whole numbers by convolution."""
    chances = {0: 1.0}
    for d in differences:
        wider = {}
        for total, p in chances.items():
            wider[total + d] = wider.get(total + d, 0.0) + p / 2
            wider[total - d] = wider.get(total - d, 0.0) + p / 2
        chances = wider
    return sum(p for total, p in chances.items() if total >= sum(differences))


@pytest.mark.parametrize("grades, inputs", [(2, 14), (2, 30), (3, 20), (5, 60)])
def test_soft_accuracy_of_coarse_grades_is_the_exact_one(grades, inputs):
    """A tie of the sums with the observed one counts in full, for both orders of a pair."""
    rng = np.random.default_rng(grades + inputs)
    z = rng.integers(0, grades, (5, inputs))
    x = np.clip(z + rng.integers(-1, 2, z.shape), 0, grades - 1)
    apart = [
        abs(exact_share((x[a] - x[b]).tolist()) - exact_share((z[a] - z[b]).tolist()))
        for a, b in itertools.permutations(range(5), 2)
    ]
    for scale in (1.0, 1 / 3):
        got = cube(scale * x, z).meta.corr("human", coefficient="spa").correlation.item()
        assert got == pytest.approx(1 - np.mean(apart), abs=2e-4)


def test_swaps_under_soft_accuracy_do_not_hang_on_rounding():
    """A metric and a linear copy of it trade places without a trace."""
    rng = np.random.default_rng(6)
    for seed in range(5):
        q, z = rng.integers(0, 3, (6, 3)).astype(float), np.random.default_rng(seed).normal(size=(6, 3))
        test = cube(q, 0.1 * q + 0.7, z).meta.perm_test("human", coefficient="spa", n_resamples=99, rng=0)
        assert float(test.pvalue[0, 1]) == 1.0 and float(test.difference[0, 1]) == pytest.approx(0.0, abs=1e-12)


def test_why_nothing_is_defined_is_said():
    with pytest.warns(UserWarning, match="no two gold scores lie 25 \\(see threshold\\) apart: 'm0', 'm1'"):
        cube(*tied(16)).meta.corr("human", level="input", coefficient="kendall_like", threshold=25)


# --- Swaps of decisions ---

ONE_BY_ONE = pytest.mark.ignore_codes("decisions_swapped")


@pytest.mark.parametrize("level, instead", [("input", "resample='input', the default"), ("system", "swap='scores'")])
def test_coins_for_single_decisions_are_warned_of(level, instead):
    ds = cube(*tied(0))
    with pytest.warns(UserWarning, match=f"the test is liberal .*; use {instead}"):
        ds.meta.perm_test("human", level=level, coefficient="acc_eq", swap="decisions", n_resamples=19, rng=0)


def decisions_of(x, z, threshold):
    """Which pairs are decided right, by input."""
    found = []
    for j in range(x.shape[1]):
        row = []
        for a, b in itertools.combinations(range(len(x)), 2):
            gap = x[a, j] - x[b, j]
            row.append(int((0 if abs(gap) <= threshold else np.sign(gap)) == np.sign(z[a, j] - z[b, j])))
        found.append(row)
    return np.array(found)


def test_swaps_of_all_decisions_are_enumerated_when_few():
    x, y, z = (each[:3, :2] for each in tied(4))
    ds = cube(x, y, z)
    right = [decisions_of(each, z, 0.2) for each in (x, y)]
    apart = (right[0] - right[1]) / (3 * 2)
    for resample, units in (("both", apart.ravel()), ("input", apart.sum(axis=1))):
        sums = [np.dot(signs, units) for signs in itertools.product((1, -1), repeat=len(units))]
        want = np.mean([s >= units.sum() - 1e-12 for s in sums])
        kw = {"level": "input", "coefficient": "acc_eq", "threshold": 0.2, "alternative": "greater"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            test = ds.meta.perm_test("human", swap="decisions", resample=resample, n_resamples=999, rng=0, **kw)
        assert test.attrs["exact"] == 1 and test.attrs["n_resamples"] == 2 ** len(units)
        assert float(test.pvalue.sel(metric="m0", other_metric="m1")) == pytest.approx(want, abs=1e-12)
        assert float(test.difference.sel(metric="m0", other_metric="m1")) == pytest.approx(units.sum(), abs=1e-12)


@ONE_BY_ONE
def test_computed_swaps_of_decisions_are_mcnemars_test():
    x, y, z = tied(5, 9, 30)
    ds = cube(x, y, z)
    thresholds = ds.meta.corr("human", level="input", coefficient="acc_eq").threshold.values
    first, second = (decisions_of(m, z, t + 1e-9) for m, t in zip((x, y), thresholds, strict=True))
    better, worse = int((first > second).sum()), int((first < second).sum())
    kw = {"level": "input", "coefficient": "acc_eq", "swap": "decisions", "alternative": "greater"}
    test = ds.meta.perm_test("human", method="analytic", **kw)
    want = scipy.stats.binomtest(better, better + worse, alternative="greater").pvalue
    assert float(test.pvalue.sel(metric="m0", other_metric="m1")) == pytest.approx(want, rel=1e-9)
    sampled = ds.meta.perm_test("human", n_resamples=20_000, rng=1, **kw)
    assert float(sampled.pvalue.sel(metric="m0", other_metric="m1")) == pytest.approx(want, abs=0.015)


@ONE_BY_ONE
def test_each_pair_of_metrics_is_judged_on_the_decisions_that_both_make():
    x, y, z = tied(6, 6, 8)
    x[0, :3] = y[4, 5:] = z[2, 1] = np.nan
    third = np.where(np.isnan(x), x, tied(7, 6, 8)[0])
    ds, kw = cube(x, y, third, z), {"level": "input", "coefficient": "acc_eq"}
    for undefined in ("drop", "zero"):
        test = ds.meta.perm_test("human", n_resamples=99, rng=0, undefined=undefined, **kw)
        for a, b in itertools.combinations(("m0", "m1", "m2"), 2):
            both = ds.score.sel(metric=a).notnull() & ds.score.sel(metric=b).notnull()
            alone = ds.sel(metric=[a, b, "human"]).where(both).meta.corr("human", undefined=undefined, **kw).correlation
            want = float(alone.sel(metric=a) - alone.sel(metric=b))
            assert float(test.difference.sel(metric=a, other_metric=b)) == pytest.approx(want, abs=1e-12)


def test_missing_gold_is_never_zero():
    """Also not where a decision, or a difference of 25 points, would be made of it."""
    x, y, z = tied(8, 6, 8)
    gone = z.copy()
    gone[1, 2] = gone[5, :3] = np.nan
    other = np.where(np.isnan(gone), np.nan, x), np.where(np.isnan(gone), np.nan, y)
    for name, level in CASES:
        values = [prepared(each, gone, level, record_of(name)).value() for each in (x, y, *other)]
        assert same(values[:2], values[2:], 1e-13), (name, level)
    for name, level in SOME:
        how = {"coefficient": name, "level": level, "threshold": THRESHOLDS[name]}
        part, want = (cube(*each, gone).meta.corr("human", **how).correlation for each in ((x, y), other))
        np.testing.assert_allclose(part, want, atol=1e-13, err_msg=f"{name}, {level}")


# --- Thresholds ---


# Scores with ties, and gaps of the metric: an input and a part of a system without any.
METRIC, GOLD = (np.random.default_rng(6).integers(0, top, (5, 4)).astype(float) for top in (4, 3))
METRIC[0, 1] = METRIC[3, 2:] = METRIC[1:, 0] = np.nan


@pytest.mark.parametrize("powers", [(0, 0), (600, 0), (0, 600), (-600, 500), (600, 600)])
@pytest.mark.parametrize("level", LEVELS)
def test_thresholds_have_the_unit_of_what_they_are_of(level, powers):
    """Of the metric for accuracy with ties, of the gold for WMT's tau; whatever power of 2 is taken out of either."""
    metric, gold = np.ldexp(METRIC, powers[0]), np.ldexp(GOLD, powers[1])
    usual = [
        prepared(METRIC, GOLD, level, record_of(name, threshold)).value()
        for name, threshold in (("acc_eq", 1.0), ("kendall_like", 2.0))
    ]
    assert prepared(metric, gold, level, record_of("acc_eq", np.ldexp(1.0, powers[0]))).value() == usual[0]
    like_wmt = record_of("kendall_like", np.ldexp(2.0, powers[1]))
    assert same(prepared(metric, gold, level, like_wmt).value(), usual[1], 0)
    measure = Measure(record_of("acc_eq"), level)
    calibrate = measure.coefficient.calibrate
    threshold = calibrate(measure.estimator(metric, gold), metric, gold, measure)
    # Of all thresholds the best, and of those as good the smallest, in the metric's unit.
    candidates = sorted({0.0, *reference.gaps(reference.groups(rows(METRIC), rows(GOLD), level))})
    values = [reference.correlation("acc_eq", rows(METRIC), rows(GOLD), level, threshold=each) for each in candidates]
    assert np.ldexp(threshold, -powers[0]) == pytest.approx(candidates[int(np.argmax(np.round(values, 12)))], abs=1e-12)
    # Also of an estimator that has sorted no pairs.
    other = Measure(table.get("pairwise_accuracy"), level).estimator(metric, gold)
    assert calibrate(other, metric, gold, measure) == pytest.approx(threshold, rel=1e-12)
    at = measure.at(3.0)
    assert calibrate(at.estimator(METRIC, GOLD), METRIC, GOLD, at) == 3.0


@ONE_BY_ONE
def test_held_out_thresholds_are_those_of_the_other_scores():
    x, y, z = tied(9, 7, 20)
    ds = cube(x, y, z)
    first, second = ds.isel(input=slice(0, 10)), ds.isel(input=slice(10, 20))
    kw = {"level": "input", "coefficient": "acc_eq"}
    found = first.meta.corr("human", **kw)
    for question in ("corr", "ci"):
        more = {} if question == "corr" else {"n_resamples": 49, "rng": 0}
        held = getattr(second.meta, question)("human", calibrate_on=first, **kw, **more)
        given_ = getattr(second.meta, question)("human", threshold=found.threshold, **kw, **more)
        xr.testing.assert_equal(held.drop_attrs(), given_.drop_attrs())
        assert held.attrs["threshold"] == "held out"
    held = second.meta.perm_test("human", calibrate_on=first, n_resamples=49, rng=0, **kw)
    given_ = second.meta.perm_test("human", threshold=found.threshold[::-1], n_resamples=49, rng=0, **kw)
    xr.testing.assert_equal(held.drop_attrs(), given_.drop_attrs())
    for at in range(2):
        want = decisions_of(ds.score.values[at, :, 10:], z[:, 10:], float(found.threshold[at]) + 1e-9).mean()
        got = second.meta.corr("human", calibrate_on=first, **kw).correlation[at]
        assert float(got) == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize(
    "keywords, text",
    [
        ({"threshold": -1}, "threshold must be at least 0"),
        (
            {"threshold": 1, "coefficient": "kendall"},
            "threshold needs coefficient='acc_eq', 'tau_eq' or 'kendall_like'",
        ),
        ({"calibrate_on": 3}, "calibrate_on must be a Dataset"),
        ({"calibrate_on": xr.Dataset(), "threshold": 1}, "give one of them"),
        ({"calibrate_on": xr.Dataset()}, "calibrate_on: the Dataset has no variable 'score'"),
        ({"coefficient": "spa"}, "coefficient='spa' compares systems, and needs level='system'"),
        (
            {"threshold": xr.DataArray([1.0], dims="metric", coords={"metric": ["m0"]})},
            "unknown metric of threshold 'm1'",
        ),
    ],
)
def test_wrong_thresholds(keywords, text):
    ds = cube(*tied(10))
    asked = {"level": "input", "coefficient": "acc_eq", **keywords}
    with pytest.raises((ValueError, TypeError), match=re.escape(text)):
        ds.meta.corr("human", **asked)


@pytest.mark.parametrize(
    "keywords, text",
    [
        ({"swap": "decisions", "coefficient": "kendall"}, "swap='decisions' needs coefficient='acc_eq'"),
        ({"swap": "decisions", "resample": "system"}, "resample must be 'both' or 'input' where decisions are swapped"),
        ({"swap": "decisions", "crossed": True}, "crossed=True applies to swaps of scores"),
        ({"swap": "scores", "threshold": 0.3}, "swap='scores' would give a score to another metric's threshold"),
        ({"swap": "scores", "method": "analytic"}, "is available for rank coefficients"),
    ],
)
def test_wrong_swaps(keywords, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        cube(*tied(11)).meta.perm_test("human", **{"level": "input", "coefficient": "acc_eq", **keywords})


def test_coefficients_that_judge_a_metric_are_no_correlations_of_two_metrics():
    ds = cube(*tied(12))
    for question in (ds.meta.metric_corr, ds.meta.metric_ci):
        with pytest.raises(ValueError, match="compares a metric with human scores"):
            question(level="input", coefficient="acc_eq")


def test_too_many_pairs_are_refused_at_once():
    ds = cube(*np.random.default_rng(0).normal(size=(3, 20, 500)))
    kw = {"level": "global", "coefficient": "acc_eq"}
    with pytest.raises(ValueError, match="looks at all pairs of outputs: 5e\\+07.*; give a threshold"):
        ds.meta.perm_test("human", **kw)
    with pytest.raises(ValueError, match="looks at all pairs of outputs: 5e\\+07.*; use level='input'"):
        ds.meta.corr("human", level="global", coefficient="kendall_like", threshold=0.1)
    assert 0 < ds.meta.perm_test("human", n_resamples=9, rng=0, threshold=0, **kw).pvalue.values[0, 1] <= 1


@pytest.mark.parametrize("name, threshold", [("acc_eq", 0.0), ("kendall_like", 0.1)])
def test_pairs_that_are_counted_have_a_limit_too(monkeypatch, name, threshold):
    ds = cube(*np.random.default_rng(0).normal(size=(3, 5, 9)))
    monkeypatch.setattr("xsumstat.coefficients.ties.MOST_COUNTED", 100)
    with pytest.raises(ValueError, match="all pairs of outputs: 990 here, and at most 100 can be; use level='input'"):
        ds.meta.perm_test("human", level="global", coefficient=name, threshold=threshold, n_resamples=9, rng=0)


def test_thresholds_of_many_pairs_that_are_found_among_some_are_said(monkeypatch):
    """Here of 30 thousand pairs, which are too many by the limit of a test."""
    monkeypatch.setattr("xsumstat.coefficients.ties.MOST_PAIRS", 20_000)
    ds = cube(*np.random.default_rng(0).normal(size=(3, 10, 25)))
    kw = {"level": "global", "coefficient": "acc_eq"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ((ds.meta.corr("human", **kw).correlation - 0.5) < 0.1).all()
    for question in (ds.meta.ci, ds.meta.boot_test):
        settings = {"method": "bootstrap"} if question == ds.meta.ci else {}
        with pytest.warns(UserWarning, match="in each resample the threshold is the best of some 512 differences"):
            question("human", n_resamples=2, rng=0, **settings, **kw)


@ONE_BY_ONE
@pytest.mark.parametrize("at", range(len(CASES)), ids=["-".join(case) for case in CASES])
def test_lazy_scores_give_the_same_bits(at):
    """Of drawn and of swapped scores by turns; test_table asks all for the plain values."""
    pytest.importorskip("dask")
    (name, level), ds = CASES[at], cube(*tied(13, 8, 9))
    how = {"coefficient": name, "level": level, "threshold": 0.05 if name == "kendall_like" else None}
    question = ("ci", "perm_test")[(at + at // 4) % 2]
    eager, lazy = (
        getattr(each.meta, question)("human", **how, n_resamples=60, rng=3)
        for each in (ds, ds.chunk(system=4, input=5))
    )
    xr.testing.assert_identical(eager, lazy.compute())


@pytest.mark.parametrize("name, level", SOME)
def test_the_order_of_systems_inputs_and_metrics_does_not_matter(name, level):
    ds = cube(*tied(14, 6, 9, 3), system=list("abcdef"), input=range(9))
    turned = ds.isel(system=[3, 1, 5, 0, 4, 2], input=slice(None, None, -1), metric=[2, 0, 3, 1])
    how = {"coefficient": name, "level": level, "threshold": THRESHOLDS[name]}
    got = (
        turned.transpose("input", "metric", "system")
        .meta.corr("human", **how)
        .correlation.sel(metric=["m0", "m1", "m2"])
    )
    np.testing.assert_allclose(got, ds.meta.corr("human", **how).correlation, atol=1e-12)


@pytest.mark.parametrize("scale", [1e307, 1e-290])
@pytest.mark.parametrize("name, level", CASES)
def test_size_of_the_scores_does_not_matter(name, level, scale):
    x, _, z = tied(15)
    usual, other = (record_of(name, None if name != "kendall_like" else factor) for factor in (0.5, 0.5 * scale))
    want = prepared(x, z, level, usual).value()
    assert prepared(scale * x, scale * z, level, other).value() == pytest.approx(want, abs=1e-12)
