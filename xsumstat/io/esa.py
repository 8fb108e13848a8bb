"""Scores that annotators gave after marking errors (error span annotation, ESA), one row per annotation: `read_esa`."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from xsumstat.core import validate
from xsumstat.io import eval_cases, stores
from xsumstat.io.cells import array, as_cube, as_written, natural, text

NAME = "esa"
_FIELDS = 12  # of a row that Appraise exports
_APART = "_#_"  # between the parts of an item's name in 2025: language pair, domain, document, segment
_CONTROL = re.compile(r"#(bad|dup|incomplete)\d*(?=#|$)|tutorial")
_LANGUAGES = {
    **{"ces": "cs", "deu": "de", "eng": "en", "est": "et", "hin": "hi", "isl": "is", "ita": "it", "jpn": "ja"},
    **{"kor": "ko", "rus": "ru", "spa": "es", "srp": "sr", "ukr": "uk", "zho": "zh", "ara": "ar", "bho": "bho"},
    **{"mas": "mas"},
}
_Row = dict[str, Any]


@validate.public
def read_esa(
    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    language_pair: str | None = None,
    annotators: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    r"""Read error span annotations (ESA) of WMT24 and WMT25, with the annotators as raters.

    Parameters
    ----------
    path : str, Path or several
        ``.csv`` files that Appraise exports (``esa_generalMT2024_wave0.csv``), or ``.jsonl`` files with one annotation
        per line (``wmt24_esa.jsonl``) or one segment per line (``wmt25-genmt-humeval.jsonl``).
    language_pair : str, optional
        Such as "en-cs". Default: the only one.
    annotators : mapping, str or Path, optional
        Accounts of each annotator, or a JSON file of them (``annotator_mapping.json``). Default: each is a rater.

    Returns
    -------
    Dataset
        ``rating(system, input, rater)``, 0 to 100; ``score(metric, system, input)`` with the metric "esa", the mean
        over raters, which is the gold; ``n_errors(system, input)``, the mean number of marked errors. Coordinates
        ``document(input)`` and, where known, ``domain(input)``. Inputs are line numbers, or "DOCUMENT:SEGMENT".

    Raises
    ------
    FileNotFoundError, ValueError
        For a missing or malformed file, a score outside 0 to 100, or several pairs without `language_pair`.

    Warns
    -----
    MetaEvaluationWarning
        Counts the annotations left out (attention checks, repeated and incomplete documents, tutorials), and the
        outputs that one rater scored twice, whose scores are averaged.

    Examples
    --------
    >>> import pathlib, tempfile, xsumstat
    >>> row = "engces1,{},{},TGT,eng,ces,{},d1,False,[],0,1"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "esa.csv")
    ...     _ = file.write_text("\n".join([row.format("A", 0, 90), row.format("B", 0, 70)]))
    ...     ds = xsumstat.read_esa(file)
    >>> ds.rating.sel(rater="engces1", input=0).to_series().to_dict()
    {'A': 90.0, 'B': 70.0}
    """
    files = validate.paths("path", path)
    accounts = _accounts(annotators)
    left: dict[str, int] = {}
    rows = [row for file in files for row in _rows(file, left)]
    if left:
        told = ", ".join(f"{count:,} {what}" for what, count in left.items())
        validate.warn(f"left out annotations: {told}", "annotations_left_out")
    pairs = sorted({row["pair"] for row in rows})
    if not rows:
        raise ValueError(f"no annotation in {validate.listing(file.name for file in files)}")
    if language_pair is None and len(pairs) > 1:
        raise ValueError(f"language_pair must name one of {validate.listing(pairs, 30)}")
    pair = pairs[0] if language_pair is None else validate.known("language_pair", language_pair, pairs, "files have")
    frame = pd.DataFrame([row for row in rows if row["pair"] == pair])
    frame["rater"] = [accounts.get(account, account) for account in frame["rater"]]
    return _dataset(frame).assign_attrs(gold=NAME, language_pair=pair)


def _accounts(annotators: Any) -> dict[str, str]:
    if annotators is None:
        return {}
    if not isinstance(annotators, Mapping):
        file = validate.path("annotators", annotators)
        if not file.is_file():
            raise stores.no_such(file)
        annotators = eval_cases.mapping(eval_cases.whole(file), file.name)
    listed = {name: [own] if isinstance(own, str) else own for name, own in annotators.items()}
    for name, own in listed.items():
        if not validate.is_list(own) or not all(isinstance(account, str) for account in own):
            raise TypeError(f"annotators must map each annotator to a list of accounts, got {name!r}: {own!r:.60}")
    validate.unique("accounts of annotators", [account for own in listed.values() for account in own])
    return {account: str(name) for name, own in listed.items() for account in own}


def _rows(file: Path, left: dict[str, int]) -> Iterator[_Row]:
    """The annotations of a file that count; the others are counted."""
    if not file.is_file():
        raise stores.no_such(file)
    readers = {".csv": _of_appraise, ".jsonl": _of_lines}
    if file.suffix.lower() not in readers:
        raise ValueError(f"path must be .csv or .jsonl files, got {file.name}")
    for row in readers[file.suffix.lower()](file):
        found = _CONTROL.search(row.pop("item"))
        if row.pop("type", "TGT") == "BAD":
            why = "attention checks"
        elif found:
            why = {"bad": "attention checks", "dup": "repeated", "incomplete": "of incomplete documents"}.get(
                found[1] or "", "of tutorials"
            )
        else:
            yield _checked(row)
            continue
        left[why] = left.get(why, 0) + 1


def _checked(row: _Row) -> _Row:
    where = row.pop("where")
    try:
        row["score"] = float(row["score"])
    except (TypeError, ValueError):
        raise ValueError(f"{where}: a score must be a number, got {row['score']!r}") from None
    if not 0 <= row["score"] <= 100:
        raise ValueError(f"{where}: a score must be between 0 and 100, got {row['score']:g}")
    return row


def _of_appraise(file: Path) -> Iterator[_Row]:
    """Rows of account, system, item, type, languages, score, document, flag, errors, and two times."""
    with file.open(encoding="utf-8-sig", newline="") as stream:
        for number, fields in enumerate(csv.reader(stream), 1):
            where = f"{file.name}, line {number}"
            if len(fields) != _FIELDS:
                raise ValueError(f"{where}: expected the {_FIELDS} fields of Appraise, got {len(fields)}")
            account, system, item, kind, source, target, score, document, _, errors, *_ = fields
            pair = f"{_LANGUAGES.get(source, source)}-{_LANGUAGES.get(target, target)}"
            row: _Row = {"rater": account, "system": system, "type": kind, "score": score, "where": where}
            row |= {"n_errors": _count(errors, where), "item": f"{item} {document}"}
            yield {**row, **(_parts(item) or {"pair": pair, "document": document, "input": item, "domain": ""})}


def _count(errors: str, where: str) -> int:
    try:
        found = json.loads(errors)
    except ValueError:
        found = None
    if not isinstance(found, list):
        raise ValueError(f"{where}: errors must be a list in JSON, got {errors:.60}")
    return len(found)


def _parts(item: str) -> dict[str, str] | None:
    """Language pair, domain, document and segment of an item's name of 2025."""
    parts = item.split(_APART)
    if len(parts) != 4:
        return None
    pair, domain, document, segment = parts
    return {"pair": pair, "domain": domain, "document": document, "input": f"{document}:{segment}"}


