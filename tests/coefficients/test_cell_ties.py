"""Accuracy with ties of all cells: pairs that are counted beside pairs that are listed, and the plain definition."""

import numpy as np
import pytest
import reference
from helpers import for_each, rows

import xsumstat  # noqa: F401 - registers ds.meta
from xsumstat.coefficients import cell_ties, ties
from xsumstat.coefficients.cell_ties import CellTies
from xsumstat.coefficients.record import Measure
from xsumstat.coefficients.table import get
from xsumstat.coefficients.ties import Counted, Members, WithTies
from xsumstat.resampling import draws

RNG = np.random.default_rng(9)
SHAPE = 5, 9
KINDS = ["fine", "tied", "tenths", "gaps", "constant", "huge", "one cell", "none"]


def scores(kind):
    z = np.round(RNG.normal(size=SHAPE))
    x = 0.5 * z + RNG.normal(size=SHAPE)
    if kind in ("tied", "gaps"):
        x = np.round(x)
    if kind == "tenths":
        x = np.round(x, 1)  # whose differences are equal but for rounding
    if kind == "gaps":
        x[RNG.random(SHAPE) < 0.3], z[RNG.random(SHAPE) < 0.2] = np.nan, np.nan
    if kind == "constant":
        x[:] = 0.3
    if kind == "huge":
        x[0, 0] = 1e9  # an outlier
    if kind == "one cell":
        x.ravel()[1:] = np.nan
    if kind == "none":
        x[:] = np.nan
    return x, z


def listed(x, z, threshold):
    return WithTies.of(Members.of(x, z, "global"), threshold, x.shape, "global", False)


@for_each("kind", KINDS)
@for_each("threshold", [0.0, 0.1, 0.3, 1.0, 1e12])
def test_a_given_threshold(kind, threshold):
    x, z = scores(kind)
    found, want = CellTies.of(x, z, threshold), listed(x, z, threshold)
    np.testing.assert_array_equal(found.groups(), want.groups())
    plain = reference.correlation("acc_eq", rows(x), rows(z), "global", threshold=threshold)
    assert found.value() == pytest.approx(plain, nan_ok=True)
    drawn = draws.counts(1, "system", SHAPE[0], 0)[:20], draws.counts(1, "input", SHAPE[1], 0)[:20]
    once = np.ones((1, SHAPE[0]), np.int64), np.ones((1, SHAPE[1]), np.int64)
    for systems, inputs in (drawn, (drawn[0], once[1]), (once[0], drawn[1])):
        assert found.bootstrap(systems, inputs).tobytes() == want.bootstrap(systems, inputs).tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("edges", "sorted_at_once"), [(2, 10**6), (5, 3), (40, 20), (512, 1)])
def test_the_best_threshold(monkeypatch, kind, edges, sorted_at_once):
    monkeypatch.setattr(cell_ties, "EDGES", edges)
    monkeypatch.setattr(cell_ties, "_LISTED", sorted_at_once)
    for _ in range(10):
        x, z = scores(kind)
        found, want = CellTies.of(x, z, np.nan), listed(x, z, np.nan)
        assert found.threshold == want.threshold
        np.testing.assert_array_equal(found.groups(), want.groups())


@pytest.mark.parametrize("kind", KINDS)
def test_a_threshold_found_anew_in_each_resample(monkeypatch, kind):
    x, z = scores(kind)
    systems, inputs = draws.counts(2, "system", SHAPE[0], 0)[:30], draws.counts(2, "input", SHAPE[1], 0)[:30]
    want = listed(x, z, np.nan).bootstrap(systems, inputs)
    some = CellTies.of(x, z, np.nan).bootstrap(systems, inputs)
    np.testing.assert_array_less(np.nan_to_num(some), np.nan_to_num(want) + 1e-12)
    gaps = np.unique(np.abs(np.subtract.outer(x, x)[~np.isnan(np.subtract.outer(x, x))]))
    monkeypatch.setattr(cell_ties, "_edges", lambda own: np.append(gaps[gaps > 0] * (1 + 1e-9), np.inf))
    every = CellTies.of(x, z, np.nan).bootstrap(systems, inputs)
    np.testing.assert_allclose(every, want, atol=1e-12)


