"""Does a judge prefer long outputs, or those of some systems, more than human raters do: `preference_bias`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.analyses import preference_parts as parts
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import preferences as schema
from xsumstat.inference import prompts

_NAMES = (
    *("difference", "ci_low", "ci_high", "standard_error", "pvalue", "share", "human_share"),
    *("n_pairs", "n_prompts"),
)


@validate.public
def preference_bias(
    ds: xr.Dataset,
    *,
    given: str | xr.DataArray | Sequence[str | xr.DataArray] | None = None,
    rater: Hashable | Sequence[Hashable] | None = None,
    adjust: str | None = "holm",
    confidence_level: float = 0.95,
    cluster: str | None = None,
) -> xr.Dataset:
    """Test whether judges prefer e.g. long outputs more than human raters do.

    Parameters
    ----------
    {ds.preferences}
    given : str, DataArray or list of these
        What outputs differ in: a variable such as ``length(prompt, system)``, a coordinate of systems, or a DataArray.
        Words or booleans make groups of systems. Required.
    {rater.judges judges}

    {dataset}
        On (rater, covariate): ``difference`` (the judge's share less people's), ``ci_low``, ``ci_high``,
        ``standard_error``, ``pvalue``, ``pvalue_adjusted``, ``significant``; ``share`` of the judge's choices for the
        output with the higher value, or of that group (ties half), ``human_share``, ``n_pairs``, ``n_prompts``.

    Notes
    -----
    Null hypothesis: the judge prefers the higher value as often as human raters do on the same pairs. So a judge is not
    biased if people prefer long outputs, too. Scope: these systems on new prompts; limits leave out one prompt at a
    time. A noisy judge's share is nearer to 50 % than people's; only a share farther from 50 % is clear evidence of
    bias. Formulas: documentation, "How intervals and tests are computed". Sources: Zheng et al. (2023), "Judging
    LLM-as-a-judge". Dubois et al. (2024), "Length-controlled AlpacaEval".

    Examples
    --------
    >>> import pandas as pd, xsumstat
    >>> choices = {"ann": "abba", "gpt": "aaba"}
    >>> rows = [(at, rater, each, 300, 100) for rater, chosen in choices.items() for at, each in enumerate(chosen)]
    >>> frame = pd.DataFrame(rows, columns=["prompt", "rater", "choice", "len_l", "len_r"]).assign(left="a", right="b")
    >>> ds = frame.meta.to_preferences(rater="rater", kind={"human": "ann"}, outputs={"length": ("len_l", "len_r")})
    >>> ds.meta.preference_bias(given="length").difference.values
    array([[0.25]])
    """
    if given is None:
        raise ValueError("preference_bias needs given, a variable such as 'length', or a coordinate of systems")
    asked = parts.Asked.checked(ds, confidence_level, adjust, cluster)
    choices = asked.choices
    choices.needs_people("preference_bias")
    choices.needs_judges("preference_bias")
    columns = [each for name in validate.listed(given) for each in _columns(ds, choices, name)]
    validate.unique("given", [label for label, _, _ in columns])
    human = parts.mean_verdicts(choices.verdicts[:, :, choices.human])
    places = choices.judges(rater)
    rows = [[_compared(choices, human, at, sign, asked.confidence_level) for _, sign, _ in columns] for at in places]
    empty = [choices.raters[at] for at, row in zip(places, rows, strict=True) if all(each is None for each in row)]
    if len(empty) == len(places):
        raise ValueError(
            f"no pair whose outputs differ in {validate.listing(label for label, _, _ in columns)} was judged both by "
            "people and by a judge"
        )
    parts.warn_left_out(empty, "judge", "shared no such pair with a human")
    kept = [at for at, label in enumerate(choices.raters[at] for at in places) if label not in empty]
    nothing = (*[np.nan] * 7, 0.0, 0.0)
    numbers = np.array([[nothing if each is None else each for each in rows[at]] for at in kept])
    result = asked.result(
        dict(zip(_NAMES, np.moveaxis(numbers, -1, 0), strict=True)),
        [choices.raters[places[at]] for at in kept],
        "preference_bias",
        {"covariate": [label for label, _, _ in columns]},
        given=", ".join(label for label, _, _ in columns),
    )
    result = result.assign(is_group=("covariate", [group for _, _, group in columns]))
    return asked.tested(result, "difference", _NAMES)


def _columns(ds: xr.Dataset, choices: schema.Choices, given: Any) -> list[tuple[str, FloatArray, bool]]:
    values = _found(ds, given)
    name = str(values.name if values.name is not None else "given")
    values = _on_systems(values, choices, name)
    filled = values.values
    if filled.dtype.kind in "iuf":
        return [(name, _sides(filled.astype(float), choices), False)]
    if filled.dtype.kind == "b":
        return [(name, _sides(filled.astype(float), choices), True)]
    there = ~pd.isna(filled)
    words = sorted({str(each) for each in filled[there].tolist()})
    if len(words) < 2:
        raise ValueError(f"given={name!r} has the one value {words[0]!r}" if words else f"given={name!r} has no value")
    members = [(word, np.where(there, filled.astype(str) == word, np.nan).astype(float)) for word in words]
    # Of two groups the one says all that the other does.
    chosen = members[1:] if len(members) == 2 else members
    return [(f"{name}={word}", _sides(each, choices), True) for word, each in chosen]


def _found(ds: xr.Dataset, given: Any) -> xr.DataArray:
    if isinstance(given, xr.DataArray):
        return given
    fitting = [str(name) for name, each in ds.variables.items() if "system" in each.dims and name != "system"]
    if not isinstance(given, str) or given not in fitting:
        hint = validate.suggestion(given, fitting) if isinstance(given, str) else ";"
        raise ValueError(
            f"given must be a variable or coordinate of systems, such as length(prompt, system), got "
            f"{validate.given(given)}{hint} available: {validate.listing(fitting) or 'none'}"
        )
    return ds[given]


def _on_systems(values: xr.DataArray, choices: schema.Choices, name: str) -> xr.DataArray:
    if not set(values.dims) <= {"prompt", "system"} or "system" not in values.dims:
        raise ValueError(f"given={name!r} must have the dims system, or prompt and system, got {values.dims}")
    index = values.indexes.get("system")
    if index is None:
        raise ValueError(
            f"given={name!r} has no labels of systems: name them, as in "
            f"ds.assign_coords(system={list(choices.systems)!r}, {name}=('system', [...]))"
        )
    lacking = [each for each in choices.systems if each not in index]
    if lacking:
        raise ValueError(f"given={name!r} has no value for the systems {validate.listing(lacking)}")
    values = values.compute().sel(system=list(choices.systems))
    if "prompt" not in values.dims:
        return values.expand_dims(prompt=1)
    if values.sizes["prompt"] != choices.values.shape[0]:
        raise ValueError(
            f"given={name!r} has {values.sizes['prompt']:,} prompts, and the preferences {choices.values.shape[0]:,}"
        )
    return values.transpose("prompt", "system")


def _sides(values: FloatArray, choices: schema.Choices) -> FloatArray:
    """1 where the left output has the higher value, -1 where the right one has, else 0."""
    sides = np.sign(values[:, choices.left] - values[:, choices.right])
    return np.broadcast_to(np.nan_to_num(sides), choices.values.shape[:2])


def _compared(
    choices: schema.Choices, human: FloatArray, at: int, sign: FloatArray, level: float
) -> tuple[float, ...] | None:
    judge = choices.verdicts[:, :, at]
    there = ~np.isnan(judge) & ~np.isnan(human) & (sign != 0)
    if not there.any():
        return None
    own, theirs = (np.where(there, (1 + sign * each) / 2, 0.0) for each in (judge, human))
    sums = choices.by_cluster(np.stack([each.sum(axis=1) for each in (own, theirs, there.astype(float))], axis=1))
    one, two = (prompts.left_out(prompts.ratio(each, 2), sums, sums[:, 2]) for each in (0, 1))
    apart = one.less(two)
    n = float(sums[:, 2].sum())
    limits = apart.by_t(level) if apart.variance != 0 else prompts.difference_of_shares(0.0, 0.0, apart, n, level)
    numbers = (apart.value, *prompts.within(limits), apart.standard_error, apart.pvalue(), one.value, two.value)
    return (*numbers, n, float(there.any(axis=1).sum()))
