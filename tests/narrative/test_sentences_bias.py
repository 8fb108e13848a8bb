"""Sentences on biases: who scores too high or too low, what noise explains, and what was compared."""

import numpy as np
import pytest
import xarray as xr
from helpers import for_each

from xsumstat.dataset.wording import number
from xsumstat.narrative.conclusions import conclusion

NAN = np.nan


def biased(slope, p=0.01, corrected=None, gold=None, **attrs):
    """Metrics with these slopes, and p-values at reliabilities of .6, .8 and 1."""
    n = len(slope)
    data = {"slope": slope, "ci_low": np.array(slope) - 0.1, "ci_high": np.array(slope) + 0.1}
    data |= {"pvalue": np.broadcast_to(p, n)}
    data = {name: (("metric", "covariate"), np.reshape(each, (n, 1))) for name, each in data.items()}
    coords = {"metric": list("abcdef")[:n], "covariate": ["length"]}
    if corrected is not None:
        pvalue, of = np.broadcast_to(corrected, (n, 3))[:, None], np.array(slope)[:, None, None] * np.ones(3)
        dims = ("metric", "covariate", "reliability")
        data |= {"corrected_pvalue": (dims, pvalue), "corrected_slope": (dims, of)}
        coords["reliability"] = [0.6, 0.8, 1.0]
    if gold is not None:
        data["gold_reliability"] = (("metric", "covariate"), np.broadcast_to(gold, (n, 1)))
    usual = {"analysis": "bias", "gold": "human", "alpha": 0.05, "method": "regression", "scope": "these systems"}
    return xr.Dataset(data, coords, {**usual, **attrs})


def test_the_side_of_each_bias():
    said = conclusion(biased([0.4, -0.3, 0.2, 0.1], [0.05, 0.01, 0.01, 0.0501]))
    assert "a (slope .40) and c (slope .20) score outputs with a higher length too high; b (slope -.30) scores" in said
    assert (
        "too low (slopes in SDs of the metric per SD of length; " in said
        and "d (" not in said
        and "No bias" not in said
    )


@pytest.mark.parametrize(
    ("gold", "told"),
    [
        (None, "if their reliability is .80 or less"),
        (0.7, "if their reliability is .80 or less"),
        (0.6, "if their reliability is .80 or less"),
        (0.85, "if their reliability is .80 or less"),
        (1.0, None),
    ],
)
def test_noise_explains_a_slope_at_the_reliabilities_that_the_human_scores_may_have(gold, told):
    """Where gold's reliability is 1 only that counts, and there the slope stays."""
    said = conclusion(biased([0.4], corrected=[0.3, 0.2, 0.01], gold=gold))
    assert ("a (slope .40) scores outputs with a higher length higher than human scores imply" in said) == bool(told)
    assert (told in said) if told else ("a (slope .40) scores outputs with a higher length too high" in said)


def test_several_metrics_whose_slopes_noise_explains():
    said = conclusion(biased([0.4, 0.3, -0.2], corrected=[[0.3, 0.01, 0.01], [0.3, 0.2, 0.01], [0.3, 0.01, 0.01]]))
    assert "a (slope .40) and b (slope .30) score outputs with a higher length higher than human scores imply" in said
    assert "is .80 or less for some of these metrics." in said  # .6 for a, .8 for b
    assert "c (slope -.20) scores outputs with a higher length lower than human scores imply" in said
    assert "is .60 or less." in said and "too high" not in said and "too low" not in said


def test_ratings_that_show_no_slope_are_said_to_show_none():
    one = biased([NAN, NAN, 0.1], [0.5, 0.5, 0.3])
    unbounded = one.assign(
        ci_low=one.ci_low.where(one.metric == "c", -np.inf), ci_high=one.ci_high.where(one.metric == "c", np.inf)
    )
    said = conclusion(unbounded)
    assert "The bias of a and b by length cannot be estimated: the human scores are too noisy" in said
    assert "No significant bias by length (1 metric)." in said and "[.00, .20]" in said
    alone = conclusion(unbounded.isel(metric=[0]))
    assert "The bias of a by length cannot be estimated" in alone and "No significant bias" not in alone


def demo(by):
    """A judge who adds `by` standard deviations for each of the length; and one who does not."""
    rng = np.random.default_rng(3)
    human, length = rng.normal(size=(2, 12, 40))
    judge = human + by * length + 0.5 * rng.normal(size=human.shape)
    fair = human + 0.5 * rng.normal(size=human.shape)
    labels = {"metric": ["judge", "fair", "length", "human"], "system": np.arange(12), "input": np.arange(40)}
    score = np.stack([judge, fair, length, human])
    return xr.Dataset({"score": (("metric", "system", "input"), score)}, labels)


@pytest.mark.filterwarnings("ignore")
@for_each("by", [0.8, -0.8])
def test_the_slope_is_that_of_the_errors(by):
    """The sign of a plain regression's slope, given the human scores."""
    ds = demo(by)
    result = ds.meta.bias("human", metric=["judge", "fair"], given="length", level="global")
    said = conclusion(result)
    x = np.stack([ds.score.sel(metric=name).values.ravel() for name in ("length", "human")])
    x = np.concatenate([np.ones((1, x.shape[1])), x])
    y = ds.score.sel(metric="judge").values.ravel()
    slope = np.linalg.lstsq(x.T, y, rcond=None)[0][1]
    assert np.sign(slope) == np.sign(by)
    told = number(float(result.slope.sel(metric="judge").squeeze()))
    assert f"judge (slope {told}) scores outputs with a higher length too {'high' if by > 0 else 'low'}" in said
    assert "fair (" not in said


@pytest.mark.parametrize(
    ("level", "told"),
    [
        ("input", "outputs of the same input"),
        ("within_system", "outputs of the same system"),
        ("global", "all outputs"),
        ("system", "the systems' means"),
    ],
)
def test_what_is_compared_is_told_and_why_where_it_was_not_chosen(level, told):
    one = biased([0.4])
    chosen = conclusion(one.assign_attrs(level=level))
    assert chosen.endswith(f"This compares {told} (level='{level}').")
    of_means = "scores systems with a higher mean length too high" in chosen
    assert of_means == (level == "system") != ("scores outputs with a higher length too high" in chosen)
    said = conclusion(one.assign_attrs(level=level, level_reason="length varies there"))
    assert said.endswith(f"This compares {told} (level='{level}'), as length varies there.")
