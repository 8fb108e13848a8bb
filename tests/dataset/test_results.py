"""What results carry: every analysis is asked, and what it gives is what the two tables say of it."""

import io
import warnings

import numpy as np
import pytest
import xarray as xr
from cases import ASKED, FEW, LACKS_A_PACKAGE, analysis_of, answer, in_two, rounded
from helpers import by_turns, for_each

import xsumstat
from xsumstat import accessor, catalogue
from xsumstat.dataset import metric_pairs, pair_results, results
from xsumstat.dataset.value_checks import Checks
from xsumstat.narrative.conclusions import conclusion

CORE = {"metric", "system", "input"}


def variables_of(found):
    return {str(name): values for name, values in found.data_vars.items() if name != "score"}


def test_all_results_but_simulated_scores_say_their_analysis():
    assert [name for name in ASKED if "analysis" not in answer(name).attrs] == ["simulate"]


@for_each("question", ASKED)
def test_a_result_holds_what_the_tables_declare(question):
    found = answer(question)
    about = catalogue.ANALYSES[analysis_of(found)]
    assert set(variables_of(found)) <= set(about.variables)
    beside = {"type", "language", "rater"} if about.further else set()
    assert set(map(str, found.dims)) <= {*CORE, *about.dims, *beside, *results.group_dims(found.attrs)}


@for_each("question", ASKED)
def test_every_result_is_saved_without_a_further_package(question):
    found = answer(question)
    again = xr.load_dataset(io.BytesIO(found.to_netcdf(engine="scipy")), engine="scipy")
    assert set(again.variables) == set(found.variables) and set(again.attrs) == set(found.attrs)
    for name, values in variables_of(found).items():
        assert again[name].dims == values.dims and np.array_equal(
            again[name], values, equal_nan=values.dtype.kind == "f"
        )


@for_each("question", [*ASKED, "significant"])
def test_every_variable_says_what_it_is(question):
    for name, values in variables_of(answer(question)).items():
        about = catalogue.variable(name, answer(question).attrs.get("analysis"))
        assert values.dtype == np.dtype(about.dtype), name
        assert values.attrs["long_name"] == about.long_name or analysis_of(answer(question)) == "simulate"
        assert values.attrs["long_name"] and values.attrs["units"] in ("1", "score", "score²"), name


def test_nothing_is_declared_that_no_result_has():
    seen = {name: set() for name in catalogue.ANALYSES}
    for question in ASKED:
        found = answer(question)
        seen[analysis_of(found)] |= {*variables_of(found), *map(str, found.dims)}
    corrected = ("pvalue_adjusted", "significant")  # by `adjust` and `significant`, whatever test it was
    for name, about in catalogue.ANALYSES.items():
        if name in LACKS_A_PACKAGE:
            continue
        of_tasks = {"language_pair", "domain", "coefficient"} if name == "ranks_by" else set()  # by= makes one a dim
        assert {each for each in about.names if each not in corrected} - of_tasks <= seen[name], name
        assert set(about.own) <= set(about.variables), name
    used = {each for about in catalogue.ANALYSES.values() for each in about.variables}
    assert used == set(catalogue.VARIABLES)


def test_every_analysis_is_in_the_table():
    others = {"adjust", "significant", "to_frame", "to_mtme", "plot", "top_k", "scoring_range", "sample_inputs"}
    others |= {
        "drop_noisiest_rater",
        "majority_vote",
        "calibrate",
        "load_dataset",
        "set_dims",
        "sentinels",
        "wmt_tasks",
    }
    others |= {"read_scores", "read_mtme", "read_mqm", "read_esa"}
    others |= {"read_realsumm", "read_sacrerouge", "read_lm_eval", "read_inspect", "read_promptfoo", "read_deepeval"}
    others |= {
        "report",
        "conclusion",
        "methods",
        "to_latex",
        "to_html",
        "subset",
        "to_markdown",
        "to_scores",
        "add_gold",
        "to_preferences",
        "read_preferences",
        "add_metric",
        "shared_task",
        "wmt_info",
    }
    methods = {name for name in vars(accessor.DatasetMeta) if not name.startswith("_")}
    functions = {name for name in xsumstat.__all__ if not name.startswith("_")}
    assert (methods | functions) - others == set(catalogue.ANALYSES)


