"""Every public function, with nonsense for each of its arguments: an answer, or an error of ours that names it.

The functions are found, not listed, so that a new one is asked too. Each argument meets every kind of nonsense: on one
function, or a part on each of the functions that have it. Which error is ours: it was raised by a `raise`
within the package, and not by an operation there, nor by NumPy, pandas or xarray beneath; and its text has the name of
the argument. An answer is right where nonsense is only seldom used, or where any label may be one.
"""

import dis
import functools
import inspect
import json
import pickle
import re
import traceback
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import task_folders
import xarray as xr
from cases import again, passes, two_tasks
from helpers import by_turns
from preference_cases import preferences, rows

import xsumstat
from xsumstat.accessor import DatasetMeta, FrameMeta, Plots
from xsumstat.catalogue import ANALYSES
from xsumstat.narrative import available

PACKAGE = str(Path(xsumstat.__file__).parent)
FIXTURES = Path(__file__).parents[1] / "io" / "fixtures"

NONSENSE = {
    "an object": object(),
    "a frame": pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}),
    "a Dataset": xr.Dataset({"odd": ("spam", [1.0, 2.0])}),
    "an array": np.arange(4.0).reshape(2, 2),
    "lists within a list": [["spam"], ["eggs"]],
    "a mapping": {"spam": ["eggs"]},
    "a set": {"spam", 1.5},
    "a complex number": 1j,
    "NaN": float("nan"),
    "a whole number": 10**30,
    "a negative number": -3,
    "empty text": "",
    "odd text": "spam\0",
    "bytes": b"spam",
    "a type": int,
    "several of several kinds": [1.5, "spam", None],
}
# What nonsense is sensible, as any label may be one, or a number so large.
NUMBER, TEXT = ("a whole number",), ("empty text", "odd text")
SENSIBLE = {
    **{
        name: NUMBER
        for name in ("rng", "columns", "max_pairs", "n_inputs", "n_raters", "n_runs", "noise", "margin", "margins")
    },
    **{name: NUMBER for name in ("major", "minor", "non_translation", "punctuation")},
    **{name: TEXT for name in ("title", "caption", "label", "kind")},
    "name": (*NUMBER, "a negative number", *TEXT),  # of the metric that add_gold makes, and of a report
    "annotators": ("a mapping",),  # accounts that a file need not have
    "test": ("a mapping",),  # whose keywords `plan` reads only where two metrics are compared
}


@functools.cache
def scores():
    """Three metrics and the gold of eight systems and five inputs, with all that an argument can name."""
    rng = np.random.default_rng(0)
    common = np.linspace(0, 4, 8)[:, None] + rng.normal(size=(8, 5))
    metrics = np.round(common + rng.normal(size=(4, 8, 5)), 2)
    rating = np.round(np.clip(common[..., None] + rng.normal(size=(8, 5, 3)), 0, 5))
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), metrics), "rating": (("system", "input", "rater"), rating)},
        {
            "metric": ["m0", "m1", "m2", "human"],
            "system": list("abcdefgh"),
            "input": list("vwxyz"),
            "type": ("system", list("xyxyxyxy")),
            "kind": ("metric", ["automatic"] * 3 + ["human"]),
        },
        {"gold": "human"},
    )
    return ds.assign(length=(("system", "input"), rng.normal(size=(8, 5))))


FRAME = pd.DataFrame(
    {"metric": list("mnmn") * 2, "system": list("aabb") * 2, "input": list("xxxxyyyy"), "score": np.arange(8.0)}
)


CHOICES = rows(2, n_prompts=4, people=())


def judgements(folder):
    path = folder / "judgements.jsonl"
    path.write_text(json.dumps({"question_id": 1, "model_a": "x", "model_b": "y", "winner": "tie"}))
    return path


def segments():
    """Segments as `read_mtme` gives them, with what WMT's tasks need."""
    ds = (
        scores()
        .drop_vars(["rating", "length", "type"])
        .drop_attrs()
        .assign_coords(metric=["A-refA", "B-src", "C-refA", "mqm"])
    )
    return ds.assign_coords(
        base=("metric", ["A", "B", "C", "mqm"]),
        reference=("metric", ["refA", "src", "refA", ""]),
        system_type=("system", ["machine"] * 7 + ["human"]),
        system=[*"abcdefg", "refA"],
    )


def mtme(folder):
    for name, content in {
        "human-scores/en-de.mqm.seg.score": "A 1\nA 2\nB 1\nB 2\n",
        "metric-scores/en-de/X-src.seg.score": "A 1\nA 2\nB 1\nB 2\n",
        "documents/en-de.docs": "news d1\nnews d1\n",
    }.items():
        path = folder / "wmt99" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def mqm(folder):
    path = folder / "mqm.tsv"
    head = "system doc doc_id seg_id rater source target category severity".split()
    row = "A d 1 1 r s t Style Major".split()
    path.write_text("\n".join("\t".join(each) for each in (head, row)) + "\n", encoding="utf-8")
    return path


def esa(folder):
    path = folder / "esa.csv"
    path.write_text("".join(f"a{at},{each},0,TGT,eng,ces,9{at},d,False,[],0,1\n" for each in "AB" for at in (1, 2)))
    return path


