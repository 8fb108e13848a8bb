"""`system_means`: the numbers by a plain twin, the edges, and how often limits hold the mean."""

from __future__ import annotations

import warnings

import few_ratings_twin as twin
import numpy as np
import pytest
import xarray as xr
from conftest import warns
from helpers import by_turns, pairwise
from scipy import stats

from xsumstat.inference import system_means as estimator

NAN = float("nan")


def scores(n_systems=4, n_inputs=30, n_rated=10, rho=0.7, *, seed=0, likert=False, same=True, extra=()):
    """Scores of a metric on all inputs, and people's on some."""
    rng = np.random.default_rng(seed)
    shape = (n_systems, n_inputs)
    z = rng.normal(size=(1, n_inputs)) + rng.normal(size=shape) + rng.normal(size=(n_systems, 1))
    f = np.stack([rho * z / 1.4 + np.sqrt(1 - rho**2) * rng.normal(size=shape) for _ in range(1 + len(extra))])
    z = np.clip(np.round(3 + z), 1, 5) if likert else 10 + z
    for row in z:
        keep = rng.permutation(n_inputs)[:n_rated] if not same else np.arange(n_rated)
        row[np.setdiff1d(np.arange(n_inputs), keep)] = NAN
    labels = {"system": [f"s{at}" for at in range(n_systems)], "input": [f"i{at}" for at in range(n_inputs)]}
    return xr.Dataset(
        {
            "score": (("metric", "system", "input"), f),
            "human": (("system", "input"), z),
        },
        {"metric": ["judge", *extra], **labels},
        attrs={"gold": "human"},
    )


def agree(result, f, z, **how):
    full = twin.completed(f.tolist(), z.tolist(), how.get("groups"))
    for at, expected in enumerate(twin.system_means(full, z.tolist(), **how)):
        for name, value in expected.items():
            got = result[name].isel(system=at).squeeze().item()
            assert got == pytest.approx(value, rel=1e-9, abs=1e-10), (at, name)


@pairwise(
    {
        "target": ["new", "these"],
        "n_systems": [1, 2, 3, 16],
        "rho": [0.0, 0.5, 0.95],
    }
)
def test_numbers_are_those_of_the_definition(n_systems, rho, target):
    for seed, same in ((1, True), (2, False)):
        ds = scores(n_systems, rho=rho, seed=seed, same=same)
        result = ds.meta.system_means(metric="judge", target=target, confidence_level=0.9)
        agree(result, ds.score.values[0], ds.human.values, target=target, level=0.9)


@pytest.mark.ignore_codes("few_ratings")
@pytest.mark.parametrize("n_rated", [4, 5])
def test_the_metric_helps_from_five_ratings_on(n_rated):
    """Of as many inputs, and of as many ratings of each system."""
    ds = scores(12, 20, n_rated, rho=0.95, seed=8)
    result = ds.meta.system_means(metric="judge")
    helped = (result["weight"].values.ravel() != 0).tolist()
    assert helped == [n_rated == 5] * 12 and result["fell_back"].values.tolist() == [n_rated == 4] * 12
    agree(result, ds.score.values[0], ds.human.values)
    ds["human"][3, 4:] = NAN
    helped = (ds.meta.system_means(metric="judge")["weight"].values.ravel() != 0).tolist()
    assert helped == [n_rated == 5 and at != 3 for at in range(12)]


def test_slopes_of_their_own_where_systems_differ():
    ds = scores(5, 80, 40, rho=0.9, seed=3)
    ds["score"] = ds.score * xr.DataArray([1.0, -1.0, 0.2, 3.0, 1.0], dims="system")
    result = ds.meta.system_means(metric="judge")
    assert result["weight"].values.ravel()[1] < 0
    agree(result, ds.score.values[0], ds.human.values)


def test_gaps_and_unequal_numbers_of_ratings():
    ds = scores(4, 30, 12, seed=4, likert=True)
    ds["human"][1, 3:] = NAN  # 3 ratings: they stand alone
    ds["score"][0, 2, 20:25] = NAN
    ds["score"][0, 3, 0] = NAN  # a rating without a score
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = ds.meta.system_means(metric="judge")
    texts = [str(each.message) for each in said]
    assert "fewer than 5 ratings, used without the metric, for 's1'" in texts
    told = "the metric did not score 1 rated output; their ratings count, beside the system's mean score"
    assert told in texts
    assert len(texts) == 2
    agree(result, ds.score.values[0], ds.human.values)
    assert result["fell_back"].values.tolist() == [False, True, False, False]
    assert result["weight"].sel(system="s1").item() == 0


