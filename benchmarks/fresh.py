"""What only a fresh process shows: import, first calls, memory, and whole jobs with compilation included."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent

FIRST_CALLS = [
    'corr("human")',
    'ci("human")',
    'ci("human", level="input", coefficient="kendall")',
    'perm_test("human")',
    'perm_test("human", level="input", coefficient="kendall")',
    'perm_test("human", level="system", coefficient="kendall")',
]

FIRST_CALL = """
import time
import xsumstat
ds = xsumstat.load_dataset("demo")
start = time.perf_counter()
ds.meta.{call}
print(time.perf_counter() - start)
"""

# Every method that resamples, on 20 metrics; {n} stands for the number of resamples.
RESAMPLED = {
    "ci, system Pearson": 'ci("gold", method="bootstrap", n_resamples={n}, rng=0)',
    "ci, input Kendall": 'ci("gold", level="input", coefficient="kendall", method="bootstrap", n_resamples={n}, rng=0)',
    "ci, corrected, input Pearson": 'ci("gold", level="input", interval="corrected", n_resamples={n}, rng=0)',
    "metric_ci": 'metric_ci(metric=["m1", "m2", "m3"], method="bootstrap", n_resamples={n}, rng=0)',
    "perm_test, system Pearson": 'perm_test("gold", n_resamples={n}, rng=0)',
    "perm_test, input Kendall": 'perm_test("gold", level="input", coefficient="kendall", n_resamples={n}, rng=0)',
    "perm_test, max-T": 'perm_test("gold", adjust="maxt", n_resamples={n}, rng=0)',
    "boot_test": 'boot_test("gold", n_resamples={n}, rng=0)',
    "rank": 'rank("gold", n_resamples={n}, rng=0)',
    "equivalence": 'equivalence("gold", other=["m1", "m2", "m3"], margin=0.1, n_resamples={n}, rng=0)',
    "margin_sensitivity": 'margin_sensitivity("gold", other=["m1", "m2", "m3"], n_resamples={n}, rng=0)',
    "top_k_corr": 'top_k_corr("gold", k=[4, 8], method="bootstrap", n_resamples={n}, rng=0)',
    "close_corr": 'close_corr("gold", gap=[0.5, 1.0], method="bootstrap", n_resamples={n}, rng=0)',
    "compare_systems": 'compare_systems(method="bootstrap", n_resamples={n}, rng=0)',
    "discriminative_agreement": 'discriminative_agreement("gold", n_resamples={n}, rng=0)',
    "disagreement": 'disagreement(method="bootstrap", n_resamples={n}, rng=0)',
    "improvement_consistency": 'improvement_consistency(method="bootstrap", n_resamples={n}, rng=0)',
    "range_drop": 'range_drop(above=0.5, unit="quantile", metrics="m1", n_resamples={n}, n_simulations=19, rng=0)',
    "human_ceiling": 'human_ceiling("rating", method="bootstrap", n_resamples={n}, rng=0)',
    "agreement": 'agreement("rating", method="bootstrap", n_resamples={n}, rng=0)',
}

MEMORY = """
import sys, time, warnings
from pathlib import Path
sys.path.insert(0, {here!r})
import numpy as np, xarray as xr
from data import dataset, matrices
import xsumstat
warnings.simplefilter("ignore")

def peak():
    # Kilobytes; what getrusage tells includes the process that started this one.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

ds = dataset(matrices({metrics}, {systems}, {inputs}, True))
noise = np.random.default_rng(0).integers(-1, 2, (3, {systems}, {inputs}))
ds["rating"] = ("rater", "system", "input"), ds.score.values[0] + noise
ds.meta.{few}
Path("/proc/self/clear_refs").write_text("5")  # the peak is now what is held
before, start = peak(), time.perf_counter()
ds.meta.{many}
print((peak() - before) / 1024, time.perf_counter() - start)
"""


def run(*arguments: str, cache: str | None = None, threads: str | None = None) -> tuple[float, str]:
    """Seconds that a fresh interpreter with these arguments needs, on all cores or `threads`, and what it prints."""
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    for name in ("XSUMSTAT_NUM_THREADS", "PYTHONDONTWRITEBYTECODE"):  # a user's modules are compiled once
        environment.pop(name, None)
    environment |= {"XSUMSTAT_NUM_THREADS": threads} if threads else {}
    start = time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, env=environment)
    return time.perf_counter() - start, done.stdout


def imports(runs: int) -> dict:
    """Seconds of an interpreter that imports xarray, and of one that imports xsumstat, in turn."""
    both = [[run("-c", f"import {module}")[0] for module in ("xarray", "xsumstat")] for _ in range(runs + 1)][1:]
    added = [ours - xarray for xarray, ours in both]
    row = {"added": statistics.median(added), "low": min(added), "high": max(added)}
    print(f"import adds {row['added']:.2f} s to xarray's ({row['low']:.2f} to {row['high']:.2f})")
    return row


def first_calls(runs: int) -> list[dict]:
    """Seconds of the first call of a session, compiling and from a warm cache."""
    rows = []
    for call in FIRST_CALLS:
        code = FIRST_CALL.format(call=call)
        cold, warm = [], []
        for _ in range(runs):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(float(run("-c", code, cache=cache)[1]))
                warm.append(float(run("-c", code, cache=cache)[1]))
        rows.append({"call": call, "cold": statistics.median(cold), "warm": statistics.median(warm)})
        print(f"first {call:60s} compiling {rows[-1]['cold']:.2f} s, warm {rows[-1]['warm']:.2f} s", flush=True)
    return rows


def memory() -> list[dict]:
    """Megabytes that a call adds to the peak of the process, and its seconds; Linux only.

    More resamples are left out where they would take over twenty seconds.
    """
    rows = []
    for metrics, systems, inputs, names in ((20, 16, 100, list(RESAMPLED)), (20, 20, 1500, list(RESAMPLED)[:6])):
        for name in names:
            expected = 0.0
            for n_resamples in (1_000, 10_000, 100_000, 1_000_000):
                if 10 * expected > 20:
                    break
                settings = {"metrics": metrics, "systems": systems, "inputs": inputs, "here": str(HERE)}
                few, many = (RESAMPLED[name].format(n=n) for n in (200, n_resamples))
                megabytes, elapsed = map(float, run("-c", MEMORY.format(**settings, few=few, many=many))[1].split())
                row = {"size": f"{systems}x{inputs}", "metrics": metrics, "call": name, "resamples": n_resamples}
                rows.append(row | {"megabytes": megabytes, "seconds": elapsed})
                expected = elapsed
                print(f"{row['size']}, {name}, {n_resamples:,}: {megabytes:.0f} MB, {elapsed:.2f} s", flush=True)
    return rows


def jobs(runs: int) -> list[dict]:
    """Seconds of whole processes that make the numbers of a figure, with nothing compiled and with all compiled."""
    rows = []
    for name in ("figure4", "figure5"):
        script = str(HERE / f"{name}.py")
        cold, warm = [], []
        for _ in range(runs):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(run(script, cache=cache)[0])
                warm.append(run(script, cache=cache)[0])
        rows.append({"job": name, "cold": statistics.median(cold), "cold_low": min(cold), "cold_high": max(cold)})
        rows[-1] |= {"warm": statistics.median(warm)}
        print(json.dumps(rows[-1]), flush=True)
    return rows
