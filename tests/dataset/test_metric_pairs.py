"""Which pairs of metrics are compared, and where what was found of each lies, beside plain loops."""

import itertools
import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import dataset, of_code

from xsumstat.analyses.measure import checked_measure
from xsumstat.dataset import labelled, metric_pairs, pair_results, results
from xsumstat.resampling.jobs import Formula

METRICS = ["d", "b", "human", "a", "c"]


@pytest.fixture
def ds():
    """Metrics in no order of their labels."""
    score = np.random.default_rng(0).normal(size=(5, 6, 4))
    return dataset(score, metric=METRICS, length=("metric", [4, 2, 9, 1, 3]))


def prepared(ds, metric=None, other=None, **how):
    return metric_pairs.prepare(ds, "human", metric, other, **{"level": "input", "missing": "pairwise"} | how)


def named(scores, pairs):
    labels = scores.score["metric"].values.tolist()
    return [(labels[a], labels[b]) for a, b in pairs]


CHOICES = [
    (None, None),
    (["c", "a"], None),
    ("b", "d"),
    ("d", ["b", "d"]),
    (["d", "a"], ["a", "b", "c"]),
    (["b", "c"], ["c", "b"]),
]


@pytest.mark.parametrize("metric, other", CHOICES)
def test_pairs_are_those_of_a_plain_loop_whatever_the_order_of_the_metrics(ds, metric, other):
    scores, pairs = prepared(ds, metric, other)
    ours = list("abcd") if metric is None else list(metric)
    theirs = ours if other is None else list(other)
    want = {tuple(sorted((one, two))) for one in ours for two in theirs if one != two}
    assert named(scores, pairs) == sorted(want)
    assert scores.score["metric"].values.tolist() == sorted({*ours, *theirs})
    for label, values in zip(scores.score["metric"].values, scores.score.values, strict=True):
        np.testing.assert_array_equal(values, ds.score.sel(metric=label))
    turned = prepared(ds.isel(metric=[4, 3, 2, 1, 0]), metric, other)
    assert turned[1] == pairs
    np.testing.assert_array_equal(turned[0].score, scores.score)


def test_one_metric_is_no_pair(ds):
    with pytest.raises(ValueError, match="a comparison needs two metrics: metric and other name only one"):
        prepared(ds, "a")
    with pytest.raises(ValueError, match="name only one"):
        prepared(ds, "a", "a")


