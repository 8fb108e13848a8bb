"""Plans: designs on labelled dims, targets, and what they refuse."""

import numpy as np
import pytest
import xarray as xr

import xsumstat


def test_widths_of_all_designs(demo):
    found = xsumstat.plan(demo, metric=["judge", "bleu"], level="input", n_systems=[12, 24], n_inputs=[30, 60, 500])
    assert found.width.dims == ("metric", "n_systems", "n_inputs") and not bool(found.simulated.any())
    own = demo.meta.ci("human", metric=["judge", "bleu"], level="input", method="jackknife")
    here = found.sel(n_systems=12, n_inputs=30)
    np.testing.assert_allclose(here.width, own.ci_high - own.ci_low, rtol=1e-5)
    np.testing.assert_allclose(here.standard_error, own.standard_error, rtol=1e-9)
    np.testing.assert_allclose(here.correlation, own.correlation)
    assert bool((found.width.diff("n_inputs") < 0).all() & (found.width.diff("n_systems") < 0).all())
    assert bool((found.floor < found.width.min("n_inputs")).all()) and bool(found.mc_error.isnull().all())


@pytest.mark.ignore_codes("few_inputs")
def test_fewer_inputs_than_systems_have_the_width_that_ci_gives():
    """Inputs on which a metric agrees differently, so that they add to the variance."""
    rng = np.random.default_rng(4)
    r = np.array([0.95, 0.9, 0.1, 0.5, 0.0, 0.8])
    human = 0.8 * rng.normal(size=(14, 1)) + 0.6 * rng.normal(size=(14, 6))
    metric = r * human + np.sqrt(1 - r**2) * rng.normal(size=(14, 6))
    score = xr.DataArray([human, metric], dims=("metric", "system", "input"))
    ds = score.assign_coords(metric=["human", "m"]).to_dataset(name="score")
    own = ds.meta.ci("human", level="input", method="jackknife", resample="both")
    assert 5 <= own.df.item() < 10  # of 14 systems and 6 inputs
    here = xsumstat.plan(ds, "human", metric="m", level="input", n_systems=[14], n_inputs=[6, 13, 14, 40])
    assert here.width.sel(n_inputs=6).item() == pytest.approx((own.ci_high - own.ci_low).item(), rel=1e-5)
    assert bool((here.width.diff("n_inputs") < 0).all())


def test_the_least_design_that_reaches_a_target(demo):
    asked = {"metric": "judge", "level": "input", "n_systems": [12, 24, 48]}
    found = xsumstat.plan(demo, target=0.1, **asked).squeeze("metric")
    none, some, few = found.least_inputs.values
    assert np.isnan(none) and some > few
    again = xsumstat.plan(demo, n_inputs=[int(some) - 1, int(some)], **asked).width.sel(n_systems=24).squeeze("metric")
    assert float(again[0]) > 0.1 >= float(again[1])
    low, high = (float((found[each] / found.width).median()) / 10 for each in ("width_low", "width_high"))
    assert found.expand_dims("metric").meta.conclusion() == (
        f"For a width of .10, judge needs 24 systems on {some:g} inputs or 48 systems on {few:g} inputs "
        + f"(the width may be {low:.2f} to {high:.2f}, as these data are uncertain).".replace("0.", ".")
        + " Planned for systems and inputs like these."
    )


def test_few_systems_are_simulated_at_system_level(demo):
    found = xsumstat.plan(demo, metric="judge", n_systems=[10, 12, 20], n_inputs=[30, 60], n_trials=40, rng=1)
    assert found.simulated.values.tolist() == [[True, True], [True, True], [False, False]]
    own = demo.meta.ci("human", metric="judge", method="jackknife")
    np.testing.assert_allclose(found.width.sel(n_systems=12, n_inputs=30), own.ci_high - own.ci_low, rtol=1e-5)
    assert bool((found.mc_error.sel(n_systems=10) > 0).all()) and bool(found.mc_error.sel(n_systems=20).isnull().all())
    ranks = xsumstat.plan(demo, metric="judge", coefficient="kendall", n_systems=20, n_inputs=30, n_trials=20, rng=1)
    assert bool(ranks.simulated) and ranks.attrs["n_systems"] == 20 and ranks.width.dims == ("metric",)


def test_fifteen_systems_have_a_formula():
    model = xsumstat.simulate(agreement={"judge": 0.8}, truth=False, rng=1)
    found = xsumstat.plan(model, n_systems=[14, 15], n_inputs=5, n_trials=2, rng=1)
    assert found.simulated.values.ravel().tolist() == [True, False]


def test_a_plan_is_the_same_for_one_seed(demo):
    asked = {"metric": "judge", "n_systems": 10, "n_inputs": 20, "n_trials": 20}
    one, two = (xsumstat.plan(demo, rng=3, **asked) for _ in range(2))
    assert one.identical(two)


