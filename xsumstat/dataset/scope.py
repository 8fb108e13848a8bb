"""The scope of an answer: these systems, or new ones like these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from xsumstat import catalogue
from xsumstat.core import levels
from xsumstat.inference import two_correlations

# By formulas for correlations: the labels that are correlated stand for others like them, at global level outputs.
_FORMULAS = ("fisher", *two_correlations.METHODS, "tost_analytic", "anderson_hauck")
THESE, LIKE_THESE = "these systems", "systems like these"


@dataclass(frozen=True)
class Scope:
    random: tuple[str, ...]  # dims that generalise
    systems: int = 0  # how many (0: unknown), as `inputs`
    inputs: int = 0
    exchanged: bool = False  # single scores of these systems are swapped
    clusters: str = ""  # coordinates by which labels belong together

    @property
    def name(self) -> str:
        if "cell" in self.random:
            return "outputs like these"
        return LIKE_THESE if "system" in self.random else THESE

    def __str__(self) -> str:
        """In a sentence: "these 12 systems on inputs like these"."""
        if "cell" in self.random:
            return "outputs like these"
        clusters = [f"clustered by {' and '.join(self.clusters.split())}"] if self.clusters else []
        if "prompt" in self.random:
            return ", ".join([f"{_these(self.systems, 'system')} on prompts like these", *clusters])
        if {"system", "input"} <= set(self.random):
            found = "systems and inputs like these"
        elif self.exchanged:
            return ", ".join([_these(self.systems, "system"), *clusters])
        else:
            systems, inputs = (
                f"{dim}s like these" if dim in self.random else _these(size, dim)
                for dim, size in (("system", self.systems), ("input", self.inputs))
            )
            found = f"{systems} on {inputs}"
        layers = [f"{dim}s like these" for dim in self.random if dim not in ("system", "input")]
        return ", ".join([found, *layers, *clusters])


def words(attrs: Mapping[Any, Any], before: str = ", ") -> str:
    """The scope after a comma or another word; empty for results without inference."""
    found = of(attrs)
    return "" if found is None else f"{before}{found}"


def _these(size: int, dim: str) -> str:
    """All the labels of a dim: "these 12 systems", "this input"."""
    if size == 1:
        return f"this {dim}"
    return f"these {size:,} {dim}s" if size else f"these {dim}s"


def _size(value: Any) -> int:
    return int(value) if isinstance(value, int | np.integer) else 0


def of(attrs: Mapping[Any, Any]) -> Scope | None:
    """The scope of a result with these attrs; None without inference."""
    systems, inputs = (0 if "by" in attrs else _size(attrs.get(name)) for name in ("n_systems", "n_inputs"))
    systems = 0 if attrs.get("analysis") == "top_k_corr" else systems
    about = catalogue.ANALYSES.get(str(attrs.get("analysis")))
    named = str(attrs.get("resample", ""))
    random = ("system", "input") if named == "both" else tuple(named.split())
    if about is not None and not random:
        random = about.random
    if not random and attrs.get("method") in _FORMULAS:
        random = levels.CORRELATED.get(str(attrs.get("level")), ()) if attrs.get("level") != "global" else ("cell",)
    if attrs.get("analysis") in ("corr_test", "compare_metrics") and attrs.get("method") == "wilcoxon":
        random = (levels.GROUPS[attrs["level"]],)  # the correlations of single inputs or systems stand for others
    if attrs.get("target") == "these":
        return Scope((), systems, inputs)
    clusters = str(attrs.get("cluster", ""))
    exchanged = about is not None and about.exchanged
    if exchanged or ("swap" in attrs and set(random) == {"system", "input"}):
        return Scope((), systems, inputs, exchanged=True, clusters=clusters)
    return Scope(random, systems, inputs, clusters=clusters) if random else None
