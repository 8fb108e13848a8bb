"""Parts by update formulas: against the twin, which leaves out, and against the estimators."""

import itertools

import jackknife_twin as twin
import numpy as np
import pytest
from helpers import LEVELS, examples, for_each, pairwise, scores
from hypothesis import given
from hypothesis import strategies as st

from xsumstat.analyses.measure import checked_measure
from xsumstat.coefficients import leave_one_out

NAMES = ("pearson", "spearman", "kendall", "kendall_a", "kendall_c", "pairwise_accuracy")
SETS = {
    "plain": (8, 7),
    "grades": (7, 6),
    "gaps": (7, 8),
    "graded gaps": (6, 7),
    "equal": (5, 4),
    "few": (4, 3),
    "alone": (5, 4),
}


def data(kind, seed=0):
    rng = np.random.default_rng(seed)
    shape = SETS[kind]
    z = rng.normal(size=(shape[0], 1)) + rng.normal(size=shape)
    x = z + rng.normal(size=shape)
    if kind in ("grades", "graded gaps"):
        x, z = np.round(x), np.clip(np.round(2 * z), -2, 2)
    if "gaps" in kind:
        x = np.where(rng.random(shape) < 0.25, np.nan, x)
        x[1], z[:, 2] = np.nan, np.nan  # nothing of a system, nor of an input
        x[2:4, 3] = np.nan
    if kind == "alone":
        x[1:, 2] = np.nan  # an input that one system alone has
    if kind == "equal":
        x = 2 * z + 1
    return x, z


def both(x, z, name, level, undefined="drop"):
    """The parts, and the twin's."""
    (one, two), _, worked, *_ = twin.prepared((x, z), level, ("system", "input"))
    with np.errstate(all="ignore"):
        want = twin.parts(one, two, name, worked, undefined)
    return leave_one_out.of(x, z, checked_measure(level, name, "pairwise", undefined)), want


def agree(got, want, atol=1e-11):
    np.testing.assert_allclose(got, want, atol=atol, rtol=0)


@for_each("kind", SETS)
@for_each("name", NAMES)
def test_parts_of_means(name, kind):
    got, want = both(*data(kind), name, "system")
    agree(got.value, want["theta"])
    agree(got.without, want["without_system"])
    agree(got.pearson, want["pearson_without_system"])
    agree(got.influence, want["psi"])
    assert got.of_ranks == (name != "pearson")


@pairwise(
    {
        "undefined": ["drop", "zero"],
        "level": ["input", "within_system"],
        "kind": SETS,
        "name": NAMES,
    },
    as_one=True,
)
def test_parts_of_groups(name, kind, level, undefined):
    got, want = both(*data(kind), name, level, undefined)
    agree(got.value, want["theta"])
    agree(got.r, want["r"])
    agree(got.without, want["r_without"])
    agree(got.averages, want["without_system"])
    np.testing.assert_array_equal(got.there, want["cells"])


@for_each("level", ["input", "within_system"])
@for_each("name", NAMES)
def test_a_group_of_a_single_member_counts_as_zero_with_it_and_not_without(name, level):
    x, z = data("alone") if level == "input" else (each.T for each in data("alone"))
    got, want = both(x, z, name, level, "zero")
    assert got.r[2] == 0 and np.isnan(got.without[:, 2]).all()
    agree(got.without, want["r_without"])
    agree(got.averages, want["without_system"])


@for_each("kind", SETS)
@for_each("name", NAMES)
def test_parts_of_all_cells(name, kind):
    got, want = both(*data(kind), name, "global")
    agree(got.value, want["theta"])
    agree(got.systems, want["without_system"])
    agree(got.inputs, want["without_input"])
    agree(got.influence[want["cells"]], want["influence"])
    assert not got.influence[~want["cells"]].any() and got.n_cells == want["cells"].sum()


@examples(100)
@given(*(2 * [scores((5, 4))]), st.sampled_from(NAMES), st.sampled_from(LEVELS), st.sampled_from(["drop", "zero"]))
def test_parts_of_few_values_and_many_gaps(x, z, name, level, undefined):
    """Everything is tied, something is constant, much is missing: as by leaving out."""
    if np.isnan(x + z).all():
        return
    got, want = both(x, z, name, level, undefined)
    agree(got.value, want["theta"])
    if level == "system":
        agree(got.without, want["without_system"])
        agree(got.pearson, want["pearson_without_system"])
    elif level == "global":
        agree(got.systems, want["without_system"])
        agree(got.inputs, want["without_input"])
    else:
        agree(got.without, want["r_without"])
        agree(got.averages, want["without_system"])


@examples(100)
@given(*(2 * [scores((5, 4))]), st.sampled_from(NAMES), st.sampled_from(LEVELS), st.sampled_from(["drop", "zero"]))
def test_the_value_has_the_bits_of_the_estimators(x, z, name, level, undefined):
    measure = checked_measure(level, name, "pairwise", undefined)
    for one, two in ((x, z), (1e3 * x + 0.1, z)):
        value, want = leave_one_out.of(one, two, measure).value, measure.estimator(one, two).value()
        assert value == want or np.isnan(value) and np.isnan(want)


# --- Each score on its own cells ---


