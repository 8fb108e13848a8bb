"""Sentences against facts: who, how many of how many, above or below, and on which side a limit itself lies."""

import numpy as np
import pytest
import xarray as xr
from conftest import warns

from xsumstat.dataset import wording
from xsumstat.narrative import findings_outputs
from xsumstat.narrative.conclusions import conclusion
from xsumstat.narrative.methods import methods

NAN = np.nan
PAIRS = ("metric", "other_metric")


def made(analysis, data, coords, **attrs):
    """A result of known numbers."""
    usual = {"analysis": analysis, "gold": "human", "coefficient": "pearson", "level": "system"}
    return xr.Dataset(data, coords, {**usual, **attrs})


def pairs(analysis, names, values, **attrs):
    """A table of pairs of metrics, each variable given above the diagonal; `difference` and limits turn their signs."""
    size = len(names)
    above = np.triu_indices(size, 1)
    data = {}
    for name, each in values.items():
        table = np.full((size, size), NAN)
        table[above] = each
        table.T[above] = -np.array(each) if name in ("difference", "excess") else each
        data[name] = (PAIRS, table)
    return made(analysis, data, {"metric": names, "other_metric": names}, **attrs)


# --- Correlations and intervals ---


def intervals(low, high, **attrs):
    names = list("abcde")[: len(low)]
    middle = [(one + two) / 2 for one, two in zip(low, high, strict=True)]
    data = {name: ("metric", each) for name, each in (("correlation", middle), ("ci_low", low), ("ci_high", high))}
    return made("ci", data, {"metric": names}, confidence_level=0.95, method="jackknife", **attrs)


def test_an_interval_includes_its_limits_and_the_widest_is_named():
    said = conclusion(intervals([0.0, -0.3, 0.01], [0.5, 0.0, 0.9]))
    assert "The intervals of a and b include 0; that of c is the widest, [.01, .90]." in said
    assert "No interval includes 0; that of b is the widest" in conclusion(
        intervals([0.1, 0.1, -0.2], [0.2, 0.9, -0.1])
    )
    assert "The interval includes 0." in conclusion(intervals([-0.4], [0.0]))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.0, 0.5, "which includes 0"), (-0.5, 0.0, "which includes 0"), (0.01, 1, "above 0"), (-1, -0.01, "below 0")],
)
def test_a_difference_is_above_or_below_or_includes_zero(low, high, verdict):
    values = {"difference": (low + high) / 2, "ci_low": low, "ci_high": high}
    data = {name: (PAIRS, [[each]]) for name, each in values.items()}
    one = made("ci", data, {"metric": ["a"], "other_metric": ["b"]}, confidence_level=0.95, method="jackknife")
    assert f"], {verdict} (95 % jackknife interval" in conclusion(one)


def test_intervals_of_differences_are_counted_by_their_side():
    """Three above 0, two below and one that ends at it."""
    low, high = [[0.1, 0.2, 0.3], [-0.4, -0.4, -0.4]], [[0.4, 0.4, 0.4], [-0.1, -0.2, 0.0]]
    data = {"difference": (PAIRS, np.add(low, high) / 2), "ci_low": (PAIRS, low), "ci_high": (PAIRS, high)}
    coords = {"metric": ["a", "b"], "other_metric": ["x", "y", "z"]}
    said = conclusion(made("ci", data, coords, confidence_level=0.95, method="jackknife"))
    assert said.startswith(
        "Of 6 differences of correlation 3 lie above 0 (a minus x .25 [.10, .40], a minus y .30 [.20, .40] and "
        "a minus z "
    )
    assert (
        "; 2 lie below 0 (b minus x -.25 [-.40, -.10] and b minus y -.30 [-.40, -.20]); 1 includes 0 (no "
        "significant difference) (" in said
    )


