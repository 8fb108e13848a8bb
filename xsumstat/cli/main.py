"""The command line: ``xsumstat SCORES --gold NAME`` prints the main answers; ``xsumstat compile``."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from xsumstat.cli import compilation, gate, options, parts, task_command
from xsumstat.coefficients import table
from xsumstat.core import arguments, extras, validate
from xsumstat.core.levels import LEVELS
from xsumstat.dataset import directions, golds, locate, metric_choice
from xsumstat.inference import corrections
from xsumstat.io import added, criteria, dumps, recognised, roles, rows, runs, stores, texts, words
from xsumstat.io import columns as usual
from xsumstat.io import frames as io
from xsumstat.io import gold as human_scores
from xsumstat.io import published as datasets
from xsumstat.io.whole_files import followed, write_whole
from xsumstat.plots import style
from xsumstat.report import judge_report, judge_runs, metric_report
from xsumstat.resampling import threads

# Scores are read a metric at a time where they would take more than this share of memory: to read and test them all at
# once takes some three times what they take themselves. Where they take less than so many bytes nobody asks.
_SHARE = 0.25
_FEW_BYTES = 2**28
# Seconds that a cluster has to answer.
_PATIENCE = 10
_EXAMPLES = """examples:
  {prog} demo
  {prog} scores.csv --gold human --level input --coefficient kendall --output report.html
  {prog} scores.csv --raters ann_1 ann_2 ann_3
  {prog} scores.csv --gold-file human.csv --lower-is-better TER perplexity
  {prog} scores.csv --gold human --system-column model --input-column doc
  {prog} logs --gold-file human.csv
  {prog} scores.zarr --gold human --dask
  {prog} wmt24 --metric-file NEW-refA.seg.score --output ranking.html

{prog} compile
  compiles all functions in advance, on all cores: later calls need not wait, e.g. in a container or on a cluster
