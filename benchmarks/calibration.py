"""``python benchmarks/calibration.py``: the tables of ``docs/calibration.md``, from what was measured and kept.

Each section stands between two comments; ``intervals.py``, ``halves.py``, ``bands.py`` and ``sizes.py`` measure them.
"""

import json
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "calibration.md"
SINGLE = ("0", ".3", ".6", ".9")
EQUAL = (".6 - .6", ".9 - .9")
ORDER = {
    "level": ("system", "input", "global"),
    "coefficient": ("pearson", "spearman", "kendall"),
    "target": ("one metric", "unequal", "equal"),
    "interval": ("jackknife", "percentile", "basic", "normal", "bca", "corrected", "fisher"),
}
KINDS = ("normal", "likert", "t5", "gaps", "outlying")


def table() -> pd.DataFrame:
    """One row for each design, kind of scores, level, coefficient, correlation or difference, and interval."""
    rows = pd.DataFrame(json.loads((HERE / "intervals.json").read_text()))
    rows = rows[rows.trials > 0].copy()
    rows["target"] = rows.r.map(lambda r: "one metric" if r in SINGLE else "equal" if r in EQUAL else "unequal")
    rows["distance"] = (rows.coverage - 0.95).abs()
    return rows


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """By level, coefficient, target and interval, on the rows that all intervals of the level have."""
    by = ["level", "coefficient", "target", "interval"]
    rows = rows.assign(**{name: pd.Categorical(rows[name], values) for name, values in ORDER.items()})
    grouped = rows.groupby(by, observed=True)
    found = pd.DataFrame(
        {
            "cases": grouped.size(),
            "trials": grouped.trials.median().astype(int),
            "mean": grouped.coverage.mean(),
            "least": grouped.coverage.min(),
            "below .90": grouped.coverage.agg(lambda each: (each < 0.9).mean()),
            "above .98": grouped.coverage.agg(lambda each: (each > 0.98).mean()),
            "distance": grouped.distance.mean(),
            "misses low": grouped.misses_low.mean(),
            "misses high": grouped.misses_high.mean(),
            "relative width": grouped.relative_width.mean(),
        }
    )
    return found.reset_index()


def by_design(rows: pd.DataFrame, level: str, coefficient: str) -> pd.DataFrame:
    """Least coverage over the correlations of one metric: the jackknife and, in brackets, the percentile interval."""
    here = rows[(rows.level == level) & (rows.coefficient == coefficient) & (rows.target == "one metric")]
    least = here.groupby(["n_systems", "n_inputs", "kind", "interval"]).coverage.min().unstack("interval")
    percentile = least.get("percentile", pd.Series(index=least.index, dtype=float))
    text = [
        f"{one:.2f}" + (f" ({other:.2f})" if pd.notna(other) else "")
        for one, other in zip(least.jackknife, percentile, strict=True)
    ]
    wide = pd.Series(text, least.index).unstack("kind")
    return wide[[kind for kind in KINDS if kind in wide]].reset_index()


def markdown(frame: pd.DataFrame) -> str:
    """A table in Markdown."""
    shown = frame.astype(object).map(lambda each: f"{each:.3f}" if isinstance(each, float) else str(each))
    shown = shown.rename(columns={"n_systems": "systems", "n_inputs": "inputs"})
    lines = ["| " + " | ".join(map(str, shown.columns)) + " |", "| " + " | ".join("---" for _ in shown.columns) + " |"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in shown.astype(str).values.tolist())])


def intervals() -> str:
    """The section of `ci`'s intervals."""
    rows = table()
    bad, rows = rows[rows.kind == "bad"], rows[rows.kind != "bad"]
    usual = rows[rows.kind != "outlying"]
    parts = ["### Summary, outlying systems apart", "", markdown(summary(usual).round(3)), ""]
    outlying = summary(rows[(rows.kind == "outlying") & rows.interval.isin(["jackknife", "percentile"])])
    parts += ["### Summary of outlying systems", "", markdown(outlying.round(3)), ""]
    shown = ["n_systems", "n_inputs", "level", "coefficient", "r", "coverage", "misses_low", "misses_high", "trials"]
    one = markdown(bad[bad.interval == "jackknife"][shown])
    parts += ["### One bad system", "", one, ""]
    for level in ("system", "input", "global"):
        for coefficient in ("pearson", "spearman", "kendall"):
            parts += [f"### {level} level, {coefficient}", "", markdown(by_design(rows, level, coefficient)), ""]
    return "\n".join(parts)


def halves() -> str:
    """The section of halves of published scores."""
    return markdown(pd.DataFrame(json.loads((HERE / "halves.json").read_text())))


def into_page(name: str, text: str) -> None:
    """Put the section of that name between its comments."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, rest = PAGE.read_text().split(start)
    PAGE.write_text(f"{before}{start}\n{text.strip()}\n{end}{rest.split(end)[1]}")


def main() -> None:
    """Write the sections whose figures are there."""
    for name, made in (("intervals", intervals), ("halves", halves)):
        if (HERE / f"{name}.json").exists():
            into_page(name, made())


if __name__ == "__main__":
    main()
