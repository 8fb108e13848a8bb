"""Bradley and Terry's model with ties."""

import math

import numpy as np
import pytest
from scipy import optimize

from xsumstat.inference.bradley_terry import Design, Strengths, corrected, fitted, one_step

PAIRS = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
DESIGN = Design(np.array([a for a, _ in PAIRS]), np.array([b for _, b in PAIRS]), 4)


def counts(seed=0, most=20):
    """Wins, losses and ties of each pair."""
    return np.random.default_rng(seed).integers(1, most, (3, len(PAIRS))).astype(float)


def sums(wins, losses, ties):
    return wins + losses + ties, wins - losses, ties


def likelihood(parameters, wins, losses, ties):
    """Davidson's own way: worths π, and ν√(π_i π_j) for ties."""
    worth, nu = np.exp(np.append(parameters[:3], 0.0)), math.exp(parameters[3])
    total = 0.0
    for (one, two), win, loss, t in zip(PAIRS, wins, losses, ties, strict=True):
        tie = nu * math.sqrt(worth[one] * worth[two])
        below = worth[one] + worth[two] + tie
        total += win * math.log(worth[one] / below) + loss * math.log(worth[two] / below) + t * math.log(tie / below)
    return -total


@pytest.mark.parametrize("seed", range(3))
def test_davidsons_likelihood_is_largest_there(seed):
    wins, losses, ties = counts(seed)
    best = optimize.minimize(likelihood, np.zeros(4), (wins, losses, ties), method="BFGS", options={"gtol": 1e-9})
    found = fitted(*sums(wins, losses, ties), DESIGN)
    worths = np.append(best.x[:3], 0.0)
    np.testing.assert_allclose(found.strengths, worths - worths.mean(), atol=1e-5)
    assert float(found.eta) == pytest.approx(best.x[3], abs=1e-5)
    mine = np.append(found.strengths[:3] - found.strengths[3], found.eta)
    assert likelihood(mine, wins, losses, ties) <= best.fun + 1e-9


def test_without_ties_by_the_classic_iteration():
    """Zermelo's: each worth is the wins over the sum of 1/(sum of two worths)."""
    wins, losses, _ = counts(5)
    worth = np.ones(4)
    for _ in range(5000):
        own, shared = np.zeros(4), np.zeros(4)
        for (one, two), win, loss in zip(PAIRS, wins, losses, strict=True):
            own[one], own[two] = own[one] + win, own[two] + loss
            for each in (one, two):
                shared[each] += (win + loss) / (worth[one] + worth[two])
        worth = own / shared
        worth /= np.exp(np.log(worth).mean())
    found = fitted(*sums(wins, losses, np.zeros(5)), DESIGN)
    np.testing.assert_allclose(found.strengths, np.log(worth), atol=1e-8)
    assert math.isinf(float(found.eta)) and bool(found.finite)


def test_two_systems_by_hand():
    design = Design(np.array([0]), np.array([1]), 2)
    found = fitted(np.array([10.0]), np.array([4.0]), np.array([2.0]), design)  # 6 wins, 2 losses, 2 ties
    assert found.strengths == pytest.approx([math.log(3) / 2, -math.log(3) / 2])
    assert float(found.eta) == pytest.approx(math.log(2 / math.sqrt(12)))


def test_many_at_once_are_each_alone():
    every = np.stack([np.stack(sums(*counts(seed))) for seed in range(6)], axis=1)
    together = fitted(*every, DESIGN)
    for at in range(6):
        alone = fitted(*every[:, at], DESIGN)
        np.testing.assert_allclose(together.strengths[at], alone.strengths, atol=1e-9)
    start = fitted(*every[:, 0], DESIGN)
    np.testing.assert_allclose(fitted(*every, DESIGN, start=start).strengths, together.strengths, atol=1e-8)


def test_names_exchanged_exchange_strengths():
    wins, losses, ties = counts(3)
    turned = Design(DESIGN.right, DESIGN.left, 4)
    np.testing.assert_allclose(
        fitted(*sums(losses, wins, ties), turned).strengths,
        fitted(*sums(wins, losses, ties), DESIGN).strengths,
        atol=1e-9,
    )


@pytest.mark.parametrize(
    "net, ties, finite",
    [
        ((5, 5, 5), (0, 0, 0), False),
        ((5, 5, 1), (0, 0, 0), False),
        ((1, 1, 1), (0, 0, 0), True),
        ((0, 0, 0), (5, 5, 5), False),
    ],
)
def test_what_is_infinite_is_said(net, ties, finite):
    """A system that always wins has no finite strength, nor one against which all are ties."""
    design = Design(np.array([0, 0, 1]), np.array([1, 2, 2]), 3)
    found = fitted(np.full(3, 5.0), np.array(net, dtype=float), np.array(ties, dtype=float), design)
    assert bool(found.finite) == finite and np.isnan(found.strengths).all() != finite


def test_groups_that_choices_join():
    assert DESIGN.groups(np.ones(5)).max() == 0
    groups = DESIGN.groups(np.array([1.0, 0, 0, 0, 1]))
    assert groups[0] == groups[1] != groups[2] == groups[3]


def test_one_step_from_the_whole_is_near_the_fit_of_a_part():
    whole = np.stack(sums(*counts(1, 60)))
    parts = np.repeat(whole[:, None], 2, axis=1)
    parts[0, :, 1] -= 1
    parts[1, 0, 1] -= 1  # without one win, and without one loss
    parts[1, 1, 1] += 1
    fit = fitted(*whole, DESIGN)
    np.testing.assert_allclose(one_step(*parts, DESIGN, fit), fitted(*parts, DESIGN).strengths, atol=2e-4)


