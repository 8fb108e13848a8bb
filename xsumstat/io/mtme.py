"""Read and write WMT's folder layout of mt-metrics-eval: `read_mtme` and `to_mtme`."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, overload

import numpy as np
import xarray as xr

from xsumstat.analyses import wmt_data
from xsumstat.core import arguments, validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import align, facts, locate
from xsumstat.io import mtme_names, mtme_texts, score_files, whole_files
from xsumstat.io.cells import array, natural, report_alike, text, values_along

_GROUPS_SHOWN = 3  # of metrics that lack the same, in one warning


@overload
def read_mtme(  # type: ignore[overload-overlap]  # a str is an Iterable[str], and the first that fits counts
    folder: str | os.PathLike[str], test_set: str, language_pair: str, *, granularity: str = "seg"
) -> xr.Dataset: ...


@overload
def read_mtme(
    folder: str | os.PathLike[str], test_set: str, language_pair: Iterable[str], *, granularity: str = "seg"
) -> dict[str, xr.Dataset]: ...


@validate.public
def read_mtme(
    folder: str | os.PathLike[str], test_set: str, language_pair: str | Iterable[str], *, granularity: str = "seg"
) -> xr.Dataset | dict[str, xr.Dataset]:
    r"""Read the scores of a test set in the layout of mt-metrics-eval, for one or several language pairs.

    Parameters
    ----------
    folder : str or Path
        Folder of the test sets.
    test_set : str
        Such as "wmt24".
    language_pair : str, or several
        Such as "en-de", or ["en-de", "en-es", "ja-zh"].
    granularity : {"seg", "doc", "domain", "sys"}, default "seg"
        Scores of segments, documents, domains, or whole systems. Metrics without such a file are absent.

    Returns
    -------
    Dataset, or dict of Datasets
        ``score(metric, system, input)``, float64, human scores included, NaN where missing; a dict by pair for several
        pairs (for `wmt_tasks`). Coordinates ``kind(metric)``, "human" or "automatic"; ``base(metric)`` and
        ``reference(metric)``, the parts of a metric's name ("src": no reference); ``document(input)``,
        ``domain(input)`` and ``system_type(system)``, "human" for references, where known; for wmt22 to wmt24
        ``submission(metric)``: "primary", "baseline" or "contrastive". ``attrs["gold"]`` is set for a single human
        score.

    Warns
    -----
    MetaEvaluationWarning
        Names metrics that lack systems or scores, files with "nan" or additional columns, and names that look alike.

    Notes
    -----
    The files that are read: documentation, "Load your scores". `read_mqm` reads ratings of spans (``.seg.rating``).

    Examples
    --------
    >>> import pathlib, tempfile, xsumstat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "wmt23", "human-scores")
    ...     path.mkdir(parents=True)
    ...     _ = (path / "en-de.mqm.seg.score").write_text("A -1\nA None\nB 0\nB -5\n")
    ...     _ = (path.parent / "documents").mkdir()
    ...     _ = (path.parent / "documents" / "en-de.docs").write_text("news d1\nnews d1\n")
    ...     ds = xsumstat.read_mtme(folder, "wmt23", "en-de")
    >>> ds.score.sel(metric="mqm").values.tolist()
    [[-1.0, nan], [0.0, -5.0]]
    """
    validate.choice("granularity", granularity, score_files.GRANULARITIES)
    above = validate.path("folder", folder)
    root = above / validate.path("test_set", test_set)
    if not root.is_dir():
        there = sorted(each.name for each in above.iterdir() if each.is_dir()) if above.is_dir() else []
        known = f"; test sets there: {validate.listing(there)}" if there else ""
        raise FileNotFoundError(f"no such folder: {root}{known}")
    if isinstance(language_pair, str):
        return _read_pair(root, language_pair, granularity)
    pairs = validate.several("language_pair", language_pair, "a language pair, as 'en-de', or several")
    if not pairs:
        raise ValueError(f"{arguments.name('language_pair')} names no language pair")
    validate.unique("language_pair", [validate.text("each item of language_pair", each) for each in pairs])
    return {pair: _read_pair(root, pair, granularity) for pair in pairs}


def _read_pair(root: Path, language_pair: str, granularity: str) -> xr.Dataset:
    files = _files(root, language_pair, granularity)
    if not files:
        there = sorted({file.name.partition(".")[0] for file in (root / "human-scores").glob(f"*.{granularity}.score")})
        raise FileNotFoundError(
            f"{root} holds no {granularity!r} scores of {language_pair!r}: no human-scores/{language_pair}.*."
            f"{granularity}.score, and no metric-scores/{language_pair}/*.{granularity}.score"
            f"{f'; language pairs there: {validate.listing(there)}' if there else ''}"
        )
    units = score_files.read_units(root / "documents" / f"{language_pair}.docs", granularity)
    cube, systems = _cube(files, units, granularity)
    _report(cube, list(files), systems, [kind for _, kind in files.values()])
    people = mtme_texts.reference_names(root, language_pair)
    ds = _marked(_dataset(cube, files, systems, units, people), root.name)
    return ds.assign_attrs(test_set=root.name, language_pair=language_pair, granularity=granularity)


def _marked(ds: xr.Dataset, test_set: str) -> xr.Dataset:
    """The Dataset with the coordinate `submission` of metrics, if the test set's primary submissions are known."""
    if test_set not in wmt_data.PRIMARY:
        return ds
    pairs = zip(ds["base"].values.tolist(), ds["kind"].values.tolist(), strict=True)
    told = [wmt_data.submission(test_set, base) if kind == "automatic" else "" for base, kind in pairs]
    return ds.assign_coords(submission=("metric", text(told)))


