"""The two-way jackknife: intervals of correlations and of their differences without draws. See `variance`, `of_one`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.curvature import bias as second_order_bias
from xsumstat.coefficients.curvature import second_order
from xsumstat.coefficients.leave_one_out import OfAny, OfCells, OfGroups, OfMeans, OfRefits, Parts, Share
from xsumstat.coefficients.record import Coefficient, Measure
from xsumstat.core import levels
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.inference.score_limits import wilson_about

# Fewer members that are correlated have no interval, nor fewer groups (inputs) that are random.
LEAST_MEMBERS, LEAST_CLUSTERS, LEAST_GROUPS = 4, 3, 2
# Fewer means of systems have none either where only inputs are random: two are on a line.
LEAST_MEANS = 3
# A correlation so near to 1 is 1, and so small a standard error none.
NOTHING = 1e-12
# An interval rests on one system that moves the estimate this many times as far as the others, of at least this number.
FAR, LEAST_TO_REST = 15.0, 5
# A class of fewer cells is rare: its shares have score limits.
FEW_OF_A_CLASS = 10


# A limit, or those of many quantiles.
Limit = float | FloatArray
Limits = tuple[Limit, Limit]


@dataclass(frozen=True)
class Estimated:
    estimate: float
    bias: float  # the estimate less the centre of its intervals
    standard_error: float
    df: float
    fell_back: bool = False  # nothing varies; another interval is used
    about: Callable[[Limit], Limits] | None = None  # from quantiles of t to limits; None: no interval
    unremoved: float = 0.0  # an estimated bias that the limits ignore

    @property
    def centre(self) -> float:
        return self.estimate - self.bias

    def allowing_bias(self) -> Estimated:
        """With limits that also reach those without the `unremoved` bias, taken as a standard error at most."""
        about, off = self.about, math.copysign(min(abs(self.unremoved), self.standard_error), self.unremoved)
        if about is None or not off:
            return self

        def wider(t: Limit) -> Limits:
            low, high = about(t)
            return low - max(off, 0.0), high - min(off, 0.0)

        return replace(self, about=wider)

    def limits(self, t: float) -> tuple[float, float]:
        """Limits, extended to the estimate; NaN where there are none."""
        if self.about is None:
            return math.nan, math.nan
        low, high = self.about(t)
        return min(float(low), self.estimate), max(float(high), self.estimate)

    def interval(self, confidence_level: float) -> tuple[float, float]:
        return self.limits(t_quantile(confidence_level, self.df))


def t_quantile(confidence_level: float, df: float) -> float:
    """The q with ``P(|t| <= q) = confidence_level``, t having `df` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + confidence_level) / 2))


# --- Variance and bias ---


def deleted_variance(values: FloatArray, about: float | None = None) -> float:
    """``(n−1)/n·Σ(θ(−i) − mean)²`` over the n labels; undefined ones are left out of the sum."""
    n = len(values)
    defined = values[~np.isnan(values)]
    if len(defined) < 2:
        return math.nan
    return (n - 1) / n * float(np.sum((defined - (defined.mean() if about is None else about)) ** 2))


def variance_of_mean(values: FloatArray, codes: IntArray) -> FloatArray:
    """``(G−1)/G·Σ(mean without cluster − mean)²`` of values (..., items) in G clusters."""
    sizes = np.bincount(codes)
    rest = values - values.mean(axis=-1, keepdims=True)
    moved = arrays.summed(rest.reshape(-1, len(codes)).T, codes).T.reshape(*values.shape[:-1], -1)
    return np.asarray((len(sizes) - 1) / len(sizes) * ((moved / (len(codes) - sizes)) ** 2).sum(axis=-1))


def _about(parts: Parts) -> float | None:
    """What the estimates without each label deviate from, unless it is their mean."""
    return parts.value if parts.clustered else None


def _bias_of_deleted(values: FloatArray, value: float) -> float:
    """``(n−1)(mean of θ(−i) − θ)`` over the n labels."""
    return (len(values) - 1) * float(np.nanmean(values) - value) if not np.isnan(values).all() else math.nan


