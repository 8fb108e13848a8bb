"""Jobs: on threads and with Dask the same bits, memory, Ctrl-C; nothing lazy early, on a cluster too."""

import collections
import functools
import os
import signal
import threading
import time
from dataclasses import dataclass

import dask
import numpy as np
import pytest
import xarray as xr
from conftest import warns
from helpers import as_lazy, by_turns

from xsumstat.resampling import draws, jobs, tasks, threads
from xsumstat.resampling.plans import DrawPlan

distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(17)
# Two further labels of three metrics, 4 systems, 5 inputs; whole numbers, of which no sum is rounded.
SCORES, GOLD = (np.round(3 * RNG.normal(size=shape)) for shape in ((2, 3, 4, 5), (2, 4, 5)))


# --- A job of its own ---


@dataclass(frozen=True)
class Products(jobs.Job):
    """The sum of products of each metric's scores and the gold's, weighted by how often each cell was drawn."""

    targets: tuple
    plan: DrawPlan
    names = ("value", "above", "least", "offset")

    @property
    def n_resamples(self):
        return self.plan.n_resamples

    def bytes_each(self, x, z, *beside):
        return 8 * self.n_resamples

    def ready(self, at, x, z, *beside):
        offset = np.zeros(len(self.targets[at])) if not beside else np.asarray(beside[0])[0, at]
        return x[list(self.targets[at])] * z, offset

    def rows(self, ready):
        return len(ready[0])

    def block(self, ready, block, out, stop):
        draw = self.plan.block(block)
        for at in threads.pieces(len(draw), 1e6, stop):
            here = draw[at]
            out[:, at] = np.einsum("tij,si,sj->ts", ready[0], here.systems, here.inputs)
        return (out > ready[0].sum(axis=(1, 2))[:, None]).sum(axis=1)

    def finish(self, ready, counts, samples):
        return np.array([ready[0].sum(axis=(1, 2)), counts, samples.min(axis=1), ready[1]])


def products(n_resamples=2500, targets=(2, 0, 1), dims=("system", "input")):
    return Products(targets, DrawPlan((4, 5), dims, n_resamples, 3))


def plainly(job, scores, z):
    """By a loop over resamples, metrics and cells."""
    n = job.n_resamples
    w, v = (
        np.concatenate([draws.counts(3, dim, size, block) for block in range(draws.n_blocks(n))])[:n].tolist()
        for dim, size in (("system", 4), ("input", 5))
    )
    numbers, samples = [], []
    for metric in job.targets:
        cells = (scores[metric] * z).tolist()
        rows = [sum(w[s][i] * v[s][j] * cells[i][j] for i in range(4) for j in range(5)) for s in range(n)]
        value = sum(map(sum, cells))
        numbers.append((value, sum(each > value for each in rows), min(rows), 0.0))
        samples.append(rows)
    return np.array(numbers).T, np.array(samples)


def lazily(job, scores=SCORES, gold=GOLD, beside=(), **keywords):
    import dask.array as da

    used = np.ones(gold.shape[-2], bool), np.ones(gold.shape[-1], bool)
    lead = scores.shape[:1]
    return tasks.with_dask(job, da.asarray(scores), da.asarray(gold), *beside, lead=lead, used=used, **keywords)


@pytest.mark.parametrize("n_resamples", [1, 700, 1024, 2500])
def test_a_job_is_a_loop_over_resamples_on_threads_and_with_dask(n_resamples, monkeypatch):
    job = products(n_resamples)
    want = [plainly(job, *label) for label in zip(SCORES, GOLD, strict=True)]
    found = {}
    for number in ("1", "2"):
        monkeypatch.setenv("XSUMSTAT_NUM_THREADS", number)
        found[number] = jobs.on_threads(job, list(zip(SCORES, GOLD, strict=True)), keep_samples=True)
    numbers, samples = found["1"]
    np.testing.assert_allclose(numbers, np.concatenate([each[0] for each in want], axis=1), atol=1e-10)
    np.testing.assert_allclose(samples, np.concatenate([each[1] for each in want]), atol=1e-10)
    for task in (1e9, 1.0):
        monkeypatch.setattr(tasks, "_TASK", task)  # one task for all, and one for each target and block
        found[task] = [each.compute() for each in lazily(job, keep_samples=True)]
        assert found[task][0].shape == (4, 2, 3) and found[task][1].shape == (2, 3, n_resamples)
    for other in found.values():
        for got, first in zip(other, found["1"], strict=True):
            assert got.tobytes() == first.tobytes()


