"""Several tasks at once."""

import functools
import warnings
import weakref

import numpy as np
import pytest
import xarray as xr
from conftest import of_code, warns
from task_cases import FIRST, SECOND, TASKS, own_stream

import xsumstat
from xsumstat.analyses import ranking, task_swaps
from xsumstat.analyses import tasks as analyses_tasks

WORDS = ["Pearson's r", "accuracy with ties", "soft pairwise accuracy"]
KW = {"n_resamples": 300, "rng": 7}


@functools.cache
def ranked():
    """The table of all tasks, each as heavy as the others."""
    return xsumstat.rank_tasks(TASKS, **KW)


def test_each_task_is_what_rank_says_of_it():
    table = ranked()
    wmt = {"method": "permutation", "adjust": None}
    for name, task in TASKS.items():
        asked = {key: value for key, value in task.items() if key not in ("ds", "gold")}
        rng = np.random.SeedSequence(7, spawn_key=(own_stream(task),))
        want = task["ds"].meta.rank(task["gold"], **wmt, n_resamples=300, rng=rng, **asked).sortby("metric")
        got = table.sel(task=name).sortby("metric")
        np.testing.assert_allclose(got.correlation, want.correlation, atol=1e-12)
        np.testing.assert_array_equal(got.task_rank, want["rank"])
        np.testing.assert_array_equal(got.task_cluster, want.cluster)
    assert table.coefficient.values.tolist() == ["pearson", "acc_eq", "spa"]
    assert table.level.values.tolist() == ["system", "input", "system"]


def equal_metrics(seed):
    """Four criteria of the same outputs, and two metrics that are copies of what they have in common."""
    rng = np.random.default_rng((9, seed))
    q = 0.5 * rng.normal(size=(12, 1)) + 0.5 * rng.normal(size=40) + rng.normal(size=(12, 40))
    golds = [np.clip(np.round(3 + q + 0.6 * rng.normal(size=q.shape)), 1, 5) for _ in range(4)]
    metrics = [q + 1.2 * rng.normal(size=q.shape) for _ in range(2)]
    names = [*(f"criterion {at}" for at in range(4)), "A", "B"]
    ds = xr.Dataset({"score": (("metric", "system", "input"), np.array([*golds, *metrics]))}, {"metric": names})
    how = {"ds": ds, "metric": ["A", "B"], "level": "input", "coefficient": "kendall"}
    return {gold: {**how, "gold": gold} for gold in names[:4]}


def test_tasks_on_the_same_outputs_have_the_same_swaps():
    tasks = equal_metrics(0)
    table = xsumstat.rank_tasks(tasks, n_resamples=199, rng=3, keep_samples=True)
    samples = table.samples.isel(pair=0).transpose("task", "resample").values
    assert np.corrcoef(samples)[np.triu_indices(4, 1)].min() > 0.4
    elsewhere = {name: {**task, "language_pair": f"en-{at}"} for at, (name, task) in enumerate(tasks.items())}
    apart = xsumstat.rank_tasks(elsewhere, n_resamples=199, rng=3, keep_samples=True)
    samples = apart.samples.isel(pair=0).transpose("task", "resample").values
    assert np.abs(np.corrcoef(samples)[np.triu_indices(4, 1)]).max() < 0.3


@pytest.mark.slow
def test_criteria_of_one_data_set_have_the_nominal_size():
    """Swaps of their own, as if tasks confirmed each other, found 13 to 16 %."""
    found = []
    for seed in range(150):
        p = xsumstat.rank_tasks(equal_metrics(seed), n_resamples=199, rng=seed).pvalue
        found += [p.sel(metric=a, other_metric=b).item() <= 0.05 for a, b in (("A", "B"), ("B", "A"))]
    assert np.mean(found) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)