"""


def parser() -> argparse.ArgumentParser:
    prog = options.called()
    ready = options.Parser(
        prog=prog,
        usage="%(prog)s SCORES [--gold NAME | --gold-file FILE] [options]\n       %(prog)s compile",
        description="How well does each metric agree with human scores, how certain is that, and which one is better?",
        epilog=_EXAMPLES.format(prog=prog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_scores(ready.add_argument)
    _add_measure(ready.add_argument)
    _add_answers(ready.add_argument)
    _add_columns(ready)
    task_command.add_options(ready)
    return ready


def _add_scores(add: Callable[..., Any]) -> None:
    add(
        "scores",
        metavar="SCORES",
        help=f"a file ({', '.join(io.FORMATS)}), a folder of {', '.join(recognised.SUFFIXES)} logs, a shared task's "
        f"folder, or a data set's name: {', '.join(datasets.NAMES)}",
    )
    add("--gold", metavar="NAME", help="the human scores: a metric or a variable (default: the data set's own)")
    add(
        "--gold-file",
        type=Path,
        metavar="FILE",
        help="human scores in another table (.csv, .tsv, .parquet), joined by system and input. It has one row per "
        "rating, with or without a column of raters, or one column per rater. --gold names the column of the ratings. "
        "A .score file of mt-metrics-eval works too",
    )
    add(
        "--raters",
        nargs="+",
        metavar="COLUMN",
        help="columns of single raters; their mean becomes the human scores. In a table with one row per score: the "
        "metrics that are raters",
    )
    add(
        "--metric",
        nargs="+",
        metavar="NAME",
        help="metrics or judges to evaluate (default: all except human scores and covariates, such as a length)",
    )
    add("--lower-is-better", nargs="+", default=[], metavar="NAME", help="metrics and judges whose low scores are good")


def _add_measure(add: Callable[..., Any]) -> None:
    one_of = options.one_of
    levels = one_of("level", ("auto", *LEVELS))
    add(
        "--level",
        default="auto",
        **levels,
        help="which scores are correlated: means of systems, systems within each input, all outputs, or outputs within "
        "each system (default: system with 8 or more systems, input with 3 to 7, else global)",
    )
    coefficients = one_of("coefficient", table.COEFFICIENTS)
    add(
        "--coefficient", **coefficients, help="default: pearson; kendall if --level is not given and the level is input"
    )
    add(
        "--positive",
        nargs="+",
        metavar="VALUE",
        help="human scores that count as positive, for f1, sensitivity, specificity and other coefficients of classes "
        "(default: the higher of two)",
    )
    add(
        "--labels",
        nargs="+",
        metavar="TEXT",
        help="labels that are scores in a table, the lowest first, e.g. --labels fail pass",
    )
    random = one_of("resample", ("auto", "both", "system", "input"))
    add("--resample", default="auto", **random, help="what intervals and tests generalise to: new systems and inputs "
        "(both), new systems on these inputs (system), or these systems on new inputs (input). Default: both, with "
        "tests for these systems; with fewer than 5 systems input")  # fmt: skip
    add(
        "--cluster",
        nargs="+",
        metavar="COLUMN",
        help="columns whose inputs, or systems, belong together, e.g. document; they are left out together",
    )
    add(
        "--n-resamples",
        type=int,
        metavar="K",
        help=f"resamples for coefficients whose intervals need a bootstrap (default: {metric_report.RESAMPLES})",
    )
    add("--confidence-level", type=float, default=0.95, metavar="P", help="of the intervals (default: %(default)s)")
    correction = one_of("adjust", corrections.OF_PVALUES)
    add(
        "--adjust",
        default="holm",
        **correction,
        help="correction of the p-values for several tests (default: %(default)s)",
    )
    add(
        "--margin",
        type=float,
        metavar="M",
        help="--judge and --require alt_test: margin of the alternative annotator test, by how much a rater's share of "
        "wins may exceed the judge's. The default, .2, is for raters who are experts; .15 is for skilled raters, and "
        ".1 for crowd workers",
    )
    add("--alpha", type=float, default=0.05, help="significance level (default: %(default)s)")
    add(
        "--seed",
        type=_seed,
        default=0,
        help="seed of the resamples; the same seed gives the same numbers (default: %(default)s)",
    )


def _add_answers(add: Callable[..., Any]) -> None:
    add("--output", type=Path, metavar="REPORT.html", help="write an HTML report with tables and figures")
    add(
        "--judge",
        action="store_true",
        help="report on a judge: do the raters agree? Does the judge agree with them as well as a single rater does? "
        "In which direction is it biased? May it replace a rater? Which system is best? How many ratings does the next "
        "study need?",
    )
    add(
        "--require",
        action="append",
        default=[],
        metavar="RULE",
        help="rule that every judge must meet: a coefficient such as 'kappa >= .6' (the lower limit of the interval "
        "decides), 'alt_test', 'bias', 'bias <= .1', or with --anchor 'drift <= .05' (agreement changed by less than "
        ".05). Repeat the option for each rule: --require alt_test --require 'kappa >= .6'. The exit status is 0 if "
        "all rules are met, 1 if one is not met, and 2 if one cannot be decided",
    )
    add(
        "--anchor",
        metavar="SCORES",
        help="scores by an older version of the judge on the same outputs, in a file with the same columns, for "
        "--require 'drift <= .05', or for a section of --judge",
    )
    add(
        "--dask",
        nargs="?",
        const=True,
        type=_address,
        metavar="ADDRESS",
        help="read a .zarr or .nc file one metric at a time and compute with Dask, on this machine or on the cluster "
        "of the scheduler at this address, e.g. tcp://host:8786 (default: only if the scores take more than a "
        "quarter of this machine's memory)",
    )
    add("--version", action="version", version=f"xsumstat {extras.package_version()}")


def _add_columns(parser: argparse.ArgumentParser) -> None:
    columns = parser.add_argument_group(
        "columns of a .csv, .tsv or .parquet file (one row per score, or one column per metric)",
        "Columns with usual names are found (system, model; input, doc, item, segment, id; metric, scorer; score, "
        "value). Name only the others.",
    )
    for name in ("metric", "system", "input", "score"):
        columns.add_argument(
            f"--{name}-column", metavar="COLUMN", help=f"column of {name}s (default: {name}, or another usual name)"
        )
    columns.add_argument(
        "--run",
        metavar="COLUMN",
        help="column of the runs of a judge that graded the same outputs several times: --judge reports how well runs "
        "agree, and every other answer and rule uses the mean of the runs",
    )
    columns.add_argument(
        "--aggregate", metavar="RULE", help="how several scores of one output are combined: mean, median, first ..."
    )
    columns.add_argument(
        "--dim", action="append", default=[], metavar="COLUMN", help="column of an additional dimension, e.g. language"
    )
    columns.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="COLUMN=LABEL",
        help="use only what has this label, e.g. criterion=helpfulness, or topic=code; repeat it for several columns",
    )


def _positive(words: list[str] | None) -> list[Any] | None:
    """Numbers as numbers, other words unchanged."""
    if words is None:
        return None
    found: list[Any] = []
    for word in words:
        try:
            found.append(float(word))
        except ValueError:
            found.append(word)
    return found


def _cluster(args: argparse.Namespace) -> str | tuple[str, ...] | None:
    if args.cluster is None:
        return None
    return args.cluster[0] if len(args.cluster) == 1 else tuple(args.cluster)


def _positive_of_rules(args: argparse.Namespace, required: list[gate.Requirement]) -> bool:
    """Whether only rules, and not the report's coefficient, know positive classes."""
    own = args.coefficient is not None and gate.is_of_classes(args.coefficient)
    return not own and any(gate.is_of_classes(each.of) for each in required)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 0, got {text!r}")
    return int(text)


