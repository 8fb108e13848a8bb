"""Every argument check and every error text; each check returns the normalised value."""

from __future__ import annotations

import ast
import difflib
import functools
import importlib
import inspect
import numbers
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from xsumstat import docstrings, method_synonyms, synonyms

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep

LEVELS = ("system", "input", "global", "within_system")
ALTERNATIVES = ("two-sided", "greater", "less")

_P = ParamSpec("_P")
_R = TypeVar("_R")


def listing(labels: Iterable[Hashable], limit: int = 8) -> str:
    """Labels for a message: the first few, and how many there are when some are left out."""
    labels = list(labels)
    shown = ", ".join(repr(label) for label in labels[:limit])
    return shown if len(labels) <= limit else f"{shown}, … ({len(labels)} in all)"


def is_list(value: Any) -> bool:
    """Whether several are asked for, which makes a dim of the result."""
    return isinstance(value, list | tuple | np.ndarray | range)


def listed(value: Any) -> list[Any]:
    """A list's items, or the one value."""
    return list(value) if is_list(value) else [value]


def suggestion(value: Hashable, options: Iterable[Hashable]) -> str:
    """The words "; did you mean …?" for the option nearest to `value`, or a mere semicolon."""
    texts = {str(option): option for option in options}
    same = [text for text in texts if synonyms.spelt(text) == synonyms.spelt(str(value))]
    near = same or difflib.get_close_matches(str(value), texts, n=1, cutoff=0.5)
    return f"; did you mean {texts[near[0]]!r}?" if near else ";"


def _ending(name: str, value: Any, options: Collection[str]) -> str:
    """A suggestion to end a sentence with: what the word means here, as another keyword or method, or the nearest."""
    if not isinstance(value, str):
        return ""
    argument = name.rstrip("']").rpartition("'")[2]  # tests['a']['method'] is a method
    meant = synonyms.values_meant(argument, value)
    here = next((each for each in meant if each in options), None)
    if here is not None:
        return f"; did you mean {here!r}?"
    asked = _ASKED.get()
    found = None if asked is None else asked.another(argument, value)
    if found is not None:
        return f"; did you mean {found}?"
    # A word that means something else is no slip of the pen.
    return "" if meant else suggestion(value, options).rstrip(";")


def choice(name: str, value: Any, allowed: Collection[str]) -> str:
    """One of the names in `allowed`."""
    if isinstance(value, str) and value in allowed:
        return value
    raise ValueError(f"{name} must be one of {listing(allowed, 20)}, got {value!r}{_ending(name, value, allowed)}")


def integer(name: str, value: Any, minimum: int) -> int:
    """A whole number of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if int(value) < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}")
    return int(value)


def number(name: str, value: Any, least: float, most: float) -> float:
    """A number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if float(value) != float(value):
        raise ValueError(f"{name} must be a number, got {value}")
    if not least <= float(value) <= most:
        upper = "" if most == float("inf") else f" and at most {most:g}"
        raise ValueError(f"{name} must be at least {least:g}{upper}, got {value}")
    return float(value)


def fraction(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number between 0 and 1, got {value!r}")
    if not 0 < float(value) < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value}")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """True or False, and nothing that merely looks like it."""
    if type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise TypeError(f"{name} must be True or False, got {value!r}")


def several(name: str, value: Any, allowed: str) -> list[Any]:
    """The items of what is given, or the one text; `allowed` says what it must be."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable):
        raise TypeError(f"{name} must be {allowed}, got {value!r}")
    return list(value)


def path(name: str, value: Any) -> Path:
    """Where a file or folder is."""
    if not _is_path(value):
        raise TypeError(f"{name} must be a str or Path, got {value!r:.200}")
    return Path(value)


def paths(name: str, value: Any) -> list[Path]:
    """Where one file or folder is, or several are."""
    given = [value] if _is_path(value) else several(name, value, "a str, a Path, or several of them")
    return [path(f"each item of {name}", each) for each in given]


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike) and isinstance(os.fspath(value), str)


def dims(name: str, value: Any, allowed: tuple[str, ...] = ("system", "input")) -> tuple[str, ...]:
    """The named dims in the order of `allowed`; "both" stands for system and input."""
    names = allowed[:2] if value == "both" else (value,) if isinstance(value, str) else value
    if not isinstance(names, Iterable):
        raise TypeError(f"{name} must be 'both' or names among {listing(allowed)}, got {value!r}")
    names = tuple(names)
    unknown = [item for item in names if item not in allowed]
    if unknown or not names or len(set(names)) < len(names):
        hint = _ending(name, unknown[0], (*allowed, "both")) if unknown else ""
        raise ValueError(f"{name} must be 'both' or names among {listing(allowed)}, got {value!r}{hint}")
    return tuple(item for item in allowed if item in names)


