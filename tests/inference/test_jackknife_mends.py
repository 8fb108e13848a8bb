"""The jackknife where one system is bad, and over inputs alone: bends by numerical differences, and simulations."""

import math

import numpy as np
import pytest
import scipy.stats

from xsumstat.analyses.measure import checked_measure
from xsumstat.coefficients import leave_one_out
from xsumstat.coefficients.curvature import second_order
from xsumstat.inference import jackknife
from xsumstat.inference.jackknife import bounded

BOTH, INPUT = ("system", "input"), ("input",)


def one(x, z, how, dims):
    return jackknife.of_one(leave_one_out.of(x, z, how), how, dims)


def crossed(rng, shape, rho, system_sd=0.6, t_df=None):
    """Scores of a metric and the gold from effects of systems, inputs and cells, all correlated by rho."""
    made = 0.0
    for sd, size in ((system_sd, (shape[0], 1)), (0.4, (1, shape[1])), (1.0, shape)):
        first, second = rng.normal(size=(2, *size))
        heavy = np.sqrt((t_df - 2) / rng.chisquare(t_df, size)) if t_df and size == (shape[0], 1) else 1.0
        made = made + sd * heavy * np.array([first, rho * first + math.sqrt(1 - rho**2) * second])
    return made


# --- One bad system ---


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("value, off, step", [(0.6, -1.1, 1e-12), (0.6, -0.3, 0.05), (0.95, -0.2, 0.04), (-0.2, 3, 0)])
def test_a_large_bias_is_taken_half_the_way_and_for_the_rest_after_arctanh(value, off, step, sign):
    on_r = np.clip(off, -(1 - value) / 2, (1 + value) / 2)
    centre = np.clip(value - on_r, step - 1, 1 - step)
    middle = math.atanh(centre) - (off - on_r) / (1 - centre**2)
    reach = scipy.stats.t.ppf(0.95, 7) * 0.1 / (1 - value**2)
    want = [math.tanh(middle - reach), math.tanh(middle + reach)]
    want = [min(want[0], value), max(want[1], value)]
    found = bounded(sign * value, sign * off, 0.1, 7, step)
    got = sorted(sign * each for each in found.interval(0.9))
    np.testing.assert_allclose(got, want, atol=1e-14)
    assert found.centre == pytest.approx(sign * math.tanh(middle), abs=1e-14) and abs(found.centre) < 1


def test_centres_within_half_the_way_are_value_less_bias():
    for value, off in ((0.6, -0.2), (0.6, 0.7), (-0.3, 0.1), (0.9, -0.04999)):
        found, middle = bounded(value, off, 0.1, 7), math.atanh(value - off)
        reach = jackknife.t_quantile(0.9, 7) * 0.1 / (1 - value**2)
        want = min(math.tanh(middle - reach), value), max(math.tanh(middle + reach), value)
        assert found.interval(0.9) == pytest.approx(want, rel=4e-16)


def bad_system(seed, shape, level, name="pearson"):
    x, z = crossed(np.random.default_rng(seed), shape, 0.6)
    x[0], z[0] = x[0] - 4, z[0] - 4
    how = checked_measure(level, name, "pairwise", "drop")
    return one(x, z, how, BOTH)


def test_one_bad_system_leaves_no_interval_from_the_estimate_to_1():
    """One system four below all: the bias leads beyond 1 in a tenth of sets or more."""
    beyond = 0
    for seed in range(40):
        found = bad_system(seed, (8, 20), "input")
        low, high = found.interval(0.95)
        assert low < found.estimate < high < 1
        beyond += found.centre > (1 + found.estimate) / 2
    assert beyond >= 4


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(10, 40), (8, 40)])
def test_intervals_with_one_bad_system_hold_the_truth(shape):
    found = [bad_system(seed, shape, "input").interval(0.95) for seed in range(200)]
    assert np.mean([low <= 0.6 <= high for low, high in found]) >= 0.93


# --- Inputs alone, systems' means ---


def pearson(x, z):
    return float(np.corrcoef(x, z)[0, 1])


