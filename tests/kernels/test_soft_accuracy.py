"""Kernels for soft pairwise accuracy: against all swaps, listed or convolved, and their own plain-Python run."""

import itertools
import math

import numpy as np
import pytest
import scipy.special
import scipy.stats
from helpers import both_ways

from xsumstat.coefficients.arrays import padded, read_only
from xsumstat.kernels import soft_accuracy as loops


def all_sums(units):
    """The chance of each sum of whole numbers whose signs are by chance."""
    ways = {0: 1.0}
    for unit in units:
        wider = {}
        for total, p in ways.items():
            for each in (total + unit, total - unit):
                wider[each] = wider.get(each, 0.0) + p / 2
        ways = wider
    return ways


def shares(differences):
    """P(Σ ±d ≥ Σ d) and P(Σ ±d ≤ Σ d), the signs by chance, of whole numbers."""
    ways, seen = all_sums(differences), sum(differences)
    return sum(p for s, p in ways.items() if s >= seen), sum(p for s, p in ways.items() if s <= seen)


def of_pairs(x, mask, v, function):
    """A function of the differences of each pair of systems, an input counting as often as it was drawn."""
    found = []
    for a, b in itertools.combinations(range(len(x)), 2):
        both = np.ones(len(v)) if mask is None else mask[a, : len(v)] * mask[b, : len(v)]
        there = np.repeat(np.arange(len(v)), (v * both).astype(int))
        found.append(function(x[a, there] - x[b, there]))
    return np.array(found).T


def powers(d):
    return d.sum(), (d**2).sum(), (d**4).sum()


