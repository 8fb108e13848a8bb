"""What statistics are without each label: against scores that are really left out."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from helpers import LEVELS, for_each, pairwise, same

from xsumstat.analyses.measure import checked_measure
from xsumstat.coefficients import leave_one_out, table
from xsumstat.coefficients.leave_one_out import OfAny, OfCells, OfGroups, OfMeans

OTHERS = [name for name, record in table.COEFFICIENTS.items() if record.leave_one_out is None]


def scores(seed=0, shape=(6, 5), gaps=0.15):
    """Two metrics and gold, tied, some missing; a system and an input that only the second metric has."""
    rng = np.random.default_rng(seed)
    values = np.round(2 * rng.normal(size=(3, *shape)) + 2 * rng.normal(size=(1, *shape)))
    values = np.where(rng.random(values.shape) < gaps, np.nan, values)
    if gaps:
        values[0, 2], values[0, :, 3] = np.nan, np.nan
    return values


def farthest(x, z):
    """A function of a user's, with no bounds."""
    return float(np.max(np.abs(x - z)))


def made(name, level, missing="pairwise", undefined="drop"):
    measure = checked_measure(level, name, missing, undefined)
    if measure.coefficient.scale == "two":
        return replace(measure, coefficient=replace(measure.coefficient, positive=(1.0,)))
    return measure.at(1.0) if name == "kendall_like" else measure


def without(x, z, axis, at):
    gone = [each.copy() for each in (x, z)]
    for each in gone:
        np.moveaxis(each, axis, 0)[at] = np.nan
    return gone


@pairwise(
    {
        "missing": ["pairwise", "available"],
        "level": LEVELS,
        "name": [*OTHERS, farthest],
    }
)
def test_any_statistic_without_each_system_and_each_input(name, level, missing):
    if level not in table.get(name).levels:
        return
    measure = made(name, level, missing)
    x, _, z = scores(1)
    parts = leave_one_out.of(x, z, measure)
    assert isinstance(parts, OfAny) and parts.level == level
    own = missing == "available" and level == "system"
    there = ~np.isnan(x + z)
    taking = ~np.isnan(x).all(axis=1) & ~np.isnan(z).all(axis=1) if own else there.any(axis=1)
    used = (~np.isnan(x) | ~np.isnan(z))[taking].any(axis=0) if own else there.any(axis=0)
    assert parts.shape == (taking.sum(), used.sum())
    assert same(parts.value, measure.estimator(x, z).value(), 0)
    for axis, (labels, got) in enumerate(((taking, parts.systems), (used, parts.inputs))):
        want = [measure.estimator(*without(x, z, axis, at)).value() for at in np.flatnonzero(labels)]
        assert same(got, want)


@pytest.mark.parametrize("level", LEVELS)
def test_what_a_function_is_without_a_label_from_plain_python(level):
    """Means, groups and all cells written out."""
    x, _, z = scores(2)
    parts = leave_one_out.of(x, z, made(farthest, level))

    def plain(x, z):
        there = ~np.isnan(x + z)
        if level == "global":
            return farthest(x[there], z[there])
        x, z = np.where(there, x, np.nan), np.where(there, z, np.nan)
        if level == "system":
            here = there.any(axis=1)
            return farthest(np.nanmean(x[here], axis=1), np.nanmean(z[here], axis=1))
        if level == "within_system":
            x, z, there = x.T, z.T, there.T
        return np.mean([farthest(x[t, j], z[t, j]) for j, t in enumerate(there.T) if t.sum() > 1])

    taking, used = ~np.isnan(x + z).all(axis=1), ~np.isnan(x + z).all(axis=0)
    assert same(parts.value, plain(x, z))
    assert same(parts.systems, [plain(*without(x, z, 0, i)) for i in np.flatnonzero(taking)])
    assert same(parts.inputs, [plain(*without(x, z, 1, j)) for j in np.flatnonzero(used)])


def test_more_labels_than_are_left_out_at_a_time(monkeypatch):
    x, _, z = scores(3)
    measure = made("kendall", "input")
    estimator = measure.estimator(x, z)
    whole = leave_one_out.each_left_out(estimator, x.shape, ("system", "input"))
    monkeypatch.setattr(leave_one_out, "_AT_ONCE", 4)
    for got, want in zip(leave_one_out.each_left_out(estimator, x.shape, ("system", "input")), whole, strict=True):
        np.testing.assert_array_equal(got, want)
    assert [len(each) for each in whole] == [6, 5]
    assert [len(each) for each in leave_one_out.each_left_out(estimator, x.shape, ("input",))] == [5]
    cells = leave_one_out.each_left_out(estimator, x.shape, ("cell",))
    np.testing.assert_array_equal(cells, whole[:1])  # cells are laid out as systems


