"""``python benchmarks/bias.py``: how often `bias` finds a bias of metrics that have none, and one that is there.

Writes what was found to ``bias.json`` and, as a table, to ``docs/calibration/judges.md``.
"""

import math
from dataclasses import asdict, dataclass
from pathlib import Path

import command
import numpy as np
import xarray as xr

import xsumstat  # noqa: F401

HERE = Path(__file__).parent
ALPHA, BATCH = 0.05, 25
# sds of raters' offsets and errors, where quality has 1; the share of ratings that are missing.
OFFSETS, ERRORS, GAPS = 0.5, 0.8, 0.3
GO_TOGETHER = (0.0, 0.3, 0.5)
LEVELS = {"cell": ("system", "input", "global", "within_system"), "input": ("global", "within_system"),
          "system": ("system", "input", "global")}  # fmt: skip
FAMILY = 2  # systems of a family


@dataclass(frozen=True)
class Case:
    """Scores of a judge, ratings, and a covariate that goes with quality; what is asked of them."""

    kind: str
    n_systems: int
    n_inputs: int
    of: str
    level: str
    raters: int
    rho: float
    effect: float = 0.0
    cluster: str = ""

    def scores(self, rng: np.random.Generator, sets: int) -> xr.Dataset:
        """Scores with effects of systems, inputs and cells, along the dim "set"."""
        n, m = self.n_systems, self.n_inputs
        families = self.kind == "families"
        labels = {"metric": ["judge"], "system": [f"s{i}" for i in range(n)], "input": list(range(m))}

        def parts(system: float, input_: float, cell: float) -> tuple[np.ndarray, ...]:
            of_system = rng.normal(size=(sets, n, 1))
            if families:  # near-copies
                shared = np.repeat(rng.normal(size=(sets, n // FAMILY, 1)), FAMILY, axis=1)
                of_system = math.sqrt(0.9) * shared + math.sqrt(0.1) * of_system
            sizes = ((sets, 1, m), (sets, n, m))
            return system * of_system, *(
                size * rng.normal(size=shape) for size, shape in zip((input_, cell), sizes, strict=True)
            )

        own = {"cell": (0.5, 0.5, math.sqrt(0.5)), "system": (1.0, 0.0, 0.0), "input": (0.0, 1.0, 0.0)}[self.of]
        quality, beside = parts(0.5, 0.5, math.sqrt(0.5)), parts(*own)
        goes = {"cell": sum(quality), "system": quality[0] / 0.5, "input": quality[1] / 0.5}[self.of]
        covariate = self.rho * goes + math.sqrt(1 - self.rho**2) * sum(beside)
        # With few systems an answer is of these: errors that a judge makes on one of them would be a bias.
        errors = sum(parts(0.3 if n >= 5 else 0.0, 0.3, 0.6))
        judge = sum(quality) + self.effect * covariate + errors
        offsets = OFFSETS * rng.normal(size=(self.raters, sets, 1, 1))
        ratings = sum(quality) + offsets + ERRORS * rng.normal(size=(self.raters, sets, n, m))
        if self.kind == "grades 1-5":
            ratings = np.clip(np.rint(3 + 1.2 * ratings), 1, 5)
        if self.raters > 1 and self.kind != "power, no gaps":
            ratings[rng.random(ratings.shape) < GAPS] = np.nan
        covariate = np.broadcast_to(covariate, (sets, n, m))
        ds = xr.Dataset({"score": (("metric", "set", "system", "input"), judge[None])}, labels)
        dims = ("set", "system", "input")
        ds = ds.assign(covariate=(dims, covariate), rating=(("rater", *dims), ratings))
        return ds.assign_coords(family=("system", [f"f{at // FAMILY}" for at in range(n)]))

    def found(self, rng: np.random.Generator, sets: int) -> tuple[int, int, int]:
        """In how many sets a bias was found, in how many nothing can be told, and how many limits held the truth."""
        ds = self.scores(rng, sets)
        asked = {"level": self.level, "cluster": self.cluster or None}
        if self.raters == 1:
            result = ds.isel(rater=0).meta.bias("rating", given="covariate", **asked)
            said = [result.isel(set=at).meta.conclusion() for at in range(sets)]
            return sum("too high" in each or "too low" in each for each in said), 0, 0
        result = ds.meta.bias("rating", given="covariate", **asked)
        low, high = (result[end].values.ravel() for end in ("ci_low", "ci_high"))
        held = int(((low <= 0) & (high >= 0)).sum())
        found = int((result.pvalue.values <= ALPHA).sum())
        return found, int((np.isinf(low) & np.isinf(high)).sum()), held


def cases() -> list[Case]:
    """All that is measured."""
    found = []
    for n, m in ((1, 120), (3, 120), (12, 60)):
        for of, levels in LEVELS.items():
            if of == "system" and n < 12:
                continue
            for level in levels:
                if n == 1 and level != "global" or n == 3 and level == "system":
                    continue
                found += [Case("none", n, m, of, level, k, rho) for k in (1, 2, 3) for rho in GO_TOGETHER]
    for level in ("global", "input", "within_system"):
        found.append(Case("grades 1-5", 3, 120, "cell", level, 3, 0.5))
        found += [Case("power", 3, 120, "cell", level, k, rho, 0.15) for k in (2, 3) for rho in GO_TOGETHER]
    for level in ("input", "global"):
        for of in ("cell", "system"):
            found += [Case("families", 12, 60, of, level, 3, 0.3, cluster=each) for each in ("", "family")]
    for level in ("global", "input", "within_system"):
        found += [Case("power, no gaps", 3, 120, "cell", level, 3, rho, 0.15) for rho in GO_TOGETHER]
    return found


def measured(sets: int) -> list[dict]:
    """A row for each case."""
    rows = []
    for at, case in enumerate(cases()):
        rng = np.random.default_rng([7, at])
        counts = np.zeros(3, int)
        for _ in range(sets // BATCH):
            counts += case.found(rng, BATCH)
        names = ("found", "untold", "held")
        rows.append({**asdict(case), "sets": sets // BATCH * BATCH, **dict(zip(names, counts.tolist(), strict=True))})
        print(rows[-1], flush=True)
    return rows


def share(row: dict | None) -> str:
    """In what share of sets a bias was found, and where many had infinite limits, in how many."""
    if row is None:
        return "–"
    text = f"{row['found'] / row['sets']:.3f}".lstrip("0") if row["found"] < row["sets"] else "1.000"
    return text + (f" ({row['untold'] / row['sets']:.0%} can't tell)" if row["untold"] > 0.02 * row["sets"] else "")


def page(rows: list[dict]) -> str:
    """A row for each covariate, level and number of raters; a column for each correlation."""
    sizes = [row["found"] / row["sets"] for row in rows if row["kind"] in ("none", "grades 1-5") and row["raters"] > 1]
    single = [row["found"] / row["sets"] for row in rows if row["kind"] == "none" and row["raters"] == 1]
    error = math.sqrt(0.05 * 0.95 / rows[0]["sets"])
    text = (
        f"{rows[0]['sets']} sets of each design (Monte-Carlo standard error {error:.3f} at .05). Without a bias, two "
    )
    text += f"or three raters: p ≤ .05 in {np.mean(sizes):.3f} of sets on average (least {min(sizes):.3f}, most "
    text += (
        f"{max(sizes):.3f}). One rater: a slope was called a bias in {np.mean(single):.3f} (most {max(single):.3f}).\n"
    )
    header = "| scores | covariate of | systems × inputs | level | raters | corr 0 | corr .3 | corr .5 |"
    lines = [header, "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    groups: dict[tuple, dict[float, dict]] = {}
    for row in rows:
        named = {"none": "no bias", "power": "bias .15", "power, no gaps": "bias .15, no gaps"}
        kind = {**named, "families": "no bias, families"}.get(row["kind"], row["kind"])
        if row["kind"] == "families":
            kind += ", cluster=" if row["cluster"] else ", no cluster="
        if row["kind"] == "grades 1-5":
            kind = "no bias, grades 1-5"
        shape = f"{row['n_systems']} × {row['n_inputs']}"
        groups.setdefault((kind, f"{row['of']}s", shape, row["level"], row["raters"]), {})[row["rho"]] = row
    for key, by_rho in groups.items():
        cells = [share(by_rho.get(rho)) for rho in GO_TOGETHER]
        lines.append(f"| {' | '.join(map(str, key))} | {' | '.join(cells)} |")
    return text + "\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    command.run(
        __file__,
        __doc__,
        lambda asked: measured(asked.sets),
        page,
        sets={"type": int, "default": 300, "help": "sets of scores of each design (default: %(default)s)"},
    )
