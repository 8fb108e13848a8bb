"""Kernels of partial correlations, compiled and as plain Python, against a twin."""

import numpy as np
import partial_twin
import pytest
from helpers import both_ways

from xsumstat.coefficients.partial import Members
from xsumstat.kernels import correlation
from xsumstat.kernels import partial as kernels

KINDS = {"pearson": correlation.PEARSON, "spearman": correlation.SPEARMAN, "kendall": correlation.KENDALL}


def members(name, covariates=1, seed=0):
    """Variables (variables, groups, members), some missing, as they are and as kernels want them."""
    rng = np.random.default_rng(seed)
    whole = np.round(2 * rng.normal(size=(2 + covariates, 3, 8)) + 2 * rng.normal(size=(1, 3, 8)))
    whole[rng.random(whole.shape) < 0.04] = np.nan
    return whole, Members.of(whole, KINDS[name])


def twin(name, whole, weights):
    """The coefficient of each group, its members as often as they count."""
    found = []
    for group, counts in zip(whole.transpose(1, 0, 2), weights, strict=True):
        counts = counts * ~np.isnan(group).any(axis=0)
        enough = (counts > 0).sum() >= len(whole) + 1
        found.append(partial_twin.partial(name, np.repeat(group, counts, axis=1)) if enough else np.nan)
    return np.array(found)


def test_elimination_is_the_recursion():
    rng = np.random.default_rng(1)
    matrix = np.corrcoef(rng.normal(size=(5, 12)))
    r = {(a, b): matrix[a, b] for a in range(5) for b in range(a + 1, 5)}
    assert both_ways(kernels.eliminate, matrix.copy()) == pytest.approx(partial_twin.recursion(r, 0, 1, [2, 3, 4]))
    assert np.isnan(both_ways(kernels.eliminate, np.ones((3, 3))))


@pytest.mark.parametrize("covariates", [1, 2])
@pytest.mark.parametrize("name", KINDS)
def test_groups(name, covariates):
    whole, ready = members(name, covariates)
    r, n = np.empty((2, 3))
    both_ways(kernels.groups_partial, *ready.data, r, n)
    np.testing.assert_allclose(r, twin(name, whole, np.ones((3, 8), int)), atol=1e-12)
    np.testing.assert_array_equal(n, (~np.isnan(whole).any(axis=0)).sum(axis=1))


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_draws_of_members_and_groups(name, zero):
    whole, ready = members(name, seed=2)
    rng = np.random.default_rng(3)
    w, v = rng.multinomial(8, np.full(8, 1 / 8), size=5), rng.multinomial(3, np.full(3, 1 / 3), size=5)
    out = np.empty(5)
    both_ways(kernels.bootstrap_partial, *ready.data, w, v, zero, out)
    for s in range(5):
        r = twin(name, whole, np.tile(w[s], (3, 1)))
        r = np.nan_to_num(r) if zero else r
        weights = np.where(np.isnan(r), 0, v[s])
        expected = np.nansum(weights * np.nan_to_num(r)) / weights.sum() if weights.sum() else np.nan
        assert out[s] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", KINDS)
def test_draws_of_cells(name):
    whole, _ = members(name, seed=4)
    flat = Members.of(whole.reshape(3, 1, -1), KINDS[name])
    rng = np.random.default_rng(5)
    w, v = rng.multinomial(3, np.full(3, 1 / 3), size=4), rng.multinomial(8, np.full(8, 1 / 8), size=4)
    out = np.empty(4)
    both_ways(kernels.bootstrap_partial_cells, *flat.data, w, v, out)
    for s in range(4):
        expected = twin(name, whole.reshape(3, 1, -1), np.outer(w[s], v[s]).reshape(1, -1))
        assert out[s] == pytest.approx(expected[0], abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", KINDS)
def test_swaps(name):
    rng = np.random.default_rng(6)
    x, y, z, c = np.round(2 * rng.normal(size=(4, 3, 7)))
    doubled = np.array([np.concatenate(pair, axis=1) for pair in ((x, y), (z, z), (c, c))])
    ready = Members.of(doubled, KINDS[name])
    coins = np.tile(np.arange(7), 2) + 8 * np.arange(3)[:, None]
    bits, out = rng.integers(0, 256, (4, 3), dtype=np.uint8), np.empty(4)
    both_ways(kernels.swap_partial, *ready.data, coins, bits, True, out)
    for s in range(4):
        swap = np.unpackbits(bits[s], bitorder="little").reshape(3, 8)[:, :7].astype(bool)
        sides = (np.where(swap, y, x), np.where(swap, x, y))
        r = [np.nan_to_num([partial_twin.partial(name, group) for group in zip(side, z, c, strict=True)]).mean()
             for side in sides]  # fmt: skip
        assert out[s] == pytest.approx(r[0] - r[1], abs=1e-12)
