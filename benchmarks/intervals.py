"""``python benchmarks/intervals.py``: how often each interval of `ci` holds the truth, by design; some hours.

Scores are drawn from crossed random effects (see `xsumstat.simulate`) whose correlation with gold is known. In a trial
all intervals see the same scores. Rows of the table go to ``intervals.json``, one for each design, kind of scores,
level, coefficient, correlation (or difference) and interval.
"""

import argparse
import json
import time
from itertools import product
from pathlib import Path

import numpy as np

from xsumstat.analyses.measure import checked_measure
from xsumstat.coefficients import arrays, leave_one_out
from xsumstat.inference import intervals, jackknife
from xsumstat.inference.intervals import normal_quantile
from xsumstat.resampling import draws
from xsumstat.resampling.bootstrap import BootstrapInterval, Estimates
from xsumstat.simulation.model import Model

SYSTEMS, INPUTS = (8, 10, 16, 25, 60), (30, 100, 300, 1000)
LEVELS, COEFFICIENTS = ("system", "input", "global"), ("pearson", "spearman", "kendall")
KINDS = {
    "normal": {},
    "likert": {"likert": 5},
    "t5": {"system_df": 5.0},
    "outlying": {"outlying": 0.08},
    "gaps": {"missing": 0.3},
    "bad": {},
}
# Of "bad" the first system lies so far below where it was drawn, in gold and metrics; cells have a standard deviation
# of 1. The truth is that of all other systems; metrics that agree less, or more, than .6 are not kept.
BELOW, BAD_DESIGNS, BAD_TARGETS = 4.0, ((8, 40), (10, 40)), (".6", ".6 - .6")
# Correlations of the metrics, alike for systems, inputs and cells; the last two are as good as two before them.
AGREEMENT = (0.0, 0.3, 0.6, 0.9, 0.6, 0.9)
SINGLE = {"0": 0, ".3": 1, ".6": 2, ".9": 3}
PAIRS = {".6 - .3": (2, 1), ".9 - .6": (3, 2), ".6 - .6": (2, 4), ".9 - .9": (3, 5)}
DRAWN = ("percentile", "basic", "normal", "bca", "corrected")
DIMS, CONFIDENCE = ("system", "input"), 0.95
# Designs of more cells get at most so many trials: at global level without draws, and at other levels with draws. At
# global level there are no draws for more cells than the last.
GLOBAL_TRIALS, DRAWN_TRIALS, CELLS_DRAWN = {2_000: 120, 10_000: 40}, {2_500: 40}, 1_600
SEED = 18


def model_of(kind: str) -> Model:
    """The model of a kind of scores."""
    sizes = (0.6, 0.4, 1.0)
    settings = {"likert": None, "missing": 0.0} | KINDS[kind]
    return Model(tuple((rho,) * 3 for rho in AGREEMENT), sizes, sizes, 0.5, **settings)


