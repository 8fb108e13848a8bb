"""What `ds.meta` shows of itself."""

import re

import pytest
import xarray as xr
from cases import FEW, OF_DEMO, answer_of_demo
from preference_cases import preferences

from xsumstat import accessor, catalogue
from xsumstat.catalogue import ANALYSES
from xsumstat.narrative import available


def test_missing_ratings_are_told():
    score = xr.DataArray([[[1.0, 2.0], [3.0, 4.0]]], {"metric": ["m"]}, ("metric", "system", "input"))
    rating = xr.DataArray([[[1.0, float("nan")]] * 2] * 2, dims=("system", "input", "rater"))
    told = repr(xr.Dataset({"score": score, "rating": rating}).meta)
    assert [line.split("  ")[-1] for line in told.splitlines() if "missing: rating" in line] == [" 4 of 8 ratings"]


def test_every_question_that_is_named_can_be_asked():
    for name in (name for names in available.QUESTIONS.values() for name in names):
        assert callable(getattr(accessor.DatasetMeta, name))
    assert set(OF_DEMO) == {name for name, about in ANALYSES.items() if about.pictures}


@pytest.mark.parametrize("name", OF_DEMO)
def test_a_result_says_what_it_is_and_which_picture_belongs_to_it(name):
    result = answer_of_demo(name)
    told = repr(result.meta)
    assert re.search(rf"^  analysis +{name}$", told, flags=re.M)
    assert told.splitlines()[1].startswith("  conclusion  ") and max(map(len, told.splitlines())) < 200
    for picture in ANALYSES[name].pictures:
        assert picture in told and callable(getattr(result.meta.plot, picture))


def test_which_interval_it_was_is_told(demo):
    told = repr(demo.meta.ci("human").meta).splitlines()
    assert "  method            jackknife" in told and not any(line.startswith("  interval") for line in told)
    drawn = demo.meta.ci("human", method="bootstrap", interval="normal", **FEW)
    told = repr(drawn.meta).splitlines()
    assert "  method            bootstrap" in told and "  interval          normal" in told


def test_scores(demo):
    told = repr(demo.meta)
    assert (
        "7 metrics × 12 systems × 30 inputs" in told
        and "gold" in told
        and "missing scores                    none" in told
    )
    for picture in available.PICTURES:
        assert callable(getattr(accessor.Plots, picture)) and picture in told
    gaps = demo.copy(deep=True)
    gaps.score[2, :3, 4] = float("nan")
    del gaps.attrs["gold"]
    told = repr(gaps.meta)
    assert "bertscore: 3 of 360" in told and "not set: name it" in told
    page = gaps.assign_coords(metric=["<b>", *gaps.metric.values[1:]]).meta._repr_html_()
    assert "<table>" in page and "&lt;b&gt;" in page and "<b>" not in page


def test_lazy_scores_are_not_computed(demo):
    pytest.importorskip("dask")
    assert "not known before the scores are computed" in repr(demo.chunk().meta)


def test_no_scores():
    told = repr(xr.Dataset({"a": ("model", [1.0])}).meta)
    assert "needs a variable 'score'" in told and "a('model',)" in told and "set_dims" in told


def of(told, what):
    """What stands beside a name."""
    return next(line[2:].partition(what)[2].strip() for line in told.splitlines() if line[2:].startswith(what))


def choices_of(ds):
    """How many choices there are, and pairs of outputs that somebody saw both ways round."""
    values = ds["preference"].transpose("prompt", "pair", "order", "rater").values
    there = [[[[v == v for v in rater] for rater in order] for order in pair] for pair in values.tolist()]
    both = sum(all(each) for pair in there for orders in pair for each in zip(*orders, strict=True))
    return sum(v for pair in there for orders in pair for order in orders for v in order), both


