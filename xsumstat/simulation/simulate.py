"""Scores with known true correlations: `simulate`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.coefficients import table
from xsumstat.core import extras, levels, validate
from xsumstat.dataset import facts, results
from xsumstat.resampling import draws, threads
from xsumstat.simulation import given_scores
from xsumstat.simulation.empirical_model import EmpiricalModel
from xsumstat.simulation.given_scores import GOLD, LARGEST
from xsumstat.simulation.model import COMPONENTS, Effects, Model

_LARGEST_DF = 1e6  # of the systems' effects, which are normal then
_LARGEST_FACTOR, _LARGEST_ABILITY_SD = 1e6, 10.0
_AGREEMENT = {"good": 0.8, "fair": 0.6, "poor": 0.3}
_EFFECTS = {"system": 0.6, "input": 0.4, "cell": 1.0}


@validate.public
def simulate(
    n_systems: int | None = None,
    n_inputs: int | None = None,
    *,
    like: xr.Dataset | None = None,
    gold: Hashable | xr.DataArray | None = None,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    agreement: Mapping[str, float | Mapping[str, float]] | None = None,
    effects: Mapping[str, float] | None = None,
    metric_effects: Mapping[str, float] | None = None,
    shared: float = 0.3,
    likert: int | None = None,
    missing: float = 0.0,
    system_df: float | None = None,
    outlying: float = 0.0,
    outlying_factor: float = 4.0,
    ability_sd: float = 0.0,
    truth: bool = True,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
) -> xr.Dataset:
    """Draw scores of systems on inputs from crossed random effects, with known true correlations.

    Parameters
    ----------
    n_systems, n_inputs : int, default 20 and 100, or as many as `like` has
        At least 2 and 1.
    like : Dataset, optional
        Scores without other dims: draw new ones with their effects, grades and gaps. The arguments from `agreement`
        to `ability_sd` are then taken from them.
    gold : label, str or DataArray, optional
        With `like`: its human scores. Default ``like.attrs["gold"]``.
    metric : label, list of labels or bool DataArray, optional
        With `like`: metrics to draw; default all but human scores.
    agreement : mapping, optional
        Metrics by name with the correlation of their effects with the human score's, in [-1, 1]: one number, or a
        mapping from "system", "input" and "cell". Default "good" (.8), "fair" (.6) and "poor" (.3).
    effects : mapping, optional
        SD of the human score's effect of each "system", "input" and "cell"; default .6, .4 and 1.
    metric_effects : mapping, optional
        The same for the metrics; default as for the human score.
    shared : float, default 0.3
        Share of the metrics' other variance that all metrics have in common.
    likert : int, optional
        Round the human score to so many points, at least 2, which span two SDs (of `effects`) to either side.
    missing : float, default 0
        Share of human scores missing at random; below 1.
    system_df : float, optional
        Degrees of freedom, above 2, of a t distribution of system effects with the same SD.
    outlying, outlying_factor : float, default 0 and 4
        Probability, below 1, that a system's effects are multiplied by the factor, at least 1.
    ability_sd : float, default 0
        SD, at most 10, of a lognormal factor of mean 1 that multiplies the system effects on each input.
    truth : bool, default True
        Add the true correlations. Those without a formula are averaged over simulated populations, in a few seconds.
    rng : None, int, SeedSequence or Generator, optional
        Source of the scores; one seed gives the same scores.

    {dataset}
        ``score(metric, system, input)``, "human" first, the gold (with `like` names as there); with `truth`
        ``truth(metric, level, coefficient)`` and its Monte Carlo standard error ``truth_error(level, coefficient)``.
        `coverage` and `power` draw more scores by ``attrs["model"]``.

    Notes
    -----
    ``score = system effect + input effect + cell effect``. With g the human score's effect (variance 1) a metric's is
    ``ρ·g + √(1 − ρ²)·(√c·h + √(1 − c)·e)``: ρ its `agreement`, c `shared`, h common to all metrics, e its own. For
    normal effects with SDs σ (human) and τ (metric), the true r at input level is ``(ρ_s·σ_s·τ_s + ρ_c·σ_c·τ_c) /
    √((σ_s² + σ_c²)(τ_s² + τ_c²))``; at system level the cells' variances are divided by `n_inputs`. `system_df`,
    `outlying` and `ability_sd` multiply the system effects of human score and metrics alike. Sources: Deutsch, Dror &
    Roth (2021), §5. Kotz & Nadarajah (2004), "Multivariate t Distributions and Their Applications".

    Examples
    --------
    >>> import xsumstat
    >>> agreement = {"judge": 0.9, "rouge": {"system": 0.8, "input": 0.0, "cell": 0.3}}
    >>> ds = xsumstat.simulate(12, 50, agreement=agreement, rng=1)
    >>> float(ds.truth.sel(metric="judge", level="input", coefficient="pearson").round(3))
    0.9
    """
    if like is not None:
        given = _described(locals())
        if given:
            raise ValueError(f"like= takes all from the scores that are given; leave out {validate.listing(given)}")
        return _simulate_like(like, gold, metric, n_systems, n_inputs, truth, rng)
    for name, value in (("gold", gold), ("metric", metric)):
        if value is not None:
            raise ValueError(f"{name}= names scores in like=, which is not given")
    n_systems = validate.integer("n_systems", 20 if n_systems is None else n_systems, 2, validate.MOST_DRAWS)
    n_inputs = validate.integer("n_inputs", 100 if n_inputs is None else n_inputs, 1, validate.MOST_DRAWS)
    names, model = _checked_model(agreement, effects, metric_effects, shared, likert, missing)
    model = replace(model, **_checked_systems(system_df, outlying, outlying_factor, ability_sd))
    validate.flag("truth", truth)
    ds = _drawn(model, (n_systems, n_inputs), [GOLD, *names], rng)
    ds.attrs["model"] = json.dumps({"metrics": names, **asdict(model)})
    if not truth:
        return ds
    with threads.one_bar(len(levels.LEVELS), None, desc="simulating") as part:
        return ds.assign(_truth([GOLD, *names], model, n_inputs, part))


def _described(values: Mapping[str, Any]) -> list[str]:
    """Given keywords of a model, with the values of all arguments of `simulate`."""
    defaults = {name: each.default for name, each in inspect.signature(simulate).parameters.items()}
    of_model = [*defaults][[*defaults].index("agreement") : [*defaults].index("truth")]
    return [name for name in of_model if values[name] is not defaults[name] and values[name] != defaults[name]]


def _simulate_like(
    like: Any, gold: Any, metric: Any, n_systems: Any, n_inputs: Any, truth: Any, rng: Any
) -> xr.Dataset:
    validate.flag("truth", truth)
    found = given_scores.prepared(like, gold, metric)
    shape = [validate.integer(name, own if value is None else value, least) for name, value, own, least in
             (("n_systems", n_systems, found.shape[0], 2), ("n_inputs", n_inputs, found.shape[1], 1))]  # fmt: skip
    model = given_scores.empirical_model_of(like, found)
    names = [found.gold_name, *found.score.indexes["metric"]]
    if found.gold_name in map(str, names[1:]):
        raise ValueError(f"gold is called {found.gold_name!r} and so is a metric; rename one of them")
    ds = _drawn(model, (shape[0], shape[1]), names, rng)
    ds.attrs["like"] = f"{found.shape[0]} systems on {found.shape[1]} inputs"
    with threads.one_bar(1 + (len(levels.LEVELS) if truth else 0), None, desc="simulating") as part:
        with part():
            given_scores.check_model(model, found.score.values, found.gold.values, names[1:])
        return ds.assign(_truth(names, model, shape[1], part)) if truth else ds


def _drawn(model: Model | EmpiricalModel, shape: tuple[int, int], names: list[Any], rng: Any) -> xr.Dataset:
    """Scores with labels; `names` are those of the gold and of the metrics."""
    seed = draws.seed_of(rng)
    scores, human = model.draw(shape, draws.generator(seed, 0))
    systems, inputs = shape
    coords = {
        "metric": names,
        "system": [f"system-{at:0{len(str(systems))}d}" for at in range(1, systems + 1)],
        "input": [f"input-{at:0{len(str(inputs))}d}" for at in range(1, inputs + 1)],
    }
    attrs = {"gold": names[0], "source": "simulated", "seed": str(seed), "xsumstat_version": extras.package_version()}
    return xr.Dataset({"score": (facts.CORE, np.concatenate([human[None], scores]))}, coords, attrs)


def _checked_model(
    agreement: Any, effects: Any, metric_effects: Any, shared: Any, likert: Any, missing: Any
) -> tuple[list[str], Model]:
    agreement = _AGREEMENT if agreement is None else agreement
    if not isinstance(agreement, Mapping) or not agreement:
        raise TypeError(f"agreement must map the names of metrics to how far they agree, got {agreement!r}")
    names = [str(name) for name in agreement]
    validate.unique("agreement", names)
    if GOLD in names:
        raise ValueError(f"agreement names a metric {GOLD!r}, which is the human score itself")
    rho = []
    for name, value in agreement.items():
        by_component = value if isinstance(value, Mapping) else dict.fromkeys(COMPONENTS, value)
        rho.append(_effects(f"agreement[{name!r}]", by_component, -1.0, 1.0))
    gold_sd = _effects("effects", _EFFECTS if effects is None else effects, 0.0, LARGEST)
    metric_sd = gold_sd if metric_effects is None else _effects("metric_effects", metric_effects, 0.0, LARGEST)
    for name, sds in (("effects", gold_sd), ("metric_effects", metric_sd)):
        if sds[0] == 0 and sds[2] == 0:
            raise ValueError(f"{name} gives systems and cells no variance: no systems differ")
    if likert is not None:
        likert = validate.integer("likert", likert, 2, 1000)
    shared, missing = validate.number("shared", shared, 0, 1), validate.number("missing", missing, 0, 1)
    if missing == 1:
        raise ValueError("missing must be below 1, or no human score is left")
    return names, Model(tuple(rho), gold_sd, metric_sd, shared, likert, missing)


def _checked_systems(system_df: Any, outlying: Any, outlying_factor: Any, ability_sd: Any) -> dict[str, Any]:
    """Checked settings of non-normal system effects."""
    if system_df is not None:
        system_df = validate.number("system_df", system_df, 2, _LARGEST_DF)
        if system_df == 2:
            raise ValueError("system_df must be above 2, or the systems' effects have no variance, got 2")
    outlying = validate.number("outlying", outlying, 0, 1)
    if outlying == 1:
        raise ValueError("outlying must be below 1, or there is no system that the others lie apart from")
    return {
        "system_df": system_df,
        "outlying": outlying,
        "outlying_factor": validate.number("outlying_factor", outlying_factor, 1, _LARGEST_FACTOR),
        "ability_sd": validate.number("ability_sd", ability_sd, 0, _LARGEST_ABILITY_SD),
    }


def _effects(name: str, values: Any, least: float, most: float) -> Effects:
    if not isinstance(values, Mapping) or set(values) != set(COMPONENTS):
        raise ValueError(f"{name} must have a number for each of {validate.listing(COMPONENTS)}, got {values!r}")
    system, input, cell = (validate.number(f"{name}[{each!r}]", values[each], least, most) for each in COMPONENTS)
    return system, input, cell


def _truth(
    names: list[Any], model: Model | EmpiricalModel, n_inputs: int, part: Callable[[], AbstractContextManager[None]]
) -> dict[str, xr.DataArray]:
    """True correlations and their errors; `part` is entered around each level, for a bar."""
    coords = {
        "metric": names,
        "level": list(levels.LEVELS),
        "coefficient": list(table.OF_POPULATIONS),
    }
    records = [table.COEFFICIENTS[name] for name in table.OF_POPULATIONS]
    shape = [len(each) for each in coords.values()]
    values, errors = np.full(shape, np.nan), np.zeros(shape[1:])
    for at, level in enumerate(levels.LEVELS):
        with part():
            found, errors[at] = model.population(level, records, n_inputs)
        values[1:, at] = found.T
    truth = xr.DataArray(values, coords)
    error = xr.DataArray(errors, {name: coords[name] for name in ("level", "coefficient")})
    both = {"truth": truth, "truth_error": error}
    return {name: results.describe(name, each, "simulate") for name, each in both.items()}
