"""Estimates of targets, and what is made of their bootstrap: from matrices written out and plain Python."""

import itertools

import numpy as np
import pytest
import reference
from helpers import LEVELS, pairwise, rows, same

from xsumstat.coefficients import table
from xsumstat.coefficients.record import Measure
from xsumstat.inference.intervals import (
    bca_interval,
    bootstrap_interval,
    corrected_interval,
    fisher_interval,
)
from xsumstat.resampling import bootstrap, draws, jobs
from xsumstat.resampling.bootstrap import Bootstrap, BootstrapInterval, Estimates

RNG = np.random.default_rng(12)
SCORES = np.round(2 * RNG.normal(size=(3, 6, 4)) + 2 * RNG.normal(size=(6, 4)))
Z = np.round(2 * RNG.normal(size=(6, 4)) + SCORES[0])
SCORES[RNG.random(SCORES.shape) < 0.15] = np.nan
Z[RNG.random(Z.shape) < 0.15] = np.nan
SINGLE, PAIRS = ((0,), (1,), (2,)), ((0, 1), (2, 0), (1, 2))


def measure(level="input", name="kendall", missing="pairwise"):
    return Measure(table.get(name), level, missing)


def both(one, two):
    return np.where(np.isnan(two), np.nan, one)


def twin(target, z, level, missing="pairwise", scores=SCORES):
    """The correlation of one metric, or the difference of two on the cells that both have.

    Of all cells that each has under missing="available", which is of system means alone.
    """
    x = [scores[metric] for metric in target]
    if len(x) == 2 and (missing == "pairwise" or level != "system"):
        x = [both(x[0], x[1]), both(x[1], x[0])]
    r = [reference.correlation("kendall", rows(each), rows(z), level, missing) for each in x]
    return r[0] - r[1] if len(r) == 2 else r[0]


@pairwise(
    {
        "missing": ["pairwise", "available"],
        "level": LEVELS,
        "targets": [SINGLE, PAIRS],
    }
)
def test_values(targets, level, missing):
    made = Estimates.of(SCORES, Z, targets, measure(level, missing=missing), ("system", "input"))
    assert same(made.values, [twin(each, Z, level, missing) for each in targets])
    assert made.shape == (6, 4) and made.layers == ()


def test_each_correlation_is_made_once():
    full, z = np.nan_to_num(SCORES), np.nan_to_num(Z)
    assert len(Estimates.of(full, z, PAIRS, measure(), ("system",)).estimators) == 3
    assert len(Estimates.of(SCORES, Z, PAIRS, measure(), ("system",)).estimators) == 6  # other cells for each pair
    assert len(Estimates.of(SCORES, Z, PAIRS, measure("system", missing="available"), ("system",)).estimators) == 3


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("targets", [SINGLE, PAIRS])
def test_values_without_each_label_in_turn(targets, level):
    made = Estimates.of(SCORES, Z, targets, measure(level), ("system", "input"))
    without_system, without_input = made.leave_one_out(("system", "input"))
    for at, target in enumerate(targets):
        for i in range(6):
            want = twin(target, np.delete(Z, i, 0), level, scores=np.delete(SCORES, i, 1))
            assert same(without_system[at, i], want)
        for j in range(4):
            want = twin(target, np.delete(Z, j, 1), level, scores=np.delete(SCORES, j, 2))
            assert same(without_input[at, j], want)
    assert [each.shape for each in made.leave_one_out(("input",))] == [(3, 4)]
    assert [each.shape for each in made.leave_one_out(("system",))] == [(3, 6)]


def test_more_labels_than_are_left_out_at_a_time(monkeypatch):
    made = Estimates.of(SCORES, Z, SINGLE, measure(), ("system",))
    whole = made.leave_one_out(("system",))[0]
    monkeypatch.setattr("xsumstat.coefficients.leave_one_out._AT_ONCE", 4)
    np.testing.assert_array_equal(made.leave_one_out(("system",))[0], whole)


def test_cells_become_systems():
    """Of the cells with gold and with some metric's score; each is drawn by itself."""
    z = Z.copy()
    scores = SCORES.copy()
    z[0, 0], scores[:, 1, 1] = np.nan, np.nan
    made = Estimates.of(scores, z, SINGLE, measure("global"), ("cell",))
    there = ~np.isnan(z) & ~np.isnan(scores).all(axis=0)
    assert made.shape == (there.sum(), 1)
    assert same(made.values, [twin(each, z, "global", scores=scores) for each in SINGLE])
    left_out = made.leave_one_out(("cell",))[0]
    for place, (i, j) in enumerate(np.argwhere(there)):
        less = z.copy()
        less[i, j] = np.nan
        assert same(left_out[:, place], [twin(each, less, "global", scores=scores) for each in SINGLE])


def layered():
    """Three references, four raters; a reference, and all, are missing somewhere."""
    rng = np.random.default_rng(5)
    scores = np.round(rng.normal(size=(2, 3, 6, 4)), 1)
    scores[0, 1, 2], scores[0, :, 3, 3], scores[1, :, 1, 2] = np.nan, np.nan, np.nan
    return scores, np.round(2 * rng.normal(size=(4, 6, 4)))


