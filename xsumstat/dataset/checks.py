"""Requirements of scores: errors where nothing can be computed, warnings where little can."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import xarray as xr

from xsumstat.core import arguments, levels, validate
from xsumstat.core.caveats import UnusableGoldError
from xsumstat.core.labels import labels_along, labels_where
from xsumstat.core.types import BoolArray, IntArray
from xsumstat.dataset import align, directions, facts
from xsumstat.dataset.facts import CELLS, Fact, Gaps, Presence
from xsumstat.dataset.masks import Masked
from xsumstat.dataset.value_checks import Checks
from xsumstat.inference.jackknife import FAR

_OFTEN = 0.05
# A metric that ties all systems on more than this share of the inputs whose human scores differ is named.
OFTEN_TIED = 0.25
_NEAR = 1e-9
_MANY = 99
# Scores beyond this have squares that are no numbers.
_LARGEST = 1e150
_NAMED = 3
# Intervals from fewer random inputs covered the true value in 82 to 88 % of sets whose inputs differ.
_ENOUGH_INPUTS = 5
# A bootstrap whose bias is more than this many standard errors.
MUCH_BIAS = 0.25
BIASED = "the resamples are biased by more than a quarter of the standard error"


def as_labels(labels: Iterable[Hashable]) -> npt.NDArray[np.object_]:
    """Labels for `sel`: a list of texts and numbers would become texts."""
    listed = list(labels)
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found


# What stands in for an interval that is not defined, by its kind.
FELL_BACK = {
    "bca": "percentile interval instead of BCa, for",
    "corrected": "the corrected variance is below the variance of one dim, which is used instead (see `ci`), for",
    "studentized": "too few resamples have a standard error: the jackknife interval is used instead, for",
    "jackknife": "a correlation is 1 or -1, or no system or input changes it when left out, so it has no standard "
    "error: its limits are exact for an average over random inputs or systems, Fisher's for rank coefficients at "
    "system level, and otherwise the estimate itself, for",
}


def check_sizes(score: xr.DataArray, level: str | None, *, these_systems: bool | None = False) -> None:
    align.check_not_empty(score)
    if level is not None:
        check_counts(score.sizes["system"], score.sizes["input"], level, these_systems=these_systems)


def check_counts(systems: int, inputs: int, level: str, *, these_systems: bool | None) -> None:
    """The same from counts; warn of few systems where the answer speaks of new ones, or correlates systems."""
    if these_systems is None:
        these_systems = systems < facts.ENOUGH_SYSTEMS
    needed = None if level == "global" else levels.members(level)
    size = {"system": systems, "input": inputs, None: systems * inputs}[needed]
    if size < 2:
        other = {
            "system": f"; use {arguments.given('level', 'global')}, which correlates single outputs",
            "input": f"; use {arguments.given('level', 'input')}, which correlates systems",
        }
        way = other.get(needed or "", "") if systems * inputs > 1 else ""
        raise ValueError(f"level={level!r} correlates over {needed or 'cell'}s and needs at least 2, got {size}{way}")
    if needed == "system" and systems < facts.ENOUGH_SYSTEMS and not (these_systems and level == "input"):
        other_level = ("global", "single outputs") if systems == 2 else ("input", "systems within inputs")
        way = f", or use {arguments.given('level', other_level[0])}, which compares {other_level[1]}"
        text = f"{few_systems(f'only {systems}')}; evaluate more systems"
        validate.warn(text + (way if level == "system" and inputs > 1 else ""), "few_systems")


def refuse_copies(ratings: Mapping[str, xr.DataArray]) -> None:
    """Raise for ratings of each metric, which `xr.concat` makes of ratings of outputs."""
    name = next((name for name, values in ratings.items() if "metric" in values.dims), None)
    if name is not None:
        raise ValueError(
            f"variable {name!r} has a dim 'metric', as if each metric had ratings of its own; xr.concat adds it "
            "unless told otherwise: xr.concat([...], 'metric', data_vars='minimal')"
        )


def few_systems(how_many: str) -> str:
    return f"{how_many} systems: results are very uncertain"


class _Drawn(Protocol):
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def used(self) -> tuple[xr.DataArray, xr.DataArray] | None: ...
    @property
    def later(self) -> Checks: ...


def check_resampled(scores: _Drawn, dims: tuple[str, ...]) -> None:
    """Raise where nothing varies; of lazy scores, once it is known which systems and inputs are used."""
    _check_labels(scores.shape, dims)
    if scores.used is not None:
        scores.later.make(_check_used_labels, *scores.used, dims)


def _check_used_labels(systems: xr.DataArray, inputs: xr.DataArray, dims: tuple[str, ...]) -> None:
    if systems.values.any() and inputs.values.any():
        _check_labels((int(systems.sum()), int(inputs.sum())), dims)


def _check_labels(shape: tuple[int, int], dims: tuple[str, ...]) -> None:
    systems, inputs = shape
    if all({"system": systems, "input": inputs}.get(dim, systems * inputs) == 1 for dim in dims):
        raise ValueError(f"resample={'/'.join(dims)!r} has only one label to draw: nothing can vary")


def warn_few_inputs(scores: _Drawn, dims: tuple[str, ...], level: str) -> None:
    """Warn of few random inputs whose correlations are averaged."""
    inputs = scores.shape[1]
    if level == "input" and "input" in dims and scores.used is None and 1 < inputs < _ENOUGH_INPUTS:
        validate.warn(
            f"only {inputs} inputs: an answer for inputs like these is uncertain, and its intervals can be too narrow",
            "few_inputs",
        )


def check_masked(masked: Masked, level: str, these_systems: bool | None) -> None:
    """Raise where nothing can be used, and report what cannot; lazy scores wait for `check_used`."""
    if masked.kept is not None:
        check_together(*masked.kept, *masked.present)
        report_empty(*masked.kept)
    if masked.used is None:
        check_sizes(masked.score, level, these_systems=these_systems)
    else:
        with validate.gathered():  # that they are few is said later, of those that are used
            check_sizes(masked.score, level)


def check_used(
    systems: xr.DataArray,
    inputs: xr.DataArray,
    gold: Fact,
    scores: Fact,
    level: str,
    these_systems: bool | None,
) -> None:
    """`without_empty` and `check_sizes` for lazy scores once computed, from their `spread`."""
    check_together(systems, inputs, *(~np.isnan(each.values) for each in (gold, scores)))
    report_empty(systems, inputs)
    some = systems.values.any() and inputs.values.any()
    n_systems, n_inputs = (int(each.sum()) if some else each.size for each in (systems, inputs))
    check_counts(n_systems, n_inputs, level, these_systems=these_systems)


def check_together(systems: xr.DataArray, inputs: xr.DataArray, gold: BoolArray, score: BoolArray) -> None:
    """Raise unless some system and input are usable, where gold and score exist at all."""
    if not (bool(systems.any()) and bool(inputs.any())) and gold.any() and score.any():
        raise ValueError("no output has both a gold score and a metric score; NaN is a missing score")


def report_empty(systems: xr.DataArray, inputs: xr.DataArray) -> None:
    if not (systems.values.any() and inputs.values.any()):
        return
    for each in (systems, inputs):
        if lost := labels_where(~each):
            validate.warn(
                empty(each.dims[0], lost, "both a human score and a metric score"),
                "labels_without_cells",
                dim=each.dims[0],
                labels=lost,
            )


def empty(dim: Hashable, labels: Sequence[Hashable], both: str) -> str:
    return f"left out {validate.counted(len(labels), str(dim))} (no output has {both}): {validate.listing(labels)}"


def check_finite(spread: Fact, name: str) -> None:
    if np.isinf(spread.values).any():
        infinite: xr.DataArray = (spread.array == np.inf).any([dim for dim in spread.dims if dim != "metric"])
        labels = infinite["metric"].values[infinite.values].tolist() if infinite.ndim else []
        whose = f" of {validate.named('metric', labels)}" if labels else ""
        raise ValueError(f"{name} has infinite values{whose}; write missing scores as NaN")


def check_gold(spread: Fact, name: str) -> None:
    check_finite(spread, f"gold {name!r}")
    if _all_vary(spread):
        return
    if np.isnan(spread.values).all():
        raise UnusableGoldError(f"gold {name!r} has no score at all: every value is NaN")
    if not (spread.values > 0).any():
        raise UnusableGoldError(f"gold {name!r} is constant: its correlations are undefined")
    warn_where(
        spread.array == 0,
        f"gold {name!r} is constant, so correlations are undefined (NaN), for {_dims_of(spread.array)}",
        "constant_gold",
        gold=name,
    )
    warn_where(
        spread.array.isnull(),
        f"gold {name!r} has no score, so there are no correlations, for {_dims_of(spread.array)}",
        "no_gold_score",
        gold=name,
    )


def check_squares(values: xr.DataArray, name: str) -> None:
    size = float(abs(values).max())
    if size > _LARGEST:
        raise ValueError(f"{name} has values up to {size:.3g}, whose squares are too large; divide them first")


def _all_vary(spread: Fact) -> bool:
    return bool((spread.values > 0).all())


def check_metrics(spread: Fact, constant: bool = False) -> None:
    """Raise unless metrics are finite and vary (or may be constant), from their `spread`."""
    check_finite(spread, "score")
    if _all_vary(spread):
        return
    empty = spread.array.isnull()
    whole = empty.all([dim for dim in empty.dims if dim != "metric"])
    if bool(whole.any()):
        labels = whole.metric.values[whole.values]
        raise ValueError(
            f"no score at all for {validate.named('metric', labels.tolist())}: every value is NaN; "
            + (
                "leave them out with ds.drop_sel(metric=[...])"
                if arguments.in_python()
                else f"name the others with {arguments.given('metric', several=True)}"
            )
        )
    dims = _dims_of(empty)
    warn_where(empty, f"no score for {dims}", "no_score")
    if not constant:
        warn_where(spread.array == 0, f"constant scores, so the correlation is undefined (NaN), for {dims}", "constant")


def _dims_of(values: xr.DataArray) -> str:
    """What the labels of a message are: "metric", "rater/metric"."""
    return "/".join(map(str, values.dims))


def report_gaps(found: Gaps) -> None:
    """Report metrics without whole systems or inputs, and the number of other cells left out."""
    labels = found.systems.labels["metric"]
    for dim, counts, size in zip(CELLS, (found.systems, found.inputs), found.sizes[:2], strict=True):
        what = f"metrics compared on fewer {dim}s, because they lack all scores on the others"
        _warn_of_counts(what, labels, counts.values, size, "metrics", "fewer_labels", left=True)
    report_cells(found, f"outputs left out, because the metric or the human score is missing{_see_missingness()}")


def _see_missingness() -> str:
    return arguments.only_in_python(" (ds.meta.missingness() shows whether that matters)")


def report_cells(found: Gaps, what: str) -> None:
    """Report the number of cells of each metric that are left out beside whole systems and inputs."""
    if found.cells is not None:
        labels = found.systems.labels["metric"]
        _warn_of_counts(what, labels, found.cells.values, found.sizes[2], "metrics", "cells_left_out")


def report_unscored(found: Presence) -> None:
    """Report the number of outputs of each metric that an analysis without gold leaves out.

    Outputs without a score by any of several metrics count as no outputs.
    """
    there = found.bits.values
    every = int(np.bitwise_count(np.bitwise_or.reduce(there)).sum()) if len(there) > 1 else found.n_cells
    counts = every - np.bitwise_count(there).sum(axis=1, dtype=np.int64)
    _warn_of_unscored(found.bits, counts, every)


def report_unscored_beside(found: Fact, n_cells: int) -> None:
    """Report the number of outputs of each metric that comparisons of systems leave out."""
    _warn_of_unscored(found, found.values, n_cells)


def _warn_of_unscored(found: Fact, counts: IntArray, n_cells: int) -> None:
    what = f"outputs left out, because the metric has no score{_see_missingness()}"
    _warn_of_counts(what, found.labels["metric"], counts, n_cells, "metrics", "cells_left_out")


def report_ties(found: Sequence[Fact] | None, sizes: Mapping[Hashable, int]) -> None:
    """Report inputs that have no correlation, as all systems tie on them: any of two systems, of more if often."""
    if found is None:
        return
    tied, there, by_gold, scored = found
    n_systems = sizes["system"]
    way = arguments.given("coefficient", "pairwise_accuracy" if n_systems == 2 else "acc_eq")
    inputs = f"inputs{_each_counted(scored, sizes['input'])}"
    if n_systems == 2:
        what, counts = f"{inputs} left out, as the 2 systems tie on them; {way} counts them", tied.values
    else:
        what = f"{inputs} left out, as the metric gives all systems one score; {way} counts ties"
        often = (tied.values > OFTEN_TIED * there.values) & (tied.values < there.values)  # else it is constant
        counts = np.where(often, tied.values, 0)
    _warn_of_counts(what, tied.labels["metric"], counts, there.values, "metrics", "ties_left_out")
    often = (by_gold.values > OFTEN_TIED * scored.values) & (by_gold.values < scored.values)  # else it is constant
    if n_systems > 2 and often.any():
        at = int(np.argmax(np.where(often, by_gold.values, 0)))
        most, size = int(by_gold.values[at]), int(scored.values[at])
        validate.warn(
            f"{inputs} left out, as the human scores of all systems are equal there; {way} counts ties: {most:,} of "
            f"{size:,}",
            "gold_ties_left_out",
        )


def _each_counted(found: Fact, size: int) -> str:
    """What follows "inputs" whose number adds up over several human scores."""
    return " (counted once for each human score)" if found.values.max() > size else ""


def report_single(found: Sequence[Fact] | None, level: str, sizes: Mapping[Hashable, int]) -> None:
    """Report inputs (or systems) with one output that has both scores, if often: an average leaves them out."""
    if found is None:
        return
    alone, some = found
    often = (alone.values > OFTEN_TIED * some.values) & (alone.values < some.values)  # else nothing is left
    group = "input" if level == "input" else "system"
    groups = f"{group}s{_each_counted(some, sizes[group])}"
    what = f"{groups} left out, because only one of their outputs has a score and a human score"
    counts = np.where(often, alone.values, 0)
    _warn_of_counts(what, alone.labels["metric"], counts, some.values, "metrics", "single_outputs_left_out")


def report_gaps_of_pairs(found: Presence, labels: Sequence[Hashable], pairs: Iterable[Sequence[int]]) -> None:
    """Report cells left out of pairs of metrics, because only one metric has them."""
    there = found.bits.values
    if (there == there[:1]).all():
        return
    names, counts = [], []
    for a, b in pairs:
        names.append(f"{labels[a]} and {labels[b]}")
        counts.append(int(np.bitwise_count(there[a] ^ there[b]).sum(dtype=np.int64)))
    what = f"outputs left out, because one metric of a pair has no score{_see_missingness()}"
    _warn_of_counts(what, names, counts, found.n_cells, "pairs", "cells_left_out")


def _warn_of_counts(
    message: str,
    names: Iterable[Any],
    counts: Sequence[int] | IntArray,
    size: int | IntArray,
    what: str,
    code: str,
    *,
    left: bool = False,
) -> None:
    """Warn of names with a count above 0; `left` shows what is left of `size` without it."""
    sizes = np.broadcast_to(size, len(counts)).tolist()
    texts = [
        f"{name} (on {of - count:,} of {of:,})" if left else f"{name} ({count:,} of {of:,})"
        for name, count, of in zip(names, counts, sizes, strict=True)
        if count
    ]
    if texts:
        more = f", … ({len(texts)} {what} in all)" if len(texts) > 8 else ""
        validate.warn(f"{message}: {', '.join(texts[:8])}{more}", code)


def warn_where(condition: xr.DataArray, message: str, code: str = "undefined", **fields: Any) -> None:
    if not condition.values.any():
        return
    if condition.ndim == 0:
        validate.warn(message, code, **fields)
        return
    names = [labels_of(condition, dim) for dim in condition.dims]
    places = np.argwhere(condition.values)
    texts = ["/".join(labels[at] for labels, at in zip(names, place, strict=True)) for place in places]
    validate.warn(f"{message} {validate.listing(texts)}", code, **fields)


def warn_without_limits(estimate: xr.DataArray, low: xr.DataArray, what: str, needs: str) -> None:
    """Warn of estimates without an interval, which `needs` what follows."""
    if not np.isnan(low.values).any():
        return
    gone = estimate.notnull() & low.isnull()
    n = int(gone.sum())
    if n > _NAMED and bool((gone == estimate.notnull()).all()):
        validate.warn(f"no {what} interval, which needs {needs}, for all {n} estimates", "no_interval")
    else:
        warn_where(gone, f"no {what} interval, which needs {needs}, for", "no_interval")


def labels_of(values: xr.DataArray, dim: Hashable) -> list[str]:
    """Labels along a dim, or places without labels, as text."""
    return [str(label) for label in labels_along(values, dim)]


def warn_resting(places: xr.DataArray, names: list[str], systems: list[str], coefficient: str) -> None:
    """Warn once per call of intervals that depend on one system; `places` -1 for none."""
    values = places.values.reshape(-1, len(names))
    pairs = {f"{names[at]!r} (system {systems[int(values[row, at])]!r})": 0 for row, at in np.argwhere(values >= 0)}
    if not pairs:
        return
    shown = ", ".join(list(pairs)[:_NAMED]) + (f", … ({len(pairs)} in all)" if len(pairs) > _NAMED else "")
    ranks = "" if coefficient == "kendall" else "; coefficient='kendall' depends less on one system"
    validate.warn_once(
        f"the interval rests on one system, without which the correlation moves more than {FAR:g} times as far as "
        f"without another, for {shown}: look at its scores{ranks}; or leave it out",
        "rests_on_one_system",
    )


def warn_undefined(statistic: xr.DataArray, scores: Fact, gold: Fact, why: str) -> None:
    """Warn of NaN results, unless constant or missing scores explain them (from their `spread`)."""
    if np.isnan(statistic.values).any():
        explained = (scores.array.fillna(0) == 0) | (gold.array.fillna(0) == 0)
        warn_where(statistic.isnull() & ~explained, why)


def constant_metrics(spread: xr.DataArray) -> BoolArray:
    """Metrics that are constant or missing for some further label."""
    flat = spread.fillna(0) == 0
    return np.asarray(flat.any([dim for dim in flat.dims if dim != "metric"]).values)


def warn_resamples(n_undefined: xr.DataArray, n_resamples: int) -> None:
    """Warn if more than 5 % of the resamples, but not all, are undefined."""
    if not n_undefined.values.any():
        return
    often = (n_undefined > _OFTEN * n_resamples) & (n_undefined < n_resamples)
    warn_where(
        often, f"more than 5 % of the {n_resamples} resamples are undefined, and left out, for", "resamples_undefined"
    )


def warn_outside(found: xr.Dataset, name: str, n_resamples: int, jackknife: bool = True) -> None:
    """Warn of intervals without the estimate, beyond chance for this number of resamples."""
    if n_resamples < _MANY:
        return
    near = _NEAR * np.maximum(1.0, np.abs(found[name]))
    outside = (found[name] < found["ci_low"] - near) | (found[name] > found["ci_high"] + near)
    warn_where(
        outside,
        f"the resamples are biased: intervals do not contain the estimate{_corrected(jackknife)}, for",
        "outside",
    )


def _corrected(jackknife: bool) -> str:
    return arguments.only_in_python(" (method='jackknife' corrects for it)") if jackknife else ""


def warn_biased(found: xr.Dataset, n_resamples: int, jackknife: bool = True) -> None:
    """Warn of percentile intervals with biased samples, if there are enough samples to tell; as above."""
    if n_resamples >= _MANY:
        biased = abs(found["bias"]) > MUCH_BIAS * found["standard_error"]
        consequence = f"percentile intervals may miss the true value too often{_corrected(jackknife)}"
        warn_where(biased, f"{BIASED}: {consequence}, for", "biased")


def report_given(lost: xr.DataArray, cells: xr.DataArray, spread: xr.DataArray, name: str) -> None:
    if not float(spread) > 0:
        what = "has no value" if np.isnan(float(spread)) else "is constant"
        raise ValueError(f"given {name!r} {what} on the evaluated systems and inputs")
    if int(lost):
        validate.warn(
            f"outputs left out, as given {name!r} is missing there: {int(lost):,} of {int(cells):,}", "cells_left_out"
        )


def warn_of_directions(
    discordant: Mapping[Hashable, float], declared: Sequence[Hashable], name: str, human: Sequence[Hashable] = ()
) -> None:
    """Warn of metrics that seem to be better when lower, and are not `declared` so; or else the `human` scores are."""
    if not discordant:
        return
    texts = [f"{label!r} (r = {r:.2f})" for label, r in discordant.items()]
    if arguments.in_python():
        way = f"declare it by ds = ds.assign_coords(higher_is_better=~ds.metric.isin({[*declared, *discordant]!r}))"
        instead = f"isin({[*declared, *human]!r}) instead"
    else:
        way = arguments.adding("lower_is_better", [*declared, *discordant])
        instead = f"{arguments.given('lower_is_better', [*declared, *human])} instead"
    instead = f"; if low human scores are good, as for errors, {instead}" if human else ""
    validate.warn(
        f"system means of {', '.join(texts[:8])}{', …' if len(texts) > 8 else ''} correlate negatively with the "
        f"human scores {name!r}: if lower is better, {way}{instead}",
        "direction",
    )


def warn_of_formula(formula: str, level: str, shape: tuple[int, int], instead: str) -> None:
    """Warn of a formula for one correlation of independent values, of averages or of outputs that are alike."""
    if level in levels.GROUPS:
        validate.warn(
            f"{formula} treats the average correlation at level={level!r} as one correlation, and one correlation "
            f"varies far more than an average: the test is very conservative (its size at .05 is about 0). Use "
            f"{instead}",
            "average_for_single",
        )
    elif level == "global" and min(shape) > 1:
        validate.warn(
            f"{formula} treats all outputs as independent. Outputs of one system, or of one input, are often alike; "
            f"then intervals are too narrow, and tests are liberal. Use {instead}",
            "outputs_alike",
        )


def warn_of_sentinels(score: xr.DataArray, made_for: Any, level: str) -> None:
    """Warn of sentinels made for another level, where they may know more than they should."""
    if made_for is None or "metric" not in score.indexes:
        return
    wrong = [
        label
        for dim, levels in directions.VARIES.items()
        if (label := f"{directions.SENTINEL}: {dim}") in score.indexes["metric"]
        and (made_for in levels) != (level in levels)
    ]
    if wrong:
        validate.warn(
            f"sentinels that were made for level={made_for!r} mean nothing at level={level!r}: "
            f"{validate.listing(wrong)}; make them by ds.meta.sentinels(gold, level={level!r})",
            "sentinels_level",
        )