def second_derivatives(x, z, moved_x, moved_z, h=1e-3):
    """Of Pearson's r of means by the weight of each two inputs, by central differences."""
    size = moved_x.shape[1]

    def r(weights):
        return pearson(x + moved_x @ weights, z + moved_z @ weights)

    unit, found = h * np.eye(size), np.empty((size, size))
    for j in range(size):
        for k in range(size):
            corners = [a * b * r(a * unit[j] + b * unit[k]) for a in (1, -1) for b in (1, -1)]
            found[j, k] = sum(corners) / (4 * h * h)
    return found


@pytest.mark.parametrize("shape", [(3, 9), (6, 5)])
def test_the_bend_is_the_second_derivative_of_r(shape):
    rng = np.random.default_rng(1)
    z = rng.normal(size=(shape[0], 1)) + rng.normal(size=shape)
    metrics = [z + rng.normal(size=shape) for _ in range(2)]
    how, m = checked_measure("system", "pearson", "pairwise", "drop"), shape[1]
    parts = [leave_one_out.of(x, z, how) for x in metrics]
    bends = []
    for x in metrics:
        rest = [each - each.mean(axis=1, keepdims=True) - each.mean(axis=0) + each.mean() for each in (x, z)]
        bends.append(second_derivatives(x.mean(axis=1), z.mean(axis=1), rest[0] / m, rest[1] / m))

    def b(bend):
        return m / (m - 1) * ((bend**2).sum() - (np.diag(bend) ** 2).sum()) / 2

    for own, bend in zip(parts, bends, strict=True):
        assert second_order(own.bends, m) == pytest.approx(b(bend), rel=1e-4)
    gap = parts[0].less(parts[1])
    assert second_order(gap.bends, m) == pytest.approx(b(bends[0] - bends[1]), rel=1e-4)
    v_i = m / (m - 1) * (gap.influence.sum(axis=0) ** 2).sum()
    want = max(v_i - b(bends[0] - bends[1]), v_i / 2)
    assert jackknife.variance(gap, INPUT) == pytest.approx(want, rel=1e-4)
    assert jackknife.variance(gap, BOTH) == jackknife.variance(parts[0].less(parts[1]), BOTH)


@pytest.mark.slow
def test_tests_over_inputs_alone_are_not_empty_at_system_level():
    """16 systems, two metrics that err by cells alone: the share without 0 was .000, the variance twice too large."""
    how = checked_measure("system", "pearson", "pairwise", "drop")
    found = []
    for seed in range(300):
        rng = np.random.default_rng((5, seed))
        s = 0.6 * rng.normal(size=(16, 1))
        scores = [s + 0.4 * rng.normal(size=(1, 100)) + rng.normal(size=(16, 100)) for _ in range(3)]
        parts = [leave_one_out.of(x, scores[0], how) for x in scores[1:]]
        gap = jackknife.of_two(parts, [jackknife.of_one(each, how, INPUT) for each in parts], INPUT)
        low, high = gap.interval(0.95)
        found.append((gap.estimate, gap.standard_error**2, not low <= 0 <= high))
    estimates, variances, without_0 = np.array(found).T
    assert 0.01 <= without_0.mean() <= 0.06
    assert 0.9 <= variances.mean() / estimates.var() <= 1.5


# --- Inputs alone, few systems ---


@pytest.mark.parametrize("name", ["pearson", "kendall"])
@pytest.mark.parametrize("level", ["input", "global", "within_system"])
def test_few_systems_have_intervals_over_inputs(level, name):
    """By leaving out each input in fact, with t of M - 1 and Fisher's scale; of two systems and of three."""
    rng = np.random.default_rng(11)
    how = checked_measure(level, name, "pairwise", "drop")
    for systems in (2, 3):
        x, z = crossed(rng, (systems, 12), 0.4)

        def value(x, z):
            of = pearson if name == "pearson" else lambda a, b: float(scipy.stats.kendalltau(a, b)[0])
            if level == "global":
                return of(x.ravel(), z.ravel())
            x, z = (x.T, z.T) if level == "input" else (x, z)
            return float(np.mean([of(a, b) for a, b in zip(x, z, strict=True)]))

        theta = value(x, z)
        without = np.array([value(np.delete(x, j, 1), np.delete(z, j, 1)) for j in range(12)])
        v = 11 / 12 * ((without - without.mean()) ** 2).sum()
        off = 0.0 if level == "input" else 11 * (without.mean() - theta)
        found = one(x, z, how, INPUT)
        assert found.df == 11 and found.standard_error == pytest.approx(math.sqrt(v), rel=1e-9)
        middle, reach = math.atanh(theta - off), scipy.stats.t.ppf(0.975, 11) * math.sqrt(v) / (1 - theta**2)
        np.testing.assert_allclose(found.interval(0.95), [math.tanh(middle - reach), math.tanh(middle + reach)])