def lines(folder):
    path = folder / "scores.jsonl"
    line = {"instance_id": "d", "summarizer_id": "M", "summarizer_type": "peer", "metrics": {"rouge": 1.0}}
    path.write_text(json.dumps(line))
    return path


def pickles(folder):
    output = {"system_summary": "x", "scores": {"rouge": 1.0, "litepyramid_recall": 0.5}}
    for name in ("abs", "ext"):
        content = {1: {"system_summaries": {f"{name}.txt": output}}}
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(content, protocol=3))
    return folder


# What functions call the data, which an error may call a Dataset, a task or its columns.
DATA = ("ds", "data", "tasks", "frame", "human", "like", "other")
# Of functions that need another first argument than scores, or further ones, what they are asked.
PAIR = {"metric": "m0"}
ONE_PAIR = {"en-es": ("refA",)}
ABOVE = {"above": 0.2, "unit": "quantile"}
ASKED = {
    "add_gold": lambda _: {
        "ds": scores().sel(metric=["m0"]).drop_vars("rating"),
        "human": scores().score.sel(metric="human", drop=True),
    },
    "add_metric": lambda _: {
        "ds": scores(),
        "scores": scores().score.isel(metric=0, drop=True).rename("new").to_dataframe().reset_index(),
    },
    "DatasetMeta.ranks_by": lambda _: {"by": "level"},
    "coverage": lambda _: {"ds": scores(), **PAIR},
    "power": lambda _: {"ds": scores(), **PAIR},
    "plan": lambda _: {"ds": scores(), **PAIR, "n_systems": [8, 9], "n_inputs": [5, 6]},
    "rank_tasks": lambda _: {"tasks": {name: {"ds": scores(), "level": name} for name in ("system", "input")}},
    "shared_task": lambda folder: {"folder": task_folders.make(folder, pairs=ONE_PAIR)[0], "n_resamples": 9},
    "wmt_info": lambda _: {},
    "wmt_tasks": lambda _: {"data": {"en-de": segments()}, "rules": "wmt23"},
    "set_dims": lambda _: {"ds": scores().rename(system="model"), "system": "model"},
    "load_dataset": lambda _: {"name": "demo"},
    "simulate": lambda _: {"n_systems": 3, "n_inputs": 3, "rng": 0},
    "to_scores": lambda _: {"frame": FRAME},
    "to_preferences": lambda _: {"frame": CHOICES},
    "read_preferences": lambda folder: {"path": judgements(folder)},
    "read_mqm": lambda folder: {"file": mqm(folder)},
    "read_esa": lambda folder: {"path": esa(folder)},
    "read_mtme": lambda folder: {"folder": mtme(folder), "test_set": "wmt99", "language_pair": "en-de"},
    "read_sacrerouge": lambda folder: {"path": lines(folder)},
    "read_realsumm": lambda folder: {"path": pickles(folder)},
    "read_lm_eval": lambda _: {"path": FIXTURES / "lm_eval"},
    "read_inspect": lambda _: {"path": FIXTURES / "inspect" / "2026-01-02_doubles_one.json"},
    "read_promptfoo": lambda _: {"path": FIXTURES / "promptfoo"},
    "read_deepeval": lambda _: {"path": FIXTURES / "deepeval"},
    "DatasetMeta.top_k": lambda _: {"k": 2},
    "DatasetMeta.equivalence": lambda _: {"margin": 0.2, "other": "m1", "metric": "m0"},
    "DatasetMeta.margin_sensitivity": lambda _: {"margins": [0.1, 0.2], "other": "m1", "metric": "m0"},
    "DatasetMeta.range_drop": lambda _: {**ABOVE, "n_simulations": 19, "metric": ["m0", "m1"]},
    "DatasetMeta.scoring_range": lambda _: ABOVE,
    "DatasetMeta.compare_groups": lambda _: {"by": "type"},
    "DatasetMeta.drift": lambda _: {"anchor": "m1", "metric": "m0"},
    "DatasetMeta.bias": lambda _: {"given": "length"},
    "DatasetMeta.preference_bias": lambda _: {"given": "length"},
    "DatasetMeta.sentinels": lambda _: {"given": "length"},
    **{
        f"DatasetMeta.{name}": lambda _: {"rating": "rating"}
        for name in available.QUESTIONS[available.RATERS]
        if name not in available.WITHOUT_RATERS
    },
    "DatasetMeta.sample_inputs": lambda _: {**PAIR, "n_means": 2, "n_spreads": 1},
    "DatasetMeta.system_means": lambda _: PAIR,
    "DatasetMeta.to_mtme": lambda folder: {"folder": folder / "a", "test_set": "b", "language_pair": "en-de"},
    "Plots.shifts": lambda _: {"other": None},
}
QUICK = {"n_resamples": 19, "n_trials": 3, "rng": 0, "min_items": 2, "n_means": 2, "n_spreads": 1}


