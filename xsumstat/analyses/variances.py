"""Components of the variance of human scores and metrics: `variance_components`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from xsumstat.analyses.raters import higher_is_better, ratings_of
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import align, checks, drawn, facts, golds, labelled, locate, metric_choice, result_attrs, results
from xsumstat.dataset import scores as schema
from xsumstat.dataset.value_checks import Checks
from xsumstat.inference import components

N_INPUTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
N_RATERS = (1, 2, 3, 5, 10)
_MATRIX = ["_effect", "_row", "_column"]
_OUTPUTS = ("covariance", "covariance_error", "correlation", "raw")


@validate.public
def variance_components(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    rating: str | xr.DataArray | None = None,
    along: str = "rater",
    n_inputs: int | Sequence[int] = N_INPUTS,
    n_raters: int | Sequence[int] = N_RATERS,
    repair: bool = True,
) -> xr.Dataset:
    """Variance of scores between systems, between inputs and of single outputs.

    Parameters
    ----------
    {ds gold metric}
    rating : str or DataArray, optional
        Single ratings (system, input, `along`): their mean is then the human score, and raters have a variance.
    {along.raters}
    n_inputs : int or list of int, default 1, 2, 5, 10, ... 1,000
        Numbers of inputs for the reliability; a list gives a dim of that name.
    n_raters : int or list of int, default 1, 2, 3, 5 and 10
        With `rating`: numbers of raters for the reliability; a list gives a dim of that name.
    repair : bool, default True
        Set negative variances to 0 and make correlations consistent. False returns the unbiased estimates.

    {dataset}
        The human scores are the first metric; ``effect`` is "system", "input", "cell", with `rating` also "rater",
        "residual". On (metric, effect): ``variance``, ``standard_error``, ``share``. On (metric, other_metric, effect):
        ``covariance``, ``covariance_error``, ``correlation``. ``n_cells(metric, other_metric)``.
        ``reliability(metric, n_inputs[, n_raters])``.

    Notes
    -----
    Assumption: a score is the sum of a mean and uncorrelated effects of its system, input and cell (the output itself),
    and scores are missing at random; scores need not be normal. Estimates are Henderson's method I. Reliability is
    ``σ_s²/(σ_s² + σ_c²/m)`` for means over m inputs. With few systems check ``standard_error`` (jackknife) first.
    Formulas: documentation, "How intervals and tests are computed". Sources: Henderson (1953). Searle, Casella &
    McCulloch (1992), chapter 5. Brennan (2001), "Generalizability Theory".

    {demo}
    >>> ds.meta.variance_components("human", metric="judge").share.values.round(2)
    array([[0.27, 0.1 , 0.63],
           [0.31, 0.1 , 0.59]])
    """
    validate.flag("repair", repair)
    inputs = validate.integers("n_inputs", n_inputs, 1)
    raters: list[int] | None = validate.integers("n_raters", n_raters, 1)
    if rating is None:
        raters = None
        if validate.text("along", along) != "rater":
            raise ValueError(f"along={along!r} is the dim of the raters in rating, which is not given; add rating=...")
    scores = _prepared(ds, gold, metric, rating, along)
    effects = components.EFFECTS if rating is None else components.EFFECTS_OF_RATINGS
    found = _estimated(scores, list(effects), repair)
    scores.later.make(_check, found.pop("raw"), repair)
    result = xr.Dataset(found)
    variance, error = (_diagonal(result[name]) for name in ("covariance", "covariance_error"))
    result["variance"], result["standard_error"] = variance, error
    total = variance.sum("effect")
    result["share"] = (variance / total.where(total > 0)).where(variance.notnull())
    result["n_cells"] = _n_cells(scores)
    result["reliability"] = _reliability(variance, inputs, raters)
    for name, given in (("n_inputs", n_inputs), ("n_raters", n_raters)):
        if name in result.dims and not validate.is_list(given):
            result = result.squeeze(name, drop=True)
    order = [*_ORDER, *(name for name in result.data_vars if name not in _ORDER)]
    dims = tuple(dict.fromkeys((*scores.score.dims, *scores.gold.dims)))
    attrs = {
        "gold": scores.name,
        "method": "henderson",
        "repair": repair,
        "rating": scores.rating,
        **result_attrs.of_labels(scores.score, scores.dropped),
    }
    if rating is not None:
        dims, attrs["along"] = (*dims, along), along
    return scores.later.attached(results.result(result[order], dims, analysis="variance_components", **attrs))


_ORDER = ("variance", "standard_error", "share", "reliability")


@dataclass(frozen=True)
class _Scores:
    score: xr.DataArray
    gold: xr.DataArray
    ratings: xr.DataArray | None
    labels: list[Hashable]
    rating: str | None
    dropped: dict[str, list[Hashable]]
    later: Checks

    @property
    def name(self) -> str:
        return str(self.labels[0])

    @property
    def index(self) -> npt.NDArray[Any]:
        return np.array(self.labels, dtype=None if len({type(each) for each in self.labels}) == 1 else object)


def _prepared(ds: Any, gold: Any, metric: Any, rating: Any, along: str) -> _Scores:
    score, ratings, called = locate.checked_scores(ds), None, None
    own: list[Hashable] = []
    if rating is None:
        human, name, own = golds.find_gold(ds, score, gold)
        drawn.warn_ignored(ds, human)
    else:
        if gold is not None:
            raise ValueError("gold and rating are both given; with rating= the mean of the ratings is the gold")
        ratings, called = ratings_of(ds, rating, along)
        ratings = align.without_coords(higher_is_better(ds, ratings, along)).transpose(..., "system", "input", along)
        human, name = ratings.mean(along), called
    chosen = metric_choice.judged_places(score, metric, own, name)
    labels = [score.indexes["metric"][at] for at in chosen]
    if name in map(str, labels):
        raise ValueError(f"gold is called {name!r} and so is a metric; rename one of them")
    score = align.oriented(score.isel(metric=chosen), ("metric",)).transpose(..., *facts.CORE)
    human = align.as_gold(align.oriented(human, human.dims), score, "global")
    score, human, dropped = align.aligned(score, human)
    checks.check_sizes(score, "global")
    if ratings is not None:
        there = {dim: human.indexes[dim] for dim in facts.CELLS if dim in ratings.indexes}
        ratings = ratings.sel(there)
    later = schema.checks_of(score, human, name)
    schema.report_unscored(score, later)
    names = [own[0] if own else name, *labels]
    return _Scores(score, human, ratings, names, called, dropped, later)


def _check(raw: xr.DataArray, repair: bool) -> None:
    own = _diagonal(raw)
    if "residual" in own["effect"].values:  # metrics have no raters
        metrics = xr.DataArray(np.arange(own.sizes["metric"]) > 0, dims="metric")
        own = own.where(~(own["effect"].isin(["rater", "residual"]) & metrics), 0.0)
    checks.warn_where(own.isnull(), "undefined component: too few shared outputs to separate the effects, of")
    what = "negative, and set to 0" if repair else "negative"
    checks.warn_where(own < 0, f"the estimate of a variance is {what}, for", "negative_variance")


def _diagonal(matrices: xr.DataArray) -> xr.DataArray:
    at = xr.DataArray(np.arange(matrices.sizes["metric"]), dims="metric")
    return matrices.isel(metric=at, other_metric=at).drop_vars("other_metric").transpose("metric", "effect", ...)


# --- Estimates ---


def _estimated(scores: _Scores, effects: list[str], repair: bool) -> dict[str, xr.DataArray]:
    inputs = [(scores.score, facts.CORE), (scores.gold, facts.CELLS)]
    inputs += [] if scores.ratings is None else [(scores.ratings, tuple(map(str, scores.ratings.dims[-3:])))]
    inputs = [(align.without_coords(each), core) for each, core in inputs]
    sizes = dict(zip(_MATRIX, (len(effects), len(scores.labels), len(scores.labels)), strict=True))
    found = labelled.by_label(partial(_of_label, repair=repair), inputs, dict.fromkeys(_OUTPUTS, _MATRIX), sizes=sizes)
    coords = {"effect": effects, "metric": scores.index, "other_metric": scores.index}
    names = dict(zip(_MATRIX, ("effect", "metric", "other_metric"), strict=True))
    return {
        name: each.rename(names).assign_coords(coords).transpose("metric", "other_metric", "effect", ...)
        for name, each in found.items()
    }


def _of_label(score: FloatArray, gold: FloatArray, ratings: FloatArray | None = None, *, repair: bool) -> Any:
    values = np.concatenate([gold[None], score])
    exponent = [np.frexp(np.nanmax(np.abs(each), initial=0.0))[1] for each in values]
    values = np.ldexp(values, -np.array(exponent)[:, None, None])
    raw, error = components.estimates(values, tuple(components.EFFECTS.values()))
    if ratings is not None:
        effects = tuple(components.EFFECTS_OF_RATINGS.values())
        own, own_error = components.estimates(np.ldexp(ratings, -exponent[0])[None], effects)
        blank = np.full((len(effects) - len(raw), *raw.shape[1:]), np.nan)
        raw, error = np.concatenate([raw, blank]), np.concatenate([error, blank])
        raw[:, 0, 0], error[:, 0, 0] = own[:, 0, 0], own_error[:, 0, 0]
    fitting = components.repaired(raw)
    sd = np.sqrt(np.diagonal(fitting, axis1=1, axis2=2))
    scale = sd[:, :, None] * sd[:, None]
    r = np.clip(np.divide(fitting, scale, out=np.full_like(raw, np.nan), where=scale > 0), -1.0, 1.0)
    powers = np.add.outer(exponent, exponent)
    used = fitting if repair else raw
    return tuple(np.ldexp(each, powers) for each in (used, error)) + (r, raw)


def _n_cells(scores: _Scores) -> xr.DataArray:
    human = align.without_coords(scores.gold).notnull().expand_dims("metric")
    automatic = align.without_coords(scores.score).notnull().drop_vars("metric", errors="ignore")
    there = xr.concat(xr.broadcast(human, automatic, exclude=["metric"]), "metric").astype(float)
    found: xr.DataArray = xr.dot(there, there.rename(metric="other_metric"), dim=list(facts.CELLS)).astype(int)
    return found.assign_coords(metric=scores.index, other_metric=scores.index)


def _reliability(variance: xr.DataArray, n_inputs: list[int], n_raters: list[int] | None) -> xr.DataArray:
    inputs = xr.DataArray(n_inputs, {"n_inputs": n_inputs}, ("n_inputs",))
    part = {str(name): variance.sel(effect=name, drop=True).clip(min=0) for name in variance["effect"].values}
    noise = part["cell"] / inputs
    if n_raters is not None:
        raters = xr.DataArray(n_raters, {"n_raters": n_raters}, ("n_raters",))
        noise = noise + part["residual"].fillna(0.0) / (inputs * raters)
    total = part["system"] + noise
    dims = ["metric", "n_inputs"] if n_raters is None else ["metric", "n_inputs", "n_raters"]
    found: xr.DataArray = part["system"] / total.where(total > 0)
    return found.transpose(*dims, ...)
