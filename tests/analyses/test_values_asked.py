"""Agreement on people's own scale in the questions that take a coefficient: ceilings, groups, tests, best systems."""

import itertools

import numpy as np
import pytest
import xarray as xr
from conftest import dataset
from helpers import by_turns

from xsumstat.coefficients.table import COEFFICIENTS

sklearn = pytest.importorskip("sklearn.metrics")


def verdicts(seed=0, shape=(5, 40), raters=3):
    """Passes by two judges and three raters."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=shape) + 0.5 * rng.normal(size=shape[:1])[:, None]
    x = np.stack([latent + noise * rng.normal(size=shape) for noise in (0.5, 1.5, 0.0)]) > 0
    rating = np.stack([latent + 0.5 * rng.normal(size=shape) for _ in range(raters)], axis=-1) > 0
    ds = dataset(x).assign_coords(metric=["good", "poor", "human"], domain=("input", ["a", "b"] * 20))
    return ds.assign(rating=(("system", "input", "rater"), rating.astype(float)))


ASK = {"level": "global", "coefficient": "kappa"}


def kappa(z, x):
    return sklearn.cohen_kappa_score(np.ravel(z), np.ravel(x))


@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_the_ceiling_of_classes_sets_each_rater_beside_each_other(method):
    ds = verdicts()
    rating = ds.rating.values
    how = {"method": method} | ({"n_resamples": 19, "rng": 0} if method == "bootstrap" else {})
    found = ds.meta.human_ceiling("rating", metric=["good", "poor"], **ASK, **how)
    for at in range(3):
        others = [other for other in range(3) if other != at]
        want = np.mean([kappa(rating[..., other], rating[..., at]) for other in others])
        assert float(found.by_rater.sel(metric="rater")[at]) == pytest.approx(want, abs=1e-12)
        want = np.mean([kappa(rating[..., other], ds.score.values[0]) for other in others])
        assert float(found.by_rater.sel(metric="good")[at]) == pytest.approx(want, abs=1e-12)
    pairs = [kappa(rating[..., b], rating[..., a]) for a, b in itertools.permutations(range(3), 2)]
    assert float(found.correlation.sel(metric="rater")) == pytest.approx(np.mean(pairs), abs=1e-12)
    assert found.sizes["rater"] == 3
    assert "with each other rater (" in found.meta.conclusion()
    assert "agrees with each other rater" in found.meta.methods()


def test_values_keep_the_mean_of_the_others():
    ds = verdicts()
    found = ds.meta.human_ceiling("rating", metric=["good"], level="global", coefficient="weighted_kappa")
    others = ds.rating.isel(rater=[1, 2]).mean("rater").values
    x = ds.score.values[0]
    want = (
        2 * np.cov(x.ravel(), others.ravel(), ddof=0)[0, 1] / (x.var() + others.var() + (x.mean() - others.mean()) ** 2)
    )
    assert float(found.by_rater.sel(metric="good")[0]) == pytest.approx(want, abs=1e-12)


@pytest.mark.ignore_codes("few_systems")
def test_the_better_judge_is_found_and_groups_have_their_own():
    ds = verdicts()
    z, good, poor = ds.score.sel(metric="human").values, ds.score.values[0], ds.score.values[1]
    found = ds.meta.compare_metrics("human", metric="good", other="poor", resample="input", **ASK)
    assert float(found.difference.squeeze()) == pytest.approx(kappa(z, good) - kappa(z, poor), abs=1e-12)
    assert float(found.pvalue.squeeze()) < 0.05
    drawn = ds.meta.boot_test("human", metric="good", other="poor", n_resamples=99, rng=0, **ASK)
    assert float(drawn.difference.squeeze()) == pytest.approx(float(found.difference.squeeze()), abs=1e-12)
    by_domain = ds.meta.ci("human", metric="good", by="domain", **ASK).correlation.squeeze("metric")
    half = ds.domain.values == "a"
    assert float(by_domain.sel(domain="a")) == pytest.approx(kappa(z[:, half], good[:, half]), abs=1e-12)
    groups = ds.meta.compare_groups("human", by="domain", metric="good", **ASK)
    want = kappa(z[:, half], good[:, half]) - kappa(z[:, ~half], good[:, ~half])
    assert float(groups.difference.sel(domain="a", other_domain="b").squeeze()) == pytest.approx(want, abs=1e-12)
    best = ds.meta.top_k_corr("human", k=[5, 3], metric="good", method="jackknife", **ASK)
    order = np.argsort(-z.mean(axis=1), kind="stable")[:3]
    assert float(best.correlation.sel(k=3).squeeze()) == pytest.approx(kappa(z[order], good[order]), abs=1e-12)


@pytest.mark.parametrize("coefficient", by_turns([name for name, each in COEFFICIENTS.items() if each.scale]))
def test_lazy_intervals_and_tests_have_the_same_bits(coefficient):
    ds = verdicts().drop_vars("rating")
    how = {"metric": "good", "level": "global", "coefficient": coefficient}
    for ask in (
        lambda d: d.meta.ci("human", **how),
        lambda d: d.meta.ci("human", method="bootstrap", n_resamples=19, rng=0, **{**how, "level": "input"}),
        lambda d: d.meta.perm_test("human", other="poor", n_resamples=19, rng=0, **how),
    ):
        eager, lazy = ask(ds), ask(ds.chunk({"metric": 1}))
        assert any(each.chunks for each in lazy.data_vars.values())
        for name in ("correlation", "ci_low", "ci_high", "pvalue", "difference"):
            if name in eager:
                xr.testing.assert_equal(eager[name].drop_attrs(), lazy[name].compute().drop_attrs())


def test_formulas_of_correlations_are_refused():
    ds = verdicts()
    with pytest.raises(ValueError, match="formulas are for correlations.*compare_metrics"):
        ds.meta.corr_test("human", **ASK)
    with pytest.raises(ValueError, match="method='tost_analytic' has a formula for correlations"):
        ds.meta.equivalence("human", metric="good", other="poor", margin=0.1, method="tost_analytic", **ASK)
    with pytest.raises(ValueError, match="compares single outputs, and needs level='input'"):
        ds.meta.corr("human", coefficient="kappa")
    found = ds.meta.equivalence("human", metric="good", other="poor", margin=0.1, method="jackknife", **ASK)
    assert not bool(found.equivalent.squeeze())
