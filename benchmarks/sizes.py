"""``python benchmarks/sizes.py``: how often each test finds, at .05, what is not there.

Writes what was found to ``sizes.json`` and, as tables, to ``docs/calibration``.
"""

import argparse
import json
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import xarray as xr
from calibration import into_page

import xsumstat
from xsumstat.simulation.model import Model

HERE = Path(__file__).parent
ALPHA, BATCH, RESAMPLES, LARGE = 0.05, 25, 399, 5000
DIMS = ("metric", "system", "input")
DESIGNS = ((10, 100), (16, 100), (25, 300))
RANGES = ((16, 40), (10, 40))
SMALL = ((10, 30), (12, 40), (16, 100))
RANKED = ((8, 60), (16, 100), (25, 60))
COMPARED = ((5, 100), (8, 60), (12, 40), (16, 100), (25, 60), (60, 100))
GROUPS = {"input": "input", "within_system": "system"}
LEVELS = ("system", "input", "global", "within_system")
TAILS = ("two-sided", "greater")

Shape = tuple[int, int]


# --- Scores of which the null hypothesis holds ---

EFFECTS = (0.6, 0.4, 1.0)  # sds of systems, inputs and cells, those of `simulate`
NULLS = {
    "noise": "two copies of one metric, each with its own noise in every output: outputs are exchangeable",
    "own effects": "two metrics of the same population correlation (.6), each with system, input and cell effects",
    "own effects, graded": "own effects, with human scores in five grades",
    "own effects, gaps": "own effects, with 30 % of the human scores missing",
    "own effects, t5": "own effects, where those of systems follow a t distribution with 5 degrees of freedom",
    "own effects, outlying": "own effects, where each system's effects are four times as large with probability .1",
    "own effects, of these": "two metrics that agree equally well with the human scores on these systems, and favour "
    "different ones",
    "own effects, ranks of these": "two metrics whose means rank these systems equally well, but differently",
    "power": "no null hypothesis: two metrics whose population correlations are .8 and .5",
    "margin": "two metrics whose population correlations (.8 and .6) differ by exactly the margin",
    "margin, high": "two metrics whose population correlations (.95 and .85) differ by exactly the margin",
    "margin, of these": "two metrics whose correlations with the human scores on these systems (.8 and .6) differ by "
    "exactly the margin",
    "unrelated": "a metric that is independent of the human scores",
    "inputs": "two systems with the same mean and input effects, and normal noise",
    "inputs, skewed": "two systems with the same mean and input effects, and exponential noise in opposite directions",
    "no effect": "scores of independent outputs",
    "systems differ": "scores of independent outputs, with effects of systems",
    "normal": "two metrics with the same dependence in the whole range of scores, normal on each input",
    "normal, inputs differ": "normal, with inputs of different difficulty",
    "normal, tied": "normal, with the selecting metric rounded to half its standard deviation within inputs",
    "judge": "the rater's win rate exceeds the judge's by exactly the margin; items are independent",
}


# What is other than normal in the scores of a null hypothesis.
OTHERWISE = {
    "own effects, graded": {"likert": 5},
    "own effects, gaps": {"missing": 0.3},
    "own effects, t5": {"system_df": 5.0},
    "own effects, outlying": {"outlying": 0.1},
}
# How well the metrics agree with the gold; of "noise" the one of which copies are made.
AGREEMENT = {
    "noise": (0.8,),
    "own effects": (0.6, 0.6),
    "power": (0.8, 0.5),
    "margin": (0.8, 0.6),
    "margin, high": (0.95, 0.85),
    "unrelated": (0.0,),
}