@pytest.mark.parametrize("size", [2, 4, 5, 6])
def test_the_best_is_followed_by_three_and_the_last_of_more_is_named(size):
    values = np.linspace(0.8, 0.3, size)
    said = conclusion(made("corr", {"correlation": ("metric", values)}, {"metric": list("abcdef")[:size]}))
    assert said.startswith("a has the highest correlation with the human scores: .80")
    followed, _, last = said.partition("It is followed by ")[2].partition("; last is ")
    assert followed.count("(") == min(size - 1, 3) or not last and size == 5
    last_one = f"{'abcdef'[size - 1]} (.30)"
    assert last.startswith(last_one) if size > 4 else last_one in followed
    assert "They are followed by c" in conclusion(
        made("corr", {"correlation": ("metric", [0.8, 0.8, 0.1])}, {"metric": list("abc")})
    )


def test_most_and_least_alike():
    table = pairs("metric_corr", list("abc"), {"correlation": [0.9, -0.2, 0.4]})
    assert conclusion(table).startswith("a and b correlate most (.90), a and c least (-.20) (")


@pytest.mark.parametrize(
    ("constant", "told"), [(0.0, "a random metric would have .50"), (0.1, "constant metric would")]
)
def test_chance_of_the_least_value_is_not_told(constant, told):
    data = {"correlation": [0.8, 0.7], "baseline": [0.5, 0.5], "baseline_constant": [constant, constant]}
    data = {name: ("metric", each) for name, each in data.items()}
    said = conclusion(made("corr", data, {"metric": ["a", "b"]}, coefficient="pairwise_accuracy"))
    assert told in said and ("constant" in said) == (constant > 0)


# --- Inputs, outputs and people ---


def test_inputs_that_differ_from_some_other_are_counted():
    data = {"pvalue": ("metric", [0.01]), "n_distinct": (("metric", "input"), [[0, 2, 1, 0, 3]])}
    data["mean_rank"] = (("metric", "input"), [[1.0, 2.0, 3.0, 4.0, 5.0]])
    one = made("input_effect", data, {"metric": ["m"], "input": list("abcde")}, confidence_level=0.95)
    assert "p = .010, systems like these on these inputs); 3 of 5 differ from some other." in conclusion(one)
    assert "inputs do not differ significantly" in conclusion(one.assign(pvalue=one.pvalue + 0.05))
    assert "differ in difficulty" in conclusion(one.assign(pvalue=one.pvalue + 0.05).assign_attrs(confidence_level=0.9))


def means(**more):
    """Three systems: one without ratings, and one whose ratings are too few."""
    data = {
        **{"mean": [2.0, NAN, 5.0], "ci_low": [1.0, NAN, 4.0], "ci_high": [3.0, NAN, 6.0]},
        **{"n_rated": [10, 0, 4], "n_inputs": [40, 40, 40], "n_effective": [20.0, NAN, 4.0]},
        "fell_back": [False, True, True],
    }
    data = {name: ("system", each) for name, each in {**data, **more}.items()}
    attrs = {"target": "new", "helped_by": "judge", "method": "pooled", "confidence_level": 0.95}
    return made("system_means", data, {"system": ["low", "none", "high"]}, **attrs)


def test_the_highest_and_the_lowest_mean_and_whose_ratings_stand_alone():
    said = conclusion(means())
    assert said.startswith("high has the highest mean human score, 5.00 [4.00, 6.00]; low has the lowest, 2.00 [")
    assert (
        "The scores of judge are worth 50 % more ratings (median over systems)." in said
    )  # the median of 20/10 and 4/4
    assert "For 1 of 2 systems the ratings are too few to use the scores of judge" in said


def test_of_these_inputs_no_more_can_be_rated_than_there_are():
    """20 effective of 40 by draws from many: 1/((1 − 10/40)/20 + 1/40) = 16 of these 40, and 4 stay 4."""
    said = conclusion(means().assign_attrs(target="these"))
    one, two = 1 / ((1 - 10 / 40) / 20 + 1 / 40) / 10, 1 / ((1 - 4 / 40) / 4 + 1 / 40) / 4
    assert (
        f"are worth {100 * ((one + two) / 2 - 1):.0f} % more ratings" in said
        and "has the highest mean human score over these inputs, " in said
    )


