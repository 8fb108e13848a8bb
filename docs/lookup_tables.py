"""The tables that *Calibration* offers as files, made of what the benchmarks stored."""

import json
from pathlib import Path

import pandas as pd

_RENAMED = {
    "n_systems": "systems",
    "n_inputs": "inputs",
    "kind": "scores",
    "r": "correlation",
    "null": "null_hypothesis",
}
_COVERAGE = ["level", "coefficient", "systems", "inputs", "scores", "correlation", "interval", "coverage"]
_COVERAGE += ["misses_low", "misses_high", "relative_width", "trials"]
_SIZES = ["test", "settings", "level", "null_hypothesis", "tail", "systems", "inputs", "size", "undefined", "trials"]


def write(benchmarks: Path, folder: Path) -> None:
    """``coverage.csv`` and ``sizes.csv``; a file that would not change is left, for Sphinx goes by dates."""
    for name, frame in (("coverage", _coverage(benchmarks)), ("sizes", _sizes(benchmarks))):
        path, text = folder / f"{name}.csv", frame.to_csv(index=False)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def _stored(path: Path) -> pd.DataFrame:
    return pd.DataFrame(json.loads(path.read_text("utf-8"))).rename(columns=_RENAMED)


def _coverage(benchmarks: Path) -> pd.DataFrame:
    frame = _stored(benchmarks / "intervals.json")
    return frame[frame.trials > 0][_COVERAGE].sort_values(_COVERAGE[:7], kind="stable")


def _sizes(benchmarks: Path) -> pd.DataFrame:
    """Shares of the sets in which the test was defined."""
    frame = _stored(benchmarks / "sizes.json")
    defined = frame.trials - frame.undefined
    return frame.assign(size=(frame.found / defined.where(defined > 0)).round(4))[_SIZES]
