"""Bootstrap and permutation of plain arrays: blocks of draws, handed to threads.

A block's draws serve every statistic, so all metrics, pairs and further labels see the same resamples.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from xsumstat import _draws, _validate
from xsumstat.coefficients import FloatArray
from xsumstat.levels import Comparison, IntArray
from xsumstat.swaps import SwapArray, SwapTest, arranged

# Two differences this close are one: rounding must not decide whether a resample is as extreme as the data.
_TOLERANCE = 1e-12


def n_threads() -> int:
    """Threads to use: the environment variable XSUMSTAT_NUM_THREADS, else what numba counts."""
    value = os.environ.get("XSUMSTAT_NUM_THREADS", "")
    if not value:
        return int(numba.config.NUMBA_NUM_THREADS)
    if not value.isdecimal() or int(value) < 1:
        raise ValueError(f"XSUMSTAT_NUM_THREADS must be a whole number of at least 1, got {value!r}")
    return int(value)


def over_blocks(work: Callable[[int, threading.Event], None], n_blocks: int, progress: bool) -> None:
    """Call ``work(block, stop)`` for every block on threads; on Ctrl-C set `stop`, wait and raise."""
    stop = threading.Event()
    with _bar(n_blocks, progress) as bar, ThreadPoolExecutor(min(n_threads(), n_blocks)) as pool:
        futures = [pool.submit(work, block, stop) for block in range(n_blocks)]
        try:
            for future in as_completed(futures):
                future.result()
                bar.update()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


class _NoBar:
    """Stands in for a progress bar that nobody asked for."""

    def __enter__(self) -> _NoBar:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def update(self) -> None:
        pass


def _bar(n_blocks: int, progress: bool) -> Any:
    if not progress:
        return _NoBar()
    return _validate.optional("tqdm.auto", "progress").tqdm(total=n_blocks, desc="resampling", unit="block")


def bootstrap(
    comparisons: Sequence[Comparison],
    shape: tuple[int, int],
    dims: tuple[str, ...],
    *,
    n_resamples: int,
    seed: int,
    progress: bool = False,
) -> FloatArray:
    """Each comparison's statistic in each resample of the named dims.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Statistics on the same systems and inputs.
    shape : tuple of int
        Number of systems and of inputs.
    dims : tuple of str
        "system", "input" or both: the dims whose labels are drawn with replacement, independently of
        each other (the pigeonhole bootstrap, Owen 2007; Deutsch et al. 2021, Alg. 1).
    n_resamples, seed : int
        How many, and from what; see `_draws`.
    progress : bool
        Show a bar.

    Returns
    -------
    array, (len(comparisons), n_resamples)
        NaN where a resample leaves the statistic undefined.
    """
    samples = np.empty((len(comparisons), n_resamples))

    def work(block: int, stop: threading.Event) -> None:
        start = block * _draws.BLOCK
        here = samples[:, start : start + _draws.BLOCK]
        systems, inputs = (
            _draws.counts(seed, dim, size, block)[: here.shape[1]]
            if dim in dims
            else np.ones((1, size), dtype=np.int64)
            for dim, size in zip(("system", "input"), shape, strict=True)
        )
        for row, comparison in zip(here, comparisons, strict=True):
            if stop.is_set():
                return
            row[:] = comparison.bootstrap(systems, inputs)

    over_blocks(work, _draws.n_blocks(n_resamples), progress)
    return samples


@dataclass(frozen=True)
class SwapPlan:
    """Which units are swapped, and whether their swaps are drawn or listed.

    Attributes
    ----------
    shape : tuple of int
        Number of systems and of inputs.
    dims : tuple of str
        "system": all cells of a system trade places together. "input": all of an input. Both: each cell
        by itself (Deutsch et al. 2021, Alg. 2), or by the exclusive or of a system's and an input's
        coin where `crossed`.
    n_resamples : int
        How many swaps are looked at: what was asked for, or 2^units where `exact`.
    exact : bool
        All swaps are listed, as they number no more than was asked for.
    """

    shape: tuple[int, int]
    dims: tuple[str, ...]
    crossed: bool
    n_resamples: int
    exact: bool
    seed: int

    @classmethod
    def of(cls, shape: tuple[int, int], dims: tuple[str, ...], crossed: bool, n_resamples: int, seed: int) -> SwapPlan:
        """Plan `n_resamples` random swaps, or all of them where they number no more."""
        sizes = dict(zip(("system", "input"), shape, strict=True))
        units = sum(sizes[dim] for dim in dims) if crossed or len(dims) == 1 else shape[0] * shape[1]
        exact = units < 63 and 2**units <= n_resamples
        return cls(shape, dims, crossed, 2**units if exact else n_resamples, exact, seed)

    def block(self, block: int) -> SwapArray:
        """Swaps of a block, (resamples, systems, inputs)."""
        systems, inputs = self.shape
        sizes = {"system": systems, "input": inputs}
        if len(self.dims) == 2 and not self.crossed:
            coins = self._coins("cell", systems * inputs, block)
            return coins.reshape(-1, systems, inputs)
        if self.crossed and self.exact:
            coins = _draws.all_swaps(systems + inputs, block)
            return coins[:, :systems, None] ^ coins[:, None, systems:]
        by_dim = {dim: self._coins(dim, sizes[dim], block) for dim in self.dims}
        of_system = by_dim["system"][:, :, None] if "system" in by_dim else np.uint8(0)
        of_input = by_dim["input"][:, None, :] if "input" in by_dim else np.uint8(0)
        either = np.asarray(of_system ^ of_input)
        return np.broadcast_to(either, (len(either), systems, inputs))

    def _coins(self, dim: str, size: int, block: int) -> npt.NDArray[np.uint8]:
        if self.exact:
            return _draws.all_swaps(size, block)
        left = self.n_resamples - block * _draws.BLOCK
        return _draws.swaps(self.seed, dim, size, block)[:left]


@dataclass
class SwapCounts:
    """How the differences under swaps lie about the observed one, per pair.

    Attributes
    ----------
    at_least, at_most, beyond, undefined : array of int, (pairs,)
        Swaps with a difference of at least the observed one, at most it, at least as far from 0, and
        with none.
    samples : array or None, (pairs, n_resamples)
        The differences themselves, where they were asked for.
    """

    at_least: IntArray
    at_most: IntArray
    beyond: IntArray
    undefined: IntArray
    samples: FloatArray | None


def permutation(
    tests: Sequence[SwapTest],
    places: Sequence[IntArray],
    plan: SwapPlan,
    *,
    level: str,
    keep_samples: bool = False,
    progress: bool = False,
) -> tuple[FloatArray, SwapCounts]:
    """Observed difference of each pair, and how its differences under swaps compare with it.

    Parameters
    ----------
    tests : sequence of SwapTest
        Each with one or more pairs of metrics.
    places : sequence of int arrays
        For each test, where its pairs stand in the results; together 0, 1, 2 ... once each.
    plan : SwapPlan
        The swaps.
    level : str
        The level of the tests.
    keep_samples, progress : bool
        Keep the differences; show a bar.

    Returns
    -------
    difference : array, (pairs,)
    counts : SwapCounts
    """
    n_pairs = sum(map(len, places))
    observed = np.empty(n_pairs)
    unswapped = arranged(np.zeros((1, *plan.shape), dtype=np.uint8), level)
    for at, test in zip(places, tests, strict=True):
        observed[at] = test.differences(unswapped)[:, 0]
    totals = np.zeros((4, n_pairs), dtype=np.int64)
    samples = np.empty((n_pairs, plan.n_resamples)) if keep_samples else None
    lock = threading.Lock()

    def work(block: int, stop: threading.Event) -> None:
        swaps = arranged(plan.block(block), level)
        start = block * _draws.BLOCK
        for at, test in zip(places, tests, strict=True):
            if stop.is_set():
                return
            here = test.differences(swaps)
            counts = _compared(here, observed[at])
            with lock:
                totals[:, at] += counts
            if samples is not None:
                samples[at, start : start + here.shape[1]] = here

    over_blocks(work, _draws.n_blocks(plan.n_resamples), progress)
    at_least, at_most, beyond, undefined = totals
    return observed, SwapCounts(at_least, at_most, beyond, undefined, samples)


def _compared(differences: FloatArray, observed: FloatArray) -> IntArray:
    limit = observed[:, None]
    return np.array(
        [
            (differences >= limit - _TOLERANCE).sum(axis=1),
            (differences <= limit + _TOLERANCE).sum(axis=1),
            (np.abs(differences) >= np.abs(limit) - _TOLERANCE).sum(axis=1),
            np.isnan(differences).sum(axis=1),
        ],
        dtype=np.int64,
    )
