"""Texts kept in an attribute, a line each: a list of texts cannot be saved by SciPy's netCDF."""

from __future__ import annotations

from collections.abc import Iterable

import xarray as xr


def joined(texts: Iterable[str]) -> str:
    """The value of the attribute."""
    return "\n".join(texts)


def listed(ds: xr.Dataset, name: str) -> tuple[str, ...]:
    """The texts of an attribute, as `joined` makes it, or of a list that users set."""
    texts = ds.attrs.get(name, ())
    return tuple(texts.split("\n") if isinstance(texts, str) else map(str, texts))
