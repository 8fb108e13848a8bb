"""Every public question on scores that are few, constant, infinite, enormous, tiny or missing.

Whatever comes, the answer is a result, or an error of ours that says what is wrong; never a warning of NumPy's, never
an infinite number, and never a change to what was given.
"""

import functools
import importlib.util
import inspect
import sys
import traceback
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xsumstat
from xsumstat.accessor import DatasetMeta
from xsumstat.dataset.scores import CORE
from xsumstat.dataset.variables import RESERVED

RNG = np.random.default_rng(0)
BASE = RNG.normal(size=(4, 8, 6))
SCORES = {
    "usual": BASE,
    "no system": BASE[:, :0],
    "no input": BASE[:, :, :0],
    "one system": BASE[:, :1],
    "one input": BASE[:, :, :1],
    "one cell": BASE[:, :1, :1],
    "two systems": BASE[:, :2],
    "a constant metric": np.concatenate([BASE[:1] * 0 + 3, BASE[1:]]),
    "all constant": BASE * 0,
    "infinite": np.where(RNG.random(BASE.shape) < 0.05, np.inf, BASE),
    "enormous": BASE * 1e307,
    "tiny": BASE * 1e-308,
    "denormal": BASE * 1e-320,
    "enormous beside tiny": np.concatenate([BASE[:1] * 1e307, BASE[1:] * 1e-300]),
    "all missing": BASE * np.nan,
    "mostly missing": np.where(RNG.random(BASE.shape) < 0.9, np.nan, BASE),
    "a metric missing": np.concatenate([BASE[:1] * np.nan, BASE[1:]]),
}
FEW = {"n_resamples": 19, "rng": 0}
LEVELS = ("system", "input", "global", "within_system")
TIES = {"level": "input", "coefficient": "acc_eq"}


def dataset(score):
    labels = {"metric": ["m0", "m1", "m2", "human"], "system": [f"s{at}" for at in range(score.shape[1])]}
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, labels)
    return ds.assign_coords(type=("system", [("a", "b")[at % 2] for at in range(score.shape[1])]))


def rating(ds):
    """Three raters about the gold."""
    apart = xr.DataArray([-0.1, 0.0, 0.2], dims="rater")
    return ds.score.sel(metric="human", drop=True) + apart


def apart(ds):
    """The same with systems whose means differ, so that plans can be made."""
    if "system" not in ds.score.dims:
        return ds
    steps = np.linspace(0.0, 8.0, ds.sizes["system"])
    by = steps.reshape([-1 if dim == "system" else 1 for dim in ds.score.dims])
    return ds.copy(data={name: each.values + by if name == "score" else each.values for name, each in ds.items()})


