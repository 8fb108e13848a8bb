"""Inputs for people to rate, and the file that they fill: `sample_inputs`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Hashable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.analyses import input_bins, input_draws
from xsumstat.core import extras, validate
from xsumstat.dataset import drawn, facts, locate, metric_choice, text_attrs
from xsumstat.io import columns as usual
from xsumstat.io import rows as tidy
from xsumstat.io import tables, tabular
from xsumstat.io.whole_files import write_whole
from xsumstat.resampling import draws

SUFFIXES = (".csv", ".tsv", ".xlsx", ".jsonl")
# Keywords of the draw by bins, and their defaults.
_BINS = {"n_means": 5, "n_spreads": 4, "n_each": 1}


@validate.public
def sample_inputs(
    ds: xr.Dataset,
    n: int | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    strata: str | None = None,
    n_strata: int | None = None,
    allocation: str | None = None,
    unsure: str | None = None,
    path: str | PathLike[str] | None = None,
    column: str | Sequence[str] = "human",
    texts: pd.DataFrame | None = None,
    n_means: int | None = None,
    n_spreads: int | None = None,
    n_each: int | None = None,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
) -> xr.Dataset:
    """Draw inputs for people to rate, and write the file that they fill.

    Parameters
    ----------
    ds : Dataset
        Automatic scores, float ``score(metric, system, input)``, of all inputs that could be rated.
    n : int, optional
        How many inputs to draw. Default: by bins (Notes).
    metric : label, list of labels or bool DataArray, optional
        The judges. Default all but ``ds.attrs["gold"]`` and what ``kind`` calls human.
    strata : str, optional
        "score", "unsure": bins of the judges' mean score or uncertainty. Or a coordinate of inputs. Default: no strata.
    n_strata : int, default 4
        Number of bins of "score" and "unsure".
    allocation : str, optional
        "proportional": the same share of each stratum. "unsure": more where the judges are unsure; default with
        ``strata="unsure"``. At least 2 inputs are drawn from each stratum.
    unsure : str, optional
        The judges' uncertainty for an input. "metrics": the standard deviation across judges. "systems": how close the
        systems' scores are. Another dim of repeated runs: the standard deviation along it. Or a coordinate of inputs
        with numbers. Default "metrics" if there are several judges, else "systems".
    path : str or Path, optional
        Write the drawn inputs to this file: .csv, .tsv, .xlsx (needs openpyxl) or .jsonl. An existing file raises an
        error, because it may hold ratings.
    column : str or list of str, default "human"
        Empty columns for raters to fill. Several, such as ``["ann_1", "ann_2"]``: one for each rater.
    texts : DataFrame, optional
        What raters read: columns of input and system, or of input alone, and texts.
    n_means, n_spreads, n_each : int, default 5, 4, 1
        Without `n`: bins of mean score, bins of spread in each, and inputs from each.
    rng : None, int, SeedSequence or Generator, optional
        Source of the draws; one seed gives the same inputs, and the same order of rows.

    Returns
    -------
    Dataset
        With `n`: all of `ds`, with three coordinates of `input`: ``inclusion_probability``, ``drawn`` and
        ``draw_stratum``. Without `n`: the chosen inputs alone, with ``chosen_for``, ``mean_bin`` and ``spread_bin``.

    Raises
    ------
    ValueError, TypeError
        For too few inputs, scores with another dim, or inputs without scores.

    See Also
    --------
    xsumstat.add_gold : Join the filled file.

    Notes
    -----
    Keep the Dataset that is returned: `add_gold`, `system_means` and ``compare_systems(method="ppi")`` use the
    probabilities. The file has inputs, and the systems of each, in random order, and no scores. Without `n`, inputs are
    chosen by each metric, with no known probabilities (Bhandari et al. 2020, Algorithm 1, §3.2).

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> drawn = ds.meta.sample_inputs(12, metric="judge", strata="score", n_strata=3, rng=1)
    >>> drawn.input[drawn.drawn].values.tolist()[:4]
    ['doc-01', 'doc-03', 'doc-05', 'doc-11']
    """
    file = None if path is None else _checked_path(path)
    names = _checked_columns(column)
    bins = {"n_means": n_means, "n_spreads": n_spreads, "n_each": n_each}
    seed = draws.seed_of(rng)
    if n is None:
        others = {"strata": strata, "n_strata": n_strata, "allocation": allocation, "unsure": unsure}
        found = _by_bins(ds, metric, bins, others, seed)
        chosen = np.ones(found.sizes["input"], dtype=bool)
    else:
        given = [name for name, value in bins.items() if value is not None]
        if given:
            raise ValueError(f"{given[0]}= is for a draw by bins, without n; got n={n!r}; with n use strata=")
        design = input_draws.Design.checked(ds, n, metric, strata, n_strata, allocation, unsure)
        found = input_draws.draw(ds, design, seed)
        found = found.assign_attrs({drawn.COLUMNS: text_attrs.joined(names)})
        chosen = found[drawn.DRAWN].values
    if file is not None:
        _write(file, _sheet(found, metric_choice.automatic(ds, metric), chosen, names, texts, seed))
    elif texts is not None:
        raise ValueError("texts= are for the file that raters fill; give path=")
    return found


def _by_bins(ds: xr.Dataset, metric: Any, given: dict[str, Any], others: dict[str, Any], seed: int) -> xr.Dataset:
    """The chosen inputs alone."""
    wrong = [name for name, value in others.items() if value is not None]
    if wrong:
        raise ValueError(f"{wrong[0]}= needs n, the number of inputs to draw; got n=None")
    numbers = {
        name: validate.integer(name, default if given[name] is None else given[name], 1)
        for name, default in _BINS.items()
    }
    return input_bins.drawn(ds, metric, **numbers, rng=seed)


def _checked_path(path: Any) -> Path:
    file = validate.path("path", path)
    if file.suffix.lower() not in SUFFIXES:
        raise ValueError(f"path must end in {', '.join(SUFFIXES)}, got {file.name!r}")
    if file.exists():
        raise FileExistsError(f"{file} exists and may hold ratings; name another file, or delete it first")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"no such folder: {file.parent}")
    return file


def _checked_columns(column: Any) -> list[str]:
    names = [validate.label("column", each) for each in validate.several("column", column, "a name or a list of them")]
    names = [str(each) for each in names]
    validate.unique("column", names)
    taken = [each for each in names if each in facts.CELLS]
    if taken or not names:
        got = taken[0] if taken else []
        raise ValueError(f"column must name empty columns, other than 'input' and 'system', got {got!r}")
    return names


def _sheet(
    ds: xr.Dataset, metric: Any, chosen: Any, names: list[str], texts: pd.DataFrame | None, seed: int
) -> pd.DataFrame:
    """A row for each output of the chosen inputs, in random order, with texts and empty columns."""
    score = locate.checked_scores(ds)
    score = score.isel(metric=metric_choice.choose(score, metric, "metric"))
    there = score.notnull().any([dim for dim in score.dims if dim not in facts.CELLS]).transpose(*facts.CELLS).values
    labels = {
        dim: [str(each) for each in (score.indexes[dim] if dim in score.indexes else range(score.sizes[dim]))]
        for dim in facts.CELLS
    }
    generator = draws.generator(seed, 1)
    rows = [
        (labels["input"][at], labels["system"][system])
        for at in generator.permutation(np.flatnonzero(chosen))
        for system in generator.permutation(len(labels["system"]))
        if there[system, at]
    ]
    sheet = pd.DataFrame(rows, columns=["input", "system"], dtype=object)
    if texts is not None:
        sheet = _with_texts(sheet, texts, names, [str(each) for each in ds.indexes["metric"]])
    return sheet.assign(**dict.fromkeys(names, None))


def _with_texts(sheet: pd.DataFrame, texts: Any, names: list[str], metrics: list[str]) -> pd.DataFrame:
    """The sheet with the columns of texts, joined by labels as text."""
    if not tabular.is_frame(texts):
        raise TypeError(f"texts must be a frame, got {type(texts).__name__}")
    frame = tidy.prepared(tabular.as_pandas(texts), None)
    found = {dim: usual.recognised([str(each) for each in frame.columns], dim) for dim in facts.CELLS}
    if found["input"] is None:
        raise ValueError(f"texts has no column that names the input; columns: {validate.listing(frame.columns)}")
    keys = {column: dim for dim, column in found.items() if column is not None}
    shown = [each for each in frame.columns if each not in keys]
    taken = [each for each in shown if str(each) in (*names, *facts.CELLS)]
    if taken or not shown:
        what = f"the column {taken[0]!r}, which raters fill" if taken else "no column of texts"
        raise ValueError(f"texts has {what}; columns: {validate.listing(frame.columns)}")
    scores = [each for each in shown if str(each) in metrics]
    if scores:
        raise ValueError(f"texts has the column {scores[0]!r}, a metric's scores, which raters should not see; drop it")
    frame = frame.rename(columns=keys)
    on = [dim for dim in sheet.columns if dim in keys.values()]
    frame[on] = frame[on].astype(str)
    if frame.duplicated(on).any():
        twice = frame.loc[frame.duplicated(on), on].iloc[0].tolist()
        raise ValueError(f"texts has more than one row of {'/'.join(twice)}")
    joined = sheet.merge(frame, how="left", on=on, indicator="_from", sort=False)
    lost = joined[joined["_from"] == "left_only"]
    if len(lost):
        raise ValueError(
            f"texts has no row of {validate.counted(len(lost), 'drawn output')}, e.g. {'/'.join(lost[on].iloc[0])}"
        )
    return joined[[*sheet.columns, *shown]]


def _write(file: Path, sheet: pd.DataFrame) -> None:
    suffix = file.suffix.lower()
    if suffix == ".xlsx":
        write_whole(file, _workbook(sheet))
    elif suffix == ".jsonl":
        records = (
            {name: None if pd.isna(value) else value for name, value in zip(sheet.columns, row, strict=True)}
            for row in sheet.itertuples(index=False, name=None)
        )
        write_whole(file, "".join(json.dumps(each, ensure_ascii=False, default=str) + "\n" for each in records))
    else:
        text = io.StringIO()
        lines = csv.writer(text, delimiter=tables.separator_of(file), lineterminator="\n")
        lines.writerow(sheet.columns)
        lines.writerows(
            ["" if pd.isna(value) else value for value in row] for row in sheet.itertuples(index=False, name=None)
        )
        write_whole(file, text.getvalue().encode())


def _workbook(sheet: pd.DataFrame) -> bytes:
    """A workbook whose cells are texts, also those that begin as a formula does."""
    openpyxl = extras.optional("openpyxl", "data")
    book = openpyxl.Workbook()
    page = book.active
    for at, row in enumerate([tuple(sheet.columns), *sheet.itertuples(index=False, name=None)], 1):
        for place, value in enumerate(row, 1):
            if pd.isna(value):
                continue
            cell = page.cell(at, place)
            try:
                cell.value = value if isinstance(value, int | float) else str(value)
            except openpyxl.utils.exceptions.IllegalCharacterError as error:
                raise ValueError(
                    f"row {at} holds a control character, which .xlsx cannot store; write .csv or .jsonl"
                ) from error
            if cell.data_type == "f":
                cell.data_type = "s"
    page.freeze_panes = "A2"
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()
