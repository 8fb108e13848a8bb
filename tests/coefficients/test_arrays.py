"""Means of score matrices, beside a plain loop."""

import numpy as np
import pytest
from scipy.stats import rankdata

from xsumstat.coefficients import arrays
from xsumstat.kernels import means


@pytest.mark.parametrize("systems", [1, 7])
def test_means_of_systems_have_the_bits_of_a_sum_in_turn_and_of_the_kernel(systems):
    """A plain loop, and the kernel that draws; NumPy's own sums add in another order."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(systems, 301)) * 10.0 ** rng.integers(-8, 8, (systems, 301))
    for cells in (np.ones(values.shape, bool), rng.random(values.shape) > 0.3, np.zeros(values.shape, bool)):
        mean, count = arrays.system_means(values, cells)
        for row, there, got, number in zip(values.tolist(), cells.tolist(), mean, count, strict=True):
            total = 0.0
            for value, is_there in zip(row, there, strict=True):
                total += value if is_there else 0.0
            assert number == sum(there) and got == (total / number if number else 0.0)
        out, weights = np.empty((2, systems, 1))
        means.means_lanes(arrays.filled(values, cells), arrays.or_none(cells), np.ones((301, 1)), out, weights)
        assert (out[:, 0] == mean).all() and (weights[:, 0] == count).all()


@pytest.mark.parametrize("turned", [False, True])
def test_means_are_equal_by_the_larger_of_two_magnitudes(turned):
    """A mean of numbers of size 1 beside a number that is no mean: rounding of the one parts them."""
    low, high = 1.0, 1.0 + 1e-13
    magnitudes = np.array([1.0, 0.0] if turned else [0.0, 1.0])
    assert arrays.made_equal(np.array([high, low]), magnitudes).tolist() == [low, low]
    assert arrays.made_equal(np.array([high, low]), np.zeros(2)).tolist() == [high, low]
    chain = np.array([3.0, np.nan, 1.0, 1 + 9e-13, 1 + 1.8e-12])  # each is near the next
    found = arrays.made_equal(chain, np.ones(5))
    np.testing.assert_array_equal(found, [3.0, np.nan, 1.0, 1.0, 1.0])


def test_means_of_scores_that_cancel_are_equal_by_the_size_of_these():
    values = np.array([1e-13, 0.0, 5e-12])
    assert arrays.snapped(values, np.ones(3)).tolist() == [0.0, 0.0, 5e-12]
    assert arrays.snapped(values, np.zeros(3)).tolist() == values.tolist()
    assert arrays.snapped(values, np.array([0.0, 1.0, 0.0])).tolist() == [0.0, 0.0, 5e-12]


@pytest.mark.parametrize(("n", "step"), [(2, 0.5), (1000, 0.5), (1001, 0.0), (1, 0.0)])
def test_scores_of_a_thousand_values_have_a_step(n, step):
    assert arrays.step_of(0.5 * np.arange(float(n))) == step


def test_equal_values_share_a_dense_rank():
    values = np.array([[3.0, 1.0, 3.0, 2.0, 1.0], [5.0, 5.0, 5.0, 5.0, 5.0]])
    order, codes = arrays.dense_codes(values)
    np.testing.assert_array_equal(codes, rankdata(values, "dense", axis=1) - 1)
    np.testing.assert_array_equal(np.take_along_axis(values, order, axis=1), np.sort(values, axis=1))
