"""How a metric's error changes with covariates when human scores are noisy: errors in variables, Fieller's limits."""

# A regression on noisy human scores credits a covariate with what it shares with quality; here the noise is subtracted
# from their sum of squares (Fuller 1987, section 2; Carroll, Ruppert, Stefanski & Crainiceanu 2006).

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.core.types import BoolArray, FloatArray, IntArray
from xsumstat.inference import clustered, fieller
from xsumstat.inference.clustered import Question
from xsumstat.inference.jackknife import t_quantile
from xsumstat.inference.rater_offsets import Noise, RatedCells, fitted

# A sum of squares that is so small a share of what it is left of has lost digits, and is made anew.
_DIGITS = 1e-6
# Relative variances below this count as 0, and variances of standardised scores as rounding.
_NOTHING, _ROUNDING = 1e-10, 1e-22
# Slope, limits, standard error, degrees of freedom, p-value, and the reliability of the gold.
NAMES = ("slope", "ci_low", "ci_high", "standard_error", "df", "pvalue", "gold_reliability")
_LEFT_OUT = {"system": 0, "input": 1}


@dataclass(frozen=True)
class _Cells:
    """Standardised scores on common cells: `plain` (covariates + 1, systems, inputs) ends with the metric."""

    plain: FloatArray
    rated: RatedCells
    present: BoolArray
    level: str

    @property
    def stacked(self) -> FloatArray:
        """The gold's means, the part of raters' offsets in them, covariates and metric."""
        return np.concatenate([self.rated.mean[None], -self.rated.share, self.plain])

    @functools.cached_property
    def rows(self) -> tuple[FloatArray, BoolArray]:
        """Centred gold, covariates and metric to regress; and where they are present."""
        values = np.concatenate([self.rated.mean[None], self.plain])
        rows, present = clustered.rows_of(np.where(self.present, values, np.nan), self.present, self.level)
        return clustered.centred_rows(rows, present, self.level), present

    @functools.cached_property
    def rest(self) -> FloatArray:
        """Residuals after the system's and then the input's mean, over the number of cells."""
        values = np.concatenate([self.rated.mean[None], self.plain])
        there = self.present
        count = np.maximum(there.sum(axis=1), 1)[:, None]
        return np.asarray(arrays.residuals(values, values.sum(axis=2) / count[:, 0], there) / count)


@dataclass(frozen=True)
class _Left:
    """Sums without each cluster: `products` of centred gold, covariates and metric, the gold's `noise`, and n rows."""

    products: FloatArray
    noise: FloatArray
    n: FloatArray

    def with_reliability(self, reliability: float) -> _Left:
        return _Left(self.products, (1 - reliability) * self.products[:, 0, 0], self.n)


def corrected(
    x: FloatArray, ratings: FloatArray, covariates: FloatArray, question: Question, confidence_level: float
) -> FloatArray:
    """The numbers of `NAMES`, (names, covariates), with the noise of `ratings` (raters, systems, inputs)."""
    made = _made(x, ratings, covariates, question)
    nothing = np.full((len(NAMES), len(covariates)), math.nan)
    if made is None:
        return nothing
    cells, clusters, unit, df = made
    whole, left = _sums(cells, clusters, question)
    influence = _influence(cells, whole, _noise_of_rows(cells))
    return _answers(whole, left, influence, question, clusters, unit, df, confidence_level)


def by_reliability(
    x: FloatArray,
    z: FloatArray,
    covariates: FloatArray,
    question: Question,
    reliabilities: tuple[float, ...],
    df: FloatArray,
) -> FloatArray:
    """Slopes and p-values for single scores z of given reliability, (2, covariates, reliabilities)."""
    made = _made(x, z, covariates, question, df) if reliabilities else None
    if made is None:
        return np.full((2, len(covariates), len(reliabilities)), math.nan)
    cells, clusters, unit, df = made
    whole, left = _sums(cells, clusters, question)
    found = []
    for each in reliabilities:
        share = {dim: one.with_reliability(each) for dim, one in left.items()}
        known = whole.with_reliability(each)
        influence = _influence(cells, known, cells.rows[0][0] ** 2 * (1 - each), each)
        found.append(_answers(known, share, influence, question, clusters, unit, df, 0.95)[[0, 5]])
    return np.array(found).transpose(1, 2, 0)