def scores_and_gold(null: str, shape: Shape, rng: np.random.Generator, metrics: int, likert: int | None) -> np.ndarray:
    """Scores of metrics of which a null hypothesis holds, and the gold, which comes last."""
    if null in ("own effects, of these", "own effects, ranks of these"):
        return of_these_systems(shape, rng, ranked="ranks" in null)
    if null == "margin, of these":
        return of_these_systems(shape, rng, agreement=AGREEMENT["margin"])
    agreement = (0.6,) * metrics if null.startswith("own effects") else AGREEMENT[null]
    usual = {"likert": likert, "missing": 0.0}
    model = Model(tuple((each,) * 3 for each in agreement), EFFECTS, EFFECTS, 0.3, **usual | OTHERWISE.get(null, {}))
    scores, gold = model.draw(shape, rng)
    scores = scores + rng.normal(size=(metrics, *shape)) if null == "noise" else scores
    return np.concatenate([scores, gold[None]])


def of_these_systems(
    shape: Shape, rng: np.random.Generator, ranked: bool = False, agreement: tuple[float, float] = (0.6, 0.6)
) -> np.ndarray:
    """Two metrics whose systems' effects have the same sd and just these correlations with the gold's, and the gold.

    Where they are ranked, the second metric has the ranks of the inverse permutation, by gold, of the first one's:
    Kendall's and Spearman's coefficients are the same for both.
    """
    effects = np.linalg.qr(np.column_stack([np.ones(shape[0]), rng.normal(size=(shape[0], 3))]))[0][:, 1:]
    gold, *own = effects.T * math.sqrt(shape[0])
    one, two = (r * gold + math.sqrt(1 - r**2) * each for r, each in zip(agreement, own[:2], strict=True))
    if ranked:
        order = np.argsort(gold)
        values, places = np.sort(one), np.argsort(np.argsort(one[order]))
        two = np.empty_like(one)
        two[order[places]] = values
    systems = np.array([one, two, gold])
    cells = rng.normal(size=(3, *shape)) + EFFECTS[1] * rng.normal(size=(3, 1, shape[1]))
    return EFFECTS[0] * systems[..., None] + cells


def of_metrics(
    null: str, shape: Shape, rng: np.random.Generator, trials: int, metrics: int = 2, ties: str = ""
) -> xr.Dataset:
    """Sets of scores of metrics and gold, side by side along a dim of trials."""
    likert = 5 if ties else None
    drawn = np.stack([scores_and_gold(null, shape, rng, metrics, likert) for _ in range(trials)], axis=-1)
    if ties == "coarse":
        drawn[:-1] = np.rint(2 * drawn[:-1])
    labels = [*(f"m{at}" for at in range(len(drawn) - 1)), "gold"]
    return xr.Dataset({"score": ((*DIMS, "trial"), drawn)}, {"metric": labels}, {"gold": "gold"})


def of_systems(null: str, shape: Shape, rng: np.random.Generator, trials: int) -> xr.Dataset:
    """Sets of scores along the dim of metrics."""
    systems, inputs = shape
    cells = rng.normal(size=(trials, systems, inputs))
    if null == "inputs, skewed":
        cells = (rng.exponential(size=cells.shape) - 1) * np.array([1.0, -1.0])[:, None]
    if null.startswith("inputs"):
        cells = cells + rng.normal(size=(trials, 1, inputs))
    if null == "systems differ":
        cells = cells + 0.6 * rng.normal(size=(trials, systems, 1))
    return xr.Dataset({"score": (DIMS, cells)})


# --- Tests ---


@dataclass(frozen=True)
class Case:
    """A test with its settings, scores of which its null hypothesis holds, and the p-values that it gives for them.

    Attributes
    ----------
    test, settings, level, null : str
        What is tested, as the table says it.
    pvalues : callable
        From a shape, a generator, a number of sets of scores and a tail, a p-value for each set.
    tails : tuple of str
    shapes : tuple of (systems, inputs)
    trials : int
    """

    test: str
    settings: str
    level: str
    null: str
    pvalues: Callable[[Shape, np.random.Generator, int, str], np.ndarray]
    tails: tuple[str, ...] = ("two-sided",)
    shapes: tuple[Shape, ...] = DESIGNS
    trials: int = 500

    def asked(self) -> list[tuple[Shape, str]]:
        """Designs and tails; a second tail is measured with the second design only."""
        first, *further = self.tails
        return [*((shape, first) for shape in self.shapes), *((self.shapes[1], tail) for tail in further)]

    @property
    def name(self) -> str:
        """What ``--only`` is looked for in."""
        return " | ".join(self.about)

    @property
    def about(self) -> tuple[str, ...]:
        """What rows of the table know it by."""
        return self.test, self.settings, self.level, self.null


