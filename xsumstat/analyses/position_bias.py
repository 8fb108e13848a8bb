"""Does a judge prefer what is shown first, or second: `position_bias`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import xarray as xr

from xsumstat.analyses import preference_parts as parts
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import preferences as schema
from xsumstat.inference import prompts, signflip_distribution

_NAMES = (
    *("position_bias", "ci_low", "ci_high", "pvalue", "flip_share", "flip_low", "flip_high"),
    *("n_first", "n_second", "n_pairs", "n_prompts"),
)


@validate.public
def position_bias(
    ds: xr.Dataset,
    *,
    rater: Hashable | Sequence[Hashable] | None = None,
    adjust: str | None = "holm",
    confidence_level: float = 0.95,
    cluster: str | None = None,
) -> xr.Dataset:
    """Test whether raters prefer the output that is shown first.

    Parameters
    ----------
    {ds.preferences}
    rater : label or list of labels, optional
        Raters to analyse. Default: all who saw pairs in both orders.
    {judges}

    {dataset}
        On (rater,): ``position_bias`` (share of pairs whose choice moves to the first output less the share that moves
        to the second), ``ci_low``, ``ci_high``, ``pvalue``, ``pvalue_adjusted``, ``significant``; ``flip_share`` (any
        move), ``flip_low``, ``flip_high``; ``n_first``, ``n_second``, ``n_pairs``, ``n_prompts``.

    Notes
    -----
    Null hypothesis: the order does not matter. Scope: these systems on new prompts. The p-value is that of a two-sided
    sign test of the pairs that move, all pairs of a prompt changing sides together. A pair moves to the first output if
    the rater chose that one in both orders, or once with a tie. Formulas: documentation, "How intervals and tests are
    computed". Sources: Zheng et al. (2023), "Judging LLM-as-a-judge". Bonett & Price (2012), "Adjusted Wald confidence
    interval".

    Examples
    --------
    >>> import pandas as pd, xsumstat
    >>> pairs = [("left", "right")] * 24 + [("right", "left")] * 6 + [("left", "left")] * 170
    >>> rows = [("a", "b", pair[swap], at, bool(swap)) for at, pair in enumerate(pairs) for swap in (0, 1)]
    >>> frame = pd.DataFrame(rows, columns=["left", "right", "choice", "prompt", "swapped"])
    >>> frame.meta.to_preferences(order="swapped").meta.position_bias().position_bias.values
    array([0.09])
    """
    asked = parts.Asked.checked(ds, confidence_level, adjust, cluster)
    choices = asked.choices
    places = choices.any_of(rater)
    found, lacking = {}, []
    for at in places:
        numbers = _of_rater(choices, at, asked.confidence_level)
        if numbers is None:
            lacking.append(choices.raters[at])
        else:
            found[choices.raters[at]] = numbers
    if not found:
        raise ValueError(
            f"no rater chose between the same two outputs in both orders; raters: {validate.listing(lacking)}. "
            "position_bias needs pairs of outputs that were shown in both orders"
        )
    parts.warn_left_out(lacking, "rater", "saw no pair in both orders")
    result = asked.result(
        dict(zip(_NAMES, np.array(list(found.values())).T, strict=True)), list(found), "position_bias"
    )
    return asked.tested(result, "position_bias", _NAMES)


def _of_rater(choices: schema.Choices, at: int, level: float) -> tuple[float, ...] | None:
    if choices.values.shape[2] < 2:
        return None
    first, second = choices.values[:, :, 0, at], choices.values[:, :, 1, at]
    both = ~np.isnan(first) & ~np.isnan(second)
    if not both.any():
        return None
    # Where the left system was shown first its choice is +1, where it was shown second that of the first is -1.
    moved: FloatArray = np.where(both, np.sign(first - second), 0.0)
    each = np.stack([moved.sum(axis=1), np.abs(moved).sum(axis=1), both.sum(axis=1)], axis=1)
    sums = choices.by_cluster(each.astype(float))
    bias, flips = (prompts.left_out(prompts.ratio(top, 2), sums, sums[:, 2]) for top in (0, 1))
    n = float(sums[:, 2].sum())
    to_first, to_second = float((moved > 0).sum()), float((moved < 0).sum())
    p = signflip_distribution.tail(sums[:, 0], step=1.0).pvalue(float(sums[:, 0].sum()), "two-sided")
    return (
        bias.value,
        *prompts.difference_of_shares(to_first, to_second, bias, n, level),
        p,
        flips.value,
        *flips.of_share(level, n),
        to_first,
        to_second,
        n,
        float((both.any(axis=1)).sum()),
    )
