"""A result in one to three plain sentences: `conclusion`."""

from __future__ import annotations

import importlib
import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import xarray as xr

from xsumstat.catalogue import ALL, ANALYSES, Analysis
from xsumstat.core import validate
from xsumstat.dataset import calibrated, chunking, drawn, few_systems, results, wording
from xsumstat.narrative import turned

_MOST_LABELS = 3
# Up to this number, each label gets a brief sentence with its numbers.
_MOST_IN_BRIEF = 12
_LAZY = "Not computed yet (Dask): after .compute() it says here what the numbers say."


@validate.public
def conclusion(result: xr.Dataset) -> str:
    """State a result in a few plain sentences.

    Parameters
    ----------
    {result}

    Returns
    -------
    str
        One to three sentences from the numbers and attrs. Up to three labels of additional dims have sentences of their
        own; for more, the text counts the best metric. Empty for other Datasets, or a result that was changed. Lazy
        results are not computed.

    Notes
    -----
    Where a test is not significant, the text says "no significant difference", never that metrics are equal. Undefined
    values (NaN) are named.

    {demo}
    >>> test = ds.meta.perm_test("human", level="input", n_resamples=999, rng=1).meta.adjust("holm")
    >>> print(test.meta.conclusion().partition(".")[0])
    For these 12 systems, judge beats bertscore, rouge, bleu, perplexity and length
    """
    try:
        said = sentences(result)
        if said in ([], [_LAZY]):
            return " ".join(said)
        about = _with_metrics(result)
        few = wording.few_groups(result)
        more = [turned.sentence(about), *_calibrated(about), *_weighted(about)]
        more += [wording.uneven_raters(result.attrs), wording.fewer_labels(result.attrs)]
        more.append(wording.unranked(result))
        if odd := wording.not_random(result):
            more.append(f"The rated inputs may be no random sample, for {wording.listed(odd)}, and then means mislead.")
        more += [f"{wording.capitalised(each)}." for each in (few, wording.kept_outputs(result.attrs)) if each]
        return " ".join(filter(None, [*said, *more]))
    except Exception:  # a result that was renamed or cut in any way still has to be shown
        return ""


def _with_metrics(result: xr.Dataset) -> xr.Dataset:
    """Coordinates of metrics lie along metric again where one was selected."""
    if "metric" not in result.coords or result["metric"].dims:
        return result
    own = [each for each in ("higher_is_better", calibrated.NAME) if each in result.coords and not result[each].dims]
    return result[own].reset_coords(own).expand_dims("metric").set_coords(own)


def _calibrated(result: xr.Dataset) -> list[str]:
    found = calibrated.labels(result)
    return (
        [f"{wording.listed(map(wording.name, found), 3)}: scores calibrated by the ratings of other inputs."]
        if found
        else []
    )


def _weighted(result: xr.Dataset) -> list[str]:
    return [drawn.sentence(result.attrs)] if result.attrs.get("weights") == drawn.PROBABILITY else []


def sentences(result: xr.Dataset, *, closing: bool = True) -> list[str]:
    """The sentences of `conclusion`, with or without the `closing` one; errors of changed results are raised."""
    analysis = str(result.attrs.get("analysis", "simulate"))
    if analysis not in ANALYSES or not result.data_vars or 0 in result.sizes.values():
        return []
    if analysis != "simulate" and not set(ANALYSES[analysis].main) & set(map(str, result.data_vars)):
        return []
    if any(chunking.is_lazy(values) for values in result.data_vars.values()):
        return [_LAZY] if "analysis" in result.attrs else []
    how = ANALYSES[analysis]
    result = results.without_draws(result)
    result = wording.of_group(_with_core(result, how))
    core = {*how.core, result.attrs.get("along"), *results.group_dims(result.attrs)}
    further = [dim for dim in _main(result, analysis).dims if dim not in core]
    size = 1
    for dim in further:
        size *= result.sizes[dim]
    if size <= _MOST_LABELS:
        found = [text for label, part in _parts(result, further) for text in _labelled(label, _said(part, how))]
    else:
        found = _of_many(result, further, size, how)
    closing = closing and bool(how.closing and found) and not _of_two_systems(result, how)
    return [*found, *(_function(how.closing)(result) if closing else [])]


def _said(part: xr.Dataset, how: Analysis) -> list[str]:
    """The sentences on one label."""
    found: list[str] = _of_two_systems(part, how) or _function(how.say)(part)
    return found


def _of_two_systems(result: xr.Dataset, how: Analysis) -> list[str]:
    """What two systems' correlations cannot show; empty for other results."""
    if not (how.needs_three and few_systems.is_of_two(result.attrs)):
        return []
    why = few_systems.why_certain(str(result.attrs.get("coefficient")))
    return [f"With 2 systems {why} and tells nothing about the metrics. Use {few_systems.WAY_OUT}."]


