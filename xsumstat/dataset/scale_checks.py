"""Agreement on the gold's own scale: classes, the positive class, and metrics on another scale."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.coefficients import arrays
from xsumstat.coefficients.record import Coefficient
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import arguments, validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import calibrated, directions, facts
from xsumstat.dataset.facts import Fact
from xsumstat.dataset.scores import Scores
from xsumstat.dataset.value_checks import by_metric, of_values
from xsumstat.inference.jackknife import FEW_OF_A_CLASS

# With more different values there are no classes.
MOST_CLASSES = 50
# With more values ratings are no grades.
MOST_GRADES = 10
# Values beside the raters' grades may be codes for missing scores if they are so few, and most scores are grades.
_FEW_CODES, _MOSTLY = 2, 0.6
_SHOWN = 6


def settled(record: Coefficient, scores: Scores, positive: Any = None) -> Coefficient:
    """The coefficient with its positive class; names metrics on another scale."""
    check_positive(record, positive)
    if record.scale is None:
        return record
    score, gold, name = scores.score, scores.gold, scores.gold_name
    if record.scale == "values":
        by_range = by_metric(_range, [score]), of_values(_range, [gold])
        scores.later.make(_warn_other_scale, *by_range, record.name, name)
        return record
    known = _classes(values_of(gold), f"gold {name!r}", record, scores.labels)
    texts = scores.labels if len(scores.labels) == len(known) else ()
    named = [each for each in validate.listed(positive) if isinstance(each, str)]
    if scores.labels and not texts and named:
        raise ValueError(
            f"positive={named[0]!r} is no value of gold {name!r}: means of raters lie between the labels "
            f"{validate.listing(scores.labels)}; ds.meta.majority_vote(...) and single raters have labels"
        )
    record = replace(with_positive(record, known, positive, f"gold {name!r}", texts), texts=texts)
    allowed = _allowed(known, scores.labels)
    _check_classes(scores, allowed, known, record)
    if record.positive or len(known) == 2:
        rarer = of_values(_rarer, gold, record.positive or tuple(known[-1:]))
        scores.later.make(_warn_rare, rarer, record, name)
    return record


def classes_of(scores: Scores) -> FloatArray:
    """The gold's values, which are the classes; raises for metrics with other values."""
    record = COEFFICIENTS["accuracy"]
    known = _classes(values_of(scores.gold), f"gold {scores.gold_name!r}", record, scores.labels)
    allowed = _allowed(known, scores.labels)
    _check_classes(scores, allowed, known, record)
    beyond = [each for each in (allowed[0], allowed[-1]) if each not in known and bool((scores.score == each).any())]
    return np.unique([*known, *beyond])


def codes(score: FloatArray, grades: FloatArray) -> dict[float, int]:
    """How often a judge gives each value that is far from the raters' grades, as -1 for a missing score.

    Such values are few, and most of its scores are grades.
    """
    if not 2 <= len(grades) <= MOST_GRADES:
        return {}
    low, high = grades.min(), grades.max()
    given, counts = np.unique(score[~np.isnan(score)], return_counts=True)
    if not len(given):
        return {}
    below_all = (((given < 0) & (low >= 0)) | ((given <= 0) & (low > 0))) & (given.max() >= high)
    off = (given < low - 1) | (given > high + 1) | below_all
    few = 0 < off.sum() <= _FEW_CODES and counts[np.isin(given, grades)].sum() > _MOSTLY * counts.sum()
    return dict(zip(given[off].tolist(), counts[off].tolist(), strict=True)) if few else {}


def with_other_classes(score: xr.DataArray, gold: xr.DataArray, labels: Sequence[str]) -> xr.DataArray:
    """Which metrics (metric) have values that are no class of the gold, which `classes_of` refuses."""
    known = _classes(values_of(gold), "the gold", COEFFICIENTS["accuracy"], labels)
    found = _unknown([score], _allowed(known, labels))
    return xr.DataArray(~np.isnan(found.values), {"metric": score["metric"]}, ("metric",))


def as_texts(known: FloatArray, labels: Sequence[str]) -> list[Any]:
    """Classes as their texts, or as (whole) numbers."""
    if len(labels) == len(known):
        return list(labels)
    whole = bool((known == np.rint(known)).all())
    return [int(each) if whole else float(each) for each in known.tolist()]


def of_metrics(record: Coefficient, score: xr.DataArray) -> Coefficient:
    if record.scale is None or record.scale == "values":
        return record
    known = _classes(values_of(score), "score", record, ())
    return with_positive(record, known, None, "score", ())


