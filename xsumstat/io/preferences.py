"""Read preferences from frames: `to_preferences`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.synonyms import spelt, words_of
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.dataset import preferences as schema
from xsumstat.io import cells, labels, rows, tabular
from xsumstat.io.labels import Labels, Place

# What a choice may say instead of a system's name, as `spelt` has it, or, of a number, as it is written.
_LEFT = words_of("a left 1 first one model_a system_a output_a response_a assistant_a answer_a",
                 "option_a model_1 system_1 output_1 response_1 answer_1 assistant_1 option_1 a_wins")  # fmt: skip
_RIGHT = words_of("b right 2 second two model_b system_b output_b response_b assistant_b answer_b",
                  "option_b model_2 system_2 output_2 response_2 answer_2 assistant_2 option_2 b_wins")  # fmt: skip
_TIE = words_of("tie tied ties c draw equal same both neither tie(bothbad) both_bad both_good no_preference tie_bad",
                "equally_good")  # fmt: skip
_NONE = words_of("error none nan null na n/a")
_VALUES = {**dict.fromkeys(_LEFT, 1.0), **dict.fromkeys(_TIE, 0.0), **dict.fromkeys(_RIGHT, -1.0)}
_GIVEN = words_of("left_first left given original ab a_first false 0 1 first not_swapped no as_is")
_SWAPPED = words_of("right_first right swapped reversed ba b_first true 2 second swap reverse yes")
_MOST = 10**8  # cells
# Names of the Dataset's own variables and coordinates.
_TAKEN = frozenset((schema.NAME, *schema.DIMS, "left", "right", "kind", "system"))


@validate.public
def to_preferences(
    frame: pd.DataFrame | object,
    *,
    left: str = "left",
    right: str = "right",
    choice: str = "choice",
    prompt: str | Sequence[str] = "prompt",
    rater: str | None = None,
    order: str | None = None,
    kind: str | Mapping[str, str | Iterable[str]] | None = None,
    outputs: Mapping[str, tuple[str, str]] | None = None,
) -> xr.Dataset:
    """Turn a frame of choices between two systems' outputs into a Dataset.

    Parameters
    ----------
    frame : DataFrame
        Pandas, polars, pyarrow, or any frame with ``to_pandas()``; the method ``df.meta.to_preferences(...)`` needs
        pandas. One row per choice by one rater. It is not changed.
    left, right : str, default "left", "right"
        Columns that name the system shown first, and the one shown second.
    choice : str, default "choice"
        Column of choices: the name of the chosen system, or "A", "left", "1", "model_a" ..., "B", "right", "2" ...,
        "tie", "C", "draw" ... Numbers are 1 and 2, or 1, 0 and -1. "error" and empty cells are missing.
    prompt : str or list of str, default "prompt"
        Column that names the prompt. Several columns, such as question and turn, name it together and become
        coordinates; the first is ``ds.attrs["cluster"]``, by which prompts belong together.
    rater : str, optional
        Column that names the rater. Default: one rater, "judge".
    order : str, optional
        Column that says which output was shown first if `left` was not always: "left first" or "right first",
        "original" or "swapped", False or True.
    kind : str or mapping, optional
        A column of "human" and "judge", or a mapping as ``{"human": ["ann", "ben"]}``. Default: all are judges.
    outputs : mapping, optional
        Numbers that describe outputs, by the columns of `left` and `right`: ``{"length": ("length_a", "length_b")}``
        becomes ``length(prompt, system)``.

    Returns
    -------
    Dataset
        ``preference(prompt, pair, order, rater)``: 1 where the left system of the pair was chosen, -1 the right one, 0
        a tie, NaN without a choice. Pairs are sorted by name: coordinates ``left(pair)`` and ``right(pair)``; `order`
        is "left first" or "right first"; ``kind(rater)``. Columns with one value per prompt or rater become
        coordinates.

    Raises
    ------
    ValueError, TypeError
        For an unknown column or word, a missing label, a chosen system that was not shown, or a repeated choice.

    Warns
    -----
    LeftOutWarning
        Counts the rows without a choice, and names the columns that are left out.

    Examples
    --------
    >>> import pandas as pd, xsumstat
    >>> frame = pd.DataFrame({"a": ["small", "large"], "b": ["large", "small"], "winner": ["b", "a"], "q": [1, 1]})
    >>> ds = xsumstat.to_preferences(frame, left="a", right="b", choice="winner", prompt="q")
    >>> ds.preference.squeeze().to_series().to_dict()  # the judge chose large, the left system, in both orders
    {'left first': 1.0, 'right first': 1.0}
    """
    table = rows.prepared(tabular.as_pandas(frame), None)
    return of_frame(
        table, left=left, right=right, choice=choice, prompt=prompt, rater=rater, order=order, kind=kind,
        outputs=outputs,
    )  # fmt: skip


def of_frame(
    frame: pd.DataFrame,
    *,
    left: str,
    right: str,
    choice: str,
    prompt: Any,
    rater: str | None,
    order: str | None,
    kind: Any,
    outputs: Any,
    place: Place = "row {}".format,
) -> xr.Dataset:
    prompts = _prompt_columns(prompt)
    described = _output_columns(frame, outputs)
    named = {"left": left, "right": right, "choice": choice}
    named |= {name: column for name, column in (("rater", rater), ("order", order)) if column is not None}
    if isinstance(kind, str):
        named["kind"] = kind
    for argument, column in (*named.items(), *(("prompt", each) for each in prompts)):
        rows.known_columns(frame, {argument: column})
    used = [*named.values(), *prompts, *(each for pair in described.values() for each in pair)]
    validate.unique("the columns named", used)
    tabular.check_flat(frame, used)
    if not len(frame):
        raise ValueError("the frame has no rows, and no choice")
    sides = [labels.of_rows(frame[column], f"{side} system", column, place) for side, column in
             (("left", left), ("right", right))]  # fmt: skip
    systems, codes = _systems(sides, (left, right), place)
    chosen = _chosen(frame[choice], choice, systems, codes, place)
    swapped = np.zeros(len(frame), dtype=bool) if order is None else _swapped(frame[order], order, place)
    turned = codes[0] > codes[1]
    by_prompt = _prompts(frame, prompts, place)
    whom = _one(schema.JUDGE, len(frame)) if rater is None else labels.of_rows(frame[rater], "rater", rater, place)
    low, high = np.minimum(*codes), np.maximum(*codes)
    pairs, of_pair = np.unique(low * len(systems) + high, return_inverse=True)
    at = (by_prompt.codes, of_pair.ravel(), (turned ^ swapped).astype(np.int64), whom.codes)
    raters, there = whom.array(), ~np.isnan(chosen)
    names = [[systems[each] for each in side] for side in np.divmod(pairs, len(systems))]
    pair_labels = [f"{one} | {two}" for one, two in zip(*names, strict=True)]
    validate.unique("the pairs of systems", pair_labels)
    values = _filled(
        at, np.where(turned, -chosen, chosen), there, (by_prompt, pair_labels, schema.ORDERS, raters), place
    )
    coords = {
        "prompt": by_prompt.array(), "pair": cells.text(pair_labels), "order": cells.text(schema.ORDERS),
        "rater": raters,
        "left": ("pair", cells.array(names[0])), "right": ("pair", cells.array(names[1])),
        "kind": ("rater", cells.text(_kinds(frame, kind, whom))),
    }  # fmt: skip
    dims = {"prompt": by_prompt, "rater": whom}
    coords |= _descriptions(frame, used, prompts if len(prompts) > 1 else [], dims, {*_TAKEN, *described})
    if described:
        coords["system"] = cells.array(systems)
    data: dict[str, Any] = {schema.NAME: (schema.DIMS, values)}
    data |= {name: (("prompt", "system"), _of_outputs(frame, name, columns, by_prompt, codes, len(systems), place))
             for name, columns in described.items()}  # fmt: skip
    _warn_of_missing(there, choice)
    ds = xr.Dataset(data, coords, {"cluster": prompts[0]} if len(prompts) > 1 else {})
    cells.report_alike({**ds.indexes, "system": systems})
    return ds


def _one(label: str, n: int) -> Labels:
    return Labels(pd.Series([label], dtype=object), np.zeros(n, dtype=np.int64))


def _prompt_columns(prompt: Any) -> list[str]:
    prompts = validate.several("prompt", prompt, "a column or several")
    if not prompts:
        raise ValueError(f"prompt must name at least one column, got {prompt!r}")
    prompts = [validate.column("each item of prompt", each) for each in prompts]
    taken = _TAKEN & {*prompts}
    if len(prompts) > 1 and taken:
        raise ValueError(f"prompt={prompt!r} makes coordinates of the columns: rename the column {sorted(taken)[0]!r}")
    return prompts


def _output_columns(frame: pd.DataFrame, outputs: Any) -> dict[str, tuple[str, str]]:
    if outputs is None:
        return {}
    if not isinstance(outputs, Mapping):
        raise TypeError(
            f"outputs must be a mapping such as {{'length': ('length_a', 'length_b')}}, got {validate.given(outputs)}"
        )
    for name, columns in outputs.items():
        if not isinstance(name, str) or name in _TAKEN:
            raise ValueError(f"outputs must name variables other than {validate.listing(sorted(_TAKEN))}, got {name!r}")
        if not isinstance(columns, tuple | list) or len(columns) != 2:
            raise ValueError(
                f"outputs[{name!r}] must be two columns, of left and of right, got {validate.given(columns)}"
            )
        for column in columns:
            rows.known_columns(frame, {f"outputs[{name!r}]": column})
    return {str(name): (columns[0], columns[1]) for name, columns in outputs.items()}


def _systems(
    sides: list[Labels], columns: tuple[str, str], place: Place
) -> tuple[list[Any], tuple[IntArray, IntArray]]:
    """All systems sorted by name, and the places of each row's two."""
    each = [side.array().tolist() for side in sides]
    names = dict.fromkeys([*each[0], *each[1]])
    if any(isinstance(name, str) for name in names) and not all(isinstance(name, str) for name in names):
        raise ValueError(f"columns {columns[0]!r} and {columns[1]!r} must both be text, or neither")
    systems = sorted(names, key=lambda name: cells.natural(str(name)))
    at = {name: number for number, name in enumerate(systems)}
    codes = [np.array([at[name] for name in own], dtype=np.int64)[side.codes] for own, side in
             zip(each, sides, strict=True)]  # fmt: skip
    same = np.flatnonzero(codes[0] == codes[1])
    if len(same):
        raise ValueError(
            f"a system is compared with itself in {validate.counted(len(same), 'row')}, first in "
            f"{place(int(same[0]))}: "
            f"{systems[codes[0][same[0]]]!r}"
        )
    return systems, (codes[0], codes[1])


