"""Scores and decisions that trade places under accuracy with ties: groups of few outputs, gaps, common steps."""

import itertools
import math

import numpy as np
import pytest
import reference
from helpers import LEVELS, pairwise, rows, same

from xsumstat.coefficients import table, tie_swaps
from xsumstat.coefficients.arrays import packed, standardised
from xsumstat.coefficients.rank_swaps import Pooled
from xsumstat.coefficients.record import Measure

ACC_EQ = table.get("acc_eq")
RNG = np.random.default_rng(4)
SCORES, Z = RNG.integers(0, 4, (3, 5, 6)).astype(float), RNG.integers(0, 3, (5, 6)).astype(float)
# Groups of five outputs, of three, of one and of none, seen from systems and from inputs.
GONE = np.zeros(Z.shape, bool)
GONE[1:, 2] = GONE[:, 4] = GONE[:2, 5] = GONE[3, 1:] = True
SCORES[:, GONE] = np.nan
SWAPS = np.stack([np.zeros(Z.shape, int), *RNG.integers(0, 2, (4, *Z.shape))])


@pairwise(
    {
        "undefined": ["drop", "zero"],
        "threshold": [None, 0.0],
        "level": LEVELS,
    }
)
def test_swaps_of_scores_with_groups_of_one_output(level, threshold, undefined):
    record = ACC_EQ if threshold is None else ACC_EQ.at(threshold)
    how = {"level": level, "missing": "pairwise", "undefined": undefined}
    measure = Measure(record, **how)
    (test,) = measure.swapped(SCORES[:2], Z, ((0, 1),))
    x, y = (rows(each) for each in SCORES[:2])
    for got, swap in zip(test.differences(packed(SWAPS))[0], SWAPS, strict=True):
        assert same(got, reference.difference("acc_eq", x, y, rows(Z), swap.tolist(), **how, threshold=threshold))
    # No swap: the difference of the two metrics on their common cells; a threshold that is found has no unit.
    alone = [measure.estimator(each, Z).value() for each in SCORES[:2]]
    assert same(test.differences(packed(SWAPS[:1]))[0, 0], alone[0] - alone[1])


def test_swaps_of_scores_move_equal_differences_together():
    """The first of the pairs that are 1 apart gains by a tie, the second loses; so no threshold helps x."""
    x, y, z = (np.array(each, float)[:, None] for each in ([0, 1, 2], [0, 2, 0], [0, 0, 1]))
    for level, (u, v, w) in itertools.product(LEVELS, [(x, y, z), (x.T, y.T, z.T)]):
        if level == ("within_system" if u is x else "input") or level == "system" and u is not x:
            continue
        (test,) = Measure(ACC_EQ, level).swapped(np.array([u, v]), w, ((0, 1),))
        swap = np.stack([np.zeros(w.shape, int), np.ones(w.shape, int)])
        # y: pairs (0, 2) tied in the metric only, (0, 1) in the gold only, (1, 2) against it; all tied is best.
        np.testing.assert_allclose(test.differences(packed(swap))[0], [2 / 3 - 1 / 3, 1 / 3 - 2 / 3], atol=1e-12)


@pytest.mark.parametrize("threshold", [None, 0.0])
@pytest.mark.parametrize("undefined, want", [("drop", math.nan), ("zero", 0.0)])
def test_inputs_of_one_output_each_are_undefined_or_all_0(threshold, undefined, want):
    x, y, z = np.random.default_rng(2).normal(size=(3, 4, 3))
    gone = np.arange(4)[:, None] != np.array([0, 2, 2])
    scores, z = np.where(gone, np.nan, [x, y]), np.where(gone, np.nan, z)
    measure = Measure(ACC_EQ if threshold is None else ACC_EQ.at(threshold), "input", undefined=undefined)
    assert same(measure.estimator(scores[0], z).value(), want)
    (test,) = measure.swapped(scores, z, ((0, 1),))
    assert same(test.differences(packed(np.zeros((1, 4, 3)))), want)
    for by_group in (False, True):
        (test,) = tie_swaps.decisions(scores, z, ((0, 1),), measure, by_group=by_group)
        assert same(test.differences(no_coins(test)), want)


# --- Decisions trade places ---


