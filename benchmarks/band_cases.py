"""What `bands.py` measures: scores of which more can be drawn, what is asked of them, and what is true."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

METRICS = ["a", "b", "c"]
CORE = ("metric", "system", "input")
INPUTS = "these systems, new inputs"
BOTH = "new systems and inputs"

Numbers = dict[str, tuple[float, float, float]]  # by row: estimate, lower and upper limit


@dataclass
class World:
    """One set of systems, or one population: how scores of it are drawn, and the truth of each row."""

    draw: Callable[[np.random.Generator], xr.Dataset]
    truth: dict[str, float]


@dataclass
class Case:
    """A design of one analysis.

    Attributes
    ----------
    analysis, design, of : str
        What is asked, of what scores, and what its band is of.
    world : callable
        From a generator to a `World`.
    ask : callable
        From scores, the number of resamples and a seed to the numbers of each row.
    worlds : int
        How many are drawn: several where the band is of these very systems.
    """

    analysis: str
    design: str
    of: str
    world: Callable[[np.random.Generator], World]
    ask: Callable[[xr.Dataset, int, int], Numbers]
    worlds: int = 1


# --- Scores ---


def mixed(generator: np.random.Generator, rho: float, shape: tuple[int, ...], n: int) -> np.ndarray:
    """Standard normal numbers of n scores, each two correlated by rho, (n, *shape)."""
    common, own = generator.standard_normal(shape), generator.standard_normal((n, *shape))
    return math.sqrt(rho) * common + math.sqrt(1 - rho) * own


def graded(x: np.ndarray, points: int | None) -> np.ndarray:
    """Scores rounded to 1, ..., points, which span two standard deviations to either side."""
    if points is None:
        return x
    return np.clip(np.rint((points + 1) / 2 + x / x.std() * (points - 1) / 4), 1, points)


def outputs(generator: np.random.Generator, systems: np.ndarray, n_inputs: int, points: int | None) -> xr.Dataset:
    """Three metrics' scores of these systems, (metrics, systems), on inputs of different difficulty and spread."""
    shape = (systems.shape[1], n_inputs)
    spread = np.exp(0.3 * generator.standard_normal(n_inputs))
    x = 0.8 * systems[:, :, None] + 0.7 * mixed(generator, 0.5, (1, n_inputs), 3)
    x = x + 0.8 * spread * mixed(generator, 0.5, shape, 3)
    return labelled(graded(x, points))


def labelled(scores: np.ndarray, names: list[str] | None = None) -> xr.Dataset:
    """Scores (metrics, systems, inputs) as a Dataset."""
    coords = {dim: [f"{dim[0]}{at}" for at in range(size)] for dim, size in zip(CORE, scores.shape, strict=True)}
    return xr.Dataset({"score": (CORE, scores)}, coords | {"metric": names or METRICS[: len(scores)]})


def model(rho: dict[str, float], likert: int | None = None) -> Any:
    """Crossed normal effects: the gold's and metrics' that agree with it so far."""
    from xsumstat.simulation.model import Model

    return Model(tuple((each,) * 3 for each in rho.values()), (0.6, 0.4, 1.0), (0.6, 0.4, 1.0), 0.3, likert, 0.0)


def drawn_from(chosen: Any, names: list[str], shape: tuple[int, int], generator: np.random.Generator) -> xr.Dataset:
    """Scores of a model, the gold ("gold") first."""
    scores, gold = chosen.draw(shape, generator)
    return labelled(np.concatenate([gold[None], scores]), ["gold", *names])


def averaged(ask: Callable[[int], dict[str, float]], repeats: int) -> dict[str, float]:
    """The mean of what several large sets of scores say of each row."""
    found = [ask(at) for at in range(repeats)]
    return {name: float(np.mean([each[name] for each in found])) for name in found[0]}


def quick(n_resamples: int) -> dict[str, str]:
    """What spares a truth, of two resamples, its band: leaving out each of a thousand systems takes long."""
    return {"method": "bootstrap"} if n_resamples == 2 else {}


def estimates(numbers: Numbers) -> dict[str, float]:
    """The estimates alone."""
    return {name: each[0] for name, each in numbers.items()}


def on_new_inputs(ask: Any, size: tuple[int, int], points: int | None, many: int = 3000) -> Any:
    """A world of some systems on inputs, the truth being what very many inputs say."""

    def world(generator: np.random.Generator) -> World:
        systems = mixed(generator, 0.6, (size[0],), 3)
        truth = estimates(ask(outputs(generator, systems, many, points), 2, 0))
        return World(lambda g: outputs(g, systems, size[1], points), truth)

    return world