def seed_of(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63))


def of_pair(function: str, null: str, ties: str = "", drawn: bool = True, tailed: bool = True, **how) -> Callable:
    """A test of two metrics."""

    def pvalues(shape: Shape, rng: np.random.Generator, trials: int, tail: str) -> np.ndarray:
        ds = of_metrics(null, shape, rng, trials, ties=ties)
        keywords = how | ({"n_resamples": RESAMPLES, "rng": seed_of(rng)} if drawn else {})
        keywords |= {"alternative": tail} if tailed else {}
        found = getattr(ds.meta, function)("gold", metric="m0", other="m1", **keywords)
        return found.pvalue.squeeze(["metric", "other_metric"]).values

    return pvalues


def any_of_family(null: str, function: str = "perm_test", **how) -> Callable:
    """Whether any two of five equal metrics are told apart: 0 where they are, else 1."""

    def pvalues(shape: Shape, rng: np.random.Generator, trials: int, tail: str) -> np.ndarray:
        ds = of_metrics(null, shape, rng, trials, metrics=5)
        found = getattr(ds.meta, function)("gold", n_resamples=1999, rng=seed_of(rng), **how)
        if function == "rank":
            return np.where(found.cluster.max("metric").values > 1, 0.0, 1.0)
        return found.pvalue_adjusted.min(["metric", "other_metric"]).values

    return pvalues


def tasks(null: str) -> Callable:
    """Whether `rank_tasks` tells two equal metrics apart in the average of two tasks."""

    def pvalues(shape: Shape, rng: np.random.Generator, trials: int, tail: str) -> np.ndarray:
        one, two = (of_metrics(null, shape, rng, trials) for _ in range(2))
        found = []
        for at in range(trials):
            asked = {"a": {"ds": one.isel(trial=at)}, "b": {"ds": two.isel(trial=at), "level": "input"}}
            table = xsumstat.rank_tasks(asked, n_resamples=RESAMPLES, rng=seed_of(rng))
            found.append(float(table.pvalue.sel(metric="m0", other_metric="m1")))
        return np.array(found)

    return pvalues


def correlation(level: str, name: str) -> Callable:
    """SciPy's p-value that `corr` passes on."""

    def pvalues(shape: Shape, rng: np.random.Generator, trials: int, tail: str) -> np.ndarray:
        ds = of_metrics("unrelated", shape, rng, trials)
        dim = GROUPS.get(level)
        ds = ds.isel({dim: [0]}) if dim else ds
        found = ds.meta.corr("gold", level=level, coefficient=name, average=False).pvalue
        return found.squeeze(["metric", *([dim] if dim else [])]).values

    return pvalues


def compared(null: str, **how) -> Callable:
    """A test of two systems."""

    def pvalues(shape: Shape, rng: np.random.Generator, trials: int, tail: str) -> np.ndarray:
        ds = of_systems(null, shape, rng, trials)
        found = ds.meta.compare_systems(n_resamples=RESAMPLES, rng=seed_of(rng), alternative=tail, **how)
        return found.pvalue.isel(system=0, other_system=1).values

    return pvalues


def inputs(null: str) -> Callable:
    def pvalues(shape: Shape, rng: np.random.Generator, trials: int, tail: str) -> np.ndarray:
        return of_systems(null, shape, rng, trials).meta.input_effect().pvalue.values

    return pvalues


