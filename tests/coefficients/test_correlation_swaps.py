import itertools

import numpy as np
import pytest
import reference
from helpers import LEVELS, NAMES, examples, matrices, pairwise, rows, same
from hypothesis import given
from hypothesis import strategies as st

from xsumstat.coefficients import arrays, table
from xsumstat.coefficients.arrays import packed, standardised
from xsumstat.coefficients.record import Measure

PAIRS = ((0, 1), (0, 2), (1, 2))

LINEAR = [name for name in NAMES if table.get(name).linear_in_swaps != "never"]


def differences(scores, z, swap, level, name, missing="pairwise", undefined="drop", pairs=PAIRS):
    """Difference of every pair under every swap, by pair."""
    tests = Measure(table.get(name), level, missing, undefined).swapped(scores, z, pairs)
    found = {}
    for test in tests:
        found |= dict(zip(test.pairs, test.differences(packed(swap)), strict=True))
    assert sorted(found) == sorted(pairs)
    return found


def plain(scores, z, swap, level, name, missing="pairwise", undefined="drop", pairs=PAIRS):
    return {
        (a, b): [
            reference.difference(
                name, rows(scores[a]), rows(scores[b]), rows(z), each.tolist(), level, missing, undefined
            )
            for each in swap
        ]
        for a, b in pairs
    }


@examples(80)
@given(
    matrices(4),
    st.sampled_from(LEVELS),
    st.sampled_from(NAMES),
    st.sampled_from(["pairwise", "available"]),
    st.sampled_from(["drop", "zero"]),
    st.integers(0, 2**32),
)
def test_differences_equal_the_plain_algorithm(arrays, level, name, missing, undefined, seed):
    scores, z = np.array(arrays[:3]), arrays[3]
    if any(np.isnan(scores[a] + scores[b] + z).all() for a, b in PAIRS):
        return  # nothing to compare
    swap = np.random.default_rng(seed).integers(0, 2, (3, *z.shape), dtype=np.uint8)
    got = differences(scores, z, swap, level, name, missing, undefined)
    want = plain(scores, z, swap, level, name, missing, undefined)
    for pair in PAIRS:
        assert same(got[pair], want[pair]), pair


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_untied_scores(level, name):
    rng = np.random.default_rng(11)
    scores, z = rng.normal(size=(3, 7, 6)), rng.normal(size=(7, 6))
    swap = rng.integers(0, 2, (5, 7, 6), dtype=np.uint8)
    got, want = differences(scores, z, swap, level, name), plain(scores, z, swap, level, name)
    for pair in PAIRS:
        np.testing.assert_allclose(got[pair], want[pair], atol=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in reference.OF_VALUES])
