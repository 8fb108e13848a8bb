"""How CPU time grows with systems, inputs, metrics and resamples for every analysis, and what a second thread gives."""

import functools
import json
import os
import time
import warnings

import numpy as np
import preferences
import xarray as xr
from data import dataset, matrices

import xsumstat
from xsumstat import catalogue

BASE = {"systems": 12, "inputs": 60, "metrics": 3, "resamples": 499}
MOST = {"systems": 400, "inputs": 60_000, "metrics": 100, "resamples": 1_000_000}
# Above these a growth is named on the page. Pairs of systems and of metrics are quadratic.
LIMITS = {"systems": 2.2, "inputs": 1.2, "metrics": 2.2, "resamples": 1.2}
# A call is long enough to be timed from the first of these seconds on, and takes no longer than some of the second.
LONG, ENOUGH = 0.03, 0.6
RANKED: dict[tuple[int, ...], xr.Dataset] = {}


def _dataset(sizes: dict[str, int]) -> xr.Dataset:
    """Scores with ties, in four groups of inputs."""
    ds = dataset(matrices(sizes["metrics"], sizes["systems"], sizes["inputs"], tied=True))
    return ds.assign_coords(topic=("input", [f"t{at % 4}" for at in range(sizes["inputs"])]))


def _rating(ds: xr.Dataset) -> xr.DataArray:
    """Three raters about the gold."""
    gold = ds.score.sel(metric="gold", drop=True)
    noise = np.random.default_rng(1).integers(-1, 2, (3, *gold.shape))
    return gold + xr.DataArray(noise, dims=("rater", *gold.dims))


def _runs(ds: xr.Dataset) -> xr.Dataset:
    """Three runs of each metric."""
    noise = np.random.default_rng(2).integers(-1, 2, (*ds.score.shape, 3))
    return ds.assign(score=ds.score + xr.DataArray(noise, dims=(*ds.score.dims, "run")))


def _version(ds: xr.Dataset) -> xr.Dataset:
    """Another version of the metrics."""
    noise = np.random.default_rng(3).integers(-1, 2, ds.score.shape)
    return ds.assign(score=(ds.score + noise).where(ds.metric != "gold", ds.score))


def _gaps(ds: xr.Dataset) -> xr.Dataset:
    """A tenth of the metrics' scores missing."""
    there = xr.DataArray(np.random.default_rng(4).random(ds.score.shape) > 0.1, dims=ds.score.dims)
    return ds.assign(score=ds.score.where(there | (ds.metric == "gold")))


def _tasks(ds: xr.Dataset) -> xr.Dataset:
    """Six tasks ranked, two levels of three parts; once for each size, so that the least time is without it."""
    size = tuple(ds.sizes.values())
    if size not in RANKED:
        RANKED[size] = _ranked(ds)
    return RANKED[size]


def _ranked(ds: xr.Dataset) -> xr.Dataset:
    parts = {
        f"{level} {at}": (level, ds.isel(input=slice(at, None, 3))) for level in ("system", "input") for at in range(3)
    }
    asked = {name: {"ds": part, "gold": "gold", "level": level} for name, (level, part) in parts.items()}
    return xsumstat.rank_tasks(asked, keep_samples=True, n_resamples=99, rng=0)


@functools.lru_cache(maxsize=2)
def _preferences(systems: int, inputs: int, judges: int) -> xr.Dataset:
    """Choices of two people and of judges, who choose as one does but for a tenth of the pairs."""
    rng = np.random.default_rng(5)
    ds = preferences.dataset(*preferences.drawn(rng, inputs, systems))
    ds = ds.isel(rater=[0, 1, *[2] * judges]).assign_coords(rater=["ann", "ben", *map(str, range(judges))])
    same = np.sign(rng.random(ds.preference.shape) - 0.1)
    return ds.assign(preference=(ds.preference * same).where(ds.kind == "judge", ds.preference))


def _choices(ds: xr.Dataset) -> xr.Dataset:
    """As many judges as metrics, on as many systems and prompts."""
    return _preferences(ds.sizes["system"], ds.sizes["input"], ds.sizes["metric"] - 1)


