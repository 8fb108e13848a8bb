"""A shared task's folder in the layout of mt-metrics-eval: its pairs, its scores, and files of further metrics."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.core import arguments, validate
from xsumstat.dataset import directions
from xsumstat.io import added, mtme, score_files, stores

_SEGMENTS = "seg"


@dataclass(frozen=True)
class TaskScores:
    """Scores of each language pair by granularity ("seg" first), and the metrics of each pair that came beside them."""

    by_granularity: dict[str, dict[str, xr.Dataset]]
    new: dict[str, list[str]] = field(default_factory=dict)

    @property
    def segments(self) -> dict[str, xr.Dataset]:
        return self.by_granularity[_SEGMENTS]


def is_test_set(path: Path) -> bool:
    return (path / "metric-scores").is_dir() and (path / "human-scores").is_dir()


def checked(folder: Any) -> Path:
    """The folder of a test set; an error says what is lacking."""
    path = validate.path("folder", folder)
    if not path.exists():
        raise stores.no_such(path)
    if not is_test_set(path):
        within = sorted(each.name for each in path.iterdir() if is_test_set(each)) if path.is_dir() else []
        known = f"; it has the test sets {validate.listing(within)}: name one of them" if within else ""
        raise ValueError(f"folder {path} has no folders human-scores and metric-scores{known}")
    return path if path.name not in ("", "..") else Path(os.path.abspath(path))


def language_pairs(root: Path) -> list[str]:
    """The pairs whose segments have human scores and metrics' scores."""
    return [
        pair.name
        for pair in sorted((root / "metric-scores").iterdir())
        if any(pair.glob("*.seg.score")) and _has(root, pair.name, _SEGMENTS)
    ]


def read(
    root: Path,
    pairs: Sequence[str],
    metric_files: Iterable[Path] = (),
    *,
    beside: Collection[str] = (),
    lower_is_better: Sequence[str] = (),
) -> TaskScores:
    """Scores of language pairs: of segments, and of the granularities in `beside` that have human scores."""
    found = {_SEGMENTS: mtme.read_mtme(root.parent, root.name, list(pairs))}
    for granularity in beside:
        there = [pair for pair in pairs if _has(root, pair, granularity)]
        of_pairs = mtme.read_mtme(root.parent, root.name, there, granularity=granularity) if there else {}
        found[granularity] = of_pairs
    files = list(_files(metric_files))
    new: dict[str, list[str]] = {}
    for file, pair, granularity in sorted(
        _placed(files, found[_SEGMENTS], language_pairs(root)), key=lambda each: each[2] != _SEGMENTS
    ):
        if granularity not in found or pair not in found[granularity]:
            validate.warn(
                f"left out {file.name}: no task here uses scores of granularity {granularity!r}",
                "scores_left_out",
            )
            continue
        name = score_files.named(file)[0].removeprefix(f"{pair}.")
        if granularity == _SEGMENTS:
            new.setdefault(pair, []).append(name)
        elif name not in new.get(pair, []):
            raise ValueError(f"{file.name} needs the scores of segments as well: {name}.seg.score")
        found[granularity][pair] = added.add_metric(found[granularity][pair], file, name=name)
    for granularity in beside:
        for pair, ds in found[granularity].items():
            lacking = [name for name in new.get(pair, []) if name not in ds.indexes["metric"]]
            for name in lacking:
                means = _means(found[_SEGMENTS][pair], name, granularity)
                found[granularity][pair] = added.add_metric(found[granularity][pair], means, on=["system", "input"])
    return TaskScores(_directed(found, lower_is_better), new)


def _has(root: Path, pair: str, granularity: str) -> bool:
    return any((root / "human-scores").glob(f"{glob.escape(pair)}.*.{granularity}.score"))


def _files(paths: Iterable[Path]) -> Iterable[Path]:
    for each in paths:
        path = validate.path(f"each item of {arguments.name('metric_files')}", each)
        if not path.exists():
            raise stores.no_such(path)
        if not path.is_dir():
            if path.suffix.lower() != score_files.SUFFIX:
                raise ValueError(
                    f"{arguments.name('metric_files')} must be .score files or folders of such, got {path.name}"
                )
            yield path
            continue
        within = sorted(path.rglob(f"*{score_files.SUFFIX}"))
        if not within:
            raise ValueError(f"{arguments.name('metric_files')}: the folder {path} has no .score file")
        yield from within


