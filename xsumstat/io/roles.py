"""What each column of a table holds, by usual names and its first rows; for `df.meta` and the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from xsumstat.core import arguments, validate
from xsumstat.core.method_synonyms import (
    CHOICES,
    COLUMNS,
    JUDGES,
    LOWER_IS_BETTER,
    METRICS,
    NO_RATERS,
    NUMBERED_RATERS,
    RATERS,
)
from xsumstat.core.synonyms import identified, spelt
from xsumstat.io import columns as usual
from xsumstat.io import tabular, texts, words

# A column whose cells have this many characters on average holds texts, not labels.
_LONG = 40
# A column with at most this many different words may hold ratings.
_FEW_WORDS = 12
# Beside judges, and without other human scores, these columns are human scores.
_RATINGS = ("rating", "grade")
# Ends of raters' names that could be a statistic of the others' ratings.
_PEOPLE_TOO = ("max", "min")
# What the raters' mean is called.
MEAN = "human"
_FIELDS = ("metric", "system", "input", "value", "rater", "language")


@dataclass(frozen=True)
class Roles:
    """What the columns of a table hold; the first six name columns or are None."""

    metric: str | None
    system: str | None
    input: str | None
    value: str | None  # column of scores, one per row (`tidy`)
    rater: str | None
    language: str | None
    tidy: bool
    raters: list[str]  # single raters
    people: list[str]  # other human scores
    gold: str | None
    rated: str | None  # the ratings by `rater`
    metrics: list[str]
    judges: list[str]  # among `metrics`, as `covariates`
    covariates: list[str]
    lower: list[str]  # metrics and ratings that seem to be better when lower
    described: dict[str, str]  # by column, the dim that it describes
    texts: list[str]
    numbers: list[str]
    words_in: dict[str, str]  # by column of texts that could be scores, what it holds
    partly: dict[str, str]  # by column of scores that are texts in some rows, the first of these texts
    ambiguous: dict[str, list[str]]  # by field, its several candidates

    def told(self, gold: str | None, raters: list[str] | None, elsewhere: bool) -> Roles:
        """The same once the gold (metric or raters) is given, or is in another table."""
        own = [name for name in (*self.raters, self.rated) if name is not None]
        if raters is not None:
            rest = [name for name in (*self.metrics, *own) if name not in raters]
            return replace(self, raters=list(raters), rated=None, metrics=rest, gold=None)
        if (gold is None and not elsewhere) or (gold is not None and gold == self.rated):
            return self
        people = [name for name in (*own, self.gold) if name not in (None, gold)]
        return replace(self, gold=gold, raters=[], rated=None, metrics=[*self.metrics, *own], people=people)

    @property
    def kinds(self) -> dict[str, list[str]]:
        beside = [self.gold] if self.gold not in (None, MEAN) and (self.raters or self.rated) else []
        people = [*self.people, *(name for name in beside if name is not None)]
        kinds = {"human": people, "judge": self.judges, "covariate": self.covariates}
        return {kind: names for kind, names in kinds.items() if names}

    @property
    def chosen(self) -> list[str] | None:
        doubled = self.gold == MEAN and bool(self.raters or self.rated)  # the mean of the raters takes its name
        names = [name for name in self.metrics if not (doubled and name == self.gold)]
        return names if not self.tidy and (self.numbers or doubled) else None

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of `to_scores` besides the columns of labels."""
        rated = self.raters or self.rated
        told = {
            "metric": self.chosen,
            "ratings": rated,
            "rater": self.rater if self.rated is not None else None,
            "gold": None if rated else self.gold,
            "lower_is_better": self.lower,
            "kind": self.kinds,
        }
        return {name: value for name, value in told.items() if value}

    def dims(self, frame: pd.DataFrame) -> list[str]:
        """Columns that must be further dims, because rows of one output and metric differ by them."""
        fields = [self.system, self.input, *([self.metric] if self.tidy else [])]
        keys = [name for name in fields if name is not None]
        found: list[str] = []
        for name in (self.language, None if self.rated else self.rater):
            if name is not None and keys and frame.duplicated([*keys, *found]).any():
                found.append(name)
        return found

    def is_one_system(self, frame: pd.DataFrame) -> bool:
        """Whether a table without a column of systems describes one system."""
        if self.input is not None and not self.tidy and self.rated is None:
            return not frame.duplicated([self.input, *self.dims(frame)]).any()
        labels = {getattr(self, field) for field in _FIELDS}
        named = {*labels, *self.texts, *self.described, *self.raters, *self.metrics}
        return not any(
            name not in named and not pd.api.types.is_numeric_dtype(frame[name].dtype) for name in frame.columns
        )

    def words(self, *, left_out: bool = True) -> list[str]:
        """How columns were read, besides the columns of labels; `left_out` False where the reader reports these."""
        said = []
        if self.raters:
            said.append(f"{validate.counted(len(self.raters), 'rater')}: {', '.join(self.raters)}")
        if self.rated is not None:
            said.append(f"ratings: {self.rated}, by {self.rater}")
        if self.gold is not None:
            beside = f"{'left out' if self.gold == MEAN else 'not evaluated'}, because the raters' mean is used"
            said.append(f"human scores: {self.gold}{f' ({beside})' if self.raters or self.rated else ''}")
        if self.people:
            said.append(f"human scores, not evaluated: {', '.join(self.people)}")
        for names, what in ((self.judges, "judge"), (self.covariates, "covariate")):
            if names:
                said.append(f"{what}{'s' * (len(names) > 1)}: {', '.join(names)}")
        rest = [name for name in self.metrics if name not in (self.gold, *self.people, *self.judges, *self.covariates)]
        if rest:
            said.append(f"{'other ' * bool(self.judges)}metric{'s' * (len(rest) > 1)}: {_several(rest)}")
        for dim in ("input", "system"):
            names = [name for name, described in self.described.items() if described == dim]
            if names:
                said.append(f"{', '.join(names)}: {'a coordinate' if len(names) == 1 else 'coordinates'} of {dim}s")
        said += [
            f"{'no scores' if name in self.described else 'left out'}: {name}, which holds {held}"
            for name, held in self.words_in.items()
            if left_out or name in self.described
        ]
        if self.texts:
            said.append(f"text{'s' * (len(self.texts) > 1)} left out: {', '.join(self.texts)}")
        if self.numbers:
            said.append(f"no scores: {', '.join(self.numbers)}")
        return said