def read_files(path: Path) -> xr.Dataset:
    """The scores of a file ``NAME.GRANULARITY.score``, or of those in a folder: of segments, if there are such."""
    there = [path] if path.is_file() else path.glob(f"*{score_files.SUFFIX}")
    named = {file: score_files.named(file) for file in sorted(there, key=lambda each: natural(each.name))}
    own = {file: each or score_files.GRANULARITIES[0] for file, (_, each) in named.items()}
    granularity = next(each for each in score_files.GRANULARITIES if each in own.values())
    others = [file.name for file, each in own.items() if each != granularity]
    if others:
        left = f"{path.name}: scores of {granularity!r} are read, and not {validate.listing(others)}"
        validate.warn(left, "scores_left_out")
    files = {name: (file, "automatic") for file, (name, _) in named.items() if own[file] == granularity}
    units = score_files.Units([score_files.WHOLE] if granularity == "sys" else None)
    cube, systems = _cube(files, units, granularity)
    _report(cube, list(files), systems, ["automatic"] * len(files))
    return _dataset(cube, files, systems, units, []).assign_attrs(granularity=granularity)


def _cube(
    files: dict[str, tuple[Path, str]], units: score_files.Units, granularity: str
) -> tuple[FloatArray, list[str]]:
    """The scores (metric, system, input) of files, and the systems."""
    scores = {name: score_files.read_scores(file, units, granularity) for name, (file, _) in files.items()}
    sizes = {name: len(next(iter(found.values()))) for name, found in scores.items()}
    size = len(units.labels) if units.labels is not None else next(iter(sizes.values()))
    for name, own in sizes.items():
        if own != size:
            raise ValueError(f"{files[name][0].name} has {own} scores of a system, and there are {size} inputs")
    systems = list(dict.fromkeys(system for found in scores.values() for system in found))
    report_alike({"system": systems, "metric": files})
    cube = np.full((len(scores), len(systems), size), np.nan)
    for at, found in enumerate(scores.values()):
        for system, values in found.items():
            cube[at, systems.index(system)] = values
    return cube, systems


def _files(root: Path, pair: str, granularity: str) -> dict[str, tuple[Path, str]]:
    end = f".{granularity}.score"
    found: dict[str, tuple[Path, str]] = {}
    for file in sorted((root / "human-scores").glob(f"{glob.escape(pair)}.*{end}")):
        found[file.name.removeprefix(f"{pair}.").removesuffix(end)] = file, "human"
    for file in sorted((root / "metric-scores" / pair).glob(f"*{end}"), key=lambda each: natural(each.name)):
        name = file.name.removesuffix(end)
        if name in found:
            raise ValueError(f"{name!r} is the name of human scores and of a metric: {found[name][0]} and {file}")
        found[name] = file, "automatic"
    return found


