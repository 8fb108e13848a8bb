"""Pairwise difference Pearson: all pairs of systems within inputs, one by one, and the two formulas that it has."""

import math

import numpy as np
import pytest
import reference
import scipy.stats
from conftest import dataset
from helpers import rows, same

from xsumstat.analyses.measure import checked_measure
from xsumstat.coefficients import arrays, correlation_swaps, leave_one_out, pair_differences
from xsumstat.inference import jackknife

PDP = {"coefficient": "pdp", "level": "global"}


def measure(undefined="drop"):
    return checked_measure("global", "pdp", "pairwise", undefined)


def scores(seed, shape=(6, 5), gaps=0.2, points=1.0):
    """Two metrics and gold that have something in common, and inputs that are easy or hard."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(3, *shape)) + rng.normal(size=(1, *shape)) + 5 * rng.normal(size=(3, 1, shape[1]))
    values = np.round(values * points) / points if points else values
    return np.where(rng.random(values.shape) < gaps, np.nan, values)


def test_without_gaps_it_is_pearson_of_item_centred_scores():
    x, _, z = scores(1, (7, 20), 0.0, 0)
    want = scipy.stats.pearsonr(*((each - each.mean(axis=0)).ravel() for each in (x, z))).statistic
    assert measure().estimator(x, z).value() == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_with_gaps_an_input_weighs_with_its_number_of_systems(seed):
    x, _, z = scores(seed, gaps=0.4)
    there, sums = ~np.isnan(x + z), np.zeros(3)
    for j in range(x.shape[1]):
        a, b = x[there[:, j], j], z[there[:, j], j]
        if len(a):
            a, b = a - a.mean(), b - b.mean()
            sums += len(a) * np.array([a @ a, b @ b, a @ b])
    assert measure().estimator(x, z).value() == pytest.approx(sums[2] / math.sqrt(sums[0] * sums[1]), abs=1e-12)
    assert same(measure().estimator(x, z).value(), reference.pair_differences(rows(x), rows(z)), 1e-12)


def test_what_inputs_have_in_common_does_not_count():
    """Easy and hard inputs make all cells correlate, and no pair of systems."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 8, 300))
    hard = 10 * rng.normal(size=300)
    ds = dataset(np.stack([x, x + hard, z + hard]))
    pearson = ds.meta.corr("m2", level="global").correlation.values
    pdp = ds.meta.corr("m2", **PDP).correlation.values
    assert pearson[1] > 0.98 and pdp[0] == pytest.approx(pdp[1], abs=1e-12) and abs(pdp[0]) < 0.05


# pH and PaCO2 of eight patients (Bland & Altman 1995), for which the package rmcorr gives r = −0.507.
BLAND = """6.68 3.97 6.53 4.12 6.43 4.09 6.33 3.97; 6.85 5.27 7.06 5.37 7.13 5.41 7.17 5.44;
7.40 5.67 7.42 3.64 7.41 4.32 7.37 4.73 7.34 4.96 7.35 5.04 7.28 5.22 7.30 4.82 7.34 5.07;
7.36 5.67 7.33 5.10 7.29 5.53 7.30 4.75 7.35 5.51;
7.35 4.28 7.30 4.44 7.30 4.32 7.37 3.23 7.27 4.46 7.28 4.72 7.32 4.75 7.32 4.99;
7.38 4.78 7.30 4.73 7.29 5.12 7.33 4.93 7.31 5.03 7.33 4.93; 6.86 6.85 6.94 6.44 6.92 6.52;
7.19 5.28 7.29 4.56 7.21 4.34 7.25 4.32 7.20 4.41 7.19 3.69 6.77 6.09 6.82 5.58"""


def bland():
    """Scores (patients as inputs, NaN where one was measured less often)."""
    x, z = np.full((2, 9, 8), np.nan)
    for j, patient in enumerate(BLAND.split(";")):
        both = np.array(patient.split(), dtype=float).reshape(-1, 2)
        x[: len(both), j], z[: len(both), j] = both.T
    return x, z


def residual_squares(design, response):
    """What least squares leave, by Gaussian elimination of the normal equations."""
    columns = [*zip(*design, strict=True), response]
    rows = [[math.fsum(map(math.prod, zip(a, b, strict=True))) for b in columns] for a in columns]
    for k in range(len(rows) - 1):
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return rows[-1][-1], rows[-2][-1]


def rmcorr(x, z):
    """Analysis of covariance: a column for each input, with and without a common slope of x."""
    cells = [(a, b, j) for row in zip(x, z, strict=True) for j, (a, b) in enumerate(zip(*row, strict=True))]
    cells = [(a, b, j) for a, b, j in cells if not math.isnan(a + b)]
    response = [b for _, b, _ in cells]
    inputs = [[float(j == k) for k in range(len(x[0]))] for _, _, j in cells]
    error, _ = residual_squares(inputs, response)
    left, slope = residual_squares([[*row, a] for row, (a, _, _) in zip(inputs, cells, strict=True)], response)
    return math.copysign(math.sqrt((error - left) / error), slope)