@pytest.mark.slow
@pytest.mark.parametrize("systems", [2, 3, 5])
@pytest.mark.parametrize("level, name", [("input", "kendall"), ("input", "pearson"), ("global", "pearson")])
def test_intervals_of_these_systems_hold_their_truth(systems, level, name):
    """The truth is of these systems over many more inputs."""
    how, held = checked_measure(level, name, "pairwise", "drop"), []
    for seed in range(100):
        rng = np.random.default_rng((7, seed))
        s = rng.normal(size=(systems, 1)) * 0.6
        z = s + 0.4 * rng.normal(size=(1, 3120)) + rng.normal(size=(systems, 3120))
        x = 0.7 * z + rng.normal(size=z.shape)
        truth = leave_one_out.of(x[:, 120:], z[:, 120:], checked_measure(level, name, "pairwise", "drop")).value
        low, high = one(x[:, :120], z[:, :120], how, INPUT).interval(0.95)
        held.append(low <= truth <= high)
    assert 0.87 <= np.mean(held) <= 1


@pytest.mark.parametrize(
    "name, level, dim",
    [("kendall", "input", "input"), ("pearson", "within_system", "system"), ("acc_eq", "input", "input")],
)
@pytest.mark.parametrize("n, confidence_level", [(5, 0.95), (120, 0.9)])
def test_an_average_of_equal_correlations_has_exact_limits(name, level, dim, n, confidence_level):
    """Clopper and Pearson's limit of a share that is 1, as SciPy has it; the other values are the worst there are."""
    x = np.random.default_rng(n).normal(size=(3, n) if dim == "input" else (n, 4))
    found = one(x, 3 * x, checked_measure(level, name, "pairwise", "drop"), (dim,))
    low, high = found.interval(confidence_level)
    least = scipy.stats.binomtest(n, n).proportion_ci(confidence_level).low
    worst = 0 if name == "acc_eq" else -1
    assert (found.estimate, high, found.fell_back) == (pytest.approx(1), pytest.approx(1), True)
    assert low == pytest.approx(least + (1 - least) * worst, abs=1e-9)


def test_exact_limits_of_an_average_hold_the_mean_of_the_worst_populations():
    """Of groups at 1 with a chance p, else at -1; only samples that do not vary use these limits."""
    t = scipy.stats.t.ppf(0.975, 5)
    for p in (0.4, 0.5403, 0.6, 0.9, 0.99):
        low, _ = jackknife.of_equal(1.0, 6, 5.0).limits(t)
        missed = p**6 if low > 2 * p - 1 else 0.0
        assert missed <= 0.025


@pytest.mark.parametrize("name", ["pearson", "kendall", "spearman"])
@pytest.mark.parametrize(
    ("level", "shape", "dims"), [("input", (4, 25), INPUT), ("within_system", (25, 6), ("system",))]
)
def test_averages_over_random_groups_differ_by_a_paired_t_test(name, level, shape, dims):
    rng = np.random.default_rng(3)
    z = rng.normal(size=shape)
    x, y = (0.9 * z + 0.4 * rng.normal(size=shape) for _ in range(2))
    how = checked_measure(level, name, "pairwise", "drop")
    parts = [leave_one_out.of(each, z, how) for each in (x, y)]
    found = jackknife.of_two(parts, [jackknife.of_one(each, how, dims) for each in parts], dims)
    test = scipy.stats.ttest_rel(parts[0].r, parts[1].r)
    want = test.confidence_interval(0.9)
    assert found.interval(0.9) == pytest.approx((want.low, want.high), abs=1e-9) and not found.fell_back
    assert found.estimate / found.standard_error == pytest.approx(test.statistic)