def test_samples_that_nobody_wants_are_not_kept(monkeypatch):
    for at_once in (1, 10**9):
        monkeypatch.setattr(jobs, "BYTES_AT_ONCE", at_once)
        numbers, samples = jobs.on_threads(products(300), [(SCORES[0], GOLD[0])])
        assert samples is None and numbers.shape == (4, 3)
    assert lazily(products(300))[1] is None


@pytest.mark.parametrize("at_once, sizes", [(1, [1, 1, 1]), (2 * 8 * 300, [2, 1]), (10**9, [3])])
def test_so_many_targets_are_made_ready_together_as_fit(monkeypatch, at_once, sizes):
    monkeypatch.setattr(jobs, "BYTES_AT_ONCE", at_once)
    seen = []

    class Seen(Products):
        def ready(self, at, x, z, *beside):
            seen.append(at.stop - at.start)
            return super().ready(at, x, z, *beside)

    class Together(Seen):
        together = True

    for kind, want in ((Seen, sizes), (Together, [3])):
        seen.clear()
        jobs.on_threads(kind((2, 0, 1), DrawPlan((4, 5), ("input",), 300, 3)), [(SCORES[0], GOLD[0])])
        assert seen == want


@pytest.mark.parametrize("number", ["1", "2"])
def test_samples_are_written_where_they_stay(monkeypatch, number):
    """A block is given its columns of the array that `finish` sees, and that is kept: nothing is copied together."""
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", number)
    given, seen = [], []

    class Seen(Products):
        def block(self, ready, block, out, stop):
            given.append((block, out))
            return super().block(ready, block, out, stop)

        def finish(self, ready, counts, samples):
            seen.append(samples)
            return super().finish(ready, counts, samples)

    jobs.on_threads(Seen((2, 0, 1), DrawPlan((4, 5), ("input",), 2500, 3)), [(SCORES[0], GOLD[0])])
    (samples,) = seen
    assert samples.shape == (3, 2500) and [block for block, _ in sorted(given, key=lambda each: each[0])] == [0, 1, 2]
    for block, out in given:
        assert np.shares_memory(out, samples)
        assert out.shape == (3, min(1024, 2500 - 1024 * block))
        assert out.__array_interface__["data"][0] == samples[:, 1024 * block :].__array_interface__["data"][0]


def test_what_belongs_to_each_target_goes_with_it(monkeypatch):
    """Numbers beside the scores, in memory and lazy, whatever the targets that are made ready together."""
    import dask.array as da

    beside = RNG.normal(size=(2, 1, 3))
    labels = list(zip(SCORES, GOLD, beside, strict=True))
    monkeypatch.setattr(jobs, "BYTES_AT_ONCE", 1)
    monkeypatch.setattr(tasks, "_TASK", 1.0)
    assert jobs.on_threads(products(50), labels)[0][3].tobytes() == beside.tobytes()
    for given in (beside, da.asarray(beside)):
        assert lazily(products(50), beside=(given,))[0][3].compute().tobytes() == beside.tobytes()


def test_lazy_labels_that_nothing_can_use_are_left_out():
    """As if they had been taken out: the job sees the rest."""
    import dask.array as da

    used = np.array([True, False, True, True]), np.array([True, True, False, True, False])
    job = Products((0, 1, 2), DrawPlan((3, 3), ("system", "input"), 400, 3))
    lazy = tasks.with_dask(job, da.asarray(SCORES), da.asarray(GOLD), lead=(2,), used=used)[0].compute()
    rest = [tuple(each[..., used[0], :][..., used[1]] for each in pair) for pair in zip(SCORES, GOLD, strict=True)]
    assert lazy.tobytes() == jobs.on_threads(job, rest)[0].tobytes()


