"""What `ds.meta` shows: the data, gaps, and what can be asked."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import chunking, directions, facts, golds, preferences, scope, wording
from xsumstat.io import added
from xsumstat.io import rows as rows_io
from xsumstat.narrative import available, conclusions

_SHOWN = (
    "level",
    "coefficient",
    "method",
    "interval",
    "gold",
    "resample",
    "alternative",
    "n_resamples",
    "confidence_level",
    "seed",
)
_WIDTH = 110


def rows(ds: xr.Dataset) -> list[tuple[str, str]]:
    if available.is_result(ds):
        return _of_result(ds)
    if available.is_scores(ds):
        return _of_scores(ds)
    if preferences.is_preferences(ds):
        return _of_preferences(ds)
    return [
        ("scores", "none: ds.meta needs a variable 'score' with the dims metric, system and input"),
        ("there are", ", ".join(f"{name}{values.dims}" for name, values in ds.data_vars.items()) or "no variables"),
        ("help", "xsumstat.set_dims(ds, ...) renames dims; df.meta.to_scores(...) makes such a Dataset of a frame"),
    ]


def _of_scores(ds: xr.Dataset) -> list[tuple[str, str]]:
    score = ds["score"]
    labels = score["metric"].values.tolist() if "metric" in score.coords else list(range(score.sizes["metric"]))
    sizes = " × ".join(f"{score.sizes[dim]:,} {dim}s" for dim in facts.CORE)
    further = [f"{dim} ({size})" for dim, size in score.sizes.items() if dim not in facts.CORE]
    found = [("scores", sizes), ("metrics", validate.listing(labels, 12))]
    if further:
        found.append(("other dims", ", ".join(map(str, further))))
    gold = ds.attrs.get("gold")
    found.append(
        ("gold", repr(gold) if gold is not None else "not set: name it in each question, or in ds.attrs['gold']")
    )
    found.append(("direction", _directions(ds, labels)))
    found.append(("missing scores", _missing(score, labels)))
    found += [(f"missing: {name}", text) for name, text in _missing_ratings(ds)]
    described = [
        f"{name}({coord.dims[0]})" for name, coord in ds.coords.items() if coord.ndim == 1 and name not in ds.dims
    ]
    if described:
        found.append(("coordinates", ", ".join(described)))
    if rows_io.LEFT_OUT in ds.attrs:
        found.append(("texts left out", str(ds.attrs[rows_io.LEFT_OUT])))
    if rows_io.UNREAD in ds.attrs:
        found.append(("not read as numbers", str(ds.attrs[rows_io.UNREAD])))
    if added.ADDED in ds.attrs:
        found.append(("added", str(ds.attrs[added.ADDED])))
    beside = [f"{name}({', '.join(map(str, values.dims))})" for name, values in ds.data_vars.items() if name != "score"]
    if beside:
        found.append(("other variables", ", ".join(beside)))
    return found + _asked(ds)


def _of_preferences(ds: xr.Dataset) -> list[tuple[str, str]]:
    try:
        choices = preferences.checked(ds)
    except (ValueError, TypeError) as error:
        return [("preferences", str(error)), *_asked(ds)]
    n_prompts, n_pairs, n_orders, _ = choices.values.shape
    people, judges = ([each for each, human in zip(choices.raters, choices.human, strict=True) if human == wanted]
                      for wanted in (True, False))  # fmt: skip
    some = ~np.isnan(choices.values)
    both = int(some.all(axis=2).sum()) if n_orders > 1 else 0
    found = [
        ("preferences", f"{int(some.sum()):,} choices on {n_prompts:,} prompts, {n_pairs:,} pairs"),
        ("systems", validate.listing(choices.systems, 12)),
        ("people", validate.listing(people, 12) or "none: ds.assign_coords(kind=('rater', [...])) names them"),
        ("judges", validate.listing(judges, 12) or "none"),
        ("both orders", f"{both:,} pairs of outputs" if both else "no pair of outputs was shown both ways round"),
    ]
    return found + _asked(ds)


def _asked(ds: xr.Dataset) -> list[tuple[str, str]]:
    found = [(f"ask: {group}" if group else "ask", ", ".join(names)) for group, names in available.of(ds).items()]
    pictures = available.pictures(ds)
    return [*found, ("ask: plot", ", ".join(pictures))] if pictures else found


def _directions(ds: xr.Dataset, labels: list[Any]) -> str:
    try:
        directions.check(ds)
        lower = directions.lower(ds["score"])
    except ValueError as error:
        return str(error)
    if not lower:
        return "higher is better: all"
    named = validate.listing(lower, 12)
    return f"lower is better: {named}" + ("; higher is better: all others" if len(lower) < len(labels) else "")


def _missing(score: xr.DataArray, labels: list[Any]) -> str:
    """Metrics with missing scores and how many; lazy ones are skipped."""
    if chunking.is_lazy(score):
        return "not known before the scores are computed (Dask)"
    absent = score.isnull().sum([dim for dim in score.dims if dim != "metric"]).values
    cells = score.size // max(1, score.sizes["metric"])
    if not absent.any():
        return "none"
    texts = [f"{label}: {count:,} of {cells:,}" for label, count in zip(labels, absent, strict=True) if count]
    more = f", … ({len(texts)} metrics in all)" if len(texts) > 6 else ""
    return ", ".join(texts[:6]) + more


def _missing_ratings(ds: xr.Dataset) -> Iterator[tuple[str, str]]:
    """Variables of ratings with missing ones and how many; lazy ones are skipped."""
    for name, values in golds.ratings_in(ds).items():
        absent = 0 if chunking.is_lazy(values) else int(values.isnull().sum())
        if absent:
            yield name, f"{absent:,} of {values.size:,} ratings"


def _of_result(ds: xr.Dataset) -> list[tuple[str, str]]:
    name = str(ds.attrs["analysis"])
    sizes = ", ".join(f"{dim} ({size})" for dim, size in ds.sizes.items())
    said = conclusions.conclusion(ds)
    found = [("conclusion", said)] if said else []
    found += [
        ("analysis", name),
        ("dims", sizes or "one number each"),
        ("variables", ", ".join(map(str, ds.data_vars))),
    ]
    found += [(key, str(ds.attrs[key])) for key in _SHOWN if key in ds.attrs]
    whom = scope.of(ds.attrs)
    found += [] if whom is None else [("scope", str(whom))]
    corrected = wording.correction_words(ds)
    found += [("p-values", corrected.removeprefix("p-values "))] if corrected else []
    return found + _asked(ds)


def as_text(found: list[tuple[str, str]]) -> str:
    width = max(len(what) for what, _ in found)
    lines = []
    for what, text in found:
        wrapped = what in ("conclusion", "variables")
        of_text = textwrap.wrap(text, _WIDTH - width, break_on_hyphens=False) if wrapped else [text]
        lines += [
            f"  {before:<{width}}  {line}" for before, line in zip((what, *[""] * len(of_text)), of_text, strict=False)
        ]
    return "\n".join(["<xsumstat>", *lines])


def as_html(found: list[tuple[str, str]]) -> str:
    """Rows for a notebook, in the surrounding colours."""
    cell = "text-align:left;vertical-align:top;padding:1px 10px 1px 0"
    lines = (
        f'<tr><th scope="row" style="{cell};white-space:nowrap">{html.escape(what)}</th>'
        f'<td style="{cell};white-space:normal;overflow-wrap:anywhere">{html.escape(wording.printable(text))}</td></tr>'
        for what, text in found
    )
    return (
        '<div role="region" tabindex="0" aria-label="xsumstat" style="overflow-x:auto">'
        f"<table>{''.join(lines)}</table></div>"
    )
