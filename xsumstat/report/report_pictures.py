"""Figures in a page, for light and dark, with selectable text and their numbers in words."""

from __future__ import annotations

import hashlib
import html
import io
import re
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import extras
from xsumstat.dataset import wording

_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
_FONTS = "'DejaVu Sans', Verdana, Geneva, sans-serif"  # all as wide as the first, with which the figure is laid out
_LONGEST = 40  # characters of a name in a figure
_FEW = 12  # metrics whose p-values are told one by one
_SHARED = {"svg.fonttype": "none", "svg.hashsalt": "xsumstat", "font.family": ["DejaVu Sans"], "text.usetex": False}
_STYLES: dict[str, list[Any]] = {
    "light": ["default", _SHARED],
    "dark": ["default", "dark_background", {**_SHARED, "figure.facecolor": "#15181c", "axes.facecolor": "#15181c"}],
}
# Pixels of a point; a figure is never drawn smaller than this share of its size, so that its words can be read.
_PIXELS, _LEAST = 4 / 3, 0.7


def figure(draw: Callable[[], Any], label: str, alt: str) -> str:
    """A picture as an HTML figure that scrolls if too wide."""
    try:
        drawings = "".join(f'<div class="{theme}">{_drawing(draw, theme)}</div>' for theme in _STYLES)
    except ImportError as error:
        return f"<p>{html.escape(str(error))}</p>"
    return (
        f'<figure class="wide" role="region" tabindex="0" aria-label="{html.escape(label)}">'
        f'<div role="img" aria-label="{html.escape(alt)}">{drawings}</div></figure>'
    )


def _drawing(draw: Callable[[], Any], theme: str) -> str:
    plt: Any = extras.optional("matplotlib.pyplot", "plot")
    buffer = io.StringIO()
    with plt.style.context(_STYLES[theme]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # the reader's own fonts have them
        axes = draw()
        drawn = (axes if not hasattr(axes, "flat") else axes.flat[0]).figure
        drawn.savefig(buffer, format="svg", bbox_inches="tight", transparent=True, metadata={"Date": None})
        plt.close(drawn)
        interactive = plt.isinteractive()
    # A notebook's backend, loaded with the first figure, turns this on; the style's end would turn it off for good.
    plt.interactive(interactive)
    return _inline(buffer.getvalue())


def _inline(text: str) -> str:
    """A drawing that can share a page: unique ids and its own style."""
    ElementTree.register_namespace("", _SVG[1:-1])
    root = ElementTree.fromstring(text)
    own = "x" + hashlib.sha256(text.encode()).hexdigest()[:10]
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)
    for element in root.iter():
        _mend(element, own)
    width, _ = (float(root.attrib.pop(side).removesuffix("pt")) * _PIXELS for side in ("width", "height"))
    root.set(
        "style",
        f"width:100%;max-width:{width:.0f}px;min-width:{_LEAST * width:.0f}px;height:auto;"
        f"font-family:{_FONTS};stroke-linejoin:round;stroke-linecap:butt",
    )
    root.set("aria-hidden", "true")
    root.set("focusable", "false")
    return ElementTree.tostring(root, encoding="unicode")


def _mend(element: Any, own: str) -> None:
    attributes = element.attrib
    if not element.tag.endswith(("text", "tspan")):
        element.text = None
    if not element.tag.endswith("tspan"):
        element.tail = None
    if element.tag == f"{_SVG}g":
        attributes.pop("id", None)  # nothing refers to groups
    elif "id" in attributes:
        attributes["id"] = own + attributes["id"]
    if _LINK in attributes:
        link = attributes.pop(_LINK)
        attributes["href"] = f"#{own}{link[1:]}" if link.startswith("#") else link  # else an image, within the page
    if "clip-path" in attributes:
        attributes["clip-path"] = attributes["clip-path"].replace("(#", f"(#{own}")
    if "d" in attributes:
        attributes["d"] = attributes["d"].replace("\n", "")
    if "style" in attributes:
        style = re.sub(r"font-family:[^;]*;? ?", "", attributes["style"])
        attributes["style"] = re.sub(r"(font: [^;']*px) [^;]*", rf"\1 {_FONTS}", style)


def shortened(result: xr.Dataset) -> xr.Dataset:
    coords = {}
    for dim in result.dims:
        if dim in result.coords and result[dim].dtype.kind in "OU":
            coords[dim] = _unique([_short(label) for label in result[dim].values.tolist()])
    attrs = {name: _short(value) if isinstance(value, str) else value for name, value in result.attrs.items()}
    return result.assign_coords(coords).assign_attrs(attrs)


def _short(label: Any) -> Any:
    if not isinstance(label, str):
        return label
    text = wording.printable(label)
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]}…{text[-half + 1 :]}"


def _unique(labels: list[Any]) -> list[Any]:
    seen: dict[Any, int] = {}
    found = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        found.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return found


def intervals_in_words(intervals: xr.Dataset) -> str:
    none = " (no interval)" if wording.has_intervals(intervals) else ""
    parts = []
    for where, part in _labels(intervals, ("metric",)):
        each = [
            f"{_name(label)} {wording.estimate(r, low, high)}{none if np.isnan(low) else ''}"
            for label, r, low, high in zip(
                part["metric"].values,
                *(part[name].values for name in ("correlation", "ci_low", "ci_high")),
                strict=True,
            )
        ]
        parts.append(f"{where}{'; '.join(each)}.")
    return " ".join(parts)


def tests_in_words(tests: xr.Dataset, alpha: float) -> str:
    """p-values of each metric against later ones, or for many metrics how many others each beats."""
    parts = []
    for where, part in _labels(tests, ("metric", "other_metric")):
        p, labels = part["pvalue_adjusted"].values, [_name(label) for label in part["metric"].values.tolist()]
        if len(labels) <= _FEW:
            pairs = [
                [f"{labels[j]} {wording.pvalue(float(p[i, j]))}" for j in range(i + 1, len(p))] for i in range(len(p))
            ]
            each = [f"{label} and {', '.join(others)}" for label, others in zip(labels, pairs, strict=True) if others]
        else:
            each = [f"{label} differs from {(p[at] <= alpha).sum()} others" for at, label in enumerate(labels)]
        parts.append(f"{where}{'; '.join(each)}.")
    return " ".join(parts)


def _labels(result: xr.Dataset, core: tuple[str, ...]) -> Iterator[tuple[str, xr.Dataset]]:
    """Each label of the further dims, as the start of a sentence, and its part of the result."""
    main = result["correlation" if "correlation" in result else "pvalue"]
    further: list[Hashable] = [dim for dim in main.dims if dim not in core]
    for places in np.ndindex(*(main.sizes[dim] for dim in further)):
        part = result.isel(dict(zip(further, places, strict=True)))
        where = ", ".join(f"{dim} {_name(part[dim].item())}" for dim in further)
        yield f"{where}: " if where else "", part.transpose(*core, ...)


def _name(label: Any) -> str:
    return wording.shortened(wording.printable(str(label)))