@pytest.mark.parametrize("analysis", [name for name, about in catalogue.ANALYSES.items() if about.pictures])
def test_every_picture_draws(analysis):
    plt = pytest.importorskip("matplotlib.pyplot")
    for picture in catalogue.ANALYSES[analysis].pictures:
        assert callable(getattr(accessor.Plots, picture))
        drawn = 0
        for found in (answer(question) for question in ASKED if analysis_of(answer(question)) == analysis):
            try:
                getattr(found.meta.plot, picture)()
                drawn += 1
            except ValueError as error:
                assert "the result has no" in str(error), error
            plt.close("all")
            if drawn == 2:
                break
        assert drawn, picture


def test_every_picture_of_results_belongs_to_an_analysis():
    of_scores = {"heatmap", "scatter_matrix", "distribution", "sample_inputs"}
    listed = {each for about in catalogue.ANALYSES.values() for each in about.pictures}
    assert {name for name in vars(accessor.Plots) if not name.startswith("_")} - of_scores == listed


@pytest.mark.parametrize("question", by_turns(ASKED, 1))
def test_saved_and_loaded_it_is_the_same(question, tmp_path):
    pytest.importorskip("netCDF4")
    found = answer(question)
    found.to_netcdf(tmp_path / "found.nc")
    loaded = xr.load_dataset(tmp_path / "found.nc")
    xr.testing.assert_identical(loaded, found)
    assert conclusion(loaded) == conclusion(found)
    assert {name: each.dtype for name, each in loaded.data_vars.items()} == {
        name: each.dtype for name, each in found.data_vars.items()
    }


def test_an_axis_takes_its_name_from_the_table():
    pytest.importorskip("matplotlib.pyplot")
    found = answer("discriminative")
    assert found.meta.plot.bars().get_xlabel() == catalogue.VARIABLES["f1"].long_name
    bare = xr.Dataset({"f1": found.f1.drop_attrs(), "own_number": found.f1.drop_attrs()})
    assert bare.meta.plot.bars().get_xlabel() == catalogue.VARIABLES["f1"].long_name
    assert bare.meta.plot.bars("own_number").get_xlabel() == "own number"


# --- What follows from the tables ---


@pytest.mark.parametrize("asked", [(None, None), (["m2", "m0"], None), ("m1", ["m2", "m0"]), (["m2", "m1"], "m0")])
@pytest.mark.parametrize("further", [False, True])
def test_pairs_are_laid_out_as_in_a_plain_loop(asked, further):
    ds = in_two(3) if further else rounded(3)
    scores, pairs = metric_pairs.prepare(ds, "human", *asked, level="system", missing="pairwise")
    names = ["difference", "ci_low", "ci_high", "statistic", "n_undefined", "exact", "margin", "standard_error"]
    names += ["forward", "backward", "samples"]
    rng = np.random.default_rng(0)
    dims, shape = (("language",), (2,)) if further else ((), ())
    by_pair = {}
    for name in names:
        draws = {"samples": 3}.get(name)
        size = (len(pairs), *shape, *([draws] if draws else []))
        values = {"n_undefined": rng.integers(1, 9, size), "exact": np.ones(size, dtype=bool)}.get(name)
        values = rng.normal(size=size) if values is None else values
        by_pair[name] = xr.DataArray(values, dims=("_pair", *dims, *(["resample"] if draws else [])))
    laid = pair_results.laid_out(by_pair, pairs, scores)
    labels = scores.score["metric"].values.tolist()
    negated = {"difference": "difference", "ci_low": "ci_high", "ci_high": "ci_low", "statistic": "statistic"}
    negated["samples"] = "samples"
    assert laid.metric.values.tolist() == [labels[at] for at in scores.rows]
    for row in scores.rows:
        for column in scores.columns:
            cell = laid.sel(metric=labels[row], other_metric=labels[column])
            for name in ("pvalue", *(each for each in names if "ward" not in each)):
                got = cell[name]
                if row == column:
                    blank = {"n_undefined": 0, "exact": False}.get(name, np.nan)
                    want = xr.full_like(got, blank)
                else:
                    at = pairs.index((min(row, column), max(row, column)))
                    if name == "pvalue":
                        want = by_pair["forward" if row < column else "backward"][at]
                    elif row > column and name in negated:
                        want = -by_pair[negated[name]][at]
                    else:
                        want = by_pair[name][at]
                np.testing.assert_array_equal(got.transpose(*want.dims).values, want.values, err_msg=name)
    assert {name: laid[name].dtype.kind for name in laid} == {
        **dict.fromkeys(laid, "f"), "n_undefined": "i", "exact": "b"
    }  # fmt: skip