def least_reliability(x: FloatArray, z: FloatArray, covariates: FloatArray) -> float:
    """Least possible reliability of system means: all residuals of system and input effects are noise."""
    there = ~(np.isnan(x) | np.isnan(z) | np.isnan(covariates).any(axis=0))
    there = there[there.any(axis=1)][:, there.any(axis=0)] if there.any() else there
    z = arrays.scaled(np.where(~(np.isnan(x) | np.isnan(covariates).any(axis=0)), z, np.nan))
    z = z[~np.isnan(z).all(axis=1)][:, ~np.isnan(z).all(axis=0)]
    systems, inputs = there.shape
    spare = int(there.sum()) - systems - inputs + 1
    if spare < 1 or systems < 2:
        return math.nan
    count = there.sum(axis=1)
    means = np.where(there, z, 0.0).sum(axis=1) / count
    rest = arrays.residuals(z, means, there)
    spread = float(means.var())
    noise = float((rest**2).sum()) / spare * float((1 / count).mean()) * (1 - 1 / systems)
    return max(0.0, 1 - noise / spread) if spread > 0 else math.nan


def _made(
    x: FloatArray, ratings: FloatArray, covariates: FloatArray, question: Question, df: FloatArray | None = None
) -> tuple[_Cells, tuple[IntArray, IntArray], FloatArray, FloatArray] | None:
    """Standardised cells, clusters, units of slopes, and the regression's degrees of freedom on the same cells."""
    arrays.check_finite(x, ratings, covariates)
    plain = np.stack([arrays.scaled(each) for each in (*covariates, x)])
    ratings = arrays.scaled(ratings)
    rated_at_all = ~np.isnan(ratings) if ratings.ndim == 2 else ~np.isnan(ratings).all(axis=0)
    there: BoolArray = np.asarray(~np.isnan(plain).any(axis=0) & rated_at_all)
    systems, inputs = (np.asarray(there.any(axis=axis)) for axis in (1, 0))
    if not there.any():
        return None
    there = there[systems][:, inputs]
    plain, ratings = (each[..., systems, :][..., inputs] for each in (plain, ratings))
    if ratings.ndim == 2:
        nobody = np.zeros((0, *there.shape))
        rated = RatedCells(np.where(there, ratings, 0.0), nobody, nobody)
    else:
        rated = fitted(ratings, there)
    z = np.where(there, rated.mean, np.nan)
    clusters = clustered.used(question.clusters, systems, inputs)
    if df is None:
        regression = clustered.slopes(
            plain[-1], z, plain[:-1], replace(question, method="regression", clusters=clusters)
        )
        df = np.where(np.isnan(regression[0]), np.nan, regression[2])
        if np.isnan(regression[0]).any():
            return None
    rows = np.concatenate([z[None], plain])
    rows, present = clustered.rows_of(np.where(there, rows, np.nan), there, question.level)
    centred = clustered.centred_rows(rows, present, question.level)
    spread = np.sqrt((centred**2).sum(axis=(1, 2)) / present.sum())
    if not (spread > 0).all():
        return None
    middle = np.where(present, rows, 0.0).sum(axis=(1, 2)) / present.sum()
    scale = (slice(None), None, None)
    plain = np.where(there, (plain - middle[1:][scale]) / spread[1:][scale], 0.0)
    rated = RatedCells(np.where(there, (rated.mean - middle[0]) / spread[0], 0.0), rated.apart / spread[0], rated.there)
    unit = np.where(question.groups, 1 / spread[1:-1], 1.0)
    return _Cells(plain, rated, there, question.level), clusters, unit, df


# --- Without each cluster ---


def _sums(cells: _Cells, clusters: tuple[IntArray, IntArray], question: Question) -> tuple[_Left, dict[str, _Left]]:
    left = {dim: _without(cells, at, clusters[at]) for dim, at in _LEFT_OUT.items() if dim in question.dims}
    return _whole(cells), left


