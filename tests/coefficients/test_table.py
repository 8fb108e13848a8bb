"""Every row of the table of coefficients through one battery: a row without an oracle of its name fails."""

import math
from dataclasses import replace

import numpy as np
import pytest
import reference
import xarray as xr
from conftest import dataset
from helpers import for_each, pairwise, rows, same

from xsumstat.coefficients import arrays, table
from xsumstat.coefficients.record import LEVELS, Coefficient, Measure

NAMES = tuple(table.COEFFICIENTS)
CASES = [(name, level) for name, record in table.COEFFICIENTS.items() for level in record.levels]
# WMT's threshold of the gold, in the units of the scores below.
THRESHOLDS = {"kendall_like": 1.0}
# The values that are the positive class, where there must be one.
POSITIVE = {name: (1.0, 2.0) for name, record in table.COEFFICIENTS.items() if record.scale == "two"}


def measure(name, level, **keywords):
    record = table.COEFFICIENTS[name]
    record = replace(record, positive=POSITIVE[name]) if name in POSITIVE else record
    made = Measure(record, level, **keywords)
    return made.at(THRESHOLDS[name]) if name in THRESHOLDS else made


def scores(seed, shape=(5, 4), gaps=True):
    """Two metrics and gold with ties, and with missing cells."""
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(3, *shape)) + rng.normal(size=(1, *shape)))
    return np.where(rng.random(values.shape) < 0.15, np.nan, values) if gaps else values


def oracle(name, x, z, level, **keywords):
    return reference.correlation(
        name, rows(x), rows(z), level, threshold=THRESHOLDS.get(name), positive=POSITIVE.get(name), **keywords
    )


@pairwise(
    {
        "name, level": CASES,
        "undefined": ["drop", "zero"],
        "missing": ["pairwise", "available"],
    },
    as_one=True,
)
def test_the_value_is_the_oracles(name, level, missing, undefined):
    for seed in range(4):
        x, _, z = scores(seed)
        got = measure(name, level, missing=missing, undefined=undefined).estimator(x, z).value()
        assert same(got, oracle(name, x, z, level, missing=missing, undefined=undefined), 1e-9)


@for_each(("name", "level"), CASES)
def test_neither_scale_nor_order_matters(name, level):
    """Of scores on one scale, their common unit and origin do not, unless these are classes that are named."""
    x, _, z = scores(3)
    made = measure(name, level)
    value = made.estimator(x, z).value()
    of_scale = made.coefficient.scale
    for factor in (2.0, 3.7, 1e-30, 1e30):
        if of_scale is not None:
            named = made.coefficient.positive
            there = replace(made, coefficient=replace(made.coefficient, positive=tuple(factor * p for p in named)))
            assert same(there.estimator(factor * x, factor * z).value(), value, 1e-9)
            assert named or same(made.estimator(x + 1000, z + 1000).value(), value, 1e-9)
            continue
        assert same(made.estimator(factor * x, z).value(), value, 1e-9)
        gold = made.at(made.coefficient.threshold * factor) if name in THRESHOLDS else made
        assert same(gold.estimator(x, factor * z).value(), value, 1e-9)
    rng = np.random.default_rng(1)
    order = np.ix_(rng.permutation(len(x)), rng.permutation(x.shape[1]))
    assert same(made.estimator(x[order], z[order]).value(), value, 1e-12)


@for_each(("name", "level"), CASES)
def test_values_lie_within_the_bounds_and_reach_the_upper(name, level):
    low, high = table.COEFFICIENTS[name].bounds
    for seed in range(10):
        x, _, z = scores(seed)
        value = measure(name, level).estimator(x, z).value()
        assert math.isnan(value) or low - 1e-12 <= value <= high + 1e-12
    z = np.random.default_rng(0).normal(size=(5, 4))
    z = np.round(z / z.std() / 2) if table.COEFFICIENTS[name].scale in ("classes", "two") else z
    assert same(measure(name, level).estimator(10 * z, 10 * z).value(), high, 1e-12) or name in POSITIVE
    assert same(measure(name, level).estimator(z, z).value(), high, 1e-12)
    if table.COEFFICIENTS[name].symmetric and table.COEFFICIENTS[name].scale is None and name != "spa":
        assert same(measure(name, level).estimator(-z, z).value(), low, 1e-12)


@for_each(("name", "level"), CASES)
def test_symmetry_is_what_the_row_says(name, level):
    if table.COEFFICIENTS[name].symmetric:
        x, _, z = scores(5)
        made = measure(name, level)
        assert same(made.estimator(x, z).value(), made.estimator(z, x).value(), 1e-12)


@for_each(("name", "level"), CASES)
def test_a_constant_metric_has_a_value_where_the_row_says(name, level):
    z = np.random.default_rng(2).normal(size=(5, 4)) * 10
    z = np.where(z > 0, 1.0, 3.0) if name in POSITIVE else z
    value = measure(name, level).estimator(np.ones_like(z), z).value()
    assert math.isnan(value) != table.COEFFICIENTS[name].of_constants


