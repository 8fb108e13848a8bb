"""What is on people's own scale, which class is positive, and what is said of those that are rare."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import dataset, warns
from sklearn.metrics import cohen_kappa_score

from xsumstat.analyses import scales
from xsumstat.core.caveats import CautionWarning


def passes(seed=0, shape=(2, 40), share=0.5):
    """People's passes, and a judge's."""
    rng = np.random.default_rng(seed)
    z = (rng.random(shape) < share).astype(float)
    x = np.where(rng.random(shape) < 0.8, z, 1 - z)
    return dataset(np.stack([x, z])).assign_coords(metric=["judge", "human"])


ASK = {"level": "global", "coefficient": "f1"}


def test_the_higher_of_two_values_is_positive_unless_another_is_named():
    ds = passes()
    two = ds.assign(score=ds.score + 1)
    assert float(two.meta.corr("human", **ASK).correlation[0]) == float(ds.meta.corr("human", **ASK).correlation[0])
    assert two.meta.corr("human", **ASK).attrs["positive"] == 2.0
    turned = ds.assign(score=1 - ds.score)
    want = turned.meta.corr("human", **ASK).correlation
    xr.testing.assert_equal(ds.meta.corr("human", positive=0, **ASK).correlation, want)


def test_texts_name_classes_where_they_were_coded():
    ds = passes().assign_attrs(labels=["fail", "pass"])
    found = ds.meta.corr("human", positive="fail", **ASK)
    assert found.attrs["positive"] == "fail"
    xr.testing.assert_equal(found.correlation, ds.meta.corr("human", positive=0, **ASK).correlation)
    with pytest.raises(ValueError, match="unknown positive 'pas'; did you mean 'pass'"):
        ds.meta.corr("human", positive="pas", **ASK)
    with pytest.raises(ValueError, match="positive='pass' is a text, and the scores are numbers"):
        passes().meta.corr("human", positive="pass", **ASK)


def test_several_values_may_be_positive():
    rng = np.random.default_rng(1)
    z = rng.integers(1, 6, (2, 40)).astype(float)
    x = np.clip(z + rng.integers(-1, 2, z.shape), 1, 5)
    ds = dataset(np.stack([x, z]))
    both = ds.meta.corr("m1", positive=[4, 5], **ASK)
    plain = dataset(np.stack([x > 3, z > 3]).astype(float)).meta.corr("m1", **ASK)
    assert float(both.correlation[0]) == float(plain.correlation[0])
    kappa = ds.meta.corr("m1", level="global", coefficient="kappa", positive=[4, 5])
    want = dataset(np.stack([x > 3, z > 3]).astype(float)).meta.corr("m1", level="global", coefficient="kappa")
    assert float(kappa.correlation[0]) == float(want.correlation[0])
    with pytest.raises(
        ValueError, match="coefficient='f1' needs two classes, and gold 'm1' has the values 1, 2, 3, 4, 5"
    ):
        ds.meta.corr("m1", **ASK)


@pytest.mark.parametrize(
    "positive, error, text",
    [
        (3, ValueError, "positive=3 is no value of gold 'human': 0, 1"),
        ([0, 1], ValueError, "names all values"),
        ([], ValueError, "must name one value or more"),
        (None, None, ""),
        (1j, TypeError, "positive must be number, str or list of these, got 1j"),
        (float("nan"), TypeError, "must be a value"),
    ],
)
def test_a_wrong_positive_class_is_refused(positive, error, text):
    if error is None:
        passes().meta.corr("human", positive=positive, **ASK)
        return
    with pytest.raises(error, match=text):
        passes().meta.corr("human", positive=positive, **ASK)


def test_a_positive_class_of_a_correlation_is_refused():
    with pytest.raises(ValueError, match="positive needs a coefficient of classes.*got coefficient='pearson'"):
        passes().meta.corr("human", positive=1, level="global")


@pytest.mark.parametrize("lazy", [False, True])
def test_a_metric_with_values_that_people_never_give_is_refused(lazy):
    ds = passes()
    odd = ds.score.sel(metric=["judge"]).assign_coords(metric=["cosine"]) * 0.37
    ds = xr.Dataset({"score": xr.concat([ds.score, odd], "metric")})
    ds = ds.chunk() if lazy else ds
    told = r"metric 'cosine' has values .* such as 0.37; .* the human scores are 0, 1. Map to them with ds = ds.meta"
    with pytest.raises(ValueError, match=told):
        ds.meta.ci("human", level="global", coefficient="kappa").compute()
    ds.meta.ci("human", metric="judge", level="global", coefficient="kappa").compute()


def test_grades_between_those_that_people_gave_are_on_the_scale():
    z = np.tile([1.0, 2.0, 4.0, 5.0], (2, 10))
    x = np.tile([1.0, 3.0, 4.0, 5.0], (2, 10))
    found = dataset(np.stack([x, z])).meta.corr("m1", level="global", coefficient="accuracy")
    assert float(found.correlation[0]) == 0.75
    ds = dataset(np.stack([x + 1, z]))  # a grade of 6, which people happen not to have given
    assert float(ds.meta.corr("m1", level="global", coefficient="accuracy").correlation[0]) == 0.0
    assert ds.meta.confusion("m1").judge_label.values.tolist() == [1, 2, 3, 4, 5, 6]
    assert ds.meta.confusion("m1").n_outputs.sum() == z.size
    with pytest.raises(ValueError, match="do not have, such as 8"):
        dataset(np.stack([2 * x, z])).meta.corr("m1", level="global", coefficient="accuracy")


def test_fine_scores_are_no_classes():
    values = np.random.default_rng(0).normal(size=(2, 3, 30))
    with pytest.raises(ValueError, match="compares classes, and gold 'm1' has 90 different values.*'weighted_kappa'"):
        dataset(values).meta.corr("m1", level="global", coefficient="kappa")


def test_another_scale_is_remarked_on_where_values_count():
    z = np.tile([1.0, 2.0, 4.0, 5.0], (2, 10))
    with pytest.warns(CautionWarning, match="weighted_kappa compares values.*metric 'm0' is on .*go from 1 to 5"):
        dataset(np.stack([20 * z, z])).meta.corr("m1", level="global", coefficient="weighted_kappa")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset(np.stack([z + 0.3, z])).meta.corr("m1", level="global", coefficient="icc")


@pytest.mark.parametrize(("high", "told"), [(4.0, True), (2.5, True), (1.9, False), (1.0, False)])
def test_shares_are_not_on_a_scale_that_goes_beyond_one(high, told):
    """A judge's shares lie within people's range from 0 on; only of half of it or more may they be the same scale."""
    x = np.tile(np.linspace(0, 1, 5), (2, 8))
    ds = dataset(np.stack([x, np.roll(x * high, 1, axis=1)]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ds.meta.corr("m1", level="global", coefficient="icc")
    assert [each.message.code for each in caught] == ["other_scale"] * told


def test_a_rare_class_is_counted():
    ds = passes(share=0.05)
    count = int(ds.score.sel(metric="human").sum())
    assert 0 < count < 10
    with warns("rare_class", f" {count} of 80 ") as told:
        ds.meta.ci("human", level="global", coefficient="kappa")
    assert [each.message.code for each in told] == ["rare_class"]
    assert told[0].message.fields == {"count": count}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("count", "rare"), [(9, True), (10, False)])
def test_ten_of_a_class_are_enough(count, rare, turned):
    z = (np.arange(80).reshape(2, 40) < count) ^ turned
    ds = dataset(np.stack([np.roll(z, 1, axis=1), z]).astype(float)).assign_coords(metric=["judge", "human"])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ds.meta.corr("human", **ASK)
    assert [each.message.code for each in told] == ["rare_class"] * rare


@pytest.mark.parametrize(("most", "message"), [(49, ""), (50, "gold 'human' has 51 different values")])
def test_fifty_values_are_classes_and_more_are_not(most, message):
    z = np.minimum(np.arange(80).reshape(2, 40), most).astype(float)
    x = np.roll(z, 1, axis=1)
    ds = dataset(np.stack([x, z])).assign_coords(metric=["judge", "human"])
    if not message:
        found = float(ds.meta.corr("human", level="global", coefficient="kappa").correlation[0])
        assert found == pytest.approx(cohen_kappa_score(x.ravel(), z.ravel()), abs=1e-12)
        return
    with pytest.raises(ValueError, match=message):
        ds.meta.corr("human", level="global", coefficient="kappa")


def test_groups_share_the_positive_class_of_all():
    ds = passes().assign_coords(half=("input", ["a", "b"] * 20))
    found = ds.assign(score=ds.score + 1).meta.corr("human", by="half", **ASK)
    want = ds.isel(input=slice(0, None, 2)).meta.corr("human", **ASK)
    assert float(found.correlation.sel(half="a")[0]) == float(want.correlation[0])


def test_words_name_the_positive_class():
    ds = passes().assign_attrs(labels=["fail", "pass"])
    found = ds.meta.ci("human", positive="fail", **ASK)
    assert "F1 of 'fail', global level" in found.meta.conclusion()
    assert "by F1 of 'fail' over all outputs" in found.meta.methods()


def test_means_of_raters_are_remarked_on():
    z = np.tile([0.0, 1 / 3, 1.0, 1.0], (2, 10))
    with pytest.warns(CautionWarning, match="values between classes, as 0.333"):
        dataset(np.stack([np.round(z), z])).meta.corr("m1", level="global", coefficient="accuracy")


TEN, UP_TO_FIVE, MOSTLY_TEN = [0.0, 10.0], [0.0, 1, 2, 3, 4, 5], [0.0] + [10.0] * 99


@pytest.mark.parametrize(
    ("ratings", "given", "other"),
    [
        # more than a tenth of the range outside, and less than half of it shared
        (TEN, [-1.0, 2.0], False),
        (TEN, [-1.01, 2.0], True),
        (TEN, [8.0, 11.0], False),
        (TEN, [8.0, 11.01], True),
        (TEN, [5.0, 12.0], False),
        (TEN, [5.01, 12.0], True),
        # grades that reach half the range beyond it
        (TEN, [0.0, 14.0], False),
        (TEN, [0.0, 15.0], True),
        (TEN, [0.0, 15.5], False),
        ([3.0, 3.0], [3.0, 3.0], False),
        # shares where ratings go beyond 0 to 1
        (UP_TO_FIVE, [0.0, 0.5, 1.0], True),
        (UP_TO_FIVE, [0.0, 0.5, 1.01], False),
        ([0.0, 1.0], [0.0, 0.5, 1.0], False),
        ([0.0, 1.5], [0.0, 0.5, 1.0], True),
        ([-0.5, 1.0], [0.0, 0.5, 1.0], True),
        # verdicts where ratings reach 3
        ([0.0, 1.0, 2.0, 3.0], [0.0, 1.0], True),
        ([0.0, 1.0, 2.0, 2.5], [0.0, 1.0], False),
        ([0.0, 1.0, 2.0, 3.0], [1.0, 1.0], False),
        # the lowest fifth alone
        (MOSTLY_TEN, [0.0, 2.0], True),
        (MOSTLY_TEN, [0.0, 2.01], False),
        (TEN, [0.0, 0.0], False),
    ],
)
def test_each_rule_of_another_scale_begins_where_it_says(ratings, given, other):
    score = xr.DataArray([[given]], {"metric": ["m"]}, ("metric", "system", "input"))
    assert scales.elsewhere(score, xr.DataArray(ratings)).values.tolist() == [other]


@pytest.mark.parametrize(("given", "told"), [([-1.0, 11.0], False), ([-1.01, 5.0], True), ([5.0, 11.01], True)])
def test_scores_a_tenth_beyond_the_ratings_are_not_outside(given, told):
    score = xr.DataArray([[given]], {"metric": ["m"]}, ("metric", "system", "input"))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        scales.warn(score, xr.DataArray(TEN), xr.zeros_like(score["metric"], dtype=bool))
    assert [each.message.code for each in said] == ["other_scale"] * told


@pytest.mark.filterwarnings("ignore")
def test_means_of_labelled_ratings_have_no_label():
    rng = np.random.default_rng(0)
    rows = pd.MultiIndex.from_product([["a", "b"], range(20)], names=["system", "input"]).to_frame(index=False)
    for name in ("ann_1", "ann_2", "judge"):
        rows[name] = rng.choice(["fail", "pass"], len(rows))
    ds = rows.meta.to_scores(wide=True, ratings=["ann_1", "ann_2"], labels=["fail", "pass"])
    asked = {"level": "global", "coefficient": "sensitivity", "positive": "fail"}
    with pytest.raises(
        ValueError, match="means of raters lie between the labels 'fail', 'pass'; ds.meta.majority_vote"
    ):
        ds.meta.ci("human", **asked)
    one = ds.meta.ci(ds.rating.sel(rater="ann_1", drop=True), metric="judge", **asked)
    failed = rows[rows["ann_1"] == "fail"]
    assert one.correlation.item() == pytest.approx((failed["judge"] == "fail").mean())
    with pytest.raises(ValueError, match="did you mean 'fail'"):
        ds.meta.ci(ds.rating.sel(rater="ann_1", drop=True), metric="judge", **asked | {"positive": "failed"})


def test_values_of_a_negated_metric_are_said_to_be_negated(demo):
    passed = (demo.score > demo.score.median(["system", "input"])).astype(float)
    with pytest.raises(
        ValueError, match=r"'perplexity' has values .* such as -1 \(negated, as lower is better\); kappa"
    ):
        passed.to_dataset(name="score").meta.corr("human", coefficient="kappa", level="global")
