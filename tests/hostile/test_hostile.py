"""Every public question on scores that are few, constant, infinite, enormous, tiny or missing.

Whatever comes, the answer is a result, or an error of ours that says what is wrong; never a warning of NumPy's, never
an infinite number, and never a change to what was given.
"""

import inspect
import sys
import traceback
import warnings

import cases
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from cases import (
    ALL,
    BASE,
    BESIDE,
    FEW,
    GIVES_SCORES,
    LACKS_A_PACKAGE,
    MORE,
    QUESTIONS,
    SCORES,
    answer,
    ask,
    dataset,
    rating,
    rounded,
)

import xsumstat
from xsumstat.accessor import DatasetMeta
from xsumstat.dataset.scores import CORE
from xsumstat.dataset.variables import RESERVED

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


def numbers(found):
    """The variables of a result, their dims in one order, without the attrs that say where labels were."""
    return found.drop_attrs().transpose(*sorted(map(str, found.dims)))


@pytest.mark.parametrize("question", [name for name in QUESTIONS if name != "agreement"])
def test_neither_dtype_nor_order_of_dims_matters(question):
    ds = rounded(3)
    want = ask(question, ds)
    if "score" in want:
        want = want[["score"]]
    for other in (
        ds.transpose("input", "system", "metric"),
        ds.astype(np.float32),
        ds.astype(np.int64),
        ds.assign_coords(note=("input", list("uvwxyz")), nothing=1),
    ):
        got = ask(question, other)
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
        ask(question, flat)


# --- Names of results ---


# With `QUESTIONS`, all that results can hold.
def names_in(found, ds):
    """Names of dims and variables, and of coordinates that the scores do not have."""
    names = {*found.dims, *found.data_vars, *found.coords} if isinstance(found, xr.Dataset) else {*found.dims}
    return {str(name) for name in names} - {*CORE, *ds.coords, "score", "language", "rating"}


HAVE_RESULTS = [name for name in (*QUESTIONS, *MORE, *BESIDE) if name not in GIVES_SCORES]


def seen(question):
    """Names in the answer to a question; none where what it needs is not installed."""
    return set() if question in LACKS_A_PACKAGE else names_in(answer(question), rounded(3))


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
    assert not unused - ({"alpha"} if LACKS_A_PACKAGE else set())


def test_every_analysis_is_asked_for_its_names():
    """A new method of `ds.meta`, or function of the package, has a question here."""
    text = inspect.getsource(cases)
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
    for name in (*sorted(RESERVED), "_pair"):
        with pytest.raises(ValueError, match=f"has the dim '{name}', a name that results need; rename it"):
            ALL[question](ds.assign(score=ds.score.expand_dims({name: 2})))


def test_gold_and_ratings_with_the_names_of_results_are_refused_at_once():
    ds = rounded(3)
    human = ds.score.sel(metric="human", drop=True)
    beside = ds.drop_sel(metric="human")
    for name in sorted(RESERVED):
        gold, ratings = human.expand_dims({name: 2}), rating(ds).expand_dims({name: 2})
        for refused in (
            lambda gold=gold: beside.meta.corr(gold),
            lambda gold=gold: beside.meta.close_corr(gold),
            lambda gold=gold: beside.meta.top_k(2, by=gold),
            lambda ratings=ratings: ds.meta.human_ceiling(ratings, metric="m0", **FEW),
            lambda ratings=ratings: ds.meta.alt_test(ratings, metric="m0", scale="ranks", min_items=2),
            lambda ratings=ratings: ds.meta.majority_vote(ratings),
        ):
            with pytest.raises(ValueError, match=f"has the dim '{name}', a name that results need; rename it"):
                refused()


@pytest.mark.parametrize("question", [name for name in QUESTIONS if name not in ("agreement", "sample_inputs", "pca")])
def test_each_label_of_a_further_dim_is_answered_as_if_alone(question):
    one, two = rounded(4), rounded(5)
    both = xr.concat([one, two], xr.DataArray(["en", "de"], dims="language", name="language"))
    try:
        found = ask(question, both)
    except ValueError as error:
        assert "further dim" in str(error) or "select one label" in str(error), error
        return
    for label, ds in (("en", one), ("de", two)):
        got, want = found.sel(language=label, drop=True), ask(question, ds)
        if "score" in want:
            got, want = got[["score"]], want[["score"]]
        if "metric" in want.dims:
            got = got.sel(metric=want.metric)
        xr.testing.assert_allclose(numbers(got), numbers(want), atol=1e-9)
