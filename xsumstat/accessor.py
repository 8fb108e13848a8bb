"""`ds.meta` and `df.meta`: one-line delegation to the functions, no state."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import pandas as pd
import xarray as xr

from xsumstat import overview
from xsumstat.analyses import adjust as families
from xsumstat.analyses import analytic_tests as corr_tests
from xsumstat.analyses import close_systems as close_pairs
from xsumstat.analyses import correlation, diagnostics, intervals, judges, metric_intervals, ranking, raters
from xsumstat.analyses import disagreement as disagreements
from xsumstat.analyses import equivalence as _equivalence
from xsumstat.analyses import inputs as input_effects
from xsumstat.analyses import metric_tests as comparison
from xsumstat.analyses import range_drop as restriction
from xsumstat.analyses import scoring_range as ranges
from xsumstat.analyses import systems as system_comparison
from xsumstat.analyses import top_systems as best_systems
from xsumstat.analyses import verdicts as discriminative
from xsumstat.io import frames as io
from xsumstat.io import mtme
from xsumstat.plots import equivalence as equivalence_plots
from xsumstat.plots import metrics as plots
from xsumstat.plots import outputs as range_plots
from xsumstat.plots import simulation as trial_plots
from xsumstat.plots import systems as system_plots

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _delegate(function: Callable[Concatenate[Any, _P], _R]) -> Callable[Concatenate[Any, _P], _R]:
    """A method that calls `function` with the accessor's object first, with its signature and docstring."""

    @functools.wraps(function)
    def method(self: Any, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return function(self._obj, *args, **kwargs)

    signature = inspect.signature(function)
    _, *rest = signature.parameters.values()
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__signature__ = signature.replace(parameters=[itself, *rest])  # type: ignore[attr-defined]
    return method


class Plots:
    """Pictures of a result, ``result.meta.plot.forest()``, or of scores, ``ds.meta.plot.heatmap()``."""

    def __init__(self, obj: xr.Dataset) -> None:
        self._obj = obj

    forest = _delegate(plots.forest)
    pvalues = _delegate(plots.pvalues)
    clusters = _delegate(plots.clusters)
    sensitivity = _delegate(equivalence_plots.sensitivity)
    pca = _delegate(equivalence_plots.pca)
    shifts = _delegate(equivalence_plots.shifts)
    heatmap = _delegate(system_plots.heatmap)
    input_effect = _delegate(system_plots.input_effect)
    top_k = _delegate(system_plots.top_k)
    confusion = _delegate(system_plots.confusion)
    bars = _delegate(system_plots.bars)
    matrix = _delegate(range_plots.matrix)
    scatter_matrix = _delegate(range_plots.scatter_matrix)
    distribution = _delegate(range_plots.distribution)
    disagreement = _delegate(range_plots.disagreement)
    improvement = _delegate(range_plots.improvement)
    range_drop = _delegate(range_plots.range_drop)
    close_corr = _delegate(system_plots.close_corr)
    tasks = _delegate(plots.tasks)
    coverage = _delegate(trial_plots.coverage)
    power = _delegate(trial_plots.power)


@xr.register_dataset_accessor("meta")  # type: ignore[no-untyped-call]
class DatasetMeta:
    """How far can a metric be trusted: questions to scores, and to results of such questions."""

    def __init__(self, obj: xr.Dataset) -> None:
        self._obj = obj

    corr = _delegate(correlation.corr)
    metric_corr = _delegate(correlation.metric_corr)
    ci = _delegate(intervals.ci)
    metric_ci = _delegate(metric_intervals.metric_ci)
    perm_test = _delegate(comparison.perm_test)
    boot_test = _delegate(comparison.boot_test)
    corr_test = _delegate(corr_tests.corr_test)
    equivalence = _delegate(_equivalence.equivalence)
    margin_sensitivity = _delegate(_equivalence.margin_sensitivity)
    dominance = _delegate(_equivalence.dominance)
    compare_systems = _delegate(system_comparison.compare_systems)
    input_effect = _delegate(input_effects.input_effect)
    top_k = _delegate(best_systems.top_k)
    top_k_corr = _delegate(best_systems.top_k_corr)
    close_corr = _delegate(close_pairs.close_corr)
    discriminative_agreement = _delegate(discriminative.discriminative_agreement)
    agreement = _delegate(raters.agreement)
    drop_noisiest_rater = _delegate(raters.drop_noisiest_rater)
    majority_vote = _delegate(raters.majority_vote)
    alt_test = _delegate(judges.alt_test)
    human_ceiling = _delegate(judges.human_ceiling)
    sample_inputs = _delegate(input_effects.sample_inputs)
    scoring_range = _delegate(ranges.scoring_range)
    range_drop = _delegate(restriction.range_drop)
    disagreement = _delegate(disagreements.disagreement)
    improvement_consistency = _delegate(disagreements.improvement_consistency)
    rank = _delegate(ranking.rank)
    normality = _delegate(diagnostics.normality)
    pca = _delegate(diagnostics.pca)
    adjust = _delegate(families.adjust)
    significant = _delegate(families.significant)
    to_frame = _delegate(io.to_frame)
    to_mtme = _delegate(mtme.to_mtme)

    @property
    def plot(self) -> Plots:
        """Pictures of a result."""
        return Plots(self._obj)

    def __repr__(self) -> str:
        return overview.as_text(self._obj)

    def _repr_html_(self) -> str:
        return overview.as_html(self._obj)


@pd.api.extensions.register_dataframe_accessor("meta")
class FrameMeta:
    """From a frame of scores to a Dataset: ``df.meta.to_scores(...)``."""

    def __init__(self, obj: pd.DataFrame) -> None:
        self._obj = obj

    to_scores = _delegate(io.to_scores)
