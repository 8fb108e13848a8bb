"""A report's description of its scores, and the Python that reproduces its numbers."""

from __future__ import annotations

import pprint
import textwrap
from collections.abc import Hashable
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses.measure import AUTO, random_dims
from xsumstat.coefficients.table import COEFFICIENTS, get
from xsumstat.dataset import chunking, facts, golds, locate, wording

# What stands for the code that makes the scores, where it is not known.
OF_SCORES = "# ds: the scores analysed in this report; for a table df, print(df.meta) shows the call that makes them"
_WIDTH = 88
_MANY = 8
_GOLD, _SCORES = "missing_gold", "missing"
# Least number of systems for system level, and for input level.
_LEVELS = ((8, "system", "pearson"), (3, "input", "kendall"), (0, "global", "pearson"))


def usual_measure(ds: xr.Dataset, level: str, coefficient: Any, *, shared: bool = True) -> tuple[str, Any]:
    """Level (by the number of systems if "auto", and whether they share inputs) and coefficient."""
    if level != AUTO:
        return level, "pearson" if coefficient is None else coefficient
    if coefficient is not None and get(coefficient).scale is not None:
        return "global", coefficient  # grades of outputs agree or not; means of systems are none
    systems = locate.checked_scores(ds).sizes["system"] if shared else 0
    level, usual = next((level, usual) for least, level, usual in _LEVELS if systems >= least)
    return level, usual if coefficient is None else coefficient


def missing(ds: xr.Dataset, gold: Any, judged: list[Hashable]) -> xr.Dataset:
    """Number of missing scores of each judged metric and of the gold; of lazy ones also what is used of them."""
    score = locate.checked_scores(ds)
    scores = score.isel(metric=np.flatnonzero(score.indexes["metric"].isin(judged))).reset_coords(drop=True)
    human = golds.find_gold(ds, score, gold)[0].reset_coords(drop=True)
    of_each = scores.isnull().sum([dim for dim in scores.dims if dim != "metric"])
    found = xr.Dataset({_SCORES: of_each, _GOLD: human.isnull().sum()})
    if chunking.is_lazy(scores):
        both = scores.notnull() & human.notnull()
        found = found.assign({f"used_{dim}": both.any({*both.dims} - {dim}) for dim in facts.CELLS})
    return found


