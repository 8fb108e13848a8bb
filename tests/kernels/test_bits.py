"""Bits of pairs of members, beside pairs that are looked at one by one."""

import numpy as np
from helpers import pairwise

from xsumstat.kernels import bits, jit, outputs

RNG = np.random.default_rng(64)
SIZES = [1, 2, 63, 64, 65, 200]


def unpacked(words, size):
    return np.unpackbits(words.astype("<u8").view(np.uint8), axis=-1, bitorder="little", count=size).astype(bool)


def test_popcount():
    from numba import njit

    words = RNG.integers(0, 2**63, 50, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    jit.compiled()
    count = njit(lambda word: bits.popcount(word))
    assert [count(word) for word in words] == [int(word).bit_count() for word in words]
    assert count(np.uint64(0)) == 0 and count(~np.uint64(0)) == 64


@pairwise(
    {
        "size": SIZES,
        "step": [1, -1],
        "missing": [0, 5],
    }
)
def test_members_before(size, step, missing):
    values = np.round(RNG.normal(size=size), 1)
    values[RNG.permutation(size)[:missing]] = np.nan
    there = ~np.isnan(values)
    found = np.zeros((size, -(-size // 64)), np.uint64)
    before = np.empty(found.shape[1], np.uint64)
    number = bits.members_before(np.argsort(values), values, int(there.sum()), step, before, found)
    want = (values < values[:, None]) if step > 0 else (values > values[:, None])
    np.testing.assert_array_equal(unpacked(found, size), want)
    assert number == want.sum()


def test_bits_that_are_set_in_both():
    x, z = RNG.integers(0, 2**63, (2, 70, 2), dtype=np.uint64)
    among = np.array([RNG.integers(0, 2**63), 0b101101], dtype=np.uint64)
    one, other, there = unpacked(x, 128), unpacked(z, 128), unpacked(among, 128)
    assert bits.alike(x.ravel(), z.ravel()) == (one & other).sum()
    numbers = np.empty(3, np.int64)
    bits.alike_among(x, z, among, numbers)
    one, other = one[there[:70]][:, there], other[there[:70]][:, there]
    assert numbers.tolist() == [(one & other).sum(), one.sum(), other.sum()]


def test_bits_below_a_place():
    row = np.append(RNG.integers(0, 2**63, 3, dtype=np.uint64), np.uint64(0))
    ones = unpacked(row, 256)
    sums = np.array([ones[: 64 * w].sum() for w in range(4)])
    assert [bits.bits_below(row, sums, at) for at in range(193)] == [ones[:at].sum() for at in range(193)]


@pairwise(
    {
        "size": SIZES,
        "bins": [1, 7, 10],
        "digits": [0, 1, 9],
    }
)
def test_opposite_pairs_are_those_that_are_found_one_by_one(size, bins, digits):
    x, z = np.round(RNG.normal(size=(2, size)), digits)
    height = np.sort(np.round(RNG.random(size), 1 if digits == 0 else 9))
    want, found = np.zeros((2, 2, bins), np.int64)
    outputs.count_opposite.py_func(x, z, height, bins, *want)
    words = -(-size // 64)
    scratch = np.empty((4, size, words), np.uint64), np.empty(words + 1, np.uint64), np.empty(words + 1, np.int64)
    orders = np.argsort(x), np.argsort(z)
    bits.count_opposite(x, z, *orders, height, bins, *scratch, np.empty(bins + 1, np.int64), *found)
    np.testing.assert_array_equal(found, want)
    assert found[1].sum() == size * (size - 1) // 2
