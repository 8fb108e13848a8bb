"""Pictures compared as images with those in tests/plots/baseline."""

import matplotlib as mpl
import numpy as np
import pytest

# Other versions draw letters otherwise, which a tolerance that sees a lost word does not survive.
_NEWEST = pytest.mark.skipif(not mpl.__version__.startswith("3.11."), reason="the kept images are by matplotlib 3.11")


def image(style="default"):
    """A picture at 50 dots an inch; a lost word or another colour is beyond the tolerance, rounding is not.

    Dark ones are slow, as each has a light twin.
    """
    marks = [
        _NEWEST,
        pytest.mark.mpl_image_compare(
            baseline_dir="baseline", style=style, tolerance=2, savefig_kwargs={"dpi": 50}, deterministic=True
        ),
        *([] if style == "default" else [pytest.mark.slow]),
    ]

    def marked(picture):
        for mark in marks:
            picture = mark(picture)
        return picture

    return marked


def figure_of(axes):
    return np.atleast_1d(axes).flat[0].figure
