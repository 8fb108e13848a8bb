"""Bootstrap and permutation of Dask arrays: a graph of tasks that a scheduler or a cluster runs later.

The tasks call the same functions on the same blocks of draws as the threads of `resampling` do, so that the numbers are
the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xsumstat import _draws, _validate, levels, resampling
from xsumstat.coefficients import FloatArray
from xsumstat.levels import Comparison, IntArray
from xsumstat.swap_ranks import Pair
from xsumstat.swaps import PairTest

BoolArray = npt.NDArray[np.bool_]
SummariseSamples = Callable[[Comparison, tuple[int, int], FloatArray], Sequence[float]]
MakeTests = Callable[..., list[PairTest]]

# Cells times resamples times statistics of one task: some tenths of a second, seconds where scores are tied.
_TASK = 1e9


def _selected(values: Sequence[FloatArray], systems: BoolArray, inputs: BoolArray) -> list[FloatArray]:
    """Scores without the systems and inputs that nothing can use."""
    return [np.ascontiguousarray(each[..., systems, :][..., inputs]) for each in values]


def _ranges(n_resamples: int, work: float) -> list[range]:
    """The blocks of `n_resamples` in runs of about a task's work, `work` being that of all of them."""
    blocks = _draws.n_blocks(n_resamples)
    step = max(1, min(blocks, int(blocks * _TASK / max(work, 1.0))))
    return [range(start, min(start + step, blocks)) for start in range(0, blocks, step)]


# --- Bootstrap ---


def _make_comparisons(
    x: list[FloatArray], z: list[FloatArray], systems: BoolArray, inputs: BoolArray, settings: dict[str, Any]
) -> tuple[list[Comparison], tuple[int, int]]:
    x, z = (_selected(each, systems, inputs) for each in (x, z))
    shape = z[0].shape[0], z[0].shape[1]
    return [levels.compare(a, b, **settings) for a, b in zip(x, z, strict=True)], shape


def _sample(made: tuple[list[Comparison], tuple[int, int]], nominal: resampling.DrawPlan, blocks: range) -> FloatArray:
    comparisons, shape = made
    plan = nominal.reshaped(shape)
    return np.concatenate([resampling.bootstrap_block(comparisons, plan, block) for block in blocks], axis=1)


def _summarise(
    made: tuple[list[Comparison], tuple[int, int]],
    parts: list[FloatArray],
    summary: SummariseSamples,
) -> FloatArray:
    samples = np.concatenate(parts, axis=1)
    comparisons, shape = made
    return np.array([summary(each, shape, row) for each, row in zip(comparisons, samples, strict=True)]).T


def bootstrap(
    x: Any,
    z: Any,
    used: tuple[Any, Any],
    plan: resampling.DrawPlan,
    summary: SummariseSamples,
    *,
    settings: dict[str, Any],
    n_summary: int,
    keep_samples: bool,
) -> tuple[Any, Any]:
    """A lazy summary of the bootstrap of every pair of score matrices, (n_summary, ...), and the samples or None.

    Parameters
    ----------
    x, z : Dask arrays (..., systems, inputs)
        With the same leading dims.
    used : two bool arrays
        Systems and inputs that are kept, lazy or not.
    plan : DrawPlan
        For the shape before anything is left out.
    summary : callable
        Numbers from a comparison, its shape and its samples.
    settings : dict
        Keywords of `levels.compare`.
    n_summary : int
        How many numbers `summary` gives.
    keep_samples : bool
        Whether samples are wanted, (..., n_resamples).
    """
    dask, da = _validate.optional("dask", "dask"), _validate.optional("dask.array", "dask")
    lead = x.shape[:-2]
    places = list(np.ndindex(lead))
    work = float(plan.n_resamples * x.shape[-2] * x.shape[-1])
    at_once = max(1, int(_TASK / work))
    summaries, samples = [], []
    for start in range(0, len(places), at_once):
        group = places[start : start + at_once]
        made = dask.delayed(_make_comparisons)([x[at] for at in group], [z[at] for at in group], *used, settings)
        ranges = _ranges(plan.n_resamples, work * len(group))
        parts = [dask.delayed(_sample)(made, plan, blocks) for blocks in ranges]
        reduced = dask.delayed(_summarise)(made, parts, summary)
        summaries.append(da.from_delayed(reduced, (n_summary, len(group)), dtype=float))
        if keep_samples:
            whole = dask.delayed(np.concatenate)(parts, axis=1)
            samples.append(da.from_delayed(whole, (len(group), plan.n_resamples), dtype=float))
    found = da.concatenate(summaries, axis=1).reshape(n_summary, *lead)
    return found, da.concatenate(samples, axis=0).reshape(*lead, plan.n_resamples) if keep_samples else None


