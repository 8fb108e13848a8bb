"""Systems that are not normal: draws by construction, truths by closed forms, quadrature and brute force."""

import json
import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

import xsumstat
from xsumstat.coefficients import table
from xsumstat.simulation.given_scores import model_of
from xsumstat.simulation.model import Model

NAMES = ("pearson", "spearman", "kendall", "pairwise_accuracy")
RECORDS = [table.get(name) for name in NAMES]
RHO, GOLD, METRIC = (0.9, 0.2, 0.3), (0.5, 0.7, 1.0), (2.0, 1.0, 3.0)
WEIGHTS = {"system": (1, 0, 1 / 8), "input": (1, 0, 1), "global": (1, 1, 1), "within_system": (0, 1, 1)}


def model(rho=(RHO,), gold_sd=GOLD, metric_sd=METRIC, shared=0.3, likert=None, missing=0.0, **systems):
    return Model(rho, gold_sd, metric_sd, shared, likert, missing, **systems)


def draw(made, shape=(6, 5), seed=0):
    return made.draw(shape, np.random.default_rng(seed))


def variances(level, factor=1.0):
    """Covariance of gold and metric and their variances, where the systems' are multiplied by a factor."""
    weights = np.array(WEIGHTS[level]) * [factor, 1, 1]
    gold, metric = np.array(GOLD), np.array(METRIC)
    return (weights * RHO * gold * metric).sum(), (weights * gold**2).sum(), (weights * metric**2).sum()


def pearson(level, factor=1.0):
    both, gold, metric = variances(level, factor)
    return both / math.sqrt(gold * metric)


def by_hand(made, shape, rng):
    """Gold and the metric's scores, written out anew."""
    systems, inputs = shape
    factor = np.ones((systems, 1))
    if made.system_df:
        chi = (rng.normal(size=(systems, int(made.system_df))) ** 2).sum(axis=1)
        factor[:, 0] = np.sqrt((made.system_df - 2) / chi)
    factor[rng.random(systems) < made.outlying] *= made.outlying_factor
    spread = math.sqrt(math.log(1 + made.ability_sd**2))
    ability = rng.lognormal(-(spread**2) / 2, spread, (1, inputs)) if spread else np.ones((1, inputs))
    gold, x = np.zeros((2, systems, inputs))
    for at, size in enumerate(((systems, 1), (1, inputs), shape)):
        g, e = rng.normal(size=(2, *size))
        scale = factor * ability if at == 0 else 1
        gold += made.gold_sd[at] * g * scale
        x += made.metric_sd[at] * (made.agreement[0][at] * g + math.sqrt(1 - made.agreement[0][at] ** 2) * e) * scale
    return gold, x


# --- Scores ---


def test_scores_without_options_are_those_of_the_plain_recipe():
    """The order of what is drawn, written out: seeds give the scores they always gave."""
    rng, shape = np.random.default_rng(4), (5, 7)
    gold, scores = np.zeros(shape), np.zeros((2, *shape))
    rho = np.array([RHO, (-0.2, 0.1, 0.8)])
    for at, size in enumerate(((5, 1), (1, 7), shape)):
        human, common = rng.standard_normal((2, *size))
        own = rng.standard_normal((2, *size))
        slope = rho[:, at, None, None]
        gold += GOLD[at] * human
        rest = math.sqrt(0.3) * common + math.sqrt(0.7) * own
        scores += METRIC[at] * (slope * human + np.sqrt(1 - slope**2) * rest)
    gold[rng.random(shape) < 0.4] = np.nan
    got = draw(model(rho=tuple(map(tuple, rho)), missing=0.4), shape, 4)
    np.testing.assert_array_equal(got[0], scores)
    np.testing.assert_array_equal(got[1], gold)


def ratios(shape, **systems):
    """What multiplies the systems' effects of gold and of two metrics: scores with an option over those without."""
    alone = {"rho": (RHO, (0.1, 0.0, 0.0)), "gold_sd": (0.5, 0, 0), "metric_sd": (2, 0, 0)}
    plain, other = draw(model(**alone), shape, 1), draw(model(**alone, **systems), shape, 1)
    found = [(b / a) for a, b in zip((plain[1], *plain[0]), (other[1], *other[0]), strict=True)]
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-9)  # gold and metrics alike
    return found[0]


