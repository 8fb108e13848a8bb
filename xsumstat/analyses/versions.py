"""Pairs whose correlations with the human scores are compared: versions of a metric, or two metrics; their margins."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import correlation
from xsumstat.analyses.measure import entrance
from xsumstat.coefficients.record import Measure
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import validate
from xsumstat.dataset import align, checks, chunking, facts, metric_pairs, pair_results, results, value_checks
from xsumstat.dataset import scores as schema
from xsumstat.dataset.value_checks import Said
from xsumstat.resampling.jobs import Target

_RATER_MARGINS = ("rater_sd", "rater_range")


def check_along(score: xr.DataArray, along: Any, base: Any) -> None:
    """A further dim of the scores, and one of its labels."""
    further = [str(dim) for dim in score.dims if dim not in facts.CORE]
    validate.known("along", along, further, "additional dims of score")
    if along not in score.indexes:
        raise ValueError(f"score has no labels along {along!r}, needed for base={base!r}")
    validate.known("base", base, list(score.indexes[along]), f"labels of {along}")


def check_base(along: Any, base: Any) -> None:
    """No base without a dim whose label it is."""
    if along is None and base is not None:
        raise ValueError(f"base={validate.given(base)} is a label of an additional dim: name the dim in along=")


def check_reach(argument: str, margin: float, measure: Measure) -> None:
    """No margin beyond every difference, as 5 for 5 % is; a grid may end at the largest."""
    if measure.coefficient.name not in COEFFICIENTS:
        return  # a function's values may have any size
    least, most = measure.coefficient.bounds
    if margin > most - least:
        hint = f"; write {margin / 100:g} for {margin:g} %" if margin <= 100 else ""
        raise ValueError(
            f"{argument} must be at most {most - least:g}, the largest difference that two values of "
            f"coefficient={measure.coefficient.name!r} can have, got {margin:g}{hint}"
        )


def margin_of(
    ds: xr.Dataset, margin: Any, rating: Any, metrics: list[Hashable], at_base: Mapping[str, Any], measure: Measure
) -> xr.DataArray:
    """The margin as a DataArray over the dims that it has."""
    if isinstance(rating, str) and not isinstance(margin, str):
        validate.known("variable in rating", rating, list(ds.data_vars), "variables")
    elif rating is not None and not isinstance(rating, str | xr.DataArray):
        raise TypeError(f"rating must be a variable's name or a DataArray, got {validate.given(rating)}")
    if isinstance(margin, xr.DataArray):
        return margin.astype(float)
    if not isinstance(margin, str):
        if not validate.number("margin", margin, -np.inf, np.inf) > 0:
            raise ValueError(f"margin must be above 0, got {validate.given(margin)}")
        check_reach("margin", float(margin), measure)
        return xr.DataArray(float(margin))
    validate.choice("margin", margin, _RATER_MARGINS)
    if rating is None or isinstance(rating, str):
        name = "rating" if rating is None else rating
        if name not in ds.data_vars:
            raise ValueError(f"margin={margin!r} needs ratings, and the Dataset has no variable {name!r}; pass rating=")
        rating = ds[name]
    if not isinstance(rating, xr.DataArray) or "rater" not in rating.dims:
        raise ValueError(f"rating must be a DataArray with a dim 'rater', got {getattr(rating, 'dims', type(rating))}")
    record = measure.coefficient
    coefficient = record.function if record.name not in COEFFICIENTS else None
    ours = ds.sel(at_base)
    with value_checks.held() as said:
        r = correlation.corr(
            ours,
            rating,
            metric=metrics,
            level=measure.level,
            coefficient=coefficient or record.name,
            missing=measure.missing,
            undefined=measure.undefined,
        )["correlation"]
    for caveat in _of_ratings([Said(said.caveats)])[0].caveats:
        validate.warn(caveat)
    later = value_checks.Checks()
    later.take(_of_ratings, said.checks)
    later.tell()  # the margin is computed at once
    rated = (ours["score"].sel(metric=checks.as_labels(metrics)).notnull() & rating.notnull()).any(facts.CELLS)
    return _spread_of_raters(r, rated, margin)


def _of_ratings(found: list[Said]) -> list[Said]:
    """What checks say about raters' correlations; no rater needs to have rated all."""
    caveats, error = value_checks.until_error(found)
    return [Said([each for each in caveats if each.code not in ("cells_left_out", "no_gold_score")], error)]


def _spread_of_raters(r: xr.DataArray, rated: xr.DataArray, margin: str) -> xr.DataArray:
    """The spread of the correlations of raters with ratings; NaN if one is undefined."""
    n = r.notnull().sum("rater")
    defined = (n > 1) & ~(r.isnull() & rated).any("rater")
    spread = r.max("rater") - r.min("rater")
    if margin == "rater_sd":
        spread = (((r - r.mean("rater")) ** 2).sum("rater") / (n - 1).where(defined)) ** 0.5
    return spread.where(defined)