def dropped(null: str, **how) -> Callable:
    """The p-value of a drop that exceeds what the range explains."""

    def pvalues(shape: Shape, rng: np.random.Generator, trials: int, tail: str) -> np.ndarray:
        found = []
        for _ in range(trials):
            common, own = rng.normal(size=(1, *shape)), rng.normal(size=(2, *shape))
            x = math.sqrt(0.6) * common + math.sqrt(0.4) * own
            if null.endswith("differ"):
                x = x + 0.7 * rng.normal(size=(1, 1, shape[1]))
            if null.endswith("tied"):
                x[0] = np.rint(2 * x[0]) / 2
            ds = xr.Dataset({"score": (DIMS, x)}, {"metric": ["a", "b"]})
            got = ds.meta.range_drop(n_resamples=9, n_simulations=39, rng=seed_of(rng), **how)
            found.append(float(got.excess_pvalue.sel(metric="a", other_metric="b")))
        return np.array(found)

    return pvalues


@cache
def judge_noise(margin: float, raters: int = 3) -> float:
    """The noise at which a judge wins less often than a rater by the margin, from many items."""
    rng = np.random.default_rng(0)
    others, rater, judge = rng.normal(size=(raters - 1, 400_000)), *rng.normal(size=(2, 400_000))
    low, high = 1.0, 4.0
    for _ in range(40):
        noise = (low + high) / 2
        apart = [np.square(others - each).mean(axis=0) for each in (rater, noise * judge)]
        low, high = (
            (noise, high) if np.mean(apart[0] < apart[1]) - np.mean(apart[0] > apart[1]) < margin else (low, noise)
        )
    return noise


def replaced(test: str) -> Callable:
    """The alternative annotator test of the first of three raters."""

    def pvalues(shape: Shape, rng: np.random.Generator, trials: int, tail: str) -> np.ndarray:
        truth = rng.normal(size=(*shape, trials))
        rating = xr.DataArray(
            truth + rng.normal(size=(3, *truth.shape)), dims=("rater", "system", "input", "trial"), name="rating"
        )
        judge = truth + judge_noise(0.2) * rng.normal(size=truth.shape)
        ds = xr.Dataset({"score": ((*DIMS, "trial"), judge[None])}, {"metric": ["judge"]})
        return ds.meta.alt_test(rating, test=test).pvalue.isel(metric=0, rater=0).values

    return pvalues


# --- What is measured ---


def of_correlations() -> Iterator[Case]:
    """Tests of two metrics at every level."""
    for level in LEVELS:
        rank = "pearson" if level == "system" else "kendall"
        for null in ("noise", "own effects"):
            for swapped in ("both", "system", "input", "crossed"):
                how = {"resample": "both", "crossed": True} if swapped == "crossed" else {"resample": swapped}
                name = f"resample='{swapped}'" if swapped != "crossed" else "crossed=True"
                test = of_pair("perm_test", null, level=level, **how)
                yield Case("perm_test", f"{name}, pearson", level, null, test, TAILS)
            for method in ("analytic", "auto") * (level != "system"):
                test = of_pair("perm_test", null, level=level, method=method, coefficient=rank)
                shapes = ((10, 30), (12, 40)) if level == "global" else DESIGNS
                yield Case("perm_test", f"method='{method}', {rank}", level, null, test, TAILS, shapes, 200)
            for drawn in ("both", "system", "input"):
                test = of_pair("boot_test", null, level=level, resample=drawn)
                yield Case("boot_test", f"resample='{drawn}', pearson", level, null, test, TAILS)
            for method in ("williams", "steiger", "meng", "zou"):
                test = of_pair("corr_test", null, drawn=False, level=level, method=method)
                yield Case("corr_test", f"method='{method}', pearson", level, null, test, TAILS)
        for name in ("pearson", "kendall"):
            yield Case("corr", f"average=False, {name}", level, "unrelated", correlation(level, name), trials=500)


def of_comparisons() -> Iterator[Case]:
    """`compare_metrics` for systems like these and for these systems."""
    asked = [("system", "pearson"), ("system", "spearman"), ("input", "pearson"), ("input", "kendall")]
    for level, name in [*asked, ("global", "pearson"), ("within_system", "pearson")]:
        both = ("noise", "own effects", *OTHERWISE, "power")
        for scope, nulls in (("both", both), ("input", ("noise", "own effects, of these", "power"))):
            if scope == "input" and (level, name) == ("system", "spearman"):
                continue
            for null in nulls:
                test = of_pair("compare_metrics", null, drawn=False, level=level, coefficient=name, resample=scope)
                yield Case("compare_metrics", f"resample='{scope}', {name}", level, null, test, shapes=COMPARED)
    yield from of_ranked_means()


