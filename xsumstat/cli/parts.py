"""The part of the scores that `--only COLUMN=LABEL` names: one label of a dim, or the outputs with a label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import facts
from xsumstat.io import words

_OPTION = "--only"


def named(given: Sequence[str]) -> dict[str, str]:
    """Columns with the label that is kept, from COLUMN=LABEL."""
    found: dict[str, str] = {}
    for text in given:
        name, sign, label = text.partition("=")
        if not (name and sign and label):
            raise ValueError(f"{_OPTION} must be COLUMN=LABEL, as criterion=helpfulness, got {text!r}")
        if name in found:
            raise ValueError(f"{_OPTION} names {name!r} twice; several labels of one column cannot be kept together")
        found[name] = label
    return found


def describes(frame: pd.DataFrame, name: str, keys: Sequence[str]) -> bool:
    """Whether a column has one value for each label of a key, a system or an input."""
    there = [key for key in keys if key in frame.columns]
    return any(bool((frame.groupby(key)[name].nunique() <= 1).all()) for key in there)


def only(ds: xr.Dataset, chosen: Mapping[str, str]) -> xr.Dataset:
    """Scores and ratings with these labels; an additional dim is dropped."""
    for name, label in chosen.items():
        known = [str(each) for each in [*ds.dims, *ds.coords] if each != "metric"]
        validate.known(f"column of {_OPTION}", name, list(dict.fromkeys(known)), "columns of labels")
        labels = ds[name]
        texts = list(map(words.written, np.ravel(labels.values).tolist()))
        if labels.ndim != 1 or labels.dims == ("metric",):
            if set(texts) - {"nan", "None"} == {label}:  # only these rows of a table were read
                continue
            raise ValueError(f"{_OPTION} {name}={label}: {name!r} has no label for each system, input or dimension")
        validate.known(f"label of {_OPTION} {name}", label, list(dict.fromkeys(texts)), "labels")
        places = np.flatnonzero([text == label for text in texts])
        dim = labels.dims[0]
        ds = ds.isel({dim: places}) if dim in facts.CELLS else ds.isel({dim: int(places[0])}, drop=True)
    return ds
