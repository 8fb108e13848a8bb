"""Kendall's coefficients of many pairs of metrics in large groups, sharing the work for each metric."""

# Each member has a bit for each other one, 1 where that one is lower: 64 pairs are compared at a time. In very large
# groups the pairs share how each metric sorts them.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xsumstat.coefficients import arrays
from xsumstat.coefficients.record import Measure
from xsumstat.core import levels
from xsumstat.core.types import BoolArray, FloatArray, IntArray
from xsumstat.kernels import bits as bit_kernels
from xsumstat.kernels import correlation as kernels

Words = npt.NDArray[np.uint64]
# Members above which counting while sorting is faster, and bytes made of the metrics of a group.
_MOST_MEMBERS, _MOST_BYTES = 10_000, 2**27


def groups(
    x: FloatArray | Sequence[FloatArray], pairs: Any, measure: Measure, best: Mapping[int, BoolArray] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Coefficient and number of members of each pair of matrices in each group, (pairs, groups)."""
    of_pairs = measure.coefficient.of_pairs
    if of_pairs is not None and _suits((x[0].shape[0], x[0].shape[1]), measure):
        arrays.check_finite(*x)
        r, n = of_pairs(x, pairs, measure, best or {})
        return r, n
    found = []
    for one, other in pairs:
        first = np.where(best[one] | best[other], x[one], np.nan) if best else x[one]
        found.append(measure.estimator(first, x[other]).groups())
    return np.array([r for r, _ in found]), np.array([n for _, n in found])


def _suits(shape: tuple[int, int], measure: Measure) -> bool:
    return measure.level in levels.GROUPS and not arrays.by_pairs(*levels.sizes(measure.level, shape))


def of_pairs(
    x: Sequence[FloatArray], pairs: Any, measure: Measure, best: Mapping[int, BoolArray], *, kind: int
) -> tuple[FloatArray, FloatArray]:
    used = sorted({metric for pair in pairs for metric in pair})
    rows = np.array([(used.index(one), used.index(other)) for one, other in pairs], dtype=np.int64)
    turned = measure.level == "within_system"
    members, n_groups = x[used[0]].shape[::-1] if turned else x[used[0]].shape
    bits = _room(len(used), members)
    r, n = np.empty((2, len(pairs), n_groups))
    for j in range(n_groups):
        at = (j, slice(None)) if turned else (slice(None), j)
        values = np.stack([x[metric][at] for metric in used])
        chosen = np.stack([best[metric][at] for metric in used]) if best else None
        ready = values, ~np.isnan(values), chosen
        r[:, j], n[:, j] = _sorted(kind, rows, *ready) if bits is None else _by_bits(kind, rows, *ready, bits)
    return r + 0.0, n


def _room(metrics: int, members: int) -> Words | None:
    """Memory for the bits of a group; None where sorting is faster."""
    shape = 2, metrics, members, -(-members // 64)
    if members > _MOST_MEMBERS or 8 * np.prod(shape, dtype=float) > _MOST_BYTES:
        return None
    return np.empty(shape, np.uint64)


def _by_bits(
    kind: int,
    pairs: IntArray,
    values: FloatArray,
    there: BoolArray,
    best: BoolArray | None,
    bits: Words,
) -> tuple[FloatArray, FloatArray]:
    """Coefficient and number of members of each pair in one group, from scores (metrics, members)."""
    order = np.argsort(np.where(there, values, np.inf), axis=1)  # NaN would come last too, at six times the time
    words = _words(there)
    counted = words if best is None else _words(best)
    scratch = *np.empty((2, len(values)), np.int64), np.empty(words.shape[1], np.uint64)
    rows, (r, n) = bits.reshape(2, len(values), -1), np.empty((2, len(pairs)))
    bit_kernels.correlate(kind, pairs, values, order, words, counted, best is None, bits, rows, *scratch, r, n)
    return r, n


def _sorted(
    kind: int, pairs: IntArray, values: FloatArray, there: BoolArray, best: BoolArray | None
) -> tuple[FloatArray, FloatArray]:
    order, codes = arrays.dense_codes(values)
    codes = codes.astype(np.int32)
    r, n = np.empty((2, len(pairs)))
    once = np.ones(values.shape[1], dtype=np.int64)
    for p, (one, other) in enumerate(pairs.tolist()):
        among = there[one] & there[other]
        if best is not None:
            among &= best[one] | best[other]
        sides = order[one][None], codes[one][None], codes[other][None]
        kernels.sorted_groups(kind, *sides, among.astype(float)[:, None], once, r[p : p + 1], n[p : p + 1])
    return r, n


def _words(condition: BoolArray) -> Words:
    """A bit for each member, 64 to the word, for each row."""
    packed = np.packbits(condition, axis=1, bitorder="little")
    padded = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").astype(np.uint64, copy=False)
