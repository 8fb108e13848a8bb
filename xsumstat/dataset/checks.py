"""What scores must hold: an error where nothing can be computed from them, a warning where little can."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from xsumstat import _validate

_CELLS = ["system", "input"]
_FEW_SYSTEMS = 5
_OFTEN = 0.05
_NEAR = 1e-9
_MANY = 99
# A bootstrap whose bias is more than this many standard errors.
MUCH_BIAS = 0.25
BIASED = "the resamples are biased by more than a quarter of the standard error"
# How the warnings of single cells begin.
LEFT_OUT = "cells left out"


def plain_labels(values: xr.DataArray, name: str) -> xr.DataArray:
    """The same, its labels checked: each once, of one level, and categories as what they stand for."""
    for dim in (str(dim) for dim in values.dims if dim in values.indexes):
        labels = values.indexes[dim]
        if isinstance(labels, pd.MultiIndex):
            raise ValueError(
                f"{name} has a MultiIndex along {dim!r}, and needs one label for each {dim}: ds.reset_index({dim!r})."
                f'assign_coords({dim}=["/".join(map(str, each)) for each in ds.indexes[{dim!r}]]) makes them; the '
                "levels stay coordinates"
            )
        _validate.unique(f"dim {dim!r} of {name}", labels)
        if isinstance(labels.dtype, pd.CategoricalDtype):
            values = values.assign_coords({dim: np.array(labels.tolist(), dtype=object)})
    return values


def check_numbers(values: xr.DataArray, name: str) -> None:
    """No infinite value; NaN is a missing score."""
    infinite = np.argwhere(np.isinf(values.values))
    if len(infinite):
        first = zip(values.dims, infinite[0], strict=True)
        place = {str(dim): values.indexes[dim].tolist()[at] for dim, at in first if dim in values.indexes}
        raise ValueError(f"{name} has {len(infinite)} infinite value(s), the first at {place}; a missing score is NaN")


def check_sizes(score: xr.DataArray, level: str | None) -> None:
    """Some systems and inputs, and enough of them for a correlation at a level."""
    systems, inputs = score.sizes["system"], score.sizes["input"]
    for dim, size in (("system", systems), ("input", inputs)):
        if size == 0:
            raise ValueError(f"score has no {dim}: dim {dim!r} has length 0")
    if level is None:
        return
    needed = {"system": "system", "input": "system", "within_system": "input"}.get(level)
    size = score.sizes[needed] if needed else systems * inputs
    if size < 2:
        raise ValueError(f"level={level!r} correlates over {needed or 'cell'}s and needs at least 2, got {size}")
    if needed == "system" and systems < _FEW_SYSTEMS:
        _validate.warn(f"only {systems} systems: a correlation over so few says little")


def check_resampled(score: xr.DataArray, dims: tuple[str, ...]) -> None:
    """More than one label to draw from, in some dim that is resampled."""
    if all(score.sizes.get(dim, score.sizes["system"] * score.sizes["input"]) == 1 for dim in dims):
        raise ValueError(f"resample={'/'.join(dims)!r} has only one label to draw, so that nothing can vary")


def usable(score: xr.DataArray, gold: xr.DataArray, missing: str, dim: str) -> xr.DataArray:
    """Which labels of `dim` some comparison could use; lazy where the scores are."""
    human, automatic = gold.notnull(), score.notnull()
    if missing == "available":
        one, two = _any_along(human, dim), _any_along(automatic, dim)
        return one & two if dim == "system" else one | two
    return _any_along(human & automatic, dim)


def _any_along(condition: xr.DataArray, dim: str) -> xr.DataArray:
    return condition.any([other for other in condition.dims if other != dim])


def without_empty(
    score: xr.DataArray, gold: xr.DataArray, missing: str, dropped: dict[str, list[Hashable]]
) -> tuple[xr.DataArray, xr.DataArray]:
    """Without the systems and inputs that no comparison could use; they are reported, and added to `dropped`."""
    used = {dim: usable(score, gold, missing, dim).values for dim in _CELLS}
    if not (used["system"].any() and used["input"].any()):
        if bool(gold.notnull().any()) and bool(score.notnull().any()):
            raise ValueError("gold and score are never there together: no cell has both; NaN is a missing score")
        return score, gold
    for dim, kept in used.items():
        if kept.all():
            continue
        lost = score.indexes[dim][~kept].tolist() if dim in score.indexes else np.flatnonzero(~kept).tolist()
        dropped.setdefault(dim, []).extend(lost)
        _validate.warn(
            f"{len(lost)} {dim}(s) have no cell with both gold and a score and are left out: {_validate.listing(lost)}"
        )
    return score.isel(used), gold.isel(used)


def check_gold(gold: xr.DataArray, name: str) -> None:
    """Gold that varies, at least for some label of its further dims."""
    if not bool(gold.notnull().any()):
        raise ValueError(f"gold {name!r} has no score at all: every value is NaN")
    spread = _spread(gold)
    if bool((spread.fillna(0) == 0).all()):
        raise ValueError(f"gold {name!r} is constant, so that no correlation with it is defined")
    warn_where(spread == 0, f"gold {name!r} is constant")
    warn_where(spread.isnull(), f"gold {name!r} has no score")


def check_metrics(score: xr.DataArray, *, constant: bool = False) -> None:
    """Metrics that have scores, and that vary unless they may be constant."""
    spread = _spread(score)
    empty = spread.isnull()
    whole = empty.all([dim for dim in empty.dims if dim != "metric"])
    if bool(whole.any()):
        labels = whole.metric.values[whole.values]
        raise ValueError(
            f"metric(s) {_validate.listing(labels.tolist())} have no score at all: every value is NaN; "
            "leave them out with ds.drop_sel(metric=[...])"
        )
    warn_where(empty, "no score for metric")
    if not constant:
        warn_where(spread == 0, "constant scores, whose correlation is undefined, for metric")


def _spread(values: xr.DataArray) -> xr.DataArray:
    return values.max(_CELLS) - values.min(_CELLS)


def report_gaps(score: xr.DataArray, gold: xr.DataArray, missing: str) -> None:
    """Say which metrics lack whole systems or inputs that others have, and how many other cells are left out."""
    # A rater need not have rated all, nor a reference be there for all, that others did or are.
    automatic = score.notnull().any([dim for dim in ("reference", "rater") if dim in score.dims])
    human = gold.notnull().any([dim for dim in ("reference", "rater") if dim in gold.dims])
    cells = automatic if missing == "available" else automatic & human
    alone = automatic ^ human
    labels = score["metric"].values
    for dim in _CELLS:
        there = cells.any([other for other in cells.dims if other not in ("metric", dim)])
        alone = alone & there
        what = f"metrics compared on fewer {dim}s, as they have no cell on the others"
        _warn_of_counts(what, labels, (~there).sum(dim).transpose("metric", ...).values, score.sizes[dim], "metrics")
    if missing != "available":
        counts = alone.sum([dim for dim in alone.dims if dim != "metric"]).values
        what = f"{LEFT_OUT}, as only one of metric and gold has a score there"
        _warn_of_counts(what, labels, counts, alone.size // max(1, len(labels)), "metrics")


def report_gaps_of_pairs(score: xr.DataArray, gold: xr.DataArray | None, pairs: Iterable[Sequence[int]]) -> None:
    """Say how many cells (with gold, if any) are left out of pairs of metrics, as only one of the two has them."""
    there = score.notnull() if gold is None else score.notnull() & gold.notnull()
    if bool((there == there.isel(metric=0, drop=True)).all()):
        return
    flat = there.transpose("metric", ...).values.reshape(there.sizes["metric"], -1).astype(float)
    both, single = flat @ flat.T, flat.sum(axis=1)
    names, counts = [], []
    for a, b in pairs:
        names.append(f"{score['metric'].values[a]} and {score['metric'].values[b]}")
        counts.append(int(single[a] + single[b] - 2 * both[a, b]))
    what = f"{LEFT_OUT}, as only one metric of a pair has a score there"
    _warn_of_counts(what, names, counts, flat.shape[1], "pairs")


def _warn_of_counts(message: str, names: Iterable[Any], counts: Iterable[int], size: int, what: str) -> None:
    """Warn of the counts that are not 0, each with its name, the first few of them."""
    texts = [f"{name} ({count} of {size})" for name, count in zip(names, counts, strict=True) if count]
    if texts:
        more = f", … ({len(texts)} {what} in all)" if len(texts) > 8 else ""
        _validate.warn(f"{message}: {', '.join(texts[:8])}{more}")


def warn_where(condition: xr.DataArray, message: str) -> None:
    """Warn when the condition holds somewhere, and name the labels where it does."""
    if not bool(condition.any()):
        return
    if condition.ndim == 0:
        _validate.warn(message)
        return
    names = [_labels(condition, dim) for dim in condition.dims]
    places = np.argwhere(condition.values)
    texts = ["/".join(labels[at] for labels, at in zip(names, place, strict=True)) for place in places]
    _validate.warn(f"{message} {_validate.listing(texts)}")


def _labels(values: xr.DataArray, dim: Hashable) -> list[str]:
    labels: Any = values.indexes[dim] if dim in values.indexes else range(values.sizes[dim])
    return [str(label) for label in labels]


def warn_undefined(statistic: xr.DataArray, score: xr.DataArray, gold: xr.DataArray, why: str) -> None:
    """Warn of results that are NaN, unless a constant or missing score explained them already."""
    explained = (_spread(score).fillna(0) == 0) | (_spread(gold).fillna(0) == 0)
    warn_where(statistic.isnull() & ~explained, why)


def constant_metrics(score: xr.DataArray) -> npt.NDArray[np.bool_]:
    """Which metrics are constant, or have no score, for some further label: their correlation is undefined there."""
    flat = _spread(score).fillna(0) == 0
    return np.asarray(flat.any([dim for dim in flat.dims if dim != "metric"]).values)


def warn_resamples(n_undefined: xr.DataArray, n_resamples: int) -> None:
    """Warn where more than 5 % of the resamples, though not all, leave the statistic undefined."""
    often = (n_undefined > _OFTEN * n_resamples) & (n_undefined < n_resamples)
    warn_where(often, f"more than 5 % of the {n_resamples} resamples are undefined, and left out, for")


def warn_outside(found: xr.Dataset, name: str, n_resamples: int) -> None:
    """Warn of intervals that do not hold the estimate, of so many resamples that it is no accident."""
    if n_resamples < _MANY:
        return
    near = _NEAR * np.maximum(1.0, np.abs(found[name]))
    outside = (found[name] < found["ci_low"] - near) | (found[name] > found["ci_high"] + near)
    warn_where(outside, "the resamples are biased: intervals that do not hold the estimate (try interval='bca'), for")


def warn_biased(found: xr.Dataset, n_resamples: int) -> None:
    """Warn of percentile intervals whose samples lie beside the estimate, where they are many enough to tell."""
    if n_resamples >= _MANY:
        biased = abs(found["bias"]) > MUCH_BIAS * found["standard_error"]
        consequence = "percentile intervals may miss the true value too often (method='jackknife' corrects for it)"
        warn_where(biased, f"{BIASED}, so that {consequence}, for")


def is_lazy(values: xr.DataArray) -> bool:
    """Whether values are a Dask array, to be computed later."""
    return values.chunks is not None


def whole(values: xr.DataArray, dims: Iterable[str]) -> xr.DataArray:
    """The same, where it is lazy with one chunk along each of these dims."""
    if not is_lazy(values):
        return values
    chunks = {values.get_axis_num(dim): -1 for dim in dims if dim in values.dims}
    return values.copy(data=values.data.rechunk(chunks))  # `values.chunk` would compute coordinates of objects
