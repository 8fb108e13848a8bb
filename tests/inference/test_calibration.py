"""Maps of a judge's scores onto people's scale: against scikit-learn in plain loops, and a plain refitted jackknife."""

import math

import numpy as np
import pytest
import reference
import scipy.stats
from helpers import for_each, pairwise, same
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LinearRegression

from xsumstat.analyses.measure import checked_measure
from xsumstat.inference import calibration, jackknife
from xsumstat.inference.calibration import METHODS, Calibration, Refit, of_folds

SHAPE = (5, 18)


def scores(seed=0, values=9, shape=SHAPE, gaps=0.1):
    """A judge with ties and gaps, people with gaps, and folds."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=shape)
    x = np.round(values * (truth + 0.7 * rng.normal(size=shape)))
    z = np.clip(np.round(3 + truth + 0.5 * rng.normal(size=shape)), 1, 5)
    for each in (x, z):
        each[rng.random(shape) < gaps] = np.nan
    return x, z, of_folds(shape[1], 3, rng)


def quantile_map(x, z, new):
    """By mid-ranks, in plain loops."""
    known = sorted(set(x))
    people = sorted(z)
    values = []
    for each in known:
        below, equal = sum(x < each), sum(x == each)
        place = below + equal / 2 - 0.5  # k-th of n, from 0
        low = math.floor(place)
        high = min(low + 1, len(people) - 1)
        values.append(people[low] + (place - low) * (people[high] - people[low]))
    return np.interp(new, known, values)


def plain(x, z, folds, method, grades=()):
    """Each fold's outputs by a map of all others, with scikit-learn."""
    out = np.full(x.shape, np.nan)
    for fold in np.unique(folds):
        train, test = folds != fold, folds == fold
        both = ~np.isnan(x[:, train]) & ~np.isnan(z[:, train])
        a, b = x[:, train][both], z[:, train][both]
        new = x[:, test]
        there = ~np.isnan(new)
        if not len(a):
            continue
        if method == "isotonic":
            found = IsotonicRegression(out_of_bounds="clip").fit(a, b).predict(new[there])
        elif method == "linear":
            line = LinearRegression().fit(a[:, None], b)
            found = line.predict(new[there][:, None]) if line.coef_[0] > 0 else np.full(there.sum(), b.mean())
        else:
            found = quantile_map(a, b, new[there])
        if grades:
            found = np.array([min(grades, key=lambda grade: (round(abs(grade - each), 9), -grade)) for each in found])
        part = np.full(new.shape, np.nan)
        part[there] = found
        out[:, test] = part
    return out


@pairwise(
    {"method": list(METHODS), "values": [2, 9, 1e6], "grades": [(), (1.0, 2.0, 3.0, 4.0, 5.0), (1.0, 4.5)]}, as_one=True
)
def test_each_fold_is_mapped_by_the_others(method, values, grades):
    for seed in range(3):
        x, z, folds = scores(seed, values)
        got = Calibration(method, grades).cross_fitted(x, z, folds)
        np.testing.assert_allclose(got, plain(x, z, folds, method, grades), rtol=1e-9)


@for_each("method", METHODS)
def test_a_judge_that_falls_where_people_rise_tells_nothing(method):
    x, z, folds = scores(1, gaps=0.0)
    got = Calibration(method).cross_fitted(-np.round(z * 3), z, folds)
    if method != "quantile":
        for fold in range(3):
            np.testing.assert_allclose(got[:, folds == fold], z[:, folds != fold].mean(), rtol=1e-9)
    else:  # ranks are turned, and the distribution is people's
        assert got.min() >= 1 and got.max() <= 5 and np.corrcoef(got.ravel(), z.ravel())[0, 1] < -0.8


@for_each("method", METHODS)
def test_no_rating_of_a_fold_moves_its_own_scores(method):
    x, z, folds = scores(2)
    how = Calibration(method)
    before = how.cross_fitted(x, z, folds)
    other = np.where(folds == 1, z + 100.0, z)
    after = how.cross_fitted(x, other, folds)
    np.testing.assert_array_equal(before[:, folds == 1], after[:, folds == 1])
    assert not np.allclose(before[:, folds == 0], after[:, folds == 0], equal_nan=True)


@for_each("method", METHODS)
def test_scales_of_any_size(method):
    """A power of 2 changes nothing but the scale."""
    x, z, folds = scores(3)
    how = Calibration(method)
    plainly = how.cross_fitted(x, z, folds)
    for power in (-1050, 1000):
        got = how.cross_fitted(np.ldexp(x, power), np.ldexp(z, power), folds)
        np.testing.assert_allclose(np.ldexp(got, -power), plainly, rtol=1e-6)


