"""The tasks by which WMT's metrics shared tasks rank metrics: `wmt_tasks`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import wmt_data
from xsumstat.core import arguments, validate
from xsumstat.dataset import align, left_out, locate

Task = dict[str, Any]
YEARS = ("wmt22", "wmt23", "wmt24", "wmt25")
# The first of these that there are human scores of is the gold. WMT25's ESA has the scores of two raters.
_TWO_OF_ESA = ("esa-human1", "esa-human2")
GOLDS = ("mqm", "esa", *_TWO_OF_ESA, "da-sqm", "wmt-appraise", "wmt")
# Granularities of scores that rules ask for beside those of segments.
BESIDE = {"wmt22": ("sys", "domain"), "wmt23": ("sys",), "wmt24": (), "wmt25": ()}
_AVERAGED = {"all": "global", "by input": "input", "by system": "within_system"}


@validate.public
def wmt_tasks(
    data: Mapping[str, xr.Dataset] | xr.Dataset,
    rules: str | None = None,
    *,
    systems: Mapping[str, xr.Dataset] | None = None,
    domains: Mapping[str, xr.Dataset] | None = None,
    gold: str | Mapping[str, str] | None = None,
    reference: str | Mapping[str, str] | None = None,
    leave_out: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    human: bool | None = None,
    primary: bool = False,
) -> dict[str, dict[str, Any]]:
    """The tasks by which a WMT metrics shared task ranks metrics, for `rank_tasks`.

    Parameters
    ----------
    data : mapping of str to Dataset
        Scores of segments by language pair, e.g. by `read_mtme`; or one Dataset with ``attrs["language_pair"]``.
    rules : {"wmt22", "wmt23", "wmt24", "wmt25"}, optional
        Year of the rules. Default ``attrs["test_set"]``; other years' scores are allowed.
    systems : mapping of str to Dataset, optional
        Scores of systems by language pair (``granularity="sys"``), for "wmt22" and "wmt23". Default: means of segments.
    domains : mapping of str to Dataset, optional
        The same for domains (``granularity="domain"``), for "wmt22".
    gold : str or mapping, optional
        Human scores, for all pairs or by pair. Default: the task's, else the first of "mqm", "esa", "esa-human1",
        "esa-human2", "da-sqm", "wmt-appraise" and "wmt".
    reference : str or mapping, optional
        Reference whose metrics are ranked, for all pairs or by pair. Default: the standard one, or the only one.
    leave_out : list of str or mapping, optional
        Systems to leave out, for all pairs or by pair. Default: the outliers of 2022 to 2024.
    human : bool, optional
        Whether references other than the standard one count as systems. Default: as the rules say.
    primary : bool, default False
        Rank only primary submissions, baselines and metrics that `add_metric` added: the coordinate ``submission``.

    Returns
    -------
    dict
        Tasks by name, each with ``ds``, ``gold``, ``level``, ``coefficient``, ``weight`` and, for a single pair or
        domain, ``language_pair`` or ``domain``. Metrics are labelled by ``base``, some with "[noref]".

    Notes
    -----
    "wmt24" and "wmt25": "spa" of systems and "acc_eq" of segments, by input, for each pair, with equal weights.
    "wmt23": pairwise accuracy of all pairs' systems, and three tasks for each pair. "wmt22": 201 tasks for three pairs.
    Details, and differences from the toolkit: documentation, "How intervals and tests are computed". Sources: Freitag
    et al. (2022, 2023, 2024), "Results of the WMT22 [WMT23, WMT24] Metrics Shared Task". Lavie et al. (2025).
    github.com/google-research/mt-metrics-eval, ``tasks.py`` and ``meta_info.py``.

    {demo}
    >>> tasks = xsumstat.wmt_tasks({"en-de": ds}, "wmt24", gold="human")
    >>> {name: (task["level"], task["coefficient"]) for name, task in tasks.items()}
    {'en-de sys spa': ('system', 'spa'), 'en-de seg acc_eq': ('input', 'acc_eq')}
    """
    pairs = _by_pair(data)
    parts: dict[str, dict[str, xr.Dataset]] = {}
    for name, each in (("systems", systems), ("domains", domains)):
        parts[name] = {} if each is None else _by_pair(each, name)
        for pair in parts[name]:
            validate.known(name, pair, list(pairs), "data has the pairs")
    rules = rules if rules is not None else next(iter(pairs.values())).attrs.get("test_set")
    validate.choice("rules", rules, YEARS)
    validate.flag("primary", primary)
    asked = {"gold": gold, "reference": reference, "leave_out": leave_out}
    for name, value in asked.items():
        if isinstance(value, Mapping):
            for pair in value:
                validate.known(name, pair, list(pairs), "data has the pairs")
    prepared = {}
    for pair in sorted(pairs):
        own = {name: value.get(pair) if isinstance(value, Mapping) else value for name, value in asked.items()}
        whole, single = (parts[name].get(pair) for name in ("systems", "domains"))
        if primary:
            pairs[pair], whole, single = (_primary(each, pair) for each in (pairs[pair], whole, single))
        prepared[pair] = _Pair.of(pair, pairs[pair], human, str(rules), systems=whole, domains=single, **own)
    _warn_of_two(prepared, pairs, gold)
    made: dict[str, Callable[[dict[str, _Pair]], dict[str, Task]]] = {"wmt22": _of_2022, "wmt23": _of_2023}
    return made.get(str(rules), _of_2024)(prepared)


def _by_pair(data: Any, argument: str = "data") -> dict[str, xr.Dataset]:
    if isinstance(data, xr.Dataset) and argument == "data":
        if "language_pair" not in data.attrs:
            raise ValueError('data has no attrs["language_pair"]; give a mapping of pairs, as {"en-de": ds}')
        data = {data.attrs["language_pair"]: data}
    if isinstance(data, Mapping) and not data:
        raise ValueError(f"{argument} is empty; it must have at least one language pair")
    if not isinstance(data, Mapping):
        raise TypeError(f"{argument} must be a mapping of language pairs to Datasets, got {type(data).__name__}")
    for pair, ds in data.items():
        if not isinstance(pair, str) or not isinstance(ds, xr.Dataset):
            raise TypeError(f"{argument} must be a mapping of language pairs to Datasets, got {pair!r}: {ds!r:.60}")
    return dict(data)


def _primary(ds: Any, pair: str) -> Any:
    """The scores without contrastive submissions; None where there are none."""
    if ds is None:
        return None
    if "submission" not in ds.coords:
        known = validate.listing(wmt_data.PRIMARY)
        raise ValueError(
            f"{arguments.given('primary', True)} needs the coordinate submission(metric), which {pair} lacks: "
            f"read_mtme sets it for {known}; "
            "for other test sets assign 'primary', 'baseline' or 'contrastive' to each metric"
        )
    return ds.isel(metric=(ds["submission"] != "contrastive").values)


@dataclass(frozen=True)
class _Pair:
    name: str
    segments: xr.Dataset
    systems: xr.Dataset
    domains: xr.Dataset | None
    gold: str
    people: tuple[Any, ...]  # other references, which may count as systems
    human: bool

    @classmethod
    def of(
        cls,
        pair: str,
        ds: xr.Dataset,
        human: bool | None,
        rules: str,
        *,
        systems: xr.Dataset | None,
        domains: xr.Dataset | None,
        gold: Any,
        reference: Any,
        leave_out: Any,
    ) -> _Pair:
        settled = wmt_data.of(ds.attrs.get("test_set", rules), pair)
        gold = _gold(pair, ds, gold, settled)
        reference = _reference(pair, ds, reference, settled)
        out = (settled.outliers if settled else ()) if leave_out is None else leave_out
        if leave_out is not None:
            if isinstance(out, str):
                raise TypeError(f"leave_out must be a list of systems, got {out!r}")
            for system in validate.several("leave_out", out, "a list of systems"):
                validate.known("system of leave_out", system, ds["system"].values.tolist(), f"{pair} has")
        if human is None:
            human = rules in ("wmt23", "wmt24") and settled is not None and settled.people
        segments, whole, single = (
            None if each is None else _ranked(each, gold, reference, out, pair)
            for each in (ds, ds if systems is None else systems, domains)
        )
        assert segments is not None and whole is not None
        kinds = segments.get("system_type")
        people = () if kinds is None else tuple(segments["system"].values[(kinds == "human").values].tolist())
        return cls(pair, segments, whole, single, gold, people, human)

    def without_people(self, ds: xr.Dataset) -> xr.Dataset:
        return _without(ds, self.people)

    def task(self, level: str, coefficient: str, *, human: bool | None = None, domain: str | None = None) -> Task:
        of_means = level == "system" and coefficient != "spa"
        ds = self.systems if of_means and domain is None else self.segments
        if domain is not None:
            ds = self._of_domain(domain, of_means)
        ds = ds if (self.human if human is None else human) else self.without_people(ds)
        found = {"ds": ds, "gold": self.gold, "level": level, "coefficient": coefficient, "weight": 1.0}
        found |= {"language_pair": self.name} | ({} if domain is None else {"domain": domain})
        if of_means:
            found["missing"] = "available"
        zero = coefficient in ("pearson", "kendall") and level in ("system", "global")
        return {**found, "undefined": "zero"} if zero else found

    def _of_domain(self, domain: str, of_means: bool) -> xr.Dataset:
        if of_means and self.domains is not None:
            return self.domains.isel(input=(self.domains["input"] == domain).values)
        return self.segments.isel(input=(self.segments["domain"] == domain).values)


def gold_of(pair: str, ds: xr.Dataset, gold: str | None, rules: str) -> str:
    """The human scores of a pair that tasks take."""
    return _gold(pair, ds, gold, wmt_data.of(ds.attrs.get("test_set", rules), pair))


def _gold(pair: str, ds: xr.Dataset, gold: Any, settled: wmt_data.Settled | None) -> str:
    there = locate.checked_scores(ds)["metric"].values.tolist()
    if gold is not None:
        return str(validate.known(f"gold of {pair}", gold, there, "metrics"))
    own = settled.gold if settled is not None else None
    found = [name for name in (own, *GOLDS) if name in there]
    if not found and ds.attrs.get("gold") in there:
        found = [ds.attrs["gold"]]
    if not found:
        raise ValueError(f"{pair} needs human scores called {validate.listing(GOLDS)}; or name the gold")
    return str(found[0])


def _warn_of_two(pairs: Mapping[str, _Pair], data: Mapping[str, xr.Dataset], gold: Any) -> None:
    first, second = _TWO_OF_ESA
    named = set(data) if isinstance(gold, str) else set(gold or ())
    both = [name for name, pair in pairs.items() if pair.gold == first and second in data[name]["metric"].values]
    both = [name for name in both if name not in named]
    if both:
        validate.warn(
            f"{validate.listing(both)} have ESA scores of two raters, and those of {first!r} are the gold; "
            f"gold={second!r} takes the other's",
            "two_raters",
        )


def _reference(pair: str, ds: xr.Dataset, reference: Any, settled: wmt_data.Settled | None) -> str | None:
    if "reference" not in ds.coords:
        if reference is not None:
            raise ValueError(
                f"{arguments.given('reference', reference)}: the metrics of {pair} have no coordinate reference(metric)"
            )
        return None
    there = sorted({str(each) for each in ds["reference"].values} - {"", "src"})
    if reference is not None:
        return str(validate.known(f"reference of {pair}", reference, there, "metrics have"))
    standard = settled.reference if settled is not None else None
    if standard in there or not there:
        return standard
    if len(there) > 1:
        raise ValueError(
            f"metrics of {pair} have the references {validate.listing(there)}, and which of them is the standard one "
            f"is not known; say it, as in {arguments.given('reference', {pair: there[0]})}"
        )
    return there[0]


def _ranked(ds: xr.Dataset, gold: str, reference: str | None, out: Sequence[Any], pair: str) -> xr.Dataset:
    """The gold and the metrics that are ranked, by their base names, without outliers and the standard reference."""
    ds = _without(ds, [*out, *([] if reference is None else [reference])])
    labels = ds["metric"].values.tolist()
    validate.known(f"gold of {pair}", gold, labels, "metrics")
    kinds = ds["kind"].values.tolist() if "kind" in ds.coords else ["automatic"] * len(labels)
    parts = ds["reference"].values.tolist() if "reference" in ds.coords else [""] * len(labels)
    bases = ds["base"].values.tolist() if "base" in ds.coords else labels
    kept = [
        at
        for at, (label, kind, part) in enumerate(zip(labels, kinds, parts, strict=True))
        if label == gold or (kind != "human" and part in (reference, "src", ""))
    ]
    both = {bases[at] for at in kept if parts[at] == reference} & {bases[at] for at in kept if parts[at] == "src"}
    names = [
        gold if labels[at] == gold else f"{bases[at]}[noref]" if parts[at] == "src" and bases[at] in both else bases[at]
        for at in kept
    ]
    validate.unique(f"base names of the metrics of {pair}", names)
    return ds.isel(metric=kept).assign_coords(metric=np.array(names, dtype=object))


def _without(ds: xr.Dataset, systems: Collection[Any]) -> xr.Dataset:
    """The scores without some systems, whose names are an attr of what is left."""
    lost = ds["system"].isin(list(systems))
    names = [*left_out.systems_of(ds), *ds["system"].values[lost.values].tolist()]
    return ds.sel(system=~lost).assign_attrs({left_out.SYSTEMS: names}) if names else ds


def _of_2024(pairs: dict[str, _Pair]) -> dict[str, Task]:
    found = {}
    for name, pair in pairs.items():
        found[f"{name} sys spa"] = pair.task("system", "spa")
        found[f"{name} seg acc_eq"] = pair.task("input", "acc_eq")
    return found


def _of_2023(pairs: dict[str, _Pair]) -> dict[str, Task]:
    found = {"all sys accuracy": {**_accuracy(pairs), "weight": float(len(pairs))}}
    for name, pair in pairs.items():
        found[f"{name} sys pearson"] = pair.task("system", "pearson")
        found[f"{name} seg pearson"] = pair.task("global", "pearson")
        found[f"{name} seg acc_eq"] = pair.task("input", "acc_eq")
    return found


def _of_2022(pairs: dict[str, _Pair]) -> dict[str, Task]:
    share = 1.0 / (1 + len(pairs))
    found = {"all sys accuracy": {**_accuracy(pairs), "weight": share}}
    for name, pair in pairs.items():
        there = set(pair.segments["domain"].values.tolist()) if "domain" in pair.segments.coords else set()
        others = sorted(map(str, there - set(wmt_data.DOMAINS["wmt22"])))
        if others:
            validate.warn(
                f"no task of {name} covers the domain{'s' * (len(others) > 1)} {validate.listing(others, 4)} alone: "
                f"WMT22's are {validate.listing(wmt_data.DOMAINS['wmt22'])}",
                "no_such_domain",
            )
        domains = [None, *(each for each in wmt_data.DOMAINS["wmt22"] if each in there)]
        kinds = [False, True] if pair.people else [False]
        for domain in domains:
            for human in kinds:
                for coefficient in ("pearson", "kendall"):
                    words = [name, *([] if domain is None else [domain])]
                    end = [coefficient, *(["human"] if human else [])]
                    weight = share / len(domains) / len(kinds) / 2 / 2  # two levels, two coefficients
                    task = pair.task("system", coefficient, human=human, domain=domain)
                    found[" ".join([*words, "sys", *end])] = {**task, "weight": weight}
                    for averaged, level in _AVERAGED.items():
                        task = pair.task(level, coefficient, human=human, domain=domain)
                        found[" ".join([*words, "seg", averaged, *end])] = {**task, "weight": weight / len(_AVERAGED)}
    return found


def _accuracy(pairs: dict[str, _Pair]) -> Task:
    parts, golds = [], {pair.gold for pair in pairs.values()}
    gold = golds.pop() if len(golds) == 1 else "gold"
    human = any(pair.human for pair in pairs.values())  # one task, which has people or not
    for pair in pairs.values():
        ds = pair.systems if human else pair.without_people(pair.systems)
        names = [gold if label == pair.gold else label for label in ds["metric"].values.tolist()]
        score = align.oriented(locate.checked_scores(ds), ("metric",)).reset_coords(drop=True)
        parts.append(score.to_dataset(name="score").assign_coords(metric=np.array(names, dtype=object)))
    everywhere = [name for name in parts[0]["metric"].values if all(name in each["metric"].values for each in parts)]
    parts = [each.sel(metric=everywhere) for each in parts]
    task: Task = {"gold": gold, "level": "system", "coefficient": "pairwise_accuracy", "missing": "available"}
    if len(parts) == 1:
        return {"ds": parts[0], **task}
    whole = xr.concat(parts, dim="language", join="outer").assign_coords(language=list(pairs))
    return {"ds": whole, **task, "pool": "language"}
