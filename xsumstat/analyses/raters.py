"""Do the raters agree: `agreement`, `drop_noisiest_rater` and `majority_vote`."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import catalogue
from xsumstat.analyses import clustering
from xsumstat.analyses.measure import Draws, checked_dims, random_dims
from xsumstat.coefficients.arrays import scaled
from xsumstat.core import arguments, extras, validate
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.dataset import align, checks, chunking, directions, drawn, facts, golds, labelled, locate, results
from xsumstat.inference import alpha
from xsumstat.inference.alpha import RatedCells
from xsumstat.inference.intervals import bootstrap_interval
from xsumstat.inference.jackknife import bounded, deleted_variance
from xsumstat.kernels.means import TIE
from xsumstat.resampling.jobs import Job, R
from xsumstat.resampling.plans import DrawPlan

TIES = ("missing", "lowest")
MEASUREMENTS = ("nominal", "ordinal", "interval")
_TYPES = {"alpha": float, "ci_low": float, "ci_high": float, "standard_error": float, "n_undefined": int}


@validate.public
def agreement(
    ds: xr.Dataset,
    rating: str | xr.DataArray | None = None,
    *,
    along: str = "rater",
    measurement: str = "ordinal",
    method: str = "jackknife",
    resample: str | tuple[str, ...] = "auto",
    n_resamples: int = 999,
    confidence_level: float = 0.95,
    cluster: str | tuple[str, ...] | None = None,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Krippendorff's alpha of the raters, with its confidence interval (extra "agreement").

    Parameters
    ----------
    {ds.ratings rating along.raters}
    measurement : {"nominal", "ordinal", "interval"}, default "ordinal"
        Weight of a disagreement: all alike, by the ranks between, or by the squared difference.
    method : {"jackknife", "bootstrap"}, default "jackknife"
        Leave out each system and each input, or take quantiles of resamples.
    {resample.auto n_resamples.draws confidence_level cluster rng progress}

    {dataset}
        On additional dims: ``alpha`` (at most 1; chance is 0), ``ci_low``, ``ci_high``, ``standard_error``
        and ``n_undefined`` (undefined resamples or leave-outs).

    Notes
    -----
    ``α = 1 − D_o/D_e``: the disagreement within outputs over that among all ratings. Outputs with one rating do not
    count. Scope: these raters. Formulas: documentation, "How intervals and tests are computed". Sources: Krippendorff
    (2011), "Computing Krippendorff's Alpha-Reliability". Bhandari et al. (2020), §3.3.

    Examples
    --------
    >>> import numpy as np, xarray as xr, xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
    >>> rating = (ds.score.sel(metric="human", drop=True) / 20 + 0.3 * noise).round()
    >>> ds.meta.agreement(rating)["alpha"].round(2).to_dict()["data"]
    0.69
    """
    krippendorff = extras.optional("krippendorff", "agreement")
    ratings, name = ratings_of(ds, rating, along)
    ratings = ratings.drop_vars([each for each in catalogue.RESERVED if each in ratings.coords])
    validate.choice("measurement", measurement, MEASUREMENTS)
    validate.choice("method", method, ("jackknife", "bootstrap"))
    dims = checked_dims(resample)
    names = clustering.checked(cluster)
    draws = Draws.checked(n_resamples, rng, progress=progress)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    how = krippendorff.alpha, measurement, confidence_level
    sizes = {dim: ratings.sizes[dim] for dim in facts.CELLS}
    rated = int(ratings.notnull().any([dim for dim in ratings.dims if dim != "system"]).sum())
    dims = random_dims(resample, dims, (rated, sizes["input"]))
    ratings = clustering.carried(ratings, names, ds)
    if not names and "input" in ds.sizes:  # ratings that come by themselves may have no coordinates
        clustering.warn_of_documents(ds, dims)
    clusters = clustering.of_scores(ratings, names, dims, drawn=method == "bootstrap")
    plan = DrawPlan((sizes["system"], sizes["input"]), dims, draws.n_resamples, draws.seed, clusters=clusters)
    units = dict(zip(facts.CELLS, clusters or map(np.arange, sizes.values()), strict=True))
    job = (
        _Jackknifed(*how, {dim: units[dim] for dim in facts.CELLS if dim in dims}, clusters is not None)
        if method == "jackknife"
        else _Bootstrapped(*how, plan)
    )
    found = labelled.over_labels(
        job, [(ratings, ("system", "input", along))], "_all", _TYPES, lazy=False, progress=draws.progress
    )
    result = {name: values.squeeze("_all") for name, values in found.items()}
    unknown = result["alpha"].isnull()
    checks.warn_where(unknown, "alpha is undefined (NaN), because no output has two ratings, or all ratings are equal")
    checks.warn_where(
        result["ci_low"].isnull() & ~unknown,
        "no interval, which needs two systems (or clusters) if systems are random, and two inputs if inputs are",
        "no_interval",
    )
    attrs = {"rating": name, "along": along, "measurement": measurement, "confidence_level": confidence_level}
    attrs["n_raters"] = int(ratings.notnull().any([dim for dim in ratings.dims if dim != along]).sum())
    attrs |= {"resample": dims, "cluster": names or None, **(draws.attrs if method == "bootstrap" else {})}
    return results.result(result, ratings, analysis="agreement", method=method, **attrs)


