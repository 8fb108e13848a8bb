"""Human scores that are strongly skewed are told where intervals of Pearson's correlation undercover."""

import warnings

import numpy as np
import pytest
import scipy.stats
import xarray as xr
from conftest import dataset, of_code

from xsumstat.dataset import skewness


def scores(spread=1.2, systems=10, inputs=100, seed=0):
    """Log-normal human scores, and a metric that knows their logarithm but for noise."""
    rng = np.random.default_rng(seed)
    quality = 0.6 * rng.normal(size=(systems, 1)) + 0.8 * rng.normal(size=(systems, inputs))
    return dataset([np.exp(spread * quality), quality + rng.normal(size=quality.shape)])


def told(ask):
    """What is said of skewed scores."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    return of_code(caught, "skewed")


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_skewness_is_that_of_scipy(gaps):
    rng = np.random.default_rng(1)
    values = np.exp(rng.normal(size=(3, 6, 40)))
    values[rng.random(values.shape) < gaps] = np.nan
    values[1, :, :7] = 4.0
    gold = xr.DataArray(values, {"quality": list("abc")}, ("quality", "system", "input"))
    whole, within = (skewness.of(gold, level).values for level in ("global", "input"))
    for at, each in enumerate(values):
        rest = each - np.nanmean(each, axis=0)
        assert whole[at, 0] == pytest.approx(scipy.stats.skew(each[~np.isnan(each)]), rel=1e-10)
        assert within[at, 0] == pytest.approx(scipy.stats.skew(rest[~np.isnan(rest)]), rel=1e-10)
        assert within[at, 1] == pytest.approx(7 / 40 if at == 1 else 0)


def test_strong_skewness_is_told_with_a_way_out():
    ds = scores()
    (text,) = told(lambda: ds.meta.ci("m0", level="input"))
    size = scipy.stats.skew(ds.score.values[0] - ds.score.values[0].mean(axis=0), axis=None)
    assert f"human scores 'm0' are strongly skewed (skewness {size:.1f} within inputs)" in text
    assert text.endswith("(in simulations of log-normal scores 76 %); use coefficient='kendall'")
    for scope in ("both", "input"):
        (text,) = told(lambda at=scope: ds.meta.ci("m0", level="global", resample=at))
        assert f"skewness {scipy.stats.skew(ds.score.values[0], axis=None):.1f})" in text and "85 %" in text
    assert len(told(lambda: (-ds).meta.ci("m0", level="input"))) == 1  # few high ones, or few low ones


def test_nothing_is_said_where_it_does_no_harm():
    ds = scores()
    for silent in (
        lambda: ds.meta.ci("m0", level="input", coefficient="kendall"),
        lambda: ds.meta.ci("m0", level="input", coefficient="spearman"),
        lambda: ds.meta.ci("m0"),
        lambda: ds.meta.ci("m0", level="within_system"),
        lambda: ds.meta.ci("m0", level="input", resample="input"),
        lambda: scores(0.4).meta.ci("m0", level="input"),
        lambda: scores(0.4).meta.ci("m0", level="global"),
        lambda: ds.meta.corr("m0", level="input"),
        lambda: ds.assign(score=ds.score.argsort(axis=1).argsort(axis=1).astype(float)).meta.ci("m0", level="input"),
    ):
        assert told(silent) == []
    both = ds.reindex(metric=["m0", "m1", "m2"])
    both.score[2] = both.score[1].values[::-1]
    assert told(lambda: both.meta.ci("m0", level="input", metric="m1", other="m2")) == []
    assert told(lambda: both.meta.compare_metrics("m0", level="input")) == []


def test_ranks_are_no_way_out_where_many_inputs_are_constant():
    """As where errors are rare, and most outputs have none."""
    ds = scores(1.5, 8, 200)
    rare = ds.assign(score=ds.score.where((ds.metric != "m0") | (ds.score > 8), 0.0))
    share = float((rare.score.sel(metric="m0").max("system") == 0).mean())
    (text,) = told(lambda: rare.meta.ci("m0", level="input"))
    assert share > 0.1 and f"{share:.0%} of the inputs have equal human scores" in text
    assert text.endswith("use level='global'")


def test_it_is_told_once_and_of_lazy_scores_when_they_are_computed():
    ds = scores().assign_coords(domain=("input", ["a", "b"] * 50))
    assert len(told(lambda: ds.meta.ci("m0", level="input", by="domain"))) == 1
    pytest.importorskip("dask")
    lazy = []
    chunked = ds.drop_vars("domain").chunk(input=30)
    assert told(lambda: lazy.append(chunked.meta.ci("m0", level="input"))) == []
    assert told(lazy[0].compute) == told(lambda: ds.meta.ci("m0", level="input")) != []


def test_constant_large_and_missing_scores_have_no_skewness_by_rounding():
    flat = xr.DataArray(np.full((5, 20), 0.1), dims=("system", "input"))
    assert skewness.of(flat, "global").values.tolist() == [0.0, 1.0]
    assert skewness.of(flat.where(False), "input").values.tolist() == [0.0, 0.0]
    ds = scores()
    sizes = [skewness.of(ds.score[0] * factor, "global").values[0] for factor in (1.0, 1e300, 1e-300)]
    np.testing.assert_allclose(sizes, sizes[0], rtol=1e-9)


def test_published_human_scores_are_not_so_skewed(summeval, realsumm):
    for ds, gold in ((summeval, "expert_relevance"), (realsumm, "litepyramid_recall")):
        for level in ("input", "global"):
            metric = next(label for label in ds.metric.values if "rouge" in str(label))
            assert told(lambda d=ds, g=gold, m=metric, at=level: d.meta.ci(g, metric=m, level=at)) == []


@pytest.mark.parametrize(("systems", "inputs", "rho", "coefficient", "warned"), [
    (3, 30, 0.97, "pearson", True), (6, 60, 0.97, "pearson", True), (7, 30, 0.97, "pearson", False),
    (3, 120, 0.97, "pearson", False), (3, 30, 0.5, "pearson", False), (3, 30, 0.97, "kendall", False),
])  # fmt: skip
def test_averages_near_one_of_few_systems_are_told(systems, inputs, rho, coefficient, warned):
    rng = np.random.default_rng(1)
    human = rng.normal(size=(systems, inputs))
    ds = dataset([human, rho * human + np.sqrt(1 - rho**2) * rng.normal(size=human.shape)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = ds.meta.ci("m0", level="input", resample="input", coefficient=coefficient)
    assert bool(of_code(caught, "near_one")) == warned == (warned and float(result.correlation[0]) >= 0.85)


def covered(seed, coefficient):
    """Whether the interval of three fixed systems' average on 30 inputs holds that on 4,000."""
    rng = np.random.default_rng(seed)
    effects = 0.6 * rng.normal(size=(2, 3, 1))
    effects[1] = 0.95 * effects[0] + np.sqrt(1 - 0.95**2) * effects[1]

    def drawn(n):
        x, y = rng.normal(size=(2, 3, n))
        return effects + np.array([x, 0.95 * x + np.sqrt(1 - 0.95**2) * y])

    many, few = (dataset(list(drawn(n))).meta for n in (4000, 30))
    truth = float(many.corr("m0", level="input", coefficient=coefficient).correlation[0])
    found = few.ci("m0", level="input", resample="input", coefficient=coefficient)
    return float(found.ci_low[0]) <= truth <= float(found.ci_high[0])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_near_one_pearson_covers_less_and_kendall_does_not():
    shares = {name: np.mean([covered(seed, name) for seed in range(200)]) for name in ("pearson", "kendall")}
    assert 0.75 < shares["pearson"] < 0.93 and shares["kendall"] > 0.91, shares
