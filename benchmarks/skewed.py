"""``python benchmarks/skewed.py``: coverage of the jackknife's intervals where human scores are skewed.

Writes what was found to ``skewed.json`` and, as a table, to ``docs/calibration.md``.
"""

import math
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

import command
import numpy as np
import scipy.stats

from xsumstat.analyses.measure import checked_measure
from xsumstat.coefficients import leave_one_out
from xsumstat.inference import jackknife

HERE = Path(__file__).parent
SYSTEMS, INPUTS, NOISE = 0.3, 0.5, 0.7  # systems' share of quality's variance, inputs' sd, the metric's correlation
SCOPES = {"both": ("system", "input"), "input": ("input",)}


def errors(limit: float, power: int = 1) -> Callable:
    """Minus what a quality lacks to a limit: 0 above it, as where outputs have no errors."""
    return lambda quality: -(np.maximum(0, -(quality + limit)) ** power)


def log_normal(spread: float) -> Callable:
    """Scores whose logarithm is normal."""
    return lambda quality: np.exp(spread * quality)


KINDS = {
    "normal": lambda quality: quality,
    "grades 1-5": lambda quality: np.clip(np.rint(3 + quality), 1, 5),
    "grades 1-5, mostly high": lambda quality: np.clip(np.rint(4.5 + quality), 1, 5),
    "exponential": lambda quality: -np.log(scipy.stats.norm.sf(quality / math.sqrt(1 + INPUTS**2))),
    "log-normal, sd 0.5": log_normal(0.5),
    "log-normal, sd 0.7": log_normal(0.7),
    "log-normal, sd 0.85": log_normal(0.85),
    "log-normal, sd 1": log_normal(1.0),
    "log-normal, sd 1.5": log_normal(1.5),
    "errors, 40 % without": errors(0.3),
    "errors, 30 % without": errors(0.6),
    "squared errors, half without": errors(0.0, 2),
    "squared errors, 60 % without": errors(0.3, 2),
    "errors, 86 % without": errors(1.2),
}
ASKED = (
    *(("input", "both", coefficient, n) for coefficient, n in (("pearson", 10), ("pearson", 20), ("kendall", 10))),
    *(("global", scope, "pearson", 10) for scope in SCOPES),
    ("global", "both", "kendall", 10),
)


def drawn(rng: np.random.Generator, systems: np.ndarray, inputs: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """A metric's scores and human ones on new inputs, of the systems' effects on quality and on the metric's errors."""
    shape, noise = (systems.shape[1], inputs), math.sqrt(1 / NOISE**2 - 1)
    quality, wrong = systems[:, :, None] + math.sqrt(1 - SYSTEMS) * rng.normal(size=(2, *shape))
    heard = quality + INPUTS * rng.normal(size=(1, inputs))
    return heard + noise * wrong, KINDS[kind](heard)


def effects(rng: np.random.Generator, n: int) -> np.ndarray:
    """Systems' effects on quality, and on the metric's errors."""
    return math.sqrt(SYSTEMS) * rng.normal(size=(2, n))


def correlation(x: np.ndarray, z: np.ndarray, level: str, coefficient: str) -> float:
    """The plain definition; at input level the mean over the inputs that vary."""
    one = {"pearson": lambda a, b: np.corrcoef(a, b)[0, 1], "kendall": lambda a, b: scipy.stats.kendalltau(a, b)[0]}
    if level == "global":
        return float(one[coefficient](x.ravel(), z.ravel()))
    return float(np.mean([one[coefficient](a, b) for a, b in zip(x.T, z.T, strict=True) if np.ptp(b)]))


def truth(kind: str, level: str, coefficient: str, systems: np.ndarray, rng: np.random.Generator) -> float:
    """The correlation of very many inputs, and systems."""
    return correlation(*drawn(rng, systems, max(80, 600_000 // systems.shape[1]), kind), level, coefficient)


def measured(kind: str, level: str, scope: str, coefficient: str, n: int, sets: int) -> dict:
    """How many of the intervals of 100 inputs hold the truth."""
    measure = checked_measure(level, coefficient, "pairwise", "drop")
    of_all = np.nan
    if scope == "both":
        many = np.random.default_rng(0)
        of_all = truth(kind, level, coefficient, effects(many, 7_500 if level == "input" else 1_500), many)
    held, skewness, constant = [], [], []
    for at in range(sets):
        rng = np.random.default_rng([1, at])
        systems = effects(rng, n)
        x, z = drawn(rng, systems, 100, kind)
        aim = of_all if scope == "both" else truth(kind, level, coefficient, systems, rng)
        made = jackknife.of_one(leave_one_out.of(x, z, measure), measure, SCOPES[scope])
        low, high = made.limits(jackknife.t_quantile(0.95, made.df))
        held.append(low <= aim <= high)
        skewness.append(abs(scipy.stats.skew(z - z.mean(axis=0) * (level == "input"), axis=None)))
        constant.append(np.mean(np.ptp(z, axis=0) == 0))
    about = {"kind": kind, "level": level, "scope": scope, "coefficient": coefficient, "n_systems": n, "sets": sets}
    share = {"skewness": float(np.median(skewness)), "constant": float(np.mean(constant))}
    return about | {name: round(value, 3) for name, value in share.items()} | {"held": int(np.sum(held))}


def page(rows: list[dict]) -> str:
    """A row for each kind of human scores, a column for each question."""
    by = {(row["kind"], row["level"], row["scope"], row["coefficient"], row["n_systems"]): row for row in rows}
    heads = [f"{level}, {name}, {n} systems" + ", these" * (scope == "input") for level, scope, name, n in ASKED]
    lines = ["| human scores | skewness within inputs, of all | constant inputs | " + " | ".join(heads) + " |"]
    lines.append("| --- |" + " --- |" * (2 + len(ASKED)))
    for kind in KINDS:
        within, whole = (by[kind, level, "both", "pearson", 10] for level in ("input", "global"))
        about = [kind, f"{within['skewness']:.1f}, {whole['skewness']:.1f}", f"{100 * within['constant']:.0f} %"]
        shares = [by[kind, *each]["held"] / by[kind, *each]["sets"] for each in ASKED]
        lines.append("| " + " | ".join([*about, *(f"{100 * share:.0f} %" for share in shares)]) + " |")
    return "\n".join(lines)


def rows(asked: Namespace) -> Iterator[dict]:
    """Every question of every kind of scores."""
    for kind in KINDS:
        for each in ASKED:
            yield measured(kind, *each, asked.sets)


if __name__ == "__main__":
    command.run(__file__, __doc__, rows, page, sets={"type": int, "default": 300})
