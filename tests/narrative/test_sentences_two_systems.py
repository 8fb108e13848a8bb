"""Two systems: each correlation of their means tells their order alone, and the sentences say so and nothing else."""

import numpy as np
import pytest
import xarray as xr
from cases import FEW
from helpers import for_each

import xsumstat
from xsumstat.narrative import findings_tests
from xsumstat.narrative.conclusions import conclusion

CERTAIN = "With 2 systems every {} and tells nothing about the metrics. Use level='global' or 'input', or rate more"
QUESTIONS = {
    "corr": lambda d, **how: d.meta.corr("human", **how),
    "ci": lambda d, **how: d.meta.ci("human", **how),
    "ci of differences": lambda d, **how: d.meta.ci("human", other="bleu", **how),
    "perm_test": lambda d, **how: d.meta.perm_test("human", **how, **FEW),
    "rank": lambda d, **how: d.meta.rank("human", method="permutation", **how, **FEW),
    "equivalence": lambda d, **how: d.meta.equivalence("human", other="bleu", margin=0.1, **how, **FEW),
    "margins": lambda d, **how: d.meta.margin_sensitivity("human", other="bleu", margins=[0.1], **how, **FEW),
}


@pytest.fixture(scope="module")
def two():
    demo = xsumstat.load_dataset("demo").sel(metric=["judge", "bleu", "perplexity", "human"])
    return demo.isel(system=[0, 1])


def orders(ds):
    """+1 for a metric whose means order the two systems as human means do, else -1."""
    mean = ds.score.mean("input").diff("system").squeeze("system")
    better = np.where(ds.higher_is_better, 1, -1)
    return np.sign(mean * mean.sel(metric="human")) * better


@pytest.mark.filterwarnings("ignore")
@for_each("question", QUESTIONS)
def test_of_two_systems_it_is_said_that_correlations_are_certain(two, question):
    ask = QUESTIONS[question]
    of_order = orders(two).drop_sel(metric="human")
    r = two.meta.corr("human")
    np.testing.assert_allclose(r.correlation, of_order.sel(metric=r.metric), atol=1e-9)  # what the sentence claims
    said = conclusion(ask(two))
    assert said.startswith(CERTAIN.format("correlation is 1 or -1")) and "best" not in said and "cluster" not in said
    assert "beats" not in said and "Overlapping" not in said and "ci gives" not in said


@pytest.mark.filterwarnings("ignore")
def test_of_two_systems_accuracies_are_certain_and_other_levels_are_not(two):
    accuracy = two.meta.corr("human", coefficient="pairwise_accuracy")
    assert set(accuracy.correlation.values.round(9)) <= {0.0, 1.0}
    assert conclusion(accuracy).startswith(CERTAIN.format("accuracy is 1 or 0"))
    others = {
        "correlation": two.meta.corr("human", level="input"),
        "agreement": two.meta.corr("human", coefficient="spa"),
    }
    for quantity, other in others.items():
        assert np.any(np.abs(other.correlation.values.round()) != np.abs(other.correlation.values))
        assert "tells nothing" not in conclusion(other) and f"has the highest {quantity}" in conclusion(other)
    three = xsumstat.load_dataset("demo").isel(system=[0, 1, 2]).meta.corr("human")
    assert "tells nothing" not in conclusion(three) and not np.allclose(np.abs(three.correlation), 1)


@pytest.mark.filterwarnings("ignore")
@for_each("how", [{"interval": "bca", **FEW}, {"method": "jackknife"}, {"interval": "corrected", **FEW}])
def test_of_two_systems_no_interval_is_replaced_by_another(two, how):
    """Where there is none, another cannot be used instead."""
    result = two.meta.ci("human", **how)
    assert result.ci_low.isnull().all() and result.ci_high.isnull().all()
    assert not result.get("fell_back", result.ci_low > 0).any() and "another interval" not in conclusion(result)


@pytest.mark.filterwarnings("ignore")
def test_of_two_systems_two_versions_have_no_clear_order(two):
    score = two.score.drop_sel(metric="human")
    both = xr.concat([score, score**2], "language").assign_coords(language=["en", "de"]).to_dataset(name="score")
    human = two.score.sel(metric="human", drop=True)
    found = both.meta.dominance(human, along="language", base="en", threshold=0.6, **FEW)
    assert conclusion(found).startswith(CERTAIN.format("correlation is 1 or -1")) and "clear" not in conclusion(found)


@pytest.mark.filterwarnings("ignore")
def test_three_systems_have_no_formula_and_the_reason_is_counted():
    three = xsumstat.load_dataset("demo").isel(system=[0, 1, 2]).sel(metric=["judge", "bleu", "human"])
    said = conclusion(three.meta.compare_metrics("human", method="williams"))
    assert said.startswith(f"No test could be made: it needs 4 systems, and there are {three.sizes['system']}; use")
    said = conclusion(three.meta.ci("human", method="fisher"))
    assert f"There is no interval: it needs 4 systems, and there are {three.sizes['system']}." in said


# --- Of tests of a value, the metric with the highest correlation leads ---


@pytest.mark.parametrize(
    ("r", "first"),
    [([0.1, 0.4, 0.2], ["b"]), ([0.4, 0.4, 0.2], ["a", "b"]), ([np.nan] * 3, []), ([np.nan, -0.2, -0.1], ["c"])],
)
def test_the_leader_of_tests_of_a_value_has_the_highest_correlation(r, first):
    result = xr.Dataset({"correlation": ("metric", r)}, {"metric": ["a", "b", "c"]}, {"against": 0.0})
    assert findings_tests.leaders(result) == first
