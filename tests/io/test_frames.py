import functools
import itertools
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import dataset
from helpers import pairwise

from xsumstat import CautionWarning, LeftOutWarning
from xsumstat.cli import main as cli
from xsumstat.io import frames

TIDY = pd.DataFrame(
    {
        "metric": ["rouge", "rouge", "rouge", "human", "human", "human"],
        "system": ["b", "a", "a", "b", "a", "a"],
        "input": [2, 1, 2, 2, 1, 2],
        "score": [0.1, 0.2, 0.3, 4, 5, 3],
        "system_type": ["abs", "ext", "ext", "abs", "ext", "ext"],
    }
)


def test_tidy():
    ds = TIDY.meta.to_scores()
    assert ds.score.dims == ("metric", "system", "input") and ds.score.dtype == np.float64
    assert [list(ds[dim].values) for dim in ds.score.dims] == [["rouge", "human"], ["b", "a"], [2, 1]]
    assert float(ds.score.sel(metric="human", system="a", input=2)) == 3
    assert np.isnan(ds.score.sel(metric="human", system="b", input=1))
    assert ds.system_type.dims == ("system",) and list(ds.system_type.values) == ["abs", "ext"]


def test_other_names_and_further_dims():
    frame = TIDY.rename(columns={"metric": "measure", "system": "model", "input": "doc", "score": "value"})
    both = pd.concat([frame.assign(language="en"), frame.assign(language="de", value=frame.value * 2)])
    ds = both.meta.to_scores(metric="measure", system="model", input="doc", value="value", dims=["language"])
    assert ds.score.dims == ("metric", "system", "input", "language")
    np.testing.assert_array_equal(ds.score.sel(language="de"), 2 * ds.score.sel(language="en"))
    assert "system_type" in ds.coords


def test_levels_of_the_index_count_as_columns():
    xr.testing.assert_identical(TIDY.set_index(["metric", "system"]).meta.to_scores(), TIDY.meta.to_scores())


def test_wide():
    frame = pd.DataFrame(
        {"model": list("aabb"), "doc": [1, 2, 1, 2], "rouge": [0.1, 0.2, 0.3, 0.4], "human": [1, 2, 3, 4]}
    )
    frame["kind"] = ["x", "x", "y", "y"]
    ds = frame.meta.to_scores(system="model", input="doc", wide=True)
    assert list(ds.metric.values) == ["rouge", "human"]
    np.testing.assert_array_equal(ds.score.sel(metric="human"), [[1, 2], [3, 4]])
    assert list(ds.kind.values) == ["x", "y"]
    only = frame.meta.to_scores(system="model", input="doc", wide=True, metric=["human"])
    assert list(only.metric.values) == ["human"]


def test_a_frame_is_not_changed():
    before = TIDY.copy(deep=True)
    TIDY.meta.to_scores()
    pd.testing.assert_frame_equal(TIDY, before)


def test_the_same_cell_twice():
    doubled = pd.concat([TIDY, TIDY.assign(score=TIDY.score + 1).iloc[[0, 3]]])
    with pytest.raises(ValueError, match=r"repeated 2 outputs, .* 'rouge'/'b'/2; 'human'/'b'/2; pass aggregate='mean'"):
        doubled.meta.to_scores()
    for rule, shift in (("mean", 0.5), ("max", 1.0), ("first", 0.0), (lambda values: values.iloc[-1], 1.0)):
        ds = doubled.meta.to_scores(aggregate=rule)
        assert float(ds.score.sel(metric="human", system="b", input=2)) == 4 + shift
        assert "system_type" in ds.coords
    once = pd.concat([TIDY, TIDY.assign(score=TIDY.score + 1).iloc[[3]]])
    assert float(once.meta.to_scores(aggregate="mean").score.sel(metric="human", system="b", input=2)) == 4.5
    with pytest.raises(ValueError, match=r"repeated 1 output"):
        once.meta.to_scores()


def test_columns_that_describe_nothing_are_named():
    with pytest.warns(UserWarning, match=r"left out columns? 'tone': no values of a metric, system or input"):
        ds = TIDY.assign(tone=list("uvwxyz")).meta.to_scores()
    assert "tone" not in ds.coords


