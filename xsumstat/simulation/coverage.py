"""How often intervals hold the truth, by simulation: `coverage`."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.analyses.measure import Measure, checked_progress
from xsumstat.dataset import results
from xsumstat.inference.intervals import INTERVALS as INTERVAL_NAMES
from xsumstat.inference.intervals import normal_quantile
from xsumstat.resampling import bootstrap, draws, jackknife, studentized
from xsumstat.resampling.bootstrap import BootstrapInterval, Estimates, Target
from xsumstat.simulation import simulate as simulation
from xsumstat.simulation import trials
from xsumstat.simulation.designs import Design, Questions, Scores, Source
from xsumstat.types import CorrelationFunction, FloatArray

# What is looked at unless something else is named: keywords of `ci`.
INTERVALS: dict[str, dict[str, Any]] = {
    "jackknife": {"method": "jackknife"},
    "fisher": {"method": "fisher"},
    "system": {"resample": "system"},
    "input": {"resample": "input"},
    "both": {"resample": "both"},
    "bca": {"interval": "bca"},
    "corrected": {"interval": "corrected"},
}
METHODS = ("bootstrap", "fisher", "jackknife")
_KEYWORDS: dict[str, Any] = {"method": "bootstrap", "interval": "percentile", "resample": "both"}

# What is known of each trial, interval and target.
_NUMBERS = ("coverage", "misses_low", "misses_high", "width", "estimate")


@_validate.public
def coverage(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    other: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str | Sequence[str] = "system",
    coefficient: str | CorrelationFunction | Sequence[str | CorrelationFunction] = "pearson",
    intervals: Mapping[str, Mapping[str, object]] | None = None,
    truth: str = "halves",
    n_systems: int | Sequence[int] | None = None,
    n_inputs: int | Sequence[int] | None = None,
    n_trials: int = 1000,
    n_resamples: int = 999,
    confidence_level: float = 0.95,
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """How often each kind of interval holds what it should, over many trials.

    Parameters
    ----------
    {ds}
        Without further dims.
    {gold}
    {metric}
    other : label, list of labels or bool DataArray, optional
        Other metrics: intervals of the difference of `metric`'s correlation and that of each of these, which should
        hold the difference of the true ones (or of those of the other half).
    {level.list}
    {coefficient.list}
    intervals : mapping, optional
        Intervals by name, and for each the keywords `method`, `interval` and `resample` of `ci`. What is not named is
        "bootstrap" (where `ci` has "auto"), "percentile" and "both"; the other methods are "jackknife" and "fisher".
        Default "jackknife", "fisher" (where there is one), "system", "input" and "both" (percentile intervals), "bca"
        and "corrected".
    truth : {"halves", "population"}, default "halves"
        "halves": in each trial systems and inputs are each split in two at random; the interval is made of one half's
        scores on one half of the inputs, and should hold the correlation of the other systems on the other inputs.
        "population": each trial draws new scores from the model of a Dataset that `simulate` gave, or like those that
        are given (`simulate` with `like`), and the interval should hold the correlation in that population.
    {n_systems.design}
        It needs "population".
    {n_inputs.design}
        It needs "population".
    {n_trials}
    {n_resamples.trials}
    confidence_level : float, default 0.95
        What the coverage should be.
    {missing}
    {undefined}
    {rng.trials}
    {progress}

    Returns
    -------
    Dataset
        All are (interval, metric, ...), with `other` (interval, metric, other_metric, ...), NaN where a metric meets
        itself:

        - ``coverage``, the share of trials whose interval holds the target; ``ci_low`` and ``ci_high``, its 95 % limits
          by Wilson (1927), and ``mc_error``, its Monte-Carlo standard error, never 0: where all trials are alike, that
          of the limits' centre;
        - ``misses_low``, the share of trials whose interval lies wholly below the target, its upper limit being too
          low; ``misses_high``, the share whose interval lies wholly above it, its lower limit being too high. With
          `coverage` they sum to 1; of a right interval each is half of what the confidence level leaves;
        - ``width``, the intervals' mean width; with "population" also ``relative_width``, the same over ``2·z·sd``, sd
          the estimate's standard deviation over all trials and z the normal quantile (1.96 at .95). It is 1 where
          intervals are as wide as one of normal estimates whose standard deviation is known; of few systems, or of
          correlations near 1, right ones are wider;
        - ``n_undefined``, trials without an interval or a target, which are left out.

    Raises
    ------
    ValueError, TypeError
        For an unknown label, level, coefficient or keyword, for scores that are not numbers, infinite or all missing,
        and for a gold that is constant; for further dims; for "population" of a coefficient that is a function; for a
        design with "halves"; for Fisher's interval of a difference.

    Notes
    -----
    Against "halves" an interval should hold the other half's correlation, which is uncertain itself, and no interval
    for the population is made for that: even a right one then covers less than its level. Deutsch et al. ask for that;
    "population" asks what a confidence interval promises. Halves of the same scores do not vary as new scores would, so
    that there is no `relative_width`.

    References
    ----------
    Deutsch, Dror & Roth (2021), §5.1 and Table 1.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.simulate(12, 30, agreement={"judge": 0.8}, rng=1)
    >>> intervals = {"fisher": {"method": "fisher"}, "jackknife": {"method": "jackknife"}}
    >>> found = xsumstat.coverage(ds, level="input", intervals=intervals, truth="population", n_trials=50, rng=1)
    >>> found[["coverage", "width"]].squeeze(drop=True).to_pandas().round(2)
               coverage  width
    interval
    fisher         1.00   0.55
    jackknife      0.98   0.18
    """
    _validate.choice("truth", truth, ("halves", "population"))
    questions = Questions.of(level, coefficient, missing, undefined)
    if intervals is None:
        fisher = other is None and all(each.fisher for each in questions.records)
        intervals = {name: how for name, how in INTERVALS.items() if fisher or name != "fisher"}
    checked = _checked_intervals(intervals, questions, other is not None)
    n_trials = _validate.n_draws("n_trials", n_trials, 1)
    n_resamples = _validate.n_draws("n_resamples", n_resamples, 2)
    confidence_level = _validate.fraction("confidence_level", confidence_level)
    progress = checked_progress(progress)
    seed = draws.seed_of(rng)
    source = Source.of(ds, gold, metric, questions, truth == "population", n_systems, n_inputs, other)
    if truth == "halves" and (source.scores.shape[1] < 4 or source.scores.shape[2] < 4):
        raise ValueError(
            f"truth='halves' splits systems and inputs, and needs 4 of each, got {source.scores.shape[1:]}"
        )
    if source.like is not None:
        simulation.check_likeness(source.like, source.scores, source.gold, source.labels)
    truths = {design: source.population(questions, design) for design in source.designs} if source.model else {}
    trial = _Trial(source, questions, list(checked.values()), truths, n_resamples, confidence_level)
    runs = trials.Trials(source.designs, n_trials, seed, trial.answer)
    found = runs.run((len(_NUMBERS), *questions.shape, len(checked), len(source.targets)), progress)
    dims = {"interval": list(checked), **source.dims}
    by_trial = dict(zip(_NUMBERS, source.laid_out(found), strict=True))
    result = trials.shares("coverage", by_trial["coverage"], questions, source, dims)
    named = {name: trials.labelled(values, questions, source, dims) for name, values in by_trial.items()}
    result = result.assign({name: named[name].mean("trial") for name in ("misses_low", "misses_high", "width")})
    if source.model:
        result["relative_width"] = _relative(result["width"], named["estimate"], confidence_level)
    if other is not None:
        result["n_undefined"] = result["n_undefined"].where(source.pairs, 0)  # a metric and itself were not tried
    attrs: dict[str, Any] = {
        "confidence_level": confidence_level,
        "truth": truth,
        "n_trials": n_trials,
        "n_resamples": n_resamples,
    }
    attrs |= {"keywords": json.dumps(checked), "gold": source.gold_name, "seed": str(seed)}
    return results.result(result, None, analysis="coverage", **questions.attrs, **source.attrs, **attrs)


def _checked_intervals(intervals: Any, questions: Questions, differences: bool) -> dict[str, dict[str, Any]]:
    """Named keywords of `ci`, completed."""
    complete = {}
    for label, given in trials.named_keywords("intervals", intervals).items():
        where = f"intervals[{label!r}]"
        chosen = trials.completed(where, given, "ci", _KEYWORDS)
        _validate.choice(f"{where}['method']", chosen["method"], METHODS)
        _validate.choice(f"{where}['interval']", chosen["interval"], INTERVAL_NAMES)
        if chosen["method"] == "jackknife":
            if "interval" in given:
                raise ValueError(f"{where}: interval= applies only to method='bootstrap'")
            del chosen["interval"]
        elif chosen["interval"] == "corrected" and len(chosen["resample"]) < 2:
            raise ValueError(f"{where}: interval='corrected' needs resample='both'")
        elif chosen["interval"] == "studentized" and (
            questions.levels != ["input"] or "system" not in chosen["resample"]
        ):
            raise ValueError(f"{where}: interval='studentized' needs level='input' and resample='both' or 'system'")
        if chosen["method"] == "fisher":
            _check_fisher(where, questions, differences)
        complete[label] = chosen
    return complete


def _check_fisher(where: str, questions: Questions, differences: bool) -> None:
    without = [each.name for each in questions.records if each.fisher is None]
    if without:
        raise ValueError(f"{where}: there is no Fisher interval for coefficient={without[0]!r}; leave it out")
    if differences:
        raise ValueError(f"{where}: there is no Fisher interval for a difference (other=); leave it out")


# --- One trial ---


@dataclass(frozen=True)
class _Trial:
    """What is asked in each trial."""

    source: Source
    questions: Questions
    intervals: list[dict[str, Any]]  # the keywords of each
    truths: dict[Design, FloatArray]  # (levels, coefficients, targets), of populations
    n_resamples: int
    confidence_level: float

    def answer(self, design: Design, generator: np.random.Generator) -> FloatArray:
        """The `_NUMBERS` of one trial, (numbers, levels, coefficients, intervals, targets)."""
        source = self.source
        scores, others = (source.drawn(design, generator), None) if source.model else source.halves(generator)
        seed = int(generator.integers(2**63))
        drawn = BootstrapInterval("percentile", (), self.n_resamples, seed, self.confidence_level)
        out = np.empty((len(_NUMBERS), *self.questions.shape, len(self.intervals), len(source.targets)))
        for at, measure in self.questions.each():
            estimates = Estimates.of(*scores, source.targets, measure, ())
            if others is None:
                truth = self.truths[design][at]
            else:
                truth = Estimates.of(*others, source.targets, measure, ()).values
            samples: dict[tuple[str, ...], FloatArray] = {}
            for place, keywords in enumerate(self.intervals):
                low, high = _limits(keywords, estimates, scores, source.targets, measure, samples, drawn)
                said = ~(np.isnan(low) | np.isnan(truth))
                held = (low <= truth) & (truth <= high), high < truth, low > truth
                shares = [np.where(said, each, np.nan) for each in held]
                out[:, *at, place] = *shares, high - low, estimates.values
        return out


def _limits(
    keywords: dict[str, Any],
    estimates: Estimates,
    scores: Scores,
    targets: Sequence[Target],
    measure: Measure,
    samples: dict[tuple[str, ...], FloatArray],
    interval: BootstrapInterval,
) -> FloatArray:
    """Limits of every target's interval, (2, targets); `samples` holds those of the plans that were drawn already."""
    level = interval.confidence_level
    if keywords["method"] == "jackknife":
        return jackknife.intervals(*scores, targets, measure, keywords["resample"], level)[1:3]
    if keywords["method"] == "fisher":
        return np.array([bootstrap.fisher(x, scores[1], measure, level)[1:3] for x in scores[0]]).T
    interval = replace(interval, name=keywords["interval"], dims=keywords["resample"])
    if interval.name == "studentized":
        return studentized.intervals(*scores, targets, measure, interval)[1:3]
    plans = interval.plans(estimates.shape)
    for plan in plans:
        if plan.dims not in samples:
            out = np.empty((len(estimates.estimators), plan.n_resamples))
            for block in range(draws.n_blocks(plan.n_resamples)):
                start = block * draws.BLOCK
                estimates.drawn(plan.block(block), out[:, start : start + draws.BLOCK])
            samples[plan.dims] = out
    return interval.summarised(estimates, [samples[plan.dims] for plan in plans])[1:3]


def _relative(width: xr.DataArray, estimates: xr.DataArray, confidence_level: float) -> xr.DataArray:
    """Mean widths over that of an interval of as many sds of the estimates over all trials as a normal one has."""
    n = estimates.notnull().sum("trial")
    squares = ((estimates - estimates.mean("trial")) ** 2).sum("trial")
    sd = (squares / (n - 1).where(n > 1)) ** 0.5
    return width / (2 * normal_quantile(confidence_level) * sd.where(sd > 0))
