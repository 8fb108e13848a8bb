"""Dims and labels of scores; how gold is found and aligned."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.catalogue import RESERVED
from xsumstat.core import validate
from xsumstat.dataset import checks, covariates, directions, drawn, facts, leakage
from xsumstat.dataset.facts import CORE, Fact
from xsumstat.dataset.value_checks import Checks, by_metric, of_values


@validate.public
def set_dims(
    ds: xr.Dataset, *, metric: str | None = None, system: str | None = None, input: str | None = None
) -> xr.Dataset:
    """Rename the dims of a Dataset to `metric`, `system` and `input`.

    Parameters
    ----------
    ds : Dataset
        Any Dataset; it is not changed.
    metric, system, input : str, optional
        Present name of each dim to rename.

    Returns
    -------
    Dataset
        The same data with dims (and coordinates of these names) renamed.

    Examples
    --------
    >>> import xarray as xr, xsumstat
    >>> ds = xr.Dataset({"score": (("metric", "model", "doc"), [[[1.0, 2.0], [3.0, 4.0]]])})
    >>> dict(xsumstat.set_dims(ds, system="model", input="doc").sizes)
    {'metric': 1, 'system': 2, 'input': 2}
    """
    given = {"metric": metric, "system": system, "input": input}
    renames: dict[Hashable, Hashable] = {}
    for new, old in given.items():
        if old is None or validate.column(new, old) == new:
            continue
        if old not in ds.dims:
            hint = validate.suggestion(old, [str(dim) for dim in ds.dims])
            raise ValueError(f"{new}={old!r} is not a dim{hint} dims: {validate.listing(ds.dims)}")
        if new in ds.variables or new in ds.dims:
            raise ValueError(f"cannot rename {old!r} to {new!r}: the Dataset has a {new!r} already")
        renames[old] = new
    return ds.rename(renames)


@dataclass(frozen=True)
class Scores:
    """Scores and gold: checked, turned to higher is better, and aligned."""

    score: xr.DataArray  # (..., metric, system, input), float64
    gold: xr.DataArray  # (..., system, input), NaN where a covariate is missing
    gold_name: str
    dropped: Mapping[str, list[Hashable]]  # labels left out
    rows: list[int]  # places of the metrics asked for
    columns: list[int]  # of their partners
    used: tuple[xr.DataArray, xr.DataArray] | None  # systems and inputs of lazy scores (otherwise the rest is dropped)
    spreads: tuple[Any, Any]  # with `later` for checks of values
    later: Checks = field(default_factory=Checks)
    covariates: tuple[xr.DataArray, ...] = ()
    given: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def human(self) -> xr.DataArray:
        """The gold, with covariates (..., "_given", system, input)."""
        if not self.covariates:
            return self.gold
        plain = [without_coords(each) for each in (self.gold, *self.covariates)]
        joined = xr.concat(xr.broadcast(*plain), "_given", coords="minimal", compat="override", join="override")
        return checks.whole(joined.transpose(..., *self.gold_core), self.gold_core)

    @property
    def gold_core(self) -> list[str]:
        """Dims of `human` that are no further labels."""
        return [*(["_given"] if self.covariates else []), "system", "input"]

    @property
    def shape(self) -> tuple[int, int]:
        return self.score.sizes["system"], self.score.sizes["input"]

    @property
    def further(self) -> dict[str, int]:
        """Further dims of score and gold in the order of results, and their sizes."""
        arrays = (self.score, self.gold, *self.covariates)
        sizes = {str(dim): size for each in arrays for dim, size in each.sizes.items()}
        return {dim: size for dim, size in sizes.items() if dim not in CORE}


def prepare(
    ds: xr.Dataset,
    gold: Any,
    metric: Any,
    *,
    level: str,
    missing: str,
    other: Any = None,
    constant: bool = False,
    given: Any = None,
    each_word: bool = False,
    compared_within: str | None = None,
    these_systems: bool | None = False,
    over: str | None = None,
) -> Scores:
    """Check a Dataset, find and align its gold and metrics, and report what is left out."""
    # Metrics in `given` are judged only if named; a covariate of words has a column for each word except the first
    # (`each_word`: for each of three or more). `over` names raters of a gold that is pooled; `these_systems` silences
    # the warning of few systems (None: the number decides). Lazy scores stay lazy: values are checked when the result
    # is computed.
    score = checked_scores(ds)
    human, name, own_labels = find_gold(ds, score, gold)
    beside = _covariates(ds, score, given, own_labels, level=level, each_word=each_word)
    unasked = [*own_labels, *(each.source for each in beside)]
    rows = choose(score, leakage.judged(score, unasked) if metric is None else metric, "metric")
    columns = rows if other is None else choose(score, other, "other")
    chosen = rows + [at for at in columns if at not in rows]
    places = [[chosen.index(at) for at in each] for each in (rows, columns)]
    raw = score.isel(metric=chosen)
    score = in_order(oriented(raw, ("metric",)), CORE)
    human = as_gold(oriented(human, human.dims), score, level)
    score, human, dropped = aligned(score, human)
    later, names = Checks(), tuple(each.name for each in beside)
    drawn.warn_ignored(ds, human, later)
    held = [covariates.laid_out(each.values, score, each.name) for each in beside]
    if held:
        checks.check_sizes(score, None)
        human = covariates.where_given(human, held, missing, later, names)
    few: dict[str, Any] = {"level": level, "these_systems": these_systems}
    score, human, held, used = _usable(score, human, held, dropped, missing=missing, **few)
    ratings = leakage.ratings_in(ds)
    checks.refuse_copies(ratings)
    seen = by_metric(_seen, [score, *([raw] if ratings else [])], human, used, missing, list(ratings.values()))
    spreads = seen[0], of_values(_spread, human if over is None else human.mean(over), used)
    directions.warn_of_sentinels(score, ds.attrs.get("sentinels_level"), compared_within or level)
    scores = Scores(
        score, human, name, dropped, places[0], places[1], used, spreads, later, tuple(held), names, texts_of(ds)
    )
    _check_values(scores, seen[1], constant=constant, n_metrics=ds["score"].sizes["metric"], **few)
    leakage.warn_of_people(later, seen[2], score, human, name, ratings, own_labels)
    return scores


def texts_of(ds: xr.Dataset) -> tuple[str, ...]:
    """Texts that scores 0, 1, ... stand for, from `to_scores(labels=)`."""
    labels = ds.attrs.get("labels", ())
    return (labels,) if isinstance(labels, str) else tuple(map(str, labels))


def _covariates(
    ds: xr.Dataset, score: xr.DataArray, given: Any, own: Sequence[Hashable], *, level: str, each_word: bool
) -> list[covariates.Covariate]:
    """The covariates asked for; they vary among what is correlated and are not the gold."""
    if given is None:
        return []
    beside = covariates.columns(covariates.find(ds, score, given), each_word=each_word)
    covariates.check_level(beside, level)
    for each in beside:
        if each.source in own:
            raise ValueError(f"given={each.source!r} is the gold itself")
    return beside


def _usable(
    score: xr.DataArray,
    gold: xr.DataArray,
    held: list[xr.DataArray],
    dropped: dict[str, list[Hashable]],
    *,
    level: str,
    missing: str,
    these_systems: bool | None,
) -> tuple[xr.DataArray, xr.DataArray, list[xr.DataArray], tuple[xr.DataArray, xr.DataArray] | None]:
    """Scores, gold and covariates without unusable systems and inputs; lazy ones whole, with masks."""
    if facts.is_lazy(score) or facts.is_lazy(gold):
        systems, inputs = (checks.labelled(each, score) for each in facts.usable(score, gold, missing))
        with validate.gathered():  # that they are few is said later, of those that are used
            checks.check_sizes(score, level)
        return score, gold, held, (systems, inputs)
    if held:
        kept = [checks.labelled(each, score) for each in facts.usable(score, gold, missing)]
        held = [checks.where_used(each, *kept) for each in held]
    score, gold = checks.without_empty(score, gold, missing, dropped)
    checks.check_sizes(score, level, these_systems=these_systems)
    return score, gold, held, None


def _check_values(
    scores: Scores, gaps: Any, *, level: str, these_systems: bool | None, constant: bool, n_metrics: int
) -> None:
    """Check values, of lazy scores when a result is computed; suggest directions for scores in memory."""
    later, (of_metrics, of_gold) = scores.later, scores.spreads
    if scores.used is not None:
        later.make(checks.check_used, *scores.used, of_gold, of_metrics, level, these_systems)
    later.make(checks.check_gold, of_gold, scores.gold_name)
    later.make(checks.check_metrics, of_metrics, constant)
    if scores.used is None:
        directions.remark(scores.score, scores.gold, scores.gold_name, level=level, n_metrics=n_metrics)
    later.make(checks.report_gaps, gaps)


def _seen(
    scores: Sequence[xr.DataArray],
    gold: xr.DataArray,
    used: Sequence[xr.DataArray] | None,
    missing: str,
    ratings: Sequence[xr.DataArray],
) -> list[Any]:
    """Facts for checks: spreads, gaps, and equality with human scores."""
    score, human = _used(scores[0], used), _used(gold, used)
    equal = [leakage.equal_to(scores[0], gold), *(leakage.equal_to(scores[1], each) for each in ratings)]
    return [facts.spread(score), facts.gaps(score, human, missing), equal]


def _used(values: xr.DataArray, used: Sequence[xr.DataArray] | None) -> xr.DataArray:
    return values if used is None else checks.where_used(values, *used)


def _spread(values: xr.DataArray, used: Sequence[xr.DataArray] | None) -> Fact:
    return facts.spread(_used(values, used))


def presence(scores: Scores) -> Any:
    """Where metrics have scores together with gold; lazy where the scores are."""
    return by_metric(_presence, [scores.score], scores.gold, scores.used)


def _presence(
    scores: Sequence[xr.DataArray], gold: xr.DataArray, used: Sequence[xr.DataArray] | None
) -> facts.Presence:
    return facts.presence([_used(scores[0], used)], _used(gold, used))


def spread_of_one(scores: Sequence[xr.DataArray]) -> Fact:
    """Spread of the only scores of a list, for `value_checks.by_metric`."""
    return facts.spread(scores[0])


def prepare_metrics(ds: xr.Dataset, metric: Any, *, level: str | None, later: Checks | None = None) -> xr.DataArray:
    """Checked and oriented scores of the chosen metrics without gold; level None: no correlation."""
    score = checked_scores(ds)
    score = in_order(oriented(score.isel(metric=choose(score, metric, "metric")), ("metric",)), CORE)
    checks.check_sizes(score, level)
    if later is not None or not facts.is_lazy(score):
        (later or Checks()).make(checks.check_metrics, by_metric(spread_of_one, [score]), level is None)
    return score


def prepare_computed(ds: xr.Dataset, metric: Any, *, level: str | None = None, further: bool = True) -> xr.DataArray:
    later = Checks()
    score = prepare_metrics(ds, metric, level=level, later=later)
    if not further and set(score.dims) - set(CORE):
        raise ValueError(f"score has the dims {validate.listing(score.dims)}; select one label of each additional one")
    later.tell()
    return score.compute()


def prepare_cells(ds: xr.Dataset, metric: Any, *, level: str | None = None) -> xr.DataArray:
    return prepare_computed(ds, metric, level=level, further=False)


def automatic(ds: xr.Dataset, metric: Any) -> Any:
    """The metrics asked for; default all except the gold and other human scores."""
    if metric is not None or "metric" not in ds.indexes:
        return metric
    return leakage.judged(ds, [ds.attrs.get("gold")]) or None


def checked_scores(ds: xr.Dataset) -> xr.DataArray:
    if "score" not in ds.data_vars:
        names = validate.listing(ds.data_vars) or "none"
        raise ValueError(f"the Dataset has no variable 'score' with the metrics' scores; variables: {names}")
    score = ds["score"]
    lacking = [dim for dim in CORE if dim not in score.dims]
    if lacking:
        single = [dim for dim in lacking if dim in score.coords]
        way_out = (
            f"keep it by selecting a list, as in sel({single[0]}=[...])"
            if single
            else f"rename with xsumstat.set_dims(ds, {lacking[0]}=...)"
        )
        raise ValueError(
            f"score must have {validate.named('dim', lacking)}, got {validate.listing(score.dims)}; {way_out}"
        )
    directions.check_place(ds)
    if "metric" not in score.coords:
        score = score.assign_coords(metric=np.arange(score.sizes["metric"]))
    score = checked(score, "score")
    directions.check(score)
    unneeded = [name for name in score.coords if name in RESERVED]
    return score.drop_vars(unneeded) if unneeded else score


def checked(values: xr.DataArray, name: str) -> xr.DataArray:
    """Values as float64, checked for repeated labels, dims of results, and infinities (in memory)."""
    taken = [dim for dim in values.dims if dim in RESERVED or str(dim).startswith("_")]
    if taken:
        raise ValueError(f"{name} has the dim {taken[0]!r}, a name that results need; rename it")
    if values.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold numbers, got dtype {values.dtype}; convert with .astype(float)")
    values = checks.plain_labels(values, name)
    values = values if values.dtype == np.float64 else values.astype(np.float64, keep_attrs=True)
    if facts.is_lazy(values):
        return checks.chunked_by_metric(values)
    checks.check_numbers(values, name)
    return values


def find_gold(
    ds: xr.Dataset, score: xr.DataArray, gold: Any, argument: str = "gold"
) -> tuple[xr.DataArray, str, list[Hashable]]:
    labels = list(score.indexes["metric"])
    metrics = validate.listing(labels, 30)
    source = ""
    if gold is None:
        gold, source = ds.attrs.get("gold"), " (from ds.attrs['gold'])"
        if gold is None:
            raise ValueError(f"{argument} is not given, and ds.attrs['gold'] is not set; metrics: {metrics}")
    if isinstance(gold, xr.DataArray):
        own = [gold.coords["metric"].item()] if "metric" in gold.coords and "metric" not in gold.dims else []
        name = own[0] if own else "gold" if gold.name is None else gold.name
        return checked(gold, "gold"), str(name), own
    if isinstance(gold, xr.Dataset | pd.Series | pd.DataFrame | pd.Index | list | set | dict | np.ndarray):
        raise TypeError(
            f"{argument} must be one metric label, the name of a variable, or a DataArray, got {type(gold).__name__}; "
            "for several at once pass ds.score.sel(metric=[...]).rename(metric='quality')"
        )
    is_variable = isinstance(gold, str) and gold in ds.variables and gold != "score" and gold not in ds.dims
    if gold in labels:
        if is_variable and gold in ds.data_vars:
            raise ValueError(
                f"{argument} {gold!r} names both a metric and a variable; pass ds[{gold!r}], or rename one"
            )
        return score.isel(metric=labels.index(gold)), str(gold), [gold]
    if is_variable:
        return checked(ds[gold], "gold"), gold, []
    variables = [str(name) for name in ds.data_vars if name != "score"]
    more = f"; variables: {validate.listing(variables)}" if variables else ""
    hint = validate.suggestion(gold, [*labels, *variables])
    raise ValueError(f"unknown {argument} {gold!r}{source}{hint} metrics: {metrics}{more}")


def choose(values: xr.DataArray, requested: Any, name: str, dim: str = "metric") -> list[int]:
    """Places of the labels of `dim` asked for: a label, labels, a boolean DataArray, or None for all."""
    labels = list(values.indexes[dim])
    if requested is None:
        requested = labels
    elif isinstance(requested, xr.DataArray) and requested.dtype == bool:
        requested = _labels_where(requested, name, dim)
    else:
        if isinstance(requested, xr.DataArray | np.ndarray | pd.Index | pd.Series):
            requested = np.asarray(requested).ravel().tolist()
        requested = list(requested) if isinstance(requested, list | tuple | set) else [requested]
        if requested and all(isinstance(label, bool) for label in requested):
            raise TypeError(f"{name} as a condition must be a DataArray over {dim!r}, as is ds.kind == 'automatic'")
    for label in requested:
        validate.known(name, label, labels, f"{dim}s")
    validate.unique(name, requested)
    if not requested:
        raise ValueError(f"{name} leaves no {dim} to look at; {dim}s: {validate.listing(labels, 30)}")
    return [labels.index(label) for label in requested]


def _labels_where(condition: xr.DataArray, name: str, dim: str) -> list[Hashable]:
    if condition.dims != (dim,) or dim not in condition.indexes:
        got = "one without labels" if condition.dims == (dim,) else f"dims {condition.dims}"
        raise ValueError(f"{name} as a condition must be over the labels of dim {dim!r}, got {got}")
    return list(condition.indexes[dim][condition.values])


def oriented(scores: xr.DataArray, along: Iterable[Hashable]) -> xr.DataArray:
    """Scores negated where the coordinate `higher_is_better` is False."""
    if "higher_is_better" not in scores.coords:
        return scores
    better = scores.coords["higher_is_better"]
    if not set(better.dims) <= set(along) - {"system", "input"}:
        raise ValueError(
            f"higher_is_better must be a coordinate of metric, got the dims {validate.listing(better.dims)}"
        )
    higher = directions.as_bool(better)
    if not facts.is_lazy(higher) and higher.values.all():
        return scores
    if facts.is_lazy(scores) or facts.is_lazy(higher):
        turned: xr.Variable = scores.variable.where(higher.variable, -scores.variable)  # type: ignore[no-untyped-call]
        return scores.copy(deep=False, data=turned.data)
    kept = higher.variable.set_dims(scores.sizes).values  # type: ignore[no-untyped-call]
    return scores.copy(deep=False, data=np.where(kept, scores.values, -scores.values))


def as_gold(gold: xr.DataArray, score: xr.DataArray, level: str) -> xr.DataArray:
    """Gold with dims system and input last; without `input` it counts for every input, at system level."""
    if "metric" in gold.dims:
        raise ValueError("gold has the dim 'metric'; rename it, as in gold.rename(metric='quality')")
    if "system" not in gold.dims:
        raise ValueError(f"gold must have the dims 'system' and 'input', it has {validate.listing(gold.dims)}")
    if "input" not in gold.dims:
        if level != "system":
            raise ValueError(f"gold has no dim 'input', so only level='system' can be had, not {level!r}")
        gold = gold.expand_dims(input=score.sizes["input"])
        if "input" in score.indexes:
            gold = gold.assign_coords(input=score.indexes["input"])
    unneeded = [name for name, coord in gold.coords.variables.items() if coord.ndim == 0 or name in RESERVED]
    return in_order(gold.drop_vars(unneeded), facts.CELLS)


def in_order(values: xr.DataArray, last: tuple[str, ...]) -> xr.DataArray:
    return values if values.dims[-len(last) :] == last else values.transpose(..., *last)


def judged(score: xr.DataArray, metric: Any, own: list[Hashable], name: Any) -> list[int]:
    """The places of the metrics to analyse, the gold not among them."""
    places = choose(score, leakage.judged(score, own) if metric is None else metric, "metric")
    places = [at for at in places if score.indexes["metric"][at] not in own]
    if not places:
        raise ValueError(f"metric names only the gold {name!r}")
    return places


def have_labels(score: xr.DataArray, gold: xr.DataArray, dim: str) -> bool:
    """Whether both have labels along a dim; otherwise they match by place and must have one length."""
    if dim in score.indexes and dim in gold.indexes:
        return True
    if score.sizes[dim] != gold.sizes[dim]:
        raise ValueError(
            f"gold has {gold.sizes[dim]} and score {score.sizes[dim]} along {dim!r}, "
            "and without labels on both they cannot be matched"
        )
    return False


def check_shared(score: xr.DataArray, gold: xr.DataArray, dim: str) -> None:
    """Raise unless both share a label along a dim."""
    ours, theirs = score.indexes[dim], gold.indexes[dim]
    if not ours.isin(theirs).any():
        raise ValueError(
            f"gold and score share no label along {dim!r}: gold has {validate.listing(theirs, 3)}, "
            f"score {validate.listing(ours, 3)}"
        )


def aligned(score: xr.DataArray, gold: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray, dict[str, list[Hashable]]]:
    """Both on their common labels, in the order of `score`; and the labels left out, by dim."""
    dropped: dict[str, list[Hashable]] = {}
    for dim in (str(dim) for dim in score.dims if dim in gold.dims):
        if not have_labels(score, gold, dim):
            continue
        ours, theirs = score.indexes[dim], gold.indexes[dim]
        if ours.equals(theirs):
            continue
        check_shared(score, gold, dim)
        score, gold, lost = on_shared(score, gold, dim, "gold")
        if lost:
            dropped[dim] = lost
    return score, gold, dropped


def on_shared(
    score: xr.DataArray, other: xr.DataArray, dim: str, called: str
) -> tuple[xr.DataArray, xr.DataArray, list[Hashable]]:
    """Both on their common labels of a dim, in the order of `score`; a warning names the others."""
    ours, theirs = score.indexes[dim], other.indexes[dim]
    shared = ours[ours.isin(theirs)]
    lost = [*ours[~ours.isin(theirs)], *theirs[~theirs.isin(ours)]]
    if lost:
        validate.warn(
            f"{called} and score differ along {dim!r}: left out {validate.counted(len(lost), 'label')} that only one "
            f"of them has: {validate.listing(lost)}",
            "labels_left_out",
        )
    return score.sel({dim: shared}), other.sel({dim: shared}), lost


def without_coords(values: xr.DataArray) -> xr.DataArray:
    """Values without descriptive coordinates, which could clash."""
    return values.drop_vars([name for name in values.coords if name not in values.dims])