def variance(parts: Parts, dims: tuple[str, ...]) -> float:
    """Jackknife variance of an estimate when the labels of `dims` are random.

    For both dims ``V_s + max(0, V_i − V_c)``: systems, and what inputs add beyond the noise of cells, which is in both;
    for one dim V_s or V_i. Over all cells, and for "pdp", V_c is ``Σψ²/n²`` of the influences ψ of n cells, with the
    missing cells fixed.
    """
    if isinstance(parts, OfMeans):
        return _variance_of_means(parts, dims)
    if isinstance(parts, OfGroups):
        return _variance_of_groups(parts, dims)
    assert isinstance(parts, OfCells | OfAny)
    by_dim = {"system": parts.systems, "input": parts.inputs}
    found = [deleted_variance(by_dim[dim], _about(parts)) for dim in ("system", "input") if dim in dims]
    if "input" in dims and (weighted := parts.weighted_variance()) is not None:
        found[-1] = weighted[0]
    if len(found) == 2 and isinstance(parts, OfCells):
        cells = float(np.sum(parts.influence**2)) / parts.n_cells**2
        found[1] = max(0.0, found[1] - cells)
    elif len(found) == 2 and isinstance(parts, OfAny) and parts.cells is not None:
        found[1] = max(0.0, found[1] - deleted_variance(parts.cells))
    return sum(found)


def _variance_of_means(parts: OfMeans, dims: tuple[str, ...]) -> float:
    """V_s from the coefficient itself; that of inputs from the influences of cells on Pearson's r.

    ``V_i = M/(M−1)·Σ_j(Σ_i ψ_ij)²``, ``V_c = M/(M−1)·N/(N−1)·Σψ²``. Rank coefficients take Pearson's ratio to V_s,
    times ``((N−2)/(N−1))²``, as a jackknife doubles its second-order part. Over inputs alone V_i becomes ``max(V_i − B,
    V_i/2)``: near r = 1 the second-order part B dominates. k covariates multiply V_s by ``(N−1−k)/(N−1)``. Weighted
    inputs have V_i by strata.
    """
    systems, inputs = parts.shape
    own, ratio = of_systems(parts)
    if dims == ("system",):
        return own
    if (weighted := parts.weighted_variance()) is None:
        of_inputs = inputs / (inputs - 1) * float(np.sum(parts.influence.sum(axis=0) ** 2))
    else:
        of_inputs = weighted[0]
    of_cells = inputs / (inputs - 1) * systems / (systems - 1) * float(np.sum(parts.influence**2))
    if not ratio:  # nothing varies, and perhaps no Pearson's r is there
        return 0.0 if dims == ("input",) else own
    if dims == ("input",):
        return max(of_inputs - second_order(parts.bends, inputs), of_inputs / 2) * ratio
    return own + max(0.0, of_inputs - of_cells) * ratio


def of_systems(parts: OfMeans) -> tuple[float, float]:
    """V_s of the correlation of system means, and for ranks its ratio to that of Pearson's r (else 1)."""
    systems = parts.shape[0]
    freed = (systems - 1 - parts.covariates) / (systems - 1)
    about = (parts.value, parts.pearson_value) if parts.clustered else (None, None)
    each = zip((parts.without, parts.pearson), about, strict=True)
    own, of_pearson = (freed * deleted_variance(*values) for values in each)
    if not parts.of_ranks:
        return own, 1.0
    own *= ((systems - 2) / (systems - 1)) ** 2
    return own, own / of_pearson if of_pearson > 0 else 0.0


