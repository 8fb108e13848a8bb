"""Join human scores to scores by system and input: `add_gold`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.core import arguments, validate
from xsumstat.dataset import drawn, facts, golds, locate, text_attrs
from xsumstat.io import (
    added,
    added_files,
    cells,
    columns,
    drawn_ratings,
    far_ratings,
    filled_sheets,
    frames,
    mtme,
    roles,
    rows,
    score_files,
    stores,
    tabular,
    texts,
)
from xsumstat.io import ratings as by_raters

_FRAME = "human"  # what messages call a frame, after its argument


@validate.public
def add_gold(
    ds: xr.Dataset,
    human: xr.DataArray | pd.DataFrame | str | PathLike[str],
    *,
    name: str = "human",
    labels: Sequence[str] | None = None,
) -> xr.Dataset:
    """Join human scores to scores by the labels of systems and inputs, and make them the gold.

    Parameters
    ----------
    ds : Dataset
        Scores; it is not changed.
    human : DataArray, (system, input) or (system, input, rater), DataFrame, str or Path
        Human scores or ratings; labels are matched as text (7 and "7" match). A path names the file that raters filled,
        as `sample_inputs` wrote it. A frame has one row per rating, or one row per output and a column per rater, with
        usual names (system, input, annotator, score). For other names use `to_scores`.
    name : str, default "human"
        Name of the metric of human scores.
    labels : list of str, optional
        Texts that human scores are, lowest first, as ``["fail", "pass"]``. Default: those of `ds`, if any.

    Returns
    -------
    Dataset
        ``score(metric, system, input)`` with the metric `name`, the mean over raters, of ``kind`` "human", and with
        several raters ``rating(system, input, rater)``. ``ds.attrs["gold"]`` names it. Human scores of other outputs
        are left out.

    Raises
    ------
    ValueError
        If no label matches, a metric has this name, dims or columns have other names, or a file has an unknown system
        or input, a repeated output, or a cell that is no number.

    Warns
    -----
    MetaEvaluationWarning
        Counts outputs without a human score, human scores without an output, and averaged rows; names labels that look
        alike. After `sample_inputs`: counts drawn outputs without a human score and others with one, and names judges
        that score the rated ones differently.

    Examples
    --------
    >>> import pandas as pd, xsumstat
    >>> scores = pd.DataFrame({"system": ["a", "b"], "input": [7, 7], "rouge": [0.2, 0.4]}).meta.to_scores(wide=True)
    >>> rated = pd.DataFrame({"system": list("aab"), "input": [7] * 3, "rater": list("xyx"), "score": [3, 4, 5]})
    >>> ds = xsumstat.add_gold(scores, rated)
    >>> ds.score.sel(metric="human", input=7).to_series().to_dict()
    {'a': 3.5, 'b': 5.0}
    """
    validate.label("name", name)
    locate.checked_scores(ds)
    scale = texts.checked(labels, golds.texts_of(ds))
    lowest = lowest_code(ds, scale)
    draw = drawn.find(ds)
    ratings: Any = human
    if isinstance(human, str | PathLike):
        sheet = filled_sheets.read(validate.path("human", human), ds, name, scale, lowest)
        frame = sheet.frame
        ratings = _rated(frame, sheet.labels, sheet.columns) if sheet.columns else _of_frame(frame, scale, lowest)
    elif tabular.is_frame(human):
        ratings = _of_frame(human, scale, lowest)
    if isinstance(ratings, xr.DataArray):
        ratings = texts.coded_array(ratings, scale, lowest)
    joined_scores, match = join(ds, ratings, name=name)
    if not match.is_complete and (draw is None or match.n_unknown):
        validate.warn(match.text("the scores"), "scores_left_out")
    if draw is not None:
        drawn_ratings.report(ds["score"], joined_scores["score"].sel(metric=name, drop=True), draw)
    return joined_scores.assign_attrs(labels=text_attrs.joined(scale)) if scale and not lowest else joined_scores


def lowest_code(ds: xr.Dataset, labels: Sequence[str]) -> int:
    """The code of the lowest label of human scores; 0 for scores that have labels already, or that are not read yet."""
    score = ds["score"]
    if not labels or golds.texts_of(ds) or score.chunks:
        return 0
    each = {label: score.sel(metric=label).values.ravel() for label in score.indexes["metric"]}
    return texts.lowest_beside({label: values[~np.isnan(values)] for label, values in each.items()}, labels)


def _rated(
    frame: pd.DataFrame, found: Mapping[str, str], values: list[str], aggregate: str | None = None
) -> xr.DataArray:
    """Ratings in columns of a frame; without raters where one column has the ratings and none names raters."""
    rater = found.get(by_raters.RATER)
    ratings = frames.to_scores(
        frame,
        system=found["system"],
        input=found["input"],
        wide=True,
        ratings=values if rater is None else values[0],
        rater=rater,
        aggregate=aggregate,
    )["rating"]
    return ratings.isel(rater=0, drop=True) if rater is None and len(values) == 1 else ratings


@dataclass(frozen=True)
class Match:
    n_outputs: int
    n_rated: int
    unrated: list[str]
    n_unknown: int
    unknown: list[str]

    @property
    def is_complete(self) -> bool:
        return self.n_rated == self.n_outputs and not self.n_unknown

    def text(self, name: str) -> str:
        words = f"{self.n_rated:,} of {self.n_outputs:,} outputs of {name} have a human score"
        if self.unrated:
            words += f"; {self.n_outputs - self.n_rated:,} have none, as {', '.join(self.unrated)}"
        if self.n_unknown:
            words += (
                f"; {validate.counted(self.n_unknown, 'human score')} without an output, e.g. {', '.join(self.unknown)}"
            )
        return words


def join(ds: xr.Dataset, human: xr.DataArray, *, name: str) -> tuple[xr.Dataset, Match]:
    score = locate.checked_scores(ds)
    if not isinstance(human, xr.DataArray) or not set(facts.CELLS) <= set(human.dims) <= {
        *facts.CELLS,
        by_raters.RATER,
    }:
        dims = human.dims if isinstance(human, xr.DataArray) else type(human).__name__
        raise ValueError(
            f"human must be a DataArray with the dims system and input, and rater or not, or a frame, got {dims}"
        )
    if name in score.indexes["metric"]:
        raise ValueError(f"there is a metric {name!r} in the scores already; name the human scores otherwise")
    human = locate.checked(human.drop_vars([each for each in human.coords if each not in human.dims]), "human")
    far_ratings.report(human)
    several = by_raters.RATER in human.dims and human.sizes[by_raters.RATER] > 1
    mean = human.mean(by_raters.RATER) if by_raters.RATER in human.dims else human
    labels = {dim: _labels(score, dim) for dim in facts.CELLS}
    human, mean = (_with_blanks(each, labels) for each in (human, mean))
    _report_alike(labels, mean)
    placed = _placed(mean, labels)
    there = score.notnull().any([dim for dim in score.dims if dim not in facts.CELLS]).transpose(*facts.CELLS)
    match = _match(there.compute(), mean, placed)
    if not match.n_rated:
        raise ValueError(
            f"no human score matches an output: the scores have {_examples(score)}, the human scores {_examples(mean)}"
        )
    found = added.with_metrics(ds, score, placed.expand_dims(metric=[name]), {name: {"kind": "human"}}, kinds=True)
    found = found.assign_attrs(gold=name)
    if several:
        found[by_raters.VARIABLE] = _placed(human, labels)
    return found, match


def _labels(score: xr.DataArray, dim: str) -> pd.Index:
    if dim not in score.indexes:
        raise ValueError(f"the scores have no labels along {dim!r}, by which human scores could find their outputs")
    labels: pd.Index = score.indexes[dim]
    return labels


def _with_blanks(human: xr.DataArray, labels: Mapping[str, pd.Index]) -> xr.DataArray:
    """Human scores with the blanks around labels that the scores have: reading a table left them out."""
    for dim, ours in labels.items():
        theirs = _labels(human, dim)
        by_bare: dict[str, list[str]] = {}
        for label in ours:
            if isinstance(label, str) and label != label.strip() and label.strip() not in ours:
                by_bare.setdefault(label.strip(), []).append(label)
        meant = {bare: found[0] for bare, found in by_bare.items() if len(found) == 1 and found[0] not in theirs}
        if meant:
            human = human.assign_coords({dim: pd.Index([meant.get(label, label) for label in theirs], dtype=object)})
    return human


def _report_alike(labels: Mapping[str, pd.Index], human: xr.DataArray) -> None:
    """Warn of labels of human scores that look like one of the scores' and differ."""
    both: dict[Hashable, list[str]] = {}
    for dim, ours in labels.items():
        known = set(map(str, ours))
        both[dim] = [*known, *(text for text in map(str, _labels(human, dim)) if text not in known)]
    cells.report_alike(both)


