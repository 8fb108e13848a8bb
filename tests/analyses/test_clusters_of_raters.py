"""`cluster=` of what asks single raters: agreement, the human ceiling and the alternative annotator test."""

import math
from types import SimpleNamespace

import krippendorff
import numpy as np
import pytest
import scipy.stats
import xarray as xr
from conftest import of_code, warns
from helpers import pairwise

from xsumstat.analyses import human_ceiling

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


@pairwise({"measurement": ["nominal", "interval"], "resample": ["both", "system", "input"], "seed": [0, 1, 5]})
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
        apart = variance - spread(of_blocks, np.mean(of_blocks))
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


@pytest.mark.parametrize("present", [[True] * 7, [True, True, False, True, False, True, True]])
def test_copies_of_drawn_families_are_a_share_of_the_drawn_pairs(present):
    """Of all draws of 4 families of 7 systems, some of which have no score; limits lose what copies add."""
    family = np.array([0, 0, 0, 1, 1, 2, 3])
    copies = pairs = 0
    for draw in np.ndindex(*[4] * 4):
        times = np.bincount(draw, minlength=4)[family][present]
        copies += int((times * (times - 1)).sum())
        pairs += int(times.sum() * (times.sum() - 1))
    share = copies / pairs
    score = xr.DataArray(np.where(present, 1.0, np.nan)[None, :, None], dims=("metric", "system", "input"))
    scores = SimpleNamespace(score=score, gold=score.isel(metric=0))
    names = ("correlation", "ci_low", "ci_high", "standard_error", "difference", "difference_low", "difference_high")
    found = xr.Dataset({name: ("metric", [0.6]) for name in names})
    got = human_ceiling._without_copies(found, scores, "system", (0.0, 1.0), family)
    assert got.ci_low.item() == pytest.approx((0.6 - share) / (1 - share), abs=1e-12)
    assert got.standard_error.item() == pytest.approx(0.6 / (1 - share), abs=1e-12)
    alone = human_ceiling._without_copies(found, scores, "system", (0.0, 1.0), np.arange(7))
    n = sum(present)
    assert alone.ci_low.item() == pytest.approx((0.6 - 1 / n) / (1 - 1 / n), abs=1e-12)


@pytest.mark.ignore_codes("near_one")
@pairwise(
    {"level": ["system", "input", "global"], "coefficient": ["kendall", "pearson"], "resample": ["both", "input"]}
)
def test_the_order_of_raters_does_not_matter(level, coefficient, resample):
    ds = rated(11)
    noise = np.random.default_rng(0).normal(size=ds.rating.shape) * np.array([0.1, 1, 3])[:, None, None]
    ds["rating"] = ds.rating + noise
    how = {"level": level, "coefficient": coefficient, "resample": resample, "cluster": "document"}
    how["method"] = "jackknife"
    want, got = (each.meta.human_ceiling("rating", **how) for each in (ds, ds.isel(rater=[2, 0, 1])))
    for name in ("standard_error", "ci_low", "ci_high", "difference_low", "difference_high"):
        np.testing.assert_allclose(got[name], want[name], atol=1e-12)


def test_one_cluster_tells_nothing():
    """Neither a width of 0, nor a difference that is certain."""
    ds = rated(12).assign_coords(one=("input", [0] * 10))
    for asked in (
        lambda **how: ds.meta.human_ceiling("rating", level="input", rng=0, **how),
        lambda **how: ds.meta.agreement("rating", **how),
        lambda **how: ds.meta.ci(ds.rating.mean("rater"), level="input", rng=0, **how),
    ):
        with pytest.raises(ValueError, match="cluster='one' puts all 10 inputs into one cluster, which tells nothing"):
            asked(cluster="one", resample="input", method="bootstrap", n_resamples=9)
        with pytest.raises(ValueError, match="two are needed, or resample= without 'input'"):
            asked(cluster="one", resample="both")
        with warns("no_interval"):
            got = asked(cluster="one", resample="input")
        assert got.ci_low.isnull().all() and got["alpha" if "alpha" in got else "correlation"].notnull().all()
        assert "without an interval" in got.meta.conclusion() or "no interval" in got.meta.conclusion()


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


def test_coordinates_of_ratings_are_those_that_count():
    ds = rated(13)
    own = ds.rating.assign_coords(mine=("input", np.arange(10) // 2))
    for asked in (ds.meta.alt_test, ds.meta.agreement):
        got = asked(own, cluster="mine")
        want = asked(ds.rating.drop_vars("document").assign_coords(mine=("input", np.arange(10) // 2)), cluster="mine")
        xr.testing.assert_identical(got, want)


def test_clusters_with_equal_means_are_no_certainty():
    """The items' own spread decides."""
    ds = rated(14, raters=2).isel(input=slice(0, 8), system=slice(0, 5))
    first = ds.isel(input=slice(0, 4))
    both = xr.concat([first, first.assign_coords(input=[f"j{at}" for at in range(4)])], "input")
    both = both.assign_coords(half=("input", np.repeat([0, 1], 4)))
    got, items = (both.drop_vars("document").meta.alt_test("rating", cluster=each) for each in ("half", None))
    np.testing.assert_array_equal(got.pvalue, items.pvalue)
    assert (got.pvalue > 0).all()


def test_unequal_clusters_are_told():
    ds = rated(15).assign_coords(part=("input", [0] * 7 + [1, 2, 3]))
    with warns("unequal_clusters", "unequal sizes .1 to 7.: 95 % intervals cover about 90 %, and tests are liberal"):
        ds.meta.alt_test("rating", cluster="part")


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