@pytest.mark.ignore_codes("no_score")
@pytest.mark.parametrize("groups", [None, "bin"])
def test_ratings_of_outputs_that_the_metric_refused_count(groups):
    """As a metric that refuses the worst outputs must not raise their system's mean."""
    ds = scores(3, 60, 60, seed=9).assign_coords(bin=("input", np.repeat([0, 1, 2], 20)))
    ds["score"] = ds.score.where(ds.human > ds.human.quantile(0.2))
    ds["score"][0, 2] = ds.score[0, 2].where(ds.bin > 0)  # no score in a group
    result = ds.meta.system_means(metric="judge", strata=groups)
    means = ds.human.mean("input").values
    assert result["human_mean"].values == pytest.approx(means) and result["mean"].values == pytest.approx(means)
    assert (result["n_rated"] == 60).all() and (result["n_inputs"] == 60).all()
    few = ds.assign(human=ds.human.where(xr.DataArray(np.arange(60) % 2 == 0, dims="input")))
    result = few.meta.system_means(metric="judge", strata=groups)
    agree(result, ds.score.values[0], few.human.values, groups=ds.bin.values.tolist() if groups else None)


@pytest.mark.ignore_codes("no_score")
def test_a_system_that_the_metric_never_scored_has_its_mean_of_ratings():
    ds = scores(3, 40, 12, seed=10)
    ds["score"][0, 1] = NAN
    result = ds.meta.system_means(metric="judge")
    assert result["mean"].values[1] == pytest.approx(ds.human.values[1, :12].mean())
    agree(result, ds.score.values[0], ds.human.values)


@pytest.mark.slow
@pytest.mark.ignore_codes("no_score")
def test_limits_hold_where_the_metric_refuses_bad_outputs():
    held, biases = [], []
    for seed in range(150):
        ds = scores(3, 200, 200, rho=0.8, seed=seed)
        refused = (ds.human < 9.2) & (
            xr.DataArray(np.random.default_rng(seed).random((3, 200)), dims=ds.human.dims) < 0.8
        )
        ds["score"] = ds.score.where(~refused)
        truth = ds.human.mean("input")
        few = ds.human.where(xr.DataArray(np.arange(200) < 40, dims="input"))
        found = ds.meta.system_means(few, metric="judge", target="these")
        held += ((found["ci_low"] <= truth) & (truth <= found["ci_high"])).values.ravel().tolist()
        biases += (found["mean"] - truth).values.ravel().tolist()
    assert np.mean(held) == pytest.approx(0.95, abs=0.03)
    assert abs(np.mean(biases)) < 0.03  # .4 if the ratings of refused outputs were left out


@pytest.mark.ignore_codes("not_random")
@pytest.mark.parametrize("target", ["new", "these"])
@pytest.mark.parametrize("value", by_turns([0.0, 1.0]))
def test_a_system_whose_ratings_are_all_the_best_or_the_worst_may_be_so_throughout(target, value):
    """The shared slope moves its mean off the end, where Wilson's limit of the moved mean lies too."""
    rng = np.random.default_rng(5)
    moved = 0
    for _ in range(30):
        z = (rng.random((3, 120)) < np.array([[0.5], [0.7], [value]])).astype(float)
        f = np.where(rng.random(z.shape) < 0.85, z, 1 - z)
        z[:, 20:] = NAN
        labels = {"metric": ["human", "judge"], "system": list("abc"), "input": range(120)}
        ds = xr.Dataset({"score": (("metric", "system", "input"), np.stack([z, f]))}, labels)
        found = ds.meta.system_means("human", metric="judge", scale=(0, 1), target=target).sel(system="c")
        moved += abs(found["mean"].item() - value) > 1e-6
        assert found["ci_low" if value == 0 else "ci_high"].item() == value
        assert found["ci_low"] < found["ci_high"]
    assert moved > 5


