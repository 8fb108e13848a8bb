"""``python benchmarks/calibration.py``: the tables of ``docs/calibration``, from what was measured and kept.

Each table stands between two comments on one of the pages; ``intervals.py``, ``halves.py``, ``bands.py`` and
``sizes.py`` measure them.
"""

import json
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
LEVELS = ("system", "input", "global")
COEFFICIENTS = ("pearson", "spearman", "kendall")
SINGLE = ("0", ".3", ".6", ".9")
EQUAL = (".6 - .6", ".9 - .9")
ORDER = {
    "coefficient": COEFFICIENTS,
    "target": ("one metric", "unequal", "equal"),
    "interval": ("jackknife", "percentile", "basic", "normal", "bca", "corrected", "fisher"),
}
KINDS = {"normal": "normal", "likert": "Likert", "t5": "heavy tails", "gaps": "missing", "outlying": "outlying"}


def table() -> pd.DataFrame:
    """One row for each design, kind of scores, level, coefficient, correlation or difference, and interval."""
    rows = pd.DataFrame(json.loads((HERE / "intervals.json").read_text()))
    rows = rows[rows.trials > 0].copy()
    rows["target"] = rows.r.map(lambda r: "one metric" if r in SINGLE else "equal" if r in EQUAL else "unequal")
    rows["distance"] = (rows.coverage - 0.95).abs()
    return rows


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """By coefficient, target and interval, of one level: shares in percent."""
    by = list(ORDER)
    rows = rows.assign(**{name: pd.Categorical(rows[name], values) for name, values in ORDER.items()})
    grouped = rows.groupby(by, observed=True)
    shares = {
        "mean coverage": grouped.coverage.mean(),
        "lowest": grouped.coverage.min(),
        "cases below 90 %": grouped.coverage.agg(lambda each: (each < 0.9).mean()),
        "cases above 98 %": grouped.coverage.agg(lambda each: (each > 0.98).mean()),
        "distance from 95 %": grouped.distance.mean(),
        "truth above": grouped.misses_low.mean(),
        "truth below": grouped.misses_high.mean(),
    }
    found = pd.DataFrame({"cases": grouped.size(), "trials": grouped.trials.median().astype(int)})
    for name, each in shares.items():
        found[name] = (100 * each).map("{:.1f}".format)
    found["relative width"] = grouped.relative_width.mean().map("{:.2f}".format)
    return found.reset_index()


def by_design(rows: pd.DataFrame, coefficient: str) -> pd.DataFrame:
    """Coverage of the jackknife by design, mean and lowest of the correlations, with width and trials."""
    here = rows[(rows.coefficient == coefficient) & (rows.target == "one metric")]
    grouped = here.groupby(["n_systems", "n_inputs", "interval", "kind"])
    mean, least = 100 * grouped.coverage.mean(), 100 * grouped.coverage.min()
    text = pd.Series([f"{one:.0f}\u00a0({two:.0f})" for one, two in zip(mean, least, strict=True)], mean.index)
    wide = text.xs("jackknife", level="interval").unstack("kind").reindex(columns=list(KINDS))
    normal = {"interval": "jackknife", "kind": "normal"}
    width = grouped.relative_width.mean().xs(tuple(normal.values()), level=tuple(normal))
    trials = grouped.trials.min().xs(tuple(normal.values()), level=tuple(normal))
    found = wide.rename(columns=KINDS)
    found["percentile, normal"] = text.xs(("percentile", "normal"), level=("interval", "kind"))
    found["relative width"] = width.map("{:.2f}".format)
    found["trials"] = trials.astype(str)
    found = found.fillna("–")
    found.insert(0, "systems × inputs", [f"{systems} × {inputs}" for systems, inputs in found.index])
    return found


def markdown(frame: pd.DataFrame) -> str:
    """A table in Markdown."""
    shown = frame.astype(object).map(lambda each: f"{each:.3f}" if isinstance(each, float) else str(each))
    shown = shown.rename(columns={"n_systems": "systems", "n_inputs": "inputs"})
    lines = ["| " + " | ".join(map(str, shown.columns)) + " |", "| " + " | ".join("---" for _ in shown.columns) + " |"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in shown.astype(str).values.tolist())])


def intervals(level: str) -> str:
    """The tables of `ci`'s intervals at one level."""
    rows = table()
    rows = rows[rows.level == level]
    bad, rows = rows[rows.kind == "bad"], rows[rows.kind != "bad"]
    parts = []
    for coefficient in COEFFICIENTS:
        parts += [f"## {coefficient.capitalize()}", "", markdown(by_design(rows, coefficient)), ""]
    parts += ["## All intervals, without outlying systems", "", markdown(summary(rows[rows.kind != "outlying"])), ""]
    outlying = rows[(rows.kind == "outlying") & rows.interval.isin(["jackknife", "percentile"])]
    parts += ["## With outlying systems", "", markdown(summary(outlying)), ""]
    one = bad[bad.interval == "jackknife"].rename(columns={"r": "correlation"})
    if len(one):
        shown = one[["n_systems", "n_inputs", "coefficient", "correlation", "coverage", "trials"]]
        shown = shown.assign(coverage=(100 * one.coverage).map("{:.1f}".format))
        parts += ["## One system far below the others", "", markdown(shown), ""]
    return "\n".join(parts)


def halves() -> str:
    """The section of halves of published scores."""
    return markdown(pd.DataFrame(json.loads((HERE / "halves.json").read_text())))


def page_of(start: str) -> Path:
    """The page that has the comment."""
    pages = [DOCS / "calibration.md", *sorted((DOCS / "calibration").glob("*.md"))]
    (found,) = [page for page in pages if start in page.read_text(encoding="utf-8")]
    return found


def into_page(name: str, text: str) -> None:
    """Put the section of that name between its comments, on whichever page has them."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    page = page_of(start)
    before, rest = page.read_text(encoding="utf-8").split(start)
    page.write_text(f"{before}{start}\n{text.strip()}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def main() -> None:
    """Write the sections whose figures are there."""
    if (HERE / "intervals.json").exists():
        for level in LEVELS:
            into_page(f"intervals, {level}", intervals(level))
    if (HERE / "halves.json").exists():
        into_page("halves", halves())


if __name__ == "__main__":
    main()
