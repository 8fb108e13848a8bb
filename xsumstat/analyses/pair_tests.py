"""Tests of pairs of metrics: resampled, corrected by their joint draws, or computed without any."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust as families
from xsumstat.analyses.measure import Draws, Measure
from xsumstat.coefficients.rank_swaps import Ranks
from xsumstat.coefficients.record import Coefficient
from xsumstat.core import validate
from xsumstat.core.types import FloatArray, IntArray, Pair
from xsumstat.dataset import checks, labelled, pair_results, results
from xsumstat.dataset import scores as schema
from xsumstat.inference import signflip_distribution
from xsumstat.inference.corrections import Pool
from xsumstat.resampling import threads
from xsumstat.resampling.jobs import BYTES_AT_ONCE, AtOnce, Job, OfMetrics, over_blocks
from xsumstat.resampling.permutation import PairTests
from xsumstat.resampling.plans import DecisionPlan, PairPlan, SwapPlan

_COMPUTED = ("difference", "forward", "backward", "exact")
_NOTHING = np.nan, np.nan, np.nan, False


@dataclass(frozen=True)
class Correction:
    """How p-values are corrected: the keywords of `adjust`."""

    adjust: str | None
    within: Any


def check_computed(method: str, measure: Measure, plan: PairPlan, draws: Draws, adjust: str | None) -> None:
    """Why a test cannot be computed, as far as its arguments tell."""
    decisions = isinstance(plan, DecisionPlan)
    if method == "analytic" and not (decisions or measure.linear_in_swaps):
        what = "level='system'" if measure.level == "system" else f"coefficient={measure.coefficient.name!r}"
        what = "given" if measure.given else what
        what += " and swap='scores'" if measure.coefficient.calibrated else ""
        raise ValueError(
            "method='analytic' is available for rank coefficients at level 'input', 'global' or 'within_system' only, "
            f"not with {what}; use method='permutation'"
        )
    if method == "analytic" and getattr(plan, "crossed", False):
        raise ValueError("method='analytic' needs units that are swapped independently: with crossed=True they are not")
    if draws.keep_samples or adjust == "maxt":
        requested = "keep_samples=True" if draws.keep_samples else "adjust='maxt'"
        raise ValueError(f"{requested} needs draws, which method={method!r} does without; use method='permutation'")


def check_resamples(
    scores: schema.Scores, plan: PairPlan, correction: Correction, *, alpha: float = families.USUAL_LEVEL, **attrs: Any
) -> None:
    """Warn, before anything is drawn, where so few resamples leave no test that can survive the correction."""
    attrs |= {"n_resamples": plan.n_resamples, "exact": not plan.centred_on_estimate and plan.exact}
    if correction.adjust is not None:
        families.check_resamples(correction.adjust, correction.within, pair_results.asked(scores), alpha=alpha, **attrs)


def resampled(scores: schema.Scores, job: PairTests, correction: Correction, draws: Draws, **attrs: Any) -> xr.Dataset:
    """The test of every pair by resampling, as a result with these attrs."""
    attrs |= _plan_attrs(job.plan)
    keep = draws.keep_samples or (correction.adjust == "maxt" and _samples_are_small(scores, job))
    if correction.adjust == "maxt" and not keep:
        with threads.one_bar(2, draws.progress) as part:
            with part():
                by_pair = _drawn(scores, job, draws.progress)
            result = _result(by_pair, scores, job, attrs)
            with part():
                return _step_down(result, correction.within, scores, job, by_pair["difference"], draws.progress)
    by_pair = _drawn(scores, replace(job, keep_samples=keep), draws.progress)
    result = _result(by_pair, scores, job, attrs)
    if correction.adjust == "maxt" and scores.used is not None:
        pairs = by_pair["samples"], by_pair["difference"]
        place = _rows(by_pair["difference"], scores, job)
        result = families.stepped_down_lazily(result, correction.within, *pairs, _pool(job), place)
    else:
        result = families.adjusted(result, correction.adjust, correction.within)
    return result if draws.keep_samples else result.drop_vars("samples", errors="ignore")


def computed(scores: schema.Scores, job: PairTests, correction: Correction, draws: Draws, **attrs: Any) -> xr.Dataset:
    """The permutation test of every pair, computed from the distribution of a sum of signs where that can be had."""
    if attrs["method"] == "analytic":
        by_pair = _computed(scores, job, every=True, progress=draws.progress)
        pair_results.warn_undefined(by_pair["difference"], job.targets, scores)
    else:
        by_pair = _computed_or_drawn(scores, job, draws.progress)
        attrs |= _plan_attrs(job.plan)
    result = _result(by_pair, scores, job, attrs)
    return families.adjusted(result, correction.adjust, correction.within)


def _result(
    by_pair: dict[str, xr.DataArray], scores: schema.Scores, job: PairTests, attrs: dict[str, Any]
) -> xr.Dataset:
    return results.result(pair_results.laid_out(by_pair, job.targets, scores), scores, **attrs)


def _plan_attrs(plan: PairPlan) -> dict[str, Any]:
    attrs = {"n_resamples": plan.n_resamples, "seed": str(plan.seed)}
    return attrs if plan.centred_on_estimate else {**attrs, "exact": plan.exact}


# --- Resampled ---


def _drawn(scores: schema.Scores, job: PairTests, progress: bool | None) -> dict[str, xr.DataArray]:
    types = results.types(job.names)
    by_pair = labelled.run(job, scores, "_pair", types, keep_samples=job.keep_samples, progress=progress)
    pair_results.warn_undefined(by_pair["difference"], job.targets, scores)
    scores.later.make(checks.warn_resamples, by_pair["n_undefined"].max("_pair"), job.n_resamples)
    return by_pair


# --- Corrected by the joint draws ---


def _samples_are_small(scores: schema.Scores, job: PairTests) -> bool:
    cells = len(scores.rows) * len(scores.columns) * math.prod(scores.further.values())
    return scores.used is not None or 8 * cells * job.n_resamples <= BYTES_AT_ONCE


def _step_down(
    result: xr.Dataset,
    within: Any,
    scores: schema.Scores,
    job: PairTests,
    difference: xr.DataArray,
    progress: bool | None,
) -> xr.Dataset:
    """`adjust` by "maxt" where the samples are too large to keep: they are drawn again, a few at a time."""
    place = _rows(difference, scores, job)
    at_once = max(1, BYTES_AT_ONCE // (8 * job.n_resamples))
    seen = labelled.labels_of(scores)

    def drawn_again(numbers: IntArray) -> FloatArray:
        out = np.empty((len(numbers), job.n_resamples))
        label, pair = np.divmod(numbers, len(job.targets))
        for at in np.unique(label):
            here = np.flatnonzero(label == at)
            some = replace(job, targets=tuple(job.targets[number] for number in pair[here]), keep_samples=True)
            out[here] = over_blocks(some, some.ready(slice(None), *seen[at]))[1]
        return out

    def rows(place: FloatArray, order: IntArray) -> Iterator[FloatArray]:
        for start in range(0, len(order), at_once):
            here = place[order[start : start + at_once], 0]
            again = np.sign(here)[:, None] * drawn_again(np.abs(here).astype(np.int64) - 1)
            for row in again:
                bar()
                yield row

    with threads.progress_bar(place.size, progress) as bar:
        return families.stepped_down(result, within, rows, place, _pool(job))


def _rows(difference: xr.DataArray, scores: schema.Scores, job: PairTests) -> xr.DataArray:
    """The pair of each cell of the table, numbered from 1, negative where its metrics change places."""
    numbers = difference.copy(data=1.0 + np.arange(difference.size).reshape(difference.shape))
    return pair_results.laid_out({"difference": numbers}, job.targets, scores)["difference"]


def _pool(job: PairTests) -> Pool:
    return Pool(job.alternative, job.plan.centred_on_estimate, job.plan.exact)


# --- Computed, not sampled ---


@dataclass(frozen=True)
class _Computed(AtOnce, OfMetrics[FloatArray]):
    """The permutation test of each pair by its sum of signs; without such a sum an error, or NaN unless `every`."""

    targets: tuple[Pair, ...]
    measure: Measure
    test: PairTests
    labels: tuple[Any, ...]
    every: bool
    names = _COMPUTED

    def narrowed(self, at: slice, places: Sequence[int] | None) -> Job[FloatArray]:
        assert places is not None
        narrow: Any = super().narrowed(at, places)
        labels = tuple(self.labels[place] for place in places)
        test = replace(self.test, measure=narrow.measure, targets=narrow.targets)
        found: Job[FloatArray] = replace(narrow, test=test, labels=labels)
        return found

    def bytes_each(self, x: Any, z: Any, *beside: Any) -> int:
        return self.test.bytes_each(x, z)

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> FloatArray:
        pairs = self.targets[at]
        if isinstance(self.test.plan, DecisionPlan):
            tests: Any = self.test.tests(x, z, pairs)
            by_pair = {pair: self._of_units(test.units(pair), test.step) for test in tests for pair in test.pairs}
        else:
            by_pair = {pair: self._of_scores(x, z, pair) for pair in pairs}
        return np.array([by_pair[pair] for pair in pairs], dtype=float).T

    def _of_scores(self, x: FloatArray, z: FloatArray, pair: Pair) -> tuple[float, float, float, bool]:
        plan = self.test.plan
        if not isinstance(plan, SwapPlan) or plan.crossed:
            return _NOTHING
        (test,) = self.test.tests(x, z, (pair,))
        if not isinstance(test, Ranks) or test.coefficients is None or test.rest is not None:
            if not self.every or np.isnan(test.differences(plan.untouched())[0, 0]):
                return _NOTHING
            raise ValueError(_why_not(test, [self.labels[metric] for metric in pair], self.measure.coefficient))
        units = test.coefficients
        if len(plan.dims) == 1:
            units = units.reshape(len(z), -1).sum(axis=1 if "system" in plan.dims else 0)
        return self._of_units(units, test.step)

    def _of_units(self, units: FloatArray, step: float) -> tuple[float, float, float, bool]:
        if np.isnan(units).any():
            return _NOTHING
        found = signflip_distribution.tail(units, step)
        difference, alternative = float(units.sum()), self.test.alternative
        turned = replace(found, at_least=found.at_most, at_most=found.at_least)
        forward, backward = found.pvalue(difference, alternative), turned.pvalue(-difference, alternative)
        return difference, forward, backward, found.exact


def _computed(scores: schema.Scores, job: PairTests, *, every: bool, progress: bool | None) -> dict[str, xr.DataArray]:
    labels = tuple(scores.score["metric"].values.tolist())
    computed = _Computed(job.targets, job.measure, job, labels, every)
    found = labelled.run(computed, scores, "_pair", results.types(_COMPUTED), progress=progress)
    return {**found, "n_undefined": xr.zeros_like(found["difference"], dtype=int)}


def _why_not(test: Any, metrics: list[Any], coefficient: Coefficient) -> str:
    pair = " and ".join(map(repr, metrics))
    if coefficient.linear_in_swaps == "always":
        return (
            f"method='analytic' needs every swap to leave a correlation: {pair} have a group where a swap makes all "
            "scores equal; undefined='zero' counts it as 0, and method='permutation' leaves it out"
        )
    groups = "" if test.coefficients is None else f" in {validate.counted(len(test.rest.at), 'group')}"
    return (
        f"method='analytic' needs scores that are not tied: {pair}, standardised and taken together, have equal scores "
        f"of different outputs{groups}; method='auto' or 'permutation' takes them as they are"
    )


def _computed_or_drawn(scores: schema.Scores, job: PairTests, progress: bool | None) -> dict[str, xr.DataArray]:
    found = _computed(scores, job, every=False, progress=progress)
    exact = found["exact"]
    left = np.flatnonzero(~exact.all([dim for dim in exact.dims if dim != "_pair"]).values)
    if not left.size:
        return found
    drawn = _drawn(scores, replace(job, targets=tuple(job.targets[at] for at in left)), progress)
    place = np.zeros(len(job.targets), dtype=np.int64)
    place[left] = np.arange(len(left))
    return {
        name: values if name == "exact" else values.where(exact, drawn[name].isel(_pair=place)).astype(values.dtype)
        for name, values in found.items()
    }
