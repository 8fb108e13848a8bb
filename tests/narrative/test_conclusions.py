"""What results say in words: every analysis, odd results, and numbers that were made for the sentence."""

import html
import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from cases import ASKED, FEW, OF_DEMO, analysis_of, answer, answer_of_demo
from conftest import warns
from helpers import by_turns, for_each

import xsumstat
from xsumstat.catalogue import ANALYSES
from xsumstat.dataset import wording
from xsumstat.narrative import conclusions
from xsumstat.narrative.conclusions import conclusion, sentences


def made(analysis, data, coords, **attrs):
    """A result of numbers that a test knows."""
    return xr.Dataset(data, coords, {"analysis": analysis, "gold": "human", "coefficient": "pearson", **attrs})


def intervals(values, low, high, metrics=None):
    data = {"correlation": ("metric", values), "ci_low": ("metric", low), "ci_high": ("metric", high)}
    metrics = metrics or list("abcdefghij")[: len(values)]
    return made("ci", data, {"metric": metrics}, confidence_level=0.95, method="jackknife", level="system")


def pairs(pvalue, difference, metrics, **attrs):
    dims = ("metric", "other_metric")
    data = {"pvalue": (dims, pvalue), "difference": (dims, difference)}
    attrs = {"method": "permutation", "alternative": "two-sided", **attrs}
    return made("perm_test", data, {"metric": metrics, "other_metric": metrics}, **attrs)


def test_each_metric_is_above_or_below_the_raters_or_neither():
    limits = {"difference_low": [np.nan, 0.1, -0.3, -0.1, 0.0], "difference_high": [np.nan, 0.3, -0.1, 0.1, 0.2]}
    numbers = {"correlation": np.full(5, 0.5), "ci_low": np.full(5, 0.4), "ci_high": np.full(5, 0.6)}
    data = {name: ("metric", values) for name, values in {**numbers, **limits}.items()}
    found = made(
        "human_ceiling", data, {"metric": ["rater", "a", "b", "c", "d"]}, confidence_level=0.95, level="system"
    )
    (said,) = [each for each in sentences(found.assign_attrs(method="jackknife")) if "more than a rater" in each]
    assert said.startswith(
        "a agrees significantly more than a rater; b agrees significantly less than a rater; "
        "c and d do not differ significantly from a rater ("
    )


def test_every_analysis_has_its_sentences():
    assert all(each.say for each in ANALYSES.values())


@for_each("question", [name for name in ASKED if not name.startswith("corr, ")])
def test_every_result_says_something(question):
    """After a file, too: tests/dataset/test_results.py."""
    result = answer(question)
    said = sentences(result)
    assert said or analysis_of(result) == "simulate"
    text = " ".join(said)
    assert conclusion(result).startswith(text)
    assert not re.search(r"nan|None|\binf\b|  |(?<!\.)\.\.(?!\.)|\[\]|\(\)|; \)", text), text
    assert len(text) < 1500


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", by_turns(OF_DEMO))
@pytest.mark.slow
def test_a_result_that_was_cut_or_renamed_is_shown_all_the_same(name):
    result = answer_of_demo(name)
    first = next(iter(result.dims), None)
    odd = [
        result.isel({dim: 0 for dim in result.dims}),
        result.isel({dim: [] for dim in result.dims}),
        result.rename({dim: f"{dim}_2" for dim in result.dims}),
        result.drop_vars(list(result.coords)),
        result.drop_vars(list(result.data_vars)),
        result.drop_attrs(),
        result.where(False),
        result.squeeze(),
        *(result.drop_vars(variable) for variable in result.data_vars),
        *(result.isel({dim: 0}) for dim in result.dims),
        *(result.isel({dim: [0]}) for dim in result.dims),
    ]
    odd += [] if first is None else [result.mean(first, keep_attrs=True)]
    for each in odd:
        assert isinstance(conclusion(each), str)
        assert each.meta._repr_html_().startswith("<div")
    odd += [result.assign_attrs({key: "?"}) for key in result.attrs if key != "analysis"]
    for each in odd:  # the conclusion is the first of what is shown
        assert repr(each.meta).startswith("<xsumstat>")


def test_the_best_metric_its_interval_and_those_that_hold_zero():
    said = conclusion(intervals([0.94, 0.2, -0.5], [0.7, -0.1, -0.6], [0.99, 0.5, -0.4]))
    assert said.startswith(
        "a has the highest correlation with the human scores: .94 [.70, .99] (95 % jackknife interval; Pearson's "
        "r, system level"
    )
    assert "The interval of b includes 0; it is the widest, [-.10, .50]." in said
    assert "Undefined" not in said


