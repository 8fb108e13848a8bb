"""Inputs without a correlation within groups of systems: reported by group, and no number of all systems is claimed."""

import warnings

import numpy as np
import pytest
import xarray as xr

RULE = "Averages leave out the inputs on which a metric's scores or the human scores are constant."


@pytest.fixture
def ds():
    """Group y has one human score on 30 of 40 inputs, where group x varies; nothing is constant in all."""
    rng = np.random.default_rng(0)
    human, metric = rng.normal(size=(2, 12, 40))
    human[6:, :30] = 1.0
    coords = {"metric": ["human", "m"], "system": [f"s{at}" for at in range(12)], "input": np.arange(40)}
    return xr.Dataset(
        {"score": (("metric", "system", "input"), [human, metric + human])},
        {**coords, "kind_of": ("system", ["x"] * 6 + ["y"] * 6)},
        {"gold": "human"},
    )


def test_groups_are_compared_with_a_warning(ds):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ds.meta.compare_groups(by="kind_of", level="input", coefficient="kendall")
    said = [str(each.message) for each in caught if each.message.code == "gold_ties_left_out"]
    assert len(said) == 1 and said[0].startswith("kind_of=y: ") and said[0].endswith("30 of 40")
    assert RULE in found.meta.methods()


@pytest.mark.filterwarnings("ignore")
def test_methods_state_the_rule_where_numbers_differ(ds):
    assert RULE in ds.meta.ci(by="kind_of", level="input", coefficient="kendall").meta.methods()
    assert RULE in ds.meta.top_k_corr(k=[6, 12], level="input", coefficient="kendall").meta.methods()
    assert "constant" not in ds.meta.ci(level="input", coefficient="kendall").meta.methods()
    human = ds.score.sel(metric="human", drop=True)
    equal = xr.where(ds.input < 3, 0.0, human)
    several = xr.concat([human, equal], "aspect").transpose("aspect", "system", "input")
    told = ds.meta.ci(several, metric="m", level="input", coefficient="kendall").meta.methods()
    assert RULE in told
    once = ds.meta.ci(equal, metric="m", level="input", coefficient="kendall").meta.methods()
    assert "A metric's average leaves out 3 inputs on which its scores or the human scores are constant." in once
    zero = ds.meta.ci(equal, metric="m", level="input", coefficient="kendall", undefined="zero").meta.methods()
    assert "Inputs on which a metric's scores or the human scores are constant count as a correlation of 0." in zero