def _of_lines(file: Path) -> Iterator[_Row]:
    """Annotations of a file of JSON lines: one a line, or those of one segment a line."""
    seen: dict[str, int] = {}
    for where, line in eval_cases.json_lines(file):
        if "esa_score" in line:
            yield _of_annotation(line, where)
            continue
        if "scores" not in line or "doc_id" not in line:
            raise ValueError(f"{where}: expected 'esa_score' and 'esa_spans', or 'scores' and 'doc_id'")
        item = str(line["doc_id"])
        if len(item.split(_APART)) == 3:  # a document's name; its segments follow each other
            seen[item] = seen.get(item, -1) + 1
            item += f"{_APART}{seen[item]}"
        parts = _parts(item)
        if parts is None:
            raise ValueError(
                f"{where}: doc_id {item!r} does not name the language pair, as 'en-cs_CZ_#_news_#_doc'; of WMT24 read "
                "wmt24_esa.jsonl or the .csv files"
            )
        for system, given in eval_cases.mapping(line["scores"], where, "scores").items():
            for each in given if isinstance(given, list) else [given]:
                one = eval_cases.mapping(each, where, f"scores of {system!r}")
                score = one.get("score", one.get("human"))
                row = {"system": system, "rater": str(one.get("annotator", "annotator")), "score": score}
                yield {**row, **parts, "n_errors": len(one.get("errors") or []), "item": item, "where": where}


def _of_annotation(line: Mapping[str, Any], where: str) -> _Row:
    lacking = [name for name in ("langs", "line_id", "doc_id", "esa_spans", "system", "annotator") if name not in line]
    if lacking:
        raise ValueError(f"{where}: missing {validate.listing(lacking)}")
    row = {"pair": str(line["langs"]), "system": str(line["system"]), "rater": str(line["annotator"])}
    row |= {"document": str(line["doc_id"]), "domain": str(line.get("domain", "")), "input": str(line["line_id"])}
    return {
        **row,
        "score": line["esa_score"],
        "n_errors": len(line["esa_spans"]),
        "item": str(line["doc_id"]),
        "where": where,
    }


def _dataset(frame: pd.DataFrame) -> xr.Dataset:
    keys = ["system", "input", "rater"]
    twice = int(frame.duplicated(keys).sum())
    if twice:
        validate.warn(f"averaged {validate.counted(twice, 'annotation')} that repeat a rater's output", "averaged")
    labels = {key: sorted(set(frame[key]), key=natural) for key in keys}
    cells = frame.groupby(keys, sort=False)
    rating, counts = (as_cube(cells[name].mean().to_dict(), *labels.values()) for name in ("score", "n_errors"))
    inputs = labels["input"]
    of_input = frame.drop_duplicates("input").set_index("input").loc[inputs]
    coords: dict[str, Any] = {
        "metric": text([NAME]),
        "system": text(labels["system"]),
        "input": array(as_written(inputs)),
        "rater": text(labels["rater"]),
        "kind": ("metric", text(["human"])),
        "document": ("input", text(of_input["document"])),
    }
    if of_input["domain"].all():
        coords["domain"] = ("input", text(of_input["domain"]))
    cell = ("system", "input")
    variables = {"rating": ((*cell, "rater"), rating), "of_errors": ((*cell, "rater"), counts)}
    ds = xr.Dataset(variables, coords=coords)
    score = ds["rating"].mean("rater").expand_dims(metric=ds["metric"])
    return ds.assign(score=score, n_errors=ds["of_errors"].mean("rater")).drop_vars("of_errors")