def test_ties_undefined_metrics_and_one_metric():
    nan = np.nan
    said = conclusion(intervals([0.5, 0.5, nan], [0.1, 0.1, nan], [0.8, 0.8, nan]))
    assert said.startswith("a and b have the highest correlation with the human scores: .50")
    assert "Undefined: c." in said and "no interval for c" in said
    alone = conclusion(intervals([0.5], [-0.1], [0.8]))
    assert alone.startswith("a has a correlation of .50 [-.10, .80] with the human scores") and "best" not in alone
    assert conclusion(intervals([nan], [nan], [nan])).startswith("No metric has a defined correlation.")


def test_who_beats_whom_and_where_no_difference_is_significant():
    p = [[np.nan, 0.01, 0.2], [0.01, np.nan, 0.04], [0.2, 0.04, np.nan]]
    difference = [[np.nan, 0.4, 0.1], [-0.4, np.nan, -0.3], [-0.1, 0.3, np.nan]]
    said = conclusion(pairs(p, difference, ["judge", "bleu", "bertscore"]))
    assert said.startswith(
        "judge beats bleu, and does not differ significantly from bertscore. Its correlation is higher than that "
        "of every other metric in these data. 2 of 3 pairs of metrics differ "
        "significantly"
    )
    assert "is ahead" not in said and "told apart" not in said and "p-values not corrected; alpha .05" in said
    assert "on average" not in said  # three tests are few
    corrected = pairs(p, difference, ["judge", "bleu", "bertscore"]).meta.adjust("holm")
    assert "Holm over all tests; alpha .05" in conclusion(corrected)
    assert "2 of 3" not in conclusion(corrected) and "1 of 3 pairs" in conclusion(corrected)  # .01 * 3, .04 * 2


@pytest.mark.parametrize(
    ("alternative", "difference", "who"), [("greater", 0.3, "a beats b"), ("less", -0.3, "b beats a")]
)
def test_the_alternative_says_who_beats_whom(alternative, difference, who):
    """The difference is that of the better metric."""
    nan = np.nan
    result = pairs([[nan, 0.001], [nan, nan]], [[nan, difference], [nan, nan]], ["a", "b"], alternative=alternative)
    assert conclusion(result).startswith(f"{who}: their correlations differ by .30, p = .001")


@pytest.mark.parametrize(("alternative", "side"), [("greater", "better"), ("less", "worse")])
def test_a_one_sided_test_denies_one_side_only(alternative, side):
    """Two sides would say that metrics whose interval excludes 0 do not differ."""
    asked = {"alternative": alternative, "n_resamples": 99, "resample": "both", "swap": "scores"}
    one = pairs([[np.nan, 0.992], [np.nan, np.nan]], [[np.nan, 0.07], [np.nan, np.nan]], ["a", "b"], **asked)
    said = conclusion(one)
    assert f"a is not significantly {side} than b: their correlations differ by .07, p = .992" in said
    assert "(permutation test, one-sided, 99 swaps of scores; p-values not corrected; alpha .05" in said
    assert "no significant difference" not in said
    p = np.array([[np.nan, 0.001, 0.3], [0.999, np.nan, 0.6], [0.7, 0.4, np.nan]])
    several = conclusion(pairs(p, np.full((3, 3), 0.1), ["a", "b", "c"], **asked))
    assert "1 of 6 one-sided tests of two metrics are significant" in several
    assert "pairs of metrics differ" not in several
    assert "one-sided" not in conclusion(pairs(p, p - 0.5, ["a", "b", "c"]))


def test_a_list_of_pairs_keeps_its_verbs():
    """A phrase of two names is longer than a name may be; only names are shortened."""
    names = ["ptr_generator_out_pointer_gen_cov", "pnbert_out_bert_lstm_pn_rl", "presumm_out_trans_abs", "z" * 200]
    p = np.where(np.eye(4, dtype=bool), np.nan, 0.001)[:3]
    result = pairs(np.vstack([p, p[:1]]), np.full((4, 4), 0.3), names).isel(metric=[0, 1], other_metric=[2, 3])
    said = conclusion(result)
    assert f"{names[0]} beats {names[2]}, {names[0]} beats zzz" in said
    assert "z" * 151 not in said


