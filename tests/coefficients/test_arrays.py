"""Means of score matrices, beside a plain loop."""

import numpy as np
import pytest

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
