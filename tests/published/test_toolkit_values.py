"""The example values of mt-metrics-eval's own tests of statistics, as a table: what it asserts, asked of this library.

Scores are as its tests give them: one list, system after system, None where one is missing. Its "none", "sys" and
"item" are the levels "global", "within_system" and "input". Of its assertions 105 have a counterpart here, and 99 of
them hold. Six differ for two reasons, which stand at the end: the p-value of Williams's test of averages, and the
number of swaps, five times. The others are of random samples of segments, of the shapes of its arrays, of its
preprocessing, and of tau-b with a threshold.
"""

import itertools
import math
import warnings

import numpy as np
import pytest
import reference
import scipy.stats
import xarray as xr

LEVELS = {"none": "global", "sys": "within_system", "item": "input"}
SIX, TIED = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 3, 7]
FIVE = ([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3])
LIKE = ([10, 11, 100, 150], [2, 1, 4, 3])
SEVEN = ([7, 1, 2, 7, 4, 3, 2], [4, 1, 3, 6, 1, 5, 6])
TIES = ([1, 1, 1, 2, 2, 3, 4], [1, 1, 2, 2, 4, 3, 3])
OPT = ([1, 2, 2, 3, 3, 4], [2, 1, 1.5, 5, 3, 2])
GAP, JUMP = [1, None, 3, 4, 5, 6], [2, 1, 8, 3, 5, 6]
PAIR = ([1, 2, 3, 4, 5, 5, 7, 8], [1, 2, 3, 3, 7, 3, 5, 5], [2, 1, 2, 6, 8, 8, 7, 6])
DECIDED = ([1, 3, 3, 3, 1, 2, 1, 2], [2, 4, 6, 6, 2, 6, 3, 7], [1, 5, 4, 4, 4, 3, 2, 1])

pearson, kendall = scipy.stats.pearsonr, scipy.stats.kendalltau


def scores(n_systems, gold, *metrics):
    values = [[np.nan if each is None else each for each in of] for of in (gold, *metrics)]
    cube = np.array(values, dtype=float).reshape(len(values), n_systems, -1)
    labels = {"metric": ["gold", *(f"metric{at}" for at in range(1, len(values)))]}
    return xr.Dataset({"score": (("metric", "system", "input"), cube)}, labels)


