"""``python benchmarks/clusters.py``: coverage of `ci` and `compare_metrics` with ``cluster=``.

Writes what was found to ``clusters.json`` and, as a table, to ``docs/calibration/clusters.md``.
"""

import math
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import command
import numpy as np
import xarray as xr

import xsumstat  # noqa: F401

BATCH = 20
SYSTEMS, INPUTS = 12, 60  # of the dim without clusters
MEMBERS = {"document": 4, "family": 3}
AGREES = {"one": 0.6, "equal": 0.6, "worse": 0.3}  # correlations of the metrics with the human scores
OF_DOCUMENTS = ("document", "differing", "both")
SPREAD = 0.4  # SD of Fisher's z over documents that differ in how well a metric agrees there


@dataclass(frozen=True)
class Case:
    """Scores whose effects all have the same correlation with those of human scores, and what is asked of them."""

    of: str
    n_clusters: int
    level: str
    coefficient: str
    named: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Systems and inputs."""
        n = self.n_clusters * MEMBERS["family"] if self.of in ("family", "both") else SYSTEMS
        m = self.n_clusters * MEMBERS["document"] if self.of in OF_DOCUMENTS else INPUTS
        return n, m

    def effects(self, rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        """Effects of families, systems, documents, inputs, cells, and cells of a system in a document."""
        n, m = shape
        families = np.repeat(rng.normal(size=(-(-n // 3), 1)), MEMBERS["family"], axis=0)[:n]
        documents = np.repeat(rng.normal(size=(1, -(-m // 4))), MEMBERS["document"], axis=1)[:, :m]
        cells = np.repeat(rng.normal(size=(n, -(-m // 4))), MEMBERS["document"], axis=1)[:, :m]
        share = 0.9 if self.of in ("family", "both") else 0.0
        own = 0.6 * (math.sqrt(share) * families + math.sqrt(1 - share) * rng.normal(size=(n, 1)))
        if self.of in OF_DOCUMENTS:
            return own + 0.4 * documents + 0.3 * rng.normal(size=(1, m)) + 0.8 * cells + rng.normal(size=(n, m))
        return own + 0.4 * rng.normal(size=(1, m)) + rng.normal(size=(n, m))

    def scores(self, rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        """Three metrics and the human scores."""
        human = self.effects(rng, shape)
        metrics = []
        for each in AGREES.values():
            r = np.full(shape[1], each)
            if self.of == "differing":
                z = np.arctanh(each) + SPREAD * rng.normal(size=self.n_clusters)
                r = np.repeat(np.tanh(z), MEMBERS["document"])
            metrics.append(r * human + np.sqrt(1 - r * r) * self.effects(rng, shape))
        return np.array([*metrics, human])

    def covered(self, rng: np.random.Generator, trials: int) -> np.ndarray:
        """How many intervals cover: a metric, the difference of equal ones and of unequal; how many equal ones differ.

        The last is the number of intervals that are not defined.
        """
        drawn = np.stack([self.scores(rng, self.shape) for _ in range(trials)], axis=-1)
        n, m = self.shape
        ds = xr.Dataset({"score": (("metric", "system", "input", "trial"), drawn)}, {"metric": [*AGREES, "human"]})
        ds = ds.assign_coords(family=("system", np.arange(n) // 3), document=("input", np.arange(m) // 4))
        cluster = {"family": "family", "both": ("family", "document")}.get(self.of, "document")
        asked = {"level": self.level, "coefficient": self.coefficient, "resample": "both"}
        asked["cluster"] = cluster if self.named else None
        one = ds.meta.ci("human", metric="one", **asked).squeeze("metric")
        found = [self._holds(one, self.true(0.6))]
        for other in ("equal", "worse"):
            pair = ds.meta.compare_metrics("human", metric="one", other=other, adjust=None, **asked)
            pair = pair.squeeze([dim for dim in pair.dims if dim != "trial"])
            found.append(self._holds(pair, self.true(0.6) - self.true(AGREES[other])))
            if other == "equal":
                differ = int((pair.pvalue <= 0.05).sum())
        return np.array([*found, differ, int(np.isnan(one.ci_low).sum())])

    def true(self, r: float) -> float:
        """The correlation in an infinite population: all effects are normal and have the same, or its mean."""
        spread = SPREAD if self.of == "differing" else 0.0
        points, weights = np.polynomial.hermite_e.hermegauss(60)
        each = np.tanh(math.atanh(r) + spread * points)
        each = 2 / math.pi * np.arcsin(each) if self.coefficient == "kendall" else each
        return float(each @ weights / weights.sum())

    @staticmethod
    def _holds(result: xr.Dataset, truth: float) -> int:
        return int(((result.ci_low <= truth) & (truth <= result.ci_high)).sum())


def cases() -> Iterator[Case]:
    """Every design."""
    asked = (("system", "pearson"), ("input", "pearson"), ("input", "kendall"), ("global", "pearson"))
    for of in ("document", "family", "both"):
        for clusters in (3, 5, 10, 30):
            if of == "both" and clusters == 30:
                continue
            for level, coefficient in asked:
                yield Case(of, clusters, level, coefficient, True)
                if clusters == 10:
                    yield Case(of, clusters, level, coefficient, False)
    for clusters in (3, 5, 10):
        for coefficient in ("pearson", "kendall"):
            yield Case("differing", clusters, "input", coefficient, True)


def row(at: int, case: Case, trials: int) -> dict:
    """The counts of one design."""
    rng = np.random.default_rng([13, at])
    counts = sum(case.covered(rng, BATCH) for _ in range(trials // BATCH))
    names = ("one", "equal", "unequal", "differ", "undefined")
    return {**asdict(case), "trials": trials // BATCH * BATCH} | dict(zip(names, counts.tolist(), strict=True))


def measured(asked: Namespace) -> Iterator[dict]:
    """A row for each design, two at a time."""
    return command.two_at_a_time(row, cases(), asked.trials)


def page(rows: list[dict]) -> str:
    """A row for each design and level."""
    trials = rows[0]["trials"]
    low, high = command.band(0.95, trials)
    text = f"{trials} sets of each design. Nominal coverage shows {100 * low:.1f} to {100 * high:.1f} % "
    text += "(99 % Monte Carlo band), nominal size at most "
    text += f"{100 * (1 - low):.1f} %; figures outside are bold.\n\n"
    columns = ["clusters of", "clusters", "systems × inputs", "level, coefficient", "cluster=", "one metric"]
    columns += ["equal metrics", "unequal metrics", "size", "undefined"]
    text += f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}\n"
    names = {"document": "inputs", "differing": "inputs, differing", "family": "systems", "both": "both"}
    for each in rows:
        defined = max(1, trials - each["undefined"])
        cells = [command.cell(each[name] / defined, low, high) for name in ("one", "equal", "unequal")]
        cells.append(command.cell(each["differ"] / defined, 1 - high, 1 - low))
        case = Case(*(each[name] for name in ("of", "n_clusters", "level", "coefficient", "named")))
        head = [names[case.of], case.n_clusters, "{} × {}".format(*case.shape), f"{case.level}, {case.coefficient}"]
        head.append("yes" if case.named else "no")
        text += f"| {' | '.join(map(str, head + cells))} | {each['undefined']} |\n"
    return text


if __name__ == "__main__":
    command.run(
        __file__,
        __doc__,
        measured,
        page,
        trials={"type": int, "default": 200, "help": "sets of scores of each design (default: %(default)s)"},
    )
