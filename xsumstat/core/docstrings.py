"""Entries that docstrings share, written once, and signatures as readers see them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

# A line that stands for shared entries or a section; indented lines below it continue the last entry.
_PLACE = re.compile(r"^\{([\w.]+(?: [\w.]+)*)\}$", re.MULTILINE)
# Modules in annotations, which readers know the types of without.
_MODULE = re.compile(r"\b(?:xr|pd|np|npt|os|numpy|random)\.")

# By name; of two wordings of one parameter the second has a name with a dot.
ENTRIES = {
    "ds": """
        ds : Dataset
            Scores, float ``score(metric, system, input, ...)``; NaN is a missing score.
    """,
    "gold": """
        gold : label, str or DataArray, optional
            Human scores: a label of `metric`, a variable of the Dataset, or a DataArray. Default ``ds.attrs["gold"]``.
    """,
    "metric": """
        metric : label, list of labels or bool DataArray, optional
            Metrics to evaluate. Default: all except `gold` and those of ``kind`` "human" or "covariate".
    """,
    "level": """
        level : {"system", "input", "global", "within_system"}, default "system"
            Correlate system means; systems of each input, averaged; all outputs; or inputs of each system, averaged.
    """,
    "coefficient": """
        coefficient : str or callable, default "pearson"
            "pearson", "spearman", "kendall" (tau-b), "pairwise_accuracy", "acc_eq", "weighted_kappa" and others, or a
            function f(x, z) -> float of two arrays. All names and formulas: documentation, "Coefficients".
    """,
    "average": """
        average : bool, default True
            Average over the inputs (level "input") or systems ("within_system"). False keeps them as a dim.
    """,
    "by": """
        by : str, optional
            Coordinate of systems or inputs, e.g. "system_type": one result for each group, and "all" for all together.
    """,
    "cluster": """
        cluster : str or tuple of str, optional
            Coordinate, e.g. "document", whose inputs or systems are left out, drawn or swapped together. A tuple names
            one coordinate of systems and one of inputs.
    """,
    "given": """
        given : str, DataArray or list of these, optional
            Covariates to hold constant, e.g. "length": metrics, coordinates, variables or DataArrays (partial r, ρ, τ).
    """,
    "positive": """
        positive : number, str or list of these, optional
            Labels of the positive class. Default: the higher of two labels ("f1", "sensitivity", "specificity");
            without it "kappa" and "mcc" use every value as a class.
    """,
    "threshold": """
        threshold : float or DataArray, optional
            Two scores that differ by at most this much are tied ("acc_eq", "tau_eq"; default: calibrated on these
            scores), or the smallest difference of human scores that counts ("kendall_like"; default 25 for direct
            assessment, else 0).
    """,
    "calibrate_on": """
        calibrate_on : Dataset, optional
            Other scores of the same metrics, with human scores, on which to calibrate the thresholds.
    """,
    "pool": """
        pool : str, optional
            Additional dim, e.g. language, whose pairs of systems are pooled ("pairwise_accuracy", system level).
    """,
    "missing": """
        missing : {"pairwise", "available"}, default "pairwise"
            "pairwise" uses outputs that have both scores, "available" all scores of each system (system level).
    """,
    "undefined": """
        undefined : {"drop", "zero"}, default "drop"
            "drop" leaves inputs (or systems) with constant scores out of the average; "zero" counts them as 0.
    """,
    "n_resamples": """
        n_resamples : int, default 9999
            Number of bootstrap resamples, at least 2.
    """,
    "confidence_level": """
        confidence_level : float, default 0.95
            Between 0 and 1.
    """,
    "ds.preferences": """
        ds : Dataset
            Choices, ``preference(prompt, pair, order, rater)``, as `to_preferences` returns them; computed if lazy.
    """,
    "rater.judges": """
        rater : label or list of labels, optional
            Judges to analyse. Default all.
    """,
    "adjust.raters": """
        adjust : {"holm", "bonferroni", "bh", "by"} or None, default "holm"
            Correction of the p-values for the number of tests; None for no correction.
    """,
    "cluster.prompts": """
        cluster : str, optional
            Coordinate of prompts that are left out together, e.g. turns of one question. Default
            ``ds.attrs["cluster"]``.
    """,
    "rng": """
        rng : None, int, SeedSequence or Generator, optional
            Source of the draws. One seed gives the same result with any number of threads; metrics share the draws.
    """,
    "progress": """
        progress : bool, optional
            Show a progress bar (needs tqdm). Default: in a terminal or notebook, after a second. Dask shows its own.
    """,
    "metric.rows": """
        metric : label, list of labels or bool DataArray, optional
            Metrics in the rows. Default: all except `gold` and those of ``kind`` "human" or "covariate".
    """,
    "other.columns": """
        other : label, list of labels or bool DataArray, optional
            Metrics in the columns. Default: the same as `metric`.
    """,
    "metric.scores": """
        metric : label, list of labels or bool DataArray, optional
            Metrics to analyse. Default all, human scores included.
    """,
    "method.ci": """
        method : {"auto", "jackknife", "bootstrap", "fisher"}, default "auto"
            "jackknife" leaves out each system and input in turn, "bootstrap" draws them, "fisher" is a formula.
            ``attrs["method"]`` names the choice of "auto".
    """,
    "interval": """
        interval : {"percentile", "basic", "normal", "bca", "corrected", "studentized"}, optional
            How draws become an interval; default "percentile". "studentized": input level, for at most 16 systems.
    """,
    "interval.plain": """
        interval : {"percentile", "basic", "normal"}, optional
            How bootstrap samples become an interval. Default "percentile".
    """,
    "resample.ci": """
        resample : {"auto", "both", "system", "input", "cell"} or tuple of dims, default "auto"
            What the interval generalises to: new systems and inputs ("both"), new inputs ("input"), or new systems
            ("system"). "auto" is "both" with 5 or more systems, else "input". "cell" (global level) is too narrow.
    """,
    "resample.auto": """
        resample : {"auto", "both", "input", "system"} or tuple of dims, default "auto"
            What the result generalises to: new systems and inputs ("both"), new inputs ("input"), or new systems
            ("system"). "auto" is "both" with 5 or more systems, else "input".
    """,
    "crossed": """
        crossed : bool, default False
            With "both": draw 0 or 1 for each system and each input, and swap a score if its two numbers differ.
    """,
    "swap": """
        swap : {"scores", "decisions"}, optional
            For "acc_eq", "tau_eq": swap scores, or decisions which output is better (WMT's way, liberal). Default: the
            decisions of an input together (of a system at within_system level), without `resample` and `crossed`.
    """,
    "alternative": """
        alternative : {"two-sided", "greater", "less"}, default "two-sided"
            "greater": `metric` correlates better with the human scores than `other_metric`.
    """,
    "adjust": """
        adjust : {"holm", "bonferroni", "maxt", "bh", "by"}, optional
            Correction for the number of tests: of the family-wise error rate ("holm", "bonferroni", "maxt" by joint
            draws) or the false discovery rate ("bh", "by"). Default: none.
    """,
    "adjust.formula": """
        adjust : {"holm", "bonferroni", "bh", "by"}, optional
            Correction for the number of tests: of the family-wise error rate ("holm", "bonferroni") or the false
            discovery rate ("bh", "by"). Default: none.
    """,
    "within": """
        within : dim or dims, optional
            Dims of one family of tests; each label of the other dims is corrected separately. Default all dims.
    """,
    "n_resamples.swaps": """
        n_resamples : int, default 9999
            Number of random swaps. If no more than this are possible, each is taken once and the test is exact.
    """,
    "n_resamples.draws": """
        n_resamples : int, default 999
            Number of bootstrap resamples, at least 2.
    """,
    "keep_samples": """
        keep_samples : bool, default False
            Add the bootstrap distribution as ``samples(metric, ..., resample)``.
    """,
    "along.versions": """
        along : str, optional
            Additional dim of `score` with versions of each metric (language, prompt, model), each compared with `base`.
    """,
    "base": """
        base : label, optional
            A label of `along`.
    """,
    "other.instead": """
        other : label, list of labels or bool DataArray, optional
            Instead of `along`: metrics to compare `metric` with. Of two margins the smaller counts.
    """,
    "method.equivalence": """
        method : {"tost", "jackknife", "tost_analytic", "anderson_hauck"}, default "tost"
            Two one-sided tests by the bootstrap ("tost"), jackknife or Williams' formula; or Anderson & Hauck's test.
    """,
    "alpha.equivalence": """
        alpha : float, default 0.05
            Significance level of the verdict, between 0 and 1.
    """,
    "alpha.beats": """
        alpha : float, default 0.05
            Significance level at which one metric beats another, between 0 and 1.
    """,
    "rating": """
        rating : str or DataArray, optional
            Ratings (system, input, rater, ...), or their variable. Default ``ds.attrs["gold"]``, or the only variable
            with the dim `along`.
    """,
    "along.raters": """
        along : str, default "rater"
            Dim of the raters.
    """,
    "ds.ratings": """
        ds : Dataset
            Scores and ratings; it is not changed.
    """,
    "n_bins": """
        n_bins : int, default 10
            Number of score bins of equal width, from 0 to 1.
    """,
    "normalise": """
        normalise : {"all", "input"}, default "all"
            Scale each metric's lowest score to 0 and its highest to 1, among all outputs or within each input.
    """,
    "method.bands": """
        method : {"jackknife", "bootstrap"}, default "jackknife"
            Leave out each input in turn, or take quantiles of resampled inputs.
    """,
    "ds.outputs": """
        ds : Dataset
            Scores, float ``score(metric, system, input)``; it is not changed. If inputs have different numbers of
            outputs, `system` numbers the outputs of an input, padded with NaN.
    """,
    "above": """
        above : number, mapping or DataArray, optional
            Keep outputs that score better than this: a number, one for each metric, ``{"rouge": 0.2, "bleu": 0.1}``, or
            a DataArray on dims of `score` other than system.
    """,
    "between": """
        between : (low, high), optional
            Keep outputs that score at least `low` and at most `high`; each a number, a mapping or a DataArray.
    """,
    "baseline": """
        baseline : label, optional
            A system: keep outputs that score better than its output for the same input.
    """,
    "top": """
        top : int, optional
            Keep this many best outputs of each input, for each deciding metric; of equal ones the first in `system`.
    """,
    "metrics": """
        metrics : label, list of labels or bool DataArray, optional
            The deciding metrics. Default: all except ``ds.attrs["gold"]`` and those of ``kind`` "human" or "covariate".
    """,
    "keep": """
        keep : {"any", "all"}, default "any"
            Whether one deciding metric suffices, or all must agree. With `top` and several metrics "any" can keep more
            than `top` outputs of an input, and "all" fewer.
    """,
    "unit": """
        unit : {"score", "normalised", "quantile"}, default "score"
            Unit of `above` and `between`: scores, fractions of the way from a metric's lowest to its highest score, or
            quantiles among the outputs of the same input (ties half, the median is 0.5).
    """,
    "keep_samples.pairs": """
        keep_samples : bool, default False
            Add the differences in each draw as ``samples(metric, other_metric, ..., resample)``.
    """,
    "confidence_level.test": """
        confidence_level : float, default 0.95
            Confidence level of the limits; the significance level is 1 less this value.
    """,
    "adjust.pairs": """
        adjust : {"holm", "bonferroni", "maxt", "bh", "by"}, default "holm"
            Correction of the p-values for the number of pairs, or None. "maxt" needs a method that draws.
    """,
    # Pictures
    "result": """
        result : Dataset
            A result of ``ds.meta``.
    """,
    "metric.drawn": """
        metric : label or list of labels, optional
            Metrics to draw. Default all; of more than 20 the first 20, with a note.
    """,
    "highlight": """
        highlight : label or list of labels, optional
            Metrics to emphasise with a bold name in a tinted row, such as one's own.
    """,
    "metric.few": """
        metric : label or list of labels, optional
            Metrics to draw. Default all.
    """,
    "metric.panels": """
        metric : label, list of labels or bool DataArray, optional
            Metrics, a panel each. Default ``ds.attrs["gold"]`` if a metric, else all; of more than 20 the first 20.
    """,
    "order": """
        order : {"value", "name", "given"} or list of labels, default "value"
            "name": by name. "given": as in the data. A list: exactly these labels.
    """,
    "order.given": """
        order : {"value", "name", "given"} or list of labels, default "given"
            "name": by name. "given": as in the data. A list: exactly these labels.
    """,
    "figsize": """
        figsize : (float, float), optional
            Width and height in inches. Default: what the content needs.
    """,
    "title": """
        title : str, optional
            Title above the picture.
    """,
    "ax": """
        ax : Axes, optional
            Where to draw a single panel, best with ``plt.subplots(layout="constrained")``. Default: a new figure.
    """,
    "ax.single": """
        ax : Axes, optional
            Where to draw, best with ``plt.subplots(layout="constrained")``. Default: a new figure.
    """,
    "tests.marked": """
        tests : Dataset, optional
            Result of `compare_metrics` or a test: a dagger marks metrics not significantly worse than the best.
    """,
    "alpha.marked": """
        alpha : float, default 0.05
            Significance level of these tests and of bold p-values; ``attrs["alpha"]`` takes precedence.
    """,
    "digits": """
        digits : int or "auto", default 2
            Decimals; p-values have at least three. "auto" takes the fewest, from 2 to 4, by which metrics of different
            ranks print differently.
    """,
    "caption": """
        caption : str or True, optional
            The caption; True writes one from the result: coefficient, human scores, level and tasks.
    """,
    "level.list": """
        level : str or list of str, default "system"
            What to correlate: "system" (system means), "input" (systems within each input, averaged), "global" (all
            outputs) or "within_system" (inputs within each system, averaged). A list gives a dim of that name.
    """,
    "coefficient.list": """
        coefficient : str, callable or list of these, default "pearson"
            "pearson", "spearman", "kendall" (tau-b), "kendall_a", "kendall_c", "pairwise_accuracy", "acc_eq", "tau_eq",
            "kendall_like", "spa" (system level), "pdp" (global level), or a function f(x, z) -> float of two 1-D arrays
            without NaN. A list gives a dim of that name.
    """,
    "n_systems.design": """
        n_systems : int or list of int, optional
            Number of systems of each trial; a list gives a dim of that name. Default: as many as `ds` has.
    """,
    "n_inputs.design": """
        n_inputs : int or list of int, optional
            Number of inputs of each trial; a list gives a dim of that name. Default: as many as `ds` has.
    """,
    "n_trials": """
        n_trials : int, default 1000
            Number of trials.
    """,
    "n_resamples.trials": """
        n_resamples : int, default 999
            Number of resamples of each bootstrap or permutation test, in each trial.
    """,
    "rng.trials": """
        rng : None, int, SeedSequence or Generator, optional
            Source of the draws. Trial t depends only on the seed and t; everything compared sees the same trials.
    """,
}

# Sections, or their beginnings, by name.
SECTIONS = {
    "demo": """
        Examples
        --------
        >>> import xsumstat
        >>> ds = xsumstat.load_dataset("demo")
    """,
    "dataset": """
        Returns
        -------
        Dataset
    """,
    "axes": """
        Returns
        -------
        Axes or array of Axes
            An array if there are several panels.
    """,
}

# Entries that several functions list one after another, by the name that stands for all of them.
RUNS = {
    "pairs": "gold metric.rows other.columns level coefficient",
    "options": "by cluster given positive threshold calibrate_on pool missing undefined",
    "intervals": (
        "method.ci interval resample.ci n_resamples confidence_level missing undefined rng keep_samples progress"
    ),
    "bands": "method.bands n_resamples.draws confidence_level rng progress",
    "range": "above between baseline top metrics keep unit",
    "judges": "adjust.raters confidence_level cluster.prompts",
    "question": "gold metric level coefficient",
    "tests": "alternative adjust within",
    "samples": "rng keep_samples.pairs progress",
    "versions": (
        "along.versions base metric other.instead method.equivalence "
        "level coefficient resample.ci alpha.equivalence adjust.formula within"
    ),
    "resamples": "n_resamples cluster missing undefined rng progress",
    "trials": "missing undefined rng.trials progress",
    "table": "result tests.marked alpha.marked digits",
    "drawn": "result metric.drawn order",
    "picture": "figsize title ax",
    "picture.single": "figsize title ax.single",
}

# Entries that help() shows as one where they follow one another. Error messages read the single ones.
TOGETHER = {
    "metric.rows other.columns": """
        metric, other : label, list of labels or bool DataArray, optional
            Metrics in rows and in columns. Default: all except `gold` and those of ``kind`` "human" or "covariate".
    """,
    "adjust within": """
        adjust, within : {"holm", "bonferroni", "maxt", "bh", "by"}, optional, and dim or dims, optional
            Correct the family-wise error rate ("maxt": by joint draws) or the false discovery rate ("bh", "by").
            Default none. Each label of dims outside `within` is corrected separately.
    """,
    "adjust.formula within": """
        adjust, within : {"holm", "bonferroni", "bh", "by"}, optional, and dim or dims, optional
            Correct the family-wise error rate, or the false discovery rate ("bh", "by"); default none. Each label of
            dims outside `within` is corrected separately.
    """,
    "by cluster": """
        by, cluster : str, optional
            `by`, a coordinate such as "system_type": one result for each group, and "all". `cluster`, e.g. "document",
            leaves out (draws, swaps) inputs or systems together; a tuple names a coordinate of systems and of inputs.
    """,
    "positive threshold calibrate_on pool": """
        positive, threshold, calibrate_on, pool : optional
            Options of single coefficients: labels of the positive class; the largest difference of tied scores, and the
            Dataset on which to choose it; a dim whose pairs are pooled. Documentation: "Coefficients".
    """,
    "positive threshold calibrate_on": """
        positive, threshold, calibrate_on : optional
            Options of single coefficients: labels of the positive class; the largest difference of tied scores, and the
            Dataset on which to choose it. Documentation: "Coefficients".
    """,
    "missing undefined": """
        missing, undefined : {"pairwise", "available"} and {"drop", "zero"}, default "pairwise" and "drop"
            "pairwise" uses outputs with both scores, "available" all scores of each system (system level). "drop"
            leaves inputs (or systems) with constant scores out of the average; "zero" counts their correlation as 0.
    """,
    "crossed swap": """
        crossed, swap : bool, default False, and {"scores", "decisions"}, optional
            `crossed`: draw 0 or 1 for each system and input; swap a score if its two numbers differ. `swap`, for
            "acc_eq", "tau_eq": scores, or decisions which output is better ("How intervals and tests are computed").
    """,
    "along.versions base": """
        along, base : str and label, optional
            Dim of `score` with versions of each metric (language, prompt, model), and the version to compare with.
    """,
    "metric other.instead": """
        metric, other : label, list of labels or bool DataArray, optional
            Metrics to evaluate (default: all except human scores and covariates), and metrics to compare them with
            instead of versions. Of two margins the smaller counts.
    """,
    "n_resamples.swaps rng progress": """
        n_resamples, rng, progress : optional
            For methods that draw: number of draws, default 9999 (all swaps, if there are no more), and their seed or
            Generator. True or False shows or hides the progress bar.
    """,
    "alternative confidence_level.test": """
        alternative, confidence_level : {"two-sided", "greater", "less"}, default "two-sided", and float, default 0.95
            "greater": `metric` correlates better than `other_metric`. The significance level is 1 - confidence level.
    """,
    "n_systems.design n_inputs.design": """
        n_systems, n_inputs : int or list of int, optional
            Systems and inputs of each trial; a list gives a dim of that name. Default: as many as `ds` has.
    """,
    "n_trials n_resamples.trials": """
        n_trials, n_resamples : int, default 1000 and 999
            Number of trials, and of resamples of each bootstrap or permutation test in each trial.
    """,
    "n_resamples cluster": """
        n_resamples, cluster : int, default 9999, and str, optional
            Number of bootstrap resamples, at least 2; coordinate of units that are drawn together, e.g. "document".
    """,
    "n_resamples confidence_level": """
        n_resamples, confidence_level : int, default 9999, and float, default 0.95
            Number of bootstrap resamples, at least 2, and confidence level, between 0 and 1.
    """,
    "rng keep_samples progress": """
        rng, keep_samples, progress : optional
            Seed or Generator of the draws; True adds the draws as ``samples(metric, ..., resample)``; True or False
            shows or hides the progress bar. One seed gives the same result with any number of threads.
    """,
    "rng keep_samples.pairs progress": """
        rng, keep_samples, progress : optional
            Seed or Generator of the draws; True adds the differences in each draw as ``samples``; True or False shows
            or hides the progress bar. One seed gives the same result with any number of threads.
    """,
    "rng progress": """
        rng, progress : optional
            Seed or Generator of the draws; True or False shows or hides the progress bar. One seed gives the same
            result with any number of threads.
    """,
}


class _Plain(str):
    """An annotation that is shown without quotes."""

    def __repr__(self) -> str:
        return str(self)


def whole(text: str | None) -> str | None:
    """A docstring with its shared entries in the places that name them, as ``{gold}`` on a line of its own."""
    return None if text is None else _PLACE.sub(lambda place: _entries(_names(place[1])), inspect.cleandoc(text))


def shown(text: str | None) -> str | None:
    """A docstring as `whole` returns it, shorter: with one entry for parameters that readers look up together."""
    return None if text is None else _PLACE.sub(lambda place: _entries(_joined(place[1])), inspect.cleandoc(text))


def _names(places: str) -> list[str]:
    return [each for name in places.split() for each in RUNS.get(name, name).split()]


def _joined(places: str) -> list[str]:
    names = f" {' '.join(_names(places))} "
    for run in TOGETHER:
        names = names.replace(f" {run} ", f" {run.replace(' ', '+')} ")
    return [name.replace("+", " ") for name in names.split()]


def _entries(names: list[str]) -> str:
    return "\n".join(inspect.cleandoc({**ENTRIES, **SECTIONS, **TOGETHER}[name]) for name in names)


def without(text: str | None, name: str) -> str | None:
    """A docstring that does not document a parameter."""
    return None if text is None else re.sub(rf"^{name} : .*\n(?: +.*\n)*", "", text, count=1, flags=re.MULTILINE)


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature with plain types: no quotes, no names of modules."""
    bare = inspect.signature(function)
    parameters = [each.replace(annotation=_plain(each.annotation)) for each in bare.parameters.values()]
    return bare.replace(parameters=parameters, return_annotation=_plain(bare.return_annotation))


def _plain(annotation: Any) -> Any:
    if not isinstance(annotation, str):
        return annotation
    return _Plain(_MODULE.sub("", annotation).replace("CorrelationFunction", "Callable"))
