import numpy as np
import pytest
import reference
import xarray as xr
from helpers import LEVELS, pairwise, rows

from xsumstat.resampling import draws


@pytest.fixture
def layered():
    """Two metrics by three references, gold by four raters, with gaps; 6 systems, 5 inputs."""
    rng = np.random.default_rng(0)
    quality = rng.normal(size=(6, 5))
    score = np.round(quality + rng.normal(size=(2, 3, 6, 5)), 1)
    rating = np.round(2 * quality + rng.normal(size=(4, 6, 5)))
    score[0, 1, 2, 3] = score[1, :, 4, 4] = rating[2, 1, 1] = rating[:, 3, 0] = np.nan
    return xr.Dataset(
        {
            "score": (("metric", "reference", "system", "input"), score),
            "rating": (("rater", "system", "input"), rating),
        },
        {"metric": ["a", "b"], "reference": ["r1", "r2", "r3"], "rater": list("wxyz")},
    )


def made_one(layers, counts, aggregate):
    """Cell by cell, from the layers that were drawn and are there."""
    out = np.full(layers.shape[1:], np.nan)
    for at in np.ndindex(out.shape):
        drawn = [value for value, times in zip(layers[(slice(None), *at)], counts, strict=True) for _ in range(times)]
        drawn = [value for value in drawn if not np.isnan(value)]
        if drawn:
            out[at] = max(drawn) if aggregate == "max" else np.mean(drawn)
    return out


@pairwise(
    {
        "level": LEVELS,
        "aggregate": ["mean", "max"],
        "dims": [
            ("system", "input", "reference", "rater"),
            ("reference",),
            ("rater", "input"),
            ("system", "reference"),
        ],
    }
)
def test_layers_are_drawn_and_then_made_one(layered, level, aggregate, dims):
    """Every draw from its definition: counts of each dim, one score a cell, the plain-Python twin."""
    ds = layered if "reference" in dims else layered.isel(reference=0, drop=True)
    gold = ds.rating if "rater" in dims else ds.rating.mean("rater")
    got = ds.meta.ci(
        gold, level=level, coefficient="kendall", resample=dims, aggregate=aggregate, n_resamples=12, rng=3,
        keep_samples=True,
    )  # fmt: skip
    sizes = {"system": 6, "input": 5, "reference": 3, "rater": 4}
    counts = {
        dim: draws.counts(3, dim, size, 0, 12) if dim in dims else np.ones((12, size), dtype=int)
        for dim, size in sizes.items()
    }
    for at, metric in enumerate(("a", "b")):
        layers = np.atleast_3d(ds.score.sel(metric=metric).values)
        layers = layers if "reference" in dims else layers.reshape(1, 6, 5)
        raters = gold.values if "rater" in dims else gold.values[None]
        for s in range(12):
            x = made_one(layers, counts["reference"][s] if "reference" in dims else [1], aggregate)
            z = made_one(raters, counts["rater"][s] if "rater" in dims else [1], "mean")
            drawn = [reference.drawn(rows(each), counts["system"][s], counts["input"][s]) for each in (x, z)]
            want = reference.correlation("kendall", *drawn, level, raw_scale=1.0)
            np.testing.assert_allclose(float(got.samples[at, s]), want, atol=1e-9)
        x, z = made_one(layers, [1] * len(layers), aggregate), made_one(raters, [1] * len(raters), "mean")
        whole = reference.correlation("kendall", rows(x), rows(z), level, raw_scale=1.0)
        np.testing.assert_allclose(float(got.correlation[at]), whole, atol=1e-9)
    assert "reference" not in got.dims and "rater" not in got.dims
    assert ("aggregate" in got.attrs) == ("reference" in dims)


@pairwise(
    {
        "aggregate": ["mean", "max"],
        "name": ["kendall_c", "pearson"],
        "dims": [("cell", "reference"), ("cell", "rater"), ("cell", "reference", "rater")],
    }
)
def test_cells_are_drawn_together_with_layers(layered, dims, name, aggregate):
    """Braun et al. (2022), App. C: cells as if they had nothing in common, and references (raters) for all of them."""
    ds = layered if "reference" in dims else layered.isel(reference=0, drop=True)
    gold = ds.rating if "rater" in dims else ds.rating.mean("rater")
    got = ds.meta.ci(
        gold, metric="a", level="global", coefficient=name, resample=dims, aggregate=aggregate, n_resamples=25, rng=3,
        keep_samples=True,
    )  # fmt: skip
    layers = ds.score.sel(metric="a").values.reshape(-1, 6, 5)
    raters = gold.values if "rater" in dims else gold.values[None]
    used = ~np.isnan(raters).all(axis=0) & ~np.isnan(layers).all(axis=0)
    cells = draws.counts(3, "cell", int(used.sum()), 0, 25)
    references = draws.counts(3, "reference", 3, 0, 25) if "reference" in dims else np.ones((25, 1), dtype=int)
    people = draws.counts(3, "rater", 4, 0, 25) if "rater" in dims else np.ones((25, 1), dtype=int)
    for s in range(25):
        x = made_one(layers, references[s], aggregate)[used]
        z = made_one(raters, people[s], "mean")[used]
        drawn = [
            (a, b) for a, b, times in zip(x, z, cells[s], strict=True) for _ in range(times) if not np.isnan(a + b)
        ]
        want = reference.coefficient(name, *zip(*drawn, strict=True), 1.0)
        assert float(got.samples[0, s]) == pytest.approx(want, abs=1e-9)
    whole = ds.meta.ci(gold, metric="a", level="global", coefficient=name, resample=dims[1:], aggregate=aggregate,
                       n_resamples=9, rng=3)  # fmt: skip
    assert float(got.correlation[0]) == pytest.approx(float(whole.correlation[0]), abs=1e-12)
    assert got.attrs["resample"] == " ".join(dims)
    limits = np.quantile(got.samples[0], [0.025, 0.975])
    np.testing.assert_allclose([got.ci_low[0], got.ci_high[0]], limits, atol=1e-12)


