"""What `rank_tasks` costs for a shared task of today's size, beside loops over tasks, pairs of metrics and swaps."""

import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import fresh
import mt
import numpy as np
import scipy.stats
import xarray as xr

import xsumstat

SYSTEMS, INPUTS, METRICS, TASKS, SWAPS = 15, 500, 50, 20, 9999
COEFFICIENTS = {
    "Pearson's r of systems": {"coefficient": "pearson"},
    "accuracy with ties": {"level": "input", "coefficient": "acc_eq", "resample": "input"},
    "soft pairwise accuracy": {"coefficient": "spa"},
}
EACH_PAIR = ("Pearson's r of systems", "accuracy with ties")
# Name, coefficients of each language pair, number of tasks and of swaps, and whether the swaps are kept.
WHOLE = (
    ("Pearson's r, accuracy with ties", EACH_PAIR, TASKS, SWAPS, False),
    ("Pearson's r, accuracy with ties", EACH_PAIR, TASKS, SWAPS, True),
    ("soft pairwise accuracy", ("soft pairwise accuracy",), 1, 999, False),
)
MEMORY = """
import sys, time, warnings
from pathlib import Path
sys.path.insert(0, {here!r})
import task_rankings
warnings.simplefilter("ignore")
import xsumstat

def held(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))

few, many = (task_rankings.tasks({names!r}, n, metrics=metrics) for n, metrics in ((2, 4), ({n_tasks}, {metrics})))
xsumstat.rank_tasks(few, n_resamples=200, rng=0, keep_samples={keep})
Path("/proc/self/clear_refs").write_text("5")  # the peak is now what is held
before, start = held("VmHWM"), time.process_time()
found = xsumstat.rank_tasks(many, n_resamples={swaps}, rng=0, keep_samples={keep})
print((held("VmHWM") - before) / 1024, time.process_time() - start, found.nbytes / 2**20)
"""


def tasks(names: tuple[str, ...], n_tasks: int, metrics: int = METRICS) -> dict[str, dict]:
    """Tasks of these coefficients in turn; those of a language pair have the same scores."""
    found, pairs = {}, -(-n_tasks // len(names))
    for pair in range(pairs):
        ds = _language_pair(pair, metrics)
        for name in names:
            found[f"pair {pair}, {name}"] = {"ds": ds, "gold": "mqm", **COEFFICIENTS[name]}
    return dict(list(found.items())[:n_tasks])


def _language_pair(seed: int, metrics: int) -> xr.Dataset:
    return mt.test_set(SYSTEMS, INPUTS, metrics, seed)


def whole() -> list[dict]:
    """CPU seconds, megabytes above the data and megabytes of the answer, in a process of its own on one thread."""
    rows = []
    for name, names, n_tasks, swaps, keep in WHOLE:
        settings = {"names": names, "n_tasks": n_tasks, "metrics": METRICS, "swaps": swaps, "keep": keep}
        code = MEMORY.format(here=str(Path(__file__).parent), **settings)
        megabytes, elapsed, answer = map(float, fresh.run("-c", code, threads="1")[1].split())
        row = {"coefficient": name, "tasks": n_tasks, "swaps": swaps, "kept": keep, "seconds": elapsed}
        rows.append(row | {"megabytes": megabytes, "answer": answer})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def _median_cpu(work: Callable[[], object]) -> float:
    """The median of three calls, after one that compiles."""
    work()
    found = []
    for _ in range(3):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return float(np.median(found))


def _cpu(names: tuple[str, ...], metrics: int, n_tasks: int, swaps: int) -> float:
    asked = tasks(names, n_tasks, metrics)
    start = time.process_time()
    xsumstat.rank_tasks(asked, n_resamples=swaps, rng=0)
    return time.process_time() - start


def growth() -> list[dict]:
    """CPU seconds while one size is doubled twice, and the exponent."""
    rows = []
    base = {
        "Pearson's r, accuracy with ties": (EACH_PAIR, {"metrics": 24, "n_tasks": 2, "swaps": 9999}),
        "soft pairwise accuracy": (("soft pairwise accuracy",), {"metrics": 6, "n_tasks": 1, "swaps": 999}),
    }
    for name, (names, sizes) in base.items():
        _cpu(names, 3, 1, 99)
        for along, first in sizes.items():
            at = [first, 2 * first, 4 * first]
            times = [_cpu(names, **{**sizes, along: size}) for size in at]
            slope = float(np.polyfit(np.log(at), np.log(times), 1)[0])
            rows.append({"coefficient": name, "along": along, "sizes": at, "seconds": times, "exponent": slope})
            print(json.dumps(rows[-1]), flush=True)
    return rows


def _pearson_loop(x: np.ndarray, y: np.ndarray, z: np.ndarray, swaps: int) -> None:
    rng, gold = np.random.default_rng(0), z.mean(axis=1)
    x, y = (scipy.stats.zscore(each, axis=None) for each in (x, y))
    for _ in range(swaps):
        swap = rng.random(x.shape) < 0.5
        first, second = np.where(swap, y, x).mean(axis=1), np.where(swap, x, y).mean(axis=1)
        scipy.stats.pearsonr(first, gold).statistic - scipy.stats.pearsonr(second, gold).statistic


def _soft_loop(x: np.ndarray, y: np.ndarray, z: np.ndarray, swaps: int) -> None:
    rng, gold = np.random.default_rng(0), mt.pvalues(z, 1000)
    x, y = (scipy.stats.zscore(each, axis=None) for each in (x, y))
    for _ in range(swaps):
        swap = rng.random(x.shape) < 0.5
        for traded in (np.where(swap, y, x), np.where(swap, x, y)):
            1 - float(np.abs(mt.pvalues(traded, 1000) - gold).mean())


def loops() -> list[dict]:
    """CPU seconds for one swap of one pair: of whole calls, and of the loops over few swaps of a pair."""
    x, y, z = _language_pair(0, 2)["score"].values
    decided = [mt.sides(each, 0.1) for each in (x, y, z)]
    theirs = {
        "Pearson's r of systems": lambda n: _pearson_loop(x, y, z, n),
        "accuracy with ties": lambda n: mt.swaps_of_decisions(*decided, n),
        "soft pairwise accuracy": lambda n: _soft_loop(x, y, z, n),
    }
    rows = []
    for name, loop in theirs.items():
        metrics, swaps, few = (16, 999, 20) if name == "soft pairwise accuracy" else (METRICS, 4000, 20)
        pairs = metrics * (metrics - 1) / 2
        asked = tasks((name,), 1, metrics)
        ours = _median_cpu(lambda asked=asked, n=swaps: xsumstat.rank_tasks(asked, n_resamples=n, rng=0))
        one = _median_cpu(lambda loop=loop, few=few: loop(few)) / few
        rows.append({"coefficient": name, "ours": ours / pairs / swaps, "theirs": one})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def all_of_it() -> dict:
    """Every figure of this part, on one thread."""
    warnings.simplefilter("ignore")
    os.environ["XSUMSTAT_NUM_THREADS"] = "1"
    return {"loops": loops(), "growth": growth(), "whole": whole()}