QUESTIONS = {
    **{
        f"corr, {level}, {name}": lambda d, level=level, name=name: d.meta.corr("human", level=level, coefficient=name)
        for level in LEVELS
        for name in ("pearson", "spearman", "kendall", "kendall_c", "acc_eq", "kendall_like")
    },
    **{
        f"ci, {level}": lambda d, level=level: d.meta.ci("human", level=level, interval="bca", **FEW)
        for level in LEVELS
    },
    **{
        f"perm_test, {level}": lambda d, level=level: d.meta.perm_test(
            "human", level=level, coefficient="kendall", **FEW
        )
        for level in LEVELS
    },
    **{
        f"jackknife, {level}": lambda d, level=level: d.meta.ci("human", level=level, coefficient="kendall")
        for level in LEVELS
    },
    "jackknife of differences": lambda d: d.meta.ci("human", other="m1", level="input", coefficient="spearman"),
    "jackknife on own cells": lambda d: d.meta.ci("human", other="m1", missing="available"),
    "jackknife of spa": lambda d: d.meta.ci("human", coefficient="spa", method="jackknife"),
    "equivalent by the jackknife": lambda d: d.meta.equivalence("human", other="m1", margin=0.1, method="jackknife"),
    "corrected": lambda d: d.meta.ci("human", interval="corrected", **FEW),
    "fisher": lambda d: d.meta.ci("human", method="fisher"),
    "tau_eq": lambda d: d.meta.ci("human", level="input", coefficient="tau_eq", undefined="zero", **FEW),
    "tau_eq, swaps": lambda d: d.meta.perm_test("human", level="global", coefficient="tau_eq", **FEW),
    "pdp": lambda d: d.meta.ci("human", level="global", coefficient="pdp"),
    "pdp, drawn": lambda d: d.meta.ci("human", level="global", coefficient="pdp", method="bootstrap", **FEW),
    "pdp, swaps": lambda d: d.meta.perm_test("human", level="global", coefficient="pdp", **FEW),
    "spa": lambda d: d.meta.ci("human", coefficient="spa", **FEW),
    "spa, swaps": lambda d: d.meta.perm_test("human", coefficient="spa", **FEW),
    "decisions": lambda d: d.meta.perm_test("human", resample="input", **TIES, **FEW),
    "calibrated swaps": lambda d: d.meta.perm_test("human", swap="scores", **TIES, **FEW),
    "computed": lambda d: d.meta.perm_test("human", level="input", coefficient="kendall", method="auto", **FEW),
    "boot_test": lambda d: d.meta.boot_test("human", **FEW),
    "corr_test": lambda d: d.meta.corr_test("human", method="zou"),
    "metric_corr": lambda d: d.meta.metric_corr(),
    "metric_ci": lambda d: d.meta.metric_ci(**FEW),
    "equivalence": lambda d: d.meta.equivalence("human", other="m1", margin=0.1, **FEW),
    "dominance": lambda d: d.meta.dominance("human", other="m1", **FEW),
    "compare_systems": lambda d: d.meta.compare_systems(between="type"),
    "signed ranks": lambda d: d.meta.compare_systems(method="wilcoxon"),
    "hybrid": lambda d: d.meta.compare_systems(method="hybrid", **FEW),
    "bootstrap of systems": lambda d: d.meta.compare_systems(method="bootstrap", **FEW),
    "system_means": lambda d: d.meta.system_means("human", metric="m0"),
    "system_means by several": lambda d: d.meta.system_means("human", metric=["m0", "m1"], target="these"),
    "ppi": lambda d: d.meta.compare_systems(gold="human", metric="m0", method="ppi"),
    "input_effect": lambda d: d.meta.input_effect(),
    "top_k": lambda d: d.meta.top_k(2, by="human"),
    "top_k_corr": lambda d: d.meta.top_k_corr("human", **FEW),
    "close_corr": lambda d: d.meta.close_corr("human", gap=[0.5, (0.1, 0.9)], **FEW),
    "given": lambda d: d.meta.ci("human", given="m2", **FEW),
    "given, drawn": lambda d: d.meta.ci("human", given="m2", level="input", method="bootstrap", **FEW),
    "given, swaps": lambda d: d.meta.perm_test("human", given="m2", level="global", coefficient="kendall", **FEW),
    "bias": lambda d: d.meta.bias("human", given=["m2", "type"]),
    "bias of differences": lambda d: d.meta.bias("human", given="m2", level="input", method="difference", joint=True),
    "discriminative": lambda d: d.meta.discriminative_agreement("human", **FEW),
    "scoring_range": lambda d: d.meta.scoring_range(above=0.5, unit="quantile").meta.metric_corr(level="input"),
    "range_drop": lambda d: d.meta.range_drop(above=0.5, unit="quantile", n_simulations=19, **FEW),
    "disagreement": lambda d: d.meta.disagreement(**FEW),
    "improvement": lambda d: d.meta.improvement_consistency(**FEW),
    "rank": lambda d: d.meta.rank("human", **FEW),
    "tasks": lambda d: xsumstat.rank_tasks({"a": {"ds": d, "gold": "human"}}, **FEW),
    "normality": lambda d: d.meta.normality(),
    "pca": lambda d: d.meta.pca(),
    "variances": lambda d: d.meta.variance_components("human"),
    "variances of ratings": lambda d: d.meta.variance_components(rating=rating(d), metric="m0"),
    "by": lambda d: d.meta.ci("human", by="type", **FEW),
    "agreement": lambda d: d.meta.agreement(rating(d), n_resamples=5, rng=0),
    "majority": lambda d: d.meta.majority_vote(rating(d)),
    "noisiest": lambda d: d.meta.drop_noisiest_rater(rating(d)),
    "alt_test": lambda d: d.meta.alt_test(rating(d), metric="m0", scale="ranks", min_items=2),
    "human_ceiling": lambda d: d.meta.human_ceiling(rating(d), metric="m0", **FEW),
    "sample_inputs": lambda d: d.meta.sample_inputs(metric="m0", n_means=2, n_spreads=1, rng=0),
    "sentinels": lambda d: d.meta.sentinels("human", given=["m2", "type"]),
    "coverage": lambda d: xsumstat.coverage(d, "human", metric="m0", n_trials=2, **FEW),
    "plan": lambda d: xsumstat.plan(
        apart(d), "human", metric="m0", n_systems=[6, 20], n_inputs=[5, 50], target=0.5, n_trials=2, rng=0
    ),
    "plan of differences": lambda d: xsumstat.plan(d, "human", difference=[0.5, 1.0], n_trials=20, rng=0),
    "plan of two": lambda d: xsumstat.plan(apart(d), "human", metric="m0", other="m1", n_trials=2, **FEW),
    "plan of raters": lambda d: xsumstat.plan(
        apart(d), rating=rating(apart(d)), metric="m0", level="input", n_raters=[1, 2], n_trials=2
    ),
    "coverage of scores like these": lambda d: xsumstat.coverage(
        d, "human", metric="m0", truth="population", intervals={"jackknife": {"method": "jackknife"}}, n_trials=2, **FEW
    ),
    "power": lambda d: xsumstat.power(d, "human", metric="m0", n_trials=2, **FEW),
}
INFINITE = ("gap_high",)  # no limit
# What takes seconds, of coefficients that others stand for.
LONG = [name for name in QUESTIONS if name.startswith("corr, ") and not name.endswith(("kendall", "acc_eq"))]


