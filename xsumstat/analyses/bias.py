"""Does a metric see quality, or something else: `bias`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat import _validate
from xsumstat.analyses import groups as slices
from xsumstat.analyses.measure import checked_dims, checked_progress, random_dims, these_systems
from xsumstat.dataset import calibrated, checks, covariates, facts, results
from xsumstat.dataset import scores as schema
from xsumstat.inference import clustered
from xsumstat.inference.jackknife import t_quantile
from xsumstat.resampling import threads
from xsumstat.types import FloatArray

_NAMES = ("slope", "ci_low", "ci_high", "standard_error", "df", "pvalue")
METHODS = ("regression", "difference")


@_validate.public
@slices.with_groups
def bias(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    given: str | xr.DataArray | Sequence[str | xr.DataArray] | None = None,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "system",
    method: str = "regression",
    joint: bool = False,
    resample: str | tuple[str, ...] = "auto",
    confidence_level: float = 0.95,
    by: str | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """How each metric's error against people moves with a covariate, or differs for a group of systems.

    Parameters
    ----------
    {ds}
    {gold}
    given : str, DataArray or list of these
        Covariates: a metric's label such as "length", a coordinate or variable of systems, inputs or both, or such a
        DataArray. One of words or of True and False makes groups: each (of two the second) is set against the rest. It
        has to be given.
    {metric}
    level : {"system", "input", "global", "within_system"}, default "system"
        Of what the errors are: of the systems' means; of the cells, less the mean of their input, or of all, or of
        their system. See Notes for what the noise of human scores does off system level.
    method : {"regression", "difference"}, default "regression"
        What an error is: what a metric's score has beyond what the human score tells, or the difference of both,
        standardised.
    joint : bool, default False
        Put all covariates into one regression, so that each is asked with the others held constant; of words each but
        the first is then set against the first. Default: each by itself, on the outputs that have all of them.
    {resample.auto}
        A group of a single system needs "input".
    {confidence_level}
    {by}
    {progress}

    Returns
    -------
    Dataset
        ``slope``, ``ci_low``, ``ci_high``, ``standard_error``, ``df`` (the degrees of freedom of t) and ``pvalue``
        (two-sided, of a slope of 0), each (metric, covariate, ...). A slope is by how many standard deviations of its
        scores a metric scores higher where the covariate is one standard deviation higher; of a group, than the rest.
        ``is_group(covariate)`` tells groups.

    Raises
    ------
    {errors.scores}

    Warns
    -----
    UserWarning
        For what is left out or undefined, and slopes without an interval, as of a group with one system.

    Notes
    -----
    With x the metric's, z the human score and c the covariate, each less its mean (at input level, of its input) and
    over its standard deviation, "regression" is ``x = β·z + γ·c + e``: γ is how much higher the metric scores at equal
    human scores. "difference" is ``x − z = γ·c + e``.

    Which of the two is right depends on noise, and neither is always. A "difference" takes metric and people to be
    equally reliable: of a metric that is noisier, a group that is truly better seems to be scored too low. A
    "regression" takes the human scores to be the quality itself: noise in them lets a group that is truly better seem
    to be favoured. The means of systems over many inputs have little of that noise, single cells have much: so systems'
    means and "regression" are the default. In simulations in which a metric was not biased, and systems of a group
    were better by one standard deviation, γ was .02 by regression at system level, .19 at input level, and −.14 by
    difference at both (40 inputs; single human scores with as much noise as quality).

    The variance is ``V_s + max(0, V_i − V_c)``, that of the two-way jackknife of `ci`: V_s from the slopes without each
    system, V_i from what inputs move, V_c from what each cell does. At global level and within_system V_i comes from
    the slopes without each input. V_s is divided by what its expectation is too large by. The degrees of freedom of t
    are Satterthwaite's (Bell & McCaffrey 2002), with errors as large as the residuals show them to be: the lesser
    number of V_s and V_i. At system and input level those of inputs are their number less 1. The degrees of freedom are
    few where few systems, or few inputs, decide a slope: for a group of 3 of 12 systems about 3.

    In simulations without a bias (single scores with as much noise as quality, effects of systems and inputs beside,
    200 trials each at the 5 % level), covariates of inputs had p <= .05 in 4 to 6 % of trials at global level and
    within_system (8 systems x 30 inputs, 16 x 40, 16 x 15), covariates of systems in 3 to 4 %, of single outputs in
    2.5 to 6 %. Coverage of 95 % intervals, for 12 to 30 systems and 40 inputs (400 trials of each of 60 designs, system
    and input level), was 94 to 98 % for covariates of systems and 94 to 99 % for groups of 3 systems or more. Intervals
    for a group of 2 of 16 systems are conservative (99 to 100 %).

    References
    ----------
    Bell & McCaffrey (2002), Survey Methodology 28. Cameron, Gelbach & Miller (2011), Journal of Business & Economic
    Statistics 29. MacKinnon, Nielsen & Webb (2024), "Jackknife inference with two-way clustering". Lord (1967), "A
    paradox in the interpretation of group comparisons".

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> found = ds.meta.bias("human", metric=["judge", "rouge"], given=["length", "system_type"], level="input")
    >>> found.meta.to_frame(brief=True)[["metric", "covariate", "slope"]].round(2)
      metric               covariate  slope
    0  judge                  length  -0.00
    1  judge  system_type=extractive   0.12
    2  rouge                  length   0.07
    3  rouge  system_type=extractive  -0.16
    """
    if given is None:
        raise ValueError("bias needs given, a covariate such as 'length', or a coordinate of groups of systems")
    _validate.choice("level", level, _validate.LEVELS)
    _validate.choice("method", method, METHODS)
    _validate.flag("joint", joint)
    dims = checked_dims(resample)
    confidence_level = _validate.fraction("confidence_level", confidence_level)
    ready: dict[str, Any] = {"level": level, "missing": "pairwise", "given": given, "each_word": not joint}
    scores = schema.prepare(ds, gold, metric, these_systems=these_systems(resample, dims), **ready)
    calibrated.refuse(scores.score, "bias")
    dims = random_dims(resample, dims, scores.shape)
    checks.check_resampled(scores.score, dims)
    question = clustered.Question(level, method, _groups(ds, given, joint), dims)
    found = _slopes(scores, question, joint, confidence_level, checked_progress(progress))
    none = found["slope"].isnull()
    text = "no slope is defined, as scores or covariates do not vary beside each other, for"
    scores.later.make(checks.warn_where, none, text, "undefined")
    scores.later.make(
        checks.warn_where,
        ~none & found["standard_error"].isnull(),
        "no interval, as without one system or input the slope is undefined or nothing varies, for",
        "no_interval",
    )
    return results.result(
        found, scores, analysis="bias", method=method, level=level, given=", ".join(scores.given), joint=joint,
        resample=dims, confidence_level=confidence_level,
    )  # fmt: skip


def _groups(ds: xr.Dataset, given: Any, joint: bool) -> tuple[bool, ...]:
    """Which covariates are groups."""
    found = covariates.find(ds, schema.checked_scores(ds), given)
    return tuple(each.is_group for each in covariates.columns(found, each_word=not joint))


def _slopes(
    scores: schema.Scores, question: clustered.Question, joint: bool, confidence_level: float, progress: bool | None
) -> xr.Dataset:
    """The numbers of `_NAMES`; lazy scores have the bars of Dask."""
    lazy, n_metrics = scores.used is not None, scores.score.sizes["metric"]
    n_calls = n_metrics * math.prod(scores.further.values())
    with threads.progress_bar(n_calls, False if lazy else progress, desc="slopes", unit="metric") as bar:

        def each(x: FloatArray, human: FloatArray) -> tuple[FloatArray, ...]:
            slope, error, df = _of_metric(x, human[0], human[1:], question, joint)
            bar()
            return _with_limits(slope, error, df, confidence_level)

        outputs = xr.apply_ufunc(
            each,
            scores.score,
            scores.human,
            input_core_dims=[facts.CELLS, scores.gold_core],
            output_core_dims=[["covariate"]] * len(_NAMES),
            vectorize=True,
            dask="parallelized",
            dask_gufunc_kwargs={"output_sizes": {"covariate": len(question.groups)}},
            output_dtypes=[float] * len(_NAMES),
            keep_attrs=False,
        )
    found = results.together(dict(zip(_NAMES, outputs, strict=True)))
    found = found.assign_coords(covariate=pd.Index(scores.given, dtype=object))
    return found.transpose("metric", "covariate", ...).assign(is_group=("covariate", list(question.groups)))


def _of_metric(
    x: FloatArray, z: FloatArray, given: FloatArray, question: clustered.Question, joint: bool
) -> FloatArray:
    """Slope, standard error and degrees of freedom of each covariate, in one regression or in one each."""
    if joint:
        return clustered.slopes(x, z, given, question)
    alone = [replace(question, groups=(is_group,)) for is_group in question.groups]
    return np.hstack([clustered.slopes(x, z, c[None], how) for c, how in zip(given, alone, strict=True)])


def _with_limits(
    slope: FloatArray, error: FloatArray, df: FloatArray, confidence_level: float
) -> tuple[FloatArray, ...]:
    """The numbers of `_NAMES`, by Student's t."""
    from scipy.special import stdtr

    reach = np.array([t_quantile(confidence_level, each) for each in df]) * error
    pvalue = np.where(np.isnan(error), np.nan, 2 * stdtr(df, -np.abs(slope) / error))
    return slope, slope - reach, slope + reach, error, df, pvalue
