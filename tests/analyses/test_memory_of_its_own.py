"""Writing into what an analysis gave changes nothing of the scores that it was made of."""

import numpy as np
import pytest
import xarray as xr


@pytest.fixture
def ds(demo):
    """Scores with a coordinate of each dim, ratings, and a variable without systems or inputs."""
    rating = demo.score.sel(metric="human", drop=True).round().expand_dims(rater=["ann", "bob", "cid"]).copy()
    kinds = {name: (name, np.arange(float(demo.sizes[name]))) for name in ("metric", "system", "input")}
    coords = {f"{name}_number": values for name, values in kinds.items()}
    truth = xr.DataArray(np.arange(3.0), {"level": ["a", "b", "c"]}, ["level"])
    return demo.assign(rating=rating, truth=truth).assign_coords(coords).assign_coords(epoch=7.0)


ASKED = {
    "top_k": lambda ds: ds.meta.top_k(4, by="human"),
    "top_k of all": lambda ds: ds.meta.top_k(ds.sizes["system"], by="human"),
    "sample_inputs": lambda ds: ds.meta.sample_inputs(metric=["rouge", "judge"], n_means=2, n_spreads=2, rng=1),
    "scoring_range": lambda ds: ds.meta.scoring_range(above=0.5, unit="quantile", metrics=["judge"]),
    "majority_vote": lambda ds: ds.meta.majority_vote("rating"),
    "drop_noisiest_rater": lambda ds: ds.meta.drop_noisiest_rater("rating"),
    "corr": lambda ds: ds.meta.corr("human"),
    "ci": lambda ds: ds.meta.ci("human"),
    "ci of pairs": lambda ds: ds.meta.ci("human", metric="judge", other="rouge"),
    "perm_test": lambda ds: ds.meta.perm_test("human", n_resamples=9, rng=1),
    "rank": lambda ds: ds.meta.rank("human", n_resamples=9, rng=1),
    "compare_systems": lambda ds: ds.meta.compare_systems(metric=["judge"], n_resamples=9, rng=1),
    "system_means": lambda ds: ds.meta.system_means("human", metric="judge"),
    "input_effect": lambda ds: ds.meta.input_effect(metric=["judge"]),
    "bias": lambda ds: ds.meta.bias("human", given="length"),
    "close_corr": lambda ds: ds.meta.close_corr("human"),
}


@pytest.mark.parametrize("name", ASKED)
def test_writing_into_a_result_leaves_the_scores_as_they_are(ds, name):
    before = ds.copy(deep=True)
    result = ASKED[name](ds)
    for label, values in result.variables.items():
        if label in result.indexes:
            continue
        for own in ds.variables.values():
            assert not np.shares_memory(values.values, own.values), label
        if values.values.flags.writeable:
            values.values.fill(values.values.flat[0])
    result.attrs.clear()
    xr.testing.assert_identical(ds, before)