def _variance_of_groups(parts: OfGroups, dims: tuple[str, ...]) -> float:
    """V over members from the averages without each; over groups from the spread of their r.

    ``V_i = Σ(r_j − mean)²/(m(m−1))`` of the m groups, ``V_c = m⁻²·Σ_j (n_j−1)/n_j·Σ_i (r_j(−i) − mean)²``. Weighted
    inputs have V_i by strata.
    """
    groups = "input" if parts.members == "system" else "system"
    here = ~np.isnan(parts.r)
    r = parts.r[here]
    m = len(r)
    weighted = parts.weighted_variance()
    if weighted is not None and groups == "input":
        of_groups = weighted[0] if m > 1 else math.nan
    elif parts.clusters is None:
        of_groups = float(np.sum((r - r.mean()) ** 2)) / (m * (m - 1)) if m > 1 else math.nan
    else:
        sums = _summed(r - r.mean(), parts.clusters[here])
        of_groups = len(sums) / (len(sums) - 1) * float(np.sum(sums**2)) / m**2 if len(sums) > 1 else math.nan
    if dims == (groups,):
        return of_groups
    if weighted is None or groups == "input":
        of_members = deleted_variance(parts.averages, _about(parts))
    else:
        of_members = weighted[0]
    if dims == (parts.members,):
        return of_members
    return of_members + max(0.0, of_groups - noise_of_cells(parts))


def noise_of_cells(parts: OfGroups) -> float:
    here = ~np.isnan(parts.r)
    n, squares = _members(parts), _off_mean(parts) ** 2
    # Two metrics may share no group.
    return float(np.sum((n - 1) / n * squares.sum(axis=0))) / max(int(here.sum()), 1) ** 2


def moved_by_cells(parts: OfGroups) -> FloatArray:
    """Change of the average by each cell, (members, groups or their clusters); the squares add up to V_c."""
    here = ~np.isnan(parts.r)
    n = _members(parts)
    found: FloatArray = np.zeros(parts.shape if parts.members == "system" else parts.shape[::-1])
    names = np.arange(len(here)) if parts.clusters is None else parts.clusters
    at = np.searchsorted(np.unique(names), np.unique(names[here]))
    found[:, at] = np.sqrt((n - 1) / n) * _off_mean(parts) / max(int(here.sum()), 1)
    return found


def _members(parts: OfGroups) -> IntArray:
    """Number of members of each group with a coefficient, or the largest of each cluster."""
    here = ~np.isnan(parts.r)
    n = parts.there[:, here].sum(axis=0)
    if parts.clusters is None:
        return np.asarray(n)
    return np.array([n[parts.clusters[here] == each].max() for each in np.unique(parts.clusters[here])])


