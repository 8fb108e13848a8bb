"""`cluster=` of what asks single raters: agreement, the human ceiling and the alternative annotator test."""

import math

import krippendorff
import numpy as np
import pytest
import scipy.stats
import xarray as xr
from conftest import of_code, warns
from helpers import pairwise

FAMILY, DOCUMENT = [0, 0, 1, 2, 2, 2, 3, 4], [0, 0, 1, 1, 1, 2, 3, 3, 4, 4]
pytestmark = pytest.mark.ignore_codes("unequal_clusters")


def rated(seed=0, gaps=0.0, raters=3):
    """Raters on a scale of five, and a judge, whose errors the inputs of a document share."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, (8, 1)) + rng.normal(0, 0.8, (8, 5))[:, DOCUMENT] + rng.normal(0, 0.6, (8, 10))
    rating = np.clip(np.round(truth + 0.6 * rng.normal(size=(raters, 8, 10))), 1, 5)
    rating[rng.random(rating.shape) < gaps] = np.nan
    judge = np.clip(np.round(truth + rng.normal(0, 0.8, (8, 5))[:, DOCUMENT]), 1, 5)
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), judge[None]), "rating": (("rater", "system", "input"), rating)},
        {"metric": ["judge"], "rater": [f"r{at}" for at in range(raters)]},
    )
    labels = {"system": [f"s{at}" for at in range(8)], "input": [f"i{at}" for at in range(10)]}
    return ds.assign_coords(labels | {"family": ("system", FAMILY), "document": ("input", DOCUMENT)})


def spread(without, about):
    n = len(without)
    return (n - 1) / n * sum((each - about) ** 2 for each in without)


# --- Agreement ---


def alpha(ratings, measurement):
    """That of the package krippendorff, for ratings (raters, systems, inputs)."""
    return krippendorff.alpha(ratings.reshape(len(ratings), -1), level_of_measurement=measurement)


@pairwise({"measurement": ["nominal", "interval"], "resample": ["both", "system", "input"], "seed": [0, 1]})
def test_alpha_leaves_out_whole_families_and_documents(measurement, resample, seed):
    """About alpha itself; what inputs add is beyond the ratings of one family in one document."""
    ds = rated(seed, gaps=0.1)
    x = ds.rating.values
    value = alpha(x, measurement)
    families, documents = np.array(FAMILY), np.array(DOCUMENT)
    of_system = [alpha(x[:, families != at], measurement) for at in range(5)]
    of_input = [alpha(x[:, :, documents != at], measurement) for at in range(5)]
    of_blocks = []
    for block in np.ndindex(5, 5):
        here = (families[:, None] == block[0]) & (documents == block[1])
        of_blocks.append(alpha(np.where(here, np.nan, x), measurement))
    without = {"system": [of_system], "input": [of_input], "both": [of_system, of_input]}[resample]
    variance = sum(spread(each, value) for each in without)
    if resample == "both":
        apart = variance - spread(of_blocks, value)
        variance = max(apart, *(spread(each, value) for each in without))
    got = ds.meta.agreement(measurement=measurement, resample=resample, cluster=("family", "document"))
    assert float(got.standard_error) == pytest.approx(math.sqrt(variance), rel=1e-9)
    centre = value - sum((len(each) - 1) * (np.mean(each) - value) for each in without)
    reach = scipy.stats.t.ppf(0.975, 4) * float(got.standard_error) / (1 - value**2)
    want = np.tanh([np.arctanh(centre) - reach, np.arctanh(centre) + reach])
    assert [float(got.ci_low), float(got.ci_high)] == pytest.approx(want, abs=1e-12)
    assert got.attrs["cluster"] == "family document"


def test_alpha_draws_whole_documents():
    """With one input a document, drawing documents is drawing inputs; equal inputs of a document change nothing."""
    ds = rated(2).isel(input=[0, 2, 5, 6, 8])
    how = {"method": "bootstrap", "n_resamples": 50, "rng": 4, "resample": "input"}
    alone = ds.drop_vars("document").meta.agreement(**how)
    xr.testing.assert_allclose(ds.meta.agreement(cluster="document", **how).drop_attrs(), alone.drop_attrs())
    # Alpha corrects for the number of ratings, so it is no mean; its draws are the same documents.
    twice = ds.isel(input=np.repeat(np.arange(5), 2)).drop_vars("input")
    got, own = twice.meta.agreement(cluster="document", **how), twice.drop_vars("document").meta.agreement(**how)
    assert abs(float(got.standard_error / alone.standard_error) - 1) < 0.05
    assert float(own.standard_error) < 0.85 * float(alone.standard_error)


def test_ratings_that_come_by_themselves_take_documents_from_the_scores():
    """By their labels, whatever their order; their own descriptions stay."""
    ds = rated(3)
    bare = ds.rating.drop_vars(["family", "document"])[:, :, ::-1]
    for cluster in ("document", ("family", "document")):
        want = ds.meta.agreement("rating", cluster=cluster)
        xr.testing.assert_identical(ds.meta.agreement(bare, cluster=cluster), want)
    other = bare.assign_coords(document=("input", np.arange(10)))
    got = ds.meta.agreement(other, cluster="document").ci_low
    assert float(got) != float(ds.meta.agreement("rating", cluster="document").ci_low)
    with warns("documents"):
        ds.meta.agreement(bare)


# --- The human ceiling ---


@pytest.mark.ignore_codes("near_one")
@pairwise(
    {
        "level": ["system", "input", "global", "within_system"],
        "resample": ["both", "input", "system"],
        "cluster": ["document", "family", ("family", "document")],
    }
)
def test_the_ceiling_of_raters_who_rate_alike_is_the_clustered_jackknife_of_one(level, resample, cluster):
    """Each one's others then are one gold, and a mean over raters is what `ci` gives, which has a plain twin."""
    ds = rated(4, raters=2)
    ds["rating"] = ds.rating.copy(data=np.stack([ds.rating.values[0]] * 2))
    how = {"level": level, "resample": resample, "cluster": cluster, "method": "jackknife"}
    got = ds.meta.human_ceiling("rating", **how).sel(metric="judge")
    want = ds.meta.ci(ds.rating.isel(rater=0, drop=True), **how).sel(metric="judge")
    for name in ("correlation", "ci_low", "ci_high", "standard_error"):
        np.testing.assert_allclose(got[name], want[name], atol=1e-12)