def test_folds_are_of_equal_size():
    rng = np.random.default_rng(0)
    for size, folds in ((10, 5), (11, 5), (3, 3)):
        counts = np.bincount(of_folds(size, folds, rng), minlength=folds)
        assert counts.sum() == size and np.ptp(counts) <= 1


def test_one_fold_holds_all_ratings():
    x, z, folds = scores(4)
    z = np.where(folds == 0, z, np.nan)
    got = Calibration("isotonic").cross_fitted(x, z, folds)
    assert np.isnan(got[:, folds == 0]).all() and not np.isnan(got[:, folds == 1][~np.isnan(x[:, folds == 1])]).any()


# --- Refitted where labels are left out ---


def measure(level="global", name="pearson"):
    return checked_measure(level, name, "pairwise", "drop")


def estimate(x, z, folds, method, level, name, grades=()):
    mapped = plain(x, z, folds, method, grades)
    lists = ([[None if math.isnan(one) else one for one in row] for row in each.tolist()] for each in (mapped, z))
    return reference.correlation(name, *lists, level)


def plain_variances(x, z, folds, method, level, name, grades=()):
    """V of the estimates without each system, without each input and without each cell, everything made anew."""
    n, m = x.shape
    by_system = [
        estimate(np.delete(x, at, 0), np.delete(z, at, 0), folds, method, level, name, grades) for at in range(n)
    ]
    by_input = [
        estimate(np.delete(x, at, 1), np.delete(z, at, 1), np.delete(folds, at), method, level, name, grades)
        for at in range(m)
    ]
    by_cell = []
    for at in np.ndindex(n, m):
        one, two = x.copy(), z.copy()
        one[at] = two[at] = np.nan
        by_cell.append(estimate(one, two, folds, method, level, name, grades))
    return [sum((each - sum(all_) / len(all_)) ** 2 for each in all_) * (len(all_) - 1) / len(all_)
            for all_ in (by_system, by_input, by_cell)], by_system, by_input  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("level", "name"), [("global", "pearson"), ("input", "kendall"), ("system", "pearson")])
def test_the_variance_refits_the_calibration(method, level, name):
    """Everything calibrated anew from smaller matrices, with scikit-learn."""
    x, z, folds = scores(5, shape=(5, 8), gaps=0.0)
    calibrated = Calibration(method).cross_fitted(x, z, folds)
    refit = Refit(Calibration(method), x, z[None], folds, "judge")
    (of_systems, of_inputs, of_cells), *_ = plain_variances(x, z, folds, method, level, name)
    for dims, want in (
        (("system",), of_systems),
        (("input",), of_inputs),
        (("system", "input"), of_systems + max(0.0, of_inputs - of_cells)),
    ):
        parts = calibration.refitted(calibrated, z, refit, measure(level, name), dims, None)
        assert same(parts.value, estimate(x, z, folds, method, level, name), 1e-9)
        assert same(jackknife.variance(parts, dims), want, 1e-7), dims


@pytest.mark.slow
def test_limits_over_inputs_alone():
    """From 20 inputs on without halves of them; Fisher's scale, and t with one degree of freedom less than inputs."""
    x, z, folds = scores(6, shape=(2, 40), gaps=0.0)
    how = Calibration("isotonic", (1.0, 2.0, 3.0, 4.0, 5.0))
    calibrated = how.cross_fitted(x, z, folds)
    parts = calibration.refitted(calibrated, z, Refit(how, x, z[None], folds, "judge"), measure(), ("input",), None)
    found = jackknife.of_one(parts, measure(), ("input",)).interval(0.9)
    value = estimate(x, z, folds, "isotonic", "global", "pearson", how.grades)
    without = [
        estimate(x[:, ~half], z[:, ~half], folds[~half], "isotonic", "global", "pearson", how.grades)
        for half in calibration._halves(40)
    ]
    error = math.sqrt(sum((each - np.mean(without)) ** 2 for each in without) / len(without))
    reach = scipy.stats.t.ppf(0.95, 39) * error / (1 - value**2)
    np.testing.assert_allclose(found, np.tanh(np.arctanh(value) + np.array([-1, 1]) * reach), rtol=1e-7)


