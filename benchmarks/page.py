"""The page that shows what was measured."""

HEAD = """# Benchmarks

Time and memory of the public functions, beside the tools that people use today.

```text
python -m pip install -e ".[all]" --group test --group bench
python benchmarks                      # everything, about an hour
python benchmarks --parts ratios --only Kendall --runs 3
```

`results.json` has what is shown here and more. The tables are written by that command.
"""


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, the first column to the left."""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows)) + "\n"


def seconds(value: float) -> str:
    """A time in a unit that suits it."""
    for size, unit in ((3600.0, "h"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def times(ratio: float) -> str:
    """A ratio, as exact as it is repeatable."""
    return f"{ratio:,.0f}x" if ratio >= 10 else f"{ratio:.1f}x"


def ratios(rows: list[dict]) -> str:
    """Time per resample beside the peers'."""
    cells = [
        [
            row["case"], row["peer"], seconds(row["ours_us"] / 1e6), seconds(row["peer_us"] / 1e6),
            times(row["ratio"]), f"{times(row['ratio_low'])} – {times(row['ratio_high'])}",
            f"{row['wanted']:,}x" if row["wanted"] else "–",
        ]
        for row in rows
    ]  # fmt: skip
    return (
        "## Ratios to peers\n\nOne resample, on one thread, both sides on the same arrays in the same process, in "
        'turn: the median of the runs, and the least and greatest ratio. "Tied": a five-point gold and metrics of '
        "seven values.\n\n"
        + table(["case, data", "peer", "xsumstat", "peer's", "ratio", "from – to", "aim"], cells)
        + "\n`per-cell SciPy` is a loop of `scipy.stats.kendalltau` or `spearmanr` over the inputs after a coin for "
        "every cell, as mt-metrics-eval does it, which is not on PyPI.\n"
    )


def warm(rows: list[dict]) -> str:
    """Warm calls beside the peers'."""
    cells = [
        [row["call"], seconds(row["seconds"]), f"{seconds(row['low'])} – {seconds(row['high'])}",
         seconds(row["wanted"]) if row["wanted"] else "–"]
        for row in rows
    ]  # fmt: skip
    return (
        "## Warm calls\n\nCPU time of a call on the demo (6 metrics and people, 12 systems, 30 inputs) that has been "
        "made before: the median, and the least and greatest. What others compute on arrays or frames that are ready, "
        "in the same process.\n\n" + table(["call", "time", "from – to", "aim"], cells)
    )


def growth(rows: list[dict]) -> str:
    """Exponents of the growth of time of every analysis, a column for each size."""
    sizes = list(dict.fromkeys(row["along"] for row in rows))
    by_call = {(row["call"], row["along"]): row for row in rows}

    def cell(call: str, along: str) -> str:
        row = by_call.get((call, along))
        if row is None:
            return ""
        if row["exponent"] is None:
            return f"under {seconds(max(row['seconds'][-1], 0.001))}"
        return f"{row['exponent']:.2f}{' !' if row['exponent'] > row['limit'] else ''}"

    cells = [[call, *(cell(call, along) for along in sizes)] for call in dict.fromkeys(row["call"] for row in rows)]
    most = {along: max(row["sizes"][1] for row in rows if row["along"] == along) for along in sizes}
    return (
        "## Growth\n\nCPU time on one thread grows as a size to the power of the exponent, fitted to the last "
        "doublings. One size is doubled until a call takes .6 s or the size has reached its end "
        f"({', '.join(f'{most[along]:,} {along}' for along in sizes)}); the others stay at 12 systems, 60 inputs, 3 "
        'metrics with ties and 499 resamples. Without an exponent: the time at the greatest size. "!": more than 1.2 '
        "in inputs or resamples, or 2.2 in systems or metrics. `input_effect` compares each pair of inputs, and is "
        "quadratic in them. The others so marked exceed it in the last doublings only, where their arrays outgrow the "
        "cache; from the first size to the last, fixed costs included, they stay below 1.2 and 1.5.\n\n"
        + table(["call", *sizes], cells)
    )


