"""Names and labels as pictures write them."""

from __future__ import annotations

import math
from os.path import commonprefix
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import catalogue
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.dataset import wording

_BEFORE = 10
_LONGEST, LONGEST_TITLE = 40, 80  # signs of a name that are drawn, and of one above a panel, which has lines
_ACROSS_ALL = ("bonferroni", "holm")  # multiply the smallest p-value by the number of tests
# What ci_low and ci_high are the limits of: the first of these that a result has.
_ESTIMATES = ("correlation", "difference", "share", "ratio", "mean_rank", "coverage", "power", "type_i_error")


def texts(labels: xr.DataArray) -> list[str]:
    """Labels as drawn, with `PLAIN`; long ones that begin and end alike are shown from shortly before they differ."""
    names = [str(label) for label in np.atleast_1d(labels.values)]
    found = [clipped(name) for name in names]
    alike: dict[str, set[str]] = {}
    for name, text in zip(names, found, strict=True):
        alike.setdefault(text, set()).add(name)
    return [
        text if len(alike[text]) == 1 else _from_difference(name, [*(alike[text] - {name})])
        for name, text in zip(names, found, strict=True)
    ]


def _from_difference(name: str, others: list[str]) -> str:
    shared = max(len(commonprefix([name, other])) for other in others)
    return clipped(f"…{name[max(0, shared - _BEFORE) :]}")


def clipped(name: str, longest: int = _LONGEST) -> str:
    """The name, or the start and end of a long one, where such names differ."""
    return name if len(name) <= longest else f"{name[: longest - 16]}…{name[-15:]}"


def limits_of(result: xr.Dataset, variable: str) -> tuple[str, str] | None:
    own = f"{variable}_low", f"{variable}_high"
    estimate = next((name for name in _ESTIMATES if name in result), None)
    names = ("ci_low", "ci_high") if variable == estimate else own
    there = set(names) <= set(result.data_vars) and set(result[names[0]].dims) <= set(result[variable].dims)
    return names if there else None


def correlation_label(result: xr.Dataset) -> str:
    gold, given = result.attrs.get("gold"), result.attrs.get("given")
    label = coefficient_label(result.attrs.get("coefficient", "correlation"))
    label += f" with {clipped(str(gold))}" if gold else ""
    return f"partial {label}\ngiven {clipped(str(given))}" if given else label


def coefficient_label(name: Any) -> str:
    """Label of a coefficient; a function, and an unknown one, by its own name."""
    return COEFFICIENTS[name].label if name in COEFFICIENTS else clipped(str(name))


def bounds_of(result: xr.Dataset, variable: str) -> tuple[float, float]:
    """Least and largest value of a correlation, or of a difference of two."""
    name = result.attrs.get("coefficient")
    low, high = COEFFICIENTS[name].bounds if name in COEFFICIENTS else (-1.0, 1.0)
    return (low - high, high - low) if variable == "difference" else (low, high)


def variable_label(result: xr.Dataset, name: str) -> str:
    if name == "correlation" and "coefficient" in result.attrs:
        return correlation_label(result)
    if name == "difference" and "coefficient" in result.attrs:
        return f"difference in\n{correlation_label(result)}"
    declared = catalogue.VARIABLES[name].long_name if name in catalogue.VARIABLES else name.replace("_", " ")
    label = str(result[name].attrs.get("long_name", declared))
    if "coefficient" in result.coords:  # tasks have their own
        label = label.replace("correlation with gold", "agreement with the human scores")
    elif "coefficient" in result.attrs:
        label = label.replace("correlation", coefficient_label(result.attrs["coefficient"]))
    return label


def how_tested(result: xr.Dataset) -> str:
    """How tests were made, for the note of a picture that draws no intervals of theirs."""
    return wording.how(result.drop_vars("ci_low", errors="ignore"))


def too_few_words(result: xr.Dataset, alpha: float, n_tests: int) -> str:
    """The note where so few resamples cannot give a corrected p-value as small as alpha."""
    attrs = result.attrs
    drawn = attrs.get("method") not in ("analytic", "auto") and "n_resamples" in attrs and not attrs.get("exact")
    if not drawn:
        return ""
    corrected = attrs.get("adjust_method") in _ACROSS_ALL
    n = int(attrs["n_resamples"])
    least = (n_tests if corrected else 1) / (1 + n)
    if least <= alpha:
        return ""
    kind = "corrected p-value" if corrected else "p-value"
    reached = f"the smallest {kind} that they can give is {min(1.0, least):.2g}, above {alpha:.2g}"
    return f"too few resamples: {reached}; n_resamples={math.ceil(round(least * (1 + n) / alpha, 9)) - 1} would do"
