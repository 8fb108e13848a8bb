"""What a judge report adds to the conclusions of its analyses: benchmarks, limits, and what a reader may overlook."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from xsumstat.dataset import wording
from xsumstat.report.judge_questions import Ask
from xsumstat.report.judge_subject import People


def after(ask: Ask, result: xr.Dataset, shown: Mapping[str, xr.Dataset], people: People) -> list[str]:
    """The sentences that follow those of the result; `shown` has the results so far."""
    if ask.picture == "forest":
        return _reversed(result)
    if ask.name == "alt_test":
        return _within_margin(result, shown)
    if ask.name == "confusion" and "along" in result.attrs:
        return _raters_alike(people)
    return []


def _raters_alike(people: People) -> list[str]:
    """How often two raters give one output the same grade."""
    alike, pairs = equal_pairs(people)
    if not pairs:
        return []
    return [
        f"Two raters give the same grade in {alike:,} of {pairs:,} pairs of ratings of an output "
        f"({100 * alike / pairs:.0f} %)."
    ]


def equal_pairs(people: People) -> tuple[int, int]:
    """Pairs of ratings of one output that are equal, and all such pairs."""
    ratings = people.each.transpose("rater", ...).values.reshape(people.n_raters, -1)
    rising = np.sort(ratings, axis=0)
    there = ~np.isnan(ratings)
    each = there.sum(axis=0)
    alike = np.zeros(ratings.shape[1], dtype=int)
    run = np.zeros(ratings.shape[1], dtype=int)
    for before, after in zip(rising, rising[1:], strict=False):
        run = np.where(before == after, run + 1, 0)
        alike += run  # a value equals each of the run before it
    return int(alike.sum()), int((each * (each - 1) // 2).sum())


def _reversed(result: xr.Dataset) -> list[str]:
    """Judges that fall where human scores rise, as if lower were better."""
    falls = result["metric"].values[result["ci_high"].values < 0].tolist()
    if not falls:
        return []
    one = len(falls) == 1
    names = wording.listed(map(wording.name, falls))
    return [
        f"{names} {'correlates' if one else 'correlate'} negatively with the human scores. If lower is better, "
        f"declare it: lower_is_better={falls!r} in to_scores, --lower-is-better on the command line."
    ]


def _within_margin(test: xr.Dataset, shown: Mapping[str, xr.Dataset]) -> list[str]:
    """Why judges that agree less than a rater may replace one."""
    high = shown["human_ceiling"]["difference_high"] if "human_ceiling" in shown else None
    rates = test["winning_rate"]
    if high is None or rates.dims != ("metric",) or high.dims != ("metric",):
        return []
    found = [label for label in rates["metric"].values if rates.sel(metric=label) >= 0.5 and high.sel(metric=label) < 0]
    if not found:
        return []
    names = wording.listed(map(wording.name, found))
    return [
        f"{names} may do so although {'it agrees' if len(found) == 1 else 'they agree'} less with the raters than a "
        f"rater does: the test allows a margin of {wording.setting(float(test.attrs['margin']))}, as it costs less. "
        "alt_test(margin=0) allows none."
    ]
