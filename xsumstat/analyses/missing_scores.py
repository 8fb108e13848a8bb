"""Do missing scores depend on quality, and what do they leave open: `missingness`."""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust as families
from xsumstat.analyses import clustering
from xsumstat.coefficients import arrays
from xsumstat.core import arguments, validate
from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.dataset import (
    align,
    checks,
    chunking,
    facts,
    golds,
    labelled,
    locate,
    metric_choice,
    result_attrs,
    results,
)
from xsumstat.dataset import scores as schema
from xsumstat.dataset.value_checks import Checks
from xsumstat.inference import missingness as parts
from xsumstat.resampling import draws, threads

_BY_SYSTEM = ("missing_share", "ci_low", "ci_high", "n_missing", "n_outputs")
_MEANS = ("mean", "mean_low", "mean_high")
_DIFFERENCE = ("difference", "difference_low", "difference_high")
_ACCURACY = ("accuracy", "accuracy_low", "accuracy_high")
_COUNTS = ("n_undecided", "n_pairs")
_DIMS = {
    **dict.fromkeys((*_BY_SYSTEM, *_MEANS), "system"),
    "missing_by_score": "human_quarter",
    "pvalue": "test",
}
_NAMES = (*_BY_SYSTEM, *_MEANS, "missing_by_score", *_DIFFERENCE, "pvalue", *_ACCURACY, *_COUNTS)
LEVELS = ("auto", "input", "global", "within_system")


