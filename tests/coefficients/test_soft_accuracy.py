"""Soft pairwise accuracy and its swaps: steps of grades, gaps, few and many inputs."""

import itertools
import math

import numpy as np
import pytest
import reference
from helpers import rows, same

from xsumstat.coefficients import soft_accuracy, table
from xsumstat.coefficients.arrays import in_steps, packed, step_of, whole_step
from xsumstat.coefficients.record import Measure
from xsumstat.coefficients.soft_accuracy import Scores, SoftAccuracy, SoftSwaps

SPA = table.get("spa")
SPA_MEASURE = Measure(SPA)


@pytest.mark.parametrize(
    "values, step",
    [
        ([1.0, 2.0, 4.0], 1.0),
        ([0.0, 2.0, 5.0], 1.0),  # smaller than any difference of neighbours
        ([3.0, 9.0, 15.0], 6.0),
        ([0.1, 0.2, 0.3, 0.7], 0.1),
        ([1 / 3, 2 / 3, 4 / 3], 1 / 3),
        ([10.0, 16.0, 26.0, 35.0], 1.0),
        ([0.0, 6.0, 10.0, 25.0], 1.0),
        ([-1.5, 1.0, 3.5], 2.5),
        ([2.0, 2.0], 0.0),
        ([np.nan, np.nan], 0.0),
        ([0.0, 1.0, math.sqrt(2)], 0.0),
        ([0.0, 1.0, 1001.0], 0.0),
    ],
)
def test_step_of_grades(values, step):
    assert step_of(np.array([[*values, np.nan]])) == pytest.approx(step, rel=1e-9)


def test_continuous_scores_have_no_step():
    assert step_of(np.random.default_rng(0).normal(size=(9, 40))) == 0.0
    assert step_of(np.arange(1002.0)[None]) == 0.0 and step_of(np.arange(1000.0)[None]) == 1.0


@pytest.mark.parametrize("far", [0.0, 1e3, -1e6, 1e9])
def test_grades_are_counted_in_whole_steps_however_far_from_0(far):
    values = far + np.array([[0.1, 0.2, np.nan], [0.3, 0.7, 0.1]])
    steps, step = in_steps(values)
    assert step == 1.0 and whole_step(values) == pytest.approx(0.1, rel=1e-6)
    np.testing.assert_array_equal(steps, [[0, 1, np.nan], [2, 6, 0]])


@pytest.mark.parametrize("values", [[1 / 3, 0.6667, 1.0], [0.0, 1.0, math.sqrt(2)], [1e16, 1e16 + 2, 1e16 + 6]])
def test_scores_that_are_not_quite_in_steps_stay_as_they_are(values):
    assert whole_step(np.array([values])) == 0.0
    np.testing.assert_array_equal(in_steps(np.array([values]))[0], [values])