# --- Cases ---


def by_bin(name: str, value: str, **keywords: Any) -> Callable[..., Numbers]:
    """What asks `disagreement` or `improvement_consistency` for its five bins."""

    def ask(ds: xr.Dataset, n_resamples: int, seed: int) -> Numbers:
        found = getattr(ds.meta, name)(n_bins=5, n_resamples=n_resamples, rng=seed, **keywords)
        found = found.isel(metric=0, other_metric=1) if "metric" in found.dims else found
        three = [found[each].values for each in (value, "ci_low", "ci_high")]
        return {f"bin {at + 1} of 5": tuple(float(each[at]) for each in three) for at in (1, 2, 3, 4)}

    return ask


def output_cases() -> list[Case]:
    """Bands over inputs of how metrics order outputs."""
    cases = []
    for name, value in (("disagreement", "share"), ("improvement_consistency", "ratio")):
        for size, points, normalise in (((12, 15), 5, "all"), ((12, 50), None, "input"), ((40, 90), 5, "all")):
            ask = by_bin(name, value, normalise=normalise)
            grades = f"{points} grades" if points else "no ties, normalised by input"
            design = f"{size[0]} outputs x {size[1]} inputs, {grades}"
            cases.append(Case(name, design, INPUTS, on_new_inputs(ask, size, points), ask, 8))
    return cases


def drop_cases() -> list[Case]:
    """`range_drop`'s band over inputs."""
    cases = []
    for size, points, limits in (
        ((16, 20), None, {"above": 0.5, "unit": "quantile", "metrics": "a"}),
        ((16, 20), 5, {"above": 3, "unit": "score", "metrics": "a"}),
        ((40, 90), None, {"above": 0.0, "unit": "score", "metrics": "a"}),
    ):

        def ask(ds: xr.Dataset, n_resamples: int, seed: int, limits: dict = limits) -> Numbers:
            found = ds.meta.range_drop(n_resamples=n_resamples, n_simulations=19, rng=seed, **limits)
            pairs = {"a, b (a decides)": (0, 1), "b, c": (1, 2)}
            return {
                name: tuple(float(found[each].values[at]) for each in ("difference", "ci_low", "ci_high"))
                for name, at in pairs.items()
            }

        design = f"{size[0]} outputs x {size[1]} inputs, {f'{points} grades' if points else 'no ties'}, "
        design += f"above {limits['above']:g} ({limits['unit']})"
        cases.append(Case("range_drop", design, INPUTS, on_new_inputs(ask, size, points, 600), ask, 6))
    return cases


def ratings(
    generator: np.random.Generator, size: tuple[int, int], points: int | None, bias: bool = True, wide: bool = False
) -> xr.Dataset:
    """Three raters of unequal care and two metrics; scores and ratings of systems on inputs."""
    quality = 0.6 * generator.standard_normal((size[0], 1)) + 0.4 * generator.standard_normal((1, size[1]))
    quality = quality + 0.8 * generator.standard_normal(size)
    care = np.array([0.6, 0.8, 1.0])[:, None, None]
    human = quality + care * generator.standard_normal((3, *size))
    if points is not None:
        human = np.clip(np.rint((points + 1) / 2 + human / 1.35 * (points - 1) / 4), 1, points)
    noise = 0.3 * generator.standard_normal((2, size[0], 1)) + generator.standard_normal((2, *size))
    ds = labelled(quality + np.array([0.6, 1.5])[:, None, None] * noise)
    return ds.assign(rating=(("rater", "system", "input"), human))


def agreement_cases() -> list[Case]:
    """Krippendorff's alpha, of systems and inputs alike."""
    cases = []
    for size, points, measurement in (
        ((8, 20), 5, "ordinal"),
        ((16, 100), 5, "ordinal"),
        ((8, 50), 2, "nominal"),
    ):

        def ask(ds: xr.Dataset, n_resamples: int, seed: int, measurement: str = measurement) -> Numbers:
            settings = {"measurement": measurement, "n_resamples": n_resamples, "rng": seed} | quick(n_resamples)
            found = ds.meta.agreement("rating", **settings)
            return {"alpha": tuple(float(found[each]) for each in ("alpha", "ci_low", "ci_high"))}

        def world(
            generator: np.random.Generator, size: tuple[int, int] = size, points: int = points, ask: Any = ask
        ) -> World:
            truth = averaged(lambda _: estimates(ask(ratings(generator, (400, 400), points), 2, 0)), 12)
            return World(lambda g: ratings(g, size, points), truth)

        design = f"{size[0]} systems x {size[1]} inputs, 3 raters, {points} grades, {measurement}"
        cases.append(Case("agreement", design, BOTH, world, ask))
    return cases