def _report(cube: FloatArray, names: list[str], systems: list[str], kinds: list[str]) -> None:
    """Warn of metrics without scores of a system, wholly or in part, except their own reference."""
    absent = np.isnan(cube)
    whole = np.asarray(absent.all(axis=2))
    of_part = absent.any(axis=2) & ~whole
    whole &= ~np.array([[system in mtme_names.parted(name.rpartition("-")[2]) for system in systems] for name in names])
    for what, part in (("no score", whole), ("not all scores", of_part)):
        lacking: dict[str, list[str]] = {}
        for name, kind, row in zip(names, kinds, part, strict=True):
            if kind == "automatic" and row.any():
                listed = validate.listing(systems[place] for place in np.flatnonzero(row))
                lacking.setdefault(listed, []).append(name)
        said = [f"{what} for {validate.named('metric', each)} with system {listed}" for listed, each in lacking.items()]
        if said:
            more = f"; and so on, {sum(map(len, lacking.values()))} metrics in all" if len(said) > _GROUPS_SHOWN else ""
            validate.warn(f"{'; '.join(said[:_GROUPS_SHOWN])}{more}: they are NaN", "no_score")


def _dataset(
    cube: FloatArray,
    files: dict[str, tuple[Path, str]],
    systems: list[str],
    units: score_files.Units,
    people: list[str],
) -> xr.Dataset:
    parts = [name.rpartition("-") if kind == "automatic" else (name, "", "") for name, (_, kind) in files.items()]
    bases = [base or rest for base, _, rest in parts]
    references = [rest if base else "" for base, _, rest in parts]
    labels = list(range(1, cube.shape[2] + 1)) if units.labels is None else units.labels
    coords: dict[str, Any] = {
        "metric": text(files),
        "system": text(systems),
        "input": array(labels),
        "kind": ("metric", text(kind for _, kind in files.values())),
        "base": ("metric", text(bases)),
        "reference": ("metric", text(references)),
    }
    if units.document is not None and units.document != labels:
        coords["document"] = ("input", text(units.document))
    if units.domain is not None and units.domain != labels:
        coords["domain"] = ("input", text(units.domain))
    if people:
        coords["system_type"] = ("system", text("human" if each in people else "machine" for each in systems))
    human = [name for name, (_, kind) in files.items() if kind == "human"]
    ds = xr.Dataset({"score": (("metric", "system", "input"), cube)}, coords=coords)
    return ds.assign_attrs(gold=human[0]) if len(human) == 1 else ds


@validate.public
def to_mtme(
    ds: xr.Dataset,
    folder: str | os.PathLike[str],
    test_set: str,
    language_pair: str,
    *,
    granularity: str = "seg",
    overwrite: bool = False,
) -> Path:
    """Write scores in the layout of mt-metrics-eval, which `read_mtme` reads.

    Parameters
    ----------
    ds : Dataset
        ``score(metric, system, input)``. ``kind(metric)`` or ``ds.attrs["gold"]`` marks human scores. Automatic metrics
        are called NAME-REF, by their labels or the coordinates ``base`` and ``reference``.
    folder : str or Path
        Folder of test sets; created if missing.
    test_set, language_pair : str
        Such as "wmt23" and "en-de".
    granularity : {"seg", "doc", "domain", "sys"}, default "seg"
        What the inputs are. Write "seg" first: the others use its list of documents.
    overwrite : bool, default False
        Replace existing files. Existing texts stay where `ds` lacks them.

    Returns
    -------
    Path
        Folder of the test set.

    Raises
    ------
    FileExistsError
        If a file exists and may not be replaced.
    ValueError
        For names, documents, partly scored systems or dims that the layout cannot hold. Nothing is written.

    Warns
    -----
    MetaEvaluationWarning
        Names metrics written negated (lower is better), and those without all systems, where the toolkit reads 0.

    Notes
    -----
    Open the result with ``EvalSet(test_set, language_pair, True, path=folder, info=MetaInfo(...))``. What is written
    for texts, references and documents: documentation, "Report your results".

    Examples
    --------
    >>> import tempfile, xsumstat
    >>> ds = xsumstat.load_dataset("demo").drop_sel(metric="perplexity")
    >>> ds = ds.assign_coords(reference=("metric", ["refA"] * 6))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ds.meta.to_mtme(folder, "demo", "en-en")
    ...     back = xsumstat.read_mtme(folder, "demo", "en-en")
    >>> back.metric.values[:2].tolist(), dict(back.score.sizes)
    (['human', 'bertscore-refA'], {'metric': 6, 'system': 12, 'input': 30})
    """
    validate.choice("granularity", granularity, score_files.GRANULARITIES)
    validate.flag("overwrite", overwrite)
    above = validate.path("folder", folder)
    score = _plain(ds)
    mtme_names.check_folder("test_set", test_set)
    mtme_names.check_part("language_pair", language_pair)
    root = above / test_set
    contents = _contents(ds, score, root, language_pair, granularity, overwrite)
    root.mkdir(parents=True, exist_ok=True)
    whole_files.write_all(root, contents)
    return root


