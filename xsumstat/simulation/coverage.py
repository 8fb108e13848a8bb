"""Coverage of intervals by simulation: `coverage`."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses.measure import Measure
from xsumstat.core import validate
from xsumstat.core.types import CorrelationFunction, FloatArray
from xsumstat.dataset import results
from xsumstat.inference.intervals import INTERVALS as INTERVAL_NAMES
from xsumstat.inference.intervals import normal_quantile
from xsumstat.resampling import bootstrap, draws, jackknife, studentized
from xsumstat.resampling.bootstrap import BootstrapInterval, Estimates
from xsumstat.resampling.jobs import Target
from xsumstat.simulation import trials
from xsumstat.simulation.designs import Design, Questions, Scores, Source

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


@validate.public
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
    """Measure how often each kind of interval contains its target, over many trials.

    Parameters
    ----------
    {ds}
        Without additional dims.
    {gold metric}
    other : label, list of labels or bool DataArray, optional
        Use intervals for the difference between `metric` and each of these metrics.
    {level.list coefficient.list}
    intervals : mapping, optional
        Intervals by name, each with keywords `method`, `interval` and `resample` of `ci`; defaults "bootstrap",
        "percentile" and "both". Default "jackknife", "fisher" (if available), "system", "input" and "both"
        (percentile), "bca" and "corrected".
    truth : {"halves", "population"}, default "halves"
        "halves": split systems and inputs at random; the interval from one half should contain the estimate from the
        other. "population": draw new scores from the model of `simulate`, or like the given ones; the target is the
        true value.
    {n_systems.design n_inputs.design}
        Other numbers need "population".
    {n_trials n_resamples.trials}
    confidence_level : float, default 0.95
        Nominal coverage.
    {trials}

    {dataset}
        Variables (interval, metric, ...), with `other` (interval, metric, other_metric, ...), NaN on the diagonal:

        - ``coverage``, its Wilson 95 % limits ``ci_low``, ``ci_high``, and Monte Carlo standard error ``mc_error``;
        - ``misses_low``, ``misses_high``: shares of trials with the interval wholly below or above the target;
        - ``width``, the mean width; with "population" ``relative_width``, over that of a normal interval with known SD;
        - ``n_undefined``: trials without an interval or target, which are left out.

    Notes
    -----
    With "halves" the target is itself uncertain, so even a correct interval undercovers; "population" measures what a
    confidence interval promises. A relative width of 1 is that of normal estimates; with few systems, or correlations
    near 1, correct intervals are wider. Source: Deutsch, Dror & Roth (2021), §5.1 and Table 1.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.simulate(12, 30, agreement={"judge": 0.8}, rng=1)
    >>> intervals = {"fisher": {"method": "fisher"}, "jackknife": {"method": "jackknife"}}
    >>> found = xsumstat.coverage(ds, level="input", intervals=intervals, truth="population", n_trials=50, rng=1)
    >>> found.coverage.squeeze(drop=True).to_series().to_dict()
    {'fisher': 1.0, 'jackknife': 0.98}
    """
    validate.choice("truth", truth, ("halves", "population"))
    questions = Questions.of(level, coefficient, missing, undefined)
    if intervals is None:
        fisher = other is None and all(each.fisher for each in questions.records)
        intervals = {name: how for name, how in INTERVALS.items() if fisher or name != "fisher"}
    checked = _checked_intervals(intervals, questions, other is not None)
    n_trials = validate.n_draws("n_trials", n_trials, 1)
    n_resamples = validate.n_draws("n_resamples", n_resamples, 2)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    seed = draws.seed_of(rng)
    source = Source.of(ds, gold, metric, questions, truth == "population", n_systems, n_inputs, other)
    if truth == "halves" and (source.scores.shape[1] < 4 or source.scores.shape[2] < 4):
        raise ValueError(
            f"truth='halves' splits systems and inputs, and needs 4 of each, got {source.scores.shape[1:]}"
        )
    source.check_likeness()
    truths = {design: source.population(questions, design) for design in source.designs} if source.model else {}
    trial = _Trial(source, questions, list(checked.values()), truths, n_resamples, confidence_level)
    shape = (len(_NUMBERS), *questions.shape, len(checked), len(source.targets))
    found = trials.answers(source.designs, n_trials, seed, trial.answer, shape, progress)
    dims = {"interval": list(checked), **source.dims}
    named = {
        name: trials.labelled(values, questions, source, dims)
        for name, values in zip(_NUMBERS, source.laid_out(found), strict=True)
    }
    result = trials.shares("coverage", named["coverage"], source)
    result = result.assign({name: named[name].mean("trial") for name in ("misses_low", "misses_high", "width")})
    if source.model:
        result["relative_width"] = _relative(result["width"], named["estimate"], confidence_level)
    attrs: dict[str, Any] = {
        "confidence_level": confidence_level,
        "truth": truth,
        "n_trials": n_trials,
        "n_resamples": n_resamples,
    }
    attrs |= {"keywords": json.dumps(checked), "gold": source.gold_name, "seed": str(seed)}
    return results.result(result, None, analysis="coverage", **questions.attrs, **source.attrs, **attrs)


def _checked_intervals(intervals: Any, questions: Questions, differences: bool) -> dict[str, dict[str, Any]]:
    complete = {}
    for label, given in trials.named_keywords("intervals", intervals).items():
        where = f"intervals[{label!r}]"
        chosen = trials.completed(where, given, "ci", _KEYWORDS)
        validate.choice(f"{where}['method']", chosen["method"], METHODS)
        validate.choice(f"{where}['interval']", chosen["interval"], INTERVAL_NAMES)
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
    """Limits of every target's interval, (2, targets); `samples` are those of plans drawn already."""
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
    """Mean widths over that of a normal interval with the SD of the estimates over all trials."""
    n = estimates.notnull().sum("trial")
    squares = ((estimates - estimates.mean("trial")) ** 2).sum("trial")
    sd = (squares / (n - 1).where(n > 1)) ** 0.5
    return width / (2 * normal_quantile(confidence_level) * sd.where(sd > 0))
