"""Whether groups of systems or inputs differ: covariances, limits and the test of all, as a twin has them."""

from dataclasses import replace

import group_twin
import numpy as np
import pytest
from helpers import pairwise
from scipy import stats

from xsumstat.analyses.measure import checked_measure
from xsumstat.coefficients import clusters, leave_one_out
from xsumstat.inference import group_differences, jackknife
from xsumstat.resampling.group_jackknife import GroupJackknife, Groups

LEVELS = ("system", "input", "global", "within_system")
BOTH = ("system", "input")


def scores(seed, shape=(9, 14), noise=1.0, gaps=0.0):
    """A metric's scores and the gold's."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(shape[0], 1)) + 0.4 * rng.normal(size=shape[1]) + rng.normal(size=shape)
    x = z + noise * rng.normal(size=shape) + 0.5 * rng.normal(size=(shape[0], 1))
    x[rng.random(shape) < gaps] = np.nan
    z[np.isnan(x)] = np.nan
    return x, z


def job(measure, dim, sizes, resample, shared=None):
    """The comparison of groups of these sizes, one after the other."""
    places = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    return GroupJackknife((), measure, Groups(dim, tuple(places)), resample, 0.95, clusters=shared)


def split(x, z, dim, sizes):
    """The scores of each group."""
    axis = 0 if dim == "system" else 1
    cuts = np.cumsum(sizes)[:-1]
    return list(zip(np.split(x, cuts, axis), np.split(z, cuts, axis), strict=True))


def compared(x, z, measure, dim, sizes, resample, shared=None):
    """The groups of one metric."""
    return list(job(measure, dim, sizes, resample, shared).estimated(x, z, measure))


@pairwise(
    {
        "level": LEVELS,
        "coefficient": ["pearson", "spearman", "kendall", "pairwise_accuracy"],
        "dim": ["system", "input"],
        "resample": [BOTH, ("input",), ("system",)],
        "gaps": [0.0, 0.1],
    }
)
def test_numbers_are_those_of_the_twin(level, coefficient, dim, resample, gaps):
    sizes = (5, 7) if dim == "system" else (6, 9)
    shape = (12, 10) if dim == "system" else (8, 15)
    x, z = scores(3, shape, gaps=gaps)
    if coefficient == "pairwise_accuracy" and level != "system":
        coefficient = "kendall"
    measure = checked_measure(level, coefficient, "pairwise", "drop")
    one, two = compared(x, z, measure, dim, sizes, resample)
    found = group_differences.difference(one, two, measure, resample)
    limits = found.about(jackknife.t_quantile(0.95, found.df))
    asked = split(x, z, dim, sizes), coefficient, level, dim, resample
    got = found.estimate, found.standard_error, found.df, *limits
    np.testing.assert_allclose(got, group_twin.difference(*asked), rtol=1e-7, atol=1e-10)
    test = group_differences.heterogeneity([one, two], measure, resample)
    got = test.statistic, test.df_numerator, test.df_denominator, test.pvalue
    np.testing.assert_allclose(got, group_twin.heterogeneity(*asked), rtol=1e-7)


@pairwise(
    {
        "level": LEVELS,
        "coefficient": ["pearson", "kendall"],
        "dim": ["system", "input"],
        "resample": [BOTH, ("input",)],
    }
)
def test_the_test_of_four_groups_is_that_of_the_twin(level, coefficient, dim, resample):
    sizes = (5, 6, 5, 8)
    x, z = scores(7, (24, 9) if dim == "system" else (9, 24))
    measure = checked_measure(level, coefficient, "pairwise", "drop")
    test = group_differences.heterogeneity(compared(x, z, measure, dim, sizes, resample), measure, resample)
    got = test.statistic, test.df_numerator, test.df_denominator, test.pvalue
    want = group_twin.heterogeneity(split(x, z, dim, sizes), coefficient, level, dim, resample)
    np.testing.assert_allclose(got, want, rtol=1e-7)


@pairwise(
    {
        "level": LEVELS,
        "coefficient": ["pearson", "spearman", "kendall", "kendall_a", "acc_eq"],
        "gaps": [0.0, 0.2],
        "clustered": [False, True],
    }
)
def test_squares_of_moves_are_the_variance(level, coefficient, gaps, clustered):
    x, z = scores(1, (10, 15), gaps=gaps)
    measure = checked_measure(level, coefficient, "pairwise", "drop")
    codes = np.arange(10) // 2, np.arange(15) // 3
    parts = clusters.of(x, z, measure, codes) if clustered else leave_one_out.of(x, z, measure)
    squares = {dim: np.sum(group_differences.moves(parts, BOTH, dim) ** 2) for dim in BOTH}
    first, second = ("input", "system") if level == "within_system" else BOTH
    whole = squares[first] + max(0.0, squares[second] - np.sum(group_differences.cells(parts) ** 2))
    assert whole == pytest.approx(jackknife.variance(parts, BOTH), rel=1e-9)
    for dim in BOTH:
        alone = np.sum(group_differences.moves(parts, (dim,), dim) ** 2)
        assert alone == pytest.approx(jackknife.variance(parts, (dim,)), rel=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_variances_of_disjoint_groups_add_where_what_they_share_is_fixed(level):
    x, z = scores(5, (8, 20))
    measure = checked_measure(level, "pearson", "pairwise", "drop")
    one, two = compared(x, z, measure, "input", (8, 12), ("input",))
    found = group_differences.difference(one, two, measure, ("input",))
    v, w = one.estimated.standard_error**2, two.estimated.standard_error**2
    assert found.standard_error**2 == pytest.approx(v + w, rel=1e-12)
    assert found.df == pytest.approx((v + w) ** 2 / (v**2 / 7 + w**2 / 11), rel=1e-12)


@pytest.mark.parametrize("level", ["system", "input", "global"])
def test_over_systems_alone_groups_of_inputs_are_like_two_metrics(level):
    """A metric on the first inputs and the same on the others, each a metric of its own on as many inputs."""
    x, z = scores(6, (9, 12))
    measure = checked_measure(level, "pearson", "pairwise", "drop")
    groups = compared(x, z, measure, "input", (6, 6), ("system",))
    found = group_differences.difference(*groups, measure, ("system",))
    parts = [each.parts for each in groups]
    want = jackknife.of_two(parts, [each.estimated for each in groups], ("system",))
    assert found.standard_error == pytest.approx(want.standard_error, rel=1e-10)
    assert found.df == pytest.approx(want.df) == 8
    np.testing.assert_allclose(found.about(2.0), want.about(2.0), rtol=1e-9)


@pytest.mark.parametrize("dim", ["system", "input"])
def test_clusters_of_one_label_each_are_none_about_the_estimate(dim):
    """A cluster for each label changes nothing but the centre of squares: Σ(θ(−i) − θ)² for Σ(θ(−i) − mean)²."""
    x, z = scores(8, (14, 16))
    measure = checked_measure("global", "pearson", "pairwise", "drop")
    sizes = (7, 7) if dim == "system" else (8, 8)
    shared = np.arange(14), np.arange(16)
    groups = compared(x, z, measure, dim, sizes, BOTH, shared)
    plain = compared(x, z, measure, dim, sizes, BOTH)
    for one, two in zip(groups, plain, strict=True):
        for at in BOTH:
            off = np.array(getattr(two.parts, f"{at}s")) - two.parts.value
            want = (len(off) - 1) / len(off) * np.sum(off**2)
            assert np.sum(group_differences.moves(one.parts, BOTH, at) ** 2) == pytest.approx(want)
    found = group_differences.difference(*groups, measure, BOTH)
    assert found.estimate == group_differences.difference(*plain, measure, BOTH).estimate


def test_clusters_that_lie_in_two_groups_move_both():
    """Without a document that has inputs in both groups both estimates change; with documents of one group none do."""
    x, z = scores(9, (8, 24))
    measure = checked_measure("global", "pearson", "pairwise", "drop")
    across = np.arange(8), np.tile(np.arange(12), 2)
    within = np.arange(8), np.arange(24) // 2
    for shared, apart in ((across, False), (within, True)):
        groups = compared(x, z, measure, "input", (12, 12), ("input",), shared)
        (matrix, df), *rest = [
            (each.matrix, each.df) for each in group_differences.components(groups, measure, ("input",))
        ]
        assert bool(rest) == apart
        if apart:
            assert matrix[0, 1] == 0 and df == 5
            continue
        left = []  # the two estimates without each document, by leaving its inputs out
        for document in range(12):
            keep = [np.delete(np.arange(12), document) + start for start in (0, 12)]
            left.append([np.corrcoef(x[:, at].ravel(), z[:, at].ravel())[0, 1] for at in keep])
        whole = [np.corrcoef(x[:, at].ravel(), z[:, at].ravel())[0, 1] for at in (slice(12), slice(12, 24))]
        off = np.array(left) - whole
        assert matrix[0, 1] == pytest.approx(11 / 12 * np.sum(off[:, 0] * off[:, 1]), rel=1e-9) and df == 11
    # Where systems are random too the noise of single cells is in both dims: it counts once.
    groups = compared(x, z, measure, "input", (12, 12), BOTH, across)
    total = sum(each.matrix for each in group_differences.components(groups, measure, BOTH))
    systems, inputs = (
        group_differences.moves(groups[0].parts, BOTH, dim) @ group_differences.moves(groups[1].parts, BOTH, dim)
        for dim in BOTH
    )
    cells = np.sum(group_differences.cells(groups[0].parts) * group_differences.cells(groups[1].parts))
    assert total[0, 1] == pytest.approx(systems + inputs - cells, rel=1e-9)


def test_a_correlation_of_almost_1_is_on_fishers_scale():
    """Also where its bias leads so near to 1 that tanh is 1."""
    rng = np.random.default_rng(14)
    z = rng.normal(size=(6, 12))
    for noise in 10.0 ** -np.arange(3.0, 7.0):
        x = z + noise * rng.normal(size=z.shape)
        x[0] += 30 * noise * rng.normal(size=12)
        for level in LEVELS:
            measure = checked_measure(level, "pearson", "pairwise", "drop")
            groups = compared(x, z, measure, "input", (6, 6), BOTH)
            test = group_differences.heterogeneity(groups, measure, BOTH)
            fell_back = any(each.estimated.fell_back for each in groups)
            assert fell_back or 0 <= test.pvalue <= 1


def test_two_groups_have_the_square_of_a_t_statistic():
    x, z = scores(10, (12, 30))
    measure = checked_measure("input", "pearson", "pairwise", "drop")
    groups = compared(x, z, measure, "input", (12, 18), ("input",))
    test = group_differences.heterogeneity(groups, measure, ("input",))
    centres, errors = zip(*((np.arctanh(g.estimated.centre), g.estimated.standard_error / (1 - g.estimated.estimate**2))
                            for g in groups), strict=True)  # fmt: skip
    t = (centres[0] - centres[1]) / np.hypot(*errors)
    df = np.hypot(*errors) ** 4 / (errors[0] ** 4 / 11 + errors[1] ** 4 / 17)
    assert test.statistic == pytest.approx(t**2) and test.df_denominator == pytest.approx(df)
    assert test.pvalue == pytest.approx(2 * stats.t.sf(abs(t), df))


def test_one_part_is_hotellings_t_squared():
    """Of systems alone there is one part: Hotelling's test of the pseudovalues of contrasts."""
    x, z = scores(11, (11, 30))
    measure = checked_measure("global", "pearson", "pairwise", "drop")
    groups = compared(x, z, measure, "input", (10, 10, 10), ("system",))
    test = group_differences.heterogeneity(groups, measure, ("system",))
    n, q = 11, 2
    slopes = np.array([1 / (1 - each.estimated.estimate**2) for each in groups])
    left = np.array([each.parts.systems for each in groups]) * slopes[:, None]
    values = np.array([np.arctanh(each.estimated.centre) for each in groups])
    off, gaps = values[:-1] - values[-1], left[:-1] - left[-1]
    spread = (n - 1) ** 2 / n * np.cov(gaps)
    want = off @ np.linalg.solve(spread, off) * (n - q) / (q * (n - 1))
    assert test.statistic == pytest.approx(want) and test.df_denominator == pytest.approx(n - q)


