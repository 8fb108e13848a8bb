"""Human scores in a Dataset: the gold, ratings by several raters, and the texts that scores stand for."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.core import arguments, validate
from xsumstat.core.method_synonyms import COLUMNS
from xsumstat.core.synonyms import spelt
from xsumstat.dataset import chunking, directions, locate, text_attrs
from xsumstat.dataset.facts import CELLS


def find_gold(
    ds: xr.Dataset, score: xr.DataArray, gold: Any, argument: str = "gold"
) -> tuple[xr.DataArray, str, list[Hashable]]:
    labels = list(score.indexes["metric"])
    metrics = validate.listing(labels, 30)
    source = ""
    if gold is None:
        gold, source = ds.attrs.get("gold"), " (from ds.attrs['gold'])"
        if gold is None:
            raise ValueError(
                f"{argument} is not given, and ds.attrs['gold'] is not set; pass the label of the human scores, e.g. "
                f"{arguments.given(argument, _likely_gold(score, labels))}; metrics: {metrics}"
            )
    if isinstance(gold, xr.DataArray):
        own = [gold.coords["metric"].item()] if "metric" in gold.coords and "metric" not in gold.dims else []
        name = own[0] if own else "gold" if gold.name is None else gold.name
        return locate.checked(gold, "gold"), str(name), own
    if isinstance(gold, xr.Dataset | pd.Series | pd.DataFrame | pd.Index | list | set | dict | np.ndarray):
        raise TypeError(
            f"{argument} must be one metric label, the name of a variable, or a DataArray, got {type(gold).__name__}; "
            "for several at once pass ds.score.sel(metric=[...]).rename(metric='quality')"
        )
    is_variable = isinstance(gold, str) and gold in ds.variables and gold != "score" and gold not in ds.dims
    if gold in labels:
        if is_variable and gold in ds.data_vars:
            raise ValueError(
                f"{argument} {gold!r} names both a metric and a variable; pass ds[{gold!r}], or rename one"
            )
        return score.isel(metric=labels.index(gold)), str(gold), [gold]
    if is_variable:
        return directed(ds, locate.checked(ds[gold], "gold")), gold, []
    variables = [str(name) for name in ds.data_vars if name != "score"]
    more = f"; variables: {validate.listing(variables)}" if variables else ""
    hint = validate.suggestion(gold, [*labels, *variables])
    whose = next((name for name, each in ratings_in(ds).items() if gold in each.indexes.get("rater", ())), None)
    one = f"; {gold!r} is a rater: pass ds[{whose!r}].sel(rater={gold!r})" if whose is not None else ""
    raise ValueError(
        f"unknown {argument} {gold!r}{source}{hint} metrics: {metrics}{more}{arguments.only_in_python(one)}"
    )


def directed(ds: xr.Dataset, ratings: xr.DataArray, along: str = "rater") -> xr.DataArray:
    """Ratings with the direction of their mean, the human scores of `ds`, where lower is better."""
    mean, better = ds.attrs.get("gold"), ds.coords.get(directions.NAME)
    if better is None or better.dims != ("metric",) or along not in ratings.dims:
        return ratings
    if ratings.name != "rating" and sum(along in each.dims for each in ds.data_vars.values()) > 1:
        return ratings  # of something else than the mean is of
    if mean not in ds.indexes["metric"] or bool(better.sel(metric=mean).compute()):
        return ratings
    return ratings.assign_coords({directions.NAME: False})


def _likely_gold(score: xr.DataArray, labels: Sequence[Hashable]) -> Hashable:
    """The metric that may be the human scores, by its kind or its name; else the first."""
    kinds = score.coords["kind"].values.tolist() if "kind" in score.coords else [None] * len(labels)
    of_people = [label for label, kind in zip(labels, kinds, strict=False) if kind == "human"]
    usual = [label for label in labels if spelt(str(label)) in COLUMNS["gold"]]
    return next(iter([*of_people, *usual, *labels]))


def ratings_in(ds: xr.Dataset) -> dict[str, xr.DataArray]:
    """Variables with ratings by several raters; lazy where the scores are."""
    return {
        str(name): values
        for name, values in ds.data_vars.items()
        if name != "score" and {"rater", *CELLS} <= set(values.dims) and values.dtype.kind in "fiub"
        if not chunking.is_lazy(values) or chunking.is_lazy(ds["score"])
    }


def texts_of(ds: xr.Dataset) -> tuple[str, ...]:
    """Texts that scores 0, 1, ... stand for, from `to_scores(labels=)`."""
    return text_attrs.listed(ds, "labels")
