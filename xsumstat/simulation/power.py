"""Power and size of tests by simulation: `power`."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses.measure import Measure
from xsumstat.coefficients import arrays
from xsumstat.coefficients.pairs import correlations
from xsumstat.core import validate
from xsumstat.core.types import CorrelationFunction, FloatArray
from xsumstat.dataset import results
from xsumstat.inference import two_correlations
from xsumstat.resampling import draws
from xsumstat.resampling.jobs import in_turn
from xsumstat.resampling.permutation import PairTests
from xsumstat.resampling.plans import DrawPlan, PairPlan, SwapPlan
from xsumstat.simulation import trials
from xsumstat.simulation.designs import Design, Questions, Source

# What is looked at unless something else is named, and the keywords that each test takes.
TESTS: dict[str, dict[str, Any]] = {
    "perm_test": {"test": "perm_test"},
    "boot_test": {"test": "boot_test"},
    "williams": {"test": "corr_test", "method": "williams"},
}
_NOISES = (0.25, 0.5, 1.0, 2.0)
_KEYWORDS: dict[str, dict[str, Any]] = {
    "perm_test": {"resample": "both", "crossed": False},
    "boot_test": {"resample": "both"},
    "corr_test": {"method": "williams"},
}


@validate.public
def power(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    other: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    noise: float | Sequence[float] | None = None,
    level: str | Sequence[str] = "system",
    coefficient: str | CorrelationFunction | Sequence[str | CorrelationFunction] = "pearson",
    tests: Mapping[str, Mapping[str, object]] | None = None,
    null: bool = False,
    redraw: bool = False,
    n_systems: int | Sequence[int] | None = None,
    n_inputs: int | Sequence[int] | None = None,
    alpha: float = 0.05,
    n_trials: int = 1000,
    n_resamples: int = 999,
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Measure how often each test finds a metric better than another, or than a noisy copy of it.

    Parameters
    ----------
    {ds}
        Without additional dims.
    {gold metric}
        Each is compared with its own copies.
    other : label, list of labels or bool DataArray, optional
        Compare `metric` with each of these instead, on new scores in each trial. The tests are one-sided: `metric`
        should be the better one.
    noise : float or list of float, default (.25, .5, 1, 2)
        SD of the copy's additional normal noise, in SDs of the metric's scores; above 0. A list gives a dim.
    {level.list coefficient.list}
    tests : mapping, optional
        Tests by name, each with ``test``, "perm_test", "boot_test" or "corr_test", and its keywords `resample`,
        `crossed` or `method`. Default "perm_test", "boot_test" and "williams".
    null : bool, default False
        Compare two copies with independent noise, so every significant difference is false.
    redraw : bool, default False
        Draw new scores in each trial, from the model of `simulate` or like the given ones, not only new noise.
    {n_systems.design n_inputs.design}
        Other numbers need `redraw` or `other`.
    alpha : float, default 0.05
        Significance level, between 0 and 1.
    {n_trials n_resamples.trials trials}

    {dataset}
        ``power(test, metric, ...)``, with `other` ``(test, metric, other_metric, ...)``, or with `null`
        ``type_i_error``: the share of trials with p ≤ alpha. ``ci_low``, ``ci_high``: its Wilson 95 % limits;
        ``mc_error``: its standard error; ``n_undefined``: trials without a p-value, which are left out.

    Notes
    -----
    A noisy copy agrees less with the human scores on average. Deutsch et al. degrade ROUGE by removing tokens instead.
    With `null` the copies are exchangeable cell by cell, as ``perm_test`` assumes. Source: Deutsch, Dror & Roth (2021),
    §5.2 and Figure 3.

    {demo}
    >>> settings = {"level": "input", "n_trials": 20, "n_resamples": 99, "rng": 1}
    >>> found = xsumstat.power(ds, "human", metric="judge", noise=2.0, **settings)
    >>> found.power.squeeze().to_series().to_dict()
    {'perm_test': 1.0, 'boot_test': 1.0, 'williams': 0.8}
    """
    two = other is not None
    noises = [0.0] if two else _noises(_NOISES if noise is None else noise)
    checked = _checked_tests(TESTS if tests is None else tests)
    n_trials = validate.n_draws("n_trials", n_trials, 1)
    n_resamples = validate.n_draws("n_resamples", n_resamples, 2)
    alpha = validate.fraction("alpha", alpha)
    seed = draws.seed_of(rng)
    null = validate.flag("null", null)
    if two and (noise is not None or null):
        which = "noise" if noise is not None else "null=True"
        raise ValueError(
            f"{which} compares a metric with its noisy copy; with other= two metrics are compared as they are"
        )
    questions = Questions.of(level, coefficient, missing, undefined)
    redraw = validate.flag("redraw", redraw) or two
    source = Source.of(ds, gold, metric, questions, redraw, n_systems, n_inputs, other)
    source.check_likeness()
    trial = _Trial(source, questions, list(checked.values()), [] if two else noises, null, alpha, n_resamples)
    shape = (1, *questions.shape, len(checked), len(source.targets), len(noises))
    (held,) = trials.answers(source.designs, n_trials, seed, trial.answer, shape, progress)
    dims: dict[str, list[Any]] = {"test": list(checked), **source.dims}
    if two:
        by_trial = trials.labelled(source.laid_out(held[..., 0]), questions, source, dims)
    else:
        by_trial = trials.labelled(held, questions, source, {**dims, "noise": noises})
    result = trials.shares("type_i_error" if null else "power", by_trial, source)
    attrs: dict[str, Any] = {
        "alpha": alpha,
        "null": null,
        "redraw": redraw,
        "n_trials": n_trials,
        "n_resamples": n_resamples,
    }
    attrs |= {"keywords": json.dumps(checked), "gold": source.gold_name, "seed": str(seed)}
    if not two and noise is not None and not validate.is_list(noise):
        attrs["noise"] = noises[0]
        result = result.squeeze("noise", drop=True)
    return results.result(result, None, analysis="power", **questions.attrs, **source.attrs, **attrs)