def test_texts_with_digits_are_shown():
    wide = TIDY.pivot(index=["system", "input"], columns="metric", values="score").reset_index()
    wide = wide.assign(gpt=[f"{at % 5}/5" for at in range(len(wide))])
    with pytest.warns(UserWarning, match="left out column 'gpt': 'gpt' holds text such as '0/5', not numbers"):
        wide.meta.to_scores(wide=True)
    with (
        pytest.warns(UserWarning, match="left out column 'gpt'"),
        pytest.raises(ValueError, match="'judge'] names the column 'gpt', which is not a metric: it holds no numbers"),
    ):
        wide.meta.to_scores(wide=True, kind={"judge": ["gpt"]})


def test_refusals_that_nobody_rated_are_reported():
    rows = {
        "system": list("aabb"),
        "input": [1, 2, 1, 2],
        "human": [1.0, None, None, 2.0],
        "judge": [2.0, None, 1.0, 3.0],
    }
    with pytest.warns(LeftOutWarning, match="1 of 4 outputs has no score and no rating, and count as no outputs"):
        pd.DataFrame(rows).meta.to_scores(wide=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = pd.DataFrame(rows | {"length": [5, 6, 7, 8]}).meta.to_scores(wide=True, gold="human")
    found = kept.meta.missingness(metric="judge", score_range=(1, 5), rng=1)
    assert found.n_missing.sum() == 1 and found.n_outputs.sum() == 4


@pytest.mark.parametrize("kind, meant", [("covariat", "covariate"), ("Humans", "human"), ("judges", "judge")])
def test_a_kind_that_is_almost_a_usual_one_is_questioned(kind, meant):
    with pytest.warns(CautionWarning, match=f"{kind!r} has no meaning for the analyses; did you mean {meant!r}"):
        TIDY.meta.to_scores(kind={kind: ["rouge"]})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["covariate", "judge", "human", "reference-based", "mine"])
def test_other_kinds_are_free(kind):
    assert TIDY.meta.to_scores(kind={kind: ["rouge"]}).kind.sel(metric="rouge").item() == kind


@pytest.mark.parametrize("name, texts", [("response", list("uvwxyz")), ("tone", [f"{at} " * 30 for at in range(6)])])
def test_texts_are_left_out_without_a_warning_and_named(name, texts):
    ds = TIDY.assign(**{name: texts}).meta.to_scores()
    assert name not in ds.coords and ds.attrs == {"left_out": name}
    assert re.search(rf"texts left out +{name}\n", repr(ds.meta))


@pytest.mark.parametrize(
    "frame, keywords, error, message",
    [
        (
            TIDY,
            {"system": "systm"},
            ValueError,
            r"system='systm' is not a column; did you mean 'system'\? columns: 'metric'",
        ),
        (TIDY, {"value": "rouge"}, ValueError, "value='rouge' is not a column"),
        (TIDY, {"dims": ["language"]}, ValueError, "dims='language' is not a column"),
        (TIDY, {"metric": "system"}, ValueError, "the columns named repeats "),
        (TIDY, {"metric": ["rouge"]}, TypeError, "metric must name one column of a tidy frame"),
        (TIDY, {"wide": 1}, TypeError, "wide must be True or False"),
        (
            TIDY.assign(system=[None, *"abcde"]),
            {},
            ValueError,
            r"1 row without system \(column 'system'\), the first is row 0",
        ),
        (
            TIDY.assign(score=["0.1", "x", "1", "2", "3", "4"]),
            {},
            TypeError,
            "column 'score' must hold numbers, got dtype .*'x' in row 1",
        ),
        (
            TIDY[["system", "input"]],
            {"wide": True, "system": "system"},
            ValueError,
            "needs at least one numeric column",
        ),
        (TIDY, {"wide": True, "metric": ["blue"]}, ValueError, "metric='blue' is not a column"),
        (TIDY, {"wide": True, "metric": []}, ValueError, r"at least one column of a wide frame, got \[\]"),
    ],
)
def test_bad_frames(frame, keywords, error, message):
    if keywords.get("wide") is True and "metric" not in keywords:
        frame = frame.astype(str)
    with pytest.raises(error, match=message):
        frame.meta.to_scores(**keywords)


