"""The entrance of scores: located, aligned, masked, looked at, and checked by what was seen, in this order."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import xarray as xr

from xsumstat.coefficients.weights import InputWeights
from xsumstat.core import validate
from xsumstat.dataset import (
    align,
    calibrated,
    checks,
    chunking,
    covariates,
    directions,
    discordance,
    drawn,
    facts,
    golds,
    leakage,
    locate,
    masks,
    metric_choice,
)
from xsumstat.dataset.facts import CORE, Fact
from xsumstat.dataset.value_checks import Checks, by_metric, of_values


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
    weights: InputWeights | None = None  # of drawn inputs
    ties: Sequence[Fact] | None = None  # of scores in memory, where ties leave inputs out of averages
    single: Sequence[Fact] | None = None  # of these, where inputs (or systems) with one output are left out
    unpaired: Fact | None = None  # outputs with only one of metric and gold
    gold_turned: bool = False  # lower was better

    @property
    def human(self) -> xr.DataArray:
        """The gold, with covariates (..., "_given", system, input)."""
        if not self.covariates:
            return self.gold
        plain = [align.without_coords(each) for each in (self.gold, *self.covariates)]
        joined = xr.concat(xr.broadcast(*plain), "_given", coords="minimal", compat="override", join="override")
        return chunking.whole(joined.transpose(..., *self.gold_core), self.gold_core)

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
    ties_left_out: bool = False,
    given: Any = None,
    each_word: bool = False,
    compared_within: str | None = None,
    these_systems: bool | None = False,
    over: str | None = None,
    weigh: bool = False,
    undefined: str = "drop",
) -> Scores:
    """Check a Dataset, find and align its gold and metrics, and report what is left out."""
    # Metrics in `given` are judged only if named; a covariate of words has a column for each word except the first
    # (`each_word`: for each of three or more). `over` names raters of a gold that is pooled; `these_systems` silences
    # the warning of few systems (None: the number decides). Lazy scores stay lazy: values are checked when the result
    # is computed. With `weigh` drawn inputs have weights, and their scores are computed at once.
    score = locate.checked_scores(ds)
    human, name, own_labels = golds.find_gold(ds, score, gold)
    ratings, texts = golds.ratings_in(ds), golds.texts_of(ds)
    beside = covariates.asked(ds, score, given, own_labels, level=level, each_word=each_word)
    names = tuple(each.name for each in beside)
    unasked = [*own_labels, *(each.source for each in beside)]
    chosen, rows, columns = metric_choice.rows_and_columns(score, metric, other, unasked)
    raw = score.isel(metric=metric_choice.in_a_row(chosen))
    known = [*own_labels, *metric_choice.of_people(raw)]

    score = align.in_order(align.oriented(raw, ("metric",)), CORE)
    turned = align.is_turned(human)
    human = align.as_gold(align.oriented(human, human.dims), score, level)
    score, human, dropped = align.aligned(score, human)
    held = [align.laid_out(each.values, score, each.name) for each in beside]
    align.check_not_empty(score)
    later = Checks()
    weigh = weigh and not calibrated.labels(score) and drawn.is_of_draw(ds, human)
    if weigh:
        score, human = drawn.rated_of_draw(score, human)
    else:
        drawn.warn_ignored(ds, human, later)

    is_lazy = chunking.is_lazy(score) or chunking.is_lazy(human)
    masked = masks.masked(score, human, held, missing=missing, is_lazy=is_lazy)
    score, human, used = masked.score, masked.gold, masked.used
    dropped = {dim: [*dropped.get(dim, []), *masked.dropped.get(dim, [])] for dim in {**dropped, **masked.dropped}}
    for label, loss in zip(names, masked.losses, strict=True):
        later.make(checks.report_given, *loss, label)
    checks.check_masked(masked, level, these_systems)
    checks.refuse_copies(ratings)

    raters = list(ratings.values())
    asked = [score, *([raw] if raters else [])]
    found = by_metric(
        facts.of_metrics,
        asked,
        human,
        used,
        missing,
        raters,
        over,
        ties_left_out,
        level if undefined == "drop" else None,
    )

    checks.warn_of_sentinels(score, ds.attrs.get("sentinels_level"), compared_within or level)
    if used is not None:
        later.make(checks.check_used, *used, found.of_gold, found.spread, level, these_systems)
    later.make(checks.check_gold, found.of_gold, name)
    later.make(checks.check_metrics, found.spread, constant)
    if not is_lazy:
        declared, n_metrics = directions.lower(score), ds["score"].sizes["metric"]
        expected = [*declared, *directions.sentinels(score)]
        against = discordance.discordant(score, human, expected, level=level, n_metrics=n_metrics)
        of_ratings = [ds.attrs["gold"]] if name in ratings and ds.attrs.get("gold") in ds.indexes["metric"] else []
        checks.warn_of_directions(against, declared, name, [] if turned else own_labels or of_ratings)
    later.make(checks.report_gaps, found.gaps)
    later.make(checks.report_ties, found.ties, score.sizes)
    later.make(checks.report_single, found.single, level, score.sizes)
    leakage.warn_of_people(later, found.equal, score, human, name, ratings, known)
    spreads, held = (found.spread, found.of_gold), masked.covariates
    weights = drawn.weights(score) if weigh else None
    known_now = None if is_lazy else found
    return Scores(
        score,
        human,
        name,
        dropped,
        rows,
        columns,
        used,
        spreads,
        later,
        tuple(held),
        names,
        texts,
        weights,
        ties=known_now and known_now.ties,
        single=known_now and known_now.single,
        unpaired=known_now and known_now.gaps.unpaired,
        gold_turned=turned,
    )


def without_weights(scores: Scores, ds: xr.Dataset) -> Scores:
    """The same, also where inputs have weights, which a method ignores with a warning."""
    if scores.weights is None:
        return scores
    drawn.warn_unweighted(ds)
    return replace(scores, weights=None)


def checks_of(score: xr.DataArray, human: xr.DataArray | None, name: str | None) -> Checks:
    """Checks of scores and of human scores, if any: that they are finite, that human scores vary, and their squares."""
    later = Checks()
    if human is not None:
        later.make(checks.check_gold, of_values(facts.spread, human), name)
    later.make(checks.check_metrics, of_values(facts.spread, score), True)
    for values, what in ((human, f"gold {name!r}"), (score, "score")):
        if values is not None:
            later.make(checks.check_squares, values, what)
    return later


def prepare_metrics(ds: xr.Dataset, metric: Any, *, level: str | None, later: Checks | None = None) -> xr.DataArray:
    """Checked and oriented scores of the chosen metrics without gold; level None: no correlation."""
    score = locate.checked_scores(ds)
    score = align.in_order(
        align.oriented(score.isel(metric=metric_choice.choose(score, metric, "metric")), ("metric",)), CORE
    )
    checks.check_sizes(score, level)
    if later is not None or not chunking.is_lazy(score):
        (later or Checks()).make(checks.check_metrics, by_metric(facts.spread_of_one, [score]), level is None)
    return score


def report_unscored(score: xr.DataArray, later: Checks) -> None:
    """Report outputs that an analysis of metrics alone leaves out."""
    later.make(checks.report_unscored, by_metric(facts.presence, [score]))


def prepare_computed(ds: xr.Dataset, metric: Any, *, level: str | None = None, further: bool = True) -> xr.DataArray:
    later = Checks()
    score = prepare_metrics(ds, metric, level=level, later=later)
    if not further and set(score.dims) - set(CORE):
        raise ValueError(f"score has the dims {validate.listing(score.dims)}; select one label of each additional one")
    later.tell()
    return score.compute()


def prepare_cells(ds: xr.Dataset, metric: Any, *, level: str | None = None) -> xr.DataArray:
    return prepare_computed(ds, metric, level=level, further=False)
