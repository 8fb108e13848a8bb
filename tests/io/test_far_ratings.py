"""A grade far beyond all others is remarked on; a scale with rare grades is not."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xsumstat
from xsumstat.io import far_ratings


def grades(*extra, scale=(1, 2, 3, 4, 5), n=60):
    values = np.resize(np.array(scale, dtype=float), n)
    values[: len(extra)] = extra
    labels = {"system": ["a", "b", "c"], "input": [f"p{at}" for at in range(n // 3)]}
    return xr.DataArray(values.reshape(3, -1), labels, ("system", "input"))


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        (grades(33), 1, 5),
        (grades(-7), 1, 5),  # 8 below 1, and the range is 4
        (grades(10), 1, 5),
        (grades(33, 55, n=300), 1, 5),
        (grades(33, np.nan), 1, 5),
        (grades(99, scale=(0, 5, 10)), 0, 10),
    ],
)
def test_a_grade_far_beyond_all_others_is_named(values, low, high):
    told = rf"grades from {low} to {high}, except -?\d+ \(system 'a', input 'p0'"
    with pytest.warns(xsumstat.CautionWarning, match=told):
        far_ratings.report(values)


@pytest.mark.parametrize(
    "values",
    [
        grades(),
        grades(9),  # 4 beyond 5, as far as 5 is from 1
        grades(6),
        grades(33.5),
        grades(33, 34),  # two of 60 are no slip
        grades(7, scale=(0, 1)),
        grades(33, n=18),
        grades(*range(6, 12), 90, scale=(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)),
        grades(400, scale=range(1, 31)),
    ],
)
def test_other_scales_are_not_remarked_on(values, recwarn):
    far_ratings.report(values)
    assert not recwarn.list


@pytest.mark.parametrize(("values", "told"), [(grades(*[-1] * 6), "1 to 5, and -1 in 6 ratings"),
                                              (grades(*[-99] * 20), "1 to 5, and -99 in 20 ratings")])  # fmt: skip
def test_a_negative_code_beside_grades_is_named(values, told):
    with pytest.warns(xsumstat.CautionWarning, match=f"grades from {told}: write it as NaN"):
        far_ratings.report(values)


def test_a_zero_of_one_rater_alone_and_codes_beside_half_grades_are_named(recwarn):
    halves = grades(*[-1] * 6, scale=(1, 1.5, 2, 2.5, 3, 3.5, 4))
    with pytest.warns(xsumstat.CautionWarning, match="1 to 4, and -1 in 6 ratings"):
        far_ratings.report(halves)
    kim, bob = (grades(*[0] * n).expand_dims(rater=[name]) for n, name in ((5, "kim"), (0, "bob")))
    with pytest.warns(xsumstat.CautionWarning, match="1 to 5, and 0 in 5 ratings by 'kim' alone: write it as NaN"):
        far_ratings.report(xr.concat([kim, bob], "rater"))
    both = xr.concat([kim, kim.assign_coords(rater=["bob"])], "rater")
    recwarn.clear()
    far_ratings.report(both)
    assert not recwarn.list


@pytest.mark.parametrize("scale", [(-1, 0, 1), (-2, -1, 1, 2), (0, 1, 2, 3), (-1, 1), (-0.5, 1, 2, 3)])
def test_scales_with_negative_grades_are_not_remarked_on(scale, recwarn):
    far_ratings.report(grades(scale=scale))
    assert not recwarn.list


def test_a_frame_of_raters_is_remarked_on_once_and_labels_are_written_as_numbers():
    human = grades(33).assign_coords(input=np.arange(20))
    frame = human.to_series().rename("ann_1").reset_index().assign(ann_2=3)
    with pytest.warns(xsumstat.CautionWarning, match=r"\(system 'a', input 0, rater 'ann_1'\)") as caught:
        xsumstat.add_gold(xr.Dataset({"score": human.expand_dims(metric=["rouge"])}), frame)
    assert [each.message.code for each in caught] == ["far_rating"]


def test_human_scores_and_ratings_are_looked_at():
    human = grades(33)
    ds = xr.Dataset({"score": human.expand_dims(metric=["rouge"])})
    with pytest.warns(xsumstat.CautionWarning, match="except 33") as caught:
        xsumstat.add_gold(ds, human)
    assert [each.message.code for each in caught] == ["far_rating"]
    frame = human.to_series().rename("ann").reset_index().assign(bob=3.0, rouge=np.arange(60.0))
    with pytest.warns(xsumstat.CautionWarning, match=r"except 33 \(system 'a', input 'p0', rater 'ann'\)"):
        pd.DataFrame(frame).meta.to_scores(wide=True, ratings=["ann", "bob"])
