"""Every argument check and every error text; each check returns the normalised value."""

from __future__ import annotations

import difflib
import importlib
import numbers
import os
import sys
import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any

import numpy as np

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep

LEVELS = ("system", "input", "global", "within_system")
ALTERNATIVES = ("two-sided", "greater", "less")

_CORRECTIONS = {
    "bonferroni": ("bonf", "fwer"),
    "holm": ("holmbonferroni", "stepdown"),
    "bh": ("fdr", "fdrbh", "benjaminihochberg", "hochberg"),
    "by": ("fdrby", "benjaminiyekutieli"),
    "maxt": ("westfallyoung", "minp", "maxstat", "maxstatistic"),
}
# Of each argument the names it takes, and what papers and other libraries call them, as `spelt` gives them.
SYNONYMS: dict[str, dict[str, tuple[str, ...]]] = {
    "coefficient": {
        "pearson": ("pearsonr", "pearsonsr", "r", "corrcoef", "linear"),
        "spearman": ("spearmanr", "spearmansrho", "rho"),
        "kendall": ("kendalltau", "kendallstau", "tau", "kendallb", "kendalltaub", "kendallstaub", "taub"),
        "kendall_a": ("kendalltaua", "kendallstaua", "taua"),
        "kendall_c": ("kendalltauc", "kendallstauc", "tauc", "stuart", "stuarttauc"),
        "pairwise_accuracy": ("accuracy", "acc", "pairwise", "systemaccuracy", "concordance", "pce"),
        "acc_eq": ("acc23", "acceqstar", "accuracyeq", "tieaccuracy", "tiecalibration", "kendallwithtiesopt"),
        "kendall_like": ("darr", "taulike", "kendallvariant", "wmttau"),
        "spa": ("softaccuracy", "softpairwiseaccuracy", "pairwiseconfidenceerror"),
    },
    "level": {
        "system": ("sys", "corpus", "model", "summarizer"),
        "input": (
            *("summary", "segment", "seg", "item", "instance", "document", "doc", "topic", "sample", "sentence"),
            *("summarylevel", "segmentlevel", "itemlevel", "sentencelevel", "groupbyitem"),
        ),
        "global": ("nogrouping", "none", "all", "overall", "pooled", "cell"),
        "within_system": ("groupbysystem", "bysystem", "within"),
    },
    "alternative": {
        "two-sided": ("both", "twotailed", "notequal", "unequal", "ne"),
        "greater": ("larger", "upper", "right", "higher", "more", "gt"),
        "less": ("smaller", "lower", "left", "lesser", "fewer", "lt"),
    },
    "resample": {
        "system": ("systems", "sys", "model", "models", "summarizer", "summarizers"),
        "input": (
            *("inputs", "document", "documents", "doc", "docs", "segment", "segments", "seg", "segs"),
            *("instance", "instances", "item", "items", "topic", "topics", "summary", "sentence", "sentences"),
        ),
        "both": ("all", "systemsandinputs", "systeminput"),
        "cell": ("cells",),
        "rater": ("raters", "annotator", "annotators", "judges"),
        "reference": ("references", "ref", "refs"),
    },
    "missing": {
        "pairwise": ("complete", "pairwisecomplete", "common", "intersection", "listwise"),
        "available": ("availablecase", "allavailable", "all", "union"),
    },
    "undefined": {"drop": ("omit", "skip", "ignore", "nan"), "zero": ("0", "zeros", "wmt")},
    "interval": {
        "percentile": ("perc", "pct", "quantile", "quantiles"),
        "basic": ("pivotal", "empirical", "reversepercentile"),
        "bca": ("biascorrected", "biascorrectedaccelerated", "accelerated"),
        "normal": ("norm", "gaussian", "wald"),
    },
    "adjust": _CORRECTIONS,
    "method": {
        **_CORRECTIONS,
        "permutation": ("perm", "swap", "swaps", "randomization", "randomisation", "perminput", "permboth"),
        "analytic": ("formula", "analytical"),
        "bootstrap": ("boot", "resampling"),
        "fisher": ("fisherz", "bonettwright"),
        "williams": ("hotellingwilliams", "williamst"),
        "steiger": ("steigersz", "dunnclark"),
        "meng": ("mengsz", "mengrosenthalrubin"),
        "paired_t": ("ttestrel", "pairedttest", "relatedt"),
        "t": ("ttest", "ttestind", "unpaired", "student", "independent"),
        "wilcoxon": ("signedrank", "wilcoxonsignedrank"),
    },
}


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
    near = difflib.get_close_matches(str(value), texts, n=1, cutoff=0.5)
    return f"; did you mean {texts[near[0]]!r}?" if near else ";"


def spelt(word: str) -> str:
    """Its letters and digits, all small: how `SYNONYMS` spells words."""
    return "".join(filter(str.isalnum, word)).lower()


def _ending(name: str, value: Any, options: Collection[str]) -> str:
    """A suggestion to end a sentence with: what the word means, or if none has that word, the nearest option."""
    if not isinstance(value, str):
        return ""
    argument = name.rstrip("']").rpartition("'")[2]  # tests['a']['method'] is a method
    for meant, words in SYNONYMS.get(argument, {}).items():
        if spelt(value) in (spelt(meant), *words):
            # A word that means something else is no slip of the pen.
            return f"; did you mean {meant!r}?" if meant in options else ""
    return suggestion(value, options).rstrip(";")


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
