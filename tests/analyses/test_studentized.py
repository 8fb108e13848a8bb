"""The bootstrap-t of `ci`: what it is asked with, and that lazy scores have the same bits."""

import warnings

import numpy as np
import pytest
import xarray as xr

from xsumstat.coefficients import table
from xsumstat.coefficients.record import Measure
from xsumstat.resampling import studentized
from xsumstat.resampling.bootstrap import BootstrapInterval

ASK = {"level": "input", "coefficient": "kendall", "interval": "studentized", "n_resamples": 90, "rng": 3}


@pytest.mark.parametrize("resample", ["both", "system", ("input", "system")])
def test_ci_labels_the_intervals(small, resample):
    got = small.meta.ci("m0", resample=resample, keep_samples=True, confidence_level=0.8, **ASK)
    dims = ("system", "input") if isinstance(resample, tuple) or resample == "both" else (resample,)
    how = BootstrapInterval("studentized", dims, 90, 3, 0.8)
    scores = small.score.values
    want = studentized.intervals(scores[1:], scores[0], ((0,), (1,), (2,)), Measure(table.get("kendall"), "input"), how)
    names = ("correlation", *studentized.Studentized.names[1:])
    for name, numbers in zip(names, want, strict=True):
        np.testing.assert_array_equal(got[name], numbers)
    assert (got.attrs["method"], got.attrs["interval"]) == ("bootstrap", "studentized")
    assert got.fell_back.dtype == bool and got.n_undefined.dtype.kind == "i" and "df" not in got
    np.testing.assert_allclose(got.bias, got.samples.mean("resample") - got.correlation, atol=1e-12)
    assert ((got.ci_low < got.correlation) & (got.correlation < got.ci_high)).all()


@pytest.mark.parametrize("other", [None, ["m1", "m3"]])
def test_lazy_scores_have_the_same_bits(small, other):
    both = xr.concat([small, small.isel(system=slice(None, None, -1)).assign_coords(system=small.system)], "language")
    ask = {**ASK, "other": other, "keep_samples": True, "n_resamples": 1100}
    eager = both.meta.ci("m0", **ask)
    lazy = both.chunk({"language": 1, "metric": 2}).meta.ci("m0", **ask)
    assert lazy.ci_low.chunks is not None
    for name in ("ci_low", "ci_high", "standard_error", "n_undefined", "fell_back", "samples"):
        assert lazy[name].values.tobytes() == eager[name].values.tobytes()


def test_differences_change_their_sign_with_their_metrics(small):
    """Both ways round the draws are the same, and so the limits are each other's."""
    one = small.meta.ci("m0", metric="m1", other="m2", **ASK).squeeze()
    two = small.meta.ci("m0", metric="m2", other="m1", **ASK).squeeze()
    assert float(one.difference) == -float(two.difference)
    np.testing.assert_allclose([one.ci_low, one.ci_high], [-two.ci_high, -two.ci_low], atol=1e-9)
    assert one.attrs["interval"] == "studentized"


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"level": "system"}, "interval='studentized' needs level='input', got 'system'"),
        ({"level": "within_system"}, "interval='studentized' needs level='input', got 'within_system'"),
        ({"resample": "input"}, r"interval='studentized' draws systems: resample must be 'both' or 'system', got"),
        ({"resample": ("system", "rater")}, r"interval='studentized' draws systems: .* got \('system', 'rater'\)"),
        ({"method": "jackknife"}, "interval='studentized' needs method='bootstrap', got method='jackknife'"),
    ],
)
def test_what_it_is_not_for(small, keywords, message):
    with pytest.raises(ValueError, match=message):
        small.meta.ci("m0", **{**ASK, **keywords})


def told(ds):
    """What is said, and the interval of the first metric."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ds.meta.ci("m0", metric="m1", **ASK)
    return " ".join(str(each.message) for each in caught), found


def test_what_is_wrong_is_said(small):
    said, got = told(small.isel(system=slice(3)))
    assert "no bootstrap-t interval, which needs 4 systems" in said and np.isnan([got.ci_low, got.ci_high]).all()
    copied = small.copy(deep=True)
    copied.score[1] = 2 * copied.score[0] + 1
    said, got = told(copied)
    assert "the jackknife interval is used instead, for 'm1'" in said
    assert got.fell_back.all() and got.ci_low.item() == got.ci_high.item() == 1.0