def wide_frame(**more):
    frame = pd.DataFrame(
        {"model": list("aabb"), "doc": [1, 2, 1, 2], "rouge": [0.1, 0.2, 0.3, 0.4], "human": [1, 2, 3, 5]}
    )
    return frame.assign(**more)


@pytest.mark.parametrize("name", ["input", "system", "metric"])
def test_further_columns_may_have_the_names_of_dims(name):
    want = wide_frame().meta.to_scores(system="model", input="doc", wide=True)
    with pytest.warns(UserWarning, match=f"left out column '{name}': no values"):
        got = wide_frame(**{name: "text"}).meta.to_scores(system="model", input="doc", wide=True)
    xr.testing.assert_equal(got, want)
    with pytest.warns(UserWarning, match=f"'{name}'"):
        tidy = TIDY.rename(columns={"system": "s", "input": "i", "metric": "m"}).assign(**{name: "text"})
        got = tidy.meta.to_scores(metric="m", system="s", input="i")
    xr.testing.assert_equal(got, TIDY.meta.to_scores())


def test_a_metric_may_be_called_score():
    got = wide_frame(score=[4.0, 3.0, 2.0, 1.0]).meta.to_scores(system="model", input="doc", wide=True)
    assert list(got.metric.values) == ["rouge", "human", "score"]
    other = TIDY.rename(columns={"score": "f1"}).assign(score=0.0)
    with pytest.warns(UserWarning, match="'score'"):
        xr.testing.assert_equal(other.meta.to_scores(value="f1"), TIDY.meta.to_scores())


def test_a_bad_cell_is_named_and_does_not_cost_the_metric():
    bad = wide_frame(rouge=["0.1", "n/a!", "0.3", "0.4"])
    with pytest.raises(TypeError, match="column 'rouge' must hold numbers, got dtype .*, the first is 'n/a!' in row 1"):
        bad.meta.to_scores(system="model", input="doc", wide=True)


def test_from_half_its_values_on_a_column_of_numbers_is_a_metric():
    how = {"system": "model", "input": "doc", "wide": True}
    with pytest.raises(TypeError, match="column 'rouge' must hold numbers"):
        wide_frame(rouge=["0.1", "n/a!", "0.3", "x"]).meta.to_scores(**how)
    with pytest.warns(UserWarning, match="left out column 'rouge': no values"):
        wide_frame(rouge=["0.1", "n/a!", "y", "x"]).meta.to_scores(**how)


def test_columns_that_are_hardly_metrics_are_said():
    with pytest.warns(UserWarning, match="'Unnamed: 0': apparently a saved index"):
        got = wide_frame(**{"Unnamed: 0": range(4)}).meta.to_scores(system="model", input="doc", wide=True)
    assert list(got.metric.values) == ["rouge", "human"]
    with pytest.warns(UserWarning, match="'year' read as a metric, with one value for each system"):
        got = wide_frame(year=[2020, 2020, 2021, 2021]).meta.to_scores(system="model", input="doc", wide=True)
    assert "year" in got.metric
    named = wide_frame(year=[2020, 2020, 2021, 2021]).meta.to_scores(
        system="model", input="doc", wide=True, metric=["rouge", "human"]
    )
    assert list(named.year.values) == [2020, 2021]


@pytest.mark.parametrize(
    "values, constant",
    [
        ([1.0, 1.0, 2.0, 2.0], True),
        ([1.0, None, 2.0, 2.0], True),  # one system with two equal ones is enough
        ([1.0, None, 2.0, None], False),
        ([1.0, 1.0, 2.0, 3.0], False),
        ([2**60, 2**60, 1, 1], True),
    ],
)
def test_metrics_with_one_value_for_each_system(values, constant):
    frame = wide_frame(odd=pd.Series(values, dtype=float)).iloc[[0, 2, 1, 3]]  # systems in turn
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        frame.meta.to_scores(system="model", input="doc", wide=True)
    assert ["'odd'" in str(each.message) for each in given] == [True] * constant


