"""How Pearson's r of systems' means bends with the noise of inputs: a second-order part, which jackknives double."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from xsumstat.types import FloatArray, IntArray


@dataclass(frozen=True)
class Bend:
    """Of one correlation, perhaps as a part of a sum.

    Attributes
    ----------
    means : tuple of arrays, (systems,)
        Of the metric and of the gold.
    rest : tuple of arrays, (systems, inputs)
        What is left of their scores without systems' and inputs' means; 0 where there is none.
    cells : tuple of arrays of int, (systems,)
        How many scores each mean is of.
    weight : float
        How often it counts.
    places : array of int, optional
        Places of the inputs among those of all parts; None where these are the same.
    """

    means: tuple[FloatArray, FloatArray]
    rest: tuple[FloatArray, FloatArray]
    cells: tuple[IntArray, IntArray]
    weight: float = 1.0
    places: IntArray | None = None

    def sides(self, n_inputs: int) -> tuple[FloatArray, FloatArray]:
        """Two arrays (2 systems, inputs) whose product over the first axis is F, (inputs, inputs).

        F_jk is the second derivative of r by how much the scores on the inputs j and k move the means. With a and b
        the centred means over their norms, u_j and v_j the noise of an input over the same norms, and r = a·b, it is
        ``u_j·v_k + u_k·v_j − [(b·u_j + a·v_j)(a·u_k + b·v_k) + (j↔k)] + r[3(a·u_j)(a·u_k) − u_j·u_k +
        3(b·v_j)(b·v_k) − v_j·v_k + (a·u_j)(b·v_k) + (a·u_k)(b·v_j)]``.
        """
        (a, u), (b, v) = (self._unit(side, n_inputs) for side in (0, 1))
        r = float(a @ b)
        au, av, bu, bv = a @ u, a @ v, b @ u, b @ v
        of_u = v - np.outer(b, au + bv) - np.outer(a, bu + av) + r * (np.outer(a, 3 * au + bv) - u)
        of_v = u - np.outer(a, au + bv) - np.outer(b, bu + av) + r * (np.outer(b, 3 * bv + au) - v)
        return np.concatenate([u, v]), self.weight * np.concatenate([of_u, of_v])

    def _unit(self, side: int, n_inputs: int) -> tuple[FloatArray, FloatArray]:
        """Centred means over their norm, and the noise, without what all systems share, over the same."""
        mean, noise = self.means[side], self.rest[side] / self.cells[side][:, None]
        centred = mean - mean.mean()
        norm = np.linalg.norm(centred)
        apart = (noise - noise.mean(axis=0)) / norm
        if self.places is None:
            return centred / norm, apart
        found: FloatArray = np.zeros((len(mean), n_inputs))
        found[:, self.places] = apart
        return centred / norm, found


def averaged(bends: Sequence[tuple[Bend, ...]]) -> tuple[Bend, ...]:
    """Those of the mean of several correlations, on the same systems and inputs."""
    return tuple(replace(bend, weight=bend.weight / len(bends)) for each in bends for bend in each)


def second_order(bends: Sequence[Bend], n_inputs: int) -> float:
    """``M/(M−1)·Σ_{j≠k} F_jk²/2``: the variance of the second-order part, by the noise of M inputs; 0 of no bends."""
    if not bends:
        return 0.0
    sides = (np.concatenate(each) for each in zip(*(bend.sides(n_inputs) for bend in bends), strict=True))
    noise, turned = sides
    if n_inputs <= len(noise):
        total = float(np.sum((noise.T @ turned) ** 2))
    else:  # the trace of F², by the smaller product
        product = turned @ noise.T
        total = float(np.sum(product * product.T))
    own = float(np.sum(np.sum(noise * turned, axis=0) ** 2))
    return n_inputs / (n_inputs - 1) * max(0.0, total - own) / 2
