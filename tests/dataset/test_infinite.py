"""Infinite scores that are lazy: every analysis refuses them when it is computed."""

import numpy as np
import pytest
import xarray as xr

da = pytest.importorskip("dask.array")

ASKED = {
    "compare_systems": lambda ds: ds.meta.compare_systems(metric=["m", "human"]),
    "ppi": lambda ds: ds.meta.compare_systems(method="ppi", gold="human", metric="m"),
    "system_means": lambda ds: ds.meta.system_means("human", metric="m"),
    "normality": lambda ds: ds.meta.normality(metric=["m", "human"]),
    "input_effect": lambda ds: ds.meta.input_effect(metric=["m", "human"]),
    "discriminative_agreement": lambda ds: ds.meta.discriminative_agreement("human", n_resamples=9),
    "variance_components": lambda ds: ds.meta.variance_components("human"),
    "corr": lambda ds: ds.meta.corr("human"),
}


@pytest.mark.parametrize(
    "question, metric",
    [*((name, ("m", "human")[at % 2]) for at, name in enumerate(ASKED)), ("corr", "m"), ("system_means", "human")],
)
def test_infinite_lazy_scores_are_refused(question, metric):
    rng = np.random.default_rng(0)
    score = rng.normal(size=(2, 6, 9))
    score[["human", "m"].index(metric), 1, 2] = -np.inf
    lazy = da.from_array(score, chunks=(1, 6, 9))
    ds = xr.Dataset({"score": (("metric", "system", "input"), lazy)}, {"metric": ["human", "m"]})
    with pytest.raises(ValueError, match="infinite values"):
        ASKED[question](ds).compute()


def test_scores_near_the_largest_numbers_are_no_infinities():
    rng = np.random.default_rng(1)
    score = 1.7e308 * rng.uniform(-1, 1, size=(2, 6, 9))
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": ["human", "m"]})
    lazy = ds.assign(score=(ds.score.dims, da.from_array(score, chunks=(1, 6, 9))))
    xr.testing.assert_identical(lazy.meta.corr("human", level="input").compute(), ds.meta.corr("human", level="input"))
