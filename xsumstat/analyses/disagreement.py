"""Do metrics order outputs alike, the better these are: `disagreement` and `improvement_consistency`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import normalised_scores, output_pairs
from xsumstat.analyses.normalised_scores import Bands
from xsumstat.analyses.output_pairs import Counting
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import chunking, facts, metric_choice, pair_results, results
from xsumstat.dataset import scores as schema
from xsumstat.dataset.value_checks import Checks
from xsumstat.resampling import draws, tasks, threads

NORMALISATIONS = ("all", "input")
# How many pairs of outputs of an input are looked at, before they are drawn.
MAX_PAIRS = 5_000_000


@validate.public
def disagreement(
    ds: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    n_bins: int = 10,
    normalise: str = "all",
    max_pairs: int = MAX_PAIRS,
    method: str = "jackknife",
    n_resamples: int = 999,
    confidence_level: float = 0.95,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Share of output pairs that two metrics order oppositely, by score bin.

    Parameters
    ----------
    {ds.outputs}
    metric : label, list of labels or bool DataArray, optional
        Metrics to compare in pairs. Default: all except ``ds.attrs["gold"]`` and human ones.
    {n_bins normalise}
    max_pairs : int, default 5,000,000
        Draw this many pairs of outputs of an input if it has more.
    {bands}

    {dataset}
        On (metric, other_metric, score_bin), the middles of the bins: ``share`` in [0, 1], ``ci_low``, ``ci_high``,
        ``n_pairs``; NaN in an empty bin and on the diagonal. ``attrs["n_sampled_inputs"]``: inputs with drawn pairs.

    Notes
    -----
    The bin of a pair is the mean of its four normalised scores (two outputs, two metrics). A pair tied by one metric
    counts as not opposite. Scope: new inputs for these systems, with the same lowest and highest scores. Formulas:
    documentation, "How intervals and tests are computed". Sources: Peyrard (2019), §4 and Fig. 2. Efron & Stein (1981),
    Annals of Statistics 9.

    {demo}
    >>> found = ds.meta.disagreement(metric=["judge", "rouge"], n_bins=4)
    >>> found.share.sel(metric="judge", other_metric="rouge").to_series().round(2).to_dict()
    {0.125: 0.3, 0.375: 0.35, 0.625: 0.38, 0.875: 0.69}
    """
    counting, bands = _checked(n_bins, normalise, max_pairs, method, n_resamples, confidence_level, rng)
    later = Checks()
    score = _outputs(ds, metric, later)
    pairs = np.array(np.triu_indices(score.sizes["metric"], 1)).T
    if chunking.is_lazy(score):
        tables = output_pairs.lazily_opposite(score, pairs, counting, bands)
        n_drawn: Any = output_pairs.lazily_drawn(score, counting.max_pairs)
        looked_at: Any = tasks.as_task(tables)
    else:
        with threads.one_bar(2, progress) as part:
            with part():
                counts, sampled = output_pairs.opposite_counts(score.values, pairs, counting, progress)
            with part():
                numbers = output_pairs.opposite_numbers(counts, bands, lambda job: job.run(progress))
        tables, n_drawn = output_pairs.square(numbers, pairs, score.sizes["metric"]), int(sampled.sum())
        looked_at = tables
    dims = ("metric", "other_metric", "score_bin")
    found = xr.Dataset(
        {name: (dims, values) for name, values in zip(output_pairs.NAMES, tables, strict=True)},
        {"score_bin": normalised_scores.middles(counting.n_bins)},
    )
    later.make(_warn_drawn_pairs, n_drawn, score.sizes["input"], counting.max_pairs)
    later.make(_warn_silent, looked_at[-1], score["metric"].values.tolist())
    attrs = {"normalise": normalise, **_attrs(counting, bands, n_drawn)}
    found = pair_results.labelled(found, score, score)
    return later.attached(results.result(found, score, analysis="disagreement", **attrs))