def _address(text: str) -> str:
    if ":" not in text:
        raise argparse.ArgumentTypeError(
            f"must be a scheduler's address, e.g. tcp://host:8786, got {text!r}; --dask alone follows SCORES"
        )
    return text


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return 0, or 2 for bad input."""
    if (sys.argv[1:] if argv is None else argv) == ["compile"]:
        return _status(_compile, "")
    args = parser().parse_args(argv)
    with warnings.catch_warnings(), arguments.written_for(options.FACE):
        warnings.simplefilter("default")
        warnings.showwarning = _show_warning  # type: ignore[assignment]
        return _status(lambda: _run(args), args.scores)


def _status(run: Callable[[], int], scores: str) -> int:
    """The exit status of what is run; an error is printed."""
    try:
        return run()
    except BrokenPipeError:  # whoever read our output has seen enough
        sys.stdout = None
        return 0
    except (ValueError, TypeError, OSError, ImportError) as error:
        _say(f"error: {error}")
        return 2
    except RuntimeError as error:  # how Python before 3.13 says that links lead in a circle
        if "ymlink loop" not in str(error):
            raise
        _say(f"error: {scores}: its links lead in a circle")
        return 2
    except KeyboardInterrupt:
        _say("stopped")
        return 130


def _compile() -> int:
    done = compilation.compile_all()
    print(f"xsumstat: compiled {done.kernels} kernels in {done.seconds:.0f} s; they are kept in {done.folder}")
    return 0


def _run(args: argparse.Namespace) -> int:
    required = [gate.requirement(text) for text in args.require]
    drifts = any(each.of == "drift" for each in required)
    if drifts and args.anchor is None or args.anchor is not None and not (drifts or args.judge):
        raise ValueError("--anchor and --require 'drift <= .05' need each other: older scores, and how much may change")
    _check_numbers(args, required)
    task_command.check(args, parser().get_default)
    if args.output is not None:
        _check_output(args.output, _read_from(args))
    if task_command.applies(args):
        ranking = task_command.ranking(args, _say)
        _deliver(args, ranking, ranking.frames)
        return gate.MET
    lazy = _reads_lazily(args)
    with _workers(args.dask) if lazy else nullcontext():
        anchor = _anchor(args)
        ds, answers = _answers(args, lazy, required, anchor)
        how = {"gold": args.gold, "metric": args.metric, "level": args.level, "alpha": args.alpha}
        how |= {"resample": args.resample, "cluster": _cluster(args), "positive": _positive(args.positive)}
        how |= {"anchor": anchor, "coefficient": args.coefficient, "margin": args.margin}
        how["report"] = answers if isinstance(answers, judge_report.JudgeReport) else None
        verdicts = [gate.check(ds, each, confidence_level=args.confidence_level, **how) for each in required]
    lines = [verdict.line for verdict in verdicts]
    _deliver(args, answers, lambda: {"scores": dumps.scores(ds), **answers.frames()}, lines)
    for line in lines:
        print(f"\n{line}")
    statuses = {verdict.status for verdict in verdicts}
    return next((status for status in (gate.NOT_MET, gate.UNKNOWN) if status in statuses), gate.MET)


def _deliver(
    args: argparse.Namespace, answers: Any, frames: Callable[[], dict[str, pd.DataFrame]], rules: Sequence[str] = ()
) -> None:
    """Print the answers, and write the page and the tables that were asked for."""
    print(answers.text(shutil.get_terminal_size((100, 24)).columns), flush=True)
    if args.output is not None:
        write_whole(args.output, answers.html(rules))
        _say(f"wrote {args.output}")
    if args.dump is not None:
        files = dumps.write(args.dump, frames())
        _say(f"wrote {', '.join(file.name for file in files)} into {args.dump}")


def _read_from(args: argparse.Namespace) -> list[Path]:
    """All files from which something is read."""
    of_metrics = [file for each in args.metric_file for file in _inputs(str(each))]
    of_gold = [] if args.gold_file is None else [args.gold_file]
    return [*_inputs(args.scores), *of_metrics, *of_gold, *([] if args.anchor is None else _inputs(args.anchor))]


def _anchor(args: argparse.Namespace) -> xr.Dataset | None:
    if args.anchor is None:
        return None
    return _load(argparse.Namespace(**{**vars(args), "scores": args.anchor}), lazy=False)[0]


def _check_numbers(args: argparse.Namespace, required: list[gate.Requirement]) -> None:
    """Raise for invalid numbers before anything is read."""
    if args.n_resamples is not None:
        validate.n_draws("n_resamples", args.n_resamples, 2)
    for name in ("confidence_level", "alpha"):
        validate.fraction(name, getattr(args, name))
    if args.margin is None:
        return
    validate.number("margin", args.margin, 0.0, 1.0)
    if not args.judge and not any(each.of == "alt_test" for each in required):
        raise ValueError("--margin is that of alt_test: add --judge or --require alt_test")


def _answers(
    args: argparse.Namespace, lazy: bool, required: list[gate.Requirement], anchor: xr.Dataset | None
) -> tuple[xr.Dataset, metric_report.Report | judge_report.JudgeReport]:
    if args.gold is not None and Path(args.gold).is_file():
        raise ValueError(f"--gold names a metric or variable, and {args.gold} is a file: --gold-file {args.gold}")
    if args.raters is not None and (args.gold is not None or args.gold_file is not None):
        other = "--gold" if args.gold is not None else "--gold-file"
        raise ValueError(f"--raters and {other} both say which are the human scores; keep one of them")
    ds, name = _load(args, lazy)
    if args.gold_file is not None:
        ds = _joined(ds, name, args)
    for file in args.metric_file:
        ds = added.add_metric(ds, file)
        _say(ds.attrs[added.ADDED].rpartition("; ")[2])
    if args.gold is None and "gold" not in ds.attrs:
        raise _no_gold("metrics", locate.checked_scores(ds).indexes["metric"])
    if args.lower_is_better:
        locate.checked_scores(ds)
        ds = directions.declare(ds, args.lower_is_better, "--lower-is-better")
    started = time.monotonic()
    _say(f"{name}: resampling …")
    names = ("gold", "level", "coefficient", "confidence_level", "adjust", "alpha")
    shared: dict[str, Any] = {name: getattr(args, name) for name in names} | {"rng": args.seed}
    shared["positive"] = None if _positive_of_rules(args, required) else _positive(args.positive)
    shared["cluster"] = _cluster(args)
    answers: metric_report.Report | judge_report.JudgeReport
    if args.judge:
        bounds = [each.bound for each in required if each.of == "drift" and each.bound is not None]
        of_versions: dict[str, Any] = {"anchor": anchor, **({"drift": min(bounds)} if bounds else {})}
        of_versions |= {"resample": args.resample, "n_resamples": args.n_resamples}
        answers = judge_report.make_report(ds, name, metric=args.metric, margin=args.margin, **of_versions, **shared)
    else:
        n_runs = judge_runs.n_runs(ds)
        if n_runs > 1:
            _say(f"every score is the {judge_runs.told(n_runs)}; --judge reports how well runs agree")
        drawn = {"resample": args.resample, "n_resamples": args.n_resamples}
        keep = args.output is not None
        answers = metric_report.make_report(
            judge_runs.averaged(ds), name, metric=_metrics(ds, args), **drawn, **shared, keep_samples=keep
        )
    _say(f"done in {time.monotonic() - started:.1f} s")
    return ds, answers


def _reads_lazily(args: argparse.Namespace) -> bool:
    """Whether scores stay in their file, because that was asked for or they are large."""
    path = Path(args.scores)
    is_store = path.exists() and path.suffix.lower() in stores.STORES
    if args.dask is not None:
        if not is_store and (path.exists() or args.scores in datasets.NAMES):
            known = " and ".join(stores.STORES)
            raise ValueError(f"--dask is for {known}, which can be read in parts; {args.scores} is read whole")
        return is_store
    size = stores.bytes_in_memory(path) if is_store else 0
    if size < _FEW_BYTES:
        return False
    try:
        memory = extras.optional("distributed.system", "dask").MEMORY_LIMIT
    except ImportError as error:
        _say(f"{path.name}: {size / 1e9:.1f} GB are read at once; to read a metric at a time, {error}")
        return False
    if size <= _SHARE * memory:
        return False
    _say(
        f"{path.name}: {size / 1e9:.1f} GB are more than a quarter of this machine's memory, "
        "so xsumstat reads one metric at a time (--dask)"
    )
    return True


@contextmanager
def _workers(address: str | bool | None) -> Iterator[None]:
    if not isinstance(address, str):
        with extras.optional("dask", "dask").config.set(scheduler="threads", num_workers=threads.n_threads()):
            yield
        return
    distributed = extras.optional("distributed", "dask")
    lost = distributed.KilledWorker, distributed.client.FutureCancelledError
    with distributed.Client(address, timeout=_PATIENCE, set_as_default=False):
        pass  # one that is the default would stay so where it finds no cluster
    with distributed.Client(address, timeout=_PATIENCE):
        try:
            yield
        except lost as error:
            raise OSError(f"the cluster at {address} gave up: {str(error).partition(chr(10))[0]}") from error


def _load(args: argparse.Namespace, lazy: bool) -> tuple[xr.Dataset, str]:
    path = Path(args.scores)
    if args.scores in datasets.NAMES and not path.exists():
        if args.raters is not None:
            raise ValueError(f"--raters names columns of a table, and {args.scores} is a data set; use --gold NAME")
        return datasets.load_dataset(args.scores), args.scores
    if not path.exists():
        hint = validate.suggestion(args.scores, datasets.NAMES)
        if path.is_symlink():
            raise stores.no_such(path)
        raise FileNotFoundError(f"no such file or folder: {path}{hint} data sets: {', '.join(datasets.NAMES)}")
    file = recognised.File(path)
    chosen = parts.named(args.only)
    how: dict[str, Any] = {"dims": list(args.dim), "aggregate": args.aggregate}
    if args.labels is not None:
        how["labels"] = args.labels
    if args.raters is not None:
        how["ratings"] = args.raters
    if args.run is not None:
        how["run"] = args.run
    if (path.suffix.lower() in usual.TABLES and path.is_file()) or file.is_records:
        columns, taken, described = _table(file, args)
        how |= {**columns, "only": chosen}
        renamed = {how["system"]: "system", how["input"]: "input"}
        chosen = {renamed.get(name, name): label for name, label in chosen.items()}
        how["dims"] += [name for name in chosen if name not in (*described, *how["dims"])]
    else:
        taken = []
    ds = parts.only(io.read_scores(file, chunks={"metric": 1} if lazy else None, **how), chosen)
    if "score" in ds:
        counted = {dim: size for dim, size in ds["score"].sizes.items() if not (taken and dim == "metric")}
        sizes = ", ".join(f"{size} {dim}{'s' * (size != 1)}" for dim, size in counted.items())
        for line in [f"{path.name}: {sizes}", *(f"  {each}" for each in taken)]:
            _say(line)
    if lazy and stores.stored_together(ds) > 1:
        _say(
            f"{path.name} holds {stores.stored_together(ds)} metrics in each chunk, which are read again for each; "
            "ds.chunk(metric=1).to_zarr writes one that is read faster"
        )
    return ds, " ".join([path.name, *(f"({each})" for each in args.only)])


def _table(file: recognised.File, args: argparse.Namespace) -> tuple[dict[str, Any], list[str], list[str]]:
    """Roles of a table's columns, from options or names, in words; and columns of labels of systems or inputs."""
    with stores.reading(file.path):
        sample = io.sample(file)
    if args.run is not None:
        sample = runs.first(sample, args.run)
    sample = sample.iloc[rows.labelled(sample, parts.named(args.only))]
    labels = [] if args.labels is not None else roles.labels_of(sample)
    with validate.kept_warnings():  # reading the whole table gives them again
        sample = texts.coded(sample, labels or texts.checked(args.labels), [])
    named = {field: getattr(args, f"{field}_column") for field in ("metric", "system", "input", "score")}
    _refuse_choices(file.path, sample)
    found = roles.of(sample, {**named, "value": named["score"]})
    labelled = [name for name in sample.columns if name not in (*found.metrics, *found.raters, found.rated)]
    labelled += ["system", "input", *args.dim]
    chosen = parts.named(args.only)
    for name in chosen:
        validate.known("column of --only", name, labelled, "columns")
    for field in ("system", "input"):
        roles.refuse_ambiguous(found, field)
    is_mean = args.gold == roles.MEAN and args.gold not in sample.columns and (found.raters or found.rated)
    if is_mean or (args.gold is not None and args.gold == found.rated):
        args.gold = None  # the mean of the raters, which is the default
    columns = [name for name in sample.columns if name not in (found.system, found.input, args.run, *args.dim)]
    if args.gold_file is None and args.raters is None and not found.tidy:
        if args.gold is not None:
            validate.known("gold", args.gold, columns, "columns")
            _refuse_texts(sample[args.gold], args.gold)
        elif not (found.raters or found.rated or found.gold):
            _refuse_criteria(found, args)
            raise _no_gold("columns", list(sample.columns), _example(found, args))
    found = found.told(args.gold, args.raters, args.gold_file is not None)
    if args.judge and args.metric is not None:
        named_judges = [name for name in found.metrics if name in args.metric and name not in found.covariates]
        found = replace(found, judges=named_judges)
    how: dict[str, Any] = {
        field: named[field] or getattr(found, field) or field for field in ("metric", "system", "input")
    }
    how |= {"value": named["score"] or found.value or "score", "kind": found.kinds, "columns": found.chosen}
    if args.gold_file is None and (found.raters or found.rated):
        how |= {"ratings": found.raters or found.rated, "rater": found.rater if found.rated else None}
    elif args.gold_file is None:
        how["gold"] = found.gold
    taken = _taken(found, how, named, args)
    if labels:
        how["labels"] = labels
        taken.append(f"{labels[0]} is below {labels[1]} (--labels {labels[1]} {labels[0]} if not)")
    described = ["system", "input", *found.described, *(how[field] for field in ("metric", "system", "input"))]
    described += [
        name
        for name in (*chosen, *(args.cluster or ()))
        if name in sample.columns and parts.describes(sample, name, [how["system"], how["input"]])
    ]
    return how, taken, described


