"""What comparisons of systems say of groups of systems, and of systems that were scored on different inputs."""

import itertools

import numpy as np
import pytest
import scipy.stats
import xarray as xr

import xsumstat


def significant(ds, one, other):
    x, y = (ds.score.sel(metric="human", system=each).values for each in (one, other))
    p = scipy.stats.ttest_rel(x, y).pvalue
    return p <= 0.05, x.mean() > y.mean(), p


def test_significant_pairs_of_groups_are_counted(demo):
    kind = dict(zip(demo.system.values.tolist(), demo.system_type.values.tolist(), strict=True))
    counts = {}
    for one, other in itertools.combinations(kind, 2):
        at = counts.setdefault(frozenset((kind[one], kind[other])), [0, 0])
        at[0] += significant(demo, one, other)[0]
        at[1] += 1
    both = [counts[frozenset(each)] for each in (["abstractive"], ["abstractive", "extractive"], ["extractive"])]
    (a, n), (b, m), (c, k) = both
    result = demo.meta.compare_systems(metric="human", between="system_type")
    assert (
        f"Significant pairs by system type: {a} of {n} within abstractive, {b} of {m} between abstractive and "
        f"extractive and {c} of {k} within extractive."
    ) in result.meta.conclusion()
    assert ", and counted significant pairs by system type" in result.meta.methods()
    assert "counted" not in demo.meta.compare_systems(metric="human").meta.methods()


@pytest.mark.parametrize(("alternative", "word"), [("greater", "better"), ("less", "worse")])
def test_one_sided_pairs_of_groups_are_counted_in_both_directions(demo, alternative, word):
    kind = dict(zip(demo.system.values.tolist(), demo.system_type.values.tolist(), strict=True))
    n = 0
    for one, other in itertools.permutations(kind, 2):
        if (kind[one], kind[other]) == ("extractive", "abstractive"):
            _, above, p = significant(demo, one, other)
            n += p <= 0.1 and above == (alternative == "greater")
    result = demo.meta.compare_systems(metric="human", between="system_type", alternative=alternative)
    assert f"{n} of 35 extractive {word} than abstractive" in result.meta.conclusion()


@pytest.mark.filterwarnings("ignore")
def test_the_first_system_on_shared_inputs_need_not_have_the_highest_mean(demo):
    said = demo.meta.compare_systems(metric="human").meta.conclusion()
    assert "extractor-5 has the highest mean by the human scores and is" in said
    gaps = demo.copy(deep=True)
    gaps["score"].loc[{"metric": "human", "system": "extractor-5", "input": gaps.input[:4].values}] = np.nan
    said = gaps.meta.compare_systems(metric="human").meta.conclusion()
    assert "extractor-5 is first by the human scores, on the inputs that each two systems share, and is" in said
    assert "highest mean" not in said


def test_a_metric_against_others_is_told_with_all_verdicts(demo):
    others = ["bertscore", "bleu", "perplexity", "length", "judge"]
    result = demo.meta.compare_metrics(metric="rouge", other=others, level="input")
    said = result.meta.conclusion().partition(".")[0]
    p, d = (result[each].sel(metric="rouge") for each in ("pvalue_adjusted", "difference"))
    kinds = {"beats": [], "is worse than": [], "does not differ significantly from": []}
    for other in others:
        verdict = "beats" if float(d.sel(other_metric=other)) > 0 else "is worse than"
        kinds[verdict if float(p.sel(other_metric=other)) <= 0.05 else "does not differ significantly from"] += [other]
    assert all(kinds.values())  # each kind is there
    parts = said.replace(", is worse", " | is worse").replace(" and does not", " | does not").split(" | ")
    for part, (verb, named) in zip(parts, kinds.items(), strict=True):
        assert verb in part and all(each in part for each in named)
        assert not any(each in part for each in set(others) - set(named))


@pytest.mark.filterwarnings("ignore")
def test_the_first_by_ppi_is_ahead(demo):
    rated = demo.score.sel(metric="human", drop=True).where(np.arange(30) < 12)
    said = demo.drop_sel(metric="human").assign(rated=rated).meta.compare_systems(
        method="ppi", gold="rated", metric="judge"
    ).meta.conclusion()  # fmt: skip
    assert " is first by rated" in said
    assert "highest mean" not in said


def test_clusters_of_tasks_are_refused_with_a_reason(demo):
    tasks = {name: {"ds": demo.isel(input=slice(0, n)), "gold": "human"} for name, n in (("a", 30), ("b", 20))}
    ranking = xsumstat.rank_tasks(tasks, n_resamples=99, rng=1)
    with pytest.raises(ValueError, match="this is a result of rank_tasks"):
        ranking.meta.plot.clusters()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("turned", [False, True])
