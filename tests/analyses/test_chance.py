"""The variables `baseline` and `baseline_constant`, against metrics that are random, or constant."""

import itertools
import math
import warnings

import numpy as np
import pytest
import reference
import xarray as xr
from conftest import dataset
from helpers import LEVELS, by_turns, for_each, rows, same

from xsumstat.analyses import chance
from xsumstat.coefficients import table
from xsumstat.coefficients.record import Measure

NAMES = ("pairwise_accuracy", "acc_eq", "tau_eq", "kendall_like", "spa")
CASES = [(name, level) for name in NAMES for level in table.COEFFICIENTS[name].levels]
# In the units of the scores below.
THRESHOLDS = {"kendall_like": 0.3, "acc_eq": 0.0, "tau_eq": 0.0}


def scores(seed=0, shape=(5, 4), gaps=0.15):
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(2, *shape)) + rng.normal(size=(1, *shape)))
    return np.where(rng.random(values.shape) < gaps, np.nan, values)


def levels_of(name, level, x, z, missing="pairwise", undefined="drop"):
    made = Measure(table.COEFFICIENTS[name], level, missing, undefined)
    made = made.at(THRESHOLDS[name]) if name in THRESHOLDS else made
    values, n = made.coefficient.chance(x, z, made)
    return [float(np.nan if (value := _average(kind, n, undefined == "zero")) is None else value) for kind in values]


def _average(values, n, as_zero):
    kept = [0.0 if math.isnan(v) else v for v, k in zip(values, n, strict=True) if not math.isnan(v) or as_zero and k]
    return math.fsum(kept) / len(kept) if kept else None


@for_each(("name", "level"), CASES)
@for_each("missing", ["pairwise", "available"])
def test_a_constant_metric_reaches_the_first(name, level, missing):
    missing = missing if level == "system" else "pairwise"
    for seed, value in itertools.product(range(4), (0.0, 0.7)):
        x, z = scores(seed)
        constant = np.where(np.isnan(x), np.nan, value)
        threshold = THRESHOLDS.get(name)
        want = reference.correlation(name, rows(constant), rows(z), level, missing, threshold=threshold)
        assert math.isnan(want) or same(levels_of(name, level, x, z, missing)[0], want, 1e-9)
        assert name == "kendall_like" or not math.isnan(want)


def orders(name, level, z):
    """The mean over all ways to order the outputs (or the systems) of 2^i for the i-th, that no sum makes equal."""
    n, m = z.shape
    found = []
    if level == "system":
        for order in itertools.permutations(range(n)):
            found.append(np.repeat(2.0 ** np.array(order)[:, None], m, axis=1))
    elif level == "global":
        for order in itertools.permutations(range(n * m)):
            found.append(2.0 ** np.array(order).reshape(n, m))
    else:
        sizes, groups = (n, m) if level == "input" else (m, n)
        for each in itertools.product(itertools.permutations(range(sizes)), repeat=groups):
            x = 2.0 ** np.array(each)
            found.append(x.T if level == "input" else x)
    threshold = THRESHOLDS.get(name)
    values = [reference.correlation(name, rows(x), rows(z), level, threshold=threshold) for x in found]
    return math.fsum(values) / len(values)


@for_each(("name", "level"), [case for case in CASES if case[0] != "spa"])
@for_each("gold", [[[1, 2, 2], [1, 3, 3]], [[0, 0, 3], [5, 0, 1]]])
def test_the_second_is_the_mean_over_all_orders(name, level, gold):
    z = np.array(gold, dtype=float)
    assert same(levels_of(name, level, z, z)[1], orders(name, level, z), 1e-12)


@pytest.mark.parametrize("inputs", [1, 2, 3, 4])
def test_the_second_of_soft_accuracy_is_the_mean_over_all_places_among_the_swaps(inputs):
    """The difference of two systems on m inputs has one of 2^m places among all swaps, all equally likely."""
    z = np.random.default_rng(inputs).integers(0, 4, (3, inputs)).astype(float)
    total = []
    for a, b in itertools.permutations(range(3), 2):
        p = reference.beats(z[a].tolist(), z[b].tolist())
        total += [1 - abs(k / 2**inputs - p) for k in range(1, 2**inputs + 1)]
    assert same(levels_of("spa", "system", z, z)[1], math.fsum(total) / len(total), 1e-9)


