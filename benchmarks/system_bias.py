"""``python benchmarks/system_bias.py``: how often `bias` finds that a judge favours a system, where none or one is.

Writes what was found to ``system_bias.json`` and, as a table, to ``docs/calibration/judges.md``.
"""

import math
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import command
import numpy as np
import xarray as xr

import xsumstat  # noqa: F401

ALPHA, BATCH = 0.05, 40
OFFSETS, ERRORS = 0.5, 0.8  # sds of raters' offsets and errors, where quality has 1
FAVOURED, LIKING = 0.3, 0.2  # what the judge adds for a system; the sd of what a rater adds for each


@dataclass(frozen=True)
class Case:
    """Scores of a judge and ratings; systems differ in quality."""

    kind: str
    n_systems: int
    n_inputs: int
    raters: int

    def scores(self, rng: np.random.Generator, sets: int) -> xr.Dataset:
        """Scores along the dim "set"; only of "power" the judge favours the first system."""
        n, m = self.n_systems, self.n_inputs
        quality = 0.5 * rng.normal(size=(sets, n, 1)) + 0.5 * rng.normal(size=(sets, 1, m))
        quality = quality + math.sqrt(0.5) * rng.normal(size=(sets, n, m))
        ratings = quality + OFFSETS * rng.normal(size=(self.raters, sets, 1, 1))
        ratings = ratings + ERRORS * rng.normal(size=(self.raters, sets, n, m))
        if self.kind == "raters like systems":
            ratings = ratings + LIKING * rng.normal(size=(self.raters, sets, n, 1))
        seen = ratings[0] if self.kind == "judge copies a rater" else quality + 0.3 * rng.normal(size=(sets, 1, m))
        judge = seen + 0.6 * rng.normal(size=(sets, n, m))
        if self.kind == "power":
            judge[:, 0] += FAVOURED
        if self.kind == "grades 1-5":
            ratings, judge = (np.clip(np.rint(3 + 1.2 * each), 1, 5) for each in (ratings, judge))
        labels = {"metric": ["judge"], "system": [f"s{i}" for i in range(n)], "input": list(range(m))}
        ds = xr.Dataset({"score": (("metric", "set", "system", "input"), judge[None])}, labels)
        return ds.assign(rating=(("rater", "set", "system", "input"), ratings))

    def found(self, rng: np.random.Generator, sets: int) -> np.ndarray:
        """Counts of sets: first system p ≤ .05; any system after Holm's correction; what noise may explain taken off.

        The last is the same as the first with two raters or more.
        """
        ds = self.scores(rng, sets)
        if self.raters == 1:
            ds = ds.isel(rater=0)
        result = ds.meta.bias("rating", given="system", resample="input").isel(metric=0)
        p = result.pvalue.transpose("set", "covariate").values
        beyond = p[:, 0] <= ALPHA
        if self.raters == 1:
            # As conclusions do: a slope counts if it stays significant, with its sign, for every reliability tried.
            others = result.corrected_pvalue.isel(covariate=0).transpose("set", "reliability").values
            signs = np.sign(result.corrected_slope.isel(covariate=0).transpose("set", "reliability").values)
            beyond = (others <= ALPHA).all(axis=1) & (np.abs(signs.sum(axis=1)) == signs.shape[1])
        held = [_holm(each).min() <= ALPHA for each in p]
        return np.array([(p[:, 0] <= ALPHA).sum(), np.sum(held), beyond.sum(), np.isnan(p[:, 0]).sum()])


def _holm(p: np.ndarray) -> np.ndarray:
    """Holm's correction; of two systems there is one test."""
    order = np.argsort(p)
    found = np.empty_like(p)
    found[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return found


def cases() -> Iterator[Case]:
    """Every design."""
    for n in (3, 5, 8):
        yield from (Case("no bias", n, m, raters) for m in (60, 120, 300) for raters in (1, 2, 3))
    for kind in ("grades 1-5", "power", "judge copies a rater", "raters like systems"):
        for n in (3, 8):
            yield from (Case(kind, n, m, raters) for m in (60, 300) for raters in (1, 2, 3))


def row(at: int, case: Case, sets: int) -> dict:
    """The counts of one design."""
    rng = np.random.default_rng([11, at])
    counts = sum(case.found(rng, BATCH) for _ in range(sets // BATCH))
    names = ("first", "any", "beyond_noise", "undefined")
    return {**asdict(case), "sets": sets // BATCH * BATCH} | dict(zip(names, counts.tolist(), strict=True))


def measured(asked: Namespace) -> Iterator[dict]:
    """A row for each design, two at a time."""
    return command.two_at_a_time(row, cases(), asked.sets)


def page(rows: list[dict]) -> str:
    """A row for each kind of scores, design and number of raters."""
    low, high = command.band(ALPHA, rows[0]["sets"])
    text = f"{rows[0]['sets']} sets of each design. A test of nominal size shows {100 * low:.1f} to {100 * high:.1f} % "
    text += "(99 % Monte Carlo band); rates outside the band are bold, except under *power*.\n\n"
    text += "| scores | systems × inputs | raters | one system | any system, Holm | beyond noise |\n"
    text += "| --- | --- | --- | --- | --- | --- |\n"
    for each in rows:
        ends = (0.0, 1.0) if each["kind"] == "power" else (low, high)
        cells = [command.cell(each[name] / each["sets"], *ends) for name in ("first", "any", "beyond_noise")]
        if each["raters"] > 1:
            cells[2] = "–"
        shape = f"{each['n_systems']} × {each['n_inputs']}"
        text += f"| {each['kind']} | {shape} | {each['raters']} | {' | '.join(cells)} |\n"
    return text


if __name__ == "__main__":
    command.run(
        __file__,
        __doc__,
        measured,
        page,
        sets={"type": int, "default": 240, "help": "sets of scores of each design (default: %(default)s)"},
    )
