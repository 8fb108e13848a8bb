"""The picture of the inputs that were drawn: what is drawn are the numbers."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from images import figure_of, image  # noqa: E402

import xsumstat  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def drawn_and_rated():
    """120 inputs, 30 of them drawn; 4 of these without ratings, and 3 others rated."""
    rng = np.random.default_rng(1)
    score = rng.normal(size=(2, 4, 120)) + rng.normal(size=120)
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), score)},
        {
            "metric": ["judge", "cost"],
            "system": list("abcd"),
            "input": np.arange(120),
            "doubt": ("input", rng.random(120)),
        },
    )
    ds = ds.assign_coords(higher_is_better=("metric", [True, False]))
    drawn = ds.meta.sample_inputs(30, strata="unsure", unsure="doubt", rng=2)
    rated = drawn.drawn.values.copy()
    rated[np.flatnonzero(rated)[:4]] = False
    rated[np.flatnonzero(~drawn.drawn.values)[:3]] = True
    human = (ds.score[0] + 3).where(xr.DataArray(rated, dims="input")).reset_coords(drop=True)
    return drawn, human, rated


def shown(axis):
    """The horizontal places of each kind's marks, by the legend's words."""
    words = [text.get_text() for text in axis.figure.legends[0].get_texts()]
    lines = [line for line in axis.lines if line.get_marker() not in ("None", None, "")]
    looks = [
        handle.get_marker() + str(handle.get_markerfacecolor()) for handle in axis.figure.legends[0].legend_handles
    ]
    found = {word: [] for word in words}
    for line in lines:
        word = words[looks.index(line.get_marker() + str(line.get_markerfacecolor()))]
        found[word] += list(zip(np.round(line.get_ydata()).astype(int), line.get_xdata(), strict=True))
    return found


def expected(ds, metric, which):
    rows = {name: at for at, name in enumerate(sorted(set(ds.draw_stratum.values)))}
    means = ds.score.sel(metric=metric).mean("system").values
    return sorted((rows[ds.draw_stratum.values[at]], means[at]) for at in np.flatnonzero(which))


@pytest.mark.parametrize("metric", [None, "cost"])
def test_marks_are_at_the_mean_scores_in_the_row_of_their_stratum(metric):
    ds, _, _ = drawn_and_rated()
    axis = ds.meta.plot.sample_inputs(metric=metric)
    marks = shown(axis)
    for word, which in (("drawn", ds.drawn.values), ("not drawn", ~ds.drawn.values)):
        np.testing.assert_allclose(sorted(marks[word]), expected(ds, metric or "judge", which))
    assert axis.get_xlabel() == f"mean score by {metric or 'judge'}"
    for at, label in enumerate(axis.get_yticklabels()):
        here = ds.draw_stratum.values == f"unsure {at + 1} of 4"
        p = f"{ds.inclusion_probability.values[here][0]:.2f}".lstrip("0")
        assert label.get_text() == f"unsure {at + 1} of 4\n{ds.drawn.values[here].sum()} of 30, probability {p}"


@pytest.mark.filterwarnings("ignore::xsumstat.LeftOutWarning")
def test_with_human_scores_it_tells_who_was_rated():
    ds, human, rated = drawn_and_rated()
    joined = xsumstat.add_gold(ds, human)
    given = plt.figure(figsize=(6, 4), layout="constrained").subplots()
    assert joined.meta.plot.sample_inputs(ax=given, title="mine") is given and given.get_title() == "mine"
    marks, drawn = shown(joined.meta.plot.sample_inputs()), ds.drawn.values
    for word, which in (
        ("drawn and rated", drawn & rated),
        ("drawn, not rated", drawn & ~rated),
        ("rated, not drawn", ~drawn & rated),
        ("not drawn", ~drawn & ~rated),
    ):
        np.testing.assert_allclose(sorted(marks[word]), expected(ds, "judge", which))


def test_it_is_offered_where_inputs_were_drawn():
    ds, _, _ = drawn_and_rated()
    assert "sample_inputs" in dir(ds.meta.plot)
    bare = ds.drop_vars(["drawn", "inclusion_probability", "draw_stratum"])
    assert "sample_inputs" not in dir(bare.meta.plot)
    with pytest.raises(ValueError, match="pictures of scores: plot.heatmap, plot.distribution, plot.scatter_matrix"):
        bare.meta.plot.sample_inputs()
    many = bare.assign_coords(topic=("input", np.repeat(np.arange(24), 5))).meta.sample_inputs(60, strata="topic")
    axis = many.meta.plot.sample_inputs()
    assert [each.get_text().split("\n")[0] for each in axis.get_yticklabels()] == [str(at) for at in range(20)]
    assert "the first 20 of 24 strata" in axis.figure.texts[0].get_text()


@image()
def test_image():
    ds, human, _ = drawn_and_rated()
    with pytest.warns(xsumstat.LeftOutWarning):
        joined = xsumstat.add_gold(ds, human)
    return figure_of(joined.meta.plot.sample_inputs())


@image("dark_background")
def test_image_dark():
    ds, _, _ = drawn_and_rated()
    return figure_of(ds.meta.plot.sample_inputs())
