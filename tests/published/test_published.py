"""Published values, from the published scores."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.stats
import xarray as xr

# REALSumm's own notebook, Exp. IV: Kendall's tau per input over all 25 systems, mean over the inputs with p <= .05.
EXP_IV = {
    "bert_recall_score": 0.46839,
    "mover_score": 0.43598,
    "rouge_1_recall": 0.48914,
    "rouge_2_recall": 0.48595,
    "rouge_l_recall": 0.48709,
    "js-2": 0.42549,
}


def test_deutsch_2021_rouge_2_on_summeval(summeval):
    """§6.1: system-level Kendall, both dims resampled: [-.09, .84], with other draws than ours."""
    got = summeval.meta.ci(
        "expert_relevance", metric="rouge-2_f1", coefficient="kendall", method="bootstrap", n_resamples=9999, rng=0
    )
    assert float(got.ci_low[0]) == pytest.approx(-0.09, abs=0.03)
    assert float(got.ci_high[0]) == pytest.approx(0.84, abs=0.03)


def test_bhandari_2020_exp_iv(realsumm):
    got = realsumm.meta.corr(
        "litepyramid_recall", metric=list(EXP_IV), level="input", coefficient="kendall", average=False
    )
    means = got.correlation.where(got.pvalue <= 0.05).mean("input")
    np.testing.assert_allclose(means, list(EXP_IV.values()), atol=5e-5)


def test_bhandari_2020_exp_iv_counts(realsumm):
    """Of the 2,100 correlations of 7 metrics' pairs on 100 inputs, 476 are left out."""
    got = realsumm.meta.metric_corr(
        metric=[*EXP_IV, "litepyramid_recall"], level="input", coefficient="kendall", average=False
    )
    pvalue = got.pvalue.values[np.triu_indices(7, 1)]
    assert pvalue.shape == (21, 100)
    assert (~(pvalue <= 0.05)).sum() == 476


def test_bhandari_2020_figure_5a_averages_significant_correlations_only(realsumm):
    """§4.4: MoverScore on extractive systems, "0.74 at the summary level": a mean of 7 inputs; of all 100 it is .20."""
    extractive = realsumm.sel(system=realsumm.system_type == "extractive")
    got = extractive.meta.corr(metric="mover_score", level="input", average=False)
    significant = got.pvalue <= 0.05
    assert float(got.correlation.where(significant).mean()) == pytest.approx(0.74, abs=0.005)
    assert int(significant.sum()) == 7 and float(got.correlation.mean()) == pytest.approx(0.2, abs=0.005)


def test_deutsch_2021_figure_5_on_summeval(summeval):
    """§6.2: at system level QAEval and BERTScore beat the others and not each other; so for Pearson."""
    metrics = [
        "AutoSummENG", "MeMoG", "NPowER", "bertscore_recall", "BEwTE_f1", "METEOR", "MoverScore", "qa-eval_f1",
        "rouge-1_f1", "rouge-2_f1", "rouge-l_f1", "rouge-su4_f1", "s3_resp",
    ]  # fmt: skip
    test = summeval.meta.perm_test("expert_relevance", metric=metrics, alternative="greater", n_resamples=4999, rng=0)
    better = test.meta.adjust("bonferroni", within="other_metric").meta.significant()
    won = better.sum("other_metric").to_series()
    assert won[["qa-eval_f1", "bertscore_recall"]].tolist() == [11, 11]
    assert not better.sel(metric="qa-eval_f1", other_metric="bertscore_recall")
    assert won.drop(["qa-eval_f1", "bertscore_recall"]).sum() == 0


def test_identical_metrics_of_summeval(summeval):
    """AutoSummENG and MeMoG have the same scores there, so that their difference is exactly none."""
    test = summeval.meta.perm_test(
        "expert_relevance",
        metric=["AutoSummENG", "MeMoG"],
        level="input",
        coefficient="kendall",
        n_resamples=200,
        rng=0,
    )
    assert float(test.pvalue[0, 1]) == 1.0 and float(test.difference[0, 1]) == 0.0


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("gold", ["expert_consistency", "expert_relevance"])
def test_heavily_tied_human_scores_equal_scipy_input_by_input(summeval, coefficient, gold):
    test = {"pearson": scipy.stats.pearsonr, "spearman": scipy.stats.spearmanr, "kendall": scipy.stats.kendalltau}
    got = summeval.meta.corr(gold, metric="rouge-1_f1", level="input", coefficient=coefficient, average=False)
    for x, z, r, p in zip(
        summeval.score.sel(metric="rouge-1_f1").transpose("input", "system").values,
        summeval.score.sel(metric=gold).transpose("input", "system").values,
        got.correlation.values[0],
        got.pvalue.values[0],
        strict=True,
    ):
        if np.ptp(x) == 0 or np.ptp(z) == 0:
            assert np.isnan(r) and np.isnan(p)
        else:
            want = test[coefficient](x, z)
            assert (r, p) == pytest.approx((want.statistic, want.pvalue), abs=1e-12)


