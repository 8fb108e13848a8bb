"""Inputs that were drawn for rating: the coordinates that say so, read and checked."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.coefficients.weights import InputWeights
from xsumstat.core import validate
from xsumstat.core.labels import labels_along, labels_where
from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.dataset import chunking
from xsumstat.dataset.value_checks import Checks

PROBABILITY, DRAWN, STRATUM = "inclusion_probability", "drawn", "draw_stratum"
COORDS = (PROBABILITY, DRAWN, STRATUM)
# Attributes: how inputs were drawn, by which seed, and the columns of the file that raters fill.
HOW, SEED, COLUMNS = "drawn_by", "draw_seed", "rating_columns"
# Probabilities that differ by no more than this factor count as equal: rounding of a proportional allocation.
_EQUAL = 1.25
# Where a larger share of the inputs that were not drawn has human scores, these are not those of the draw.
_MOST_UNDRAWN = 0.5


@dataclass(frozen=True)
class Draw:
    """A stratified random sample: each input's probability (inputs,), whether it was drawn, and its stratum."""

    probability: FloatArray
    drawn: BoolArray
    strata: list[str]

    @property
    def is_equal(self) -> bool:
        """Whether all inputs were about as likely to be drawn."""
        return about_equal(self.probability)

    @property
    def names(self) -> list[str]:
        return sorted(set(self.strata))


def about_equal(probability: FloatArray) -> bool:
    """Whether probabilities differ by no more than rounding of a proportional allocation makes them."""
    return len(probability) == 0 or bool(probability.max() <= _EQUAL * probability.min())


def find(ds: xr.Dataset) -> Draw | None:
    """The draw of the whole Dataset that its coordinates describe, or None where they describe none."""
    draw = _described(ds)
    if draw is not None:
        _check_whole(draw)
    return draw


def _described(ds: xr.Dataset) -> Draw | None:
    """The same, also where only the drawn inputs are left."""
    there = [name for name in COORDS if name in ds.coords]
    if PROBABILITY not in there and STRATUM not in there:
        return None
    lacking = [name for name in COORDS if name not in there]
    if lacking:
        raise ValueError(
            f"the Dataset has the coordinate {there[0]!r} and lacks {validate.listing(lacking)}, so its draw is not "
            f"known; use the Dataset of sample_inputs(), or drop the draw: ds.drop_vars({there})"
        )
    for name in COORDS:
        if ds[name].dims != ("input",):
            raise ValueError(f"the coordinate {name!r} must be along input alone, it has the dims {ds[name].dims}")
    probability = np.asarray(ds[PROBABILITY].values, dtype=float)
    strata = ds[STRATUM].values
    if pd.isna(strata).any():
        raise ValueError(
            f"the coordinate {STRATUM!r} is missing for {validate.counted(int(pd.isna(strata).sum()), 'input')}"
        )
    draw = Draw(probability, np.asarray(ds[DRAWN].values).astype(bool), [str(each) for each in strata])
    _check(draw, labels_along(ds, "input"))
    return draw


def _check(draw: Draw, labels: Sequence[Hashable]) -> None:
    wrong = ~((draw.probability > 0) & (draw.probability <= 1))
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"{PROBABILITY} must be above 0 and at most 1, got {draw.probability[at]:g} for input {labels[at]!r}"
        )
    within = pd.Series(draw.probability).groupby(draw.strata)
    apart = within.max() > within.min() * (1 + 1e-9)
    if apart.any():
        raise ValueError(
            f"{PROBABILITY} must be one number within each {STRATUM}, and differs within {apart[apart].index[0]!r}"
        )
    certain = (draw.probability == 1) & ~draw.drawn
    if certain.any():
        at = int(np.flatnonzero(certain)[0])
        raise ValueError(f"input {labels[at]!r} has {PROBABILITY} 1 and is not {DRAWN}; the coordinates contradict")


def _check_whole(draw: Draw) -> None:
    """Some input that could have been drawn is there, too."""
    if draw.drawn.all() and (draw.probability < 1).any():
        raise ValueError(
            f"every input was drawn, although {PROBABILITY} is below 1: the Dataset seems to hold the drawn inputs "
            "alone, so shares of the strata are not known; use the whole Dataset that sample_inputs() returned, or "
            f"drop the draw to speak of these inputs alone: ds.drop_vars({list(COORDS)})"
        )


def is_of_draw(ds: xr.Dataset, values: xr.DataArray) -> bool:
    """Whether human scores are those of inputs that were drawn with unequal probabilities."""
    seen = _of_unequal(ds, values)
    return seen is not None and _are_of_draw(seen[0].compute().values, seen[1])


