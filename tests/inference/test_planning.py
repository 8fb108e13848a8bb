"""Expected variances in other designs, against the jackknife itself, closed forms and simulations."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.stats

import xsumstat
from xsumstat.analyses.measure import checked_measure
from xsumstat.coefficients import leave_one_out
from xsumstat.inference import components, jackknife, planning

EFFECTS = tuple(components.EFFECTS.values())


def scores(n, m, seed=0):
    """A metric and gold with effects of systems, inputs and cells."""
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=size) for size in ((n, 1), (1, m), (n, m))]
    gold = sum(parts)
    return 0.8 * gold + sum(0.4 * rng.normal(size=each.shape) for each in parts), gold


def from_parts(x, z, level, coefficient="pearson"):
    measure = checked_measure(level, coefficient, "pairwise", "drop")
    covariance = components.repaired(components.estimates(np.array([x, z]), EFFECTS, errors=False)[0])
    parts = leave_one_out.of(x, z, measure)
    return planning.FromParts.of(parts, measure, covariance), jackknife.of_one(parts, measure, ("system", "input"))


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("level", ["system", "input"])
def test_the_datas_own_design_has_the_datas_own_interval(level, coefficient):
    x, z = scores(14, 30)
    expected, own = from_parts(x, z, level, coefficient)
    low, high, error = planning.interval(expected, 14, 30, 0.95)
    assert error == pytest.approx(own.standard_error, rel=1e-9)
    np.testing.assert_allclose([low, high], own.interval(0.95), atol=1e-6)


def test_the_formula_of_the_input_level_is_as_written():
    x, z = scores(12, 20, 1)
    expected, _ = from_parts(x, z, "input")
    v_s, v_c, p = expected.systems, expected.cells, expected.inputs
    r = [np.corrcoef(x[:, j], z[:, j])[0, 1] for j in range(20)]
    without = [[np.corrcoef(np.delete(x[:, j], i), np.delete(z[:, j], i))[0, 1] for i in range(12)] for j in range(20)]
    averages = np.mean(without, axis=0)
    assert v_s == pytest.approx(11 / 12 * np.sum((averages - averages.mean()) ** 2))
    assert v_c == pytest.approx(np.mean([11 / 12 * np.sum((each - np.mean(each)) ** 2) for each in without]) / 20)
    assert p == pytest.approx(max(0.0, np.var(r, ddof=1) / 20 - v_c), abs=1e-12)
    want = 11 / 29 * (v_s - v_c + v_c * 20 / 50) + p * 20 / 50
    assert expected.variance(30, 50) == pytest.approx(want)
    assert expected.variance(30, math.inf) == pytest.approx(11 / 29 * (v_s - v_c))


def test_the_formula_of_the_system_level_is_as_written():
    x, z = scores(12, 20, 2)
    expected, _ = from_parts(x, z, "system")
    system, _, cell = expected.covariances

    def of_means(m):
        total = system + cell / m
        return total[0, 1] / math.sqrt(total[0, 0] * total[1, 1])

    rng, drawn = np.random.default_rng(0), {}
    for n, m in ((12, 20), (30, 50)):  # the variance of r in samples of n pairs
        one = rng.normal(size=(40_000, n))
        two = of_means(m) * one + math.sqrt(1 - of_means(m) ** 2) * rng.normal(size=one.shape)
        one, two = (each - each.mean(axis=1, keepdims=True) for each in (one, two))
        drawn[n] = np.var((one * two).sum(axis=1) / np.sqrt((one**2).sum(axis=1) * (two**2).sum(axis=1)))
    want = expected.systems * drawn[30] / drawn[12] + expected.inputs * 20 / 50
    assert expected.variance(30, 50) == pytest.approx(want, rel=0.03)
    assert expected.value(50) == pytest.approx(np.corrcoef(x.mean(1), z.mean(1))[0, 1] * of_means(50) / of_means(20))


def test_the_bias_of_other_numbers_of_systems():
    expected = replace(from_parts(*scores(12, 20, 3), "input")[0], off=0.06)
    assert [expected.bias(n) for n in (12, 23, 34)] == pytest.approx([0.06, 0.03, 0.02])  # as 1/(n − 1)


def test_of_these_systems_the_variance_falls_as_that_of_noisy_means():
    """Effects of eight systems stay; what is drawn is the noise of means, that of the gold three times the metric's."""
    rng = np.random.default_rng(5)
    x, z = scores(8, 40, 4)
    cov = np.array([[[1.0, 0.8], [0.8, 1.0]], np.zeros((2, 2)), [[1.0, 0.9], [0.9, 9.0]]])
    measure = checked_measure("system", "pearson", "pairwise", "drop")
    expected = planning.OfTheseSystems((8, 40), measure, 0.7, 0.0, 0.01, cov, cov)
    apart = rng.normal(size=(8, 2))
    apart = np.linalg.qr(apart - apart.mean(axis=0))[0].T * math.sqrt(8)  # of covariance 1
    fixed = np.linalg.cholesky(cov[0]) @ apart

    def drawn(cell, m):
        noise = np.einsum("ab,rbs->ras", np.linalg.cholesky(cell / m), rng.normal(size=(20_000, 2, 8)))
        one, two = np.moveaxis(fixed + noise, 1, 0)
        one, two = (each - each.mean(axis=1, keepdims=True) for each in (one, two))
        return np.var((one * two).sum(axis=1) / np.sqrt((one**2).sum(axis=1) * (two**2).sum(axis=1)))

    now = drawn(cov[2], 40)
    assert expected.variance(8, 160) / expected.variance(8, 40) == pytest.approx(drawn(cov[2], 160) / now, rel=0.1)
    surer = planning.with_noises(expected, 9.0, 2.0)  # of more raters
    less = np.array([[1.0, 0.9], [0.9, 2.0]])
    assert surer.variance(8, 40) / expected.variance(8, 40) == pytest.approx(drawn(less, 40) / now, rel=0.1)
    assert expected.variance(8, 40) == pytest.approx(0.01)


