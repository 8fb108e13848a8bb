import itertools

import numpy as np
import pytest
import xarray as xr
from helpers import LEVELS, as_lazy, pairwise

import xsumstat
from xsumstat.analyses import pair_tests
from xsumstat.inference import corrections

RANKS = ("kendall", "kendall_a", "kendall_c", "spearman", "pairwise_accuracy")


def dataset(score):
    """Metrics m0, m1, ... of an array (metrics, systems, inputs)."""
    names = [f"m{at}" for at in range(len(score))]
    return xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": names})


@pytest.fixture
def untied():
    """Three metrics and a gold with ties, 4 systems x 3 inputs, one cell missing."""
    score = np.random.default_rng(5).normal(size=(4, 4, 3))
    score[0] = np.round(score[0])
    score[2, 1, 1] = np.nan
    return dataset(score)


# --- computed p-values ---


@pytest.mark.ignore_codes("few_systems", "few_resamples")
@pairwise(
    {
        "level": ["input", "global", "within_system"],
        "name": RANKS,
        "resample": ["both", "system", "input"],
        "alternative": ["two-sided", "greater", "less"],
    }
)
def test_computed_p_values_are_those_of_all_swaps(untied, level, name, resample, alternative):
    settings = {"level": level, "coefficient": name, "resample": resample, "alternative": alternative}
    want = untied.meta.perm_test("m0", n_resamples=4096, **settings)
    assert want.attrs["exact"] == 1
    got = untied.meta.perm_test("m0", method="analytic", **settings)
    np.testing.assert_allclose(got.pvalue, want.pvalue, atol=1e-13)
    np.testing.assert_allclose(got.difference, want.difference, atol=1e-14)
    assert (got.exact == got.pvalue.notnull()).all() and got.attrs["method"] == "analytic"
    assert "seed" not in got.attrs and "n_resamples" not in got.attrs


@pytest.mark.parametrize(
    "name, resample, draws",
    [
        ("kendall", "both", 60_000),
        ("spearman", "input", 60_000),
        pytest.param("kendall", "input", 60_000, marks=pytest.mark.slow),
        pytest.param("spearman", "both", 60_000, marks=pytest.mark.slow),
        pytest.param("kendall", "both", 1_000_000, marks=pytest.mark.slow),
        pytest.param("spearman", "input", 1_000_000, marks=pytest.mark.slow),
    ],
)
def test_computed_p_values_beside_many_swaps(name, resample, draws):
    """20 systems x 60 inputs: a lattice, and beside it, with ties in the gold, none."""
    rng = np.random.default_rng(3)
    quality = rng.normal(size=(20, 60))
    score = np.array([quality, *(quality + rng.normal(size=(3, 20, 60)) * [[[1.5]], [[1.6]], [[1.58]]])])
    for gold, exact in ((score[0], True), (np.round(score[0]), False)):
        ds = dataset(np.array([gold, *score[1:]]))
        settings = {"level": "input", "coefficient": name, "resample": resample, "alternative": "greater"}
        got = ds.meta.perm_test("m0", method="analytic", **settings)
        sampled = ds.meta.perm_test("m0", n_resamples=draws, rng=1, **settings)
        error = np.sqrt(got.pvalue * (1 - got.pvalue) / draws)
        assert float((abs(sampled.pvalue - got.pvalue) - (0 if exact else 0.005) * got.pvalue - 4 * error).max()) < 0
        assert bool(got.exact.where(got.pvalue.notnull(), exact).all()) == exact


def test_where_computing_does_not_apply(small, demo):
    linear = {"method": "analytic", "level": "input", "coefficient": "kendall"}
    for keywords, message in [
        ({**linear, "level": "system"}, "only, not with level='system'"),
        ({**linear, "coefficient": "pearson"}, "only, not with coefficient='pearson'"),
        ({**linear, "coefficient": lambda x, z: 0.0}, "only, not with coefficient='<lambda>'"),
        ({**linear, "crossed": True}, "swapped independently: with crossed=True they are not"),
        ({**linear, "keep_samples": True}, "keep_samples=True needs draws, which method='analytic' does without"),
        ({**linear, "adjust": "maxt"}, "adjust='maxt' needs draws, which method='analytic'"),
        ({"method": "auto", "adjust": "maxt"}, "adjust='maxt' needs draws, which method='auto'"),
        ({"method": "exact"}, "method must be one of 'permutation', 'analytic', 'auto', got 'exact'"),
    ]:
        with pytest.raises(ValueError, match=message):
            demo.meta.perm_test("human", **keywords)
    tied = demo.assign(score=demo.score.round(1))
    with pytest.raises(
        ValueError, match=r"not tied: '\w+' and '\w+', standardised .* different outputs.*method='auto'"
    ):
        tied.meta.perm_test("human", **linear)


