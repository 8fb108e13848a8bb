"""Argument checks and their error texts; each check returns the normalised value."""

from __future__ import annotations

import ast
import difflib
import functools
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
from typing import Any, ParamSpec, TypeVar

import numpy as np

from xsumstat.core import arguments, docstrings, kinds, method_synonyms, synonyms
from xsumstat.core.caveats import Caveat, MetaEvaluationWarning
from xsumstat.core.kinds import given as given  # noqa: PLC0414 - who refuses a value shows it so

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# Resamples or trials of one call: more are a slip, and would fail for want of memory or of time.
MOST_DRAWS = 10**8
_SAY_MORE = ("by", "pool")  # arguments of text whose own checks know what is meant
_WIDEST = 500  # inches of a picture
SCORING_RANGE = "scoring_range"  # attr of scores that were cut to a range, and of their results
ALTERNATIVES = ("two-sided", "greater", "less")

_P = ParamSpec("_P")
_R = TypeVar("_R")


def listing(labels: Iterable[Hashable], limit: int = 8) -> str:
    """The first few labels for a message, and how many more."""
    labels = list(labels)
    shown = ", ".join(repr(label) for label in labels[:limit])
    return shown if len(labels) <= limit else f"{shown}, … ({len(labels)} in all)"


def counted(n: int, noun: str) -> str:
    """A number with its noun: "1 input", "3 inputs"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def named(noun: str, labels: Iterable[Hashable]) -> str:
    """Labels after their noun: "metric 'bleu'", "metrics 'bleu', 'ter'"."""
    labels = list(labels)
    return f"{noun}{'s' * (len(labels) != 1)} {listing(labels)}"


def is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray | range)


def listed(value: Any) -> list[Any]:
    return list(value) if is_list(value) else [value]


_LEAST_PART, _MOST_MEANT = 4, 3  # signs of a part of a name, and names with this part that are suggested together


def suggestion(value: Hashable, options: Iterable[Hashable]) -> str:
    """The words "; did you mean …?" with the nearest option, or the few that it is a part of, or only a semicolon."""
    texts = {str(option): option for option in options}
    asked = synonyms.spelt(str(value))
    same = [text for text in texts if synonyms.spelt(text) == asked][:1]
    longer = [text for text in texts if len(asked) >= _LEAST_PART and asked in synonyms.spelt(text)]
    longer = longer if len(longer) <= _MOST_MEANT else []
    near = same or longer or difflib.get_close_matches(str(value), texts, n=1, cutoff=0.5)
    if not near:
        return ";"
    *others, last = (repr(texts[text]) for text in near)
    return f"; did you mean {', '.join(others)}{' or ' if others else ''}{last}?"


def _ending(name: str, value: Any, options: Collection[str]) -> str:
    """The end of a sentence: what a word means here, or the nearest option."""
    if not isinstance(value, str):
        return ""
    argument = name.rstrip("']").rpartition("'")[2]  # tests['a']['method'] is a method
    asked = _ASKED.get()
    note = synonyms.in_place_of_value(argument, value, "" if asked is None else asked.name)
    if note is not None:
        return f"; {note}"
    meant = synonyms.values_meant(argument, value)
    here = next((each for each in meant if each in options), None)
    if here is not None:
        return f"; did you mean {here!r}?"
    found = None if asked is None else asked.another(argument, value)
    if found is not None:
        return f"; did you mean {found}?"
    # A word that means something else is no slip of the pen.
    return "" if meant else suggestion(value, options).rstrip(";")


def choice(name: str, value: Any, allowed: Collection[str]) -> str:
    if isinstance(value, str) and value in allowed:
        return value
    ending = _ending(name, value, allowed)
    raise ValueError(f"{arguments.name(name)} must be one of {listing(allowed, 20)}, got {given(value)}{ending}")


def integer(name: str, value: Any, minimum: int, maximum: int | None = None) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{arguments.name(name)} must be a whole number, got {given(value)}")
    if int(value) < minimum:
        raise ValueError(f"{arguments.name(name)} must be at least {minimum}, got {given(value)}")
    if maximum is not None and int(value) > maximum:
        raise ValueError(f"{arguments.name(name)} must be at most {maximum:,}, got {given(value)}")
    return int(value)


def integers(name: str, value: Any, minimum: int, maximum: int | None = None) -> list[int]:
    """One whole number, or several different ones."""
    return different(name, [integer(name, each, minimum, maximum) for each in listed(value)])


def different(name: str, values: list[_R]) -> list[_R]:
    """Values of a list that is not empty, none of them twice."""
    if not values:
        raise ValueError(f"{name} is an empty list")
    unique(name, values)
    return values


def _check_figsize(value: Any) -> None:
    several = isinstance(value, tuple | list) and len(value) == 2
    if not several or not all(0 < _as_number(each) <= _WIDEST for each in value):
        raise ValueError(f"figsize must be (width, height) in inches, from 0 to {_WIDEST} each, got {given(value)}")


def n_draws(name: str, value: Any, minimum: int) -> int:
    return integer(name, value, minimum, MOST_DRAWS)


def number(name: str, value: Any, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{arguments.name(name)} must be a number, got {given(value)}")
    if float(value) != float(value):
        raise ValueError(f"{arguments.name(name)} must be a number, got {given(value)}")
    if not least <= float(value) <= most:
        upper = "" if most == float("inf") else f" and at most {most:g}"
        raise ValueError(f"{arguments.name(name)} must be at least {least:g}{upper}, got {given(value)}")
    return float(value)


def fraction(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{arguments.name(name)} must be a number between 0 and 1, got {given(value)}")
    if not 0 < float(value) < 1:
        percent = f"; write {value / 100:g} for {value:g} %" if 2 <= float(value) < 100 else ""
        raise ValueError(f"{arguments.name(name)} must lie strictly between 0 and 1, got {given(value)}{percent}")
    return float(value)


def flag(name: str, value: Any) -> bool:
    if type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise TypeError(f"{arguments.name(name)} must be True or False, got {given(value)}")


def several(name: str, value: Any, allowed: str) -> list[Any]:
    """Items of what is given, or the one text; `allowed` is for the message."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable):
        raise TypeError(f"{arguments.name(name)} must be {allowed}, got {given(value)}")
    return list(value)