def example(inputs, gaps, seed=1):
    """Grades of four systems, padded to whole bytes, and how often each input came in three draws."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, (4, inputs)).astype(float)
    mask = (rng.random(x.shape) > 0.3).astype(float) if gaps else None
    return padded(x), None if mask is None else padded(mask), rng.integers(0, 3, (3, inputs))


@pytest.mark.parametrize("inputs", [6, 8, 19])
@pytest.mark.parametrize("gaps", [False, True])
def test_sums_of_draws(gaps, inputs):
    x, mask, v = example(inputs, gaps)
    sums = np.full((3, 6, 3), np.nan)
    counts = np.ascontiguousarray(padded(v.astype(float)).T)
    both_ways(loops.sum_drawn, read_only(x), mask, counts, np.empty((2, 8)), sums)
    for lane, each in enumerate(v):
        np.testing.assert_allclose(sums[:, :, lane], of_pairs(x, mask, each, powers), atol=1e-12)


@pytest.mark.parametrize("inputs", [6, 8, 19])
@pytest.mark.parametrize("gaps", [False, True])
def test_sums_of_swaps(gaps, inputs):
    """Of X' and of Y'; coins of no input do not count."""
    x, mask, _ = example(inputs, gaps)
    y = padded(np.random.default_rng(2).normal(size=(4, inputs)))
    coins = np.random.default_rng(3).integers(0, 256, (4, x.shape[1] // 8, 5)).astype(np.uint8)
    sums = np.full((2, 3, 6, 5), np.nan)
    both_ways(loops.sum_swapped, read_only(x), read_only(y), mask, coins, np.empty((2, 4, 8, 5)), np.empty(8), sums)
    for lane in range(5):
        swapped = np.unpackbits(coins[:, :, lane], axis=1, bitorder="little").astype(bool)
        for side, traded in enumerate((np.where(swapped, y, x), np.where(swapped, x, y))):
            want = of_pairs(traded, mask, np.ones(inputs, int), powers)
            np.testing.assert_allclose(sums[side, :, :, lane], want, atol=1e-12)


def test_units_of_a_pair_are_all_or_the_largest():
    rng = np.random.default_rng(2)
    for _ in range(20):
        d, v = rng.integers(-3, 4, 9) + 0.01 * rng.integers(0, 2, 9), rng.integers(0, 3, 9)
        want = sorted((each for each in np.repeat(d, v).tolist() if each != 0), key=abs, reverse=True)
        for largest in (0, 3):
            units = np.zeros(20)
            count = both_ways(loops.units_of, d, v, units, largest)
            assert count == (min(len(want), largest) if largest else len(want))
            assert sorted(map(abs, units[:count]), reverse=True) == [abs(each) for each in want[:count]]
            assert set(units[:count]) <= set(want)


def with_scratch(units):
    """Differences in front of the places that `listed` needs, which hold anything."""
    return np.concatenate([units, np.full(loops.UNITS - len(units), 99.0)])


@pytest.mark.parametrize("units", [[1.0], [1, 1, -1], [0.1, 0.2, -0.3], [2, 1, -1, 3, 0.5], [-1, -2, -4], []])
def test_listed_signs(units):
    signs = itertools.product((1, -1), repeat=len(units))
    sums = np.array([math.fsum(s * u for s, u in zip(each, units, strict=True)) for each in signs])
    seen = math.fsum(units)
    got = both_ways(loops.listed, with_scratch(units), len(units))
    assert got == pytest.approx((np.mean(sums >= seen - 1e-9), np.mean(sums <= seen + 1e-9)), abs=1e-15)


@pytest.mark.parametrize("far", [1.0, 0.1, 1e-9, 1e9 / 3])
@pytest.mark.parametrize("count", [*range(7, 13)])
def test_no_sign_is_left_out_of_the_list(count, far):
    """Every swap counts, equal sums among them: the shares are whole numbers over 2 ** count, to the last bit.

    Tenths and thirds are rounded, so that sums that are equal are not so in a computer.
    """
    rng = np.random.default_rng(count)
    examples = [[1] * count, [-1] * count, [1, -1] * (count // 2) + [2] * (count % 2), [2**k for k in range(count)]]
    examples += [rng.choice([-3, -2, -1, 1, 2, 3, 40], count).tolist() for _ in range(20)]
    for units in examples:
        got = loops.listed(with_scratch(far * np.array(units, dtype=float)), count)
        assert tuple(got) == shares(units)


def test_the_list_of_signs_in_plain_python():
    units = [3, -1, 2, -2, 5, 1, -4, 2, -1, 1, -3, 6]
    assert tuple(both_ways(loops.listed, with_scratch(units), 12)) == shares(units)


@pytest.mark.parametrize("step", [0.0, 1.0, 0.25])
def test_tails_by_edgeworths_series(step):
    """Cumulants of the sum of signs less those of what is uniform between two points of its lattice, 2·step apart."""
    units = np.array([1.0, 2, 3, 1, 2, 2, 3, 1, 1, 2, 3, 2, 1, 1])
    width = 2 * step
    square, fourth = width**2 / 12, width**4 / 80  # moments of the uniform distribution
    variance = (units**2).sum() - square
    cumulant = (units**4 - 3 * units**4).sum() - (fourth - 3 * square**2)
    for threshold in (-11.0, -3.0, 0.0, 1.0, 6.5, 14.0):
        x = threshold / math.sqrt(variance)
        hermite = scipy.special.eval_hermitenorm(3, x)
        want = scipy.stats.norm.sf(x) + cumulant / variance**2 / 24 * hermite * scipy.stats.norm.pdf(x)
        got = both_ways(loops.tail, threshold, (units**2).sum(), (units**4).sum(), step)
        assert got == pytest.approx(want, abs=1e-14)
    for threshold, want in ((1e3, 0.0), (-1e3, 1.0)):
        assert both_ways(loops.tail, threshold, (units**2).sum(), (units**4).sum(), step) == want


def test_tails_are_those_of_all_sums():
    """Half-way between two sums, to 3 in 10,000."""
    units = np.array([1, 2, 3, 1, 2, 2, 3, 1, 1, 2, 3, 2, 1, 1, 3, 2])
    ways = all_sums(units)
    for threshold in range(-29, 30, 2):
        got = loops.tail(float(threshold), float((units**2).sum()), float((units**4).sum()), 1.0)
        assert got == pytest.approx(sum(p for s, p in ways.items() if s > threshold), abs=3e-4)


def test_a_few_large_differences_are_listed():
    """Three of them decide; the rest are all but normal."""
    units = np.concatenate([[40.0, 25.0, -30.0], np.tile([1.0, 2.0, 1.0], 8)])
    ways = all_sums(units)
    for threshold in (-60.0, -20.0, 0.0, 36.0, 70.0, 94.0):  # sums are odd
        got = both_ways(loops.peaked, units, 3, threshold, (units**2).sum(), (units**4).sum(), 1.0)
        assert got == pytest.approx(sum(p for s, p in ways.items() if s > threshold), abs=3e-4)


def all_chances(x, y, mask, coins, v, step, w=None):
    """P and q of each pair in each lane, (2, lanes, pairs), by the two kernels; which lanes have other pairs."""
    lanes, pairs = max(len(v), coins.shape[2]), len(x) * (len(x) - 1) // 2
    sums = np.empty((3, pairs, lanes))
    for lane in range(lanes):
        swapped = np.unpackbits(coins[:, :, lane % coins.shape[2]], axis=1, bitorder="little").astype(bool)
        sums[:, :, lane] = of_pairs(np.where(swapped, y, x), mask, v[lane % len(v)], powers)
    found, others = np.full((2, lanes, pairs), 9.0), np.zeros(lanes, int)
    both_ways(loops.plain_chances, sums, step, *found, others)
    many = sums[2] < sums[1] ** 2 / 12.5
    np.testing.assert_array_equal(found != 9.0, [many.T, many.T])
    np.testing.assert_array_equal(others, (~many).sum(axis=0))
    scratch = np.empty((len(x), v.shape[1])), np.empty(v.shape[1]), np.empty(loops.UNITS)
    w = np.ones((1, len(x)), int) if w is None else w
    both_ways(loops.other_chances, read_only(x), read_only(y), mask, coins, w, v, step, sums, others, *scratch, *found)
    return found


def no_swaps(x):
    return np.zeros((len(x), x.shape[1] // 8, 1), np.uint8)


@pytest.mark.parametrize("inputs", [3, 12, 13, 30])
@pytest.mark.parametrize("gaps", [False, True])
def test_chances_of_grades(inputs, gaps):
    """Listed up to 12 differences, by series beyond; copies of an input count."""
    x, mask, v = example(inputs, gaps, 3)
    if gaps:
        mask[0] = np.arange(mask.shape[1]) == 0  # shares no input, or one, with the others
        mask[1, 0] = 0.0
    found = all_chances(x, x, mask, no_swaps(x), v, 1.0)
    for lane, each in enumerate(v):
        want = of_pairs(x, mask, each, lambda d: shares(d.tolist()) if len(d) else (math.nan, math.nan))
        np.testing.assert_allclose(found[:, lane], want, atol=4e-4)
    assert np.isnan(found[0, :, 0]).all() == gaps


def test_chances_of_copies_zeros_and_negative_differences():
    """At most 12 differences other than 0, copies of an input and differences of 0 beside them: all swaps, exactly."""
    rng = np.random.default_rng(12)
    x = rng.integers(-2, 3, (5, 16)).astype(float)
    x[:, 9:] = 1.0
    v = np.array([[1, 2, 0, 3, 1, 1, 1, 2, 1, 4, 1, 1, 0, 2, 1, 3], [2, 2, 2, 0, 0, 0, 3, 3, 0, 1, 1, 1, 1, 1, 1, 1]])
    found = all_chances(x, x, None, no_swaps(x), v, 1.0)
    for lane, each in enumerate(v):
        differences = of_pairs(x, None, each, lambda d: (np.sum(d != 0), np.sum(d == 0), np.sum(d < 0), 0))
        assert 8 < differences[0].max() <= 12 and (differences[1:3] > 0).all()
        assert found[:, lane].tolist() == of_pairs(x, None, each, lambda d: shares(d.tolist())).tolist()


@pytest.mark.parametrize("rows", [1, 3])
def test_chances_of_systems_that_were_not_drawn_are_not_sought(rows):
    """Those of the other pairs are the same to the last bit; all resamples share the counts of systems, or none do."""
    x, mask, v = example(9, True, 5)
    w = np.array([[1, 0, 2, 1], [0, 3, 1, 0], [2, 1, 0, 1]])[:rows]
    want = all_chances(x, x, mask, no_swaps(x), v, 1.0)
    found = all_chances(x, x, mask, no_swaps(x), v, 1.0, w)
    for lane in range(3):
        for at, (a, b) in enumerate(itertools.combinations(range(4), 2)):
            both = w[lane % rows, a] * w[lane % rows, b] > 0
            for got, full in zip(found[:, lane, at], want[:, lane, at], strict=True):
                assert got == full or (math.isnan(got) and (math.isnan(full) or not both))


@pytest.mark.parametrize("gaps", [False, True])
def test_chances_of_swapped_scores(gaps):
    """Each lane by its own coins, few differences and many."""
    x, mask, _ = example(21, gaps, 4)
    y = x + padded(np.random.default_rng(5).integers(0, 3, (4, 21)) * (np.arange(21) < 5))
    x[2, 5:] = x[3, 5:] = y[2, 5:] = y[3, 5:] = 1.0
    coins = np.random.default_rng(6).integers(0, 256, (4, 3, 5)).astype(np.uint8)
    once = np.ones((1, 21), int)
    found = all_chances(x, y, mask, coins, once, 1.0)
    for lane in range(5):
        traded = np.where(np.unpackbits(coins[:, :, lane], axis=1, bitorder="little"), y, x)
        np.testing.assert_allclose(found[:, lane], of_pairs(traded, mask, once[0], shares), atol=1e-3)
        assert found[:, lane, 5] == pytest.approx(of_pairs(traded, mask, once[0], shares)[:, 5], abs=1e-15)


@pytest.mark.parametrize("count", [11, 12, 13, 14])
def test_so_many_equal_differences_are_listed(count):
    """Up to 12 the chances are exact; with 13 they are those of the series."""
    x = np.zeros((2, 24))
    x[0, 3 : 3 + count] = np.where(np.arange(count) % 3, 1.0, -1.0)
    p, q = all_chances(x, x, None, no_swaps(x), np.ones((1, 24), int), 0.0)[:, 0, 0]
    seen = int(x[0].sum())
    want = [scipy.stats.binom.cdf((count - each) // 2, count, 0.5) for each in (seen, -seen)]
    if count <= 12:
        assert (p, q) == pytest.approx(want, abs=1e-15)
    else:
        assert p == loops.tail(float(seen), float(count), float(count), 0.0) and q == 1 - p


def test_chances_of_heavy_tails():
    """One difference holds most of the fourth moment; on a lattice, and off it."""
    x = np.zeros((2, 16))
    x[0] = [50, 20, -20, 1, 2, 1, 1, 3, 2, 1, -1, -2, 1, 2, 3, 1]
    for step, scale in ((1.0, 1.0), (0.0, 1.0 + 1e-3 * np.sqrt(np.arange(1.0, 17)))):
        here = x * scale
        sums = np.zeros(1)
        for unit in here[0]:
            sums = np.r_[sums - unit, sums + unit]
        p, q = all_chances(here, here, None, no_swaps(here), np.ones((1, 16), int), step)[:, 0, 0]
        seen = here[0].sum()
        want = np.mean(sums >= seen - 1e-9), np.mean(sums <= seen + 1e-9)
        assert (p, q) == pytest.approx(want, abs=2e-3 if step else 4e-3)


def test_soft_accuracy_of_copies_and_of_systems_that_share_nothing():
    """Three systems, twice, once, and three times; copies agree, a pair that shares no input does not count."""
    x = np.array([[[0.1, 0.5, np.nan]], [[0.95, 0.5, np.nan]]])
    z = np.array([[[0.4, 0.2, 0.3]], [[0.7, 0.9, 0.8]]])
    w, out = np.array([[2, 1, 3]]), np.empty(2)
    lost = 2 * (0.3 + 0.25) / 2 + 6 * (0.3 + 0.4) / 2
    there = np.array([[1.0, 1, 1], [1, 1, 0]])  # copies of a system that is not there do not count either
    both_ways(loops.soft_accuracy, *x, *z, there, w, out)
    assert out == pytest.approx([1 - lost / (2 + 6 + 1 + 3), 1 - lost / (2 + 6 + 1)])
    nothing = np.full((2, 1, 3), np.nan)
    both_ways(loops.soft_accuracy, *nothing, *z, np.ones((1, 3)), np.ones((2, 3), int), out)
    assert np.isnan(out).all()


def test_soft_accuracy_of_each_resample():
    """Each has rows of its own, or all share one."""
    rng = np.random.default_rng(8)
    x, z, w, there = rng.random((2, 4, 3)), rng.random((2, 4, 3)), rng.integers(1, 3, (4, 3)), np.ones((4, 3))
    want, got, one = np.empty(4), np.empty(4), np.empty(1)
    for shared in itertools.product((False, True), repeat=3):
        rows_x, rows_z, rows_w = (
            np.ascontiguousarray(each[..., :1, :]) if alone else each
            for each, alone in zip((x, z, w), shared, strict=True)
        )
        both_ways(loops.soft_accuracy, *rows_x, *rows_z, there, rows_w, got)
        for s in range(4):
            here = ([each[[s % len(each)]] for each in side] for side in (rows_x, rows_z))
            both_ways(loops.soft_accuracy, *itertools.chain(*here), there[:1], rows_w[[s % len(rows_w)]], one)
            want[s] = one[0]
        assert got.tolist() == want.tolist()
