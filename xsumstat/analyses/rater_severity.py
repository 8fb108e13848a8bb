"""Raters of different severity, who move the systems' means apart where they rated the systems unevenly."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import TOLERANCE, BoolArray, FloatArray, IntArray
from xsumstat.dataset import chunking, facts, golds, wording
from xsumstat.inference import rater_offsets

# How far severe raters may move the systems' means against each other, in standard deviations of the human scores.
_UNEVEN = 0.1
# What chance rarely does: a p-value of uneven shares of the systems, and of different severity.
_BY_CHANCE = 0.001
# A rater who deviates this share of the most severe (or mild) one's deviation in the other direction is named, too.
_ALSO = 0.5
# With fewer ratings a rater is neither severe nor mild.
LEAST_RATINGS = 10


@dataclass(frozen=True)
class Severity:
    """The rater whose grades differ most from the others', and how far raters move the systems' means apart."""

    rater: Hashable
    above: float
    moved: float
    sd: float  # of the human scores
    opposite: tuple[Hashable, float] | None  # the rater who deviates most in the other direction, and by how much
    differs: bool  # whether raters differ in severity beyond chance
    apart: bool  # whether they rated other shares of the systems, beyond chance

    @classmethod
    def of(cls, ratings: xr.DataArray, values: xr.DataArray) -> Severity | None:
        """From ratings as sums of an output and a rater, by least squares; None without labelled raters."""
        if set(ratings.dims) != {"rater", *facts.CELLS} or "rater" not in ratings.indexes:
            return None
        enough = ratings.notnull().sum(facts.CELLS) >= LEAST_RATINGS
        ratings = ratings.transpose("rater", *facts.CELLS)
        ratings = ratings[enough.values] if enough.sum() > 1 else ratings.dropna("rater", how="all")
        n_raters = ratings.sizes["rater"]
        if n_raters < 2:
            return None
        cells = rater_offsets.fitted(ratings.values, ratings.notnull().values)
        offsets = ratings - ratings.copy(data=cells.apart + cells.mean)
        of_rater = offsets.mean(facts.CELLS).values
        beside = _beside_others(of_rater)
        of_system = offsets.mean("rater").mean("input")
        at = int(np.argmax(np.abs(beside)))
        names, opposite = ratings.indexes["rater"], None
        if n_raters > 2:  # without the first, beside whom the others all deviate
            rest = np.sign(beside[at]) * _beside_others(np.delete(of_rater, at))
            other = int(np.delete(np.arange(n_raters), at)[np.argmin(rest)])
            far = -rest.min() >= _ALSO * abs(beside[at])
            opposite = (names[other], float(beside[other])) if far else None
        moved, sd = float(of_system.max() - of_system.min()), float(values.std(ddof=1))
        differs, apart = _differ(ratings.values, cells), _unevenly(_counts(ratings.notnull().values))
        return cls(names[at], float(beside[at]), moved, sd, opposite, differs, apart)

    @property
    def uneven(self) -> bool:
        """Whether raters of different severity move the systems' means, as they rated the systems unevenly."""
        return self.differs and self.apart and self.moved > _UNEVEN * self.sd

    @property
    def told(self) -> str:
        """The rater in words."""
        way, turned = ("higher", "lower") if self.above > 0 else ("lower", "higher")
        other = ""
        if self.opposite is not None:
            other = f", and {wording.name(self.opposite[0])} {wording.number(abs(self.opposite[1]))} {turned}"
        return f"{wording.name(self.rater)} grades {wording.number(abs(self.above))} {way} than the others{other}"

    @property
    def effect(self) -> str:
        """What this does to the systems' means; empty if nothing beyond chance."""
        if not self.uneven:
            return ""
        return (
            f"raters differ in severity ({self.told}) and rated the systems unevenly, which moves the systems' means "
            f"by up to {wording.number(self.moved)} against each other"
        )


def _beside_others(offsets: FloatArray) -> FloatArray:
    """Each rater's offset less the mean of the others'."""
    return np.asarray((len(offsets) * offsets - offsets.sum()) / (len(offsets) - 1))