def rated_of_draw(score: xr.DataArray, human: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Scores and human scores, in memory, and the human scores without those of inputs that were not drawn."""
    human = human.compute()
    inputs = score.coords[DRAWN].values.astype(bool)
    if chunking.is_lazy(score):
        score, human, inputs = score.isel(input=inputs).compute(), human.isel(input=inputs), inputs[inputs]
    human, lost = of_inputs(human, inputs)
    warn_not_drawn(lost)
    return score, human


def of_inputs(human: xr.DataArray, inputs: BoolArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Human scores of these inputs alone, and which of the others have some, for `warn_not_drawn`."""
    drawn = xr.DataArray(inputs, dims="input")
    lost = (human.notnull() & ~drawn).any([dim for dim in human.dims if dim != "input"])
    return human.where(drawn), lost


def weights(score: xr.DataArray) -> InputWeights:
    """The weight of each input of scores, and its stratum."""
    probability = np.asarray(score.coords[PROBABILITY].values, dtype=float)
    strata = np.unique(score.coords[STRATUM].values.astype(str), return_inverse=True)[1]
    return InputWeights(1.0 / probability, strata.astype(np.int64))


def warn_not_drawn(lost: xr.DataArray) -> None:
    """Name the inputs with human scores that were not drawn."""
    if bool(lost.any()):
        labels = labels_where(lost)
        validate.warn(
            f"{validate.counted(len(labels), 'input')} with human scores, but not drawn: "
            f"{validate.listing(labels, 3)}; this analysis leaves them out",
            "not_drawn",
        )


def warn_ignored(ds: xr.Dataset, values: xr.DataArray, later: Checks | None = None) -> None:
    """Warn that an analysis ignores unequal probabilities, if it sees the human scores of the drawn inputs alone."""
    if seen := _of_unequal(ds, values):
        there, draw = seen
        (later or Checks()).make(_warn_ignored, there.compute() if later is None else there, draw)


def _of_unequal(ds: xr.Dataset, values: xr.DataArray) -> tuple[xr.DataArray, Draw] | None:
    """Which inputs of the Dataset have values, and the draw, if its probabilities are unequal."""
    if not all(name in ds.coords and ds[name].dims == ("input",) for name in COORDS) or "input" not in values.dims:
        return None
    draw = _described(ds)
    if draw is None or about_equal(draw.probability[draw.drawn]):
        return None
    there = values.notnull().any([dim for dim in values.dims if dim != "input"])
    if "input" in ds.indexes and "input" in there.indexes:
        there = there.reindex(input=ds.indexes["input"], fill_value=False)
    return (there, draw) if there.sizes["input"] == len(draw.drawn) else None


def warn_unweighted(ds: xr.Dataset) -> None:
    """The same, of a Dataset with a draw whose human scores an analysis sees."""
    draw = _described(ds)
    assert draw is not None
    _warn_of(draw)


def _warn_ignored(there: xr.DataArray, draw: Draw) -> None:
    if _are_of_draw(there.values, draw):
        _warn_of(draw)


def _warn_of(draw: Draw) -> None:
    low, high = draw.probability[draw.drawn].min(), draw.probability[draw.drawn].max()
    validate.warn_once(
        f"inputs were drawn with unequal probabilities ({PROBABILITY} from {low:.2g} to {high:.2g}), which this "
        "analysis ignores: the result describes the drawn inputs, not all inputs. For all inputs use "
        'ds.meta.system_means() or ds.meta.compare_systems(method="ppi"), for correlations ds.meta.corr() and the '
        'jackknife of ds.meta.ci() and ds.meta.compare_metrics() with level="system" or "input" (Pearson\'s r: any '
        'level), without cluster=, given= and missing="available"; or draw with allocation="proportional"',
        "unequal_probabilities",
    )


def _are_of_draw(rated: BoolArray, draw: Draw) -> bool:
    """Whether rated inputs are those of the draw: some were drawn, and few of the others are rated."""
    return bool(rated[draw.drawn].any()) and (bool(draw.drawn.all()) or rated[~draw.drawn].mean() <= _MOST_UNDRAWN)


def sentence(attrs: Mapping[Any, Any], verb: str = "are") -> str:
    """How the rated inputs of a result were drawn, in words; empty where they were not."""
    how = attrs.get(HOW)
    if how is None:
        return ""
    weighted = " Strata are weighted by their shares of all inputs." if attrs.get("strata") == STRATUM else ""
    if attrs.get("weights") == PROBABILITY:
        weighted = " Each input is weighted by 1 over its probability."
    return f"The rated inputs {verb} {how}.{weighted}"


def attrs_of(ds: xr.Dataset, weights: InputWeights | None) -> dict[str, Any]:
    """Attrs of a result whose inputs have weights."""
    return {} if weights is None else {HOW: ds.attrs.get(HOW), "weights": PROBABILITY}
