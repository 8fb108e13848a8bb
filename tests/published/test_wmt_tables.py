"""WMT's published rules as tables: each row of `wmt_info`, and each task of `wmt_tasks` with its rule.

Rows of 2022 to 2024: the toolkit's meta_info.py (its digest: test_wmt_info.py) and tasks.py, in
google-research/mt-metrics-eval; of 2025: www2.statmt.org/wmt25/mteval-subtask1.html.
"""

import contextlib
import itertools

import numpy as np
import pytest
import task_folders
import xarray as xr
from conftest import warns

import xsumstat
from xsumstat.analyses import wmt_data
from xsumstat.report import task_report

# Pair, human scores, standard reference, then what holds of few: outlier=NAME, people (other references are systems in
# 2023 and 2024: `lps_with_multiple_refs`), ranked.
ROWS = {
    "wmt22": """
        cs-en wmt refB; cs-uk wmt-appraise refA; de-en wmt refA; de-fr - refA; en-cs wmt-appraise refB
        en-de mqm refA outlier=M2M100_1.2B-B4 ranked; en-hr wmt-appraise refA; en-ja wmt-appraise refA
        en-liv wmt-appraise refA; en-ru mqm refA ranked; en-uk wmt-appraise refA; en-zh wmt-appraise refA
        fr-de - refA; ja-en wmt refA; liv-en wmt-appraise refA; ru-en wmt refA; ru-sah - refA
        sah-ru wmt-appraise refA; uk-cs wmt-appraise refA; uk-en wmt refA; zh-en mqm refA ranked""",
    "wmt23": """
        cs-uk da-sqm refA; de-en da-sqm refA; en-cs da-sqm refA; en-de mqm refA outlier=synthetic_ref ranked
        en-he - refB people; en-ja da-sqm refA; en-ru - refA; en-uk - refA; en-zh da-sqm refA
        he-en mqm refB people ranked; ja-en da-sqm refA; ru-en - refA; uk-en - refA
        zh-en mqm refA outlier=synthetic_ref ranked""",
    "wmt24": """
        cs-uk esa refA; en-cs esa refA; en-de mqm refB outlier=MSLC people ranked
        en-es mqm refA outlier=MSLC ranked; en-hi esa refA; en-is esa refA; en-ja esa refA; en-ru esa refA
        en-uk esa refA; en-zh esa refA; ja-zh mqm refA outlier=MSLC ranked""",
    "wmt25": """
        cs-de esa - ranked; cs-uk esa - ranked; en-ar esa - ranked; en-bho esa - ranked; en-cs esa - ranked
        en-et esa - ranked; en-is esa - ranked; en-it esa - ranked; en-ja esa - ranked; en-ko mqm - ranked
        en-mas esa - ranked; en-ru esa - ranked; en-sr esa - ranked; en-uk esa - ranked; en-zh esa - ranked
        ja-zh mqm - ranked""",
}
# Shares of a ranked pair: in 2022 and 2023 the accuracy over all pairs weighs as much as a pair.
SHARE = {"wmt22": 1 / 4, "wmt23": 1 / 4, "wmt24": 1 / 3, "wmt25": 1 / 16}
DOMAINS = ("conversation", "ecommerce", "news", "social")


def rows(test_set):
    """What the table says of each pair, as `wmt_info` should tell it."""
    for row in ROWS[test_set].replace("\n", ";").split(";"):
        if row.strip():
            pair, gold, standard, *more = row.split()
            outliers = tuple(each.removeprefix("outlier=") for each in more if each.startswith("outlier="))
            named = (None if gold == "-" else gold, None if standard == "-" else standard)
            share = SHARE[test_set] if "ranked" in more else 0
            yield pair, *named, outliers, "people" in more, "ranked" in more, share


@pytest.mark.parametrize("test_set", ROWS)
def test_each_row_is_the_published_one(test_set):
    info = xsumstat.wmt_info(test_set).astype(object)
    info = info.where(info.notna(), None)
    names = ["language_pair", "gold", "reference", "outliers", "human_systems", "ranked", "weight"]
    found, wanted = list(info[names].itertuples(index=False, name=None)), sorted(rows(test_set))
    assert [row[:-1] for row in found] == [row[:-1] for row in wanted]
    assert [row[-1] for row in found] == pytest.approx([row[-1] for row in wanted])
    assert set(info["domains"]) == {DOMAINS if test_set == "wmt22" else ()}


@pytest.mark.parametrize("test_set, commit", [("wmt22", "38882cc9"), ("wmt23", "61106842"), ("wmt24", "b42f97d7")])
def test_each_source_names_the_file_and_its_version(test_set, commit):
    (source,) = set(xsumstat.wmt_info(test_set).source)
    assert source.startswith(
        ("meta_info.py of google-research/mt-metrics-eval @", "meta_info.py of google-research/mt-metrics-eval,")
    )
    assert commit in source
    assert "human systems: " in source and "tasks.py" in source
    assert ("domains" in source) == (test_set == "wmt22")


