"""Pictures of equivalence and of principal components, compared as images with kept ones."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from cases import of_demo  # noqa: E402
from images import image  # noqa: E402

import xsumstat  # noqa: E402, F401


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def curve():
    """Shares that grow with the margin, for five qualities."""
    margins, speed = np.linspace(0.02, 0.4, 12), np.linspace(0.6, 3, 5)
    names = [f"a quality with a longer name, number {at:02d}" for at in range(5)]
    share = xr.DataArray(
        np.clip(2 * margins[:, None] * speed, 0, 1), {"margin": margins, "quality": names}, attrs={"units": "1"}
    )
    about = {"analysis": "margin_sensitivity", "method": "tost", "alpha": 0.05, "gold": "human"}
    return xr.Dataset({"share": share}, attrs={**about, "coefficient": "pearson"})


@pytest.fixture
def changed():
    """Shifts of seven languages against English."""
    rng = np.random.default_rng(2)
    languages, metrics = ["en", *(f"lang-{each}" for each in "abcdefg")], ["judge", "bleu", "rouge"]
    shift = -0.5 * rng.random((8, 3, 3)) + np.where(np.eye(3), np.nan, 0.1)
    coords = {"language": languages, "metric": metrics, "other_metric": metrics}
    pairs = xr.DataArray(shift, coords)
    mean = pairs.mean(["metric", "other_metric"])
    about = {"along": "language", "base": "en", "threshold": 0.9, "n_resamples": 999}
    return xr.Dataset({"probability": 0.5 + pairs, "probability_shift": pairs, "mean_shift": mean}, attrs=about)


@image()
def test_sensitivity(curve):
    return curve.meta.plot.sensitivity(title="Margins").figure


@image("dark_background")
def test_sensitivity_in_panels_dark(curve):
    both = xr.concat([curve, curve / 2], "level", combine_attrs="override").assign_coords(level=["system", "input"])
    return both.isel(quality=slice(2)).meta.plot.sensitivity(hue="level")[0].figure


@image()
def test_shifts(changed):
    return changed.meta.plot.shifts().figure


@image("dark_background")
def test_shifts_of_two_dark(changed):
    back = changed.assign(mean_shift=changed.mean_shift / 2 + 0.05)
    return changed.meta.plot.shifts(back, labels=("there", "back")).figure


@image()
def test_pca():
    return of_demo("pca").meta.plot.pca().figure


@image("dark_background")
def test_pca_of_many_points_dark():
    rng = np.random.default_rng(0)
    coords = {
        "metric": [f"metric-{at:02d}" for at in range(41)],
        "component": [1, 2],
        "kind": ("metric", [["lexical", "embedding", "LLM"][at % 3] for at in range(41)]),
    }
    places = xr.DataArray(100 * rng.normal(size=(41, 2)), coords, ("metric", "component"))
    found = xr.Dataset({"coordinate": places, "explained": ("component", [0.4, 0.2])})
    return found.meta.plot.pca().figure
