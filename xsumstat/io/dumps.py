"""Scores and results as tab-separated tables in a folder, for readers that are not Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import xarray as xr

from xsumstat.dataset import locate
from xsumstat.io.whole_files import write_all


def check_folder(path: Path, option: str) -> None:
    """Files may be written there: it is a folder, or can become one."""
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{option} {path} is a file; name a folder")
    if not path.exists() and not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"{option} {path}: there is no folder {path.absolute().parent}")


def scores(ds: xr.Dataset) -> pd.DataFrame:
    """A row for each output and a column for each metric, with what describes systems and inputs."""
    score = locate.checked_scores(ds)
    dims = [str(dim) for dim in score.dims if dim != "metric"]
    table = score.transpose(*dims, "metric").compute()
    index = pd.MultiIndex.from_product([table.indexes[dim] for dim in dims], names=dims)
    values = table.values.reshape(len(index), -1)
    beside = {
        str(name): table[name].broadcast_like(table.isel(metric=0, drop=True)).transpose(*dims).values.ravel()
        for name, coord in table.coords.items()
        if name not in table.dims and coord.ndim == 1 and coord.dims[0] != "metric"
    }
    frame = pd.DataFrame(values, index, [str(label) for label in table["metric"].values])
    described = pd.DataFrame(beside, index)
    whole: pd.DataFrame = pd.concat([described, frame], axis=1).reset_index()
    return whole


def write(folder: Path, tables: Mapping[str, pd.DataFrame]) -> list[Path]:
    """Write each table into a file of its name, all of them or none; files of these names are replaced."""
    folder.mkdir(exist_ok=True)
    contents = {
        Path(f"{name}.tsv"): table.to_csv(sep="\t", index=False, lineterminator="\n").encode()
        for name, table in tables.items()
    }
    places = [folder / name for name in contents]
    for place in places:
        if place.is_dir():
            raise IsADirectoryError(f"{place} is a folder, and is to be a file")
    write_all(folder, contents)
    return places