def _several(names: list[str]) -> str:
    return ", ".join(names[:12]) + (f", … ({len(names)} in all)" if len(names) > 12 else "")


def of(frame: pd.DataFrame, named: Mapping[str, str | None] | None = None) -> Roles:
    given = {field: name for field, name in (named or {}).items() if name in frame.columns and name is not None}
    columns = [name for name in frame.columns if isinstance(name, str) and not usual.is_saved_index(name)]
    raters = raters_in(frame, [name for name in columns if name not in given.values()])
    free = [name for name in columns if name not in raters]
    fields, ambiguous = _fields(frame, free, given)
    tidy = fields["metric"] is not None and (fields["value"] is not None or fields["metric"] == "metric")
    taken = {name for field, name in fields.items() if name is not None and (tidy or field not in ("metric", "value"))}
    rest = [name for name in free if name not in taken]
    found = Roles(
        **fields, tidy=tidy, raters=raters, people=[], gold=None, rated=None, metrics=[], judges=[], covariates=[],
        lower=[], described=_described(frame, rest, fields), texts=[], numbers=[], words_in={}, partly={},
        ambiguous=ambiguous,
    )  # fmt: skip
    if tidy:
        return _of_tidy(frame, found, rest)
    return _judges_apart(frame, _of_wide(frame, replace(found, metric=None, value=None), rest))