def about(ds: xr.Dataset, gold: Any, intervals: xr.Dataset, lacking: xr.Dataset) -> tuple[tuple[str, str], ...]:
    score = locate.checked_scores(ds)
    human, name, own = golds.find_gold(ds, score, gold)
    judged = intervals["metric"].values.tolist()
    others = [label for label in score.indexes["metric"] if label not in {*judged, *own}]
    rows = [("systems", f"{score.sizes['system']:,}"), ("inputs", f"{score.sizes['input']:,}")]
    rows.append(("metrics", f"{len(judged):,}" + (f"; not judged: {_listed(others)}" if others else "")))
    rows.append(("human scores", f"{wording.shortened(name)}, {'one of the metrics' if own else _shape(human)}"))
    rated = [_raters(of, values) for of, values in golds.ratings_in(ds).items()]
    if rated:
        rows.append(("raters", _listed(rated)))
    for dim in intervals["correlation"].dims:
        if dim != "metric":
            labels = intervals[dim].values.tolist() if dim in intervals.coords else range(intervals.sizes[dim])
            rows.append((str(dim), f"{len(labels):,}: {_listed(labels)}"))
    rows.append(("direction", _direction(score, judged)))
    rows.append(("missing", _missing(lacking, name, score.size // score.sizes["metric"], human.size)))
    if isinstance(ds.attrs.get("source"), str):
        rows.append(("source", ds.attrs["source"]))
    return tuple(rows)


def _raters(name: str, ratings: xr.DataArray) -> str:
    there = ratings.size if chunking.is_lazy(ratings) else int(ratings.notnull().sum())
    some = f" ({there:,} ratings)" if there < ratings.size else ""
    further = [f"{size:,} labels of {dim}" for dim, size in ratings.sizes.items() if dim not in (*facts.CELLS, "rater")]
    over = f", for {wording.listed(further)} together" if further else ""
    return f"{ratings.sizes['rater']:,} in {wording.shortened(name)}{over}{some}"


def _shape(human: xr.DataArray) -> str:
    return " × ".join(f"{size:,} {dim}s" for dim, size in human.sizes.items())


def _direction(score: xr.DataArray, judged: list[Hashable]) -> str:
    if "higher_is_better" not in score.coords:
        return "higher is better for every metric (the scores name none that is better when lower)"
    better = dict(zip(score["metric"].values.tolist(), score["higher_is_better"].values, strict=True))
    lower = [label for label in judged if not better[label]]
    if not lower:
        return "higher is better for every metric"
    return f"lower is better for {_listed(lower)}, whose scores were negated; higher for the others"


def _missing(lacking: xr.Dataset, gold: str, cells: int, of_gold: int) -> str:
    counts = dict(zip(lacking["metric"].values.tolist(), lacking[_SCORES].values.tolist(), strict=True))
    told = [f"{wording.shortened(label)} {count:,}" for label, count in counts.items() if count]
    ready = [f"{_listed(told)} of {cells:,} scores each"] if told else []
    if int(lacking[_GOLD]):
        ready.append(f"{wording.shortened(gold)} (human) {int(lacking[_GOLD]):,} of {of_gold:,}")
    return "; ".join(ready) or "none"


def _listed(labels: Any) -> str:
    return wording.listed(labels, most=_MANY)


def code(
    ds: xr.Dataset,
    gold: Any,
    metric: Any,
    intervals: xr.Dataset,
    comparisons: list[xr.Dataset],
    *,
    source: str,
) -> str:
    """Python that reproduces intervals and tests; `source` makes the scores."""
    lines = ["import xsumstat", "", source or OF_SCORES]
    human, chosen = ds.attrs.get("gold") if gold is None else gold, ""
    if isinstance(human, xr.DataArray):
        lines.append("# gold: the DataArray of human scores")
    first = ["gold" if isinstance(human, xr.DataArray) else repr(human)]
    if metric is not None:
        chosen = "metric=metrics"
        lines.append(f"metrics = {pprint.pformat(intervals['metric'].values.tolist(), width=_WIDTH, compact=True)}")
    shared = [*first, *([chosen] if chosen else []), *_given(intervals, "level", "coefficient")]
    clusters = tuple(str(intervals.attrs.get("cluster", "")).split())
    shared += [f"cluster={clusters if len(clusters) > 1 else clusters[0]!r}"] if clusters else []
    how = _given(intervals, "resample", "confidence_level")
    if "seed" in intervals.attrs:
        how += [f"n_resamples={intervals.attrs['n_resamples']}", f"rng={intervals.attrs['seed']}"]
    lines += ["", call("intervals = ds.meta.ci", [*shared, *how])]
    names = ("tests", "tests_of_these")[: len(comparisons)]
    for name, tests in zip(names, comparisons, strict=True):
        how = _given(tests, "resample", "confidence_level", "adjust_method")
        lines.append(call(f"{name} = ds.meta.compare_metrics", [*shared, *how]))
    last = "tests" if comparisons else "intervals"
    lines += ["", f"print({last}.meta.methods(bibtex=True))  # for a paper, with the references"]
    return "\n".join(lines)


_USUAL = {"level": "system", "coefficient": "pearson", "confidence_level": 0.95, "adjust_method": "holm"}
_KEYWORDS = {"adjust_method": "adjust"}


def _given(result: xr.Dataset, *names: str) -> list[str]:
    usual = {**_USUAL, "resample": _auto(result)}
    values = {name: result.attrs[name] for name in names if result.attrs[name] != usual[name]}
    return [f"{_KEYWORDS.get(name, name)}={_literal(name, value)}" for name, value in values.items()]


def _auto(result: xr.Dataset) -> str:
    """Meaning of ``resample="auto"``."""
    shape = int(result.attrs["n_systems"]), int(result.attrs["n_inputs"])
    dims = random_dims(AUTO, facts.CELLS, shape)
    return "both" if len(dims) > 1 else dims[0]


def _literal(name: str, value: Any) -> str:
    if name == "coefficient" and value not in COEFFICIENTS:
        return value if value.isidentifier() else "function"  # the reader's own
    return repr(value)


def call(function: str, arguments: list[str]) -> str:
    """A call on one line, or several if long."""
    line = f"{function}({', '.join(arguments)})"
    if len(line) <= _WIDTH:
        return line
    inside = ", ".join(arguments)
    if len(inside) > _WIDTH - 5:
        inside = ",\n".join(arguments)
    return f"{function}(\n{textwrap.indent(inside, '    ')},\n)"