def test_the_ceiling_leaves_out_families_of_all_raters_at_once():
    """The mean over raters without each family, about the mean of all; the difference by its own spread."""
    ds = rated(5)
    draws = {"method": "bootstrap", "n_resamples": 2, "rng": 0, "resample": "system"}
    found = []
    for at in range(-1, 5):
        left = ds.isel(system=np.flatnonzero(np.array(FAMILY) != at))
        found.append(left.meta.human_ceiling("rating", **draws).correlation)
    whole, *left_out = np.array(found)
    got = ds.meta.human_ceiling("rating", resample="system", cluster="family")
    error = np.sqrt([spread(each, value) for each, value in zip(np.array(left_out).T, whole, strict=True)])
    np.testing.assert_allclose(got.standard_error, error, atol=1e-12)
    reach = scipy.stats.t.ppf(0.975, 4) * error / (1 - whole**2)
    np.testing.assert_allclose(got.ci_low, np.tanh(np.arctanh(whole) - reach), atol=1e-12)
    np.testing.assert_allclose(got.ci_high, np.tanh(np.arctanh(whole) + reach), atol=1e-12)


def test_the_ceiling_draws_whole_documents():
    """From the samples of `ci` for each rater against the mean of the others, on the same draws."""
    ds = rated(6)
    how = {"level": "input", "resample": "both", "method": "bootstrap", "n_resamples": 400, "rng": 2}
    how |= {"cluster": ("family", "document")}
    got = ds.meta.human_ceiling("rating", **how)
    samples = []
    for at in range(3):
        people = ds.rating.drop_isel(rater=at).mean("rater")
        samples.append(ds.meta.ci(people, keep_samples=True, **how).samples.sel(metric="judge").values)
    ends = np.nanquantile(np.nanmean(samples, axis=0), [0.025, 0.975])
    assert [float(got.ci_low[0]), float(got.ci_high[0])] == pytest.approx(ends, abs=1e-12)


def test_copies_of_drawn_families_do_not_raise_the_limits():
    """A pair of systems is drawn as copies with probability (1 − 1/g)/(k − 1) for k systems in g families of one size.

    Without that share, the mean of what is drawn is the accuracy of the pairs that are no copies.
    """
    g, size = 4, 3
    k, drawn = g * size, np.array(list(np.ndindex(*[g] * g)))
    copies = [sum((row == at).sum() * ((row == at).sum() - 1) * size for at in range(g)) for row in drawn]
    assert np.mean(copies) / (k * (k - 1)) == pytest.approx((1 - 1 / g) / (k - 1), abs=1e-12)
    rng = np.random.default_rng(0)
    rating = xr.DataArray(rng.integers(1, 4, (3, k, 40)).astype(float), dims=("rater", "system", "input"))
    ds = xr.Dataset({"score": rating.isel(rater=[0]).rename(rater="metric")}, {"metric": ["judge"]})
    ds = ds.assign(score=ds.score.copy(data=rng.integers(1, 4, (1, k, 40)).astype(float)))
    ds = ds.assign_coords(family=("system", np.repeat(np.arange(g), size)))
    how = {"level": "input", "coefficient": "acc_eq", "method": "bootstrap", "resample": "system", "n_resamples": 999}
    got = ds.meta.human_ceiling(rating, cluster="family", rng=1, **how)
    # Judge and raters are noise: the interval lies about the estimate, not above it.
    middle = (got.ci_low + got.ci_high) / 2
    np.testing.assert_allclose(middle, got.correlation, atol=0.02)


