"""Sentences of `conclusion` on what the errors of metrics depend on."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust
from xsumstat.core import validate
from xsumstat.core.types import BoolArray, FloatArray, IntArray
from xsumstat.dataset import ceilings, scope, wording
from xsumstat.dataset.wording import alpha_of, joined, listed, name, number
from xsumstat.narrative.findings import labels
from xsumstat.narrative.findings_tests import basis


def bias(result: xr.Dataset) -> list[str]:
    """Metrics with errors related to a covariate, and the sign, unless noise in the human scores may explain it."""
    said: list[str] = []
    p = adjust.decisive(result)
    quiet = _quiet(result, p)
    for covariate in labels(result, "covariate"):
        if covariate in quiet:
            continue
        one = result.sel(covariate=covariate)
        is_group = "is_group" in result and bool(one["is_group"])
        of_means = "mean " if result.attrs.get("level") == "system" else ""
        where = f"of {name(covariate)}" if is_group else f"with a higher {of_means}{name(covariate)}"
        said += _biases(one, p.sel(covariate=covariate).values, name(covariate), where, _unit(covariate, is_group))
    if quiet:
        said.append(_no_bias(result.sel(covariate=quiet), joined([name(each) for each in quiet]), _unit("", True)))
    return said


def _quiet(result: xr.Dataset, p: xr.DataArray) -> list[Hashable]:
    """Groups in which all metrics are tested and nothing is significant: several are told in one sentence."""
    if "is_group" not in result:
        return []
    tested = (result["ci_low"] > -np.inf) & (result["ci_high"] < np.inf) & (p > alpha_of(result))
    quiet = (tested & result["is_group"]).all("metric")
    found = result["covariate"].values[quiet.values].tolist()
    return found if len(found) > 1 else []


def _unit(covariate: Hashable, is_group: bool) -> str:
    return "SDs of the metric" if is_group else f"SDs of the metric per SD of {name(covariate)}"


def _no_bias(these: xr.Dataset, covariates: str, unit: str) -> str:
    within = wording.limits(float(these["ci_low"].min()), float(these["ci_high"].max()))
    return (
        f"No significant bias by {covariates} ({validate.counted(these.sizes['metric'], 'metric')}). This does not "
        f"show that there is none: slopes may lie within {within}, in {unit}{scope.words(these.attrs, ', for ')}."
    )


def _biases(one: xr.Dataset, p: FloatArray, covariate: str, where: str, unit: str) -> list[str]:
    """One covariate, with the p-values of its slopes, and their unit."""
    tested = int((~np.isnan(p)).sum())
    if not tested:
        return [f"No bias can be tested for {covariate}."]
    clear, explained = p <= alpha_of(one), explained_below(one)
    untold = ~clear & unbounded(one)
    ended = clear & at_ceiling(one)
    noisy = clear & ~np.isnan(explained) & ~ended
    biased = clear & ~noisy & ~ended
    whom, what = scope.words(one.attrs, ", for "), "systems" if one.attrs.get("level") == "system" else "outputs"
    said: list[str] = []
    parts = []
    for word, side in (("too high", _sign(one) > 0), ("too low", _sign(one) < 0)):
        if named := [_with_slope(one, int(at)) for at in np.flatnonzero(biased & side)]:
            parts.append(f"{listed(named)} {'score' if len(named) > 1 else 'scores'} {what} {where} {word}")
    if parts:
        said.append(wording.Sentence("; ".join(parts), f"slopes in {unit}; {basis(one)}"))
    for word, side in (("higher", _sign(one) > 0), ("lower", _sign(one) < 0)):
        if (at := np.flatnonzero(noisy & side)).size:
            named = [_with_slope(one, int(each)) for each in at]
            several = len(named) > 1
            verb = "score" if several else "scores"
            said.append(
                f"{listed(named)} {verb} {what} {where} {word} than human scores imply{whom}. "
                "Noise in the human scores alone may explain that: no bias is shown if their reliability is "
                f"{number(float(explained[at].max()))} or less{' for some of these metrics' if several else ''}."
            )
        if (at := np.flatnonzero(ended & side)).size:
            said.append(_of_ceiling(one, at, f"{what} {where} {word} than human scores imply{whom}"))
    if untold.any():
        named = [name(labels(one)[at]) for at in np.flatnonzero(untold)]
        said.append(
            f"The bias of {listed(named)} by {covariate} cannot be estimated: the human scores are too noisy, or too "
            f"closely related to {covariate}. More ratings of each output reduce the noise."
        )
    rest = ~np.isnan(p) & ~clear & ~untold
    if rest.any() and not biased.any():
        said.append(_no_bias(one.isel(metric=rest), covariate, unit))
    return said


def _sign(one: xr.Dataset) -> FloatArray:
    slope = one["slope"].values
    return np.where(np.isnan(slope), np.isfinite(one["ci_low"].values) - 0.5, slope)


def _with_slope(one: xr.Dataset, at: int) -> str:
    low, high = float(one["ci_low"].values[at]), float(one["ci_high"].values[at])
    called = name(labels(one)[at])
    if math.isinf(high):
        return f"{called} (slope at least {number(low)})"
    if math.isinf(low):
        return f"{called} (slope {number(high)} or below)"
    return f"{called} (slope {number(one['slope'].values[at])})"


def unbounded(one: xr.Dataset) -> BoolArray:
    """Which slopes have no limits, as noise in the human scores leaves nothing to estimate them by."""
    return np.asarray(np.isinf(one["ci_low"].values) & np.isinf(one["ci_high"].values))


def at_ceiling(one: xr.Dataset) -> BoolArray:
    """Which metrics have small slopes, and the scale of human scores, or their own, ends where the other's does not."""
    concerned = np.array([ceilings.concerns(one.attrs, label) for label in labels(one)])
    return np.asarray(concerned & (np.abs(one["slope"].values) < ceilings.LARGE))


