"""``python benchmarks``: time xsumstat beside its peers, and write what was found.

Needs the dependency groups ``test`` and ``bench``; the whole jobs read SummEval, see the project's README.
"""

import argparse
import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

PARTS = [
    "ratios",
    "warm",
    "growth",
    "threads",
    "import",
    "first",
    "memory",
    "jobs",
    "proof",
    "systems",
    "ranges",
    "mt",
    "task_rankings",
    "jackknife",
    "readers",
]


def machine() -> dict:
    """What the figures were measured on."""
    processor = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    names = ["xsumstat", "numpy", "numba", "scipy", "xarray", "pandas", "nlpstats", "correlation-with-confidence"]
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in names},
    }


def _summeval() -> str | None:
    """Where SummEval's files are, if the published data are at hand."""
    folder = Path(os.environ.get("XSUMSTAT_DATA_DIR", ""), "sacrerouge", "fabbri2020")
    return str(folder) if folder.is_dir() else None


def main() -> None:
    """Measure the chosen parts one after another."""
    made = argparse.ArgumentParser(prog="python benchmarks", description=__doc__.splitlines()[0])
    made.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what to measure (default: all)")
    made.add_argument("--runs", type=int, default=5, help="how often, of which the median is kept (default: 5)")
    made.add_argument("--only", default="", help="measure only the ratios whose name has this in it")
    made.add_argument("--output", type=Path, default=Path(__file__).parent / "results.json", help="the JSON to update")
    asked = made.parse_args()
    os.environ["XSUMSTAT_NUM_THREADS"] = "1"  # read at every call; the whole jobs are given their own
    import fresh
    import growth
    import jackknife
    import mt
    import page
    import proof
    import ranges
    import readers
    import speed
    import systems
    import task_rankings
    import warm

    found = json.loads(asked.output.read_text()) if asked.output.exists() else {}
    measures = {
        "ratios": lambda: speed.updated(found.get("ratios", []) if asked.only else [], asked.runs, asked.only),
        "warm": lambda: warm.all_of_it(asked.runs),
        "growth": growth.curves,
        "threads": growth.threads,
        "import": lambda: fresh.imports(asked.runs),
        "first": lambda: fresh.first_calls(asked.runs),
        "memory": fresh.memory,
        "jobs": lambda: fresh.jobs(asked.runs),
        "proof": proof.all_of_it,
        "systems": systems.all_of_it,
        "ranges": ranges.all_of_it,
        "mt": mt.all_of_it,
        "task_rankings": task_rankings.all_of_it,
        "jackknife": jackknife.all_of_it,
        "readers": lambda: readers.all_of_it(_summeval()),
    }
    for part in asked.parts:
        print(f"\n== {part}", flush=True)
        found |= {part: measures[part](), "machine": machine()}
        found.setdefault("measured_with", {})[part] = version("xsumstat")
        asked.output.write_text(json.dumps(found, indent=1) + "\n")
    (asked.output.parent / "README.md").write_text(page.written(found))


if __name__ == "__main__":
    sys.exit(main())
