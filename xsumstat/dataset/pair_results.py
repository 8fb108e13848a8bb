"""Results of pairs of metrics, laid out as metric x other_metric."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat import catalogue
from xsumstat.core.types import BoolArray
from xsumstat.dataset import checks, results
from xsumstat.dataset.facts import Fact
from xsumstat.dataset.scores import Scores

DIMS = ("metric", "other_metric")
_SIDED = {"pvalue": ("forward", "backward")}


def dims(scores: Scores) -> list[str]:
    return [*DIMS, *scores.further]


def asked(scores: Scores) -> xr.DataArray:
    """Cells of metric x other_metric with two different metrics."""
    labels = scores.score.indexes["metric"]
    return different(labels, scores.rows, scores.columns, DIMS).expand_dims(scores.further).transpose(*DIMS, ...)


def different(labels: pd.Index[Any], rows: list[int], columns: list[int], dims: tuple[str, str]) -> xr.DataArray:
    """Cells of two different labels, of those at some places."""
    coords = {dim: (dim, labels[places].values) for dim, places in zip(dims, (rows, columns), strict=True)}
    return xr.DataArray(np.not_equal.outer(rows, columns), coords, dims)


def warn_undefined(difference: xr.DataArray, pairs: Sequence[tuple[int, ...]], scores: Scores) -> None:
    labels = scores.score["metric"].values.tolist()
    scores.later.make(_warn_undefined, difference, pairs, labels, scores.spreads[0])


def _warn_undefined(
    difference: xr.DataArray, pairs: Sequence[tuple[int, ...]], labels: list[Any], spread: Fact
) -> None:
    if not np.isnan(difference.values).any():
        return
    constant = checks.constant_metrics(spread.array.sel(metric=checks.as_labels(labels)))
    places = [at for at, (a, b) in enumerate(pairs) if not (constant[a] or constant[b])]
    names = [f"{labels[pairs[at][0]]} and {labels[pairs[at][1]]}" for at in places]
    left = difference.isel(_pair=places).assign_coords(_pair=names)
    checks.warn_where(left.isnull(), "undefined difference for")


def laid_out(by_pair: Mapping[Any, xr.DataArray], pairs: Sequence[tuple[int, ...]], scores: Scores) -> xr.Dataset:
    """Results of unordered pairs as metric x other_metric; signs change where the two change places."""
    cells = square({str(name): each.variable for name, each in by_pair.items()}, pairs, scores.rows, scores.columns)
    ours, theirs = (scores.score.isel(metric=each) for each in (scores.rows, scores.columns))
    return labelled(xr.Dataset(cells, coords_beside(by_pair)), ours, theirs)


def square(
    by_pair: Mapping[str, xr.Variable],
    pairs: Iterable[Sequence[int]],
    rows: Sequence[int],
    columns: Sequence[int],
    dims: tuple[str, str] = DIMS,
    *,
    analysis: Any = None,
    along: str = "_pair",
    sided: Mapping[str, tuple[str, str]] = _SIDED,
) -> dict[str, xr.Variable]:
    """Variables of unordered pairs, the lower place first, in a square; signs change where the two change places.

    `sided` names variables that are one of two, the second where the two change places.
    """
    place = {tuple(pair): at for at, pair in enumerate(pairs)}
    at = xr.Variable(dims, [[place.get((min(a, b), max(a, b)), 0) for b in columns] for a in rows])
    turned, tested = (xr.Variable(dims, each.outer(rows, columns)) for each in (np.greater, np.not_equal))
    picked = {name: each.isel({along: at}) for name, each in by_pair.items()}
    cells = {}
    for name, (forward, backward) in sided.items():
        if forward in picked:
            one, two = picked.pop(forward), picked.pop(backward)
            cells[name] = where(tested, where(turned, two, one), np.nan)
    return cells | of_pairs(picked, turned, tested, analysis)


def where(condition: xr.Variable, one: xr.Variable, other: Any) -> xr.Variable:
    """One value where a condition on the labels of a cell holds, another elsewhere; lazy where they are."""
    holds = condition.values.reshape([condition.sizes.get(dim, 1) for dim in one.dims])
    return xr.Variable(one.dims, np.where(holds, one.data, other.data if isinstance(other, xr.Variable) else other))


def of_pairs(
    picked: Mapping[str, xr.Variable], turned: xr.Variable, tested: xr.Variable, analysis: Any = None
) -> dict[str, xr.Variable]:
    """Variables of pairs in a square; signs change with the places; blank where there is no pair."""
    cells = {}
    for name, values in picked.items():
        about = catalogue.variable(name, analysis)
        if about.turned != "same":
            values = where(turned, -picked[name if about.turned == "negated" else about.turned], values)
        cells[name] = where(tested, values, about.blank)
    return cells


def coords_beside(by_pair: Mapping[Any, xr.DataArray]) -> dict[Any, xr.Variable]:
    every = (coords for each in by_pair.values() for coords in each.coords.variables.items())
    return {name: coord for name, coord in every if "_pair" not in coord.dims}


def labelled(matrices: xr.Dataset, rows: xr.DataArray, columns: xr.DataArray, dim: str = "metric") -> xr.Dataset:
    """Results over (metric, other_metric), or systems, with labels and descriptions of the rows."""
    other = f"other_{dim}"
    every = rows.coords.variables.items()
    coords = {name: coord for name, coord in every if coord.dims == (dim,) and name not in matrices.data_vars}
    coords[other] = xr.Variable(other, columns.indexes[dim])
    ordered = {
        name: values.transpose(dim, other, ..., missing_dims="ignore") for name, values in matrices.variables.items()
    }
    first = {name: values for name, values in ordered.items() if name not in coords}
    return results.assembled({**first, **coords}, {*matrices.coords, *coords}, matrices.attrs)


def symmetric(values: Any, pairs: Any, size: int) -> Any:
    """Unordered pairs (pairs, ...) as a symmetric table (size, size, ...); NaN or 0 on the diagonal."""
    blank = np.nan if values.dtype.kind == "f" else 0
    out = np.full((size, size, *values.shape[1:]), blank, dtype=values.dtype)
    out[pairs[:, 0], pairs[:, 1]] = out[pairs[:, 1], pairs[:, 0]] = values
    return out


def transposed(values: xr.DataArray, dims: tuple[str, str]) -> xr.DataArray:
    turned = values.rename(dict(zip(dims, dims[::-1], strict=True)))
    return turned.reindex({dim: values.indexes[dim] for dim in dims}).transpose(*values.dims)


def mirrored(result: xr.Dataset, pvalue: xr.DataArray) -> xr.DataArray | None:
    """Cells of a table without direction whose mirror image holds the same test; None for none."""
    about = catalogue.ANALYSES.get(str(result.attrs.get("analysis")))
    undirected = result.attrs.get("alternative") == "two-sided" or about is not None and about.undirected
    dims = pair_dims(pvalue)
    if not undirected or dims is None:
        return None
    rows, columns = (list(pvalue.indexes[dim]) for dim in dims)
    order = {label: at for at, label in enumerate([*rows, *columns])}
    both = [[a in columns and b in rows and order[a] > order[b] for b in columns] for a in rows]
    return xr.DataArray(np.array(both), dims=dims)


def pair_dims(values: xr.DataArray) -> tuple[str, str] | None:
    """The two dims of labels of one kind: systems, metrics or groups of ``by=``."""
    for dim in ("system", "metric", *map(str, values.dims)):
        if {dim, f"other_{dim}"} <= set(values.dims):
            return dim, f"other_{dim}"
    return None


def once(
    rows: Sequence[Hashable], columns: Sequence[Hashable], cells: BoolArray | None = None
) -> list[tuple[int, int]]:
    """Places (row, column) of each pair of two labels, at the first of its cells (of those that count)."""
    first: dict[frozenset[Hashable], tuple[int, int]] = {}
    for at, to in np.ndindex(len(rows), len(columns)):
        if rows[at] != columns[to] and (cells is None or cells[at, to]):
            first.setdefault(frozenset((rows[at], columns[to])), (at, to))
    return [*first.values()]


def pairs_of_groups(result: xr.Dataset) -> xr.Dataset:
    """Differences with each pair of groups once, "news − chat" along one dim; other results unchanged."""
    dims = results.group_dims(result.attrs)
    if not dims or not set(dims) <= set(result.dims):
        return result
    rows, columns = (result[dim].values.tolist() for dim in dims)
    pairs = once(rows, columns)
    at_each = np.array(pairs, dtype=int).reshape(-1, 2).T
    places = {dim: xr.DataArray(each, dims="_pair") for dim, each in zip(dims, at_each, strict=True)}
    names = [f"{rows[at]} − {columns[to]}" for at, to in pairs]
    kept = result.drop_vars([name for name, each in result.data_vars.items() if not set(dims) <= set(each.dims)])
    picked = kept.isel(places).drop_vars(dims)
    return picked.rename(_pair=dims[0]).assign_coords({dims[0]: np.array(names, dtype=object)})


def compared(difference: xr.DataArray, dims: tuple[str, str]) -> dict[Hashable, bool]:
    """Whether each label of two dims of pairs has a difference from another one."""
    there: dict[Hashable, bool] = {}
    for dim in dims:
        found = difference.notnull().any([other for other in difference.dims if other != dim]).values.tolist()
        for label, one in zip(
            np.atleast_1d(difference[dim].values).tolist(), np.atleast_1d(found).tolist(), strict=True
        ):
            there[label] = there.get(label, False) or one
    return there