def test_nothing_is_said_of_too_many_groups_or_of_what_does_not_vary():
    x, z = scores(12, (4, 30))
    measure = checked_measure("input", "pearson", "pairwise", "drop")
    found = compared(x, z, measure, "input", (6,) * 5, ("system",))
    assert np.isnan(group_differences.heterogeneity(found, measure, ("system",)).pvalue)
    assert np.isnan(group_differences.heterogeneity(found[:1], measure, ("system",)).pvalue)
    x[:, :6] = z[:, :6]
    found = compared(x, z, measure, "input", (6, 24), ("input",))
    assert found[0].estimated.fell_back
    assert np.isnan(group_differences.heterogeneity(found, measure, ("input",)).pvalue)
    # The same scores in both groups: their leave-outs move together, and nothing is left to compare.
    x, z = scores(13, (8, 6))
    twice = np.tile(x, 2), np.tile(z, 2)
    found = compared(*twice, measure, "input", (6, 6), ("system",))
    assert np.isnan(group_differences.heterogeneity(found, measure, ("system",)).pvalue)


def test_the_test_of_all_groups_needs_degrees_of_freedom_in_its_denominator():
    """ν − q + 1 of 0 and below leave none; the least above has the F distribution."""
    for nu in (1.0, 2.0):
        assert np.isnan(group_differences._by_f(5.0, 3, nu).pvalue)
        assert np.isnan(group_differences._by_f(5.0, 3, nu).statistic)
    found = group_differences._by_f(5.0, 3, 2.5)
    assert found.statistic == pytest.approx(5 * 0.5 / (2.5 * 3))
    assert found.pvalue == pytest.approx(stats.f.sf(found.statistic, 3, 0.5))