def known(name: str, value: Hashable, labels: Collection[Hashable], kind: str) -> Hashable:
    """A label that exists, or an error that names the nearest one."""
    if value in labels:
        return value
    raise ValueError(f"unknown {name} {value!r}{suggestion(value, labels)} {kind}: {listing(labels, 30)}")


def unique(name: str, labels: Iterable[Hashable]) -> None:
    """No label twice."""
    seen: dict[Hashable, int] = {}
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
    twice = [label for label, count in seen.items() if count > 1]
    if twice:
        raise ValueError(f"{name} has {len(twice)} label(s) more than once: {listing(twice)}; each must be unique")


def coefficient_function(value: Any, allowed: Collection[str]) -> str | Callable[..., float]:
    """The name of a coefficient, or a function of two 1-D arrays."""
    if callable(value):
        function: Callable[..., float] = value
        return function
    if isinstance(value, str) and value in allowed:
        return value
    ending = _ending("coefficient", value, allowed)
    raise ValueError(
        f"coefficient must be one of {listing(allowed, 20)}, or a function f(x, z) -> float, got {value!r}{ending}"
    )


@dataclass(frozen=True)
class _Asked:
    """A public function: what it is called, what it can be told, and what may be told by position."""

    name: str
    text: str
    positional: tuple[str, ...]
    named: tuple[str, ...]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> _Asked:
        parameters = inspect.signature(function).parameters.values()
        named = tuple(each.name for each in parameters if each.kind is each.KEYWORD_ONLY)
        positional = tuple(each.name for each in parameters if each.kind is not each.KEYWORD_ONLY)
        return cls(function.__name__, docstrings.whole(function.__doc__) or "", positional, named)

    @functools.cached_property
    def keywords(self) -> tuple[str, ...]:
        """All but the data, which methods are not told."""
        return (*(each for each in self.positional if each not in _DATA), *self.named)

    def error(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TypeError:
        """What is wrong with arguments that the function does not take."""
        for word, value in kwargs.items():
            if word not in self.positional and word not in self.named:
                return TypeError(f"{self.name}() has no keyword {word!r}; {self._hint(word, value)}")
        last = self.positional[-1]
        which = "all" if last in _DATA else f"those after {last}"
        found = self._holding(args[len(self.positional)], kwargs.get("method")) if self.named else None
        hint = self._listing() if found is None else f"did you mean {found}?"
        return TypeError(f"{self.name}() got too many positional arguments: {which} must be named; {hint}")

    def another(self, argument: str, value: str) -> str | None:
        """The other keyword, or of a wrong method the other function, that a value belongs to."""
        found = self._with_value(value, [each for each in self.keywords if each != argument])
        if found is None and argument == "method":
            functions = method_synonyms.methods_meant(value)
            found = next((each for each in functions if each.partition("(")[0] != self.name), None)
        return found

    def _hint(self, word: str, value: Any) -> str:
        """What to say of a wrong keyword."""
        meant = [each for each in synonyms.keywords_meant(self.name, word) if each in self.keywords]
        found = None
        if isinstance(value, str):
            labels = bool(meant) and meant[0] not in synonyms.VALUES  # of which any word may be one
            found = self._with_value(value, meant) or self._with_value(value, self.keywords, exactly=labels)
        if found is None:
            found = _complement(meant[0], value) if meant else self._with_value(word, self.keywords)
        if found is not None:
            return f"did you mean {found}?"
        note = synonyms.in_place_of(word, picture="ax" in self.keywords)
        if note is not None:
            return note
        near = difflib.get_close_matches(word, self.keywords, n=1, cutoff=0.6)
        return f"did you mean {near[0]}=?" if near else self._listing()

    def _listing(self) -> str:
        return f"keywords: {', '.join(self.keywords)}" if self.keywords else "it takes no keywords"

    def _with_value(self, value: str, keywords: Iterable[str], *, exactly: bool = False) -> str | None:
        """A keyword with the value that a word means: one spelt so rather than one that others call so."""
        found = [
            (synonyms.spelt(meant) != synonyms.spelt(value), f"{keyword}={meant!r}")
            for keyword in sorted(keywords, key=[*synonyms.VALUES, *self.keywords].index)
            for meant in synonyms.values_meant(keyword, value)
            if meant in self._values(keyword)
        ]
        loosely, text = min(found, key=lambda each: each[0], default=(True, None))
        return None if loosely and exactly else text

    def _values(self, keyword: str) -> Collection[str]:
        """The values that the docstring says the keyword takes, where it says so in braces, or all there are."""
        given = re.search(rf"^ *{keyword} : .*?({{[^}}]*}})", self.text, re.MULTILINE)
        if given is not None:
            return set(ast.literal_eval(given[1]))
        return () if keyword == "method" else synonyms.VALUES[keyword]

    def _holding(self, value: Any, method: Any) -> str | None:
        """The keyword that a value without one most likely belongs to, where `method` is another's."""
        with_gold = method == "ppi" and "gold" in self.named
        if isinstance(value, str):
            first = "gold" if with_gold else self.named[0]
            return self._with_value(value, self.keywords) or f"{first}={value!r:.60}"
        kinds = {
            "gold": with_gold and hasattr(value, "dims"),
            "metric": is_list(value),
            "rng": type(value).__name__ in ("Generator", "SeedSequence"),
            "ax": hasattr(value, "get_figure"),
        }
        for keyword, fits in kinds.items():
            if fits and keyword in self.named:
                return f"{keyword}={value!r}" if keyword == "metric" and len(repr(value)) <= 60 else f"{keyword}=..."
        number = _as_number(value)
        likely = {
            "n_resamples": number >= 10 and number.is_integer(),
            "margin": 0 < number < 1,
            "alpha": 0 < number < 0.5,
            "confidence_level": 0.5 <= number < 1,
        }
        return next((f"{each}={value}" for each, fits in likely.items() if fits and each in self.named), None)


def _as_number(value: Any) -> float:
    """A number as a float, all else as NaN."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return float("nan")
    return float(value)


def _complement(keyword: str, value: Any) -> str:
    """A keyword, with its value where that was given as alpha in place of the level of confidence, or the other way."""
    number = _as_number(value)
    turned = {"confidence_level": 0 < number < 0.5, "alpha": 0.5 < number < 1}
    return f"{keyword}={1 - number:.6g}" if turned.get(keyword) else f"{keyword}="


# What functions call the data, which the accessor gives them.
_DATA = ("ds", "result", "frame")
# The public function that was asked, within it.
_ASKED: ContextVar[_Asked | None] = ContextVar("asked", default=None)


def public(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Meet wrong keywords and too many positional arguments of a public function with what is meant.

    It comes first of all decorators, as those below take arguments of any name. Its docstring is made whole by the
    entries that docstrings share. A wrong value within is met with the keywords of the function that the user asked,
    not of one that this asks.
    """
    asked = _Asked.of(function)
    most, names = len(asked.positional), frozenset((*asked.positional, *asked.named))

    @functools.wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if len(args) > most or not names.issuperset(kwargs):
            raise asked.error(args, kwargs)
        if _ASKED.get() is not None:
            return function(*args, **kwargs)
        token = _ASKED.set(asked)
        try:
            return function(*args, **kwargs)
        finally:
            _ASKED.reset(token)

    checked.__doc__ = docstrings.whole(function.__doc__)
    checked.__signature__ = docstrings.signature(function)  # type: ignore[attr-defined]
    return checked


def optional(module: str, extra: str) -> ModuleType:
    """An optional dependency, or an error that names the extra which brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"this needs {package}, which is not installed: pip install 'xsumstat[{extra}]'", name=package
        ) from error


@contextmanager
def kept_warnings() -> Iterator[list[str]]:
    """The texts of the UserWarnings given within, which go no further; others do."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
    for each in caught:
        if issubclass(each.category, UserWarning):
            texts.append(str(each.message))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


# Where texts of warnings go instead, within `gathered`.
_TEXTS: ContextVar[list[str] | None] = ContextVar("texts", default=None)


@contextmanager
def gathered() -> Iterator[list[str]]:
    """The texts of the package's own warnings given within by this thread, which go no further.

    Unlike `kept_warnings` it changes nothing for other threads.
    """
    texts: list[str] = []
    token = _TEXTS.set(texts)
    try:
        yield texts
    finally:
        _TEXTS.reset(token)


def warn(message: str) -> None:
    """A UserWarning that points at the caller's own line, however deep the package's stack is."""
    texts = _TEXTS.get()
    if texts is not None:
        texts.append(message)
        return
    warnings.warn(message, UserWarning, stacklevel=_level() - 1)


def place() -> tuple[str, int]:
    """File and line of the caller's own line."""
    frame = sys._getframe(_level() - 2)
    return frame.f_code.co_filename, frame.f_lineno


def _level() -> int:
    """How many frames below this one the caller's own is, counted from 1."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE) and frame.f_back is not None:
        frame = frame.f_back
        level += 1
    return level
