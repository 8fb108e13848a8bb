import numpy as np
import pytest
import reference
import scipy.stats
from helpers import LEVELS, NAMES, examples, matrices, pairwise, rows, same
from hypothesis import given
from hypothesis import strategies as st
from values_twin import agreement

from xsumstat.coefficients import arrays, table
from xsumstat.coefficients.record import Measure
from xsumstat.kernels import correlation as kernels
from xsumstat.resampling import draws


def prepared(x, z, level, name, missing="pairwise", undefined="drop"):
    return Measure(table.get(name), level, missing, undefined).estimator(x, z)


def estimate(x, z, level, name, missing="pairwise", undefined="drop"):
    made = prepared(x, z, level, name, missing, undefined)
    return made.bootstrap(np.ones((1, len(x)), int), np.ones((1, x.shape[1]), int))[0]


@examples(60)
@given(
    matrices(2),
    st.sampled_from(LEVELS),
    st.sampled_from(NAMES),
    st.sampled_from(["pairwise", "available"]),
    st.sampled_from(["drop", "zero"]),
)
def test_estimate_equals_the_plain_definition(pair, level, name, missing, undefined):
    x, z = pair
    want = reference.correlation(name, rows(x), rows(z), level, missing, undefined)
    assert same(estimate(x, z, level, name, missing, undefined), want)


SCIPY = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": lambda x, z: scipy.stats.kendalltau(x, z, variant="b"),
    "kendall_c": lambda x, z: scipy.stats.kendalltau(x, z, variant="c"),
}


@examples(60)
@given(matrices(2), st.sampled_from(["input", "global", "within_system"]), st.sampled_from(sorted(SCIPY)))
def test_each_group_equals_scipy(pair, level, name):
    x, z = pair
    r, n = prepared(x, z, level, name).groups()
    for got, size, (a, b) in zip(r, n, arrays.vectors(x, z, level, "pairwise"), strict=True):
        assert size == len(a)
        if len(a) > 1 and np.ptp(a) > 0 and np.ptp(b) > 0:
            assert same(got, SCIPY[name](a, b).statistic)
        elif name != "pairwise_accuracy":
            assert np.isnan(got)


@examples(60)
@given(
    matrices(2),
    st.sampled_from(LEVELS),
    st.sampled_from(NAMES),
    st.integers(0, 2**32),
    st.sampled_from(["drop", "zero"]),
)
def test_bootstrap_equals_gathering_the_drawn_labels(pair, level, name, seed, undefined):
    x, z = pair
    systems = draws.counts(seed, "system", x.shape[0], 0)[:3]
    inputs = draws.counts(seed, "input", x.shape[1], 0)[:3]
    whole = np.ones((1, x.shape[0]), int), np.ones((1, x.shape[1]), int)
    made = prepared(x, z, level, name, undefined=undefined)
    for w, v in ((systems, inputs), (systems, whole[1]), (whole[0], inputs)):
        for got, s in zip(made.bootstrap(w, v), range(3), strict=True):
            i, j = w[min(s, len(w) - 1)], v[min(s, len(v) - 1)]
            drawn = reference.drawn(rows(x), i, j), reference.drawn(rows(z), i, j)
            want = reference.correlation(name, *drawn, level, undefined=undefined)
            assert same(got, want, atol=1e-12 * max(1.0, abs(want)))  # icc can be far below -1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", ["input", "within_system"])
def test_sorting_and_pairs_are_one_statistic(monkeypatch, name, level):
    rng = np.random.default_rng(0)
    x, z = np.round(3 * rng.normal(size=(2, 9, 12)))
    x[rng.random(x.shape) < 0.1] = np.nan
    counts = draws.counts(3, "system", 9, 0)[:20], draws.counts(3, "input", 12, 0)[:20]
    by_pairs = prepared(x, z, level, name).bootstrap(*counts)
    monkeypatch.setattr(arrays, "by_pairs", lambda members, groups: False)
    np.testing.assert_allclose(prepared(x, z, level, name).bootstrap(*counts), by_pairs, atol=1e-13)