@pytest.mark.parametrize(
    ("alpha", "shown", "reading"),
    [
        (0.8, ".80", "reliable"),
        (0.7999, ".7999", "good for tentative conclusions only"),
        (0.7964, ".796", "good for tentative conclusions only"),
        (0.667, ".67", "good for tentative conclusions only"),
        (0.6669, ".6669", "not reliable"),
        (0.651, ".65", "not reliable"),
    ],
)
def test_alpha_at_the_usual_limits(alpha, shown, reading):
    one = made("agreement", {"alpha": alpha, "ci_low": NAN, "ci_high": NAN}, {}, confidence_level=0.95)
    assert conclusion(one).startswith(
        f"Krippendorff's alpha is {shown}, without an interval. Krippendorff calls this {reading} ("
    )


def test_a_metric_whose_limit_is_the_raters_is_not_told_from_them():
    low, high = [NAN, -0.2, 0.0, -0.3, 0.1], [NAN, 0.0, 0.2, -0.1, 0.3]
    values = {"correlation": [0.5] * 5, "ci_low": [0.4] * 5, "ci_high": [0.6] * 5}
    data = {
        name: ("metric", each) for name, each in (values | {"difference_low": low, "difference_high": high}).items()
    }
    coords = {"metric": ["rater", "a", "b", "c", "d"]}
    said = conclusion(made("human_ceiling", data, coords, confidence_level=0.95, method="jackknife"))
    assert (
        "d agrees significantly more than a rater; c agrees significantly less than a rater; "
        "a and b do not differ significantly from a rater" in said
    )


def test_normality_is_decided_by_corrected_p_values_and_at_alpha():
    one = made("normality", {"pvalue": ("metric", [0.04, 0.05, 0.3])}, {"metric": list("abc")}, alpha=0.05)
    assert conclusion(one).startswith(
        "Normality is rejected for 2 of 3 metrics: a and b (Shapiro and Wilk; p-values not"
    )
    corrected = one.meta.adjust("holm")
    assert conclusion(corrected).startswith("Normality is rejected for 0 of 3 metrics (Shapiro and Wilk; Holm over all")


def test_normality_of_groups_is_a_share_of_the_groups():
    p = [[0.01, 0.2, 0.3, NAN], [0.01, 0.05, 0.02, 0.9]]
    one = made(
        "normality", {"pvalue": (("metric", "input"), p)}, {"metric": ["a", "b"], "input": list("wxyz")}, alpha=0.05
    )
    assert conclusion(one).startswith(
        "Normality is rejected in a share of .33 (a) to .75 (b) of 3 or 4 groups of scores (Shapiro and Wilk's test of "
    )


def test_the_closest_of_points():
    at = [[0.0, 0.0], [5.0, 0.0], [5.0, 1.0], [-9.0, 9.0]]
    data = {"coordinate": (("metric", "component"), at), "explained": ("component", [0.6, 0.3])}
    said = conclusion(made("pca", data, {"metric": list("abcd"), "component": [1, 2]}))
    assert "2 components explain 90 % of the variance of ranks (60 %, 30 %)." in said
    assert "In these 2 components, b and c are closest together; others may correlate more." in said


def test_bins_need_a_hundredth_of_all_rounded_up():
    """40 are less than 1 % of 4,051."""
    bins = xr.Dataset(coords={"score_bin": [0.25, 0.75]})
    for n, least in (([40, 4011], 41), ([41, 4011], 41), ([30, 20], 30), ([29, 21], 30)):
        said = findings_outputs._by_bin(bins, np.array([0.5, 0.2]), np.array(n), ["x", "y"], "pairs")
        named = sum(each >= least for each in n)
        assert said.count("around ") == named and f"{least} pairs" in said