def _at(levels: str, method: str, **settings) -> dict:
    """A call for each of some levels."""
    return {
        f"{method}, {level}": lambda d, level=level, **draws: getattr(d.meta, method)(
            "gold", level=level, **settings, **draws
        )
        for level in levels.split()
    }


KENDALL = {"coefficient": "kendall"}
COMPUTED = {
    **_at("system input global within_system", "corr", **KENDALL),
    **_at("system input global within_system", "ci", **KENDALL),
    **_at("system input global", "compare_metrics"),
    "compare_groups": lambda d: d.meta.compare_groups("gold", by="topic", level="input"),
    "rank": lambda d: d.meta.rank("gold"),
    "corr_test": lambda d: d.meta.corr_test("gold"),
    "metric_corr": lambda d: d.meta.metric_corr(level="input"),
    "metric_ci": lambda d: d.meta.metric_ci(),
    "compare_systems": lambda d: d.meta.compare_systems(),
    "system_means": lambda d: d.meta.system_means("gold", metric="m1"),
    "input_effect": lambda d: d.meta.input_effect(),
    "top_k_corr": lambda d: d.meta.top_k_corr("gold", k=[6, 10]),
    "close_corr": lambda d: d.meta.close_corr("gold", gap=[0.5, 1.0]),
    "bias": lambda d: d.meta.bias("gold", given="m2"),
    "disagreement": lambda d: d.meta.disagreement(),
    "improvement_consistency": lambda d: d.meta.improvement_consistency(),
    "normality": lambda d: d.meta.normality(),
    "pca": lambda d: d.meta.pca(),
    "variance_components": lambda d: d.meta.variance_components("gold"),
    "agreement": lambda d: d.meta.agreement(_rating(d)),
    "alt_test": lambda d: d.meta.alt_test(_rating(d), metric="m1", scale="ranks", min_items=2),
    "human_ceiling": lambda d: d.meta.human_ceiling(_rating(d), metric="m1"),
    "confusion": lambda d: d.assign(score=(d.score > 0) * 1.0).meta.confusion("gold"),
    "sentinels": lambda d: d.meta.sentinels("gold", given="m2"),
    "drift": lambda d: d.meta.drift(_version(d), "gold", metric="m1"),
    "drift, input, Kendall": lambda d: d.meta.drift(_version(d), "gold", level="input", **KENDALL),
    "repeatability": lambda d: _runs(d).meta.repeatability("gold"),
    "ranks_by": lambda d: _tasks(d).meta.ranks_by("level"),
    "simulate": lambda d: xsumstat.simulate(like=d, gold="gold", rng=0),
    "preference_agreement": lambda d: _choices(d).meta.preference_agreement(),
    "position_bias": lambda d: _choices(d).meta.position_bias(),
    "preference_bias": lambda d: _choices(d).meta.preference_bias(given="length"),
    "rank_systems": lambda d: _choices(d).meta.rank_systems(),
    "plan": lambda d: xsumstat.plan(d, "gold", metric="m1", n_trials=2, rng=0),
}
DRAWN = {
    **_at("system input global", "perm_test"),
    "perm_test, input, Kendall": lambda d, **draws: d.meta.perm_test("gold", level="input", **KENDALL, **draws),
    "ci, input, drawn": lambda d, **draws: d.meta.ci("gold", level="input", method="bootstrap", **draws),
    "boot_test": lambda d, **draws: d.meta.boot_test("gold", **draws),
    "equivalence": lambda d, **draws: d.meta.equivalence("gold", other="m1", margin=0.1, **draws),
    "margin_sensitivity": lambda d, **draws: d.meta.margin_sensitivity("gold", other="m1", **draws),
    "dominance": lambda d, **draws: d.meta.dominance("gold", other="m1", **draws),
    "discriminative_agreement": lambda d, **draws: d.meta.discriminative_agreement("gold", **draws),
    "range_drop": lambda d, **draws: d.meta.range_drop(above=0.5, unit="quantile", n_simulations=19, **draws),
    "missingness": lambda d, **draws: _gaps(d).meta.missingness("gold", **draws),
    "rank_stability": lambda d, **draws: _tasks(d).meta.rank_stability(**draws),
    "rank_tasks": lambda d, **draws: xsumstat.rank_tasks({"a": {"ds": d, "gold": "gold"}}, **draws),
    "coverage": lambda d, **draws: xsumstat.coverage(d, "gold", metric="m1", n_trials=2, **draws),
    "power": lambda d, **draws: xsumstat.power(d, "gold", metric="m1", n_trials=2, **draws),
}


