"""Tasks in part: averages over a subset, over groups, and how often each metric is first among drawn tasks."""

import functools
import itertools

import numpy as np
import pytest
import xarray as xr
from task_cases import FIRST, SECOND, TASKS, own_stream

import xsumstat
from xsumstat.analyses import task_stability, task_swaps

pytestmark = pytest.mark.ignore_codes("not_in_all_tasks")
PAIRS = {"one, systems": "en-de", "one, outputs": "en-de", "two, systems": "zh-en"}
MANY = {name: {**task, "language_pair": PAIRS[name]} for name, task in TASKS.items()} | {
    "two, news": {"ds": SECOND, "gold": "human", "language_pair": "zh-en", "domain": "news", "weight": 2.0},
    "one, listed": {"ds": FIRST, "gold": "human", "resample": "system", "language_pair": "en-de"},
    "all": {
        "ds": xr.concat([FIRST, SECOND.drop_sel(metric="d")], "language", join="outer"),
        **{"gold": "human", "coefficient": "pairwise_accuracy", "pool": "language"},
    },
}
KW = {"n_resamples": 120, "rng": 7}


@functools.cache
def whole():
    return xsumstat.rank_tasks(MANY, keep_samples=True, **KW)


def alone(names, **keywords):
    """The same tasks ranked as if there were no others."""
    return xsumstat.rank_tasks({name: MANY[name] for name in names}, **{**KW, **keywords})


def assert_same(part, want):
    """Up to the last bits of averages, and metrics that the subset's own data do not have."""
    assert part.metric.values.tolist()[: want.metric.size] == want.metric.values.tolist()
    part = part.sel(metric=want.metric)
    for name in ("pvalue", "rank", "cluster", "task_rank", "task_cluster"):
        xr.testing.assert_equal(part[name].reset_coords(drop=True), want[name].reset_coords(drop=True))
    xr.testing.assert_allclose(part.drop_vars("domain", errors="ignore"), want.drop_vars("domain", errors="ignore"))


@pytest.mark.parametrize(
    "chosen, names",
    [
        ({"language_pair": "en-de"}, ["one, systems", "one, outputs", "one, listed"]),
        ({"domain": "news"}, ["two, news"]),
        ({"level": "input"}, ["one, outputs"]),
        ({"coefficient": ["spa", "pairwise_accuracy"]}, ["two, systems", "all"]),
        ({"language_pair": ["zh-en", "all"], "level": "system"}, ["two, systems", "two, news", "all"]),
        ({"task": ["two, news", "one, systems"]}, ["one, systems", "two, news"]),
        ({}, list(MANY)),
    ],
)
def test_a_subset_is_what_rank_tasks_says_of_these_tasks_alone(chosen, names):
    part = whole().meta.subset(**chosen)
    assert part.task.values.tolist() == names
    assert_same(part, alone(names))


def test_a_metric_that_only_the_subset_has_everywhere_gets_an_average():
    part = whole().meta.subset(domain="news")
    assert sorted(part.other_metric.values) == ["a", "b", "c", "d"] and part.average_score.notnull().all()
    assert np.isnan(whole().average_score.sel(metric="d"))


def test_a_subset_with_other_weights():
    names = ["one, systems", "one, outputs"]
    weights = dict(zip(names, (1.0, 4.0), strict=True))
    part = whole().meta.subset(names, weights=weights)
    np.testing.assert_allclose(part.weight, [0.2, 0.8])
    assert_same(part, alone(names, weights=weights))


def test_kept_swaps_are_those_of_perm_test():
    table = whole()
    for name in ("one, outputs", "two, news"):
        asked = {key: value for key, value in TASKS.get(name, {}).items() if key not in ("ds", "gold")}
        rng = np.random.SeedSequence(7, spawn_key=(own_stream(MANY[name]),))
        kw = {"alternative": "greater", "keep_samples": True, "n_resamples": 120, "rng": rng}
        test = MANY[name]["ds"].meta.perm_test("human", **asked, **kw)
        order = ("metric", "other_metric", "resample")
        own = table.task_difference.sel(task=name, metric=test.metric, other_metric=test.other_metric)
        np.testing.assert_allclose(own, test.difference.where(test.metric != test.other_metric), atol=1e-12)
        for pair in range(table.sizes["pair"]):
            kept = table.samples.sel(task=name).isel(pair=pair)
            one, other = str(kept.pair_metric.values), str(kept.pair_other_metric.values)
            if one in test.metric and other in test.metric:
                want = test.samples.transpose(*order).sel(metric=one, other_metric=other)
                np.testing.assert_allclose(kept, want, atol=1e-12)
            else:
                assert "d" in (one, other) and kept.isnull().all()


