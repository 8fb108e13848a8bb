"""How a metric's error changes with covariates: slopes with systems and inputs as clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.clusters import Clusters
from xsumstat.core.types import BoolArray, FloatArray, IntArray

# So small a share of a variance is none; rounding makes differences of so small a share of scores.
_NOTHING, _ROUNDING = 1e-10, 1e-12
# A difference of two sums that is so small a share of one of them has lost digits.
_DIGITS = 1e-3


@dataclass(frozen=True)
class Question:
    """What is asked of scores."""

    level: str
    method: str  # errors: "regression" residuals given the gold, or "difference" of standardised scores
    groups: tuple[bool, ...]  # marks the 0/1 covariates, whose slope is a difference of means
    dims: tuple[str, ...]  # random
    clusters: Clusters | None = None


@dataclass(frozen=True)
class _Fit:
    """A regression of standardised rows; covariates come last among the regressors."""

    slopes: FloatArray  # (covariates,), in the `unit` reported
    unit: FloatArray
    b: FloatArray  # (regressors,), standardised
    inverse: FloatArray  # of the products of regressors
    by: FloatArray  # (regressors, rows, columns), derivative of b by y
    residuals: FloatArray
    spread: FloatArray  # divisors of the variables

    @property
    def covariates(self) -> slice:
        return slice(len(self.b) - len(self.slopes), None)

    @property
    def of_errors(self) -> FloatArray:
        """Derivative of each reported slope by each of the metric's scores, (covariates, ...)."""
        return np.asarray(self.by[self.covariates] * self.unit[:, None, None] / self.spread[0])


def slopes(x: FloatArray, z: FloatArray, covariates: FloatArray, question: Question) -> FloatArray:
    """Slope, standard error and degrees of freedom of each covariate, (3, covariates), in one regression."""
    cells = np.concatenate([np.stack([x, z]), covariates])
    arrays.check_finite(cells)
    cells = np.stack([arrays.scaled(each) for each in cells])
    there = np.asarray(~np.isnan(cells).any(axis=0))
    systems, inputs = (np.asarray(there.any(axis=axis)) for axis in (1, 0))
    cells, there = cells[:, systems][:, :, inputs], there[systems][:, inputs]
    rows, present = rows_of(cells, there, question.level)
    fit = _fit(rows, present, question) if present.any() else None
    if fit is None:
        return np.full((3, len(covariates)), math.nan)
    clusters = used(question.clusters, systems, inputs)
    random = "system" in question.dims
    own, df = _of_systems(rows, present, fit, question, clusters[0]) if random else (0.0, math.inf)
    added, df_inputs = _of_inputs(cells, there, fit, question, clusters)
    df = np.minimum(df, df_inputs)
    error = np.sqrt(own + added)
    known = np.isfinite(error) & (error > 0) & (df > 0)
    return np.array([fit.slopes, np.where(known, error, np.nan), np.where(known, df, np.nan)])


def used(clusters: Clusters | None, systems: BoolArray, inputs: BoolArray) -> Clusters:
    """Clusters of the systems and inputs used, numbered in order of appearance."""
    if clusters is None:
        return np.arange(systems.sum()), np.arange(inputs.sum())
    return _in_order(clusters[0][systems]), _in_order(clusters[1][inputs])


def _in_order(codes: IntArray) -> IntArray:
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse.reshape(-1)])


def _trivial(codes: IntArray) -> bool:
    return bool(codes[-1] == len(codes) - 1)


def blocks(values: FloatArray, systems: IntArray, inputs: IntArray) -> FloatArray:
    """Values (..., systems, inputs) summed over each cluster of systems and of inputs."""
    return _sums_of(_sums_of(values, systems, -2), inputs, -1)


def _sums_of(values: FloatArray, codes: IntArray, axis: int) -> FloatArray:
    if _trivial(codes):
        return values
    return np.moveaxis(arrays.summed(np.moveaxis(values, axis, 0), codes), 0, axis)


def rows_of(cells: FloatArray, there: BoolArray, level: str) -> tuple[FloatArray, BoolArray]:
    """The regressed values: cells, or at system level the system means as one column."""
    if level != "system":
        return cells, there
    count = there.sum(axis=1)
    means = np.where(there, cells, 0.0).sum(axis=2) / np.maximum(count, 1)
    return means[..., None], count[:, None] > 0


