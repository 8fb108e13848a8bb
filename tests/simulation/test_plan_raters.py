"""The noise of ratings that plans start from, when outputs have unequal numbers of ratings."""

import numpy as np
import pytest

from xsumstat.inference import components
from xsumstat.simulation import plan_systems
from xsumstat.simulation.plan_raters import Noise

CELL, RESIDUAL, RATER = 0.5, 1.0, 0.3


def ratings(seed, systems=20, inputs=60, raters=4):
    """Half of the outputs have one rating, half all four."""
    rng = np.random.default_rng(seed)
    cell = rng.normal(size=(systems, 1)) + rng.normal(size=(1, inputs)) + CELL**0.5 * rng.normal(size=(systems, inputs))
    values = cell[..., None] + RATER**0.5 * rng.normal(size=raters)
    values = values + RESIDUAL**0.5 * rng.normal(size=values.shape)
    one = rng.permutation(systems * inputs).reshape(systems, inputs) < systems * inputs // 2
    own = rng.integers(raters, size=one.shape)[..., None] == np.arange(raters)
    return np.where(one[..., None] & ~own, np.nan, values)


def test_one_over_the_number_of_raters_is_averaged():
    """Of 1 and 4 ratings half each: (1 + 1/4)/2 = .625, and not 1/2.5."""
    noise = Noise.of(ratings(0))
    assert noise.shared == pytest.approx(0.625)
    parts = components.of_ratings(ratings(0))
    assert (noise.cell, noise.residual) == pytest.approx((parts["cell"], parts["residual"]))
    assert noise.offsets == pytest.approx(parts["rater"] * (0.625 - 1 / 4))
    assert noise.variance(2) == pytest.approx(parts["cell"] + parts["residual"] / 2)


def test_the_noise_of_means_is_the_variance_of_the_cells_of_means():
    """What the formula says of means of unequal numbers of ratings, the means themselves have."""
    told, found = [], []
    for seed in range(12):
        values = ratings(seed)
        told.append(Noise.of(values).variance(None))
        found.append(float(components.crossed(np.nanmean(values, axis=-1)[None])[2, 0, 0]))
    assert np.mean(told) == pytest.approx(np.mean(found), rel=0.04)
    assert np.mean(told) == pytest.approx(CELL + RESIDUAL * 0.625 + RATER * (0.625 - 0.25), rel=0.06)


def test_a_judge_explains_no_more_than_ratings_leave():
    """Where ratings say that outputs hardly differ, a judge of the same means can't explain more than that."""
    human = np.nanmean(ratings(2), axis=-1)
    for cell, most in ((0.01, True), (50.0, False)):
        spread = plan_systems._spread(human + 1e-6, human, Noise(cell, 1.0, 0.5), False, "difference")
        assert spread.between == 2 * cell and spread.noise == 2
        assert spread.explained == spread.between if most else 0 < spread.explained < spread.between


def test_strictness_cancels_where_all_rate_all_and_single_ratings_tell_no_noise():
    values = ratings(1)
    full = np.where(np.isnan(values), 0.0, values)
    assert Noise.of(full).offsets == 0 and Noise.of(full).shared == 0.25
    single = np.where(np.arange(4) == 0, full, np.nan)
    noise = Noise.of(single)
    assert (noise.residual, noise.shared, noise.offsets) == (0.0, 1.0, 0.0)
    assert noise.variance(3) == noise.variance(None) == noise.cell
