"""Bootstrap-t intervals: against loops that draw systems and leave one out, and in scores whose truth is known."""

from dataclasses import replace

import jackknife_twin
import numpy as np
import pytest
import reference
from helpers import rows, same

from xsumstat.coefficients import table
from xsumstat.coefficients.record import Measure
from xsumstat.resampling import draws, jackknife, jobs, studentized
from xsumstat.resampling.bootstrap import BootstrapInterval
from xsumstat.resampling.studentized import Studentized

RNG = np.random.default_rng(21)
BOTH = ("system", "input")
Z = RNG.normal(size=(7, 5))
SCORES = Z + RNG.normal(size=(3, 7, 5))
TIED = np.round(2 * SCORES)
TIED[RNG.random(SCORES.shape) < 0.1] = np.nan
SINGLE, PAIRS = ((0,), (1,), (2,)), ((0, 1), (2, 0))
PLACES = {name: at for at, name in enumerate(Studentized.names)}


def measure(name="kendall"):
    return Measure(table.get(name), "input")


def interval(dims=BOTH, n_resamples=60, seed=3, confidence_level=0.9):
    return BootstrapInterval("studentized", dims, n_resamples, seed, confidence_level)


def correlation(target, name, scores, z, often):
    """Of the systems that were drawn, each so often: one metric's, or the difference of two on the cells of both."""
    x = [scores[metric] for metric in target]
    x = [np.where(np.isnan(sum(x)), np.nan, each) for each in x]
    once = [1] * z.shape[1]
    gold = reference.drawn(rows(z), often, once)
    r = [reference.correlation(name, reference.drawn(rows(each), often, once), gold, "input") for each in x]
    return r[0] - r[1] if len(r) == 2 else r[0]


def twin(target, name, scores, z, dims, n_resamples, seed, confidence_level):
    """Each draw's estimate over the spread of what it is without each copy that was drawn, one by one."""
    n = len(z)
    estimate = correlation(target, name, scores, z, [1] * n)
    samples, ratios = [], []
    for often in draws.counts(seed, "system", n, 0, n_resamples):
        samples.append(correlation(target, name, scores, z, often))
        without = []
        for copy in np.repeat(np.arange(n), often):
            fewer = often.copy()
            fewer[copy] -= 1
            without.append(correlation(target, name, scores, z, fewer))
        without = np.array(without)[~np.isnan(without)]
        error = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()) if len(without) else np.nan
        if not np.isnan(samples[-1]) and error > 1e-12:
            ratios.append((samples[-1] - estimate) / error)
    ask = jackknife_twin.interval if len(target) == 1 else jackknife_twin.difference
    error = ask(*(scores[at] for at in target), z, name, "input", resample=dims)["standard_error"]
    low, high = np.percentile(ratios, [50 - 50 * confidence_level, 50 + 50 * confidence_level])
    bound = len(target)
    limits = max(-bound, estimate - high * error), min(bound, estimate - low * error)
    return estimate, *limits, error, n_resamples - len(ratios), np.nanmean(samples) - estimate, 0.0


@pytest.mark.parametrize(
    "name, scores, targets, dims",
    [
        ("pearson", SCORES, SINGLE, ("system",)),
        ("spearman", SCORES, PAIRS[:1], BOTH),
        ("kendall", TIED, SINGLE, ("input", "system")),
        ("kendall", TIED, PAIRS, ("system",)),
    ],
)
def test_numbers_are_the_twins(name, scores, targets, dims):
    got = studentized.intervals(scores, Z, targets, measure(name), interval(dims, 25))
    in_order = tuple(dim for dim in BOTH if dim in dims)
    for at, target in enumerate(targets):
        assert same(got[:, at], twin(target, name, scores, Z, in_order, 25, 3, 0.9), 1e-9)


def test_limits_stop_at_the_bounds():
    near = Z + 0.01 * np.random.default_rng(1).normal(size=Z.shape) + 0.2 * SCORES[0] ** 3
    got = studentized.intervals(near[None], Z, ((0,),), measure("pearson"), interval(BOTH, 25, confidence_level=0.999))
    want = twin((0,), "pearson", near[None], Z, BOTH, 25, 3, 0.999)
    assert same(got[:, 0], want, 1e-9) and got[PLACES["ci_high"], 0] == 1.0


def test_limits_of_a_difference_stop_where_both_metrics_are_perfect():
    """One metric near the gold, and one near its opposite: the difference may exceed 1, and is at most 2."""
    near, far = Z + 0.3 * SCORES[0], 0.3 * SCORES[1] - Z
    scores = np.array([near, far])
    got = studentized.intervals(scores, Z, ((0, 1), (1, 0)), measure("pearson"), interval(BOTH, 25))
    for at, target in enumerate(((0, 1), (1, 0))):
        assert same(got[:, at], twin(target, "pearson", scores, Z, BOTH, 25, 3, 0.9), 1e-9)
    assert got[PLACES["ci_high"], 0] > 1 and got[PLACES["ci_low"], 1] < -1