def _judges_apart(frame: pd.DataFrame, found: Roles) -> Roles:
    """Where a column of raters includes judges, each rater counts as a metric."""
    labels = [] if found.rated is None else frame[found.rater].dropna().unique().tolist()
    judges = [label for label in labels if isinstance(label, str) and _is_judge(label)]
    people = [label for label in labels if label not in judges]
    if not judges or not people or set(found.metrics) - set(found.covariates):
        return found
    apart = replace(found, tidy=True, metric=found.rater, rater=None, value=found.rated, rated=None)
    return _classified(apart, judges, people)


def _of_tidy(frame: pd.DataFrame, found: Roles, rest: list[str]) -> Roles:
    rated = _rated_metric(frame, found)
    labels = frame[found.metric].dropna().unique().tolist() if found.rater is None or rated is not None else []
    labels = [label for label in labels if isinstance(label, str) and label != rated]
    raters = _single([label for label in labels if _is_rater(label)]) if rated is None else []
    metrics = [label for label in labels if label not in raters]
    return _classified(replace(found, texts=_texts(frame, rest, found.described), rated=rated), metrics, raters)


def _rated_metric(frame: pd.DataFrame, found: Roles) -> str | None:
    """The metric that is ratings: the only one with names of raters, who are several and no judges."""
    if found.rater is None or found.metric not in frame.columns:
        return None
    there = frame[found.rater].notna()
    metrics, raters = (frame.loc[there, name].unique().tolist() for name in (found.metric, found.rater))
    judges = any(isinstance(rater, str) and _is_judge(rater) for rater in raters)
    return metrics[0] if len(metrics) == 1 and len(raters) > 1 and not judges and isinstance(metrics[0], str) else None


def _of_wide(frame: pd.DataFrame, found: Roles, rest: list[str]) -> Roles:
    partly = {name: words.among_numbers(frame[name]) for name in (*rest, *found.raters)}
    mixed = {name: text for name, text in partly.items() if text is not None and not _is_number(frame[name])}
    numeric = [name for name in rest if _is_number(frame[name]) or name in mixed or _is_written(frame[name], name)]
    labels = {*COLUMNS["input"], *COLUMNS["category"], *COLUMNS["system"]}
    numbers = [name for name in numeric if spelt(name) in labels or identified(name) is not None]
    empty = [name for name in numeric if len(frame) and frame[name].isna().all()]
    metrics = [name for name in numeric if name not in (*numbers, *empty)]
    if found.rater is not None and not found.raters:
        rated = _rated(frame, found, metrics)
        found, metrics = replace(found, rated=rated), [name for name in metrics if name != rated]
    found = replace(
        found,
        texts=_texts(frame, rest, found.described),
        numbers=[name for name in numbers if name not in found.described],
        words_in=_words_in(
            frame, [name for name in rest if name not in numeric and (name not in found.described or _is_judge(name))]
        )
        | dict.fromkeys(empty, "nothing"),
        partly=mixed,
    )
    return _classified(found, metrics, found.raters)


def _classified(found: Roles, metrics: list[str], raters: list[str]) -> Roles:
    gold = next(iter(_candidates(metrics, "gold", set())), None)
    if gold is None and found.rated is None and not (raters or found.tidy) and any(map(_is_judge, metrics)):
        gold = next((name for name in metrics if spelt(name) in _RATINGS), None)
    if len(raters) == 1:  # whose ratings need no mean
        metrics, gold, raters = [*metrics, *raters], raters[0] if gold is None else gold, []
    lower = [name for name in (*metrics, found.rated) if name is not None and is_lower(name)]
    lower += raters if all(map(is_lower, raters)) else []
    return replace(
        found,
        raters=raters,
        gold=gold,
        metrics=metrics,
        judges=[name for name in metrics if name != gold and _is_judge(name)],
        covariates=[name for name in metrics if spelt(name) in COLUMNS["covariate"]],
        lower=lower,
    )


def _is_judge(name: str) -> bool:
    return bool(set(words_of(name)) & set(JUDGES))


