"""Types that an argument takes, read from its annotation, so wrong ones fail early."""

from __future__ import annotations

import ast
import numbers
import os
import re
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any

# What an annotation names and no check here knows: the argument's own check says what is wrong.
_ANYTHING = frozenset({"Any", "object", "SeedSequence", "Generator", "Axes"})
_SCALARS = frozenset({"str", "int", "float", "bool", "Hashable", "Path", "PathLike"})
_SEVERAL = frozenset({"Sequence", "Iterable", "list", "tuple"})
# Classes that are known by their names, as the ground of the package imports neither xarray, pandas nor matplotlib.
_TABLES = frozenset({"Dataset", "DataArray", "DataFrame", "Series", "Index"})
_ORDINARY = (str, bool, int, float, type(None), list, tuple, range)
_LONGEST = 100  # characters of a value in a message


def given(value: Any) -> str:
    """A value for a message in one line; tables and mappings by type."""
    names = _class_names(value)
    if names & _TABLES or hasattr(value, "shape"):
        kind = type(value).__name__
        return f"{'an' if kind[0] in 'AEIOUaeiou' else 'a'} {kind}" if getattr(value, "ndim", 1) else repr(value)
    text = reprlib.repr(value) if isinstance(value, list | tuple | dict | set | frozenset | bytes) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def fits(value: Any, allowed: frozenset[str]) -> bool:
    """Whether a value has an allowed type; doubtful ones are left to the argument's own check."""
    if allowed & _ANYTHING:
        return True
    scalar = bool(allowed & (_SCALARS | _SEVERAL | {"Mapping", "DataFrame"}))
    if value is None:
        return scalar or "None" in allowed
    if isinstance(value, _ORDINARY) or type(value).__name__ == "bool_" or isinstance(value, numbers.Real):
        return scalar
    names = _class_names(value)
    if names & {"DataFrame", "Dataset"}:
        return bool(names & allowed & _TABLES)
    several = isinstance(value, Iterable) and not isinstance(value, Mapping | bytes | type)
    return bool(
        names & allowed
        or (several and allowed & _SEVERAL)
        or (hasattr(value, "shape") and "DataArray" in allowed)
        or ("DataFrame" in allowed and (hasattr(value, "__arrow_c_stream__") or hasattr(value, "to_pandas")))
        or ("Mapping" in allowed and isinstance(value, Mapping))
        or ("Callable" in allowed and callable(value))
        or (allowed & {"Path", "PathLike"} and isinstance(value, os.PathLike | bytes))
        or ("Hashable" in allowed and _is_label(value))
    )


def of(annotation: Any) -> frozenset[str]:
    """Types that an annotation names; any without one."""
    if not isinstance(annotation, str):
        return _ANYTHING
    return frozenset(_names(ast.parse(annotation, mode="eval").body))


def described(text: str, name: str) -> str:
    found = re.search(rf"^ *(?:\w+, )*{name}(?:, \w+)* : (.+)$", text, re.MULTILINE)
    said = re.sub(r",? ?(optional|default .*)$", "", found[1]).strip() if found else ""
    article = "a " if re.match(r"Data|mapping", said) else ""
    said = "text" if said == "str" else said
    return article + said or "another kind of value"


def _names(node: ast.expr) -> Iterable[str]:
    if isinstance(node, ast.BinOp):
        yield from _names(node.left)
        yield from _names(node.right)
    elif isinstance(node, ast.Subscript):
        yield from _names(node.value)
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Name):
        yield "Callable" if node.id == "CorrelationFunction" else node.id
    elif isinstance(node, ast.Constant):
        yield str(node.value)


def _class_names(value: Any) -> frozenset[str]:
    return frozenset(each.__name__ for each in type(value).__mro__)


def _is_label(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return not isinstance(value, bytes | complex | type) and not callable(value)
