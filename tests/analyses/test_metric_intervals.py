"""Intervals of the correlations of metrics with each other."""

import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import of_code, warns


@pytest.mark.parametrize("level, resample", [("system", "both"), ("input", "input")])
@pytest.mark.parametrize("method", ["auto", "bootstrap"])
def test_each_row_is_ci_with_that_metric_as_gold(demo, level, resample, method):
    keywords = {"level": level, "resample": resample, "method": method}
    keywords |= {"n_resamples": 99, "rng": 3, "keep_samples": True} if method == "bootstrap" else {}
    chosen = ["human", "judge", "perplexity"]
    got = demo.meta.metric_ci(metric=chosen, **keywords)
    assert got.correlation.dims == ("metric", "other_metric") and got.attrs["analysis"] == "metric_ci"
    assert got.attrs["method"] == ("jackknife" if method == "auto" else "bootstrap")
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


@pytest.mark.parametrize("order", [["judge", "rouge", "bleu"], ["rouge", "judge", "bleu"], ["rouge", "bleu", "judge"]])
def test_a_constant_metric_is_nan_wherever_it_stands(demo, order):
    """The others' intervals are those without it; one warning, of a metric, as there is no gold."""
    ds = demo.copy(deep=True)
    ds.score.loc[{"metric": "judge"}] = 3.0
    with pytest.warns(UserWarning) as caught:
        got = ds.meta.metric_ci(metric=order, n_resamples=99, rng=1, level="input")
    (text,) = of_code(caught, "constant")
    assert len(caught) == 1 and text.endswith(" for metric 'judge'")
    assert got.metric.values.tolist() == order == got.other_metric.values.tolist()
    for name in ("correlation", "ci_low", "ci_high", "standard_error"):
        assert np.isnan(got[name].sel(metric="judge")).all() and np.isnan(got[name].sel(other_metric="judge")).all()
    want = demo.meta.metric_ci(metric=["rouge", "bleu"], n_resamples=99, rng=1, level="input")
    cell = {"metric": "rouge", "other_metric": "bleu"}
    for name in want.data_vars:
        assert float(got[name].sel(cell)) == float(want[name].sel(cell))
    with warns("constant"):
        r = ds.meta.metric_corr(metric=order, level="input").correlation
    assert np.isnan(r.sel(metric="judge")).all() and np.isnan(r.sel(other_metric="judge")).all()


def test_constant_metrics_only(demo):
    ds = demo.copy(deep=True)
    ds.score.loc[{"metric": ["judge", "bleu"]}] = 0.5
    with pytest.warns(UserWarning, match="constant scores, .* for metric 'bleu', 'judge'|for metric 'judge', 'bleu'"):
        got = ds.meta.metric_ci(metric=["judge", "bleu"], n_resamples=19, rng=1)
    assert np.isnan(got.correlation).all() and np.isnan(got.ci_low).all()
    assert got.attrs["analysis"] == "metric_ci"


def test_a_metric_that_is_constant_in_one_language(demo):
    both = xr.concat([demo[["score"]]] * 2, "language").assign_coords(language=["en", "de"])
    both = both.copy(deep=True)
    both.score.loc[{"metric": "judge", "language": "de"}] = 0.5
    for order in (["judge", "rouge"], ["rouge", "judge"]):
        with pytest.warns(UserWarning) as caught:
            got = both.meta.metric_ci(metric=order, n_resamples=19, rng=1)
        (text,) = of_code(caught, "constant")
        assert len(caught) == 1 and text.endswith(" for language/metric 'de/judge'")
        assert np.isnan(got.correlation.sel(language="de")).all()
        cell = got.sel(language="en", metric="judge", other_metric="rouge")
        want = demo.meta.metric_ci(metric=order, n_resamples=19, rng=1).sel(metric="judge", other_metric="rouge")
        assert float(cell.ci_low) == float(want.ci_low)


