"""Corrections of p-values for their number: against statsmodels."""

import numpy as np
import pytest
from helpers import by_turns, pairwise
from statsmodels.stats.multitest import multipletests

from xsumstat.inference import corrections

RNG = np.random.default_rng(31)


@pytest.mark.parametrize(
    "ours, theirs", [("bonferroni", "bonferroni"), ("holm", "holm"), ("bh", "fdr_bh"), ("by", "fdr_by")]
)
@pytest.mark.parametrize("size", by_turns([13, 1, 60]))
def test_corrections_equal_statsmodels(ours, theirs, size):
    p = np.round(RNG.random(size) ** 3, 2)  # rounded, so that some are tied
    np.testing.assert_allclose(corrections.adjust(p, ours), multipletests(p, method=theirs)[1], rtol=1e-12)


@pytest.mark.parametrize("method", corrections.CORRECTIONS)
def test_nan_is_no_test(method):
    p = np.array([0.01, np.nan, 0.04, 0.2])
    got = corrections.adjust(p, method)
    assert np.isnan(got[1])
    np.testing.assert_allclose(got[[0, 2, 3]], corrections.adjust(p[[0, 2, 3]], method))
    assert np.isnan(corrections.adjust(np.array([np.nan]), method)).all()


def plain_counts(pool, tolerance=1e-12):
    """How many of a pool are as large as each member, 0 where it is NaN, and how many are no NaN."""
    defined = [value for value in pool if not np.isnan(value)]
    return [sum(other >= value - tolerance for other in defined) for value in pool], len(defined)


@pairwise(
    {
        "alternative": ["two-sided", "greater", "less"],
        "exact": [False, True],
        "centred": [False, True],
    }
)
def test_counts_of_a_pool_by_their_definition(alternative, exact, centred):
    samples = np.round(np.random.default_rng(4).normal(size=60), 1)
    samples[[3, 8]] = np.nan
    shape = {"two-sided": abs, "greater": float, "less": lambda value: -value}[alternative]
    null = [value - 0.7 * centred for value in samples] + [0.7] * (not exact)
    pool = corrections.Pool(alternative, centred, exact)
    counts, defined = pool.counts(samples, 0.7)
    assert (counts.tolist(), defined) == plain_counts([shape(value) for value in null])
    assert counts[3] == 0 and defined == 58 + (not exact)
    pvalues = pool.pvalues(samples, 0.7)
    assert pvalues.tolist() == [count / defined if count else np.inf for count in counts]


def plain_reached(pvalues, shares):
    """In how many members of the pool the least share of each test, and of those with larger p-values, is at most p."""
    order = sorted((at for at, p in enumerate(pvalues) if not np.isnan(p)), key=lambda at: -pvalues[at])
    return {
        at: sum(
            min(shares[other][s] for other in order[: rank + 1]) <= pvalues[at] + 1e-9 for s in range(len(shares[0]))
        )
        for rank, at in enumerate(order)
    }


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_steps_down_in_blocks_are_steps_down_to_the_bit(dtype):
    rng = np.random.default_rng(5)
    size, n = 12, 201
    counts = np.array([plain_counts(np.round(row, 1))[0] for row in rng.normal(size=(size, n))]).astype(dtype)
    counts[rng.random(counts.shape) < 0.03] = 0
    defined = np.full(size, n)
    pvalues = np.sort(counts, axis=1)[np.arange(size), 8 + np.arange(size) ** 2 // 2] / n  # each is some draw's
    pvalues[[2, 7]] = np.nan, pvalues[3]
    shares = np.where(counts == 0, np.inf, counts.astype(float) / n)
    want = corrections.step_down(pvalues, lambda order: (shares[at] for at in order))
    blocks = [counts[:, start : start + 17] for start in range(0, n, 17)]
    total = sum(corrections.step_down_counts(pvalues, block, defined) for block in blocks)
    assert total.tolist() == [plain_reached(pvalues, shares).get(at, 0) for at in range(size)]
    assert total[2] == 0 and len(np.unique(total)) > 6
    got = corrections.step_down_of_shares(pvalues, total / n)
    np.testing.assert_array_equal(got, want)
    assert np.isnan(got[2]) and (got[~np.isnan(got)] >= pvalues[~np.isnan(got)]).all()


def test_step_down_pvalues_never_fall_and_are_no_less_than_the_pvalues():
    got = corrections.step_down_of_shares(
        np.array([0.2, 0.01, np.nan, 0.5, 0.05]), np.array([0.25, 0.3, np.nan, 0.4, 0.1])
    )
    np.testing.assert_array_equal(got, [0.3, 0.3, np.nan, 0.5, 0.3])