def test_a_t_is_a_normal_over_the_root_of_a_chi_square_of_the_system():
    found = ratios((4000, 2), system_df=5)
    np.testing.assert_allclose(found[:, 0], found[:, 1], rtol=1e-9)
    assert scipy.stats.kstest(3 / found[:, 0] ** 2, scipy.stats.chi2(5).cdf).pvalue > 0.001
    (effects,), gold = draw(model(gold_sd=(2, 0, 0), metric_sd=(3, 0, 0), system_df=5), (4000, 1), 2)
    for values, sd in ((effects, 3), (gold, 2)):
        assert scipy.stats.kstest(values[:, 0] / sd * math.sqrt(5 / 3), scipy.stats.t(5).cdf).pvalue > 0.001


def test_outlying_systems_are_so_many_times_further_off():
    found = ratios((5000, 2), outlying=0.2, outlying_factor=3.0)
    np.testing.assert_allclose(found[:, 0], found[:, 1], rtol=1e-9)
    far = np.isclose(found[:, 0], 3)
    assert (far | np.isclose(found[:, 0], 1)).all()
    assert far.mean() == pytest.approx(0.2, abs=4 * math.sqrt(0.16 / 5000))


def test_abilities_show_more_on_some_inputs():
    """A factor of each input: its logarithm normal, its mean 1, its sd what was asked for."""
    found = ratios((2, 5000), ability_sd=0.5)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)
    logs, variance = np.log(found[0]), math.log(1.25)
    assert scipy.stats.kstest((logs + variance / 2) / math.sqrt(variance), scipy.stats.norm.cdf).pvalue > 0.001
    assert found.mean() == pytest.approx(1, abs=0.03) and found.std() == pytest.approx(0.5, rel=0.1)


def test_options_multiply():
    one, two, three = {"system_df": 4.5}, {"outlying": 0.3}, {"ability_sd": 0.4}
    found = ratios((50, 40), **one, **two, **three)
    spread = found / found[0]  # of a system over the first's: an input's factor is gone
    np.testing.assert_allclose(spread, np.repeat(spread[:, :1], 40, axis=1), rtol=1e-9)
    along = found / found[:, :1]
    np.testing.assert_allclose(along, np.repeat(along[:1], 50, axis=0), rtol=1e-9)
    assert np.ptp(spread[:, 0]) > 0.5 and np.ptp(along[0]) > 0.5


# --- Truths ---


@pytest.mark.parametrize("level", ["system", "input", "global"])
@pytest.mark.parametrize(
    "systems, factor", [({"system_df": 5.0}, 1.0), ({"outlying": 0.1, "outlying_factor": 3.0}, 1.8)]
)
def test_pearsons_truth_follows_from_the_variances(level, systems, factor):
    """A t of variance 1 changes none; a tenth of systems three times as far off make it 0.9 + 0.9."""
    values, errors = model(**systems).population(level, RECORDS[:1], 8)
    assert errors[0] == 0 and values[0, 0] == pytest.approx(pearson(level, factor), abs=1e-12)


@pytest.mark.parametrize("systems", [{"system_df": 3.0}, {"outlying": 0.4}])
def test_within_systems_nothing_changes(systems):
    """A system's own effect is a constant there."""
    plain, _ = model().population("within_system", RECORDS, 8)
    values, errors = model(**systems).population("within_system", RECORDS, 8)
    np.testing.assert_array_equal(values, plain)
    assert (errors == 0).all()