def test_opposite_orders_are_counted_over_pairs_of_metrics_and_of_outputs():
    share, n = np.full((3, 3, 2), NAN), np.zeros((3, 3, 2), dtype=int)
    for at, to, shares, counts in ((0, 1, [0.5, 0.1], [40, 60]), (0, 2, [0.2, NAN], [100, 0])):
        share[at, to], share[to, at], n[at, to], n[to, at] = shares, shares, counts, counts
    dims = (*PAIRS, "score_bin")
    names = list("abc")
    coords = {"metric": names, "other_metric": names, "score_bin": [0.25, 0.75]}
    said = conclusion(made("disagreement", {"share": (dims, share), "n_pairs": (dims, n)}, coords))
    assert said.startswith(
        "Two metrics order a share of .23 of 200 pairs of outputs in opposite directions, counted for each of 2 "
        "pairs of metrics."
    )
    assert (0.5 * 40 + 0.1 * 60 + 0.2 * 100) / 200 == 0.23


def test_improvements_are_averaged_over_outputs():
    data = {"ratio": ("score_bin", [0.8, 0.2, NAN]), "n_outputs": ("score_bin", [30, 90, 0])}
    said = conclusion(made("improvement_consistency", data, {"score_bin": [0.2, 0.5, 0.8]}))
    assert "all metrics score a share of .35 higher, on average over 120 outputs." in said  # (.8·30 + .2·90)/120


# --- Tests ---


@pytest.mark.parametrize(("draws", "told"), [(59, False), (58, True)])
def test_just_enough_resamples_are_not_called_too_few(draws, told):
    """3 tests at .05: the least p-value of 59 is 1/60, and 3/60 is .05."""
    values = {"pvalue": [0.5] * 3, "difference": [0.1] * 3}
    attrs = {"alternative": "two-sided", "method": "permutation", "n_resamples": draws, "swap": "scores"}
    table = pairs("perm_test", list("abc"), values, **attrs).meta
    if told:
        with warns("few_resamples"):
            said = conclusion(table.adjust("holm"))
        assert "With 58 resamples none of 3 corrected tests could be significant: 59 are needed." in said
    else:
        assert "are needed" not in conclusion(table.adjust("holm"))


def test_a_leader_is_ahead_of_all():
    values = {"pvalue": [0.01, 0.01, 0.01], "difference": [0.3, 0.3, -0.1]}
    attrs = {"alternative": "two-sided", "method": "permutation"}
    assert conclusion(pairs("perm_test", list("abc"), values, **attrs)).startswith(
        "a beats b and c. Its correlation is higher than that of every other metric in these data."
    )
    round_about = pairs("perm_test", list("abc"), values | {"difference": [0.3, -0.3, 0.1]}, **attrs)
    said = conclusion(round_about)
    assert "is higher" not in said and said.endswith(": a beats b, c beats a and b beats c.")


def ranked(n, **attrs):
    """So many metrics, each in a cluster of its own."""
    numbers = np.arange(n)
    data = {"correlation": 0.9 - numbers / 20, "cluster": numbers + 1, "rank": numbers + 1}
    data = {name: ("metric", each) for name, each in data.items()}
    return made("rank", data, {"metric": list("abcdefgh")[:n]}, method="jackknife", alpha=0.05, **attrs)


@pytest.mark.parametrize(("n", "more"), [(5, 0), (6, 2), (8, 4)])
def test_clusters_that_are_not_shown_are_counted(n, more):
    said = conclusion(ranked(n)).partition(" (Pearson")[0]
    assert said.startswith(f"{n} clusters, best first: (1) a (.90); (2) b (.85)")
    assert said.endswith(f"; and {more} more clusters") if more else said.endswith("(5) e (.70)")


@pytest.mark.parametrize(("n", "over"), [(1, "one task"), (2, "the average over 2 tasks"), (1000, "1,000 tasks")])
def test_tasks_are_counted(n, over):
    data = {"average_score": ("metric", [0.2, 0.4]), "cluster": ("metric", [2, 1])}
    data["score"] = (("task", "metric"), np.ones((n, 2)))
    said = conclusion(made("rank_tasks", data, {"metric": ["a", "b"]}, method="permutation", alpha=0.05))
    assert said.startswith("By ") and f"{over}: 2 clusters, best first: (1) b (.40); (2) a (.20)." in said


def test_uncorrected_tests_of_clusters_are_of_either_order():
    assert "(jackknife tests; 6 p-values not corrected; alpha .05)." in conclusion(ranked(3))