def _taken(found: roles.Roles, how: dict[str, Any], named: dict[str, Any], args: argparse.Namespace) -> list[str]:
    columns = {field: how["value" if field == "score" else field] for field in named}
    columns = {
        field: name for field, name in columns.items()
        if named[field] is None and name != field and (found.tidy or field in ("system", "input"))
    }  # fmt: skip
    said = []
    if columns:
        options_of = ", ".join(f"--{field}-column" for field in columns)
        listed = ", ".join(f"{field} from column {name!r}" for field, name in columns.items())
        said.append(f"{listed} ({options_of} to change)")
    said += found.words(left_out=not found.metrics)  # beside metrics the reader reports what it leaves out
    lower = [name for name in found.lower if name not in args.lower_is_better]
    if lower:
        are = "is a low score" if len(lower) == 1 else "are low scores"
        said.append(f"{are} of {' and '.join(lower)} good? Then add --lower-is-better {shlex.join(lower)}")
    return said


def _refuse_choices(path: Path, sample: pd.DataFrame) -> None:
    found = roles.choices(sample.columns)
    if found is not None:
        raise ValueError(
            f"{path.name} has choices between two systems, and the command line reads scores; in Python: ds = "
            f"pandas.read_csv({path.name!r}).meta.{roles.call_of_choices(sample, found)}"
        )


