"""Jobs with Dask: what the tasks of a graph see, how many they are, and what does not fit."""

import sys
import types

import numpy as np
import pytest
import xarray as xr
from helpers import as_lazy, by_turns

from xsumstat.resampling import jobs, tasks

da = pytest.importorskip("dask.array")

RNG = np.random.default_rng(19)


def test_a_graph_of_many_pairs_and_resamples_stays_small(monkeypatch):
    """5 metrics x 200 x 10,000 and a million resamples: 10 pairs, and 977 blocks of each; nothing is computed."""
    assert tasks._MOST_TASKS < 10_000
    monkeypatch.setattr(tasks, "_MOST_TASKS", 300)
    score = da.zeros((6, 200, 10_000), chunks=(1, 200, 10_000))
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": ["human", *map(str, range(5))]})
    got = ds.meta.perm_test("human", level="input", coefficient="kendall", n_resamples=10**6, rng=1)
    keys = [str(key) for key in dict(got.__dask_graph__())]
    assert len(keys) < 600 and 120 < sum(key.startswith("_part-") for key in keys) <= 300


# --- Memory: what each task sees ---


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Scores in Zarr, of several metrics to a chunk, some of them missing."""
    path, shape = tmp_path_factory.mktemp("stored") / "scores.zarr", (5, 12, 40)
    score = np.round(RNG.normal(size=shape) + RNG.normal(size=shape[1:]), 1)
    score[2:, RNG.random(shape[1:]) < 0.05] = np.nan
    labels = {"metric": ["human", *(f"m{at}" for at in range(1, shape[0]))]}
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, labels)
    ds.chunk(metric=2, system=8, input=30).to_zarr(path, zarr_format=2)
    return ds, xr.open_zarr(path)


SEEN = {
    "ci": (1, {"level": "input", "method": "bootstrap", "n_resamples": 99, "rng": 1}),
    "perm_test": (2, {"level": "input", "coefficient": "kendall", "n_resamples": 99, "rng": 1}),
    "perm_test of means": (3, {"n_resamples": 99, "rng": 1}),
    "boot_test": (2, {"n_resamples": 99, "rng": 1}),
    "corr_test": (2, {}),
    "equivalence": (2, {"margin": 0.1, "other": ["m1", "m2", "m3"], "n_resamples": 99, "rng": 1}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("question", by_turns(SEEN))
def test_a_task_sees_the_scores_of_its_own_metrics_only(stored, monkeypatch, question, shared):
    """Also where it reads them itself; then no array of scores is made by a task for others."""
    most, settings = SEEN[question]
    ds, lazy = stored
    want = getattr(ds.meta, question.split()[0])("human", **settings)
    monkeypatch.setattr(jobs, "BYTES_AT_ONCE", 1)  # one target at a time
    monkeypatch.setattr(tasks, "SHARED", 2**28 if shared else 0)
    seen, ready = [], tasks._ready

    def counted(job, used, scores, beside):
        seen.append((len(scores[0]), {type(each) for each in (*scores[0], *scores[1])}))
        return ready(job, used, scores, beside)

    monkeypatch.setattr(tasks, "_ready", counted)
    got = getattr(lazy.meta, question.split()[0])("human", **settings)
    xr.testing.assert_identical(got.compute(scheduler="synchronous"), as_lazy(want))
    assert max(size for size, _ in seen) <= most and len(seen) >= 3
    assert all(kinds == {np.ndarray if shared else tasks.Made} for _, kinds in seen)


def test_scores_that_a_graph_holds_are_not_given_to_each_task(monkeypatch):
    """Instructions with scores in them, or with what a cluster holds, would be as large as the scores."""
    values = np.arange(400_000.0).reshape(4, 100_000)
    small, large = (da.from_array(each, chunks=-1) for each in (values[:, :10], values))
    assert tasks.instructions(large) is None
    np.testing.assert_array_equal(tasks.instructions(small + 1).array(), values[:, :10] + 1)


def test_what_does_not_fit_is_refused_at_once(monkeypatch):
    score = da.zeros((3, 1000, 10**9), chunks=(1, 1000, 10**6))
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": ["human", "a", "b"]})
    with pytest.raises(ValueError, match=r"one task needs about \d.* GB: 1 metric and the gold, of 8e\+03 GB each"):
        ds.meta.ci("human")
    monkeypatch.setattr(tasks, "_memory", lambda: 1e6)
    with pytest.raises(ValueError, match="there are 0.001 GB for a task"):
        ds.isel(input=slice(200)).meta.perm_test("human", n_resamples=99)


def test_a_client_without_its_scheduler_knows_of_no_worker(monkeypatch):
    """It says nothing of workers, and the limit is the memory of this machine."""
    client = types.SimpleNamespace(scheduler_info=lambda n_workers: {})
    monkeypatch.setitem(sys.modules, "distributed", types.SimpleNamespace(default_client=lambda: client))
    assert tasks._memory() > 1e6