def test_the_source_of_2025_is_the_announcement():
    (source,) = set(xsumstat.wmt_info("wmt25").source)
    assert source.split()[0] == "www2.statmt.org/wmt25/mteval-subtask1.html"
    assert source.endswith("(human scores); the toolkit's entries were not available")


@pytest.mark.parametrize(
    "test_set, pair, standard", [("wmt25", "xx-yy", None), ("wmt24", "xx-yy", "refA"), ("wmt23", "en-de_DE", "refA")]
)
def test_a_pair_that_is_not_listed_is_as_most_are(test_set, pair, standard):
    found = wmt_data.of(test_set, pair)
    assert found.reference == standard and not found.people
    assert (found.gold, found.outliers) == (("mqm", ("synthetic_ref",)) if pair == "en-de_DE" else (None, ()))
    assert wmt_data.of("wmt21", pair) is None


@pytest.mark.parametrize(
    "test_set, base, kind",
    [
        *(("wmt23", "BLEU", "baseline"), ("wmt23", "GEMBA-MQM", "primary"), ("wmt23", "mine", "contrastive")),
        *(("wmt24", "YiSi-1", "baseline"), ("wmt24", "XCOMET", "primary"), ("wmt24", "XCOMET-XL", "contrastive")),
        *(("wmt22", "BLEU", "primary"), ("wmt22", "mine", "contrastive"), ("wmt25", "BLEU", ""), ("wmt21", "BLEU", "")),
    ],
)
def test_what_a_metric_is_to_a_test_set(test_set, base, kind):
    """Of 2022 no list of baselines is known: these count as primary."""
    assert wmt_data.submission(test_set, base) == kind


# Where nothing is settled, the gold is the first of these that there is.
GOLDS = ["mqm", "esa", "esa-human1", "esa-human2", "da-sqm", "wmt-appraise", "wmt"]


