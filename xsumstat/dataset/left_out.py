"""How many inputs, systems and outputs the correlation of a metric leaves out, as attrs of results tell it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import IntArray
from xsumstat.dataset.facts import Fact

# Attr of a task's scores, and coordinate of the tasks of a ranking.
SYSTEMS = "left_out_systems"
OUTPUTS, INPUTS = "unpaired_outputs", "constant_inputs"
# Attr of rankings over tasks, and code of the warning: metrics that lack whole systems or inputs, in words.
FEWER = "fewer_labels"
# Instead of a number, where those of several human scores add up.
SOME = "some"


def unranked(ranking: xr.Dataset) -> list[Hashable]:
    """Metrics that are not in all tasks of a ranking, and so have no average."""
    if ranking.attrs.get("analysis") != "rank_tasks" or "rank" not in ranking or ranking["rank"].dims != ("metric",):
        return []
    return list(ranking["metric"].values[(ranking["rank"] == 0).values].tolist())


def systems_of(ds: xr.Dataset) -> list[Hashable]:
    """The systems that a task's scores leave out; netCDF keeps a list of one as its element."""
    return validate.listed(ds.attrs.get(SYSTEMS, []))


def counted(
    ties: Sequence[Fact] | None,
    single: Sequence[Fact] | None,
    unpaired: Fact | None,
    size: Mapping[Hashable, int],
    level: str | None = None,
) -> dict[str, str | None]:
    """The least and the most that a metric leaves out: constant inputs, those with one output, and single outputs."""
    found: dict[str, str | None] = {}
    if ties is not None:
        tied, _, by_gold, scored = (each.values for each in ties)
        lost = tied + (by_gold if size["system"] > 2 else 0)
        found[INPUTS] = _least_and_most(lost, scored, size["input"])
    if single is not None:
        alone, some = (each.values for each in single)
        found["single_outputs"] = _least_and_most(alone, some, size["system" if level == "within_system" else "input"])
    if unpaired is not None:
        found[OUTPUTS] = _least_and_most(unpaired.values)
    return found


def _least_and_most(lost: IntArray, of: IntArray | None = None, most: int = 0) -> str | None:
    if not lost.any():
        return None
    if of is not None and of.max() > most:
        return SOME
    return f"{lost.max():,}" if lost.min() == lost.max() else f"{lost.min():,} to {lost.max():,}"
