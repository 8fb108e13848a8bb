"""Passes and fails of which one is rare: what is said, and where."""

import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import dataset, of_code

from xsumstat.dataset import two_values


def scores(systems=3, inputs=120, passes=0.9, seed=0):
    """Passes and fails by people and by a metric."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(systems, inputs))
    cut = np.quantile(quality, 1 - passes)
    return dataset([quality > cut, quality + 0.5 * rng.normal(size=quality.shape) > cut])


def told(ask, code="rare_class"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    return of_code(caught, code)


@pytest.mark.parametrize("question", ["ci", "compare_metrics"])
def test_few_inputs_with_both_values_are_told(question):
    ds = scores()
    ds = xr.concat([ds, ds.sel(metric=["m1"]).roll(input=1).assign_coords(metric=["m2"])], "metric")
    gold = ds.score.values[0]
    both = sum(len(set(each)) == 2 for each in gold.T)
    assert both >= 20 and told(lambda: getattr(ds.meta, question)("m0", level="input")) == []
    few = ds.isel(input=slice(40))
    both = sum(len(set(each)) == 2 for each in few.score.values[0].T)
    (text,) = told(lambda: getattr(few.meta, question)("m0", level="input"))
    assert f"only {both} of 40 inputs have both: intervals at input level undercover; use level='global'" in text
    assert told(lambda: getattr(few.meta, question)("m0", level="global")) == []


def test_two_systems_need_more_inputs_of_which_one_warning_speaks():
    ds = scores(2, 400)
    both = int((ds.score[0].values[0] != ds.score[0].values[1]).sum())
    assert 20 < both < 100 and f"only {both} of 400" in told(lambda: ds.meta.ci("m0", level="input"))[0]
    few = ds.isel(input=slice(60))
    ask = lambda: few.meta.ci("m0", level="input")  # noqa: E731
    assert told(ask) == [] and len(told(ask, "few_inputs")) == 1


def test_new_systems_would_differ_on_inputs_that_are_left_out():
    ds = scores(10, 120)
    assert "of 120 inputs have both" in told(lambda: ds.meta.ci("m0", level="input"))[0]
    assert told(lambda: ds.meta.ci("m0", level="input", resample="input")) == []
    assert told(lambda: scores(10, 120, 0.5).meta.ci("m0", level="input")) == []


def test_few_outputs_of_the_rarer_value_are_told():
    ds = scores(3, 60, 0.96)
    rarer = int((ds.score[0] == 0).sum())
    (text,) = told(lambda: ds.meta.ci("m0", level="global"))
    assert rarer < 10 and text.endswith(
        f"have two values, and only {rarer} outputs have the rarer one: intervals undercover"
    )
    assert told(lambda: scores(3, 200, 0.96).meta.ci("m0", level="global")) == []


def test_what_is_counted():
    gold = xr.DataArray(
        [[[1, 1, 0, np.nan], [1, 0, 0, np.nan]], [[1, 2, 3, 1], [1, 1, 1, 1]]], dims=("q", "system", "input")
    )
    assert two_values.of(gold.astype(float)).values.tolist()[0] == [3, 2, 3, 1]
    assert two_values.of(gold.astype(float)).values[1, 0] == 0
    assert two_values.of(gold.isel(q=0) * 0.0).values[0] == 0 == two_values.of(gold.isel(q=0) * np.nan).values[0]


def test_lazy_scores_say_it_when_they_are_computed():
    pytest.importorskip("dask")
    ds, lazy = scores().isel(input=slice(40)), []
    assert told(lambda: lazy.append(ds.chunk(input=7).meta.ci("m0", level="input"))) == []
    assert told(lazy[0].compute) == told(lambda: ds.meta.ci("m0", level="input")) != []
