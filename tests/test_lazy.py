"""Dask-backed scores: nothing early, the same numbers, on a cluster too."""

import collections
import os
import signal
import threading
import time

import dask
import numpy as np
import pytest
import xarray as xr

from xsumstat import lazy, resampling

distributed = pytest.importorskip("distributed")

CALLS = {
    "corr": {"level": "input", "coefficient": "kendall"},
    "metric_corr": {},
    "ci": {"level": "input", "coefficient": "kendall", "n_resamples": 3000, "rng": 1, "keep_samples": True},
    "perm_test": {"level": "input", "coefficient": "kendall", "n_resamples": 3000, "rng": 1, "alternative": "greater"},
}


def ask(ds, method, settings):
    gold = () if method == "metric_corr" else ("human",)
    return getattr(ds.meta, method)(*gold, **settings)


def never(*args, **kwargs):
    raise AssertionError("something was computed")


@pytest.mark.parametrize("method", CALLS)
def test_nothing_computes_before_it_is_asked_to(demo, method):
    lazily = demo.chunk(metric=1)
    with dask.config.set(scheduler=never):
        got = ask(lazily, method, CALLS[method])
        assert all(values.chunks is not None for values in got.data_vars.values())
        if method == "perm_test":
            adjusted = got.meta.adjust("holm", within="other_metric")
            assert adjusted.meta.significant().chunks is not None
        with pytest.raises(AssertionError, match="something was computed"):
            got.compute()
    xr.testing.assert_identical(got.compute(), ask(demo, method, CALLS[method]))


@pytest.mark.parametrize("method", CALLS)
def test_a_lazy_result_can_be_written_to_zarr(demo, tmp_path, method):
    """As in the README: scores from a store, the result to another, computed on the way."""
    demo.to_zarr(tmp_path / "scores.zarr", zarr_format=2)
    got = ask(xr.open_zarr(tmp_path / "scores.zarr"), method, CALLS[method])
    want = ask(demo, method, CALLS[method])
    if method == "perm_test":
        got, want = (each.meta.adjust("holm") for each in (got, want))
    got.to_zarr(tmp_path / "result.zarr", zarr_format=2)
    xr.testing.assert_equal(xr.load_dataset(tmp_path / "result.zarr", engine="zarr"), want)


def test_a_lazy_gold_is_enough(demo):
    gold = demo.score.sel(metric="human", drop=True)
    rest = demo.drop_sel(metric="human")
    lazily, eagerly = (rest.meta.ci(each, n_resamples=50, rng=1) for each in (gold.chunk(), gold))
    assert lazily.ci_low.chunks is not None
    np.testing.assert_array_equal(lazily.ci_low, eagerly.ci_low)


def test_lazy_corrections_equal_eager_ones(demo):
    settings = CALLS["perm_test"]
    for within in (None, "other_metric"):
        eager = ask(demo, "perm_test", settings).meta.adjust("bh", within=within)
        got = ask(demo.chunk(), "perm_test", settings).meta.adjust("bh", within=within)
        xr.testing.assert_identical(got.compute(), eager)


def test_what_the_labels_say_is_checked_at_once(demo):
    lazily = demo.chunk()
    with pytest.raises(ValueError, match="unknown gold 'humans'; did you mean 'human'"):
        lazily.meta.ci("humans")
    with pytest.raises(ValueError, match="unknown metric"):
        lazily.meta.perm_test("human", metric=["judge", "nothing"])


def test_infinite_scores_are_an_error_when_computed(demo):
    demo.score[1, 2, 3] = np.inf
    got = demo.chunk().meta.corr("human")
    with pytest.raises(ValueError, match="infinite"):
        got.compute()


