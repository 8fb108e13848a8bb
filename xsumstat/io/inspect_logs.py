"""Read the logs of Inspect AI, ``.eval`` (zip) or ``.json``: `read_inspect`."""

from __future__ import annotations

import struct
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import xarray as xr

from xsumstat.core import extras, validate
from xsumstat.io.eval_cases import Cases, files, listing, mapping, mappings, parsed, whole

_LARGEST = 2**29  # bytes of one file within a log, unpacked
# One that is larger than this, and so many times as large as it is packed, is refused: JSON is packed to some tenth,
# and of samples that differ in their grades alone to a hundredth.
_LARGE, _MOST_TIMES = 2**22, 300
_COMPARED = 100  # characters of an input
_ZSTANDARD = 93  # a zip file's number of this compression, which Python reads from version 3.14
_LOCAL_HEADER = struct.Struct("<4s22xHH")
# The grades that Inspect's scorers give, and the words that its metrics read as numbers.
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


@validate.public
def read_inspect(path: str | Path | Iterable[str | Path]) -> xr.Dataset:
    """Read logs of Inspect AI.

    Parameters
    ----------
    path : str, Path, or several
        Logs, ``.eval`` or ``.json``, one for each model and task, or a folder of them. Logs compressed by Zstandard
        (the current default) need Python 3.14 or pyarrow (extra `data`).

    Returns
    -------
    Dataset
        ``score(metric, system, input)``: models; samples, by id or "task/id" with several tasks; scorers, or
        "scorer_value" for each of several values. Grades become numbers as in Inspect: C 1, P .5, I and N 0, yes 1, no
        0. Epochs of a sample are averaged. Coordinate ``task(input)``.

    Raises
    ------
    FileNotFoundError, ValueError
        For a malformed file, two logs with the same sample of one model, or a sample that differs between models.

    Warns
    -----
    LeftOutWarning
        Names the values that are left out: other texts, and lists.

    Examples
    --------
    >>> import json, pathlib, tempfile, xsumstat
    >>> samples = [{"id": at, "scores": {"match": {"value": grade}}} for at, grade in enumerate("CI", 1)]
    >>> log = {"eval": {"model": "small", "task": "sums"}, "samples": samples}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "log.json").write_text(json.dumps(log))
    ...     ds = xsumstat.read_inspect(folder)
    >>> ds.score.sel(metric="match").to_series().to_dict()
    {('small', '1'): 1.0, ('small', '2'): 0.0}
    """
    cases = Cases()
    for file in files(path, ("*.eval", "*.json"), "logs of Inspect"):
        about, samples = _zipped(file) if zipfile.is_zipfile(file) else _plain(file)
        spec = mapping(about.get("eval"), file.name, "eval")
        model = cases.label("model", spec.get("model"), file.name)
        task = cases.label("task", spec.get("task"), file.name)
        for where, sample in samples:
            key = cases.begin(model, task, cases.label("id", sample.get("id"), where), str(file), where)
            beginning = sample.get("input")  # of which a log's summaries hold no more
            cases.same_content(key, beginning[:_COMPARED] if isinstance(beginning, str) else None, where)
            for name, score in mapping(sample.get("scores") or {}, where, "scores").items():
                value = mapping(score, where, name).get("value")
                several = value.items() if isinstance(value, dict) else [(None, value)]
                for part, each in several:
                    metric = cases.label("scorer", name if part is None else f"{name}_{part}", where)
                    cases.add(key, metric, _number(each), where, averaged=True)
    return cases.dataset("Inspect AI")


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value in _GRADES:
        return _GRADES[value]
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    try:
        return float(value)
    except ValueError:
        return value


def _plain(file: Path) -> tuple[dict[str, Any], Iterator[tuple[str, dict[str, Any]]]]:
    if file.suffix.lower() == ".eval":
        raise ValueError(f"{file.name} is not a zip file, as .eval logs are; is the file complete?")
    content = mapping(whole(file), file.name)
    if "eval" not in content or "samples" not in content:
        raise ValueError(f"{file.name}: no 'eval' and 'samples': this is no log of Inspect with its samples")
    return content, mappings(listing(content["samples"], file.name, "samples"), f"{file.name}, sample")


def _zipped(file: Path) -> tuple[dict[str, Any], Iterator[tuple[str, dict[str, Any]]]]:
    """The same for a zip file: from its summaries, or the samples' own files where the run did not end."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = {info.filename: info for info in archive.infolist()}
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise ValueError(f"cannot read {file.name} as a log of Inspect: {error}") from error
    start = next((name for name in ("header.json", "_journal/start.json", "start.json") if name in members), None)
    if start is None:
        raise ValueError(f"{file.name}: no header.json in it: this is no log of Inspect")
    about = mapping(_member(file, members[start]), f"{file.name}, {start}")
    summaries = next((name for name in ("summaries.json", "summary.json") if name in members), None)
    if summaries is not None:
        where = f"{file.name}, {summaries}"
        return about, mappings(listing(_member(file, members[summaries]), where, "summaries"), f"{where}, sample")
    apart = [name for name in members if name.startswith("samples/") and name.endswith(".json")]
    return about, (
        (f"{file.name}, {name}", mapping(_member(file, members[name]), f"{file.name}, {name}")) for name in apart
    )


def _member(file: Path, info: zipfile.ZipInfo) -> Any:
    where = f"{file.name}, {info.filename}"
    if info.file_size > _LARGEST:
        raise ValueError(f"{where}: {info.file_size:,} bytes, and {_LARGEST:,} are the most")
    if info.file_size > _LARGE and info.file_size > _MOST_TIMES * info.compress_size:
        raise ValueError(
            f"{where}: {info.compress_size:,} bytes unpack to {info.file_size:,}, more than {_MOST_TIMES} times as "
            "many: it may be damaged, or made to exhaust memory; if it is right, write the log as .json and read that"
        )
    try:
        content = _unpacked(file, info)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        OSError,
        struct.error,
    ) as error:
        raise ValueError(f"{where}: cannot be unpacked: {error}") from error
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise ValueError(f"{where}: cannot be unpacked: it is not what the zip file says of it")
    return parsed(content, where)


def _unpacked(file: Path, info: zipfile.ZipInfo) -> bytes:
    """Content of a file within a zip file, read no further than its declared size."""
    if info.compress_type != _ZSTANDARD or sys.version_info >= (3, 14):
        with zipfile.ZipFile(file) as archive, archive.open(info) as stream:
            return stream.read(info.file_size + 1)
    arrow = extras.optional("pyarrow", "data")
    with file.open("rb") as stream:
        stream.seek(info.header_offset)
        signature, name, extra = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
        if signature != b"PK\3\4":
            raise zipfile.BadZipFile("its header is not where it should be")
        stream.seek(name + extra, 1)
        packed = stream.read(info.compress_size)
    with arrow.input_stream(arrow.py_buffer(packed), compression="zstd") as unpacked:
        content: bytes = unpacked.read(info.file_size + 1)
        return content
