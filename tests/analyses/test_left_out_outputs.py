"""Outputs without a score are reported by analyses of metrics alone, also where scores are lazy."""

import warnings

import numpy as np
import pytest
from conftest import warns

ASKED = {
    "compare_systems": {"metric": "judge"},
    "disagreement": {"metric": ["judge", "rouge"]},
    "improvement_consistency": {"metric": ["judge", "rouge"]},
    "normality": {"metric": ["judge", "rouge"], "level": "input"},
    "pca": {"metric": ["judge", "rouge", "bleu"]},
    "input_effect": {"metric": "judge"},
    "variance_components": {"metric": ["judge", "rouge"]},
    "scoring_range": {"metrics": "judge", "top": 6},
    "range_drop": {
        **{"metric": ["judge", "rouge"], "metrics": "human", "top": 6},
        **{"n_simulations": 19, "n_resamples": 199, "rng": 1},
    },
}


@pytest.fixture
def gaps(demo):
    """113 outputs without a score by the judge, 60 of them on inputs without any."""
    lacking = np.random.default_rng(3).random((12, 30)) < 0.2
    lacking[:, :5] = True
    demo["score"] = demo.score.where((demo.metric != "judge") | ~demo.score.isel(metric=0).copy(data=lacking))
    return demo


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", ASKED)
def test_outputs_without_a_score_are_counted(gaps, name, lazy):
    by_hand = gaps.score.sel(metric="judge").isnull()
    of_pairs = by_hand & ~by_hand.all("system")
    n = int((of_pairs if name == "compare_systems" else by_hand).sum())
    with warns("cells_left_out", rf"because the metric has no score .*: judge \({n} of 360\)"):
        getattr((gaps.chunk() if lazy else gaps).meta, name)(**ASKED[name]).compute()


def test_nothing_is_reported_without_gaps(demo):
    for name, asked in ASKED.items():
        with pytest.warns() as caught:
            getattr(demo.meta, name)(**asked)
            warnings.warn("one at least", stacklevel=1)
        assert not [each for each in caught if getattr(each.message, "code", "") == "cells_left_out"]


def test_normality_counts_the_groups_that_were_tested(gaps):
    assert "of 25 or 30 groups" in gaps.meta.normality(**ASKED["normality"]).meta.conclusion()
