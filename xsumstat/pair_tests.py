"""Tests of pairs of metrics: resampled, corrected by their joint draws, or computed without any."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import (
    _draws,
    content,
    families,
    inference,
    lazy,
    levels,
    metric_pairs,
    paired,
    resampling,
    schema,
    signed_sums,
)
from xsumstat import _kernels as kernels
from xsumstat.coefficients import Coefficient, FloatArray
from xsumstat.decision_swaps import decision_tests
from xsumstat.levels import IntArray
from xsumstat.resampling import DecisionPlan, DrawPlan, PairPlan, SwapPlan
from xsumstat.swap_ranks import Pair, Ranks
from xsumstat.swaps import swap_tests

_BY_PAIR = {"difference": float, "forward": float, "backward": float, "n_undefined": int}
_COMPUTED = {"difference": float, "forward": float, "backward": float, "exact": bool}
# Pairs of metrics are made ready, and draws kept, a few at a time, so that together they take about so many bytes.
_BYTES_AT_ONCE = 2**26

# Differences in all resamples, (asked, n_resamples), of the given pairs: numbered label by label, pair by pair.
Redraw = Callable[[IntArray], FloatArray]


@dataclass(frozen=True)
class _Summary:
    """What a test by resampling tells of each pair: the numbers of `_BY_PAIR`."""

    plan: PairPlan
    alternative: str

    def __call__(self, difference: FloatArray, counts: IntArray) -> tuple[FloatArray, ...]:
        forward, backward = inference.permutation_pvalues(
            difference, counts, self.plan.n_resamples, self.plan.exact, self.alternative
        )
        return difference, forward, backward, counts[3].astype(float)


@dataclass(frozen=True)
class Work:
    """Which pairs are tested, by which resamples, against what."""

    pairs: tuple[Pair, ...]
    plan: PairPlan
    alternative: str
    settings: dict[str, Any]

    @property
    def summary(self) -> _Summary:
        """What is told of each pair."""
        return _Summary(self.plan, self.alternative)

    @property
    def make(self) -> lazy.MakeTests:
        """What makes pairs ready."""
        if isinstance(self.plan, DecisionPlan):
            make: lazy.MakeTests = partial(decision_tests, by_group=self.plan.by_group)
            return make
        return paired.draw_tests if self.plan.recentred else swap_tests

    @property
    def together(self) -> bool:
        """All pairs share their draws of each metric, or their sums of each metric's system means or decisions."""
        by_means = self.settings["level"] == "system" and self.settings["coefficient"].kind not in (None, kernels.SOFT)
        return self.plan.recentred or isinstance(self.plan, DecisionPlan) or by_means


@dataclass(frozen=True)
class After:
    """What becomes of the p-values and the samples: `adjust` and `within` of `families.adjust`, and what is kept."""

    adjust: str | None
    within: Any
    keep_samples: bool


def check_computed(
    method: str, record: Coefficient, level: str, plan: PairPlan, keep_samples: bool, adjust: str | None
) -> None:
    """Why a test cannot be computed, as far as its arguments tell."""
    decisions = isinstance(plan, DecisionPlan)
    calibrated = record.kind == kernels.ACC_EQ and not record.thresholds
    by_ranks = record.kind not in (None, kernels.PEARSON, kernels.SOFT) and level != "system" and not calibrated
    linear = decisions or by_ranks
    crossed = getattr(plan, "crossed", False)
    if method == "analytic" and not linear:
        what = "level='system'" if level == "system" else f"coefficient={record.name!r}"
        what += " and swap='scores'" if calibrated else ""
        raise ValueError(
            f"method='analytic' needs a difference that is linear in the swaps, which with {what} it is not: rank "
            "coefficients at level 'input', 'global' or 'within_system' are; use method='permutation'"
        )
    if method == "analytic" and crossed:
        raise ValueError("method='analytic' needs units that are swapped independently: with crossed=True they are not")
    if keep_samples or adjust == "maxt":
        asked = "keep_samples=True" if keep_samples else "adjust='maxt'"
        raise ValueError(f"{asked} needs draws, which method={method!r} does without; use method='permutation'")


def resampled(scores: schema.Scores, work: Work, after: After, progress: bool, **about: Any) -> xr.Dataset:
    """The test of every pair by resampling, as a result; `about` is what its attrs say."""
    keep = after.keep_samples or (after.adjust == "maxt" and _samples_are_small(scores, work))
    by_pair, redraw = _drawn(scores, work, keep, progress)
    result = _result(by_pair, scores, work, {**about, **_about_draws(work)})
    if after.adjust == "maxt" and not keep:
        return _step_down(result, after.within, scores, work, by_pair["difference"], redraw)
    if after.adjust is not None:
        result = families.adjust(result, after.adjust, within=after.within)
    return result if after.keep_samples else result.drop_vars("samples", errors="ignore")