def centred_rows(rows: FloatArray, present: BoolArray, level: str) -> FloatArray:
    """Rows less the mean of their input, of their system, or of all; 0 where missing."""
    axes = {"input": (0,), "within_system": (1,)}.get(level, (0, 1))
    count = present.sum(axis=axes, keepdims=True)
    found = np.where(present, rows, 0.0)
    for _ in range(2):  # the first mean is rounded to the size of the scores, not of their spread
        mean = found.sum(axis=tuple(axis + 1 for axis in axes), keepdims=True) / np.maximum(count, 1)
        found = np.where(present, found - mean, 0.0)
    return found


def _sides(values: FloatArray, method: str) -> tuple[FloatArray, FloatArray]:
    """Response and regressors, from standardised metric, gold and covariates."""
    return (values[0] - values[1], values[2:]) if method == "difference" else (values[0], values[1:])


def _fit(rows: FloatArray, present: BoolArray, question: Question) -> _Fit | None:
    """Regression of rows; None where a variable is constant or determined by others."""
    centred = centred_rows(rows, present, question.level)
    n = int(present.sum())
    spread: FloatArray = np.sqrt((centred**2).sum(axis=(1, 2)) / max(n, 1))
    size = np.abs(np.where(present, rows, 0.0)).max(axis=(1, 2), initial=0.0)
    if not ((spread > 0) & (spread > _ROUNDING * size)).all():
        return None
    y, regressors = _sides(centred / spread[:, None, None], question.method)
    flat = regressors.reshape(len(regressors), -1)
    products = flat @ flat.T
    if n < len(flat) + 2 or np.linalg.eigvalsh(products)[0] < _NOTHING * n:
        return None
    inverse: FloatArray = np.asarray(np.linalg.inv(products), dtype=float)
    by = (inverse @ flat).reshape(regressors.shape)
    b = (by * y).sum(axis=(1, 2))
    residuals = y - np.tensordot(b, regressors, 1)
    unit = np.where(question.groups, 1 / spread[2:], 1.0)
    return _Fit(b[len(b) - len(unit) :] * unit, unit, b, inverse, by, residuals, spread)


# --- Variances ---