@pytest.fixture(autouse=True)
def _small():
    """Its examples are of few systems, which is warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


# --- Values of correlations ---

# Its test; number of systems, gold, metric; averaged by, coefficient, threshold; the value that it asserts, and to how
# many decimals (None: exactly).
VALUES = [
    ("Correlation.Pearson", 2, SIX, TIED, "none", "pearson", None, 0.776, 3),
    ("Correlation.Pearson", 2, SIX, TIED, "sys", "pearson", None, 0.760, 3),
    ("Correlation.Pearson", 2, SIX, TIED, "item", "pearson", None, 1.00, 3),
    ("Correlation.Kendall", 2, SIX, TIED, "none", "kendall", None, 0.552, 3),
    ("Correlation.Kendall", 2, SIX, TIED, "sys", "kendall", None, 0.575, 3),
    ("Correlation.Kendall", 2, SIX, TIED, "item", "kendall", None, 1.00, 3),
    ("Correlation.KendallC", 2, SIX, TIED, "none", "kendall_c", None, 0.556, 3),
    ("Correlation.KendallC", 2, SIX, TIED, "sys", "kendall_c", None, 0.611, 3),
    ("Correlation.KendallC", 2, SIX, TIED, "item", "kendall_c", None, 1.00, 3),
    ("Correlation.KendallLike", 1, [10, None, 100, 150], LIKE[1], "none", "kendall_like", 1, 1 / 3, None),
    ("Correlation.KendallLike", 2, *LIKE, "item", "kendall_like", 1, 1, None),
    ("Correlation.KendallLike", 2, [10, None, 100, 150], LIKE[1], "item", "kendall_like", 1, 1, None),
    ("Correlation.KendallVariants", 1, *FIVE, "none", "kendall", None, 0.316227766, 7),
    ("Correlation.KendallVariants", 1, *FIVE, "none", "kendall_c", None, 0.32, None),
    ("Correlation.KendallVariants", 1, *FIVE, "none", "tau_eq", 0, 0.2, None),
    ("Correlation.KendallVariants", 1, *FIVE, "none", "acc_eq", 0, 0.6, None),
    ("Correlation.KendallVariants", 1, *FIVE, "none", "acc_eq", 2, 0.4, None),
    ("Correlation.KendallWithTiesOpt", 1, *FIVE, "none", "acc_eq", None, 0.7, None),
    ("AverageCorrelation.NaNHandling", 2, SIX, [2, 2, 2, 4, 5, 6], "sys", "pearson", None, 1.0, 7),
    ("KendallLike", 1, *LIKE, "none", "kendall_like", 25, 3 / 5, None),
    ("KendallLike", 1, *LIKE, "none", "kendall_like", 1, 2 / 6, None),
    ("Agreement", 1, [1, 2, 3, 3, 4], [1, 1, 2, 1, 2], "none", "acc_eq", 0, 5 / 10, None),
    ("KendallVariants_23", 1, *TIES, "none", "tau_eq", 0, (14 - 7) / 21, None),
    ("KendallVariants_23", 1, *TIES, "none", "acc_eq", 0, 14 / 21, None),
    ("KendallVariantsWithPositiveEpsilon", 1, *TIES, "none", "tau_eq", 0.0, (14 - 7) / 21, None),
    ("KendallVariantsWithPositiveEpsilon", 1, *TIES, "none", "tau_eq", 0.1, (14 - 7) / 21, None),
    ("KendallVariantsWithPositiveEpsilon", 1, *TIES, "none", "tau_eq", 1.0, (7 + 3 - 1 - 10) / 21, None),
]


@pytest.mark.parametrize(("test", "n", "gold", "metric", "by", "name", "threshold", "value", "places"), VALUES)
def test_values(test, n, gold, metric, by, name, threshold, value, places):
    ds = scores(n, gold, metric)
    got = ds.meta.corr("gold", level=LEVELS[by], coefficient=name, threshold=threshold).correlation.item()
    assert got == pytest.approx(value, abs=1e-14 if places is None else 0.5 * 10**-places), test


@pytest.mark.parametrize(("variant", "name"), [("b", "kendall"), ("c", "kendall_c")])
def test_kendall_is_scipys(variant, name):
    """KendallVariants_b_and_c (four times each: its preprocessed forms are one here) and CorrFcnArgs, with p-values."""
    for gold, metric in (SEVEN, (SIX, JUMP)):
        got = scores(1, gold, metric).meta.corr("gold", level="global", coefficient=name, average=False)
        want = kendall(gold, metric, variant=variant)
        assert (got.correlation.item(), got.pvalue.item()) == pytest.approx(tuple(want), abs=1e-14)


@pytest.mark.parametrize("gold, kept", [(SIX, (SIX, [2, 1, 4, 3, 5, 6])), (GAP, ([1, 3, 4, 5, 6], [2, 4, 3, 5, 6]))])
def test_one_vector_is_scipys(gold, kept):
    """AverageByNone, AverageByNoneNoFiltering and MissingEntries: the correlation and its p-value."""
    got = scores(1, gold, [2, 1, 4, 3, 5, 6]).meta.corr("gold", level="global", average=False)
    assert (got.correlation.item(), got.pvalue.item()) == pytest.approx(tuple(pearson(*kept)), abs=1e-14)


# --- Averages of SciPy's correlations and p-values ---

# Its test; gold; averaged by; the vectors of the groups that count, and what each weighs.
AVERAGES = [
    ("AverageBySystem", SIX, "sys", [([1, 2, 3], [2, 1, 8]), ([4, 5, 6], [3, 5, 6])], [1, 1]),
    ("AverageByItem", SIX, "item", [([1, 4], [2, 3]), ([2, 5], [1, 5]), ([3, 6], [8, 6])], [1, 1, 1]),
    ("AverageByItemWithMissingEntries", GAP, "item", [([1, 4], [2, 3]), ([3, 6], [8, 6])], [1, 1]),
    ("MicroAveraging", GAP, "sys", [([1, 3], [2, 8]), ([4, 5, 6], [3, 5, 6])], [2, 3]),
]


@pytest.mark.parametrize(("test", "gold", "by", "vectors", "weights"), AVERAGES)
def test_averages(test, gold, by, vectors, weights):
    """The average of groups; of p-values, and weighed by the scores of each group, by xarray."""
    ds = scores(2, gold, JUMP)
    each = ds.meta.corr("gold", level=LEVELS[by], average=False).squeeze("metric")
    n = (ds.score.notnull().all("metric")).sum("system" if by == "item" else "input")
    weighed = each.weighted(n if test == "MicroAveraging" else xr.ones_like(n))
    found = [weighed.mean()[name].item() for name in ("correlation", "pvalue")]
    want = [np.average([pearson(*pair)[at] for pair in vectors], weights=weights) for at in (0, 1)]
    assert found == pytest.approx(want, abs=1e-12), test
    if test != "MicroAveraging":
        assert ds.meta.corr("gold", level=LEVELS[by]).correlation.item() == pytest.approx(want[0], abs=1e-12)


def test_undefined_groups_as_zero():
    """NaNHandlingWithZeros."""
    ds = scores(2, SIX, [2, 2, 2, 4, 5, 6])
    assert ds.meta.corr("gold", level="within_system", undefined="zero").correlation.item() == pytest.approx(0.5)


@pytest.mark.parametrize("gold, metric", [OPT, ([1, 2, 3, 4, None, 6], JUMP)])
@pytest.mark.parametrize("n, by", [(1, "none"), (2, "sys"), (2, "item")])
def test_the_best_threshold_has_the_best_value(gold, metric, n, by):
    """KendallWithTiesOpt, of both classes: the value at the threshold found, which no other passes (plain Python)."""
    found = scores(n, gold, metric).meta.corr("gold", level=LEVELS[by], coefficient="acc_eq")
    parted = [np.array(each, dtype=object).reshape(n, -1).tolist() for each in (metric, gold)]
    at = reference.correlation("acc_eq", *parted, LEVELS[by], threshold=found.threshold.item())
    best = reference.correlation("acc_eq", *parted, LEVELS[by])
    assert found.correlation.item() == pytest.approx(at, abs=1e-14) == pytest.approx(best, abs=1e-14)


# --- Permutation tests ---

# Its test of PermutationSigDiff; averaged by, coefficient, what stands for an undefined group, further keywords, draws.
TESTS = [
    ("PearsonNoAvg", "none", "pearson", "drop", {}, 1000),
    ("PearsonSys", "sys", "pearson", "drop", {}, 1000),
    ("PearsonSysNan0", "sys", "pearson", "zero", {}, 1000),
    ("PearsonItem", "item", "pearson", "drop", {}, 1000),
    ("KendallItem", "item", "kendall", "drop", {}, 10),
    ("KendallC", "item", "kendall_c", "drop", {}, 10),
    ("KendallVariants23", "item", "tau_eq", "drop", {"swap": "scores", "threshold": 0}, 10),
    ("KendallVariantsAcc23", "item", "acc_eq", "drop", {"swap": "scores", "threshold": 0}, 10),
    ("TauOptimization", "item", "acc_eq", "drop", {"swap": "scores"}, 10),
]


def of_scipy(gold, metric, by, name, undefined, n=4):
    """The average of SciPy's correlations; of pairs of outputs, by plain Python."""
    parts = [np.array(each, dtype=float).reshape(n, -1) for each in (metric, gold)]
    if name in ("tau_eq", "acc_eq"):
        return None, [part.tolist() for part in parts]
    functions = {"pearson": pearson, "kendall": kendall, "kendall_c": lambda x, z: kendall(x, z, variant="c")}
    if by == "none":
        parts = [part.reshape(1, -1) for part in parts]
    elif by == "item":
        parts = [part.T for part in parts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = np.array([functions[name](*vectors)[0] for vectors in zip(*parts, strict=True)])
    values = np.nan_to_num(values) if undefined == "zero" else values[~np.isnan(values)]
    return float(values.mean()), None


@pytest.mark.parametrize(("test", "by", "name", "undefined", "further", "n_draws"), TESTS)
def test_tests(test, by, name, undefined, further, n_draws):
    """Its p > 0 and its difference; where samples are kept, p is their share that is as large."""
    gold, first, second = PAIR
    want = []
    for metric in (second, first):
        value, parts = of_scipy(gold, metric, by, name, undefined)
        threshold = further.get("threshold")
        want.append(reference.correlation(name, *parts, LEVELS[by], threshold=threshold) if parts else value)
    how = {"level": LEVELS[by], "coefficient": name, "undefined": undefined, "alternative": "greater", **further}
    got = scores(4, *PAIR).meta.perm_test(
        "gold", metric="metric2", other="metric1", n_resamples=n_draws, rng=1, keep_samples=True, **how
    )
    assert got.difference.item() == pytest.approx(want[0] - want[1], abs=1e-12)
    assert got.pvalue.item() > 0
    samples = got.samples.values.ravel()
    reached = int((samples >= got.difference.item() - 1e-9).sum())
    if n_draws == 10:  # a sample of swaps, whose p-value counts the scores as they are too
        assert got.attrs["n_resamples"] == len(samples) == 10 and got.pvalue.item() == pytest.approx((1 + reached) / 11)
    else:
        assert got.attrs["exact"] == 1
        assert got.pvalue.item() == pytest.approx(reached / int((~np.isnan(samples)).sum()), abs=1e-12)


@pytest.mark.parametrize("name", ["acc_eq", "tau_eq"])
def test_decisions_trade_places(name):
    """PairwisePermutationSigDiff.KendallVariantsAcc23."""
    gold, first, second = DECIDED
    kw = {"level": "input", "coefficient": name, "alternative": "greater", "keep_samples": True}
    pair = {"metric": "metric2", "other": "metric1"}
    got = scores(4, *DECIDED).meta.perm_test(
        "gold", swap="decisions", resample="both", n_resamples=10, rng=1, **pair, **kw
    )
    parted = [np.array(each).reshape(4, 2).tolist() for each in (second, first, gold)]
    want = [reference.correlation(name, each, parted[2], "input") for each in parted[:2]]
    assert got.pvalue.item() > 0 and got.attrs["n_resamples"] == got.samples.size == 10
    assert got.difference.item() == pytest.approx(want[0] - want[1], abs=1e-12)
    reached = int((got.samples >= got.difference.squeeze() - 1e-9).sum())
    assert got.pvalue.item() == pytest.approx((1 + reached) / 11)  # the toolkit's p · k, within 3 of the same count


def test_williams():
    """WilliamsSigDiff.SigDiff: p and both correlations."""
    ds = scores(5, [1, 2, 3, 4, 5], [1.1, 2, 3.1, 4, 5.1], [1.5, 2, 3.1, 4, 5.5])
    pair = {"metric": "metric1", "other": "metric2", "method": "williams", "alternative": "greater"}
    assert ds.meta.corr_test("gold", **pair).pvalue.item() == pytest.approx(0.019, abs=0.0005)
    assert ds.meta.corr("gold").correlation.values == pytest.approx([0.999, 0.987], abs=0.0005)


# --- What differs ---


def williams(r12, r13, r23, n):
    """One-sided p-value of Williams's t (1959) of two dependent correlations."""
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    mean = (r12 + r13) / 2
    t = (r12 - r13) * math.sqrt((n - 1) * (1 + r23) / (2 * (n - 1) / (n - 3) * k + mean**2 * (1 - r23) ** 3))
    return float(scipy.stats.t.sf(t, n - 3))


def test_williams_of_averages_takes_the_size_of_a_group():
    """SigDiffWithAvgAndNones asserts p = .121, which is that of n = 6: all cells, the one without gold too.

    The correlations that are averaged are of 3 systems, or 2, on 2 inputs; with n = 3 the t has no degrees of freedom,
    and there is no p-value. Both correlations are the same: of 3 systems on the first input and 2 on the second.
    """
    gold, first, second = [1, None, 3, 4, 5, 6], [1, 2, 3, 3, 7, 3], [2, 1, 2, 6, 8, 8]
    ds = scores(3, gold, first, second)
    r = ds.meta.corr("gold", level="input").correlation.values
    assert r == pytest.approx([0.982, 0.933], abs=0.0005)
    between = np.mean([pearson(first[at::2], second[at::2])[0] for at in (0, 1)])
    assert williams(*r, between, 6) == pytest.approx(0.121, abs=0.0005)
    pair = {"metric": "metric1", "other": "metric2", "method": "williams", "alternative": "greater"}
    assert math.isnan(ds.meta.corr_test("gold", level="input", **pair).pvalue.item())


def test_so_few_swaps_are_all_made():
    """PearsonNoAvg, Sys, SysNan0 and Item assert that 1,000 swaps were drawn; of 8 cells there are 2⁸, each made once.

    With early stopping it asserts fewer than 1,000, which is true here too. The p-value is an exact share of these.
    """
    gold, first, second = PAIR
    kw = {"metric": "metric2", "other": "metric1", "alternative": "greater", "n_resamples": 1000, "rng": 0}
    got = scores(4, *PAIR).meta.perm_test("gold", level="global", **kw)
    assert (got.attrs["n_resamples"], got.attrs["exact"]) == (2**8, 1)
    x, y = (scipy.stats.zscore(np.array(each, dtype=float)) for each in (second, first))
    differences = []
    for coins in itertools.product([False, True], repeat=8):
        one, two = np.where(coins, y, x), np.where(coins, x, y)
        differences.append(pearson(one, gold)[0] - pearson(two, gold)[0])
    reached = sum(each >= differences[0] - 1e-12 for each in differences)
    assert got.pvalue.item() == pytest.approx(reached / 256, abs=1e-12)


def test_tau_b_has_no_threshold():
    """PairwisePermutationSigDiff.KendallVariantsB asks tau-b with ties of scores at most 1 apart: refused here."""
    with pytest.raises(ValueError, match="threshold needs coefficient='acc_eq', 'tau_eq' or 'kendall_like'"):
        scores(4, *DECIDED).meta.corr("gold", level="input", coefficient="kendall", threshold=1)