def _placed(human: xr.DataArray, labels: Mapping[str, pd.Index]) -> xr.DataArray:
    """Human scores on the labels of the scores, whatever the type of labels."""
    for dim, ours in labels.items():
        by_text = {str(label): label for label in ours}
        theirs = [by_text.get(str(label)) for label in _labels(human, dim)]
        known = [at for at, label in enumerate(theirs) if label is not None]
        human = human.isel({dim: known}).assign_coords({dim: ours[:0].append(pd.Index([theirs[at] for at in known]))})
    return human.reindex(labels)


def _match(there: xr.DataArray, human: xr.DataArray, placed: xr.DataArray) -> Match:
    rated = placed.transpose(*facts.CELLS).notnull().values
    outputs = there.values
    unrated = [cells.output_name(there, facts.CELLS, place) for place in np.argwhere(outputs & ~rated)[:3]]
    n_known = int(np.count_nonzero(rated & outputs))
    human = human.transpose(*facts.CELLS)
    given = np.argwhere(human.notnull().values)
    known = {tuple(map(str, _pair(there, place))) for place in np.argwhere(outputs & rated)}
    unknown = [place for place in given if tuple(map(str, _pair(human, place))) not in known]
    return Match(
        int(np.count_nonzero(outputs)),
        n_known,
        unrated,
        len(unknown),
        [cells.output_name(human, facts.CELLS, place) for place in unknown[:3]],
    )