def _with_core(result: xr.Dataset, how: Analysis) -> xr.Dataset:
    """Dims with one selected label are dims of their variables again."""
    along = str(result.attrs.get("along", ""))
    for dim in dict.fromkeys((*how.core, along)):
        if dim in result.coords and dim not in result.dims:
            names = how.along("along" if dim == along else dim)
            whole = result[[name for name in names if name in result.data_vars]].expand_dims(dim)
            result = result.drop_vars(dim).assign(whole.data_vars)
    return result


def _function(name: str) -> Callable[[xr.Dataset], Any]:
    module, _, function = name.rpartition(".")
    found: Callable[[xr.Dataset], Any] = getattr(importlib.import_module(f"xsumstat.{module}"), function)
    return found


def _main(result: xr.Dataset, analysis: str) -> xr.DataArray:
    return result["truth"] if analysis == "simulate" else result[results.main_variable(result)]


def _parts(result: xr.Dataset, further: list[Hashable]) -> Iterator[tuple[str, xr.Dataset]]:
    for places in itertools.product(*(range(result.sizes[dim]) for dim in further)):
        part = wording.of_group(result.isel(dict(zip(further, places, strict=True))))
        part = part.assign_attrs(selected=list(map(str, further)))
        labels = (f"{dim} {wording.name(part[dim].item() if dim in part.coords else at)}" for dim, at in
                  zip(further, places, strict=True))  # fmt: skip
        yield ", ".join(labels), part


def _labelled(label: str, said: list[str]) -> list[str]:
    return [f"{label}: {said[0]}", *said[1:]] if label and said else said


def _of_many(result: xr.Dataset, further: list[Hashable], size: int, how: Analysis) -> list[str]:
    brief = [] if size > _MOST_IN_BRIEF else [(label, _said(part, how)) for label, part in _parts(result, further)]
    if how.best and result.sizes.get("metric", 1) > 1:
        counted = _counted(result, further, size, how)
        return [*filter(None, [counted]), *_in_brief(brief, wording.of_whom(result))]
    where = f"{size:,} labels of {wording.listed(further)}"
    refer = f"There are {where}; select one, as in result.sel({further[0]}=...), to read what it says."
    return _in_brief(brief, wording.of_whom(result)) or [refer]


def _counted(result: xr.Dataset, further: list[Hashable], size: int, how: Analysis) -> str:
    """The best of how many labels; the label "all" of `by=` does not count."""
    by = result.attrs.get("by")
    if by in further:
        result = result.isel({by: result[by].values != ALL})
    tops = [_function(how.best)(part) for _, part in _parts(result, further)]
    best = Counter(top[0] for top in tops if len(top) == 1)
    where = f"{len(tops):,} labels of {wording.listed(further)}"
    undefined = sum(not top for top in tops)
    shared = len(tops) - undefined - best.total()
    if not best and not shared:  # tests of some metrics with others have none, and say what they found for each label
        return "" if size <= _MOST_IN_BRIEF else f"In none of {where} is there a best metric."
    if len(best) == 1 and not undefined and not shared and best.total() > 1:
        every = "both" if best.total() == 2 else f"all {best.total():,}"
        first = wording.name(next(iter(best)))
        return f"By the estimates, {first} is the best in {every} labels of {wording.listed(further)}."
    counts = [f"{wording.name(metric)} in {count:,}" for metric, count in best.most_common()]
    counts += [f"shared by several in {shared:,}"] if shared else []
    without = f"; for {undefined:,} none is defined" if undefined else ""
    return f"By the estimates, of {where} the best is {wording.joined(counts)}{without}."


def _in_brief(said: list[tuple[str, list[str]]], whom: str) -> list[str]:
    """The first sentence for each label; a shared scope and method are stated once."""
    first = [(label, each[0]) for label, each in said if each]
    hows = {sentence.how for _, sentence in first if isinstance(sentence, wording.Sentence)}
    if len(hows) > 1:
        return [f"{label}: {sentence}" for label, sentence in first]
    bodies = [sentence.body if isinstance(sentence, wording.Sentence) else sentence[:-1] for _, sentence in first]
    shared = whom if whom and all(body.startswith(whom) for body in bodies) else ""
    told = "; ".join([*([shared[0].lower() + shared[1:-2]] if shared else []), *hows])
    texts = (f"{label}: {body.removeprefix(shared)}." for (label, _), body in zip(first, bodies, strict=True))
    return [*texts, *([f"Each of these: {told}."] if told else [])]
