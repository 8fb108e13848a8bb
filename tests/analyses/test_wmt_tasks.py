"""The tasks of WMT's metrics shared tasks."""

import numpy as np
import pytest
import xarray as xr

import xsumstat

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
    data = {"en-de": scores().assign_attrs(test_set="wmt24")}
    with pytest.raises(ValueError, match=r"references 'refA', 'refB'.*reference=\{'en-de': 'refA'\}"):
        xsumstat.wmt_tasks(data)
    ranked = {"refA": ["BLEU", "COMET", "Kiwi", "MetricX", "MetricX[noref]"], "refB": ["BLEU", "Kiwi", "MetricX"]}
    for reference, metrics in ranked.items():
        task = xsumstat.wmt_tasks(data, reference={"en-de": reference})["en-de sys spa"]
        assert task["ds"].metric.values.tolist() == ["mqm", *metrics]
        other = {"refA": "refB", "refB": "refA"}[reference]
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
    with pytest.raises(ValueError, match="en-de has none of the human scores.*name the gold"):
        xsumstat.wmt_tasks({"en-de": ds}, "wmt24")
    assert xsumstat.wmt_tasks({"en-de": ds}, "wmt24", gold="stars")["en-de sys spa"]["gold"] == "stars"