# --- The alternative annotator test ---


def plain(ds, codes, margin):
    """Its p-values by leaving out the items of each cluster in turn."""
    judge, ratings = ds.score.values[0], ds.rating.values
    found = []
    for at in range(len(ratings)):
        apart, cluster = [], []
        for i, j in np.ndindex(judge.shape):
            others = [r[i, j] for k, r in enumerate(ratings) if k != at and not math.isnan(r[i, j])]
            own = ratings[at, i, j]
            if not others or math.isnan(own):
                continue
            far = [math.sqrt(sum((v - o) ** 2 for o in others) / len(others)) for v in (judge[i, j], own)]
            apart.append((far[1] <= far[0] + 1e-12) - (far[0] <= far[1] + 1e-12))
            cluster.append(codes[j])
        apart, cluster = np.array(apart, dtype=float), np.array(cluster)
        without = [apart[cluster != each].mean() for each in set(cluster.tolist())]
        error = math.sqrt(spread(without, apart.mean()))
        found.append(scipy.stats.t.cdf((apart.mean() - margin) / error, len(without) - 1))
    return found


@pytest.mark.parametrize("cluster", ["document", "input"])
def test_its_items_stay_together(cluster):
    ds = rated(7, gaps=0.1)
    got = ds.meta.alt_test("rating", cluster=cluster, margin=0.15)
    codes = DOCUMENT if cluster == "document" else range(10)
    np.testing.assert_allclose(got.pvalue.sel(metric="judge"), plain(ds, codes, 0.15), rtol=1e-12)
    assert f"on inputs like these, clustered by {cluster}" in got.meta.conclusion()
    without = ds.drop_vars("document").meta.alt_test("rating", margin=0.15)
    assert "outputs like these" in without.meta.conclusion() and "cluster" not in without.attrs
    for name in ("advantage", "human_advantage", "n_items"):
        np.testing.assert_array_equal(got[name], without[name])


def test_its_clusters_are_of_inputs_for_a_t_test():
    ds = rated(8)
    with pytest.raises(ValueError, match="cluster='document' needs test='t', got test='wilcoxon'"):
        ds.meta.alt_test("rating", cluster="document", test="wilcoxon")
    with pytest.raises(ValueError, match="cluster must be a coordinate that describes each input, got 'family'"):
        ds.meta.alt_test("rating", cluster="family")
    one = ds.assign_coords(document=("input", np.zeros(10, dtype=int)))
    with warns("no_test"):
        got = one.meta.alt_test("rating", cluster="document")
    assert got.pvalue.isnull().all() and got.winning_rate.isnull().all() and got.advantage.notnull().all()


@pytest.mark.slow
def test_a_judge_at_the_margin_wins_as_often_as_alpha_allows():
    """The judge errs by document; without clusters it wins about twice as often."""
    won = {None: 0, "document": 0}
    rng, sets, share = np.random.default_rng(9), 400, at_margin()
    document = np.repeat(np.arange(20), 6)
    for _ in range(sets):
        truth = rng.normal(size=(2, 120))
        raters = truth + rng.normal(size=(2, 2, 120))
        # On half of the documents the judge is wide of the mark on all outputs, on the others on none.
        wide = rng.random((1, 20)) < 0.5
        judge = np.clip(truth + np.where(wide, 2.0, 0.3)[:, document] * rng.normal(size=(2, 120)), -3, 3)
        ds = xr.Dataset(
            {"score": (("metric", "system", "input"), judge[None]), "rating": (("rater", "system", "input"), raters)},
            {"metric": ["judge"], "text": ("input", document)},
        )
        for cluster in won:
            named = None if cluster is None else "text"
            got = ds.meta.alt_test("rating", scale="raw", margin=share, cluster=named)
            won[cluster] += int((got.pvalue <= 0.05).sum())
    of_document, of_items = won["document"] / (2 * sets), won[None] / (2 * sets)
    assert of_document < 0.085 and of_items > 0.09


def at_margin(n=4_000_000):
    """The share of items on which a rater is nearer to the other one, less that on which the judge is."""
    rng = np.random.default_rng(1)
    truth = rng.normal(size=n)
    one, two = truth + rng.normal(size=(2, n))
    judge = np.clip(truth + np.where(rng.random(n) < 0.5, 2.0, 0.3) * rng.normal(size=n), -3, 3)
    return float((abs(one - two) <= abs(judge - two)).mean() - (abs(judge - two) <= abs(one - two)).mean())


def test_with_clusters_no_document_is_warned_of(recwarn):
    ds = rated(10)
    ds.meta.agreement("rating", cluster="document")
    ds.meta.human_ceiling("rating", cluster="document", level="input")
    ds.meta.alt_test("rating", cluster="document")
    assert not of_code(recwarn, "documents")