def test_an_unknown_rule_of_aggregation():
    with pytest.raises(ValueError, match="aggregate must be a rule of pandas', as 'mean' or 'median', got 'avg'"):
        TIDY.meta.to_scores(aggregate="avg")


@pytest.mark.parametrize(
    "name, data, message",
    [
        ("a.csv", b"", "cannot read a.csv as .csv: it is empty"),
        ("a.csv", b"system,input,rouge\n\xe9,1,2\n", "cannot read a.csv as .csv: it is not UTF-8 text"),
        ("a.csv", b"system;input;rouge\nx;1;2\n", "cannot read a.csv as .csv: it has one column, 'system;input;rouge'"),
        ("a.nc", b"no netCDF", "cannot read a.nc as .nc"),
        ("a.parquet", b"no parquet", "cannot read a.parquet as .parquet"),
    ],
)
def test_files_that_cannot_be_read_are_named(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=message):
        frames.read_scores(tmp_path / name)


@pytest.mark.parametrize(("comma", "decimal"), [(",", ", decimal=','"), (".", "")])
def test_a_file_with_semicolons_comes_with_the_call_that_writes_it_anew(tmp_path, monkeypatch, comma, decimal):
    monkeypatch.chdir(tmp_path)
    lines = ["system;input;rouge", "x;1;0.5", "y;1;2.25"]
    Path("a.csv").write_text("\n".join(line.replace(".", comma) for line in lines) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match="its columns are separated with semicolons") as error:
        frames.read_scores(Path("a.csv"))
    call = str(error.value).partition("in Python: ")[2]
    assert call == f"pandas.read_csv('a.csv', sep=';'{decimal}).to_csv('a-commas.csv', index=False)"
    eval(call, {"pandas": pd})
    assert frames.read_scores(Path("a-commas.csv")).score.values.tolist() == [[[0.5], [2.25]]]


def test_scores_go_to_a_frame_and_back(small):
    again = small.meta.to_frame().meta.to_scores()
    xr.testing.assert_equal(again.score, small.score)
    assert list(again.kind.values) == list(small.kind.values)


def test_frames_of_results(small):
    interval = small.meta.ci("m0", n_resamples=20, rng=0, keep_samples=True).meta.to_frame()
    assert list(interval.metric) == ["m1", "m2", "m3"] and "samples" not in interval
    test = small.meta.perm_test("m0", n_resamples=200, rng=0).meta.adjust().meta.to_frame()
    assert len(test) == 6 and (test.metric != test.other_metric).all()
    assert {"difference", "pvalue", "pvalue_adjusted"} <= set(test)
    single = small.meta.ci("m0", metric="m1", n_resamples=20, rng=0).isel(metric=0).meta.to_frame()
    assert len(single) == 1 and single.metric[0] == "m1"


@functools.cache
def results():
    rng = np.random.default_rng(7)
    score = np.round(2 * rng.normal(size=(4, 6, 5)) + 2 * rng.normal(size=(1, 6, 5)))
    ds = dataset(score, kind=("metric", list("habc")), higher_is_better=("metric", [True, False, True, True]))
    test = ds.meta.perm_test("m0", level="input", n_resamples=100, rng=2, keep_samples=True)
    return {
        "scores": ds.assign_attrs(gold="m0"),
        "ci": ds.meta.ci("m0", n_resamples=30, rng=2, keep_samples=True),
        "corr": ds.meta.corr("m0", level="input", average=False),
        "perm_test": test,
        "adjusted": test.meta.adjust("holm"),
        "significant": test.meta.significant().to_dataset(),
        "metric_corr": ds.meta.metric_corr(),
    }


