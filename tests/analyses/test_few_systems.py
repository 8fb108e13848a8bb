"""Few systems: what is answered over inputs alone, and what is said of intervals where there are none."""

import functools
import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import dataset


def few(systems, inputs=20, seed=0):
    rng = np.random.default_rng(seed)
    z = 0.3 * rng.normal(size=(systems, 1)) + rng.normal(size=(systems, inputs))
    return dataset(np.array([z, z + rng.normal(size=z.shape), z + 2 * rng.normal(size=z.shape)]))


def texts(ask):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ask()
    return found, [str(each.message) for each in caught]


@pytest.mark.parametrize("level", ["input", "global", "within_system"])
@pytest.mark.parametrize("keywords", [{}, {"metric": "m1", "other": "m2"}])
def test_intervals_over_inputs_alone_are_there_and_not_warned_of(level, keywords):
    got, said = texts(lambda: few(3).meta.ci("m0", level=level, resample="input", **keywords))
    assert np.isfinite(got.ci_low).all() and got.attrs["method"] == "jackknife" and said == []
    assert "jackknife" in got.meta.conclusion() and "jackknife" in got.meta.methods()


@pytest.mark.parametrize("level", ["input", "global", "within_system"])
def test_fewer_than_five_systems_are_spoken_of_alone_by_default(level):
    for systems, resample in ((4, "input"), (5, "both")):
        ds = few(systems)
        for question in ("ci", "compare_metrics"):
            ask = functools.partial(getattr(ds.meta, question), "m0", level=level)
            got, said = texts(ask)
            assert got.attrs["resample"] == resample and said == []
            xr.testing.assert_identical(got, ask(resample=resample))
            whom = "these systems" if systems < 5 else "systems like these"
            assert got.attrs["scope"] == whom
        assert (f"these {systems} systems on inputs like these" in got.meta.conclusion()) == (systems < 5)


def test_one_system_is_enough_where_the_level_needs_no_two():
    for level in ("global", "within_system"):
        assert np.isfinite(few(1).meta.ci("m0", level=level, resample="input").ci_low).all()
    with pytest.raises(ValueError, match="needs at least 2"):
        few(1).meta.ci("m0", level="input", resample="input")


@pytest.mark.parametrize("question", ["ci", "compare_metrics"])
def test_two_systems_that_differ_on_few_inputs_are_told(question):
    ds = few(2, 60)
    passed = ds.assign(score=(ds.score > 0).astype(float))
    apart = np.abs(passed.score.isel(system=0) - passed.score.isel(system=1)) > 0
    least = int((apart & apart.sel(metric="m0")).sel(metric=["m1", "m2"]).sum("input").min())
    said = texts(lambda: getattr(passed.meta, question)("m0", level="input"))[1]
    assert least < 20 and any(f"differ by a metric and by the gold on {least} input(s) only" in text for text in said)
    for level, part in (("global", passed), ("input", ds), ("input", few(3, 10))):
        assert not any("gold on" in text for text in texts(lambda: getattr(part.meta, question)("m0", level=level))[1])  # noqa: B023


def test_few_systems_are_said_where_new_ones_are_spoken_of():
    text = "only 3 systems: a correlation over so few says little"
    ds = few(3)
    for level, resample, is_said in (
        ("input", "input", False),
        ("input", "both", True),
        ("input", "system", True),
        ("system", "input", True),
    ):
        assert (text in texts(lambda at=level, over=resample: ds.meta.ci("m0", level=at, resample=over))[1]) == is_said
    chunked = ds.chunk() if pytest.importorskip("dask") else ds
    assert text not in texts(lambda: chunked.meta.ci("m0", level="input", resample="input").compute())[1]
    asked = {"metric": "m1", "other": "m2", "level": "input", "n_resamples": 20, "rng": 0}
    assert text not in texts(lambda: ds.meta.perm_test("m0", resample="input", **asked))[1]
    assert text in texts(lambda: ds.meta.perm_test("m0", **asked))[1]


@pytest.mark.filterwarnings("ignore")
def test_nothing_is_said_of_intervals_where_there_are_none():
    got = few(3).meta.ci("m0", level="input", resample="both")
    assert np.isnan(got.ci_low).all()
    said = got.meta.conclusion()
    assert "There is no interval." in said and "jackknife" not in said and "verlapping" not in said
    assert "interval" not in got.meta.methods()
