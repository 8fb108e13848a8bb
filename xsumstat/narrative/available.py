"""What can be asked of a Dataset, and what an unknown name means."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Collection, Iterable, Mapping

import pandas as pd
import xarray as xr

import xsumstat
from xsumstat import catalogue
from xsumstat.catalogue import ANALYSES
from xsumstat.core import method_synonyms, validate
from xsumstat.dataset import drawn, facts, golds, preferences, wording
from xsumstat.io import roles, runs, texts

RATERS, AMONG, PREFERENCES = "raters and judges", "among metrics", "preferences"
# What of these needs no single ratings.
WITHOUT_RATERS = ("confusion", "repeatability", "missingness", "calibrate", "drift")
# What needs a further dim of the scores of this name.
NEEDS_DIM = {"repeatability": "run"}
# Questions to scores, in groups. `of` says which a Dataset has something for.
QUESTIONS = {
    group: tuple(each.name for each in rows)
    for group, rows in itertools.groupby(catalogue.QUESTIONS, lambda each: each.group)
    if group
}
# What results are asked; the first of those alone that have p-values.
OF_TESTS = ("adjust", "significant")
OF_TASKS = ("subset", "ranks_by", "rank_stability")  # of `rank_tasks` alone
OF_RESULTS = ("conclusion", "methods", "to_frame", "to_latex", "to_markdown", "to_html")
# Pictures of scores; those of results are in the table of analyses.
PICTURES = ("heatmap", "distribution", "scatter_matrix", "sample_inputs")
OF_FRAMES = ("to_scores", "to_preferences")
_PAIRS = {"other_metric", "other_system"}
# Columns that `to_scores` takes where nothing is named, and of how many rows it is looked which are repeated.
_DEFAULTS = {"metric": "metric", "system": "system", "input": "input", "value": "score"}
_LOOKED_AT = 10_000


def is_result(ds: xr.Dataset) -> bool:
    return "analysis" in ds.attrs


def is_scores(ds: xr.Dataset) -> bool:
    return not is_result(ds) and "score" in ds.data_vars and set(facts.CORE) <= set(ds["score"].dims)


def of(ds: xr.Dataset) -> dict[str, tuple[str, ...]]:
    """Methods of ``ds.meta`` that apply, by group."""
    if is_result(ds):
        of_tasks = OF_TASKS if ds.attrs["analysis"] == "rank_tasks" else ()
        return {"": (*of_tasks, *(OF_TESTS if "pvalue" in ds else ()), *OF_RESULTS)}
    if preferences.is_preferences(ds):
        return {PREFERENCES: QUESTIONS[PREFERENCES]}
    if not is_scores(ds):
        return {}
    nothing = {RATERS: not golds.ratings_in(ds), AMONG: ds.sizes["metric"] < 2, PREFERENCES: True}
    asked = {
        group: tuple(
            name
            for name in names
            if (not nothing.get(group) or name in WITHOUT_RATERS) and NEEDS_DIM.get(name, "metric") in ds["score"].dims
        )
        for group, names in QUESTIONS.items()
    }
    return {group: names for group, names in asked.items() if names}


def pictures(ds: xr.Dataset) -> tuple[str, ...]:
    if not is_result(ds):
        lacking = () if drawn.PROBABILITY in ds.coords else ("sample_inputs",)
        return tuple(each for each in PICTURES if each not in lacking) if is_scores(ds) else ()
    own = tuple(each for each in _pictures_of(ds) if each != "pvalues" or "against" not in ds.attrs)
    numbers = [each.dims for each in ds.data_vars.values() if each.dtype.kind in "fiu"]
    bars = any("metric" in dims and not _PAIRS & set(dims) for dims in numbers)
    return (*own, "bars") if bars and "bars" not in own else own


def _pictures_of(ds: xr.Dataset) -> tuple[str, ...]:
    """What draws results of this analysis, though perhaps not this one."""
    analysis = ANALYSES.get(str(ds.attrs.get("analysis")))
    return analysis.pictures if analysis is not None else ()


def methods(ds: xr.Dataset) -> list[str]:
    """Names for ``dir(ds.meta)``."""
    return [*(name for names in of(ds).values() for name in names), *(["plot"] if pictures(ds) else [])]


def misplaced(ds: xr.Dataset, name: str) -> str | None:
    """Why a method does not apply to scores, or to a result."""
    if name in methods(ds):
        return None
    if name in OF_TASKS and (is_result(ds) or is_scores(ds) or preferences.is_preferences(ds)):
        this = _this(ds) if is_result(ds) else f"this Dataset holds {'scores' if is_scores(ds) else 'preferences'}"
        return f"{name}() needs a result of xsumstat.rank_tasks, but {this}"
    if is_result(ds):
        needs = "p-values" if name in OF_TESTS else "scores"
        return f"{name}() needs {needs}, but {_this(ds)}"
    if preferences.is_preferences(ds):
        needs = "a result" if name in (*OF_TESTS, *OF_RESULTS) else "scores"
        return f"{name}() needs {needs}, but this Dataset holds preferences; its methods: {', '.join(methods(ds))}"
    if is_scores(ds) and name in QUESTIONS[PREFERENCES]:
        return (
            f"{name}() needs preferences, but this Dataset holds scores; df.meta.to_preferences(...) makes such a "
            "Dataset of a frame"
        )
    if is_scores(ds) and name in OF_TESTS:
        return f"{name}() needs a test's p-values, but this Dataset holds scores; {_first('perm_test', name)}"
    if is_scores(ds) and name in OF_RESULTS:
        return f"{name}() needs a result, but this Dataset holds scores; {_first('ci', name)}"
    return None


def _first(question: str, name: str) -> str:
    return f"call it on a result: ds.meta.{question}(...).meta.{name}()"


def misplaced_picture(ds: xr.Dataset, name: str) -> str | None:
    """The same for a picture; bars always apply; a picture of this analysis has its own refusal."""
    if name in (*pictures(ds), *_pictures_of(ds), "bars"):
        return None
    drawn = [f"ds.meta.{each}" for each, about in ANALYSES.items() if name in about.pictures]
    drawn = [each if each[8:] not in xsumstat.__all__ else f"xsumstat.{each[8:]}" for each in drawn]
    whose = f"a result of {wording.listed(drawn, len(drawn), 'or')}" if drawn else "scores"
    if is_result(ds):
        return f"plot.{name}() draws {whose}, but {_this(ds)}"
    if is_scores(ds):
        own = ", ".join(_as_methods(ds).values())
        held = "scores"
        if name in PICTURES:
            whose, held = f"what ds.meta.{name}(n, ...) returns", "scores without a draw"
        return f"plot.{name}() draws {whose}, but this Dataset holds {held}; pictures of scores: {own}"
    return None


def unknown(ds: xr.Dataset, name: str) -> str:
    if not (is_scores(ds) or is_result(ds) or preferences.is_preferences(ds)):
        return f"ds.meta has no {name!r}, and the Dataset no scores: print(ds.meta) says what they need"
    place = "result.meta" if is_result(ds) else "ds.meta"
    here = {"repr": f"print({place})", **{each: each for each in methods(ds)}, **_as_methods(ds)}
    return _unknown(place, name, here, _asked(ds), about=_this(ds) if is_result(ds) else "")


def unknown_picture(ds: xr.Dataset, name: str) -> str:
    place = "result.meta.plot" if is_result(ds) else "ds.meta.plot"
    here = {each: each for each in pictures(ds)}
    return _unknown(place, name, here, [*here] or ["none"], about=_this(ds) if is_result(ds) else "")


def unknown_to(place: str, names: Collection[str], name: str) -> str:
    return _unknown(place, name, {each: f"{place}.{each}" for each in names}, names)


def _this(ds: xr.Dataset) -> str:
    """A result's analysis, and its methods."""
    return f"this is a result of {ds.attrs['analysis']}; its methods: {', '.join(_asked(ds))}"