# --- Pairs of metrics ---


@dataclass(frozen=True)
class _Tests:
    """Tests of some pairs, their observed differences, and the swaps."""

    tests: list[PairTest]
    observed: FloatArray
    plan: resampling.PairPlan


def _make_tests(
    x: FloatArray,
    z: FloatArray,
    systems: BoolArray,
    inputs: BoolArray,
    pairs: tuple[Pair, ...],
    make: MakeTests,
    settings: dict[str, Any],
    nominal: resampling.PairPlan,
) -> _Tests:
    (x,), (z,) = _selected([x], systems, inputs), _selected([z], systems, inputs)
    shape = z.shape[0], z.shape[1]
    plan = nominal.reshaped(shape)
    if plan.n_resamples != nominal.n_resamples:
        raise ValueError(
            "systems or inputs without any score that can be used leave so few swaps that the test becomes exact; "
            "take them out of the lazy Dataset first"
        )
    tests = make(x, z, pairs, **settings)
    return _Tests(tests, resampling.observed_differences(tests, plan), plan)


def _count(made: _Tests, blocks: range, keep: bool) -> tuple[IntArray, FloatArray | None]:
    counts, kept = [], []
    for block in blocks:
        rows = _draws.block_rows(made.plan.n_resamples, block)
        samples = np.empty((len(made.observed), rows if keep else 0))
        here = samples if keep else None
        counts.append(resampling.pair_block(made.tests, made.observed, made.plan, block, here))
        kept.append(samples)
    return np.sum(counts, axis=0), np.concatenate(kept, axis=1) if keep else None


def _reduce(
    made: _Tests, parts: list[IntArray], summary: Callable[[FloatArray, IntArray], Sequence[FloatArray]]
) -> FloatArray:
    return np.array(summary(made.observed, np.sum(parts, axis=0)), dtype=float)


def compare_pairs(
    x: Any,
    z: Any,
    used: tuple[Any, Any],
    pairs: tuple[Pair, ...],
    plan: resampling.PairPlan,
    make: MakeTests,
    summary: Callable[[FloatArray, IntArray], Sequence[FloatArray]],
    *,
    settings: dict[str, Any],
    together: bool,
    n_summary: int,
    keep_samples: bool,
) -> tuple[Any, Any]:
    """A lazy summary of the tests of all pairs, (n_summary, ..., pairs), and the samples or None.

    Parameters
    ----------
    x : Dask array (..., metrics, systems, inputs)
    z : Dask array (..., systems, inputs)
        With the same leading dims.
    used : two bool arrays
        Systems and inputs that are kept, lazy or not.
    pairs : tuple of pairs of int
    plan : SwapPlan or DrawPlan
        For the shape before anything is left out.
    make : callable
        `swap_tests` or `draw_tests`.
    together : bool
        Whether all pairs share so much work that they stay in one task.
    summary : callable
        Arrays over pairs from the observed differences and the counts.
    settings : dict
        Keywords of `make`.
    n_summary : int
        How many arrays `summary` gives.
    keep_samples : bool
        Whether samples are wanted, (..., pairs, n_resamples).
    """
    dask, da = _validate.optional("dask", "dask"), _validate.optional("dask.array", "dask")
    lead = z.shape[:-2]
    work = float(plan.n_resamples * z.shape[-2] * z.shape[-1])
    at_once = len(pairs) if together else max(1, int(_TASK / work))
    groups = [pairs[start : start + at_once] for start in range(0, len(pairs), at_once)]
    summaries, samples = [], []
    for at in np.ndindex(lead):
        for group in groups:
            made = dask.delayed(_make_tests)(x[at], z[at], *used, group, make, settings, plan)
            ranges = _ranges(plan.n_resamples, work * len(group))
            parts = [dask.delayed(_count, nout=2)(made, blocks, keep_samples) for blocks in ranges]
            reduced = dask.delayed(_reduce)(made, [counts for counts, _ in parts], summary)
            summaries.append(da.from_delayed(reduced, (n_summary, len(group)), dtype=float))
            if keep_samples:
                whole = dask.delayed(np.concatenate)([kept for _, kept in parts], axis=1)
                samples.append(da.from_delayed(whole, (len(group), plan.n_resamples), dtype=float))
    found = da.concatenate(summaries, axis=1).reshape(n_summary, *lead, len(pairs))
    if not keep_samples:
        return found, None
    return found, da.concatenate(samples, axis=0).reshape(*lead, len(pairs), plan.n_resamples)