def _without(cells: _Cells, axis: int, codes: IntArray) -> _Left:
    left_out = (codes == np.arange(codes.max() + 1)[:, None]).astype(float)
    rated, present = (cells.rated.turned, cells.present.T) if axis else (cells.rated, cells.present)
    noise = Noise.of(rated, left_out)
    weights = np.hstack([np.ones((len(left_out), 1)), noise.offsets])
    values = cells.stacked.transpose(0, 2, 1) if axis else cells.stacked
    there = present.astype(float)
    if cells.level == "system":
        return _of_means(values, there, noise, weights, axis)
    group = {"global": "all", "input": ("columns", "rows")[axis], "within_system": ("rows", "columns")[axis]}
    by = group[cells.level]
    level = {"all": "global", "columns": "input", "rows": "within_system"}[by]
    n = there.sum() - left_out @ there.sum(axis=1)
    if by == "columns":
        counts = there.sum(axis=0) - left_out @ there
        of_noise = noise.of_columns(np.where(counts > 0, 1 - 1 / np.maximum(counts, 1), 0.0))
    else:
        own = there.sum(axis=1, keepdims=True)
        of_noise = noise.of_rows((1 - 1 / np.maximum(own, 1)) * there if by == "rows" else there)
        of_noise = of_noise if by == "rows" else of_noise * (1 - 1 / np.maximum(n, 1))
    return _Left(_products(values, present, level, left_out, weights), of_noise, n)


def _of_means(values: FloatArray, there: FloatArray, noise: Noise, weights: FloatArray, axis: int) -> _Left:
    """Sums of system means; rows are the dim with clusters left out."""
    left_out = noise.left_out
    if axis == 0:
        counts = there.sum(axis=1)
        means = (values.sum(axis=2) / np.maximum(counts, 1))[..., None]
        present = (counts > 0)[:, None]
        n = present.sum() - left_out @ present[:, 0]
        each = noise.of_rows(there / np.maximum(counts, 1)[:, None] ** 2)
        return _Left(_products(means, present, "global", left_out, weights), each * (1 - 1 / np.maximum(n, 1)), n)
    counts = there.sum(axis=0) - left_out @ there  # (clusters, systems)
    present = counts > 0
    sums = values.sum(axis=1)[:, None] - np.einsum("hi,vij->vhj", left_out, values)
    means = sums / np.maximum(counts, 1)
    offsets = weights.shape[1]
    gold = np.einsum("hv,vhj->hj", weights, means[:offsets])
    rows = np.where(present, np.concatenate([gold[None], means[offsets:]]), 0.0)
    n = present.sum(axis=1)
    rows = np.where(present, rows - rows.sum(axis=2, keepdims=True) / np.maximum(n, 1)[:, None], 0.0)
    each = noise.of_columns(np.where(present, 1 / np.maximum(counts, 1) ** 2, 0.0))
    products = np.einsum("vhj,whj->hvw", rows, rows)
    return _Left(products, each * (1 - 1 / np.maximum(n, 1)), n.astype(float))


def _products(
    values: FloatArray, present: BoolArray, level: str, left_out: FloatArray, weights: FloatArray
) -> FloatArray:
    """Sums of products of centred variables without each cluster of rows: all less its own."""
    n_gold = weights.shape[1]
    centred = clustered.centred_rows(values, present, level)
    flat = centred.reshape(len(centred), -1)
    whole = _turned(flat @ flat.T, weights)
    own = np.concatenate([np.einsum("vij,vi->ij", centred[:n_gold], weights.T @ left_out)[None], centred[n_gold:]])
    lost = np.tensordot(left_out, np.einsum("vij,wij->ivw", own, own), 1)
    found = whole - lost
    there = present.astype(float)
    if level == "global":
        sums = left_out @ own.sum(axis=2).T
        n = there.sum() - left_out @ there.sum(axis=1)
        found -= sums[:, :, None] * sums[:, None, :] / np.maximum(n, 1)[:, None, None]
    elif level == "input":
        sums = np.einsum("hi,vij->hvj", left_out, own)
        n = there.sum(axis=0) - left_out @ there
        found -= np.einsum("hvj,hwj,hj->hvw", sums, sums, np.where(n > 0, 1 / np.maximum(n, 1), 0.0))
    unsound = (np.diagonal(found, axis1=1, axis2=2) < _DIGITS * np.diagonal(whole, axis1=1, axis2=2)).any(axis=1)
    for h in np.flatnonzero(unsound):
        kept = left_out[h] == 0
        rows = values[:, kept]
        rows = np.concatenate([np.tensordot(weights[h], rows[:n_gold], 1)[None], rows[n_gold:]])
        again = clustered.centred_rows(rows, present[kept], level).reshape(len(rows), -1)
        found[h] = again @ again.T
    return np.asarray(found)


