"""Read the pickles of REALSumm: `read_realsumm`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.io import plain_pickles
from xsumstat.io.cells import Cell, Names, as_cube, is_named, natural, number, text


@validate.public
def read_realsumm(path: str | Path | Mapping[str, str | Path]) -> xr.Dataset:
    """Read REALSumm as its authors published it: pickles of scores, one for each type of system.

    Parameters
    ----------
    path : str, Path or mapping
        The folder of ``abs.pkl`` and ``ext.pkl``, or files by type, ``{"abstractive": "abs.pkl"}``.

    Returns
    -------
    Dataset
        ``score(metric, system, input)``, float64, with ``system_type(system)`` and ``kind(metric)``; the human score is
        "litepyramid_recall". A name in several files gets its type, "bart_out (extractive)"; where its scores are equal
        too, ``duplicate_of(system)`` names the first, else "".

    Raises
    ------
    ValueError
        If a pickle holds anything except containers, strings, numbers and NumPy scalars (nothing is run).

    Warns
    -----
    CautionWarning
        If one system is in two files, tied with itself: drop it with ``ds.sel(system=ds.duplicate_of == "")``.

    Examples
    --------
    >>> import pathlib, pickle, tempfile, xsumstat
    >>> content = {1: {"system_summaries": {"bart.txt": {"scores": {"rouge_1": 0.4}}}}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "abs.pkl")
    ...     _ = path.write_bytes(pickle.dumps(content))
    ...     ds = xsumstat.read_realsumm({"abstractive": path})
    >>> ds.score.sel(metric="rouge_1").to_series().to_dict()
    {('bart', '1'): 0.4}
    """
    if isinstance(path, Mapping):
        files = {kind: validate.path(f"path[{kind!r}]", file) for kind, file in path.items()}
    else:
        folder = validate.path("path", path)
        files = {"abstractive": folder / "abs.pkl", "extractive": folder / "ext.pkl"}
    values: dict[Cell, float] = {}
    types: dict[str, str] = {}
    for kind, file in files.items():
        found = _realsumm_cells(file)
        known = set(types)
        for (metric, system, document), value in found.items():
            label = f"{system} ({kind})" if system in known else system
            types[label] = kind
            values[metric, label, document] = value
    metrics = list(dict.fromkeys(cell[0] for cell in values))
    inputs = sorted({cell[2] for cell in values}, key=natural)
    systems = list(types)
    cube = as_cube(values, metrics, systems, inputs)
    first = {}
    for at, system in enumerate(systems):
        bare = system.removesuffix(f" ({types[system]})")
        same = bare != system and np.array_equal(cube[:, systems.index(bare)], cube[:, at], equal_nan=True)
        first[system] = bare if same else ""
    doubled = [system for system in systems if first[system]]
    if doubled:
        validate.warn(
            f"{validate.listing(doubled)} repeats {validate.listing(first[system] for system in doubled)} "
            "score by score: it is one system, listed under two types. "
            "Leave the second out with ds.sel(system=ds.duplicate_of == '')",
            "repeated_system",
        )
    return xr.Dataset(
        {"score": (("metric", "system", "input"), cube)},
        coords={
            "metric": text(metrics),
            "system": text(systems),
            "input": text(inputs),
            "kind": ("metric", text("human" if is_named(metric, "litepyramid") else "automatic" for metric in metrics)),
            "system_type": ("system", text(types[system] for system in systems)),
            "duplicate_of": ("system", text(first[system] for system in systems)),
        },
    )


def _realsumm_cells(file: Path) -> dict[Cell, float]:
    if not file.is_file():
        raise FileNotFoundError(f"no such file: {file}")
    try:
        documents = plain_pickles.load(file)
    except Exception as error:  # a broken pickle can raise nearly anything
        raise ValueError(f"{file.name} is not a pickle of plain scores: {error}") from error
    cells: dict[Cell, float] = {}
    names = Names()
    try:
        for key, entry in documents.items():
            document = names.stripped("input", key, file.name)
            where = f"{file.name}, input {document!r}"
            for title, output in entry["system_summaries"].items():
                system = names.stripped("system", title, where).removesuffix(".txt")
                for full, value in output["scores"].items():
                    metric = names.stripped("metric", full, where)
                    if (metric, system, document) in cells:
                        raise ValueError(f"{where}: {metric!r} of system {system!r} is given twice")
                    cells[metric, system, document] = number(value, metric, where)
    except (AttributeError, KeyError, TypeError, IndexError) as error:
        layout = "{input: {'system_summaries': {system: {'scores': {metric: number}}}}}"
        raise ValueError(f"{file.name} is not laid out as {layout}: {error!r}") from error
    names.report()
    if not cells:
        raise ValueError(f"{file.name} holds no scores")
    return cells