@pytest.mark.parametrize("target", ["new", "these"])
def test_strata(target):
    ds = scores(3, 60, 24, seed=5).assign_coords(bin=("input", np.repeat([0, 1, 2], 20)))
    rated = np.isin(np.arange(60) % 20, [0, 1, 2, 3, 4, 5])
    full = scores(3, 60, 60, seed=5)["human"]
    ds["human"] = full.where(xr.DataArray(rated, dims="input"))
    ds["score"] = ds.score + ds.bin * 0.5
    result = ds.meta.system_means(metric="judge", strata="bin", target=target)
    agree(result, ds.score.values[0], ds.human.values, target=target, groups=ds.bin.values.tolist())
    assert (result["df"] < 18).all()


@pytest.mark.parametrize("lazy", [False, True])
def test_strata_with_too_few_ratings_are_named_with_the_way_out(lazy):
    ds = scores(3, 60, 30, seed=5).assign_coords(bin=("input", np.repeat(["easy", "fair", "hard"], 20)))
    full = scores(3, 60, 60, seed=5)["human"]
    ds["human"] = full.where(xr.DataArray(np.arange(60) % 20 < 8, dims="input"))
    ds["human"][1, 40:] = NAN  # no "hard" input of s1
    ds["human"][2, 21:40] = NAN  # one "fair" input of s2
    if lazy:
        pytest.importorskip("dask")
        ds = ds.chunk(metric=1)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = ds.meta.system_means(metric="judge", strata="bin").compute()
    way_out = "(rate two or more inputs of each group, or give groups that are alike one name)"
    assert [str(each.message) for each in said] == [
        f"strata='bin': no rating in a group, so no mean {way_out}, for group/system 'hard/s1'",
        f"strata='bin': 1 rating in a group, so no spread in it {way_out}, for group/system 'fair/s2'",
    ]
    assert np.isnan(result["mean"]).values.tolist() == [False, True, False]
    joined = ds.assign_coords(bin=ds.bin.where(ds.bin != "hard", "fair"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert joined.meta.system_means(metric="judge", strata="bin")["mean"].notnull().all()


@pytest.mark.ignore_codes("few_ratings")
def test_strata_take_a_rating_each():
    """From 4 ratings and one of each group on a system has a slope: 7 of three groups, and not 6."""
    ds = scores(4, 60, 60, rho=0.9, seed=5).assign_coords(bin=("input", np.repeat([0, 1, 2], 20)))
    rated = np.ones((4, 60), dtype=bool)
    rated[:2] = np.arange(60) % 20 < 2
    rated[1, 2] = True
    rated[2:] = np.arange(60) % 20 < 6
    ds["human"] = ds.human.where(xr.DataArray(rated, dims=("system", "input")))
    result = ds.meta.system_means(metric="judge", strata="bin")
    assert (result["weight"].values.ravel() != 0).tolist() == [False, True, True, True]
    agree(result, ds.score.values[0], ds.human.values, groups=ds.bin.values.tolist())


def test_a_metric_that_is_constant_in_one_system_says_nothing_of_slopes_there():
    ds = scores(5, 80, 40, rho=0.9, seed=3)
    ds["score"] = ds.score * xr.DataArray([1.0, -1.0, 0.2, 3.0, 1.0], dims="system")
    ds["score"][0, 4] = 0.5
    result = ds.meta.system_means(metric="judge")
    agree(result, ds.score.values[0], ds.human.values)
    without = ds.isel(system=slice(4)).meta.system_means(metric="judge")
    np.testing.assert_allclose(result["weight"][:4], without["weight"], atol=0.02)


def test_the_point_is_that_of_prediction_powered_inference_for_its_weight():
    """θ = mean over rated of (z − λ·f) + λ · mean of f over the unrated, ppi_mean_pointestimate's formula."""
    ds = scores(3, 50, 12, seed=6)
    result = ds.meta.system_means(metric="judge")
    for at in range(3):
        f, z, lam = ds.score.values[0, at], ds.human.values[at], result["weight"].values[at, 0]
        rated = ~np.isnan(z)
        expected = np.mean(z[rated] - lam * f[rated]) + lam * np.mean(f[~rated])
        assert result["mean"].values[at] == pytest.approx(expected, rel=1e-12)
        moved = result["human_mean"][at] - lam * result["rated_difference"][at]
        assert result["mean"].values[at] == pytest.approx(float(moved), rel=1e-12)


def test_rated_inputs_are_compared_with_the_others_by_students_test():
    ds = scores(3, 40, 15, seed=7)
    result = ds.meta.system_means(metric="judge")
    for at in range(3):
        f = ds.score.values[0, at]
        t = stats.ttest_ind(f[:15], f[15:])
        assert result["rated_pvalue"].values[at] == pytest.approx(t.pvalue)
        assert result["rated_difference"].values[at] == pytest.approx(f[:15].mean() - f[15:].mean())
        unused = estimator.Strata(np.zeros(40, dtype=np.int64), 3)  # two of three groups have no inputs
        difference, p = estimator.rated_gap(ds.score.values[0], ds.human.values, unused)
        assert p[at] == pytest.approx(t.pvalue) and difference[at] == pytest.approx(f[:15].mean() - f[15:].mean())


def test_rated_inputs_that_were_chosen_by_the_metric_are_told():
    ds = scores(3, 60, 60, seed=8)
    ds["human"] = ds.human.where(ds.score.sel(metric="judge", drop=True) > 0.3)
    with warns("not_random"):
        ds.meta.system_means(metric="judge")


def test_a_metric_on_another_scale_or_better_when_lower_serves_as_well():
    ds = scores(4, 40, 15, seed=9)
    other = ds.assign(score=-ds.score * 1e-6 + 3)
    one, two = (each.meta.system_means(metric="judge") for each in (ds, other))
    for name in ("mean", "ci_low", "ci_high", "n_effective"):
        np.testing.assert_allclose(one[name], two[name], rtol=1e-8)
    np.testing.assert_allclose(one["weight"], -1e-6 * two["weight"], rtol=1e-8)


def test_several_metrics_are_standardised_and_averaged_with_declared_signs():
    ds = scores(4, 40, 15, seed=10, extra=("other",)).assign_coords(higher_is_better=("metric", [True, False]))
    ds["score"] = ds.score * xr.DataArray([1.0, -50.0], dims="metric")
    result = ds.meta.system_means(metric=["judge", "other"])
    x = ds.score.values
    spread = np.sqrt(((x - x.mean(-1, keepdims=True)) ** 2).sum((1, 2)) / (4 * 39))
    one = (x[0] / spread[0] - x[1] / spread[1]) / 2
    expected = twin.system_means(one.tolist(), ds.human.values.tolist())
    np.testing.assert_allclose(result["mean"], [each["mean"] for each in expected], rtol=1e-10)
    weights = np.array([[each["weight"] / 2 / spread[0], -each["weight"] / 2 / spread[1]] for each in expected])
    np.testing.assert_allclose(result["weight"], weights, rtol=1e-9)


def test_all_rated_is_the_plain_mean_with_plain_limits():
    ds = scores(2, 25, 25, seed=11)
    result = ds.meta.system_means(metric="judge")
    for at in range(2):
        z = ds.human.values[at]
        low, high = stats.t.interval(0.95, 24, z.mean(), stats.sem(z))
        np.testing.assert_allclose([result["human_ci_low"][at], result["human_ci_high"][at]], [low, high])
        assert result["mean"].values[at] == pytest.approx(z.mean())
    these = ds.meta.system_means(metric="judge", target="these")
    np.testing.assert_allclose(these["ci_low"], these["mean"])
    np.testing.assert_allclose(these["n_effective"], 25)


def test_scale_cuts_limits_and_is_told():
    ds = scores(3, 30, 5, rho=0.2, seed=12)
    plain = ds.meta.system_means(metric="judge")
    low = float(ds.human.min())
    cut = ds.meta.system_means(metric="judge", scale=(low, 1e9))
    below = np.minimum(plain["ci_low"], plain["human_ci_low"]) < low
    np.testing.assert_array_equal(cut["clipped"], below)
    assert below.any() and not plain["clipped"].any()
    assert (cut["ci_low"] >= low).all()
    np.testing.assert_array_equal(cut["ci_high"], plain["ci_high"])


def test_passes_and_fails_have_score_limits_of_their_scale():
    ds = scores(3, 30, 12, seed=13)
    human = xr.where(ds.human.isnull(), NAN, (ds.human > ds.human.median()).astype(float))
    ds["human"] = xr.where((ds.system == "s0") & human.notnull(), 1.0, human)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ds.meta.system_means(metric="judge")
        scaled = ds.assign(human=ds.human * 1e200).meta.system_means(metric="judge", scale=(0, 2e200))
    for at in range(3):
        k = int(ds.human[at].sum())
        exact = stats.binomtest(k, 12).proportion_ci(method="wilson")
        assert [result[name].values[at] for name in ("human_ci_low", "human_ci_high")] == pytest.approx(list(exact))
        wide = twin.score_limits(k / 12, 12, 0, 2, 0.95)
        got = [scaled[name].values[at] / 1e200 for name in ("human_ci_low", "human_ci_high")]
        assert got == pytest.approx(wide)
    assert (result["ci_high"] - result["ci_low"] > 0.1).all()
    assert result["n_effective"].values[0] <= 12


@pytest.mark.parametrize("lazy", [False, True])
def test_one_value_everywhere_needs_the_scale(lazy):
    ds = scores(2, 30, 10, seed=13)
    ds["human"] = xr.where(ds.human.notnull(), 5.0, NAN)
    if lazy:
        pytest.importorskip("dask")
        ds = ds.chunk(input=9)
    with pytest.warns(UserWarning, match=r"limits need scale=\(lowest, highest\), for 's0', 's1'"):
        result = ds.meta.system_means(metric="judge").compute()
    assert result["ci_low"].isnull().all() and (result["mean"] == 5).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ds.meta.system_means(metric="judge", scale=(1, 5)).compute()
    np.testing.assert_allclose(result["ci_low"], twin.score_limits(5, 10, 1, 5, 0.95)[0])


def test_mostly_one_value_is_told():
    ds = scores(3, 30, 10, seed=13)
    ds["human"] = ds.human.where(ds.human.isnull() | ds.input.isin(["i0", "i1"]), 5.0)
    with warns("one_value"):
        ds.meta.system_means(metric="judge")


@pytest.mark.parametrize("rated", [1, 2, 4])
def test_few_ratings_stand_alone(rated):
    ds = scores(3, 30, rated, seed=14)
    with warns("few_ratings"):
        result = ds.meta.system_means(metric="judge")
    assert (result["weight"] == 0).all()
    np.testing.assert_allclose(result["mean"], ds.human.mean("input"))
    assert result["ci_low"].isnull().all() == (rated == 1)


def test_a_system_without_ratings_has_no_mean():
    ds = scores(3, 30, 10, seed=15)
    ds["human"][2] = NAN
    with pytest.warns(UserWarning, match="no rating, so no mean, for 's2'"):
        result = ds.meta.system_means(metric="judge")
    assert result["mean"].isnull().values.tolist() == [False, False, True]
    two = ds.isel(system=slice(0, 2))
    assert result["n_rated"].values.tolist() == [10, 10, 0]
    np.testing.assert_allclose(result["weight"][:2], two.meta.system_means(metric="judge")["weight"])


def test_constant_metric_helps_nothing():
    ds = scores(3, 30, 10, seed=16)
    ds["score"] = xr.full_like(ds.score, 0.3)
    result = ds.meta.system_means(metric="judge")
    np.testing.assert_allclose(result["mean"], result["human_mean"])
    np.testing.assert_allclose(result["n_effective"], 10)


def test_gold_of_some_inputs_only_and_labels_broadcast():
    ds = scores(3, 30, 10, seed=17)
    part = ds.human.isel(input=slice(0, 10))
    whole = ds.meta.system_means(metric="judge")
    xr.testing.assert_identical(
        ds.meta.system_means(part, metric="judge").drop_attrs(deep=False), whole.drop_attrs(deep=False)
    )
    both = xr.concat([ds.human, 2 * ds.human], dim="quality").assign_coords(quality=["a", "b"])
    result = ds.meta.system_means(both, metric="judge")
    np.testing.assert_allclose(result["mean"].sel(quality="a"), whole["mean"])
    np.testing.assert_allclose(result["ci_high"].sel(quality="b"), 2 * whole["ci_high"])


def test_lazy_scores_give_the_same():
    pytest.importorskip("dask")
    ds = scores(3, 30, 10, seed=18, extra=("other",))
    for how in ({}, {"method": "pooled", "strata": None}):
        eager = ds.meta.system_means(metric=["judge", "other"], **how)
        lazy = ds.chunk(input=7).meta.system_means(metric=["judge", "other"], **how)
        assert lazy["mean"].chunks is not None
        xr.testing.assert_identical(lazy.compute(), eager)


def test_ridge_needs_three_systems():
    ds = scores(3, 60, 30, seed=2, extra=("b",))
    result = ds.meta.system_means(metric=["judge", "b"], method="ridge")
    assert (result["weight"] != 0).all()
    with pytest.raises(ValueError, match="needs 3 systems or more, and no strata; got 2 systems"):
        ds.isel(system=slice(2)).meta.system_means(metric=["judge", "b"], method="ridge")


def test_ridge_leaves_out_each_input_in_turn():
    ds = scores(4, 60, 30, rho=0.6, seed=19, extra=("b", "c"))
    result = ds.meta.system_means(metric=["judge", "b", "c"], method="ridge")
    x, z = ds.score.values, ds.human.values
    spread = np.sqrt(((x - x.mean(-1, keepdims=True)) ** 2).sum((1, 2)) / (4 * 59))

    def slopes(inputs):
        rows, targets = [], []
        for s in range(4):
            each = x[:, s, inputs] / spread[:, None]
            rows.append((each - each.mean(-1, keepdims=True)).T)
            targets.append(z[s, inputs] - z[s, inputs].mean())
        a, y = np.concatenate(rows), np.concatenate(targets)
        least = np.linalg.lstsq(a, y, rcond=None)[0]
        s2 = ((y - a @ least) ** 2).sum() / (4 * (len(inputs) - 1) - 3)
        return np.linalg.solve(a.T @ a + 3 * s2 / (least @ least) * np.eye(3), a.T @ y) / spread

    for s in range(4):
        moved = [
            z[s, j] + (x[:, s].mean(-1) - x[:, s, j]) @ slopes([i for i in range(30) if i != j]) for j in range(30)
        ]
        assert result["mean"].values[s] == pytest.approx(np.mean(moved), rel=1e-9)
    np.testing.assert_allclose(result["weight"].values, np.tile(slopes(list(range(30))) / 2, (4, 1)), rtol=1e-8)


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ({}, ValueError, "name the metric whose scores help"),
        ({"metric": "judge", "target": "old"}, ValueError, "target"),
        ({"metric": "nope"}, ValueError, "nope"),
        ({"metric": "judge", "scale": 5}, TypeError, "pair of numbers"),
        ({"metric": "judge", "scale": (5, 1)}, ValueError, "ascending"),
        ({"metric": "judge", "strata": "nope"}, ValueError, "strata must be a coordinate"),
        ({"metric": "judge", "method": "ridge", "strata": "bin"}, ValueError, "no strata"),
        ({"metric": "judge", "confidence_level": 95}, ValueError, "confidence_level"),
    ],
)
def test_errors(how, error, words):
    ds = scores(3, 30, 10, seed=20, extra=("other",)).assign_coords(bin=("input", np.arange(30) % 2))
    with pytest.raises(error, match=words):
        ds.meta.system_means(**how)


