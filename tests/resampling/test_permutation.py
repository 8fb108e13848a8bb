"""Tests of pairs of metrics by swaps: differences, counts and p-values against loops and all swaps there are."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import reference
from helpers import LEVELS, NAMES, rows, same, unpacked

from xsumstat.coefficients import table
from xsumstat.coefficients.record import Measure
from xsumstat.resampling import draws, jobs
from xsumstat.resampling.permutation import PairTests
from xsumstat.resampling.plans import SwapPlan

RNG = np.random.default_rng(21)
BOTH = ("system", "input")
X, Y, Z = np.round(2 * RNG.normal(size=(3, 6, 5)) + 2 * RNG.normal(size=(1, 6, 5)))


def counted(scores, z, plan, level="input", name="kendall", keep=False):
    """The job of all pairs, what it made ready, its counts and its samples."""
    pairs = tuple(itertools.combinations(range(len(scores)), 2))
    job = PairTests(pairs, plan, "greater", Measure(table.get(name), level), keep)
    made = job.ready(slice(0, len(pairs)), scores, z)
    return job, made, *jobs.over_blocks(job, made)


def pvalue(job, made, counts, samples, alternative):
    """The p-value of the first pair."""
    return replace(job, alternative=alternative).finish(made, counts, samples)[1][0]


def permute(dims, n_resamples=300, seed=5, level="input", name="kendall", crossed=False):
    plan = SwapPlan.of(X.shape, dims, crossed, n_resamples, seed)
    return plan, *counted(np.array([X, Y]), Z, plan, level, name, keep=True)[1:]


@pytest.mark.parametrize(
    "dims, crossed",
    [(("system",), False), (("input",), False), (("system", "input"), False), (("system", "input"), True)],
)
@pytest.mark.parametrize("level", LEVELS)
def test_permutation_equals_a_loop_on_the_same_swaps(dims, crossed, level):
    plan, _, _, samples = permute(dims, crossed=crossed, level=level, n_resamples=1200)
    blocks = range(draws.n_blocks(plan.n_resamples))
    drawn = np.concatenate([unpacked(plan.block(block), 5) for block in blocks])
    assert drawn.shape == (plan.n_resamples, 6, 5)
    for s in [s for s in (0, 1, 30, 1023, 1024, 1199) if s < plan.n_resamples]:
        want = reference.difference("kendall", rows(X), rows(Y), rows(Z), drawn[s].tolist(), level)
        assert same(samples[0, s], want)


def exact_pvalues(x, y, z, units, spread, level, name):
    """p-values "greater", "less" and "two-sided" from every swap there is."""
    observed = reference.difference(name, x, y, z, spread([0] * units), level)
    found = [
        reference.difference(name, x, y, z, spread(sign_bits), level)
        for sign_bits in itertools.product((0, 1), repeat=units)
    ]
    found = [d for d in found if not np.isnan(d)]
    return [
        sum(d >= observed - 1e-12 for d in found) / len(found),
        sum(d <= observed + 1e-12 for d in found) / len(found),
        sum(abs(d) >= abs(observed) - 1e-12 for d in found) / len(found),
    ]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_exact_p_values_count_every_swap(level, name):
    x, y, z = X[:4, :3], Y[:4, :3], Z[:4, :3]
    cases = {
        (("system",), False): (4, lambda c: [[a] * 3 for a in c]),
        (("input",), False): (3, lambda c: [list(c)] * 4),
        (("system", "input"), True): (7, lambda c: [[a ^ b for b in c[4:]] for a in c[:4]]),
    }
    for (dims, crossed), (units, spread) in cases.items():
        want = exact_pvalues(rows(x), rows(y), rows(z), units, spread, level, name)
        plan = SwapPlan.of((4, 3), dims, crossed, 200, 0)
        assert plan.exact and plan.n_resamples == 2**units
        found = counted(np.array([x, y]), z, plan, level, name)
        for alternative, p in zip(("greater", "less", "two-sided"), want, strict=True):
            assert pvalue(*found, alternative) == pytest.approx(p, abs=1e-12), (dims, alternative)


@pytest.mark.slow
def test_sampled_p_values_agree_with_the_exact_ones():
    x, y, z = X[:4, :3], Y[:4, :3], Z[:4, :3]

    def spread(sign_bits):
        return [list(sign_bits[3 * i : 3 * i + 3]) for i in range(4)]

    want = exact_pvalues(rows(x), rows(y), rows(z), 12, spread, "input", "kendall")
    plan = SwapPlan.of((4, 3), ("system", "input"), False, 4095, 0)
    assert not plan.exact
    found = counted(np.array([x, y]), z, plan)
    for alternative, p in zip(("greater", "less", "two-sided"), want, strict=True):
        assert pvalue(*found, alternative) == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 4095) + 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("dims, crossed", [(BOTH, False), (("system",), False), (("input",), False), (BOTH, True)])
@pytest.mark.parametrize("level, name", [("system", "pearson"), ("input", "kendall")])
def test_the_test_keeps_its_level_where_the_metrics_are_exchangeable(level, name, dims, crossed):
    """Both metrics are gold plus noise of one kind: 1,000 trials at .05 reject 5 % of the time, give or take 3.5 sd."""
    rng = np.random.default_rng(53)
    trials, rejected = 1000, 0
    for trial in range(trials):
        z = rng.normal(size=(8, 1)) + rng.normal(size=(8, 10))
        plan = SwapPlan.of(z.shape, dims, crossed, 199, trial)
        found = counted(z + 1.5 * rng.normal(size=(2, 8, 10)), z, plan, level, name)
        rejected += pvalue(*found, "greater") <= 0.05
    spread = 3.5 * np.sqrt(0.05 * 0.95 / trials)
    assert rejected / trials <= 0.05 + spread
    if level == "input":  # a statistic of many values is not conservative either
        assert rejected / trials >= 0.05 - spread


@pytest.mark.parametrize("threads", ["1", "2", "4"])
def test_threads_do_not_change_a_bit(monkeypatch, threads):
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", "1")
    _, _, counts, samples = permute(BOTH, 3000)
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", threads)
    _, _, again, of_samples = permute(BOTH, 3000)
    assert of_samples.tobytes() == samples.tobytes()
    np.testing.assert_array_equal(again, counts)


def test_a_longer_run_begins_with_the_shorter_one():
    long, short = permute(BOTH, 700)[3], permute(BOTH, 300)[3]
    assert long[:, :300].tobytes() == short.tobytes()


def test_counts_are_those_of_the_samples():
    _, made, counts, samples = permute(BOTH, 500)
    samples, d = samples[0], made.observed[0]
    want = [samples >= d - 1e-12, samples <= d + 1e-12, abs(samples) >= abs(d) - 1e-12, np.isnan(samples)]
    assert counts[:, 0].tolist() == [each.sum() for each in want]
