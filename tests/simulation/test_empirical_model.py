"""Scores drawn like given ones: their covariances, grades, gaps and spreads."""

import contextlib

import numpy as np
import pytest
import xarray as xr

import xsumstat
from xsumstat.coefficients import table
from xsumstat.inference import components
from xsumstat.resampling import threads
from xsumstat.simulation import empirical_model
from xsumstat.simulation.empirical_model import EmpiricalModel

EFFECTS = tuple(components.EFFECTS.values())


def crossed(seed, shape=(12, 30), n_metrics=2):
    """Metrics and gold of common effects, and effects of their own."""
    rng = np.random.default_rng(seed)
    sizes = (shape[0], 1), (1, shape[1]), shape
    gold = [rng.exponential(size=size) for size in sizes]
    scores = [sum(2 * each + 0.8 * rng.normal(size=each.shape) for each in gold) for _ in range(n_metrics)]
    return np.array(scores), sum(gold)


def with_gaps(gold, share, seed=0):
    return np.where(np.random.default_rng(seed).random(gold.shape) < share, np.nan, gold)


@pytest.mark.parametrize("share, n_metrics", [(0.0, 2), (0.4, 2), (0.0, 20)])
def test_what_is_drawn_has_the_estimated_covariances(share, n_metrics):
    scores, gold = crossed(1, n_metrics=n_metrics)
    gold = with_gaps(gold, share)
    model = EmpiricalModel.of(scores, gold)
    raw, _ = components.estimates(np.concatenate([scores, gold[None]]), EFFECTS)
    target = components.repaired(raw)
    sd = np.sqrt(np.diagonal(target, axis1=1, axis2=2))
    scale = sd[:, :, None] * sd[:, None]
    assert np.abs((model.covariances() - target) / np.where(scale > 0, scale, 1)).max() < 0.02


def test_new_scores_have_these_components():
    scores, gold = crossed(2)
    model = EmpiricalModel.of(scores, gold)
    drawn, human = model.draw((3000, 300), np.random.default_rng(3))
    found, _ = components.estimates(np.concatenate([drawn, human[None]]), EFFECTS, errors=False)
    want = model.covariances()
    np.testing.assert_allclose(found[[0, 2]], want[[0, 2]], rtol=0.12)
    np.testing.assert_allclose(found[1], want[1], rtol=0.35)
    mean = scores.mean(axis=(1, 2))
    np.testing.assert_allclose(drawn.mean(axis=(1, 2)), mean, atol=0.35)


@pytest.mark.parametrize("level", ["system", "input", "global"])
def test_pearson_in_the_population_is_that_of_large_draws(level):
    scores, gold = crossed(4)
    model = EmpiricalModel.of(scores, gold)
    assert model.whole
    (closed,), (error,) = model.population(level, [table.COEFFICIENTS["pearson"]], 30)
    assert error == 0
    system, input, cell = model.covariances()
    share = {"system": system + cell / 30, "input": system + cell, "global": system + input + cell}[level]
    np.testing.assert_allclose(closed, share[:-1, -1] / np.sqrt(np.diag(share)[:-1] * share[-1, -1]))
    rng = np.random.default_rng(5)
    x, z = model.draw((20_000, 30), rng)
    if level == "system":
        again = [np.corrcoef(each.mean(axis=1), z.mean(axis=1))[0, 1] for each in x]
    elif level == "input":
        again = [np.mean([np.corrcoef(each[:, j], z[:, j])[0, 1] for j in range(30)]) for each in x]
    else:
        x, z = model.draw((400_000, 1), rng, crossed=False)
        again = [np.corrcoef(each[:, 0], z[:, 0])[0, 1] for each in x]
    np.testing.assert_allclose(closed, again, atol=0.012)


def test_ranks_in_the_population_are_those_of_large_draws():
    scipy = pytest.importorskip("scipy.stats")
    scores, gold = crossed(6)
    model = EmpiricalModel.of(scores, np.rint(gold))
    (found,), (error,) = model.population("input", [table.COEFFICIENTS["spearman"]], 30)
    x, z = model.draw((5000, 20), np.random.default_rng(7))
    again = np.mean([scipy.spearmanr(x[0][:, j], z[:, j]).statistic for j in range(20)])
    assert 0 < error < 0.01 and found[0] == pytest.approx(again, abs=0.02)