@pytest.mark.parametrize("name", ["scores", "ci", "corr", "perm_test", "adjusted", "significant", "metric_corr"])
@pytest.mark.parametrize("store", ["netcdf4", "zarr"])
@pytest.mark.filterwarnings("ignore:.*Zarr format 3:UserWarning", "ignore:.*not part in the Zarr format 3")
def test_results_round_trip(tmp_path, name, store):
    ds = results()[name]
    path = tmp_path / f"result.{'zarr' if store == 'zarr' else 'nc'}"
    if store == "zarr":
        ds.to_zarr(path, zarr_format=2, consolidated=True)
        again = xr.load_dataset(path, engine="zarr")
    else:
        ds.to_netcdf(path, engine=store)
        again = xr.load_dataset(path, engine=store)
    xr.testing.assert_identical(again, ds)
    if name == "scores":
        xr.testing.assert_identical(again.meta.ci(n_resamples=30, rng=1), ds.meta.ci(n_resamples=30, rng=1))
    if name == "perm_test":
        xr.testing.assert_equal(again.meta.adjust("holm"), ds.meta.adjust("holm"))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".nc", ".zarr"])
def test_read_scores_by_ending(tmp_path, demo, suffix):
    path = tmp_path / f"scores{suffix}"
    wide = demo.score.to_series().unstack("metric").reset_index()
    if suffix == ".parquet":
        wide.to_parquet(path)
    elif suffix == ".nc":
        demo.to_netcdf(path)
    elif suffix == ".zarr":
        demo.to_zarr(path, zarr_format=2)
    else:
        wide.to_csv(path, sep="," if suffix == ".csv" else "\t", index=False)
    got = frames.read_scores(path).score.sel({dim: demo[dim] for dim in demo.score.dims})
    np.testing.assert_array_equal(got, demo.score)


def test_read_scores_of_a_tidy_file_and_of_none(tmp_path):
    path = tmp_path / "scores.csv"
    TIDY.to_csv(path, index=False)
    xr.testing.assert_equal(frames.read_scores(path), TIDY.assign(input=TIDY.input.astype(str)).meta.to_scores())
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        frames.read_scores(tmp_path / "none.csv")
    (tmp_path / "scores.xls").write_text("")
    with pytest.raises(ValueError, match="scores.xls has an unknown file type; known: '.csv'"):
        frames.read_scores(tmp_path / "scores.xls")


def both(frame, wide):
    """The tidy frame, or the same wide, and the keywords that read it."""
    if not wide:
        return frame, {}
    keys = [name for name in frame if name not in ("metric", "score")]
    return frame.pivot(columns="metric", index=keys, values="score").reset_index(), {"wide": True}


def plain(**labels):
    frame = pd.DataFrame(itertools.product(["r", "h"], ["a", "b"], [1, 2]), columns=["metric", "system", "input"])
    return frame.assign(score=np.arange(8.0)).astype({"input": object, "system": object}).assign(**labels)


@pairwise(
    {
        "wide": [False, True],
        "column": ["system", "input", "rater"],
        "values": [(1, "1"), ("x", 2.5), ("x", ("x",)), (True, "True")],
    }
)
def test_labels_of_mixed_types_are_refused(wide, column, values):
    frame = plain(rater="z")
    frame[column] = [values[at % 2] for at in range(8)]
    frame["input"] = frame["input"] if column == "input" else [1, 1, 2, 2, 1, 1, 2, 2]
    frame, keywords = (frame, {}) if not wide else (frame[frame.metric == "r"].drop(columns="metric"), {"wide": True})
    text, other = sorted(values, key=lambda each: not isinstance(each, str))
    with pytest.raises(ValueError) as error:
        frame.meta.to_scores(dims=["rater"], **keywords)
    assert f"column {column!r} has labels that are text and others that are not, as {text!r} and {other!r}" in str(
        error.value
    )
    assert "make them one type, as with .astype(str)" in str(error.value)


def test_metrics_of_mixed_types_are_refused():
    with pytest.raises(ValueError, match="column 'metric' has labels that are text .* as '1' and 1"):
        plain().assign(metric=[1, 1, 1, 1, "1", "1", "1", "1"]).meta.to_scores()
    frame = pd.DataFrame({"system": ["a", "b"], "input": [1, 1], 1: [1.0, 2.0], "1": [1.0, 2.0]})
    with pytest.raises(ValueError, match="the header has labels that are text .* as '1' and 1"):
        frame.meta.to_scores(wide=True)


