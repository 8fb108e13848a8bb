"""Plans with costs: what a budget buys, and what is cheapest, against a search of all designs in plain Python."""

import functools
import itertools
import math

import numpy as np
import pytest
import xarray as xr

import xsumstat
from xsumstat.simulation import plan_bands

stats = pytest.importorskip("scipy.stats")
pytestmark = pytest.mark.ignore_codes("labels_without_cells")


def pilot(systems=3, inputs=60, raters=3, missing=0.0, seed=0):
    """A judge's scores, and ratings with raters' strictness."""
    rng = np.random.default_rng(seed)
    quality = 0.5 * rng.normal(size=(systems, 1)) + rng.normal(size=(1, inputs))
    quality = quality + 0.7 * rng.normal(size=(systems, inputs))
    ratings = quality[..., None] + 0.4 * np.arange(raters) + 0.8 * rng.normal(size=(systems, inputs, raters))
    ratings[rng.random(ratings.shape) < missing] = np.nan
    judge = 0.8 * quality + 0.4 * rng.normal(size=quality.shape)
    return xr.Dataset(
        {"score": (("metric", "system", "input"), judge[None]), "people": (("system", "input", "rater"), ratings)},
        {"metric": ["judge"], "system": [f"s{at}" for at in range(systems)], "input": np.arange(inputs)},
    )


def parts_of_a_difference(ds):
    """Of complete ratings: what two systems' difference varies by, noise of a rating, and what the judge explains."""
    ratings, judge = ds.people.values, ds.score.values[0]
    systems, inputs, raters = ratings.shape

    def off(values, axes):
        return values - sum(values.mean(axis=axis, keepdims=True) for axis in axes) + values.mean()

    cells = off(ratings.mean(axis=2), (0, 1))
    df = (systems - 1) * (inputs - 1)
    by_rater = ratings - ratings.mean(axis=2, keepdims=True)
    by_rater = by_rater - by_rater.mean(axis=(0, 1))
    noise = np.sum(by_rater**2) / ((systems * inputs - 1) * (raters - 1))
    cell = np.sum(cells**2) / df - noise / raters
    of_judge = off(judge, (0, 1))
    explained = (np.sum(of_judge * cells) / df) ** 2 / (np.sum(of_judge**2) / df)
    return 2 * cell, 2 * noise, 2 * explained


def width_of(parts, n, m, r):
    """The mean width of the interval of a difference, in plain Python."""
    total, left, df = parts[0] + parts[1] / r, parts[0] + parts[1] / r - parts[2], n - 1
    variance = total / n
    if m > n >= 5:
        variance, df = left * (1 / n - 1 / m) * (1 + 1 / (n - 3)) + total / m, n - 2
    return mean_root_width(df) * math.sqrt(variance)


@functools.cache
def mean_root_width(df):
    """Two t quantiles times the mean of the root of a chi-squared variable over its degrees of freedom."""
    of_root = math.sqrt(2 / df) * math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2))
    return 2 * stats.t.ppf(0.975, df) * of_root


def cost_of(n, m, r, systems, rating, prompt, verdict):
    return prompt * max(n, m) + systems * (rating * n * r + verdict * m)


def affordable(budget, systems, prices, most=200):
    """All designs for the money: rated inputs, judged inputs, raters."""
    for r, n in itertools.product((1, 2, 3, 5), range(5, most)):
        left = budget - systems * prices[0] * n * r
        m = math.floor(left / (prices[1] + systems * prices[2]) + 1e-9)
        if m >= n:
            yield n, m, r