@pytest.mark.ignore_codes("constant")
def test_two_metrics_that_are_constant_in_one_language(demo):
    """In the other they are as they are alone."""
    both = xr.concat([demo[["score"]]] * 2, "language").assign_coords(language=["en", "de"]).copy(deep=True)
    both.score.loc[{"metric": ["judge", "rouge"], "language": "de"}] = 0.5
    got = both.meta.metric_ci(metric=["judge", "rouge"], n_resamples=19, rng=1)
    want = demo.meta.metric_ci(metric=["judge", "rouge"], n_resamples=19, rng=1)
    np.testing.assert_array_equal(got.ci_low.sel(language="en"), want.ci_low)
    assert np.isnan(got.correlation.sel(language="de")).all()


@pytest.mark.ignore_codes("constant", "no_score")
def test_a_metric_that_is_constant_in_one_language_and_absent_in_the_other(demo):
    both = xr.concat([demo[["score"]]] * 2, "language").assign_coords(language=["en", "de"]).copy(deep=True)
    both.score.loc[{"metric": "judge", "language": "de"}] = 0.5
    both.score.loc[{"metric": "judge", "language": "en"}] = np.nan
    for order in (["judge", "rouge", "bleu"], ["rouge", "bleu", "judge"]):
        got = both.meta.metric_ci(metric=order, n_resamples=19, rng=1)
        assert np.isnan(got.correlation.sel(metric="judge")).all()
        assert got.ci_low.sel(metric="rouge", other_metric="bleu").notnull().all()


def test_a_metric_may_be_called_gold(demo):
    """What a message says of the gold is said of a metric; a label is left as it is."""
    ds = demo.assign_coords(metric=["golden" if label == "judge" else label for label in demo.metric.values])
    ds = ds.copy(deep=True)
    ds.score.loc[{"metric": "golden", "input": ds.input[0]}] = np.nan
    ds.score[:, 0, :] = np.nan
    with pytest.warns(UserWarning) as caught:
        ds.meta.metric_ci(metric=["golden", "rouge", "bleu"], n_resamples=19, rng=1)
    texts = " ".join(str(each.message) for each in caught)
    assert "golden" in texts or "one metric" not in texts
    assert "one metricen" not in texts and "both gold" not in texts


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("order", [["human", "judge", "rouge", "bleu"], ["rouge", "bleu", "judge", "human"]])
@pytest.mark.parametrize("lazy", [False, True])
def test_what_is_random_is_the_same_for_all_pairs(demo, order, lazy):
    """Two metrics share four systems, for which alone inputs would be random; all intervals speak of new systems."""
    ds = demo.copy(deep=True)
    ds.score.loc[{"metric": ["rouge", "bleu"], "system": ds.system[4:]}] = np.nan
    scores = ds.chunk(metric=1) if lazy else ds
    got = scores.meta.metric_ci(metric=order).compute()
    assert got.attrs["resample"] == "both" and got.attrs["scope"] == "systems like these"
    assert (got.attrs["n_systems"], got.attrs["n_inputs"]) == (ds.sizes["system"], ds.sizes["input"])
    for one, other in (("rouge", "bleu"), ("judge", "rouge"), ("judge", "bleu")):
        want = ds.meta.ci(one, metric=other, resample="both")
        assert ds.meta.ci(one, metric=other).attrs["resample"] == "input"
        for name in ("correlation", "ci_low", "ci_high", "standard_error", "df"):
            here = got[name].sel(metric=one, other_metric=other)
            np.testing.assert_allclose(here, want[name].squeeze(), rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("how, said", [({}, True), ({"level": "global"}, True), ({"missing": "available"}, False)])
def test_outputs_that_one_metric_of_a_pair_lacks_are_told_where_they_are_left_out(demo, how, said):
    ds = demo.copy(deep=True)
    ds.score.loc[{"metric": "judge", "input": ds.input[:6]}] = np.nan
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ds.meta.metric_ci(metric=["judge", "rouge", "bleu"], **how)
    texts = [str(each.message) for each in caught]
    assert any("one metric of a pair has no score" in text for text in texts) == said