# The package krippendorff takes a few arrays of cells by values by values: no larger ones than this, in bytes.
_LARGEST = 2**26
# So many labels are left out at a time.
_AT_ONCE = 64


@dataclass(frozen=True)
class _Alpha(Job[R]):
    function: Callable[..., Any]
    measurement: str
    confidence_level: float
    targets = ("alpha",)
    names = tuple(_TYPES)

    def bytes_each(self, x: Any, z: Any = None, *beside: Any) -> int:
        return 8 * self.n_resamples

    def rows(self, ready: R) -> int:
        return 1

    def estimate(self, rated: RatedCells) -> float:
        there = rated.margin > 0
        if there.sum() < 2:
            return float(np.nan)
        if 8 * len(rated.size) * there.sum() ** 2 > _LARGEST:
            return alpha.of(rated, self.measurement)
        values = {"value_counts": rated.counts()[:, there], "value_domain": rated.domain[there]}
        return float(self.function(**values, level_of_measurement=self.measurement))


@dataclass(frozen=True)
class _Bootstrapped(_Alpha[RatedCells]):
    plan: DrawPlan

    @property
    def n_resamples(self) -> int:  # type: ignore[override]
        return self.plan.n_resamples

    def ready(self, at: slice, x: FloatArray, z: Any = None, *beside: Any) -> RatedCells:
        return RatedCells.of(x)

    def block(self, ready: RatedCells, block: int, out: FloatArray, stop: threading.Event | None) -> None:
        draw = self.plan.block(block)
        systems, inputs = (np.broadcast_to(each, (len(draw), each.shape[1])) for each in (draw.systems, draw.inputs))
        cells = np.arange(len(ready.size))
        for at, (one, two) in enumerate(zip(systems, inputs, strict=True)):
            if stop is not None and stop.is_set():
                return
            out[0, at] = self.estimate(ready.of_cells(np.repeat(cells, one[ready.systems] * two[ready.inputs])))

    def finish(self, ready: RatedCells, counts: IntArray | None, samples: FloatArray) -> FloatArray:
        estimate = self.estimate(ready)
        interval = bootstrap_interval(estimate, samples[0], "percentile", self.confidence_level)
        return np.array([[estimate, *interval, np.isnan(samples).sum()]], dtype=float).T