def test_drops_are_counted_where_the_correlation_is_lower():
    values = {
        **{"difference": [0.3, -0.3, 0.2], "pvalue": [0.05, 0.01, 0.2]},
        **{"excess": [0.1, -0.1, 0.1], "excess_pvalue": [0.06, 0.01, 0.05]},
    }
    said = conclusion(pairs("range_drop", list("abc"), values, alpha=0.05))
    assert said.startswith("In 1 of 3 pairs of metrics the correlation is significantly lower in that range, ")
    assert "explains in 1 (b with c) (not corrected; alpha .05" in said
    assert "The largest drop is that of a and b, .30." in said


def test_margins_and_their_shares():
    data = {"share": ("margin", [0.2, 0.5, 0.8]), "n_tests": ("margin", [10, 10, 10])}
    said = conclusion(made("margin_sensitivity", data, {"margin": [0.1, 0.2, 0.3]}, alpha=0.05))
    assert said.startswith(
        "2 of 10 comparisons are equivalent within ±.10, and 8 within ±.30; half or more are equivalent within margins "
        "of at least .20 (alpha .05"
    )


def test_the_shift_is_told_of_all_but_the_base():
    dims = ("language", *PAIRS)
    p = np.array([[[NAN, 0.99], [0.01, NAN]], [[NAN, 0.6], [0.4, NAN]]])
    data = {
        "probability": (dims, p),
        "resolved": (dims, np.abs(p - 0.5) >= 0.475),
        "mean_shift": ("language", [NAN, -0.39]),
    }
    names = ["a", "b"]
    coords = {"language": ["en", "de"], "metric": names, "other_metric": names}
    said = conclusion(made("dominance", data, coords, along="language", base="en", threshold=0.975))
    assert said.startswith(
        "language en: a agrees better than b in a share of .990 of the resamples, which decides which metric is "
        "better; "
        "language de: a agrees better than b in a share of .600 of the resamples, which does not decide which "
        "metric is "
        "better, mean shift -.39 from en (decided by a share of .975 of the resamples or more"
    )
    assert said.count("mean shift") == 1


@pytest.mark.parametrize(("p", "found"), [(0.05, 1), (0.0501, 0)])
def test_pairs_of_systems_that_differ_at_alpha(p, found):
    dims = ("metric", "system", "other_system")
    data = {"pvalue": (dims, [[[NAN, p], [p, NAN]]]), "difference": (dims, [[[NAN, 1.0], [-1.0, NAN]]])}
    coords = {"metric": ["m"], "system": ["a", "b"], "other_system": ["a", "b"]}
    one = made("compare_systems", data, coords, method="wilcoxon", alternative="two-sided", alpha=0.05)
    assert f" b. {found} of 1 pairs of systems differ significantly by m (" in conclusion(one)


@pytest.mark.parametrize(
    ("last", "said"),
    [(0.01, "By each of 4 metrics, 1 of 1 pairs"), (0.9, "By 4 metrics, 0 of 1 (d) to 1 of 1 (a) pairs")],
)
def test_metrics_that_find_equally_many_pairs_are_told_once(last, said):
    dims = ("metric", "system", "other_system")
    p = [[[NAN, each], [each, NAN]] for each in (0.01, 0.02, 0.03, last)]
    data = {"pvalue": (dims, p), "difference": (dims, [[[NAN, 1.0], [-1.0, NAN]]] * 4)}
    coords = {"metric": list("abcd"), "system": ["x", "y"], "other_system": ["x", "y"]}
    one = made("compare_systems", data, coords, method="paired_t", alternative="two-sided", alpha=0.05)
    assert said in conclusion(one)


def test_f1_is_that_of_the_metric_that_is_named():
    data = {"accuracy": ("metric", [0.8, 0.7]), "f1": ("metric", [0.6, 0.9])}
    said = conclusion(made("discriminative_agreement", data, {"metric": ["a", "b"]}, confidence_level=0.95))
    assert (
        said.startswith(
            "a gives the verdict of the human scores for a share of .80 of the pairs of systems, the highest"
        )
        and "; F1 .60)" in said
    )
    assert "b has the lowest share, .70." in said and "a win in 95 % of the resamples" in said
    other = conclusion(made("discriminative_agreement", data, {"metric": ["a", "b"]}, confidence_level=0.8))
    assert "a win in 80 % of the resamples" in other