def of_ranked_means() -> Iterator[Case]:
    """`compare_metrics` of ranked system means, for these systems, by three methods, and Kendall's for others too."""
    for name in ("spearman", "kendall"):
        for method in ("jackknife", "bootstrap", "permutation"):
            how = {"level": "system", "coefficient": name, "resample": "input", "method": method}
            for null in ("noise", "own effects, ranks of these"):
                test = of_pair("compare_metrics", null, drawn=method != "jackknife", **how)
                settings = f"resample='input', {name}, method='{method}'"
                yield Case("compare_metrics", settings, "system", null, test, shapes=RANKED, trials=400)
    for null in ("noise", "own effects"):
        test = of_pair("compare_metrics", null, drawn=False, level="system", coefficient="kendall", resample="both")
        yield Case("compare_metrics", "resample='both', kendall", "system", null, test, shapes=RANKED, trials=400)


def of_equivalence() -> Iterator[Case]:
    """Tests that two correlations are within a margin of each other, where they are apart by just the margin."""
    for level in LEVELS:
        for drawn in ("both", "system", "input", *["cell"] * (level == "global")):
            how = {"level": level, "resample": drawn, "margin": 0.2}
            test = of_pair("equivalence", "margin", tailed=False, **how)
            yield Case("equivalence", f"method='tost', resample='{drawn}'", level, "margin", test)
        for method in ("tost_analytic", "anderson_hauck", "jackknife"):
            test = of_pair("equivalence", "margin", drawn=False, tailed=False, level=level, method=method, margin=0.2)
            yield Case("equivalence", f"method='{method}'", level, "margin", test)
    of_these = {"tailed": False, "level": "system", "resample": "input", "margin": 0.2}
    for method in ("tost", "jackknife"):
        test = of_pair("equivalence", "margin, of these", drawn=method == "tost", method=method, **of_these)
        settings = f"method='{method}', resample='input'"
        yield Case("equivalence", settings, "system", "margin, of these", test, shapes=((4, 100), *DESIGNS))
    how = {"drawn": False, "tailed": False, "margin": 0.1}
    for method in ("tost_analytic", "anderson_hauck", "jackknife"):
        test = of_pair("equivalence", "margin, high", method=method, **how)
        yield Case("equivalence", f"method='{method}'", "system", "margin, high", test)
    drawn = of_pair("equivalence", "margin, high", tailed=False, margin=0.1)
    yield Case("equivalence", "method='tost', resample='both'", "system", "margin, high", drawn)


def of_ties() -> Iterator[Case]:
    """Accuracy with ties, soft pairwise accuracy and WMT's tau under swaps."""
    one_by_one = {"swap": "decisions", "resample": "both"}
    for level in LEVELS:
        shapes = SMALL if level in ("system", "input") else SMALL[:2]
        trials = 100 if level == "global" else 200
        ways = {"default (swaps of scores)": {}}
        if level in GROUPS:
            ways = {"default (decisions of a group)": {}, "swap='scores'": {"swap": "scores"}}
        for ties, null in (("fine", "noise"), ("coarse", "noise"), ("fine", "own effects")):
            for name, how in {**ways, "swap='decisions'": one_by_one}.items():
                test = of_pair("perm_test", null, ties, level=level, coefficient="acc_eq", **how)
                settings = f"{name}, {ties} metrics"
                yield Case("perm_test, acc_eq", settings, level, null, test, TAILS[:1], shapes, trials)
    for null in ("noise", "own effects"):
        for swapped in ("both", "system", "input"):
            test = of_pair("perm_test", null, coefficient="spa", resample=swapped)
            yield Case("perm_test, spa", f"resample='{swapped}'", "system", null, test, TAILS[:1], SMALL, 200)