@validate.public
def improvement_consistency(
    ds: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    n_bins: int = 10,
    normalise: str = "all",
    max_pairs: int = MAX_PAIRS,
    method: str = "jackknife",
    n_resamples: int = 999,
    confidence_level: float = 0.95,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Share of improving outputs that improve by all metrics, by score bin.

    Parameters
    ----------
    {ds.outputs}
    metric : label, list of labels or bool DataArray, optional
        At least two metrics. Default: all except ``ds.attrs["gold"]`` and human ones.
    {n_bins normalise}
    max_pairs : int, default 5,000,000
        Draw outputs of an input if they form more pairs.
    {bands}

    {dataset}
        On (score_bin), the middles of the bins: ``ratio`` (mean of F/N, in [0, 1]), ``ci_low``, ``ci_high``,
        ``n_outputs``, and ``n_best``, outputs that none beats. ``attrs["n_sampled_inputs"]``: inputs with drawn
        outputs.

    Notes
    -----
    For an output s of an input, N counts the outputs that score higher than s by some metric, and F those by all
    metrics. Its bin is the mean of its normalised scores. Only outputs with all scores count. Scope: new inputs for
    these systems. Formulas: documentation, "How intervals and tests are computed". Source: Peyrard (2019), Eq. 1 and
    Fig. 3.

    {demo}
    >>> found = ds.meta.improvement_consistency(metric=["judge", "rouge"], n_bins=4)
    >>> found.ratio.to_series().round(2).to_dict()
    {0.125: 0.9, 0.375: 0.53, 0.625: 0.22, 0.875: 0.08}
    """
    counting, bands = _checked(n_bins, normalise, max_pairs, method, n_resamples, confidence_level, rng)
    later = Checks()
    score = _outputs(ds, metric, later)
    if chunking.is_lazy(score):
        numbers: Any = output_pairs.lazily_improving(score, counting, bands)
        looked_at: Any = tasks.as_task(numbers)
        most = score.sizes["system"]
        n_drawn: Any = looked_at[-1][0] if most * (most - 1) > counting.max_pairs else 0
    else:
        with threads.one_bar(2, progress) as part:
            with part():
                counts, sampled = output_pairs.improving_counts(score.values, counting, progress)
            with part():
                numbers = output_pairs.improving_numbers(counts, bands, lambda job: job.run(progress))
        looked_at, n_drawn = numbers, int(sampled.sum())
    names = ("ratio", "ci_low", "ci_high", "n_outputs", "n_best")
    found = xr.Dataset(
        {name: ("score_bin", each) for name, each in zip(names, numbers[: len(names)], strict=True)},
        {"score_bin": normalised_scores.middles(counting.n_bins)},
    )
    later.make(_warn_drawn_outputs, n_drawn, score.sizes["input"], counting.max_pairs)
    later.make(_warn_none, looked_at[3])
    attrs = {"metrics": ", ".join(map(str, score["metric"].values)), "normalise": normalise}
    attrs |= _attrs(counting, bands, n_drawn)
    return later.attached(results.result(found, score, analysis="improvement_consistency", **attrs))


def _checked(
    n_bins: Any, normalise: Any, max_pairs: Any, method: Any, n_resamples: Any, confidence_level: Any, rng: Any
) -> tuple[Counting, Bands]:
    validate.choice("normalise", normalise, NORMALISATIONS)
    validate.choice("method", method, ("jackknife", "bootstrap"))
    n_bins, max_pairs = validate.integer("n_bins", n_bins, 1, 10_000), validate.integer("max_pairs", max_pairs, 1)
    n_resamples = validate.n_draws("n_resamples", n_resamples, 2)
    confidence_level, seed = validate.fraction("confidence_level", confidence_level), draws.seed_of(rng)
    drawn = n_resamples if method == "bootstrap" else 0
    return Counting(n_bins, max_pairs, normalise, seed), Bands(confidence_level, drawn, seed)


def _attrs(counting: Counting, bands: Bands, n_drawn: Any) -> dict[str, Any]:
    known = isinstance(n_drawn, int)
    attrs: dict[str, Any] = {"max_pairs": counting.max_pairs}
    attrs |= {"n_sampled_inputs": n_drawn} if known else {}
    attrs |= {"method": "bootstrap" if bands.n_resamples else "jackknife"}
    attrs |= {"n_resamples": bands.n_resamples} if bands.n_resamples else {}
    attrs |= {"confidence_level": bands.confidence_level}
    return attrs | ({"seed": str(counting.seed)} if bands.n_resamples or not known or n_drawn else {})


def _outputs(ds: xr.Dataset, metric: Any, later: Checks) -> xr.DataArray:
    score = schema.prepare_metrics(ds, metric_choice.automatic(ds, metric), level=None, later=later)
    schema.report_unscored(score, later)
    if set(score.dims) - set(facts.CORE):
        raise ValueError(f"score has the dims {validate.listing(score.dims)}; select one label of each additional one")
    if score.sizes["metric"] < 2:
        raise ValueError(f"metric must name at least 2 metrics, got {validate.listing(score['metric'].values)}")
    return score


def _warn_drawn_pairs(n_drawn: Any, n_inputs: int, max_pairs: int) -> None:
    if n_drawn:
        validate.warn(
            f"{max_pairs:,} pairs of outputs are drawn on {int(n_drawn)} of {validate.counted(n_inputs, 'input')}",
            "drawn",
        )


def _warn_drawn_outputs(n_drawn: Any, n_inputs: int, max_pairs: int) -> None:
    if n_drawn:
        validate.warn(
            f"outputs are drawn on {int(n_drawn)} of {validate.counted(n_inputs, 'input')}, which have over "
            f"{max_pairs:,} pairs",
            "drawn",
        )


def _warn_silent(n_pairs: FloatArray, labels: list[Any]) -> None:
    never = np.argwhere(np.triu(n_pairs.sum(axis=-1) == 0, 1))
    if len(never):
        silent = validate.listing([f"{labels[one]} and {labels[two]}" for one, two in never])
        validate.warn(f"no input has two outputs with scores by both metrics: {silent}", "no_common_scores")


def _warn_none(n_outputs: FloatArray) -> None:
    if not n_outputs.any():
        validate.warn("no output with scores by every metric has a better one", "no_common_scores")