def threads(rows: list[dict]) -> str:
    """One thread and two."""
    cells = [[row["call"], seconds(row["one"]), seconds(row["two"]), f"{row['ratio']:.2f}x"] for row in rows]
    head = "## Threads\n\n20 systems, 1,500 inputs, 8 tied metrics, 8,192 resamples.\n\n"
    return head + table(["call", "one thread", "two threads", "ratio"], cells)


def imported(row: dict) -> str:
    """What the import costs."""
    return (
        f"## Start\n\n`import xsumstat` adds {row['added']:.2f} s to `import xarray` "
        f"({row['low']:.2f} to {row['high']:.2f}).\n"
    )


def first(rows: list[dict]) -> str:
    """First calls."""
    cells = [[f"`ds.meta.{row['call']}`", seconds(row["cold"]), seconds(row["warm"])] for row in rows]
    return "The first call of a session, on the demo data:\n\n" + table(["call", "compiling", "from the cache"], cells)


def memory(rows: list[dict]) -> str:
    """Time and peak memory of every method that resamples."""
    counts = sorted({row["resamples"] for row in rows})
    found = {(row["size"], row["call"], row["resamples"]): row for row in rows}
    cells = []
    for size, call in dict.fromkeys((row["size"], row["call"]) for row in rows):
        measured = [found.get((size, call, count)) for count in counts]
        both = (f"{seconds(row['seconds'])}, {row['megabytes']:.0f} MB" if row else "" for row in measured)
        cells.append([f"{call}, {size}", *both])
    head = (
        "## Every method that resamples\n\nTime on all cores, and what a call adds to the peak of a fresh process that "
        "has made a small one, by the number of resamples; 20 metrics with ties. Empty: over twenty seconds.\n\n"
    )
    return head + table(["call", *(f"{count:,}" for count in counts)], cells)


def jobs(rows: list[dict]) -> str:
    """Whole jobs."""
    cells = [
        [
            f"`{row['job']}.py`",
            f"{row['cold']:.1f} s ({row['cold_low']:.1f} – {row['cold_high']:.1f})",
            f"{row['warm']:.1f} s",
        ]
        for row in rows
    ]
    return (
        "## Whole jobs\n\nA fresh process, from start to end, reading SummEval's files, on all cores: 13 metrics, both "
        "levels, three coefficients, 10,000 resamples of both dims.\n\n"
        + table(["job", "nothing compiled", "all compiled"], cells)
    )


def proof(found: dict) -> str:
    """Computed p-values, corrections and simulations."""
    computed = [
        [row["level"], row["coefficient"], row["gold"], "exact" if row["exact"] else "a bound",
         seconds(row["computed"]), seconds(row["sampled"])]
        for row in found["computed"]
    ]  # fmt: skip
    beside = found["sampled"]
    corrections = [[row["adjust"], seconds(row["seconds"])] for row in found["corrections"]]
    trials = [
        [row["level"], seconds(row["ours"]), seconds(row["theirs"]), f"{row['ratio']:,.0f}"] for row in found["trials"]
    ]
    same = [
        [row["level"], row["resample"], seconds(row["ours"]), seconds(row["theirs"]) if "theirs" in row else "",
         f"{row['theirs'] / row['ours']:,.0f}" if "theirs" in row else ""]
        for row in found["equivalences"]
    ]  # fmt: skip
    layers = [[row["drawn"], seconds(row["seconds"])] for row in found["layers"]]
    return "\n".join(
        [
            "## P-values without sampling\n\nOne pair of untied metrics, 16x100, a whole call on one thread.\n",
            table(["level", "coefficient", "gold", "p-value", "computed", "9,999 swaps"], computed),
            f"\nOn SummEval (pairwise accuracy, input level) {beside['tests']} computed one-sided p-values, the "
            f"smallest {beside['smallest']:.1e}, lie within {beside['largest_z']:.2f} standard errors of those of "
            f"{beside['swaps']:,} random swaps.\n",
            "## Corrections\n\n156 one-sided tests of 13 tied metrics, input-level Kendall, 9,999 swaps, one thread.\n",
            table(["adjust", "time"], corrections),
            "\n## Simulations\n\nA trial of `coverage` on halves of 24x100, one metric, Pearson, six "
            "intervals of 999 resamples, one thread; nlpstats' loop of 999 resamples, for one interval.\n",
            table(["level", "a trial", "nlpstats", "ratio"], trials),
            "\n## Equivalence, and layers\n\nA resample of the difference of two tied metrics, 16x100, Kendall, one "
            "thread; SciPy's tau of both.\n",
            table(["level", "drawn", "a resample", "SciPy", "ratio"], same),
            "\nA draw of one metric's input-level Kendall, when raters or references are drawn too.\n",
            table(["drawn", "a draw"], layers),
        ]
    )


