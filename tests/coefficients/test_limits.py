"""Values on the two sides of limits: how few cells have a coefficient, what counts as a tie, what is looked at."""

import math

import numpy as np
import pytest
import scipy.stats
from helpers import for_each

from xsumstat.coefficients import (
    arrays,
    chance,
    layers,
    leave_one_out,
    pairs,
    partial,
    rank_swaps,
    soft_accuracy,
    table,
    ties,
    values,
)
from xsumstat.coefficients.record import Measure
from xsumstat.coefficients.sorted_ranks import Sorted
from xsumstat.coefficients.weights import InputWeights
from xsumstat.kernels import correlation as kernels


def measured(name, level, **how):
    return Measure(table.get(name), level, **how)


# --- Ties and steps ---


@for_each("seed", range(5))
def test_signs_of_pairs_are_0_where_two_tie_or_one_is_missing(seed):
    rng = np.random.default_rng(seed)
    scores, there = rng.integers(0, 3, (5, 4)).astype(float), rng.random((5, 4)) < 0.8
    found, place = arrays.pair_signs(scores, there, np.int16), 0
    for a in range(5):
        for b in range(a + 1, 5):
            both = there[a] & there[b]
            np.testing.assert_array_equal(found[place], np.sign(scores[a] - scores[b]) * both)
            place += 1
    assert place == len(found)


def test_scores_of_one_sign_and_zeros_have_no_scale_of_rounding_but_their_mean():
    rows = np.array(
        [[1.0, 2, 0], [-1, -2, 0], [0, 0, 0], [-1, 2, 0], [np.nan, 2, 4], [np.nan, -2, -4], [np.nan, 1, -5]]
    )
    np.testing.assert_array_equal(arrays.rounding_scale(rows), [0, 0, 0, 1, 0, 0, 3])


def test_constant_scores_are_0_when_they_are_standardised():
    cells = np.array([[True, True], [True, False]])
    found = arrays.standardised(np.full((2, 2), 7.25), cells)
    np.testing.assert_array_equal(found, [[0, 0], [0, np.nan]])


def test_the_last_of_equal_differences_ends_them_also_where_nothing_is_rounded():
    order, ends = arrays.sorted_gaps(np.array([2.0, 1, 2, 1, 3]), np.zeros(5))
    np.testing.assert_array_equal(order, [1, 3, 0, 2, 4])
    np.testing.assert_array_equal(ends, [False, True, False, True, True])


def test_one_layer_is_as_it_is_and_means_of_two_are_equal_up_to_rounding():
    near = np.array([[1.0, 1.0 + 4e-16]])
    assert len(np.unique(layers.pooled(near[None], np.array([1]), "mean"))) == 2
    assert len(np.unique(layers.pooled(np.stack([near, near]), np.array([1, 1]), "mean"))) == 1
    assert len(np.unique(layers.pooled(np.stack([near, near]), np.array([0, 2]), "mean"))) == 2


@for_each("level", ["input", "within_system", "global"])
def test_a_threshold_of_0_ties_equal_scores_alone(level):
    """.1 + .2 is not .3, which a threshold above 0 takes for rounding."""
    x = np.array([[0.3, 1.0, 2.0], [0.1 + 0.2, 1.0, 3.0]])
    z = np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 1.0]])
    if level == "within_system":
        x, z = x.T.copy(), z.T.copy()

    def right(a, b, u, v):
        return float(np.sign(a - b) == np.sign(u - v))

    rows = (x, z) if level == "within_system" else (x.T, z.T)
    if level == "global":
        rows = tuple(each.reshape(1, -1) for each in rows)
    wanted = np.mean(
        [
            np.mean([right(a[i], a[j], u[i], u[j]) for i in range(len(a)) for j in range(i)])
            for a, u in zip(*rows, strict=True)
        ]
    )
    measure = measured("acc_eq", level).at(0.0)
    assert measure.estimator(x, z).value() == pytest.approx(wanted, rel=1e-15)
    decided = ties.right(ties.Members.of(x, z, level, False), 0.0)
    assert decided.mean() == pytest.approx(wanted, rel=1e-15)


def test_as_many_pairs_as_are_allowed_are_looked_at():
    coefficient = table.get("acc_eq")
    assert ties.n_pairs((5, 4), "input") == 40
    ties.check_number((5, 4), "input", coefficient, 40)
    with pytest.raises(ValueError, match="at most 39 can be"):
        ties.check_number((5, 4), "input", coefficient, 39)


