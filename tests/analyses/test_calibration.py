"""A judge's scores on people's scale, in a Dataset: what it holds, who may use them, and that intervals refit them."""

import json
import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import warns
from helpers import for_each, same
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import cohen_kappa_score

import xsumstat
from xsumstat.dataset import calibrated
from xsumstat.inference.calibration import Calibration

JUDGE = "judge (calibrated)"


def data(n=3, m=40, seed=0, gaps=0.1, lower=False):
    """Outputs rated 1 to 5 by three raters with gaps, a judge from 0 to 100 and one that is better when lower."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, m))
    raters = np.clip(np.round(3 + truth + 0.6 * rng.normal(size=(3, n, m))), 1, 5)
    raters[rng.random(raters.shape) < gaps] = np.nan
    judge = np.round(50 + 15 * (truth + 0.6 * rng.normal(size=(n, m))))
    errors = np.round(20 - 4 * (truth + 0.9 * rng.normal(size=(n, m))))
    labels = {"metric": ["judge", "errors"], "system": [f"s{at}" for at in range(n)], "input": np.arange(m)}
    ds = xr.Dataset({"score": (("metric", "system", "input"), np.array([judge, errors]))}, labels)
    ds = ds.assign(rating=(("rater", "system", "input"), raters)).assign_coords(rater=["a", "b", "c"])
    return ds.assign_coords(higher_is_better=("metric", [True, False]), kind=("metric", ["automatic"] * 2))


def plain(x, z, folds):
    """With scikit-learn, in a loop over folds."""
    out = np.full(x.shape, np.nan)
    for fold in np.unique(folds):
        train = (folds != fold) & ~np.isnan(x) & ~np.isnan(z)
        new = (folds == fold) & ~np.isnan(x)
        out[new] = IsotonicRegression(out_of_bounds="clip").fit(x[train], z[train]).predict(x[new])
    return out


def test_scores_of_each_judge_beside_its_own():
    """Ratings are averaged over the raters there are; a judge that is better when lower is turned."""
    ds = data()
    before = ds.copy(deep=True)
    found = ds.meta.calibrate("rating", rng=3)
    xr.testing.assert_identical(ds, before)
    assert found["metric"].values.tolist() == ["judge", "errors", JUDGE, "errors (calibrated)"]
    folds = np.broadcast_to(found["calibration_fold"].values, (3, 40))
    people = ds["rating"].mean("rater").values
    for name, sign in (("judge", 1), ("errors", -1)):
        want = plain(sign * ds.score.sel(metric=name).values, people, folds)
        np.testing.assert_allclose(found.score.sel(metric=f"{name} (calibrated)").values, want, rtol=1e-9)
    np.testing.assert_array_equal(found.score.isel(metric=[0, 1]).values, ds.score.values)
    assert found["higher_is_better"].values.tolist() == [True, False, True, True]
    assert found["calibrated"].values.tolist() == [
        "",
        "",
        *["to rating by isotonic regression in 5 folds of inputs (seed 3)"] * 2,
    ]
    assert set(found.data_vars) == {"score", "rating"}


def test_the_seed_makes_the_folds():
    ds = data()
    one, two, other = (ds.meta.calibrate("rating", rng=seed, folds=4) for seed in (1, 1, 2))
    xr.testing.assert_identical(one, two)
    assert not one["calibration_fold"].equals(other["calibration_fold"])
    assert np.bincount(one["calibration_fold"].values).tolist() == [10] * 4


def test_grades_are_those_that_people_give():
    ds = data()
    found = ds.meta.calibrate("rating", metric="judge", grades=True, rng=0).score.sel(metric=JUDGE)
    assert set(np.unique(found.values)) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    listed = ds.meta.calibrate("rating", metric="judge", grades=[1, 3, 5], rng=0).score.sel(metric=JUDGE)
    assert set(np.unique(listed.values)) <= {1.0, 3.0, 5.0}
    exact = ds.meta.calibrate("rating", metric="judge", rng=0).score.sel(metric=JUDGE).values
    np.testing.assert_array_equal(found.values, np.floor(exact + 0.5 + 1e-9))


def test_human_scores_that_are_better_when_lower():
    """Errors that people count: the metric that they are calibrated to is better when lower, too."""
    ds = data(gaps=0.0)
    errors = 5 - ds["rating"].mean("rater")
    bare = ds.score.drop_vars(["higher_is_better", "kind"])
    whole = xr.concat([bare, errors.expand_dims(metric=["human"])], "metric")
    ds = whole.to_dataset(name="score").assign_coords(
        higher_is_better=("metric", [True, False, False]), kind=("metric", ["automatic"] * 3)
    )
    found = ds.meta.calibrate("human", metric="judge", rng=1)
    assert found["higher_is_better"].values.tolist() == [True, False, False, False]
    folds = np.broadcast_to(found["calibration_fold"].values, (3, 40))
    want = -plain(ds.score.sel(metric="judge").values, -errors.values, folds)
    np.testing.assert_allclose(found.score.sel(metric=JUDGE).values, want, rtol=1e-9)
    limits = found.meta.ci("human", metric=JUDGE, level="global")
    turned = (
        data(gaps=0.0)
        .meta.calibrate("rating", metric="judge", rng=1)
        .meta.ci(data(gaps=0.0)["rating"].mean("rater"), metric=JUDGE, level="global")
    )
    for name in ("correlation", "ci_low", "ci_high"):
        assert same(limits[name].item(), turned[name].item(), 1e-9)


def test_human_scores_that_come_apart():
    """Those that the Dataset does not hold are kept with it; they may lack inputs, and have further ones."""
    ds = data(gaps=0.0)
    human = ds["rating"].mean("rater").isel(input=slice(5, None))
    more = xr.concat([human, human.isel(input=[0]).assign_coords(input=[99])], "input")
    with pytest.warns(UserWarning, match=r"left out 1 input of the gold without metric scores: 99"):
        found = ds.drop_vars("rating").meta.calibrate(more, metric="judge", rng=1)
    assert found["calibration_gold"].isnull().sum() == 15
    assert found.score.sel(metric=JUDGE).notnull().all()  # outputs without a rating are mapped, too
    with pytest.warns(UserWarning, match="5 input"):
        interval = found.meta.ci("calibration_gold", metric=JUDGE, level="global")
    assert interval["ci_low"] < interval["correlation"] < interval["ci_high"]


def test_further_dims_by_name():
    """Each language and each quality is calibrated by itself."""
    parts = [data(seed=seed) for seed in (1, 2)]
    both = xr.concat(parts, xr.DataArray(["en", "de"], dims="language", name="language"), coords="minimal")
    found = both.meta.calibrate("rating", metric="judge", rng=7)
    for label, part in zip(("en", "de"), parts, strict=True):
        want = part.meta.calibrate("rating", metric="judge", rng=7).score.sel(metric=JUDGE)
        np.testing.assert_array_equal(found.score.sel(metric=JUDGE, language=label).transpose(*want.dims), want)
    noisy = parts[0]["rating"] + 0.5 * np.arange(3)[:, None]
    qualities = xr.concat([parts[0]["rating"], noisy], "quality").assign_coords(quality=["a", "b"])
    found = parts[0].assign(rating=qualities).meta.calibrate("rating", metric="judge", rng=7)
    want = parts[0].meta.calibrate("rating", metric="judge", rng=7).score.sel(metric=JUDGE)
    np.testing.assert_array_equal(found.score.sel(metric=JUDGE, quality="a").transpose(*want.dims), want)
    limits = found.meta.ci(found["rating"].mean("rater"), metric=JUDGE, level="global")
    assert set(limits["ci_low"].dims) == {"metric", "quality"} and limits["ci_low"].notnull().all()


def test_one_system_and_several_metrics():
    found = data(n=1, m=60).meta.calibrate("rating", rng=0)
    limits = found.meta.ci(found["rating"].mean("rater"), metric=[JUDGE, "judge"], level="global")
    assert limits["ci_low"].notnull().all() and limits.attrs["resample"] == "input"


@pytest.mark.slow
def test_lazy_scores_give_the_same_bits():
    ds = data(n=6)
    eager = ds.meta.calibrate("rating", rng=1)
    lazy = ds.chunk(metric=1, input=15).meta.calibrate("rating", rng=1)
    assert lazy["score"].chunks is not None
    xr.testing.assert_identical(lazy.compute(), eager)
    gold = eager["rating"].mean("rater")
    for question in (
        lambda d, z: d.meta.ci(z, level="input", metric=["errors", JUDGE]),
        lambda d, z: d.meta.ci(z, level="global", metric=JUDGE, other=["judge", "errors (calibrated)"]),
        lambda d, z: d.meta.compare_metrics(z, level="input", metric=["judge", JUDGE, "errors"]),
    ):
        got, want = question(eager.chunk(), gold.chunk()).compute(), question(eager, gold)
        xr.testing.assert_identical(got, want)


def test_intervals_refit_the_calibration():
    """They differ from those at fixed values, and those of other metrics stay as they are."""
    found = data(n=8).meta.calibrate("rating", metric="judge", grades=True, rng=1)
    gold = found["rating"].mean("rater")
    fixed = found.drop_vars("calibrated")
    for level in ("global", "input"):
        refitted, plainly = (each.meta.ci(gold, level=level, coefficient="kendall") for each in (found, fixed))
        assert same(refitted["correlation"].sel(metric=JUDGE).item(), plainly["correlation"].sel(metric=JUDGE).item())
        assert abs(refitted["standard_error"] / plainly["standard_error"] - 1).sel(metric=JUDGE) > 0.005
        for name in ("ci_low", "ci_high"):
            np.testing.assert_array_equal(refitted[name].sel(metric="judge"), plainly[name].sel(metric="judge"))
    assert "calibrated" in refitted.coords


def test_a_metric_compared_with_its_calibrated_self():
    found = data(n=8).meta.calibrate("rating", method="linear", metric="judge", rng=1)
    gold = found["rating"].mean("rater")
    compared = found.meta.compare_metrics(gold, metric=["judge", JUDGE], level="global")
    limits = found.meta.ci(gold, metric="judge", other=JUDGE, level="global")
    cell = {"metric": "judge", "other_metric": JUDGE}
    # MOVER's two sides are those of `ci`.
    assert same(compared["difference"].sel(cell).item(), limits["difference"].item())
    assert limits["ci_low"] < limits["difference"] < limits["ci_high"]
    assert compared["pvalue"].sel(cell) > 0.01


@for_each(
    "question",
    [
        lambda d, z: d.meta.perm_test(z, level="global", n_resamples=19),
        lambda d, z: d.meta.boot_test(z, level="global", n_resamples=19),
        lambda d, z: d.meta.corr_test(z),
        lambda d, z: d.meta.ci(z, method="bootstrap", n_resamples=19),
        lambda d, z: d.meta.ci(z, interval="bca", n_resamples=19),
        lambda d, z: d.meta.ci(z, method="fisher"),
        lambda d, z: d.meta.rank(z, method="permutation", adjust=None, n_resamples=19),
        lambda d, z: d.meta.equivalence(z, other="judge", margin=0.1, n_resamples=19),
        lambda d, z: d.meta.human_ceiling("rating"),
        lambda d, z: d.meta.compare_groups(z, by="kind_of_input"),
        lambda d, z: d.meta.bias(z, given="errors"),
        lambda d, z: d.meta.metric_ci(),
        lambda d, z: xsumstat.coverage(d, z, n_trials=2),
    ],
)
def test_what_takes_scores_as_fixed_refuses_them(question):
    found = data(n=8).meta.calibrate("rating", metric="judge", rng=1)
    found = found.assign_coords(kind_of_input=("input", ["a", "b"] * 20))
    with pytest.raises(ValueError, match=r"'judge \(calibrated\)' holds calibrated scores.*ds\.meta\.ci and"):
        question(found, found["rating"].mean("rater"))


def test_what_they_were_made_of_must_be_there():
    found = data(n=8).meta.calibrate("rating", metric="judge", rng=1)
    gold = found["rating"].mean("rater")
    asked = {"metric": JUDGE, "level": "global"}
    for without, message in (
        (found.sel(metric=["errors", JUDGE]), "calibrated from metric 'judge', which the Dataset does not hold"),
        (found.drop_vars("rating"), "calibrated from gold 'rating', which the Dataset does not hold"),
        (found.drop_vars("calibration_fold"), "'calibration_fold', a coordinate"),
        (found.drop_attrs(), "does not say how they were made"),
        (found.isel(input=slice(20)), r"does not come out again .* select systems and inputs first"),
    ):
        with pytest.raises(ValueError, match=message):
            without.meta.ci(gold.sel(input=without["input"]), **asked)
        assert without.meta.corr(gold.sel(input=without["input"]), **asked)["correlation"].notnull().all()


def test_they_chain_and_are_stored(tmp_path):
    """Through netCDF, into other questions, and after other metrics are left out."""
    found = data(n=4).meta.calibrate("rating", metric="judge", grades=True, rng=1)
    found.to_netcdf(tmp_path / "scores.nc")
    again = xr.open_dataset(tmp_path / "scores.nc").load()
    gold = found["rating"].mean("rater")
    one, two = (each.meta.ci(gold, metric=JUDGE, level="global") for each in (found, again))
    np.testing.assert_array_equal(one["ci_low"], two["ci_low"])
    assert json.loads(found.attrs["calibrations"])[JUDGE]["of"] == "judge"
    few = gold.isel(input=slice(15))
    means = found.meta.system_means(few, metric=JUDGE)
    assert means["mean"].notnull().all()
    raters = found.meta.alt_test("rating", metric=JUDGE)
    assert raters["winning_rate"].notnull().all()
    second = found.meta.calibrate("rating", metric="errors", rng=2)
    words = "to rating by isotonic regression in 5 folds of inputs (seed 1)"
    assert second["calibrated"].values.tolist()[-2:] == [f"{words}, rounded to grades", words.replace("1", "2")]
    limits = second.meta.ci(gold, level="global")
    assert limits["ci_low"].notnull().all()
    assert same(limits["ci_low"].sel(metric=JUDGE).item(), one["ci_low"].item())


def test_scores_that_equal_the_ratings_are_no_leak():
    """A judge that is a map of the ratings is told; its calibrated scores, which then equal them, are not."""
    ds = data(gaps=0.0)
    judge = 10 * ds["rating"].sel(rater="a", drop=True)
    ds = (
        ds.drop_vars("rating")
        .assign(human=judge / 10, score=judge.expand_dims(metric=["judge"]))
        .drop_sel(metric="errors")
    )
    found = ds.meta.calibrate("human", grades=True, rng=1)
    np.testing.assert_array_equal(found.score.sel(metric=JUDGE), ds["human"])
    found.meta.corr("human", level="global")


def test_nearly_constant_scores_have_no_interval():
    ds = data(n=2, m=50, gaps=0.0)
    ds = ds.assign(human=ds["rating"].mean("rater").round()).drop_vars("rating")
    turned = ds.assign_coords(higher_is_better=("metric", [False, False]))
    found = turned.meta.calibrate("human", metric="judge", rng=1)
    with pytest.warns(UserWarning, match="10 outputs whose score is not the most common one in their fold"):
        limits = found.meta.ci("human", metric=JUDGE, level="global")
    assert limits["ci_low"].isnull().all()


@for_each(
    "asked, message",
    [
        ({"method": "isotone"}, "did you mean 'isotonic'"),
        ({"folds": 1}, "folds must be"),
        ({"folds": 41}, "folds=41 is more than there are inputs"),
        ({"metric": "judg"}, "did you mean 'judge'"),
        ({"gold": "ratings"}, "unknown gold 'ratings'"),
        ({"grades": [1]}, "grades must be two different numbers"),
        ({"grades": ["a", "b"]}, "grades must"),
        ({"grades": True, "gold": "continuous"}, "list the grades"),
        ({"metric": JUDGE, "again": True}, "is calibrated already"),
        ({"metric": "judge", "again": True}, "there is a metric 'judge \\(calibrated\\)' already"),
    ],
)
def test_wrong_arguments(asked, message):
    ds = data()
    ds = ds.assign(continuous=ds["rating"].mean("rater") + 0.01 * np.arange(40))
    if asked.pop("again", False):
        ds = ds.meta.calibrate("rating", metric="judge", rng=1)
    with pytest.raises((ValueError, TypeError), match=message):
        ds.meta.calibrate(**{"gold": "rating", **asked})


def test_ratings_in_one_fold():
    ds = data(m=10, gaps=0.0)
    one = ds.assign(rating=ds["rating"].where(ds["input"] == 3))
    with pytest.raises(ValueError, match="all rated outputs are in one fold"):
        one.meta.calibrate("rating", metric="judge", rng=1)
    with warns("few_ratings"):
        ds.assign(rating=ds["rating"].where(ds["input"] < 5)).meta.calibrate("rating", metric="judge", rng=1)


@pytest.mark.parametrize(("n", "few"), [(29, True), (30, False)])
def test_thirty_rated_outputs_are_enough(demo, n, few):
    rated = xr.DataArray(np.arange(30).reshape(5, 6) < n, dims=("system", "input"))
    ds = demo.isel(system=slice(5), input=slice(6))
    ds = ds.assign(score=ds.score.where(rated | (ds.metric != "human")))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ds.meta.calibrate("human", metric="judge", folds=3, rng=1)
    assert [each.message.code for each in told] == ["few_ratings"] * few


def test_two_grades_are_enough(demo):
    found = demo.meta.calibrate("human", metric="judge", grades=[40, 60], rng=1)
    assert set(np.unique(found.score.sel(metric="judge (calibrated)"))) == {40, 60}
    with pytest.raises(ValueError, match="grades must be two different numbers or more, got \\[40"):
        demo.meta.calibrate("human", metric="judge", grades=[40, 40], rng=1)


def test_as_many_folds_as_inputs_and_no_more_grades_than_fifty(demo):
    ds = demo.isel(input=slice(6))
    assert len(set(ds.meta.calibrate("human", metric="judge", folds=6, rng=1).calibration_fold.values)) == 6
    with pytest.raises(ValueError, match="folds=7 is more than there are inputs"):
        ds.meta.calibrate("human", metric="judge", folds=7, rng=1)
    for n in (50, 51):
        human = (np.arange(72).reshape(12, 6) % n).astype(float)
        graded = ds.assign(score=ds.score.where(ds.metric != "human", xr.DataArray(human, dims=("system", "input"))))
        if n == 50:
            found = graded.meta.calibrate("human", metric="judge", grades=True, rng=1)
            assert set(np.unique(found.score.sel(metric="judge (calibrated)"))) <= set(range(50))
        else:
            with pytest.raises(ValueError, match="which are 51 here; list the grades"):
                graded.meta.calibrate("human", metric="judge", grades=True, rng=1)


def test_recipes_that_cannot_be_read():
    ds = data().assign_attrs(calibrations="not JSON")
    assert calibrated.recipes(ds) == {}


def test_a_map_of_a_rater_reaches_the_raters_kappa():
    """By quantiles exactly; a map within the sample flatters a noisy judge, a map across folds does not."""
    rng = np.random.default_rng(4)
    truth = rng.normal(size=(2, 400))
    one, two = (np.clip(np.round(3 + truth + 0.4 * rng.normal(size=truth.shape)), 1, 5) for _ in range(2))
    score = np.array([one, 7 * one**2 + 3, 50 + 10 * rng.normal(size=truth.shape)])
    labels = {"metric": ["rater", "judge", "noise"], "system": ["a", "b"], "input": np.arange(400)}
    ds = xr.Dataset({"score": (("metric", "system", "input"), score), "person": (("system", "input"), two)}, labels)
    own = cohen_kappa_score(one.ravel(), two.ravel())
    for method in ("quantile", "isotonic"):
        found = ds.meta.calibrate("person", metric=["judge", "noise"], method=method, grades=True, rng=1)
        kappa = found.meta.ci("person", metric=["rater", JUDGE], coefficient="kappa", level="global")
        got = found.score.sel(metric=JUDGE).values.ravel()
        assert same(kappa["correlation"].sel(metric=JUDGE).item(), cohen_kappa_score(got, two.ravel()), 1e-9)
        # A mean of ratings lies between grades: isotonic regression gives extreme ones less often than the rater.
        assert abs(kappa["correlation"].sel(metric=JUDGE) - own) < {"quantile": 0.005, "isotonic": 0.05}[method]
        assert kappa["ci_low"].sel(metric=JUDGE) < own < kappa["ci_high"].sel(metric=JUDGE)
        noise = found.score.sel(metric="noise (calibrated)").values.ravel()
        assert abs(cohen_kappa_score(noise, two.ravel())) < 0.06
    within = Calibration("isotonic", (1.0, 2.0, 3.0, 4.0, 5.0)).cross_fitted(
        np.tile(score[2], 2), np.tile(two, 2), np.repeat([0, 1], 400)
    )
    assert cohen_kappa_score(within[:, :400].ravel(), two.ravel()) > cohen_kappa_score(noise, two.ravel())


def test_what_was_said_of_each_metric_is_not_said_of_the_calibrated_one():
    ds = data().assign(latency=("metric", [1.5, 2.5]))
    found = ds.meta.calibrate("rating", rng=1)
    assert found["latency"].sel(metric=["judge", "errors"]).values.tolist() == [1.5, 2.5]
    assert found["latency"].isel(metric=slice(2, None)).isnull().all() and found.sizes["metric"] == 4


def test_an_output_with_both_is_needed():
    ds = data(m=10, gaps=0.0)
    first, apart = ds["input"] < 5, ds.copy()
    apart["score"], apart["rating"] = ds["score"].where(first), ds["rating"].where(~first)
    with pytest.raises(ValueError, match="no output has both a score by the judge and a human score"):
        apart.meta.calibrate("rating", metric="judge", rng=1)


def test_folds_that_are_there_stand_once_and_others_beside_them():
    ds = data()
    once = ds.meta.calibrate("rating", metric="judge", rng=1, folds=4)
    again, other = (once.meta.calibrate("rating", metric="errors", rng=seed, folds=4) for seed in (1, 2))
    assert "calibration_fold_2" not in again.coords and "calibration_fold_2" in other.coords
    np.testing.assert_array_equal(other.calibration_fold, once.calibration_fold)