def check_positive(record: Coefficient, positive: Any) -> None:
    if positive is not None and record.scale not in ("classes", "two"):
        some = validate.listing([name for name, each in COEFFICIENTS.items() if each.scale in ("classes", "two")])
        raise ValueError(
            f"{arguments.name('positive')} needs a coefficient of classes, {some}; got "
            f"{arguments.given('coefficient', record.name)}, e.g. use {arguments.given('coefficient', 'kappa')}"
        )


def values_of(values: xr.DataArray) -> FloatArray:
    found = np.unique(values.compute().values)
    return np.asarray(found[~np.isnan(found)], dtype=float)


def _classes(known: FloatArray, whose: str, record: Coefficient, labels: Sequence[str]) -> FloatArray:
    """Values that are classes: the gold's, and those between on a grid of three grades or more."""
    if len(known) > MOST_CLASSES:
        raise ValueError(
            f"coefficient={record.name!r} compares classes, and {whose} has {len(known)} different values, and at "
            f"most {MOST_CLASSES} are allowed; use 'weighted_kappa' or 'icc', which compare values, or a correlation"
        )
    if labels and len(known) and np.isin(known, np.arange(len(labels))).all():
        return np.arange(len(labels), dtype=float)
    whole = known == np.rint(known)
    if whole.any() and not whole.all():
        validate.warn(
            f"{whose} has values between classes, as {known[~whole][0]:.3g}, and each counts as a class of its own. If "
            "they are means of raters, use ds.meta.majority_vote(...) or single raters",
            "other_scale",
        )
    step = arrays.whole_step(known) if len(known) > 2 else 0.0
    if step:
        grid = known[0] + step * np.arange(round((known[-1] - known[0]) / step) + 1)
        known = np.unique(np.concatenate([known, grid[~np.isclose(grid[:, None], known).any(axis=1)]]))
    return known


def _allowed(known: FloatArray, labels: Sequence[str]) -> FloatArray:
    """The classes, and for grades one more at each end, which raters may not have used."""
    step = 0.0 if labels or len(known) < 3 else arrays.whole_step(known)
    return np.array([known[0] - step, *known, known[-1] + step]) if step else known


def with_positive(
    record: Coefficient, known: FloatArray, positive: Any, whose: str, labels: Sequence[str]
) -> Coefficient:
    """The coefficient with its positive class: as given, or the higher of two."""
    if positive is not None:
        return replace(record, positive=_given(positive, known, whose, labels))
    if record.scale != "two":
        return record
    if set(known.tolist()) <= {0.0, 1.0}:
        return replace(record, positive=(1.0,))
    if len(known) == 2:
        return replace(record, positive=(float(known[-1]),))
    raise ValueError(
        f"coefficient={record.name!r} needs two classes, and {whose} has the values {_shown(known, labels)}: say which "
        "are positive, as in positive="
        f"{_text(float(known[-1]) if len(known) else 1.0, labels)!r}, or use 'kappa'"
    )


def _given(positive: Any, known: FloatArray, whose: str, labels: Sequence[str]) -> tuple[float, ...]:
    some = positive.tolist() if isinstance(positive, np.ndarray) else positive
    some = list(some) if isinstance(some, list | tuple) else [some]
    if not some:
        raise ValueError(f"{arguments.name('positive')} must name one value or more, got none")
    found = []
    for each in some:
        if isinstance(each, str):
            if not labels:
                raise ValueError(
                    f"positive={each!r} is a text, and the scores are numbers: to_scores(labels=[...]) codes texts and "
                    f"keeps them; {whose} has the values {_shown(known, labels)}"
                )
            validate.known("positive", each, labels, "labels:")
            found.append(float(list(labels).index(each)))
            continue
        if isinstance(each, bool | np.bool_):
            each = float(each)
        if not isinstance(each, int | float | np.number) or np.isnan(each):
            raise TypeError(
                f"{arguments.name('positive')} must be a value of the human scores, a label or a list of these, "
                f"got {each!r}"
            )
        value = float(each)
        found.append(-value if value not in known and -value in known else value)
    unknown = [each for each in found if each not in known]
    if unknown:
        raise ValueError(f"positive={unknown[0]:g} is no value of {whose}: {_shown(known, labels)}")
    if set(known.tolist()) <= set(found):
        raise ValueError(f"positive={positive!r} names all values of {whose}: {_shown(known, labels)}")
    return tuple(sorted(set(found)))


def _text(value: float, labels: Sequence[str]) -> Any:
    if labels and value in range(len(labels)):
        return labels[int(value)]
    return int(value) if value == int(value) else value


def _shown(known: Sequence[float] | FloatArray, labels: Sequence[str]) -> str:
    values = (_text(float(each), labels) for each in known)
    texts = [f"{each:.3g}" if isinstance(each, float) else str(each) for each in values]
    return ", ".join(texts[:_SHOWN] + (["…"] if len(texts) > _SHOWN else []))