def systems(found: dict) -> str:
    """Comparisons of systems."""
    cells = [
        [
            row["method"],
            seconds(row["ours"]),
            seconds(row["theirs"]) if "theirs" in row else "",
            times(row["theirs"] / row["ours"]) if "theirs" in row else "",
        ]
        for row in found["tests"]
    ]
    verdicts = found["verdicts"]
    return "\n".join(
        [
            "## Systems\n\nAll 300 pairs of 25 systems on 100 inputs, one metric, one thread, 9,999 resamples where "
            "there are any; SciPy pair by pair (its swaps vectorised), from ten pairs.\n",
            table(["test", "a call", "SciPy", "ratio"], cells),
            f"`discriminative_agreement` of 14 tied metrics, 300 pairs, 9,999 resamples: {seconds(verdicts['ours'])}; "
            f"a loop over pairs and resamples with NumPy's means {seconds(verdicts['theirs'])} "
            f"({times(verdicts['theirs'] / verdicts['ours'])}).\n",
        ]
    )


def ranges(found: dict) -> str:
    """Ranges of scores."""
    cells = [[row["call"], seconds(row["seconds"]), times(found["scipy"] / row["seconds"])] for row in found["calls"]]
    return "\n".join(
        [
            f"## Ranges of scores\n\n{found['outputs']:,} outputs of 92 inputs, 10 pairs of 5 metrics, two threads; "
            f"SciPy's Kendall alone of the 10 pairs on each input takes {seconds(found['scipy'])}. Disagreement and "
            "consistency look at every pair of outputs.\n",
            table(["call", "time", "SciPy's Kendall / this"], cells),
            f"`metric_corr` on one thread: {seconds(found['one_thread'])}, "
            f"{times(found['scipy'] / found['one_thread'])}.\n",
        ]
    )


def jackknife(rows: list[dict]) -> str:
    """The section of intervals without draws."""
    head = ["level", "coefficient", "jackknife, a metric", "9,999 draws", "ratio", "call of 8 metrics"]
    cells = [
        [
            *(row["level"], row["coefficient"], seconds(row["jackknife"]), seconds(row["bootstrap"])),
            *(times(row["bootstrap"] / row["jackknife"]), seconds(row["call"])),
        ]
        for row in rows
    ]
    text = "SummEval, 16 systems, 100 inputs, one thread. How often they hold what they say: `docs/calibration.md`."
    return f"## Intervals without draws\n\n{text}\n\n{table(head, cells)}"


def readers(rows: list[dict]) -> str:
    """Readers of scores."""
    names = {"read_mtme_all_granularities": "read_mtme, all granularities"}
    cells = [[names.get(name, name.replace("_", " ") if name.startswith("as_") else name), seconds(each)]
             for row in rows for name, each in row.items()]  # fmt: skip
    text = (
        "CPU time. A made-up language pair in the layout of mt-metrics-eval (13 metrics, 20 systems, 1,000 segments), "
        "beside the loops of its `EvalSet` over lines; a frame of a million rows, beside what pandas offers; lines of "
        "SummEval, beside SacreROUGE's loop over them, which checks nothing."
    )
    return f"## Reading scores\n\n{text}\n\n{table(['reader', 'time'], cells)}"