def unmeasured() -> set[str]:
    """The analyses in the catalogue that no call asks."""
    return {*catalogue.ANALYSES} - {name.partition(",")[0] for name in (*COMPUTED, *DRAWN)}


def cpu(call, sizes: dict[str, int], **draws) -> float:
    """CPU seconds of a call on one thread, the least of some: the first may compile."""
    ds, times = _dataset(sizes), []
    while len(times) < 2 or (len(times) < 3 and sum(times) < ENOUGH):
        start = time.process_time()
        call(ds, **draws)
        times.append(time.process_time() - start)
    return min(times)


def curve(call, along: str, drawn: bool) -> dict:
    """Seconds along one size, doubled until a call is long enough, and the exponent of the last doublings."""
    sizes, times = [BASE[along]], []
    while True:
        size = BASE | {along: sizes[-1]}
        times.append(cpu(call, size, **({"n_resamples": size["resamples"], "rng": 0} if drawn else {})))
        if times[-1] > ENOUGH or 2 * sizes[-1] > MOST[along]:
            break
        sizes.append(2 * sizes[-1])
    long = [at for at, each in enumerate(times) if each > LONG][-4:]
    slope = np.polyfit(*(np.log(np.array(each)[long]) for each in (sizes, times)), 1)[0] if len(long) > 1 else None
    ends = {"sizes": [sizes[0], sizes[-1]], "seconds": [times[0], times[-1]]}
    return {"along": along, **ends, "exponent": None if slope is None else float(slope)}


def curves() -> list[dict]:
    """A row for every call and size that it depends on; without an exponent where all calls are too short for one."""
    if unmeasured():
        raise ValueError(f"no call asks {sorted(unmeasured())}")
    warnings.simplefilter("ignore")
    rows = []
    for drawn, calls in ((False, COMPUTED), (True, DRAWN)):
        for name, call in calls.items():
            cpu(call, BASE, **({"n_resamples": 19, "rng": 0} if drawn else {}))  # compiles
            for along in BASE if drawn else ("systems", "inputs", "metrics"):
                rows.append({"call": name, **curve(call, along, drawn), "limit": LIMITS[along]})
                print(json.dumps(rows[-1]), flush=True)
    return rows


THREADED = {
    "ci, input Kendall": ("ci", {"level": "input", "coefficient": "kendall", "method": "bootstrap"}),
    "ci, system Pearson": ("ci", {"level": "system", "coefficient": "pearson", "method": "bootstrap"}),
    "perm_test, input Kendall": ("perm_test", {"level": "input", "coefficient": "kendall"}),
    "perm_test, system Pearson": ("perm_test", {"level": "system", "coefficient": "pearson"}),
}


def threads() -> list[dict]:
    """Seconds on one thread and on two, the best of three calls after one that compiles."""
    rows, before = [], os.environ.get("XSUMSTAT_NUM_THREADS")
    ds = dataset(matrices(8, 20, 1_500, tied=True))

    def seconds(method, settings, n):
        start = time.perf_counter()
        getattr(ds.meta, method)("gold", n_resamples=n, rng=0, **settings)
        return time.perf_counter() - start

    try:
        for name, (method, settings) in THREADED.items():
            times = []
            for count in ("1", "2"):
                os.environ["XSUMSTAT_NUM_THREADS"] = count
                seconds(method, settings, 16)
                times.append(min(seconds(method, settings, 8_192) for _ in range(3)))
            rows.append({"call": name, "one": times[0], "two": times[1], "ratio": times[0] / times[1]})
            print(f"{name:28s} 1 thread {times[0]:.3f} s, 2 threads {times[1]:.3f} s: x{times[0] / times[1]:.2f}")
    finally:
        os.environ.pop("XSUMSTAT_NUM_THREADS")
        if before is not None:
            os.environ["XSUMSTAT_NUM_THREADS"] = before
    return rows
