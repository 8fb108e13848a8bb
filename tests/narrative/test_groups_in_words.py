"""Tests and groups in words: each label of a further dim has its verdict, and a group of few systems its own scope."""

import numpy as np
import pytest
import xarray as xr

import xsumstat
from xsumstat.dataset import wording


@pytest.fixture(scope="module")
def demo():
    return xsumstat.load_dataset("demo")


def in_qualities(demo, n=4):
    """The demo's human scores in several qualities, of which the first is noise."""
    human = demo.score.sel(metric="human", drop=True)
    noise = np.random.default_rng(0).permutation(human.values.ravel()).reshape(human.shape)
    each = [human.copy(data=noise), *(human + at for at in range(1, n))]
    return xr.concat(each, "quality").assign_coords(quality=[f"q{at}" for at in range(n)])


@pytest.mark.filterwarnings("ignore")
def test_each_label_has_a_verdict(demo):
    gold = in_qualities(demo)
    tests = demo.meta.compare_metrics(gold, metric=["judge", "rouge", "bleu"], level="input")
    said = tests.meta.conclusion()
    for label in ("q1", "q2", "q3"):
        assert f"quality {label}: judge beats rouge and bleu." in said
        assert bool((tests.pvalue_adjusted.sel(quality=label, metric="judge").dropna("other_metric") <= 0.05).all())
    assert "quality q0: " in said and "quality q0: judge beats" not in said


@pytest.mark.filterwarnings("ignore")
def test_tests_of_some_with_others_have_no_best_metric_and_say_what_they_found(demo):
    tests = demo.meta.compare_metrics(in_qualities(demo), metric="judge", other=["rouge", "bleu"], level="input")
    said = tests.meta.conclusion()
    assert "best metric" not in said and said.startswith("quality q0: ")
    assert said.count("judge beats rouge and bleu.") == 3
    assert "Holm over the tests of each quality" in said


@pytest.mark.filterwarnings("ignore")
def test_a_group_of_few_systems_speaks_of_these(demo):
    """As its own result does: of 4 systems, where all 12 speak of systems like these."""
    few = [*demo.system.values[:4]]
    ds = demo.assign_coords(kind=("system", ["few" if name in few else "many" for name in demo.system.values]))
    grouped = ds.meta.ci("human", metric=["judge", "rouge"], level="input", by="kind")
    alone = ds.sel(system=few).meta.ci("human", metric=["judge", "rouge"], level="input")
    assert alone.attrs["scope"] == "these systems" and grouped.attrs["scope"] == "systems like these"
    np.testing.assert_array_equal(grouped.ci_low.sel(kind="few"), alone.ci_low)
    told = "For kind few the results are for these systems only."
    assert told in grouped.meta.conclusion() and told in grouped.meta.methods()
    assert "these systems only" not in grouped.sel(kind="many").meta.conclusion()
    said = grouped.meta.conclusion().split("kind many")[0]
    assert "for these systems on inputs like these" in said and "systems and inputs like these" not in said
    assert "systems and inputs like these" in grouped.meta.conclusion().split("kind many")[1]
    one = grouped.sel(kind="few").meta
    assert "for these systems on inputs like these" in one.conclusion() and "systems on inputs" in one.methods()
    note = "for kind few the results are for these systems only"
    assert note in grouped.meta.to_markdown() and note in wording.how(grouped)
    whole = demo.meta.ci("human", metric=["judge", "rouge"], level="input", by="system_type")
    assert "these systems only" not in whole.meta.conclusion() and "of_groups" not in whole.attrs


@pytest.mark.filterwarnings("ignore")
def test_tests_of_a_group_are_corrected_among_themselves(demo):
    tests = demo.meta.compare_metrics("human", metric=["judge", "rouge", "bleu"], level="input", by="system_type")
    assert "Holm over the tests of each system type" in tests.meta.conclusion()
    assert "over all tests" not in tests.meta.conclusion()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_plans_of_tests_name_the_test_and_its_scope(demo):
    how = {"metric": "judge", "other": "bleu", "level": "input", "n_trials": 4, "n_resamples": 19, "n_inputs": [30]}
    swaps = xsumstat.plan(demo, "human", **how)
    assert "For a power of .80 of perm_test (these systems only), " in swaps.meta.conclusion()
    whole = xsumstat.plan(demo, "human", test={"test": "perm_test", "resample": "system"}, **how)
    assert "For a power of .80 of perm_test, " in whole.meta.conclusion()
    drawn = xsumstat.plan(demo, "human", test={"test": "boot_test"}, **how)
    assert "For a power of .80 of boot_test, " in drawn.meta.conclusion()