@pytest.mark.parametrize("missing", ["pairwise", "available"])
def test_layers_are_made_one_on_the_cells_that_both_metrics_have(missing):
    scores, z = layered()
    dims = ("system", "reference", "rater")
    best = np.array([[[np.nanmax([*cell, -99]) for cell in row] for row in np.moveaxis(x, 0, -1)] for x in scores])
    best[best == -99] = np.nan
    for targets in (((0,), (1,)), ((0, 1),)):
        made = Estimates.of(scores, z, targets, measure("system", missing=missing), dims, "max")
        assert made.shape == (6, 4) and made.layers == (3, 4)
        want = [twin(each, z.mean(axis=0), "system", missing, best) for each in targets]
        assert same(made.values, want)
    one = Estimates.of(scores[:, 0], z, ((0,),), measure("system"), ("rater",))
    assert one.layers == (1, 4)
    assert same(one.values, twin((0,), z.mean(axis=0), "system", scores=scores[:, 0]))
    assert Estimates.of(scores, z[0], ((0,),), measure("system"), ("reference",)).layers == (3, 1)


def test_plans():
    """A corrected interval sets draws of both dims, which give the samples, against draws of each."""
    both_dims = ("system", "input")
    how = BootstrapInterval("corrected", both_dims, 50, 7, 0.9)
    assert [each.dims for each in how.plans((6, 4))] == [both_dims, ("system",), ("input",)]
    assert [each.dims for each in BootstrapInterval("basic", both_dims, 50, 7, 0.9).plans((6, 4))] == [both_dims]
    first = how.plans((6, 4), (3,))[0]
    assert (first.shape, first.n_resamples, first.seed, first.layers) == ((6, 4), 50, 7, (3,))


@pytest.mark.parametrize("name", ["percentile", "basic", "normal", "bca", "corrected"])
def test_summaries_are_of_the_targets_own_samples(name):
    dims = ("system", "input")
    how = BootstrapInterval(name, dims, 64, 3, 0.9)
    made = Estimates.of(SCORES, Z, PAIRS, measure(), dims)
    rng = np.random.default_rng(1)
    samples = [rng.normal(0.3, 0.2, (len(made.estimators), 64)) for _ in how.plans(made.shape)]
    samples[0][0, :5] = np.nan
    told = how.summarised(made, samples)
    assert told.shape == (len(how.names), 3) == (7 if name in ("bca", "corrected") else 6, 3)
    left_out = made.leave_one_out(dims)
    for at in range(3):
        first, second = made.places[at]
        by_plan = [each[first] - each[second] for each in samples]
        estimate = twin(PAIRS[at], Z, "input")
        if name == "bca":
            want = bca_interval(estimate, by_plan[0], [each[at] for each in left_out], 0.9)
        elif name == "corrected":
            want = corrected_interval(estimate, *by_plan, confidence_level=0.9)
        else:
            want = bootstrap_interval(estimate, by_plan[0], name, 0.9)
        bias = np.nanmean(by_plan[0]) - estimate
        assert same(told[:, at], [estimate, *want[:3], np.isnan(by_plan[0]).sum(), bias, *want[3:]], 1e-9)
    assert told[4].sum() > 0


@pytest.mark.parametrize("at_once", [1, 10**9])
def test_targets_come_in_groups_and_labels_in_turn(monkeypatch, at_once):
    """Every sample is the twin's on the drawn labels, however few targets are looked at together."""
    monkeypatch.setattr(jobs, "BYTES_AT_ONCE", at_once)
    found = []

    class Seen(Bootstrap):
        def finish(self, ready, counts, samples):
            found.append((ready, np.split(samples.copy(), 3)))  # a third of the rows for each plan
            return super().finish(ready, counts, samples)

    how = BootstrapInterval("corrected", ("system", "input"), 12, 3, 0.9)
    labels = [(SCORES, Z), (SCORES[::-1].copy(), Z)]
    job = Seen(SINGLE, measure(), how)
    numbers, kept = jobs.on_threads(job, labels, keep_samples=True)
    assert numbers.shape == (7, 6) and kept.shape == (6, 12)
    assert len(found) == (6 if at_once == 1 else 2)
    w, v = draws.counts(3, "system", 6, 0, 12), draws.counts(3, "input", 4, 0, 12)
    ones = np.ones_like(w), np.ones_like(v)
    for plan, counts in enumerate(((w, v), (w, ones[1]), (ones[0], v))):
        got = np.concatenate([made.of_targets(samples[plan]) for made, samples in found])
        assert plan > 0 or got.tobytes() == kept.tobytes()
        for at, x in enumerate([*SCORES, *SCORES[::-1]]):
            for s in range(12):
                drawn = [reference.drawn(rows(each), counts[0][s], counts[1][s]) for each in (x, Z)]
                assert same(got[at, s], reference.correlation("kendall", *drawn, "input"))


