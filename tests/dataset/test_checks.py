"""What values are said to lack, by a few numbers each."""

import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import dataset

from xsumstat.dataset import checks as content
from xsumstat.dataset import facts, masks


def said(function, *arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*arguments)
    return [str(each.message) for each in caught]


def by_metric(*values):
    return xr.DataArray(np.array(values, dtype=float), {"metric": [f"m{at}" for at in range(len(values))]}, "metric")


def test_resamples_are_told_where_some_and_not_where_all_are_undefined():
    """5 of 100 are not more than 5 %; where all are, the result itself is NaN, and that is said."""
    (text,) = said(content.warn_resamples, by_metric(0, 5, 6, 99, 100), 100)
    assert text == "more than 5 % of the 100 resamples are undefined, and left out, for 'm2', 'm3'"
    assert said(content.warn_resamples, by_metric(0, 5, 100), 100) == []


@pytest.mark.parametrize("size", [1.0, 1e6])
def test_an_interval_that_misses_the_estimate_by_rounding_holds_it(size):
    value = by_metric(0.5, 0.5, 0.5, 0.5) * size
    low, high = value - size * by_metric(0.1, -1e-12, 0.1, -1e-6), value + size * by_metric(0.1, 0.1, -1e-12, 0.1)
    found = xr.Dataset({"correlation": value, "ci_low": low, "ci_high": high})
    (text,) = said(content.warn_outside, found, "correlation", 99)
    assert text.endswith("for 'm3'")
    assert said(content.warn_outside, found, "correlation", 98) == []


def test_which_metrics_are_constant():
    """For one further label at least."""
    score = np.array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 5.0], [5.0, np.nan]], [[np.nan] * 2] * 2])
    one = dataset(score).score
    assert content.constant_metrics(facts.spread(one).array).tolist() == [False, True, True]
    both = xr.concat([one, one.copy(data=score[[1, 0, 0]])], "language")
    assert content.constant_metrics(facts.spread(both).array).tolist() == [True, True, True]
    few = both.isel(metric=[0], language=[0])
    assert content.constant_metrics(facts.spread(few).array).tolist() == [False]


def test_a_result_that_a_constant_score_explains_is_not_told_again():
    missing = by_metric(np.nan, np.nan)
    spread = facts.Fact.of(["metric"], np.array([0.0, 3.0]), missing)
    gold, constant = (facts.Fact((), np.array(value), {}) for value in (3.0, 0.0))
    assert said(content.warn_undefined, missing, spread, gold, "undefined for") == ["undefined for 'm1'"]
    assert said(content.warn_undefined, missing, spread, constant, "undefined for") == []
    assert said(content.warn_undefined, by_metric(0.5, 0.5), spread, gold, "undefined for") == []


def test_which_systems_and_inputs_can_be_used():
    """Gold of system 0 on input 0 and of 1 on 1; the metric has 0 on 1, 1 on 1 and 2 on 2."""
    human = np.full((3, 4), np.nan)
    human[0, 0] = human[1, 1] = 1.0
    automatic = np.full((1, 3, 4), np.nan)
    automatic[0, 0, 1] = automatic[0, 1, 1] = automatic[0, 2, 2] = 1.0
    score = dataset(automatic).score
    gold = score.isel(metric=0, drop=True).copy(data=human)
    known = masks.there(gold), masks.there(score)
    systems, inputs = masks.usable(*known, "pairwise")
    assert systems.values.tolist() == [False, True, False]
    assert inputs.values.tolist() == [False, True, False, False]
    systems, inputs = masks.usable(*known, "available")
    assert systems.values.tolist() == [True, True, False]  # a mean of each score
    assert inputs.values.tolist() == [True, True, True, False]  # a part of some mean


def test_few_systems_are_said():
    def ask(systems):
        return said(content.check_sizes, dataset(np.zeros((1, systems, 3))).score, "system")

    few = "systems: results are very uncertain; evaluate more systems, or use level="
    assert ask(5) == [] and ask(4) == [f"only 4 {few}'input', which compares systems within inputs"]
    assert ask(2) == [f"only 2 {few}'global', which compares single outputs"]
    assert said(content.check_sizes, dataset(np.zeros((1, 2, 3))).score, "global") == []


def test_facts_of_single_metrics_are_those_of_all():
    """Lazy scores are looked at one metric at a time, and what was found is put together."""
    score = dataset(np.arange(24.0).reshape(3, 2, 4)).score
    whole = facts.spread(score)
    joined = facts.Fact.joined([facts.spread(score.isel(metric=[at])) for at in range(3)])
    assert joined.values.tolist() == whole.values.tolist() == [7.0, 7.0, 7.0]
    xr.testing.assert_identical(joined.array, whole.array)


def test_arrays_are_broadcast_by_the_names_of_their_dims():
    rng = np.random.default_rng(0)
    one = xr.Variable(("metric", "language", "system", "input"), rng.normal(size=(2, 3, 4, 5)))
    two = xr.Variable(("input", "quality", "system"), rng.normal(size=(5, 2, 4)))
    dims, (first, second) = facts.broadcast(one, two)
    assert dims == ("language", "quality", "metric", "system", "input")
    xr.testing.assert_identical(xr.Variable(dims, first + second), (one + two).transpose(*dims))