@pytest.mark.parametrize("number", ["1", "2"])
def test_ctrl_c_stops_a_job_within_a_moment(monkeypatch, number):
    """A job of a billion resamples, and the next one runs as ever."""
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", number)
    started, stops = threading.Event(), []

    class Endless(Products):
        def rows(self, ready):
            return 0  # a billion samples would not fit

        def block(self, ready, block, out, stop):
            stops.append(stop)
            started.set()
            counts = np.zeros(3, dtype=np.int64)
            for _ in threads.pieces(1024, 1e9, stop):
                time.sleep(0.005)
                counts += 1
            return counts

    def interrupt():
        started.wait()
        time.sleep(0.1)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread.start()
        before = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            jobs.on_threads(Endless((2, 0, 1), DrawPlan((4, 5), ("input",), 10**9, 3)), [(SCORES[0], GOLD[0])])
        thread.join()
    finally:
        signal.signal(signal.SIGINT, usual)
    assert time.monotonic() - before < 1.0
    assert stops and all(stop.is_set() for stop in stops)
    numbers, _ = jobs.on_threads(products(30), [(SCORES[0], GOLD[0])])
    np.testing.assert_allclose(numbers, plainly(products(30), SCORES[0], GOLD[0])[0], atol=1e-10)


def test_an_error_in_a_block_reaches_the_caller():
    class Failing(Products):
        def block(self, ready, block, out, stop):
            raise RuntimeError(f"block {block}")

    job = Failing((0,), DrawPlan((4, 5), ("input",), 300, 3))
    with pytest.raises(RuntimeError, match="block 0"):
        jobs.on_threads(job, [(SCORES[0], GOLD[0])])
    with pytest.raises(RuntimeError, match="block 0"):
        lazily(job)[0].compute()


def test_a_bar_counts_blocks_of_all_labels_and_groups(monkeypatch, capsys):
    monkeypatch.setattr(jobs, "BYTES_AT_ONCE", 1)
    jobs.on_threads(products(1025), list(zip(SCORES, GOLD, strict=True)), progress=True)
    last = capsys.readouterr().err.replace("\r", "\n").strip().splitlines()[-1]
    assert last.startswith("resampling: 100%") and "12/12" in last  # 2 labels, 3 targets, 2 blocks


@pytest.mark.parametrize("at_once", [1, 2 * 8 * 2100, 10**9])
def test_statistics_of_inputs_see_every_block_however_many_rows_come_at_a_time(monkeypatch, at_once):
    """Each time from the same draws; what is told of a row is of its own samples."""
    monkeypatch.setattr(jobs, "BYTES_AT_ONCE", at_once)
    counts = np.concatenate([draws.counts(7, "input", 5, block) for block in range(3)])[:2100].T
    told = []

    def tell(place, samples):
        told.append(place)
        np.testing.assert_array_equal(samples, counts[place])
        return place, samples @ np.arange(2100)

    job = jobs.OverInputs(range(5), lambda counts, at: counts[at], tell, ("place", "sum"), 5, 2100, 7)
    got = job.run(progress=False)
    assert told == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(got, [range(5), counts @ np.arange(2100)])


@pytest.mark.parametrize("number", ["1", "3"])
def test_answers_one_by_one_stand_in_order(monkeypatch, number):
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", number)
    got = jobs.one_by_one(lambda at, stop: np.array([at, at**2]), 2, 30, False)
    np.testing.assert_array_equal(got, [np.arange(30), np.arange(30) ** 2])


# --- Lazy scores ---

CALLS = {
    "corr": {"level": "input", "coefficient": "kendall"},
    "metric_corr": {},
    "ci": {"level": "input", "coefficient": "kendall", "n_resamples": 2100, "rng": 1, "keep_samples": True},
    "perm_test": {"level": "input", "coefficient": "kendall", "n_resamples": 2100, "rng": 1, "alternative": "greater"},
}


FEW = ["judge", "bleu", "rouge"]
ONE_PAIR = ["human", "judge", "bleu"]


