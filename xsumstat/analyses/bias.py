"""Does a metric see quality, or something else: `bias`."""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.analyses import clustering
from xsumstat.analyses import groups as slices
from xsumstat.analyses.measure import (
    AUTO,
    checked_dims,
    checked_measure,
    random_dims,
    these_systems,
)
from xsumstat.core import levels, validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import (
    align,
    calibrated,
    ceilings,
    checks,
    chunking,
    covariates,
    facts,
    golds,
    labelled,
    locate,
    near_copies,
    results,
)
from xsumstat.dataset import scores as schema
from xsumstat.inference import clustered, noisy_gold
from xsumstat.inference.clustered import Question
from xsumstat.inference.jackknife import t_quantile
from xsumstat.inference.pvalues import by_t
from xsumstat.resampling import threads

METHODS = ("regression", "corrected", "difference")
# What the gold's reliability may be where nobody rated an output twice.
RELIABILITIES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_NAMES = ("slope", "ci_low", "ci_high", "standard_error", "df", "pvalue")
_CORRECTED = (*_NAMES, "gold_reliability")
_BY_RELIABILITY = ("corrected_slope", "corrected_pvalue")
# Least number of systems for a regression over their means, and over the outputs of each input.
_FOR_MEANS, _FOR_INPUTS = 8, 3


