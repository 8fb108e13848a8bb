"""Readers of published score formats: SacreROUGE's JSON lines and REALSumm's pickles."""

from __future__ import annotations

import io
import json
import pickle
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate

# Judgments that SacreROUGE's corpora give as plain numbers; lists over raters are human by nature.
_HUMAN = frozenset(
    {
        "litepyramid",
        "pyramid_score",
        "modified_pyramid_score",
        "overall_responsiveness",
        "responsiveness",
        "linguistic_quality",
    }
)
_Cell = tuple[str, str, str]


def read_sacrerouge(path: str | Path | Iterable[str | Path], *, human: Iterable[str] | None = None) -> xr.Dataset:
    """Read scores in SacreROUGE's format.

    Parameters
    ----------
    path : str, Path, or several
        A file of JSON lines, several files, or a folder, of which all ``*.jsonl`` are read.
    human : iterable of str, optional
        Metrics that are human judgments, by full name or by its first part. Default: lists over raters, and the
        names that SacreROUGE's own corpora use ("litepyramid", "overall_responsiveness", ...).

    Returns
    -------
    Dataset
        ``score(metric, system, input)``, float64. Nested names are joined, as "rouge-1_f1" and
        "expert_relevance". Where a score is a list over raters, its mean goes into `score`, and all of it into
        ``rating(judgment, system, input, rater)``, padded with NaN. Coordinates ``kind(metric)``, "human" or
        "automatic", and ``summarizer_type(system)``. Labels are in natural order ("M2" before "M10"), metrics in that
        of the files.

    Raises
    ------
    FileNotFoundError
        If there is no such file, or the folder holds none.
    ValueError
        For a line that is not as described (file and line are named), and for a score given twice.

    Notes
    -----
    The format is that of Deutsch & Roth (2020), "SacreROUGE": each line has ``instance_id``, ``summarizer_id``,
    ``summarizer_type`` and ``metrics``. A null is a missing score.

    Examples
    --------
    >>> import json, pathlib, tempfile, xsumstat
    >>> line = {"instance_id": "d1", "summarizer_id": "M1", "summarizer_type": "peer",
    ...         "metrics": {"rouge-1": {"f1": 0.4}, "expert": {"relevance": [4, 5, 3]}}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "scores.jsonl").write_text(json.dumps(line))
    ...     ds = xsumstat.read_sacrerouge(folder)
    >>> list(ds.metric.values), ds.rating.sizes["rater"]
    (['rouge-1_f1', 'expert_relevance'], 3)
    """
    values: dict[_Cell, float] = {}
    ratings: dict[_Cell, list[float]] = {}
    types: dict[str, str] = {}
    for file in _files(path):
        for where, entry in _lines(file):
            system, document = entry["summarizer_id"], entry["instance_id"]
            types[system] = entry.get("summarizer_type", "")
            for name, value in _flattened(entry["metrics"], where):
                cell = (name, system, document)
                if cell in values:
                    raise ValueError(f"{where}: {name!r} of system {system!r} on input {document!r} is given twice")
                if isinstance(value, list):
                    ratings[cell] = value
                    value = float(np.nanmean(value)) if not np.isnan(value).all() else np.nan
                values[cell] = value
    if not values:
        raise ValueError(f"no scores in {path}")
    metrics = list(dict.fromkeys(cell[0] for cell in values))
    systems, inputs = (sorted({cell[at] for cell in values}, key=natural) for at in (1, 2))
    rated = list(dict.fromkeys(cell[0] for cell in ratings))
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), _cube(values, metrics, systems, inputs))},
        coords={"metric": text(metrics), "system": text(systems), "input": text(inputs)},
    )
    if ratings:
        n_raters = max(map(len, ratings.values()))
        padded = {cell: [*list_, *[np.nan] * (n_raters - len(list_))] for cell, list_ in ratings.items()}
        cube = np.stack(
            [_cube({c: v[k] for c, v in padded.items()}, rated, systems, inputs) for k in range(n_raters)], -1
        )
        ds = ds.assign(rating=(("judgment", "system", "input", "rater"), cube))
        ds = ds.assign_coords(judgment=text(rated), rater=np.arange(1, n_raters + 1))
    names = set(_HUMAN if human is None else human)
    unused = [] if human is None else [name for name in names if not any(_named(metric, name) for metric in metrics)]
    if unused:
        raise ValueError(
            f"human names no metric with {_validate.listing(sorted(unused))}; metrics: {_validate.listing(metrics, 30)}"
        )
    by_name = {metric for metric in metrics if any(_named(metric, name) for name in names)}
    people = by_name if human is not None else by_name | set(rated)
    kinds = ["human" if metric in people else "automatic" for metric in metrics]
    return ds.assign_coords(
        kind=("metric", text(kinds)), summarizer_type=("system", text(types[system] for system in systems))
    )


