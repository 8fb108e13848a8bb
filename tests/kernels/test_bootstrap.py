"""Kernels of the bootstrap: against matrices in which each label stands as often as it was drawn, and plain Python."""

import itertools

import numpy as np
import pytest
import reference
from helpers import both_ways, rows, same

from xsumstat.coefficients.arrays import read_only
from xsumstat.kernels import bootstrap
from xsumstat.kernels import correlation as kernels

MEMBERS, GROUPS = 5, 4
RNG = np.random.default_rng(8)
X, Z = np.round(1.5 * RNG.normal(size=(2, MEMBERS, GROUPS)))
X[:, 3] = 1.0  # undefined whatever is drawn
GAPS = np.ones((MEMBERS, GROUPS))
GAPS[[0, 2, 4], [0, 0, 1]] = 0.0
GAPS[:, 2] = 0.0
W = np.array([[1, 1, 1, 1, 1], [0, 2, 1, 0, 2], [5, 0, 0, 0, 0], [0, 0, 1, 3, 1]], dtype=np.int64)
V = np.array([[1, 1, 1, 1], [0, 2, 1, 1], [0, 0, 4, 0], [2, 0, 0, 2]], dtype=np.int64)
ONES = np.ones((1, MEMBERS), dtype=np.int64), np.ones((1, GROUPS), dtype=np.int64)
DRAWS = pytest.mark.parametrize("w, v", [(W, V), (W, ONES[1]), (ONES[0], V)], ids=["both", "members", "groups"])
ZERO = pytest.mark.parametrize("zero", [False, True], ids=["drop", "zero"])
X.flags.writeable = Z.flags.writeable = False  # as kernels are given scores
MASKS = pytest.mark.parametrize("mask", [None, GAPS], ids=["whole", "gaps"])


def expected(name, mask, w, v, level, undefined="drop"):
    """The twin's statistic of each resample."""
    x, z = (rows(each if mask is None else np.where(mask > 0, each, np.nan)) for each in (X, Z))
    out = []
    for s in range(4):
        counts = w[min(s, len(w) - 1)], v[min(s, len(v) - 1)]
        drawn = [reference.drawn(each, *counts) for each in (x, z)]
        out.append(reference.correlation(name, *drawn, level, undefined=undefined))
    return out


def checked(kernel, arguments, want):
    out = np.full(4, -9.0)
    both_ways(kernel, *arguments, out)
    assert same(out, want)


def test_a_row_of_counts_or_the_only_one():
    for counts in (W[:2], W):
        assert both_ways(bootstrap.row, counts, 1).tolist() == W[1].tolist()
    assert both_ways(bootstrap.row, ONES[0], 3).tolist() == [1] * MEMBERS


@DRAWS
@MASKS
@ZERO
def test_pearson(w, v, mask, zero):
    want = expected("pearson", mask, w, v, "input", "zero" if zero else "drop")
    checked(bootstrap.bootstrap_pearson, (X, Z, mask, w, v, zero), want)


@DRAWS
@MASKS
@ZERO
@pytest.mark.parametrize("name", ["kendall", "pairwise_accuracy"])
def test_kendall_by_pairs(w, v, mask, zero, name):
    there = np.ones(X.shape) if mask is None else mask
    pairs = []
    for a, b in itertools.combinations(range(MEMBERS), 2):
        one, two = (np.sign(each[a] - each[b]) * there[a] * there[b] for each in (X, Z))
        top = one * two if name == "kendall" else one * two > 0
        pairs.append(np.concatenate([top, np.abs(one), np.abs(two)]))
    every = np.arange(GROUPS)
    want = expected(name, mask, w, v, "input", "zero" if zero else "drop")
    given = np.array(pairs).astype(np.int16), every, every, mask, w.astype(np.int16), v, zero
    checked(
        bootstrap.bootstrap_pairs,
        ({"kendall": kernels.KENDALL, "pairwise_accuracy": kernels.ACCURACY}[name], *given),
        want,
    )


@DRAWS
@MASKS
@ZERO
def test_spearman_by_signs(w, v, mask, zero):
    there = np.ones(X.shape) if mask is None else mask
    both = there[:, None] * there
    signs = np.concatenate([np.sign(each[:, None] - each) * both for each in (X, Z)], axis=2).astype(np.int16)
    want = expected("spearman", mask, w, v, "input", "zero" if zero else "drop")
    checked(bootstrap.bootstrap_spearman, (signs, mask, w.astype(np.int16), v, zero), want)


@DRAWS
@MASKS
def test_pearson_of_all_cells(w, v, mask):
    checked(bootstrap.bootstrap_pearson_global, (X, Z, mask, w, v), expected("pearson", mask, w, v, "global"))


def test_counts_stand_as_columns_and_the_last_fills_up():
    out = np.empty((MEMBERS, 3))
    both_ways(bootstrap.take, W, 2, out)
    np.testing.assert_array_equal(out.T, W[[2, 3, 3]])
    both_ways(bootstrap.take, ONES[0], 2, out)
    assert (out == 1).all()


@pytest.mark.parametrize("w, v", [(W, V), (W, ONES[1]), (ONES[0], V)], ids=["both", "systems", "inputs"])
@pytest.mark.parametrize("apart", [False, True], ids=["same cells", "own cells"])
@pytest.mark.parametrize("lanes", [3, 4])
def test_means_of_drawn_inputs(w, v, apart, lanes):
    """Both means of each system in each resample; a system that lacks one of them in it came not at all."""
    mask_x = GAPS.copy()
    mask_x[3] = 0.0  # no cell at all
    mask_z = (np.arange(20).reshape(5, 4) % 3 > 0).astype(float) if apart else mask_x
    blocks = -(-4 // lanes)
    of_means = blocks if len(v) > 1 else 1
    mean_x, mean_z = np.full((2, of_means, MEMBERS, lanes), -9.0)
    weights = np.full((blocks, MEMBERS, lanes), -9.0)
    given = read_only(X * mask_x), read_only(Z * mask_z), mask_x, mask_z, w, v, mean_x, mean_z, weights
    both_ways(bootstrap.bootstrap_means, *given)
    for s in range(4):
        b, lane = divmod(s, lanes)
        counts = v[min(s, len(v) - 1)]
        for i in range(MEMBERS):
            cells = [counts * mask[i] for mask in (mask_x, mask_z)]
            whole = all(each.any() for each in cells)
            assert weights[b, i, lane] == (w[min(s, len(w) - 1), i] if whole else 0)
            for got, values, here in zip((mean_x, mean_z), (X, Z), cells, strict=True):
                if here.any():
                    want = np.average(values[i], weights=here)
                    assert got[min(b, of_means - 1), i, lane] == pytest.approx(want, abs=1e-14)
