import numpy as np
import pandas as pd
import pytest
import xarray as xr

from xsumstat import io

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
    with pytest.raises(
        ValueError, match=r"2 cell\(s\) appear more than once, .* rouge/b/2; human/b/2; pass aggregate='mean'"
    ):
        doubled.meta.to_scores()
    for rule, shift in (("mean", 0.5), ("max", 1.0), ("first", 0.0), (lambda values: values.iloc[-1], 1.0)):
        ds = doubled.meta.to_scores(aggregate=rule)
        assert float(ds.score.sel(metric="human", system="b", input=2)) == 4 + shift
        assert "system_type" in ds.coords


def test_columns_that_describe_nothing_are_named():
    with pytest.warns(UserWarning, match=r"column\(s\) left out, as they describe no metric, system or input: 'text'"):
        ds = TIDY.assign(text=list("uvwxyz")).meta.to_scores()
    assert "text" not in ds.coords


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
        (TIDY, {"dims": ["language"]}, ValueError, "language='language' is not a column"),
        (TIDY, {"metric": "system"}, ValueError, "the columns named has 1 label"),
        (TIDY, {"metric": ["rouge"]}, TypeError, "metric must name one column of a tidy frame"),
        (TIDY, {"wide": 1}, TypeError, "wide must be True or False"),
        (
            TIDY.assign(system=[None, *"abcde"]),
            {},
            ValueError,
            r"1 row\(s\) have no system \(column 'system'\), the first is row 0",
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
    with pytest.warns(UserWarning, match=f"left out, as they describe no metric, system or input: '{name}'"):
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


def test_columns_that_are_hardly_metrics_are_said():
    with pytest.warns(UserWarning, match="look like a saved index: 'Unnamed: 0'"):
        got = wide_frame(**{"Unnamed: 0": range(4)}).meta.to_scores(system="model", input="doc", wide=True)
    assert list(got.metric.values) == ["rouge", "human"]
    with pytest.warns(UserWarning, match="taken for metrics, though each system has one value: 'year'"):
        got = wide_frame(year=[2020, 2020, 2021, 2021]).meta.to_scores(system="model", input="doc", wide=True)
    assert "year" in got.metric
    named = wide_frame(year=[2020, 2020, 2021, 2021]).meta.to_scores(
        system="model", input="doc", wide=True, metric=["rouge", "human"]
    )
    assert list(named.year.values) == [2020, 2021]


def test_an_unknown_rule_of_aggregation():
    with pytest.raises(ValueError, match="aggregate must be a rule of pandas', as 'mean' or 'median', got 'avg'"):
        TIDY.meta.to_scores(aggregate="avg")


def test_labels_in_files_are_text(tmp_path):
    """A system may be called NA, and an input 007."""
    path = tmp_path / "scores.csv"
    path.write_text("system,input,rouge,human\nNA,007,0.1,1\nNA,8,,2\nb,007,0.3,3\nb,8,NA,4\n")
    ds = io.read_scores(path)
    assert list(ds.system.values) == ["NA", "b"] and list(ds.input.values) == ["007", "8"]
    assert int(ds.score.sel(metric="rouge").isnull().sum()) == 2


@pytest.mark.parametrize(
    "name, data, message",
    [
        ("a.csv", b"", "cannot read a.csv as .csv: No columns"),
        ("a.csv", b"system,input,rouge\n\xe9,1,2\n", "cannot read a.csv as .csv: 'utf-8' codec"),
        ("a.csv", b"system;input;rouge\nx;1;2\n", "a.csv has one column, 'system;input;rouge'"),
        ("a.nc", b"no netCDF", "cannot read a.nc as .nc"),
        ("a.parquet", b"no parquet", "cannot read a.parquet as .parquet"),
    ],
)
def test_files_that_cannot_be_read_are_named(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=message):
        io.read_scores(tmp_path / name)


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


def results(ds):
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
def test_results_round_trip(tmp_path, small, name, store):
    small = small.assign_coords(higher_is_better=("metric", [True, False, True, True]))
    ds = results(small)[name]
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
    got = io.read_scores(path).score.sel({dim: demo[dim] for dim in demo.score.dims})
    np.testing.assert_array_equal(got, demo.score)


def test_read_scores_of_a_tidy_file_and_of_none(tmp_path):
    path = tmp_path / "scores.csv"
    TIDY.to_csv(path, index=False)
    xr.testing.assert_equal(io.read_scores(path), TIDY.assign(input=TIDY.input.astype(str)).meta.to_scores())
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        io.read_scores(tmp_path / "none.csv")
    (tmp_path / "scores.xls").write_text("")
    with pytest.raises(ValueError, match="cannot tell what scores.xls holds by its ending; known: '.csv'"):
        io.read_scores(tmp_path / "scores.xls")
