"""Labels of the rows of a frame: each label once, and the place of each row's label."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from xsumstat.core import arguments, validate
from xsumstat.core.types import IntArray
from xsumstat.io import cells

Codes = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]
Place = Callable[[int], str]  # what the row at a position is called in messages


@dataclass(frozen=True)
class Labels:
    """A dim's labels in order of appearance, and the label of each row."""

    each: pd.Series[Any]
    codes: Codes

    def firsts(self) -> IntArray:
        return _firsts(self.codes)

    def array(self) -> np.ndarray[Any, Any]:
        return np.asarray(pd.factorize(self.each)[1])

    def constant(self, values: Codes) -> bool:
        return bool((values[self.firsts()][self.codes] == values).all())


def of_rows(column: pd.Series[Any], dim: str, name: str, place: Place) -> Labels:
    """Labels of a dim without surrounding blanks; raises for missing labels, or text and numbers mixed."""
    codes = _codes(column)
    labels = _plain(column.iloc[_firsts(codes)])
    bare = _bare(list(labels), f"column {name!r}")
    if bare:
        labels = labels.map(lambda label: bare.get(label, label))
    empty = np.append((labels == "").to_numpy(dtype=bool), True)  # the last is for the code -1, of no label
    if empty[:-1].any() or codes.min(initial=0) < 0:
        refuse_rows(np.flatnonzero(empty[codes]), dim, name, place)
    if bare:
        merged = _codes(labels)
        return Labels(labels.iloc[_firsts(merged)], merged[codes])
    return Labels(labels, codes)


def refuse_rows(lacking: IntArray, dim: str, name: str, place: Place) -> NoReturn:
    """Raise for rows without a label."""
    raise ValueError(
        f"{validate.counted(len(lacking), 'row')} without {dim} (column {name!r}), the first is "
        f"{place(int(lacking[0]))}; drop or fill {'it' if len(lacking) == 1 else 'them'}"
    )


def of_columns(columns: list[str]) -> pd.Series[Any]:
    bare = _bare(columns, "the header")
    labels = [bare.get(column, column) for column in columns]
    validate.unique("the header without blanks", labels)
    return pd.Series(cells.text(labels), dtype=object)


def without_blanks(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """The frame with labels stripped, reported once even where the frame is read in parts."""
    for column in columns:
        values = frame[column]
        bare = _bare(list(_plain(values.iloc[_firsts(_codes(values))])), f"column {column!r}")
        if bare:
            frame = frame.assign(**{column: values.map(lambda label, bare=bare: bare.get(label, label))})
    return frame


def described(column: pd.Series[Any], dims: dict[str, Labels]) -> tuple[str, np.ndarray[Any, Any]] | None:
    """First dim with one value of the column for each label, and these values; or nothing."""
    values = _codes(column)
    for dim, labels in dims.items():
        if labels.constant(values):
            one_each = _plain(column.iloc[labels.firsts()])
            return dim, one_each.groupby(np.arange(len(one_each)), sort=False).first().to_numpy()
    return None


def _codes(column: pd.Series[Any]) -> Codes:
    """Number of each row's value in order of appearance, in few bytes; -1 for none."""
    codes, values = pd.factorize(column)
    return codes.astype(np.min_scalar_type(-len(values) - 1))


def _firsts(codes: Codes) -> IntArray:
    """First place of each code, numbered by appearance."""
    return np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1))


def _plain(column: pd.Series[Any]) -> pd.Series[Any]:
    return pd.DataFrame({"label": column.to_numpy()})["label"]


def _bare(labels: list[Any], where: str) -> dict[Hashable, str]:
    """Labels with blanks and their stripped form; reported, and refused where only some are text."""
    texts = [label for label in labels if isinstance(label, str)]
    if texts and len(texts) < len(labels):
        other = next(label for label in labels if not isinstance(label, str))
        raise ValueError(
            f"{where} has labels that are text and others that are not, as {texts[0]!r} and {other!r}"
            f"{arguments.only_in_python(': make them one type, as with .astype(str)')}"
        )
    bare: dict[Hashable, str] = {label: label.strip() for label in texts if label != label.strip()}
    if bare:
        validate.warn(f"{where}: blanks around labels are left out: {validate.listing(bare)}", "labels_trimmed")
    return bare
