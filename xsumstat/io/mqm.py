"""Read errors marked in translations by professional raters (MQM): `read_mqm`."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.coefficients import arrays
from xsumstat.core import validate
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.io import means, score_files, span_ratings
from xsumstat.io.cells import Names, array, as_written, natural, text

NAME = "mqm"
# What the published files call each column, in small letters and without marks, in the order of files without a header.
_COLUMNS = {
    "system": ("system",),
    "doc": ("doc",),
    "doc_id": ("docid", "docsegid"),
    "seg_id": ("segid", "globalsegid"),
    "rater": ("rater",),
    "source": ("source",),
    "target": ("target",),
    "category": ("category",),
    "severity": ("severity",),
}
_LABELS = ("system", "doc", "doc_id", "seg_id", "rater")
_LAST = ("comment", "note", "metadata")  # a column that may be missing, and that no number is made of
_NO_ERROR = "no error"
_ATTENTION_CHECK = "hotw test"  # "hands on the wheel": an error put in on purpose, and whether the rater found it
_MARK = re.compile("</?v>")


@validate.public
def read_mqm(
    file: str | os.PathLike[str],
    *,
    major: float = 5.0,
    minor: float = 1.0,
    non_translation: float = 25.0,
    punctuation: float = 0.1,
    weights: Mapping[str, float] | None = None,
) -> xr.Dataset:
    r"""Read errors that raters marked in translations (MQM), in the layout of the published annotations of WMT.

    Parameters
    ----------
    file : str or Path
        Tab-separated, one row per error, as ``mqm_ted_ende.tsv`` of google/wmt-mqm-human-evaluation, Marot and MQM
        Viewer; or mt-metrics-eval's ``human-scores/PAIR.NAME.seg.rating`` (errors without texts, inputs numbered).
    major, minor : float, default 5 and 1
        Weights of errors of these severities; all defaults are those of Freitag et al. (2021), TACL 9.
    non_translation : float, default 25
        Weight of a major error of the category "Non-translation".
    punctuation : float, default 0.1
        Weight of a minor error of the category "Fluency/Punctuation".
    weights : mapping of str to float, optional
        Additional weights, by "SEVERITY" or "SEVERITY/CATEGORY": ``{"critical": 10, "minor/style": 0.5}``.

    Returns
    -------
    Dataset
        ``score(metric, system, input)`` with the metric "mqm", the gold, of ``kind`` "human": minus the sum of the
        weights of an output's errors, averaged over raters (0: no errors). ``rating(system, input, rater)`` is the same
        for each rater, ``n_errors(system, input)`` the mean number of errors. ``source(input)`` and ``target(system,
        input)`` are texts without marks, ``document(input)`` is a coordinate.

    Raises
    ------
    ValueError
        For a malformed line (named), a severity without a weight, or a weight that is negative or not finite.

    Warns
    -----
    MetaEvaluationWarning
        Reports segments with several `seg_id` (kept apart, or summed), inputs with several texts (the first is kept),
        and rows left out.

    Notes
    -----
    Columns, labels of inputs and spelling of severities: documentation, "Load your scores".

    Examples
    --------
    >>> import pathlib, tempfile, xsumstat
    >>> head = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    >>> rows = ("A\td1\t1\t1\tr1\tOne\t<v>Zwei</v>\tAccuracy/Mistranslation\tMajor\n"
    ...         "B\td1\t1\t1\tr2\tOne\tEins\tNo-error\tNo-error\n")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "mqm.tsv")
    ...     _ = path.write_text(head + rows)
    ...     ds = xsumstat.read_mqm(path)
    >>> ds.score.sel(metric="mqm", input=1).to_series().to_dict()
    {'A': -5.0, 'B': 0.0}
    """
    if weights is not None and not isinstance(weights, Mapping):
        raise TypeError(f"weights must map severities to numbers, as {{'critical': 10}}, got {weights!r}")
    table = _table(
        {"major": major, "minor": minor, "non_translation": non_translation, "punctuation": punctuation}, weights or {}
    )
    path = _existing(validate.path("file", file))
    of_spans = path.suffix.lower() == span_ratings.SUFFIX
    rows = span_ratings.rows(path) if of_spans else _read(path)
    weighed = _weighed(rows, table)
    system, systems = _coded(rows["system"])
    rater, raters = _coded(rows["rater"])
    unit, inputs, documents = _units(rows)
    shape = (len(systems), len(inputs), len(raters))
    rating, n_errors = _rated(np.ravel_multi_index((system, unit, rater), shape), shape, weighed)
    source = _texts(rows["source"], unit, len(inputs), inputs, "source")
    output = system * len(inputs) + unit
    target = _texts(rows["target"], output, shape[0] * shape[1], _outputs(systems, inputs), "target")
    cells = ("system", "input")
    ds = xr.Dataset(
        {
            "score": (("metric", *cells), _means(rating)[None]),
            "rating": ((*cells, "rater"), rating),
            "n_errors": (cells, n_errors),
            "source": ("input", source),
            "target": (cells, target.reshape(shape[:2])),
        },
        coords={
            "metric": text([NAME]),
            "system": text(systems),
            "input": array(inputs),
            "rater": text(raters),
            "kind": ("metric", text(["human"])),
            "document": ("input", text(documents)),
        },
        attrs={"gold": NAME},
    )
    if of_spans:
        ds = ds.drop_vars(["source", "target", *([] if any(documents) else ["document"])])
    return ds


def _key(words: str) -> str:
    return "/".join(re.sub(r"[\s_-]+", " ", part).strip(" !").casefold() for part in words.split("/"))


def _table(named: dict[str, float], weights: Mapping[str, float]) -> dict[str, float]:
    given = {**named, **{f"weights[{name!r}]": weight for name, weight in weights.items()}}
    for name, weight in given.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < math.inf:
            raise ValueError(f"{name} must be a number, 0 or more, got {weight!r}")
    return {
        "major": named["major"],
        "minor": named["minor"],
        "neutral": 0.0,
        _NO_ERROR: 0.0,
        "major/non translation": named["non_translation"],
        "minor/fluency/punctuation": named["punctuation"],
        **{_key(name): weight for name, weight in weights.items()},
    }


# doc and doc_id, and seg_id where these name no single segment.
_Segment = tuple[str, ...]


@dataclass(frozen=True)
class _Weighed:
    weight: FloatArray
    is_error: FloatArray


def _weighed(rows: dict[str, list[str]], table: dict[str, float]) -> _Weighed:
    known: dict[tuple[str, str], tuple[float, bool]] = {}
    weight, is_error = np.zeros(len(rows["severity"])), np.zeros(len(rows["severity"]))
    for at, (severity, category) in enumerate(zip(rows["severity"], rows["category"], strict=True)):
        if (severity, category) not in known:
            known[severity, category] = _weight(severity, category, table, rows["where"][at])
        weight[at], is_error[at] = known[severity, category]
    return _Weighed(weight, is_error)


def _weight(severity: str, category: str, table: dict[str, float], where: str) -> tuple[float, bool]:
    """Most specific weight of an error, and whether it is one."""
    if _NO_ERROR in (_key(severity), _key(category)):
        return 0.0, False
    parts = _key(f"{severity}/{category}").split("/")
    for n in range(len(parts), 0, -1):
        if (name := "/".join(parts[:n])) in table:
            return table[name], True
    severities = [name for name in table if "/" not in name]
    raise ValueError(
        f"{where}: no weight for the severity {severity!r}; severities: {validate.listing(severities)}; "
        f"weights={{{severity.lower()!r}: 10}} gives it one"
    )


def _sums(at: IntArray, weighed: _Weighed, size: int) -> FloatArray:
    """Sums of weights by place, independent of the order of rows: counts of each weight, by weight."""
    total = np.zeros(size)
    for weight in np.unique(weighed.weight):
        total += weight * np.bincount(at[weighed.weight == weight], minlength=size)
    return total


def _rated(at: IntArray, shape: tuple[int, ...], weighed: _Weighed) -> tuple[FloatArray, FloatArray]:
    """Ratings (system, input, rater), and errors (system, input) averaged over raters."""
    rated = np.bincount(at, minlength=math.prod(shape)).astype(bool)
    rating = np.full(len(rated), np.nan)
    rating[rated] = _equalised(0.0 - _sums(at, weighed, len(rated))[rated])
    errors = np.bincount(at, weighed.is_error, len(rated)).reshape(shape)
    seen = rated.reshape(shape).sum(axis=2)
    return rating.reshape(shape), errors.sum(axis=2) / np.where(seen > 0, seen, np.nan)


def _equalised(values: FloatArray) -> FloatArray:
    """Values made equal where only rounding separates them."""
    return arrays.made_equal(values, np.abs(values))


def _means(rating: FloatArray) -> FloatArray:
    flat = rating.reshape(-1, rating.shape[-1])
    there = ~np.isnan(flat)
    count = there.sum(axis=1)
    found = np.full(len(flat), np.nan)
    found[count == 1] = flat[count == 1][there[count == 1]]
    several = np.flatnonzero(count > 1)
    found[several] = [means.mean(row) for row in flat[several].tolist()]
    rated = count > 0
    found[rated] = _equalised(found[rated])
    return found.reshape(rating.shape[:-1])


def _coded(labels: list[str]) -> tuple[IntArray, list[str]]:
    each = sorted(set(labels), key=natural)
    places = {label: at for at, label in enumerate(each)}
    return np.array([places[label] for label in labels], dtype=np.int64), each


def _units(rows: dict[str, list[str]]) -> tuple[IntArray, list[int] | list[str], list[str]]:
    """Place of each row's segment, the segments' labels and their documents."""
    segments = _segments(rows)
    own: dict[_Segment, set[str]] = {}
    for segment, label in zip(segments, rows["seg_id"], strict=True):
        own.setdefault(segment, set()).add(label)
    found = Counter(label for labels in own.values() for label in labels)
    if all(len(labels) == 1 for labels in own.values()) and max(found.values()) == 1:
        named = {segment: next(iter(labels)) for segment, labels in own.items()}
    else:
        named = {segment: ":".join(segment) for segment in own}
    order = sorted(own, key=lambda segment: natural(named[segment]))
    places = {segment: at for at, segment in enumerate(order)}
    at = np.array([places[each] for each in segments], dtype=np.int64)
    return at, as_written([named[segment] for segment in order]), [segment[0] for segment in order]


def _segments(rows: dict[str, list[str]]) -> list[_Segment]:
    """The segment of each row: doc and doc_id, and seg_id where one system has several there that are segments."""
    places = list(zip(rows["doc"], rows["doc_id"], strict=True))
    texts: dict[tuple[str, str], dict[str, dict[str, str]]] = {}  # by place, system and seg_id
    for place, system, label, source in zip(places, rows["system"], rows["seg_id"], rows["source"], strict=True):
        texts.setdefault(place, {}).setdefault(system, {}).setdefault(label, _bare(source))
    several = [place for place, systems in texts.items() if max(map(len, systems.values())) > 1]
    apart = {place for place in several if _are_segments(texts[place])}
    if apart:
        validate.warn(
            f"kept apart segments with the same doc and doc_id by seg_id, in {validate.counted(len(apart), 'place')}",
            "kept_apart",
        )
    joined = [":".join(place) for place in several if place not in apart]
    if joined:
        validate.warn(
            f"rows with different seg_id counted as one segment, because doc and doc_id are equal: the errors of each "
            f"rater are summed, in {validate.counted(len(joined), 'segment')}: {validate.listing(joined)}",
            "averaged",
        )
    return [(*place, label) if place in apart else place for place, label in zip(places, rows["seg_id"], strict=True)]


def _are_segments(systems: dict[str, dict[str, str]]) -> bool:
    """Whether the seg_ids of one place name segments, not rows: systems share them, or one system's sources differ."""
    labels = [set(texts) for texts in systems.values()]
    if len(labels) > 1 and all(each == labels[0] for each in labels):
        return True
    shared = len(labels) == 1 or len(set().union(*labels)) < sum(map(len, labels))
    return shared and any(len({*texts.values()} - {""}) > 1 for texts in systems.values())


