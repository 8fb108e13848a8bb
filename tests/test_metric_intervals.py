import numpy as np
import pytest
import xarray as xr

import xsumstat  # noqa: F401


@pytest.mark.parametrize("level, resample", [("system", "both"), ("input", "input")])
def test_each_row_is_ci_with_that_metric_as_gold(demo, level, resample):
    keywords = {"level": level, "resample": resample, "n_resamples": 99, "rng": 3, "keep_samples": True}
    chosen = ["human", "judge", "perplexity"]
    got = demo.meta.metric_ci(metric=chosen, **keywords)
    assert got.correlation.dims == ("metric", "other_metric") and got.attrs["analysis"] == "metric_ci"
    for gold in chosen:
        others = [name for name in chosen if name != gold]
        want = demo.meta.ci(gold, metric=others, **keywords)
        for name in want.data_vars:
            here = got[name].sel(metric=gold, other_metric=others)
            np.testing.assert_allclose(here, want[name], atol=1e-12)
    assert np.isnan(np.diag(got.correlation)).all() and (np.diag(got.n_undefined) == 0).all()
    r = demo.meta.metric_corr(metric=chosen, level=level).correlation
    np.testing.assert_allclose(got.correlation.where(got.correlation.notnull(), 1), r)


def test_warnings_come_once_and_bad_arguments_plainly(demo):
    ds = demo.copy(deep=True)
    ds.score[:, 0, :] = np.nan
    with pytest.warns(UserWarning, match="extractor-1") as caught:
        ds.meta.metric_ci(metric=["human", "judge", "bleu", "rouge"], n_resamples=9)
    texts = [str(each.message) for each in caught]
    assert len(texts) == len(set(texts)) and not any("gold" in text for text in texts)
    with pytest.raises(ValueError, match="at least 2 metrics"):
        demo.meta.metric_ci(metric="judge")
    with pytest.raises(ValueError, match="unknown metric 'jury'"):
        demo.meta.metric_ci(metric=["judge", "jury"])
    both = xr.concat([demo[["score"]]] * 2, "language").meta.metric_ci(metric=["judge", "bleu"], n_resamples=9)
    assert set(both.ci_low.dims) == {"metric", "other_metric", "language"}
    labelled = xr.concat([demo[["score"]]] * 2, "language").assign_coords(language=["en", "de"])
    found = labelled.meta.metric_ci(metric=["judge", "bleu"], n_resamples=9, rng=1)
    assert found.language.values.tolist() == ["en", "de"]
    twice = demo.assign(judge=demo.score.sel(metric="judge", drop=True)).meta.metric_ci(
        metric=["judge", "bleu"], n_resamples=9, rng=1
    )
    np.testing.assert_array_equal(twice.ci_low, found.ci_low.sel(language="en"))
