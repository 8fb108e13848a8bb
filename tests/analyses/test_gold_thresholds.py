"""How far apart gold scores must be in WMT's tau: the default by the gold, and which share of the pairs counts."""

import itertools

import numpy as np
import pytest
import xarray as xr
from conftest import dataset
from helpers import LEVELS, pairwise

NAME = "kendall_like"


def scores(gold, n_metrics=2, seed=0):
    """Metrics m0 ... that follow a gold (systems, inputs), which is called "h"."""
    rng = np.random.default_rng(seed)
    metrics = [gold + np.nanstd(gold) * (1 + at) * rng.normal(size=gold.shape) for at in range(n_metrics)]
    labels = ["h", *(f"m{at}" for at in range(n_metrics))]
    return dataset(np.stack([gold, *metrics])).assign_coords(metric=labels)


def errors(seed=1, shape=(8, 12)):
    """Sums of errors, as of MQM: half of the outputs have none, few have many."""
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.1, 1.0, 5.0, 6.0, 26.0], size=shape, p=[0.2, 0.4, 0.28, 0.08, 0.04])
    return np.where(rng.random(shape) < 0.5, 0.0, -weights)


GOLDS = {
    "MQM": (errors(), 0.0),
    "MQM, all good": (-(np.arange(96.0) % 7 == 0).reshape(8, 12).astype(float), 0.0),
    "direct assessment": (np.random.default_rng(2).integers(0, 101, (8, 12)).astype(float), 25.0),
    "direct assessment, good systems": (np.random.default_rng(3).integers(60, 101, (8, 12)).astype(float), 25.0),
    "z-scores": (np.random.default_rng(4).normal(size=(8, 12)), 0.0),
    "z-scores times 100": (100 * np.random.default_rng(4).normal(size=(8, 12)), 0.0),
    "five points": (np.random.default_rng(5).integers(1, 6, (8, 12)).astype(float), 0.0),
    "shares": (np.random.default_rng(6).random((8, 12)), 0.0),
}


def plainly(x, z, level, threshold, *, at_zero_as_toolkit=False):
    """WMT's tau and the share of the pairs that it counts, in plain Python."""
    x, z = x.tolist(), z.tolist()
    cells = [(i, k) for i in range(len(z)) for k in range(len(z[0]))]
    group = {"input": lambda cell: cell[1], "within_system": lambda cell: cell[0], "global": lambda cell: 0}
    if level == "system":
        both = [[(a, b) for a, b in zip(*rows, strict=True) if a == a and b == b] for rows in zip(x, z, strict=True)]
        parts = [[tuple(sum(each) / len(each) for each in zip(*row, strict=True)) for row in both if row]]
    else:
        named = sorted({group[level](cell) for cell in cells})
        parts = [[(x[i][k], z[i][k]) for i, k in cells if group[level]((i, k)) == name] for name in named]
    right = wrong = pairs = 0
    for part in parts:
        there = [(a, b) for a, b in part if a == a and b == b]
        for (xa, za), (xb, zb) in itertools.combinations(there, 2):
            pairs += 1
            if abs(za - zb) >= threshold and (za != zb or at_zero_as_toolkit):
                agree = (xa - xb) * (za - zb) > 0
                right, wrong = right + agree, wrong + (not agree)
    if not right + wrong:
        return np.nan, np.nan
    return (right - wrong) / (right + wrong), (right + wrong) / pairs


@pytest.mark.parametrize("name", GOLDS)
def test_the_default_goes_by_the_scale_of_the_gold(name):
    gold, want = GOLDS[name]
    ds = scores(gold)
    found = ds.meta.corr("h", level="input", coefficient=NAME)
    xr.testing.assert_identical(found, ds.meta.corr("h", level="input", coefficient=NAME, threshold=want))
    assert found.attrs["threshold"] == want


@pytest.mark.parametrize("name", ["MQM", "direct assessment, good systems"])
def test_lazy_scores_have_the_same_default(name):
    ds = scores(GOLDS[name][0])
    found, lazy = (each.meta.corr("h", level="input", coefficient=NAME) for each in (ds, ds.chunk()))
    xr.testing.assert_allclose(lazy.compute(), found)


def test_errors_that_are_counted_and_not_negated():
    """A gold that is better when lower is turned first."""
    ds = scores(-errors()).assign_coords(higher_is_better=("metric", [False] * 3))
    assert ds.meta.corr("h", level="input", coefficient=NAME).attrs["threshold"] == 0


