"""The command line's parser: synonyms of options, and messages in terms of options."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NoReturn

from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import synonyms, validate

# Of each option, what others call it, in small letters without marks.
_SYNONYMS: dict[str, str] = {
    "--gold": "human humans target goldstandard goldmetric humanmetric groundtruth",
    "--gold-file": "humanfile ratings ratingsfile annotations annotationsfile humanscores goldpath",
    "--raters": "rater annotators annotator",
    "--metric": "metrics scorer scorers evaluator evaluators",
    "--lower-is-better": "lower minimize minimise negative reversed errors lowerbetter",
    "--level": "granularity grouping averageby",
    "--coefficient": "correlation corr cor method measure statistic kind",
    "--resample": "resampling resampledim random bootstrapmethod",
    "--n-resamples": "nboot nbootstrap nbootstraps npermutations npermutation nperm nperms b k n resamples iterations "
    "niter nsamples numsamples bootstrap permutations",
    "--confidence-level": "confidence ci conf cl level95 coverage interval",
    "--adjust": "correction correct multipletesting padjust fdr adjustment",
    "--positive": "poslabel positivelabel positiveclass",
    "--labels": "label classes texts categories",
    "--alpha": "significance significancelevel siglevel sig pvalue threshold",
    "--seed": "rng randomstate randomseed",
    "--output": "out report html save o outputfile page",
    "--judge": "judges judging grading llmjudge graders judgereport",
    "--run": "runs repeats repeat trial trials runcolumn repetition",
    "--margin": "epsilon eps delta",
    "--require": "gate assert check minimum least atleast fail failunder",
    "--anchor": "baseline previous before old oldscores anchorset",
    "--dim": "dims group by dimension further",
    "--aggregate": "agg aggfunc aggregation average duplicates",
    "--metric-column": "metriccol metricname",
    "--system-column": "systemcol modelcolumn modelcol model models product systems summarizer",
    "--input-column": "inputcol doccolumn doc document docid item itemcolumn segment idcolumn id inputs prompt "
    "prompts promptid promptcolumn question",
    "--score-column": "scorecol valuecolumn value values valuecol scores ratingcolumn",
    "--metric-file": "metricfiles newmetric ownmetric mymetric scorefile scorefiles submission addmetric",
    "--language-pair": "languagepairs lp lps lang langs language languages pair pairs",
    "--rules": "year task tasks",
    "--reference": "ref refs references stdref",
    "--leave-out": "exclude outliers leaveout",
    "--primary": "primaries primaryonly mainsubmissions",
    "--dump": "tsv export results dumpto",
    "--dask": "lazy cluster scheduler distributed",
}
# Arguments of functions that are options of the same name, and those of another.
_SAME = (
    "gold",
    "metric",
    "level",
    "coefficient",
    "resample",
    "n_resamples",
    "confidence_level",
    "adjust",
    "alpha",
    "margin",
    "positive",
    "labels",
    "rules",
    "language_pair",
)
_COLUMNS = {"metric": "metric", "system": "system", "input": "input", "value": "score", "score": "score"}
# What messages say for Python, and what the command line says in its place, in this order.
_WORDING: tuple[tuple[str, str], ...] = (
    (r"\b(metric|system|input|value|score)='([^']*)' is not a column", r"--{\1}-column: '\2' is not a column"),
    (r"\b(metric|system|input|value|score)=\.\.\.", r"--{\1}-column COLUMN"),
    (r"\brun='([^']*)' is not a column", r"--run: '\1' is not a column"),
    (r"\bratings='([^']*)' is not a column", r"--raters: '\1' is not a column"),
    (r"\b([a-z_]+)='([^']*)' is not a column", r"--dim: '\2' is not a column"),
    (r"gold=\.\.\. says", "--gold NAME says"),
    (r"^ratings=\[.*\] names columns", "--raters names columns"),
    (r"^ratings must", "--raters must"),
    (r"pass labels=\[\.\.\.\]", "add --labels ..."),
    (r"pass aggregate='mean'", "add --aggregate mean"),
    (r"or name the column that distinguishes them in dims", "or --dim COLUMN with the column that distinguishes them"),
    (r"aggregate must be a rule of pandas', as 'mean' or 'median'", "--aggregate must be a rule as mean or median"),
    (r"name the metrics with metric=\[\.\.\.\]", "name the metrics with --metric NAME ..."),
    (r"leave them out with ds\.drop_sel\(metric=\[\.\.\.\]\)", "name the others with --metric NAME ..."),
    (r"; convert with pd\.to_numeric", ""),
    (r", as by frame\[.*\]\.str\.rstrip\(.*\)\.astype\(float\)", ""),
    (r": make them one type, as with \.astype\(str\)", ""),
    (r"declare it by ds = ds\.assign_coords\(higher_is_better=.*?isin\(\[(.*?)\]\)\)", r"add --lower-is-better {\1}"),
    (r" \(try interval='bca'\)", ""),
    (r" \(method='jackknife' corrects for it\)", ""),
    (r"; rename with xsumstat\.set_dims\(.*\)", "; rename its dims in Python, by xsumstat.set_dims"),
    (r"\breference=\{'([^']*)': '([^']*)'\}", r"--reference \1=\2"),
    (r"\breference='([^']*)'", r"--reference \1"),
    (r"\brules='([^']*)'", r"--rules \1"),
    (r"^primary=True needs", "--primary needs"),
    (r"^language_pair names", "--language-pair names"),
    (r"^(each item of )?metric_files", "--metric-file"),
    (r"\bin lower_is_better\b", "in --lower-is-better"),
    (r"^rng must", "--seed must"),
    (r"^require must", "--require must"),
)


def called() -> str:
    name = Path(sys.argv[0]).name
    return name if name in ("xsumstat", "xsumstat.exe") else "python -m xsumstat"


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        given = re.fullmatch(r"unrecognized arguments: (.*)", message)
        wrong = next((word for word in given[1].split() if word.startswith("-")), None) if given else None
        if wrong is not None:
            name = wrong.partition("=")[0]
            message = f"there is no option {name}{self._hint(name)}"
        super().error(message)

    def _hint(self, wrong: str) -> str:
        word = re.sub(r"[\W_]", "", wrong).lower()
        known = [option for action in self._actions for option in action.option_strings if option.startswith("--")]
        meant = next((option for option, words in _SYNONYMS.items() if word in words.split()), None)
        coefficient = next((each for each in synonyms.values_meant("coefficient", word) if each in COEFFICIENTS), None)
        if meant is None and coefficient is not None:
            return f"; did you mean --coefficient {coefficient}?"
        near = [meant] if meant else difflib.get_close_matches(wrong, known, n=1, cutoff=0.6)
        return f"; did you mean {near[0]}?" if near else "; --help lists the options"


def one_of(name: str, allowed: Collection[str]) -> dict[str, Any]:
    def checked(text: str) -> str:
        try:
            return validate.choice(name, text, allowed)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error).removeprefix(f"{name} ")) from error

    checked_type: Callable[[str], str] = checked
    return {"type": checked_type, "metavar": "{" + ",".join(allowed) + "}"}


def in_words_of_options(message: str) -> str:
    """A message with options instead of arguments."""
    for argument in _SAME:
        message = re.sub(rf"^{argument} must", f"--{argument.replace('_', '-')} must", message)
    for pattern, replacement in _WORDING:
        message = re.sub(pattern, replacement, message)
    message = re.sub(r"--\{(\w+)\}-column", lambda found: f"--{_COLUMNS[found[1]]}-column", message)
    return re.sub(r"--lower-is-better \{(.*?)\}", lambda found: f"--lower-is-better {_names(found[1])}", message)


def _names(labels: str) -> str:
    return " ".join(part.strip().strip("'\"") for part in labels.split(","))
