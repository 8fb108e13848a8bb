"""Read SacreROUGE's JSON lines: `read_sacrerouge`."""

from __future__ import annotations

import json
import math
import os
import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import xarray as xr

from xsumstat.coefficients import arrays
from xsumstat.core import validate
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.io import means as cell_means
from xsumstat.io.cells import Names, check_density, is_named, natural, number, text

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
_DEEPEST = 20  # levels of names within names
_DECODER = json.JSONDecoder()
_Value = TypeVar("_Value")
# What is given of each output, by its number.
_ByOutput = dict[int, _Value]
# The full name of a metric by the names above it, joined, and its own.
_Paths = dict[tuple[str, str], str]


@validate.public
def read_sacrerouge(path: str | Path | Iterable[str | Path], *, human: Iterable[str] | None = None) -> xr.Dataset:
    """Read scores in SacreROUGE's format.

    Parameters
    ----------
    path : str, Path, or several
        Files of JSON lines (instance_id, summarizer_id, summarizer_type, metrics), or a folder of ``*.jsonl``.
    human : iterable of str, optional
        Metrics that are human scores, by full name or first part. Default: lists over raters, and the names in
        SacreROUGE's own corpora ("litepyramid", "overall_responsiveness", ...).

    Returns
    -------
    Dataset
        ``score(metric, system, input)``, float64; nested names are joined ("rouge-1_f1"). A list over raters gives its
        mean to `score`, and ``rating(judgment, system, input, rater)``, padded with NaN. Coordinates ``kind(metric)``
        and ``summarizer_type(system)``.

    Warns
    -----
    LeftOutWarning
        Names labels with blanks around them, which are removed.

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
    if human is not None:
        named = validate.several("human", human, "a metric or several")
        human = [validate.text("each item of human", each) for each in named]
    values: dict[str, _ByOutput[float]] = {}
    ratings: dict[str, _ByOutput[list[float]]] = {}
    outputs: dict[tuple[str, str], int] = {}
    types: dict[str, str] = {}
    names, paths = Names(), _Paths()
    for file in _files(path):
        for where, entry in _lines(file):
            system = names.stripped("summarizer_id", entry["summarizer_id"], where)
            document = names.stripped("instance_id", entry["instance_id"], where)
            kind = entry.get("summarizer_type") or types.get(system, "")
            if not isinstance(kind, str):
                raise ValueError(f"{where}: 'summarizer_type' must be a string, got {reprlib.repr(kind)}")
            kind = kind and names.stripped("summarizer_type", kind, where)
            if types.get(system) not in (None, "", kind):
                raise ValueError(f"{where}: system {system!r} has the type {kind!r}, and {types[system]!r} before")
            types[system] = kind
            at = outputs.setdefault((system, document), len(outputs))
            for name, value in _flattened(entry["metrics"], where, names, paths):
                own = values.setdefault(name, {})
                if at in own:
                    raise ValueError(f"{where}: {name!r} of system {system!r} on input {document!r} is given twice")
                if isinstance(value, list):
                    ratings.setdefault(name, {})[at] = value
                    value = np.nan
                own[at] = value
    names.report()
    if not values:
        raise ValueError(f"no scores in {path}")
    for name, rated in ratings.items():
        values[name] |= _means(rated)
    scored = set().union(*values.values())
    metrics, there = list(values), [output for output, at in outputs.items() if at in scored]
    systems, inputs = (sorted({output[at] for output in there}, key=natural) for at in (0, 1))
    places = _places(outputs, systems, inputs)
    cube = np.full((len(metrics), len(systems) * len(inputs)), np.nan)
    for row, own in zip(cube, values.values(), strict=True):
        row[places[list(own)]] = list(own.values())
    shape = (len(systems), len(inputs))
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), cube.reshape(-1, *shape))},
        coords={"metric": text(metrics), "system": text(systems), "input": text(inputs)},
    )
    if ratings:
        rating = _by_rater(ratings, places, shape)
        ds = ds.assign(rating=(("judgment", "system", "input", "rater"), rating))
        ds = ds.assign_coords(judgment=text(ratings), rater=np.arange(1, rating.shape[-1] + 1))
    judgments = _judgments(metrics, ratings, human)
    kinds = ["human" if metric in judgments else "automatic" for metric in metrics]
    return ds.assign_coords(
        kind=("metric", text(kinds)), summarizer_type=("system", text(types[system] for system in systems))
    )


def _judgments(metrics: list[str], ratings: Iterable[str], human: Iterable[str] | None) -> set[str]:
    """The metrics that are human scores: those named, or else ratings and the usual ones."""
    people = set(_HUMAN if human is None else human)
    judgments = {metric for metric in metrics if any(is_named(metric, name) for name in people)}
    if human is None:
        judgments |= set(ratings)
        return judgments
    unused = [name for name in people if not any(is_named(metric, name) for metric in metrics)]
    if unused:
        raise ValueError(
            f"human names no metric with {validate.listing(sorted(unused))}; metrics: {validate.listing(metrics, 30)}"
        )
    return judgments


def _files(path: str | Path | Iterable[str | Path]) -> list[Path]:
    files = validate.paths("path", path)
    if not files:
        raise ValueError("path names no file")
    if isinstance(path, str | os.PathLike) and files[0].is_dir():
        files = sorted(files[0].glob("*.jsonl"))
        if not files:
            raise FileNotFoundError(f"the folder {path} holds no *.jsonl")
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"no such file: {file}")
    return files


def _places(outputs: Iterable[tuple[str, str]], systems: list[str], inputs: list[str]) -> IntArray:
    """Place of each output in a table of systems and inputs, row by row; -1 without scores."""
    rows, columns = ({label: at for at, label in enumerate(labels)} for labels in (systems, inputs))
    found = [
        rows[system] * len(inputs) + columns[document] if system in rows and document in columns else -1
        for system, document in outputs
    ]
    return np.array(found, dtype=np.int64)


def _by_rater(ratings: Mapping[str, _ByOutput[list[float]]], places: IntArray, shape: tuple[int, int]) -> FloatArray:
    n_raters = max(len(each) for own in ratings.values() for each in own.values())
    found = np.full((len(ratings), shape[0] * shape[1], n_raters), np.nan)
    for cube, own in zip(found, ratings.values(), strict=True):
        cube[places[list(own)]] = [[*each, *[np.nan] * (n_raters - len(each))] for each in own.values()]
    return found.reshape(len(ratings), *shape, n_raters)


def _means(ratings: _ByOutput[list[float]]) -> _ByOutput[float]:
    found = np.array([cell_means.mean(each) for each in ratings.values()])
    magnitudes = np.array([cell_means.magnitude(each) for each in ratings.values()])
    return dict(zip(ratings, arrays.made_equal(found, magnitudes).tolist(), strict=True))


def _lines(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with file.open(encoding="utf-8-sig") as stream:
        try:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    where = f"{file.name}, line {number}"
                    yield where, _entry(line, where)
        except UnicodeDecodeError as error:
            raise ValueError(f"{file.name} is not UTF-8 text: {error}") from error


def _entry(line: str, where: str) -> dict[str, Any]:
    check_density(line, where)
    try:
        entry = _DECODER.decode(line)
    except (ValueError, RecursionError):
        entry = None
    if type(entry) is not dict or _n_keys(entry) != line.count(":"):  # a repeated key has two colons
        try:
            entry = json.loads(line, object_pairs_hook=_unrepeated)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where}: not a line of JSON ({error})") from error
    if not isinstance(entry, dict):
        raise ValueError(f"{where}: expected an object, got {type(entry).__name__}")
    for key in ("instance_id", "summarizer_id", "metrics"):
        if key not in entry:
            raise ValueError(f"{where}: no {key!r}")
    if not isinstance(entry["metrics"], dict):
        raise ValueError(f"{where}: 'metrics' must be an object, got {type(entry['metrics']).__name__}")
    return entry


def _n_keys(found: Mapping[str, Any]) -> int:
    n = len(found)
    for value in found.values():
        if type(value) is dict:
            n += _n_keys(value)
    return n


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {reprlib.repr(twice)} stands twice in one object")
    return found


def _flattened(
    metrics: Mapping[str, Any], where: str, names: Names, paths: _Paths, prefix: str = "", depth: int = 0
) -> Iterator[tuple[str, float | list[float]]]:
    """Names joined with "_", each with its number or list over raters."""
    if depth > _DEEPEST:
        raise ValueError(f"{where}: 'metrics' is nested more than {_DEEPEST} times")
    for name, value in metrics.items():
        full = paths.get((prefix, name))
        if full is None:
            full = paths[prefix, name] = prefix + names.stripped("metric", name, where)
        if type(value) is float and math.isfinite(value):
            yield full, value
        elif isinstance(value, dict):
            yield from _flattened(value, where, names, paths, f"{full}_", depth + 1)
        elif isinstance(value, list):
            if not value:
                raise ValueError(f"{where}: {full!r} is an empty list")
            yield full, [number(each, full, where) for each in value]
        else:
            yield full, number(value, full, where)