def test_a_metric_against_a_rescaled_copy_of_itself_never_differs(level, name):
    """After standardising, the two agree up to rounding, which must not break ties."""
    rng = np.random.default_rng(12)
    x, z = np.round(rng.normal(size=(2, 8, 6)), 1)
    scores = np.array([x, 7.3 * x + 1234.5])
    swap = rng.integers(0, 2, (20, 8, 6), dtype=np.uint8)
    np.testing.assert_allclose(differences(scores, z, swap, level, name, pairs=((0, 1),))[0, 1], 0.0, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_sorting_and_pairs_are_one_statistic(monkeypatch, name):
    rng = np.random.default_rng(13)
    scores, z = np.round(2 * rng.normal(size=(3, 9, 8))), np.round(rng.normal(size=(9, 8)))
    swap = rng.integers(0, 2, (10, 9, 8), dtype=np.uint8)
    first = differences(scores, z, swap, "input", name)
    monkeypatch.setattr(arrays, "by_pairs", lambda members, groups: False)
    second = differences(scores, z, swap, "input", name)
    for pair in PAIRS:
        np.testing.assert_allclose(first[pair], second[pair], atol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_metrics_with_different_gaps_are_each_compared_on_their_own_cells(name):
    """The gold's mean too: of the cells that a pair has, or of all that are rated (``missing="available"``)."""
    rng = np.random.default_rng(14)
    scores, z = rng.normal(size=(3, 6, 5)), rng.normal(size=(6, 5)) + 3 * np.arange(5)
    scores[1, 2] = np.nan
    scores[2, :4, 0] = scores[1, 1, 3:] = scores[0, 5, 4] = np.nan
    z[0, 4] = z[4, 0] = np.nan
    swap = rng.integers(0, 2, (4, 6, 5), dtype=np.uint8)
    for level, missing in itertools.product(LEVELS, ("pairwise", "available")):
        got = differences(scores, z, swap, level, name, missing)
        want = plain(scores, z, swap, level, name, missing)
        for pair in PAIRS:
            assert same(got[pair], want[pair]), (level, pair)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_a_constant_gold_is_constant_however_its_means_are_rounded(level, name):
    """Three times .1 is not .3; with gaps each system's mean is rounded in its own way."""
    rng = np.random.default_rng(19)
    scores, z = rng.normal(size=(2, 6, 7)), np.full((6, 7), 0.1)
    for i in range(6):
        z[i, : i % 5] = np.nan
    swap = rng.integers(0, 2, (3, 6, 7), dtype=np.uint8)
    got = differences(scores, z, swap, level, name, pairs=((0, 1),))[0, 1]
    assert same(got, plain(scores, z, swap, level, name, pairs=((0, 1),))[0, 1])
    assert np.isnan(got).all() == (name not in ("pairwise_accuracy", *reference.OF_VALUES))


@pytest.mark.parametrize("turned", [False, True])
def test_means_that_cancel_to_0_are_tied_whichever_metric_they_are_of(turned):
    """Sums of eight numbers and their negatives in any order, beside a metric that is constant and so of size 0."""
    rng = np.random.default_rng(21)
    half = rng.normal(size=8)
    cancels = [rng.permutation(np.r_[half, -half]) for _ in range(4)]
    assert len({row.sum() for row in cancels}) > 1  # or this test would show nothing
    x = np.array([*cancels, 2 + np.abs(cancels[0]), -2 - np.abs(cancels[0])])
    scores, swap = np.array([x, np.ones(x.shape)])[:: -1 if turned else 1], np.zeros((1, *x.shape), dtype=np.uint8)
    for order in ((0, 1, 2, 3, 4, 5), (3, 2, 1, 0, 4, 5)):
        z = np.array(order, dtype=float)[:, None] + np.zeros(16)
        # Of 15 pairs 4 are right with the fifth system, none with the sixth, and 6 are tied.
        got = differences(scores, z, swap, "system", "pairwise_accuracy", pairs=((0, 1),))[0, 1]
        assert (-1 if turned else 1) * got[0] == pytest.approx(4 / 15)


@examples(50)
@given(matrices(1))
def test_standardised_has_mean_0_and_sd_1(arrays):
    (x,) = arrays
    cells = ~np.isnan(x)
    got = standardised(x, cells)
    assert np.isnan(got[~cells]).all()
    if cells.any():
        if np.ptp(x[cells]) > 0:
            np.testing.assert_allclose([got[cells].mean(), got[cells].std()], [0, 1], atol=1e-12)
        else:
            assert (got[cells] == 0).all()


def test_standardised_keeps_the_spread_of_scores_far_from_zero():
    x = np.array([[1e8 + 1.0, 1e8 + 2.0], [1e8 + 3.0, 1e8 + 4.0]])
    np.testing.assert_allclose(
        standardised(x, np.full(x.shape, True)), standardised(x - 1e8, np.full(x.shape, True)), atol=1e-14
    )


def test_a_function_gives_what_our_own_coefficient_gives():
    rng = np.random.default_rng(15)
    scores, z = rng.normal(size=(3, 5, 4)), rng.normal(size=(5, 4))
    swap = rng.integers(0, 2, (4, 5, 4), dtype=np.uint8)
    for level, missing in itertools.product(LEVELS, ("pairwise", "available")):
        ours = differences(scores, z, swap, level, "pearson", missing)
        theirs = differences(scores, z, swap, level, lambda x, z: np.corrcoef(x, z)[0, 1], missing)
        for pair in PAIRS:
            np.testing.assert_allclose(theirs[pair], ours[pair], atol=1e-10)


def half_tied(level, rng):
    """Metrics whose even groups are untied and whose odd ones are tied, with gaps, and a gold that is once constant."""
    scores, z = rng.normal(size=(3, 8, 8)), np.round(rng.normal(size=(8, 8)), 1)
    scores[:, :, 1::2] = np.round(2 * scores[:, :, 1::2])
    scores[0, 2, 3] = scores[1, 5, 4] = z[1, 1] = z[6, 2] = np.nan
    z[:, 6] = 1.0
    return (scores.swapaxes(1, 2), z.T) if level == "within_system" else (scores, z)


@pairwise(
    {
        "undefined": ["drop", "zero"],
        "level": ["input", "within_system"],
        "name": LINEAR,
    }
)
def test_untied_and_tied_groups_make_one_statistic(name, level, undefined):
    rng = np.random.default_rng(16)
    scores, z = half_tied(level, rng)
    swap = rng.integers(0, 2, (6, 8, 8), dtype=np.uint8)
    got = differences(scores, z, swap, level, name, undefined=undefined)
    want = plain(scores, z, swap, level, name, undefined=undefined)
    for pair in PAIRS:
        np.testing.assert_allclose(got[pair], want[pair], atol=1e-12)
    for test in Measure(table.get(name), level, undefined=undefined).swapped(scores, z, PAIRS):
        assert test.coefficients is not None  # or this test would show nothing
        assert test.rest is not None or name in ("kendall_a", "pairwise_accuracy")


@pytest.mark.parametrize("name", LINEAR)
def test_a_group_that_a_swap_can_leave_constant_makes_none_linear(name):
    """Dropping such a group changes the weight of all others, swap by swap."""
    rng = np.random.default_rng(17)
    x, z = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    x[:, 0] = [1.0, -1.0, 1.0, -1.0]
    scores = np.array([x, np.column_stack([-x[:, 0], x[:, 2], x[:, 1]])])  # one mean and one spread
    swap = np.array(list(itertools.product((0, 1), repeat=12)), dtype=np.uint8).reshape(-1, 4, 3)[::7]
    pairs = ((0, 1),)
    for undefined in ("drop", "zero"):
        got = differences(scores, z, swap, "input", name, undefined=undefined, pairs=pairs)
        assert same(got[0, 1], plain(scores, z, swap, "input", name, undefined=undefined, pairs=pairs)[0, 1])
        (test,) = Measure(table.get(name), "input", undefined=undefined).swapped(scores, z, pairs)
        assert (test.coefficients is None) == (undefined == "drop" and name != "pairwise_accuracy")


@pytest.mark.parametrize("level", LEVELS)
def test_pearson_of_groups_that_swaps_leave_nearly_constant(level):
    """What is left of the spread must not drown in the sums that it is the difference of."""
    rng = np.random.default_rng(18)
    side = np.where((np.arange(6)[:, None] + np.arange(4)) % 2, 1.0, -1.0)  # as many of each in every group
    x, y = (turn * side + 1e-7 * rng.normal(size=side.shape) for turn in (1, -1))
    z = rng.normal(size=x.shape) + (0.0 if level == "system" else 1e6)
    if level == "system":  # means that are ±1, as the scores of a system are of one sign
        side = np.where(np.arange(6)[:, None] % 2, 1.0, -1.0) + np.zeros(4)
        x, y = (turn * side + 1e-7 * rng.normal(size=side.shape) for turn in (1, -1))
    swap = (side > 0).astype(np.uint8)[None] ^ np.array([0, 1], dtype=np.uint8)[:, None, None]
    made = np.where(swap[0], y, x)
    assert np.ptp(made) < 1e-6 < np.ptp(x)  # or this test would show nothing
    got = differences(np.array([x, y]), z, swap, level, "pearson", pairs=((0, 1),))[0, 1]
    want = plain(np.array([x, y]), z, swap, level, "pearson", pairs=((0, 1),))[0, 1]
    np.testing.assert_allclose(got, want, atol=1e-6)
    assert abs(want[0]) > 0.01


@pytest.mark.parametrize("power", [0, 600, -600])
@pytest.mark.parametrize("missing", ["pairwise", "available"])
def test_a_threshold_of_the_golds_means_has_the_golds_unit(power, missing):
    """Also where the gold is brought to a usual size first."""
    rng = np.random.default_rng(20)
    scores, z = rng.normal(size=(2, 6, 5)), rng.normal(size=(6, 5))
    swap = rng.integers(0, 2, (6, 6, 5), dtype=np.uint8)
    how = {"level": "system", "missing": missing}
    measure = Measure(table.get("kendall_like").at(np.ldexp(0.4, power)), **how)
    (test,) = measure.swapped(scores, np.ldexp(z, power), ((0, 1),))
    x, y = (rows(each) for each in scores)
    for got, each in zip(test.differences(packed(swap))[0], swap, strict=True):
        want = reference.difference("kendall_like", x, y, rows(z), each.tolist(), **how, threshold=0.4)
        assert got == pytest.approx(want, abs=1e-12)


def test_a_group_may_be_nearly_constant_in_one_metric_alone():
    rng = np.random.default_rng(3)
    x, y, z = rng.normal(size=(3, 6, 4))
    y[:, 0] = 1 + 1e-7 * rng.normal(size=6)
    of_x, of_y = (np.mean([np.corrcoef(each[:, j], z[:, j])[0, 1] for j in range(4)]) for each in (x, y))
    for scores, want in (((x, y), of_x - of_y), ((y, x), of_y - of_x)):
        (test,) = Measure(table.get("pearson"), "input").swapped(np.array(scores), z, ((0, 1),))
        assert same(test.differences(packed(np.zeros((1, 6, 4)))), want, 1e-7)
