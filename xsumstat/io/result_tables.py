"""Content of the table of a result: rows, columns and their groups, bold and marked cells, and the note."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat import catalogue
from xsumstat.analyses import adjust
from xsumstat.analyses.task_averages import range_of
from xsumstat.catalogue.raters import WINNING
from xsumstat.catalogue.variables import BASELINES
from xsumstat.core import validate
from xsumstat.dataset import pair_results, results, wording
from xsumstat.io import result_frames, table_captions

_NOTHING = "–"
_MOST_GROUPS = 6
_NAMED = ("k", "gap", "n_runs")  # dims whose labels say little without the dim
_LIMITS = ("ci_low", "ci_high")
# What the limits are of, in a table with a row for each label: the first that there is.
_ESTIMATES = (
    "accuracy",
    "difference",
    "correlation",
    "mean",
    "alpha",
    "ratio",
    "share",
    "slope",
    "position_bias",
    "strength",
    "coverage",
    "power",
    "type_i_error",
)
_OWN_TESTS = ("rank_tasks", "ranks_by")  # whose p-values mark their metrics
_COUNTS = ("n_effective",)  # estimates of counts, without decimals
_PLACES = ("rank", "cluster")  # 0 for a metric without one
_CHANCE = BASELINES  # where labels of further dims do not have columns of their own
_TITLES = {
    "baseline": "random metric",
    "baseline_constant": "constant metric",
    "ci_low": "lower limit",
    "ci_high": "upper limit",
    "pvalue": "p",
    "pvalue_adjusted": "corrected p",
    "n_significant": "significant pairs",
    "n_tests": "tested pairs",
    "f1": "F1",
    "first_share": "share first",
    "rank_low": "rank from",
    "rank_high": "rank to",
    "other_metric": "other metric",
    "human_mean": "ratings alone",
    "n_effective": "effective ratings",
}


@dataclass(frozen=True)
class Cell:
    """A table cell: text, whether it is a number, bold, or marked by a dagger."""

    text: str
    number: bool = False
    bold: bool = False
    mark: bool = False


@dataclass(frozen=True)
class Table:
    """First column and groups of the others with titles; rows; alignment by letters; a note; a foot of chance."""

    columns: list[Cell]
    groups: list[tuple[str, int]]
    rows: list[list[Cell]]
    alignment: str
    note: list[str]
    foot: list[list[Cell]] = field(default_factory=list)


def table(result: xr.Dataset, tests: xr.Dataset | None, alpha: float, digits: int) -> Table:
    result, tests = wording.of_group(result), wording.of_group(tests) if isinstance(tests, xr.Dataset) else tests
    alpha = float(result.attrs.get("alpha", alpha))
    kept = results.without_draws(result)
    analysis = str(result.attrs["analysis"])
    value = _value_of(result)
    if analysis == "compare_systems" and kept.sizes.get("metric", 1) > 1 and "n_significant" in kept:
        counted = _listed(kept[["n_significant", "n_tests"]], alpha, digits, details=True)
        how = f"{_note(_without_limits(kept)).removesuffix('.')}; alpha {wording.setting(alpha)}."
        return replace(counted, note=[f"Pairs of systems with a significant difference, of all tested. {how}"])
    kept = kept.squeeze("metric") if analysis == "compare_systems" and kept.sizes.get("metric") == 1 else kept
    if tests is not None:
        _check_tests(tests, kept, value)
    if square := square_of(kept):
        return _square(kept, square, alpha, digits)
    single = value in kept and "metric" in kept[value].dims and "other_metric" not in kept[value].dims
    if single and kept[value].size <= _MOST_GROUPS * kept.sizes["metric"]:
        return _by_metric(kept, value, tests, alpha, digits)
    return _listed(kept, alpha, digits)


def square_of(result: xr.Dataset) -> str:
    """The variable that a table of pairs shows, row by column; empty for other tables."""
    names = [name for name in ("pvalue_adjusted", "pvalue", "correlation") if name in result]
    found = [name for name in names if _is_square(result, name)]
    apart = result.attrs["analysis"] in ("equivalence", "rank_tasks", "range_drop")
    return "" if not found or apart or len(result[found[0]].dims) > 2 else found[0]


def _value_of(result: xr.Dataset) -> str:
    """The variable with one value per metric that a table shows; empty for other analyses."""
    known = catalogue.ANALYSES.get(str(result.attrs["analysis"]))
    return "" if known is None else known.in_table


def telling(result: xr.Dataset) -> int:
    """The fewest decimals, from 2 to 4, by which metrics of different ranks print differently."""
    value = _value_of(result)
    value = value if value in result else results.main_variable(result)
    if "metric" not in result[value].dims or result[value].dtype.kind != "f":
        return 2
    rows = result[value].transpose(..., "metric").values.reshape(-1, result.sizes["metric"])
    return max((_apart(row[~np.isnan(row)]) for row in rows), default=2)


def _apart(values: Any) -> int:
    """The same of one column; values within 1e-12 share a rank."""
    ordered = np.sort(values)
    pairs = [(one, other) for one, other in itertools.pairwise(ordered.tolist()) if other > one + 1e-12]
    for digits in range(2, 4):
        if all(wording.number(one, digits) != wording.number(other, digits) for one, other in pairs):
            return digits
    return 4 if pairs else 2


def parts_of(table: Table, most: int) -> list[Table]:
    """A table cut into parts with at most so many columns beside the first, which each part has."""
    size = len(table.columns) - 1
    if size <= most:
        return [table]
    owners = [at for at, (_, count) in enumerate(table.groups) for _ in range(count)]
    starts = [0]
    for at in range(1, size):
        group = next(to for to in range(at, -1, -1) if to == 0 or owners[to] != owners[to - 1])
        if at - starts[-1] >= most:
            starts.append(group if group > starts[-1] else at)
    parts = []
    for start, stop in itertools.pairwise([*starts, size]):
        places = [0, *range(start + 1, stop + 1)]
        groups = [(table.groups[owner][0], len(list(same))) for owner, same in itertools.groupby(owners[start:stop])]
        cut = {"columns": [table.columns[at] for at in places], "groups": groups}
        cut |= {name: [[row[at] for at in places] for row in getattr(table, name)] for name in ("rows", "foot")}
        parts.append(replace(table, **cut, alignment="".join(table.alignment[at] for at in places)))
    return parts


def _is_square(result: xr.Dataset, name: str) -> bool:
    return pair_results.pair_dims(result[name]) is not None


def _check_tests(tests: Any, result: xr.Dataset, value: str) -> None:
    if not isinstance(tests, xr.Dataset) or "pvalue" not in tests or pair_results.pair_dims(tests["pvalue"]) is None:
        raise ValueError("tests must be what compare_metrics or a test gave, with p-values of pairs of metrics")
    if not value or value not in result or "metric" not in result[value].dims or "difference" not in tests:
        raise ValueError(
            "tests mark metrics in a table with one correlation per metric, such as a result of ci; this result has "
            "no such correlations"
        )
    tested = {*tests["metric"].values.tolist(), *tests["other_metric"].values.tolist()}
    labels = result["metric"].values.tolist()
    there = result[value].transpose(..., "metric").values.reshape(-1, len(labels))
    best = {labels[int(np.nanargmax(row))] for row in there if not np.isnan(row).all()}
    missing = [label for label in labels if label in best and label not in tested]
    if missing:  # others without a test are named in the note
        raise ValueError(f"tests have no metric {validate.listing(missing)}, the best of the result, to compare with")
    for key in wording.SETTINGS:
        if key in result[value].dims:
            _check_joined(tests, result, key)
            continue
        theirs, ours = tests.attrs.get(key), result.attrs.get(key)
        if None not in (theirs, ours) and theirs != ours:
            raise ValueError(f"tests have {key}={theirs!r}, the result of {key}={ours!r}")
    further = [dim for dim in tests["pvalue"].dims if dim not in ("metric", "other_metric")]
    unknown = [dim for dim in further if dim not in result.dims]
    if unknown:
        raise ValueError(f"tests have the dim {unknown[0]!r}, which the result has not; select one of its labels")


def _check_joined(tests: xr.Dataset, result: xr.Dataset, key: str) -> None:
    """Tests of a result that was joined along a setting must be joined alike."""
    labels = result[key].values.tolist()
    theirs = tests[key].values.tolist() if key in tests["pvalue"].dims and key in tests.coords else []
    if not set(labels) <= set(theirs):
        raise ValueError(
            f"the result has the {key}s {validate.listing(labels)}, and tests do not; join the tests of each in the "
            f'same way: tests=xr.concat([...], pd.Index({labels!r}, name="{key}"))'
        )


def _by_metric(result: xr.Dataset, value: str, tests: xr.Dataset | None, alpha: float, digits: int) -> Table:
    further = [dim for dim in result[value].dims if dim != "metric"]
    result = _in_order(result, value, further)
    parts = list(_parts(result, further))
    own = "pvalue" in result and tests is None and str(result.attrs["analysis"]) in _OWN_TESTS
    tests = result if own else tests
    chance = [_chance(part, digits) for _, _, part in parts]
    first = [Cell(wording.shortened(label)) for label in result["metric"].values.tolist()]
    columns, groups, bodies, marked, all_worse = [Cell("metric")], [], [], False, tests is not None
    untested: dict[str, None] = {}
    for where, title, part in parts:
        alike = None if tests is None else _not_worse(part[value], _of_labels(tests, where), alpha)
        all_worse &= alike is not None and alike.count(False) == len(alike) - 1 > 0
        untested |= dict.fromkeys(_untested(part[value], alike or []))
        body = _columns(part, value, alike, digits)
        body += [] if len(parts) > 1 or chance[0] else _numbers(part, _CHANCE, digits)
        marked |= any(cell.mark for _, cells in body for cell in cells)
        alone = title if len(body) == 1 else ""  # a group of one column needs no title above it
        columns += [Cell(alone or text) for text, _ in body]
        groups.append(("" if alone else title, len(body)))
        bodies += [cells for _, cells in body]
    rows = [list(row) for row in zip(first, *bodies, strict=True)]
    sides = ["r" if all(cell.number for cell in cells) else "l" for cells in bodies]
    clusters = result.attrs["analysis"] == "rank_tasks"
    said = [_note(result), wording.averaging(result)]
    if any(cell.bold for cells in bodies for cell in cells):
        said += ["Bold: the best, and the first cluster of each task." if clusters else "Bold: the best."]
    said += ["In parentheses: clusters."] if clusters else []
    if tests is not None and (marked or all_worse):
        how = "; ".join([wording.test_words(tests), wording.correction_words(tests), f"alpha {wording.setting(alpha)}"])
        dagger = f"†: not significantly worse than the best ({how})."
        said.append(dagger if marked else f"All others are significantly worse than the best ({how}).")
    said += [f"Not tested against the best: {wording.listed(untested)}."] if untested else []
    foot = _foot(chance, [size for _, size in groups]) if all(chance) else []
    return Table(columns, groups, rows, "".join(["l", *sides]), list(filter(None, said)), foot)


def _foot(chance: list[dict[str, list[str]]], sizes: list[int]) -> list[list[Cell]]:
    """A row for each kind of metric that tells nothing, with its numbers in the columns of values."""
    rows = []
    for name in _CHANCE:
        texts = [[*each[name], *[""] * (size - len(each[name]))] for each, size in zip(chance, sizes, strict=True)]
        rows.append([Cell(_TITLES[name]), *(Cell(text, True) for part in texts for text in part)])
    return rows


def _chance(part: xr.Dataset, digits: int) -> dict[str, list[str]]:
    """What a random and a constant metric reach, in a text for each column; empty where it differs between metrics."""
    if not set(_CHANCE) <= set(part.data_vars):
        return {}
    if str(part.attrs["analysis"]) == "rank_tasks":
        return _chance_of_tasks(part, digits)
    texts = {name: {_number(each, digits) for each in part[name].values if not np.isnan(each)} for name in _CHANCE}
    return {name: [*each] for name, each in texts.items()} if all(len(each) == 1 for each in texts.values()) else {}


def _chance_of_tasks(part: xr.Dataset, digits: int) -> dict[str, list[str]]:
    """The same on average and in each task, between two numbers where it differs between metrics."""
    ranges = [range_of(str(each)) for each in part["coefficient"].values.tolist()]
    low, span = (xr.DataArray(np.array([each[at] for each in ranges]), dims="task") for at in (0, 1))
    found = {}
    for name in _CHANCE:
        average = (part["weight"] * (part[name] - low) / span).sum("task", skipna=False)
        beside = [""] * sum(each in part for each in catalogue.ANALYSES["rank_tasks"].beside)
        own = [_range_text(part[name].isel(task=at).values, digits) for at in range(part.sizes["task"])]
        found[name] = [_range_text(average.values, digits), *beside, *own]
    return found


def _range_text(values: Any, digits: int) -> str:
    there = values[~np.isnan(values)]
    ends = dict.fromkeys(_number(float(each), digits) for each in (there.min(), there.max())) if there.size else ()
    return "–".join(ends) or _NOTHING


def _in_order(result: xr.Dataset, value: str, further: list[Hashable]) -> xr.Dataset:
    """Metrics, best first by their mean over labels; those without a value last."""
    mean = result[value].mean(further).values
    return result.isel(metric=np.argsort(np.where(np.isnan(mean), np.inf, -mean), kind="stable"))


def _columns(part: xr.Dataset, value: str, alike: Any, digits: int) -> list[tuple[str, list[Cell]]]:
    values = part[value].values
    best = np.zeros(len(values), dtype=bool)
    if not np.isnan(values).all() and len(values) > 1:
        best = values >= np.nanmax(values) - 1e-12
        best &= not best.all()  # where all are alike, none is
    marks = [alike is not None and bool(alike[at]) and not best[at] for at in range(len(values))]
    texts, intervals = _with_intervals(part, value, *_LIMITS, digits)
    shown = zip(texts, best, marks, strict=True)
    body = [(_title(value, part), [Cell(text, True, bool(bold), mark) for text, bold, mark in shown])]
    if intervals:
        body.append((f"{_level(part)} interval", [Cell(text) for text in intervals]))
    analysis = str(part.attrs["analysis"])
    if analysis == "human_ceiling" and "difference" in part:
        texts, intervals = _with_intervals(part, "difference", "difference_low", "difference_high", digits)
        body.append(("difference from raters", [Cell(text, True) for text in texts]))
        body.append((f"{_level(part)} interval", [Cell(text) for text in intervals]))
    if analysis == "alt_test":
        may = [_NOTHING if math.isnan(rate) else "yes" if rate >= WINNING else "no" for rate in values]
        body.append(("may replace a rater", [Cell(text) for text in may]))
    body += _numbers(part, catalogue.ANALYSES[analysis].beside, digits)
    if analysis == "rank_tasks":
        for at, task in enumerate(part["task"].values.tolist() if "correlation" in part else []):
            numbers = part["correlation"].isel(task=at).values, part["task_cluster"].isel(task=at).values
            cells = [
                Cell(f"{_number(each, digits)} ({cluster})" if cluster else _NOTHING, True, cluster == 1)
                for each, cluster in zip(*numbers, strict=True)
            ]
            body.append((wording.shortened(task), cells))
    return body


def _numbers(part: xr.Dataset, names: tuple[str, ...], digits: int) -> list[tuple[str, list[Cell]]]:
    def text(name: str, each: Any) -> str:
        return _NOTHING if name in _PLACES and each == 0 else _number(each, digits)

    return [
        (_title(name, part), [Cell(text(name, each), True) for each in part[name].values])
        for name in names
        if name in part
    ]


def _not_worse(values: xr.DataArray, tests: xr.Dataset, alpha: float) -> Any:
    """For each metric whether a test against the best found no significant difference; None without a test."""
    if bool(values.isnull().all()):
        return None
    named = values["metric"].values.tolist()
    best = named[int(values.argmax("metric"))]
    p, difference = adjust.decisive(tests), tests["difference"]
    rows, columns = p["metric"].values.tolist(), p["other_metric"].values.tolist()
    alternative = tests.attrs.get("alternative", "two-sided")
    marks: list[bool | None] = []
    for label in named:
        one, other = (label, best) if alternative == "less" else (best, label)
        ahead_of = 1
        if alternative == "two-sided" and not (one in rows and other in columns):
            one, other, ahead_of = other, one, -1
        if one not in rows or other not in columns:
            marks.append(None)
            continue
        cell = {"metric": rows.index(one), "other_metric": columns.index(other)}
        pvalue, ahead = float(p.isel(cell)), ahead_of * float(difference.isel(cell))
        found = pvalue <= alpha and (alternative != "two-sided" or ahead > 0)
        marks.append(None if math.isnan(pvalue) else not found)
    return marks


def _untested(values: xr.DataArray, alike: list[bool | None]) -> list[str]:
    """Metrics with a value and without a test against the best one, of several."""
    if len(alike) < 2:
        return []
    best = int(values.argmax("metric"))
    there = values.notnull().values
    labels = values["metric"].values.tolist()
    return [wording.shortened(labels[at]) for at, each in enumerate(alike) if each is None and there[at] and at != best]


def _square(result: xr.Dataset, name: str, alpha: float, digits: int) -> Table:
    values = result[name]
    dims = pair_results.pair_dims(values) or ("metric", "other_metric")
    values = values.transpose(*dims)
    rows, columns = (values[dim].values.tolist() for dim in dims)
    tests = name.startswith("pvalue")
    cells = []
    for at, row in enumerate(rows):
        line = [Cell(wording.shortened(row))]
        for to, column in enumerate(columns):
            if row == column and (tests or set(_LIMITS) <= set(result.data_vars)):
                line.append(Cell(_NOTHING, True))
                continue
            number = float(values.values[at, to])
            one = result.isel({dims[0]: at, dims[1]: to})
            text = _pvalue(number, digits) if tests else _number(number, digits)
            if not tests and set(_LIMITS) <= set(result.data_vars):
                beside = _with_intervals(one.expand_dims("metric"), name, *_LIMITS, digits)
                text = " ".join(each[0] for each in beside)
            line.append(Cell(text, True, bold=tests and number <= alpha))
        cells.append(line)
    heads = [Cell(str(dims[0])), *(Cell(wording.shortened(column)) for column in columns)]
    note = [_note(_without_limits(result) if tests else result)]
    if tests:
        asks = {"greater": "is the row better than the column?", "less": "is the row worse than the column?"}
        what = asks.get(str(result.attrs.get("alternative")), "do row and column differ?")
        which = "Corrected p-values" if name == "pvalue_adjusted" else "p-values"
        note = [f"{which}: {what}", *note, f"Bold: p ≤ {wording.setting(alpha)}."]
    return Table(heads, [("", len(columns))], cells, "l" + "r" * len(columns), list(filter(None, note)))


def _listed(result: xr.Dataset, alpha: float, digits: int, details: bool = False) -> Table:
    kept = result.drop_vars([name for name in result.coords if name not in result.dims])
    frame = result_frames.to_frame(kept, brief=not details)
    labels = [str(name) for name in frame if name not in result.data_vars]
    frame = _each_pair_once(frame, labels, results.group_dims(result.attrs))
    names = [str(name) for name in frame if name not in labels]
    joined = set(_LIMITS) <= set(names)
    body: list[tuple[str, list[Cell]]] = [
        (_TITLES.get(name, name.replace("_", " ")), [Cell(wording.shortened(each)) for each in frame[name]])
        for name in labels
    ]
    bold = False
    main = next((name for name in _ESTIMATES if joined and name in names), None)
    texts, intervals = _with_intervals(frame, main or "ci_low", *_LIMITS, digits) if joined else ([], [])
    for name in names:
        if joined and name == "ci_high":
            continue
        if joined and name == "ci_low":
            body.append((f"{_level(result)} interval", [Cell(each) for each in intervals]))
            continue
        if name == main:
            body.append((_title(name, result), [Cell(each, True) for each in texts]))
            continue
        tests = name.startswith("pvalue") or name.endswith("_pvalue")
        text: Callable[[Any, int], str] = _pvalue if tests else _number
        decides = name == ("pvalue_adjusted" if "pvalue_adjusted" in names else "pvalue")
        bold |= decides
        places = 0 if name in _COUNTS else digits
        body.append(
            (_title(name, result), [Cell(text(each, places), True, decides and each <= alpha) for each in frame[name]])
        )
    columns = [Cell(title) for title, _ in body]
    rows = [list(row) for row in zip(*(cells for _, cells in body), strict=True)]
    sides = ["r" if cells and all(cell.number for cell in cells) else "l" for _, cells in body]
    marked = f"Bold: p ≤ {wording.setting(alpha)}." if bold else ""
    note = list(filter(None, [*_of_all_groups(result), _note(result), marked]))
    return Table(columns, [("", len(columns) - 1)], rows, "".join(sides), note)


def _each_pair_once(frame: pd.DataFrame, labels: list[str], dims: tuple[str, ...]) -> pd.DataFrame:
    """Rows of differences between groups, each pair in one direction."""
    if not dims or not set(dims) <= set(labels):
        return frame
    beside = [name for name in labels if name not in dims]
    rows = frame[labels].astype(str).to_dict("records")
    keys = [(*(row[name] for name in beside), frozenset(row[dim] for dim in dims)) for row in rows]
    return frame[~pd.Series(keys, index=frame.index, dtype=object).duplicated()]


def _of_all_groups(result: xr.Dataset) -> list[str]:
    tests = result.get("heterogeneity_pvalue")
    if tests is None or tests.dims != ("metric",) or "heterogeneity" not in result:
        return []
    each = [(label, wording.heterogeneity(result.isel(metric=at))) for at, label in enumerate(tests["metric"].values)]
    texts = [f"{wording.shortened(label)} {text}" for label, text in each if text]
    return [f"All groups of {wording.shortened(result.attrs['by'])}: {'; '.join(texts)}."] if texts else []


def _without_limits(result: xr.Dataset) -> xr.Dataset:
    """The same without limits, for the note of a table without intervals."""
    return result.drop_vars(_LIMITS, errors="ignore")


def _note(result: xr.Dataset) -> str:
    said = "; ".join(filter(None, [wording.measured(result), wording.made(result), wording.drawn_tasks(result.attrs)]))
    return f"{wording.capitalised(said)}." if said else ""


def _title(name: str, result: xr.Dataset) -> str:
    if name in _TITLES:
        return _TITLES[name]
    about = table_captions.long_name(result, name)
    short = len(about) <= 24 and name not in ("correlation", "difference")
    return about.partition(",")[0] if short else name.replace("_", " ")


def _level(result: xr.Dataset) -> str:
    level = wording.interval_level(result.attrs)
    return "confidence" if math.isnan(level) else f"{100 * level:.4g} %"


def _with_intervals(part: Any, value: str, low: str, high: str, digits: int) -> tuple[list[str], list[str]]:
    """Texts of values and intervals with equal digits in a row; without intervals only values."""
    values = np.asarray(part[value])
    if not {low, high} <= set(part):
        return [_number(each, digits) for each in values], []
    rows = zip(values, np.asarray(part[low]), np.asarray(part[high]), strict=True)
    both = [_estimate(*row, digits) for row in rows]
    return [text for text, _ in both], [ends for _, ends in both]


def _estimate(value: float, low: float, high: float, digits: int) -> tuple[str, str]:
    if any(math.isnan(each) for each in (value, low, high)):
        return _number(value, digits), _NOTHING
    text, *ends = wording.alike([value, low, high], digits)
    return text, f"[{', '.join(ends)}]"


def _number(value: Any, digits: int) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{int(value):,}"
    if not isinstance(value, float | np.floating):
        return wording.shortened(value)
    return _NOTHING if math.isnan(value) else wording.number(float(value), digits)


def _pvalue(value: float, digits: int) -> str:
    if math.isnan(value):
        return _NOTHING
    return wording.pvalue(float(value), max(3, digits)).removeprefix("p = ").removeprefix("p ")


def _parts(result: xr.Dataset, further: list[Hashable]) -> Any:
    for places in itertools.product(*(range(result.sizes[dim]) for dim in further)):
        where = dict(zip(further, places, strict=True))
        labels = {dim: result[dim].values.tolist()[at] for dim, at in where.items()}
        texts = (
            f"{dim} {wording.shortened(label)}" if dim in _NAMED else wording.shortened(label)
            for dim, label in labels.items()
        )
        yield labels, ", ".join(texts), result.isel(where)


def _of_labels(tests: xr.Dataset, labels: dict[Hashable, Any]) -> xr.Dataset:
    return tests.isel(
        {dim: tests[dim].values.tolist().index(label) for dim, label in labels.items() if dim in tests.dims}
    )