@for_each("divisors", [[3.0, 5.0, 7.0], [4.0, 4.0], [1.5, 2.0], [2.0, 3.0, 6.0]])
def test_half_of_the_inverse_divisors_are_multiples_of_the_common_step(divisors):
    step = rank_swaps.common_step(np.array(divisors))
    if any(each != round(each) for each in divisors):
        assert step == 0
    else:
        times = [0.5 / each / step for each in divisors]
        assert times == pytest.approx([round(each) for each in times]) and step > 0


# --- Few members ---


@for_each("name", ["pearson", "spearman", "kendall"])
def test_two_values_have_scipys_p_value_and_one_has_none(name):
    record, test = table.get(name), {"pearson": "pearsonr", "spearman": "spearmanr", "kendall": "kendalltau"}[name]
    with np.errstate(all="ignore"):
        wanted = getattr(scipy.stats, test)([1.0, 2.0], [3.0, 5.0]).pvalue
        found = record.pvalue(np.array([1.0, 2.0]), np.array([3.0, 5.0]))
    np.testing.assert_equal(found, float(wanted))
    assert math.isnan(record.pvalue(np.array([1.0]), np.array([3.0])))


def test_two_members_beyond_the_covariates_have_no_p_value():
    for kind in (kernels.PEARSON, kernels.SPEARMAN, kernels.KENDALL):
        assert math.isnan(partial.pvalue(0.5, 4, 2, kind)) and 0 < partial.pvalue(0.5, 5, 2, kind) < 1


@for_each("systems", [4, 5])
def test_partial_correlations_of_the_systems_that_are_left_need_three_more_than_covariates(systems):
    rng = np.random.default_rng(systems)
    x, (z, w) = rng.normal(size=(systems, 7)), rng.normal(size=(2, systems, 7))
    parts = leave_one_out.of(x, np.stack([z, w]), measured("pearson", "system", given=("length",)))
    for i in range(systems):
        a, b, c = (np.delete(each, i, 0).mean(axis=1) for each in (x, z, w))
        rest = [each - np.polyval(np.polyfit(c, each, 1), c) for each in (a, b)]
        wanted = np.corrcoef(*rest)[0, 1] if systems - 1 >= 4 else np.nan
        assert parts.without[i] == pytest.approx(wanted, rel=1e-9, nan_ok=True)


@for_each("systems", [3, 4, 5])
def test_swapped_partial_correlations_need_as_many(systems):
    rng = np.random.default_rng(systems)
    scores, gold = rng.normal(size=(2, systems, 6)), rng.normal(size=(2, systems, 6))
    (test,) = measured("pearson", "system", given=("length",)).swapped(scores, gold, ((0, 1),))
    found = test.differences(np.zeros((1, systems, 1), dtype=np.uint8))
    assert np.isnan(found).all() == (systems < 4)


@for_each("level", ["global", "input"])
def test_one_cell_has_no_kappa(level):
    """Of one cell, whose classes differ, chance has no share: kappa's formula would give 0."""
    for name in ("kappa", "weighted_kappa", "icc"):
        one, two = np.array([[1.0]]), np.array([[3.0]])
        assert math.isnan(measured(name, level).estimator(one, two).value()), name


def test_the_rarest_class_is_one_that_occurs_among_several():
    rarer = {}
    for label, human in (("two of three", [1.0, 1, 1, 2, 2]), ("three", [1.0, 1, 2, 2, 3]), ("one", [2.0] * 5)):
        x, z = np.array([[1.0, 2, 3, 2, 1], [3, 1, 2, 2, 1]]), np.array([human, human])
        rarer[label] = leave_one_out.of(x, z, measured("accuracy", "global")).share.rarer
    assert rarer == {"two of three": 4, "three": 2, "one": 0}


# --- Weights of nothing ---


@pytest.mark.filterwarnings("error")
def test_no_input_has_no_share_no_average_and_moves_nothing():
    weights = InputWeights(np.array([2.0, 3, 5]), np.array([0, 0, 1]))
    np.testing.assert_array_equal(weights.shares(np.zeros(3, bool)), np.zeros(3))
    rows = np.array([[np.nan] * 3, [1.0, np.nan, 4.0]])
    np.testing.assert_allclose(weights.averages(rows), [np.nan, (2 * 1 + 5 * 4) / 7])
    cells = np.array([[False] * 3, [True, False, True]])
    found = weights.linearised(rows, cells)
    assert np.isnan(found[0]).all() and np.nanmean(found[1]) == pytest.approx(22 / 7)
    assert weights.variance(np.zeros(3)) == (0.0, pytest.approx(np.nan, nan_ok=True))