def grades(seed, inputs, gaps=False):
    """Two metrics and a gold, all in grades, the gold's two apart."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, (5, inputs)).astype(float)
    x, y = np.round(z + rng.normal(size=(2, *z.shape)), 1)
    if gaps:
        x[1, 3:7] = y[2, 0] = x[4, 1] = np.nan
        z[0, 2] = z[1, 5:8] = z[3, ::2] = np.nan
    return x, y, 2 * z


def exactly(x, z):
    """By the distribution of all sums, of scores that are multiples of .1; no gaps but common ones."""
    apart = []
    for i, j in itertools.permutations(range(len(x)), 2):
        p = []
        for values in (x, z):
            d = np.rint(10 * (values[i] - values[j])[~np.isnan(values[i] + values[j])]).astype(int)
            chances = np.ones(1)
            for each in np.abs(d):
                chances = (np.pad(chances, (0, 2 * each)) + np.pad(chances, (2 * each, 0))) / 2
            sums = np.arange(len(chances)) * 1 - np.abs(d).sum()
            p.append(chances[sums >= d.sum()].sum())
        apart.append(abs(p[0] - p[1]))
    return 1 - np.mean(apart)


@pytest.mark.parametrize("inputs", [14, 25, 60])
def test_grades_of_both_scores_each_with_its_own_step(inputs):
    """The metric's step is .1, the gold's 2; both are counted in their own."""
    x, _, z = grades(inputs, inputs)
    made = SoftAccuracy.of(x, z, False)
    assert (made.x.step, made.z.step) == (1.0, 1.0)
    assert made.value() == pytest.approx(exactly(x, z), abs=2e-4)
    turned = SoftAccuracy.of(z, x, False)
    assert turned.value() == pytest.approx(exactly(z, x), abs=2e-4)


@pytest.mark.parametrize("inputs", [9, 25])
def test_ties_of_sums_are_the_same_however_far_from_0_grades_lie(inputs):
    """Where scores are rounded, equal sums of differences must still be equal."""
    x, _, z = grades(inputs, inputs)
    want = SoftAccuracy.of(x, z, False).value()
    assert want == pytest.approx(exactly(x, z), abs=2e-4)
    for far in (1e3, -1e5, 1e7):
        assert SoftAccuracy.of(x + far, z - far, False).value() == want


@pytest.mark.parametrize("missing", ["pairwise", "available"])
@pytest.mark.parametrize("inputs, gaps", [(8, True), (20, False), (20, True), (40, True)])
def test_without_a_swap_the_difference_is_that_of_the_two_metrics(inputs, gaps, missing):
    """On the cells that both have, whether all swaps are listed or not; scores off any lattice, gold in grades."""
    x, y, z = grades(3, inputs, gaps)
    rng = np.random.default_rng(5)
    x, y = (each + rng.normal(size=z.shape) for each in (x, y))
    measure = Measure(SPA, "system", missing)
    (test,) = measure.swapped(np.array([x, y]), z, ((0, 1),))
    none = np.zeros((1, *z.shape), dtype=int)
    both = np.isnan(x + y) | (np.isnan(z) if missing == "pairwise" else False)
    x, y = (np.where(both, np.nan, each) for each in (x, y))
    r = [measure.estimator(each, z).value() for each in (x, y)]
    assert r[0] != r[1]
    assert test.differences(packed(none))[0, 0] == pytest.approx(r[0] - r[1], abs=1e-9)
    assert test.differences(packed(1 - none))[0, 0] == pytest.approx(r[1] - r[0], abs=1e-9)


@pytest.mark.parametrize("missing", ["pairwise", "available"])
def test_gaps_of_the_gold_and_of_a_metric_are_each_ones_own(missing):
    """A system without gold, one without the metric, and one that has neither on the same input."""
    rng = np.random.default_rng(7)
    x, y, z = rng.integers(0, 4, (3, 6, 7)).astype(float)
    z[0] = x[1] = np.nan
    z[2, 3:] = x[2, :3] = np.nan
    z[3, :4] = x[4, 5:] = y[3, 6] = np.nan
    measure = Measure(SPA, "system", missing)
    assert same(measure.estimator(x, z).value(), reference.soft_accuracy(rows(x), rows(z), missing))
    (test,) = measure.swapped(np.array([x, y]), z, ((0, 1),))
    swap = rng.integers(0, 2, (5, 6, 7))
    for got, each in zip(test.differences(packed(swap))[0], swap, strict=True):
        want = reference.difference("spa", rows(x), rows(y), rows(z), each.tolist(), "system", missing)
        assert got == pytest.approx(want, abs=1e-9)
    systems = np.array([[0, 1, 2, 1, 1, 1], [1, 1, 0, 2, 0, 2], [2, 2, 2, 0, 0, 0]])
    for got, counts in zip(
        SoftAccuracy.of(x, z, missing == "available").bootstrap(systems, np.ones((1, 7), int)), systems, strict=True
    ):
        drawn = (reference.drawn(rows(each), counts, [1] * 7) for each in (x, z))
        assert same(got, reference.soft_accuracy(*drawn, missing))
    _, n = SoftAccuracy.of(x, z, missing == "available").groups()
    assert n.tolist() == [4.0 if missing == "available" else 3.0]


def test_systems_without_a_drawn_cell():
    there = np.array([[True, False, True], [False, True, False], [True, True, False]])
    values = np.where(there, 1.0, np.nan)
    draws = np.array([[2, 0, 0], [0, 0, 1], [0, 0, 0]])
    assert Scores.of(values, there).seen(draws).tolist() == [[True, False, True], [True, False, False], [False] * 3]
    assert Scores.of(np.ones((2, 3)), np.ones((2, 3), bool)).seen(draws).tolist() == [[True] * 2] * 2 + [[False] * 2]


@pytest.mark.parametrize("missing", ["pairwise", "available"])
@pytest.mark.parametrize("gaps", [False, True])
def test_bootstrap_of_soft_accuracy(gaps, missing):
    rng = np.random.default_rng(5)
    x, z = rng.integers(0, 4, (2, 5, 4)).astype(float)
    if gaps:
        x[0, 1:] = z[1, 0] = z[2, :] = z[3, 2:] = np.nan
    w, v = (
        np.array(each)
        for each in ([[1, 1, 1, 1, 1], [0, 2, 1, 0, 2], [3, 0, 0, 2, 0]], [[1, 1, 1, 1], [0, 2, 1, 1], [1, 0, 3, 0]])
    )
    made = SoftAccuracy.of(x, z, missing == "available")
    for systems, inputs in ((w, v), (w, v[:1]), (w[:1], v)):
        for s, got in enumerate(made.bootstrap(systems, inputs)):
            counts = systems[min(s, len(systems) - 1)], inputs[min(s, len(inputs) - 1)]
            drawn = (reference.drawn(rows(each), *counts) for each in (x, z))
            want = reference.soft_accuracy(*drawn, missing)
            assert same(got, want), (s, got, want)


@pytest.mark.parametrize("gaps", [False, True])
def test_swaps_under_soft_accuracy(gaps):
    """Coins are read by the system's own row, also where one has no scores."""
    rng = np.random.default_rng(6)
    x, y, z = rng.integers(0, 4, (3, 5, 9)).astype(float)
    if gaps:
        x[1] = x[2, :3] = np.nan
    cells = ~np.isnan(x)
    y = np.where(cells, y, np.nan)
    made = SoftSwaps.of((0, 1), x, y, np.where(cells, z, np.nan), cells)
    swap = rng.integers(0, 2, (4, 5, 9))
    for got, each in zip(made.differences(packed(swap))[0], swap, strict=True):
        pair = reference.swapped(rows(x), rows(y), each.tolist())
        first, second = (reference.soft_accuracy(m, rows(z)) for m in pair)
        assert got == pytest.approx(first - second, abs=1e-12)