def test_preferences_are_counted():
    ds = preferences(3, gaps=0.2)
    told = repr(ds.meta)
    n, both = choices_of(ds)
    assert of(told, "preferences").startswith(
        f"{n:,} choices on {ds.sizes['prompt']} prompts, {ds.sizes['pair']} pairs"
    )
    assert of(told, "systems") == "'alpha', 'beta', 'gamma'" and 0 < both < n
    assert of(told, "people") == "'ann', 'ben'" and of(told, "judges") == "'gpt'"
    assert of(told, "both orders").startswith(f"{both} pairs of outputs")
    once = preferences(3, both=False, judges=())
    told = repr(once.meta)
    assert choices_of(once)[1] == 0 and of(told, "both orders").startswith("no pair of outputs")
    assert of(told, "judges") == "none" and "'ann'" in of(told, "people")
    alone = preferences(3, people=())
    assert of(repr(alone.meta), "people").startswith("none: ") and of(repr(alone.meta), "judges") == "'gpt'"
    one_order = preferences(3).isel(order=[0])
    assert of(repr(one_order.meta), "both orders").startswith("no pair of outputs")


def test_preferences_that_cannot_be_read_say_why():
    ds = preferences(3)
    wrong = ds.assign(preference=ds.preference * 7)
    with pytest.raises(ValueError) as error:
        wrong.meta.rank_systems()
    assert of(repr(wrong.meta), "preferences") == str(error.value)


def test_what_readers_note_stands_beside_the_scores(demo):
    demo = demo.expand_dims(quality=["fluency", "coherence"]).assign_attrs(left_out="3 rows", added="2 of 5 rows")
    told = repr(demo.meta)
    assert of(told, "other dims") == "quality (2)"
    assert of(told, "texts left out") == "3 rows" and of(told, "added") == "2 of 5 rows"
    assert "texts left out" not in repr(demo.drop_attrs().meta) and "other dims" not in repr(demo.isel(quality=0).meta)


def test_directions_that_contradict_are_told(demo):
    lower = demo.assign_coords(higher_is_better=("metric", [label != "perplexity" for label in demo.metric.values]))
    assert of(repr(lower.meta), "direction").startswith("lower is better: 'perplexity'; higher is better: all others")
    every = demo.assign_coords(higher_is_better=("metric", [False] * demo.sizes["metric"]))
    said = of(repr(every.meta), "direction")
    assert said.startswith("lower is better: ") and "others" not in said
    unknown = demo.assign_coords(higher_is_better=("metric", ["perhaps"] * demo.sizes["metric"]))
    with pytest.raises(ValueError) as error:
        unknown.meta.corr("human")
    assert of(repr(unknown.meta), "direction") == str(error.value)


@pytest.mark.parametrize("n", [5, 6, 7])
def test_of_many_metrics_with_missing_scores_six_are_named(demo, n):
    gaps = demo.copy(deep=True)
    for at in range(n):
        gaps.score[at, : at + 1, 0] = float("nan")
    told = of(repr(gaps.meta), "missing scores")
    counts = {str(each.metric.item()): int(each.isnull().sum()) for each in gaps.score}
    assert [f"{label}: {count} of 360" in told for label, count in counts.items()] == [
        at < min(n, 6) for at in range(7)
    ]
    assert (f"… ({n} metrics in all)" in told) == (n > 6)


def test_other_variables_and_missing_ratings_are_listed(demo):
    assert "other variables" not in repr(demo[["score"]].meta)
    human = demo.score.sel(metric="human", drop=True)
    rating = xr.concat([human, human + 1], "rater").rename("rating")
    rating[0, :2, 3] = rating[1, 0, :4] = float("nan")
    told = repr(demo[["score"]].assign(rating=rating).meta)
    assert of(told, "other variables") == f"rating({', '.join(rating.dims)})"
    assert of(told, "missing: rating") == f"{int(rating.isnull().sum())} of {rating.size} ratings"
    whole = repr(demo[["score"]].assign(rating=rating.fillna(0)).meta)
    assert "missing: rating" not in whole and "rating(" in of(whole, "other variables")


def test_a_variable_that_the_catalogue_lacks_is_named(demo):
    with pytest.raises(LookupError, match="a result of 'ci' has the variable 'odd', which the catalogue does not"):
        catalogue.variable("odd", "ci")
    with pytest.raises(LookupError, match="a result has the variable 'odd', which the catalogue does not"):
        catalogue.variable("odd")
    found = demo.meta.ci("human")
    for name in found.data_vars:
        assert found[name].attrs["long_name"] == catalogue.variable(name, "ci").long_name
