"""``python benchmarks/draws.py``: coverage of means and differences from inputs that `sample_inputs` draws.

Writes rows to `draws.json`. Prompts are drawn from strata of how unsure a judge is, more where it is unsure. Its
errors and the mean human score grow with how unsure it is. Each output of a drawn prompt is rated with chance .95.
"""

import itertools
import json
import time
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("draws.json")
LEVEL, M, RHO = 0.95, 200, 0.7
DRAWS = ((20, 3), (40, 4), (80, 4))


def scores(generator, n_systems, m):
    """Judge and human scores (systems, inputs), and how unsure the judge is of each input."""
    unsure = generator.gamma(2, 0.5, m)
    f = generator.normal(size=(n_systems, m)) + 0.5 * generator.normal(size=m)
    errors = unsure * generator.normal(size=(n_systems, m)) * np.sqrt(1 - RHO**2)
    z = RHO * f + errors + 0.3 * unsure + np.arange(n_systems)[:, None] / 4
    return f, z, unsure


def as_ratings(z, kind):
    """Human scores as numbers, grades from 1 to 5, or passes and fails."""
    if kind == "grades":
        return np.clip(np.round(3 + z), 1, 5)
    return (z > 0.3).astype(float) if kind == "passes" else z


def truth_of(n_systems, kind):
    """Means over all inputs like these, from four million."""
    _, z, _ = scores(np.random.default_rng(99), n_systems, 4_000_000 // n_systems)
    return as_ratings(z, kind).mean(axis=1)


def row(n_systems, n, n_strata, kind, target, trials, truth):
    """Coverage and widths of one design."""
    from xsumstat.inference import allocation
    from xsumstat.inference.stratified_differences import stratified_differences
    from xsumstat.inference.system_means import Strata, system_means

    generator = np.random.default_rng([31, n_systems, n, n_strata, target == "new"])
    pairs = np.array(list(itertools.combinations(range(n_systems), 2)), dtype=np.int64).reshape(-1, 2)
    names = ("held", "held_human", "held_chance", "held_unweighted", "held_differences")
    held, widths = {name: [] for name in names}, {"width": [], "width_chance": []}
    for _ in range(trials):
        f, z, unsure = scores(generator, n_systems, M)
        z = as_ratings(z, kind)
        seen = unsure * np.exp(0.3 * generator.normal(size=M))
        codes = allocation.bins(seen, n_strata)
        sizes = np.bincount(codes)
        n_each = allocation.allocated(n, sizes, allocation.rates(seen, codes, n_strata))
        given = generator.random(z.shape) < 0.95
        rated = allocation.drawn(n_each, codes, generator) & given
        by_chance = (np.argsort(np.argsort(generator.random(M))) < n) & given
        mean = z.mean(axis=1) if target == "these" else truth
        strata, one = Strata(codes, n_strata, own_spread=True), Strata.none(M)
        found = system_means(f, np.where(rated, z, np.nan), strata, target, LEVEL)
        chance = system_means(f, np.where(by_chance, z, np.nan), one, target, LEVEL)
        plain = system_means(f, np.where(rated, z, np.nan), one, target, LEVEL)
        for name, each, prefix in (
            ("held", found, ""),
            ("held_human", found, "human_"),
            ("held_chance", chance, ""),
            ("held_unweighted", plain, "human_"),
        ):
            held[name].append(_within(each, mean, prefix))
        widths["width"].append(found["ci_high"] - found["ci_low"])
        widths["width_chance"].append(chance["ci_high"] - chance["ci_low"])
        if len(pairs):
            apart = mean[pairs[:, 0]] - mean[pairs[:, 1]]
            each = stratified_differences(f, np.where(rated, z, np.nan), pairs, strata, target, LEVEL)
            held["held_differences"].append(_within(each, apart, ""))
    design = {"systems": n_systems, "drawn": n, "strata": n_strata, "inputs": M, "scores": kind, "target": target}
    shares = {name: round(float(np.mean(each)), 4) for name, each in held.items() if each}
    return (
        design
        | {"trials": trials}
        | shares
        | {name: round(float(np.nanmean(each)), 4) for name, each in widths.items()}
    )


def _within(found, truth, prefix):
    return (found[f"{prefix}ci_low"] <= truth) & (truth <= found[f"{prefix}ci_high"])


def main():
    """Write all rows."""
    rows, start = [], time.perf_counter()
    for n_systems, kind in itertools.product((1, 5), ("normal", "grades", "passes")):
        truth = truth_of(n_systems, kind)
        for (n, n_strata), target in itertools.product(DRAWS, ("new", "these")):
            trials = {1: 800, 5: 400}[n_systems]
            rows.append(row(n_systems, n, n_strata, kind, target, trials, truth))
            print(json.dumps(rows[-1]), flush=True)
    FILE.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
