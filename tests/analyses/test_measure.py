"""What is measured and how it is resampled, made of keywords; thresholds of users, by metric or held out."""

import numpy as np
import pytest
import reference
import xarray as xr
from helpers import LEVELS, pairwise, rows

from xsumstat.analyses import measure
from xsumstat.analyses.measure import Draws, Measure
from xsumstat.coefficients import table, ties
from xsumstat.dataset import facts
from xsumstat.dataset import scores as schema

ACC_EQ, WMT = table.get("acc_eq"), table.get("kendall_like")
RNG = np.random.default_rng(8)
SCORE = np.round(RNG.normal(size=(4, 5, 6)), 1) * np.array([1.0, 2.0, 5.0, 1.0])[:, None, None]
DS = xr.Dataset(
    {"score": (("metric", "system", "input"), SCORE)}, {"metric": ["b", "a", "c", "human"], "system": list("vwxyz")}
)
HOW = {"level": "input", "missing": "pairwise", "undefined": "drop"}


def prepared(metrics=("b", "a", "c"), ds=DS, **how):
    how = {"level": "input", "missing": "pairwise", **how}
    return schema.prepare(ds, "human", list(metrics), constant=True, **how)


def settled(threshold=None, other=None, record=ACC_EQ, metrics=("b", "a", "c"), gold="human", ds=DS, **how):
    """The coefficient with its thresholds."""
    asked = Measure(record, **{**HOW, **how})
    scores = prepared(metrics, ds, level=asked.level, missing=asked.missing)
    found = measure.settled(asked, scores, threshold, other, gold)
    assert found == Measure(found.coefficient, asked.level, asked.missing, asked.undefined)
    return found.coefficient


def by_metric(values, labels, dim="metric"):
    return xr.DataArray(values, dims=dim, coords={dim: labels})


# --- What is measured ---


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("missing", ["pairwise", "available"])
@pytest.mark.parametrize("undefined", ["drop", "zero"])
def test_keywords_make_a_measure(level, missing, undefined):
    """Each score is averaged over cells of its own at system level only, and one group has none to spare."""
    got = measure.checked_measure(level, "kendall", missing, undefined)
    kept = missing if level == "system" else "pairwise"
    assert got == Measure(table.get("kendall"), level, kept, undefined)
    assert got.own_cells == (level == "system" and missing == "available")
    assert got.undefined_as_zero == (undefined == "zero" and level in ("input", "within_system"))
    assert got.attrs == {"coefficient": "kendall", "level": level, "missing": kept, "undefined": undefined}


def test_a_function_is_a_coefficient_too():
    def slope(x, z):
        return float(x @ z)

    got = measure.checked_measure("input", slope, "pairwise", "drop").coefficient
    assert (got.name, got.function) == ("slope", slope)


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"level": "summary"}, "level must be one of .* got 'summary'; did you mean 'input'"),
        ({"missing": "listwise"}, "missing must be one of 'pairwise', 'available', got 'listwise'"),
        ({"undefined": "nan"}, "undefined must be one of 'drop', 'zero', got 'nan'; did you mean 'drop'"),
        ({"coefficient": "tau"}, "coefficient must be one of .* got 'tau'; did you mean 'kendall'"),
        ({"coefficient": "spa"}, "coefficient='spa' compares systems, and needs level='system', got level='input'"),
        ({"coefficient": "pdp"}, "coefficient='pdp' compares the outputs of each input, .* level='global', got level="),
    ],
)
def test_keywords_that_make_none(keywords, message):
    with pytest.raises(ValueError, match=message):
        measure.checked_measure(
            **{"level": "input", "coefficient": "pearson", "missing": "pairwise", "undefined": "drop"} | keywords
        )


def test_metrics_are_not_gold_to_each_other():
    for name, record in table.COEFFICIENTS.items():
        if name in ("acc_eq", "tau_eq", "kendall_like", "sensitivity", "specificity"):
            with pytest.raises(
                ValueError, match=f"coefficient='{name}' compares a metric with human scores; between metrics"
            ):
                measure.check_symmetric(record)
        else:
            measure.check_symmetric(record)


