"""Several tasks at once: metrics in order of a weighted average of what each task says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.analyses import correlation, pooling, ranking
from xsumstat.analyses import metric_tests as comparison
from xsumstat.analyses.measure import checked_progress
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.dataset import checks, results
from xsumstat.inference.pvalues import permutation_pvalues
from xsumstat.kernels import swaps as kernels
from xsumstat.resampling import draws, threads
from xsumstat.resampling.jobs import BYTES_AT_ONCE
from xsumstat.types import TOLERANCE, FloatArray

# What a task may ask besides its Dataset and gold.
_KEYWORDS = (
    *("level", "coefficient", "metric", "missing", "undefined", "threshold", "calibrate_on", "pool"),
    *("resample", "crossed", "swap"),
)
# Keywords that `corr` has too.
_OF_CORR = ("level", "coefficient", "metric", "missing", "undefined", "threshold", "calibrate_on", "pool")


@_validate.public
def rank_tasks(
    tasks: Mapping[str, Mapping[str, Any]],
    *,
    weights: Mapping[str, float] | None = None,
    alpha: float = 0.05,
    n_resamples: int = 9999,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Metrics in order of their weighted average over tasks, in clusters, as WMT's metrics task ranks them.

    The tests ask whether two metrics are exchangeable on these systems, by swaps in each task.

    Parameters
    ----------
    tasks : mapping
        From each task's name to what it is: ``ds``, its Dataset, ``gold``, and whatever `perm_test` takes: level,
        coefficient, metric, missing, undefined, threshold, calibrate_on, pool, resample, crossed and swap; and
        ``weight``, what it weighs, at least 0 (default 1). A metric must have one name in all tasks. `wmt_tasks` makes
        WMT's.
    weights : mapping, optional
        What each task weighs, at least 0; default the tasks' own ``weight``.
    {alpha.beats}
    n_resamples : int, default 9999
        Number of random swaps in each task.
    {rng}
        Each task has draws of its own.
    {progress}
        One bar for all tasks.

    Returns
    -------
    Dataset
        Of each task ``correlation``, ``task_rank`` and ``task_cluster`` (metric, task; 1 is best), and its
        ``weight(task)``. Of all together ``average_score(metric)``, between 0 and 1, ``average_rank(metric)``, the
        average of the clusters' numbers, ``rank`` and ``cluster`` (metric) by average score, and ``difference`` and
        ``pvalue`` (metric, other_metric) of the tests that clusters are made of ("greater"). The metrics are in order;
        one that is not in all tasks comes last, without an average.

    Raises
    ------
    ValueError, TypeError
        With the task's name, for an unknown label, dim, level or coefficient, and scores that are not numbers,
        infinite, or all missing; for unknown keywords, and for scores with a further dim that is not pooled, of which
        each label is a task.

    Warns
    -----
    UserWarning
        Which metrics are not in all tasks, and whose undefined correlations count as 0.

    Notes
    -----
    A metric whose correlation is undefined in a task, as that of constant scores, is not in it; with
    ``"undefined": "zero"`` in the task it has the correlation 0 there, which is WMT's rule.

    Correlations between −1 and 1 are brought to 0 to 1, as accuracies are, before they are averaged. Of two metrics the
    averages are compared by the average of the tasks' differences under swaps, drawn in each task independently, of
    which p is ``(1 + #{δ_s ≥ δ − 1e-12})/(k + 1)``. From the best down, a metric starts a new cluster where some member
    of the current one beats it.

    References
    ----------
    Freitag et al. (2023), "Results of WMT23 Metrics Shared Task", §6; Freitag et al. (2024), the same of WMT24.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> outputs = {"ds": ds, "gold": "human", "level": "input", "coefficient": "acc_eq", "resample": "input"}
    >>> tasks = {"systems": {"ds": ds, "gold": "human", "coefficient": "spa"}, "outputs": outputs}
    >>> table = xsumstat.rank_tasks(tasks, n_resamples=99, rng=1)
    >>> table.correlation.to_pandas().round(2)
    task        systems  outputs
    metric
    judge          0.88     0.78
    bertscore      0.83     0.68
    rouge          0.83     0.67
    perplexity     0.76     0.67
    bleu           0.70     0.58
    length         0.68     0.52
    """
    if not isinstance(tasks, Mapping) or not tasks:
        raise TypeError(f"tasks must be a mapping of names to tasks, at least one, got {tasks!r:.80}")
    alpha = _validate.fraction("alpha", alpha)
    n_resamples = _validate.n_draws("n_resamples", n_resamples, 1)
    progress = checked_progress(progress)
    shares = _shares(tasks, weights)
    seed = draws.seed_of(rng)
    requested = {name: _Asked.of(name, task) for name, task in tasks.items()}
    single = {name: task.correlations() for name, task in requested.items()}
    everywhere, elsewhere = _metrics(single)
    tests = _Tests(list(requested.values()), list(single.values()), list(shares.values()), everywhere, elsewhere)
    tests.run(n_resamples, seed, progress)
    ranked = [tests.of_task(at, alpha) for at in range(len(tasks))]
    result = _table(single, ranked, [*everywhere, *elsewhere], list(tasks))
    result = result.assign(weight=("task", np.array(list(shares.values()))))
    attrs: dict[str, Any] = {"analysis": "rank_tasks", "alpha": alpha, "alternative": "greater"}
    attrs |= {"n_resamples": n_resamples, "seed": str(seed)}
    for name in ("n_systems", "n_inputs"):  # where they are the same in all tasks
        of_tasks = {single[task].attrs.get(name) for task in tasks}
        attrs |= {name: of_tasks.pop()} if len(of_tasks) == 1 else {}
    for name in ("level", "coefficient"):
        result = result.assign_coords({name: ("task", [single[task].attrs[name] for task in tasks])})
    return results.result(tests.averaged(result, ranked, alpha), None, **attrs)


