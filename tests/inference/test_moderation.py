"""Moderated variances: by a plain twin, and that an odd system and the others hold what they say."""

import math

import few_ratings_twin as twin
import numpy as np
import pytest
from scipy import special, stats

from xsumstat.inference import moderation
from xsumstat.inference import system_means as estimator


@pytest.mark.parametrize("k", [3, 6, 40])
@pytest.mark.parametrize("apart", [0.0, 0.5, 2.0])
def test_the_common_variance_is_that_of_smyth(k, apart):
    rng = np.random.default_rng(k)
    df = rng.integers(2, 30, size=k).astype(float)
    variance = np.exp(apart * rng.normal(size=k)) * rng.chisquare(df) / df
    d0, centre = moderation.common(variance, df, np.ones(k, dtype=bool))
    expected = twin.fitted_prior(variance.tolist(), df.tolist())
    assert float(d0[0]) == pytest.approx(expected[0], rel=1e-8)
    assert float(centre[0]) == pytest.approx(expected[1], rel=1e-8)
    drawn, weight = moderation.moderated(variance, df, np.ones(k, dtype=bool), 2.0)
    np.testing.assert_allclose(drawn, twin.moderated(variance.tolist(), df.tolist()), rtol=1e-8)
    assert (drawn >= variance).all() and 0 < float(weight[0]) <= 2.0


def test_d0_of_variances_that_were_drawn_with_it_is_found_again():
    rng = np.random.default_rng(1)
    df, d0, common = np.full(4000, 9.0), 3.0, 2.5
    variance = common * d0 / rng.chisquare(d0, size=4000) * rng.chisquare(df) / df
    found = [float(each[0]) for each in moderation.common(variance, df, np.ones(4000, dtype=bool))]
    assert found == pytest.approx([d0, common], rel=0.1)


@pytest.mark.parametrize("x", [1e-6, 1e-3, 0.4, 1.0, 30.0, 1e5, 1e8])
def test_inverse_of_trigamma(x):
    y = special.polygamma(1, x)
    assert float(moderation.inverse_trigamma(np.array(y))) == pytest.approx(x, rel=1e-6)


@pytest.mark.parametrize("variance", [[1.0, 4.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [2.0, math.nan, 2.0, 5.0, 0.1]])
def test_too_little_to_estimate(variance):
    there = ~np.isnan(variance)
    drawn, d0 = moderation.moderated(np.array(variance), np.full(len(variance), 4.0), there, 2.0)
    known = [each for each in variance if not math.isnan(each)]
    np.testing.assert_allclose(drawn[there], twin.moderated(known, [4.0] * len(known)))
    assert np.isfinite(d0).all() and (d0 == 0).all() == (len(known) < 3)


def held(spread, n, n_trials, seed=0):
    """How often limits of ratings alone and with a metric hold the mean, of each system."""
    rng = np.random.default_rng(seed)
    spread = np.asarray(spread, dtype=float)[:, None]
    z = spread * rng.normal(size=(n_trials, len(spread), 80))
    f = 0.6 * z / spread + 0.8 * rng.normal(size=z.shape)
    few = np.where(np.arange(80) < n, z, np.nan)
    found = estimator.system_means(f, few, estimator.Strata.none(80), "new", 0.95)
    both = ("", "human_")
    return np.array([((found[f"{each}ci_low"] <= 0) & (found[f"{each}ci_high"] >= 0)).mean(axis=0) for each in both])


def test_one_odd_system_is_not_shrunk_into_the_others():
    """With d0 = 2 and the mean variance the odd one held .90 and the others .998 (ten times the spread)."""
    for odd in (3, 10):
        shares = held([odd, 1, 1, 1, 1, 1], 10, 1500)
        assert (shares[:, 0] > 0.93).all()
        assert (shares[:, 1:] > 0.93).all() and (shares[:, 1:].mean(axis=1) < 0.975).all()


def test_systems_that_vary_alike_hold_what_they_say():
    shares = held([1, 1, 1, 1, 1, 1], 10, 1000)
    assert (0.94 < shares.mean(axis=1)).all() and (shares.mean(axis=1) < 0.97).all()
    human = held([1, 1], 10, 2000)[1].mean()
    assert human == pytest.approx(0.95, abs=4 * stats.sem(np.r_[np.zeros(200), np.ones(3800)]))