def mixed(factors, chances, level):
    """Kendall and Spearman among systems of which each has one of some factors, by the orthants of normal pairs.

    Two systems are ordered by differences of variance f_1² + f_2²; Spearman's ρ is 3 times the chance that the gold of
    one and the metric of another order a system alike, less that of the opposite.
    """
    rest = np.reshape(variances(level, 0.0), (3, 1, 1, 1))
    of_system = np.reshape([RHO[0] * GOLD[0] * METRIC[0], GOLD[0] ** 2, METRIC[0] ** 2], (3, 1, 1, 1))
    one, two, three = (rest + of_system * np.square(each) for each in np.ix_(factors, factors, factors))
    p, q, r = np.ix_(chances, chances, chances)
    both, gold, metric = one + two
    tau = (p * q * r * 2 / math.pi * np.arcsin(both / np.sqrt(gold * metric))).sum()
    of_three = one[0] / np.sqrt(gold * (one + three)[2])
    rho = (p * q * r * 6 / math.pi * np.arcsin(of_three)).sum()
    return np.array([rho, tau, (1 + tau) / 2])


@pytest.mark.parametrize("level", ["system", "input"])
def test_rank_truths_among_outlying_systems(level):
    values, errors = model(outlying=0.15).population(level, RECORDS[1:], 8)
    assert (errors > 0).all() and (errors < 0.005).all()
    np.testing.assert_array_less(abs(values[:, 0] - mixed([1, 4], [0.85, 0.15], level)), 4 * errors + 0.001)


def test_rank_truths_of_t_systems():
    """The same, over the quantiles of the chi-square."""
    chi = scipy.stats.chi2(4).ppf((np.arange(80) + 0.5) / 80)
    values, errors = model(system_df=4).population("system", RECORDS[1:], 8)
    assert (errors > 0).all() and (errors < 0.005).all()
    want = mixed(np.sqrt(2 / chi), np.full(80, 1 / 80), "system")
    np.testing.assert_array_less(abs(values[:, 0] - want), 4 * errors + 0.002)


@pytest.mark.parametrize("level, n_inputs", [("system", 8), pytest.param("input", 1, marks=pytest.mark.slow)])
def test_rank_truths_among_outlying_systems_whose_abilities_vary(level, n_inputs):
    """The same again, averaged over the factors of inputs, or over means of eight of these."""
    spread = math.sqrt(math.log(1 + 1.5**2))
    drawn = np.random.default_rng(5).lognormal(-(spread**2) / 2, spread, (20_000, n_inputs)).mean(axis=1)
    abilities = np.quantile(drawn, (np.arange(400) + 0.5) / 400)
    want = np.mean([mixed([each, 4 * each], [0.85, 0.15], level) for each in abilities], axis=0)
    values, errors = model(outlying=0.15, ability_sd=1.5).population(level, RECORDS[1:], 8)
    even = mixed([1, 4], [0.85, 0.15], level)
    assert (errors > 0).all() and (errors < 0.005).all()
    assert abs(even - want).max() > 0.02
    np.testing.assert_array_less(abs(values[:, 0] - want), 4 * errors + 0.002)


def test_at_input_level_correlations_are_averaged_over_abilities():
    """Integrals of r, 6/π·arcsin(r/2) and 2/π·arcsin r over the lognormal factor of an input."""
    sd = 0.8
    spread = math.sqrt(math.log(1 + sd**2))
    factor = scipy.stats.lognorm(spread, scale=math.exp(-(spread**2) / 2))
    assert factor.mean() == pytest.approx(1) and factor.std() == pytest.approx(sd)

    def averaged(value):
        def of_normal(t):
            a = math.exp(spread * t - spread**2 / 2)
            return value(pearson("input", a**2)) * scipy.stats.norm.pdf(t)

        return scipy.integrate.quad(of_normal, -9, 9, epsabs=1e-11)[0]

    values, errors = model(ability_sd=sd).population("input", RECORDS, 8)
    want = [
        averaged(lambda r: r),
        averaged(lambda r: 6 / math.pi * math.asin(r / 2)),
        averaged(lambda r: 2 / math.pi * math.asin(r)),
        averaged(lambda r: 0.5 + math.asin(r) / math.pi),
    ]
    np.testing.assert_allclose(values[:, 0], want, atol=1e-8)
    assert (errors == 0).all()
    # Pearson's r of systems that are not normal either: their variance is multiplied, within each input.
    values, errors = model(ability_sd=sd, outlying=0.1, outlying_factor=3.0).population("input", RECORDS[:1], 8)
    larger = scipy.integrate.quad(
        lambda t: pearson("input", 1.8 * math.exp(2 * spread * t - spread**2)) * scipy.stats.norm.pdf(t), -9, 9
    )[0]
    assert errors[0] == 0 and values[0, 0] == pytest.approx(larger, abs=1e-7)


