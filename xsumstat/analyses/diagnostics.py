"""The distribution of the scores themselves: `normality` and `pca`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.coefficients import arrays
from xsumstat.core import levels, validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import chunking, facts, labelled, results
from xsumstat.dataset import scores as schema
from xsumstat.dataset.value_checks import Checks


@validate.public
def normality(
    ds: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "system",
    alpha: float = 0.05,
) -> xr.Dataset:
    """Test whether the correlated scores are normal, for each metric (Shapiro-Wilk).

    Parameters
    ----------
    {ds metric.scores}
    level : {"system", "input", "global", "within_system"}, default "system"
        Test system means, the systems on each input, all outputs, or the inputs of each system.
    alpha : float, default 0.05
        Significance level for `share_rejected`, between 0 and 1.

    {dataset}
        On (metric, ...), at input and within_system level also by group: ``statistic`` (W) and ``pvalue``; NaN for
        fewer than 3 or constant scores. There also ``share_rejected(metric, ...)``.

    Notes
    -----
    Null hypothesis: the scores come from one normal distribution. Fisher's interval and the formulas of `corr_test`
    assume this; the jackknife, bootstrap and permutation do not. Above 5,000 scores p is approximate. Sources: Shapiro
    & Wilk (1965). Deutsch, Dror & Roth (2021), Appendix A and Table 2.

    {demo}
    >>> ds.meta.normality(metric=["human", "judge"]).pvalue.values.round(2)
    array([0.72, 0.67])
    """
    validate.choice("level", level, levels.LEVELS)
    alpha = validate.fraction("alpha", alpha)
    later = Checks()
    score = schema.prepare_metrics(ds, metric, level=level, later=later)
    schema.report_unscored(score, later)
    groups = [levels.GROUPS[level]] if level in levels.GROUPS else []

    def each(values: FloatArray) -> tuple[Any, Any]:
        scaled = arrays.scaled(values)
        tests = [_shapiro(x) for x, _ in arrays.vectors(scaled, scaled, level, "pairwise")]
        statistic, pvalue = np.array(tests).T
        return (statistic, pvalue) if groups else (statistic[0], pvalue[0])

    variables = labelled.by_label(each, [(score, facts.CELLS)], {"statistic": groups, "pvalue": groups})
    if groups:
        pvalue = variables["pvalue"]
        tested = pvalue.notnull().sum(groups)
        variables["share_rejected"] = (pvalue <= alpha).sum(groups) / tested.where(tested > 0)
    attrs: dict[str, Any] = {"method": "shapiro-wilk", "level": level, "alpha": alpha}
    return later.attached(results.result(variables, score, analysis="normality", **attrs))


def _shapiro(values: FloatArray) -> tuple[float, float]:
    from scipy import stats

    spread = np.ptp(values) if len(values) > 2 else 0.0
    if spread == 0:
        return math.nan, math.nan
    # SciPy takes a range below 1e-19 for none; a power of 2 changes no digit.
    values = np.ldexp(values, -math.frexp(spread)[1])
    with np.errstate(all="ignore"):
        found = stats.shapiro(values)
    return float(found.statistic), float(found.pvalue)


@validate.public
def pca(
    ds: xr.Dataset, *, metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None, n_components: int = 2
) -> xr.Dataset:
    """Principal components of rank-transformed scores: metrics as points.

    Parameters
    ----------
    {ds metric.scores}
    n_components : int, default 2
        Number of components, at most the number of points.

    {dataset}
        ``coordinate(metric, ..., component)``, one point per metric and additional label; ``explained(component)``,
        shares of the variance; ``n_cells``, the number of outputs that all points have (others are left out).

    Notes
    -----
    Midranks over the outputs, less the mean point, are decomposed by singular values. Signs are arbitrary. Source:
    Braun et al. (2022), §5.1 and Fig. 5.

    {demo}
    >>> ds.meta.pca(metric=["human", "judge", "bleu"]).explained.values.round(2)
    array([0.79, 0.21])
    """
    n_components = validate.integer("n_components", n_components, 1)
    later = Checks()
    score = schema.prepare_metrics(ds, metric, level="global", later=later)
    schema.report_unscored(score, later)
    points = [dim for dim in score.dims if dim not in facts.CELLS]
    score = chunking.whole(score.transpose(*points, "system", "input"), [str(dim) for dim in score.dims])
    n_points = math.prod(score.sizes[dim] for dim in points)
    if not 2 <= n_points >= n_components:
        raise ValueError(f"n_components must be at most the number of points, which must be 2 or more: {n_points}")

    def each(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        coordinates, explained, cells = _principal(values.reshape(n_points, -1), n_components)
        return coordinates.reshape(*values.shape[:-2], n_components), explained, np.array(cells)

    coordinate, explained, n_cells = xr.apply_ufunc(
        each,
        score,
        input_core_dims=[[*points, "system", "input"]],
        output_core_dims=[[*points, "component"], ["component"], []],
        dask="parallelized",
        output_dtypes=[float, float, int],
        dask_gufunc_kwargs={"output_sizes": {"component": n_components}},
        keep_attrs=False,
    )
    numbers = np.arange(1, n_components + 1)
    found = {"coordinate": coordinate.transpose("metric", ...), "explained": explained, "n_cells": n_cells}
    found = {
        name: values.assign_coords(component=numbers) if "component" in values.dims else values
        for name, values in found.items()
    }
    return later.attached(results.result(found, score, analysis="pca"))


def _principal(values: FloatArray, n_components: int) -> tuple[FloatArray, FloatArray, int]:
    """Coordinates (points, components) of rows of scores, the shares of variance, and how many cells all rows have."""
    from scipy.stats import rankdata

    there = ~np.isnan(values).all(axis=1)
    cells = ~np.isnan(values[there]).any(axis=0)
    if there.sum() < 2 or not cells.any():
        raise ValueError(
            "pca needs outputs that all metrics scored, and there are none; name metrics that share some: metric=[...]"
        )
    ranks = rankdata(values[there][:, cells], axis=1)
    left, size, _ = np.linalg.svd(ranks - ranks.mean(axis=0), full_matrices=False)
    found = left[:, :n_components] * size[:n_components]
    found *= np.where(np.take_along_axis(found, np.abs(found).argmax(axis=0)[None], axis=0) < 0, -1.0, 1.0)
    coordinates, explained = np.full((len(values), n_components), np.nan), np.zeros(n_components)
    coordinates[there, : found.shape[1]] = found
    total = float((size**2).sum())
    explained[: found.shape[1]] = size[:n_components] ** 2 / total if total > 0 else np.nan
    return coordinates, explained, int(cells.sum())
