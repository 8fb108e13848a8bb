"""The caption of a result's table: the coefficient, the human scores, the level and the tasks."""

from __future__ import annotations

import xarray as xr

from xsumstat import catalogue
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.dataset import results, wording

_MOST_TASKS = 8


def caption(result: xr.Dataset) -> str:
    result = wording.of_group(result)
    analysis = str(result.attrs.get("analysis"))
    if analysis == "rank_tasks" and {"coefficient", "level"} <= set(result.coords) and "task" in result.dims:
        size = result.sizes["task"]
        over = f"the average over {size:,} tasks" if size > 1 else "one task"
        return f"Metrics by {over}. {' '.join(_of_tasks(result))}"
    main = results.main_variable(result)
    known = analysis in catalogue.ANALYSES and main in catalogue.ANALYSES[analysis].variables
    about = catalogue.variable(main, analysis).long_name if known else str(main).replace("_", " ")
    what = wording.measured(result)
    if what and main == "correlation":
        return f"{what[:1].upper()}{what[1:]}."
    head = f"{about[:1].upper()}{about[1:]}"
    return f"{head}: {what}." if what else f"{head}."


def _of_tasks(result: xr.Dataset) -> list[str]:
    """A sentence for each coefficient, human score and level, with the tasks that have them."""
    columns = ("coefficient", "gold", "level")
    size = result.sizes["task"]
    labels = [result[name].values.tolist() if name in result.coords else [""] * size for name in columns]
    groups: dict[str, list[str]] = {}
    for name, *asked in zip(result["task"].values.tolist(), *labels, strict=True):
        groups.setdefault(_measured(*map(str, asked)), []).append(str(name))
    return [f"{what[:1].upper()}{what[1:]}: {wording.listed(tasks, _MOST_TASKS)}." for what, tasks in groups.items()]


def _measured(coefficient: str, gold: str, level: str) -> str:
    """As in "Kendall's tau with human, input level", as far as it is known."""
    what = COEFFICIENTS[coefficient].label if coefficient in COEFFICIENTS else coefficient
    what += f" with {wording.shortened(gold)}" if what and gold else ""
    return what + (f", {level.replace('_', ' ')} level" if what and level else "")