def _turned(products: FloatArray, weights: FloatArray) -> FloatArray:
    """Products of the gold's parts and the other variables, for each cluster's gold, (clusters, ...)."""
    n = weights.shape[1]
    size = len(products) - n + 1
    found = np.empty((len(weights), size, size))
    found[:, 1:, 1:] = products[n:, n:]
    found[:, 0, 0] = np.einsum("hv,vw,hw->h", weights, products[:n, :n], weights)
    found[:, 0, 1:] = found[:, 1:, 0] = weights @ products[:n, n:]
    return found


def _whole(cells: _Cells) -> _Left:
    rows, present = cells.rows
    flat = rows.reshape(len(rows), -1)
    noise = _noise_of_rows(cells).sum()
    return _Left((flat @ flat.T)[None], np.array([noise]), np.array([float(present.sum())]))


def _noise_of_rows(cells: _Cells) -> FloatArray:
    each = Noise.of(cells.rated, np.zeros((1, len(cells.present)))).of_cells()
    there = cells.present.astype(float)
    if cells.level == "system":
        rows = (each / np.maximum(there.sum(axis=1, keepdims=True), 1) ** 2).sum(axis=1, keepdims=True)
        return np.asarray(rows * (1 - 1 / max(1, (there.sum(axis=1) > 0).sum())))
    axes = {"input": 0, "within_system": 1}
    count = there.sum(axis=axes.get(cells.level), keepdims=True)
    return np.asarray(each * (1 - 1 / np.maximum(count, 1)))


# --- Slopes ---


@dataclass(frozen=True)
class _Moments:
    """Mean products of gold z, covariate c and metric x given the other covariates, for each cluster."""

    zz: FloatArray
    zc: FloatArray
    zx: FloatArray
    cc: FloatArray
    cx: FloatArray
    kept: FloatArray
    c: FloatArray
    x: FloatArray

    @classmethod
    def of(cls, products: FloatArray, noise: FloatArray, at: int) -> _Moments:
        """For one covariate, from mean products (..., variables, variables); NaN where others determine it."""
        m = _partial(products, at)
        zz, zc, zx, cc, cx = m[..., 0, 0], m[..., 0, 1], m[..., 0, 2], m[..., 1, 1], m[..., 1, 2]
        return cls(zz, zc, zx, cc, cx, zz - noise, products[..., 1 + at, 1 + at], products[..., -1, -1])

    @property
    def numerator(self) -> FloatArray:
        return self.kept * self.cx - self.zc * self.zx

    @property
    def denominator(self) -> FloatArray:
        return self.kept * self.cc - self.zc**2

    def fraction(self, is_group: bool) -> FloatArray:
        """Numerator and denominator over ``zz·cc``: differences of correlations, in SDs, (2, ...)."""
        own = 1.0 if is_group else np.sqrt(self.c)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = 1 / (self.zz * self.cc)
            return np.stack([self.numerator * share * own / np.sqrt(self.x), self.denominator * share])


def _partial(products: FloatArray, at: int) -> FloatArray:
    """Products of gold, one covariate and metric given the other covariates; NaN where undefined."""
    n = products.shape[-1] - 2
    own, others = [0, 1 + at, 1 + n], [1 + other for other in range(n) if other != at]
    found = products[..., own, :][..., own]
    if not others:
        return found
    among = products[..., others, :][..., others]
    across = products[..., others, :][..., own]
    size = np.sqrt(np.maximum(np.diagonal(among, axis1=-2, axis2=-1), _ROUNDING))
    sound = np.linalg.eigvalsh(among / size[..., :, None] / size[..., None, :])[..., 0] > _NOTHING
    among = np.where(sound[..., None, None], among, np.eye(len(others)))
    found = found - np.swapaxes(across, -1, -2) @ np.linalg.solve(among, across)
    return np.where(sound[..., None, None], found, np.nan)


def _fractions(left: _Left, at: int, is_group: bool) -> FloatArray:
    """Numerator and denominator of one covariate's slope, (clusters, 2)."""
    n = np.maximum(left.n, 1)
    moments = _Moments.of(left.products / n[:, None, None], left.noise / n, at)
    defined = (moments.cc > _ROUNDING) & (moments.zz > 0) & (moments.x > 0) & (left.n > left.products.shape[1])
    return np.where(defined[:, None], moments.fraction(is_group).T, np.nan)


# By how much each cell moves numerator and denominator of a covariate's slope, (2, systems, inputs).
_Influence = Callable[[int, bool], FloatArray]


