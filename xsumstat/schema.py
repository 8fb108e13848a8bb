"""The Dataset contract: which dims and labels scores have, how gold is found and aligned, what results carry."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat import _validate

CORE = ("metric", "system", "input")
# Dims that results add; scores may not bring them along.
_RESERVED = ("other_metric", "resample")
_FEW_SYSTEMS = 5
_OFTEN = 0.05


def set_dims(
    ds: xr.Dataset, *, metric: str | None = None, system: str | None = None, input: str | None = None
) -> xr.Dataset:
    """Rename the dims of a Dataset to `metric`, `system` and `input`.

    Parameters
    ----------
    ds : Dataset
        Any Dataset; it is not changed.
    metric, system, input : str, optional
        The present name of each dim that is to be renamed.

    Returns
    -------
    Dataset
        The same data, its dims (and the coordinates of the same name) renamed.

    Raises
    ------
    ValueError
        If a dim does not exist, or a new name is taken already.

    Examples
    --------
    >>> import xarray as xr, xsumstat
    >>> ds = xr.Dataset({"score": (("metric", "model", "doc"), [[[1.0, 2.0], [3.0, 4.0]]])})
    >>> dict(xsumstat.set_dims(ds, system="model", input="doc").sizes)
    {'metric': 1, 'system': 2, 'input': 2}
    """
    given = {"metric": metric, "system": system, "input": input}
    renames: dict[Hashable, Hashable] = {}
    for new, old in given.items():
        if old is None or old == new:
            continue
        if old not in ds.dims:
            hint = _validate.suggestion(old, [str(dim) for dim in ds.dims])
            raise ValueError(f"{new}={old!r} is not a dim{hint} dims: {_validate.listing(ds.dims)}")
        if new in ds.variables or new in ds.dims:
            raise ValueError(f"cannot rename {old!r} to {new!r}: the Dataset has a {new!r} already")
        renames[old] = new
    return ds.rename(renames)


@dataclass(frozen=True)
class Scores:
    """Scores and gold, checked, oriented so that higher is better, and aligned.

    Attributes
    ----------
    score : DataArray, float64 (..., metric, system, input)
        The chosen metrics.
    gold : DataArray, float64 (..., system, input)
        The human scores.
    gold_name : str
        What the gold is called.
    dropped : dict
        Labels that were left out, by dim.
    rows, columns : list of int
        Places along `metric` of the metrics asked for, and of those that they are compared with.
    """

    score: xr.DataArray
    gold: xr.DataArray
    gold_name: str
    dropped: Mapping[str, list[Hashable]]
    rows: list[int]
    columns: list[int]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of systems and of inputs."""
        return self.score.sizes["system"], self.score.sizes["input"]


def prepare(ds: xr.Dataset, gold: Any, metric: Any, *, level: str, missing: str, other: Any = None) -> Scores:
    """Check a Dataset, find its gold and its metrics, align them, and report what is left out."""
    score = checked_scores(ds)
    human, name, own_labels = _find_gold(ds, score, gold)
    rows = choose_metrics(score, metric, "metric", exclude=own_labels)
    columns = rows if other is None else choose_metrics(score, other, "other", exclude=own_labels)
    chosen = rows + [at for at in columns if at not in rows]
    score = oriented(score.isel(metric=chosen)).transpose(..., *CORE)
    human = _as_gold(oriented(human), score, level)
    score, human, dropped = _aligned(score, human)
    score, human = _without_empty(score, human, missing, dropped)
    _check_sizes(score, level)
    _check_gold(human, name)
    _check_metrics(score)
    _report_gaps(score, human, missing)
    return Scores(score, human, name, dropped, [chosen.index(at) for at in rows], [chosen.index(at) for at in columns])


def prepare_metrics(ds: xr.Dataset, metric: Any, *, level: str) -> xr.DataArray:
    """Checked and oriented scores of the chosen metrics, for questions that need no gold."""
    score = checked_scores(ds)
    score = oriented(score.isel(metric=choose_metrics(score, metric, "metric"))).transpose(..., *CORE)
    _check_sizes(score, level)
    _check_metrics(score)
    return score


def checked_scores(ds: xr.Dataset) -> xr.DataArray:
    """The variable `score` as float64, with its dims, labels and values checked."""
    if "score" not in ds.data_vars:
        names = _validate.listing(ds.data_vars) or "none"
        raise ValueError(f"the Dataset has no variable 'score' that holds the metrics' scores; variables: {names}")
    score = ds["score"]
    lacking = [dim for dim in CORE if dim not in score.dims]
    if lacking:
        raise ValueError(
            f"score lacks the dim(s) {_validate.listing(lacking)}, it has {_validate.listing(score.dims)}; "
            f"rename with xsumstat.set_dims(ds, {lacking[0]}=...)"
        )
    taken = [dim for dim in score.dims if dim in _RESERVED]
    if taken:
        raise ValueError(f"score has the dim {taken[0]!r}, a name that results need; rename it")
    if "metric" not in score.coords:
        score = score.assign_coords(metric=np.arange(score.sizes["metric"]))
    return _checked(score, "score")