def test_the_twin_of_repeated_measures_correlation_has_its_published_value():
    assert rmcorr(*bland()) == pytest.approx(-0.507, abs=0.0005)


@pytest.mark.parametrize("seed", range(3))
def test_without_gaps_it_is_repeated_measures_correlation(seed):
    """Of inputs; of systems if the dims change places; with gaps, if each input has as many systems as any."""
    x, _, z = scores(seed, (6, 5), 0.0, 0)
    ds = dataset(np.stack([x, z]))
    turned = ds.rename(system="input", input="system").transpose("metric", "system", "input")
    assert ds.meta.corr("m1", **PDP).correlation.item() == pytest.approx(rmcorr(x, z), abs=1e-9)
    assert turned.meta.corr("m1", **PDP).correlation.item() == pytest.approx(rmcorr(x.T, z.T), abs=1e-9)
    x[[0, 3, 1, 5, 2], range(5)] = np.nan
    assert measure().estimator(x, z).value() == pytest.approx(rmcorr(x, z), abs=1e-9)
    x[[1, 2, 4], 0] = np.nan
    assert abs(measure().estimator(x, z).value() - rmcorr(x, z)) > 1e-3


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9])
def test_large_scores_that_differ_little(offset):
    """Differences are those of the scores as they are stored."""
    x, _, z = scores(3, gaps=0.0, points=8)
    assert same(measure().estimator(x + offset, z - offset).value(), measure().estimator(x, z).value(), 1e-12)