def test_without_data_it_is_planned_from_a_model():
    model = xsumstat.simulate(agreement={"judge": 0.8}, truth=False, rng=1)
    asked = {"level": "input", "n_systems": [20, 40], "n_inputs": [20, 80]}
    by_formula = xsumstat.plan(model, **asked)
    simulated = xsumstat.plan(model, method="simulation", n_trials=150, rng=1, **asked)
    np.testing.assert_allclose(by_formula.width, simulated.width, rtol=0.12)
    with pytest.raises(ValueError, match="formulas of a model are for Pearson's r of normal scores"):
        xsumstat.plan(model, coefficient="kendall")
    with pytest.raises(ValueError, match="without grades and gaps"):
        xsumstat.plan(xsumstat.simulate(likert=5, truth=False, rng=1))


@pytest.mark.slow
def test_power_between_two_metrics(demo):
    asked = {"level": "input", "n_trials": 40, "n_resamples": 99, "rng": 1}
    found = xsumstat.plan(demo, metric="judge", other="bertscore", n_inputs=[4, 30], **asked)
    same = xsumstat.power(
        demo, "human", metric="judge", other="bertscore", n_inputs=[4, 30], tests={"t": {"test": "perm_test"}}, **asked
    )
    np.testing.assert_array_equal(found.power.squeeze(), same.power.squeeze())
    assert found.attrs["target"] == 0.8 and "least_inputs" in found
    assert (
        "For a power of .80 of perm_test (these systems only), judge against bertscore needs" in found.meta.conclusion()
    )


def test_power_of_differences_is_that_of_the_t_test():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    shape = (10, 2000)
    gold = rng.normal(size=(10, 1)) + rng.normal(size=(1, 2000)) + rng.normal(size=shape)
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), np.array([gold, gold + rng.normal(size=shape)]))},
        {"metric": ["human", "m"], "system": np.arange(10), "input": np.arange(2000)},
        {"gold": "human"},
    )
    found = xsumstat.plan(ds, difference=[0.3, 0.6], n_inputs=[20, 50, 100])
    for d in (0.3, 0.6):
        for m in (20, 50, 100):
            critical, centre = stats.t.ppf(0.975, m - 1), d / np.sqrt(2 / m)
            power = 1 - stats.nct.cdf(critical, m - 1, centre) + stats.nct.cdf(-critical, m - 1, centre)
            assert float(found.power.sel(difference=d, n_inputs=m)) == pytest.approx(power, abs=0.02)
    assert not {"ci_low", "mc_error"} & set(found.data_vars) and found.attrs["method"] == "formula"
    least = int(found.least_inputs.sel(difference=0.6))
    wide = np.mean([(gold[a] - gold[b]).var(ddof=1) for a in range(10) for b in range(a)])
    powers = {}
    for m in (least - 1, least):
        centre, critical = 0.6 / np.sqrt(wide / m), stats.t.ppf(0.975, m - 1)
        powers[m] = stats.nct.sf(critical, m - 1, centre) + stats.nct.cdf(-critical, m - 1, centre)
    assert powers[least - 1] < 0.8 <= powers[least]
    drawn = rng.normal(0.6, np.sqrt(wide), (20_000, least))  # brute force
    shares = np.mean(stats.ttest_1samp(drawn, 0, axis=1).pvalue < 0.05)
    assert shares == pytest.approx(0.8, abs=0.02)
    assert f"a difference of .60 needs {least} inputs" in found.meta.conclusion()
    assert xsumstat.plan(ds, difference=0.3, n_inputs=20, n_trials=50, rng=1).power.dims == ()


def test_power_is_that_of_statsmodels(demo):
    power_of = pytest.importorskip("statsmodels.stats.power").TTestPower()
    found = xsumstat.plan(demo, difference=[2.0, 5.0, 10.0], n_inputs=[5, 20, 100], alpha=0.01, target=0.9)
    gold = demo.score.sel(metric="human").values
    apart = [gold[a] - gold[b] for a in range(len(gold)) for b in range(a)]
    sd = np.sqrt(np.mean([np.var(each, ddof=1) for each in apart]))
    for d in found.difference.values:
        for m in found.n_inputs.values:
            own = power_of.power(d / sd, m, 0.01, alternative="two-sided")
            assert float(found.power.sel(difference=d, n_inputs=m)) == pytest.approx(own, abs=1e-6)
        least = power_of.solve_power(effect_size=d / sd, alpha=0.01, power=0.9, alternative="two-sided")
        assert float(found.least_inputs.sel(difference=d)) == np.ceil(least)


def test_what_is_refused(demo):
    with pytest.raises(ValueError, match="7 systems are too few to plan from"):
        xsumstat.plan(demo.isel(system=slice(7)), resample="both")
    flat = demo.copy(deep=True)
    rng = np.random.default_rng(0)
    flat["score"][0] = rng.normal(size=flat.score[0].shape)
    with pytest.raises(ValueError, match="too uncertain to plan from"):
        xsumstat.plan(flat, "human", metric="judge")
    for keywords, message in (
        ({"level": "globl"}, "did you mean 'global'"),
        ({"level": "global", "resample": "both"}, "planned for these systems alone"),
        ({"coefficient": "spa"}, "there is no plan for coefficient='spa'"),
        ({"other": "bleu", "difference": 1.0}, "plan one thing at a time"),
        ({"difference": 0.0}, "difference must be above 0"),
        ({"difference": 1.0, "n_systems": 5}, "whatever n_systems is"),
        ({"difference": 1.0, "metric": "judge"}, "say how many, as n_judged=1000"),
        ({"n_inputs": []}, "n_inputs is an empty list"),
        ({"n_inputs": 1}, "n_inputs must be at least 2"),
        ({"method": "formulas"}, "did you mean 'formula'"),
        ({"metric": "juge"}, "did you mean 'judge'"),
    ):
        with pytest.raises(ValueError, match=message):
            xsumstat.plan(demo, **keywords)