def _checked(values: xr.DataArray, name: str) -> xr.DataArray:
    """The same as float64 without repeated labels; NaN is a missing score, infinity an error."""
    if values.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold numbers, got dtype {values.dtype}; convert with .astype(float)")
    for dim in values.dims:
        if dim in values.indexes:
            _validate.unique(f"dim {str(dim)!r} of {name}", values.indexes[dim])
    values = values.compute().astype(np.float64, keep_attrs=True)
    infinite = np.argwhere(np.isinf(values.values))
    if len(infinite):
        first = values[tuple(infinite[0])]
        place = {str(dim): first.coords[dim].item() for dim in values.dims if dim in first.coords}
        raise ValueError(f"{name} has {len(infinite)} infinite value(s), the first at {place}; a missing score is NaN")
    return values


def _find_gold(ds: xr.Dataset, score: xr.DataArray, gold: Any) -> tuple[xr.DataArray, str, list[Hashable]]:
    """The gold scores, what they are called, and the metric labels that they are themselves."""
    labels = list(score.indexes["metric"])
    metrics = _validate.listing(labels, 30)
    if gold is None:
        gold = ds.attrs.get("gold")
        if gold is None:
            raise ValueError(f"gold is not given, and ds.attrs['gold'] is not set; metrics: {metrics}")
    if isinstance(gold, xr.DataArray):
        own = [gold.coords["metric"].item()] if "metric" in gold.coords and "metric" not in gold.dims else []
        return _checked(gold, "gold"), str(gold.name if own == [] else own[0]), own
    if isinstance(gold, list | tuple | set | dict | np.ndarray):
        raise TypeError(
            "gold must be one metric label, the name of a variable, or a DataArray; for several at once pass "
            "ds.score.sel(metric=[...]).rename(metric='quality')"
        )
    is_variable = isinstance(gold, str) and gold in ds.data_vars and gold != "score"
    if gold in labels:
        if is_variable:
            raise ValueError(f"gold {gold!r} names both a metric and a variable; pass ds[{gold!r}], or rename one")
        return score.sel(metric=gold), str(gold), [gold]
    if is_variable:
        return _checked(ds[gold], "gold"), gold, []
    variables = [str(name) for name in ds.data_vars if name != "score"]
    hint = _validate.suggestion(gold, [*labels, *variables])
    more = f"; variables: {_validate.listing(variables)}" if variables else ""
    raise ValueError(f"unknown gold {gold!r}{hint or ';'} metrics: {metrics}{more}")


def choose_metrics(score: xr.DataArray, metric: Any, name: str, exclude: Iterable[Hashable] = ()) -> list[int]:
    """Positions of the chosen metrics: a label, labels, a boolean DataArray over `metric`, or None for all.

    None leaves out the labels in `exclude`.
    """
    labels = list(score.indexes["metric"])
    if metric is None:
        left_out = set(exclude)
        chosen = [at for at, label in enumerate(labels) if label not in left_out]
    elif isinstance(metric, xr.DataArray) and metric.dtype == bool:
        if metric.dims != ("metric",) or metric.size != len(labels):
            raise ValueError(f"{name} as a condition must be over all of dim 'metric', got dims {metric.dims}")
        chosen = [int(at) for at in np.flatnonzero(metric.values)]
    else:
        if isinstance(metric, xr.DataArray | np.ndarray | pd.Index):
            metric = np.asarray(metric).ravel().tolist()
        asked = list(metric) if isinstance(metric, list | tuple | set) else [metric]
        for label in asked:
            _validate.known(name, label, labels, "metrics")
        _validate.unique(name, asked)
        chosen = [labels.index(label) for label in asked]
    if not chosen:
        raise ValueError(f"{name} leaves no metric to look at; metrics: {_validate.listing(labels, 30)}")
    return chosen


def oriented(scores: xr.DataArray) -> xr.DataArray:
    """Scores negated where the coordinate `higher_is_better` says that lower is better."""
    if "higher_is_better" not in scores.coords:
        return scores
    better = scores.coords["higher_is_better"]
    if better.dtype != bool:
        if not np.isin(better.values, (0, 1)).all():
            raise ValueError(
                "higher_is_better must be True or False for each metric, got "
                f"{_validate.listing(np.unique(better.values.astype(str)))}"
            )
        better = better.astype(bool)
    return scores.where(better, -scores)