@for_each("level", LEVELS)
@for_each("name", table.COEFFICIENTS)
def test_kinds_and_shapes(name, level):
    if level not in table.COEFFICIENTS[name].levels:
        return
    x, _, z = scores(4)
    parts = leave_one_out.of(x, z, made(name, level))
    kinds = {"system": OfMeans, "input": OfGroups, "global": OfCells, "within_system": OfGroups}
    by_force = name in OTHERS or level == "system" and table.get(name).scale is not None
    assert type(parts) is (OfAny if by_force else kinds[level])
    there = ~np.isnan(x + z)
    assert parts.shape == (there.any(axis=1).sum(), there.any(axis=0).sum()) == (5, 4)


@pytest.mark.filterwarnings("error")
@pairwise(
    {
        "missing": ["pairwise", "available"],
        "level": LEVELS,
        "name": [*table.COEFFICIENTS, farthest],
    },
    as_one=True,
)
def test_nothing_in_common(name, level, missing):
    if level not in table.get(name).levels:
        return
    x, z = np.full((2, 5, 4), np.nan)
    x[:3], z[3:] = 1.0, np.arange(8.0).reshape(2, 4)
    measure = made(name, level, missing)
    for one in (x, np.full(z.shape, np.nan)):
        parts = leave_one_out.of(one, z, measure)
        assert parts.shape == (0, 0) and math.isnan(parts.value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)])
@pytest.mark.parametrize("level", LEVELS)
def test_few_systems_and_inputs(level, shape):
    """Nothing is warned of, and the value is that of the estimator."""
    for name, gaps, seed in itertools.product(table.COEFFICIENTS, (0.0, 0.3), range(3)):
        if level not in table.COEFFICIENTS[name].levels:
            continue
        x, _, z = np.random.default_rng(seed).integers(0, 3, (3, *shape)).astype(float)
        x = np.where(np.random.default_rng(seed).random(shape) < gaps, np.nan, x)
        measure = made(name, level)
        parts = leave_one_out.of(x, z, measure)
        if parts.shape != (0, 0):
            assert same(parts.value, measure.estimator(x, z).value(), 0), name


def test_infinite_scores_are_refused():
    x, _, z = scores()
    with pytest.raises(ValueError, match="infinite"):
        leave_one_out.of(np.where(np.isnan(x), np.inf, x), z, made("pearson", "input"))


# --- Differences ---


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["pearson", "kendall", "pairwise_accuracy", farthest])
def test_differences_on_the_same_cells(name, level):
    x, y, z = scores(5)
    x, y = np.where(np.isnan(y), np.nan, x), np.where(np.isnan(x), np.nan, y)
    measure = made(name, level)
    one, two = (leave_one_out.of(each, z, measure) for each in (x, y))
    gap = one.less(two)
    assert gap.value == one.value - two.value and gap.shape == one.shape and type(gap) is type(one)
    names = {OfMeans: "without pearson influence", OfGroups: "averages", OfCells: "systems inputs influence"}
    for each in names.get(type(one), "systems inputs").split():
        np.testing.assert_array_equal(getattr(gap, each), getattr(one, each) - getattr(two, each))


@pytest.mark.parametrize("name", ["pearson", "spearman", farthest])
def test_differences_of_metrics_that_have_other_systems_and_inputs(name):
    """``missing="available"``: a label that one metric lacks adds to the difference what the other's does alone."""
    rng = np.random.default_rng(6)
    x, y, z = rng.normal(size=(3, 8, 6)) + rng.normal(size=(8, 6))
    x[0], x[:, 0], y[7], y[:, 5] = np.nan, np.nan, np.nan, np.nan
    z[:, 2], x[:, 2], y[:, 2] = np.nan, np.nan, np.nan  # nobody has it
    measure = made(name, "system", "available")
    one, two = (leave_one_out.of(each, z, measure) for each in (x, y))
    gap, mirrored = one.less(two), two.less(one)
    assert (one.shape, two.shape, gap.shape) == ((7, 5), (7, 5), (8, 5))  # of the inputs gold has all but one
    values = "without" if name != farthest else "systems"
    of_one, of_two, both = (getattr(each, values) for each in (one, two, gap))
    of_one = np.concatenate([[np.mean(of_one)], of_one])
    of_two = np.concatenate([of_two, [np.mean(of_two)]])
    np.testing.assert_allclose(both, of_one - of_two, atol=1e-15)
    np.testing.assert_array_equal(getattr(mirrored, values), -both)
    if name != farthest:
        assert gap.influence[0, 1:] == pytest.approx(-two.influence[0, 1:])
        np.testing.assert_allclose(gap.influence[1:7], one.influence[:6] - two.influence[1:], atol=1e-15)
        np.testing.assert_array_equal(gap.influence, -mirrored.influence)
