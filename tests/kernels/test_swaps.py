"""Permutation kernels: against definitions, SciPy and their own plain-Python run."""

import itertools

import numpy as np
import pytest
import reference
import scipy.stats
from helpers import both_ways, pairwise, rows, same, unpacked

from xsumstat.coefficients import correlation_swaps, rank_swaps
from xsumstat.coefficients.arrays import packed
from xsumstat.kernels import correlation as kernels
from xsumstat.kernels import swaps as loops

RNG = np.random.default_rng(1)
KINDS = {
    "spearman": kernels.SPEARMAN,
    "kendall": kernels.KENDALL,
    "kendall_a": kernels.KENDALL_A,
    "kendall_c": kernels.KENDALL_C,
    "pairwise_accuracy": kernels.ACCURACY,
}
LAYOUTS = {"input": loops.BY_INPUT, "within_system": loops.BY_SYSTEM, "global": loops.WHOLE}
# 3 systems and 11 inputs, so two bytes of coins for each system, of which the last is not full.
SWAP = RNG.integers(0, 2, (4, 3, 11))
BITS = packed(SWAP)


@pairwise(
    {
        "dtype": [np.int16, np.int32, float],
        "level, at": [("input", range(11)), ("input", [1, 4, 9]), ("within_system", [0, 2])],
        "counts": [1, 2],
    }
)
def test_signs_of_some_groups(level, at, counts, dtype):
    if dtype is float and counts == 2:
        return  # counts stand side by side in integers only
    by_level = SWAP[1] if level == "input" else SWAP[1].T
    at = np.array(at)
    cells, signs = np.empty((3, 16), dtype), np.empty((len(by_level), counts * len(at)), dtype)
    both_ways(loops.read_signs, BITS[1], LAYOUTS[level], at, cells, signs)
    np.testing.assert_array_equal(signs, np.tile(1 - 2 * by_level[:, at], counts))


def test_signs_of_all_cells_and_masks():
    signs, masks = np.empty((33, 2), np.int16), np.empty((33, 2), np.int8)
    both_ways(loops.read_signs, BITS[2], loops.WHOLE, np.array([0]), np.empty((3, 16), np.int16), signs)
    np.testing.assert_array_equal(signs, np.tile(1 - 2 * SWAP[2].reshape(-1, 1), 2))
    both_ways(loops.mask_swapped, signs, masks)
    np.testing.assert_array_equal(masks, np.where(signs < 0, -1, 0))  # -1 has all bits set


# --- What is linear in the signs ---


@pytest.mark.parametrize("width", [1, 3, 4, 6, 64, 65, 133])
def test_sums_by_bytes_are_sums_of_the_values_whose_coin_is_1(width):
    """The tables of 64 bytes are made at a time, four bytes are read together."""
    rng = np.random.default_rng(width)
    values, bits = rng.normal(size=8 * width), rng.integers(0, 256, (3, width), dtype=np.uint8)
    sign_bits = unpacked(bits[:, None], 8 * width)[:, 0]
    out = np.ones(3)
    run = both_ways if width < 5 else lambda kernel, *arguments: kernel(*arguments)
    run(loops.sum_by_bytes, values, bits, np.empty((loops.SEGMENT, 256)), out)
    np.testing.assert_allclose(out, 1.0 + sign_bits @ values, atol=1e-12)
    run(loops.swap_linear, values, bits, out)
    np.testing.assert_allclose(out, (1 - 2 * sign_bits) @ values, atol=1e-12)


def count_linear(x, y, z, name, swap):
    """The coefficient's numerator for X' less that for Y', by definition."""
    here = np.where(swap, y, x), np.where(swap, x, y)
    values = []
    for each in here:
        sx, sz = (np.sign(np.subtract.outer(v, v)) for v in (each, z))
        if name == "spearman":
            values.append(sx.sum(axis=1) @ sz.sum(axis=1))  # doubled centred ranks
        else:
            concordant, discordant = ((s * (sx * sz) > 0).sum() / 2 for s in (1, -1))
            values.append(concordant - (0 if name == "pairwise_accuracy" else discordant))
    return values[0] - values[1]


@pytest.mark.parametrize("name", ["spearman", "kendall", "pairwise_accuracy"])
@pytest.mark.parametrize("kind", ["untied", "tied", "gaps"])
def test_linear_forms(name, kind):
    """4·(C − D), and with ties 2·C, whose difference has twice the odd part; Spearman's form needs untied scores."""
    if kind == "tied" and name == "spearman":
        return
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 7, 2))
    if kind == "tied":
        x, y = np.round(x), np.round(2 * y)
    z = rng.integers(0, 3, (7, 2)).astype(float)
    if kind == "gaps":
        x[2, 0] = y[2, 0] = z[2, 0] = np.nan
    pooled, gold = rank_swaps.Pooled.of(x, y), rank_swaps.Gold.of(z, "input")
    order, codes, present = (np.ascontiguousarray(each.T) for each in (pooled.order, pooled.codes, gold.present))
    # The numerator of X' less that of Y' is half of what is summed over the signs: see `rank_swaps.rank_test`.
    scale = np.array([0.5, 0.0]) / (2 if name == "pairwise_accuracy" else 1)
    out = np.empty((2, 7))
    both_ways(loops.linear_forms, KINDS[name], order, codes, gold.codes, present, scale, out)
    assert (out[1] == 0).all()
    there = present[0]
    assert (out[0][~there] == 0).all()
    for swap in itertools.product((0, 1), repeat=int(there.sum())):
        want = count_linear(x[there, 0], y[there, 0], z[there, 0], name, np.array(swap, bool))
        assert out[0][there] @ (1 - 2 * np.array(swap)) == pytest.approx(want, abs=1e-12)