@pytest.mark.parametrize("wide", [False, True])
def test_blanks_around_labels_are_left_out_with_a_warning(wide):
    """One metric's outputs are labelled with blanks: the same cells as those of the other."""
    want = plain(rater="z").meta.to_scores(dims=["rater"])
    frame = plain(rater=["z", "z\n"] * 4)
    frame["system"] = frame["system"] + np.where(frame.input == 1, " ", "")
    frame["metric"] = frame["metric"].replace("r", "\tr")
    frame, keywords = both(frame, wide)
    with pytest.warns(UserWarning) as caught:
        ds = frame.meta.to_scores(dims=["rater"], **keywords)
    assert sorted(str(each.message) for each in caught) == sorted(
        [
            "column 'system': blanks around labels are left out: 'a ', 'b '",
            "column 'rater': blanks around labels are left out: 'z\\n'",
            ("the header" if wide else "column 'metric'") + ": blanks around labels are left out: '\\tr'",
        ]
    )
    xr.testing.assert_equal(ds.score.sel({dim: want[dim] for dim in want.score.dims}), want.score)
    assert ds.score.shape == want.score.shape


@pytest.mark.ignore_codes("labels_trimmed")
def test_labels_of_blanks_only_are_missing():
    with pytest.raises(
        ValueError, match=r"4 rows without system \(column 'system'\), the first is row 0; drop or fill"
    ):
        plain(system=["  ", "", "b", "b"] * 2).meta.to_scores()


def test_metrics_that_are_the_same_without_blanks():
    frame = plain().query("metric == 'r'").drop(columns="metric").assign(**{"r": 1.0, "r ": 2.0})
    with pytest.raises(ValueError, match="the header without blanks repeats "):
        with pytest.warns(UserWarning, match="'r '"):
            frame.meta.to_scores(wide=True)


def test_a_frame_with_a_column_twice():
    frame = plain().set_axis(["metric", "system", "score", "score"], axis=1)
    with pytest.raises(ValueError, match=r"the frame's header repeats 'score'"):
        frame.meta.to_scores(input="metric")


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("rule", ["mean", "sum", np.mean, np.nanmean])
@pytest.mark.ignore_codes("perhaps_no_metric")
def test_the_order_of_rows_does_not_matter_to_a_mean(rule, wide):
    """Three means of .2 and one of .7/3 against 0, 1, 4, 9, in several units: tau-b is 3/sqrt(3*6)."""
    units = {f"unit {scale:.3g}": scale for scale in (1, 10, 0.1, 1e-20, 1e200, 7, 1 / 3)}
    ratings = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.2, 0.2], [0.1, 0.1, 0.5]])
    labels = pd.DataFrame({"system": np.repeat(["s0", "s1", "s2", "s3"], 3), "input": "d"})
    frame = labels.assign(
        human=np.repeat(np.arange(4) ** 2 / 3, 3), **{n: u * ratings.ravel() for n, u in units.items()}
    )
    for seed in range(4):
        some = frame.sample(frac=1, random_state=seed)
        if wide:
            ds = some.meta.to_scores(wide=True, aggregate=rule)
        else:
            some = some.melt(["system", "input"], var_name="metric", value_name="score")
            ds = some.meta.to_scores(aggregate=rule)
        assert ds.system.values.tolist() == list(dict.fromkeys(some.system))
        tau = ds.meta.corr("human", level="input", coefficient="kendall").correlation
        assert tau.sel(metric=list(units)).values == pytest.approx(np.full(len(units), 3 / np.sqrt(18)), abs=1e-12)
        want = np.array(list(units.values())) * 0.7 / (1 if rule == "sum" else 3)
        np.testing.assert_allclose(ds.score.sel(metric=list(units), system="s3").values.ravel(), want, rtol=1e-12)


def test_medians_of_an_even_number_are_means():
    """(.1 + .7)/2 and (.3 + .5)/2 are .4, and 0.39999999999999997 in floating point."""
    frame = pd.DataFrame({"metric": "m", "system": list("aabbc"), "input": 1, "score": [0.1, 0.7, 0.3, 0.5, 0.4]})
    for seed in range(5):
        ds = frame.sample(frac=1, random_state=seed).meta.to_scores(aggregate="median")
        assert len(np.unique(ds.score)) == 1


