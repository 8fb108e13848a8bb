"""`compare_systems(method="ppi")`: differences by a plain twin, p-values, clusters, edges, and their calibration."""

from __future__ import annotations

import itertools
from functools import partial

import few_ratings_twin as twin
import numpy as np
import pytest
import xarray as xr
from conftest import warns
from helpers import pairwise
from scipy import stats

from xsumstat.inference import system_differences as estimator

NAN = float("nan")
NAMES = ("difference", "standard_error", "df", "ci_low", "ci_high", "statistic", "pvalue", "n_inputs")


def chosen(design, n_systems, n, m):
    """Which inputs of which systems are rated."""
    rated = np.zeros((n_systems, m), dtype=bool)
    for s in range(n_systems):
        if design == "same":
            rated[s, :n] = True
        elif design == "half":
            rated[s, : n // 2] = rated[s, n // 2 + s * (n - n // 2) :][: n - n // 2] = True
        else:
            rated[s, s * n : (s + 1) * n] = True
    return rated


def scores(design="same", n_systems=4, n=12, m=60, rho=0.8, seed=0, apart=1.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(1, m)) + rng.normal(size=(n_systems, m)) + apart * rng.normal(size=(n_systems, 1))
    f = rho * z + np.sqrt(1 - rho**2) * rng.normal(size=z.shape)
    human = np.where(chosen(design, n_systems, n, m), z, NAN)
    return xr.Dataset(
        {"score": (("metric", "system", "input"), f[None]), "human": (("system", "input"), human)},
        {"metric": ["judge"], "system": [f"s{at}" for at in range(n_systems)]},
        attrs={"gold": "human"},
    )


@pairwise(
    {
        "target": ["new", "these"],
        "design": ["same", "half", "different"],
        "n_systems, n, rho": [(2, 12, 0.9), (4, 6, 0.5), (4, 12, 0.8), (3, 14, 0.0)],
    }
)
def test_numbers_are_those_of_the_definition(design, n_systems, n, rho, target):
    ds = scores(design, n_systems, n, rho=rho, seed=n)
    result = ds.meta.compare_systems(method="ppi", metric="judge", target=target, alpha=0.1).squeeze("metric")
    for a, c in itertools.permutations(range(n_systems), 2):
        expected = twin.difference(
            ds.score.values[0].tolist(), ds.human.values.tolist(), a, c, target=target, level=0.9
        )
        for name in NAMES:
            got = result[name].values[a, c]
            assert got == pytest.approx(expected[name], rel=1e-9, abs=1e-12), (a, c, name)
    assert result.metric.item() == "human" and result.attrs["helped_by"] == "judge"


@pytest.mark.ignore_codes("no_score")
@pytest.mark.parametrize("design", ["same", "half"])
def test_ratings_of_outputs_that_the_metric_refused_count(design):
    """Beside the mean of the system's other scores; here of the worst rated outputs."""
    ds = scores(design, 3, 14, seed=2)
    ds["score"] = ds.score.where(~(ds.human < ds.human.quantile(0.3)))
    assert int(ds.score.isnull().sum()) > 5
    result = ds.meta.compare_systems(method="ppi", metric="judge", alpha=0.1).squeeze("metric")
    full = twin.completed(ds.score.values[0].tolist(), ds.human.values.tolist())
    for a, c in itertools.permutations(range(3), 2):
        expected = twin.difference(full, ds.human.values.tolist(), a, c, target="new", level=0.9)
        for name in ("difference", "ci_low", "ci_high", "standard_error", "df"):
            got = result[name].isel(system=a, other_system=c).item()
            assert got == pytest.approx(expected[name], rel=1e-9, abs=1e-12), (a, c, name)


@pytest.mark.parametrize("target", ["new", "these"])
@pytest.mark.parametrize(("design", "n"), [("same", 3), ("same", 4), ("half", 6), ("half", 8)])
def test_inputs_that_both_have_are_paired_from_four_on(design, n, target):
    """Of half as many as each has in "half"; with fewer the ratings of each stand alone."""
    ds = scores(design, 3, n, seed=n)
    f, z = ds.score.values[0], ds.human.values
    found = estimator.system_differences(f, z, np.array([[0, 1], [0, 2], [1, 2]]), target, 0.9)
    for at, (a, c) in enumerate([(0, 1), (0, 2), (1, 2)]):
        expected = twin.difference(f.tolist(), z.tolist(), a, c, target=target, level=0.9)
        for name in ("difference", "standard_error", "df", "ci_low", "ci_high"):
            assert found[name][at] == pytest.approx(expected[name], rel=1e-9, abs=1e-12), (a, c, name)


@pytest.mark.parametrize("design", ["same", "half", "different"])
def test_the_differences_of_the_means_stand_beside_and_add_up(design):
    ds = scores(design, seed=8)
    result = ds.meta.compare_systems(method="ppi", metric="judge").squeeze("metric")
    each = twin.system_means(ds.score.values[0].tolist(), ds.human.values.tolist())
    mean = np.array([one["mean"] for one in each])
    gap = result["mean_difference"].values
    pairs = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(gap[pairs], np.subtract.outer(mean, mean)[pairs], atol=1e-12)
    assert np.isnan(np.diag(gap)).all()
    beside = ds.meta.system_means(metric="judge")["mean"].values
    np.testing.assert_allclose(gap[0, 1:], beside[0] - beside[1:], atol=1e-12)
    off = np.abs(gap - result["difference"].values) / result["standard_error"].values
    assert ("Use these differences to say" in result.meta.conclusion()) == (np.nanmax(off) > 0.1)
    assert np.nanmax(off) > 0.1 or design == "different"


def test_part_of_the_systems_keeps_the_means_of_all():
    ds = scores("half", seed=9)
    people = ds.human.assign_coords(higher_is_better=False)
    whole, part = (
        ds.meta.compare_systems(gold=people, method="ppi", metric="judge", **how)["mean_difference"]
        for how in ({}, {"system": ["s2"], "other": ["s1"]})
    )
    assert part.item() == whole.sel(system="s2", other_system="s1").item()
    mean = ds.meta.system_means(metric="judge")["mean"]
    assert part.item() == pytest.approx(float(mean.sel(system="s1").item() - mean.sel(system="s2").item()))


@pytest.mark.parametrize(("n_systems", "apart"), [(2, 1e-9), (4, 0.02)])
def test_all_rated_is_the_paired_test_but_for_what_other_pairs_say_of_the_variance(n_systems, apart):
    ds = scores(n=60, n_systems=n_systems)
    result = ds.meta.compare_systems(method="ppi", metric="judge").squeeze("metric")
    z = ds.human.values
    for a, c in itertools.combinations(range(n_systems), 2):
        plain = stats.ttest_rel(z[a], z[c])
        assert result["difference"].values[a, c] == pytest.approx(z[a].mean() - z[c].mean())
        assert result["statistic"].values[a, c] == pytest.approx(plain.statistic, rel=apart)
        assert 58 <= result["df"].values[a, c] <= 59


def test_the_difference_is_that_of_prediction_powered_inference_for_its_weight():
    ds = scores(n=15, m=50)
    result = ds.meta.compare_systems(method="ppi", metric="judge").squeeze("metric")
    fd, zd = (values[0] - values[1] for values in (ds.score.values[0], ds.human.values))
    rated = ~np.isnan(zd)
    lam = (result["difference"].values[0, 1] - zd[rated].mean()) / (fd[~rated].mean() - fd[rated].mean())
    other = zd[rated].mean() + lam * (fd[~rated].mean() - fd[rated].mean())
    pair = 2, 3
    fd, zd = (values[pair[0]] - values[pair[1]] for values in (ds.score.values[0], ds.human.values))
    expected = zd[rated].mean() + lam * (fd[~rated].mean() - fd[rated].mean())
    assert result["difference"].values[0, 1] == pytest.approx(other)
    assert result["difference"].values[pair] == pytest.approx(expected)  # one weight for all pairs


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_one_sided(alternative):
    ds = scores("half", seed=3)
    two = ds.meta.compare_systems(method="ppi", metric="judge").squeeze("metric")
    one = ds.meta.compare_systems(method="ppi", metric="judge", alternative=alternative).squeeze("metric")
    toward = (two["difference"] > 0) == (alternative == "greater")
    expected = xr.where(toward, two["pvalue"] / 2, 1 - two["pvalue"] / 2).where(two["pvalue"].notnull())
    np.testing.assert_allclose(one["pvalue"], expected)
    np.testing.assert_array_equal(one["cluster"].values[np.argsort(one["rank"])], np.sort(one["cluster"]))


def test_clusters_of_systems_in_order():
    ds = scores(n_systems=6, n=30, m=100, rho=0.9, seed=4)
    ds["human"] = ds.human + xr.DataArray([0, 20, 0.05, 20.1, -20, 0.1], dims="system")
    result = ds.meta.compare_systems(method="ppi", metric="judge", adjust="holm").squeeze("metric")
    assert set(result["cluster"].values[[1, 3]]) == {1} or sorted(result["cluster"].values[[1, 3]]) == [1, 2]
    assert result["cluster"].values[4] == result["cluster"].max() and result["rank"].values[4] == 6
    means = ds.human.mean("input").values
    np.testing.assert_array_equal(np.argsort(result["rank"].values)[-1:], np.argsort(-means)[-1:])
    members: dict[int, list[int]] = {}
    for at in np.argsort(result["rank"].values):  # a system opens a cluster where one of the last beats it
        cluster = int(result["cluster"][at])
        for other in members.get(cluster, []):
            assert result["pvalue_adjusted"].values[other, at] > 0.05
        members.setdefault(cluster, []).append(int(at))
    part = ds.meta.compare_systems(method="ppi", metric="judge", system="s0", other=["s1", "s2"])
    assert "cluster" not in part
    np.testing.assert_allclose(part["difference"].values[0, 0, 0], result["difference"].values[0, 1])


def test_a_gold_that_is_better_when_lower_is_turned():
    ds = scores(seed=5)
    people = ds.human.assign_coords(higher_is_better=False)
    one, two = (ds.meta.compare_systems(gold=gold, method="ppi", metric="judge") for gold in (ds.human, people))
    np.testing.assert_allclose(one["difference"], -two["difference"])


def test_lazy_scores_further_dims_and_groups():
    pytest.importorskip("dask")
    ds = scores("half", seed=6).assign_coords(type=("system", ["x", "x", "y", "y"]))
    gold = xr.concat([ds.human, ds.human**3], "quality").assign_coords(quality=["a", "b"])
    how = {"gold": gold, "method": "ppi", "metric": "judge", "adjust": "bh", "between": "type"}
    eager, lazy = (each.meta.compare_systems(**how) for each in (ds, ds.chunk(input=9)))
    assert lazy["pvalue"].chunks is not None
    xr.testing.assert_identical(lazy.compute(), eager)
    assert eager["cluster"].dims == ("metric", "system", "quality")
    single = ds.meta.compare_systems(method="ppi", metric="judge").squeeze("metric")
    np.testing.assert_allclose(eager["pvalue"].sel(quality="a").squeeze("metric"), single["pvalue"])


def test_without_enough_ratings_there_is_no_difference():
    ds = scores(seed=7)
    ds["human"][0] = NAN
    with pytest.warns(UserWarning, match="no rating, and so no difference, for 's0'"):
        result = ds.meta.compare_systems(method="ppi", metric="judge").squeeze("metric")
    assert result["pvalue"].isnull().values[0].all() and result["pvalue"].notnull().values[1, 2]
    assert result["rank"].values[0] == 0 and sorted(result["rank"].values) == [0, 1, 2, 3]


@pytest.mark.parametrize("how", [{"gold": "human"}, {"target": "these"}])
def test_what_is_for_ppi_alone(how):
    with pytest.raises(ValueError, match="is for method='ppi'"):
        scores().meta.compare_systems(**how)


def test_pairs_without_spread_borrow_from_the_others():
    """Of ratings at the ceiling two systems often have ten equal ones, and a plain t an interval without width."""
    ds = scores(n_systems=4, n=10, rho=0, seed=1)
    ds["human"] = xr.where(ds.human.system.isin(["s0", "s1"]) & ds.human.notnull(), 5.0, ds.human)
    with warns("one_value"):
        result = ds.meta.compare_systems(method="ppi", metric="judge").squeeze("metric")
    assert result["difference"].values[0, 1] == 0 and result["pvalue"].values[0, 1] == 1
    width = (result["ci_high"] - result["ci_low"]).values
    assert 0.1 < width[0, 1] / width[2, 3] < 0.5


def test_equal_passes_and_fails_of_two_systems_leave_a_width():
    pair, f = np.array([[0, 1]]), np.zeros((2, 60))
    for passes in ([1.0, 0.0], [0.0, 1.0]):
        d = passes[0] - passes[1]
        together = np.where(chosen("same", 2, 8, 60), np.reshape(passes, (2, 1)), NAN)
        result = estimator.system_differences(f, together, pair, "new", 0.95)
        variance = ((8 * d**2 + 1) / 10 - (8 * d / 10) ** 2) / 8  # Agresti and Min's, of 10 inputs
        half = stats.t.ppf(0.975, 7) * np.sqrt(variance)
        assert [result["ci_low"][0], result["ci_high"][0]] == pytest.approx([d - half, d + half])
        apart = np.where(chosen("different", 2, 8, 60), np.reshape(passes, (2, 1)), NAN)
        result = estimator.system_differences(f, apart, pair, "new", 0.95)
        error = np.sqrt(2 * (1 / 10 * 9 / 10) / 8)  # of each a tenth at the other end
        assert result["standard_error"][0] == pytest.approx(error)
    # One value everywhere says nothing of how far others lie.
    result = estimator.system_differences(f, np.where(chosen("same", 2, 8, 60), 1.0, NAN), pair, "these", 0.95)
    assert result["difference"][0] == 0 and np.isnan(result["ci_low"][0])
    result = estimator.system_differences(f, np.ones((2, 60)), pair, "these", 0.95)
    assert result["ci_low"][0] == result["ci_high"][0] == 0
    # Both always pass, and a third system, which shares no input with them, tells where the other end is.
    three = np.where(chosen("same", 3, 8, 60), 1.0, NAN)
    three[2] = np.where(np.arange(60) >= 50, 0.0, NAN)
    result = estimator.system_differences(np.zeros((3, 60)), three, pair, "new", 0.95)
    half = stats.t.ppf(0.975, 7) * np.sqrt(1 / 10 / 8)
    assert [result["ci_low"][0], result["ci_high"][0]] == pytest.approx([-half, half])


def held(design, n_systems, n, m, rho, n_trials, target="new", likert=False, seed=0):
    rng = np.random.default_rng(seed)
    shape = (n_trials, n_systems, m)
    z = np.sqrt(0.5) * rng.normal(size=(n_trials, 1, m)) + np.sqrt(0.5) * rng.normal(size=shape)
    f = rho * z + np.sqrt(1 - rho**2) * rng.normal(size=shape)
    z = np.digitize(z, [-1.5, -0.5, 0.5, 1.5]).astype(float) if likert else z
    few = np.where(chosen(design, n_systems, n, m), z, NAN)
    found = estimator.system_differences(f, few, np.array([[0, 1]]), target, 0.95)
    truth = (z[:, :1] - z[:, 1:2]).mean(-1) if target == "these" else 0.0
    return float(((found["ci_low"] <= truth) & (truth <= found["ci_high"])).mean())


def test_limits_hold_the_difference_in_a_few_trials():
    for design in ("same", "half", "different"):
        assert 0.92 < held(design, 2, 10, 100, 0.7, 500) < 0.985


@pytest.mark.slow
@pytest.mark.parametrize("design", ["same", "half", "different"])
@pytest.mark.parametrize(("n_systems", "n"), [(2, 6), (2, 20), (8, 10)])
def test_limits_hold_the_difference(design, n_systems, n):
    for rho, likert, target in (
        *((0.0, False, "new"), (0.0, True, "these"), (0.5, False, "these")),
        *((0.5, True, "new"), (0.9, False, "new"), (0.9, True, "these")),
    ):
        assert 0.92 < held(design, n_systems, n, 200, rho, 1000, target, likert) < 0.985


def test_gold_without_ppi_says_how_human_scores_alone_are_compared(demo):
    with pytest.raises(ValueError, match=r"; metric='human' compares the human scores alone"):
        demo.meta.compare_systems(gold="human")
    with pytest.raises(ValueError, match="with the help of a metric$"):
        scores().meta.compare_systems(gold="human")  # which is no metric


def test_without_any_spread_limits_are_unknown_where_ratings_are_one_value():
    """Of a difference that is known, limits are the difference; where a metric gives a spread, they are its."""
    value, variance, df = np.array([0.5, 0.5, 0.5, 0.0, 0.0]), np.array([0.0, 0.0, 4.0, 0.0, 4.0]), np.full(5, 5.0)
    unknown = np.array([True, False, True, False, False])
    found = estimator.by_name(value, variance, df, np.full(5, 6.0), 0.95, unknown)
    half = 2 * stats.t.ppf(0.975, 5)
    np.testing.assert_allclose(found["ci_low"], [np.nan, 0.5, 0.5 - half, 0.0, -half], rtol=1e-9)
    np.testing.assert_allclose(found["ci_high"], [np.nan, 0.5, 0.5 + half, 0.0, half], rtol=1e-9)
    np.testing.assert_allclose(found["statistic"], [np.inf, np.inf, 0.25, 0.0, 0.0])


def test_rated_inputs_that_are_no_random_sample_are_warned_of():
    """People rated easy inputs, and the judge is harsh on one system for the others; as `system_means` warns."""
    rng = np.random.default_rng(0)
    quality, difficulty = rng.normal(size=(3, 200)), rng.normal(size=200)
    human = np.where(difficulty < -0.3, quality, np.nan)
    judge = quality - np.outer([0, 0, 1.5], np.maximum(difficulty, 0)) + 0.3 * rng.normal(size=quality.shape)
    score = xr.DataArray([human, judge], dims=("metric", "system", "input"))
    ds = score.assign_coords(metric=["human", "judge"], system=list("abc")).to_dataset(name="score")
    for ask in (ds.meta.system_means, partial(ds.meta.compare_systems, method="ppi")):
        with pytest.warns(UserWarning, match=r"may not be a random sample, for 'c'"):
            ask(gold="human", metric="judge")