# --- Groups whose scores are tied ---


@pytest.mark.parametrize("name, form", [("kendall", "pairs"), ("spearman", "signs")])
@pytest.mark.parametrize("level", ["input", "within_system", "global"])
def test_tied_groups(name, form, level):
    """With gaps; all groups but the first, where groups are many."""
    rng = np.random.default_rng(5)
    x, y, z = np.round(1.5 * rng.normal(size=(3, 5, 6)))
    x[0, 3] = y[0, 3] = z[0, 3] = x[4, 0] = y[4, 0] = z[4, 0] = np.nan
    swap = rng.integers(0, 2, (5, 5, 6))
    kernel = {"pairs": loops.swap_pairs, "signs": loops.swap_spearman}[form]
    if level != "global":  # one group that is untied, and so no part of the rest
        first = (np.s_[:, 0], np.s_[0])[level == "within_system"]
        x[first], y[first] = rng.normal(size=(2, *x[first].shape))
        x[4, 0] = y[4, 0] = x[0, 3] = y[0, 3] = np.nan
    rest = rank_swaps.rank_test((0, 1), x, y, rank_swaps.Gold.of(z, level), level, KINDS[name], True).rest
    assert rest.form == form and rest.at.tolist() == ([0] if level == "global" else list(range(1, len(rest.at) + 1)))
    kept = {"global": np.s_[:], "input": np.s_[:, 1:], "within_system": np.s_[1:]}[level]
    for zero in (False, True):
        out = np.empty(len(swap))
        kind = () if form == "signs" else (rest.kind,)
        both_ways(kernel, *kind, *rest.data, rest.layout, rest.at, packed(swap), zero, out)
        for got, each in zip(out, swap, strict=True):
            pair = reference.swapped(rows(x[kept]), rows(y[kept]), each[kept].tolist())
            how = {"level": level, "undefined": "zero" if zero else "drop"}
            r = [reference.correlation(name, each_one, rows(z[kept]), **how) for each_one in pair]
            assert same(got, r[0] - r[1])


# --- Pearson ---


def test_exact_pearson_is_scipys():
    x, y, z = RNG.normal(size=(3, 6, 3))
    present = np.full((6, 3), True)
    present[1, 0] = present[0, 2] = False
    signs = np.where(RNG.integers(0, 2, (6, 3)) == 1, 1.0, -1.0)
    first, second = np.where(signs > 0, x, y), np.where(signs > 0, y, x)
    for turn, values in ((1.0, first), (-1.0, second)):
        for group in range(3):
            here = present[:, group]
            got = both_ways(loops.exact_pearson, x, y, z, present, signs, turn, group)
            assert got == pytest.approx(scipy.stats.pearsonr(values[here, group], z[here, group])[0], abs=1e-13)
        got = both_ways(loops.exact_pearson, x, y, z, present, signs, turn, -1)
        assert got == pytest.approx(scipy.stats.pearsonr(values[present], z[present])[0], abs=1e-13)
    flat = np.ones((6, 3))
    assert np.isnan(both_ways(loops.exact_pearson, flat, flat, z, present, signs, 1.0, 0))


@pytest.mark.parametrize("level", ["input", "within_system", "global"])
def test_pearson_whose_variance_cancels_in_one_group(level):
    """Beside groups in which it does not, and one whose gold is constant."""
    rng = np.random.default_rng(8)
    x, y, z = rng.normal(size=(3, 6, 6))
    side = np.array([1.0, -1.0] * 3)
    x[:, 1], y[:, 1] = (turn * side + 1e-7 * rng.normal(size=6) for turn in (1, -1))
    z[:, 4], z[0, 2] = 3.0, np.nan
    x[0, 2] = y[0, 2] = np.nan
    swap = np.zeros((3, 6, 6), dtype=int)
    swap[0, :, 1], swap[1, :, 1] = side > 0, side < 0
    swap[2] = rng.integers(0, 2, (6, 6))
    if level == "within_system":
        x, y, z, swap = x.T, y.T, z.T, swap.swapaxes(1, 2)
    layout = loops.BY_SYSTEM if level == "within_system" else loops.BY_INPUT
    data = (*correlation_swaps.moments_of(x, y, z, level), layout, np.arange(6))
    bits = packed(swap)
    for zero in (False, True):
        out = np.empty(3)
        twin = np.empty(3)
        loops.swap_pearson(*data, bits, zero, out)
        loops.swap_pearson.py_func(*data, bits, zero, twin)
        np.testing.assert_allclose(out, twin, atol=1e-8)  # sums of 36 numbers, about which the order is free
        undefined = "zero" if zero else "drop"
        for got, each in zip(out, swap, strict=True):
            pair = reference.swapped(rows(x), rows(y), each.tolist())
            r = [reference.correlation("pearson", m, rows(z), level, undefined=undefined, raw_scale=0) for m in pair]
            assert got == pytest.approx(r[0] - r[1], abs=1e-7)


def test_counts_of_swaps_that_reach_what_was_observed():
    """At or above, at or below, as far from 0, all within the tolerance; and undefined."""
    differences = np.array([[0.5, 0.5 + 1e-13, 0.5 - 1e-13, -0.5, 0.7, -0.9, 0.1, np.nan], [-0.2] * 7 + [0.2]])
    counts = np.empty((4, 2), np.int64)
    both_ways(loops.compare, differences, np.array([0.5, -0.2]), 1e-12, counts)
    assert counts.T.tolist() == [[4, 6, 6, 1], [8, 7, 8, 0]]