def test_scores_that_are_no_means_stay_as_they_are():
    """A mean is equal to what differs by rounding only; raw scores and distinct means are not made equal."""
    score = [1.0, 1 + 1e-13, 2.0, 2.0, 2 + 1e-9, 2 + 1e-9, np.nan, np.nan, np.nan, 3.0]
    frame = pd.DataFrame({"metric": "m", "system": list("abccddeeff"), "input": 1, "score": score})
    found = frame.meta.to_scores(aggregate="mean").score.values.ravel()
    np.testing.assert_array_equal(found, [1.0, 1 + 1e-13, 2.0, 2 + 1e-9, np.nan, 3.0])


def test_means_of_one_metric_do_not_touch_those_of_another():
    frame = pd.DataFrame({"metric": list("mmnn"), "system": "a", "input": 1, "score": [1.0, 1.0, 1 + 1e-13, 1 + 1e-13]})
    np.testing.assert_array_equal(frame.meta.to_scores(aggregate="mean").score.values.ravel(), [1.0, 1 + 1e-13])


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("aggregate", [None, "mean"])
def test_frames_of_the_other_byte_order(wide, aggregate):
    frame = plain().astype({"input": "int64"}).assign(year=lambda each: 2000 + each["input"])
    frame, keywords = both(frame, wide)
    swapped = pd.DataFrame(
        {name: frame[name].to_numpy().astype(frame[name].dtype.newbyteorder(">")) if frame[name].dtype.kind in "if"
         else frame[name] for name in frame}
    )  # fmt: skip
    assert any(str(dtype).startswith(">") for dtype in swapped.dtypes)
    more = {"metric": ["r", "h"]} if wide else {}
    want = frame.meta.to_scores(**keywords, **more, aggregate=aggregate)
    xr.testing.assert_identical(swapped.meta.to_scores(**keywords, **more, aggregate=aggregate), want)
    assert want.year.dims == ("input",)


@pytest.mark.ignore_codes("perhaps_no_metric")
def test_an_index_that_pandas_made_of_the_first_column_is_said(tmp_path):
    """A file whose rows have one field more than its header, read by pandas: every column is the next one's."""
    (tmp_path / "a.csv").write_text("system,input,human,r1\na,1,5,6,7\nb,1,5,6,8\n")
    frame = pd.read_csv(tmp_path / "a.csv")
    assert frame.human.tolist() == [6, 6]
    with pytest.warns(UserWarning, match="the frame's index holds text, as 'a', has no name, and is left out"):
        with pytest.raises(ValueError, match="repeated 2 outputs"):
            frame.meta.to_scores(wide=True)
    plain().iloc[::-1].meta.to_scores()  # rows in another order have an index without a name too


@pytest.mark.parametrize("rule", [np.mean, np.nanmean, np.median, np.nanmedian, np.sum, np.nansum])
def test_functions_of_numpy_do_what_their_names_say(rule):
    values = {"s1": [1.0, 2.0, 9.0], "s2": [4.0, 4.5, 7.0]}
    rows = [("m", system, "i", value) for system, scores in values.items() for value in scores]
    frame = pd.DataFrame(rows, columns=["metric", "system", "input", "score"])
    got = frame.meta.to_scores(aggregate=rule).score.sel(metric="m", input="i")
    for system, scores in values.items():
        assert float(got.sel(system=system)) == pytest.approx(float(rule(scores)), rel=1e-15)


