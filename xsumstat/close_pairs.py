"""Does a metric order systems that it scores alike: `close_corr`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _draws, _validate, coefficients, content, inference, levels, resampling, schema
from xsumstat import _kernels_decisions as loops
from xsumstat.coefficients import FloatArray
from xsumstat.levels import Means
from xsumstat.resampling import DrawPlan

COEFFICIENTS = ("kendall", "kendall_a", "pairwise_accuracy")
UNITS = ("quantile", "score")
_NAMES = ("correlation", "ci_low", "ci_high", "standard_error", "n_undefined", "n_pairs", "gap_low", "gap_high")


def close_corr(
    ds: xr.Dataset,
    gold: Any = None,
    *,
    gap: Any = (0.1, 0.25, 0.5, 0.75, 1.0),
    unit: str = "quantile",
    metric: Any = None,
    coefficient: str = "kendall",
    interval: str = "percentile",
    resample: str | tuple[str, ...] = "both",
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    missing: str = "pairwise",
    rng: Any = None,
) -> xr.Dataset:
    """Correlation over the pairs of systems that a metric scores close, with bootstrap intervals.

    Parameters
    ----------
    ds, gold, metric
        As for `corr`, at system level.
    gap : number, pair of numbers, or list of these
        Which pairs: those whose means by the metric differ by at most so much or, for a tuple (l, u), by at least l and
        at most u. Default the closest tenth, quarter, half and three quarters, and all.
    unit : {"quantile", "score"}, default "quantile"
        What `gap` is of: a share of all pairs of systems, the closest first, which serves metrics of any scale; or a
        difference in the metric's own scores.
    coefficient : {"kendall", "kendall_a", "pairwise_accuracy"}, default "kendall"
    interval : {"percentile", "basic", "normal"}, default "percentile"
    resample, n_resamples, confidence_level, rng
        As for `ci`.
    missing : {"pairwise", "available"}, default "pairwise"
        "available" judges the metric's scores on all inputs, as people who use it see them.

    Returns
    -------
    Dataset
        On (metric, gap, ...): ``correlation``, ``ci_low``, ``ci_high``, ``standard_error``, ``n_undefined`` (resamples
        without a correlation) and ``n_pairs``, how many pairs there are; ``gap_low`` and ``gap_high``, the limits in
        scores (infinite for all pairs). `gap` is labelled by texts, as "to 0.25".

    Raises
    ------
    ValueError, TypeError
        As for `ci`; for limits that are not ascending, or no shares where they should be.

    Notes
    -----
    A pair of systems a, b counts where ``l ≤ |x̄_a − x̄_b| ≤ u``; the coefficient is of the pairs that count, tau-b over
    those of them that are untied. Limits stay as they are while systems and inputs are drawn, so that other pairs count
    in each resample; copies of a system that was drawn twice are no pair. Lazy scores must be loaded first. Whoever
    reports an improvement has a pair of close systems: a high correlation over all pairs says little of it.

    References
    ----------
    Deutsch, Dror & Roth (2022), "Re-Examining System-Level Correlations of Automatic Summarization Evaluation Metrics",
    §4 (r_SYS Δ(l, u)).

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> close = ds.meta.close_corr("human", gap=[0.25, 1.0], n_resamples=99, rng=1)
    >>> close.n_pairs.sel(metric="judge").values.tolist()
    [17, 66]
    """
    _validate.choice("coefficient", coefficient, COEFFICIENTS)
    _validate.choice("unit", unit, UNITS)
    _validate.choice("interval", interval, ("percentile", "basic", "normal"))
    _validate.choice("missing", missing, ("pairwise", "available"))
    asked = _limits(gap, unit)
    dims = _validate.dims("resample", resample)
    n_resamples = _validate.integer("n_resamples", n_resamples, 2)
    confidence_level = _validate.fraction("confidence_level", confidence_level)
    scores = schema.prepare(ds, gold, metric, level="system", missing=missing)
    if scores.used is not None:
        raise ValueError("scores are lazy: load them, with ds.load()")
    content.check_resampled(scores.score, dims)
    plan = DrawPlan(scores.shape, dims, n_resamples, _draws.seed_of(rng))
    kind = coefficients.get(coefficient).kind

    def each(x: FloatArray, z: FloatArray) -> tuple[FloatArray, ...]:
        levels.check_finite(x, z)
        power = levels.exponent(x)
        means = Means.of(levels.scaled(x), levels.scaled(z), missing)
        low, high = np.array(_in_scores(means, asked, unit, power)).T
        observed, pairs = _by_gap(kind, means, low, high, *plan.untouched().counts)
        samples = resampling.in_blocks(lambda draw: _by_gap(kind, means, low, high, *draw.counts)[0], plan)
        how = interval, confidence_level
        told = [
            inference.bootstrap_interval(float(r), row, *how) for r, row in zip(observed[:, 0], samples, strict=True)
        ]
        limits = (np.ldexp(side, power) for side in (low, high))
        return observed[:, 0], *np.array(told).T, np.isnan(samples).sum(axis=1), pairs[:, 0], *limits

    outputs = xr.apply_ufunc(
        each,
        scores.score,
        scores.gold,
        input_core_dims=[["system", "input"], ["system", "input"]],
        output_core_dims=[["gap"]] * len(_NAMES),
        vectorize=True,
        keep_attrs=False,
    )
    found = xr.Dataset(dict(zip(_NAMES, outputs, strict=True)))
    found = found.assign({name: found[name].astype(int) for name in ("n_undefined", "n_pairs")})
    found = found.assign_coords(gap=np.array([_label(*each) for each in asked], dtype=object))
    content.warn_where(found["correlation"].isnull(), "no correlation, as no pairs, or none that are untied, for")
    content.warn_resamples(found["n_undefined"], n_resamples)
    content.warn_outside(found, "correlation", n_resamples)
    about: dict[str, Any] = {"coefficient": coefficient, "level": "system", "missing": missing, "unit": unit}
    about |= {"interval": interval, "confidence_level": confidence_level, "resample": dims}
    about |= {"n_resamples": n_resamples, "seed": str(plan.seed)}
    return schema.result(found.transpose("metric", "gap", ...), scores, analysis="close_corr", **about)


def _limits(gap: Any, unit: str) -> list[tuple[float, float]]:
    """The lower and the upper limit of each gap."""
    most = 1.0 if unit == "quantile" else math.inf
    single = isinstance(gap, tuple) and len(gap) == 2
    asked = list(gap) if isinstance(gap, list | tuple | np.ndarray | range) and not single else [gap]
    if not asked:
        raise ValueError("gap is an empty list")
    found = []
    for each in asked:
        low, high = each if isinstance(each, list | tuple) and len(each) == 2 else (0.0, each)
        low, high = (_validate.number("gap", side, 0.0, most) for side in (low, high))
        if low > high or high == 0.0 and unit == "quantile":
            raise ValueError(f"gap must go from a smaller to a larger number, got {each!r}")
        found.append((low, high))
    _validate.unique("gap", found)
    return found


def _label(low: float, high: float) -> str:
    return f"to {high:g}" if low == 0.0 else f"{low:g} to {high:g}"


def _in_scores(means: Means, asked: list[tuple[float, float]], unit: str, power: int) -> list[tuple[float, float]]:
    """The limits in scaled scores; a share of pairs ends with the difference of the last pair that is within it."""
    if unit == "score":
        return [(levels.shifted(low, -power), levels.shifted(high, -power)) for low, high in asked]
    systems, inputs = (levels.ones(size) for size in means.x.shape)
    here = means.drawn(systems, inputs)[0][0, means.there, 0]
    first, second = np.triu_indices(len(here), 1)
    gaps = np.sort(np.abs(here[first] - here[second]))
    if not len(gaps):
        return [(0.0, math.inf)] * len(asked)

    def at(share: float) -> float:
        return math.inf if share == 1.0 else float(gaps[max(0, math.ceil(share * len(gaps) - 1e-9) - 1)])

    return [(at(low) if low > 0 else 0.0, at(high)) for low, high in asked]


def _by_gap(
    kind: int | None, means: Means, low: FloatArray, high: FloatArray, systems: Any, inputs: Any
) -> tuple[FloatArray, FloatArray]:
    """The coefficient, and how many pairs, of each gap in each resample, (gaps, resamples)."""
    x, z, weights = means.drawn(systems, inputs)
    out, pairs = (np.empty((len(low), len(weights), weights.shape[2])) for _ in range(2))
    loops.close_blocks(kind, low, high, x, z, means.scale_x, means.scale_z, weights, out, pairs)
    resamples = max(len(systems), len(inputs))
    return out.reshape(len(low), -1)[:, :resamples], pairs.reshape(len(low), -1)[:, :resamples]