def test_many_tests_without_a_correction_are_remarked_on():
    size = 16
    p = np.where(np.eye(size, dtype=bool), np.nan, 0.5)
    result = pairs(p, p - 0.25, [f"m{at}" for at in range(size)])
    assert "120 tests at .05 without a correction: if nothing differed, 6 of them" in conclusion(result)
    assert "without a correction" not in conclusion(result.meta.adjust("bh"))
    one_sided = result.assign_attrs(alternative="greater")
    assert "240 tests" in conclusion(one_sided)


def test_what_is_not_shown_to_be_equivalent_is_not_called_different():
    dims = ("metric", "other_metric")
    data = {
        "equivalent": (dims, [[True], [False]]),
        "pvalue": (dims, [[0.01], [0.5]]),
        "margin": (dims, [[0.05], [0.05]]),
        "difference": (dims, [[0.0], [0.1]]),
    }
    result = made("equivalence", data, {"metric": ["a", "b"], "other_metric": ["z"]}, method="tost", alpha=0.05)
    said = conclusion(result)
    assert said.startswith("1 of 2 pairs are equivalent within ±.05") and ": a with z." in said
    assert "(b with z) may still be equivalent" in said


@pytest.mark.parametrize(("rate", "verdict"), [(0.5, "may replace"), (1 / 3, "may not replace")])
def test_may_a_judge_replace_a_rater(rate, verdict):
    data = {"winning_rate": ("metric", [rate]), "pvalue": (("metric", "rater"), [[0.01] * (2 if rate == 0.5 else 3)])}
    result = made("alt_test", data, {"metric": ["judge"]}, margin=0.2, alpha=0.05, along="rater")
    assert conclusion(result).startswith(f"judge (wins against 1 of {2 if rate == 0.5 else 3}) {verdict} one of these")


@pytest.mark.parametrize(
    ("alpha", "low", "high", "reading", "beside"),
    [
        (0.85, 0.81, 0.9, "reliable (", "in this class"),
        (
            0.82,
            0.7,
            0.9,
            "reliable (",
            'The interval reaches from "good for tentative conclusions only" to "reliable".',
        ),
        (0.7, 0.668, 0.79, "good for tentative conclusions only (", "in this class"),
        (0.5, 0.4, 0.6, "not reliable (", "in this class"),
    ],
)
def test_the_usual_reading_of_alpha(alpha, low, high, reading, beside):
    result = made("agreement", {"alpha": alpha, "ci_low": low, "ci_high": high}, {}, confidence_level=0.95)
    said = conclusion(result)
    assert f"Krippendorff calls this {reading}" in said and beside in said


def test_forty_one_metrics_are_not_all_named():
    values = np.linspace(0.9, 0.1, 41)
    said = conclusion(intervals(values, values - 1, values + 1, [f"metric-{at}" for at in range(41)]))
    assert (
        said.startswith("metric-0 has the highest correlation")
        and "All intervals include 0" in said
        and said.count("metric-") < 8
    )
    some = intervals(values, values - 0.49, values + 0.49, [f"metric-{at}" for at in range(41)])
    assert "and 15 more include 0" in conclusion(some)  # 20 are below .49


def test_too_few_resamples_are_not_blamed_on_the_metrics(demo):
    """The least p-value of 99 swaps is .01, and .15 times 15."""
    test = demo.meta.perm_test("human", level="input", n_resamples=99, rng=1)
    with warns("few_resamples"):
        corrected = test.meta.adjust("holm")
    assert "With 99 resamples none of 15 corrected tests could be significant: 299 are needed." in conclusion(corrected)
    enough = demo.meta.perm_test("human", level="input", n_resamples=299, rng=1).meta.adjust("holm")
    assert "could be significant" not in conclusion(enough)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(0.94, ".94"), (-0.12, "-.12"), (1.0, "1.00"), (0.996, ".996"), (-0.9999, "-.9999"), (0.999999, "1.00")],
        *[(0.0, ".00"), (-0.0, ".00"), (0.004, ".004"), (1e-9, ".00"), (-1e-9, ".00"), (1234.5, "1,234.50")],
        *[(float("nan"), "undefined"), (float("-inf"), "-∞"), (-0.004, "-.004"), (1.004, "1.00")],
    ],
)
def test_numbers_as_papers_print_them(value, text):
    assert wording.number(value) == text