@pytest.mark.parametrize(
    "question", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in QUESTIONS]
)
def test_an_answer_or_a_plain_error(question):
    if question == "agreement":
        pytest.importorskip("krippendorff")
    for name, score in SCORES.items():
        ds = dataset(score)
        before = ds.copy(deep=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = QUESTIONS[question](ds)
            except (ValueError, TypeError) as error:
                found = None
                assert name != "usual", error
                assert "/xsumstat/" in traceback.extract_tb(sys.exc_info()[2])[-1].filename, (name, error)
        foreign = [each for each in caught if not issubclass(each.category, UserWarning)]
        assert not foreign, (name, foreign[0])
        assert ds.identical(before), name
        for label, values in () if found is None else found.data_vars.items():
            if values.dtype.kind == "f" and label not in INFINITE and label != "score":
                assert not np.isinf(values).any(), (name, label)


def test_names_in_any_script(tmp_path):
    names = ["РУЖ", "メトリック", "📏", "human $x_1$ <b>"]
    ds = dataset(BASE).assign_coords(metric=names, system=[f"系统 {at}" for at in range(8)])
    table = ds.meta.rank(names[3], n_resamples=19, rng=0)
    assert set(table.metric.values) == set(names[:3])
    pytest.importorskip("netCDF4")
    table.to_netcdf(tmp_path / "table.nc")
    assert xr.load_dataset(tmp_path / "table.nc").metric.values.tolist() == table.metric.values.tolist()


def test_a_thousand_metrics():
    rng = np.random.default_rng(1)
    z = rng.normal(size=(6, 5))
    score = np.concatenate([z + rng.normal(size=(1000, 6, 5)), z[None]])
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": [*range(1000), 1000]})
    found = ds.meta.ci(1000, n_resamples=199, rng=0)
    assert found.sizes["metric"] == 1000 and bool(found.ci_low.notnull().all())
    test = ds.meta.perm_test(1000, metric=[0, 1], other=list(range(1000)), n_resamples=19, rng=0)
    assert int(test.pvalue.notnull().sum()) == 2 * 999


def rounded(seed):
    """Scores that any dtype holds, with ties and a gap."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 6, (8, 6)).astype(float)
    score = np.concatenate([np.clip(z + rng.integers(-3, 4, (3, 8, 6)), -4, 9), z[None]])
    return dataset(score)


def answer(question, ds):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return QUESTIONS[question](ds)


def numbers(found):
    """The variables of a result, their dims in one order, without the attrs that say where labels were."""
    return found.drop_attrs().transpose(*sorted(map(str, found.dims)))


@pytest.mark.parametrize("question", [name for name in QUESTIONS if name != "agreement"])
def test_neither_dtype_nor_order_of_dims_matters(question):
    ds = rounded(3)
    want = answer(question, ds)
    if "score" in want:
        want = want[["score"]]
    for other in (
        ds.transpose("input", "system", "metric"),
        ds.astype(np.float32),
        ds.astype(np.int64),
        ds.assign_coords(note=("input", list("uvwxyz")), nothing=1),
    ):
        got = answer(question, other)
        shared = [name for name in got.coords if name not in want.coords]
        got = (got[["score"]] if "score" in got else got).drop_vars(shared, errors="ignore")
        xr.testing.assert_allclose(numbers(got), numbers(want), atol=1e-9)


def gappy():
    """Scores with tied means, gaps, an input of which the gold is constant, and a system and an input without gold."""
    score = np.round(BASE)
    score[:, 2] = score[:, 1]
    score[0, 3, 1:4] = score[1, 0, 0] = score[3, 5] = score[:, :, 5] = score[2, 1] = score[2, 0, 2:] = np.nan
    score[3, :, 4] = 3.0
    return dataset(score).assign_coords(input=list("uvwxyz"))


def told(question, ds):
    """The answer, or the error's text, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = QUESTIONS[question](ds)
        except (ValueError, TypeError) as error:
            assert "/xsumstat/" in traceback.extract_tb(sys.exc_info()[2])[-1].filename, error
            found = str(error)
    return found, [str(each.message) for each in caught]


LABELS = {
    "objects": lambda labels: np.array(labels, dtype=object),
    "categories": pd.CategoricalIndex,
    "strings of pandas": lambda labels: pd.Index(labels, dtype="string"),
}


@pytest.mark.parametrize("question", [name for name in QUESTIONS if name != "agreement"])
def test_labels_of_any_dtype(question):
    ds = gappy()
    want, said = told(question, ds)
    for kind, labels in LABELS.items():
        other = ds.assign_coords({dim: labels(ds[dim].values.tolist()) for dim in ("metric", "system", "input")})
        got, texts = told(question, other)
        assert texts == said, kind
        if isinstance(want, str):
            assert got == want, kind
            continue
        plain = {dim: got[dim].values.tolist() for dim in ("metric", "system", "input") if dim in got.coords}
        for name in want.data_vars:
            np.testing.assert_array_equal(got[name].values, want[name].values, err_msg=f"{kind}, {name}")
        assert plain == {dim: want[dim].values.tolist() for dim in plain}, kind


@pytest.mark.parametrize("dim", ["metric", "system", "input"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_labels_of_several_levels_are_refused_with_the_way_out(question, dim):
    if question == "agreement":
        pytest.importorskip("krippendorff")
    ds = rounded(3)
    labels = [(label, str(at % 2)) for at, label in enumerate(ds[dim].values)] if dim in ds.coords else None
    labels = labels or [("topic", str(at)) for at in range(ds.sizes[dim])]
    index = pd.MultiIndex.from_tuples(labels, names=["name", "part"])
    several = ds.drop_vars(dim, errors="ignore").assign_coords(xr.Coordinates.from_pandas_multiindex(index, dim))
    with pytest.raises(ValueError, match=rf"has a MultiIndex along '{dim}'.*ds.reset_index\('{dim}'\).assign_coords"):
        if dim == "metric" and question in ("agreement", "majority", "noisiest", "human_ceiling", "alt_test"):
            several.meta.corr(("human", "1"))  # whose ratings are made from a label of metric
        QUESTIONS[question](several)
    flat = several.reset_index(dim).assign_coords({dim: ["/".join(map(str, each)) for each in several.indexes[dim]]})
    if dim != "metric":
        answer(question, flat)


# --- Names of results ---

# With `QUESTIONS`, all that results can hold.
MORE = {
    "each input": lambda d: d.meta.corr("human", level="input", average=False),
    "intervals of differences": lambda d: d.meta.ci("human", other="m1", keep_samples=True, **FEW),
    "by formula": lambda d: d.meta.perm_test("human", level="input", coefficient="kendall_a", method="analytic"),
    "maxt": lambda d: d.meta.perm_test("human", adjust="maxt", keep_samples=True, **FEW),
    "sensitivity": lambda d: d.meta.margin_sensitivity("human", other="m1", margins=[0.1, 0.2], **FEW),
    "shapes": lambda d: d.meta.normality(level="input"),
    "outputs": lambda d: d.meta.scoring_range(above=0.5, unit="quantile"),
    "significant": lambda d: d.meta.perm_test("human", **FEW).meta.significant().to_dataset(),
    "corrected tests": lambda d: d.meta.perm_test("human", **FEW).meta.adjust("holm"),
}
# What holds scores as they came, and results under names that nobody chose.
GIVES_SCORES = ("top_k", "scoring_range", "majority", "noisiest", "sample_inputs", "sentinels", "outputs")


def versions():
    """Scores of two languages, and gold of one."""
    both = [rounded(seed).drop_sel(metric="human") for seed in (4, 5)]
    ds = xr.concat(both, xr.DataArray(["en", "de"], dims="language", name="language"))
    return ds.assign(human=rounded(4).score.sel(metric="human", drop=True))


BESIDE = {
    "dominance": lambda d: versions().meta.dominance("human", along="language", base="en", **FEW),
    "versions": lambda d: versions().meta.equivalence("human", along="language", base="en", margin=0.1, **FEW),
    "simulate": lambda d: xsumstat.simulate(8, 6, agreement={"m": 0.5}, rng=0),
    "type I error": lambda d: xsumstat.power(
        xsumstat.simulate(8, 6, agreement={"m": 0.5, "n": 0.5}, rng=0), n_trials=2, **FEW
    ),
    "population": lambda d: xsumstat.coverage(
        xsumstat.simulate(8, 6, agreement={"m": 0.5}, rng=0), truth="population", n_trials=2, **FEW
    ),
}


def names_in(found, ds):
    """Names of dims and variables, and of coordinates that the scores do not have."""
    names = {*found.dims, *found.data_vars, *found.coords} if isinstance(found, xr.Dataset) else {*found.dims}
    return {str(name) for name in names} - {*CORE, *ds.coords, "score", "language", "rating"}


ALL = {**QUESTIONS, **MORE, **BESIDE}
HAVE_RESULTS = [name for name in ALL if name not in GIVES_SCORES]


@functools.cache
def seen(question):
    """Names in the answer to a question; none where what it needs is not installed."""
    if question == "agreement" and not importlib.util.find_spec("krippendorff"):
        return frozenset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return frozenset(names_in(ALL[question](rounded(3)), rounded(3)))


@pytest.mark.parametrize("question", [name for name in HAVE_RESULTS if name not in BESIDE])
def test_every_name_of_a_result_is_reserved_or_no_further_dim_can_have_it(question):
    """But where a question makes its own scores: its analysis is asked of others too."""
    ds = rounded(3)
    for name in seen(question) - RESERVED:
        further = ds.assign(score=ds.score.expand_dims({name: 2}))
        with pytest.raises(ValueError, match=f"further dim.*{name}|rater|select one label|further dims"):
            ALL[question](further)


def test_every_reserved_name_is_in_some_result():
    unused = RESERVED.difference(*map(seen, HAVE_RESULTS))
    assert not unused - ({"alpha"} if not importlib.util.find_spec("krippendorff") else set())


def test_every_analysis_is_asked_for_its_names():
    """A new method of `ds.meta`, or function of the package, has a question here."""
    text = inspect.getsource(sys.modules[__name__])
    methods = [name for name in vars(DatasetMeta) if not name.startswith("_")]
    of_results = {"adjust", "significant", "to_frame", "to_mtme", "plot"}
    of_results |= {"to_latex", "to_markdown", "conclusion", "methods"}
    of_results |= {"report"}  # asks ci and perm_test
    assert [name for name in methods if name not in of_results and f".meta.{name}(" not in text] == []
    readers = {
        "load_dataset",
        "read_mqm",
        "read_mtme",
        "wmt_tasks",
        "read_realsumm",
        "read_sacrerouge",
        "set_dims",
        "add_gold",
        "to_scores",
    }
    readers |= {"read_lm_eval", "read_inspect", "read_promptfoo", "read_deepeval"}
    assert [name for name in xsumstat.__all__ if name not in readers and f"xsumstat.{name}(" not in text] == []


@pytest.mark.parametrize("question", [*QUESTIONS, *MORE])
def test_a_further_dim_with_the_name_of_something_in_results_is_refused_at_once(question):
    """Of scores; and of gold and of ratings."""
    if question == "agreement":
        pytest.importorskip("krippendorff")
    ds = rounded(3)
    ask = {**QUESTIONS, **MORE}[question]
    for name in sorted(RESERVED):
        with pytest.raises(ValueError, match=f"has the dim '{name}', a name that results need; rename it"):
            ask(ds.assign(score=ds.score.expand_dims({name: 2})))
    with pytest.raises(ValueError, match="has the dim '_pair', a name that results need; rename it"):
        ask(ds.assign(score=ds.score.expand_dims({"_pair": 2})))


def test_gold_and_ratings_with_the_names_of_results_are_refused_at_once():
    ds = rounded(3)
    human = ds.score.sel(metric="human", drop=True)
    beside = ds.drop_sel(metric="human")
    for name in sorted(RESERVED):
        gold, ratings = human.expand_dims({name: 2}), rating(ds).expand_dims({name: 2})
        for ask in (
            lambda gold=gold: beside.meta.corr(gold),
            lambda gold=gold: beside.meta.close_corr(gold),
            lambda gold=gold: beside.meta.top_k(2, by=gold),
            lambda ratings=ratings: ds.meta.human_ceiling(ratings, metric="m0", **FEW),
            lambda ratings=ratings: ds.meta.alt_test(ratings, metric="m0", scale="ranks", min_items=2),
            lambda ratings=ratings: ds.meta.majority_vote(ratings),
        ):
            with pytest.raises(ValueError, match=f"has the dim '{name}', a name that results need; rename it"):
                ask()


@pytest.mark.parametrize("question", [name for name in QUESTIONS if name not in ("agreement", "sample_inputs", "pca")])
def test_each_label_of_a_further_dim_is_answered_as_if_alone(question):
    one, two = rounded(4), rounded(5)
    both = xr.concat([one, two], xr.DataArray(["en", "de"], dims="language", name="language"))
    try:
        found = answer(question, both)
    except ValueError as error:
        assert "further dim" in str(error) or "select one label" in str(error), error
        return
    for label, ds in (("en", one), ("de", two)):
        got, want = found.sel(language=label, drop=True), answer(question, ds)
        if "score" in want:
            got, want = got[["score"]], want[["score"]]
        if "metric" in want.dims:
            got = got.sel(metric=want.metric)
        xr.testing.assert_allclose(numbers(got), numbers(want), atol=1e-9)