@pytest.mark.parametrize("weights", [None, dict(zip(TASKS, (1.0, 0.0, 3.0), strict=True))])
def test_averages_and_their_tests(weights):
    table = ranked() if weights is None else xsumstat.rank_tasks(TASKS, weights=weights, **KW)
    shares = np.array([1 / 3] * 3 if weights is None else [0.25, 0.0, 0.75])
    np.testing.assert_allclose(table.weight, shares)
    unit = table.correlation.transpose("metric", "task").values.copy()
    unit[:, 0] = (unit[:, 0] + 1) / 2  # Pearson's r; the others are shares
    np.testing.assert_allclose(table.average_score, unit @ shares, atol=1e-12)
    np.testing.assert_allclose(
        table.average_rank, table.task_cluster.transpose("metric", "task").values @ shares, atol=1e-12
    )
    labels = table.metric.values.tolist()
    difference, samples = 0.0, 0.0
    for at, ((_, task), share) in enumerate(zip(TASKS.items(), shares, strict=True)):
        asked = {key: value for key, value in task.items() if key not in ("ds", "gold")}
        rng = np.random.SeedSequence(7, spawn_key=(own_stream(task),))
        kw = {"alternative": "greater", "keep_samples": True, "n_resamples": 300, "rng": rng}
        test = task["ds"].meta.perm_test(task["gold"], **asked, **kw).sel(metric=labels, other_metric=labels)
        span = 2.0 if at == 0 else 1.0
        difference += share * test.difference.values / span
        samples += share * test.samples.transpose("metric", "other_metric", "resample").values / span
    want = (1 + (samples >= difference[..., None] - 1e-12).sum(axis=2)) / 301
    np.testing.assert_allclose(table.pvalue, np.where(np.eye(3, dtype=bool), np.nan, want), atol=1e-12)
    np.testing.assert_allclose(table.difference, difference, atol=1e-12)
    ranks, clusters = ranking.ranked(table.average_score.values, table.pvalue.values, 0.05)
    assert table["rank"].values.tolist() == ranks.tolist() == [1, 2, 3]
    assert table.cluster.values.tolist() == clusters.tolist()


def test_clusters_are_averaged_by_the_weights_of_tasks(demo):
    """The judge is in the first cluster of one task and, under another name, in a later one of the other."""
    names = {"judge": "length", "length": "judge"}
    turned = demo.assign_coords(metric=[names.get(label, label) for label in demo.metric.values.tolist()])
    tasks = {name: {"ds": ds, "gold": "human", "level": "input"} for name, ds in (("a", demo), ("b", turned))}
    table = xsumstat.rank_tasks(tasks, weights={"a": 3, "b": 1}, n_resamples=99, rng=1)
    first, second = (table.task_cluster.sel(task=name) for name in "ab")
    assert first.sel(metric="judge") < second.sel(metric="judge")
    np.testing.assert_allclose(table.average_rank, 0.75 * first + 0.25 * second)


def test_a_users_function_is_taken_for_a_correlation():
    """Its averages are those of the coefficient that it is: (r + 1)/2, not r."""
    task = {"ds": FIRST, "gold": "human", "resample": "input"}
    own = xsumstat.rank_tasks({"t": {**task, "coefficient": lambda x, z: np.corrcoef(x, z)[0, 1]}}, n_resamples=19)
    want = xsumstat.rank_tasks({"t": task}, n_resamples=19)
    xr.testing.assert_allclose(own.average_score, want.average_score)


def test_a_metric_that_is_not_in_all_tasks_comes_last():
    tasks = {"one": TASKS["one, systems"], "two": {"ds": SECOND, "gold": "human"}}
    with warns("not_in_all_tasks", ": 'd'"):
        table = xsumstat.rank_tasks(tasks, **KW)
    assert table.metric.values.tolist()[-1] == "d"
    last = table.sel(metric="d")
    assert np.isnan(last.average_score) and int(last.cluster) == 0 and np.isnan(last.correlation.sel(task="one"))
    assert int(last.task_cluster.sel(task="one")) == 0 and int(last.task_cluster.sel(task="two")) > 0
    assert table.other_metric.size == 3


def test_a_pooled_task_and_a_listed_one():
    both = xr.concat([FIRST, SECOND.drop_sel(metric="d")], "language", join="outer")
    tasks = {
        "pooled": {"ds": both, "gold": "human", "coefficient": "pairwise_accuracy", "pool": "language"},
        "listed": {"ds": FIRST, "gold": "human", "resample": "system"},
    }
    table = xsumstat.rank_tasks(tasks, **KW)
    assert table.metric.values[0] == "a" and table.pvalue.notnull().sum() == 6


