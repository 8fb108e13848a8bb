"""A metric's scores in a `.score` file of mt-metrics-eval, as the rows that `add_metric` joins."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import locate
from xsumstat.io import mtme_names, score_files
from xsumstat.io.cells import values_along

NEW = "new"  # what the coordinate `submission` calls a metric that came after the task


def is_scores(path: Path) -> bool:
    return path.suffix.lower() == score_files.SUFFIX


def rows_of(ds: xr.Dataset, path: Path) -> pd.DataFrame:
    """Rows of lines "SYSTEM SCORE" (or "DOMAIN SYSTEM SCORE"), in the order of the Dataset's inputs."""
    score = locate.checked_scores(ds)
    name, granularity = score_files.named(path)
    _check_reference(ds, path, name)
    own = ds.attrs.get("granularity", granularity)
    if granularity and own != granularity:
        raise ValueError(f"{path.name} has scores of granularity {granularity!r}, and ds of {own!r}")
    inputs = score["input"].values.tolist()
    found = score_files.read_scores(path, score_files.Units(inputs), granularity or "seg")
    return pd.DataFrame(
        {
            "system": np.repeat(np.array(list(found), dtype=object), len(inputs)),
            "input": np.tile(np.array(inputs, dtype=score["input"].dtype), len(found)),
            name: np.concatenate(list(found.values())),
        }
    )


def described(ds: xr.Dataset, names: Iterable[Hashable]) -> dict[Hashable, dict[str, Any]]:
    """What coordinates of WMT's folders say of new metrics: the two parts of the name, and that they are new."""
    references = known_references(ds)
    told: dict[Hashable, dict[str, Any]] = {}
    for name in names:
        base, _, reference = str(name).rpartition("-")
        own = bool(base) and set(mtme_names.parted(reference)) <= references
        told[name] = {
            "base": base if own else str(name),
            "reference": reference if own else "",
            "submission": NEW,
        }
    return told


def _check_reference(ds: xr.Dataset, path: Path, name: str) -> None:
    """Refuse a name that ends in a reference of another folder, as NEW-refC: it is none without a reference."""
    known = known_references(ds) - {mtme_names.WITHOUT, mtme_names.EVERY}
    reference = name.rpartition("-")[2]
    lacking = [each for each in mtme_names.parted(reference) if each not in known]
    if known and lacking and reference != name and re.match("ref[A-Z0-9]", reference):
        raise ValueError(
            f"{path.name} names the reference {lacking[0]!r}, and the scores have {validate.listing(sorted(known))}; "
            f"a metric without a reference is called NAME-{mtme_names.WITHOUT}"
        )


def known_references(ds: xr.Dataset) -> set[str]:
    """What can stand for references in a metric's name: those of other metrics, systems that are one, and words."""
    found = {mtme_names.WITHOUT, mtme_names.EVERY}
    named = [each for each in values_along(ds, "reference", "metric") or [] if isinstance(each, str)]
    found |= {part for each in named for part in mtme_names.parted(each)}
    kinds = values_along(ds, "system_type", "system") or []
    found |= {str(ds["system"].values[at]) for at, kind in enumerate(kinds) if kind == "human"}
    return found - {""}


def check_keywords(path: Path, on: Any, metric: Any) -> None:
    """Refuse names of columns for a file without columns."""
    for argument, value in (("on", on), ("metric", metric)):
        if value is not None:
            raise ValueError(
                f"{argument}={value!r} names columns, but {path.name} has no columns: its lines are 'SYSTEM SCORE', "
                "in the order of the inputs"
            )
