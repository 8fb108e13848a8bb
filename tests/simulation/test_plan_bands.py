"""Limits of planned widths: plans made anew without each system and each group of inputs, and how often they hold."""

import numpy as np
import pytest
import xarray as xr
from conftest import warns

import xsumstat
from xsumstat.simulation import plan_bands

pytestmark = pytest.mark.ignore_codes("rough_plan")


def pilot(rng, agreement, shape=(20, 50)):
    """Normal effects of systems, inputs and cells, of sd 1 each."""
    sides = ((shape[0], 1), (1, shape[1]), shape)
    one, two = (sum(each) for each in zip(*(_pair(rng, side, agreement) for side in sides), strict=True))
    return xr.Dataset(
        {"score": (("metric", "system", "input"), np.array([one, two]))},
        {"metric": ["human", "m"], "system": np.arange(shape[0]), "input": np.arange(shape[1])},
        {"gold": "human"},
    )


def _pair(rng, shape, r):
    one, other = rng.normal(size=(2, *shape))
    return one, r * one + np.sqrt(1 - r**2) * other


def widths_without(ds, dim, groups, **asked):
    """The logarithm of the width that is planned without each group of labels; its own limits go by two blocks."""
    where, blocks = np.arange(ds.sizes[dim]) % groups, plan_bands._blocks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan_bands, "_blocks", lambda size, most: blocks(size, 2))
        plans = [xsumstat.plan(ds.isel({dim: where != group}), **asked) for group in range(groups)]
    return np.log([each.width.item() for each in plans])


@pytest.mark.parametrize(
    "asked",
    [
        {"level": "input", "coefficient": "kendall"},
        pytest.param({"level": "system"}, marks=pytest.mark.slow),
        {"level": "system", "coefficient": "pairwise_accuracy", "method": "formula", "confidence_level": 0.9},
    ],
)
def test_limits_are_those_of_the_plan_without_each(asked):
    stats = pytest.importorskip("scipy.stats")
    ds = pilot(np.random.default_rng(1), 0.7, (10, 12))
    asked = {"metric": "m", "n_systems": 30, "n_inputs": 40, **asked}
    found = xsumstat.plan(ds, **asked).squeeze("metric")
    variance = sum((n - 1) * np.var(widths_without(ds, dim, n, **asked)) for dim, n in (("system", 10), ("input", 12)))
    reach = np.exp(stats.t.ppf((1 + asked.get("confidence_level", 0.95)) / 2, 9) * np.sqrt(variance))
    assert float(found.width_low) == pytest.approx(float(found.width) / reach, rel=1e-9)
    assert float(found.width_high) == pytest.approx(float(found.width) * reach, rel=1e-9)
    assert float(found.width_low) < float(found.width) < float(found.width_high)


def test_many_labels_are_left_out_in_blocks():
    assert [each.tolist() for each in plan_bands._blocks(5, 2)] == [[0, 2, 4], [1, 3]]
    assert [each.tolist() for each in plan_bands._blocks(3, 20)] == [[0], [1], [2]]


@pytest.mark.slow
def test_limits_of_raters_leave_ratings_out_too():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(2)
    ds = pilot(rng, 0.7, (9, 8))
    ds["people"] = ds.score.sel(metric="human", drop=True) + xr.DataArray(rng.normal(size=(9, 8, 3)), dims=(
        "system", "input", "rater"))  # fmt: skip
    del ds.attrs["gold"]
    asked = {"rating": "people", "metric": "m", "level": "input", "n_systems": 30, "n_inputs": 40, "n_raters": 1}
    found = xsumstat.plan(ds, **asked).squeeze("metric")
    variance = sum((n - 1) * np.var(widths_without(ds, dim, n, **asked)) for dim, n in (("system", 9), ("input", 8)))
    reach = np.exp(stats.t.ppf(0.975, 8) * np.sqrt(variance))
    assert float(found.width_low) == pytest.approx(float(found.width) / reach, rel=1e-9)
    assert float(found.width_high) == pytest.approx(min(2, float(found.width) * reach), rel=1e-9)  # -1 to 1
    more = xsumstat.plan(ds, **(asked | {"n_raters": [1, 3]})).squeeze("metric")
    np.testing.assert_allclose(more.width_high.sel(n_raters=1), found.width_high)


def test_simulated_widths_add_the_simulations_error(demo):
    asked = {"metric": "judge", "n_systems": 10, "n_inputs": 30}
    drawn = xsumstat.plan(demo, n_trials=30, rng=1, **asked).squeeze("metric")
    formula = xsumstat.plan(demo, method="formula", **asked).squeeze("metric")
    assert bool(drawn.simulated) and not bool(formula.simulated)
    q = 2.200985  # t of 11 degrees of freedom at .975
    by_formula = np.log(float(formula.width / formula.width_low)) / q
    own = np.log(float(drawn.width / drawn.width_low)) / q
    assert own == pytest.approx(np.hypot(by_formula, float(drawn.mc_error / drawn.width)), rel=1e-5)


def test_a_model_is_known_and_equal_scores_have_no_limits():
    model = xsumstat.simulate(agreement={"judge": 0.8}, truth=False, rng=1)
    assert bool(xsumstat.plan(model, n_systems=[20, 40], n_inputs=50).width_low.isnull().all())
    ds = pilot(np.random.default_rng(3), 0.7)
    ds["score"] = xr.where(ds.metric == "m", ds.score.sel(metric="human"), ds.score)
    with warns("leakage"):
        found = xsumstat.plan(ds, metric="m", n_systems=20, n_inputs=[50, 100])
    assert not bool((found.width_low > 0).any())


def test_the_conclusion_says_how_rough_a_plan_is():
    found = xsumstat.plan(pilot(np.random.default_rng(4), 0.6), metric="m", n_systems=[20, 40], n_inputs=[50, 100])
    low, high = (float((found[each] / found.width).median()) for each in ("width_low", "width_high"))
    assert (
        f"As these data are uncertain, a width may be {low:.2g} to {high:.2g} times the planned one"
        in found.meta.conclusion()
    )


@pytest.mark.slow
@pytest.mark.parametrize("level", ["input", "system"])
def test_limits_hold_the_width_of_a_large_pilot(level, n_pilots=40):
    asked = {"metric": "m", "level": level, "n_systems": 40, "n_inputs": 50}
    rng = np.random.default_rng(5)
    truth = np.exp(np.mean([np.log(xsumstat.plan(pilot(rng, 0.6, (200, 100)), **asked).width) for _ in range(3)]))
    plans = [xsumstat.plan(pilot(rng, 0.6), **asked).squeeze("metric") for _ in range(n_pilots)]
    held = np.mean([float(each.width_low) <= truth <= float(each.width_high) for each in plans])
    assert held >= 0.85
    spread = np.std([np.log(each.width) for each in plans], ddof=1)
    said = np.sqrt(np.mean([(np.log(each.width_high / each.width) / 2.093024) ** 2 for each in plans]))
    assert said == pytest.approx(spread, rel=0.4)
