"""``python -m xsumstat compile``: compile all kernels by small analyses that need every one."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from multiprocessing import get_context
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.coefficients import table
from xsumstat.coefficients.cell_ties import CellTies
from xsumstat.kernels import jit
from xsumstat.resampling import threads

_DRAWS: dict[str, Any] = {"n_resamples": 9, "rng": 0}
_TWO = {"metric": "a", "other": ["b"]}
_SMALL = 6, 10
# Shapes whose pair counts need 1-, 2- and 4-byte integers, each with its own kernel.
_LARGER = (40, 12), (40, 16), (140, 16), (260, 16)


@dataclass(frozen=True)
class Compiled:
    """Number of kernels compiled now, seconds, and the cache folder."""

    kernels: int
    seconds: float
    folder: str


def scores(systems: int, inputs: int, *, gaps: tuple[int, ...] = ()) -> xr.Dataset:
    rng = np.random.default_rng(0)
    values = np.round(rng.normal(size=(8, systems, inputs)) + rng.normal(size=(systems, inputs)), 1)
    for metric in gaps:
        values[metric, 1:, 1:][rng.random((systems - 1, inputs - 1)) < 0.1] = np.nan
    labels = {"metric": ["human", "a", "b", "c"], "kind": ("metric", ["human", *3 * ["automatic"]])}
    ratings = "rater", "system", "input"
    variables = {
        "score": (("metric", *ratings[1:]), values[:4].copy()),
        "rating": (ratings, values[4:].round()),
    }
    return xr.Dataset(variables, {**labels, "system": range(systems), "input": range(inputs)}, {"gold": "human"})


def questions() -> dict[str, Callable[[], object]]:
    asked: dict[str, Callable[[], object]] = {}
    for name, ds in {"no gaps": scores(*_SMALL), "gaps": scores(*_SMALL, gaps=(0, 1, 2, 3))}.items():
        for each in table.COEFFICIENTS.values():
            for level in each.levels:
                asked[f"{each.name}, {level}, {name}"] = partial(
                    _of_coefficient, ds, level=level, coefficient=each.name
                )
        asked |= {f"{question}, {name}": ask for question, ask in _of_scores(ds).items()}
    for shape, gaps, coefficient in product(_LARGER, ((), (0, 1, 2, 3)), ("spearman", "kendall")):
        large = scores(*shape, gaps=gaps)
        name = f"{coefficient}, {shape}, {'gaps' if gaps else 'no gaps'}"
        asked[name] = partial(_of_coefficient, large, level="input", coefficient=coefficient)
    for at, coefficient in product((0, 1), ("pearson", "spa")):
        ds = scores(*_SMALL, gaps=(at,))
        asked[f"own cells, {coefficient}, {at}"] = partial(
            _of_measure, ds, coefficient=coefficient, missing="available"
        )
    return asked


def _of_coefficient(ds: xr.Dataset, *, level: str, coefficient: str) -> None:
    record = table.COEFFICIENTS[coefficient]
    if record.scale in ("classes", "two"):
        ds = ds.assign(score=(ds.score > 0).astype(float).where(ds.score.notnull()))
    _of_measure(ds, level=level, coefficient=coefficient)
    if record.symmetric:
        ds.meta.metric_corr(metric=["a", "b"], level=level, coefficient=coefficient)


def _of_measure(ds: xr.Dataset, **measure: Any) -> None:
    ds.meta.corr(**measure)
    ds.meta.ci(metric="a", **measure, **_DRAWS)
    ds.meta.ci(metric="a", method="bootstrap", **measure, **_DRAWS)
    ds.meta.perm_test(**_TWO, **measure, **_DRAWS)


def _of_cells(ds: xr.Dataset) -> None:
    """Accuracy with ties at global level, with a given threshold, and calibrated as for many cells."""
    measure = {"level": "global", "coefficient": "acc_eq", "threshold": 0.1}
    ds.meta.ci(metric="a", method="bootstrap", **measure, **_DRAWS)
    ds.meta.perm_test(**_TWO, **{**measure, "threshold": 0.0}, **_DRAWS)
    x, z = ds.score.values[1], ds.score.values[0]
    CellTies.of(x, z, math.nan).bootstrap(np.ones((1, len(x)), np.int64), np.ones((1, x.shape[1]), np.int64))


def _of_scores(ds: xr.Dataset) -> dict[str, Callable[[], object]]:
    meta, layers = ds.meta, {"method": "bootstrap", "resample": ("system", "input", "rater")}
    systems = [("wilcoxon", "t"), ("bootstrap", "t"), *product(("monte_carlo", "hybrid"), ("t", "wilcoxon"))]
    return {
        "signs": partial(meta.perm_test, level="input", coefficient="kendall_a", method="auto", **_TWO, **_DRAWS),
        "layers": partial(meta.ci, ds.rating, metric="a", **layers, **_DRAWS),
        "agreement": partial(meta.agreement, "rating", **_DRAWS),
        "ceiling": partial(meta.human_ceiling, "rating", **_DRAWS),
        "close": partial(meta.close_corr, metric="a", **_DRAWS),
        "close, drawn": partial(meta.close_corr, metric="a", method="bootstrap", **_DRAWS),
        "discriminative": partial(meta.discriminative_agreement, metric="a", **_DRAWS),
        **{
            f"given, {name}, {level}": partial(_of_measure, ds, level=level, coefficient=name, given="c")
            for name, level in product(("pearson", "spearman", "kendall"), ("system", "input", "global"))
        },
        "range": partial(meta.range_drop, top=4, n_simulations=19, **_DRAWS),
        **{
            f"systems, {method}, {of}": partial(meta.compare_systems, metric="a", method=method, statistic=of, **_DRAWS)
            for method, of in systems
        },
        **{f"disagreement, {n}": partial(meta.disagreement, max_pairs=n, **_DRAWS) for n in (5, 5000)},
        "disagreement of many outputs": partial(scores(160, 6).meta.disagreement, **_DRAWS),
        "accuracy with ties of all cells": partial(_of_cells, ds),
        **{f"consistency, {n}": partial(meta.improvement_consistency, max_pairs=n, **_DRAWS) for n in (5, 5000)},
    }


def _ask(name: str) -> int:
    before = _n_compiled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _asked()[name]()
    return _n_compiled() - before


@cache
def _asked() -> dict[str, Callable[[], object]]:
    return questions()


def kept_in() -> str | None:
    """Folder of compiled code; None if none is writable."""
    folder: str | None = jit.compiled()[0].stats.cache_path
    return folder


def _n_compiled() -> int:
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in jit.compiled())


def compile_all() -> Compiled:
    folder = kept_in()
    if folder is None:
        raise OSError(
            "there is no folder to keep compiled code in; let NUMBA_CACHE_DIR name one that can be written to"
        )
    start, compiled = time.monotonic(), 0
    names = list(questions())
    # From both ends at once: neighbours need the same kernels, which two workers would compile twice.
    names = [name for pair in zip(names, reversed(names), strict=True) for name in pair][: len(names)]
    with ProcessPoolExecutor(threads.n_threads(), get_context("spawn"), _alone) as pool:
        running = [pool.submit(_ask, name) for name in names]
        with threads.progress_bar(len(names), None, desc="compiling", unit="question") as bar:
            for done in as_completed(running):
                compiled += done.result()
                bar()
    return Compiled(compiled, time.monotonic() - start, folder)


def _alone() -> None:
    """Make a worker silent, with one thread."""
    os.environ |= {"XSUMSTAT_NUM_THREADS": "1", "XSUMSTAT_QUIET": "1"}