def test_lists_numbers_and_p_values_in_words():
    assert wording.listed("a") == "a" and wording.listed("ab") == "a and b" and wording.listed([]) == ""
    assert wording.listed("abcdef") == "a, b, c, d, e and f" and wording.listed("abcdefg") == "a, b, c, d, e and 2 more"
    assert wording.numbers([0.123, 0.124, 0.5]) == [".123", ".124", ".500"]
    assert wording.numbers([0.5, 0.5]) == [".50", ".50"]
    assert wording.pvalue(0.0004) == "p < .001" and wording.pvalue(0.0124) == "p = .012"


def test_labels_of_further_dims(demo):
    by = {"level": "input", "by": "system_type"}
    assert conclusion(demo.meta.corr("human", **by)).count("has the highest correlation") == 3
    of_inputs = demo.meta.corr("human", level="input", average=False)
    best = of_inputs.correlation.idxmax("metric").to_series().value_counts()
    told = f"By the estimates, of 30 labels of input the best is {best.index[0]} in {best.iloc[0]}"
    assert told in conclusion(of_inputs)


def test_a_lazy_result_is_not_computed(demo):
    pytest.importorskip("dask")
    dask = pytest.importorskip("dask")

    def refuse(*args, **kwargs):
        raise AssertionError("computed")

    lazy = demo.chunk().meta.ci("human")
    with dask.config.set(scheduler=refuse):
        assert conclusion(lazy).startswith("Not computed yet (Dask)")
    assert conclusion(lazy.compute()) == conclusion(demo.meta.ci("human"))


