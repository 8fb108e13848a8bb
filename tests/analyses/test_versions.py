import numpy as np
import pytest
import scipy.stats
import xarray as xr

from xsumstat.analyses import versions
from xsumstat.analyses.versions import Pairs
from xsumstat.coefficients import table
from xsumstat.coefficients.record import Measure

KENDALL = Measure(table.get("kendall"), "global")
METRICS, LANGUAGES, CORPORA = ["b", "a", "c"], ["de", "en", "hi", "zh"], ["x", "y"]


@pytest.fixture
def ds():
    """Three metrics in four languages on two corpora, each score another number; gold by corpus and quality."""
    rng = np.random.default_rng(0)
    score = rng.permutation(3 * 4 * 2 * 5 * 6).reshape(5, 4, 3, 2, 6).astype(float)
    dims = ("system", "language", "metric", "corpus", "input")
    coords = {"metric": METRICS, "language": LANGUAGES, "corpus": CORPORA, "system": range(5), "input": range(6)}
    human = xr.DataArray(
        rng.normal(size=(2, 2, 5, 6)),
        {"quality": ["good", "new"], "corpus": CORPORA},
        ("quality", "corpus", *dims[::4]),
    )
    return xr.Dataset({"score": (dims, score), "human": human}, {**coords, "label": ("metric", [1, 2, 3])})


def of_versions(ds, base="en"):
    return Pairs.of(ds, "human", None, "language", base, None, KENDALL)


@pytest.mark.parametrize("base", LANGUAGES)
def test_each_target_is_a_version_and_its_base(ds, base):
    pairs = of_versions(ds, base)
    others = [language for language in LANGUAGES if language != base]
    assert pairs.versions == others and pairs.metrics == METRICS == pairs.labels
    assert pairs.dims == ["metric", "language", "corpus", "quality"]
    cells = pairs.scores.score.transpose("metric", "corpus", "system", "input").values
    asked = [(language, metric) for language in others for metric in METRICS]
    assert len(pairs.targets) == len(asked) == 9
    for (one, two), (language, metric) in zip(pairs.targets, asked, strict=True):
        for place, label in ((one, language), (two, base)):
            want = ds.score.sel(language=label, metric=metric).transpose("corpus", "system", "input")
            np.testing.assert_array_equal(cells[place], want)


def test_what_is_found_of_each_target_is_laid_out_by_metric_and_version(ds):
    pairs = of_versions(ds)
    numbers = xr.DataArray(np.arange(9.0)[:, None] + np.array([0.0, 0.5]), dims=("_pair", "corpus"))
    laid = pairs.laid_out({"difference": numbers}).difference
    assert laid.dims == ("metric", "language", "corpus")
    for number, (language, metric) in enumerate((v, m) for v in ("de", "hi", "zh") for m in METRICS):
        assert laid.sel(metric=metric, language=language).values.tolist() == [number, number + 0.5]


def test_two_metrics_are_laid_out_both_ways(ds):
    one = ds.sel(language="en", drop=True)
    pairs = Pairs.of(one, "human", ["b", "c"], None, None, ["a", "b"], KENDALL)
    labels = pairs.labels
    assert labels == ["a", "b", "c"] and [tuple(labels[at] for at in pair) for pair in pairs.targets] == [
        ("a", "b"), ("a", "c"), ("b", "c"),
    ]  # fmt: skip
    assert pairs.dims == ["metric", "other_metric", "corpus", "quality"]
    found = {"difference": [1.0, 2.0, 3.0], "pvalue": [0.1, 0.2, 0.3], "ci_low": [-5.0, -6.0, -7.0],
             "ci_high": [8.0, 9.0, 10.0], "margin": [0.4, 0.5, 0.6]}  # fmt: skip
    laid = pairs.laid_out({name: xr.DataArray(values, dims="_pair") for name, values in found.items()})
    assert laid.metric.values.tolist() == ["b", "c"] and laid.other_metric.values.tolist() == ["a", "b"]
    want = {"difference": [[-1, np.nan], [-2, -3]], "pvalue": [[0.1, np.nan], [0.2, 0.3]],
            "ci_low": [[-8, np.nan], [-9, -10]], "ci_high": [[5, np.nan], [6, 7]],
            "margin": [[0.4, np.nan], [0.5, 0.6]]}  # fmt: skip
    for name, values in want.items():
        np.testing.assert_array_equal(laid[name], values)


OWN = [("metric",), ("language",), ("corpus",), ("quality", "metric"), ("metric", "language", "quality"), ()]


@pytest.mark.parametrize("dims", OWN)
def test_margins_of_versions_go_by_label(ds, dims):
    """Each number once; labels in another order, and some that nothing asks for."""
    labels = {"metric": ["z", *METRICS[::-1]], "language": LANGUAGES, "corpus": ["y", "x"], "quality": ["new", "good"]}
    sizes = [len(labels[dim]) for dim in dims]
    margin = xr.DataArray(0.01 + np.arange(float(np.prod(sizes))).reshape(sizes), {d: labels[d] for d in dims}, dims)
    pairs = of_versions(ds)
    got = pairs.laid_out({"margin": pairs.margins(margin, "not given for")})["margin"]
    for metric in METRICS:
        for language in ("de", "hi", "zh"):
            here = {"metric": metric, "language": language}
            want = margin.sel({dim: here[dim] for dim in dims if dim in here})
            for corpus in range(2):
                for quality in range(2):
                    at = {"corpus": corpus, "quality": quality}
                    label = {"corpus": CORPORA[corpus], "quality": ["good", "new"][quality]}
                    cell = got.sel(here).isel({dim: at[dim] for dim in dims if dim in at})
                    assert float(cell) == float(want.sel({dim: label[dim] for dim in dims if dim in label}))


