"""The caption of a result's table: the coefficient, the human scores, the level and the tasks."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xsumstat import catalogue
from xsumstat.dataset import results, wording

_MOST_TASKS = 8


def caption(result: xr.Dataset, *, tests: bool = False) -> str:
    """The caption; `tests` says that the table shows p-values."""
    result = wording.of_group(result)
    analysis = str(result.attrs["analysis"])
    if analysis == "rank_tasks" and {"coefficient", "level"} <= set(result.coords) and "task" in result.dims:
        return f"Metrics by {wording.over_tasks(result)}. {' '.join(_of_tasks(result))}"
    if analysis == "compare_systems" and "metric" in result.coords:
        by = [wording.judged_by(label) for label in np.atleast_1d(result["metric"].values).tolist()]
        what = (
            "p-values of the differences between systems"
            if tests or len(by) == 1
            else "Significant differences between systems"
        )
        return f"{wording.capitalised(what)}, by {wording.listed(by)}."
    main = results.main_variable(result)
    about = long_name(result, str(main))
    if tests and not str(main).startswith("pvalue"):
        about = f"p-values of the {about}"
    what = wording.measured(result)
    if what and main == "correlation":
        return f"{what[:1].upper()}{what[1:]}."
    head = f"{about[:1].upper()}{about[1:]}"
    return f"{head}: {what}." if what else f"{head}."


def long_name(result: xr.Dataset, name: str) -> str:
    """What the catalogue calls a variable of a result; the name itself in words for an unknown analysis."""
    known = catalogue.ANALYSES.get(str(result.attrs["analysis"]))
    declared = known is not None and name in known.variables
    return catalogue.variable(name, result.attrs["analysis"]).long_name if declared else name.replace("_", " ")


def _of_tasks(result: xr.Dataset) -> list[str]:
    """A sentence for each coefficient, human score and level, with the tasks that have them."""
    columns = ("coefficient", "gold", "level")
    size = result.sizes["task"]
    labels = [result[name].values.tolist() if name in result.coords else [""] * size for name in columns]
    groups: dict[str, list[str]] = {}
    for name, *asked in zip(result["task"].values.tolist(), *labels, strict=True):
        settings = xr.Dataset(attrs=dict(zip(columns, asked, strict=True)))
        groups.setdefault(wording.measured(settings), []).append(str(name))
    return [f"{what[:1].upper()}{what[1:]}: {wording.listed(tasks, _MOST_TASKS)}." for what, tasks in groups.items()]
