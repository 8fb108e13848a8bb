"""``python benchmarks/drift.py``: what the limits and tests of `drift` hold.

Writes what was found to ``drift.json`` and, as a table, to ``docs/calibration/judges.md``.

A prompt is more or less difficult, which all scores share; the human score of an output is its quality with noise, and
both versions of the judge grade it from 1 to 10, with noise that they share and noise of their own. The truth is what
40,000 other prompts give. "same": both versions are equally good, and all systems shift alike. "changed": the new
version is noisier, and favours one system. "gaps": the same, and each version lacks 5 % of the outputs.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import xarray as xr

import xsumstat  # noqa: F401 - registers ds.meta
from xsumstat.analyses.measure import checked_measure
from xsumstat.inference import drift as engine
from xsumstat.resampling.jackknife import estimated

FILE = Path(__file__).with_name("drift.json")
PAGE = Path(__file__).parents[1] / "docs" / "calibration" / "judges.md"
TRIALS, BIG, MARGIN = 400, 40_000, 0.1
DESIGNS = [(2, 60), (2, 200), (3, 60), (4, 60), (4, 120), (6, 60), (6, 200), (6, 500)]
LEVELS = ("global", "input", "system")
HOW = {
    "same": {"noise": (0.6, 0.6), "favoured": 0.0},
    "changed": {"noise": (0.4, 0.9), "favoured": 0.4},
    "gaps": {"noise": (0.4, 0.9), "favoured": 0.4, "gaps": 0.05},
}
SHARES = ("flip", "reversal", "changed")


def drawn(rng, systems, prompts, *, noise, favoured, gaps=0.0):
    """Grades of both versions, and human scores (systems, prompts)."""
    quality = np.linspace(0.5, -0.5, systems)[:, None] + rng.standard_normal((systems, prompts))
    quality = quality + 0.5 * rng.standard_normal(prompts)
    human = quality + 0.7 * rng.standard_normal(quality.shape)
    seen = quality + 0.5 * rng.standard_normal(quality.shape)
    judges = []
    for of, shift in zip(noise, (0.0, 0.2), strict=True):
        values = seen + of * rng.standard_normal(quality.shape) + shift
        values[-1] += favoured if shift else 0.0
        grades = np.clip(np.round(5.5 + 1.8 * values), 1, 10)
        judges.append(np.where(rng.random(grades.shape) < gaps, np.nan, grades))
    return judges[1], judges[0], human


def dataset(judge, human):
    """One version's grades beside the human scores."""
    names = {"metric": ["judge", "human"], "system": [f"s{at}" for at in range(len(human))]}
    names["input"] = np.arange(human.shape[1])
    return xr.Dataset({"score": (("metric", "system", "input"), np.stack([judge, human]))}, names)


def truths(systems, how, seed):
    """What many prompts give; of agreement the correlations of both versions."""
    new, old, human = drawn(np.random.default_rng([seed, 10**6]), systems, BIG, **{**how, "gaps": 0.0})
    whole, each = engine.changes(new, old, 1.0, 0.95)
    found = dict(zip(engine.OF_ALL, whole, strict=True)) | dict(zip(engine.OF_SYSTEM, each, strict=True))
    for level in LEVELS:
        if level != "system" or systems > 2:
            r = [dataset(x, human).meta.corr("human", level=level).correlation.values[0] for x in (new, old)]
            found[level] = r[0] - r[1]
    return found


def held(value, low, high):
    """The share of limits that hold values."""
    return float(np.mean((low <= value) & (value <= high)))


