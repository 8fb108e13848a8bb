"""Entries that docstrings share, written once, and signatures as readers see them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

# A line that stands for a shared entry; indented lines below it continue the entry.
_PLACE = re.compile(r"^\{([\w.]+)\}$", re.MULTILINE)
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
            Human scores: a label of `metric`, the name of another variable, or a DataArray with dims `system` and
            `input` (at system level `input` may be absent). Default ``ds.attrs["gold"]``. Further dims of the gold
            and of `score` broadcast by name.
    """,
    "metric": """
        metric : label, list of labels or bool DataArray, optional
            Metrics to judge; default all but the gold and what the coordinate ``kind`` calls human or covariate.
    """,
    "level": """
        level : {"system", "input", "global", "within_system"}, default "system"
            What is correlated: the systems' means; the systems within each input, averaged over inputs; all
            cells as one vector; the inputs within each system, averaged over systems.
    """,
    "coefficient": """
        coefficient : str or callable, default "pearson"
            "pearson", "spearman", "kendall" (tau-b), "kendall_a" or "kendall_c"; "pairwise_accuracy", the share of
            pairs of outputs that both order alike; "acc_eq", the same with ties, of which a metric has one where two
            scores differ by no more than a threshold; "tau_eq", which is 2·acc_eq − 1; "kendall_like", WMT's tau of the
            pairs that the gold sets far enough apart; "spa", soft pairwise accuracy, at system level only; "pdp",
            pairwise difference Pearson, Pearson's r of the differences of all pairs of systems on the same input, at
            global level only. On people's own scale: "accuracy", "kappa" (Cohen's), "mcc" (Matthews'), "f1",
            "sensitivity" and "specificity" compare classes, not at system level; "weighted_kappa" (quadratic weights:
            Lin's concordance) and "icc", ICC(A,1), compare values. A callable takes two 1-D float arrays without NaN
            and gives a float, NaN where it is undefined; tests that swap scores standardise a metric's for it, and
            warn where the value depends on their scale, as a mean squared error does.
    """,
    "average": """
        average : bool, default True
            False keeps the groups: dim `input` at input level, `system` at within_system.
    """,
    "by": """
        by : str, optional
            A coordinate that describes each system, or each input, such as "system_type": one result for each of its
            groups and, as "all", one for all.
    """,
    "cluster": """
        cluster : str or tuple of str, optional
            Coordinate that names which systems, or which inputs, belong together, or one of each: variants of one
            model, prompts of one template, segments of one document. The jackknife leaves out whole clusters and needs
            3 of them; the bootstrap draws whole clusters; a permutation swaps them. Needs scores in memory.
    """,
    "given": """
        given : str, DataArray or list of these, optional
            Covariates that are held constant: the result is the partial correlation (only of "pearson", "spearman" and
            "kendall"). A metric's label such as "length", a coordinate or variable of systems, inputs or both (of
            words: one covariate for each word but the first), or such a DataArray. A cell counts where all are there.
    """,
    "positive": """
        positive : number, str or list of these, optional
            Of coefficients of classes: which values of the human scores, or which texts of ``to_scores(labels=)``, are
            the positive class; all others are the negative one. Default of "f1", "sensitivity" and "specificity": the
            higher of two values; of the others: every value is a class.
    """,
    "threshold": """
        threshold : float or DataArray, optional
            Of "acc_eq" and "tau_eq": how far apart a metric's scores may be and count as tied, one number or one for
            each metric, in its units. Default: the one that makes the result best (calibrated on the very scores that
            are judged, WMT's habit, which favours metrics with fine scores). Of "kendall_like": how far apart gold
            scores must be to count; default 25 where they are between 0 and 100 and reach 25 (direct assessment),
            else 0, so that all pairs count whose gold scores differ (as of MQM).
    """,
    "calibrate_on": """
        calibrate_on : Dataset, optional
            Other scores of the same metrics with gold, on which the thresholds of "acc_eq" and "tau_eq" are found
            instead.
    """,
    "pool": """
        pool : str, optional
            A further dim, such as languages, whose pairs of systems are pooled: their "pairwise_accuracy" at system
            level is of all together. Each label has systems, inputs and draws of its own, which are never listed;
            what is NaN throughout for a label is padding.
    """,
    "missing": """
        missing : {"pairwise", "available"}, default "pairwise"
            "pairwise": a cell counts where both scores are. "available": at system level each score is averaged
            over all the cells it has; at other levels the same as "pairwise".
    """,
    "undefined": """
        undefined : {"drop", "zero"}, default "drop"
            A group in which a score is constant has no correlation: leave it out of the average, or let it
            count as 0 (at input level and within_system; one without any cell never counts).
    """,
    "n_resamples": """
        n_resamples : int, default 9999
            Number of resamples of a bootstrap, at least 2.
    """,
    "confidence_level": """
        confidence_level : float, default 0.95
            Between 0 and 1.
    """,
    "ds.preferences": """
        ds : Dataset
            Choices, ``preference(prompt, pair, order, rater)``, as `to_preferences` gives them. Lazy ones are computed.
    """,
    "rater.judges": """
        rater : label or list of labels, optional
            Judges to ask about; default all.
    """,
    "adjust.raters": """
        adjust : {"holm", "bonferroni", "bh", "by"} or None, default "holm"
            Correct the p-values for the number of tests; None for no correction.
    """,
    "cluster.prompts": """
        cluster : str, optional
            A coordinate of prompts that names which belong together, as the turns of one question. Such prompts are
            left out together. Default ``ds.attrs["cluster"]``, which `to_preferences` sets where several columns name a
            prompt; else each prompt stands alone.
    """,
    "rng": """
        rng : None, int, SeedSequence or Generator, optional
            Source of the draws. One seed gives the same numbers with any number of threads, and a longer run begins
            with the shorter one's samples; all metrics and further labels see the same draws.
    """,
    "progress": """
        progress : bool, optional
            Show a progress bar (needs tqdm). Default: one comes by itself in a terminal or notebook, after a second.
            Lazy scores have the bars of Dask instead.
    """,
    "metric.rows": """
        metric : label, list of labels or bool DataArray, optional
            Metrics in the rows of the result; default all but the gold and what the coordinate ``kind``
            calls human.
    """,
    "other.columns": """
        other : label, list of labels or bool DataArray, optional
            Metrics in the columns of the result; default the same as `metric`.
    """,
    "metric.scores": """
        metric : label, list of labels or bool DataArray, optional
            Metrics to look at; default all, human ones included.
    """,
    "method.ci": """
        method : {"auto", "jackknife", "bootstrap", "fisher"}, default "auto"
            "jackknife" leaves out each system and each input in turn (see Notes of `ci`); "fisher" is a formula, and
            only for "pearson", "spearman" and "kendall". "auto" is "jackknife" for "pearson", "spearman", the Kendall
            family, "pairwise_accuracy", "pdp" and, but for all cells as one group, "acc_eq" and "tau_eq", else
            "bootstrap", as where draws are asked for: by `interval`, `keep_samples`, or "cell", "reference" or "rater"
            in `resample`. ``attrs["method"]`` says which it was.
    """,
    "interval": """
        interval : {"percentile", "basic", "normal", "bca", "corrected", "studentized"}, optional
            How the bootstrap's samples become an interval; default "percentile". "corrected" needs ``resample="both"``.
            "studentized", the bootstrap-t, needs ``level="input"``, and is for at most 16 systems or so.
    """,
    "interval.plain": """
        interval : {"percentile", "basic", "normal"}, optional
            How the bootstrap's samples become an interval; default "percentile".
    """,
    "resample.ci": """
        resample : {"auto", "both", "system", "input", "cell"} or tuple of dims, default "auto"
            What the interval generalises to: new systems and inputs ("both"), new inputs for these systems ("input"),
            or new systems on these inputs ("system"). "auto" is "both" if 5 systems or more have scores, else "input";
            ``attrs["resample"]`` has the choice. "cell", at global level, treats single outputs as independent (Braun
            et al. 2022); it undercovers where systems or inputs differ, and does not work for "pdp".
    """,
    "resample.auto": """
        resample : {"auto", "both", "input", "system"} or tuple of dims, default "auto"
            What the result generalises to: new systems and inputs ("both"), new inputs for these systems ("input"), or
            new systems on these inputs ("system"). "auto" is "both" if 5 systems or more have scores, else "input";
            ``attrs["resample"]`` has the choice.
    """,
    "crossed": """
        crossed : bool, default False
            With "both", swap the cells of a system or of an input, but not of the two at once: the exclusive or of a
            coin for each system and one for each input.
    """,
    "swap": """
        swap : {"scores", "decisions"}, optional
            What trades places: two scores, or, for "acc_eq" and "tau_eq", two decisions which of two outputs is better
            (or that they are tied), each by its metric's own threshold. Decisions trade places all of a group together
            (``resample="input"`` at input level, "system" at within_system), or each by itself (``swap="decisions"``
            alone, or with ``resample="both"``: WMT's habit, which finds too much). The scores of these
            two are calibrated anew after each swap. Default for them: at input and within_system level decisions of a
            group together, unless `resample` or `crossed` asks for other units; else "scores".
    """,
    "alternative": """
        alternative : {"two-sided", "greater", "less"}, default "two-sided"
            "greater": `metric` correlates better with gold than `other_metric`.
    """,
    "adjust": """
        adjust : {"holm", "bonferroni", "maxt", "bh", "by"}, optional
            Correct the p-values for the number of tests: "holm", "bonferroni" and "maxt" bound the chance of any false
            rejection, "bh" (Benjamini-Hochberg) and "by" (Benjamini-Yekutieli) the expected share of false ones. "maxt"
            is made from the joint draws, which are not kept. Default: no correction.
    """,
    "adjust.formula": """
        adjust : {"holm", "bonferroni", "bh", "by"}, optional
            Correct the p-values for the number of tests: "holm" and "bonferroni" bound the chance of any false
            rejection, "bh" (Benjamini-Hochberg) and "by" (Benjamini-Yekutieli; Braun et al.) the expected share of
            false ones. Default: no correction.
    """,
    "within": """
        within : dim or dims, optional
            Dims of one family of tests; the correction is done anew for each label of the other dims. Default all dims.
    """,
    "n_resamples.swaps": """
        n_resamples : int, default 9999
            Number of random swaps. When all possible swaps number no more, each is taken once, and the test is exact.
    """,
    "n_resamples.draws": """
        n_resamples : int, default 999
            Number of resamples of the bootstrap, at least 2.
    """,
    "keep_samples": """
        keep_samples : bool, default False
            Add the bootstrap distribution as ``samples(metric, ..., resample)``.
    """,
    "along.versions": """
        along : str, optional
            A further dim of `score` along which metrics come in versions (language, prompt, model). Each version is
            compared with that at `base`.
    """,
    "base": """
        base : label, optional
            A label of `along`.
    """,
    "other.instead": """
        other : label, list of labels or bool DataArray, optional
            Instead of `along`: metrics to compare `metric` with. Of the margins of two metrics the smaller counts.
    """,
    "method.equivalence": """
        method : {"tost", "jackknife", "tost_analytic", "anderson_hauck"}, default "tost"
            Two one-sided tests on bootstrap draws; by the jackknife interval of `ci`, which needs no draws; by
            Williams' formula; or Anderson & Hauck's test by it.
    """,
    "alpha.equivalence": """
        alpha : float, default 0.05
            Level of the verdict, between 0 and 1.
    """,
    "alpha.beats": """
        alpha : float, default 0.05
            At which level one metric beats another, between 0 and 1.
    """,
    "rating": """
        rating : str or DataArray, optional
            The ratings, (system, input, rater, ...): a variable of `ds` or a DataArray; NaN where a rater gave none.
            Default ``ds.attrs["gold"]``, or the only variable with such a dim.
    """,
    "along.raters": """
        along : str, default "rater"
            Dim of the raters.
    """,
    "ds.ratings": """
        ds : Dataset
            Scores, with ratings beside them; it is not changed.
    """,
    "n_bins": """
        n_bins : int, default 10
            Bins of the height, equally wide, from 0 to 1.
    """,
    "normalise": """
        normalise : {"all", "input"}, default "all"
            A metric's lowest score becomes 0 and its highest 1: among all outputs, or among those of each input.
    """,
    "method.bands": """
        method : {"jackknife", "bootstrap"}, default "jackknife"
            How the bands are made: from the shares without each input, or as quantiles of resamples of the inputs.
    """,
    "ds.outputs": """
        ds : Dataset
            Scores, float ``score(metric, system, input)``. Where the inputs have different numbers of outputs, `system`
            numbers the outputs of an input, padded with NaN. It is not changed.
    """,
    "above": """
        above : number, mapping or DataArray, optional
            Keep what scores better than this: one number, one for each metric, ``{"rouge": 0.2, "bleu": 0.1}``, or a
            DataArray on dims of `score` other than system.
    """,
    "between": """
        between : (low, high), optional
            Keep what scores at least the one and at most the other; each a number, a mapping or a DataArray, as
            `above`.
    """,
    "baseline": """
        baseline : label, optional
            A system: keep what scores better than its output for the same input.
    """,
    "top": """
        top : int, optional
            Keep so many of the best outputs of each input, for each metric that decides; of equally good ones those
            that come first in `system`. An input with fewer outputs keeps all.
    """,
    "metrics": """
        metrics : label, list of labels or bool DataArray, optional
            The metrics that decide. Default all but ``ds.attrs["gold"]`` and what ``kind`` calls human.
    """,
    "keep": """
        keep : {"any", "all"}, default "any"
            Whether a score by one of the metrics suffices, or all of them must be in the range. With `top` and several
            metrics "any" can keep more than `top` outputs of an input, and "all" fewer.
    """,
    "unit": """
        unit : {"score", "normalised", "quantile"}, default "score"
            What the numbers of `above` and `between` are: scores; shares of the way from a metric's lowest score to its
            highest; or shares of the outputs of the same input, ties half, so that .5 is the median. Shares that differ
            from a limit by no more than rounding (1e-12 of the larger score) are equal to it; scores are taken as they
            are.
    """,
    # Pictures
    "result": """
        result : Dataset
            What a method of ``ds.meta`` gave.
    """,
    "metric.drawn": """
        metric : label or list of labels, optional
            Those to be drawn; default all, or where there are more than 20 the first 20 in order, which a note below
            says.
    """,
    "metric.few": """
        metric : label or list of labels, optional
            Those to be drawn; default all.
    """,
    "metric.panels": """
        metric : label, list of labels or bool DataArray, optional
            One panel each, in this order. Default ``ds.attrs["gold"]`` where that is a metric, else all, or where there
            are more than 20 the first 20, which a note below says.
    """,
    "order": """
        order : {"value", "name", "given"} or list of labels, default "value"
            "name": by name. "given": as in the data. A list: these labels and no others.
    """,
    "order.given": """
        order : {"value", "name", "given"} or list of labels, default "given"
            "name": by name. "given": as in the data. A list: these labels and no others.
    """,
    "figsize": """
        figsize : (float, float), optional
            Width and height in inches; default as large as what is drawn needs.
    """,
    "title": """
        title : str, optional
            Above the picture.
    """,
    "ax": """
        ax : Axes, optional
            Where to draw, when there is one panel; title, legend and notes then belong to it, and
            ``plt.subplots(..., layout="constrained")`` makes room for them. Default: a new figure.
    """,
    "ax.single": """
        ax : Axes, optional
            Where to draw; title, legend and notes then belong to it, and ``plt.subplots(..., layout="constrained")``
            makes room for them. Default: a new figure.
    """,
    "errors.plot": """
        ImportError
            Without matplotlib (extra "plot").
    """,
    "tests.marked": """
        tests : Dataset, optional
            What `compare_metrics` or a test gave for the same metrics: a dagger marks the metrics that are
            not significantly worse than the best.
    """,
    "alpha.marked": """
        alpha : float, default 0.05
            Level of these tests, and at which p-values are in bold, between 0 and 1; a result with ``attrs["alpha"]``
            has its own.
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
    "errors.tables": """
        ValueError, TypeError
            For a Dataset that is no result, or lazy, tests of other metrics, and numbers that are not allowed.
    """,
    "level.list": """
        level : str or list of str, default "system"
            What is correlated: "system", the systems' means; "input", the systems within each input, averaged over
            inputs; "global", all cells as one vector; "within_system", the inputs within each system, averaged over
            systems. A list gives a dim of that name.
    """,
    "coefficient.list": """
        coefficient : str, callable or list of these, default "pearson"
            "pearson", "spearman", "kendall" (tau-b), "kendall_a", "kendall_c", "pairwise_accuracy", "acc_eq", "tau_eq",
            "kendall_like", at system level "spa" or, at global level, "pdp"; or a callable, which takes two 1-D float
            arrays without NaN and gives a float. A list gives a dim of that name.
    """,
    "n_systems.design": """
        n_systems : int or list of int, optional
            Number of systems of each trial; a list gives a dim of that name. Default as many as `ds` has.
    """,
    "n_inputs.design": """
        n_inputs : int or list of int, optional
            Number of inputs of each trial; a list gives a dim of that name. Default as many as `ds` has.
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
            Source of the draws. Trial t depends on the seed and on t alone, and all that is compared sees the same
            trials.
    """,
    # Sections
    "errors.draws": """
        ValueError, TypeError
            For an unknown label, dim, level, coefficient, method or interval, for numbers that are not allowed, for
            scores that are not numbers, infinite, or all missing, and for a gold that is constant.
    """,
    "errors.ratings": """
        ValueError, TypeError
            For ratings or a dim that are not there, or not allowed.
    """,
    "errors.warned": """
        UserWarning
            For cells, systems and inputs that are left out, metrics with constant scores, fewer than 5 systems where
            systems are correlated, and results that are undefined.
    """,
    "errors.scores": """
        ValueError, TypeError
            For an unknown label, dim, level or coefficient, for scores that are not numbers, infinite, or
            all missing, and for a gold that is constant.
    """,
}


class _Plain(str):
    """An annotation that is shown without quotes."""

    def __repr__(self) -> str:
        return str(self)


def whole(text: str | None) -> str | None:
    """A docstring with its shared entries in the places that name them, as ``{gold}`` on a line of its own."""
    return (
        None if text is None else _PLACE.sub(lambda place: inspect.cleandoc(ENTRIES[place[1]]), inspect.cleandoc(text))
    )


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
