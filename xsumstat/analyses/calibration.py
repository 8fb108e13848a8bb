"""A judge's scores on the human scale, each output mapped by ratings of other inputs: `calibrate`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import IntArray
from xsumstat.dataset import (
    align,
    calibrated,
    checks,
    drawn,
    facts,
    golds,
    labelled,
    locate,
    metric_choice,
    results,
)
from xsumstat.dataset import scores as schema
from xsumstat.dataset.value_checks import Checks
from xsumstat.inference.calibration import METHODS, Calibration, of_folds
from xsumstat.resampling import draws
from xsumstat.resampling.jackknife import RefitOf

# Fewer rated outputs make a rough map; more different ratings are no grades.
_ENOUGH, MOST_GRADES = 30, 50


@validate.public
def calibrate(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    method: str = "isotonic",
    folds: int = 5,
    grades: bool | Sequence[float] | None = None,
    along: str = "rater",
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
) -> xr.Dataset:
    """Map a judge's scores onto the scale of human scores, cross-fitted over inputs.

    Parameters
    ----------
    {ds gold}
        Several raters are averaged.
    metric : label, list of labels or bool DataArray, optional
        The judges. Default: all metrics except human scores, covariates and calibrated metrics.
    method : {"isotonic", "linear", "quantile"}, default "isotonic"
        "isotonic" fits a rising step function, "linear" a rising line. Both pull the scores of a weak judge towards the
        mean rating. "quantile" gives scores the distribution of single ratings.
    folds : int, default 5
        Number of random groups of inputs. The map of each is fitted to all others.
    grades : bool or list of numbers, optional
        Round to these values, or with True to the values that raters gave.
    {along.raters rng}

    {dataset}
        `ds` with a metric "... (calibrated)" for each judge, ``calibrated(metric)`` (how it was made) and
        ``calibration_fold(input)``. Human scores that `ds` does not hold are added as ``calibration_gold``.

    Notes
    -----
    No output is mapped by a rating of its own input. `ci` and `compare_metrics` refit the calibration in each
    leave-out; bootstrap intervals and permutation tests raise an error. Select systems and inputs before you calibrate.
    Source: Barlow, Bartholomew, Bremner & Brunk (1972), "Statistical Inference under Order Restrictions".

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo").meta.calibrate("human", metric="judge", rng=1)
    >>> ds.score.sel(metric=["human", "judge", "judge (calibrated)"]).isel(input=0, system=0).values.round(1)
    array([52.6, 61.3, 54.7])
    """
    score = locate.checked_scores(ds)
    if calibrated.NAME in score.dims:
        raise ValueError(f"the additional dim {calibrated.NAME!r} is a coordinate that this makes; rename it")
    human, name, own = golds.find_gold(ds, score, gold)
    drawn.warn_ignored(ds, human)
    if validate.text("along", along) != "rater" and along not in human.dims:
        raise ValueError(f"along={along!r} is no dim of the gold, which has {validate.listing(human.dims)}")
    validate.choice("method", method, METHODS)
    folds = validate.integer("folds", folds, 2)
    seed = draws.seed_of(rng)
    chosen = _chosen(score, metric, own)
    if folds > score.sizes["input"]:
        raise ValueError(f"folds={folds} is more than there are inputs ({score.sizes['input']}); give fewer folds")
    sign = _sign(human)
    human = align.beside(score, align.as_gold(human.drop_vars("metric", errors="ignore"), score, "input"))
    how = Calibration(method, _grades(grades, human))
    of_input = of_folds(score.sizes["input"], folds, draws.generator(seed, 0))
    ds, kept = _with_gold(ds, gold, human, name)
    ds, fold_name = _with_folds(ds, of_input)
    recipe = calibrated.Recipe("", kept, along, sign, fold_name, how)
    judge = align.oriented(score, ("metric",)).isel(metric=chosen)
    people = sign * _people(human, along, method)
    later = Checks()
    new = sign * cross_fitted(judge, people, of_input, recipe.oriented)
    later.make(_check, judge, people, new)
    names = [calibrated.called(label) for label in score["metric"].values[chosen].tolist()]
    words = _words(name, how, folds, seed)
    made = {
        label: replace(recipe, of=str(of)) for label, of in zip(names, judge["metric"].values.tolist(), strict=True)
    }
    return later.attached(results.of_its_own(_joined(ds, score, new, chosen, names, words, sign, made)))


def _chosen(score: xr.DataArray, metric: Any, own: list[Hashable]) -> list[int]:
    there = calibrated.labels(score)
    if metric is None:
        metric = [label for label in metric_choice.judged(score, own) if label not in there]
    chosen = metric_choice.choose(score, metric, "metric")
    labels = list(score.indexes["metric"])
    for label in (labels[at] for at in chosen):
        if label in there:
            raise ValueError(f"metric {label!r} is calibrated already; name the judge that it was made of")
        if label in own:
            raise ValueError(f"metric {label!r} is the gold itself; name the judges")
        if calibrated.called(label) in labels:
            raise ValueError(
                f"there is a metric '{calibrated.called(label)}' already; calibrate the Dataset without it, or leave "
                f"{label!r} out of metric="
            )
    return chosen


def _sign(human: xr.DataArray) -> int:
    better = human.coords.get("higher_is_better")
    if better is None:
        return 1
    if better.ndim:
        raise ValueError(f"higher_is_better of the gold must be one value, without a dim, got the dims {better.dims}")
    return 1 if bool(better) else -1


def _grades(grades: Any, human: xr.DataArray) -> tuple[float, ...]:
    if grades is None or grades is False:
        return ()
    if grades is True:
        found = np.unique(human.compute().values)
        found = found[~np.isnan(found)]
        if len(found) > MOST_GRADES:
            raise ValueError(
                f"grades=True rounds to the human scores' values, which are {len(found):,} here; list the grades, "
                "as in grades=[1, 2, 3, 4, 5]"
            )
    else:
        each = grades.tolist() if isinstance(grades, np.ndarray) else grades
        listed = validate.several("grades", each, "numbers")
        found = np.unique([validate.number("grades", one, -np.inf, np.inf) for one in listed])
    if len(found) < 2 or not np.isfinite(found).all():
        raise ValueError(f"grades must be two different numbers or more, got {found.tolist()}")
    return tuple(found.tolist())


def _with_gold(ds: xr.Dataset, gold: Any, human: xr.DataArray, name: str) -> tuple[xr.Dataset, str]:
    if gold is None or not isinstance(gold, xr.DataArray):
        return ds, name
    if name in ds.data_vars and name != "score" and ds[name].equals(gold):
        return ds, name
    if "metric" in gold.coords and name in map(str, ds.indexes.get("metric", [])):
        label = gold.coords["metric"].item()
        if align.without_coords(ds["score"].sel(metric=label, drop=True)).equals(
            align.without_coords(gold.drop_vars("metric"))
        ):
            return ds, name
    new = _free("calibration_gold", ds)
    return ds.assign({new: align.without_coords(human)}), new


def _with_folds(ds: xr.Dataset, folds: IntArray) -> tuple[xr.Dataset, str]:
    name = calibrated.FOLDS
    if name in ds.coords and ds[name].dims == ("input",) and np.array_equal(ds[name].values, folds):
        return ds, name
    name = _free(name, ds)
    return ds.assign_coords({name: ("input", folds)}), name


def _free(name: str, ds: xr.Dataset) -> str:
    taken = {*map(str, ds.variables), *map(str, ds.dims), *map(str, ds.indexes.get("metric", []))}
    return next(each for each in (name, *(f"{name}_{at}" for at in range(2, 1000))) if each not in taken)


def _people(human: xr.DataArray, along: str, method: str) -> xr.DataArray:
    """What maps are fitted to, ("_rater", ..., system, input): the mean rating, or for "quantile" every rating."""
    if along in human.dims and method == "quantile":
        return human.rename({along: "_rater"}).drop_vars("_rater", errors="ignore")
    return calibrated.mean_of_raters(human, along).expand_dims("_rater")


def cross_fitted(judge: xr.DataArray, human: xr.DataArray, folds: IntArray, how: Calibration) -> xr.DataArray:
    """Calibrated scores of each judge and label of further dims, by human scores ("_rater", ..., system, input)."""
    inputs = [(align.without_coords(judge), facts.CELLS), (align.without_coords(human), ("_rater", *facts.CELLS))]
    return labelled.by_label(lambda x, z: how.cross_fitted(x, z, folds), inputs, {"score": facts.CELLS})["score"]


def _check(judge: xr.DataArray, human: xr.DataArray, new: xr.DataArray) -> None:
    there = judge.notnull()
    rated = (there & human.notnull().any("_rater")).sum(facts.CELLS)
    if not bool((rated > 0).all()):
        raise ValueError("no output has both a score by the judge and a human score")
    if bool((there & new.isnull()).any()):
        raise ValueError("all rated outputs are in one fold; use other folds")
    checks.warn_where(rated < _ENOUGH, f"fewer than {_ENOUGH} rated outputs: calibration is rough, for", "few_ratings")


def _words(name: str, how: Calibration, folds: int, seed: int) -> str:
    rounded = ", rounded to grades" if how.grades else ""
    return f"to {name} by {calibrated.BY[how.method]} in {folds} folds of inputs (seed {seed}){rounded}"


def _joined(
    ds: xr.Dataset,
    score: xr.DataArray,
    new: xr.DataArray,
    chosen: list[int],
    names: list[str],
    words: str,
    sign: int,
    made: dict[str, calibrated.Recipe],
) -> xr.Dataset:
    size = score.sizes["metric"]
    labels = np.array([*score["metric"].values.tolist(), *names], dtype=object)
    each = xr.broadcast(align.without_coords(score), new.assign_coords(metric=names), exclude=["metric"])
    whole = xr.concat([one.drop_vars("metric") for one in each], "metric", coords="minimal", compat="override")
    dims = [*score.dims, *(dim for dim in whole.dims if dim not in score.dims)]
    found = ds.drop_vars("score").isel(metric=[*range(size), *chosen]) if "metric" in ds.drop_vars("score").dims else ds
    found = found.drop_vars("score", errors="ignore").assign_coords(metric=labels)
    old_metrics = xr.DataArray(np.arange(len(labels)) < size, dims="metric")
    beside = {name: values for name, values in found.data_vars.items() if "metric" in values.dims}
    found = found.assign(
        {name: values.where(old_metrics) for name, values in beside.items()}
    )  # said of the judge alone
    found = found.assign(score=whole.transpose(*dims).assign_coords(metric=labels).assign_attrs(ds["score"].attrs))
    known = found.coords[calibrated.NAME].values.tolist()[:size] if calibrated.NAME in found.coords else [""] * size
    found = found.assign_coords({calibrated.NAME: ("metric", np.array([*known, *[words] * len(names)], dtype=object))})
    if "higher_is_better" in found.coords or sign < 0:
        better = score.coords.get("higher_is_better")
        old = [True] * size if better is None else better.values.astype(bool).tolist()
        found = found.assign_coords(higher_is_better=("metric", np.array([*old, *[sign > 0] * len(names)])))
    return found.assign_attrs(calibrated.with_recipes(ds, made))


# --- For analyses that refit ---


def with_refits(ds: xr.Dataset, scores: schema.Scores) -> tuple[schema.Scores, tuple[RefitOf, ...]]:
    """The scores with what calibrated metrics were made of along `_metric`, and where; others stay as they are."""
    found = calibrated.labels(scores.score)
    if not found:
        return scores, ()
    own = locate.checked_scores(ds)
    recipes, labels = calibrated.recipes(ds), list(scores.score.indexes["metric"])
    parts, refits = [scores.score], []
    for label in found:
        if str(label) not in recipes:
            raise ValueError(
                f"{label!r} holds calibrated scores, and ds.attrs does not say how they were made, so they have no "
                "interval; calibrate again with ds.meta.calibrate(...)"
            )
        recipe = recipes[str(label)]
        made_of = _made_of(ds, own, recipe, scores.score, str(label))
        at = len(labels) + len(parts) - 1
        raters = tuple(range(at + 2, at + len(made_of)))
        refits.append(RefitOf(labels.index(label), at, at + 1, raters, recipe.oriented, str(label)))
        parts.extend(made_of)
    bare = [align.without_coords(each) for each in parts]
    bare[0] = bare[0].drop_vars("metric").rename(metric="_metric")
    bare[1:] = [each.expand_dims("_metric") for each in bare[1:]]
    whole = xr.concat(xr.broadcast(*bare, exclude=["_metric"]), "_metric", coords="minimal", compat="override")
    whole = align.in_order(whole, ("_metric", *facts.CELLS))
    return replace(scores, score=whole), tuple(refits)


def _made_of(
    ds: xr.Dataset, own: xr.DataArray, recipe: calibrated.Recipe, score: xr.DataArray, label: str
) -> list[xr.DataArray]:
    """The judge's scores, the folds, and the scores of people, on the systems and inputs of some scores."""
    judge = align.oriented(own, ("metric",)).sel(
        metric=calibrated.known(list(own.indexes["metric"]), recipe.of, "metric", label), drop=True
    )
    places = [*own.indexes["metric"], *(name for name in ds.data_vars if name != "score")]
    human = golds.find_gold(ds, own, calibrated.known(places, recipe.gold, "gold", label))[0]
    human = recipe.sign * _people(human.drop_vars("metric", errors="ignore"), recipe.along, recipe.calibration.method)
    folds = ds.coords.get(recipe.folds)
    if folds is None:
        raise ValueError(f"{label!r} was calibrated with the folds {recipe.folds!r}, a coordinate that ds has no more")
    folds = folds.astype(float).drop_vars(recipe.folds).expand_dims(system=score.sizes["system"])
    raters = [human.isel(_rater=at) for at in range(human.sizes["_rater"])]
    return [_at(each, score) for each in (judge, folds, *raters)]


def _at(values: xr.DataArray, score: xr.DataArray) -> xr.DataArray:
    for dim in facts.CELLS:
        if dim in values.indexes and dim in score.indexes:
            values = values.reindex({dim: score.indexes[dim]})
        elif values.sizes[dim] != score.sizes[dim]:
            raise ValueError(f"calibrated metrics need labels along {dim!r} where some are left out")
        elif dim in score.indexes:
            values = values.assign_coords({dim: score.indexes[dim]})
    return values


def found_of(found: dict[str, xr.DataArray], scores: schema.Scores) -> dict[str, xr.DataArray]:
    """Numbers of metrics (or of pairs) from scores with refits, with the labels and descriptions that scores have."""
    kept = {
        name: coord for name, coord in scores.score.coords.variables.items() if not set(coord.dims) & set(facts.CELLS)
    }
    return {
        name: values.assign_coords({at: coord for at, coord in kept.items() if set(coord.dims) <= set(values.dims)})
        for name, values in found.items()
    }
