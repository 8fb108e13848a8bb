"""``python benchmarks/readers.py [FOLDER]``: reading published scores, beside what other tools do with the same files.

Prints CPU seconds (medians of runs that take turns). The language pair is made up: 13 metrics x 20 systems x 1,000
segments, as WMT's have them, with scores of documents, domains and systems. FOLDER holds SacreROUGE's
lines (SummEval, say).
"""

import collections
import glob
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import xsumstat

SYSTEMS, SEGMENTS, METRICS, RUNS = 20, 1000, 12, 9
PAIR = "en-de"


def language_pair(root: Path) -> None:
    """A test set in the layout of mt-metrics-eval."""
    rng = np.random.default_rng(0)
    systems = ["refA", *(f"ONLINE-{at}" for at in range(1, SYSTEMS))]
    domains = np.repeat(["news", "social", "literary", "meeting"], SEGMENTS // 4)

    def put(name: str, lines) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("".join(f"{line}\n" for line in lines))

    def scores(name: str, values: np.ndarray, absent: float = 0.0) -> None:
        gone = rng.random(values.shape) < absent
        rows = zip(systems, values.tolist(), gone.tolist(), strict=True)
        lines = [f"{s}\t{None if no else v!r}" for s, row, out in rows for v, no in zip(row, out, strict=True)]
        put(f"{name}.seg.score", lines)
        means = values.reshape(SYSTEMS, -1, 10).mean(axis=2).tolist()
        put(f"{name}.doc.score", (f"{s}\t{v!r}" for s, row in zip(systems, means, strict=True) for v in row))
        put(f"{name}.sys.score", (f"{s}\t{float(row.mean())!r}" for s, row in zip(systems, values, strict=True)))
        by_domain = {d: values[:, domains == d].mean(axis=1).tolist() for d in sorted(set(domains))}
        each = ((d, s, v) for d, row in by_domain.items() for s, v in zip(systems, row, strict=True))
        put(f"{name}.domain.score", (f"{d}\t{s}\t{v!r}" for d, s, v in each))

    put(f"documents/{PAIR}.docs", (f"{d}\tdoc{at // 10}" for at, d in enumerate(domains)))
    for name in (f"sources/{PAIR}", f"references/{PAIR}.refA", *(f"system-outputs/{PAIR}/{each}" for each in systems)):
        put(f"{name}.txt", ["a sentence of some eight words or so"] * SEGMENTS)
    shape = (SYSTEMS, SEGMENTS)
    scores(f"human-scores/{PAIR}.mqm", np.round(-rng.exponential(3, size=shape)), 0.4)
    for at in range(METRICS):
        scores(f"metric-scores/{PAIR}/metric{at}-{'refA' if at % 3 else 'src'}", rng.normal(size=shape))


def text_lines(file: str) -> list[str]:
    with open(file) as stream:
        return [line.rstrip() for line in stream]


def score_lines(file: str) -> dict[str, list[float | None]]:
    found = collections.defaultdict(list)
    with open(file) as stream:
        for line in stream:
            system, score = line.split()
            found[system].append(float(score) if score != "None" else None)
    return found


def domain_lines(file: str, domains: list[str]) -> dict[str, list[float | None]]:
    found, places = {}, {domain: at for at, domain in enumerate(domains)}
    with open(file) as stream:
        for line in stream:
            domain, system, score = line.split()
            found.setdefault(system, [None] * len(domains))[places[domain]] = float(score) if score != "None" else None
    return found


def as_mt_metrics_eval_reads(root: Path) -> dict[str, dict[str, dict[str, list[float | None]]]]:
    """What `EvalSet` reads, with metric scores: texts and scores of all granularities, by loops over lines."""
    documents = text_lines(f"{root}/documents/{PAIR}.docs")
    domains = sorted({line.split()[0] for line in documents})
    names = [name for name, _ in itertools.groupby(line.split()[1] for line in documents)]
    source = text_lines(f"{root}/sources/{PAIR}.txt")
    texts = {
        os.path.basename(file): text_lines(file)
        for place in (f"references/{PAIR}.*.txt", f"system-outputs/{PAIR}/*.txt")
        for file in glob.glob(f"{root}/{place}")
    }
    found = collections.defaultdict(dict)
    for file in glob.glob(f"{root}/human-scores/{PAIR}.*.score") + glob.glob(f"{root}/metric-scores/{PAIR}/*.score"):
        name, level, _ = os.path.basename(file).rsplit(".", maxsplit=2)
        found[level][name] = domain_lines(file, domains) if level == "domain" else score_lines(file)
    sizes = {"sys": 1, "domain": len(domains), "doc": len(names), "seg": len(source)}
    for level, by_name in found.items():
        for scores in by_name.values():
            assert all(f"{s}.txt" in texts and len(each) == sizes[level] for s, each in scores.items())
    return found


def flat(metrics: dict, prefix: str = "") -> dict[str, float]:
    """Names joined, lists over raters averaged."""
    found = {}
    for name, value in metrics.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}_")
        else:
            found[prefix + name] = sum(value) / len(value) if isinstance(value, list) else value
    return found