def computed(scores: schema.Scores, work: Work, after: After, progress: bool, **about: Any) -> xr.Dataset:
    """The permutation test of every pair, computed from the distribution of a sum of signs where that can be had."""
    if about["method"] == "analytic":
        by_pair = _computed(scores, work, every=True)
        if scores.used is None:
            metric_pairs.warn_undefined(by_pair["difference"], work.pairs, scores)
    else:
        by_pair = _computed_or_drawn(scores, work, progress)
        about |= _about_draws(work)
    result = _result(by_pair, scores, work, about)
    return result if after.adjust is None else families.adjust(result, after.adjust, within=after.within)


def _result(by_pair: dict[str, xr.DataArray], scores: schema.Scores, work: Work, about: dict[str, Any]) -> xr.Dataset:
    return schema.result(metric_pairs.laid_out(by_pair, work.pairs, scores), scores, **about)


def _about_draws(work: Work) -> dict[str, Any]:
    plan = work.plan
    about = {"n_resamples": plan.n_resamples, "seed": str(plan.seed)}
    return about if plan.recentred else {**about, "exact": plan.exact}


# --- Resampled ---


def _drawn(
    scores: schema.Scores, work: Work, keep_samples: bool, progress: bool
) -> tuple[dict[str, xr.DataArray], Redraw]:
    """The test of every pair, along dim `_pair`, and what draws its samples again where scores are at hand."""
    pairs, plan = work.pairs, work.plan
    seen: list[tuple[FloatArray, FloatArray]] = []

    def eager(labels: list[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray | None]:
        seen.extend(labels)
        return _eager(labels, work, keep_samples, progress)

    def lazily(x: Any, z: Any, used: tuple[Any, Any]) -> tuple[Any, Any]:
        size: dict[str, Any] = {"n_summary": len(_BY_PAIR), "keep_samples": keep_samples}
        how: dict[str, Any] = {"settings": work.settings, "together": work.together, **size}
        return lazy.compare_pairs(x, z, used, pairs, plan, work.make, work.summary, **how)

    def redraw(numbers: IntArray) -> FloatArray:
        out = np.empty((len(numbers), plan.n_resamples))
        label, pair = np.divmod(numbers, len(pairs))
        for at in np.unique(label):
            here = np.flatnonzero(label == at)
            tests = work.make(*seen[at], tuple(pairs[number] for number in pair[here]), **work.settings)
            out[here] = resampling.compare_pairs(tests, plan, keep_samples=True)[1].samples
        return out

    kept = plan.n_resamples if keep_samples else None
    by_pair = schema.over_labels(scores, schema.CORE, {"_pair": len(pairs)}, _BY_PAIR, kept, eager, lazily)
    if scores.used is None:
        metric_pairs.warn_undefined(by_pair["difference"], pairs, scores)
        content.warn_resamples(by_pair["n_undefined"].max("_pair"), plan.n_resamples)
    return by_pair, redraw


def _eager(
    labels: list[tuple[FloatArray, FloatArray]], work: Work, keep_samples: bool, progress: bool
) -> tuple[FloatArray, FloatArray | None]:
    """Summaries (numbers, labels · pairs) for the scores of each further label, and the samples or None.

    Only so many pairs are made ready together as keep their memory small, unless they share their work.
    """
    pairs, plan = work.pairs, work.plan
    at_once = (
        len(pairs) if work.together else max(1, _BYTES_AT_ONCE // levels.footprint(plan.shape, work.settings["level"]))
    )
    groups = [pairs[start : start + at_once] for start in range(0, len(pairs), at_once)]
    summaries, kept = [], []
    with resampling.progress_bar(len(labels) * len(groups) * _draws.n_blocks(plan.n_resamples), progress) as bar:
        for x, z in labels:
            for group in groups:
                tests = work.make(x, z, group, **work.settings)
                difference, found = resampling.compare_pairs(tests, plan, keep_samples=keep_samples, bar=bar)
                summaries.append(np.array(work.summary(difference, found.counts)))
                if found.samples is not None:
                    kept.append(found.samples)
    return np.concatenate(summaries, axis=1), np.concatenate(kept) if keep_samples else None


# --- Corrected by the joint draws ---


def _samples_are_small(scores: schema.Scores, work: Work) -> bool:
    """Whether the differences of all pairs in all resamples may stand in memory together; those of lazy scores must."""
    cells = len(scores.rows) * len(scores.columns) * math.prod(scores.further.values())
    return scores.used is not None or 8 * cells * work.plan.n_resamples <= _BYTES_AT_ONCE


def _step_down(
    result: xr.Dataset, within: Any, scores: schema.Scores, work: Work, difference: xr.DataArray, redraw: Redraw
) -> xr.Dataset:
    """`families.adjust` by "maxt" where the samples are too large to keep: they are drawn again, a few at a time."""
    numbers = difference.copy(data=1.0 + np.arange(difference.size).reshape(difference.shape))
    # Where a pair's metrics change places its number is negative, as its difference is turned.
    place = metric_pairs.laid_out({"difference": numbers}, work.pairs, scores)["difference"]
    at_once = max(1, _BYTES_AT_ONCE // (8 * work.plan.n_resamples))

    def rows(place: FloatArray, order: IntArray) -> Iterator[FloatArray]:
        for start in range(0, len(order), at_once):
            here = place[order[start : start + at_once], 0]
            yield from np.sign(here)[:, None] * redraw(np.abs(here).astype(np.int64) - 1)

    how: dict[str, Any] = {"alternative": work.alternative, "recentred": work.plan.recentred, "exact": work.plan.exact}
    return families.stepped_down(result, within, rows, place, **how)


# --- Computed, not sampled ---


def _computed(scores: schema.Scores, work: Work, *, every: bool) -> dict[str, xr.DataArray]:
    """The permutation test of every pair from the distribution of its sum of signs, along dim `_pair`.

    Where there is no such sum (ties) an error, or NaN where not `every` pair must have one.
    """
    labels, plan = scores.score["metric"].values, work.plan
    assert not isinstance(plan, DrawPlan)
    nothing = np.nan, np.nan, np.nan, False

    def of_scores(x: FloatArray, z: FloatArray, pair: Pair) -> tuple[float, float, float, bool]:
        if not isinstance(plan, SwapPlan) or plan.crossed:
            return nothing
        (test,) = swap_tests(x, z, (pair,), **work.settings)
        if not isinstance(test, Ranks) or test.coefficients is None or test.rest is not None:
            if not every or np.isnan(test.differences(plan.untouched())[0, 0]):
                return nothing
            raise ValueError(_why_not(test, labels[list(pair)].tolist(), work.settings["coefficient"]))
        units = test.coefficients
        if len(plan.dims) == 1:
            units = units.reshape(len(z), -1).sum(axis=1 if "system" in plan.dims else 0)
        return of_units(units, test.step)

    def of_units(units: FloatArray, step: float) -> tuple[float, float, float, bool]:
        if np.isnan(units).any():
            return nothing
        found = signed_sums.tail(units, step)
        difference = float(units.sum())
        turned = replace(found, at_least=found.at_most, at_most=found.at_least)
        forward, backward = found.pvalue(difference, work.alternative), turned.pvalue(-difference, work.alternative)
        return difference, forward, backward, found.exact

    def each(x: FloatArray, z: FloatArray) -> tuple[Any, ...]:
        if isinstance(plan, DecisionPlan):
            tests = decision_tests(x, z, work.pairs, **work.settings, by_group=plan.by_group)
            told = {pair: of_units(test.units(pair), test.step) for test in tests for pair in test.pairs}
        else:
            told = {pair: of_scores(x, z, pair) for pair in work.pairs}
        return tuple(np.array([told[pair] for pair in work.pairs]).T)

    found = metric_pairs.by_label(each, scores, len(work.pairs), _COMPUTED)
    return {**found, "n_undefined": xr.zeros_like(found["difference"], dtype=int)}


def _why_not(test: Any, metrics: list[Any], coefficient: Coefficient) -> str:
    pair = " and ".join(map(repr, metrics))
    if coefficient.kind == kernels.KENDALL_A:
        return (
            f"method='analytic' needs every swap to leave a correlation: {pair} have a group of which a swap makes all "
            "scores equal; undefined='zero' counts it as 0, and method='permutation' leaves it out"
        )
    groups = "" if test.coefficients is None else f" in {len(test.rest.at)} group(s)"
    return (
        f"method='analytic' needs scores that are not tied: {pair}, standardised and taken together, have equal scores "
        f"of different outputs{groups}; method='auto' or 'permutation' takes them as they are"
    )


def _computed_or_drawn(scores: schema.Scores, work: Work, progress: bool) -> dict[str, xr.DataArray]:
    """Every pair's test: computed where that is exact, else drawn; along dim `_pair`."""
    found = _computed(scores, work, every=False)
    exact = found["exact"]
    left = np.flatnonzero(~exact.all([dim for dim in exact.dims if dim != "_pair"]).values)
    if not left.size:
        return found
    drawn, _ = _drawn(scores, replace(work, pairs=tuple(work.pairs[at] for at in left)), False, progress)
    place = np.zeros(len(work.pairs), dtype=np.int64)
    place[left] = np.arange(len(left))
    return {
        name: values if name == "exact" else values.where(exact, drawn[name].isel(_pair=place)).astype(values.dtype)
        for name, values in found.items()
    }