def test_the_gold_cannot_help_itself():
    ds = scores(3, 30, 10, seed=21)
    gold = ds.human.expand_dims(metric=["people"])
    both = xr.Dataset({"score": xr.concat([ds.score, gold], "metric")})
    with pytest.raises(ValueError, match="is the gold itself"):
        both.meta.system_means("people", metric="people")


def trials(n_systems, n, m, rho, n_trials, target="new", likert=False, seed=0):
    """Shares of trials whose limits hold the mean, with the metric and without, and their relative width."""
    rng = np.random.default_rng(seed)
    shape = (n_trials, n_systems, m)
    z = np.sqrt(0.5) * rng.normal(size=(n_trials, 1, m)) + np.sqrt(0.5) * rng.normal(size=shape)
    f = rho * z + np.sqrt(1 - rho**2) * rng.normal(size=shape)
    truth = 0.0
    if likert:
        edges, grades = [-1.5, -0.5, 0.5, 1.5], np.arange(1.0, 6.0)
        z = grades[np.digitize(z, edges)]
        truth = float(grades @ np.diff(stats.norm.cdf([-np.inf, *edges, np.inf])))
    middle = z.mean(-1) if target == "these" else truth
    few = np.where(np.arange(m) < n, z, np.nan)
    found = estimator.system_means(f, few, estimator.Strata.none(m), target, 0.95)
    held = [
        ((found[f"{each}ci_low"] <= middle) & (middle <= found[f"{each}ci_high"])).mean() for each in ("", "human_")
    ]
    # Ratings of one value alone have no limits, which counts as a miss above.
    widths = [np.nanmean(found[f"{each}ci_high"] - found[f"{each}ci_low"]) for each in ("", "human_")]
    return *held, widths[0] / widths[1]