def is_automatic(name: str) -> bool:
    """Whether a column of this name is usually an automatic metric."""
    bare = re.sub(r"[\W_\d]", "", name).lower()  # chrF++, BERTScore, BLEURT-20
    several = any(bare == each or (len(each) > 4 and bare.startswith(each)) for each in METRICS)
    return several or bool(set(words_of(name)) & set(METRICS))


def labels_of(frame: pd.DataFrame) -> list[str]:
    """Texts that ratings are, lowest first; none for numbers or an unknown order."""
    usual = {*COLUMNS["value"], *COLUMNS["gold"]}
    names = [name for name in frame.columns if isinstance(name, str)]
    return texts.usual(frame[[name for name in names if _is_rater(name) or _is_judge(name) or spelt(name) in usual]])


def is_lower(name: str) -> bool:
    """Whether a metric of this name is usually better when lower."""
    words = set(words_of(name))
    return (
        spelt(name) in LOWER_IS_BETTER or bool(words & set(LOWER_IS_BETTER)) and not words & {"free", "no", "without"}
    )


def _fields(
    frame: pd.DataFrame, columns: list[str], given: Mapping[str, str]
) -> tuple[dict[str, str | None], dict[str, list[str]]]:
    """Columns of labels, and candidates of a field that has several."""
    fields: dict[str, str | None] = {field: given.get(field) for field in _FIELDS}
    ambiguous: dict[str, list[str]] = {}
    for field in ("metric", "value", "system", "rater", "language", "input"):
        if fields[field] is not None:
            continue
        candidates = _candidates(columns, field, {name for name in fields.values() if name is not None})
        if field == "input":
            keys = [fields[each] for each in ("system", "rater", "language") if fields[each] is not None]
            keys += [fields["metric"]] if fields["metric"] is not None and fields["value"] is not None else []
            keys = [key for key in keys if key in frame.columns]
            candidates = _inputs(frame, _with_identifiers(frame, columns, candidates, fields, keys), keys)
        fields[field] = candidates[0] if candidates else None
        if len(candidates) > 1 and candidates[0] != field and not _alike(frame, candidates):
            ambiguous[field] = candidates
    return fields, ambiguous


def _candidates(columns: Iterable[str], field: str, taken: set[str]) -> list[str]:
    """Columns with a usual name of a field, in the order of these names; only its own name where it exists."""
    names = COLUMNS[field]
    own = "score" if field == "value" else field
    if own in columns and own not in taken:
        return [own]
    free = [name for name in columns if spelt(name) in names and name not in taken]
    return sorted(free, key=lambda name: names.index(spelt(name)))


def _with_identifiers(
    frame: pd.DataFrame, columns: list[str], usual_names: list[str], fields: Mapping[str, str | None], keys: list[Any]
) -> list[str]:
    """Columns with usual names of inputs, and other identifiers unless one of the first is shared by systems."""
    if usual_names == ["input"] or any(_is_shared(frame, name, keys) for name in usual_names):
        return usual_names
    others = [name for name in columns if identified(name) and name not in (*usual_names, *fields.values())]
    return [*usual_names, *(name for name in others if _is_shared(frame, name, keys))] or usual_names


def _is_shared(frame: pd.DataFrame, name: str, keys: list[Any]) -> bool:
    """Whether a column distinguishes the rows of one system, and systems share its labels."""
    if not len(frame) or tabular.is_nested(frame[name]):
        return False
    return not frame.duplicated([*keys, name]).any() and (not keys or bool(frame[name].duplicated().any()))


def _inputs(frame: pd.DataFrame, candidates: list[str], keys: list[Any]) -> list[str]:
    """Candidate columns of inputs that distinguish the rows of one system, preferably shared by systems."""
    if len(candidates) < 2 or not len(frame):
        return candidates
    shared = [name for name in candidates if _is_shared(frame, name, keys)]
    found = shared or [name for name in candidates if not frame.duplicated([*keys, name]).any()] or candidates
    return next(([name] for name in found if _is_finer(frame, name, found)), found)