# --- How scores are resampled ---


def test_keywords_make_draws():
    got = Draws.checked(np.int64(50), 7)
    assert got == Draws(50, 7, keep_samples=False, progress=None)
    assert got.attrs == {"n_resamples": 50, "seed": "7"}
    assert Draws.checked(2, 7, keep_samples=np.bool_(True), progress=False) == Draws(2, 7, True, False)
    assert Draws.checked(1, 7, least=1).n_resamples == 1


def test_a_generator_gives_another_seed_each_time_and_the_seed_the_same_draws():
    rng = np.random.default_rng(1)
    first, second = (Draws.checked(9, rng) for _ in range(2))
    assert first.seed != second.seed
    assert Draws.checked(9, int(first.attrs["seed"])) == first


@pytest.mark.parametrize(
    "keywords, error, message",
    [
        ({"n_resamples": 1}, ValueError, "n_resamples must be at least 2, got 1"),
        ({"n_resamples": 0, "least": 1}, ValueError, "n_resamples must be at least 1, got 0"),
        ({"n_resamples": 2.0}, TypeError, "n_resamples must be a whole number, got 2.0"),
        ({"keep_samples": 1}, TypeError, "keep_samples must be True or False, got 1"),
        ({"rng": "seed"}, TypeError, "rng must be None, an int"),
    ],
)
def test_keywords_that_make_no_draws(keywords, error, message):
    with pytest.raises(error, match=message):
        Draws.checked(**{"n_resamples": 9, "rng": 0} | keywords)


def _at(level, name="pearson"):
    return measure.checked_measure(level, name, "pairwise", "drop")


def test_dims_that_are_drawn():
    assert measure.checked_resample("both", _at("input")) == ("system", "input")
    assert measure.checked_resample(["rater", "input", "reference"], _at("system")) == ("input", "reference", "rater")
    assert measure.checked_resample(("cell", "rater"), _at("global")) == ("cell", "rater")
    for resample, level in ((("cell", "input"), "global"), ("cell", "system")):
        with pytest.raises(ValueError, match="resample='cell' needs level='global', and can be combined only"):
            measure.checked_resample(resample, _at(level))
    with pytest.raises(ValueError, match="resample='cell' needs level='global', and cannot be combined with"):
        measure.checked_resample("cell", _at("system"), layers=False)
    with pytest.raises(ValueError, match="among 'system', 'input', 'cell', got 'rater'"):
        measure.checked_resample("rater", _at("system"), layers=False)
    with pytest.raises(ValueError, match="coefficient='pdp' compares the outputs of one input, .* got 'cell'"):
        measure.checked_resample("cell", _at("global", "pdp"))


# --- Thresholds ---


@pytest.mark.parametrize("value", [0.3, 1, np.float64(0.25), np.array(0.5), xr.DataArray(2.0)])
def test_one_number_for_all(value):
    assert settled(value).thresholds == (float(value),) == settled(value, record=WMT).thresholds


def test_without_one_it_is_calibrated_and_wmts_goes_by_the_gold():
    assert settled().thresholds == () and settled(record=WMT).thresholds == (0.0,)
    how = measure.Measure(WMT, "input")
    of_hundred, of_errors = (xr.DataArray(values) for values in ([3.0, 78.0], [-30.0, 0.0]))
    assert measure.by_gold(how, of_hundred).coefficient.thresholds == (25.0,)
    assert measure.by_gold(how, of_errors).coefficient.thresholds == (0.0,)


def test_thresholds_go_by_label_not_by_place():
    given = by_metric([3.0, 9.0, 1.0, 2.0], ["c", "other", "a", "b"])
    assert settled(given).thresholds == (2.0, 1.0, 3.0)
    assert settled(given, metrics=("c", "a")).thresholds == (3.0, 1.0)


