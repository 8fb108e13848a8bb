"""Does a judge prefer what is shown first, or second: `position_bias`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.analyses import preference_parts as parts
from xsumstat.dataset import preferences as schema
from xsumstat.inference import prompts, sign_sums
from xsumstat.types import FloatArray

_NAMES = (
    *("position_bias", "ci_low", "ci_high", "pvalue", "flip_share", "flip_low", "flip_high"),
    *("n_first", "n_second", "n_pairs", "n_prompts"),
)


@_validate.public
def position_bias(
    ds: xr.Dataset,
    *,
    rater: Hashable | Sequence[Hashable] | None = None,
    adjust: str | None = "holm",
    confidence_level: float = 0.95,
    cluster: str | None = None,
) -> xr.Dataset:
    """Test whether raters prefer the output that is shown first, by the pairs whose choice changes with the order.

    Parameters
    ----------
    {ds.preferences}
    rater : label or list of labels, optional
        Raters to ask about; default all who saw pairs in both orders.
    {adjust.raters}
    {confidence_level}
    {cluster.prompts}

    Returns
    -------
    Dataset
        On (rater,): ``position_bias``, the share of pairs whose choice moves to the output shown first less the share
        that moves to the one shown second, with ``ci_low``, ``ci_high``, ``pvalue``, ``pvalue_adjusted`` and
        ``significant``; ``flip_share``, the share of pairs whose choice changes at all, with ``flip_low`` and
        ``flip_high``; ``n_first`` and ``n_second``, the numbers of pairs that move each way; ``n_pairs`` and
        ``n_prompts``.

    Raises
    ------
    ValueError, TypeError
        For preferences that are not as `to_preferences` gives them, an unknown rater, and where no rater saw a pair in
        both orders.

    Warns
    -----
    UserWarning
        Names the raters that saw no pair in both orders, and those with a single prompt, who have no interval.

    Notes
    -----
    A pair counts once for each prompt and rater, if the rater chose in both orders. It moves to the first where the
    rater chose the output shown first both times, or once and tied once; to the second likewise. Pairs whose choice
    stays say nothing of position, and only lower ``flip_share``. The test is the sign test of the others. Pairs of one
    prompt hang together, so all of a prompt change sides at once: if the order does not matter, each prompt might as
    well have shown its pairs the other way round. The p-value is computed, not sampled. Two-sided.

    Limits are those of a difference of two shares with one case added to each (Bonett & Price 2012), of `flip_share`
    score limits (Wilson 1927); both count pairs as fewer where those of one prompt are alike, by leaving prompts out.

    References
    ----------
    Zheng et al. (2023), "Judging LLM-as-a-judge with MT-Bench and Chatbot Arena". Bonett & Price (2012), "Adjusted Wald
    confidence interval for a difference of binomial proportions based on paired data".

    Examples
    --------
    >>> import numpy as np, pandas as pd, xsumstat
    >>> moved = np.repeat(["first", "second", "stays"], [24, 6, 170])
    >>> words = {"first": ("left", "right"), "second": ("right", "left"), "stays": ("left", "left")}
    >>> frame = pd.DataFrame(
    ...     {"left": "small", "right": "large", "choice": words[move][swapped], "prompt": at, "swapped": bool(swapped)}
    ...     for at, move in enumerate(moved)
    ...     for swapped in (0, 1)
    ... )
    >>> found = frame.meta.to_preferences(order="swapped").meta.position_bias()
    >>> columns = ["rater", "position_bias", "ci_low", "ci_high", "flip_share", "pvalue"]
    >>> found.meta.to_frame(brief=True)[columns].round(3)
       rater  position_bias  ci_low  ci_high  flip_share  pvalue
    0  judge           0.09   0.035    0.143        0.15   0.001
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
            f"no rater chose between the same two outputs in both orders; raters: {_validate.listing(lacking)}. "
            "position_bias needs pairs that were shown both ways round"
        )
    parts.warn_left_out(lacking, "rater", "saw no pair in both orders")
    result = asked.result(
        dict(zip(_NAMES, np.array(list(found.values())).T, strict=True)), list(found), "position_bias"
    )
    return asked.tested(result, "position_bias", _NAMES)


def _of_rater(choices: schema.Choices, at: int, level: float) -> tuple[float, ...] | None:
    """The numbers of `_NAMES` of one rater; None without a pair in both orders."""
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
    p = sign_sums.tail(sums[:, 0], step=1.0).pvalue(float(sums[:, 0].sum()), "two-sided")
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