def test_the_interval_of_one_equivalence_has_the_level_that_decides():
    data = {
        **{"equivalent": True, "pvalue": 0.01, "margin": 0.1},
        **{"difference": 0.02, "ci_low": -0.03, "ci_high": 0.07},
    }
    data = {name: (PAIRS, [[each]]) for name, each in data.items()}
    one = made("equivalence", data, {"metric": ["a"], "other_metric": ["b"]}, method="jackknife", alpha=0.05)
    assert "they differ by .02 (90 % interval [-.03, .07]), p = .010" in conclusion(one)
    assert "The 90 % intervals" in methods(one)


@pytest.mark.parametrize(
    ("analysis", "dim", "first", "last"),
    [
        ("top_k_corr", "k", "Among the 12 best systems,", "among the 4 best,"),
        (
            "close_corr",
            "gap",
            "Among pairs of systems whose means differ by at most 12,",
            "among pairs of systems whose means differ by at most 4,",
        ),
    ],
)
def test_the_best_of_the_first_and_of_the_last_number_are_told(analysis, dim, first, last):
    values = np.array([[0.9, 0.5, 0.25], [0.8, 0.6, NAN], [NAN, NAN, NAN]])
    places = [12, 8, 4] if dim == "k" else ["to 12", "to 8", "to 4"]
    result = made(analysis, {"correlation": (("metric", dim), values)}, {"metric": ["a", "b", "c"], dim: places})
    assert f"{first} a has the highest correlation, .90; {last} a has the highest correlation, .25 (" in conclusion(
        result
    )
    backwards = conclusion(result.isel({dim: [1, 0]}))
    assert "8 best systems, b has the highest correlation, .60; among the 12 best, a" in backwards or dim == "gap"
    only = conclusion(result.isel({dim: [2], "metric": [1]}))
    assert f"{first.replace('12', '4')} no metric has a defined correlation (" in only


# --- Labels, directions, methods ---


def test_metrics_that_are_better_when_lower_are_named():
    one = made("corr", {"correlation": ("metric", [0.5, 0.4])}, {"metric": ["ter", "bleu"]})
    one = one.assign_coords(higher_is_better=("metric", [False, True]))
    assert conclusion(one).endswith("For ter lower is better; its scores were negated.")


@pytest.mark.parametrize("without", [0, 1, 2])
def test_of_many_labels_the_best_are_counted_and_those_without(without):
    r = np.array([[0.5, 0.5, 0.1, 0.5, 0.5], [0.4, 0.4, 0.4, 0.4, 0.4]])
    r[:, 5 - without :] = NAN
    one = made("corr", {"correlation": (("metric", "input"), r)}, {"metric": ["a", "b"], "input": list("vwxyz")})
    rest = f"; for {without} none is defined" if without else ""
    assert f"By the estimates, of 5 labels of input the best is a in {4 - without} and b in 1{rest}." in conclusion(one)


def test_of_many_labels_with_one_best_metric():
    r = np.array([[0.5, 0.5, 0.6, 0.5, 0.5], [0.4, 0.4, 0.4, 0.4, 0.4]])
    one = made("corr", {"correlation": (("metric", "input"), r)}, {"metric": ["a", "b"], "input": list("vwxyz")})
    assert conclusion(one).startswith("By the estimates, a is the best in all 5 labels of input.")