def test_auto_computes_what_it_can_and_samples_the_rest(demo):
    """One metric has ties: its pairs are sampled, the others exact."""
    score = demo.score + np.random.default_rng(0).normal(size=demo.score.shape) * 1e-6
    score.loc[{"metric": "rouge"}] = score.sel(metric="rouge").round(1)
    ds = demo.assign(score=score)
    settings = {"level": "input", "coefficient": "kendall", "n_resamples": 500, "rng": 1}
    got = ds.meta.perm_test("human", method="auto", **settings)
    sampled = ds.meta.perm_test("human", **settings)
    others = ds.drop_sel(metric="rouge").meta.perm_test("human", method="analytic", **settings)
    names = [name for name in got.metric.values if name != "rouge"]
    assert bool(others.exact.where(others.pvalue.notnull(), True).all())
    np.testing.assert_array_equal(got.pvalue.sel(metric="rouge"), sampled.pvalue.sel(metric="rouge"))
    np.testing.assert_array_equal(got.pvalue.sel(metric=names, other_metric=names), others.pvalue)
    assert not got.exact.sel(other_metric="rouge").any()
    np.testing.assert_allclose(got.difference, sampled.difference, atol=1e-12)
    assert got.attrs["method"] == "auto" and got.attrs["n_resamples"] == 500
    system = ds.meta.perm_test("human", method="auto", n_resamples=200, rng=1)
    want = ds.meta.perm_test("human", n_resamples=200, rng=1)
    np.testing.assert_array_equal(system.pvalue, want.pvalue)
    assert not system.exact.any()


def test_auto_draws_crossed_swaps():
    """The exclusive or of two coins is no sum of independent signs."""
    ds = xsumstat.simulate(5, 6, rng=51, agreement={"a": 0.9, "b": 0.3}, truth=False)
    settings = {"metric": "a", "other": "b", "level": "input", "coefficient": "kendall", "crossed": True, "rng": 1}
    got, want = (ds.meta.perm_test(method=method, **settings) for method in ("auto", "permutation"))
    assert float(got.pvalue.squeeze()) == float(want.pvalue.squeeze()) and not got.exact.any()


@pytest.mark.ignore_codes("fewer_labels")
def test_a_pair_without_a_common_cell_is_said_here_too(untied):
    untied.score[1, :, :2] = untied.score[2, :, 2:] = np.nan
    with pytest.warns(UserWarning, match="undefined difference for 'm1 and m2'"):
        got = untied.meta.perm_test("m0", method="analytic", level="global", coefficient="kendall")
    assert (
        np.isnan(got.pvalue.sel(metric="m1", other_metric="m2")) and got.pvalue.sel(metric="m1", other_metric="m3") > 0
    )


def test_lazy_computed_p_values_equal_eager_ones(untied):
    settings = {"method": "analytic", "level": "global", "coefficient": "kendall"}
    want, got = (ds.meta.perm_test("m0", **settings) for ds in (untied, untied.chunk(metric=1)))
    assert got.pvalue.chunks is not None
    xr.testing.assert_identical(got.compute(), as_lazy(want))


# --- step-down max-T ---