def test_the_jackknife_is_that_of_refits():
    rng = np.random.default_rng(0)
    each = rng.multinomial(1, [0.45, 0.35, 0.2], size=(30, 5)).astype(float)  # prompts, pairs, outcomes
    by_prompt = np.stack(sums(*each.transpose(2, 0, 1)))
    whole = by_prompt.sum(axis=1)
    found = Strengths.of(whole, whole[:, None] - by_prompt, DESIGN, 29.0)
    contrast = np.array([1.0, -1.0, 0, 0])
    refits = []
    for at in range(30):
        rest = np.delete(each, at, axis=0).sum(axis=0)
        best = optimize.minimize(likelihood, np.zeros(4), tuple(rest.T), method="BFGS", options={"gtol": 1e-9})
        refits.append(best.x[0] - best.x[1])
    want = math.sqrt(29 / 30 * ((np.array(refits) - np.mean(refits)) ** 2).sum())
    assert found.error(contrast) == pytest.approx(want, rel=1e-4) and found.fell_back == 0


def test_what_people_say_moves_by_the_slope_times_the_gap():
    rng = np.random.default_rng(2)
    f, h = rng.normal(size=(2, 3, 40))
    h += 0.8 * f
    seen = np.arange(40) < 15
    judged = np.stack([np.full(3, 40.0), f.sum(axis=1)])
    both = np.stack([np.full(3, 15.0), *(each[:, seen].sum(axis=1) for each in (h, f, f**2, f * h))])
    centred = [each[:, seen] - each[:, seen].mean(axis=1, keepdims=True) for each in (f, h)]
    slope = 0.9 * (centred[0] * centred[1]).sum() / (centred[0] ** 2).sum()
    want = h[:, seen].mean(axis=1) + slope * (f.mean(axis=1) - f[:, seen].mean(axis=1))
    np.testing.assert_allclose(corrected(judged, both, 0.9), want)


def test_the_square_of_a_design_is_that_of_its_matrix_with_a_pair_twice_too():
    design = Design(np.array([0, 0, 1, 2, 1]), np.array([1, 2, 2, 0, 0]), 4)
    weights = np.random.default_rng(0).normal(size=(3, 5))
    want = [design.signs.T @ np.diag(each) @ design.signs for each in weights]
    np.testing.assert_allclose(design.squared(weights), want, atol=1e-12)


def test_a_pair_that_nobody_judged_by_hand_takes_nothing_from_the_others():
    """Its mean is 0; the slope is that of choices about the means of the pairs that both judged."""
    human, judge = ([1.0, 0.0, 1.0], [0.0, 1.0]), ([1.0, 0.0, 0.5], [0.0, 0.5])
    both = np.zeros((5, 3))
    for at, (h, f) in enumerate(zip(map(np.array, human), map(np.array, judge), strict=True)):
        both[:, at] = len(h), h.sum(), f.sum(), (f * f).sum(), (f * h).sum()
    judged = np.array([[6.0, 4.0, 5.0], [2.0, 3.0, 1.0]])
    spread = sum(np.sum((np.array(f) - np.mean(f)) ** 2) for f in judge)
    shared = sum(
        np.sum((np.array(f) - np.mean(f)) * (np.array(h) - np.mean(h))) for h, f in zip(human, judge, strict=True)
    )
    slope = 0.5 * shared / spread
    want = [np.mean(human[at]) + slope * (judged[1, at] / judged[0, at] - np.mean(judge[at])) for at in range(2)]
    np.testing.assert_allclose(corrected(judged, both, 0.5), [*want, 0.0], atol=1e-12)


def test_the_error_of_a_contrast_needs_two_clusters():
    fit = fitted(*sums(*counts()), DESIGN)
    contrast = np.array([1.0, -1.0, 0.0, 0.0])
    without = np.array([[0.5, 0.1, -0.2, -0.4], [0.6, -0.1, -0.2, -0.3]])
    assert math.isnan(Strengths(fit, without[:1], 1.0, 0).error(contrast))
    one, other = without @ contrast
    assert Strengths(fit, without, 1.0, 0).error(contrast) == pytest.approx(abs(one - other) / 2)


def strongly_connected(n, wins, pairs, k):
    """Ford's condition: each system has won, over others perhaps, against each; there is a maximum only then."""
    reach = np.eye(k, dtype=int)
    for (one, other), total, won in zip(pairs, n, wins, strict=True):
        reach[one, other] |= won > 0
        reach[other, one] |= won < total
    for _ in range(k):
        reach = (reach @ reach > 0).astype(int)
    return bool(reach.all())


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_strengths_are_infinite_where_some_systems_win_all_choices_against_the_others(k):
    """Any split of the systems, as halves, too, whose strengths lie on both sides of the mean."""
    rng = np.random.default_rng(k)
    pairs = np.array([(one, other) for one in range(k) for other in range(one + 1, k)])
    design = Design(pairs[:, 0], pairs[:, 1], k)
    told = []
    for top in [0, *range(1, k)] * 4:
        n = rng.integers(1, 40, len(pairs))
        wins = rng.binomial(n, 0.5)
        above = pairs < top
        wins = np.where(above[:, 0] > above[:, 1], n, wins)
        found = fitted(n.astype(float), (2.0 * wins - n), np.zeros(len(n)), design)
        told.append(bool(found.finite))
        assert told[-1] == strongly_connected(n, wins, pairs, k)
        assert np.isfinite(found.strengths).all() == told[-1]
    assert True in told and False in told
