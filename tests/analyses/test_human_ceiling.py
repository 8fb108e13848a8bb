"""`human_ceiling`: what cannot be drawn, and what is said of draws."""

import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import of_code


@pytest.mark.parametrize("resample", ["input", "cell"])
def test_a_ceiling_of_one_label_cannot_be_drawn(resample):
    """Cells are drawn from all systems and inputs."""
    rng = np.random.default_rng(1)
    ds = xr.Dataset(
        {
            "score": (("metric", "system", "input"), rng.normal(size=(1, 6, 1))),
            "rating": (("rater", "system", "input"), rng.integers(1, 4, (3, 6, 1)) / 10),
        },
        {"metric": ["m"], "rater": [0, 1, 2]},
    )
    ask = {"level": "global", "resample": resample, "method": "bootstrap", "n_resamples": 9, "rng": 0}
    if resample == "cell":
        assert np.isfinite(ds.meta.human_ceiling("rating", **ask).correlation).all()
    else:
        with pytest.raises(ValueError, match="resample='input' has only one label to draw"):
            ds.meta.human_ceiling("rating", **ask)


@pytest.mark.parametrize("method, said", [("bootstrap", True), ("jackknife", False)])
def test_resamples_without_a_ceiling_are_told(method, said):
    """Of four systems three have one rating: a third of the draws take no other."""
    z = np.array([[1.0, 1, 1], [1, 1, 1], [1, 1, 1], [2, 3, 2]])
    ratings = np.stack([z, z, z + [[0], [0], [0], [1]]])
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), z[None]), "rating": (("rater", "system", "input"), ratings)},
        {"metric": ["m"], "rater": [0, 1, 2]},
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ds.meta.human_ceiling("rating", method=method, resample="system", n_resamples=99, rng=0)
    assert bool(of_code(caught, "resamples_undefined")) == said


def test_inputs_on_which_all_systems_tie_are_told():
    """By hand: of each rater, the inputs whose grades by the others are equal for all systems."""
    rng = np.random.default_rng(2)
    passed = (rng.random((3, 4, 40)) < 0.75) * 1.0
    coords = {"metric": ["judge"], "rater": ["ann", "bob", "eve"]}
    ds = xr.Dataset(
        {
            "score": (("metric", "system", "input"), (rng.random((1, 4, 40)) < 0.75) * 1.0),
            "rating": (("rater", "system", "input"), passed),
        },
        coords,
    )
    by_others = [(passed.sum(axis=0) - passed[at]) / 2 for at in range(3)]
    flat = sum(int((np.ptp(each, axis=0) == 0).sum()) for each in by_others)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ds.meta.human_ceiling("rating", level="input", coefficient="kendall", n_resamples=99, rng=1)
    texts = of_code(caught, "ties_left_out") + of_code(caught, "gold_ties_left_out")
    assert any("rater (" in text and "(counted once for each human score)" in text for text in texts)
    assert (flat > 30) == any(f"{flat} of 120" in text for text in texts)
    assert found.attrs["constant_inputs"] == "some" and "Averages leave out the inputs on which" in found.meta.methods()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds.meta.human_ceiling("rating", level="input", coefficient="acc_eq", n_resamples=99, rng=1)


def rated_in_part(seed, systems=5, prompts=60):
    """Grades of three raters, each of whom skips a third of the prompts, and of a judge that errs as they do."""
    rng = np.random.default_rng(seed)
    quality = 0.4 * rng.normal(size=(systems, 1)) + 0.5 * rng.normal(size=prompts) + rng.normal(size=(systems, prompts))
    grades = np.clip(np.round(3 + quality + 0.8 * rng.normal(size=(4, systems, prompts))), 1, 5)
    grades[1:][np.broadcast_to(rng.random((3, 1, prompts)) < 0.3, grades[1:].shape)] = np.nan
    dims = ("system", "input")
    scores = {"score": (("metric", *dims), grades[:1]), "rating": (("rater", *dims), grades[1:])}
    return xr.Dataset(scores, {"metric": ["judge"], "rater": ["ann", "bob", "eve"]})


@pytest.mark.filterwarnings("ignore")
def test_copies_of_drawn_systems_do_not_raise_the_limits():
    """By hand: of 5 drawn systems, a fifth of the pairs are copies, which agree; the others' value is left."""
    ds = rated_in_part(0)
    how = {"level": "input", "coefficient": "acc_eq", "n_resamples": 499, "rng": 1}
    found = ds.meta.human_ceiling("rating", **how)
    assert found.attrs["method"] == "bootstrap" and found.attrs["resample"] == "both"
    raw = []
    for rater in range(3):
        others = ds.rating.isel(rater=[at for at in range(3) if at != rater]).mean("rater")
        others = others.where(ds.rating.isel(rater=rater).notnull()).rename("others")
        one = ds.meta.ci(others, method="bootstrap", keep_samples=True, **how)
        raw.append(one.samples.sel(metric="judge").values)
    low, high = np.nanpercentile(np.nanmean(raw, axis=0), [2.5, 97.5])
    got = found.sel(metric="judge")
    assert float(got.ci_low) == pytest.approx((low - 0.2) / 0.8, abs=0.02)
    assert float(got.ci_high) == pytest.approx((high - 0.2) / 0.8, abs=0.02)
    assert low > float(got.correlation) - 0.02  # the draws alone hardly include it


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_limits_of_accuracies_with_ties_cover():
    """.77 of these did, from the draws as they are; the truth is that of 30 systems."""
    how = {"level": "input", "coefficient": "acc_eq", "n_resamples": 199, "rng": 0}
    wide = [rated_in_part(1000 + seed, systems=30, prompts=200) for seed in range(4)]
    truth = np.mean([each.meta.human_ceiling("rating", **how).correlation.sel(metric="judge").item() for each in wide])
    covered = []
    for seed in range(60):
        one = rated_in_part(seed).meta.human_ceiling("rating", **how).sel(metric="judge")
        assert float(one.ci_low) <= float(one.correlation) <= float(one.ci_high)
        covered.append(float(one.ci_low) <= truth <= float(one.ci_high))
    assert np.mean(covered) >= 0.93


