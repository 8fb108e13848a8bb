"""Curvature of Pearson's r of system means in the noise of inputs; jackknives double this second-order part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.core.types import FloatArray, IntArray


@dataclass(frozen=True)
class Curvature:
    """Second derivatives of one correlation by the noise of inputs j and k: ``F_jk = y_j'·K·y_k``, y_j = (u_j, v_j).

    With a and b the centred, normed means of metric and gold, u_j and v_j the noise of an input over the same norms,
    and r = a·b: ``u_j·v_k + u_k·v_j − [(b·u_j + a·v_j)(a·u_k + b·v_k) + (j↔k)] + r[3(a·u_j)(a·u_k) − u_j·u_k +
    3(b·v_j)(b·v_k) − v_j·v_k + (a·u_j)(b·v_k) + (a·u_k)(b·v_j)]``.
    """

    means: tuple[FloatArray, FloatArray]  # (systems,), of metric and gold, as the others
    rest: tuple[FloatArray, FloatArray]  # (systems, inputs), without system and input means
    cells: tuple[IntArray, IntArray]  # (systems,)
    clusters: IntArray | None = None  # of inputs, numbered from 0, whose noise is summed

    @cached_property
    def _centred(self) -> list[FloatArray]:
        return [mean - mean.mean() for mean in self.means]

    @cached_property
    def noise(self) -> FloatArray:
        """The y_j, (2 systems, inputs or their clusters), without what all systems share."""
        sides = []
        for centred, rest, cells in zip(self._centred, self.rest, self.cells, strict=True):
            noise = rest / cells[:, None]
            sides.append((noise - noise.mean(axis=0)) / np.linalg.norm(centred))
        noise = np.concatenate(sides)
        return noise if self.clusters is None else arrays.summed(noise.T, self.clusters).T

    @cached_property
    def form(self) -> FloatArray:
        a, b = (centred / np.linalg.norm(centred) for centred in self._centred)
        r, one = float(a @ b), np.eye(len(a))
        aa, ab, bb = np.outer(a, a), np.outer(a, b), np.outer(b, b)
        between = one - aa - bb + r * ab
        of_u, of_v = (r * (3 * own - one) - ab - ab.T for own in (aa, bb))
        return np.block([[of_u, between], [between.T, of_v]])

    @cached_property
    def diagonal(self) -> FloatArray:
        return np.asarray(np.einsum("ij,ij->j", self.noise, self.form @ self.noise))

    @cached_property
    def squares(self) -> float:
        return _trace(self, self, self.noise @ self.noise.T)


@dataclass(frozen=True)
class Bend:
    """Curvature of one correlation as a term of a sum, with a `weight`."""

    curvature: Curvature
    weight: float = 1.0
    places: IntArray | None = None

    def placed(self, values: FloatArray, n_inputs: int) -> FloatArray:
        """Values (..., inputs) among all inputs, 0 for inputs outside this correlation."""
        if self.places is None:
            return values
        found: FloatArray = np.zeros((*values.shape[:-1], n_inputs))
        found[..., self.places] = values
        return found


def averaged(bends: Sequence[tuple[Bend, ...]]) -> tuple[Bend, ...]:
    return tuple(replace(bend, weight=bend.weight / len(bends)) for each in bends for bend in each)


def second_order(bends: Sequence[Bend], n_inputs: int) -> float:
    """``M/(M−1)·Σ_{j≠k} F_jk²/2``: variance of the second-order part by the noise of M inputs; 0 without bends."""
    # The sum over all j and k is a trace of products of small matrices, so the cost grows with M, not M².
    if not bends:
        return 0.0
    total = sum(bend.weight**2 * bend.curvature.squares for bend in bends)
    for at, one in enumerate(bends):
        for two in bends[at + 1 :]:
            sides = [bend.placed(bend.curvature.noise, n_inputs) for bend in (one, two)]
            total += 2 * one.weight * two.weight * _trace(one.curvature, two.curvature, sides[0] @ sides[1].T)
    own = np.sum([bend.weight * bend.placed(bend.curvature.diagonal, n_inputs) for bend in bends], axis=0)
    return n_inputs / (n_inputs - 1) * max(0.0, total - float(np.sum(own**2))) / 2


def bias(bends: Sequence[Bend], n_inputs: int) -> float:
    """``M/(M−1)·Σ_j F_jj/2``: by how much the noise of M inputs moves a correlation on average; 0 without bends."""
    moved = sum(bend.weight * float(np.sum(bend.curvature.diagonal)) for bend in bends)
    return n_inputs / (n_inputs - 1) * moved / 2


def _trace(one: Curvature, two: Curvature, products: FloatArray) -> float:
    """``Σ_jk F_jk·F'_jk`` of two curvatures, from the products of their noise (2 systems, 2 systems)."""
    return float(np.sum((one.form @ products) * (two.form @ products.T).T))
