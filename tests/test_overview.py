"""What `ds.meta` shows of itself."""

import re

import pytest
import xarray as xr

import xsumstat
from xsumstat import accessor, offers
from xsumstat.dataset.variables import ANALYSES

FEW = {"n_resamples": 19, "rng": 0}
RESULTS = {
    "ci": lambda d: d.meta.ci("human", **FEW),
    "corr": lambda d: d.meta.corr("human", by="system_type"),
    "perm_test": lambda d: d.meta.perm_test("human", **FEW),
    "boot_test": lambda d: d.meta.boot_test("human", **FEW),
    "corr_test": lambda d: d.meta.corr_test("human"),
    "rank": lambda d: d.meta.rank("human", **FEW),
    "rank_tasks": lambda d: xsumstat.rank_tasks({"a": {"ds": d, "gold": "human"}}, **FEW),
    "metric_corr": lambda d: d.meta.metric_corr(),
    "metric_ci": lambda d: d.meta.metric_ci(metric=["judge", "bleu", "rouge"], **FEW),
    "equivalence": lambda d: d.meta.equivalence("human", other="bleu", margin=0.1, **FEW),
    "margin_sensitivity": lambda d: d.meta.margin_sensitivity("human", other="bleu", margins=[0.1, 0.2], **FEW),
    "dominance": lambda d: (
        xr.concat([d[["score"]], d[["score"]] ** 2], "language", combine_attrs="override")
        .assign_coords(language=["en", "de"])
        .meta.dominance(d.score.sel(metric="human", drop=True), along="language", base="en", threshold=0.6, **FEW)
    ),
    "compare_systems": lambda d: d.meta.compare_systems(metric="human"),
    "system_means": lambda d: d.meta.system_means("human", metric="judge"),
    "pca": lambda d: d.meta.pca(),
    "variance_components": lambda d: d.meta.variance_components("human"),
    "input_effect": lambda d: d.meta.input_effect(metric="human"),
    "top_k_corr": lambda d: d.meta.top_k_corr("human", k=[12, 8], **FEW),
    "close_corr": lambda d: d.meta.close_corr("human", gap=[0.5, 1.0], **FEW),
    "bias": lambda d: d.meta.bias("human", given=["length", "system_type"]),
    "human_ceiling": lambda d: d.meta.human_ceiling(
        xr.concat([d.score.sel(metric=each, drop=True) for each in ("human", "judge", "rouge")], "rater"), **FEW
    ),
    "discriminative_agreement": lambda d: d.meta.discriminative_agreement("human", **FEW),
    "disagreement": lambda d: d.meta.disagreement(**FEW),
    "improvement_consistency": lambda d: d.meta.improvement_consistency(**FEW),
    "range_drop": lambda d: d.meta.range_drop(above=0.5, unit="quantile", n_simulations=19, **FEW),
    "coverage": lambda d: xsumstat.coverage(d, "human", metric="judge", n_trials=3, **FEW),
    "plan": lambda d: xsumstat.plan(d, "human", metric="judge", level="input", target=0.1),
    "power": lambda d: xsumstat.power(d, "human", metric="judge", n_trials=3, **FEW),
}


def test_missing_ratings_are_told():
    score = xr.DataArray([[[1.0, 2.0], [3.0, 4.0]]], {"metric": ["m"]}, ("metric", "system", "input"))
    rating = xr.DataArray([[[1.0, float("nan")]] * 2] * 2, dims=("system", "input", "rater"))
    told = repr(xr.Dataset({"score": score, "rating": rating}).meta)
    assert [line.split("  ")[-1] for line in told.splitlines() if "missing of rating" in line] == [" 4 of 8 ratings"]


def test_every_question_that_is_named_can_be_asked():
    for name in (name for names in offers.QUESTIONS.values() for name in names):
        assert callable(getattr(accessor.DatasetMeta, name))
    assert set(RESULTS) == {name for name, about in ANALYSES.items() if about.pictures}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_says_what_it_is_and_which_picture_belongs_to_it(demo, name):
    plt = pytest.importorskip("matplotlib.pyplot")
    result = RESULTS[name](demo)
    told = repr(result.meta)
    assert re.search(rf"^  result of +{name}$", told, flags=re.M)
    assert told.splitlines()[1].startswith("  conclusion  ") and max(map(len, told.splitlines())) < 200
    for picture in ANALYSES[name].pictures:
        getattr(result.meta.plot, picture)()
        assert picture in told
    plt.close("all")


def test_which_interval_it_was_is_told(demo):
    told = repr(demo.meta.ci("human").meta).splitlines()
    assert "  method            jackknife" in told and not any(line.startswith("  interval") for line in told)
    drawn = demo.meta.ci("human", method="bootstrap", interval="normal", **FEW)
    told = repr(drawn.meta).splitlines()
    assert "  method            bootstrap" in told and "  interval          normal" in told


def test_scores(demo):
    told = repr(demo.meta)
    assert "7 metrics × 12 systems × 30 inputs" in told and "gold" in told and "nothing" in told
    for picture in offers.PICTURES:
        assert callable(getattr(accessor.Plots, picture)) and picture in told
    gaps = demo.copy(deep=True)
    gaps.score[2, :3, 4] = float("nan")
    del gaps.attrs["gold"]
    told = repr(gaps.meta)
    assert "bertscore: 3 of 360" in told and "not set: name it" in told
    page = gaps.assign_coords(metric=["<b>", *gaps.metric.values[1:]]).meta._repr_html_()
    assert "<table>" in page and "&lt;b&gt;" in page and "<b>" not in page


def test_lazy_scores_are_not_computed(demo):
    pytest.importorskip("dask")
    assert "not known before the scores are computed" in repr(demo.chunk().meta)


def test_no_scores():
    told = repr(xr.Dataset({"a": ("model", [1.0])}).meta)
    assert "needs a variable 'score'" in told and "a('model',)" in told and "set_dims" in told