def _placed(files: Iterable[Path], data: Mapping[str, xr.Dataset], there: Sequence[str]) -> list[tuple[Path, str, str]]:
    """Files with their pairs and granularities; those of pairs that are there, and not ranked, are left out."""
    found: dict[tuple[str, str, str], Path] = {}
    for file in files:
        other = _said(file, [pair for pair in there if pair not in data])
        if other and not _said(file, data):
            validate.warn(f"left out {file.name}: its language pair, {other}, is not ranked here", "scores_left_out")
            continue
        granularity = score_files.named(file)[1] or _SEGMENTS
        pair = _pair_of(file, granularity, data)
        key = pair, granularity, score_files.named(file)[0].removeprefix(f"{pair}.")
        if key in found:
            raise ValueError(f"{found[key]} and {file} are scores of one name and language pair, {pair}")
        found[key] = file
    return [(file, pair, granularity) for (pair, granularity, _), file in found.items()]


def _said(file: Path, pairs: Iterable[str]) -> str:
    """The pair that a file's name, or else its folder, says; empty if none."""
    above = Path(os.path.abspath(file)).parent.name
    named = [pair for pair in pairs if file.name.startswith(f"{pair}.")]
    return next(iter(named or [pair for pair in pairs if pair == above]), "")


def _pair_of(file: Path, granularity: str, data: Mapping[str, xr.Dataset]) -> str:
    """The pair that a file's folder or name says; else the only one, or the only one that its lines fit."""
    if said := _said(file, data):
        return said
    if len(data) == 1:
        return next(iter(data))
    fitting = [pair for pair, ds in data.items() if granularity == _SEGMENTS and _fits(file, ds)]
    if len(fitting) != 1:
        why = f"its lines fit {validate.listing(fitting)}" if fitting else "its lines fit none of them"
        raise ValueError(
            f"{file.name} does not say its language pair ({validate.listing(data)}), and {why}: put it into a folder "
            f"with the pair's name, or call it {next(iter(data))}.{file.name}"
        )
    return fitting[0]


def _fits(file: Path, ds: xr.Dataset) -> bool:
    """Whether the lines belong to the pair's systems, and are as many as its segments."""
    try:
        scores = score_files.read_scores(file, score_files.Units(None), _SEGMENTS)
    except ValueError:
        return False
    return set(scores) <= set(ds["system"].values.tolist()) and len(next(iter(scores.values()))) == ds.sizes["input"]


def _means(ds: xr.Dataset, name: str, granularity: str) -> pd.DataFrame:
    """The means over the segments that have a score, of each system, or of its domains."""
    score = ds["score"].sel(metric=name, drop=True)
    if granularity == "sys":
        means = score.mean("input").expand_dims(input=np.array([score_files.WHOLE], dtype=object))
    else:
        means = score.groupby("domain").mean().rename(domain="input")
    frame: pd.DataFrame = means.rename(name).to_series().reset_index()[["system", "input", name]]
    return frame


def _directed(found: dict[str, dict[str, xr.Dataset]], lower: Sequence[str]) -> dict[str, dict[str, xr.Dataset]]:
    """The same, with the metrics that are better when lower marked so."""
    known = [name for ds in found[_SEGMENTS].values() for name in _names(ds)]
    for name in lower:
        validate.known(f"metric in {arguments.name('lower_is_better')}", name, list(dict.fromkeys(known)), "metrics")
    return {
        granularity: {pair: _declared(ds, lower) for pair, ds in of_pairs.items()}
        for granularity, of_pairs in found.items()
    }


def _names(ds: xr.Dataset) -> list[str]:
    return [*ds["base"].values.tolist(), *ds["metric"].values.tolist()]


def _declared(ds: xr.Dataset, lower: Sequence[str]) -> xr.Dataset:
    pairs = zip(ds["metric"].values.tolist(), ds["base"].values.tolist(), strict=True)
    own = [label for label, base in pairs if {label, base} & set(lower)]
    return directions.declare(ds, own, "lower_is_better") if own else ds