def test_halves_are_random_halves():
    """Each label is left out in half of them, each two labels in about a quarter."""
    for size in (20, 21, 500):
        halves = calibration._halves(size)
        assert halves.shape == (200, size) and set(halves.sum(axis=1)) == {size // 2, size - size // 2}
        assert (halves.sum(axis=0) == 100).all()
        together = (halves.T.astype(float) @ halves)[np.triu_indices(size, 1)] / 200
        assert abs(together.mean() - 0.25) < 0.02 and 0.02 < together.std() < 0.06
        assert len(np.unique(halves, axis=0)) == 200


@pytest.mark.slow
def test_fixed_values_would_be_too_sure():
    """The refitted variance is larger than that of the calibrated scores as they are, on average of few outputs."""
    ratios = []
    for seed in range(12):
        x, z, folds = scores(seed, shape=(1, 60), gaps=0.0)
        how = Calibration("isotonic", (1.0, 2.0, 3.0, 4.0, 5.0))
        calibrated = how.cross_fitted(x, z, folds)
        each = [
            calibration.refitted(calibrated, z, refit, measure(), ("input",), None)
            for refit in (Refit(how, x, z[None], folds, "judge"), None)
        ]
        ratios.append(jackknife.variance(each[0], ("input",)) / jackknife.variance(each[1], ("input",)))
    assert np.mean(ratios) > 1.2


def test_scores_that_do_not_come_out_again():
    x, z, folds = scores(8)
    how = Calibration("linear")
    calibrated = how.cross_fitted(x, z, folds)
    with pytest.raises(ValueError, match=r"'judge' does not come out again .* ds\.meta\.calibrate"):
        Refit(how, x, z[None, :, ::-1], folds, "judge").outputs(calibrated)


def test_nearly_constant_scores_have_no_variance():
    x, z, folds = scores(9, gaps=0.0)
    how = Calibration("isotonic")
    calibrated = how.cross_fitted(-z, z, folds)
    assert calibration.nearly_constant(calibrated, folds)
    refit = Refit(how, -z, z[None], folds, "judge")
    parts = calibration.refitted(calibrated, z, refit, measure(), ("input",), None)
    assert math.isnan(jackknife.of_one(parts, measure(), ("input",)).standard_error)
    assert not calibration.nearly_constant(how.cross_fitted(x, z, folds), folds)


@pytest.mark.parametrize(("n", "constant"), [(9, True), (10, False)])
def test_ten_outputs_with_other_scores_than_most_of_their_fold_are_enough(n, constant):
    calibrated, folds = np.tile([2.0, 3.0], (1, 20)), np.tile([0, 1], 20)  # each fold has a value of its own
    calibrated[0, :n] = 5.0
    assert calibration.nearly_constant(calibrated, folds) == constant


@pytest.mark.parametrize(("n", "size"), [(19, 19), (20, 200), (21, 200)])
def test_halves_of_twenty_inputs_are_left_out_and_fewer_singly(n, size):
    x, z, folds = scores(6, shape=(2, n), gaps=0.0)
    how = Calibration("linear")
    refit = Refit(how, x, z[None], folds, "judge")
    parts = calibration.refitted(how.cross_fitted(x, z, folds), z, refit, measure(), ("input",), None)
    assert len(parts.inputs) == size and parts.shape == (2, n)
    if n < 20:
        kept = [np.arange(n) != at for at in range(n)]
        want = [estimate(x[:, k], z[:, k], folds[k], "linear", "global", "pearson", ()) for k in kept]
        np.testing.assert_allclose(parts.inputs, want, rtol=1e-9)


def test_clusters_of_inputs_are_left_out_whole():
    x, z, folds = scores(10, shape=(2, 12), gaps=0.0)
    how, codes = Calibration("linear"), np.arange(12) // 2
    calibrated = how.cross_fitted(x, z, folds)
    clusters = np.arange(2), codes
    parts = calibration.refitted(calibrated, z, Refit(how, x, z[None], folds, "judge"), measure(), ("input",), clusters)
    want = [
        estimate(x[:, codes != at], z[:, codes != at], folds[codes != at], "linear", "global", "pearson")
        for at in range(6)
    ]
    np.testing.assert_allclose(parts.inputs, want, rtol=1e-9)


@pytest.mark.slow
def test_halves_tell_what_single_labels_do():
    """Of a line, which moves smoothly: the variances without halves of inputs and cells, and without each."""
    x, z, folds = scores(11, shape=(6, 24), gaps=0.0)
    how = Calibration("linear")
    calibrated = how.cross_fitted(x, z, folds)
    parts = calibration.refitted(
        calibrated, z, Refit(how, x, z[None], folds, "judge"), measure(), ("system", "input"), None
    )
    assert parts.shape == (6, 24)
    (of_systems, of_inputs, of_cells), *_ = plain_variances(x, z, folds, "linear", "global", "pearson")
    assert same(jackknife.deleted_variance(parts.systems), of_systems, 1e-9)
    for values, want in ((parts.inputs, of_inputs), (parts.cells, of_cells)):
        assert 0.75 < jackknife.deleted_variance(values) / want < 1.35