def _asked(ds: xr.Dataset) -> list[str]:
    return [*(each for each in methods(ds) if each != "plot"), *_as_methods(ds).values()]


def _as_methods(ds: xr.Dataset) -> dict[str, str]:
    return {each: f"plot.{each}" for each in pictures(ds)}


def _unknown(place: str, name: str, here: Mapping[str, str], listed: Iterable[str], about: str = "") -> str:
    """The message for an unknown name: its meaning by the synonyms, or the nearest name."""
    found = _by_table(name, here)
    if not found:
        found = _by_table(name, _everywhere()) or _nearest(name, here) or _nearest(name, _everywhere())
        found = "; ".join(filter(None, [about, found]))
    return f"{place} has no {name!r}; {found or 'available: ' + ', '.join(listed)}"


def _by_table(name: str, written: Mapping[str, str]) -> str:
    found = [each.partition("(") for each in method_synonyms.methods_meant(name)]
    texts = [written[bare] + bracket + rest for bare, bracket, rest in found if bare in written]
    return f"did you mean {' or '.join(texts[:3])}?" if texts else ""


def _nearest(name: str, written: Mapping[str, str]) -> str:
    near = difflib.get_close_matches(name, written, n=1, cutoff=0.7)
    return f"did you mean {written[near[0]]}?" if near else ""