def _chosen(
    column: pd.Series[Any], name: str, systems: list[Any], codes: tuple[IntArray, IntArray], place: Place
) -> FloatArray:
    """1 where the left system of the row was chosen, -1 the right one, 0 a tie, NaN without a choice."""
    values, found = pd.factorize(column)
    texts = [_written(each) for each in np.asarray(found).tolist()]
    signed = "-1" in texts
    by_name = {_written(system): at for at, system in enumerate(systems)}
    out = np.full(len(column), np.nan)
    for at, text in enumerate(texts):
        here = np.flatnonzero(values == at)
        meant = _meant(text, signed)
        if text in by_name:
            out[here] = _by_name(by_name[text], text, meant, here, codes, name, place)
        elif meant is None:
            _refuse(text, name, here, systems, place)
        else:
            out[here] = meant
    return out


def _written(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def _meant(text: str, signed: bool) -> float | None:
    """Meaning of a word: NaN for no choice, None for an unknown word."""
    if signed and text in ("-1", "0", "1"):
        return float(text)
    word = spelt(text)
    if text.startswith("-") or (word.isdigit() and text != word):
        return None if text != "1.5" else 0.0
    if not word and not text or word in _NONE:
        return math.nan
    return _VALUES.get(word)


def _by_name(
    system: int,
    text: str,
    meant: float | None,
    here: IntArray,
    codes: tuple[IntArray, IntArray],
    name: str,
    place: Place,
) -> FloatArray:
    """Choices of a system by its name, in the rows that have them."""
    left, right = (side[here] == system for side in codes)
    lost = ~(left | right)
    if meant is not None and (lost.any() or (np.where(left, 1.0, -1.0) != meant).any()):
        raise ValueError(
            f"column {name!r} says {text!r}, which is a system and also means {_says(meant)}: give the system "
            "another name"
        )
    if lost.any():
        first = int(here[np.flatnonzero(lost)[0]])
        raise ValueError(f"column {name!r} chooses {text!r} in {place(first)}, which is neither system of the row")
    return np.where(left, 1.0, -1.0)


def _says(meant: float) -> str:
    return {1.0: "the left system", -1.0: "the right system", 0.0: "a tie"}.get(meant, "no choice")


def _refuse(text: str, name: str, here: IntArray, systems: list[Any], place: Place) -> None:
    hint = validate.suggestion(text, [*map(str, systems), "model_a", "model_b", "tie", "left", "right"])
    raise ValueError(
        f"column {name!r} holds {text!r} in {place(int(here[0]))}{hint} a choice must be the name of one of the two "
        "systems, 'A', 'left', '1' or 'model_a', 'B', 'right', '2' or 'model_b', or 'tie', 'C' or 'draw'"
    )


def _swapped(column: pd.Series[Any], name: str, place: Place) -> np.ndarray[Any, np.dtype[np.bool_]]:
    values, found = pd.factorize(column)
    words = [spelt(_written(each)) for each in np.asarray(found).tolist()]
    if (values < 0).any():
        raise ValueError(f"column {name!r} has no order in {place(int(np.flatnonzero(values < 0)[0]))}")
    for at, word in enumerate(words):
        if word not in (*_GIVEN, *_SWAPPED):
            first = place(int(np.flatnonzero(values == at)[0]))
            raise ValueError(
                f"column {name!r} holds {found[at]!r} in {first}; order must be 'left first' or 'right first', "
                "'original' or 'swapped', False or True"
            )
    if {"1", "0"} <= set(words):
        words = ["true" if word == "1" else word for word in words]
    return np.array([word in _SWAPPED for word in words], dtype=bool)[values]


def _prompts(frame: pd.DataFrame, columns: list[str], place: Place) -> Labels:
    each = [labels.of_rows(frame[column], "prompt", column, place) for column in columns]
    if len(each) == 1:
        return each[0]
    codes = np.unique(np.stack([one.codes.astype(np.int64) for one in each]), axis=1, return_inverse=True)
    order, first = pd.factorize(codes[1].ravel())
    named = [", ".join(_written(one.each.iloc[code]) for one, code in zip(each, codes[0][:, at], strict=True)) for at in
             first]  # fmt: skip
    validate.unique("prompt", named)
    return Labels(pd.Series(named, dtype=object), order.astype(np.int64))


def _filled(
    at: tuple[Any, ...],
    chosen: FloatArray,
    there: np.ndarray[Any, Any],
    dims: tuple[Labels, list[str], Sequence[str], np.ndarray[Any, Any]],
    place: Place,
) -> FloatArray:
    by_prompt, pairs, orders, raters = dims
    shape = (len(by_prompt.each), len(pairs), len(orders), len(raters))
    if math.prod(shape) > _MOST:
        raise ValueError(
            f"{shape[0]:,} prompts x {shape[1]:,} pairs x {shape[2]} orders x {shape[3]:,} raters are "
            f"{math.prod(shape):,} cells, and {_MOST:,} are the most: leave rater= away, or name by it a column of "
            "fewer values, as 'people'"
        )
    flat = np.ravel_multi_index(tuple(np.asarray(each, dtype=np.int64) for each in at), shape)
    order = np.argsort(flat, kind="stable")
    again = order[1:][np.diff(flat[order]) == 0]
    if len(again):
        cell = np.unravel_index(flat[again[0]], shape)
        first = int(order[np.flatnonzero(flat[order] == flat[again[0]])[0]])
        raise ValueError(
            f"{validate.counted(len(again), 'choice')} repeated, the first in {place(first)} and "
            f"{place(int(again[0]))}: prompt {by_prompt.array().tolist()[cell[0]]!r}, {pairs[cell[1]]}, "
            f"{orders[cell[2]]}, rater {raters.tolist()[cell[3]]!r}; name the column that distinguishes them in "
            "prompt=[...] or rater="
        )
    values = np.full(shape, np.nan)
    values.ravel()[flat[there]] = chosen[there] + 0.0  # no -0
    return values


def _kinds(frame: pd.DataFrame, kind: Any, whom: Labels) -> list[str]:
    raters = whom.array().tolist()
    kinds = (schema.HUMAN, schema.JUDGE)
    if kind is None:
        return [schema.JUDGE] * len(raters)
    if isinstance(kind, str):
        found = labels.described(frame[kind], {"rater": whom})
        if found is None:
            raise ValueError(f"kind={kind!r}: a rater must be of one kind in all rows, 'human' or 'judge'")
        for each in found[1].tolist():
            if each not in kinds:
                raise ValueError(f"column {kind!r} must hold 'human' or 'judge', got {each!r}")
        return [str(each) for each in found[1].tolist()]
    if not isinstance(kind, Mapping):
        raise TypeError(f"kind must be a column or a mapping such as {{'human': ['ann']}}, got {validate.given(kind)}")
    given: dict[Any, str] = {}
    for each, members in kind.items():
        validate.known("kind", each, kinds, "kinds")
        for member in validate.several(f"kind[{each!r}]", members, "a rater or several"):
            validate.known(f"rater in kind[{each!r}]", member, raters, "raters")
            if given.setdefault(member, each) != each:
                raise ValueError(f"kind names {member!r} as 'human' and as 'judge'")
    rest = schema.HUMAN if set(kind) == {schema.JUDGE} else schema.JUDGE
    return [given.get(rater, rest) for rater in raters]


def _descriptions(
    frame: pd.DataFrame, used: list[str], parts: list[str], dims: dict[str, Labels], taken: set[str]
) -> dict[str, tuple[str, np.ndarray[Any, Any]]]:
    """The prompt or rater that each further column describes; others are reported."""
    found: dict[str, tuple[str, np.ndarray[Any, Any]]] = {}
    loose = []
    for column in (*parts, *(each for each in frame.columns if each not in used)):
        nested = tabular.is_nested(frame[column]) or str(column) in taken
        own = None if nested else labels.described(frame[column], dims)
        if own is None:
            loose.append(column)
        else:
            found[str(column)] = own
    if loose:
        validate.warn(f"left out {validate.named('column', loose)}: no values of a prompt or rater", "columns_left_out")
    return found


def _of_outputs(
    frame: pd.DataFrame,
    name: str,
    columns: tuple[str, str],
    by_prompt: Labels,
    codes: tuple[IntArray, IntArray],
    n_systems: int,
    place: Place,
) -> FloatArray:
    """Descriptions of each system's output on each prompt; one value each, or none."""
    out = np.full((len(by_prompt.each), n_systems), np.nan)
    for column, systems in zip(columns, codes, strict=True):
        values = rows.numbers(frame[column], column, place)
        there = ~np.isnan(values)
        at = by_prompt.codes[there], systems[there]
        out[at] = np.where(np.isnan(out[at]), values[there], out[at])
        differ = np.flatnonzero(out[at] != values[there])
        if len(differ):
            row = int(np.flatnonzero(there)[differ[0]])
            raise ValueError(
                f"outputs[{name!r}] gives one output two values: {place(row)}, prompt "
                f"{by_prompt.array().tolist()[by_prompt.codes[row]]!r}; an output must be the same in all its pairs"
            )
    return out


def _warn_of_missing(there: np.ndarray[Any, Any], choice: str) -> None:
    lost = int((~there).sum())
    if lost == len(there):
        raise ValueError(f"column {choice!r} holds no choice")
    if lost:
        validate.warn(f"{lost:,} of {len(there):,} rows have no choice (column {choice!r})", "scores_left_out")