def test_equal_means_stay_tied_though_rounding_parts_them():
    x = np.array([[0.1, 0.2], [0.3, 0.0], [0.9, 0.1]])  # means .15 (a hair more in floating point), .15, .5
    z = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    assert x[0].mean() != x[1].mean()
    assert estimate(x, z, "system", "kendall") == pytest.approx(2 / np.sqrt(2 * 3), abs=1e-15)
    assert estimate(x, z, "system", "spearman") == pytest.approx(np.sqrt(3) / 2, abs=1e-15)
    assert estimate(x, z, "system", "pairwise_accuracy") == pytest.approx(2 / 3, abs=1e-15)


def test_means_that_cancel_are_tied_by_the_size_of_their_terms():
    x = np.array([[0.1, 0.2, -0.3], [0.3, -0.2, -0.1], [1.0, 1.0, 1.0]])  # means 0 up to rounding, and 1
    z = np.array([[1.0] * 3, [2.0] * 3, [3.0] * 3])
    assert x[0].mean() != x[1].mean()
    assert estimate(x, z, "system", "kendall") == pytest.approx(2 / np.sqrt(2 * 3), abs=1e-15)


@pytest.mark.parametrize("gap, tied", [(1e-11, False), (1e-13, True)])
def test_tolerance_of_means_is_relative_1e12(gap, tied):
    x = np.array([[1000.0], [1000.0 * (1 + gap)], [2000.0]])
    z = np.array([[1.0], [2.0], [3.0]])
    assert estimate(x, z, "system", "kendall_a") == pytest.approx((2 if tied else 3) / 3)


def test_raw_scores_are_tied_only_when_equal():
    x = np.array([[1.0], [1.0 + 1e-15], [2.0]])
    z = np.array([[1.0], [2.0], [3.0]])
    assert estimate(x, z, "input", "kendall") == 1.0


@pairwise(
    {
        "level": LEVELS,
        "name": NAMES,
        "scale": [1e307, 1e-290],
    }
)
def test_size_of_the_scores_does_not_matter(level, name, scale):
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(2, 6, 5))
    assert estimate(scale * x, scale * z, level, name) == pytest.approx(estimate(x, z, level, name), abs=1e-12)


def test_an_outlier_that_is_not_drawn_leaves_no_trace():
    rng = np.random.default_rng(6)
    x, z = rng.normal(size=(2, 8, 4))
    spoilt = x.copy()
    spoilt[3] = -1e9
    systems = np.array([[1, 2, 1, 0, 1, 1, 1, 1]])
    for level in LEVELS:
        clean = prepared(x, z, level, "pearson").bootstrap(systems, np.ones((1, 4), int))
        assert same(prepared(spoilt, z, level, "pearson").bootstrap(systems, np.ones((1, 4), int)), clean, 1e-11), level


def test_a_draw_of_equal_scores_is_undefined_not_noise():
    x = np.array([[0.1], [0.1], [0.7], [0.1 * 3]])
    z = np.array([[1.0], [2.0], [3.0], [4.0]])
    systems = np.array([[2, 2, 0, 0], [0, 0, 4, 0]])
    for level in ("system", "input", "global"):
        for name in ("pearson", "spearman", "kendall", "kendall_a", "kendall_c"):
            assert np.isnan(prepared(x, z, level, name).bootstrap(systems, np.ones((1, 1), int))).all(), (level, name)


def test_a_function_gives_what_our_own_coefficient_gives():
    rng = np.random.default_rng(8)
    x, z = np.round(2 * rng.normal(size=(2, 5, 4)))
    x[1, 2] = np.nan

    def tau(a, b):
        return scipy.stats.kendalltau(a, b).statistic if np.ptp(a) and np.ptp(b) else np.nan

    counts = draws.counts(1, "system", 5, 0)[:5], draws.counts(1, "input", 4, 0)[:5]
    for level in LEVELS:
        for undefined in ("drop", "zero"):
            ours = prepared(x, z, level, "kendall", undefined=undefined).bootstrap(*counts)
            theirs = prepared(x, z, level, tau, undefined=undefined).bootstrap(*counts)
            np.testing.assert_allclose(theirs, ours, atol=1e-12)