def test_limits_hold_the_mean_in_a_few_trials():
    held, human, width = trials(2, 10, 100, 0.8, 600)
    assert 0.92 < held < 0.98 and 0.92 < human < 0.98 and width < 0.75
    assert trials(2, 10, 100, 0.0, 600)[2] < 1.05


@pytest.mark.slow
@pairwise(
    {
        "n_systems, n": [(1, 8), (1, 20), (2, 5), (2, 10), (16, 10), (16, 50)],
        "target": ["new", "these"],
        "likert": [False, True],
    }
)
def test_limits_hold_the_mean(n_systems, n, likert, target):
    for rho in (0.0, 0.5, 0.9):
        held, _, width = trials(n_systems, n, 200, rho, 2000 if n_systems < 16 else 400, target, likert)
        assert 0.92 < held < 0.98
        if rho == 0:
            assert width <= 1.05


def test_how_many_ratings_alone_would_say_as_much(demo):
    """The sentence, against the number of ratings at which the variance of their mean is that with the metric."""
    few = demo.score.sel(metric="human").isel(input=slice(20))
    found = demo.meta.system_means(few, metric="judge", target="these")
    n, m = 20, 30
    variance = ((found.human_ci_high - found.human_ci_low) / 2 / stats.t.ppf(0.975, n - 1)) ** 2 / (1 / n - 1 / m)
    sizes = np.linspace(n / 2, m, 100_001)
    alone = variance.values[:, None] * (1 / sizes - 1 / m)
    wanted = sizes[np.abs(alone - found.standard_error.values[:, None] ** 2).argmin(axis=1)]
    assert f"are worth {100 * (np.median(wanted / n) - 1):.0f} % more ratings" in found.meta.conclusion()


