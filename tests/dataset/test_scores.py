import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import dataset, warns

import xsumstat
from xsumstat.dataset import metric_choice
from xsumstat.dataset import scores as schema


def ask(ds, gold="m0", **keywords):
    """What every question does first."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return schema.prepare(ds, gold, None, **{"level": "system", "missing": "pairwise"} | keywords)


# --- dims ---


def test_set_dims_renames_dims_and_coords():
    ds = xr.Dataset({"score": (("m", "model", "doc"), np.zeros((1, 2, 3)))}, coords={"model": ["a", "b"]})
    renamed = xsumstat.set_dims(ds, metric="m", system="model", input="doc")
    assert dict(renamed.sizes) == {"metric": 1, "system": 2, "input": 3}
    assert list(renamed.system.values) == ["a", "b"]
    assert ds.score.dims == ("m", "model", "doc")


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"system": "modle"}, r"system='modle' is not a dim; did you mean 'model'\? dims: 'metric', 'model', 'input'"),
        ({"system": "input"}, "cannot rename"),
        ({"metric": "model"}, "cannot rename 'model' to 'metric': the Dataset has a 'metric' already"),
    ],
)
def test_set_dims_says_what_is_wrong(keywords, message):
    ds = xr.Dataset({"score": (("metric", "model", "input"), np.zeros((1, 2, 3)))})
    with pytest.raises(ValueError, match=message):
        if keywords == {"system": "input"}:
            ds = ds.assign_coords(system=("model", [1, 2]))
        xsumstat.set_dims(ds, **keywords)


def test_missing_dims_are_named_with_the_way_out(small):
    with pytest.raises(
        ValueError, match=r"score must have dim 'system', .* rename with ds = xsumstat.set_dims\(ds, system="
    ):
        ask(small.rename(system="model"))


def test_no_variable_score(small):
    with pytest.raises(ValueError, match="no variable 'score'.* variables: 'scores'"):
        ask(small.rename(score="scores"))


def written(error, before, after, **names):
    """What the code between two words of a message gives."""
    call = str(error.value).partition(before)[2].partition(after)[0]
    return eval(call, {"xsumstat": xsumstat, **names})


@pytest.mark.parametrize("renamed", [{"system": "model"}, {"input": "doc_id"}, {"system": "llm", "input": "prompt"}])
def test_the_call_for_missing_dims_renames_them(small, renamed):
    """The only other dim needs no usual name; "llm" is left to the user."""
    ds = small.rename(renamed)
    with pytest.raises(ValueError, match="score must have dim") as error:
        ask(ds)
    if len(renamed) == 1:
        xr.testing.assert_identical(written(error, "rename with ds = ", "\n", ds=ds), small)
    else:
        assert "set_dims(ds, system=..., input='prompt')" in str(error.value)


def test_the_call_for_scores_of_another_name_renames_them(small):
    ds = small.rename(score="values").assign(truth=("metric", np.zeros(4)))
    with pytest.raises(ValueError, match="no variable 'score'") as error:
        ask(ds)
    assert "score" in written(error, "rename one: ds = ", "; variables", ds=ds)
    with pytest.raises(ValueError, match="metrics' scores; variables: 'truth'$"):
        ask(ds[["truth"]])


@pytest.mark.parametrize("name", ["other_metric", "resample"])
def test_names_that_results_need_are_refused(small, name):
    with pytest.raises(ValueError, match=f"score has the dim '{name}'"):
        ask(small.expand_dims({name: 2}))
    with pytest.raises(ValueError, match=f"gold has the dim '{name}'"):
        ask(small, small.score.sel(metric="m0").expand_dims({name: 2}))


def test_order_of_dims_does_not_matter(small):
    prepared = ask(small.transpose("input", "metric", "system"))
    xr.testing.assert_identical(prepared.score, ask(small).score)


# --- values ---


def test_not_numbers(small):
    with pytest.raises(TypeError, match="score must hold numbers, got dtype object; convert with .astype"):
        ask(small.astype(object))
    with pytest.raises(TypeError, match="gold must hold numbers"):
        ask(small, small.score.sel(metric="m0").astype(str))


def test_infinite_scores_are_counted_and_the_first_is_placed(small):
    small.score[1, 2, 3] = np.inf
    small.score[3, 0, 0] = -np.inf
    with pytest.raises(ValueError, match=r"score has 2 infinite values, the first at .*'m1'.*'s2'.*'i3'"):
        ask(small)


def test_infinite_scores_are_placed_by_labels_of_any_kind(small):
    small.score[1, 2, 3] = np.inf
    dated = small.assign_coords(input=pd.date_range("2020-01-01", periods=5), system=range(6))
    with pytest.raises(ValueError, match=r"'m1', 'system': 2, 'input': Timestamp\('2020-01-04 00:00:00'\)"):
        ask(dated)
    with pytest.raises(ValueError, match=r"the first at {'metric': 'm1', 'input': 'i3'}"):
        ask(small.drop_vars("system"))


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, bool, np.float16])
def test_all_kinds_of_numbers_are_taken(small, dtype):
    scores = ask(abs(small).astype(dtype) if dtype is not bool else small > 0)
    assert scores.score.dtype == np.float64


@pytest.mark.parametrize("dim", ["metric", "system", "input"])
def test_a_label_twice(small, dim):
    labels = list(small[dim].values)
    labels[1] = labels[0]
    with pytest.raises(ValueError, match=f"dim '{dim}' of score repeats '{labels[0]}'"):
        ask(small.assign_coords({dim: labels}))


def test_what_comes_in_is_never_changed(small):
    small = small.assign_coords(higher_is_better=("metric", [True, True, False, True]))
    small.score[1, 2, 3] = np.nan
    before = small.copy(deep=True)
    small.meta.ci("m0", n_resamples=10)
    small.meta.perm_test("m0", n_resamples=10)
    small.meta.metric_corr()
    xr.testing.assert_identical(small, before)


# --- gold ---


def test_gold_is_a_label_a_variable_or_an_array(small):
    alone = small.drop_sel(metric="m0")
    as_variable = alone.assign(people=small.score.sel(metric="m0", drop=True))
    by_label = ask(small)
    for prepared in (
        ask(as_variable, "people"),
        ask(alone, small.score.sel(metric="m0", drop=True)),
        ask(small, small.score.sel(metric="m0")),
        ask(small.assign_attrs(gold="m0"), None),
    ):
        xr.testing.assert_equal(prepared.gold, by_label.gold)
        np.testing.assert_array_equal(prepared.score.metric, ["m1", "m2", "m3"])
    assert [by_label.gold_name, ask(as_variable, "people").gold_name] == ["m0", "people"]


def test_an_unknown_gold_gets_a_hint(demo):
    with pytest.raises(
        ValueError,
        match=r"unknown gold 'humans'; did you mean 'human'\? metrics: 'human', 'judge', .*variables: 'truth'",
    ):
        ask(demo, "humans")


def test_no_gold_at_all(small):
    with pytest.raises(
        ValueError,
        match=r"gold is not given, and ds.attrs\['gold'\] is not set; pass .*, e.g. gold='m0'; metrics: 'm0', 'm1'",
    ):
        ask(small, None)
    for label, ds in (
        ("m2", small.assign_coords(kind=("metric", ["automatic", "automatic", "human", "automatic"]))),
        ("human_score", small.assign_coords(metric=["m0", "m1", "m2", "human_score"])),
    ):
        with pytest.raises(ValueError, match=f"e.g. gold='{label}'; metrics"):
            ask(ds, None)


def test_a_gold_of_the_attrs_that_is_gone(small):
    with pytest.raises(ValueError, match=r"unknown gold 'm0' \(from ds.attrs\['gold'\]\)"):
        small.assign_attrs(gold="m0").drop_sel(metric="m0").meta.corr()


def test_a_gold_that_is_a_coordinate_or_has_no_name(small):
    people = small.score.sel(metric="m0", drop=True)
    by_name = small.drop_sel(metric="m0").assign_coords(people=people).meta.corr("people")
    without = small.drop_sel(metric="m0").meta.corr(people.rename(None))
    np.testing.assert_array_equal(by_name.correlation, without.correlation)
    assert [by_name.attrs["gold"], without.attrs["gold"]] == ["people", "gold"]


def test_several_golds_are_asked_for_by_a_dim(small):
    for several in (["m0", "m1"], small.metric.to_index(), small.metric.to_series(), small):
        with pytest.raises(TypeError, match=r"ds.score.sel\(metric=\[...\]\).rename\(metric='quality'\)"):
            ask(small, several)
    with pytest.raises(ValueError, match="gold has the dim 'metric'; rename it"):
        ask(small, small.score.sel(metric=["m0", "m1"]))
    beside = small.drop_sel(metric=["m0", "m1"])
    assert ask(beside, small.score.sel(metric=["m0", "m1"]).rename(metric="quality")).gold.dims == (
        "quality",
        "system",
        "input",
    )


def test_gold_that_is_both_a_metric_and_a_variable(small):
    with pytest.raises(ValueError, match="names both a metric and a variable"):
        ask(small.assign(m0=small.score.sel(metric="m0", drop=True)))


def test_gold_without_inputs_serves_system_level_only(small):
    means = small.score.sel(metric="m0", drop=True).mean("input")
    got = small.meta.corr(means, metric=["m1", "m2"], level="system").correlation
    np.testing.assert_allclose(got, small.meta.corr("m0", metric=["m1", "m2"]).correlation, atol=1e-12)
    with pytest.raises(ValueError, match="gold has no dim 'input', so only level='system'"):
        ask(small, means, level="input")
    with pytest.raises(ValueError, match="gold must have the dims 'system' and 'input', it has 'input'"):
        ask(small, small.score.sel(metric="m0", drop=True).mean("system"))


@pytest.mark.parametrize(
    "values, message", [(np.nan, "'m0' has no score at all"), (3.0, "'m0' is constant: its correlations")]
)
def test_gold_without_information(small, values, message):
    small.score[0] = values
    with pytest.raises(ValueError, match=f"gold {message}"):
        ask(small)


def test_gold_that_is_constant_for_some_labels_only(small):
    gold = small.score.sel(metric=["m0", "m1"]).rename(metric="quality")
    gold[0] = 3.0
    with pytest.warns(UserWarning, match="gold 'score' is constant, so correlations are undefined .NaN., for .*'m0'"):
        got = small.meta.corr(gold, metric="m3")
    np.testing.assert_array_equal(np.isnan(got.correlation.sel(metric="m3")), [True, False])


# --- metrics ---


def test_metrics_are_chosen_by_label_labels_or_condition(small):
    assert list(schema.prepare(small, "m0", "m2", level="system", missing="pairwise").score.metric) == ["m2"]
    for chosen in (["m3", "m1"], np.array(["m3", "m1"]), small.metric.sel(metric=["m3", "m1"])):
        assert list(schema.prepare(small, "m0", chosen, level="system", missing="pairwise").score.metric) == [
            "m3",
            "m1",
        ]
    condition = small.kind.isin(["b", "c"])
    assert list(schema.prepare(small, "m0", condition, level="system", missing="pairwise").score.metric) == ["m2", "m3"]


def test_a_wrong_metric(small):
    with pytest.raises(ValueError, match=r"unknown metric 'm9'; did you mean 'm\d'\? metrics: 'm0', 'm1'"):
        small.meta.corr("m0", metric=["m1", "m9"])
    with pytest.raises(ValueError, match="metric repeats 'm1'"):
        small.meta.corr("m0", metric=["m1", "m1"])
    with pytest.raises(ValueError, match="metric must select at least one metric"):
        small.meta.corr("m0", metric=small.kind == "z")
    with pytest.raises(ValueError, match="metric as a condition must be over the labels of dim 'metric', got dims"):
        small.meta.corr("m0", metric=(small.score > 0).isel(input=0))
    with pytest.raises(TypeError, match="metric as a condition must be a DataArray over 'metric'"):
        small.meta.corr("m0", metric=[True, False, True, True])
    with pytest.raises(ValueError, match="unknown metric 'a'"):
        small.meta.corr("m0", metric=xr.DataArray([True, False], {"metric": ["a", "m1"]}, "metric"))


def test_a_condition_goes_by_label(small):
    condition = small.metric.isin(["m1", "m2"])
    for order in ([3, 2, 1, 0], [2, 0, 1]):
        got = small.meta.corr("m0", metric=condition.isel(metric=order))
        assert set(got.metric.values) == {"m1", "m2"}
    previous = small.meta.corr("m0").correlation
    kept = small.meta.corr("m0", metric=previous > previous.min())
    assert len(kept.metric) == 2


def test_metrics_without_labels_are_numbered(small):
    bare = small.drop_vars(["metric", "system", "input"])
    got = bare.meta.corr(0)
    assert list(got.metric.values) == [1, 2, 3]
    np.testing.assert_array_equal(got.correlation, small.meta.corr("m0").correlation)


def test_lower_is_better_is_turned_round(small):
    marked = small.assign_coords(higher_is_better=("metric", [True, False, True, True]))
    plain, turned = small.meta.corr("m0").correlation, marked.meta.corr("m0").correlation
    np.testing.assert_allclose(turned, plain * [-1, 1, 1], atol=1e-15)
    gold_turned = small.assign_coords(higher_is_better=("metric", [False, True, True, True]))
    for gold in ("m0", gold_turned.score.sel(metric="m0")):
        np.testing.assert_allclose(gold_turned.meta.corr(gold).correlation, -plain, atol=1e-15)
    both = marked.meta.metric_corr().correlation.sel(metric="m1", other_metric="m2")
    assert float(both) == pytest.approx(
        -float(small.meta.metric_corr().correlation.sel(metric="m1", other_metric="m2"))
    )


def test_higher_is_better_must_be_true_or_false(small):
    np.testing.assert_array_equal(
        small.assign_coords(higher_is_better=("metric", [1, 0, 1, 1])).meta.corr("m0").correlation,
        small.assign_coords(higher_is_better=("metric", [True, False, True, True])).meta.corr("m0").correlation,
    )
    with pytest.raises(ValueError, match="higher_is_better must be True or False for each metric, got"):
        ask(small.assign_coords(higher_is_better=("metric", [1.0, np.nan, 1.0, 1.0])))


def test_higher_is_better_in_the_wrong_place(small):
    with pytest.raises(
        ValueError, match="higher_is_better is a variable of the Dataset, and must be a coordinate of metric"
    ):
        ask(small.assign(higher_is_better=("metric", [True, False, True, True])))
    with pytest.raises(ValueError, match=r"higher_is_better must be a coordinate of metric, got the dims 'system'"):
        ask(small.assign_coords(higher_is_better=("system", [True, False] * 3)))


def test_coordinates_with_the_names_of_results_give_way(small):
    plain = small.meta.perm_test("m0", n_resamples=30, rng=0)
    names = ("pvalue", "difference", "correlation", "n_undefined", "ci_low", "samples")
    noisy = small.assign_coords({name: ("metric", np.arange(4.0)) for name in names})
    xr.testing.assert_equal(noisy.meta.perm_test("m0", n_resamples=30, rng=0), plain)
    xr.testing.assert_equal(noisy.meta.corr("m0"), small.meta.corr("m0"))
    xr.testing.assert_equal(noisy.meta.ci("m0", n_resamples=30, rng=0), small.meta.ci("m0", n_resamples=30, rng=0))
    xr.testing.assert_equal(noisy.meta.metric_corr(), small.meta.metric_corr())


def test_a_further_dim_may_be_called_pair(small):
    by_pair = xr.concat([small, small], "pair").assign_coords(pair=["en-de", "en-fr"])
    assert by_pair.meta.perm_test("m0", n_resamples=30, rng=0).pvalue.sizes["pair"] == 2
    assert by_pair.meta.metric_corr().correlation.sizes["pair"] == 2


def test_a_dim_that_a_selection_lost(small):
    with pytest.raises(ValueError, match=r"keep it by selecting a list, as in sel\(system=\[...\]\)"):
        ask(small.isel(system=0))


def test_gold_and_scores_that_are_never_together(small):
    small.score[0, :, :2] = np.nan
    small.score[1:, :, 2:] = np.nan
    with pytest.raises(ValueError, match="no output has both a gold score and a metric score"):
        ask(small)


def test_a_metric_without_any_score(small):
    small.score[2] = np.nan
    with pytest.raises(ValueError, match=r"no score at all for metric 'm2': .*drop_sel"):
        ask(small)


def test_a_constant_metric_is_said_and_gives_nan(small):
    small.score[2] = 1.0
    with pytest.warns(
        UserWarning, match="constant scores, so the correlation is undefined .NaN., for metric 'm2'"
    ) as caught:
        got = small.meta.corr("m0")
    assert len(caught) == 1
    np.testing.assert_array_equal(np.isnan(got.correlation), [False, True, False])
    assert list(got.n_undefined) == [0, 1, 0]


# --- sizes ---


def test_sizes_that_say_little_or_nothing(small):
    with pytest.raises(ValueError, match="level='system' correlates over systems and needs at least 2, got 1"):
        ask(small.isel(system=[0]))
    with pytest.raises(ValueError, match="level='within_system' correlates over inputs and needs at least 2, got 1"):
        ask(small.isel(input=[0]), level="within_system")
    with pytest.raises(ValueError, match="score has no input: dim 'input' has length 0"):
        ask(small.isel(input=[]))
    with warns("few_systems"):
        small.isel(system=slice(3)).meta.corr("m0")


# --- alignment ---


def test_labels_that_differ_are_intersected_and_reported(small):
    gold = small.score.sel(metric="m0", drop=True).isel(system=[4, 3, 2, 1, 0], input=[4, 0, 1, 2])
    with pytest.warns(UserWarning) as caught:
        got = small.drop_sel(metric="m0").meta.corr(gold)
    messages = " ".join(str(each.message) for each in caught)
    assert "differ along 'system': left out 1 label that only one of them has: 's5'" in messages
    assert "differ along 'input': left out 1 label that only one of them has: 'i3'" in messages
    assert got.attrs["dropped_system"] == "s5" and got.attrs["dropped_input"] == "i3"
    want = small.isel(system=slice(5), input=[0, 1, 2, 4]).meta.corr("m0")
    np.testing.assert_allclose(got.correlation, want.correlation, atol=1e-15)


def test_same_labels_in_another_order_are_matched_by_label(small):
    gold = small.score.sel(metric="m0", drop=True).isel(system=[5, 4, 3, 2, 1, 0])
    xr.testing.assert_equal(ask(small.drop_sel(metric="m0"), gold).gold, ask(small).gold)


def test_labels_with_nothing_in_common(small):
    gold = small.score.sel(metric="m0", drop=True).assign_coords(system=list("uvwxyz"))
    with pytest.raises(ValueError, match="gold and score share no label along 'system': gold has 'u', 'v', 'w', … "):
        ask(small, gold)


def test_sizes_that_differ_without_labels(small):
    gold = small.score.sel(metric="m0", drop=True).drop_vars("system").isel(system=slice(5))
    with pytest.raises(ValueError, match="gold has 5 and score 6 along 'system', and without labels"):
        ask(small, gold)


# --- missing cells ---


@pytest.mark.ignore_codes("few_inputs")
def test_systems_and_inputs_with_nothing_are_dropped_and_reported(small):
    small.score[0, 2] = np.nan
    small.score[:, :, 4] = np.nan
    with pytest.warns(UserWarning) as caught:
        got = small.meta.ci("m0", level="input", n_resamples=50, rng=0)
    messages = [str(each.message) for each in caught]
    assert any("left out 1 system (no output has both a human score and a metric score): 's2'" in m for m in messages)
    assert any("left out 1 input (no output has both a human score and a metric score): 'i4'" in m for m in messages)
    with_less = small.isel(system=[0, 1, 3, 4, 5], input=slice(4)).meta.ci("m0", level="input", n_resamples=50, rng=0)
    np.testing.assert_array_equal(got.ci_low, with_less.ci_low)
    assert got.attrs["dropped_system"] == "s2"


def test_available_keeps_inputs_that_nobody_rated(small):
    small.score[0, :, 3:] = np.nan
    got = small.meta.corr("m0", level="system", missing="available").correlation
    human, metrics = small.score[0].mean("input"), small.score[1:].mean("input")
    np.testing.assert_allclose(got, [np.corrcoef(each, human)[0, 1] for each in metrics], atol=1e-12)
    with pytest.warns(UserWarning, match=r"left out 2 inputs .no output has"):
        pairwise = small.meta.corr("m0", level="system").correlation
    np.testing.assert_allclose(
        pairwise, [np.corrcoef(each, human)[0, 1] for each in small.score[1:, :, :3].mean("input")], atol=1e-12
    )


def test_a_metric_with_gaps_of_its_own_is_named(small):
    small.score[2, 3] = np.nan
    with pytest.warns(
        UserWarning, match=r"compared on fewer systems, because they lack all scores on the others: m2 \(on 5 of 6\)"
    ):
        got = small.meta.corr("m0")
    want = small.isel(system=[0, 1, 2, 4, 5]).meta.corr("m0", metric="m2").correlation
    assert float(got.correlation.sel(metric="m2")) == pytest.approx(float(want[0]), abs=1e-15)


SEE = "(ds.meta.missingness() shows whether that matters): "
ONE_OF_TWO = f"outputs left out, because the metric or the human score is missing {SEE}"
ONE_OF_A_PAIR = f"outputs left out, because one metric of a pair has no score {SEE}"


@pytest.fixture
def gaps(small):
    """The gold lacks one cell, m1 another and m2 a third."""
    small.score[0, 0, 0] = small.score[1, 2, 3] = small.score[2, 4, 1] = np.nan
    return small


def messages(question):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        question()
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("level", ["system", "input", "global", "within_system"])
def test_cells_that_gold_or_a_metric_lacks_are_said_once(gaps, level):
    want = [ONE_OF_TWO + "m1 (2 of 30), m2 (2 of 30), m3 (1 of 30)"]
    assert messages(lambda: gaps.meta.corr("m0", level=level)) == want
    assert messages(lambda: gaps.meta.ci("m0", level=level, n_resamples=9, rng=0)) == want
    own = messages(lambda: gaps.meta.corr("m0", level=level, missing="available"))
    assert own == ([] if level == "system" else want)  # where each score is averaged over its own cells


def test_cells_that_one_metric_of_a_pair_lacks_are_said_once(gaps):
    """A comparison of two metrics uses the cells of both, though each alone lacks but one."""
    of_gold = ONE_OF_TWO + "m1 (2 of 30), m2 (2 of 30), m3 (1 of 30)"
    of_pairs = ONE_OF_A_PAIR + "m1 and m2 (2 of 30), m1 and m3 (1 of 30), m2 and m3 (1 of 30)"
    few = {"n_resamples": 9, "rng": 0}
    for question in (
        lambda: gaps.meta.perm_test("m0", **few),
        lambda: gaps.meta.boot_test("m0", **few),
        lambda: gaps.meta.corr_test("m0"),
        lambda: gaps.meta.ci("m0", other=["m1", "m2", "m3"], **few),
    ):
        assert [text for text in messages(question) if "left out, because" in text] == [of_gold, of_pairs]
    used = [(a, b) for a in range(6) for b in range(5) if not np.isnan(gaps.score[:3, a, b]).any()]
    means = [[np.mean([gaps.score[m, a, b] for a, b in used if a == at]) for at in range(6)] for m in range(3)]
    want = np.corrcoef(means)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        got = gaps.meta.boot_test("m0", metric="m1", other="m2", **few).difference.item()
    assert got == pytest.approx(want[1] - want[2], abs=1e-12)


def test_cells_that_one_of_two_metrics_lacks_are_said_once_without_gold(gaps):
    pairs = "m0 and m1 (2 of 30), m0 and m2 (2 of 30), m0 and m3 (1 of 30), m1 and m2 (2 of 30), m1 and m3 (1 of 30), "
    assert messages(lambda: gaps.meta.metric_corr(level="input")) == [ONE_OF_A_PAIR + pairs + "m2 and m3 (1 of 30)"]
    said = messages(lambda: gaps.meta.metric_ci(level="input", n_resamples=9, rng=0))
    assert [text for text in said if "left out, because" in text] == [ONE_OF_A_PAIR + pairs + "m2 and m3 (1 of 30)"]
    assert messages(lambda: gaps.meta.metric_corr(missing="available")) == []


def test_metrics_that_lack_the_same_cells_lose_none_to_each_other(small):
    small.score[1:, 2, 3] = np.nan
    want = [ONE_OF_TWO + "m1 (1 of 30), m2 (1 of 30), m3 (1 of 30)"]
    assert messages(lambda: small.meta.perm_test("m0", n_resamples=9, rng=0)) == want


def test_whole_systems_are_not_counted_again_as_cells(small):
    small.score[1, 2] = small.score[2, 0, 0] = np.nan
    texts = messages(lambda: small.meta.corr("m0"))
    assert texts == [
        "metrics compared on fewer systems, because they lack all scores on the others: m1 (on 5 of 6)",
        ONE_OF_TWO + "m2 (1 of 30)",
    ]


def test_a_warning_points_at_the_callers_line(small):
    with warns("few_systems") as caught:
        small.isel(system=slice(3)).meta.corr("m0")
    assert caught[0].filename == __file__


def test_dataset_helper_makes_what_it_says():
    assert dict(dataset(np.zeros((2, 3, 4))).sizes) == {"metric": 2, "system": 3, "input": 4}


@pytest.mark.parametrize("dim, label", [("system", "s0"), ("input", "i2")])
def test_labels_that_only_one_has_are_named_whosever_they_are(small, dim, label):
    """Of the gold or of the scores."""
    gold = small.score.sel(metric="m0", drop=True)
    said = f"gold and score differ along '{dim}': left out 1 label that only one of them has: '{label}'"
    with pytest.warns(UserWarning, match=said):
        fewer = small.drop_sel({dim: label}).meta.corr(gold, metric=["m1", "m2"])
    with pytest.warns(UserWarning, match=said):
        other = small.meta.corr(gold.drop_sel({dim: label}), metric=["m1", "m2"])
    np.testing.assert_array_equal(fewer.correlation, other.correlation)
    assert fewer.attrs[f"dropped_{dim}"] == other.attrs[f"dropped_{dim}"] == label


def test_ratings_of_each_metric_as_concat_makes_them_say_what_to_type():
    made = xsumstat.simulate(8, 12, agreement={"a": 0.8, "b": 0.5}, truth=False, rng=1)
    human = made.score.sel(metric="human", drop=True)
    made["rating"] = xr.concat([human, human + 1.0], pd.Index(["ann", "bob"], name="rater"))
    parts = [made.sel(metric=["a", "human"]), made.sel(metric=["b"])]
    with pytest.raises(
        ValueError, match=r"'rating' has a dim 'metric'.*xr.concat\(\[...\], 'metric', data_vars='minimal'\)"
    ):
        xr.concat(parts, "metric", data_vars="all").meta.corr("human")
    joined = xr.concat(parts, "metric", data_vars="minimal")
    xr.testing.assert_allclose(
        joined.meta.corr("human").correlation.sel(metric=["a", "b"]), made.meta.corr("human").correlation
    )


@pytest.mark.parametrize("places", [[], [0], [2, 3, 4], [3, 2], [0, 2], [1, 1]])
def test_places_in_a_row_choose_the_same(places):
    values = np.arange(6)
    at = metric_choice.in_a_row(places)
    assert values[at if isinstance(at, slice) else list(at)].tolist() == places
    assert isinstance(at, slice) is (places in ([], [0], [2, 3, 4]))