def _unknown(scores: Sequence[xr.DataArray], known: FloatArray) -> Fact:
    score = scores[0]
    values = score.values
    odd = ~(np.isnan(values) | np.isin(values, known))
    axes = tuple(at for at, dim in enumerate(score.dims) if dim != "metric")
    first = np.where(odd, values, np.inf).min(axis=axes, initial=np.inf)
    return Fact.of(["metric"], np.where(np.isinf(first), np.nan, first), score)


def _check_classes(scores: Scores, allowed: FloatArray, known: FloatArray, record: Coefficient) -> None:
    """Refuse metrics with values that are not `allowed`."""
    check = partial(_check_known, lower=directions.lower(scores.score))
    found = by_metric(_unknown, [scores.score], allowed)
    scores.later.make(check, found, known, record, scores.gold_name, scores.labels)


def _check_known(
    found: Fact, known: FloatArray, record: Coefficient, name: str, labels: Sequence[str], *, lower: Sequence[Hashable]
) -> None:
    odd = ~np.isnan(found.values)
    if not odd.any():
        return
    names: list[Hashable] = found.array["metric"].values[odd].tolist()
    negated = " (negated, as lower is better)" if names[0] in lower else ""
    raise ValueError(
        f"{validate.named('metric', names)} {'has' if len(names) == 1 else 'have'} values that the human scores "
        f"{name!r} do not have, such as {found.values[odd][0]:g}{negated}; {record.name} compares equal values, and "
        f"the human scores are {_shown(known, labels)}. {_mapped(name, names, grades=True)}"
    )


def _mapped(gold: str, metrics: Sequence[Hashable], *, grades: bool) -> str:
    """Advice for metrics on another scale than the human scores."""
    if not arguments.in_python():
        return f"Name the metrics on the scale of the human scores: {arguments.given('metric', several=True)}"
    one = metrics[0] if len(metrics) == 1 else list(metrics)
    new = [calibrated.called(each) for each in metrics]
    rounded = ", grades=True" if grades else ""
    return (
        f"Map to them with ds = ds.meta.calibrate({gold!r}, metric={one!r}{rounded}), then pass "
        f"metric={new[0] if len(new) == 1 else new!r}"
    )


def _range(scores: Sequence[xr.DataArray]) -> Fact:
    values = scores[0]
    axes = tuple(at for at, dim in enumerate(values.dims) if dim != "metric")
    ends = np.array([function.reduce(values.values, axis=axes) for function in (np.fmin, np.fmax)])
    return Fact.of(["_end", *(dim for dim in values.dims if dim == "metric")], ends, values)


def _warn_other_scale(of_metrics: Fact, of_gold: Fact, coefficient: str, name: str) -> None:
    (low, high), (least, most) = of_gold.values, of_metrics.values
    reach = 0.1 * (high - low)
    outside = (least < low - reach) | (most > high + reach)
    shared = np.minimum(most, high) - np.maximum(least, low)
    apart = outside & (shared < 0.5 * np.maximum(most - least, high - low))
    apart |= (least >= 0) & (most <= 1) & ((low < 0) | (high > 1)) & (shared < 0.5 * (high - low))
    if apart.any():
        names: list[Hashable] = of_metrics.array["metric"].values[apart].tolist()
        validate.warn(
            f"{coefficient} compares values as they are, and {validate.named('metric', names)} "
            f"{'is' if len(names) == 1 else 'are'} on another scale: the human scores {name!r} go from {low:g} to "
            f"{high:g}. {_mapped(name, names, grades=False)}",
            "other_scale",
        )


def _rarer(gold: xr.DataArray, positive: Sequence[float]) -> Fact:
    """Outputs of the rarer class, and all outputs, for each further label."""
    cells = tuple(gold.dims.index(dim) for dim in facts.CELLS)
    there = ~np.isnan(gold.values)
    n, of_one = there.sum(axis=cells), np.isin(gold.values, positive).sum(axis=cells)
    dims = [dim for dim in gold.dims if dim not in facts.CELLS]
    return Fact.of(["_count", *dims], np.array([np.minimum(of_one, n - of_one), n]), gold)


def _warn_rare(found: Fact, record: Coefficient, name: str) -> None:
    least, n = (each.ravel() for each in found.values)
    few = (least < FEW_OF_A_CLASS) & (n > 0)
    if few.any():
        at = int(np.argmin(np.where(few, least, np.inf)))
        validate.warn(
            f"gold {name!r} has only {least[at]} of {n[at]} outputs in the rarer class: {record.name} of so few is "
            f"uncertain, and intervals may be too narrow; rate more outputs, {FEW_OF_A_CLASS} or more of that class",
            "rare_class",
            count=int(least[at]),
        )