def _of_ceiling(one: xr.Dataset, places: IntArray, what: str) -> str:
    named = [_with_slope(one, int(at)) for at in places]
    several = len(named) > 1
    of_people, own = (
        [ceilings.share(one.attrs, labels(one)[at], name) or 0.0 for at in places]
        for name in (ceilings.NAME, ceilings.OWN)
    )
    who, whose = ("these metrics", "their own scores") if several else ("this metric", "its own scores")
    why = []
    if max(of_people):
        why.append(
            f"{100 * max(of_people):.0f} % of the human scores are at the end of their scale, where {who} may see "
            "quality that they cannot show"
        )
    if max(own):
        why.append(
            f"{100 * max(own):.0f} % of {whose} are at the end of their scale, and cannot show quality that people see"
        )
    verb = "score" if several else "scores"
    return f"{listed(named)} {verb} {what}. This need not be a bias: {'; '.join(why)}."


def explained_below(one: xr.Dataset) -> FloatArray:
    """Highest reliability of human scores at which noise explains each slope; NaN for none."""
    if "corrected_pvalue" not in one:
        return np.full(one["slope"].shape, np.nan)
    p, slope = (one[each].transpose("metric", "reliability").values for each in ("corrected_pvalue", "corrected_slope"))
    values = one["reliability"].values
    if "gold_reliability" in one:
        least = one["gold_reliability"].values[:, None]
        below = np.where(values <= least, values, -np.inf).max(axis=1, keepdims=True)
        possible = values >= below
    else:
        possible = np.ones(p.shape, bool)
    shown = (p <= alpha_of(one)) & ((slope > 0) == (one["slope"].values[:, None] > 0)) & ~np.isnan(slope)
    found = np.where(possible & ~shown, values, -np.inf).max(axis=1)
    return np.where(np.isfinite(found), found, np.nan)


def bias_closing(result: xr.Dataset) -> list[str]:
    """The compared errors, and why these, where they were not chosen."""
    if "level" not in result.attrs:
        return []
    compared = {
        "input": "outputs of the same input",
        "within_system": "outputs of the same system",
        "global": "all outputs",
        "system": "the systems' means",
    }[result.attrs["level"]]
    why = f", as {result.attrs['level_reason']}" if "level_reason" in result.attrs else ""
    return [f"This compares {compared} (level={result.attrs['level']!r}){why}."]
