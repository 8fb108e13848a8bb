"""Scores of one input, such as published scores per system: other inputs are not spoken of."""

import numpy as np
import pytest

import xsumstat


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