@pytest.mark.slow
def test_soft_accuracy_of_random_metrics():
    """Gold that tells systems apart gives chance 1/2, and gold that tells nothing 3/4."""
    rng = np.random.default_rng(0)
    for apart, want in ((0.0, None), (10.0, 0.5)):
        z = rng.normal(size=(6, 60)) + apart * np.arange(6)[:, None]
        made = Measure(table.COEFFICIENTS["spa"])
        drawn = [made.estimator(rng.exponential(size=z.shape), z).value() for _ in range(400)]
        got = levels_of("spa", "system", z, z)[1]
        assert got == pytest.approx(np.mean(drawn), abs=4 * np.std(drawn) / 20)
        assert want is None or got == pytest.approx(want, abs=1e-6)
    z = np.tile(rng.normal(size=60), (6, 1))
    assert levels_of("spa", "system", z, z)[1] == pytest.approx(0.5, abs=1e-6)  # p is 1 where all are tied
    half = np.array([[1.0, -1.0], [-1.0, 1.0]]) @ np.ones((2, 30))
    assert levels_of("spa", "system", half + 0.5 * rng.permuted(np.tile([1, -1], 15)), half)[1] <= 0.75


@pytest.mark.parametrize("level", LEVELS)
def test_random_metrics_with_gaps(level):
    rng = np.random.default_rng(1)
    x, z = scores(5, (6, 10), 0.2)
    for name in ("pairwise_accuracy", "acc_eq", "kendall_like"):
        made = Measure(table.COEFFICIENTS[name], level)
        made = made.at(THRESHOLDS[name]) if name in THRESHOLDS else made
        drawn = [made.estimator(np.where(np.isnan(x), np.nan, rng.normal(size=x.shape)), z).value() for _ in range(500)]
        got = levels_of(name, level, x, z)[1]
        assert got == pytest.approx(np.mean(drawn), abs=4 * np.std(drawn) / math.sqrt(500))


def test_a_calibrated_threshold_ties_all_scores_of_a_random_metric_where_gold_is_often_tied():
    rng = np.random.default_rng(2)
    for points, calibrated in ((2, "baseline_constant"), (100, "baseline")):
        z = rng.integers(0, points, (8, 200)).astype(float)
        ds = dataset(np.stack([rng.normal(size=z.shape), z]))
        how = {"level": "input", "coefficient": "acc_eq"}
        free, got = (ds.meta.corr("m1", threshold=threshold, **how) for threshold in (0.0, None))
        best = max(free.baseline.item(), free.baseline_constant.item())
        assert got.baseline.item() == free[calibrated].item() == best
        assert got.baseline_constant.item() == free.baseline_constant.item()
        assert got.correlation.item() == pytest.approx(best, abs=0.02)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", by_turns(["acc_eq", "tau_eq"]))
