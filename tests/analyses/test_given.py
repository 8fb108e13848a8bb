"""The keyword `given`: covariates found and aligned, and what questions make of them."""

import itertools
import math
import warnings

import jackknife_twin
import numpy as np
import partial_twin
import pytest
import xarray as xr

import xsumstat
from xsumstat.coefficients.record import LEVELS

NAMES = ("pearson", "spearman", "kendall")


@pytest.fixture
def ds():
    return xsumstat.load_dataset("demo").drop_vars("truth")


def values(ds, *metrics):
    return [ds.score.sel(metric=metric).values for metric in metrics]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_corr_is_that_of_the_twin(ds, name, level):
    ds = ds.isel(input=slice(8))
    x, z, c, d = values(ds, "judge", "human", "length", "bleu")
    keywords = {"level": level, "coefficient": name, "metric": "judge"}
    for given, covariates in (("length", [c]), (["length", "bleu"], [c, d])):
        expected = partial_twin.correlation(name, x, z, covariates, level)
        found = ds.meta.corr("human", given=given, **keywords)
        assert float(found.correlation[0]) == pytest.approx(expected, abs=1e-12)
    assert found.attrs["given"] == "length, bleu"


def test_a_metric_that_is_given_is_not_judged_unless_named(ds):
    found = ds.meta.corr("human", given="length")
    assert "length" not in found.metric.values and "human" not in found.metric.values
    with pytest.warns(UserWarning, match="undefined given 'length', as no group"):
        assert np.isnan(ds.meta.corr("human", metric="length", given="length").correlation).all()


def test_groups_keep_their_own_with_pvalues(ds):
    found = ds.meta.corr("human", metric="judge", given="length", level="input", average=False)
    x, z, c = values(ds, "judge", "human", "length")
    design = np.column_stack([np.ones(12), z[:, 3], c[:, 3]])
    b, rest, *_ = np.linalg.lstsq(design, x[:, 3], rcond=None)
    t = b[1] / math.sqrt(rest[0] / 9 * np.linalg.inv(design.T @ design)[1, 1])
    assert float(found.correlation[0, 3]) == pytest.approx(t / math.sqrt(t**2 + 9), abs=1e-12)
    from scipy import stats

    assert float(found.pvalue[0, 3]) == pytest.approx(2 * stats.t.sf(abs(t), 9), rel=1e-9)


def test_covariates_are_labels_variables_coordinates_and_arrays(ds):
    length = ds.score.sel(metric="length")
    keywords = {"metric": ["judge", "rouge"], "level": "input"}
    plain = ds.meta.corr("human", given="length", **keywords).correlation
    beside = ds.assign(words=length.drop_vars("metric")).drop_sel(metric="length")
    turned = length.drop_vars(["metric", "kind", "higher_is_better"])[::-1, ::-1]
    for found in (
        beside.meta.corr("human", given="words", **keywords),
        beside.assign_coords(words=beside.words).meta.corr("human", given="words", **keywords),
        beside.meta.corr("human", given=turned, **keywords),
        beside.meta.corr("human", given=[turned.values * 2 + turned * 0], **keywords),
    ):
        np.testing.assert_allclose(found.correlation, plain, atol=1e-12)


def test_numbers_among_objects_are_numbers(ds):
    length = ds.score.sel(metric="length").mean("input").drop_vars("metric")
    mixed = length.astype(object)
    mixed[2] = None
    with pytest.warns(UserWarning) as caught:
        found = ds.meta.corr("human", metric="judge", given=mixed.rename("words"))
    assert "outputs left out, as given 'words' is missing there: 30 of 360" in [str(each.message) for each in caught]
    expected = ds.drop_isel(system=2).meta.corr("human", metric="judge", given=length.rename("words"))
    assert found.attrs["given"] == "words"
    assert float(found.correlation[0]) == pytest.approx(float(expected.correlation[0]), abs=1e-12)


