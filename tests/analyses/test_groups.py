import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import of_code
from helpers import by_turns

import xsumstat
from xsumstat.analyses import groups


@pytest.mark.parametrize("level", ["system", "input"])
def test_corr_by_group_is_corr_of_each_slice(demo, level):
    got = demo.meta.corr("human", level=level, by="system_type")
    assert got.correlation.dims == ("metric", "system_type") and got.attrs["by"] == "system_type"
    assert got.system_type.values.tolist() == ["abstractive", "extractive", "all"]
    for group in ("abstractive", "extractive"):
        want = demo.sel(system=demo.system_type == group).meta.corr("human", level=level)
        np.testing.assert_array_equal(got.correlation.sel(system_type=group), want.correlation)
        np.testing.assert_array_equal(got.n_undefined.sel(system_type=group), want.n_undefined)
    np.testing.assert_array_equal(
        got.correlation.sel(system_type="all"), demo.meta.corr("human", level=level).correlation
    )


def test_ci_by_group_is_ci_of_each_slice_on_one_seed(demo):
    keywords = {"level": "input", "n_resamples": 99, "keep_samples": True}
    got = demo.meta.ci("human", by="system_type", rng=4, **keywords)
    for group in ("abstractive", "extractive"):
        want = demo.sel(system=demo.system_type == group).meta.ci("human", rng=4, **keywords)
        for name in want.data_vars:
            np.testing.assert_array_equal(got[name].sel(system_type=group), want[name])
    fresh = demo.meta.ci("human", by="system_type", method="bootstrap", n_resamples=99)
    again = demo.meta.ci("human", by="system_type", method="bootstrap", n_resamples=99, rng=int(fresh.attrs["seed"]))
    xr.testing.assert_identical(fresh, again)
    gaps = demo.meta.ci("human", metric="judge", other=["rouge"], by="system_type", n_resamples=99, rng=1)
    assert gaps.difference.dims == ("metric", "system_type", "other_metric")


def test_groups_of_inputs_and_gold_given_as_an_array(demo):
    ds = demo.assign_coords(topic=("input", np.arange(30) % 3))
    human = demo.score.sel(metric="human", drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = ds.meta.corr(human, metric="judge", by="topic")
        bare = ds.meta.corr(gold=human.drop_vars(["system", "input"]), metric="judge", by="topic")
    assert got.topic.values.tolist() == ["0", "1", "2", "all"]
    for topic in range(3):
        part = ds.isel(input=np.arange(30) % 3 == topic)
        want = part.meta.corr("human", metric="judge").correlation
        np.testing.assert_array_equal(got.correlation.sel(topic=str(topic)), want)
        np.testing.assert_array_equal(bare.correlation.sel(topic=str(topic)), want)
    kept = ds.meta.corr("human", level="input", average=False, by="system_type")
    assert kept.correlation.dims == ("metric", "system_type", "input")
    with pytest.raises(ValueError, match="groups the labels of 'input', which the result keeps"):
        ds.meta.corr("human", level="input", average=False, by="topic")


def test_a_group_without_an_answer_is_nan_and_said(demo):
    kinds = demo.system_type.values.copy()
    kinds[0] = "human"
    ds = demo.assign_coords(system_type=("system", kinds))
    with pytest.warns(UserWarning) as caught:
        got = ds.meta.corr("human", by="system_type")
    way = "use level='global', which correlates single outputs"
    reason = f"level='system' correlates over systems and needs at least 2, got 1; {way}"
    assert f"system_type='human' has no result: {reason}" in [str(each.message) for each in caught]
    assert np.isnan(got.correlation.sel(system_type="human")).all() and got.n_undefined.dtype.kind == "i"
    assert (got.n_undefined == 0).all()
    assert not np.isnan(got.correlation.sel(system_type="all")).any()
    kinds = demo.system_type.values.astype(object)
    kinds[:9] = None
    with pytest.warns(UserWarning) as caught:
        demo.assign_coords(system_type=("system", kinds)).meta.corr("human", by="system_type")
    texts = [str(each.message) for each in caught]
    assert "9 systems without system_type: not in any group" in texts
    assert any(text.startswith("system_type='abstractive': only 3 systems") for text in texts)


def test_groups_of_any_kind_have_names(demo):
    years = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]")
    ds = demo.assign_coords(
        year=("system", np.repeat(years, 6)), mixed=("system", ["a", 1] * 6), number=("system", [10, 2] * 6)
    )
    assert [label[:10] for label in ds.meta.corr("human", by="year").year.values[:2]] == ["2020-01-01", "2021-01-01"]
    assert ds.meta.corr("human", by="mixed").mixed.values.tolist() == ["1", "a", "all"]
    got = ds.meta.corr("human", by="number")
    assert got.number.values.tolist() == ["2", "10", "all"]
    want = ds.sel(system=ds.number == 10).meta.corr("human").correlation
    np.testing.assert_array_equal(got.correlation.sel(number="10"), want)
    with pytest.raises(ValueError, match="by='ci_low' is a name that results need"):
        demo.assign_coords(ci_low=("system", ["a", "b"] * 6)).meta.ci("human", by="ci_low", n_resamples=9)


