"""Does a judge give the same scores when it is run again: `repeatability`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.coefficients import arrays
from xsumstat.core import levels, validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import (
    align,
    checks,
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
from xsumstat.inference import repeatability as runs_of

N_RUNS = (1, 2, 3, 5, 10)
_SHARES = tuple(f"{share}_{end}" for share in runs_of.SHARES for end in ("share", "low", "high"))
_COUNTS = ("n_pairs", "n_outputs")
_BY_EFFECT = ("variance", "standard_error", "share")
_BY_RUNS = ("reliability", "ci_low", "ci_high")
_WITH_GOLD = ("correlation", "correlation_low", "correlation_high")


@validate.public
def repeatability(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    along: str = "run",
    level: str = "auto",
    n_runs: int | Sequence[int] = N_RUNS,
    confidence_level: float = 0.95,
) -> xr.Dataset:
    """Measure how well several runs of a judge agree, and what averaging runs gains.

    Parameters
    ----------
    ds : Dataset
        Scores, float ``score(metric, system, input, run, ...)``; NaN is a missing score.
    gold : label, str or DataArray, optional
        Human scores: a label of `metric`, the name of another variable, or a DataArray with dims `system` and `input`.
        Default ``ds.attrs["gold"]``; without either the result has no `correlation`.
    {metric}
    along : str, default "run"
        Dim of the runs.
    level : {"auto", "system", "input", "global", "within_system"}, default "auto"
        Which differences count: between system means; between systems on the same input; between all outputs; between
        the outputs of each system. "auto": "input", or "global" for one system.
    n_runs : int or list of int, default 1, 2, 3, 5 and 10
        Numbers of runs that are averaged; a list gives a dim of that name.
    {confidence_level}

    {dataset}
        On (metric, n_runs): ``reliability`` of the mean of so many runs with ``ci_low`` and ``ci_high``; with human
        scores their expected ``correlation`` with it, ``correlation_low`` and ``correlation_high``. On (metric,):
        ``flip_share``, the share of orders of two systems on one input that differ between two runs (ties included),
        ``reversal_share``, the share that is reversed, and ``equal_share``, the share of outputs with the same score
        in two runs, each with its limits (``flip_low``, ``flip_high`` ...); ``n_pairs`` and ``n_outputs`` compared. On
        (metric, effect): ``variance``, ``standard_error`` and ``share`` of "system", "input", "cell" (system x input),
        "run" and "residual" (between runs, beyond their means). Estimated variances can be below 0. Lazy (Dask) for
        lazy scores.

    See Also
    --------
    variance_components : Components of human scores, and of single ratings.

    Notes
    -----
    All limits leave out each input: they speak of these systems and runs on new inputs. They are too narrow for new
    runs if runs differ in leniency. Components come from Henderson's method I. Reliability is ``T/(T + E/r)``, and the
    correlation ``C/√(G(T + E/r))``. T and G are the variances of the metric and of the human scores at the level,
    without the noise E of a single run; C is their covariance. At input level this correlation pools all inputs, where
    `corr` averages them.

    Assumptions: errors of runs are independent of each other and of the human scores, and missing scores are missing at
    random. Errors that all runs share belong to T: averaging cannot remove them. Sources: Spearman (1910), "Correlation
    calculated from faulty data". Brennan (2001), "Generalizability Theory".

    Examples
    --------
    >>> import numpy as np, xarray as xr, xsumstat
    >>> ds = xsumstat.load_dataset("demo").sel(metric=["judge", "human"])
    >>> noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("run", "system", "input"))
    >>> found = ds.assign(score=ds.score + 10 * noise * (ds.metric == "judge")).meta.repeatability("human")
    >>> found.reliability.sel(metric="judge").to_series().round(2).to_dict()
    {1: 0.67, 2: 0.8, 3: 0.86, 5: 0.91, 10: 0.95}
    """
    asked = validate.integers("n_runs", n_runs, 1)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    scores = _prepared(ds, gold, metric, along, level)
    found = _estimated(scores, asked, confidence_level)
    scores.later.make(_check, found)
    if not validate.is_list(n_runs):
        found = found.squeeze("n_runs", drop=True)
    dims = tuple(dict.fromkeys((*scores.score.dims, *(() if scores.gold is None else scores.gold.dims))))
    attrs = {
        "gold": scores.name,
        "along": along,
        "level": scores.level,
        "method": "jackknife",
        **result_attrs.of_labels(scores.score, scores.dropped),
    }
    attrs |= {"confidence_level": confidence_level, "runs": scores.score.sizes[along]}
    return scores.later.attached(results.result(found, dims, analysis="repeatability", **attrs))


@dataclass(frozen=True)
class _Scores:
    """Scores (..., metric, system, input, run), and human scores if there are any, oriented and aligned."""

    score: xr.DataArray
    gold: xr.DataArray | None
    name: str | None
    along: str
    level: str
    dropped: dict[str, list[Hashable]]
    later: Checks


def _prepared(ds: Any, gold: Any, metric: Any, along: str, level: str) -> _Scores:
    validate.choice("level", level, ("auto", *levels.LEVELS))
    score = locate.checked_scores(ds)
    _check_runs(score, along)
    human, name = None, None
    own: list[Hashable] = []
    if gold is not None or ds.attrs.get("gold") is not None:
        human, name, own = golds.find_gold(ds, score, gold)
    chosen = metric_choice.judged_places(score, metric, own, name)
    score = align.oriented(score.isel(metric=chosen), ("metric",)).transpose(..., *facts.CORE, along)
    level = level if level != "auto" else "global" if score.sizes["system"] < 2 else "input"
    dropped: dict[str, list[Hashable]] = {}
    if human is not None:
        human = align.oriented(human, human.dims)
        human = human.mean(along) if along in human.dims else human
        score, human, dropped = align.aligned(score, align.as_gold(human, score, level))
    checks.check_sizes(score, level, these_systems=True)
    later = schema.checks_of(score, human, name)
    return _Scores(score, human, name, along, level, dropped, later)


def _check_runs(score: xr.DataArray, along: str) -> None:
    """Scores with at least two runs."""
    validate.text("along", along)
    further = [str(dim) for dim in score.dims if dim not in facts.CORE]
    if along not in further:
        has = f"additional dims: {validate.listing(further)}" if further else "score has no additional dim"
        raise ValueError(
            f"along={along!r} must be the dim of score that numbers the runs, but {has}; "
            "df.meta.to_scores(..., run='column') makes one"
        )
    if score.sizes[along] < 2:
        raise ValueError(f"score must have 2 or more runs along {along!r}, got {score.sizes[along]}")


def _estimated(scores: _Scores, n_runs: list[int], confidence_level: float) -> xr.Dataset:
    """All numbers of each metric and further label."""
    inputs: list[tuple[xr.DataArray, Sequence[str]]] = [(scores.score, (*facts.CELLS, scores.along))]
    inputs += [] if scores.gold is None else [(align.without_coords(scores.gold), facts.CELLS)]
    with_gold = () if scores.gold is None else _WITH_GOLD
    dims: dict[str, Sequence[str]] = dict.fromkeys((*_SHARES, *_COUNTS), ())
    dims |= dict.fromkeys(_BY_EFFECT, ["effect"]) | dict.fromkeys((*_BY_RUNS, *with_gold), ["n_runs"])
    labels: dict[str, Any] = {"effect": list(runs_of.COMPONENTS), "n_runs": n_runs}
    of_metric = partial(_of_metric, level=scores.level, n_runs=n_runs, confidence_level=confidence_level)
    found = labelled.by_label(of_metric, inputs, dims, sizes={name: len(each) for name, each in labels.items()})
    every = xr.Dataset(found).assign_coords(labels)
    order = [*_BY_RUNS, *with_gold, *_SHARES, *_COUNTS, *_BY_EFFECT]
    return every[order].transpose("metric", "n_runs", "effect", ...)


def _of_metric(
    score: FloatArray, gold: FloatArray | None = None, *, level: str, n_runs: list[int], confidence_level: float
) -> tuple[Any, ...]:
    """The numbers of one metric."""
    power = arrays.exponent(score)
    shares = runs_of.shares(score, confidence_level)
    scaled = None if gold is None else np.ldexp(gold, -arrays.exponent(gold))
    parts = runs_of.Components(np.ldexp(score, -power), scaled)
    by_effect = parts.numbers()
    by_effect[:2] = np.ldexp(by_effect[:2], 2 * power)
    found = [*shares, *by_effect, *parts.reliability(level, n_runs, confidence_level)]
    return tuple(found if gold is None else [*found, *parts.correlation(level, n_runs, confidence_level)])


def _check(found: xr.Dataset) -> None:
    """Say which variances are below 0, and what has no interval."""
    variance = found["variance"]
    outputs = found["effect"].isin([*facts.CELLS, "cell"])  # runs of equal means have an estimate below 0 half the time
    checks.warn_where((variance < 0) & outputs, "the estimate of a variance is negative, for", "negative_variance")
    values, low = found["reliability"], found["ci_low"]
    repeated = (variance.sel(effect="residual", drop=True) > 0) & values.notnull()
    lacking = (repeated & low.isnull()).any("n_runs")
    checks.warn_where(lacking, "no interval of the reliability, which is undefined without one input, for",
                      "no_interval")  # fmt: skip
    undefined = values.isnull().all("n_runs")
    checks.warn_where(undefined, "no reliability, because runs and outputs cannot be separated, for metric")
