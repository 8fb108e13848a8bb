"""``python benchmarks/budgets.py``: what `plan` expects of designs that a budget buys, against brute force.

A pilot is drawn, and `plan` says from it how wide an interval will be in another design, or how powerful a test.
Studies of that design are drawn from the same population and analysed: their mean width, or the share of tests that
find the difference, is what was to be expected. Plans are averaged over pilots, as each is as rough as it is small.

Differences and means are analysed by Student's t, with a judge by `compare_systems` and `system_means`, agreements by
`ci`.
"""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import command
import numpy as np
import xarray as xr
from scipy import stats

import xsumstat
from xsumstat.analyses.measure import checked_measure
from xsumstat.resampling import draws, jackknife

SEED = 38
SHOWN = ("name", "what", "planned", "measured", "ratio", "mc_error", "error_ratio", "band_held", "sd_of_plans")


@dataclass(frozen=True)
class Case:
    """A pilot and the study that is planned from it.

    Systems, inputs and raters of the pilot; inputs, raters, judged inputs and systems (0: as many) of the study; the
    share of the pilot's ratings that are missing; of scores the scale, and how well the judge knows quality (1 over its
    noise's sd).
    """

    name: str
    estimand: str
    systems: int
    pilot: int
    raters: int
    inputs: int
    study_raters: int
    judged: int = 0
    power: bool = False
    missing: float = 0.0
    scale: str = "normal"
    judge: float = 2.0
    level: str = "input"
    coefficient: str = "pearson"
    these: bool = True
    study_systems: int = 0


CASES = (
    Case("difference, 1 for 3 raters", "difference", 3, 80, 3, 120, 1),
    Case("difference, grades, gaps", "difference", 3, 80, 3, 60, 2, missing=0.3, scale="grades"),
    Case("difference, power, 2 for 3 raters", "difference", 3, 80, 3, 60, 2, power=True),
    Case("difference, judge", "difference", 2, 80, 2, 40, 1, judged=400),
    Case("difference, judge, grades, power", "difference", 3, 80, 3, 50, 2, judged=300, power=True, scale="grades"),
    Case("mean, one system, 3 for 2 raters", "mean", 1, 80, 2, 50, 3),
    Case("mean, judge", "mean", 3, 80, 2, 40, 1, judged=400),
    Case("mean, pass or fail", "mean", 2, 100, 2, 80, 1, scale="passes"),
    Case("agreement, one system", "agreement", 1, 100, 3, 200, 1, level="global"),
    Case("agreement, these three systems", "agreement", 3, 100, 3, 200, 1),
    Case("agreement, Kendall, grades, gaps", "agreement", 5, 100, 3, 60, 2, missing=0.3, scale="grades",
         coefficient="kendall"),
    Case("agreement, systems like these", "agreement", 24, 60, 3, 120, 1, these=False, study_systems=12),
    Case("agreement, Kendall, systems like these", "agreement", 16, 60, 3, 30, 5, coefficient="kendall", these=False),
    Case("agreement, means of these systems", "agreement", 8, 60, 3, 150, 1, level="system"),
    Case("agreement, means, systems like these", "agreement", 40, 60, 3, 150, 1, level="system", these=False,
         study_systems=20),
    Case("agreement, means, Kendall, systems like these", "agreement", 30, 60, 3, 20, 1, level="system",
         coefficient="kendall", these=False),
)  # fmt: skip


def drawn(case: Case, n: int, inputs: int, raters: int, rng: np.random.Generator, missing: float = 0.0) -> tuple:
    """A judge's scores (systems, inputs) and ratings (systems, inputs, raters).

    The systems are the same in all draws of a case for these systems, and new ones else. The judge likes some better
    than people do.
    """
    ability, liking = np.linspace(-0.5, 0.5, n)[:, None], 0.3 * np.cos(np.arange(n))[:, None]
    if not case.these:
        ability, liking = 0.4 * rng.normal(size=(n, 1)), 0.2 * rng.normal(size=(n, 1))
    quality = ability + 0.7 * rng.normal(size=(1, inputs)) + 0.8 * rng.normal(size=(n, inputs))
    judge = quality + liking + 0.3 * rng.normal(size=(1, inputs)) + rng.normal(size=quality.shape) / case.judge
    ratings = quality[..., None] + 0.3 * rng.normal(size=raters) + 0.9 * rng.normal(size=(n, inputs, raters))
    if case.scale == "grades":
        ratings, judge = (np.clip(np.round(3 + each), 1, 5) for each in (ratings, judge))
    elif case.scale == "passes":
        ratings, judge = ((each > -0.3).astype(float) for each in (ratings, judge))
    ratings[rng.random(ratings.shape) < missing] = np.nan
    return judge, ratings


def dataset(judge: np.ndarray, ratings: np.ndarray) -> xr.Dataset:
    """As `plan` takes them."""
    return xr.Dataset(
        {"score": (("metric", "system", "input"), judge[None]), "rating": (("system", "input", "rater"), ratings)},
        {"metric": ["judge"], "system": np.arange(judge.shape[0]), "input": np.arange(judge.shape[1])},
    )


def difference_of(case: Case) -> float:
    """How far the first two systems differ, from many inputs."""
    _, ratings = drawn(case, case.systems, 400_000, 1, draws.generator(SEED - 1, 0))
    return float(np.diff(ratings[:2, :, 0].mean(axis=1))[0])