def of_families() -> Iterator[Case]:
    """Whether any of many true hypotheses is rejected."""
    for level, name in (("system", "pearson"), ("input", "kendall")):
        how = {"level": level, "coefficient": name, "alternative": "greater"}
        for adjusted in ("maxt", "holm", "bonferroni", "bh", "by"):
            within = {"within": ("metric", "other_metric")}
            test = any_of_family("noise", adjust=adjusted, **within, **how)
            yield Case("perm_test, five metrics", f"adjust='{adjusted}', {name}", level, "noise", test, trials=500)
        how.pop("alternative")
        for adjusted in (None, "maxt", "holm"):
            test = any_of_family("noise", "rank", method="permutation", adjust=adjusted, **how)
            settings = f"method='permutation', adjust={adjusted!r}, {name}"
            yield Case("rank, five metrics", settings, level, "noise", test, trials=500)
        for null in ("noise", "own effects"):
            test = any_of_family(null, "rank", **how)
            yield Case("rank, five metrics", f"default, {name}", level, null, test, trials=500)
    yield Case("rank_tasks", "two tasks, pearson", "system, input", "noise", tasks("noise"), ("greater",), SMALL, 200)


def of_others() -> Iterator[Case]:
    """Systems, inputs, ranges and judges."""
    for null in ("inputs", "inputs, skewed"):
        for method in ("paired_t", "t", "wilcoxon", "monte_carlo", "hybrid", "bootstrap"):
            shapes = ((2, 20), (2, 100), (2, 300))
            yield Case("compare_systems", f"method='{method}'", "", null, compared(null, method=method), TAILS, shapes)
    for null in ("no effect", "systems differ"):
        yield Case("input_effect", "", "", null, inputs(null), trials=500)
    ranges = {
        "above a quantile": {"above": 0.5, "unit": "quantile"}, "baseline": {"baseline": 0}, "top=5": {"top": 5},
        "between, in scores": {"between": (-0.5, 0.5), "metrics": "a"},
        "above, in scores": {"above": 0.3, "metrics": "a"},
    }  # fmt: skip
    for name, how in ranges.items():
        for null in ("normal", "normal, tied", *["normal, inputs differ"] * ("in scores" in name)):
            yield Case("range_drop", name, "input", null, dropped(null, **how), shapes=RANGES, trials=200)
    for test in ("t", "wilcoxon"):
        yield Case("alt_test", f"test='{test}'", "", "judge", replaced(test), ("less",), ((3, 10), (10, 10), (10, 30)))


CASES = (of_comparisons, of_correlations, of_equivalence, of_ties, of_families, of_others)


# --- Measured ---


@dataclass
class Found:
    """What a case gave with one design and one tail."""

    test: str
    settings: str
    level: str
    null: str
    tail: str
    n_systems: int
    n_inputs: int
    trials: int
    found: int
    undefined: int
    seconds: float = field(default=0.0)


def wilson(found: int, trials: int) -> tuple[float, float, float]:
    """A share with its 95 % limits (Wilson 1927)."""
    z, share = 1.959964, found / trials
    centre = (share + z**2 / (2 * trials)) / (1 + z**2 / trials)
    reach = z / (1 + z**2 / trials) * math.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2))
    return share, max(0.0, centre - reach), centre + reach


