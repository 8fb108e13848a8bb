import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import dataset, warns
from helpers import pairwise

from xsumstat.analyses import ranking


def plain_clusters(labels, r, p, alpha):
    """Best first; a metric opens a cluster where a member of the one before beats it."""
    order = sorted(labels, key=lambda label: -r[label])
    clusters = [[order[0]]]
    for label in order[1:]:
        if any(p[member, label] <= alpha for member in clusters[-1]):
            clusters.append([])
        clusters[-1].append(label)
    return {label: number for number, cluster in enumerate(clusters, 1) for label in cluster}


@pairwise(
    {
        "level": ["system", "input"],
        "adjust": [None, "holm"],
        "alpha": [0.01, 0.05, 0.3],
    }
)
@pytest.mark.ignore_codes("few_resamples")
def test_clusters_follow_from_the_tests(demo, level, adjust, alpha):
    settings = {"level": level, "coefficient": "kendall", "n_resamples": 999, "rng": 1}
    table = demo.meta.rank("human", method="permutation", adjust=adjust, alpha=alpha, **settings)
    r = demo.meta.corr("human", level=level, coefficient="kendall").correlation.to_series()
    test = demo.meta.perm_test("human", alternative="greater", **settings)
    p = (test.pvalue if adjust is None else test.meta.adjust(adjust).pvalue_adjusted).to_series()
    want = plain_clusters(list(r.index), r, p, alpha)
    assert dict(zip(table.metric.values, table.cluster.values.tolist(), strict=True)) == want
    assert list(table.correlation.values) == sorted(r, reverse=True)
    assert table["rank"].values.tolist() == [1 + sum(r > each + 1e-9) for each in sorted(r, reverse=True)]
    assert table.attrs["analysis"] == "rank" and table.attrs["alpha"] == alpha and table.attrs["seed"] == "1"


@pairwise({"level": ["system", "input"], "adjust": [None, "holm"], "alpha": [0.05, 0.3], "resample": ["both", "input"]})
def test_they_follow_from_compare_metrics_by_default(demo, level, adjust, alpha, resample):
    settings = {"level": level, "resample": resample, "adjust": adjust}
    table = demo.meta.rank("human", alpha=alpha, **settings)
    test = demo.meta.compare_metrics("human", **settings)
    p = test.pvalue if adjust is None else test.pvalue_adjusted
    p = p.where(test.difference > 0, 1.0).to_series()
    r = demo.meta.corr("human", level=level).correlation.to_series()
    want = plain_clusters(list(r.index), r, p, alpha)
    assert dict(zip(table.metric.values, table.cluster.values.tolist(), strict=True)) == want
    assert table.attrs["method"] == "jackknife" and table.attrs["scope"] == test.attrs["scope"]


def test_what_asks_for_swaps_gets_them(demo):
    few = {"metric": ["judge", "rouge"], "n_resamples": 99, "rng": 1}
    for asked in ({"crossed": True}, {"adjust": "maxt"}):
        assert demo.meta.rank("human", **few, **asked).attrs["method"] == "permutation"
        with pytest.raises(ValueError, match="needs method='permutation', got 'jackknife'"):
            demo.meta.rank("human", method="jackknife", **few, **asked)


def test_equal_metrics_share_a_rank_and_a_cluster():
    r = np.array([0.3, np.nan, 0.7, 0.7, 0.1])
    p = np.full((5, 5), 0.5)
    p[2, 0] = 0.01
    p[0, 4] = 0.01
    ranks, clusters = ranking.ranked(r, p, 0.05)
    assert ranks.tolist() == [3, 0, 1, 1, 4] and clusters.tolist() == [2, 0, 1, 1, 3]


def test_only_the_current_cluster_counts():
    """The first beats the third, which opens a cluster; that it also beats the fourth opens no other."""
    r = np.array([0.9, 0.8, 0.7, 0.6])
    p = np.full((4, 4), 0.5)
    p[0, 2] = p[0, 3] = 0.01
    assert ranking.ranked(r, p, 0.05)[1].tolist() == [1, 1, 2, 2]


def test_further_dims_are_ranked_each_by_itself(demo):
    both = xr.concat([demo[["score"]], demo[["score"]] ** 3], "language")
    both = both.assign_coords(language=["en", "de"])
    settings = {"level": "input", "n_resamples": 99, "rng": 1}
    table = both.meta.rank("human", **settings)
    assert set(table["rank"].dims) == {"metric", "language"}
    mean = table.correlation.mean("language").values
    assert (np.diff(mean) <= 0).all()
    for language in ("en", "de"):
        alone = both.sel(language=language, drop=True).meta.rank("human", **settings)
        here = table.sel(language=language, metric=alone.metric)
        np.testing.assert_array_equal(here["rank"], alone["rank"])
        np.testing.assert_array_equal(here.cluster, alone.cluster)


def test_lazy_scores_keep_their_order(demo):
    settings = {"level": "input", "n_resamples": 99, "rng": 1}
    got = demo.chunk().meta.rank("human", **settings)
    assert got.cluster.chunks is not None
    want = demo.meta.rank("human", **settings)
    np.testing.assert_array_equal(got.compute().sel(metric=want.metric).cluster, want.cluster)


def test_wmt_like_clusters_of_summeval(summeval):
    """At system level QAEval and BERTScore come first, and are not told apart (Deutsch et al. 2021, §6.2)."""
    metrics = ["bertscore_recall", "qa-eval_f1", "rouge-1_f1", "rouge-2_f1", "rouge-l_f1", "METEOR", "MoverScore"]
    how = {"method": "permutation", "n_resamples": 4999, "rng": 0}
    table = summeval.meta.rank("expert_relevance", metric=metrics, adjust="holm", **how)
    assert set(table.metric.values[:2]) == {"bertscore_recall", "qa-eval_f1"}
    assert table.cluster.values.tolist()[:3] == [1, 1, 2]


def test_bad_keywords(demo):
    with pytest.raises(ValueError, match="adjust must be one of .* got 'holms'; did you mean 'holm'"):
        demo.meta.rank("human", adjust="holms")
    with pytest.raises(ValueError, match="alpha must lie strictly between 0 and 1, got 5"):
        demo.meta.rank("human", alpha=5)


def test_any_member_of_a_cluster_may_open_the_next():
    """The second beats the third, and the first does not."""
    p = np.full((3, 3), 0.5)
    p[1, 2] = 0.01
    assert ranking.ranked(np.array([0.9, 0.8, 0.7]), p, 0.05)[1].tolist() == [1, 1, 2]


def test_a_p_value_at_alpha_opens_a_cluster():
    r = np.array([0.5, 0.9])
    for p, want in ((0.05, [2, 1]), (0.0501, [1, 1])):
        assert ranking.ranked(r, np.array([[np.nan, 1.0], [p, np.nan]]), 0.05)[1].tolist() == want


@pytest.mark.parametrize("lazy", [False, True])
def test_what_the_tests_do_not_say_of_few_systems_the_correlations_do_not_say_either(lazy):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(4, 12))
    ds = dataset(np.array([z, z + rng.normal(size=z.shape), z + 2 * rng.normal(size=z.shape)]))
    scores = ds.chunk(metric=1) if lazy else ds
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(scores.meta.rank("m0", level="input", resample="input").compute().metric) == 2
    with warns("few_systems"):
        scores.meta.rank("m0", level="system", resample="input").compute()
