"""Kendall's coefficients by bits: beside SciPy, the plain definitions, and the kernels that sort."""

import itertools

import numpy as np
import pytest
import scipy.stats
from helpers import pairwise

from xsumstat.analyses.measure import checked_measure
from xsumstat.coefficients import arrays, bitset_kendall

NAMES = ("kendall", "kendall_a", "pairwise_accuracy")
RNG = np.random.default_rng(20)


def scores(kind, members=70, groups=3, metrics=4):
    """Of normal size or huge, fine, tied, with gaps, constant in one group, or for one member only."""
    x = RNG.normal(size=(metrics, members, groups)) + RNG.normal(size=(members, groups))
    if kind in ("tied", "tied with gaps"):
        x[1:] = np.round(x[1:])  # a fine one among them
    if "gaps" in kind:
        x[RNG.random(x.shape) < 0.3] = np.nan
        x[2, :, 1] = np.nan
        x[3, 1:, 2] = np.nan
    if kind == "constant":
        x[1, :, 0] = 2.5
    return x * 1e300 if kind == "huge" else x


@pairwise(
    {
        "name": NAMES,
        "level": ["input", "within_system"],
        "kind": ["fine", "tied", "gaps", "tied with gaps", "constant", "huge"],
        "top": [False, True],
    }
)
def test_bits_and_sorting_give_the_same_bits(name, level, kind, top):
    x = scores(kind)
    assert not arrays.by_pairs(70, 3)  # so that they are sorted
    pairs = list(itertools.combinations_with_replacement(range(len(x)), 2))
    measure = checked_measure(level, name, "pairwise", "drop")
    best = dict(enumerate(RNG.random(x.shape) < 0.4)) if top else {}
    if level == "within_system":
        x, best = x.swapaxes(1, 2), {metric: each.T for metric, each in best.items()}
    r, n = measure.coefficient.of_pairs(x, pairs, measure, best)
    for place, (one, other) in enumerate(pairs):
        first = np.where(best[one] | best[other], x[one], np.nan) if top else x[one]
        want = measure.estimator(first, x[other]).groups()
        assert r[place].tobytes() == want[0].tobytes()
        np.testing.assert_array_equal(n[place], want[1])


@pytest.mark.parametrize("size", [2, 63, 64, 65, 200])
def test_kendall_is_scipys(size):
    x = np.round(RNG.normal(size=(2, size, 2)), 1)
    measure = checked_measure("input", "kendall", "pairwise", "drop")
    (r,), (n,) = measure.coefficient.of_pairs(x, [(0, 1)], measure, {})
    for j in range(2):
        assert r[j] == pytest.approx(scipy.stats.kendalltau(x[0, :, j], x[1, :, j]).statistic, abs=1e-12, nan_ok=True)
    assert (n == size).all()


@pairwise(
    {
        "name": NAMES,
        "kind": ["fine", "tied with gaps"],
        "top": [False, True],
    }
)
def test_many_members_are_sorted_once_a_metric(monkeypatch, name, kind, top):
    x = scores(kind)
    pairs = list(itertools.combinations_with_replacement(range(len(x)), 2))
    measure = checked_measure("input", name, "pairwise", "drop")
    best = dict(enumerate(RNG.random(x.shape) < 0.4)) if top else {}
    want = bitset_kendall.groups(x, pairs, measure, best)
    for limit in ("_MOST_MEMBERS", "_MOST_BYTES"):
        with monkeypatch.context() as few:
            few.setattr(bitset_kendall, limit, 60)
            found = bitset_kendall.groups(x, pairs, measure, best)
        assert [each.tobytes() for each in found] == [each.tobytes() for each in want]


@pytest.mark.parametrize("name", ["kendall", "spearman", "acc_eq"])
@pytest.mark.parametrize("shape", [(70, 3), (8, 5)])
def test_other_scores_are_left_to_estimators(name, shape):
    """Those of few members, and other coefficients."""
    x = RNG.normal(size=(3, *shape))
    measure = checked_measure("input", name, "pairwise", "drop")
    best = {at: np.full(shape, True) for at in range(3)}
    best[0][2:], best[1][2:] = False, False
    r, n = bitset_kendall.groups(x, [(0, 1), (1, 2)], measure, best)
    assert (n[0] == 2).all() and (n[1] == shape[0]).all()
    assert r[1].tobytes() == measure.estimator(x[1], x[2]).groups()[0].tobytes()
    assert set(r[0]) <= {-1.0, 0.0, 1.0}


def test_infinite_scores_are_refused():
    x = np.full((2, 70, 3), np.inf)
    with pytest.raises(ValueError, match="infinite"):
        bitset_kendall.groups(x, [(0, 1)], checked_measure("input", "kendall", "pairwise", "drop"))