@pytest.mark.parametrize("bad", [np.nan, -0.5])
def test_thresholds_that_are_none(bad):
    with pytest.raises(ValueError, match="threshold of metric 'a' must be a number of at least 0, got"):
        settled(by_metric([0.0, bad, 1.0], ["b", "a", "c"]))
    with pytest.raises(ValueError, match="threshold must be at least 0|threshold must be a number"):
        settled(bad)


@pytest.mark.parametrize(
    "given, record, text",
    [
        (by_metric([1.0, 2.0], ["b", "a"]), ACC_EQ, "unknown metric of threshold 'c'"),
        (by_metric([1.0], ["b"], "system"), ACC_EQ, "an array over the labels of 'metric', got dims \\('system',\\)"),
        (xr.DataArray([1.0, 2.0, 3.0], dims="metric"), ACC_EQ, "an array over the labels of 'metric'"),
        (by_metric([1.0, 2.0, 3.0], ["b", "a", "c"]), WMT, "one number, got a DataArray"),
        (1.0, table.get("kendall"), "threshold needs coefficient='acc_eq', 'tau_eq' or 'kendall_like', got 'kendall'"),
    ],
)
def test_what_is_refused(given, record, text):
    with pytest.raises(ValueError, match=text):
        settled(given, record=record)


# --- Held out ---


def best(x, z, level, missing="pairwise", undefined="drop"):
    """The smallest of the thresholds at which the plain definition is largest."""
    groups = reference.groups(rows(x), rows(z), level, missing)
    candidates = sorted(set(np.round(reference.gaps(groups), 12).tolist()))
    values = [
        reference.correlation("acc_eq", rows(x), rows(z), level, missing, undefined, threshold=each)
        for each in candidates
    ]
    return candidates[int(np.argmax(np.round(values, 12)))]


@pytest.mark.ignore_codes("few_systems")
@pairwise(
    {
        "missing": ["pairwise", "available"],
        "undefined": ["drop", "zero"],
        "level": LEVELS,
    }
)
def test_held_out_thresholds_are_the_best_on_the_other_scores(level, undefined, missing):
    """Found by metric label, on scores with gaps, under the settings of what is judged."""
    rng = np.random.default_rng(9)
    score = np.round(2 * rng.normal(size=(4, 4, 6)), 1)
    score[3] = np.round(score[3] / 2)
    score[0, 1, 2:] = score[1, 3, :4] = score[3, 2, 3:] = np.nan
    score[:, 1:, 5] = score[:, 2:, 0] = np.nan  # groups of one output and of two
    other = xr.Dataset(
        {"score": (("metric", "system", "input"), score)}, {"metric": ["a", "c", "b", "human"], "system": list("pqrs")}
    )
    got = settled(other=other, level=level, undefined=undefined, missing=missing).thresholds
    want = [best(score[at], score[3], level, missing, undefined) for at in (2, 0, 1)]
    assert got == pytest.approx(want, abs=1e-9)


def test_a_gold_that_is_an_array_is_looked_up_by_name():
    gold = DS.score.sel(metric="human", drop=True)
    named = settled(other=DS, gold=gold.rename("human")).thresholds
    assert named == settled(other=DS).thresholds
    other = DS.sel(metric=["b", "a", "c"]).assign(quality=gold)
    assert settled(other=other, gold=gold.rename("quality")).thresholds == named
    unnamed = DS.sel(metric=["b", "a", "c"]).assign(gold=gold)
    with pytest.raises((ValueError, TypeError), match="calibrate_on: "):
        settled(other=unnamed.drop_vars("gold"), gold=gold.rename("nobody"))