def _refuse_texts(column: pd.Series[Any], name: str) -> None:
    """Raise where the human scores are texts that cannot be scores as they are."""
    shown = [each for each in column.dropna().unique().tolist() if isinstance(each, str)]
    if words.parsed(column).notna().any() or not shown:
        return
    grades = words.grades(column)
    way = f"; if these are grades, add {arguments.given('labels', grades)}, the lowest first" if grades else ""
    raise ValueError(f"column {name!r} has text ({validate.listing(shown, 3)}), not scores{way}")


def _no_gold(what: str, labels: Iterable[Hashable], example: str = "") -> ValueError:
    return ValueError(
        "no human scores found; name them: --gold COLUMN, --raters COLUMN COLUMN ... for single raters, or --gold-file "
        f"FILE; {what}: {validate.listing(labels, 30)}{example}"
    )


def _refuse_criteria(found: roles.Roles, args: argparse.Namespace) -> None:
    """Raise where each rater, or each judge, has a column for each criterion: they are analysed one by one."""
    apart = criteria.by_criterion(found.metrics)
    for names in apart.values():
        judges = [name for name in names if name in found.judges]
        people = [name for name in names if name not in judges]
        if judges and people:
            raise ValueError(
                f"the columns are those of several criteria, {validate.listing(apart)}. Analyse one at a time: "
                f"{_command(args, people, judges)}"
            )


