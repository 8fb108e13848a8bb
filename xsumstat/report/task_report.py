"""A shared task from its folder to the ranking: one's own metrics beside all, all tasks, clusters, table, page."""

from __future__ import annotations

import inspect
import os
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.analyses import tasks as ranking_of_tasks
from xsumstat.analyses import wmt_data, wmt_tasks
from xsumstat.core import arguments, validate
from xsumstat.dataset import wording
from xsumstat.io import dumps, result_frames, result_tables, task_folders
from xsumstat.narrative import conclusions, methods
from xsumstat.plots import rankings
from xsumstat.report import report_data, report_page, report_pictures, text_tables
from xsumstat.resampling import draws

_DIGITS = 3
_MOST_DRAWN = 12  # tasks in a picture


@dataclass(frozen=True, eq=False, repr=False)
class TaskReport(report_page.Page):
    """A ranking of metrics over the tasks of a shared task; a page in a notebook, text where it is printed.

    Attributes
    ----------
    name : str
        The test set.
    table : Dataset
        What `rank_tasks` gave.
    tasks : dict of str to dict
        What `wmt_tasks` gave.
    scores : dict of str to Dataset
        The scores of segments of each language pair, one's own metrics among them.
    new : tuple of str
        One's own metrics, as the table calls them.
    notes : tuple of str
        Warnings that came with the numbers.
    data : tuple of (str, str)
        What the scores are.
    code : str
        Python that gives the same numbers.
    """

    question = "Which metric is best?"

    name: str
    table: xr.Dataset
    tasks: dict[str, dict[str, Any]]
    scores: dict[str, xr.Dataset]
    new: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    data: tuple[tuple[str, str], ...] = ()
    code: str = ""

    def verdict(self) -> list[str]:
        """The clusters, and where one's own metrics stand, in sentences."""
        return [*(_standing(self.table, name) for name in self.new), " ".join(conclusions.sentences(self.table))]

    def paper(self) -> list[str]:
        """What was done, in sentences for a paper."""
        return [methods.methods(self.table)]

    def about(self) -> str:
        """How the numbers were made, in one to three sentences."""
        a = self.table.attrs
        how = f"{wording.made(self.table)}; alpha {wording.setting(a['alpha'])}; seed {a['seed']}"
        return " ".join(filter(None, [f"{how}; xsumstat {a['xsumstat_version']}.", wording.averaging(self.table)]))

    def ranking(self) -> pd.DataFrame:
        """The table as it is printed: average, rank and cluster, and of each task the value and the cluster."""
        table = result_tables.table(self.table, None, float(self.table.attrs["alpha"]), _DIGITS)
        rows = [[cell.text for cell in row] for row in table.rows]
        shown = pd.DataFrame(rows, columns=[column.text for column in table.columns])
        kinds = self.submissions()
        if kinds:
            shown.insert(1, "submission", [kinds.get(name, "") for name in shown.iloc[:, 0]])
        return shown

    def submissions(self) -> dict[str, str]:
        """What each metric was in the task: "primary", "baseline", "contrastive" or "new"; empty if that is unknown."""
        marked = (task["ds"] for task in self.tasks.values() if "submission" in task["ds"].coords)
        pairs = ((ds["metric"].values.tolist(), ds["submission"].values.tolist()) for ds in marked)
        return {
            wording.shortened(label): kind for labels, kinds in pairs for label, kind in zip(labels, kinds, strict=True)
        }

    def text(self, width: int = 100) -> str:
        """The ranking as plain text, about `width` characters wide."""
        said = [*self.verdict(), f"{wording.printable(self.name)}: {self.about()}"]
        return "\n\n".join(
            [*(textwrap.fill(wording.printable(each), width) for each in said), *_blocks(self.ranking(), width)]
        )

    def _answers(self, top: int) -> list[str]:
        about = "Average, rank and cluster; of each task the value, and its cluster in parentheses"
        parts = [*self._warnings(top), report_page.heading(top, "Metrics, best first")]
        parts.append(report_page.table(about, self.ranking(), labelled=True))
        return [*parts, *(f"{report_pictures.figure(*picture)}\n" for picture in self.pictures())]

    def pictures(self) -> list[tuple[Any, str, str]]:
        """The table as WMT prints it, if it fits: drawing, label and text."""
        if self.table.sizes["task"] > _MOST_DRAWN:
            return []
        small = report_pictures.shortened(self.table)
        label = "Metrics and tasks: cluster and value"
        return [(lambda: rankings.tasks(small), label, f"{label}. {' '.join(conclusions.sentences(self.table))}")]

    def dump(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write scores and results as tab-separated tables.

        Parameters
        ----------
        folder : path
            Made where it is not there; files of these names in it are replaced.

        Returns
        -------
        list of Path
            ``scores.PAIR.tsv``, a row for each output and a column for each metric; ``metrics.tsv``, averages, ranks
            and clusters; ``tasks.tsv``, a row for each metric and task; ``tests.tsv``, a row for each pair of metrics.
        """
        path = validate.path("folder", folder)
        dumps.check_folder(path, "folder")
        return dumps.write(path, self.frames())

    def frames(self) -> dict[str, pd.DataFrame]:
        """The tables that `dump` writes, by the names of their files."""
        of_tasks = self.table[["correlation", "task_rank", "task_cluster"]]
        weight = self.table["weight"].to_series().rename("weight")
        of_each = of_tasks.to_dataframe().reset_index().join(weight, on="task")
        return {
            **{f"scores.{pair}": dumps.scores(ds) for pair, ds in self.scores.items()},
            "metrics": result_frames.to_frame(self.table),
            "tasks": of_each,
            "tests": result_frames.to_frame(self.table[["pvalue", "difference"]]),
        }


@validate.public
def shared_task(
    folder: str | os.PathLike[str],
    metric_files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    *,
    language_pair: str | Iterable[str] | None = None,
    rules: str | None = None,
    gold: str | Mapping[str, str] | None = None,
    reference: str | Mapping[str, str] | None = None,
    leave_out: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    lower_is_better: str | Iterable[str] = (),
    primary: bool = False,
    alpha: float = 0.05,
    n_resamples: int = 9999,
    rng: int | np.random.SeedSequence | np.random.Generator | None = 0,
    keep_samples: bool = False,
    progress: bool | None = None,
) -> TaskReport:
    """Rank the metrics of a shared task's folder together with your own: all tasks, clusters, table and page.

    Parameters
    ----------
    folder : str or Path
        A test set in the layout of mt-metrics-eval, such as "mt-metrics-eval-v2/wmt24".
    metric_files : str, Path or several, optional
        Scores of additional metrics: files ``NAME-REF.seg.score``, or folders of such files. The language pair is the
        name of the file's folder, or precedes the name (``en-de.NAME-REF.seg.score``), or the lines fit only one.
        Rules with system scores use ``NAME-REF.sys.score`` or else means of segments.
    language_pair : str or list of str, optional
        Default: those in WMT's ranking (MQM), 2022 to 2024; otherwise all with human scores.
    rules : {"wmt22", "wmt23", "wmt24", "wmt25"}, optional
        The year whose tasks apply; default the folder's name.
    gold, reference : str or mapping, optional
        Human scores, and the reference of the ranked metrics, for all pairs or by pair; default WMT's.
    leave_out : list of str or mapping, optional
        Systems to leave out, for all pairs or by pair; default WMT's outliers.
    lower_is_better : str or list of str, optional
        Metrics that are better when lower, by label or by base name.
    primary : bool, default False
        Rank only primary submissions, baselines and your own metrics.
    {alpha.beats}
    n_resamples : int, default 9999
        Number of random swaps in each task.
    rng : None, int, SeedSequence or Generator, default 0
        Source of the draws; the same seed gives the same numbers.
    keep_samples : bool, default False
        Keep the swaps, for averages over a part of the tasks.
    {progress}

    Returns
    -------
    TaskReport
        Shown as a page in a notebook; ``str()`` gives text, ``.save("ranking.html")`` writes the page,
        ``.dump("folder")`` writes TSV. ``.table`` is the result of `rank_tasks`, ``.tasks`` of `wmt_tasks`.

    Raises
    ------
    FileNotFoundError, ValueError, TypeError
        For a folder that is not a test set, a file that fits no language pair, and a metric with another reference.

    Warns
    -----
    MetaEvaluationWarning
        The warnings of `read_mtme`, `add_metric`, `wmt_tasks` and `rank_tasks`; the page repeats them.

    Examples
    --------
    >>> import tempfile, xsumstat
    >>> ds = xsumstat.load_dataset("demo").drop_sel(metric="perplexity")
    >>> ds = ds.assign_coords(reference=("metric", ["refA"] * 6))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = ds.meta.to_mtme(folder, "mine", "en-en")
    ...     answers = xsumstat.shared_task(path, rules="wmt24", n_resamples=99)
    >>> answers.table.cluster.to_series().head(3).to_dict()
    {'judge': 1, 'bertscore': 2, 'rouge': 2}
    """
    root = task_folders.checked(folder)
    files = [] if metric_files is None else validate.paths("metric_files", metric_files)
    rules = _rules(root, rules)
    pairs = _pairs(root, language_pair)
    lower = validate.several("lower_is_better", lower_is_better, "a metric or several")
    seed = draws.seed_of(rng)
    with validate.kept_warnings() as caveats:
        read = task_folders.read(root, pairs, files, beside=wmt_tasks.BESIDE[rules], lower_is_better=lower)
        settings: dict[str, Any] = {"gold": gold, "reference": reference, "leave_out": leave_out, "primary": primary}
        parts = {name: _with_gold(read, granularity, rules, gold) for name, granularity in _PARTS.items()}
        beside: dict[str, Any] = {name: each or None for name, each in parts.items()}
        tasks = wmt_tasks.wmt_tasks(read.segments, rules, **settings, **beside)
        new = _labels(read, tasks)
        drawn: dict[str, Any] = {"n_resamples": n_resamples, "rng": seed, "keep_samples": keep_samples}
        table = ranking_of_tasks.rank_tasks(tasks, alpha=alpha, **drawn, progress=progress)
    notes = tuple(dict.fromkeys(caveats))
    for note in notes:
        validate.warn(note)
    asked = {"language_pair": language_pair, "rules": None if rules == root.name else rules, **settings}
    asked |= {"lower_is_better": lower or (), "alpha": alpha, "keep_samples": keep_samples}
    asked |= {"n_resamples": n_resamples, "rng": seed}
    code = _code(root, files, asked)
    return TaskReport(root.name, table, tasks, read.segments, new, notes, _about(root, read, tasks, table), code)


_PARTS = {"systems": "sys", "domains": "domain"}  # what `wmt_tasks` calls scores of these granularities


def _rules(root: Path, rules: Any) -> str:
    """Whose tasks: those asked for, or those of the test set's name."""
    if rules is None and root.name not in wmt_tasks.YEARS:
        raise ValueError(
            f"the folder {root.name!r} is not named after one of {validate.listing(wmt_tasks.YEARS)}: name the year "
            f"whose tasks apply, e.g. {arguments.given('rules', 'wmt24')}"
        )
    return validate.choice("rules", root.name if rules is None else rules, wmt_tasks.YEARS)


def _pairs(root: Path, asked: Any) -> list[str]:
    """The language pairs that are ranked."""
    there = task_folders.language_pairs(root)
    if not there:
        raise ValueError(f"{root} has no language pair with scores of segments by people and by metrics")
    if asked is None:
        return [pair for pair in wmt_data.RANKED.get(root.name, ()) if pair in there] or there
    pairs = validate.several("language_pair", asked, "a language pair, as 'en-de', or several")
    if not pairs:
        raise ValueError(
            f"{arguments.name('language_pair')} names no language pair; {root.name} has {validate.listing(there)}"
        )
    for pair in pairs:
        validate.known("language_pair", pair, there, f"{root.name} has")
    return list(dict.fromkeys(pairs))


def _with_gold(read: task_folders.TaskScores, granularity: str, rules: str, gold: Any) -> dict[str, xr.Dataset]:
    """Scores of systems, or domains, of the pairs whose gold has such."""
    found = {}
    for pair, ds in read.by_granularity.get(granularity, {}).items():
        own = gold.get(pair) if isinstance(gold, Mapping) else gold
        if wmt_tasks.gold_of(pair, read.segments[pair], own, rules) in ds.indexes["metric"]:
            found[pair] = ds
    return found


def _labels(read: task_folders.TaskScores, tasks: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """What the tasks call new metrics; each has a task."""
    found: dict[str, None] = {}
    ranked = {pair: next(task["ds"] for name, task in tasks.items() if name.split()[0] == pair) for pair in read.new}
    for pair, names in read.new.items():
        known = read.segments[pair]
        for name in names:
            one = known.sel(metric=name)
            base, reference = str(one["base"].item()), str(one["reference"].item())
            here = ranked[pair]
            at = (here["base"] == base) & (here["reference"] == reference)
            labels = here["metric"].values[at.values].tolist()
            if not labels:
                others = sorted({str(each) for each in here["reference"].values} - {"", "src"})
                raise ValueError(
                    f"{name} compares with {reference!r}, and {pair} ranks metrics of {validate.listing(others)} or "
                    f"without a reference; {arguments.given('reference', {pair: reference})} ranks those of "
                    f"{reference!r}"
                )
            found[labels[0]] = None
    return tuple(found)


def _standing(table: xr.Dataset, label: str) -> str:
    """Where a metric stands, and which metrics are significantly better or worse."""
    own = table.sel(metric=label)
    if not int(own["rank"]):
        return f"{wording.name(label)} is not in all tasks, and has no average."
    alpha = float(table.attrs["alpha"])
    ranked = [other for other in table["other_metric"].values.tolist() if other != label]
    pvalue = table["pvalue"]
    better = [other for other in ranked if float(pvalue.sel(metric=other, other_metric=label)) <= alpha]
    worse = [other for other in ranked if float(pvalue.sel(metric=label, other_metric=other)) <= alpha]
    place = f"{wording.name(label)} has rank {int(own['rank'])} of {len(ranked) + 1}, cluster {int(own['cluster'])}"
    said = [f"{place}, average {wording.number(float(own['average_score']), _DIGITS)}."]
    for what, others in (("better", better), ("worse", worse)):
        said.append(f"Significantly {what}: {wording.listed(others) if others else 'none'}.")
    return " ".join(said)


def _about(
    root: Path, read: task_folders.TaskScores, tasks: Mapping[str, Mapping[str, Any]], table: xr.Dataset
) -> tuple[tuple[str, str], ...]:
    """What the scores are, as (about what, text)."""
    rows = []
    for pair in read.segments:
        of_pair = [task for name, task in tasks.items() if name.split()[0] == pair]
        ds, gold = of_pair[0]["ds"], of_pair[0]["gold"]
        rated = int(ds["score"].sel(metric=gold).notnull().any("system").sum())
        sizes = f"{ds.sizes['system']:,} systems, {ds.sizes['input']:,} segments ({rated:,} with human scores)"
        ranked = {label for task in of_pair for label in task["ds"].indexes["system"]}
        lacking = [each for each in read.segments[pair]["system"].values.tolist() if each not in ranked]
        left_out = f"; left out: {wording.listed(lacking, most=30)}" if lacking else ""
        text = f"{sizes}, {ds.sizes['metric'] - 1:,} metrics; human scores {wording.name(gold)}{left_out}"
        rows.append((pair, text))
    others = [pair for pair in task_folders.language_pairs(root) if pair not in read.segments]
    rows.append(("other language pairs", f"{wording.listed(others, most=30)}, not ranked" if others else "none"))
    rows.append(("tasks", f"{table.sizes['task']:,}"))
    own = list(dict.fromkeys(name for names in read.new.values() for name in names))
    rows.append(("own metrics", wording.listed(own) if own else "none"))
    return tuple(rows)


def _code(root: Path, files: Sequence[Path], asked: Mapping[str, Any]) -> str:
    """Python that gives the same numbers; keywords at their defaults are left out."""
    given = [repr(str(root))]
    given += [repr([str(file) for file in files])] if files else []
    usual = inspect.signature(shared_task).parameters
    given += [f"{name}={value!r}" for name, value in asked.items() if value != usual[name].default]
    call = report_data.call("xsumstat.shared_task", given)
    return f"import xsumstat\n\nanswers = {call}\nanswers.table"


def _blocks(table: pd.DataFrame, width: int) -> list[str]:
    """A table as text, its columns in blocks that are as wide; each begins with the first column."""
    texts = {name: [str(name), *map(str, table[name])] for name in table}
    widths = {name: max(map(len, cells)) for name, cells in texts.items()}
    first, *others = texts
    blocks: list[list[Any]] = [[]]
    for name in others:
        used = widths[first] + sum(widths[each] + 2 for each in blocks[-1])
        if blocks[-1] and used + widths[name] + 2 > width:
            blocks.append([])
        blocks[-1].append(name)
    columns = ([texts[name] for name in (first, *names)] for names in blocks)
    return ["\n".join(text_tables.aligned(list(zip(*each, strict=True)), right=True)) for each in columns]