def test_systems_keep_spreads_of_their_own():
    rng = np.random.default_rng(8)
    spread = np.where(np.arange(20) < 10, 0.2, 2.0)[:, None]
    gold = rng.normal(size=(20, 1)) + spread * rng.normal(size=(20, 50))
    model = EmpiricalModel.of((gold + 0.1 * rng.normal(size=gold.shape))[None], gold)
    _, human = model.draw((400, 60), rng)
    sd = human.std(axis=1)
    assert 0.35 < np.mean(sd < 0.6) < 0.65 and 0.35 < np.mean(sd > 1.4) < 0.65


def test_grades_and_gaps_are_those_of_the_data():
    scores, gold = crossed(9)
    gold = with_gaps(np.clip(np.rint(gold - 3), -2, 2), 0.3)
    gold[3, 5:] = np.nan
    model = EmpiricalModel.of(scores, gold)
    assert not model.whole
    drawn, human = model.draw((200, 40), np.random.default_rng(1))
    assert set(human[np.isfinite(human)]) <= {-2, -1, 0, 1, 2}
    assert np.nanmean(human) == pytest.approx(np.nanmean(gold), abs=0.25)  # the nearest grade, not the one below
    for grade in (-2, 2):
        assert np.nanmean(human == grade) == pytest.approx(np.nanmean(gold == grade), abs=0.08)
    assert np.isnan(human).mean() == pytest.approx(np.isnan(gold).mean(), abs=0.05)
    assert (np.isfinite(human).mean(axis=1) < 0.3).mean() == pytest.approx(1 / 12, abs=0.08)
    assert len(np.unique(drawn[0])) == drawn[0].size


def test_cells_of_systems_vary_as_their_unbiased_variances():
    """Of ten and of 40 cells: what is drawn from n cells has their spread by n − 1, but for one factor."""
    rng = np.random.default_rng(3)
    residuals = rng.normal(size=(2, 40, 1)) * np.array([1.0, 2.0])[:, None, None]
    residuals[0, 10:] = np.nan
    pools, counts = empirical_model._pools(residuals, np.eye(1))
    assert counts.tolist() == [10, 40]
    drawn = [(each[:n] ** 2).mean() for each, n in zip(pools, counts, strict=True)]
    want = [np.var(residuals[0, :10], ddof=1), np.var(residuals[1], ddof=1)]
    assert drawn[1] / drawn[0] == pytest.approx(want[1] / want[0]) and np.mean(drawn) == pytest.approx(1)


@pytest.mark.parametrize(
    ("values", "each", "graded"),
    [(3, 5, True), (3, 4, False), (100, 5, True), (101, 5, False)],
)
def test_a_score_has_grades_where_they_are_few_and_each_stands_often(values, each, graded):
    found = empirical_model._grades(np.tile(np.arange(float(values)), each).reshape(1, -1))
    assert (found is not None) == graded
    if graded:
        np.testing.assert_array_equal(found, np.arange(values))


def test_effects_that_cannot_be_told_apart_are_refused():
    gold = np.full((3, 6), np.nan)
    for at in range(6):
        gold[at % 3, at] = at**2
    with pytest.raises(ValueError, match="too few outputs to separate the effects"):
        EmpiricalModel.of(np.random.default_rng(0).normal(size=(1, 3, 6)), gold)


# --- simulate(like=) ---


def test_simulate_like_has_the_names_and_sizes_of_the_data(demo):
    found = xsumstat.simulate(like=demo, metric=["judge", "rouge"], truth=False, rng=1)
    assert found.metric.values.tolist() == ["human", "judge", "rouge"] and found.attrs["gold"] == "human"
    assert (found.sizes["system"], found.sizes["input"]) == (demo.sizes["system"], demo.sizes["input"])
    assert found.identical(xsumstat.simulate(like=demo, metric=["judge", "rouge"], truth=False, rng=1))
    other = xsumstat.simulate(30, 7, like=demo, metric="judge", truth=False, rng=2)
    assert dict(other.score.sizes) == {"metric": 2, "system": 30, "input": 7}
    assert float(found.meta.corr(level="input").correlation.sel(metric="judge")) > 0.3
    gold = demo.score.sel(metric="human", drop=True).rename("ratings")
    named = xsumstat.simulate(like=demo, gold=gold, metric="judge", truth=False, rng=1)
    np.testing.assert_array_equal(
        named.score[1], xsumstat.simulate(like=demo, metric="judge", truth=False, rng=1).score[1]
    )
    assert named.attrs["gold"] == "ratings"


