"""Sentences on ratings, means, biases, plans and preferences: what they claim is counted again in the Dataset alone."""

import re
from collections import Counter

import numpy as np
import pytest
import xarray as xr
from cases import of_demo
from helpers import for_each

import xsumstat
from xsumstat.dataset.wording import number
from xsumstat.narrative import findings
from xsumstat.narrative.conclusions import conclusion

NAN = np.nan


def made(analysis, data, coords, **attrs):
    """A result of known numbers."""
    usual = {"analysis": analysis, "gold": "human", "coefficient": "pearson", "level": "input"}
    return xr.Dataset(data, coords, {**usual, **attrs})


# --- Ratings ---


def grades(seed, bias):
    """Whole grades by three raters and a judge, with gaps."""
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 6, (4, 15))
    rating = np.clip(human + rng.integers(-1, 2, (3, 4, 15)), 1, 5).astype(float)
    judge = np.clip(human + rng.choice([-1, 0, 0, 1, bias], human.shape), 1, 5).astype(float)
    rating[0, 0, :5] = judge[1, :3] = NAN
    labels = {"metric": ["judge"], "rater": list("xyz"), "system": list("abcd"), "input": np.arange(15)}
    dims = ("system", "input")
    return xr.Dataset({"score": (("metric", *dims), judge[None]), "rating": (("rater", *dims), rating)}, labels)


@pytest.mark.filterwarnings("ignore")
@for_each("seed, bias", [(0, 1), (1, -1), (2, 1), (3, -1)])
def test_a_judge_gives_the_grade_of_a_single_rater_a_higher_or_a_lower_one(seed, bias):
    ds = grades(seed, bias)
    judge, pairs = ds.score.sel(metric="judge").values, Counter()
    for rating in ds.rating.values:
        pairs.update((r, j) for r, j in zip(rating.ravel(), judge.ravel(), strict=True) if not np.isnan(r + j))
    total = sum(pairs.values())
    same, higher, lower = (sum(n for (r, j), n in pairs.items() if np.sign(j - r) == side) for side in (0, 1, -1))
    result = ds.meta.confusion("rating", along="rater")
    said = conclusion(result)
    assert (
        f"judge gives the grade of a single rater for {same} of {total} ratings ({100 * same / total:.0f} %), a higher "
        f"one for {100 * higher / total:.0f} % and a lower one for {100 * lower / total:.0f} %" in said
    )
    told = re.search(r"the most frequent difference is '(\d)' where a rater gives '(\d)' \((\d+) of (\d+)\)", said)
    given, theirs, n, of = (int(each) for each in told.groups())
    assert n == pairs[theirs, given] == max(n for (r, j), n in pairs.items() if r != j)
    assert of == sum(n for (r, _), n in pairs.items() if r == theirs)
    assert "single rater" in result.meta.methods() or "each rater" in result.meta.methods()


# --- Means ---


