"""Fixtures that several tests share."""

import functools
import gc
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import xsumstat
from xsumstat import compilation
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.kernels import jit

# From so many tests on nearly all kernels are needed.
MANY = 2000


def pytest_collection_finish(session):
    """The tests, once collected, stay: to look through them for garbage again and again takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    if len(session.items) >= MANY and not session.config.option.collectonly:
        compile_share(session.config)


def kernels_for(question):
    """What questions that need the same kernels have in common."""
    coefficient = next((each for each in COEFFICIENTS if each in question), question.split(",")[0])
    return "acc_eq" if coefficient == "tau_eq" else coefficient


def compile_share(config):
    """Compile this worker's share of the kernels, which else several workers would compile at once."""
    worker, kept = os.environ.get("PYTEST_XDIST_WORKER"), getattr(config, "cache", None)
    if worker is None or kept is None or kept.get("xsumstat/kernels", "") == jit._STAMP:
        return
    asked = compilation.questions()
    kernels_of = {name: kernels_for(name) for name in asked}
    groups = list(dict.fromkeys(kernels_of.values()))
    at, n_workers = int(worker.removeprefix("gw")), int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, ask in asked.items():
            if groups.index(kernels_of[name]) % n_workers == at:
                ask()
    kept.set("xsumstat/kernels", jit._STAMP)


_demo = functools.cache(xsumstat.load_dataset)


@pytest.fixture
def demo():
    """The demo, read once, and a copy of it that a test may change."""
    return _demo("demo").copy(deep=True)


@pytest.fixture(scope="session")
def mirror():
    """The folder with the published files; tests that need it are skipped, or fail where it is demanded."""
    folder = os.environ.get("XSUMSTAT_DATA_DIR")
    if folder:
        return Path(folder)
    if os.environ.get("XSUMSTAT_REQUIRE_DATA"):
        pytest.fail("XSUMSTAT_REQUIRE_DATA is set, but XSUMSTAT_DATA_DIR names no folder with the published data")
    pytest.skip("XSUMSTAT_DATA_DIR names no folder with the published data")


@pytest.fixture(scope="session")
def summeval(mirror):
    return xsumstat.load_dataset("summeval")


@pytest.fixture(scope="session")
def realsumm(mirror):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return xsumstat.load_dataset("realsumm")


def dataset(score, **coords):
    """Scores (metric, system, input) as a Dataset with labels m0 m1 ..., s0 s1 ..., i0 i1 ...."""
    score = np.asarray(score, dtype=float)
    labels = {
        dim: [f"{dim[0]}{at}" for at in range(size)]
        for dim, size in zip(("metric", "system", "input"), score.shape, strict=True)
    }
    return xr.Dataset({"score": (("metric", "system", "input"), score)}, coords={**labels, **coords})


@pytest.fixture
def small():
    """Four metrics, the first of them gold, on six systems and five inputs; tied."""
    rng = np.random.default_rng(7)
    return dataset(
        np.round(2 * rng.normal(size=(4, 6, 5)) + 2 * rng.normal(size=(1, 6, 5))), kind=("metric", list("habc"))
    )