@pytest.mark.slow
def test_a_few_rows_at_a_time_give_the_same_table(monkeypatch):
    """`test_averages_and_their_tests` has the numbers; here no block holds more than one row."""
    tasks = TASKS | {"more": {"ds": SECOND, "gold": "human"}}
    with warns("not_in_all_tasks"):
        whole = xsumstat.rank_tasks(tasks, **KW)
    monkeypatch.setattr(analyses_tasks, "BYTES_AT_ONCE", 1)
    monkeypatch.setattr(task_swaps, "_SUMS_AT_ONCE", 1)
    with warns("not_in_all_tasks"):
        xr.testing.assert_identical(xsumstat.rank_tasks(tasks, **KW), whole)


class Watched:
    """Scores of a task that are computed by Dask, and note when."""

    alive, most, computed = 0, 0, 0

    @classmethod
    def lazy(cls, ds):
        da = pytest.importorskip("dask.array")
        values = da.from_delayed(dask_delayed(cls.load)(ds.score.values), ds.score.shape, float)
        return ds.assign(score=(ds.score.dims, values))

    @classmethod
    def load(cls, values):
        values = values.copy()
        cls.computed += 1
        cls.alive += 1
        cls.most = max(cls.most, cls.alive)
        weakref.finalize(values, cls.gone)
        return values

    @classmethod
    def gone(cls):
        cls.alive -= 1


def dask_delayed(function):
    return pytest.importorskip("dask").delayed(function, pure=False)


@pytest.mark.parametrize("keep_samples", [False, True])
def test_lazy_tasks_are_loaded_one_at_a_time_and_give_the_same(keep_samples):
    """Each is computed for its correlations, and once for all pairs that fit into memory."""
    Watched.alive = Watched.most = Watched.computed = 0
    lazy = {name: {**task, "ds": Watched.lazy(task["ds"])} for name, task in TASKS.items()}
    found = xsumstat.rank_tasks(lazy, keep_samples=keep_samples, **KW)
    assert (Watched.most, Watched.alive, Watched.computed) == (1, 0, 2 * len(TASKS))
    assert all(values.chunks is None for values in found.variables.values())
    xr.testing.assert_identical(found, xsumstat.rank_tasks(TASKS, keep_samples=keep_samples, **KW))
    assert all(task["ds"].score.chunks for task in lazy.values())  # the user's stay lazy


def test_a_lazy_gold_of_its_own():
    human = FIRST.score.sel(metric="human", drop=True)
    ds = FIRST.drop_sel(metric="human")
    tasks = [
        {"t": {"ds": ds.chunk(), "gold": human.chunk()}},
        {"t": {"ds": ds.chunk().assign(human=human.chunk()), "gold": "human"}},
    ]
    want = xsumstat.rank_tasks({"t": {"ds": ds, "gold": human}}, n_resamples=50, rng=1)
    for each in tasks:
        found = xsumstat.rank_tasks(each, n_resamples=50, rng=1)
        xr.testing.assert_equal(found.drop_vars("gold"), want.drop_vars("gold"))


def test_a_constant_metric_counts_as_zero_where_that_is_asked_for():
    ds = FIRST.copy(deep=True)
    ds["score"].loc[{"metric": "c"}] = 1.0
    plain = {"outputs": TASKS["one, outputs"] | {"ds": ds}, "systems": {"ds": ds, "gold": "human"}}
    with warns("constant"), warns("not_in_all_tasks", ": 'c'"):
        xsumstat.rank_tasks(plain, **KW)
    zero = plain | {"systems": plain["systems"] | {"undefined": "zero"}}
    with warns("constant"), warns("counts_as_zero", "'systems': .* 'c'"):
        table = xsumstat.rank_tasks(zero, **KW)
    assert table.correlation.sel(metric="c", task="systems") == 0 and table.task_cluster.min() > 0
    r = table.correlation.sel(task="systems")
    acc = table.correlation.sel(task="outputs")
    want = ((r.sel(metric="a") - 0) / 2 + (acc.sel(metric="a") - acc.sel(metric="c"))) / 2
    assert table.difference.sel(metric="a", other_metric="c").item() == pytest.approx(want.item())
    assert table.metric.values.tolist() == ["a", "b", "c"] and table.average_score.notnull().all()


