"""Labels along a dim of scores, or places where there are none."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


def labels_along(values: Any, dim: Hashable) -> list[Hashable]:
    """Labels, or places, along a dim of a DataArray or Dataset."""
    return list(values.indexes[dim].tolist() if dim in values.indexes else range(values.sizes[dim]))


def labels_where(mask: Any) -> list[Hashable]:
    """Labels, or places, along the only dim of a DataArray where it is True."""
    return [label for label, is_there in zip(labels_along(mask, mask.dims[0]), mask.values, strict=True) if is_there]