def effect_on_means(ratings: xr.DataArray, values: xr.DataArray) -> str:
    """How raters' severity moves the systems' means, or that it cannot be told; empty if neither is the case."""
    if not _unevenly(_counts(ratings.transpose("rater", *facts.CELLS).notnull().values)):
        return ""
    if said := unknown(ratings):
        return said
    found = Severity.of(ratings, values)
    return "" if found is None else found.effect


def unknown(ratings: xr.DataArray) -> str:
    """That some raters have no outputs in common with others and rated other shares of the systems; else empty."""
    there = ratings.transpose("rater", *facts.CELLS).notnull().values
    there = there[there.any(axis=(1, 2))]
    n, group = _connected(there)
    if not _unevenly(np.array([there[group == at].sum(axis=(0, 2)) for at in range(n)])):
        return ""
    return (
        "raters rated the systems unevenly, and some have no output in common with the others, so their severity "
        "is unknown: a severe rater makes a system look worse"
    )


def _counts(there: BoolArray) -> IntArray:
    """Ratings by each rater of each system, of outputs that not all rated: on others severity is shared."""
    return np.asarray((there & ~there.all(axis=0)).sum(axis=2))


def _unevenly(counts: IntArray) -> bool:
    """Whether raters, or groups of them, (raters, systems) rated other shares of the systems, beyond chance."""
    from scipy.stats import chi2_contingency

    counts = counts[counts.any(axis=-1)]
    counts = counts[:, counts.any(axis=0)] if len(counts) > 1 else counts
    return len(counts) > 1 and counts.shape[1] > 1 and bool(chi2_contingency(counts).pvalue <= _BY_CHANCE)


def _differ(ratings: FloatArray, cells: rater_offsets.RatedCells) -> bool:
    """Whether raters differ in severity beyond chance: the F test of raters' effects beside those of outputs."""
    from scipy.stats import f

    there = ~np.isnan(ratings)
    n, n_cells = int(there.sum()), int(there.any(axis=0).sum())
    effects = len(ratings) - _connected(there)[0]
    df = n - n_cells - effects
    if effects < 1 or df < 1:
        return False
    count = np.maximum(there.sum(axis=0), 1)
    raw = np.where(there, ratings - np.where(there, ratings, 0.0).sum(axis=0) / count, 0.0)
    rest = float((cells.apart**2).sum())
    explained = float((raw**2).sum()) - rest
    return explained > 0 and bool(
        f.sf(explained / effects * df / rest, effects, df) <= _BY_CHANCE if rest > 0 else True
    )


def _connected(there: BoolArray) -> tuple[int, np.ndarray]:
    """Groups of raters who rated common outputs, through others too."""
    from scipy.sparse.csgraph import connected_components

    flat = there.reshape(len(there), -1).astype(float)
    n, group = connected_components(flat @ flat.T > 0, directed=False)
    return int(n), group


def warn_uneven(ds: xr.Dataset, values: xr.DataArray, systems: list[int] | None = None) -> str | None:
    """Warn where human scores are means of ratings that severe raters gave to the systems (all or some) unevenly.

    The attr `uneven_raters` of results.
    """
    if chunking.is_lazy(values) or set(values.dims) != set(facts.CELLS):
        return None
    told = None
    for ratings in golds.ratings_in(ds).values():
        if set(ratings.dims) == {"rater", *facts.CELLS} and _is_mean(values, ratings):
            some = slice(None) if systems is None else systems
            said = effect_on_means(ratings.astype(float).isel(system=some), values.isel(system=some))
            if said:
                told = said
                validate.warn(f"{said}; {wording.UNCORRECTED}", "uneven_raters")
    return told


def _is_mean(values: xr.DataArray, ratings: xr.DataArray) -> bool:
    mean = ratings.mean("rater")
    if any(mean.sizes[dim] != values.sizes[dim] for dim in facts.CELLS):
        return False
    mean = mean.transpose(*values.dims)
    return bool(np.allclose(mean.values, values.values, atol=TOLERANCE, equal_nan=True))