def test_the_picture_shows_contours_or_lines(demo):
    plt = pytest.importorskip("matplotlib.pyplot")
    found = xsumstat.plan(demo, metric=["judge", "bleu"], level="input", target=0.1)
    axes = found.meta.plot.plan(title="Widths")
    assert [axis.get_title() for axis in axes] == ["judge", "bleu"]
    levels = axes[0].collections[0].levels if hasattr(axes[0].collections[0], "levels") else []
    assert 0.1 in np.round(levels, 3)
    found = xsumstat.plan(demo, difference=[1.0, 5.0], n_trials=40, rng=1)
    axis = found.meta.plot.plan()
    for line, power in zip(axis.get_lines(), found.power, strict=False):
        np.testing.assert_array_equal(line.get_ydata(), power)
    with pytest.raises(ValueError, match="no plan of several designs"):
        xsumstat.plan(demo, metric="judge", level="input", n_systems=20, n_inputs=30).meta.plot.plan()
    plt.close("all")


# --- Raters ---


def rated(seed=0, shape=(20, 60, 3)):
    """Scores of a metric, and ratings whose residuals have twice the variance of cells."""
    rng = np.random.default_rng(seed)
    gold = 2 * rng.normal(size=(shape[0], 1)) + rng.normal(size=shape[:2])
    ratings = gold[..., None] + np.sqrt(2) * rng.normal(size=shape)
    metric = gold + rng.normal(size=shape[:2])
    return xr.Dataset(
        {
            "score": (("metric", "system", "input"), metric[None]),
            "people": (("system", "input", "rater"), ratings),
        },
        {"metric": ["m"], "system": np.arange(shape[0]), "input": np.arange(shape[1])},
    )


@pytest.mark.parametrize("level", ["input", pytest.param("system", marks=pytest.mark.slow)])
def test_fewer_raters_are_as_plans_say(level):
    from itertools import combinations

    ds = rated()
    found = xsumstat.plan(ds, rating="people", level=level, n_systems=20, n_inputs=60, n_raters=[1, 2, 3])
    found = found.squeeze("metric")
    for raters in (1, 2, 3):
        own = [
            ds.meta.ci(ds.people.isel(rater=list(those)).mean("rater"), level=level, method="jackknife")
            for those in combinations(range(3), raters)
        ]
        r = np.mean([float(each.correlation.item()) for each in own])
        error = np.sqrt(np.mean([float(each.standard_error.item()) ** 2 for each in own]))
        assert float(found.correlation.sel(n_raters=raters)) == pytest.approx(r, abs=0.02)
        assert float(found.standard_error.sel(n_raters=raters)) == pytest.approx(error, rel=0.15)


def test_differences_need_fewer_inputs_with_more_raters():
    stats = pytest.importorskip("scipy.stats")
    ds = rated(shape=(20, 400, 3))
    found = xsumstat.plan(ds, rating="people", difference=0.5, n_inputs=50, n_raters=[1, 3], n_trials=2000, rng=1)
    for raters in (1, 3):
        centre = 0.5 / np.sqrt(2 * (1 + 2 / raters) / 50)
        critical = stats.t.ppf(0.975, 49)
        power = 1 - stats.nct.cdf(critical, 49, centre)
        assert float(found.power.sel(n_raters=raters)) == pytest.approx(power, abs=0.05)


def test_what_is_refused_of_raters():
    ds = rated()
    alone = ds.drop_vars("people").assign(people=ds.people.isel(rater=[0]))
    for keywords, message in (
        ({"rating": "people", "gold": "people"}, "gold and rating are both given"),
        ({"rating": "people", "other": "m"}, "other cannot be combined with rating="),
        ({"rating": "people", "method": "simulation"}, "method='simulation' cannot be combined with rating="),
        ({"rating": "people", "n_raters": []}, "n_raters is an empty list"),
    ):
        with pytest.raises(ValueError, match=message):
            xsumstat.plan(ds, **keywords)
    with pytest.raises(ValueError, match="no cell of 'people' has two ratings"):
        xsumstat.plan(alone, rating="people", n_raters=[1, 2])


@pytest.mark.slow
def test_plans_for_raters_in_words_and_pictures():
    plt = pytest.importorskip("matplotlib.pyplot")
    found = xsumstat.plan(rated(), rating="people", level="input", target=0.1, n_raters=[1, 3])
    assert "for m with 1 rater" in found.meta.conclusion() and "m with 3 raters needs" in found.meta.conclusion()
    assert [axis.get_title() for axis in found.meta.plot.plan()] == ["m, 1 raters", "m, 3 raters"]
    plt.close("all")
