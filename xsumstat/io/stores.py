"""Saved Datasets (netCDF, Zarr), read whole or left in their files as lazy scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import xarray as xr

from xsumstat import _validate

# Formats of which parts can be read.
STORES = (".nc", ".zarr")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """An error of a reader's, in a line."""
    try:
        yield
    except (ValueError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"cannot read {path.name} as {path.suffix.lower()}: {reason}") from error


def read(path: Path, chunks: Any) -> xr.Dataset:
    """A saved Dataset; with `chunks` its values stay in the file, and what describes labels is read."""
    if chunks is None:
        return xr.load_dataset(path, engine=_engine(path))
    _validate.optional("dask.array", "dask")
    with warnings.catch_warnings():
        # xarray says so of labels too, which are read below; `stored_together` tells it of scores
        warnings.filterwarnings("ignore", "The specified chunks separate the stored chunks")
        ds = xr.open_dataset(path.resolve(), engine=_engine(path), chunks=chunks)  # workers may stand in another folder
    described = {name: each for name, each in ds.coords.items() if each.ndim <= 1}
    return ds.assign_coords({name: each.compute(scheduler="synchronous") for name, each in described.items()})


def bytes_in_memory(path: Path) -> int:
    """How many bytes the values of a saved Dataset take once they are read."""
    with reading(path), xr.open_dataset(path, engine=_engine(path)) as ds:
        return 8 * sum(each.size for each in ds.data_vars.values())


def stored_together(ds: xr.Dataset) -> int:
    """How many metrics a piece of the file holds that can only be read whole."""
    score = ds.get("score")
    return 1 if score is None else int(score.encoding.get("preferred_chunks", {}).get("metric", 1))


def _engine(path: Path) -> str | None:
    return "zarr" if path.suffix.lower() == ".zarr" else None
