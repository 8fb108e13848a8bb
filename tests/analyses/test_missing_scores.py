"""Missing scores: their shares, whether they depend on quality, and the bounds of what they leave open."""

import warnings

import missing_twin as twin
import numpy as np
import pytest
import xarray as xr
from conftest import warns

from xsumstat.inference import missingness as parts

CELLS = ("system", "input")


def scores(seed=0, shape=(4, 30), share=0.1, grades=True):
    """A judge whose scores are missing at random, one whose are all there, and human scores."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(-0.5, 0.5, shape[0])[:, None] + rng.normal(size=(1, shape[1])) + rng.normal(size=shape)
    judge, still, human = (3 + quality + 0.6 * rng.normal(size=shape) for _ in range(3))
    if grades:
        judge, still, human = (np.clip(np.round(each), 1, 5) for each in (judge, still, human))
    judge = np.where(rng.random(shape) < share, np.nan, judge)
    labels = {"metric": ["judge", "still", "human"], "system": list("abcdefgh"[: shape[0]])}
    return xr.Dataset({"score": (("metric", *CELLS), np.array([judge, still, human]))}, labels)


def refused(n=46):
    """All of one system's worst outputs, by human scores, have no verdict."""
    ds = scores(1, shape=(4, 120), share=0.0, grades=False)
    worst = ds.score.sel(metric="human", system="a").argsort().argsort() < n
    gone = (ds.metric == "judge") & (ds.system == "a") & worst
    return ds.assign(score=ds.score.where(~gone))


