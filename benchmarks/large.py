"""Scores larger than any worker's memory: 50 metrics x 200 systems x 20,000 inputs in Zarr, workers of 700 MB.

    python benchmarks/large.py --store scores.zarr      the store is made (1.6 GB) if it is not there
    python benchmarks/large.py --store small.zarr --metrics 10 --inputs 2000

Each question is asked in a cluster of its own with 1 and with 2 workers, whose memory is limited (one that takes more
is killed), and of scores in memory in a process of its own. Printed are the wall time (without starting the cluster),
the peak memory of a worker (of the process), and whether a few metrics' answers have the same bits as in memory. The
times of 1 and 2 workers give a model T(w) = a + b/w and what it says for 64.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import xarray as xr

import xsumstat

FEW = 4
# Name of the question, how it is asked, and of how many metrics (None: all).
QUESTIONS = {
    "corr, system": ("corr", {}, None),
    "corr, input, Kendall": ("corr", {"level": "input", "coefficient": "kendall"}, None),
    "ci, system": ("ci", {}, None),
    "ci, input": ("ci", {"level": "input"}, None),
    "ci, input, Kendall": ("ci", {"level": "input", "coefficient": "kendall"}, None),
    "ci, bootstrap, system": ("ci", {"method": "bootstrap", "n_resamples": 1000, "rng": 1}, None),
    "perm_test, system": ("perm_test", {"n_resamples": 2000, "rng": 1}, FEW),
    "perm_test, input, Kendall": (
        "perm_test",
        {"level": "input", "coefficient": "kendall", "n_resamples": 2000, "rng": 1},
        FEW,
    ),
}


def make(store: Path, metrics: int, systems: int, inputs: int) -> None:
    """Write scores metric by metric: people, and metrics of growing noise; some cells are missing."""
    rng = np.random.default_rng(19)
    truth = rng.normal(size=(systems, 1)) + rng.normal(size=(1, inputs)) + rng.normal(size=(systems, inputs))
    labels = ["human", *(f"metric-{at:02d}" for at in range(1, metrics))]
    names = {"system": [f"s{at:03d}" for at in range(systems)], "input": [f"i{at:06d}" for at in range(inputs)]}
    for at, label in enumerate(labels):
        noise = (0.5 + 2.0 * at / metrics) * rng.normal(size=truth.shape) + 0.3 * rng.normal(size=(systems, 1))
        score = (truth + noise if at else truth)[None].astype(float)
        score[0, rng.random(truth.shape) < 0.001 * (at > 0)] = np.nan
        ds = xr.Dataset(
            {"score": (("metric", "system", "input"), score)}, {"metric": np.array([label], "<U9"), **names}
        )
        ds.attrs["gold"] = "human"
        where = {"mode": "w"} if at == 0 else {"append_dim": "metric"}
        ds.chunk(metric=1, system=-1, input=-1).to_zarr(store, consolidated=False, **where)


def asked(ds: xr.Dataset, question: str, few: bool = False) -> xr.Dataset:
    """The answer, lazy where the scores are, of the question's metrics, or of a `few` of them."""
    method, keywords, of = QUESTIONS[question]
    labels = ds.metric.values[1 : 1 + FEW] if few or of else None
    return getattr(ds.meta, method)(metric=None if labels is None else labels.tolist(), **keywords)