def path(name: str, value: Any) -> Path:
    if isinstance(value, str) and (not value or "\0" in value):
        raise ValueError(f"{arguments.name(name)} must name a file or folder, got {value!r}")
    if not _is_path(value):
        raise TypeError(f"{arguments.name(name)} must be a str or Path, got {given(value)}")
    return Path(value)


def paths(name: str, value: Any) -> list[Path]:
    given = [value] if _is_path(value) else several(name, value, "a str, a Path, or several of them")
    return [path(f"each item of {name}", each) for each in given]


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike) and isinstance(os.fspath(value), str)


def dims(
    name: str, value: Any, allowed: tuple[str, ...] = ("system", "input"), *, auto: bool = False
) -> tuple[str, ...]:
    """Named dims in the order of `allowed`; "both", and perhaps "auto", is system and input."""
    words = ("auto", "both") if auto else ("both",)
    needed = f"{arguments.name(name)} must be {', '.join(map(repr, words))} or names among {listing(allowed)}"
    names = (value,) if isinstance(value, str) else value
    if isinstance(value, str) and value in words:
        names = allowed[:2]
    if not isinstance(names, Iterable):
        raise TypeError(f"{needed}, got {given(value)}")
    names = tuple(names)
    unknown = [item for item in names if not isinstance(item, str) or item not in allowed]
    if unknown or not names or len(set(names)) < len(names):
        hint = _ending(name, unknown[0], (*allowed, *words)) if unknown else ""
        raise ValueError(f"{needed}, got {given(value)}{hint}")
    return tuple(item for item in allowed if item in names)


def known(name: str, value: Hashable, labels: Collection[Hashable], kind: str) -> Hashable:
    """An existing label; otherwise an error names the nearest one."""
    _check_hashable(name, value)
    if value in labels:
        return value
    raise ValueError(f"unknown {name} {value!r}{suggestion(value, labels)} {kind}: {listing(labels, 30)}")


