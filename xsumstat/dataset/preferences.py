"""Requirements of preferences: choices between two systems' outputs for a prompt, in an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.coefficients import arrays
from xsumstat.core import validate
from xsumstat.core.types import BoolArray, FloatArray, IntArray

NAME = "preference"
DIMS = ("prompt", "pair", "order", "rater")
ORDERS = ("left first", "right first")
HUMAN, JUDGE = "human", "judge"
# What the human raters together are called among raters.
PEOPLE = "people"


def is_preferences(ds: Any) -> bool:
    return isinstance(ds, xr.Dataset) and NAME in ds.data_vars and "analysis" not in ds.attrs


@dataclass(frozen=True)
class Choices:
    values: FloatArray  # (prompts, pairs, orders, raters): 1 left, −1 right, 0 tie, NaN none
    systems: tuple[Any, ...]
    left: IntArray  # (pairs,), places among `systems`, as `right`
    right: IntArray
    raters: tuple[Any, ...]
    human: BoolArray  # (raters,)
    clusters: IntArray  # (prompts,), by the coordinate `cluster`; empty without one
    cluster: str = ""

    @property
    def verdicts(self) -> FloatArray:
        """One choice for both orders, (prompts, pairs, raters): a tie if they differ."""
        found = self.values[:, :, 0]
        for at in range(1, self.values.shape[2]):
            other = self.values[:, :, at]
            both = ~np.isnan(found) & ~np.isnan(other)
            found = np.where(np.isnan(found), other, np.where(both & (found != other), 0.0, found))
        return found

    def by_cluster(self, values: FloatArray) -> FloatArray:
        """Sums over the prompts of each cluster, for values (prompts, ...)."""
        return arrays.summed(values, self.clusters)

    def judges(self, rater: Any) -> list[int]:
        return self._chosen(rater, np.flatnonzero(~self.human).tolist(), "judges")

    def any_of(self, rater: Any) -> list[int]:
        return self._chosen(rater, list(range(len(self.raters))), "raters")

    def _chosen(self, rater: Any, places: list[int], what: str) -> list[int]:
        known = [self.raters[at] for at in places]
        if rater is None:
            return places
        asked = validate.listed(rater)
        for label in asked:
            validate.known("rater", label, known, what)
        validate.unique("rater", asked)
        return [places[known.index(label)] for label in asked]

    def needs_people(self, question: str) -> None:
        if not self.human.any():
            raise ValueError(
                f"{question} compares judges with humans, and no rater has the kind 'human': name them, as in "
                "to_preferences(frame, ..., kind={'human': ['ann', 'ben']}) or ds.assign_coords(kind=('rater', [...]))"
            )

    def needs_judges(self, question: str) -> None:
        if self.human.all():
            raise ValueError(
                f"{question} compares judges with humans, and no rater has the kind 'judge'; "
                f"raters: {validate.listing(self.raters)}"
            )


def checked(ds: Any, cluster: str | None = None) -> Choices:
    if not isinstance(ds, xr.Dataset) or NAME not in ds:
        raise ValueError(
            f"the Dataset has no variable {NAME!r}: xsumstat.to_preferences(frame, left=..., right=..., choice=..., "
            "prompt=...) makes such a Dataset"
        )
    values = ds[NAME]
    for dim in DIMS:
        single = dim == "order" or dim in values.coords and not values.coords[dim].dims
        if dim not in values.dims and single:
            values = values.expand_dims(dim)
    lacking = [dim for dim in DIMS if dim not in values.dims]
    if lacking:
        raise ValueError(f"{NAME} must have the dims {validate.listing(DIMS)}; {lacking[0]!r} is missing")
    further = [str(dim) for dim in values.dims if dim not in DIMS]
    if further:
        raise ValueError(f"{NAME} has the additional dim {further[0]!r}: choose a label of it, ds.isel({further[0]}=0)")
    for dim in ("prompt", "pair", "rater"):
        _check_labels(values, dim)
    numbers = values.transpose(*DIMS)
    if numbers.dtype.kind not in "fiub":
        raise TypeError(f"{NAME} must hold numbers, got dtype {numbers.dtype}")
    array = np.asarray(numbers.values, dtype=float)
    _check_values(array)
    left, right = (_sides(values, side) for side in ("left", "right"))
    systems = list(dict.fromkeys(sorted([*left, *right], key=str)))
    places = {label: at for at, label in enumerate(systems)}
    codes, named = _clusters(values, ds.attrs.get("cluster") if cluster is None else cluster)
    return Choices(
        array,
        tuple(systems),
        np.array([places[label] for label in left], dtype=np.int64),
        np.array([places[label] for label in right], dtype=np.int64),
        tuple(values["rater"].values.tolist()),
        _human(values),
        codes,
        named,
    )


def _check_labels(values: xr.DataArray, dim: str) -> None:
    index = values.indexes.get(dim)
    if index is None:
        raise ValueError(f"{NAME} has no labels along {dim!r}: ds.assign_coords({dim}=[...]) gives some")
    if isinstance(index, pd.MultiIndex):
        raise ValueError(f"{NAME} has a MultiIndex along {dim!r}; ds.reset_index({dim!r}).assign_coords({dim}=[...])")
    validate.unique(dim, index)


def _check_values(values: FloatArray) -> None:
    there = values[~np.isnan(values)]
    if not there.size:
        raise ValueError(f"{NAME} holds no choice")
    wrong = there[~np.isin(there, (-1.0, 0.0, 1.0))]
    if wrong.size:
        raise ValueError(
            f"{NAME} must be 1 (the left system of the pair), -1 (the right one), 0 (a tie) or NaN, got {wrong[0]:g}"
        )


def _sides(values: xr.DataArray, side: str) -> list[Any]:
    coord = values.coords.get(side)
    if coord is None or coord.dims not in (("pair",), ()):
        raise ValueError(f"{NAME} needs the coordinate {side!r}, which names the {side} system of each pair")
    labels: list[Any] = np.ravel(coord.values).tolist()
    return labels


def _human(values: xr.DataArray) -> BoolArray:
    coord = values.coords.get("kind")
    if coord is None or coord.dims not in (("rater",), ()):
        return np.zeros(values.sizes["rater"], dtype=bool)
    kinds = np.ravel(coord.values).tolist()
    for each in kinds:
        validate.known("kind", each, (HUMAN, JUDGE), "kinds")
    return np.array([each == HUMAN for each in kinds], dtype=bool)


def _clusters(values: xr.DataArray, cluster: Any) -> tuple[IntArray, str]:
    """Cluster of each prompt by number, and its source."""
    if cluster is None:
        return np.arange(values.sizes["prompt"]), ""
    fitting = [str(name) for name, coord in values.coords.items() if coord.dims == ("prompt",) and name != "prompt"]
    if cluster not in fitting:
        raise ValueError(
            f"cluster must be a coordinate that describes each prompt, got {validate.given(cluster)}"
            f"{validate.suggestion(cluster, fitting) if isinstance(cluster, str) else ';'} available: "
            f"{validate.listing(fitting) or 'none'}"
        )
    labels = values[cluster].values
    if pd.isna(labels).any():
        raise ValueError(
            f"cluster={cluster!r}: {validate.counted(int(pd.isna(labels).sum()), 'prompt')} without {cluster}; "
            f"each prompt needs one"
        )
    codes, _ = pd.factorize(labels)
    return codes.astype(np.int64), str(cluster)