@pytest.mark.parametrize(
    "tasks, keywords, text",
    [
        ({}, {}, "tasks must be a mapping of names to tasks"),
        ({"a": 3}, {}, "task 'a' must be a mapping with a Dataset"),
        (
            {"a": {"ds": FIRST, "gold": "human", "levels": "input"}},
            {},
            "unknown keyword of task 'a' 'levels'; did you mean",
        ),
        ({"a": {"ds": FIRST, "gold": "humans"}}, {}, "task 'a': unknown gold 'humans'; did you mean 'human'"),
        ({"a": {"ds": FIRST, "gold": "human"}}, {"weights": {"b": 1}}, "weights must name each task"),
        ({"a": {"ds": FIRST, "gold": "human"}}, {"weights": {"a": 0}}, "one above 0"),
        (
            {"a": {"ds": FIRST.expand_dims(year=[1, 2]), "gold": "human"}},
            {},
            "task .a. ha(?:s|ve) additional dims: .year.",
        ),
        ({"a": {"ds": FIRST, "gold": "human", "metric": "a"}}, {}, "fewer than two metrics"),
    ],
)
def test_bad_input(tasks, keywords, text):
    with pytest.raises((ValueError, TypeError), match=text):
        xsumstat.rank_tasks(tasks, **{**KW, **keywords})


def test_a_result_goes_to_a_file_and_back(tmp_path):
    pytest.importorskip("netCDF4")
    table = ranked()
    table.to_netcdf(tmp_path / "table.nc")
    xr.testing.assert_equal(xr.load_dataset(tmp_path / "table.nc"), table)


def test_pictures():
    mpl, plt = pytest.importorskip("matplotlib"), pytest.importorskip("matplotlib.pyplot")
    table = ranked()
    axis = table.meta.plot.tasks()
    heads = [" ".join(each.get_text().split()) for each in axis.get_xticklabels()]
    assert heads == ["average", *(f"{name} {words}" for name, words in zip(TASKS, WORDS, strict=True))]
    assert [each.get_text() for each in axis.get_yticklabels()] == table.metric.values.tolist()
    with pytest.raises(ValueError, match="draws a result of xsumstat.rank_tasks, but this is a result of corr"):
        FIRST.meta.corr("human").meta.plot.tasks()
    close = FIRST.meta.close_corr("human", gap=[0.5, 1.0], n_resamples=29, rng=0)
    axis = close.meta.plot.close_corr(order="given")
    assert [each.get_text() for each in axis.get_xticklabels()] == ["to 0.5", "to 1"]
    lines = [each for each in axis.lines if each.get_marker() not in ("None", "")]
    for line, bars, metric in zip(lines, axis.collections, close.metric.values, strict=True):
        one = close.sel(metric=metric).transpose("gap", ...)
        np.testing.assert_array_equal(line.get_ydata(), one.correlation)
        np.testing.assert_array_equal(np.round(line.get_xdata()), [0, 1])
        limits = [segment.ravel().tolist() for segment in bars.get_segments()]
        x = line.get_xdata()
        assert limits == [[x[at], one.ci_low[at], x[at], one.ci_high[at]] for at in range(2)]
        assert mpl.colors.same_color(bars.get_color()[0][:3], line.get_color())
    with pytest.raises(ValueError, match="draws a result of ds.meta.close_corr, but"):
        table.meta.plot.close_corr()
    plt.close("all")


def test_numbers_of_systems_and_inputs_are_told_where_all_tasks_have_as_many():
    assert (ranked().attrs["n_systems"], ranked().attrs["n_inputs"]) == (8, 15)
    fewer = {**TASKS, "two, systems": {**TASKS["two, systems"], "ds": SECOND.isel(input=slice(12))}}
    table = xsumstat.rank_tasks(fewer, **KW)
    assert table.attrs["n_systems"] == 8 and "n_inputs" not in table.attrs


def test_what_several_tasks_lack_is_told_once():
    lacking = FIRST.copy(deep=True)
    lacking.score[1, 2, 3] = np.nan
    tasks = {f"task {at}": {"ds": lacking, "gold": "human", "level": "global"} for at in range(5)}
    with pytest.warns(xsumstat.LeftOutWarning) as said:
        xsumstat.rank_tasks({**tasks, "whole": {"ds": FIRST, "gold": "human"}}, n_resamples=9, rng=1)
    (only,) = said
    named = "tasks 'task 0', 'task 1', 'task 2' and 2 more: outputs left out, because the metric or the human score"
    assert str(only.message).startswith(named) and only.message.code == "cells_left_out"
    with pytest.warns(xsumstat.LeftOutWarning, match="^task 'task 0': outputs left out"):
        xsumstat.rank_tasks({"task 0": tasks["task 0"]}, n_resamples=9, rng=1)


