"""The command line and a shared task's folder: ``xsumstat wmt24 --metric-file NEW.seg.score``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xsumstat.analyses import wmt_tasks
from xsumstat.io import dumps, task_folders
from xsumstat.report import task_report

# Options of a task's folder alone, and those that it shares with tables.
_OWN = ("language_pair", "rules", "reference", "leave_out", "primary")
_SHARED = ("scores", "metric_file", "dump", "gold", "lower_is_better", "alpha", "seed", "n_resamples", "output")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a shared task's folder."""
    group = parser.add_argument_group(
        "a shared task (SCORES is a test set's folder in the layout of mt-metrics-eval, as wmt24)",
        "The tasks of WMT's metrics shared task: every metric, ranked over all tasks, in clusters.",
    )
    add = group.add_argument
    add(
        "--metric-file",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="scores of additional metrics, ranked with the others: NAME-REF.seg.score, or a folder of such files. The "
        "language pair is the name of the file's folder, or precedes the name (en-de.NEW-refA.seg.score), or is the "
        "only one that the lines fit. With a table: a .csv, .tsv, .parquet, .jsonl or .score file of such metrics",
    )
    add(
        "--language-pair",
        nargs="+",
        metavar="PAIR",
        help="language pairs to rank (default: those in WMT's ranking, or all)",
    )
    years = ", ".join(wmt_tasks.YEARS)
    add("--rules", metavar="YEAR", help=f"year whose tasks apply: {years} (default: the folder's name)")
    add(
        "--reference",
        nargs="+",
        metavar="REF",
        help="reference of the ranked metrics: refA, or en-de=refB for one language pair (default: WMT's)",
    )
    add("--leave-out", nargs="+", metavar="SYSTEM", help="systems to leave out (default: WMT's outliers)")
    add("--primary", action="store_true", help="rank only primary submissions, baselines and your own metrics")
    add(
        "--dump",
        type=Path,
        metavar="FOLDER",
        help="write scores and results as tab-separated files into a folder; works for a table of scores too",
    )


def applies(args: argparse.Namespace) -> bool:
    """Whether SCORES is the folder of a test set, or of test sets."""
    path = Path(args.scores)
    within = path.is_dir() and any(map(task_folders.is_test_set, path.iterdir()))
    return task_folders.is_test_set(path) or within


def check(args: argparse.Namespace, default: Callable[[str], Any]) -> None:
    """Refuse options that do not belong to what SCORES is."""
    of_task = applies(args)
    refused = [name for name in vars(args) if name not in (*_OWN, *_SHARED)] if of_task else _OWN
    wrong = [name for name in refused if getattr(args, name) != default(name)]
    if wrong:
        what = "does not apply to" if of_task else "applies only to"
        raise ValueError(f"--{wrong[0].replace('_', '-')} {what} a shared task's folder, such as wmt24")
    if args.dump is not None:
        dumps.check_folder(args.dump, "--dump")
        scores = Path(args.scores)
        inside = scores.is_dir() and args.dump.resolve().is_relative_to(scores.resolve())
        if inside:
            raise ValueError(f"--dump {args.dump} is inside {scores}, the folder of the scores; name another folder")


def ranking(args: argparse.Namespace, say: Callable[[str], None]) -> task_report.TaskReport:
    """Rank the metrics of a folder."""
    root = task_folders.checked(args.scores)
    say(f"{root.name}: swapping scores …")
    drawn = {} if args.n_resamples is None else {"n_resamples": args.n_resamples}
    answers = task_report.shared_task(
        root,
        args.metric_file or None,
        language_pair=args.language_pair,
        rules=args.rules,
        gold=args.gold,
        reference=_by_pair("--reference", args.reference),
        leave_out=args.leave_out,
        lower_is_better=args.lower_is_better,
        primary=args.primary,
        alpha=args.alpha,
        rng=args.seed,
        **drawn,
    )
    for about, told in answers.data:
        say(f"{about}: {told}")
    return answers


def _by_pair(option: str, words: list[str] | None) -> str | dict[str, str] | None:
    """One name for all language pairs, or PAIR=NAME for each."""
    if words is None:
        return None
    if len(words) == 1 and "=" not in words[0]:
        return words[0]
    found = dict(word.partition("=")[::2] for word in words)
    if len(found) != len(words) or not all(found.values()):
        raise ValueError(f"{option} must be one name, or PAIR=NAME for each language pair, got {' '.join(words)}")
    return found
