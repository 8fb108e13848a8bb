"""A job run for every further label, beside plain loops over the labels."""

from dataclasses import dataclass

import numpy as np
import pytest
import xarray as xr
from conftest import warns

from xsumstat.dataset import labelled
from xsumstat.dataset import scores as schema
from xsumstat.resampling import draws, jobs
from xsumstat.resampling.jobs import Job

LANGUAGES, QUALITIES = ["de", "en", "hi"], ["new", "old"]


@dataclass(frozen=True)
class Products(Job):
    """Of each metric the sum of its products with gold; a sample is that sum plus the number of its resample."""

    targets: range
    n_resamples: int
    names = ("total", "n_cells", "n_seen")

    def ready(self, at, x, z, *beside):
        products = [float(np.nansum(metric * z)) for metric in x[at]]
        if beside:
            products = [value * factor for value, factor in zip(products, beside[0][0, at], strict=True)]
        return np.array(products), float(z.size)

    def rows(self, ready):
        return len(ready[0])

    def block(self, ready, block, out, stop):
        numbers = np.arange(self.n_resamples)[self.columns(block)]
        out[:] = ready[0][:, None] + numbers
        return np.array([len(numbers)])

    def finish(self, ready, counts, samples):
        seen = samples.shape[1] == self.n_resamples == int(counts[0])
        return np.array([ready[0], [ready[1]] * len(ready[0]), [self.n_resamples * seen] * len(ready[0])])


TYPES = {"total": float, "n_cells": int, "n_seen": int}


@pytest.fixture
def ds():
    """Three metrics in three languages, gold by quality; dims in an odd order."""
    rng = np.random.default_rng(0)
    score = xr.DataArray(
        rng.normal(size=(6, 3, 4, 3)),
        {"metric": ["a", "b", "c"], "language": LANGUAGES, "system": list("pqrstu"), "input": range(4)},
        ("system", "language", "input", "metric"),
    )
    human = xr.DataArray(
        rng.normal(size=(4, 2, 6)),
        {"quality": QUALITIES, "system": list("pqrstu"), "input": range(4)},
        ("input", "quality", "system"),
    )
    return xr.Dataset({"score": score, "human": human})


def prepared(ds):
    return schema.prepare(ds, "human", None, level="input", missing="pairwise")


def total(ds, metric, language, quality):
    """The sum of products, cell by cell."""
    x, z = ds.score.sel(metric=metric, language=language), ds.human.sel(quality=quality)
    cells = [(float(x.sel(system=s, input=i)), float(z.sel(system=s, input=i))) for s in "pqrstu" for i in range(4)]
    return sum(a * b for a, b in cells if not np.isnan(a * b))


def test_every_label_of_score_and_of_gold_is_asked_with_its_own_scores(ds):
    found = labelled.run(Products(range(3), 10), prepared(ds), "metric", TYPES)
    assert list(found) == list(TYPES)
    assert found["total"].dtype == float and found["n_cells"].dtype == found["n_seen"].dtype == int
    assert set(found["total"].dims) == {"metric", "language", "quality"}
    for metric in "abc":
        for language in LANGUAGES:
            for quality in QUALITIES:
                at = {"language": language, "quality": quality}
                got = found["total"].assign_coords(metric=list("abc")).sel(at).sel(metric=metric)
                assert float(got) == pytest.approx(total(ds, metric, language, quality))
    assert (found["n_cells"] == 24).all() and (found["n_seen"] == 10).all()


@pytest.mark.parametrize("n_resamples", [7, draws.BLOCK + 3])
@pytest.mark.parametrize("at_once", [1, 2**30])
def test_samples_lie_beside_the_labels_they_are_of(ds, n_resamples, at_once, monkeypatch):
    """However many metrics are made ready together, and however many blocks there are."""
    monkeypatch.setattr(jobs, "BYTES_AT_ONCE", at_once)
    found = labelled.run(Products(range(3), n_resamples), prepared(ds), "metric", TYPES, keep_samples=True)
    samples = found["samples"]
    assert samples.dims[-2:] == ("metric", "resample") and samples.sizes["resample"] == n_resamples
    np.testing.assert_array_equal(samples, found["total"] + xr.DataArray(np.arange(n_resamples), dims="resample"))
    assert (found["n_seen"] == n_resamples).all()


@pytest.mark.parametrize("keep_samples", [False, True])
def test_lazy_is_eager_and_computes_nothing_before(ds, keep_samples):
    pytest.importorskip("dask.array")
    settings = {"keep_samples": keep_samples}
    want = labelled.run(Products(range(3), 2500), prepared(ds), "metric", TYPES, **settings)
    scores = prepared(ds.chunk(language=1, metric=2))
    got = labelled.run(Products(range(3), 2500), scores, "metric", TYPES, **settings)
    assert list(got) == list(want) and all(each.chunks is not None for each in got.values())
    for name, values in want.items():
        xr.testing.assert_identical(got[name].compute(), values)


def test_lazy_jobs_do_not_see_what_cannot_be_used(ds):
    """A system without gold, and an input without scores: 5 x 3 cells are left of 6 x 4."""
    pytest.importorskip("dask.array")
    gaps = ds.copy(deep=True)
    gaps.human.loc[{"system": "q"}] = np.nan
    gaps.score.loc[{"input": 2}] = np.nan
    found = labelled.run(Products(range(3), 10), prepared(gaps.chunk()), "metric", TYPES)
    assert (found["n_cells"].compute() == 15).all()
    with warns("labels_without_cells"):
        eager = labelled.run(Products(range(3), 10), prepared(gaps), "metric", TYPES)
    xr.testing.assert_identical(found["total"].compute(), eager["total"])


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("own", [(), ("language",), ("quality", "language")])
def test_what_belongs_to_the_targets_goes_with_them(ds, lazy, own):
    """A factor of each metric, perhaps another one for each language or quality."""
    if lazy:
        pytest.importorskip("dask.array")
    sizes = {"_row": 1, "metric": 3, **{dim: len(LANGUAGES if dim == "language" else QUALITIES) for dim in own}}
    factors = xr.DataArray(1.0 + np.arange(float(np.prod(list(sizes.values())))).reshape(*sizes.values()), dims=sizes)
    scores = prepared(ds.chunk() if lazy else ds)
    plain = labelled.run(Products(range(3), 5), prepared(ds), "metric", TYPES)
    found = labelled.run(Products(range(3), 5), scores, "metric", TYPES, beside=factors)
    want = plain["total"] * factors.isel(_row=0, drop=True)
    xr.testing.assert_allclose(found["total"].compute(), want.transpose(*found["total"].dims))


def test_scores_of_every_label_come_in_the_order_of_the_answers(ds):
    scores = prepared(ds)
    job = Products(range(3), 5)
    seen = labelled.labels_of(scores)
    assert len(seen) == 6
    found = labelled.run(job, scores, "metric", TYPES)["total"]
    want = found.values.reshape(6, 3)
    for (x, z), numbers in zip(seen, want, strict=True):
        assert x.shape == (3, 6, 4) and z.shape == (6, 4)
        np.testing.assert_array_equal(job.ready(slice(0, 3), x, z)[0], numbers)
