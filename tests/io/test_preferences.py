"""Preferences from frames."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xsumstat
from xsumstat.core.caveats import LeftOutWarning


def frame(**columns):
    base = {"left": ["x", "y", "x"], "right": ["y", "x", "y"], "choice": ["x", "y", "tie"], "prompt": [1, 1, 2]}
    return pd.DataFrame({**base, **columns})


def values(table, **how):
    found = xsumstat.to_preferences(table, **how)
    return found["preference"].isel(pair=0, rater=0).values.tolist()


def test_the_pair_is_sorted_and_the_order_is_that_of_the_columns():
    ds = xsumstat.to_preferences(frame())
    assert ds["preference"].dims == ("prompt", "pair", "order", "rater") and ds["preference"].dtype == float
    assert ds["left"].values.tolist() == ["x"] and ds["right"].values.tolist() == ["y"]
    assert ds["pair"].values.tolist() == ["x | y"] and ds["kind"].values.tolist() == ["judge"]
    # Prompt 1: x was chosen when it was first, and y when y was first; prompt 2: a tie.
    np.testing.assert_array_equal(ds["preference"].isel(pair=0, rater=0), [[1, -1], [0, np.nan]])


@pytest.mark.parametrize(
    "left, right, tie",
    [
        ("A", "B", "C"),
        ("left", "right", "tie"),
        ("1", "2", "draw"),
        (1, 2, "tie"),
        (1, -1, 0),
        (1.0, 2.0, 1.5),
        ("model_a", "model_b", "tie (bothbad)"),
        ("[[A]]", "[[B]]", "[[C]]"),
        ("Model 1", "Model 2", "Both good"),
        ("large", "small", "same"),
    ],
)
def test_words_of_a_choice(left, right, tie):
    table = frame(left=["large"] * 3, right=["small"] * 3, choice=[left, right, tie], prompt=[1, 2, 3])
    np.testing.assert_array_equal(values(table), [[1, np.nan], [-1, np.nan], [0, np.nan]])
    turned = table.rename(columns={"left": "right", "right": "left"})
    want = [[np.nan, -1], [np.nan, 1], [np.nan, 0]]
    if left != "large":  # a name stays the name of the same system
        np.testing.assert_array_equal(values(turned), want)


def test_unknown_words_are_refused_with_the_nearest():
    with pytest.raises(ValueError, match=r"'choice' holds 'modle_a' in row 1; did you mean 'model_a'\?"):
        xsumstat.to_preferences(frame(choice=["x", "modle_a", "y"]))
    with pytest.raises(ValueError, match=r"holds '0' in row 1"):  # 0 and 1 could be either
        xsumstat.to_preferences(frame(choice=[1, 0, 1]))
    two = pd.DataFrame(
        [("x", "y", "x", 1), ("v", "w", "v", 1), ("v", "w", "x", 2)], columns=["left", "right", "choice", "prompt"]
    )
    with pytest.raises(ValueError, match=r"chooses 'x' in row 2, which is neither system of the row"):
        xsumstat.to_preferences(two)


def test_a_system_called_as_a_word_is_refused_where_it_matters():
    table = frame(left=["B", "B", "B"], right=["A", "A", "A"], choice=["A", "B", "tie"], prompt=[1, 2, 3])
    with pytest.raises(ValueError, match="'A', which is a system and also means the left system"):
        xsumstat.to_preferences(table)
    right = frame(left=["A", "A", "A"], right=["B", "B", "B"], choice=["A", "B", "tie"], prompt=[1, 2, 3])
    np.testing.assert_array_equal(values(right), [[1, np.nan], [-1, np.nan], [0, np.nan]])


def test_a_column_of_orders():
    table = frame(left=["a"] * 3, right=["b"] * 3, choice=["left", "right", "tie"], prompt=[1, 1, 2])
    want = [[1, -1], [0, np.nan]]
    for orders in (["original", "swapped", "original"], [False, True, False], [0, 1, 0], [1, 2, 1],
                   ["left first", "right first", "left first"]):  # fmt: skip
        np.testing.assert_array_equal(values(table.assign(shown=orders), order="shown"), want)
    with pytest.raises(ValueError, match=r"'shown' holds 'sideways' in row 0; order must be 'left first'"):
        xsumstat.to_preferences(table.assign(shown=["sideways"] * 3), order="shown")
    with pytest.raises(ValueError, match="has no order in row 1"):
        xsumstat.to_preferences(table.assign(shown=["swapped", None, "swapped"]), order="shown")


def test_kinds_of_raters():
    table = frame(who=["ann", "gpt", "ann"])
    for kind in ({"human": "ann"}, {"human": ["ann"]}, {"judge": ["gpt"]}, {"human": "ann", "judge": "gpt"}):
        ds = xsumstat.to_preferences(table, rater="who", kind=kind)
        assert dict(zip(ds["rater"].values, ds["kind"].values, strict=True)) == {"ann": "human", "gpt": "judge"}
    ds = xsumstat.to_preferences(table.assign(is_=["human", "judge", "human"]), rater="who", kind="is_")
    assert ds["kind"].values.tolist() == ["human", "judge"]
    with pytest.raises(ValueError, match=r"unknown rater in kind\['human'\] 'anne'; did you mean 'ann'"):
        xsumstat.to_preferences(table, rater="who", kind={"human": "anne"})
    with pytest.raises(ValueError, match="unknown kind 'people'"):
        xsumstat.to_preferences(table, rater="who", kind={"people": "ann"})
    with pytest.raises(ValueError, match="a rater must be of one kind in all rows"):
        xsumstat.to_preferences(table.assign(is_=["human", "judge", "judge"]), rater="who", kind="is_")
    with pytest.raises(ValueError, match="as 'human' and as 'judge'"):
        xsumstat.to_preferences(table, rater="who", kind={"human": "ann", "judge": "ann"})


def test_what_describes_prompts_and_raters_is_kept():
    table = frame(topic=["x", "x", "y"], tool=["t", "t", "t"], note=["n", "o", "n"], who=["gpt"] * 3)
    with pytest.warns(LeftOutWarning, match="left out column 'note': no values"):
        ds = xsumstat.to_preferences(table, rater="who")
    assert ds["topic"].dims == ("prompt",) and ds["topic"].values.tolist() == ["x", "y"]


def test_several_columns_name_a_prompt():
    table = frame(turn=[1, 2, 1]).assign(choice=["x", "y", "tie"])
    with pytest.raises(ValueError, match="rename the column 'prompt'"):
        xsumstat.to_preferences(table, prompt=["prompt", "turn"])
    renamed = table.rename(columns={"prompt": "question"})
    ds = xsumstat.to_preferences(renamed, prompt=["question", "turn"])
    assert ds["prompt"].values.tolist() == ["1, 1", "1, 2", "2, 1"]
    assert ds["question"].values.tolist() == [1, 1, 2] and ds["turn"].values.tolist() == [1, 2, 1]
    assert ds.attrs == {"cluster": "question"}


def test_numbers_of_outputs():
    table = frame(len_l=[3, 9, 5], len_r=[9, 3, np.nan])
    ds = xsumstat.to_preferences(table, outputs={"length": ("len_l", "len_r")})
    assert ds["length"].dims == ("prompt", "system")
    np.testing.assert_array_equal(ds["length"], [[3, 9], [5, np.nan]])
    with pytest.raises(ValueError, match=r"outputs\['length'\] gives one output two values: row 0, prompt 1;"):
        xsumstat.to_preferences(table.assign(len_l=[3, 8, 5]), outputs={"length": ("len_l", "len_r")})
    with pytest.raises(ValueError, match=r"outputs\['length'\]='len_x' is not a column; did you mean"):
        xsumstat.to_preferences(table, outputs={"length": ("len_x", "len_r")})
    with pytest.raises(ValueError, match="must be two columns"):
        xsumstat.to_preferences(table, outputs={"length": ("len_l",)})
    with pytest.raises(TypeError, match="outputs must be a mapping"):
        xsumstat.to_preferences(table, outputs="length")


def test_what_is_wrong_is_said():
    for change, said in {
        "a system beside itself": (
            frame(left=["y", "y", "x"]),
            "compared with itself in 1 row, first in row 0",
        ),
        "twice": (
            pd.concat([frame(), frame()], ignore_index=True),
            "3 choices repeated, the first in",
        ),
        "no prompt": (frame(prompt=[1, None, 2]), r"1 row without prompt"),
        "no column": (frame().rename(columns={"left": "lft"}), r"left='left' is not a column; did you mean 'lft'"),
        "no choice": (frame(choice=[None] * 3), "'choice' holds no choice"),
        "no rows": (frame().iloc[:0], "no rows"),
        "numbers and text": (frame(left=[1, 2, 1]), "must both be text, or neither"),
    }.values():
        with pytest.raises(ValueError, match=said):
            xsumstat.to_preferences(change)
    with pytest.raises(TypeError, match="holds lists"):
        xsumstat.to_preferences(frame(choice=[["x"], ["y"], ["x"]]))
    with pytest.raises(ValueError, match="kind='human' is not a column"):
        xsumstat.to_preferences(frame(), kind="human")


def test_rows_without_a_choice_are_counted():
    with pytest.warns(LeftOutWarning, match=r"2 of 3 rows have no choice"):
        ds = xsumstat.to_preferences(frame(choice=["x", "error", None]))
    assert int(ds["preference"].notnull().sum()) == 1 and ds.sizes["prompt"] == 2


def test_too_many_cells_are_refused_before_they_are_made():
    n = 3000
    one, two = [f"s{at % 60}" for at in range(n)], [f"s{(at * 7 + 1) % 61}" for at in range(n)]
    table = pd.DataFrame({"left": one, "right": two, "choice": "left", "prompt": range(n)})
    table = table.assign(who=[f"u{at}" for at in range(n)])
    table = table[table["left"] != table["right"]]
    with pytest.raises(ValueError, match="are the most: leave rater= away"):
        xsumstat.to_preferences(table, rater="who")
    assert xsumstat.to_preferences(table).sizes["rater"] == 1


def test_the_frame_is_not_changed_and_numbers_can_name_systems():
    table = frame(left=[10, 9, 10], right=[9, 10, 9], choice=[10, 9, "tie"])
    before = table.copy(deep=True)
    ds = table.meta.to_preferences()
    pd.testing.assert_frame_equal(table, before)
    assert ds["left"].values.tolist() == [9] and ds["right"].values.tolist() == [10]
    np.testing.assert_array_equal(ds["preference"].isel(pair=0, rater=0), [[1, -1], [np.nan, 0]])


def test_odd_names(tmp_path):
    odd = ["human $x_1$ <b>", "系统"]
    table = frame(left=[odd[0]] * 3, right=[odd[1]] * 3, choice=[*odd, "tie"], prompt=["РУЖ", "📏", "q | r"])
    ds = xsumstat.to_preferences(table)
    assert int(ds["preference"].notnull().sum()) == 3
    pytest.importorskip("netCDF4")
    ds.to_netcdf(tmp_path / "p.nc")
    assert xr.load_dataset(tmp_path / "p.nc")["preference"].identical(ds["preference"])
