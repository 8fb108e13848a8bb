import functools
import json

import numpy as np
import pytest
import scipy.stats
from helpers import LEVELS

import xsumstat

AGREEMENT = {"judge": {"system": 0.9, "input": 0.2, "cell": 0.5}, "length": {"system": -0.4, "input": 0.8, "cell": 0.0}}
EFFECTS = {"system": 0.5, "input": 0.7, "cell": 1.0}
METRIC_EFFECTS = {"system": 2.0, "input": 1.0, "cell": 3.0}
COEFFICIENTS = ("pearson", "spearman", "kendall", "kendall_a", "pairwise_accuracy")


def pearson(metric, weights):
    """r of two sums of effects, by the variances; `weights` are those of system, input and cell."""
    rho, sd, own = (np.array(list(each.values())) for each in (AGREEMENT[metric], EFFECTS, METRIC_EFFECTS))
    return (weights * rho * sd * own).sum() / np.sqrt((weights * sd**2).sum() * (weights * own**2).sum())


@pytest.mark.parametrize("metric", AGREEMENT)
def test_the_truth_follows_from_the_variances(metric):
    settings = {"agreement": AGREEMENT, "effects": EFFECTS, "metric_effects": METRIC_EFFECTS, "rng": 0}
    truth = xsumstat.simulate(5, 40, **settings).truth.sel(metric=metric)
    weights = {"system": [1, 0, 1 / 40], "input": [1, 0, 1], "global": [1, 1, 1], "within_system": [0, 1, 1]}
    for level in LEVELS:
        r = pearson(metric, np.array(weights[level]))
        here = truth.sel(level=level)
        assert float(here.sel(coefficient="pearson")) == pytest.approx(r, abs=1e-12)
        # Greiner's relation, by the share of concordant pairs of a bivariate normal at a large sample.
        x, z = np.random.default_rng(1).multivariate_normal([0, 0], [[1, r], [r, 1]], 20_000).T
        tau = scipy.stats.kendalltau(x, z).statistic
        assert float(here.sel(coefficient="kendall")) == pytest.approx(tau, abs=0.02)
        assert float(here.sel(coefficient="pairwise_accuracy")) == pytest.approx((tau + 1) / 2, abs=0.01)
        assert float(here.sel(coefficient="spearman")) == pytest.approx(scipy.stats.spearmanr(x, z).statistic, abs=0.03)


@pytest.mark.parametrize(
    "level, shape, near",
    [
        ("system", (300, 4), 0.2),
        pytest.param("system", (3000, 4), 0.07, marks=pytest.mark.slow),
        ("input", (3000, 4), 0.07),
        ("within_system", (4, 3000), 0.07),
    ],
)
def test_many_systems_show_the_truth(level, shape, near):
    ds = xsumstat.simulate(*shape, agreement=AGREEMENT, effects=EFFECTS, metric_effects=METRIC_EFFECTS, rng=2)
    for name in COEFFICIENTS:
        got = ds.meta.corr(level=level, coefficient=name).correlation
        want = ds.truth.sel(level=level, coefficient=name, metric=got.metric)
        assert float(abs(got - want).max()) < near


def test_many_cells_show_the_truth():
    """At global level cells share systems and inputs, so that both must be many."""
    found = []
    for seed in range(6):
        ds = xsumstat.simulate(300, 300, agreement=AGREEMENT, effects=EFFECTS, metric_effects=METRIC_EFFECTS, rng=seed)
        found.append(ds.meta.corr(level="global").correlation.values)
    want = ds.truth.sel(level="global", coefficient="pearson").values[1:]
    np.testing.assert_allclose(np.mean(found, axis=0), want, atol=0.03)


def test_metrics_share_what_they_do_not_share_with_people():
    """Their correlation apart from the gold is `shared`; the sds are those asked for."""
    ds = xsumstat.simulate(
        400, 400, agreement={"a": 0.6, "b": 0.6}, effects=EFFECTS, metric_effects=METRIC_EFFECTS, shared=0.5, rng=3
    )
    human, a, b = ds.score.values
    for values, sds in ((human, EFFECTS), (a, METRIC_EFFECTS)):
        cells = values - values.mean(0) - values.mean(1, keepdims=True)
        assert cells.std() == pytest.approx(sds["cell"], rel=0.02)
        assert values.mean(1).std() == pytest.approx(sds["system"], rel=0.15)
        assert values.mean(0).std() == pytest.approx(sds["input"], rel=0.15)
    x, y, z = (each - each.mean(0) - each.mean(1, keepdims=True) for each in (a, b, human))
    r_xy, r_xz, r_yz = (np.corrcoef(u.ravel(), v.ravel())[0, 1] for u, v in ((x, y), (x, z), (y, z)))
    assert (r_xy - r_xz * r_yz) / np.sqrt((1 - r_xz**2) * (1 - r_yz**2)) == pytest.approx(0.5, abs=0.02)


