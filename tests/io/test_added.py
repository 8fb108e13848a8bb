"""Metrics joined by identifiers: each row's score is its output's, and what is left over is told."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xsumstat
from xsumstat import add_metric

SYSTEMS, INPUTS = ["a", "b", "c"], [7, 8, 9, 10]


def base(inputs=INPUTS):
    frame = pd.DataFrame([(s, i) for s in SYSTEMS for i in inputs], columns=["model", "doc"])
    rng = np.random.default_rng(0)
    frame = frame.assign(rouge=rng.random(len(frame)), ter=rng.random(len(frame)), human=rng.random(len(frame)))
    frame["domain"] = frame.doc.map(lambda label: "odd" if int(label) % 2 else "even")
    kind = {"lexical": ["rouge", "ter"]}
    return frame.meta.to_scores(system="model", input="doc", wide=True, gold="human", lower_is_better="ter", kind=kind)


def mine(inputs=INPUTS, **more):
    rows = [(s, i) for i in inputs[::-1] for s in SYSTEMS[::-1]]
    frame = pd.DataFrame(rows, columns=["model", "doc"])
    return frame.assign(mine=np.arange(len(frame)) / 4, **more)


def by_hand(ds, frame, column="mine"):
    """The scores by a plain loop over rows."""
    want = np.full((ds.sizes["system"], ds.sizes["input"]), np.nan)
    for _, row in frame.iterrows():
        at = ds.system.values.tolist().index(row.model), ds.input.values.tolist().index(row.doc)
        want[at] = row[column]
    return want


@pytest.mark.parametrize(
    "on", [None, ["model", "doc"], {"system": "model", "input": "doc"}, {"input": "doc", "system": "model"}]
)
def test_each_row_finds_its_output(on):
    ds, frame = base(), mine()
    before, frame_before = ds.copy(deep=True), frame.copy()
    found = add_metric(ds, frame, on=on)
    xr.testing.assert_identical(ds, before)
    pd.testing.assert_frame_equal(frame, frame_before)
    np.testing.assert_array_equal(found.score.sel(metric="mine"), by_hand(ds, frame))
    xr.testing.assert_equal(found.score.sel(metric=ds.metric.values).drop_vars(["kind", "higher_is_better"]),
                            ds.score.drop_vars(["kind", "higher_is_better"]))  # fmt: skip
    assert found.attrs == {"gold": "human", "added": "mine: 12 of 12 rows matched"}
    assert "mine: 12 of 12 rows matched" in repr(found.meta)
    assert found.kind.values.tolist() == [*ds.kind.values.tolist(), "automatic"]
    assert found.higher_is_better.values.tolist() == [True, False, True, True] and found.higher_is_better.dtype == bool
    assert found.domain.values.tolist() == ds.domain.values.tolist()


def test_several_columns_names_directions_and_kinds():
    frame = mine(errors=1.0, passed=[True, False] * 6, note="n")
    found = add_metric(base(), frame, lower_is_better="errors", kind="judge")
    assert found.metric.values.tolist()[3:] == ["mine", "errors", "passed"]
    assert found.higher_is_better.values.tolist()[3:] == [True, False, True]
    assert found.kind.values.tolist()[3:] == ["judge"] * 3
    np.testing.assert_array_equal(found.score.sel(metric="passed"), by_hand(base(), frame, "passed").astype(float))
    found = add_metric(found, mine(), metric="mine", name="again")
    assert found.metric.values.tolist()[-1] == "again"
    assert found.attrs["added"] == "mine, errors, passed: 12 of 12 rows matched; again: 12 of 12 rows matched"


def test_nothing_is_made_up_where_there_is_no_kind_nor_direction():
    plain = base().drop_vars(["kind", "higher_is_better"])
    found = add_metric(plain, mine())
    assert "kind" not in found.coords and "higher_is_better" not in found.coords
    assert add_metric(plain, mine(), kind="judge").kind.values.tolist() == ["automatic"] * 3 + ["judge"]
    turned = add_metric(plain, mine(), lower_is_better="mine")
    assert turned.higher_is_better.values.tolist() == [True, True, True, False]


def test_what_is_left_over_is_told():
    frame = mine().iloc[2:]
    frame = pd.concat([frame, pd.DataFrame({"model": ["z", "a"], "doc": [7, 99], "mine": [1.0, 2.0]})])
    with pytest.warns(
        xsumstat.LeftOutWarning,
        match=r"^mine: 10 of 12 rows matched; 2 rows without an output in the scores, e.g. z/7, a/99; "
        r"2 of 12 outputs have no row, e.g. b/10, c/10$",
    ):
        found = add_metric(base(), frame)
    assert int(found.score.sel(metric="mine").isnull().sum()) == 2


def test_labels_of_another_type_are_refused_with_the_way_out():
    text = base([str(label) for label in INPUTS])
    with pytest.raises(
        ValueError, match=r"inputs of the scores are text .*'doc' holds numbers .*frame.astype\(\{'doc': str\}\)"
    ):
        add_metric(text, mine())
    found = add_metric(text, mine().astype({"doc": str}))  # the way out
    np.testing.assert_array_equal(found.score.sel(metric="mine"), by_hand(text, mine().astype({"doc": str})))
    with pytest.raises(ValueError, match=r"scores are numbers .*holds text .*frame.astype\(\{'doc': 'int64'\}\)"):
        add_metric(base(), mine().astype({"doc": str}))
    floats = mine().astype({"doc": float})  # as of a column that had gaps
    np.testing.assert_array_equal(add_metric(base(), floats).score, add_metric(base(), mine()).score)


@pytest.mark.parametrize(
    "frame, keys, message",
    [
        (mine().iloc[[0, 0, 1]], {}, r"1 row with an output of an earlier row, the first 'c/10': keep one"),
        (mine(), {"name": "rouge"}, "there is a metric 'rouge' in the scores already: pass name="),
        (mine(rouge=1.0), {}, "there is a metric 'rouge' .*metric="),
        (mine(), {"on": ["model", "dok"]}, "on='dok' names neither a dim nor a coordinate"),
        (mine(), {"on": {"input": "dok"}}, "is not a column; did you mean 'doc'"),
        (mine(), {"on": "doc"}, "scores has no column of systems, and ds has 3"),
        (mine(), {"on": {"domian": "doc"}}, "on names 'domian', which is neither a dim nor a coordinate"),
        (mine(domain="odd"), {"on": ["model", "domain"]}, "coordinate 'domain' does not identify inputs: several are"),
        (mine().assign(doc=99), {}, "no row matches an output: the rows have 'c/99'"),
        (mine().assign(doc=np.nan), {}, r"12 rows without input \(column 'doc'\), the first is row 0"),
        (mine(), {"name": ["x", "y"]}, r"name has 2 names for 1 column"),
        (mine(), {"lower_is_better": "min"}, "unknown metric in lower_is_better 'min'; did you mean 'mine'"),
        (mine(), {"metric": "mein"}, "metric='mein' is not a column; did you mean 'mine'"),
        (mine()[["model", "doc"]], {}, "no column of numbers beside 'model', 'doc'"),
        (mine().melt(["model", "doc"], var_name="metric", value_name="score"), {}, r"frame.pivot\(index="),
    ],
)  # fmt: skip
def test_what_cannot_be_joined(frame, keys, message):
    with pytest.raises(ValueError, match=message):
        add_metric(base(), frame, **keys)


def test_no_frame_and_no_file(tmp_path):
    with pytest.raises(TypeError, match="scores must be a frame or the path of a table, got int"):
        add_metric(base(), 3)
    with pytest.raises(FileNotFoundError, match="no such file"):
        add_metric(base(), tmp_path / "none.csv")
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(ValueError, match="scores must be a table"):
        add_metric(base(), tmp_path / "a.txt")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl"])
def test_files(tmp_path, suffix):
    frame, path = mine(), tmp_path / f"mine{suffix}"
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    elif suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, frame.to_dict("records"))) + "\n")
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    want = add_metric(base(), frame)
    xr.testing.assert_identical(add_metric(base(), path), want)
    xr.testing.assert_identical(add_metric(base(), str(path)), want)


def test_ids_of_a_text_file_are_text_and_numbers(tmp_path):
    padded = base(["007", "008", "009", "010"])
    frame = mine().assign(doc=lambda df: df.doc.map("{:03d}".format))
    frame.to_csv(tmp_path / "a.csv", index=False)
    xr.testing.assert_identical(add_metric(padded, tmp_path / "a.csv"), add_metric(padded, frame))


def test_scores_within_values_of_json(tmp_path):
    lines = [{"model": s, "doc": i, "scores": {"mine": 0.5, "other": 1}} for s in SYSTEMS for i in INPUTS]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert add_metric(base(), tmp_path / "a.jsonl").metric.values.tolist()[3:] == ["scores.mine", "scores.other"]


def test_by_a_coordinate_and_without_a_column_of_the_one_system():
    ds = base().assign_coords(doc_name=("input", ["u", "v", "w", "x"]))
    frame = mine().assign(doc_name=lambda df: df.doc.map(dict(zip(INPUTS, "uvwx", strict=True)))).drop(columns="doc")
    found = add_metric(ds, frame, on=["model", "doc_name"])
    np.testing.assert_array_equal(found.score.sel(metric="mine"), by_hand(ds, mine()))
    one = base().sel(system=["b"])
    found = add_metric(one, mine().query("model == 'b'").drop(columns="model"))
    np.testing.assert_array_equal(found.score.sel(metric="mine")[0], by_hand(base(), mine())[1])


def test_further_dims():
    both = xr.concat([base(), base()], pd.Index(["en", "de"], name="language"), data_vars=["score"])
    both = both.assign_coords(base().coords)
    found = add_metric(both, mine())
    assert set(found.score.dims) == set(both.score.dims)
    for language in ("en", "de"):
        np.testing.assert_array_equal(
            found.score.sel(metric="mine", language=language).transpose("system", "input"), by_hand(base(), mine())
        )
    frame = pd.concat([mine().assign(language="en"), mine().assign(language="de", mine=lambda df: -df.mine)])
    found = add_metric(both, frame)
    for language, sign in (("en", 1), ("de", -1)):
        values = found.score.sel(metric="mine", language=language).transpose("system", "input")
        np.testing.assert_array_equal(values, sign * by_hand(base(), mine()))


def test_lazy_scores_stay_lazy():
    dask = pytest.importorskip("dask")
    lazy = base().chunk({"metric": 1})

    def refuse(*_, **__):
        raise AssertionError("computed")

    with dask.config.set(scheduler=refuse):
        found = add_metric(lazy, mine())
    assert found.score.chunks is not None
    xr.testing.assert_identical(found.compute(), add_metric(base(), mine()))


def test_the_new_metric_is_judged():
    ds = add_metric(base(), mine(), name="mine")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ds.meta.corr("human", level="global")
    want = np.corrcoef(by_hand(base(), mine()).ravel(), base().score.sel(metric="human").values.ravel())[0, 1]
    assert float(found.correlation.sel(metric="mine")) == pytest.approx(want)


def test_other_frames_and_series():
    series = mine().set_index(["model", "doc"]).mine
    want = add_metric(base(), mine())
    xr.testing.assert_identical(add_metric(base(), series), want)
    arrow = pytest.importorskip("pyarrow")
    xr.testing.assert_identical(add_metric(base(), arrow.Table.from_pandas(mine())), want)


def test_labels_of_another_coordinate_are_pointed_to(demo):
    """As names of systems where the scores are labelled by numbers, and the names are a coordinate."""
    ds = demo.assign_coords(system_name=("system", [f"name {at}" for at in range(demo.sizes["system"])]))
    rows = [{"model": name, "doc": label, "mine": 1.0} for name in ds.system_name.values for label in ds.input.values]
    frame = pd.DataFrame(rows)
    frame["mine"] = np.arange(len(frame))
    on = {"system": "model", "input": "doc"}
    with pytest.raises(
        ValueError, match=r"no row matches an output: .*; pass on=\{'system_name': 'model', 'input': 'doc'\}"
    ):
        xsumstat.add_metric(ds, frame, on=on)
    added = xsumstat.add_metric(ds, frame, on={"system_name": "model", "input": "doc"})
    np.testing.assert_array_equal(added.score.sel(metric="mine").values.ravel(), np.arange(len(frame)))
    with pytest.raises(ValueError, match="no row matches an output: [^;]*; input: [^;]*$"):
        xsumstat.add_metric(ds, frame.assign(model="no system"), on=on)