def _pair(values: xr.DataArray, place: Any) -> list[Any]:
    return [values.indexes[dim][at] for dim, at in zip(facts.CELLS, place, strict=True)]


def _examples(values: xr.DataArray) -> str:
    return " and ".join(f"{dim} {validate.listing(values.indexes[dim], 2)}" for dim in facts.CELLS)


def read_human(
    path: str | Path,
    *,
    system: str | None = None,
    input: str | None = None,
    column: str | None = None,
    labels: Sequence[str] = (),
    lowest: int = 0,
) -> tuple[xr.DataArray, str]:
    """Human scores (system, input, or also rater) from a table, and how its columns were read."""
    path = Path(path)
    if not path.exists():
        raise stores.no_such(path)
    if added_files.is_scores(path):
        ds = mtme.read_files(path)
        return ds["score"].isel(metric=0, drop=True), f"human scores {ds['metric'].values[0]!r}, in the order of inputs"
    if path.suffix.lower() not in columns.TABLES:
        known = ", ".join((*columns.TABLES, score_files.SUFFIX))
        raise ValueError(f"human scores must be a table ({known}), got {path.name}")
    with stores.reading(path):
        names = columns.header(path)
    found = columns.of_labels(names, path.name, {"system": system, "input": input})
    with stores.reading(path):
        frame, _ = frames.table(path, list(found.values()))
    frame = texts.coded(frame, labels, found.values(), [] if column is None else [column], lowest=lowest)
    ratings, said, _ = _ratings(frame, found, column, path.name)
    return ratings, said


def _of_frame(frame: Any, scale: Sequence[str], lowest: int) -> xr.DataArray:
    table = rows.prepared(tabular.as_pandas(frame), None)
    names = [name for name in table.columns if isinstance(name, str)]
    found = columns.of_labels(names, _FRAME)
    table = texts.coded(table[names], scale, found.values(), lowest=lowest)
    ratings, _, twice = _ratings(table, found, None, _FRAME)
    if twice:
        validate.warn(
            f"human: averaged {validate.counted(twice, 'repeated row')}, as no column names the rater",
            "averaged",
        )
    return ratings


def _ratings(
    frame: pd.DataFrame, found: Mapping[str, str], column: str | None, file: str
) -> tuple[xr.DataArray, str, int]:
    """Human scores of a table, how its columns were read, and the number of averaged rows."""
    labels = list(found.values())
    values = _value_columns(frame, [name for name in frame.columns if name not in labels], column, file)
    rater = found.get(by_raters.RATER)
    kept = frame[[*labels, *values]]
    twice = int(kept.duplicated(labels).sum()) if len(values) == 1 and rater is None else 0
    ratings = _rated(kept, found, values, "mean" if twice else None)
    said = ", ".join(f"{field} from column {found[field]!r}" for field in facts.CELLS)
    said += f", human scores from {validate.listing(values)}"
    if by_raters.RATER in ratings.dims and ratings.sizes[by_raters.RATER] > 1:
        said += f", the mean of {ratings.sizes[by_raters.RATER]} raters" + (f" from {rater!r}" if rater else "")
    elif twice:
        said += f", with {validate.counted(twice, 'repeated row')} averaged"
    return ratings, said, twice


def _value_columns(frame: pd.DataFrame, others: list[str], column: str | None, file: str) -> list[str]:
    """The column of ratings, or those of the raters."""
    if column is not None and column in others:
        return [column]
    numeric = [name for name in others if pd.api.types.is_numeric_dtype(frame[name].dtype)]
    usual = columns.recognised(numeric, "score")
    if usual is not None:
        return [usual]
    if len(numeric) == 1 or columns.numbered(numeric):
        return numeric
    raters = roles.raters_in(frame, numeric)
    if len(raters) > 1:
        return raters
    if not numeric:
        named = validate.listing(frame.columns)
        raise ValueError(f"{file} has no column of numbers beside its labels; columns: {named}")
    which = "leave the others out" if file == _FRAME else f"{arguments.given('gold')} says which holds the human scores"
    raise ValueError(
        f"{file} has several columns of numbers: {validate.listing(numeric)}; {which}, and columns of raters are "
        "called annotator_1 and annotator_2, or ann_alice and ann_bob"
    )
