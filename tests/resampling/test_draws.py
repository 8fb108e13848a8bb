import itertools

import numpy as np
import pytest
import scipy.stats

from xsumstat.resampling import draws


def plain_counts(words, size):
    """Labels of one resample, counted by hand: two draws a word, the low half first."""
    halves = [half for word in words for half in (int(word) & 0xFFFFFFFF, int(word) >> 32)][:size]
    labels = [half * size >> 32 for half in halves]
    return [labels.count(label) for label in range(size)]


@pytest.mark.parametrize("size", [1, 2, 5, 16, 101])
def test_counts_are_draws_of_labels(size):
    counts = draws.counts(42, "system", size, 3)
    words = draws.Stream(42, "system", 3)._words(draws.BLOCK, -(-size // 2))
    assert counts.shape == (draws.BLOCK, size)
    assert [list(row) for row in counts[:10]] == [plain_counts(row, size) for row in words[:10]]


def test_every_label_is_as_likely_as_the_next():
    total = sum(draws.counts(0, "input", 7, block).sum(axis=0) for block in range(40))
    assert scipy.stats.chisquare(total).pvalue > 1e-4


def test_counts_have_the_variance_of_a_multinomial():
    counts = np.concatenate([draws.counts(1, "system", 10, block) for block in range(40)])
    np.testing.assert_allclose(counts.var(axis=0), 10 * 0.1 * 0.9, rtol=0.08)


def test_coins_are_fair_and_independent():
    bits = np.concatenate([draws.sign_bits(0, "cell", 130, block) for block in range(10)])
    swaps = np.unpackbits(bits, axis=1, count=130, bitorder="little").astype(float)
    assert bits.shape == (10 * draws.BLOCK, 17)
    np.testing.assert_allclose(swaps.mean(axis=0), 0.5, atol=0.05)
    correlation = np.corrcoef(swaps.T) - np.eye(130)
    assert np.abs(correlation).max() < 0.08


def test_fewer_rows_are_the_first_rows():
    np.testing.assert_array_equal(draws.counts(5, "input", 7, 2, 10), draws.counts(5, "input", 7, 2)[:10])
    np.testing.assert_array_equal(draws.sign_bits(5, "cell", 99, 2, 10), draws.sign_bits(5, "cell", 99, 2)[:10])


def test_rows_that_come_some_at_a_time_are_those_that_come_together():
    whole = draws.counts(5, "input", 7, 2), draws.sign_bits(5, "input", 99, 2)
    streams = [draws.Stream(5, "input", 2) for _ in whole]
    sizes = [slice_.stop - slice_.start for slice_ in draws.in_steps(draws.BLOCK, 2.0**24 / 300)]
    assert sizes == [300, 300, 300, 124]
    pieces = [(streams[0].counts(7, rows), streams[1].sign_bits(99, rows)) for rows in sizes]
    for at, want in enumerate(whole):
        np.testing.assert_array_equal(np.concatenate([each[at] for each in pieces]), want)


def test_dims_and_blocks_and_seeds_have_streams_of_their_own():
    drawn = [
        draws.counts(seed, dim, 30, block).tobytes()
        for seed, dim, block in itertools.product((0, 1), ("system", "input"), (0, 1))
    ]
    assert len(set(drawn)) == len(drawn)


def test_all_coins_lists_each_once():
    listed = np.concatenate([draws.all_signs(9, block) for block in range(draws.n_blocks(2**9))])
    assert listed.shape == (512, 9)
    assert {tuple(row) for row in listed.tolist()} == set(itertools.product((0, 1), repeat=9))
    assert not listed[0].any()
    assert draws.all_signs(3, 0).shape == (8, 3)


def test_the_raw_stream_is_the_one_numpy_guarantees():
    """NumPy keeps the streams of its bit generators from version to version; these words are SFC64's."""
    sequence = np.random.SeedSequence(123, spawn_key=(0, 0))
    words = draws.Stream(123, "system", 0)._words(9, 1).ravel()
    np.testing.assert_array_equal(words, np.random.SFC64(sequence).random_raw(9))


@pytest.mark.parametrize("rng", [0, 5, 2**100, np.int64(7)])
def test_an_int_is_its_own_seed(rng):
    assert draws.seed_of(rng) == int(rng)


def test_zero_is_a_seed_and_not_none():
    assert draws.seed_of(0) == 0
    assert draws.seed_of(None) != draws.seed_of(None)


def test_sequences_give_the_same_seed_each_time_and_generators_move_on():
    sequence = np.random.SeedSequence(9)
    child = np.random.SeedSequence(9, spawn_key=(1,))
    assert draws.seed_of(sequence) == draws.seed_of(sequence) == 9
    assert draws.seed_of(child) == draws.seed_of(child) != 9
    assert draws.seed_of([1, 2]) == draws.seed_of([1, 2])
    generator = np.random.default_rng(3)
    first, second = draws.seed_of(generator), draws.seed_of(generator)
    again = np.random.default_rng(3)
    assert first != second
    assert [first, second] == [draws.seed_of(again), draws.seed_of(again)]


@pytest.mark.parametrize("rng", [True, "seed", 1.5, -1, object()])
def test_what_is_no_seed_is_refused(rng):
    with pytest.raises((TypeError, ValueError), match="rng must be None, an int"):
        draws.seed_of(rng)


def test_the_global_random_state_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    draws.counts(draws.seed_of(None), "system", 5, 0)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


DIMS = ("system", "input", "cell", "reference", "rater")


def test_no_two_dims_share_their_draws():
    found = {dim: draws.counts(5, dim, 7, 0, 50) for dim in DIMS}
    for one, two in itertools.combinations(DIMS, 2):
        assert not np.array_equal(found[one], found[two]), (one, two)