def test_the_best_design_is_that_of_a_search_of_all():
    ds, prices = pilot(), (1.0, 0.5, 0.02)
    found = xsumstat.plan(
        ds, rating="people", estimand="difference", metric="judge", budget=400,
        cost_per_rating=1, cost_per_prompt=0.5, cost_per_verdict=0.02,
    ).squeeze("metric")  # fmt: skip
    parts = parts_of_a_difference(ds)
    best = min(affordable(400, 3, prices), key=lambda each: width_of(parts, each[0], each[1], each[2]))
    chosen = found.isel(n_raters=int(found.best.values.argmax()))
    assert (int(chosen.rated_inputs), int(chosen.judged_inputs), int(chosen.n_raters)) == best
    assert int(found.best.sum()) == 1
    for r in (1, 2, 3, 5):
        one = found.sel(n_raters=r)
        n, m = int(one.rated_inputs), int(one.judged_inputs)
        assert float(one.width) == pytest.approx(width_of(parts, n, m, r), rel=1e-9)
        assert float(one.cost) == pytest.approx(cost_of(n, m, r, 3, *prices)) and float(one.cost) <= 400
        alone = math.floor(400 / (0.5 + 3 * r))
        assert float(one.width_alone) == pytest.approx(width_of(parts, alone, 0, r), rel=1e-9)


def test_the_cheapest_design_is_that_of_a_search_of_all():
    ds, prices = pilot(seed=1), (2.0, 0.3, 0.05)
    costs = {"cost_per_rating": 2, "cost_per_prompt": 0.3, "cost_per_verdict": 0.05}
    found = xsumstat.plan(ds, rating="people", estimand="difference", metric="judge", target=0.8, **costs)
    found, parts = found.squeeze("metric"), parts_of_a_difference(ds)
    least = math.inf
    for n, r in itertools.product(range(5, 120), (1, 2, 3, 5)):
        enough = (m for m in range(n, 2000) if width_of(parts, n, m, r) <= 0.8)
        m = next(enough, None)
        least = least if m is None else min(least, cost_of(n, m, r, 3, *prices))
    assert float(found.cost.min()) == pytest.approx(least, rel=1e-6)
    assert float(found.cost.where(found.best).max()) == float(found.cost.min())
    assert bool((found.width <= 0.8).all()) and bool((found.cost_alone > found.cost).all())
    assert found.meta.conclusion().startswith(f"The cheapest design that reaches a width of .80 costs {least:,.6g}: ")


@pytest.mark.parametrize(
    "what", [{"target": 1e-5, "level": "input"}, {"estimand": "difference", "target": 1e-9, "n_judged": 60}]
)
def test_that_no_design_reaches_a_target_is_said(what):
    ds = pilot(seed=1)
    found = xsumstat.plan(ds, rating="people", metric="judge", cost_per_rating=1, **what)
    assert not bool(found.best.any())
    assert found.meta.conclusion().startswith("No design reaches the target with judge.")


def test_power_for_a_budget_is_that_of_statsmodels():
    power_of = pytest.importorskip("statsmodels.stats.power").TTestPower()
    ds = pilot()
    found = xsumstat.plan(ds, rating="people", difference=[0.3, 0.5], budget=[200, 600], n_raters=[1, 3])
    between, noise, _ = parts_of_a_difference(ds)
    for d, budget, r in itertools.product((0.3, 0.5), (200, 600), (1, 3)):
        one = found.sel(difference=d, budget=budget, n_raters=r)
        assert int(one.rated_inputs) == budget // (3 * r)
        want = power_of.power(d / math.sqrt(between + noise / r), int(one.rated_inputs), 0.05)
        assert float(one.power) == pytest.approx(want, abs=1e-6)
        assert float(one.power_low) < float(one.power) < float(one.power_high)
    cheap = xsumstat.plan(ds, rating="people", difference=0.5, n_raters=2, cost_per_rating=3)
    need = power_of.solve_power(0.5 / math.sqrt(between + noise / 2), alpha=0.05, power=0.8)
    assert int(cheap.rated_inputs) == math.ceil(need) and float(cheap.cost) == 3 * 3 * 2 * math.ceil(need)


@pytest.mark.slow
def test_limits_are_those_of_plans_without_each_block_of_inputs():
    ds = pilot(inputs=12)
    asked = {"rating": "people", "estimand": "mean", "n_raters": 2, "budget": 120}
    found = xsumstat.plan(ds, **asked)
    errors = [float(xsumstat.plan(ds.drop_isel(input=at), **asked).standard_error) for at in range(12)]
    sd = math.sqrt(11 * np.var(np.log(errors)))
    reach = math.exp(stats.t.ppf(0.975, 11) * sd)
    assert float(found.width_high / found.width) == pytest.approx(reach, rel=1e-9)
    assert float(found.width / found.width_low) == pytest.approx(reach, rel=1e-9)
    assert [len(each) for each in plan_bands.blocks_of((3, 60), True)[1]] == [3] * 20