def test_of_constant_scores_nothing_is_planned():
    """Neither a variance nor a correlation has a value, and no interval is narrow."""
    cov, then = np.zeros((2, 3, 2, 2))
    then[2] = np.eye(2)
    measure = checked_measure("input", "pearson", "pairwise", "drop")
    expected = planning.OfTheseSystems((8, 40), measure, math.nan, 0.0, 0.01, cov, then)
    assert math.isnan(expected.variance(8, 80)) and math.isnan(expected.value(80))
    assert all(map(math.isnan, planning.interval(expected, 8, 80, 0.95)))
    assert math.isnan(planning.least_inputs(expected, 8, 0.5, 0.95))
    for level in ("system", "input"):
        assert math.isnan(planning.FromModel(level, cov).variance(8, 80))


@pytest.mark.parametrize("level", ["system", "input"])
def test_the_formula_of_a_model_is_the_variance_of_simulated_scores(level):
    agreement = {"m": {"system": 0.9, "input": 0.5, "cell": 0.4}}
    ds = xsumstat.simulate(24, 12, agreement=agreement, truth=False, rng=1)
    expected = planning.FromModel(level, covariances())
    rng = np.random.default_rng(0)
    from xsumstat.simulation.given_scores import model_of

    model = model_of(ds)[1]
    found = []
    for _ in range(1500):
        drawn, gold = model.draw((24, 12), rng)
        x, z = drawn[0], gold
        if level == "system":
            found.append(np.corrcoef(x.mean(1), z.mean(1))[0, 1])
        else:
            a, b = (each - each.mean(0) for each in (x, z))
            found.append(np.mean((a * b).sum(0) / np.sqrt((a**2).sum(0) * (b**2).sum(0))))
    assert np.std(found) == pytest.approx(math.sqrt(expected.variance(24, 12)), rel=0.1)
    assert np.mean(found) == pytest.approx(expected.value(12), abs=0.02)


def covariances():
    """Of the model above, by hand: standard deviations .6, .4 and 1."""
    return np.array([[[v, r * v], [r * v, v]] for v, r in ((0.36, 0.9), (0.16, 0.5), (1.0, 0.4))])