def _bare(text: str) -> str:
    return " ".join(_MARK.sub("", text).split())


def _outputs(systems: list[str], inputs: list[int] | list[str]) -> list[str]:
    return [f"{each} of {system!r}" for system in systems for each in inputs]


def _texts(
    texts: list[str], at: IntArray, size: int, names: list[int] | list[str], what: str
) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """Text at each place, without marks; warns of rows with another one."""
    found = np.full(size, "", dtype=object)
    codes, each = pd.factorize(np.array(texts, dtype=object))
    bare = [_MARK.sub("", one) for one in each]
    first: dict[int, str] = {}
    differ: dict[int, None] = {}
    for place, code in zip(at.tolist(), codes.tolist(), strict=True):
        if first.setdefault(place, bare[code]).split() != bare[code].split():
            differ[place] = None
    found[list(first)] = list(first.values())
    if differ:
        listed = validate.listing(names[place] for place in differ)
        validate.warn(f"{what}: the rows of {len(differ)} texts differ, and the first is kept: {listed}", "first_kept")
    return found


def _existing(file: Path) -> Path:
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder; read_mqm reads one file")
    if not file.exists():
        raise FileNotFoundError(f"no such file: {file}")
    return file


def _read(file: Path) -> dict[str, list[str]]:
    lines = score_files.text_of(file).split("\n")
    numbered = [(number, line.rstrip("\r")) for number, line in enumerate(lines, 1) if line.strip()]
    if not numbered:
        raise ValueError(f"{file.name} is empty")
    place, width, has_header = _header(numbered[0][1].split("\t"), file)
    rows: dict[str, list[str]] = {name: [] for name in (*_COLUMNS, "where")}
    names = Names()
    without_rater = attention_checks = 0
    for number, line in numbered[has_header:]:
        fields = line.split("\t")
        where = f"{file.name}, line {number}"
        if not max(place.values()) < len(fields) <= width:
            raise ValueError(f"{where}: expected {width} fields, parted by tabs, got {len(fields)}")
        if not fields[place["rater"]].strip():
            without_rater += 1
            continue
        if _key(fields[place["severity"]]) == _ATTENTION_CHECK:
            attention_checks += 1
            continue
        for name, column in place.items():
            given = fields[column]
            rows[name].append(names.stripped(name, given, where) if name in _LABELS else given)
        rows["where"].append(where)
    names.report()
    if not rows["where"]:
        raise ValueError(f"{file.name} holds no row with a rater{' but attention checks' if attention_checks else ''}")
    if attention_checks:
        validate.warn(
            f"{file.name}: left out {validate.counted(attention_checks, 'row')} of severity 'HOTW-test', which are "
            "attention checks (did the rater find a planted error?)",
            "annotations_left_out",
        )
    if without_rater:
        validate.warn(
            f"{file.name}: left out {validate.counted(without_rater, 'row')} without a rater",
            "annotations_left_out",
        )
    return rows


def _header(first: Iterable[str], file: Path) -> tuple[dict[str, int], int, bool]:
    """Position of each column, their number, and whether the first line is a header."""
    header = [re.sub(r"[\W_]", "", name).lower() for name in first]
    if header[:2] != ["system", "doc"] and "severity" not in header:
        if not len(_COLUMNS) <= len(header) <= len(_COLUMNS) + 1:
            raise ValueError(
                f"{file.name}, line 1: neither a header nor a row of {len(_COLUMNS)} or {len(_COLUMNS) + 1} fields, "
                f"parted by tabs: {', '.join(_COLUMNS)}, and {' or '.join(_LAST)}"
            )
        return {name: at for at, name in enumerate(_COLUMNS)}, len(_COLUMNS) + 1, False
    place = {field: at for field, names in _COLUMNS.items() for at, name in enumerate(header) if name in names}
    lacking = [field for field in _COLUMNS if field not in place]
    if lacking:
        raise ValueError(f"{file.name}: no {validate.named('column', lacking)}; columns: {validate.listing(first)}")
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise ValueError(f"{file.name}: the header repeats {validate.named('column', twice)}")
    return place, len(header), True