@pytest.mark.parametrize("level", LEVELS)
def test_fisher_counts_what_is_there(level):
    """n is the systems, inputs or cells with both scores; of groups, those of the largest."""
    x, z = SCORES[1].copy(), Z.copy()
    x[:, 0], z[2] = np.nan, np.nan
    z[4, [1, 2]] = np.nan
    there = ~(np.isnan(x) | np.isnan(z))
    n = {
        "system": there.any(axis=1).sum(),
        "input": there.sum(axis=0).max(),
        "global": there.sum(),
        "within_system": there.sum(axis=1).max(),
    }[level]
    assert n < {"system": 6, "input": 6, "global": 24, "within_system": 4}[level]
    got = bootstrap.fisher(x, z, measure(level, "pearson"), 0.95)
    r = reference.correlation("pearson", rows(x), rows(z), level)
    want = fisher_interval(r, n, table.get("pearson"), 0.95)
    assert same(got, (r, *want))


@pytest.mark.parametrize("missing, n", [("pairwise", 4), ("available", 5)])
def test_fisher_counts_systems_as_the_rule_for_missing_scores_has_it(missing, n):
    """The metric and the raters saw the first system on different inputs, and nobody rated the last."""
    x, z = np.nan_to_num(SCORES[1]), np.nan_to_num(Z)
    x[0, :2], z[0, 2:], z[5] = np.nan, np.nan, np.nan
    r, *limits = bootstrap.fisher(x, z, measure("system", "pearson", missing), 0.9)
    assert same(r, reference.correlation("pearson", rows(x), rows(z), "system", missing))
    assert same(limits, fisher_interval(r, n, table.get("pearson"), 0.9))


# --- The draws ---

X, Y, FULL = np.round(2 * RNG.normal(size=(3, 6, 5)) + 2 * RNG.normal(size=(1, 6, 5)))


def drawn(scores, z, dims, n_resamples=1200, seed=5, level="input"):
    """The samples of every metric."""
    targets = tuple((at,) for at in range(len(scores)))
    job = Bootstrap(targets, measure(level), BootstrapInterval("percentile", dims, n_resamples, seed, 0.9))
    return jobs.on_threads(job, [(scores, z)], keep_samples=True)[1]


@pytest.mark.parametrize("dims", [("system",), ("input",), ("system", "input")])
@pytest.mark.parametrize("level", LEVELS)
def test_bootstrap_equals_a_loop_on_the_same_draws(dims, level):
    samples = drawn(np.array([X, Y]), FULL, dims, level=level)
    for s in (0, 1, 1023, 1024, 1199):
        block, row = divmod(s, draws.BLOCK)
        i = draws.counts(5, "system", 6, block)[row] if "system" in dims else [1] * 6
        j = draws.counts(5, "input", 5, block)[row] if "input" in dims else [1] * 5
        for got, x in zip(samples[:, s], (X, Y), strict=True):
            want = reference.correlation(
                "kendall", reference.drawn(rows(x), i, j), reference.drawn(rows(FULL), i, j), level
            )
            assert same(got, want)


def exact_bootstrap(x, z, dims, level, name):
    """Every draw there is, each as likely as the next."""
    n, m = len(x), len(x[0])
    choices_i = list(itertools.product(range(n), repeat=n)) if "system" in dims else [tuple(range(n))]
    choices_j = list(itertools.product(range(m), repeat=m)) if "input" in dims else [tuple(range(m))]
    return np.array(
        [
            reference.correlation(name, [[x[a][b] for b in j] for a in i], [[z[a][b] for b in j] for a in i], level)
            for i in choices_i
            for j in choices_j
        ]
    )


@pytest.mark.parametrize("dims", [("system",), ("input",), ("system", "input")])
@pytest.mark.parametrize("level", ["system", "input"])
def test_bootstrap_samples_the_exact_distribution(dims, level):
    x, z = rows(X[:4, :2]), rows(FULL[:4, :2])
    exact = exact_bootstrap(x, z, dims, level, "kendall")
    samples = drawn(np.array([X[:4, :2]]), FULL[:4, :2], dims, 20_000, 1, level)[0]
    share = np.isnan(exact).mean()
    assert np.isnan(samples).mean() == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 20_000) + 1e-12)
    exact, samples = exact[~np.isnan(exact)], samples[~np.isnan(samples)]
    for point in np.unique(exact.round(10)):  # the distribution functions agree everywhere
        want = (exact <= point + 1e-9).mean()
        spread = np.sqrt(want * (1 - want) / len(samples))
        assert (samples <= point + 1e-9).mean() == pytest.approx(want, abs=5 * spread + 1e-12)


@pytest.mark.parametrize("threads", ["1", "2", "4"])
def test_threads_do_not_change_a_bit(monkeypatch, threads):
    both_dims = ("system", "input")
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", "1")
    samples = drawn(np.array([X, Y]), FULL, both_dims, 3000)
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", threads)
    assert drawn(np.array([X, Y]), FULL, both_dims, 3000).tobytes() == samples.tobytes()


def test_a_longer_run_begins_with_the_shorter_one():
    for dims in (("system",), ("input",), ("system", "input")):
        long, short = (drawn(np.array([X, Y]), FULL, dims, n) for n in (700, 300))
        assert long[:, :300].tobytes() == short.tobytes()
