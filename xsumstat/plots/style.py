"""Colours, markers and sizes of words in pictures, on light and dark grounds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from xsumstat.core import extras

# Okabe & Ito's colours, told apart by colour-blind readers; the light ones were searched for the same end near these.
HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
_LIGHT_HUES = ("#3486D6", "#F85D1A", "#47D08E", "#B09DB4", "#FFD101", "#C4EBFE", "#FCFDDF")  # on dark grounds
INK = "#333333"
ZERO_LINE = "#999999"  # on either ground
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))  # of lines that often meet
DASHED = (0, (4, 3))  # what values are compared with
# Words are drawn as they are: no "$" in a name starts a formula, in TeX or in matplotlib's own mathematics.
PLAIN = {"parse_math": False, "usetex": False}
SMALL, NOTE = 7.0, 8.0  # points: of numbers in cells, which no words are smaller than, and of notes
_P = ParamSpec("_P")
_R = TypeVar("_R")


def ink() -> str:
    """Colour of text, light on a dark figure."""
    return "#dddddd" if is_dark() else INK


def muted() -> str:
    return "#a8a8a8" if is_dark() else "#666666"


def faint() -> str:
    return "#3d3d3d" if is_dark() else "#e6e6e6"


def grey() -> str:
    """Colour of areas in the background, stronger than the grid."""
    return "#5c5c5c" if is_dark() else "#d0d0d0"


def grounds() -> tuple[str, str]:
    """Two alternating colours for areas of a panel."""
    return ("#151515", "#1f2f3b") if is_dark() else ("#f8f8f8", "#e4eef6")


def colour(at: int) -> str:
    hues = _LIGHT_HUES if is_dark() else HUES
    return hues[at % len(hues)]


def ground() -> str:
    """Background colour of the panels, for the rims of points."""
    colours: Any = extras.optional("matplotlib.colors", "plot")
    return str(colours.to_hex(_ground()))


def on_its_ground(picture: Callable[_P, _R]) -> Callable[_P, _R]:
    """The picture in colours that suit the figure of the user's axes, whatever the current style."""

    @functools.wraps(picture)
    def drawn(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        ax: Any = kwargs.get("ax")
        if ax is None:
            return picture(*args, **kwargs)
        plt: Any = extras.optional("matplotlib.pyplot", "plot")
        if not isinstance(ax, plt.Axes):
            raise TypeError(f"ax must be a matplotlib Axes, as plt.subplots() gives, not {type(ax).__name__}")
        seen = (ax.figure.get_facecolor(), ax.figure.figure.get_facecolor(), ax.get_facecolor())
        with plt.rc_context({"figure.facecolor": _first_opaque(*seen)}):
            return picture(*args, **kwargs)

    return drawn


def is_dark() -> bool:
    red, green, blue = _ground()
    return bool(0.3 * red + 0.6 * green + 0.1 * blue <= 0.5)


def _ground() -> tuple[float, float, float]:
    plt: Any = extras.optional("matplotlib.pyplot", "plot")
    return _first_opaque(plt.rcParams["figure.facecolor"], plt.rcParams["axes.facecolor"])


def _first_opaque(*facecolors: Any) -> tuple[float, float, float]:
    """The first opaque colour; figures in notebooks are often transparent on white."""
    colours: Any = extras.optional("matplotlib.colors", "plot")
    for each in facecolors:
        *rgb, alpha = colours.to_rgba(each)
        if alpha > 0:
            return tuple(rgb)
    return 1.0, 1.0, 1.0


def of(at: int) -> tuple[str, str]:
    """Colour and marker of a label; distinct for 28 labels, and neighbours differ in both."""
    return colour(at), "osD^"[at % 4]


def check_available() -> None:
    """Raise an error that names the extra if matplotlib is not installed."""
    extras.optional("matplotlib.pyplot", "plot")


def words_on(area: Any) -> str:
    """Black or white, whichever is readable on this colour (WCAG contrast at least 4.5)."""
    colours: Any = extras.optional("matplotlib.colors", "plot")
    parts = np.array(colours.to_rgb(area))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return "black" if float(linear @ [0.2126, 0.7152, 0.0722]) > 0.179 else "white"


def cell(x: float, y: float, width: float, **look: Any) -> Any:
    """A square around a point."""
    patches: Any = extras.optional("matplotlib.patches", "plot")
    return patches.Rectangle((x - width / 2, y - width / 2), width, width, **look)


def diverging() -> Any:
    """Colours from blue through the background to red."""
    plt: Any = extras.optional("matplotlib.pyplot", "plot")
    colours: Any = extras.optional("matplotlib.colors", "plot")
    if not is_dark():
        return plt.get_cmap("RdBu_r")
    return colours.LinearSegmentedColormap.from_list(
        "diverging", ("#9ed3ff", "#2f7fc1", "#1d1d1d", "#c8563c", "#ffc2a1")
    )
