"""Clusters with intervals and bars, and tasks as a table."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from cases import of_demo  # noqa: E402

import xsumstat  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def ranks():
    return of_demo("rank", "human", method="permutation", adjust=None, n_resamples=999, rng=0)


def rows(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def bars(ax):
    """The rows that each bar joins, from the top."""
    found = [line for line in ax.lines if line.get_linewidth() == 3]
    return [tuple(rows(ax)[round(low) : round(high) + 1]) for low, high in (line.get_ydata() for line in found)]


def words(ax):
    return " ".join(" ".join(text.get_text().split()) for text in [*ax.figure.texts, *ax.texts])


def test_bars_join_the_members_of_a_cluster(ranks):
    ax = ranks.meta.plot.clusters()
    members = [tuple(ranks.metric.values[ranks.cluster == each]) for each in np.unique(ranks.cluster)]
    assert bars(ax) == [each for each in members if len(each) > 1] and 0 < len(bars(ax)) < len(members)
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["no significant difference (p > 0.05)"]
    alone = ranks.assign(cluster=ranks["rank"])
    ax = alone.meta.plot.clusters()
    assert bars(ax) == [] and ax.figure.legends == []


def test_with_tests_bars_join_all_that_were_not_told_apart(ranks):
    names = ranks.metric.values.tolist()
    p = xr.DataArray(np.full((6, 6), 0.5), {"metric": names, "other_metric": names})
    for better, worse in ((0, 2), (0, 3), (1, 3), (0, 4), (1, 4), (2, 4), *((at, 5) for at in range(5))):
        p[better, worse] = 0.01
    tests = xr.Dataset({"pvalue": p}, attrs=ranks.attrs)
    ax = ranks.meta.plot.clusters(tests=tests.isel(metric=[3, 1, 5, 0, 2, 4]))
    assert bars(ax) == [tuple(names[:2]), tuple(names[1:3]), tuple(names[2:4]), tuple(names[3:5])]
    sides = [line.get_xdata()[0] for line in ax.lines if line.get_linewidth() == 3]
    assert all(one != other for one, other in zip(sides, sides[1:], strict=False))  # those that overlap
    with pytest.raises(ValueError, match="tests must hold all metrics of the result; it lacks 'judge'"):
        ranks.meta.plot.clusters(tests=tests.drop_sel(metric="judge"))
    with pytest.raises(ValueError, match="tests must be what compare_metrics gives"):
        ranks.meta.plot.clusters(tests=ranks)


def test_whiskers_are_the_intervals_that_are_given(ranks):
    interval = of_demo("ci", "human")
    ax = ranks.meta.plot.clusters(intervals=interval.isel(metric=slice(None, None, -1)))
    (lines,) = ax.collections
    for (start, end), name in zip(lines.get_segments(), rows(ax), strict=True):
        one = interval.sel(metric=name)
        np.testing.assert_allclose([start[0], end[0]], [one.ci_low, one.ci_high])
        assert rows(ax)[int(start[1])] == name
    with pytest.raises(ValueError, match="intervals must be of the level of the result, 'system', not 'input'"):
        ranks.meta.plot.clusters(intervals=of_demo("ci", "human", level="input"))


@pytest.mark.ignore_codes("few_resamples")
@pytest.mark.parametrize(
    "n_resamples, adjust, told",
    [
        (99, "holm", "the smallest corrected p-value that they can give is 0.3, above 0.05"),
        (599, "holm", ""),
        (598, "holm", "n_resamples=599 would do"),
        (99, "maxt", ""),
        (99, None, ""),
        (9, None, "the smallest p-value that they can give is 0.1, above 0.05"),
    ],
)
def test_too_few_resamples_are_said(demo, n_resamples, adjust, told):
    """30 tests of 6 metrics: Holm's smallest p-value is 30/(1 + n)."""
    asked = {"n_resamples": n_resamples, "rng": 0}
    ranks = demo.meta.rank("human", method="permutation", adjust=adjust, **asked)
    tests = demo.meta.perm_test("human", adjust=adjust, alternative="greater", **asked)
    for ax in (ranks.meta.plot.clusters(), tests.meta.plot.pvalues()):
        assert ("too few resamples" in words(ax)) == bool(told) and told in words(ax)


@pytest.mark.ignore_codes("few_resamples")
@pytest.mark.parametrize("n_resamples, told", [(99, ""), (58, "n_resamples=59 would do")])
def test_a_two_sided_pair_is_one_test(demo, n_resamples, told):
    """3 pairs: Holm's smallest p-value is 3/(1 + n), not 6/(1 + n)."""
    asked = {"metric": ["judge", "rouge", "bleu"], "adjust": "holm", "n_resamples": n_resamples, "rng": 0}
    ax = demo.meta.perm_test("human", **asked).meta.plot.pvalues()
    assert ("too few resamples" in words(ax)) == bool(told) and told in words(ax)


def test_other_orders_keep_cluster_and_row_together(ranks):
    names = sorted(ranks.metric.values)
    ax = ranks.meta.plot.clusters(order="name")
    assert rows(ax) == names
    points = next(line for line in ax.lines if line.get_marker() == "o")
    np.testing.assert_allclose(points.get_xdata(), ranks.correlation.sel(metric=names))
    for joined in bars(ax):
        assert len(set(ranks.cluster.sel(metric=list(joined)).values)) == 1
    assert rows(ranks.meta.plot.clusters(metric=["bleu", "judge"])) == ["judge", "bleu"]


def test_metrics_without_a_correlation_are_named(ranks):
    ranks["correlation"][-1], ranks["rank"][-1], ranks["cluster"][-1] = np.nan, 0, 0
    ax = ranks.meta.plot.clusters()
    assert len(rows(ax)) == 5 and f"without a correlation: {ranks.metric.values[-1]}" in words(ax)


@pytest.fixture
def table(demo):
    asked = {"a to b": {"ds": demo, "gold": "human"}, "b to a": {"ds": demo, "gold": "human", "coefficient": "kendall"}}
    return xsumstat.rank_tasks(asked, n_resamples=99, rng=0)


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_the_table_of_tasks_has_each_correlation_with_its_cluster(table, style):
    with plt.style.context(style):
        ax = table.meta.plot.tasks(order="name")
    assert rows(ax) == sorted(table.metric.values)
    heads = [tick.get_text() for tick in ax.get_xticklabels()]
    assert heads == ["average", "a to b\nPearson's r", "b to a\nKendall's τ-b"]
    for text in ax.texts:
        column, row = text.get_position()
        one = table.sel(metric=rows(ax)[row])
        cluster, value = text.get_text().split()
        if column == 0:
            want = one.cluster, one.average_score
        else:
            want = one.task_cluster[column - 1], one.correlation[column - 1]
        assert int(cluster) == want[0] and float(value) == pytest.approx(float(want[1]), abs=5e-4)
        assert (text.get_weight() == "bold") == (cluster == "1")


def test_lines_of_the_table_part_the_clusters_of_the_average(table):
    ax = table.meta.plot.tasks()
    cluster = table.cluster.sel(metric=rows(ax)).values
    lines = sorted(line.get_ydata()[0] - 0.5 for line in ax.lines if line.get_ydata()[0] == line.get_ydata()[1])
    assert lines == np.flatnonzero(np.diff(cluster)).tolist() and lines