@pytest.mark.parametrize("value", [0.1, 1e-9, 1 / 3, 1e30])
def test_scores_that_are_equal_on_each_input_have_none(value):
    z = np.random.default_rng(0).normal(size=(7, 9))
    x = np.tile(value * np.arange(1, 10), (7, 1))
    assert math.isnan(measure().estimator(x, z).value()) and math.isnan(measure().estimator(z, x).value())
    parts = leave_one_out.of(x, z, measure())
    assert np.isnan(parts.systems).all() and np.isnan(parts.inputs).all()
    (test,) = measure().swapped(np.stack([x, x + 0.0]), z, ((0, 1),))
    assert np.isnan(test.differences(arrays.packed(np.ones((1, 7, 9))))).all()


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_without_each_system_and_each_input(seed, gaps):
    x, _, z = scores(seed, gaps=gaps)
    parts = leave_one_out.of(x, z, measure())
    for axis, got in enumerate((parts.systems, parts.inputs)):
        want = []
        for at in range(x.shape[axis]):
            gone = [rows(np.delete(each, at, axis)) for each in (x, z)]
            want.append(reference.pair_differences(*gone))
        taking_part = (~np.isnan(x + z)).any(axis=1 - axis)
        assert same(got, np.array(want)[taking_part], 1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_without_the_one_system_that_differs(seed):
    """What is left of a variance is 0, and not what rounding leaves of it."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(5, 4))
    x = np.tile(rng.normal(size=4), (5, 1))
    x[2] += rng.normal(size=4)
    got = leave_one_out.of(x, z, measure()).systems
    assert math.isnan(got[2]) and not np.isnan(np.delete(got, 2)).any()
    one_input = np.tile([0.1, 0.2, 0.7], (5, 1))
    one_input[:, 1] = z[:, 1]
    got = leave_one_out.of(one_input, z[:, :3], measure()).inputs
    assert math.isnan(got[1]) and not np.isnan(np.delete(got, 1)).any()


def test_the_influences_of_the_cells_of_an_input_are_the_derivative_by_its_weight():
    x, _, z = scores(2, gaps=0.2, points=0)
    there = ~np.isnan(x + z)

    def weighed(v):
        sums = np.zeros(3)
        for j in range(x.shape[1]):
            a, b = (each[there[:, j], j] - each[there[:, j], j].mean() for each in (x, z))
            sums += v[j] * len(a) * np.array([a @ a, b @ b, a @ b])
        return sums[2] / math.sqrt(sums[0] * sums[1])

    parts = leave_one_out.of(x, z, measure())
    assert parts.n_cells == there.sum() and np.sum(parts.influence) == pytest.approx(0, abs=1e-10)
    for j in range(x.shape[1]):
        step = np.where(np.arange(x.shape[1]) == j, 1e-5, 0.0)
        slope = (weighed(1 + step) - weighed(1 - step)) / 2e-5
        assert parts.influence[:, j].sum() / parts.n_cells == pytest.approx(slope, abs=1e-8)
    assert (parts.influence[~there] == 0).all()


@pytest.mark.parametrize("resample, low, high", [("both", 1.0, 2.2), ("system", 0.8, 1.25), ("input", 0.8, 1.25)])
def test_intervals_over_systems_and_inputs(resample, low, high):
    """A bootstrap of both dims counts the noise of cells three times (Owen 2007)."""
    ds = dataset(scores(4, (8, 30), 0.0))
    jackknife = ds.meta.ci("m2", resample=resample, **PDP)
    drawn = ds.meta.ci("m2", resample=resample, method="bootstrap", n_resamples=400, rng=0, **PDP)
    assert jackknife.attrs["method"] == "jackknife"
    for found in (jackknife, drawn):
        assert (found.ci_low < found.correlation).all() and (found.correlation < found.ci_high).all()
    ratio = drawn.standard_error / jackknife.standard_error
    assert ((ratio > low) & (ratio < high)).all()


def test_a_test_of_all_swaps_is_that_of_plain_python():
    """Every way to let the scores of 3 systems on 6 inputs trade places, input by input."""
    values = scores(6, (3, 6), 0.0, 0)
    ds = dataset(values)
    got = ds.meta.perm_test("m2", metric="m0", other="m1", resample="input", n_resamples=9999, rng=0, **PDP)
    differences = []
    for code in range(64):
        swap = np.tile([bool(code >> j & 1) for j in range(6)], (3, 1)).tolist()
        differences.append(reference.difference("pdp", *(rows(each) for each in values), swap, "global"))
    want = np.mean(np.abs(differences) >= abs(differences[0]) - 1e-9)
    assert got.difference.item() == pytest.approx(differences[0], abs=1e-9)
    assert got.pvalue.item() == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("seed", range(5))
def test_a_swap_that_makes_all_scores_of_each_input_equal(seed, side):
    """It leaves one metric no correlation; one that nearly does leaves a correlation that rounding does not spoil."""
    rng = np.random.default_rng(seed)
    swap, z, other = rng.random((6, 5)) < 0.5, rng.normal(size=(6, 5)), rng.normal(size=(6, 5))
    for noise in (0.0, 1e-6):
        one = np.tile(rng.normal(size=5), (6, 1)) + noise * rng.normal(size=z.shape)
        after = (one, other) if side == 0 else (other, one)
        x, y = np.where(swap, after[1], after[0]), np.where(swap, after[0], after[1])
        test = pair_differences._Swapped(((0, 1),), correlation_swaps.moments_of(x, y, z, "input"))
        r = [reference.pair_differences(rows(each), rows(z)) for each in after]
        assert math.isnan(r[side]) == (noise == 0)
        assert same(test.differences(arrays.packed(swap[None]))[0, 0], r[0] - r[1], 1e-6)


@pytest.mark.parametrize("level", ["system", "input", "within_system"])
def test_other_levels_are_refused(level):
    ds = dataset(scores(0))
    with pytest.raises(ValueError, match=f"coefficient='pdp' .* needs level='global', got level='{level}'"):
        ds.meta.corr("m2", coefficient="pdp", level=level)


def test_cells_are_not_drawn_by_themselves():
    ds = dataset(scores(0))
    with pytest.raises(ValueError, match="compares the outputs of one input, .* use resample='both'"):
        ds.meta.ci("m2", resample="cell", **PDP)
    with pytest.raises(ValueError, match="compares the outputs of one input"):
        ds.meta.equivalence("m2", metric="m0", other="m1", margin=0.1, resample="cell", **PDP)


def test_lazy_scores_and_further_dims():
    values = np.stack([scores(seed, (6, 10)) for seed in (1, 2)])
    ds = dataset(values[0]).drop_vars("score").assign(score=(("language", "metric", "system", "input"), values))
    settings = {**PDP, "method": "bootstrap", "n_resamples": 19, "rng": 1}
    eager, lazy = (each.meta.ci("m2", **settings) for each in (ds, ds.chunk({"system": 2, "input": 5})))
    for name in ("correlation", "ci_low", "ci_high"):
        np.testing.assert_array_equal(eager[name], lazy[name].compute())
    one = ds.isel(language=1).meta.ci("m2", **settings)
    np.testing.assert_array_equal(eager.isel(language=1).ci_low, one.ci_low)


def test_metrics_with_each_other_and_by_a_group_of_systems():
    ds = dataset(scores(5, (8, 20), 0.0)).assign_coords(kind_of=("system", list("aaaabbbb")))
    matrix = ds.meta.metric_corr(**PDP).correlation
    assert matrix.sel(metric="m0", other_metric="m1").item() == pytest.approx(
        reference.pair_differences(rows(ds.score.values[0]), rows(ds.score.values[1])), abs=1e-12
    )
    found = ds.meta.corr("m2", by="kind_of", **PDP).correlation
    half = ds.isel(system=slice(4)).meta.corr("m2", **PDP).correlation
    np.testing.assert_allclose(found.sel(kind_of="a"), half)


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_intervals_hold_the_correlation_of_differences(gaps):
    """Scores of systems, inputs and cells; what is true is the correlation of systems and cells together."""
    rng, held, trials = np.random.default_rng(0), 0, 400
    for _ in range(trials):
        system, cell, easy = (rng.normal(size=(2, *shape)) for shape in ((20, 1), (20, 60), (1, 60)))
        x, z = np.sqrt(0.5) * system + cell + 2 * easy
        z = 0.6 * x + 0.8 * z
        x = np.where(rng.random(x.shape) < gaps, np.nan, x)
        parts = leave_one_out.of(x, z, measure())
        found = jackknife.of_one(parts, measure(), ("system", "input"))
        low, high = found.interval(0.95)
        held += low <= 0.6 <= high
    assert 0.92 <= held / trials <= 0.985
