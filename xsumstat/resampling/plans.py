"""Plans of resamples in blocks that all statistics share: labels drawn with replacement, scores or choices swapped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from xsumstat.coefficients.arrays import packed
from xsumstat.coefficients.clusters import Clusters
from xsumstat.coefficients.pairs import Draw
from xsumstat.core import levels
from xsumstat.core.types import Bits
from xsumstat.resampling import draws


@dataclass(frozen=True)
class DrawPlan:
    """Dims drawn with replacement, independently (the pigeonhole bootstrap, Owen 2007; Deutsch et al. 2021, Alg. 1)."""

    shape: tuple[int, int]  # systems and inputs
    dims: tuple[str, ...]  # "system", "input", both; or "cell"; and layers
    n_resamples: int
    seed: int
    layers: tuple[int, ...] = ()  # references and raters
    clusters: Clusters | None = field(default=None, compare=False)  # drawn whole

    @property
    def centred_on_estimate(self) -> bool:
        """True: differences vary about the observed one; the null hypothesis shifts them to 0."""
        return True

    @property
    def exact(self) -> bool:
        return False

    def reshaped(self, shape: tuple[int, int]) -> DrawPlan:
        return replace(self, shape=shape)

    def untouched(self) -> Draw:
        systems, inputs = (np.ones((1, size), dtype=np.int64) for size in self.shape)
        return Draw(systems, inputs)

    def block(self, block: int) -> Draw:
        return self._next(self._streams(block), draws.block_rows(self.n_resamples, block))

    def pieces(self, block: int) -> Iterator[tuple[slice, Draw]]:
        streams, drawn = self._streams(block), [size for dim, size in self._sizes() if dim in self.dims]
        for at in draws.in_steps(draws.block_rows(self.n_resamples, block), 8.0 * sum(drawn)):
            yield at, self._next(streams, at.stop - at.start)

    def _sizes(self) -> Iterator[tuple[str, int]]:
        names = ("cell" if "cell" in self.dims else "system", "input", "reference", "rater")
        return zip(names, (*_n_clusters(self.shape, self.clusters), *self.layers), strict=False)

    def _streams(self, block: int) -> dict[str, draws.Stream]:
        return {dim: draws.Stream(self.seed, dim, block) for dim in self.dims}

    def _next(self, streams: dict[str, draws.Stream], rows: int) -> Draw:
        systems, inputs, *layers = (
            streams[dim].counts(size, rows) if dim in streams else np.ones((1, size), dtype=np.int64)
            for dim, size in self._sizes()
        )
        if self.clusters is not None:
            systems, inputs = (
                np.ascontiguousarray(counts[:, of_label])
                for counts, of_label in zip((systems, inputs), self.clusters, strict=True)
            )
        return Draw(systems, inputs, tuple(layers))


@dataclass(frozen=True)
class SwapPlan:
    """Units that are swapped, at random or by enumeration."""

    shape: tuple[int, int]
    dims: tuple[str, ...]  # one: all its cells together; both: each cell (Deutsch et al. 2021, Alg. 2)
    crossed: bool  # by the exclusive or of a system's and an input's coin
    n_resamples: int
    exact: bool  # all 2^units swaps
    seed: int
    clusters: Clusters | None = field(default=None, compare=False)  # swapped whole

    @classmethod
    def of(
        cls,
        shape: tuple[int, int],
        dims: tuple[str, ...],
        crossed: bool,
        n_resamples: int,
        seed: int,
        clusters: Clusters | None = None,
    ) -> SwapPlan:
        numbers = _n_clusters(shape, clusters)
        sizes = dict(zip(("system", "input"), numbers, strict=True))
        units = sum(sizes[dim] for dim in dims) if crossed or len(dims) == 1 else numbers[0] * numbers[1]
        return cls(shape, dims, crossed, *_n_swaps(units, n_resamples), seed, clusters)

    @property
    def centred_on_estimate(self) -> bool:
        return False

    def reshaped(self, shape: tuple[int, int]) -> SwapPlan:
        if self.clusters is not None and shape == self.shape:
            return self
        return SwapPlan.of(shape, self.dims, self.crossed, self.n_resamples, self.seed)

    def untouched(self) -> Bits:
        return packed(np.zeros((1, *self.shape)))

    def _of_clusters(self) -> SwapPlan:
        """The plan with each cluster as one system or input."""
        return replace(self, shape=_n_clusters(self.shape, self.clusters), clusters=None)

    def _spread(self, bits: Bits) -> Bits:
        """Signs of clusters, given to each of their systems and inputs."""
        assert self.clusters is not None
        systems, inputs = self.clusters
        bits = bits[:, systems]
        if len(inputs) == inputs.max() + 1:  # each of its own, and in order
            return np.ascontiguousarray(bits)
        return packed(np.unpackbits(bits, axis=2, count=int(inputs.max()) + 1, bitorder="little")[:, :, inputs])

    def block(self, block: int) -> Bits:
        """Signs of a block as `arrays.packed` gives them, (resamples, systems, bytes)."""
        if self.clusters is not None:
            return self._spread(self._of_clusters().block(block))
        if self.exact:
            return packed(self._enumerated(block))
        return self._next(self._streams(block), draws.block_rows(self.n_resamples, block))

    def pieces(self, block: int) -> Iterator[tuple[slice, Bits]]:
        if self.clusters is None:
            yield from _pieces(self, block, self.shape[0] * self.shape[1])
            return
        for at, bits in self._of_clusters().pieces(block):
            yield at, self._spread(bits)

    def _streams(self, block: int) -> dict[str, draws.Stream]:
        dims = self.dims if self.crossed or len(self.dims) == 1 else ("cell",)
        return {dim: draws.Stream(self.seed, dim, block) for dim in dims}

    def _next(self, streams: dict[str, draws.Stream], rows: int) -> Bits:
        systems, inputs = self.shape
        width = -(-inputs // 8)
        if "cell" in streams:
            sign_bits = streams["cell"].sign_bits(8 * width * systems, rows)
            return np.ascontiguousarray(sign_bits).reshape(rows, systems, width)
        out = np.zeros((rows, systems, width), dtype=np.uint8)
        if "system" in streams:
            sign_bits = streams["system"].sign_bits(systems, rows)
            whole = np.unpackbits(sign_bits, axis=1, count=systems, bitorder="little") * np.uint8(255)
            out ^= whole[:, :, None]
        if "input" in streams:
            out ^= streams["input"].sign_bits(inputs, rows)[:, None, :]
        return out

    def _enumerated(self, block: int) -> npt.NDArray[np.uint8]:
        """A block of the list of all swaps, (resamples, systems, inputs)."""
        systems, inputs = self.shape
        if len(self.dims) == 2 and not self.crossed:
            return draws.all_signs(systems * inputs, block).reshape(-1, systems, inputs)
        sizes = (systems if "system" in self.dims else 0, inputs if "input" in self.dims else 0)
        units = draws.all_signs(sum(sizes), block)
        of_system = units[:, :systems, None] if sizes[0] else np.uint8(0)
        of_input = units[:, None, sizes[0] :] if sizes[1] else np.uint8(0)
        either = np.asarray(of_system ^ of_input)
        return np.broadcast_to(either, (len(either), systems, inputs))


@dataclass(frozen=True)
class DecisionPlan:
    """Swaps of two metrics' decisions which of two outputs is better; `by_group` swaps those of a group together."""

    shape: tuple[int, int]
    level: str
    by_group: bool
    n_resamples: int
    exact: bool
    seed: int

    @classmethod
    def of(cls, shape: tuple[int, int], level: str, by_group: bool, n_resamples: int, seed: int) -> DecisionPlan:
        units = _decisions(shape, level, by_group)
        return cls(shape, level, by_group, *_n_swaps(units, n_resamples), seed)

    @property
    def centred_on_estimate(self) -> bool:
        return False

    @property
    def units(self) -> int:
        return _decisions(self.shape, self.level, self.by_group)

    def reshaped(self, shape: tuple[int, int]) -> DecisionPlan:
        return DecisionPlan.of(shape, self.level, self.by_group, self.n_resamples, self.seed)

    def untouched(self) -> Bits:
        return packed(np.zeros((1, self.units)))

    def block(self, block: int) -> Bits:
        if self.exact:
            return packed(draws.all_signs(self.units, block))
        return self._next(self._streams(block), draws.block_rows(self.n_resamples, block))

    def pieces(self, block: int) -> Iterator[tuple[slice, Bits]]:
        return _pieces(self, block, self.units)

    def _streams(self, block: int) -> dict[str, draws.Stream]:
        return {"decision": draws.Stream(self.seed, "decision", block)}

    def _next(self, streams: dict[str, draws.Stream], rows: int) -> Bits:
        return np.ascontiguousarray(streams["decision"].sign_bits(self.units, rows))


def _n_swaps(units: int, n_resamples: int) -> tuple[int, bool]:
    """Number of swaps, and whether these are all that there are."""
    exact = units < 63 and 2**units <= n_resamples
    return 2**units if exact else n_resamples, exact


def _pieces(plan: SwapPlan | DecisionPlan, block: int, units: int) -> Iterator[tuple[slice, Bits]]:
    if plan.exact:
        bits = plan.block(block)
        yield slice(0, len(bits)), bits
        return
    streams = plan._streams(block)
    for at in draws.in_steps(draws.block_rows(plan.n_resamples, block), units / 8):
        yield at, plan._next(streams, at.stop - at.start)


def _n_clusters(shape: tuple[int, int], clusters: Clusters | None) -> tuple[int, int]:
    if clusters is None:
        return shape
    systems, inputs = (int(each.max()) + 1 for each in clusters)
    return systems, inputs


def _decisions(shape: tuple[int, int], level: str, by_group: bool) -> int:
    """Number of compared pairs of outputs, or of their groups."""
    members, groups = levels.sizes(level, shape)
    return groups if by_group else groups * (members * (members - 1) // 2)


PairPlan = SwapPlan | DrawPlan | DecisionPlan
