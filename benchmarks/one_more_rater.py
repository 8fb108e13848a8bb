"""``python benchmarks/one_more_rater.py``: prints for docs/calibration how a judge who is one more rater looks.

The judge's grades are compared with those of single raters, and with their majority vote: tied ones missing, or lowest.
"""

from __future__ import annotations

import warnings

import numpy as np
import xarray as xr

import xsumstat  # noqa: F401

SEED, SETS, SYSTEMS, INPUTS, NOISE = 3, 100, 4, 500, 0.8
# Limits of the grades, in standard deviations of quality.
SCALES = {
    "grades 1–5, symmetric": (-1.2, -0.4, 0.4, 1.2),
    "grades 1–5, mostly high": (-2.2, -1.6, -1.0, -0.3),
    "18 % pass": (0.9,),
}
# Raters, and the share of ratings that are missing.
DESIGNS = ((2, 0.0), (3, 0.2), (3, 0.67), (5, 0.0))


def drawn(limits: tuple[float, ...], raters: int, gaps: float, rng: np.random.Generator) -> xr.Dataset:
    """Grades of raters and of a judge of the same kind."""
    quality = rng.normal(size=(SYSTEMS, INPUTS, 1))
    grade = 1.0 + np.searchsorted(limits, quality + NOISE * rng.normal(size=(SYSTEMS, INPUTS, raters + 1)))
    rating = np.where(rng.random((SYSTEMS, INPUTS, raters)) < gaps, np.nan, grade[..., :-1])
    return xr.Dataset(
        {
            "score": (("metric", "system", "input"), grade[None, ..., -1]),
            "rating": (("system", "input", "rater"), rating),
        },
        {"metric": ["judge"]},
    )


def leans(ds: xr.Dataset) -> list[float]:
    """Percent of higher less percent of lower grades: by single raters, by the vote, by the lowest vote."""
    votes = {ties: ds.meta.majority_vote("rating", ties=ties)["rating"] for ties in ("missing", "lowest")}
    tables = [ds.meta.confusion("rating", along="rater"), *(ds.meta.confusion(vote) for vote in votes.values())]
    counts = [table["n_outputs"].squeeze().values for table in tables]
    return [100 * (np.triu(each, 1).sum() - np.tril(each, -1).sum()) / each.sum() for each in counts]


def main() -> None:
    print("| scale | raters, missing ratings | single raters | vote, ties missing | vote, ties lowest |")
    print("| --- | --- | --- | --- | --- |")
    for name, limits in SCALES.items():
        for raters, gaps in DESIGNS:
            rng = np.random.default_rng([SEED, raters])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                found = np.array([leans(drawn(limits, raters, gaps, rng)) for _ in range(SETS)])
            error = 1.96 * found.std(axis=0, ddof=1) / np.sqrt(SETS)
            cells = [f"{mean:+.1f} ± {each:.1f}" for mean, each in zip(found.mean(axis=0), error, strict=True)]
            print(f"| {name} | {raters}, {100 * gaps:.0f} % | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