@pytest.mark.slow
def test_simulate_like_knows_the_truth(demo):
    found = xsumstat.simulate(like=demo, metric="judge", rng=1)
    components_of = demo.meta.variance_components("human", metric="judge").covariance
    total = components_of.sel(effect="system") + components_of.sel(effect="cell") / demo.sizes["input"]
    want = float(total[0, 1] / np.sqrt(total[0, 0] * total[1, 1]))
    truth = found.truth.sel(metric="judge", coefficient="pearson")
    assert float(truth.sel(level="system")) == pytest.approx(want, abs=0.02)
    assert "Simulated scores; true correlations" in found.meta.conclusion()
    assert "like 12 systems on 30 inputs" in found.meta.methods()


@pytest.mark.parametrize(
    "keywords, error, message",
    [
        ({"likert": 5}, ValueError, "like= takes all from the scores that are given; leave out 'likert'"),
        ({"agreement": {"a": 0.5}, "missing": 0.1}, ValueError, "leave out 'agreement', 'missing'"),
        ({"n_systems": 1}, ValueError, "n_systems must be at least 2"),
        ({"metric": "juge"}, ValueError, "did you mean 'judge'"),
    ],
)
def test_simulate_like_refuses(demo, keywords, error, message):
    with pytest.raises(error, match=message):
        xsumstat.simulate(like=demo, **keywords)


def test_simulate_like_refuses_what_are_no_scores(demo):
    with pytest.raises(TypeError, match="like must be a Dataset"):
        xsumstat.simulate(like=demo.score)
    with pytest.raises(ValueError, match="gold= names scores in like="):
        xsumstat.simulate(gold="human")
    with pytest.raises(ValueError, match="additional dim"):
        xsumstat.simulate(like=demo.expand_dims(language=["en", "de"]))
    with pytest.raises(ValueError, match="scores are lazy"):
        xsumstat.simulate(like=demo.chunk())
    drawn = xsumstat.simulate(like=demo, metric="judge", truth=False, rng=1)
    with pytest.raises(ValueError, match="drawn like others"):
        xsumstat.coverage(drawn, truth="population", n_trials=2)


def test_scores_that_new_ones_are_not_like_are_named():
    rng = np.random.default_rng(3)
    gold = 0.1 * rng.normal(size=(16, 60)) + rng.normal(size=(16, 1)) * 0.05
    gold[0] -= 60.0  # one system far below the others, which half of new sets lack
    judge = gold + 3 * rng.normal(size=gold.shape)
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), np.array([gold, judge]))},
        {"metric": ["human", "judge"], "system": np.arange(16), "input": np.arange(60)},
        {"gold": "human"},
    )
    with pytest.warns(UserWarning, match="not like the given scores: .*'judge'"):
        xsumstat.simulate(like=ds, truth=False, rng=1)


# --- coverage and power ---


def test_coverage_of_scores_like_mine(demo):
    intervals = {"jackknife": {"method": "jackknife"}}
    found = xsumstat.coverage(
        demo, metric="judge", truth="population", level="input", intervals=intervals, n_systems=[8, 16], n_inputs=20,
        n_trials=150, rng=1,
    )  # fmt: skip
    assert bool((found.coverage > 0.86).all()) and found.attrs["model"] == "like the scores"
    assert bool((found.width.sel(n_systems=8) > found.width.sel(n_systems=16)).all())


@pytest.mark.slow
def test_power_between_two_metrics(demo):
    tests = {"williams": {"test": "corr_test"}, "perm": {"test": "perm_test"}}
    keywords = {"level": "input", "tests": tests, "n_trials": 60, "n_resamples": 99, "rng": 1}
    found = xsumstat.power(demo, metric=["judge", "bleu"], other=["bleu", "judge"], **keywords)
    assert found.power.dims == ("test", "metric", "other_metric")
    assert np.isnan(found.power.sel(metric="judge", other_metric="judge")).all()
    assert bool((found.power.sel(test="perm", metric="judge", other_metric="bleu") > 0.9).all())
    assert bool((found.power.sel(metric="bleu", other_metric="judge") == 0).all())
    assert "Power at .05" in xsumstat.power(demo, metric="judge", other="bleu", **keywords).meta.conclusion()
    plt = pytest.importorskip("matplotlib.pyplot")
    found.meta.plot.power()
    plt.close("all")


