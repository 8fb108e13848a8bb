"""``python benchmarks/groups.py``: how often `compare_groups` finds differences that are not there, and one that is.

Writes what was found to ``groups.json`` and, as a table, to ``docs/calibration/groups.md``.
"""

import math
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import command
import numpy as np
import xarray as xr

import xsumstat  # noqa: F401
from xsumstat.simulation.model import Model

HERE = Path(__file__).parent
ALPHA, BATCH = 0.05, 25
SHAPES = ((8, 60), (12, 90), (20, 120))
ASKED = (("system", "pearson"), ("input", "kendall"), ("input", "pearson"), ("global", "pearson"))
POWER = 0.75, 0.5  # the correlations in the first groups and in the last
EFFECTS = (0.6, 0.4, 1.0)  # sds of systems, inputs and cells, those of `simulate`
DOCUMENT, SHARE = 3, 0.8  # inputs of a document, and the sd of what the outputs of a system have in common in one
KINDS = {
    "normal": {},
    "five grades, 30 % missing": {"likert": 5, "missing": 0.3},
    "t5 systems": {"system_df": 5.0},
    "documents, cluster=": {},
    "documents, no cluster=": {},
    "power": {},
}


@dataclass(frozen=True)
class Case:
    """Scores of which the groups have the same correlation in the population (but for "power"), and what is asked."""

    kind: str
    of: str
    n_groups: int
    n_systems: int
    n_inputs: int
    level: str
    coefficient: str
    resample: str

    @property
    def shape(self) -> tuple[int, int]:
        """Systems and inputs."""
        return self.n_systems, self.n_inputs

    @property
    def groups(self) -> np.ndarray:
        """The group of each system, or of each document's inputs."""
        if self.of == "system":
            return np.arange(self.n_systems) % self.n_groups
        return np.arange(self.n_inputs) // DOCUMENT % self.n_groups

    def scores(self, rng: np.random.Generator) -> np.ndarray:
        """A metric and the gold; of "power" the metric agrees less in the last group."""
        agreement = tuple((r,) * 3 for r in POWER) if self.kind == "power" else ((0.6,) * 3,)
        usual = {"likert": None, "missing": 0.0}
        score, gold = Model(agreement, EFFECTS, EFFECTS, 0.3, **usual | KINDS[self.kind]).draw(self.shape, rng)
        metric = score[0]
        if self.kind == "power":
            metric = np.where(self.groups == self.n_groups - 1, score[1], score[0])
        if self.kind.startswith("documents"):
            shape = (2, self.n_systems, self.n_inputs // DOCUMENT)
            own, human = np.repeat(SHARE * rng.normal(size=shape), DOCUMENT, axis=2)
            metric, gold = metric + 0.6 * human + math.sqrt(1 - 0.6**2) * own, gold + human
        return np.array([metric, gold])

    @property
    def difference(self) -> float:
        """The true one of any group and the last: 0, but for power; tau of normal scores is ``2/π·arcsin(r)``."""
        if self.kind != "power":
            return 0.0
        high, low = (2 / math.pi * math.asin(r) if self.coefficient == "kendall" else r for r in POWER)
        return high - low

    def answers(self, rng: np.random.Generator, trials: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of some sets of scores side by side: p-values of all groups and of each pair, and what intervals cover."""
        drawn = np.stack([self.scores(rng) for _ in range(trials)], axis=-1)
        ds = xr.Dataset({"score": (("metric", "system", "input", "trial"), drawn)}, {"metric": ["metric", "gold"]})
        ds = ds.assign_coords(group_of=(self.of, self.groups), document=("input", np.arange(self.n_inputs) // DOCUMENT))
        asked = {"level": self.level, "coefficient": self.coefficient, "resample": self.resample, "adjust": None}
        asked["cluster"] = "document" if self.kind == "documents, cluster=" else None
        found = ds.meta.compare_groups("gold", by="group_of", **asked)
        pairs = found.pvalue.transpose("group_of", "other_group_of", ..., "trial").values
        above = np.triu_indices(self.n_groups, 1)
        last = found.isel(group_of=slice(-1), other_group_of=-1)
        held = (last.ci_low <= self.difference) & (self.difference <= last.ci_high)
        return found.heterogeneity_pvalue.values.ravel(), pairs[above].reshape(len(above[0]), -1), held.values


def cases() -> Iterator[Case]:
    """Every design."""
    for shape in SHAPES:
        for level, coefficient in ASKED:
            for resample in ("both", "input"):
                for n_groups in (2, 3, 5):
                    yield Case("normal", "input", n_groups, *shape, level, coefficient, resample)
            for n_groups in (2, 3, 5):
                if shape[0] >= 4 * n_groups:
                    yield Case("normal", "system", n_groups, *shape, level, coefficient, "both")
        for level, coefficient in (("input", "pearson"), ("global", "pearson")):
            for kind in ("documents, cluster=", "documents, no cluster="):
                for n_groups in (2, 3, 5) if kind == "documents, cluster=" else (3,):
                    for resample in ("both", "input"):
                        yield Case(kind, "input", n_groups, *shape, level, coefficient, resample)
    for kind in ("five grades, 30 % missing", "t5 systems", "power"):
        for level, coefficient in ASKED:
            for n_groups in (2, 3):
                yield Case(kind, "input", n_groups, *SHAPES[1], level, coefficient, "both")


def measured(case: Case, trials: int, seed: int) -> dict:
    """How many sets had a test of all groups and how many were significant, the same of pairs, and coverage."""
    counts = dict.fromkeys(("tested", "found", "pairs", "pairs_found", "intervals", "held"), 0)
    for start in range(0, trials, BATCH):
        rng = np.random.default_rng([seed, start])
        whole, pairs, held = case.answers(rng, min(BATCH, trials - start))
        counts["tested"] += int((~np.isnan(whole)).sum())
        counts["found"] += int((whole <= ALPHA).sum())
        counts["pairs"] += int((~np.isnan(pairs)).sum())
        counts["pairs_found"] += int((pairs <= ALPHA).sum())
        counts["intervals"] += held.size
        counts["held"] += int(held.sum())
    return {**asdict(case), "trials": trials, **counts}


def _share(row: dict, some: str, of: str) -> float:
    return row[some] / row[of] if row[of] else math.nan


def _text(share: float) -> str:
    return "–" if math.isnan(share) else f"{share:.3f}".lstrip("0")


def _cell(row: dict) -> str:
    return f"{_text(_share(row, 'found', 'tested'))} ({_text(_share(row, 'pairs_found', 'pairs'))})"


def page(rows: list[dict]) -> str:
    """A row for each design and question; sizes of the test of all groups and, in brackets, of pairs, by groups."""
    keys = ("kind", "of", "n_systems", "n_inputs", "level", "coefficient", "resample")
    by_design: dict[tuple, dict[int, dict]] = {}
    for row in rows:
        by_design.setdefault(tuple(row[key] for key in keys), {})[row["n_groups"]] = row
    lines = ["| scores | groups of | systems × inputs | level, coefficient | random | 2 groups | 3 groups | 5 groups |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for (kind, of, systems, inputs, level, coefficient, resample), by_groups in by_design.items():
        cells = []
        for n in (2, 3, 5):
            row = by_groups.get(n)
            cells.append("–" if row is None else _cell(row))
        random = "systems, inputs" if resample == "both" else "inputs"
        about = f"| {kind} | {of}s | {systems} × {inputs} | {level}, {coefficient} | {random} | "
        lines.append(about + " | ".join(cells) + " |")
    null = [row for row in rows if row["kind"] not in ("power", "documents, no cluster=")]
    sizes = np.array([_share(row, "found", "tested") for row in null])
    of_pairs = np.array([_share(row, "pairs_found", "pairs") for row in null])
    held = [_share(row, "held", "intervals") for row in rows if row["kind"] == "power"]
    trials = max(row["trials"] for row in rows)
    error = math.sqrt(ALPHA * (1 - ALPHA) / trials)
    said = (
        f"{trials} sets of each design (Monte-Carlo standard error {error:.3f} at .05). Without a difference, the test "
        f"of all groups was significant in {np.nanmean(sizes):.3f} of sets on average (least {np.nanmin(sizes):.3f}, "
        f"most {np.nanmax(sizes):.3f}), and the uncorrected tests of pairs in {np.nanmean(of_pairs):.3f} (most "
        f"{np.nanmax(of_pairs):.3f}). Not counted: documents without `cluster=`, and power. Where groups differ, 95 % "
        f"intervals covered their difference in {min(held):.3f} to {max(held):.3f} of sets."
    )
    return f"{said}\n\n" + "\n".join(lines) + "\n"


def rows(asked: Namespace) -> Iterator[dict]:
    """What is known of other kinds of scores, and each case of these."""
    if asked.only:
        yield from [row for row in command.known(asked) if row["kind"] != asked.only]
    for seed, case in enumerate(cases()):
        if asked.only in ("", case.kind):
            yield measured(case, asked.trials, seed)


if __name__ == "__main__":
    command.run(
        __file__,
        __doc__,
        rows,
        page,
        trials={"type": int, "default": 250, "help": "sets of scores of each design (default: %(default)s)"},
        only={"default": "", "help": "measure only this kind of scores, and keep what is known of others"},
    )
