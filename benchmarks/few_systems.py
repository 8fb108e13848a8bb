"""``python benchmarks/few_systems.py``: how often intervals over inputs alone hold the truth of one to four systems.

Writes what was found to ``few_systems.json`` and, as a table, to ``docs/calibration.md``.
"""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import command
import numpy as np
import xarray as xr

import xsumstat  # noqa: F401

HERE = Path(__file__).parent
SYSTEMS, INPUTS, LARGE = (1, 2, 3, 4), (30, 120, 500), 10_000
KINDS = ("normal", "grades 1-5", "pass or fail", "gaps", "one in ten fails")
ASKED = (("input", "pearson"), ("input", "kendall"), ("global", "pearson"), ("within_system", "pearson"))
METRICS = ("gold", "good", "fair")
NOISE = {"good": 0.7, "fair": 1.2}


class World:
    """Systems whose effects on gold and metrics stay as they are, and of which new inputs can be drawn."""

    def __init__(self, n: int, kind: str, rng: np.random.Generator) -> None:
        self.kind, self.rng = kind, rng
        self.quality = 0.6 * rng.normal(size=n)
        self.favour = {name: 0.4 * rng.normal(size=n) for name in NOISE}

    def scores(self, inputs: int) -> xr.Dataset:
        """Gold and metrics on so many new inputs, which differ in how hard they are."""
        shape = (len(self.quality), inputs)
        latent = self.quality[:, None] + 0.5 * self.rng.normal(size=(1, inputs)) + self.rng.normal(size=shape)
        made = [latent]
        for name, noise in NOISE.items():
            made.append(latent + self.favour[name][:, None] + noise * self.rng.normal(size=shape))
        values = np.array(made)
        if self.kind == "grades 1-5":
            values = np.clip(np.rint(3 + values), 1, 5)
        elif self.kind == "pass or fail":
            values = (values > 0).astype(float)
        elif self.kind == "one in ten fails":
            values = (values > -1.63).astype(float)
        elif self.kind == "gaps":
            values[0][self.rng.random(shape) < 0.3] = np.nan
        return xr.Dataset({"score": (("metric", "system", "input"), values)}, {"metric": list(METRICS)})


def answers(world: World, level: str, coefficient: str, inputs: int) -> tuple[list[float], list[tuple[float, float]]]:
    """Limits of the good metric's correlation, and of its difference from the fair one's; NaN where all pass."""
    ds, how = world.scores(inputs), {"level": level, "coefficient": coefficient}
    if ds.score.sel(metric="gold").std() == 0:
        return [(np.nan, np.nan)] * 2
    one = ds.meta.ci("gold", metric="good", **how)
    two = ds.meta.compare_metrics("gold", metric="good", other="fair", **how)
    return [(float(each.ci_low.item()), float(each.ci_high.item())) for each in (one, two)]


def truths(world: World, level: str, coefficient: str) -> list[float]:
    """Both in very many inputs."""
    r = world.scores(LARGE).meta.corr("gold", level=level, coefficient=coefficient).correlation
    good, fair = (float(r.sel(metric=name)) for name in NOISE)
    return [good, good - fair]


def measured(trials: int, kinds: list[str]) -> list[dict]:
    """A row for each kind of scores, number of systems and inputs, level and question."""
    found: dict[tuple, list] = {}
    for kind in kinds:
        for n in SYSTEMS:
            for trial in range(trials):
                world = World(n, kind, np.random.default_rng([KINDS.index(kind), n, trial]))
                for level, coefficient in ASKED:
                    if n == 1 and level == "input":
                        continue
                    truth = truths(world, level, coefficient)
                    for inputs in INPUTS:
                        limits = answers(world, level, coefficient, inputs)
                        for what, value, (low, high) in zip(("one", "two"), truth, limits, strict=True):
                            key = (kind, n, inputs, level, coefficient, what)
                            found.setdefault(key, []).append((low <= value <= high, high - low))
            print(f"{kind}, {n} systems", flush=True)
    rows = []
    for (kind, n, inputs, level, coefficient, what), some in found.items():
        defined = [held for held, width in some if not np.isnan(width)]
        widths = [width for _, width in some if not np.isnan(width)]
        about = {"kind": kind, "n_systems": n, "n_inputs": inputs, "level": level, "coefficient": coefficient}
        counts = {"what": what, "trials": len(some), "defined": len(defined), "held": int(sum(defined))}
        rows.append({**about, **counts, "width": round(float(np.mean(widths)), 4) if widths else None})
    return rows


def page(rows: list[dict]) -> str:
    """A row for each level, question and kind; a column for each number of systems."""
    lines = ["| level, coefficient | of | scores | " + " | ".join(f"{n} system{'s' * (n > 1)}" for n in SYSTEMS) + " |"]
    lines.append("| --- | --- | --- |" + " --- |" * len(SYSTEMS))
    for level, coefficient in ASKED:
        for what in ("one", "two"):
            for kind in KINDS:
                cells = []
                for n in SYSTEMS:
                    texts = []
                    for inputs in INPUTS:
                        wanted = (kind, n, inputs, level, coefficient, what)
                        names = ("kind", "n_systems", "n_inputs", "level", "coefficient", "what")
                        row = next((each for each in rows if tuple(each[name] for name in names) == wanted), None)
                        if row is None:
                            continue
                        share = row["held"] / max(row["defined"], 1)
                        text = f"{share:.2f}".lstrip("0") if share < 1 else "1.00"
                        lacking = row["trials"] - row["defined"]
                        texts.append(f"{inputs}: {text}" + (f" ({lacking} without)" if lacking else ""))
                    cells.append("; ".join(texts) or "–")
                asked = "a correlation" if what == "one" else "a difference"
                lines.append(f"| {level}, {coefficient} | {asked} | {kind} | " + " | ".join(cells) + " |")
    shares = [row["held"] / row["defined"] for row in rows if row["defined"]]
    trials = max(row["trials"] for row in rows)
    head = f"{trials} sets of each design. Coverage is {100 * np.mean(shares):.1f} % on average, lowest "
    head += f"{100 * min(shares):.1f} %, highest {100 * max(shares):.1f} %."
    return f"{head}\n\n" + "\n".join(lines) + "\n"


def rows(asked: Namespace) -> Iterator[dict]:
    """What is known of other kinds of scores, and what is measured of these."""
    yield from [row for row in command.known(asked) if row["kind"] not in asked.kinds]
    yield from measured(asked.trials, asked.kinds)


if __name__ == "__main__":
    command.run(
        __file__,
        __doc__,
        rows,
        page,
        trials={"type": int, "default": 200, "help": "sets of scores of each design (default: %(default)s)"},
        kinds={"nargs": "+", "default": list(KINDS), "choices": KINDS, "help": "measure these kinds of scores only"},
    )
