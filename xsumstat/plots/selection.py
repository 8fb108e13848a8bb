"""Which metrics, systems or inputs a picture shows, and in which order."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import align, left_out
from xsumstat.plots import captions

MOST = 20  # metrics that a picture shows unless others are named
ORDERS = ("value", "name", "given")


def gold_unless(ds: xr.Dataset, metric: Any) -> Any:
    """The metrics asked for, or by default the gold, if it is a metric."""
    gold = ds.attrs.get("gold")
    return gold if metric is None and "metric" in ds.indexes and gold in ds.indexes["metric"] else metric


def check_same_measure(result: xr.Dataset, other: xr.Dataset, name: str) -> None:
    """Raise unless a result that is drawn beside another, its keyword `name`, has its coefficient and level."""
    for attr in ("coefficient", "level"):
        own, theirs = result.attrs.get(attr), other.attrs.get(attr)
        if own != theirs and attr not in result.coords:
            raise ValueError(f"{name} must be of the {attr} of the result, {own!r}, not {theirs!r}")


def first_metrics(score: xr.DataArray, metric: Any) -> tuple[xr.DataArray, str]:
    """Scores of all metrics, or, unless they are named, of the first ones, with a note."""
    n = score.sizes["metric"]
    if metric is not None or n <= MOST:
        return score, ""
    return score.isel(metric=slice(MOST)), f"the first {MOST} of {n} metrics; metric= names others"


def as_given(ds: xr.Dataset, score: xr.DataArray) -> xr.DataArray:
    """Scores in memory as given, without the negation of metrics that are better when lower."""
    given = ds["score"].sel(metric=score["metric"]) if "metric" in ds.indexes else ds["score"]
    return align.without_coords(given.transpose(*score.dims).astype(float).compute())


def check_not_empty(values: xr.DataArray) -> None:
    if values.size == 0:
        raise ValueError("the result is empty: there is nothing to draw")


def shown(
    result: xr.Dataset,
    variable: str,
    *,
    metric: Any = None,
    order: Any = "value",
    dims: tuple[str, ...] = ("metric",),
    most: int | None = MOST,
    highlight: Any = None,
) -> tuple[xr.Dataset, str]:
    """The part of a result to show, its metrics in order, and a note of those left out.

    `variable`, averaged over all dims except the first of `dims`, is the value of a metric; `dims` are ("metric",), or
    ("metric", "other_metric") for a matrix. At most `most` labels,
    and those to `highlight`, are shown unless `metric` or `order` names them. Raises ValueError if nothing is left.
    """
    check_not_empty(result[variable])
    dim = dims[0]
    labels = np.ravel(result[dim].values).tolist() if dim in result.coords or dim in result.dims else []
    listed = metric is not None or validate.is_list(order)
    chosen = validate.listed(metric) if metric is not None else labels
    if validate.is_list(order):
        for label in order:
            validate.column("label in order", label)
        chosen, order = [label for label in dict.fromkeys(order) if metric is None or label in chosen], "given"
    for label in chosen:
        validate.known(dim if metric is not None else "label in order", label, labels, f"{dim}s")
    validate.choice("order", order, ORDERS)
    if dim not in result.dims:
        return result, ""
    if order == "value":
        values = result[variable].astype(float)
        mean = values.mean([other for other in values.dims if other != dim]).values
        value_of = dict(zip(labels, np.where(np.isnan(mean), -np.inf, mean), strict=True))
        unranked = left_out.unranked(result)
        chosen = sorted(chosen, key=lambda label: (label in unranked, -value_of[label]))
    elif order == "name":
        chosen = sorted(chosen, key=str)
    wanted = [] if highlight is None else validate.listed(highlight)
    for label in wanted:
        validate.known("highlight", label, labels, f"{dim}s")
    note = ""
    if not listed and most is not None and len(chosen) > most:
        largest, keyword = ("best", "metric") if dim == "metric" else ("largest", "order")
        which = {"value": largest, "name": "first by name", "given": "first"}[order]
        further = [label for label in chosen[most:] if label in wanted]
        also = f" and {validate.counted(len(further), 'highlighted one')}" if further else ""
        note = f"the {most} {which}{also} of {len(chosen)} {dim}s; {keyword}= names others"
        chosen = [*chosen[:most], *further]
    for each in dims:
        there = set(result[each].values.tolist())
        result = result.isel({each: [result[each].values.tolist().index(label) for label in chosen if label in there]})
    check_not_empty(result[variable])
    return result, note


def further_dims(values: xr.DataArray, *core: str, hue: str | None = None) -> list[str]:
    """The dims beside those of a single panel; raises ValueError if `hue` is none of them."""
    further = [str(dim) for dim in values.dims if dim not in core]
    if hue is not None:
        validate.known("hue", hue, further, "additional dims")
    return further


def with_dims(result: xr.Dataset, *dims: str) -> xr.Dataset:
    """The result with these dims, also where a single label was selected."""
    return result.expand_dims([dim for dim in dims if dim not in result.dims])


def without_empty(panels: list[tuple[str, xr.Dataset]], variable: str) -> list[tuple[str, xr.Dataset]]:
    """Panels with a value, as a metric is not compared with itself; the first one if none has any."""
    return [each for each in panels if bool(each[1][variable].notnull().any())] or panels[:1]


def beside_all(differences: xr.DataArray, sides: tuple[str, str]) -> xr.DataArray:
    """Differences of pairs, 0 for a label with itself, so means over the others give an order."""
    down, across = sides
    if {down, across} <= set(differences.coords):
        differences = differences.where(differences[down] != differences[across], 0.0)
    return differences.astype(float)


def with_values(result: xr.Dataset, variable: str, dim: str) -> tuple[xr.Dataset, str]:
    """The part of a result whose labels have a value, and a note that names the others."""
    there = result[variable].notnull().any([each for each in result[variable].dims if each != dim]).values
    lacking = captions.texts(result[dim][~there]) if dim in result.coords and not there.all() else []
    if "other_metric" in result.coords:
        only = {str(label) for label in np.atleast_1d(result["other_metric"].values)}
        lacking = [name for name in lacking if only != {name}]
    return result.isel({dim: there}) if there.any() else result, f"undefined: {', '.join(lacking)}" if lacking else ""