def test_by_takes_arguments_as_ever(demo):
    with pytest.raises(TypeError, match="multiple values for argument 'gold'"):
        demo.meta.corr("human", gold="judge", by="system_type")
    with pytest.raises(TypeError, match="too many positional"):
        demo.meta.corr("human", "judge", by="system_type")
    from xsumstat.analyses.correlation import corr

    want = demo.meta.corr("human", by="system_type")
    xr.testing.assert_identical(corr(ds=demo, gold="human", by="system_type"), want)
    xr.testing.assert_identical(demo.meta.corr(gold="human", by="system_type"), want)
    lazy = demo.chunk()
    xr.testing.assert_equal(lazy.meta.corr("human", by="system_type").compute(), want)


@pytest.mark.slow
def test_by_saves_and_is_lazy(demo, tmp_path):
    got = demo.meta.ci("human", by="system_type", n_resamples=99, rng=1)
    got.to_netcdf(tmp_path / "ci.nc")
    xr.testing.assert_equal(xr.load_dataset(tmp_path / "ci.nc"), got)
    frame = got.meta.to_frame()
    assert len(frame) == 18 and "system_type" in frame.columns
    pytest.importorskip("dask")
    lazy = demo.chunk().meta.ci("human", by="system_type", n_resamples=99, rng=1)
    assert lazy.ci_low.chunks is not None
    xr.testing.assert_equal(lazy.compute(), got)


@pytest.mark.parametrize("by", ["system_typ", "kind", 3, "system"])
def test_by_must_describe_systems_or_inputs(demo, by):
    with pytest.raises(ValueError, match="by must be a coordinate that describes each system or input"):
        demo.meta.corr("human", by=by)
    with pytest.raises(ValueError, match="rename it"):
        demo.assign_coords(system_type=("system", ["all"] * 6 + ["x"] * 6)).meta.corr("human", by="system_type")


def rated(demo):
    noise = xr.DataArray(np.random.default_rng(2).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
    return demo.assign(rating=demo.score.sel(metric="human", drop=True) + noise)


QUESTIONS = {
    "perm_test": {"gold": "human", "n_resamples": 49, "rng": 1},
    "boot_test": {"gold": "human", "n_resamples": 49, "rng": 1},
    "rank": {"gold": "human"},
    "compare_metrics": {"gold": "human"},
    "bias": {"gold": "human", "given": "length"},
    "human_ceiling": {"rating": "rating", "metric": ["judge", "rouge"]},
    "alt_test": {"rating": "rating", "metric": ["judge", "rouge"], "scale": "ranks"},
}


@pytest.mark.parametrize("name", by_turns(QUESTIONS))
def test_the_answer_of_a_group_is_that_of_its_part(demo, name):
    ds = rated(demo)
    ds = ds.assign_coords(half=("input", ["early", "late"] * 15))
    asked = QUESTIONS[name] | ({} if name == "alt_test" else {"level": "input"})
    for by, dim in (("system_type", "system"), ("half", "input")):
        got = getattr(ds.meta, name)(by=by, **asked)
        labels = sorted(set(ds[by].values.tolist()))
        assert got[by].values.tolist() == [*labels, "all"] and got.attrs["by"] == by
        for label in [*labels, "all"]:
            part = ds if label == "all" else ds.isel({dim: (ds[by] == label).values})
            alone = getattr(part.meta, name)(**asked)
            there = got.sel({by: label})
            for each in alone.data_vars:
                values = there[each].sel(metric=alone.metric.values) if "metric" in alone[each].dims else there[each]
                np.testing.assert_array_equal(values, alone[each], err_msg=each)
        assert f"{by} {labels[0]}: " in got.meta.conclusion()


def test_ratings_that_are_given_as_an_array_are_grouped_too(demo):
    ds = rated(demo)
    by_name = ds.meta.human_ceiling("rating", metric="judge", level="input", by="system_type")
    by_array = demo.meta.human_ceiling(ds.rating, metric="judge", level="input", by="system_type")
    xr.testing.assert_equal(by_name, by_array)


def test_groups_repeat_no_warning_and_one_tells_all_that_have_no_answer(demo):
    ds = demo.isel(system=slice(3)).assign_coords(system_type=("system", list("xyz")))
    with pytest.warns(UserWarning) as caught:
        got = ds.meta.corr("human", by="system_type")
    (few,), (none,) = of_code(caught, "few_systems"), of_code(caught, "no_result")
    assert len(caught) == 2 and got.correlation[:, :-1].isnull().all()
    assert none.startswith("system_type='x', 'y', 'z' have no result: level='system'")
    with pytest.warns(UserWarning) as caught:
        by_half = demo.isel(system=slice(3)).assign_coords(half=("input", ["a", "b"] * 15)).meta.ci("human", by="half")
    assert of_code(caught, "few_systems") == [few] and by_half.sizes["half"] == 3


def test_alike_results_are_joined_as_xarray_joins_them():
    ds = xsumstat.load_dataset("demo")
    parts = [ds.isel(input=slice(at, at + 10)).meta.corr("human") for at in (0, 10)]
    index = pd.Index(["a", "b"], name="half", dtype=object)
    slow = xr.concat(parts, dim=index, combine_attrs="override", coords="minimal", compat="override", join="outer")
    fast = groups.joined(parts, index)
    assert groups._alike(*parts)
    xr.testing.assert_identical(fast, slow)
    assert list(fast.variables) == list(slow.variables)
    assert not groups._alike(parts[0], parts[1].isel(metric=slice(1, None)))
    assert not groups._alike(parts[0], parts[1].chunk())
