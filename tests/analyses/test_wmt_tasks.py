"""The tasks of WMT's metrics shared tasks."""

import warnings

import numpy as np
import pytest
import reference
import scipy.stats
import xarray as xr
from conftest import warns

import xsumstat
from xsumstat.analyses import wmt_data

PAIRS = ("en-de", "en-es", "ja-zh")
METRICS = [
    *(("BLEU", "refA"), ("BLEU", "refB"), ("COMET", "refA")),
    *(("Kiwi", "src"), ("MetricX", "refA"), ("MetricX", "src")),
]


def scores(seed=0, metrics=METRICS, systems=("A", "B", "C", "D", "E", "refA", "refB"), gold="mqm", n=24):
    """Segments as `read_mtme` gives them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(len(systems), 1)) + rng.normal(size=(len(systems), n))
    x = [z + (1 + at) * rng.normal(size=z.shape) for at in range(len(metrics))]
    coords = {
        "metric": [gold, "other", *(f"{base}-{ref}" for base, ref in metrics)],
        "system": list(systems),
        "input": np.arange(1, n + 1),
        "kind": ("metric", ["human", "human", *["automatic"] * len(metrics)]),
        "base": ("metric", [gold, "other", *(base for base, _ in metrics)]),
        "reference": ("metric", ["", "", *(ref for _, ref in metrics)]),
        "system_type": ("system", ["human" if each.startswith("ref") else "machine" for each in systems]),
        "domain": ("input", ["news", "social", "literary"] * (n // 3)),
    }
    score = (("metric", "system", "input"), np.round(np.array([z, -z, *x]), 1))
    return xr.Dataset({"score": score}, coords)


def one_reference(seed):
    metrics = [each for each in METRICS if each[1] != "refB"]
    return scores(seed, metrics, ("A", "B", "C", "D", "E", "refA"))


def test_2024_asks_two_things_of_each_pair():
    data = {pair: one_reference(at) for at, pair in enumerate(PAIRS)}
    tasks = xsumstat.wmt_tasks(data, "wmt24")
    assert list(tasks) == [f"{pair} {what}" for pair in PAIRS for what in ("sys spa", "seg acc_eq")]
    for name, task in tasks.items():
        assert task["gold"] == "mqm" and task["weight"] == 1
        wanted = ("system", "spa") if name.endswith("spa") else ("input", "acc_eq")
        assert (task["level"], task["coefficient"]) == wanted
        assert task["ds"].metric.values.tolist() == ["mqm", "BLEU", "COMET", "Kiwi", "MetricX", "MetricX[noref]"]
        assert task["ds"].system.values.tolist() == ["A", "B", "C", "D", "E"]
        original = data[name[:5]].score
        np.testing.assert_array_equal(
            task["ds"].score.sel(metric="MetricX[noref]"), original.sel(metric="MetricX-src", system=list("ABCDE"))
        )
    table = xsumstat.rank_tasks(tasks, n_resamples=99, rng=1)
    assert table.sizes["task"] == 6 and table.metric.size == 5 and np.allclose(table.weight, 1 / 6)
    by_hand = tasks["en-es sys spa"]["ds"].meta.corr("mqm", coefficient="spa").correlation
    np.testing.assert_allclose(table.correlation.sel(task="en-es sys spa", metric=by_hand.metric), by_hand)
    assert xsumstat.wmt_tasks(data, "wmt25").keys() == tasks.keys()


def test_references_and_human_systems():
    with pytest.raises(ValueError, match=r"references 'refA', 'refB'.*reference=\{'en-de': 'refA'\}"):
        xsumstat.wmt_tasks({"en-de": scores().assign_attrs(test_set="wmt25")})
    data = {"en-de": scores().assign_attrs(test_set="wmt24")}
    ranked = {"refA": ["BLEU", "COMET", "Kiwi", "MetricX", "MetricX[noref]"], "refB": ["BLEU", "Kiwi", "MetricX"]}
    for standard, metrics in ranked.items():
        task = xsumstat.wmt_tasks(data, reference={"en-de": standard})["en-de sys spa"]
        assert task["ds"].metric.values.tolist() == ["mqm", *metrics]
        other = {"refA": "refB", "refB": "refA"}[standard]
        assert task["ds"].system.values.tolist() == ["A", "B", "C", "D", "E", other]
    alone = xsumstat.wmt_tasks(data, reference="refA", human=False, leave_out=["B"])["en-de seg acc_eq"]["ds"]
    assert alone.system.values.tolist() == ["A", "C", "D", "E"]
    known = xsumstat.wmt_tasks({"he-en": data["en-de"].assign_attrs(test_set="wmt23")})["he-en sys pearson"]["ds"]
    assert known.system.values.tolist() == ["A", "B", "C", "D", "E", "refA"]


def test_outliers_of_known_test_sets_are_left_out():
    systems = ("A", "B", "C", "synthetic_ref", "refA")
    data = {"en-de": scores(metrics=METRICS[2:], systems=systems).assign_attrs(test_set="wmt23")}
    assert xsumstat.wmt_tasks(data)["en-de seg pearson"]["ds"].system.values.tolist() == ["A", "B", "C"]
    assert xsumstat.wmt_tasks(data, leave_out=[])["en-de seg pearson"]["ds"].system.size == 4


def of_toolkit(ds, standard, outliers, people):
    """Which systems the toolkit compares (its GetCorrelations): not the reference, no outliers, people or not."""
    human = {each for each in ds.system.values if each.startswith("ref")}
    return [each for each in ds.system.values if each not in {standard, *outliers} and (people or each not in human)]


@pytest.mark.parametrize("pair, standard, people", [("en-de", "refB", True), ("en-es", "refA", False)])
def test_2024_is_judged_as_the_toolkit_judges_it(pair, standard, people):
    """Without MSLC, by the standard reference's metrics; a bad MSLC in all scores changes each value."""
    systems = ("A", "B", "MSLC", "refA", "refB") if people else ("A", "B", "C", "MSLC", "refA")
    metrics = [("COMET", standard), ("Kiwi", "src"), *([("COMET", "refA")] if people else [])]
    ds = scores(5, metrics, systems, n=6).assign_attrs(test_set="wmt24")
    bad = ds.assign(score=ds.score - 50 * (ds.system == "MSLC"))
    kept = of_toolkit(ds, standard, ["MSLC"], people)
    for name, coefficient, level in (("sys spa", "spa", "system"), ("seg acc_eq", "acc_eq", "input")):
        task = xsumstat.wmt_tasks({pair: bad})[f"{pair} {name}"]
        assert task["ds"].system.values.tolist() == kept
        assert task["ds"].metric.values.tolist() == ["mqm", "COMET", "Kiwi"]
        for metric, label in (("COMET", f"COMET-{standard}"), ("Kiwi", "Kiwi-src")):
            x, z = (bad.score.sel(metric=each, system=kept).values.tolist() for each in (label, "mqm"))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got = task["ds"].meta.corr("mqm", metric=metric, level=level, coefficient=coefficient).correlation
            assert got.item() == pytest.approx(reference.correlation(coefficient, x, z, level), abs=2e-3)


