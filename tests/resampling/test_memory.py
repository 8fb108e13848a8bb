"""Scores larger than what may be in memory: no more than a few metrics' scores are there at a time."""

import tracemalloc

import numpy as np
import pytest
import xarray as xr

from xsumstat.resampling import tasks

pytest.importorskip("dask.array")
pytest.importorskip("zarr")

METRICS, SYSTEMS, INPUTS = 30, 100, 8_000
MATRIX = 8 * SYSTEMS * INPUTS


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """192 MB, written metric by metric; some cells are missing."""
    path = tmp_path_factory.mktemp("large") / "scores.zarr"
    rng = np.random.default_rng(19)
    truth = rng.normal(size=(SYSTEMS, INPUTS)) + rng.normal(size=(SYSTEMS, 1))
    for at in range(METRICS):
        score = (truth + at / 10 * rng.normal(size=truth.shape))[None]
        score[0, rng.random(truth.shape) < 0.001 * (at > 0)] = np.nan
        ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": [at]})
        ds.chunk(metric=1).to_zarr(path, zarr_format=2, **({"append_dim": "metric"} if at else {}))
    return path


DRAWN = {"n_resamples": 9, "rng": 1}
ASKED = {
    "corr": ("corr", {"level": "input", "coefficient": "kendall"}),
    "ci": ("ci", {}),
    "ci by input": ("ci", {"level": "input", "coefficient": "kendall"}),
    "perm_test": ("perm_test", {"metric": range(1, 5), **DRAWN}),
    "perm_test by input": (
        "perm_test",
        {"metric": range(1, 5), "level": "input", "coefficient": "kendall", **DRAWN},
    ),
    "boot_test": ("boot_test", {"metric": range(1, 5), **DRAWN}),
    "disagreement": ("disagreement", {"metric": range(1, 5), "max_pairs": 99, "rng": 1}),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("question", ASKED)
def test_a_few_metrics_scores_are_in_memory_at_a_time(store, monkeypatch, question):
    """Those of two or three metrics, the gold's and a few times as much to work with; of 30 metrics there are."""
    monkeypatch.setattr(tasks, "SHARED", 0)
    method, settings = ASKED[question]
    settings = {name: list(value) if isinstance(value, range) else value for name, value in settings.items()}
    gold = () if method == "disagreement" else (0,)
    few = xr.open_zarr(store).isel(metric=slice(5))
    want = getattr(few.load().meta, method)(*gold, **settings)
    tracemalloc.start()
    try:
        got = getattr(xr.open_zarr(store).meta, method)(*gold, **settings).compute(scheduler="synchronous")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * MATRIX, f"{peak / MATRIX:.1f} metrics' scores"
    labels = {dim: want[dim].values for dim in ("metric", "other_metric") if dim in want.dims}
    for name in want.data_vars:
        assert got[name].sel(labels).values.tobytes() == want[name].values.tobytes(), name