def no_coins(test):
    """Coins of one resample in which no decision trades place, 8 to the byte."""
    return np.zeros((1, -(-test.right[0].size // 8)), np.uint8)


def shares(x, z, threshold, missing, level):
    """Which pairs of each group are decided as the gold does, and how many outputs each group has."""
    found = []
    for a, b, scale in reference.groups(rows(x), rows(z), level, missing):
        near = 1e-12 * max(1.0, scale or 0.0)
        here = []
        for i, j in itertools.combinations(range(len(a)), 2):
            tie = abs(a[i] - a[j]) <= threshold + near
            here.append((0 if tie else np.sign(a[i] - a[j])) == reference.sign(b[i], b[j], 1.0))
        found.append((here, len(a)))
    return found


@pytest.mark.parametrize("undefined", ["drop", "zero"])
@pytest.mark.parametrize("by_group", [False, True])
@pytest.mark.parametrize("level", ["input", "within_system"])
def test_decisions_of_groups_of_all_sizes(level, by_group, undefined):
    """The difference is the sum of the units, that of what is observed, and each a multiple of the step."""
    measure = Measure(ACC_EQ.at(1.0), level, undefined=undefined)
    pairs = ((0, 1), (2, 1), (0, 2))
    (test,) = tie_swaps.decisions(SCORES, Z, pairs, measure, by_group=by_group)
    for pair, got in zip(pairs, test.differences(no_coins(test))[:, 0], strict=True):
        values = [measure.estimator(SCORES[at], Z).value() for at in pair]
        by_hand = []
        for at in pair:
            found = shares(SCORES[at], Z, 1.0, "pairwise", level)
            kept = [np.mean(here) if here else 0.0 for here, n in found if here or n and undefined == "zero"]
            by_hand.append(np.mean(kept))
        assert got == pytest.approx(values[0] - values[1], abs=1e-12)
        assert got == pytest.approx(by_hand[0] - by_hand[1], abs=1e-12)
        units = test.units(pair)
        assert units.sum() == pytest.approx(got, abs=1e-12)
        multiples = units / test.step
        np.testing.assert_allclose(multiples, np.rint(multiples), atol=1e-9)
    # A decision in a group of n outputs weighs 2/n(n − 1) of its group; one of them is the least unit there is.
    _, sizes = zip(*shares(SCORES[0], Z, 1.0, "pairwise", level), strict=True)
    counted = sum(n > 0 for n in sizes) if undefined == "zero" else sum(n > 1 for n in sizes)
    common = math.lcm(*(n * (n - 1) // 2 * counted for n in sizes if n > 1))
    assert test.step == pytest.approx(1 / common, rel=1e-12)


def test_decisions_on_means_of_all_cells_that_each_score_has():
    """missing="available": the gold's mean runs over its own cells, also where a metric has none."""
    rng = np.random.default_rng(6)
    scores, z = rng.normal(size=(2, 6, 8)), rng.normal(size=(6, 8))
    scores[:, 2, 3:] = scores[0, 4, :2] = np.nan
    z[0, 1:] = z[3, ::2] = np.nan
    z[2, :3] -= 9.0  # where the metrics are
    z[2, 3:] += 9.0
    for missing in ("available", "pairwise"):
        measure = Measure(ACC_EQ.at(0.0), "system", missing)
        (test,) = tie_swaps.decisions(scores, z, ((0, 1),), measure, by_group=False)
        # Both metrics count on the cells that both have.
        both = np.isnan(scores).any(axis=0) | (np.isnan(z) if missing == "pairwise" else False)
        r = [np.mean(shares(np.where(both, np.nan, each), z, 0.0, missing, "system")[0][0]) for each in scores]
        got = test.differences(no_coins(test))[0, 0]
        assert got == pytest.approx(r[0] - r[1], abs=1e-12)


def test_equal_scores_of_both_metrics_are_equal_in_a_pool():
    """A threshold between what rounding parts would be found otherwise: y is x in other units."""
    x = np.random.default_rng(7).integers(0, 4, (6, 5)) / 10
    z = np.random.default_rng(8).integers(0, 3, (6, 5)).astype(float)
    (test,) = Measure(ACC_EQ, "input").swapped(np.array([x, 3.7 * x + 11.3]), z, ((0, 1),))
    swap = np.random.default_rng(9).integers(0, 2, (20, 6, 5))
    np.testing.assert_allclose(test.differences(packed(swap)), 0.0, atol=1e-12)
    pooled = Pooled.of(standardised(x, x > -1), standardised(3.7 * x + 11.3, x > -1))
    assert (pooled.x == pooled.y).all()


def plain(x, z, threshold):
    net = total = 0
    for j in range(z.shape[1]):
        for a, b in itertools.combinations(range(len(z)), 2):
            if abs(z[a, j] - z[b, j]) >= threshold and z[a, j] != z[b, j]:
                total += 1
                net += 1 if np.sign(x[a, j] - x[b, j]) == np.sign(z[a, j] - z[b, j]) else -1
    return net / total


@pytest.mark.parametrize("level", ["input", "global", "within_system"])
def test_the_difference_of_kendall_like_is_that_of_the_two_shares(small, level):
    keywords = {"level": level, "coefficient": "kendall_like", "threshold": 2.0}
    test = small.meta.perm_test("m0", metric="m1", other="m2", n_resamples=9, rng=0, **keywords)
    z, x, y = (small.score.sel(metric=name).values for name in ("m0", "m1", "m2"))
    shaped = {"input": lambda v: v, "global": lambda v: v.reshape(-1, 1), "within_system": lambda v: v.T}[level]
    want = plain(shaped(x), shaped(z), 2.0) - plain(shaped(y), shaped(z), 2.0)
    assert test.difference.item() == pytest.approx(want, abs=1e-12)