def test_some_labels_get_a_sentence_each_and_the_common_part_once():
    r = np.array([[0.5, 0.1, 0.25, 0.75, 0.6], [0.4, 0.4, 0.125, 0.5, 0.5]])
    kinds = {"metric": ["a", "b"], "kind": [*"vwxy", "all"]}
    one = made("corr", {"correlation": (("metric", "kind"), r)}, kinds).assign_attrs(by="kind")
    said = conclusion(one)
    # All together are no further kind.
    assert said.startswith("By the estimates, of 4 labels of kind the best is a in 3 and b in 1.")
    for label, best in (
        ("v", "a has the highest correlation with the human scores: .50"),
        ("w", "b has the highest correlation with the human scores: .40"),
    ):
        assert f"kind {label}: {best}." in said
    assert "kind all: a has the highest correlation with the human scores: .60." in said and said.count("(") == 0
    assert said.count("Pearson's r") == 1 and "Each of these: Pearson's r" in said


LEVELS = {
    "system": "of the systems' mean scores",
    "input": "over the systems within each input, averaged over inputs",
    "within_system": "over the inputs within each system, averaged over systems",
    "global": "over all outputs",
}


@pytest.mark.parametrize("level", LEVELS)
def test_methods_name_the_level(level):
    one = made("corr", {"correlation": ("metric", [0.5])}, {"metric": ["a"]}).assign_attrs(level=level)
    assert f"Pearson's r {LEVELS[level]}" in methods(one)


def test_the_raters_are_no_metric():
    values = dict.fromkeys(
        ("correlation", "ci_low", "ci_high", "difference", "difference_low", "difference_high"), [0.5] * 3
    )
    data = {name: ("metric", each) for name, each in values.items()}
    one = made("human_ceiling", data, {"metric": ["rater", "a", "b"]}, confidence_level=0.95, method="jackknife")
    assert "The computation for 2 metrics used" in methods(one)


def test_limits_of_what_is_said_of_many_tests_and_small_p_values():
    assert wording.many_uncorrected(10) == "" and wording.many_uncorrected(11).startswith("11 tests at .05 without")
    assert "if nothing differed, 1.1 of them" in wording.many_uncorrected(11, 0.1)
    assert wording.pvalue(0.001) == "p = .001" and wording.pvalue(0.00099) == "p < .001"


def test_the_level_by_which_inputs_are_decided_is_that_of_their_intervals():
    one = made("input_effect", {"pvalue": ("metric", [0.01])}, {"metric": ["m"]}, confidence_level=0.8)
    assert wording.alpha_of(one) == pytest.approx(0.2)
    assert wording.interval_level({"analysis": "equivalence", "alpha": 0.05}) == pytest.approx(0.9)


def test_a_metric_beside_itself_is_no_pair():
    """Also where a table has numbers on its diagonal."""
    values = {"difference": [0.3], "pvalue": [0.01], "excess": [0.1], "excess_pvalue": [0.2]}
    one = pairs("range_drop", ["a", "b"], values, alpha=0.05)
    full = one.fillna(0.0)
    assert conclusion(one) == conclusion(full) and "In 1 of 1 pairs" in conclusion(full)
    values = {"difference": [0.3, 0.2, 0.1], "pvalue": [0.01, 0.01, 0.2]}
    one = pairs("perm_test", list("abc"), values, alternative="two-sided", method="permutation")
    assert conclusion(one.fillna(0.0)) == conclusion(one) and "2 of 3 pairs of metrics differ" in conclusion(one)


def test_drops_that_no_simulation_explains_are_not_counted():
    values = {"difference": [0.3], "pvalue": [0.01], "excess": [NAN], "excess_pvalue": [NAN]}
    said = conclusion(pairs("range_drop", ["a", "b"], values, alpha=0.05))
    assert "what the narrower range explains is unknown (" in said and "by more than" not in said
    nothing = conclusion(pairs("range_drop", ["a", "b"], dict.fromkeys(values, [NAN]), alpha=0.05))
    assert nothing.startswith("No two metrics have a correlation within the range.")


def test_without_outputs_nothing_can_be_improved():
    data = {"ratio": ("score_bin", [NAN, NAN]), "n_outputs": ("score_bin", [0, 0])}
    said = conclusion(made("improvement_consistency", data, {"score_bin": [0.2, 0.8]}))
    assert said.startswith("No output can be improved on.") and "%" not in said