def as_sacrerouge_reads(folder: Path) -> pd.DataFrame:
    """Its loop over lines, without the checks of types by which its library `jsons` makes objects of them; a frame."""
    found = collections.defaultdict(dict)
    for file in sorted(folder.glob("*.jsonl")):
        with file.open() as stream:
            for line in stream:
                entry = json.loads(line)
                found[entry["summarizer_id"], entry["instance_id"]] |= flat(entry["metrics"])
    return pd.DataFrame.from_dict(found, orient="index")


def long_frame() -> pd.DataFrame:
    """A row a score, a million of them."""
    labels = itertools.product(*([f"{name}{at}" for at in range(n)] for name, n in (("m", 20), ("s", 50), ("i", 1000))))
    frame = pd.DataFrame(list(labels), columns=["metric", "system", "input"])
    return frame.assign(score=np.random.default_rng(0).normal(size=len(frame)))


def seconds(**works) -> dict[str, float]:
    """CPU seconds that each takes: medians of runs that take turns."""
    taken = {name: [] for name in works}
    for _ in range(RUNS):
        for name, work in works.items():
            start = time.process_time()
            work()
            taken[name].append(time.process_time() - start)
    found = {name: statistics.median(each) for name, each in taken.items()}
    for name, each in found.items():
        print(f"{name:32} {each:.3f}", flush=True)
    return found


def all_of_it(folder: str | None = None) -> list[dict]:
    """Each reader beside the others; `folder` holds SacreROUGE's lines."""
    rows = []
    with tempfile.TemporaryDirectory() as root:
        language_pair(Path(root, "wmt"))
        levels = ("seg", "doc", "domain", "sys")
        rows.append(
            seconds(
                read_mtme=lambda: xsumstat.read_mtme(root, "wmt", PAIR),
                read_mtme_all_granularities=lambda: [
                    xsumstat.read_mtme(root, "wmt", PAIR, granularity=each) for each in levels
                ],
                as_mt_metrics_eval_reads=lambda: as_mt_metrics_eval_reads(Path(root, "wmt")),
            )
        )
    frame, keys = long_frame(), ["metric", "system", "input"]
    rows.append(
        seconds(
            to_scores=lambda: frame.meta.to_scores(),
            to_xarray=lambda: frame.set_index(keys)["score"].to_xarray(),
            pivot=lambda: frame.pivot(index=keys[:2], columns="input", values="score"),
        )
    )
    if folder:
        place = Path(folder)
        rows.append(
            seconds(
                read_sacrerouge=lambda: xsumstat.read_sacrerouge(place),
                as_sacrerouge_reads=lambda: as_sacrerouge_reads(place),
            )
        )
    return rows


if __name__ == "__main__":
    all_of_it(*sys.argv[1:])