def plain_step_down(samples, observed, alternative, centred_on_estimate, exact):
    """Westfall & Young's procedure from its definition; rows of `samples` are tests. Raw and adjusted p-values."""
    shape = {"greater": lambda d: d, "less": lambda d: -d, "two-sided": abs}[alternative]
    pool = []
    for row, seen in zip(samples, observed, strict=True):
        null = [d - seen if centred_on_estimate else d for d in row]
        pool.append([shape(d) for d in (null if exact else [*null, seen])])
    own = [shape(seen) for seen in observed]

    def place(test, value):
        defined = [other for other in pool[test] if not np.isnan(other)]
        return sum(other >= value - 1e-12 for other in defined) / len(defined)

    raw = [place(test, own[test]) for test in range(len(own))]
    places = [[2.0 if np.isnan(value) else place(test, value) for value in pool[test]] for test in range(len(own))]
    order = sorted(range(len(own)), key=lambda test: raw[test])
    adjusted, least = [0.0] * len(own), 0.0
    for rank, test in enumerate(order):
        smallest = [min(places[other][s] for other in order[rank:]) for s in range(len(pool[0]))]
        least = max(least, raw[test], sum(value <= raw[test] + 1e-12 for value in smallest) / len(smallest))
        adjusted[test] = least
    return raw, adjusted


@pairwise(
    {
        "test": ["perm_test", "boot_test"],
        "alternative": ["two-sided", "greater", "less"],
        "within": [None, "other_metric", ("metric", "other_metric")],
    }
)
def test_maxt_is_the_step_down_procedure(small, test, alternative, within):
    settings = {"level": "input", "coefficient": "kendall", "alternative": alternative, "n_resamples": 99, "rng": 2}
    got = getattr(small.meta, test)("m0", adjust="maxt", within=within, keep_samples=True, **settings)
    cells = [(a, b) for a, b in itertools.product(got.metric.values, repeat=2) if a != b]
    if within == "other_metric":
        families = [[cell for cell in cells if cell[0] == a] for a in got.metric.values]
    else:
        families = [[cell for cell in cells if alternative != "two-sided" or cell[0] < cell[1]]]
    for family in families:
        picked = [got.sel(metric=a, other_metric=b) for a, b in family]
        rows, observed = [cell.samples.values for cell in picked], [float(cell.difference) for cell in picked]
        raw, want = plain_step_down(rows, observed, alternative, test == "boot_test", exact=False)
        np.testing.assert_allclose([float(cell.pvalue) for cell in picked], raw, atol=1e-12)
        np.testing.assert_allclose([float(cell.pvalue_adjusted) for cell in picked], want, atol=1e-12)
    if alternative == "two-sided" and within != "other_metric":
        np.testing.assert_array_equal(got.pvalue_adjusted, got.pvalue_adjusted.values.T)
    without = getattr(small.meta, test)("m0", adjust="maxt", within=within, **settings)
    assert "samples" not in without and without.identical(got.drop_vars("samples"))