@pytest.mark.parametrize("n", [2, 3])
def test_of_two_points_none_are_the_closest(n):
    at = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]])[:n]
    data = {"coordinate": (("metric", "component"), at), "explained": ("component", [0.6, 0.3])}
    said = conclusion(made("pca", data, {"metric": list("abc")[:n], "component": [1, 2]}))
    assert ("In these 2 components, a and b are closest together; " in said) == (n == 3)
    alone = conclusion(made("pca", data, {"metric": list("abc")[:n], "component": [1, 2]}).isel(component=[0]))
    assert "1 component explains 60 % of the variance of ranks (60 %)." in alone


@pytest.mark.parametrize("shared", [True, False])
def test_how_numbers_were_made_is_told_once_where_it_is_the_same(shared):
    """Of many labels each has a sentence; where their baselines differ, so does what stands in brackets."""
    r = np.array([[0.5, 0.1, 0.25, 0.75], [0.4, 0.4, 0.125, 0.5]])
    chance = np.broadcast_to([0.5, 0.5, 0.5, 0.5 if shared else 0.4], r.shape)
    dims = ("metric", "kind")
    data = {"correlation": (dims, r), "baseline": (dims, chance), "baseline_constant": (dims, 0 * chance)}
    coords = {"metric": ["a", "b"], "kind": list("vwxy")}
    said = conclusion(made("corr", data, coords, coefficient="pairwise_accuracy"))
    assert said.count("a random metric would have .50") == (1 if shared else 3)
    assert said.count("a random metric would have .40") == (0 if shared else 1)
    assert (
        "Each of these: " in said
    ) == shared and "kind y: a has the highest agreement with the human scores: .75" in said


@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_calibrated_metric_is_named(n):
    one = made("corr", {"correlation": ("metric", [0.5, 0.4, 0.3])}, {"metric": ["a", "b", "c"]})
    how = ["by isotonic regression"] * n + [""] * (3 - n)
    said = conclusion(one.assign_coords(calibrated=("metric", how)))
    named = {1: "a", 2: "a and b", 3: "a, b and c"}[n]
    assert f" {named}: scores calibrated by the ratings of other inputs." in said


@pytest.mark.parametrize(("margin", "told"), [([0.1, 0.1, 0.1], "±.10"), ([0.2, 0.1, 0.3], "margins of .10 to .30")])
def test_the_margins_of_equivalence_are_told_from_the_least_to_the_largest(margin, told):
    values = {"difference": [0.0, 0.1, 0.4], "margin": margin, "pvalue": [0.01, 0.04, 0.9]}
    table = pairs("equivalence", list("abc"), values, method="jackknife", alpha=0.05)
    said = conclusion(table.assign(equivalent=table.pvalue <= 0.05))
    assert said.startswith(f"2 of 3 pairs are equivalent within {told} (") and ": b with a and c with a." in said
    assert "Metrics not shown to be equivalent (c with b) may still be equivalent." in said


@pytest.mark.parametrize(
    ("low", "high", "side"),
    [(0.9, 0.95, "within"), (0.95, 0.99, "within"), (0.9, 0.949, "below"), (0.951, 0.99, "above")],
)
def test_limits_at_the_level_itself_are_within_simulation_error(low, high, side):
    data = {name: ("interval", [each]) for name, each in (("coverage", 0.94), ("ci_low", low), ("ci_high", high))}
    said = conclusion(made("coverage", data, {"interval": ["one"]}, confidence_level=0.95, n_trials=9))
    words = {"within": "95 % within simulation error for", "below": ": below 95 % for", "above": ": above 95 % for"}
    assert [each in said for each in words.values()] == [each == side for each in words]


def test_no_drop_is_called_the_largest_where_all_correlations_rise():
    values = {name: [-0.3, -0.2, -0.1] for name in ("difference", "excess")}
    values |= {name: [0.5] * 3 for name in ("pvalue", "excess_pvalue")}
    said = conclusion(pairs("range_drop", list("abc"), values, alpha=0.05))
    assert said.startswith("In 0 of 3 pairs of metrics") and "largest drop" not in said
