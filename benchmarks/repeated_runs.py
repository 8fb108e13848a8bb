"""``python benchmarks/repeated_runs.py``: prints the coverage of `repeatability` for docs/calibration.md.

The systems and the runs are the same in all sets, inputs are drawn. Truths are counted, or correlated, in a very large
set.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import xarray as xr

import xsumstat  # noqa: F401

SEED, SETS, MANY, AVERAGED = 3, 500, 40_000, 5
# Systems, inputs, runs.
RUNS = np.array([-0.2, 0.2, 0.0, 0.1, -0.1])  # how lenient each run is
DESIGNS = ((2, 60, 2), (3, 120, 3), (4, 300, 5), (8, 40, 3))
KINDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "normal": lambda x: x,
    "grades 1-5": lambda x: np.clip(np.round(3 + x), 1, 5),
    "pass or fail": lambda x: (x > 0.3) * 1.0,
}
ASKED = {
    "flip": ("flip_share", "flip_low", "flip_high"),
    "equal": ("equal_share", "equal_low", "equal_high"),
    "reliability": ("reliability", "ci_low", "ci_high"),
    "correlation": ("correlation", "correlation_low", "correlation_high"),
}


def drawn(kind: str, systems: int, inputs: int, runs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A judge's scores (systems, inputs, runs), and human scores."""
    offsets = np.linspace(-0.6, 0.6, systems)[:, None]
    quality = offsets + 0.7 * rng.normal(size=(1, inputs)) + rng.normal(size=(systems, inputs))
    judge = quality[..., None] + RUNS[np.arange(runs) % len(RUNS)] + 0.7 * rng.normal(size=(systems, inputs, runs))
    return KINDS[kind](judge), quality + 0.7 * rng.normal(size=(systems, inputs))


def pooled(x: np.ndarray, y: np.ndarray) -> float:
    """The correlation of scores of the same inputs, all inputs together."""
    return float(np.corrcoef(*((each - each.mean(axis=0)).ravel() for each in (x, y)))[0, 1])


def truths(kind: str, systems: int, runs: int) -> dict[str, list[float]]:
    """Of a single run, and where several are averaged of `AVERAGED` runs; flips have one truth."""
    judge, human = drawn(kind, systems, MANY, 2 * AVERAGED, np.random.default_rng(SEED))
    pairs = [(a, b) for a in range(systems) for b in range(a)]
    order = np.array([np.sign(judge[a] - judge[b]) for a, b in pairs])
    halves = [(judge[..., :r].mean(2), judge[..., -r:].mean(2)) for r in (1, AVERAGED)]
    return {
        "flip": [float(np.mean([(order[..., a] != order[..., b]).mean() for a in range(runs) for b in range(a)]))],
        "equal": [float(np.mean([(judge[..., a] == judge[..., b]).mean() for a in range(runs) for b in range(a)]))],
        "reliability": [pooled(*two) for two in halves],
        "correlation": [pooled(one, human) for one, _ in halves],
    }


def coverage(kind: str, design: tuple[int, int, int]) -> list[str]:
    """In how many sets the limits hold the truth, in percent, and in how many there are some."""
    rng, want = np.random.default_rng([SEED, *design]), truths(kind, design[0], design[2])
    sets = [drawn(kind, *design, rng) for _ in range(SETS)]
    score = np.array([[judge, np.repeat(human[..., None], design[2], axis=2)] for judge, human in sets])
    ds = xr.Dataset({"score": (("set", "metric", "system", "input", "run"), score)}, {"metric": ["judge", "human"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = ds.meta.repeatability("human", n_runs=[1, AVERAGED]).isel(metric=0)
    cells, lacking = [], 0.0
    for name, (_, low, high) in ASKED.items():
        ends = [found[end] if "n_runs" in found[end].dims else found[end].expand_dims("n_runs") for end in (low, high)]
        for at, truth in enumerate(want[name]):
            below, above = (each.isel(n_runs=at).values for each in ends)
            there = ~np.isnan(below)
            lacking = max(lacking, float((~there).mean()))
            cells.append(f"{100 * ((below <= truth) & (truth <= above))[there].mean():.1f}")
    return [*cells, f"{100 * lacking:.1f}"]


def main() -> None:
    """Print the table."""
    titles = ["flips", "equal scores", "reliability, 1 run", "5 runs", "correlation, 1 run", "5 runs", "no limits"]
    print("| scores | systems × inputs × runs |", " | ".join(titles), "|")
    print("| --- " * (2 + len(titles)) + "|")
    for kind in KINDS:
        for design in DESIGNS:
            print(f"| {kind} | {' × '.join(map(str, design))} |", " | ".join(coverage(kind, design)), "|", flush=True)


if __name__ == "__main__":
    main()
