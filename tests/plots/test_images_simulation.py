"""Pictures of simulations as they look, beside kept images."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402

# Other versions draw letters otherwise, which a tolerance that sees a lost word does not survive.
pytestmark = pytest.mark.skipif(
    not mpl.__version__.startswith("3.11."), reason="the kept images are by matplotlib 3.11"
)
DARK = pytest.param("dark_background", marks=pytest.mark.slow, id="dark")
STYLES = pytest.mark.parametrize("style", [pytest.param("default", id="light"), DARK])
image = pytest.mark.mpl_image_compare(
    baseline_dir="baseline", tolerance=1, style="default", deterministic=True, savefig_kwargs={"dpi": 50}
)


def shares(name, values, analysis, **coords):
    share = xr.DataArray(values, coords)
    attrs = {"confidence_level": 0.95, "alpha": 0.05, "n_trials": 1000, "analysis": analysis}
    return xr.Dataset({name: share, "mc_error": np.sqrt(share * (1 - share) / 1000)}, attrs=attrs)


def finished(axes):
    """The figure, laid out in the style in which it was drawn."""
    figure = np.atleast_1d(axes).flat[0].figure
    figure.draw_without_rendering()
    return figure


@STYLES
@image
def test_coverage(style):
    values = np.linspace(0.88, 0.97, 18).reshape(3, 2, 3)
    result = shares(
        "coverage",
        values,
        "coverage",
        interval=["jackknife", "bca", "percentile"],
        n_systems=[10, 25],
        n_inputs=[30, 100, 300],
    )
    with plt.style.context(style):
        return finished(result.meta.plot.coverage())


@STYLES
@image
def test_power(style):
    values = np.array([[0.1, 0.3, 0.8, 0.97], [0.02, 0.2, 0.6, 0.9]])
    result = shares("power", values, "power", test=["perm_test", "boot_test"], noise=[0.25, 0.5, 1.0, 2.0])
    with plt.style.context(style):
        return finished(result.meta.plot.power(title="Noise added"))


@image
def test_errors_of_tests_with_long_names():
    tests = [f"a-very-long-name-of-a-test_variant-{at}" for at in range(4)]
    result = shares("type_i_error", np.array([0.04, 0.05, 0.07, 0.01]), "power", test=tests)
    return finished(result.meta.plot.power())