def scores(golds=("mqm",), systems=("A", "B", "C", "refA"), test_set="wmt22", domains=DOMAINS):
    metrics = [*golds, "COMET", "Kiwi"]
    values = np.random.default_rng(3).normal(size=(len(metrics), len(systems), 8))
    coords = {
        "metric": metrics,
        "system": list(systems),
        "kind": ("metric", [*["human"] * len(golds), "automatic", "automatic"]),
        "reference": ("metric", [*[""] * len(golds), "refA", "src"]),
        "system_type": ("system", ["human" if each.startswith("ref") else "machine" for each in systems]),
        "domain": ("input", list(domains) * (8 // len(domains))),
    }
    return xr.Dataset({"score": (("metric", "system", "input"), values)}, coords, {"test_set": test_set})


@pytest.mark.parametrize("at", range(len(GOLDS)))
def test_the_gold_where_none_is_settled_is_the_first_in_order(at):
    data = {"xx-yy": scores(tuple(reversed(GOLDS[at:])), test_set="wmt25")}
    two = GOLDS[at] == "esa-human1"
    with warns("two_raters") if two else contextlib.nullcontext():
        found = xsumstat.wmt_tasks(data)
    assert {task["gold"] for task in found.values()} == {GOLDS[at]}


def ruled(task):
    """All that a rule says of a task, beside its scores."""
    return {name: value for name, value in task.items() if name not in ("ds", "weight")}


ACCURACY = {"gold": "mqm", "level": "system", "coefficient": "pairwise_accuracy", "missing": "available"}
# What the toolkit's names mean: level, then coefficient, then who is averaged over.
LEVEL = {
    ("sys", "none"): "system",
    ("seg", "none"): "global",
    ("seg", "item"): "input",
    ("seg", "sys"): "within_system",
}
WORDS = {("sys", "none"): "sys", ("seg", "none"): "seg all", ("seg", "item"): "seg by input"}
WORDS[("seg", "sys")] = "seg by system"


def shares(tasks, total=1.0, attributes=("lang", "domain", "level", "avg_by", "human", "corr")):
    """The toolkit's AssignWeights: each value of an attribute has an equal share of what is left."""
    if not attributes:
        return {task: total / len(tasks) for task in tasks}
    at = ("lang", "domain", "level", "avg_by", "human", "corr").index(attributes[0])
    values = dict.fromkeys(task[at] for task in tasks)
    found = {}
    for value in values:
        found |= shares([task for task in tasks if task[at] == value], total / len(values), attributes[1:])
    return found


@pytest.mark.parametrize("with_domains", [True, False])
def test_each_task_of_2022(with_domains):
    """Pairs with a second reference have each question twice; weights as the toolkit's tree of attributes has them."""
    people = {"en-de": True, "en-ru": False, "zh-en": True}
    systems = {True: ("A", "B", "C", "refA", "refB"), False: ("A", "B", "C", "refA")}
    data = {pair: scores(systems=systems[two]) for pair, two in people.items()}
    if not with_domains:
        data = {pair: ds.drop_vars("domain") for pair, ds in data.items()}
    tasks = xsumstat.wmt_tasks(data)
    accuracy = ("all", "", "sys", "", "", "accuracy")
    wanted = [accuracy]
    for pair, two in people.items():
        domains = (None, *DOMAINS) if with_domains else (None,)
        for domain, by, human, corr in itertools.product(domains, LEVEL, (False, True), ("pearson", "kendall")):
            if two or not human:
                wanted.append((pair, domain, *by, human, corr))
    weights = shares(wanted)
    found = dict(tasks)
    first = found.pop("all sys accuracy")
    assert ruled(first) == {**ACCURACY, "pool": "language"} and first["weight"] == pytest.approx(weights[accuracy])
    for key in wanted[1:]:
        pair, domain, level, by, human, corr = key
        words = [pair, domain, WORDS[level, by], corr, "human" if human else None]
        task = found.pop(" ".join(filter(None, words)))
        rule = {"gold": "mqm", "level": LEVEL[level, by], "coefficient": corr, "language_pair": pair}
        rule |= {"domain": domain} if domain else {}
        rule |= {"missing": "available"} if level == "sys" else {}
        rule |= {"undefined": "zero"} if by == "none" else {}
        assert ruled(task) == rule and task["weight"] == pytest.approx(weights[key])
        assert task["ds"].system.values.tolist() == ["A", "B", "C", *(["refB"] if human else [])]
        assert task["ds"].input.size == (2 if domain else 8)
    assert not found


@pytest.mark.parametrize("rules, own", [("wmt23", "wmt23"), ("wmt24", "wmt24"), ("wmt25", "wmt25"), ("wmt24", "wmt23")])
def test_each_task_of_later_years(rules, own):
    """Of test sets' own pairs, and 2023's pairs by the rules of 2024."""
    listed = {row[0]: row for row in rows(own)}
    pairs = [pair for pair, row in listed.items() if row[5] and row[1] == "mqm"]
    systems = ("A", "B", "MSLC", "synthetic_ref", "M2M100_1.2B-B4", "refA", "refB")
    data = {pair: scores(systems=systems, test_set=own) for pair in pairs}
    for pair in pairs:  # metrics by the standard reference
        standard = listed[pair][2] or "refA"
        data[pair] = data[pair].assign_coords(reference=("metric", ["", standard, "src"]))
    found = xsumstat.wmt_tasks(data, rules)
    questions = {"sys spa": ("system", "spa"), "seg acc_eq": ("input", "acc_eq")}
    if rules == "wmt23":
        first = found.pop("all sys accuracy")
        assert ruled(first) == {**ACCURACY, "pool": "language"} and first["weight"] == len(pairs)
        questions = {"sys pearson": ("system", "pearson"), "seg pearson": ("global", "pearson")}
        questions["seg acc_eq"] = ("input", "acc_eq")
    for pair, (words, (level, coefficient)) in itertools.product(pairs, questions.items()):
        task = found.pop(f"{pair} {words}")
        rule = {"gold": "mqm", "level": level, "coefficient": coefficient, "language_pair": pair}
        rule |= {"missing": "available"} if words == "sys pearson" else {}
        rule |= {"undefined": "zero"} if coefficient == "pearson" else {}
        assert ruled(task) == rule and task["weight"] == 1
        _, _, standard, outliers, people, *_ = listed[pair]
        humans = [each for each in ("refA", "refB") if each != (standard or "refA")] if people else []
        machines = [each for each in systems[:5] if each not in outliers]
        assert task["ds"].system.values.tolist() == [*machines, *humans]
    assert not found


class Asked(Exception):
    """Which scores were asked for beside those of segments."""


@pytest.mark.parametrize(
    "rules, beside", [("wmt22", ("sys", "domain")), ("wmt23", ("sys",)), ("wmt24", ()), ("wmt25", ())]
)
def test_scores_of_systems_and_domains_are_read_where_a_rule_asks_for_them(monkeypatch, tmp_path, rules, beside):
    def read(*_, beside, **__):
        raise Asked(beside)

    monkeypatch.setattr(task_report.task_folders, "read", read)
    root, _ = task_folders.make(tmp_path, "mine", {"en-de": ("refA",)}, files=False)
    with pytest.raises(Asked) as asked:
        xsumstat.shared_task(root, rules=rules)
    assert asked.value.args == (beside,)