def cell(systems, prompts, name, trials, seed):
    """Coverage, and how often each test finds something, in one design."""
    how, rows = HOW[name], {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        truth = truths(systems, how, seed)
        for trial in range(trials):
            new, old, human = drawn(np.random.default_rng([seed, prompts, trial]), systems, prompts, **how)
            for key, value in one(dataset(new, human), dataset(old, human), truth).items():
                rows.setdefault(key, []).append(value)
    found = {key: round(float(np.nanmean(each)), 3) for key, each in rows.items()}
    design = {"systems": systems, "prompts": prompts, "judges": name, "trials": trials}
    return {**design, "truth": {level: round(float(truth[level]), 3) for level in LEVELS if level in truth}, **found}


def one(new, old, truth):
    """What one set of scores gives."""
    found, numbers = None, {}
    for level in (level for level in LEVELS if level in truth):
        bound = abs(float(truth[level]))
        found = new.meta.drift(old, "human", level=level, margin=max(bound, 1e-3)).squeeze("metric")
        low, high = float(found.ci_low), float(found.ci_high)
        numbers[f"{level}: coverage of 90 %"] = held(truth[level], low, high)
        numbers[f"{level}: coverage of 95 %"] = held(truth[level], *wider(new, old, level))
        numbers[f"{level}: equivalent within the true change"] = float(found.equivalent)
        numbers[f"{level}: equivalent within {MARGIN:g}"] = float(low > -MARGIN and high < MARGIN)
    for share in SHARES:
        limits = (float(found[f"{share}_{end}"]) for end in ("low", "high"))
        numbers[share] = held(truth[f"{share}_share"], *limits)
    for name in ("shift", "system_shift", "excess"):
        numbers[name] = held(truth[name], found[f"{name}_low"].values, found[f"{name}_high"].values)
    numbers["shifts differ"] = float(found.heterogeneity_pvalue <= 0.05)
    numbers["any system shifts more (Holm)"] = float((found.excess_pvalue_adjusted <= 0.05).any())
    return numbers


def wider(new, old, level):
    """The 95 % interval that `drift` gives with alpha=.025."""
    both = np.stack([ds["score"].values[0] for ds in (new, old)])
    both = np.where(np.isnan(both).any(axis=0), np.nan, both)
    measure = checked_measure(level, "pearson", "pairwise", "drop")
    ((found, *_),) = estimated(both, new["score"].values[1], [(0, 1)], measure, ("input",))
    return found.allowing_bias().interval(0.95)


def percent(row, names):
    """Shares, side by side."""
    return " / ".join("–" if name not in row else f"{100 * row[name]:.0f} %" for name in names)


def table(rows):
    """The rows in Markdown."""
    heads = [
        "systems × inputs, versions",
        "90 % intervals of the change of agreement: global / input / system level",
        "95 % intervals of it (alpha=.025)",
        "equivalent: global / input / system level",
        "95 % intervals of shares: flips / reversed / changed",
        "95 % intervals of shifts: mean / systems / excess",
        "shifts differ",
    ]
    lines = [heads, ["---"] * len(heads)]
    for row in rows:
        bound = f"within {MARGIN:g}" if row["judges"] == "same" else "within the true change"
        lines.append(
            [
                f"{row['systems']} × {row['prompts']}, {row['judges']}",
                percent(row, [f"{level}: coverage of 90 %" for level in LEVELS]),
                percent(row, [f"{level}: coverage of 95 %" for level in LEVELS]),
                percent(row, [f"{level}: equivalent {bound}" for level in LEVELS]),
                percent(row, SHARES),
                percent(row, ("shift", "system_shift", "excess")),
                percent(row, ("shifts differ",)),
            ]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write():
    """The table of the page, from what was measured and kept."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split("<!-- drift -->\n")
    after = rest.split("<!-- /drift -->")[1]
    found = table(json.loads(FILE.read_text(encoding="utf-8")))
    PAGE.write_text(f"{before}<!-- drift -->\n{found}\n<!-- /drift -->{after}", encoding="utf-8")


def main(trials):
    """All designs, with all kinds of judges."""
    rows = []
    for at, (systems, prompts) in enumerate(DESIGNS):
        for kind, name in enumerate(HOW):
            rows.append(cell(systems, prompts, name, trials, 10 * at + kind))
            print(json.dumps(rows[-1]), flush=True)
            FILE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    write()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS)