def test_datasets_are_no_tasks():
    with pytest.raises(
        TypeError, match=r"task 'one' is a Dataset, and must be a mapping: xsumstat\.wmt_tasks\(\.\.\.\)"
    ):
        xsumstat.rank_tasks({"one": FIRST})


def of_documents(seed):
    """Twelve systems on documents of ten segments, whose quality and metric errors share effects of documents."""
    rng = np.random.default_rng(seed)

    def effects():
        return np.repeat(0.5 * rng.normal(size=(12, 8)), 10, axis=1)

    q = 0.4 * rng.normal(size=(12, 1)) + rng.normal(size=(12, 80)) + effects()
    scores = [q, *(q + rng.normal(size=q.shape) + effects() for _ in range(2))]
    coords = {"metric": ["human", "A", "B"], "document": ("input", np.repeat(np.arange(8), 10))}
    ds = xr.Dataset({"score": (("metric", "system", "input"), np.array(scores))}, coords)
    outputs = {"ds": ds, "gold": "human", "level": "input", "coefficient": "acc_eq"}
    return {"systems": {**outputs, "level": "system", "coefficient": "pearson"}, "outputs": outputs}


def test_documents_are_kept_together_or_warned_of():
    tasks = of_documents(0)
    with warns("documents", "80 inputs come from 8 documents. .* 'cluster': 'document' keeps documents together"):
        xsumstat.rank_tasks(tasks, n_resamples=19, rng=1)
    together = {name: {**task, "cluster": "document"} for name, task in tasks.items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = xsumstat.rank_tasks(together, n_resamples=199, rng=1, keep_samples=True)
    assert not of_code(caught, "documents")
    rng = np.random.SeedSequence(1, spawn_key=(own_stream(tasks["outputs"]),))
    kw = {"level": "input", "coefficient": "acc_eq", "cluster": "document", "swap": "scores", "keep_samples": True}
    test = tasks["outputs"]["ds"].meta.perm_test("human", alternative="greater", n_resamples=199, rng=rng, **kw)
    pair = table.samples.sel(task="outputs").isel(pair=0)
    one, other = str(pair.pair_metric.values), str(pair.pair_other_metric.values)
    np.testing.assert_allclose(pair, test.samples.sel(metric=one, other_metric=other), atol=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_size_for_documents():
    """Swaps of segments find 10 % and more."""
    found = []
    for seed in range(100):
        tasks = {name: {**task, "cluster": "document"} for name, task in of_documents(seed).items()}
        p = xsumstat.rank_tasks(tasks, n_resamples=199, rng=seed).pvalue
        found += [p.sel(metric=a, other_metric=b).item() <= 0.05 for a, b in (("A", "B"), ("B", "A"))]
    assert np.mean(found) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)


@pytest.mark.ignore_codes("labels_without_cells", "no_gold_score")
def test_criteria_of_other_inputs_are_warned_of():
    tasks = equal_metrics(0)
    ds = tasks["criterion 1"]["ds"].copy(deep=True)
    ds["score"].loc["criterion 1", :, 0] = np.nan
    tasks = {name: {**task, "ds": ds} for name, task in tasks.items()}
    with warns("other_inputs", "^tasks 'criterion 0' and 'criterion 1' have human scores on other inputs"):
        xsumstat.rank_tasks(tasks, n_resamples=9, rng=1)
    shared = {name: {**task, "ds": ds.isel(input=slice(1, None))} for name, task in tasks.items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        xsumstat.rank_tasks(shared, n_resamples=9, rng=1)
    assert not of_code(caught, "other_inputs")


def test_clusters_of_tasks_are_told():
    tasks = {name: {**task, "cluster": "document"} for name, task in of_documents(0).items()}
    table = xsumstat.rank_tasks(tasks, n_resamples=9, rng=1)
    assert "clustered by document" in table.meta.conclusion() and "clustered by document" in table.meta.methods()
