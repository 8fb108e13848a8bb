"""Systems and inputs both random, the inputs drawn with unequal probabilities: each part of the variance by a twin."""

import warnings

import drawn_inputs_twin as twin
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import xsumstat
from xsumstat.dataset import drawn as draws

DRAWN = {"strata": "unsure", "unsure": "doubt", "n_strata": 3}


def rated(seed, n_systems=6, n_inputs=60):
    """24 of 60 inputs are rated. Judges differ between systems, and inputs matter more than their noise."""
    rng = np.random.default_rng(seed)
    place = np.linspace(0, 1, n_systems)[:, None]
    shape, doubt = (n_systems, n_inputs), rng.random(n_inputs)
    human = 0.4 * rng.normal(size=shape) + place + (0.2 + 1.8 * place) * rng.normal(size=n_inputs)
    noise = np.array([0.1, 3, 0.3, 2, 0.2, 4])[:, None]
    judge = 0.8 * human + noise * doubt * rng.normal(size=shape) + (2.5 * place - 1) * rng.normal(size=n_inputs)
    other = human + 2 * rng.normal(size=shape)
    coords = {"metric": ["judge", "other"], "system": [f"s{at}" for at in range(n_systems)]}
    coords |= {"input": [f"{at:03}" for at in range(n_inputs)], "doubt": ("input", doubt)}
    ds = xr.Dataset({"score": (("metric", "system", "input"), np.stack([judge, other]))}, coords)
    ds = ds.meta.sample_inputs(24, rng=6, **DRAWN)
    gold = xr.DataArray(human, dims=("system", "input"), coords={"system": ds.system, "input": ds.input})
    return xsumstat.add_gold(ds, gold.where(ds.drawn))


