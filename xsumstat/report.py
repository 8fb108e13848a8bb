"""The main answers in one go: intervals, which metric beats which, as a table and as an HTML page."""

from __future__ import annotations

import base64
import html
import io
import itertools
import math
import os
import stat
import sys
import tempfile
import textwrap
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from xsumstat import _validate
from xsumstat.analyses import adjust as families
from xsumstat.analyses import intervals
from xsumstat.analyses import metric_tests as comparison
from xsumstat.analyses.measure import checked_measure, checked_progress, checked_resample, interval_method
from xsumstat.dataset import checks, value_checks
from xsumstat.dataset.value_checks import Checks
from xsumstat.inference import corrections
from xsumstat.plots import metrics as plots
from xsumstat.resampling import threads

RESAMPLES = 9999
_TABLE = ("metric", "other_metric")
_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; }
th, td { text-align: left; padding: .35rem .9rem .35rem 0; border-bottom: 1px solid #ddd; vertical-align: top; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; } img { max-width: 100%; height: auto; }
.about { color: #555; } code { background: #f4f4f4; padding: .1rem .3rem; overflow-wrap: anywhere; }
"""


@dataclass(frozen=True)
class Report:
    """Intervals and tests of one set of scores.

    Attributes
    ----------
    name : str
        What the scores are called.
    intervals : Dataset
        What `ci` gave.
    tests : Dataset or None
        What `perm_test` and `adjust` gave, where there are two metrics to compare.
    alpha : float
        Level at which one metric is said to beat another.
    notes : tuple of str
        Warnings that came with the numbers.
    """

    name: str
    intervals: xr.Dataset
    tests: xr.Dataset | None
    alpha: float
    notes: tuple[str, ...] = ()

    def about(self) -> str:
        """One sentence on how the numbers were made."""
        a = self.intervals.attrs
        seeds = [a["seed"]] if "seed" in a else []
        ready = (
            f"{a['coefficient']} with {a['gold']} at {a['level']} level; {100 * a['confidence_level']:g} % "
            f"{_interval(a)}; "
        )
        if self.tests is not None:
            t = self.tests.attrs
            seeds.append(t["seed"])
            swaps = "all" if t["exact"] else f"{t['n_resamples']:,} random"
            ready += (
                f"one-sided permutation tests ({_spelled(t['resample'])}, {swaps} swaps), "
                f"corrected by {t['adjust_method']} over all pairs, at {self.alpha:g}; "
            )
        return f"{ready}{f'seed {seeds[0]}; ' if seeds else ''}xsumstat {a['xsumstat_version']}."

    def tables(self) -> list[tuple[str, pd.DataFrame]]:
        """A title and a table for each label of the further dims: the metrics, best first, and whom they beat."""
        beats = None if self.tests is None else families.significant(self.tests, alpha=self.alpha)
        further = [str(dim) for dim in self.intervals["correlation"].dims if dim != "metric"]
        tables = []
        for labels in itertools.product(*(self.intervals.indexes[dim] for dim in further)):
            where = dict(zip(further, labels, strict=True))
            part = self.intervals.sel(where).sortby("correlation", ascending=False)
            rows = [self._row(part.isel(metric=at)) for at in range(part.sizes["metric"])]
            if beats is not None:
                for row, metric in zip(rows, part.metric.values, strict=True):
                    row["beats"] = _beaten(beats.sel(where).sel(metric=metric))
            tables.append((", ".join(f"{dim} {label}" for dim, label in where.items()), pd.DataFrame(rows)))
        return tables

    def _row(self, of_metric: xr.Dataset) -> dict[str, str]:
        level = f"{100 * self.intervals.attrs['confidence_level']:g} % interval"
        low, high = float(of_metric["ci_low"]), float(of_metric["ci_high"])
        return {
            "metric": str(of_metric["metric"].item()),
            "correlation": f"{float(of_metric['correlation']): .3f}",
            level: "none" if math.isnan(low) else f"[{low: .3f}, {high: .3f}]",
        }

    def text(self, width: int = 100) -> str:
        """The tables as plain text, about `width` characters wide."""
        parts = [textwrap.fill(f"{self.name}: {self.about()}", width)]
        for title, table in self.tables():
            parts.append("\n".join(([title] if title else []) + _text_table(table, width)))
        return "\n\n".join(parts)

    def html(self) -> str:
        """The tables and the two pictures as one page that needs no other file."""
        sections = "".join(
            (f"<h3>{html.escape(title)}</h3>" if title else "") + f'<div class="scroll">{_html_table(table)}</div>'
            for title, table in self.tables()
        )
        name = html.escape(self.name)
        further = [dim for dim in self.intervals["correlation"].dims if dim != "metric"]
        order = self.intervals["correlation"].mean(further).argsort().values[::-1]
        forest = _picture(plots.forest(self.intervals.isel(metric=order)), "Interval of each metric's correlation")
        matrix = ""
        if self.tests is not None:
            tests = self.tests.isel(metric=order, other_metric=order)
            picture = _picture(plots.pvalues(tests, alpha=self.alpha), "p-values of all pairs of metrics")
            matrix = f"<h2>Is the row metric better than the column's?</h2>\n{picture}\n"
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{name} – xsumstat</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<style>{_STYLE}</style></head><body>\n<h1>How far can the metrics be trusted? {name}</h1>\n"
            f'<p class="about">{html.escape(self.about())}</p>\n'
            + (f"<h2>Mind</h2>\n<ul>{notes}</ul>\n" if notes else "")
            + f"<h2>Metrics, best first</h2>\n{sections}\n"
            f"<p>An interval holds the correlations that are plausible {_FOR_WHAT[self.intervals.attrs['resample']]}. "
            "A metric beats another where the test of their difference survives the correction; "
            "overlapping intervals do not settle that.</p>\n"
            "<h2>Intervals</h2>\n<p>The area above an interval is high where values are most plausible.</p>\n"
            f"{forest}\n{matrix}</body></html>\n"
        )


def _beaten(won: xr.DataArray) -> str:
    beaten = [str(label) for label in won["other_metric"].values[won.values]]
    everyone = len(beaten) == won.size - 1 and len(beaten) > 2
    return "all others" if everyone else ", ".join(beaten) or "–"


def _text_table(table: pd.DataFrame, width: int) -> list[str]:
    """The lines of a table whose last column is wrapped."""
    names = [str(name) for name in table]
    widths = [max(len(name), *map(len, table[name])) for name in names[:-1]]
    indent = sum(widths) + 2 * len(widths)
    rest = max(24, width - indent)
    widths.append(min(rest, max(len(names[-1]), *map(len, table[names[-1]]))))
    lines = [_padded(names, widths), _padded(["-" * size for size in widths], widths)]
    for row in table.itertuples(index=False):
        *cells, last = (str(cell) for cell in row)
        first, *more = textwrap.wrap(last, rest, break_long_words=False, break_on_hyphens=False) or [""]
        lines.append(_padded([*cells, first], widths))
        lines += [" " * indent + line for line in more]
    return lines


def _padded(cells: list[str], widths: list[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


_FOR_WHAT = {
    "both": "for systems and inputs like these",
    "system": "for systems like these, on these inputs",
    "input": "for these systems, on inputs like these",
}


def _spelled(resample: str) -> str:
    return "systems and inputs" if resample == "both" else f"{resample}s"


def _interval(attrs: dict[str, Any]) -> str:
    """Which interval it is, and over what."""
    if attrs["method"] == "jackknife":
        each = {"both": "each system and each input", "system": "each system", "input": "each input"}
        return f"jackknife intervals ({each[attrs['resample']]} left out in turn)"
    drawn = f"{_spelled(attrs['resample'])} resampled, {attrs['n_resamples']:,} times"
    return f"{attrs['interval']} bootstrap intervals ({drawn})"


def _html_table(table: pd.DataFrame) -> str:
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in table)
    kinds = ['class="number"' if name not in ("metric", "beats") else "" for name in table]
    rows = "".join(
        "<tr>"
        + "".join(f"<td {kind}>{html.escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))
        + "</tr>"
        for row in table.itertuples(index=False)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _picture(axes: Any, alt: str) -> str:
    """A drawn figure as an image inside the page; the figure is closed."""
    plt: Any = _validate.optional("matplotlib.pyplot", "plot")
    figure = (axes if not hasattr(axes, "flat") else axes.flat[0]).figure
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight")
    plt.close(figure)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="{html.escape(alt)}" src="data:image/svg+xml;base64,{data}">'


def make_report(
    ds: xr.Dataset,
    name: str,
    *,
    gold: str | None = None,
    metric: list[str] | None = None,
    level: str = "system",
    coefficient: str = "pearson",
    resample: str = "both",
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    adjust: str = "holm",
    alpha: float = 0.05,
    rng: int = 0,
    keep_samples: bool = False,
    progress: bool | None = None,
) -> Report:
    """Answer the main questions about a set of scores; the parameters are those of `ci`, `perm_test`, `adjust`.

    Unless `n_resamples` is given, the tests get as many swaps as a correction for their number needs. `keep_samples`
    keeps those of a bootstrap, where `ci` takes one by itself; it asks for none. Intervals and tests of lazy scores are
    computed together, so that the scores are read once for both.
    """
    alpha = _validate.fraction("alpha", alpha)
    progress = checked_progress(progress)
    _validate.choice("adjust", adjust, corrections.CORRECTIONS)
    shared: dict[str, Any] = {"metric": metric, "level": level, "coefficient": coefficient, "resample": resample}
    shared |= {"rng": rng, "progress": progress}
    measure = checked_measure(level, coefficient, "pairwise", "drop")
    drawn = interval_method(measure, checked_resample(resample, level), None, False) == "bootstrap"
    interval: dict[str, Any] = {"confidence_level": confidence_level, "keep_samples": keep_samples and drawn}
    tests: xr.Dataset | None = None
    draws = RESAMPLES if n_resamples is None else n_resamples
    with threads.one_bar(2, progress) as part:
        with value_checks.held() as of_intervals, part():
            found = intervals.ci(ds, gold, n_resamples=draws, **interval, **shared)
        metrics = found.sizes["metric"]
        with value_checks.held() as of_tests, part():
            if metrics > 1:
                if n_resamples is None:
                    draws = max(draws, families.resamples_needed(metrics * (metrics - 1), alpha))
                joint: dict[str, Any] = {"adjust": adjust, "within": _TABLE} if adjust == "maxt" else {}
                tests = comparison.perm_test(ds, gold, alternative="greater", n_resamples=draws, **joint, **shared)
    texts = [*of_intervals.texts, *of_tests.texts]
    if checks.is_lazy(found["correlation"]):
        found, tests, said = _computed(found, tests, [of_intervals.checks, of_tests.checks], progress)
        texts += said
    if tests is not None and adjust != "maxt":
        with value_checks.held() as of_correction:
            tests = families.adjust(tests, adjust, within=_TABLE)
        texts += of_correction.texts
    notes = tuple(dict.fromkeys(texts))
    for note in notes:
        _validate.warn(note)
    return Report(name, found, tests, alpha, notes)


def _computed(
    found: xr.Dataset, tests: xr.Dataset | None, waiting: list[Checks], progress: bool | None
) -> tuple[xr.Dataset, xr.Dataset | None, list[str]]:
    """Lazy intervals and tests, and what there is to say of the scores that they are of, at once."""
    dask = _validate.optional("dask", "dask")
    with _bar(progress):
        found, tests, said = dask.compute(found, tests, [check for each in waiting for check in each.kept])
    texts, error = value_checks.until_error([text for each in said for text in each])
    if error is not None:
        raise ValueError(error)
    return found, tests, texts


def _bar(progress: bool | None) -> AbstractContextManager[Any]:
    """Dask's bar of what this machine computes, where it is asked for, or takes two seconds and somebody watches."""
    if progress is False or (progress is None and not (sys.stderr is not None and sys.stderr.isatty())):
        return nullcontext()
    bar: Any = _validate.optional("dask.diagnostics", "dask").ProgressBar
    return bar(minimum=0 if progress else 2, dt=0.5, out=sys.stderr)  # type: ignore[no-any-return]


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all; a link stays, and what it points at is written."""
    path = path.resolve()
    if path.exists() and not path.is_file():  # a device or a pipe, of which there is no other
        path.write_text(text, encoding="utf-8")
        return
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".xsumstat-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
