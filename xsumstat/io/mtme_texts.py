"""What mt-metrics-eval demands besides scores: a list of documents, and texts or their placeholder."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import xarray as xr

from xsumstat.core import validate
from xsumstat.io import mtme_names, score_files
from xsumstat.io.cells import values_along

NO_TEXT = "[No translation supplied]"  # what mt-metrics-eval itself has for a text that is not there
_ONLY_REFERENCE = "refA"  # where no metric names one: the toolkit demands a standard reference
_ENDINGS = (".txt", ".jsonl")

_Lines = list[tuple[str, str]]
Lines = dict[Path, list[list[str]]]  # the words of each line of files


def documents(
    ds: xr.Dataset, root: Path, pair: str, granularity: str, inputs: list[Any]
) -> tuple[dict[Path, str], int]:
    """The list of documents to write, if any, and its number of segments."""
    place = mtme_names.file(f"documents/{pair}.docs")
    lines = _described(ds, granularity, inputs)
    there = root / place
    if there.is_file():
        kept = _kept(there, granularity, lines)
        invented = not {"domain", "document"} & set(ds.coords)
        if granularity != "seg" or kept == lines or (invented and len(kept) == len(lines)):
            return {}, len(kept)
    return {place: "".join(f"{domain}\t{document}\n" for domain, document in lines)}, len(lines)


def _described(ds: xr.Dataset, granularity: str, inputs: list[Any]) -> _Lines:
    """Domain and document of each segment; inputs of other granularities count as one segment each."""
    whole = [score_files.WHOLE] * len(inputs)
    domains = values_along(ds, "domain", "input")
    if granularity == "seg":
        others = whole if domains is None else list(range(1, len(inputs) + 1))
        found = domains or whole, values_along(ds, "document", "input") or others
    elif granularity == "sys":
        found = whole, whole
    else:
        found = inputs if granularity == "domain" else domains or whole, inputs
    lines = [
        (mtme_names.checked("domain", domain), mtme_names.checked("document", document))
        for domain, document in zip(*found, strict=True)
    ]
    _, twice = score_files.documents_of(lines)
    if twice:
        raise ValueError(
            f"cannot write {validate.named('document', twice)}: the segments of a document must follow each "
            'other and have one domain; ds.sortby("document") puts them together'
        )
    return lines


def _kept(there: Path, granularity: str, lines: _Lines) -> _Lines:
    """The existing list of documents, if the scores fit it."""
    segments = score_files.read_units(there, "seg")
    kept = list(zip(segments.domain or [], segments.document or [], strict=True))
    if granularity in ("doc", "domain"):
        part = 1 if granularity == "doc" else 0
        wanted, found = list(dict.fromkeys(each[part] for each in lines)), list(dict.fromkeys(x[part] for x in kept))
        if sorted(wanted) != sorted(found) or (granularity == "doc" and wanted != found):
            raise ValueError(
                f"inputs are {validate.listing(wanted)}, and {there} has {validate.listing(found)}: "
                "they must be the same, documents in the same order"
            )
    return kept


def scores_that_stay(root: Path, pair: str, written: Collection[Path]) -> Lines:
    """Words of each line of score files that are not rewritten."""
    there = (
        *(root / "human-scores").glob(f"{glob.escape(pair)}.*.score"),
        *(root / "metric-scores" / pair).glob("*.score"),
    )
    return {file: _words(file) for file in sorted(there) if file.relative_to(root) not in written}


def _words(file: Path) -> list[list[str]]:
    return [words for words in map(str.split, _lines(file)) if len(words) > 1]


def check_fit(scores: Lines, listed: str) -> None:
    """Raise unless scores that stay fit the new list of documents."""
    lines = [line.split("\t") for line in listed.splitlines()]
    domains = {domain for domain, _ in lines}
    sizes = {"seg": len(lines), "doc": len({document for _, document in lines}), "sys": 1}
    for file, words in scores.items():
        _, granularity = score_files.named(file)
        counts = set(Counter(each[-2] for each in words).values())
        unknown = granularity == "domain" and not {each[0] for each in words} <= domains
        if unknown or (granularity in sizes and counts != {sizes[granularity]}):
            raise ValueError(f"{file} does not fit the new list of documents; move it away, or use another test_set")


def systems_of_metrics(scores: Lines) -> list[tuple[str, set[str]]]:
    return [
        (score_files.named(file)[0], {each[-2] for each in words})
        for file, words in scores.items()
        if file.parent.parent.name == "metric-scores" and "-" in file.name
    ]


def references(root: Path, pair: str, named: Iterable[str]) -> list[str]:
    """References that must exist; at least one, as mt-metrics-eval demands."""
    return list(dict.fromkeys([*named, *reference_names(root, pair)])) or [_ONLY_REFERENCE]


def reference_names(root: Path, pair: str) -> list[str]:
    return [path.stem.removeprefix(f"{pair}.") for path in _there(root, pair)[0]]


def outputs(root: Path, pair: str) -> list[str]:
    return [path.name.removesuffix(path.suffix) for path in _there(root, pair)[1]]


def _there(root: Path, pair: str) -> tuple[list[Path], list[Path]]:
    references = (root / "references").glob(f"{glob.escape(pair)}.*.*")
    both = references, (root / "system-outputs" / pair).glob("*.*")
    of_references, of_outputs = (sorted(path for path in each if path.suffix in _ENDINGS) for each in both)
    return of_references, of_outputs


def own_texts(ds: xr.Dataset, pair: str, named: Iterable[str], systems: list[str]) -> dict[Path, str]:
    """Files of the Dataset's own texts, `source` and `target`, as from `read_mqm`."""
    found = {}
    if _is_text(ds, "source", ("input",)):
        found[mtme_names.file(f"sources/{pair}.txt")] = _body("source", ds["source"].values.tolist())
    if _is_text(ds, "target", ("system", "input")):
        references = set(named)
        for system, row in zip(systems, ds["target"].transpose("system", "input").values.tolist(), strict=True):
            body = found[mtme_names.file(f"system-outputs/{pair}/{system}.txt")] = _body("target", row)
            if system in references:
                found[mtme_names.file(f"references/{pair}.{system}.txt")] = body
    return found


