"""Metrics that are human scores under another name: the gold, a rater, or the raters' mean."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import calibrated, facts
from xsumstat.dataset.facts import Fact
from xsumstat.dataset.value_checks import Checks

# Values that differ by no more than this share of the larger are equal but for rounding.
_NEAR = 1e-12
# A look at so many cells tells most scores apart.
_FIRST = 64


# Kinds of metrics that are judged only where they are named.
HUMAN, COVARIATE = "human", "covariate"


def human_labels(values: xr.DataArray | xr.Dataset) -> list[Hashable]:
    return _of_kind(values, HUMAN)


def _of_kind(values: xr.DataArray | xr.Dataset, name: str) -> list[Hashable]:
    kind = values.coords.get("kind")
    if kind is None or kind.dims != ("metric",) or "metric" not in values.indexes:
        return []
    # Labels are looked at at once, also where the scores beside them are lazy.
    kind = kind.compute(scheduler="synchronous") if facts.is_lazy(kind) else kind
    return list(values.indexes["metric"][kind.values == name])


def judged(values: xr.DataArray | xr.Dataset, own: list[Hashable]) -> list[Hashable]:
    """Metrics analysed by default: no human scores or covariates; all but the gold if none is left."""
    labels = [label for label in values.indexes["metric"] if label not in own]
    unasked = {*human_labels(values), *_of_kind(values, COVARIATE)}
    return [label for label in labels if label not in unasked] or labels


def warn_of_people(
    later: Checks,
    equal: Any,
    score: xr.DataArray,
    gold: xr.DataArray,
    name: str,
    ratings: Mapping[str, xr.DataArray],
    own: Sequence[Hashable] = (),
) -> None:
    """Warn of metrics that equal the gold, a rater, or the raters' mean."""
    people = [_people(name, gold), *(_people(each, values) for each, values in ratings.items())]
    later.make(_warn, score["metric"].values.tolist(), [*own, *_known(score)], people, equal)


def warn_of_raters(score: xr.DataArray, ratings: xr.DataArray, name: str, along: str) -> None:
    equal = [equal_to(score, ratings, along)]
    _warn(score["metric"].values.tolist(), _known(score), [_people(name, ratings, along)], equal)


def _known(score: xr.DataArray) -> list[Hashable]:
    """Metrics known to be human or derived from human scores."""
    return [*human_labels(score), *calibrated.labels(score)]


def ratings_in(ds: xr.Dataset) -> dict[str, xr.DataArray]:
    """Variables with ratings by several raters; lazy where the scores are."""
    return {
        str(name): values
        for name, values in ds.data_vars.items()
        if name != "score" and {"rater", *facts.CELLS} <= set(values.dims) and values.dtype.kind in "fiub"
        if not facts.is_lazy(values) or facts.is_lazy(ds["score"])
    }


def _people(name: str, human: xr.DataArray, along: str = "rater") -> list[str]:
    if along not in human.dims:
        return [f"the gold {name!r}"]
    labels = human.indexes[along] if along in human.indexes else range(human.sizes[along])
    raters = [f"rater {rater!r} of {name!r}" for rater in labels]
    return raters if len(raters) < 2 else [f"the mean of the raters of {name!r}", *raters]


def equal_to(score: xr.DataArray, human: xr.DataArray, along: str = "rater") -> Fact:
    """Which metrics equal the gold, or the raters' mean and each rater, for some further label: (metric, person)."""
    whole = human.variable
    persons = [whole.isel({along: at}) for at in range(whole.sizes[along])] if along in whole.dims else [whole]
    if len(persons) > 1:
        persons = [whole.mean(along), *persons]
    found = []
    for person in persons:
        dims, (ours, theirs) = facts.broadcast(score.variable, person)
        equal = np.moveaxis(_equal(ours, theirs), dims.index("metric"), 0)
        found.append(equal.reshape(len(equal), -1).any(axis=1))
    return Fact(("metric", "_person"), np.array(found).T, {})


def _warn(
    labels: Sequence[Hashable],
    known: Sequence[Hashable],
    people: Sequence[Sequence[str]],
    equal: Sequence[Fact],
) -> None:
    found: dict[Hashable, str] = {}
    for names, each in zip(people, equal, strict=True):
        own: dict[Hashable, str] = {}
        for at, name in enumerate(names):
            for label in (label for label, same in zip(labels, each.values[:, at], strict=True) if same):
                own.setdefault(label, name)
        found = own | found
    texts = [f"{label!r} equals {text}" for label, text in found.items() if label not in known]
    if not texts:
        return
    more = f"; … ({len(texts)} in all)" if len(texts) > 8 else ""
    validate.warn(
        f"metrics that equal human scores: {'; '.join(texts[:8])}{more}. Their agreement says nothing about a "
        "metric: leave them out, or mark them as human in the coordinate kind(metric)",
        "leakage",
    )


def _equal(x: FloatArray, z: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether scores (..., systems, inputs) that vary are equal up to rounding on all common cells."""
    x, z = np.broadcast_arrays(x, z)
    first = max(1, _FIRST // max(1, x.shape[-2]))
    out = np.array(_near(x[..., :first], z[..., :first]).all(axis=(-2, -1)))
    for at in np.argwhere(out):
        one, two = x[tuple(at)], z[tuple(at)]
        shared = two[~(np.isnan(one) | np.isnan(two))]
        out[tuple(at)] = len(shared) and shared.max() > shared.min() and _near(one, two).all()
    return out


def _near(x: FloatArray, z: FloatArray) -> npt.NDArray[np.bool_]:
    """Where two scores are equal up to rounding, or one is missing."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(~(np.abs(x - z) > _NEAR * np.maximum(np.abs(x), np.abs(z))))
