"""Outputs in a range of scores: `scoring_range`, and scores brought to [0, 1]."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import TOLERANCE, FloatArray
from xsumstat.dataset import align, chunking, facts, metric_choice, results
from xsumstat.dataset import scores as schema
from xsumstat.dataset.value_checks import Checks

UNITS = ("score", "normalised", "quantile")


@dataclass(frozen=True)
class Range:
    """Which outputs are kept: above `low`, or between `low` and `high`, or the `top` best of each input."""

    keep: str
    text: str
    unit: str = "score"
    low: xr.DataArray | None = None
    high: xr.DataArray | None = None
    baseline: int | None = None
    top: int = 0

    def mask(self, score: xr.DataArray) -> xr.DataArray:
        """The cells of oriented scores that are kept; a score that is at a limit but for rounding is at it."""
        x, near = in_unit(score, self.unit), rounding(score, self.unit)
        if self.low is None:
            within = best(score, self.top)
        elif self.high is None:
            within = x > self.low + near
        else:
            within = (x >= self.low - near) & (x <= self.high + near)
        if self.keep == "each":
            return within
        return within.any("metric") if self.keep == "any" else within.all("metric")


@validate.public
def scoring_range(
    ds: xr.Dataset,
    *,
    above: float | Mapping[Hashable, float] | xr.DataArray | None = None,
    between: Sequence[float | Mapping[Hashable, float] | xr.DataArray] | None = None,
    baseline: Hashable | None = None,
    top: int | None = None,
    metrics: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    keep: str = "any",
    unit: str = "score",
) -> xr.Dataset:
    """Keep the outputs that score in a range, and make all others missing.

    Give exactly one of `above`, `between`, `baseline` and `top`.

    Parameters
    ----------
    {ds.outputs range}

    {dataset}
        `ds` with NaN for the outputs left out, in every numeric variable with the dims system and input. These gain the
        additional dims of `score`. ``attrs["scoring_range"]`` describes the range; results keep and tell it.

    Notes
    -----
    A narrower range alone lowers correlations: see `range_drop`. Metrics whose ``higher_is_better`` is False count from
    the worst. Peyrard's range (T) is ``baseline=``, (A) e.g. ``between=(0.25, 0.75), unit="quantile", keep="all"``; his
    code has a range for each pair, as ``metric_corr(top=50)``. Source: Peyrard (2019), "Studying Summarization
    Evaluation Metrics in the Appropriate Scoring Range", §3 and Algorithm 2.

    {demo}
    >>> good = ds.meta.scoring_range(baseline="extractor-1", metrics=["judge", "rouge"])
    >>> good.score.sel(metric="judge").notnull().sum("input").values[:3]
    array([ 0, 19, 23])
    """
    later = Checks()
    score = prepared(ds, metrics, later)
    chosen = requested(score, above, between, baseline, top, keep, unit, later)
    kept = chosen.mask(score)
    warn_empty(kept, score.notnull().any("metric"), later)
    tied = warn_of_ties(score, chosen.top, later) if chosen.top else ""
    kept = later.attached(kept)
    numbers = [
        name for name, each in ds.data_vars.items() if set(facts.CELLS) <= set(each.dims) and each.dtype.kind in "fiub"
    ]
    masked = ds.assign({name: ds[name].where(align.without_coords(kept)) for name in numbers})
    earlier = ds.attrs.get(validate.SCORING_RANGE)
    text = f"{chosen.text}{tied}" if earlier is None else f"{earlier}; then {chosen.text}{tied}"
    return results.of_its_own(masked).assign_attrs({validate.SCORING_RANGE: text})


def prepared(ds: xr.Dataset, metrics: Any, later: Checks | None = None) -> xr.DataArray:
    """Checked and oriented scores of the metrics that decide."""
    if isinstance(metrics, list | tuple):
        for label in metrics:
            validate.column("each of metrics", label)
    score = schema.prepare_metrics(ds, metric_choice.automatic(ds, metrics), level=None, later=later)
    if later is not None:
        schema.report_unscored(score, later)
    return score


def requested(
    score: xr.DataArray,
    above: Any,
    between: Any,
    baseline: Any,
    top: int | None,
    keep: str,
    unit: str,
    later: Checks | None = None,
) -> Range:
    """The range that the keywords of `scoring_range` name, for oriented scores."""
    given = {"above": above, "between": between, "baseline": baseline, "top": top}
    given = {name: each for name, each in given.items() if each is not None}
    if len(given) != 1:
        raise ValueError(f"give one of above, between, baseline and top, got {validate.listing(given) or 'none'}")
    validate.choice("keep", keep, ("any", "all"))
    validate.choice("unit", unit, UNITS)
    labels = score["metric"].values.tolist()
    by = f"by {labels[0]}" if len(labels) == 1 else f"by {keep} of {len(labels):,} metrics"
    if top is not None:
        top = validate.integer("top", top, 1)
        if unit != "score":
            raise ValueError(f"top counts outputs, and unit says what above and between are, got unit={unit!r}")
        return Range(keep, f"the {top} best of each input, {by}", top=top)
    if baseline is not None:
        place, own = _of_baseline(score, baseline, later or Checks())
        return Range(keep, f"better than {baseline}, {by}", low=own, baseline=place)
    if above is not None:
        low = _limits(score, "above", above, unit)
        return Range(keep, f"above {_named(above)} ({unit}), {by}", unit, low)
    if not isinstance(between, tuple | list | np.ndarray) or len(between) != 2:
        raise TypeError(f"between must be (low, high), got {between!r}")
    low, high = (_limits(score, "between", each, unit) for each in between)
    if unit == "score":  # where lower is better the two have been negated, and so they change places
        turned = _signs(score) < 0
        low, high = low.where(~turned, high), high.where(~turned, low)
    if bool((low > high + (0.0 if unit == "score" else TOLERANCE)).any()):
        raise ValueError(f"between must be (low, high) with low <= high, got {between!r}")
    named = " and ".join(map(_named, between))
    return Range(keep, f"between {named} ({unit}), {by}", unit, low, high)


def _named(limit: Any) -> str:
    return str(limit) if isinstance(limit, int | float | Mapping) else "given limits"


def _of_baseline(score: xr.DataArray, baseline: Any, later: Checks) -> tuple[int, xr.DataArray]:
    labels = list(score.indexes["system"]) if "system" in score.indexes else list(range(score.sizes["system"]))
    validate.known("baseline", baseline, labels, "systems")
    place = labels.index(baseline)
    own = score.isel(system=place, drop=True)
    later.make(_warn_of_baseline, own.isnull().all("metric").sum(), baseline)
    return place, own


def _warn_of_baseline(lacking: xr.DataArray, baseline: Any) -> None:
    if lacking:
        validate.warn(
            f"left out {validate.counted(int(lacking), 'input')} without a score of the baseline {baseline!r}",
            "no_score",
        )


def _limits(score: xr.DataArray, name: str, given: Any, unit: str) -> xr.DataArray:
    labels = score["metric"].values.tolist()
    if isinstance(given, xr.DataArray):
        limits = _matched(score, name, given)
    elif isinstance(given, Mapping):
        lacking = [label for label in labels if label not in given]
        if lacking:
            raise ValueError(f"{name} has no limit for {validate.named('metric', lacking)}, named in metrics=")
        for label in given:
            validate.known(f"metric in {name}", label, labels, "metrics that decide")
        numbers = [validate.number(f"{name}[{label!r}]", given[label], -np.inf, np.inf) for label in labels]
        limits = xr.DataArray(numbers, {"metric": labels})
    else:
        limits = xr.DataArray(np.full(len(labels), validate.number(name, given, -np.inf, np.inf)), {"metric": labels})
    if unit != "score":
        if bool(((limits < -TOLERANCE) | (limits > 1 + TOLERANCE)).any()):
            raise ValueError(f"{name} must lie in [0, 1] with unit={unit!r}, got {given!r}")
        return limits
    return limits * _signs(score)


def _matched(score: xr.DataArray, name: str, given: xr.DataArray) -> xr.DataArray:
    odd = [dim for dim in given.dims if dim not in score.dims or dim == "system"]
    if odd:
        allowed = [dim for dim in score.dims if dim != "system"]
        raise ValueError(f"{name} may have the dims {validate.listing(allowed)}, got {validate.listing(odd)}")
    limits = align.without_coords(given.astype(float))
    for dim in map(str, limits.dims):
        if dim in limits.indexes and dim in score.indexes:
            lacking = score.indexes[dim][~score.indexes[dim].isin(limits.indexes[dim])].tolist()
            if lacking:
                raise ValueError(f"{name} has no limit for {validate.named(str(dim), lacking)}")
            limits = limits.sel({dim: score.indexes[dim]})
        elif limits.sizes[dim] != score.sizes[dim]:
            raise ValueError(
                f"{name} has {limits.sizes[dim]} limits along {dim!r}, where {score.sizes[dim]} are needed"
            )
    return limits


def _signs(score: xr.DataArray) -> xr.DataArray:
    better = score.coords.get("higher_is_better")
    if better is None:
        return xr.ones_like(score["metric"], dtype=float)
    return 2.0 * align.without_coords(better).astype(bool) - 1.0


def in_unit(score: xr.DataArray, unit: str) -> xr.DataArray:
    """Scores as they are, as shares of each metric's range, or as shares of an input's outputs."""
    if unit == "score":
        return score
    if unit == "normalised":
        return normalised(score)
    found: xr.DataArray = xr.apply_ufunc(
        _quantiles,
        score,
        input_core_dims=[["system"]],
        output_core_dims=[["system"]],
        dask="parallelized",
        output_dtypes=[float],
    )
    return found.transpose(*score.dims)


def rounding(score: xr.DataArray, unit: str) -> xr.DataArray | float:
    """By how much scores brought to a unit, (metric, ...), may be off by rounding; scores as they are, by nothing."""
    if unit != "normalised":
        return 0.0 if unit == "score" else TOLERANCE
    score = _in_reach(score)
    low, high = score.min(facts.CELLS), score.max(facts.CELLS)
    return TOLERANCE * (abs(score).max(facts.CELLS) / (high - low)).where(high > low, 1.0).clip(min=1.0)


def best(score: xr.DataArray, top: int) -> xr.DataArray:
    """Where the `top` highest scores of each metric on each input are; of equal ones the first."""
    found: xr.DataArray = xr.apply_ufunc(
        lambda values: _best(values, top),
        chunking.whole(score, ["system"]),
        input_core_dims=[["system"]],
        output_core_dims=[["system"]],
        dask="parallelized",
        output_dtypes=[bool],
    )
    return found.transpose(*score.dims)


def _best(values: FloatArray, top: int) -> Any:
    found = np.zeros(values.shape, dtype=bool)
    order = np.argsort(-values, axis=-1, kind="stable")  # NaN come last
    np.put_along_axis(found, order[..., :top], True, axis=-1)
    return found & ~np.isnan(values)


def warn_of_ties(score: xr.DataArray, top: int, later: Checks | None = None) -> str:
    """Say on how many inputs the order of the systems decides which of equal outputs are among the best.

    What descriptions of the range add, where scores are in memory and some tie.
    """
    tied: xr.DataArray = xr.apply_ufunc(
        lambda values: _tied_at(values, top),
        chunking.whole(score, ["system"]),
        input_core_dims=[["system"]],
        dask="parallelized",
        output_dtypes=[bool],
    )
    tied = tied.any("metric")
    (later or Checks()).make(_warn_of_ties, tied.sum(), tied.size, top)
    return " (of equal ones the first)" if not chunking.is_lazy(tied) and bool(tied.any()) else ""


def _tied_at(values: FloatArray, top: int) -> Any:
    falling = -np.sort(-values, axis=-1)  # NaN come last
    return falling[..., top - 1] == falling[..., top] if top < values.shape[-1] else np.zeros(values.shape[:-1], bool)


def _warn_of_ties(tied: xr.DataArray, n_inputs: int, top: int) -> None:
    if tied:
        validate.warn(
            f"on {int(tied):,} of {validate.counted(n_inputs, 'input')} outputs tie for place {top}, the last that is "
            "kept: the order of the systems decides, and another order can change results",
            "tied_at_k",
        )


def _quantiles(values: FloatArray) -> FloatArray:
    """Share of the values along the last axis that are lower, ties and the value itself half."""
    from scipy import stats

    ranks = stats.rankdata(values, axis=-1, nan_policy="omit")
    return np.asarray((ranks - 0.5) / np.maximum((~np.isnan(values)).sum(axis=-1, keepdims=True), 1))


def normalised(score: xr.DataArray, within: str = "all") -> xr.DataArray:
    """Scores from 0, a metric's lowest, to 1, its highest, of all cells or of each "input"; 0.5 where all are equal."""
    over = ["system"] if within == "input" else list(facts.CELLS)
    score = _in_reach(score)
    low, high = score.min(over), score.max(over)
    return ((score - low) / (high - low)).where(high > low, 0.5).where(score.notnull())


def _in_reach(score: xr.DataArray) -> xr.DataArray:
    """The scores, of a metric with huge ones halved: the difference of any two is then finite."""
    huge = abs(score).max(facts.CELLS) > np.finfo(float).max / 2
    return score * (1.0 - 0.5 * huge)


def warn_empty(kept: xr.DataArray, there: xr.DataArray, later: Checks | None = None) -> None:
    """Say where no output is left."""
    (later or Checks()).make(_warn_empty, kept.any("system"), there.any("system"))


def _warn_empty(left: xr.DataArray, there: xr.DataArray) -> None:
    if not bool(left.any()):
        raise ValueError("the scoring range leaves no output at all")
    gone = there & ~left
    if bool(gone.any()):
        validate.warn(
            f"{int(gone.sum())} of {validate.counted(gone.size, 'input')} without an output in the scoring range",
            "input_not_in_range",
        )
