"""``python benchmarks/rated_documents.py``: `agreement`, `human_ceiling` and `alt_test` of inputs from documents.

Writes what was found to ``rated_documents.json`` and, as a table, to ``docs/calibration/clusters.md``.
"""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import command
import numpy as np
import xarray as xr

import xsumstat  # noqa: F401

MEMBERS, RATERS, BIG = 6, 3, 20_000
SCOPES = {"input": 4, "both": 12}  # what is random, and the number of systems


@dataclass(frozen=True)
class Case:
    """Ratings from 1 to 5 by three raters and a judge who is one more of them, all of whom err by document."""

    resample: str
    documents: int
    named: bool

    @property
    def systems(self) -> int:
        return SCOPES[self.resample]

    def scores(self, rng: np.random.Generator, systems: int, documents: int) -> xr.Dataset:
        """The raters' errors have a part that all outputs of a system in a document share, as its quality has."""
        document = np.repeat(np.arange(documents), MEMBERS)

        def made(*shape: int) -> np.ndarray:
            shared = rng.normal(size=(*shape, systems, documents))[..., document]
            return shared + rng.normal(size=shared.shape)

        of_system = rng.normal(size=systems) if self.resample == "both" else np.linspace(-0.8, 0.8, systems)
        quality = of_system[:, None] + 0.6 * made()
        rated = np.clip(np.round(3 + quality + 0.5 * made(RATERS + 1)), 1, 5)
        ds = xr.Dataset(
            {"score": (("metric", "system", "input"), rated[:1]), "rating": (("rater", "system", "input"), rated[1:])},
            {"metric": ["judge"]},
        )
        return ds.assign_coords(text=("input", document))

    def truth(self) -> tuple[float, float]:
        """Alpha, and a rater's correlation with the mean of the others within inputs, of very many outputs."""
        rng = np.random.default_rng(0)
        if self.resample == "input":
            ds = self.scores(rng, self.systems, BIG)
        else:  # each few documents have systems of their own
            parts = [self.scores(rng, self.systems, 2) for _ in range(BIG // 20)]
            ds = xr.concat([part.drop_vars("text") for part in parts], "input")
        asked = {"resample": "input", "rng": 0}
        alpha = ds.meta.agreement("rating", measurement="interval", method="bootstrap", n_resamples=2, **asked).alpha
        ceiling = ds.meta.human_ceiling("rating", level="input", **asked).correlation.sel(metric="rater")
        return float(alpha), float(ceiling)

    def found(self, rng: np.random.Generator, truth: tuple[float, float]) -> np.ndarray:
        """Whether alpha's and the ceiling's intervals cover; judge and rater differ; the judge wins at margin 0."""
        ds = self.scores(rng, self.systems, self.documents)
        asked = {"resample": self.resample, "cluster": "text" if self.named else None}
        agreement = ds.meta.agreement("rating", measurement="interval", **asked)
        ceiling = ds.meta.human_ceiling("rating", level="input", **asked)
        rater, judge = ceiling.sel(metric="rater"), ceiling.sel(metric="judge")
        alone = ds.meta.alt_test("rating", margin=0.0, cluster=asked["cluster"])
        return np.array(
            [
                agreement.ci_low <= truth[0] <= agreement.ci_high,
                rater.ci_low <= truth[1] <= rater.ci_high,
                not judge.difference_low <= 0 <= judge.difference_high,
                float((alone.pvalue <= 0.05).mean()),
            ]
        )


def row(at: int, case: Case, trials: int) -> dict:
    """The shares of one design."""
    rng, truth = np.random.default_rng([41, at]), case.truth()
    shares = np.mean([case.found(rng, truth) for _ in range(trials)], axis=0)
    return {**asdict(case), "trials": trials} | dict(
        zip(("alpha", "ceiling", "differs", "wins"), shares.round(4).tolist(), strict=True)
    )


def measured(asked: Namespace) -> Iterator[dict]:
    """A row for each design, two at a time."""
    cases = [Case(resample, n, named) for resample in SCOPES for n in (5, 10, 20, 40) for named in (True, False)]
    return command.two_at_a_time(row, cases, asked.trials)


def page(rows: list[dict]) -> str:
    """A row for each design."""
    trials = rows[0]["trials"]
    low, high = command.band(0.95, trials)
    text = f"{trials} sets of each design; figures outside the 99 % Monte Carlo band "
    text += (
        f"({100 * low:.1f} to {100 * high:.1f} % for coverage, at most {100 * (1 - low):.1f} % for sizes) are bold.\n\n"
    )
    columns = ["resample", "systems", "documents", "cluster=", "alpha", "ceiling", "judge differs", "judge wins"]
    text += f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}\n"
    for each in rows:
        cells = [command.cell(each[name], low, high) for name in ("alpha", "ceiling")]
        cells += [command.cell(each[name], 0.0, 1 - low) for name in ("differs", "wins")]
        head = [f'"{each["resample"]}"', SCOPES[each["resample"]], each["documents"], "yes" if each["named"] else "no"]
        text += f"| {' | '.join(map(str, head + cells))} |\n"
    return text


if __name__ == "__main__":
    how = {"type": int, "default": 400, "help": "sets of each design (default: %(default)s)"}
    command.run(__file__, __doc__, measured, page, trials=how)
