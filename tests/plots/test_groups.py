"""Pictures of differences between groups: what is drawn are the numbers of the result."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402

import xsumstat  # noqa: E402


@pytest.fixture
def groups():
    ds = xsumstat.load_dataset("demo")
    ds = ds.assign_coords(domain=("input", ["news", "chat", "web"] * 10))
    yield ds.meta.compare_groups("human", by="domain", metric=["judge", "rouge"], level="input")
    plt.close("all")


def rows(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def drawn(ax):
    """Each row's point and line."""
    (points,) = [line for line in ax.lines if line.get_marker() == "o"]
    (lines,) = [each for each in ax.collections if hasattr(each, "get_segments")]
    values = {round(float(y)): float(x) for x, y in zip(*points.get_data(), strict=True)}
    limits = {round(float(each[0, 1])): each[:, 0] for each in lines.get_segments()}
    return {at: (value, *limits[at]) for at, value in values.items()}


def test_a_forest_has_a_panel_for_each_pair_of_groups_once(groups):
    axes = np.ravel(groups.meta.plot.forest(density=False))
    titles = [ax.get_title() for ax in axes]
    assert titles == ["chat − news", "chat − web", "news − web"]
    for ax, title in zip(axes, titles, strict=True):
        one, other = title.split(" − ")
        part = groups.sel(domain=one, other_domain=other)
        for at, numbers in drawn(ax).items():
            want = part.sel(metric=rows(axes[0])[at])
            np.testing.assert_allclose(numbers, [want.difference, want.ci_low, want.ci_high])
        assert "difference in Pearson's r with human" in ax.get_xlabel()
    single = groups.sel(metric="judge").meta.plot.forest(hue="domain", density=False)
    assert [text.get_text() for text in single.figure.legends[0].get_texts()][:3] == titles


def test_the_matrix_and_the_bars_have_groups(groups):
    axes = np.ravel(groups.meta.plot.pvalues())
    assert sorted(rows(axes[0])) == ["chat", "news", "web"] and [ax.get_title() for ax in axes] == ["judge", "rouge"]
    cells = [text.get_text() for text in axes[0].texts]
    assert len(cells) == 6
    axis = groups.meta.plot.bars()
    widths = sorted(patch.get_width() for patch in axis.patches if hasattr(patch, "get_width"))
    values = np.sort(groups.correlation.values.ravel())
    assert all(np.isclose(widths, value).any() for value in values)
    assert not [each for each in axis.collections if hasattr(each, "get_segments") and len(each.get_segments())]


def test_pairs_of_groups_stand_once_whatever_is_selected(groups):
    from xsumstat.dataset import pair_results

    once = pair_results.pairs_of_groups(groups)
    assert once.domain.values.tolist() == ["chat − news", "chat − web", "news − web"]
    assert "correlation" not in once and once.difference.dims == ("metric", "domain")
    part = pair_results.pairs_of_groups(groups.sel(other_domain=["chat"]))
    assert part.domain.values.tolist() == ["news − chat", "web − chat"]
    np.testing.assert_array_equal(part.difference, groups.difference.sel(domain=["news", "web"], other_domain="chat"))
    assert pair_results.pairs_of_groups(groups.isel(domain=0)).identical(groups.isel(domain=0))
    alone = xsumstat.load_dataset("demo").meta.ci("human")
    xr.testing.assert_identical(pair_results.pairs_of_groups(alone), alone)
