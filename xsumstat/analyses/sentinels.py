"""Metrics that see only a part of what a metric should see, added to scores: `sentinels`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.coefficients import arrays
from xsumstat.core import levels, validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import align, checks, covariates, facts, golds, labelled, locate, masks, value_checks
from xsumstat.dataset.directions import SENTINEL, VARIES

SEEN = ("input", "system")


@validate.public
def sentinels(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    level: str = "input",
    sees: str | Sequence[str] | None = None,
    given: Hashable | xr.DataArray | Sequence[Hashable | xr.DataArray] | None = None,
) -> xr.Dataset:
    """Add sentinels: metrics that know only the input, the system or covariates.

    A sentinel cannot tell how good an output is for its input. A metric should beat it.

    Parameters
    ----------
    {ds}
    gold : label, str or DataArray, optional
        Human scores to make sentinels of, also of other systems or inputs. Default ``ds.attrs["gold"]``.
    level : {"system", "input", "global", "within_system"}, default "input"
        Level at which the sentinels will be judged.
    sees : {"input", "system"} or list of these, optional
        Mean human scores to know: of inputs, of systems, or (empty list) none. Default both; "input" at system level.
    given : str, DataArray or list of these, optional
        Covariates of one more sentinel: a metric such as "length", a coordinate, a variable or a DataArray.

    {dataset}
        `ds` with additional metrics "sentinel: input", "sentinel: system" and e.g. "sentinel: length", whose
        ``kind(metric)`` is "sentinel". ``attrs`` record their human scores and level.

    Notes
    -----
    At global and within_system level "sentinel: input" is the mean human score of the *other* systems on the input;
    "sentinel: system" likewise at global and input level. At the other levels they are constant, and their correlation
    is undefined. Covariates predict human scores by least squares; use few. Intervals take sentinels as given. "pdp"
    needs ``level="input"``. Formulas: documentation, "How intervals and tests are computed". Source: Perrella et al.
    (2024), "Guardians of the Machine Translation Meta-Evaluation".

    {demo}
    >>> watched = ds.meta.sentinels("human", level="global", sees="system")
    >>> watched.meta.corr("human", metric=["judge", "sentinel: system"], level="global").correlation.values.round(2)
    array([0.77, 0.49])
    """
    score = locate.checked_scores(ds)
    validate.choice("level", level, levels.LEVELS)
    human, name, own = _gold(ds, score, gold)
    seen = _seen(sees, level)
    _check_shared(human, score, seen if given is None else SEEN)
    later = value_checks.Checks()
    later.make(checks.check_gold, value_checks.of_values(facts.spread, human), name)
    laid = align.laid_out(human, score, name)
    added = {f"{SENTINEL}: {dim}": _mean(human, laid, score, dim, level in VARIES[dim]) for dim in seen}
    if given is not None:
        found = covariates.find(ds, score, given)
        label = ", ".join(str(each[0].source) for each in found)
        validate.unique("sentinels", [*added, f"{SENTINEL}: {label}"])
        added[f"{SENTINEL}: {label}"] = _predicted(laid, score, covariates.columns(found, each_word=False), own, later)
    if not added:
        raise ValueError("sees and given name nothing that a sentinel sees; sees may be 'input', 'system', or both")
    there = score.notnull().any("metric") | laid.notnull()
    outputs = {label: values.where(there) for label, values in added.items()}
    made = {"sentinels": f"of {name}, for level={level!r}", "sentinels_level": level}
    return later.attached(_joined(ds, score, outputs, own).assign_attrs(made))


def _seen(sees: Any, level: str) -> list[str]:
    if sees is None:
        return ["input"] if level == "system" else list(SEEN)
    if not isinstance(sees, str | list | tuple | set):
        raise TypeError(f"sees must be 'input', 'system', or a list of these, got {sees!r:.80}")
    listed = [sees] if isinstance(sees, str) else list(sees)
    for each in listed:
        validate.choice("sees", each, SEEN)
    validate.unique("sees", listed)
    if level == "system" and "system" in listed:
        raise ValueError("sees='system' is the gold itself at level='system', where it reaches 1 whatever the scores")
    return [dim for dim in SEEN if dim in listed]


def _gold(ds: xr.Dataset, score: xr.DataArray, gold: Any) -> tuple[xr.DataArray, str, list[Hashable]]:
    human, name, own = golds.find_gold(ds, score, gold)
    if not set(facts.CELLS) <= set(human.dims):
        raise ValueError(
            f"gold {name!r} must have the dims 'system' and 'input', for sentinels are made of them; it has "
            f"{validate.listing(human.dims)}"
        )
    human = align.as_gold(align.oriented(human, human.dims), score, "input")
    for dim in facts.CELLS:
        if human.sizes[dim] < 2:
            raise ValueError(f"sentinels need gold of at least 2 {dim}s, got {human.sizes[dim]}")
    for dim in (str(dim) for dim in human.dims if dim in score.dims):
        align.have_labels(score, human, dim)
    return human, name, own


def _check_shared(human: xr.DataArray, score: xr.DataArray, seen: Sequence[str]) -> None:
    for dim in (str(dim) for dim in human.dims if dim in score.dims and (dim in seen or dim not in facts.CELLS)):
        if align.have_labels(score, human, dim):
            align.check_shared(score, human, dim)


def _mean(human: xr.DataArray, laid: xr.DataArray, score: xr.DataArray, kept: str, others: bool) -> xr.DataArray:
    core = [kept, "system" if kept == "input" else "input"]
    found = labelled.by_label(_means, [(human, core)], {"whole": [kept], "without": core})
    all_alike = align.laid_out(found["whole"], score, "gold")
    if not others:
        return all_alike
    return align.laid_out(found["without"], score, "gold").where(laid.notnull(), all_alike)


def _means(gold: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of gold (labels, others) each label's mean, and that of all others than each one; others are centred first."""
    power = arrays.exponent(gold)
    there = ~np.isnan(gold)
    values = np.ascontiguousarray(np.where(there, np.ldexp(gold, -power), 0.0))
    level = values.sum() / max(1, there.sum())
    centre = values.sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    values = np.where(there, values - centre, 0.0)
    total, count = values.sum(axis=1)[:, None], there.sum(axis=1)[:, None]
    means = []
    for n, top in ((count, total), (count - there, total - values)):
        means.append(np.ldexp(np.where(n > 0, top / np.maximum(n, 1) + level, np.nan), power))
    return means[0][:, 0], means[1]


