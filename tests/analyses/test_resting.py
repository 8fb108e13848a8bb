"""Intervals that rest on one system are warned of, once a call, and nothing else changes."""

import warnings

import numpy as np
import pytest
from conftest import dataset, of_code

import xsumstat
from xsumstat.analyses.measure import checked_measure
from xsumstat.coefficients import leave_one_out
from xsumstat.inference.jackknife import FAR, rests_on

BOTH = ("system", "input")


def crossed(rng, shape, rho=0.6, metrics=1, system_sd=0.6):
    """The gold and metrics, each with effects of systems, inputs and cells that agree with the gold's by rho."""
    made = 0.0
    for sd, size in ((system_sd, (shape[0], 1)), (0.4, (1, shape[1])), (1.0, shape)):
        own = rng.normal(size=(1 + metrics, *size))
        made = made + sd * np.array([own[0], *(rho * own[0] + np.sqrt(1 - rho**2) * own[1:])])
    return made


def bad(shape=(10, 40), at=3, metrics=2, seed=1, below=4.0):
    scores = crossed(np.random.default_rng(seed), shape, metrics=metrics)
    scores[:, at] -= below
    return scores


def said(ask):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ask()
    return found, of_code(caught, "rests_on_one_system")


def measured(level, name="pearson"):
    return checked_measure(level, name, "pairwise", "drop")


@pytest.mark.parametrize("level", ["input", "global"])
def test_it_is_the_t_statistic_of_the_system_set_apart(level):
    """By leaving out each system in fact, and least squares with a column for the one that lies farthest off."""
    seen = set()
    for seed in range(12):
        gold, x = bad((8, 12), metrics=1, seed=seed, below=4.0 * (seed % 2))

        def value(x, z):
            if level == "global":
                return np.corrcoef(x.ravel(), z.ravel())[0, 1]
            return np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(x.T, z.T, strict=True)])

        without = np.array([value(np.delete(x, i, 0), np.delete(gold, i, 0)) for i in range(8)])
        at = np.argmax(np.abs(without - without.mean()))
        design = np.column_stack([np.ones(8), np.arange(8) == at])
        (_, slope), (residual,), *_ = np.linalg.lstsq(design, without, rcond=None)
        t = slope / np.sqrt(residual / 6 * np.linalg.inv(design.T @ design)[1, 1])
        found = rests_on(leave_one_out.of(x, gold, measured(level)), BOTH)
        assert found == (at if abs(t) > FAR else -1)
        seen.add(found >= 0)
    assert seen == {True, False}


@pytest.mark.parametrize("level, coefficient", [("input", "pearson"), ("global", "pearson"), ("global", "pdp")])
def test_the_system_is_named_and_what_to_do(level, coefficient):
    ds = dataset(bad(seed=5, below=8.0))
    _, texts = said(lambda: ds.meta.ci("m0", metric=["m1", "m2"], level=level, coefficient=coefficient))
    assert len(texts) == 1 and "'m1' (system 's3')" in texts[0] and "coefficient='kendall'" in texts[0]
    assert "leave it out" in texts[0]


def test_nothing_is_said_where_no_system_is_random_or_means_are_correlated():
    ds = dataset(bad(seed=5, below=8.0))
    for keywords in ({"level": "input", "resample": "input"}, {"level": "system"}, {"level": "within_system"}):
        assert not said(lambda given=keywords: ds.meta.ci("m0", **given))[1]
    asked = {"level": "input", "method": "bootstrap", "n_resamples": 20, "rng": 0}
    assert not said(lambda: ds.meta.ci("m0", **asked))[1]
    assert not said(lambda: ds.isel(system=slice(4)).meta.ci("m0", level="input"))[1]


def test_three_metrics_are_named_and_how_many_there_are():
    ds = dataset(bad(metrics=5, at=0, seed=3, below=8.0))
    (text,) = said(lambda: ds.meta.ci("m0", level="input"))[1]
    assert text.count("(system 's0')") == 3 and "… (5 in all)" in text


def test_systems_that_have_no_score_do_not_shift_the_name():
    scores = bad(at=6, metrics=2, seed=5, below=8.0)
    scores[1, :3] = np.nan  # of one metric alone
    (text,) = said(lambda: dataset(scores).meta.ci("m0", metric="m1", level="input"))[1]
    assert "'m1' (system 's6')" in text


def test_it_is_said_once_a_call():
    ds = dataset(bad(metrics=3, seed=5, below=8.0))
    by = ds.assign_coords(half=("input", np.arange(40) % 2))
    for ask in (
        lambda: ds.meta.metric_ci(level="input"),
        lambda: ds.meta.top_k_corr("m0", k=[10, 8], level="input", by="m1"),
        lambda: by.meta.ci("m0", level="input", by="half"),
        lambda: ds.meta.ci("m0", metric="m1", other=["m2", "m3"], level="input"),
    ):
        assert len(said(ask)[1]) <= 1
    assert len(said(lambda: ds.meta.metric_ci(level="input"))[1]) == 1
    assert len(said(lambda: ds.meta.ci("m0", metric="m1", other="m2", level="input"))[1]) == 1


def test_of_lazy_scores_it_is_said_when_they_are_computed():
    pytest.importorskip("dask")
    ds = dataset(bad(seed=5, below=8.0)).chunk(metric=1)
    for ask in (lambda: ds.meta.ci("m0", level="input"), lambda: ds.meta.metric_ci(level="input")):
        lazy, before = said(ask)
        assert not before
        assert len(said(lambda made=lazy: made.compute(scheduler="synchronous"))[1]) == 1


def test_the_result_has_no_more_variables_than_before():
    got = said(lambda: dataset(bad()).meta.ci("m0", level="input"))[0]
    assert "rests_on" not in got


def test_demo_is_not_warned_of():
    ds = xsumstat.load_dataset("demo")
    for level in ("input", "global"):
        assert not said(lambda at=level: ds.meta.ci("human", level=at))[1]


def share(systems, trials, **made):
    """Of sets of four metrics, and of metrics, how many are warned of."""
    how, found = measured("input"), []
    for seed in range(trials):
        rng = np.random.default_rng((systems, seed))
        scores = crossed(rng, (systems, 20), metrics=4, system_sd=made.get("system_sd", 0.6))
        scores[:, 0] -= made.get("below", 0.0)
        found.append([rests_on(leave_one_out.of(x, scores[0], how), BOTH) for x in scores[1:]])
    found = np.array(found) >= 0
    return found.any(axis=1).mean(), found.mean()


def test_clean_scores_are_rarely_warned_of_and_one_bad_system_is():
    assert share(8, 60)[0] <= 0.04
    of_sets, of_metrics = share(10, 40, below=4.0)
    assert of_sets >= 0.85 and of_metrics >= 0.65


@pytest.mark.slow
@pytest.mark.parametrize("systems", [8, 16, 60])
def test_how_often_it_is_said(systems):
    for system_sd in (0.6, 1.5):
        assert share(systems, 400, system_sd=system_sd)[0] <= 0.03
    assert share(systems, 200, below=4.0)[0] >= 0.85
