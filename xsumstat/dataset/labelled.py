"""A job run for every further label of scores, at once or lazily."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import extras
from xsumstat.core.types import FloatArray
from xsumstat.dataset import calibrated, chunking
from xsumstat.dataset.facts import CORE
from xsumstat.dataset.scores import Scores
from xsumstat.resampling import jobs, tasks
from xsumstat.resampling.jobs import Job


def run(
    job: Job[Any],
    scores: Scores,
    dim: str,
    types: Mapping[str, type],
    *,
    core: Sequence[str] = CORE,
    gold_core: Sequence[str] | None = None,
    beside: xr.DataArray | None = None,
    keep_samples: bool = False,
    progress: bool | None = None,
) -> dict[str, xr.DataArray]:
    """The numbers of a job for every further label, by name (and "samples" on `dim`, resample)."""
    # `types` has the job's numbers in order; `dim` is that of its targets; `core` and `gold_core` are no further
    # labels; `beside` has the dims "_row", `dim` and perhaps further ones.
    calibrated.refuse(scores.score)
    of_gold = scores.gold_core if gold_core is None else gold_core
    inputs = [(scores.score, core), (scores.human, of_gold), *([] if beside is None else [(beside, ["_row", dim])])]
    used = None if scores.used is None else (scores.used[0].data, scores.used[1].data)
    return over_labels(
        job, inputs, dim, types, lazy=scores.used is not None, used=used, keep_samples=keep_samples, progress=progress
    )


def over_labels(
    job: Job[Any],
    inputs: Sequence[tuple[xr.DataArray, Sequence[str]]],
    dim: str,
    types: Mapping[str, type],
    *,
    lazy: bool,
    used: tuple[Any, Any] | None = None,
    keep_samples: bool = False,
    progress: bool | None = None,
) -> dict[str, xr.DataArray]:
    """`run` for any arrays with their core dims; `used` marks systems and inputs of lazy ones."""
    arrays, cores = [each for each, _ in inputs], [list(core) for _, core in inputs]

    def all_at_once(*values: Any) -> tuple[Any, ...]:
        lead, shapes = _shapes(values, cores)
        if not lazy:
            labels = _labels(values, lead, shapes)
            numbers, samples = jobs.on_threads(job, labels, keep_samples=keep_samples, progress=progress)
            found: Any = numbers.reshape(len(types), *lead, len(job.targets))
            samples = None if samples is None else samples.reshape(*lead, len(job.targets), job.n_resamples)
        else:
            da = extras.optional("dask.array", "dask")
            values = tuple(da.broadcast_to(da.asarray(each), shape) for each, shape in zip(values, shapes, strict=True))
            found, samples = tasks.with_dask(job, *values, lead=lead, used=used, keep_samples=keep_samples)
        typed = (each.astype(kind) for kind, each in zip(types.values(), found, strict=True))
        return *typed, *([] if samples is None else [samples])

    dims = {name: [dim] for name in types} | ({"samples": [dim, "resample"]} if keep_samples else {})
    outputs = xr.apply_ufunc(
        all_at_once,
        *arrays,
        input_core_dims=cores,
        output_core_dims=list(dims.values()),
        dask="allowed",
        keep_attrs=False,
    )
    return dict(zip(dims, outputs, strict=True))


def by_label(
    function: Callable[..., Any],
    inputs: Sequence[tuple[xr.DataArray, Sequence[str]]],
    dims: Mapping[str, Sequence[str]],
    *,
    types: Mapping[str, type] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> dict[str, xr.DataArray]:
    """What a function of plain arrays gives for every further label, by name, at once or lazily.

    `inputs` are arrays with the dims that the function sees, `dims` those of each of its values (floats unless `types`
    says otherwise), `sizes` those of new dims.
    """
    kinds = types or {}
    outputs = xr.apply_ufunc(
        partial(_in_one_order, function),
        *(chunking.whole(values, core) for values, core in inputs),
        input_core_dims=[list(core) for _, core in inputs],
        output_core_dims=[list(each) for each in dims.values()],
        vectorize=True,
        dask="parallelized",
        output_dtypes=[kinds.get(name, float) for name in dims],
        dask_gufunc_kwargs={"output_sizes": sizes or {}},
        keep_attrs=False,
    )
    return dict(zip(dims, outputs if len(dims) > 1 else [outputs], strict=True))


def _in_one_order(function: Callable[..., Any], *arrays: Any) -> Any:
    """Call with arrays that lie alike in memory, whatever the order of dims: sums add, and round, in that order."""
    return function(*(np.ascontiguousarray(each) if np.ndim(each) else each for each in arrays))


def labels_of(scores: Scores) -> list[tuple[Any, ...]]:
    """Scores (metrics, systems, inputs) and gold of every further label, in the order of `run`."""
    seen: list[tuple[Any, ...]] = []
    cores = [list(CORE), scores.gold_core]

    def look(*values: Any) -> FloatArray:
        seen.extend(_labels(values, *_shapes(values, cores)))
        return np.zeros(_shapes(values, cores)[0])

    xr.apply_ufunc(look, scores.score, scores.human, input_core_dims=cores)
    return seen


def _shapes(values: Sequence[Any], cores: Sequence[Sequence[str]]) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    ends = [each.ndim - len(core) for each, core in zip(values, cores, strict=True)]
    lead = np.broadcast_shapes(*(each.shape[:end] for each, end in zip(values, ends, strict=True)))
    return lead, [(*lead, *each.shape[end:]) for each, end in zip(values, ends, strict=True)]


def _labels(values: Sequence[Any], lead: tuple[int, ...], shapes: list[tuple[int, ...]]) -> list[tuple[Any, ...]]:
    # Kernels are compiled apart for what can be written to (scores) and what cannot (arrays that are repeated).
    pairs = zip(values, shapes, strict=True)
    whole = [each if each.shape == shape else np.broadcast_to(each, shape) for each, shape in pairs]
    return [tuple(each[at] for each in whole) for at in np.ndindex(lead)]