def _predicted(
    human: xr.DataArray,
    score: xr.DataArray,
    columns: Sequence[covariates.Covariate],
    own: Sequence[Hashable],
    later: value_checks.Checks,
) -> xr.DataArray:
    covariates.check_apart(columns, own)
    held = [align.laid_out(each.values, score, each.name) for each in columns]
    human, losses = masks.where_given(human, held, "pairwise")
    for column, loss in zip(columns, losses, strict=True):
        later.make(checks.report_given, *loss, column.name)
    inputs = [(align.without_coords(each), facts.CELLS) for each in (human, *held)]
    return labelled.by_label(_fitted, inputs, {"score": facts.CELLS})["score"]


def _fitted(gold: FloatArray, *given: FloatArray) -> FloatArray:
    """Least squares' prediction of scores (systems, inputs) where all that is given is there; NaN of too few scores."""
    x = np.stack([arrays.scaled(each) for each in given], axis=-1)
    there = ~np.isnan(x).any(axis=-1)
    used = there & ~np.isnan(gold)
    out = np.full(gold.shape, np.nan)
    if used.sum() < len(given) + 2:
        return out
    power = arrays.exponent(gold)
    z = np.ldexp(gold[used], -power)
    centre, spread = x[used].mean(axis=0), x[used].std(axis=0)
    unit = (x - centre) / np.where(spread > 0, spread, 1.0)
    slope = np.linalg.lstsq(unit[used], z - z.mean(), rcond=None)[0]
    limit = np.finfo(float).max
    with np.errstate(over="ignore"):
        out[there] = np.clip(np.ldexp(z.mean() + unit[there] @ slope, power), -limit, limit)
    return out


def _joined(ds: xr.Dataset, score: xr.DataArray, added: dict[str, xr.DataArray], own: Sequence[Hashable]) -> xr.Dataset:
    labels = score.indexes["metric"].tolist()
    taken = [label for label in added if label in labels]
    if taken:
        raise ValueError(
            f"the scores already have {validate.named('metric', taken)}; drop these first, with ds.drop_sel"
        )
    if "kind" not in ds.variables:
        kinds = ["human" if label in own else "automatic" for label in labels]
        ds = ds.assign_coords(kind=("metric", np.array(kinds, dtype=object)))
    everyone = np.array([*labels, *added], dtype=object)
    bare = ds.drop_vars("score").assign_coords(metric=("metric", np.array(labels, dtype=object)))
    blanks = {name: _blank(str(name), each) for name, each in bare.variables.items() if "metric" in each.dims}
    wide = bare.reindex(metric=everyone, fill_value=blanks)
    parts = [align.without_coords(score), *(each.expand_dims(metric=[label]) for label, each in added.items())]
    further = dict.fromkeys(str(dim) for each in parts for dim in each.dims if dim not in ds["score"].dims)
    rows = xr.concat(xr.broadcast(*parts, exclude=["metric"]), "metric", coords="minimal", join="override")
    rows = rows.assign_coords(metric=everyone).transpose(*further, *ds["score"].dims).assign_attrs(ds["score"].attrs)
    return wide.assign(score=rows)


def _blank(name: str, values: xr.Variable) -> Any:
    if name == "higher_is_better":
        return True
    if values.dtype.kind in "OU":
        return SENTINEL if name == "kind" else ""
    if values.dtype.kind in "Mm":
        return values.dtype.type("NaT", "ns")
    return {"b": False, "S": b""}.get(values.dtype.kind, np.nan)
