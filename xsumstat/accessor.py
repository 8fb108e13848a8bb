# mypy: disable-error-code="empty-body, type-arg"
"""`ds.meta`, `df.meta` and `result.meta`: methods that ask functions of the same name, loaded when they are asked."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import pandas as pd
import xarray as xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.random import Generator, SeedSequence
    from pandas import DataFrame
    from xarray import DataArray, Dataset

    from xsumstat.report.judge_report import JudgeReport
    from xsumstat.report.metric_report import Report

_Method = TypeVar("_Method", bound=Callable[..., Any])


def module(name: str) -> Any:
    """A module of the package."""
    return importlib.import_module(f"xsumstat.{name}")


def _of(place: str) -> Callable[[_Method], _Method]:
    """A method that asks the function of its name in a module of the accessor's object.

    It stands here with the signature that editors complete, written by tests/make_accessor.py; `_Loading` gives it the
    whole text. Where the function fails because a result is asked what is for scores, or the other way, it says so.
    """

    def decorate(method: Any) -> Any:
        @functools.wraps(method)
        def ask(self: Any, /, *args: Any, **kwargs: Any) -> Any:
            try:
                return asking.function()(self._given(), *args, **kwargs)
            except ValueError:
                reason = self._misplaced(method.__name__)
                if reason is None:
                    raise
                raise ValueError(reason) from None  # what was found lacking speaks of the other kind of Dataset

        asking: Any = ask
        asking.function = functools.cache(lambda: getattr(module(place), method.__name__))
        return asking

    return decorate


class _Loading(type):
    """A class whose methods have the signature and the text of their functions once they are looked at."""

    def __getattribute__(cls, name: str) -> Any:
        found = type.__getattribute__(cls, name)
        if not hasattr(found, "function") or hasattr(found, "__signature__"):
            return found
        docstrings, function = module("core.docstrings"), found.function()
        signature = docstrings.signature(function)
        data, *rest = signature.parameters.values()
        itself = data.replace(name="self", kind=data.POSITIONAL_ONLY, annotation=data.empty)
        found.__wrapped__, found.__doc__ = function, docstrings.without(function.__doc__, data.name)
        found.__signature__ = signature.replace(parameters=[itself, *rest])
        return found


class _Meta(metaclass=_Loading):
    """What all accessors share: an unknown name raises an error that suggests the right one."""

    def __init__(self, obj: Any) -> None:
        self._obj = obj

    def _given(self) -> Any:
        """What a function is asked of."""
        return self._obj

    def _unknown(self, name: str) -> str:
        """What to say of a name that is not there."""
        raise NotImplementedError

    def _misplaced(self, name: str) -> str | None:
        """Why a method is asked of the wrong thing, if it is."""
        return None

    if not TYPE_CHECKING:  # for which any attribute would be right

        def __getattribute__(self, name: str) -> Any:
            if not name.startswith("_"):
                getattr(type(self), name, None)
            return super().__getattribute__(name)

        def __getattr__(self, name: str) -> NoReturn:
            private = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(private if name.startswith("_") else self._unknown(name))


class Plots(_Meta):
    """Pictures of a result, ``result.meta.plot.forest()``, or of scores, ``ds.meta.plot.heatmap()``."""

    _obj: xr.Dataset

    def _given(self) -> Any:
        """A result with its numbers: a picture looks at many variables, and each look would compute a lazy one anew."""
        return self._obj.compute() if "analysis" in self._obj.attrs else self._obj

    def __dir__(self) -> list[str]:
        return list(module("narrative.available").pictures(self._obj))

    def _unknown(self, name: str) -> str:
        return str(module("narrative.available").unknown_picture(self._obj, name))

    def _misplaced(self, name: str) -> str | None:
        reason: str | None = module("narrative.available").misplaced_picture(self._obj, name)
        return reason

    def __repr__(self) -> str:
        return f"<xsumstat pictures: {', '.join(self.__dir__()) or 'none of this'}>"

    if not TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
            """Refuse, naming the pictures that there are."""
            there_are = ", ".join(f"plot.{each}()" for each in self.__dir__()) or "none"
            raise TypeError(f"plot() must name a picture; available: {there_are}")

    @_of("plots.forest")
    def forest(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        hue: str | None = None,
        highlight: Hashable | Sequence[Hashable] | None = None,
        density: bool = True,
        ceiling: Dataset | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw intervals of correlations, or of differences from another metric, one row per metric."""

    @_of("plots.pvalues")
    def pvalues(
        self,
        *,
        alpha: float = 0.05,
        annotate: bool | None = None,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw the p-values of all pairs as a matrix; a frame marks significant ones."""

    @_of("plots.rankings")
    def clusters(
        self,
        *,
        intervals: Dataset | None = None,
        tests: Dataset | None = None,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        highlight: Hashable | Sequence[Hashable] | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `rank`: metrics by correlation, shaded by cluster; bars join metrics without significant differences."""

    @_of("plots.equivalence")
    def sensitivity(
        self,
        *,
        hue: str | None = None,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `margin_sensitivity`: the share of comparisons found equivalent as the margin grows."""

    @_of("plots.components")
    def pca(
        self,
        *,
        hue: str | None = None,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "given",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `pca`: metrics as points in the plane of the first two principal components."""

    @_of("plots.components")
    def variance_components(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "given",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `variance_components`: shares of systems, inputs and cells in the variance, one bar per metric."""

    @_of("plots.missing")
    def missingness(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Share of the outputs without a score, by system and by quarter of the human scores; one colour per metric."""

    @_of("plots.runs")
    def repeatability(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Reliability of the mean of several runs, and its expected correlation with human scores, by how many runs."""

    @_of("plots.equivalence")
    def shifts(
        self,
        other: Dataset | None = None,
        *,
        labels: tuple[str, str] = ("first", "second"),
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `dominance` with `along`: shifts from the base label to each other one, or to those of another change."""

    @_of("plots.draws")
    def sample_inputs(
        self,
        *,
        metric: Hashable | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `sample_inputs`: each input by a metric's mean score, in a row per stratum."""

    @_of("plots.scores")
    def heatmap(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        order: str | Sequence[Hashable] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw scores as colours, inputs down and systems across, in the order of their means."""

    @_of("plots.scores")
    def input_effect(
        self,
        *,
        highlight: Hashable | None = None,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `input_effect`: mean ranks of inputs with intervals, and which differ from one of them."""

    @_of("plots.systems")
    def top_k(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        hue: str | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `top_k_corr`: correlations among the k best systems as k shrinks, one panel per metric."""

    @_of("plots.systems")
    def confusion(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `confusion` or `discriminative_agreement`: each metric's labels or verdicts by those of the gold."""

    @_of("plots.bars")
    def bars(
        self,
        variable: str | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        hue: str | None = None,
        highlight: Hashable | Sequence[Hashable] | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw one number of each metric as a bar, with its interval as a whisker."""

    @_of("plots.biases")
    def bias(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        hue: str | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `bias`: how each metric's error changes with each covariate, one panel per covariate."""

    @_of("plots.matrices")
    def matrix(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "clustered",
        triangle: bool = True,
        annotate: bool | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `metric_corr` or `metric_ci`: correlations among metrics as a coloured matrix."""

    @_of("plots.matrices")
    def scatter_matrix(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        order: str | Sequence[Hashable] = "value",
        coefficient: str = "kendall",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Any:
        """Draw metrics against metrics: outputs below the diagonal, distributions on it, correlations above."""

    @_of("plots.distributions")
    def distribution(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        by: str | None = None,
        order: str | Sequence[Hashable] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw histograms of the scores of outputs, one panel per metric, groups overlaid."""

    @_of("plots.outputs")
    def disagreement(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        highlight: Hashable | tuple[Hashable, Hashable] | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `disagreement`: how often metrics order two outputs oppositely, by their mean normalised score."""

    @_of("plots.outputs")
    def improvement(
        self,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `improvement_consistency`: of the outputs better by some metric the share better by all, by score bin."""

    @_of("plots.outputs")
    def range_drop(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `range_drop`: drops in correlation with intervals, beside those that range restriction alone explains."""

    @_of("plots.systems")
    def close_corr(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `close_corr`: each metric's correlation against the gap of the systems it orders, with intervals."""

    @_of("plots.system_means")
    def system_means(
        self,
        *,
        system: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `system_means`: mean human scores with intervals, and in grey those from the ratings alone."""

    @_of("plots.rankings")
    def tasks(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `rank_tasks` as WMT's table: cluster and correlation by metric and task, best in bold."""

    @_of("plots.simulation")
    def coverage(
        self,
        *,
        x: str | None = None,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "given",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `coverage` with the simulation's 95 % limits, beside the nominal level."""

    @_of("plots.simulation")
    def power(
        self,
        *,
        x: str | None = None,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "given",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `power`: how often tests find a difference, with the simulation's 95 % limits."""

    @_of("plots.plans")
    def plan(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Hashable] = "given",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `plan`: widths of intervals or power of tests over numbers of inputs and systems, or costs."""

    @_of("plots.drift")
    def drift(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | None = None,
        order: str | Sequence[Any] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Shift of each system's mean with its interval, over the shift of all; above, how agreement changed."""

    @_of("plots.preferences")
    def strengths(
        self,
        *,
        order: str | Sequence[Any] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw `rank_systems`: strengths of systems by human raters, by judges, and corrected by a judge."""

    @_of("plots.preferences")
    def raters(
        self,
        *,
        order: str | Sequence[Any] = "value",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Draw judges with their intervals, beside human raters where these were compared."""


@xr.register_dataset_accessor("meta")  # type: ignore[no-untyped-call]
class DatasetMeta(_Meta):
    """How far can a metric be trusted: questions to scores, and to results of such questions."""

    _obj: xr.Dataset

    def __init__(self, obj: xr.Dataset) -> None:
        super().__init__(obj)
        # An attribute and no property: Jedi, which completes names in IPython, would not look at what a property gives.
        self.plot = Plots(obj)

    def __dir__(self) -> list[str]:
        return list(module("narrative.available").methods(self._obj))

    def _unknown(self, name: str) -> str:
        return str(module("narrative.available").unknown(self._obj, name))

    def _misplaced(self, name: str) -> str | None:
        reason: str | None = module("narrative.available").misplaced(self._obj, name)
        return reason

    @_of("analyses.correlation")
    def corr(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        level: str = "system",
        coefficient: str | Callable = "pearson",
        average: bool = True,
        by: str | None = None,
        given: str | DataArray | Sequence[str | DataArray] | None = None,
        positive: float | str | Sequence[float | str] | None = None,
        threshold: float | DataArray | None = None,
        calibrate_on: Dataset | None = None,
        pool: str | None = None,
        missing: str = "pairwise",
        undefined: str = "drop",
    ) -> Dataset:
        """Correlation of each metric with the human scores."""

    @_of("analyses.correlation")
    def metric_corr(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        level: str = "system",
        coefficient: str | Callable = "pearson",
        average: bool = True,
        top: int | None = None,
        missing: str = "pairwise",
        undefined: str = "drop",
    ) -> Dataset:
        """Correlation of each metric with each other metric."""

    @_of("analyses.missing_scores")
    def missingness(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        level: str = "auto",
        outputs: str = "scored",
        score_range: tuple[float, float] | Mapping[Any, tuple[float, float]] | None = None,
        adjust: str | None = "holm",
        alpha: float = 0.05,
        n_resamples: int = 1999,
        confidence_level: float = 0.95,
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Test whether missing scores depend on systems and on human scores, and bound what they leave open."""

    @_of("analyses.repeated_runs")
    def repeatability(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        along: str = "run",
        level: str = "auto",
        n_runs: int | Sequence[int] = (1, 2, 3, 5, 10),
        confidence_level: float = 0.95,
    ) -> Dataset:
        """Measure how well several runs of a judge agree, and what averaging runs gains."""

    @_of("analyses.confusion")
    def confusion(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        along: str | None = None,
        by: str | None = None,
    ) -> Dataset:
        """Count the labels that each judge gives, by human label."""

    @_of("analyses.intervals")
    def ci(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        other: Hashable | Sequence[Hashable] | DataArray | None = None,
        level: str = "system",
        coefficient: str | Callable = "pearson",
        method: str = "auto",
        interval: str | None = None,
        resample: str | tuple[str, ...] = "auto",
        aggregate: str = "mean",
        n_resamples: int = 9999,
        confidence_level: float = 0.95,
        by: str | None = None,
        cluster: str | tuple[str, ...] | None = None,
        given: str | DataArray | Sequence[str | DataArray] | None = None,
        positive: float | str | Sequence[float | str] | None = None,
        threshold: float | DataArray | None = None,
        calibrate_on: Dataset | None = None,
        pool: str | None = None,
        missing: str = "pairwise",
        undefined: str = "drop",
        rng: int | SeedSequence | Generator | None = None,
        keep_samples: bool = False,
        progress: bool | None = None,
    ) -> Dataset:
        """Confidence intervals of metrics' correlations with human scores."""

    @_of("analyses.metric_intervals")
    def metric_ci(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        level: str = "system",
        coefficient: str | Callable = "pearson",
        method: str = "auto",
        interval: str | None = None,
        resample: str | tuple[str, ...] = "auto",
        n_resamples: int = 9999,
        confidence_level: float = 0.95,
        missing: str = "pairwise",
        undefined: str = "drop",
        rng: int | SeedSequence | Generator | None = None,
        keep_samples: bool = False,
        progress: bool | None = None,
    ) -> Dataset:
        """Confidence intervals of the correlations between metrics."""

    @_of("analyses.metric_comparison")
    def compare_metrics(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        other: Hashable | Sequence[Hashable] | DataArray | None = None,
        level: str = "system",
        coefficient: str | Callable = "pearson",
        method: str = "jackknife",
        resample: str | tuple[str, ...] = "auto",
        alternative: str = "two-sided",
        confidence_level: float = 0.95,
        adjust: str | None = "holm",
        within: str | Iterable[str] | None = None,
        by: str | None = None,
        cluster: str | tuple[str, ...] | None = None,
        given: str | DataArray | Sequence[str | DataArray] | None = None,
        positive: float | str | Sequence[float | str] | None = None,
        threshold: float | DataArray | None = None,
        calibrate_on: Dataset | None = None,
        pool: str | None = None,
        missing: str = "pairwise",
        undefined: str = "drop",
        n_resamples: int = 9999,
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Test which of two metrics agrees better with human scores, for all pairs."""

    @_of("analyses.metric_tests")
    def perm_test(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        other: Hashable | Sequence[Hashable] | DataArray | None = None,
        level: str = "system",
        coefficient: str | Callable = "pearson",
        method: str = "permutation",
        resample: str | tuple[str, ...] | None = None,
        crossed: bool = False,
        swap: str | None = None,
        alternative: str = "two-sided",
        adjust: str | None = None,
        within: str | Iterable[str] | None = None,
        n_resamples: int = 9999,
        by: str | None = None,
        cluster: str | tuple[str, ...] | None = None,
        given: str | DataArray | Sequence[str | DataArray] | None = None,
        positive: float | str | Sequence[float | str] | None = None,
        threshold: float | DataArray | None = None,
        calibrate_on: Dataset | None = None,
        pool: str | None = None,
        missing: str = "pairwise",
        undefined: str = "drop",
        rng: int | SeedSequence | Generator | None = None,
        keep_samples: bool = False,
        progress: bool | None = None,
    ) -> Dataset:
        """Test by permutation whether two metrics are exchangeable on these systems."""

    @_of("analyses.metric_tests")
    def boot_test(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        other: Hashable | Sequence[Hashable] | DataArray | None = None,
        level: str = "system",
        coefficient: str | Callable = "pearson",
        resample: str | tuple[str, ...] = "auto",
        alternative: str = "two-sided",
        adjust: str | None = None,
        within: str | Iterable[str] | None = None,
        n_resamples: int = 9999,
        by: str | None = None,
        cluster: str | tuple[str, ...] | None = None,
        given: str | DataArray | Sequence[str | DataArray] | None = None,
        positive: float | str | Sequence[float | str] | None = None,
        threshold: float | DataArray | None = None,
        calibrate_on: Dataset | None = None,
        pool: str | None = None,
        missing: str = "pairwise",
        undefined: str = "drop",
        rng: int | SeedSequence | Generator | None = None,
        keep_samples: bool = False,
        progress: bool | None = None,
    ) -> Dataset:
        """Test by bootstrap whether two metrics correlate equally with human scores."""

    @_of("analyses.analytic_tests")
    def corr_test(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        other: Hashable | Sequence[Hashable] | DataArray | None = None,
        level: str = "system",
        coefficient: str | Callable = "pearson",
        method: str = "williams",
        against: float | None = None,
        alternative: str = "two-sided",
        confidence_level: float = 0.95,
        missing: str = "pairwise",
        undefined: str = "drop",
    ) -> Dataset:
        """Test by a formula whether two metrics correlate equally with human scores."""

    @_of("analyses.equivalence")
    def equivalence(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        margin: float | str | DataArray,
        along: str | None = None,
        base: Hashable | None = None,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        other: Hashable | Sequence[Hashable] | DataArray | None = None,
        method: str = "tost",
        level: str = "system",
        coefficient: str | Callable = "pearson",
        resample: str | tuple[str, ...] = "auto",
        alpha: float = 0.05,
        adjust: str | None = None,
        within: str | Iterable[str] | None = None,
        rating: str | DataArray | None = None,
        n_resamples: int = 9999,
        cluster: str | tuple[str, ...] | None = None,
        missing: str = "pairwise",
        undefined: str = "drop",
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Test whether two metrics, or versions, agree equally well with human scores."""

    @_of("analyses.equivalence")
    def margin_sensitivity(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        margins: Sequence[float] | None = None,
        by: str | Iterable[str] | None = None,
        along: str | None = None,
        base: Hashable | None = None,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        other: Hashable | Sequence[Hashable] | DataArray | None = None,
        method: str = "tost",
        level: str = "system",
        coefficient: str | Callable = "pearson",
        resample: str | tuple[str, ...] = "auto",
        alpha: float = 0.05,
        adjust: str | None = None,
        within: str | Iterable[str] | None = None,
        n_resamples: int = 9999,
        cluster: str | tuple[str, ...] | None = None,
        missing: str = "pairwise",
        undefined: str = "drop",
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Share of comparisons that are equivalent, as the margin grows."""

    @_of("analyses.equivalence")
    def dominance(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        other: Hashable | Sequence[Hashable] | DataArray | None = None,
        along: str | None = None,
        base: Hashable | None = None,
        threshold: float = 0.975,
        level: str = "system",
        coefficient: str | Callable = "pearson",
        resample: str | tuple[str, ...] = "auto",
        n_resamples: int = 9999,
        cluster: str | tuple[str, ...] | None = None,
        missing: str = "pairwise",
        undefined: str = "drop",
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Probability that one metric agrees better with human scores than another."""

    @_of("analyses.systems")
    def compare_systems(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        gold: Hashable | DataArray | None = None,
        system: Hashable | Sequence[Hashable] | DataArray | None = None,
        other: Hashable | Sequence[Hashable] | DataArray | None = None,
        method: str = "paired_t",
        target: str = "new",
        statistic: str = "t",
        alternative: str = "two-sided",
        cluster: str | None = None,
        between: str | None = None,
        alpha: float = 0.05,
        adjust: str | None = None,
        within: str | Iterable[str] | None = None,
        n_resamples: int = 9999,
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Test which systems have a different mean score, for all pairs of systems."""

    @_of("analyses.system_means")
    def system_means(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        target: str = "new",
        method: str = "pooled",
        strata: str | None = None,
        scale: tuple[float, float] | None = None,
        confidence_level: float = 0.95,
    ) -> Dataset:
        """Mean human score of each system, from few ratings and many scores of a metric."""

    @_of("analyses.inputs")
    def input_effect(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        confidence_level: float = 0.95,
    ) -> Dataset:
        """Test whether scores depend on the input, and show easy and hard inputs."""

    @_of("analyses.top_systems")
    def top_k(
        self,
        k: int,
        *,
        by: Hashable | DataArray | None = None,
    ) -> Dataset:
        """The k systems with the highest mean human score."""

    @_of("analyses.top_systems")
    def top_k_corr(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        k: int | Sequence[int] | None = None,
        by: Hashable | DataArray | None = None,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        level: str = "system",
        coefficient: str | Callable = "pearson",
        positive: float | str | Sequence[float | str] | None = None,
        method: str = "auto",
        interval: str | None = None,
        resample: str | tuple[str, ...] = "auto",
        n_resamples: int = 9999,
        confidence_level: float = 0.95,
        missing: str = "pairwise",
        undefined: str = "drop",
        rng: int | SeedSequence | Generator | None = None,
        keep_samples: bool = False,
        progress: bool | None = None,
    ) -> Dataset:
        """Correlation with human scores among the k best systems, as k shrinks."""

    @_of("analyses.close_systems")
    def close_corr(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        gap: float | Sequence[float | tuple[float, float]] = (0.1, 0.25, 0.5, 0.75, 1.0),
        unit: str = "quantile",
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        coefficient: str = "kendall",
        method: str = "auto",
        interval: str | None = None,
        resample: str | tuple[str, ...] = "auto",
        n_resamples: int = 9999,
        confidence_level: float = 0.95,
        missing: str = "pairwise",
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Correlation over the pairs of systems that a metric scores close."""

    @_of("analyses.verdicts")
    def discriminative_agreement(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        confidence_level: float = 0.95,
        n_resamples: int = 9999,
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Agreement of metrics' verdicts on pairs of systems with human verdicts."""

    @_of("analyses.raters")
    def agreement(
        self,
        rating: str | DataArray | None = None,
        *,
        along: str = "rater",
        measurement: str = "ordinal",
        method: str = "jackknife",
        resample: str | tuple[str, ...] = "auto",
        n_resamples: int = 999,
        confidence_level: float = 0.95,
        cluster: str | tuple[str, ...] | None = None,
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Krippendorff's alpha of the raters, with its confidence interval (extra "agreement")."""

    @_of("analyses.raters")
    def drop_noisiest_rater(
        self,
        rating: str | DataArray | None = None,
        *,
        along: str = "rater",
    ) -> Dataset:
        """Leave out, for each input, the rater who departs from the majority most often."""

    @_of("analyses.raters")
    def majority_vote(
        self,
        rating: str | DataArray | None = None,
        *,
        along: str = "rater",
        ties: str = "missing",
    ) -> Dataset:
        """Replace the raters' ratings by the most frequent one."""

    @_of("analyses.calibration")
    def calibrate(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        method: str = "isotonic",
        folds: int = 5,
        grades: bool | Sequence[float] | None = None,
        along: str = "rater",
        rng: int | SeedSequence | Generator | None = None,
    ) -> Dataset:
        """Map a judge's scores onto the scale of human scores, cross-fitted over inputs."""

    @_of("analyses.judges")
    def alt_test(
        self,
        rating: str | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        along: str = "rater",
        margin: float = 0.2,
        alignment: str = "rmse",
        scale: str = "auto",
        test: str = "t",
        alpha: float = 0.05,
        by: str | None = None,
        cluster: str | None = None,
        min_items: int = 30,
    ) -> Dataset:
        """Test whether a judge may replace a human rater (alternative annotator test)."""

    @_of("analyses.drift")
    def drift(
        self,
        anchor: Dataset | Hashable,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        margin: float = 0.05,
        level: str = "global",
        coefficient: str | Callable = "pearson",
        alpha: float = 0.05,
        cluster: str | None = None,
        undefined: str = "drop",
        progress: bool | None = None,
    ) -> Dataset:
        """Compare two versions of a judge on the same outputs: agreement with human scores, verdicts, means of systems."""

    @_of("analyses.human_ceiling")
    def human_ceiling(
        self,
        rating: str | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        along: str = "rater",
        level: str = "system",
        coefficient: str | Callable = "pearson",
        method: str = "auto",
        interval: str | None = None,
        resample: str | tuple[str, ...] = "auto",
        n_resamples: int = 9999,
        confidence_level: float = 0.95,
        by: str | None = None,
        cluster: str | tuple[str, ...] | None = None,
        positive: float | str | Sequence[float | str] | None = None,
        missing: str = "pairwise",
        undefined: str = "drop",
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Agreement of raters with each other, and of metrics with the same raters."""

    @_of("analyses.position_bias")
    def position_bias(
        self,
        *,
        rater: Hashable | Sequence[Hashable] | None = None,
        adjust: str | None = "holm",
        confidence_level: float = 0.95,
        cluster: str | None = None,
    ) -> Dataset:
        """Test whether raters prefer the output that is shown first."""

    @_of("analyses.preference_agreement")
    def preference_agreement(
        self,
        *,
        rater: Hashable | Sequence[Hashable] | None = None,
        ties: str = "count",
        adjust: str | None = "holm",
        confidence_level: float = 0.95,
        cluster: str | None = None,
    ) -> Dataset:
        """Share of pairs on which a judge chooses as human raters do."""

    @_of("analyses.preference_bias")
    def preference_bias(
        self,
        *,
        given: str | DataArray | Sequence[str | DataArray] | None = None,
        rater: Hashable | Sequence[Hashable] | None = None,
        adjust: str | None = "holm",
        confidence_level: float = 0.95,
        cluster: str | None = None,
    ) -> Dataset:
        """Test whether judges prefer e.g. long outputs more than human raters do."""

    @_of("analyses.system_strengths")
    def rank_systems(
        self,
        *,
        rater: Hashable | Sequence[Hashable] | None = None,
        adjust: str | None = "holm",
        confidence_level: float = 0.95,
        cluster: str | None = None,
    ) -> Dataset:
        """Rank systems by pairwise choices of human raters, judges or both together."""

    @_of("io.rating_sheets")
    def sample_inputs(
        self,
        n: int | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        strata: str | None = None,
        n_strata: int | None = None,
        allocation: str | None = None,
        unsure: str | None = None,
        path: str | PathLike[str] | None = None,
        column: str | Sequence[str] = "human",
        texts: DataFrame | None = None,
        n_means: int | None = None,
        n_spreads: int | None = None,
        n_each: int | None = None,
        rng: int | SeedSequence | Generator | None = None,
    ) -> Dataset:
        """Draw inputs for people to rate, and write the file that they fill."""

    @_of("analyses.scoring_range")
    def scoring_range(
        self,
        *,
        above: float | Mapping[Hashable, float] | DataArray | None = None,
        between: Sequence[float | Mapping[Hashable, float] | DataArray] | None = None,
        baseline: Hashable | None = None,
        top: int | None = None,
        metrics: Hashable | Sequence[Hashable] | DataArray | None = None,
        keep: str = "any",
        unit: str = "score",
    ) -> Dataset:
        """Keep the outputs that score in a range, and make all others missing."""

    @_of("analyses.range_drop")
    def range_drop(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        above: float | Mapping[Hashable, float] | DataArray | None = None,
        between: Sequence[float | Mapping[Hashable, float] | DataArray] | None = None,
        baseline: Hashable | None = None,
        top: int | None = None,
        metrics: Hashable | Sequence[Hashable] | DataArray | None = None,
        keep: str = "any",
        unit: str = "score",
        coefficient: str = "kendall",
        undefined: str = "drop",
        n_resamples: int = 9999,
        n_simulations: int = 199,
        confidence_level: float = 0.95,
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Drop of the correlations between metrics within a narrower range of scores."""

    @_of("analyses.disagreement")
    def disagreement(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        n_bins: int = 10,
        normalise: str = "all",
        max_pairs: int = 5000000,
        method: str = "jackknife",
        n_resamples: int = 999,
        confidence_level: float = 0.95,
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Share of output pairs that two metrics order oppositely, by score bin."""

    @_of("analyses.disagreement")
    def improvement_consistency(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        n_bins: int = 10,
        normalise: str = "all",
        max_pairs: int = 5000000,
        method: str = "jackknife",
        n_resamples: int = 999,
        confidence_level: float = 0.95,
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Share of improving outputs that improve by all metrics, by score bin."""

    @_of("analyses.ranking")
    def rank(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        level: str = "system",
        coefficient: str | Callable = "pearson",
        method: str | None = None,
        resample: str | tuple[str, ...] = "auto",
        crossed: bool = False,
        swap: str | None = None,
        adjust: str | None = "holm",
        alpha: float = 0.05,
        n_resamples: int = 9999,
        by: str | None = None,
        cluster: str | tuple[str, ...] | None = None,
        given: str | DataArray | Sequence[str | DataArray] | None = None,
        positive: float | str | Sequence[float | str] | None = None,
        threshold: float | DataArray | None = None,
        calibrate_on: Dataset | None = None,
        pool: str | None = None,
        missing: str = "pairwise",
        undefined: str = "drop",
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Rank metrics by their correlation with human scores, in clusters."""

    @_of("analyses.sentinels")
    def sentinels(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        level: str = "input",
        sees: str | Sequence[str] | None = None,
        given: Hashable | DataArray | Sequence[Hashable | DataArray] | None = None,
    ) -> Dataset:
        """Add sentinels: metrics that know only the input, the system or covariates."""

    @_of("analyses.group_comparison")
    def compare_groups(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        by: str | None = None,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        level: str = "system",
        coefficient: str | Callable = "pearson",
        resample: str | tuple[str, ...] = "auto",
        confidence_level: float = 0.95,
        adjust: str | None = "holm",
        within: str | Iterable[str] | None = None,
        cluster: str | tuple[str, ...] | None = None,
        given: str | DataArray | Sequence[str | DataArray] | None = None,
        positive: float | str | Sequence[float | str] | None = None,
        threshold: float | DataArray | None = None,
        calibrate_on: Dataset | None = None,
        missing: str = "pairwise",
        undefined: str = "drop",
        progress: bool | None = None,
    ) -> Dataset:
        """Test whether a metric agrees better with human scores in some groups."""

    @_of("analyses.bias")
    def bias(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        given: str | DataArray | Sequence[str | DataArray] | None = None,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        level: str = "auto",
        method: str = "auto",
        joint: bool = False,
        reliability: float | Sequence[float] | None = None,
        along: str = "rater",
        resample: str | tuple[str, ...] = "auto",
        confidence_level: float = 0.95,
        cluster: str | tuple[str, ...] | None = None,
        by: str | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Test whether a metric's error depends on a covariate or a group."""

    @_of("analyses.diagnostics")
    def normality(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        level: str = "system",
        alpha: float = 0.05,
    ) -> Dataset:
        """Test whether the correlated scores are normal, for each metric (Shapiro-Wilk)."""

    @_of("analyses.variances")
    def variance_components(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        rating: str | DataArray | None = None,
        along: str = "rater",
        n_inputs: int | Sequence[int] = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
        n_raters: int | Sequence[int] = (1, 2, 3, 5, 10),
        repair: bool = True,
    ) -> Dataset:
        """Variance of scores between systems, between inputs and of single outputs."""

    @_of("report.metric_report")
    def report(
        self,
        gold: Hashable | DataArray | None = None,
        *,
        kind: str = "metrics",
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        name: str = "scores",
        level: str = "auto",
        coefficient: str | Callable | None = None,
        positive: float | str | Sequence[float | str] | None = None,
        resample: str = "auto",
        cluster: str | tuple[str, ...] | None = None,
        n_resamples: int | None = None,
        confidence_level: float = 0.95,
        adjust: str = "holm",
        alpha: float = 0.05,
        margin: float | None = None,
        rng: int | SeedSequence | Generator | None = 0,
        progress: bool | None = None,
    ) -> Report | JudgeReport:
        """Report the main answers: which metric agrees best with the human scores, how certain that is, which is better."""

    @_of("analyses.diagnostics")
    def pca(
        self,
        *,
        metric: Hashable | Sequence[Hashable] | DataArray | None = None,
        n_components: int = 2,
    ) -> Dataset:
        """Principal components of rank-transformed scores: metrics as points."""

    @_of("analyses.adjust")
    def adjust(
        self,
        method: str = "holm",
        *,
        within: str | Iterable[str] | None = None,
    ) -> Dataset:
        """Correct a result's p-values for the number of tests."""

    @_of("analyses.adjust")
    def significant(
        self,
        *,
        alpha: float = 0.05,
    ) -> DataArray:
        """Which tests are significant: the adjusted p-value, if any, is at most `alpha`."""

    @_of("analyses.task_subsets")
    def subset(
        self,
        task: Hashable | Sequence[Hashable] | None = None,
        *,
        language_pair: str | Sequence[str] | None = None,
        domain: str | Sequence[str] | None = None,
        level: str | Sequence[str] | None = None,
        coefficient: str | Sequence[str] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> Dataset:
        """Rank the metrics by their average over some of the tasks, with tests from the swaps that were kept."""

    @_of("analyses.task_subsets")
    def ranks_by(
        self,
        by: str,
    ) -> Dataset:
        """Rank the metrics within each group of tasks: by language pair, domain, level or coefficient."""

    @_of("analyses.task_stability")
    def rank_stability(
        self,
        *,
        stratify: str | None = None,
        confidence_level: float = 0.95,
        n_resamples: int = 9999,
        rng: int | SeedSequence | Generator | None = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Draw the tasks with replacement, and count how often each metric comes first."""

    @_of("io.result_frames")
    def to_frame(
        self,
        *,
        brief: bool = False,
    ) -> DataFrame:
        """Turn a result or scores into a tidy frame: one row per interval, test or score."""

    @_of("io.paper_tables")
    def to_latex(
        self,
        *,
        tests: Dataset | None = None,
        alpha: float = 0.05,
        digits: int | str = 2,
        caption: str | bool | None = None,
        label: str | None = None,
        columns: int | None = None,
        pages: bool = False,
    ) -> str:
        """Write a result as a LaTeX table for papers (package booktabs)."""

    @_of("io.paper_tables")
    def to_markdown(
        self,
        *,
        tests: Dataset | None = None,
        alpha: float = 0.05,
        digits: int | str = 2,
        caption: str | bool | None = None,
    ) -> str:
        """Write a result as a Markdown table (GitHub's) for papers."""

    @_of("io.table_html")
    def to_html(
        self,
        *,
        tests: Dataset | None = None,
        alpha: float = 0.05,
        digits: int | str = 2,
        caption: str | bool | None = None,
    ) -> str:
        """Write a result as an HTML table whose columns sort on a click."""

    @_of("narrative.conclusions")
    def conclusion(self) -> str:
        """State a result in a few plain sentences."""

    @_of("narrative.methods")
    def methods(
        self,
        *,
        bibtex: bool = False,
    ) -> str:
        """Describe how a result was computed, in sentences for the methods section of a paper, with citations."""

    @_of("io.mtme")
    def to_mtme(
        self,
        folder: str | PathLike[str],
        test_set: str,
        language_pair: str,
        *,
        granularity: str = "seg",
        overwrite: bool = False,
    ) -> Path:
        """Write scores in the layout of mt-metrics-eval, which `read_mtme` reads."""

    def __repr__(self) -> str:
        overview = module("narrative.overview")
        return str(overview.as_text(overview.rows(self._obj)))

    def _repr_html_(self) -> str:
        overview = module("narrative.overview")
        return str(overview.as_html(overview.rows(self._obj)))


@pd.api.extensions.register_dataframe_accessor("meta")
class FrameMeta(_Meta):
    """From a frame to a Dataset: ``df.meta.to_scores(...)`` of scores, ``df.meta.to_preferences(...)`` of choices."""

    _obj: pd.DataFrame

    def __dir__(self) -> list[str]:
        return list(module("narrative.available").OF_FRAMES)

    def _unknown(self, name: str) -> str:
        return str(module("narrative.available").unknown_to("df.meta", module("narrative.available").OF_FRAMES, name))

    @_of("io.frames")
    def to_scores(
        self,
        *,
        metric: str | list[str] | None = None,
        system: str = "system",
        input: str | list[str] = "input",
        value: str = "score",
        wide: bool = False,
        dims: Iterable[str] = (),
        ratings: str | list[str] | None = None,
        rater: str | None = None,
        run: str | None = None,
        aggregate: str | Callable[..., float] | None = None,
        gold: str | None = None,
        lower_is_better: str | Iterable[str] = (),
        kind: Mapping[str, str | Iterable[str]] | None = None,
        labels: Sequence[str] | None = None,
    ) -> Dataset:
        """Turn a frame of scores into a Dataset."""

    @_of("io.preferences")
    def to_preferences(
        self,
        *,
        left: str = "left",
        right: str = "right",
        choice: str = "choice",
        prompt: str | Sequence[str] = "prompt",
        rater: str | None = None,
        order: str | None = None,
        kind: str | Mapping[str, str | Iterable[str]] | None = None,
        outputs: Mapping[str, tuple[str, str]] | None = None,
    ) -> Dataset:
        """Turn a frame of choices between two systems' outputs into a Dataset."""

    def __repr__(self) -> str:
        return str(module("narrative.overview").as_text(module("narrative.available").frame_rows(self._obj)))

    def _repr_html_(self) -> str:
        return str(module("narrative.overview").as_html(module("narrative.available").frame_rows(self._obj)))