@functools.cache
def two_languages():
    """Some of the demo, and the same with noise, without one system and one input."""
    import xsumstat

    ds = xsumstat.load_dataset("demo").sel(metric=["human", *FEW]).isel(input=slice(24))
    rng = np.random.default_rng(0)
    second = ds.score + 3 * rng.normal(size=ds.score.shape)
    second = second.where((second.system != second.system[0]) & (second.input != second.input[3]))
    both = xr.concat([ds.score, second], dim="language").assign_coords(language=["en", "fr"])
    return ds.drop_vars("score").assign(score=both)


def english(ds):
    """The one gold for both."""
    return ds.score.sel(metric="human", language="en", drop=True)


def with_layers(ds):
    """One language by two references, and the gold by two raters."""
    one = ds.isel(language=0, drop=True)
    gold = one.score.sel(metric="human", drop=True)
    scores = xr.concat([one.score, one.score.round()], "reference")
    return one.drop_vars("score").assign(score=scores), xr.concat([gold, gold**2], "rater").rename("rating")


DRAWN = {"n_resamples": 1100, "rng": 1}
POOLED = {"coefficient": "pairwise_accuracy", "pool": "language", **DRAWN}
LEVEL = {"level": "input", **DRAWN}
FIXED = xr.DataArray([0.05, 0.1, 0.2], dims="metric", coords={"metric": FEW})


def by_raters(ds, **settings):
    score, gold = with_layers(ds)
    return score.isel(reference=0).meta.ci(gold, metric=FEW, **settings, **DRAWN)


def by_references(ds, **settings):
    score, gold = with_layers(ds)
    return score.meta.ci(gold.mean("rater"), metric=FEW, **settings, **DRAWN)


def by_both(ds, **settings):
    score, gold = with_layers(ds)
    return score.meta.ci(gold, metric=FEW, **settings, **DRAWN)