@pytest.mark.parametrize(("name", "most"), [("pearson", 2.0), ("pairwise_accuracy", 1.0)])
def test_a_difference_stays_in_its_range(name, most):
    """Of values in [-1, 1] it is at most 2, of shares at most 1, however few the inputs."""
    z = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 1.0], [3.0, 1.0, 2.0]])
    better, worse = z + [[0, 0, 0], [0, 0, 0], [0, 3, 0]], -z
    how = checked_measure("input", name, "pairwise", "drop")
    parts = [leave_one_out.of(each, z, how) for each in (better, worse)]
    ones = [jackknife.of_one(each, how, INPUT) for each in parts]
    low, high = jackknife.of_two(parts, ones, INPUT, how.coefficient.stretch).interval(0.99)
    assert high == most and -most <= low < 0


@pytest.mark.slow
def test_the_size_near_one_is_nominal():
    """MOVER limits, which go by those of each metric, rejected 16 to 22 % with 3 systems and 8 or 30 inputs."""
    rng, rejected = np.random.default_rng(0), 0
    how = checked_measure("input", "pearson", "pairwise", "drop")
    for _ in range(400):
        z = rng.normal(size=(3, 30))
        x, y = (0.95 * z + math.sqrt(1 - 0.95**2) * rng.normal(size=z.shape) for _ in range(2))
        parts = [leave_one_out.of(each, z, how) for each in (x, y)]
        low, high = jackknife.of_two(parts, [jackknife.of_one(each, how, INPUT) for each in parts], INPUT).interval(
            0.95
        )
        rejected += low > 0 or high < 0
    assert rejected <= 33  # 5 %, and three standard errors


def test_a_perfect_metric_is_compared_by_the_paired_test_too():
    """Its own limits are wide, but the spread of the differences is known."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(4, 30))
    y = z + 1.5 * rng.normal(size=z.shape)
    how = checked_measure("input", "pearson", "pairwise", "drop")
    parts = [leave_one_out.of(each, z, how) for each in (2 * z, y)]
    found = jackknife.of_two(parts, [jackknife.of_one(each, how, INPUT) for each in parts], INPUT)
    want = scipy.stats.ttest_1samp(1 - parts[1].r, 0).confidence_interval(0.95)
    assert found.interval(0.95) == pytest.approx((want.low, want.high), abs=1e-9) and found.interval(0.95)[0] > 0


def test_limits_of_a_difference_stay_in_range():
    rng = np.random.default_rng(0)
    how = checked_measure("input", "kendall", "pairwise", "drop")
    for _ in range(40):
        x, y, z = rng.normal(size=(3, 3, 3))
        parts = [leave_one_out.of(each, z, how) for each in (x, y)]
        low, high = jackknife.of_two(parts, [jackknife.of_one(each, how, INPUT) for each in parts], INPUT).interval(
            0.95
        )
        assert -2 <= low <= high <= 2


def test_a_function_that_may_be_undefined_has_no_exact_limits():
    """How many inputs have a value is unknown; the built-in coefficient counts them."""
    z = np.random.default_rng(0).normal(size=(4, 40))
    z[:, 5:] = 1.0
    found = one(2 * z, z, checked_measure("input", "pearson", "pairwise", "drop"), INPUT)
    low = 2 * scipy.stats.binomtest(5, 5).proportion_ci(0.95).low - 1
    assert found.interval(0.95) == (pytest.approx(low), pytest.approx(1))
    by_function = checked_measure(
        "input", lambda x, z: np.corrcoef(x, z)[0, 1] if z.std() else np.nan, "pairwise", "drop"
    )
    with np.errstate(all="ignore"):
        assert one(2 * z, z, by_function, INPUT).interval(0.95) == (pytest.approx(1), pytest.approx(1))