def measured(case: Case, shape: Shape, tail: str, trials: int) -> Found:
    """How often p is at most .05."""
    start, pvalues = time.perf_counter(), []
    for batch in range(-(-trials // BATCH)):
        rng = np.random.default_rng([*shape, batch])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pvalues.append(case.pvalues(shape, rng, min(BATCH, trials - batch * BATCH), tail))
    p = np.concatenate(pvalues)
    numbers = len(p), int((p <= ALPHA + 1e-12).sum()), int(np.isnan(p).sum())
    return Found(*case.about, tail, *shape, *numbers, round(time.perf_counter() - start, 2))


def key(row: dict) -> tuple:
    return tuple(row[name] for name in ("test", "settings", "level", "null", "tail", "n_systems", "n_inputs"))


def page(rows: list[dict]) -> str:
    """The table of sizes of some rows, after the null hypotheses that it names."""
    lines = ["| test | settings | null hypothesis | tail | trials | systems × inputs: significant in % (95 % band) |"]
    lines.append("| --- | --- | --- | --- | ---: | --- |")
    grouped: dict[tuple, list[dict]] = {}
    for row in rows:
        grouped.setdefault(key(row)[:5], []).append(row)
    for about, some in grouped.items():
        cells = [_cell(row) for row in sorted(some, key=lambda each: each["n_systems"] * each["n_inputs"])]
        trials = "/".join(dict.fromkeys(str(row["trials"]) for row in some))
        test, settings, _, null, tail = about
        lines.append("| " + " | ".join([test, settings, null, tail, trials, "; ".join(cells)]) + " |")
    named = {row["null"] for row in rows}
    nulls = "\n".join(f"* {name}: {text}." for name, text in NULLS.items() if name in named)
    return f"{nulls}\n\n" + "\n".join(lines) + "\n"


def _cell(row: dict) -> str:
    """One design and its size in percent: bold above 5 %, slanted below."""
    text, defined = "undefined", row["trials"] - row["undefined"]
    if defined:
        share, low, high = (100 * each for each in wilson(row["found"], defined))
        text = f"{share:.1f} ({low:.1f}–{high:.1f})"
        if row["null"] != "power":
            text = f"**{text}**" if low > 100 * ALPHA else f"*{text}*" if high < 100 * ALPHA else text
    return f"{row['n_systems']}×{row['n_inputs']}: {text}"


def pages(rows: list[dict]) -> dict[str, str]:
    """The tables by level; tests of no level, or of several, are "other"."""
    levels = ("system", "input", "global", "within_system")
    of = {level: [row for row in rows if row["level"] == level] for level in levels}
    of["other"] = [row for row in rows if row["level"] not in levels]
    return {level: page(some) for level, some in of.items()}


def main() -> None:
    """Measure the chosen cases one after another."""
    made = argparse.ArgumentParser(prog="python benchmarks/sizes.py", description=__doc__.splitlines()[0])
    made.add_argument("--trials", type=int, help="sets of scores of each case (default: 200 to 1,000)")
    made.add_argument("--only", nargs="+", default=[""], help="measure only cases whose name has one of these in it")
    made.add_argument("--output", type=Path, default=HERE / "sizes.json", help="the JSON to update")
    made.add_argument("--missing", action="store_true", help="measure only cases that the JSON does not have")
    asked = made.parse_args()
    os.environ.setdefault("XSUMSTAT_NUM_THREADS", "1")
    cases = [case for group in CASES for case in group()]
    known = {key(row): row for row in json.loads(asked.output.read_text())} if asked.output.exists() else {}
    for case in cases:
        there = asked.missing and any(key(row)[:4] == case.about for row in known.values())
        if there or not any(text in case.name for text in asked.only):
            continue
        start = time.perf_counter()
        for shape, tail in case.asked():
            trials = asked.trials or (case.trials if math.prod(shape) < LARGE else min(case.trials, 200))
            row = asdict(measured(case, shape, tail, trials))
            known[key(row)] = row
        print(f"{time.perf_counter() - start:7.1f} s  {case.name}", flush=True)
        asked.output.write_text(json.dumps(list(known.values()), indent=1) + "\n")
    order = {case.about: at for at, case in enumerate(cases)}
    rows = sorted((row for row in known.values() if key(row)[:4] in order), key=lambda row: order[key(row)[:4]])
    asked.output.write_text(json.dumps(rows, indent=1) + "\n")
    measured_now = {row[:4] for row in map(key, rows)}
    absent = [case.name for case in cases if case.about not in measured_now]
    if absent:
        print("not measured yet (--missing does so):", "; ".join(absent))
    if asked.output == HERE / "sizes.json":
        for level, text in pages(rows).items():
            into_page(f"sizes, {level}", text)


if __name__ == "__main__":
    sys.exit(main())