def _as_gold(gold: xr.DataArray, score: xr.DataArray, level: str) -> xr.DataArray:
    """Gold with dims system and input last; without `input` it stands for every input, at system level."""
    if "metric" in gold.dims:
        raise ValueError("gold has the dim 'metric'; rename it, as in gold.rename(metric='quality')")
    taken = [dim for dim in gold.dims if dim in _RESERVED]
    if taken:
        raise ValueError(f"gold has the dim {taken[0]!r}, a name that results need; rename it")
    if "system" not in gold.dims:
        raise ValueError(f"gold must have the dims 'system' and 'input', it has {_validate.listing(gold.dims)}")
    if "input" not in gold.dims:
        if level != "system":
            raise ValueError(f"gold has no dim 'input', so only level='system' can be had, not {level!r}")
        gold = gold.expand_dims(input=score.sizes["input"])
        if "input" in score.indexes:
            gold = gold.assign_coords(input=score.indexes["input"])
    scalars = [name for name, coord in gold.coords.items() if coord.ndim == 0]
    return gold.drop_vars(scalars).transpose(..., "system", "input")


def _aligned(score: xr.DataArray, gold: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray, dict[str, list[Hashable]]]:
    """Both on the labels that they share, in the order of `score`; the labels left out, by dim."""
    dropped: dict[str, list[Hashable]] = {}
    for dim in (str(dim) for dim in score.dims if dim in gold.dims):
        if dim not in score.indexes or dim not in gold.indexes:
            if score.sizes[dim] != gold.sizes[dim]:
                raise ValueError(
                    f"gold has {gold.sizes[dim]} and score {score.sizes[dim]} along {dim!r}, "
                    "and without labels on both they cannot be matched"
                )
            continue
        ours, theirs = score.indexes[dim], gold.indexes[dim]
        if ours.equals(theirs):
            continue
        shared = ours[ours.isin(theirs)]
        if shared.empty:
            raise ValueError(
                f"gold and score share no label along {dim!r}: gold has {_validate.listing(theirs, 3)}, "
                f"score {_validate.listing(ours, 3)}"
            )
        lost = [*ours[~ours.isin(theirs)], *theirs[~theirs.isin(ours)]]
        if lost:
            dropped[dim] = lost
            _validate.warn(
                f"gold and score differ along {dim!r}: {len(lost)} label(s) that only one has are left out: "
                f"{_validate.listing(lost)}"
            )
        score, gold = score.sel({dim: shared}), gold.sel({dim: shared})
    return score, gold, dropped


def _without_empty(
    score: xr.DataArray, gold: xr.DataArray, missing: str, dropped: dict[str, list[Hashable]]
) -> tuple[xr.DataArray, xr.DataArray]:
    """Without the systems and inputs that no comparison could use; they are added to `dropped`."""
    human, automatic = gold.notnull(), score.notnull()
    both = human & automatic
    for dim in ("system", "input"):
        if missing == "available":
            one, two = _any_along(human, dim), _any_along(automatic, dim)
            used = one & two if dim == "system" else one | two
        else:
            used = _any_along(both, dim)
        if used.all() or not used.any():
            continue
        lost = list(score.indexes[dim][~used]) if dim in score.indexes else list(np.flatnonzero(~used))
        dropped.setdefault(dim, []).extend(lost)
        _validate.warn(
            f"{len(lost)} {dim}(s) have no cell with both gold and a score and are left out: {_validate.listing(lost)}"
        )
        score, gold = score.isel({dim: used}), gold.isel({dim: used})
    return score, gold


