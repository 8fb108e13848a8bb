"""What analyses of few ratings and many scores of a metric share: their scores and warnings."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.coefficients import arrays
from xsumstat.dataset import checks, directions, facts, leakage
from xsumstat.dataset import scores as schema
from xsumstat.dataset.facts import Fact
from xsumstat.dataset.value_checks import Checks, by_metric, of_values
from xsumstat.types import FloatArray

# Of more ratings than this share being one value, intervals may be too short.
ONE_VALUE = 0.6
# Rated inputs are told to differ from the others below this p-value, corrected for the number of systems.
_DIFFER = 0.01


@dataclass(frozen=True)
class FewRatings:
    """Scores (..., metric, system, input) as given, and ratings (..., system, input) of some of their inputs."""

    score: xr.DataArray
    gold: xr.DataArray
    gold_name: str
    signs: FloatArray
    gold_sign: int
    dropped: dict[str, list[Hashable]]
    later: Checks

    @property
    def further(self) -> dict[str, int]:
        """The further dims and their sizes."""
        sizes = {str(dim): size for each in (self.score, self.gold) for dim, size in each.sizes.items()}
        return {dim: size for dim, size in sizes.items() if dim not in facts.CORE}

    @property
    def arrays(self) -> list[tuple[xr.DataArray, tuple[str, ...]]]:
        """Scores and ratings, each with its dims that are no further labels."""
        return [(self.score, facts.CORE), (self.gold, facts.CELLS)]

    @property
    def lazy(self) -> bool:
        """Whether any of them are."""
        return facts.is_lazy(self.score) or facts.is_lazy(self.gold)

    @property
    def metrics(self) -> list[Hashable]:
        """The metrics that help."""
        return list(self.score.indexes["metric"])


def prepared(ds: xr.Dataset, gold: Any, metric: Any) -> FewRatings:
    """Check scores and human scores of some inputs, and find the metrics that help."""
    score = schema.checked_scores(ds)
    human, name, own = schema.find_gold(ds, score, gold)
    if metric is None:
        there = leakage.judged(score, own)
        if len(there) != 1:
            raise ValueError(
                "metric is not given: name the metric whose scores help, or a list whose standardised mean does; "
                f"metrics: {_validate.listing(there, 30)}"
            )
        metric = there
    chosen = schema.choose(score, metric, "metric")
    score = score.isel(metric=chosen)
    if set(own) & set(score.indexes["metric"]):
        raise ValueError(f"metric {own[0]!r} is the gold itself, which cannot help itself; name another metric")
    signs = np.ones(len(chosen))
    if "higher_is_better" in score.coords:
        signs = np.where(directions.as_bool(score["higher_is_better"]).values, 1.0, -1.0)
    sign = -1 if "higher_is_better" in human.coords and not bool(human["higher_is_better"].all()) else 1
    score = score.transpose(..., *facts.CORE)
    human = _on_all_inputs(schema.as_gold(human, score, "input"), score)
    score, human, dropped = schema.aligned(score, human)
    checks.check_sizes(score, None)
    later = Checks()
    later.make(checks.check_finite, of_values(facts.spread, human), "gold")
    later.make(checks.check_finite, by_metric(schema.spread_of_one, [score]), "score")
    equal = by_metric(_equal, [score], human)
    leakage.warn_of_people(later, [equal], score, human, name, {}, own)
    return FewRatings(score, human, name, signs, sign, dropped, later)


def _equal(scores: list[xr.DataArray], gold: xr.DataArray) -> Fact:
    return leakage.equal_to(scores[0], gold)


def _on_all_inputs(gold: xr.DataArray, score: xr.DataArray) -> xr.DataArray:
    """Gold on all inputs that the metrics scored: one that it lacks has no rating."""
    if "input" not in gold.indexes or "input" not in score.indexes:
        return gold
    known = gold.indexes["input"]
    if not known.isin(score.indexes["input"]).any():
        return gold  # `aligned` says that they share none
    lost = known[~known.isin(score.indexes["input"])]
    if len(lost):
        _validate.warn(
            f"left out {_validate.counted(len(lost), 'input')} of the gold without metric scores: "
            f"{_validate.listing(lost)}",
            "labels_left_out",
        )
    return gold.reindex(input=score.indexes["input"])


def combined(x: FloatArray, signs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The standardised mean of some metrics (metrics, systems, inputs), and the factor of each."""
    if len(x) == 1:
        return x[0], np.ones(1)
    there = ~np.isnan(x).any(axis=0)
    n = there.sum(axis=-1)
    means = np.divide(np.where(there, x, 0.0).sum(axis=-1), n, out=np.zeros(x.shape[:2]), where=n > 0)
    rest = np.where(there, x - means[..., None], 0.0)
    df = np.maximum(n - 1, 0).sum()
    spread = np.sqrt((rest**2).sum(axis=(1, 2)) / df) if df else np.zeros(len(x))
    size = np.abs(np.where(there, x, 0.0)).max(axis=(1, 2), initial=0.0)
    varies = spread > 1e-12 * size
    factors = np.divide(signs, len(x) * spread, out=np.zeros(len(x)), where=varies)
    return np.where(there, np.tensordot(factors, np.where(there, x, 0.0), axes=1), np.nan), factors


def in_range(x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray, int, int]:
    """Scores and ratings brought to where squares of them are in range, and the powers of 2 that were taken out."""
    arrays.check_finite(x, z)  # of lazy ones, which may be computed before the checks of their Dataset are
    return arrays.scaled(x), arrays.scaled(z), arrays.exponent(x), arrays.exponent(z)


def one_value(z: FloatArray) -> FloatArray:
    """The share of each row's values, (systems, inputs), that its most frequent value has; 0 without values."""
    found = np.zeros(len(z))
    for at, row in enumerate(z):
        there = row[~np.isnan(row)]
        if len(there):
            found[at] = np.unique(there, return_counts=True)[1].max() / len(there)
    return found


# --- What is said ---


def warn_one_value(share: xr.DataArray, n: xr.DataArray) -> None:
    """Warn of systems whose ratings are mostly one value."""
    checks.warn_where(
        (share > ONE_VALUE) & (n >= 5),
        "more than 60 % of the ratings are equal: intervals may be too narrow, for",
        "one_value",
    )


def check_any(n_rated: xr.DataArray, left_out: xr.DataArray) -> None:
    """Refuse scores without any rating, and say how many ratings have no score beside them."""
    if not bool((n_rated > 0).any()):
        raise ValueError("no output has both a gold score and a metric score; NaN is a missing score")
    lost = int(left_out.sum())
    if lost:
        _validate.warn(
            f"left out {_validate.counted(lost, 'rating')} of outputs that the metric did not score", "scores_left_out"
        )


def warn_not_random(pvalue: xr.DataArray) -> None:
    """Warn of rated inputs whose scores by the metric differ from the others'."""
    differ = pvalue * pvalue.sizes["system"] < _DIFFER
    checks.warn_where(
        differ,
        "the metric scores rated inputs differently from the others (p < .01, Bonferroni over systems): they may not "
        "be a random sample, for",
        "not_random",
    )