# --- Averages of differences ---


def groups_of(r, clusters=None):
    size = len(r)
    without = np.tile(r, (3, 1)) + np.arange(3)[:, None] / 10
    return leave_one_out.OfGroups(
        float(np.nanmean(r)),
        np.array(r),
        without,
        without.mean(axis=1),
        np.ones((3, size), bool),
        "system",
        clusters=clusters,
    )


def test_one_group_or_cluster_that_two_metrics_share_has_no_spread():
    """Its deviation is undefined; of two groups each deviates as the difference does."""
    one = groups_of([0.5, np.nan]).less(groups_of([0.2, np.nan]))
    assert np.isnan(one.r).all() and one.value == pytest.approx(0.3)
    joined = groups_of([0.5, 0.9], np.array([7, 7])).less(groups_of([0.2, 0.1], np.array([7, 7])))
    assert np.isnan(joined.r).all()
    two = groups_of([0.5, 0.9]).less(groups_of([0.2, 0.1]))
    gaps = np.array([0.3, 0.8])
    assert (two.r**2).sum() == pytest.approx(((gaps - gaps.mean()) ** 2).sum())


# --- A coefficient's thresholds ---


def test_one_threshold_is_that_of_every_metric_and_several_are_theirs():
    one, several = table.get("acc_eq").at(0.5), table.get("acc_eq")
    several = several.__class__(**{**several.__dict__, "thresholds": (0.1, 0.2, 0.3)})
    assert one.of_metric(2) is one and one.of_metrics([2, 1]) is one
    assert several.of_metric(2).thresholds == (0.3,) and several.of_metrics([2, 0]).thresholds == (0.3, 0.1)


# --- What is kept, and blocks of draws ---


def test_as_many_parts_are_kept_as_may_be():
    x, z = np.random.default_rng(0).normal(size=(3, 4, 5)), np.zeros((4, 5))
    for most, n_made in ((3, 3), (2, 4)):
        made = []
        asked = [(0, 1), (0, 2), (1, 2)] if most == 3 else [(0, 1), (0, 2), (0, 1)]
        how = measured("pearson", "input")
        found = list(
            pairs.in_turn(x, z, asked, how, lambda scores, metric, made=made: made.append(metric) or metric, most)
        )
        assert found == asked and len(made) == n_made


@for_each("drawn", ["systems", "inputs", "both"])
def test_blocks_of_draws_give_what_each_draw_gives(monkeypatch_of_blocks, drawn):
    rng = np.random.default_rng(4)
    x, z = rng.integers(0, 4, (2, 5, 7)).astype(float)
    w = rng.multinomial(5, [0.2] * 5, 6 if drawn != "inputs" else 1)
    v = rng.multinomial(7, [1 / 7] * 7, 6 if drawn != "systems" else 1)
    for name, level in (("kappa", "input"), ("accuracy", "within_system"), ("spa", "system")):
        ready = measured(name, level).estimator(x, z)
        each = [ready.bootstrap(w[at % len(w)][None], v[at % len(v)][None])[0] for at in range(6)]
        np.testing.assert_allclose(ready.bootstrap(w, v), each, rtol=1e-12, err_msg=name)


@pytest.fixture
def monkeypatch_of_blocks(monkeypatch):
    """Two draws at a time, not thousands."""
    monkeypatch.setattr(values, "_AT_ONCE", 2 * 7 * 5)
    monkeypatch.setattr(soft_accuracy, "_LANES", 2)


@for_each("drawn", ["systems", "inputs"])
def test_blocks_of_draws_share_the_one_row_of_counts_that_stays(monkeypatch, monkeypatch_of_blocks, drawn):
    """A kernel gets this row with each block: it would read beyond none."""

    def with_rows(kernel, counts, draws=-1):
        def checked(*given):
            assert len(given[counts]) in (1, len(given[draws]))
            return kernel(*given)

        return checked

    monkeypatch.setattr(values.kernels, "averages", with_rows(values.kernels.averages, 2))
    monkeypatch.setattr(soft_accuracy.kernels, "soft_accuracy", with_rows(soft_accuracy.kernels.soft_accuracy, -2))
    rng = np.random.default_rng(6)
    x, z = rng.integers(0, 4, (2, 5, 7)).astype(float)
    w, v = np.array([[2, 0, 1, 1, 1]]), np.array([[0, 2, 1, 1, 1, 2, 0]])
    w, v = (rng.multinomial(5, [0.2] * 5, 6), v) if drawn == "systems" else (w, rng.multinomial(7, [1 / 7] * 7, 6))
    for name, level in (("kappa", "input"), ("accuracy", "within_system"), ("spa", "system")):
        ready = measured(name, level).estimator(x, z)
        each = [ready.bootstrap(w[at % len(w)][None], v[at % len(v)][None])[0] for at in range(6)]
        np.testing.assert_allclose(ready.bootstrap(w, v), each, rtol=1e-12, err_msg=name)


