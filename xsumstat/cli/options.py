"""The command line's parser: synonyms of options, and messages in terms of options."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any, NoReturn

from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import arguments, synonyms, validate

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
    "--cluster": "clusters family families documents grouped blocks clusterby",
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
    "--only": "select where filter subset keep slice",
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
    "--dask": "lazy scheduler distributed",
}
# Arguments of functions that are options of the same name, and those of another.
_SAME = (
    *("gold", "metric", "level", "coefficient", "resample", "n_resamples", "confidence_level", "adjust", "alpha"),
    *("positive", "labels", "run", "aggregate", "cluster", "lower_is_better", "require", "margin"),
    *("rules", "language_pair", "reference", "primary"),
)
FACE = arguments.Face(
    names={argument: f"--{argument.replace('_', '-')}" for argument in _SAME}
    | {"rng": "--seed", "ratings": "--raters", "dims": "--dim", "metric_files": "--metric-file"},
    places={
        "metric": "NAME ...",
        "gold": "NAME",
        "dims": "COLUMN",
        "run": "COLUMN",
        "cluster": "COLUMN",
        "labels": "...",
    },
    columns={field: f"--{field}-column" for field in ("metric", "system", "input", "score")}
    | {"value": "--score-column", "dims": "--dim", "ratings": "--raters", "run": "--run"},
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
        elif given is not None and re.search(r"alt_test|bias|drift|[<>]", given[1]):
            message = f"{given[1]} belongs to no option; repeat --require for each rule: --require RULE --require RULE"
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

    return {"type": checked, "metavar": "{" + ",".join(allowed) + "}"}
