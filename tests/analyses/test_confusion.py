"""Which labels a judge gives, by the labels that people give."""

import numpy as np
import pytest
import xarray as xr
from conftest import dataset


def graded(seed=0, shape=(3, 30), gaps=0.1):
    """Grades 1, 2, 4 and 5 of people, and of two judges, of whom one has gaps."""
    rng = np.random.default_rng(seed)
    z = rng.choice([1.0, 2.0, 4.0, 5.0], shape)
    x = np.clip(z + rng.integers(-1, 2, (2, *shape)), 1, 5)
    x[0][rng.random(shape) < gaps] = np.nan
    return dataset(np.concatenate([x, z[None]])).assign_coords(domain=("input", ["a", "b", "b"] * 10))


def test_counts_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    ds = graded()
    found = ds.meta.confusion("m2")
    assert found.human_label.values.tolist() == [1, 2, 3, 4, 5]
    z = ds.score.sel(metric="m2").values
    for metric in ("m0", "m1"):
        x = ds.score.sel(metric=metric).values
        there = ~np.isnan(x)
        want = metrics.confusion_matrix(z[there], x[there], labels=[1, 2, 3, 4, 5])
        np.testing.assert_array_equal(found.n_outputs.sel(metric=metric), want)
    rows = found.n_outputs.sum("judge_label")
    assert np.isnan(found.share.sel(human_label=3)).all()  # a grade that people could have given
    np.testing.assert_allclose((found.share * rows).fillna(0), found.n_outputs)


def test_groups_add_up_and_labels_are_texts():
    ds = graded()
    found = ds.meta.confusion("m2", by="domain")
    one = ds.isel(input=ds.domain.values == "a").meta.confusion("m2")
    np.testing.assert_array_equal(found.n_outputs.sel(domain="a"), one.n_outputs)
    parts = found.n_outputs.sel(domain=["a", "b"]).sum("domain")
    np.testing.assert_array_equal(parts, found.n_outputs.sel(domain="all"))
    passed = ds.assign(score=(ds.score > 2) * 1.0).assign_attrs(labels=["fail", "pass"])
    assert passed.meta.confusion("m2", metric="m1").judge_label.values.tolist() == ["fail", "pass"]


def test_lazy_scores_and_further_dims():
    ds = graded()
    both = xr.concat([ds, graded(1)], xr.DataArray(["en", "de"], dims="language", name="language"))
    found = both.meta.confusion("m2")
    np.testing.assert_array_equal(found.n_outputs.sel(language="en"), ds.meta.confusion("m2").n_outputs)
    lazy = ds.chunk().meta.confusion("m2")
    assert lazy.n_outputs.chunks is not None
    xr.testing.assert_equal(lazy.compute().drop_attrs(), ds.meta.confusion("m2").drop_attrs())


def test_words():
    z = np.array([[1.0] * 10 + [0.0] * 5])
    x = z.copy()
    x[0, :2], x[0, 12:] = 0.0, 1.0
    ds = dataset(np.stack([x, z])).assign_attrs(labels=["fail", "pass"])
    assert ds.meta.confusion("m1").meta.conclusion() == (
        "m0 and 'm1' have the same label for 10 of 15 outputs; "
        "the most frequent error is 'pass' instead of 'fail' (3 of 5)."
    )


def test_what_has_no_labels_is_refused():
    ds = graded()
    with pytest.raises(ValueError, match="do not have, such as 1.5"):
        ds.assign(score=ds.score.where(ds.metric != "m0", 1.5)).meta.confusion("m2")
    with pytest.raises(ValueError, match="different values"):
        dataset(np.random.default_rng(0).normal(size=(2, 3, 40))).meta.confusion("m1")
    with pytest.raises(ValueError, match="by must be a coordinate"):
        ds.meta.confusion("m2", by="domian")


def test_each_rater_is_counted_singly():
    rng = np.random.default_rng(8)
    judge, rating = rng.integers(1, 4, size=(2, 30)), rng.integers(1, 4, size=(2, 30, 3)).astype(float)
    rating[rng.random(rating.shape) < 0.3] = np.nan
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), judge[None].astype(float)),
         "rating": (("system", "input", "rater"), rating)},
        {"metric": ["judge"], "half": ("input", np.repeat(["a", "b"], 15))},
    )  # fmt: skip
    want = np.zeros((3, 3), dtype=int)
    for (system, place, _), value in np.ndenumerate(rating):
        if not np.isnan(value):
            want[int(value) - 1, judge[system, place] - 1] += 1
    found = ds.meta.confusion("rating", along="rater")
    assert found.n_outputs.dims == ("metric", "human_label", "judge_label") and found.attrs["along"] == "rater"
    np.testing.assert_array_equal(found.n_outputs.squeeze(), want)
    np.testing.assert_allclose(found.share.squeeze(), want / want.sum(axis=1, keepdims=True))
    by_half = ds.meta.confusion("rating", along="rater", by="half").n_outputs
    np.testing.assert_array_equal(by_half.sel(half="a") + by_half.sel(half="b"), found.n_outputs)
    same, total = np.trace(want), want.sum()
    higher, lower = np.triu(want, 1).sum(), np.tril(want, -1).sum()
    assert found.meta.conclusion().startswith(
        f"judge gives the grade of a single rater for {same} of {total} ratings ({100 * same / total:.0f} %), a higher "
        f"one for {100 * higher / total:.0f} % and a lower one for {100 * lower / total:.0f} %; the most frequent"
    )
    axis = found.meta.plot.confusion()
    assert axis.get_ylabel() == "label by a single rater" and "numbers of ratings" in axis.figure.texts[-1].get_text()
    with pytest.raises(ValueError, match="unknown along 'raters'"):
        ds.meta.confusion("rating", along="raters")
