"""One seed, one answer: whatever the threads, the pieces, the chunks, the scheduler or the order of the metrics."""

import functools
import os

import dask
import numpy as np
import pytest
import xarray as xr
from helpers import LEVELS, as_lazy, by_turns

from xsumstat.resampling import draws, jobs, tasks, threads

CASES = [
    ("ci", {"level": level, "coefficient": coefficient, "keep_samples": True})
    for level in LEVELS
    for coefficient in ("pearson", "spearman", "kendall")
]
CASES += [("perm_test", settings) for _, settings in CASES]
CASES += [
    ("ci", {"level": "input", "resample": "system", "interval": "basic", "keep_samples": True}),
    ("perm_test", {"level": "input", "coefficient": "kendall", "crossed": True, "keep_samples": True}),
]
N = 2500  # three blocks, the last of them not full


def ask(ds, method, settings, n_resamples=N):
    return getattr(ds.meta, method)("human", n_resamples=n_resamples, rng=5, **settings)


@pytest.fixture(scope="module")
def scores():
    """Two languages of scores, of which some metrics and some inputs are tied, with gaps."""
    rng = np.random.default_rng(31)
    score = rng.normal(size=(2, 4, 7, 9)) + rng.normal(size=(2, 1, 7, 9))
    score[:, :, :, ::2] = np.round(score[:, :, :, ::2])
    score[:, 2] = np.round(score[:, 2])
    score[0, 1, 2, 3] = score[1, 3, :, 4] = np.nan
    labels = {"language": ["en", "de"], "metric": ["human", "a", "b", "c"], "system": list("stuvwxy")}
    return xr.Dataset(
        {"score": (("language", "metric", "system", "input"), score)}, coords={**labels, "input": list("ABCDEFGHI")}
    )


def equal(got, want):
    """To the last bit, labels and attributes included."""
    xr.testing.assert_identical(as_lazy(got), as_lazy(want))
    for name in want.data_vars:
        assert got[name].values.tobytes() == want[name].values.tobytes(), name


@pytest.fixture(scope="module")
def answer(scores):
    """Each answer in memory, on two threads, asked once."""

    @functools.cache
    def on_two(at):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XSUMSTAT_NUM_THREADS", "2")
            return ask(scores, *CASES[at])

    return on_two


IDS = [f"{at}-{method}" for at, (method, _) in enumerate(CASES)]
ALL_CASES = pytest.mark.parametrize("at", range(len(CASES)), ids=IDS)


@pytest.mark.parametrize("at", by_turns(range(len(CASES))), ids=IDS)
def test_threads_and_pieces(scores, answer, monkeypatch, at):
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", "1")
    monkeypatch.setattr(threads, "_PATIENCE", 1e5)  # blocks in small pieces
    monkeypatch.setattr(jobs, "BYTES_AT_ONCE", 1)  # one metric, or pair, at a time
    equal(ask(scores, *CASES[at]), answer(at))


CHUNKS = [{"language": 1}, {"metric": 1}, {"language": 1, "metric": 2, "system": 4, "input": 5}]
# Each level and coefficient meets one of the two methods, and each method all levels and coefficients.
HALF = [at for at in range(24) if (at // 12 + at // 3 + at) % 2] + [24, 25]


@pytest.mark.parametrize("at", by_turns(HALF))
def test_dask(scores, answer, monkeypatch, at):
    """Each chunking and each scheduler meet many questions."""
    monkeypatch.setattr(tasks, "_TASK", 7 * 9 * 2100)  # several tasks for each
    got = ask(scores.chunk(CHUNKS[(at + at // 3) % 3]), *CASES[at])
    assert all(values.chunks is not None for name, values in got.data_vars.items() if name != "margin")
    with dask.config.set(scheduler=("synchronous", "threads")[at // 2 % 2]):
        equal(got.compute(), answer(at))


@ALL_CASES
def test_any_order_of_metrics_and_four_threads(scores, answer, monkeypatch, at):
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", "4")
    want = answer(at)
    turned = ask(scores.sel(metric=["c", "human", "b", "a"]), *CASES[at])
    labels = {dim: want[dim] for dim in ("metric", "other_metric") if dim in want.dims}
    equal(turned.sel(labels), want)


@ALL_CASES
def test_a_longer_run_begins_with_the_shorter_one(scores, answer, at):
    n_resamples = (700, 1024, 1500)[(at + at // 3) % 3]
    short = ask(scores, *CASES[at], n_resamples)
    part = answer(at).samples.isel(resample=slice(n_resamples))
    assert part.values.tobytes() == short.samples.values.tobytes()


@pytest.mark.parametrize("dim, size", [("system", 7), ("input", 30), ("cell", 210)])
def test_a_draw_depends_on_the_seed_and_its_own_number_alone(dim, size):
    """However many resamples a block has, the first ones are the same."""
    for block in (0, 3):
        draw = draws.sign_bits if dim == "cell" else draws.counts
        whole = draw(9, dim, size, block)
        for rows in (1, 17, 1023):
            np.testing.assert_array_equal(draw(9, dim, size, block, rows), whole[:rows])
        assert not (draw(10, dim, size, block) == whole).all() and not (draw(9, dim, size, block + 1) == whole).all()


@pytest.mark.slow
@pytest.mark.skipif("PYTHONHASHSEED" in os.environ, reason="hashes are fixed")
def test_nothing_depends_on_hashes(scores):
    """Sets and dicts of labels may come in any order from one process to the next."""
    import subprocess
    import sys

    code = (
        "import xsumstat, numpy as np; ds = xsumstat.load_dataset('demo');"
        "test = ds.meta.perm_test('human', level='input', coefficient='kendall', n_resamples=300, rng=1);"
        "ci = ds.meta.ci('human', n_resamples=300, rng=1);"
        "print(test.pvalue.values.tobytes().hex(), ci.ci_low.values.tobytes().hex(), list(test.metric.values))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1
