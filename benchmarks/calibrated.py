"""``python benchmarks/calibrated.py``: calibrated judges: how often refitted intervals cover, and who is flattered.

Writes what was found to ``calibrated.json`` and, as tables, to ``docs/calibration.md``.
"""

import math
from pathlib import Path

import command
import numpy as np
import xarray as xr

import xsumstat  # noqa: F401
from xsumstat.inference.calibration import Calibration

HERE = Path(__file__).parent
SYSTEMS, INPUTS, NEW = (1, 3), (60, 120, 500), 1_000
GRADES = (1.0, 2.0, 3.0, 4.0, 5.0)
NOISE = {"good": 0.5, "fair": 1.0}
METHODS = ("isotonic", "quantile")
# Which methods are asked of which judge, and on how many inputs.
ASKED = {("isotonic", "good"): INPUTS, ("isotonic", "fair"): INPUTS, ("quantile", "good"): (120,)}


def kappa(x, z):
    """Cohen's, of two vectors of labels."""
    observed = np.mean(x == z)
    chance = sum(np.mean(x == label) * np.mean(z == label) for label in np.unique([x, z]))
    return float((observed - chance) / (1 - chance)) if chance < 1 else math.nan


def weighted_kappa(x, z):
    """With weights that are quadratic in the values."""
    apart = np.mean((x - z) ** 2)
    chance = x.var() + z.var() + (x.mean() - z.mean()) ** 2
    return float(1 - apart / chance) if chance > 0 else math.nan


COEFFICIENTS = {"kappa": kappa, "weighted_kappa": weighted_kappa}


class World:
    """Systems whose quality stays as it is; a person grades their outputs, and a judge from 0 to 100 does."""

    def __init__(self, n: int, noise: float, rng: np.random.Generator) -> None:
        self.noise, self.rng = noise, rng
        self.quality = 0.6 * rng.normal(size=n)

    def scores(self, inputs: int) -> tuple[np.ndarray, np.ndarray]:
        """The judge's scores and the person's on so many new inputs, (systems, inputs)."""
        shape = (len(self.quality), inputs)
        latent = self.quality[:, None] + 0.4 * self.rng.normal(size=(1, inputs)) + 0.9 * self.rng.normal(size=shape)
        person = np.clip(np.rint(3 + latent + 0.4 * self.rng.normal(size=shape)), 1, 5)
        judge = latent + self.noise * self.rng.normal(size=shape)
        return np.rint(100 / (1 + np.exp(-1.2 * judge))), person


def dataset(judge: np.ndarray, person: np.ndarray) -> xr.Dataset:
    """Scores as users have them."""
    return xr.Dataset(
        {"score": (("metric", "system", "input"), np.array([judge, person]))}, {"metric": ["judge", "person"]}
    ).assign_coords(input=np.arange(judge.shape[1]), system=[f"s{at}" for at in range(len(judge))])


def of_new(world: World, ds: xr.Dataset, method: str) -> dict[str, float]:
    """Agreement on new inputs, of which each is mapped by the map of one fold of the old ones."""
    new = world.scores(NEW)
    old = (ds.score.sel(metric=name).values for name in ("judge", "person"))
    folds = np.concatenate([ds["calibration_fold"].values, np.arange(NEW) % 5])
    judge, person = (np.concatenate(each, axis=1) for each in zip(old, new, strict=True))
    hidden = np.where(np.arange(person.shape[1]) < person.shape[1] - NEW, person, np.nan)
    mapped = Calibration(method, GRADES).cross_fitted(judge, hidden, folds)[:, -NEW:]
    return {name: of(mapped.ravel(), new[1].ravel()) for name, of in COEFFICIENTS.items()}


def answers(world: World, inputs: int, method: str, seed: int) -> dict[str, tuple[float, ...]]:
    """Of each coefficient: the estimate, its limits, limits at fixed values, in sample, and on new inputs."""
    judge, person = world.scores(inputs)
    ds = dataset(judge, person).meta.calibrate("person", metric="judge", method=method, grades=list(GRADES), rng=seed)
    fixed = ds.drop_vars("calibrated")
    within = Calibration(method, GRADES).cross_fitted(np.tile(judge, 2), np.tile(person, 2), np.repeat([0, 1], inputs))
    new = of_new(world, ds, method)
    found = {}
    for name, of in COEFFICIENTS.items():
        how = {"metric": "judge (calibrated)", "level": "global", "coefficient": of, "resample": "input"}
        one, two = (each.meta.ci("person", method="jackknife", **how) for each in (ds, fixed))
        limits = [float(each[end].item()) for each in (one, two) for end in ("ci_low", "ci_high")]
        in_sample = of(within[:, :inputs].ravel(), person.ravel())
        found[name] = (float(one.correlation.item()), *limits, in_sample, new[name])
    return found