def drawn_scores(kind: str, model: Model, design: tuple[int, int], generator) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the metrics and of gold."""
    scores, gold = model.draw(design, generator)
    if kind == "bad":
        scores[:, 0] -= BELOW
        gold[0] -= BELOW
    return scores, gold


def truths(model: Model, level: str, n_inputs: int) -> np.ndarray:
    """The correlations of the metrics in the population, (coefficients, metrics)."""
    records = [checked_measure(level, name, "pairwise", "drop").coefficient for name in COEFFICIENTS]
    return model.population(level, records, n_inputs)[0]


def without_draws(scores, gold, measure) -> dict[str, np.ndarray]:
    """Estimates and limits (3, targets) of the intervals that draw nothing, singles before pairs."""
    parts = [leave_one_out.of(x, gold, measure) for x in scores]
    ones = [jackknife.of_one(each, measure, DIMS) for each in parts]
    found = [ones[at] for at in SINGLE.values()]
    found += [jackknife.of_two([parts[a], parts[b]], [ones[a], ones[b]], DIMS) for a, b in PAIRS.values()]
    limits = np.array([(each.estimate, *each.interval(CONFIDENCE)) for each in found]).T
    size = arrays.fisher_size(scores[0], gold, measure.level, measure.missing)
    fisher = np.full(limits.shape, np.nan)
    for at in range(len(SINGLE)):
        estimate = limits[0, at]
        fisher[:, at] = estimate, *intervals.fisher_interval(estimate, size, measure.coefficient, CONFIDENCE)[:2]
    return {"jackknife": limits, "fisher": fisher}


def with_draws(scores, gold, measure, n_resamples: int, seed: int) -> dict[str, np.ndarray]:
    """Likewise of those that draw; pairs and singles from the same draws."""
    made = Estimates.of(scores, gold, [(at,) for at in range(len(scores))], measure, DIMS)
    singles, pairs = np.array([[at] for at in SINGLE.values()]), np.array(list(PAIRS.values()))
    samples: dict[tuple, np.ndarray] = {}
    found = {}
    for name in DRAWN:
        how = BootstrapInterval(name, DIMS, n_resamples, seed, CONFIDENCE)
        for plan in how.plans(made.shape):
            if plan.dims not in samples:
                samples[plan.dims] = np.hstack([drawn(made, plan, at) for at in range(draws.n_blocks(n_resamples))])
        rows = [samples[plan.dims] for plan in how.plans(made.shape)]
        targets = (Estimates(made.estimators, places, made.shape) for places in (singles, pairs))
        found[name] = np.hstack([how.summarised(each, rows)[:3] for each in targets])
    return found


def drawn(made: Estimates, plan, block: int) -> np.ndarray:
    """The statistics of a block of draws."""
    out = np.empty((len(made.estimators), draws.block_rows(plan.n_resamples, block)))
    made.drawn(plan.block(block), out)
    return out


def summarised(estimates: np.ndarray, low: np.ndarray, high: np.ndarray, truth: float, sd: float) -> dict:
    """What is told of one interval over its trials."""
    there = ~np.isnan(low) & ~np.isnan(high)
    low, high = low[there], high[there]
    below, above = high < truth, low > truth
    width = float(np.mean(high - low)) / (2 * normal_quantile(CONFIDENCE) * sd) if len(low) and sd > 0 else np.nan
    shares = [round(float(each.mean()), 4) if len(low) else None for each in (~(below | above), below, above)]
    names = ("coverage", "misses_low", "misses_high")
    width = round(width, 3) if np.isfinite(width) else None
    return dict(zip(names, shares, strict=True)) | {"relative_width": width, "trials": int(there.sum())}


def at_most(trials: dict[int, int], cells: int) -> float:
    """How many trials a design of so many cells gets."""
    return min((number for more, number in trials.items() if cells > more), default=np.inf)


def cell(kind: str, design: tuple[int, int], known: dict, asked: argparse.Namespace) -> list[dict]:
    """The rows of one kind of scores and one design."""
    model, rows = model_of(kind), []
    places = list(product(asked.levels, COEFFICIENTS))
    measures = [checked_measure(level, name, "pairwise", "drop") for level, name in places]
    found: list[dict[str, list]] = [{} for _ in places]
    cells = design[0] * design[1]
    for trial in range(asked.trials if asked.methods != "drawn" else asked.drawn):
        generator = draws.generator(SEED, trial)
        scores, gold = drawn_scores(kind, model, design, generator)
        seed = int(generator.integers(2**63))
        for at, ((level, _), measure) in enumerate(zip(places, measures, strict=True)):
            plain = asked.methods != "drawn" and (level != "global" or trial < at_most(GLOBAL_TRIALS, cells))
            numbers = without_draws(scores, gold, measure) if plain else {}
            with_some = asked.methods != "plain" and (level != "global" or cells <= CELLS_DRAWN)
            if with_some and trial < min(asked.drawn, at_most(DRAWN_TRIALS, cells)):
                numbers |= with_draws(scores, gold, measure, asked.resamples, seed)
            for name, each in numbers.items():
                found[at].setdefault(name, []).append(each)
    for at, (level, name) in enumerate(places):
        true = known[level if level != "system" else (level, design[1])][COEFFICIENTS.index(name)]
        targets = {**SINGLE, **PAIRS}
        for interval, each in found[at].items():
            numbers = np.array(each)  # (trials, 3, targets)
            for place, (label, metrics) in enumerate(targets.items()):
                if kind == "bad" and label not in BAD_TARGETS:
                    continue
                one = true[metrics] if label in SINGLE else true[metrics[0]] - true[metrics[1]]
                estimates = numbers[:, 0, place]
                sd = float(np.nanstd(estimates, ddof=1))
                told = summarised(estimates, numbers[:, 1, place], numbers[:, 2, place], one, sd)
                where = {"kind": kind, "n_systems": design[0], "n_inputs": design[1], "level": level}
                rows.append(where | {"coefficient": name, "r": label, "interval": interval, **told})
    return rows


def main() -> None:
    """Measure the chosen kinds and designs, the small ones first, and keep what is found after each."""
    made = argparse.ArgumentParser(prog="python benchmarks/intervals.py", description=__doc__.splitlines()[0])
    made.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    made.add_argument("--levels", nargs="+", choices=LEVELS, default=LEVELS)
    made.add_argument("--cells", nargs=2, type=int, default=(0, 10**9), help="designs of so many cells (from, to)")
    made.add_argument("--trials", type=int, default=500, help="of the intervals without draws (default: 500)")
    made.add_argument("--drawn", type=int, default=120, help="of those with draws (default: 120)")
    made.add_argument("--resamples", type=int, default=299, help="of each bootstrap (default: 299)")
    made.add_argument("--methods", choices=("all", "plain", "drawn"), default="all")
    made.add_argument("--output", type=Path, default=Path(__file__).parent / "intervals.json")
    asked = made.parse_args()
    rows = json.loads(asked.output.read_text()) if asked.output.exists() else []
    designs = sorted({*product(SYSTEMS, INPUTS), *BAD_DESIGNS}, key=lambda each: (each[0] * each[1], each))
    known: dict[str, dict] = {}
    for design, kind in product(designs, asked.kinds):
        if not asked.cells[0] <= design[0] * design[1] <= asked.cells[1]:
            continue
        if (kind == "bad") != (design in BAD_DESIGNS):
            continue
        start = time.time()
        model, seen = model_of(kind), known.setdefault(kind, {})
        for level in asked.levels:
            key = (level, design[1]) if level == "system" else level
            if key not in seen:
                seen[key] = truths(model, level, design[1])
        new = cell(kind, design, seen, asked)
        names = ("kind", "n_systems", "n_inputs", "level", "interval")
        replaced = {tuple(row[name] for name in names) for row in new}
        rows = [row for row in rows if tuple(row[name] for name in names) not in replaced] + new
        asked.output.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
        print(kind, design, f"{time.time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