@pytest.mark.slow
def test_power_between_equal_metrics_is_the_level():
    ds = xsumstat.simulate(16, 50, agreement={"a": 0.6, "b": 0.6}, truth=False, rng=1)
    tests = {"williams": {"test": "corr_test"}}
    found = xsumstat.power(ds, metric="a", other="b", level="system", tests=tests, n_trials=2000, rng=1)
    assert float(found.power.squeeze()) == pytest.approx(0.05, abs=0.02)


def test_power_grows_with_inputs(demo):
    tests = {"perm": {"test": "perm_test"}}
    found = xsumstat.power(
        demo, metric="judge", other="bertscore", level="input", tests=tests, n_inputs=[4, 40], n_trials=100,
        n_resamples=99, rng=1,
    )  # fmt: skip
    few, many = found.power.squeeze().values
    assert many > few + 0.1


# --- Some systems at a time ---


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("crossed_cells", [True, False])
def test_scores_do_not_depend_on_how_many_systems_are_drawn_at_a_time(monkeypatch, share, crossed_cells):
    scores, gold = crossed(3)
    model = EmpiricalModel.of(scores, with_gaps(np.rint(gold), share))
    together = model.draw((40, 25), np.random.default_rng(1), crossed=crossed_cells)
    monkeypatch.setattr(empirical_model, "_DRAWN_AT_ONCE", 200)  # two systems
    by_two = model.draw((40, 25), np.random.default_rng(1), crossed=crossed_cells)
    for one, two in zip(together, by_two, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("missing", ["pairwise", "available"])
def test_truth_at_system_level_is_that_of_plain_means(monkeypatch, share, missing):
    monkeypatch.setattr(empirical_model, "population_sizes", lambda level, n_inputs: (60, n_inputs, 2))
    scores, gold = crossed(4)
    model = EmpiricalModel.of(scores, with_gaps(np.rint(gold), share))
    (found,), (error,) = model.population("system", [table.COEFFICIENTS["pearson"]], 15, missing)
    want = []
    for source in np.random.SeedSequence(0).spawn(2):
        x, z = model.draw((60, 15), np.random.Generator(np.random.SFC64(source)))
        own = [np.where(np.isnan(z), np.nan, each) if missing == "pairwise" else each for each in x]
        means = np.nanmean(z, axis=1)
        there = np.isfinite(means)
        want.append([np.corrcoef(np.nanmean(each, axis=1)[there], means[there])[0, 1] for each in own])
    np.testing.assert_allclose(found, np.mean(want, axis=0), rtol=1e-10)
    assert error == pytest.approx(np.std(want, axis=0).max(), rel=1e-8)


def test_a_bar_shows_how_far_it_is(monkeypatch, demo):
    steps = []

    @contextlib.contextmanager
    def shown(total, progress, **style):
        assert progress is None and style["desc"] == "simulating"
        yield steps.append
        steps.append(-total)

    monkeypatch.setattr(threads, "_shown", shown)
    xsumstat.simulate(like=demo, metric="judge", truth=False, rng=1)
    assert len(steps) > 20 and sum(steps) == pytest.approx(0)
    steps.clear()
    xsumstat.simulate(6, 5, truth=True, rng=1)
    assert sum(steps) == pytest.approx(0) and steps[-1] == -4


@pytest.mark.parametrize("n_grades", [1, 2, 7, 25, 26, 100])
def test_a_value_becomes_the_grade_next_to_it_and_the_lower_of_two(n_grades):
    grades = np.cumsum(np.arange(1.0, n_grades + 1))
    middle = (grades[1:] + grades[:-1]) / 2
    values = np.concatenate([grades, middle, middle + 0.1, [-5.0, 1e6]])
    nearest = [min(grades, key=lambda grade, value=value: (abs(grade - value), grade)) for value in values]
    assert empirical_model._nearest(grades, values).tolist() == nearest
