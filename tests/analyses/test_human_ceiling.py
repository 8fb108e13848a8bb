"""`human_ceiling`: what cannot be drawn, and what is said of draws."""

import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import of_code


@pytest.mark.parametrize("resample", ["input", "cell"])
def test_a_ceiling_of_one_label_cannot_be_drawn(resample):
    """Cells are drawn from all systems and inputs."""
    rng = np.random.default_rng(1)
    ds = xr.Dataset(
        {
            "score": (("metric", "system", "input"), rng.normal(size=(1, 6, 1))),
            "rating": (("rater", "system", "input"), rng.integers(1, 4, (3, 6, 1)) / 10),
        },
        {"metric": ["m"], "rater": [0, 1, 2]},
    )
    ask = {"level": "global", "resample": resample, "method": "bootstrap", "n_resamples": 9, "rng": 0}
    if resample == "cell":
        assert np.isfinite(ds.meta.human_ceiling("rating", **ask).correlation).all()
    else:
        with pytest.raises(ValueError, match="resample='input' has only one label to draw"):
            ds.meta.human_ceiling("rating", **ask)


@pytest.mark.parametrize("method, said", [("bootstrap", True), ("jackknife", False)])
def test_resamples_without_a_ceiling_are_told(method, said):
    """Of four systems three have one rating: a third of the draws take no other."""
    z = np.array([[1.0, 1, 1], [1, 1, 1], [1, 1, 1], [2, 3, 2]])
    ratings = np.stack([z, z, z + [[0], [0], [0], [1]]])
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), z[None]), "rating": (("rater", "system", "input"), ratings)},
        {"metric": ["m"], "rater": [0, 1, 2]},
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ds.meta.human_ceiling("rating", method=method, resample="system", n_resamples=99, rng=0)
    assert bool(of_code(caught, "resamples_undefined")) == said
