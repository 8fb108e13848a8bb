"""Alpha without each label against the package krippendorff, which counts what is left anew."""

import numpy as np
import pytest

from xsumstat.inference import alpha

krippendorff = pytest.importorskip("krippendorff")

MEASUREMENTS = ("nominal", "ordinal", "interval")


def likert(shape, missing, seed=0):
    rng = np.random.default_rng(seed)
    x = np.clip(rng.integers(1, 6, size=shape[:2])[..., None] + rng.integers(-1, 2, size=shape), 1, 5).astype(float)
    x[rng.random(shape) < missing] = np.nan
    return x


def with_gaps():
    """A system and an input where no cell has two ratings."""
    x = likert((6, 9, 4), 0.3)
    x[2, :, 1:] = np.nan
    x[:, 4, :3] = np.nan
    return x


def of_other_numbers_of_raters():
    x = likert((5, 8, 7), 0.0, seed=1)
    for at, cell in enumerate(x.reshape(-1, 7)):
        cell[at % 7 :] = np.nan
    return x


def continuous():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(6, 7))[..., None] + 0.5 * rng.normal(size=(6, 7, 3))
    x[rng.random(x.shape) < 0.1] = np.nan
    return x


def values_of_one_input():
    """One value only one input has, another only a cell that says nothing."""
    x = likert((5, 6, 3), 0.1, seed=3)
    x[:, 2, :2] = 9.0
    x[0, 0] = np.nan, np.nan, 7.0
    return x


def one_system_far_off():
    x = continuous()
    x[3] *= 1e7
    return x


CASES = {
    each.__name__: each()
    for each in (with_gaps, of_other_numbers_of_raters, continuous, values_of_one_input, one_system_far_off)
}


def by_package(units, measurement):
    """Alpha of ratings (units, raters), of those units that have two."""
    units = units[(~np.isnan(units)).sum(axis=1) > 1]
    if len(np.unique(units[~np.isnan(units)])) < 2:
        return np.nan
    return krippendorff.alpha(units.T, level_of_measurement=measurement)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
@pytest.mark.parametrize("case", CASES)
def test_without_each_system_and_input_it_is_that_of_the_rest(case, measurement):
    x = CASES[case]
    rated = alpha.RatedCells.of(x)
    raters = x.shape[2]
    assert alpha.of(rated, measurement) == pytest.approx(by_package(x.reshape(-1, raters), measurement), abs=1e-12)
    for axis, label in enumerate((rated.systems, rated.inputs)):
        without = alpha.Without(rated, label, x.shape[axis], measurement)
        got = [without(at) for at in range(x.shape[axis])]
        want = [by_package(np.delete(x, at, axis).reshape(-1, raters), measurement) for at in range(x.shape[axis])]
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)
        there = ((~np.isnan(x)).sum(axis=2) > 1).any(axis=1 - axis)
        np.testing.assert_array_equal(without.labels, np.flatnonzero(there))


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_both_ways_to_what_is_apart_agree(measurement, monkeypatch):
    """Few values by their coincidences, many by the sums of cells."""
    x = CASES["of_other_numbers_of_raters"]
    few, many = alpha.RatedCells.of(x), alpha.RatedCells.of(x)
    monkeypatch.setitem(many.__dict__, "_coincidences", None)
    assert few._coincidences is not None
    one, two = (alpha.Without(each, each.inputs, x.shape[1], measurement) for each in (few, many))
    np.testing.assert_allclose([one(at) for at in range(8)], [two(at) for at in range(8)], rtol=0, atol=1e-14)


@pytest.mark.parametrize("measurement", ["nominal", "interval"])
@pytest.mark.parametrize("case", [case for case in CASES if case != "one_system_far_off"])
def test_without_each_cell_it_is_that_of_the_rest(case, measurement):
    """Weights that no margin makes are the same without a cell."""
    x = CASES[case]
    rated = alpha.RatedCells.of(x)
    cells = np.arange(len(rated.size))
    got = alpha.without_each(rated, cells, len(cells), measurement)
    units = x[rated.systems, rated.inputs]
    want = [by_package(np.delete(units, at, 0), measurement) for at in cells]
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_where_one_value_is_left_there_is_none(measurement):
    x = np.full((3, 4, 3), 2.0)
    x[:, 1] = [1.0, 2.0, 3.0]
    rated = alpha.RatedCells.of(x)
    without = alpha.Without(rated, rated.inputs, 4, measurement)
    assert np.isnan([without(at) for at in range(4)]).tolist() == [False, True, False, False]
    alone = alpha.RatedCells.of(x[:1, :2])
    left = alpha.without_each(alone, np.arange(2), 2, measurement)
    assert np.isnan(left).tolist() == [False, True]


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_raters_of_one_mind_have_1_to_the_bit(measurement):
    x = np.repeat(likert((4, 5, 1), 0.0), 6, axis=2) / 3
    rated = alpha.RatedCells.of(x)
    assert alpha.of(rated, measurement) == 1.0
    without = alpha.Without(rated, rated.inputs, 5, measurement)
    assert {without(at) for at in range(5)} == {1.0}


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_two_values_that_are_left_have_an_alpha(measurement):
    """A third is given to one cell alone: without it, without its input and of the others there are two."""
    x = np.where(likert((4, 5, 3), 0.0, seed=4) > 3, 2.0, 1.0)
    two, third = x.copy(), x.copy()
    third[1, 2] = [3.0, 3.0, 1.0]
    of_two, of_three = alpha.RatedCells.of(two), alpha.RatedCells.of(third)
    assert alpha.of(of_two, measurement) == pytest.approx(by_package(two.reshape(-1, 3), measurement), abs=1e-12)
    without = alpha.Without(of_three, of_three.inputs, 5, measurement)
    left = np.delete(third, 2, axis=1)
    assert sorted(set(left.ravel())) == [1.0, 2.0]
    assert without(2) == pytest.approx(by_package(left.reshape(-1, 3), measurement), abs=1e-12)
    if measurement != "ordinal":
        cells, units = np.arange(20), third[of_three.systems, of_three.inputs]
        got = alpha.without_each(of_three, cells, 20, measurement)
        want = [by_package(np.delete(units, at, 0), measurement) for at in cells]
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)
        assert not np.isnan(got).any()
