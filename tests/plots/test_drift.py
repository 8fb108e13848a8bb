"""Pictures of two versions of a judge."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from images import image  # noqa: E402
from versions_of_a_judge import versions  # noqa: E402

import xsumstat  # noqa: E402, F401


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def drifted(judges=("judge",)):
    pairs = [versions(noise=1.0, shift=(0, 1.0), seed=seed, gaps=False) for seed, _ in enumerate(judges)]
    human = pairs[0][0].score.sel(metric=["human"])
    both = [
        xr.concat([*(pair[at].score.sel(metric=["judge"]) for pair in pairs), human], "metric").to_dataset()
        for at in (0, 1)
    ]
    new, old = (each.assign_coords(metric=[*judges, "human"]) for each in both)
    return new.meta.drift(old, "human", metric=list(judges))


def test_shifts_are_drawn_with_their_limits_over_the_mean_shift():
    found = drifted()
    axis = found.meta.plot.drift()
    one = found.isel(metric=0)
    order = np.argsort(-one.system_shift.values)
    assert [label.get_text() for label in axis.get_yticklabels()] == one.system.values[order].tolist()
    np.testing.assert_array_equal(axis.lines[-1].get_xdata(), one.system_shift.values[order])
    lines = next(each for each in axis.collections if hasattr(each, "get_segments"))
    drawn = np.array([line[:, 0] for line in lines.get_segments()])
    np.testing.assert_array_equal(drawn, np.stack([one.system_shift_low, one.system_shift_high], axis=1)[order])
    assert axis.lines[0].get_xdata()[0] == float(one["shift"])
    band = axis.patches[0].get_extents().transformed(axis.transData.inverted())
    assert [band.x0, band.x1] == pytest.approx([float(one.shift_low), float(one.shift_high)])
    assert axis.get_title().startswith("judge\nagreement changed by ")
    note = " ".join(text.get_text() for text in axis.figure.texts).replace("\n", " ")
    assert "95 % intervals of shifts" in note and "these 4 systems" in note


def test_each_metric_has_a_panel_and_given_axes_one():
    found = drifted(("judge", "other"))
    axes = found.meta.plot.drift(order=["s1", "s0"])
    assert [axis.get_title().split("\n")[0] for axis in axes] == ["judge", "other"]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["s1", "s0"]
    _, given = plt.subplots()
    assert found.meta.plot.drift(metric="other", ax=given) is given
    with pytest.raises(ValueError, match="draws a result of ds.meta.drift"):
        found.assign_attrs(analysis="ci").meta.plot.drift()


def test_the_change_of_agreement_is_drawn_as_a_difference():
    axis = drifted(("judge", "other")).meta.plot.forest()
    assert axis.get_xlabel() == "difference in Pearson's r with human"


@image()
def test_drift():
    return drifted().meta.plot.drift().figure


@image("dark_background")
def test_drift_of_two_judges_dark():
    return drifted(("judge", "judge $x$ <b>")).meta.plot.drift()[0].figure