def _check_places(root: Path, paths: Collection[Path], overwrite: bool) -> None:
    """Raise if a file to write exists already and may not, or cannot, be replaced."""
    taken = [str(path) for path in paths if os.path.lexists(root / path)]
    if taken and not overwrite:
        raise FileExistsError(f"{root} has {validate.listing(taken)}; overwrite=True replaces what is there")
    folders = [name for name in taken if (root / name).is_dir()]
    if folders:
        raise FileExistsError(f"{root} has folders with the names of files: {validate.listing(folders)}")
    for above in dict.fromkeys(parent for path in paths for parent in (root / path).parents):
        if os.path.lexists(above) and not above.is_dir():
            raise FileExistsError(f"{above} is a file, and is to be a folder")


def _plain(ds: xr.Dataset) -> xr.DataArray:
    score = locate.checked_scores(ds)
    further = [str(dim) for dim in score.dims if dim not in facts.CORE]
    if further:
        raise ValueError(f"score has additional dims: {validate.listing(further)}; select one label of each")
    if "higher_is_better" in score.coords:
        lower = score["metric"].values[~score["higher_is_better"].values.astype(bool)].tolist()
        if lower:
            validate.warn(f"negated the scores of {validate.named('metric', lower)}, where lower is better", "turned")
    return align.oriented(score, ("metric",)).transpose(*facts.CORE).compute()


def _contents(
    ds: xr.Dataset, score: xr.DataArray, root: Path, pair: str, granularity: str, overwrite: bool
) -> dict[Path, str]:
    systems, inputs = _units(score, granularity)
    named = _checked_metrics(ds, score)
    automatic = [name for name, (people, _) in named.items() if not people]
    own = [each for name in automatic for each in mtme_names.references_of(name)]
    references = mtme_texts.references(root, pair, [*own, *_people(ds, systems)])
    starts = [f"{each}\t" if granularity == "domain" else "" for each in inputs]
    found: dict[Path, str] = {}
    for name, (people, values) in named.items():
        where = f"human-scores/{pair}.{name}" if people else f"metric-scores/{pair}/{name}"
        lines = _lines(name, people, systems, values, starts)
        found[mtme_names.file(f"{where}.{granularity}.score")] = "".join(lines)
    listed, segments = mtme_texts.documents(ds, root, pair, granularity, inputs)
    stay = mtme_texts.scores_that_stay(root, pair, found)
    for body in listed.values():
        mtme_texts.check_fit(stay, body)
    own_texts = mtme_texts.own_texts(ds, pair, references, systems) if granularity == "seg" else {}
    replaced, added = mtme_texts.texts(root, pair, references, systems, segments, own_texts)
    _check_places(root, [*found, *listed, *replaced], overwrite)
    _check_places(root, added, overwrite=True)
    before = mtme_texts.outputs(root, pair)
    scored = [(name, _scored(systems, named[name][1])) for name in automatic]
    scored += [(name, {*has, *before}) for name, has in mtme_texts.systems_of_metrics(stay)]
    _say_zeros(list(dict.fromkeys([*systems, *before])), references, scored)
    return found | listed | replaced | added


