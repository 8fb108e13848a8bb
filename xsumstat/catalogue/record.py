"""What is declared of a question: an analysis, its variables, and what is said of its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# A test's p-values may be corrected and decided.
_OF_TESTS = ("pvalue_adjusted", "significant")


@dataclass(frozen=True)
class Variable:
    """What a variable of results is.

    Attributes
    ----------
    long_name : str
        What it is, for attrs and axes.
    units : str
        "1" for a plain number, "score" for one in the scores' units, "score²" for one in their square.
    dtype : type
    turned : str
        What becomes of it where the two metrics of a pair change places: "same", "negated", or the name of the variable
        whose negated value it takes, as that of the other limit.
    """

    long_name: str
    units: str = "1"
    dtype: type = float
    turned: str = "same"

    @property
    def blank(self) -> Any:
        """Its value where there is nothing, as where a metric meets itself."""
        return {float: np.nan, int: 0, bool: False}[self.dtype]


@dataclass(frozen=True)
class TestName:
    """A test by its short name, as a sentence calls several of it, or one, and what is drawn for it."""

    short: str
    several: str = ""
    one: str = ""
    draws: str = "resamples"

    def in_a_sentence(self, one: bool) -> str:
        """As a sentence calls it."""
        several = self.several or self.short
        return (self.one or several) if one else several


@dataclass(frozen=True)
class Question:
    """A method of ``ds.meta``.

    Attributes
    ----------
    name : str
    group : str
        Under which heading `ds.meta` and the documentation show it; empty for a function of the package.
    """

    name: str
    group: str = ""


@dataclass(frozen=True)
class Analysis(Question):
    """A question whose answer is a result.

    Attributes
    ----------
    main : tuple of str
        The variable that answers its question: the first of these that a result has.
    others : tuple of str
        Its other variables.
    dims : tuple of str
        Dims that results have and scores have not.
    pictures : tuple of str
        Methods of ``result.meta.plot`` that draw it.
    own : mapping
        Variables that are something else here than `VARIABLES` says.
    further : bool
        Whether scores may have further dims, which then may not be called as a variable or dim of the result is.
    between_groups : bool
        Whether its results lie along the groups of attrs["by"], and along these once more as "other_...".
    undirected : bool
        Whether its test of a pair is the same when the two change places, whatever attrs["alternative"] says.
    random : tuple of str
        Dims whose labels stand for others like them, where no keyword says which do.
    exchanged : bool
        Whether its test exchanges single scores of these systems, as no keyword says.
    tests : mapping
        What its tests are called, by method, where the method alone does not say it; "" of any method.
    in_table : str
        The variable that a table shows, a row for each metric; where it is empty a table has a row for each value.
    beside : tuple of str
        Variables with columns beside it.
    aim : str
        What was done, for `methods`: {gold}, {correlation} and attrs are filled in; [keys] are cited.
    special_aims : mapping
        The same of its special kinds, by their name.
    say : str
        The function, "module.name", that makes sentences of the result of one label of all further dims.
    core : tuple of str
        Dims that `say` needs, where the result has them or a scalar coordinate of that name.
    best : str
        The function that gives what is best, to be counted where there are many labels.
    closing : str
        The function that says something once, of the whole result.
    """

    main: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    dims: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    own: Mapping[str, Variable] = field(default_factory=dict)
    further: bool = True
    between_groups: bool = False
    undirected: bool = False
    random: tuple[str, ...] = ()
    exchanged: bool = False
    tests: Mapping[str, TestName] = field(default_factory=dict)
    in_table: str = ""
    beside: tuple[str, ...] = ()
    aim: str = ""
    special_aims: Mapping[str, str] = field(default_factory=dict)
    say: str = ""
    core: tuple[str, ...] = ("metric",)
    best: str = ""
    closing: str = ""

    @property
    def variables(self) -> tuple[str, ...]:
        """All variables that results can have."""
        found = (*self.main, *self.others)
        return (*found, *_OF_TESTS) if "pvalue" in found else found

    @property
    def names(self) -> tuple[str, ...]:
        """All variables and dims."""
        return (*self.variables, *self.dims)