def rated(n, n_systems=4, seed=0):
    """Scores by a judge of all outputs and by people of the first `n` inputs."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(n_systems, 40)) + np.arange(n_systems)[:, None] / 4
    judge = human + rng.normal(size=human.shape)
    human[:, n:] = NAN
    labels = {"metric": ["judge", "human"], "system": list("abcdefg")[:n_systems], "input": np.arange(40)}
    return xr.Dataset({"score": (("metric", "system", "input"), np.stack([judge, human]))}, labels)


@pytest.mark.filterwarnings("ignore")
@for_each("n", [10, 20, 40])
def test_the_best_and_the_worst_mean_and_what_the_scores_save(n):
    result = rated(n).meta.system_means("human", metric="judge")
    mean = dict(zip(result.system.values, result["mean"].values.ravel(), strict=True))
    best, worst = max(mean, key=mean.get), min(mean, key=mean.get)
    said = conclusion(result)
    assert f"{best} has the highest mean human score, {number(mean[best])} [" in said
    assert f"; {worst} has the lowest, {number(mean[worst])} [" in said
    assert ("Every output has a human score" in said) == (n == 40)
    more = 100 * (float(np.median(result.n_effective.values / result.n_rated.values)) - 1)
    assert (f"The scores of judge are worth {more:.0f} % more ratings (median over systems)." in said) == (n < 40)
    low, high = (result[f"ci_{end}"].values.ravel() for end in ("low", "high"))
    at = list(mean).index(best)
    reach = [label for place, label in enumerate(mean) if label != best and high[place] >= low[at]]
    assert (f"{best} is best: its interval lies above those of all other systems" in said) == (not reach)
    told = re.search(rf"The interval of {best} overlaps with th(?:at|ose) of ([\w, ]+);", said)
    assert (told is None) == (not reach) and (not reach or re.split(r", | and ", told[1]) == reach)


@pytest.mark.filterwarnings("ignore")
def test_of_one_system_the_mean_is_told_alone():
    one = rated(10, n_systems=1).meta.system_means("human", metric="judge")
    value = number(float(one["mean"].squeeze()))
    said = conclusion(one)
    assert said.startswith(f"The mean human score of a is {value} [") and "highest" not in said and "best" not in said
    unnamed = conclusion(one.assign_coords(system=["system"]))  # of a table without systems
    assert unnamed.startswith(f"The mean human score is {value} [")
    assert conclusion(one.isel(system=0)).startswith(f"The mean human score of a is {value} [")


@pytest.mark.filterwarnings("ignore")
def test_without_effective_ratings_or_limits_nothing_is_said_of_them():
    result = rated(10).meta.system_means("human", metric="judge").squeeze("metric")
    assert "more ratings" in conclusion(result) and "overlaps" in conclusion(result)
    unknown = conclusion(result.assign(n_effective=result.n_effective * NAN))
    assert "more ratings" not in unknown and "adds nothing" not in unknown and "highest" in unknown
    open_ = conclusion(result.assign(ci_high=result.ci_high.where(result.system != "a")))
    assert "overlaps" not in open_ and "is best" not in open_ and "highest" in open_


@pytest.mark.filterwarnings("ignore")
def test_means_along_more_than_systems_have_no_closing_sentence():
    result = rated(10).meta.system_means("human", metric="judge").squeeze("metric")
    assert findings.means_closing(result) and not findings.means_closing(result.expand_dims(version=["v1", "v2"]))
    assert not findings.means_closing(result.isel(system=[0]))
    assert not findings.means_closing(result.where(result.system == "a").isel(system=[0, 1]))


# --- Chance ---


@pytest.mark.parametrize(
    ("constant", "random", "told"),
    [
        ([0.2, 0.3], [0.5, 0.5], "a constant metric would have .20 to .30, a random one .50"),
        ([0.5, 0.5], [0.5, 0.5], "a constant or random metric would have .50"),
        ([0.0, 0.0], [0.4, 0.5], "a random metric would have .40 to .50"),
        ([0.0, 0.0], [NAN, NAN], None),
    ],
)
def test_the_agreement_of_constant_and_random_metrics(constant, random, told):
    data = {"correlation": [0.8, 0.7], "baseline": random, "baseline_constant": constant}
    data = {name: ("metric", each) for name, each in data.items()}
    said = conclusion(made("corr", data, {"metric": ["a", "b"]}, coefficient="pairwise_accuracy"))
    assert (told in said) if told else ("would have" not in said)


# --- Tests ---


@pytest.mark.filterwarnings("ignore")
def test_of_two_metrics_the_difference_its_limits_and_its_test_are_told():
    result = of_demo("compare_metrics", "human", metric="judge", other="bleu")
    value, low, high, p = (float(result[each].squeeze()) for each in ("difference", "ci_low", "ci_high", "pvalue"))
    r = of_demo("corr", "human").correlation
    np.testing.assert_allclose(value, float(r.sel(metric="judge") - r.sel(metric="bleu")))
    said = conclusion(result)
    verdict = "judge beats bleu" if p <= 0.05 else "no significant difference between judge and bleu"
    assert verdict in said and f"their correlations differ by {number(value)} [{number(low)}, {number(high)}]" in said
    without = conclusion(result.assign(ci_low=result.ci_low * NAN))
    assert f"their correlations differ by {number(value)}, p" in without
    assert f"differ by {number(value)}, p" in conclusion(result.drop_vars(["ci_low", "ci_high"]))


@pytest.mark.filterwarnings("ignore")
def test_the_difference_of_two_metrics_is_that_of_the_better_one():
    demo = xsumstat.load_dataset("demo")
    how = {"level": "input", "resample": "input"}
    forth = demo.meta.compare_metrics("human", metric="judge", other="bleu", **how)
    back = demo.meta.compare_metrics("human", metric="bleu", other="judge", **how)
    assert float(forth.difference.squeeze()) == -float(back.difference.squeeze()) > 0
    assert conclusion(forth) == conclusion(back) and "judge beats bleu: their correlations differ by ." in conclusion(
        back
    )


@pytest.mark.filterwarnings("ignore")
@for_each("margin", [0.01, 0.5])
def test_two_metrics_are_equivalent_or_not_shown_to_be(margin):
    result = of_demo("equivalence", "human", metric="judge", other="bertscore", margin=margin, method="jackknife")
    equivalent = bool(result.equivalent.squeeze())
    low, high = float(result.ci_low.squeeze()), float(result.ci_high.squeeze())
    assert equivalent == (-margin < low and high < margin)  # the 90 % interval within the margin
    said = conclusion(result)
    verdict = "are equivalent" if equivalent else "are not shown to be equivalent"
    assert f"judge and bertscore {verdict} within ±{number(margin)}: they differ by " in said
    assert ("may still be equivalent" in said) == (not equivalent)
    alone = conclusion(result.drop_vars(["difference", "ci_low", "ci_high"]))
    assert f"{verdict} within ±{number(margin)} (" in alone and "they differ" not in alone
    assert conclusion(result.assign(pvalue=result.pvalue * NAN)).startswith("No test could be made.")


def test_without_clusters_no_metric_has_a_rank():
    data = {"correlation": ("metric", [NAN, NAN]), "cluster": ("metric", [0, 0]), "rank": ("metric", [0, 0])}
    said = conclusion(made("rank", data, {"metric": ["a", "b"]}, method="jackknife", alpha=0.05))
    assert said.startswith("No metric has a rank.") and "1 cluster" not in said


def test_shares_of_first_ranks_go_from_the_most_frequent_on():
    share = [0.1, 0.0, 0.3, 0.2, 0.15, 0.25]
    data = {"first_share": ("metric", share)}
    result = made("rank_stability", data, {"metric": list("abcdef")}, n_resamples=99, n_tasks=4)
    said = conclusion(result)
    told = "In 99 draws of 4 tasks, c is first in 30.0 %, f in 25.0 %, d in 20.0 %, e in 15.0 % and 1 more in the rest."
    assert told in said
    assert "more in the rest" not in conclusion(result.isel(metric=[0, 1, 2, 3, 4]))
    nothing = conclusion(result.assign(first_share=result.first_share * 0))
    assert nothing.startswith("No metric has an average over the tasks.")


@pytest.mark.parametrize(("lost", "told"), [(0.09, False), (0.11, True)])
def test_differences_away_from_those_of_means_are_told_beyond_a_tenth_of_their_error(lost, told):
    dims = ("metric", "system", "other_system")
    difference = np.array([[[NAN, 1.0], [-1.0, NAN]]])
    data = {"pvalue": [[[NAN, 0.01], [0.01, NAN]]], "difference": difference, "standard_error": difference * 0 + 1.0}
    data["mean_difference"] = difference + lost * np.sign(difference)
    data = {name: (dims, each) for name, each in data.items()}
    coords = {"metric": ["m"], "system": ["a", "b"], "other_system": ["a", "b"]}
    one = made("compare_systems", data, coords, method="ppi", alternative="two-sided", alpha=0.05, target="new")
    said = conclusion(one)
    assert (f"These differences are up to {number(lost)} away from those of the means" in said) == told
    whom = "For these systems on inputs like these, "
    assert said.startswith(f"{whom}a is best by m: its scores are significantly higher than those of b")


@pytest.mark.parametrize(
    ("p_of_rest", "told"),
    [
        ([0.01, 0.01, 0.01], None),
        ([0.3, 0.01, 0.06], "There is no significant difference between b and c; between c and d."),
        ([0.05, 0.01, 0.4], "There is no significant difference between c and d."),
    ],
)
def test_pairs_behind_the_best_system_without_a_difference_are_named(p_of_rest, told):
    """Four systems, of which the first is ahead of all; p-values of b-c, b-d and c-d."""
    means = np.array([4.0, 3.0, 2.0, 1.0])
    p = np.full((4, 4), 0.001)
    for (one, two), each in zip(((1, 2), (1, 3), (2, 3)), p_of_rest, strict=True):
        p[one, two] = p[two, one] = each
    difference = means[:, None] - means
    np.fill_diagonal(p, NAN)
    np.fill_diagonal(difference, NAN)
    dims, names = ("metric", "system", "other_system"), list("abcd")
    data = {"pvalue": (dims, p[None]), "difference": (dims, difference[None])}
    coords = {"metric": ["m"], "system": names, "other_system": names}
    one = made("compare_systems", data, coords, method="paired_t", alternative="two-sided", alpha=0.05)
    said = conclusion(one)
    assert "a is best by m: its scores are significantly higher than those of every other system" in said
    assert (told in said) if told else ("no significant difference" not in said)
    assert f"{int((p[np.triu_indices(4, 1)] <= 0.05).sum())} of 6 pairs of systems differ significantly by m" in said


def test_of_many_labels_the_metric_with_the_best_f1_is_counted():
    f1 = np.array([[0.6, 0.9, NAN, 0.2, 0.7], [0.7, 0.1, NAN, 0.1, 0.3]])
    accuracy = 1 - f1  # which is another order
    dims = ("metric", "kind")
    data = {"accuracy": (dims, accuracy), "f1": (dims, f1)}
    one = made("discriminative_agreement", data, {"metric": ["a", "b"], "kind": list("vwxyz")}, confidence_level=0.95)
    assert "By the estimates, of 5 labels of kind the best is a in 3 and b in 1; for 1 none is defined." in conclusion(
        one
    )
    nothing = one.assign(f1=one.f1 * NAN, accuracy=one.accuracy * NAN)
    assert conclusion(nothing).count("No pair of systems has a verdict.") == 5 and "best" not in conclusion(nothing)


# --- Judges that replace raters ---


@pytest.mark.filterwarnings("ignore")
def test_judges_replace_raters_whom_they_win_against_by_half_or_more():
    demo = xsumstat.load_dataset("demo").sel(metric=["judge", "bleu", "human"])
    human = (demo.score.sel(metric="human", drop=True) / 20).round()
    rating = xr.concat([human, human + 1, human], "rater")
    result = demo.meta.alt_test(rating, metric=["judge", "bleu"], scale="calibrated")
    said = conclusion(result)
    wins = (result.pvalue_adjusted <= result.attrs["alpha"]).sum("rater")
    for label in result.metric.values.tolist():
        won, of = int(wins.sel(metric=label)), int(result.pvalue.sel(metric=label).notnull().sum())
        assert f"{label} (wins against {won} of {of})" in said
        assert re.search(rf"{label} \(wins[^;]*?\) may {'' if won / of >= 0.5 else 'not '}replace", said)
    assert "judge, bleu were calibrated to the distribution of the ratings" in said
    assert "The scores of judge, bleu were calibrated to the distribution" in result.meta.methods()
    one = demo.meta.alt_test(rating, metric="judge", scale="calibrated")
    assert "judge was calibrated to the distribution" in conclusion(one)


@pytest.mark.filterwarnings("ignore")
def test_judges_on_another_scale_have_no_verdict():
    demo = xsumstat.load_dataset("demo").sel(metric=["judge", "bleu", "human"])
    human = demo.score.sel(metric="human", drop=True)
    rating = xr.concat([human, human + 1, human - 1], "rater")
    odd = demo.assign(score=demo.score.where(demo.metric != "bleu", demo.score * 1e-3))
    result = odd.meta.alt_test(rating, metric=["judge", "bleu"], scale="raw")
    said = conclusion(result)
    assert result.winning_rate.isnull().values.tolist() == [False, True]
    assert 'No verdict on bleu: not on the scale of the ratings; scale="calibrated" gives them' in said
    assert "bleu (wins" not in said and "judge (wins against" in said


# --- Where intervals touch ---


@pytest.mark.parametrize(("high", "overlaps"), [(3.0, True), (2.999, False)])
def test_intervals_that_touch_overlap(high, overlaps):
    """The best ends at 3 below, and the other at `high` above."""
    data = {"mean": [4.0, 2.0], "ci_low": [3.0, 1.0], "ci_high": [5.0, high], "n_rated": [10, 10], "n_inputs": [40, 40]}
    data |= {"n_effective": [20.0, 20.0], "fell_back": [False, False]}
    data = {name: ("system", each) for name, each in data.items()}
    result = made("system_means", data, {"system": ["x", "y"]}, target="new", helped_by="judge", confidence_level=0.95)
    said = conclusion(result)
    assert ("The interval of x overlaps with that of y;" in said) == overlaps
    assert ("x is best: its interval lies above those of all other systems." in said) == (not overlaps)


@pytest.mark.parametrize(
    ("p", "told"),
    [
        ((0.2, 0.01), "does not differ significantly from b (difference 1.00 [-.50, 2.50])."),
        ((0.2, 0.3), "it does not differ significantly from b or c (the closest is b, 1.00 [-.50, 2.50] lower)."),
        ((0.01, 0.2), "and is significantly better than b; it does not differ significantly from c."),
        ((0.01, 0.01), "higher than those of every other system (the closest is b, 1.00 [-.50, 2.50] lower)."),
    ],
)
def test_by_how_much_the_best_system_is_ahead_of_the_nearest(p, told):
    """Means of 3, 2 and 1.5; p-values of a against b and against c."""
    means, table = np.array([3.0, 2.0, 1.5]), np.full((3, 3), 0.5)
    table[0, 1:] = table[1:, 0] = p
    difference = means[:, None] - means
    for each in (table, difference):
        np.fill_diagonal(each, NAN)
    dims, names = ("metric", "system", "other_system"), list("abc")
    data = {"pvalue": table, "difference": difference, "ci_low": difference - 1.5, "ci_high": difference + 1.5}
    coords = {"metric": ["m"], "system": names, "other_system": names}
    usual = {"method": "paired_t", "alternative": "two-sided", "alpha": 0.05, "confidence_level": 0.95}
    result = made("compare_systems", {name: (dims, each[None]) for name, each in data.items()}, coords, **usual)
    assert told in conclusion(result)
    without = conclusion(result.drop_vars(["ci_low", "ci_high"]))
    assert "the closest" not in without and "(difference" not in without


@pytest.mark.parametrize(("means", "told"), [([2.0, 2.0, 1.0], "a and b share"), ([1.0, 2.0, 2.0], "b and c share")])
def test_systems_that_share_the_highest_mean(means, told):
    difference = np.subtract.outer(means, means)
    np.fill_diagonal(difference, NAN)
    dims, names = ("metric", "system", "other_system"), list("abc")
    data = {"difference": (dims, difference[None]), "pvalue": (dims, np.where(np.isnan(difference), NAN, 0.4)[None])}
    coords = {"metric": ["m"], "system": names, "other_system": names}
    usual = {"method": "paired_t", "alternative": "two-sided", "alpha": 0.05}
    assert f"{told} the highest mean by m." in conclusion(made("compare_systems", data, coords, **usual))


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@for_each("n", [1, 2, 3, 4])
def test_pairs_of_systems_that_differ_are_counted_by_each_metric(n, alternative):
    """Of three pairs; by one metric more than three the ends alone are told."""
    rng = np.random.default_rng(n)
    tests = rng.uniform(0, 0.1, (n, 3))
    p, above = np.full((n, 3, 3), NAN), np.triu_indices(3, 1)
    for table, each in zip(p, tests, strict=True):
        table[above] = each
        if alternative == "two-sided":
            table.T[above] = each
    dims, names = ("metric", "system", "other_system"), list("abc")
    data = {"pvalue": (dims, p), "difference": (dims, np.where(np.isnan(p), NAN, 1.0))}
    coords = {"metric": list("wxyz")[:n], "system": names, "other_system": names}
    result = made("compare_systems", data, coords, method="paired_t", alternative=alternative, alpha=0.05)
    said = conclusion(result)
    what = "pairs of systems differ" if alternative == "two-sided" else "one-sided tests of two systems are"
    counts = (tests <= 0.05).sum(axis=1)
    if n == 1:
        assert f"{counts[0]} of 3 {what} significant" in said
    elif n < 4:
        *first, last = (f"{count} of 3 by {label}" for label, count in zip("wxyz", counts, strict=False))
        assert f"{what[0].upper()}{what[1:]} significant" in said and f": {', '.join(first)} and {last} (" in said
    else:
        ends = [f"{counts[at]} of 3 ({'wxyz'[at]})" for at in (int(counts.argmin()), int(counts.argmax()))]
        assert f"By 4 metrics, {' to '.join(ends)} {what} significant" in said


def test_groups_without_a_bias_are_told_in_one_sentence():
    ds = xsumstat.load_dataset("demo").assign_coords(topic=("input", list("abcdefghij") * 3))
    found = ds.meta.bias("human", given="topic", metric=["judge", "rouge"])
    said = conclusion(found)
    quiet = [
        at
        for at in range(10)
        if (found.pvalue[:, at] > 0.05).all() and np.isfinite(found.ci_low[:, at] + found.ci_high[:, at]).all()
    ]
    assert len(quiet) > 5 and said.count("No significant bias") == 1
    assert f"by topic={'abcdefghij'[quiet[0]]}, topic={'abcdefghij'[quiet[1]]}," in said
    assert f"and {len(quiet) - 5} more (2 metrics)" in said
    low, high = float(found.ci_low[:, quiet].min()), float(found.ci_high[:, quiet].max())
    assert f"slopes may lie within [{number(low)}, {number(high)}]" in said
    one = found.isel(covariate=[quiet[0]])
    assert f"No significant bias by topic={'abcdefghij'[quiet[0]]} (2 metrics)" in conclusion(one)