def test_each_pair_is_kept_once_in_the_order_of_the_ranking():
    table = whole()
    pairs = list(zip(table.pair_metric.values, table.pair_other_metric.values, strict=True))
    assert pairs == list(itertools.combinations(table.metric.values, 2))
    assert table.samples.dims == ("task", "pair", "resample") and table.samples.dtype == float


def test_the_order_of_tasks_does_not_matter():
    names = ["one, systems", "one, outputs", "two, news"]
    one, other = alone(names), alone(names[::-1])
    xr.testing.assert_allclose(one, other.sel(task=names))


def test_blocks_of_a_pair_give_the_same(monkeypatch):
    parts = [whole().meta.subset(level="system")]
    monkeypatch.setattr(task_swaps, "_SUMS_AT_ONCE", 1)
    parts.append(whole().meta.subset(level="system"))
    parts.append(xsumstat.rank_tasks(MANY, keep_samples=True, **KW))
    xr.testing.assert_identical(*parts[:2])
    xr.testing.assert_identical(parts[2], whole())


@pytest.mark.parametrize("size", [2, 3, 7, 12])
@pytest.mark.parametrize("at_once", [1, 2, 5, 13, 40, 1000])
def test_blocks_have_each_pair_once_and_are_no_larger_than_allowed(monkeypatch, size, at_once):
    monkeypatch.setattr(task_swaps, "_SUMS_AT_ONCE", 8 * 10 * at_once)
    seen = []
    for block in task_swaps.blocks(size, 10):
        pairs = list(zip(*(each.tolist() for each in block.pairs()), strict=True))
        assert len(pairs) <= at_once
        parts = list(block.cut(at_once // 2 + 1))
        assert all(len(part.rows) * len(part.columns) <= at_once // 2 + 1 for part in parts)
        few = [pair for part in parts for pair in zip(*(each.tolist() for each in part.pairs()), strict=True)]
        assert sorted(few) == pairs and len(set(few)) == len(few)
        seen += pairs
    assert seen == list(itertools.combinations(range(size), 2))


def test_groups_of_tasks_are_subsets():
    table = whole().meta.ranks_by("language_pair")
    assert table.language_pair.values.tolist() == ["en-de", "zh-en", "all"] and table.n_tasks.values.tolist() == [
        3,
        2,
        1,
    ]
    for label in table.language_pair.values:
        one = whole().meta.subset(language_pair=label)
        got = table.sel(language_pair=label)
        for name in ("average_score", "rank", "cluster", "average_rank"):
            np.testing.assert_array_equal(got[name].sel(metric=one.metric), one[name])
        for name in ("pvalue", "difference"):
            inner = got[name].sel(metric=one.metric, other_metric=one.other_metric)
            np.testing.assert_array_equal(inner, one[name])
    said = table.meta.conclusion()
    assert "language_pair zh-en: by the average over 2 tasks" in said and "no evidence that the groups differ" in said
    assert "over the tasks of each language pair" in table.meta.methods()


def test_a_result_from_a_file_gives_the_same(tmp_path):
    pytest.importorskip("netCDF4")
    pytest.importorskip("dask")
    whole().to_netcdf(tmp_path / "whole.nc")
    with xr.open_dataset(tmp_path / "whole.nc", chunks={"task": 1}) as stored:
        part = stored.meta.subset(language_pair="zh-en")
    assert_same(part, whole().meta.subset(language_pair="zh-en"))


@pytest.mark.parametrize(
    "keywords, text",
    [
        (
            {"domain": "chat"},
            "unknown domain 'chat' the tasks have: 'all', 'news'|unknown domain 'chat'.*the tasks have",
        ),
        ({"task": "one system"}, "unknown task 'one system'; did you mean 'one, systems'"),
        ({"domain": "news", "language_pair": "en-de"}, "no task has language_pair='en-de', domain='news' together"),
        ({"level": []}, "level must name at least one label"),
        ({"level": "input", "weights": {"a": 1}}, "weights must name each chosen task"),
        ({"level": "input", "weights": {"one, outputs": 0}}, "weigh nothing together"),
    ],
)
def test_bad_subsets(keywords, text):
    with pytest.raises(ValueError, match=text):
        whole().meta.subset(**keywords)


def test_what_cannot_be_divided():
    bare = xsumstat.rank_tasks({"a": TASKS["one, systems"]}, n_resamples=19, rng=3)
    for ask in (lambda: bare.meta.subset(), lambda: bare.meta.ranks_by("level")):
        with pytest.raises(
            ValueError, match=r"keep_samples=True\), or rank_tasks of the chosen tasks alone with rng=3"
        ):
            ask()
    kept = xsumstat.rank_tasks({"a": TASKS["one, systems"]}, n_resamples=19, rng=3, keep_samples=True)
    with pytest.raises(ValueError, match="the tasks have no domain: give each task of rank_tasks its 'domain'"):
        kept.meta.ranks_by("domain")
    with pytest.raises(ValueError, match="by must be one of"):
        kept.meta.ranks_by("metric")
    with pytest.raises(ValueError, match="needs a result of xsumstat.rank_tasks, but this Dataset holds scores"):
        FIRST.meta.subset()
    with pytest.raises(TypeError, match="domain of task 'a' must be a name, got 3"):
        xsumstat.rank_tasks({"a": {**TASKS["one, systems"], "domain": 3}}, **KW)


# --- Drawn tasks ---


def enumerated(unit, weight, strata):
    """The exact share of draws in which each metric is first, and the exact distribution of ranks, in plain Python."""
    first, ranks, total = [0.0] * len(unit[0]), [{} for _ in unit[0]], 0
    for draw in itertools.product(*(itertools.product(places, repeat=len(places)) for places in strata)):
        tasks = [at for part in draw for at in part]
        score = [sum(weight[at] * unit[at][m] for at in tasks) for m in range(len(unit[0]))]
        best = [m for m, one in enumerate(score) if one >= max(score) - 1e-12]
        total += 1
        for m, one in enumerate(score):
            first[m] += (m in best) / len(best)
            rank = 1 + sum(other > one + 1e-12 for other in score)
            ranks[m][rank] = ranks[m].get(rank, 0) + 1
    return [each / total for each in first], [{rank: n / total for rank, n in each.items()} for each in ranks]


def of_numbers(r, weight, **labels):
    """A ranking whose correlations are given: what `rank_stability` reads."""
    tasks, metrics = [f"t{at}" for at in range(len(r))], list("abcd")[: len(r[0])]
    score = np.average((np.array(r) + 1) / 2, axis=0, weights=weight)
    order = np.argsort(-score, kind="stable")
    rank = 1 + (score[:, None] < score).sum(axis=1)
    return xr.Dataset(
        {
            "correlation": (("metric", "task"), np.array(r).T),
            "weight": ("task", np.array(weight) / sum(weight)),
            "average_score": ("metric", score),
            "rank": ("metric", rank),
        },
        {
            "metric": metrics,
            "task": tasks,
            "coefficient": ("task", ["pearson"] * len(r)),
            **{name: ("task", values) for name, values in labels.items()},
        },
        {"analysis": "rank_tasks"},
    ).isel(metric=order)


R = [[0.9, 0.8, 0.2], [0.5, 0.7, 0.4], [0.6, 0.6, 0.7], [0.8, 0.3, 0.1]]


@pytest.mark.parametrize(
    "weight, strata",
    [
        ([1, 1, 1, 1], [[0, 1, 2, 3]]),
        ([1, 4, 2, 0.5], [[0, 1, 2, 3]]),
        ([1, 3, 1, 1], [[0, 1], [2, 3]]),
        ([1, 0, 1, 1], [[0, 2, 3]]),
    ],
)
def test_shares_are_those_of_all_draws(weight, strata):
    pairs = ["x", "x", "y", "y"]
    stratify = "language_pair" if len(strata) == 2 else None
    table = of_numbers(R, weight, language_pair=pairs)
    found = table.meta.rank_stability(stratify=stratify, n_resamples=20_000, rng=1, confidence_level=0.8)
    unit = [[(value + 1) / 2 for value in row] for row in R]
    first, ranks = enumerated(unit, weight, strata)
    for at, metric in enumerate("abc"):
        one = found.sel(metric=metric)
        error = (first[at] * (1 - first[at]) / 20_000) ** 0.5
        assert abs(float(one.first_share) - first[at]) <= 4.5 * error + 1e-9
        running, exact = 0.0, sorted(ranks[at].items())
        quantiles = {}
        for rank, share in exact:
            quantiles |= {tail: rank for tail in (0.1, 0.9) if running < tail <= running + share}
            running += share
            assert all(abs(running - tail) > 0.01 for tail in (0.1, 0.9))  # so that chance does not decide
        assert (int(one.rank_low), int(one.rank_high)) == (quantiles[0.1], quantiles[0.9])
    assert float(found.first_share.sum()) == pytest.approx(1.0)


def test_limits_of_ranks_are_ranks_that_were_drawn():
    """No number between two ranks: the first rank that at least so many draws do not exceed."""
    table = of_numbers([[0.9, 0.1], [0.2, 0.3]], [1, 1])  # the first is second where the second task is drawn twice
    seen = set()
    for seed in range(12):
        found = table.meta.rank_stability(n_resamples=3, rng=seed, confidence_level=0.6).sel(metric="a")
        ranks = sorted([1] * round(3 * float(found.first_share)) + [2] * round(3 - 3 * float(found.first_share)))
        seen.add(tuple(ranks))
        assert (int(found.rank_low), int(found.rank_high)) == (ranks[0], ranks[2])  # of 3 draws .2 is the first, .8 all
    assert (1, 1, 2) in seen and (1, 1, 1) in seen


@pytest.mark.parametrize("share", [0.025, 0.5, 1 - 0.025, (1 - 0.9) / 2, 1e-9, 1 - 1e-9])
@pytest.mark.parametrize("n", [1, 7, 40, 999])
def test_limits_from_counts_of_ranks_are_numpys_quantiles(share, n):
    ranks = np.random.default_rng(n).integers(1, 7, (n, 6))
    counts = np.array([np.bincount(each, minlength=7)[1:] for each in ranks.T])
    want = np.quantile(ranks, share, axis=0, method="inverted_cdf")
    np.testing.assert_array_equal(task_stability._quantile(counts, share, n), want)


def test_equal_metrics_share_a_draw():
    found = of_numbers([[0.5, 0.5, 0.1], [0.7, 0.7, 0.2]], [1, 1]).meta.rank_stability(n_resamples=50, rng=0)
    assert found.first_share.sel(metric=["a", "b", "c"]).values.tolist() == [0.5, 0.5, 0.0]
    assert found.rank_high.sel(metric=["a", "b", "c"]).values.tolist() == [1, 1, 3]


def test_a_longer_run_begins_with_the_shorter_one():
    table = of_numbers(R, [1, 1, 1, 1])
    short, whole = (table.meta.rank_stability(n_resamples=n, rng=5) for n in (1024, 2048))
    np.testing.assert_allclose(short.first_share * 1024 % 0.5, 0, atol=1e-9)
    assert (whole.first_share * 2048 >= short.first_share * 1024 - 1e-9).all()
    xr.testing.assert_identical(table.meta.rank_stability(n_resamples=1024, rng=5), short)


def test_stability_in_words():
    found = whole().meta.subset(level="system").meta.rank_stability(rng=0, n_resamples=500)
    assert found.meta.conclusion().startswith("In 500 draws of 5 tasks, a is first in ")
    assert "We drew the tasks with replacement, 500 times" in found.meta.methods()
    strata = of_numbers(R, [1] * 4, language_pair=list("xxyy")).meta.rank_stability(stratify="language_pair", rng=0)
    assert "draws of 4 tasks within each language pair" in strata.meta.conclusion()
    assert "with replacement, within each language pair" in strata.meta.methods()
    assert "| metric | share first | rank | rank from | rank to |" in found.meta.to_markdown()
    assert "\n500 draws of 5 tasks.\n" in found.meta.to_markdown()


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match="there is one task with a weight; rank two tasks or more"):
        whole().meta.subset(domain="news").meta.rank_stability()
    with pytest.raises(ValueError, match="each language_pair has one task; leave out stratify"):
        of_numbers(R[:2], [1, 1], language_pair=["x", "y"]).meta.rank_stability(stratify="language_pair")
    with pytest.raises(ValueError, match="stratify must be one of"):
        whole().meta.rank_stability(stratify="system")
    with pytest.raises(ValueError, match="needs a result of xsumstat.rank_tasks with its tasks"):
        whole().isel(task=0).meta.rank_stability()