def _influence(cells: _Cells, whole: _Left, noise: FloatArray, kept: float = 1.0) -> _Influence:
    """Influence of all cells, with each row's noise, or the share of the gold's squares that is `kept`."""
    rows, present = cells.rows
    n = float(whole.n[0])
    products, of_noise = whole.products[0] / n, whole.noise[0] / n

    def of(at: int, is_group: bool) -> FloatArray:
        m = _Moments.of(products, of_noise, at)
        z, c, x = _residuals(rows, products, at)
        own, metric = rows[1 + at], rows[-1]
        if cells.level == "system":
            rest = cells.rest
            e_z, e_c, e_x = _residuals(rest, products, at)
            zz, cc, zc, zx, cx = 2 * z * e_z, 2 * c * e_c, z * e_c + c * e_z, z * e_x + x * e_z, c * e_x + x * e_c
            real, spread_c, spread_x = kept * zz, 2 * own * rest[1 + at], 2 * metric * rest[-1]
        else:
            zz, cc, zc, zx, cx = z**2 - m.zz, c**2 - m.cc, z * c - m.zc, z * x - m.zx, c * x - m.cx
            real, spread_c, spread_x = z**2 - noise - m.kept, own**2 - m.c, metric**2 - m.x
        top = real * m.cx + m.kept * cx - zc * m.zx - m.zc * zx
        bottom = real * m.cc + m.kept * cc - 2 * m.zc * zc
        of_share = zz / m.zz + cc / m.cc
        of_unit = 0.5 * spread_x / m.x - (0.0 if is_group else 0.5 * spread_c / m.c)
        share = 1 / (m.zz * m.cc)
        unit = (1.0 if is_group else np.sqrt(m.c)) / np.sqrt(m.x)
        moved = [unit * share * (top - m.numerator * (of_share + of_unit)), share * (bottom - m.denominator * of_share)]
        found = np.stack(moved) / n
        return found if cells.level == "system" else np.where(present, found, 0.0)

    return of


def _residuals(rows: FloatArray, moments: FloatArray, at: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gold, one covariate and metric, less their regression on the other covariates."""
    n = len(rows) - 2
    own, others = [0, 1 + at, 1 + n], [1 + other for other in range(n) if other != at]
    found = rows[own]
    if others:
        b = np.linalg.lstsq(moments[np.ix_(others, others)], moments[np.ix_(others, own)], rcond=None)[0]
        found = found - np.tensordot(b.T, rows[others], 1)
    return found[0], found[1], found[2]


def _answers(
    whole: _Left,
    left: dict[str, _Left],
    influence: _Influence,
    question: Question,
    clusters: tuple[IntArray, IntArray],
    unit: FloatArray,
    df: FloatArray,
    confidence_level: float,
) -> FloatArray:
    reliability = 1 - float(whole.noise[0] / whole.products[0, 0, 0])
    found = []
    for at, freedom in enumerate(df):
        is_group = question.groups[at]
        value = _fractions(whole, at, is_group)[0]
        slope = value[0] / value[1] if value[1] > 0 else math.nan
        parts = {dim: _fractions(each, at, is_group) for dim, each in left.items()}
        variances = _variances(parts, influence(at, is_group), clusters, question.level)
        if not (np.isfinite(variances).all() and freedom > 0):
            found.append([slope * unit[at], *[math.nan] * 5, reliability])
            continue
        low, high = fieller.limits(value, variances, t_quantile(confidence_level, freedom))
        error = fieller.standard_error(value, variances)
        p = fieller.pvalue(value, variances, freedom)
        found.append([*(unit[at] * each for each in (slope, low, high, error)), freedom, p, reliability])
    return np.array(found, dtype=float).T


def _variances(
    left: dict[str, FloatArray], influence: FloatArray, clusters: tuple[IntArray, IntArray], level: str
) -> tuple[FloatArray, ...]:
    """The variances of numerator and denominator; the larger counts."""
    each = {dim: _deleted(values) for dim, values in left.items()}
    if len(each) == 1:
        return tuple(each.values())
    blocks = clustered.blocks(influence, *clusters)
    of_cells = np.einsum("uij,vij->uv", blocks, blocks)
    if level == "system":
        of_cells *= math.prod(n / max(1, n - 1) for n in blocks.shape[1:])
    return each["system"], each["system"] + each["input"] - of_cells


def _deleted(values: FloatArray) -> FloatArray:
    apart = values - values.mean(axis=0)
    n = len(values)
    return np.asarray((n - 1) / n * apart.T @ apart)
