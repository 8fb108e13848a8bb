"""Locates scores and human scores in a Dataset, and checks their dims, labels and types."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.catalogue import RESERVED
from xsumstat.core import arguments, validate
from xsumstat.core.method_synonyms import COLUMNS
from xsumstat.core.synonyms import spelt
from xsumstat.dataset import chunking, directions
from xsumstat.dataset.facts import CORE


@validate.public
def set_dims(
    ds: xr.Dataset, *, metric: str | None = None, system: str | None = None, input: str | None = None
) -> xr.Dataset:
    """Rename the dims of a Dataset to `metric`, `system` and `input`.

    Parameters
    ----------
    ds : Dataset
        Any Dataset; it is not changed.
    metric, system, input : str, optional
        Present name of each dim to rename.

    Returns
    -------
    Dataset
        The same data with dims (and coordinates of these names) renamed.

    Examples
    --------
    >>> import xarray as xr, xsumstat
    >>> ds = xr.Dataset({"score": (("metric", "model", "doc"), [[[1.0, 2.0], [3.0, 4.0]]])})
    >>> dict(xsumstat.set_dims(ds, system="model", input="doc").sizes)
    {'metric': 1, 'system': 2, 'input': 2}
    """
    given = {"metric": metric, "system": system, "input": input}
    renames: dict[Hashable, Hashable] = {}
    for new, old in given.items():
        if old is None or validate.column(new, old) == new:
            continue
        if old not in ds.dims:
            hint = validate.suggestion(old, [str(dim) for dim in ds.dims])
            raise ValueError(f"{new}={old!r} is not a dim{hint} dims: {validate.listing(ds.dims)}")
        if new in ds.variables or new in ds.dims:
            raise ValueError(f"cannot rename {old!r} to {new!r}: the Dataset has a {new!r} already")
        renames[old] = new
    return ds.rename(renames)


def checked_scores(ds: xr.Dataset) -> xr.DataArray:
    if "score" not in ds.data_vars:
        raise ValueError(_no_score(ds))
    score = ds["score"]
    lacking = [dim for dim in CORE if dim not in score.dims]
    if lacking:
        single = [dim for dim in lacking if dim in score.coords]
        way_out = (
            f"keep it by selecting a list, as in sel({single[0]}=[...])"
            if single
            else f"rename with ds = xsumstat.set_dims(ds, {_renamed(score, lacking)})"
            if arguments.in_python()
            else "rename its dims in Python, by xsumstat.set_dims"
        )
        raise ValueError(
            f"score must have {validate.named('dim', lacking)}, got {validate.listing(score.dims)}; {way_out}"
        )
    directions.check(ds)
    if "metric" not in score.coords:
        score = score.assign_coords(metric=np.arange(score.sizes["metric"]))
    score = checked(score, "score")
    unneeded = [name for name in score.coords if name in RESERVED]
    return score.drop_vars(unneeded) if unneeded else score


def _no_score(ds: xr.Dataset) -> str:
    numbers = [name for name, values in ds.data_vars.items() if values.dtype.kind in "fiub"]
    likely = next((name for name in numbers if set(CORE) <= set(ds[name].dims)), None)
    way = f"; rename one: ds = ds.rename({{{likely!r}: 'score'}})" if likely is not None else ""
    variables = validate.listing(ds.data_vars) or "none"
    return (
        f"the Dataset has no variable 'score' with the metrics' scores{arguments.only_in_python(way)}; variables: "
        f"{variables}"
    )


def _renamed(score: xr.DataArray, lacking: Sequence[str]) -> str:
    """Keywords of `set_dims` for dims that scores lack, by usual names, or by the only dim that is left."""
    free = [str(dim) for dim in score.dims if dim not in CORE]
    found = {dim: next((each for each in free if spelt(each) in COLUMNS[dim]), None) for dim in lacking}
    if len(lacking) == 1 and len(free) == 1:
        found = {lacking[0]: free[0]}
    return ", ".join(f"{dim}={'...' if name is None else repr(name)}" for dim, name in found.items())


def checked(values: xr.DataArray, name: str) -> xr.DataArray:
    """Values as float64, checked for repeated labels, dims of results, and infinities (in memory)."""
    taken = [dim for dim in values.dims if dim in RESERVED or str(dim).startswith("_")]
    if taken:
        raise ValueError(f"{name} has the dim {taken[0]!r}, a name that results need; rename it")
    if values.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold numbers, got dtype {values.dtype}; convert with .astype(float)")
    values = plain_labels(values, name)
    values = values if values.dtype == np.float64 else values.astype(np.float64, keep_attrs=True)
    check_numbers(values, name)
    return chunking.chunked_by_metric(values)


def plain_labels(values: xr.DataArray, name: str) -> xr.DataArray:
    """Values with checked labels: unique, one level, categories as plain values."""
    indexes = values.indexes
    for dim in (str(dim) for dim in values.dims if dim in indexes):
        labels = indexes[dim]
        if isinstance(labels, pd.MultiIndex):
            raise ValueError(
                f"{name} has a MultiIndex along {dim!r}, and needs one label for each {dim}: ds.reset_index({dim!r})."
                f'assign_coords({dim}=["/".join(map(str, each)) for each in ds.indexes[{dim!r}]]) makes them; the '
                "levels stay coordinates"
            )
        if labels.dtype == object or not labels.is_unique:  # objects need not be hashable
            validate.unique(f"dim {dim!r} of {name}", labels)
        if isinstance(labels.dtype, pd.CategoricalDtype):
            values = values.assign_coords({dim: np.array(labels.tolist(), dtype=object)})
    return values


def check_numbers(values: xr.DataArray, name: str) -> None:
    """Raise for infinite values in memory."""
    if chunking.is_lazy(values):
        return
    infinite = np.argwhere(np.isinf(values.values))
    if len(infinite):
        first = zip(values.dims, infinite[0], strict=True)
        place = {str(dim): values.indexes[dim].tolist()[at] for dim, at in first if dim in values.indexes}
        raise ValueError(
            f"{name} has {validate.counted(len(infinite), 'infinite value')}, the first at {place}; a missing "
            f"score is NaN"
        )