def _example(found: roles.Roles, args: argparse.Namespace) -> str:
    """A command for a table whose names tell judges, but not which other columns people filled in."""
    judges = found.judges or found.metrics[-1:]
    people = [name for name in found.metrics if name not in (*judges, *found.covariates)]
    judges = [*judges, *filter(roles.is_automatic, people)]
    people = [name for name in people if name not in judges]
    if not people:
        return ""
    return (
        f". For human scores in {validate.listing(people)} and judges or metrics in {validate.listing(judges)}: "
        f"{_command(args, people, judges)}"
    )


def _command(args: argparse.Namespace, people: Sequence[str], judges: Sequence[str]) -> str:
    option = "--raters" if len(people) > 1 else "--gold"
    words = [args.scores, option, *people, "--metric", *judges, *["--judge"] * args.judge]
    return f"{options.called()} {shlex.join(words)}"


def _joined(ds: xr.Dataset, name: str, args: argparse.Namespace) -> xr.Dataset:
    labels = texts.checked(args.labels, golds.texts_of(ds))
    ratings, how = human_scores.read_human(
        args.gold_file,
        system=args.system_column,
        input=args.input_column,
        column=args.gold,
        labels=labels,
        lowest=human_scores.lowest_code(ds, labels),
    )
    _say(f"{args.gold_file.name}: {how}")
    ds, match = human_scores.join(ds, ratings, name=args.gold or "human")
    _say(match.text(name))
    return ds