def rounded_normal(mean, sd, points, total_sd):
    """Moments of a rounded score whose latent value is normal: E L, Var L and Cov(L, standardised latent)."""
    cuts = ((np.arange(1, points) + 0.5) - (points + 1) / 2) * 4 / (points - 1) * total_sd
    z = (cuts - mean) / sd
    above = scipy.stats.norm.sf(z)
    expected = 1 + above.sum()
    square = 1 + ((2 * np.arange(1, points) + 1) * above).sum()
    return expected, square - expected**2, scipy.stats.norm.pdf(z).sum()


@functools.cache
def in_points(points):
    """Scores whose truth, being integrated, takes seconds."""
    return xsumstat.simulate(
        5, 10, agreement=AGREEMENT, effects=EFFECTS, metric_effects=METRIC_EFFECTS, likert=points, rng=0
    )


@pytest.mark.slow
@pytest.mark.parametrize("points", [2, 5])
def test_the_truth_of_rounded_scores_is_the_integral(points):
    """Pearson's r: at global level in closed form, at input level averaged over the inputs' effects by quadrature."""
    ds = in_points(points)
    assert set(np.unique(ds.score.sel(metric="human"))) <= set(range(1, points + 1))
    total = np.sqrt(sum(sd**2 for sd in EFFECTS.values()))
    within = np.hypot(EFFECTS["system"], EFFECTS["cell"])
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    for metric in AGREEMENT:
        _, variance, slope = rounded_normal(0, total, points, total)
        want = {"global": pearson(metric, np.ones(3)) * slope / np.sqrt(variance)}
        by_input = [rounded_normal(EFFECTS["input"] * t, within, points, total) for t in nodes]
        attenuation = np.array([slope / np.sqrt(variance) for _, variance, slope in by_input])
        want["input"] = pearson(metric, np.array([1, 0, 1])) * (weights @ attenuation) / weights.sum()
        for level, value in want.items():
            here = ds.truth.sel(metric=metric, level=level, coefficient="pearson")
            error = float(ds.truth_error.sel(level=level, coefficient="pearson"))
            assert 0 < error < 0.01
            assert float(here) == pytest.approx(value, abs=4 * error + 0.004)


@pytest.mark.slow
@pytest.mark.parametrize("points", [2, 5])
def test_the_rank_truth_of_rounded_scores_is_the_integral(points):
    """Kendall, Spearman and the pairwise accuracy among independent cells, over quantiles of the latent human score."""
    ds = in_points(points)
    latent = scipy.stats.norm.ppf((np.arange(1500) + 0.5) / 1500)
    rated = np.clip(np.rint((points + 1) / 2 + latent * (points - 1) / 4), 1, points)
    order = np.sign(rated[:, None] - rated)
    untied = (order != 0).mean()
    share = scipy.stats.rankdata(rated) / 1500
    for metric in AGREEMENT:
        r = pearson(metric, np.ones(3))
        lead = r * (latent[:, None] - latent) / np.sqrt(2 * (1 - r**2))
        tau_a = (order * (2 * scipy.stats.norm.cdf(lead) - 1)).mean()
        rank = scipy.stats.norm.cdf(r * latent / np.sqrt(2 - r**2))  # of the metric's score, expected
        want = {
            "kendall_a": tau_a,
            "kendall": tau_a / np.sqrt(untied),
            "pairwise_accuracy": (untied + tau_a) / 2,  # ties of one side only disagree
            "spearman": np.mean((rank - 0.5) * (share - share.mean())) / (share.std() * np.sqrt(1 / 12)),
        }
        for name, value in want.items():
            here = ds.truth.sel(metric=metric, level="global", coefficient=name)
            error = float(ds.truth_error.sel(level="global", coefficient=name))
            assert float(here) == pytest.approx(value, abs=4 * error + 0.002)


def test_human_scores_are_missing_as_often_as_was_asked_for():
    settings = {"agreement": AGREEMENT, "effects": EFFECTS, "metric_effects": METRIC_EFFECTS}
    ds = xsumstat.simulate(200, 8, missing=0.5, rng=1, truth=False, **settings)
    assert float(ds.score.sel(metric="human").isnull().mean()) == pytest.approx(0.5, abs=0.04)
    assert not ds.score.sel(metric=["judge", "length"]).isnull().any()


