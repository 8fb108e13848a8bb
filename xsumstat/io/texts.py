"""Scores that are texts, as "fail" and "pass", coded 0, 1, ... in the user's order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.core import arguments, validate
from xsumstat.core.types import FloatArray
from xsumstat.io import words

# What readers of evaluation tools code a verdict by.
PASSES = ("fail", "pass")
# Texts of scores whose order is known, the lowest first.
_USUAL = (
    PASSES,
    ("failed", "passed"),
    ("no", "yes"),
    ("false", "true"),
    ("incorrect", "correct"),
    ("wrong", "right"),
    ("bad", "good"),
)


def checked(labels: Any, known: Sequence[str] = ()) -> tuple[str, ...]:
    """The keyword `labels`; it must equal `known`, the labels that scores have already."""
    if labels is None:
        return tuple(known)
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise TypeError(
            f"{arguments.name('labels')} must be a list of texts, the lowest first, as ['fail', 'pass'], got {labels!r}"
        )
    found = tuple(str(each).strip() if isinstance(each, str | bool | np.bool_) else each for each in labels)
    wrong = next((each for each in found if not isinstance(each, str) or not each or "\n" in each), None)
    if wrong is not None:
        raise TypeError(f"{arguments.name('labels')} must be texts of one line, got {wrong!r}")
    validate.unique("labels", found)
    if len(found) < 2:
        raise ValueError(f"{arguments.name('labels')} must be two texts or more, the lowest first, got {list(found)}")
    alike = [each for each in found if sum(each.casefold() == other.casefold() for other in found) > 1]
    if alike:
        validate.warn(
            f"{arguments.name('labels')} has texts that differ only in case, {validate.listing(alike)}, which count as "
            "different grades: write them alike if they mean the same",
            "look_alike_labels",
        )
    if known and tuple(known) != found:
        raise ValueError(f"labels={list(found)} are not those that the scores have: {list(known)}")
    return found


def usual(frame: pd.DataFrame) -> list[str]:
    """Texts in columns, lowest first, if all text columns hold the same two with a known order."""
    found: set[str] = set()
    for column in frame.columns:
        if _is_text(frame[column]) and not pd.api.types.is_bool_dtype(frame[column].dtype):
            found |= {text for text in frame[column].map(_text).unique() if isinstance(text, str)}
    spelt = {text.lower(): text for text in sorted(found)}  # "yes" rather than "Yes"
    return [spelt[text] for text in next((each for each in _USUAL if set(each) == set(spelt)), ())]


def lowest_first(found: Sequence[str]) -> list[str]:
    """Texts in their usual order if that is known, else as they are."""
    spelt = {text.strip().lower(): text for text in found}
    pair = next((each for each in _USUAL if len(found) == 2 and set(each) == set(spelt)), None)
    return list(found) if pair is None else [spelt[text] for text in pair]


def report_reversed(labels: Sequence[str]) -> None:
    """Warn if the better of two texts is the lowest; "yes" and "true" may be what is bad."""
    usually = lowest_first(labels)
    if list(labels) != usually and usually[1].lower() not in ("yes", "true"):
        validate.warn(
            f"{arguments.given('labels', list(labels))} makes {labels[0]!r} the lowest: systems with more "
            f"{labels[1]!r} then count as better; {arguments.given('labels', usually)} if this is wrong",
            "reversed_labels",
        )


def lowest_code(frame: pd.DataFrame, labels: Sequence[str], named: Iterable[Any], metric: Any = None) -> int:
    """The code of the lowest label in a frame: see `lowest_beside`. `metric` is its column of metrics, if any."""
    if not labels:
        return 0
    skip = {each for each in (*named, metric) if isinstance(each, Hashable)}
    values = {column: frame[column] for column in frame.columns if column not in skip}
    values = {column: each for column, each in values.items() if isinstance(each, pd.Series)}
    if metric in skip and metric in frame.columns:
        values = {who: part for each in values.values() for who, part in each.groupby(frame[metric])}
    numbers = {name: words.parsed(each.dropna()).to_numpy(dtype=float) for name, each in values.items()}
    return lowest_beside(numbers, labels)


def lowest_beside(numbers: Mapping[Any, FloatArray], labels: Sequence[str]) -> int:
    """1 where other scores are as many whole grades from 1 as there are labels, else 0; said where it is not 0."""
    if not labels:
        return 0
    grades = {name: np.unique(each) for name, each in numbers.items() if len(each)}
    grades = {name: each for name, each in grades.items() if len(each) > 1 and (each == np.rint(each)).all()}
    most = len(labels)
    from_one = [
        name for name, each in grades.items() if each[0] >= 1 and (each[-1] == most or 1 < each[-1] == most - 1)
    ]
    from_zero = [name for name, each in grades.items() if each[0] == 0 and each[-1] == most - 1]
    if not from_one:
        return 0
    beside = f"{validate.listing(from_one)} {'has' if len(from_one) == 1 else 'have'} grades from 1 to {most}"
    if from_zero:
        validate.warn(
            f"{arguments.given('labels', list(labels))} became 0 to {most - 1}, as the grades of "
            f"{validate.listing(from_zero)}, but {beside}: give all grades the same numbers",
            "labels_beside_numbers",
        )
        return 0
    validate.warn(f"{arguments.given('labels', list(labels))} became 1 to {most}, as {beside}", "labels_beside_numbers")
    return 1


def coded(
    frame: pd.DataFrame,
    labels: Sequence[str],
    named: Iterable[Any],
    scores: Iterable[Any] = (),
    metric: Any = None,
    lowest: int = 0,
) -> pd.DataFrame:
    """The frame with labels as codes from `lowest`; without `labels` unchanged.

    `metric` is the column of metrics of a frame with one row per score: some have labels, others numbers.
    """
    if not labels:
        return frame
    codes = {label: float(at) for at, label in enumerate(labels, lowest)}
    frame = _alike(frame, labels, set(named))
    skip, must = set(named), set(scores)
    changed = {}
    for column in frame.columns:
        values = frame[column]
        if column in skip or not _is_text(values):
            continue
        texts = values.map(_text)
        known = texts.isin(codes) | texts.isna()
        if known.all() and texts.notna().any():
            changed[column] = texts.map(codes).astype(float)
        elif column in must:
            whose = None if metric not in frame.columns else frame[metric]
            numbers = words.parsed(texts.where(~known))
            if whose is not None and _of_different_metrics(texts.isin(codes), numbers.notna(), known, whose):
                changed[column] = texts.map(codes).astype(float).fillna(numbers)
                continue
            other = texts[~known].iloc[0]
            hint = validate.suggestion(other, labels)
            raise ValueError(f"column {column!r} has the text {other!r}, which is none of labels{hint} {list(labels)}")
    return frame.assign(**changed) if changed else frame


def _alike(frame: pd.DataFrame, labels: Sequence[str], skip: set[Any]) -> pd.DataFrame:
    """The frame with labels in place of texts that differ from one in case alone, with a warning."""
    spelt: dict[str, list[str]] = {}
    for label in labels:
        spelt.setdefault(label.casefold(), []).append(label)
    changed: dict[Any, pd.Series[Any]] = {}
    said: dict[str, None] = {}
    for column in frame.columns:
        if column in skip or not _is_text(frame[column]):
            continue
        texts = frame[column].map(_text)
        known = {each: spelt.get(each.casefold(), []) for each in texts.unique() if isinstance(each, str)}
        meant = {each: found[0] for each, found in known.items() if len(found) == 1 and each != found[0]}
        if meant and all(map(known.get, texts.dropna().unique())):
            changed[column] = texts.replace(meant)
            said |= {f"{each!r} is read as {label!r}": None for each, label in meant.items()}
    if said:
        validate.warn(f"labels differ in case: {', '.join(said)}", "look_alike_labels")
    return frame.assign(**changed) if changed else frame


def _of_different_metrics(labelled: Any, numeric: Any, known: Any, metrics: pd.Series[Any]) -> bool:
    """Whether all other texts are numbers, and no metric has both labels and numbers."""
    return bool((known | numeric).all()) and not set(metrics[labelled]) & set(metrics[numeric])


def coded_array(values: xr.DataArray, labels: Sequence[str], lowest: int = 0) -> xr.DataArray:
    if not labels or values.dtype.kind not in "OUS":
        return values
    codes = {label: float(at) for at, label in enumerate(labels, lowest)}
    flat = [_text(each) for each in values.values.ravel()]
    other = next((each for each in flat if each is not None and each not in codes), None)
    if other is not None:
        raise ValueError(f"human has the text {other!r}, which is none of labels {list(labels)}")
    found = np.array([np.nan if each is None else codes[each] for each in flat]).reshape(values.shape)
    return values.copy(data=found)


def _is_text(values: Any) -> bool:
    if not isinstance(values, pd.Series):  # a repeated column
        return False
    kind = pd.api.types.infer_dtype(values, skipna=True)
    return kind in ("string", "boolean", "categorical", "mixed", "mixed-integer")


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    return None if value is None or value != value else str(value)
