"""Inputs drawn for rating, by chance or from strata, with the probabilities of the draw: what `sample_inputs` draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import groups
from xsumstat.coefficients import arrays
from xsumstat.core import validate
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.dataset import drawn as draws_of_inputs
from xsumstat.dataset import facts, metric_choice, results
from xsumstat.dataset import scores as schema
from xsumstat.inference.allocation import LEAST, allocated, bins, rates
from xsumstat.inference.allocation import drawn as drawn_from
from xsumstat.resampling import draws

SCORE, UNSURE = "score", "unsure"
ALLOCATIONS = ("proportional", UNSURE)
METRICS, SYSTEMS = "metrics", "systems"
_N_STRATA = 4


@dataclass(frozen=True)
class Design:
    """How inputs are drawn, as the keywords of `sample_inputs` say."""

    n: int
    metric: Any
    strata: str | None
    n_strata: int
    allocation: str
    unsure: Any

    @classmethod
    def checked(
        cls, ds: xr.Dataset, n: Any, metric: Any, strata: Any, n_strata: Any, allocation: Any, unsure: Any
    ) -> Design:
        """The keywords, checked."""
        there = [name for name in draws_of_inputs.COORDS if name in ds.coords]
        if there:
            raise ValueError(
                f"ds holds a draw already: {validate.listing(there)}; to draw anew, pass ds.drop_vars({there})"
            )
        n = validate.integer("n", n, LEAST)
        _check_names(ds, strata, unsure)
        if n_strata is not None and strata not in (SCORE, UNSURE):
            raise ValueError(f'n_strata={n_strata!r} is for strata="score" and strata="unsure", got strata={strata!r}')
        n_strata = validate.integer("n_strata", _N_STRATA if n_strata is None else n_strata, 2)
        if allocation is None:
            allocation = UNSURE if strata == UNSURE else "proportional"
        validate.choice("allocation", allocation, ALLOCATIONS)
        if allocation == UNSURE and strata is None:
            raise ValueError('allocation="unsure" needs strata, e.g. strata="unsure"; got strata=None')
        if unsure is not None and UNSURE not in (strata, allocation):
            raise ValueError(f'unsure={unsure!r} is for strata="unsure" or allocation="unsure", and neither is given')
        return cls(n, metric, strata, n_strata, allocation, unsure)


def _check_names(ds: xr.Dataset, strata: Any, unsure: Any) -> None:
    """No coordinate may be called as a way to make strata is."""
    for argument, value, words in (("strata", strata, (SCORE, UNSURE)), ("unsure", unsure, (METRICS, SYSTEMS))):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{argument} must be {', '.join(map(repr, words))} or a coordinate's name, got {value!r}")
        if value in words and value in ds.coords:
            raise ValueError(f"{argument}={value!r} also names a coordinate of ds; rename the coordinate")


def draw(ds: xr.Dataset, design: Design, rng: Any) -> xr.Dataset:
    """The Dataset with the coordinates of `dataset.drawn.COORDS`."""
    score = _scores(ds, design)
    codes, names = _strata(ds, score, design)
    sizes = np.bincount(codes, minlength=len(names))
    least = int(np.minimum(LEAST, sizes).sum())
    if design.n > sizes.sum():
        raise ValueError(f"n must be at most {sizes.sum()}, the number of inputs, got {design.n}")
    if design.n < least:
        why = f", {LEAST} for each of {len(names)} strata" if len(names) > 1 else ""
        raise ValueError(f"n must be at least {least}{why}, got {design.n}")
    rate = np.ones(len(names))
    if design.allocation == UNSURE:
        rate = rates(_unsure(ds, score, design), codes, len(names))
    n_each = allocated(design.n, sizes, rate)
    seed = draws.seed_of(rng)
    chosen = drawn_from(n_each, codes, draws.generator(seed, 0))
    values = {
        draws_of_inputs.PROBABILITY: (n_each / sizes)[codes],
        draws_of_inputs.DRAWN: chosen,
        draws_of_inputs.STRATUM: np.array(names, dtype=object)[codes],
    }
    found = results.of_its_own(ds).assign_coords({name: ("input", each) for name, each in values.items()})
    said = _said(design, len(codes), len(names))
    return found.assign_attrs({draws_of_inputs.HOW: said, draws_of_inputs.SEED: str(seed)})


def _said(design: Design, n_inputs: int, n_strata: int) -> str:
    """How inputs were drawn, in words."""
    if design.strata is None:
        return f"a simple random sample of {design.n:,} of {n_inputs:,} inputs"
    by = {SCORE: "mean score", UNSURE: "how unsure the metrics are"}.get(design.strata, design.strata)
    more = "in proportion to their sizes" if design.allocation != UNSURE else "more where the metrics are unsure"
    return f"a random sample of {design.n:,} of {n_inputs:,} inputs from {n_strata} strata by {by}, {more}"


def _scores(ds: xr.Dataset, design: Design) -> xr.DataArray:
    """The judge's scores in memory, oriented, on a common scale, (..., metric, system, input)."""
    extra = {design.unsure} if design.unsure in ds.dims else set()
    score = schema.prepare_computed(ds, metric_choice.automatic(ds, design.metric))
    further = [dim for dim in score.dims if dim not in facts.CORE and dim not in extra]
    if further:
        raise ValueError(
            f"score has the dims {validate.listing(score.dims)}; select one label of each additional one, or name the "
            f"one whose labels are repeated runs: unsure={further[0]!r}"
        )
    score = score.transpose(*(dim for dim in score.dims if dim not in facts.CORE), *facts.CORE)
    there = score.notnull().any([dim for dim in score.dims if dim not in ("metric", "input")]).all("metric").values
    if not there.all():
        lost = score.indexes["input"][~there] if "input" in score.indexes else np.flatnonzero(~there)
        raise ValueError(
            f"{validate.counted(len(lost), 'input')} without a score of {validate.listing(score.indexes['metric'])}, "
            f"e.g. {validate.listing(lost, 3)}; leave such inputs out before the draw, or name another metric"
        )
    return score.copy(data=_standardised(score.values))


