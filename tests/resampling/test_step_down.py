"""The lazy step-down procedure: to the bit that of draws in memory, with a few tests or a few draws in a task."""

import numpy as np
import pytest
from helpers import pairwise

from xsumstat.inference import corrections
from xsumstat.resampling import jobs, step_down

da = pytest.importorskip("dask.array")
Callback = pytest.importorskip("dask.callbacks").Callback

N_ROWS, N = 23, 101


def drawn(seed, n=N):
    """Rounded differences, so that some are tied; some undefined, in one row all; and the observed ones."""
    rng = np.random.default_rng(seed)
    samples = np.round(rng.normal(size=(N_ROWS, n)), 1)
    samples[rng.random(samples.shape) < 0.05] = np.nan
    samples[4] = np.nan
    observed = np.round(2 * rng.normal(size=N_ROWS), 1)
    observed[4] = np.nan
    return samples, observed


def pvalues_of(samples, observed, row, pool):
    """Each test's p-value: the place of its observed difference in its pool; NaN where there is none."""
    out = np.full(row.shape, np.nan)
    for at in zip(*np.nonzero(row), strict=True):
        sign, here = np.sign(row[at]), abs(row[at]) - 1
        counts, defined = pool.counts(sign * samples[here], sign * observed[here])
        if not np.isnan(observed[here]):
            out[at] = counts[-1] / defined
    return out


def eager(pvalues, samples, observed, row, pool):
    """`corrections.step_down` of each family, a row of `row`."""

    def pools(signed):
        for number in signed:
            draws, seen = (np.sign(number) * each[abs(number) - 1] for each in (samples, observed))
            yield pool.pvalues(draws, seen)

    return np.array(
        [
            corrections.step_down(p, lambda order, family=family: pools(family[order]))
            for p, family in zip(pvalues, row, strict=True)
        ]
    )


ROWS = {
    "one family": 1 + np.arange(N_ROWS)[None],
    "families that share draws, turned": np.array(
        [[1, 0, -2, 5, 9, -7], [-23, 22, 0, 0, 3, 5], [0, 0, 0, 0, 0, 0], [2, -1, 7, 8, 11, 12]]
    ),
    "out of order": 1 + np.random.default_rng(0).permutation(N_ROWS)[None],
}
POOLS = [
    corrections.Pool("two-sided", False, False),
    corrections.Pool("greater", False, True),
    corrections.Pool("less", True, False),
]


@pairwise(
    {
        "rows": list(ROWS),
        "pool": POOLS,
        "chunks": [(-1, -1), (5, -1), (1, 40), (7, 13)],
        "most": [2**26, 8 * N * 2, 200],
    }
)
def test_lazy_bits_are_eager_bits(monkeypatch, rows, pool, chunks, most):
    monkeypatch.setattr(jobs, "BYTES_AT_ONCE", most)
    samples, observed = drawn(1)
    row = ROWS[rows]
    pvalues = pvalues_of(samples, observed, row, pool)
    want = eager(pvalues, samples, observed, row, pool)
    assert np.isfinite(want).sum() > 10 and len(np.unique(want)) > 5
    lazy = da.from_array(samples, chunks=chunks), da.from_array(observed, chunks=4)
    got = step_down.with_dask(da.from_array(pvalues), *lazy, row, pool, lead=1)
    assert got.chunks == ((1,) * len(row), (row.shape[1],))
    np.testing.assert_array_equal(got.compute(scheduler="sync"), want)


def test_families_and_draws_laid_out_in_more_dims():
    samples, observed = drawn(2)
    row = np.arange(1, 21).reshape(2, 5, 2)
    pool = POOLS[0]
    pvalues = pvalues_of(samples, observed, row, pool)
    lazy = samples[:20].reshape(4, 5, N), observed[:20].reshape(4, 5)
    chunked = da.from_array(lazy[0], chunks=(3, 2, 50)), da.from_array(lazy[1])
    got = step_down.with_dask(da.from_array(pvalues), *chunked, row, pool, lead=1)
    want = eager(pvalues.reshape(2, 10), samples, observed, row.reshape(2, 10), pool)
    np.testing.assert_array_equal(got, want.reshape(row.shape))
    whole = step_down.with_dask(da.from_array(pvalues), *chunked, row, pool, lead=0)
    np.testing.assert_array_equal(
        whole.compute().ravel(), eager(pvalues.reshape(1, 20), *drawn(2), row.reshape(1, 20), pool)[0]
    )


def test_without_any_test_there_is_nothing():
    samples, observed = (da.from_array(each) for each in drawn(3))
    got = step_down.with_dask(da.full((2, 3), np.nan), samples, observed, np.zeros((2, 3), int), POOLS[0], lead=1)
    assert got.shape == (2, 3) and np.isnan(got.compute()).all()


class Largest(Callback):
    """Notes how large the largest value of a task is, and how many tasks there were."""

    def __init__(self):
        super().__init__(posttask=self.note)
        self.bytes = self.tasks = 0

    def note(self, key, value, graph, state, worker):
        self.tasks += 1
        arrays = value if isinstance(value, list | tuple) else [value]
        self.bytes = max(self.bytes, sum(getattr(each, "nbytes", 0) for each in arrays))


@pytest.mark.parametrize("chunks", [(6, -1), (1, -1), (30, 500)])
def test_no_task_sees_many_draws(monkeypatch, chunks):
    """30 tests of 10,000 draws, 2.4 MB, in tasks of a twentieth of it; so many tasks as there are tests and blocks."""
    monkeypatch.setattr(jobs, "BYTES_AT_ONCE", 2**17)
    n, size = 10_000, 30
    samples = da.random.default_rng(1).normal(size=(size, n), chunks=chunks)
    observed = da.full(size, 0.5, chunks=7)
    pvalues = np.random.default_rng(2).random((1, size))
    row = 1 + np.arange(size)[None]
    got = step_down.with_dask(da.from_array(pvalues), samples, observed, row, POOLS[0], lead=1)
    with Largest() as seen:
        got.compute(scheduler="sync", optimize_graph=False)
    largest_drawn = 8 * int(np.prod(samples.chunksize))
    assert seen.bytes <= max(2**17, largest_drawn) + 2**12 and seen.bytes < 8 * n * size / 4
    assert seen.tasks < 1000


def test_draws_of_which_nothing_is_asked_are_not_made():
    asked = []

    def made(block_info=None):
        asked.append(block_info[None]["chunk-location"][0])
        return np.random.default_rng(asked[-1]).normal(size=(1, 50))

    samples = da.map_blocks(made, chunks=((1,) * 6, (50,)), dtype=float)
    row = np.array([[1, -4], [0, 6]])
    pvalues = np.array([[0.1, 0.2], [np.nan, 0.3]])
    asked.clear()
    got = step_down.with_dask(da.from_array(pvalues), samples, da.ones(6), row, POOLS[0], lead=1)
    assert not asked
    got.compute(scheduler="sync")
    assert sorted(asked) == [0, 3, 5]
    asked.clear()
    got[1].compute(scheduler="sync")
    assert asked == [5]