def mt(found: dict) -> str:
    """Today's metrics task."""
    cells = [
        [name, row["call"], seconds(row["ours"]), seconds(row["theirs"]), times(row["theirs"] / row["ours"])]
        for name, rows in (("accuracy with ties", found["ties"]), ("soft pairwise accuracy", found["soft"]))
        for row in rows
    ]
    return "\n".join(
        [
            "## Today's metrics task\n\n20 systems, 1,500 inputs, 50 metrics, 1,225 pairs of them, 1,000 resamples, a "
            "whole call on two threads; loops that do what the field's tools do (calibration over all pairs of outputs "
            "in Python, swaps of decisions by matrices of each input, p-values of systems by a product of matrices), "
            "from one metric or pair and a few resamples.\n",
            table(["coefficient", "call", "time", "loop", "ratio"], cells),
            "Accuracy with ties of all cells as one group, 9 systems on 1,418 inputs, 81 million pairs:\n",
            table(["call", "time"], [[row["call"], seconds(row["seconds"])] for row in found["cells"]]),
        ]
    )


def task_rankings(found: dict) -> str:
    """`rank_tasks` at the size of a shared task."""
    kept = {False: "no", True: "yes"}
    whole = [
        [
            *(row["coefficient"], f"{row['tasks']}", f"{row['swaps']:,}", kept[row["kept"]], seconds(row["seconds"])),
            *(f"{row['megabytes']:,.0f} MB", f"{row['answer']:,.{0 if row['answer'] > 1 else 2}f} MB"),
        ]
        for row in found["whole"]
    ]
    single = [
        [row["coefficient"], seconds(row["ours"]), seconds(row["theirs"]), times(row["theirs"] / row["ours"])]
        for row in found["loops"]
    ]
    along = {"metrics": "metrics", "n_tasks": "tasks", "swaps": "swaps"}
    growth = [
        [
            *(row["coefficient"], along[row["along"]], ", ".join(f"{size:,}" for size in row["sizes"])),
            *(", ".join(seconds(each) for each in row["seconds"]), f"{row['exponent']:.2f}"),
        ]
        for row in found["growth"]
    ]
    return "\n".join(
        [
            "## rank_tasks of a shared task\n\n50 metrics, 15 systems, 500 inputs in each task; CPU time on one "
            "thread, each call in a process of its own. The peak is above what the process held before the call. Soft "
            "pairwise accuracy is timed on one task and 999 swaps; time grows linearly in both, so ten tasks and 9,999 "
            "swaps take a hundred times as long.\n",
            table(["coefficient", "tasks", "swaps", "kept", "time", "peak", "answer"], whole),
            "One swap of one pair of metrics, in a whole call, beside loops that do what the field's tools do, from "
            "one pair and 20 swaps: decisions swapped by matrices of each input; 1,000 permutations for each p-value "
            "of two systems, which soft pairwise accuracy here computes without permutations.\n",
            table(["coefficient", "time", "loop", "ratio"], single),
            "CPU time while one size doubles, from 24 metrics, 2 tasks and 9,999 swaps; of soft pairwise accuracy from "
            "6 metrics, 1 task and 999 swaps. The number of pairs is quadratic in metrics.\n",
            table(["coefficient", "along", "sizes", "time", "exponent"], growth),
        ]
    )


SECTIONS = {
    "warm": warm, "ratios": ratios, "growth": growth, "threads": threads, "import": imported, "first": first,
    "memory": memory, "jobs": jobs, "proof": proof, "systems": systems, "ranges": ranges, "mt": mt,
    "task_rankings": task_rankings, "jackknife": jackknife, "readers": readers,
}  # fmt: skip


def written(found: dict) -> str:
    """The whole page."""
    machine = found["machine"]
    where = (
        f"{machine['processor']}, {machine['cores']} cores, shared with others; Python {machine['python']}; "
        + ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    )
    own, with_ = machine["versions"]["xsumstat"], found.get("measured_with", {})
    older = [part for part in SECTIONS if part in found and with_.get(part) != own]
    if older:
        where += f". Of an earlier run, before some last changes: {', '.join(older)}"
    parts = [shown(found[part]) for part, shown in SECTIONS.items() if part in found]
    return "\n".join([HEAD, f"Measured on: {where}.\n", *parts])
