"""Which labels a judge gives, by human label: `confusion`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat import catalogue
from xsumstat.analyses import groups as slices
from xsumstat.coefficients import arrays
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import facts, labelled, results, scale_checks
from xsumstat.dataset import scores as schema

LABELS = ("human_label", "judge_label")


@validate.public
def confusion(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    along: str | None = None,
    by: str | None = None,
) -> xr.Dataset:
    """Count the labels that each judge gives, by human label.

    Parameters
    ----------
    {ds gold metric}
    along : str, optional
        Dim of the raters in gold: the judge's label is counted with the label of each single rater.
    {by}

    {dataset}
        On (metric, human_label, judge_label, ...): ``n_outputs`` with these two labels (with `along`: ratings), and
        ``share``, their share of those with this human label (NaN without any). Labels are texts if
        ``to_scores(labels=)`` coded them.

    Notes
    -----
    A metric with values that raters never give raises an error: use ``ds.meta.calibrate(..., grades=True)``. So do
    human scores with more than 50 values.

    {demo}
    >>> passed = ds.assign(score=(ds.score > 50) * 1.0)
    >>> passed.meta.confusion("human", metric="judge").n_outputs.values
    array([[[ 23,  58],
            [  9, 270]]])
    """
    scores = schema.prepare(ds, gold, metric, level="global", missing="pairwise", constant=True, these_systems=True)
    if along is not None:
        validate.known("along", along, [str(dim) for dim in scores.gold.dims if dim not in facts.CELLS], "dims of gold")
    known = scale_checks.classes_of(scores)
    whole = _table(scores, known, slice(None), "system", along)
    if by is None:
        return whole
    dim, _, names = slices.groups_of(ds, "by", by, facts.CELLS)
    if by in catalogue.RESERVED or catalogue.ALL in names:
        raise ValueError(f"by={by!r} is, or has a group that is, a name that results need; rename it")
    places = slices.members_in(scores.score, by, names).values()
    tables = [*(_table(scores, known, at, dim, along) for at in places), whole]
    found = slices.joined(tables, pd.Index([*names, catalogue.ALL], name=by, dtype=object))
    return found.transpose("metric", by, *LABELS, ...).assign_attrs({**whole.attrs, "by": by})


def _table(scores: schema.Scores, known: FloatArray, at: Any, dim: str, along: str | None) -> xr.Dataset:
    score = scores.score.isel(metric=scores.rows)
    counts = _counts(score.isel({dim: at}), scores.gold.isel({dim: at} if dim in scores.gold.dims else {}), known)
    if along is not None:
        counts = counts.sum(along)
    of_row = counts.sum(LABELS[1])
    found = xr.Dataset({"n_outputs": counts, "share": counts / of_row.where(of_row > 0)})
    if scores.gold_turned:  # labels as people gave them
        found, known = found.isel(dict.fromkeys(LABELS, slice(None, None, -1))), -known[::-1]
    coords = {name: coord for name, coord in score.coords.items() if coord.dims == ("metric",)}
    texts = scale_checks.as_texts(known, scores.labels)
    found = found.assign_coords({**coords, **{name: (name, np.array(texts, dtype=object)) for name in LABELS}})
    return results.result(
        found.transpose("metric", *LABELS, ...),
        scores,
        analysis="confusion",
        **({} if along is None else {"along": along}),
    )


def _counts(x: xr.DataArray, z: xr.DataArray, known: FloatArray) -> xr.DataArray:
    def each(x: FloatArray, z: FloatArray) -> Any:
        there = arrays.present(x, z)
        places = [np.searchsorted(known, values[there]) for values in (z, x)]
        table = np.zeros((len(known) + 1, len(known) + 1), dtype=np.int64)
        np.add.at(table, tuple(places), 1)
        return table[:-1, :-1]

    inputs, sizes = [(x, facts.CELLS), (z, facts.CELLS)], dict.fromkeys(LABELS, len(known))
    return labelled.by_label(each, inputs, {"n_outputs": LABELS}, types={"n_outputs": int}, sizes=sizes)["n_outputs"]