@dataclass(frozen=True)
class Pairs:
    """Pairs of places along `metric`: a version and its base (versions stand as metrics), or two metrics."""

    scores: schema.Scores
    targets: tuple[Target, ...]
    along: str | None
    versions: list[Hashable]
    metrics: list[Hashable]

    @classmethod
    def of(
        cls,
        ds: xr.Dataset,
        gold: Any,
        metric: Any,
        along: str | None,
        base: Any,
        other: Any,
        measure: Measure,
        *,
        these_systems: bool | None = False,
    ) -> Pairs:
        """Every version with the base, or every pair of metrics, of scores that `schema.prepare` accepts."""
        if (along is None) == (other is None):
            raise ValueError(
                "give either other= (metrics to compare with) or along= (a dim of versions) with base= (one of its "
                f"labels); got along={along!r}, other={other!r}"
            )
        check_base(along, base)
        how = {**entrance(measure, constant=False), "these_systems": these_systems}
        if along is None:
            scores, targets = metric_pairs.prepare(ds, gold, metric, other, **how)
            return cls(scores, targets, None, [], [])
        scores = schema.prepare(ds, gold, metric, **how)
        check_along(scores.score, along, base)
        if along in scores.gold.dims:
            example = f"ds.score.sel(metric=..., {along}={base!r}, drop=True)"
            raise ValueError(f"gold has the dim {along!r} too; select one label of it, as in {example}")
        versions, metrics = list(scores.score.indexes[along]), list(scores.score.indexes["metric"])
        if len(versions) < 2:
            raise ValueError(f"score has only one label along {along!r}: {versions[0]!r}")
        bare = align.without_coords(scores.score).drop_vars([along, "metric"])
        stacked = bare.stack(_version=[along, "metric"], create_index=False).rename(_version="metric")
        stacked = chunking.chunked_by_metric(stacked.transpose(..., *facts.CORE))
        at = versions.index(base) * len(metrics)
        others = [number for number, label in enumerate(versions) if label != base]
        targets = tuple((number * len(metrics) + m, at + m) for number in others for m in range(len(metrics)))
        described = {name: each for name, each in scores.score.coords.items() if each.dims in (("system",), ("input",))}
        found = replace(scores, score=stacked.assign_coords(described))
        return cls(found, targets, along, [versions[number] for number in others], metrics)

    @property
    def dims(self) -> list[str]:
        """Dims of the comparisons."""
        return [*(pair_results.DIMS if self.along is None else ("metric", self.along)), *self.scores.further]

    @property
    def labels(self) -> list[Hashable]:
        """The metrics that are compared."""
        return self.metrics if self.along else list(self.scores.score.indexes["metric"])

    def margins(self, margin: xr.DataArray, unknown: str) -> xr.DataArray:
        """Margins by pair, along `_pair`, and by what further dims they have; a warning says which are `unknown`."""
        allowed = [dim for dim in self.dims if dim != "other_metric"]
        margin = margin.drop_vars([name for name in margin.coords if name not in margin.dims])
        for dim in margin.dims:
            validate.known("dim of margin", dim, allowed, "dims of the comparisons")
        wanted = {"metric": self.labels, **({self.along: self.versions} if self.along else {})}
        wanted |= {
            dim: list(each.indexes[dim])
            for each in (self.scores.score, self.scores.gold)
            for dim in self.scores.further
            if dim in each.indexes
        }
        for dim in margin.dims:
            if dim in margin.indexes and dim in wanted:
                for label in wanted[str(dim)]:
                    validate.known(
                        f"label along {dim!r} that margin lacks:", label, list(margin.indexes[dim]), "labels"
                    )
                margin = margin.sel({dim: wanted[str(dim)]})
        margin = margin.compute()
        if bool((margin <= 0).any()):
            raise ValueError(f"margin must be above 0, got {float(margin.min()):.3g}")
        checks.warn_where(margin.isnull(), unknown)
        margin = margin.drop_vars(list(margin.coords))
        if self.along is None:
            if "metric" not in margin.dims:
                return margin.expand_dims(_pair=len(self.targets))
            one, two = (
                margin.isel(metric=xr.DataArray([pair[at] for pair in self.targets], dims="_pair")) for at in (0, 1)
            )
            return one.where((one < two) | one.isnull(), two)
        by_version = margin if self.along in margin.dims else margin.expand_dims({self.along: len(self.versions)})
        whole = by_version if "metric" in margin.dims else by_version.expand_dims(metric=len(self.metrics))
        number = np.arange(len(self.targets))
        version, metric = (xr.DataArray(at, dims="_pair") for at in np.divmod(number, len(self.metrics)))
        return whole.isel({self.along: version, "metric": metric})

    @property
    def asked(self) -> xr.DataArray:
        """Which cells of the comparisons' dims are compared."""
        if self.along is None:
            return pair_results.asked(self.scores)
        sizes = {"metric": len(self.metrics), self.along: len(self.versions), **self.scores.further}
        return xr.DataArray(np.ones([*sizes.values()], dtype=bool), dims=[*sizes])

    def laid_out(self, by_pair: Mapping[str, xr.DataArray]) -> xr.Dataset:
        """Results along `_pair` laid out on the dims of the comparisons."""
        if self.along is None:
            both = dict(by_pair)
            if "pvalue" in both:
                both["forward"] = both["backward"] = both.pop("pvalue")
            return pair_results.laid_out(both, self.targets, self.scores)
        number = np.arange(len(self.targets)).reshape(len(self.versions), len(self.metrics))
        laid = results.together(by_pair).isel(_pair=xr.DataArray(number, dims=(self.along, "metric")))
        return laid.assign_coords({self.along: self.versions, "metric": self.metrics}).transpose(
            "metric", self.along, ...
        )