@pytest.mark.filterwarnings("ignore")
def test_limits_of_accuracies_stay_in_their_range():
    """Of pairs of all outputs hardly any are copies, and a metric that is never right has no limit below 0."""
    ds = rated_in_part(0)
    how = {"coefficient": "acc_eq", "n_resamples": 199, "rng": 1}
    found = ds.meta.human_ceiling("rating", level="global", **how).sel(metric="judge")
    assert float(found.ci_high) - float(found.correlation) > 0.3 * (float(found.ci_high) - float(found.ci_low))
    worst = ds.assign(score=-ds.score)
    found = worst.meta.human_ceiling("rating", level="input", method="bootstrap", resample="both", **how)
    assert float(found.ci_low.min()) >= 0 and float(found.ci_high.max()) <= 1
    assert float(found.difference_low.min()) >= -1


def refusing(seed, n=300, systems=1, judges=1):
    """A judge that is one rater more, and refuses the bad outputs; a second one refuses none."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(systems, n))
    rated = np.clip(np.round(3 + quality + 0.6 * rng.normal(size=(3 + judges, systems, n))), 1, 5)
    score = rated[:judges].copy()
    score[0][quality < -0.6] = np.nan
    return xr.Dataset(
        {"score": (("metric", "system", "input"), score), "rating": (("rater", "system", "input"), rated[judges:])},
        {"metric": ["careful", "bold"][:judges]},
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("level", ["global", "input"])
@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_a_judge_that_refuses_is_compared_on_the_outputs_that_it_scored(level, method):
    """With raters there, who agree less on a part of the range; other judges with raters on all outputs."""
    ds = refusing(0, systems=4, judges=2)
    how = {"level": level, "coefficient": "pearson", "resample": "input", "rng": 1, "n_resamples": 199}
    how["method"] = "auto" if method == "jackknife" else method
    got = ds.meta.human_ceiling("rating", **how)
    scored = ds.score.sel(metric="careful", drop=True).notnull()
    there = ds.rating.where(scored)
    same = ds.meta.human_ceiling(there, metric="careful", **{**how, "method": got.attrs["method"]})
    names = ["difference", "difference_low", "difference_high"]
    for name in names:
        np.testing.assert_allclose(got[name].sel(metric="careful"), same[name].sel(metric="careful"), atol=1e-12)
    bold = ds.sel(metric=["bold"]).meta.human_ceiling("rating", **{**how, "method": got.attrs["method"]})
    for name in (*names, "correlation"):
        np.testing.assert_array_equal(got[name].sel(metric="bold"), bold[name].sel(metric="bold"))
    if level == "global":
        by_rater = []
        for at in range(3):
            own, others = there.isel(rater=at).values, there.drop_isel(rater=at).mean("rater").values
            by_rater.append(np.corrcoef(own[scored.values], others[scored.values])[0, 1])
        judge = float(got.correlation.sel(metric="careful"))
        assert float(got.difference.sel(metric="careful")) == pytest.approx(judge - np.mean(by_rater), abs=1e-12)
        told = (
            f"careful is compared with raters on the outputs that it scored, where a rater has {np.mean(by_rater):.2f}"
        )
        assert (
            told.replace("has 0", "has ") in got.meta.conclusion() and "bold is compared" not in got.meta.conclusion()
        )
    assert got.attrs["on_own_outputs"] == "careful"


def test_a_judge_of_one_input_has_no_difference():
    """Raters cannot be compared there; the other judge's difference stays."""
    ds = refusing(2, systems=4, judges=2)
    ds["score"] = ds.score.where((ds.metric == "bold") | (xr.DataArray(range(300), dims="input") < 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = ds.meta.human_ceiling(
            "rating", level="input", resample="input", method="bootstrap", n_resamples=99, rng=0
        )
    assert got.difference_low.isnull().values.tolist() == [True, False, True]
    told = "no difference of 'careful' from raters on the outputs that it scored: "
    assert of_code(caught, "no_interval")[0].startswith(told)
    assert "careful" not in got.meta.conclusion() and "bold" in got.meta.conclusion()


def test_without_refusals_nothing_is_compared_apart():
    got = refusing(1, systems=4, judges=2).sel(metric=["bold"]).meta.human_ceiling("rating", level="input")
    assert "on_own_outputs" not in got.attrs


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_refusals_of_bad_outputs_make_no_judge_worse():
    """Against raters on all outputs nearly all equal judges agreed significantly less."""
    below = 0
    for seed in range(120):
        got = refusing(100 + seed).meta.human_ceiling("rating", level="global", n_resamples=199, rng=0)
        below += float(got.difference_high[0]) < 0
        assert got.correlation[0] - got.correlation[1] < -0.05
    assert below <= 9