def planned(case: Case, difference: float, rng: np.random.Generator) -> dict:
    """What is planned from one pilot."""
    ds = dataset(*drawn(case, case.systems, case.pilot, case.raters, rng, case.missing))
    asked = {"rating": "rating", "n_inputs": case.inputs, "n_raters": case.study_raters}
    if case.estimand == "agreement":
        asked |= {"level": case.level, "coefficient": case.coefficient, "metric": "judge", "method": "formula"}
        asked |= {"resample": "input" if case.these else "both"}
        asked |= {} if case.these else {"n_systems": case.study_systems or case.systems}
    else:
        asked |= {"estimand": case.estimand}
        asked |= {"difference": difference} if case.power else {}
        asked |= {"metric": "judge", "n_judged": case.judged} if case.judged else {}
    found = xsumstat.plan(ds, **asked)
    name = "power" if "power" in found else "width"
    return {each: float(found[each].item()) for each in (name, f"{name}_low", f"{name}_high", "standard_error")}


def studied(case: Case, rng: np.random.Generator) -> tuple[float, float]:
    """The width and the standard error of one study, or of a test whether it finds the difference."""
    judge, ratings = drawn(
        case, case.study_systems or case.systems, max(case.inputs, case.judged), case.study_raters, rng
    )
    gold = ratings.mean(axis=-1)
    if case.estimand == "agreement":
        measure = checked_measure(case.level, case.coefficient, "pairwise", "drop")
        dims = ("input",) if case.these else ("system", "input")
        found = jackknife.intervals(judge[None], gold, [(0,)], measure, dims, 0.95)[:, 0]
        return found[2] - found[1], found[3]
    if not case.judged:
        values = gold[1] - gold[0] if case.estimand == "difference" else gold[0]
        error = values.std(ddof=1) / np.sqrt(len(values))
        if case.power:
            return float(stats.ttest_1samp(values, 0).pvalue < 0.05), error
        return 2 * stats.t.ppf(0.975, len(values) - 1) * error, error
    rated = np.where(np.arange(gold.shape[1]) < case.inputs, gold, np.nan)
    ds = dataset(judge, ratings).drop_vars("rating")
    human = xr.DataArray(rated, dims=("system", "input"), coords={"system": ds.system, "input": ds.input})
    if case.estimand == "mean":
        found = ds.meta.system_means(human, metric="judge").isel(system=0)
        return float(found.ci_high - found.ci_low), float(found.standard_error)
    found = ds.meta.compare_systems(gold=human, metric="judge", method="ppi").isel(metric=0, system=1, other_system=0)
    if case.power:
        return float(found.pvalue < 0.05), float("nan")
    return float(abs(found.ci_high - found.ci_low)), float("nan")


def measured(case: Case, pilots: int, trials: int) -> dict:
    """Plans and studies of one case."""
    difference = difference_of(case) if case.power else 0.0
    plans = [planned(case, difference, draws.generator(SEED, at)) for at in range(pilots)]
    names = list(plans[0])
    mean = {name: float(np.nanmean([each[name] for each in plans])) for name in names}
    found = np.array([studied(case, draws.generator(SEED + 1, at)) for at in range(trials)])
    value = float(found[:, 0].mean())
    held = np.mean([each[names[1]] <= value <= each[names[2]] for each in plans])
    own = float(found[:, 0].std(ddof=1) / np.sqrt(trials))
    of_plans = float(np.std([each[names[0]] for each in plans], ddof=1) / np.sqrt(pilots))
    root = float(np.sqrt(np.mean(found[:, 1] ** 2)))
    return {
        **asdict(case), "pilots": pilots, "trials": trials, "what": names[0], "planned": round(mean[names[0]], 4),
        "measured": round(value, 4), "ratio": round(mean[names[0]] / value, 3),
        "mc_error": round(float(np.hypot(of_plans, own) / value), 3),
        "error_ratio": None if np.isnan(root) else round(mean["standard_error"] / root, 3),
        "band_held": round(float(held), 3),
        "sd_of_plans": round(of_plans * np.sqrt(pilots) / mean[names[0]], 3),
    }  # fmt: skip


def page(rows: list[dict]) -> str:
    """A row for each design."""
    lines = ["| planned | systems × inputs × ratings | judged inputs | planned | found | ratio |", "| " + "--- | " * 6]
    for row in rows:
        sizes = f"{row['study_systems'] or row['systems']} × {row['inputs']} × {row['study_raters']}"
        numbers = f"{row['planned']:.3f} | {row['measured']:.3f} | {row['ratio']:.2f} ± {row['mc_error']:.2f}"
        lines.append(f"| {row['name']}, {row['what']} | {sizes} | {row['judged'] or ''} | {numbers} |")
    return "\n".join(each.rstrip() for each in lines)


def rows(asked: Namespace) -> Iterator[dict]:
    """Each case, or what is known of those that are not to be measured."""
    known = command.known(asked)
    for at, case in enumerate(CASES):
        yield measured(case, asked.pilots, asked.trials) if asked.only is None or at in asked.only else known[at]


if __name__ == "__main__":
    command.run(
        __file__,
        __doc__,
        rows,
        page,
        pilots={"type": int, "default": 100},
        trials={"type": int, "default": 500},
        only={"type": int, "nargs": "*", "help": "places of cases"},
    )