def test_where_nothing_varies_the_jackknife_stands_in():
    """A metric that is the gold, a difference of a metric and its double, and one of which only a metric varies."""
    alike = np.array([Z, SCORES[0], 2 * SCORES[0]])
    for targets, none_varies in ((((0,),), True), (((1, 2),), True), (((0, 1),), False)):
        got = dict(zip(PLACES, studentized.intervals(alike, Z, targets, measure(), interval())[:, 0], strict=True))
        want = jackknife.intervals(alike, Z, targets, measure(), BOTH, 0.9)
        assert (got["ci_low"], got["ci_high"]) == (want[1, 0], want[2, 0])
        assert got["fell_back"] == 1.0 and (got["n_undefined"] == 60) == none_varies


def test_fewer_than_four_systems_have_none():
    got = studentized.intervals(SCORES[:, :3], Z[:3], SINGLE, measure(), interval())
    assert not np.isnan(got[PLACES["estimate"]]).any()
    assert np.isnan(got[[PLACES[name] for name in ("ci_low", "ci_high", "standard_error")]]).all()
    assert not got[PLACES["fell_back"]].any()


def test_a_constant_metric_is_undefined():
    got = studentized.intervals(np.ones((1, 7, 5)), Z, ((0,),), measure(), interval())
    numbers = dict(zip(PLACES, got[:, 0], strict=True))
    assert np.isnan([numbers[name] for name in ("estimate", "ci_low", "ci_high", "bias")]).all()
    assert numbers["n_undefined"] == 60 and not numbers["fell_back"]


@pytest.mark.parametrize(
    "name, scores, targets", [("pearson", SCORES, PAIRS), ("spearman", SCORES, SINGLE), ("kendall", TIED, PAIRS)]
)
def test_neither_threads_nor_pieces_nor_targets_at_once_change_a_bit(monkeypatch, name, scores, targets):
    job = Studentized(targets, measure(name), interval(n_resamples=1300))
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", "1")
    numbers, kept = jobs.on_threads(job, [(scores, Z)], keep_samples=True)
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", "3")
    monkeypatch.setattr(studentized, "_COUNTS", 500)
    monkeypatch.setattr("xsumstat.resampling.threads._PATIENCE", 1e4)
    monkeypatch.setattr(jobs, "BYTES_AT_ONCE", 1)
    again, others = jobs.on_threads(job, [(scores, Z)], keep_samples=True)
    assert numbers.tobytes() == again.tobytes() and kept.tobytes() == others.tobytes()
    serial = studentized.intervals(scores, Z, targets, measure(name), interval(n_resamples=1300))
    assert numbers.tobytes() == serial.tobytes()


def test_a_longer_run_begins_with_the_shorter_one():
    long, short = (
        jobs.on_threads(Studentized(SINGLE, measure(), interval(n_resamples=n)), [(SCORES, Z)], keep_samples=True)[1]
        for n in (1100, 300)
    )
    assert long[:, :300].tobytes() == short.tobytes()


@pytest.mark.parametrize("patience, draws_at_once, most", [(1e9, 3, 3 * 7), (300 * 7 * 4, 100, 4)])
def test_few_draws_without_one_system_are_held_at_a_time(monkeypatch, patience, draws_at_once, most):
    """Those of a few draws, and of these as many as take a moment."""
    made = Studentized(SINGLE, measure("pearson"), interval()).ready(slice(None), SCORES, Z).estimates
    seen = []

    class Watched:
        cost = 1.0

        def bootstrap(self, systems, inputs):
            seen.append(len(systems))
            return np.zeros(len(systems))

    monkeypatch.setattr(studentized, "_COUNTS", draws_at_once * 7**2)
    monkeypatch.setattr("xsumstat.resampling.threads._PATIENCE", patience)
    watched = replace(made, estimators=(Watched(),) * 3)
    often = draws.counts(3, "system", 7, 0, 60)
    studentized.standard_errors(watched, often, np.empty((3, 60)))
    assert sum(seen) == 3 * (often > 0).sum() and most / 2 < max(seen) <= most


@pytest.mark.slow
def test_it_covers_where_systems_lie_far_out_and_so_does_the_jackknife():
    """Eight systems, of which some lie far out: r is that of the effects, .6 for all.

    The jackknife covered less than .89 here while its centre was clipped to 1.
    """
    rng = np.random.default_rng(8)
    held = np.zeros((400, 2))
    how = interval(n_resamples=299, confidence_level=0.95)
    for trial in held:
        far = np.where(rng.random((8, 1)) < 0.08, 4.0, 1.0)
        pairs = [rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size) for size in ((8, 1), (1, 40), (8, 40))]
        x, z = (far * pairs[0][..., at] + pairs[1][..., at] + 0.4 * pairs[2][..., at] for at in (0, 1))
        found = jackknife.intervals(x[None], z, ((0,),), measure("pearson"), BOTH, 0.95)[1:3, 0]
        trial[0] = found[0] <= 0.6 <= found[1]
        found = studentized.intervals(x[None], z, ((0,),), measure("pearson"), how)[1:3, 0]
        trial[1] = found[0] <= 0.6 <= found[1]
    assert 0.91 < held[:, 0].mean() < 0.97 and 0.91 < held[:, 1].mean() < 0.98
