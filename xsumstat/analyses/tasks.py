"""Metrics in order of a weighted average over tasks: `rank_tasks`."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import clustering, correlation, pooling, ranking, task_swaps
from xsumstat.analyses import metric_tests as comparison
from xsumstat.analyses.task_averages import Averages, PairSums, in_all_tasks, pvalues_of, weights_of
from xsumstat.analyses.task_swaps import Block, Kept
from xsumstat.catalogue import ALL
from xsumstat.catalogue.variables import BASELINES
from xsumstat.core import validate
from xsumstat.core.caveats import Caveat
from xsumstat.core.labels import labels_along
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.dataset import checks, chunking, directions, facts, golds, left_out, locate, results, wording
from xsumstat.dataset.value_checks import Checks
from xsumstat.resampling import draws, threads
from xsumstat.resampling.jobs import BYTES_AT_ONCE

# What a task may ask besides its Dataset and gold: keywords that `corr` has too, and others of `perm_test`.
_OF_CORR = ("level", "coefficient", "metric", "missing", "undefined", "threshold", "calibrate_on", "pool")
_KEYWORDS = (*_OF_CORR, "resample", "crossed", "swap", "cluster")
# What a task is about, which `subset` and others choose by; a task without it is about all.
ABOUT = ("language_pair", "domain")
_MOST_NAMED = 3  # tasks in a warning of several


@validate.public
def rank_tasks(
    tasks: Mapping[str, Mapping[str, Any]],
    *,
    weights: Mapping[str, float] | None = None,
    alpha: float = 0.05,
    n_resamples: int = 9999,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    keep_samples: bool = False,
    progress: bool | None = None,
) -> xr.Dataset:
    """Rank metrics by their weighted average over tasks, in clusters, as WMT does.

    Parameters
    ----------
    tasks : mapping
        Names and tasks, e.g. by `wmt_tasks`: mappings with ``ds``, ``gold``, keywords of `perm_test` (level,
        coefficient, metric, missing, undefined, threshold, calibrate_on, pool, resample, crossed, swap, cluster),
        ``weight`` (default 1) and the labels ``language_pair`` and ``domain``. A metric must have one name in all
        tasks.
    weights : mapping, optional
        Weight of each task, at least 0. Default: the tasks' own ``weight``.
    {alpha.beats}
    n_resamples : int, default 9999
        Number of random swaps in each task.
    {rng}
        The draws of a task depend only on the seed, its language pair, and its numbers of systems and inputs.
    keep_samples : bool, default False
        Add ``samples(task, pair, resample)`` and ``task_difference(task, metric, other_metric)``, which `subset` and
        `ranks_by` need. Each pair is kept once, as ``pair_metric`` less ``pair_other_metric``: 4 bytes × tasks ×
        metrics² × `n_resamples`.
    {progress}

    {dataset}
        In order of the average: ``correlation``, ``task_rank`` and ``task_cluster`` (metric, task), ``weight(task)``;
        ``average_score`` (0 to 1), ``average_rank``, ``rank`` and ``cluster`` (metric); ``difference`` and ``pvalue``
        (metric, other_metric), "greater"; of accuracies ``baseline`` and ``baseline_constant`` (metric, task). Metrics
        that are not in all tasks come last. The coordinates ``level``, ``coefficient``, ``gold``, ``language_pair`` and
        ``domain`` describe tasks; "all" if a task names none.

    Notes
    -----
    Null hypothesis: two metrics are exchangeable on these systems, by swaps in each task. Tasks of one language pair
    with as many systems and inputs, as several criteria, have the same swaps; WMT's code has others for each. A metric
    without a correlation in a task is not in it; with ``"undefined": "zero"`` it has 0 there, which is WMT's rule.
    Clusters are made as by `rank`. The answer is computed at once. Lazy (Dask) scores are loaded task by task, so one
    task's scores must fit into memory. Sources: Freitag et al. (2023), "Results of WMT23 Metrics Shared Task", §6;
    Freitag et al. (2024).

    {demo}
    >>> outputs = {"ds": ds, "gold": "human", "level": "input", "coefficient": "acc_eq", "metric": ["judge", "bleu"]}
    >>> tasks = {"systems": {**outputs, "level": "system", "coefficient": "spa"}, "outputs": outputs}
    >>> xsumstat.rank_tasks(tasks, n_resamples=99, rng=1).average_score.to_series().round(2).to_dict()
    {'judge': 0.83, 'bleu': 0.64}
    """
    if not isinstance(tasks, Mapping) or not tasks:
        raise TypeError(f"tasks must be a mapping of names to tasks, at least one, got {tasks!r:.80}")
    alpha = validate.fraction("alpha", alpha)
    n_resamples = validate.n_draws("n_resamples", n_resamples, 1)
    keep_samples = validate.flag("keep_samples", keep_samples)
    shares = _shares(tasks, weights)
    seed = draws.seed_of(rng)
    requested = {name: _Asked.of(name, task) for name, task in tasks.items()}
    single, told = _correlations(requested)
    _warn_of_documents(requested)
    _warn_of_other_inputs(requested)
    everywhere, elsewhere = _metrics(single)
    tests = _Tests(list(requested.values()), list(single.values()), list(shares.values()), everywhere, elsewhere)
    kept = Kept.of(len(tasks), tests.labels, n_resamples) if keep_samples else None
    tests.run(n_resamples, seed, progress, kept)
    if kept is not None:
        task_swaps.average(tests.averages, n_resamples, kept.swaps_of)
    ranked = [tests.of_task(at, alpha) for at in range(len(tasks))]
    table = _table(single, ranked, tests.labels, list(tasks)).assign_coords(_about(requested))
    table = table.assign_coords(_directions(single, tests.labels))
    result = tests.averages.table(table.assign(weight=("task", np.array(list(shares.values())))), alpha)
    result = result if kept is None else kept.beside(result)
    attrs: dict[str, Any] = {"analysis": "rank_tasks", "alpha": alpha, "alternative": "greater"}
    attrs |= {"n_resamples": n_resamples, "seed": str(seed)}
    clusters = {str(task.keywords["cluster"]) for task in requested.values() if "cluster" in task.keywords}
    attrs |= {"cluster": " ".join(sorted(clusters))} if clusters else {}
    fewer = [str(caveat) for caveat in told if caveat.code == left_out.FEWER]
    more = ["and so on"] if len(fewer) > _MOST_NAMED else []
    attrs |= {left_out.FEWER: "; ".join([*fewer[:_MOST_NAMED], *more])} if fewer else {}
    for name in ("n_systems", "n_inputs"):  # where they are the same in all tasks
        of_tasks = {single[task].attrs.get(name) for task in tasks}
        attrs |= {name: of_tasks.pop()} if len(of_tasks) == 1 else {}
    for name in ("level", "coefficient", "gold"):
        result = result.assign_coords({name: ("task", [str(single[task].attrs[name]) for task in tasks])})
    for name in (left_out.OUTPUTS, left_out.INPUTS):
        counts = [single[task].attrs.get(name, "") for task in tasks]
        result = result.assign_coords({name: ("task", counts)}) if any(counts) else result
    return results.result(result, None, **attrs)


def _correlations(tasks: Mapping[str, _Asked]) -> tuple[dict[str, xr.Dataset], list[Caveat]]:
    """The correlations of each task, and warnings; what several tasks warn of alike is told once, with their names."""
    found: dict[str, xr.Dataset] = {}
    told: list[Caveat] = []
    said: dict[tuple[str, str], list[tuple[str, Caveat]]] = {}
    try:
        for name, task in tasks.items():
            with validate.kept_warnings() as caveats:
                found[name] = task.correlations()
            for caveat in caveats:
                said.setdefault((caveat.code, caveat.removeprefix(task.named)), []).append((name, caveat))
    finally:
        for (_, text), of_tasks in said.items():
            names, (caveat, *others) = zip(*of_tasks, strict=True)
            if others:
                caveat = caveat.said(f"tasks {wording.listed(map(repr, names), _MOST_NAMED)}{text}")
            validate.warn(caveat)
            told.append(caveat)
    return found, told


def _warn_of_documents(tasks: Mapping[str, _Asked]) -> None:
    """Warn once of tasks whose inputs come from common documents that swaps do not keep together."""
    for task in tasks.values():
        with validate.kept_warnings() as caveats:
            if "cluster" not in task.keywords and task.keywords.get("resample") != "system":
                way = "in a task 'cluster': {name!r} keeps {unit}s together"
                clustering.warn_of_documents(locate.checked_scores(task.ds), ("input",), way)
        if caveats:
            validate.warn(caveats[0].of(f"{task.named} (and perhaps others)" if len(tasks) > 1 else task.named))
            return


def _warn_of_other_inputs(tasks: Mapping[str, _Asked]) -> None:
    """Warn of tasks on the same scores with human scores of other inputs, whose swaps cannot be the same."""
    rated: dict[tuple[Any, ...], dict[bytes, str]] = {}
    for name, task in tasks.items():
        score = locate.checked_scores(task.ds)
        human = golds.find_gold(task.ds, score, task.gold)[0]
        if chunking.is_lazy(score) or chunking.is_lazy(human) or "input" not in human.dims or "pool" in task.keywords:
            continue
        there = human.notnull().any([dim for dim in human.dims if dim != "input"]).values
        outputs = task.stream, *labels_along(score, "input")
        rated.setdefault(outputs, {}).setdefault(there.tobytes(), name)
    apart = next((list(names.values()) for names in rated.values() if len(names) > 1), None)
    if apart is not None:
        validate.warn(
            f"tasks {apart[0]!r} and {apart[1]!r} have human scores on other inputs. Their swaps differ, and tests of "
            "averages are liberal: keep the inputs that all have",
            "other_inputs",
        )


def _about(tasks: Mapping[str, _Asked]) -> dict[str, tuple[str, Any]]:
    found = {name: [task.about.get(name, ALL) for task in tasks.values()] for name in ABOUT}
    named = {name for task in tasks.values() for name in task.about}
    coords = {name: ("task", np.array(labels, dtype=object)) for name, labels in found.items() if name in named}
    lost = [", ".join(map(str, left_out.systems_of(task.ds))) for task in tasks.values()]
    return coords | ({left_out.SYSTEMS: ("task", np.array(lost, dtype=object))} if any(lost) else {})


def _directions(single: Mapping[str, xr.Dataset], metrics: list[Any]) -> dict[str, Any]:
    """Which metrics are better when higher, if one is not."""
    better = [found[directions.NAME] for found in single.values() if directions.NAME in found.coords]
    lower = {label for each in better for label in each["metric"].values[~directions.as_bool(each).values].tolist()}
    return {directions.NAME: ("metric", [label not in lower for label in metrics])} if lower else {}


def _shares(tasks: Mapping[str, Any], weights: Mapping[str, float] | None) -> dict[str, float]:
    if weights is None:
        weights = {name: task.get("weight", 1.0) if isinstance(task, Mapping) else 1.0 for name, task in tasks.items()}
    found = dict(zip(tasks, weights_of(list(tasks), weights, "task"), strict=True))
    total = sum(found.values())
    if not 0 < total < float("inf"):
        raise ValueError(f"weights must be finite, and one above 0, got {weights!r:.200}")
    return {name: each / total for name, each in found.items()}


@dataclass(frozen=True)
class _Asked:
    name: str
    ds: xr.Dataset
    gold: Any
    keywords: dict[str, Any]
    about: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, task: Mapping[str, Any]) -> _Asked:
        if not isinstance(task, Mapping):
            raise TypeError(f"task {name!r} must be a mapping with a Dataset 'ds', got {type(task).__name__}")
        if isinstance(task, xr.Dataset):
            raise TypeError(
                f"task {name!r} is a Dataset, and must be a mapping: xsumstat.wmt_tasks(...) makes the tasks of WMT's "
                f"language pairs, or {{{name!r}: {{'ds': ds, 'gold': 'human'}}}}"
            )
        if not isinstance(task.get("ds"), xr.Dataset):
            raise TypeError(f"task {name!r} must have a Dataset 'ds', got {task.get('ds')!r:.80}")
        keywords = {key: value for key, value in task.items() if key not in ("ds", "gold", "weight", *ABOUT)}
        for key in keywords:
            allowed = f"allowed are ds, gold, weight, {', '.join(ABOUT)} and"
            validate.known(f"keyword of task {name!r}", key, _KEYWORDS, allowed)
        about = {key: task[key] for key in ABOUT if key in task}
        for key, label in about.items():
            if not isinstance(label, str) or not label:
                raise TypeError(f"{key} of task {name!r} must be a name, got {label!r:.80}")
        return cls(name, task["ds"], task.get("gold"), keywords, about)

    def loaded(self) -> _Asked:
        """The task with lazy scores computed."""
        lazy = [name for name in ("score", self.gold) if isinstance(name, str) and name in self.ds.data_vars]
        lazy = [name for name in lazy if chunking.is_lazy(self.ds[name])]
        lazy_gold = isinstance(self.gold, xr.DataArray) and chunking.is_lazy(self.gold)
        if not (lazy or lazy_gold):
            return self
        ds = self.ds.assign({name: self.ds[name].compute() for name in lazy})
        return replace(self, ds=ds, gold=self.gold.compute() if lazy_gold else self.gold)

    @property
    def named(self) -> str:
        return f"task {self.name!r}"

    @functools.cached_property
    def stream(self) -> int:
        """A number from the language pair and the numbers of systems and inputs with scores, which must be in memory.

        So tasks on the same outputs swap their scores together, and do not seem to confirm each other; and the swaps of
        a task depend neither on other tasks nor on names.
        """
        there = locate.checked_scores(self.ds).notnull()
        dims = [*facts.CELLS, *([self.keywords["pool"]] if "pool" in self.keywords else [])]
        sizes = [int(there.any([each for each in there.dims if each != dim]).sum()) for dim in dims]
        told = repr([self.about.get("language_pair"), *sizes])
        return int.from_bytes(hashlib.sha256(told.encode()).digest()[:8], "big")

    @property
    def n_pooled(self) -> int:
        """Number of labels whose swaps are in memory together."""
        pool = self.keywords.get("pool")
        return int(self.ds.sizes[pool]) if pool is not None else 1

    def correlations(self) -> xr.Dataset:
        found = self.loaded()._said(
            correlation.corr, {key: self.keywords[key] for key in _OF_CORR if key in self.keywords}
        )
        further = [str(dim) for dim in found["correlation"].dims if dim != "metric"]
        if further:
            raise ValueError(
                f"task {self.name!r} has additional dims: {validate.listing(further)}; make each label a task"
            )
        if not self.counts_as_zero:
            return found
        undefined = found["metric"].values[found["correlation"].isnull().values].tolist()
        if undefined:
            validate.warn(
                f"task {self.name!r}: an undefined correlation counts as 0, for {validate.listing(undefined)}",
                "counts_as_zero",
            )
        return found.assign(correlation=found["correlation"].fillna(0.0))

    @property
    def counts_as_zero(self) -> bool:
        return self.keywords.get("undefined") == "zero"

    def differences(self, rows: list[Any], columns: list[Any], **keywords: Any) -> xr.Dataset:
        with validate.kept_warnings():  # `correlations` gave them
            requested = {**self.keywords, "metric": rows, "other": columns, **keywords}
            return self._said(comparison.perm_test, {**requested, "alternative": "greater", "keep_samples": True})

    def _said(self, question: Any, keywords: dict[str, Any]) -> xr.Dataset:
        asked = functools.partial(question, self.ds, self.gold, **keywords)
        found: xr.Dataset = pooling.answer(asked, self.named, Checks())
        return found.compute()


def _metrics(single: Mapping[str, xr.Dataset]) -> tuple[list[Any], list[Any]]:
    known = list(dict.fromkeys(label for found in single.values() for label in found["metric"].values.tolist()))
    defined = [set(found["metric"].values[found["correlation"].notnull().values].tolist()) for found in single.values()]
    return in_all_tasks(known, [label for label in known if all(label in each for each in defined)])


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
        self.tasks, self.labels = tasks, [*everywhere, *elsewhere]
        r = np.array([found["correlation"].reindex(metric=self.labels).values for found in single])
        asked = [found.attrs["coefficient"] for found in single]
        self.averages = Averages(r, asked, np.array(shares), self.labels, len(everywhere))
        self.own = [np.full((len(self.labels),) * 2, np.nan) for _ in tasks]  # p-values of each task

    def run(self, n_resamples: int, seed: int, progress: bool | None, kept: Kept | None) -> None:
        """Make all tests; a lazy task's scores are in memory while it is tested, once for each block of pairs."""
        size = len(self.labels)
        parts = list(task_swaps.blocks(size, n_resamples)) if kept is None else [task_swaps.all_pairs(size)]
        with threads.one_bar(len(self.tasks) * len(parts), progress) as bar:
            for block in parts:
                sums = kept or PairSums(self.averages, *block.pairs(), n_resamples)
                for at in range(len(self.tasks)):
                    with bar():
                        for found in self._of_block(at, block, n_resamples, seed, progress):
                            sums.take(at, *found)
                if isinstance(sums, PairSums):
                    sums.count()

    def _of_block(
        self, at: int, block: Block, n_resamples: int, seed: int, progress: bool | None
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray, FloatArray]]:
        """One task's tests of some pairs: places of metrics, differences and their swaps, a few pairs at a time."""
        task = self.tasks[at].loaded()
        at_once = max(1, BYTES_AT_ONCE // (16 * n_resamples * task.n_pooled))
        few = list(block.cut(at_once))
        with threads.one_bar(len(few), progress) as bar:
            for some in few:
                with bar():
                    found = self._tested(at, task, some, n_resamples, seed, progress)
                if found is not None:
                    yield found

    def _tested(
        self, at: int, task: _Asked, some: Block, n_resamples: int, seed: int, progress: bool | None
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray] | None:
        r = self.averages.r[at]
        rows, columns = (np.array([place for place in places if r[place] == r[place]], dtype=int)
                         for places in (some.rows, some.columns))  # fmt: skip
        row, column = np.nonzero(rows[:, None] < columns)
        if not len(row):
            return None
        labels = [[self.labels[place] for place in places] for places in (rows, columns)]
        rng = np.random.SeedSequence(seed, spawn_key=(task.stream,))
        test = task.differences(*labels, n_resamples=n_resamples, rng=rng, progress=progress)
        test = test.transpose("metric", "other_metric", ...)
        test = test.sel(metric=checks.as_labels(labels[0]), other_metric=checks.as_labels(labels[1]))
        difference, samples = (test[name].values[row, column] for name in ("difference", "samples"))
        rows, columns = rows[row], columns[column]
        if task.counts_as_zero:
            difference = np.where(np.isnan(difference), r[rows] - r[columns], difference)
        better, worse = pvalues_of(difference, samples, exact=bool(test.attrs.get("exact")))
        self.own[at][rows, columns], self.own[at][columns, rows] = better, worse
        drawn = pooling.with_draws(
            xr.Dataset({"samples": (("pair", "resample"), samples)}), seed, task.stream, n_resamples
        )
        return rows, columns, difference, drawn["samples"].values

    def of_task(self, at: int, alpha: float) -> xr.Dataset:
        r = self.averages.r[at]
        there = np.flatnonzero(~np.isnan(r))
        ranks, clusters = ranking.ranked(r[there], self.own[at][np.ix_(there, there)], alpha)
        coords = {"metric": np.array(self.labels, dtype=object)[there]}
        return xr.Dataset({"task_rank": ("metric", ranks), "task_cluster": ("metric", clusters)}, coords)


def _table(
    single: Mapping[str, xr.Dataset], ranked: list[xr.Dataset], metrics: list[Any], tasks: list[str]
) -> xr.Dataset:
    baselines = [name for name in BASELINES if any(name in found for found in single.values())]
    parts = []
    for found, more in zip(single.values(), ranked, strict=True):
        own = found[["correlation"]].drop_vars([name for name in found.coords if name != "metric"], errors="ignore")
        for name in baselines:  # NaN in a task whose coefficient has none
            own[name] = "metric", found[name].values if name in found else np.full(found.sizes["metric"], np.nan)
        parts.append(xr.merge([own, more], join="outer"))
    aligned = [part.reindex(metric=metrics) for part in parts]
    index = xr.DataArray(np.array(tasks, dtype=object), dims="task", name="task")
    return xr.concat(aligned, dim=index, join="exact", combine_attrs="drop").transpose("metric", "task")