@dataclass(frozen=True)
class _Jackknifed(_Alpha[list[alpha.Without]]):
    """With the interval of its jackknife; `units`: the cluster of each label of the random dims, systems first."""

    units: dict[str, IntArray]
    clustered: bool

    @property
    def n_resamples(self) -> int:  # type: ignore[override]
        return sum(self._sizes)

    @property
    def _sizes(self) -> list[int]:
        return [int(codes.max(initial=-1)) + 1 for codes in self.units.values()]

    @property
    def n_blocks(self) -> int:
        return -(-self.n_resamples // _AT_ONCE)

    def columns(self, block: int) -> slice:
        return slice(block * _AT_ONCE, min((block + 1) * _AT_ONCE, self.n_resamples))

    def ready(self, at: slice, x: FloatArray, z: Any = None, *beside: Any) -> list[alpha.Without]:
        rated = RatedCells.of(x)
        where = {"system": rated.systems, "input": rated.inputs}
        labels = [codes[where[dim]] for dim, codes in self.units.items()]
        return [alpha.Without(rated, of, n, self.measurement) for of, n in zip(labels, self._sizes, strict=True)]

    def block(self, ready: list[alpha.Without], block: int, out: FloatArray, stop: threading.Event | None) -> None:
        labels = [(without, at) for without in ready for at in range(without.size)]
        out[:] = np.nan
        for column, (without, at) in enumerate(labels[self.columns(block)]):
            if stop is not None and stop.is_set():
                return
            out[0, column] = without(at)

    def finish(self, ready: list[alpha.Without], counts: IntArray | None, samples: FloatArray) -> FloatArray:
        rated = ready[0].rated
        value = self.estimate(rated)
        by_dim = np.split(samples[0], np.cumsum(self._sizes)[:-1])
        without = [each[leave.labels] for each, leave in zip(by_dim, ready, strict=True)]
        undefined = sum(np.isnan(each).sum() for each in without)
        about = value if self.clustered else None
        variances = [deleted_variance(each, about) for each in without]
        if np.isnan(variances).any():
            return np.array([[value, *[math.nan] * 3, undefined]], dtype=float).T
        if len(variances) == 2:
            cells = np.unique(ready[0].label * ready[1].size + ready[1].label, return_inverse=True)[1].reshape(-1)
            of_cells = alpha.without_each(rated, cells, int(cells.max()) + 1, self.measurement)
            variances.append(sum(variances) - deleted_variance(of_cells))
        error = math.sqrt(max(variances))
        off = sum((len(each) - 1) * (float(np.nanmean(each)) - value) for each in without)
        limits = bounded(value, off, error, min(map(len, without)) - 1).interval(self.confidence_level)
        return np.array([[value, *limits, error, undefined]], dtype=float).T


@validate.public
def drop_noisiest_rater(
    ds: xr.Dataset, rating: str | xr.DataArray | None = None, *, along: str = "rater"
) -> xr.Dataset:
    """Leave out, for each input, the rater who departs from the majority most often.

    Parameters
    ----------
    {ds.ratings rating along.raters}

    {dataset}
        `ds`, in which these ratings are NaN, in their variable or as "rating".

    Notes
    -----
    Departures are counted over the systems of an input, per additional label. Outputs without a majority
    do not count. Ties: the rater with the larger total distance, then the first. If nobody departs, nobody is left out.
    Source: Bhandari et al. (2020), §3.3: over the content units of a document.

    Examples
    --------
    >>> import xarray as xr, xsumstat
    >>> ds = xsumstat.load_dataset("demo").isel(system=slice(0, 2), input=slice(0, 3))
    >>> human = (ds.score.sel(metric="human", drop=True) > 50).astype(float)
    >>> rated = ds.assign(rating=xr.concat([human, human, 1 - human], dim="rater"))
    >>> rated.meta.drop_noisiest_rater("rating").rating.isel(system=0).transpose("rater", "input").values
    array([[ 1.,  0.,  1.],
           [ 1.,  0.,  1.],
           [nan, nan, nan]])
    """
    ratings, name = ratings_of(ds, rating, along)
    kept = xr.apply_ufunc(
        _without_noisiest,
        ratings,
        input_core_dims=[["system", "input", along]],
        output_core_dims=[["system", "input", along]],
        vectorize=True,
        output_dtypes=[float],
        keep_attrs=True,
    )
    return _replaced(ds, name, kept.transpose(*ratings.dims), along)


def _without_noisiest(values: FloatArray) -> FloatArray:
    usual = scaled(values)
    majority = _majority(usual, unique=True)[..., None]
    judged = ~np.isnan(usual) & ~np.isnan(majority)
    departs = (judged & (usual != majority)).sum(axis=0)
    distance = np.where(judged, np.abs(usual - majority), 0.0).sum(axis=0)
    near = TIE * np.where(judged, np.abs(usual) + np.abs(majority), 0.0).sum(axis=0).max(axis=1)
    out = values.copy()
    for at in np.flatnonzero(departs.any(axis=1)):
        far = np.where(departs[at] == departs[at].max(), distance[at], -np.inf)
        out[:, at, np.argmax(far >= far.max() - near[at])] = np.nan
    return out


@validate.public
def majority_vote(
    ds: xr.Dataset, rating: str | xr.DataArray | None = None, *, along: str = "rater", ties: str = "missing"
) -> xr.Dataset:
    """Replace the raters' ratings by the most frequent one.

    Parameters
    ----------
    {ds.ratings rating along.raters}
    ties : {"missing", "lowest"}, default "missing"
        What an output gets if several values are equally frequent: NaN, or the lowest of them.

    {dataset}
        `ds`, in which the ratings have no dim `along`, in their variable or as "rating"; NaN where nobody rated.

    Warns
    -----
    LeftOutWarning
        How many outputs have no majority, with ``ties="missing"``.

    Notes
    -----
    "lowest" moves the votes down, so a metric seems to score too high. Bhandari et al. (2020), §3.3, use it: a tie
    between 0 and 1 counts as "not present".

    Examples
    --------
    >>> import xarray as xr, xsumstat
    >>> ds = xsumstat.load_dataset("demo").isel(system=slice(0, 2), input=slice(0, 3))
    >>> human = (ds.score.sel(metric="human", drop=True) > 50).astype(float)
    >>> rated = ds.assign(rating=xr.concat([human, human, 1 - human], dim="rater"))
    >>> rated.meta.majority_vote("rating").rating.values
    array([[1., 0., 1.],
           [0., 1., 1.]])
    """
    ratings, name = ratings_of(ds, rating, along)
    validate.choice("ties", ties, TIES)
    voted = xr.apply_ufunc(
        lambda values: _majority(values, unique=ties == "missing"),
        ratings,
        input_core_dims=[["system", "input", along]],
        output_core_dims=[["system", "input"]],
        vectorize=True,
        output_dtypes=[float],
        keep_attrs=True,
    )
    if ties == "missing":
        _warn_tied(ratings.notnull().any(along), voted.notnull())
    others = [dim for dim in ratings.dims if dim != along]
    return _replaced(ds, name, voted.transpose(*others), along)


def _warn_tied(rated: xr.DataArray, decided: xr.DataArray) -> None:
    n_rated = int(rated.sum())
    tied = n_rated - int(decided.sum())
    if tied:
        way = arguments.only_in_python("; ties='lowest' takes the lowest of them")
        validate.warn(
            f"left out {tied:,} of {n_rated:,} outputs whose most frequent ratings are tied{way}",
            "scores_left_out",
        )


def _replaced(ds: xr.Dataset, name: str, ratings: xr.DataArray, along: str) -> xr.Dataset:
    others = ds.drop_vars(name, errors="ignore")
    if not any(along in each.dims for each in others.data_vars.values()):
        others = others.drop_vars([each for each, coord in others.coords.variables.items() if along in coord.dims])
    return results.of_its_own(others.assign({name: ratings}))


def _majority(values: FloatArray, *, unique: bool) -> FloatArray:
    """The value that most raters gave to each cell: the lowest of several, or NaN where there must be one alone."""
    rising = np.sort(values, axis=2)
    alike, run = np.zeros(values.shape), np.zeros(values.shape[:2])
    for at in range(values.shape[2]):
        again = rising[..., at] == rising[..., at - 1] if at else False
        run = np.where(again, run + 1, ~np.isnan(rising[..., at]))
        alike[..., at] = run  # up to n for n equal ratings
    most = alike.max(axis=2, keepdims=True, initial=0)
    first = np.expand_dims((alike == most).argmax(axis=2), 2)
    found = np.take_along_axis(rising, first, axis=2)[..., 0]
    if unique:
        found = np.where((alike == most).sum(axis=2) > 1, np.nan, found)
    return np.asarray(found)


def _warn_unmatched(ds: xr.Dataset, ratings: xr.DataArray) -> None:
    for dim in ("system", "input"):
        if dim in ds.indexes and dim in ratings.indexes:
            ours, theirs = ds.indexes[dim], ratings.indexes[dim]
            lost = [*ours[~ours.isin(theirs)].tolist(), *theirs[~theirs.isin(ours)].tolist()]
            if lost:
                validate.warn(
                    f"ratings and ds differ along {dim!r}: only one has {validate.listing(lost)}", "labels_left_out"
                )


def _no_ratings(rating: Any, along: str) -> str:
    given = "" if rating is None else f"{validate.given(rating)} has no single ratings: "
    way = (
        "keep each rater's column, e.g. ds = df.meta.to_scores(..., ratings=['rater_1', 'rater_2'])"
        if arguments.in_python()
        else f"name each rater's column: {arguments.given('ratings')} COLUMN ..."
    )
    renamed = "" if along == "rater" else "; along must name the dim of the raters"
    return (
        f"{given}ds has no variable with the dim {along!r}, and this needs the ratings of single raters; {way}"
        f", or pass them as a DataArray with the dims {along}, system and input{renamed}"
    )


def ratings_of(ds: xr.Dataset, rating: Any, along: str) -> tuple[xr.DataArray, str]:
    """Ratings with their systems, inputs and raters, as float64, and their name."""
    variables = [str(name) for name in ds.data_vars if along in ds[name].dims]
    if along in ("system", "input"):
        raise ValueError(f"along must be the dim of the raters, got {along!r}")
    if not variables and not isinstance(rating, xr.DataArray):
        raise ValueError(_no_ratings(rating, along))
    if rating is None:
        gold = ds.attrs.get("gold")
        rating = variables[0] if len(variables) == 1 and gold not in variables else gold
        if rating not in variables:
            raise ValueError(
                f"several variables have the dim {along!r}: {validate.listing(variables)}; say which are the ratings, "
                f"e.g. rating={variables[0]!r}"
            )
    if isinstance(rating, xr.DataArray):
        named = rating.name in ds.data_vars and along in ds[rating.name].dims
        values = rating if named else rating.rename("rating")
        _warn_unmatched(ds, values)
    else:
        if not isinstance(rating, str) or rating not in variables:
            raise ValueError(
                f"rating must be a DataArray, or a variable with the dim {along!r}, got {validate.given(rating)}"
                f"{validate.suggestion(str(rating), variables)} available: {validate.listing(variables) or 'none'}"
                f"{'' if along == 'rater' else '; along must name the dim of the raters'}"
            )
        values = ds[rating]
    lacking = [dim for dim in ("system", "input", along) if dim not in values.dims]
    if lacking:
        raise ValueError(f"rating must have the dims {validate.listing(lacking)}, got {validate.listing(values.dims)}")
    values = locate.checked(values, "rating")
    values = values.compute() if chunking.is_lazy(values) else values
    drawn.warn_ignored(ds, values)
    return values, str(values.name)


def higher_is_better(ds: xr.Dataset, ratings: xr.DataArray, along: str = "rater") -> xr.DataArray:
    """Ratings negated where lower is better."""
    return align.oriented(golds.directed(ds, ratings, along), ()).drop_vars(directions.NAME, errors="ignore")


def check_several(ratings: xr.DataArray, along: str) -> None:
    """Two raters at least."""
    if ratings.sizes[along] < 2:
        raise ValueError(f"rating has only {ratings.sizes[along]} rater along {along!r}; two are needed at least")
    if bool(ratings.notnull().any()) and not bool((ratings.notnull().sum(along) > 1).any()):
        raise ValueError(
            f"no output has ratings by two raters along {along!r}, so no rater can be compared with others; ci "
            "compares metrics with the mean of the ratings"
        )