# --- One trial ---


@dataclass(frozen=True)
class _Trial:
    """Whether each test finds a difference in a trial; `noises` are empty for pairs of metrics."""

    source: Source
    questions: Questions
    tests: list[dict[str, Any]]
    noises: list[float]
    null: bool
    alpha: float
    n_resamples: int

    def answer(self, design: Design, generator: np.random.Generator) -> FloatArray:
        """1 where a difference was found, else 0; (1, levels, coefficients, tests, targets, noises)."""
        source = self.source
        scores, z = source.drawn(design, generator) if source.model else (source.scores, source.gold)
        seed = int(generator.integers(2**63))
        pairs = _copies(scores, self.noises, self.null, generator) if self.noises else _pairs_of(scores, source)
        out = np.empty((1, *self.questions.shape, len(self.tests), *pairs.shape[:2]))
        for at, measure in self.questions.each():
            for place in np.ndindex(pairs.shape[:2]):
                p = np.array([_pvalue(test, pairs[place], z, measure, self.n_resamples, seed) for test in self.tests])
                out[(0, *at, slice(None), *place)] = np.where(np.isnan(p), np.nan, p <= self.alpha)
        return out


def _pairs_of(scores: FloatArray, source: Source) -> FloatArray:
    """Scores of each two metrics, (pairs, 1, two, systems, inputs)."""
    return np.array([[[scores[at] for at in pair]] for pair in source.targets])


def _copies(scores: FloatArray, noises: list[float], null: bool, generator: np.random.Generator) -> FloatArray:
    """Each metric and its noisy copy, or two copies, (metrics, noises, two, systems, inputs)."""
    scores = np.array([arrays.scaled(each) for each in scores])
    spread = np.nanstd(scores, axis=(1, 2))[:, None, None]
    one, two = spread * generator.standard_normal((2, *scores.shape))
    pairs = [
        [np.stack([x + null * size * two[at], x + size * one[at]]) for size in noises] for at, x in enumerate(scores)
    ]
    return np.array(pairs)


def _noises(value: Any) -> list[float]:
    noises = [validate.number("noise", each, 0, math.inf) for each in validate.listed(value)]
    if 0 in noises:
        raise ValueError(f"noise must be above 0: a copy without noise is the metric itself, got {value!r}")
    return validate.different("noise", noises)


def _checked_tests(tests: Any) -> dict[str, dict[str, Any]]:
    """Named keywords of the tests, completed by their defaults."""
    complete = {}
    for label, given in trials.named_keywords("tests", tests).items():
        where = f"tests[{label!r}]"
        test = validate.choice(f"{where}['test']", given.pop("test", None), [*_KEYWORDS])
        found = trials.completed(where, given, test, _KEYWORDS[test])
        if found.get("crossed") and len(found["resample"]) < 2:
            raise ValueError(f"{where}: crossed=True swaps over both dims and needs resample='both'")
        if "crossed" in found:
            validate.flag(f"{where}['crossed']", found["crossed"])
        if test == "corr_test":
            validate.choice(f"{where}['method']", found["method"], two_correlations.METHODS)
        complete[label] = {"test": test, **found}
    return complete


def _pvalue(
    test: dict[str, Any], pair: FloatArray, z: FloatArray, measure: Measure, n_resamples: int, seed: int
) -> float:
    """One-sided p-value that the first of two metrics is better."""
    pairs = ((0, 1),)
    if test["test"] == "corr_test":
        r_1, r_2, r_3, n = correlations(pair, z, pairs, measure)
        value = two_correlations.statistic(test["method"], r_1, r_2, r_3, n)
        return float(two_correlations.pvalue(test["method"], value, n, "greater")[0])
    shape = (z.shape[0], z.shape[1])
    plan: PairPlan = (
        DrawPlan(shape, test["resample"], n_resamples, seed)
        if test["test"] == "boot_test"
        else SwapPlan.of(shape, test["resample"], test["crossed"], n_resamples, seed)
    )
    job = PairTests(pairs, plan, "greater", measure)
    return float(in_turn(job, job.ready(slice(None), pair, z))[1, 0])
