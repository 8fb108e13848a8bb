"""The one place that draws random numbers: label counts and coins, in blocks of resamples."""

# Block b of a dim has its own stream, derived only from the seed, the dim and b: results do not depend on threads,
# chunks, or the number of resamples. Only raw words of NumPy's bit generator are used, whose stream is guaranteed.

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from xsumstat.kernels.correlation import count_labels

BLOCK = 1024
# Most bytes of the counts or coins that are drawn together.
_AT_ONCE = 2**24

# A dim's place in this table is part of every stream: append, never reorder.
_STREAMS = {
    "system": 0,
    "input": 1,
    "cell": 2,
    "trial": 3,
    "reference": 4,
    "rater": 5,
    "copy": 6,
    "decision": 7,
    "task": 8,
}


def seed_of(rng: Any) -> int:
    """The number that all draws derive from; passing it as `rng` repeats the draws. A Generator is advanced."""
    if isinstance(rng, bool) or isinstance(rng, str | bytes | float):
        raise TypeError(f"rng must be None, an int, a SeedSequence or a numpy Generator, got {rng!r}")
    try:
        generator = np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        message = f"rng must be None, an int >= 0, a SeedSequence or a numpy Generator, got {rng!r}"
        raise type(error)(message) from error
    if isinstance(rng, np.random.Generator | np.random.BitGenerator | np.random.RandomState):
        words = generator.integers(0, 2**32, size=4, dtype=np.uint32)
    else:
        sequence: Any = generator.bit_generator.seed_seq
        if isinstance(sequence.entropy, int | np.integer) and not sequence.spawn_key:
            return int(sequence.entropy)
        words = sequence.generate_state(4, np.uint32)
    return sum(int(word) << (32 * place) for place, word in enumerate(words))


class Stream:
    """Random words of one dim in one block of resamples, row by row."""

    def __init__(self, seed: int, dim: str, block: int) -> None:
        self._bits = np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(_STREAMS[dim], block)))

    def _words(self, rows: int, words_each: int) -> npt.NDArray[np.uint64]:
        raw = self._bits.random_raw(rows * words_each)
        return np.asarray(raw, dtype=np.uint64).reshape(rows, words_each)

    def counts(self, size: int, rows: int) -> npt.NDArray[np.int64]:
        out = np.zeros((rows, size), dtype=np.int64)
        count_labels(self._words(rows, -(-size // 2)), size, out)
        return out

    def sign_bits(self, units: int, rows: int) -> npt.NDArray[np.uint8]:
        words = self._words(rows, -(-units // 64))
        return words.astype("<u8", copy=False).view(np.uint8)[:, : -(-units // 8)]


def counts(seed: int, dim: str, size: int, block: int, rows: int = BLOCK) -> npt.NDArray[np.int64]:
    """Draws of each label with replacement, (rows, size), for the first `rows` resamples of a block."""
    return Stream(seed, dim, block).counts(size, rows)


def sign_bits(seed: int, dim: str, units: int, block: int, rows: int = BLOCK) -> npt.NDArray[np.uint8]:
    """Fair coins for `units` units in the first `rows` resamples of a block, (rows, bytes), lowest bit first."""
    return Stream(seed, dim, block).sign_bits(units, rows)


def generator(seed: int, trial: int) -> np.random.Generator:
    """Generator of all draws in one trial of a simulation."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(_STREAMS["trial"], trial))))


def all_signs(units: int, block: int) -> npt.NDArray[np.uint8]:
    """Block of the list of all 2^units outcomes of coins, (rows, units), a byte each."""
    stop = min((block + 1) * BLOCK, 2**units)
    number = np.arange(block * BLOCK, stop, dtype=np.uint64)[:, None]
    return ((number >> np.arange(units, dtype=np.uint64)) & np.uint64(1)).astype(np.uint8)


def n_blocks(n_resamples: int) -> int:
    return math.ceil(n_resamples / BLOCK)


def block_rows(n_resamples: int, block: int) -> int:
    return min(BLOCK, n_resamples - block * BLOCK)


def in_steps(rows: int, bytes_each: float) -> Iterator[slice]:
    """Rows of a block in steps that take little memory."""
    step = max(1, min(rows, int(_AT_ONCE / max(bytes_each, 1.0))))
    for start in range(0, rows, step):
        yield slice(start, min(rows, start + step))
