"""Of which systems and inputs results speak: scores of one input, small groups, the best systems, and advice on it."""

import warnings

import numpy as np
import pytest
import xarray as xr

import xsumstat
from xsumstat.core.caveats import MetaEvaluationWarning


@pytest.fixture
def one():
    ds = xsumstat.load_dataset("demo")
    mean = ds[["score"]].mean("input").expand_dims(input=["all"]).assign_attrs(gold="human")
    return mean.assign_coords(higher_is_better=ds.higher_is_better)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["ci", "compare_metrics"])
def test_systems_alone_are_random(one, name):
    found, asked = getattr(one.meta, name)("human"), getattr(one.meta, name)("human", resample="system")
    assert found.attrs["resample"] == "system"
    np.testing.assert_allclose(found["ci_low"], asked["ci_low"])
    assert "systems like these on this input" in found.meta.conclusion()
    assert "apply to systems like these on this input" in found.meta.methods()


@pytest.mark.filterwarnings("ignore")
def test_a_report_has_one_scope(one):
    page = one.meta.report("human")
    assert "systems like these on this input" in str(page).replace("\n", " ") and len(page.comparisons()) == 1
    assert 'resample="input"' not in page.code and "for these" not in str(page)


@pytest.mark.filterwarnings("ignore")
def test_methods_tell_how_the_intervals_of_small_groups_were_made():
    """The jackknife needs 4 systems at system level; of a group of 3, tau's intervals are those of a bootstrap."""
    ds = xsumstat.load_dataset("demo").assign_coords(part=("system", ["x"] * 3 + ["y"] * 9))
    found = ds.meta.ci("human", metric=["judge", "bleu"], by="part", coefficient="kendall", rng=1)
    assert set(found["fell_back"].sel(part="x").values) != {1}
    told = found.meta.methods()
    assert "For part x: the 95 % intervals are percentile bootstrap intervals from 9,999 resamples" in told
    assert "For part y" not in told
    said = found.meta.conclusion().partition("part y")[0]
    assert "another interval is used" not in said and "percentile bootstrap interval" in said


@pytest.mark.filterwarnings("ignore")
def test_the_best_systems_are_the_best_by_something():
    ds = xsumstat.load_dataset("demo")
    found = ds.meta.top_k_corr("human", by="judge", k=[12, 8], metric="bleu")
    assert "among the 8 best by judge" in found.meta.conclusion()
    assert "among the k best systems by judge (" in found.meta.methods()
    assert "best_by" not in ds.meta.top_k_corr("human", k=[12, 8], metric="bleu").attrs


def test_warnings_do_not_advise_what_another_warns_of():
    ds = xsumstat.load_dataset("demo")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ds.meta.ci("human", coefficient="spearman", resample="input", rng=1)
    assert not [each for each in caught if "method='jackknife'" in str(each.message)]
    assert [each for each in caught if getattr(each.message, "code", "") in ("biased", "outside")]
    with pytest.warns(MetaEvaluationWarning, match="use method='bootstrap'"):
        ds.meta.ci("human", coefficient="spearman", resample="input", method="jackknife")


@pytest.mark.filterwarnings("ignore")
def test_clusters_of_several_human_scores_are_corrected_within_each():
    ds = xsumstat.load_dataset("demo")
    human = ds.score.sel(metric="human", drop=True)
    several = xr.concat([human, human + 1], "aspect").assign_coords(aspect=["a", "b"]).transpose("aspect", ...)
    how = {"metric": ["judge", "rouge", "bleu"], "level": "input", "coefficient": "kendall"}
    found = ds.meta.rank(several, **how)
    assert "Holm over the tests of each aspect" in found.meta.conclusion()
    assert "Holm over all tests" in ds.meta.rank("human", **how).meta.conclusion()


@pytest.mark.filterwarnings("ignore")
def test_a_plan_whose_intervals_hold_everything_says_so():
    ds = xsumstat.load_dataset("demo").isel(system=slice(4))
    found = xsumstat.plan(
        ds, "human", metric="bleu", level="system", estimand="agreement", budget=20, cost_per_rating=1
    )
    for width, no_use in ((2.0, True), (1.98, True), (1.97, False)):
        told = found.assign(width=found["width"] * 0 + width).meta.conclusion()
        assert ("no design here tells anything" in told) == no_use
    of_share = found.assign(width=found["width"] * 0 + 1.0).assign_attrs(coefficient="pairwise_accuracy")
    assert "no design here tells anything" in of_share.meta.conclusion()


@pytest.mark.filterwarnings("ignore")
def test_methods_name_margins_thresholds_and_resamples():
    ds = xsumstat.load_dataset("demo")
    fitted = ds.meta.corr("human", metric="judge", coefficient="acc_eq", level="input").meta.methods()
    assert "(Deutsch et al., 2023), with the threshold of ties that gives each metric the highest value on" in fitted
    given = ds.meta.corr("human", metric="judge", coefficient="acc_eq", level="input", threshold=0.0).meta.methods()
    assert "with the threshold" not in given
    how = {"metric": ["judge", "bleu"], "n_resamples": 1000, "rng": 1}
    assert "share of 1,000 resamples of systems and inputs in which" in ds.meta.dominance("human", **how).meta.methods()
    counted = ds.meta.discriminative_agreement("human", metric="judge", n_resamples=1000, rng=1).meta.methods()
    assert "from 1,000 paired bootstrap resamples of inputs" in counted