@pytest.mark.ignore_codes("few_ratings")
def test_a_limit_at_the_end_of_the_scale_is_not_cut():
    ds = scores(1, 30, 4, seed=15)
    plain = ds.meta.system_means(metric="judge").squeeze()
    ends = [float(plain[name]) for name in ("ci_low", "human_ci_low", "ci_high", "human_ci_high")]
    low, high = min(ends[:2]), max(ends[2:])
    assert low < ds.human.min() and ds.human.max() < high
    for scale, cut in (
        ((low, high), False),
        ((np.nextafter(low, high), high), True),
        ((low, np.nextafter(high, low)), True),
    ):
        found = ds.meta.system_means(metric="judge", scale=tuple(map(float, scale))).squeeze()
        assert bool(found["clipped"]) == cut


def test_a_scale_has_two_different_ends():
    for wrong in ((5, 5), (5, 1)):
        with pytest.raises(ValueError, match="scale must be a pair of ascending numbers"):
            scores().meta.system_means(metric="judge", scale=wrong)


def test_rated_differences_have_the_unit_of_one_metric_and_none_of_several():
    ds = scores(extra=("second",))
    for metric, factor in (("judge", 2.0**600), (["judge", "second"], 1.0)):
        small = ds.meta.system_means("human", metric=metric)
        large = ds.assign(score=ds.score * 2.0**600).meta.system_means("human", metric=metric)
        np.testing.assert_allclose(large.rated_difference, small.rated_difference * factor, rtol=1e-9)
        np.testing.assert_allclose(large.ci_low, small.ci_low, rtol=1e-9)


@pytest.mark.ignore_codes("one_value")
@pytest.mark.parametrize("chunks", [None, {"system": 1}])
def test_a_scale_must_contain_the_ratings(demo, chunks):
    """Means of grades from 1 to 5 were cut to 1 by scale=(0, 1)."""
    grades = (demo.score.sel(metric="human", drop=True) / 20).round().clip(1, 5)
    grades = grades if chunks is None else grades.chunk(chunks)
    with pytest.raises(ValueError, match=r"scale=.0, 1. does not contain the ratings, from 1 to 5"):
        demo.meta.system_means(grades, metric="judge", scale=(0, 1)).compute()
    assert demo.meta.system_means(grades, metric="judge", scale=(1, 5))["mean"].compute().notnull().all()