def test_parts_of_means_of_other_cells():
    """``missing="available"``, by hand: means, effects of cells and what is left of a system's and an input's mean."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=(6, 1)) + rng.normal(size=(6, 5))
    x = np.where(rng.random(z.shape) < 0.2, np.nan, z + rng.normal(size=z.shape))
    z = np.where(rng.random(z.shape) < 0.2, np.nan, z)
    x[4] = np.nan  # no score of this system
    x[2, :3], z[2, 3:] = np.nan, np.nan  # scores of this system, and gold, of different inputs
    kept = np.array([0, 1, 2, 3, 5])
    mean_x, mean_z = (np.nanmean(each[kept], axis=1) for each in (x, z))

    def standard(values):
        return (values - values.mean()) / values.std()

    def double_centred(values):
        left = values - np.nanmean(values, axis=1, keepdims=True)
        return left - np.nanmean(left, axis=0, keepdims=True)

    a, b = standard(mean_x), standard(mean_z)
    r = np.mean(a * b)
    want = np.zeros((5, 5))
    for own, slope, sd in ((x[kept], b - r * a, mean_x.std()), (z[kept], a - r * b, mean_z.std())):
        cells = (~np.isnan(own)).sum(axis=1)
        want += np.nan_to_num((slope / (5 * sd) / cells)[:, None] * double_centred(own))
    for name in NAMES:
        got = leave_one_out.of(x, z, checked_measure("system", name, "available", "drop"))
        agree(got.value, twin.correlate(name, mean_x, mean_z))
        agree(got.without, [twin.correlate(name, np.delete(mean_x, i), np.delete(mean_z, i)) for i in range(5)])
        agree(got.pearson, [twin.correlate("pearson", np.delete(mean_x, i), np.delete(mean_z, i)) for i in range(5)])
        agree(got.influence, want)
        assert got.shape == (5, 5)


@pytest.mark.parametrize("level", ["input", "global", "within_system"])
def test_elsewhere_there_is_one_rule_for_missing_scores(level):
    x, z = data("gaps")
    rules = (checked_measure(level, "kendall", missing, "drop") for missing in ("pairwise", "available"))
    one, two = (leave_one_out.of(x, z, rule) for rule in rules)
    assert one.value == two.value and one.shape == two.shape


# --- What the influences are ---


def test_effects_of_cells_are_the_derivative_of_the_correlation():
    """The influence of a cell on Pearson's r of means, by moving each cell's noise a little."""
    x, z = data("plain", 4)
    got = leave_one_out.of(x, z, checked_measure("system", "pearson", "pairwise", "drop")).influence
    noise = [twin.residuals(each) for each in (x, z)]
    step, want = 1e-6, np.zeros(x.shape)
    for i, j in np.ndindex(x.shape):
        ends = []
        for sign in (1, -1):
            moved = [each.copy() for each in (x, z)]
            for each, by in zip(moved, noise, strict=True):
                each[i, j] += sign * step * by[i, j]
            ends.append(twin.correlate("pearson", moved[0].mean(axis=1), moved[1].mean(axis=1)))
        want[i, j] = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(got, want, atol=1e-8)


@pytest.mark.parametrize("grades", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_influences_are_nearly_what_a_cell_changes_when_it_is_left_out(name, grades):
    rng = np.random.default_rng(5)
    z = rng.normal(size=(12, 10))
    x = z + rng.normal(size=z.shape)
    if grades:
        x, z = np.round(x), np.round(2 * z)
    parts = leave_one_out.of(x, z, checked_measure("global", name, "pairwise", "drop"))
    n = x.size
    left = [twin.correlate(name, np.delete(x.ravel(), k), np.delete(z.ravel(), k)) for k in range(n)]
    pseudo = n * parts.value - (n - 1) * np.array(left)
    assert np.corrcoef(parts.influence.ravel(), pseudo)[0, 1] > 0.999
    assert parts.influence.std() == pytest.approx(pseudo.std(), rel=0.03)
    assert parts.influence.mean() == pytest.approx(0, abs=1e-12)


# --- Numbers of any size ---


@pytest.mark.parametrize("level, name", list(itertools.product(LEVELS, ("pearson", "spearman", "kendall"))))
def test_enormous_and_tiny_scores(level, name):
    """A power of 10 does nothing; nor does a power of 2, to the bit."""
    x, z = data("gaps", 6)
    measure = checked_measure(level, name, "pairwise", "drop")
    want = vars(leave_one_out.of(x, z, measure))
    for one, two, atol in ((2.0**-900, 2.0**900, 0), (1e-290, 1e290, 1e-11), (-3.0, -1e5, 1e-11)):
        got = vars(leave_one_out.of(one * x, two * z, measure))
        for part, value in want.items():
            if isinstance(value, np.ndarray):
                np.testing.assert_allclose(got[part], value, atol=atol, rtol=0)


def test_a_system_or_input_that_has_nearly_all_the_variance_of_all_cells():
    """What is left of a sum of squares would be rounding."""
    rng = np.random.default_rng(7)
    z = rng.normal(size=(6, 5))
    x = z + rng.normal(size=z.shape)
    x[2] += 1e7
    z[:, 3] -= 1e7
    got, want = both(x, z, "pearson", "global")
    agree(got.systems, want["without_system"], 1e-8)
    agree(got.inputs, want["without_input"], 1e-8)
    x[2], z[:, 3] = 1e7, 0.0
    x[np.arange(6) != 2] = 3.0  # without the system the metric is constant
    got, want = both(x, z, "pearson", "global")
    assert np.isnan(got.systems[2]) and np.isnan(want["without_system"][2])
    agree(got.systems, want["without_system"], 1e-8)
