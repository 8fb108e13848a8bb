"""Pictures of preferences."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from images import image  # noqa: E402
from preference_cases import preferences  # noqa: E402

import xsumstat  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def positions():
    ds = preferences(3, people=(), judges=("gpt", "qwen $x$ <b>"), n_prompts=30, pull=0.4)
    return ds.meta.position_bias()


def test_raters_are_drawn_with_their_limits():
    found = positions()
    axis = found.meta.plot.raters()
    order = np.argsort(-found.position_bias.values)
    assert [label.get_text() for label in axis.get_yticklabels()] == found.rater.values[order].tolist()
    points = axis.lines[-1].get_xdata()
    np.testing.assert_array_equal(points, found.position_bias.values[order])
    drawn = np.array([line[:, 0] for line in axis.collections[0].get_segments()])
    np.testing.assert_array_equal(drawn, np.stack([found.ci_low, found.ci_high], axis=1)[order])
    assert axis.get_xlabel() == "net share of pairs that move to the first"
    note = " ".join(text.get_text() for text in axis.figure.texts)
    assert "sign tests" in note.replace("\n", " ") and "3 systems on prompts like these" in note.replace("\n", " ")
    axis = found.meta.plot.raters(order=["gpt"], title="one")
    assert [label.get_text() for label in axis.get_yticklabels()] == ["gpt"]


def test_a_single_rater_and_given_axes():
    _, given = plt.subplots()
    found = positions()
    assert found.isel(rater=0).meta.plot.raters(ax=given) is given
    assert len(given.get_yticklabels()) == 1


def strengths():
    ds = preferences(3, judges=("gpt",), n_prompts=60)
    early = xr.DataArray(np.arange(60) < 30, dims="prompt")
    return ds.assign(preference=ds["preference"].where((ds["kind"] != "human") | early)).meta.rank_systems()


def test_people_among_raters_are_a_band():
    found = preferences(2).meta.preference_agreement()
    axis = found.meta.plot.raters(order="given")
    assert [label.get_text() for label in axis.get_yticklabels()] == ["gpt", "people"]
    band = axis.patches[0]
    ends = found.sel(rater="people")
    assert band.get_x() == float(ends.ci_low) and band.get_x() + band.get_width() == pytest.approx(float(ends.ci_high))


def test_covariates_have_panels():
    found = preferences(2).meta.preference_bias(given=["length", "family"])
    axes = found.meta.plot.raters()
    assert [axis.get_title() for axis in axes] == ["length", "family=own"]


def test_strengths_of_systems_by_each():
    found = strengths()
    axis = found.meta.plot.strengths()
    order = found.strength.mean("rater").to_series().sort_values(ascending=False).index.tolist()
    assert [label.get_text() for label in axis.get_yticklabels()] == order
    for at, rater in enumerate(found.rater.values):
        own = found.sel(rater=rater, system=order)
        np.testing.assert_array_equal(axis.lines[1 + at].get_xdata(), own.strength)
        segments = np.array([line[:, 0] for line in axis.collections[at].get_segments()])
        np.testing.assert_array_equal(segments, np.stack([own.ci_low, own.ci_high], axis=1))
    named = [text.get_text() for text in axis.figure.legends[0].get_texts()]
    assert named == ["by people", "by gpt", "by people + gpt"]
    assert not found.sel(rater="gpt").meta.plot.strengths().figure.legends
    with pytest.raises(ValueError, match="has no strengths of systems"):
        found.drop_vars("ci_low").meta.plot.strengths()


def test_what_is_not_drawn():
    with pytest.raises(ValueError, match=r"plot.raters\(\) draws a result of ds.meta.preference_agreement, ds.meta"):
        xsumstat.load_dataset("demo").meta.corr("human").meta.plot.raters()
    with pytest.raises(ValueError, match="has no raters to draw"):
        positions().drop_vars("ci_low").meta.plot.raters()


@image()
def test_image_raters():
    return positions().meta.plot.raters().figure


@image()
def test_image_strengths():
    return strengths().meta.plot.strengths().figure


@image("dark_background")
def test_image_strengths_dark():
    return strengths().meta.plot.strengths().figure


@image("dark_background")
def test_image_raters_dark():
    return positions().meta.plot.raters().figure