@for_each(("name", "level"), CASES)
def test_a_bootstrap_by_counts_is_the_value_of_gathered_rows(name, level):
    x, _, z = scores(6)
    rng = np.random.default_rng(4)
    systems = rng.multinomial(len(x), [1 / len(x)] * len(x), size=8)
    inputs = rng.multinomial(x.shape[1], [1 / x.shape[1]] * x.shape[1], size=8)
    got = measure(name, level).estimator(x, z).bootstrap(systems, inputs)
    for value, w, v in zip(got, systems, inputs, strict=True):
        drawn = (np.array(reference.drawn(rows(each), w, v), dtype=float) for each in (x, z))
        assert same(value, oracle(name, *drawn, level), 1e-9)


@for_each(("name", "level"), CASES)
@for_each("undefined", ["drop", "zero"])
def test_swapped_scores_give_the_difference_of_the_swapped_matrices(name, level, undefined):
    values = scores(8, (4, 3))
    swaps = np.random.default_rng(9).random((6, 4, 3)) < 0.5
    made = measure(name, level, undefined=undefined)
    made = made.at(0.5) if name in THRESHOLDS else made
    (test,) = made.swapped(values[:2], values[2], ((0, 1),))
    got = test.differences(arrays.packed(swaps))[0]
    threshold = 0.5 if name in THRESHOLDS else None
    for value, swap in zip(got, swaps.tolist(), strict=True):
        given = (rows(each) for each in values)
        settings = {"undefined": undefined, "threshold": threshold, "positive": POSITIVE.get(name)}
        want = reference.difference(name, *given, swap, level, **settings)
        assert same(value, want, 2e-3 if name == "spa" else 1e-9)


@for_each(("name", "level"), CASES)
def test_linear_rows_are_sums_of_signs(name, level):
    """A swap of all cells turns the difference round, and the parts of it add up."""
    record = table.COEFFICIENTS[name]
    if record.linear_in_swaps == "never" or level == "system" or record.calibrate:
        return
    rng = np.random.default_rng(11)
    values = rng.normal(size=(3, 4, 3)) * 10
    (test,) = measure(name, level).swapped(values[:2], values[2], ((0, 1),))
    single = np.eye(12).reshape(12, 4, 3)
    whole, none, *parts = test.differences(
        arrays.packed(np.concatenate([[np.ones((4, 3)), np.zeros((4, 3))], single]))
    )[0]
    assert same(whole, -none)
    assert same(sum(part - none for part in parts), whole - none, 1e-12)


@pytest.mark.parametrize("name", [name for name, each in table.COEFFICIENTS.items() if each.normal_value])
def test_the_normal_value_is_that_of_a_large_population(name):
    record, rng = table.COEFFICIENTS[name], np.random.default_rng(0)
    for r in (-0.5, 0.0, 0.8):
        z = rng.normal(size=(4000, 1))
        x = r * z + math.sqrt(1 - r * r) * rng.normal(size=z.shape)
        assert measure(name, "global").estimator(x, z).value() == pytest.approx(float(record.normal_value(r)), abs=0.03)
        if record.normal_r:
            assert record.normal_r(float(record.normal_value(r))) == pytest.approx(r, abs=1e-12)


# Each coefficient at one of its levels, and each level many times.
BY_TURNS = [(name, each.levels[at % len(each.levels)]) for at, (name, each) in enumerate(table.COEFFICIENTS.items())]


@pytest.mark.ignore_codes("rare_class")
@pytest.mark.parametrize(("name", "level"), BY_TURNS)
def test_lazy_scores_give_the_same_bits(name, level):
    values = scores(13, (6, 5), gaps=False)
    ds = dataset(np.clip(values, 0, 2) if table.COEFFICIENTS[name].scale else values)
    settings = {"level": level, "coefficient": name}
    settings |= {"threshold": THRESHOLDS[name]} if name in THRESHOLDS else {}
    settings |= {"positive": list(POSITIVE[name])} if name in POSITIVE else {}
    eager, lazy = (each.meta.corr("m2", **settings) for each in (ds, ds.chunk()))
    assert lazy["correlation"].chunks is not None
    xr.testing.assert_identical(eager["correlation"].drop_attrs(), lazy["correlation"].compute().drop_attrs())


def test_levels_are_all_or_some_of_the_four():
    assert {level for record in table.COEFFICIENTS.values() for level in record.levels} == set(LEVELS)


def test_every_row_has_a_label_and_its_own_name():
    assert all(record.label for record in table.COEFFICIENTS.values())
    assert len({record.label for record in table.COEFFICIENTS.values()}) == len(NAMES)


@pytest.mark.parametrize(
    "given", [{}, {"label": 99}, {"estimator": len}, {"swapped": len}, {"estimator": 1, "swapped": 2}]
)
def test_a_record_without_factories_is_refused(given):
    with pytest.raises(TypeError, match="coefficient 'new' needs (estimator|swapped)=, a function"):
        Coefficient("new", **given)
    with pytest.raises(TypeError, match="coefficient 'new' needs estimator=, a function"):
        Coefficient("new", 99)


def test_a_record_of_an_unknown_level_is_refused():
    with pytest.raises(ValueError, match="levels of coefficient 'new' must be among"):
        Coefficient("new", levels=("document",), estimator=len, swapped=len)