@pytest.mark.ignore_codes("few_resamples")
@pytest.mark.parametrize("seed, level", [(seed, LEVELS[(seed + seed // 4) % 4]) for seed in range(16)])
def test_maxt_rejects_whatever_holm_rejects(seed, level):
    """Tied scores, undefined swaps, exact tests: no p-value is above Holm's."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(6, 4))
    score = np.array([quality + rng.normal(size=(6, 4)) * noise for noise in (0.1, 0.3, 0.5, 1, 2)])
    score = np.round(score, rng.integers(0, 2))
    resample = ("both", "input", "system")[seed % 3]
    settings = {"level": level, "coefficient": ("kendall", "pearson")[seed % 2], "resample": resample}
    test = dataset(score).meta.perm_test(
        "m0", alternative="greater", n_resamples=400, rng=seed, keep_samples=True, **settings
    )
    maxt, holm = (test.meta.adjust(method).pvalue_adjusted for method in ("maxt", "holm"))
    assert bool((maxt <= holm * (1 + 1e-12)).where(holm.notnull(), True).all())
    assert bool((maxt >= test.pvalue * (1 - 1e-12)).where(holm.notnull(), True).all())
    assert bool((maxt.isnull() == test.pvalue.isnull()).all())


@pytest.mark.ignore_codes("leakage")
@pytest.mark.parametrize("test", ["perm_test", "boot_test"])
@pytest.mark.parametrize("within", [None, "other_metric"])
def test_maxt_draws_again_what_it_does_not_keep(small, monkeypatch, test, within):
    """Two qualities and languages; a budget for one row of draws at a time gives the same as keeping all."""
    both = xr.concat([small, small**3], "language").assign_coords(language=["en", "de"])
    gold = small.score.sel(metric=["m0", "m1"]).rename(metric="quality")
    settings = {"gold": gold, "metric": ["m3", "m2"], "other": ["m1", "m2"], "level": "input", "alternative": "less"}
    settings |= {"adjust": "maxt", "within": within, "n_resamples": 150, "rng": 3}
    want = getattr(both.meta, test)(**settings)
    assert set(want.pvalue_adjusted.dims) == {"metric", "other_metric", "language", "quality"}
    monkeypatch.setattr(pair_tests, "BYTES_AT_ONCE", 3 * 8 * 150)
    got = getattr(both.meta, test)(**settings)
    xr.testing.assert_allclose(got, want, atol=1e-13)
    assert got.attrs == want.attrs


def test_maxt_is_no_less_than_the_p_value_where_draws_are_undefined():
    """Undefined draws are left out of the p-value, but stand in the pool."""
    rng = np.random.default_rng(0)
    score = rng.integers(0, 2, size=(3, 4, 5)).astype(float)
    score[0] = rng.normal(size=(4, 5))
    with pytest.warns(UserWarning):
        asked = {"resample": "both", "adjust": "maxt", "n_resamples": 999, "rng": 1}
        got = dataset(score).meta.boot_test("m0", coefficient="kendall", **asked)
    assert int(got.n_undefined.max()) > 50
    np.testing.assert_allclose(got.pvalue_adjusted, got.pvalue, atol=1e-12)  # one test


def test_lazy_maxt_equals_eager_maxt(demo):
    settings = {"level": "input", "adjust": "maxt", "within": "other_metric", "n_resamples": 1500, "rng": 3}
    want = demo.meta.perm_test("human", **settings)
    got = demo.chunk(metric=2).meta.perm_test("human", **settings)
    assert got.pvalue_adjusted.chunks is not None and "samples" not in got
    xr.testing.assert_identical(got.compute(), as_lazy(want))


@pytest.mark.slow
def test_maxt_keeps_the_family_wise_error_and_gains_on_holm():
    """Six metrics, all as good, that share much of their noise: any rejection is false. 400 data sets, 5 % level."""
    rng = np.random.default_rng(8)
    false = {"maxt": 0, "holm": 0}
    for batch in range(8):
        trials = []
        for _ in range(50):
            quality, shared = rng.normal(size=(2, 10, 8))
            noise = rng.normal(size=(6, 10, 8))
            trials.append(dataset(np.array([quality, *(quality + shared + 0.7 * noise)])))
        ds = xr.concat(trials, "trial")
        test = ds.meta.perm_test("m0", level="input", n_resamples=999, rng=batch, keep_samples=True)
        for method in false:
            found = test.meta.adjust(method, within=("metric", "other_metric")).meta.significant()
            false[method] += int(found.any(["metric", "other_metric"]).sum())
    band = 3.5 * np.sqrt(400 * 0.05 * 0.95)
    assert 20 - band <= false["maxt"] <= 20 + band
    assert false["holm"] < false["maxt"]


def test_bad_corrections_are_said_at_once(demo):
    table = demo.meta.perm_test("human", n_resamples=99, rng=0)
    with pytest.raises(
        ValueError, match="needs the joint draws of the tests: ask perm_test or boot_test with adjust='maxt'"
    ):
        table.meta.adjust("maxt")
    with pytest.raises(ValueError, match="adjust must be one of .*got 'max-t'; did you mean 'maxt'"):
        demo.meta.perm_test("human", adjust="max-t")
    with pytest.raises(ValueError, match="within='metric' names a family of tests, and needs adjust="):
        demo.meta.boot_test("human", within="metric")
    with pytest.raises(ValueError, match="unknown dim in within 'language'; dims of pvalue: 'metric', 'other_metric'"):
        demo.meta.perm_test("human", adjust="holm", within="language")


@pytest.mark.parametrize("method", ["holm", "by"])
def test_tests_correct_as_adjust_does(demo, method):
    settings = {"level": "input", "alternative": "greater", "n_resamples": 999, "rng": 1}
    got = demo.meta.perm_test("human", adjust=method, within="other_metric", **settings)
    assert got.identical(demo.meta.perm_test("human", **settings).meta.adjust(method, within="other_metric"))


def test_a_pool_of_draws_without_a_difference():
    got = corrections.Pool("two-sided", False, False).pvalues(np.array([0.3, np.nan, -0.5]), 0.3)
    assert got.tolist() == [1.0, np.inf, 1 / 3, 1.0]