def _shares(tasks: Mapping[str, Any], weights: Mapping[str, float] | None) -> dict[str, float]:
    """What each task weighs, all together 1."""
    if weights is None:
        weights = {name: task.get("weight", 1.0) if isinstance(task, Mapping) else 1.0 for name, task in tasks.items()}
    if not isinstance(weights, Mapping) or set(weights) != set(tasks):
        raise ValueError(f"weights must name each task, and no other: {_validate.listing(tasks)}, got {weights!r:.200}")
    found = {name: _validate.number(f"weight of {name!r}", weights[name], 0.0, float("inf")) for name in tasks}
    total = sum(found.values())
    if not 0 < total < float("inf"):
        raise ValueError(f"weights must be finite, and one above 0, got {weights!r:.200}")
    return {name: each / total for name, each in found.items()}


@dataclass(frozen=True)
class _Asked:
    """One task."""

    name: str
    ds: xr.Dataset
    gold: Any
    keywords: dict[str, Any]

    @classmethod
    def of(cls, name: str, task: Mapping[str, Any]) -> _Asked:
        if not isinstance(task, Mapping):
            raise TypeError(f"task {name!r} must be a mapping with a Dataset 'ds', got {type(task).__name__}")
        if not isinstance(task.get("ds"), xr.Dataset):
            raise TypeError(f"task {name!r} must have a Dataset 'ds', got {task.get('ds')!r:.80}")
        keywords = {key: value for key, value in task.items() if key not in ("ds", "gold", "weight")}
        for key in keywords:
            _validate.known(f"keyword of task {name!r}", key, _KEYWORDS, "allowed are ds, gold, weight and")
        return cls(name, task["ds"], task.get("gold"), keywords)

    def correlations(self) -> xr.Dataset:
        """What `corr` says."""
        found = self._said(correlation.corr, {key: self.keywords[key] for key in _OF_CORR if key in self.keywords})
        further = [str(dim) for dim in found["correlation"].dims if dim != "metric"]
        if further:
            raise ValueError(
                f"task {self.name!r} has further dims: {_validate.listing(further)}; make each label a task"
            )
        if not self.counts_as_zero:
            return found
        undefined = found["metric"].values[found["correlation"].isnull().values].tolist()
        if undefined:
            _validate.warn(
                f"task {self.name!r}: an undefined correlation counts as 0, for {_validate.listing(undefined)}",
                "counts_as_zero",
            )
        return found.assign(correlation=found["correlation"].fillna(0.0))

    @property
    def counts_as_zero(self) -> bool:
        """Whether a metric without a correlation, as one with constant scores, has 0 instead."""
        return self.keywords.get("undefined") == "zero"

    def differences(self, rows: list[Any], columns: list[Any], **keywords: Any) -> xr.Dataset:
        """What `perm_test` says of some metrics and others."""
        with _validate.kept_warnings():  # `correlations` gave them
            requested = {**self.keywords, "metric": rows, "other": columns, **keywords}
            return self._said(comparison.perm_test, {**requested, "alternative": "greater", "keep_samples": True})

    def _said(self, question: Any, keywords: dict[str, Any]) -> xr.Dataset:
        with _validate.kept_warnings() as caveats:
            try:
                found: xr.Dataset = question(self.ds, self.gold, **keywords)
            except (ValueError, TypeError) as error:
                raise type(error)(f"task {self.name!r}: {error}") from error
        for caveat in caveats:
            _validate.warn(caveat.of(f"task {self.name!r}"))
        return found.compute()