LAZY = {
    "equivalence of metrics": lambda ds: ds.meta.equivalence("human", margin=0.1, other=FEW, **LEVEL),
    "equivalence of versions": lambda ds: ds.meta.equivalence(
        english(ds), margin=FIXED, metric=FEW, along="language", base="en", coefficient="kendall", **DRAWN
    ),
    "margin_sensitivity": lambda ds: ds.meta.margin_sensitivity("human", other=FEW, **LEVEL),
    "margin_sensitivity by metric": lambda ds: ds.meta.margin_sensitivity(
        english(ds), metric=FEW, along="language", base="fr", by="metric", **LEVEL
    ),
    "dominance": lambda ds: ds.meta.dominance("human", other=FEW, **LEVEL),
    "raters": lambda ds: by_raters(ds, resample=("system", "rater"), keep_samples=True),
    "references": lambda ds: by_references(ds, resample=("input", "reference"), aggregate="max"),
    "cells, references and raters": lambda ds: by_both(ds, level="global", resample=("cell", "reference", "rater")),
    "pool, corr": lambda ds: ds.meta.corr("human", coefficient="pairwise_accuracy", pool="language"),
    "pool, ci of a difference": lambda ds: ds.meta.ci("human", metric="judge", other="bleu", **POOLED),
    "pool, perm_test": lambda ds: ds.sel(metric=ONE_PAIR).meta.perm_test("human", **POOLED),
    "pool, boot_test": lambda ds: ds.sel(metric=ONE_PAIR).meta.boot_test("human", alternative="greater", **POOLED),
    "given": lambda ds: ds.meta.ci("human", given="rouge", level="input", method="bootstrap", **DRAWN),
    "given, swaps": lambda ds: ds.meta.perm_test("human", given=["rouge", "system_type"], level="global", **DRAWN),
    "bias": lambda ds: ds.meta.bias("human", given=["rouge", "system_type"]),
    "close_corr": lambda ds: ds.meta.close_corr("human", **DRAWN),
    "close_corr of one": lambda ds: ds.isel(language=0).meta.close_corr("human", gap=[0.5, 1.0], **DRAWN),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("question", by_turns(LAZY))
def test_lazy_answers_have_the_bits_of_eager_ones(question):
    ds = two_languages()
    want = LAZY[question](ds)
    with dask.config.set(scheduler=never):
        got = LAZY[question](ds.chunk(language=1, metric=2, system=7, input=15))
    assert any(values.chunks is not None for values in got.data_vars.values())
    got = got.compute()
    xr.testing.assert_identical(got, as_lazy(want))
    for name in want.data_vars:
        assert got[name].values.tobytes() == want[name].values.tobytes(), name


def ask(ds, method, settings):
    gold = () if method == "metric_corr" else ("human",)
    return getattr(ds.meta, method)(*gold, **settings)


def never(*args, **kwargs):
    raise AssertionError("something was computed")


@pytest.mark.parametrize("method", CALLS)
def test_nothing_computes_before_it_is_asked_to(demo, method):
    demo = demo.sel(metric=["human", *FEW])
    lazily = demo.chunk(metric=1)
    with dask.config.set(scheduler=never):
        got = ask(lazily, method, CALLS[method])
        assert all(values.chunks is not None for values in got.data_vars.values())
        if method == "perm_test":
            adjusted = got.meta.adjust("holm", within="other_metric")
            assert adjusted.meta.significant().chunks is not None
        with pytest.raises(AssertionError, match="something was computed"):
            got.compute()
    xr.testing.assert_identical(got.compute(), as_lazy(ask(demo, method, CALLS[method])))


@pytest.mark.parametrize("method", ["metric_corr", "perm_test"])
def test_a_lazy_result_can_be_written_to_zarr(demo, tmp_path, method):
    """As in the README: scores from a store, the result to another, computed on the way."""
    demo = demo.sel(metric=["human", *FEW])
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
    demo, settings = demo.sel(metric=["human", *FEW]), {**CALLS["perm_test"], "n_resamples": 199}
    for within in (None, "other_metric"):
        eager = ask(demo, "perm_test", settings).meta.adjust("bh", within=within)
        got = ask(demo.chunk(), "perm_test", settings).meta.adjust("bh", within=within)
        xr.testing.assert_identical(got.compute(), as_lazy(eager))


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
    with warns("labels_without_cells"):
        eager = ask(demo, "ci", settings)
    lazy = ask(demo.chunk(), "ci", settings)
    with warns("labels_without_cells"):
        got = lazy.compute()
    assert got.samples.values.tobytes() == eager.samples.values.tobytes()


def test_work_is_split_into_tasks_over_pairs_and_resamples(demo, monkeypatch):
    demo = demo.sel(metric=["human", *FEW])

    def counted(method, **settings):
        got = ask(demo.chunk(), method, CALLS[method] | settings)
        keys = [str(key) for key in dict(got.__dask_graph__())]
        return tuple(sum(key.startswith(name) for key in keys) for name in ("_part-", "_finished-"))

    assert counted("perm_test") == counted("ci") == (0, 1)
    monkeypatch.setattr(tasks, "_TASK", demo.sizes["system"] * demo.sizes["input"] * 1024 * 2)
    assert counted("ci") == (3 * 2, 3)  # 3 metrics, 3 blocks of resamples in runs of 2
    pairs = 3 * 2 // 2
    assert counted("perm_test") == (pairs * 2, pairs)
    monkeypatch.setattr(tasks, "_MOST_TASKS", pairs)
    assert counted("perm_test") == (0, pairs)


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
    monkeypatch.setattr(tasks, "_TASK", 2e7)
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
    monkeypatch.setattr(tasks, "_TASK", 2e7)
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
        time.sleep(0.3)
        sent.append(time.monotonic())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    settings = {"level": "input", "coefficient": "kendall", "rng": 1}
    demo.meta.perm_test("human", n_resamples=99, **settings)
    thread = threading.Thread(target=interrupt)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            demo.meta.perm_test("human", n_resamples=100_000_000, **settings)
        stopped = time.monotonic()
        thread.join()
    finally:
        signal.signal(signal.SIGINT, usual)
    assert stopped - sent[0] < 1.0
    assert threads.n_threads() >= 1
    assert np.isfinite(
        demo.meta.perm_test("human", n_resamples=99, **settings).pvalue.sel(metric="judge", other_metric="bleu")
    )
