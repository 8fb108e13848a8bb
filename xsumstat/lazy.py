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

from xsumstat import _draws, _validate, resampling
from xsumstat.coefficients import FloatArray
from xsumstat.estimates import Estimates, Interval, Target
from xsumstat.levels import IntArray
from xsumstat.swap_ranks import Pair
from xsumstat.swaps import PairTest

BoolArray = npt.NDArray[np.bool_]
MakeTests = Callable[..., Sequence[PairTest]]

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


def _make_estimates(
    x: FloatArray,
    z: FloatArray,
    systems: BoolArray,
    inputs: BoolArray,
    targets: tuple[Target, ...],
    settings: dict[str, Any],
    dims: tuple[str, ...],
) -> Estimates:
    (x,), (z,) = _selected([x], systems, inputs), _selected([z], systems, inputs)
    return Estimates.of(x, z, targets, settings, dims)


def _sample(made: Estimates, how: Interval, blocks: range) -> list[FloatArray]:
    """Samples (comparisons, resamples of the blocks) of each plan."""
    return [
        np.concatenate([resampling.bootstrap_block(made.comparisons, plan, block) for block in blocks], axis=1)
        for plan in how.plans(made.shape)
    ]


def _summarise(made: Estimates, parts: list[list[FloatArray]], how: Interval) -> FloatArray:
    return how.summarised(made, [np.concatenate(of_plan, axis=1) for of_plan in zip(*parts, strict=True)])


def _kept(made: Estimates, parts: list[list[FloatArray]]) -> FloatArray:
    return made.of_targets(np.concatenate([part[0] for part in parts], axis=1))


def bootstrap(
    x: Any,
    z: Any,
    used: tuple[Any, Any],
    targets: tuple[Target, ...],
    how: Interval,
    *,
    settings: dict[str, Any],
    keep_samples: bool,
) -> tuple[Any, Any]:
    """The lazy numbers of ``how.names`` of all targets, (names, ..., targets), and the samples or None.

    Parameters
    ----------
    x : Dask array (..., metrics, systems, inputs)
    z : Dask array (..., systems, inputs)
        With the same leading dims.
    used : two bool arrays
        Systems and inputs that are kept, lazy or not.
    targets : tuple of tuples of int
        One metric, or two, of each.
    how : Interval
    settings : dict
        Keywords of `dispatch.compare`.
    keep_samples : bool
        Whether samples are wanted, (..., targets, n_resamples).
    """
    dask, da = _validate.optional("dask", "dask"), _validate.optional("dask.array", "dask")
    lead = z.shape[:-2]
    work = float(how.n_resamples * z.shape[-2] * z.shape[-1])
    at_once = max(1, int(_TASK / work))
    groups = [targets[start : start + at_once] for start in range(0, len(targets), at_once)]
    summaries, samples = [], []
    for at in np.ndindex(lead):
        for group in groups:
            made = dask.delayed(_make_estimates)(x[at], z[at], *used, group, settings, how.dims)
            ranges = _ranges(how.n_resamples, work * len(group))
            parts = [dask.delayed(_sample)(made, how, blocks) for blocks in ranges]
            reduced = dask.delayed(_summarise)(made, parts, how)
            summaries.append(da.from_delayed(reduced, (len(how.names), len(group)), dtype=float))
            if keep_samples:
                kept = dask.delayed(_kept)(made, parts)
                samples.append(da.from_delayed(kept, (len(group), how.n_resamples), dtype=float))
    found = da.concatenate(summaries, axis=1).reshape(len(how.names), *lead, len(targets))
    if not keep_samples:
        return found, None
    return found, da.concatenate(samples, axis=0).reshape(*lead, len(targets), how.n_resamples)


# --- Pairs of metrics ---


@dataclass(frozen=True)
class _Tests:
    """Tests of some pairs, their observed differences, and the swaps."""

    tests: Sequence[PairTest]
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