@pytest.mark.parametrize("rho", [0.0, 0.4, -0.9])
def test_where_cells_have_no_noise_inputs_add_nothing(rho):
    """Each input says the same then: the variance is that of one correlation of n systems, however many they are."""
    system = np.array([[1.0, 2.0 * rho], [2.0 * rho, 4.0]])
    model = planning.FromModel("input", np.array([system, np.eye(2), np.zeros((2, 2))]))
    for m in (1, 7, math.inf):
        assert model.variance(11, m) == pytest.approx((1 - rho**2) ** 2 / 10)


def test_the_least_number_of_inputs():
    expected, _ = from_parts(*scores(14, 30), "input")
    least = planning.least_inputs(expected, 40, 0.12, 0.95)
    assert planning.width(expected, 40, least, 0.95) <= 0.12 < planning.width(expected, 40, least - 1, 0.95)
    floor = planning.width(expected, 40, math.inf, 0.95)
    assert math.isnan(planning.least_inputs(expected, 40, 0.99 * floor, 0.95))


def test_the_least_inputs_where_widths_grow_with_them():
    """Cells correlate more than systems, so that means of more inputs correlate less, and less surely."""
    cov = np.array([[[0.25, 0.15], [0.15, 0.18]], [[0.1, 0.0], [0.0, 0.1]], [[9.0, 8.9], [8.9, 9.1]]])
    expected = planning.FromModel("system", cov)
    widths = [planning.width(expected, 20, m, 0.95) for m in (2, 5, 100, 10_000)]
    assert widths == sorted(widths)
    target = (widths[1] + widths[2]) / 2
    assert planning.least_inputs(expected, 20, target, 0.95) == 1
    assert math.isnan(planning.least_inputs(expected, 20, 0.5 * planning.width(expected, 20, 1, 0.95), 0.95))
    assert math.isnan(planning.width(expected, 3, 50, 0.95))


def test_accuracies_have_limits_on_their_own_scale():
    expected, own = from_parts(*scores(14, 30), "system", "pairwise_accuracy")
    low, high, error = planning.interval(expected, 14, 30, 0.95, scale=2.0)
    np.testing.assert_allclose([low, high], own.interval(0.95), atol=1e-6)
    assert error == pytest.approx(own.standard_error)


@dataclass(frozen=True)
class Halving:
    """A correlation of .5 with an error of 1/√m, and given degrees of freedom."""

    freedom: float = 9.0

    def variance(self, n, m):
        return 1 / m

    def value(self, m):
        return 0.5

    def bias(self, n):
        return 0.0

    def df(self, n, m):
        return self.freedom


def by_arctanh(df, m):
    reach = scipy.stats.t.ppf(0.975, df) / math.sqrt(m) / (1 - 0.5**2)
    return math.tanh(math.atanh(0.5) - reach), math.tanh(math.atanh(0.5) + reach)


def test_an_interval_needs_a_degree_of_freedom():
    low, high, error = planning.interval(Halving(1.0), 2, 100, 0.95)
    assert (low, high) == pytest.approx(by_arctanh(1, 100)) and error == 0.1
    assert all(math.isnan(each) for each in planning.interval(Halving(0.999), 2, 100, 0.95))


def test_a_width_that_is_just_reached_is_reached():
    low, high = by_arctanh(9, 77)
    exactly = planning.width(Halving(), 10, 77, 0.95)
    assert exactly == pytest.approx(high - low)
    assert planning.least_inputs(Halving(), 10, exactly, 0.95) == 77
    assert planning.least_inputs(Halving(), 10, math.nextafter(exactly, 0.0), 0.95) == 78


def test_as_few_systems_as_a_jackknife_takes_have_degrees_of_freedom():
    expected = planning.FromModel("system", np.array([np.eye(2), np.eye(2), np.eye(2)]))
    least = jackknife.LEAST_MEMBERS
    assert expected.df(least, 5) == least - 1 and math.isnan(expected.df(least - 1, 5))
