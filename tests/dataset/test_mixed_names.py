"""Metrics whose names are texts, numbers and more are judged as any others."""

import numpy as np
import pytest


@pytest.mark.ignore_codes("negative_variance")
@pytest.mark.parametrize("question", ["perm_test", "corr_test", "variance_components", "corr"])
def test_names_of_mixed_types(demo, question):
    names = np.array(["human", 0, 1.5, None, True, "b"], dtype=object)
    few = demo.isel(metric=slice(6))[["score"]]
    how = {"n_resamples": 99, "rng": 0} if question == "perm_test" else {}
    want = getattr(few.assign_coords(metric=["human", *"vwxy", "b"]).meta, question)("human", **how)
    found = getattr(few.assign_coords(metric=names).meta, question)("human", **how)
    for name in want.data_vars:
        if want[name].dtype.kind == "f":
            np.testing.assert_array_equal(found[name].values, want[name].values)