@pytest.mark.parametrize("level", ["input", "global", "within_system"])
def test_agreement_in_the_datas_own_design_has_the_datas_own_interval(level):
    ds = pilot(systems=4, inputs=40)
    gold = ds.people.mean("rater")
    own = ds.meta.ci(gold, level=level, resample="input", method="jackknife", coefficient="kendall")
    asked = {"level": level, "coefficient": "kendall"}
    for found in (
        xsumstat.plan(ds, gold, n_inputs=40, **asked),
        xsumstat.plan(ds, gold, budget=160, **asked),
        xsumstat.plan(ds, rating="people", n_inputs=40, n_raters=3, **asked),
    ):
        np.testing.assert_allclose(found.width, own.ci_high - own.ci_low, rtol=0.02)  # without the bias of global
        np.testing.assert_allclose(found.correlation, own.correlation, rtol=1e-9)
        assert found.attrs["scope"] == "these systems" and found.attrs["n_systems"] == 4
    priced = xsumstat.plan(ds, gold, budget=160, **asked)
    assert int(priced.rated_inputs.item()) == 40 and float(priced.cost.item()) == 160


@pytest.mark.slow
def test_agreement_for_a_budget_is_that_of_the_design():
    ds = pilot(systems=10, inputs=40)
    prices = {"cost_per_rating": 1.5, "cost_per_prompt": 2, "cost_per_verdict": 0.1}
    asked = {"rating": "people", "level": "input", "n_raters": [1, 2]}
    found = xsumstat.plan(ds, n_systems=[10, 20], budget=1000, **asked, **prices).squeeze("metric")
    for systems, r in itertools.product((10, 20), (1, 2)):
        one = found.sel(n_systems=systems, n_raters=r)
        n = int(one.rated_inputs)
        assert n == math.floor(1000 / (2 + systems * (1.5 * r + 0.1)))
        same = xsumstat.plan(ds, n_systems=systems, n_inputs=n, **asked).sel(n_raters=r).squeeze("metric")
        for name in ("width", "width_low", "width_high", "correlation", "standard_error"):
            np.testing.assert_allclose(one[name], same[name], rtol=1e-12)
    assert found.attrs["scope"] == "systems like these" and int(found.best.sum()) == 1
    cheap = xsumstat.plan(ds, n_systems=20, target=float(found.width.min()) * 1.01, **asked, **prices)
    assert float(cheap.cost.min()) <= 1000


@pytest.mark.slow
def test_pilots_with_gaps_one_rater_one_system_or_two_metrics():
    whole = parts_of_a_difference(pilot(inputs=4000))
    ds = pilot(inputs=4000, missing=0.4)
    found = xsumstat.plan(ds, rating="people", estimand="difference", budget=900)
    for r in (1, 5):
        n = int(found.rated_inputs.sel(n_raters=r))
        assert float(found.width.sel(n_raters=r)) == pytest.approx(width_of(whole, n, 0, r), rel=0.03)
    single = pilot(raters=1)
    one = xsumstat.plan(single, rating="people", estimand="difference", budget=300)
    assert one.attrs["n_raters"] == 1
    apart = single.people.values[..., 0]
    sd = np.sqrt(np.mean([np.var(apart[a] - apart[b], ddof=1) for a in range(3) for b in range(a)]))
    assert float(one.standard_error.item()) == pytest.approx(sd / math.sqrt(100), rel=1e-9)
    alone = pilot(systems=1, raters=2)
    mean = xsumstat.plan(alone, rating="people", estimand="mean", budget=100, n_raters=2)
    own = alone.people.values[0].mean(axis=1)
    assert float(mean.standard_error) == pytest.approx(own.std(ddof=1) / math.sqrt(50), rel=1e-9)
    assert "2 ratings of each output of 1 system (cost 100 ratings). The 95 % interval of a system's mean is" in (
        mean.meta.conclusion()
    )
    two = xr.concat([alone, alone.assign_coords(metric=["other"])], "metric", data_vars="minimal")
    several = xsumstat.plan(two, rating="people", level="global", budget=100, n_raters=[1, 2])
    assert several.best.sum("n_raters").values.tolist() == [1, 1]
    with pytest.raises(ValueError, match="a difference needs two systems"):
        xsumstat.plan(alone, rating="people", estimand="difference", budget=100)