def test_cells_that_one_of_a_pair_lacks_are_counted(ds):
    """Of the pairs that are asked for; where means are of a metric's own cells none is lost."""
    ds.score.loc[{"metric": "a", "system": "s1", "input": "i2"}] = np.nan
    ds.score.loc[{"metric": "c", "system": "s4", "input": ["i0", "i3"]}] = np.nan
    for missing, level, texts in (
        ("pairwise", "input", ["a and b (1 of 24), a and c (3 of 24), b and c (2 of 24)"]),
        ("available", "system", []),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            prepared(ds, ["a", "b", "c"], missing=missing, level=level)
        told = "outputs left out, because one metric of a pair has no score (ds.meta.missingness() shows whether that"
        said = [text for text in of_code(caught, "cells_left_out") if text.startswith(told)]
        assert said == [f"{told} matters): {each}" for each in texts]


@pytest.mark.parametrize("metric, other", CHOICES)
def test_numbers_of_pairs_are_laid_out_both_ways(ds, metric, other):
    """A difference turns its sign with the pair, its limits turn and change places, a p-value is of the direction."""
    scores, pairs = prepared(ds, metric, other)
    size = len(pairs)
    rng = np.random.default_rng(1)
    by_pair = {name: rng.normal(size=(size, 2)) for name in ("difference", "ci_low", "ci_high", "standard_error")}
    by_pair |= {name: rng.random((size, 2)) for name in ("forward", "backward")}
    by_pair |= {"n_undefined": rng.integers(1, 9, (size, 2)), "exact": rng.random((size, 2)) < 0.5}
    laid = pair_results.laid_out(
        {name: xr.DataArray(values, dims=("_pair", "language")) for name, values in by_pair.items()}, pairs, scores
    )
    ours = list("abcd") if metric is None else list(metric)
    theirs = ours if other is None else list(other)
    ours = [label for label in METRICS if label in ours] if metric is None else ours
    theirs = [label for label in METRICS if label in theirs] if metric is None else theirs
    assert laid.metric.values.tolist() == ours and laid.other_metric.values.tolist() == theirs
    assert laid.difference.dims == ("metric", "other_metric", "language")
    assert laid.length.values.tolist() == [{"d": 4, "b": 2, "a": 1, "c": 3}[label] for label in ours]
    assert laid.n_undefined.dtype == int and laid.exact.dtype == bool
    place = {pair: at for at, pair in enumerate(named(scores, pairs))}
    for one, two in itertools.product(ours, theirs):
        cell = {
            name: values.values.tolist() for name, values in laid.sel(metric=one, other_metric=two).data_vars.items()
        }
        if one == two:
            assert np.isnan([cell[name] for name in ("difference", "ci_low", "ci_high", "standard_error")]).all()
            assert np.isnan(cell["pvalue"]).all() and cell["n_undefined"] == [0, 0] and cell["exact"] == [False] * 2
            continue
        at = place[tuple(sorted((one, two)))]
        found = {name: values[at] for name, values in by_pair.items()}
        turned = one > two
        want = {
            "difference": -found["difference"] if turned else found["difference"],
            "ci_low": -found["ci_high"] if turned else found["ci_low"],
            "ci_high": -found["ci_low"] if turned else found["ci_high"],
            "pvalue": found["backward" if turned else "forward"],
            **{name: found[name] for name in ("standard_error", "n_undefined", "exact")},
        }
        assert cell == {name: values.tolist() for name, values in want.items()}


def test_every_further_label_is_asked_of_all_pairs(ds):
    """The sum of products of a pair's scores and of gold, for two golds and lazily too."""
    gold = xr.concat([ds.score.sel(metric="human", drop=True) * n for n in (1, 2)], "quality")
    alone = ds.drop_sel(metric="human")
    asked = [(alone, gold)]
    if pytest.importorskip("dask.array"):
        asked.append((alone.chunk(metric=1), gold))
    for scores_of, human in asked:
        scores, pairs = metric_pairs.prepare(scores_of, human, None, None, level="input", missing="pairwise")

        def each(x, z, targets, measure):
            products = np.array([(x[a] * x[b] * z).sum() for a, b in targets])
            return products, np.array([x[a].size for a, _ in targets])

        assert pair_results.dims(scores) == ["metric", "other_metric", "quality"]
        names = ("difference", "n_undefined")
        job = Formula(pairs, checked_measure("input", "pearson", "pairwise", "drop"), each, names)
        found = labelled.run(job, scores, "_pair", results.types(names))
        assert found["n_undefined"].dtype == int and (found["n_undefined"] == 24).all()
        for at, (one, two) in enumerate(itertools.combinations("abcd", 2)):
            product = ds.score.sel(metric=one) * ds.score.sel(metric=two) * ds.score.sel(metric="human")
            want = sum(product.values.ravel().tolist())
            got = found["difference"].isel(_pair=at).values
            assert got.tolist() == pytest.approx([want, 2 * want])


def test_pairs_without_a_difference_are_named_unless_a_constant_metric_says_why(ds):
    ds.score.loc[{"metric": "c"}] = 1.0
    with pytest.warns(UserWarning, match="constant scores, so the correlation is undefined .NaN., for metric 'c'"):
        scores, pairs = prepared(ds)
    missing = xr.DataArray([[np.nan, 1.0]] * len(pairs), {"language": ["en", "de"]}, ("_pair", "language"))
    with pytest.warns(UserWarning) as caught:
        pair_results.warn_undefined(missing, pairs, scores)
    (text,) = [str(each.message) for each in caught]
    assert text == "undefined difference for 'a and b/en', 'a and d/en', 'b and d/en'"