def test_of_two_metrics_the_smaller_margin_counts(ds):
    pairs = Pairs.of(ds.sel(language="en", drop=True), "human", None, None, None, METRICS, KENDALL)
    margin = xr.DataArray([[3.0, 1.0, 2.0], [1.0, np.nan, 5.0]], {"corpus": CORPORA, "metric": ["a", "b", "c"]})
    with pytest.warns(UserWarning, match="unknown: 'y/b'"):
        got = pairs.margins(margin, "unknown:")
    np.testing.assert_array_equal(got.transpose("corpus", "_pair"), [[1.0, 2.0, 1.0], [np.nan, 1.0, np.nan]])


def test_margins_that_are_not_for_these_comparisons(ds):
    pairs = of_versions(ds)
    with pytest.raises(ValueError, match="unknown dim of margin 'other_metric'"):
        pairs.margins(xr.DataArray([1.0], dims="other_metric"), "")
    with pytest.raises(ValueError, match="unknown label along 'metric' that margin lacks: 'c'"):
        pairs.margins(xr.DataArray([0.1, 0.2], {"metric": ["a", "b"]}), "")
    with pytest.raises(ValueError, match="margin must be above 0, got 0"):
        pairs.margins(xr.DataArray([0.0, 1.0, 1.0], {"metric": METRICS}), "")
    unused = xr.DataArray([0.0, 1.0, 1.0, 1.0], {"metric": ["z", *METRICS]})
    assert (pairs.margins(unused, "") == 1).all()


@pytest.mark.parametrize("name", ["rater_sd", "rater_range"])
def test_the_spread_of_the_raters_correlations(ds, name):
    """SciPy's tau of each rater with the base version; one of four raters rated one quality only, one nothing."""
    rng = np.random.default_rng(4)
    rating = xr.DataArray(
        rng.normal(size=(2, 2, 4, 5, 6)),
        {"quality": ["good", "new"], "corpus": CORPORA, "rater": list("pqrs")},
        ("quality", "corpus", "rater", "system", "input"),
    )
    rating[1, :, 1] = np.nan
    rating[:, :, 3] = np.nan
    rating[0, 1, 0, 2, 3] = np.nan
    got = versions.margin_of(ds.assign(given=rating), name, "given", ["c", "a"], {"language": "hi"}, KENDALL)
    assert set(got.dims) == {"metric", "quality", "corpus"} and got.metric.values.tolist() == ["c", "a"]
    for metric in ("c", "a"):
        for q, quality in enumerate(("good", "new")):
            for k, corpus in enumerate(CORPORA):
                x = ds.score.sel(metric=metric, language="hi", corpus=corpus).transpose("system", "input").values
                r = []
                for rater in (0, 1, 2) if quality == "good" else (0, 2):
                    z = rating.values[q, k, rater]
                    there = ~np.isnan(z)
                    r.append(scipy.stats.kendalltau(x[there], z[there]).statistic)
                want = np.std(r, ddof=1) if name == "rater_sd" else max(r) - min(r)
                assert float(got.sel(metric=metric, quality=quality, corpus=corpus)) == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("name", ["rater_sd", "rater_range"])
@pytest.mark.ignore_codes("constant_gold")
def test_without_two_correlations_there_is_no_spread(ds, name):
    """One rater is too few; of several none may have rated without a correlation, as by one grade throughout."""
    rng = np.random.default_rng(5)
    rating = xr.DataArray(rng.normal(size=(3, 3, 5, 6)), dims=("quality", "rater", "system", "input"), name="rating")
    rating[0, 1:] = np.nan
    rating[1, 2] = 4.0
    rating[2, 2] = np.nan
    one = ds.sel(corpus="x", language="en", drop=True)
    got = versions.margin_of(one, name, rating, ["a"], {}, KENDALL).squeeze("metric")
    assert np.isnan(got[:2]).all() and float(got[2]) > 0


def test_what_margins_and_versions_need(ds):
    with pytest.raises(ValueError, match="margin must be one of 'rater_sd', 'rater_range', got 'rater_std'; did you"):
        versions.margin_of(ds, "rater_std", None, METRICS, {}, KENDALL)
    with pytest.raises(ValueError, match="margin='rater_sd' needs ratings, and the Dataset has no variable 'rating'"):
        versions.margin_of(ds, "rater_sd", None, METRICS, {}, KENDALL)
    with pytest.raises(ValueError, match="rating must be a DataArray with a dim 'rater', got .*'quality'"):
        versions.margin_of(ds, "rater_sd", ds.human, METRICS, {}, KENDALL)
    for margin in (-0.1, 0):
        with pytest.raises(ValueError, match=f"margin must be above 0, got {margin}$"):
            versions.margin_of(ds, margin, None, METRICS, {}, KENDALL)
    with pytest.raises(ValueError, match="unknown along 'corpsu'; did you mean 'corpus'"):
        versions.check_along(ds.score, "corpsu", "x")
    with pytest.raises(ValueError, match="unknown base 'fr'.* labels of language"):
        versions.check_along(ds.score, "language", "fr")
    with pytest.raises(ValueError, match="score has no labels along 'corpus', needed for base='x'"):
        versions.check_along(ds.score.drop_vars("corpus"), "corpus", "x")
    with pytest.raises(ValueError, match="gold has the dim 'corpus' too; select one label"):
        Pairs.of(ds, "human", None, "corpus", "x", None, KENDALL)
    for along, other in ((None, None), ("language", ["a"])):
        with pytest.raises(ValueError, match="give either other= .* or along= .*; got along="):
            Pairs.of(ds, "human", None, along, "en", other, KENDALL)