def label(name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | numbers.Integral):
        raise TypeError(f"{arguments.name(name)} must be text or a whole number, got {given(value)}")
    if isinstance(value, str) and (not value.strip() or not value.isprintable()):
        raise ValueError(
            f"{arguments.name(name)} must be text that can be read, without control characters, got {value!r}"
        )
    return value


def column(name: str, value: Any) -> str:
    _check_hashable(name, value)
    named: str = value
    return named


def _check_hashable(name: str, value: Any) -> None:
    try:
        hash(value)
    except TypeError as error:
        raise TypeError(f"{arguments.name(name)} must be one label, as text or a number, got {given(value)}") from error


def unique(name: str, labels: Iterable[Hashable]) -> None:
    seen: dict[Hashable, int] = {}
    for label in labels:
        _check_hashable(name, label)
        seen[label] = seen.get(label, 0) + 1
    twice = [label for label, count in seen.items() if count > 1]
    if twice:
        raise ValueError(f"{arguments.name(name)} repeats {listing(twice)}; each must be unique")


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{arguments.name(name)} must be text, got {given(value)}")
    return value


def coefficient_function(value: Any, allowed: Collection[str]) -> str | Callable[..., float]:
    if callable(value) and not isinstance(value, type):
        function: Callable[..., float] = value
        return function
    if isinstance(value, str) and value in allowed:
        return value
    ending = _ending("coefficient", value, allowed)
    raise ValueError(
        f"{arguments.name('coefficient')} must be one of {listing(allowed, 20)}, or a function f(x, z) -> float, "
        f"got {given(value)}{ending}"
    )


# How alike a word and a keyword must be to be one that is misspelt: "label" and "level" are .6.
_TYPO = 0.7
# Words by which docstrings say that a keyword takes values of a kind, the first kind that a value has.
_WORDS_OF_KINDS: dict[str, Any] = {
    r"\bbool\b(?! DataArray)": (bool, np.bool_),
    r"int\b|float|number|label": numbers.Real,
    "mapping": Mapping,
    r"list|pair|several|iterable|these|dims|\(": (list, tuple, set, range, np.ndarray),
}


