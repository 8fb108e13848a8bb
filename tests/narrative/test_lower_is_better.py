"""Scores that are better when lower, as errors: verdicts are those of the scores that they were made of."""

import re

import numpy as np
import pytest
import xarray as xr

import xsumstat  # noqa: F401

pytestmark = pytest.mark.filterwarnings("ignore")
TURNED = {"lowest": "highest", "highest": "lowest", "lower": "higher", "higher": "lower", "below": "above"}
NEGATED = "For errors lower is better; its scores were negated."


def with_errors(ds, rated=None):
    """Scores with errors, 100 less the human scores, as a metric and as the gold."""
    errors = 100 - ds.sel(metric=["human"]).score
    errors = errors.assign_coords(metric=["errors"], higher_is_better=("metric", [False]))
    errors = errors if rated is None else errors.where(np.arange(ds.sizes["input"]) < rated)
    return xr.concat([ds, errors.to_dataset()], "metric").assign_attrs(gold="errors")


def in_other_words(text):
    swapped = re.sub(
        r"\b(lowest|highest|lower|higher|below|above)\b", lambda found: TURNED.get(found[0], "below"), text
    )
    return swapped.replace("errors", "human")


@pytest.mark.parametrize("adjust", [None, "holm"])
@pytest.mark.parametrize(
    "some", [slice(None), ["extractor-5", "extractor-2"], ["extractor-5", "extractor-2", "extractor-4"]]
)
def test_comparisons_of_systems_have_the_same_verdicts(demo, some, adjust):
    ds = with_errors(demo).sel(system=some)
    by_scores, by_errors = (ds.meta.compare_systems(metric=m, adjust=adjust) for m in ("human", "errors"))
    np.testing.assert_allclose(by_errors.difference.values, by_scores.difference.values, atol=1e-9)
    said, tail = by_errors.meta.conclusion().split(" For errors lower is better; ")
    assert tail == "a difference is positive if the first system is better."
    assert in_other_words(said).replace("by human", "by the human scores") == by_scores.meta.conclusion()
    assert "lower" not in by_scores.meta.conclusion().replace(" lower)", "").replace(" lower are", "")
    assert "higher" in said or "lower" in said


def test_means_of_errors_are_told_from_the_lowest(demo):
    means = with_errors(demo, 12).meta.system_means("errors", metric="judge")
    said = means.meta.conclusion()
    order = means["mean"].values.argsort()
    first, last = (str(means.system.values[at]) for at in (order[0], order[-1]))
    assert said.startswith(f"{first} has the lowest mean human score, ") and f"; {last} has the highest, " in said
    assert said.endswith("For errors lower is better.")
    low, high = means.ci_low.values, means.ci_high.values
    reach = [str(each) for at, each in enumerate(means.system.values) if low[at] <= high[order[0]] and at != order[0]]
    assert reach and all(each in said.split("overlaps with")[1] for each in reach[:4])
    axes = means.meta.plot.system_means()
    assert axes.get_xlabel() == "mean of errors (lower is better)"


def test_the_lowest_of_apart_intervals_is_best(demo):
    ds = with_errors(demo).sel(system=["extractor-5", "extractor-4"])
    said = ds.meta.system_means("errors", metric="judge").meta.conclusion()
    assert "extractor-5 is best: its interval lies below those of all other systems." in said


def test_a_helper_that_is_better_when_lower_turns_nothing(demo):
    rated = demo.score.sel(metric="human", drop=True).where(np.arange(30) < 12).rename("rated")
    said = demo.meta.system_means(rated, metric="perplexity").meta.conclusion()
    assert "extractor-5 has the highest mean human score" in said and "lower is better" not in said


def test_by_ppi_the_first_has_fewer_errors(demo):
    result = with_errors(demo, 15).meta.compare_systems(method="ppi", metric="judge")
    ahead = re.search(r"these, ([\w-]+) (is first|is best) by errors", result.meta.conclusion())
    assert ahead and bool((result.difference.sel(system=ahead[1]).drop_sel(other_system=ahead[1]) > 0).all())
    assert result.attrs["gold_lower_is_better"] == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: m.ci(metric="judge"),
        lambda m: m.corr(metric="judge", level="input"),
        lambda m: m.compare_metrics(metric=["judge", "rouge"]),
        lambda m: m.top_k_corr(k=6, metric="judge"),
        lambda m: m.discriminative_agreement(metric="judge", n_resamples=99, rng=1),
    ],
)
def test_negated_human_scores_are_told(demo, ask):
    result, plain = ask(with_errors(demo).meta), ask(demo.meta)
    main = next(iter(result.data_vars))
    np.testing.assert_allclose(result[main].values, plain[main].values, atol=1e-9)
    assert result.meta.conclusion().endswith(NEGATED) and NEGATED in result.meta.methods()
    assert "lower is better" not in plain.meta.conclusion() + plain.meta.methods()


def test_negated_metrics_are_told_in_methods(demo):
    told = "For perplexity lower is better; its scores were negated."
    assert told in demo.meta.ci().meta.methods() and told in demo.meta.metric_corr().meta.methods()
    assert told in " ".join(demo.meta.report(level="input").paper())