def _everywhere() -> dict[str, str]:
    """All methods, pictures and functions, as they are typed."""
    homes = {each: f"result.meta.plot.{each}" for about in ANALYSES.values() for each in about.pictures}
    homes |= {each: f"ds.meta.plot.{each}" for each in PICTURES}
    homes |= {each: f"xsumstat.{each}" for each in xsumstat.__all__} | {"plot": "ds.meta.plot"}
    homes |= {each: f"df.meta.{each}" for each in OF_FRAMES}
    homes |= {each: f"result.meta.{each}" for each in (*OF_TASKS, *OF_TESTS, *OF_RESULTS)}
    return homes | {each: f"ds.meta.{each}" for names in QUESTIONS.values() for each in names}


def frame_rows(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """Description of a frame as (topic, text): the call that makes scores of it."""
    frame = frame.head(_LOOKED_AT)
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    choices = _of_choices(frame)
    if choices:
        return choices
    columns_of = frame.columns
    texts_of_scores = roles.labels_of(frame)
    frame = texts.coded(frame, texts_of_scores, [])
    run = runs.recognised(frame)
    frame = frame if run is None else runs.first(frame, run)
    found = roles.of(frame)
    fields = ("metric", "system", "input", "value") if found.tidy else ("system", "input")
    columns = {field: getattr(found, field) for field in fields}
    one_system = found.system is None and found.is_one_system(frame)
    lacking = [field for field, name in columns.items() if name is None and not (field == "system" and one_system)]
    arguments = [f"{field}={name!r}" for field, name in columns.items() if name not in (None, _DEFAULTS[field])]
    arguments += [f"{field}=..." for field in lacking] + ([] if found.tidy else ["wide=True"])
    dims = found.dims(frame)
    arguments += [f"dims={(dims[0] if len(dims) == 1 else dims)!r}"] if dims else []
    arguments += [] if run is None else [f"run={run!r}"]
    arguments += [f"{name}={value!r}" for name, value in found.arguments.items()]
    arguments += [f"labels={texts_of_scores!r}"] if texts_of_scores else []
    labels = [f"{name!r} ({field})" for field, name in columns.items() if name is not None]
    labels += [f"{name!r} (dims)" for name in dims] + ([] if run is None else [f"{run!r} (run)"])
    said = [
        ("columns", validate.listing(columns_of, 20)),
        ("recognised", ", ".join(labels) or "no column by its name"),
    ]
    said += [("" if at else "used as", text) for at, text in enumerate(found.words())]
    said += [("first", text) for text in _as_numbers(found)]
    said.append(("scores", f"ds = df.meta.to_scores({', '.join(arguments)})"))
    if not (found.gold or found.raters or found.rated or found.tidy):
        said.append(("", "human scores: add gold='...', or ratings=['...', '...'] for the columns of single raters"))
    for field, names in found.ambiguous.items():
        others = validate.listing([name for name in names if name != columns.get(field)])
        said.append(("", f"or {field}={others}, if that names the {field}s"))
    if not found.tidy and not (found.metrics or found.raters or found.rated):
        said.append(("", "each column of numbers a metric; or metric=... and value=..., where a row is one score"))
    if lacking:
        said.append(("still to name", " and ".join(f"{field}=, the column of {field}s" for field in lacking)))
    return [*said, ("next", "ds.meta lists the methods; help(df.meta.to_scores) describes other layouts")]


def _as_numbers(found: roles.Roles) -> list[str]:
    """What to do with scores that are texts in some rows, before the call that reads them."""
    return [
        f"df[{name!r}] = pandas.to_numeric(df[{name!r}], errors='coerce')  # text such as {text!r} becomes missing"
        for name, text in found.partly.items()
    ]


def _of_choices(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """The call that makes preferences of a frame of choices; none for others."""
    found = roles.choices(frame.columns)
    if found is None:
        return []
    call = roles.call_of_choices(frame, found)
    hint = [] if "kind=" in call else [("", "kind={'human': [...]} names the human raters")]
    known = ", ".join(f"{column!r} ({role})" for role, column in found.items() if column is not None)
    return [
        ("columns", validate.listing(frame.columns, 20)),
        ("recognised", known),
        ("choices", f"ds = df.meta.{call}"),
        *hint,
        ("next", "ds.meta lists the methods; help(df.meta.to_preferences) lists the words that a choice may be"),
    ]
