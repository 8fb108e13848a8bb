"""`ds.meta` and `df.meta`: one-line delegation to the functions, no state."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, NoReturn, ParamSpec, TypeVar

import pandas as pd
import xarray as xr

from xsumstat import conclusions, docstrings, offers, overview, report
from xsumstat import methods as result_methods
from xsumstat.analyses import adjust as families
from xsumstat.analyses import analytic_tests as corr_tests
from xsumstat.analyses import bias as biases
from xsumstat.analyses import close_systems as close_pairs
from xsumstat.analyses import correlation, diagnostics, intervals, judges, metric_intervals, ranking, raters
from xsumstat.analyses import disagreement as disagreements
from xsumstat.analyses import equivalence as _equivalence
from xsumstat.analyses import inputs as input_effects
from xsumstat.analyses import metric_tests as comparison
from xsumstat.analyses import range_drop as restriction
from xsumstat.analyses import scoring_range as ranges
from xsumstat.analyses import sentinels as sentinel_metrics
from xsumstat.analyses import system_means as human_means
from xsumstat.analyses import systems as system_comparison
from xsumstat.analyses import top_systems as best_systems
from xsumstat.analyses import variances as variance_analysis
from xsumstat.analyses import verdicts as discriminative
from xsumstat.io import frames as io
from xsumstat.io import mtme, paper_tables, result_frames
from xsumstat.plots import bars as bar_plots
from xsumstat.plots import biases as bias_plots
from xsumstat.plots import components as component_plots
from xsumstat.plots import distributions, matrices, rankings
from xsumstat.plots import equivalence as equivalence_plots
from xsumstat.plots import forest as forest_plots
from xsumstat.plots import outputs as output_plots
from xsumstat.plots import plans as plan_plots
from xsumstat.plots import pvalues as pvalue_plots
from xsumstat.plots import scores as score_plots
from xsumstat.plots import simulation as trial_plots
from xsumstat.plots import system_means as mean_plots
from xsumstat.plots import systems as system_plots

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _delegate(function: Callable[Concatenate[Any, _P], _R]) -> Callable[Concatenate[Any, _P], _R]:
    """A method that calls `function` with the accessor's object first, with its signature and docstring but for that.

    Where it fails because a result is asked what is for scores, or the other way, it says so.
    """

    @functools.wraps(function)
    def method(self: Any, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(self._obj, *args, **kwargs)
        except ValueError:
            reason = self._misplaced(function.__name__)
            if reason is None:
                raise
            raise ValueError(reason) from None  # what was found lacking speaks of the other kind of Dataset

    signature = inspect.signature(function)
    data, *rest = signature.parameters.values()
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__signature__ = signature.replace(parameters=[itself, *rest])  # type: ignore[attr-defined]
    method.__doc__ = docstrings.without(function.__doc__, data.name)
    return method


class _Meta:
    """What all accessors share: a name that is not there is met with what it most likely means."""

    def __init__(self, obj: Any) -> None:
        self._obj = obj

    def _unknown(self, name: str) -> str:
        """What to say of a name that is not there."""
        raise NotImplementedError

    def _misplaced(self, name: str) -> str | None:
        """Why a method is asked of the wrong thing, if it is."""
        return None

    if not TYPE_CHECKING:  # for which any attribute would be right

        def __getattr__(self, name: str) -> NoReturn:
            private = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(private if name.startswith("_") else self._unknown(name))


class Plots(_Meta):
    """Pictures of a result, ``result.meta.plot.forest()``, or of scores, ``ds.meta.plot.heatmap()``."""

    _obj: xr.Dataset

    def __dir__(self) -> list[str]:
        return list(offers.pictures(self._obj))

    def _unknown(self, name: str) -> str:
        return offers.unknown_picture(self._obj, name)

    def _misplaced(self, name: str) -> str | None:
        return offers.misplaced_picture(self._obj, name)

    def __repr__(self) -> str:
        return f"<xsumstat pictures: {', '.join(offers.pictures(self._obj)) or 'none of this'}>"

    if not TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
            """Refuse, naming the pictures that there are."""
            there_are = ", ".join(f"plot.{each}()" for each in offers.pictures(self._obj)) or "none"
            raise TypeError(f"plot() must name a picture; there are: {there_are}")

    forest = _delegate(forest_plots.forest)
    pvalues = _delegate(pvalue_plots.pvalues)
    clusters = _delegate(rankings.clusters)
    sensitivity = _delegate(equivalence_plots.sensitivity)
    pca = _delegate(component_plots.pca)
    variance_components = _delegate(component_plots.variance_components)
    shifts = _delegate(equivalence_plots.shifts)
    heatmap = _delegate(score_plots.heatmap)
    input_effect = _delegate(score_plots.input_effect)
    top_k = _delegate(system_plots.top_k)
    confusion = _delegate(system_plots.confusion)
    bars = _delegate(bar_plots.bars)
    bias = _delegate(bias_plots.bias)
    matrix = _delegate(matrices.matrix)
    scatter_matrix = _delegate(matrices.scatter_matrix)
    distribution = _delegate(distributions.distribution)
    disagreement = _delegate(output_plots.disagreement)
    improvement = _delegate(output_plots.improvement)
    range_drop = _delegate(output_plots.range_drop)
    close_corr = _delegate(system_plots.close_corr)
    system_means = _delegate(mean_plots.system_means)
    tasks = _delegate(rankings.tasks)
    coverage = _delegate(trial_plots.coverage)
    power = _delegate(trial_plots.power)
    plan = _delegate(plan_plots.plan)


@xr.register_dataset_accessor("meta")  # type: ignore[no-untyped-call]
class DatasetMeta(_Meta):
    """How far can a metric be trusted: questions to scores, and to results of such questions."""

    _obj: xr.Dataset

    def __init__(self, obj: xr.Dataset) -> None:
        super().__init__(obj)
        # An attribute and no property: Jedi, which completes names in IPython, would not look at what a property gives.
        self.plot = Plots(obj)

    def __dir__(self) -> list[str]:
        return offers.methods(self._obj)

    def _unknown(self, name: str) -> str:
        return offers.unknown(self._obj, name)

    def _misplaced(self, name: str) -> str | None:
        return offers.misplaced(self._obj, name)

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
    system_means = _delegate(human_means.system_means)
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
    sentinels = _delegate(sentinel_metrics.sentinels)
    bias = _delegate(biases.bias)
    normality = _delegate(diagnostics.normality)
    variance_components = _delegate(variance_analysis.variance_components)
    report = _delegate(report.report)
    pca = _delegate(diagnostics.pca)
    adjust = _delegate(families.adjust)
    significant = _delegate(families.significant)
    to_frame = _delegate(result_frames.to_frame)
    to_latex = _delegate(paper_tables.to_latex)
    to_markdown = _delegate(paper_tables.to_markdown)
    conclusion = _delegate(conclusions.conclusion)
    methods = _delegate(result_methods.methods)
    to_mtme = _delegate(mtme.to_mtme)

    def __repr__(self) -> str:
        return overview.as_text(overview.rows(self._obj))

    def _repr_html_(self) -> str:
        return overview.as_html(overview.rows(self._obj))


@pd.api.extensions.register_dataframe_accessor("meta")
class FrameMeta(_Meta):
    """From a frame of scores to a Dataset: ``df.meta.to_scores(...)``."""

    _obj: pd.DataFrame

    def __dir__(self) -> list[str]:
        return list(offers.OF_FRAMES)

    def _unknown(self, name: str) -> str:
        return offers.unknown_to("df.meta", offers.OF_FRAMES, name)

    to_scores = _delegate(io.to_scores)

    def __repr__(self) -> str:
        return overview.as_text(offers.frame_rows(self._obj))

    def _repr_html_(self) -> str:
        return overview.as_html(offers.frame_rows(self._obj))
