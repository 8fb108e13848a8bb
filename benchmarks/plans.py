"""``python benchmarks/plans.py``: variance components with gaps, scores like published ones, and plans of sub-designs.

Three parts. *components*: the mean of estimates over simulated scores of which up to 90 % of the gold is missing, over
the truth. *like*: the mean standard error of Pearson's r in scores that are drawn like published ones, over that of the
published ones. *plans*: the standard error and the width that `plan` expects of fewer systems and inputs, over the root
of the mean variance, and the mean width, of random sub-designs.
"""

from collections.abc import Iterator

import command
import numpy as np

import xsumstat
from xsumstat.analyses.measure import checked_measure
from xsumstat.inference import components
from xsumstat.resampling import draws, jackknife
from xsumstat.simulation.empirical_model import EmpiricalModel

SEED, DIMS = 23, ("system", "input")
METRICS = {"summeval": ("rouge-1_f1", "bertscore_recall", "qa-eval_f1"),
           "realsumm": ("rouge_1_recall", "bert_recall_score", "js-2")}  # fmt: skip
GOLDS = [("summeval", f"expert_{each}") for each in ("relevance", "coherence", "fluency", "consistency")]
CASES = [*GOLDS, ("realsumm", "litepyramid_recall")]
EFFECTS = tuple(components.EFFECTS.values())


def with_gaps(missing: float, shape: tuple[int, int], trials: int) -> dict:
    """Mean estimates of variances and covariances over the truth, and mean standard errors over the true ones."""
    truth = np.array([[1.0, 0.5, 0.8], [0.8, 0.4, 0.64], [0.89, 0.57, 0.762]])  # gold, both, metric
    found = np.full((trials, 2, 3, 3), np.nan)
    for trial in range(trials):
        rng = draws.generator(SEED, trial)
        sizes = (shape[0], 1), (1, shape[1]), shape
        parts = [np.sqrt(v) * rng.standard_normal(size) for v, size in zip(truth[0], sizes, strict=True)]
        gold = sum(parts)
        metric = 0.8 * gold + sum(0.5 * rng.standard_normal(size) for size in sizes)
        gold = np.where(rng.random(shape) < missing, np.nan, gold)
        estimate, error = components.estimates(np.array([gold, metric]), EFFECTS)
        for at, pair in enumerate(((0, 0), (0, 1), (1, 1))):
            found[trial, :, at] = estimate[:, *pair], error[:, *pair]
    known = np.isfinite(found).all(axis=(1, 2, 3))
    found = found[known]
    truth[2] = 0.64 * truth[0] + 0.25
    mean, sd = found[:, 0].mean(axis=0), found[:, 0].std(axis=0, ddof=1)
    return {
        "part": "components", "systems": shape[0], "inputs": shape[1], "missing": missing, "trials": int(known.sum()),
        "gold": (mean[0] / truth[0]).round(3).tolist(), "covariance": (mean[1] / truth[1]).round(3).tolist(),
        "mc_error": (sd[0] / truth[0] / np.sqrt(known.sum())).round(3).tolist(),
        "sd_of_gold": (sd[0] / truth[0]).round(3).tolist(),
        "error_over_sd": (found[:, 1, 0].mean(axis=0) / sd[0]).round(3).tolist(),
    }  # fmt: skip


def arrays_of(name: str, gold: str, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Scores (1, systems, inputs) and gold of a published set, without the system that stands there twice."""
    ds = xsumstat.load_dataset(name)
    if "duplicate_of" in ds.coords:
        ds = ds.sel(system=ds.duplicate_of == "")
    return ds.score.sel(metric=[metric]).values, ds.score.sel(metric=gold).values


def like(name: str, gold: str, metric: str, level: str, trials: int) -> dict:
    """Standard errors in scores like published ones."""
    scores, human = arrays_of(name, gold, metric)
    measure = checked_measure(level, "pearson", "pairwise", "drop")
    model = EmpiricalModel.of(scores, human)
    own = jackknife.intervals(scores, human, [(0,)], measure, DIMS, 0.95)[:, 0]
    (truth,), _ = model.population(level, [measure.coefficient], human.shape[1])
    found = []
    for trial in range(trials):
        drawn = model.draw(human.shape, draws.generator(SEED, trial))
        found.append(jackknife.intervals(*drawn, [(0,)], measure, DIMS, 0.95)[:, 0])
    r, low, high, error = np.array(found).T[:4]
    return {
        "part": "like", "data": name, "gold": gold, "metric": metric, "level": level, "trials": trials,
        "r": round(float(own[0]), 3), "interval": own[1:3].round(3).tolist(), "error": round(float(own[3]), 4),
        "simulated_r": round(float(r.mean()), 3), "simulated_error": round(float(error.mean()), 4),
        "ratio": round(float(error.mean() / own[3]), 3), "sd_of_error": round(float(error.std() / own[3]), 3),
        "truth": round(float(truth[0]), 3), "coverage": round(float(((low <= truth) & (truth <= high)).mean()), 3),
    }  # fmt: skip


def planned(name: str, gold: str, metric: str, level: str, coefficient: str, method: str, trials: int) -> list[dict]:
    """What is planned of fewer systems and inputs, over the mean of random sub-designs."""
    scores, human = arrays_of(name, gold, metric)
    ds = xsumstat.load_dataset(name)
    if "duplicate_of" in ds.coords:
        ds = ds.sel(system=ds.duplicate_of == "")
    measure = checked_measure(level, coefficient, "pairwise", "drop")
    systems, inputs = human.shape
    rows = []
    for n, m in ((systems, 25), (systems, 50), (12, 50), (12, 100), *([(16, 50)] if systems > 16 else [])):
        found = []
        for trial in range(trials):
            rng = draws.generator(SEED, trial)
            i, j = rng.permutation(systems)[:n], rng.permutation(inputs)[:m]
            part = scores[:, i[:, None], j], human[i[:, None], j]
            found.append(jackknife.intervals(*part, [(0,)], measure, DIMS, 0.95)[:, 0])
        _, low, high, error = np.array(found).T[:4]
        plan = xsumstat.plan(
            ds, gold, metric=metric, level=level, coefficient=coefficient, n_systems=n, n_inputs=m, method=method,
            n_trials=200, rng=SEED,
        )  # fmt: skip
        rows.append({
            "part": "plans", "data": name, "gold": gold, "metric": metric, "level": level, "coefficient": coefficient,
            "method": method, "systems": n, "inputs": m, "trials": trials,
            "error": round(float(plan.standard_error.item() / np.sqrt(np.nanmean(error**2))), 3),
            "width": round(float(plan.width.item() / np.nanmean(high - low)), 3),
        })  # fmt: skip
    return rows


def measured(trials: int, few: int) -> Iterator[dict]:
    """All rows."""
    for shape in ((8, 30), (16, 100)):
        for missing in (0.0, 0.3, 0.6, 0.8, 0.9):
            yield with_gaps(missing, shape, trials)
    for name, gold in CASES:
        for metric in METRICS[name]:
            for level in DIMS:
                yield like(name, gold, metric, level, few)
                for coefficient in ("pearson", "kendall"):
                    yield from planned(name, gold, metric, level, coefficient, "formula", few)
                    if level == "system":
                        yield from planned(name, gold, metric, level, coefficient, "simulation", few)


if __name__ == "__main__":
    command.run(
        __file__,
        __doc__,
        lambda asked: measured(asked.trials, max(10, asked.trials // 5)),
        trials={"type": int, "default": 1000},
    )
