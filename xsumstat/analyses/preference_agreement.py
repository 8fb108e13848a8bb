"""Do judges choose as human raters do: `preference_agreement`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import preference_parts as parts
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import preferences as schema
from xsumstat.inference import prompts
from xsumstat.inference.jackknife import bounded
from xsumstat.inference.prompts import LeftOut

TIES = ("count", "drop")
_NAMES = (
    *("accuracy", "ci_low", "ci_high", "kappa", "kappa_low", "kappa_high"),
    *("difference", "difference_low", "difference_high", "pvalue", "tie_share", "n_pairs", "n_shared", "n_prompts"),
)


@validate.public
def preference_agreement(
    ds: xr.Dataset,
    *,
    rater: Hashable | Sequence[Hashable] | None = None,
    ties: str = "count",
    adjust: str | None = "holm",
    confidence_level: float = 0.95,
    cluster: str | None = None,
) -> xr.Dataset:
    """Share of pairs on which a judge chooses as human raters do.

    Parameters
    ----------
    {ds.preferences rater.judges}
    ties : {"count", "drop"}, default "count"
        Count a tie as a choice like others, or leave out pairs with a tie.
    {judges}

    {dataset}
        On (rater,), the judges and "people" (human raters among themselves): ``accuracy``, ``ci_low``, ``ci_high``;
        ``kappa``, ``kappa_low``, ``kappa_high``; ``difference`` from people's accuracy on the pairs that two human
        raters judged, ``difference_low``, ``difference_high``, ``pvalue``, ``pvalue_adjusted``, ``significant``;
        ``tie_share``, ``n_pairs``, ``n_prompts``, ``n_shared``.

    Notes
    -----
    Null hypothesis: the judge agrees with a human rater as often as another human rater does. Scope: these systems on
    new prompts; limits leave out one prompt at a time. A pair judged in both orders counts once, as a tie if the
    choices differ. Formulas: documentation, "How intervals and tests are computed". Sources: Cohen (1960). Wilson
    (1927). Zheng et al. (2023), "Judging LLM-as-a-judge with MT-Bench and Chatbot Arena".

    Examples
    --------
    >>> import pandas as pd, xsumstat
    >>> choices = {"ann": "aababbabaa", "ben": "aababaabab", "gpt": "aabbbbabaa"}
    >>> rows = [("a", "b", each, at, rater) for rater, chosen in choices.items() for at, each in enumerate(chosen)]
    >>> frame = pd.DataFrame(rows, columns=["left", "right", "choice", "prompt", "rater"])
    >>> ds = frame.meta.to_preferences(rater="rater", kind={"human": ["ann", "ben"]})
    >>> ds.meta.preference_agreement().accuracy.to_series().round(2).to_dict()
    {'gpt': 0.8, 'people': 0.8}
    """
    validate.choice("ties", ties, TIES)
    asked = parts.Asked.checked(ds, confidence_level, adjust, cluster)
    choices = asked.choices
    choices.needs_people("preference_agreement")
    choices.needs_judges("preference_agreement")
    people = _People.of(choices, drop=ties == "drop")
    rows = {choices.raters[at]: _of_judge(choices, people, at, asked.confidence_level) for at in choices.judges(rater)}
    lacking = [label for label, row in rows.items() if row is None]
    found: dict[Any, tuple[float, ...]] = {label: row for label, row in rows.items() if row is not None}
    if not found:
        raise ValueError(f"no pair was judged both by a human and by {validate.listing(lacking)}")
    parts.warn_left_out(lacking, "judge", "shared no pair with a human")
    found[schema.PEOPLE] = _of_people(choices, people, asked.confidence_level)
    if not people.several.any():
        validate.warn(
            "no pair was judged by two humans: human agreement is unknown",
            "no_rating",
        )
    numbers = dict(zip(_NAMES, np.array(list(found.values())).T, strict=True))
    result = asked.result(numbers, list(found), "preference_agreement", ties=ties)
    return asked.tested(result, "accuracy", _NAMES)


@dataclass(frozen=True)
class _People:
    """Human choices of each pair: counts (right, tie, left), their number, and the share of human raters who agree."""

    counts: FloatArray
    n: FloatArray
    alike: FloatArray
    drop: bool

    @classmethod
    def of(cls, choices: schema.Choices, *, drop: bool) -> _People:
        verdicts = choices.verdicts[:, :, choices.human]
        counts = np.stack([(verdicts == each).sum(axis=2) for each in (-1, 0, 1)], axis=-1).astype(float)
        if drop:
            counts[..., 1] = 0.0
        n = counts.sum(axis=-1)
        alike = np.where(n > 1, (counts * (counts - 1)).sum(axis=-1) / np.maximum(n * (n - 1), 1), 0.0)
        return cls(counts, n, alike, drop)

    @property
    def several(self) -> Any:
        return self.n > 1

    @property
    def ties(self) -> FloatArray:
        return np.asarray(self.counts[..., 1] / np.maximum(self.n, 1))


def _kappa(sums: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        p, t, u = (sums[..., at] / sums[..., 3] for at in range(3))
        chance = t * u + (1 - t) * (1 - u) / 2
        return np.where((sums[..., 3] > 0) & (chance < 1 - 1e-12), (p - chance) / (1 - chance), np.nan)


def _of_judge(choices: schema.Choices, people: _People, at: int, level: float) -> tuple[float, ...] | None:
    verdict = choices.verdicts[:, :, at]
    judged = ~np.isnan(verdict) & ((verdict != 0) | (not people.drop))
    there = judged & (people.n > 0)
    if not there.any():
        return None
    place = np.where(judged, verdict + 1, 0).astype(np.int64)
    same = np.take_along_axis(people.counts, place[..., None], axis=-1)[..., 0] / np.maximum(people.n, 1)
    sums = _summed(choices, there, [same, verdict == 0, people.ties])
    shared = there & people.several
    both = _summed(choices, shared, [same, people.alike])
    apart = prompts.left_out(
        lambda s: (prompts.ratio(0, 2)(s) - prompts.ratio(1, 2)(s)), both, both[:, 2]
    ) if shared.any() else None  # fmt: skip
    return _numbers(sums, apart, level, int(shared.sum()), int(there.any(axis=1).sum()))


def _of_people(choices: schema.Choices, people: _People, level: float) -> tuple[float, ...]:
    there = people.several
    if not there.any():
        return (*[math.nan] * 11, 0.0, 0.0, 0.0)
    sums = _summed(choices, there, [people.alike, people.ties, people.ties])
    return _numbers(sums, None, level, 0, int(there.any(axis=1).sum()))


def _summed(choices: schema.Choices, there: Any, values: list[Any]) -> FloatArray:
    each = [np.where(there, value, 0.0).sum(axis=1) for value in (*values, 1.0)]
    return choices.by_cluster(np.stack(each, axis=1))


def _numbers(sums: FloatArray, apart: LeftOut | None, level: float, n_shared: int, n_prompts: int) -> tuple[float, ...]:
    accuracy = prompts.left_out(prompts.ratio(0, 3), sums, sums[:, 3])
    kappa = prompts.left_out(_kappa, sums, sums[:, 3])
    limits = accuracy.of_share(level, math.inf)
    total = sums.sum(axis=0)
    difference = (math.nan,) * 4 if apart is None else (apart.value, *prompts.within(apart.by_t(level)), apart.pvalue())
    return (
        *(accuracy.value, *limits, kappa.value, *_of_kappa(kappa, limits, total, level)),
        *(*difference, float(total[1] / total[3]), float(total[3]), float(n_shared), float(n_prompts)),
    )


def _of_kappa(kappa: LeftOut, accuracy: tuple[float, float], total: FloatArray, level: float) -> tuple[float, float]:
    """Limits of kappa by arctanh; where nothing varies, from those of the accuracy at the same shares of ties."""
    if math.isnan(kappa.value) or math.isnan(kappa.variance):
        return math.nan, math.nan
    found = bounded(kappa.value, 0.0, kappa.standard_error, kappa.n - 1.0)
    if not found.fell_back:
        return found.interval(level)
    ends = [float(_kappa(np.array([end, *total[1:3] / total[3], 1.0]))) for end in accuracy]
    return min(ends[0], kappa.value), max(ends[1], kappa.value)
