"""Saved Datasets (netCDF, Zarr), read whole or left in their files as lazy scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import xarray as xr

from xsumstat.core import extras

# Formats of which parts can be read.
STORES = (".nc", ".zarr")
# A file whose values take more bytes than this, and so many times its own size, is refused. Scores of few grades that
# are compressed well take some hundred times their file.
_LARGE, _MOST_TIMES = 2**28, 1000


@contextmanager
def reading(path: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        way = f"pandas.read_csv({path.name!r}, encoding={_encoding(path)!r}).to_csv({path.name!r}, index=False)"
        raise ValueError(
            f"cannot read {path.name} as {path.suffix.lower()}: it is not UTF-8 text (byte {error.start}); save it as "
            f"UTF-8, as by {way}"
        ) from error
    except (ValueError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"cannot read {path.name} as {path.suffix.lower()}: {reason}") from error


def no_such(path: Path) -> FileNotFoundError:
    why = "; it is a link, which leads in a circle or to nothing" if path.is_symlink() else ""
    return FileNotFoundError(f"no such file or folder: {path}{why}")


def _encoding(path: Path) -> str:
    """Likely encoding of text that is not UTF-8; UTF-16 begins with a mark."""
    with path.open("rb") as stream:
        return "utf-16" if stream.read(2) in (b"\xff\xfe", b"\xfe\xff") else "latin-1"


def check_parquet(path: Path) -> None:
    """Refuse a table far larger than its file explains, before memory is taken for it."""
    about = extras.optional("pyarrow.parquet", "data").read_metadata(path)
    _check_size(8 * about.num_rows * about.num_columns, path.stat().st_size)


def _check_size(size: int, stored: int) -> None:
    if size > _LARGE and size > _MOST_TIMES * stored:
        raise ValueError(
            f"its values take {size:,} bytes in memory and {stored:,} in the file, more than {_MOST_TIMES:,} times as "
            "many: it may be damaged, or made to exhaust memory. If it is right, read it by pandas or xarray yourself"
        )


def read(path: Path, chunks: Any) -> xr.Dataset:
    """A saved Dataset; with `chunks` its values stay in the file, and descriptions of labels are read."""
    if chunks is None:
        stored = sum(each.stat().st_size for each in path.rglob("*") if each.is_file()) if path.is_dir() else 0
        _check_size(bytes_in_memory(path), stored or path.stat().st_size)
        return xr.load_dataset(path, engine=_engine(path))
    extras.optional("dask.array", "dask")
    with warnings.catch_warnings():
        # xarray says so of labels too, which are read below; `stored_together` tells it of scores
        warnings.filterwarnings("ignore", "The specified chunks separate the stored chunks")
        ds = xr.open_dataset(path.resolve(), engine=_engine(path), chunks=chunks)  # workers may run in another folder
    described = {name: each for name, each in ds.coords.items() if each.ndim <= 1}
    return ds.assign_coords({name: each.compute(scheduler="synchronous") for name, each in described.items()})


def bytes_in_memory(path: Path) -> int:
    with reading(path), xr.open_dataset(path, engine=_engine(path)) as ds:
        return 8 * sum(each.size for each in ds.data_vars.values())


def stored_together(ds: xr.Dataset) -> int:
    score = ds.get("score")
    return 1 if score is None else int(score.encoding.get("preferred_chunks", {}).get("metric", 1))


def _engine(path: Path) -> str | None:
    """The engine for a file; the error names the extra that provides one."""
    if path.suffix.lower() == ".zarr":
        extras.optional("zarr", "data")
        return "zarr"
    if _is_hdf5(path) and not any(map(find_spec, ("netCDF4", "h5netcdf"))):
        extras.optional("netCDF4", "data")
    return None


def _is_hdf5(path: Path) -> bool:
    """Whether this is netCDF 4; older files need only SciPy."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x89HDF"