def measured(trials: int, systems: list[int]) -> list[dict]:
    """A row for each number of systems and inputs, noise, method and coefficient."""
    rows = []
    for n in systems:
        for inputs in INPUTS:
            for noise in NOISE:
                for method in METHODS:
                    if inputs not in ASKED.get((method, noise), ()):
                        continue
                    key = [n, inputs, list(NOISE).index(noise), METHODS.index(method)]
                    # The quality of systems is one, so that there is one truth of these systems.
                    first = World(n, NOISE[noise], np.random.default_rng([n, 1]))
                    found = []
                    for trial in range(trials):
                        first.rng = np.random.default_rng([*key, trial])
                        found.append(answers(first, inputs, method, trial))
                    for name in COEFFICIENTS:
                        of_name = np.array([each[name] for each in found])
                        rows.append(row(of_name, n, inputs, noise, method, name))
                        print(rows[-1], flush=True)
    return rows


def row(found: np.ndarray, n: int, inputs: int, noise: str, method: str, name: str) -> dict:
    """Coverage of the agreement on new inputs, on average of all sets, and by how much estimates are off it."""
    estimate, low, high, fixed_low, fixed_high, in_sample, new = found.T
    truth = float(np.nanmean(new))
    defined = ~np.isnan(low)
    about = {"n_systems": n, "n_inputs": inputs, "judge": noise, "method": method, "coefficient": name}
    return about | {
        "trials": len(found),
        "defined": int(defined.sum()),
        "held": int(((low <= truth) & (truth <= high))[defined].sum()),
        "held_at_fixed_values": int(((fixed_low <= truth) & (truth <= fixed_high))[defined].sum()),
        "truth": round(truth, 4),
        "bias": round(float(np.nanmean(estimate)) - truth, 4),
        "bias_in_sample": round(float(np.nanmean(in_sample)) - truth, 4),
        "error_of_bias": round(float(np.nanstd(estimate - new) / math.sqrt(len(found))), 4),
        "width": round(float(np.nanmean(high - low)), 4),
    }


def page(rows: list[dict]) -> str:
    """A row for each judge, method and coefficient; a column for each number of systems and inputs."""
    cells = [(n, m) for n in SYSTEMS for m in INPUTS]
    heads = " | ".join(f"{n} × {m}" for n, m in cells)
    lines = [f"| judge | method | coefficient | {heads} |", "| --- | --- | --- |" + " --- |" * len(cells)]
    for noise in NOISE:
        for method in (each for each in METHODS if (each, noise) in ASKED):
            for name in COEFFICIENTS:
                texts = []
                for n, m in cells:
                    wanted = {"n_systems": n, "n_inputs": m, "judge": noise, "method": method, "coefficient": name}
                    one = next((each for each in rows if wanted.items() <= each.items()), None)
                    if one is None:
                        texts.append("–")
                        continue
                    shares = (one[key] / max(one["defined"], 1) for key in ("held", "held_at_fixed_values"))
                    texts.append(" / ".join(f"{100 * share:.0f}" for share in shares))
                lines.append(f"| {noise} | {method} | {name} | " + " | ".join(texts) + " |")
    off = [each["bias"] for each in rows]
    inside = [each["bias_in_sample"] for each in rows]
    trials = max(each["trials"] for each in rows)
    error = 100 * math.sqrt(0.0475 / trials)
    said = (
        f"{trials} sets a cell: the simulation error of a coverage of 95 % is {error:.1f} points. Cross-fitted "
        f"estimates were off the agreement on new inputs by {min(off):+.3f} to {max(off):+.3f} on average; those of "
        f"maps that are fitted to the very ratings they are judged by, by {min(inside):+.3f} to {max(inside):+.3f}."
    )
    return "\n".join([*lines, "", said])


if __name__ == "__main__":
    command.run(
        __file__,
        __doc__,
        lambda asked: measured(asked.trials, asked.systems),
        page,
        trials={"type": int, "default": 200, "help": "sets of scores of each design (default: %(default)s)"},
        systems={"type": int, "nargs": "+", "default": list(SYSTEMS), "help": "numbers of systems"},
    )