def test_what_is_refused():
    ds = pilot(inputs=10)
    asked = {"rating": "people", "level": "input", "budget": 100}
    judged = {**asked, "metric": "judge", "estimand": "difference"}
    for keywords, message in (
        ({**asked, "budget": 10}, "budget=10 is too small: the smallest design, 3 systems on 5 inputs with 1 rating"),
        ({**asked, "budget": 14.9}, "output, costs 15$"),
        ({**asked, "budget": []}, "budget is an empty list"),
        ({**asked, "budget": -1}, "budget must be at least 0"),
        ({**asked, "target": 0.2}, "budget and target are both given"),
        ({"rating": "people", "cost_per_rating": 2}, "both missing, and costs are given"),
        ({**asked, "cost_per_rating": 0}, "cost_per_rating must be above 0"),
        ({**asked, "cost_per_verdict": -1}, "cost_per_verdict must be at least 0"),
        ({**asked, "n_inputs": 50}, "leave n_inputs out"),
        ({**asked, "estimand": "agreemnt"}, "did you mean 'agreement'"),
        ({**asked, "estimand": "mean", "difference": 1.0}, "leave one out"),
        ({**asked, "estimand": "mean", "resample": "both"}, "is that of these systems"),
        ({**asked, "n_judged": 100}, "add metric= and estimand='difference'"),
        (judged, "n_judged=1000"),
        ({**judged, "n_judged": 4}, "n_judged must be at least 5"),
        ({**judged, "n_systems": 1, "n_judged": 50}, "n_systems must be at least 2"),
        ({**asked, "n_systems": 5}, "intervals for these 3 systems are planned"),
        ({"budget": 100, "n_raters": 2}, "n_raters=2 describes the raters of rating="),
        ({**asked, "method": "simulation"}, "does not take costs"),
        ({"budget": 100, "other": "judge"}, "without costs"),
        ({**asked, "resample": "inputs"}, "did you mean 'input'"),
        ({**asked, "resample": "both"}, "3 systems are too few to plan from"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            xsumstat.plan(ds, **keywords)
    with pytest.raises(TypeError, match="budget must be a number"):
        xsumstat.plan(ds, rating="people", budget="100")


def test_a_judge_that_knows_nothing_is_no_help_and_fixed_numbers_are_kept():
    ds = pilot()
    asked = {"rating": "people", "estimand": "difference", "metric": "judge", "budget": 300}
    found = xsumstat.plan(ds, n_judged=[100, 1000], **asked)
    assert found.judged_inputs.sel(n_judged=1000).values.ravel().tolist() == [1000] * 4
    assert bool((found.width.sel(n_judged=1000) <= found.width.sel(n_judged=100)).all())
    noise = ds.assign(score=ds.score.copy(data=np.random.default_rng(3).normal(size=ds.score.shape)))
    useless = xsumstat.plan(noise, n_judged=1000, **asked)
    assert bool((useless.width > 0.98 * useless.width_alone).all())
    assert "with ratings alone" in found.meta.conclusion() and useless.attrs["n_judged"] == 1000
    priced = xsumstat.plan(ds, n_judged=400, cost_per_verdict=0.1, n_raters=1, **asked)
    assert int(priced.rated_inputs.item()) == math.floor((300 - 400 * 0.3) / 3)


def test_words_tables_and_pictures(tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    found = xsumstat.plan(pilot(), rating="people", estimand="difference", budget=[300, 600])
    said = found.meta.conclusion()
    assert (
        "A budget of 300 ratings buys 100 inputs, 1 rating of each output of 3 systems, by the same raters for all "
        "systems on an input (cost 300 ratings). The" in said
    )
    assert said.endswith("Planned for these 3 systems on inputs like these.")
    assert found.meta.methods().startswith("We planned the numbers of inputs and ratings, by their costs")
    axis = found.meta.plot.plan()
    assert [text.get_text() for text in axis.texts][:2] == ["100", "50"]
    np.testing.assert_array_equal(axis.get_lines()[0].get_ydata(), found.width.sel(budget=300))
    cheap = xsumstat.plan(pilot(), rating="people", estimand="difference", target=0.5, cost_per_rating=1)
    np.testing.assert_array_equal(cheap.meta.plot.plan().get_lines()[0].get_ydata(), cheap.cost)
    with pytest.raises(ValueError, match="one design"):
        xsumstat.plan(pilot(), rating="people", estimand="mean", budget=300, n_raters=1).meta.plot.plan()
    plt.close("all")
    found.to_netcdf(tmp_path / "plan.nc")
    with xr.open_dataset(tmp_path / "plan.nc") as again:
        assert again.meta.conclusion() == said
    assert xsumstat.plan(pilot(), rating="people", level="global", target=0.001, cost_per_rating=1).best.dtype == bool


@pytest.mark.slow
@pytest.mark.ignore_codes("not_random")
def test_a_judge_narrows_as_it_is_planned():
    """Brute force: studies of 40 rated and 400 judged inputs, analysed with the judge."""
    widths = []
    for seed in range(150):
        ds = pilot(systems=2, inputs=400, raters=1, seed=seed)
        human = ds.people.mean("rater").where(ds.input < 40)
        one = ds[["score"]].meta.compare_systems(gold=human, metric="judge", method="ppi").isel(metric=0)
        widths.append(abs(float((one.ci_high - one.ci_low).isel(system=1, other_system=0))))
    plans = [
        xsumstat.plan(
            pilot(systems=2, inputs=80, raters=2, seed=seed),
            rating="people",
            estimand="difference",
            metric="judge",
            n_inputs=40,
            n_judged=400,
            n_raters=1,
        )  # fmt: skip
        for seed in range(1000, 1040)
    ]
    planned = np.mean([float(each.width.item()) for each in plans])
    assert planned == pytest.approx(np.mean(widths), rel=0.05)


@pytest.mark.slow
def test_documents_are_warned_of_and_planned_by_their_means():
    """A difference of two systems whose documents differ: planned by documents, 80 % are found; by inputs 45 %."""
    rng = np.random.default_rng(0)

    def drawn(documents, shift=0.0):
        of_input = np.repeat(np.arange(documents), 4)
        quality = 0.8 * rng.normal(size=(5, documents))[:, of_input] + 0.8 * rng.normal(size=(5, len(of_input)))
        quality[0] += shift
        rated = quality[..., None] + 0.6 * rng.normal(size=(*quality.shape, 3))
        ds = xr.Dataset({"score": (("metric", "system", "input"), rated.mean(axis=-1)[None])}, attrs={"gold": "human"})
        ds["rating"] = ("system", "input", "rater"), rated
        ds = ds.assign_coords(metric=["human"], kind=("metric", ["human"]), system=list("abcde"))
        return ds.assign_coords(document=("input", of_input))

    pilot, asked = drawn(50), {"rating": "rating", "difference": 0.3, "target": 0.8, "n_raters": [3]}
    with pytest.warns(
        UserWarning,
        match=r"from 50 documents.*; ds.groupby\('document'\).mean\(\).rename\(document='input'\) plans documents, "
        "each with 4 inputs, so multiply its inputs and ratings by 4",
    ):
        xsumstat.plan(pilot, **asked)
    means = pilot.groupby("document").mean().rename(document="input")
    n = int(xsumstat.plan(means, **asked).least_inputs.item())
    found = [
        drawn(n, 0.3).meta.compare_systems(metric="human", cluster="document").pvalue[0, 0, 1].item()
        for _ in range(200)
    ]
    assert 0.68 <= np.mean(np.array(found) <= 0.05) <= 0.92
