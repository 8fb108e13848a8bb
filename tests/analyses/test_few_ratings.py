"""What analyses of few ratings share: several metrics as one, and what is said of the ratings."""

import math

import numpy as np
import pytest
import xarray as xr
from conftest import warns

from xsumstat.analyses import few_ratings


def test_several_metrics_are_averaged_over_their_spread_within_systems():
    """In plain Python: squares about each system's mean over n − 1 of each, on cells that all metrics have."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 3, 5)) * np.array([1.0, 40.0])[:, None, None] + 7 * np.arange(3)[:, None]
    x[0, 1, 2] = x[1, 2, :4] = np.nan
    signs = [1.0, -1.0]
    cells = [[j for j in range(5) if not np.isnan(x[:, i, j]).any()] for i in range(3)]
    df = sum(len(each) - 1 for each in cells)
    factors = []
    for one, sign in zip(x, signs, strict=True):
        means = [sum(one[i, j] for j in each) / len(each) for i, each in enumerate(cells)]
        squares = sum((one[i, j] - means[i]) ** 2 for i, each in enumerate(cells) for j in each)
        factors.append(sign / (2 * math.sqrt(squares / df)))
    found, own = few_ratings.combined(x, np.array(signs))
    assert own == pytest.approx(factors)
    for i, each in enumerate(cells):
        for j in range(5):
            want = sum(factor * one[i, j] for factor, one in zip(factors, x, strict=True)) if j in each else math.nan
            assert found[i, j] == pytest.approx(want, nan_ok=True)


def test_a_metric_that_only_rounding_moves_does_not_help():
    x = np.array([[[0.3, 0.1 + 0.2, 0.3, 0.3], [5.0, 5.0, 5.0, 5.0]], [[1.0, 2.0, 4.0, 8.0], [2.0, 1.0, 1.0, 2.0]]])
    assert np.ptp(x[0, 0]) > 0
    found, factors = few_ratings.combined(x, np.ones(2))
    assert factors[0] == 0 and factors[1] > 0
    np.testing.assert_allclose(found, factors[1] * x[1])


@pytest.mark.parametrize(("share", "n", "told"), [(0.61, 5, True), (0.61, 4, False), (0.6, 50, False)])
def test_ratings_that_are_mostly_one_value_are_told_from_five_on(share, n, told):
    labels = {"system": ["a", "b"]}
    shares, numbers = xr.DataArray([share, 0.5], labels), xr.DataArray([n, 99], labels)
    if told:
        with pytest.warns(UserWarning, match="more than 60 % of the ratings are equal.*for a$|for 'a'"):
            few_ratings.warn_one_value(shares, numbers)
    else:
        few_ratings.warn_one_value(shares, numbers)


@pytest.mark.parametrize(("p", "told"), [(0.0049, True), (0.005, False)])
def test_ratings_are_no_random_sample_below_a_corrected_hundredth(p, told):
    pvalue = xr.DataArray([p, 0.5], {"system": ["a", "b"]})
    if told:
        with warns("not_random"):
            few_ratings.warn_not_random(pvalue)
    else:
        few_ratings.warn_not_random(pvalue)
