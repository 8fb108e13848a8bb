"""``python benchmarks/tied_judges.py``: coverage and size of `human_ceiling` for accuracy with ties.

Writes what was found to ``tied_judges.json`` and, as a table, to ``docs/calibration/judges.md``.
"""

import math
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import command
import numpy as np
import xarray as xr

import xsumstat  # noqa: F401
from xsumstat.report import report_data

DRAWS = 299
LARGE, LARGE_SETS = 1500, 12  # inputs and sets of the population
STEPS = {"same": (1.2, 1, 5), "coarser": (0.6, 2, 4), "finer": (1.2, 1, 5)}


@dataclass(frozen=True)
class Case:
    """Grades of raters and of a judge with the same noise before they are rounded."""

    judge: str
    n_systems: int
    n_inputs: int
    raters: int

    def scores(self, rng: np.random.Generator, m: int) -> xr.Dataset:
        """One set; fewer than five systems are the same in all sets, because results apply to them."""
        n = self.n_systems
        systems = np.linspace(-0.6, 0.6, n) if n < 5 else 0.5 * rng.normal(size=n)
        quality = systems[:, None] + 0.5 * rng.normal(size=(1, m)) + math.sqrt(0.5) * rng.normal(size=(n, m))
        grades = quality + 0.8 * rng.normal(size=(self.raters + 1, n, m))
        rating = np.clip(np.rint(3 + 1.2 * grades[1:]), 1, 5)
        scale, low, high = STEPS[self.judge]
        judge = np.clip(3 + scale * grades[0], low, high)
        judge = np.rint(10 * judge) / 10 if self.judge == "finer" else np.rint(judge)
        labels = {"metric": ["judge"], "system": [f"s{i}" for i in range(n)], "input": list(range(m))}
        ds = xr.Dataset({"score": (("metric", "system", "input"), judge[None])}, labels)
        return ds.assign(rating=(("rater", "system", "input"), rating))

    def result(self, rng: np.random.Generator, m: int, draws: int) -> np.ndarray:
        """Of the judge, of raters and of their difference: estimate and limits."""
        ds = self.scores(rng, m)
        level, _ = report_data.usual_measure(ds, "auto", "acc_eq")
        found = ds.meta.human_ceiling("rating", level=level, coefficient="acc_eq", n_resamples=draws, rng=rng)
        judge, rater = found.sel(metric="judge"), found.sel(metric="rater")
        ends = [(each.correlation, each.ci_low, each.ci_high) for each in (judge, rater)]
        ends.append((judge.difference, judge.difference_low, judge.difference_high))
        return np.array(ends, float)


def cases() -> Iterator[Case]:
    """Every design."""
    for judge in STEPS:
        for n in (3, 5, 7):
            yield from (Case(judge, n, m, raters) for m, raters in ((60, 2), (120, 3)))


def row(at: int, case: Case, trials: int) -> dict:
    """The counts of one design, with the truth: of few systems from a large population, else the mean of all sets."""
    rng = np.random.default_rng([17, at])
    found = np.array([case.result(rng, case.n_inputs, DRAWS) for _ in range(trials)])
    truth = found[..., 0].mean(axis=0)
    if case.n_systems < 5:
        truth = np.mean([case.result(rng, LARGE, 2)[:, 0] for _ in range(LARGE_SETS)], axis=0)
    if case.judge == "same":
        truth[2] = 0.0
    held = ((found[..., 1] <= truth) & (truth <= found[..., 2])).sum(axis=0)
    differs = {"better": int((found[:, 2, 1] > 0).sum()), "worse": int((found[:, 2, 2] < 0).sum())}
    counts = dict(zip(("judge_held", "rater_held", "difference_held"), held.tolist(), strict=True))
    means = {"truth": truth.round(4).tolist(), "mean": found[..., 0].mean(axis=0).round(4).tolist()}
    return {**asdict(case), "trials": trials, **counts, **differs, **means}


def measured(asked: Namespace) -> Iterator[dict]:
    """A row for each design, two at a time."""
    return command.two_at_a_time(row, cases(), asked.trials)


def page(rows: list[dict]) -> str:
    """A row for each judge and design."""
    trials = rows[0]["trials"]
    low, high = command.band(0.95, trials)
    text = f"{trials} sets of each design. Nominal coverage shows {100 * low:.1f} to {100 * high:.1f} % "
    text += "(99 % Monte Carlo band); figures outside are bold.\n\n"
    text += "| judge | systems × inputs | raters | judge | rater | difference | true difference | mean difference | "
    text += "better | worse |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    for each in rows:
        held = ("judge_held", "rater_held", "difference_held")
        cells = [command.cell(each[name] / trials, low, high) for name in held]
        cells += [f"{each['truth'][2]:+.3f}", f"{each['mean'][2]:+.3f}"]
        cells += [f"{100 * each[name] / trials:.1f} %" for name in ("better", "worse")]
        head = [each["judge"], f"{each['n_systems']} × {each['n_inputs']}", each["raters"]]
        text += f"| {' | '.join(map(str, head + cells))} |\n"
    return text


if __name__ == "__main__":
    command.run(
        __file__,
        __doc__,
        measured,
        page,
        trials={"type": int, "default": 160, "help": "sets of scores of each design (default: %(default)s)"},
    )