# --- What README says of mt-metrics-eval, on examples small enough to list all swaps ---


def zscored(*vectors):
    return [scipy.stats.zscore(np.asarray(each, dtype=float)) for each in vectors]


def test_whole_system_scores_trade_places_where_there_is_one_score_a_system():
    """The toolkit's permutation of system scores: z-scores of the systems' scores, a coin for each system."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=(7, 6))
    score = np.stack([z + rng.normal(size=z.shape), z + 2 * rng.normal(size=z.shape), z])
    coords = {"metric": ["a", "b", "human"], "system": list("stuvwxy")}
    segments = xr.Dataset({"score": (("metric", "system", "input"), score)}, coords)
    whole = segments.mean("input").expand_dims(input=["all"])
    x, y, gold = score.mean(axis=2)
    x, y = zscored(x, y)
    swapped = []
    for coins in itertools.product([False, True], repeat=7):
        one, two = np.where(coins, y, x), np.where(coins, x, y)
        swapped.append(np.corrcoef(one, gold)[0, 1] - np.corrcoef(two, gold)[0, 1])
    want = np.mean(np.array(swapped) >= swapped[0] - 1e-12)
    kw = {"metric": "a", "other": "b", "alternative": "greater"}
    got = whole.meta.perm_test("human", **kw)
    assert got.attrs["exact"] == 1 and float(got.pvalue.squeeze()) == pytest.approx(want)
    cells = segments.meta.perm_test("human", n_resamples=20_000, rng=1, **kw)
    assert abs(float(cells.pvalue.squeeze()) - want) > 0.01  # single scores trade places before means are taken


def test_pooled_languages_are_standardised_each_by_itself():
    """Every swap of two languages' system scores, standardised within a language or over both: ours are the former."""
    rng = np.random.default_rng(8)
    parts, plain = [], []
    for language, (size, shift) in {"de": (3, 0.0), "zh": (4, 50.0)}.items():
        z = rng.normal(size=size)
        x, y = z + rng.normal(size=size) + shift, 0.5 * z + rng.normal(size=size) - shift
        plain.append((x, y, z))
        coords = {"metric": ["a", "b", "human"], "system": [f"{language}{at}" for at in range(size)], "input": ["all"]}
        parts.append(xr.Dataset({"score": (("metric", "system", "input"), np.stack([x, y, z])[..., None])}, coords))
    ds = xr.concat(parts, xr.DataArray(["de", "zh"], dims="language", name="language"), join="outer")

    def accuracy(x, z):
        pairs = itertools.combinations(range(len(z)), 2)
        return sum((x[i] - x[k]) * (z[i] - z[k]) > 0 for i, k in pairs)

    def differences(standardised):
        found = set()
        for coins in itertools.product([False, True], repeat=7):
            total = 0
            for (x, y), (_, _, z), own in zip(standardised, plain, (coins[:3], coins[3:]), strict=True):
                total += accuracy(np.where(own, y, x), z) - accuracy(np.where(own, x, y), z)
            found.add(round(total / 9, 9))
        return found

    within = [zscored(x, y) for x, y, _ in plain]
    over_all = [zscored(*(np.concatenate([part[at] for part in plain]) for at in (0, 1)))]
    over_all = [[each[:3] for each in over_all[0]], [each[3:] for each in over_all[0]]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few systems
        got = ds.meta.perm_test(
            "human", metric="a", other="b", coefficient="pairwise_accuracy", pool="language", n_resamples=5000, rng=0,
            keep_samples=True,
        )  # fmt: skip
    samples = set(np.round(got.samples.values.ravel(), 9))
    assert samples == differences(within) != differences(over_all)


@pytest.mark.ignore_codes("few_systems")
def test_soft_accuracy_averages_both_orders_of_a_pair():
    """Two systems, three inputs, all eight swaps: .875 in one order, .625 in the other, so .75."""
    coords = {"metric": ["a", "human"], "system": ["s", "t"]}
    differences = {"a": np.array([1.0, 1.0, -1.0]), "human": np.array([1.0, 1.0, 1.0])}
    score = np.stack([np.stack([each, np.zeros(3)]) for each in differences.values()])
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, coords)

    def p(gap):
        return np.mean([np.dot(coins, gap) >= gap.sum() for coins in itertools.product([-1, 1], repeat=3)])

    orders = [1 - abs(p(sign * differences["a"]) - p(sign * differences["human"])) for sign in (1, -1)]
    assert sorted(orders) == [0.625, 0.875]
    for systems in (["s", "t"], ["t", "s"]):
        got = ds.sel(system=systems).meta.corr("human", coefficient="spa").correlation
        assert float(got[0]) == pytest.approx(np.mean(orders))