@dataclass(frozen=True)
class _Asked:
    """A public function: its name, keywords and positional arguments."""

    name: str
    text: str
    positional: tuple[str, ...]
    named: tuple[str, ...]
    required: tuple[str, ...]
    kinds: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> _Asked:
        parameters = inspect.signature(function).parameters.values()
        allowed = {each.name: kinds.of(each.annotation) for each in parameters}
        named = tuple(each.name for each in parameters if each.kind is each.KEYWORD_ONLY)
        positional = tuple(each.name for each in parameters if each.kind is not each.KEYWORD_ONLY)
        required = tuple(each.name for each in parameters if each.default is each.empty)
        return cls(function.__name__, docstrings.whole(function.__doc__) or "", positional, named, required, allowed)

    @functools.cached_property
    def keywords(self) -> tuple[str, ...]:
        """All parameters except the data of methods."""
        return (*(each for each in self.positional if each not in _DATA), *self.named)

    def error(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TypeError:
        for word, value in kwargs.items():
            if word not in self.positional and word not in self.named:
                return TypeError(f"{self.name}() has no keyword {word!r}; {self._hint(word, value)}")
        last = self.positional[-1]
        which = "all" if last in _DATA else f"those after {last}"
        found = self._holding(args[len(self.positional)], kwargs.get("method")) if self.named else None
        hint = self._listing() if found is None else f"did you mean {found}?"
        return TypeError(f"{self.name}() got too many positional arguments: {which} must be named; {hint}")

    def check_given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Raise for an argument without a default that is not given."""
        lacking = next((each for each in self.required if each not in (*self.positional[: len(args)], *kwargs)), None)
        if lacking is not None:
            meant = f", {_MEANT[lacking]}" if lacking in _MEANT else f" ({kinds.described(self.text, lacking)})"
            raise TypeError(f"{self.name}() needs {lacking}={meant}")

    def check_kinds(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        for name, value in (*zip(self.positional, args, strict=False), *kwargs.items()):
            allowed = self.kinds[name]
            if name == "figsize" and value is not None:
                _check_figsize(value)
            if allowed == {"bool", "None"} and value is not None:
                flag(name, value)
            free = (
                name not in _SAY_MORE
                and value is not None
                and allowed <= {"str", "None"}
                and not isinstance(value, str)
            )
            if not kinds.fits(value, allowed) or (free and "{" not in kinds.described(self.text, name)):
                raise TypeError(f"{name} must be {kinds.described(self.text, name)}, got {given(value)}")

    def another(self, argument: str, value: str) -> str | None:
        """The keyword, or for a wrong method the function, that a value belongs to."""
        found = self._with_value(value, [each for each in self.keywords if each != argument])
        if found is None and argument == "method":
            functions = method_synonyms.methods_meant(value)
            found = next((each for each in functions if each.partition("(")[0] != self.name), None)
        return found

    def _hint(self, word: str, value: Any) -> str:
        meant = [each for each in synonyms.keywords_meant(self.name, word) if each in self.keywords]
        meant = sorted(meant, key=lambda each: not self._takes(each, value))
        found = None
        if isinstance(value, str):
            labels = bool(meant) and meant[0] not in synonyms.VALUES  # of which any word may be one
            found = self._with_value(value, meant) or self._with_value(value, self.keywords, exactly=labels)
        if found is None:
            switched_on = value is None or isinstance(value, bool)  # kendall=True, but not system=["a"]
            found = self._with_value(word, self.keywords) if switched_on and not meant else None
            found = _complement(meant[0], value) if meant else found
        if found is not None:
            return f"did you mean {found}?"
        note = synonyms.in_place_of(word, picture="ax" in self.keywords)
        if note is not None:
            return note
        near = difflib.get_close_matches(word, self.keywords, n=1, cutoff=_TYPO)
        return f"did you mean {near[0]}=?" if near else self._listing()

    def _takes(self, keyword: str, value: Any) -> bool:
        """Whether the documented values of a keyword allow this one; undocumented ones fit."""
        typed = re.search(rf"^ *{keyword} : (.*)$", self.text, re.MULTILINE)
        kind = next((words for words, kinds in _WORDS_OF_KINDS.items() if isinstance(value, kinds)), None)
        return typed is None or kind is None or re.search(kind, typed[1]) is not None

    def _listing(self) -> str:
        return f"keywords: {', '.join(self.keywords)}" if self.keywords else "it takes no keywords"

    def _with_value(self, value: str, keywords: Iterable[str], *, exactly: bool = False) -> str | None:
        """A keyword with the value that a word means, preferably of the exact spelling."""
        found = [
            (synonyms.spelt(meant) != synonyms.spelt(value), f"{keyword}={meant!r}")
            for keyword in sorted(keywords, key=[*synonyms.VALUES, *self.keywords].index)
            for meant in synonyms.values_meant(keyword, value)
            if meant in self._values(keyword)
        ]
        loosely, text = min(found, key=lambda each: each[0], default=(True, None))
        return None if loosely and exactly else text

    def _values(self, keyword: str) -> Collection[str]:
        """Values of a keyword in braces in the docstring, or all."""
        given = re.search(rf"^ *{keyword} : .*?({{[^}}]*}})", self.text, re.MULTILINE)
        if given is not None:
            return set(ast.literal_eval(given[1]))
        return () if keyword == "method" else synonyms.VALUES[keyword]

    def _holding(self, value: Any, method: Any) -> str | None:
        """The keyword of a bare value; `method` names another function."""
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
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return float("nan")
    return float(value)


def _complement(keyword: str, value: Any) -> str:
    """The keyword with 1 − value where alpha and confidence level were confused."""
    number = _as_number(value)
    turned = {"confidence_level": 0 < number < 0.5, "alpha": 0.5 < number < 1}
    return f"{keyword}={1 - number:.6g}" if turned.get(keyword) else f"{keyword}="


# What arguments without a default mean, where their type does not say it.
_MEANT = {
    "margin": "the least difference of correlations that matters: metrics that differ by less count as equally good; "
    "e.g. margin=0.1",
    "anchor": "the Dataset of the older version's scores, with the same metrics and outputs",
    "k": "how many systems to keep, the best by the human scores, e.g. k=4",
}
# What functions call the data, which the accessor gives them.
_DATA = ("ds", "result", "frame")
# The public function that was asked, within it.
_ASKED: ContextVar[_Asked | None] = ContextVar("asked", default=None)
# What it has warned of once.
_SAID: ContextVar[set[str] | None] = ContextVar("said", default=None)


def public(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a public function: hints for wrong arguments, and the shared entries of its docstring.

    It must be the outermost decorator. Errors within name the keywords of the function that the user called.
    """
    asked = _Asked.of(function)
    most, names = len(asked.positional), frozenset((*asked.positional, *asked.named))

    @functools.wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if len(args) > most or not names.issuperset(kwargs):
            raise asked.error(args, kwargs)
        if not args or len(asked.required) > 1:
            asked.check_given(args, kwargs)
        if _ASKED.get() is not None:
            return _of_kept(args, function(*args, **kwargs))
        asked.check_kinds(args, kwargs)
        token, said = _ASKED.set(asked), _SAID.set(set())
        try:
            return _of_kept(args, function(*args, **kwargs))
        finally:
            _ASKED.reset(token)
            _SAID.reset(said)

    checked.__doc__ = docstrings.shown(function.__doc__)
    checked.__signature__ = docstrings.signature(function)  # type: ignore[attr-defined]
    return checked


def _of_kept(args: tuple[Any, ...], result: _R) -> _R:
    """A result that tells which outputs its scores were cut to, if they were."""
    kept = getattr(args[0], "attrs", {}).get(SCORING_RANGE) if args else None
    attrs = getattr(result, "attrs", {})
    if kept is None or "analysis" not in attrs or SCORING_RANGE in attrs or not hasattr(result, "assign_attrs"):
        return result
    found: _R = result.assign_attrs({SCORING_RANGE: kept})
    return found


@contextmanager
def kept_warnings() -> Iterator[list[Caveat]]:
    """Collect the UserWarnings given within; others pass."""
    kept: list[Caveat] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield kept
    for each in caught:
        if isinstance(each.message, MetaEvaluationWarning):
            kept.append(Caveat(str(each.message), each.message.code, **each.message.fields))
        elif issubclass(each.category, UserWarning):
            kept.append(Caveat(str(each.message)))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


# Where warnings go instead, within `gathered`.
_GATHERED: ContextVar[list[Caveat] | None] = ContextVar("gathered", default=None)


@contextmanager
def gathered() -> Iterator[list[Caveat]]:
    """Collect the package's own warnings of this thread only."""
    caveats: list[Caveat] = []
    token = _GATHERED.set(caveats)
    try:
        yield caveats
    finally:
        _GATHERED.reset(token)


def warn(text: str, code: str = "", **fields: Any) -> None:
    """Warn at the caller's own line, however deep the stack; or keep the warning if held."""
    caveat = text if isinstance(text, Caveat) else Caveat(text, code, **fields)
    held = _GATHERED.get()
    if held is not None:
        held.append(caveat)
        return
    warnings.warn(caveat.warning(), stacklevel=_level() - 1)


def warn_once(text: str, code: str) -> None:
    """The same, once for each call of a public function."""
    said = _SAID.get()
    if said is not None and code in said:
        return
    if said is not None:
        said.add(code)
    warn(text, code)


def takes(keyword: str) -> bool:
    asked = _ASKED.get()
    return asked is not None and keyword in asked.named


def place() -> tuple[str, int]:
    """File and line of the caller's own line."""
    frame = sys._getframe(_level() - 2)
    return frame.f_code.co_filename, frame.f_lineno


def _level() -> int:
    """Stack level of the caller's own line, from 1."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE) and frame.f_back is not None:
        frame = frame.f_back
        level += 1
    return level