def test_labels_that_nothing_can_use_are_left_out_as_in_eager_scores(demo):
    demo.score.loc[{"metric": "human", "system": demo.system[0]}] = np.nan
    settings = CALLS["ci"]
    with pytest.warns(UserWarning, match="left out"):
        eager = ask(demo, "ci", settings)
    got = ask(demo.chunk(), "ci", settings).compute()
    assert got.samples.values.tobytes() == eager.samples.values.tobytes()


def test_work_is_split_into_tasks_over_pairs_and_resamples(demo, monkeypatch):
    def tasks(method, **settings):
        got = ask(demo.chunk(), method, CALLS[method] | settings)
        return sum("_count" in str(key) or "_sample" in str(key) for key in dict(got.__dask_graph__()))

    assert tasks("perm_test") == tasks("ci") == 1
    monkeypatch.setattr(lazy, "_TASK", demo.sizes["system"] * demo.sizes["input"] * 1024 * 2)
    assert tasks("ci") == 6 * 2  # 6 metrics, 3 blocks of resamples in runs of 2
    pairs = 6 * 5 // 2
    assert tasks("perm_test") >= pairs * 2


@pytest.fixture(scope="module")
def cluster():
    settings = {"distributed.worker.memory.terminate": False, "distributed.comm.timeouts.connect": "60s"}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
        ) as made,
        distributed.Client(made) as client,
    ):
        yield client


def big(metrics):
    rng = np.random.default_rng(3)
    score = np.round(rng.normal(size=(metrics, 20, 200)) + 2 * rng.normal(size=(20, 200)))
    labels = {"metric": ["human", *(f"m{at}" for at in range(1, metrics))]}
    return xr.Dataset({"score": (("metric", "system", "input"), score)}, coords=labels)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the cluster's own
def test_a_cluster_gives_the_same_bits_and_both_workers_work(cluster, monkeypatch):
    ds = big(5)
    settings = {"level": "input", "coefficient": "kendall", "n_resamples": 20_000, "rng": 1}
    want = ds.meta.perm_test("human", **settings)
    monkeypatch.setattr(lazy, "_TASK", 2e7)
    got = ds.chunk().meta.perm_test("human", **settings)
    with distributed.get_task_stream(client=cluster) as stream:
        computed = cluster.compute(got).result(timeout=120)
    xr.testing.assert_identical(computed, want)
    busy = collections.Counter()
    for task in stream.data:
        busy[task["worker"]] += sum(s["stop"] - s["start"] for s in task["startstops"] if s["action"] == "compute")
    assert len(busy) == 2 and min(busy.values()) > 0.1 * busy.total(), busy


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_is_killed_loses_nothing(cluster, monkeypatch):
    ds = big(6)
    settings = {"level": "input", "coefficient": "spearman", "n_resamples": 60_000, "rng": 2}
    want = ds.meta.perm_test("human", **settings)
    monkeypatch.setattr(lazy, "_TASK", 2e7)
    victim = min(cluster.run(os.getpid).values())
    future = cluster.compute(ds.chunk().meta.perm_test("human", **settings))
    time.sleep(0.7)
    assert not future.done()
    os.kill(victim, signal.SIGKILL)
    xr.testing.assert_identical(future.result(timeout=180), want)


def test_ctrl_c_stops_a_long_run_within_a_second(demo):
    """The real thing: a test that would take minutes."""

    sent = []

    def interrupt():
        time.sleep(1.0)
        sent.append(time.monotonic())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    settings = {"level": "input", "coefficient": "kendall", "rng": 1}
    demo.meta.perm_test("human", n_resamples=99, **settings)
    thread = threading.Thread(target=interrupt)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            demo.meta.perm_test("human", n_resamples=200_000_000, **settings)
        stopped = time.monotonic()
        thread.join()
    finally:
        signal.signal(signal.SIGINT, usual)
    assert stopped - sent[0] < 1.0
    assert resampling.n_threads() >= 1
    assert np.isfinite(
        demo.meta.perm_test("human", n_resamples=99, **settings).pvalue.sel(metric="judge", other_metric="bleu")
    )