def _metrics(ds: xr.Dataset, args: argparse.Namespace) -> list[Any] | None:
    if args.metric is not None:
        return list(args.metric)
    gold = args.gold or ds.attrs.get("gold")
    people = [label for label in metric_choice.human_labels(ds) if label != gold]
    judged = metric_choice.judged(ds, [gold]) if people else []
    if not judged or set(people) & set(judged):
        return None
    _say(f"evaluating the {len(judged)} automatic metrics; --metric names others")
    return judged


def _inputs(scores: str) -> list[Path]:
    path = Path(scores)
    if path.exists():
        return sorted(path.rglob("*")) if path.is_dir() else [path]
    return datasets.mirrored(scores)


def _check_output(path: Path, inputs: list[Path]) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"--output {path} is a folder; name a file")
    try:
        folder = followed(path).parent
    except OSError as error:
        raise OSError(f"--output {error}") from error
    if not folder.is_dir():
        raise FileNotFoundError(f"--output {path}: there is no folder {folder}")
    same = next((each for each in inputs if path.exists() and each.exists() and path.samefile(each)), None)
    if same is not None:
        raise ValueError(f"--output {path} is the file {same}, from which scores are read; name another")
    style.check_available()


def _say(message: str) -> None:
    print(f"xsumstat: {message}", file=sys.stderr, flush=True)


def _show_warning(message: Warning | str, category: type[Warning], *_: Any) -> None:
    _say(f"warning: {message}" if issubclass(category, UserWarning) else f"{category.__name__}: {message}")