def _metrics(single: Mapping[str, xr.Dataset]) -> tuple[list[Any], list[Any]]:
    """The metrics that all tasks have a correlation of, in order, and the others."""
    known = list(dict.fromkeys(label for found in single.values() for label in found["metric"].values.tolist()))
    defined = [set(found["metric"].values[found["correlation"].notnull().values].tolist()) for found in single.values()]
    everywhere = [label for label in known if all(label in each for each in defined)]
    elsewhere = [label for label in known if label not in everywhere]
    if len(everywhere) < 2:
        raise ValueError(f"fewer than two metrics are in all tasks; metrics: {_validate.listing(known, 30)}")
    if elsewhere:
        _validate.warn(f"not in all tasks, and without an average: {_validate.listing(elsewhere)}", "not_in_all_tasks")
    return sorted(everywhere, key=str), elsewhere


class _Tests:
    """The tests of all pairs of metrics, in each task and summed over tasks, some rows of the table at a time."""

    def __init__(
        self,
        tasks: list[_Asked],
        single: list[xr.Dataset],
        shares: list[float],
        everywhere: list[Any],
        elsewhere: list[Any],
    ) -> None:
        self.tasks, self.single, self.shares = tasks, single, shares
        self.metrics, self.labels = everywhere, [*everywhere, *elsewhere]
        self.r = [found["correlation"].reindex(metric=self.labels).values for found in single]
        size = len(everywhere)
        self.difference, self.pvalue = np.full((size, size), np.nan), np.full((size, size), np.nan)
        self.own = [np.full((len(self.labels),) * 2, np.nan) for _ in tasks]  # p-values of each task

    def run(self, n_resamples: int, seed: int, progress: bool | None) -> None:
        """Make all tests; the differences of a few rows of the table in all swaps are in memory at once."""
        step = max(1, BYTES_AT_ONCE // (16 * len(self.labels) * n_resamples))
        starts = range(0, len(self.labels), step)
        with threads.one_bar(len(self.tasks) * len(starts), progress) as part:
            for start in starts:
                rows, columns = range(start, min(start + step, len(self.metrics))), range(start, len(self.metrics))
                difference = np.zeros((len(rows), len(columns)))
                samples = np.zeros((*difference.shape, n_resamples))
                for at in range(len(self.tasks)):
                    with part():
                        test = self._tested(at, slice(start, start + step), n_resamples, seed, progress)
                        if test is not None and len(rows):
                            self._add(at, pooling.with_draws(test, seed, at, n_resamples), difference, samples)
                        del test
                self._count(start, difference, samples)

    def _tested(self, at: int, here: slice, n_resamples: int, seed: int, progress: bool | None) -> xr.Dataset | None:
        """The tests of some rows with themselves and those below, of one task."""
        there = [label for label, r in zip(self.labels[here.start :], self.r[at][here.start :], strict=True) if r == r]
        rows = [label for label in self.labels[here] if label in there]
        if not rows or len(there) < 2:
            return None
        rng = np.random.SeedSequence(seed, spawn_key=(at,))
        test = self.tasks[at].differences(rows, there, n_resamples=n_resamples, rng=rng, progress=progress)
        asked = {"metric": checks.as_labels(rows), "other_metric": checks.as_labels(there)}
        test = test.transpose("metric", "other_metric", ...).sel(asked)
        places = [self.labels.index(label) for label in there]
        r = self.r[at][places]
        if self.tasks[at].counts_as_zero:
            whole = xr.DataArray(r[: len(rows), None] - r, dims=("metric", "other_metric"))
            test["difference"] = test["difference"].fillna(whole)
        for row in range(len(rows)):
            samples, observed = test["samples"].values[row, row + 1 :], test["difference"].values[row, row + 1 :]
            counts = np.empty((4, len(observed)), dtype=np.int64)
            kernels.compare(samples, observed, TOLERANCE, counts)
            exact = bool(test.attrs.get("exact"))
            better, worse = permutation_pvalues(observed, counts, samples.shape[1], exact, "greater")
            self.own[at][places[row], places[row + 1 :]] = better
            self.own[at][places[row + 1 :], places[row]] = worse
        return test

    def _add(self, at: int, test: xr.Dataset, difference: FloatArray, samples: FloatArray) -> None:
        """What a task adds to the averages of the metrics that all tasks have."""
        share, (_, span) = self.shares[at], _range_of(self.single[at])
        here = test.isel(metric=slice(len(difference)), other_metric=slice(difference.shape[1]))
        difference += share * here["difference"].values / span
        for row, mine in zip(
            samples, here["samples"].transpose("metric", "other_metric", "resample").values, strict=True
        ):
            row += share * mine / span

    def _count(self, start: int, difference: FloatArray, samples: FloatArray) -> None:
        """p-values of the averages of some rows."""
        for row, (observed, drawn) in enumerate(zip(difference, samples, strict=True)):
            observed, drawn, at = observed[row + 1 :], drawn[row + 1 :], start + row
            counts = np.empty((4, len(observed)), dtype=np.int64)
            kernels.compare(drawn, observed, TOLERANCE, counts)
            better, worse = permutation_pvalues(observed, counts, drawn.shape[1], False, "greater")
            self.pvalue[at, at + 1 :], self.pvalue[at + 1 :, at] = better, worse
            self.difference[at, at + 1 :], self.difference[at + 1 :, at] = observed, -observed

    def of_task(self, at: int, alpha: float) -> xr.Dataset:
        """Ranks and clusters of one task."""
        there = np.flatnonzero(~np.isnan(self.r[at]))
        ranks, clusters = ranking.ranked(self.r[at][there], self.own[at][np.ix_(there, there)], alpha)
        coords = {"metric": np.array(self.labels, dtype=object)[there]}
        return xr.Dataset({"task_rank": ("metric", ranks), "task_cluster": ("metric", clusters)}, coords)

    def averaged(self, table: xr.Dataset, ranked: list[xr.Dataset], alpha: float) -> xr.Dataset:
        """The table with averages, in their order."""
        score, average_rank = np.zeros(len(self.metrics)), np.zeros(len(self.metrics))
        for r, single, found, share in zip(self.r, self.single, ranked, self.shares, strict=True):
            low, span = _range_of(single)
            score += share * (r[: len(self.metrics)] - low) / span
            average_rank += share * found["task_cluster"].sel(metric=checks.as_labels(self.metrics)).values
        ranks, clusters = ranking.ranked(score, self.pvalue, alpha)
        coords = {"metric": np.array(self.metrics, dtype=object)}
        numbers = {"average_score": score, "average_rank": average_rank, "rank": ranks, "cluster": clusters}
        of_each = xr.Dataset({name: ("metric", values) for name, values in numbers.items()}, coords)
        beyond = {"difference": self.difference, "pvalue": self.pvalue}
        pairs = {name: (("metric", "other_metric"), values) for name, values in beyond.items()}
        square = xr.Dataset(pairs, {**coords, "other_metric": coords["metric"]})
        labels = [self.metrics[at] for at in np.argsort(-score, kind="stable")]
        whole = {"metric": np.array([*labels, *self.labels[len(labels) :]], dtype=object)}
        parts = table.reindex(whole), of_each.reindex(whole), square.reindex({**whole, "other_metric": labels})
        found = xr.merge(parts, join="outer", compat="no_conflicts")
        for name in ("rank", "cluster", "task_rank", "task_cluster"):
            found[name] = found[name].fillna(0).astype(int)
        return found


def _range_of(single: xr.Dataset) -> tuple[float, float]:
    """The lowest value of a task's coefficient, and its span; a user's function is taken for a correlation."""
    record = COEFFICIENTS.get(single.attrs["coefficient"])
    low, high = record.bounds if record else (-1.0, 1.0)
    return low, high - low


def _table(
    single: Mapping[str, xr.Dataset], ranked: list[xr.Dataset], metrics: list[Any], tasks: list[str]
) -> xr.Dataset:
    """Correlations, ranks and clusters of all tasks, NaN where a metric is not in one."""
    parts = [
        xr.merge(
            [
                found[["correlation"]].drop_vars([name for name in found.coords if name != "metric"], errors="ignore"),
                more,
            ],
            join="outer",
        )
        for found, more in zip(single.values(), ranked, strict=True)
    ]
    aligned = [part.reindex(metric=metrics) for part in parts]
    index = xr.DataArray(np.array(tasks, dtype=object), dims="task", name="task")
    return xr.concat(aligned, dim=index, join="exact", combine_attrs="drop").transpose("metric", "task")