def test_which_pairs_are_counted(monkeypatch):
    x, z = scores("fine")
    given, free = (Measure(get("acc_eq").at(each), "global") for each in (0.5, np.nan))
    assert isinstance(given.estimator(x, z), CellTies) and isinstance(free.estimator(x, z), WithTies)
    monkeypatch.setattr(ties, "MOST_PAIRS", 100)
    assert isinstance(free.estimator(x, z), CellTies)
    assert free.estimator(x, z).threshold == listed(x, z, np.nan).threshold
    monkeypatch.setattr(ties, "MOST_COUNTED", 100)
    with pytest.raises(ValueError, match="looks at all pairs of outputs: 990 here, and at most 100 can be"):
        free.estimator(x, z)
    given.estimator(x, z)


def test_an_edge_between_differences_that_only_rounding_tells_apart(monkeypatch):
    """Tenths far from 0: a difference of .1 is rounded by more than an edge lies above it."""
    monkeypatch.setattr(cell_ties, "EDGES", 40)
    rng = np.random.default_rng(4)
    for _ in range(60):
        z = rng.choice([0.0, 0.0, 0.0, 1.0, 2.0], SHAPE)
        x = np.round(1e9 + 0.1 * z + 0.1 * rng.integers(0, 9, SHAPE), 1)
        found, want = CellTies.of(x, z, np.nan), listed(x, z, np.nan)
        assert found.threshold == want.threshold
        np.testing.assert_array_equal(found.groups(), want.groups())


@for_each("undefined", ["drop", "zero"])
@for_each("kind", KINDS)
@for_each(
    ("level", "threshold"),
    [(level, threshold) for level in ("input", "within_system") for threshold in (0.0, 0.3)] + [("global", np.nan)],
)
def test_large_groups_are_counted(monkeypatch, level, threshold, kind, undefined):
    """To the bits of pairs that are listed, and by the plain definition."""
    monkeypatch.setattr(ties, "_COUNTED_MEMBERS", 2)
    monkeypatch.setattr(ties, "_COUNTED_PAIRS", 1)
    x, z = scores(kind)
    measure = Measure(get("acc_eq").at(threshold), level, undefined=undefined)
    found = measure.estimator(x, z)
    want = WithTies.of(Members.of(x, z, level), threshold, x.shape, level, measure.undefined_as_zero)
    assert isinstance(found, Counted) and found.threshold == want.threshold
    assert np.array(found.groups()).tobytes() == np.array(want.groups()).tobytes()
    assert np.float64(found.value()).tobytes() == np.float64(want.value()).tobytes()
    if not np.isnan(threshold):
        plain = reference.correlation("acc_eq", rows(x), rows(z), level, undefined=undefined, threshold=threshold)
        assert found.value() == pytest.approx(plain, nan_ok=True)
    drawn = draws.counts(1, "system", SHAPE[0], 0)[:9], draws.counts(1, "input", SHAPE[1], 0)[:9]
    assert found.bootstrap(*drawn).tobytes() == want.bootstrap(*drawn).tobytes()


def test_no_pair_is_listed_for_a_value(monkeypatch):
    """13 systems on 527 inputs, 23.5 million pairs of cells: values and thresholds take no list of them."""
    rng = np.random.default_rng(5)
    z = np.round(rng.gamma(0.7, 3.0, (13, 527)))
    x = rng.normal(size=z.shape) + 0.2 * z
    monkeypatch.setattr(WithTies, "of", None)
    for level, threshold in (("within_system", 0.0), ("within_system", 0.2), ("global", 0.2), ("global", np.nan)):
        measure = Measure(get("acc_eq").at(threshold), level)
        estimator = measure.estimator(x, z)
        assert 0 < estimator.value() < 1 and get("acc_eq").calibrate(estimator, x, z, measure) >= 0
    within = [z[0, a] == z[0, b] if x[0, a] == x[0, b] else (x[0, a] - x[0, b]) * (z[0, a] - z[0, b]) > 0
              for a in range(527) for b in range(a)]  # fmt: skip
    got = Measure(get("acc_eq").at(0.0), "within_system").estimator(x, z).groups()
    assert got[0][0] == np.mean(within) and got[1][0] == 527


def test_runs_are_of_neighbours_whose_pairs_fit_into_a_list(monkeypatch):
    monkeypatch.setattr(cell_ties, "_LISTED", 10)
    sizes = np.array([4, 6, 1, 3, 20, 2, 2])
    assert cell_ties._runs(np.array([0, 1, 2, 3, 4, 5, 6]), sizes) == [(0, 1), (2, 3), (4, 4), (5, 6)]
    assert cell_ties._runs(np.array([0, 2, 3, 5]), sizes) == [(0, 0), (2, 3), (5, 5)]