# --- A frame of one system ---


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_without_systems_is_of_one(tmp_path, capsys, suffix):
    rng = np.random.default_rng(0)
    quality = rng.normal(size=60)
    grades = {f"ann_{at}": np.clip(np.round(3 + quality + 0.5 * rng.normal(size=60)), 1, 5) for at in (1, 2, 3)}
    judges = {"judge": quality + 0.5 * rng.normal(size=60), "guess": rng.normal(size=60)}
    frame = pd.DataFrame({"prompt": [f"p{at}" for at in range(60)], **judges, **grades})
    ds = frame.meta.to_scores(input="prompt", wide=True, ratings=list(grades))
    assert ds.system.values.tolist() == ["system"] and ds.sizes["input"] == 60
    np.testing.assert_array_equal(ds.score.sel(metric="judge").squeeze(), judges["judge"])
    long = frame.melt("prompt", list(judges), "metric", "score").rename(columns={"prompt": "input"})
    tidy = long.meta.to_scores()
    np.testing.assert_array_equal(tidy.score.sel(metric="guess").squeeze(), judges["guess"])
    assert "system" not in frame and "to name" not in repr(frame.meta) and "system=" not in repr(frame.meta)

    r = ds.meta.corr(level="global").correlation.sel(metric="judge")
    assert float(r) == pytest.approx(np.corrcoef(judges["judge"], frame[list(grades)].mean(axis=1))[0, 1])
    compared = ds.meta.compare_metrics(level="global", metric="judge", other="guess")
    assert compared.significant.item() and "For this system on inputs like these, judge beats guess" in (
        compared.meta.conclusion()
    )
    path = tmp_path / f"one{suffix}"
    frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path)
    assert cli.main([str(path), "--raters", *grades]) == 0
    assert "For this system on inputs like these, judge beats guess" in " ".join(capsys.readouterr().out.split())


def test_systems_by_another_usual_name_are_not_made_one():
    frame = pd.DataFrame({"model": ["a", "b"], "input": ["i", "j"], "rouge": [0.1, 0.2]})
    with pytest.raises(ValueError, match="no column is called 'system'; say which one names the systems: system="):
        frame.meta.to_scores(wide=True)
    with pytest.raises(ValueError, match="system='systems' is not a column"):
        frame.drop(columns="model").meta.to_scores(system="systems", wide=True)


def test_means_that_only_rounding_of_the_largest_parts_are_equal():
    """Of 1e8 + .1, −1e8 and .05 the mean is .05, but for what rounding 1e8 costs."""
    rows = [("a", 1e8 + 0.1), ("a", -1e8), ("a", 0.05), ("b", 0.05), ("b", 0.05), ("b", 0.05), ("c", 0.0501)]
    frame = pd.DataFrame(rows, columns=["system", "score"]).assign(metric="m", input="i")
    assert np.mean([value for system, value in rows if system == "a"]) != 0.05
    a, b, c = frame.meta.to_scores(aggregate="mean").score.values.ravel()
    assert a == b != c


@pytest.mark.parametrize("wide", [True, False])
def test_several_columns_name_the_input_together(wide):
    """As document and segment, numbered in each document; they become coordinates, and no metrics."""
    rows = [(system, doc, segment) for system in "ab" for doc in ("d1", "d2") for segment in (1, 2, 3)]
    frame = pd.DataFrame(rows, columns=["model", "doc_id", "segment"]).assign(human=range(12), rouge=range(12, 0, -1))
    how = {"system": "model", "input": ["doc_id", "segment"]}
    if wide:
        ds = frame.meta.to_scores(**how, wide=True)
    else:
        tidy = frame.melt(["model", "doc_id", "segment"], var_name="metric", value_name="score")
        ds = tidy.meta.to_scores(**how)
    assert ds.input.values.tolist() == [f"d{doc}:{segment}" for doc in (1, 2) for segment in (1, 2, 3)]
    assert sorted(ds.metric.values) == ["human", "rouge"]
    assert ds.doc_id.values.tolist() == 3 * ["d1"] + 3 * ["d2"] and ds.segment.values.tolist() == 2 * [1, 2, 3]
    assert float(ds.score.sel(metric="human", system="b", input="d2:1")) == 9
    assert frame.columns.tolist() == ["model", "doc_id", "segment", "human", "rouge"]
    with pytest.raises(ValueError, match="'seg' is not a column; did you mean 'segment'"):
        frame.meta.to_scores(system="model", input=["doc_id", "seg"], wide=True)
    alone = frame.assign(key=frame.doc_id + frame.segment.astype(str))
    assert alone.meta.to_scores(system="model", input=["key"], wide=True).sizes["input"] == 6