@pytest.mark.parametrize("inputs", [10, 30])
@pytest.mark.parametrize("gaps", [False, True])
def test_no_resample_sees_those_beside_it(gaps, inputs, monkeypatch):
    """The same bits one by one, in blocks, and where systems are so many that blocks are smaller."""
    x, y, z = grades(2, inputs, gaps)
    rng = np.random.default_rng(9)
    systems, counts = (rng.multinomial(size, np.ones(size) / size, size=70) for size in z.shape)
    bits = packed(rng.integers(0, 2, (70, *z.shape)))
    estimator = SPA_MEASURE.estimator(x, z)
    (swaps,) = SPA_MEASURE.swapped(np.array([x, y]), z, ((0, 1),))
    drawn = np.concatenate([estimator.bootstrap(systems[s : s + 1], counts[s : s + 1]) for s in range(70)])
    swapped = np.concatenate([swaps.differences(bits[s : s + 1])[0] for s in range(70)])
    assert len(set(swapped)) > 10 < len(set(drawn))
    for sums in (2**19, 300):
        monkeypatch.setattr(soft_accuracy, "_SUMS", sums)
        assert estimator.bootstrap(systems, counts).tobytes() == drawn.tobytes()
        assert swaps.differences(bits)[0].tobytes() == swapped.tobytes()


@pytest.mark.parametrize("who", ["x", "z"])
def test_copies_without_a_drawn_score_do_not_count(who):
    """The first system has one score, of an input that is not drawn; the other scores are there."""
    x, z = np.random.default_rng(11).integers(0, 4, (2, 4, 6)).astype(float)
    (x if who == "x" else z)[0, 1:] = np.nan
    counts = np.array([[2, 1, 2, 1]]), np.array([[0, 1, 2, 1, 1, 1]])
    (got,) = SoftAccuracy.of(x, z, True).bootstrap(*counts)
    drawn = [reference.drawn(rows(each), *(of_dim[0] for of_dim in counts)) for each in (x, z)]
    assert same(got, reference.soft_accuracy(*drawn, "available"))
