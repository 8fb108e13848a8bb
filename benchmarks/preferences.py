"""``python benchmarks/preferences.py``: what the limits and tests of preferences hold; rows go to `preferences.json`.

A prompt has qualities of its systems, which all raters see, and each rater sees them with noise of its own that the
pairs of the prompt share. The truth is what 60,000 other prompts give. People choose once, the judge in both orders.
"""

import itertools
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import xarray as xr

import xsumstat  # noqa: F401 - registers ds.meta

FILE = Path(__file__).with_name("preferences.json")
LEVEL, TRIALS, BIG = 0.95, 300, 60_000
CELLS = [(60, 2), (60, 3), (60, 6), (120, 3), (200, 2), (500, 2), (500, 4)]
PAIR_NOISE, TIE = 0.3, 0.3


def choices(seen, rng, pull=0.0):
    """Choices (prompts, pairs) of a rater who sees qualities (prompts, systems), and is drawn to the left by a pull."""
    pairs = np.array(list(itertools.combinations(range(seen.shape[1]), 2)))
    gap = seen[:, pairs[:, 0]] - seen[:, pairs[:, 1]]
    gap = gap + PAIR_NOISE * rng.standard_normal(gap.shape) + pull
    return np.where(np.abs(gap) < TIE, 0.0, np.sign(gap))


def drawn(rng, n, k, *, pull=0.0, noise=0.7, judge_noise=0.7, longer=0.0):
    """Choices of two people and a judge (prompts, pairs, orders, raters), and lengths (prompts, systems)."""
    quality = np.linspace(0.4, -0.4, k) + rng.standard_normal((n, k))
    length = rng.standard_normal((n, k))
    quality = quality + 0.5 * length  # longer outputs are better
    values = np.full((n, k * (k - 1) // 2, 2, 3), np.nan)
    for at in (0, 1):
        values[:, :, 0, at] = choices(quality + noise * rng.standard_normal((n, k)), rng)
    seen = quality + judge_noise * rng.standard_normal((n, k)) + longer * length
    for order in (0, 1):
        values[:, :, order, 2] = choices(seen, rng, pull if order == 0 else -pull)
    return values, length


def dataset(values, length):
    """The same as a Dataset."""
    n, k = length.shape
    names = [f"s{at}" for at in range(k)]
    left, right = zip(*itertools.combinations(names, 2), strict=True)
    return xr.Dataset(
        {"preference": (("prompt", "pair", "order", "rater"), values), "length": (("prompt", "system"), length)},
        {
            "prompt": range(n), "pair": [f"{a} | {b}" for a, b in zip(left, right, strict=True)],
            "order": ["left first", "right first"], "rater": ["ann", "ben", "gpt"],
            "kind": ("rater", ["human", "human", "judge"]), "left": ("pair", list(left)),
            "right": ("pair", list(right)), "system": names,
        },
    )  # fmt: skip


def few(ds, n):
    """People saw n prompts at random, which are the first."""
    early = xr.DataArray(np.arange(ds.sizes["prompt"]) < n, dims="prompt")
    kept = ds["preference"].where((ds["kind"] != "human") | early)
    return ds.assign(preference=kept.transpose(*ds["preference"].dims))


def measured(ds):
    """Estimates and limits by name, and p-values by name."""
    n = ds.sizes["prompt"]
    agreed = ds.meta.preference_agreement(adjust=None)
    strengths = few(ds, max(30, n // 4)).meta.rank_systems(adjust=None)
    moved = ds.meta.position_bias(adjust=None)
    liked = ds.meta.preference_bias(given="length", adjust=None)
    judge = agreed.sel(rater="gpt")
    limits = {
        "accuracy": (judge.accuracy, judge.ci_low, judge.ci_high),
        "kappa": (judge.kappa, judge.kappa_low, judge.kappa_high),
        "people": tuple(agreed.sel(rater="people")[name] for name in ("accuracy", "ci_low", "ci_high")),
        "difference": (judge.difference, judge.difference_low, judge.difference_high),
        "position_bias": (moved.position_bias, moved.ci_low, moved.ci_high),
        "flip_share": (moved.flip_share, moved.flip_low, moved.flip_high),
        "length": (liked.difference, liked.ci_low, liked.ci_high),
    }
    for rater in ("people", "gpt", "people + gpt"):
        own = strengths.sel(rater=rater)
        limits[f"strength, {rater}"] = (own.strength, own.ci_low, own.ci_high)
    pair = strengths.isel(system=0, other_system=-1)
    pvalues = {"position_bias": moved.pvalue.values.item(), "length": liked.pvalue.values.item()}
    pvalues |= {f"first and last, {rater}": pair.pvalue.sel(rater=rater).item() for rater in strengths.rater.values}
    return {name: tuple(np.ravel(each.values) for each in three) for name, three in limits.items()}, pvalues


def cell(n, k, how, trials, seed):
    """Coverage and rejections of one design."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        big = dataset(*drawn(np.random.default_rng(10**6 + seed), BIG, k, **how))
        truth = {name: each[0] for name, each in truths(big).items()}
        held = {name: [] for name in truth}
        widths = {name: [] for name in truth}
        rejected = {}
        for trial in range(trials):
            ds = dataset(*drawn(np.random.default_rng([seed, trial]), n, k, **how))
            found, pvalues = measured(ds)
            for name, (_, low, high) in found.items():
                held[name].append(float(np.mean((low <= truth[name]) & (truth[name] <= high))))
                widths[name].append(float(np.mean(high - low)))
            for name, p in pvalues.items():
                rejected.setdefault(name, []).append(p <= 1 - LEVEL)
    row = {"prompts": n, "systems": k, "trials": trials, **how}
    row["coverage"] = {name: round(float(np.mean(each)), 3) for name, each in held.items()}
    row["mc_error"] = round(float(np.sqrt(0.95 * 0.05 / trials)), 4)
    row["width"] = {name: round(float(np.mean(each)), 3) for name, each in widths.items()}
    row["rejected"] = {name: round(float(np.mean(each)), 3) for name, each in rejected.items()}
    return row


def truths(big):
    """What many prompts give; what leaves prompts out is not asked of them."""
    n = big.sizes["prompt"]
    halves = big.assign_coords(block=("prompt", np.arange(n) // (n // 20)))
    agreed = halves.meta.preference_agreement(adjust=None, cluster="block")
    judge = agreed.sel(rater="gpt")
    moved = halves.meta.position_bias(adjust=None, cluster="block", rater="gpt")
    liked = halves.meta.preference_bias(given="length", adjust=None, cluster="block")
    strengths = halves.meta.rank_systems(adjust=None, cluster="block")
    found = {
        "accuracy": judge.accuracy, "kappa": judge.kappa, "people": agreed.accuracy.sel(rater="people"),
        "difference": judge.difference, "position_bias": moved.position_bias, "flip_share": moved.flip_share,
        "length": liked.difference, "strength, people": strengths.strength.sel(rater="people"),
        "strength, gpt": strengths.strength.sel(rater="gpt"),
        "strength, people + gpt": strengths.strength.sel(rater="people"),
    }  # fmt: skip
    return {name: (np.ravel(each.values),) for name, each in found.items()}


def main(trials):
    """All cells, with a judge that is not biased, and with one that is."""
    rows = []
    for at, (n, k) in enumerate(CELLS):
        for how in ({}, {"pull": 0.25, "longer": 0.4}):
            rows.append(cell(n, k, how, trials, 100 * at + bool(how)))
            print(json.dumps(rows[-1]), flush=True)
            FILE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS)
