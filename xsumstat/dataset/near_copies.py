"""Systems that are near-copies of each other; answers for new systems count them as several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from xsumstat.coefficients import arrays
from xsumstat.core import arguments, validate
from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.dataset import checks, facts, masks, value_checks
from xsumstat.dataset.facts import Fact
from xsumstat.dataset.scores import Scores

# How far the scores of near-copies correlate, beyond the means of systems and inputs.
NEAR = 0.95
# So many cells that both have tell copies from chance.
_LEAST_CELLS = 10
# Of more systems it is not asked; of more inputs some tell.
_MOST_SYSTEMS = 200
_MOST_INPUTS = 500
_NAMED = 3


def check(scores: Scores, dims: Sequence[str], clusters: Sequence[str] = ()) -> None:
    """Warn of near-copies among the systems where the answer speaks of new systems without `clusters`."""
    systems = scores.score.sizes["system"]
    if clusters or not {"system", "cell"} & set(dims) or not 2 < systems <= _MOST_SYSTEMS:
        return
    labels = checks.labels_of(scores.score, "system")
    near = value_checks.by_metric(of, [scores.score], scores.used)
    scores.later.make(_warn, near, labels, scores.used, validate.takes("cluster"))


def of(scores: Sequence[xr.DataArray], used: Sequence[xr.DataArray] | None = None) -> Fact:
    """Pairs of systems with near-equal scores by each metric: bits (metric, byte) of systems x systems."""
    score = masks.where_used(scores[0], used)
    step = -(-score.sizes["input"] // _MOST_INPUTS)
    some = score.isel(input=slice(None, None, step)).transpose("metric", ..., *facts.CELLS)
    near = np.array([_near(values.reshape(-1, *values.shape[-2:])) for values in some.values])
    return Fact.of(["metric", "_byte"], np.packbits(near.reshape(len(near), -1), axis=1), score)


def _near(values: FloatArray) -> BoolArray:
    """Pairs of systems with residuals (labels, systems, inputs) correlated above `NEAR`."""
    there = ~np.isnan(values)
    largest = np.abs(values).max(initial=0.0, where=there)
    scaled = np.where(there, values, 0.0) / (largest or 1.0)
    rest = _without_means(scaled, there)
    rest[np.abs(rest) < 1e-12] = 0.0  # what rounding leaves of equal scores
    weight, square = there.astype(float), rest**2
    product, own, cells = (
        (one @ other.swapaxes(-1, -2)).sum(axis=0) for one, other in ((rest, rest), (square, weight), (weight, weight))
    )
    size = np.sqrt(own * own.T)
    return np.asarray((product > NEAR * size) & (cells >= _LEAST_CELLS))


def _without_means(values: FloatArray, there: BoolArray) -> FloatArray:
    """Values less their system's and input's mean, 0 where missing."""
    for axis in (-1, -2):
        values = np.where(there, values - arrays.mean_of_existing(values, there, axis), 0.0)
    return values


def _warn(near: Fact, labels: list[str], used: Sequence[xr.DataArray] | None, has_cluster: bool) -> None:
    if used is not None:
        if not all(each.values.any() for each in used):
            return
        labels = [label for label, is_used in zip(labels, used[0].values, strict=True) if is_used]
    size = len(labels)
    bits = np.unpackbits(near.values, axis=1, count=size * size)
    groups = _groups((2 * bits.sum(axis=0) > len(bits)).reshape(size, size))
    if not groups:
        return
    shown = "; ".join(validate.listing([labels[at] for at in group]) for group in groups[:_NAMED])
    more = f"; … ({len(groups)} groups in all)" if len(groups) > _NAMED else ""
    families = f", or name families in a coordinate of systems and {arguments.adding('cluster', 'family')}"
    validate.warn_once(
        f"near-copies among the systems: {shown}{more}. Intervals and tests for new systems are too narrow, because "
        f"each copy counts as a separate system; keep one of each{families * has_cluster}",
        "near_copies",
    )


def _groups(near: BoolArray) -> list[list[int]]:
    """Connected groups of two or more places."""
    group = np.arange(len(near))
    for one, other in np.argwhere(np.triu(near, 1)):
        group[group == group[other]] = group[one]
    found = [np.flatnonzero(group == each).tolist() for each in dict.fromkeys(group.tolist())]
    return [each for each in found if len(each) > 1]