@functools.cache
def result(question):
    """The result of a question to the scores."""
    return call(
        getattr(data_of(f"DatasetMeta.{question}").meta, question),
        few(f"DatasetMeta.{question}", getattr(DatasetMeta, question)),
    )


def few(name, function, folder=None):
    """What a function is asked when all is well, quick to answer."""
    asked = ASKED.get(name, lambda _: {})(folder)
    return {each: QUICK[each] for each in inspect.signature(function).parameters if each in QUICK} | asked


def data_of(name):
    """What a method is called on: scores, or the result that it is for."""
    if name in ("FrameMeta.to_scores", "FrameMeta.to_preferences"):
        return FRAME if name.endswith("scores") else CHOICES
    if name == "DatasetMeta.to_mtme":
        return segments()
    if name == "DatasetMeta.confusion":
        return passes(scores())
    if name == "DatasetMeta.repeatability":
        return again(scores())
    if name == "Plots.sample_inputs":
        return scores().meta.sample_inputs(4, metric="m0", rng=0)
    owner, _, method = name.partition(".")
    if owner == "DatasetMeta" and method in available.OF_TASKS:
        return two_tasks(scores())
    if owner == "Plots" and method not in available.PICTURES:
        return drawn_from(method)
    if method in (*available.OF_TESTS, *available.OF_RESULTS) and method != "to_frame":
        return result("perm_test")
    return preferences(2) if method in available.QUESTIONS[available.PREFERENCES] else scores()


def drawn_from(picture):
    """A result with this picture."""
    if picture == "shifts":
        two = xr.concat([scores()[["score"]]] * 2, "language").assign_coords(language=["x", "y"])
        two = two.assign_attrs(gold="human").transpose("metric", "system", "input", "language")
        return call(two.meta.dominance, {"along": "language", "base": "x", "n_resamples": 19, "rng": 0})
    question = next(name for name, about in ANALYSES.items() if picture in about.pictures)
    if question in xsumstat.__all__:
        function = getattr(xsumstat, question)
        return call(function, few(question, function))
    return result(question)


def call(function, keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(**keywords)


def asked():
    """All that is public, by name."""
    found = {name: getattr(xsumstat, name) for name in xsumstat.__all__}
    for owner in (DatasetMeta, Plots, FrameMeta):
        found |= {f"{owner.__name__}.{name}": each for name, each in vars(owner).items() if name[0] != "_"}
    return found


def bound(name):
    """The function without its data, where it is a method."""
    owner = name.partition(".")[0]
    if owner == name:
        return getattr(xsumstat, name)
    meta = data_of(name).meta
    return getattr(meta.plot if owner == "Plots" else meta, name.partition(".")[2])


def fault(error, argument, value):
    """What is wrong with an error; nothing where it is ours, and names the argument."""
    last = [each for each, _ in traceback.walk_tb(error.__traceback__)][-1]
    at = deepest(error.__traceback__).tb_lasti
    code = last.f_code
    raised = next(each.opname for each in dis.get_instructions(code) if each.offset == at) == "RAISE_VARARGS"
    if not code.co_filename.startswith(PACKAGE) or not raised:
        return f"from below, {Path(code.co_filename).name}:{last.f_lineno}"
    if not isinstance(error, ValueError | TypeError | FileNotFoundError | IsADirectoryError):
        return f"a {type(error).__name__}"
    if argument in DATA or (isinstance(error, OSError) and str(value) in str(error)):
        return ""
    return "" if re.search(rf"\b{argument}\b", str(error)) else "does not name it"


def deepest(tb):
    while tb.tb_next is not None:
        tb = tb.tb_next
    return tb


def sensible(argument, kind):
    """Whether a value that looks like nonsense is none for an argument."""
    return kind in SENSIBLE.get(argument, ())


@functools.cache
def holders():
    """The functions that have an argument, by its name."""
    found = {}
    for name, function in asked().items():
        for argument in inspect.signature(function).parameters:
            found.setdefault(argument, []).append(name)
    return found


def met(name, argument):
    """The nonsense that an argument meets on this function: all, or one of up to four parts where others have it."""
    several = holders()[argument]
    parts = min(4, len(several))
    return list(NONSENSE.items())[several.index(name) % parts :: parts]


def answered(name, function, keywords):
    """That all is well without nonsense."""
    owner, _, question = name.partition(".")
    if owner == "DatasetMeta" and data_of(name) is scores():
        result(question)
    else:
        call(function, keywords)


@pytest.mark.parametrize("name", by_turns(asked()))
def test_nonsense_is_met_with_an_answer_or_an_error_that_names_it(name, tmp_path):
    function, keywords = bound(name), few(name, asked()[name], tmp_path)
    answered(name, function, keywords)
    faults = []
    for argument in inspect.signature(function).parameters:
        for kind, value in met(name, argument):
            try:
                call(function, keywords | {argument: value})
                said = "" if sensible(argument, kind) else "is answered"
            except Exception as error:
                said = fault(error, argument, value)
                if said:
                    said += f": {type(error).__name__}: {str(error)[:150]}"
            if said:
                faults.append(f"{argument}={kind}: {said}")
    assert not faults, f"{len(faults)}\n" + "\n".join(faults)
