"""``python benchmarks/agreement.py``: how often intervals of a judge's agreement hold the truth.

Writes what was found to ``agreement.json`` and, as a table, to ``docs/calibration/judges.md``.
"""

from pathlib import Path

import command
import numpy as np
import xarray as xr
from scipy.special import ndtri

import xsumstat  # noqa: F401

HERE = Path(__file__).parent
SYSTEMS, CELLS, LARGE = (1, 3, 4), (100, 300, 1000), 20_000
# Passes of so many per cent of outputs; grades from 1 to 5.
KINDS = (5, 20, 50, "grades")
OF_PASSES = ("kappa", "mcc", "f1", "sensitivity", "specificity", "accuracy")
OF_GRADES = ("kappa", "weighted_kappa", "icc", "accuracy")
# Of the judge's error: what it shares on all outputs of one prompt, and what each output has of its own.
SHARED, OWN = 0.5, 0.5


def coefficients(kind: int | str) -> tuple[str, ...]:
    """Those that are asked of a kind of labels."""
    return OF_GRADES if kind == "grades" else OF_PASSES


def scores(kind: int | str, systems: np.ndarray, inputs: int, rng: np.random.Generator) -> xr.Dataset:
    """People's labels and the judge's, of systems with these qualities on new prompts."""
    shape = (len(systems), inputs)
    latent = systems[:, None] + 0.5 * rng.normal(size=(1, inputs)) + rng.normal(size=shape)
    seen = latent + SHARED * rng.normal(size=(1, inputs)) + OWN * rng.normal(size=shape)
    values = np.array([latent, seen])
    spread = np.sqrt(1.25)
    if kind == "grades":
        values = np.clip(np.rint(3 + values), 1, 5)
    else:
        values = (values > -spread * ndtri(int(kind) / 100)).astype(float)
    return xr.Dataset({"score": (("metric", "system", "input"), values)}, {"metric": ["human", "judge"]})


def qualities(n: int, rng: np.random.Generator) -> np.ndarray:
    """What systems are better than each other by."""
    return 0.3 * rng.normal(size=n) if n > 1 else np.zeros(1)


def measured(trials: int) -> list[dict]:
    """A row for each kind of labels, number of systems and of outputs, and coefficient."""
    found: dict[tuple, list] = {}
    for at, kind in enumerate(KINDS):
        for n in SYSTEMS:
            for trial in range(trials):
                rng = np.random.default_rng([at, n, trial])
                systems, how = qualities(n, rng), {"metric": "judge", "level": "global"}
                how |= {} if kind == "grades" else {"positive": 1}
                large = scores(kind, systems, LARGE, rng)
                truth = {
                    name: float(large.meta.corr("human", coefficient=name, **how).correlation.item())
                    for name in coefficients(kind)
                }
                for cells in CELLS:
                    ds = scores(kind, systems, max(2, round(cells / n)), rng)
                    constant = float(ds.score.sel(metric="human").std()) == 0
                    for name in coefficients(kind):
                        low, high = np.nan, np.nan
                        if not constant:
                            ci = ds.meta.ci("human", coefficient=name, resample="input", **how)
                            low, high = float(ci.ci_low.item()), float(ci.ci_high.item())
                        key = (kind, n, cells, name)
                        found.setdefault(key, []).append((low <= truth[name] <= high, high - low, truth[name] > high))
            print(f"{kind}, {n} systems", flush=True)
    rows = []
    for (kind, n, cells, name), some in found.items():
        defined = [each for each in some if not np.isnan(each[1])]
        about = {"kind": kind, "n_systems": n, "cells": cells, "coefficient": name, "trials": len(some)}
        counts = {"defined": len(defined), "held": sum(bool(each[0]) for each in defined)}
        counts["above"] = sum(bool(each[2]) for each in defined)
        widths = [each[1] for each in defined]
        rows.append({**about, **counts, "width": round(float(np.mean(widths)), 4) if widths else None})
    return rows


def page(rows: list[dict]) -> str:
    """A row for each kind of labels and coefficient; a column for each number of systems."""
    heads = [f"{n} system{'s' * (n > 1)}" for n in SYSTEMS]
    lines = [f"| labels | coefficient | {' | '.join(heads)} |", "| --- | --- |" + " --- |" * len(SYSTEMS)]
    for kind in KINDS:
        for name in coefficients(kind):
            cells = []
            for n in SYSTEMS:
                some = [
                    each for each in rows if (each["kind"], each["coefficient"], each["n_systems"]) == (kind, name, n)
                ]
                cells.append("; ".join(_text(each) for each in some) or "–")
            labels = "grades 1–5" if kind == "grades" else f"{kind} % pass"
            lines.append(f"| {labels} | {name} | {' | '.join(cells)} |")
    shares = [100 * each["held"] / each["defined"] for each in rows if each["defined"]]
    trials = max(each["trials"] for each in rows)
    error = 100 * np.sqrt(0.95 * 0.05 / trials)
    head = f"{trials} sets of each design (Monte-Carlo error of 95 %: {error:.1f} points); "
    head += f"mean coverage {np.mean(shares):.1f} %, least {min(shares):.1f} %, most {max(shares):.1f} %."
    return f"{head}\n\n" + "\n".join(lines) + "\n"


def _text(row: dict) -> str:
    share = 100 * row["held"] / max(row["defined"], 1)
    shown = f"{share:.1f}" if share >= 90 else f"**{share:.1f}**"
    lacking = row["trials"] - row["defined"]
    return f"{row['cells']}: {shown}" + (f" ({lacking} without)" if lacking else "")


if __name__ == "__main__":
    command.run(
        __file__,
        __doc__,
        lambda asked: measured(asked.trials),
        page,
        trials={"type": int, "default": 300, "help": "sets of scores of each design (default: %(default)s)"},
    )