# Test set, pair, human scores, standard reference, outliers, and whether other references are systems in 2023 and 2024,
# as the toolkit's meta_info.py and tasks.py have them.
SETTLED = [
    ("wmt22", "en-de", "mqm", "refA", ("M2M100_1.2B-B4",), False),
    ("wmt22", "cs-en", "wmt", "refB", (), False),
    ("wmt22", "en-cs", "wmt-appraise", "refB", (), False),
    ("wmt22", "sah-ru", "wmt-appraise", "refA", (), False),
    ("wmt22", "uk-en", "wmt", "refA", (), False),
    ("wmt22", "fr-de", None, "refA", (), False),
    ("wmt23", "en-de", "mqm", "refA", ("synthetic_ref",), False),
    ("wmt23", "zh-en", "mqm", "refA", ("synthetic_ref",), False),
    ("wmt23", "he-en", "mqm", "refB", (), True),
    ("wmt23", "en-he", None, "refB", (), True),
    ("wmt23", "ja-en", "da-sqm", "refA", (), False),
    ("wmt24", "en-de", "mqm", "refB", ("MSLC",), True),
    ("wmt24", "en-es", "mqm", "refA", ("MSLC",), False),
    ("wmt24", "ja-zh", "mqm", "refA", ("MSLC",), False),
    ("wmt24", "en-is", "esa", "refA", (), False),
]


@pytest.mark.parametrize("test_set, pair, gold, standard, outliers, people", SETTLED)
def test_what_the_organisers_settled(test_set, pair, gold, standard, outliers, people):
    found = wmt_data.of(test_set, pair)
    assert (found.gold, found.reference, found.outliers, found.people) == (gold, standard, outliers, people)


def test_each_known_test_set_has_all_its_pairs():
    sizes = {"wmt22": 21, "wmt23": 14, "wmt24": 11, "wmt25": 16}
    assert {name: len(pairs) for name, pairs in wmt_data.TEST_SETS.items()} == sizes