def peak() -> float:
    """Megabytes that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def on_cluster(store: Path, question: str, workers: int, limit: str) -> dict:
    """The time and the memory of a question on a cluster, and its first answers."""
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, memory_limit=limit, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.run(_warm)
        started = time.perf_counter()
        lazy = asked(xr.open_zarr(store, consolidated=False), question)
        built = time.perf_counter() - started
        found = lazy.compute()
        seconds = time.perf_counter() - started
        peaks = client.run(peak)
    return {"seconds": seconds, "built": built, "peak": max(peaks.values()), "found": numbers(found)}


def _warm() -> None:
    """Kernels are loaded before the clock starts."""
    warnings.simplefilter("ignore")
    demo = xsumstat.load_dataset("demo")
    for question in QUESTIONS:
        asked(demo, question)


def in_memory(store: Path, question: str, few: bool) -> dict:
    """The same of scores in memory."""
    _warm()
    ds = xr.open_zarr(store, consolidated=False)
    started = time.perf_counter()
    of = QUESTIONS[question][2]
    ds = (ds.isel(metric=slice(1 + FEW)) if few or of else ds).load()
    found = asked(ds, question, few)
    return {"seconds": time.perf_counter() - started, "peak": peak(), "found": numbers(found)}


def numbers(found: xr.Dataset) -> dict[str, str]:
    """The bits of the variables of a few metrics."""
    labels = [f"metric-{at:02d}" for at in range(1, 1 + FEW)]
    some = found.sel({dim: labels for dim in ("metric", "other_metric") if dim in found.dims})
    return {
        str(name): values.transpose(*sorted(map(str, values.dims))).values.tobytes().hex()
        for name, values in some.items()
    }


def apart(*arguments: str) -> dict:
    """What this file tells in a process of its own."""
    ran = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True)
    if ran.returncode:
        return {"failed": ran.stderr.strip().splitlines()[-1] if ran.stderr.strip() else f"exit {ran.returncode}"}
    return json.loads(ran.stdout.splitlines()[-1])


def table(rows: list[dict]) -> str:
    """The figures as a table."""
    head = ("question", "in memory: s, MB", "1 worker: s, MB", "2 workers: s, MB", "of these graph, s")
    head += ("efficiency of 2", "model: 64 workers, s", "same bits")
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    for row in rows:
        cells = [
            f"{row[key]['seconds']:.1f}, {row[key]['peak']:.0f}" if "seconds" in row[key] else row[key]["failed"][:40]
            for key in ("memory", "1", "2")
        ]
        if all("seconds" in row[key] for key in ("1", "2")):
            one, two = row["1"]["seconds"], row["2"]["seconds"]
            b = 2 * (one - two)
            model = f"{one / (2 * two):.2f} | {one - b + b / 64:.1f}"
        else:
            model = " | "
        built = f"{row['2'].get('built', float('nan')):.1f}"
        lines.append(
            f"| {row['question']} | {' | '.join(cells)} | {built} | {model} | {'yes' if row['same'] else 'NO'} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Make the store, ask the questions and print the table."""
    made = argparse.ArgumentParser(prog="python benchmarks/large.py", description=__doc__.splitlines()[0])
    made.add_argument("--store", type=Path, required=True)
    for name, default in (("metrics", 50), ("systems", 200), ("inputs", 20_000)):
        made.add_argument(f"--{name}", type=int, default=default)
    made.add_argument("--limit", default="700MB", help="memory of a worker")
    made.add_argument("--only", nargs="+", choices=list(QUESTIONS), default=list(QUESTIONS))
    made.add_argument("--without-all", action="store_true", help="in memory only a few metrics, for the bits")
    made.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    given = made.parse_args()
    warnings.simplefilter("ignore")
    if given.part:
        question, how = given.part
        found = (
            in_memory(given.store, question, how == "few")
            if how in ("all", "few")
            else on_cluster(given.store, question, int(how), given.limit)
        )
        print(json.dumps(found))
        return
    if not given.store.exists():
        make(given.store, given.metrics, given.systems, given.inputs)
    rows = []
    for question in given.only:
        row = {"question": question}
        for key, how in (("memory", "few" if given.without_all else "all"), ("few", "few"), ("1", "1"), ("2", "2")):
            row[key] = apart("--store", str(given.store), "--limit", given.limit, "--part", question, how)
        want = row["few"].get("found")
        row["same"] = want is not None and all(row[key].get("found") == want for key in ("1", "2"))
        rows.append(row)
        print(table(rows).splitlines()[-1], flush=True)
    print("\n" + table(rows))


if __name__ == "__main__":
    main()
