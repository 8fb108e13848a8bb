"""Tests of pairs of metrics by resampling: the observed difference among those of the null hypothesis."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from xsumstat.coefficients import arrays, pairs
from xsumstat.coefficients.record import Differences, Measure
from xsumstat.core.types import TOLERANCE, FloatArray, IntArray, Pair
from xsumstat.inference import pvalues
from xsumstat.kernels import swaps as swap_kernels
from xsumstat.resampling import threads
from xsumstat.resampling.jobs import OfMetrics
from xsumstat.resampling.plans import DecisionPlan, PairPlan, SwapPlan


@dataclass(frozen=True)
class Ready:
    """Pairs of metrics ready to be resampled, the places of each test's pairs, and observed differences."""

    tests: Sequence[Differences]
    places: Sequence[IntArray]
    observed: FloatArray
    plan: PairPlan


@dataclass(frozen=True)
class PairTests(OfMetrics[Ready]):
    targets: tuple[Pair, ...]
    plan: PairPlan
    alternative: str
    measure: Measure
    keep_samples: bool = False
    names = ("difference", "forward", "backward", "n_undefined")

    @property
    def n_resamples(self) -> int:  # type: ignore[override]
        return self.plan.n_resamples

    @property
    def _of_means(self) -> bool:
        """Whether pairs share sums of each metric's system means, relative to the first metric."""
        return isinstance(self.plan, SwapPlan) and self.measure.of_shared_means

    @property
    def together(self) -> bool:
        """Whether all pairs share draws, sums or decisions of each metric."""
        return self.plan.centred_on_estimate or isinstance(self.plan, DecisionPlan) or self._of_means

    def metrics_of(self, target: Pair) -> tuple[int, ...]:  # type: ignore[override]
        """The metrics of a pair, and the first metric where pairs share sums."""
        return (0, *target) if self._of_means else target

    def bytes_each(self, x: Any, z: Any, *beside: Any) -> int:
        return arrays.footprint((z.shape[-2], z.shape[-1]), self.measure.level)

    def tests(self, x: FloatArray, z: FloatArray, targets: tuple[Pair, ...]) -> Sequence[Differences]:
        if isinstance(self.plan, DecisionPlan):
            decisions = self.measure.coefficient.swapped_decisions
            assert decisions is not None
            return partial(decisions, by_group=self.plan.by_group)(x, z, targets, self.measure)
        if self.plan.centred_on_estimate:
            return pairs.drawn(x, z, targets, self.measure)
        return self.measure.swapped(x, z, targets)

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> Ready:
        plan = self.plan.reshaped((z.shape[-2], z.shape[-1]))
        if plan.n_resamples != self.plan.n_resamples:
            raise ValueError(
                "systems or inputs without any score that can be used leave so few swaps that the test becomes exact; "
                "take them out of the lazy Dataset first"
            )
        targets = self.targets[at]
        tests = self.tests(x, z, targets)
        place = {pair: number for number, pair in enumerate(targets)}
        places = [np.array([place[pair] for pair in test.pairs]) for test in tests]
        observed = np.empty(len(targets))
        for test, here in zip(tests, places, strict=True):
            observed[here] = test.differences(plan.untouched())[:, 0]
        return Ready(tests, places, observed, plan)

    def rows(self, ready: Ready) -> int:
        return len(ready.observed) if self.keep_samples else 0

    def block(self, ready: Ready, block: int, out: FloatArray, stop: threading.Event | None) -> IntArray:
        """Counts of one block, (4, pairs): ≥ the observed difference, ≤ it, as far from 0, undefined."""
        totals = np.zeros((4, len(ready.observed)), dtype=np.int64)
        samples = out if self.keep_samples else None
        for here, draws in ready.plan.pieces(block):
            for test, at in zip(ready.tests, ready.places, strict=True):
                counts = np.empty((4, len(at)), dtype=np.int64)
                for piece in threads.pieces(len(draws), test.cost, stop):
                    differences = test.differences(draws[piece])
                    null = differences - ready.observed[at, None] if self.plan.centred_on_estimate else differences
                    swap_kernels.compare(null, ready.observed[at], TOLERANCE, counts)
                    totals[:, at] += counts
                    if samples is not None:
                        samples[at, here.start + piece.start : here.start + piece.stop] = differences
        return totals

    def finish(self, ready: Ready, counts: IntArray | None, samples: FloatArray) -> FloatArray:
        """Difference, p-values of both directions, and number of undefined resamples."""
        assert counts is not None
        forward, backward = pvalues.permutation_pvalues(
            ready.observed, counts, self.plan.n_resamples, self.plan.exact, self.alternative
        )
        return np.array([ready.observed, forward, backward, counts[3].astype(float)])