def test_held_out_scores_that_do_not_fit():
    with pytest.raises(ValueError, match="calibrate_on needs coefficient='acc_eq' or 'tau_eq', got 'kendall_like'"):
        settled(other=DS, record=WMT)
    with pytest.raises(TypeError, match="calibrate_on must be a Dataset of scores, got DataArray"):
        settled(other=DS.score)
    with pytest.raises(ValueError, match="give one of them"):
        settled(0.0, DS)
    with pytest.raises(ValueError, match="calibrate_on: .*'c'"):
        settled(other=DS.sel(metric=["b", "a", "human"]))
    with pytest.raises(ValueError, match="calibrate_on ha(?:s|ve) additional dims: 'language'"):
        settled(other=DS.expand_dims(language=["en", "de"]))
    with pytest.raises(ValueError, match="infinite"):
        settled(other=DS.where(DS.score < 5, np.inf))


# --- What results say of thresholds ---


def test_what_attrs_say():
    held, by_label = settled(other=DS), settled(by_metric([2.0, 1.0, 3.0], ["b", "a", "c"]))
    assert measure.threshold_attrs(table.get("spa"), None) == {} == measure.threshold_attrs(table.get("kendall"), None)
    assert measure.threshold_attrs(held, DS) == {"threshold": "held out"}
    assert measure.threshold_attrs(by_label, None) == {"threshold": "by metric"}
    assert measure.threshold_attrs(settled(0.5), None) == {"threshold": 0.5}
    assert measure.threshold_attrs(ACC_EQ, None) == {"threshold": "calibrated"}
    assert measure.threshold_attrs(WMT, None) == {"threshold": 25.0}


def test_thresholds_beside_the_scores():
    several = measure.along_metrics(settled(by_metric([2.0, 1.0, 3.0], ["b", "a", "c"])))
    assert several.dims == ("metric",) and several.values.tolist() == [2.0, 1.0, 3.0]
    assert measure.along_metrics(settled(0.5)).item() == 0.5 and np.isnan(measure.along_metrics(ACC_EQ).item())


def test_why_nothing_is_defined():
    assert "no two gold scores lie 25 (see threshold) apart" in measure.why_undefined(WMT)
    assert "no two gold scores differ" in measure.why_undefined(WMT.at(0.0))
    assert "no two gold scores lie 0.5 " in measure.why_undefined(WMT.at(0.5))
    assert "no group has two scores that both vary" in measure.why_undefined(ACC_EQ)


@pytest.mark.parametrize("inputs", [1, 2])
def test_of_few_systems_inputs_alone_are_drawn_where_there_are_two(inputs):
    both = ("system", "input")
    enough = facts.ENOUGH_SYSTEMS
    assert measure.random_dims("auto", both, (enough, inputs)) == (both if inputs > 1 else ("system",))
    assert measure.random_dims("auto", both, (enough - 1, inputs)) == (("input",) if inputs > 1 else ("system",))
    assert measure.random_dims("both", both, (enough - 1, inputs)) == both


@pytest.mark.parametrize(
    ("gold", "threshold"),
    [
        ([0.0, 100.0], 25.0),
        ([0.0, 25.0], 25.0),
        ([0.0, 24.999], 0.0),
        ([np.nextafter(0.0, -1.0), 100.0], 0.0),
        ([0.0, np.nextafter(100.0, 101.0)], 0.0),
    ],
)
def test_a_scale_of_0_to_100_includes_its_ends(gold, threshold):
    """And its default threshold is one that two scores can reach."""
    found = measure.by_gold(measure.Measure(WMT, "input"), xr.DataArray(gold))
    assert found.coefficient.thresholds == (threshold,)


def test_as_many_pairs_as_a_resample_looks_at_are_all_looked_at(monkeypatch):
    pairs = ties.n_pairs((4, 3), "global")
    assert pairs == 12 * 11 / 2
    calibrated = measure.Measure(ACC_EQ, "global")
    monkeypatch.setattr(ties, "MOST_PAIRS", pairs)
    measure.warn_drawn_threshold(calibrated, (4, 3))  # a warning would be an error
    monkeypatch.setattr(ties, "MOST_PAIRS", pairs - 1)
    with pytest.warns(UserWarning, match="66 pairs of outputs"):
        measure.warn_drawn_threshold(calibrated, (4, 3))