def test_the_gold_is_the_one_of_the_task():
    """In cs-en of 2022 "wmt", though there is "wmt-appraise" too; by order where nothing is settled."""
    ds = one_reference(3).assign_coords(metric=["wmt", "wmt-appraise", "a", "b", "c", "d", "e"])
    for test_set, gold in (("wmt22", "wmt"), ("wmt25", "wmt-appraise")):
        data = {"cs-en": ds.assign_attrs(test_set=test_set)}
        assert xsumstat.wmt_tasks(data, "wmt24")["cs-en sys spa"]["gold"] == gold


def test_esa_of_2025_has_two_raters():
    ds = one_reference(3)
    both = ds.assign_coords(metric=["esa-human1", "esa-human2", *ds.metric.values[2:]]).assign_attrs(test_set="wmt25")
    with pytest.warns(UserWarning, match="'cs-uk', 'en-is' have ESA scores of two raters.*gold='esa-human2' takes"):
        tasks = xsumstat.wmt_tasks({"en-is": both, "cs-uk": both})
    assert {task["gold"] for task in tasks.values()} == {"esa-human1"}
    assert "esa-human2" not in tasks["en-is sys spa"]["ds"].metric.values
    one = both.isel(metric=[0, *range(2, 7)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert xsumstat.wmt_tasks({"en-is": one})["en-is sys spa"]["gold"] == "esa-human1"
        assert xsumstat.wmt_tasks({"en-is": both}, gold="esa-human2")["en-is sys spa"]["gold"] == "esa-human2"
        assert (
            xsumstat.wmt_tasks({"en-is": both}, gold={"en-is": "esa-human1"})["en-is sys spa"]["gold"] == "esa-human1"
        )


def test_people_of_all_pairs_are_in_the_accuracy_of_2023():
    """The toolkit's accuracy has people in all pairs where other references are systems in one (he-en)."""
    data = {pair: scores(at).assign_attrs(test_set="wmt23") for at, pair in enumerate(("he-en", "ja-en"))}
    tasks = xsumstat.wmt_tasks(data)
    with warns("not_in_all_tasks", ": 'COMET', 'MetricX.noref.'"):
        table = xsumstat.rank_tasks(tasks, n_resamples=9, rng=1)
    kept = {pair: of_toolkit(ds, {"he-en": "refB", "ja-en": "refA"}[pair], (), True) for pair, ds in data.items()}
    assert tasks["all sys accuracy"]["ds"].metric.values.tolist() == ["mqm", "BLEU", "Kiwi", "MetricX"]  # of both pairs
    right = pairs = 0
    for pair, ds in data.items():
        x, z = ds.score.sel(metric=["Kiwi-src", "mqm"], system=kept[pair]).mean("input").values
        for a in range(len(x)):
            right += sum((x[a] - x[b]) * (z[a] - z[b]) > 0 for b in range(a))
            pairs += a
    assert kept == {"he-en": [*"ABCDE", "refA"], "ja-en": [*"ABCDE", "refB"]} and pairs == 30
    assert table.correlation.sel(metric="Kiwi", task="all sys accuracy").item() == pytest.approx(right / pairs)
    assert tasks["ja-en sys pearson"]["ds"].system.values.tolist() == [*"ABCDE"]
    for human, size in ((True, 6), (False, 5)):
        found = xsumstat.wmt_tasks(data, human=human)["all sys accuracy"]["ds"]
        assert found.score.notnull().any(["metric", "input"]).sum("system").values.tolist() == [size, size]


def test_2023s_people_are_systems_under_the_rules_of_2024_too():
    """The toolkit's WMT24OnWMT23."""
    data = {"he-en": scores().assign_attrs(test_set="wmt23")}
    assert "refA" in xsumstat.wmt_tasks(data, "wmt24")["he-en sys spa"]["ds"].system
    assert "refA" not in xsumstat.wmt_tasks(data, "wmt25")["he-en sys spa"]["ds"].system


def test_2023_has_one_accuracy_of_all_pairs():
    data = {pair: one_reference(at) for at, pair in enumerate(PAIRS[:2])}
    more = one_reference(7).isel(system=[0, 1]).assign_coords(system=["F", "G"])
    data["en-es"] = xr.concat([data["en-es"], more], "system")
    tasks = xsumstat.wmt_tasks(data, "wmt23")
    assert [task["weight"] for task in tasks.values()] == [2, *[1] * 6]
    table = xsumstat.rank_tasks(tasks, n_resamples=29, rng=1)
    right = pairs = 0
    for ds in data.values():  # pairs of systems that metric and gold order alike, of all
        means = ds.score.sel(system=[each for each in "ABCDEFG" if each in ds.system]).mean("input")
        x, z = means.sel(metric="COMET-refA").values, means.sel(metric="mqm").values
        for a in range(len(x)):
            right += sum((x[a] - x[b]) * (z[a] - z[b]) > 0 for b in range(a))
            pairs += a
    assert table.correlation.sel(metric="COMET", task="all sys accuracy").item() == pytest.approx(right / pairs)
    np.testing.assert_allclose(table.weight, [2 / 8, *[1 / 8] * 6])


def test_scores_of_whole_systems():
    data = {"en-de": one_reference(1)}
    whole = (
        data["en-de"].mean("input", keep_attrs=True).expand_dims(input=["all"]).transpose("metric", "system", "input")
    )
    whole["score"] = whole.score + 100 * (whole.metric == "BLEU-refA") * (whole.system == "A")
    tasks = xsumstat.wmt_tasks(data, "wmt23", systems={"en-de": whole})
    assert tasks["en-de sys pearson"]["ds"].input.values.tolist() == ["all"]
    assert tasks["en-de seg pearson"]["ds"].input.size == 24 and tasks["all sys accuracy"]["ds"].input.size == 1


def test_2022_has_201_tasks_of_three_pairs():
    two = scores().drop_sel(metric="other").assign_attrs(test_set="wmt22")
    domains = ["conversation", "ecommerce", "news", "social"] * 6
    two = two.assign_coords(domain=("input", domains))
    one = two.sel(system=[each for each in two.system.values if each != "refB"])
    tasks = xsumstat.wmt_tasks({"en-de": two, "zh-en": two, "en-ru": one}, "wmt22")
    assert len(tasks) == 201
    weights = np.array([task["weight"] for task in tasks.values()])
    assert weights.sum() == pytest.approx(1) and weights[0] == 1 / 4
    shares = {name: weights[[each.startswith(name) for each in tasks]].sum() for name in ("en-de", "en-ru", "zh-en")}
    assert all(share == pytest.approx(1 / 4) for share in shares.values())
    task = tasks["en-de news seg by system kendall human"]
    assert task["level"] == "within_system" and task["ds"].input.size == 6 and "refB" in task["ds"].system
    assert "refB" not in tasks["en-de news seg by system kendall"]["ds"].system
    assert "undefined" not in task and tasks["en-ru sys pearson"]["undefined"] == "zero"


DOMAINS = ["conversation", "ecommerce", "news", "social"]


def rated_in_part(gold="mqm"):
    """A third of the segments are rated; the metric "even" has one mean for all systems, but not on rated segments."""
    ds = one_reference(4).drop_sel(metric="other").assign_attrs(test_set="wmt22")
    ds = ds.assign_coords(domain=("input", [*DOMAINS] * 6))
    even = np.where(np.arange(24) < 12, 1.0, -1.0) * np.arange(1, 7)[:, None]
    score = ds.score.values.copy()
    score[1] = even
    score[0, :, np.arange(24) % 3 > 0] = np.nan
    return ds.assign(score=(ds.score.dims, score))


def of_files(ds, metric, systems, inputs):
    """Means as in the toolkit's files of domains and systems: each of the segments that have a score (plain Python)."""
    found = []
    for system in systems:
        values = ds.score.sel(metric=metric, system=system).values[inputs].tolist()
        there = [value for value in values if value == value]
        found.append(round(sum(there) / len(there), 12))  # equal means are equal
    return found


@pytest.mark.parametrize("domain", [None, *DOMAINS])
def test_means_of_systems_are_those_of_the_toolkits_files(domain):
    ds = rated_in_part()
    tasks = xsumstat.wmt_tasks({"en-ru": ds})
    inputs = [at for at, each in enumerate(ds.domain.values) if domain in (None, each)]
    words = " ".join(["en-ru", *([domain] if domain else []), "sys"])
    for name in ("pearson", "kendall"):
        task = tasks[f"{words} {name}"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            keywords = {
                key: value for key, value in task.items() if key in ("level", "coefficient", "missing", "undefined")
            }
            got = task["ds"].meta.corr("mqm", **keywords).correlation.fillna(0)
        z = of_files(ds, "mqm", "ABCDE", inputs)
        for metric, label in (("COMET", "COMET-refA"), ("Kiwi", "Kiwi-src")):
            x = of_files(ds, label, "ABCDE", inputs)
            function = scipy.stats.pearsonr if name == "pearson" else scipy.stats.kendalltau
            assert got.sel(metric=metric).item() == pytest.approx(function(x, z)[0], abs=1e-12)
        assert got.sel(metric="BLEU").item() == 0  # its domains' means are equal
    assert tasks["all sys accuracy"]["missing"] == "available"


def test_scores_of_domains_can_be_given():
    ds = rated_in_part()
    labels = {dim: ds[dim].values for dim in ("metric", "system")}
    coords = {**labels, "input": DOMAINS}
    coords |= {name: ds[name] for name in ("kind", "base", "reference", "system_type")}
    numbers = np.random.default_rng(9).normal(size=(6, 6, 4))
    of_domains = xr.Dataset({"score": (("metric", "system", "input"), numbers)}, coords)
    assert labels["metric"][2] == "COMET-refA"
    tasks = xsumstat.wmt_tasks({"en-ru": ds}, domains={"en-ru": of_domains})
    task = tasks["en-ru news sys pearson"]
    assert task["ds"].input.values.tolist() == ["news"] and tasks["en-ru news seg all pearson"]["ds"].input.size == 6
    got = task["ds"].meta.corr("mqm", metric="COMET", missing="available").correlation.item()
    want = scipy.stats.pearsonr(numbers[2, :5, 2], numbers[0, :5, 2])[0]
    assert got == pytest.approx(want, abs=1e-12) and tasks["en-ru sys pearson"]["ds"].input.size == 24
    with pytest.raises(ValueError, match="unknown domains 'de-en'"):
        xsumstat.wmt_tasks({"en-ru": ds}, domains={"de-en": of_domains})


def test_a_folder_becomes_a_printed_table(tmp_path):
    """WMT24's layout, from disk to LaTeX."""
    for at, pair in enumerate(PAIRS):
        one_reference(at).drop_sel(metric="other").meta.to_mtme(tmp_path, "wmt24", pair)
    data = xsumstat.read_mtme(tmp_path, "wmt24", PAIRS)
    table = xsumstat.rank_tasks(xsumstat.wmt_tasks(data), n_resamples=99, rng=1)
    text = table.meta.to_latex()
    assert text.count("\\\\") >= 6 and "MetricX[noref]" in text and "In parentheses: clusters." in text
    row = next(line for line in table.meta.to_markdown().splitlines() if line.startswith("| BLEU"))
    first = table.sel(metric="BLEU", task="en-de sys spa")
    assert f"**{first.correlation.item():.2f} (1)**".replace("0.", ".") in row and first.task_cluster == 1
    assert table.meta.plot.tasks() is not None


@pytest.mark.parametrize(
    "data, keywords, error, text",
    [
        ({}, {}, ValueError, "data is empty; it must have at least one language pair"),
        ([], {}, TypeError, "data must be a mapping of language pairs"),
        ({"en-de": 3}, {}, TypeError, "data must be a mapping"),
        (one_reference(1), {}, ValueError, "language_pair"),
        ({"en-de": one_reference(1)}, {}, ValueError, "rules must be"),
        ({"en-de": one_reference(1)}, {"rules": "wmt24", "gold": "mqn"}, ValueError, "gold of en-de 'mqn'.*'mqm'"),
        ({"en-de": one_reference(1)}, {"rules": "wmt24", "gold": {"de-en": "mqm"}}, ValueError, "unknown gold 'de-en'"),
        ({"en-de": one_reference(1)}, {"rules": "wmt24", "reference": "refC"}, ValueError, "refC"),
        ({"en-de": one_reference(1)}, {"rules": "wmt24", "leave_out": ["Z"]}, ValueError, "leave_out 'Z'"),
        ({"en-de": one_reference(1)}, {"rules": "wmt24", "leave_out": "A"}, TypeError, "leave_out must be a list"),
        ({"en-de": one_reference(1)}, {"rules": "wmt24", "systems": {"x": one_reference(1)}}, ValueError, "'x'"),
    ],
)
def test_bad_input(data, keywords, error, text):
    with pytest.raises(error, match=text):
        xsumstat.wmt_tasks(data, **keywords)


def test_pairs_without_known_human_scores():
    ds = scores(gold="stars", metrics=METRICS[2:4])
    with pytest.raises(ValueError, match="en-de needs human scores called .*name the gold"):
        xsumstat.wmt_tasks({"en-de": ds}, "wmt24")
    assert xsumstat.wmt_tasks({"en-de": ds}, "wmt24", gold="stars")["en-de sys spa"]["gold"] == "stars"