@pytest.mark.filterwarnings("ignore::UserWarning")  # of few pairs, or none
@pairwise({"level": LEVELS, "threshold": [None, 4.9, 5.0], "kind": ["corr", "ci", "rank"]})
def test_which_share_of_the_pairs_counts(level, threshold, kind):
    gold = errors()
    ds = scores(gold)
    ds.score[0, 2, 3] = ds.score[1, 4] = np.nan
    ds.score[1, 4, 1:] = 1.0
    more = {} if kind == "corr" else {"n_resamples": 19, "rng": 0}
    with np.errstate(all="ignore"):
        found = getattr(ds.meta, kind)("h", level=level, coefficient=NAME, threshold=threshold, **more)
    for metric in ("m0", "m1"):
        x, z = ds.score.sel(metric=metric).values, ds.score.sel(metric="h").values
        want = plainly(x, z, level, threshold or 0.0)
        one = found.sel(metric=metric)
        assert (one.correlation.item(), one.pairs_used.item()) == pytest.approx(want, abs=1e-12, nan_ok=True)


def test_each_group_has_its_own_share():
    ds = scores(errors(shape=(5, 6)))
    found = ds.meta.corr("h", metric="m0", level="input", coefficient=NAME, average=False)
    for at in range(6):
        x, z = (ds.score.sel(metric=name).values[:, at] for name in ("m0", "h"))
        pairs = list(itertools.combinations(z, 2))
        assert found.pairs_used[0, at].item() == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))
        assert x.shape == z.shape


def test_few_pairs_are_warned_of_and_the_share_is_in_the_conclusion():
    gold = errors()
    ds = scores(gold)
    _, share = plainly(gold, gold, "input", 25)
    assert 0 < share < 0.1
    with pytest.warns(UserWarning, match=r"kendall_like counts few pairs, .* lie less than 25 apart .*'m0', 'm1'"):
        found = ds.meta.corr("h", level="input", coefficient=NAME, threshold=25)
    said = str(found.meta.conclusion())
    assert f"counting the {100 * share:.3g} % of the pairs that are at least 25 apart in 'h'" in said
    _, share = plainly(gold, gold, "input", 0)
    said = str(ds.meta.corr("h", level="input", coefficient=NAME).meta.conclusion())
    assert f"counting the {100 * share:.3g} % of the pairs that are not tied in 'h'" in said


def test_other_coefficients_count_all_pairs():
    for name in ("acc_eq", "pairwise_accuracy"):
        assert "pairs_used" not in scores(errors()).meta.corr("h", level="system", coefficient=name)


def test_nothing_is_defined_where_all_gold_scores_of_an_input_are_tied():
    gold = np.tile(-np.arange(6.0), (5, 1))
    with pytest.warns(UserWarning, match="undefined, as no two gold scores differ: 'm0', 'm1'"):
        found = scores(gold).meta.corr("h", level="input", coefficient=NAME)
    assert found.correlation.isnull().all()


def test_the_toolkit_counts_ties_in_the_gold_as_wrong_at_threshold_0():
    """What docs/coming_from.md says; above 0 both are the same."""
    ds = scores(errors())
    x, z = (ds.score.sel(metric=name).values for name in ("m0", "h"))
    for threshold, alike in ((0, False), (0.05, True), (5, True)):
        got = ds.meta.corr("h", metric="m0", level="input", coefficient=NAME, threshold=threshold).correlation.item()
        there, _ = plainly(x, z, "input", threshold, at_zero_as_toolkit=True)
        assert (got == pytest.approx(there, abs=1e-12)) == alike
        assert alike or there < got


def test_raters_of_errors_are_compared_on_all_pairs_that_differ():
    gold = errors()
    rng = np.random.default_rng(7)
    ratings = np.stack([gold, gold - rng.integers(0, 2, gold.shape), gold - rng.integers(0, 3, gold.shape)], axis=2)
    ds = scores(gold).drop_sel(metric="h")
    ds["rating"] = (("system", "input", "rater"), ratings)
    keywords = {"level": "input", "coefficient": NAME, "n_resamples": 19, "rng": 0}
    assert ds.meta.human_ceiling("rating", **keywords).attrs["threshold"] == 0


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_groups_have_the_threshold_of_all():
    """Group b alone, below 25, would be counted as errors are."""
    gold = np.random.default_rng(8).integers(0, 101, (8, 12)).astype(float)
    gold[4:] = np.floor(gold[4:] / 5)
    ds = scores(gold).assign_coords(kind=("system", list("aaaabbbb")))
    for asked in (ds.meta.corr, ds.meta.ci):
        found = asked("h", level="input", coefficient=NAME, by="kind")
        want = ds.isel(system=slice(4)).meta.corr("h", level="input", coefficient=NAME, threshold=25).correlation
        assert found.attrs["threshold"] == 25.0
        np.testing.assert_array_equal(found.correlation.sel(kind="a"), want)
        assert found.correlation.sel(kind="b").isnull().all()  # no two gold scores of b lie 25 apart