def test_drawing_references_as_well_widens_the_interval_of_cells():
    """Braun et al. (2022), Table 1: on scores whose references differ; one reference changes nothing at all."""
    rng = np.random.default_rng(2)
    quality = rng.normal(size=(12, 20))
    noise = rng.normal(size=(5, 1, 1)) * rng.normal(size=(1, 12, 20))
    score = quality + noise + 0.3 * rng.normal(size=(5, 12, 20))
    ds = xr.Dataset({"score": (("reference", "metric", "system", "input"), score[:, None])}, {"metric": ["b"]})
    human = xr.DataArray(quality + rng.normal(size=(12, 20)), dims=("system", "input"))
    how = {"level": "global", "coefficient": "kendall_c", "n_resamples": 500, "rng": 1}
    drawn = ds.meta.ci(human, resample=("cell", "reference"), aggregate="max", **how)
    fixed = xr.Dataset({"score": ds.score.max("reference")}).meta.ci(human, resample="cell", **how)
    assert float(drawn.correlation[0]) == pytest.approx(float(fixed.correlation[0]), abs=1e-12)
    assert float((drawn.ci_high - drawn.ci_low)[0]) > 1.1 * float((fixed.ci_high - fixed.ci_low)[0])
    one = ds.isel(reference=[0]).meta.ci(human, resample=("cell", "reference"), **how)
    same = ds.isel(reference=0, drop=True).meta.ci(human, resample="cell", **how)
    for name in same.data_vars:
        np.testing.assert_allclose(one[name], same[name], atol=1e-12)


def test_a_difference_and_further_labels(layered):
    """Two languages; the difference of two metrics is that of their samples where both have all cells."""
    whole = layered.fillna(0.0)
    ds = xr.Dataset(
        {"score": xr.concat([whole.score, whole.score**2], "language").assign_coords(language=["en", "de"])}
    )
    settings = {"resample": ("system", "reference", "rater"), "n_resamples": 30, "rng": 1, "keep_samples": True}
    gap = ds.meta.ci(whole.rating, metric="a", other="b", **settings)
    both = ds.meta.ci(whole.rating, **settings)
    want = both.samples.sel(metric="a") - both.samples.sel(metric="b")
    np.testing.assert_allclose(gap.samples.squeeze(["metric", "other_metric"]), want, atol=1e-12)
    assert set(gap.difference.dims) == {"metric", "other_metric", "language"}


def test_drawing_raters_widens_the_interval(summeval):
    """SummEval's three experts: who rated is chance too."""
    gold = summeval.rating.sel(judgment="expert_relevance", rater=[1, 2, 3], drop=False).drop_vars("judgment")
    settings = {"metric": "bertscore_f1", "level": "input", "n_resamples": 999, "rng": 1}
    fixed = summeval.meta.ci(gold.mean("rater"), **settings)
    drawn = summeval.meta.ci(gold, resample=("system", "input", "rater"), **settings)
    assert float(drawn.correlation[0]) == pytest.approx(float(fixed.correlation[0]))
    assert float(drawn.standard_error[0]) > float(fixed.standard_error[0])


def test_bad_layers(layered, demo):
    with pytest.raises(ValueError, match="resample names 'reference', and score has no such dim; it has 'metric'"):
        demo.meta.ci("human", resample=("system", "reference"))
    with pytest.raises(ValueError, match="resample names 'rater', and gold has no such dim"):
        layered.meta.ci(layered.rating.mean("rater"), resample="rater")
    with pytest.raises(ValueError, match="interval='bca' is not for draws of 'rater'; use 'percentile'"):
        layered.meta.ci(layered.rating, resample=("system", "rater"), interval="bca")
    for dims, level in (
        (("cell", "system"), "global"),
        (("cell", "reference"), "input"),
        (("cell", "input", "rater"), "global"),
    ):
        with pytest.raises(
            ValueError, match="resample='cell' needs level='global', and can be combined only with 'reference'"
        ):
            layered.meta.ci(layered.rating, resample=dims, level=level)
    with pytest.raises(ValueError, match="interval='bca' is not for draws of 'reference'"):
        layered.meta.ci(layered.rating.mean("rater"), resample=("cell", "reference"), level="global", interval="bca")
    with pytest.raises(ValueError, match="aggregate must be one of 'mean', 'max', got 'min'"):
        layered.meta.ci(layered.rating, resample="rater", aggregate="min")
    with pytest.raises(
        ValueError, match="resample must be 'auto', 'both' or names among 'system', 'input', got 'rater'"
    ):
        layered.isel(reference=0).meta.boot_test(layered.rating, resample="rater")