def quiet(ds, *args, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ds.meta.missingness(*args, **{"rng": 0, "n_resamples": 199, **how})


def of(ds, metric="judge"):
    return ds.score.sel(metric=metric).transpose(*CELLS).values


def test_shares_by_system():
    ds = scores()
    found = quiet(ds, "human").sel(metric="judge")
    for at, row in enumerate(of(ds)):
        k, n = int(np.isnan(row).sum()), len(row)
        got = [float(found[name][at]) for name in ("missing_share", "ci_low", "ci_high", "n_missing", "n_outputs")]
        np.testing.assert_allclose(got, [k / n, *twin.wilson(k, n), k, n], atol=1e-9)
    assert (quiet(ds, "human").sel(metric="still").n_missing == 0).all()


@pytest.mark.parametrize("grades", [True, False])
def test_shares_by_quarter_of_the_human_scores(grades):
    ds = scores(2, share=0.3, grades=grades)
    x, z = of(ds).ravel(), of(ds, "human").ravel()
    below = [sum(other < value for other in z) + (sum(other == value for other in z)) / 2 for value in z]
    quarter = [min(3, int(4 * each / len(z))) for each in below]
    want = [np.mean([np.isnan(v) for v, q in zip(x, quarter, strict=True) if q == at] or [np.nan]) for at in range(4)]
    np.testing.assert_allclose(quiet(ds, "human").missing_by_score.sel(metric="judge"), want)


def test_outputs_that_nobody_scored_are_none():
    ds = scores(3)
    ds["score"] = ds.score.where(~((ds.system == "a") & (ds.input < 5)))
    found = quiet(ds, "human").sel(metric="judge")
    assert found.n_outputs.sel(system="a") == 25 and (found.n_missing <= 25).all()
    every = quiet(ds, "human", outputs="all").sel(metric="judge")
    assert every.n_outputs.sel(system="a") == 30
    assert every.n_missing.sel(system="a") == found.n_missing.sel(system="a") + 5


def test_the_difference_of_human_scores():
    ds = scores(4, share=0.2)
    x, z = of(ds), of(ds, "human")

    def difference(keep):
        there = ~np.isnan(x[:, keep])
        return z[:, keep][~there].mean() - z[:, keep][there].mean()

    every = np.arange(30)
    without = np.array([difference(np.delete(every, at)) for at in every])
    error = np.sqrt(29 / 30 * ((without - without.mean()) ** 2).sum())
    found = quiet(ds, "human").sel(metric="judge")
    np.testing.assert_allclose(found.difference, difference(every), rtol=1e-9)
    half = 2.045229642132703 * error  # t with 29 degrees of freedom
    np.testing.assert_allclose([found.difference_low, found.difference_high],
                               [difference(every) - half, difference(every) + half], rtol=1e-6)  # fmt: skip


# --- Tests ---


def tiny(seed, gaps=False):
    rng = np.random.default_rng(seed)
    lacks = rng.random((3, 5)) < 0.4
    there = ~lacks
    if gaps:
        lacks[0, 1] = there[0, 1] = False
    z = rng.integers(0, 6, (3, 5)).astype(float)
    return parts.Missing(lacks, there, z)


def cochran(among):
    """Cochran's Q of complete designs, as he defined it."""

    def q(marks):
        k, of_systems, of_inputs = len(marks), marks.sum(1), marks.sum(0)
        top = (k - 1) * (k * (of_systems**2).sum() - marks.sum() ** 2)
        return top / (k * marks.sum() - (of_inputs**2).sum())

    return q


def generalised(among):
    """The same with outputs that are not there: marks less their expectations, by the inverse of their covariance."""

    def q(marks):
        d, v = np.zeros(len(marks)), np.zeros((len(marks),) * 2)
        for j in range(marks.shape[1]):
            n, m = among[:, j].sum(), marks[:, j].sum()
            if not 0 < m < n:
                continue
            for a in np.flatnonzero(among[:, j]):
                d[a] += marks[a, j] - m / n
                for b in np.flatnonzero(among[:, j]):
                    v[a, b] += m * (n - m) / (n * (n - 1)) * ((a == b) - 1 / n)
        return d @ np.linalg.pinv(v) @ d

    return q


def test_the_covariance_of_marks_is_that_of_all_their_places():
    """Of systems with unequal numbers of outputs: exact, so that Q weighs systems as Cochran's does."""
    among = np.array([[1, 1, 1, 1, 0], [1, 1, 0, 1, 1], [1, 0, 1, 1, 1], [1, 1, 1, 0, 0]], dtype=bool)
    marks = np.array([[1, 0, 1, 0, 0], [0, 1, 0, 1, 1], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0]], dtype=bool)
    sums = np.array([each.sum(axis=1) for each in twin.all_marks(marks, among)], dtype=float)
    expected, variance = parts.Shuffled(marks, among).moments()
    np.testing.assert_allclose(expected, sums.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(variance, np.cov(sums.T, ddof=0), atol=1e-12)


@pytest.mark.parametrize("gaps", [False, True])
def test_pvalues_are_those_of_all_permutations(gaps):
    for seed in range(3):
        missing = tiny(seed, gaps)
        among = missing.lacks | missing.there
        means = np.array([missing.gold[among[:, j], j].mean() for j in range(5)])
        centred = missing.gold - means
        shares = missing.lacks.sum(0) / among.sum(0)
        statistic = generalised(among) if gaps else cochran(among)
        want = [
            twin.share(statistic, missing.lacks, among),
            twin.share(lambda marks, c=centred: abs(c[marks].sum()), missing.lacks, among),
            twin.between(shares, means),
        ]
        got = missing.pvalues(20_000, np.random.default_rng(1))
        np.testing.assert_allclose(got, want, atol=0.015)


def test_one_seed_one_answer_and_corrections():
    ds = scores(5, share=0.2)
    found = quiet(ds, "human", rng=3, adjust=None)
    xr.testing.assert_identical(found, quiet(ds, "human", rng=3, adjust=None))
    assert "pvalue_adjusted" not in found
    p = found.pvalue.sel(metric="judge").values
    np.testing.assert_allclose(p * 200, np.round(p * 200))
    assert found.pvalue.sel(metric="still").isnull().all()
    adjusted = quiet(ds, "human", rng=3).pvalue_adjusted.sel(metric="judge").values
    order = np.argsort(p)  # Holm, of the three tests that there are
    want = np.empty(3)
    want[order] = np.maximum.accumulate(np.minimum(1, p[order] * [3, 2, 1]))
    np.testing.assert_allclose(adjusted, want)


# --- Bounds ---


def test_bounds_of_means_fill_in_the_range():
    ds = scores(6, share=0.3)
    found = quiet(ds, "human", score_range=(1, 5)).sel(metric="judge")
    np.testing.assert_allclose(found["mean"], np.nanmean(of(ds), axis=1))
    for name, value in (("mean_low", 1.0), ("mean_high", 5.0)):
        np.testing.assert_allclose(found[name], np.nan_to_num(of(ds), nan=value).mean(axis=1))
    assert found.n_pairs == 6
    low, high = found.mean_low.values, found.mean_high.values
    assert found.n_undecided == sum(low[a] < high[b] and low[b] < high[a] for a in range(4) for b in range(a))


def test_bounds_of_accuracy_are_the_ends_of_all_ways_to_fill_in():
    rng = np.random.default_rng(7)
    for _ in range(60):
        n = int(rng.integers(2, 6))
        x, z = rng.integers(0, 4, n).astype(float), rng.integers(0, 4, n).astype(float)
        x[rng.permutation(n)[: rng.integers(0, min(n, 3) + 1)]] = np.nan
        want = twin.bounds([None if np.isnan(v) else float(v) for v in x], z)
        np.testing.assert_allclose(parts._of_group(x, z)[1:], want, err_msg=f"{x} {z}")


def test_the_least_accuracy_may_be_that_of_a_tie():
    """Below and above the tied scores the missing one orders a pair as the human scores do; tied with them none."""
    x, z = [1.0, 1.0, None], np.array([0.0, 2.0, 1.0])
    assert twin.bounds(x, z) == (0.0, 1 / 3)
    np.testing.assert_allclose(parts._of_group(np.array([1.0, 1.0, np.nan]), z)[1:], (0.0, 1 / 3))


def test_bounds_that_touch_decide_the_order():
    assert parts.undecided(np.array([[1.5, 2.5], [1.0, 2.0], [2.0, 3.0]])) == (0, 1)
    assert parts.undecided(np.array([[2.5, 1.5], [2.0, 1.0], [3.0, 2.0]])) == (0, 1)
    assert parts.undecided(np.array([[1.5, 2.5], [1.0, 2.0], [2.001, 3.0]])) == (1, 1)


@pytest.mark.parametrize("level", ["input", "global", "within_system"])
def test_accuracy_without_missing_scores_is_that_of_corr(level):
    ds = scores(8, share=0.2)
    found = quiet(ds, "human", level=level)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        want = ds.meta.corr("human", level=level, coefficient="pairwise_accuracy").correlation
    np.testing.assert_allclose(found.accuracy, want, rtol=1e-9)
    still = found.sel(metric="still")
    assert still.accuracy_low == still.accuracy == still.accuracy_high and still.n_undecided == 0
    judge = found.sel(metric="judge")
    assert judge.accuracy_low < judge.accuracy < judge.accuracy_high


def test_bounds_hold_what_the_missing_scores_were():
    """The accuracy and the means of all scores lie within the bounds of any part of them."""
    ds = scores(9, share=0.0)
    whole = quiet(ds, "human", score_range=(1, 5)).sel(metric="judge")
    for seed in range(5):
        kept = xr.DataArray(np.random.default_rng(seed).random((4, 30)) > 0.4, dims=CELLS)
        part = ds.score.where((ds.metric != "judge") | kept)
        found = quiet(ds.assign(score=part), "human", score_range=(1, 5)).sel(metric="judge")
        assert found.accuracy_low <= whole.accuracy <= found.accuracy_high
        assert ((found.mean_low <= whole["mean"]) & (whole["mean"] <= found.mean_high)).all()


def test_lower_is_better():
    ds = scores(10, share=0.2)
    lower = ds.assign_coords(higher_is_better=("metric", [False, True, True]))
    negated = ds.assign(score=ds.score * xr.where(ds.metric == "judge", -1.0, 1.0))
    got, want = quiet(lower, "human"), quiet(negated, "human")
    for name in ("accuracy", "accuracy_low", "accuracy_high", "difference", "pvalue"):
        np.testing.assert_allclose(got[name], want[name])
    np.testing.assert_allclose(got["mean"], quiet(ds, "human")["mean"])  # in the metric's own unit


def test_the_range():
    ds = scores(11)
    with pytest.warns(
        UserWarning, match=r"range of 'judge' is not known\. .* score, 1 and 5; missingness\(score_range="
    ):
        ds.meta.missingness("human", n_resamples=9)
    coded = ds.assign_attrs(labels=["none", "1", "2", "3", "4", "5"])
    want = quiet(ds, "human", score_range={"judge": (0, 5)})
    xr.testing.assert_allclose(quiet(coded, "human").mean_low.sel(metric="judge"), want.mean_low.sel(metric="judge"))
    with pytest.raises(ValueError, match=r"score_range=\(2, 5\) does not contain the scores of 'judge', from 1 to 5"):
        ds.meta.missingness("human", score_range=(2, 5))
    for wrong in (3, (1, 2, 3), (5, 1), {"judge": 2}, {"nobody": (1, 5)}, ("a", "b")):
        with pytest.raises((ValueError, TypeError), match="score_range"):
            ds.meta.missingness("human", score_range=wrong)


def test_runs_other_dims_and_lazy_scores():
    both = xr.concat([scores(12), scores(13)], xr.DataArray([1, 2], dims="run", name="run"))
    found = quiet(both, "human", score_range=(1, 5))
    alone = quiet(scores(13), "human", score_range=(1, 5))
    xr.testing.assert_allclose(found.sel(run=2, drop=True).drop_vars(["pvalue_adjusted", "significant"]),
                               alone.drop_vars(["pvalue_adjusted", "significant"]))  # fmt: skip
    lazy = quiet(both.chunk(metric=1, input=7), "human", score_range=(1, 5))
    assert lazy.pvalue.chunks is not None
    xr.testing.assert_allclose(lazy.compute(), found)
    late = both.chunk().meta.missingness("human", n_resamples=9)
    with warns("observed_range"):
        late.compute()


def test_one_system():
    found = quiet(scores(14).isel(system=[0]), "human").sel(metric="judge")
    assert found.attrs["level"] == "global"
    assert found.pvalue.isnull().values.tolist() == [True, True, False] and found.n_pairs == 0
    assert "pairs of systems" not in found.expand_dims("metric").meta.conclusion()


# --- In words ---


def test_refusals_of_one_system_s_worst_outputs_are_told():
    found = quiet(refused(), "human", metric=["judge"], n_resamples=999)
    assert found.significant.sel(metric="judge", test=["system", "score within inputs"]).all()
    said = found.meta.conclusion()
    assert "judge has no score for 46 of 480 outputs (10 %)" in said
    assert "Which scores are missing depends on the human scores (p = " in said and "and on the system (p" in said
    assert "can mislead" in said and "lower on average" in said and "these 4 systems on inputs like these" in said
    low, high = (f"{float(found[name][0]):.2f}".removeprefix("0") for name in ("accuracy_low", "accuracy_high"))
    assert f"would be between {low} and {high} (input level" in said
    assert f"order of {int(found.n_undecided[0])} of 6 pairs of systems" in said
    methods = found.meta.methods()
    assert "999 permutations" in methods and "Manski, 2003" in methods and "Wilson intervals" in methods


def test_random_gaps_are_not_called_random():
    found = quiet(scores(15), "human")
    said = found.meta.conclusion()
    assert "no significant sign" in said and "does not show that they are missing at random" in said
    assert "No score of still is missing." in said
    frame = found.meta.to_frame(brief=True)
    assert list(frame.columns)[:5] == ["metric", "system", "missing_share", "ci_low", "ci_high"] and len(frame) == 8


def test_refusals():
    ds = scores()
    with pytest.raises(ValueError, match="level='system' must be|level must be"):
        ds.meta.missingness("human", level="system")
    with pytest.raises(ValueError, match="outputs must be"):
        ds.meta.missingness("human", outputs="every")
    with pytest.raises(ValueError, match="metric names only the human scores"):
        ds.meta.missingness("human", metric="human")
    with pytest.raises(ValueError, match="no score at all"):
        ds.assign(score=ds.score.where(ds.metric != "judge")).meta.missingness("human", metric="judge")
    whole = scores(share=0.0)
    one = whole.assign(score=whole.score.where((whole.metric != "judge") | (whole.input != 3) | (whole.system != "b")))
    with pytest.warns(UserWarning, match="no interval of the difference, as the outputs without a score are all on"):
        one.meta.missingness("human", score_range=(1, 5), n_resamples=9)


@pytest.mark.slow
def test_size_of_the_tests():
    """Where scores are missing at random, and more often on some inputs, each test has its nominal size."""
    rng, found, trials = np.random.default_rng(0), [], 300
    for _ in range(trials):
        z = rng.normal(size=(4, 40)) + rng.normal(size=(1, 40))
        lacks = rng.random((4, 40)) < rng.choice([0.02, 0.3], size=40)
        found.append(parts.Missing(lacks, ~lacks, z).pvalues(199, rng))
    shares = (np.array(found) <= 0.05).mean(axis=0)
    assert (shares < 0.085).all() and (shares > 0.02).all()


def test_two_inputs_exchange_their_shares_and_one_cannot():
    """Both orders of two are as far from what is expected: p is 1."""
    lacks = np.array([[True, False], [False, False]])
    gold = np.array([[1.0, 4.0], [2.0, 5.0]])
    of_two = parts.Missing(lacks, ~lacks, gold).pvalues(99, np.random.default_rng(0))
    assert of_two[2] == 1.0
    of_one = parts.Missing(lacks[:, :1], ~lacks[:, :1], gold[:, :1]).pvalues(99, np.random.default_rng(0))
    assert np.isnan(of_one[2])


def test_an_input_with_one_output_has_no_pairs_to_bound():
    x, z = np.array([[1.0, 3.0], [2.0, np.nan]]), np.array([[1.0, 2.0], [2.0, np.nan]])
    lacks = np.zeros((2, 2), dtype=bool)
    np.testing.assert_array_equal(parts.accuracy(x, z, lacks, "input"), [1.0, 1.0, 1.0])
    assert np.isnan(parts.accuracy(x[:, 1:], z[:, 1:], lacks[:, 1:], "input")).all()


def test_a_range_of_scores_has_two_different_ends():
    ds = scores()
    for wrong in ((3, 3), (5, 1)):
        with pytest.raises(ValueError, match="score_range must be the lowest and the highest score"):
            ds.meta.missingness("human", score_range=wrong)


@pytest.mark.parametrize(("systems", "level"), [(1, "global"), (2, "input")])
def test_two_systems_are_compared_within_inputs_and_one_over_all_outputs(systems, level):
    ds = scores(4, share=0.2).isel(system=slice(systems))
    auto, asked = quiet(ds, "human"), quiet(ds, "human", level=level)
    assert auto.attrs["level"] == level
    np.testing.assert_array_equal(auto.accuracy_low, asked.accuracy_low)
