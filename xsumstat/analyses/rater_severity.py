"""Raters of different severity, who move the systems' means apart where they rated the systems unevenly."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import xarray as xr
from scipy.sparse.csgraph import connected_components
from scipy.stats import chi2_contingency

from xsumstat.core import validate
from xsumstat.core.types import TOLERANCE, BoolArray
from xsumstat.dataset import chunking, facts, golds, wording
from xsumstat.inference import rater_offsets

# How far severe raters may move the systems' means against each other, in standard deviations of the human scores.
_UNEVEN = 0.1
# From these on raters without common outputs rated the systems unevenly: difference of shares, and p-value.
_APART, _BY_CHANCE = 0.2, 0.001


@dataclass(frozen=True)
class Severity:
    """The rater whose grades differ most from the others', and how far raters move the systems' means apart."""

    rater: Hashable
    above: float
    moved: float
    sd: float  # of the human scores

    @classmethod
    def of(cls, ratings: xr.DataArray, values: xr.DataArray) -> Severity | None:
        """From ratings as sums of an output and a rater, by least squares; None without labelled raters."""
        if set(ratings.dims) != {"rater", *facts.CELLS} or "rater" not in ratings.indexes:
            return None
        ratings = ratings.transpose("rater", *facts.CELLS).dropna("rater", how="all")
        n_raters = ratings.sizes["rater"]
        if n_raters < 2:
            return None
        cells = rater_offsets.fitted(ratings.values, ratings.notnull().values)
        offsets = ratings - ratings.copy(data=cells.apart + cells.mean)
        of_rater = offsets.mean(facts.CELLS)
        beside = ((n_raters * of_rater - of_rater.sum()) / (n_raters - 1)).values
        of_system = offsets.mean("rater").mean("input")
        at = int(np.argmax(np.abs(beside)))
        moved, sd = float(of_system.max() - of_system.min()), float(values.std(ddof=1))
        return cls(ratings.indexes["rater"][at], float(beside[at]), moved, sd)

    @property
    def uneven(self) -> bool:
        """Whether raters of different severity move the systems' means, as they rated the systems unevenly."""
        return self.moved > _UNEVEN * self.sd

    @property
    def told(self) -> str:
        """The rater in words."""
        way = "higher" if self.above > 0 else "lower"
        return f"{wording.name(self.rater)} grades {wording.number(abs(self.above))} {way} than the others"

    def of_means(self) -> str:
        """What this does to the systems' means."""
        return (
            f"raters differ in severity ({self.told}) and rated the systems unevenly, which moves the systems' means "
            f"by up to {wording.number(self.moved)} against each other"
        )


def of_means(ratings: xr.DataArray, values: xr.DataArray) -> str:
    """How raters' severity moves the systems' means, or that it cannot be told; empty if neither is the case."""
    found = Severity.of(ratings, values)
    if found is not None and found.uneven:
        return found.of_means()
    return _unknown(ratings)


def _unknown(ratings: xr.DataArray) -> str:
    """Raters without common outputs who rated other shares of the systems: a severe one looks like a bad system."""
    if set(ratings.dims) != {"rater", *facts.CELLS} or ratings.sizes["system"] < 2:
        return ""
    there = ratings.transpose("rater", *facts.CELLS).notnull().values
    there = there[there.any(axis=(1, 2))]
    n, group = _connected(there)
    if n < 2:
        return ""
    of_group = np.stack([there[group == at].sum(axis=(0, 2)) for at in range(n)])
    of_group = of_group[:, of_group.any(axis=0)]
    share = of_group / of_group.sum(axis=0)
    if of_group.shape[1] < 2 or np.ptp(share, axis=1).max() < _APART or chi2_contingency(of_group).pvalue > _BY_CHANCE:
        return ""
    return (
        "raters rated the systems unevenly, and some have no output in common with the others, so their severity is "
        "unknown: a severe rater makes a system look worse"
    )


def _connected(there: BoolArray) -> tuple[int, np.ndarray]:
    """Groups of raters who rated common outputs, through others too."""
    flat = there.reshape(len(there), -1).astype(float)
    n, group = connected_components(flat @ flat.T > 0, directed=False)
    return int(n), group


def warn_uneven(ds: xr.Dataset, values: xr.DataArray) -> None:
    """Warn where human scores are means of ratings that severe raters gave to the systems unevenly."""
    if chunking.is_lazy(values) or set(values.dims) != set(facts.CELLS):
        return
    for ratings in golds.ratings_in(ds).values():
        if set(ratings.dims) == {"rater", *facts.CELLS} and _is_mean(values, ratings):
            said = of_means(ratings.astype(float), values)
            if said:
                validate.warn(f"{said}; means and tests do not correct this", "uneven_raters")


def _is_mean(values: xr.DataArray, ratings: xr.DataArray) -> bool:
    mean = ratings.mean("rater")
    if any(mean.sizes[dim] != values.sizes[dim] for dim in facts.CELLS):
        return False
    mean = mean.transpose(*values.dims)
    return bool(np.allclose(mean.values, values.values, atol=TOLERANCE, equal_nan=True))
