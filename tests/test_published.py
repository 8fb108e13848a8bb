"""Published values, from the published scores."""

import numpy as np
import pytest
import scipy.stats

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
        "expert_relevance", metric="rouge-2_f1", level="system", coefficient="kendall", n_resamples=9999, rng=0
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
