"""Variance components of crossed effects by Henderson's method I, with jackknife standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xsumstat.core.types import BoolArray, FloatArray

Axes = tuple[int, ...]

EFFECTS: dict[str, Axes] = {"system": (0,), "input": (1,), "cell": (0, 1)}
EFFECTS_OF_RATINGS: dict[str, Axes] = {**EFFECTS, "rater": (2,), "residual": (0, 1, 2)}
# What is left out in turn for the standard errors: systems, inputs.
_LEFT_OUT: tuple[Axes, ...] = ((0,), (1,))
_SINGULAR = 1e10
_ROUNDS, _LEAST = 200, 1e-10


@dataclass(frozen=True)
class Layout:
    """The cells (or ratings) that two scores share, `mask`, and the axes of each effect; the last has all axes."""

    mask: BoolArray
    effects: tuple[Axes, ...]

    def summed(self, values: FloatArray, axes: Axes) -> FloatArray:
        over = tuple(at for at in range(self.mask.ndim) if at not in axes)
        return np.asarray(values.sum(axis=over, keepdims=True))

    @cached_property
    def _whole(self) -> FloatArray:
        return self.mask.astype(float)

    def count(self, axes: Axes) -> FloatArray:
        return self.summed(self._whole, axes)

    def forms(self, x: FloatArray, y: FloatArray, without: Axes) -> FloatArray:
        """``Σ_a x_a·y_a/n_a − x.y./n`` for each effect, (effects, ...), without each label of some axes in turn."""
        found = [self._form(x, y, axes, without) for axes in ((), *self.effects)]
        return np.array([np.broadcast_to(each - found[0], found[-1].shape) for each in found[1:]])

    def _form(self, x: FloatArray, y: FloatArray, axes: Axes, without: Axes) -> FloatArray:
        both = _union(axes, without)
        of_x, of_y, n = (self.summed(each, axes) for each in (x, y, self._whole))
        kept = self.summed(_over(of_x * of_y, n), without)
        if not without:
            return kept
        less_x, less_y, less = (self.summed(each, both) for each in (x, y, self._whole))
        new = _over((of_x - less_x) * (of_y - less_y), n - less)
        total = _over(of_x * of_y, n).sum(keepdims=True)
        return np.asarray(total - kept + self.summed(new, without))

    def coefficients(self, without: Axes) -> FloatArray:
        """Expectation of each form for each component, (labels, forms, effects)."""
        mean = [self._coefficient((), effect, without) for effect in self.effects]
        rows = [[self._coefficient(form, effect, without) for effect in self.effects] for form in self.effects]
        shape = tuple(size if at in without else 1 for at, size in enumerate(self.mask.shape))
        table = [[np.broadcast_to(a - b, shape).ravel() for a, b in zip(row, mean, strict=True)] for row in rows]
        return np.moveaxis(np.array(table), -1, 0)

    def _coefficient(self, form: Axes, effect: Axes, without: Axes) -> FloatArray:
        """``Σ_a Σ_b n_ab²/n_a`` over labels a of a form and b of an effect."""
        n, joint = self.count(form), _union(form, effect)
        n_joint = self.count(joint)
        squares = self.summed(n_joint**2, form)
        kept = self.summed(_over(squares, n), without)
        if not without:
            return kept
        less, less_joint = self.count(_union(form, without)), self.count(_union(joint, without))
        change = self.summed((n_joint - less_joint) ** 2 - n_joint**2, _union(form, without))
        new = _over(squares + change, n - less)
        return np.asarray(_over(squares, n).sum(keepdims=True) - kept + self.summed(new, without))

    @cached_property
    def _solvers(self) -> dict[Axes, FloatArray]:
        return {}

    def _solver(self, without: Axes) -> FloatArray:
        if without not in self._solvers:
            self._solvers[without] = _inverse(self.coefficients(without))
        return self._solvers[without]

    def estimate(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Covariance of two scores' effects, for each effect; NaN where the cells do not identify it."""
        return np.asarray(self._solved(x, y, ())[:, 0])

    def error(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Jackknife standard errors: systems' by systems, inputs' by inputs, others the larger of the two."""
        parts = np.full((2, len(self.effects)), np.nan)
        for at, without in enumerate(_LEFT_OUT):
            there = self.count(without).ravel() > 0
            found = self._solved(x, y, without)[:, there]
            n = found.shape[1]
            if n > 1:
                parts[at] = (n - 1) / n * ((found - found.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        own = [parts[effect[0]] if effect in _LEFT_OUT else parts.max(axis=0) for effect in self.effects]
        return np.asarray(np.sqrt([each[at] for at, each in enumerate(own)]))

    def without_inputs(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return self._solved(x, y, _LEFT_OUT[1])

    def _solved(self, x: FloatArray, y: FloatArray, without: Axes) -> FloatArray:
        forms = self.forms(x, y, without)
        values = forms.reshape(len(forms), -1).T[..., None]
        return np.asarray((self._solver(without) @ values)[..., 0].T)


def _union(one: Axes, other: Axes) -> Axes:
    return tuple(sorted({*one, *other}))


def _over(values: FloatArray, n: FloatArray) -> FloatArray:
    return np.divide(values, n, out=np.zeros(np.broadcast_shapes(values.shape, n.shape)), where=n > 0.5)


def _inverse(tables: FloatArray) -> FloatArray:
    scale = np.abs(tables).max(axis=(1, 2), keepdims=True)
    rows = tables / np.where(scale > 0, np.abs(tables).max(axis=2, keepdims=True), 1.0).clip(1e-300)
    good = np.isfinite(rows).all(axis=(1, 2))
    good[good] = np.linalg.cond(rows[good]) < _SINGULAR
    out = np.full(tables.shape, np.nan)
    out[good] = np.linalg.inv(tables[good])
    return out


def estimates(values: FloatArray, effects: tuple[Axes, ...], errors: bool = True) -> tuple[FloatArray, FloatArray]:
    """Covariances of the effects of any two scores, and their standard errors, (effects, scores, scores)."""
    size = len(values)
    found, spread = np.full((2, len(effects), size, size), np.nan)
    layouts: dict[bytes, Layout] = {}
    there = np.isfinite(values)
    for a in range(size):
        for b in range(a, size):
            mask = there[a] & there[b]
            layout = layouts.setdefault(np.packbits(mask).tobytes(), Layout(mask, effects))
            if not mask.any():
                continue
            x, y = (np.where(mask, each - each[mask].mean(), 0.0) for each in (values[a], values[b]))
            found[:, a, b] = found[:, b, a] = layout.estimate(x, y)
            if errors:
                spread[:, a, b] = spread[:, b, a] = layout.error(x, y)
    return found, spread


def crossed(values: FloatArray) -> FloatArray:
    """Covariances (systems, inputs and cells; scores, scores) of scores (scores, systems, inputs)."""
    if values.shape[1] > 1:
        return estimates(values, tuple(EFFECTS.values()), errors=False)[0]
    cells, _ = estimates(values, (EFFECTS["cell"],), errors=False)
    return np.concatenate([np.zeros((2, *cells.shape[1:])), cells])


def of_ratings(values: FloatArray) -> dict[str, float]:
    """Variances by effect of ratings (systems, inputs, raters); with one system inputs count as cells."""
    effects = EFFECTS_OF_RATINGS
    if values.shape[0] == 1:
        effects = {"cell": (1,), "rater": (2,), "residual": (0, 1, 2)}
    found, _ = estimates(values[None], tuple(effects.values()), errors=False)
    return dict(zip(effects, found[:, 0, 0].tolist(), strict=True))


def repaired(covariances: FloatArray) -> FloatArray:
    """The nearest valid covariances (..., scores, scores): variances ≥ 0, correlations without negative eigenvalues."""
    # Higham's projections without his correction, repeated. NaN stay; their pairs count as uncorrelated meanwhile.
    out = covariances.copy()
    for at in np.ndindex(covariances.shape[:-2]):
        out[at] = _repaired(covariances[at])
    return out


def _repaired(covariance: FloatArray) -> FloatArray:
    variance = np.maximum(np.diag(covariance), 0.0)
    sd = np.sqrt(np.nan_to_num(variance))
    scale = np.outer(sd, sd)
    r = np.divide(np.nan_to_num(covariance), scale, out=np.zeros_like(covariance), where=scale > 0)
    np.fill_diagonal(r, 1.0)
    for _ in range(_ROUNDS):
        values, vectors = np.linalg.eigh(r)
        if values[0] >= -_LEAST:
            break
        r = (vectors * np.maximum(values, 0.0)) @ vectors.T
        np.fill_diagonal(r, 1.0)
    values, vectors = np.linalg.eigh(r)
    if values[0] < 0:  # the last few digits
        r = (vectors * np.maximum(values, 0.0)) @ vectors.T
        own = np.sqrt(np.diag(r))
        r = r / np.outer(own, own)
    out = np.clip(r, -1.0, 1.0) * scale
    np.fill_diagonal(out, variance)
    return np.where(np.isnan(covariance), np.nan, out)