def _of_systems(
    rows: FloatArray, present: BoolArray, fit: _Fit, question: Question, codes: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Variance over (clusters of) systems, and its degrees of freedom; NaN where a slope is undefined without one."""
    # (N−1)/N·Σ(γ(−i) − mean)² is a quadratic form in the errors (of systems and cells, variances from the residuals).
    # It is divided by its relative bias; the degrees of freedom are those of the chi-squared with its mean and
    # variance.
    systems = int(codes.max()) + 1
    without = None
    if systems > 2:
        without = _by_sums(rows, present, question) if _trivial(codes) else None
        without = without or _by_refits(rows, present, question, codes)
    if without is None:
        nothing = np.full(len(fit.slopes), math.nan)
        return nothing, nothing
    whole, share = fit.of_errors, (systems - 1) / systems
    variance = share * ((without.slopes - without.slopes.mean(axis=0)) ** 2).sum(axis=0)
    of_system, of_cell = _components(fit.residuals, present, codes)
    found, df = [], []
    for at in range(len(fit.slopes)):
        own = without.own[at]
        products = of_system * own @ own.T + of_cell * without.cells[at]
        by_cluster = _sums_of(whole[at].sum(axis=1), codes, 0)
        expected = of_system * (by_cluster**2).sum() + of_cell * (whole[at] ** 2).sum()
        mean = np.trace(products)
        found.append(variance[at] * min(1.0, expected / (share * mean)) if mean > 0 else math.nan)
        df.append(mean**2 / (products**2).sum() if mean > 0 else math.nan)
    return np.array(found), np.array(df)


@dataclass(frozen=True)
class _Without:
    """Slopes without each (cluster of) systems, and their derivatives by the metric's scores."""

    slopes: FloatArray
    own: FloatArray  # (covariates, clusters, clusters): by all scores of another cluster, less the mean over the first
    cells: FloatArray  # products of two derivatives, less the mean, summed over cells


def _by_refits(rows: FloatArray, present: BoolArray, question: Question, codes: IntArray) -> _Without | None:
    """By a regression without each cluster of systems; None where one is undefined."""
    n = int(codes.max()) + 1
    squares = _sums_of((centred_rows(rows, present, question.level)[2:] ** 2).sum(axis=2), codes, 1)
    slopes = np.zeros((n, len(squares)))
    moved = np.zeros((n, len(squares), *present.shape))
    for i in np.argsort(-(squares / squares.sum(axis=1, keepdims=True)).max(axis=0)):
        others = codes != i
        fit = _fit(rows[:, others], present[others], question)
        if fit is None:
            return None
        slopes[i] = fit.slopes
        moved[i][:, others] = fit.of_errors
    moved -= moved.mean(axis=0)
    by_covariate = moved.transpose(1, 0, 2, 3)
    flat = by_covariate.reshape(len(squares), n, -1)
    return _Without(slopes, _sums_of(by_covariate.sum(axis=3), codes, 2), flat @ flat.transpose(0, 2, 1))


def _by_sums(rows: FloatArray, present: BoolArray, question: Question) -> _Without | None:
    """The same from sums over all systems less those over one; None where that would lose digits."""
    # With centred scores C and δ_i the shift of their means without system i, the scores are centred as C + δ_i. A
    # slope changes with them by Σ_r c_ir·(C_r + δ_ir), where C sums to 0 over what shares δ_i.
    found = _sums(rows, present, question)
    if not found.sound.all():
        return None
    centred, shift = found.centred, found.shift
    each = [_moved_by_sums(c, centred, shift, present) for c in found.c]
    own, cells = (np.array(parts) for parts in zip(*each, strict=True))
    return _Without(found.slopes, own, cells)


@dataclass(frozen=True)
class _Sums:
    """Regressions without each system, from sums over all."""

    slopes: FloatArray
    c: FloatArray  # (covariates, systems, regressors)
    centred: FloatArray  # regressors
    shift: FloatArray  # of `centred` without each system, (regressors, systems, columns)
    sound: BoolArray  # (systems,): no digits lost and slopes defined


def _sums(rows: FloatArray, present: BoolArray, question: Question) -> _Sums:
    """All regressions without one system; NaN where digits are lost."""
    centred = centred_rows(rows, present, question.level)
    shift = _shifts(centred, present, question.level)
    flat = centred.reshape(len(centred), -1)
    whole = flat @ flat.T
    left = _products_without(centred, shift, present, whole)
    n = present.sum() - present.sum(axis=1)
    variances = np.diagonal(left, axis1=1, axis2=2)
    size = np.abs(np.where(present, rows, 0.0)).max(axis=(1, 2))
    first = 2 if question.method == "difference" else 1
    sound = (variances >= _DIGITS * np.diag(whole)).all(axis=1)
    sound &= (variances >= (_ROUNDING * size) ** 2 / _DIGITS * n[:, None]).all(axis=1)
    sound &= (variances > 0).all(axis=1) & (n >= len(rows) - first + 2)
    spread = np.sqrt(np.where(sound[:, None], variances, 1.0) / np.maximum(n, 1)[:, None])
    standard = left / spread[:, :, None] / spread[:, None, :]
    products, y = standard[:, first:, first:], standard[:, first:, 0]
    if question.method == "difference":
        y = y - standard[:, first:, 1]
    sound &= np.linalg.eigvalsh(products)[:, 0] >= _DIGITS * n
    inverse = np.linalg.inv(np.where(sound[:, None, None], products, np.eye(products.shape[1])))
    unit = np.where(question.groups, 1 / spread[:, 2:], 1.0)
    k = unit.shape[1]
    slopes = np.einsum("irs,is->ir", inverse, y)[:, -k:] * unit
    c = inverse[:, -k:] * (unit / spread[:, :1])[:, :, None] / spread[:, None, first:]
    return _Sums(slopes, np.ascontiguousarray(c.transpose(1, 0, 2)), centred[first:], shift[first:], sound)


def _shifts(centred: FloatArray, present: BoolArray, level: str) -> FloatArray:
    """Change of scores centred without each system, (variables, systems, columns)."""
    if level == "within_system":
        return np.zeros_like(centred)
    if level == "input":
        return np.asarray(centred / np.maximum(present.sum(axis=0) - 1, 1))
    others = np.maximum(present.sum() - present.sum(axis=1, keepdims=True), 1)
    return np.broadcast_to(centred.sum(axis=2, keepdims=True) / others, centred.shape)


def _products_without(centred: FloatArray, shift: FloatArray, present: BoolArray, whole: FloatArray) -> FloatArray:
    """Products of all pairs of variables, summed over the cells of all systems except one, (systems, ...)."""
    others = present.sum(axis=0) - present
    moved = np.einsum("vij,wij->ivw", centred, shift)
    own = np.einsum("vij,wij->ivw", centred, centred)
    return np.asarray(
        whole - own - moved - moved.transpose(0, 2, 1) + np.einsum("vij,wij,ij->ivw", shift, shift, others)
    )


def _moved_by_sums(
    c: FloatArray, regressors: FloatArray, shift: FloatArray, present: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """`own` and `cells` of one covariate, whose slope without system i has derivative ``c_i`` times the regressors."""
    flat = regressors.reshape(len(regressors), -1)
    d = np.einsum("ir,rij->ij", c, shift)
    own = c @ regressors.sum(axis=2) + d @ present.T
    np.fill_diagonal(own, 0.0)
    # Over all systems, less the two that are left out.
    left_out = np.where(present, np.einsum("ir,rij->ij", c, regressors) + d, 0.0)
    lost = np.einsum("ij,rij->ir", left_out, regressors) @ c.T + left_out @ d.T
    cells = c @ (flat @ flat.T) @ c.T + (d * present.sum(axis=0)) @ d.T - lost - lost.T + np.diag(np.diag(lost))
    cells = cells - cells.mean(axis=0)
    return own - own.mean(axis=0), cells - cells.mean(axis=1, keepdims=True)


def _components(residuals: FloatArray, present: BoolArray, codes: IntArray) -> tuple[float, float]:
    """Variances of clusters of rows and of cells (for single rows of one column: of clusters only), approximately."""
    n, n_i = present.sum(), _sums_of(present.sum(axis=1), codes, 0)
    if residuals.shape[1] == 1 and _trivial(codes):
        return 1.0, 0.0
    sums = _sums_of(residuals.sum(axis=1), codes, 0)
    between = float((sums**2 / np.maximum(n_i, 1)).sum())
    within = (float((residuals**2).sum()) - between) / max(1, n - len(n_i))
    of_system = (between / max(1, len(n_i) - 1) - within) / max(1.0, float((n_i**2).sum() / n))
    return max(0.0, of_system), max(within, _NOTHING)


def _of_inputs(
    cells: FloatArray, there: BoolArray, fit: _Fit, question: Question, clusters: Clusters
) -> tuple[FloatArray, FloatArray]:
    """What inputs add to the variance beyond the noise of cells (all, if only inputs are random); with its df."""
    shape = np.shape(fit.slopes)
    if "input" not in question.dims:
        return np.zeros(shape), np.full(shape, math.inf)
    systems, inputs = (int(codes.max()) + 1 for codes in clusters)
    alone = question.dims == ("input",)
    if inputs < 2:
        return np.full(shape, math.nan if alone else 0.0), np.full(shape, float(inputs - 1))
    influence = blocks(_influence(cells, there, fit, question) * fit.unit[:, None, None], *clusters)
    lost = inputs / (inputs - 1)
    if question.level in ("global", "within_system"):
        whole, df = _inputs_left_out(cells, there, fit, question, clusters[1])
    else:
        whole = np.asarray(lost * (influence.sum(axis=1) ** 2).sum(axis=1))
        df = np.full(shape, inputs - 1.0)
    if alone:
        return whole, df
    of_cells = lost * systems / max(1, systems - 1) * (influence**2).sum(axis=(1, 2))
    return np.asarray(np.maximum(0.0, whole - of_cells)), df


def _inputs_left_out(
    cells: FloatArray, there: BoolArray, fit: _Fit, question: Question, codes: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Jackknife variance over inputs, ``(M−1)/M·Σ(γ(−j) − mean)²``, with Satterthwaite's degrees of freedom."""
    # Rows are inputs now: what was centred within rows is centred within columns.
    sides = {"within_system": "input", "input": "within_system", "global": "global"}
    turned = replace(question, level=sides[question.level])
    rows = np.ascontiguousarray(cells.transpose(0, 2, 1))
    present = np.ascontiguousarray(there.T)
    nothing = np.full(np.shape(fit.slopes), math.nan)
    inputs = int(codes.max()) + 1
    found: _Sums | _Without | None = None
    if inputs > 2:
        every = _trivial(codes)
        found = _with_refits(_sums(rows, present, turned), rows, present, turned, fit) if every else None
        found = found if every else _by_refits(rows, present, turned, codes)
    if found is None:
        return nothing, nothing
    variance = (inputs - 1) / inputs * ((found.slopes - found.slopes.mean(axis=0)) ** 2).sum(axis=0)
    parts = _components(np.ascontiguousarray(fit.residuals.T), present, codes)
    if isinstance(found, _Sums):
        return variance, np.array([_df_of_many(c, found.centred, found.shift, present, parts) for c in found.c])
    return variance, np.array([_df(own, each, parts) for own, each in zip(found.own, found.cells, strict=True)])


def _df(own: FloatArray, cells: FloatArray, parts: tuple[float, float]) -> float:
    """Satterthwaite's degrees of freedom for errors of clusters and cells with given variances."""
    products = parts[0] * own @ own.T + parts[1] * cells
    mean = float(np.trace(products))
    return mean**2 / float((products**2).sum()) if mean > 0 else math.nan


def _with_refits(sums: _Sums, rows: FloatArray, present: BoolArray, question: Question, whole: _Fit) -> _Sums | None:
    """The same with a regression of its own where digits were lost; None where one is undefined."""
    slopes, c = sums.slopes.copy(), sums.c.copy()
    for i in np.flatnonzero(~sums.sound):
        others = np.arange(len(present)) != i
        fit = _fit(rows[:, others], present[others], question)
        if fit is None:
            return None
        slopes[i] = fit.slopes
        scale = fit.spread[len(fit.spread) - len(fit.b) :]
        c[:, i] = fit.inverse[fit.covariates] * (fit.unit / fit.spread[0])[:, None] / scale
    return replace(sums, slopes=slopes, c=c)


def _df_of_many(
    c: FloatArray, regressors: FloatArray, shift: FloatArray, present: BoolArray, parts: tuple[float, float]
) -> float:
    """Satterthwaite's degrees of freedom, as in `_of_systems`, for many clusters."""
    # With `own` and `cells` of `_moved_by_sums` before centring, of_cluster·own·own' + of_cell·cells is QTQ' − BQ' −
    # QB' + diag(e): Q, B and e are sums over columns; trace and squares follow.
    of_cluster, of_cell = parts
    flat = regressors.reshape(len(regressors), -1)
    d = np.einsum("ir,rij->ij", c, shift)
    left_out = np.where(present, np.einsum("ir,rij->ij", c, regressors) + d, 0.0)
    lost = np.einsum("ij,rij->ir", left_out, regressors)
    sums = np.hstack([regressors.sum(axis=2).T, present.astype(float)])
    own = left_out.sum(axis=1)
    within = np.zeros((sums.shape[1], sums.shape[1]))
    within[: len(flat), : len(flat)] = flat @ flat.T
    within[len(flat) :, len(flat) :] = np.diag(present.sum(axis=0))
    q = np.hstack([c, d])
    b = of_cluster * own[:, None] * sums + of_cell * np.hstack([lost, left_out])
    diagonal = of_cluster * own**2 + of_cell * (left_out**2).sum(axis=1)
    k, n = q.shape[1], len(q)
    middle = np.zeros((2 * k, 2 * k))
    middle[:k, :k] = of_cluster * sums.T @ sums + of_cell * within
    middle[:k, k:] = middle[k:, :k] = -np.eye(k)
    sides = np.hstack([q, b])
    sides -= sides.mean(axis=0)
    turned = sides @ middle
    inner = sides.T @ turned
    total = diagonal.sum()
    trace = np.trace(inner) + total * (1 - 1 / n)
    squares = (inner * inner.T).sum() + 2 * (diagonal * (turned * sides).sum(axis=1)).sum()
    squares += (1 - 2 / n) * (diagonal**2).sum() + (total / n) ** 2
    return float(trace**2 / squares) if trace > 0 else math.nan


def _influence(cells: FloatArray, there: BoolArray, fit: _Fit, question: Question) -> FloatArray:
    """Influence of each cell on the standardised slopes, (covariates, systems, inputs)."""
    # System level: dγ = A(dy − dW·b) + (W'W)⁻¹dW'e, of residuals after the system's and then the input's mean.
    if question.level != "system":
        return np.asarray(fit.by[fit.covariates] * fit.residuals)
    count = np.maximum(there.sum(axis=1), 1)[:, None]
    rest = arrays.residuals(cells, np.where(there, cells, 0.0).sum(axis=2) / count[:, 0], there)
    y, regressors = _sides(rest / count / fit.spread[:, None, None], question.method)
    through = fit.by[fit.covariates] * (y - np.tensordot(fit.b, regressors, 1))
    return np.asarray(through + np.tensordot(fit.inverse[fit.covariates], regressors, 1) * fit.residuals)