def _units(score: xr.DataArray, granularity: str) -> tuple[list[str], list[Any]]:
    systems, inputs = (score[dim].values.tolist() for dim in facts.CELLS)
    if granularity == "sys" and len(inputs) != 1:
        raise ValueError(f"granularity='sys' has one score a system, and there are {len(inputs)} inputs")
    names = [mtme_names.checked("system", system) for system in systems]
    validate.unique("systems' names", names)
    if granularity in ("domain", "doc"):
        inputs = [mtme_names.checked("input", each) for each in inputs]
        validate.unique("inputs' names", inputs)
    return names, inputs


def _checked_metrics(ds: xr.Dataset, score: xr.DataArray) -> dict[str, tuple[bool, FloatArray]]:
    """Whether each metric is human, and its scores, by its name in the layout."""
    metrics = score["metric"].values.tolist()
    human = _human(ds, metrics)
    names = [mtme_names.checked("metric", name) for name in _names(ds, metrics, human)]
    validate.unique("metrics' names", names)
    mtme_names.check_distinct(name for name, people in zip(names, human, strict=True) if not people)
    return dict(zip(names, zip(human, score.values, strict=True), strict=True))


def _lines(name: str, people: bool, systems: list[str], values: FloatArray, starts: list[str]) -> list[str]:
    lines = []
    for system, row in zip(systems, values.tolist(), strict=True):
        gone = [value != value for value in row]
        if not people and all(gone):
            continue
        if not people and any(gone):
            raise ValueError(
                f"metric {name!r} has no score of system {system!r} on {sum(gone)} of {len(row)} inputs, for which "
                "the layout has no word in metrics; leave the system or the inputs out"
            )
        lines += [f"{a}{system}\t{'None' if b != b else repr(b)}\n" for a, b in zip(starts, row, strict=True)]
    if not lines:
        raise ValueError(f"metric {name!r} has no score at all")
    return lines


def _scored(systems: list[str], values: FloatArray) -> set[str]:
    return {systems[at] for at in np.flatnonzero(~np.isnan(values).all(axis=1))}


def _say_zeros(systems: list[str], references: list[str], scored: list[tuple[str, set[str]]]) -> None:
    """Warn of metrics that do not score a system other than their reference: mt-metrics-eval reads 0 there."""
    lacking: dict[str, list[str]] = {}
    for name, there in scored:
        every = name.rpartition("-")[2] == mtme_names.EVERY
        own = references if every else mtme_names.references_of(name)
        absent = [system for system in systems if system not in there and system not in own]
        if absent:
            lacking.setdefault(validate.listing(absent), []).append(name)
    if lacking:
        said = [
            f"no score of {absent} by {validate.named('metric', dict.fromkeys(each))}"
            for absent, each in lacking.items()
        ]
        more = "; and so on" if len(said) > _GROUPS_SHOWN else ""
        validate.warn(
            f"{'; '.join(said[:_GROUPS_SHOWN])}{more}: mt-metrics-eval reads 0 there, or refuses the folder with "
            "strict=True; leave these systems or metrics out",
            "no_score",
        )


def _people(ds: xr.Dataset, systems: list[str]) -> list[str]:
    kinds = values_along(ds, "system_type", "system") or [""] * len(systems)
    return [
        mtme_names.reference(f"system {system!r}, whose system_type is 'human',", system)
        for system, kind in zip(systems, kinds, strict=True)
        if kind == "human"
    ]


def _human(ds: xr.Dataset, metrics: list[Any]) -> list[bool]:
    kinds = values_along(ds, "kind", "metric")
    return [metric == ds.attrs.get("gold") for metric in metrics] if kinds is None else [k == "human" for k in kinds]


def _names(ds: xr.Dataset, metrics: list[Any], human: list[bool]) -> Iterator[Any]:
    bases = values_along(ds, "base", "metric") or metrics
    references = values_along(ds, "reference", "metric") or [""] * len(metrics)
    for at, (metric, people) in enumerate(zip(metrics, human, strict=True)):
        if people:
            yield metric
        elif references[at]:
            if "-" in str(references[at]):
                mtme_names.reference(f"metric {metric!r}", references[at])
            yield f"{bases[at]}-{references[at]}"
        elif "-" in str(metric):
            yield metric
        else:
            raise ValueError(
                f"metric {metric!r} must be called NAME-REF, with REF 'src' for a metric without a reference, or have "
                "a coordinate reference(metric); which metrics are human says the coordinate kind(metric)"
            )