def test_what_is_not_declared_is_refused():
    values = xr.DataArray([0.5], dims="metric")
    with pytest.raises(LookupError, match="a result of 'ci' has the variable 'correlaton', which"):
        results.result({"correlaton": values}, None, analysis="ci")
    with pytest.raises(LookupError, match="a result of 'ci' has the variable 'rank', which"):
        results.result({"rank": values}, None, analysis="ci")
    with pytest.raises(LookupError, match="a result of 'ci' has the dim 'other_metrc', which"):
        results.result({"correlation": values.rename(metric="other_metrc")}, None, analysis="ci")
    with pytest.raises(LookupError, match="no analysis 'cy'"):
        results.result({"correlation": values}, None, analysis="cy")
    with pytest.raises(LookupError, match="a result has the variable 'correlaton'"):
        catalogue.variable("correlaton")
    scores = values.expand_dims(language=2)
    results.result({"correlation": scores}, scores, analysis="corr")
    results.result({"alpha": scores}, None, analysis="agreement", along="language")
    with pytest.raises(LookupError, match="has the dim 'language'"):
        results.result({"correlation": scores}, values, analysis="corr")


def test_numbers_get_the_dtype_of_the_table_and_stay_lazy():
    pytest.importorskip("dask")
    values = xr.DataArray([1.0, 2.0], dims="metric")
    found = results.result(
        {"n_undefined": values.chunk(), "correlation": values.astype(np.float32)}, None, analysis="corr"
    )
    assert found.n_undefined.dtype == np.int64 and found.n_undefined.chunks
    assert found.correlation.dtype == np.float64
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        lazy = rounded(3).chunk().meta.corr("human", by="type")
    assert lazy.correlation.chunks and lazy.correlation.attrs["units"] == "1"
    assert results.types(["n_undefined", "fell_back", "by_rater_1"]) == {
        "n_undefined": int, "fell_back": bool, "by_rater_1": float
    }  # fmt: skip


def test_names_are_reserved_by_analyses_whose_scores_may_have_further_dims():
    assert {"correlation", "other_metric", "gap", "significant", "alpha"} <= catalogue.RESERVED
    assert not {"task", "width", "truth", "noise", "interval", "score_bin", "whole"} & catalogue.RESERVED
    ds = rounded(3)
    tasks = ds.score.sel(metric=["m0", "m1"]).expand_dims(task=["a", "b"])
    found = xr.Dataset({"score": tasks}).meta.corr(ds.score.sel(metric="human", drop=True))
    assert found.correlation.sizes == {"task": 2, "metric": 2}


@pytest.mark.parametrize("name", ["whole", "ci_low", "other_metric"])
def test_a_description_with_the_name_of_a_variable_does_not_stand_in_for_it(name):
    ds, asked = rounded(3), {"above": 0.5, "unit": "quantile", "n_simulations": 19, **FEW}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        want = ds.meta.range_drop(**asked)
        got = ds.assign_coords({name: ("metric", [1.0, 2.0, 3.0, 4.0])}).meta.range_drop(**asked)
    xr.testing.assert_identical(got, want)


@pytest.mark.parametrize(
    ("question", "columns"),
    [
        ("tasks", ["metric", "average_score", "average_rank", "rank", "cluster"]),
        ("discriminative", ["metric", "f1", "accuracy"]),
    ],
)
def test_a_frame_is_of_the_variable_that_answers_the_question(question, columns):
    frame = answer(question).meta.to_frame()
    assert list(frame.columns) == columns and len(frame) == answer(question).sizes["metric"]


def test_the_main_variable_is_the_first_that_is_there():
    assert results.main_variable(answer("intervals of differences")) == "difference"
    assert results.main_variable(answer("type I error, both sides alike")) == "type_i_error"
    assert results.main_variable(answer("discriminative")[["confusion"]]) == "confusion"
    assert results.main_variable(xr.Dataset({"mine": 1.0})) == "mine"


def test_results_with_variables_of_ones_own_can_be_corrected():
    test = rounded(3).meta.corr_test("human").assign(mine=1.0)
    assert "mine" in test.meta.adjust("holm")
    bare = xr.Dataset({"pvalue": ("test", [0.01, 0.5])})
    assert bare.meta.adjust("holm").pvalue_adjusted.attrs["long_name"] == "corrected p-value"
    decided = bare.meta.significant(alpha=0.1)
    assert decided.attrs == {"long_name": "whether the test is significant", "units": "1", "alpha": 0.1} | {
        "correction": "p-values not corrected"
    }


# --- attrs ---


