"""``python benchmarks/bands.py``: how often the 95 % bands of the analyses hold what they are of, by simulation.

Each case draws scores again and again, asks for the band, and counts how often it holds a truth that is had from a much
larger set of scores (or by formula): of the same systems on new inputs where inputs alone are drawn, else of the whole
population of systems. What is found is written as JSON, and as a table between the markers of the page on calibration.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from band_cases import Case, cases, drawn_from, model
from calibration import into_page

HERE = Path(__file__).parent

# --- What is counted ---


def wilson(count: int, n: int) -> tuple[float, float]:
    """Wilson's (1927) 95 % limits of a share."""
    z, share = 1.959964, count / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return centre - reach, centre + reach


def measured(case: Case, trials: int, n_resamples: int) -> list[dict]:
    """A row for each number of a case."""
    start = time.perf_counter()
    seeds = np.random.SeedSequence(sum(map(ord, case.analysis + case.design))).spawn(1 + trials)
    generator = np.random.default_rng(seeds[0])
    worlds = [case.world(generator) for _ in range(case.worlds)]
    names = list(worlds[0].truth)
    found = np.full((trials, len(names), 3), np.nan)
    truth = np.array([[worlds[at % len(worlds)].truth[name] for name in names] for at in range(trials)])
    for at in range(trials):
        ds = worlds[at % len(worlds)].draw(np.random.default_rng(seeds[1 + at]))
        numbers = case.ask(ds, n_resamples, at)
        found[at] = [numbers[name] for name in names]
    rows = [row(found[:, at], truth[:, at]) for at in range(len(names))]
    shared = {"analysis": case.analysis, "design": case.design, "of": case.of, "trials": trials}
    shared |= {"n_resamples": n_resamples}
    seconds = round(time.perf_counter() - start, 1)
    return [{**shared, "row": name, **each, "seconds": seconds} for name, each in zip(names, rows, strict=True)]


def row(numbers: np.ndarray, truth: np.ndarray) -> dict:
    """Coverage of one number's bands (trials, 3) with its Wilson limits, the misses on each side, and the width."""
    defined = ~np.isnan(numbers).any(axis=1) & ~np.isnan(truth)
    if not defined.any():
        return {"coverage": None, "undefined": len(truth)}
    (estimate, low, high), truth = numbers[defined].T, truth[defined]
    slack = 1e-12
    held = (low <= truth + slack) & (truth <= high + slack)
    spread = float(np.std(estimate - truth, ddof=1))
    return {
        "coverage": float(held.mean()),
        "wilson": list(wilson(int(held.sum()), len(held))),
        "truth_below": float((truth < low - slack).mean()),
        "truth_above": float((truth > high + slack).mean()),
        "width_ratio": float((high - low).mean()) / (2 * 1.959964 * spread) if spread else None,
        "truth": float(truth.mean()),
        "bias": float((estimate - truth).mean()),
        "true_sd": spread,
        "undefined": int((~defined).sum()),
    }


# --- What is written ---


def table(rows: list[dict]) -> str:
    """The rows as a table in Markdown."""
    head = ["analysis", "scores", "generalises to", "coverage [95 %]", "truth below, above", "relative width", "trials"]
    lines = [head, ["---"] * 3 + ["---:"] * 4]
    for each in (each for each in rows if each.get("coverage") is not None):
        low, high = each["wilson"]
        width = f"{each['width_ratio']:.2f}" if each["width_ratio"] is not None else ""
        held = f"{each['coverage']:.3f} [{low:.3f}, {high:.3f}]"
        what = [f"`{each['analysis']}`", f"{each['design']}: {each['row']}", each["of"]]
        missed = f"{each['truth_below']:.3f}, {each['truth_above']:.3f}"
        lines.append([*what, held, missed, width, str(each["trials"] - each["undefined"])])
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
    for each in (each for each in rows if "resolved_if_equal" in each):
        low, high = each["wilson"]
        text += f"\n`dominance`, {each['design']}: of {each['trials']} pairs of equal metrics "
        text += f"{each['resolved_if_equal']:.3f} [{low:.3f}, {high:.3f}] were resolved at .975 (nominally .05)"
        if each["shift_if_none"] is not None:
            text += f"; where nothing shifts, `mean_shift` averaged {each['shift_if_none']:.3f} ± "
            text += f"{1.96 * (each['shift_error'] or 0):.3f}, as only pairs that the base resolves are counted"
        text += ".\n"
    return text


