"""How many systems and inputs the next study needs: `plan`."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.analyses.measure import Measure, checked_measure, checked_progress
from xsumstat.dataset import results
from xsumstat.dataset import scores as schema
from xsumstat.inference import components, planning
from xsumstat.resampling import draws, jackknife
from xsumstat.simulation import differences, plan_bands, trials
from xsumstat.simulation import power as tests_of
from xsumstat.simulation import simulate as simulation
from xsumstat.simulation.designs import Design, Questions, Source
from xsumstat.simulation.likeness import means_of
from xsumstat.simulation.plan_bands import Planned
from xsumstat.simulation.plan_designs import Asked, Sizes
from xsumstat.simulation.plan_raters import Ratings
from xsumstat.types import FloatArray

N_SYSTEMS, N_INPUTS = (10, 15, 20, 30, 50, 100), (10, 20, 50, 100, 200, 500, 1000)
METHODS = ("auto", "formula", "simulation")
# Fewer systems of the data say too little of any others.
_LEAST_SYSTEMS = 8
# The standard error of the systems' variance over it, above which plans are rough, and above which none is made.
_ROUGH, _TOO_ROUGH = 0.6, 1.0
_BOTH = ("system", "input")
# What is said of each design.
_NUMBERS = ("width", "standard_error", "correlation", "mc_error", "width_low", "width_high")


@_validate.public
def plan(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    other: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    difference: float | Sequence[float] | None = None,
    rating: str | xr.DataArray | None = None,
    along: str = "rater",
    level: str = "system",
    coefficient: str = "pearson",
    n_systems: int | Sequence[int] | None = None,
    n_inputs: int | Sequence[int] | None = None,
    n_raters: int | Sequence[int] = (1, 2, 3, 5),
    target: float | None = None,
    method: str = "auto",
    test: Mapping[str, str | bool] | None = None,
    alpha: float = 0.05,
    confidence_level: float = 0.95,
    n_trials: int = 200,
    n_resamples: int = 999,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """How many systems and inputs are needed: for a narrow interval, or to find a difference.

    Parameters
    ----------
    {ds}
        Without further dims. What `simulate` gave, of a model, is planned from the model: no data are needed.
    {gold}
    {metric}
    other : label, list of labels or bool DataArray, optional
        Plan a test that `metric` agrees better with the gold than each of these.
    difference : float or list of float, optional
        Plan a paired t-test of two systems whose mean gold scores differ by so much, in the gold's units; a list gives
        a dim of that name. Only the number of inputs matters.
    rating : str or DataArray, optional
        Single ratings, a variable of `ds` or a DataArray with the dims `system`, `input` and `along`: their mean is the
        gold, and plans are made for each of `n_raters`, by formula. Not with `other`.
    {along.raters}
    level : {"system", "input"}, default "system"
        What is correlated: the systems' means, or the systems within each input, averaged over inputs.
    coefficient : str, default "pearson"
        "pearson", "spearman", "kendall", "kendall_a", "kendall_c" or "pairwise_accuracy".
    n_systems, n_inputs : int or list of int, optional
        The designs that are looked at, each number of systems with each number of inputs; a list gives a dim of that
        name. Default 10 to 100 systems and 10 to 1,000 inputs; with `other` the data's number of systems, and a half to
        four times its inputs.
    n_raters : int or list of int, default 1, 2, 3 and 5
        With `rating`, how many people rate each cell; a list gives a dim of that name.
    target : float, optional
        The width, or the power, that is wanted; then the least number of inputs that reaches it is given. Default .8
        for a power.
    method : {"auto", "formula", "simulation"}, default "auto"
        How widths are computed. "formula" scales the jackknife's variance; "simulation" draws scores like the given
        ones in each design; "auto" takes the formula, but at system level simulates designs of fewer than 15 systems,
        and all for coefficients other than Pearson's.
    test : mapping, optional
        With `other`: ``"test"``, one of "perm_test", "boot_test" and "corr_test", and the keywords `resample`,
        `crossed` or `method` of that one. Default ``{"test": "perm_test"}``.
    alpha : float, default 0.05
        Level of the tests, between 0 and 1.
    {confidence_level}
    n_trials : int, default 200
        Simulated trials of each design.
    n_resamples : int, default 999
        Of each test with `other`.
    {rng}
    {progress}

    Returns
    -------
    Dataset
        On ``n_systems`` and ``n_inputs``, by ``metric``:

        - ``width`` of its jackknife interval, ``standard_error`` and ``correlation`` that are expected, ``mc_error`` of
          the width (NaN of a formula), ``simulated``, and ``floor(metric, n_systems)``, the width with any number
          of inputs (by formula), which is the least where widths fall with the inputs;
        - ``width_low`` and ``width_high``, limits of that width: how rough the plan is (NaN of a model);
        - with `rating` all of these for each of ``n_raters``;
        - with `other` ``power(metric, other_metric, ...)``, ``ci_low``, ``ci_high`` and ``mc_error``;
        - with `difference` ``power`` on ``difference`` and ``n_inputs``, by formula;
        - with `target` ``least_inputs``, the least number of inputs that reaches it, NaN where none does: of any by
          formula, else of those that were simulated.

    Raises
    ------
    ValueError, TypeError
        For an unknown label, level or coefficient; for data that say too little to plan from: fewer than 8 systems, or
        a variance of systems whose standard error is larger than itself.

    Warns
    -----
    UserWarning
        For data that make rough plans, and for metrics whose simulated scores are not like the given ones.

    Notes
    -----
    With N systems and M inputs in the data, n and m in the design, and V_s, V_c and P the parts of the jackknife's
    variance (of systems, of the noise of cells in it, and what inputs add), at input level
    ``V(n, m) = (N−1)/(n−1)·[(V_s − V_c) + V_c·M/m] + P·M/m``. More inputs make only V_c and P smaller: ``floor`` is
    what is left. At system level ``V(n, m) = (N−1)/(n−1)·V_s·((1 − r_m²)/(1 − r_M²))² + P·M/m``, r_m being Pearson's
    correlation of means over m inputs, from the components of variance (`variance_components`). The limits are the
    jackknife's, with n − 1 degrees of freedom.

    Simulated scores are drawn like the given ones (`simulate` with `like`). The mean of their jackknife's variances in
    a design, over that in the data's own, multiplies the data's own variance. What is expected is the root of a mean
    variance; a single study's standard error, with few systems, is mostly smaller and sometimes much larger.

    Of a model, at system level ``V = (1 − r_m²)²/(n − 1)``; at input level ``V = [c + ((1 − ρ²)² − c)/m]/(n − 1)`` with
    ``c = 2·tr(Q·R·Q·R)``, ``Q = [[−ρ/2, ½], [½, −ρ/2]]`` and R the systems' covariance over the standard deviations
    within an input; Pearson's r and normal scores only.

    With `rating` and r raters of a cell, the gold's cells have the variance ``σ_c² + σ_e²/r``, by the components of the
    ratings; variances and correlations change as those of normal scores would. What a rater thinks of a system counts
    as noise that more inputs make smaller.

    With `difference` d the power is ``P(|T'| > t)`` of a paired t-test on n inputs, T' of the noncentral t distribution
    with n − 1 degrees of freedom and the centre ``d/√(σ²/n)``. σ² is the variance of the differences of two systems on
    an input, the mean over all pairs of systems.

    A plan from few systems knows little of others. Limits of a width w are ``w·exp(±t·s)``, no wider than the
    coefficient's range, with s² the jackknife's variance of ``log w``: the plan is made again without each system
    (without each of 50 groups of more systems), and without each of up to 20 groups of inputs, and both variances are
    added, with that of the simulation where there is one. t has a degree of freedom less than there are systems, or
    groups. From 100 pilots of 20 systems and 50 inputs with agreements of .6 and .9, widths scattered by 32 and 45 % of
    themselves at system level (27 and 29 % at input level), and the 95 % limits held the expected width in 93 to 97 %.

    Gaps are supposed to be as frequent as in the data.

    References
    ----------
    Efron & Stein (1981), "The Jackknife Estimate of Variance". Searle, Casella & McCulloch (1992), "Variance
    Components". Brennan (2001), "Generalizability Theory" (decision studies).

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> found = xsumstat.plan(ds, metric="judge", level="input", n_systems=[12, 24, 48], n_inputs=[30, 300], target=0.1)
    >>> found.width.squeeze().to_pandas().round(2)
    n_inputs     30    300
    n_systems
    12         0.18  0.14
    24         0.12  0.09
    48         0.08  0.07
    >>> found.least_inputs.squeeze().values.tolist()
    [nan, 104.0, 14.0]
    """
    measure = _checked_level(level, coefficient)
    _validate.choice("method", method, METHODS)
    if other is not None and difference is not None:
        raise ValueError("other and difference are both given; plan one thing at a time")
    confidence_level, alpha = (
        _validate.fraction("confidence_level", confidence_level),
        _validate.fraction("alpha", alpha),
    )
    n_trials = _validate.n_draws("n_trials", n_trials, 2)
    _validate.n_draws("n_resamples", n_resamples, 2)
    target = None if target is None else _validate.number("target", target, 0, 2)
    asked = Asked(measure, Sizes(n_systems, n_inputs), method, alpha, confidence_level, n_trials, draws.seed_of(rng))
    if test is not None and not isinstance(test, Mapping):
        raise TypeError(f"test must map keywords of a test to values, as {{'method': 'analytic'}}, got {test!r:.100}")
    if rating is None and along != "rater":
        raise ValueError(f"along={along!r} is the dim of the raters in rating, which is not given; add rating=...")
    numbers_of_raters = asked.sizes.raters(n_raters)
    ratings = None if rating is None else _ratings(ds, gold, other, method, rating, along)
    gold = gold if ratings is None else ratings.gold
    raters = [None] if ratings is None else numbers_of_raters
    if difference is not None:
        if metric is not None:
            raise ValueError("difference is of two systems by the gold, and no metric has part in it; leave metric out")
        target = 0.8 if target is None else target
        each = [_differences(ds, gold, difference, target, asked, ratings, at) for at in raters]
    elif other is not None:
        each = [_powers(ds, gold, metric, other, test, n_resamples, asked, progress)]
    else:
        given = _given(ds, gold, metric, asked, ratings)
        each = [_widths(given, target, asked, checked_progress(progress), at) for at in raters]
    found = _by_raters(each, raters, n_raters)
    if other is not None:
        target = 0.8 if target is None else target
        found["least_inputs"] = _least_of_these(found, target)
    attrs: dict[str, Any] = {"target": target, "method": "formula" if difference is not None else method}
    attrs |= {} if difference is not None else {"n_trials": n_trials, "seed": str(asked.seed)}
    attrs |= {"alpha": alpha} if "power" in found else {"confidence_level": confidence_level}
    attrs |= {} if difference is not None else measure.attrs
    attrs |= {} if rating is None else {"rating": found.attrs["gold"], "along": along}
    named = {name: size for name, size in asked.sizes.scalars(found.attrs).items() if name not in found.dims}
    return results.result(
        xr.Dataset(found.data_vars), None, analysis="plan", gold=found.attrs["gold"], **attrs, **named
    )


def _ratings(ds: Any, gold: Any, other: Any, method: str, rating: Any, along: str) -> Ratings:
    """The ratings that plans are made from."""
    if gold is not None:
        raise ValueError("gold and rating are both given; with rating= the mean of the ratings is the gold")
    if other is not None or method == "simulation":
        what = "other" if other is not None else "method='simulation'"
        raise ValueError(f"{what} knows no raters: plans for n_raters are made by formula, of widths and of difference")
    if isinstance(ds, xr.Dataset):
        schema.checked_scores(ds)  # what is wrong with these is said first
    return Ratings.of(ds, rating, along)


def _by_raters(each: list[xr.Dataset], raters: Sequence[int | None], given: Any) -> xr.Dataset:
    """The plans of all numbers of raters."""
    if raters[0] is None:
        return each[0]
    if not _validate.is_list(given):
        return each[0].assign_attrs(n_raters=raters[0])
    return xr.concat(each, xr.DataArray(list(raters), dims="n_raters", name="n_raters"), combine_attrs="override",
                     data_vars="all").transpose(..., "n_raters")  # fmt: skip


def _checked_level(level: Any, coefficient: Any) -> Measure:
    _validate.choice("level", level, _BOTH)
    measure = checked_measure(level, coefficient, "pairwise", "drop")
    if measure.coefficient.normal_value is None:
        raise ValueError(f"there is no plan for coefficient={coefficient!r}, whose value of normal scores is not known")
    return measure


# --- Widths ---


@dataclass(frozen=True)
class _Given:
    """What widths are planned from."""

    labels: list[Any]
    gold_name: str
    source: Source
    by_raters: Callable[[int | None], list[Planned]]


def _widths(given: _Given, target: float | None, asked: Asked, progress: bool | None, raters: int | None) -> xr.Dataset:
    """Widths of intervals in all designs."""
    systems, inputs = asked.sizes.of(N_SYSTEMS, N_INPUTS)
    planned = given.by_raters(raters)
    asked = asked if raters is None else replace(asked, method="formula")
    shape = (len(planned), len(systems), len(inputs))
    numbers = {each: np.full(shape, np.nan) for each in _NUMBERS}
    simulated = np.zeros(shape[1:], dtype=bool)
    floor, least = np.full(shape[:2], np.nan), np.full(shape[:2], np.nan)
    drawn = [(n, m) for n in systems if not asked.by_formula(n) for m in inputs]
    expected = [each.own for each in planned]
    by_design = _simulated(given.source, drawn, expected, asked, progress) if drawn else {}
    for at, one in enumerate(expected):
        for row, n in enumerate(systems):
            floor[at, row] = planning.width(one, n, math.inf, asked.confidence_level, scale=asked.scale)
            if target is not None and asked.by_formula(n):
                least[at, row] = planning.least_inputs(one, n, target, asked.confidence_level, scale=asked.scale)
            for column, m in enumerate(inputs):
                if (n, m) in by_design:
                    at_design = by_design[n, m][:, at]
                    simulated[row, column] = True
                else:
                    low, high, error = planning.interval(one, n, m, asked.confidence_level, scale=asked.scale)
                    at_design = np.array([high - low, error, one.value(m), np.nan])  # nothing is drawn
                limits = _limits(planned[at], (n, m), at_design[0], at_design[3], asked)
                for each, value in zip(numbers, (*at_design, *limits), strict=True):
                    numbers[each][at, row, column] = value
            if target is not None and not asked.by_formula(n):
                enough = [m for m, wide in zip(inputs, numbers["width"][at, row], strict=True) if wide <= target]
                least[at, row] = min(enough, default=math.nan)
    coords = {"metric": given.labels, "n_systems": systems, "n_inputs": inputs}
    found = xr.Dataset({each: (list(coords), values) for each, values in numbers.items()}, coords)
    found["simulated"] = (["n_systems", "n_inputs"], simulated)
    found["floor"] = (["metric", "n_systems"], floor)
    if target is not None:
        found["least_inputs"] = (["metric", "n_systems"], least)
    return asked.sizes.squeezed(found.assign_attrs(gold=given.gold_name))


def _limits(planned: Planned, design: Design, width: float, error: float, asked: Asked) -> tuple[float, float]:
    """Limits of a width that is expected of a design; `error` is its Monte-Carlo error, NaN of a formula."""
    n, m = design
    low, high = planned.limits(
        width,
        lambda one: planning.width(one, n, m, asked.confidence_level, scale=asked.scale),
        asked.confidence_level,
        error / width if error > 0 else 0.0,
    )
    return low, min(high, 2.0 / asked.scale) if high == high else high


def _given(ds: xr.Dataset, gold: Any, metric: Any, asked: Asked, ratings: Ratings | None) -> _Given:
    """What widths are planned from: the model, or the data."""
    questions = Questions.of(asked.measure.level, asked.measure.coefficient.name, "pairwise", "drop")
    if isinstance(ds, xr.Dataset) and "model" in ds.attrs:
        source = Source.of(ds, gold, metric, questions, True, None, None)
        known = [Planned(each) for each in _of_model(ds, source, asked)]
        return _Given(source.labels, source.gold_name, source, lambda raters: known)
    found = simulation.prepared(ds, gold, metric)
    _check_enough(found)
    bases = plan_bands.bases(found, asked.measure, ratings)
    source = Source.of(ds, gold, metric, questions, True, None, None)
    labels = list(found.score.indexes["metric"])
    return _Given(labels, found.gold_name, source, lambda raters: [each.planned(raters) for each in bases])


def _of_model(ds: xr.Dataset, source: Source, asked: Asked) -> list[planning.Expected]:
    """What is expected of normal scores with known covariances."""
    _, model = simulation.model_of(ds)
    plain = model.likert is None and not model.missing and model.system_df is None
    plain = plain and not model.outlying and not model.ability_sd
    if asked.method != "simulation" and not (plain and asked.measure.coefficient.name == "pearson"):
        raise ValueError(
            "formulas of a model are for Pearson's r of normal scores without grades and gaps; ask method='simulation'"
        )
    gold, metric = np.array(model.gold_sd), np.array(model.metric_sd)
    covariances = [
        np.array(
            [[[m**2, r * g * m], [r * g * m, g**2]] for g, m, r in zip(gold, metric, model.agreement[at], strict=True)]
        )
        for at in source.chosen
    ]
    return [planning.FromModel(asked.measure.level, each) for each in covariances]


def _check_enough(found: schema.Scores) -> None:
    """Refuse to plan from data that say too little of other systems."""
    systems = found.shape[0]
    if systems < _LEAST_SYSTEMS:
        raise ValueError(
            f"{systems} systems are too few to plan from, {_LEAST_SYSTEMS} are the least; "
            "without data plan from what simulate gives, with the agreement that you expect"
        )
    values, error = components.estimates(found.gold.values[None], tuple(components.EFFECTS.values()))
    variance, spread = float(values[0, 0, 0]), float(error[0, 0, 0])
    said = f"the variance of systems by {found.gold_name!r} is {variance:.3g} with a standard error of {spread:.3g}"
    if not spread < _TOO_ROUGH * variance:
        raise ValueError(f"{said}: too uncertain to plan from; more systems or ratings are needed")
    if spread > _ROUGH * variance:
        _validate.warn(f"{said}: plans are rough", "rough_plan")


def _simulated(
    source: Source, designs: list[Design], expected: list[planning.Expected], asked: Asked, progress: bool | None
) -> dict[Design, FloatArray]:
    """Width, standard error, correlation and Monte-Carlo error of the width, (4, metrics), of each design.

    Of data the mean variance of each design is taken over that of scores of the data's own size, and multiplied by the
    data's own variance: so that the data's own design has the data's own interval.
    """
    own: Design = (source.scores.shape[1], source.scores.shape[2])
    if source.like is not None:
        simulation.check_likeness(source.like, source.scores, source.gold, source.labels)
    every = designs if source.like is None or own in designs else [*designs, own]

    def answer(design: Design, generator: np.random.Generator) -> FloatArray:
        drawn = source.drawn(design, generator)
        found = jackknife.intervals(*drawn, source.targets, asked.measure, _BOTH, asked.confidence_level)
        return np.array([found[2] - found[1], found[3], found[0]])

    found = trials.Trials(every, asked.n_trials, asked.seed, answer).run((3, len(source.targets)), progress)
    # Axes: numbers, designs, trials, metrics.
    squares = found[1] ** 2
    wide, error, r, variance = (means_of(np.moveaxis(each, 1, 0)) for each in (*found, squares))
    spread = [np.sqrt(means_of(np.moveaxis((each - mean[:, None]) ** 2, 1, 0)) / (asked.n_trials - 1))
              for each, mean in ((found[0], wide), (squares, variance))]  # fmt: skip
    if source.like is None:
        return {design: np.array([wide[at], error[at], r[at], spread[0][at]]) for at, design in enumerate(designs)}
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = spread[1] / variance
    base, by_design = every.index(own), {}
    for at, (n, m) in enumerate(designs):
        numbers = []
        for metric, one in enumerate(expected):
            scaled = one.variance(*own) * variance[at, metric] / (variance[base, metric] or math.nan)
            low, high, sd = planning.interval(one, n, m, asked.confidence_level, scale=asked.scale, variance=scaled)
            doubt = (
                math.nan if at == base else (high - low) / 2 * math.hypot(relative[at, metric], relative[base, metric])
            )
            numbers.append((high - low, sd, one.value(m), doubt))
        by_design[n, m] = np.array(numbers).T
    return by_design


# --- Powers ---


def _powers(
    ds: xr.Dataset, gold: Any, metric: Any, other: Any, test: Any, n_resamples: Any, asked: Asked, progress: Any
) -> xr.Dataset:
    """The power of a test that a metric is better than others, in all designs."""
    if "model" not in ds.attrs:
        found = simulation.prepared(ds, gold, None)
        _check_enough(found)
        shape = found.shape
    else:
        shape = ds.sizes["system"], ds.sizes["input"]
    own = shape[1]
    systems, inputs = asked.sizes.of([shape[0]], sorted({max(2, own // 2), own, 2 * own, 4 * own}))
    given = asked.sizes
    power = tests_of.power(
        ds, gold, metric=metric, other=other, level=asked.measure.level, coefficient=asked.measure.coefficient.name,
        tests={"test": {"test": "perm_test"} if test is None else test},
        n_systems=systems if given.n_systems is None or _validate.is_list(given.n_systems) else given.n_systems,
        n_inputs=inputs if given.n_inputs is None or _validate.is_list(given.n_inputs) else given.n_inputs,
        alpha=asked.alpha, n_trials=asked.n_trials, n_resamples=n_resamples, rng=asked.seed, progress=progress,
    )  # fmt: skip
    names = ["power", "ci_low", "ci_high", "mc_error"]
    found_powers = power[names].squeeze("test", drop=True)
    return found_powers.drop_attrs().assign_attrs(gold=power.attrs["gold"])


def _differences(
    ds: xr.Dataset,
    gold: Any,
    difference: Any,
    target: float,
    asked: Asked,
    ratings: Ratings | None,
    raters: int | None,
) -> xr.Dataset:
    """The power of a paired t-test of two systems that differ by so much, and the inputs that it needs."""
    if asked.sizes.n_systems is not None:
        raise ValueError("two systems are compared, whatever n_systems is; leave it out")
    sizes = [_validate.number("difference", each, 0, math.inf) for each in _validate.listed(difference)]
    if not sizes or min(sizes) == 0:
        raise ValueError(f"difference must be above 0, got {difference!r}")
    _validate.unique("difference", sizes)
    found = simulation.prepared(ds, gold, None)
    _, inputs = asked.sizes.of([4], N_INPUTS)
    variance = differences.variance_of_pairs(found.gold.values)
    if ratings is not None and raters is not None:
        variance *= ratings.noise.scale(raters) ** 2
    power = [[differences.power(each, variance, m, asked.alpha) for m in inputs] for each in sizes]
    least = [differences.least_inputs(each, variance, target, asked.alpha) for each in sizes]
    coords = {"difference": sizes, "n_inputs": inputs}
    made = xr.Dataset({"power": (list(coords), power), "least_inputs": (["difference"], least)}, coords)
    if not _validate.is_list(difference):
        made = made.squeeze("difference", drop=True)
    return asked.sizes.squeezed(made.assign_attrs(gold=found.gold_name))


def _least_of_these(found: xr.Dataset, target: float) -> xr.DataArray:
    """The least number of inputs, of those that were tried, with which the power reaches the target."""
    power = found["power"]
    if "n_inputs" not in power.dims:
        return xr.full_like(power, np.nan)
    sizes = xr.zeros_like(power) + found["n_inputs"].astype(float)
    return sizes.where(power >= target).min("n_inputs")