@pytest.mark.filterwarnings("ignore")
def test_one_pair_is_equivalent_from_which_margin_on(demo):
    how = {"level": "input", "margins": [0.01, 0.05, 0.5], "n_resamples": 99, "rng": 0}
    found = demo.meta.margin_sensitivity("human", metric="rouge", other="bleu", **how)
    margin = float(found.margin[found.share >= 0.5][0])
    assert f"the two metrics are equivalent within margins of at least {margin:.2f} (".replace("0.", ".") in (
        found.meta.conclusion()
    )
    none = found.isel(margin=[0]).meta.conclusion()
    assert "the two metrics are equivalent within no margin of ±.01 to ±.01 (" in none


def test_metrics_that_share_the_highest_correlation_are_all_named():
    values = xr.DataArray([[0.9, 0.6], [0.8, 0.6]], {"metric": ["a", "b"], "k": [12, 5]}, ("metric", "k"))
    attrs = {"analysis": "top_k_corr", "gold": "human", "coefficient": "kendall", "level": "system"}
    said = xr.Dataset({"correlation": values}, attrs=attrs).meta.conclusion()
    assert "; among the 5 best, a and b have the highest correlation, .60 (" in said


@pytest.mark.filterwarnings("ignore")
def test_a_table_says_that_all_others_are_significantly_worse(demo):
    tests = demo.meta.compare_metrics("human", level="input", metric=["judge", "bleu", "length"], resample="input")
    table = demo.meta.corr("human", level="input", metric=["judge", "bleu", "length"]).meta
    p = tests.pvalue_adjusted.sel(metric="judge", other_metric=["bleu", "length"])
    assert bool((p <= 0.05).all())
    assert "All others are significantly worse than the best (" in table.to_markdown(tests=tests)
    some = tests.assign(pvalue_adjusted=tests.pvalue_adjusted.where(tests.other_metric != "bleu", 0.9))
    assert "All others" not in table.to_markdown(tests=some)
    one_way = tests.sel(other_metric=["judge", "length"])  # bleu against judge says what judge against bleu does
    assert "All others" in table.to_markdown(tests=one_way)
    of_bleu = (tests.metric == "bleu") | (tests.other_metric == "bleu")
    unknown = tests.assign(pvalue_adjusted=tests.pvalue_adjusted.where(~of_bleu))
    assert "All others" not in table.to_markdown(tests=unknown)


@pytest.mark.filterwarnings("ignore")
def test_a_single_number_of_inputs_may_be_enough(demo):
    how = {"metric": "judge", "other": "length", "level": "input", "n_trials": 20, "n_resamples": 99, "rng": 1}
    one, listed = (xsumstat.plan(demo, "human", n_inputs=n, **how) for n in (30, [30]))
    assert float(one.power.squeeze()) == float(listed.power.squeeze()) > 0.8
    assert float(one.least_inputs.squeeze()) == 30 == float(listed.least_inputs.squeeze())
    assert one.meta.conclusion() == listed.meta.conclusion()
    few = xsumstat.plan(demo, "human", n_inputs=30, target=0.9999999, **how)
    assert np.isnan(few.least_inputs).all() == (float(few.power.squeeze()) < 0.9999999)


@pytest.mark.filterwarnings("ignore")
def test_one_pair_of_versions_is_called_versions(demo):
    score = xr.concat([demo.score, demo.score + 1.0], xr.DataArray(["en", "de"], dims="language", name="language"))
    how = {"along": "language", "base": "en", "level": "input", "margins": [0.1, 0.5], "n_resamples": 99, "rng": 0}
    found = demo.assign(score=score).meta.margin_sensitivity(demo.score.sel(metric="human"), metric="judge", **how)
    assert "the two versions are equivalent within margins of at least .10 (" in found.meta.conclusion()


def test_clusters_are_named_beside_the_dims_that_are_random(demo):
    ds = demo.assign_coords(document=("input", [f"d{at // 3}" for at in range(30)]))
    how = {"given": "length", "level": "input", "cluster": "document"}
    together = ", with the labels of one document together ("
    assert f"clustered by system and input{together}" in ds.meta.bias("human", **how).meta.methods()
    assert f"clustered by input{together}" in ds.meta.bias("human", resample="input", **how).meta.methods()


@pytest.mark.filterwarnings("ignore")
def test_a_group_that_draws_where_all_leave_out_says_so(demo):
    """Ranks of system means over inputs alone have a bootstrap interval."""
    few = [*demo.system.values[:4]]
    ds = demo.assign_coords(kind=("system", ["few" if name in few else "many" for name in demo.system.values]))
    how = {"metric": ["judge", "rouge"], "coefficient": "kendall", "n_resamples": 99, "rng": 0}
    grouped = ds.meta.ci("human", by="kind", **how)
    alone = ds.sel(system=few).meta.ci("human", **how)
    assert (grouped.attrs["method"], alone.attrs["method"]) == ("jackknife", "bootstrap")
    np.testing.assert_array_equal(grouped.ci_low.sel(kind="few"), alone.ci_low)
    few_said, many_said = grouped.meta.conclusion().split("kind many")[:2]
    assert "percentile bootstrap interval" in few_said and "jackknife interval" in many_said
    assert "percentile" in grouped.sel(kind="few").meta.methods()