@pytest.mark.slow
def test_missing_human_scores_weaken_the_means():
    """Where cells are missing, a system's means are over fewer of them, and over inputs of its own."""
    settings = {"agreement": AGREEMENT, "effects": EFFECTS, "metric_effects": METRIC_EFFECTS}
    ds = xsumstat.simulate(200, 8, missing=0.5, rng=1, **settings)
    rng = np.random.default_rng(5)
    found = []
    for _ in range(30):
        gold, x = np.zeros((2, 2000, 8))
        rho, sd, own = (list(each.values()) for each in (AGREEMENT["judge"], EFFECTS, METRIC_EFFECTS))
        for at, shape in enumerate(((2000, 1), (1, 8), (2000, 8))):
            g, e = rng.normal(size=(2, *shape))
            gold += sd[at] * g
            x += own[at] * (rho[at] * g + np.sqrt(1 - rho[at] ** 2) * e)
        kept = rng.random((2000, 8)) >= 0.5
        some = kept.any(1)
        means = [np.where(kept, each, 0).sum(1)[some] / kept.sum(1)[some] for each in (x, gold)]
        found.append(np.corrcoef(*means)[0, 1])
    here = ds.truth.sel(metric="judge", level="system", coefficient="pearson")
    error = float(ds.truth_error.sel(level="system", coefficient="pearson"))
    assert float(here) == pytest.approx(np.mean(found), abs=4 * np.hypot(error, np.std(found) / np.sqrt(30)))
    whole = xsumstat.simulate(200, 8, rng=1, **settings)
    assert float(here) != pytest.approx(
        float(whole.truth.sel(metric="judge", level="system", coefficient="pearson")), abs=1e-3
    )


def test_what_it_says_of_itself():
    ds = xsumstat.simulate(12, 100, rng=7)
    assert list(ds.metric.values) == ["human", "good", "fair", "poor"] and ds.attrs["gold"] == "human"
    assert ds.system.values[0] == "system-01" and ds.input.values[-1] == "input-100"
    assert json.loads(ds.attrs["model"])["metrics"] == ["good", "fair", "poor"] and ds.attrs["seed"] == "7"
    assert np.isnan(ds.truth.sel(metric="human")).all() and (ds.truth_error == 0).all()
    assert ds.identical(xsumstat.simulate(12, 100, rng=7))
    assert not ds.score.equals(xsumstat.simulate(12, 100, rng=8).score)
    assert "truth" not in xsumstat.simulate(12, 100, truth=False, rng=7)
    assert float(ds.meta.corr(level="input").correlation.sel(metric="good")) > 0.7


@pytest.mark.parametrize(
    "keywords, error, message",
    [
        ({"n_systems": 1}, ValueError, "n_systems must be at least 2, got 1"),
        ({"n_inputs": 2.5}, TypeError, "n_inputs must be a whole number, got 2.5"),
        ({"agreement": 0.5}, TypeError, "agreement must map the names of metrics to how far they agree, got 0.5"),
        ({"agreement": {}}, TypeError, "agreement must map the names"),
        (
            {"agreement": {"human": 0.5}},
            ValueError,
            "agreement names a metric 'human', which is the human score itself",
        ),
        ({"agreement": {1: 0.5, "1": 0.3}}, ValueError, "agreement repeats "),
        ({"effects": {"system": 1, "input": float("inf"), "cell": 0}}, ValueError, "must be at least 0 and at most 1e"),
        (
            {"agreement": {"a": 1.5}},
            ValueError,
            r"agreement\['a'\]\['system'\] must be at least -1 and at most 1, got 1.5",
        ),
        ({"agreement": {"a": {"system": 1}}}, ValueError, "must have a number for each of 'system', 'input', 'cell'"),
        ({"effects": {"system": 0, "input": 1, "cell": 0}}, ValueError, "effects gives systems and cells no variance"),
        (
            {"effects": {"system": -1, "input": 1, "cell": 0}},
            ValueError,
            "must be at least 0 and at most 1e.100, got -1",
        ),
        ({"metric_effects": {"a": 1}}, ValueError, "metric_effects must have a number for each"),
        ({"shared": 2}, ValueError, "shared must be at least 0 and at most 1, got 2"),
        ({"likert": 1}, ValueError, "likert must be at least 2, got 1"),
        ({"missing": 1}, ValueError, "missing must be below 1"),
        ({"missing": "some"}, TypeError, "missing must be a number, got 'some'"),
        ({"truth": "yes"}, TypeError, "truth must be True or False"),
    ],
)
def test_bad_keywords(keywords, error, message):
    with pytest.raises(error, match=message):
        xsumstat.simulate(**keywords)