@pytest.mark.parametrize("level", LEVELS)
def test_a_covariate_costs_the_correlated_members_a_degree_of_freedom(level):
    """Groups of 6 and of 9 inputs, which share 8 systems; over all cells a covariate costs none."""
    x, z = scores(5, (8, 15))
    w = np.random.default_rng(6).normal(size=z.shape)
    measure = replace(checked_measure(level, "pearson", "pairwise", "drop"), given=("length",))
    groups = compared(x, np.stack([z, w]), measure, "input", (6, 9), BOTH)
    found = group_differences.components(groups, measure, BOTH)
    of_systems, of_inputs = {"within_system": (0, 1), "global": (0, 0)}.get(level, (1, 0))
    assert sorted(each.df for each in found) == sorted([7 - of_systems, 5 - of_inputs, 8 - of_inputs])


@pytest.mark.parametrize("level", ["input", "within_system"])
def test_cells_that_groups_share_are_a_part_of_the_dim_that_does_not_contain_their_noise(level):
    """Each of 12 clusters of inputs has an input of both groups, so all blocks of cells are shared."""
    x, z = scores(7, (9, 24))
    measure = checked_measure(level, "pearson", "pairwise", "drop")
    across = np.arange(9), np.tile(np.arange(12), 2)
    groups = compared(x, z, measure, "input", (12, 12), BOTH, across)
    found = group_differences.components(groups, measure, BOTH)
    one, two = (each.parts for each in groups)
    shared = {
        dim: np.sum(group_differences.moves(one, BOTH, dim) * group_differences.moves(two, BOTH, dim)) for dim in BOTH
    }
    noise = np.sum(group_differences.cells(one) * group_differences.cells(two))
    whole, other = ("input", "system") if level == "within_system" else BOTH
    assert [each.matrix[0, 1] for each in found] == pytest.approx([shared[whole], shared[other] - noise], rel=1e-9)
    assert abs(noise) > 1e-6


def test_inputs_without_a_correlation_in_a_group_give_no_degrees_of_freedom():
    """By Satterthwaite over inputs: each contributes the variance of a mean of r to the groups in which it has one."""
    x, z = scores(8, (12, 40))
    z[6:, 9:] = 1.0
    measure = checked_measure("input", "pearson", "pairwise", "drop")
    one, two = compared(x, z, measure, "system", (6, 6), ("input",))
    found = group_differences.difference(one, two, measure, ("input",))
    spreads = [each.estimated.standard_error**2 for each in (one, two)]
    parts = [spreads[0] / 40 + (spreads[1] / 9 if at < 9 else 0.0) for at in range(40)]
    assert found.df == pytest.approx(sum(parts) ** 2 / sum(part**2 for part in parts) - 1)
    assert found.df < 39
    test = group_differences.heterogeneity([one, two], measure, ("input",))
    assert test.df_denominator == pytest.approx(found.df)
