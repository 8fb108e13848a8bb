"""What simulations and corrections cost, and how far computed p-values can be believed."""

import itertools
import time

import numpy as np
import scipy.stats
import xarray as xr
from data import dataset, matrices
from peers import nlpstats_bootstrap

import xsumstat

ROUGE_AND_OTHERS = ["rouge-1_f1", "rouge-2_f1", "rouge-l_f1", "bertscore_f1", "qa-eval_f1", "METEOR"]


def median_seconds(work, runs: int = 5) -> float:
    """The median of some calls, after one that compiles."""
    work()
    found = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return float(np.median(found))


def computed() -> list[dict]:
    """A pair's p-value computed, and sampled by 9,999 swaps, at 16x100; a gold with ties may leave no lattice."""
    scores = matrices(2, 16, 100, tied=False)
    rows = []
    for level, coefficient in itertools.product(("input", "global"), ("kendall", "spearman", "pairwise_accuracy")):
        ds, settings = dataset(scores), {"level": level, "coefficient": coefficient}
        tied = dataset(np.concatenate([np.round(scores[:1]), scores[1:]]))
        for gold, given in (("untied", ds), ("tied", tied)):
            found = given.meta.perm_test("gold", method="analytic", **settings)
            rows.append(
                {
                    "level": level,
                    "coefficient": coefficient,
                    "gold": gold,
                    "exact": bool(found.exact.values[0, 1]),
                    "computed": median_seconds(
                        lambda g=given, s=settings: g.meta.perm_test("gold", method="analytic", **s)
                    ),
                    "sampled": median_seconds(lambda g=given, s=settings: g.meta.perm_test("gold", rng=0, **s)),
                }
            )
    return rows


def sampled(swaps: int = 10**8) -> dict:
    """Computed p-values of 30 one-sided tests on SummEval beside as many random swaps as can be had."""
    ds = xsumstat.load_dataset("summeval")
    settings = {
        "metric": ROUGE_AND_OTHERS,
        "level": "input",
        "coefficient": "pairwise_accuracy",
        "alternative": "greater",
    }
    exact = ds.meta.perm_test("expert_relevance", method="analytic", **settings).pvalue.values
    drawn = ds.meta.perm_test("expert_relevance", n_resamples=swaps, rng=1, **settings).pvalue.values
    p, q = exact[~np.isnan(exact)], drawn[~np.isnan(exact)]
    z = ((q * (swaps + 1) - 1) / swaps - p) / np.sqrt(p * (1 - p) / swaps)
    return {"swaps": swaps, "tests": len(p), "smallest": float(p.min()), "largest_z": float(np.abs(z).max())}


def corrections() -> list[dict]:
    """What max-T adds to 156 tests of 9,999 swaps."""
    ds = dataset(matrices(13, 16, 100, tied=True))
    settings = {"alternative": "greater", "level": "input", "coefficient": "kendall", "rng": 0}
    return [
        {
            "adjust": method or "none",
            "seconds": median_seconds(lambda m=method: ds.meta.perm_test("gold", adjust=m, **settings)),
        }
        for method in (None, "holm", "maxt")
    ]


def trials() -> list[dict]:
    """A trial of `coverage` on halves of 24x100 with six intervals, beside nlpstats' one bootstrap."""
    scores = matrices(1, 24, 100, tied=False)
    ds, rows = dataset(scores), []
    for level in ("system", "input"):
        settings = {"level": level, "n_trials": 100, "n_resamples": 999, "rng": 0}
        ours = median_seconds(lambda s=settings: xsumstat.coverage(ds, "gold", **s), runs=3) / 100
        theirs = 999 * nlpstats_bootstrap(scores[1, :12, :50], scores[0, :12, :50], level, "pearson")
        rows.append({"level": level, "ours": ours, "theirs": theirs, "ratio": theirs / ours})
    return rows


def equivalences() -> list[dict]:
    """A resample of a difference over 16x100 cells, drawn one by one, beside SciPy's tau of both metrics; tied."""
    scores = matrices(2, 16, 100, tied=True)
    flat = scores.reshape(3, -1)
    rng = np.random.default_rng(0)

    def scipy_loop() -> None:
        for _ in range(20):
            at = rng.integers(0, 1600, 1600)
            scipy.stats.kendalltau(flat[1][at], flat[0][at])
            scipy.stats.kendalltau(flat[2][at], flat[0][at])

    settings = {"metric": "m1", "other": "m2", "margin": 0.05, "coefficient": "kendall", "rng": 0}
    rows = []
    for level, resample in (("global", "cell"), ("global", "both"), ("input", "both")):
        ours = median_seconds(
            lambda lv=level, r=resample: dataset(scores).meta.equivalence("gold", level=lv, resample=r, **settings),
            runs=3,
        )
        row = {"level": level, "resample": resample, "ours": ours / 9999}
        if resample == "cell":
            row["theirs"] = median_seconds(scipy_loop, runs=3) / 20
        rows.append(row)
    return rows


def layers() -> list[dict]:
    """A draw of three raters, or eleven references, beside one of systems and inputs alone; 16x100, input Kendall."""
    scores = matrices(1, 16, 100, tied=True)
    rng = np.random.default_rng(0)
    ds = dataset(scores)
    raters = ds.score.sel(metric="gold", drop=True) + xr.DataArray(
        rng.integers(-1, 2, (3, 16, 100)), dims=("rater", "system", "input")
    )
    by_reference = ds.score.sel(metric=["m1"]) + xr.DataArray(
        rng.normal(size=(11, 16, 100)), dims=("reference", "system", "input")
    )
    settings = {"level": "input", "coefficient": "kendall", "n_resamples": 999, "rng": 0}
    calls = {
        "systems, inputs": lambda: ds.meta.ci("gold", method="bootstrap", **settings),
        "and 3 raters": lambda: ds.meta.ci(raters, metric="m1", resample=("system", "input", "rater"), **settings),
        "and 11 references, max": lambda: xr.Dataset({"score": by_reference}).meta.ci(
            ds.score.sel(metric="gold", drop=True),
            resample=("system", "input", "reference"),
            aggregate="max",
            **settings,
        ),
        "and 11 references, mean": lambda: xr.Dataset({"score": by_reference}).meta.ci(
            ds.score.sel(metric="gold", drop=True), resample=("system", "input", "reference"), **settings
        ),
    }
    return [{"drawn": name, "seconds": median_seconds(call, runs=3) / 999} for name, call in calls.items()]


def all_of_it() -> dict:
    """Every figure of this part."""
    return {
        "equivalences": equivalences(),
        "layers": layers(),
        "computed": computed(),
        "corrections": corrections(),
        "trials": trials(),
        "sampled": sampled(),
    }
