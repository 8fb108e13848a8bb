"""Counting kernels for accuracy with ties, beside pairs that are looked at one by one."""

import itertools

import numpy as np
import pytest

from xsumstat.kernels import cell_ties as kernels

RNG = np.random.default_rng(3)


def sorted_scores(size, digits):
    x, z = np.sort(np.round(RNG.normal(size=size), digits)), RNG.integers(0, 4, size)
    return x, z, RNG.integers(0, 3, size)


@pytest.mark.parametrize("digits", [1, 9])
@pytest.mark.parametrize("threshold", [0.0, 0.3, 100.0])
def test_decisions(digits, threshold):
    x, z, w = sorted_scores(40, digits)
    first = np.empty(40, np.int64)
    kernels.first_tied(x, threshold, 1e-12, first)
    tied = np.abs(x[:, None] - x) <= threshold + 1e-12 * np.maximum(np.abs(x), np.abs(x[:, None])) * (threshold > 0)
    np.testing.assert_array_equal(first, tied.argmax(axis=1))
    right, n = kernels.right_decisions(z, first, w, np.empty(5, np.int64), np.empty(4, np.int64))
    drawn = [at for at, count in enumerate(w) for _ in range(count)]
    want = 0
    for a, b in itertools.combinations(drawn, 2):
        side = 0 if tied[a, b] else np.sign(x[a] - x[b])
        want += side == np.sign(z[a] - z[b])
    assert (right, n) == (want, len(drawn))


@pytest.mark.parametrize("digits", [1, 9])
def test_gains(digits):
    x, z, w = sorted_scores(40, digits)
    edges = np.array([0.05, 0.51, 1.23, np.inf])
    equal, places = np.empty(40, np.int64), np.empty((40, 4), np.int32)
    kernels.first_tied(x, 0.0, 1e-12, equal)
    kernels.first_within(x, edges, places)
    gains = np.empty((2, 4), np.int64)
    scratch = np.empty(41, np.int64), np.empty(41, np.int64)
    kernels.gains_by_size(z, np.argsort(z, kind="stable"), w, equal, places, *scratch, gains)
    want, listed = np.zeros((2, 4), np.int64), []
    for a, b in itertools.combinations(range(40), 2):
        gap = x[b] - x[a]
        if gap > 0 and z[a] <= z[b]:
            want[int(z[a] < z[b]), np.searchsorted(edges, gap)] += w[a] * w[b]
            if 0.51 < gap <= 1.23:
                listed.append((gap, max(abs(x[a]), abs(x[b])), w[a] * w[b] * (1 if z[a] == z[b] else -1)))
    np.testing.assert_array_equal(gains, want)
    gaps, largest, gain = np.empty(780), np.empty(780), np.empty(780, np.int64)
    n = kernels.pairs_of_sizes(x, z, w, 0.51, 1.23, gaps, largest, gain)
    assert sorted(zip(gaps[:n], largest[:n], gain[:n], strict=True)) == sorted(listed)


def test_kinds_are_drawn_as_often_as_their_cells():
    kinds, systems, inputs = np.array([0, 1, -1, 1, 0, 2]), np.array([2, 1]), np.array([1, 0, 3])
    w = np.empty(3, np.int64)
    kernels.drawn_kinds(kinds, systems, inputs, w)
    assert w.tolist() == [2 * 1 + 1 * 0, 2 * 0 + 1 * 1, 1 * 3]