def _is_text(ds: xr.Dataset, name: str, dims: tuple[str, ...]) -> bool:
    return name in ds and sorted(map(str, ds[name].dims)) == sorted(dims) and ds[name].dtype.kind in "OUT"


def _body(name: str, lines: list[Any]) -> str:
    joined = (" ".join(text.splitlines()).strip() if isinstance(text, str) else "" for text in lines)
    body = "".join(f"{text or NO_TEXT}\n" for text in joined)
    try:
        body.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} has a text that cannot be written: {error.reason}") from error
    return body


def texts(
    root: Path, pair: str, named: Iterable[str], systems: Iterable[str], segments: int, own: dict[Path, str]
) -> tuple[dict[Path, str], dict[Path, str]]:
    """Texts to replace, and placeholders for missing ones."""
    wanted = (
        mtme_names.file(each)
        for each in (
            f"sources/{pair}.txt",
            *(f"references/{pair}.{name}.txt" for name in named),
            *(f"system-outputs/{pair}/{system}.txt" for system in systems),
        )
    )
    others = (path.relative_to(root) for each in _there(root, pair) for path in each)
    replaced, added = {}, {}
    for place in dict.fromkeys([*wanted, *others]):
        body = own.get(place, f"{NO_TEXT}\n" * segments)
        there = next(_either(root / place), None)
        if there is None:
            added[place] = body
            continue
        lines = _lines(there)
        if there.suffix == ".txt" and set(lines) <= {NO_TEXT}:
            added[place] = body
        elif place in own and there.suffix == ".txt":
            if lines != _stripped(body.split("\n")[:-1]):
                replaced[place] = body
        elif len(lines) != segments:
            raise ValueError(f"{there} has {len(lines)} lines, and there are {segments} segments; move it away")
    return replaced, added


def _either(path: Path) -> Iterator[Path]:
    return (each for each in map(path.with_suffix, _ENDINGS) if each.is_file())


def _lines(there: Path) -> list[str]:
    with there.open(encoding="utf-8", errors="replace") as stream:
        return _stripped(stream)


def _stripped(lines: Iterable[str]) -> list[str]:
    return [line.rstrip() for line in lines]