def ceiling_cases() -> list[Case]:
    """The raters' own correlation, and the metrics' difference from it."""
    cases = []
    for size, points, level, coefficient in (
        ((12, 20), 5, "system", "pearson"),
        ((30, 100), 5, "system", "kendall"),
        ((16, 100), 5, "input", "spearman"),
        ((10, 30), None, "input", "pearson"),
    ):
        how = {"level": level, "coefficient": coefficient}

        def ask(ds: xr.Dataset, n_resamples: int, seed: int, how: dict = how) -> Numbers:
            found = ds.meta.human_ceiling("rating", n_resamples=n_resamples, rng=seed, **how)
            one, two = found.sel(metric="rater"), found.sel(metric="a")
            names = ("correlation", "ci_low", "ci_high"), ("difference", "difference_low", "difference_high")
            return {
                "raters": tuple(float(one[each]) for each in names[0]),
                "metric": tuple(float(two[each]) for each in names[0]),
                "metric less raters": tuple(float(two[each]) for each in names[1]),
            }

        def world(generator: np.random.Generator, size: tuple = size, points: Any = points, ask: Any = ask) -> World:
            # Of means over as many inputs, or within single inputs, of very many systems.
            large, repeats = (800, size[1] if ask.__defaults__[0]["level"] == "system" else 30), 12
            truth = averaged(lambda _: estimates(ask(ratings(generator, large, points), 2, 0)), repeats)
            return World(lambda g: ratings(g, size, points), truth)

        grades = f"{points} grades" if points else "no ties"
        design = f"{size[0]} systems x {size[1]} inputs, 3 raters, {grades}, {level} level, {coefficient}"
        cases.append(Case("human_ceiling", design, BOTH, world, ask))
    return cases


def close_cases() -> list[Case]:
    """Correlations over the pairs of systems that the metric scores close, by shares of the pairs and by scores."""
    cases = []
    for size, gaps, unit, resample in (
        ((12, 30), [0.25, 0.5, 1.0], "quantile", "both"),
        ((30, 100), [0.1, 0.25, 0.5, 1.0], "quantile", "both"),
        ((30, 100), [0.2, 0.5], "score", "both"),
        ((30, 100), [0.1, 0.25, 1.0], "quantile", "input"),
    ):

        def ask(
            ds: xr.Dataset, n_resamples: int, seed: int, gaps: list = gaps, unit: str = unit, how: str = resample
        ) -> Numbers:
            settings = {"gap": gaps, "unit": unit, "n_resamples": n_resamples, "rng": seed, "resample": how}
            settings |= quick(n_resamples)
            found = ds.meta.close_corr("gold", metric="a", **settings).isel(metric=0)
            three = [found[each].values for each in ("correlation", "ci_low", "ci_high")]
            return {f"gap to {gap:g}": tuple(float(each[at]) for each in three) for at, gap in enumerate(gaps)}

        def world(generator: np.random.Generator, size: tuple = size, ask: Any = ask, how: str = resample) -> World:
            chosen = model({"a": 0.8})
            if how == "both":
                large = (1000, size[1])
                truth = averaged(lambda _: estimates(ask(drawn_from(chosen, ["a"], large, generator), 2, 0)), 10)
                return World(lambda g: drawn_from(chosen, ["a"], size, g), truth)
            # The mean over sets of new inputs of what is found on as many; draws of cells add to the same systems.
            systems = np.array([1.0, 1.0])[:, None] * mixed(generator, 0.8, (size[0],), 2) * 0.6

            def again(g: np.random.Generator) -> xr.Dataset:
                own = 0.4 * mixed(g, 0.8, (1, size[1]), 2) + mixed(g, 0.8, size, 2)
                return labelled(systems[:, :, None] + own, ["gold", "a"])

            return World(again, averaged(lambda _: estimates(ask(again(generator), 2, 0)), 100))

        of = BOTH if resample == "both" else "these systems, as many new inputs (the mean)"
        design = f"{size[0]} systems x {size[1]} inputs, Kendall, gaps by {unit}, resample={resample!r}"
        cases.append(Case("close_corr", design, of, world, ask, 1 if resample == "both" else 5))
    return cases