@validate.public
def missingness(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "auto",
    outputs: str = "scored",
    score_range: tuple[float, float] | Mapping[Any, tuple[float, float]] | None = None,
    adjust: str | None = "holm",
    alpha: float = 0.05,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Test whether missing scores depend on systems and on human scores, and bound what they leave open.

    Parameters
    ----------
    {ds gold metric}
    level : {"auto", "input", "global", "within_system"}, default "auto"
        Which pairs of outputs the bounds of `accuracy` compare: on the same input, all, or of the same system. "auto":
        "input", or "global" for one system.
    outputs : {"scored", "all"}, default "scored"
        Outputs that should have a score: those that some metric or rater scored, or all systems on all inputs.
    score_range : (low, high) or mapping, optional
        Lowest and highest possible score, or one pair per metric. Default: the grades of ``to_scores(labels=)``, else
        the metric's lowest and highest score, with a warning.
    {adjust.raters}
    alpha : float, default 0.05
        Significance level of ``significant``, between 0 and 1.
    n_resamples : int, default 1999
        Number of permutations.
    {confidence_level}
    {rng}
    {progress}

    {dataset}
        On (metric, system): ``missing_share`` with ``ci_low`` and ``ci_high`` (Wilson), ``n_missing``, ``n_outputs``,
        and ``mean`` of the scores that are there with ``mean_low`` and ``mean_high``. On (metric, human_quarter):
        ``missing_by_score``. On (metric, test): ``pvalue``, ``pvalue_adjusted`` and ``significant``. On (metric,):
        ``difference``, the mean human score of outputs without a score less that of the others, with
        ``difference_low`` and ``difference_high``; pairwise ``accuracy`` with ``accuracy_low`` and ``accuracy_high``;
        ``n_undecided``, of ``n_pairs``: pairs of systems whose order by mean is open. Lazy (Dask) for lazy scores.

    Notes
    -----
    Null hypotheses. "system": all outputs of an input are equally likely to lack a score (Cochran's Q). "score within
    inputs": the same, against higher or lower human scores. "score between inputs": an input's share of missing scores
    is independent of its mean human score. Permutations exchange outputs within inputs, or inputs.

    ``mean_low``, ``mean_high``, ``accuracy_low`` and ``accuracy_high`` are Manski's bounds for these outputs: any
    missing scores within the range, in any order. ``mean`` and ``accuracy`` assume scores missing at random. Sources:
    Manski (2003), "Partial Identification of Probability Distributions". Cochran (1950), "The comparison of percentages
    in matched samples". Rubin (1976), "Inference and missing data".

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo").sel(metric=["judge", "human"])
    >>> human = ds.score.sel(metric="human")
    >>> refused = ds.assign(score=ds.score.where((ds.metric == "human") | (human > 45)))
    >>> found = refused.meta.missingness("human", score_range=(0, 120), rng=1)
    >>> found[["accuracy", "accuracy_low", "accuracy_high"]].meta.to_frame(brief=True).round(2)
      metric  accuracy  accuracy_low  accuracy_high
    0  judge      0.76           0.6           0.81
    """
    how = _How.checked(level, outputs, n_resamples, confidence_level, rng)
    families.check_correction(adjust, None, ["metric", "test"])
    alpha = validate.fraction("alpha", alpha)
    scores = _prepared(ds, gold, metric, how)
    ends, known = _range(scores, score_range, ds)
    found = _estimated(scores, ends, how, progress)
    scores.later.make(_check, found, ends, known)
    attrs = {"level": how.level_of(scores.score), "outputs": outputs, "n_resamples": how.n_resamples}
    attrs |= {"seed": str(how.seed), "confidence_level": confidence_level, "alpha": alpha, "method": "permutation"}
    dims = tuple(dict.fromkeys((*scores.score.dims, *scores.gold.dims)))
    result = results.result(
        found,
        dims,
        analysis="missingness",
        gold=scores.name,
        **result_attrs.of_labels(scores.score, scores.dropped),
        **attrs,
    )
    if adjust is not None:
        result = families.adjusted(result, adjust, ["metric", "test"])
    return scores.later.attached(families.decided(result, alpha, _NAMES))


@dataclass(frozen=True)
class _How:
    """What was asked."""

    level: str
    outputs: str
    n_resamples: int
    confidence_level: float
    seed: int

    @classmethod
    def checked(cls, level: Any, outputs: Any, n_resamples: Any, confidence_level: Any, rng: Any) -> _How:
        """From the keywords."""
        return cls(
            validate.choice("level", level, LEVELS),
            validate.choice("outputs", outputs, ("scored", "all")),
            validate.n_draws("n_resamples", n_resamples, 1),
            validate.fraction("confidence_level", confidence_level),
            draws.seed_of(rng),
        )

    def level_of(self, score: xr.DataArray) -> str:
        """Whose pairs are compared."""
        return self.level if self.level != "auto" else "global" if score.sizes["system"] < 2 else "input"


@dataclass(frozen=True)
class _Scores:
    """Scores and gold with all their gaps, aligned.

    Attributes
    ----------
    score, gold : DataArray
        As they came, (..., metric, system, input) and (..., system, input).
    oriented, oriented_gold, exists : DataArray
        The same, higher being better; which outputs there are, (..., system, input).
    name, dropped
        What the gold is called; labels that only one of score and gold has.
    """

    score: xr.DataArray
    gold: xr.DataArray
    oriented: xr.DataArray
    oriented_gold: xr.DataArray
    exists: xr.DataArray
    name: str
    dropped: dict[str, list[Hashable]]
    later: Checks


def _prepared(ds: Any, gold: Any, metric: Any, how: _How) -> _Scores:
    score = locate.checked_scores(ds)
    clustering.warn_of_documents(score, ("input",), "missingness has no cluster=, so keep one input of each {unit}")
    human, name, own = golds.find_gold(ds, score, gold)
    chosen = metric_choice.judged_places(score, metric, own, name)
    facing = align.oriented(human, human.dims)
    score, human, dropped = align.aligned(align.in_order(score, facts.CORE), align.as_gold(human, score, "global"))
    facing = align.as_gold(facing, score, "global").sel({dim: human.indexes[dim] for dim in human.indexes})
    checks.check_sizes(score, how.level_of(score), these_systems=True)
    exists = _exists(score, human) if how.outputs == "scored" else xr.ones_like(human, dtype=bool)
    picked = score.isel(metric=chosen)
    later = schema.checks_of(picked, human, name)
    return _Scores(picked, human, align.oriented(picked, ("metric",)), facing, exists, name, dropped, later)


def _exists(score: xr.DataArray, gold: xr.DataArray) -> xr.DataArray:
    """The outputs that some metric, in some run, or some person scored."""
    over = ["metric", *(dim for dim in ("run", "rater", "reference") if dim in score.dims)]
    by_people = align.without_coords(gold).notnull()
    return align.without_coords(score).notnull().any(over) | by_people.any(
        [dim for dim in ("run", "rater", "reference") if dim in gold.dims]
    )


def _range(scores: _Scores, given: Any, ds: xr.Dataset) -> tuple[tuple[xr.DataArray, xr.DataArray], list[bool]]:
    """The lowest and the highest possible score of each metric, and whether they are known."""
    score = scores.score
    labels = score.indexes["metric"].tolist()
    over = [dim for dim in score.dims if dim != "metric"]
    least, most = (each(align.without_coords(score), over) for each in (xr.DataArray.min, xr.DataArray.max))
    texts = golds.texts_of(ds)
    if given is None:
        given = dict.fromkeys(_in_codes(least, most, len(texts)), (0.0, len(texts) - 1.0)) if texts else {}
    if not isinstance(given, Mapping):
        given = dict.fromkeys(labels, given)
    for label, value in given.items():
        validate.known("metric in score_range", label, labels, "metrics")
        _check_range(value)
    ends = []
    for at, end in enumerate((least, most)):
        told = [float(given[each][at]) if each in given else np.nan for each in labels]
        ends.append(xr.DataArray(told, {"metric": least["metric"]}, ("metric",)).fillna(end))
    scores.later.make(_check_inside, *ends, least, most)
    return (ends[0], ends[1]), [each in given for each in labels]


def _in_codes(least: xr.DataArray, most: xr.DataArray, n: int) -> list[Hashable]:
    """The metrics whose scores can be codes of n texts: a judge beside them may score from 0 to 100."""
    inside = (least >= 0) & (most <= n - 1)
    return [label for label, fits in zip(least.indexes["metric"], inside.values, strict=True) if fits]


def _check_range(value: Any) -> None:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise TypeError(f"score_range must be the lowest and the highest score, such as (1, 5), got {value!r}")
    low, high = (validate.number("score_range", each, -np.inf, np.inf) for each in value)
    if not low < high:
        raise ValueError(f"score_range must be the lowest and the highest score, such as (1, 5), got {value!r}")


def _estimated(
    scores: _Scores, ends: tuple[xr.DataArray, xr.DataArray], how: _How, progress: bool | None
) -> xr.Dataset:
    """All numbers of each metric and further label."""
    cells = list(facts.CELLS)
    beside = (scores.oriented, scores.gold, scores.oriented_gold, scores.exists)
    plain = [align.without_coords(each) for each in beside]
    laid = (scores.score, *plain)
    inputs: list[Any] = [*((each, cells) for each in laid), *((end, []) for end in ends)]
    dims = {name: [f"_{_DIMS[name]}"] if name in _DIMS else [] for name in _NAMES}
    sizes = {"_system": scores.score.sizes["system"], "_test": len(parts.TESTS), "_human_quarter": 4}
    further = {dim: size for each in laid for dim, size in each.sizes.items() if dim not in cells}
    lazy = any(chunking.is_lazy(each) for each in laid)  # these are computed when there is no bar any more
    with threads.progress_bar(math.prod(further.values()), False if lazy else progress, unit="metric") as bar:
        of_metric = functools.partial(_of_metric, how=how, level=how.level_of(scores.score), bar=bar)
        found = labelled.by_label(of_metric, inputs, dims, sizes=sizes)
    every = xr.Dataset(found).rename({name: name[1:] for name in sizes})
    labels = {"test": list(parts.TESTS), "human_quarter": list(parts.QUARTERS)}
    of_systems = {name: each.variable for name, each in scores.score.coords.items() if each.dims == ("system",)}
    return every.assign_coords({**labels, **of_systems}).transpose("metric", "system", "human_quarter", "test", ...)


def _of_metric(
    score: FloatArray,
    oriented: FloatArray,
    gold: FloatArray,
    oriented_gold: FloatArray,
    exists: BoolArray,
    low: float,
    high: float,
    *,
    how: _How,
    level: str,
    bar: threads.Bar,
) -> tuple[Any, ...]:
    """The numbers of `_NAMES` of one metric."""
    there = ~np.isnan(score)
    lacks = exists & ~there
    power = arrays.exponent(gold)  # of scores whose products would be too small
    missing = parts.Missing(lacks, there, np.ldexp(gold, -power))
    means = parts.bounds_of_means(score, lacks, float(low), float(high))
    numbers = (
        *missing.by_system(how.confidence_level),
        *means,
        missing.by_quarter(),
        *np.ldexp(missing.difference(how.confidence_level), power),
        missing.pvalues(how.n_resamples, draws.generator(how.seed, 0)),
        *parts.accuracy(oriented, oriented_gold, lacks, level),
        *parts.undecided(means),
    )
    bar()
    return numbers


def _check(found: xr.Dataset, ends: tuple[xr.DataArray, xr.DataArray], known: list[bool]) -> None:
    """Warn of metrics without a known range, and of what has no interval."""
    lacking = found["n_missing"].sum("system") > 0
    some = lacking.any([dim for dim in lacking.dims if dim != "metric"])
    for at in np.flatnonzero(some.values & ~np.array(known)).tolist():
        low, high = (float(end.isel(metric=at)) for end in ends)
        validate.warn(
            f"the range of {found['metric'].values.tolist()[at]!r} is not known. Bounds of its means use its lowest "
            f"and highest score, {low:g} and {high:g}"
            f"{arguments.only_in_python('; missingness(score_range=(low, high)) names another')}.",
            "observed_range",
        )
    checks.warn_where(
        found["difference"].notnull() & found["difference_low"].isnull(),
        "no interval of the difference, as the outputs without a score are all on one input, for",
        "no_interval",
    )


def _check_inside(low: xr.DataArray, high: xr.DataArray, least: xr.DataArray, most: xr.DataArray) -> None:
    """No score lies outside of the range that was given."""
    outside = (least < low) | (most > high)
    if outside.values.any():
        at = int(np.flatnonzero(outside.values)[0])
        given = f"({float(low[at]):g}, {float(high[at]):g})"
        has = f"from {float(least[at]):g} to {float(most[at]):g}"
        raise ValueError(
            f"score_range={given} does not contain the scores of {low['metric'].values.tolist()[at]!r}, {has}"
        )
