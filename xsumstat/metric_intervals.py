"""How sure are we of the correlation of two metrics with each other: `metric_ci`."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _draws, _validate, coefficients, schema
from xsumstat.coefficients import CorrelationFunction
from xsumstat.correlation import check_symmetric
from xsumstat.intervals import ci


def metric_ci(
    ds: xr.Dataset,
    *,
    metric: Any = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    interval: str = "percentile",
    resample: str | tuple[str, ...] = "both",
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: Any = None,
    keep_samples: bool = False,
) -> xr.Dataset:
    """Confidence interval of each metric's correlation with each other metric.

    Parameters
    ----------
    ds : Dataset
        Scores, float ``score(metric, system, input, ...)``.
    metric : label, list of labels or boolean DataArray, optional
        Metrics, at least two; default all, human ones included.
    level, coefficient, missing, undefined
        As for `corr`.
    interval, resample, n_resamples, confidence_level, rng, keep_samples
        As for `ci`.

    Returns
    -------
    Dataset
        As `ci` gives, on (metric, other_metric, ...), symmetric; NaN where a metric meets itself.

    Raises
    ------
    ValueError, TypeError
        As for `ci`, and for fewer than two metrics.

    Warns
    -----
    UserWarning
        As for `ci`; each text once.

    Notes
    -----
    All pairs see the same draws, so that samples, kept, may be compared, unless metrics lack whole systems or inputs:
    each pair draws from those that both have. To compare one pair on two ranges of scores see `range_drop`.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> metrics = ["judge", "rouge", "bleu"]
    >>> matrix = ds.meta.metric_ci(metric=metrics, level="input", resample="input", n_resamples=99, rng=1)
    >>> bool(matrix.ci_low.sel(metric="rouge", other_metric="bleu") > 0)
    True
    """
    check_symmetric(coefficients.get(coefficient))
    score = schema.prepare_metrics(ds, metric, level=level)
    labels = score["metric"].values.tolist()
    if len(labels) < 2:
        raise ValueError("metric must name at least 2 metrics, which are correlated with each other")
    keywords: dict[str, Any] = {"level": level, "coefficient": coefficient, "interval": interval, "resample": resample}
    keywords |= {"n_resamples": n_resamples, "confidence_level": confidence_level, "missing": missing}
    keywords |= {"undefined": undefined, "rng": _draws.seed_of(rng), "keep_samples": keep_samples}
    given = schema.checked_scores(ds)
    rows, said = [], dict[str, None]()
    for at, label in enumerate(labels[:-1]):
        with _validate.kept_warnings() as texts:
            rows.append(ci(ds, given.sel(metric=label), metric=labels[at + 1 :], **keywords))
        said |= dict.fromkeys(texts)
    for text in said:
        _validate.warn(text.replace("gold", "one metric"))
    found = schema.labelled(_square(rows, labels), score, score)
    found.attrs = {name: value for name, value in rows[0].attrs.items() if name != "gold" and "dropped" not in name}
    return found.assign_attrs(analysis="metric_ci")


def _square(rows: list[xr.Dataset], labels: list[Any]) -> xr.Dataset:
    """The intervals of each metric with those after it, as a symmetric table."""
    bare = [row.drop_vars([name for name, coord in row.coords.items() if "metric" in coord.dims]) for row in rows]
    pairs = xr.concat([row.rename(metric="_pair") for row in bare], "_pair", coords="minimal", compat="override")
    size = len(labels)
    above = np.array(np.triu_indices(size, 1)).T
    place = schema.symmetric(np.arange(len(above)), above, size)
    square = pairs.isel(_pair=xr.DataArray(place, dims=("metric", "other_metric")))
    other = xr.DataArray(~np.eye(size, dtype=bool), dims=("metric", "other_metric"))
    blanks = {"i": 0, "b": False}
    return square.map(lambda values: values.where(other, blanks.get(values.dtype.kind, np.nan)))
