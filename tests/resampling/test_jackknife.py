"""Jackknife intervals of targets: their limits against the twin, each metric's parts once, and the job."""

import itertools

import jackknife_twin as twin
import numpy as np
import pytest
from helpers import pairwise, same

from xsumstat.analyses.measure import checked_measure
from xsumstat.coefficients import leave_one_out
from xsumstat.resampling import jackknife, jobs
from xsumstat.resampling.jackknife import NAMES, Jackknife

RNG = np.random.default_rng(12)
SHAPE = (6, 5)
Z = np.round(2 * RNG.normal(size=SHAPE)) + RNG.normal(size=(6, 1))
SCORES = np.round(2 * (Z + RNG.normal(size=(3, *SHAPE))))
SCORES[RNG.random(SCORES.shape) < 0.1] = np.nan
Z[RNG.random(SHAPE) < 0.1] = np.nan
SINGLE, PAIRS = ((0,), (1,), (2,)), ((0, 1), (2, 0), (1, 2))
BOTH = ("system", "input")
KEYS = ("estimate", "ci_low", "ci_high", "standard_error", "bias", "df", "fell_back")


def measure(level="input", name="spearman", missing="pairwise"):
    return checked_measure(level, name, missing, "drop")


@pairwise(
    {
        "dims": [BOTH, ("system",), ("input",)],
        "level": ["system", "input", "global"],
        "targets": [SINGLE, PAIRS],
    }
)
def test_numbers_of_targets(targets, level, dims):
    got = jackknife.intervals(SCORES, Z, targets, measure(level), dims, 0.9)
    assert got.shape == (len(NAMES), 3)
    for at, target in enumerate(targets):
        twins = twin.interval if len(target) == 1 else twin.difference
        with np.errstate(all="ignore"):
            want = twins(*(SCORES[metric] for metric in target), Z, "spearman", level, dims, 0.9)
        for name in KEYS:
            assert same(got[NAMES.index(name), at], float(want[name]), 1e-10), (target, name)


def test_values_without_one_label_that_are_undefined_are_counted():
    """Without system 0 the scores of two inputs are constant; of a pair it is the number of the worse metric."""
    z = np.arange(20.0).reshape(5, 4)
    x, y = z[::-1].copy(), 2 * z
    x[:, :2] = 1.0
    x[0, :2] = 2.0
    got = jackknife.intervals(np.array([x, y]), z, ((0,), (1,)), measure(), BOTH, 0.9)
    assert got[NAMES.index("n_undefined")].tolist() == [2, 0]
    for pair in ((0, 1), (1, 0)):
        gap = jackknife.intervals(np.array([x, y]), z, (pair,), measure(), BOTH, 0.9)
        assert gap[NAMES.index("n_undefined")].tolist() == [2]


@pytest.mark.parametrize("missing, level, times", [("pairwise", "input", 6), ("available", "system", 3)])
def test_parts_are_made_once_for_the_same_cells(monkeypatch, missing, level, times):
    made, make = [], leave_one_out.of

    def of(x, z, how):
        made.append(how)
        return make(x, z, how)

    monkeypatch.setattr(leave_one_out, "of", of)
    jackknife.intervals(SCORES, Z, PAIRS, measure(level, missing=missing), BOTH, 0.9)
    assert len(made) == times


def test_a_job_without_resamples_gives_the_same_bits_on_any_number_of_threads(monkeypatch):
    """And of as many targets as fit in memory at a time."""
    targets = SINGLE * 7
    job = Jackknife(targets, measure(), BOTH, 0.9)
    assert job.n_resamples == 0 and job.names == NAMES
    want, turned = (jackknife.intervals(scores, Z, targets, measure(), BOTH, 0.9) for scores in (SCORES, SCORES[::-1]))
    for threads in (1, 3):
        monkeypatch.setenv("XSUMSTAT_NUM_THREADS", str(threads))
        for room in (jobs.BYTES_AT_ONCE, 1):
            monkeypatch.setattr(jobs, "BYTES_AT_ONCE", room)
            got, samples = jobs.on_threads(job, [(SCORES, Z), (SCORES[::-1], Z)])
            np.testing.assert_array_equal(got, np.concatenate([want, turned], axis=1))
            assert samples is None


def test_pairs_give_the_same_bits_however_many_metrics_share_memory(monkeypatch):
    """Parts are made anew where few are kept; metrics have gaps of their own."""
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(7, 6, 9))
    scores[2, 1, 3] = scores[5, 4, 4] = np.nan
    z = scores.mean(axis=0, where=~np.isnan(scores)) + rng.normal(size=(6, 9))
    pairs = tuple(itertools.combinations(range(7), 2))
    for dims in (BOTH, ("input",)):
        want = jackknife.intervals(scores, z, pairs, measure(), dims, 0.9)
        with monkeypatch.context() as patch:
            patch.setattr(jobs, "BYTES_AT_ONCE", 2 * 48 * 6 * 9)  # four metrics
            tiled = jackknife.tiled(pairs, (6, 9))
            assert tiled != pairs and sorted(tiled) == list(pairs)
            job = Jackknife(tiled, measure(), dims, 0.9)
            assert all(len({each for pair in tiled[at] for each in pair}) <= 4 for at in job.batches(scores, z))
            got, _ = jobs.on_threads(job, [(scores, z)])
        np.testing.assert_array_equal(got, want[:, [pairs.index(pair) for pair in tiled]])