def bins_of(counts, n_bins=10):
    """Places of the bins that are named, by the rule in words: 30 or more, and 1 % of all or more."""
    least = max(30, -(-sum(counts) // 100))
    return least, [at for at in range(n_bins) if counts[at] >= least]


def test_score_bins_of_few_pairs_are_not_named(demo):
    """One metric pair's cells are summed here in plain Python; bins of 1 and 18 pairs came first in 0.2.0."""
    result = demo.meta.disagreement()
    names = result.metric.values.tolist()
    counts, opposite = [0] * 10, [0.0] * 10
    for at, one in enumerate(names):
        for other in names[at + 1 :]:
            cell = result.sel(metric=one, other_metric=other)
            for place in range(10):
                n = int(cell.n_pairs[place])
                counts[place] += n
                opposite[place] += n * float(cell.share[place]) if n else 0.0
    least, named = bins_of(counts)
    middles = [wording.number(each) for each in result.score_bin.values]
    rates = {at: wording.number(opposite[at] / counts[at]) for at in named}
    said = conclusion(result)
    total = wording.number(sum(opposite) / sum(counts))
    assert min(n for n in counts if n) < 30 and named[0] > counts.index(next(n for n in counts if n))
    head = f"Two metrics order a share of {total} of {sum(counts):,} pairs of outputs in opposite directions"
    assert said.startswith(f"{head}, counted for each of 15 pairs of metrics.")
    low, high = named[0], named[-1]
    assert (
        f"Of the score bins with at least {least:,} pairs, the lowest (scores around {middles[low]}, "
        f"{counts[low]:,} pairs) "
        f"has a share of {rates[low]}, the highest (scores around {middles[high]}, {counts[high]:,} pairs) "
        f"{rates[high]}"
    ) in said
    most = max(named, key=lambda at: opposite[at] / counts[at])
    assert most in (low, high) or f"the largest share is {rates[most]} (scores around {middles[most]}, " in said
    for at in set(range(10)) - set(named):
        assert f"around {middles[at]}" not in said


def test_score_bins_of_few_outputs_are_not_named(demo):
    result = demo.meta.improvement_consistency()
    counts = result.n_outputs.values.tolist()
    least, named = bins_of(counts)
    said = conclusion(result)
    for at in (named[0], named[-1]):
        cell = result.isel(score_bin=at)
        texts = wording.alike([cell.ratio.item(), cell.ci_low.item(), cell.ci_high.item()])
        middle = wording.number(cell.score_bin.item())
        place = f"(scores around {middle}, {counts[at]:,} outputs)"
        assert place in said and f"{texts[0]} [{texts[1]}, {texts[2]}]" in said.partition(place)[2][:40]
    mean = sum(r * n for r, n in zip(result.ratio.values, counts, strict=True) if n) / sum(counts)
    assert f"a share of {wording.number(mean)} higher, on average over {sum(counts):,} outputs." in said
    for at in set(range(10)) - set(named):
        assert f"around {wording.number(result.score_bin.values[at])}" not in said


def test_score_bins_that_are_all_small_one_alone_and_the_highest_between():
    def shares(n, share):
        dims = ("metric", "other_metric", "score_bin")
        data = {"share": (dims, [[share]]), "n_pairs": (dims, [[n]])}
        return made("disagreement", data, {"metric": ["a"], "other_metric": ["b"], "score_bin": [0.25, 0.5, 0.75]})

    assert conclusion(shares([29, 3, 1], [0.1, 0.9, 1.0])) == (
        "Two metrics order a share of .20 of 33 pairs of outputs in opposite directions. No score bin has 30 "
        "pairs or more."
    )
    assert "The only score bin with at least 30 pairs (scores around .25, 30 pairs) has a share of .10." in conclusion(
        shares([30, 3, 0], [0.1, 0.9, np.nan])
    )
    assert "at least 100 pairs" in conclusion(shares([9500, 401, 99], [0.1, 0.9, 1.0]))
    said = conclusion(shares([40, 50, 30], [0.1, 0.9, 0.2]))
    assert "; the largest share is .90 (scores around .50, 50 pairs)." in said
    assert conclusion(shares([0, 0, 0], [np.nan] * 3)) == "No pair of outputs could be compared."


def test_an_estimate_and_its_limits_have_the_same_digits(demo):
    assert wording.estimate(0.3467, 0.28, 0.41) == ".35 [.28, .41]"
    assert wording.estimate(0.753, -0.001, 0.96) == ".753 [-.001, .960]"
    assert wording.estimate(0.5, 0.2, 0.996) == ".500 [.200, .996]"
    assert wording.estimate(0.85, 0.85, 1 - 1e-12) == ".85 [.85, 1.00]"
    assert wording.estimate(0.346, 0.2, 0.5, digits=3) == ".346 [.200, .500]"
    assert wording.estimate(0.5) == ".50" and wording.estimate(0.5, np.nan, 0.6) == ".50"
    near = intervals([0.3467, 0.3466], [0.28, 0.1], [0.41, 0.6])
    assert conclusion(near).startswith("a has the highest correlation with the human scores: .35 [.28, .41] (")


_ESTIMATE = re.compile(r"(-?\d*\.\d+) \[(-?\d*\.\d+), (-?\d*\.\d+)\]")


@for_each("question", [name for name in ASKED if not name.startswith("corr, ")])
def test_every_interval_has_the_digits_of_its_estimate(question):
    for found in _ESTIMATE.finditer(conclusion(answer(question))):
        assert len({len(text.partition(".")[2]) for text in found.groups()}) == 1, found[0]


@for_each("question", [name for name in ASKED if not name.startswith("corr, ")])
def test_no_sentence_speaks_of_telling_apart(question):
    assert not re.search(r"told apart|the truth|is ahead|too seldom|too often", conclusion(answer(question)))


def test_no_significant_difference_is_said_of_pairs_that_the_p_values_show(demo):
    found = demo.meta.perm_test("human", level="input", n_resamples=999, rng=1).meta.adjust("holm")
    said = conclusion(found)
    ahead = found.difference.where(found.metric != found.other_metric).min("other_metric").idxmax("metric").item()
    p = found.pvalue_adjusted.sel(metric=ahead).drop_sel(other_metric=ahead)
    beaten = [label for label, value in zip(p.other_metric.values.tolist(), p.values, strict=True) if value <= 0.05]
    rest = [label for label in p.other_metric.values.tolist() if label not in beaten]
    assert said.startswith(f"For these 12 systems, {ahead} beats {wording.listed(beaten)}")
    assert ("does not differ significantly" in said) == bool(rest)
    pairs_ = found.pvalue_adjusted.to_series().dropna()
    assert f"{int((pairs_ <= 0.05).sum()) // 2} of {len(pairs_) // 2} pairs of metrics differ significantly (" in said
    nan = np.nan
    one = pairs([[nan, 0.2], [nan, nan]], [[nan, 0.3], [nan, nan]], ["a", "b"])
    assert conclusion(one).startswith(
        "There is no significant difference between a and b: their correlations differ by .30, p = .200 ("
    )
    none = pairs([[nan, 0.2, 0.3], [0.2, nan, 0.9], [0.3, 0.9, nan]],
                 [[nan, 0.3, 0.4], [-0.3, nan, 0.1], [-0.4, -0.1, nan]], ["a", "b", "c"])  # fmt: skip
    assert conclusion(none).startswith(
        "a does not differ significantly from b or c. Its correlation is higher than that of every other metric in "
        "these data. 0 of 3"
    )


def test_coverage_is_said_as_below_within_or_above():
    data = {"coverage": ("interval", [0.8, 0.94, 0.99]), "ci_low": ("interval", [0.75, 0.9, 0.97]),
            "ci_high": ("interval", [0.85, 0.97, 1.0])}  # fmt: skip
    result = made("coverage", data, {"interval": ["x", "y", "z"]}, confidence_level=0.95, n_trials=200)
    assert conclusion(result).startswith(
        "Coverage of 95 % intervals in 200 trials: below 95 % for x (.80); 95 % within simulation error for y (.94); "
        "above 95 % for z (.99)."
    )


def test_names_that_are_long_or_odd():
    long = "x" * 10_000
    said = conclusion(intervals([0.5, 0.4], [0.1, 0.1], [0.9, 0.9], [long, "<b>"]))
    assert len(said) < 400 and "x…x" in said
    assert "<b>" not in intervals([0.5], [0.1], [0.9], ["<b>"]).meta._repr_html_()


def test_it_comes_first_in_what_a_result_shows(demo):
    result = demo.meta.rank("human", **FEW)
    told = repr(result.meta)
    assert told.splitlines()[1].startswith("  conclusion        1 cluster, best first: (1) judge")
    assert " ".join(told.split()).startswith(f"<xsumstat> conclusion {conclusion(result)} analysis rank")
    assert conclusion(result) in html.unescape(result.meta._repr_html_())


def test_what_is_no_result_says_nothing(demo):
    assert conclusion(xr.Dataset()) == conclusion(demo.drop_vars("truth")) == ""
    assert conclusion(demo).startswith(
        "Simulated scores; true correlations with the human scores (system level): judge"
    )
    assert conclusions.conclusion(xsumstat.load_dataset("demo").assign_attrs(analysis="no such")) == ""


def test_metrics_that_are_better_when_lower_are_named(demo):
    said = conclusion(demo.meta.corr("human"))
    assert said.endswith("For perplexity lower is better; its scores were negated.")
    two = demo.assign_coords(higher_is_better=~demo.metric.isin(["perplexity", "length"]))
    assert conclusion(two.meta.ci("human")).endswith(
        "For perplexity and length lower is better; their scores were negated."
    )
    none = demo.drop_sel(metric="perplexity").meta.corr("human")
    assert "lower is better" not in conclusion(none)


def test_one_pair_has_its_difference(demo):
    found = demo.meta.equivalence(
        "human", metric="rouge", other="bleu", margin=0.9, level="input", n_resamples=499, rng=1
    )
    one = found.squeeze()
    values = [f"{float(one[each]):.2f}".replace("0.", ".", 1) for each in ("difference", "ci_low", "ci_high")]
    told = "rouge and bleu are equivalent within ±.90: they differ by {} (90 % interval [{}, {}]), p ".format(*values)
    assert conclusion(found).startswith(told)


@pytest.mark.parametrize("first", ["pearson", "spa"])
def test_joined_coefficients_with_other_methods_do_not_take_the_first_ones(demo, first):
    """Only the jackknife has degrees of freedom; xr.concat keeps the attrs of the first."""
    found = {name: demo.meta.ci(coefficient=name, metric="judge", rng=1) for name in ("pearson", "spa")}
    order = sorted(found, key=lambda name: name != first)
    joined = xr.concat([found[name] for name in order], pd.Index(order, name="coefficient"))
    said, methods, table = joined.meta.conclusion(), joined.meta.methods(), joined.meta.to_latex()
    of_first, of_second = said.split(f"coefficient {order[1]}:")
    kind = {"pearson": "jackknife", "spa": "bootstrap"}
    assert f"{kind[first]} interval" in of_first and "jackknife" not in of_second and "bootstrap" not in of_second
    assert "The 95 % intervals are of several kinds; they apply" in methods and "jackknife" not in table


def test_a_group_of_one_input_speaks_of_these_inputs(demo):
    grouped = demo.assign_coords(part=("input", ["x"] + 29 * ["y"]))
    found = grouped.meta.ci(metric="judge", level="input", by="part")
    of_x, of_y = found.meta.conclusion().split("part y:")
    assert "systems like these on these inputs" in of_x and "systems and inputs like these" in of_y
    assert "For part x: the 95 % intervals" in found.meta.methods()