def _standardised(values: FloatArray) -> FloatArray:
    """Each metric's scores, (..., metric, system, input), by their mean and standard deviation; 0 where constant."""
    found = np.empty(values.shape)
    for at in range(values.shape[-3]):
        one = arrays.scaled(values[..., at, :, :])
        spread = np.nanstd(one)
        found[..., at, :, :] = (one - np.nanmean(one)) / spread if spread > 0 else np.where(np.isnan(one), one, 0.0)
    return found


def _strata(ds: xr.Dataset, score: xr.DataArray, design: Design) -> tuple[IntArray, list[str]]:
    """The stratum of each input, and what the strata are called."""
    if design.strata is None:
        return np.zeros(score.sizes["input"], dtype=np.int64), ["all"]
    if design.strata not in (SCORE, UNSURE):
        return groups.of_every_label(ds, "strata", design.strata, "input")
    if design.n_strata * LEAST > score.sizes["input"]:
        raise ValueError(f"n_strata={design.n_strata} is too many for {score.sizes['input']} inputs")
    values = _mean(score) if design.strata == SCORE else _unsure(ds, score, design)
    codes = bins(values, design.n_strata)
    return codes, [f"{design.strata} {at + 1} of {design.n_strata}" for at in range(design.n_strata)]


def _mean(score: xr.DataArray) -> FloatArray:
    """The mean score of each input."""
    return np.asarray(score.mean([dim for dim in score.dims if dim != "input"]).values)


def _unsure(ds: xr.Dataset, score: xr.DataArray, design: Design) -> FloatArray:
    """The judge's uncertainty for each input, a number from 0 on."""
    of = design.unsure or (METRICS if score.sizes["metric"] > 1 else SYSTEMS)
    if of == METRICS or (of in score.dims and of not in facts.CORE):
        dim = "metric" if of == METRICS else of
        if score.sizes[dim] < 2:
            raise ValueError(f"unsure={of!r} needs at least 2 labels of {dim!r}, got {score.sizes[dim]}")
        found = score.std(dim)
        values = np.asarray(found.mean([each for each in found.dims if each != "input"]).values)
    elif of == SYSTEMS:
        if score.sizes["system"] < 2:
            raise ValueError("unsure='systems' needs at least 2 systems, got 1; name a coordinate, or give two metrics")
        spread = score.std("system")
        spread = spread.mean([each for each in spread.dims if each != "input"])
        values = 1.0 / (1.0 + np.asarray(spread / spread.mean() if float(spread.mean()) > 0 else spread))
    else:
        values = _numbers(ds, of)
    if not values.max() > 0:
        raise ValueError(f"unsure={of!r} is 0 for every input, so no input is more unsure than another; leave it out")
    return values


def _numbers(ds: xr.Dataset, name: str) -> FloatArray:
    """A coordinate of the inputs that says how unsure the judge is."""
    numeric = [
        str(each)
        for each, coord in ds.coords.variables.items()
        if coord.dims == ("input",) and coord.dtype.kind in "fiu" and each != "input"
    ]
    if name not in numeric:
        words = [METRICS, SYSTEMS, *numeric]
        raise ValueError(
            f"unsure must be 'metrics', 'systems', a dim of repeated runs, or a coordinate of inputs with numbers, got "
            f"{name!r}{validate.suggestion(name, words)} coordinates: {validate.listing(numeric) or 'none'}"
        )
    values = np.asarray(ds[name].values, dtype=float)
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"unsure={name!r}: the coordinate must hold finite numbers from 0 on, and none may be missing")
    return values
