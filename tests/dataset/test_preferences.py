"""What preferences must hold."""

import numpy as np
import pytest
import xarray as xr
from preference_cases import preferences, verdicts

from xsumstat.dataset.preferences import checked, is_preferences


def test_verdicts_of_both_orders():
    ds = preferences(3, gaps=0.2)
    choices, want = checked(ds), verdicts(ds)
    found = {(ds["prompt"].values[p], ds["pair"].values[q], ds["rater"].values[r]): float(choices.verdicts[p, q, r])
             for p, q, r in np.argwhere(~np.isnan(choices.verdicts))}  # fmt: skip
    assert found == want and 0.0 in found.values()


def test_dims_in_any_order_and_single_labels():
    ds = preferences(1)
    turned = ds.transpose(*list(ds.dims)[::-1])
    np.testing.assert_array_equal(checked(turned).values, checked(ds).values)
    one = checked(ds.sel(rater="gpt"))
    assert one.raters == ("gpt",) and not one.human.any()
    np.testing.assert_array_equal(one.values[..., 0], checked(ds).values[..., ds["rater"].values.tolist().index("gpt")])
    pair = checked(ds.isel(pair=1))
    assert pair.systems == ("alpha", "gamma") and pair.values.shape[1] == 1
    order = checked(ds.isel(order=0, drop=True))
    assert order.values.shape[2] == 1
    np.testing.assert_array_equal(order.verdicts, checked(ds).values[:, :, 0])


def test_lazy_preferences_are_computed():
    pytest.importorskip("dask")
    ds = preferences(1)
    np.testing.assert_array_equal(checked(ds.chunk(prompt=3)).values, checked(ds).values)


def test_clusters():
    ds = preferences(1, n_prompts=6)
    assert checked(ds).clusters.tolist() == list(range(6))
    assert checked(ds, "topic").clusters.tolist() == [0, 0, 1, 1, 2, 2]
    assert checked(ds.assign_attrs(cluster="topic")).cluster == "topic"
    with pytest.raises(
        ValueError, match="cluster must be a coordinate that describes each prompt, got 'topics'; did you"
    ):
        checked(ds, "topics")
    gap = ds.assign_coords(topic=("prompt", [None, "b", "c", "d", "e", "f"]))
    with pytest.raises(ValueError, match="1 prompt without topic"):
        checked(gap, "topic")


@pytest.mark.parametrize(
    "change, said",
    [
        (lambda d: d.drop_vars("preference"), "no variable 'preference': xsumstat.to_preferences"),
        (lambda d: d.drop_vars("left"), "needs the coordinate 'left'"),
        (lambda d: d.expand_dims(language=["en"]), r"additional dim 'language': choose a label of it, ds.isel"),
        (lambda d: d * 2, "must be 1 .*, -1 .*, 0 .a tie. or NaN, got -?2"),
        (lambda d: d * np.nan, "holds no choice"),
        (lambda d: d.isel(prompt=slice(0)), "holds no choice"),
        (lambda d: d.assign_coords(kind=("rater", ["person", "judge", "judge"])), "unknown kind 'person'"),
        (lambda d: d.assign_coords(rater=["ann", "ann", "gpt"]), "repeats 'ann'"),
        (lambda d: d.drop_vars("prompt"), "has no labels along 'prompt'"),
        (lambda d: d.isel(rater=0, drop=True), "'rater' is missing"),
        (lambda d: d.stack(both=["prompt", "pair"]), "'prompt' is missing"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(change, said):
    with pytest.raises(ValueError, match=said):
        checked(change(preferences(1)))


def test_what_is_no_preferences():
    assert is_preferences(preferences(1)) and not is_preferences(xr.Dataset())
    assert not is_preferences(preferences(1).assign_attrs(analysis="corr"))
    with pytest.raises(TypeError, match="must hold numbers"):
        checked(preferences(1).map(lambda each: each.astype(str)))