def _any_along(condition: xr.DataArray, dim: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.asarray(condition.any([other for other in condition.dims if other != dim]).values)


def _check_sizes(score: xr.DataArray, level: str) -> None:
    systems, inputs = score.sizes["system"], score.sizes["input"]
    for dim, size in (("system", systems), ("input", inputs)):
        if size == 0:
            raise ValueError(f"score has no {dim}: dim {dim!r} has length 0")
    needed = {"system": "system", "input": "system", "within_system": "input"}.get(level)
    if needed and score.sizes[needed] < 2 or systems * inputs < 2:
        raise ValueError(
            f"level={level!r} correlates over {needed or 'cell'}s and needs at least 2, "
            f"got {score.sizes[needed] if needed else systems * inputs}"
        )
    if needed == "system" and systems < _FEW_SYSTEMS:
        _validate.warn(f"only {systems} systems: a correlation over so few says little")


def _check_gold(gold: xr.DataArray, name: str) -> None:
    cells = ["system", "input"]
    if not bool(gold.notnull().any()):
        raise ValueError(f"gold {name!r} has no score at all: every value is NaN")
    spread = gold.max(cells) - gold.min(cells)
    if bool((spread.fillna(0) == 0).all()):
        raise ValueError(f"gold {name!r} is constant, so that no correlation with it is defined")
    _warn_where(spread == 0, f"gold {name!r} is constant")
    _warn_where(spread.isnull(), f"gold {name!r} has no score")


def _check_metrics(score: xr.DataArray) -> None:
    cells = ["system", "input"]
    spread = score.max(cells) - score.min(cells)
    empty = spread.isnull()
    whole = empty.all([dim for dim in empty.dims if dim != "metric"])
    if bool(whole.any()):
        labels = whole.metric.values[whole.values]
        raise ValueError(
            f"metric(s) {_validate.listing(labels.tolist())} have no score at all: every value is NaN; "
            "leave them out with ds.drop_sel(metric=[...])"
        )
    _warn_where(empty, "no score for metric")
    _warn_where(spread == 0, "constant scores, whose correlation is undefined, for metric")


def _warn_where(condition: xr.DataArray, message: str) -> None:
    """Warn when the condition holds somewhere, and name the labels where it does."""
    if not bool(condition.any()):
        return
    if condition.ndim == 0:
        _validate.warn(message)
        return
    places = [
        "/".join(
            str(condition.coords[dim].values[at]) if dim in condition.coords else str(at)
            for dim, at in zip(condition.dims, place, strict=True)
        )
        for place in np.argwhere(condition.values)
    ]
    _validate.warn(f"{message} {_validate.listing(places)}")


def _report_gaps(score: xr.DataArray, gold: xr.DataArray, missing: str) -> None:
    """Say which metrics lack whole systems or inputs that others have."""
    automatic = score.notnull()
    cells = automatic if missing == "available" else automatic & gold.notnull()
    for dim in ("system", "input"):
        over = [other for other in cells.dims if other not in ("metric", dim)]
        gaps = (~cells.any(over)).sum(dim)
        if bool((gaps > 0).any()):
            counts = zip(gaps.metric.values, gaps.values, strict=True)
            texts = [f"{label} ({count} of {score.sizes[dim]})" for label, count in counts if count]
            _validate.warn(
                f"metrics compared on fewer {dim}s, as they have no cell on the others: {', '.join(texts[:8])}"
            )


def warn_undefined(statistic: xr.DataArray, scores: Scores) -> None:
    """Warn of results that are NaN, unless a constant or missing score explained them already."""
    cells = ["system", "input"]
    spreads = [values.max(cells) - values.min(cells) for values in (scores.score, scores.gold)]
    explained = (spreads[0].fillna(0) == 0) | (spreads[1].fillna(0) == 0)
    _warn_where(statistic.isnull() & ~explained, "undefined, as no group has two scores that both vary:")


def warn_resamples(n_undefined: xr.DataArray, n_resamples: int) -> None:
    """Warn where more than 5 % of the resamples, though not all, leave the statistic undefined."""
    often = (n_undefined > _OFTEN * n_resamples) & (n_undefined < n_resamples)
    _warn_where(often, f"more than 5 % of the {n_resamples} resamples are undefined, and left out, for")


def without_coords(values: xr.DataArray) -> xr.DataArray:
    """Without the coordinates that only describe, so that they cannot clash."""
    return values.drop_vars([name for name in values.coords if name not in values.dims])


def labelled(matrices: xr.Dataset, rows: xr.DataArray, columns: xr.DataArray) -> xr.Dataset:
    """Results over (metric, other_metric) with the labels and descriptions of its metrics."""
    coords = {name: coord for name, coord in rows.coords.items() if coord.dims == ("metric",)}
    coords["other_metric"] = xr.DataArray(columns.indexes["metric"], dims="other_metric")
    return matrices.assign_coords(coords).transpose("metric", "other_metric", ...)


def package_version() -> str:
    """Version of the installed package."""
    try:
        return version("xsumstat")
    except PackageNotFoundError:
        return "unknown"


def result(variables: Mapping[str, xr.DataArray] | xr.Dataset, scores: Scores | None, **settings: Any) -> xr.Dataset:
    """A Dataset of results whose attrs say how it was made, in values that netCDF and Zarr can hold."""
    attrs: dict[str, Any] = {}
    if scores is not None:
        settings["gold"] = scores.gold_name
        for dim, labels in scores.dropped.items():
            settings[f"dropped_{dim}"] = ", ".join(map(str, labels))
    for name, value in settings.items():
        if isinstance(value, tuple):
            value = "both" if set(value) == {"system", "input"} else " ".join(value)
        elif isinstance(value, bool):
            value = int(value)
        if value is not None:
            attrs[name] = value
    attrs["xsumstat_version"] = package_version()
    ds = variables if isinstance(variables, xr.Dataset) else xr.Dataset(variables)
    return ds.assign_attrs(attrs)