def text(labels: Iterable[str]) -> np.ndarray[Any, np.dtype[np.object_]]:
    """Labels that come back as plain str, and not as strings of NumPy's."""
    return np.array(list(labels), dtype=object)


def _named(metric: str, name: str) -> bool:
    return metric == name or metric.startswith(f"{name}_")


def _files(path: str | Path | Iterable[str | Path]) -> list[Path]:
    if not isinstance(path, str | Path):
        files = [Path(each) for each in path]
        if not files:
            raise ValueError("path names no file")
    elif Path(path).is_dir():
        files = sorted(Path(path).glob("*.jsonl"))
        if not files:
            raise FileNotFoundError(f"the folder {path} holds no *.jsonl")
    else:
        files = [Path(path)]
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"no such file: {file}")
    return files


def _lines(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line's place and its entry, checked."""
    with file.open(encoding="utf-8") as stream:
        try:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    where = f"{file.name}, line {number}"
                    yield where, _entry(line, where)
        except UnicodeDecodeError as error:
            raise ValueError(f"{file.name} is not UTF-8 text: {error}") from error


def _entry(line: str, where: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{where}: not a line of JSON ({error})") from error
    if not isinstance(entry, dict):
        raise ValueError(f"{where}: expected an object, got {type(entry).__name__}")
    for key in ("instance_id", "summarizer_id", "metrics"):
        if key not in entry:
            raise ValueError(f"{where}: no {key!r}")
    if not isinstance(entry["metrics"], dict):
        raise ValueError(f"{where}: 'metrics' must be an object, got {type(entry['metrics']).__name__}")
    return {**entry, "instance_id": str(entry["instance_id"]), "summarizer_id": str(entry["summarizer_id"])}


def _flattened(metrics: Mapping[str, Any], where: str, prefix: str = "") -> Iterator[tuple[str, float | list[float]]]:
    """Names joined with "_", each with its number or its list over raters."""
    for name, value in metrics.items():
        full = f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _flattened(value, where, f"{full}_")
        elif isinstance(value, list):
            if not value:
                raise ValueError(f"{where}: {full!r} is an empty list")
            yield full, [_number(each, full, where) for each in value]
        else:
            yield full, _number(value, full, where)


def _number(value: Any, name: str, where: str) -> float:
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{where}: {name!r} must be a number, a list of numbers or null, got {value!r}")
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(f"{where}: {name!r} is too large a number") from error


def natural(label: str) -> list[tuple[int, int | str]]:
    """Sort key that puts "M2" before "M10"."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d+)", label) if part]


def _cube(values: Mapping[_Cell, float], *labels: list[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
    places = [{label: at for at, label in enumerate(each)} for each in labels]
    cube = np.full([len(each) for each in labels], np.nan)
    for cell, value in values.items():
        cube[tuple(place[label] for place, label in zip(places, cell, strict=True))] = value
    return cube


class _PlainDtype:
    """Stands for numpy.dtype while a pickle is read: a number's format and byte order, and no more."""

    def __init__(self, code: Any, *_: Any) -> None:
        if not isinstance(code, str) or not re.fullmatch(r"[fiu][1248]|b1", code):
            raise pickle.UnpicklingError(f"it asks for a NumPy scalar of type {code!r}, which is not a number")
        self.code = code
        self.order = "="

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) < 2 or state[1] not in ("<", ">", "=", "|"):
            raise pickle.UnpicklingError("a NumPy type in it is malformed")
        self.order = state[1]


def _plain_scalar(dtype: Any, data: Any) -> Any:
    """Stands for NumPy's constructor of scalars while a pickle is read."""
    if not isinstance(dtype, _PlainDtype) or not isinstance(data, bytes):
        raise pickle.UnpicklingError("a NumPy scalar in it is malformed")
    return np.frombuffer(data, np.dtype(dtype.order + dtype.code), count=1)[0].item()


def _plain_bytes(text: Any, encoding: Any) -> bytes:
    """Stands for codecs.encode, through which the pickles of protocol 2 write bytes."""
    if not isinstance(text, str) or encoding != "latin1":
        raise pickle.UnpicklingError("a piece of binary data in it is malformed")
    return text.encode("latin1")


class _PlainUnpickler(pickle.Unpickler):
    """Builds containers, strings, numbers and NumPy scalars, and refuses all else."""

    _ALLOWED: Mapping[tuple[str, str], Any] = {
        ("numpy", "dtype"): _PlainDtype,
        ("numpy.core.multiarray", "scalar"): _plain_scalar,
        ("numpy._core.multiarray", "scalar"): _plain_scalar,
        ("_codecs", "encode"): _plain_bytes,
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is not plain data")
        return self._ALLOWED[module, name]


def read_realsumm(path: str | Path | Mapping[str, str | Path]) -> xr.Dataset:
    """Read REALSumm as its authors published it: pickles of scores, one a type of system.

    Parameters
    ----------
    path : str, Path or mapping
        The folder that holds ``abs.pkl`` and ``ext.pkl``, or the files by type, as
        ``{"abstractive": "abs.pkl", "extractive": "ext.pkl"}``.

    Returns
    -------
    Dataset
        ``score(metric, system, input)``, float64, with ``system_type(system)`` and ``kind(metric)``; the human
        score is "litepyramid_recall". System names lose their ".txt". A name that stands in several files gets its type
        added, as "bart_out (extractive)"; where its scores are the same too it is one system, and
        ``duplicate_of(system)`` names the first, else "".

    Raises
    ------
    FileNotFoundError
        If a file is not there.
    ValueError
        If a pickle holds anything but containers, strings, numbers and NumPy scalars (nothing of it is run), or
        is not as described.

    Warns
    -----
    UserWarning
        When one system stands in two files. It is tied with itself in every resample; leave it out with
        ``ds.sel(system=ds.duplicate_of == "")``.

    References
    ----------
    Bhandari et al. (2020), "Re-evaluating Evaluation in Text Summarization"; github.com/neulab/REALSumm.
    """
    if isinstance(path, Mapping):
        files = {kind: Path(file) for kind, file in path.items()}
    else:
        files = {"abstractive": Path(path) / "abs.pkl", "extractive": Path(path) / "ext.pkl"}
    values: dict[_Cell, float] = {}
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
    cube = _cube(values, metrics, systems, inputs)
    first = {}
    for at, system in enumerate(systems):
        bare = system.removesuffix(f" ({types[system]})")
        same = bare != system and np.array_equal(cube[:, systems.index(bare)], cube[:, at], equal_nan=True)
        first[system] = bare if same else ""
    doubled = [system for system in systems if first[system]]
    if doubled:
        _validate.warn(
            f"{_validate.listing(doubled)} repeats {_validate.listing(first[system] for system in doubled)} "
            "score by score: it is one system, listed under two types. "
            "Leave the second out with ds.sel(system=ds.duplicate_of == '')"
        )
    return xr.Dataset(
        {"score": (("metric", "system", "input"), cube)},
        coords={
            "metric": text(metrics),
            "system": text(systems),
            "input": text(inputs),
            "kind": ("metric", text("human" if _named(metric, "litepyramid") else "automatic" for metric in metrics)),
            "system_type": ("system", text(types[system] for system in systems)),
            "duplicate_of": ("system", text(first[system] for system in systems)),
        },
    )


def _realsumm_cells(file: Path) -> dict[_Cell, float]:
    """Scores of one pickle by metric, system and input."""
    if not file.is_file():
        raise FileNotFoundError(f"no such file: {file}")
    try:
        documents = _PlainUnpickler(io.BytesIO(file.read_bytes())).load()
    except Exception as error:  # a broken pickle can raise nearly anything
        raise ValueError(f"{file.name} is not a pickle of plain scores: {error}") from error
    cells: dict[_Cell, float] = {}
    try:
        for document, entry in documents.items():
            for system, output in entry["system_summaries"].items():
                for metric, value in output["scores"].items():
                    cell = (str(metric), str(system).removesuffix(".txt"), str(document))
                    cells[cell] = _number(value, str(metric), f"{file.name}, input {document}")
    except (AttributeError, KeyError, TypeError, IndexError) as error:
        layout = "{input: {'system_summaries': {system: {'scores': {metric: number}}}}}"
        raise ValueError(f"{file.name} is not laid out as {layout}: {error!r}") from error
    if not cells:
        raise ValueError(f"{file.name} holds no scores")
    return cells