def test_in_small_designs_random_metrics_are_calibrated_too(name, level):
    """Beside plain Python's calibration of other random metrics; with gaps, which are the metric's."""
    rng = np.random.default_rng(4)
    x, z = scores(6, (5, 4), 0.1)
    z = np.where(np.isnan(z), np.nan, (z > 0).astype(float))
    n = 75 if level == "global" else 150  # plain Python takes long over all pairs of cells
    random = [np.where(np.isnan(x), np.nan, rng.normal(size=x.shape)) for _ in range(n)]
    drawn = [reference.correlation(name, rows(each), rows(z), level) for each in random]
    ds = dataset(np.stack([x, z]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = ds.meta.corr("m1", level=level, coefficient=name)
        groups = ds.meta.corr("m1", level=level, coefficient=name, average=False)
    error = np.std(drawn) * math.sqrt(1 / n + 1 / 500)
    assert found.baseline.item() == pytest.approx(np.mean(drawn), abs=4 * error)
    assert found.baseline.item() > found.baseline_constant.item()
    # Asked again, and by the same draws.
    np.testing.assert_allclose(groups.baseline.mean(), found.baseline.item(), atol=1e-12)


def test_six_systems_on_ten_inputs_that_pass_or_fail():
    """Random metrics reach .45 there on average; the better of no ties and all ties is .37 to .43."""
    z = np.random.default_rng(1).integers(0, 2, (6, 10)).astype(float)
    ds = dataset(np.stack([np.random.default_rng(2).normal(size=z.shape), z]))
    free = ds.meta.corr("m1", coefficient="acc_eq", threshold=0.0)
    found = ds.meta.corr("m1", coefficient="acc_eq")
    assert max(free.baseline.item(), free.baseline_constant.item()) < found.baseline.item() - 0.01


@pytest.mark.parametrize(("at", "name", "level"), by_turns([(at, *case) for at, case in enumerate(CASES)]))
def test_results_have_it(at, name, level):
    """Of `corr` and of `ci`, the one at hand and the other lazy, in turn."""
    values = np.stack([scores(seed, (5, 6)) for seed in (1, 2)])
    ds = dataset(values[0]).drop_vars("score").assign(score=(("language", "metric", "system", "input"), values))
    settings = {"level": level, "coefficient": name}
    settings |= {"threshold": THRESHOLDS[name]} if name in THRESHOLDS else {}
    found = ds.meta.corr("m1", **settings)
    assert found.baseline.dims == found.baseline_constant.dims == found.correlation.dims
    assert found.baseline.attrs == {"long_name": "expected value of a random metric", "units": "1"}
    assert found.baseline_constant.attrs == {"long_name": "value of a constant metric", "units": "1"}
    for place, variable in enumerate(("baseline_constant", "baseline")):
        want = [levels_of(name, level, *each)[place] for each in values]
        assert same(found[variable].sel(metric="m0"), want, 1e-12)
    lazy = ds.chunk({"system": 2, "input": 3, "language": 1})
    if at % 2:
        again = lazy.meta.corr("m1", **settings)
    else:
        again = lazy.meta.ci("m1", n_resamples=19, rng=0, **settings)
    interval = ds.meta.ci("m1", n_resamples=19, rng=0, **settings)
    for each in (again.compute(), interval):
        np.testing.assert_array_equal(each.baseline.transpose(*found.baseline.dims), found.baseline)
        np.testing.assert_array_equal(each.baseline_constant.squeeze(), found.baseline_constant.squeeze())
    told = ds.isel(language=0, drop=True).meta.corr("m1", **settings).meta.conclusion()
    assert name == "pairwise_accuracy" or "constant" in told or "random metric would have" in told
    frame = found.meta.to_frame()
    assert {"baseline", "baseline_constant"} < set(frame) and len(frame) == len(found.to_dataframe()) == 2
    assert "baseline" not in found.meta.to_frame(brief=True)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["pairwise_accuracy", "acc_eq", "kendall_like"])
@pytest.mark.parametrize("undefined", ["drop", "zero"])
def test_groups_have_their_own(name, undefined):
    ds = dataset(scores(3, (5, 6), 0.5))
    settings = {"level": "input", "coefficient": name, "undefined": undefined}
    settings |= {"threshold": THRESHOLDS[name]} if name in THRESHOLDS else {}
    each, whole = (ds.meta.corr("m1", average=average, **settings) for average in (False, True))
    want = levels_of(name, "input", *ds.score.values, undefined=undefined)
    for variable, value in zip(("baseline_constant", "baseline"), want, strict=True):
        assert each[variable].dims == ("metric", "input")
        assert (each[variable].isnull() == each.correlation.isnull()).all()
        np.testing.assert_allclose(whole[variable], [value], atol=1e-12)


def test_correlations_have_none_and_what_is_undefined_neither():
    ds = dataset(scores(1, gaps=0.0))
    for name in ("pearson", "kendall", "kendall_a"):
        assert "baseline" not in ds.meta.corr("m1", coefficient=name)
    assert "baseline" not in ds.meta.corr("m1", coefficient="pdp", level="global")
    three = dataset(np.concatenate([scores(1, gaps=0.0), scores(2, gaps=0.0)[:1]]))
    gap = three.meta.ci("m1", metric="m0", other="m2", coefficient="pairwise_accuracy")
    assert "baseline" not in gap
    with pytest.warns(UserWarning, match="undefined, as no two gold scores lie 99"):
        found = ds.meta.corr("m1", coefficient="kendall_like", level="input", threshold=99)
    assert found.baseline.isnull().all()


def test_groups_of_systems_have_their_own():
    ds = dataset(scores(4, (10, 5), 0.0)).assign_coords(half=("system", list("aaaaabbbbb")))
    found = ds.meta.corr("m1", coefficient="acc_eq", level="input", by="half")
    part = ds.isel(system=slice(5)).meta.corr("m1", coefficient="acc_eq", level="input")
    np.testing.assert_array_equal(found.baseline.sel(half="a"), part.baseline)


@pytest.mark.ignore_codes("fell_back")
def test_pooled_pairs_of_systems_have_that_of_all():
    """Pairs of 8 systems and of 5, among which the gold has ties."""
    values = np.random.default_rng(3).integers(0, 3, (2, 2, 8, 2)).astype(float)
    values[1, :, 5:] = np.nan
    ds = dataset(values[0]).drop_vars("score").assign(score=(("language", "metric", "system", "input"), values))
    pairs = [pair for z in values[:, 1].sum(axis=2) for pair in itertools.combinations(z[~np.isnan(z)], 2)]
    want = sum(a != b for a, b in pairs) / len(pairs) / 2
    assert len(pairs) == 28 + 10 and want < 0.5
    how = {"coefficient": "pairwise_accuracy", "pool": "language"}
    for found in (ds.meta.corr("m1", **how), ds.meta.ci("m1", **how)):
        assert found.baseline.item() == pytest.approx(want, abs=1e-12) and found.baseline_constant.item() == 0


def test_chance_on_talks_from_english_to_german(mirror):
    """13 systems on 529 segments with MQM scores (WMT21), counted pair by pair: the figures of the guide."""
    file = mirror / "mqm" / "ted" / "ende" / "mqm_ted_ende.avg_seg_scores.tsv"
    if not file.exists():
        pytest.skip("XSUMSTAT_DATA_DIR has no MQM scores")
    by_system = {}
    for line in file.read_text(encoding="utf-8").splitlines()[1:]:
        system, value, segment = line.split()
        if value != "None" and not system.startswith("ref"):
            by_system.setdefault(system, {})[int(segment)] = float(value)
    segments = sorted(next(iter(by_system.values())))
    z = np.array([[scores[at] for at in segments] for scores in by_system.values()])
    tied = np.mean([sum(a == b for a, b in itertools.combinations(column, 2)) / 78 for column in z.T.tolist()])
    ds = dataset(np.stack([np.random.default_rng(1).normal(size=z.shape), z]))
    how = {"level": "input", "coefficient": "acc_eq"}
    free, calibrated = (ds.meta.corr("m1", threshold=threshold, **how) for threshold in (0.0, None))
    assert z.shape == (13, 529) and free.baseline.item() == pytest.approx((1 - tied) / 2, abs=1e-12)
    assert free.baseline_constant.item() == pytest.approx(tied, abs=1e-12) == pytest.approx(0.480, abs=0.0005)
    assert free.baseline.item() == pytest.approx(0.260, abs=0.0005)
    assert calibrated.baseline.item() == calibrated.baseline_constant.item() == pytest.approx(tied, abs=1e-12)
    assert calibrated.correlation.item() == pytest.approx(tied, abs=0.001)


@pytest.mark.parametrize(("share", "told"), [(0.1, False), (math.nextafter(0.1, 0.0), True)])
def test_a_tenth_of_the_pairs_is_not_few(share, told):
    shares = xr.DataArray([share, 0.5], {"metric": ["a", "b"]}, ("metric",))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        chance.warn_few(shares, Measure(table.COEFFICIENTS["kendall_like"], "global", "pairwise", "drop").coefficient)
    assert [each.message.code for each in said] == ["few_pairs"] * told
    assert not told or "'a'" in str(said[0].message) and "'b'" not in str(said[0].message)


@for_each(("name", "level"), [(name, level) for name in ("acc_eq", "tau_eq") for level in LEVELS])
@for_each("missing", ["pairwise", "available"])
def test_systems_and_inputs_that_are_not_shared_leave_random_metrics_as_they_are(name, level, missing):
    """Lazy scores hold them, scores in memory do not."""
    if name not in table.COEFFICIENTS or level not in table.COEFFICIENTS[name].levels:
        return
    missing = missing if level == "system" else "pairwise"
    made = Measure(table.COEFFICIENTS[name], level, missing, "drop")
    x, z = scores(3, (5, 6), 0.2)
    wide_x, wide_z = (np.full((7, 8), np.nan) for _ in range(2))
    place = np.ix_([0, 2, 3, 4, 6], [0, 1, 3, 4, 6, 7])
    wide_x[place], wide_z[place] = x, z
    wide_x[1, 0], wide_z[5, 1] = 2.0, 3.0  # each alone
    want, n = made.coefficient.chance(x, z, made)
    got, n_wide = made.coefficient.chance(wide_x, wide_z, made)
    averages = [[_average(kind, counts, False) for kind in values] for values, counts in ((want, n), (got, n_wide))]
    assert averages[0] == pytest.approx(averages[1], rel=1e-12) and averages[0][1] is not None