# --- What has no band ---


def dominance_rows(trials: int, n_resamples: int) -> list[dict]:
    """`dominance` has no band: how often it resolves a pair of equal metrics, and what it shifts by where none does."""
    rows: list[dict] = []
    for size, level in (((12, 30), "system"), ((30, 100), "system"), ((16, 100), "input")):
        chosen, resolved, shifts = model({"a": 0.7, "b": 0.7}), [], []
        far = model({"a": 0.8, "b": 0.6})
        generator = np.random.default_rng([7, *size])
        settings: dict[str, Any] = {"level": level, "coefficient": "pearson", "n_resamples": n_resamples}
        for at in range(trials):
            pair = drawn_from(chosen, ["a", "b"], size, generator)
            found = pair.meta.dominance("gold", metric="a", other="b", rng=at, **settings)
            resolved.append(bool(found.resolved.squeeze()))
            two = [drawn_from(far, ["a", "b"], size, generator) for _ in range(2)]
            both = xr.concat(two, xr.DataArray(["x", "y"], dims="language", name="language"))
            found = both.meta.dominance("gold", metric="a", other="b", along="language", base="x", rng=at, **settings)
            shifts.append(float(found.mean_shift.sel(language="y")))
        settled = np.array(shifts)[~np.isnan(shifts)]
        low, high = wilson(sum(resolved), trials)
        design = f"{size[0]} systems x {size[1]} inputs, {level} level, pearson"
        rows.append(
            {
                "analysis": "dominance",
                "design": design,
                "resolved_if_equal": float(np.mean(resolved)),
                "wilson": [low, high],
                "shift_if_none": float(settled.mean()) if len(settled) else None,
                "shift_error": float(settled.std(ddof=1) / math.sqrt(len(settled))) if len(settled) > 1 else None,
                "n_settled": len(settled),
                "trials": trials,
                "n_resamples": n_resamples,
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


def main() -> None:
    """Measure the chosen analyses, and write what was found beside what is known of the others."""
    made = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    made.add_argument("--trials", type=int, default=300, help="sets of scores of each case (default: 300)")
    made.add_argument("--resamples", type=int, default=399, help="resamples of each band (default: 399)")
    made.add_argument("--only", default="", help="measure only analyses whose name begins so")
    made.add_argument("--output", type=Path, default=HERE / "bands.json", help="the JSON to update")
    asked = made.parse_args()
    os.environ.setdefault("XSUMSTAT_NUM_THREADS", "1")  # read at every call
    warnings.simplefilter("ignore")
    import xsumstat  # noqa: F401

    known = json.loads(asked.output.read_text())["rows"] if asked.output.exists() else []
    rows = [each for each in known if not each["analysis"].startswith(asked.only)]
    for case in cases():
        if case.analysis.startswith(asked.only):
            new = measured(case, asked.trials, asked.resamples)
            rows += new
            for each in new:
                print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in each.items()}), flush=True)
            asked.output.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    if "dominance".startswith(asked.only):
        rows += dominance_rows(asked.trials, asked.resamples)
    order = [*dict.fromkeys(case.analysis for case in cases()), "dominance"]
    rows.sort(key=lambda each: order.index(each["analysis"]))
    asked.output.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    into_page("bands", table(rows))


if __name__ == "__main__":
    sys.exit(main())
