"""How often each of two systems has the higher mean in resamples of the inputs; plain arrays."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from xsumstat.analyses.system_tests import drawn_sums, in_common
from xsumstat.core.types import TOLERANCE, FloatArray, IntArray
from xsumstat.kernels import systems as kernels
from xsumstat.resampling import draws
from xsumstat.resampling.jobs import Job


@dataclass(frozen=True)
class _Means:
    """Systems of pairs with the same inputs in common, and their scores by the number of inputs."""

    at: IntArray
    pairs: IntArray
    values: FloatArray
    near: FloatArray


@dataclass(frozen=True)
class Wins(Job[tuple[list[_Means], FloatArray]]):
    """How often the first, or the second, of two systems has the higher mean in resamples, by two scores."""

    targets: IntArray  # type: ignore[assignment]
    n_resamples: int
    seed: int
    names = ("first", "second", "gold_first", "gold_second", "n_inputs")

    def bytes_each(self, x: Any, z: Any, *beside: Any) -> int:
        """About how many bytes a pair takes."""
        return 16 * max(int(x.shape[-1]), draws.BLOCK)

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> tuple[list[_Means], FloatArray]:
        """Some pairs of systems, by the inputs that they have in common, and the numbers of these."""
        pairs, there = self.targets[at], ~(np.isnan(x) | np.isnan(z))
        n_inputs = np.empty(len(pairs))
        groups = []
        for places, inputs in in_common(np.where(there, x, np.nan), pairs):
            n_inputs[places] = inputs.sum()
            if inputs.sum() < 2:
                continue
            used, here = np.unique(pairs[places], return_inverse=True)
            chosen = np.ascontiguousarray(here.reshape(-1, 2))
            both = [np.ascontiguousarray(scores[used][:, inputs]) for scores in (x, z)]
            near = np.array([TOLERANCE * np.abs(each).max(axis=1)[chosen].max(axis=1) for each in both])
            groups.append(_Means(places, chosen, np.concatenate(both) / inputs.sum(), near))
        return groups, n_inputs

    def block(
        self, ready: tuple[list[_Means], FloatArray], block: int, out: FloatArray, stop: threading.Event | None
    ) -> IntArray:
        """How often the first and the second system of each pair win, by both scores, (4, pairs)."""
        groups, n_inputs = ready
        totals = np.zeros((4, len(n_inputs)), dtype=np.int64)
        for group in groups:
            if stop is not None and stop.is_set():
                break
            means = drawn_sums(group.values, self.n_resamples, self.seed, block)
            for side, (drawn, near) in enumerate(zip(np.split(means, 2), group.near, strict=True)):
                wins = np.zeros(group.pairs.shape, dtype=np.int64)
                kernels.count_wins(drawn, group.pairs, near, wins)
                totals[2 * side : 2 * side + 2, group.at] = wins.T
        return totals

    def finish(
        self, ready: tuple[list[_Means], FloatArray], counts: IntArray | None, samples: FloatArray
    ) -> FloatArray:
        """The shares of resamples, and the number of inputs."""
        assert counts is not None
        shares = np.where(ready[1] > 1, counts / self.n_resamples, np.nan)
        return np.concatenate([shares, ready[1][None]])
