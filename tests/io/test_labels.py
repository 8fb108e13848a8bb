"""Labels of rows, against a plain loop over the rows."""

import numpy as np
import pandas as pd
import pytest
from conftest import warns

import xsumstat  # noqa: F401
from xsumstat.io import labels


@pytest.mark.parametrize("dtype", [object, "str", "category"])
@pytest.mark.parametrize("seed", range(4))
def test_a_shuffled_frame_is_filled_as_a_loop_over_its_rows_fills_it(dtype, seed):
    rng = np.random.default_rng(seed)
    names = [(f"m{a}", f"s{b}", f"i{c}") for a in range(3) for b in range(4) for c in range(5)]
    rows = rng.permutation(len(names))[: 40 + seed]
    frame = pd.DataFrame([names[row] for row in rows], columns=["metric", "system", "input"]).astype(dtype)
    frame["score"] = rng.normal(size=len(rows))
    frame["team"] = ["u" if system in ("s0", "s2") else None for system in frame["system"]]
    found = frame.meta.to_scores()
    cells = {(row.metric, row.system, row.input): row.score for row in frame.itertuples()}
    for dim in ("metric", "system", "input"):
        assert found[dim].values.tolist() == list(dict.fromkeys(frame[dim]))
    for m, s, i in np.ndindex(found.score.shape):
        cell = tuple(found[dim].values[at] for dim, at in (("metric", m), ("system", s), ("input", i)))
        assert cells.pop(cell, None) == found.score.values[m, s, i] or np.isnan(found.score.values[m, s, i])
    assert not cells
    assert found.team.dims == ("system",)
    teams = dict(zip(found.system.values, found.team.values, strict=True))
    assert {system for system, team in teams.items() if team == "u"} == {"s0", "s2"}


def test_each_label_once_and_the_place_of_every_rows():
    column = pd.Series(["b", "a", " b", "b", "c"])
    with warns("labels_trimmed", "' b'"):
        found = labels.of_rows(column, "system", "model", "row {}".format)
    assert found.each.tolist() == ["b", "a", "c"] and found.codes.tolist() == [0, 1, 0, 0, 2]
    assert found.firsts().tolist() == [0, 1, 4]


@pytest.mark.parametrize("values, dim", [([1, 2, 1, 2], "x"), ([1, 1, 2, 2], "y"), ([1, 2, 3, 4], None)])
def test_a_column_describes_the_first_dim_whose_labels_have_one_value_each(values, dim):
    dims = {
        "x": labels.of_rows(pd.Series(["a", "b", "a", "b"]), "x", "x", str),
        "y": labels.of_rows(pd.Series([7, 7, 8, 8]), "y", "y", str),
    }
    found = labels.described(pd.Series(values), dims)
    if dim is None:
        assert found is None
    else:
        assert found is not None and found[0] == dim and found[1].tolist() == [1, 2]
