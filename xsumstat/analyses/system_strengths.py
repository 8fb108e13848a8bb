"""Which system is preferred, by human raters, by a judge, and by both: `rank_systems`."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust as families
from xsumstat.analyses import preference_parts as parts
from xsumstat.analyses import ranking
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import preferences as schema
from xsumstat.inference import bradley_terry
from xsumstat.inference.bradley_terry import Design, Strengths
from xsumstat.inference.jackknife import t_quantile
from xsumstat.inference.pvalues import two_sided_by_t
from xsumstat.inference.system_means import Slope

_OF_SYSTEMS = ("strength", "ci_low", "ci_high", "standard_error", "win_rate")
_OF_PAIRS = ("difference", "difference_low", "difference_high", "pvalue")
_ORDER = ("strength", "ci_low", "ci_high", "rank", "cluster", "win_rate", *_OF_PAIRS, "pvalue_adjusted", "significant")


@validate.public
def rank_systems(
    ds: xr.Dataset,
    *,
    rater: Hashable | Sequence[Hashable] | None = None,
    adjust: str | None = "holm",
    confidence_level: float = 0.95,
    cluster: str | None = None,
) -> xr.Dataset:
    """Rank systems by pairwise choices of human raters, judges or both together.

    Parameters
    ----------
    {ds.preferences rater.judges judges}

    {dataset}
        `rater` has "people" (all human raters), each judge, and "people + JUDGE". On (rater, system): ``strength``
        (mean 0), ``ci_low``, ``ci_high``, ``standard_error``, ``rank``, ``cluster`` and ``win_rate`` (ties half). On
        (rater, system, other_system): ``difference``, ``difference_low``, ``difference_high``, ``pvalue``,
        ``pvalue_adjusted``, ``significant``. On (rater,): ``n_pairs`` and ``n_prompts``.

    Notes
    -----
    Null hypothesis: two systems have the same strength. Scope: these systems on new prompts; limits leave out one
    prompt at a time. The model is Bradley and Terry's with ties: the odds of choosing strength λ₁ over λ₂ are ``exp(λ₁
    − λ₂)``. "people + JUDGE" corrects few human choices by many of a judge (prediction-powered). It needs the prompts
    that people saw to be a random sample. Formulas: documentation, "How intervals and tests are computed". Sources:
    Bradley & Terry (1952). Davidson (1970). Angelopoulos, Duchi & Zrnic (2023), "PPI++".

    Examples
    --------
    >>> import pandas as pd, xsumstat
    >>> rows = [("a", "b", each, at) for at, each in enumerate(["a", "a", "tie", "b", "a", "a", "tie", "b", "a", "a"])]
    >>> frame = pd.DataFrame(rows, columns=["left", "right", "choice", "prompt"])
    >>> frame.meta.to_preferences().meta.rank_systems().strength.values.round(2)
    array([[ 0.55, -0.55]])
    """
    asked = parts.Asked.checked(ds, confidence_level, adjust, cluster)
    choices = asked.choices
    design = Design(choices.left, choices.right, len(choices.systems))
    rows: dict[Any, _Row] = {}
    people = _Units.of(choices, np.flatnonzero(choices.human).tolist())
    judges = {choices.raters[at]: _Units.of(choices, [at]) for at in choices.judges(rater)}
    if people is not None:
        rows[schema.PEOPLE] = people.row(choices, design)
    for label, judge in judges.items():
        if judge is not None:
            rows[label] = judge.row(choices, design)
    if people is not None:
        for label, judge in judges.items():
            if judge is not None and (judge.there & ~people.there).any():
                both = _both(choices, people, judge, design)
                rows |= {} if both is None else {f"{schema.PEOPLE} + {label}": both}
    _check_connected(rows, choices, design)
    result = _result(asked, rows)
    _warn(result, rows)
    result = families.adjusted(result, asked.adjust, ["system", "other_system"] if asked.adjust else None)
    return families.decided(_in_order(result, asked.alpha), asked.alpha, _ORDER)


class _Row:
    """What one rater, or people and a judge, say: sums over pairs, strengths, and how many choices and prompts."""

    def __init__(self, whole: FloatArray, without: FloatArray, design: Design, df: float, there: Any) -> None:
        self.whole, self.design, self.df, self.there = whole, design, df, there
        self._without = without

    @functools.cached_property
    def strengths(self) -> Strengths:
        return Strengths.of(self.whole, self._without, self.design, self.df)

    @property
    def n_clusters(self) -> int:
        return int(self._without.shape[1])

    def win_rates(self) -> FloatArray:
        n, net, _ = self.whole
        signs = self.design.signs
        played = n @ np.abs(signs)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(played > 0, 0.5 + net @ signs / (2 * played), np.nan))


class _Units:
    """One verdict of some raters together on each prompt and pair: the mean of theirs, and the share of ties."""

    def __init__(self, net: FloatArray, ties: FloatArray) -> None:
        self.net, self.ties, self.there = net, ties, ~np.isnan(net)

    @classmethod
    def of(cls, choices: schema.Choices, places: list[int]) -> _Units | None:
        verdicts = choices.verdicts[:, :, places]
        some = ~np.isnan(verdicts)
        if not some.any():
            return None
        return cls(
            parts.mean_verdicts(verdicts),
            parts.mean_verdicts(np.where(some, verdicts == 0, np.nan)),
        )

    def row(self, choices: schema.Choices, design: Design) -> _Row:
        sums = choices.by_cluster(_sums(self.there, [np.ones_like(self.net), self.net, self.ties]))
        sums = sums[sums[:, 0].sum(axis=1) > 0]
        total = sums.sum(axis=0)
        return _Row(total, (total - sums).transpose(1, 0, 2), design, len(sums) - 1.0, self.there)


def _sums(there: Any, values: list[FloatArray]) -> FloatArray:
    return np.stack([np.where(there, each, 0.0) for each in values], axis=1)


def _both(choices: schema.Choices, people: _Units, judge: _Units, design: Design) -> _Row | None:
    both = people.there & judge.there
    if not both.any():
        return None
    means, rests = [], []
    n_people = len(np.unique(choices.clusters[both.any(axis=1)]))
    for human, other in ((people.net, judge.net), (people.ties, judge.ties)):
        judged = choices.by_cluster(_sums(judge.there, [np.ones_like(other), other]))
        shared = choices.by_cluster(_sums(both, [np.ones_like(other), human, other, other**2, other * human]))
        kept = _kept(human, other, both)
        some = judged[:, 0].sum(axis=1) > 0
        totals = judged.sum(axis=0), shared.sum(axis=0)
        means.append(bradley_terry.corrected(*totals, kept))
        without = [
            (total - each[some]).transpose(1, 0, 2) for total, each in zip(totals, (judged, shared), strict=True)
        ]
        rests.append((without[1][0], bradley_terry.corrected(without[0], without[1], kept)))
    n = totals[1][0]
    whole = np.stack([n, n * means[0], n * means[1]])
    left = np.stack([rests[0][0], rests[0][0] * rests[0][1], rests[1][0] * rests[1][1]])
    return _Row(whole, left, design, n_people - 2.0, both)


def _kept(human: FloatArray, judge: FloatArray, both: Any) -> float:
    """How much of the slope of people's on the judge's choices is kept when it is shrunk."""
    n = both.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        f, h = (np.where(both, each - np.where(both, each, 0.0).sum(axis=0) / n, 0.0).T for each in (judge, human))
    prompts = np.array(float(both.any(axis=1).sum()))
    return float(Slope.of(f, h, prompts, np.array(float(np.maximum(n - 1, 0).sum()) - 1)).kept)


def _check_connected(rows: dict[Any, _Row], choices: schema.Choices, design: Design) -> None:
    for label, row in rows.items():
        groups = design.groups(row.whole[0])
        if groups.max() > 0:
            apart = [[choices.systems[at] for at in np.flatnonzero(groups == each)] for each in (0, 1)]
            raise ValueError(
                f"by {label}, no choices connect {validate.listing(apart[0])} with {validate.listing(apart[1])}: "
                "systems can be ranked where each was compared with each other, directly or through others. Select "
                "some of the pairs, or of the raters: ds.sel(pair=...), rater="
            )
        if row.n_clusters < 2:
            raise ValueError(f"by {label}, there is one prompt with choices, and limits need two or more")


def _result(asked: parts.Asked, rows: dict[Any, _Row]) -> xr.Dataset:
    k = len(asked.choices.systems)
    of_systems = {name: np.full((len(rows), k), np.nan) for name in _OF_SYSTEMS}
    of_pairs = {name: np.full((len(rows), k, k), np.nan) for name in _OF_PAIRS}
    for at, row in enumerate(rows.values()):
        found = row.strengths
        t = t_quantile(asked.confidence_level, found.df) if found.df > 0 else np.nan
        for i in range(k):
            error = found.error(np.eye(k)[i] - 1 / k)
            value = float(found.whole.strengths[i])
            numbers = (value, value - t * error, value + t * error, error)
            for name, number in zip(_OF_SYSTEMS, numbers, strict=False):
                of_systems[name][at, i] = number
        of_systems["win_rate"][at] = row.win_rates()
        for i, j in np.ndindex(k, k):
            if i != j:
                numbers = _compared(found, i, j, t)
                for name, number in zip(_OF_PAIRS, numbers, strict=True):
                    of_pairs[name][at, i, j] = number
    labels = list(rows)
    systems = parts.labels_of(asked.choices.systems)
    ds = xr.Dataset(
        {
            **{name: (("rater", "system"), each) for name, each in of_systems.items()},
            **{name: (("rater", "system", "other_system"), each) for name, each in of_pairs.items()},
            "n_pairs": ("rater", [int(row.there.sum()) for row in rows.values()]),
            "n_prompts": ("rater", [int(row.there.any(axis=1).sum()) for row in rows.values()]),
        },
        {"rater": parts.labels_of(labels), "system": systems, "other_system": systems},
    )
    return asked.described(ds, "rank_systems", alternative="two-sided")


def _compared(found: Strengths, i: int, j: int, t: float) -> tuple[float, float, float, float]:
    contrast = np.zeros(found.without.shape[1])
    contrast[i], contrast[j] = 1.0, -1.0
    value, error = float(found.whole.strengths[i] - found.whole.strengths[j]), found.error(contrast)
    if not np.isfinite(value) or not np.isfinite(error) or not found.df > 0:
        return value, np.nan, np.nan, np.nan
    return value, value - t * error, value + t * error, two_sided_by_t(value, error, found.df)


def _in_order(result: xr.Dataset, alpha: float) -> xr.Dataset:
    p, apart = families.decisive(result).values, result["difference"].values
    found = np.array([
        ranking.ranked(strengths, np.where(apart[at] > 0, p[at], np.nan), alpha)
        for at, strengths in enumerate(result["strength"].values)
    ])  # fmt: skip
    return result.assign(rank=(("rater", "system"), found[:, 0]), cluster=(("rater", "system"), found[:, 1]))


def _warn(result: xr.Dataset, rows: dict[Any, _Row]) -> None:
    infinite = [str(each) for each in result["rater"].values[result["strength"].isnull().any("system").values]]
    if infinite:
        validate.warn(
            f"by {validate.listing(infinite)} strengths are infinite: some systems win, or lose, all their choices "
            "against the others, or all choices are ties; see win_rate",
            "undefined",
        )
    resting = {label: row.strengths.fell_back for label, row in rows.items() if label not in infinite}
    resting = {label: n for label, n in resting.items() if n}
    if resting:
        validate.warn(
            f"without one prompt the strengths would be infinite, by {validate.listing(resting)}: limits rest on few "
            "prompts there",
            "fell_back",
        )