def test_labels_with_a_shared_best_count_for_no_metric(demo, turned):
    """The order of metrics decides nothing."""
    few = demo.isel(system=[0, 1, 2])
    metrics = ["rouge", "bleu"][:: -1 if turned else 1]
    result = few.meta.corr("human", metric=metrics, level="input", coefficient="kendall", average=False)
    tau = {metric: result.correlation.sel(metric=metric).values for metric in metrics}
    rouge, bleu = tau["rouge"], tau["bleu"]
    known = ~np.isnan(rouge) & ~np.isnan(bleu)
    wins = {"rouge": int((rouge > bleu)[known].sum()), "bleu": int((bleu > rouge)[known].sum())}
    shared, none = int((rouge == bleu)[known].sum()), int((~known).sum())
    said = result.meta.conclusion()
    assert shared and all(f"{metric} in {n}" in said for metric, n in wins.items())
    assert f"shared by several in {shared}" in said and (f"for {none} none is defined" in said) == (none > 0)


@pytest.mark.filterwarnings("ignore")
def test_the_leader_of_pairs_need_not_have_the_highest_correlation(demo):
    """Each pair is compared on the outputs of both: with gaps another metric can have the highest correlation."""
    ds = demo.sel(metric=["human", "bertscore", "rouge", "bleu"]).copy(deep=True)
    lost = ds.input.values[np.random.default_rng(1).choice(30, 10, replace=False)]
    ds.score.loc[{"metric": "bertscore", "input": lost}] = np.nan
    said = ds.meta.compare_metrics("human", level="input").meta.conclusion()
    assert "rouge beats bleu" in said and "Its correlation is higher than that of every other metric" in said
    assert "the highest correlation" not in said


def test_a_system_against_others_is_told_with_all_verdicts(demo):
    others = ["extractor-2", "extractor-5", "abstractor-1"]
    said = demo.meta.compare_systems(metric="human", system="extractor-1", other=others).meta.conclusion()
    kinds = {"is better than": [], "is worse than": [], "does not differ significantly from": []}
    for other in others:
        found, above, _ = significant(demo, "extractor-1", other)
        kinds[("is better than" if above else "is worse than") if found else "does not differ significantly from"] += [
            other
        ]
    first = said.partition(". ")[0]
    assert "by the human scores extractor-1 " in first
    for verb, named in kinds.items():
        assert (verb in first) == bool(named) and all(each in first for each in named)


def test_metrics_with_equal_shares_of_verdicts_are_named_together(demo):
    ds = demo.sel(metric=["human", "judge", "bleu"])
    twin = ds.sel(metric=["judge"]).assign_coords(metric=["twin"])
    twin = twin.assign(score=2 * twin.score + 1)
    both = xr.concat([ds, twin], "metric")
    result = both.meta.discriminative_agreement("human", n_resamples=200, rng=1)
    said = result.meta.conclusion()
    assert float(result.accuracy.sel(metric="judge")) == float(result.accuracy.sel(metric="twin"))
    assert said.startswith("judge and twin give the verdict of the human scores for a share of")


@pytest.mark.parametrize(
    ("keywords", "told"),
    [
        ({"coefficient": "acc_eq", "threshold": 0.1}, "with scores within 0.1 of each other as ties,"),
        ({"coefficient": "acc_eq", "threshold": 0}, "with equal scores as ties,"),
        (
            {"coefficient": "acc_eq", "threshold": xr.DataArray([0.1, 0.0], {"metric": ["judge", "rouge"]})},
            "with a threshold of ties given for each metric,",
        ),
        ({"coefficient": "kendall_like", "threshold": 5}, "over pairs whose human scores differ by 5 or more,"),
    ],
)
def test_methods_name_the_threshold(demo, keywords, told):
    assert told in demo.meta.corr(metric=["judge", "rouge"], level="input", **keywords).meta.methods()
    held_out = demo.meta.corr(metric="judge", level="input", coefficient="acc_eq", calibrate_on=demo).meta.methods()
    assert "with each metric's threshold of ties calibrated on other scores," in held_out


def test_groups_that_are_corrected_later_keep_a_conclusion(demo):
    result = demo.meta.compare_systems(metric="human", between="system_type").meta.adjust("holm")
    assert "has the highest mean by the human scores" in result.meta.conclusion()