# In the first draw s2, tied with s1 in x, is away: two distinct means. In the second the ties of both are away.
TIED = np.array([[1.0, 2.0, 2.0, 3.0, 1.0], [5.0, 5.0, 4.0, 3.0, 1.0]])
AWAY = np.array([[1, 0, 1, 2, 0], [1, 0, 1, 1, 0], [0, 2, 1, 0, 3], [2, 2, 0, 0, 1]])


@pytest.mark.parametrize("name", ["kendall", "kendall_c", "spearman"])
@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [1, 0, 2, 4, 3]])
def test_a_tie_with_a_system_that_is_not_drawn_is_none(name, order):
    """SciPy on the means of the drawn systems alone, all on one input."""
    x, z = TIED[:, order, None]
    got = prepared(x, z, "system", name).bootstrap(np.ascontiguousarray(AWAY[:, order]), np.ones((1, 1), int))
    for value, w in zip(got, AWAY[:, order], strict=True):
        at = np.repeat(np.arange(5), w)
        assert same(value, SCIPY[name](x[at, 0], z[at, 0]).statistic)


LACKING = np.random.default_rng(3).normal(size=(2, 5, 4))
LACKING[0, 1] = np.nan  # a system without any score by the metric
LACKING[1, 3] = np.nan  # one that nobody rated
LACKING[0, 2, :3] = np.nan  # one with a score on a single input, which is not always drawn
LACKING[1, 2, 3] = np.nan  # where it has no rating
FEW = np.array([[1, 1, 1, 1], [2, 2, 0, 0], [0, 1, 1, 2], [0, 0, 0, 4]])


@pytest.mark.parametrize("form", NAMES + (lambda a, b: float(a @ b),))
@pytest.mark.parametrize("missing", ["available", "pairwise"])
def test_a_draw_holds_the_systems_that_have_both_means_in_it(missing, form):
    """Each score is averaged over the drawn inputs that it has; a system that lacks one of its means is left out."""
    x, z = LACKING
    w = np.array([[1, 1, 1, 1, 1], [2, 1, 1, 0, 1], [1, 2, 2, 0, 2], [2, 0, 3, 3, 2]])
    for systems, inputs in ((w, FEW), (w, np.ones((1, 4), int)), (np.ones((1, 5), int), FEW)):
        got = prepared(x, z, "system", form, missing).bootstrap(systems, inputs)
        for s in range(4):
            i, j = systems[min(s, len(systems) - 1)], inputs[min(s, len(inputs) - 1)]
            x_drawn, z_drawn = (np.array(reference.drawn(each.tolist(), i, j)) for each in (x, z))
            if missing == "pairwise":
                both = ~np.isnan(x_drawn + z_drawn)
                x_drawn, z_drawn = (np.where(both, each, np.nan) for each in (x_drawn, z_drawn))
            there = ~np.isnan(x_drawn).all(axis=1) & ~np.isnan(z_drawn).all(axis=1)
            means = [np.nanmean(each[there], axis=1).tolist() for each in (x_drawn, z_drawn)]
            if callable(form):
                want = np.dot(*means) if there.sum() > 1 else np.nan
            else:
                coefficient = agreement if form in reference.OF_VALUES else reference.coefficient
                want = coefficient(form, *means, scale=1.0)
            assert same(got[s], want)


def test_codes_are_dense_ranks():
    values = np.array([[3.0, 1.0, 3.0, -2.0], [0.0, -0.0, 1.0, 1.0]])
    order, codes = arrays.dense_codes(values)
    for line, places, ranks in zip(values, order, codes, strict=True):
        assert list(line[places]) == sorted(line)
        np.testing.assert_array_equal(ranks, scipy.stats.rankdata(line, "dense") - 1)


def test_tree_sums_equal_slices():
    weights = np.array([3, 0, 2, 5, 1, 4], dtype=np.int64)
    tree = np.zeros(7, dtype=np.int64)
    for code, weight in enumerate(weights):
        at = code + 1
        while at <= 6:
            tree[at] += weight
            at += at & -at
    assert [kernels.tree_sum(tree, code) for code in range(7)] == [weights[:code].sum() for code in range(7)]
