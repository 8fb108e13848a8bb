"""Records of a question: an analysis, its variables, and the text on its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# A test's p-values may be corrected and decided.
_OF_TESTS = ("pvalue_adjusted", "significant")


@dataclass(frozen=True)
class Variable:
    """A variable of results: long name, units ("1", "score" or "score²"), dtype.

    `turned` is what happens when the metrics of a pair change places: "same", "negated", or the variable whose negated
    value it takes.
    """

    long_name: str
    units: str = "1"
    dtype: type = float
    turned: str = "same"

    @property
    def blank(self) -> Any:
        """Its value where there is none, as on the diagonal."""
        return {float: np.nan, int: 0, bool: False}[self.dtype]


@dataclass(frozen=True)
class TestName:
    """A test by its short name, in sentences for one or several, and in pictures."""

    short: str
    several: str = ""
    one: str = ""
    draws: str = "resamples"

    def in_a_sentence(self, one: bool) -> str:
        several = self.several or self.short
        return (self.one or several) if one else several


@dataclass(frozen=True)
class Question:
    """A method of ``ds.meta`` and its heading there; without a group a function of the package."""

    name: str
    group: str = ""


@dataclass(frozen=True)
class Analysis(Question):
    """A question whose answer is a result."""

    # Variables that answer it (the first that a result has), and the others.
    main: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    # Dims that results have and scores do not.
    dims: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    # Variables that differ here from `VARIABLES`.
    own: Mapping[str, Variable] = field(default_factory=dict)
    # Scores may have further dims; results lie along pairs of groups; the test is symmetric whatever the alternative.
    further: bool = True
    between_groups: bool = False
    undirected: bool = False
    # Two systems cannot answer it at system level, where every correlation of theirs is 1 or -1.
    needs_three: bool = False
    # Dims that generalise where no keyword says so; whether the test swaps single scores.
    random: tuple[str, ...] = ()
    exchanged: bool = False
    # Names of its tests by method; "" for any method.
    tests: Mapping[str, TestName] = field(default_factory=dict)
    # Variable of a table with one row per metric (empty: one row per value), and further columns.
    in_table: str = ""
    beside: tuple[str, ...] = ()
    # Templates for `methods`: {gold}, {correlation} and attrs are filled in, [keys] are cited.
    aim: str = ""
    special_aims: Mapping[str, str] = field(default_factory=dict)
    # "module.name" of the function for sentences on one label, and the dims that it needs; of the best, to count over
    # many labels; and of a final sentence.
    say: str = ""
    core: tuple[str, ...] = ("metric",)
    # Dims that some variables lack, and those that have them; "along" is the dim that results name in this attr.
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    best: str = ""
    closing: str = ""

    @property
    def variables(self) -> tuple[str, ...]:
        found = (*self.main, *self.others)
        return (*found, *_OF_TESTS) if "pvalue" in found else found

    def along(self, dim: str) -> tuple[str, ...]:
        """Variables that have this dim, of results that have it."""
        found = self.only.get(dim, self.variables)
        return (*found, *_OF_TESTS) if "pvalue" in found else found

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.variables, *self.dims)
