"""Documents are warned of wherever inputs are random, with what the question can do about them."""

import numpy as np
import pytest
import xarray as xr

import xsumstat

WITH_CLUSTER = {
    "agreement": lambda ds, **how: ds.meta.agreement("rating", **how),
    "alt_test": lambda ds, **how: ds.meta.alt_test("rating", metric="judge", **how),
    "human_ceiling": lambda ds, **how: ds.meta.human_ceiling("rating", metric="judge", **how),
    "ci": lambda ds, **how: ds.meta.ci("human", metric="judge", **how),
    "drift": lambda ds, **how: ds.meta.drift(ds.assign(score=ds.score * 1.1), "human", metric="judge", **how),
    "compare_systems": lambda ds, **how: ds.meta.compare_systems(metric="human", **how),
}


def scores(name):
    rng = np.random.default_rng(0)
    rating = np.clip(np.rint(3 + rng.normal(size=(5, 40, 1)) + 0.5 * rng.normal(size=(5, 40, 4))), 1, 5)
    judge = np.clip(np.rint(rating.mean(axis=-1) + 0.5 * rng.normal(size=(5, 40))), 1, 5)
    judge[0, :8] = np.nan
    score = (("metric", "system", "input"), np.stack([judge, rating.mean(axis=-1)]))
    ds = xr.Dataset({"score": score, "rating": (("system", "input", "rater"), rating)}, attrs={"gold": "human"})
    ds = ds.assign_coords(metric=["judge", "human"], system=list("abcde"), rater=list("wxyz"))
    return ds.assign_coords({name: ("input", np.arange(40) // 4)})


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_where_nothing_takes_them_one_input_of_each_is_advised():
    told = "40 inputs come from 10 documents.*; missingness has no cluster=, so keep one input of each document"
    with pytest.warns(xsumstat.CautionWarning, match=told):
        scores("document").meta.missingness(gold="human", metric="judge", n_resamples=99, rng=0)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["document", "doc_id"])
@pytest.mark.parametrize("question", WITH_CLUSTER)
def test_what_takes_them_says_so_by_their_name(question, name):
    with pytest.warns(xsumstat.CautionWarning, match=f"from 10 documents.*; cluster='{name}' keeps documents together"):
        WITH_CLUSTER[question](scores(name))


@pytest.mark.parametrize("question", WITH_CLUSTER)
def test_with_clusters_nothing_is_said(question, recwarn):
    WITH_CLUSTER[question](scores("document"), cluster="document")
    assert not [each for each in recwarn if getattr(each.message, "code", "") == "documents"]
