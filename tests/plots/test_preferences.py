"""Pictures of preferences."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
from preference_cases import preferences  # noqa: E402

import xsumstat  # noqa: E402

newest = pytest.mark.skipif(not mpl.__version__.startswith("3.11."), reason="the kept images are by matplotlib 3.11")


def image(style="default"):
    """As in the other files of images: a picture at 50 dots an inch, the dark twin slow."""
    compared = pytest.mark.mpl_image_compare(
        baseline_dir="baseline", style=style, tolerance=2, savefig_kwargs={"dpi": 50}, deterministic=True
    )
    return compared if style == "default" else lambda picture: pytest.mark.slow(compared(picture))


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


def test_what_is_not_drawn():
    with pytest.raises(ValueError, match=r"plot.raters\(\) draws a result of ds.meta.position_bias"):
        xsumstat.load_dataset("demo").meta.corr("human").meta.plot.raters()
    with pytest.raises(ValueError, match="has no raters to draw"):
        positions().drop_vars("ci_low").meta.plot.raters()


@newest
@image()
def test_image_raters():
    return positions().meta.plot.raters().figure


@newest
@image("dark_background")
def test_image_raters_dark():
    return positions().meta.plot.raters().figure