def _is_finer(frame: pd.DataFrame, name: str, columns: list[str]) -> bool:
    """Whether each label of a column belongs to one label of every other column, and not the other way round."""
    for other in columns:
        if other == name:
            continue
        pairs = frame[[name, other]].dropna().drop_duplicates()
        if pairs[name].duplicated().any() or not pairs[other].duplicated().any():
            return False
    return True


def _alike(frame: pd.DataFrame, columns: list[str]) -> bool:
    if not len(frame):
        return False
    codes = [pd.factorize(frame[name])[0].tolist() for name in columns]
    return all(each == codes[0] for each in codes)


def raters_in(frame: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """Columns of single raters: usual names, with numbers or few words."""
    names = list(columns)
    found = [name for name in names if _is_rater(name) and _may_be_ratings(frame[name])]
    return _single([name for name in names if name in found or _is_own(frame, name, found)])


def _is_own(frame: pd.DataFrame, name: str, raters: list[str]) -> bool:
    """Whether a column such as "ann_max" has ratings of its own, and not the greatest of the raters'."""
    first, *others = words_of(name) or [""]
    if first not in RATERS or len(others) != 1 or others[0] not in _PEOPLE_TOO:
        return False
    numeric = [each for each in raters if _is_number(frame[each])]
    if not numeric or not len(frame) or not _is_number(frame[name]):
        return False
    extreme = frame[numeric].agg(others[0], axis=1)
    both = frame[name].notna() & extreme.notna()
    return bool((frame[name] != extreme)[both].any())


def _single(columns: list[str]) -> list[str]:
    """The columns, unless a rater has several (one for each rated quality)."""
    people = {tuple(words_of(name)[:2]) for name in columns}
    return columns if len(people) == len(columns) else []


def _is_rater(name: str) -> bool:
    first, *others = words_of(name) or [""]
    if not others or first not in {*RATERS, *NUMBERED_RATERS} or others[-1] in NO_RATERS:
        return False
    short = len(others) == 1 and (others[0].isdecimal() or len(others[0]) == 1)
    return short or first in RATERS


def _may_be_ratings(column: pd.Series[Any]) -> bool:
    if _is_number(column) or pd.api.types.is_bool_dtype(column.dtype) or words.among_numbers(column) is not None:
        return True
    if tabular.is_nested(column):
        return False
    labels = column.dropna().unique()
    return len(labels) <= _FEW_WORDS and all(len(str(label).split()) <= 3 for label in labels)


def _is_number(column: pd.Series[Any]) -> bool:
    """Whether a column holds numbers, or with a header alone could."""
    if not len(column):
        return True
    return bool(pd.api.types.is_numeric_dtype(column.dtype)) and not pd.api.types.is_bool_dtype(column.dtype)


def _is_written(column: pd.Series[Any], name: str) -> bool:
    """Whether a column that usually holds scores has numbers written as text, as a part of a column with words has."""
    if spelt(name) not in {*COLUMNS["value"], *COLUMNS["gold"]} and not _is_judge(name):
        return False
    return not tabular.is_nested(column) and words.are_numbers(column)


def words_of(name: str) -> list[str]:
    """Words of a name in lower case: "annotator.Bob2" has three."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+", name)]


def _rated(frame: pd.DataFrame, found: Roles, metrics: list[str]) -> str | None:
    """Column of ratings with one row each: by name, or the only one that varies."""
    named = [*_candidates(metrics, "value", set()), *_candidates(metrics, "gold", set())]
    if named:
        return named[0]
    keys = [name for name in (found.system, found.input, found.language) if name is not None]
    if not keys:
        return None
    varying = [name for name in metrics if (frame.groupby(keys, dropna=False)[name].nunique() > 1).any()]
    return varying[0] if len(varying) == 1 else metrics[0] if len(metrics) == 1 else None


def _described(frame: pd.DataFrame, columns: list[str], fields: Mapping[str, str | None]) -> dict[str, str]:
    """Columns with one value for each input or system that are not scores, and which dim they describe."""
    found: dict[str, str] = {}
    for name in columns:
        is_number = _is_number(frame[name])
        is_label = spelt(name) in COLUMNS["category"] or identified(name) is not None
        if tabular.is_nested(frame[name]) or (is_number and not is_label):
            continue
        codes = pd.Series(pd.factorize(frame[name])[0], index=frame.index)
        for dim in ("system", "input"):
            label = fields[dim]
            if label is None or not len(frame) or not frame[label].duplicated().any():
                continue
            if (codes.groupby(frame[label].to_numpy()).nunique() <= 1).all():
                found[name] = dim
                break
        else:
            if fields["input"] is not None and fields["system"] is None and len(frame):
                found[name] = "input"
    return found


def _words_in(frame: pd.DataFrame, columns: Iterable[str]) -> dict[str, str]:
    """What columns without a role hold: numbers with decimal commas, grades in words, or other text."""
    found: dict[str, str] = {}
    for name in columns:
        if tabular.is_nested(frame[name]) or _is_number(frame[name]) or words.among_numbers(frame[name]) is not None:
            continue
        if is_text(frame[name], name) and not _is_judge(name):
            continue
        number, grades = words.comma(frame[name]), words.grades(frame[name])
        if number is not None:
            commas = "commas" if words.are_thousands(frame[name]) else "decimal commas"
            found[name] = f"numbers with {commas} ({number}): read them as numbers"
        elif grades:
            found[name] = f"text ({', '.join(grades)}); grades need labels, the lowest first"
        elif pd.api.types.is_bool_dtype(frame[name].dtype):
            found[name] = f"True and False: {arguments.given('labels', ['False', 'True'])} reads them as verdicts"
        elif frame[name].notna().any():
            found[name] = f"no numbers, e.g. {validate.given(frame[name].dropna().iloc[0])}"
    return found


def _texts(frame: pd.DataFrame, columns: list[str], described: Mapping[str, str]) -> list[str]:
    return [name for name in columns if name not in described and is_text(frame[name], name)]


def is_text(column: pd.Series[Any], name: Any) -> bool:
    """Whether a column holds texts, by name or length."""
    if not isinstance(name, str) or pd.api.types.is_numeric_dtype(column.dtype) or tabular.is_nested(column):
        return False
    if spelt(name) in COLUMNS["text"]:
        return True
    there = column.dropna().head(words.LOOKED_AT)
    return len(there) > 0 and float(there.map(lambda value: len(str(value))).mean()) >= _LONG


def choices(columns: Iterable[Any]) -> dict[str, str | None] | None:
    """Columns of choices between two outputs by their role in `to_preferences`; None for another table."""
    spelled = {spelt(name): name for name in reversed(list(columns)) if isinstance(name, str)}
    found = {role: next((spelled[word] for word in names if word in spelled), None) for role, names in CHOICES.items()}
    return None if None in (found["left"], found["right"], found["choice"]) else found


def call_of_choices(frame: pd.DataFrame, found: Mapping[str, str | None]) -> str:
    """The call that makes preferences of a frame of choices."""
    arguments = [
        f"{role}={column!r}" if column is not None else f"{role}=..."
        for role, column in found.items()
        if (column != role or role == "rater") and (column is not None or role == "prompt")
    ]
    rater = found["rater"]
    raters = [] if rater is None else [each for each in frame[rater].dropna().unique() if isinstance(each, str)]
    people = [label for label in raters if not _is_judge(label)]
    if people and len(people) < len(raters) and len(people) <= _FEW_WORDS:
        arguments.append(f"kind={{'human': {people!r}}}")
    return f"to_preferences({', '.join(arguments)})"


def refuse_ambiguous(found: Roles, field: str) -> None:
    if field in found.ambiguous:
        names = found.ambiguous[field]
        together = f" (in Python input={names!r} joins them)" if field == "input" else ""
        raise ValueError(
            f"{len(names)} columns could name the {field}: {validate.listing(names)}; say which one: "
            f"{arguments.naming(field)}{together}"
        )