def test_results_say_how_they_were_made(small):
    got = small.meta.ci("m0", level="input", coefficient="kendall", method="bootstrap", n_resamples=20, rng=11)
    assert got.attrs == {
        "analysis": "ci",
        "coefficient": "kendall",
        "method": "bootstrap",
        "level": "input",
        "missing": "pairwise",
        "undefined": "drop",
        "interval": "percentile",
        "resample": "both",
        "n_resamples": 20,
        "confidence_level": 0.95,
        "scope": "systems like these",
        "seed": "11",
        "gold": "m0",
        "n_systems": small.sizes["system"],
        "n_inputs": small.sizes["input"],
        "xsumstat_version": xsumstat.__version__,
    }


def test_attrs_are_values_that_files_hold_and_what_was_left_out_is_among_them():
    class Aligned:
        gold_name, dropped, further = "human", {"system": ["s1", 2], "input": ["i0"]}, {"language": 2}
        ties = single = unpaired = None
        gold_turned = False
        later = Checks()
        score = xr.DataArray([[[1.0, np.nan, 2.0], [np.nan] * 3]], dims=("metric", "system", "input"))

    values = xr.Dataset({"correlation": ("metric", [0.5])}, attrs={"source": "here"})
    got = results.result(values, Aligned(), analysis="corr", resample=("system", "input"), exact=True, pool=None)
    assert {name: got.attrs[name] for name in got.attrs if name != "xsumstat_version"} == {
        "source": "here",
        "analysis": "corr",
        "resample": "both",
        "scope": "systems like these",
        "exact": 1,
        "gold": "human",
        "dropped_system": "s1, 2",
        "dropped_input": "i0",
        "n_systems": 1,
        "n_inputs": 2,
    }
    layers = results.result(values, None, analysis="corr", resample=("system", "rater"))
    assert layers.attrs["resample"] == "system rater" and "gold" not in layers.attrs
    assert values.attrs == {"source": "here"}


# --- tables of pairs ---


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("dtype", [float, int, bool])
def test_values_of_unordered_pairs_stand_on_both_sides(size, dtype):
    pairs = np.array([(a, b) for a in range(size) for b in range(a + 1, size)])
    values = np.arange(1, 2 * len(pairs) + 1).reshape(-1, 2).astype(dtype)
    table = pair_results.symmetric(values, pairs, size)
    assert table.dtype == dtype and table.shape == (size, size, 2)
    for (a, b), value in zip(pairs.tolist(), values.tolist(), strict=True):
        assert table[a, b].tolist() == table[b, a].tolist() == value
    for at in range(size):
        assert np.isnan(table[at, at]).all() if dtype is float else not table[at, at].any()


ROWS, COLUMNS = ["a", "b", "c"], ["c", "a", "d"]


def square(dims=("metric", "other_metric"), attrs=None):
    """Tests of a, b and c with c, a and d: a with c, and c with a, are the same where there is no direction."""
    values = np.arange(9.0).reshape(3, 3)
    coords = dict(zip(dims, (ROWS, COLUMNS), strict=True))
    return xr.Dataset(
        {"pvalue": (dims, values)}, coords, {"analysis": "perm_test", "alternative": "two-sided"} | (attrs or {})
    )


@pytest.mark.parametrize("dims", [("metric", "other_metric"), ("system", "other_system")])
def test_of_two_cells_with_the_same_test_one_is_its_mirror_image(dims):
    table = square(dims)
    assert pair_results.pair_dims(table.pvalue) == dims
    again = pair_results.mirrored(table, table.pvalue)
    cells = [(a, b) for a in ROWS for b in COLUMNS]
    assert again.dims == dims
    seen = {(a, b) for (a, b), second in zip(cells, again.values.ravel(), strict=True) if second}
    assert seen in ({("a", "c")}, {("c", "a")})
    turned = pair_results.transposed(table.pvalue, dims)
    for a, b in cells:
        cell = float(turned.sel(dict(zip(dims, (a, b), strict=True))))
        want = float(table.pvalue.sel(dict(zip(dims, (b, a), strict=True)))) if (b, a) in cells else np.nan
        np.testing.assert_equal(cell, want)


def test_with_a_direction_no_cell_is_a_mirror_image():
    table = square(attrs={"alternative": "greater"})
    assert pair_results.mirrored(table, table.pvalue) is None
    plain = xr.DataArray([0.1, 0.2], dims="metric")
    assert pair_results.pair_dims(plain) is None and pair_results.mirrored(square(), plain) is None
    equivalence = square(attrs={"alternative": "greater", "analysis": "equivalence"})
    assert pair_results.mirrored(equivalence, equivalence.pvalue) is not None
