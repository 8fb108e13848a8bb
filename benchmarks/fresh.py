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

MEMORY = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from data import dataset, matrices
import xsumstat

def peak():
    # Kilobytes; what getrusage tells includes the process that started this one.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

ds = dataset(matrices({metrics}, {systems}, {inputs}, True))
ds.meta.{call}("gold", n_resamples=2048, level="{level}", coefficient="{coefficient}", rng=0{drawn})
Path("/proc/self/clear_refs").write_text("5")  # the peak is now what is held
before = peak()
ds.meta.{call}("gold", n_resamples={n_resamples}, level="{level}", coefficient="{coefficient}", rng=0{drawn})
print((peak() - before) / 1024)
"""


def run(*arguments: str, cache: str | None = None) -> tuple[float, str]:
    """Seconds that a fresh interpreter with these arguments needs, on all cores, and what it prints."""
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    environment.pop("XSUMSTAT_NUM_THREADS", None)
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
    """Megabytes that a call adds to the peak of the process; Linux only."""
    rows = []
    for metrics, systems, inputs in ((13, 16, 100), (20, 20, 1500)):
        # What a million resamples cost at the bigger size at input level would only be waited for.
        big = inputs > 100
        for call, level, coefficient in (
            ("ci", "system", "pearson"),
            ("perm_test", "system", "pearson"),
            ("ci", "input", "pearson"),
            ("perm_test", "input", "kendall"),
        ):
            for n_resamples in (10_000, 100_000, 1_000_000):
                if n_resamples > 10_000 and big and level == "input":
                    continue
                settings = {"metrics": metrics, "systems": systems, "inputs": inputs, "n_resamples": n_resamples}
                settings |= {"call": call, "level": level, "coefficient": coefficient, "here": str(HERE)}
                settings["drawn"] = ', method="bootstrap"' if call == "ci" else ""
                elapsed, printed = run("-c", MEMORY.format(**settings))
                row = {
                    "size": f"{systems}x{inputs}",
                    "metrics": metrics,
                    "call": f"{call}, {level} {coefficient.title()}",
                }
                rows.append(row | {"resamples": n_resamples, "megabytes": float(printed), "seconds": elapsed})
                print(
                    f"{row['size']}, {metrics} metrics, {row['call']}, {n_resamples:,}: {float(printed):.0f} MB",
                    flush=True,
                )
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
