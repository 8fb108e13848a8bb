"""How many inputs to draw from each stratum, and which: stratified random sampling; plain arrays."""

from __future__ import annotations

import numpy as np

from xsumstat.core.types import BoolArray, FloatArray, IntArray

# Inputs to draw from each stratum: one alone has no variance.
LEAST = 2
# The lowest rate at which a stratum is drawn from, beside the rate of all inputs, before rounding.
_LEAST_RATE = 0.25


def bins(values: FloatArray, n: int) -> IntArray:
    """The bin of each value, from 0, the lowest, in `n` bins of equal size, give or take one."""
    codes = np.empty(len(values), dtype=np.int64)
    for at, places in enumerate(np.array_split(np.argsort(values, kind="stable"), n)):
        codes[places] = at
    return codes


def rates(unsure: FloatArray, codes: IntArray, n_strata: int) -> FloatArray:
    """How often to draw from each stratum, relatively (Neyman): mean of `unsure`, at least a quarter of all's."""
    sizes = np.bincount(codes, minlength=n_strata)
    means = np.bincount(codes, weights=unsure, minlength=n_strata) / np.maximum(sizes, 1)
    return np.asarray(np.maximum(means, _LEAST_RATE * unsure.mean()))


def allocated(n: int, sizes: IntArray, rate: FloatArray) -> IntArray:
    """`n` in parts by sizes times rates, each between `LEAST` and the stratum's size (largest remainders)."""
    low, high = np.minimum(LEAST, sizes), sizes
    wanted = _between(n, sizes * rate, low, high)
    found = np.floor(wanted + 1e-9).astype(np.int64)
    rest = np.where(found < high, wanted - found, -1.0)
    found[np.argsort(-rest, kind="stable")[: n - int(found.sum())]] += 1
    return found


def _between(n: int, size: FloatArray, low: IntArray, high: IntArray) -> FloatArray:
    """Numbers in proportion to sizes, except where a limit holds, whose sum is n."""
    found, fixed = np.zeros(len(size)), np.zeros(len(size), dtype=bool)
    while not fixed.all():
        free = ~fixed
        share = (n - found[fixed].sum()) * size[free] / size[free].sum()
        kept = np.clip(share, low[free], high[free])
        found[free] = kept
        # Limits that push the sum one way are kept first; the others may not bind afterwards.
        beyond = kept - share
        excess = beyond.sum()
        if abs(excess) <= 1e-9 * n:
            break
        bound = np.zeros(len(size), dtype=bool)
        bound[free] = beyond > 0 if excess > 0 else beyond < 0
        fixed |= bound
    return found


def drawn(n_each: IntArray, codes: IntArray, generator: np.random.Generator) -> BoolArray:
    """Which inputs are drawn: so many at random, without replacement, from each stratum."""
    found = np.zeros(len(codes), dtype=bool)
    for at, n in enumerate(n_each):
        places = np.flatnonzero(codes == at)
        found[places[generator.permutation(len(places))[:n]]] = True
    return found