def _off_mean(parts: OfGroups) -> FloatArray:
    """``r_j(−i)`` less its mean over members, summed over the groups of a cluster."""
    here = ~np.isnan(parts.r)
    without = parts.without[:, here]
    defined = ~np.isnan(without)
    mean = np.where(defined, without, 0.0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
    off: FloatArray = np.where(defined, without - mean, 0.0)
    return off if parts.clusters is None else _summed(off.T, parts.clusters[here]).T


def _summed(values: FloatArray, clusters: IntArray) -> FloatArray:
    return arrays.summed(values, np.unique(clusters, return_inverse=True)[1])


def bias(parts: Parts, dims: tuple[str, ...]) -> float:
    """Bias of the estimate when the labels of `dims` are random.

    0 at system level and for recalibrated scores, where removing it does harm. For averages the mean over groups of
    ``(n_j−1)(mean_i r_j(−i) − r_j)``, 0 with an undefined r_j(−i), if members are random; else ``(n−1)(mean θ(−i) −
    θ)``.
    """
    if (
        isinstance(parts, OfMeans)
        or isinstance(parts, OfRefits)
        or isinstance(parts, OfAny)
        and parts.level == "system"
    ):
        return 0.0
    if isinstance(parts, OfGroups):
        if parts.weights is not None and parts.members == "input":
            return parts.weights.bias(parts.value, parts.averages) if "input" in dims else 0.0
        return _bias_of_groups(parts) if parts.members in dims else 0.0
    assert isinstance(parts, OfCells | OfAny)
    random = dims
    if isinstance(parts, OfAny) and parts.level != "global":
        random = tuple(dim for dim in dims if dim == levels.members(parts.level))
    by_dim = {"system": parts.systems, "input": parts.inputs}
    if isinstance(parts, OfCells) and parts.weights is not None:
        of_inputs = parts.weights.bias(parts.value, parts.inputs) if "input" in random else 0.0
        return of_inputs + (_bias_of_deleted(parts.systems, parts.value) if "system" in random else 0.0)
    return sum(_bias_of_deleted(by_dim[dim], parts.value) for dim in random)


def _bias_of_groups(parts: OfGroups) -> float:
    here = ~np.isnan(parts.r)
    without, there = parts.without[:, here], parts.there[:, here]
    n = there.sum(axis=0)
    whole = (~np.isnan(without)).sum(axis=0) == n
    mean = np.where(there, np.nan_to_num(without), 0.0).sum(axis=0) / n
    return float(np.mean(np.where(whole, (n - 1) * (mean - parts.r[here]), 0.0)))


def degrees_of_freedom(shape: tuple[int, int], dims: tuple[str, ...], level: str, covariates: int = 0) -> float:
    """Labels less 1: of the random dim, of systems, or of the smaller dim at levels that mix them."""
    if not min(shape):
        return math.nan
    sizes = {"system": shape[0], "input": shape[1]}
    if level != "global":
        sizes[levels.members(level)] -= covariates
    if len(dims) == 1:
        return float(sizes[dims[0]] - 1)
    return float((min(sizes.values()) if level in ("global", "within_system") else sizes["system"]) - 1)


def among_defined(parts: Parts, dims: tuple[str, ...], df: float) -> float:
    """`df`, or of groups alone those with a correlation less 1: their average varies with no other group."""
    if not isinstance(parts, OfGroups) or parts.members in dims or parts.n_defined < 2:
        return df
    return float(parts.n_defined - 1)


def of_few_inputs(parts: Parts, dims: tuple[str, ...], spread: float, df: float) -> float:
    """`df`, or Satterthwaite's where inputs with a correlation (or their clusters) are fewer than systems.

    ``V²/(V_s²/(N−1) + V_i²/(M−1))`` for the variance V (`spread`), between M − 1 and `df`.
    """
    if isinstance(parts, OfGroups) and parts.members == "system":
        inputs = parts.n_defined
    elif isinstance(parts, OfAny) and parts.level == "input":
        inputs = int(np.isfinite(parts.inputs).sum())
    else:
        return df
    systems = parts.shape[0]
    if len(dims) < 2 or not 1 < inputs < systems or not spread > NOTHING**2:
        return df
    own, of_inputs = (variance(parts, (dim,)) for dim in ("system", "input"))
    return min(df, satterthwaite(spread, (own, systems - 1), (of_inputs, inputs - 1)))


def satterthwaite(whole: float, *each: tuple[float, float]) -> float:
    """Degrees of freedom of a variance with parts of known ones, at least those of the part with the fewest."""
    squares = sum(part**2 / df for part, df in each)
    return max(min(df for _, df in each), whole**2 / squares if squares > 0 else math.inf)


# --- One metric ---


def of_one(parts: Parts, measure: Measure, dims: tuple[str, ...]) -> Estimated:
    """One correlation, with limits ``tanh(arctanh c ± t·√V/(1 − θ²))`` about ``c = θ − bias`` (see `bounded`).

    Accuracies use the scale 2p − 1. A function with values beyond ±1 has ``c ± t·√V``. Where ``|θ|`` is 1 or nothing
    varies, at system level a rank coefficient takes Fisher's standard error about ``|θ|`` clipped one step below 1,
    open to the perfect side; an average over random groups has the exact limits of `of_equal`; elsewhere the limits are
    the point; each sets `fell_back`. No limits for an undefined estimate or too few systems or inputs.
    """
    # Of ranked means all variance is had by leaving out systems.
    asked = ("system", "input") if isinstance(parts, OfMeans) and parts.of_ranks else dims
    dims = varying(parts.shape, dims)
    covariates = len(measure.given)
    df = among_defined(parts, dims, degrees_of_freedom(parts.shape, dims, measure.level, covariates))
    if dims == ("input",) and (weighted := parts.weighted_variance()) is not None:
        df = weighted[1]
    least = LEAST_CLUSTERS if parts.clustered else LEAST_MEMBERS
    few = too_few(parts.shape, asked, dims, measure.level, covariates, least)
    few |= isinstance(parts, OfMeans) and parts.shape[0] < LEAST_MEANS
    spread = math.nan if few or math.isnan(parts.value) else variance(parts, dims)
    if math.isnan(spread):
        return Estimated(parts.value, math.nan, math.nan, df)
    df = of_few_inputs(parts, dims, spread, df)
    off, error = bias(parts, dims), math.sqrt(spread)
    if isinstance(parts, OfCells) and parts.share is not None and few_of_a_class(parts.share, parts.value):
        return of_share(parts, parts.share, spread, df)
    if not within_one(parts, measure.coefficient):
        return Estimated(
            parts.value, off, error, df, about=lambda t: (parts.value - off - t * error, parts.value - off + t * error)
        )
    scale = measure.coefficient.stretch
    value, off, error = scale * parts.value - (scale - 1), scale * off, scale * error
    record = measure.coefficient.leave_one_out
    members, _ = levels.members_first(measure.level, *parts.shape)
    # A step is what one member makes: the averages of these members need not keep one from 1.
    stepped = record is not None and (levels.members(measure.level) in dims or isinstance(parts, OfMeans))
    step = record.step(members) if record is not None and stepped else NOTHING
    fisher = record.fisher if record is not None and isinstance(parts, OfMeans) else None
    if fisher is not None and unvarying(value, error):
        found = perfect(value, members - covariates, step, fisher, df)
    elif unvarying(value, error) and (n := equal_groups(parts, dims, measure.coefficient.of_constants)):
        found = of_equal(value, n, df)
    else:
        # What one of a few clusters makes is large, and keeps no estimate from 1.
        step = max(NOTHING, min(step, 1 - abs(value))) if parts.clustered else step
        found = bounded(value, off, error, df, step)
    return found if scale == 1.0 else _accuracy(found, parts.value)


def equal_groups(parts: Parts, dims: tuple[str, ...], all_defined: bool) -> int:
    """Number of random groups whose values are equal, as their average does not vary; 0 if unknown, or members vary."""
    if isinstance(parts, OfGroups):
        return 0 if parts.members in dims else parts.n_defined
    if (
        not all_defined
        or not isinstance(parts, OfAny)
        or parts.level in ("system", "global")
        or levels.members(parts.level) in dims
    ):
        return 0
    return int(np.isfinite(parts.inputs if parts.level == "input" else parts.systems).sum())


def of_equal(value: float, n: int, df: float) -> Estimated:
    """Exact limits ``s·value ± (1 − s)`` of a mean in [−1, 1]: n values are equal, ``s = (α/2)^(1/n)`` of all are."""
    from scipy.special import stdtr

    def about(t: Limit) -> Limits:
        share = stdtr(df, -t) ** (1 / n)
        low, high = share * value - (1 - share), share * value + (1 - share)
        return (low, high) if isinstance(t, np.ndarray) else (float(low), float(high))

    return Estimated(value, 0.0, 0.0, df, True, about)


def few_of_a_class(share: Share, value: float) -> bool:
    """Whether a share of cells has score limits: few cells in the rarer class, or none."""
    return share.rarer < FEW_OF_A_CLASS or unvarying(2 * value - 1, math.inf)


def of_share(parts: OfCells, share: Share, spread: float, df: float) -> Estimated:
    """A share p with score limits (Wilson 1927) for n = p(1 − p)/V, at most all cells."""
    value = parts.value
    alone = value * (1 - value) / spread if spread > 0 else math.inf
    n = float(share.inputs) if unvarying(2 * value - 1, math.inf) else min(alone, share.n)
    error = math.sqrt(max(value * (1 - value), 1 / (4 * n)) / n)

    def about(t: Limit) -> Limits:
        low, high = wilson_about(np.asarray(value), 1 / n, np.asarray(t, dtype=float))
        return (low, high) if isinstance(t, np.ndarray) else (float(low), float(high))

    return Estimated(value, 0.0, error if unvarying(2 * value - 1, math.inf) else math.sqrt(spread), df, about=about)


def varying(shape: tuple[int, int], dims: tuple[str, ...]) -> tuple[str, ...]:
    """The dims with more than one label; scores of whole systems, on one input, have only systems."""
    sizes = dict(zip(("system", "input"), shape, strict=True))
    some = tuple(dim for dim in dims if sizes[dim] > 1)
    return some if len(dims) > 1 and some else dims


def too_few(
    shape: tuple[int, int],
    asked: tuple[str, ...],
    dims: tuple[str, ...],
    level: str,
    covariates: int = 0,
    least: int = LEAST_MEMBERS,
) -> bool:
    """Whether random dims have fewer labels than an interval needs; fixed dims may have any number."""
    sizes = dict(zip(("system", "input"), shape, strict=True))
    members = levels.members(level)
    few = members in asked and sizes[members] < least + covariates
    few |= level == "global" and max(shape) < least
    return few or any(sizes[dim] < LEAST_GROUPS for dim in dims if dim != members)


def within_one(parts: Parts, coefficient: Coefficient) -> bool:
    """Whether the estimate is a correlation or an accuracy, as far as a function shows."""
    if not isinstance(parts, OfAny) or coefficient.function is None:
        return math.isnan(parts.value) or parts.value >= coefficient.bounds[0] - NOTHING
    return bool(np.nanmax(np.abs([parts.value, *parts.systems, *parts.inputs])) <= 1.0)


def unvarying(value: float, error: float) -> bool:
    return 1 - abs(value) <= NOTHING or error <= NOTHING


def bounded(value: float, off: float, error: float, df: float, step: float = NOTHING) -> Estimated:
    """A value in [−1, 1] with limits by arctanh about its centre.

    The bias moves the value at most half the way to ±1 and no nearer than a step; the rest is taken on arctanh's scale,
    at its slope there. A point where the value is ±1 or nothing varies; no limits for NaN.
    """
    if math.isnan(value) or math.isnan(error):
        return Estimated(value, math.nan, math.nan, df)
    if unvarying(value, error):
        return Estimated(value, 0.0, 0.0, df, True, lambda t: (value, value))
    taken = min((1 + value) / 2, max((value - 1) / 2, off))
    centre = min(1 - step, max(step - 1, value - taken))
    middle = math.atanh(centre)
    if off != taken:
        middle -= (off - taken) / (1 - centre**2)
        centre = math.tanh(middle)
    return Estimated(value, value - centre, error, df, about=_by_arctanh(middle, error / (1 - value**2)))


def _by_arctanh(middle: float, slope: float) -> Callable[[Limit], Limits]:
    """Map from quantiles t to ``tanh(middle ± t·slope)``."""
    return lambda t: (_tanh(middle - t * slope), _tanh(middle + t * slope))


def _tanh(value: Limit) -> Limit:
    return np.tanh(value) if isinstance(value, np.ndarray) else math.tanh(value)


def perfect(value: float, n: float, step: float, fisher: tuple[int, Callable[[float], float]], df: float) -> Estimated:
    """Limits by Fisher's standard error one step below 1; open to the perfect side."""
    from scipy.special import stdtr, stdtrit

    lost, factor = fisher
    near = math.copysign(min(abs(value), 1 - step), value)
    slope = factor(near) / math.sqrt(n - lost) if n > lost else math.inf
    around, at_1 = _by_arctanh(math.atanh(near), slope), 1 - abs(value) <= NOTHING

    def about(t: Limit) -> Limits:
        quantile = stdtrit(n - 1, stdtr(df, t))  # it is of systems, whatever is random
        low, high = around(quantile if isinstance(t, np.ndarray) else float(quantile))
        return (-1.0 if at_1 and value < 0 else low), (1.0 if at_1 and value > 0 else high)

    return Estimated(value, 0.0, (1 - near**2) * slope, df, True, about)


def _accuracy(found: Estimated, value: float) -> Estimated:
    """From the scale 2p − 1 back to p, exactly."""

    def about(t: Limit) -> Limits:
        assert found.about is not None
        low, high = found.about(t)
        return (low + 1) / 2, (high + 1) / 2

    return Estimated(value, found.bias / 2, found.standard_error / 2, found.df, found.fell_back, about)


# --- Two metrics ---


def of_two(parts: Sequence[Parts], each: Sequence[Estimated], dims: tuple[str, ...], stretch: float = 1.0) -> Estimated:
    """The difference of two correlations, `each` from `of_one`, with MOVER limits (Zou 2007, Zou & Donner 2008).

    Of averages over random groups alone see `paired`. The limits of two correlations that are equal, whatever is left
    out, are 0. With l, u the limits, c the centres, V the variances, and V_d that of the difference: ``ρ = (V_1 + V_2 −
    V_d)/(2√(V_1·V_2))``, 0 where one fell back; ``L = c_1 − c_2 − √[(c_1−l_1)² + (u_2−c_2)² − 2ρ(c_1−l_1)(u_2−c_2)]``
    and ``U = c_1 − c_2 + √[(u_1−c_1)² + (c_2−l_2)² − 2ρ(u_1−c_1)(c_2−l_2)]``. Accuracies have a `stretch` of 2.
    """
    one, two = each
    if one.about is None or two.about is None:
        return difference(one, two, math.nan, float(np.minimum(one.df, two.df)))
    gap = parts[0].less(parts[1])
    dims = varying(gap.shape, dims)
    spread = variance(gap, dims)
    of_groups = isinstance(gap, OfGroups) and gap.members not in dims
    if of_groups and spread > NOTHING**2:
        return paired(one, two, spread, 2 / stretch)
    equal = max(abs(gap.value), math.sqrt(spread)) <= NOTHING and not isinstance(gap, OfAny)
    if isinstance(gap, OfMeans):  # two metrics may rank these systems alike, and their cells differ
        equal = equal and float(np.abs(gap.influence).max(initial=0.0)) <= NOTHING
    if equal and not (one.fell_back or two.fell_back):
        return Estimated(0.0, 0.0, 0.0, float(np.minimum(one.df, two.df)), about=lambda t: (0.0, 0.0))
    found = difference(one, two, spread, of_few_inputs(gap, dims, spread, float(np.minimum(one.df, two.df))))
    if not isinstance(gap, OfMeans) or gap.of_ranks or dims != ("input",) or found.fell_back:
        return found
    return replace(found, unremoved=second_order_bias(gap.bends, gap.shape[1]))


def paired(one: Estimated, two: Estimated, spread: float, most: float) -> Estimated:
    """The difference of two averages over random groups, at most `most`, with limits of a paired t test, d ± t·√V_d."""
    value, error = one.estimate - two.estimate, math.sqrt(spread)
    df = float(np.minimum(one.df, two.df))

    def about(t: Limit) -> Limits:
        return np.maximum(value - t * error, -most), np.minimum(value + t * error, most)

    return Estimated(value, 0.0, error, df, about=about)


def difference(one: Estimated, two: Estimated, spread: float, df: float) -> Estimated:
    value, off = one.estimate - two.estimate, one.bias - two.bias
    if one.about is None or two.about is None:
        return Estimated(value, math.nan, math.nan, df)
    both = one.standard_error * two.standard_error
    fell_back = one.fell_back or two.fell_back
    known = 0 < both < math.inf and not math.isnan(spread) and not fell_back
    rho = (one.standard_error**2 + two.standard_error**2 - spread) / (2 * both) if known else 0.0
    rho = min(1.0, max(-1.0, rho))

    def about(t: Limit) -> Limits:
        assert one.about is not None and two.about is not None
        (l_1, u_1), (l_2, u_2) = one.about(t), two.about(t)
        c_1, c_2 = one.centre, two.centre
        return c_1 - c_2 - _reach(c_1 - l_1, u_2 - c_2, rho), c_1 - c_2 + _reach(u_1 - c_1, c_2 - l_2, rho)

    return Estimated(value, off, math.sqrt(spread), df, not known, about)


def _reach(one: Limit, two: Limit, rho: float) -> Limit:
    squared = one**2 + two**2 - 2 * rho * one * two
    return np.sqrt(np.maximum(0.0, squared)) if isinstance(squared, np.ndarray) else math.sqrt(max(0.0, squared))


# --- Several independent estimates ---


def averaged(each: Sequence[Estimated], shares: Sequence[float]) -> Estimated:
    """Weighted average of independent estimates, with MOVER limits (Zou, Huang & Zhang 2009).

    ``L = Σw·c − √Σ(w·q·(c − l))²``, and likewise above, with weights w, centres c, limits l, and q the quantile of t
    with Satterthwaite's degrees of freedom over each estimate's own. No limits if a weighted estimate lacks them.
    """
    some = [(one, share) for one, share in zip(each, shares, strict=True) if share > 0]
    value, off = (sum(share * getattr(one, name) for one, share in some) for name in ("estimate", "bias"))
    parts = [(share * one.standard_error) ** 2 for one, share in some]
    spread = sum(parts)
    fell_back = any(one.fell_back for one, _ in some)
    if any(one.about is None for one, _ in some) or not math.isfinite(spread):
        return Estimated(value, off, math.sqrt(spread), math.nan, fell_back)
    degrees = [part**2 / one.df for part, (one, _) in zip(parts, some, strict=True)]
    df = spread**2 / sum(degrees) if spread > 0 else min(one.df for one, _ in some)

    def about(t: Limit) -> Limits:
        from scipy.special import stdtr, stdtrit

        below, above = np.zeros(np.shape(t)), np.zeros(np.shape(t))
        for one, share in some:
            assert one.about is not None
            own = -stdtrit(one.df, stdtr(df, -np.asarray(t, dtype=float)))
            low, high = one.about(own if isinstance(t, np.ndarray) else float(own))
            ratio = np.divide(t, own, out=np.ones(np.shape(t)), where=own != 0)
            below = below + (share * ratio * (one.centre - np.minimum(low, one.estimate))) ** 2
            above = above + (share * ratio * (np.maximum(high, one.estimate) - one.centre)) ** 2
        low, high = value - off - np.sqrt(below), value - off + np.sqrt(above)
        return (low, high) if isinstance(t, np.ndarray) else (float(low), float(high))

    return Estimated(value, off, math.sqrt(spread), df, fell_back, about)


# --- One system that decides ---


def rests_on(parts: Parts, dims: tuple[str, ...]) -> int:
    """Place of the one system that V_s of averages, or over all cells, depends on; -1 where there is none."""
    # θ(−i) is farthest from the mean of the n values, m and s are the mean and SD of the others: |θ(−i) − m|·√((n−1)/n)
    # > FAR·s, a t statistic with n − 2 degrees of freedom.
    values = _without_systems(parts) if "system" in dims else None
    places = np.flatnonzero(~np.isnan(values)) if values is not None else np.empty(0)
    n = len(places)
    if values is None or n < LEAST_TO_REST:
        return -1
    defined = values[places]
    at = int(np.argmax(np.abs(defined - defined.mean())))
    others = np.delete(defined, at)
    moved = abs(defined[at] - others.mean()) * math.sqrt((n - 1) / n)
    return int(places[at]) if moved > max(FAR * float(others.std(ddof=1)), NOTHING) else -1


def _without_systems(parts: Parts) -> FloatArray | None:
    """Averages, or the correlation of all cells, without each system; None at other levels."""
    if isinstance(parts, OfGroups):
        return parts.averages if parts.members == "system" else None
    if isinstance(parts, OfCells) or isinstance(parts, OfAny) and parts.level in ("input", "global"):
        return parts.systems
    return None


def n_undefined(parts: Parts, dims: tuple[str, ...]) -> int:
    """Number of undefined values without one label; for averages those of single groups."""
    if isinstance(parts, OfMeans):
        return int(np.isnan(parts.without).sum()) if "system" in dims else 0
    if isinstance(parts, OfGroups):
        return int((np.isnan(parts.without) & parts.there).sum())
    assert isinstance(parts, OfCells | OfAny)
    by_dim = {"system": parts.systems, "input": parts.inputs}
    return int(sum(np.isnan(by_dim[dim]).sum() for dim in dims))
