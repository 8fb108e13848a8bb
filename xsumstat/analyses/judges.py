"""May a judge replace a rater: `alt_test`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import calibration, clustering, scales
from xsumstat.analyses import groups as slices
from xsumstat.analyses.raters import check_several, higher_is_better, ratings_of
from xsumstat.core import arguments, validate
from xsumstat.core.types import TOLERANCE, FloatArray, IntArray
from xsumstat.dataset import (
    align,
    checks,
    facts,
    labelled,
    leakage,
    metric_choice,
    result_attrs,
    results,
)
from xsumstat.dataset import scores as schema
from xsumstat.inference import corrections
from xsumstat.inference.calibration import Calibration, of_folds
from xsumstat.inference.jackknife import variance_of_mean
from xsumstat.resampling import draws

ALIGNMENTS, SCALES, TESTS = (
    ("rmse", "accuracy"),
    ("auto", "raw", "calibrated", "standardised", "ranks"),
    ("t", "wilcoxon"),
)
_FOLDS = 5  # in which a judge is calibrated
_NAMED = 4  # pairs of judge and rater in a message
_OF_RATER = ("advantage", "human_advantage", "pvalue", "n_items")


@validate.public
@slices.with_groups
def alt_test(
    ds: xr.Dataset,
    rating: str | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    along: str = "rater",
    margin: float = 0.2,
    alignment: str = "rmse",
    scale: str = "auto",
    test: str = "t",
    alpha: float = 0.05,
    by: str | None = None,
    cluster: str | None = None,
    min_items: int = 30,
) -> xr.Dataset:
    """Test whether a judge may replace a human rater (alternative annotator test).

    Parameters
    ----------
    {ds.ratings rating}
    metric : label, list of labels or bool DataArray, optional
        The judges. Default: all metrics except human scores and covariates.
    {along.raters}
    margin : float, default 0.2
        How far the rater's share of wins may exceed the judge's. The authors use 0.2 if the raters are experts, 0.15 if
        they are skilled, and 0.1 if they are crowd workers.
    alignment : {"rmse", "accuracy"}, default "rmse"
        Agreement with the other raters: root mean square difference, or the share of equal ratings.
    scale : {"auto", "raw", "calibrated", "standardised", "ranks"}, default "auto"
        "raw" uses scores as given. "calibrated" gives them the distribution and grades of the ratings (see
        `calibrate`). "auto" calibrates judges on another scale, and those who mostly give no grade of the raters, such
        as probabilities of a pass. "standardised" and "ranks" change ratings, too.
    test : {"t", "wilcoxon"}, default "t"
        One-sided test of the items. The authors advise "wilcoxon" for fewer than 30 items; in our simulations it is
        very liberal (documentation, "Calibration").
    alpha : float, default 0.05
        Bound on the false discovery rate over the raters (Benjamini & Yekutieli).
    {by}
    cluster : str, optional
        Coordinate of inputs that belong together, e.g. "document"; their items are then not taken as independent.
        "input" keeps the outputs of each input together. It needs ``test="t"``.
    min_items : int, default 30
        Leave out raters with fewer items; at least 2.

    {dataset}
        On (metric, rater, ...): ``advantage``, the share of items on which the judge is no worse than the rater,
        ``human_advantage``, ``n_items``, ``pvalue`` and ``pvalue_adjusted``. On (metric, ...): ``winning_rate``, the
        share of raters with ``pvalue_adjusted ≤ alpha``, and ``advantage_probability``, the mean advantage. On (...):
        ``constant_winning_rate``, that of a judge that always gives the most frequent rating (NaN if there are more
        than 50 different ratings).
        ``attrs["other_scale"]`` lists judges on another scale, which get no verdict; ``attrs["calibrated"]`` lists
        judges that were calibrated first.

    Notes
    -----
    Null hypothesis: the rater's share of wins exceeds the judge's by at least `margin`. A tie is a win for both. A
    judge may replace one of these raters if its winning rate is at least 0.5. Without `cluster` the test treats items
    (outputs with the judge's, the rater's and another rating) as independent, as its authors do; with many systems on
    few inputs it is then liberal. With `cluster` it is a t test with a jackknife variance over clusters. Sizes:
    documentation, "Calibration". Source: Calderon, Reichart & Dror (2025), "The Alternative Annotator Test for
    LLM-as-a-Judge".

    Examples
    --------
    >>> import numpy as np, xarray as xr, xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
    >>> rating = ds.score.sel(metric="human", drop=True) + 8 * noise
    >>> ds.meta.alt_test(rating, metric="judge", scale="standardised").winning_rate.values.round(2)
    array([0.67])
    """
    ratings, name = ratings_of(ds, rating, along)
    ratings = higher_is_better(ds, ratings, along)
    check_several(ratings, along)
    margin = validate.number("margin", margin, 0.0, 1.0)
    validate.choice("alignment", alignment, ALIGNMENTS)
    validate.choice("scale", scale, SCALES)
    validate.choice("test", test, TESTS)
    if alignment == "accuracy" and scale in ("standardised", "ranks"):
        raise ValueError(
            f"alignment='accuracy' compares the values that raters give: scale must be 'auto', 'raw' or 'calibrated', "
            f"got {scale!r}"
        )
    if cluster is not None and test != "t":
        raise ValueError(f"cluster={cluster!r} needs test='t', got test={test!r}")
    alpha = validate.fraction("alpha", alpha)
    min_items = validate.integer("min_items", min_items, 2)
    score = schema.prepare_computed(ds, metric_choice.automatic(ds, metric))
    score, human, _ = align.aligned(score, ratings.transpose(..., "system", "input"))
    if cluster not in (None, "input"):
        human = clustering.carried(human, (cluster,), score)
    codes = clustering.of_items(score if cluster is None else human, cluster)
    leakage.warn_of_raters(score, human, name, along)
    other = scales.elsewhere(score, human) if scale in ("auto", "raw") else None
    attrs: dict[str, Any] = {}
    if other is not None and scale == "auto" and score.sizes["input"] > 1:
        score, attrs = _calibrated(score, human, along, other | scales.between_grades(score, human))
        other = xr.zeros_like(other)
    elif scale == "calibrated":
        score, attrs = _calibrated(score, human, along, xr.ones_like(score["metric"], dtype=bool))
    kept = scale if scale in ("standardised", "ranks") else "raw"
    comparison = _Comparison(margin, alignment, kept, test, codes)
    found = _beside_each_rater(score, human, along, comparison)
    found = _with_items(found, min_items)
    if cluster is not None:
        untested = found["pvalue"].isnull() & found["advantage"].notnull()
        checks.warn_where(untested, f"no test, as all items are in one cluster of {cluster}, for", "no_test")
    if other is not None:
        scales.warn(score, human, other)
        found["pvalue"] = found["pvalue"].where(~other)
    found = _over_raters(found, along, alpha)
    found["constant_winning_rate"] = _of_constant(human, along, comparison, alpha, min_items)
    attrs |= {"rating": name, "along": along, "margin": margin, "alignment": alignment, "scale": scale}
    attrs |= {} if cluster is None else {"cluster": cluster, "resample": "input"}
    attrs |= {"method": test, "alpha": alpha, "adjust_method": "by", "alternative": "less", "min_items": min_items}
    if other is not None and bool(other.any()):
        attrs["other_scale"] = ", ".join(map(str, score["metric"].values[other.values]))
    order = found.transpose("metric", along, ..., missing_dims="ignore")
    attrs |= result_attrs.sizes(score)
    return results.result(order, (*score.dims, *human.dims), analysis="alt_test", **attrs)


def _calibrated(
    score: xr.DataArray, ratings: xr.DataArray, along: str, which: xr.DataArray
) -> tuple[xr.DataArray, dict[str, Any]]:
    """Scores, some with the distribution of single ratings (means of ratings spread less), and attrs."""
    names = score["metric"].values[which.values]
    if not len(names):
        return score, {}
    folds = min(_FOLDS, score.sizes["input"])
    if folds < 2:
        raise ValueError("scale='calibrated' fits a judge's scores on other inputs, and there is only one")
    of_input = of_folds(score.sizes["input"], folds, draws.generator(0, 0))
    given = np.unique(ratings.values[~np.isnan(ratings.values)])
    grades = tuple(given.tolist()) if 1 < len(given) <= calibration.MOST_GRADES else ()
    each = ratings.rename({along: "_rater"}).drop_vars("_rater", errors="ignore")
    new = calibration.cross_fitted(score, each, of_input, Calibration("quantile", grades))
    rounded = " and rounded to their grades" if grades else ""
    words = f"to the distribution of the ratings, cross-fitted in {folds} folds of inputs{rounded}"
    mapped = align.in_order(new.where(which, align.without_coords(score)), facts.CORE)
    return mapped.assign_coords(score.coords), {"calibrated": ", ".join(map(str, names)), "calibration": words}


@dataclass(frozen=True)
class _Comparison:
    margin: float
    alignment: str
    scale: str
    test: str
    clusters: IntArray | None = None  # of inputs

    def pvalue(self, apart: FloatArray, inputs: IntArray) -> float:
        """That of the mean difference of items (items,) on these inputs."""
        if self.clusters is None:
            return _pvalue(apart, self.margin, self.test)
        return _clustered(apart, self.margin, np.unique(self.clusters[inputs], return_inverse=True)[1])


def _beside_each_rater(score: xr.DataArray, ratings: xr.DataArray, along: str, comparison: _Comparison) -> xr.Dataset:
    def each(x: FloatArray, z: FloatArray) -> tuple[FloatArray, ...]:
        found = [_of_rater(x, z, at, comparison) for at in range(len(z))]
        return tuple(np.array(found, dtype=float).T)

    inputs = [(score, facts.CELLS), (align.without_coords(ratings), (along, *facts.CELLS))]
    return xr.Dataset(labelled.by_label(each, inputs, dict.fromkeys(_OF_RATER, [along])))


def _with_items(found: xr.Dataset, min_items: int) -> xr.Dataset:
    few = found["n_items"] < min_items
    if bool(few.all()):
        most = int(found["n_items"].max())
        fewer = arguments.only_in_python(f", or pass min_items={most}") if most > 1 else ""
        way = f"; rate more{fewer}" if most > 1 else ""
        raise ValueError(
            f"no rater has {min_items} outputs that the judge and another rater scored, too; the most is {most}{way}"
        )
    if bool(few.any()):
        labels = [checks.labels_of(few, dim) for dim in few.dims]
        places = [tuple(place) for place in np.argwhere(few.values)]
        counts = found["n_items"].values
        named = [
            f"{'/'.join(each[at] for each, at in zip(labels, place, strict=True))} ({int(counts[place])})"
            for place in places
        ]
        more = f", … ({len(named)} in all)" if len(named) > _NAMED else ""
        validate.warn(
            f"{len(named)} of {few.size} pairs of judge and rater share fewer than {min_items} outputs (min_items) "
            f"and are left out: {', '.join(named[:_NAMED])}{more}",
            "few_ratings",
        )
    return found.assign({name: found[name].where(~few) for name in ("advantage", "human_advantage", "pvalue")})


def _over_raters(found: xr.Dataset, along: str, alpha: float) -> xr.Dataset:
    tests = [(found["pvalue"], [along])]
    found = found.assign(labelled.by_label(lambda p: corrections.adjust(p, "by"), tests, {"pvalue_adjusted": [along]}))
    wins = (found["pvalue_adjusted"] <= alpha).where(found["pvalue"].notnull())
    return found.assign(winning_rate=wins.mean(along), advantage_probability=found["advantage"].mean(along))


def _of_constant(
    ratings: xr.DataArray, along: str, comparison: _Comparison, alpha: float, min_items: int
) -> xr.DataArray:
    """The winning rate of a judge that gives every output the most frequent rating."""

    def one(z: FloatArray) -> float:
        values, counts = np.unique(z[~np.isnan(z)], return_counts=True)
        if not 2 <= len(values) <= calibration.MOST_GRADES:
            return math.nan
        x = np.where(np.isnan(z).all(axis=0), np.nan, values[np.argmax(counts)])
        tests = [_of_rater(x, z, at, comparison) for at in range(len(z))]
        p = [p for *_, p, size in tests if size >= min_items and not math.isnan(p)]
        return float((corrections.adjust(np.array(p), "by") <= alpha).mean()) if p else math.nan

    name = "constant_winning_rate"
    return labelled.by_label(one, [(align.without_coords(ratings), (along, *facts.CELLS))], {name: []})[name]


def _of_rater(x: FloatArray, z: FloatArray, at: int, comparison: _Comparison) -> tuple[float, float, float, float]:
    """Of one judge (systems, inputs) and one of the raters (raters, systems, inputs): the numbers of `_OF_RATER`."""
    scale = comparison.scale
    x, z = _on_scale(x, scale), np.array([_on_scale(each, scale) for each in z])
    rater, others = z[at], np.delete(z, at, axis=0)
    items = ~np.isnan(x) & ~np.isnan(rater) & ~np.isnan(others).all(axis=0)
    size = int(items.sum())
    if size < 2:
        return math.nan, math.nan, math.nan, size
    judge, rater, others = x[items], rater[items], others[:, items]
    if scale == "raw":
        judge, rater, others = _of_usual_size(judge, rater, others)
    nearness, human = (_alignment(each, others, comparison.alignment) for each in (judge, rater))
    by_judge, by_human = nearness >= human - TOLERANCE, human >= nearness - TOLERANCE
    apart = by_human.astype(float) - by_judge
    pvalue = comparison.pvalue(apart, np.nonzero(items)[1])
    return float(by_judge.mean()), float(by_human.mean()), pvalue, size


def _of_usual_size(judge: FloatArray, rater: FloatArray, others: FloatArray) -> tuple[FloatArray, ...]:
    """Scores of items, those of each item times the power of 2 that brings the largest to 1/2 to 1."""
    largest = np.nanmax(np.abs(np.vstack([judge, rater, others])), axis=0)
    power = np.frexp(largest)[1]
    return tuple(np.ldexp(each, -power) for each in (judge, rater, others))


def _on_scale(values: FloatArray, scale: str) -> FloatArray:
    there = ~np.isnan(values)
    if scale == "raw" or not there.any():
        return values
    out, here = np.full(values.shape, np.nan), values[there]
    if scale == "ranks":
        from scipy.stats import rankdata

        out[there] = (rankdata(here) - 0.5) / len(here)
    else:
        out[there] = (here - here.mean()) / here.std() if np.ptp(here) > 0 else 0.0
    return out


def _alignment(scores: FloatArray, others: FloatArray, kind: str) -> FloatArray:
    """How near scores (items,) are to those of other raters (raters, items), of whom each item has one at least."""
    there = ~np.isnan(others)
    if kind == "accuracy":
        apart = np.where(there, others == scores, False)
        return np.asarray(apart.sum(axis=0) / there.sum(axis=0))
    squares = np.where(there, (np.nan_to_num(others) - scores) ** 2, 0.0)
    return np.asarray(-np.sqrt(squares.sum(axis=0) / there.sum(axis=0)))


def _pvalue(apart: FloatArray, margin: float, test: str) -> float:
    from scipy.stats import ttest_1samp, wilcoxon

    if test == "wilcoxon":
        return 1.0 if (apart == margin).all() else float(wilcoxon(apart - margin, alternative="less").pvalue)
    if np.ptp(apart) == 0:
        return 0.0 if apart[0] < margin else 1.0
    return float(ttest_1samp(apart, margin, alternative="less").pvalue)


def _clustered(apart: FloatArray, margin: float, codes: IntArray) -> float:
    """A t test of the mean of items in clusters, by the jackknife over clusters; NaN for one cluster.

    Clusters with equal means tell nothing of the spread: then items do.
    """
    from scipy.special import stdtr

    n = int(codes.max()) + 1
    if n < 2:
        return math.nan
    error = math.sqrt(variance_of_mean(apart, codes))
    if error <= TOLERANCE:
        return _pvalue(apart, margin, "t")
    return float(stdtr(n - 1, (apart.mean() - margin) / error))