def asked(ds, name, level, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(ds.meta, name)("human", metric=["judge", "other"], level=level, resample="both", **how)


def error_of(ds, level, coefficient="pearson"):
    found = asked(ds, "ci", level, coefficient=coefficient, method="jackknife").sel(metric="judge")
    assert found.attrs["weights"] == "inclusion_probability"
    return found.standard_error.item()


def both(of_systems, of_inputs, noise):
    """The variance, of which the noise of cells is a part that shows in the result."""
    assert of_inputs - noise > 1e-3 * of_inputs > 0
    return of_systems + of_inputs - noise


def of_inputs(x, z, weights, strata, coefficient, level, **how):
    return twin.variance_over_inputs(x, z, weights, strata, coefficient, level, **how)[0]


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_pearson_of_system_means(seed):
    ds = rated(seed)
    x, z, weights, strata = twin.arrays(ds)
    noise = twin.noise_of_means(twin.moved_by_cells_of_means(x, z, weights))
    wanted = both(
        twin.variance_over_systems(x, z, weights, "pearson", "system"),
        of_inputs(x, z, weights, strata, "pearson", "system"),
        noise,
    )
    assert error_of(ds, "system") ** 2 == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("coefficient", twin.COEFFICIENTS)
def test_averages_of_inputs(coefficient):
    ds = rated(1)
    x, z, weights, strata = twin.arrays(ds)
    wanted = both(
        twin.variance_over_systems(x, z, weights, coefficient, "input"),
        of_inputs(x, z, weights, strata, coefficient, "input"),
        twin.noise_of_inputs(x, z, weights, coefficient),
    )
    assert error_of(ds, "input", coefficient) ** 2 == pytest.approx(wanted, rel=1e-6)


def test_pearson_of_all_cells():
    ds = rated(0)
    x, z, weights, strata = twin.arrays(ds)
    u = twin.left_out(x, z, weights, "pearson", "global")
    wanted = both(
        twin.variance_over_systems(x, z, weights, "pearson", "global"),
        of_inputs(x, z, weights, strata, "pearson", "global", u=u),
        twin.noise_of_cells(x, z, weights),
    )
    assert error_of(ds, "global") ** 2 == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("seed", [0, 2])
def test_averages_of_systems(seed):
    """Systems are the groups here: their correlations vary beyond the noise of their inputs."""
    ds = rated(seed)
    x, z, weights, strata = twin.arrays(ds)
    r = np.array([twin.weighted_pearson(x[i], z[i], weights) for i in range(len(x))])
    u = twin.left_out(x, z, weights, "pearson", "within_system")
    wanted = both(
        of_inputs(x, z, weights, strata, "pearson", "within_system", u=u),
        r.var(ddof=1) / len(r),
        twin.noise_of_systems(x, z, weights),
    )
    assert error_of(ds, "within_system") ** 2 == pytest.approx(wanted, rel=1e-9)


def test_a_comparison_of_means_has_the_variance_of_the_difference():
    ds = rated(1)
    found = asked(ds, "compare_metrics", "system").sel(metric="judge", other_metric="other")
    (x, z, weights, strata), (y, *_) = twin.arrays(ds), twin.arrays(ds, "other")
    n = len(x)
    keep = [[k for k in range(n) if k != i] for i in range(n)]
    without = np.array(
        [
            twin.estimate(x[rows], z[rows], weights, "pearson", "system")
            - twin.estimate(y[rows], z[rows], weights, "pearson", "system")
            for rows in keep
        ]
    )
    u = [twin.moved(each, z, weights, "pearson", "system") for each in (x, y)]
    cells = [twin.moved_by_cells_of_means(each, z, weights) for each in (x, y)]
    added = of_inputs(x, z, weights, strata, "pearson", "system", u=u[0] - u[1])
    added -= twin.noise_of_means(cells[0] - cells[1])
    plain = (n - 1) / n * ((without - without.mean()) ** 2).sum()
    assert added > 0.01 * plain
    assert found.standard_error.item() ** 2 == pytest.approx(plain + added, rel=1e-6)


@pytest.mark.parametrize("level", ["global", "within_system"])
def test_bias_goes_by_shares_of_the_weights(level):
    """Σ (1 − p)(θ without an input − θ), p its share of the weights; over all cells systems add their own."""
    ds = rated(0)
    x, z, weights, _ = twin.arrays(ds)
    whole = twin.estimate(x, z, weights, "pearson", level)
    wanted = 0.0
    for j in range(len(weights)):
        kept = np.delete(x, j, 1), np.delete(z, j, 1), np.delete(weights, j)
        wanted += (1 - weights[j] / sum(weights)) * (twin.estimate(*kept, "pearson", level) - whole)
    if level == "global":
        n = len(x)
        without = [twin.estimate(np.delete(x, i, 0), np.delete(z, i, 0), weights, "pearson", level) for i in range(n)]
        wanted += (n - 1) * (np.mean(without) - whole)
    found = asked(ds, "ci", level, method="jackknife").sel(metric="judge")
    assert found.bias.item() == pytest.approx(wanted, rel=1e-6)
    equal = sum(twin.estimate(np.delete(x, j, 1), np.delete(z, j, 1), np.delete(weights, j), "pearson", level) - whole
                for j in range(len(weights))) * (1 - 1 / len(weights))  # fmt: skip
    assert abs(equal - wanted) > 1e-4


def test_bias_of_averages_of_inputs_goes_by_their_weights():
    ds = rated(1)
    x, z, weights, _ = twin.arrays(ds)
    n, wanted, r_of = len(x), 0.0, twin.COEFFICIENTS["pearson"]
    for j, share in enumerate(weights / sum(weights)):
        without = [r_of(np.delete(x[:, j], i), np.delete(z[:, j], i)) for i in range(n)]
        wanted += share * (n - 1) * (np.mean(without) - r_of(x[:, j], z[:, j]))
    found = asked(ds, "ci", "input", method="jackknife").sel(metric="judge")
    assert found.bias.item() == pytest.approx(wanted, rel=1e-9) and abs(wanted) > 1e-3


@pytest.mark.parametrize("level", ["system", "input", "global", "within_system"])
def test_degrees_of_freedom_are_those_of_systems_where_both_are_random(level):
    assert asked(rated(0), "ci", level, method="jackknife").df.values.tolist() == [5, 5]  # 6 systems, 24 inputs


def by_hand(probability, strata, seed=0, n_systems=6, tie=False):
    """Rated inputs of a draw whose probabilities and strata are given; half as many again are not drawn."""
    rng = np.random.default_rng(seed)
    n = len(probability)
    m = n + n // 2
    human = rng.normal(size=(n_systems, m)) + np.linspace(0, 1, n_systems)[:, None] + rng.normal(size=m)
    human = np.round(human) if tie else human
    coords = {"metric": ["judge", "other"], "system": [f"s{at}" for at in range(n_systems)], "input": np.arange(m)}
    coords["inclusion_probability"] = ("input", np.concatenate([probability, np.full(m - n, min(probability))]))
    coords["draw_stratum"] = ("input", np.concatenate([strata, np.full(m - n, strata[-1])]).astype(str))
    coords["drawn"] = ("input", np.arange(m) < n)
    cells = np.stack([human + rng.normal(size=human.shape) for _ in range(2)])
    ds = xr.Dataset({"score": (("metric", "system", "input"), cells)}, coords, {"drawn_by": "strata"})
    gold = xr.DataArray(human, dims=("system", "input"), coords={"system": ds.system, "input": ds.input})
    return xsumstat.add_gold(ds, gold.where(ds.drawn).reset_coords(drop=True))


def over_inputs(ds, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ds.meta.ci("human", metric="judge", level="input", resample="input", method="jackknife", **how)


THREE = np.array([0.5] * 8 + [0.5] * 8 + [0.1] * 8), np.array(["a"] * 8 + ["b"] * 8 + ["c"] * 8)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_strata_are_those_of_the_draw_also_where_their_probabilities_are_equal():
    ds = by_hand(*THREE)
    x, z, weights, strata = twin.arrays(ds)
    variance, df = twin.variance_over_inputs(x, z, weights, strata, "pearson", "input")
    found = over_inputs(ds)
    assert found.standard_error.item() ** 2 == pytest.approx(variance, rel=1e-6)
    assert found.df.item() == pytest.approx(df, rel=1e-5)
    joined, _ = twin.variance_over_inputs(x, z, weights, weights.tolist(), "pearson", "input")
    assert abs(joined / variance - 1) > 1e-3


@pytest.mark.filterwarnings("ignore")
def test_a_stratum_with_one_rated_input_adds_its_square():
    ds = by_hand(np.array([0.5] * 12 + [0.1]), np.array(["a"] * 12 + ["b"]))
    x, z, weights, strata = twin.arrays(ds)
    u = twin.moved(x, z, weights, "pearson", "input")
    within = 12 / 11 * sum((u[:12] - u[:12].mean()) ** 2) + u[12] ** 2
    between = sum(u[:12]) ** 2 / sum(weights[:12]) + u[12] ** 2 / weights[12]
    assert strata.count("b") == 1
    assert over_inputs(ds).standard_error.item() ** 2 == pytest.approx(within + between, rel=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("low, weighted", [(0.4, False), (0.399, True)])
def test_probabilities_are_unequal_from_a_ratio_of_more_than_five_quarters(low, weighted):
    ds = by_hand(np.array([0.5] * 8 + [low] * 8), np.array(["a"] * 8 + ["b"] * 8))
    assert ("weights" in over_inputs(ds).attrs) is weighted


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [1, 10, 13])
def test_over_inputs_the_second_order_of_weighted_means_is_removed(seed):
    """``V - B`` with ``B = M/(M-1) * sum F_jk^2 / 2`` over j != k, F the derivatives of r by the noise of inputs."""
    ds = rated(seed)
    x, z, weights, strata = twin.arrays(ds)
    first = of_inputs(x, z, weights, strata, "pearson", "system")
    bend, m = twin.bend_of_means(x, z, weights), len(weights)
    second = m / (m - 1) * ((bend**2).sum() - (np.diag(bend) ** 2).sum()) / 2
    assert 0.1 * first < second < 0.49 * first  # never more than half is removed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ds.meta.ci("human", metric="judge", level="system", resample="input", method="jackknife")
    assert found.standard_error.item() ** 2 == pytest.approx(first - second, rel=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_undefined_correlations_of_inputs_count_as_zero_with_their_weights():
    ds = by_hand(*THREE)
    ds.score.loc[{"metric": "judge", "input": [3, 20]}] = 1.0
    x, z, weights, _ = twin.arrays(ds)
    r = [0.0 if at in (3, 20) else twin.COEFFICIENTS["pearson"](x[:, at], z[:, at]) for at in range(24)]
    defined = np.array([at not in (3, 20) for at in range(24)])
    for undefined, those in (("zero", defined | True), ("drop", defined)):
        found = ds.meta.corr("human", metric="judge", level="input", undefined=undefined)
        wanted = sum((weights * r)[those]) / sum(weights[those])
        assert found.correlation.item() == pytest.approx(wanted, rel=1e-12), undefined


@pytest.mark.filterwarnings("ignore")
def test_a_metric_that_is_constant_in_a_system_or_without_an_input():
    """Pearson's r of that system counts as 0, with all inputs or without one, if undefined correlations do."""
    ds = by_hand(*THREE)
    ds.score.loc[{"metric": "judge", "system": "s1"}] = 2.0
    ds.score.loc[{"metric": "judge", "system": "s4"}] = np.where(np.arange(36) == 5, 3.0, 1.0)
    x, z, weights, strata = twin.arrays(ds)

    def average(x, z, weights):
        constant = [len(set(row)) == 1 for row in x]
        each = zip(x, z, constant, strict=True)
        return np.mean([0.0 if same else twin.weighted_pearson(a, b, weights) for a, b, same in each])

    whole, p = average(x, z, weights), weights / sum(weights)
    without = np.array([average(*(np.delete(each, j, -1) for each in (x, z, weights))) for j in range(24)])
    u = (whole - without) * (1 - p)
    variance, _ = twin.variance_over_inputs(x, z, weights, strata, "pearson", "within_system", u=u - sum(u) * p)
    how = {"level": "within_system", "resample": "input", "method": "jackknife", "undefined": "zero"}
    found = ds.meta.ci("human", metric="judge", **how)
    assert found.correlation.item() == pytest.approx(whole, rel=1e-12)
    assert found.standard_error.item() ** 2 == pytest.approx(variance, rel=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("level", ["system", "global", "within_system"])
def test_outputs_that_the_metric_lacks_have_no_part_in_the_means(level):
    ds = by_hand(*THREE)
    ds.score.loc[{"metric": "judge", "system": "s2", "input": [1, 17, 21]}] = np.nan
    x, z, weights, _ = twin.arrays(ds)
    found = ds.meta.corr("human", metric="judge", level=level).correlation.item()
    assert found == pytest.approx(twin.estimate(x, z, weights, "pearson", level), rel=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_pvalues_of_means_are_scipys_of_weighted_means():
    ds = by_hand(*THREE)
    x, z, weights, _ = twin.arrays(ds)
    means = [(each * weights).sum(axis=1) / sum(weights) for each in (x, z)]
    found = ds.meta.corr("human", metric="judge", level="system", average=False)
    assert found.pvalue.item() == pytest.approx(stats.pearsonr(*means).pvalue, rel=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_what_a_random_metric_reaches_is_averaged_with_the_weights():
    """By pairs of systems that the human scores order: half of them."""
    ds = by_hand(*THREE, tie=True)
    _, z, weights, _ = twin.arrays(ds)
    pairs = [(a, b) for a in range(6) for b in range(a)]
    each = [sum(z[a, j] != z[b, j] for a, b in pairs) / len(pairs) / 2 for j in range(24)]
    found = ds.meta.corr("human", metric="judge", level="input", coefficient="pairwise_accuracy")
    assert found.baseline.item() == pytest.approx(sum(weights * each) / sum(weights), rel=1e-12)
    assert abs(found.baseline.item() - np.mean(each)) > 1e-3


@pytest.mark.filterwarnings("ignore")
def test_a_random_metric_orders_the_systems_whose_weighted_means_differ():
    """Half of the pairs of systems that human scores order; two tie with weights alone."""
    ds = by_hand(np.array([0.5] * 2 + [0.25] * 2), np.array(["a"] * 2 + ["b"] * 2))
    human = np.array([[4, 4, 1, 1], [0, 0, 3, 3], [2, 2, 6, 6], [6, 6, 3, 3], [9, 9, 9, 9], [7, 7, 8, 8]], dtype=float)
    ds.score.loc[{"metric": "human", "input": [0, 1, 2, 3]}] = human
    weights = twin.arrays(ds)[2]
    means = [sum(w * value for w, value in zip(weights, row, strict=True)) / sum(weights) for row in human]
    pairs = [(a, b) for a in range(6) for b in range(a)]
    tied = [pair for pair in pairs if abs(means[pair[0]] - means[pair[1]]) < 1e-9]
    assert tied == [(1, 0)]
    found = ds.meta.corr("human", metric="judge", level="system", coefficient="pairwise_accuracy")
    assert found.baseline.item() == pytest.approx((len(pairs) - len(tied)) / len(pairs) / 2, rel=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["corr", "ci", "compare_metrics"])
def test_lazy_scores_are_weighted_alike(name):
    ds = by_hand(*THREE)
    how = {} if name == "corr" else {"resample": "both"}
    one, two = (getattr(each.meta, name)("human", level="input", **how) for each in (ds, ds.chunk(input=5)))
    assert one.attrs["weights"] == two.attrs["weights"] == "inclusion_probability"
    for each in one.data_vars:
        np.testing.assert_array_equal(one[each], two[each].compute(), err_msg=str(each))


def told(ask):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ask()
    return found, [each for each in caught if getattr(each.message, "code", "") == "unequal_probabilities"]


@pytest.mark.parametrize("name", ["ci", "compare_metrics"])
def test_documents_have_no_weights_and_it_is_said(name):
    ds = by_hand(*THREE).assign_coords(doc=("input", np.arange(36) // 3))
    found, said = told(lambda: getattr(ds.meta, name)("human", level="input", cluster="doc"))
    plain, _ = told(lambda: getattr(ds.drop_vars(draws.COORDS).meta, name)("human", level="input", cluster="doc"))
    assert "weights" not in found.attrs and len(said) == 1
    for each in found.data_vars:
        np.testing.assert_array_equal(found[each], plain[each])


def test_calibrated_scores_have_no_weights_and_it_is_said():
    ds = by_hand(*THREE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = ds.meta.calibrate("human", metric="judge", rng=0)
    label = [each for each in made.metric.values if "calibrated" in str(each)]
    found, said = told(lambda: made.meta.corr("human", metric=label, level="input"))
    assert "weights" not in found.attrs and len(said) == 1


def test_four_systems_that_are_drawn_again_have_no_weights_and_it_is_said():
    ds = by_hand(*THREE, n_systems=4)
    how = {"level": "system", "coefficient": "spearman", "n_resamples": 99, "rng": 1}
    with warnings.catch_warnings(record=True) as every:
        warnings.simplefilter("always")
        ds.meta.ci("human", **how)
    texts = [str(each.message) for each in every]
    assert len(texts) == len(set(texts))
    found, said = told(lambda: ds.meta.ci("human", **how))
    plain, _ = told(lambda: ds.drop_vars(draws.COORDS).meta.ci("human", **how))
    assert found.attrs["method"] == "bootstrap" and "weights" not in found.attrs and len(said) == 1
    for each in found.data_vars:
        np.testing.assert_array_equal(found[each], plain[each])
