"""What the attrs of a result record."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

import xarray as xr

from xsumstat.core import extras
from xsumstat.core.labels import labels_where
from xsumstat.dataset import chunking, directions, facts, left_out, masks
from xsumstat.dataset import scope as scopes
from xsumstat.dataset.value_checks import Checks


class Aligned(Protocol):
    """Scores aligned with a gold, as far as results need them."""

    @property
    def score(self) -> xr.DataArray: ...

    @property
    def gold_name(self) -> str: ...

    @property
    def ties(self) -> Sequence[facts.Fact] | None: ...

    @property
    def single(self) -> Sequence[facts.Fact] | None: ...

    @property
    def unpaired(self) -> facts.Fact | None: ...

    @property
    def gold_turned(self) -> bool: ...

    @property
    def dropped(self) -> Mapping[str, list[Hashable]]: ...

    @property
    def further(self) -> Mapping[str, int]: ...

    @property
    def later(self) -> Checks: ...


def of(scores: Aligned | xr.DataArray | tuple[Hashable, ...] | None, analysis: str, **settings: Any) -> dict[str, Any]:
    """Attrs in values for netCDF and Zarr: the analysis, what was counted and left out, `settings` and the scope."""
    settings = {**sizes(scores if isinstance(scores, xr.DataArray) else getattr(scores, "score", None)), **settings}
    if scores is not None and not isinstance(scores, xr.DataArray | tuple):
        settings |= {"gold": scores.gold_name, **dropped(scores.dropped)}
        settings[directions.OF_GOLD] = True if scores.gold_turned else None
        settings |= left_out.counted(
            scores.ties, scores.single, scores.unpaired, scores.score.sizes, settings.get("level")
        )
    attrs: dict[str, Any] = {}
    for name, value in {"analysis": analysis, **settings}.items():
        if isinstance(value, tuple):
            value = "both" if set(value) == {"system", "input"} else " ".join(value)
        elif isinstance(value, bool):
            value = int(value)
        if value is not None:
            attrs[name] = value
    if (scope := scopes.of(attrs)) is not None:
        attrs["scope"] = scope.name
    attrs["xsumstat_version"] = extras.package_version()
    return attrs


def sizes(score: xr.DataArray | None) -> dict[str, int]:
    """Attrs with the numbers of systems and inputs with a score; lazy scores are counted by label."""
    if score is None:
        return {}
    dims = [dim for dim in facts.CELLS if dim in score.dims]
    if chunking.is_lazy(score):
        return {f"n_{dim}s": score.sizes[dim] for dim in dims}
    there = masks.there(score)
    beside = {dim: tuple(at for at, other in enumerate(there.dims) if other != dim) for dim in dims}
    return {f"n_{dim}s": int(there.values.any(axis=axes).sum()) for dim, axes in beside.items()}


def dropped(labels: Mapping[str, Sequence[Hashable]]) -> dict[str, str]:
    """Attrs that name the labels left out of each dim."""
    return {f"dropped_{dim}": ", ".join(map(str, lost)) for dim, lost in labels.items()}


def of_used(attrs: Mapping[Any, Any], used: Sequence[xr.DataArray]) -> dict[str, Any]:
    """Attrs that only computed scores tell: the numbers of used systems and inputs, and the other labels."""
    counts = {f"n_{each.dims[0]}s": int(each.sum()) for each in used}
    lost = {str(each.dims[0]): labels for each in used if (labels := labels_where(~each))}
    before = {dim: attrs.get(f"dropped_{dim}") for dim in lost}
    return counts | dropped({dim: [*filter(None, [before[dim]]), *labels] for dim, labels in lost.items()})


def of_labels(score: xr.DataArray, lost: Mapping[str, Sequence[Hashable]]) -> dict[str, Any]:
    """Attrs with the numbers of systems and inputs, scored or not, and the labels left out."""
    return {**{f"n_{dim}s": score.sizes[dim] for dim in facts.CELLS}, **dropped(lost)}