# --- Ranks ---


def test_equal_scores_of_one_metric_stay_equal_where_close_ones_differ():
    close, other = np.array([[0.0], [0.0], [1e-13], [5.0]]), np.array([[1.0], [2.0], [3.0], [4.0]])
    assert rank_swaps.Pooled.of(close, other).codes[:, 0].tolist() == [0, 0, 1, 6, 2, 3, 4, 5]


@for_each("kind", [kernels.KENDALL_A, kernels.KENDALL, kernels.SPEARMAN, kernels.KENDALL_C])
def test_gold_of_one_value_has_no_divisor_and_two_values_have_one(kind):
    gold = rank_swaps.Gold.of(np.array([[1.0, 1.0, np.nan], [1.0, 1.0, 2.0], [1.0, 3.0, np.nan]]), "input")
    assert gold.defined(kind).tolist() == [False, True, False]
    assert (gold.divisors(kind) > 0).tolist() == [False, True, False]
    assert gold.defined(kernels.ACCURACY).tolist() == [True, True, False]


@for_each("kind, name", [(kernels.KENDALL, "kendalltau"), (kernels.SPEARMAN, "spearmanr")])
def test_sorted_groups_leave_out_what_is_missing(kind, name):
    rng = np.random.default_rng(3)
    x, z = rng.integers(0, 5, (2, 9, 4)).astype(float)
    there = np.arange(9)[:, None] >= np.arange(4)
    r, n = Sorted.of_values(x, z, there).groups(kind)
    for group in range(4):
        kept = there[:, group]
        wanted = getattr(scipy.stats, name)(x[kept, group], z[kept, group]).statistic
        assert (r[group], n[group]) == (pytest.approx(wanted, rel=1e-12), kept.sum())


def test_a_constant_metric_has_no_influence_under_kendall_c():
    x, z = np.full((3, 4), 2.0), np.arange(12.0).reshape(3, 4)
    assert np.isnan(leave_one_out.of(x, z, measured("kendall_c", "global")).influence).all()


# --- Baselines of accuracy with ties ---


def test_as_many_pairs_as_are_allowed_have_random_metrics_and_one_more_has_the_limit(monkeypatch):
    """Each group has 10 pairs; a random metric that is calibrated passes the better of both ends."""
    z = np.array([[1.0, 1, 2, 3], [1, 2, 2, 3], [2, 3, 2, 1], [2, 1, 1, 2], [3, 1, 2, 5]])
    tied = np.array([np.mean([z[i, j] == z[k, j] for i in range(5) for k in range(i)]) for j in range(4)])
    measure = measured("acc_eq", "input")
    monkeypatch.setattr(chance, "_MOST_PAIRS", 40)
    drawn = chance.of_order_and_ties(z, z, measure)[0][1]
    monkeypatch.setattr(chance, "_MOST_PAIRS", 39)
    limit = chance.of_order_and_ties(z, z, measure)[0][1]
    np.testing.assert_allclose(limit, (1 - tied) / 2, rtol=1e-15)
    assert drawn.mean() > max(limit.mean(), tied.mean()) and not np.isclose(drawn, limit).all()


def test_a_limit_that_both_ends_reach_is_that_of_no_tie(monkeypatch):
    """Ties in all pairs of one group and in none of two: a third, as half of two thirds."""
    monkeypatch.setattr(chance, "_MOST_PAIRS", 0)
    z = np.array([[1.0, 1, 1], [1, 2, 2], [1, 3, 3]])
    found, n = chance.of_order_and_ties(z, z, measured("acc_eq", "input"))
    assert n.tolist() == [3, 3, 3] and found.tolist() == [[1, 0, 0], [0, 0.5, 0.5]]
    found, _ = chance.of_order_and_ties(z[:, :2], z[:, :2], measured("acc_eq", "input"))
    assert found.tolist() == [[1, 0], [1, 0]]