@validate.public
@functools.partial(slices.with_groups, settled=("level", "method"))
def bias(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    given: str | xr.DataArray | Sequence[str | xr.DataArray] | None = None,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "auto",
    method: str = "auto",
    joint: bool = False,
    reliability: float | Sequence[float] | None = None,
    along: str = "rater",
    resample: str | tuple[str, ...] = "auto",
    confidence_level: float = 0.95,
    cluster: str | tuple[str, ...] | None = None,
    by: str | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Test whether a metric's error depends on a covariate or a group.

    ``ds.meta.bias("human", given="length")`` asks whether metrics favour long outputs beyond their human scores.

    Parameters
    ----------
    {ds gold}
    given : str, DataArray or list of these
        Covariates: a metric such as "length", a coordinate, a variable, a DataArray, or "system": each system. Words or
        booleans make groups: each is compared with the rest (of two, the second with the first). Required.
    {metric}
    level : {"auto", "system", "input", "global", "within_system"}, default "auto"
        Errors of system means, of outputs less their input's mean, of outputs, or of outputs less their system's mean.
        "auto" is the first at which all covariates vary; see ``attrs["level"]``.
    method : {"auto", "corrected", "regression", "difference"}, default "auto"
        "corrected" subtracts the noise of human scores. It needs outputs with two ratings, and is then the default.
        "regression" takes human scores as exact; "difference" compares standardised scores.
    joint : bool, default False
        Put all covariates into one regression. Of words, each but the first is then compared with the first.
    reliability : float or list of floats, optional
        For "regression": reliabilities of the human scores for which to show the slope. Default .5, .6, ..., 1.
    {along.raters resample.auto}
        A group of a single system needs "input", which "auto" is for ``given="system"``.
    {confidence_level cluster by progress}

    {dataset}
        On (metric, covariate, ...): ``slope`` (in SDs of the metric for one SD of the covariate, or for a group),
        ``ci_low``, ``ci_high``, ``standard_error``, ``df``, ``pvalue``; ``is_group(covariate)``. "corrected" adds
        ``gold_reliability``; "regression" adds ``corrected_slope`` and ``corrected_pvalue``, also on reliability.

    Notes
    -----
    Null hypothesis: the slope γ is 0 in ``x = β·z + γ·c + e``, with x the metric, z the human score and c the
    covariate. `resample` sets the scope. With noisy z, "regression" makes unbiased metrics seem biased if c shares
    variance with quality: prefer "corrected", or read ``corrected_slope``. Formulas: documentation, "How intervals and
    tests are computed"; sizes: "Calibration". Sources: Fuller (1987), "Measurement Error Models". Carroll et al.
    (2006). Bell & McCaffrey (2002). Cameron et al. (2011).

    {demo}
    >>> ds.meta.bias("human", metric="judge", given="length", level="input").pvalue.values.round(2)
    array([[0.96]])
    """
    if given is None:
        raise ValueError("bias needs given, a covariate such as 'length', or a coordinate of groups of systems")
    validate.choice("level", level, (AUTO, *levels.LEVELS))
    validate.choice("method", method, (AUTO, *METHODS))
    validate.flag("joint", joint)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    columns = covariates.columns(covariates.find(ds, locate.checked_scores(ds), given), each_word=not joint)
    if isinstance(resample, str) and resample == AUTO and any(each.source == "system" for each in columns):
        resample = "input"  # a system is no sample of systems
    dims = checked_dims(resample)
    method, pooled = _method(ds, gold, method, along)
    level, reason = _level(ds, gold, columns, level, method)
    asked = _Asked(method, joint, confidence_level, _reliabilities(reliability, method))
    names = clustering.checked(cluster, checked_measure(level, "pearson", "pairwise", "drop"), None)
    ready: dict[str, Any] = {"level": level, "missing": "pairwise", "given": given, "each_word": not joint}
    ready |= {"these_systems": these_systems(resample, dims), "over": along if pooled else None}
    scores = schema.prepare(ds, gold, metric, **ready)
    calibrated.refuse(scores.score, "bias")
    dims = random_dims(resample, dims, scores.shape)
    checks.check_resampled(scores, dims)
    near_copies.check(scores, dims, names)
    clusters = clustering.of_scores(scores.score, names, dims)
    question = Question(level, method, tuple(each.is_group for each in columns), dims, clusters)
    lazy = chunking.is_lazy(scores.score) or chunking.is_lazy(scores.gold)
    ended = {} if lazy else ceilings.of(scores.score, scores.gold)
    scores, ratings = _ratings(scores, along, method) if pooled else (scores, None)
    found = _slopes(scores, ratings, question, asked, progress)
    _warn(found, scores, method)
    return results.result(
        found, scores, analysis="bias", method=method, level=level, level_reason=reason, given=", ".join(scores.given),
        joint=joint, resample=dims, confidence_level=confidence_level, cluster=names or None,
        along=along if ratings is not None else None, **ended,
    )  # fmt: skip


@dataclass(frozen=True)
class _Asked:
    method: str
    joint: bool
    confidence_level: float
    reliabilities: tuple[float, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return _NAMES if self.method == "difference" else _CORRECTED


# --- What is asked ---


def _level(
    ds: xr.Dataset, gold: Any, given: Sequence[covariates.Covariate], level: str, method: str
) -> tuple[str, str | None]:
    if level != AUTO:
        return level, None
    score = locate.checked_scores(ds)
    human = golds.find_gold(ds, score, gold)[0]
    systems = _n_systems(score, human)
    if "input" not in human.dims:
        return "system", None
    of_means = systems >= _FOR_MEANS and method != "corrected"
    within = ["input", "within_system"] if facts.share_inputs(score, human) else ["within_system"]
    usual = ["system"] * of_means + within * (systems >= _FOR_INPUTS) + ["global"]
    chosen = next(each for each in usual if all(covariates.varies(one, each) for one in given))
    if chosen == "system":
        return chosen, None
    if chosen == usual[0] == "within_system":
        return chosen, "no input has scores of two systems"
    if chosen == usual[0] and systems >= _FOR_MEANS:
        return chosen, "the noise of single ratings is subtracted"
    if chosen == usual[0]:
        return chosen, f"there {'is' if systems == 1 else 'are'} {validate.counted(systems, 'system')}"
    still = next(each for each in given if not covariates.varies(each, usual[0]))
    return chosen, f"{still.source} describes {still.values.dims[-1]}s only"


def _n_systems(score: xr.DataArray, human: xr.DataArray) -> int:
    """How many systems have scores by a metric and by people; of lazy scores, or without labels, how many there are."""
    if "system" in score.indexes and "system" in human.indexes:
        shared = score.indexes["system"].intersection(human.indexes["system"])
        score, human = score.sel(system=shared), human.sel(system=shared)
    if chunking.is_lazy(score) or chunking.is_lazy(human) or "system" not in human.dims:
        return int(score.sizes["system"])
    some = [
        ~np.isnan(np.moveaxis(each.values, each.get_axis_num("system"), 0))
        .reshape(each.sizes["system"], -1)
        .all(axis=1)
        for each in (score, human)
    ]
    return int((some[0] & some[1]).sum()) if len(some[0]) == len(some[1]) else len(some[0])


def _method(ds: xr.Dataset, gold: Any, method: str, along: str) -> tuple[str, bool]:
    score = locate.checked_scores(ds)
    human, name, _ = golds.find_gold(ds, score, gold)
    validate.column("along", along)
    if along != "rater" and along not in human.dims:
        raise ValueError(f"along={along!r} is not a dim of gold {name!r}; dims: {validate.listing(human.dims)}")
    rated = along in human.dims and along not in score.dims and along not in facts.CORE
    if method == "corrected" and not rated:
        raise ValueError(
            f"method='corrected' needs ratings with the dim {along!r} (see along), and an output with two or more; "
            f"gold {name!r} has the dims {validate.listing(human.dims)}"
        )
    if method not in (AUTO, "corrected") or not rated:
        return "regression" if method == AUTO else method, False
    repeated = bool((human.notnull().sum(along) > 1).any().compute())
    if method == "corrected" and not repeated:
        raise ValueError(
            f"method='corrected' needs an output with two ratings or more; gold {name!r} has at most one per output"
        )
    return "corrected" if repeated else "regression", True


def _reliabilities(reliability: Any, method: str) -> tuple[float, ...]:
    if reliability is None:
        return RELIABILITIES if method == "regression" else ()
    if method != "regression":
        raise ValueError(
            f"reliability={reliability!r} needs method='regression'; method={method!r} "
            f"{'finds it itself' if method == 'corrected' else 'does not use it'}"
        )
    several = reliability if isinstance(reliability, list | tuple | np.ndarray) else [reliability]
    found = tuple(validate.number("reliability", each, 0.0, 1.0) for each in several)
    if not found or 0.0 in found or len(set(found)) < len(found):
        raise ValueError(f"reliability must be different numbers above 0 and up to 1, got {reliability!r}")
    return found


def _ratings(scores: schema.Scores, along: str, method: str) -> tuple[schema.Scores, xr.DataArray | None]:
    """Scores whose gold is the mean of the ratings, and the ratings, where their spread is asked for."""
    ratings = scores.gold
    pooled = replace(scores, gold=ratings.mean(along).transpose(..., *facts.CELLS))
    if method != "corrected":
        return pooled, None
    core = [along, *facts.CELLS]
    return pooled, chunking.whole(align.without_coords(ratings).transpose(..., *core), core)


# --- The numbers ---


def _slopes(
    scores: schema.Scores, ratings: xr.DataArray | None, question: Question, asked: _Asked, progress: bool | None
) -> xr.Dataset:
    lazy = scores.used is not None or (ratings is not None and chunking.is_lazy(ratings))
    n_calls = scores.score.sizes["metric"] * math.prod(scores.further.values())
    by_reliability = _BY_RELIABILITY if asked.reliabilities else ()
    with threads.progress_bar(n_calls, False if lazy else progress, desc="slopes", unit="metric") as bar:

        def each(x: FloatArray, human: FloatArray, *rated: FloatArray) -> tuple[FloatArray, ...]:
            found = _of_metric(x, rated[0] if rated else human[:1], human[1:], question, asked)
            bar()
            return found

        inputs = [(scores.score, facts.CELLS), (scores.human, scores.gold_core)]
        inputs += [] if ratings is None else [(ratings, list(map(str, ratings.dims[-3:])))]
        dims = dict.fromkeys(asked.names, ["covariate"])
        dims |= dict.fromkeys(by_reliability, ["covariate", "reliability"])
        sizes = {"covariate": len(question.groups)}
        sizes |= {"reliability": len(asked.reliabilities)} if by_reliability else {}
        found = results.together(labelled.by_label(each, inputs, dims, sizes=sizes))
    found = found.assign_coords(covariate=pd.Index(scores.given, dtype=object))
    if by_reliability:
        found = found.assign_coords(reliability=list(asked.reliabilities))
    if question.method == "regression" and question.level != "system":
        found = found.drop_vars("gold_reliability")
    order = ["metric", "covariate", *(["reliability"] if by_reliability else [])]
    return found.transpose(*order, ...).assign(is_group=("covariate", list(question.groups)))


def _of_metric(
    x: FloatArray, z: FloatArray, given: FloatArray, question: Question, asked: _Asked
) -> tuple[FloatArray, ...]:
    """The numbers of each covariate, in one regression or in one each; z are ratings, (raters, systems, inputs)."""
    if asked.joint:
        return _of_covariates(x, z, given, question, asked)
    alone = [replace(question, groups=(is_group,)) for is_group in question.groups]
    found = [_of_covariates(x, z, c[None], how, asked) for c, how in zip(given, alone, strict=True)]
    return tuple(np.concatenate(each) for each in zip(*found, strict=True))


def _of_covariates(
    x: FloatArray, z: FloatArray, given: FloatArray, question: Question, asked: _Asked
) -> tuple[FloatArray, ...]:
    if asked.method == "corrected":
        return tuple(noisy_gold.corrected(x, z, given, question, asked.confidence_level))
    slope, error, df = clustered.slopes(x, z[0], given, question)
    numbers = _with_limits(slope, error, df, asked.confidence_level)
    if asked.method == "difference":
        return numbers
    by_reliability = noisy_gold.by_reliability(x, z[0], given, question, asked.reliabilities, df)
    least = noisy_gold.least_reliability(x, z[0], given)
    return *numbers, np.full(len(given), least), *by_reliability


def _with_limits(
    slope: FloatArray, error: FloatArray, df: FloatArray, confidence_level: float
) -> tuple[FloatArray, ...]:
    reach = np.array([t_quantile(confidence_level, each) for each in df]) * error
    pvalue = np.where(np.isnan(error), np.nan, by_t(slope / error, df)[0])
    return slope, slope - reach, slope + reach, error, df, pvalue


def _warn(found: xr.Dataset, scores: schema.Scores, method: str) -> None:
    none = found["slope"].isnull() & found["pvalue"].isnull()
    text = "undefined slope, because scores or covariates do not vary, for"
    if method == "corrected":
        text = f"{text[: text.index(', for')]}, or raters rate too few of the same outputs, for"
    scores.later.make(checks.warn_where, none, text, "undefined")
    scores.later.make(
        checks.warn_where,
        ~none & found["pvalue"].isnull(),
        "no interval, because the slope is undefined without one system, input or cluster, for",
        "no_interval",
    )
