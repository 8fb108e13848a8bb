"""Pictures of metrics as they look, beside kept images.

`pytest tests/plots/test_images_metrics.py --mpl-generate-path=tests/plots/baseline` makes them anew: look at each.
"""

import functools

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from cases import of_demo  # noqa: E402

import xsumstat  # noqa: E402

# Other versions draw letters otherwise, which a tolerance that sees a lost word does not survive.
pytestmark = pytest.mark.skipif(
    not mpl.__version__.startswith("3.11."), reason="the kept images are by matplotlib 3.11"
)
DRAWS = {"n_resamples": 999, "rng": 0}
DARK = pytest.param("dark_background", marks=pytest.mark.slow, id="dark")
STYLES = pytest.mark.parametrize("style", [pytest.param("default", id="light"), DARK])


def image(function):
    """A test of the figure that a function returns; a lost word or another colour is beyond the tolerance."""
    keywords = {"baseline_dir": "baseline", "tolerance": 1, "savefig_kwargs": {"dpi": 50}}
    return pytest.mark.mpl_image_compare(**keywords, style="default", deterministic=True)(function)


def styled(function):
    """The picture drawn, and laid out, in the style that its parameter names."""

    @functools.wraps(function)
    def drawn(style, **fixtures):
        with plt.style.context(style):
            axes = function(style, **fixtures)
            figure = np.atleast_1d(axes).flat[0].figure
            figure.draw_without_rendering()
        return figure

    return image(STYLES(drawn))


@functools.cache
def of_raters():
    demo = xsumstat.load_dataset("demo")
    noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
    return demo.meta.human_ceiling(demo.score.sel(metric="human", drop=True) + 8 * noise, level="input")


@pytest.fixture
def raters():
    return of_raters().copy(deep=True)


@pytest.fixture
def many():
    """41 metrics with long names, by fixed numbers."""
    one = of_demo("ci", "human", metric=["judge"])[["correlation", "ci_low", "ci_high"]]
    names = [f"a-very-long-name-of-a-metric_variant-{at:02d}" for at in range(41)]
    rows = [(one - at / 50).assign_coords(metric=[name]).assign_attrs(one.attrs) for at, name in enumerate(names)]
    return xr.concat(rows, "metric", combine_attrs="override")


@styled
def test_forest(style, raters):
    return of_demo("ci", "human", level="input").meta.plot.forest(ceiling=raters, title="Beside the raters")


@styled
def test_forest_of_raters(style, raters):
    return raters.meta.plot.forest()


@styled
def test_forest_of_two_levels(style, demo):
    levels = pd.Index(["system", "input"], name="level")
    both = xr.concat([demo.meta.ci("human", level=each) for each in levels], levels)
    return both.meta.plot.forest(hue="level")


@image
def test_forest_of_differences():
    return of_demo("ci", "human", other=["bleu", "judge"]).meta.plot.forest()[0].figure


@image
def test_forest_of_many(many):
    return many.meta.plot.forest().figure


@styled
def test_pvalues(style, demo):
    tests = demo.meta.perm_test("human", alternative="greater", adjust="holm", **DRAWS)
    return tests.meta.plot.pvalues()


@image
def test_pvalues_of_long_names(demo):
    tests = demo.meta.corr_test("human", method="williams", metric=["judge", "bleu", "rouge", "length"])
    names = [f"a-very-long-name-of-a-metric_variant-{at:02d}" for at in range(4)]
    return tests.assign_coords(metric=names, other_metric=names).meta.plot.pvalues().figure


@styled
def test_clusters(style, demo):
    tests = demo.meta.perm_test("human", alternative="greater", **DRAWS)
    ranks = of_demo("rank", "human", **DRAWS)
    return ranks.meta.plot.clusters(intervals=of_demo("ci", "human"), tests=tests)


@styled
def test_tasks(style, demo):
    asked = {
        "English to German": {"ds": demo, "gold": "human"},
        "Japanese to Chinese, at the level of inputs": {
            "ds": demo,
            "gold": "human",
            "coefficient": "kendall",
            "level": "input",
        },
    }
    return xsumstat.rank_tasks(asked, **DRAWS).meta.plot.tasks()


@image
def test_two_axes_of_a_dark_figure():
    with plt.style.context("dark_background"):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    of_demo("ci", "human", level="input").meta.plot.forest(ax=left, title="left")
    of_demo("rank", "human", **DRAWS).meta.plot.clusters(ax=right, title="right")
    return figure


@styled
def test_chance(style, demo):
    few = demo.assign(score=(demo.score / demo.score.max(["system", "input"]) * 3).round())
    how = {"level": "input", "coefficient": "acc_eq", "threshold": 0.0}
    return few.meta.ci("human", method="bootstrap", n_resamples=199, rng=0, **how).meta.plot.bars()