def test_words_are_groups_of_which_the_first_is_told_by_the_others(ds):
    kinds = xr.DataArray([("a", "b", "c")[at % 3] for at in range(12)], {"system": ds.system}, ("system",))
    indicators = [(kinds == word).astype(float).rename(f"is {word}") for word in "ab"]
    for name in NAMES:
        keywords = {"coefficient": name, "metric": "judge"}
        one = ds.assign_coords(family=kinds).meta.corr("human", given="family", **keywords)
        other = ds.meta.corr("human", given=indicators, **keywords)
        assert float(one.correlation[0]) == pytest.approx(float(other.correlation[0]), abs=1e-12)
    assert one.attrs["given"] == "family=b, family=c"


def test_cells_without_a_covariate_are_left_out_and_told(ds):
    length = ds.score.sel(metric="length").drop_vars("metric").copy(deep=True)
    length[0], length[3, 4] = np.nan, np.nan
    x, z = values(ds, "judge", "human")
    with pytest.warns(UserWarning) as caught:
        found = ds.meta.corr("human", metric="judge", given=length.rename("words"))
    texts = [str(each.message) for each in caught]
    assert "outputs left out, as given 'words' is missing there: 31 of 360" in texts
    assert any("left out 1 system (no output has" in text for text in texts)
    expected = partial_twin.correlation("pearson", x, z, [length.values], "system")
    assert float(found.correlation[0]) == pytest.approx(expected, abs=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ds.meta.corr("human", metric="judge", given=length, missing="available")
    expected = partial_twin.correlation("pearson", x, z, [length.values], "system", missing="available")
    assert float(found.correlation[0]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_labels_that_a_covariate_lacks_are_missing_and_scores_without_labels_keep_their_places(ds):
    length = ds.score.sel(metric="length").drop_vars("metric")
    short = ds.meta.corr("human", metric="judge", given=length[2:])
    expected = ds.isel(system=slice(2, None)).meta.corr("human", metric="judge", given=length)
    np.testing.assert_allclose(short.correlation, expected.correlation, atol=1e-12)
    bare = ds.drop_vars(["system", "system_type", "input"])
    human = bare.score.sel(metric="human", drop=True).copy(deep=True)
    human[0], human[:, 5] = np.nan, np.nan
    found = bare.meta.corr(human, metric="judge", given="length", level="input")
    x, c = values(ds, "judge", "length")
    expected = partial_twin.correlation("pearson", x, human.values, [c], "input")
    assert float(found.correlation[0]) == pytest.approx(expected, abs=1e-12)


def _twin_interval(x, z, c, name, level, resample):
    """The jackknife of statistics.md for a partial coefficient, by leaving out, with N − 1 − k degrees of freedom."""
    from scipy import stats

    n, m = x.shape

    def r(systems, inputs):
        cells = np.ix_(systems, inputs)
        return partial_twin.correlation(name, x[cells], z[cells], [c[cells]], level)

    everyone, everything = np.arange(n), np.arange(m)
    value = r(everyone, everything)
    single = np.array([partial_twin.partial(name, [each[:, j] for each in (x, z, c)]) for j in everything])
    without = np.array([
        [partial_twin.partial(name, [np.delete(each[:, j], i) for each in (x, z, c)]) for j in everything]
        for i in everyone
    ])  # fmt: skip
    averages = without.mean(axis=1)
    of_systems = (n - 1) / n * np.sum((averages - averages.mean()) ** 2)
    of_inputs = np.sum((single - single.mean()) ** 2) / (m * (m - 1))
    of_cells = np.sum((n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0)) / m**2
    centre = value - np.mean((n - 1) * (without.mean(axis=0) - single))
    of_both = of_systems + max(0.0, of_inputs - of_cells)
    satterthwaite = of_both**2 / (of_systems**2 / (n - 1) + of_inputs**2 / (m - 1))
    v, df = {
        "both": (of_both, n - 2 if m >= n else min(n - 2, max(m - 1, satterthwaite))),
        "system": (of_systems, n - 2),
        "input": (of_inputs, m - 1),
    }[resample]
    centre = value if resample == "input" else centre
    reach = stats.t.ppf(0.975, df) * math.sqrt(v) / (1 - value**2)
    return value, math.tanh(math.atanh(centre) - reach), math.tanh(math.atanh(centre) + reach), math.sqrt(v), df


@pytest.mark.parametrize("resample", ["both", "system", "input"])
@pytest.mark.parametrize("name", NAMES)
def test_intervals_at_input_level_are_those_of_the_twin(ds, name, resample):
    ds = ds.isel(input=slice(6))
    x, z, c = values(ds, "judge", "human", "length")
    found = ds.meta.ci("human", metric="judge", given="length", level="input", coefficient=name, resample=resample)
    expected = _twin_interval(x, z, c, name, "input", resample)
    names = ("correlation", "ci_low", "ci_high", "standard_error", "df")
    np.testing.assert_allclose([float(found[each][0]) for each in names], expected, rtol=1e-9)


def test_intervals_at_system_level(ds):
    x, z, c = values(ds, "judge", "human", "length")
    without = [partial_twin.correlation("pearson", *(np.delete(each, i, 0) for each in (x, z)), [np.delete(c, i, 0)],
                                        "system") for i in range(12)]  # fmt: skip
    found = ds.meta.ci("human", metric="judge", given="length", resample="system")
    expected = 11 / 12 * np.sum((np.array(without) - np.mean(without)) ** 2) * 10 / 11
    assert float(found.standard_error[0]) == pytest.approx(math.sqrt(expected), rel=1e-9)
    assert float(found.df[0]) == 10


def test_without_covariates_nothing_is_new(ds):
    x, z = values(ds, "judge", "human")
    found = ds.meta.ci("human", metric="judge", level="input")
    assert float(found.ci_low[0]) == pytest.approx(jackknife_twin.interval(x, z, "pearson", "input")["ci_low"])
    assert "given" not in found.attrs


def test_fisher_counts_a_system_less_for_each_covariate(ds):
    found = ds.meta.ci("human", metric="judge", given=["length", "bleu"], method="fisher")
    r = float(found.correlation[0])
    low = math.tanh(math.atanh(r) - 1.959963984540054 / math.sqrt(12 - 2 - 3))
    assert float(found.ci_low[0]) == pytest.approx(low, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_an_exact_permutation_test_leaves_the_covariates(ds, name):
    ds = ds.isel(system=slice(7), input=slice(4)).sel(metric=["human", "judge", "rouge", "length"])
    x, y, z, c = values(ds, "judge", "rouge", "human", "length")
    x, y = ((each - each.mean()) / each.std() for each in (x, y))
    keywords = {"level": "input", "coefficient": name, "resample": "system"}
    differences = []
    for swap in itertools.product([False, True], repeat=7):
        at = np.array(swap)[:, None]
        one, two = np.where(at, y, x), np.where(at, x, y)
        r = [partial_twin.correlation(name, each, z, [c], "input") for each in (one, two)]
        differences.append(r[0] - r[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ds.meta.perm_test("human", given="length", **keywords).sel(metric="judge", other_metric="rouge")
    defined = np.array(differences)[~np.isnan(differences)]
    assert found.attrs["exact"] == 1 and float(found.difference) == pytest.approx(differences[0], abs=1e-10)
    assert int(found.n_undefined) == 128 - len(defined)
    expected = np.mean(np.abs(defined) >= abs(differences[0]) - 1e-10)
    assert float(found.pvalue) == pytest.approx(expected, abs=1e-12)


def test_ranks_and_drawn_tests_take_it(ds):
    draws = {"n_resamples": 99, "rng": 1}
    table = ds.meta.rank("human", given="length", **draws)
    single = ds.meta.corr("human", given="length").correlation
    np.testing.assert_array_equal(table.correlation, single.sel(metric=table.metric.values))
    test = ds.meta.boot_test("human", given="length", level="input", **draws)
    gap = single.sel(metric="judge") - single.sel(metric="rouge")
    found = ds.meta.boot_test("human", given="length", **draws).difference.sel(metric="judge", other_metric="rouge")
    assert float(found) == pytest.approx(float(gap), abs=1e-12)
    assert (test.pvalue.fillna(1) > 0).all() and test.attrs["given"] == "length"


def test_each_label_of_a_covariates_further_dim_is_answered(ds):
    names = xr.DataArray(["words", "signs"], dims="unit", name="unit")
    both = xr.concat([ds.score.sel(metric=each, drop=True) for each in ("length", "bleu")], names)
    found = ds.meta.ci("human", metric="judge", given=both, level="input")
    assert set(found.correlation.dims) == {"unit", "metric"}
    for label, metric in (("words", "length"), ("signs", "bleu")):
        alone = ds.meta.ci("human", metric="judge", given=metric, level="input")
        assert found.ci_low.sel(unit=label).item() == alone.ci_low.item()


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"given": "lenght"}, "unknown given='lenght'; did you mean 'length'"),
        ({"given": "human"}, "given='human' is the gold itself"),
        ({"given": []}, "given names nothing"),
        ({"given": ["length", "length"]}, "given repeats "),
        ({"given": "length", "coefficient": "spa"}, "given needs a coefficient among 'pearson', 'spearman', 'kendall'"),
        ({"given": "length", "coefficient": max}, "given needs a coefficient among"),
        ({"given": "system_type", "level": "within_system"}, "does not vary among the inputs"),
        ({"given": xr.DataArray(np.ones(30), dims="input")}, "does not vary among the systems"),
        ({"given": xr.DataArray(np.ones(12), dims="system")}, "given 'given' is constant"),
        ({"given": xr.DataArray(np.arange(5.0), dims="system")}, "given 'given' has 5 and score 12 along 'system'"),
        ({"given": xr.DataArray(np.full(12, np.inf), dims="system")}, "has 12 infinite value"),
        ({"given": xr.DataArray(["a"] * 12, dims="system")}, "given 'given' is constant: 'a'"),
        ({"given": "length", "pool": "language", "coefficient": "pairwise_accuracy"}, "pool"),
    ],
)
def test_what_cannot_be_given_is_refused(ds, keywords, text):
    with pytest.raises(ValueError, match=text):
        ds.meta.corr("human", **keywords)


def test_what_does_not_go_with_it_is_refused(ds):
    with pytest.raises(TypeError, match="given must be a name, a DataArray"):
        ds.meta.corr("human", given=np.ones(12))
    with pytest.raises(ValueError, match="given needs resample="):
        ds.meta.ci("human", given="length", level="global", resample="cell")
    with pytest.raises(ValueError, match="only, not with given"):
        ds.meta.perm_test("human", given="length", level="input", coefficient="kendall", method="analytic")
    with pytest.raises(ValueError, match="has the dim 'metric'"):
        ds.meta.corr("human", given=ds.score)
    both = ds.assign(length=ds.score.sel(metric="length", drop=True))
    with pytest.raises(ValueError, match="names both a metric and a variable"):
        both.meta.corr("human", given="length")


def test_words_say_what_is_held_constant(ds):
    found = ds.meta.ci("human", given="length", coefficient="kendall", level="input")
    assert "partial Kendall's τ-b given length, input level" in found.meta.conclusion()
    assert "by partial Kendall's τ-b (Kendall, 1942) over the systems within each input" in found.meta.methods()
    assert ", given length" in found.meta.methods()


def _coverage(n, trials, level, seed):
    """Share of intervals that hold the true partial r of normal scores with a shared covariate."""
    rng = np.random.default_rng(seed)
    truth = 0.6  # of the systems' parts, which alone differ beside the covariate
    score = []
    for _ in range(trials):
        c, e = rng.normal(size=(2, n, 1))
        c = c + rng.normal(size=(n, 20))

        z = c + e
        x = c + truth * e + math.sqrt(1 - truth**2) * rng.normal(size=(n, 1))
        score.append([np.broadcast_to(each, c.shape) for each in (z, x, c)])
    score = xr.DataArray(np.array(score), {"metric": ["human", "m", "c"]}, ("trial", "metric", "system", "input"))
    found = xr.Dataset({"score": score}).meta.ci("human", metric="m", given="c", level=level)
    return float(((found.ci_low <= truth) & (truth <= found.ci_high)).mean())


@pytest.mark.parametrize("level", ["system", "input"])
def test_intervals_hold_the_truth(level):
    assert 0.87 <= _coverage(14, 60, level, 3)


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 30])
@pytest.mark.parametrize("level", ["system", "input"])
def test_intervals_hold_the_truth_in_many_trials(level, n):
    assert 0.925 <= _coverage(n, 600, level, n) <= 0.985
