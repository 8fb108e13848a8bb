"""Means and variances of coefficients in samples of normal scores, against draws and what is known of two and many."""

import math

import numpy as np
import pytest
from helpers import by_turns

from xsumstat.coefficients import normal_samples

stats = pytest.importorskip("scipy.stats")
SAMPLES = {
    "pearson": (normal_samples.of_pearson, lambda x, z: np.corrcoef(x, z)[0, 1]),
    "tau": (normal_samples.of_tau, lambda x, z: stats.kendalltau(x, z).statistic),
    "accuracy": (normal_samples.of_accuracy, lambda x, z: 0.5 + stats.kendalltau(x, z).statistic / 2),
    "rho": (normal_samples.of_rho, lambda x, z: stats.spearmanr(x, z).statistic),
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("n", by_turns([8, 3]))
def test_moments_are_those_of_drawn_samples(name, n):
    of_sample, coefficient = SAMPLES[name]
    rng, r, trials = np.random.default_rng(1), 0.6, 1500
    x = rng.normal(size=(trials, n))
    z = r * x + math.sqrt(1 - r**2) * rng.normal(size=x.shape)
    found = np.array([coefficient(*each) for each in zip(x, z, strict=True)])
    mean, variance = of_sample(r, n)
    assert found.mean() == pytest.approx(mean, abs=4 * found.std() / math.sqrt(trials))
    if name != "rho":  # whose variance is known but for a factor
        assert found.var() == pytest.approx(variance, rel=0.12)


def test_of_two_pairs_a_correlation_is_a_sign():
    for r in (-0.9, 0.0, 0.3, 0.99):
        mean = 2 / math.pi * math.asin(r)
        for of_sample in (normal_samples.of_pearson, normal_samples.of_tau):
            assert of_sample(r, 2) == pytest.approx((mean, 1 - mean**2))


def test_of_many_pairs_the_variance_is_fishers():
    assert normal_samples.of_pearson(0.5, 4001) == pytest.approx((0.5, 0.75**2 / 4000), rel=2e-3)
    assert normal_samples.of_pearson(0.0, 11)[1] == pytest.approx(1 / 10)
    assert normal_samples.of_tau(0.0, 11)[1] == pytest.approx(2 * 27 / (9 * 11 * 10))  # Kendall's, without a relation
    assert normal_samples.of_pearson(-0.5, 9)[0] == -normal_samples.of_pearson(0.5, 9)[0]