def test_at_global_level_the_factors_square_counts():
    values, errors = model(ability_sd=0.5, system_df=6).population("global", RECORDS[:1], 8)
    assert errors[0] == 0 and values[0, 0] == pytest.approx(pearson("global", 1.25), abs=1e-12)


def test_rank_truths_among_cells_of_inputs_of_their_own():
    """Cells with factors of their own are no normal population, though the systems are."""
    spread = math.sqrt(math.log(1 + 2.0**2))
    factors = scipy.stats.lognorm(spread, scale=math.exp(-(spread**2) / 2)).ppf((np.arange(120) + 0.5) / 120)
    want = mixed(factors, np.full(120, 1 / 120), "global")
    values, errors = model(ability_sd=2.0).population("global", RECORDS[1:], 8)
    assert abs(want[1] - 2 / math.pi * math.asin(pearson("global", 5))) > 0.05
    assert (errors > 0).all() and (errors < 0.005).all()
    np.testing.assert_array_less(abs(values[:, 0] - want), 4 * errors + 0.002)


def test_at_system_level_the_mean_ability_of_a_designs_inputs_counts():
    """Given the inputs, means are normal with their mean factor: an average over many draws of eight inputs."""
    rng, spread = np.random.default_rng(8), math.sqrt(math.log(1.49))
    means = rng.lognormal(-(spread**2) / 2, spread, (20_000, 8)).mean(axis=1)
    r = np.array([pearson("system", each**2) for each in means])
    values, errors = model(ability_sd=0.7).population("system", RECORDS, 8)
    assert (0 < errors).all() and (errors < 0.001).all()
    want = [r, 6 / math.pi * np.arcsin(r / 2), 2 / math.pi * np.arcsin(r), 0.5 + np.arcsin(r) / math.pi]
    for value, error, each in zip(values[:, 0], errors, want, strict=True):
        assert value == pytest.approx(each.mean(), abs=4 * math.hypot(error, each.std() / math.sqrt(20_000)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "level, systems, shape, repeats",
    [
        ("system", {"ability_sd": 0.6, "system_df": 5}, (2000, 8), 60),
        ("input", {"ability_sd": 0.6, "outlying": 0.1}, (2000, 20), 25),
        ("global", {"ability_sd": 0.6, "outlying": 0.1}, (300, 300), 12),
        ("within_system", {"ability_sd": 0.6, "outlying": 0.1}, (250, 400), 6),
    ],
)
def test_large_populations_by_hand_show_the_truth(level, systems, shape, repeats):
    made, rng, found = model(**systems), np.random.default_rng(6), []
    for _ in range(repeats):
        gold, x = by_hand(made, shape, rng)
        if level == "system":
            groups = [(x.mean(axis=1), gold.mean(axis=1))]
        elif level == "global":
            groups = [(x.ravel(), gold.ravel())]
        else:
            groups = list(zip(x.T, gold.T, strict=True) if level == "input" else zip(x, gold, strict=True))
        found.append([np.mean([np.corrcoef(*each)[0, 1] for each in groups]),
                      np.mean([scipy.stats.kendalltau(*each).statistic for each in groups])])  # fmt: skip
    values, errors = made.population(level, [RECORDS[0], RECORDS[2]], 8)
    error = np.hypot(errors, np.std(found, axis=0, ddof=1) / math.sqrt(repeats))
    assert (error < 0.012).all()
    np.testing.assert_array_less(abs(values[:, 0] - np.mean(found, axis=0)), 4 * error + 0.002)


@pytest.mark.parametrize("level, shape", [("input", (2000, 20)), ("system", (2000, 8))])
def test_truths_of_rounded_gold_with_gaps_among_outlying_systems(level, shape):
    """Points span two sds of the effects as they were given, so that outlying systems pile up at the ends."""
    made = model(likert=5, missing=0.3, outlying=0.2, ability_sd=0.4)
    rng, found = np.random.default_rng(9), []
    for _ in range(12):
        gold, x = by_hand(made, shape, rng)
        points = np.clip(np.rint(3 + gold / math.sqrt(0.25 + 0.49 + 1)), 1, 5)
        gap = rng.random(shape) < 0.3
        some = ~gap.all(axis=1)
        x, points = (np.where(gap, np.nan, each)[some] for each in (x, points))
        if level == "system":
            groups = [(np.nanmean(x, axis=1), np.nanmean(points, axis=1))]
        else:
            groups = list(zip(x.T, points.T, strict=True))
        found.append(np.mean([_r(*each) for each in groups]))
    values, errors = made.population(level, RECORDS[:1], 8)
    error = math.hypot(errors[0], np.std(found, ddof=1) / math.sqrt(12))
    assert 0 < error < 0.01 and values[0, 0] == pytest.approx(np.mean(found), abs=4 * error + 0.002)


def _r(x, z):
    there = np.isfinite(x) & np.isfinite(z)
    return np.corrcoef(x[there], z[there])[0, 1]


# --- simulate ---


@pytest.mark.slow
def test_simulate_hands_them_on():
    ds = xsumstat.simulate(
        6, 8, agreement={"a": 0.5}, system_df=3, outlying=0.2, outlying_factor=5, ability_sd=0.3, truth=False, rng=2
    )
    _, made = model_of(ds)
    assert (made.system_df, made.outlying, made.outlying_factor, made.ability_sd) == (3.0, 0.2, 5.0, 0.3)
    plain = xsumstat.simulate(6, 8, agreement={"a": 0.5}, truth=False, rng=2)
    assert not plain.score.equals(ds.score)
    agreement = {"a": {"system": 0.9, "input": 0.0, "cell": 0.2}}
    varied, even = (xsumstat.simulate(6, 8, agreement=agreement, rng=2, ability_sd=sd) for sd in (0.9, 0.0))
    lower = varied.truth.sel(metric="a", level="input") < even.truth.sel(metric="a", level="input") - 0.01
    assert bool(lower.sel(coefficient=["pearson", "spearman"]).all())
    assert float(varied.truth_error.sel(level="input").max()) == 0 < float(varied.truth_error.max()) < 0.01


def test_models_that_were_stored_before_are_read():
    ds = xsumstat.simulate(6, 8, agreement={"a": 0.5}, truth=False, rng=2)
    stored = json.loads(ds.attrs["model"])
    for name in ("system_df", "outlying", "outlying_factor", "ability_sd"):
        stored.pop(name)
    old = ds.assign_attrs(model=json.dumps(stored))
    assert model_of(old) == model_of(ds)
    assert xsumstat.coverage(old, truth="population", intervals={"both": {}}, n_trials=2, n_resamples=20, rng=1).sizes


@pytest.mark.parametrize(
    "keywords, error, message",
    [
        ({"system_df": 2}, ValueError, "system_df must be above 2, or the systems' effects have no variance, got 2"),
        ({"system_df": 1.5}, ValueError, "system_df must be at least 2"),
        ({"system_df": "5"}, TypeError, "system_df must be a number, got '5'"),
        ({"outlying": 1}, ValueError, "outlying must be below 1"),
        ({"outlying": -0.1}, ValueError, "outlying must be at least 0 and at most 1, got -0.1"),
        ({"outlying": True}, TypeError, "outlying must be a number, got True"),
        ({"outlying_factor": 0.5}, ValueError, "outlying_factor must be at least 1"),
        ({"ability_sd": -1}, ValueError, "ability_sd must be at least 0 and at most 10, got -1"),
        ({"ability_sd": float("nan")}, ValueError, "ability_sd must be a number, got nan"),
    ],
)
def test_bad_keywords(keywords, error, message):
    with pytest.raises(error, match=message):
        xsumstat.simulate(**keywords)