def top_cases() -> list[Case]:
    """Correlations among the best systems, of as large a share of the population."""
    cases = []
    for size, ks, how in (
        ((12, 30), (12, 6), {"coefficient": "pearson"}),
        ((40, 100), (40, 20, 10), {"coefficient": "pearson"}),
        ((24, 100), (24, 12, 6), {"coefficient": "kendall"}),
        ((24, 100), (24, 12, 6), {"coefficient": "pearson", "level": "input"}),
    ):

        def ask(
            ds: xr.Dataset, n_resamples: int, seed: int, how: dict = how, ks: tuple = ks, n: int = size[0]
        ) -> Numbers:
            sizes = [ds.sizes["system"] * k // n for k in ks]
            found = ds.meta.top_k_corr("gold", k=sizes, metric="a", n_resamples=n_resamples, rng=seed, **how)
            three = [found[each].isel(metric=0).values for each in ("correlation", "ci_low", "ci_high")]
            return {f"k = {k}": tuple(float(each[at]) for each in three) for at, k in enumerate(ks)}

        def world(generator: np.random.Generator, size: tuple = size, ask: Any = ask) -> World:
            chosen, large = model({"a": 0.8}), (size[0] * 1200 // size[0], size[1])
            truth = averaged(lambda _: estimates(ask(drawn_from(chosen, ["a"], large, generator), 2, 0)), 12)
            return World(lambda g: drawn_from(chosen, ["a"], size, g), truth)

        level = how.get("level", "system")
        design = f"{size[0]} systems x {size[1]} inputs, {level} level, {how['coefficient']}"
        cases.append(Case("top_k_corr", design, "the same share of all systems, new inputs", world, ask))
    return cases


def matrix_cases() -> list[Case]:
    """Correlations of metrics with each other; the truth by formula, as all effects of the two correlate alike."""
    cases = []
    for size, level, coefficient in (
        ((12, 30), "system", "pearson"),
        ((30, 100), "system", "kendall"),
        ((16, 100), "input", "spearman"),
        ((16, 300), "input", "pearson"),
    ):

        def ask(ds: xr.Dataset, n_resamples: int, seed: int, how: tuple = (level, coefficient)) -> Numbers:
            settings = {"level": how[0], "coefficient": how[1], "n_resamples": n_resamples, "rng": seed}
            found = ds.meta.metric_ci(metric=["a", "b"], **settings).isel(metric=0, other_metric=1)
            return {"a, b": tuple(float(found[each]) for each in ("correlation", "ci_low", "ci_high"))}

        def world(generator: np.random.Generator, size: tuple = size, coefficient: str = coefficient) -> World:
            from xsumstat.coefficients import table

            chosen, r = model({"a": 0.9, "b": 0.8}), 0.9 * 0.8 + 0.3 * math.sqrt((1 - 0.81) * (1 - 0.64))
            truth = float(np.asarray(table.get(coefficient).normal_value(np.array([r])))[0])
            return World(lambda g: drawn_from(chosen, ["a", "b"], size, g), {"a, b": truth})

        design = f"{size[0]} systems x {size[1]} inputs, {level} level, {coefficient}"
        cases.append(Case("metric_ci", design, BOTH, world, ask))
    return cases


def pooled_cases() -> list[Case]:
    """Pairwise accuracy pooled over three languages of their own systems; the truth by formula."""
    cases = []
    for size in ((10, 40), (25, 100)):

        def ask(ds: xr.Dataset, n_resamples: int, seed: int) -> Numbers:
            settings = {"coefficient": "pairwise_accuracy", "pool": "language", "n_resamples": n_resamples, "rng": seed}
            one = ds.meta.ci("gold", metric="a", **settings).isel(metric=0)
            two = ds.meta.ci("gold", metric="a", other="b", **settings).isel(metric=0, other_metric=0)
            limits = ("ci_low", "ci_high")
            return {
                "accuracy": tuple(float(one[each]) for each in ("correlation", *limits)),
                "difference": tuple(float(two[each]) for each in ("difference", *limits)),
            }

        def world(generator: np.random.Generator, size: tuple = size) -> World:
            chosen = model({"a": 0.8, "b": 0.6})
            one, two = (0.5 + math.asin(r) / math.pi for r in (0.8, 0.6))

            def draw(g: np.random.Generator) -> xr.Dataset:
                each = [drawn_from(chosen, ["a", "b"], size, g) for _ in range(3)]
                return xr.concat(each, xr.DataArray(["x", "y", "z"], dims="language", name="language"))

            return World(draw, {"accuracy": one, "difference": one - two})

        design = f"3 languages of {size[0]} systems x {size[1]} inputs, system level"
        cases.append(Case("ci, pool", design, BOTH, world, ask))
    return cases


def cases() -> list[Case]:
    """All of them."""
    kinds = (output_cases, drop_cases, agreement_cases, ceiling_cases, close_cases, top_cases, matrix_cases)
    return [case for kind in (*kinds, pooled_cases) for case in kind()]
