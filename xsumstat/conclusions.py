"""What a result says, in one to three plain sentences made of its numbers: `conclusion`."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

import xarray as xr

from xsumstat import _validate, findings, findings_outputs, findings_plans, findings_tests
from xsumstat.dataset import checks, results, variables, wording

_MOST_LABELS = 3
_LAZY = "Not computed yet (Dask): after .compute() it says here what the numbers say."


@dataclass(frozen=True)
class _Sentences:
    """How the results of an analysis are put in words.

    Attributes
    ----------
    say : callable
        From the result of one label of all further dims to sentences.
    core : tuple of str
        Dims that `say` needs, where the result has them or a scalar coordinate of that name.
    best : callable, optional
        What is best, to be counted where there are many labels.
    closing : callable, optional
        What is said once, of the whole result.
    """

    say: Callable[[xr.Dataset], list[str]]
    core: tuple[str, ...] = ("metric",)
    best: Callable[[xr.Dataset], Hashable] | None = None
    closing: Callable[[xr.Dataset], list[str]] | None = None


_PAIR = ("metric", "other_metric")
_TESTS = _Sentences(findings_tests.metric_tests, _PAIR, findings_tests.leader, findings_tests.uncorrected)
SENTENCES: dict[str, _Sentences] = {
    "corr": _Sentences(findings.corr, best=findings.best_metric, closing=findings.corr_closing),
    "metric_corr": _Sentences(findings.metric_corr, _PAIR),
    "ci": _Sentences(findings.ci, _PAIR, best=findings.best_metric, closing=findings.ci_closing),
    "metric_ci": _Sentences(findings.metric_corr, _PAIR),
    "perm_test": _TESTS,
    "boot_test": _TESTS,
    "corr_test": _TESTS,
    "rank": _Sentences(findings_tests.rank, best=findings.best_metric, closing=findings_tests.clusters_closing),
    "rank_tasks": _Sentences(findings_tests.rank_tasks, ("metric", "other_metric", "task")),
    "equivalence": _Sentences(
        findings_tests.equivalence, ("metric", "other_metric"), closing=findings_tests.uncorrected
    ),
    "margin_sensitivity": _Sentences(findings_tests.margin_sensitivity, ("margin",)),
    "dominance": _Sentences(findings_tests.dominance, _PAIR),
    "compare_systems": _Sentences(
        findings_tests.compare_systems, ("metric", "system", "other_system"), closing=findings_tests.uncorrected
    ),
    "system_means": _Sentences(findings.system_means, ("metric", "system")),
    "discriminative_agreement": _Sentences(findings_tests.discriminative_agreement, best=findings_tests.most_agreeing),
    "input_effect": _Sentences(findings.input_effect, ("metric", "input")),
    "top_k_corr": _Sentences(findings.top_k_corr, ("metric", "k")),
    "close_corr": _Sentences(findings.close_corr, ("metric", "gap")),
    "bias": _Sentences(findings_tests.bias, ("metric", "covariate")),
    "range_drop": _Sentences(findings_tests.range_drop, _PAIR),
    "disagreement": _Sentences(findings_outputs.disagreement, (*_PAIR, "score_bin")),
    "improvement_consistency": _Sentences(findings_outputs.improvement_consistency, ("score_bin",)),
    "agreement": _Sentences(findings.agreement, ()),
    "human_ceiling": _Sentences(findings.human_ceiling, ("metric", "rater")),
    "alt_test": _Sentences(findings_tests.alt_test, ("metric", "rater")),
    "normality": _Sentences(findings.normality, ("metric", "input", "system")),
    "variance_components": _Sentences(
        findings_plans.variance_components,
        (*_PAIR, "effect", "n_inputs", "n_raters"),
        closing=findings_plans.components_closing,
    ),
    "pca": _Sentences(findings.pca, ("metric", "component")),
    "simulate": _Sentences(findings.simulate, ("metric", "level", "coefficient")),
    "coverage": _Sentences(findings_tests.coverage, ("interval", "metric")),
    "power": _Sentences(findings_tests.power, ("test", "noise", "metric", "other_metric")),
    "plan": _Sentences(findings_plans.plan, (*_PAIR, "difference", "n_systems", "n_inputs", "n_raters")),
}


@_validate.public
def conclusion(result: xr.Dataset) -> str:
    """What a result says, in a few plain sentences.

    Parameters
    ----------
    {result}

    Returns
    -------
    str
        One to three sentences, made of the numbers and the attrs; of further dims each of up to three labels has its
        own, and of more it is said how often which metric is best. Empty for what is no result, or was changed so that
        it does not hold what its analysis gives. Nothing that is lazy (Dask) is computed.

    Notes
    -----
    Where a test is not significant, the text says "no significant difference", never that metrics are equal.
    Undefined values (NaN) are named.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> test = ds.meta.perm_test("human", level="input", n_resamples=999, rng=1).meta.adjust("holm")
    >>> print(test.meta.conclusion().partition(".")[0])
    judge has the highest correlation with human and beats bertscore, rouge, bleu, perplexity and length
    """
    try:
        said = sentences(result)
        return " ".join([*said, *(_turned(result) if said not in ([], [_LAZY]) else [])])
    except Exception:  # a result that was renamed or cut in any way still has to be shown
        return ""


def _turned(result: xr.Dataset) -> list[str]:
    """A sentence on the metrics of a correlation that are better when lower."""
    better = result.coords.get("higher_is_better")
    if better is None or better.dims != ("metric",) or "gold" not in result.attrs:
        return []
    lower = result["metric"].values[~better.values.astype(bool)].tolist()
    whose = "its scores were" if len(lower) == 1 else "their scores were"
    return [f"For {wording.listed(map(wording.name, lower), 3)} lower is better; {whose} negated."] if lower else []


def sentences(result: xr.Dataset, *, closing: bool = True) -> list[str]:
    """The sentences of `conclusion`, perhaps without the closing one, which says what to ask next.

    Errors of results that are not as their analysis gives them are raised.
    """
    analysis = str(result.attrs.get("analysis", "simulate"))
    if analysis not in SENTENCES or not result.data_vars or 0 in result.sizes.values():
        return []
    if analysis != "simulate" and not set(variables.ANALYSES[analysis].main) & set(map(str, result.data_vars)):
        return []
    if any(checks.is_lazy(values) for values in result.data_vars.values()):
        return [_LAZY] if "analysis" in result.attrs else []
    how = SENTENCES[analysis]
    result = result.drop_vars([name for name in result.data_vars if "resample" in result[name].dims])
    result = result.expand_dims([dim for dim in how.core if dim in result.coords and dim not in result.dims])
    core = {*how.core, result.attrs.get("along")}
    further = [dim for dim in _main(result, analysis).dims if dim not in core]
    size = 1
    for dim in further:
        size *= result.sizes[dim]
    if size <= _MOST_LABELS:
        found = [text for label, part in _parts(result, further) for text in _labelled(label, how.say(part))]
    else:
        found = _of_many(result, further, size, how)
    return [*found, *(how.closing(result) if closing and how.closing and found else [])]


def _main(result: xr.Dataset, analysis: str) -> xr.DataArray:
    return result["truth"] if analysis == "simulate" else result[results.main_variable(result)]


def _parts(result: xr.Dataset, further: list[Hashable]) -> Iterator[tuple[str, xr.Dataset]]:
    """Each label of the further dims, in words, and its results."""
    for places in itertools.product(*(range(result.sizes[dim]) for dim in further)):
        part = result.isel(dict(zip(further, places, strict=True)))
        labels = (f"{dim} {wording.name(part[dim].item() if dim in part.coords else at)}" for dim, at in
                  zip(further, places, strict=True))  # fmt: skip
        yield ", ".join(labels), part


def _labelled(label: str, said: list[str]) -> list[str]:
    return [f"{label}: {said[0]}", *said[1:]] if label and said else said


def _of_many(result: xr.Dataset, further: list[Hashable], size: int, how: _Sentences) -> list[str]:
    """Of many labels: what is best in how many of them."""
    where = f"{size:,} labels of {wording.listed(further)}"
    if how.best is None:
        return [f"There are {where}; select one, as in result.sel({further[0]}=...), to read what it says."]
    best = Counter(how.best(part) for _, part in _parts(result, further))
    undefined = best.pop(None, 0)
    if not best:
        return [f"In none of {where} is there a best metric."]
    counts = [f"{wording.name(metric)} in {count:,}" for metric, count in best.most_common()]
    without = f", and {undefined:,} have none" if undefined else ""
    return [f"Of {where} the best is {wording.listed(counts)}{without}."]
